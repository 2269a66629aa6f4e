//! Basics for every crate: ids, the cancel token, the words of a text, addresses, clean text.
//!
//! Invariant: knows nothing of documents, models, indexes or screens, and does no I/O.

mod address;
mod cancel;
mod clean;
mod hex;
mod ids;
pub mod text;
mod timing;

pub use address::page_number;
pub use cancel::{CancelOnDrop, CancelSource, CancelToken, Canceled, Watched};
pub use clean::{clean_line, clean_text, composed};
pub use hex::hex;
pub use ids::{ConversationId, DocumentId, DomainName, DomainNameError, EvidenceId, TurnId};
pub use text::{DateMention, DayOrMonth, Language, UnknownLanguage, dates_in, document_date};
pub use timing::Millis;
