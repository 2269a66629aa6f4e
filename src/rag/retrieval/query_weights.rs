//! How well a question can be understood alone, and how much the questions before it count.
//!
//! Takes the text of a question, gives its [`Dependence`]; takes what the search of each leg found, gives its weight.
//! Pure: nothing is searched here.
//! Not here: which words point back (`anaphora`), searching (`search`), blending the lists (`score_fusion`).

use super::anaphora::anaphor;
use super::{Dependence, SubQueryRole, WeightReason};
use ragonite_base::{DocumentId, Language};

/// What is left of the weight of an earlier question with every question since. The middle of what did well between
/// conversations that stay on a page, which want more, and those that leave it, which want less.
pub(super) const DECAY: f64 = 0.8;

/// What is left beyond a change of topic that the searches suggest. A sure question is wrong about its document at times,
/// and counts more than the past already.
const OTHER_TOPIC_FACTOR: f64 = 0.7;

/// What is left beyond a change of topic that a question announces. Not nothing: "by the way" is also said in passing.
const LEFT_TOPIC_FACTOR: f64 = 0.1;

/// What a question asked now counts: one that needs no other, and is sure of its document, leaves the past behind.
const QUESTION_WEIGHTS: Weights = Weights { document: 3.5, enough: 2.0, little: 1.0 };

/// What an earlier question counts before it fades: less, but one that was sure says what the conversation is about.
const HISTORY_WEIGHTS: Weights = Weights { document: 2.5, enough: 1.5, little: 1.0 };

/// Content words a question needs to be understood alone.
const MIN_CONTENT_WORDS: usize = 3;

/// How a question begins that goes on where the last one ended.
const ENGLISH_STARTS: &[&str] =
    &["and", "or", "so", "but", "then", "what about", "how about", "what else", "who else", "any other", "anything"];

/// Likewise.
const GERMAN_STARTS: &[&str] =
    &["und", "oder", "aber", "also", "dann", "was ist mit", "wie ist es mit", "wer noch", "was noch", "noch"];

/// How a question begins that leaves what was spoken of, for something new or for something further back.
const ENGLISH_DEPARTURES: &[&str] = &[
    "by the way",
    "btw",
    "apropos",
    "back to",
    "coming back to",
    "going back to",
    "returning to",
    "on another note",
    "on a different note",
    "another question",
    "a different question",
    "different question",
    "another topic",
    "different topic",
    "something else",
    "moving on",
    "changing the subject",
];

/// Likewise.
const GERMAN_DEPARTURES: &[&str] = &[
    "übrigens",
    "apropos",
    "nebenbei",
    "zurück zu",
    "zurück zum",
    "zurück zur",
    "eine andere frage",
    "andere frage",
    "anderes thema",
    "ein anderes thema",
    "etwas anderes",
    "was anderes",
    "themenwechsel",
];

/// Whether a question says that it leaves what was spoken of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TopicShift {
    /// It does not say so.
    #[default]
    Stays,
    /// It does: "by the way", "coming back to".
    Leaves,
}

/// Whether `question` says that it leaves what was spoken of.
#[must_use]
pub fn topic_shift(question: &str) -> TopicShift {
    let words = words(question);
    let mut departures = ENGLISH_DEPARTURES.iter().chain(GERMAN_DEPARTURES);
    if departures.any(|start| begins_with(&words, start)) { TopicShift::Leaves } else { TopicShift::Stays }
}

fn begins_with(words: &[String], start: &str) -> bool {
    let mut said = words.iter();
    start.split(' ').all(|part| said.next().is_some_and(|word| word == part))
}

/// How well `question` can be understood alone, when others came before it.
#[must_use]
pub fn dependence(question: &str) -> Dependence {
    let language = Language::of(question);
    let starts = match language {
        Language::English => ENGLISH_STARTS,
        Language::German => GERMAN_STARTS,
    };
    let words = words(question);
    if let Some(start) = starts.iter().find(|start| begins_with(&words, start)) {
        return Dependence::Elliptic { start: (*start).to_owned() };
    }
    if let Some(word) = anaphor(question, &words, language) {
        return Dependence::Refers { word };
    }
    let own = words.iter().filter(|word| !language.is_function_word(word)).count();
    if own < MIN_CONTENT_WORDS { Dependence::Thin { words: own } } else { Dependence::Complete }
}

fn words(text: &str) -> Vec<String> {
    // What holds a name or a version together is part of its word.
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    let words = text.split(|c: char| !inner(c)).map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// What a text says by itself, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It cannot be understood alone.
    Low,
    /// It can.
    Medium,
    /// It can, and meaning and words find this document both.
    Document(DocumentId),
}

impl Confidence {
    fn document(self) -> Option<DocumentId> {
        match self {
            Self::Document(document) => Some(document),
            Self::Low | Self::Medium => None,
        }
    }
}

/// What texts count, by what they say.
struct Weights {
    document: f64,
    enough: f64,
    little: f64,
}

