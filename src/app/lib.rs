//! The pure core: state, [`Event`], [`Effect`]; `handle(&mut self, Event) -> Vec<Effect>`.
//!
//! Invariants: no I/O, no clock, no thread, no ratatui; an event of a finished or cancelled turn changes nothing.
//! Not here: carrying out effects (`runtime`), scroll and focus (`tui`).

mod ahead;
mod aside;
mod compare;
mod context;
mod effect;
mod event;
mod ingest;
mod keep;
mod notice;
mod problem;
mod refusal;
mod settings;
mod setup;
mod state;
mod steps;
#[cfg(test)]
mod tests;
mod turn;

pub use aside::{Answering, Unlisted};
pub use compare::Other;
pub use context::{ContextTrial, DocumentPart, Fetched, OpenDocument, Piece};
pub use effect::{ConversationChange, Demand, Effect, TurnKey, Wording};
pub use event::{DomainHealth, DomainSummary, EngineStatus, Event, Loading};
pub use ingest::Ingesting;
pub use keep::FoundConversations;
pub use notice::{Copied, CopyWay, Notice};
pub use problem::Problem;
pub use refusal::Refusal;
pub use setup::{Fetching, MissingModels};
pub use state::{App, AppSettings, Phase};
pub use turn::{Explaining, PromptSize, Purpose, Reading, Turn};
