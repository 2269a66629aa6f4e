//! Boosts documents that earlier answers of the conversation cite.
//!
//! A follow-up is nearly always about the document of the last answer, and its own words often do not say so ("And its
//! colour?"). A citation tells more than an earlier question, because the model read several sources and named the one
//! it used. So evidences of cited documents gain score, in proportion to the share of the conversation that cites them;
//! turns weigh as their questions do (`query_weights`). A document with most of the conversation also has a slot near
//! the top reserved, for questions whose words lead elsewhere ("Were the others repainted?").
//! Invariants: no document gains more than [`MOST`]; no score falls; at most one hit is moved, never to the first
//! place; without citations nothing changes.
//! Not here: which sources an answer cites (`answer`), searching the earlier questions (`search`).

use std::collections::{BTreeMap, HashMap};

use super::postprocess::ArrangedHit;
use super::query_weights::DECAY;
use super::{Fused, SubQuery, SubQueryRole};
use ragonite_base::{DocumentId, EvidenceId};
use ragonite_index::Filter;

/// Score gained by a document that the whole conversation cites; the best evidence by both retrievers has score 1.
const MOST: f64 = 0.1;

/// A document with a larger share of the conversation than this gets the reserved slot.
const MOSTLY: f64 = 0.5;

/// The reserved slot, from 1.
const KEPT_PLACE: usize = 5;

/// The share of the conversation that cites each document, in 0..=1.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CitedBoost(BTreeMap<DocumentId, f64>);

/// Weights of earlier questions on one topic, newest first.
fn decay_weights() -> impl Iterator<Item = f64> {
    std::iter::successors(Some(DECAY), |before| Some(before * DECAY))
}

impl CitedBoost {
    /// Takes the sub-queries of earlier questions. A turn counts for every document that its answer cites.
    pub(super) fn of(sub_queries: &[SubQuery]) -> Self {
        let earlier =
            sub_queries.iter().filter(|sub_query| sub_query.role == SubQueryRole::History).zip(decay_weights());
        let turns: Vec<(f64, f64, &[DocumentId])> = earlier
            .filter(|(sub_query, _)| !sub_query.cited.is_empty())
            .map(|(sub_query, unfaded)| (sub_query.weight.min(unfaded), unfaded, sub_query.cited.as_slice()))
            .collect();
        // Relative to the weights on one topic, and at least 1: a single turn is no whole conversation.
        let total = turns.iter().map(|(_, unfaded, _)| unfaded).sum::<f64>().max(1.0);
        let mut shares = BTreeMap::new();
        for (weight, _, cited) in turns {
            for document in cited {
                *shares.entry(*document).or_default() += weight / total;
            }
        }
        Self(shares)
    }

    /// `filter` narrowed to the cited documents; none if it excludes all of them.
    pub(super) fn filter(&self, mut filter: Filter) -> Option<Filter> {
        let allowed = std::mem::take(&mut filter.within.documents);
        let is_allowed = |document: &&DocumentId| allowed.is_empty() || allowed.contains(document);
        filter.within.documents = self.0.keys().filter(is_allowed).copied().collect();
        (!filter.within.documents.is_empty()).then_some(filter)
    }

