//! The steps of a turn: rewrite, retrieve, answer, save; explain, save again.
//!
//! Invariant: an event of another turn than the running one changes nothing.
//! Not here: the pipeline itself (`ragonite_rag::pipeline`), storing (`conversation`).

use time::{OffsetDateTime, UtcOffset};

use super::context::Fetched;
use super::conversation::SavedTurn;
use super::notification::Notification;
use super::state::{App, Phase, UnaskedJob};
use super::turn::{ExplainProgress, Explaining, PromptSize, Purpose, Reading, Turn};
use super::{Effect, Event, ExplainRequest, JobId, Problem, Refusal, SuggestRequest, Trigger, TurnKey};
use ragonite_base::{DomainName, TurnId};
use ragonite_history::{Outcome, Trace, TurnRecord};
use ragonite_rag::answer::{Answer, Rewrite, RewriteHow, Suggestions};
use ragonite_rag::attribution::{Attribution, AttributionSettings, Cluster, GroupTest, Method};
use ragonite_rag::pipeline::{TurnRequest, TurnSettings, Wording};
use ragonite_rag::retrieval::Retrieved;

/// A new turn.
pub(super) struct Asked {
    /// The question as typed.
    pub(super) question: String,
    /// The completed question, as far as known.
    pub(super) completed: String,
    /// The trace, as far as known.
    pub(super) trace: Trace,
    /// Time of the question.
    pub(super) at: OffsetDateTime,
}

impl App {
    pub(super) fn ask(&mut self, text: &str, wording: Wording, at: OffsetDateTime) -> Vec<Effect> {
        let question = text.trim();
        if question.is_empty() {
            return Vec::new();
        }
        let domain = match self.ready_to_ask() {
            Ok(domain) => domain,
            Err(refusal) => return self.refuse(refusal),
        };
        let settings = self.turn_settings();
        let asked = Asked {
            question: question.to_owned(),
            completed: question.to_owned(),
            trace: Trace {
                settings: Some(settings.clone()),
                domain_settings: self.domain_settings.overrides.keys(),
                ..Trace::default()
            },
            at,
        };
        self.run_turn(asked, domain, wording, settings)
    }

    /// Appends a turn to the conversation and runs it.
    pub(super) fn run_turn(
        &mut self,
        asked: Asked,
        domain: DomainName,
        wording: Wording,
        settings: TurnSettings,
    ) -> Vec<Effect> {
        let (question, today) = (asked.question.clone(), asked.at.to_offset(UtcOffset::UTC).date());
        let turn = self.begin(asked);
        let mut effects = self.stop_unasked();
        let shown = &self.open.shown;
        // An edited question is searched alone, because the earlier questions include the one it corrects.
        let first = shown.turn(shown.first_asked(turn)).and_then(|first| first.record.trace.rewrite.as_ref());
        let is_edited = first.map_or(wording == Wording::Edited, |first| first.how == RewriteHow::Edited);
        let request = TurnRequest {
            question,
            wording,
            past: self.history_before(turn),
            earlier: if is_edited { Vec::new() } else { self.earlier_questions(turn) },
            today: Some(today),
            settings,
        };
        effects.push(Effect::RunTurn { turn, domain, request: Box::new(request) });
        effects
    }

    /// The domain for a new question, or why none can be asked now.
    pub(super) fn ready_to_ask(&self) -> Result<DomainName, Refusal> {
        if self.is_busy_aside() {
            return Err(Refusal::AnotherRuns);
        }
        if self.is_busy() {
            return Err(Refusal::TurnRuns);
        }
        if self.is_opening() {
            return Err(Refusal::OpeningBeforeAsking);
        }
        // A domain cannot be created without models either.
        let no_models = self.missing_models.as_ref().map(|missing| Refusal::NoModels(missing.fetching));
        self.domain_name().ok_or(no_models.unwrap_or(Refusal::NoDomain))
    }

    /// Whether a question can be asked now.
    pub fn may_ask(&self) -> bool {
        self.ready_to_ask().is_ok()
    }

