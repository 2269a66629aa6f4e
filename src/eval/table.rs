//! Figures as Markdown tables with aligned columns, to be read on a terminal and pasted into a note.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use super::report::{Report, Slice};
use super::{Comparison, Scores, paper};
use crate::evidence::ContextParts;

/// A figure of some questions.
type Measure = fn(&Scores) -> f64;

/// Stands where there is no figure.
const NOTHING: &str = "-";

/// Said above every table with figures of the paper.
const ABOUT_PAPER: &str = "paper: P@1 by URL string over all 600 questions, with bge-m3, a reranker and the \
                           completions of GPT-4o; compare it with `url`, whose ceiling over those questions is about 0.71.";

/// The figures of one run, by slice.
#[must_use]
pub fn figures(report: &Report, context: ContextParts, comparison: Comparison) -> String {
    let mut header = vec!["slice", "questions", "P@1", "hit@5", "hit@10", "MRR", "P@10", "content P@1", "url P@1"];
    let mut about = "By page number where nothing else is said.".to_owned();
    if comparison == Comparison::Paper {
        header.push("paper P@1");
        let _ = write!(about, " {ABOUT_PAPER}");
    }
    let row = |label: String, slice, scores: &Scores| {
        let page = scores.page;
        let ours = [page.p_at_1, page.hit_at_5, page.hit_at_10, page.mrr, scores.precision_at_10];
        let mut cells = vec![label, scores.questions.to_string()];
        cells.extend(ours.map(figure));
        cells.extend([figure(scores.content.p_at_1), figure(paper::comparable(scores))]);
        if comparison == Comparison::Paper {
            cells.push(paper::p_at_1(slice, context).map_or_else(|| NOTHING.to_owned(), figure));
        }
        cells
    };
    let mut rows = vec![row("all".to_owned(), None, &report.all)];
    rows.extend(report.slices.iter().map(|(slice, scores)| row(named(*slice), Some(*slice), scores)));
    format!("{about}\n\n{}", aligned(&header, &rows))
}

/// Runs with different context side by side, as in the paper's Table 2: by page number, then by URL string beside the
/// paper's figures where they can be compared.
#[must_use]
pub fn ablation(runs: &[(ContextParts, Report)], comparison: Comparison) -> String {
    let Some((_, first)) = runs.first() else { return String::new() };
    let slices: Vec<Option<Slice>> =
        std::iter::once(None).chain(first.slices.iter().map(|(slice, _)| Some(*slice))).collect();
    let names: Vec<String> = runs.iter().map(|(context, _)| context.to_string()).collect();
    let mut text = String::new();
    let measures: [(&str, Measure); 2] =
        [("P@1", |scores| scores.page.p_at_1), ("hit@10", |scores| scores.page.hit_at_10)];
    for (measure, value) in measures {
        let rows: Vec<Vec<String>> = slices
            .iter()
            .map(|slice| {
                let cells = runs.iter().map(|(_, report)| scores(report, *slice).map(value));
                labelled(*slice, first, cells)
            })
            .collect();
        let header: Vec<&str> = ["slice", "questions"].into_iter().chain(names.iter().map(String::as_str)).collect();
        let _ = writeln!(text, "{measure} by page number, by the context that is embedded and indexed\n");
        let _ = writeln!(text, "{}", aligned(&header, &rows));
    }
    if comparison == Comparison::Paper {
        text.push_str(&beside_paper(runs, &slices, first));
    }
    text
}

fn beside_paper(runs: &[(ContextParts, Report)], slices: &[Option<Slice>], first: &Report) -> String {
    let names = runs.iter().map(|(context, _)| context.to_string());
    let header: Vec<String> = names.flat_map(|name| [name, "paper".to_owned()]).collect();
    let header: Vec<&str> = ["slice", "questions"].into_iter().chain(header.iter().map(String::as_str)).collect();
    let rows: Vec<Vec<String>> = slices
        .iter()
        .map(|slice| {
            let cells = runs.iter().flat_map(|(context, report)| {
                [scores(report, *slice).map(paper::comparable), paper::p_at_1(*slice, *context)]
            });
            labelled(*slice, first, cells)
        })
        .collect();
    format!("P@1 by URL string beside the paper's Table 2. {ABOUT_PAPER}\n\n{}", aligned(&header, &rows))
}

