//! The language of a domain: that of most of its running text.
//!
//! Takes the database, gives a [`Language`] from a sample of evidences, which takes a few milliseconds for any size.
//! Not here: the language of a single text (`tokenizer`).

use rusqlite::OptionalExtension as _;

use super::IndexError;
use super::domain::DomainDb;
use super::stored::kind_of;
use super::tokenizer::{LanguageHint, language_hint};
use ragonite_base::Language;
use ragonite_document::evidence::Kind;

/// Size of the sample, spread evenly over the domain.
const SAMPLE: i64 = 256;

/// The language of most passages and lists. Rows have few words of any language, so they count only without passages
/// and lists. English if nothing decides.
pub(super) fn language_of(db: &DomainDb) -> Result<Language, IndexError> {
    let sample = sample(db)?;
    let is_text = |kind: &Kind| matches!(kind, Kind::Passage | Kind::List);
    let has_text = sample.iter().any(|(kind, _)| is_text(kind));
    let counted = sample.iter().filter(|(kind, _)| !has_text || is_text(kind));
    Ok(most(&counted.map(|(_, text)| language_hint(text)).collect::<Vec<_>>()))
}

/// The language of most hints. Umlauts count only if no words decide, and only in most of the texts, because names have
/// them too.
fn most(hints: &[LanguageHint]) -> Language {
    let count = |wanted: LanguageHint| hints.iter().filter(|hint| **hint == wanted).count();
    let (german, english) =
        (count(LanguageHint::Words(Language::German)), count(LanguageHint::Words(Language::English)));
    let is_german = if german + english > 0 { german > english } else { 2 * count(LanguageHint::Umlaut) > hints.len() };
    if is_german { Language::German } else { Language::English }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_an_umlaut_makes_no_domain_german() {
        let words = LanguageHint::Words;
        assert_eq!(most(&[LanguageHint::Umlaut, LanguageHint::Nothing, LanguageHint::Nothing]), Language::English);
        assert_eq!(most(&[LanguageHint::Umlaut, LanguageHint::Umlaut, LanguageHint::Nothing]), Language::German);
        assert_eq!(most(&[LanguageHint::Umlaut, LanguageHint::Umlaut, words(Language::English)]), Language::English);
        assert_eq!(most(&[LanguageHint::Nothing, LanguageHint::Nothing, words(Language::German)]), Language::German);
        assert_eq!(most(&[]), Language::English);
    }
}
