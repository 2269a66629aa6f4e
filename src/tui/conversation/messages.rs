//! Texts of the conversation pane: outcome of a turn, support of an answer, suggestions, and the empty conversation.
//!
//! Invariant: the instructions of the empty conversation fit 60x20 in both languages.

use crate::messages::{Words, texts};
use ragonite_base::clean_line;
use ragonite_rag::answer::{AskedDate, Support, SupportReason, SupportVerdict};

texts! { CONVERSATION
    new_text_below(below: usize) = " ↓ new text below ({below}) ", " ↓ neuer Text darunter ({below}) ";
    looking_for_suggestions = "looking for questions to go on with…", "Anschlussfragen werden gesucht…";
    go_on_with = "Go on with:", "Weiter mit:";
    also_searched_as = "  also searched as: ", "  auch gesucht als: ";
    understood_as = "  understood as: ", "  verstanden als: ";
    asks = "  asks ", "  stellt ";
    out_of_scope = "∅ out of scope: the sources do not answer this", "∅ ohne Antwort: Die Quellen sagen dazu nichts";
    withheld_answer = "  the model said: ", "  das Modell sagte: ";
    supported = "✓ supported by its sources", "✓ von ihren Quellen gestützt";
    supported_by_facts =
        "✓ its figures and names are in its sources; its words were not compared, they are in another language",
        "✓ ihre Zahlen und Namen stehen in ihren Quellen; die Wörter sind nicht verglichen, sie haben eine andere Sprache";
    partly_supported(reasons: &str) = "! partly supported: {reasons}", "! teilweise gestützt: {reasons}";
    unsupported(reasons: &str) =
        "! not supported by these sources: {reasons}", "! von diesen Quellen nicht gestützt: {reasons}";
    own_knowledge(reasons: &str) = "! the model's own knowledge: {reasons}", "! Wissen des Modells: {reasons}";
    unchecked =
        "· not checked: its sources are in another language",
        "· nicht geprüft: Ihre Quellen haben eine andere Sprache";
    cites_no_source = "it cites no source", "sie nennt keine Quelle";
    same_without_sources =
        "the model answers the same without any source", "ohne jede Quelle antwortet das Modell ebenso";
    withheld =
        "∅ withheld: its sources do not confirm what the model said",
        "∅ zurückgehalten: Ihre Quellen bestätigen nicht, was das Modell sagte";
    no_match = "no document fits this question", "kein Dokument passt zu dieser Frage";
    no_match_and_word(word: &str) =
        "no document fits this question: its word {word} is in no document",
        "kein Dokument passt zu dieser Frage: Ihr Wort {word} steht in keinem Dokument";
    no_match_and_words(words: &str) =
        "no document fits this question: its words {words} are in no document",
        "kein Dokument passt zu dieser Frage: Ihre Wörter {words} stehen in keinem Dokument";
    asks_all_the_same(key: &str) =
        "The model was not asked. {key} lets you ask it all the same.",
        "Das Modell wurde nicht gefragt. Mit {key} lässt es sich trotzdem fragen.";
    date_in_no_source(date: &str) =
        "the date asked about is in no source: {date}", "das Datum der Frage steht in keiner Quelle: {date}";
    date_in_no_cited_source(date: &str) =
        "the date asked about is in no source that it cites: {date}",
        "das Datum der Frage steht in keiner Quelle, die sie nennt: {date}";
    in_no_source(items: &str) = "in no source: {items}", "in keiner Quelle: {items}";
    in_no_cited_source(figures: &str) =
        "in no source that it cites: {figures}", "in keiner Quelle, die sie nennt: {figures}";
    only_cites =
        "! it names sources and says nothing: ask again, or in other words",
        "! sie nennt Quellen und sagt nichts: noch einmal fragen, oder mit anderen Worten";
    cut_at_limit(tokens: &str) =
        "! cut after {tokens}, the most that an answer may have (settings: answer length)",
        "! nach {tokens} abgeschnitten, länger darf eine Antwort nicht sein (Einstellungen: Antwortlänge)";
    one_absent(name: &str) = "! no document has {name}", "! {name} steht in keinem Dokument";
    several_absent(names: &str) = "! no document has any of {names}", "! in keinem Dokument stehen {names}";
    one_says_it(source: &str) = "said by {source}, which it does not cite", "das sagt {source}, die sie nicht nennt";
    several_say_it(sources: &str) =
        "said by {sources}, which it does not cite", "das sagen {sources}, die sie nicht nennt";
    one_older(source: &str) = "{source} is an older version", "{source} ist eine ältere Fassung";
    several_older(sources: &str) = "{sources} are older versions", "{sources} sind ältere Fassungen";
    one_made_up(source: &str) = "{source} was not given to it", "{source} lag ihr nicht vor";
    several_made_up(sources: &str) = "{sources} were not given to it", "{sources} lagen ihr nicht vor";
    answered(sources: &str, tokens: &str, total: &str) =
        "{sources} · {tokens} read · {total}", "{sources} · {tokens} gelesen · {total}";
    and_explained(time: &str) = " · explained in {time}", " · erklärt in {time}";
    canceled = "■ cancelled", "■ abgebrochen";
    canceled_and_kept = "■ cancelled; what was written is kept", "■ abgebrochen; das Geschriebene bleibt";
    failed = "✗ failed: ", "✗ fehlgeschlagen: ";

    to_its_source = "to its source", "zur Quelle";
    to_its_citation = "to the answer", "zur Antwort";

    all_keys(key: &str) = "{key} shows all keys.", "{key} zeigt alle Tasten.";
    opening(domain: &str) = "Opening {domain}…", "{domain} wird geöffnet…";
    is_open(domain: &str, documents: &str, evidences: &str, help: &str) =
        "{domain} is open: {documents}, {evidences}.\n\nAsk in the box below. The answer comes from these documents only \
         and names its sources as [Source 1]. Then look at the evidence, behind the scenes, or ask why.\n\n{help}",
        "{domain} ist offen: {documents}, {evidences}.\n\nFrage unten eingeben. Die Antwort stammt nur aus diesen \
         Dokumenten und nennt ihre Quellen als [Source 1]. Danach zeigen Belege, Ablauf und Erklärung, woher sie \
         kommt.\n\n{help}";
    looking_for_domains = "Looking for domains…", "Domänen werden gesucht…";
    reading_documents(domain: &str, help: &str) =
        "Reading the documents of {domain}…\n\nIt is opened as soon as all of them are read.\n\n{help}",
        "Die Dokumente von {domain} werden eingelesen…\n\nSind alle gelesen, öffnet sich die Domäne.\n\n{help}";
    no_domain_yet(key: &str, help: &str) =
        "There is no domain yet. A domain is a set of your documents that can be asked.\n\n\
         Press {key} to make one of a folder; or in a shell:\n   ragonite ingest --domain notes PATH\n\
         To look around first, try the bundled documents:\n   ragonite demo\n\n\
         It is opened here as soon as it has a document.\n\n{help}",
        "Noch keine Domäne. Eine Domäne ist eine Sammlung von Dokumenten, die sich befragen lässt.\n\n\
         {key} legt eine aus einem Ordner an; in einer Shell:\n   ragonite ingest --domain notes PFAD\n\
         Zum Kennenlernen die mitgelieferten Dokumente:\n   ragonite demo\n\n\
         Mit dem ersten Dokument öffnet sie sich hier.\n\n{help}";
    choose_domain(lists: &str, names: &str, help: &str) =
        "Choose a domain to ask: press {lists}, select one, press Enter.\n\nThere are: {names}\n\n{help}",
        "Zum Fragen eine Domäne öffnen: {lists}, auswählen, Enter.\n\nVorhanden: {names}\n\n{help}";
    more_folders(more: usize) =
        " (and {more} more: ragonite models list)", " (+{more}: ragonite models list)";
    fetch_built_in(profile: &str) =
        "Fetch them in another terminal:\n   ragonite models pull --profile {profile}",
        "In einem anderen Terminal laden:\n   ragonite models pull --profile {profile}";
    fetch_by_make(profile: &str) =
        "Fetch them in another terminal, in a checkout:\n   make models PROFILE={profile}",
        "In einem anderen Terminal, im Quelltextordner, laden:\n   make models PROFILE={profile}";
    models_are_missing(models: &str, first: &str, others: &str, fetch: &str) =
        "Models are missing or not whole: {models}\nLooked in {first}{others}\n\n{fetch}\n\
         Without a network: copy the folder of each model there.\n\nIt goes on here by itself.",
        "Modelle fehlen oder sind unvollständig: {models}\nGesucht in {first}{others}\n\n{fetch}\n\
         Ohne Netz: den Ordner jedes Modells dorthin kopieren.\n\nDanach geht es hier von selbst weiter.";
}

