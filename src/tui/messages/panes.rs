//! Pane names, empty panes, conversation and evidence.

use super::{Words, texts};
use crate::context::ContextPart;
use crate::screen::Pane;
use ragonite_base::{Language, clean_line};
use ragonite_document::evidence::Kind;
use ragonite_history::{Feedback, Rating, Reason};
use ragonite_rag::answer::{AskedDate, MiscitedNumber};
use ragonite_rag::retrieval::Relation;

texts! { PANES
    question = "Question", "Frage";
    conversation = "Conversation", "Gespräch";
    evidence = "Evidence", "Belege";
    behind_the_scenes = "Behind the scenes", "Ablauf";
    behind = "Behind", "Ablauf";
    why = "Why", "Erklärung";
    domains = "Domains", "Domänen";
    domains_and_conversations = "Domains and conversations", "Domänen und Gespräche";
    too_small = "window too small", "Fenster zu klein";

    lines_below(below: usize) = " ↓ {below} more ", " ↓ noch {below} ";
    more_below(below: usize) = " {below} more below ", " noch {below} darunter ";
    new_text_below(below: usize) = " ↓ new text below ({below}) ", " ↓ neuer Text darunter ({below}) ";
    rated(said: &str) = "rated {said}", "bewertet: {said}";
    looking_for_suggestions = "looking for questions to go on with…", "Anschlussfragen werden gesucht…";
    go_on_with = "Go on with:", "Weiter mit:";
    understood_as = "  understood as: ", "  verstanden als: ";
    out_of_scope = "∅ out of scope: the sources do not answer this", "∅ ohne Antwort: Die Quellen sagen dazu nichts";
    date_in_no_source(date: &str) =
        "! the date asked about is in no source: {date}", "! das Datum der Frage steht in keiner Quelle: {date}";
    date_in_no_cited_source(date: &str) =
        "! the date asked about is in no source that it cites: {date}",
        "! das Datum der Frage steht in keiner Quelle, die sie nennt: {date}";
    in_no_source(figures: &str) = "! in no source: {figures}", "! in keiner Quelle: {figures}";
    in_no_cited_source(figures: &str) =
        "! in no source that it cites: {figures}", "! in keiner Quelle, die sie nennt: {figures}";
    only_cites =
        "! it names sources and says nothing: ask again, or in other words",
        "! sie nennt Quellen und sagt nichts: noch einmal fragen, oder mit anderen Worten";
    cut_at_limit(tokens: &str) =
        "! cut after {tokens}, the most that an answer may have (settings: answer length)",
        "! nach {tokens} abgeschnitten, länger darf eine Antwort nicht sein (Einstellungen: Antwortlänge)";
    one_absent(name: &str) = "! no document has {name}", "! {name} steht in keinem Dokument";
    several_absent(names: &str) = "! no document has any of {names}", "! in keinem Dokument stehen {names}";
    one_says_it(source: &str) = "! said by {source}, which it does not cite", "! das sagt {source}, die sie nicht nennt";
    several_say_it(sources: &str) =
        "! said by {sources}, which it does not cite", "! das sagen {sources}, die sie nicht nennt";
    one_made_up(source: &str) =
        "! {source} was not among the sources it was given", "! {source} war nicht unter den vorgelegten Quellen";
    several_made_up(sources: &str) =
        "! {sources} were not among the sources it was given", "! {sources} waren nicht unter den vorgelegten Quellen";
    answered(sources: &str, tokens: &str, total: &str) =
        "{sources} · {tokens} read · {total}", "{sources} · {tokens} gelesen · {total}";
    and_explained(time: &str) = " · explained in {time}", " · erklärt in {time}";
    canceled = "■ cancelled", "■ abgebrochen";
    canceled_and_kept = "■ cancelled; what was written is kept", "■ abgebrochen; das Geschriebene bleibt";
    failed = "✗ failed: ", "✗ fehlgeschlagen: ";

    no_evidence_yet =
        "The evidence for an answer appears here, best first.",
        "Hier erscheinen die Belege einer Antwort, die besten zuerst.";
    searching = "Searching…", "Suche läuft…";
    nothing_found = "The search found nothing.", "Die Suche hat nichts gefunden.";
    found_at(fused: &str, dense: &str, lexical: &str) =
        "fused {fused} · dense {dense} · lexical {lexical}",
        "Fusion {fused} · sem. {dense} · lex. {lexical}";
    and_reranked(found: &str, score: &str) = "{found} · rerank {score}", "{found} · Reranker {score}";
    cited = "cited", "zitiert";
    not_cited = "not cited", "nicht zitiert";
    cited_and_decisive = "cited and decisive", "zitiert und entscheidend";
    cited_but_removable = "cited but removable", "zitiert, aber entbehrlich";
    decisive_but_not_cited = "decisive but not cited", "entscheidend, aber nicht zitiert";
    cut_no_room = "! not in the prompt: no room", "! nicht im Prompt: kein Platz";
    cut_short = "! shortened", "! gekürzt";
    not_in_prompt = "not in prompt", "nicht im Prompt";
    title_of_context = "Title: ", "Titel: ";
    heading_of_context = "Heading: ", "Kapitel: ";
    before_in_context = "Before: ", "Davor: ";
    after_in_context = "After: ", "Danach: ";
    loading_table = "loading the table…", "Tabelle wird geladen…";

    table_number(number: u32, caption: &str) = "Table {number}{caption}", "Tabelle {number}{caption}";
    rows_above(rows: &str) = "  … {rows} above", "  … {rows} darüber";
    rows_below(rows: &str) = "  … {rows} below", "  … {rows} darunter";
    cells_of_table(first: usize, last: usize, total: usize, keys: &str) =
        "  ↔ cells {first}–{last} of {total}; {keys} scroll",
        "  ↔ Zeichen {first}–{last} von {total}; {keys} verschieben";

    kind_passage = "passage", "Absatz";
    kind_list = "list", "Liste";
    kind_table = "table", "Tabelle";
    kind_row = "row", "Zeile";
    relation_copy = "copy", "Kopie";
    relation_version = "version", "andere Fassung";
    relation_row = "row", "Zeile";
    newest_version = "newest version", "neueste Fassung";
    older_version = "older version", "ältere Fassung";
    older_version_of(source: usize) =
        "older version, newest: source {source}", "ältere Fassung, neueste: Quelle {source}";
    date_of_document = "Date: ", "Datum: ";

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

    document = "Document", "Dokument";
    document_gone =
        "The domain does not have this document any more.", "Die Domäne hat dieses Dokument nicht mehr.";
    opening_document = "Opening the document…", "Das Dokument wird geöffnet…";
    not_in_document(text: &str) = "! “{text}” is not in it", "! „{text}“ kommt nicht vor";
    part_of_document(part: &str, parts: &str) = "part {part} of {parts}", "Teil {part} von {parts}";
    found_here = "▌ found here · ", "▌ Fundstelle · ";

    reason_wrong_answer = "wrong answer", "falsche Antwort";
    reason_wrong_source = "wrong source", "falsche Quelle";
    reason_incomplete = "incomplete", "unvollständig";
    reason_out_of_date = "out of date", "veraltet";
    reason_other = "other", "anderes";
    rating_up = "up", "gut";
    rating_down = "down", "schlecht";
}

