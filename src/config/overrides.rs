//! Overrides: the settings that a domain has of its own.
//!
//! Invariants: every value is valid for its setting; all other settings follow the configuration.
//! Not here: the file (`overrides_file`).

use std::collections::BTreeMap;

use super::{Refused, Setting};
use ragonite_history::TurnSettings;

/// Values by setting, in the order of the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingsOverride(BTreeMap<Setting, String>);

/// An edit of the overrides, which can be merged with concurrent edits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    /// Settings with a new value.
    pub set: SettingsOverride,
    /// Settings that follow the configuration again.
    pub restored: Vec<Setting>,
}

impl SettingsOverride {
    /// Whether there is no override.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this setting is overridden.
    pub fn has(&self, setting: Setting) -> bool {
        self.0.contains_key(&setting)
    }

    /// The overridden settings with their values.
    pub fn iter(&self) -> impl Iterator<Item = (Setting, &str)> {
        self.0.iter().map(|(setting, text)| (*setting, text.as_str()))
    }

    /// Keys of the overridden settings.
    pub fn keys(&self) -> Vec<String> {
        self.0.keys().map(|setting| setting.key().to_owned()).collect()
    }

    /// Overrides a setting.
    ///
    /// # Errors
    /// When the value is invalid; nothing changes then.
    pub fn set(&mut self, setting: Setting, text: &str) -> Result<(), Refused> {
        let mut tried = TurnSettings::default();
        setting.write(&mut tried, text)?;
        self.0.insert(setting, setting.text(&tried));
        Ok(())
    }

    /// Like [`SettingsOverride::set`], but the configured value removes the override.
    ///
    /// # Errors
    /// When the value is invalid; nothing changes then.
    pub fn choose(&mut self, setting: Setting, text: &str, configured: &TurnSettings) -> Result<(), Refused> {
        self.set(setting, text)?;
        if self.0.get(&setting).is_some_and(|text| *text == setting.text(configured)) {
            self.restore(setting);
        }
        Ok(())
    }

    /// Removes the override of a setting.
    pub fn restore(&mut self, setting: Setting) {
        self.0.remove(&setting);
    }

    /// The edit that turns `before` into `self`.
    pub fn since(&self, before: &Self) -> Edit {
        let set = self.0.iter().filter(|(setting, text)| before.0.get(setting) != Some(text));
        let restored = before.0.keys().filter(|setting| !self.0.contains_key(setting)).copied().collect();
        Edit { set: Self(set.map(|(setting, text)| (*setting, text.clone())).collect()), restored }
    }

    /// Applies an edit.
    pub fn edit(&mut self, edit: &Edit) {
        self.0.extend(edit.set.0.clone());
        self.0.retain(|setting, _| !edit.restored.contains(setting));
    }

    /// The configured settings with the overrides applied.
    #[must_use]
    pub fn applied_to(&self, configured: &TurnSettings) -> TurnSettings {
        let mut settings = configured.clone();
        for (setting, text) in self.iter() {
            // Each value was valid when it was set.
            if let Err(error) = setting.write(&mut settings, text) {
                tracing::warn!(%error, "a setting of the domain is left out");
            }
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragonite_rag::retrieval::Mode;

    #[test]
    fn what_a_domain_changes_wins_and_all_else_is_as_configured() {
        let configured = TurnSettings { sources: 7, ..TurnSettings::default() };
        let mut changes = SettingsOverride::default();
        changes.set(Setting::Mode, "dense").unwrap();
        let settings = changes.applied_to(&configured);
        assert_eq!((settings.retrieval.mode, settings.sources), (Mode::Dense, 7));
        assert_eq!(changes.keys(), ["retrieval.mode"]);
        changes.restore(Setting::Mode);
        assert_eq!(changes.applied_to(&configured), configured);
    }

    #[test]
    fn choosing_the_configured_value_is_no_change() {
        let configured = TurnSettings { sources: 7, ..TurnSettings::default() };
        let mut changes = SettingsOverride::default();
        changes.choose(Setting::Sources, "3", &configured).unwrap();
        assert!(changes.has(Setting::Sources));
        changes.choose(Setting::Sources, " 7 ", &configured).unwrap();
        assert!(changes.is_empty());
        assert!(changes.choose(Setting::Sources, "seven", &configured).is_err());
        assert!(changes.is_empty());
    }

    #[test]
    fn an_edit_leaves_alone_what_others_changed() {
        let of = |texts: &[(Setting, &str)]| {
            let mut changes = SettingsOverride::default();
            for (setting, text) in texts {
                changes.set(*setting, text).unwrap();
            }
            changes
        };
        let before = of(&[(Setting::Sources, "3"), (Setting::Mode, "dense")]);
        let now = of(&[(Setting::Sources, "4"), (Setting::Seed, "7")]);
        let edit = now.since(&before);
        assert_eq!(
            edit,
            Edit { set: of(&[(Setting::Sources, "4"), (Setting::Seed, "7")]), restored: vec![Setting::Mode] }
        );
        let mut alone = before.clone();
        alone.edit(&edit);
        assert_eq!(alone, now);
        let mut others = of(&[(Setting::Sources, "9"), (Setting::Mode, "dense"), (Setting::Eps, "0.1")]);
        others.edit(&edit);
        assert_eq!(others, of(&[(Setting::Sources, "4"), (Setting::Seed, "7"), (Setting::Eps, "0.1")]));
        assert_eq!(now.since(&now), Edit::default());
    }
}