    /// Appends a turn to the conversation.
    fn begin(&mut self, asked: Asked) -> TurnKey {
        self.notes.problem = None;
        if self.turns().is_empty() {
            // The search result would lack the new conversation.
            self.end_search();
        }
        let key = self.next_key();
        let trace = Trace {
            profile: self.engine.profile.clone(),
            embedder: self.engine.embedder.clone(),
            generator: asked
                .trace
                .settings
                .as_ref()
                .map_or(&*self.engine.generator, |with| self.generator_of(with))
                .to_owned(),
            ..asked.trace
        };
        let record = TurnRecord {
            id: TurnId(0),
            number: self.turns().iter().map(|turn| turn.record.number).max().unwrap_or(0).saturating_add(1),
            question: asked.question,
            completed_question: asked.completed,
            outcome: Outcome::Canceled,
            asked_at: asked.at,
            feedback: None,
            trace,
        };
        self.open.shown.turns.push(Turn::of(key, record));
        self.jobs.phase = Phase::Rewriting(key);
        key
    }

    pub(super) fn explain(&mut self, index: usize, method: Method, purpose: Purpose) -> Vec<Effect> {
        if self.is_busy() {
            return self.refuse_while_busy();
        }
        if self.is_opening() {
            return self.refuse(Refusal::Opening);
        }
        let Some(turn) = self.turns().get(index).filter(|turn| turn.is_answered()) else {
            return self.refuse(Refusal::NothingToExplain);
        };
        let generator = &turn.record.trace.generator;
        if method.asks_the_model() && !generator.is_empty() && !self.has_generator(generator) {
            // Another model has other tokens and other answers.
            return self.refuse(Refusal::OtherModel);
        }
        if purpose == Purpose::Sentences
            && turn.record.trace.attribution.as_ref().is_some_and(|shown| shown.instead.is_some())
        {
            // Only sentences of the stored answer can be scored again.
            return self.refuse(Refusal::OtherAnswer);
        }
        let key = turn.key;
        if self.adopt_prefetch(index, method, purpose) {
            return Vec::new();
        }
        let mut effects = self.stop_unasked();
        if let Some(explanation) = self.explanation(index, method, purpose, key.job(), Trigger::User) {
            self.notes.problem = None;
            self.jobs.phase = Phase::Explaining(key);
            effects.push(explanation);
        }
        effects
    }

    /// The effect that explains an answer as `job`.
    pub(super) fn explanation(
        &mut self,
        index: usize,
        method: Method,
        purpose: Purpose,
        job: JobId,
        demand: Trigger,
    ) -> Option<Effect> {
        let domain = self.domain_name()?;
        let mut settings = self.turn_settings();
        settings.attribution.method = method;
        let turn = self.open.shown.turns.get_mut(index)?;
        let hits = turn.hits_in_prompt();
        let answer = turn.record.trace.answer.as_ref()?.as_written();
        if !turn.record.trace.generator.is_empty() {
            settings.model = turn.record.trace.generator.parse().unwrap_or_default();
        }
        turn.problem = None;
        if let Some(answered_with) = &turn.record.trace.settings {
            // Counterfactual answers have the prompt limits of the original.
            settings.prompt.clone_from(&answered_with.prompt);
        }
        let mut known = Vec::new();
        if purpose == Purpose::Answer {
            settings.attribution = turn.record.trace.explained_next(settings.attribution);
            known = turn.record.trace.known(&settings.attribution);
        }
        let with = settings.attribution.clone();
        turn.explaining = Some(Explaining {
            method,
            purpose,
            settings: with,
            progress: ExplainProgress::default(),
            demand,
            clusters: Vec::new(),
        });
        let (turn, question) = (turn.key, turn.record.completed_question.clone());
        let request = ExplainRequest { turn, demand, domain, method, question, answer, hits, known, settings };
        Some(Effect::Explain { job, request: Box::new(request) })
    }

