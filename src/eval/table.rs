//! Markdown tables with aligned columns, for a terminal or a note.

use unicode_width::UnicodeWidthStr as _;

use super::aggregate::{Figure, Figures, Line};
use super::metric::Metric;
use super::paper::{self, Papers};
use super::retrieval::{BY_CONTENT_AND_URL, BY_PAGE};
use super::slices::Slice;
use super::stats::Interval;
use super::{Topic, WAYS};
use ragonite_rag::attribution::Method;

/// Cell without a figure.
const NOTHING: &str = "-";

/// Note on intervals.
pub(super) const ABOUT_INTERVALS: &str =
    "Intervals: 95 % of bootstrap means, whole conversations drawn, in all their languages together.";

/// Ranks of gold pages by slice: by page number, and by text and URL.
#[must_use]
pub fn retrieved(figures: &Figures, papers: Option<Papers>) -> [String; 2] {
    let by_page = measured(figures, BY_PAGE, papers);
    let mut about = "Content: pages with the same title and text are one. URL: as it is written.".to_owned();
    if let Some(papers) = papers {
        about = format!("{about} {}", about_paper(figures, papers));
    }
    [
        format!(
            "By page number. MRR: over the hits that were looked for; hit@k and P@10 need as many of them.\n\n{by_page}"
        ),
        format!("{about}\n\n{}", measured(figures, BY_CONTENT_AND_URL, papers)),
    ]
}

/// Note on the paper's P@1: the URLs of the asked questions limit ours.
pub(super) fn about_paper(figures: &Figures, papers: Papers) -> String {
    let ceiling = figures.get(None, Metric::UrlCeiling).map_or_else(
        || "which no page whose URL is written otherwise can add to".to_owned(),
        |ceiling| format!("which cannot exceed {:.3} over the questions asked here", ceiling.value),
    );
    format!(
        "paper: P@1 by URL string over all 600 questions, with bge-m3 and GPT-4o, {} Compare it with `url P@1`, {ceiling} \
         (url ceiling).",
        papers.said()
    )
}

/// Figures of these metrics by slice, beside the paper's.
#[must_use]
pub fn measured(figures: &Figures, names: &[Metric], papers: Option<Papers>) -> String {
    let languages = figures.languages();
    let beside = |name: Metric| papers.filter(|_| paper::has(name));
    let mut header = vec!["slice".to_owned(), "questions".to_owned()];
    for name in names {
        header.push(name.title());
        header.extend(beside(*name).map(|_| "paper".to_owned()));
    }
    let row = |line: &Line| {
        let mut cells = vec![named(line.slice), line.questions.to_string()];
        for name in names {
            cells.push(optional(figures.get(line.slice, *name).map(|figure| figure.value)));
            cells.extend(beside(*name).map(|papers| optional(papers.figure(*name, line.slice, &languages))));
        }
        cells
    };
    aligned(&header, &figures.lines.iter().map(row).collect::<Vec<_>>())
}

/// Accuracy of each method without and with clusters, over all questions. A method that did not run has no row.
#[must_use]
pub fn by_method(figures: &Figures) -> String {
    let header = ["method", "questions", "no clusters", "95 %", "clusters", "95 %"].map(str::to_owned);
    let rows = Method::ALL.into_iter().filter_map(|method| {
        let accuracy = |has_clusters: bool| {
            let way = WAYS.into_iter().find(|way| way.method() == method && way.has_clusters() == has_clusters)?;
            figures.get(None, Metric::Accuracy(way))
        };
        let both = [accuracy(false), accuracy(true)];
        let questions = both.iter().flatten().map(|found| found.of).max()?;
        let mut row = vec![method.name().to_owned(), questions.to_string()];
        for found in both {
            row.extend([optional(found.map(|found| found.value)), bounds(found.and_then(|found| found.interval))]);
        }
        Some(row)
    });
    format!("{ABOUT_INTERVALS}\n\n{}", aligned(&header, &rows.collect::<Vec<_>>()))
}

/// Bootstrap intervals of all figures by slice.
#[must_use]
pub fn intervals(figures: &Figures) -> String {
    let header: Vec<String> =
        std::iter::once("slice".to_owned()).chain(figures.names.iter().map(|name| name.title())).collect();
    let cell = |figure: &Option<Figure>| bounds(figure.and_then(|figure| figure.interval));
    let row = |line: &Line| std::iter::once(named(line.slice)).chain(line.figures.iter().map(cell)).collect();
    let rows: Vec<Vec<String>> = figures.lines.iter().map(row).collect();
    format!("{ABOUT_INTERVALS}\n\n{}", aligned(&header, &rows))
}

/// An interval or its placeholder.
pub(super) fn bounds(interval: Option<Interval>) -> String {
    interval.map_or_else(|| NOTHING.to_owned(), |interval| format!("{:.2}-{:.2}", interval.low, interval.high))
}

/// The name of a slice for the first column.
pub(super) fn named(slice: Option<Slice>) -> String {
    match slice {
        None => "all".to_owned(),
        Some(Slice::FollowUps) => "follow-ups".to_owned(),
        Some(slice @ Slice::Turn(_)) => format!("turn {}", slice.label()),
        Some(Slice::Shift(Topic::Shifts)) => "after a topic shift".to_owned(),
        Some(Slice::Shift(Topic::Stays)) => "same topic".to_owned(),
        Some(slice) => slice.label(),
    }
}

