//! Some of the questions, so that every slice is among them. Pure.

use std::collections::HashMap;

use super::report::Slice;
use super::{Part, Question};

/// Keeps `limit` questions, spread as evenly over the slices as they go, and then over the conversations. The same
/// questions and limit keep the same.
pub(super) fn spread(parts: &mut Vec<Part>, limit: usize) {
    let all: Vec<&Question> = parts.iter().flat_map(|part| &part.questions).collect();
    let chosen = choose(&all, limit);
    let mut place = 0;
    for part in &mut *parts {
        part.questions.retain(|_| {
            let kept = chosen.contains(&place);
            place += 1;
            kept
        });
    }
    parts.retain(|part| !part.questions.is_empty());
}

fn choose(questions: &[&Question], limit: usize) -> Vec<usize> {
    let mut slices: HashMap<Slice, usize> = HashMap::new();
    let mut conversations: HashMap<&str, usize> = HashMap::new();
    let mut left: Vec<usize> = (0..questions.len()).collect();
    let mut chosen = Vec::new();
    while chosen.len() < limit {
        let taken = |slice: &Slice| slices.get(slice).copied().unwrap_or(0);
        let cost = |place: usize| {
            let question = questions[place];
            let of_slices: usize = Slice::all_of(question).iter().map(taken).sum();
            (of_slices, conversations.get(question.conversation.as_str()).copied().unwrap_or(0), place)
        };
        let Some(at) = (0..left.len()).min_by_key(|at| cost(left[*at])) else { break };
        let place = left.remove(at);
        for slice in Slice::all_of(questions[place]) {
            *slices.entry(slice).or_default() += 1;
        }
        *conversations.entry(&questions[place].conversation).or_default() += 1;
        chosen.push(place);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::super::QuestionType;
    use super::super::test_kit::question;
    use super::*;
    use crate::base::Language;
    use crate::evidence::Kind;

    /// Thirty conversations in two languages, one in four with ten turns.
    fn parts() -> Vec<Part> {
        let questions = (0..30).flat_map(|number| {
            let turns = if number % 4 == 0 { 10 } else { 5 };
            (1..=turns).flat_map(move |turn| {
                [Language::English, Language::German].map(|language| Question {
                    conversation: number.to_string(),
                    language,
                    source: [Kind::Passage, Kind::List, Kind::Table][number % 3],
                    question_type: if (number + turn) % 2 == 0 { QuestionType::Simple } else { QuestionType::Complex },
                    ..question(turn)
                })
            })
        });
        vec![Part { domain: None, documents: None, prefix: String::new(), questions: questions.collect() }]
    }

    #[test]
    fn a_small_sample_has_every_slice() {
        let mut sampled = parts();
        spread(&mut sampled, 20);
        let questions = &sampled[0].questions;
        let mut counts: HashMap<Slice, usize> = HashMap::new();
        for slice in questions.iter().flat_map(Slice::all_of) {
            *counts.entry(slice).or_default() += 1;
        }
        assert_eq!((questions.len(), counts.len()), (20, 2 + 3 + 2 + 6));
        assert_eq!(counts[&Slice::Language(Language::German)], 10);
        assert_eq!(counts[&Slice::Type(QuestionType::Simple)], 10);
        assert!(counts.values().all(|count| *count >= 3), "{counts:?}");
        let conversations: std::collections::HashSet<_> = questions.iter().map(|q| &q.conversation).collect();
        assert!(conversations.len() >= 12, "{}", conversations.len());
    }

    #[test]
    fn a_larger_limit_than_there_are_keeps_all_in_order() {
        let (mut sampled, all) = (parts(), parts());
        spread(&mut sampled, 100_000);
        assert_eq!(sampled, all);
        spread(&mut sampled, 0);
        assert!(sampled.is_empty());
    }
}
