//! Compares runs over the same questions, and tests whether they differ by more than chance.
//!
//! Invariant: every run has the same questions in the same order; differences are to the default run.
//! Not here: the tests (`significance`).

use std::fmt::Write as _;

use super::aggregate::{Figures, Line, Measured};
use super::answers::ScoredAnswer;
use super::attribution_eval::{Explained, WAYS, Way};
use super::metric::{Metric, P_AT_1, PageMatch, PlantScore, Ranking, URL_P_AT_1};
use super::paper::{self, Papers};
use super::plant_eval::PlantedQuestion;
use super::significance::{Difference, Exchanged, Significance, Tested, Tests};
use super::slices::Slice;
use super::stats::{Interval, McNemar, PairedT, holm};
use super::table::{ABOUT_INTERVALS, about_paper, aligned, figure, named, optional};
use super::{Ablation, Asked};

/// A question with scores.
pub trait Scored: Measured + Sized {
    /// The metrics to test for this ablation.
    fn tested(setting: Ablation, default: &[Self]) -> Tested;

    /// Metrics that are shown by slice for all runs, with their titles.
    const SIDE_BY_SIDE: &'static [(Metric, &'static str)];

    /// Metrics shown beside the tested one.
    const BESIDE_TESTED: &'static [Metric];
}

/// A run of a choice.
#[derive(Debug, Clone)]
pub struct Run<T> {
    /// Name of the choice.
    pub name: String,
    /// The questions.
    pub asked: Vec<T>,
    /// Their figures.
    pub figures: Figures,
    /// Figures of the paper; none if it asks other questions.
    pub papers: Option<Papers>,
}

/// The runs of an ablation.
#[derive(Debug, Clone)]
pub struct Runs<T> {
    /// What is compared.
    pub ablation: Ablation,
    /// Index of the run that the others are compared with.
    pub default: usize,
    /// The runs.
    pub runs: Vec<Run<T>>,
}

/// Heading of tables with the paper's figures.
const ABOUT_PAPERS_FIGURES: &str = "paper: over all 600 questions, answered and judged by GPT-4o";

/// Note on McNemar's test.
const ABOUT_MCNEMAR: &str = "p: two-sided, runs exchanged in whole conversations (McNemar's exact test, were each of one \
                             question). Holm: p corrected for the number of choices in this table. p of a language: McNemar's \
                             test over its questions as if they were independent, not corrected; turns of a conversation \
                             are not.";

/// Note on two-sided tests of other figures.
const ABOUT_EXCHANGED: &str = "Over the questions of which both have the figure; higher: in how many of them it is. p: \
                               two-sided, runs exchanged in whole conversations. Holm: p corrected for the number of \
                               deciding figures and choices.";

/// Note on the t-test.
const ABOUT_PAIRED_T: &str = "p: one-tailed paired t-test, default above this, over the means of conversations; where all \
                              of them differ by the same, t is - and p comes from exchanging the runs. Holm: p corrected \
                              for the number of choices in this table.";

impl<T: Measured> Run<T> {
    /// Aggregates the questions of a run.
    #[must_use]
    pub fn new(name: &str, asked: Vec<T>, papers: Option<Papers>) -> Self {
        Self { name: name.to_owned(), figures: Figures::of(&asked), asked, papers }
    }
}

impl<T: Scored> Runs<T> {
    /// The differences of all runs to the default, in their order; empty for the default itself.
    #[must_use]
    pub fn significance(&self) -> Vec<Significance> {
        let asked = |place: usize| self.runs.get(place).map(|run| run.asked.as_slice()).unwrap_or_default();
        let default = asked(self.default);
        let tested = T::tested(self.ablation, default);
        let of = |place: usize| Significance::of(default, asked(place), tested);
        let mut all: Vec<Significance> = (0..self.runs.len()).map(of).collect();
        let mut others: Vec<&mut Significance> = Vec::new();
        for (place, significance) in all.iter_mut().enumerate() {
            if place != self.default {
                others.push(significance);
            }
        }
        correct(others.iter_mut().map(|one| &mut one.all), tested.deciding);
        correct(others.iter_mut().filter_map(|one| one.follow_ups.as_mut()), tested.deciding);
        all
    }

