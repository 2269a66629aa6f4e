//! Uncited sources that say what an answer says. Small models often copy from one source and cite its neighbour.
//!
//! Takes an answer with its prompt and citations, gives the numbers of the sources. Pure.
//! Invariants: a given source has most content words of the answer that the question lacks, and the cited sources have
//! hardly any; nothing is given if the cited sources are in another language than the answer.
//! Not here: figures (`figures`), whether the answer depends on a source (`attribution`).

use std::collections::HashSet;

use super::citation_repair::{own_words, source};
use super::entity_carryover::is_mentioned;
use crate::prompt::{Part, Prompt};
use ragonite_base::Language;
use ragonite_base::text::lower_words;

/// Fewest content words of an answer that identify its source.
const LEAST_WORDS: usize = 2;

/// Largest share of these words in the cited sources.
const CITED: f64 = 0.3;

/// Smallest share of these words in the uncited source.
const OTHER: f64 = 0.8;

/// Most sources in the result.
const MOST: usize = 3;

/// Uncited sources with the words of the answer, ascending; none if the cited sources have some of them.
pub(super) fn overlapping_uncited(answer: &str, prompt: &Prompt, cited: &[usize], language: Language) -> Vec<usize> {
    let sources = prompt.sources();
    if !cited.iter().any(|rank| sources.contains(rank)) {
        return Vec::new();
    }
    let asked = prompt.segments.iter().filter(|segment| segment.part == Part::Question);
    let asked: String = asked.map(|segment| segment.text.as_str()).collect();
    let own: HashSet<String> = own_words(answer, &asked).into_iter().collect();
    if own.len() < LEAST_WORDS {
        return Vec::new();
    }
    let text = |ranks: &[usize]| ranks.iter().filter_map(|rank| source(prompt, *rank)).collect::<String>();
    let share = |text: &str| {
        let source_words: HashSet<String> = lower_words(text).collect();
        own.iter().filter(|word| is_mentioned(word, &source_words)).count() as f64 / own.len() as f64
    };
    let of_cited = text(cited);
    if share(&of_cited) > CITED || Language::of(&of_cited) != language {
        return Vec::new();
    }
    let others = sources.into_iter().filter(|rank| !cited.contains(rank));
    others.filter(|rank| share(&text(&[*rank])) >= OTHER).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::Segment;
    use ragonite_inference::SpecialTokens;

    const ROWS: [&str; 3] = [
        "Fleet\nRow 1 in Table 1: Boat is Osprey, and Run by is Lucia Ferrer, and Date is 2025-03-10",
        "Fleet\nThe run took five working days and used the harbour for its tests.",
        "Fleet\nRow 2 in Table 1: Boat is Heron, and Run by is Tomas Brandt, and Date is 2025-03-12",
    ];

    fn uncited(answer: &str, sources: &[&str], cited: &[usize]) -> Vec<usize> {
        let segment = |part, text: String| Segment { part, text, special: SpecialTokens::AsText, tokens: 1 };
        let sources = (1..).zip(sources);
        let mut segments: Vec<Segment> = sources
            .map(|(rank, text)| segment(Part::Evidence { rank }, format!("Source {rank}:\n{text}\n\n")))
            .collect();
        segments
            .push(segment(Part::Question, "Question: Who ran it on the Heron boat?\n\nAnswer in one sentence.".into()));
        let prompt = Prompt { segments, ..Prompt::default() };
        overlapping_uncited(answer, &prompt, cited, Language::English)
    }

    #[test]
    fn the_source_that_has_the_words_is_named_where_another_is_cited() {
        assert_eq!(uncited("Tomas Brandt ran it on the Heron. [Source 2]", &ROWS, &[2]), [3]);
        assert_eq!(uncited("Tomas Brandt ran it on the Heron. [Source 1, Source 2]", &ROWS, &[1, 2]), [3]);
        assert_eq!(uncited("Tomas Brandt ran it. [Source 2]", &[ROWS[2], ROWS[1], ROWS[2]], &[2]), [1, 3]);
    }

    #[test]
    fn an_answer_that_cites_what_it_says_is_left_alone() {
        for (answer, cited) in [
            ("Tomas Brandt ran it on the Heron. [Source 3]", vec![3]),
            ("Tomas Brandt ran it. [Source 2, Source 3]", vec![2, 3]),
            ("Tomas Brandt ran it for five days in the harbour. [Source 2]", vec![2]),
            ("Tomas Brandt ran it on the Heron.", vec![]),
            ("Tomas Brandt ran it. [Source 9?]", vec![9]),
        ] {
            assert!(uncited(answer, &ROWS, &cited).is_empty(), "{answer}");
        }
    }

    #[test]
    fn words_that_tell_no_source_name_none() {
        for answer in ["Brandt. [Source 2]", "Yes. [Source 2]", "Ana Silva ran it. [Source 2]", "[Source 2]"] {
            assert!(uncited(answer, &ROWS, &[2]).is_empty(), "{answer}");
        }
        let german = "Die Prüfung dauerte fünf Tage, und sie wurde im Hafen gemacht, wo auch die Boote liegen.";
        assert!(
            uncited("Tomas Brandt ran it. [Source 2]", &[ROWS[0], german, ROWS[2]], &[2]).is_empty(),
            "other words"
        );
    }
}
