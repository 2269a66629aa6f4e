//! Clusters near-identical sources, so that a source does not hide the contribution of its copy.
//!
//! Takes one embedding per source, gives a partition of their ranks: DBSCAN on cosine distance, noise as clusters of
//! one.
//! Invariant: the result does not depend on the order of the sources. Plain DBSCAN gives a border point to the first
//! cluster that reaches it; here it goes to its nearest core point, with ties to the better rank.
//! Not here: which sources are in the prompt (`counterfactual`).

use std::collections::BTreeMap;

use super::AttributionSettings;
use ragonite_inference::Embedding;

/// A source with the embedding of its evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceVector {
    /// Its source number in the prompt.
    pub rank: usize,
    /// The embedding of its contextualized text.
    pub embedding: Embedding,
}

/// The clusters as ascending ranks, the cluster with the best rank first. For a repeated rank the first source counts.
#[must_use]
pub fn cluster(sources: &[SourceVector], settings: &AttributionSettings) -> Vec<Vec<usize>> {
    let mut by_rank: BTreeMap<usize, &Embedding> = BTreeMap::new();
    for source in sources {
        by_rank.entry(source.rank).or_insert(&source.embedding);
    }
    let points: Vec<(usize, &Embedding)> = by_rank.into_iter().collect();
    let neighbours = Neighbours::of(&points, settings.eps);
    let mut clusters: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (label, (rank, _)) in neighbours.labels(settings.min_points).into_iter().zip(&points) {
        clusters.entry(label).or_default().push(*rank);
    }
    let mut clusters: Vec<Vec<usize>> = clusters.into_values().collect();
    clusters.sort_unstable();
    clusters
}

/// For every point, the points within `eps`, itself included, with their distances.
struct Neighbours(Vec<Vec<(usize, f64)>>);

impl Neighbours {
    fn of(points: &[(usize, &Embedding)], eps: f64) -> Self {
        let within_reach = |i: usize| {
            let distance = |j: usize| if i == j { 0.0 } else { 1.0 - points[i].1.cosine(points[j].1) };
            (0..points.len()).map(|j| (j, distance(j))).filter(|(_, d)| *d <= eps).collect()
        };
        Self((0..points.len()).map(within_reach).collect())
    }

    /// One label per point: the lowest index of its connected core points, its own index for noise.
    fn labels(&self, min_points: usize) -> Vec<usize> {
        let is_core: Vec<bool> = self.0.iter().map(|near| near.len() >= min_points).collect();
        let mut labels: Vec<Option<usize>> = vec![None; self.0.len()];
        for seed in 0..self.0.len() {
            if is_core[seed] && labels[seed].is_none() {
                self.spread(seed, &is_core, &mut labels);
            }
        }
        (0..self.0.len())
            .map(|point| {
                let nearest_core = self.0[point]
                    .iter()
                    .filter(|(other, _)| is_core[*other])
                    .min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)))
                    .and_then(|(core, _)| labels[*core]);
                labels[point].or(nearest_core).unwrap_or(point)
            })
            .collect()
    }

    /// Labels the core points that are connected to `seed` through core points.
    fn spread(&self, seed: usize, is_core: &[bool], labels: &mut [Option<usize>]) {
        let mut open = vec![seed];
        while let Some(core) = open.pop() {
            if labels[core].is_some() {
                continue;
            }
            labels[core] = Some(seed);
            open.extend(self.0[core].iter().map(|(other, _)| *other).filter(|other| is_core[*other]));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A unit vector in the plane; two of them differ by the cosine distance of their angles.
    fn at(rank: usize, degrees: f32) -> SourceVector {
        let (sin, cos) = degrees.to_radians().sin_cos();
        SourceVector { rank, embedding: Embedding::normalized(vec![cos, sin]) }
    }

    fn settings(min_points: usize) -> AttributionSettings {
        // 1 - cos(5 degrees) = 0.0038 and 1 - cos(6 degrees) = 0.0055: neighbours are up to 5.7 degrees apart.
        AttributionSettings { min_points, ..AttributionSettings::default() }
    }

    #[test]
    fn two_copies_are_one_cluster_and_noise_is_its_own() {
        let sources = [at(1, 0.0), at(2, 90.0), at(3, 0.5), at(4, 45.0)];
        assert_eq!(cluster(&sources, &settings(2)), [vec![1, 3], vec![2], vec![4]]);
        assert!(cluster(&[], &settings(2)).is_empty());
    }

    #[test]
    fn a_chain_of_neighbours_is_one_cluster() {
        let sources = [at(1, 0.0), at(2, 5.0), at(3, 10.0), at(4, 16.0)];
        assert_eq!(cluster(&sources, &settings(2)), [vec![1, 2, 3], vec![4]]);
    }

    #[test]
    fn a_border_point_goes_to_its_nearest_core() {
        // The cores are 3 and 5; 4 lies within reach of both and is nearer to 5.
        let degrees = [0.0, 1.0, 2.0, 7.5, 12.0, 14.0, 15.0];
        let sources: Vec<_> = degrees.into_iter().zip(1..).map(|(degrees, rank)| at(rank, degrees)).collect();
        assert_eq!(cluster(&sources, &settings(4)), [vec![1, 2, 3], vec![4, 5, 6, 7]]);
    }

    #[test]
    fn points_that_are_too_few_for_a_core_are_noise() {
        let sources = [at(1, 0.0), at(2, 1.0)];
        assert_eq!(cluster(&sources, &settings(3)), [vec![1], vec![2]]);
        assert_eq!(cluster(&sources, &settings(1)), [vec![1, 2]]);
    }

    fn some_sources() -> impl Strategy<Value = Vec<SourceVector>> {
        prop::collection::vec(0_u16..80, 0..14).prop_map(|degrees| {
            degrees.into_iter().enumerate().map(|(i, degrees)| at(i + 1, f32::from(degrees))).collect()
        })
    }

    proptest! {
        #[test]
        fn clusters_are_a_partition_of_the_ranks(sources in some_sources(), min_points in 1_usize..5) {
            let clusters = cluster(&sources, &settings(min_points));
            prop_assert!(clusters.iter().all(|ranks| !ranks.is_empty() && ranks.is_sorted()));
            let mut ranks = clusters.concat();
            ranks.sort_unstable();
            prop_assert_eq!(ranks, (1..=sources.len()).collect::<Vec<_>>());
        }

        #[test]
        fn the_order_of_the_sources_does_not_matter(
            (sources, shuffled) in some_sources().prop_flat_map(|s| (Just(s.clone()), Just(s).prop_shuffle())),
            min_points in 1_usize..5,
        ) {
            prop_assert_eq!(cluster(&sources, &settings(min_points)), cluster(&shuffled, &settings(min_points)));
        }

        #[test]
        fn a_lonely_source_is_in_no_cluster_of_several(sources in some_sources()) {
            let clusters = cluster(&sources, &settings(2));
            for ranks in clusters.iter().filter(|ranks| ranks.len() > 1) {
                for rank in ranks {
                    let own = &sources[rank - 1].embedding;
                    let near = ranks.iter().filter(|other| *other != rank);
                    prop_assert!(near.into_iter().any(|other| 1.0 - own.cosine(&sources[other - 1].embedding) <= 0.005));
                }
            }
        }
    }
}
