//! Requirements of a first answer: models and a domain.
//!
//! Invariant: while one is missing, [`App::look_again`] names the effect that checks again, so that the screen
//! continues by itself.
//! Not here: checking (`workers`), the texts (`tui`).

use super::state::App;
use super::{DomainSummary, Effect, Event};

/// Models that are missing or incomplete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissingModels {
    /// The profile that needs them.
    pub profile: String,
    /// Ids of the models.
    pub models: Vec<String>,
    /// The searched folders; new models belong in the first.
    pub folders: Vec<String>,
    /// How to fetch them.
    pub fetching: FetchSupport,
}

/// Whether this program can fetch models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FetchSupport {
    /// Fetching is built in.
    BuiltIn,
    /// The build has no network code.
    #[default]
    None,
}

impl App {
    /// The missing models.
    pub fn missing_models(&self) -> Option<&MissingModels> {
        self.missing_models.as_ref()
    }

    /// The effect that checks again for models or a domain, where one is missing.
    pub fn look_again(&self) -> Option<Effect> {
        if self.missing_models.is_some() {
            return Some(Effect::LookForModels);
        }
        if self.ingesting.is_some() {
            // The end of the ingest lists the domains.
            return None;
        }
        let is_empty = |domain: &DomainSummary| domain.documents == 0 && domain.problem.is_none();
        let nothing_to_open = self.domain.is_none() && self.opening.domain.is_none();
        let nothing_to_ask = self.lists.domains.as_ref().is_some_and(|domains| domains.iter().all(is_empty));
        (nothing_to_open && nothing_to_ask).then_some(Effect::ListDomains)
    }

    /// Whether a repeated check found no change, so that the screen stays.
    pub fn is_known(&self, event: &Event) -> bool {
        match event {
            Event::DomainsListed(domains) => self.lists.domains.as_ref() == Some(domains),
            Event::ModelsLooked { missing, generators } => {
                self.missing_models == *missing && self.settings.generators == *generators
            }
            _ => false,
        }
    }

    /// Stores the result of a check; loads models that have appeared and opens a domain.
    pub(super) fn models_looked(&mut self, missing: Option<MissingModels>, generators: Vec<String>) -> Vec<Effect> {
        self.settings.generators = generators;
        let were_missing = self.missing_models.is_some();
        self.missing_models = missing;
        if were_missing && self.missing_models.is_none() {
            return vec![Effect::LoadModels(self.turn_settings().model), Effect::ListDomains];
        }
        Vec::new()
    }
}
