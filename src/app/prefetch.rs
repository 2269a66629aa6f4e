//! Prefetched explanations: an answer is explained while the user reads it.
//!
//! Takes an answered turn, gives the effect that explains it. Cancels the explanation as soon as the generator is
//! needed; the clusters known by then are kept, so that it can continue.
//! Invariants: nothing waits for a prefetch; a request for the same explanation adopts the running one.
//! Not here: what runs on battery (`workers`), requested explanations (`steps`).

use super::state::{App, Phase, UnaskedJob};
use super::turn::{ExplainProgress, Purpose};
use super::{Effect, Event, JobId, Trigger, TurnKey};
use ragonite_rag::attribution::{AttributionSettings, ExplainAhead, Method};

impl App {
    /// The turn that is being prefetched.
    pub fn prefetching(&self) -> Option<TurnKey> {
        self.jobs.prefetch.map(|job| job.turn).filter(|_| !self.is_busy())
    }

    /// Prefetches the explanation of a new answer, where configured and idle.
    pub(super) fn prefetch_explanation(&mut self, key: TurnKey) -> Vec<Effect> {
        let method = self.method();
        let is_idle = !self.is_busy() && self.jobs.prefetch.is_none() && self.jobs.suggesting.is_none();
        if self.settings.explain_ahead == ExplainAhead::Off || !is_idle || !method.asks_the_model() {
            return Vec::new();
        }
        let is_worth_it = |at: &usize| {
            let turn = &self.turns()[*at];
            let is_answered = turn.is_answered() && turn.answer().is_some_and(|answer| answer.answered);
            turn.key == key && is_answered && turn.variant().is_none() && turn.record.trace.attribution.is_none()
        };
        // Only the shown conversation is prefetched.
        let Some(index) = (0..self.turns().len()).find(is_worth_it) else { return Vec::new() };
        let job = self.next_job();
        let explanation = self.explanation(index, method, Purpose::Answer, job, Trigger::Prefetch);
        if explanation.is_some() {
            self.jobs.prefetch = Some(UnaskedJob { job, turn: key });
        }
        explanation.into_iter().collect()
    }

    /// Turns the running prefetch into the requested explanation. False where it is another one or none runs.
    pub(super) fn adopt_prefetch(&mut self, index: usize, method: Method, purpose: Purpose) -> bool {
        let Some(turn) = self.turns().get(index) else { return false };
        let (key, explaining) = (turn.key, turn.explaining.as_ref());
        let wanted = AttributionSettings { method, ..self.turn_settings().attribution };
        let wanted = turn.record.trace.explained_next(wanted);
        let is_same = explaining.is_some_and(|one| one.purpose == purpose && one.settings == wanted);
        let is_it = self.prefetching() == Some(key) && is_same;
        if is_it {
            self.notes.problem = None;
            self.jobs.phase = Phase::Explaining(key);
            let turn = self.open.of_mut(key).and_then(|conversation| conversation.turn_mut(key));
            if let Some(explaining) = turn.and_then(|turn| turn.explaining.as_mut()) {
                explaining.demand = Trigger::User;
            }
        }
        is_it
    }

    /// The job that explains a turn, for cancellation.
    pub(super) fn job_of(&self, key: TurnKey) -> JobId {
        self.jobs.prefetch.filter(|prefetch| prefetch.turn == key).map_or(key.job(), |prefetch| prefetch.job)
    }

