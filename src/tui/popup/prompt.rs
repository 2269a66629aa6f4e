//! A prompt for one line of text: a search, a title, or the note of a rating.
//!
//! Gives the event of the finished line.
//! Not here: the keys of the line (`line`).

use time::OffsetDateTime;
use tui_textarea::{CursorMove, TextArea};

use super::line::text_of;
use ragonite_app::{App, ConversationChange, Event, Refusal, TurnKey};
use ragonite_base::{ConversationId, clean_line};
use ragonite_history::{Feedback, Rating, Reason};

/// Purpose of a prompt.
#[derive(Debug, Clone)]
pub(crate) enum Asked {
    /// Search text for the pane.
    Text,
    /// Search words for the conversations of all domains.
    Words,
    /// New title of a conversation.
    Title(ConversationId),
    /// Note of a negative rating; may be empty.
    Note(TurnKey, Reason),
}

/// A prompt for a line of text.
#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    pub(crate) asked: Asked,
    pub(crate) line: TextArea<'static>,
}

impl Prompt {
    pub(crate) fn new(asked: Asked, text: &str) -> Self {
        let mut line = TextArea::new(vec![text.to_owned()]);
        line.move_cursor(CursorMove::End);
        Self { asked, line }
    }

    pub(super) fn text(&self) -> String {
        text_of(&self.line)
    }

    /// The event of the finished prompt.
    pub(super) fn answer(&self, app: &App, now: OffsetDateTime) -> Option<Event> {
        let text = self.text();
        match self.asked {
            // An empty title changes nothing.
            Asked::Title(id) if !clean_line(&text).is_empty() => {
                Some(Event::ConversationChangeWanted(ConversationChange::Rename(id, text)))
            }
            Asked::Title(_) | Asked::Text => None,
            Asked::Words => Some(Event::ConversationsWanted(text)),
            Asked::Note(turn, reason) => {
                let note = clean_line(&text);
                let feedback = Feedback { rating: Rating::Down, reason: Some(reason), note, rated_at: now };
                // Another conversation may be open now.
                let turn = app.turns().iter().position(|known| known.key == turn);
                let rated = turn.map(|turn| Event::TurnRated { turn, feedback: Some(feedback) });
                Some(rated.unwrap_or(Event::Refused(Refusal::NothingToRate)))
            }
        }
    }
}
