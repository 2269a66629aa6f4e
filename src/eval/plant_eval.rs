//! Evaluates attribution by planted sources: whether it names the source that an answer depends on.
//!
//! Takes a question and the facts of its benchmark. In one source the gold fact gives way to another one, and the
//! question is asked again. An answer with the planted fact has it from that source, because nothing else says it.
//! Gives what each variant of attribution says of that source, and the area under the precision-recall curve over all
//! pairs of an answer and a source.
//! Invariant: only answers with the planted fact are scored.
//! Not here: planting (`plant`), attribution itself (`attribution`), tables (`plant_table`).

use indexmap::IndexMap;
use serde::Serialize;

use super::aggregate::{Measured, by_conversation};
use super::attribution_eval::is_result;
use super::metric::{Metric, PlantScore, both};
use super::plant::{Ground, PlantedHits, plant};
use super::precision::{RankedPair, average_precision};
use super::retrieval::{Asking, Posed, search};
use super::score::{Outcome, Placed, share};
use super::stats::{Interval, bootstrap, mean};
use super::{
    Answered, Completion, ConversationRunner, EvalError, Explaining, FactPool, Plant, Question, Unplanted, WAYS, Way,
};
use ragonite_base::CancelToken;
use ragonite_rag::answer::citation::without_marks;
use ragonite_rag::answer::{Answer, AnswerEvent, RewriteHow};
use ragonite_rag::attribution::{Attribution, Cluster};
use ragonite_rag::retrieval::{Hit, Preference};

/// What is planted.
#[derive(Debug, Clone, Copy)]
pub struct Planting<'a> {
    /// The facts of the benchmark.
    pub pool: &'a FactPool,
    /// Decides which of them are planted.
    pub seed: u64,
}

/// A question that was asked of sources with a planted fact.
#[derive(Debug, Clone, PartialEq)]
pub struct PlantedQuestion {
    /// The question.
    pub question: Question,
    /// The question that was searched and answered.
    pub query: String,
    /// Origin of the completed question; none if it was not completed.
    pub how: Option<RewriteHow>,
    /// The translated question, if it was searched as well.
    pub translated: Option<String>,
    /// The plant with the answer.
    pub outcome: PlantOutcome,
    /// What each variant says of the sources; empty if the answer does not have the planted fact.
    pub weighed: Vec<Weighed>,
}

/// The plant of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum PlantOutcome {
    /// Nothing was planted.
    Unplanted(Unplanted),
    /// A fact was planted, and the question was asked.
    Planted(Box<PlantedAnswer>),
}

/// An answer from sources with a planted fact.
#[derive(Debug, Clone, PartialEq)]
pub struct PlantedAnswer {
    /// The planted fact.
    pub plant: Plant,
    /// The answer.
    pub answered: Answered,
    /// Whether the answer has the planted fact.
    pub is_taken: bool,
}

/// What a variant of attribution says of the sources of an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Weighed {
    /// The variant.
    pub way: Way,
    /// 1 if the planted source is in the cluster with the largest contribution, divided by the number of clusters with
    /// that contribution; 0 if no source changes the answer.
    pub top_1: f64,
    /// Whether some source is decisive.
    pub decisive: bool,
    /// The sources in the prompt, each with the contribution of its cluster.
    pub sources: Vec<WeighedSource>,
}

/// A source with its contribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WeighedSource {
    /// Its number in the prompt.
    pub rank: usize,
    /// The contribution of its cluster.
    pub contribution: f64,
    /// Whether it holds the planted fact.
    pub planted: bool,
}

/// The area under the precision-recall curve of a variant, over all pairs of an answer and a source.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PlantArea {
    /// Average precision, in 0..=1: the area under the precision-recall curve.
    pub value: f64,
    /// Bootstrap interval; none for a single conversation.
    pub interval: Option<Interval>,
    /// Number of answers.
    pub of: usize,
    /// Number of pairs.
    pub pairs: usize,
}

/// What became of the questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PlantCounts {
    /// No source is on a gold page.
    pub no_gold: usize,
    /// No source on a gold page holds a fact that can be replaced.
    pub no_fact: usize,
    /// No other fact fits, or no other source is left.
    pub no_other: usize,
    /// The answer does not have the planted fact.
    pub not_taken: usize,
    /// The answer has the planted fact and is scored.
    pub scored: usize,
}

/// The scores of a method that knows nothing and gives every source the same contribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PlantChance {
    /// Mean of 1 divided by the number of sources.
    pub top_1: f64,
    /// Share of the planted sources among all.
    pub area: f64,
}

