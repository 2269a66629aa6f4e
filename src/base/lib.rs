//! Basics for every crate: ids, the cancel token, languages, dates, addresses, clean text.
//!
//! Invariant: knows nothing of documents, models, indexes or screens, and does no I/O.

mod address;
mod cancel;
mod clean;
mod dates;
mod document_date;
mod function_words;
mod hex;
mod ids;
mod language;
mod timing;

pub use address::page_number;
pub use cancel::{CancelOnDrop, CancelSource, CancelToken, Canceled, Watched};
pub use clean::{clean_line, clean_text, composed};
pub use dates::{DateMention, DayOrMonth, dates_in, full_year, month_named};
pub use document_date::document_date;
pub use hex::hex;
pub use ids::{ConversationId, DocumentId, DomainName, DomainNameError, EvidenceId, TurnId};
pub use language::{Language, UnknownLanguage};
pub use timing::Millis;