/// A figure or its placeholder.
pub(super) fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), figure)
}

pub(super) fn figure(value: f64) -> String {
    format!("{value:.3}")
}

/// A Markdown table with aligned columns; figures are right-aligned.
pub(super) fn aligned(header: &[String], rows: &[Vec<String>]) -> String {
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
    let mut text = line(&mut header.iter().map(String::as_str));
    let rules = widths
        .iter()
        .enumerate()
        .map(|(column, width)| if column == 0 { "-".repeat(*width) } else { format!("{}:", "-".repeat(width - 1)) });
    let rules: Vec<String> = rules.collect();
    text.push_str(&line(&mut rules.iter().map(String::as_str)));
    for row in rows {
        // A row may be shorter.
        let cells = row.iter().map(String::as_str).chain(std::iter::repeat(""));
        text.push_str(&line(&mut cells.take(header.len())));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::test_kit::{as_in_paper, asked, question};
    use super::super::{Ablation, Asked, Completion, Question, Variation, Way};
    use super::*;
    use ragonite_base::Language;
    use ragonite_document::evidence::Kind;

    /// Three questions of two conversations, found at these ranks by page number and by URL string.
    fn run(ranks: [(Option<usize>, Option<usize>); 3]) -> Vec<Asked> {
        let one = |((page, url), turn): ((Option<usize>, Option<usize>), usize)| {
            let question = Question {
                conversation: (turn / 2).to_string(),
                language: if turn == 3 { Language::German } else { Language::English },
                source: if turn == 1 { Kind::Row } else { Kind::List },
                topic: Some(if turn == 3 { Topic::Shifts } else { Topic::Stays }),
                ..question(turn * 3)
            };
            let mut one = asked(question, page);
            (one.outcome.url, one.spelled) = (url, turn < 3);
            one
        };
        ranks.into_iter().zip(1..).map(one).collect()
    }

    const RANKS: [(Option<usize>, Option<usize>); 3] = [(Some(1), Some(1)), (Some(1), None), (Some(7), None)];

    #[test]
    fn a_run_is_drawn_by_slice_beside_the_paper() {
        let figures = Figures::of(&run(RANKS));
        let papers = Some(Papers::beside(&as_in_paper(), None));
        insta::assert_snapshot!(retrieved(&figures, papers).join("\n"));
        assert!(retrieved(&figures, None).iter().all(|table| !table.contains("paper")));
    }

    #[test]
    fn the_nearest_run_of_the_paper_stands_in_its_column() {
        let figures = Figures::of(&run(RANKS));
        let history = Variation { completion: Completion::History, ..as_in_paper() };
        let [_, table] = retrieved(&figures, Some(Papers::beside(&history, None)));
        assert!(table.contains(" 0.528 ") && table.contains("has questions that its model completed;"), "{table}");
        let [_, table] = retrieved(&figures, Some(Papers::beside(&history, Some(Ablation::Completion))));
        assert!(table.contains("| paper |") && !table.contains("0.528") && !table.contains("0.658"), "{table}");
        let human = Variation { completion: Completion::Human, ..as_in_paper() };
        let [_, table] = retrieved(&figures, Some(Papers::beside(&human, None)));
        assert!(table.contains(" 0.658 ") && !table.contains("0.528"), "{table}");
        assert!(table.contains("cannot exceed 0.667 over the questions asked here"), "{table}");
    }

    #[test]
    fn what_three_hits_cannot_tell_is_drawn_as_nothing() {
        let few: Vec<Asked> = run(RANKS).into_iter().map(|one| Asked { k: 3, ..one }).collect();
        let [by_page, _] = retrieved(&Figures::of(&few), None);
        let all = by_page.lines().find(|line| line.starts_with("| all ")).unwrap();
        let cells: Vec<&str> = all.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
        // The gold page of the third question came seventh, which three hits could not have told.
        assert_eq!(cells, ["all", "3", "0.667", "-", "-", "0.714", "-"]);
    }

    #[test]
    fn a_method_that_ran_has_a_row_without_and_with_clusters() {
        const NAMES: &[Metric] = &[
            Metric::Accuracy(Way::Similarity),
            Metric::Accuracy(Way::LogprobUnclustered),
            Metric::Accuracy(Way::Logprob),
        ];
        let found = |value: f64| Some(Figure { value, interval: None, of: 4 });
        let line = Line { slice: None, questions: 5, figures: vec![found(0.25), found(0.5), found(0.75)] };
        let text = by_method(&Figures { names: NAMES, lines: vec![line] });
        let rows: Vec<Vec<&str>> = text
            .lines()
            .filter(|line| line.starts_with("| "))
            .skip(2)
            .map(|line| line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect())
            .collect();
        let expected = [["similarity", "4", "0.250", "-", "-", "-"], ["logprob", "4", "0.500", "-", "0.750", "-"]];
        assert_eq!(rows, expected);
    }

    #[test]
    fn columns_are_aligned_and_figures_stand_at_the_right() {
        let rows = [vec!["all".to_owned(), "300".to_owned()], vec!["German".to_owned(), "1".to_owned()]];
        let expected = "| slice  |   n |\n| ------ | --: |\n| all    | 300 |\n| German |   1 |\n";
        assert_eq!(aligned(&["slice".to_owned(), "n".to_owned()], &rows), expected);
    }
}
