//! Two views of a piece of evidence: its rank without parts of its context, and its document.
//!
//! Invariants: one rank computation runs at a time, beside any turn; results for another request than the last one
//! change nothing; the history stores neither view.
//! Not here: computing and loading (`workers`), drawing (`tui`).

use std::sync::Arc;

use super::{App, Effect, JobId, Problem, TurnKey};
use ragonite_base::{DocumentId, EvidenceId};
use ragonite_document::evidence::{ContextParts, Kind};
use ragonite_rag::retrieval::AblatedHit;

/// A requested value.
#[derive(Debug, Clone, PartialEq)]
pub enum Fetched<T> {
    /// Requested.
    Coming,
    /// Loaded.
    Here(T),
    /// Failed.
    Failed(Problem),
}

/// Ranks of a turn's sources with parts of their context only.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextTrial {
    /// The turn.
    pub turn: TurnKey,
    /// The parts of the context that are used.
    pub parts: ContextParts,
    /// The ranks.
    pub ranks: Fetched<Vec<AblatedHit>>,
    /// Key of the job, so that it can be cancelled alone.
    job: JobId,
}

/// Position of a piece in its evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// The first piece.
    First,
    /// A further piece.
    Further,
}

/// A piece of a document, in reading order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPart {
    /// The evidence.
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

/// The open document.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenDocument {
    /// The document.
    pub document: DocumentId,
    /// Its text in order; empty where the domain no longer has the document.
    pub parts: Fetched<Arc<[DocumentPart]>>,
    /// Key of the job, so that it can be cancelled alone.
    job: JobId,
}

impl App {
    /// The last requested ranks.
    pub fn trial(&self) -> Option<&ContextTrial> {
        self.evidence.trial.as_ref()
    }

    /// The last requested document.
    pub fn document(&self) -> Option<&OpenDocument> {
        self.evidence.document.as_ref()
    }

    /// Requests the ranks with these parts only; all parts end the trial.
    pub(super) fn try_context(&mut self, index: usize, parts: ContextParts) -> Vec<Effect> {
        let mut effects = self.stop_trying();
        let Some(domain) = self.domain.as_ref().map(|domain| domain.name.clone()) else { return effects };
        let Some(turn) = self.turns().get(index).filter(|_| parts != ContextParts::ALL) else { return effects };
        let Some(retrieved) = &turn.record.trace.retrieved else { return effects };
        let (key, query) = (turn.key, retrieved.query.clone());
        let evidences = retrieved.hits.iter().map(|hit| hit.evidence).collect();
        let job = self.next_job();
        self.evidence.trial = Some(ContextTrial { turn: key, parts, ranks: Fetched::Coming, job });
        effects.push(Effect::TryContext { job, domain, query, evidences, parts });
        effects
    }

    fn stop_trying(&mut self) -> Vec<Effect> {
        let running = self.evidence.trial.take().filter(|trial| trial.ranks == Fetched::Coming);
        running.map(|trial| Effect::CancelJob(trial.job)).into_iter().collect()
    }

    /// Whether `job` computes the current ranks.
    pub(super) fn is_trying(&self, job: JobId) -> bool {
        self.evidence.trial.as_ref().is_some_and(|trial| trial.job == job && trial.ranks == Fetched::Coming)
    }

    /// Stores the ranks of a job; none where it was cancelled.
    pub(super) fn tried(&mut self, job: JobId, ranks: Option<Fetched<Vec<AblatedHit>>>) -> Vec<Effect> {
        if self.is_trying(job) {
            self.evidence.trial =
                self.evidence.trial.take().zip(ranks).map(|(trial, ranks)| ContextTrial { ranks, ..trial });
        }
        Vec::new()
    }

    pub(super) fn want_document(&mut self, document: DocumentId, hit: EvidenceId) -> Vec<Effect> {
        let Some(domain) = self.domain.as_ref().map(|domain| domain.name.clone()) else { return Vec::new() };
        let mut effects = self.stop_reading();
        let job = self.next_job();
        self.evidence.document = Some(OpenDocument { document, parts: Fetched::Coming, job });
        effects.push(Effect::LoadDocument { job, domain, document, hit });
        effects
    }

    /// Cancels the loading of the document.
    pub(super) fn stop_reading(&mut self) -> Vec<Effect> {
        let coming = self.evidence.document.take_if(|open| open.parts == Fetched::Coming);
        coming.map(|open| Effect::CancelJob(open.job)).into_iter().collect()
    }

    pub(super) fn document_loaded(
        &mut self,
        document: DocumentId,
        parts: Result<Arc<[DocumentPart]>, Problem>,
    ) -> Vec<Effect> {
        if let Some(open) = self.evidence.document.as_mut().filter(|open| open.document == document) {
            open.parts = match parts {
                Ok(parts) => Fetched::Here(parts),
                Err(problem) => Fetched::Failed(problem),
            };
        }
        Vec::new()
    }

    /// Drops ranks and document, because their turn leaves the screen.
    pub(super) fn leave_evidence(&mut self) {
        (self.evidence.trial, self.evidence.document) = (None, None);
    }
}
