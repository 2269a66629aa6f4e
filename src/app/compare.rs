//! The same question once more, to be compared with the turn that asked it first: with other settings, or with an evidence
//! put first or left out.
//!
//! Invariants: what is asked again is a turn of its own at the end of the conversation, stored like any other; it is told
//! what the turn it asks again was told, and no later turn is told about it; nothing is other than what was wanted.
//! Not here: what leaves an evidence out (`retrieval`), the two beside each other (`tui`).

use time::OffsetDateTime;

use super::state::App;
use super::steps::Asked;
use super::turn::Stored;
use super::{Effect, Refusal, TurnKey, Wording};
use ragonite_config::{Setting, SettingChange, SettingsOverride};
use ragonite_history::{OtherSetting, Trace, Variant};
use ragonite_rag::retrieval::Override;

/// What is to be other when a turn is asked again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variation {
    /// These settings, in place of those of the turn.
    Settings(SettingsOverride),
    /// The settings: those that hold now.
    SettingsNow,
    /// What is said of an evidence.
    Pick(Override),
}

impl App {
    /// Asks the question of an answered turn again.
    pub(super) fn ask_again(&mut self, index: usize, other: &Variation, at: OffsetDateTime) -> Vec<Effect> {
        let domain = match self.ready_to_ask() {
            Ok(domain) => domain,
            Err(refusal) => return self.refuse(refusal),
        };
        let Some(turn) = self.turns.get(index).filter(|turn| turn.is_answered()) else {
            return self.refuse(Refusal::NothingToCompare);
        };
        let record = &turn.record;
        let before = self.settings_of(turn).unwrap_or_else(|| self.turn_settings());
        let mut settings = match other {
            Variation::Settings(changes) => changes.applied_to(&before),
            Variation::SettingsNow => self.turn_settings(),
            Variation::Pick(_) => before.clone(),
        };
        if !self.has_generator(self.generator_of(&settings)) {
            // What cannot answer any more is named among what differs.
            settings.model = self.turn_settings().model;
        }
        let differing = Setting::differing(&before, &settings);
        let others: Vec<OtherSetting> = differing
            .map(|SettingChange { setting, from, to }| OtherSetting { key: setting.key().to_owned(), from, to })
            .collect();
        let mut domain_settings = match other {
            Variation::SettingsNow => self.overrides.keys(),
            Variation::Settings(_) | Variation::Pick(_) => record.trace.domain_settings.clone(),
        };
        if matches!(other, Variation::Settings(_)) {
            domain_settings.retain(|key| others.iter().all(|other| other.key != *key));
        }
        let mut picks = turn.variant().map(|variant| variant.picks.clone()).unwrap_or_default();
        if let Variation::Pick(pick) = other {
            picks.retain(|known| known.evidence != pick.evidence);
            picks.push(pick.clone());
        }
        settings.retrieval.picks.clone_from(&picks);
        let variant = Some(Variant { of: record.number, settings: others, picks });
        let suggestions = record.trace.suggestions.clone();
        let settings_kept = Some(settings.clone());
        let trace = Trace { settings: settings_kept, domain_settings, variant, suggestions, ..Trace::default() };
        let (asked, question) = (record.question.clone(), record.completed_question.clone());
        let turn = self.begin(Asked { question: asked, completed: question.clone(), trace, at });
        let mut effects = self.stop_unasked();
        let (past, settings, wording) = (Vec::new(), Box::new(settings), Wording::Again);
        effects.push(Effect::RewriteQuestion { turn, domain, question, wording, past, settings });
        effects
    }

    /// The turn whose question this one asks: itself, or of one that asks another one again the first of them.
    pub(super) fn first_asked(&self, key: TurnKey) -> TurnKey {
        let mut first = key;
        // Each one stands before the last, so that this ends.
        for turn in self.turns.iter().rev().skip_while(|turn| turn.key != key) {
            let of = self.turn(first).and_then(|first| first.variant()).map(|variant| variant.of);
            match of {
                None => break,
                Some(of) if turn.record.number == of && turn.key != key => first = turn.key,
                Some(_) => {}
            }
        }
        first
    }

    /// A turn was stored under another number than it had: those that ask it again say so.
    pub(super) fn follow_number(&mut self, key: TurnKey, (before, now): (u32, u32)) {
        if before == now {
            return;
        }
        for turn in self.turns.iter_mut().skip_while(|turn| turn.key != key).skip(1) {
            let Some(variant) = turn.record.trace.variant.as_mut().filter(|variant| variant.of == before) else {
                continue;
            };
            variant.of = now;
            match turn.stored {
                Stored::Saving => turn.stored = Stored::SavingOld,
                Stored::Settled if turn.record.id.0 != 0 => turn.stored = Stored::Waiting,
                Stored::Settled | Stored::SavingOld | Stored::Waiting | Stored::Unsaved => {}
            }
        }
    }
}
