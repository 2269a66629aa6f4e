//! Settings of a turn, for the steps pane.

use super::Section;
use super::lines::StepLook;
use crate::pane::Parts;
use crate::text::pad;
use ragonite_app::Turn;
use ragonite_base::clean_line;
use ragonite_config::Setting;

/// Every setting with its value; `*` marks overrides of the domain.
pub(super) fn parts(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let (trace, words) = (&turn.record.trace, look.words);
    let Some(settings) = &trace.settings else {
        look.open(Section::Settings, words.step_settings(), words.settings_unknown(), parts);
        return;
    };
    let is_own = |setting: Setting| trace.domain_settings.iter().any(|key| key == setting.key());
    let value = |setting: Setting| clean_line(&setting.text(settings));
    let own = Setting::ALL.iter().copied().filter(|setting| is_own(*setting));
    let own: Vec<String> = own.map(|setting| format!("* {} {}", words.label(setting), value(setting))).collect();
    let summary = if own.is_empty() { words.as_configured().to_owned() } else { own.join(", ") };
    if !look.open(Section::Settings, words.step_settings(), &summary, parts) {
        return;
    }
    for setting in Setting::ALL.iter().copied() {
        let group = words.group_column(setting.group());
        let mark = if is_own(setting) { '*' } else { ' ' };
        let line = format!("{mark} {} {} {}", pad(group, 11), pad(words.label(setting), 17), value(setting));
        parts.push(Section::Settings, look.cells(&line));
    }
    if !own.is_empty() {
        parts.extend(Section::Settings, look.dim(words.own_settings()));
    }
}
