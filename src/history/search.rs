//! Full-text search in conversations.
//!
//! Takes words, gives the conversations whose title or turns have all of them, latest first, on request those of a
//! domain before the others. Words match by prefix, without case and accents; punctuation is ignored.
//! Invariant: no input is an invalid query.
//! Not here: showing results.

use rusqlite::Row;
use serde::Serialize;

use super::store::find;
use super::{ConversationRecord, History, HistoryError};
use ragonite_base::text::words;
use ragonite_base::{ConversationId, DomainName, clean_line};

/// Words of a snippet.
const SNIPPET_WORDS: u32 = 16;

/// Most conversations in a result.
pub const MOST_FOUND: usize = 200;

/// The conversations to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among<'a> {
    /// All conversations.
    All,
    /// Conversations of a domain.
    Domain(&'a DomainName),
    /// All conversations, those of a domain first.
    DomainFirst(&'a DomainName),
}

/// A turn with all the words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundTurn {
    /// Number in the conversation.
    pub number: u32,
    /// Clean text around the words.
    pub snippet: String,
}

/// A conversation with all the words in its title or in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The conversation.
    pub conversation: ConversationRecord,
    /// The matching turns in order; empty if only the title matches.
    pub turns: Vec<FoundTurn>,
}

impl History {
    /// The conversations with all the words of `text`, also those in the trash, at most `most`; empty without words.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn find(&self, text: &str, among: Among<'_>, most: usize) -> Result<Vec<Found>, HistoryError> {
        let Some(query) = query(text) else { return Ok(Vec::new()) };
        let (domain, first) = match among {
            Among::All => (None, None),
            Among::Domain(domain) => (Some(domain.as_str()), None),
            Among::DomainFirst(domain) => (None, Some(domain.as_str())),
        };
        let failed = |source| HistoryError::database(self.path(), "looking for words", source);
        let mut statement = self
            .connection()
            .prepare_cached(
                "SELECT conversations.id AS id, turns.number AS number, snippet(turns_text, -1, '', '', '…', ?3),
                     domain = ?4 AS is_first, change
                 FROM turns_text JOIN turns ON turns.id = turns_text.rowid
                 JOIN conversations ON conversations.id = turns.conversation
                 WHERE turns_text MATCH ?1 AND (?2 IS NULL OR domain = ?2)
                 UNION ALL
                 SELECT conversations.id, NULL, '', domain = ?4, change FROM titles_text
                 JOIN conversations ON conversations.id = titles_text.rowid
                 WHERE titles_text MATCH ?1 AND (?2 IS NULL OR domain = ?2)
                 ORDER BY is_first DESC, change DESC, id DESC, number",
            )
            .map_err(failed)?;
        let rows =
            statement.query_map(rusqlite::params![query, domain, SNIPPET_WORDS, first], Match::read).map_err(failed)?;
        let mut all: Vec<Found> = Vec::new();
        for row in rows {
            let row = row.map_err(failed)?;
            if all.last().is_none_or(|found| found.conversation.id != row.conversation) {
                if all.len() >= most {
                    break;
                }
                let id = row.conversation;
                let conversation = find(self.connection(), self.path(), id)?;
                let conversation = conversation.ok_or(HistoryError::NoConversation { id })?;
                all.push(Found { conversation, turns: Vec::new() });
            }
            if let (Some(found), Some(number)) = (all.last_mut(), row.turn) {
                found.turns.push(FoundTurn { number, snippet: clean_line(&row.snippet) });
            }
        }
        Ok(all)
    }
}

struct Match {
    conversation: ConversationId,
    turn: Option<u32>,
    snippet: String,
}

impl Match {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { conversation: ConversationId(row.get(0)?), turn: row.get(1)?, snippet: row.get(2)? })
    }
}

/// An FTS5 query of word prefixes (<https://www.sqlite.org/fts5.html#full_text_query_syntax>).
fn query(text: &str) -> Option<String> {
    let words: Vec<String> = words(text).map(|word| format!("\"{word}\"*")).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_words_and_nothing_else() {
        assert_eq!(query(" OXT-1654 \"NOT").as_deref(), Some("\"OXT\"* \"1654\"* \"NOT\"*"));
        assert_eq!(query("* ( -"), None);
    }
}