    /// The tested metrics.
    fn under_test(&self) -> Tested {
        T::tested(self.ablation, self.runs.get(self.default).map_or(&[][..], |run| &run.asked))
    }

    /// All tables, for people.
    #[must_use]
    pub fn text(&self) -> String {
        let significance = self.significance();
        let mut text = self.decided(&significance);
        for (name, title) in T::SIDE_BY_SIDE {
            let default = self.runs.get(self.default).filter(|_| paper::has(*name));
            let about = match (*name, default.and_then(|run| Some((run, run.papers?)))) {
                (_, None) => String::new(),
                (URL_P_AT_1, Some((run, papers))) => format!(". {}", about_paper(&run.figures, papers)),
                (_, Some((_, papers))) => format!(". {ABOUT_PAPERS_FIGURES}, {}", papers.said()),
            };
            let of = self.ablation.word();
            let _ = writeln!(text, "{title} by {of}; * is the default{about}\n\n{}", self.by_slice(*name));
        }
        let all = significance.iter().map(|one| Some(&one.all)).collect::<Vec<_>>();
        let follow_ups = significance.iter().map(|one| one.follow_ups.as_ref()).collect::<Vec<_>>();
        let tables = [(None, "all questions", all), (Some(Slice::FollowUps), "follow-ups", follow_ups)];
        let tables: Vec<String> = tables
            .into_iter()
            .filter(|(.., tests)| tests.iter().any(Option::is_some))
            .map(|(slice, of, tests)| self.tests_of(slice, of, &tests))
            .collect();
        text.push_str(&tables.join("\n"));
        text
    }

    /// The tested metrics of each choice beside the default's, over all questions and over follow-ups.
    fn decided(&self, significance: &[Significance]) -> String {
        let tested = self.under_test();
        let mut text = String::new();
        let default = self.runs.get(self.default).map_or("", |run| &run.name);
        for (run, significance) in self.runs.iter().zip(significance) {
            let slices = [("all questions", Some(&significance.all)), ("follow-ups", significance.follow_ups.as_ref())];
            for (of, tests) in slices {
                let Some(tests) = tests.filter(|tests| run.name != default && !tests.exchanged.is_empty()) else {
                    continue;
                };
                let names = tested.deciding.iter().map(|name| name.title()).collect::<Vec<_>>().join(" and ");
                let _ = writeln!(
                    text,
                    "{} {} against {default}, the default, of {of}. What decides: {names}. {ABOUT_EXCHANGED} \
                     {ABOUT_INTERVALS}\n\n{}",
                    self.ablation.word(),
                    run.name,
                    exchanged_table(default, &run.name, tested, tests)
                );
            }
        }
        text
    }

    /// The default against every other run over the questions of a slice.
    fn tests_of(&self, slice: Option<Slice>, of: &str, tests: &[Option<&Tests>]) -> String {
        let mut texts = Vec::new();
        let Tested { right, rated, .. } = self.under_test();
        if let Some(name) = right {
            let title = T::SIDE_BY_SIDE.iter().find(|(known, _)| *known == name).map_or("", |(_, title)| *title);
            texts.push(format!(
                "{title} of {of} against the default. {ABOUT_MCNEMAR} {ABOUT_INTERVALS}\n\n{}",
                self.mcnemar_table(slice, name, tests)
            ));
        }
        if let Some(name) = rated {
            texts.push(format!(
                "{} of {of} against the default. {ABOUT_PAIRED_T} {ABOUT_INTERVALS}\n\n{}",
                name.title(),
                self.paired_t_table(slice, name, tests)
            ));
        }
        texts.join("\n")
    }

    fn mcnemar_table(&self, slice: Option<Slice>, name: Metric, tests: &[Option<&Tests>]) -> String {
        let first = tests.iter().flatten().find(|tests| !tests.mcnemar_by_language.is_empty());
        let languages: Vec<&str> =
            first.map(|tests| tests.mcnemar_by_language.keys().copied().collect()).unwrap_or_default();
        let mut header = Self::header(name);
        header.extend(["only default right", "only this right", "p", "Holm"].map(str::to_owned));
        header.extend(languages.iter().map(|language| format!("p {language}")));
        let row = |place: usize, tests: &Tests| {
            let mut row = self.row(slice, name, place, tests.differences.get(&name.word()));
            let test = tests.mcnemar.filter(|_| place != self.default);
            row.extend(test.iter().flat_map(counts));
            let of = |language: &&str| tests.mcnemar_by_language.get(*language).map(|test| probability(test.p));
            let by_language = languages.iter().map(|language| of(language).unwrap_or_else(|| optional(None)));
            row.extend(by_language.filter(|_| test.is_some()));
            row
        };
        aligned(&header, &self.rows(tests, row))
    }

