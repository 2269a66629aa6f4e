//! The order in which clusters are left out, and the clusters of the group test.
//!
//! Takes the input of an explanation and the estimates, if any.
//! Invariants: each source in the prompt is in exactly one cluster, other sources in none; a cited cluster is never in
//! the group.
//! Not here: leaving out (`counterfactual`).

use std::cmp::Reverse;

use super::{Cluster, ExplainInput, GroupTest, SourceVector, cluster};

/// The likeliest clusters, which are always left out one by one.
const ALONE: usize = 3;

/// Fewest clusters of a group.
const GROUP: usize = 2;

/// The clusters to leave out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// Clusters left out one by one, in this order.
    pub(super) alone: Vec<Vec<usize>>,
    /// Clusters left out together.
    pub(super) group: Vec<Vec<usize>>,
}

impl Plan {
    /// `order` is the [`removal_order`] or a part of it. `estimates` may be empty; otherwise the largest estimates come
    /// first.
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

/// The clusters of the sources in the prompt, the likeliest first: cited ones, then by rank. A stopped explanation has
/// the likeliest.
pub(super) fn removal_order(input: &ExplainInput<'_>) -> Vec<Vec<usize>> {
    let mut clusters = clusters(input);
    clusters.sort_by_key(|hits| (!is_cited(hits, input), hits.first().copied()));
    clusters
}

/// The clusters, the one that begins last in the prompt first: each prompt then shares the longest prefix with the one
/// before.
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
