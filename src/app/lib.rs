//! The pure core: state, [`Event`], [`Effect`]; `handle(&mut self, Event) -> Vec<Effect>`.
//!
//! Invariants: no I/O, no clock, no thread, no ratatui; an event of a finished or cancelled turn changes nothing.
//! Not here: doing the effects (`workers`), scroll and focus (`tui`).

mod compare;
mod context;
mod conversation;
mod conversation_ops;
mod effect;
mod event;
mod ingest;
mod missing_models;
mod notice;
mod notification;
mod open_conversations;
mod prefetch;
mod problem;
mod settings;
mod state;
mod steps;
#[cfg(test)]
mod tests;
mod turn;

pub use compare::Variation;
pub use context::{ContextTrial, DocumentPart, Fetched, OpenDocument, Piece};
pub use conversation_ops::FoundConversations;
pub use effect::{ConversationChange, Effect, ExplainRequest, JobId, SuggestRequest, Trigger, TurnKey};
pub use event::{DomainHealth, DomainSummary, EngineStatus, Event, Loading};
pub use ingest::Ingesting;
pub use missing_models::{FetchSupport, MissingModels};
pub use notice::{Copied, CopyWay, Notice};
pub use notification::Refusal;
pub use open_conversations::{Answering, Unlisted};
pub use problem::Problem;
pub use state::{App, AppSettings, Phase};
pub use turn::{ExplainProgress, Explaining, PromptSize, Purpose, Reading, Turn};