impl Words {
    /// Warning: identifiers of the question that are in no document.
    pub(crate) fn absent(self, names: &[String]) -> String {
        let names: Vec<String> = names.iter().map(|name| clean_line(name)).collect();
        match names.as_slice() {
            [name] => self.one_absent(name),
            names => self.several_absent(&names.join(", ")),
        }
    }

    /// No document fits the question, whose `absent` words are in no document.
    pub(crate) fn fits_none(self, absent: &[String]) -> String {
        let names: Vec<String> = absent.iter().map(|word| format!("`{}`", clean_line(word))).collect();
        match names.as_slice() {
            [] => self.no_match().to_owned(),
            [word] => self.no_match_and_word(word),
            words => self.no_match_and_words(&words.join(", ")),
        }
    }

    /// The verdict on the support of an answer, with its reasons.
    pub(crate) fn support(self, support: &Support) -> String {
        let reasons: Vec<String> = support.reasons().into_iter().map(|reason| self.support_reason(reason)).collect();
        let reasons = reasons.join("; ");
        let mut parts = vec![match support.verdict {
            SupportVerdict::Supported if support.words_unchecked => self.supported_by_facts().to_owned(),
            SupportVerdict::Supported => self.supported().to_owned(),
            SupportVerdict::Partly => self.partly_supported(&reasons),
            SupportVerdict::Unsupported if support.same_without_sources => self.own_knowledge(&reasons),
            SupportVerdict::Unsupported => self.unsupported(&reasons),
            SupportVerdict::Unchecked => self.unchecked().to_owned(),
        }];
        parts.extend(support.cites_none.then(|| self.cites_no_source().to_owned()));
        match support.older_versions.as_slice() {
            [] => {}
            [one] => parts.push(self.one_older(&self.sources(&[*one]))),
            several => parts.push(self.several_older(&self.sources(several))),
        }
        parts.extend(support.same_without_sources.then(|| self.same_without_sources().to_owned()));
        parts.join("; ")
    }