/// How often a fact could be planted, and how often the answer took it.
pub const PLANTS: &[Metric] = &[Metric::PlantedRate, Metric::PlantTakenRate];

/// How often each variant names the planted source first.
pub const PLANT_TOP: &[Metric] = &of_ways(PlantScore::Top);

/// How often what a variant calls decisive is the planted source, and how often it is another one.
const DECISIVE: &[Metric] =
    &both::<{ WAYS.len() * 2 }>(&of_ways(PlantScore::DecisiveRight), &of_ways(PlantScore::DecisiveWrong));

/// All scores of the variants.
const SCORES: &[Metric] = &both::<{ WAYS.len() * 3 }>(PLANT_TOP, DECISIVE);

/// A score of every variant.
const fn of_ways(score: PlantScore) -> [Metric; WAYS.len()] {
    let mut all = [Metric::PlantedRate; WAYS.len()];
    let mut at = 0;
    while at < WAYS.len() {
        all[at] = Metric::Plant(score, WAYS[at]);
        at += 1;
    }
    all
}

impl PlantedQuestion {
    /// The answer with the planted fact; none if nothing was planted or the answer does not have it.
    #[must_use]
    pub fn taken(&self) -> Option<&PlantedAnswer> {
        self.planted().filter(|planted| planted.is_taken)
    }

    /// The answer, whatever it says; none if nothing was planted.
    #[must_use]
    pub fn planted(&self) -> Option<&PlantedAnswer> {
        match &self.outcome {
            PlantOutcome::Planted(planted) => Some(planted),
            PlantOutcome::Unplanted(_) => None,
        }
    }

    /// Why nothing was planted; none if a fact was.
    #[must_use]
    pub fn unplanted(&self) -> Option<Unplanted> {
        match &self.outcome {
            PlantOutcome::Planted(_) => None,
            PlantOutcome::Unplanted(why) => Some(*why),
        }
    }

    fn of(&self, way: Way) -> Option<&Weighed> {
        self.weighed.iter().find(|weighed| weighed.way == way)
    }
}

impl Measured for PlantedQuestion {
    const NAMES: &'static [Metric] = &both::<{ PLANTS.len() + SCORES.len() }>(PLANTS, SCORES);

    fn question(&self) -> &Question {
        &self.question
    }

    fn value(&self, name: Metric) -> Option<f64> {
        match name {
            Metric::PlantedRate => Some(share(self.planted().is_some())),
            Metric::PlantTakenRate => self.planted().map(|planted| share(planted.is_taken)),
            Metric::Plant(score, way) => self.of(way).map(|weighed| weighed.score(score)),
            _ => None,
        }
    }
}

/// Plants a fact in the sources of a question and asks it. Later turns know nothing of the plant.
///
/// # Errors
/// When the search or the model fails, or with [`EvalError::Canceled`].
pub fn ask_planted(
    asking: Asking<'_>,
    runner: &mut ConversationRunner<'_>,
    question: &Question,
    planting: Planting<'_>,
    cancel: &CancelToken,
    on_event: &mut dyn FnMut(AnswerEvent),
) -> Result<PlantedQuestion, EvalError> {
    cancel.check()?;
    let mut posed = search(asking, Some(&mut *runner), question, cancel)?;
    if asking.completion == Completion::Model {
        // Later turns are completed from what the model says of the documents as they are.
        runner.answer(asking, question, &posed, cancel, on_event)?;
    }
    // A document removed since the search has no page.
    posed.searched.retrieved.hits.retain(|hit| asking.pages.of_hit(hit).is_some());
    let gold = gold_sources(asking, question, &posed);
    let found = plant(&Ground {
        question,
        query: posed.query(),
        past: &posed.request.past,
        hits: &posed.searched.retrieved.hits,
        gold: &gold,
        pool: planting.pool,
        seed: planting.seed,
    });
    let outcome = match found {
        Err(why) => PlantOutcome::Unplanted(why),
        Ok(PlantedHits { plant, hits }) => {
            posed.searched.retrieved.hits = hits;
            let answer = runner.answer_aside(asking, question, &posed, cancel, on_event)?;
            let is_source = answer.prompt.sources().contains(&plant.rank);
            let is_taken = is_source && answer.answered && plant.is_in(&without_marks(&answer.text));
            let answered = answered(asking, question, &posed, answer);
            PlantOutcome::Planted(Box::new(PlantedAnswer { plant, answered, is_taken }))
        }
    };
    Ok(PlantedQuestion {
        question: question.clone(),
        query: posed.query().to_owned(),
        how: posed.how,
        translated: posed.translated().map(str::to_owned),
        outcome,
        weighed: Vec::new(),
    })
}

