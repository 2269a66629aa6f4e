//! The conversations in memory: the shown one, and those that were left while a turn of them runs or is not stored.
//!
//! Invariants: a conversation is in one place only; a left conversation stays exactly as long as it has something to
//! lose; the running turn is in one of them.
//! Not here: the turns of a conversation (`conversation`), the steps of a turn (`steps`).

use super::conversation::OpenConversation;
use super::state::{App, Phase};
use super::turn::Stored;
use super::{Effect, Notice, Refusal, Turn, TurnKey};
use ragonite_base::{ConversationId, DomainName};

/// The conversations in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct OpenConversations {
    pub(super) shown: OpenConversation,
    /// The latest last.
    pub(super) left: Vec<OpenConversation>,
}

impl OpenConversations {
    pub(super) fn all(&self) -> impl Iterator<Item = &OpenConversation> {
        std::iter::once(&self.shown).chain(&self.left)
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut OpenConversation> {
        std::iter::once(&mut self.shown).chain(&mut self.left)
    }

    /// The conversation of a turn.
    pub(super) fn of(&self, key: TurnKey) -> Option<&OpenConversation> {
        self.all().find(|conversation| conversation.has(key))
    }

    /// The conversation of a turn.
    pub(super) fn of_mut(&mut self, key: TurnKey) -> Option<&mut OpenConversation> {
        self.all_mut().find(|conversation| conversation.has(key))
    }

    pub(super) fn turns(&self) -> impl Iterator<Item = &Turn> {
        self.all().flat_map(|conversation| &conversation.turns)
    }
}

/// A left conversation whose first turn is not stored, so that the history does not list it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unlisted<'a> {
    /// Key of the first turn, by which it is opened again.
    pub turn: TurnKey,
    /// Question of the first turn.
    pub question: &'a str,
    /// Whether it is being answered or explained.
    pub answering: Answering,
}

/// Whether a conversation is being answered or explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answering {
    /// Running.
    Now,
    /// Not running; a turn is not stored yet.
    No,
}

impl App {
    /// Whether a turn of another conversation than the shown one runs.
    pub fn is_busy_aside(&self) -> bool {
        self.jobs.phase.turn().is_some_and(|key| self.turn(key).is_none())
    }

    /// Whether a turn of the shown conversation runs.
    pub fn is_busy_here(&self) -> bool {
        self.is_busy() && !self.is_busy_aside()
    }

    /// Whether this conversation is being answered or explained, on screen or not.
    pub fn is_answering(&self, id: ConversationId) -> bool {
        let running = self.jobs.phase.turn().and_then(|key| self.open.of(key));
        running.is_some_and(|conversation| conversation.is(id))
    }

