//! An evidence looked at closely: its rank without some of its context, and the document around it.
//!
//! Invariants: one trial runs at a time, beside any turn; what comes for another trial or another document than the last one
//! wanted changes nothing; neither is kept in the history.
//! Not here: making either (`runtime`), drawing them (`tui`).

use std::sync::Arc;

use super::{App, Effect, Problem, TurnKey};
use ragonite_base::{DocumentId, EvidenceId};
use ragonite_document::evidence::{ContextParts, Kind};
use ragonite_rag::retrieval::AblatedHit;

/// Something that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Fetched<T> {
    /// It is on its way.
    Coming,
    /// It is here.
    Here(T),
    /// It cannot be had.
    Failed(Problem),
}

/// How the sources of a turn would rank without some of their context.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextTrial {
    /// Whose sources.
    pub turn: TurnKey,
    /// The parts that stay.
    pub parts: ContextParts,
    /// The ranks.
    pub ranks: Fetched<Vec<AblatedHit>>,
    /// The job: a key of its own, so that it is cancelled alone.
    job: TurnKey,
}

/// Whether a piece of text is the beginning of its evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// It is.
    First,
    /// It goes on with the piece before.
    Further,
}

/// A piece of a document, in reading order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPart {
    /// The evidence that it is of.
    pub evidence: EvidenceId,
    /// Kind of the evidence.
    pub kind: Kind,
    /// Whether the evidence begins here.
    pub piece: Piece,
    /// Headings above it, outermost first.
    pub heading_path: Vec<String>,
    /// Place in the document.
    pub location: String,
    /// The text.
    pub text: String,
}

/// A document that is read.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenDocument {
    /// The document.
    pub document: DocumentId,
    /// Its text in order; empty where the domain does not have it any more.
    pub parts: Fetched<Arc<[DocumentPart]>>,
    /// The job: a key of its own, so that it is cancelled alone.
    job: TurnKey,
}

impl App {
    /// The last trial that was wanted.
    pub fn trial(&self) -> Option<&ContextTrial> {
        self.trial.as_ref()
    }

    /// The last document that was wanted.
    pub fn document(&self) -> Option<&OpenDocument> {
        self.document.as_ref()
    }

    /// Asks for the ranks with only these parts; all of them end what was tried before.
    pub(super) fn try_context(&mut self, index: usize, parts: ContextParts) -> Vec<Effect> {
        let mut effects = self.stop_trying();
        let Some(domain) = self.domain.as_ref().map(|domain| domain.name.clone()) else { return effects };
        let Some(turn) = self.turns.get(index).filter(|_| parts != ContextParts::ALL) else { return effects };
        let Some(retrieved) = &turn.record.trace.retrieved else { return effects };
        let (key, query) = (turn.key, retrieved.query.clone());
        let evidences = retrieved.hits.iter().map(|hit| hit.evidence).collect();
        let job = self.next_key();
        self.trial = Some(ContextTrial { turn: key, parts, ranks: Fetched::Coming, job });
        effects.push(Effect::TryContext { turn: job, domain, query, evidences, parts });
        effects
    }

    fn stop_trying(&mut self) -> Vec<Effect> {
        let running = self.trial.take().filter(|trial| trial.ranks == Fetched::Coming);
        running.map(|trial| Effect::CancelTurn(trial.job)).into_iter().collect()
    }

    /// Whether this is the job of the running trial.
    pub(super) fn is_trying(&self, job: TurnKey) -> bool {
        self.trial.as_ref().is_some_and(|trial| trial.job == job && trial.ranks == Fetched::Coming)
    }

    /// The running trial has ended, without ranks where it was stopped.
    pub(super) fn tried(&mut self, job: TurnKey, ranks: Option<Fetched<Vec<AblatedHit>>>) -> Vec<Effect> {
        if self.is_trying(job) {
            self.trial = self.trial.take().zip(ranks).map(|(trial, ranks)| ContextTrial { ranks, ..trial });
        }
        Vec::new()
    }

    pub(super) fn want_document(&mut self, document: DocumentId, hit: EvidenceId) -> Vec<Effect> {
        let Some(domain) = self.domain.as_ref().map(|domain| domain.name.clone()) else { return Vec::new() };
        let mut effects = self.stop_reading();
        let job = self.next_key();
        self.document = Some(OpenDocument { document, parts: Fetched::Coming, job });
        effects.push(Effect::LoadDocument { turn: job, domain, document, hit });
        effects
    }

    /// Stops reading the document that is on its way.
    pub(super) fn stop_reading(&mut self) -> Vec<Effect> {
        let coming = self.document.take_if(|open| open.parts == Fetched::Coming);
        coming.map(|open| Effect::CancelTurn(open.job)).into_iter().collect()
    }

    pub(super) fn document_loaded(
        &mut self,
        document: DocumentId,
        parts: Result<Arc<[DocumentPart]>, Problem>,
    ) -> Vec<Effect> {
        if let Some(open) = self.document.as_mut().filter(|open| open.document == document) {
            open.parts = match parts {
                Ok(parts) => Fetched::Here(parts),
                Err(problem) => Fetched::Failed(problem),
            };
        }
        Vec::new()
    }

    /// Forgets both: what they belong to is no longer on screen.
    pub(super) fn leave_evidence(&mut self) {
        (self.trial, self.document) = (None, None);
    }
}