    fn refuse_while_busy(&mut self) -> Vec<Effect> {
        let refusal = if self.is_busy_aside() { Refusal::AnotherRuns } else { Refusal::WorkRuns };
        self.refuse(refusal)
    }

    /// Whether an earlier explanation by `method` with the current settings exists.
    pub fn is_explained_by(&self, index: usize, method: Method) -> bool {
        let earlier = self.turns().get(index).and_then(|turn| turn.record.trace.earlier(method));
        let now = AttributionSettings { method, ..self.turn_settings().attribution };
        // An explanation without group test is as good as one with it.
        let is_as_good = |with: &AttributionSettings| {
            *with == now || *with == AttributionSettings { group_test: GroupTest::Off, ..now.clone() }
        };
        earlier.is_some_and(|earlier| earlier.settings.as_ref().is_none_or(is_as_good))
    }

    /// Shows an earlier explanation and keeps the current one.
    pub(super) fn show_earlier(&mut self, index: usize, method: Method) -> Vec<Effect> {
        if self.is_busy() {
            return self.refuse_while_busy();
        }
        let Some(turn) = self.open.shown.turns.get_mut(index) else { return Vec::new() };
        let Some(earlier) = turn.record.trace.earlier(method).cloned() else { return Vec::new() };
        turn.record.trace.attribute(earlier.attribution, earlier.settings);
        turn.problem = None;
        turn.add_up_timings();
        let key = turn.key;
        self.notes.problem = None;
        self.save(key)
    }

    /// Generates suggestions for a turn, where configured and idle.
    fn suggest(&mut self, key: TurnKey) -> Vec<Effect> {
        if self.is_busy() || self.settings.suggestions == Suggestions::Off {
            return Vec::new();
        }
        // A variant has the suggestions of its original.
        let Some(conversation) = self.open.of(key) else { return Vec::new() };
        let Some(turn) = conversation.turn(key).filter(|turn| turn.variant().is_none()) else { return Vec::new() };
        let Some(answer) = turn.answer().filter(|answer| answer.answered).cloned() else { return Vec::new() };
        let (question, hits) = (turn.record.completed_question.clone(), turn.hits_in_prompt());
        let model = turn.record.trace.settings.as_ref().map(|with| with.model.clone()).unwrap_or_default();
        let wordings = |turn: &Turn| [turn.record.question.clone(), turn.record.completed_question.clone()];
        let asked = conversation.turns.iter().flat_map(wordings).collect();
        let request = Box::new(SuggestRequest { question, answer, hits, asked, model });
        let job = self.next_job();
        self.jobs.suggesting = Some(UnaskedJob { job, turn: key });
        vec![Effect::Suggest { job, request }]
    }

    pub(super) fn suggested(&mut self, job: JobId, questions: Vec<String>) -> Vec<Effect> {
        let Some(UnaskedJob { turn: key, .. }) = self.jobs.suggesting.take_if(|running| running.job == job) else {
            return Vec::new();
        };
        if questions.is_empty() {
            return self.prefetch_explanation(key);
        }
        self.with_turn(key, |turn| turn.record.trace.suggestions = questions);
        let mut effects = self.save(key);
        effects.extend(self.prefetch_explanation(key));
        effects
    }

    /// Cancels prefetches and suggestions, because the generator is needed.
    pub(super) fn stop_unasked(&mut self) -> Vec<Effect> {
        let mut effects = self.stop_prefetch();
        effects.extend(self.jobs.suggesting.take().map(|unasked| Effect::CancelJob(unasked.job)));
        effects
    }

    pub(super) fn cancel(&mut self) -> Vec<Effect> {
        match self.jobs.phase.turn() {
            Some(key) if self.jobs.canceling != Some(key) => {
                self.jobs.canceling = Some(key);
                vec![Effect::CancelJob(self.job_of(key))]
            }
            Some(_) => Vec::new(),
            None => self.stop_unasked(),
        }
    }

