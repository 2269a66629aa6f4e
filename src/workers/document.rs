//! A document for the screen: its evidences in order, in pieces that are quick to lay out.
//!
//! Invariants: the pieces of an evidence joined again are its text; a row is left out where its table has the same
//! content, unless the row is the hit.
//! Not here: loading (`index`), layout (`tui`).

use std::collections::BTreeSet;

use ragonite_app::{DocumentPart, Piece};
use ragonite_base::EvidenceId;
use ragonite_document::evidence::Kind;
use ragonite_index::StoredEvidence;

/// Longest piece in bytes; longer lines are cut.
const LONGEST: usize = 4096;

/// The text of a document around `hit`.
pub(super) fn parts_of(stored: Vec<StoredEvidence>, hit: EvidenceId) -> Vec<DocumentPart> {
    let whole = stored.iter().filter(|stored| stored.evidence.kind == Kind::Table);
    let tables: BTreeSet<u32> = whole.filter_map(|stored| stored.evidence.table).collect();
    let said_by_table = |stored: &StoredEvidence| {
        stored.evidence.kind == Kind::Row && stored.evidence.table.is_some_and(|table| tables.contains(&table))
    };
    let read = stored.into_iter().filter(|stored| stored.id == hit || !said_by_table(stored));
    read.flat_map(|stored| {
        let (evidence, id) = (stored.evidence, stored.id);
        let part = move |(at, text): (usize, String)| DocumentPart {
            evidence: id,
            kind: evidence.kind,
            piece: if at == 0 { Piece::First } else { Piece::Further },
            heading_path: evidence.context.heading_path.clone(),
            location: evidence.location.clone(),
            text,
        };
        pieces(&evidence.content).into_iter().enumerate().map(part).collect::<Vec<_>>()
    })
    .collect()
}

/// Splits a text into pieces, between lines where possible; at least one piece.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > LONGEST {
        let most = rest.floor_char_boundary(LONGEST);
        let at = rest[..most].rfind('\n').map_or(most, |line| line + 1);
        let (piece, more) = rest.split_at(at);
        pieces.push(piece.to_owned());
        rest = more;
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(rest.to_owned());
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use ragonite_base::DocumentId;
    use ragonite_document::evidence::{Context, ContextParts, Evidence};

    fn stored(id: i64, kind: Kind, table: Option<u32>, content: &str) -> StoredEvidence {
        let (context, location) = (Context::default(), String::new());
        let evidence =
            Evidence { kind, content: content.into(), context, table, row: None, location, links: Vec::new() };
        StoredEvidence {
            id: EvidenceId(id),
            document: DocumentId(1),
            title: String::new(),
            url: String::new(),
            date: None,
            space: None,
            ancestors: Vec::new(),
            indexed: ContextParts::ALL,
            evidence,
        }
    }

    #[test]
    fn rows_are_left_out_where_their_table_is_there_but_for_the_one_that_was_found() {
        let all = || {
            vec![
                stored(1, Kind::Passage, None, "before"),
                stored(2, Kind::Table, Some(1), "a | b"),
                stored(3, Kind::Row, Some(1), "a"),
                stored(4, Kind::Row, Some(1), "b"),
                stored(5, Kind::Row, Some(2), "of a table that is no evidence"),
            ]
        };
        let ids = |hit| parts_of(all(), EvidenceId(hit)).iter().map(|part| part.evidence.0).collect::<Vec<_>>();
        assert_eq!(ids(1), [1, 2, 5]);
        assert_eq!(ids(4), [1, 2, 4, 5]);
        assert!(parts_of(Vec::new(), EvidenceId(1)).is_empty());
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(32))]
        #[test]
        fn pieces_are_short_and_lose_nothing(lines in proptest::collection::vec("[aä手]{0,3000}", 0..6)) {
            let text = lines.join("\n");
            let pieces = pieces(&text);
            prop_assert_eq!(pieces.concat(), text);
            prop_assert!(!pieces.is_empty() && pieces.iter().all(|piece| piece.len() <= LONGEST));
        }
    }
}