    /// The left conversations of the open domain that the history does not list yet, the latest first.
    pub fn unlisted(&self) -> impl Iterator<Item = Unlisted<'_>> {
        let domain = self.domain_name();
        let unlisted = move |left: &&OpenConversation| left.record.is_none() && left.domain == domain;
        self.open.left.iter().rev().filter(unlisted).filter_map(|left| {
            let first = left.turns.first()?;
            let runs = self.jobs.phase.turn().is_some_and(|key| left.has(key));
            let answering = if runs { Answering::Now } else { Answering::No };
            Some(Unlisted { turn: first.key, question: &first.record.question, answering })
        })
    }

    /// The running turn of a left conversation.
    pub fn turn_aside(&self) -> Option<&Turn> {
        let key = self.jobs.phase.turn()?;
        self.open.left.iter().find_map(|left| left.turn(key))
    }

    /// Number of answers that could not be stored and are kept in memory.
    pub fn unsaved(&self) -> usize {
        self.open.turns().filter(|turn| turn.stored == Stored::Unsaved).count()
    }

    /// Puts a conversation on screen; the shown one is left.
    pub(super) fn show_conversation(&mut self, conversation: OpenConversation) {
        let left = std::mem::replace(&mut self.open.shown, conversation);
        self.open.left.push(left);
        self.leave_evidence();
    }

    /// Drops the left conversations that have nothing to lose.
    pub(super) fn forget_settled(&mut self) {
        if self.open.left.is_empty() {
            return;
        }
        let unasked = [self.jobs.suggesting, self.jobs.prefetch].map(|job| job.map(|job| job.turn));
        let running: Vec<TurnKey> = [self.jobs.phase.turn()].into_iter().chain(unasked).flatten().collect();
        self.open.left.retain(|left| left.is_unsettled() || running.iter().any(|key| left.has(*key)));
    }

    /// Puts a left conversation on screen; it is more complete than in the history. False where there is none.
    fn return_to(&mut self, is: impl Fn(&OpenConversation) -> bool) -> bool {
        let Some(at) = self.open.left.iter().position(is) else { return false };
        let mut conversation = self.open.left.remove(at);
        // The record may have been renamed or pinned meanwhile.
        if let Some(record) = &mut conversation.record
            && let Some(listed) = self.lists.conversations.iter().find(|listed| listed.id == record.id)
        {
            record.clone_from(listed);
        }
        self.show_conversation(conversation);
        true
    }

    /// Like [`App::return_to`], by id.
    pub(super) fn return_to_conversation(&mut self, id: ConversationId) -> bool {
        self.return_to(|left| left.is(id))
    }

    /// Opens a conversation that the history does not list.
    pub(super) fn open_unlisted(&mut self, first: TurnKey) -> Vec<Effect> {
        self.notes.problem = None;
        self.opening.conversation = None;
        self.return_to(|left| left.turns.first().is_some_and(|turn| turn.key == first));
        Vec::new()
    }

    /// Cancels prefetches and suggestions of a conversation that is deleted.
    pub(super) fn stop_unasked_of(&mut self, id: ConversationId) -> Vec<Effect> {
        let mut turns = [self.jobs.suggesting, self.jobs.prefetch].into_iter().flatten().map(|job| job.turn);
        let is_any = turns.any(|key| self.open.of(key).is_some_and(|conversation| conversation.is(id)));
        if is_any { self.stop_unasked() } else { Vec::new() }
    }

    /// Stores unsaved turns again.
    pub(super) fn save_again(&mut self) -> Vec<Effect> {
        self.open.all_mut().flat_map(OpenConversation::save_waiting).collect()
    }

    /// Handles the user's request to store unsaved turns again.
    pub(super) fn want_saved(&mut self) -> Vec<Effect> {
        if self.unsaved() == 0 {
            self.notes.notice = Some(Notice::AllStored);
        }
        self.forget_save_problem();
        self.save_again()
    }

    /// Notifies once all turns are stored.
    pub(super) fn tell_when_all_is_stored(&mut self) {
        if self.unsaved() == 0 && self.is_saved() && self.forget_save_problem() {
            self.notes.quit_warned = false;
            self.notes.notice = Some(Notice::AllStored);
        }
    }

    /// Removes the shown save problem; returns whether there was one.
    fn forget_save_problem(&mut self) -> bool {
        let known = self.notes.save_problem.take();
        self.notes
            .problem
            .take_if(|told| Some(&told.problem) == known.as_ref() || matches!(told.refusal, Some(Refusal::Unsaved(_))));
        known.is_some()
    }

    /// Quits; warns once where answers would be lost.
    pub(super) fn quit(&mut self) -> Vec<Effect> {
        let unsaved = self.unsaved();
        if unsaved > 0 && !self.notes.quit_warned {
            self.notes.quit_warned = true;
            return self.refuse(Refusal::Unsaved(unsaved));
        }
        self.quit_now()
    }

    /// Quits, after a last attempt to store unsaved turns.
    pub(super) fn quit_now(&mut self) -> Vec<Effect> {
        let mut effects = self.cancel();
        effects.extend(self.save_again());
        effects.push(Effect::Quit);
        effects
    }

    /// Whether a running turn prevents the deletion of a conversation.
    pub(super) fn is_kept_by_a_turn(&self, id: ConversationId) -> bool {
        self.jobs.phase != Phase::Idle && self.is_answering(id)
    }

    /// The open domain.
    pub(super) fn domain_name(&self) -> Option<DomainName> {
        self.domain.as_ref().map(|domain| domain.name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{
        after, answered, asked, attributed, completed, conversation, opened, problem, retrieved,
    };
    use super::super::tests::{name, run_of, saved, with_one_turn};
    use super::super::{ConversationChange, DomainSummary, Event, JobId};
    use super::*;
    use ragonite_base::TurnId;
    use ragonite_history::Outcome;
    use ragonite_rag::attribution::Method;

    const SEVEN: ConversationId = ConversationId(7);

    /// Conversation 7 with a stored turn and one that is being answered, left for a new one.
    fn left() -> App {
        let mut app = with_one_turn();
        for event in [asked("more"), completed(2, "more"), retrieved(2), Event::ConversationStarted] {
            app.handle(event);
        }
        app
    }

    fn grew(text: &str) -> Event {
        Event::AnswerGrew { turn: TurnKey(2), text: text.into() }
    }

    #[test]
    fn leaving_stops_nothing_and_the_answer_goes_to_its_own_conversation() {
        let mut app = with_one_turn();
        app.handle(asked("more"));
        assert_eq!(app.handle(Event::ConversationStarted), []);
        assert!(app.turns().is_empty() && app.conversation().is_none());
        assert!(app.is_busy_aside() && app.is_answering(SEVEN));
        for event in [completed(2, "more"), retrieved(2), grew("half")] {
            assert_eq!(app.handle(event), []);
        }
        let effects = app.handle(answered(2, "whole"));
        let [Effect::SaveTurn { conversation, record, domain, .. }] = &effects[..] else { panic!("{effects:?}") };
        assert_eq!((*conversation, domain), (Some(SEVEN), &name("wiki")));
        assert_eq!((record.outcome.clone(), record.number), (Outcome::Answered, 2));
        assert!(app.turns().is_empty() && !app.is_busy() && !app.is_answering(SEVEN));
        assert!(!app.is_saved());
        app.handle(saved(2));
        assert!(app.is_saved() && app.conversation().is_none() && app.open.left.is_empty());
    }

    #[test]
    fn going_back_shows_what_was_written_meanwhile_and_loads_nothing() {
        let mut app = left();
        app.handle(grew("half an"));
        assert_eq!(app.handle(Event::ConversationChosen(SEVEN)), []);
        assert_eq!((app.turns().len(), app.turns()[1].text()), (2, "half an"));
        assert!(app.is_busy_here() && !app.is_opening());
        app.handle(grew(" answer"));
        assert_eq!(app.turns()[1].text(), "half an answer");
    }

    #[test]
    fn choosing_the_open_conversation_again_loses_nothing_of_what_runs_there() {
        let mut app = with_one_turn();
        app.handle(asked("more"));
        assert_eq!(app.handle(Event::ConversationChosen(SEVEN)), []);
        assert_eq!(app.turns().len(), 2);
        assert!(app.is_busy_here() && !app.is_opening());
    }

    #[test]
    fn what_runs_out_of_sight_is_stopped_from_anywhere_and_its_half_answer_kept() {
        let mut app = left();
        app.handle(grew("half an"));
        assert_eq!(app.handle(Event::CancelRequested), [Effect::CancelJob(JobId(2))]);
        let effects = app.handle(Event::JobCanceled { job: JobId(2) });
        let [Effect::SaveTurn { conversation: Some(SEVEN), record, .. }] = &effects[..] else { panic!("{effects:?}") };
        assert_eq!(record.trace.answer.as_ref().unwrap().text, "half an");
        assert!(!app.is_busy() && !app.is_canceling());
    }

    #[test]
    fn one_answer_is_computed_at_a_time_and_the_refusal_says_where() {
        let mut app = left();
        assert_eq!(app.handle(asked("another")), []);
        assert_eq!(app.refusal(), Some(&Refusal::AnotherRuns));
        assert!(app.turns().is_empty());
        app.handle(answered(2, "done"));
        assert!(run_of(&app.handle(asked("another"))).past.is_empty());
    }

    #[test]
    fn a_new_conversation_that_is_left_is_listed_until_the_history_has_it() {
        let mut app = after([asked("first?")]);
        app.handle(Event::ConversationStarted);
        let unlisted: Vec<_> = app.unlisted().collect();
        assert_eq!(unlisted, [Unlisted { turn: TurnKey(1), question: "first?", answering: Answering::Now }]);
        assert_eq!(app.handle(Event::UnlistedChosen(TurnKey(1))), []);
        assert_eq!((app.turns().len(), app.unlisted().count()), (1, 0));
        for event in [Event::ConversationStarted, completed(1, "q"), retrieved(1), answered(1, "a")] {
            app.handle(event);
        }
        assert_eq!(app.unlisted().map(|left| left.answering).collect::<Vec<_>>(), [Answering::No]);
        app.handle(saved(1));
        assert_eq!(app.unlisted().count(), 0);
        assert_eq!(app.conversations()[0].id, SEVEN);
    }

    #[test]
    fn a_conversation_goes_on_being_answered_while_another_domain_is_opened() {
        let mut app = left();
        app.handle(Event::DomainChosen(name("league")));
        let summary = DomainSummary { name: name("league"), ..app.domain().unwrap().clone() };
        app.handle(Event::DomainOpened(summary));
        let effects = app.handle(answered(2, "done"));
        let [Effect::SaveTurn { domain, conversation: Some(SEVEN), .. }] = &effects[..] else { panic!("{effects:?}") };
        assert_eq!(domain, &name("wiki"));
        app.handle(saved(2));
        assert!(app.conversations().is_empty(), "it is no conversation of the open domain");
        assert_eq!(app.domain().unwrap().name, name("league"));
    }

    #[test]
    fn an_explanation_goes_on_when_its_conversation_is_left() {
        let mut app = with_one_turn();
        app.handle(Event::ExplainRequested { turn: 0, method: Method::Similarity });
        app.handle(Event::ConversationStarted);
        let effects = app.handle(attributed(1));
        assert!(matches!(&effects[..], [Effect::SaveTurn { record, .. }] if record.trace.attribution.is_some()));
    }

    #[test]
    fn a_conversation_that_is_answered_out_of_sight_is_not_thrown_away() {
        let mut app = left();
        let delete = Event::ConversationChangeWanted(ConversationChange::Delete(SEVEN));
        assert_eq!(app.handle(delete), []);
        assert_eq!(app.refusal(), Some(&Refusal::BeingAnswered));
    }

    fn failed(turn: u64) -> Event {
        Event::SaveFailed { turn: TurnKey(turn), problem: problem() }
    }

    /// Conversation 7 with a stored turn and one whose storing failed.
    fn unsaved() -> App {
        let mut app = with_one_turn();
        for event in [asked("more"), completed(2, "more"), retrieved(2), answered(2, "b"), failed(2)] {
            app.handle(event);
        }
        app
    }

    fn saves(effects: &[Effect]) -> Vec<(u64, Option<ConversationId>)> {
        let save = |effect: &Effect| match effect {
            Effect::SaveTurn { turn, conversation, .. } => Some((turn.0, *conversation)),
            _ => None,
        };
        effects.iter().filter_map(save).collect()
    }

    #[test]
    fn what_could_not_be_stored_is_said_and_tried_again_when_wanted() {
        let mut app = unsaved();
        assert_eq!((app.unsaved(), app.problem()), (1, Some(&problem())));
        assert_eq!(saves(&app.handle(Event::SaveAgainWanted)), [(2, Some(SEVEN))]);
        assert_eq!((app.unsaved(), app.problem()), (0, None));
        app.handle(failed(2));
        assert_eq!((app.unsaved(), app.problem()), (1, Some(&problem())));
        app.handle(Event::SaveAgainWanted);
        app.handle(saved(2));
        assert_eq!((app.unsaved(), app.problem(), app.is_saved()), (0, None, true));
        assert_eq!(app.handle(Event::SaveAgainWanted), []);
        assert_eq!(app.notice(), Some(&Notice::AllStored));
    }

    #[test]
    fn what_could_not_be_stored_is_tried_again_with_the_next_storing_that_succeeds() {
        let mut app = unsaved();
        for event in [asked("third"), completed(3, "third"), retrieved(3)] {
            app.handle(event);
        }
        assert_eq!(saves(&app.handle(answered(3, "c"))), [(3, Some(SEVEN))]);
        assert_eq!(saves(&app.handle(saved(3))), [(2, Some(SEVEN))]);
        app.handle(saved(2));
        assert_eq!((app.unsaved(), app.problem(), app.notice()), (0, None, Some(&Notice::AllStored)));
    }

    #[test]
    fn what_could_not_be_stored_survives_leaving_its_conversation_and_is_shown_again() {
        let mut app = unsaved();
        app.handle(Event::ConversationStarted);
        assert_eq!((app.turns().len(), app.unsaved()), (0, 1));
        let mut back = app.clone();
        assert_eq!(back.handle(Event::ConversationChosen(SEVEN)), []);
        assert_eq!((back.turns().len(), back.turns()[1].text(), back.unsaved()), (2, "b", 1));
        assert_eq!(saves(&app.handle(Event::SaveAgainWanted)), [(2, Some(SEVEN))]);
        app.handle(saved(2));
        assert!(app.open.left.is_empty() && app.is_saved());
    }

    #[test]
    fn of_a_new_conversation_that_could_not_be_stored_the_first_turn_is_tried_first() {
        let mut app = after([asked("q"), completed(1, "q"), retrieved(1), answered(1, "a")]);
        for event in [asked("r"), completed(2, "r"), retrieved(2), answered(2, "b"), failed(1)] {
            app.handle(event);
        }
        assert_eq!((app.unsaved(), app.is_saved()), (2, true), "nothing waits for what does not come");
        assert_eq!(saves(&app.handle(Event::SaveAgainWanted)), [(1, None)]);
        assert_eq!(saves(&app.handle(saved(1))), [(2, Some(SEVEN))]);
    }

    #[test]
    fn leaving_warns_once_when_something_is_not_stored_and_tries_a_last_time() {
        let mut app = unsaved();
        assert_eq!(app.handle(Event::QuitRequested), []);
        assert_eq!(app.refusal(), Some(&Refusal::Unsaved(1)));
        let mut stored = app.clone();
        let effects = app.handle(Event::QuitRequested);
        assert_eq!((saves(&effects), effects.last()), (vec![(2, Some(SEVEN))], Some(&Effect::Quit)));
        stored.handle(Event::SaveAgainWanted);
        stored.handle(saved(2));
        assert_eq!(stored.handle(Event::QuitRequested), [Effect::Quit]);
        let mut gone = unsaved();
        assert_eq!(gone.handle(Event::LeaveRequested).last(), Some(&Effect::Quit), "nobody could be warned");
    }

    #[test]
    fn a_conversation_that_has_nothing_to_lose_is_not_kept_and_one_of_another_turn_stays_as_it_is() {
        let mut app = with_one_turn();
        app.handle(Event::ConversationStarted);
        assert!(app.open.left.is_empty());
        let mut app = left();
        for event in [Event::ConversationChosen(ConversationId(3)), grew("x")] {
            app.handle(event);
        }
        let turns = vec![with_one_turn().turns()[0].record.clone()];
        app.handle(Event::ConversationOpened { record: conversation(3, "wiki"), turns });
        let seen = app.turns().to_vec();
        app.handle(Event::JobFailed { job: JobId(2), problem: problem() });
        assert_eq!((app.turns(), app.conversation().unwrap().id), (&seen[..], ConversationId(3)));
        assert_eq!(app.problem(), Some(&problem()));
        let later =
            Event::TurnSaved { turn: TurnKey(2), conversation: conversation(7, "wiki"), id: TurnId(71), number: 2 };
        app.handle(later);
        assert_eq!(app.conversation().unwrap().id, ConversationId(3));
        assert_eq!(opened().unlisted().count(), 0);
    }
}
