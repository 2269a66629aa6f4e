//! Texts of the evidence pane: the hits of a turn and their tables.

use crate::messages::{Words, texts};
use ragonite_document::evidence::Kind;
use ragonite_rag::retrieval::MatchQuality;

texts! { EVIDENCE
    no_evidence_yet =
        "The evidence for an answer appears here, best first.",
        "Hier erscheinen die Belege einer Antwort, die besten zuerst.";
    searching = "Searching…", "Suche läuft…";
    nothing_found = "The search found nothing.", "Die Suche hat nichts gefunden.";
    sources_of_turn(turn: u32) = "Sources of turn {turn}", "Quellen zu Frage {turn}";

    weak_matches = "Weak matches only", "Nur schwache Treffer";
    weak_matches_and_cosines(best: &str, unrelated: &str) =
        "Weak matches only: the best cosine is {best}, and unrelated questions reach {unrelated}",
        "Nur schwache Treffer: Der beste Kosinus ist {best}, fachfremde Fragen erreichen {unrelated}";
    found_at(cosine: &str, dense: &str, lexical: &str) =
        "cosine {cosine} · dense {dense} · lexical {lexical}",
        "Kosinus {cosine} · sem. {dense} · lex. {lexical}";
    and_reranked(found: &str, score: &str) = "{found} · rerank {score}", "{found} · Reranker {score}";
    cited = "cited", "zitiert";
    cut_no_room = "! not in the prompt: no room", "! nicht im Prompt: kein Platz";
    cut_short = "! shortened", "! gekürzt";
    not_in_prompt = "not in prompt", "nicht im Prompt";
    title_of_context = "Title: ", "Titel: ";
    heading_of_context = "Heading: ", "Kapitel: ";
    before_in_context = "Before: ", "Davor: ";
    after_in_context = "After: ", "Danach: ";
    date_of_document = "Date: ", "Datum: ";
    newest_version = "newest version", "neueste Fassung";
    older_version = "older version", "ältere Fassung";
    older_version_of(source: usize) =
        "older version, newest: source {source}", "ältere Fassung, neueste: Quelle {source}";
    kind_passage = "passage", "Absatz";
    kind_list = "list", "Liste";
    kind_table = "table", "Tabelle";
    kind_row = "row", "Zeile";

    loading_table = "loading the table…", "Tabelle wird geladen…";
    table_number(number: u32, caption: &str) = "Table {number}{caption}", "Tabelle {number}{caption}";
    rows_above(rows: &str) = "  … {rows} above", "  … {rows} darüber";
    rows_below(rows: &str) = "  … {rows} below", "  … {rows} darunter";
    cells_of_table(first: usize, last: usize, total: usize, keys: &str) =
        "  ↔ cells {first}–{last} of {total}; {keys} scroll",
        "  ↔ Zeichen {first}–{last} von {total}; {keys} verschieben";
    scroll_table = "scroll table", "Tabelle verschieben";
}

impl Words {
    /// Line above hits that do not fit the question.
    pub(crate) fn weak(self, quality: &MatchQuality) -> String {
        match (quality.best_cosine, quality.unrelated_cosine) {
            (Some(best), Some(unrelated)) => {
                self.weak_matches_and_cosines(&self.decimal(best, 2), &self.decimal(unrelated, 2))
            }
            _ => self.weak_matches().to_owned(),
        }
    }

    pub(crate) fn kind(self, kind: Kind) -> &'static str {
        match kind {
            Kind::Passage => self.kind_passage(),
            Kind::List => self.kind_list(),
            Kind::Table => self.kind_table(),
            Kind::Row => self.kind_row(),
        }
    }
}
