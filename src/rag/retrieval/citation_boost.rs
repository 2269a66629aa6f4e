//! What a conversation rests on: the documents that its answers cite.
//!
//! A follow-up asks nearly always about the document the last answer came from, and its own words often do not say so
//! ("And its colour?"). The questions before it are searched along, but an answer knows better: the model read several
//! sources and named the one it used. So an evidence of a document that answers cite is raised, by as much of the
//! conversation as rests on that document. An earlier turn counts as its question does (`query_weights`): less with every
//! question since, and much less once the conversation went elsewhere. A document that most of it rests on also keeps
//! a place near the top: a question whose words lead elsewhere ("Were the others repainted?") is then still answered with a
//! source in sight that the conversation is about.
//! Invariants: no document gains more than [`MOST`]; no score is lowered; one hit at most is moved, never to the first
//! place; without citations nothing changes.
//! Not here: which sources an answer cites (`answer`), the search for the questions themselves (`search`).

use std::collections::{BTreeMap, HashMap};

use super::postprocess::ArrangedHit;
use super::query_weights::DECAY;
use super::{Fused, SubQuery, SubQueryRole};
use ragonite_base::{DocumentId, EvidenceId};
use ragonite_index::Filter;

/// What the document gains that the whole conversation rests on, where the best evidence by both searches has 1.
const MOST: f64 = 0.1;

/// How much of a conversation must rest on a document, more than this, that it keeps a place.
const MOSTLY: f64 = 0.5;

/// The last place it is given.
const KEPT_PLACE: usize = 5;

/// How much of a conversation rests on each document, in 0..=1.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CitedBoost(BTreeMap<DocumentId, f64>);

/// What earlier questions count on one topic, newest first.
fn decay_weights() -> impl Iterator<Item = f64> {
    std::iter::successors(Some(DECAY), |before| Some(before * DECAY))
}

impl CitedBoost {
    /// Reads it from the legs of earlier questions. A turn counts for every document that its answer cites.
    pub(super) fn of(legs: &[SubQuery]) -> Self {
        let earlier = legs.iter().filter(|leg| leg.role == SubQueryRole::History).zip(decay_weights());
        let turns: Vec<(f64, f64, &[DocumentId])> = earlier
            .filter(|(leg, _)| !leg.cited.is_empty())
            .map(|(leg, unfaded)| (leg.weight.min(unfaded), unfaded, leg.cited.as_slice()))
            .collect();
        // Of what these turns would count on one topic; one turn is no whole conversation.
        let total = turns.iter().map(|(_, unfaded, _)| unfaded).sum::<f64>().max(1.0);
        let mut shares = BTreeMap::new();
        for (weight, _, cited) in turns {
            for document in cited {
                *shares.entry(*document).or_default() += weight / total;
            }
        }
        Self(shares)
    }

    /// `filter`, narrowed to these documents; none where it lets none of them through.
    pub(super) fn filter(&self, mut filter: Filter) -> Option<Filter> {
        let allowed = std::mem::take(&mut filter.within.documents);
        let is_allowed = |document: &&DocumentId| allowed.is_empty() || allowed.contains(document);
        filter.within.documents = self.0.keys().filter(is_allowed).copied().collect();
        (!filter.within.documents.is_empty()).then_some(filter)
    }

    /// Raises the evidences of these documents, puts the list in order again, and gives what each gained.
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

