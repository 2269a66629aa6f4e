//! Texts of the context trial.

use super::ContextPart;
use crate::messages::{Words, texts};

texts! { CONTEXT
    part_title = "Title", "Titel";
    part_heading = "Heading", "Kapitel";
    part_before = "Before", "Davor";
    part_after = "After", "Danach";
    without_title = "title", "Titel";
    without_heading = "heading", "Kapitel";
    without_before = "before", "Text davor";
    without_after = "after", "Text danach";
    context_of(source: usize) = "Source {source} in its context", "Quelle {source} im Kontext";
    context = "Context", "Kontext";
    evidence_left = "This evidence is no longer on screen.", "Dieser Beleg ist nicht mehr auf dem Bildschirm.";
    the_evidence = "       Evidence", "       Beleg";
    part_is_empty = "none", "leer";
    part_not_indexed =
        "not in the index, so that it changes no rank", "nicht im Index, ändert also keinen Rang";
    part_is_off = "left out", "weggelassen";
    ranks_now(source: usize, dense: &str, lexical: &str) =
        " Found as source {source} · by meaning {dense} · by words {lexical}",
        " Gefunden als Quelle {source} · semantisch {dense} · lexikalisch {lexical}";
    how_to_try =
        "The keys 1 to 4 switch a part off and on. Then the ranks that the sources would have by meaning without \
         it stand here beside the present ones.",
        "Die Tasten 1 bis 4 schalten einen Teil aus und ein. Neben den jetzigen Rängen stehen dann die semantischen \
         ohne diesen Teil.";
    trying(without: &str) =
        "Embedding the sources again without {without}…", "Die Quellen werden ohne {without} neu eingebettet…";
    ranks_without(without: &str) =
        "Ranks by meaning among these sources: now → without {without}",
        "Semantische Ränge unter diesen Quellen: jetzt → ohne {without}";
    what_ranks_mean =
        "By meaning only: the sources of this turn are embedded again without what is off and compared with \
         the question. Words, the reranker and what the search did not find are left aside, and nothing is stored.",
        "Nur semantisch: Die Quellen dieser Frage werden ohne das Ausgeschaltete neu eingebettet und mit der Frage \
         verglichen. Wörter, Reranker und nicht Gefundenes bleiben außer Betracht; gespeichert wird nichts.";
    moved_up(by: usize) = "up {by}", "↑ {by}";
    moved_down(by: usize) = "down {by}", "↓ {by}";
    stays = "stays", "bleibt";
    gone_since = "gone since", "seither entfernt";

    source_before = "source before", "Quelle davor";
    next_source = "next source", "Quelle danach";
}

impl Words {
    pub(crate) fn part(self, part: ContextPart) -> &'static str {
        match part {
            ContextPart::Title => self.part_title(),
            ContextPart::Heading => self.part_heading(),
            ContextPart::Before => self.part_before(),
            ContextPart::After => self.part_after(),
        }
    }

    /// A part of a context after `without`.
    pub(crate) fn without(self, part: ContextPart) -> &'static str {
        match part {
            ContextPart::Title => self.without_title(),
            ContextPart::Heading => self.without_heading(),
            ContextPart::Before => self.without_before(),
            ContextPart::After => self.without_after(),
        }
    }
}
