//! What a turn was answered and explained with, for behind the scenes.

use super::Parts;
use super::behind::Section;
use super::steps::StepLook;
use crate::app::Turn;
use crate::base::clean_line;
use crate::config::{Group, Setting};
use crate::tui::text::pad;

/// Every setting with its value; `*` marks those that were the domain's own.
pub(super) fn parts(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let trace = &turn.record.trace;
    let Some(settings) = &trace.settings else {
        look.open(Section::Settings, ("10 Settings", "not known: an older version stored this turn"), parts);
        return;
    };
    let is_own = |setting: Setting| trace.domain_settings.iter().any(|key| key == setting.key());
    let value = |setting: Setting| clean_line(&setting.text(settings));
    let own = Setting::ALL.iter().copied().filter(|setting| is_own(*setting));
    let own: Vec<String> = own.map(|setting| format!("* {} {}", setting.label(), value(setting))).collect();
    let summary = if own.is_empty() { "as configured".to_owned() } else { own.join(", ") };
    if !look.open(Section::Settings, ("10 Settings", &summary), parts) {
        return;
    }
    for setting in Setting::ALL.iter().copied() {
        let group = match setting.group() {
            Group::Retriever => "retriever",
            Group::Generator => "generator",
            Group::Attribution => "attribution",
        };
        let mark = if is_own(setting) { '*' } else { ' ' };
        let line = format!("{mark} {} {} {}", pad(group, 11), pad(setting.label(), 17), value(setting));
        parts.push(Section::Settings, look.cells(&line));
    }
    if !own.is_empty() {
        parts.extend(Section::Settings, look.dim("* the domain's own, not the configuration's"));
    }
}
