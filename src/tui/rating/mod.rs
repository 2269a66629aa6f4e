//! The rating of an answer: up, or down with a reason and a note.
//!
//! Takes keys; gives the event that rates.
//! Not here: the frame of the popup (`popup`), the prompt for the note (`popup`).

pub(crate) mod messages;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::{Line, Span};
use time::OffsetDateTime;

use super::action::Action;
use super::input::{Intent, refused, step_of};
use super::messages::Words;
use super::popup::{Asked, Handled, Popup, Prompt};
use super::screen::ScreenState;
use super::theme::Theme;
use ragonite_app::{App, Event, Refusal, TurnKey};
use ragonite_history::{Feedback, Rating, Reason};

/// The reasons of a negative rating.
#[derive(Debug, Clone)]
pub(super) struct Reasons {
    turn: TurnKey,
    pub(super) selected: usize,
}

/// Rates the selected turn up, or takes that back.
pub(super) fn rate_up(screen: &mut ScreenState, app: &App, now: OffsetDateTime) -> Vec<Intent> {
    let Some(turn) = screen.turn_index(app) else { return refused(Refusal::NothingToRate) };
    let known = app.turns().get(turn).and_then(|turn| turn.record.feedback.as_ref());
    let is_up = known.is_some_and(|feedback| feedback.rating == Rating::Up);
    let up = Feedback { rating: Rating::Up, reason: None, note: String::new(), rated_at: now };
    vec![Intent::App(Event::TurnRated { turn, feedback: (!is_up).then_some(up) })]
}

/// Asks for the reason of a negative rating.
pub(super) fn rate_down(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    match screen.turn(app).map(|turn| turn.key) {
        Some(turn) => screen.popup = Some(Popup::Reasons(Reasons { turn, selected: 0 })),
        None => return refused(Refusal::NothingToRate),
    }
    vec![Intent::Redraw]
}

impl Reasons {
    /// A reason is chosen by its number or with Enter; then the note is asked for.
    pub(super) fn on_key(&mut self, key: KeyEvent, action: Option<Action>) -> Handled {
        match key.code {
            KeyCode::Char(digit @ '1'..='5') => self.choose(digit as usize - '1' as usize),
            KeyCode::Enter => self.choose(self.selected),
            _ => {
                if let Some(step) = action.and_then(step_of) {
                    self.selected = step.from(self.selected, Reason::ALL.len(), Reason::ALL.len());
                }
                Handled::stay([])
            }
        }
    }

    /// Asks for the note to the reason at `at`.
    pub(super) fn choose(&self, at: usize) -> Handled {
        let reason = Reason::ALL.get(at).copied();
        let note = reason.map(|reason| Prompt::new(Asked::Note(self.turn, reason), ""));
        note.map_or_else(|| Handled::stay([]), |note| Handled::open(Popup::Prompt(note), []))
    }

    pub(super) fn lines(&self, theme: &Theme, words: Words) -> Vec<Line<'static>> {
        let row = |(at, reason): (usize, Reason)| {
            let here = at == self.selected;
            Line::from(vec![
                Span::styled(if here { "› " } else { "  " }, theme.accent),
                Span::styled(format!("{} ", at + 1), theme.accent),
                Span::styled(words.reason(reason), if here { theme.selected } else { theme.text }),
            ])
        };
        Reason::ALL.into_iter().enumerate().map(row).collect()
    }
}
