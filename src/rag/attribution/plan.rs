//! In which order clusters are removed, and which of them together.
//!
//! Takes what is explained and the estimates, where there are any.
//! Invariants: each source in the prompt is in exactly one cluster, a source that was dropped from it in none; a cited
//! cluster is never removed with others.
//! Not here: removing (`counterfactual`).

use std::cmp::Reverse;

use super::{Cluster, ExplainInput, GroupTest, SourceVector, cluster};

/// Clusters that are removed one by one in any case: those that most probably matter.
const ALONE: usize = 3;

/// Clusters that a group needs to be worth a try.
const GROUP: usize = 2;

/// What is removed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// Clusters removed one by one, in this order.
    pub(super) alone: Vec<Vec<usize>>,
    /// Clusters removed together.
    pub(super) group: Vec<Vec<usize>>,
}

impl Plan {
    /// `order` is the [`removal_order`], or a part of it; `estimates` are the clusters of a preview, empty where there is
    /// none. Where there are some, those that matter most by them come first.
    pub(super) fn of(input: &ExplainInput<'_>, mut order: Vec<Vec<usize>>, estimates: &[Cluster]) -> Self {
        let estimate = |hits: &[usize]| {
            let estimated = estimates.iter().find(|cluster| cluster.hits == hits);
            estimated.map_or(0.0, |cluster| cluster.contribution)
        };
        order.sort_by(|a, b| estimate(b).total_cmp(&estimate(a)));
        if input.settings.group_test == GroupTest::Off || order.len() < ALONE + GROUP {
            return Self { alone: order, group: Vec::new() };
        }
        let first = order[..ALONE].to_vec();
        let alone = |hits: &Vec<usize>| is_cited(hits, input) || first.contains(hits);
        let (alone, group): (Vec<_>, Vec<_>) = order.iter().cloned().partition(alone);
        if group.len() < GROUP { Self { alone: order, group: Vec::new() } } else { Self { alone, group } }
    }
}

/// The clusters of the sources in the prompt, those first that most probably matter: what the answer cites, then by rank.
/// Whoever stops an explanation has seen these.
pub(super) fn removal_order(input: &ExplainInput<'_>) -> Vec<Vec<usize>> {
    let mut clusters = clusters(input);
    clusters.sort_by_key(|hits| (!is_cited(hits, input), hits.first().copied()));
    clusters
}

/// The same clusters, the one that begins last in the prompt first: without it most of the prompt's beginning stays as it
/// is, and of what comes then each shares its beginning with the one before.
pub(super) fn reading_order(input: &ExplainInput<'_>) -> Vec<Vec<usize>> {
    let mut clusters = clusters(input);
    clusters.sort_by_key(|hits| Reverse(input.answer.prompt.places(hits).first().copied()));
    clusters
}

fn clusters(input: &ExplainInput<'_>) -> Vec<Vec<usize>> {
    let in_prompt = input.answer.prompt.sources();
    let known: Vec<SourceVector> =
        input.sources.iter().filter(|source| in_prompt.contains(&source.rank)).cloned().collect();
    let mut clusters = cluster(&known, input.settings);
    let unknown = in_prompt.iter().filter(|rank| known.iter().all(|source| source.rank != **rank));
    clusters.extend(unknown.map(|rank| vec![*rank]));
    clusters
}

fn is_cited(hits: &[usize], input: &ExplainInput<'_>) -> bool {
    hits.iter().any(|hit| input.answer.citations.contains(hit))
}