    /// Handles an event of the prefetch; none where the event is of another job.
    pub(super) fn prefetch_event(&mut self, event: &Event) -> Option<Vec<Effect>> {
        let UnaskedJob { job, turn: key } = self.jobs.prefetch?;
        if event.job() == Some(key.job()) && self.jobs.phase == Phase::Explaining(key) {
            // A late event of the answer.
            return Some(Vec::new());
        }
        if event.job() != Some(job) {
            return None;
        }
        Some(match event {
            Event::AttributionAdvanced { done, total, clusters, elapsed, .. } => {
                let progress = ExplainProgress { done: *done, total: *total, elapsed: *elapsed };
                self.advanced(key, progress, clusters)
            }
            Event::AttributionFinished { attribution, .. } => {
                self.jobs.prefetch = None;
                self.explained(key, (**attribution).clone())
            }
            Event::JobFailed { problem, .. } if self.jobs.phase == Phase::Explaining(key) => {
                self.jobs.prefetch = None;
                self.stop_explaining(key, Some(problem.clone()))
            }
            Event::JobFailed { .. } | Event::JobCanceled { .. } => self.prefetch_ended(key),
            _ => return None,
        })
    }

    /// Cancels the prefetch, because the generator is needed.
    pub(super) fn stop_prefetch(&mut self) -> Vec<Effect> {
        let Some(UnaskedJob { job, turn }) = self.jobs.prefetch else { return Vec::new() };
        let mut effects = vec![Effect::CancelJob(job)];
        effects.extend(self.prefetch_ended(turn));
        effects
    }

