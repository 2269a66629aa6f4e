//! Settings of turns: the configured settings with the overrides of the open domain.
//!
//! Invariants: a turn keeps the settings with which it was asked; a changed override is stored at once.
//! Not here: the settings (`config`), writing the file (`workers`).

use super::notification::Notification;
use super::state::App;
use super::{Effect, Problem, Refusal, Turn};
use ragonite_base::{DomainName, Language};
use ragonite_config::SettingsOverride;
use ragonite_history::TurnSettings;
use ragonite_inference::GeneratorChoice;
use ragonite_rag::prompt::{AnswerPrompt, TokenBudget};

/// Overrides of the settings by domains.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct DomainSettings {
    /// Those of the open domain.
    pub(super) overrides: SettingsOverride,
    /// Those of another domain whose settings are shown.
    pub(super) other: Option<OtherDomain>,
    /// Pending edits of the overrides.
    pub(super) edits: usize,
    pub(super) loaded: Option<Loaded>,
}

/// The overrides of a domain that is not open.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OtherDomain {
    domain: DomainName,
    overrides: SettingsOverride,
}

/// The overrides of a domain that is being opened.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Loaded {
    domain: DomainName,
    changes: SettingsOverride,
    problem: Option<Problem>,
}

impl App {
    /// The configured settings, without overrides.
    pub fn configured(&self) -> &TurnSettings {
        &self.settings.turn
    }

    /// The overrides of the open domain.
    pub fn changes(&self) -> &SettingsOverride {
        &self.domain_settings.overrides
    }

    /// The overrides of a domain, open or not; none where they are not loaded.
    pub fn changes_of(&self, domain: &DomainName) -> Option<&SettingsOverride> {
        if self.domain.as_ref().is_some_and(|open| open.name == *domain) {
            return Some(&self.domain_settings.overrides);
        }
        self.domain_settings.other.as_ref().filter(|other| other.domain == *domain).map(|other| &other.overrides)
    }

    pub(super) fn want_settings_of(&mut self, domain: DomainName) -> Vec<Effect> {
        self.domain_settings.other = None;
        vec![Effect::LoadSettings(domain)]
    }

    pub(super) fn other_settings(
        &mut self,
        domain: DomainName,
        changes: SettingsOverride,
        problem: Option<Problem>,
    ) -> Vec<Effect> {
        self.domain_settings.other = Some(OtherDomain { domain, overrides: changes });
        problem.map(|problem| self.noting(Some(problem))).unwrap_or_default()
    }

    /// Stores an edit of a domain that is not open, where its overrides are loaded.
    pub(super) fn change_other_settings(&mut self, domain: DomainName, changes: SettingsOverride) -> Vec<Effect> {
        if self.domain.as_ref().is_some_and(|open| open.name == domain) {
            return self.change_settings(changes);
        }
        let Some(known) = self.domain_settings.other.as_mut().filter(|other| other.domain == domain) else {
            return Vec::new();
        };
        if changes == known.overrides {
            return Vec::new();
        }
        let edit = changes.since(&known.overrides);
        known.overrides = changes;
        vec![Effect::SaveSettings { domain, edit }]
    }

    /// Settings of the next question.
    pub fn turn_settings(&self) -> TurnSettings {
        let of_domain = self.domain_settings.overrides.applied_to(&self.settings.turn);
        let answer_without_match = self.settings.answer_without_match.unwrap_or(of_domain.answer_without_match);
        TurnSettings { answer_without_match, ..of_domain }
    }

    /// Id of the profile's reranker, where it has one.
    pub fn reranker(&self) -> Option<&str> {
        self.settings.reranker.as_deref()
    }

    /// Ids of the generators that can answer.
    pub fn generators(&self) -> &[String] {
        &self.settings.generators
    }

    /// Id of the generator that answers with these settings.
    pub fn generator_of<'a>(&'a self, settings: &'a TurnSettings) -> &'a str {
        settings.model.id(&self.engine.generator)
    }

    /// Settings of a turn, where known. The model is explicit where the profile has another one now.
    pub fn settings_of(&self, turn: &Turn) -> Option<TurnSettings> {
        let trace = &turn.record.trace;
        let mut settings = trace.settings.clone()?;
        if trace.generator == self.engine.generator {
            settings.model = GeneratorChoice::Profile;
        } else if !trace.generator.is_empty() {
            settings.model = trace.generator.parse().unwrap_or_default();
        }
        Some(settings)
    }

    /// Whether the generator with this id can answer.
    pub(super) fn has_generator(&self, id: &str) -> bool {
        id == self.engine.generator || self.settings.generators.iter().any(|here| here == id)
    }

    /// Most tokens of prompt and answer together.
    pub fn context_tokens(&self) -> usize {
        self.settings.context_tokens
    }

    /// Estimated token budget of the next prompt with this question. The prompt prefix of the domain counts as the
    /// default.
    pub fn next_prompt(&self, question: &str) -> Option<TokenBudget> {
        let (past, settings) = (self.open.shown.history(self.settings.past_turns), self.turn_settings().prompt);
        let language = settings.language.wanted().unwrap_or_else(|| Language::of(question));
        let prompt = AnswerPrompt { prefix: "", language, past: &past, question, hits: &[], settings: &settings };
        let before = self.turns().iter().rev().filter_map(Turn::answer).find(|answer| answer.language == language);
        TokenBudget::about(&prompt, self.settings.context_tokens, before.map(|answer| &answer.prompt)).ok()
    }

    pub(super) fn settings_loaded(
        &mut self,
        domain: DomainName,
        changes: SettingsOverride,
        problem: Option<Problem>,
    ) -> Vec<Effect> {
        if self.opening.domain.as_ref() == Some(&domain) {
            self.domain_settings.loaded = Some(Loaded { domain, changes, problem });
        }
        Vec::new()
    }

    /// Applies the overrides of a domain that has been opened.
    pub(super) fn use_settings_of(&mut self, domain: &DomainName) {
        (self.domain_settings.overrides, self.domain_settings.edits) = (SettingsOverride::default(), 0);
        if let Some(loaded) = self.domain_settings.loaded.take().filter(|loaded| loaded.domain == *domain) {
            self.domain_settings.overrides = loaded.changes;
            self.notes.problem = loaded.problem.map(Notification::from).or(self.notes.problem.take());
        }
    }

    pub(super) fn change_settings(&mut self, changes: SettingsOverride) -> Vec<Effect> {
        let Some(domain) = self.domain.as_ref().map(|domain| domain.name.clone()) else {
            return self.refuse(Refusal::SettingsOfNoDomain);
        };
        if changes == self.domain_settings.overrides {
            return Vec::new();
        }
        let edit = changes.since(&self.domain_settings.overrides);
        self.domain_settings.overrides = changes;
        self.domain_settings.edits += 1;
        vec![Effect::SaveSettings { domain, edit }]
    }

    /// Takes the stored overrides, which may have concurrent changes.
    pub(super) fn settings_kept(
        &mut self,
        domain: &DomainName,
        kept: Result<SettingsOverride, Problem>,
    ) -> Vec<Effect> {
        if self.domain.as_ref().is_none_or(|open| open.name != *domain) {
            return kept.err().map(|problem| self.noting(Some(problem))).unwrap_or_default();
        }
        self.domain_settings.edits = self.domain_settings.edits.saturating_sub(1);
        match kept {
            Err(problem) => return self.noting(Some(problem)),
            // While edits are pending, the file is behind.
            Ok(changes) if self.domain_settings.edits == 0 => self.domain_settings.overrides = changes,
            Ok(_) => {}
        }
        Vec::new()
    }
}
