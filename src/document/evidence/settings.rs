//! Settings of splitting. Any change changes the evidences, so the index stores these settings.

use serde::{Deserialize, Deserializer, Serialize, de};

/// Minimum of tokens in an evidence.
const SHORTEST_LIMIT: usize = 16;

/// The written form of tables (RAGonite, Table 4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Linearizer {
    /// `Row 2 in Table 1: Member is Alice, and Task is …`.
    #[default]
    Verbalized,
    /// Column names and cells, between bars.
    Piped,
    /// A Markdown table.
    Markdown,
    /// An HTML table.
    Html,
    /// Column names and cells, beside each other.
    Plain,
}

/// The evidences of a table (RAGonite, Table 4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableEvidence {
    /// One per row; the table itself only if it has no rows.
    Row,
    /// The table.
    Table,
    /// The table and one per row.
    #[default]
    Both,
}

/// Settings of splitting. Lengths are in tokens of the embedder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EvidenceSettings {
    /// Maximum length of a passage; longer ones are split at sentence boundaries into parts of about equal length. A
    /// single longer sentence stays whole up to twice this length, and a part may be an eighth longer to avoid a small
    /// rest; text without sentences is split at line ends, else between words.
    #[serde(deserialize_with = "limit")]
    pub longest_passage: usize,
    /// Maximum length of the text before, and of the text after. The sentence that introduces a list may take twice as
    /// much.
    pub longest_neighbour: usize,
    /// Maximum length of a table or list. A longer table becomes several evidences with caption and header; a longer
    /// list is cut between outermost items, and a longer item between nested ones. A single longer row stays whole.
    #[serde(deserialize_with = "limit")]
    pub longest_table: usize,
    /// The written form of tables and rows.
    pub linearizer: Linearizer,
    /// The evidences of a table.
    pub tables: TableEvidence,
}

impl Default for EvidenceSettings {
    fn default() -> Self {
        Self {
            longest_passage: 250,
            longest_neighbour: 75,
            longest_table: 1_000,
            linearizer: Linearizer::Verbalized,
            tables: TableEvidence::Both,
        }
    }
}

/// Reads the length of what is to be an evidence.
fn limit<'de, D: Deserializer<'de>>(source: D) -> Result<usize, D::Error> {
    let length = usize::deserialize(source)?;
    if length < SHORTEST_LIMIT {
        let told = format!("a limit of {length} tokens leaves nothing to find: use {SHORTEST_LIMIT} or more");
        return Err(de::Error::custom(told));
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_leaves_single_words_is_refused() {
        let read = |text: &str| serde_json::from_str::<EvidenceSettings>(text);
        for short in [r#"{"longest_passage": 0}"#, r#"{"longest_table": 15}"#] {
            assert!(read(short).unwrap_err().to_string().contains("use 16 or more"), "{short}");
        }
        assert_eq!(read(r#"{"longest_passage": 16, "longest_neighbour": 0}"#).unwrap().longest_passage, 16);
    }
}
