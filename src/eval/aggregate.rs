//! Aggregates values of questions into means with intervals, for all questions and by slice. Pure.
//!
//! Invariants: a question without a value is not part of the mean, and each mean has its number of questions; in a
//! bootstrap the turns of a conversation stay together, in all languages.
//! Not here: measuring (`answers`, `attribution_eval`, `retrieval`), tables (`table`).

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::Question;
use super::metric::Metric;
use super::slices::Slice;
use super::stats::{Interval, interval, mean};
use ragonite_base::Language;

/// A question with measured values.
pub trait Measured {
    /// The metrics, in the order of the tables.
    const NAMES: &'static [Metric];

    /// The question that was measured.
    fn question(&self) -> &Question;

    /// The value of a metric; none if it could not be measured.
    fn value(&self, name: Metric) -> Option<f64>;
}

/// A mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// The mean.
    pub value: f64,
    /// Bootstrap interval; none for a single conversation.
    pub interval: Option<Interval>,
    /// Number of questions.
    pub of: usize,
}

/// The figures of a set of questions.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The slice; none for all questions.
    pub slice: Option<Slice>,
    /// Number of questions.
    pub questions: usize,
    /// One per metric; none without values.
    pub figures: Vec<Option<Figure>>,
}

/// All figures of a run.
#[derive(Debug, Clone)]
pub struct Figures {
    /// The metrics.
    pub names: &'static [Metric],
    /// All questions, then each slice in order.
    pub lines: Vec<Line>,
}

/// Whether a question is in a slice; without a slice every question is.
pub(super) fn is_in(question: &Question, slice: Option<Slice>) -> bool {
    slice.is_none_or(|slice| Slice::all_of(question).contains(&slice))
}

/// Values grouped by conversation.
pub(super) fn by_conversation<'q, V>(values: impl Iterator<Item = (&'q Question, V)>) -> Vec<Vec<V>> {
    let mut conversations: IndexMap<&str, Vec<V>> = IndexMap::new();
    for (question, value) in values {
        conversations.entry(&question.conversation).or_default().push(value);
    }
    conversations.into_values().collect()
}

impl Figures {
    /// Aggregates the values of questions.
    #[must_use]
    pub fn of<T: Measured>(asked: &[T]) -> Self {
        let mut slices: Vec<Slice> = asked.iter().flat_map(|one| Slice::all_of(one.question())).collect();
        slices.sort();
        slices.dedup();
        let line = |slice: Option<Slice>| {
            let of_slice: Vec<&T> = asked.iter().filter(|one| is_in(one.question(), slice)).collect();
            let figures = T::NAMES.iter().map(|name| figure(*name, &of_slice)).collect();
            Line { slice, questions: of_slice.len(), figures }
        };
        let lines = std::iter::once(None).chain(slices.into_iter().map(Some)).map(line).collect();
        Self { names: T::NAMES, lines }
    }

    /// A figure; none without values.
    #[must_use]
    pub fn get(&self, slice: Option<Slice>, name: Metric) -> Option<Figure> {
        let column = self.names.iter().position(|known| *known == name)?;
        let line = self.lines.iter().find(|line| line.slice == slice)?;
        line.figures.get(column).copied().flatten()
    }

    /// The languages of the questions.
    pub(super) fn languages(&self) -> Vec<Language> {
        let language = |line: &Line| match line.slice {
            Some(Slice::Language(language)) => Some(language),
            _ => None,
        };
        self.lines.iter().filter_map(language).collect()
    }

    /// The JSON contract: the figures of all questions, and by slice under `by`.
    #[must_use]
    pub fn json(&self) -> Map<String, Value> {
        let mut by: Map<String, Value> =
            Slice::GROUPS.iter().map(|group| ((*group).to_owned(), Value::Object(Map::new()))).collect();
        let mut all = Map::new();
        for line in &self.lines {
            let of_line = self.line(line);
            match line.slice {
                None => all = of_line,
                Some(slice) => {
                    if let Some(group) = by.get_mut(slice.group()).and_then(Value::as_object_mut) {
                        group.insert(slice.label(), Value::Object(of_line));
                    }
                }
            }
        }
        all.insert("by".to_owned(), Value::Object(by));
        all
    }

