//! The table of attribution by planted sources.
//!
//! Takes the questions of a run with their figures, gives a Markdown table of the variants and a line on what became of
//! the questions.
//! Not here: the scores (`plant_eval`), tables by slice (`table`).

use super::aggregate::Figures;
use super::metric::{Metric, PlantScore};
use super::table::{ABOUT_INTERVALS, aligned, bounds, figure, optional};
use super::{PlantArea, PlantChance, PlantCounts, PlantedQuestion, WAYS, Way};

/// Name of the last row.
const CHANCE: &str = "chance";

/// The scores of every variant that explained an answer, and those of chance.
#[must_use]
pub fn planted(asked: &[PlantedQuestion], figures: &Figures) -> String {
    let mut header = vec!["method".to_owned(), "answers".to_owned()];
    header.extend([PlantScore::Top.title(), "95 %", "area", "95 %"].map(str::to_owned));
    header.extend([PlantScore::DecisiveRight, PlantScore::DecisiveWrong].map(|score| score.title().to_owned()));
    let mut rows: Vec<Vec<String>> = WAYS.into_iter().filter_map(|way| row(asked, figures, way)).collect();
    rows.extend(PlantChance::of(asked).map(chance));
    format!("{} {ABOUT_INTERVALS}\n\n{}", counts(PlantCounts::of(asked)), aligned(&header, &rows))
}

/// The scores of a variant; none if it explained no answer.
fn row(asked: &[PlantedQuestion], figures: &Figures, way: Way) -> Option<Vec<String>> {
    let score = |score: PlantScore| figures.get(None, Metric::Plant(score, way));
    let (top, area) = (score(PlantScore::Top)?, PlantArea::of(asked, way)?);
    let mut row = vec![way.title().to_owned(), area.of.to_string()];
    row.extend([figure(top.value), bounds(top.interval), figure(area.value), bounds(area.interval)]);
    let decisive = [PlantScore::DecisiveRight, PlantScore::DecisiveWrong];
    row.extend(decisive.map(|one| optional(score(one).map(|found| found.value))));
    Some(row)
}

fn chance(chance: PlantChance) -> Vec<String> {
    let nothing = || optional(None);
    let PlantChance { top_1, area } = chance;
    vec![CHANCE.to_owned(), nothing(), figure(top_1), nothing(), figure(area), nothing(), nothing(), nothing()]
}

/// What became of the questions, in words.
fn counts(counts: PlantCounts) -> String {
    let PlantCounts { no_gold, no_fact, no_other, not_taken, scored } = counts;
    let all = no_gold + no_fact + no_other + not_taken + scored;
    format!(
        "Scored: {scored} of {all} questions. Not scored: {no_gold} without a gold page among the sources, {no_fact} \
         without a fact there that can be replaced, {no_other} without another fact or another source, {not_taken} \
         whose answer does not have the planted fact."
    )
}

#[cfg(test)]
mod tests {
    use super::super::test_kit::question;
    use super::super::{PlantOutcome, Question, Unplanted, Weighed, WeighedSource};
    use super::*;

    /// A question of a conversation of its own, in which the planted source is the first of two.
    fn asked(conversation: usize, contributions: [f64; 2], top_1: f64) -> PlantedQuestion {
        let source = |(rank, contribution)| WeighedSource { rank, contribution, planted: rank == 1 };
        let sources = (1..).zip(contributions).map(source).collect();
        PlantedQuestion {
            question: Question { conversation: conversation.to_string(), ..question(1) },
            query: String::new(),
            how: None,
            translated: None,
            outcome: PlantOutcome::Unplanted(Unplanted::NoFact),
            weighed: vec![Weighed { way: Way::Logprob, top_1, decisive: true, sources }],
        }
    }

    #[test]
    fn a_variant_that_ran_has_a_row_and_what_became_of_the_questions_is_said() {
        let asked = [asked(1, [0.8, 0.1], 1.0), asked(2, [0.1, 0.4], 0.0)];
        let text = planted(&asked, &Figures::of(&asked));
        assert!(text.starts_with("Scored: 0 of 2 questions. Not scored: 0 without a gold page"), "{text}");
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
        let [row] = rows.as_slice() else { panic!("{text}") };
        let cells: Vec<&str> = row.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
        // By contribution: planted, other, and at 0.1 a planted and another one together, so 1 and 2/4.
        assert_eq!(cells[..3], ["logprob", "2", "0.500"]);
        assert_eq!((cells[4], cells[6], cells[7]), ("0.750", "0.500", "0.500"));
    }
}
