//! Runs over the same questions side by side, and whether they differ by more than chance.
//!
//! Invariant: every run has the same questions in the same order; differences are to the default run.

use std::fmt::Write as _;

use serde::Serialize;

use super::answers::{ScoredAnswer, answer_figures};
use super::attributed::{Explained, WAYS, Way, attribution_figures};
use super::figures::Figures;
use super::report::Slice;
use super::retrieval::retrieval_figures;
use super::stats::{Distribution, McNemar, PairedT, mcnemar, paired_t};
use super::table::{ABOUT_PAPER, aligned, figure, named, optional};
use super::{Ablation, Asked, Comparison, paper};

/// What was scored of one question.
pub trait Scored: Sized {
    /// The figures of some questions.
    fn figures(scored: &[Self]) -> Figures;

    /// How a run differs from another over the same questions, which comes first.
    fn significance(default: &[Self], other: &[Self]) -> Significance;

    /// Runs side by side, every table, for people.
    fn side_by_side(runs: &Runs<Self>) -> String;
}

/// A run with the choice it stands for.
#[derive(Debug, Clone)]
pub struct Run<T> {
    /// The choice.
    pub name: String,
    /// What was asked.
    pub asked: Vec<T>,
    /// The figures of it.
    pub figures: Figures,
}

/// Runs that are compared.
#[derive(Debug, Clone)]
pub struct Runs<T> {
    /// What is compared.
    pub ablation: Ablation,
    /// The run the others are held against.
    pub default: usize,
    /// All of them.
    pub runs: Vec<Run<T>>,
    /// Whose figures stand beside them.
    pub comparison: Comparison,
}

/// How the default run differs from another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Significance {
    /// Whether a question came out right, the default run first, this run second: the first hit is on a gold page, by
    /// number; of attribution, the method points at a gold page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcnemar: Option<McNemar>,
    /// Ratings of the judge: whether the default run's are higher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paired_t: Option<PairedT>,
}

/// Said above tables with the paper's answer relevance.
const ABOUT_PAPERS_RELEVANCE: &str = "paper: over all 600 questions, completed, answered and judged by GPT-4o.";

/// Which of the paper's two figures stands beside ours.
#[derive(Debug, Clone, Copy)]
enum OfPaper {
    PAt1,
    Relevance,
}

impl<T: Scored> Run<T> {
    /// Puts together what was asked.
    #[must_use]
    pub fn new(name: &str, asked: Vec<T>) -> Self {
        Self { name: name.to_owned(), figures: T::figures(&asked), asked }
    }
}

impl<T: Scored> Runs<T> {
    /// How the default run differs from the one at `place`.
    #[must_use]
    pub fn significance(&self, place: usize) -> Significance {
        let asked = |place: usize| self.runs.get(place).map(|run| run.asked.as_slice()).unwrap_or_default();
        T::significance(asked(self.default), asked(place))
    }

    /// Every table, for people.
    #[must_use]
    pub fn text(&self) -> String {
        T::side_by_side(self)
    }
}

impl<T> Runs<T> {
    fn slices(&self) -> Vec<Option<Slice>> {
        self.runs.first().map(|run| run.figures.lines.iter().map(|line| line.slice).collect()).unwrap_or_default()
    }

    /// A figure of every run, by slice.
    fn by_slice(&self, name: &str, paper: Option<OfPaper>) -> String {
        let paper = paper.filter(|_| self.comparison == Comparison::Paper);
        let mut header = vec!["slice".to_owned(), "questions".to_owned()];
        for (place, run) in self.runs.iter().enumerate() {
            header.push(if place == self.default { format!("{} *", run.name) } else { run.name.clone() });
            header.extend(paper.map(|_| "paper".to_owned()));
        }
        let row = |slice: Option<Slice>| {
            let first = self.runs.first().and_then(|run| run.figures.lines.iter().find(|line| line.slice == slice));
            let mut cells = vec![named(slice), first.map_or(0, |line| line.questions).to_string()];
            for run in &self.runs {
                cells.push(optional(run.figures.get(slice, name).map(|figure| figure.value)));
                if let Some(paper) = paper {
                    let (p_at_1, relevance) = paper::of_choice(self.ablation, &run.name, slice);
                    cells.push(optional(match paper {
                        OfPaper::PAt1 => p_at_1,
                        OfPaper::Relevance => relevance,
                    }));
                }
            }
            cells
        };
        let rows: Vec<Vec<String>> = self.slices().into_iter().map(row).collect();
        aligned(&header.iter().map(String::as_str).collect::<Vec<_>>(), &rows)
    }

