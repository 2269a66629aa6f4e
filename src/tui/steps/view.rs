//! Draws the steps pane; gives a step as text.
//!
//! Not here: the lines of a step (`lines`, `logprob`, `settings_used`).

use ratatui::Frame;
use ratatui::layout::Rect;

use super::lines::{self, Margins, StepLook};
use super::{Section, logprob, settings_used};
use crate::markdown::LONGEST_LINE;
use crate::outline_cache::Shown;
use crate::pane::{Focus, Fold, GUTTER, Pane, Parts, draw_outline, say, side_block};
use crate::screen::ScreenState;
use ragonite_app::{App, Turn};

pub(crate) fn draw(app: &App, screen: &mut ScreenState, area: Rect, frame: &mut Frame<'_>) {
    let (theme, words) = (screen.theme, screen.words);
    let frame_block = side_block(screen, Pane::Behind, &theme);
    let inner = frame_block.inner(area);
    frame.render_widget(frame_block, area);
    let Some(turn) = screen.turn(app) else {
        return say(words.nothing_behind_yet(), frame, inner, &theme);
    };
    // A match may be in a closed section.
    let all_open = screen.find.is_some() && screen.focus == Pane::Behind;
    let width = usize::from(inner.width.saturating_sub(GUTTER + 1)).max(8);
    let settled = app.phase().turn() != Some(turn.key);
    let shown = settled.then(|| Shown::of(turn, width, (!all_open).then(|| screen.steps.outline.opened())));
    if !screen.steps.kept.has(shown.as_ref()) {
        let is_open = |section| all_open || screen.steps.outline.is_open(section);
        let margins = Margins::Drawn;
        let parts = parts(turn, &StepLook { theme: &theme, words, width, margins, is_open: &is_open });
        screen.steps.kept.keep(shown, parts);
    }
    let focus = Focus::of(screen, Pane::Behind);
    let find = screen.find.as_mut();
    let drawn = draw_outline(&mut screen.steps.kept, &mut screen.steps.outline, focus, &theme, find, inner);
    frame.render_widget(drawn, inner);
}

/// A whole step of the turn as text without margins.
pub(crate) fn text(turn: &Turn, step: Section, screen: &ScreenState) -> String {
    let (theme, words) = (&screen.theme, screen.words);
    let look = StepLook { theme, words, width: LONGEST_LINE, margins: Margins::None, is_open: &|_| true };
    let parts = parts(turn, &look);
    let inside = |part: Section| part == step || part.outer() == Some(step);
    let lines = parts.lines.iter().zip(&parts.owners).filter(|(_, part)| inside(**part));
    let open = format!("{} ", Fold::Open.mark());
    let texts = lines.map(|(line, _)| {
        let text = line.to_string();
        text.trim_start().strip_prefix(&open).map_or_else(|| text.clone(), str::to_owned)
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// All steps of a turn.
fn parts(turn: &Turn, look: &StepLook<'_>) -> Parts<Section> {
    let mut parts = Parts::new();
    lines::rewrite(turn, look, &mut parts);
    lines::searches(turn, look, &mut parts);
    lines::prompt(turn, look, &mut parts);
    lines::raw_answer(turn, look, &mut parts);
    lines::counterfactuals(turn, look, &mut parts);
    logprob::parts(turn, look, &mut parts);
    lines::costs(turn, look, &mut parts);
    settings_used::parts(turn, look, &mut parts);
    parts
}
