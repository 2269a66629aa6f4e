//! Samples questions: the first ones or spread over the slices; single ones or whole conversations. Pure.

use std::collections::HashMap;

use super::slices::Slice;
use super::{Part, Question, Unit};

/// Keeps the first `limit` questions of each language.
pub(super) fn first(parts: &mut [Part], limit: usize, unit: Unit) {
    keep(parts, |all| {
        let mut kept: HashMap<_, usize> = HashMap::new();
        let mut full = Vec::new();
        let mut chosen = Vec::new();
        for places in units(all, unit) {
            let language = all[places[0]].language;
            let so_far = kept.entry(language).or_default();
            // After the first unit that does not fit, later ones are not taken either.
            if full.contains(&language) || !fits(*so_far, &places, limit, unit) {
                full.push(language);
                continue;
            }
            *so_far += places.len();
            chosen.extend(places);
        }
        chosen
    });
}

/// Keeps `limit` questions, spread evenly over slices and then conversations. Deterministic.
pub(super) fn spread(parts: &mut [Part], limit: usize, unit: Unit) {
    keep(parts, |all| {
        let mut slices: HashMap<Slice, usize> = HashMap::new();
        let mut conversations: HashMap<&str, usize> = HashMap::new();
        let mut left = units(all, unit);
        let mut chosen: Vec<usize> = Vec::new();
        loop {
            let taken = |slice: &Slice| slices.get(slice).copied().unwrap_or(0);
            let cost = |places: &[usize]| {
                let of_slices = places.iter().flat_map(|at| Slice::apart(all[*at])).map(|slice| taken(&slice));
                let of_slices = of_slices.sum::<usize>() as f64 / places.len() as f64;
                (of_slices, conversations.get(all[places[0]].conversation.as_str()).copied().unwrap_or(0))
            };
            let fitting = (0..left.len()).filter(|at| fits(chosen.len(), &left[*at], limit, unit));
            let cheapest = fitting.min_by(|a, b| {
                let ((a, a_before), (b, b_before)) = (cost(&left[*a]), cost(&left[*b]));
                a.total_cmp(&b).then(a_before.cmp(&b_before))
            });
            let Some(at) = cheapest else { break };
            let places = left.remove(at);
            for slice in places.iter().flat_map(|at| Slice::apart(all[*at])) {
                *slices.entry(slice).or_default() += 1;
            }
            *conversations.entry(&all[places[0]].conversation).or_default() += 1;
            chosen.extend(places);
        }
        chosen
    });
}

/// Keeps the questions at the indexes from `choose`.
fn keep(parts: &mut [Part], choose: impl FnOnce(&[&Question]) -> Vec<usize>) {
    let all: Vec<&Question> = parts.iter().flat_map(|part| &part.questions).collect();
    let chosen = choose(&all);
    let mut place = 0;
    for part in parts {
        part.questions.retain(|_| {
            let kept = chosen.contains(&place);
            place += 1;
            kept
        });
    }
}

/// Indexes of the units, in order.
fn units(all: &[&Question], unit: Unit) -> Vec<Vec<usize>> {
    match unit {
        Unit::Question => (0..all.len()).map(|at| vec![at]).collect(),
        Unit::Conversation => {
            let mut threads: indexmap::IndexMap<_, Vec<usize>> = indexmap::IndexMap::new();
            for (at, question) in all.iter().enumerate() {
                threads.entry(question.thread()).or_default().push(at);
            }
            threads.into_values().collect()
        }
    }
}

/// Whether these questions fit the limit. A first conversation always fits, because a part of it is useless.
fn fits(kept: usize, places: &[usize], limit: usize, unit: Unit) -> bool {
    kept + places.len() <= limit || (unit == Unit::Conversation && kept == 0 && limit > 0)
}

#[cfg(test)]
mod tests {
    use super::super::QuestionType;
    use super::super::test_kit::question;
    use super::*;
    use ragonite_base::Language;
    use ragonite_document::evidence::Kind;

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
        spread(&mut sampled, 20, Unit::Question);
        let questions = &sampled[0].questions;
        let mut counts: HashMap<Slice, usize> = HashMap::new();
        for slice in questions.iter().flat_map(Slice::apart) {
            *counts.entry(slice).or_default() += 1;
        }
        assert_eq!((questions.len(), counts.len()), (20, 2 + 3 + 2 + 6));
        assert_eq!(counts[&Slice::Language(Language::German)], 10);
        assert_eq!(counts[&Slice::Type(QuestionType::Simple)], 10);
        assert!(counts.values().all(|count| *count >= 3), "{counts:?}");
        let conversations: std::collections::HashSet<_> = questions.iter().map(|q| &q.conversation).collect();
        assert!(conversations.len() >= 12, "{}", conversations.len());
    }

    /// The turns that were kept of each conversation in each language.
    fn threads(parts: &[Part]) -> HashMap<(String, Language), Vec<usize>> {
        let mut threads: HashMap<_, Vec<usize>> = HashMap::new();
        for question in parts.iter().flat_map(|part| &part.questions) {
            threads.entry((question.conversation.clone(), question.language)).or_default().push(question.turn);
        }
        threads
    }

    #[test]
    fn a_sample_of_conversations_has_all_turns_of_each_and_no_more_than_the_limit() {
        let all = threads(&parts());
        for choose in [spread, first] {
            for limit in [1, 10, 25, 43] {
                let mut sampled = parts();
                choose(&mut sampled, limit, Unit::Conversation);
                let kept = threads(&sampled);
                assert!(!kept.is_empty() && kept.iter().all(|(thread, turns)| all[thread] == *turns), "{kept:?}");
                let most = |language| {
                    let of_language = kept.iter().filter(|((_, of), _)| *of == language);
                    of_language.map(|(_, turns)| turns.len()).collect::<Vec<usize>>()
                };
                for turns in [most(Language::English), most(Language::German)] {
                    assert!(turns.len() <= 1 || turns.iter().sum::<usize>() <= limit, "{limit}: {turns:?}");
                }
            }
        }
        let mut sampled = parts();
        spread(&mut sampled, 30, Unit::Conversation);
        let kept = threads(&sampled);
        assert_eq!(kept.values().map(Vec::len).sum::<usize>(), 30);
        let german = kept.keys().filter(|(_, language)| *language == Language::German).count();
        assert!(german > 0 && german < kept.len(), "{kept:?}");
    }

    #[test]
    fn a_larger_limit_than_there_are_keeps_all_in_order() {
        for unit in [Unit::Question, Unit::Conversation] {
            let (mut sampled, all) = (parts(), parts());
            spread(&mut sampled, 100_000, unit);
            first(&mut sampled, 100_000, unit);
            assert_eq!(sampled, all);
            spread(&mut sampled, 0, unit);
            assert!(sampled[0].questions.is_empty());
        }
    }
}