    /// Ends the prefetch silently and keeps its clusters.
    fn prefetch_ended(&mut self, key: TurnKey) -> Vec<Effect> {
        self.jobs.prefetch = None;
        if self.jobs.phase == Phase::Explaining(key) { self.stop_explaining(key, None) } else { self.keep_stopped(key) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ConversationChange;
    use super::super::tests::{answered, asked, attributed, completed, known, opened, problem, retrieved, saved};
    use super::*;
    use ragonite_base::{ConversationId, Millis};
    use ragonite_rag::attribution::Provenance;

    /// One answered turn whose answer is being explained though nobody asked for it, under the key 2.
    fn explained_ahead() -> App {
        let mut app = opened();
        app.settings.explain_ahead = ExplainAhead::On;
        for event in [asked("q"), completed(1, "q"), retrieved(1)] {
            app.handle(event);
        }
        let effects = app.handle(answered(1, "a"));
        let [Effect::SaveTurn { .. }, Effect::Explain { job, request }] = &effects[..] else { panic!("{effects:?}") };
        assert_eq!((*job, request.turn, request.demand), (JobId(2), TurnKey(1), Trigger::Prefetch));
        app.handle(saved(1));
        assert_eq!((app.prefetching(), app.phase()), (Some(TurnKey(1)), Phase::Idle));
        app
    }

    fn one_is_known() -> Event {
        Event::AttributionAdvanced {
            job: JobId(2),
            done: 1,
            total: 3,
            clusters: vec![known(1, Provenance::Verified)],
            elapsed: Millis(40.0),
        }
    }

    #[test]
    fn an_answer_is_explained_ahead_until_something_else_is_wanted_and_what_is_known_is_kept() {
        let mut app = explained_ahead();
        assert_eq!(app.handle(one_is_known()), []);
        let effects = app.handle(asked("more"));
        let [Effect::CancelJob(job), Effect::SaveTurn { record, .. }, Effect::RunTurn { .. }] = &effects[..] else {
            panic!("{effects:?}")
        };
        assert_eq!(*job, JobId(2));
        assert_eq!(record.trace.attribution.as_ref().map(|known| (known.clusters.len(), known.missing)), Some((1, 2)));
        assert!(app.is_busy() && app.prefetching().is_none());
        assert_eq!(app.handle(Event::JobCanceled { job: JobId(2) }), [], "it is over already");
        assert!(app.is_busy());
    }

    #[test]
    fn an_explanation_that_runs_ahead_is_the_one_that_is_asked_for() {
        let mut app = explained_ahead();
        app.handle(one_is_known());
        assert_eq!(app.handle(Event::ExplainRequested { turn: 0, method: Method::Counterfactual }), []);
        assert_eq!((app.phase(), app.prefetching()), (Phase::Explaining(TurnKey(1)), None));
        assert_eq!(app.handle(Event::JobCanceled { job: JobId(1) }), [], "its answer is there");
        assert_eq!(app.phase(), Phase::Explaining(TurnKey(1)));
        assert_eq!(app.handle(Event::CancelRequested), [Effect::CancelJob(JobId(2))]);
        let effects = app.handle(Event::JobCanceled { job: JobId(2) });
        assert!(matches!(&effects[..], [Effect::SaveTurn { .. }]), "{effects:?}");
        assert_eq!((app.phase(), app.turns()[0].explaining.is_none()), (Phase::Idle, true));
    }

    #[test]
    fn an_explanation_that_came_to_its_end_ahead_is_there_when_it_is_asked_for() {
        let mut app = explained_ahead();
        let effects = app.handle(attributed(2));
        assert!(matches!(&effects[..], [Effect::SaveTurn { record, .. }] if record.trace.attribution.is_some()));
        assert_eq!((app.phase(), app.prefetching()), (Phase::Idle, None));
    }

    #[test]
    fn another_explanation_stops_the_one_that_runs_ahead_and_so_does_the_key_that_stops() {
        let mut app = explained_ahead();
        let effects = app.handle(Event::ExplainRequested { turn: 0, method: Method::Similarity });
        let [Effect::CancelJob(stopped), Effect::Explain { job, request }] = &effects[..] else {
            panic!("{effects:?}")
        };
        assert_eq!((*stopped, *job, request.demand), (JobId(2), JobId(1), Trigger::User));
        let mut app = explained_ahead();
        assert_eq!(app.handle(Event::CancelRequested), [Effect::CancelJob(JobId(2))]);
        assert_eq!((app.prefetching(), app.turns()[0].explaining.is_none()), (None, true));
    }

    #[test]
    fn an_explanation_ahead_of_a_left_conversation_ends_there() {
        let mut app = explained_ahead();
        app.handle(one_is_known());
        app.handle(Event::ConversationStarted);
        assert_eq!(app.turns().len(), 0);
        let effects = app.handle(asked("elsewhere"));
        assert!(effects.contains(&Effect::CancelJob(JobId(2))), "{effects:?}");
        let kept = effects.iter().find_map(|effect| match effect {
            Effect::SaveTurn { turn: TurnKey(1), record, .. } => record.trace.attribution.as_ref(),
            _ => None,
        });
        assert_eq!(kept.map(|known| known.clusters.len()), Some(1));
        assert!(app.is_busy() && app.open.turns().all(|turn| turn.explaining.is_none()));
    }

    #[test]
    fn with_other_settings_the_explanation_that_runs_ahead_is_not_the_one_that_is_asked_for() {
        let mut app = explained_ahead();
        app.settings.turn.attribution.temperature = 0.5;
        let effects = app.handle(Event::ExplainRequested { turn: 0, method: Method::Counterfactual });
        let [Effect::CancelJob(stopped), Effect::Explain { job, .. }] = &effects[..] else { panic!("{effects:?}") };
        assert_eq!((*stopped, *job), (JobId(2), JobId(1)));
    }

    #[test]
    fn only_throwing_its_own_conversation_away_stops_an_explanation_ahead() {
        let mut app = explained_ahead();
        let delete = |id| Event::ConversationChangeWanted(ConversationChange::Delete(ConversationId(id)));
        assert!(matches!(&app.handle(delete(8))[..], [Effect::ChangeConversation { .. }]));
        assert_eq!(app.prefetching(), Some(TurnKey(1)));
        let effects = app.handle(delete(7));
        assert_eq!(effects[0], Effect::CancelJob(JobId(2)), "{effects:?}");
    }

    #[test]
    fn nobody_is_told_when_an_explanation_ahead_fails() {
        let mut app = explained_ahead();
        assert_eq!(app.handle(Event::JobFailed { job: JobId(2), problem: problem() }), []);
        assert_eq!((app.problem(), app.prefetching(), app.phase()), (None, None, Phase::Idle));
    }
}
