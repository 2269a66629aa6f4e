//! Figures as Markdown tables with aligned columns, to be read on a terminal and pasted into a note.

use std::fmt::Write as _;
use std::ops::Range;

use unicode_width::UnicodeWidthStr as _;

use super::figures::{Column, Figure, Figures, Line};
use super::report::{Report, Slice};
use super::{Comparison, Scores, Topic, paper};
use crate::evidence::ContextParts;

/// Stands where there is no figure.
const NOTHING: &str = "-";

/// Said above every table with figures of the paper.
pub(super) const ABOUT_PAPER: &str = "paper: P@1 by URL string over all 600 questions, with bge-m3, a reranker and the \
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
    let row = |slice, scores: &Scores| {
        let page = scores.page;
        let ours = [page.p_at_1, page.hit_at_5, page.hit_at_10, page.mrr, scores.precision_at_10];
        let mut cells = vec![named(slice), scores.questions.to_string()];
        cells.extend(ours.map(figure));
        cells.extend([figure(scores.content.p_at_1), figure(paper::comparable(scores))]);
        if comparison == Comparison::Paper {
            cells.push(optional(paper::p_at_1(slice, context)));
        }
        cells
    };
    let mut rows = vec![row(None, &report.all)];
    rows.extend(report.slices.iter().map(|(slice, scores)| row(Some(*slice), scores)));
    format!("{about}\n\n{}", aligned(&header, &rows))
}

/// Measured figures by slice, those in `columns` alone; beside each what the paper has in its place.
#[must_use]
pub fn measured(figures: &Figures, columns: Range<usize>, comparison: Comparison) -> String {
    let columns: Vec<(usize, &Column)> =
        figures.columns.iter().enumerate().collect::<Vec<_>>().drain(columns).collect();
    let beside = |column: &Column| {
        comparison == Comparison::Paper && figures.lines.iter().any(|line| (column.paper)(line.slice).is_some())
    };
    let mut header = vec!["slice", "questions"];
    for (_, column) in &columns {
        header.push(column.title);
        header.extend(beside(column).then_some("paper"));
    }
    let row = |line: &Line| {
        let mut cells = vec![named(line.slice), line.questions.to_string()];
        for (place, column) in &columns {
            cells.push(optional(line.figures.get(*place).copied().flatten().map(|figure| figure.value)));
            cells.extend(beside(column).then(|| optional((column.paper)(line.slice))));
        }
        cells
    };
    aligned(&header, &figures.lines.iter().map(row).collect::<Vec<_>>())
}

/// The bootstrap interval of every figure, by slice.
#[must_use]
pub fn intervals(figures: &Figures) -> String {
    let header: Vec<&str> = std::iter::once("slice").chain(figures.columns.iter().map(|column| column.title)).collect();
    let cell = |figure: &Option<Figure>| {
        figure.map_or_else(|| NOTHING.to_owned(), |figure| bounds(figure.interval.low, figure.interval.high))
    };
    let row = |line: &Line| std::iter::once(named(line.slice)).chain(line.figures.iter().map(cell)).collect();
    let rows: Vec<Vec<String>> = figures.lines.iter().map(row).collect();
    format!("95 % of means lie within (bootstrap over questions)\n\n{}", aligned(&header, &rows))
}

fn bounds(low: f64, high: f64) -> String {
    format!("{low:.2}-{high:.2}")
}

/// A slice in the first column.
pub(super) fn named(slice: Option<Slice>) -> String {
    match slice {
        None => "all".to_owned(),
        Some(slice @ Slice::Turn(_)) => format!("turn {}", slice.label()),
        Some(Slice::Shift(Topic::Shifts)) => "after a topic shift".to_owned(),
        Some(Slice::Shift(Topic::Stays)) => "same topic".to_owned(),
        Some(slice) => slice.label(),
    }
}

/// A figure, or what stands in its place.
pub(super) fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), figure)
}

pub(super) fn figure(value: f64) -> String {
    format!("{value:.3}")
}

/// A Markdown table whose columns are as wide as their widest cell; figures stand at the right.
pub(super) fn aligned(header: &[&str], rows: &[Vec<String>]) -> String {
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
        // A row may end early.
        let cells = row.iter().map(String::as_str).chain(std::iter::repeat(""));
        text.push_str(&line(&mut cells.take(header.len())));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::test_kit::question;
    use super::super::{Asked, Outcome, Page, Question};
    use super::*;
    use crate::base::Language;
    use crate::evidence::Kind;

    /// Three questions, found at these ranks by page number and by URL string.
    fn report(ranks: [(Option<usize>, Option<usize>); 3]) -> Report {
        let asked = ranks.into_iter().zip(1..).map(|((page, url), turn)| Asked {
            question: Question {
                language: if turn == 3 { Language::German } else { Language::English },
                source: if turn == 1 { Kind::Row } else { Kind::List },
                topic: Some(if turn == 3 { Topic::Shifts } else { Topic::Stays }),
                ..question(turn * 3)
            },
            query: String::new(),
            how: None,
            translated: None,
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
    fn columns_are_aligned_and_figures_stand_at_the_right() {
        let rows = [vec!["all".to_owned(), "300".to_owned()], vec!["German".to_owned(), "1".to_owned()]];
        let expected = "| slice  |   n |\n| ------ | --: |\n| all    | 300 |\n| German |   1 |\n";
        assert_eq!(aligned(&["slice", "n"], &rows), expected);
    }
}
