//! What was measured of each question -> means with their intervals, all together and by slice. Pure.
//!
//! Invariant: a question of which something cannot be measured takes no part in that mean, and each mean says over how
//! many questions it is.
//! Not here: what is measured (`answers`, `attributed`, `retrieval`), drawing (`table`).

use serde_json::{Map, Value, json};

use super::Question;
use super::report::Slice;
use super::stats::{Interval, interval, mean};

/// Something that is measured of a question.
pub struct Measure<T> {
    /// Name in JSON; a dot opens an object.
    pub name: &'static str,
    /// Name in tables.
    pub title: &'static str,
    /// Its value; none where it cannot be measured.
    pub value: fn(&T) -> Option<f64>,
    /// What the paper has in its place.
    pub paper: fn(Option<Slice>) -> Option<f64>,
}

/// A mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// The mean.
    pub value: f64,
    /// Its bootstrap interval.
    pub interval: Interval,
    /// Over so many questions.
    pub of: usize,
}

/// The figures of some questions.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Which questions; none for all of them.
    pub slice: Option<Slice>,
    /// How many.
    pub questions: usize,
    /// One for each measure; none where nothing was measured.
    pub figures: Vec<Option<Figure>>,
}

/// The name of a measure in JSON and in tables, and what the paper has.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// In JSON.
    pub name: &'static str,
    /// In tables.
    pub title: &'static str,
    /// Of the paper.
    pub paper: fn(Option<Slice>) -> Option<f64>,
}

/// All figures of a run.
#[derive(Debug, Clone)]
pub struct Figures {
    /// What was measured.
    pub columns: Vec<Column>,
    /// All questions, then each slice in order.
    pub lines: Vec<Line>,
}

/// The paper has no such figure.
pub(super) fn not_in_paper(_: Option<Slice>) -> Option<f64> {
    None
}

impl Figures {
    /// Puts together what was measured of each question.
    #[must_use]
    pub fn of<T>(measures: &[Measure<T>], asked: &[(&Question, &T)]) -> Self {
        let mut slices: Vec<Slice> = asked.iter().flat_map(|(question, _)| Slice::all_of(question)).collect();
        slices.sort();
        slices.dedup();
        let line = |slice: Option<Slice>| {
            let is_in = |question: &Question| slice.is_none_or(|slice| Slice::all_of(question).contains(&slice));
            let of_slice: Vec<&T> = asked.iter().filter(|(question, _)| is_in(question)).map(|(_, one)| *one).collect();
            let figures = measures.iter().map(|measure| figure(measure, &of_slice)).collect();
            Line { slice, questions: of_slice.len(), figures }
        };
        let lines = std::iter::once(None).chain(slices.into_iter().map(Some)).map(line).collect();
        let column = |measure: &Measure<T>| Column { name: measure.name, title: measure.title, paper: measure.paper };
        Self { columns: measures.iter().map(column).collect(), lines }
    }

    /// The figure of this name; none where nothing was measured.
    #[must_use]
    pub fn get(&self, slice: Option<Slice>, name: &str) -> Option<Figure> {
        let column = self.columns.iter().position(|column| column.name == name)?;
        let line = self.lines.iter().find(|line| line.slice == slice)?;
        line.figures.get(column).copied().flatten()
    }

    /// As in the JSON contract: the figures of all questions, and `by` slice the same.
    #[must_use]
    pub fn json(&self) -> Map<String, Value> {
        let mut by = Map::new();
        for group in ["source", "type", "language", "turn", "shift"] {
            by.insert(group.to_owned(), Value::Object(Map::new()));
        }
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
        for (column, figure) in self.columns.iter().zip(&line.figures) {
            put(&mut object, column.name, json!(figure.map(|figure| figure.value)));
            put(&mut intervals, column.name, json!(figure.map(|figure| figure.interval)));
            put(&mut counts, column.name, json!(figure.map_or(0, |figure| figure.of)));
        }
        object.insert("intervals".to_owned(), Value::Object(intervals));
        object.insert("of".to_owned(), Value::Object(counts));
        object
    }
}

fn figure<T>(measure: &Measure<T>, asked: &[&T]) -> Option<Figure> {
    let values: Vec<f64> = asked.iter().filter_map(|one| (measure.value)(one)).collect();
    Some(Figure { value: mean(&values)?, interval: interval(&values)?, of: values.len() })
}

/// Puts a value under a name that may lead into one object.
fn put(object: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        None => {
            object.insert(name.to_owned(), value);
        }
        Some((outer, inner)) => {
            let inside = object.entry(outer).or_insert_with(|| Value::Object(Map::new()));
            if let Some(inside) = inside.as_object_mut() {
                inside.insert(inner.to_owned(), value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_kit::question;
    use super::super::{QuestionType, TurnGroup};
    use super::*;
    use crate::evidence::Kind;

    const MEASURES: &[Measure<Option<f64>>] = &[
        Measure { name: "share.plain", title: "plain", value: |one| *one, paper: not_in_paper },
        Measure { name: "count", title: "count", value: |_| Some(1.0), paper: |_| Some(0.5) },
    ];

    #[test]
    fn means_leave_out_what_could_not_be_measured() {
        let questions = [question(1), question(2), question(8)];
        let values = [Some(1.0), None, Some(0.0)];
        let asked: Vec<_> = questions.iter().zip(&values).collect();
        let figures = Figures::of(MEASURES, &asked);
        let all = figures.get(None, "share.plain").unwrap();
        assert_eq!((all.value, all.of), (0.5, 2));
        let slice = |turn| Some(Slice::Turn(turn));
        assert_eq!(figures.get(slice(TurnGroup::Single(2)), "share.plain"), None);
        let later = figures.get(slice(TurnGroup::SixToTen), "share.plain").unwrap();
        assert_eq!((later.value, later.of), (0.0, 1));
        assert_eq!(figures.get(Some(Slice::Source(Kind::Row)), "count"), None, "no question has a row as its source");
        assert_eq!(figures.get(None, "unheard"), None);
        let simple = figures.get(Some(Slice::Type(QuestionType::Simple)), "count").unwrap();
        assert_eq!((simple.interval.low, simple.interval.high), (1.0, 1.0));
    }

    #[test]
    fn json_has_the_figures_of_all_and_of_each_slice() {
        let question = question(1);
        let json = Value::Object(Figures::of(MEASURES, &[(&question, &Some(0.25))]).json());
        assert_eq!((json["questions"].as_u64(), json["share"]["plain"].as_f64()), (Some(1), Some(0.25)));
        assert_eq!(json["intervals"]["share"]["plain"], json!([0.25, 0.25]));
        assert_eq!(json["by"]["turn"]["1"]["of"]["count"], 1);
        assert!(json["by"]["type"]["complex"].is_null());
        let nothing = Value::Object(Figures::of(MEASURES, &[]).json());
        assert_eq!((nothing["questions"].as_u64(), &nothing["share"]["plain"]), (Some(0), &Value::Null));
    }
}
