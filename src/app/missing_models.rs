//! What has to come from outside before the first question: models, and a domain.
//!
//! Invariant: as long as it is not there the loop is told what to look at again, so that the screen goes on by itself.
//! Not here: looking (`runtime`), what is said about it (`tui`).

use super::state::App;
use super::{DomainSummary, Effect, Event};

/// Models that are not on this machine, or not whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissingModels {
    /// The profile that needs them.
    pub profile: String,
    /// Their ids.
    pub models: Vec<String>,
    /// The folders that were searched; new models belong into the first.
    pub folders: Vec<String>,
    /// How they are fetched.
    pub fetching: FetchSupport,
}

/// Whether this program can fetch models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FetchSupport {
    /// It can.
    BuiltIn,
    /// It has no network code.
    #[default]
    None,
}

impl App {
    /// The models without which nothing can be answered.
    pub fn missing_models(&self) -> Option<&MissingModels> {
        self.missing_models.as_ref()
    }

    /// What is to be looked at again before long: something that is needed for the first answer is not there.
    pub fn look_again(&self) -> Option<Effect> {
        if self.missing_models.is_some() {
            return Some(Effect::LookForModels);
        }
        if self.ingesting.is_some() {
            // Its end lists the domains.
            return None;
        }
        let is_empty = |domain: &DomainSummary| domain.documents == 0 && domain.problem.is_none();
        let nothing_to_open = self.domain.is_none() && self.opening_domain.is_none();
        let nothing_to_ask = self.domains.as_ref().is_some_and(|domains| domains.iter().all(is_empty));
        (nothing_to_open && nothing_to_ask).then_some(Effect::ListDomains)
    }

    /// Whether what was looked for again is as it was, so that nothing on the screen changes.
    pub fn is_known(&self, event: &Event) -> bool {
        match event {
            Event::DomainsListed(domains) => self.domains.as_ref() == Some(domains),
            Event::ModelsLooked { missing, generators } => {
                self.missing_models == *missing && self.settings.generators == *generators
            }
            _ => false,
        }
    }

    /// Models were looked for. Those that have come are loaded, and a domain can be opened.
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