    /// Handles an event of a turn. The last arm drops stale events.
    pub(super) fn step(&mut self, event: Event) -> Vec<Effect> {
        if let Some(effects) = self.prefetch_event(&event) {
            return effects;
        }
        match (self.jobs.phase, event) {
            (Phase::Rewriting(key), Event::QuestionTranslated { turn, translation }) if key == turn => {
                self.with_turn(key, |turn| turn.record.trace.translation = Some(*translation))
            }
            (Phase::Rewriting(key), Event::QuestionCompleted { turn, rewrite }) if key == turn => {
                self.completed(key, *rewrite)
            }
            (Phase::Retrieving(key), Event::HitsRetrieved { turn, retrieved }) if key == turn => {
                self.retrieved(key, *retrieved)
            }
            (Phase::Answering(key), Event::PromptBuilt { turn, tokens, sources, cut }) if key == turn => {
                self.with_turn(key, |turn| turn.prompt = Some(PromptSize { tokens, sources, cut }))
            }
            (Phase::Answering(key), Event::PromptRead { turn, done, total }) if key == turn => {
                self.with_turn(key, |turn| turn.reading = Some(Reading { done, total }))
            }
            (Phase::Answering(key), Event::AnswerGrew { turn, text }) if key == turn => {
                self.with_turn(key, |turn| turn.streamed.push_str(&text))
            }
            (Phase::Answering(key), Event::AnswerFinished { turn, answer }) if key == turn => {
                self.answered(key, *answer)
            }
            (Phase::Explaining(key), Event::AttributionAdvanced { job, done, total, clusters, elapsed })
                if key.job() == job =>
            {
                self.advanced(key, ExplainProgress { done, total, elapsed }, &clusters)
            }
            (Phase::Explaining(key), Event::AttributionFinished { job, attribution }) if key.job() == job => {
                self.explained(key, *attribution)
            }
            (Phase::Explaining(key), Event::JobCanceled { job }) if key.job() == job => self.stop_explaining(key, None),
            (Phase::Explaining(key), Event::JobFailed { job, problem }) if key.job() == job => {
                self.stop_explaining(key, Some(problem))
            }
            (_, Event::JobCanceled { job } | Event::JobFailed { job, .. })
                if self.jobs.suggesting.is_some_and(|unasked| unasked.job == job) =>
            {
                // A failed prefetch or suggestion is silent.
                let answered = self.jobs.suggesting.take().map(|unasked| unasked.turn);
                answered.map(|key| self.prefetch_explanation(key)).unwrap_or_default()
            }
            (_, Event::JobCanceled { job }) if self.is_trying(job) => self.tried(job, None),
            (_, Event::JobFailed { job, problem }) if self.is_trying(job) => {
                self.tried(job, Some(Fetched::Failed(problem)))
            }
            (phase, Event::JobCanceled { job }) => match phase.turn().filter(|turn| turn.job() == job) {
                Some(turn) => self.settle(turn, Outcome::Canceled),
                None => Vec::new(),
            },
            (phase, Event::JobFailed { job, problem }) => {
                let Some(turn) = phase.turn().filter(|turn| turn.job() == job) else { return Vec::new() };
                let outcome = Outcome::Failed(problem.to_string());
                self.notes.problem = Some(problem.clone().into());
                self.with_turn(turn, |turn| turn.problem = Some(problem));
                self.settle(turn, outcome)
            }
            _ => Vec::new(),
        }
    }

    fn completed(&mut self, key: TurnKey, rewrite: Rewrite) -> Vec<Effect> {
        self.jobs.phase = Phase::Retrieving(key);
        self.with_turn(key, |turn| {
            turn.record.completed_question.clone_from(&rewrite.completed);
            turn.record.trace.rewrite = Some(rewrite);
            turn.add_up_timings();
        })
    }

    fn retrieved(&mut self, key: TurnKey, retrieved: Retrieved) -> Vec<Effect> {
        self.jobs.phase = Phase::Answering(key);
        self.with_turn(key, |turn| {
            turn.record.trace.retrieved = Some(retrieved);
            turn.add_up_timings();
        })
    }

