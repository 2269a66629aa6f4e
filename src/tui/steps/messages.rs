//! Texts of the steps pane: input and output of each step of a turn.

use crate::messages::{Words, texts};
use ragonite_config::Group;
use ragonite_inference::Finish;
use ragonite_rag::answer::{RewriteHow, TranslationHow};
use ragonite_rag::prompt::{CutHow, Part, SourceOrder};
use ragonite_rag::retrieval::{Relation, Retriever, SubQueryRole, WeightReason};

texts! { STEPS
    nothing_behind_yet =
        "Every step of an answer appears here, with all it took and gave.",
        "Hier erscheint jeder Schritt einer Antwort mit allem, was hinein- und herausging.";
    not_done = "not done", "nicht ausgeführt";
    step_question = "1 Question", "1 Frage";
    rewrite_first = "first question, searched as it is", "erste Frage, gesucht wie gestellt";
    rewrite_complete = "complete as typed", "vollständig wie gestellt";
    rewrite_model = "completed by the model", "vom Modell vervollständigt";
    rewrite_again = "asked again, as it was completed before", "wie beim ersten Mal";
    rewrite_edited = "edited by you, searched for as it stands", "bearbeitet, gesucht wie geschrieben";
    rewrite_mended =
        "completed by the model, lost names added", "vom Modell vervollständigt, verlorene Namen ergänzt";
    rewrite_named =
        "the model's text was no usable question, names of the conversation added",
        "Modelltext unbrauchbar, Namen aus dem Gespräch ergänzt";
    rewrite_kept =
        "the model's text was no usable question, kept as typed", "Modelltext unbrauchbar, Frage wie gestellt";
    as_typed = "as typed", "wie gestellt";
    searched_for = "searched for", "gesucht wurde";
    prompt_of(tokens: &str) = "prompt, {tokens}", "Prompt, {tokens}";
    model_said(tokens: &str) = "the model said, {tokens}", "Ausgabe des Modells, {tokens}";
    translated_how(from: &str, to: &str, how: &str, time: &str) =
        "translated from {from} to {to}, {how}, {time}", "übersetzt von {from} nach {to}, {how}, {time}";
    translation_model = "by the model", "vom Modell";
    translation_known = "known from before", "schon bekannt";
    translation_dropped =
        "the model's text was no usable translation, not searched for", "Modelltext unbrauchbar, nicht gesucht";
    translation_too_long = "the question is too long to be translated", "Frage zu lang für eine Übersetzung";
    searched_together = "searched together, with weights", "gemeinsam gesucht, mit Gewichten";
    weight_only = "alone", "allein";
    weight_sure = "sure of its page", "Seite eindeutig";
    weight_unsure = "not sure of a page", "Seite unklar";
    weight_same_topic = "same topic", "selbes Thema";
    weight_other_topic = "another topic", "anderes Thema";
    role_raw = "as typed", "wie gestellt";
    role_rewrite = "completed", "ergänzt";
    role_translation = "translated", "übersetzt";
    role_history = "asked before", "Vorfrage";

    step_search = "2 Search", "2 Suche";
    step_dense = "2 Search by meaning (dense)", "2 Semantische Suche (dense)";
    step_lexical = "3 Search by words (lexical)", "3 Lexikalische Suche (lexical)";
    step_fused = "4 Both, fused", "4 Beide, fusioniert";
    fit_measured(best: &str, unrelated: &str, coverage: &str) =
        "best cosine {best}, of unrelated questions {unrelated}; words of the question in the hits {coverage}",
        "bester Kosinus {best}, fachfremder Fragen {unrelated}; Wörter der Frage in den Treffern {coverage}";
    day_meant(day: &str) =
        "of versions, what held on {day} comes first", "von Fassungen zuerst, was am {day} galt";
    so_many_found(found: usize, time: &str) = "{found} found, {time}", "{found} gefunden, {time}";
    ranks_title = "   #  fused   dense  lexical", "   #  Fusion   sem.     lex.";
    ranks_title_reranked = "   #  fused   dense  lexical  rerank", "   #  Fusion   sem.     lex.  Rerank";
    found_by_texts(found: &str) = "found {found}", "gefunden: {found}";
    found_by_texts_and_more(found: &str, more: usize) =
        "found {found} and {more} more", "gefunden: {found} und {more} weitere";
    in_no_list(score: &str) = "by meaning {score}, in no list", "semantisch {score}, in keiner Liste";
    cited_before(value: &str) = "cited by answers before +{value}", "in früheren Antworten zitiert +{value}";
    kept_place = "kept near the top: the conversation rests on it", "weit oben gehalten: das Gespräch stützt sich darauf";
    matched_words(words: &str) = "words: {words}", "Wörter: {words}";
    by_searches_alone(rank: usize) = "by the searches alone {rank}", "nach der Suche allein Rang {rank}";
    folded(relation: &str, title: &str, location: &str) =
        "{relation} in {title} ({location})", "{relation} in {title} ({location})";
    by_meaning = "by meaning", "semantisch";
    by_words = "by words", "lexikalisch";
    no_hit(origin: &str) = "no hit: {origin}", "kein Treffer: {origin}";
    no_hit_by_number(evidence: i64) = "evidence {evidence}, no hit", "Beleg {evidence}, kein Treffer";
    copy_of_hit(rank: usize, title: &str) = "with hit {rank}: {title}", "bei Treffer {rank}: {title}";
    hit_of(rank: usize, origin: &str) = "hit {rank}: {origin}", "Treffer {rank}: {origin}";
    relation_copy = "copy", "Kopie";
    relation_version = "version", "andere Fassung";
    relation_row = "row", "Zeile";

    step_prompt = "5 Prompt", "5 Prompt";
    not_built = "not built", "nicht erstellt";
    prompt_sizes(tokens: &str, sources: &str, order: &str) =
        "{tokens}, {sources}{order}", "{tokens}, {sources}{order}";
    best_last = ", best last", ", die beste zuletzt";
    longest_first = ", longest first, best last", ", die längste zuerst, die beste zuletzt";
    best_first = ", best first", ", die beste zuerst";
    best_then_longest = ", best, then longest", ", beste, dann längste";
    step_cut = "6 Left out", "6 Weggelassen";
    nothing = "nothing", "nichts";
    cut_row(source: &str, how: &str, tokens: &str) = "{source} {how}, {tokens}", "{source} {how}, {tokens}";
    left_out = "left out", "weggelassen";
    another_version = "left out, another version", "weggelassen, andere Fassung";
    shortened = "shortened", "gekürzt";
    without_neighbours = "without text that stands elsewhere", "ohne Text, der anderswo steht";
    segment_template = "chat template", "Chat-Vorlage";
    segment_system = "instructions", "Anweisungen";
    segment_around(sources: &str) = "around {sources}", "um {sources}";
    segment_history = "earlier turns", "bisheriges Gespräch";
    segment_question = "question", "Frage";
    segment_lead = "beginning of the answer", "Anfang der Antwort";

    step_raw = "7 Answer as the model wrote it", "7 Antwort im Wortlaut";
    named_afterwards(mark: &str) = "Asked for its source, it named {mark}", "Nach der Quelle gefragt, nannte es {mark}";
    finish_end = "ended by itself", "von selbst beendet";
    finish_stop = "ended at a stop text", "an einem Stopptext beendet";
    finish_length = "ended at the token limit or stopped", "an der Tokengrenze oder durch Abbruch beendet";
    step_without(sources: &str) = "8 Without {sources}", "8 Ohne {sources}";
    similarity_of(value: &str) = "similarity {value}", "Ähnlichkeit {value}";
    answer_ended(how: &str) = "answer, {how}", "Antwort, {how}";
    with_every_source(how: &str) = "with every source and the same random numbers, {how}", "mit allen Quellen und denselben Zufallszahlen, {how}";
    its_prompt = "its prompt", "ihr Prompt";
    step_drops(sources: &str) = "8 Log-probability without {sources}", "8 Log-Wahrscheinlichkeit ohne {sources}";
    hidden_estimate = "hidden, an estimate", "verdeckt, Schätzung";
    quoted(token: &str) = "“{token}”", "„{token}“";

    step_costs = "9 Time and tokens", "9 Zeit und Token";
    in_and_out(prompt: &str, reused: &str, written: &str) =
        "{prompt} in ({reused} reused), {written} out", "{prompt} ein (Cache {reused}), {written} aus";
    cost_rewrite = "rewrite", "Frage";
    cost_translate = "translate", "Übersetzen";
    cost_retrieve = "retrieve", "Suche";
    cost_first_token = "first token", "1. Token";
    cost_answer = "answer", "Antwort";
    cost_explain = "explain", "Erklärung";
    cost_total = "total", "gesamt";
    part_of_answer = "part of the answer", "Teil der Antwort";
    cost_profile = "profile", "Profil";
    cost_embedder = "embedder", "Embedder";
    cost_generator = "generator", "Generator";

    step_settings = "10 Settings", "10 Einstellungen";
    settings_unknown =
        "not known: an older version stored this turn", "unbekannt: von einer älteren Version gespeichert";
    as_configured = "as configured", "wie konfiguriert";
    own_settings =
        "* the domain's own, not the configuration's", "* eigener Wert der Domäne, nicht der Konfiguration";
    column_retriever = "retriever", "Suche";
    column_generator = "generator", "Antwort";
    column_attribution = "attribution", "Erklärung";
}

