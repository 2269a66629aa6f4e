//! Behind the scenes: every step of the selected turn, each opening to all it took and gave.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::Paragraph;

use super::{Focus, GUTTER, Parts, draw_outline, drops, say, settings_used, side_block, steps};
use crate::app::App;
use crate::tui::screen::{Pane, ScreenState};

/// A part that opens and closes, in the order of the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tui) enum Section {
    /// How the question was completed.
    Rewrite,
    /// The list of the search by embedding.
    Dense,
    /// The list of the search by words.
    Lexical,
    /// Both lists fused.
    Fused,
    /// What the generator was asked.
    Prompt,
    /// One piece of it.
    Segment(usize),
    /// What did not fit.
    Cut,
    /// What the generator said.
    Raw,
    /// One counterfactual generation: cluster, iteration.
    Counterfactual(usize, usize),
    /// Its prompt.
    CounterfactualPrompt(usize, usize),
    /// How much less probable the answer is without a cluster, token by token.
    Drops(usize),
    /// Time and tokens.
    Costs,
    /// What it was answered with.
    Settings,
}

impl Section {
    /// What is open when a turn is first looked at.
    pub(in crate::tui) const OPEN_AT_FIRST: [Self; 3] = [Self::Rewrite, Self::Fused, Self::Costs];
}

pub(in crate::tui) fn draw(app: &App, screen: &mut ScreenState, area: Rect, frame: &mut Frame<'_>) {
    let (theme, words) = (screen.theme, screen.words);
    let frame_block = side_block(screen, Pane::Behind, &theme);
    let inner = frame_block.inner(area);
    frame.render_widget(frame_block, area);
    let Some(turn) = screen.turn(app) else {
        return say(words.nothing_behind_yet(), frame, inner, &theme);
    };
    // What is looked for may be in a closed part.
    let all_open = screen.find.is_some() && screen.focus == Pane::Behind;
    let is_open = |section| all_open || screen.behind.is_open(section);
    let look = steps::StepLook {
        theme: &theme,
        words,
        width: usize::from(inner.width.saturating_sub(GUTTER + 1)).max(8),
        is_open: &is_open,
    };
    let mut parts = Parts::new();
    steps::rewrite(turn, &look, &mut parts);
    steps::searches(turn, &look, &mut parts);
    steps::prompt(turn, &look, &mut parts);
    steps::raw_answer(turn, &look, &mut parts);
    steps::counterfactuals(turn, &look, &mut parts);
    drops::parts(turn, &look, &mut parts);
    steps::costs(turn, &look, &mut parts);
    settings_used::parts(turn, &look, &mut parts);
    let focus = Focus::of(screen, Pane::Behind);
    let drawn: Paragraph<'static> =
        draw_outline(parts, &mut screen.behind, (focus, &theme), (screen.find.as_mut(), inner));
    frame.render_widget(drawn, inner);
}
