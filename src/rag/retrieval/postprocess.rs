//! From the fused candidates to the order of the hits: folds near-duplicates, puts the version in question first, and
//! caps the evidences per document.
//!
//! Invariants: every candidate is a hit or listed by one; the document with the best score comes first, or a
//! near-duplicate or another version of it. Identifiers and overrides may move hits afterwards (`assemble`).
//! Not here: near-duplicates (`near_duplicates`), versions (`versions`), the cap (`document_cap`).

use std::collections::HashMap;

use time::Date;

use super::document_cap::cap_per_document;
use super::near_duplicates::{Candidate, Group, group};
use super::temporal_expr::ResolvedDate;
use super::versions::{DatedCandidate, Ordered, VersionLabel, day, order};
use super::{Copies, Duplicate, Fused, Relation, RetrievalSettings, Version};
use ragonite_base::EvidenceId;
use ragonite_index::StoredEvidence;

/// A hit before its text is loaded.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ArrangedHit {
    pub(super) evidence: EvidenceId,
    /// Score of the best of its group, or of the version whose place it takes.
    pub(super) score: f64,
    pub(super) copies: Vec<Duplicate>,
    pub(super) version: Option<Version>,
}

/// Puts the candidates, given best first, into the order of the hits; the version in force on the day in question comes
/// before other versions. Also gives that day, if it decided.
pub(super) fn postprocess(
    fused: &[Fused],
    stored: &HashMap<EvidenceId, StoredEvidence>,
    question: &str,
    meant: Option<ResolvedDate>,
    today: Option<Date>,
    settings: &RetrievalSettings,
) -> (Vec<ArrangedHit>, Option<Date>) {
    let present: Vec<(&Fused, &StoredEvidence)> =
        fused.iter().filter_map(|fused| Some((fused, stored.get(&fused.evidence)?))).collect();
    let groups = match settings.copies {
        Copies::Keep => (0..present.len()).map(|shown| Group { shown, others: Vec::new() }).collect(),
        Copies::Fold => {
            let candidates: Vec<Candidate<'_>> = present.iter().map(|(_, stored)| candidate(stored)).collect();
            group(&candidates, question)
        }
    };
    let Ordered { day, places, versions } = match settings.copies {
        Copies::Keep => Ordered { day: None, places: (0..groups.len()).collect(), versions: vec![None; groups.len()] },
        Copies::Fold => {
            let of_group = |group: &Group| {
                let copies = group.others.iter().filter(|(_, relation)| *relation != Relation::Row).map(|(at, _)| *at);
                let all = std::iter::once(group.shown).chain(copies);
                let days = all.filter_map(|at| day(&candidate(present[at].1))).collect();
                DatedCandidate { candidate: candidate(present[group.shown].1), days }
            };
            let held: Vec<DatedCandidate<'_>> = groups.iter().map(of_group).collect();
            order(&held, question, meant, today)
        }
    };
    let documents: Vec<_> = places.iter().map(|at| present[groups[*at].shown].1.document).collect();
    let score = |at: usize| {
        let group = &groups[at];
        let best = group.others.iter().map(|(other, _)| *other).fold(group.shown, usize::min);
        present[best].0.score
    };
    let placed = |place: usize| {
        let group = &groups[places[place]];
        let id_of = |at: usize| present[groups[at].shown].1.id;
        let version =
            versions[place].map(|VersionLabel { age, wanted, newest }| Version { age, wanted, newest: id_of(newest) });
        let copies = group.others.iter().map(|(other, relation)| {
            let stored = present[*other].1;
            Duplicate {
                relation: *relation,
                evidence: stored.id,
                document: stored.document,
                title: stored.title.clone(),
                url: stored.url.clone(),
                location: stored.evidence.location.clone(),
            }
        });
        // The version that is wanted takes place and score of the best one.
        ArrangedHit { evidence: present[group.shown].1.id, score: score(place), copies: copies.collect(), version }
    };
    (cap_per_document(&documents, settings.per_document).into_iter().map(placed).collect(), day)
}

fn candidate(stored: &StoredEvidence) -> Candidate<'_> {
    let evidence = &stored.evidence;
    Candidate {
        document: stored.document,
        kind: evidence.kind,
        table: evidence.table,
        row: evidence.row,
        space: stored.space.as_deref(),
        title: &stored.title,
        heading: evidence.context.heading(),
        url: &stored.url,
        date: stored.date.as_deref(),
        content: &evidence.content,
    }
}
