//! The history: conversations and turns with their whole trace, in one SQLite file.
//!
//! Takes [`TurnRecord`]s, gives them by conversation, latest first; searches them, keeps deleted ones in the trash, and
//! exports them.
//! Invariants: `history.db` has mode 0600 and is in WAL mode; a turn is stored as a whole or not at all; migrations are
//! append-only; a file that is damaged, newer or of another program stays unchanged.
//! Not here: the course of a conversation (`app`), threads (`workers`).

mod branch;
mod error;
mod export;
mod feedback;
mod file;
mod manage;
mod record;
mod schema;
mod search;
mod store;
#[cfg(test)]
mod tests;
mod trace_json;

pub use error::HistoryError;
pub use export::{Format, UnknownFormat, export, write_export, write_new};
pub use feedback::{Feedback, Rating, Reason, UnknownRating, UnknownReason};
pub use manage::Place;
pub use ragonite_rag::pipeline::TurnSettings;
pub use record::{
    ConversationRecord, EarlierAttribution, OtherSetting, Outcome, Trace, TurnRecord, TurnTimings, Variant,
};
pub use search::{Among, Found, FoundTurn, MOST_FOUND};
pub use store::{History, TITLE_WIDTH};
