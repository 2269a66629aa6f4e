//! Support: whether the sources of an answer say what it says.
//!
//! Takes an answer with its prompt; gives a verdict with its reasons. Pure, without a model: it looks up the facts of
//! each sentence (figures, names, identifiers) and its content words in the sources.
//! Invariants: an answer is unsupported only if each of its sentences was checked, and no source has a fact or a fair
//! share of the words of any; words are compared only if the cited sources are in the language of the answer; an
//! abstention has no verdict.
//! Not here: whether the model needed the sources (`attribution`), the forms of figures (`figures`), dates
//! (`asked_date`), uncited sources (`elsewhere`).

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::citation::without_marks;
use super::citation_repair::{own_words, source};
use super::entity_carryover::{entities, hallucinated_entities, is_mentioned};
use super::figures::{SourceNumbers, figures_of};
use super::rewrite_guard::is_verbatim;
use super::sentences::sentences_of;
use super::{Answer, AskedDate, MiscitedNumber};
use crate::attribution::Attribution;
use crate::prompt::{Part, Prompt, Segment, out_of_scope};
use crate::retrieval::Age;
use ragonite_base::Language;
use ragonite_base::text::{has_digit, is_stop_word, lower_words};

/// Share of the content words of a sentence that the sources have at least.
const LEAST_SHARE: f64 = 0.34;

/// The same share of a sentence that has facts which no source has.
const LEAST_SHARE_BESIDE_MISSING: f64 = 0.67;

/// Digits of a number of things that may have been counted.
const LONGEST_COUNT: usize = 2;

/// Numbers in words, which may have been counted.
const NUMBER_WORDS: [&str; 22] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "zwei", "drei",
    "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "zwölf",
];

/// Most words and facts in a reason.
const MOST_NAMED: usize = 5;

/// Most characters of each.
const LONGEST_ITEM: usize = 40;

/// When an answer becomes an abstention.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Abstain {
    /// When the model says that the sources do not have it.
    #[default]
    Model,
    /// Also when the sources do not support what it says.
    Strict,
}

impl Abstain {
    /// The answer, or the out-of-scope sentence in its place.
    #[must_use]
    pub fn decide(self, answer: Answer) -> Answer {
        let is_unsupported = || answer.support().is_some_and(|support| support.verdict == SupportVerdict::Unsupported);
        if self == Self::Model || !is_unsupported() {
            return answer;
        }
        Answer {
            text: out_of_scope(answer.language).to_owned(),
            answered: false,
            citations: Vec::new(),
            invalid_citations: Vec::new(),
            named: None,
            withheld: Some(answer.text),
            ..answer
        }
    }
}

/// What a text says that can be looked up word by word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Figures of more than one digit, as written, each once.
    pub figures: Vec<String>,
    /// Names and identifiers, as long as possible, each once.
    pub names: Vec<String>,
}

/// The facts of a text.
#[must_use]
pub fn facts(text: &str) -> Facts {
    Facts { figures: figures_of(text), names: entities(&without_marks(text)) }
}

/// How far the sources support an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SupportVerdict {
    /// Each checked sentence has its facts, or a fair share of its words, in the sources.
    Supported,
    /// Something in the answer is in no source, or in another source than the one that it cites.
    Partly,
    /// No sentence has a fact or a fair share of its words in a source.
    Unsupported,
    /// Nothing could be compared: the cited sources are in another language, and there are no facts.
    Unchecked,
}

/// The verdict on an answer, with what it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Support {
    /// The verdict.
    pub verdict: SupportVerdict,
    /// Figures, names and identifiers of the answer that no source has, as written, and words, in lower case; each once,
    /// a few at most.
    pub missing: Vec<String>,
    /// Figures that only uncited sources have.
    pub miscited: Vec<MiscitedNumber>,
    /// Uncited sources that say what the answer says, ascending.
    pub said_by_uncited: Vec<usize>,
    /// The date of the question, if no cited source has it.
    pub uncited_date: Option<AskedDate>,
    /// Numbers that the answer cites and that are no sources, ascending.
    pub invalid_citations: Vec<usize>,
    /// Cited sources of which the search found a newer version, ascending.
    pub older_versions: Vec<usize>,
    /// Whether the answer cites no source.
    pub cites_none: bool,
    /// Whether some words could not be compared, because the cited sources are in another language.
    pub words_unchecked: bool,
    /// Whether an explanation found that the model gives the same answer without any source.
    pub same_without_sources: bool,
}