    fn paired_t_table(&self, slice: Option<Slice>, name: Metric, tests: &[Option<&Tests>]) -> String {
        let mut header = Self::header(name);
        header.extend(["conversations", "t", "p", "Holm"].map(str::to_owned));
        let row = |place: usize, tests: &Tests| {
            let mut row = self.row(slice, name, place, tests.differences.get(&name.word()));
            if place != self.default {
                row.extend(tests.paired_t.map_or_else(|| [None; 4].map(optional), t_test));
            }
            row
        };
        aligned(&header, &self.rows(tests, row))
    }

    /// The default first, then the others.
    fn rows(&self, tests: &[Option<&Tests>], row: impl Fn(usize, &Tests) -> Vec<String>) -> Vec<Vec<String>> {
        let others = (0..self.runs.len()).filter(|place| *place != self.default);
        let places = std::iter::once(self.default).chain(others);
        places.filter_map(|place| Some(row(place, tests.get(place).copied().flatten()?))).collect()
    }

    fn header(name: Metric) -> Vec<String> {
        let mut header = vec!["choice".to_owned(), "questions".to_owned()];
        header.extend(T::BESIDE_TESTED.iter().filter(|beside| **beside != name).map(|beside| beside.title()));
        header.extend([name.title(), "95 %".to_owned(), "difference".to_owned(), "95 %".to_owned()]);
        header
    }

    /// The figures of a run and its difference to the default.
    fn row(&self, slice: Option<Slice>, name: Metric, place: usize, difference: Option<&Difference>) -> Vec<String> {
        let Some(run) = self.runs.get(place) else { return Vec::new() };
        let is_default = place == self.default;
        let line = run.figures.lines.iter().find(|line| line.slice == slice);
        let mut row = vec![if is_default { format!("{} *", run.name) } else { run.name.clone() }];
        row.push(line.map_or(0, |line| line.questions).to_string());
        let value = |name: Metric| optional(run.figures.get(slice, name).map(|figure| figure.value));
        row.extend(T::BESIDE_TESTED.iter().filter(|beside| **beside != name).map(|beside| value(*beside)));
        row.extend([value(name), bounds(run.figures.get(slice, name).and_then(|figure| figure.interval))]);
        if !is_default {
            row.push(difference.map_or_else(|| optional(None), |difference| format!("{:+.3}", difference.value)));
            row.push(signed_bounds(difference.and_then(|difference| difference.interval)));
        }
        row
    }
}

impl<T> Runs<T> {
    /// A metric of every run by slice, with the paper's figures where it has any.
    fn by_slice(&self, name: Metric) -> String {
        let Some(first) = self.runs.first() else { return String::new() };
        let languages = first.figures.languages();
        let papers = |run: &Run<T>| {
            let has = |papers: &Papers, line: &Line| papers.figure(name, line.slice, &languages).is_some();
            run.papers.filter(|papers| paper::has(name) && run.figures.lines.iter().any(|line| has(papers, line)))
        };
        let mut header = vec!["slice".to_owned(), "questions".to_owned()];
        for (place, run) in self.runs.iter().enumerate() {
            header.push(if place == self.default { format!("{} *", run.name) } else { run.name.clone() });
            header.extend(papers(run).map(|_| "paper".to_owned()));
        }
        let rows = first.figures.lines.iter().map(|line| {
            let mut cells = vec![named(line.slice), line.questions.to_string()];
            for run in &self.runs {
                cells.push(optional(run.figures.get(line.slice, name).map(|figure| figure.value)));
                cells.extend(papers(run).map(|papers| optional(papers.figure(name, line.slice, &languages))));
            }
            cells
        });
        aligned(&header, &rows.collect::<Vec<_>>())
    }
}

