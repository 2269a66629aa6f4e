//! Why a hit stands where it stands.
//!
//! Takes the lists that were fused, gives for each hit what every list added to its score.
//! Invariant: the points of a hit add up to its score of the fusion of the searches.
//! Not here: the words (`index` knows what a word is), the screen (`tui`).

use serde::{Deserialize, Serialize};

use super::{Leg, RankedEvidence};
use crate::base::EvidenceId;

/// What one list said about a hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// How it was searched.
    pub leg: Leg,
    /// Which of the texts that were searched for, from 0.
    pub query: usize,
    /// Place in the list, from 1.
    pub rank: usize,
    /// Cosine or BM25.
    pub score: f64,
    /// What this added to the score of the fusion.
    pub points: f64,
}

/// Why a hit stands where it stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Why {
    /// One entry for each list it was found in, the strongest first. None for a follow-up: the scores of its legs are
    /// added up, and [`Retrieved::legs`](super::Retrieved::legs) tells their weights.
    pub votes: Vec<Vote>,
    /// Place by the fusion of the searches alone, from 1: before reranking, and before copies and further evidences of
    /// one document went behind.
    pub fused_rank: usize,
    /// Words of the question that it has, in lower case; a compound or a misspelling where it has a part or a neighbour.
    pub matched: Vec<String>,
}

/// A list that was fused.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ballot<'a> {
    pub(super) leg: Leg,
    pub(super) query: usize,
    pub(super) weight: f64,
    pub(super) list: &'a [RankedEvidence],
}

/// What the lists said about an evidence.
pub(super) fn votes(ballots: &[Ballot<'_>], evidence: EvidenceId, rrf_k: u32) -> Vec<Vote> {
    let of = |ballot: &Ballot<'_>| {
        let found = ballot.list.iter().find(|ranked| ranked.evidence == evidence)?;
        let points = ballot.weight / (f64::from(rrf_k) + found.rank as f64);
        Some(Vote { leg: ballot.leg, query: ballot.query, rank: found.rank, score: found.score, points })
    };
    let mut votes: Vec<Vote> = ballots.iter().filter(|ballot| ballot.weight > 0.0).filter_map(of).collect();
    votes.sort_by(|a, b| b.points.total_cmp(&a.points));
    votes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_points_of_a_hit_add_up_to_its_score() {
        let ranked = |evidence, rank| RankedEvidence { evidence: EvidenceId(evidence), rank, score: 0.5 };
        let (dense, lexical) = ([ranked(1, 1), ranked(2, 2)], [ranked(2, 1)]);
        let ballot = |leg, list, weight| Ballot { leg, query: 0, weight, list };
        let ballots = [ballot(Leg::Dense, &dense[..], 1.0), ballot(Leg::Lexical, &lexical[..], 2.0)];
        let votes = votes(&ballots, EvidenceId(2), 60);
        let places: Vec<_> = votes.iter().map(|vote| (vote.leg, vote.rank)).collect();
        assert_eq!(places, [(Leg::Lexical, 1), (Leg::Dense, 2)]);
        let points: f64 = votes.iter().map(|vote| vote.points).sum();
        assert!((points - (2.0 / 61.0 + 1.0 / 62.0)).abs() < 1e-12);
        assert!(super::votes(&ballots, EvidenceId(9), 60).is_empty());
    }
}
