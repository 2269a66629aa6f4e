//! What turns are answered with: the configured settings and what the open domain changes of them.
//!
//! Invariants: a turn is answered with what held when it was asked, whatever changes while it runs; a change is kept for
//! its domain as soon as it is made.
//! Not here: what can be changed (`config`), writing the file (`runtime`).

use super::notification::Notification;
use super::state::App;
use super::{Effect, Problem, Refusal, Turn};
use ragonite_base::{DomainName, Language};
use ragonite_config::SettingsOverride;
use ragonite_history::TurnSettings;
use ragonite_inference::GeneratorChoice;
use ragonite_rag::prompt::{AnswerPrompt, TokenBudget};

/// What a domain that is being opened changes, until it is open.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Loaded {
    domain: DomainName,
    changes: SettingsOverride,
    problem: Option<Problem>,
}

impl App {
    /// The settings where no domain changes them.
    pub fn configured(&self) -> &TurnSettings {
        &self.settings.turn
    }

    /// What the open domain changes of them.
    pub fn changes(&self) -> &SettingsOverride {
        &self.overrides
    }

    /// What a domain changes of them, open or not; none where that is not loaded.
    pub fn changes_of(&self, domain: &DomainName) -> Option<&SettingsOverride> {
        if self.domain.as_ref().is_some_and(|open| open.name == *domain) {
            return Some(&self.overrides);
        }
        self.other_overrides.as_ref().filter(|(other, _)| other == domain).map(|(_, changes)| changes)
    }

    pub(super) fn want_settings_of(&mut self, domain: DomainName) -> Vec<Effect> {
        self.other_overrides = None;
        vec![Effect::LoadSettings(domain)]
    }

    pub(super) fn other_settings(
        &mut self,
        domain: DomainName,
        changes: SettingsOverride,
        problem: Option<Problem>,
    ) -> Vec<Effect> {
        self.other_overrides = Some((domain, changes));
        problem.map(|problem| self.noting(Some(problem))).unwrap_or_default()
    }

    /// Keeps an edit of a domain that is not open. What is not loaded is not changed.
    pub(super) fn change_other_settings(&mut self, domain: DomainName, changes: SettingsOverride) -> Vec<Effect> {
        if self.domain.as_ref().is_some_and(|open| open.name == domain) {
            return self.change_settings(changes);
        }
        let Some((_, known)) = self.other_overrides.as_mut().filter(|(other, _)| *other == domain) else {
            return Vec::new();
        };
        if changes == *known {
            return Vec::new();
        }
        let edit = changes.since(known);
        *known = changes;
        vec![Effect::SaveSettings { domain, edit }]
    }

    /// What the next question is answered with.
    pub fn turn_settings(&self) -> TurnSettings {
        self.overrides.applied_to(&self.settings.turn)
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

    /// What a turn was answered with, where that is known. Its model is named where the profile has another one now.
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

    /// Tokens that prompt and answer may have together.
    pub fn context_tokens(&self) -> usize {
        self.settings.context_tokens
    }

    /// About what the next prompt will hold with this question. What the domain says of itself is not known here, and
    /// counts as the default.
    pub fn next_prompt(&self, question: &str) -> Option<TokenBudget> {
        let (past, settings) = (self.history(), self.turn_settings().prompt);
        let language = settings.language.wanted().unwrap_or_else(|| Language::of(question));
        let prompt = AnswerPrompt { prefix: "", language, past: &past, question, hits: &[], settings: &settings };
        let before = self.turns.iter().rev().filter_map(Turn::answer).find(|answer| answer.language == language);
        TokenBudget::about(&prompt, self.settings.context_tokens, before.map(|answer| &answer.prompt)).ok()
    }

    pub(super) fn settings_loaded(
        &mut self,
        domain: DomainName,
        changes: SettingsOverride,
        problem: Option<Problem>,
    ) -> Vec<Effect> {
        if self.opening_domain.as_ref() == Some(&domain) {
            self.loaded = Some(Loaded { domain, changes, problem });
        }
        Vec::new()
    }

    /// The domain is open: its settings hold from now on.
    pub(super) fn use_settings_of(&mut self, domain: &DomainName) {
        (self.overrides, self.edits) = (SettingsOverride::default(), 0);
        if let Some(loaded) = self.loaded.take().filter(|loaded| loaded.domain == *domain) {
            self.overrides = loaded.changes;
            self.problem = loaded.problem.map(Notification::from).or(self.problem.take());
        }
    }

    pub(super) fn change_settings(&mut self, changes: SettingsOverride) -> Vec<Effect> {
        let Some(domain) = self.domain.as_ref().map(|domain| domain.name.clone()) else {
            return self.refuse(Refusal::SettingsOfNoDomain);
        };
        if changes == self.overrides {
            return Vec::new();
        }
        let edit = changes.since(&self.overrides);
        self.overrides = changes;
        self.edits += 1;
        vec![Effect::SaveSettings { domain, edit }]
    }

    /// An edit has reached the file, which may say more than is known here.
    pub(super) fn settings_kept(
        &mut self,
        domain: &DomainName,
        kept: Result<SettingsOverride, Problem>,
    ) -> Vec<Effect> {
        if self.domain.as_ref().is_none_or(|open| open.name != *domain) {
            return kept.err().map(|problem| self.noting(Some(problem))).unwrap_or_default();
        }
        self.edits = self.edits.saturating_sub(1);
        match kept {
            Err(problem) => return self.noting(Some(problem)),
            // Until the last edit is there, the file says less than is known here.
            Ok(changes) if self.edits == 0 => self.overrides = changes,
            Ok(_) => {}
        }
        Vec::new()
    }
}
