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
    /// `estimates` are the clusters of a preview; empty where there is none, then the better rank matters more.
    pub(super) fn of(input: &ExplainInput<'_>, order: Vec<Vec<usize>>, estimates: &[Cluster]) -> Self {
        if input.settings.group_test == GroupTest::Off || order.len() < ALONE + GROUP {
            return Self { alone: order, group: Vec::new() };
        }
        let cited = |hits: &[usize]| hits.iter().any(|hit| input.answer.citations.contains(hit));
        let estimate = |hits: &[usize]| estimates.iter().find(|cluster| cluster.hits == hits);
        let mut likely: Vec<&Vec<usize>> = order.iter().collect();
        likely.sort_by(|a, b| {
            let of = |hits: &[usize]| estimate(hits).map_or(0.0, |cluster| cluster.contribution);
            of(b).total_cmp(&of(a)).then_with(|| a.cmp(b))
        });
        let first: Vec<Vec<usize>> = likely.into_iter().take(ALONE).cloned().collect();
        let (alone, group): (Vec<_>, Vec<_>) = order.into_iter().partition(|hits| cited(hits) || first.contains(hits));
        if group.len() < GROUP {
            Self { alone: [alone, group].concat(), group: Vec::new() }
        } else {
            Self { alone, group }
        }
    }
}

/// The clusters of the sources in the prompt, the one that begins last in it first: each prompt then shares its
/// beginning with the one before it, and the generator reads only the rest.
pub(super) fn removal_order(input: &ExplainInput<'_>) -> Vec<Vec<usize>> {
    let in_prompt = input.answer.prompt.sources();
    let known: Vec<SourceVector> =
        input.sources.iter().filter(|source| in_prompt.contains(&source.rank)).cloned().collect();
    let mut clusters = cluster(&known, input.settings);
    let unknown = in_prompt.iter().filter(|rank| known.iter().all(|source| source.rank != **rank));
    clusters.extend(unknown.map(|rank| vec![*rank]));
    clusters.sort_by_key(|hits| Reverse(input.answer.prompt.places(hits).first().copied()));
    clusters
}
