//! Overrides by the user: pinned and excluded evidences.
//!
//! Takes [`Override`]s; gives what the search excludes, and the order of the pinned evidences.
//! Invariant: exclusion comes before the search, so as many hits remain as without it.
//! Not here: the search (`search`), choosing overrides (`app`).

use serde::{Deserialize, Serialize};

use super::Fused;
use ragonite_base::{DocumentId, EvidenceId};
use ragonite_index::LeftOut;

/// Kind of an override.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverrideKind {
    /// Pinned: comes first, even if the search does not find it.
    First,
    /// Excluded with its near-duplicates.
    LeftOut,
    /// Excluded with its whole document.
    PageLeftOut,
}

/// An override for an evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    /// Kind of the override.
    pub how: OverrideKind,
    /// The evidence.
    pub evidence: EvidenceId,
    /// Its document.
    pub document: DocumentId,
    /// Title and heading at the time of the choice, for people.
    pub name: String,
    /// Near-duplicates listed by its hit.
    #[serde(default)]
    pub copies: Vec<EvidenceId>,
}

/// The evidences and documents to exclude.
pub(super) fn left_out(picks: &[Override]) -> LeftOut {
    let mut left_out = LeftOut::default();
    for pick in picks {
        match pick.how {
            OverrideKind::First => {}
            OverrideKind::LeftOut => {
                left_out.evidences.push(pick.evidence);
                left_out.evidences.extend(&pick.copies);
            }
            OverrideKind::PageLeftOut => left_out.documents.push(pick.document),
        }
    }
    left_out
}

/// The candidates and the pinned evidences that are missing among them.
pub(super) fn with_first(mut fused: Vec<Fused>, picks: &[Override]) -> Vec<Fused> {
    for pick in picks.iter().filter(|pick| pick.how == OverrideKind::First) {
        if fused.iter().all(|known| known.evidence != pick.evidence) {
            fused.push(Fused { evidence: pick.evidence, score: 0.0 });
        }
    }
    fused
}

/// Place among the pinned evidences; their number for all others.
pub(super) fn place(picks: &[Override], mut evidences: impl Iterator<Item = EvidenceId>) -> usize {
    let is_first =
        |evidence| picks.iter().position(|pick| pick.how == OverrideKind::First && pick.evidence == evidence);
    evidences.find_map(is_first).unwrap_or(picks.len())
}