fn scores(report: &Report, slice: Option<Slice>) -> Option<&Scores> {
    slice.map_or(Some(&report.all), |slice| report.slice(slice))
}

fn labelled(slice: Option<Slice>, report: &Report, cells: impl Iterator<Item = Option<f64>>) -> Vec<String> {
    let questions = scores(report, slice).map_or(0, |scores| scores.questions);
    let mut row = vec![slice.map_or_else(|| "all".to_owned(), named), questions.to_string()];
    row.extend(cells.map(|value| value.map_or_else(|| NOTHING.to_owned(), figure)));
    row
}

fn named(slice: Slice) -> String {
    match slice {
        Slice::Turn(_) => format!("turn {}", slice.label()),
        _ => slice.label(),
    }
}

fn figure(value: f64) -> String {
    format!("{value:.3}")
}

/// A Markdown table whose columns are as wide as their widest cell; figures stand at the right.
fn aligned(header: &[&str], rows: &[Vec<String>]) -> String {
    let cell = |row: &[String], column: usize| row.get(column).map_or(0, |cell| cell.width());
    let width = |column: usize| {
        let widest = rows.iter().map(|row| cell(row, column)).max().unwrap_or(0);
        widest.max(header.get(column).map_or(0, |name| name.width())).max(3)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.zip(&widths).enumerate().map(|(column, (text, width))| {
            let pad = " ".repeat(width.saturating_sub(text.width()));
            if column == 0 { format!("{text}{pad}") } else { format!("{pad}{text}") }
        });
        format!("| {} |\n", padded.collect::<Vec<_>>().join(" | "))
    };
    let mut text = line(&mut header.iter().copied());
    let rules = widths
        .iter()
        .enumerate()
        .map(|(column, width)| if column == 0 { "-".repeat(*width) } else { format!("{}:", "-".repeat(width - 1)) });
    let rules: Vec<String> = rules.collect();
    text.push_str(&line(&mut rules.iter().map(String::as_str)));
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{Asked, Outcome, Page, Question, QuestionType};
    use super::*;
    use crate::base::Language;
    use crate::evidence::Kind;

    /// Three questions, found at these ranks by page number and by URL string.
    fn report(ranks: [(Option<usize>, Option<usize>); 3]) -> Report {
        let asked = ranks.into_iter().zip(1..).map(|((page, url), turn)| Asked {
            question: Question {
                conversation: "c".into(),
                turn: turn * 3,
                language: if turn == 3 { Language::German } else { Language::English },
                raw: String::new(),
                completed: String::new(),
                answer: String::new(),
                facts: Vec::new(),
                past: Vec::new(),
                gold: Vec::new(),
                source: if turn == 1 { Kind::Row } else { Kind::List },
                question_type: QuestionType::Simple,
            },
            query: String::new(),
            gold: vec![Page { number: "1".into(), url: "/pages/1".into(), content: "text".into() }],
            hits: Vec::new(),
            outcome: Outcome { page, content: page, url, gold_in_ten: 2 },
        });
        Report::of(&asked.collect::<Vec<_>>())
    }

    #[test]
    fn a_run_is_drawn_by_slice_beside_the_paper() {
        let report = report([(Some(1), Some(1)), (Some(1), None), (Some(7), None)]);
        insta::assert_snapshot!(figures(&report, ContextParts::ALL, Comparison::Paper));
        assert!(!figures(&report, ContextParts::ALL, Comparison::Nothing).contains("paper"));
    }

    #[test]
    fn runs_with_other_context_are_drawn_side_by_side() {
        let without = report([(Some(2), None), (None, None), (Some(4), Some(4))]);
        let with = report([(Some(1), Some(1)), (Some(1), Some(1)), (Some(2), None)]);
        let runs = [(ContextParts::NONE, without), (ContextParts::ALL, with)];
        insta::assert_snapshot!(ablation(&runs, Comparison::Paper));
        assert!(!ablation(&runs, Comparison::Nothing).contains("paper"));
        assert_eq!(ablation(&[], Comparison::Paper), "");
    }

    #[test]
    fn columns_are_aligned_and_figures_stand_at_the_right() {
        let rows = [vec!["all".to_owned(), "300".to_owned()], vec!["German".to_owned(), "1".to_owned()]];
        let expected = "| slice  |   n |\n| ------ | --: |\n| all    | 300 |\n| German |   1 |\n";
        assert_eq!(aligned(&["slice", "n"], &rows), expected);
    }
}
