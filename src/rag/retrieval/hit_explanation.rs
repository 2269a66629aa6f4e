//! Why a hit stands where it stands.
//!
//! Takes the lists that were fused, gives for each hit what every list added to its score.
//! Invariant: by ranks, the points of a hit add up to its score of the fusion of the searches; by scores, they do with
//! what its document adds where every list has it, since what a list scores beyond its end is not told, and no sum of
//! cosines counts less than 0.
//! Not here: the words (`index` knows what a word is), the screen (`tui`).

use serde::{Deserialize, Serialize};

use super::{RankedEvidence, Retriever, SubQuery, SubQueryRole};
use ragonite_base::EvidenceId;

/// What one list said about a hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScorePart {
    /// How it was searched.
    #[serde(rename = "leg")]
    pub retriever: Retriever,
    /// Which of the texts that were searched for, from 0; of several, their place in
    /// [`Retrieved::sub_queries`](super::Retrieved::legs).
    pub query: usize,
    /// Where that text comes from.
    #[serde(default)]
    pub role: SubQueryRole,
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
pub struct HitExplanation {
    /// One entry for each list of each text it was found in, the strongest first.
    #[serde(rename = "votes")]
    pub parts: Vec<ScorePart>,
    /// Place by the fusion of the searches alone, from 1: before reranking, and before copies and further evidences of
    /// one document went behind. Of a hit with copies, that of the best of them.
    pub fused_rank: usize,
    /// Its score there.
    pub fused_score: f64,
    /// What its document adds to that score, because answers before this question cite it.
    pub cited: f64,
    /// What its place comes from.
    pub place: PlaceReason,
    /// Words of the question that it has, in lower case; a compound or a misspelling where it has a part or a neighbour.
    pub matched: Vec<String>,
}

/// What the place of a hit comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlaceReason {
    /// Its score.
    #[default]
    Score,
    /// Most of the conversation rests on its document, which keeps a place that its score would not give it.
    Kept,
}

/// What a place in a list is worth.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scale {
    /// By its rank.
    Rank {
        /// k of the fusion.
        k: u32,
    },
    /// By its score.
    Score {
        /// What a score of 1 adds.
        unit: f64,
    },
}

/// What places in the lists of both searches are worth.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scales {
    pub(super) dense: Scale,
    pub(super) lexical: Scale,
}

/// What the lists of all texts said about an evidence, the strongest first.
pub(super) fn score_parts(legs: &[SubQuery], worths: Scales, evidence: EvidenceId) -> Vec<ScorePart> {
    let of = |(query, leg): (usize, &SubQuery), how: Retriever, list: &[RankedEvidence], worth: Scale| {
        let found = list.iter().find(|ranked| ranked.evidence == evidence)?;
        let points = leg.weight
            * match worth {
                Scale::Rank { k } => 1.0 / (f64::from(k) + found.rank as f64),
                Scale::Score { unit } => found.score * unit,
            };
        Some(ScorePart { retriever: how, query, role: leg.role, rank: found.rank, score: found.score, points })
    };
    let both = |(query, leg): (usize, &SubQuery)| {
        [
            of((query, leg), Retriever::Dense, &leg.dense, worths.dense),
            of((query, leg), Retriever::Lexical, &leg.lexical, worths.lexical),
        ]
    };
    let mut votes: Vec<ScorePart> = legs.iter().enumerate().flat_map(both).flatten().collect();
    votes.sort_by(|a, b| b.points.total_cmp(&a.points));
    votes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::{Dependence, WeightReason};

    fn leg(role: SubQueryRole, weight: f64, dense: &[(i64, f64)], lexical: &[(i64, f64)]) -> SubQuery {
        let ranked = |list: &[(i64, f64)]| {
            let ranked = |(rank, (id, score)): (usize, &(i64, f64))| RankedEvidence {
                evidence: EvidenceId(*id),
                rank,
                score: *score,
            };
            (1..).zip(list).map(ranked).collect()
        };
        let (dense, lexical) = (ranked(dense), ranked(lexical));
        let text = String::new();
        let (standing, why) = (Dependence::Complete, WeightReason::Only);
        SubQuery { role, text, standing, weight, why, dense, lexical, cited: Vec::new() }
    }

    #[test]
    fn every_list_of_every_text_says_what_it_gave() {
        let legs = [
            leg(SubQueryRole::Raw, 1.0, &[(1, 0.9), (2, 0.5)], &[(2, 8.0)]),
            leg(SubQueryRole::History, 0.5, &[], &[(3, 9.0), (2, 4.0)]),
        ];
        let by_rank = Scales { dense: Scale::Rank { k: 60 }, lexical: Scale::Rank { k: 60 } };
        let votes_of = |worths| score_parts(&legs, worths, EvidenceId(2));
        let places: Vec<_> =
            votes_of(by_rank).iter().map(|vote| (vote.role, vote.query, vote.retriever, vote.rank)).collect();
        assert_eq!(
            places,
            [
                (SubQueryRole::Raw, 0, Retriever::Lexical, 1),
                (SubQueryRole::Raw, 0, Retriever::Dense, 2),
                (SubQueryRole::History, 1, Retriever::Lexical, 2)
            ]
        );
        let points = |worths| votes_of(worths).iter().map(|vote| vote.points).sum::<f64>();
        assert!((points(by_rank) - (1.0 / 61.0 + 1.0 / 62.0 + 0.5 / 62.0)).abs() < 1e-12);
        let by_score = Scales { dense: Scale::Score { unit: 0.5 }, lexical: Scale::Score { unit: 0.05 } };
        assert!((points(by_score) - (0.25 + 0.4 + 0.1)).abs() < 1e-12);
        assert!(score_parts(&legs, by_rank, EvidenceId(9)).is_empty());
    }
}
