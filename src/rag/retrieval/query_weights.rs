//! Weights of sub-queries.
//!
//! Takes the text of a question, gives its [`Dependence`]; takes the features of each sub-query, gives its weight.
//! Pure: nothing is searched here.
//! Not here: which words are anaphors (`anaphora`), searching (`search`), fusing the lists (`score_fusion`).

use super::anaphora::anaphor;
use super::{Dependence, SubQueryRole, WeightReason};
use ragonite_base::text::{NAME_JOINS, split_words};
use ragonite_base::{DocumentId, Language};

/// An earlier question loses weight by this factor with every question since. A compromise: conversations that stay on
/// a page do better with more, conversations that leave it do better with less.
pub(super) const DECAY: f64 = 0.8;

/// Further factor beyond a change of topic that the search results suggest. Not lower, because a confident question is
/// sometimes wrong about its document and outweighs the earlier ones anyway.
const OTHER_TOPIC_FACTOR: f64 = 0.7;

/// Further factor beyond a change of topic that a question announces. Not 0: "by the way" is also said in passing.
const LEFT_TOPIC_FACTOR: f64 = 0.1;

/// Weights of the current question. A complete question that is sure of its document outweighs the earlier ones.
const QUESTION_WEIGHTS: Weights = Weights { document: 3.5, enough: 2.0, little: 1.0 };

/// Weights of an earlier question before decay. Less than now, but a question that was sure tells the topic.
const HISTORY_WEIGHTS: Weights = Weights { document: 2.5, enough: 1.5, little: 1.0 };

/// Content words that a question needs to be understood alone.
const MIN_CONTENT_WORDS: usize = 3;

/// Beginnings of questions that continue the previous one.
const ENGLISH_STARTS: &[&str] =
    &["and", "or", "so", "but", "then", "what about", "how about", "what else", "who else", "any other", "anything"];

const GERMAN_STARTS: &[&str] =
    &["und", "oder", "aber", "also", "dann", "was ist mit", "wie ist es mit", "wer noch", "was noch", "noch"];

/// Beginnings of questions that leave the topic for a new or an older one.
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

/// Whether a question announces a change of topic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TopicShift {
    /// No announcement.
    #[default]
    Stays,
    /// An announcement, such as "by the way" or "coming back to".
    Leaves,
}

/// Whether `question` announces a change of topic.
#[must_use]
pub fn topic_shift(question: &str) -> TopicShift {
    let words = words(question);
    let mut departures = ENGLISH_DEPARTURES.iter().chain(GERMAN_DEPARTURES);
    if departures.any(|start| begins_with(&words, start)) { TopicShift::Leaves } else { TopicShift::Stays }
}

fn begins_with(words: &[String], start: &str) -> bool {
    let mut rest = words.iter();
    start.split(' ').all(|part| rest.next().is_some_and(|word| word == part))
}

/// Whether `question`, asked after others, can be understood alone.
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
    let own = words.iter().filter(|word| !language.is_stop_word(word)).count();
    if own < MIN_CONTENT_WORDS { Dependence::Thin { words: own } } else { Dependence::Complete }
}

fn words(text: &str) -> Vec<String> {
    split_words(text, NAME_JOINS).map(|word| word.text.to_lowercase()).collect()
}

/// How sure a sub-query is of its result, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Cannot be understood alone.
    Low,
    /// Can be understood alone.
    Medium,
    /// Can be understood alone, and both retrievers rank this document first.
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

/// Weights by [`Confidence`].
struct Weights {
    document: f64,
    enough: f64,
    little: f64,
}

impl Weights {
    fn of(&self, confidence: Confidence) -> f64 {
        match confidence {
            Confidence::Document(_) => self.document,
            Confidence::Medium => self.enough,
            Confidence::Low => self.little,
        }
    }
}

/// The features of a sub-query that its weight depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubQueryFeatures {
    /// Where its text comes from.
    pub role: SubQueryRole,
    /// How sure it is of its result.
    pub confidence: Confidence,
    /// Whether it announces a change of topic.
    pub topic_shift: TopicShift,
}