/// Why an answer is not supported, or only in part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SupportReason<'a> {
    /// No source has these figures, names and words.
    InNoSource(&'a [String]),
    /// Only uncited sources have these figures.
    InNoCitedSource(&'a [MiscitedNumber]),
    /// Uncited sources say what the answer says.
    SaidByUncited(&'a [usize]),
    /// No cited source has the date of the question.
    UncitedDate(&'a AskedDate),
    /// The answer cites numbers that are no sources.
    NotGiven(&'a [usize]),
}

impl Answer {
    /// How far its sources support the answer; none for an abstention, and for a stopped answer, whose sources are
    /// unknown.
    #[must_use]
    pub fn support(&self) -> Option<Support> {
        if !self.answered || self.prompt.sources().is_empty() || self.only_cites() {
            return None;
        }
        let sources = SourceWords::of(self);
        let sentences = sentences_of(self.own_text(), &self.prompt.sources());
        let texts = sentences.iter().map(|sentence| without_marks(&self.own_text()[sentence.span.clone()]));
        let checked: Vec<Checked> = texts.filter_map(|text| sources.check(&text)).collect();
        let mut missing: Vec<String> = Vec::new();
        for item in checked.iter().flat_map(|sentence| &sentence.missing).map(|item| clipped(item)) {
            if !missing.contains(&item) {
                missing.push(item);
            }
        }
        missing.truncate(MOST_NAMED);
        let found = |found: Found| checked.iter().any(|sentence| sentence.found == found);
        let mut support = Support {
            verdict: SupportVerdict::Supported,
            missing,
            miscited: self.miscited_numbers(),
            said_by_uncited: self.overlapping_uncited(),
            uncited_date: self.uncited_date(),
            invalid_citations: self.invalid_citations.clone(),
            older_versions: older_versions(&self.prompt, &self.citations),
            cites_none: self.citations.is_empty() && self.invalid_citations.is_empty(),
            words_unchecked: !sources.are_comparable,
            same_without_sources: false,
        };
        let is_worse = found(Found::Nothing) || found(Found::Partly) || !support.reasons().is_empty();
        support.verdict = if found(Found::Nothing) && checked.iter().all(|one| one.found == Found::Nothing) {
            SupportVerdict::Unsupported
        } else if is_worse {
            SupportVerdict::Partly
        } else if found(Found::Enough) {
            SupportVerdict::Supported
        } else {
            SupportVerdict::Unchecked
        };
        Some(support)
    }

    /// The answer as the model gave it, for an explanation: the withheld text in place of the out-of-scope sentence.
    #[must_use]
    pub fn as_written(&self) -> Self {
        let Some(text) = &self.withheld else { return self.clone() };
        let sources = self.prompt.sources();
        let citations = super::citation::read(text, &sources);
        let (citations, invalid_citations) = (citations.valid, citations.invalid);
        Self { text: text.clone(), answered: true, citations, invalid_citations, withheld: None, ..self.clone() }
    }

    /// Whether an explanation of this answer found that the model says the same without any source: nearly the same
    /// text with the same facts.
    fn is_same_without_sources(&self, attribution: &Attribution) -> bool {
        let own = facts(self.own_text());
        let is_same = |text: &str| facts(text) == own;
        attribution.same_without_sources().is_some_and(|completion| is_same(&completion.text))
    }
}

impl Support {
    /// The verdict on `answer` with what the explanations of it measured.
    #[must_use]
    pub fn explained<'a>(self, answer: &Answer, mut attributions: impl Iterator<Item = &'a Attribution>) -> Self {
        let same_without_sources = attributions.any(|attribution| answer.is_same_without_sources(attribution));
        Self { same_without_sources, ..self }
    }

    /// What no source has, or another source than the cited ones.
    #[must_use]
    pub fn reasons(&self) -> Vec<SupportReason<'_>> {
        [
            (!self.missing.is_empty()).then_some(SupportReason::InNoSource(&self.missing)),
            (!self.miscited.is_empty()).then_some(SupportReason::InNoCitedSource(&self.miscited)),
            (!self.said_by_uncited.is_empty()).then_some(SupportReason::SaidByUncited(&self.said_by_uncited)),
            self.uncited_date.as_ref().map(SupportReason::UncitedDate),
            (!self.invalid_citations.is_empty()).then_some(SupportReason::NotGiven(&self.invalid_citations)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The verdict with its reasons in one line of English.
    #[must_use]
    pub fn line(&self) -> String {
        let reasons: Vec<String> = self.reasons().iter().map(SupportReason::label).collect();
        let reasons = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
        let mut parts = vec![match self.verdict {
            SupportVerdict::Supported if self.words_unchecked => {
                "Its figures and names are in its sources; its words were not compared, they are in another language"
                    .to_owned()
            }
            SupportVerdict::Supported => "Supported by its sources".to_owned(),
            SupportVerdict::Partly => format!("Partly supported by its sources{reasons}"),
            SupportVerdict::Unsupported if self.same_without_sources => format!("The model's own knowledge{reasons}"),
            SupportVerdict::Unsupported => format!("Not supported by these sources{reasons}"),
            SupportVerdict::Unchecked => "Not checked: its sources are in another language".to_owned(),
        }];
        if self.cites_none {
            parts.push("it cites no source".to_owned());
        }
        match self.older_versions.as_slice() {
            [] => {}
            [one] => parts.push(format!("Source {one} is an older version")),
            several => parts.push(format!("{} are older versions", sources(several))),
        }
        if self.same_without_sources {
            parts.push("the model answers the same without any source".to_owned());
        }
        parts.join("; ")
    }
}

impl SupportReason<'_> {
    /// The reason in English.
    fn label(&self) -> String {
        match self {
            Self::InNoSource(missing) => {
                let missing: Vec<String> = missing.iter().map(|item| ragonite_base::clean_line(item)).collect();
                format!("in no source: {}", missing.join(", "))
            }
            Self::InNoCitedSource(figures) => {
                let figures: Vec<String> =
                    figures.iter().map(|one| format!("{} ({})", one.figure, sources(&one.sources))).collect();
                format!("in no source that it cites: {}", figures.join(", "))
            }
            Self::SaidByUncited(ranks) => format!("said by {}, which it does not cite", sources(ranks)),
            Self::UncitedDate(AskedDate { date, sources: found }) if found.is_empty() => {
                format!("the date asked about is in no source: {date}")
            }
            Self::UncitedDate(AskedDate { date, sources: found }) => {
                format!("the date asked about is in no source that it cites: {date} ({})", sources(found))
            }
            Self::NotGiven([one]) => format!("Source {one} was not given to it"),
            Self::NotGiven(ranks) => format!("{} were not given to it", sources(ranks)),
        }
    }
}

/// What the sources have of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// Its facts, or a fair share of its words.
    Enough,
    /// Some of its facts, or facts without its words.
    Partly,
    /// Neither a fact nor a fair share of its words.
    Nothing,
    /// Its words were not compared, and it has no facts.
    Unknown,
}

/// A sentence of the answer that says something.
struct Checked {
    /// What no source has.
    missing: Vec<String>,
    found: Found,
}

/// The words of the sources of a prompt.
struct SourceWords {
    /// Of all sources.
    sources: HashSet<String>,
    /// The figures of all sources.
    numbers: SourceNumbers,
    /// The figures of the question.
    asked_numbers: SourceNumbers,
    /// Of question and earlier turns.
    asked: HashSet<String>,
    /// Of sources, question and earlier turns.
    known: HashSet<String>,
    /// The question itself.
    question: String,
    /// The language of the answer.
    language: Language,
    /// Whether the cited sources, or else all, are in the language of the answer, so that words can be compared.
    are_comparable: bool,
}

impl SourceWords {
    fn of(answer: &Answer) -> Self {
        let Answer { prompt, language, citations, .. } = answer;
        let texts =
            |ranks: &[usize]| -> Vec<String> { ranks.iter().filter_map(|rank| source(prompt, *rank)).collect() };
        let all = prompt.sources();
        let cited = texts(if citations.is_empty() { &all } else { citations });
        let texts = texts(&all);
        let of_part = |part: Part| -> String {
            let segments = prompt.segments.iter().filter(|segment| segment.part == part);
            segments.map(|segment| segment.text.as_str()).collect::<Vec<_>>().join("\n")
        };
        let question = question_of(&of_part(Part::Question)).to_owned();
        let asked: HashSet<String> = lower_words(&question).chain(lower_words(&of_part(Part::History))).collect();
        let are_comparable = cited.iter().all(|text| Language::of(text) == *language);
        let sources: HashSet<String> = texts.iter().flat_map(|text| lower_words(text).collect::<Vec<_>>()).collect();
        // With the labels of sources and rows, which an answer may name.
        let labelled = prompt.segments.iter().filter(|segment| !segment.part.sources().is_empty());
        let labelled: HashSet<String> = labelled.flat_map(|segment| lower_words(&segment.text)).collect();
        let known = labelled.union(&asked).cloned().collect();
        let numbers = SourceNumbers::of_texts(texts.iter().map(String::as_str));
        let asked_numbers = SourceNumbers::of_texts([question.as_str()]);
        Self { sources, numbers, asked_numbers, asked, known, question, language: *language, are_comparable }
    }

    /// None for a sentence without content.
    fn check(&self, sentence: &str) -> Option<Checked> {
        let Facts { figures, names } = facts(sentence);
        let is_new = |figure: &&String| !self.asked_numbers.has(figure);
        let (has, has_not): (Vec<&String>, Vec<&String>) =
            figures.iter().filter(is_new).partition(|figure| self.numbers.has(figure));
        let no_names = hallucinated_entities(sentence, &self.known).into_iter();
        let is_name = |name: &String| name.contains(char::is_alphabetic) && self.is_comparable(name);
        let no_names: Vec<String> = no_names.filter(is_name).collect();
        // A number of things may have been counted.
        let is_count = |figure: &str| figure.len() <= LONGEST_COUNT && figure.parse::<u8>().is_ok();
        let is_telling = !no_names.is_empty() || has_not.iter().any(|figure| !is_count(figure));
        let is_apart = |figure: &&String| !no_names.iter().any(|name| name.contains(figure.as_str()));
        let no_figures: Vec<String> = has_not.into_iter().filter(is_apart).cloned().collect();
        let mut missing: Vec<String> = no_figures.into_iter().chain(no_names).collect();
        let has_own_fact =
            !has.is_empty() || names.iter().any(|name| !has_name(name, &self.asked) && has_name(name, &self.sources));
        let words = own_words(sentence, &self.question);
        let words: Vec<String> = words.into_iter().filter(|word| !has_digit(word) && !is_number_word(word)).collect();
        let share = self.share(&words).filter(|_| self.are_comparable);
        let has_few = |least: f64| share.is_some_and(|share| share < least);
        let found = if !missing.is_empty() {
            let has_nothing =
                is_telling && !has_own_fact && share.is_none_or(|share| share < LEAST_SHARE_BESIDE_MISSING);
            if has_nothing { Found::Nothing } else { Found::Partly }
        } else if has_few(LEAST_SHARE) {
            missing = self.unknown(words);
            if has_own_fact { Found::Partly } else { Found::Nothing }
        } else if has_own_fact || share.is_some() {
            Found::Enough
        } else if !words.is_empty() {
            Found::Unknown
        } else {
            return self.check_premise(sentence);
        };
        Some(Checked { missing, found })
    }

    /// Checks a sentence that says nothing beyond the question: its names and words, or those of the question, must be
    /// in the sources. None for a sentence without content.
    fn check_premise(&self, sentence: &str) -> Option<Checked> {
        let own = content(sentence);
        let (words, language) =
            if own.is_empty() { (content(&self.question), Language::of(&self.question)) } else { (own, self.language) };
        let share = self.share(&words).filter(|_| self.are_comparable && language == self.language);
        let names = facts(sentence).names.into_iter();
        let names: Vec<String> =
            names.filter(|name| self.is_comparable(name) && !has_name(name, &self.sources)).collect();
        if !names.is_empty() {
            return Some(Checked { missing: names, found: Found::Nothing });
        }
        match share {
            Some(share) if share < LEAST_SHARE => Some(Checked { missing: self.unknown(words), found: Found::Nothing }),
            Some(_) => Some(Checked { missing: Vec::new(), found: Found::Enough }),
            None if words.is_empty() => None,
            None => Some(Checked { missing: Vec::new(), found: Found::Unknown }),
        }
    }

    /// The words that no source has.
    fn unknown(&self, words: Vec<String>) -> Vec<String> {
        words.into_iter().filter(|word| !is_mentioned(word, &self.sources)).collect()
    }

    /// Whether a name is written alike in the language of the sources. Identifiers are, and so are the names that
    /// German, which capitalizes all nouns, lets tell from nouns: two words or more.
    fn is_comparable(&self, name: &str) -> bool {
        self.are_comparable
            || name.split(' ').any(is_verbatim)
            || (self.language == Language::German && name.contains(' '))
    }

    /// Share of the words that a source has; none without words.
    fn share(&self, words: &[String]) -> Option<f64> {
        let found = words.iter().filter(|word| is_mentioned(word, &self.sources)).count();
        (!words.is_empty()).then(|| found as f64 / words.len() as f64)
    }
}

/// Whether all parts of a name are among words, or the name written as one word: `dbus` for `D-Bus`.
fn has_name(name: &str, words: &HashSet<String>) -> bool {
    let parts: Vec<String> = lower_words(name).collect();
    parts.iter().all(|part| is_stop_word(part) || is_mentioned(part, words)) || words.contains(&parts.concat())
}

/// The cited sources that the prompt calls older versions.
fn older_versions(prompt: &Prompt, cited: &[usize]) -> Vec<usize> {
    let is_older = |segment: &&Segment| {
        matches!(segment.part, Part::Evidence { .. })
            && segment.text.lines().next().is_some_and(|label| label.contains(Age::Older.label()))
    };
    let older = prompt.segments.iter().filter(is_older).flat_map(|segment| segment.part.sources().iter().copied());
    let mut older: Vec<usize> = older.filter(|rank| cited.contains(rank)).collect();
    older.sort_unstable();
    older
}

/// `Source 2` or `Sources 2, 3`.
fn sources(ranks: &[usize]) -> String {
    let list: Vec<String> = ranks.iter().map(usize::to_string).collect();
    format!("{} {}", if ranks.len() == 1 { "Source" } else { "Sources" }, list.join(", "))
}

/// The question in its segment of the prompt: without the label before it and the instructions behind it.
fn question_of(segment: &str) -> &str {
    let first = segment.split("\n\n").next().unwrap_or(segment);
    first.split_once(": ").filter(|(label, _)| !label.contains(' ')).map_or(first, |(_label, question)| question)
}

/// An item of a reason, shortened.
fn clipped(item: &str) -> String {
    match item.char_indices().nth(LONGEST_ITEM) {
        Some((end, _)) => format!("{}…", &item[..end]),
        None => item.to_owned(),
    }
}

fn is_number_word(word: &str) -> bool {
    NUMBER_WORDS.contains(&word)
}

/// The content words of a text.
fn content(text: &str) -> Vec<String> {
    own_words(text, "").into_iter().filter(|word| !has_digit(word) && !is_number_word(word)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::answer::citation;
    use ragonite_base::Millis;
    use ragonite_inference::{Completion, Finish, Sampling, SpecialTokens};

    const TRIPS: [&str; 3] = [
        "Field trips\nField trips are approved by the head of operations, Mira Kohl, in writing.",
        "Trips 2025\nRow 2 in Table 1: Trip is Harz, and Days is 3, and Budget is 4,800 EUR, and Pump is XR-7",
        "Staff\nThe staff meets every Monday. Tomas Brandt keeps the list of pumps.",
    ];

    fn answer(question: &str, text: &str, sources: &[&str]) -> Answer {
        let segment = |part, text: String| Segment { part, text, special: SpecialTokens::AsText, tokens: 1 };
        let sources = (1..).zip(sources);
        let mut segments: Vec<Segment> = sources
            .map(|(rank, text)| segment(Part::Evidence { rank }, format!("Source {rank}:\n{text}\n\n")))
            .collect();
        segments.push(segment(Part::Question, format!("Question: {question}\n\nAnswer in one sentence.")));
        let prompt = Prompt { segments, ..Prompt::default() };
        let citations = citation::read(text, &prompt.sources());
        Answer {
            text: citations.text,
            answered: true,
            citations: citations.valid,
            invalid_citations: citations.invalid,
            language: Language::of(question),
            prompt,
            sampling: Sampling::Greedy,
            completion: Completion {
                text: text.to_owned(),
                tokens: Vec::new(),
                prompt_tokens: 0,
                reused_tokens: 0,
                drafted_tokens: 0,
                narrowest: None,
                log_probabilities: Vec::new(),
                draft_log_probabilities: Vec::new(),
                finish: Finish::End,
                first_token_ms: Millis::default(),
                total_ms: Millis::default(),
            },
            named: None,
            withheld: None,
        }
    }

    fn support(question: &str, text: &str) -> Support {
        answer(question, text, &TRIPS).support().unwrap()
    }

    fn verdict(question: &str, text: &str) -> SupportVerdict {
        support(question, text).verdict
    }

    #[test]
    fn an_answer_in_the_words_of_its_source_is_supported() {
        for text in [
            "Mira Kohl approves them in writing. [Source 1]",
            "The budget of the Harz trip was 4,800 EUR. [Source 2]",
            "They are approved by the head of operations, and the trip to the Harz took the XR-7. [Source 1, Source 2]",
        ] {
            assert_eq!(
                verdict("Who approves field trips and what did the Harz trip cost?", text),
                SupportVerdict::Supported,
                "{text}"
            );
        }
    }

    #[test]
    fn knowledge_of_the_world_is_unsupported() {
        for (question, text, missing) in [
            ("What is the capital of France?", "Paris. [Source 3]", "paris"),
            ("Who painted the Mona Lisa?", "It was painted by Leonardo da Vinci. [Source 1]", "Leonardo"),
            ("When did the war end?", "It ended in 1945. [Source 2]", "1945"),
        ] {
            let found = support(question, text);
            assert_eq!(found.verdict, SupportVerdict::Unsupported, "{text}");
            assert!(found.missing.iter().any(|one| one.contains(missing)), "{text}: {:?}", found.missing);
        }
    }

    #[test]
    fn an_answer_with_a_fact_of_its_own_is_supported_in_part() {
        let found = support(
            "What was the budget of the Harz trip?",
            "The Harz trip has a budget of 4,800 EUR, approved by Felix Adler. [Source 2]",
        );
        assert_eq!(
            (found.verdict, found.missing.as_slice()),
            (SupportVerdict::Partly, &["Felix Adler".to_owned()][..])
        );
        let found = support(
            "What was its budget?",
            "The trip had a budget of 4,800 EUR. [Source 2] It went to Bergen in 2031. [Source 2]",
        );
        assert_eq!(found.verdict, SupportVerdict::Partly);
    }

    #[test]
    fn an_answer_that_cites_another_source_is_supported_in_part() {
        let found = support("What was the budget of the Harz trip?", "It was 4,800 EUR for 3 days. [Source 3]");
        assert_eq!((found.verdict, found.miscited.len()), (SupportVerdict::Partly, 1));
    }

    #[test]
    fn an_answer_that_repeats_the_question_is_looked_up_itself() {
        assert_eq!(
            verdict("Did the Zorvex committee move the budget?", "The Zorvex committee moved the budget. [Source 2]"),
            SupportVerdict::Unsupported
        );
        assert_eq!(
            verdict("Does Mira Kohl approve field trips?", "Yes, Mira Kohl approves field trips. [Source 1]"),
            SupportVerdict::Supported
        );
        assert_eq!(verdict("Does Mira Kohl approve field trips?", "Yes. [Source 1]"), SupportVerdict::Supported);
    }

    #[test]
    fn words_of_another_language_are_not_compared_but_figures_and_identifiers_are() {
        let question = "Wie hoch war das Budget der Reise in den Harz?";
        assert_eq!(verdict(question, "Das Budget der Reise betrug 4.800 EUR. [Source 2]"), SupportVerdict::Supported);
        assert_eq!(
            verdict(question, "Genehmigt werden sie von der Leitung des Betriebs. [Source 1]"),
            SupportVerdict::Unchecked
        );
        assert_eq!(verdict(question, "Das Budget der Reise betrug 7.300 EUR. [Source 2]"), SupportVerdict::Unsupported);
        assert_eq!(
            verdict("Welche Pumpe war dabei?", "Es war die Pumpe ZK-19. [Source 2]"),
            SupportVerdict::Unsupported
        );
    }

    #[test]
    fn a_strict_program_puts_an_unsupported_answer_behind_the_out_of_scope_sentence() {
        let paris = answer("What is the capital of France?", "Paris. [Source 3]", &TRIPS);
        assert_eq!(Abstain::Model.decide(paris.clone()), paris);
        let strict = Abstain::Strict.decide(paris.clone());
        assert_eq!((strict.text.as_str(), strict.answered), (out_of_scope(Language::English), false));
        assert_eq!(strict.withheld, Some(paris.text));
        assert!(strict.citations.is_empty() && strict.support().is_none());
        let harz = answer("What was the budget of the Harz trip?", "It was 4,800 EUR. [Source 2]", &TRIPS);
        assert_eq!(Abstain::Strict.decide(harz.clone()), harz);
    }

    #[test]
    fn an_abstention_has_no_verdict() {
        let abstention = Answer { answered: false, ..answer("Who?", "Nobody.", &TRIPS) };
        assert_eq!(abstention.support(), None);
        assert_eq!(answer("Who?", "Nobody.", &[]).support(), None, "the sources of a stopped answer are unknown");
    }

    #[test]
    fn an_endless_name_is_shortened() {
        let endless = vec!["XR9"; 60].join(" ");
        let found = support("Which pumps are there?", &format!("There are {endless}. [Source 3]"));
        assert!(found.missing.iter().all(|item| item.chars().count() <= LONGEST_ITEM + 1), "{:?}", found.missing);
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(64))]

        #[test]
        fn a_sentence_of_a_source_is_never_unsupported(at in 0..TRIPS.len(), question in "[A-Za-z ]{0,40}") {
            let sentence = TRIPS[at].split('\n').nth(1).unwrap_or_default();
            let found = answer(&question, &format!("{sentence} [Source {}]", at + 1), &TRIPS).support();
            prop_assert!(found.is_none_or(|found| found.verdict != SupportVerdict::Unsupported));
        }

        #[test]
        fn any_text_can_be_checked(text in "\\PC{0,80}", question in "\\PC{0,40}") {
            let _ = answer(&question, &text, &TRIPS).support();
        }
    }
}