    fn support_reason(self, reason: SupportReason<'_>) -> String {
        match reason {
            SupportReason::InNoSource(missing) => {
                let missing: Vec<String> = missing.iter().map(|item| clean_line(item)).collect();
                self.in_no_source(&missing.join(", "))
            }
            SupportReason::InNoCitedSource(figures) => {
                let figures = figures.iter().map(|one| format!("{} ({})", one.figure, self.sources(&one.sources)));
                self.in_no_cited_source(&figures.collect::<Vec<_>>().join(", "))
            }
            SupportReason::SaidByUncited([one]) => self.one_says_it(&self.sources(&[*one])),
            SupportReason::SaidByUncited(ranks) => self.several_say_it(&self.sources(ranks)),
            SupportReason::UncitedDate(asked) => self.asked_date(asked),
            SupportReason::NotGiven([one]) => self.one_made_up(&self.sources(&[*one])),
            SupportReason::NotGiven(ranks) => self.several_made_up(&self.sources(ranks)),
        }
    }

    /// A date of the question missing in the cited sources, with the sources that have it.
    fn asked_date(self, asked: &AskedDate) -> String {
        match asked.sources.as_slice() {
            [] => self.date_in_no_source(&asked.date),
            sources => self.date_in_no_cited_source(&format!("{} ({})", asked.date, self.sources(sources))),
        }
    }
}
