//! Ingests that run in the background.
//!
//! Invariants: one ingest runs at a time; it never affects the running turn; the open domain stays open, and its next
//! question searches the documents stored so far.
//! Not here: reading and storing (`index`), the thread (`workers`).

use super::state::{App, Navigation};
use super::{Effect, Event, Notice, Refusal};
use ragonite_base::DomainName;
use ragonite_index::IngestProgress;

/// A running ingest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ingesting {
    /// The domain.
    pub domain: DomainName,
    /// Progress; none before the first file.
    pub progress: Option<IngestProgress>,
    /// Whether it is being cancelled.
    pub canceling: bool,
}

impl App {
    /// The running ingest.
    pub fn ingesting(&self) -> Option<&Ingesting> {
        self.ingesting.as_ref()
    }

    /// Starts an ingest of a file or folder; with an empty path, of the earlier ones of the domain.
    pub(super) fn ingest(&mut self, domain: DomainName, path: String) -> Vec<Effect> {
        let refusal = if self.ingesting.is_some() {
            Some(Refusal::StillReading)
        } else {
            self.missing_models.as_ref().map(|missing| Refusal::NoModels(missing.fetching))
        };
        if let Some(refusal) = refusal {
            return self.refuse(refusal);
        }
        self.notes.problem = None;
        self.ingesting = Some(Ingesting { domain: domain.clone(), progress: None, canceling: false });
        vec![Effect::Ingest { domain, path }]
    }

    pub(super) fn cancel_ingest(&mut self) -> Vec<Effect> {
        match &mut self.ingesting {
            Some(running) if !running.canceling => {
                running.canceling = true;
                vec![Effect::CancelIngest]
            }
            _ => Vec::new(),
        }
    }

    /// Handles the events of an ingest.
    pub(super) fn ingest_told(&mut self, event: Event) -> Vec<Effect> {
        let Some(running) = &mut self.ingesting else { return Vec::new() };
        match event {
            Event::IngestAdvanced(progress) => {
                running.progress = Some(progress);
                return Vec::new();
            }
            Event::IngestFinished(report) => {
                let made = running.domain.clone();
                self.notes.notice = Some(Notice::Read(report));
                self.ingesting = None;
                let mut effects = vec![Effect::ListDomains];
                effects.extend(self.open_made(made));
                return effects;
            }
            Event::IngestCanceled => {
                self.notes.notice = Some(Notice::StoppedReading(running.domain.clone()));
            }
            Event::IngestFailed(problem) => self.notes.problem = Some(problem.into()),
            _ => return Vec::new(),
        }
        self.ingesting = None;
        vec![Effect::ListDomains]
    }

    /// Stores the list and refreshes the open domain from it.
    pub(super) fn domains_listed(&mut self, domains: Vec<super::DomainSummary>) -> Vec<Effect> {
        if let Some(open) = &mut self.domain
            && let Some(listed) = domains.iter().find(|listed| listed.name == open.name && listed.problem.is_none())
        {
            open.clone_from(listed);
        }
        self.lists.domains = Some(domains);
        Vec::new()
    }

    /// Opens a new domain where none is open.
    pub(super) fn open_made(&mut self, domain: DomainName) -> Vec<Effect> {
        if self.domain.is_some() || self.opening.domain.is_some() || self.is_busy() {
            return Vec::new();
        }
        let notice = self.notes.notice.take();
        let effects = self.navigate(Navigation::Domain(domain));
        self.notes.notice = notice;
        effects
    }
}
