//! Texts of the attribution pane: explanation of an answer and of its sentences.
//!
//! Takes methods and provenances; gives their names in both languages.

use crate::messages::{Words, texts};
use ragonite_base::Language;
use ragonite_rag::attribution::{Method, Provenance};

texts! { ATTRIBUTION
    nothing_explained =
        "After an answer: which sources made it what it is.",
        "Nach einer Antwort: welche Quellen sie bestimmt haben.";
    so_far = "So far, shares among these only:", "Bisher, Anteile nur unter diesen:";
    so_far_similar =
        "So far only how like the answer each source is:", "Bisher nur, wie ähnlich jede Quelle der Antwort ist:";
    answer_on_its_way =
        "The answer is on its way; then it can be explained.",
        "Die Antwort entsteht noch; danach lässt sie sich erklären.";
    no_answer_to_explain = "There is no answer to explain.", "Keine Antwort, die sich erklären ließe.";
    not_explained_yet = "Not explained yet.", "Noch nicht erklärt.";
    way_preview =
        "hides one source after another from the answer. Quicker, an estimate.",
        "verdeckt eine Quelle nach der anderen. Schneller, eine Schätzung.";
    way_logprob =
        "how probable the answer is without each source. Exact, generates nothing.",
        "wie wahrscheinlich die Antwort ohne jede Quelle ist. Exakt, ohne neue Antworten.";
    way_jsd =
        "how far the predictions of its words move without each source.",
        "wie weit sich die Vorhersagen ihrer Wörter ohne jede Quelle verschieben.";
    way_similarity =
        "compares the answer with each source. Quick and rough.",
        "vergleicht die Antwort mit jeder Quelle. Schnell und grob.";
    key_counterfactual =
        "leaves out one source after another, answers again and compares. Exact; takes about as long as a few answers.",
        "lässt eine Quelle nach der anderen weg, antwortet neu und vergleicht. Exakt; dauert etwa so lange wie einige Antworten.";
    key_preview = "by a preview, as the settings say.", "mit einer Vorschau, wie eingestellt.";
    key_similarity = "by similarity, as the settings say.", "nach Ähnlichkeit, wie eingestellt.";
    key_logprob = "by log-probability, as the settings say.", "nach Log-Wahrscheinlichkeit, wie eingestellt.";
    key_jsd = "by divergence, as the settings say.", "nach Divergenz, wie eingestellt.";
    method_counterfactual =
        "Method: counterfactual. Leaves out one cluster (sources that say nearly the same) after another, generates \
         the answer again and compares.",
        "Methode: kontrafaktisch. Lässt einen Cluster (fast gleichlautende Quellen) nach dem anderen weg, erzeugt die \
         Antwort neu und vergleicht.";
    method_preview =
        "Method: preview. Hides one cluster after another from the answer; generates nothing. An estimate.",
        "Methode: Vorschau. Verdeckt vor der Antwort einen Cluster nach dem anderen; erzeugt nichts. Eine Schätzung.";
    method_similarity =
        "Method: similarity. Compares the answer with each source; generates nothing. Rough.",
        "Methode: Ähnlichkeit. Vergleicht die Antwort mit jeder Quelle; erzeugt nichts. Grob.";
    method_logprob =
        "Method: log-probability. Leaves out one cluster after another, and says how much less probable the tokens of \
         this answer become on average; generates nothing.",
        "Methode: Log-Wahrscheinlichkeit. Lässt einen Cluster nach dem anderen weg und sagt, um wie viel \
         unwahrscheinlicher die Token dieser Antwort im Mittel werden; erzeugt nichts.";
    method_jsd =
        "Method: divergence. Leaves out one cluster after another, and says how far the predictions of the answer's \
         words move; generates nothing.",
        "Methode: Divergenz. Lässt einen Cluster nach dem anderen weg und sagt, wie weit sich die Vorhersagen der Wörter \
         verschieben; erzeugt nichts.";
    one_matters(source: &str) = "Result: {source} matters most.", "Ergebnis: {source} ist ausschlaggebend.";
    a_group_matters(sources: &str) =
        "Result: one or more of {sources} matter most; they were left out together.",
        "Ergebnis: {sources}, eine oder mehrere davon, sind ausschlaggebend; sie wurden gemeinsam weggelassen.";
    several_matter(sources: &str) = "Result: {sources} matter most.", "Ergebnis: {sources} sind ausschlaggebend.";
    most_similar(source: &str) =
        "{source} is most like the answer. Likeness is no proof of what mattered.",
        "{source} ähnelt der Antwort am meisten. Ähnlichkeit belegt nicht, was sie bestimmt hat.";
    answers_otherwise =
        "! From the same prompt the model answers otherwise now. What is explained is this answer:",
        "! Auf denselben Prompt antwortet das Modell jetzt anders. Erklärt wird diese Antwort:";
    explains_another =
        "! This explains another answer, which the model gives now.",
        "! Das erklärt eine andere Antwort, die das Modell jetzt gibt.";
    stopped_after(done: usize, total: usize, key: &str) =
        "Stopped after {done} of {total} clusters. Shares among these only. {key} goes on.",
        "Angehalten nach {done} von {total} Clustern. Anteile nur unter diesen. {key} setzt fort.";
    none_decides = "Result: no single source decides.", "Ergebnis: Keine einzelne Quelle entscheidet.";
    why_none_decides =
        "Leaving out any one of them changes the answer little or not at all: they say the same, the model \
         knew it anyway, or it needs several together.",
        "Ohne eine einzelne Quelle ändert sich die Antwort kaum oder gar nicht: Sie sagen dasselbe, das Modell wusste es \
         ohnehin, oder es braucht mehrere zusammen.";
    clusters_and_time(clusters: &str, time: &str) = "{clusters}, {time}", "{clusters}, {time}";
    all_clusters(key: &str, clusters: &str) = "{key}: more on {clusters}", "{key}: mehr zu {clusters}";
    cosine(value: &str) = "cosine {value}", "Kosinus {value}";
    less_probable_answer(percent: &str) =
        "each token {percent} % less probable", "jedes Token {percent} % unwahrscheinlicher";
    divergence(bits: &str) = "divergence {bits} bit", "Divergenz {bits} bit";
    same_answer = "same answer without it", "ohne sie dieselbe Antwort";
    same_words = "the same words without it, only cited otherwise", "ohne sie dieselben Worte, nur anders belegt";
    same_answer_of_group = "same answer without all of its group", "ohne ihre ganze Gruppe dieselbe Antwort";
    contribution(value: &str) = "contribution {value}", "Beitrag {value}";
    group_word_for_word =
        "without all of its group, the same answer word for word; not tried alone",
        "ohne ihre ganze Gruppe wörtlich dieselbe Antwort; nicht einzeln geprüft";
    word_for_word = "without it, the same answer word for word", "ohne sie wörtlich dieselbe Antwort";
    answer_without_group =
        "without all of them, the answer would be:", "ohne sie alle lautete die Antwort:";
    group_hint(key: &str) =
        "Some sources were left out together, as a group. {key} leaves out each by itself.",
        "Einige Quellen wurden gemeinsam weggelassen, als Gruppe. {key} lässt jede einzeln weg.";
    answer_without = "without it, the answer would be:", "ohne sie lautete die Antwort:";
    not_cited = "not cited", "nicht zitiert";
    cited_and_decisive = "cited and decisive", "zitiert und entscheidend";
    cited_but_removable = "cited but removable", "zitiert, aber entbehrlich";
    decisive_but_not_cited = "decisive but not cited", "entscheidend, aber nicht zitiert";

    sentence_hint(next: &str) =
        "{next} shows what each sentence rests on", "{next} zeigt, worauf jeder Satz beruht";
    sentences_hint(sentences: &str, previous: &str, next: &str) =
        "{sentences}: {previous} and {next} show what each rests on",
        "{sentences}: {previous} und {next} zeigen, worauf jeder beruht";
    sentence_of(at: usize, sentences: usize, tokens: &str) =
        "Sentence {at} of {sentences}, {tokens}", "Satz {at} von {sentences}, {tokens}";
    rests_on(sources: &str) = "Result: it rests on {sources} most.", "Ergebnis: Er beruht vor allem auf {sources}.";
    sentence_by_preview =
        "How much less probable its words are with a cluster hidden. An estimate.",
        "Um wie viel unwahrscheinlicher seine Wörter sind, wenn ein Cluster verdeckt ist. Eine Schätzung.";
    sentence_by_logprob =
        "How much less probable its words are without a cluster.",
        "Um wie viel unwahrscheinlicher seine Wörter ohne einen Cluster sind.";
    sentence_details(percent: &str, change: &str, cited: &str) =
        "each token {percent} % less probable · log-probability {change} · {cited}",
        "jedes Token {percent} % unwahrscheinlicher · Log-Wahrscheinlichkeit {change} · {cited}";
    how_verified = "verified", "geprüft";
    how_regenerated = "regenerated", "neu erzeugt";
    how_group = "group, left out together with others", "Gruppe, gemeinsam mit anderen weggelassen";
    how_preview = "preview, an estimate", "Vorschau, eine Schätzung";
    how_similarity = "similarity, no effect measured", "Ähnlichkeit, keine Wirkung gemessen";
    how_logprob = "log-probability without it", "Log-Wahrscheinlichkeit ohne sie";
    how_jsd = "divergence without it", "Divergenz ohne sie";
    word_group = "group", "Gruppe";
    word_preview = "preview", "Vorschau";
    word_similarity = "similarity", "Ähnlichkeit";
    word_logprob = "log-probability", "Log-Wahrscheinlichkeit";
    word_jsd = "divergence", "Divergenz";
}

