//! What rewriting and answering give.

use serde::{Deserialize, Serialize};

use super::{AskedDate, MiscitedNumber, RepairedCitation, asked_date, citation, elsewhere, figures};
use crate::prompt::Prompt;
use ragonite_base::{Language, Millis};
use ragonite_inference::{Completion, Finish, Sampling};

/// How the completed question came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RewriteHow {
    /// First question of the conversation: nothing to complete.
    First,
    /// A follow-up that says itself what it is about, so that no model is asked.
    Complete,
    /// The model completed it.
    Model,
    /// The model completed it, and names that it lost were added.
    Mended,
    /// The model's text was no usable question; the names that the conversation gives were added to the original.
    Named,
    /// The model's text was no usable question, so the original was kept.
    Kept,
    /// The user edited a completed question: it says all there is to say, and no model is asked.
    Edited,
    /// The completed question of the turn that is asked again, as it was; no model is asked.
    Again,
}

/// A question made self-contained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rewrite {
    /// The completed question.
    pub completed: String,
    /// How it came about.
    pub how: RewriteHow,
    /// What the model was asked; none for a first question.
    pub prompt: Option<Prompt>,
    /// What the model said; none for a first question.
    pub completion: Option<Completion>,
    /// Time of the step.
    pub total_ms: Millis,
}

/// How a translation came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TranslationHow {
    /// The model translated it.
    Model,
    /// It was translated before.
    Known,
    /// The model's text was no usable translation.
    Dropped,
    /// The question is too long to be translated, and no model is asked.
    TooLong,
}

/// A question in the language of the documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Translation {
    /// The translated question; none where there is none to search for.
    pub text: Option<String>,
    /// The language of the question.
    pub from: Language,
    /// The language of the documents.
    pub to: Language,
    /// How it came about.
    pub how: TranslationHow,
    /// What the model was asked.
    pub prompt: Option<Prompt>,
    /// What the model said.
    pub completion: Option<Completion>,
    /// Time of the step.
    pub total_ms: Millis,
}

/// An answer with what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The answer as shown, citations in one form: `[Source 1, Source 2]`.
    pub text: String,
    /// False iff the answer is the out-of-scope sentence.
    pub answered: bool,
    /// Cited sources that were in the prompt, ascending.
    pub citations: Vec<usize>,
    /// Cited numbers that were not, ascending.
    pub invalid_citations: Vec<usize>,
    /// Language of the answer's out-of-scope sentence and instructions.
    pub language: Language,
    /// What the model was asked.
    pub prompt: Prompt,
    /// How tokens were chosen.
    pub sampling: Sampling,
    /// What the model said, as it said it.
    pub completion: Completion,
    /// The sources it named when it was asked for them, where it had named none.
    #[serde(default)]
    pub named: Option<RepairedCitation>,
}

impl Answer {
    /// The answer without the sources that were asked for afterwards: what other answers are compared with.
    #[must_use]
    pub fn own_text(&self) -> &str {
        let mark = self.named.as_ref().map_or("", |named| named.mark.as_str());
        self.text.strip_suffix(mark).unwrap_or(&self.text)
    }

    /// What a follow-up is searched by: the sources it cites of its own accord. Those it was asked for it had to name, and
    /// what says that the answer is not there rests on nothing.
    #[must_use]
    pub fn cited_sources(&self) -> &[usize] {
        if self.answered && self.named.is_none() { &self.citations } else { &[] }
    }

    /// The hits that are cited by what is explained: this answer, or the text that the model gave in its place to the same
    /// prompt.
    #[must_use]
    pub fn cited_by(&self, instead: Option<&str>) -> Vec<usize> {
        instead.map_or_else(|| self.citations.clone(), |text| citation::read(text, &self.prompt.sources()).valid)
    }

    /// Whether it ends where an answer has to end at the latest, and not where the model was done.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.completion.finish == Finish::Length
    }

    /// Its figures that stand in none of its sources, nor in the question: made up or worked out, they cannot be looked up.
    /// None of an answer that was stopped, whose sources are not known.
    #[must_use]
    pub fn ungrounded_numbers(&self) -> Vec<String> {
        let is_known = self.answered && !self.prompt.segments.is_empty();
        if is_known { figures::ungrounded_numbers(&self.text, &self.prompt) } else { Vec::new() }
    }

    /// Its figures that only sources have which it does not cite: what it cites does not say them.
    #[must_use]
    pub fn miscited_numbers(&self) -> Vec<MiscitedNumber> {
        if self.answered { figures::miscited_numbers(&self.text, &self.prompt, &self.citations) } else { Vec::new() }
    }

    /// The date that the question asks about where no source that it cites has it: what is said of another one is easily
    /// taken for it.
    #[must_use]
    pub fn uncited_date(&self) -> Option<AskedDate> {
        if self.answered { asked_date::uncited_date(&self.prompt, &self.citations) } else { None }
    }

    /// Sources that say what the answer says, and that it does not cite, ascending; none where those that it cites have
    /// some of its words, or where its figures tell it already.
    #[must_use]
    pub fn overlapping_uncited(&self) -> Vec<usize> {
        if !self.answered || !self.miscited_numbers().is_empty() {
            return Vec::new();
        }
        elsewhere::overlapping_uncited(&self.text, &self.prompt, &self.citations, self.language)
    }

    /// What is to be known before the answer is relied on: a date, figures and words that are not where one would look for
    /// them, and sources that it was not given.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let list = |ranks: &[usize]| ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let beside = |what: &str, sources: &[usize]| {
            format!("{what} ({} {})", if sources.len() == 1 { "Source" } else { "Sources" }, list(sources))
        };
        let (nowhere, miscited) = (self.ungrounded_numbers(), self.miscited_numbers());
        let miscited: Vec<String> = miscited.iter().map(|one| beside(&one.figure, &one.sources)).collect();
        let date = self.uncited_date().map(|AskedDate { date, sources }| match sources.as_slice() {
            [] => format!("The date asked about is in no source: {date}"),
            sources => format!("The date asked about is in no source that it cites: {}", beside(&date, sources)),
        });
        let uncited = match self.overlapping_uncited().as_slice() {
            [] => None,
            [one] => Some(format!("Said by Source {one}, which it does not cite")),
            several => Some(format!("Said by Sources {}, which it does not cite", list(several))),
        };
        let invalid = list(&self.invalid_citations);
        [
            date,
            (!nowhere.is_empty()).then(|| format!("In no source: {}", nowhere.join("; "))),
            (!miscited.is_empty()).then(|| format!("In no source that it cites: {}", miscited.join("; "))),
            uncited,
            (!invalid.is_empty()).then(|| format!("Not a source: the answer names {invalid}, which it was not given")),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Writing it and asking for its sources.
    #[must_use]
    pub fn total_ms(&self) -> Millis {
        self.completion.total_ms + self.named.as_ref().map(|named| named.completion.total_ms).unwrap_or_default()
    }

    /// Whether it names sources and has no word of its own, as small models answer at times.
    #[must_use]
    pub fn only_cites(&self) -> bool {
        let own = self.text.strip_prefix(self.prompt.prefill()).unwrap_or(&self.text);
        let citations = citation::read(own, &self.prompt.sources());
        !citations.marks.is_empty() && !citations.without_marks().contains(char::is_alphanumeric)
    }
}