/// The figures of two runs under the names of their choices.
fn exchanged_table(default: &str, this: &str, tested: Tested, tests: &Tests) -> String {
    let mut header = vec!["figure".to_owned(), "questions".to_owned(), format!("{default} *"), this.to_owned()];
    header.extend(["difference", "95 %"].map(str::to_owned));
    header.extend([format!("higher {default}"), format!("higher {this}"), "p".to_owned(), "Holm".to_owned()]);
    let row = |name: &Metric| {
        let found = tests.exchanged.get(&name.word())?;
        let counts = [found.higher_default, found.higher_this].map(|count| count.to_string());
        let decides = if tested.deciding.contains(name) { ", decides" } else { "" };
        let mut row = vec![format!("{}{decides}", name.title()), found.difference.questions.to_string()];
        row.extend([figure(found.default), figure(found.this), format!("{:+.3}", found.difference.value)]);
        row.push(signed_bounds(found.difference.interval));
        row.extend(counts);
        row.extend([probability(found.p), found.p_holm.map_or_else(|| optional(None), probability)]);
        Some(row)
    };
    aligned(&header, &tested.deciding.iter().chain(tested.beside).filter_map(row).collect::<Vec<_>>())
}

/// Corrects p values for the number of tests; for exchanged runs only those of the deciding metrics.
fn correct<'t>(tests: impl Iterator<Item = &'t mut Tests>, deciding: &[Metric]) {
    let (mut right, mut rated): (Vec<&mut McNemar>, Vec<&mut PairedT>) = (Vec::new(), Vec::new());
    let mut decide: Vec<&mut Exchanged> = Vec::new();
    for one in tests {
        right.extend(&mut one.mcnemar);
        rated.extend(&mut one.paired_t);
        let deciding = |(name, found): (&String, _)| deciding.iter().any(|one| one.word() == *name).then_some(found);
        decide.extend(one.exchanged.iter_mut().filter_map(deciding));
    }
    let corrected = holm(&decide.iter().map(|found| found.p).collect::<Vec<_>>());
    decide.into_iter().zip(corrected).for_each(|(found, p)| found.p_holm = Some(p));
    let corrected = holm(&right.iter().map(|test| test.p).collect::<Vec<_>>());
    right.into_iter().zip(corrected).for_each(|(test, p)| test.p_holm = Some(p));
    let corrected = holm(&rated.iter().map(|test| test.p).collect::<Vec<_>>());
    rated.into_iter().zip(corrected).for_each(|(test, p)| test.p_holm = Some(p));
}

fn counts(test: &McNemar) -> [String; 4] {
    let corrected = test.p_holm.map_or_else(|| optional(None), probability);
    [test.only_first.to_string(), test.only_second.to_string(), probability(test.p), corrected]
}

fn t_test(test: PairedT) -> [String; 4] {
    let corrected = test.p_holm.map_or_else(|| optional(None), probability);
    let t = test.t.map_or_else(|| optional(None), |t| format!("{t:.2}"));
    [test.pairs.to_string(), t, probability(test.p), corrected]
}

fn bounds(interval: Option<Interval>) -> String {
    interval.map_or_else(|| optional(None), |interval| format!("{}-{}", figure(interval.low), figure(interval.high)))
}

fn signed_bounds(interval: Option<Interval>) -> String {
    interval.map_or_else(|| optional(None), |interval| format!("{:+.3} to {:+.3}", interval.low, interval.high))
}

impl Scored for Asked {
    fn tested(_: Ablation, _: &[Self]) -> Tested {
        Tested { right: Some(P_AT_1), ..Tested::default() }
    }

    const SIDE_BY_SIDE: &'static [(Metric, &'static str)] = &[
        (P_AT_1, "P@1 by page number"),
        (Metric::Ranked(PageMatch::Page, Ranking::HitAt5), "hit@5 by page number"),
        (Metric::Ranked(PageMatch::Page, Ranking::HitAt10), "hit@10 by page number"),
        (Metric::Ranked(PageMatch::Page, Ranking::Mrr), "MRR by page number"),
        (Metric::Ranked(PageMatch::Content, Ranking::PAt1), "P@1 by content"),
        (URL_P_AT_1, "P@1 by URL string"),
    ];

    const BESIDE_TESTED: &'static [Metric] = &[
        Metric::Ranked(PageMatch::Page, Ranking::HitAt5),
        Metric::Ranked(PageMatch::Page, Ranking::HitAt10),
        Metric::Ranked(PageMatch::Page, Ranking::Mrr),
        Metric::Ranked(PageMatch::Content, Ranking::PAt1),
    ];
}