impl Words {
    /// Provenance of a contribution.
    pub(crate) fn how(self, how: Provenance) -> &'static str {
        match (self.language(), how) {
            (Language::English, how) => how.label(),
            (_, Provenance::Verified) => self.how_verified(),
            (_, Provenance::Regenerated) => self.how_regenerated(),
            (_, Provenance::Group) => self.how_group(),
            (_, Provenance::Preview) => self.how_preview(),
            (_, Provenance::Similarity) => self.how_similarity(),
            (_, Provenance::Logprob) => self.how_logprob(),
            (_, Provenance::Jsd) => self.how_jsd(),
        }
    }

    /// Provenance in a word.
    pub(crate) fn how_in_a_word(self, how: Provenance) -> &'static str {
        match how {
            Provenance::Verified | Provenance::Regenerated => self.how(how),
            Provenance::Group => self.word_group(),
            Provenance::Preview => self.word_preview(),
            Provenance::Similarity => self.word_similarity(),
            Provenance::Logprob => self.word_logprob(),
            Provenance::Jsd => self.word_jsd(),
        }
    }

    /// What a method does.
    pub(crate) fn method(self, method: Method) -> &'static str {
        match method {
            Method::Counterfactual => self.method_counterfactual(),
            Method::Preview => self.method_preview(),
            Method::Similarity => self.method_similarity(),
            Method::Logprob => self.method_logprob(),
            Method::Jsd => self.method_jsd(),
        }
    }

    /// What the key for explaining does.
    pub(crate) fn explained_by_key(self, method: Method) -> &'static str {
        match method {
            Method::Counterfactual => self.key_counterfactual(),
            Method::Preview => self.key_preview(),
            Method::Similarity => self.key_similarity(),
            Method::Logprob => self.key_logprob(),
            Method::Jsd => self.key_jsd(),
        }
    }

    /// The sources that decided.
    pub(crate) fn matters(self, ranks: &[usize]) -> String {
        let sources = self.sources(ranks);
        if ranks.len() == 1 { self.one_matters(&sources) } else { self.several_matter(&sources) }
    }
}
