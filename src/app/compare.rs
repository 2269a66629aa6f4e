//! Variants: a turn asks an earlier question again with other settings, or with a source pinned or excluded.
//!
//! Invariants: a variant is a turn at the end of the conversation, stored like any other; its prompt has the history
//! of the original, and no later prompt has the variant; only the requested settings change.
//! Not here: excluding a source (`retrieval`), the comparison (`tui`).

use time::OffsetDateTime;

use super::state::App;
use super::steps::Asked;
use super::{Effect, Refusal};
use ragonite_config::{Setting, SettingChange, SettingsOverride};
use ragonite_history::{OtherSetting, Trace, Variant};
use ragonite_rag::pipeline::Wording;
use ragonite_rag::retrieval::Override;

/// The change of a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variation {
    /// Overrides of the turn's settings.
    Settings(SettingsOverride),
    /// The current settings.
    SettingsNow,
    /// An override for a piece of evidence.
    Pick(Override),
}

impl App {
    /// Asks a variant of an answered turn.
    pub(super) fn ask_again(&mut self, index: usize, other: &Variation, at: OffsetDateTime) -> Vec<Effect> {
        let domain = match self.ready_to_ask() {
            Ok(domain) => domain,
            Err(refusal) => return self.refuse(refusal),
        };
        let Some(turn) = self.turns().get(index).filter(|turn| turn.is_answered()) else {
            return self.refuse(Refusal::NothingToCompare);
        };
        let record = &turn.record;
        let before = self.settings_of(turn).unwrap_or_else(|| self.turn_settings());
        let mut settings = match other {
            Variation::Settings(changes) => changes.applied_to(&before),
            Variation::SettingsNow => self.turn_settings(),
            Variation::Pick(_) => before.clone(),
        };
        if !self.has_generator(self.generator_of(&settings)) {
            // A missing model counts among the differences.
            settings.model = self.turn_settings().model;
        }
        let differing = Setting::differing(&before, &settings);
        let others: Vec<OtherSetting> = differing
            .map(|SettingChange { setting, from, to }| OtherSetting { key: setting.key().to_owned(), from, to })
            .collect();
        let mut domain_settings = match other {
            Variation::SettingsNow => self.domain_settings.overrides.keys(),
            Variation::Settings(_) | Variation::Pick(_) => record.trace.domain_settings.clone(),
        };
        if matches!(other, Variation::Settings(_)) {
            domain_settings.retain(|key| others.iter().all(|other| other.key != *key));
        }
        let mut picks = turn.variant().map(|variant| variant.picks.clone()).unwrap_or_default();
        if let Variation::Pick(pick) = other {
            picks.retain(|known| known.evidence != pick.evidence);
            picks.push(pick.clone());
        }
        settings.retrieval.picks.clone_from(&picks);
        let variant = Some(Variant { of: record.number, settings: others, picks });
        let suggestions = record.trace.suggestions.clone();
        let settings_kept = Some(settings.clone());
        let trace = Trace { settings: settings_kept, domain_settings, variant, suggestions, ..Trace::default() };
        let (question, completed) = (record.question.clone(), record.completed_question.clone());
        let asked = Asked { question, completed: completed.clone(), trace, at };
        self.run_turn(asked, domain, Wording::Again { completed }, settings)
    }
}