    fn one_by_one(&self, measures: &[(&str, &str, Option<OfPaper>)]) -> String {
        let mut text = String::new();
        for (name, title, paper) in measures {
            let of = self.ablation.word();
            let beside = paper.is_some() && self.comparison == Comparison::Paper;
            let about = match paper {
                Some(OfPaper::PAt1) if beside => format!(". {ABOUT_PAPER}"),
                Some(OfPaper::Relevance) if beside => format!(". {ABOUT_PAPERS_RELEVANCE}"),
                _ => String::new(),
            };
            let _ = writeln!(text, "{title} by {of}; * is the default{about}\n\n{}", self.by_slice(name, *paper));
        }
        text
    }

    /// Mean of all questions, with its interval.
    fn with_interval(&self, place: usize, name: &str) -> [String; 2] {
        match self.runs.get(place).and_then(|run| run.figures.get(None, name)) {
            Some(found) => [figure(found.value), format!("{:.3}-{:.3}", found.interval.low, found.interval.high)],
            None => [optional(None), optional(None)],
        }
    }

    fn others(&self) -> impl Iterator<Item = (usize, &Run<T>)> {
        self.runs.iter().enumerate().filter(|(place, _)| *place != self.default)
    }
}

impl<T: Scored> Runs<T> {
    /// The default against each other run by McNemar's test, over the figure of this name.
    fn mcnemar_table(&self, name: &str, title: &str) -> String {
        let header = ["choice", title, "95 %", "difference", "only default right", "only this right", "p", "by"];
        let default = self.runs.get(self.default).map_or("", |run| run.name.as_str());
        let mut rows = vec![[vec![format!("{default} *")], self.with_interval(self.default, name).to_vec()].concat()];
        for (place, run) in self.others() {
            let Some(test) = self.significance(place).mcnemar else { continue };
            let means = run
                .figures
                .get(None, name)
                .zip(self.runs.get(self.default).and_then(|run| run.figures.get(None, name)));
            let difference =
                means.map_or_else(|| optional(None), |(this, default)| format!("{:+.3}", this.value - default.value));
            let mut row = vec![run.name.clone()];
            row.extend(self.with_interval(place, name));
            row.extend([difference, test.only_first.to_string(), test.only_second.to_string()]);
            row.extend([probability(test.p), distribution(test.distribution).to_owned()]);
            rows.push(row);
        }
        aligned(&header, &rows)
    }
}

impl Scored for Asked {
    fn figures(scored: &[Self]) -> Figures {
        retrieval_figures(scored)
    }

    fn significance(default: &[Self], other: &[Self]) -> Significance {
        let right = |one: &Self| one.outcome.page == Some(1);
        let found = default.iter().map(right).zip(other.iter().map(right));
        Significance { mcnemar: Some(mcnemar(found)), paired_t: None }
    }

    fn side_by_side(runs: &Runs<Self>) -> String {
        let mut text = runs.one_by_one(&[
            ("page.p_at_1", "P@1 by page number,", None),
            ("page.hit_at_5", "hit@5 by page number,", None),
            ("page.hit_at_10", "hit@10 by page number,", None),
            ("page.mrr", "MRR by page number,", None),
            ("url.p_at_1", "P@1 by URL string,", Some(OfPaper::PAt1)),
        ]);
        let _ = write!(
            text,
            "P@1 by page number against the default: McNemar's test, two-sided; intervals by bootstrap\n\n{}",
            runs.mcnemar_table("page.p_at_1", "P@1")
        );
        text
    }
}

impl Scored for ScoredAnswer {
    fn figures(scored: &[Self]) -> Figures {
        answer_figures(scored)
    }

    /// Ratings are compared over the questions that were judged in both.
    fn significance(default: &[Self], other: &[Self]) -> Significance {
        let rated = default.iter().zip(other).filter_map(|(a, b)| Some((a.rating()?, b.rating()?)));
        let rated: Vec<(f64, f64)> = rated.collect();
        let first = |one: &Self| one.answered.outcome.page == Some(1);
        let found = default.iter().map(first).zip(other.iter().map(first));
        Significance { mcnemar: Some(mcnemar(found)), paired_t: paired_t(&rated) }
    }

    fn side_by_side(runs: &Runs<Self>) -> String {
        let mut text = runs.one_by_one(&[
            ("answer_relevance", "Answer relevance", Some(OfPaper::Relevance)),
            ("token_f1", "Token F1 with the gold answer", None),
            ("gold_contained", "Answers that contain the gold answer,", None),
            ("oos_rate", "Out-of-scope rate", None),
        ]);
        let header = ["choice", "relevance", "95 %", "default minus this", "pairs", "t", "p"];
        let default = runs.runs.get(runs.default).map_or("", |run| run.name.as_str());
        let relevance = |place| runs.with_interval(place, "answer_relevance").to_vec();
        let mut rows = vec![[vec![format!("{default} *")], relevance(runs.default)].concat()];
        for (place, run) in runs.others() {
            let mut row = [vec![run.name.clone()], relevance(place)].concat();
            match runs.significance(place).paired_t {
                Some(test) => row.extend([
                    format!("{:+.3}", test.difference),
                    test.pairs.to_string(),
                    format!("{:.2}", test.t),
                    probability(test.p),
                ]),
                None => row.extend(std::iter::repeat_n(optional(None), 4)),
            }
            rows.push(row);
        }
        let _ = write!(
            text,
            "Answer relevance against the default: one-tailed paired t-test, default above this; intervals by bootstrap\n\n{}",
            aligned(&header, &rows)
        );
        text
    }
}