/// The weight of each sub-query and its reason. `sub_queries` begin with the question as typed; earlier questions come
/// newest first.
///
/// An earlier question loses weight with every question since, and much more beyond a change of topic: where a question
/// announces one, or where two successive questions are each sure of a different document.
#[must_use]
pub fn weigh(sub_queries: &[SubQueryFeatures]) -> Vec<(f64, WeightReason)> {
    let sure_of = |role| {
        sub_queries
            .iter()
            .find(|sub_query| sub_query.role == role)
            .and_then(|sub_query| sub_query.confidence.document())
    };
    // A question in another language than the documents is seldom sure of a document; its translation is.
    let mut topic = sure_of(SubQueryRole::Raw).or_else(|| sure_of(SubQueryRole::Translation));
    let (mut decayed, mut earlier) = (1.0, WeightReason::SameTopic);
    let mut left = sub_queries.first().is_some_and(|raw| raw.topic_shift == TopicShift::Leaves);
    let weight = |sub_query: &SubQueryFeatures| {
        let sure_of = sub_query.confidence.document();
        if sub_query.role != SubQueryRole::History {
            return (
                QUESTION_WEIGHTS.of(sub_query.confidence),
                if sure_of.is_some() { WeightReason::Sure } else { WeightReason::Unsure },
            );
        }
        decayed *= DECAY;
        let elsewhere = sure_of.is_some_and(|document| topic.is_some_and(|topic| topic != document));
        if left || elsewhere {
            decayed *= if left { LEFT_TOPIC_FACTOR } else { OTHER_TOPIC_FACTOR };
            earlier = WeightReason::OtherTopic;
        }
        left = sub_query.topic_shift == TopicShift::Leaves;
        topic = sure_of.or(topic);
        (HISTORY_WEIGHTS.of(sub_query.confidence) * decayed, earlier)
    };
    sub_queries.iter().map(weight).collect()
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

    fn features(role: SubQueryRole, sure_of: Option<i64>) -> SubQueryFeatures {
        let confidence = sure_of.map_or(Confidence::Medium, |document| Confidence::Document(DocumentId(document)));
        SubQueryFeatures { role, confidence, topic_shift: TopicShift::Stays }
    }

    fn weights(sub_queries: &[SubQueryFeatures]) -> Vec<f64> {
        weigh(sub_queries).into_iter().map(|(weight, _)| weight).collect()
    }

    #[test]
    fn an_earlier_question_counts_less_with_every_question_since() {
        let sub_queries = [
            features(SubQueryRole::Raw, None),
            features(SubQueryRole::History, None),
            features(SubQueryRole::History, None),
        ];
        let weights = weights(&sub_queries);
        assert!(weights.windows(2).all(|pair| pair[0] > pair[1]), "{weights:?}");
        assert_eq!(weigh(&sub_queries)[2].1, WeightReason::SameTopic);
    }

    #[test]
    fn a_question_that_is_sure_of_another_document_leaves_the_conversation_behind() {
        let after = |sure_of| weigh(&[features(SubQueryRole::Raw, sure_of), features(SubQueryRole::History, Some(1))]);
        let (stays, shifts, unsure) = (after(Some(1)), after(Some(2)), after(None));
        assert_eq!((stays[0].1, stays[1].1), (WeightReason::Sure, WeightReason::SameTopic));
        assert_eq!((shifts[0].1, shifts[1].1), (WeightReason::Sure, WeightReason::OtherTopic));
        assert_eq!((unsure[0].1, unsure[1].1), (WeightReason::Unsure, WeightReason::SameTopic));
        assert!(shifts[1].0 < stays[1].0);
        assert!(shifts[1].0 <= shifts[0].0 * 0.4, "less than half as much as the question");
    }

    #[test]
    fn a_topic_the_conversation_left_long_ago_stays_behind_a_follow_up_too() {
        let sub_queries = [
            features(SubQueryRole::Raw, None),
            features(SubQueryRole::History, Some(2)),
            features(SubQueryRole::History, None),
            features(SubQueryRole::History, Some(1)),
        ];
        let reasons: Vec<_> = weigh(&sub_queries).into_iter().map(|(_, why)| why).collect();
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
        let leaves = SubQueryFeatures { topic_shift: TopicShift::Leaves, ..features(SubQueryRole::Raw, None) };
        let (one, other) = (features(SubQueryRole::History, Some(1)), features(SubQueryRole::History, None));
        let left = weigh(&[leaves, one, other]);
        assert_eq!(left[1].1, WeightReason::OtherTopic);
        assert!(left[1].0 < weights(&[features(SubQueryRole::Raw, None), one])[1] / 2.0);
        // What came before such a question is behind it for those that follow, too.
        let before = SubQueryFeatures { topic_shift: TopicShift::Leaves, ..other };
        let reasons: Vec<_> =
            weigh(&[features(SubQueryRole::Raw, None), before, one]).iter().map(|(_, why)| *why).collect();
        assert_eq!(reasons[1..], [WeightReason::SameTopic, WeightReason::OtherTopic]);
    }

    #[test]
    fn a_question_that_needs_no_other_counts_more_than_one_that_points_back() {
        let little = SubQueryFeatures { confidence: Confidence::Low, ..features(SubQueryRole::Raw, None) };
        let counts = |raw| weights(&[raw, features(SubQueryRole::History, Some(1))]);
        let (points_back, needs_none) = (counts(little), counts(features(SubQueryRole::Raw, None)));
        assert!(points_back[0] < points_back[1], "what it is about was said before");
        assert!(needs_none[0] > points_back[0] && (needs_none[1] - points_back[1]).abs() < 1e-12);
        assert!(counts(features(SubQueryRole::Raw, Some(1)))[0] > needs_none[0]);
    }

    #[test]
    fn a_completed_question_counts_like_the_one_typed() {
        let sub_queries = [
            features(SubQueryRole::Raw, None),
            features(SubQueryRole::Rewrite, None),
            features(SubQueryRole::Rewrite, Some(1)),
        ];
        let weights = weights(&sub_queries);
        assert!((weights[0] - weights[1]).abs() < 1e-12 && weights[2] > weights[1]);
    }

    fn confidence() -> impl Strategy<Value = Confidence> {
        prop_oneof![
            Just(Confidence::Low),
            Just(Confidence::Medium),
            (0_i64..3).prop_map(|id| Confidence::Document(DocumentId(id)))
        ]
    }

    proptest! {
        #[test]
        fn every_leg_has_a_weight_above_nothing_and_no_past_outweighs_a_question_that_says_as_much(
            past in proptest::collection::vec(confidence(), 0..12),
            now in confidence(),
        ) {
            let sub_query = |role, confidence| SubQueryFeatures { confidence, ..features(role, None) };
            let mut sub_queries = vec![sub_query(SubQueryRole::Raw, now)];
            sub_queries.extend(past.iter().map(|confidence| sub_query(SubQueryRole::History, *confidence)));
            let weights = weights(&sub_queries);
            prop_assert_eq!(weights.len(), sub_queries.len());
            prop_assert!(weights.iter().all(|weight| *weight > 0.0 && *weight <= QUESTION_WEIGHTS.document));
            let rank = |confidence: Confidence| (confidence > Confidence::Low, confidence.document().is_some());
            let others = sub_queries.iter().zip(&weights).skip(1);
            let no_more = others.filter(|(sub_query, _)| rank(sub_query.confidence) <= rank(now));
            prop_assert!(no_more.into_iter().all(|(_, weight)| *weight < weights[0]));
        }

        #[test]
        fn any_text_has_a_standing(question in any::<String>()) {
            let _ = dependence(&question);
        }
    }
}
