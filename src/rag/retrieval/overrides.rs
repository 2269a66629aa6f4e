//! What the user says of single evidences before a search: this one comes first, that one or its whole page is left out.
//!
//! Takes [`Override`]s, gives what the search leaves out, and the place of what comes first.
//! Invariant: what is left out is not searched at all, so that as many hits remain as without it.
//! Not here: the searches (`search`), who picks (`app`).

use serde::{Deserialize, Serialize};

use super::Fused;
use ragonite_base::{DocumentId, EvidenceId};
use ragonite_index::LeftOut;

/// What becomes of an evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverrideKind {
    /// It comes before all others, also where the search would not find it.
    First,
    /// It is left out, and with it what says the same.
    LeftOut,
    /// All of its document is left out.
    PageLeftOut,
}

/// What the user says of an evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    /// What becomes of it.
    pub how: OverrideKind,
    /// The evidence.
    pub evidence: EvidenceId,
    /// Its document.
    pub document: DocumentId,
    /// Its name for people, as it was when it was picked: title and heading.
    pub name: String,
    /// The evidences that its hit named as saying the same.
    #[serde(default)]
    pub copies: Vec<EvidenceId>,
}

/// What a search leaves out.
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

/// The candidates with those that come first among them.
pub(super) fn with_first(mut fused: Vec<Fused>, picks: &[Override]) -> Vec<Fused> {
    for pick in picks.iter().filter(|pick| pick.how == OverrideKind::First) {
        if fused.iter().all(|known| known.evidence != pick.evidence) {
            fused.push(Fused { evidence: pick.evidence, score: 0.0 });
        }
    }
    fused
}

/// The place of a hit with these evidences before the others; the same for all that nothing is said of.
pub(super) fn place(picks: &[Override], mut evidences: impl Iterator<Item = EvidenceId>) -> usize {
    let is_first =
        |evidence| picks.iter().position(|pick| pick.how == OverrideKind::First && pick.evidence == evidence);
    evidences.find_map(is_first).unwrap_or(picks.len())
}