/// Ranks of the sources on gold pages or copies of them, without versions that the question is not about.
fn gold_sources(asking: Asking<'_>, question: &Question, posed: &Posed) -> Vec<usize> {
    let gold = asking.pages.gold_of(question);
    let is_gold = |hit: &Hit| {
        let page = asking.pages.of_hit(hit);
        page.is_some_and(|page| gold.iter().any(|gold| page.is_copy_of(gold)))
    };
    let is_wanted = |hit: &Hit| hit.version.is_none_or(|version| version.wanted == Preference::Yes);
    let sources = posed.searched.retrieved.for_prompt(posed.request.settings.sources);
    sources.iter().filter(|hit| is_wanted(hit) && is_gold(hit)).map(|hit| hit.rank).collect()
}

fn answered(asking: Asking<'_>, question: &Question, posed: &Posed, answer: Answer) -> Answered {
    let retrieved = &posed.searched.retrieved;
    let hits = retrieved.for_prompt(posed.request.settings.sources);
    let mut pages: Vec<Placed> = retrieved.hits.iter().filter_map(|hit| asking.pages.of_hit(hit)).collect();
    let gold = asking.pages.gold_of(question);
    let outcome = Outcome::of(&gold, &pages);
    pages.truncate(hits.len());
    Answered {
        question: question.clone(),
        query: posed.query().to_owned(),
        how: posed.how,
        translated: posed.translated().map(str::to_owned),
        hits,
        pages,
        gold,
        outcome,
        answer,
    }
}

/// Attributes an answer that has the planted fact with each variant. `on_cluster` gets the number of settled clusters
/// and of all.
///
/// # Errors
/// When a model fails, or with [`EvalError::Canceled`].
pub fn weigh_planted(
    planted: &PlantedAnswer,
    mut explaining: Explaining<'_>,
    cancel: &CancelToken,
    on_cluster: &mut dyn FnMut(Way, usize, usize),
) -> Result<Vec<Weighed>, EvalError> {
    let mut weighed = Vec::new();
    for way in explaining.ways {
        let mut on_progress = |done, total| on_cluster(*way, done, total);
        let attribution = explaining.attribution(*way, &planted.answered, cancel, &mut on_progress)?;
        weighed.push(Weighed::of(*way, &attribution, planted.plant.rank));
    }
    Ok(weighed)
}

impl Weighed {
    /// What an attribution says of the source `planted`.
    fn of(way: Way, attribution: &Attribution, planted: usize) -> Self {
        let clusters = &attribution.clusters;
        let largest = clusters.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
        let top: Vec<&Cluster> = clusters.iter().filter(|one| is_result(one) && value(one) >= largest).collect();
        let is_top = top.iter().any(|cluster| cluster.hits.contains(&planted));
        let of_cluster = |cluster: &Cluster| {
            let contribution = value(cluster);
            let source = |rank: &usize| WeighedSource { rank: *rank, contribution, planted: *rank == planted };
            cluster.hits.iter().map(source).collect::<Vec<_>>()
        };
        let mut sources: Vec<WeighedSource> = clusters.iter().flat_map(of_cluster).collect();
        sources.sort_by_key(|source| source.rank);
        let top_1 = if is_top { 1.0 / top.len() as f64 } else { 0.0 };
        Self { way, top_1, decisive: attribution.decisive, sources }
    }

    fn score(&self, score: PlantScore) -> f64 {
        match score {
            PlantScore::Top => self.top_1,
            PlantScore::DecisiveRight => share(self.decisive) * self.top_1,
            PlantScore::DecisiveWrong => share(self.decisive) * (1.0 - self.top_1),
        }
    }

    fn pairs(&self) -> Vec<RankedPair> {
        let pair = |source: &WeighedSource| RankedPair { value: source.contribution, is_right: source.planted };
        self.sources.iter().map(pair).collect()
    }
}

/// The contribution of a cluster; 0 for what is no number.
fn value(cluster: &Cluster) -> f64 {
    if cluster.contribution.is_finite() { cluster.contribution } else { 0.0 }
}

impl PlantArea {
    /// The area of a variant; none if it explained no answer.
    #[must_use]
    pub fn of(asked: &[PlantedQuestion], way: Way) -> Option<Self> {
        let explained = asked.iter().filter_map(|one| Some((&one.question, one.of(way)?.pairs())));
        let conversations: Vec<Vec<Vec<RankedPair>>> = by_conversation(explained);
        let of = conversations.iter().map(Vec::len).sum();
        let conversations: Vec<Vec<RankedPair>> = conversations.iter().map(|answers| answers.concat()).collect();
        let all = conversations.concat();
        let value = average_precision(&all)?;
        let interval = bootstrap(conversations.len(), &mut |drawn| {
            let pairs: Vec<RankedPair> = drawn.iter().flat_map(|place| conversations[*place].iter().copied()).collect();
            average_precision(&pairs).unwrap_or(0.0)
        });
        Some(Self { value, interval, of, pairs: all.len() })
    }