    /// Boosts the evidences of cited documents, sorts the list again, and gives the gain of each evidence.
    pub(super) fn apply(
        &self,
        fused: &mut [Fused],
        document_of: impl Fn(&EvidenceId) -> Option<DocumentId>,
    ) -> HashMap<EvidenceId, f64> {
        let mut gained = HashMap::new();
        for one in fused.iter_mut() {
            let share = document_of(&one.evidence).and_then(|document| self.0.get(&document));
            if let Some(share) = share {
                one.score += MOST * share;
                gained.insert(one.evidence, MOST * share);
            }
        }
        if !gained.is_empty() {
            fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.evidence.cmp(&b.evidence)));
        }
        gained
    }

    /// Moves the best hit of a document with most of the conversation up to [`KEPT_PLACE`], if all its hits come later;
    /// near-duplicates count as hits. Gives the moved hit.
    pub(super) fn reserve_slot(
        &self,
        placed: &mut [ArrangedHit],
        document_of: impl Fn(&EvidenceId) -> Option<DocumentId>,
    ) -> Option<EvidenceId> {
        let mostly = |document: &DocumentId| self.0.get(document).is_some_and(|share| *share > MOSTLY);
        let is_mostly_cited = |hit: &ArrangedHit| {
            document_of(&hit.evidence).is_some_and(|document| mostly(&document))
                || hit.copies.iter().any(|copied| mostly(&copied.document))
        };
        let best = placed.iter().position(is_mostly_cited).filter(|at| *at >= KEPT_PLACE)?;
        placed[KEPT_PLACE - 1..=best].rotate_right(1);
        placed.get(KEPT_PLACE - 1).map(|hit| hit.evidence)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::retrieval::{Dependence, WeightReason};
    use ragonite_index::Within;

    #[test]
    fn a_search_among_some_documents_stays_among_them() {
        let boost = CitedBoost::of(&[sub_query(SubQueryRole::History, 1.0, &[1, 2])]);
        let among = |documents: &[i64]| {
            let documents = documents.iter().copied().map(DocumentId).collect();
            let filter = Filter { within: Within { documents, ..Within::default() }, ..Filter::default() };
            boost.filter(filter).map(|filter| filter.within.documents)
        };
        assert_eq!(among(&[]), Some(vec![DocumentId(1), DocumentId(2)]));
        assert_eq!(among(&[2, 3]), Some(vec![DocumentId(2)]));
        assert_eq!(among(&[3]), None);
    }

    fn sub_query(role: SubQueryRole, weight: f64, cited: &[i64]) -> SubQuery {
        let cited = cited.iter().copied().map(DocumentId).collect();
        let (standing, why, text) = (Dependence::Complete, WeightReason::SameTopic, String::new());
        SubQuery { role, text, standing, weight, why, dense: Vec::new(), lexical: Vec::new(), cited }
    }

    fn placed(evidence: i64) -> ArrangedHit {
        ArrangedHit { evidence: EvidenceId(evidence), score: 0.0, copies: Vec::new(), version: None }
    }

    fn order(placed: &[ArrangedHit]) -> Vec<i64> {
        placed.iter().map(|hit| hit.evidence.0).collect()
    }

    #[test]
    fn what_most_of_the_conversation_rests_on_keeps_the_fifth_place() {
        let document = |id: &EvidenceId| Some(DocumentId(id.0));
        let list: Vec<ArrangedHit> = (1..9).map(placed).collect();
        let after = |turns: &[SubQuery]| {
            let mut list = list.clone();
            let moved = CitedBoost::of(turns).reserve_slot(&mut list, document);
            (order(&list), moved.map(|id| id.0))
        };
        let unmoved = order(&list);
        assert_eq!(after(&[sub_query(SubQueryRole::History, 0.8, &[7])]), (vec![1, 2, 3, 4, 7, 5, 6, 8], Some(7)));
        assert_eq!(after(&[sub_query(SubQueryRole::History, 0.8, &[6, 7])]), (vec![1, 2, 3, 4, 6, 5, 7, 8], Some(6)));
        assert_eq!(
            after(&[sub_query(SubQueryRole::History, 0.8, &[3, 7])]),
            (unmoved.clone(), None),
            "one is there already"
        );
        assert_eq!(after(&[sub_query(SubQueryRole::History, 0.8, &[5])]), (unmoved.clone(), None), "it has that place");
        assert_eq!(after(&[sub_query(SubQueryRole::History, 0.8, &[99])]), (unmoved.clone(), None), "it is no hit");
        assert_eq!(
            after(&[sub_query(SubQueryRole::History, 0.4, &[7])]),
            (unmoved.clone(), None),
            "the topic was left"
        );
        let both = [sub_query(SubQueryRole::History, 0.8, &[1]), sub_query(SubQueryRole::History, 0.64, &[7])];
        assert_eq!(after(&both), (unmoved, None), "the lesser part rests on it");
    }

    fn share(boost: &CitedBoost, document: i64) -> f64 {
        boost.0.get(&DocumentId(document)).copied().unwrap_or_default()
    }

    #[test]
    fn the_last_answer_counts_most_and_for_each_of_its_documents() {
        let turns = [
            sub_query(SubQueryRole::Raw, 1.0, &[]),
            sub_query(SubQueryRole::History, 0.8, &[1, 2]),
            sub_query(SubQueryRole::History, 0.64, &[3]),
            sub_query(SubQueryRole::History, 0.5, &[]),
        ];
        let boost = CitedBoost::of(&turns);
        assert!((share(&boost, 1) - 0.8 / 1.44).abs() < 1e-12 && (share(&boost, 3) - 0.64 / 1.44).abs() < 1e-12);
        assert!((share(&CitedBoost::of(&turns[..2]), 2) - 0.8).abs() < 1e-12, "one turn is no more than it counts");
        assert_eq!(CitedBoost::of(&turns[3..]), CitedBoost::default());
        let left = [sub_query(SubQueryRole::History, 0.24, &[1]), sub_query(SubQueryRole::History, 0.192, &[1])];
        assert!(
            (share(&CitedBoost::of(&left), 1) - 0.3).abs() < 1e-12,
            "many turns on a topic that was left stay behind"
        );
        assert!(CitedBoost::default().filter(Filter::default()).is_none());
    }

    proptest! {
        #[test]
        fn nothing_is_lowered_and_nothing_gains_more_than_the_most(
            turns in proptest::collection::vec((0.01..1.5, proptest::collection::vec(0_i64..4, 0..3)), 0..9),
            scores in proptest::collection::vec(0.0..1.0, 0..12),
        ) {
            let sub_queries: Vec<_> = turns.iter().map(|(weight, cited)| {
                let mut cited = cited.clone();
                cited.sort_unstable();
                cited.dedup();
                sub_query(SubQueryRole::History, *weight, &cited)
            }).collect();
            let boost = CitedBoost::of(&sub_queries);
            prop_assert!(boost.0.values().all(|share| *share <= 1.0 + 1e-9));
            let fused = |(id, score): (i64, &f64)| Fused { evidence: EvidenceId(id), score: *score };
            let before: Vec<Fused> = (0..).zip(&scores).map(fused).collect();
            let mut raised = before.clone();
            let gained = boost.apply(&mut raised, |id| Some(DocumentId(id.0 % 5)));
            prop_assert_eq!(raised.len(), before.len());
            for one in &before {
                let after = raised.iter().find(|raised| raised.evidence == one.evidence).unwrap();
                let gain = gained.get(&one.evidence).copied().unwrap_or_default();
                prop_assert!((0.0..=MOST + 1e-9).contains(&gain) && (after.score - one.score - gain).abs() < 1e-12);
            }
            prop_assert!(gained.is_empty() || raised.windows(2).all(|pair| pair[0].score >= pair[1].score));
        }
    }
}
