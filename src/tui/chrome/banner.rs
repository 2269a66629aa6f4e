//! The current problem and its remedy, over the status line.
//!
//! Invariant: it takes at most [`BANNER`] rows, and a remedy always has room.

use ratatui::text::{Line, Span};

use crate::action::{Action, Place};
use crate::screen::ScreenState;
use crate::text::{Indent, fit_middle, one_line, width, wrap};
use ragonite_app::App;
use ragonite_base::clean_line;

/// Most rows a problem takes.
const BANNER: usize = 4;

/// The current problem and its remedy.
pub(crate) fn banner_lines(app: &App, screen: &ScreenState, room: usize) -> Vec<Line<'static>> {
    let Some(problem) = app.problem() else { return Vec::new() };
    let refused = app.refusal().map(|refusal| screen.words.refusal(refusal));
    let problem = refused.as_ref().unwrap_or(problem);
    let theme = &screen.theme;
    let key = screen.keymap.key(Action::Back, Place::Composer).unwrap_or_default();
    let what = Indent { first: Span::styled(" ✗ ", theme.bad), rest: Span::raw("   ") };
    let next = Indent { first: Span::styled(" → ", theme.accent), rest: Span::raw("   ") };
    let cause = |text: &str, most| in_lines(text, room, most, |text| wrap(&[one_line(text, theme.bad)], room, &what));
    // A no-break space keeps the text in brackets on one line.
    let dismiss = Span::styled(screen.words.dismisses(&key), theme.dim);
    let mut lines = cause(&problem.what, BANNER - 1);
    if problem.next.is_empty() {
        lines.extend(wrap(&[dismiss], room, &Indent::of(1)));
    } else {
        let remedy = |text: &str| wrap(&[one_line(text, theme.text), dismiss.clone()], room, &next);
        lines.extend(in_lines(&problem.next, room, BANNER - lines.len(), remedy));
    }
    lines.truncate(BANNER);
    lines
}

/// Wraps a text to `most` lines, cut in its middle where it is longer.
fn in_lines(text: &str, room: usize, most: usize, wrapped: impl Fn(&str) -> Vec<Line<'static>>) -> Vec<Line<'static>> {
    let text = clean_line(text);
    let mut length = width(&text).min(room * (most + 1));
    loop {
        let lines = wrapped(&fit_middle(&text, length));
        if lines.len() <= most || length < 8 {
            return lines;
        }
        length -= 4;
    }
}