    fn line(&self, line: &Line) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("questions".to_owned(), json!(line.questions));
        let (mut intervals, mut counts) = (Map::new(), Map::new());
        for (name, figure) in self.names.iter().zip(&line.figures) {
            put(&mut object, *name, json!(figure.map(|figure| figure.value)));
            put(&mut intervals, *name, json!(figure.and_then(|figure| figure.interval)));
            put(&mut counts, *name, json!(figure.map_or(0, |figure| figure.of)));
        }
        object.insert("intervals".to_owned(), Value::Object(intervals));
        object.insert("of".to_owned(), Value::Object(counts));
        object
    }
}

fn figure<T: Measured>(name: Metric, asked: &[&T]) -> Option<Figure> {
    let conversations = by_conversation(asked.iter().filter_map(|one| Some((one.question(), one.value(name)?))));
    let values = conversations.concat();
    Some(Figure { value: mean(&values)?, interval: interval(&conversations), of: values.len() })
}

/// Puts a value under the name of its metric.
fn put(object: &mut Map<String, Value>, name: Metric, value: Value) {
    match name.path() {
        (field, None) => {
            object.insert(field.to_owned(), value);
        }
        (outer, Some(field)) => {
            let inside = object.entry(outer).or_insert_with(|| Value::Object(Map::new()));
            if let Some(inside) = inside.as_object_mut() {
                inside.insert(field.to_owned(), value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::metric::{P_AT_1, PageMatch, Ranking, URL_P_AT_1};
    use super::super::test_kit::{asked, question};
    use super::super::{Asked, QuestionType, TurnGroup};
    use super::*;
    use ragonite_document::evidence::Kind;

    /// A question, and what was measured of it.
    struct Half(Question, Option<f64>);

    impl Measured for Half {
        const NAMES: &'static [Metric] = &[Metric::AnswerRelevance, P_AT_1];

        fn question(&self) -> &Question {
            &self.0
        }

        fn value(&self, name: Metric) -> Option<f64> {
            if name == P_AT_1 { Some(1.0) } else { self.1 }
        }
    }

    #[test]
    fn means_leave_out_what_could_not_be_measured() {
        let figures =
            Figures::of(&[Half(question(1), Some(1.0)), Half(question(2), None), Half(question(8), Some(0.0))]);
        let all = figures.get(None, Metric::AnswerRelevance).unwrap();
        assert_eq!((all.value, all.of, all.interval), (0.5, 2, None), "one conversation says nothing of others");
        let slice = |turn| Some(Slice::Turn(turn));
        assert_eq!(figures.get(slice(TurnGroup::Single(2)), Metric::AnswerRelevance), None);
        let later = figures.get(slice(TurnGroup::SixToTen), Metric::AnswerRelevance).unwrap();
        assert_eq!((later.value, later.of), (0.0, 1));
        let follow_ups = figures.get(Some(Slice::FollowUps), P_AT_1).unwrap();
        assert_eq!((follow_ups.value, follow_ups.of), (1.0, 2));
        assert_eq!(figures.get(Some(Slice::Source(Kind::Row)), P_AT_1), None, "no question has a row as its source");
        assert_eq!(figures.get(None, Metric::TokenF1), None);
        let other = Question { conversation: "d".into(), ..question(1) };
        let two = Figures::of(&[Half(question(1), Some(1.0)), Half(other, Some(0.0))]);
        let simple = two.get(Some(Slice::Type(QuestionType::Simple)), P_AT_1).unwrap();
        assert_eq!(simple.interval, Some(Interval { low: 1.0, high: 1.0 }));
    }

    #[test]
    fn json_has_the_figures_of_all_and_of_each_slice() {
        let json = Value::Object(Figures::of(&[Half(question(2), Some(0.25))]).json());
        assert_eq!((json["questions"].as_u64(), json["answer_relevance"].as_f64()), (Some(1), Some(0.25)));
        assert_eq!(json["page"]["p_at_1"], 1.0);
        assert_eq!(json["intervals"]["answer_relevance"], Value::Null);
        assert_eq!(json["by"]["turn"]["2"]["of"]["page"]["p_at_1"], 1);
        assert_eq!(json["by"]["turn"]["follow-ups"]["questions"], 1);
        assert!(json["by"]["type"]["complex"].is_null());
        let nothing = Value::Object(Figures::of::<Half>(&[]).json());
        assert_eq!((nothing["questions"].as_u64(), &nothing["answer_relevance"]), (Some(0), &Value::Null));
    }

    /// First ranks 1, 2, 5, 10 and none by number and text, and by URL 1 where a URL is right.
    fn hand_made() -> Vec<Asked> {
        let ranks = [(Some(1), 10), (Some(2), 4), (Some(5), 1), (Some(10), 1), (None, 0)];
        let one = |(at, (page, gold_in_ten)): (usize, (Option<usize>, usize))| {
            let question = Question { conversation: (at / 2).to_string(), ..question(at % 2 + 1) };
            let mut one = asked(question, page);
            one.outcome.gold_in_ten = gold_in_ten;
            one.outcome.url = page.filter(|_| at == 0);
            one.spelled = at < 2;
            one
        };
        ranks.into_iter().enumerate().map(one).collect()
    }

    #[test]
    fn figures_of_a_hand_made_run_are_exact() {
        let figures = Figures::of(&hand_made());
        let of = |slice, name| figures.get(slice, name).map(|figure| figure.value);
        let page = |slice, ranking| of(slice, Metric::Ranked(PageMatch::Page, ranking)).unwrap();
        let same = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(same(page(None, Ranking::PAt1), 0.2) && same(page(None, Ranking::HitAt5), 0.6));
        assert!(same(page(None, Ranking::HitAt10), 0.8));
        assert!(same(page(None, Ranking::Mrr), (1.0 + 0.5 + 0.2 + 0.1) / 5.0));
        assert!(same(of(None, Metric::PrecisionAt10).unwrap(), 16.0 / 50.0));
        for ranking in [Ranking::PAt1, Ranking::HitAt5, Ranking::HitAt10, Ranking::Mrr] {
            assert_eq!(of(None, Metric::Ranked(PageMatch::Content, ranking)), Some(page(None, ranking)));
            assert!(same(of(None, Metric::Ranked(PageMatch::Url, ranking)).unwrap(), 0.2));
        }
        assert!(same(of(None, Metric::UrlCeiling).unwrap(), 0.4));
        // The follow-ups came at 2 and 10.
        let follow_ups = Some(Slice::FollowUps);
        assert!(same(page(follow_ups, Ranking::PAt1), 0.0) && same(page(follow_ups, Ranking::HitAt5), 0.5));
        assert!(same(page(follow_ups, Ranking::Mrr), 0.3) && same(of(follow_ups, URL_P_AT_1).unwrap(), 0.0));
    }

    #[test]
    fn what_three_hits_cannot_tell_is_left_open() {
        let few: Vec<Asked> = hand_made().into_iter().map(|one| Asked { k: 3, ..one }).collect();
        let figures = Figures::of(&few);
        for page_match in [PageMatch::Page, PageMatch::Content, PageMatch::Url] {
            assert_eq!(figures.get(None, Metric::Ranked(page_match, Ranking::HitAt5)), None);
            assert_eq!(figures.get(None, Metric::Ranked(page_match, Ranking::HitAt10)), None);
        }
        assert_eq!(figures.get(None, Metric::PrecisionAt10), None);
        assert!(figures.get(None, P_AT_1).is_some());
        assert_eq!(figures.json()["page"]["hit_at_5"], Value::Null);
    }
}
