//! The words of a text: splitting, identifiers, stop words, languages and dates.
//!
//! Takes texts of any language. Rules that depend on a language know English and German; in other languages they find
//! less.
//! Invariants: pure; whatever is found lies in the text; long texts take time in proportion to their length.
//! Not here: stems and the words of the lexical index (`index::tokenizer`), tokens of models (`inference`).

mod dates;
mod document_date;
mod identifier;
mod language;
mod sentence_words;
mod stop_words;
mod words;

pub use dates::{DateMention, DayOrMonth, PartialDate, dates_in, full_year, month_named, partial_dates_in};
pub use document_date::document_date;
pub use identifier::{has_digit, is_capitalized, is_identifier};
pub use language::{Language, UnknownLanguage};
pub use sentence_words::{SentenceWord, sentence_words};
pub use stop_words::is_stop_word;
pub use words::{NAME_JOINS, Word, lower_words, split_words, words};
