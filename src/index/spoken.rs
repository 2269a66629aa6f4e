//! The language of a domain: that of most of its running text.
//!
//! Takes the database, gives a [`Language`]. A sample is enough to tell it, and costs a few milliseconds however large
//! the domain is.
//! Not here: the language of a single text (`words`).

use rusqlite::OptionalExtension as _;

use super::IndexError;
use super::domain::DomainDb;
use super::stored::kind_of;
use super::words::told_language;
use crate::base::Language;
use crate::evidence::Kind;

/// Evidences that are looked at, spread evenly over the domain.
const SAMPLE: i64 = 256;

/// The language of most passages and lists that tell it. Rows have few words of any language: they are looked at only where
/// there is nothing else. English where nothing tells.
pub(super) fn language_of(db: &DomainDb) -> Result<Language, IndexError> {
    let sample = sample(db)?;
    let is_text = |kind: &Kind| matches!(kind, Kind::Passage | Kind::List);
    let has_text = sample.iter().any(|(kind, _)| is_text(kind));
    let counted = sample.iter().filter(|(kind, _)| !has_text || is_text(kind));
    let told: Vec<Language> = counted.filter_map(|(_, text)| told_language(text)).collect();
    let german = told.iter().filter(|language| **language == Language::German).count();
    Ok(if 2 * german > told.len() { Language::German } else { Language::English })
}

fn sample(db: &DomainDb) -> Result<Vec<(Kind, String)>, IndexError> {
    db.read("reading a sample of the texts", |connection| {
        let bounds = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?));
        let (first, last) = connection.query_row("SELECT min(id), max(id) FROM evidences", [], bounds)?;
        let (Some(first), Some(last)) = (first, last) else { return Ok(Vec::new()) };
        let step = ((last - first) / SAMPLE).max(1);
        let sql = "SELECT kind, content FROM evidences WHERE id >= ?1 AND id < ?1 + ?2 ORDER BY id LIMIT 1";
        let mut query = connection.prepare_cached(sql)?;
        let mut found = Vec::new();
        let mut from = first;
        while from <= last {
            let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
            let one = query.query_row([from, step], read).optional()?;
            found.extend(one.and_then(|(kind, text)| Some((kind_of(&kind)?, text))));
            from += step;
        }
        Ok(found)
    })
}