impl Words {
    /// The name of a pane on its frame.
    pub(crate) fn title(self, pane: Pane) -> &'static str {
        match pane {
            Pane::Composer => self.question(),
            Pane::Behind => self.behind_the_scenes(),
            other => self.tab(other),
        }
    }

    /// Short name of a pane.
    pub(crate) fn tab(self, pane: Pane) -> &'static str {
        match pane {
            Pane::Composer => self.question(),
            Pane::Conversation => self.conversation(),
            Pane::Evidence => self.evidence(),
            Pane::Behind => self.behind(),
            Pane::Why => self.why(),
            Pane::Lists => self.domains(),
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

    /// Relation of a near-duplicate to its hit.
    pub(crate) fn relation(self, relation: Relation) -> &'static str {
        match relation {
            Relation::Copy => self.relation_copy(),
            Relation::Version => self.relation_version(),
            Relation::Row => self.relation_row(),
        }
    }

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

    /// Warning: identifiers of the question that are in no document.
    pub(crate) fn absent(self, names: &[String]) -> String {
        let names: Vec<String> = names.iter().map(|name| clean_line(name)).collect();
        match names.as_slice() {
            [name] => self.one_absent(name),
            names => self.several_absent(&names.join(", ")),
        }
    }

    /// Warning: figures missing in the cited sources, with the sources that have them.
    pub(crate) fn miscited(self, figures: &[MiscitedNumber]) -> String {
        let figures = figures.iter().map(|one| format!("{} ({})", one.figure, self.sources(&one.sources)));
        self.in_no_cited_source(&figures.collect::<Vec<_>>().join("  "))
    }

    /// Warning: a date of the question missing in the cited sources, with the sources that have it.
    pub(crate) fn asked_date(self, asked: &AskedDate) -> String {
        match asked.sources.as_slice() {
            [] => self.date_in_no_source(&asked.date),
            sources => self.date_in_no_cited_source(&format!("{} ({})", asked.date, self.sources(sources))),
        }
    }

    /// Warning: uncited sources that say the same as the answer.
    pub(crate) fn said_by(self, ranks: &[usize]) -> String {
        let sources = self.sources(ranks);
        if ranks.len() == 1 { self.one_says_it(&sources) } else { self.several_say_it(&sources) }
    }

    /// Warning: cited sources that were not in the prompt.
    pub(crate) fn made_up(self, ranks: &[usize]) -> String {
        let sources = self.sources(ranks);
        if ranks.len() == 1 { self.one_made_up(&sources) } else { self.several_made_up(&sources) }
    }

    pub(crate) fn reason(self, reason: Reason) -> &'static str {
        match reason {
            Reason::WrongAnswer => self.reason_wrong_answer(),
            Reason::WrongSource => self.reason_wrong_source(),
            Reason::Incomplete => self.reason_incomplete(),
            Reason::OutOfDate => self.reason_out_of_date(),
            Reason::Other => self.reason_other(),
        }
    }

    /// A rating on one line, with the user's note.
    pub(crate) fn feedback(self, feedback: &Feedback) -> String {
        if self.language() == Language::English {
            return feedback.label();
        }
        let rating = match feedback.rating {
            Rating::Up => self.rating_up(),
            Rating::Down => self.rating_down(),
        };
        let reason = feedback.reason.map(|reason| format!(", {}", self.reason(reason))).unwrap_or_default();
        let note = clean_line(&feedback.note);
        let note = if note.is_empty() { note } else { format!(": {note}") };
        format!("{rating}{reason}{note}")
    }
}