/// The most exact way that was tried.
fn compared(explained: &[Explained]) -> Option<Way> {
    WAYS.into_iter().rev().find(|way| explained.iter().any(|one| one.right(*way).is_some()))
}

impl Scored for Explained {
    fn figures(scored: &[Self]) -> Figures {
        attribution_figures(scored)
    }

    /// The most exact way that was tried is compared, over the questions that it explained in both.
    fn significance(default: &[Self], other: &[Self]) -> Significance {
        let way = compared(default);
        let right = |one: &Self| Some(one.right(way?)? > 0.0);
        let both = default.iter().zip(other).filter_map(|(a, b)| right(a).zip(right(b)));
        Significance { mcnemar: Some(mcnemar(both)), paired_t: None }
    }

    fn side_by_side(runs: &Runs<Self>) -> String {
        let mut text = runs.one_by_one(&[
            ("attribution_accuracy.similarity", "Attribution accuracy of similarity", None),
            ("attribution_accuracy.preview_unclustered", "Of the preview without clusters,", None),
            ("attribution_accuracy.preview", "Of the preview,", None),
            ("attribution_accuracy.jsd_unclustered", "Of divergence without clusters,", None),
            ("attribution_accuracy.jsd", "Of divergence,", None),
            ("attribution_accuracy.logprob_unclustered", "Of log-probability without clusters,", None),
            ("attribution_accuracy.logprob", "Of log-probability,", None),
            ("attribution_accuracy.counterfactual_unclustered", "Of counterfactuals without clusters,", None),
            ("attribution_accuracy.counterfactual", "Of counterfactuals with clusters,", None),
            ("gold_retrieved_rate", "Questions with a gold page among the sources,", None),
        ]);
        let default = runs.runs.get(runs.default).map_or(&[][..], |run| &run.asked);
        let Some(way) = compared(default) else { return text };
        let (way, measure) = (way.says(), way.accuracy());
        let _ = write!(
            text,
            "Attribution accuracy of {way} against the default, over the questions explained in both: McNemar's test, \
             two-sided; intervals by bootstrap\n\n{}",
            runs.mcnemar_table(measure, "accuracy")
        );
        text
    }
}

fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

fn distribution(distribution: Distribution) -> &'static str {
    match distribution {
        Distribution::Exact => "exact",
        Distribution::ChiSquared => "chi-squared",
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_kit::question;
    use super::super::{Outcome, Page, Question, retrieval_figures};
    use super::*;
    use crate::base::Language;

    /// Four questions, found at these ranks.
    fn run(name: &str, ranks: [Option<usize>; 4]) -> Run<Asked> {
        let asked = ranks.into_iter().zip(1..).map(|(page, turn)| Asked {
            question: Question {
                language: if turn > 2 { Language::German } else { Language::English },
                ..question(turn * 2)
            },
            query: String::new(),
            how: None,
            translated: None,
            gold: vec![Page { number: "1".into(), url: "/pages/1".into(), content: "text".into() }],
            hits: Vec::new(),
            outcome: Outcome { page, content: page, url: page.filter(|_| turn == 1), gold_in_ten: 2 },
        });
        let asked: Vec<Asked> = asked.collect();
        Run { name: name.to_owned(), figures: retrieval_figures(&asked), asked }
    }

    fn runs(comparison: Comparison) -> Runs<Asked> {
        let lexical = run("lexical", [Some(1), None, Some(3), None]);
        let dense = run("dense", [Some(2), Some(1), None, Some(11)]);
        let hybrid = run("hybrid", [Some(1), Some(1), Some(1), Some(4)]);
        Runs { ablation: Ablation::Mode, default: 2, runs: vec![lexical, dense, hybrid], comparison }
    }

    #[test]
    fn runs_stand_side_by_side_with_the_paper_and_a_test() {
        insta::assert_snapshot!(runs(Comparison::Paper).text());
        assert!(!runs(Comparison::Nothing).text().contains("paper"));
    }

    #[test]
    fn a_difference_is_to_the_default_run() {
        let test = runs(Comparison::Paper).significance(0).mcnemar.unwrap();
        assert_eq!((test.only_first, test.only_second, test.distribution), (2, 0, Distribution::Exact));
        assert!((test.p - 0.5).abs() < 1e-12);
        let same = runs(Comparison::Paper).significance(2).mcnemar.unwrap();
        assert!((same.p - 1.0).abs() < 1e-12);
    }
}