    fn answered(&mut self, key: TurnKey, answer: Answer) -> Vec<Effect> {
        self.with_turn(key, |turn| turn.record.trace.answer = Some(answer));
        let mut effects = self.settle(key, Outcome::Answered);
        effects.extend(self.suggest(key));
        effects.extend(self.prefetch_explanation(key));
        effects
    }

    pub(super) fn advanced(&mut self, key: TurnKey, progress: ExplainProgress, clusters: &[Cluster]) -> Vec<Effect> {
        self.with_turn(key, |turn| {
            if let Some(explaining) = &mut turn.explaining {
                explaining.advance(progress, clusters);
            }
        })
    }

    pub(super) fn explained(&mut self, key: TurnKey, attribution: Attribution) -> Vec<Effect> {
        self.with_turn(key, |turn| {
            let explaining = turn.explaining.take();
            let purpose = explaining.as_ref().map(|explaining| explaining.purpose).unwrap_or_default();
            let trace = &mut turn.record.trace;
            match trace.attribution.take_if(|_| purpose == Purpose::Sentences) {
                Some(known) => trace.attribution = Some(known.with_sentences_of(attribution)),
                None => trace.attribute(attribution, explaining.map(|explaining| explaining.settings)),
            }
        });
        self.settle(key, Outcome::Answered)
    }

    /// Stops an explanation and keeps its clusters; the rest of the turn stays.
    pub(super) fn stop_explaining(&mut self, key: TurnKey, problem: Option<Problem>) -> Vec<Effect> {
        if problem.is_some() {
            self.notes.problem = problem.clone().map(Notification::from);
        }
        let effects = self.keep_stopped(key);
        self.with_turn(key, |turn| turn.problem = problem);
        self.go_idle();
        effects
    }

    /// Keeps the clusters of a stopped explanation.
    pub(super) fn keep_stopped(&mut self, key: TurnKey) -> Vec<Effect> {
        let mut has_more = false;
        self.with_turn(key, |turn| {
            if let Some(explaining) = turn.explaining.take() {
                has_more = turn.keep_stopped(explaining);
            }
        });
        if has_more { self.save(key) } else { Vec::new() }
    }

    /// Ends the running turn and stores it.
    fn settle(&mut self, key: TurnKey, outcome: Outcome) -> Vec<Effect> {
        self.with_turn(key, |turn| {
            turn.keep_streamed();
            turn.record.outcome = outcome;
            turn.add_up_timings();
        });
        let effects = self.save(key);
        self.go_idle();
        effects
    }

    fn go_idle(&mut self) {
        self.jobs.phase = Phase::Idle;
        self.jobs.canceling = None;
    }

    fn save(&mut self, key: TurnKey) -> Vec<Effect> {
        self.open.of_mut(key).map(|conversation| conversation.save(key)).unwrap_or_default()
    }

    pub(super) fn saved(&mut self, key: TurnKey, saved: SavedTurn) -> Vec<Effect> {
        let record = &saved.conversation;
        if record.deleted_at.is_none() && self.domain.as_ref().is_some_and(|domain| domain.name == record.domain) {
            self.list_first(record);
        }
        self.open.of_mut(key).map(|conversation| conversation.saved(key, saved)).unwrap_or_default()
    }

    pub(super) fn save_failed(&mut self, key: TurnKey, problem: Problem) -> Vec<Effect> {
        self.notes.problem = Some(problem.clone().into());
        if self.open.of_mut(key).is_some_and(|conversation| conversation.save_failed(key)) {
            (self.notes.save_problem, self.notes.quit_warned) = (Some(problem), false);
        }
        Vec::new()
    }

    /// Changes a turn, without effects.
    fn with_turn(&mut self, key: TurnKey, change: impl FnOnce(&mut Turn)) -> Vec<Effect> {
        if let Some(turn) = self.open.of_mut(key).and_then(|conversation| conversation.turn_mut(key)) {
            change(turn);
        }
        Vec::new()
    }
}
