//! The language of an indexed text, and of a domain: that of most of its running text.
//!
//! Takes a text, or the database, of which a sample of evidences is read, which takes a few milliseconds for any size.
//! Rows and technical terms are too short for statistics of letters, so only stop words tell the language of a text.
//! Not here: the language of a question (`base::text`).

use rusqlite::OptionalExtension as _;

use super::IndexError;
use super::domain::DomainDb;
use super::stored::kind_of;
use ragonite_base::Language;
use ragonite_document::evidence::{Kind, has_row_label};

/// English words that join the cells of a verbalized row.
const ROW_WORDS: &[&str] = &["is", "and"];

/// Size of the sample, spread evenly over the domain.
const SAMPLE: i64 = 256;

/// The language of most passages and lists. Rows have few words of any language, so they count only without passages
/// and lists. English if nothing decides.
pub(super) fn language_of(db: &DomainDb) -> Result<Language, IndexError> {
    let sample = sample(db)?;
    let is_text = |kind: &Kind| matches!(kind, Kind::Passage | Kind::List);
    let has_text = sample.iter().any(|(kind, _)| is_text(kind));
    let counted = sample.iter().filter(|(kind, _)| !has_text || is_text(kind));
    Ok(most(counted.map(|(_, text)| text.as_str())))
}

/// The language of an indexed text, English if unknown.
pub(super) fn text_language(text: &str) -> Language {
    stop_word_language(text).unwrap_or_default()
}

fn stop_word_language(text: &str) -> Option<Language> {
    Language::by_stop_words(text, if has_row_label(text) { ROW_WORDS } else { &[] })
}

/// The language of most texts. Umlauts count only if no words decide, and only in most of the texts, because names have
/// them too.
fn most<'a>(texts: impl Iterator<Item = &'a str>) -> Language {
    let (mut german, mut english, mut umlauts, mut others) = (0_usize, 0_usize, 0_usize, 0_usize);
    for text in texts {
        match stop_word_language(text) {
            Some(Language::German) => german += 1,
            Some(Language::English) => english += 1,
            None if text.contains(['ä', 'ö', 'ü', 'Ä', 'Ö', 'Ü', 'ß']) => umlauts += 1,
            None => others += 1,
        }
    }
    let is_german = if german + english > 0 { german > english } else { umlauts > others };
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
        let most = |texts: &[&str]| most(texts.iter().copied());
        let (umlaut, nothing) = ("Jörg Müller", "OXT-1654");
        assert_eq!(most(&[umlaut, nothing, nothing]), Language::English);
        assert_eq!(most(&[umlaut, umlaut, nothing]), Language::German);
        assert_eq!(most(&[umlaut, umlaut, "The crew is on board"]), Language::English);
        assert_eq!(most(&[nothing, nothing, "nicht geladen"]), Language::German);
        assert_eq!(most(&[]), Language::English);
    }

    #[test]
    fn a_text_has_the_language_of_its_small_words() {
        for german in ["Der Akku wird bei 15 Grad gelagert und nicht geladen.", "Lagerung von Akkus im Winter"] {
            assert_eq!(text_language(german), Language::German, "{german}");
        }
        for english in ["Row 2 in Table 1: Board is Kestrel B2", "The board is stored with the battery", "", "OXT-1654"]
        {
            assert_eq!(text_language(english), Language::English, "{english}");
        }
    }

    #[test]
    fn a_row_has_the_language_of_its_cells_and_not_of_what_joins_them() {
        let umlaut = "Row 1 in Table 1: Prüfungen is Kran 3, and Ort is Halle 2, and Frist is Mai";
        assert_eq!(stop_word_language(umlaut), None);
        assert_eq!(
            stop_word_language("Row 1 in Table 1: Ort is Halle 2, and Stand is nicht geladen"),
            Some(Language::German)
        );
        assert_eq!(stop_word_language("Row 1 in Table 1: State is to be tested by the crew"), Some(Language::English));
        assert_eq!(stop_word_language("Row 1 in Table 1: Board is B2, and Tester is Mira"), None);
        assert_eq!(stop_word_language("The crew of Jörg Müller is on board"), Some(Language::English));
    }
}