impl Words {
    /// How a question was completed.
    pub(crate) fn rewritten(self, how: RewriteHow) -> &'static str {
        match how {
            RewriteHow::First => self.rewrite_first(),
            RewriteHow::Complete => self.rewrite_complete(),
            RewriteHow::Model => self.rewrite_model(),
            RewriteHow::Again => self.rewrite_again(),
            RewriteHow::Edited => self.rewrite_edited(),
            RewriteHow::Mended => self.rewrite_mended(),
            RewriteHow::Named => self.rewrite_named(),
            RewriteHow::Kept => self.rewrite_kept(),
        }
    }

    /// Order of the sources in the prompt.
    pub(crate) fn source_order(self, order: SourceOrder) -> &'static str {
        match order {
            SourceOrder::LongestFirst => self.longest_first(),
            SourceOrder::BestLast => self.best_last(),
            SourceOrder::BestFirst => self.best_first(),
            SourceOrder::BestThenLongest => self.best_then_longest(),
        }
    }

    /// How a question was translated.
    pub(crate) fn translated(self, how: TranslationHow) -> &'static str {
        match how {
            TranslationHow::Model => self.translation_model(),
            TranslationHow::Known => self.translation_known(),
            TranslationHow::Dropped => self.translation_dropped(),
            TranslationHow::TooLong => self.translation_too_long(),
        }
    }

    /// Why a sub-query has its weight.
    pub(crate) fn weight_reason(self, why: WeightReason) -> &'static str {
        match why {
            WeightReason::Only => self.weight_only(),
            WeightReason::Sure => self.weight_sure(),
            WeightReason::Unsure => self.weight_unsure(),
            WeightReason::SameTopic => self.weight_same_topic(),
            WeightReason::OtherTopic => self.weight_other_topic(),
        }
    }

    /// Role of a sub-query.
    pub(crate) fn role(self, role: SubQueryRole) -> &'static str {
        match role {
            SubQueryRole::Raw => self.role_raw(),
            SubQueryRole::Rewrite => self.role_rewrite(),
            SubQueryRole::Translation => self.role_translation(),
            SubQueryRole::History => self.role_history(),
        }
    }

    /// Name of a retriever.
    pub(crate) fn retriever_name(self, retriever: Retriever) -> &'static str {
        match retriever {
            Retriever::Dense => self.by_meaning(),
            Retriever::Lexical => self.by_words(),
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

    /// What was cut of a source.
    pub(crate) fn cut_how(self, how: CutHow) -> &'static str {
        match how {
            CutHow::Dropped => self.left_out(),
            CutHow::Shortened => self.shortened(),
            CutHow::Version => self.another_version(),
            CutHow::Neighbour => self.without_neighbours(),
        }
    }

    /// A segment of a prompt.
    pub(crate) fn segment(self, part: &Part) -> String {
        match part {
            Part::Template => self.segment_template().to_owned(),
            Part::System => self.segment_system().to_owned(),
            Part::SharedContext { ranks } => self.segment_around(&self.sources(ranks)),
            Part::Evidence { rank } => self.sources(&[*rank]),
            Part::History => self.segment_history().to_owned(),
            Part::Question => self.segment_question().to_owned(),
            Part::Prefill => self.segment_lead().to_owned(),
        }
    }

    /// Why a completion ended.
    pub(crate) fn finish(self, finish: Finish) -> &'static str {
        match finish {
            Finish::End => self.finish_end(),
            Finish::Stop => self.finish_stop(),
            Finish::Length => self.finish_length(),
        }
    }

    /// A group of settings, in a column of 11 cells.
    pub(crate) fn group_column(self, group: Group) -> &'static str {
        match group {
            Group::Retriever => self.column_retriever(),
            Group::Generator => self.column_generator(),
            Group::Attribution => self.column_attribution(),
        }
    }
}