    /// The areas of all variants that explained an answer, by their names in JSON.
    #[must_use]
    pub fn of_all(asked: &[PlantedQuestion]) -> IndexMap<&'static str, Self> {
        WAYS.into_iter().filter_map(|way| Some((way.word(), Self::of(asked, way)?))).collect()
    }
}

impl PlantCounts {
    /// Counts what became of questions.
    #[must_use]
    pub fn of(asked: &[PlantedQuestion]) -> Self {
        let mut counts = Self::default();
        for one in asked {
            let count = match &one.outcome {
                PlantOutcome::Unplanted(Unplanted::NoGold) => &mut counts.no_gold,
                PlantOutcome::Unplanted(Unplanted::NoFact) => &mut counts.no_fact,
                PlantOutcome::Unplanted(Unplanted::NoOther) => &mut counts.no_other,
                PlantOutcome::Planted(planted) if planted.is_taken => &mut counts.scored,
                PlantOutcome::Planted(_) => &mut counts.not_taken,
            };
            *count += 1;
        }
        counts
    }
}

impl PlantChance {
    /// The scores of chance over the answers with the planted fact; none without one.
    #[must_use]
    pub fn of(asked: &[PlantedQuestion]) -> Option<Self> {
        let sources = |planted: &PlantedAnswer| planted.answered.answer.prompt.sources().len() as f64;
        let sources: Vec<f64> = asked.iter().filter_map(|one| one.taken().map(sources)).collect();
        let top_1 = mean(&sources.iter().map(|sources| 1.0 / sources).collect::<Vec<_>>())?;
        Some(Self { top_1, area: sources.len() as f64 / sources.iter().sum::<f64>() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::test_kit::question;
    use super::*;
    use ragonite_rag::attribution::{Method, Provenance};

    fn cluster(hits: &[usize], how: Provenance, contribution: f64) -> Cluster {
        Cluster {
            hits: hits.to_vec(),
            how,
            contribution,
            share: None,
            counterfactual_answer: None,
            counterfactuals: Vec::new(),
            drops: Vec::new(),
            drops_how: None,
            divergences: Vec::new(),
        }
    }

    /// What a variant says of the planted source, given the contribution of each source, from 1.
    fn weighed(contributions: &[f64], planted: usize) -> Weighed {
        let one = |(rank, contribution): (usize, &f64)| cluster(&[rank], Provenance::Regenerated, *contribution);
        let clusters = (1..).zip(contributions).map(one).collect();
        let attribution = Attribution { decisive: true, clusters, ..Attribution::new(Method::Counterfactual) };
        Weighed::of(Way::Counterfactual, &attribution, planted)
    }

    /// Questions of conversations of their own.
    fn asked(weighed: Vec<Weighed>) -> Vec<PlantedQuestion> {
        let one = |(at, weighed): (usize, Weighed)| PlantedQuestion {
            question: Question { conversation: at.to_string(), ..question(1) },
            query: String::new(),
            how: None,
            translated: None,
            outcome: PlantOutcome::Unplanted(Unplanted::NoFact),
            weighed: vec![weighed],
        };
        weighed.into_iter().enumerate().map(one).collect()
    }

    fn same(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn a_method_that_names_every_planted_source_has_all_of_the_area() {
        let asked = asked(
            (1..=4)
                .map(|planted| {
                    let of = |rank| if rank == planted { 0.6 } else { 0.1 };
                    weighed(&[of(1), of(2), of(3), of(4)], planted)
                })
                .collect(),
        );
        let area = PlantArea::of(&asked, Way::Counterfactual).unwrap();
        assert_eq!((area.of, area.pairs), (4, 16));
        assert!(same(area.value, 1.0) && area.interval.is_some_and(|found| same(found.low, 1.0)), "{area:?}");
        assert!(asked.iter().all(|one| one.value(Metric::Plant(PlantScore::Top, Way::Counterfactual)) == Some(1.0)));
        let wrong = Metric::Plant(PlantScore::DecisiveWrong, Way::Counterfactual);
        assert!(asked.iter().all(|one| one.value(wrong) == Some(0.0)));
        assert_eq!(PlantArea::of(&asked, Way::Jsd), None, "it explained nothing");
        assert_eq!(PlantArea::of_all(&asked).keys().copied().collect::<Vec<_>>(), ["counterfactual"]);
    }

    #[test]
    fn a_method_that_tells_nothing_scores_as_chance_does() {
        let asked = asked((1..=4).map(|planted| weighed(&[0.3; 4], planted)).collect());
        let area = PlantArea::of(&asked, Way::Counterfactual).unwrap();
        assert!(same(area.value, 0.25) && area.interval == Some(Interval { low: 0.25, high: 0.25 }), "{area:?}");
        assert!(asked.iter().all(|one| same(one.weighed[0].top_1, 0.25)), "one of four is drawn");
    }

    #[test]
    fn the_area_of_two_answers_is_that_of_a_hand_made_ranking() {
        // 0.9 planted, 0.8, 0.4 planted, 0.2, 0.1, 0.1: found at the places 1 and 3.
        let asked = asked(vec![weighed(&[0.9, 0.2, 0.1], 1), weighed(&[0.8, 0.4, 0.1], 2)]);
        let area = PlantArea::of(&asked, Way::Counterfactual).unwrap();
        assert!(same(area.value, f64::midpoint(1.0, 2.0 / 3.0)), "{area:?}");
        let top: Vec<f64> = asked.iter().map(|one| one.weighed[0].top_1).collect();
        assert!(same(top[0], 1.0) && same(top[1], 0.0));
    }

    #[test]
    fn equal_contributions_share_the_first_place_and_no_change_is_no_place() {
        assert!(same(weighed(&[0.4, 0.4, 0.1], 1).top_1, 0.5) && same(weighed(&[0.4, 0.4, 0.1], 3).top_1, 0.0));
        assert!(same(weighed(&[0.0, 0.0], 1).top_1, 0.0), "no source changes the answer");
        assert!(same(weighed(&[f64::NAN, 0.2], 2).top_1, 1.0), "what is no number is nothing");
        let undecided = Weighed { decisive: false, ..weighed(&[0.4, 0.1], 1) };
        let scores = |weighed: &Weighed, expected: [f64; 3]| {
            let all = [PlantScore::Top, PlantScore::DecisiveRight, PlantScore::DecisiveWrong];
            all.into_iter().zip(expected).all(|(score, expected)| same(weighed.score(score), expected))
        };
        assert!(scores(&undecided, [1.0, 0.0, 0.0]), "{undecided:?}");
        assert!(scores(&weighed(&[0.4, 0.1], 2), [0.0, 0.0, 1.0]));
    }

    #[test]
    fn sources_of_a_cluster_have_its_contribution_and_one_of_them_is_planted() {
        let clusters =
            vec![cluster(&[1, 3], Provenance::Regenerated, 0.5), cluster(&[2], Provenance::Regenerated, 0.2)];
        let attribution = Attribution { decisive: true, clusters, ..Attribution::new(Method::Counterfactual) };
        let weighed = Weighed::of(Way::Counterfactual, &attribution, 3);
        let found: Vec<_> = weighed.sources.iter().map(|one| (one.rank, one.contribution, one.planted)).collect();
        assert_eq!(found, [(1, 0.5, false), (2, 0.2, false), (3, 0.5, true)]);
        assert!(same(weighed.top_1, 1.0));
        let area = PlantArea::of(&asked(vec![weighed]), Way::Counterfactual).unwrap();
        assert!(same(area.value, 0.5) && area.interval.is_none(), "the other source of the cluster is no plant");
    }

    #[test]
    fn every_score_has_a_name_of_its_own() {
        let names: std::collections::HashSet<String> = PlantedQuestion::NAMES.iter().map(|name| name.word()).collect();
        assert_eq!(names.len(), 2 + 3 * WAYS.len());
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(64))]

        #[test]
        fn areas_and_scores_are_within_zero_and_one(
            answers in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0.0), 0.0..1.0_f64], 2..6), 1..6),
        ) {
            let asked = asked(answers.iter().map(|values| weighed(values, 1)).collect());
            let area = PlantArea::of(&asked, Way::Counterfactual).unwrap();
            prop_assert!((0.0..=1.0).contains(&area.value));
            let bounds = area.interval.map_or([0.0, 1.0], <[f64; 2]>::from);
            prop_assert!(bounds.iter().all(|bound| (0.0..=1.0).contains(bound)));
            for name in PlantedQuestion::NAMES {
                let values = asked.iter().filter_map(|one| one.value(*name));
                prop_assert!(values.into_iter().all(|value| (0.0..=1.0).contains(&value)));
            }
        }
    }
}
