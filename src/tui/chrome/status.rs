//! The status line: domain, running stage, profile, models, memory.
//!
//! Invariant: the stage is cut last where room is short.

use ratatui::text::{Line, Span};
use time::OffsetDateTime;

use super::stage::{reading, stage};
use crate::screen::ScreenState;
use crate::text::{fit, width};
use ragonite_app::App;
use ragonite_base::clean_line;
use ragonite_inference::gigabytes;

/// `wiki · starter (no GPU) · … · ready offline`. The phase comes first where room is short.
pub(crate) fn status_line(app: &App, screen: &ScreenState, room: usize, now: OffsetDateTime) -> Line<'static> {
    let theme = &screen.theme;
    let words = screen.words;
    let engine = app.engine();
    let loading = engine.loading.as_ref().map(|loading| words.loading(&clean_line(&loading.label())));
    let rest = if app.is_opening() {
        words.opening_short()
    } else if app.missing_models().is_some() {
        words.models_missing()
    } else {
        words.ready()
    };
    let mut phase = stage(app, screen.words, now - screen.stage.1).or(loading);
    if let Some(reading) = app.ingesting().map(|running| reading(running, words)) {
        phase = Some(phase.map_or_else(|| reading.clone(), |phase| format!("{phase} · {reading}")));
    }
    let mut phase = phase.unwrap_or_else(|| rest.to_owned());
    if app.unsaved() > 0 {
        phase = format!("{} · {phase}", words.answers_not_stored(app.unsaved()));
    }
    let domain = app.domain().map_or_else(|| words.no_domain().to_owned(), |domain| domain.name.to_string());
    let offline = words.offline();
    let length = |rest: &[String]| rest.iter().map(|text| width(text) + 3).sum::<usize>();
    let fixed = width(&domain) + 2 + width(offline);
    let fits = |rest: &[String]| fixed + length(rest) + width(&phase) + 3 <= room;
    let profile = clean_line(&engine.profile);
    let with_reason = engine.profile_reason.map(|reason| format!("{profile} ({})", words.profile_reason(reason)));
    let with_reason = with_reason.unwrap_or_else(|| profile.clone());
    let settings = app.turn_settings();
    let generator = app.generator_of(&settings);
    let about = |profile: String| {
        // The last entries are dropped first.
        let memory = engine.memory.map(|bytes| words.in_memory(&words.number(&gigabytes(bytes))));
        let mut about = vec![profile, clean_line(generator), words.device(&clean_line(&engine.device))];
        about.extend([memory.unwrap_or_default(), clean_line(&engine.embedder)]);
        about.retain(|text| !text.is_empty());
        about
    };
    let mut rest = about(with_reason);
    // Models and memory matter more than the reason of the profile.
    if !fits(&rest) {
        rest = about(profile);
    }
    while !rest.is_empty() && !fits(&rest) {
        rest.pop();
    }
    let phase = fit(&phase, room.saturating_sub(fixed + length(&rest) + 3));
    let left = format!(" {domain} · {phase}");
    let about = [String::new()].into_iter().chain(rest).collect::<Vec<_>>().join(" · ");
    let gap = room.saturating_sub(width(&left) + width(&about) + width(offline));
    Line::from(vec![
        Span::styled(left, theme.strong),
        Span::styled(about, theme.dim),
        Span::raw(" ".repeat(gap)),
        Span::styled(offline, theme.accent),
    ])
}