impl Scored for ScoredAnswer {
    /// Ratings are compared over the questions judged in both runs. Order and shared context change no search, so the
    /// answers are tested, and a small judge does not decide.
    fn tested(setting: Ablation, _: &[Self]) -> Tested {
        match setting {
            Ablation::Order | Ablation::Neighbours => Tested {
                deciding: &[Metric::GoldContained, Metric::TokenF1],
                beside: &[
                    Metric::AnswerRelevance,
                    Metric::OosRate,
                    Metric::CitedRate,
                    Metric::CitedUnaskedRate,
                    Metric::CitationValidity,
                    Metric::CitesGoldRate,
                ],
                ..Tested::default()
            },
            _ => Tested { right: Some(P_AT_1), rated: Some(Metric::AnswerRelevance), ..Tested::default() },
        }
    }

    const SIDE_BY_SIDE: &'static [(Metric, &'static str)] = &[
        (P_AT_1, "P@1 by page number"),
        (Metric::AnswerRelevance, "Answer relevance"),
        (Metric::TokenF1, "Token F1 with the gold answer"),
        (Metric::GoldContained, "Answers that contain the gold answer"),
        (Metric::OosRate, "Out-of-scope rate"),
    ];

    const BESIDE_TESTED: &'static [Metric] = &[];
}

impl Scored for Explained {
    /// The most exact variant that ran, over the questions explained in both runs.
    fn tested(_: Ablation, default: &[Self]) -> Tested {
        let mut accuracy = WAYS.into_iter().rev().map(Metric::Accuracy);
        let right = accuracy.find(|name| default.iter().any(|one| one.value(*name).is_some()));
        Tested { right, ..Tested::default() }
    }

    const SIDE_BY_SIDE: &'static [(Metric, &'static str)] = &[
        (Metric::Accuracy(Way::Similarity), "Attribution accuracy of similarity"),
        (Metric::Accuracy(Way::PreviewUnclustered), "Attribution accuracy of the preview without clusters"),
        (Metric::Accuracy(Way::Preview), "Attribution accuracy of the preview"),
        (Metric::Accuracy(Way::JsdUnclustered), "Attribution accuracy of divergence without clusters"),
        (Metric::Accuracy(Way::Jsd), "Attribution accuracy of divergence"),
        (Metric::Accuracy(Way::LogprobUnclustered), "Attribution accuracy of log-probability without clusters"),
        (Metric::Accuracy(Way::Logprob), "Attribution accuracy of log-probability"),
        (Metric::Accuracy(Way::CounterfactualUnclustered), "Attribution accuracy of counterfactuals without clusters"),
        (Metric::Accuracy(Way::Counterfactual), "Attribution accuracy of counterfactuals"),
        (Metric::GoldRetrievedRate, "Questions with a gold page among the sources"),
    ];

    const BESIDE_TESTED: &'static [Metric] = &[];
}

impl Scored for PlantedQuestion {
    /// The most exact variant that ran, over the answers with the planted fact in both runs.
    fn tested(_: Ablation, default: &[Self]) -> Tested {
        let mut top = WAYS.into_iter().rev().map(|way| Metric::Plant(PlantScore::Top, way));
        let right = top.find(|name| default.iter().any(|one| one.value(*name).is_some()));
        Tested { right, ..Tested::default() }
    }

    const SIDE_BY_SIDE: &'static [(Metric, &'static str)] = &[
        (Metric::Plant(PlantScore::Top, Way::Similarity), "Planted source first, by similarity"),
        (
            Metric::Plant(PlantScore::Top, Way::PreviewUnclustered),
            "Planted source first, by the preview without clusters",
        ),
        (Metric::Plant(PlantScore::Top, Way::Preview), "Planted source first, by the preview"),
        (Metric::Plant(PlantScore::Top, Way::JsdUnclustered), "Planted source first, by divergence without clusters"),
        (Metric::Plant(PlantScore::Top, Way::Jsd), "Planted source first, by divergence"),
        (
            Metric::Plant(PlantScore::Top, Way::LogprobUnclustered),
            "Planted source first, by log-probability without clusters",
        ),
        (Metric::Plant(PlantScore::Top, Way::Logprob), "Planted source first, by log-probability"),
        (
            Metric::Plant(PlantScore::Top, Way::CounterfactualUnclustered),
            "Planted source first, by counterfactuals without clusters",
        ),
        (Metric::Plant(PlantScore::Top, Way::Counterfactual), "Planted source first, by counterfactuals"),
        (Metric::PlantedRate, "Questions with a planted fact among the sources"),
        (Metric::PlantTakenRate, "Answers with the planted fact"),
    ];

    const BESIDE_TESTED: &'static [Metric] = &[];
}

fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

#[cfg(test)]
mod tests {
    use super::super::test_kit::{as_in_paper, asked, question};
    use super::super::{Comparison, Completion, Question, Variation};
    use super::*;
    use ragonite_base::Language;

    /// Two conversations of two turns in two languages, found at these ranks.
    fn run(name: &str, ranks: [Option<usize>; 8], papers: Option<Papers>) -> Run<Asked> {
        let one = |(page, at): (Option<usize>, usize)| {
            let question = Question {
                conversation: (at / 4).to_string(),
                language: if at % 2 == 0 { Language::English } else { Language::German },
                ..question(at / 2 % 2 + 1)
            };
            let mut one = asked(question, page);
            (one.outcome.url, one.spelled) = (page.filter(|_| at % 4 == 0), at % 4 == 0);
            one
        };
        Run::new(name, ranks.into_iter().zip(0..).map(one).collect(), papers)
    }

    /// Three runs, with what of the paper stands beside each.
    fn completions(comparison: Comparison) -> Runs<Asked> {
        let choices = [("none", Completion::None), ("model", Completion::Model), ("human", Completion::Human)];
        let (first, none) = (Some(1), None);
        let ranks = [
            [first, first, none, Some(2), first, none, none, none],
            [first, first, first, Some(2), first, first, Some(7), Some(3)],
            [first, first, first, first, first, first, first, Some(4)],
        ];
        let beside =
            |completion| Papers::beside(&Variation { completion, ..as_in_paper() }, Some(Ablation::Completion));
        let papers = |completion| (comparison == Comparison::Paper).then(|| beside(completion));
        let run = |((name, completion), ranks)| run(name, ranks, papers(completion));
        Runs { ablation: Ablation::Completion, default: 2, runs: choices.into_iter().zip(ranks).map(run).collect() }
    }

    #[test]
    fn runs_stand_side_by_side_with_the_paper_and_tests_of_all_and_of_follow_ups() {
        insta::assert_snapshot!(completions(Comparison::Paper).text());
        assert!(!completions(Comparison::Nothing).text().contains("paper"));
    }

    #[test]
    fn a_run_that_the_paper_has_nothing_of_has_no_column_of_it() {
        let history = Variation { completion: Completion::History, ..as_in_paper() };
        let nothing = Papers::beside(&history, Some(Ablation::Completion));
        let mut runs = completions(Comparison::Paper);
        let columns =
            |runs: &Runs<Asked>| runs.by_slice(URL_P_AT_1).lines().next().map(|line| line.matches("paper").count());
        // Nor has it questions that nobody completed.
        assert_eq!(columns(&runs), Some(2));
        runs.runs[1].papers = Some(nothing);
        assert_eq!(columns(&runs), Some(1));
    }

    #[test]
    fn differences_are_to_the_default_run_and_corrected_for_their_number() {
        let significance = completions(Comparison::Paper).significance();
        let [none, model, human] = significance.as_slice() else { panic!("{significance:?}") };
        let test = none.all.mcnemar.unwrap();
        // Two questions less in each conversation: two of four ways to exchange them are as far from 0.
        assert_eq!((test.only_first, test.only_second), (4, 0));
        assert!((test.p - 0.5).abs() < 1e-12 && test.p_holm == Some(1.0), "{test:?}");
        let test = model.follow_ups.as_ref().unwrap().mcnemar.unwrap();
        assert_eq!((test.only_first, test.only_second), (2, 0));
        assert!((test.p - 0.5).abs() < 1e-12 && test.p_holm == Some(1.0), "{test:?}");
        assert_eq!(human.all.mcnemar.unwrap().p_holm, None, "the default is not held against itself");
    }
}