    /// Brings the best hit of a document that most of the conversation rests on, itself or as a copy, to
    /// [`KEPT_PLACE`] where all of its hits come later. Gives the hit that it moved.
    pub(super) fn reserve_slot(
        &self,
        placed: &mut [ArrangedHit],
        document_of: impl Fn(&EvidenceId) -> Option<DocumentId>,
    ) -> Option<EvidenceId> {
        let mostly = |document: &DocumentId| self.0.get(document).is_some_and(|share| *share > MOSTLY);
        let rests = |hit: &ArrangedHit| {
            document_of(&hit.evidence).is_some_and(|document| mostly(&document))
                || hit.copies.iter().any(|copied| mostly(&copied.document))
        };
        let best = placed.iter().position(rests).filter(|at| *at >= KEPT_PLACE)?;
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
        let rests = CitedBoost::of(&[leg(SubQueryRole::History, 1.0, &[1, 2])]);
        let among = |documents: &[i64]| {
            let documents = documents.iter().copied().map(DocumentId).collect();
            let filter = Filter { within: Within { documents, ..Within::default() }, ..Filter::default() };
            rests.filter(filter).map(|filter| filter.within.documents)
        };
        assert_eq!(among(&[]), Some(vec![DocumentId(1), DocumentId(2)]));
        assert_eq!(among(&[2, 3]), Some(vec![DocumentId(2)]));
        assert_eq!(among(&[3]), None);
    }

    fn leg(role: SubQueryRole, weight: f64, cited: &[i64]) -> SubQuery {
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
        assert_eq!(after(&[leg(SubQueryRole::History, 0.8, &[7])]), (vec![1, 2, 3, 4, 7, 5, 6, 8], Some(7)));
        assert_eq!(after(&[leg(SubQueryRole::History, 0.8, &[6, 7])]), (vec![1, 2, 3, 4, 6, 5, 7, 8], Some(6)));
        assert_eq!(after(&[leg(SubQueryRole::History, 0.8, &[3, 7])]), (unmoved.clone(), None), "one is there already");
        assert_eq!(after(&[leg(SubQueryRole::History, 0.8, &[5])]), (unmoved.clone(), None), "it has that place");
        assert_eq!(after(&[leg(SubQueryRole::History, 0.8, &[99])]), (unmoved.clone(), None), "it is no hit");
        assert_eq!(after(&[leg(SubQueryRole::History, 0.4, &[7])]), (unmoved.clone(), None), "the topic was left");
        let both = [leg(SubQueryRole::History, 0.8, &[1]), leg(SubQueryRole::History, 0.64, &[7])];
        assert_eq!(after(&both), (unmoved, None), "the lesser part rests on it");
    }

    fn share(rests: &CitedBoost, document: i64) -> f64 {
        rests.0.get(&DocumentId(document)).copied().unwrap_or_default()
    }

    #[test]
    fn the_last_answer_counts_most_and_for_each_of_its_documents() {
        let turns = [
            leg(SubQueryRole::Raw, 1.0, &[]),
            leg(SubQueryRole::History, 0.8, &[1, 2]),
            leg(SubQueryRole::History, 0.64, &[3]),
            leg(SubQueryRole::History, 0.5, &[]),
        ];
        let rests = CitedBoost::of(&turns);
        assert!((share(&rests, 1) - 0.8 / 1.44).abs() < 1e-12 && (share(&rests, 3) - 0.64 / 1.44).abs() < 1e-12);
        assert!((share(&CitedBoost::of(&turns[..2]), 2) - 0.8).abs() < 1e-12, "one turn is no more than it counts");
        assert_eq!(CitedBoost::of(&turns[3..]), CitedBoost::default());
        let left = [leg(SubQueryRole::History, 0.24, &[1]), leg(SubQueryRole::History, 0.192, &[1])];
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
            let legs: Vec<_> = turns.iter().map(|(weight, cited)| {
                let mut cited = cited.clone();
                cited.sort_unstable();
                cited.dedup();
                leg(SubQueryRole::History, *weight, &cited)
            }).collect();
            let rests = CitedBoost::of(&legs);
            prop_assert!(rests.0.values().all(|share| *share <= 1.0 + 1e-9));
            let fused = |(id, score): (i64, &f64)| Fused { evidence: EvidenceId(id), score: *score };
            let before: Vec<Fused> = (0..).zip(&scores).map(fused).collect();
            let mut raised = before.clone();
            let gained = rests.apply(&mut raised, |id| Some(DocumentId(id.0 % 5)));
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