impl Weights {
    fn of(&self, says: Confidence) -> f64 {
        match says {
            Confidence::Document(_) => self.document,
            Confidence::Medium => self.enough,
            Confidence::Low => self.little,
        }
    }
}

/// A leg, as far as its weight depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubQueryFeatures {
    /// Where its text comes from.
    pub role: SubQueryRole,
    /// What it says by itself.
    pub confidence: Confidence,
    /// Whether it says that it leaves what was spoken of.
    pub topic_shift: TopicShift,
}

/// What each leg weighs, and why. `sub_queries` begin with the question as typed; earlier questions come newest first.
///
/// An earlier question counts less with every question since, and much less beyond the place where the conversation
/// went elsewhere: that place is seen where two neighbours, each sure of itself, found different documents, and where a
/// question says so.
#[must_use]
pub fn weigh(legs: &[SubQueryFeatures]) -> Vec<(f64, WeightReason)> {
    let sure_of = |role| legs.iter().find(|leg| leg.role == role).and_then(|leg| leg.confidence.document());
    // A question in another language than the documents is seldom sure of one, its translation is.
    let mut topic = sure_of(SubQueryRole::Raw).or_else(|| sure_of(SubQueryRole::Translation));
    let (mut faded, mut earlier) = (1.0, WeightReason::SameTopic);
    let mut left = legs.first().is_some_and(|raw| raw.topic_shift == TopicShift::Leaves);
    let weight = |leg: &SubQueryFeatures| {
        let sure_of = leg.confidence.document();
        if leg.role != SubQueryRole::History {
            return (
                QUESTION_WEIGHTS.of(leg.confidence),
                if sure_of.is_some() { WeightReason::Sure } else { WeightReason::Unsure },
            );
        }
        faded *= DECAY;
        let elsewhere = sure_of.is_some_and(|document| topic.is_some_and(|topic| topic != document));
        if left || elsewhere {
            faded *= if left { LEFT_TOPIC_FACTOR } else { OTHER_TOPIC_FACTOR };
            earlier = WeightReason::OtherTopic;
        }
        left = leg.topic_shift == TopicShift::Leaves;
        topic = sure_of.or(topic);
        (HISTORY_WEIGHTS.of(leg.confidence) * faded, earlier)
    };
    legs.iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_question_that_points_back_or_goes_on_is_not_complete() {
        for (question, word) in
            [("Is it painted every spring?", "it"), ("Wann wurden diese Tests wiederholt?", "diese")]
        {
            assert_eq!(dependence(question), Dependence::Refers { word: word.into() }, "{question}");
        }
        for (question, start) in [("And the second one?", "and"), ("Was ist mit der zweiten?", "was ist mit")] {
            assert_eq!(dependence(question), Dependence::Elliptic { start: start.into() }, "{question}");
        }
        for (question, words) in [("Who owns?", 1), ("Wann war der Termin?", 1), ("?!", 0), ("", 0)] {
            assert_eq!(dependence(question), Dependence::Thin { words }, "{question}");
        }
    }

    #[test]
    fn a_question_with_words_of_its_own_is_complete() {
        for question in [
            "Which driver was tested on the antenna board 9.0.2?",
            "Wer hat den Bericht zur Antenne OXT-1654 geschrieben?",
            "Android phones in the lab inventory",
            "Are there any open bugs in the launcher?",
            "Which of the known bugs that affect the launcher were fixed?",
        ] {
            assert_eq!(dependence(question), Dependence::Complete, "{question}");
        }
    }

    fn heard(role: SubQueryRole, sure_of: Option<i64>) -> SubQueryFeatures {
        let says = sure_of.map_or(Confidence::Medium, |document| Confidence::Document(DocumentId(document)));
        SubQueryFeatures { role, confidence: says, topic_shift: TopicShift::Stays }
    }

    fn weights(legs: &[SubQueryFeatures]) -> Vec<f64> {
        weigh(legs).into_iter().map(|(weight, _)| weight).collect()
    }

    #[test]
    fn an_earlier_question_counts_less_with_every_question_since() {
        let legs =
            [heard(SubQueryRole::Raw, None), heard(SubQueryRole::History, None), heard(SubQueryRole::History, None)];
        let weights = weights(&legs);
        assert!(weights.windows(2).all(|pair| pair[0] > pair[1]), "{weights:?}");
        assert_eq!(weigh(&legs)[2].1, WeightReason::SameTopic);
    }

    #[test]
    fn a_question_that_is_sure_of_another_document_leaves_the_conversation_behind() {
        let after = |sure_of| weigh(&[heard(SubQueryRole::Raw, sure_of), heard(SubQueryRole::History, Some(1))]);
        let (stays, shifts, unsure) = (after(Some(1)), after(Some(2)), after(None));
        assert_eq!((stays[0].1, stays[1].1), (WeightReason::Sure, WeightReason::SameTopic));
        assert_eq!((shifts[0].1, shifts[1].1), (WeightReason::Sure, WeightReason::OtherTopic));
        assert_eq!((unsure[0].1, unsure[1].1), (WeightReason::Unsure, WeightReason::SameTopic));
        assert!(shifts[1].0 < stays[1].0);
        assert!(shifts[1].0 <= shifts[0].0 * 0.4, "less than half as much as the question");
    }

    #[test]
    fn a_topic_the_conversation_left_long_ago_stays_behind_a_follow_up_too() {
        let legs = [
            heard(SubQueryRole::Raw, None),
            heard(SubQueryRole::History, Some(2)),
            heard(SubQueryRole::History, None),
            heard(SubQueryRole::History, Some(1)),
        ];
        let reasons: Vec<_> = weigh(&legs).into_iter().map(|(_, why)| why).collect();
        assert_eq!(reasons[1..], [WeightReason::SameTopic, WeightReason::SameTopic, WeightReason::OtherTopic]);
    }

    #[test]
    fn a_question_that_says_it_leaves_the_topic_does() {
        for question in
            ["By the way, who built the crane?", "Coming back to Kolmet: who built it?", "Übrigens, wer lotst heute?"]
        {
            assert_eq!(topic_shift(question), TopicShift::Leaves, "{question}");
        }
        for question in ["Who came by the way of the quay?", "By the", "Back", "Und der Kran?", ""] {
            assert_eq!(topic_shift(question), TopicShift::Stays, "{question}");
        }
        let leaves = SubQueryFeatures { topic_shift: TopicShift::Leaves, ..heard(SubQueryRole::Raw, None) };
        let (one, other) = (heard(SubQueryRole::History, Some(1)), heard(SubQueryRole::History, None));
        let left = weigh(&[leaves, one, other]);
        assert_eq!(left[1].1, WeightReason::OtherTopic);
        assert!(left[1].0 < weights(&[heard(SubQueryRole::Raw, None), one])[1] / 2.0);
        // What came before such a question is behind it for those that follow, too.
        let before = SubQueryFeatures { topic_shift: TopicShift::Leaves, ..other };
        let reasons: Vec<_> =
            weigh(&[heard(SubQueryRole::Raw, None), before, one]).iter().map(|(_, why)| *why).collect();
        assert_eq!(reasons[1..], [WeightReason::SameTopic, WeightReason::OtherTopic]);
    }

    #[test]
    fn a_question_that_needs_no_other_counts_more_than_one_that_points_back() {
        let little = SubQueryFeatures { confidence: Confidence::Low, ..heard(SubQueryRole::Raw, None) };
        let counts = |raw| weights(&[raw, heard(SubQueryRole::History, Some(1))]);
        let (points_back, needs_none) = (counts(little), counts(heard(SubQueryRole::Raw, None)));
        assert!(points_back[0] < points_back[1], "what it is about was said before");
        assert!(needs_none[0] > points_back[0] && (needs_none[1] - points_back[1]).abs() < 1e-12);
        assert!(counts(heard(SubQueryRole::Raw, Some(1)))[0] > needs_none[0]);
    }

    #[test]
    fn a_completed_question_counts_like_the_one_typed() {
        let legs =
            [heard(SubQueryRole::Raw, None), heard(SubQueryRole::Rewrite, None), heard(SubQueryRole::Rewrite, Some(1))];
        let weights = weights(&legs);
        assert!((weights[0] - weights[1]).abs() < 1e-12 && weights[2] > weights[1]);
    }

    fn says() -> impl Strategy<Value = Confidence> {
        prop_oneof![
            Just(Confidence::Low),
            Just(Confidence::Medium),
            (0_i64..3).prop_map(|id| Confidence::Document(DocumentId(id)))
        ]
    }

    proptest! {
        #[test]
        fn every_leg_has_a_weight_above_nothing_and_no_past_outweighs_a_question_that_says_as_much(
            past in proptest::collection::vec(says(), 0..12),
            now in says(),
        ) {
            let leg = |role, confidence| SubQueryFeatures { confidence, ..heard(role, None) };
            let mut legs = vec![leg(SubQueryRole::Raw, now)];
            legs.extend(past.iter().map(|says| leg(SubQueryRole::History, *says)));
            let weights = weights(&legs);
            prop_assert_eq!(weights.len(), legs.len());
            prop_assert!(weights.iter().all(|weight| *weight > 0.0 && *weight <= QUESTION_WEIGHTS.document));
            let rank = |says: Confidence| (says > Confidence::Low, says.document().is_some());
            let no_more = legs.iter().zip(&weights).skip(1).filter(|(leg, _)| rank(leg.confidence) <= rank(now));
            prop_assert!(no_more.into_iter().all(|(_, weight)| *weight < weights[0]));
        }

        #[test]
        fn any_text_has_a_standing(question in any::<String>()) {
            let _ = dependence(&question);
        }
    }
}
