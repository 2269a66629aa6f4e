//! The steps of a turn: rewrite, retrieve, answer, save; explain, save again.
//!
//! Invariants: an event of another turn than the running one changes nothing; a cancelled turn takes no further step;
//! saves of a new conversation wait until the first save has returned its id.

use time::OffsetDateTime;

use super::context::Fetched;
use super::notification::Notification;
use super::state::{App, Phase};
use super::turn::{Explaining, PromptSize, Purpose, Reading, Stored, Turn};
use super::{Effect, Event, Problem, Refusal, Trigger, TurnKey, Wording};
use ragonite_base::{DomainName, TurnId};
use ragonite_history::{ConversationRecord, Outcome, Trace, TurnRecord};
use ragonite_rag::answer::{Answer, Rewrite, RewriteHow, Suggestions};
use ragonite_rag::attribution::{Attribution, AttributionSettings, Cluster, GroupTest, Method};
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
                domain_settings: self.overrides.keys(),
                ..Trace::default()
            },
            at,
        };
        let key = self.begin(asked);
        let question = question.to_owned();
        let mut effects = self.stop_unasked();
        let (past, settings) = (self.history_before(key), Box::new(settings));
        effects.push(Effect::RewriteQuestion { turn: key, domain, question, wording, past, settings });
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

    /// Appends a turn to the conversation and runs it.
    pub(super) fn begin(&mut self, asked: Asked) -> TurnKey {
        self.problem = None;
        if self.turns.is_empty() {
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
            number: self.turns.iter().map(|turn| turn.record.number).max().unwrap_or(0).saturating_add(1),
            question: asked.question,
            completed_question: asked.completed,
            outcome: Outcome::Canceled,
            asked_at: asked.at,
            feedback: None,
            trace,
        };
        self.turns.push(Turn::of(key, record));
        self.phase = Phase::Rewriting(key);
        key
    }

    pub(super) fn explain(&mut self, index: usize, method: Method, purpose: Purpose) -> Vec<Effect> {
        if self.is_busy() {
            return self.refuse_while_busy();
        }
        if self.is_opening() {
            return self.refuse(Refusal::Opening);
        }
        let Some(turn) = self.turns.get(index).filter(|turn| turn.is_answered()) else {
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
        if let Some(explanation) = self.explanation(index, method, purpose, key, Trigger::User) {
            self.problem = None;
            self.phase = Phase::Explaining(key);
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
        job: TurnKey,
        demand: Trigger,
    ) -> Option<Effect> {
        let domain = self.domain_name()?;
        let mut settings = self.turn_settings();
        settings.attribution.method = method;
        let turn = self.turns.get_mut(index)?;
        let hits = turn.hits_in_prompt();
        let answer = Box::new(turn.record.trace.answer.clone()?);
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
        turn.explaining = Some(Explaining { method, purpose, settings: with, done: 0, total: 0, clusters: Vec::new() });
        let (of, question) = (turn.key, turn.record.completed_question.clone());
        let settings = Box::new(settings);
        Some(Effect::Explain { turn: job, of, demand, domain, method, question, answer, hits, known, settings })
    }

    fn refuse_while_busy(&mut self) -> Vec<Effect> {
        let refusal = if self.is_busy_aside() { Refusal::AnotherRuns } else { Refusal::WorkRuns };
        self.refuse(refusal)
    }

    /// Whether an earlier explanation by `method` with the current settings exists.
    pub fn is_explained_by(&self, index: usize, method: Method) -> bool {
        let earlier = self.turns.get(index).and_then(|turn| turn.record.trace.earlier(method));
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
        let Some(turn) = self.turns.get_mut(index) else { return Vec::new() };
        let Some(earlier) = turn.record.trace.earlier(method).cloned() else { return Vec::new() };
        turn.record.trace.attribute(earlier.attribution, earlier.settings);
        turn.problem = None;
        turn.add_up_timings();
        let key = turn.key;
        self.problem = None;
        self.save(key)
    }

    /// Generates suggestions for a turn, where configured and idle.
    fn suggest(&mut self, key: TurnKey) -> Vec<Effect> {
        if self.is_busy() || self.settings.suggestions == Suggestions::Off {
            return Vec::new();
        }
        // A variant has the suggestions of its original.
        let Some(turn) = self.turn(key).filter(|turn| turn.variant().is_none()) else { return Vec::new() };
        let Some(answer) = turn.answer().filter(|answer| answer.answered).cloned() else { return Vec::new() };
        let (question, hits) = (turn.record.completed_question.clone(), turn.hits_in_prompt());
        let model = turn.record.trace.settings.as_ref().map(|with| with.model.clone()).unwrap_or_default();
        let wordings = |turn: &Turn| [turn.record.question.clone(), turn.record.completed_question.clone()];
        let asked = self.turns.iter().flat_map(wordings).collect();
        let job = self.next_key();
        self.suggesting = Some((job, key));
        vec![Effect::Suggest { turn: job, question, answer: Box::new(answer), hits, asked, model }]
    }

    pub(super) fn suggested(&mut self, job: TurnKey, questions: Vec<String>) -> Vec<Effect> {
        let Some((_, key)) = self.suggesting.take_if(|(running, _)| *running == job) else { return Vec::new() };
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
        effects.extend(self.suggesting.take().map(|(job, _)| Effect::CancelTurn(job)));
        effects
    }

    pub(super) fn cancel(&mut self) -> Vec<Effect> {
        match self.phase.turn() {
            Some(key) if self.canceling != Some(key) => {
                self.canceling = Some(key);
                vec![Effect::CancelTurn(self.job_of(key))]
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
        match (self.phase, event) {
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
            (Phase::Explaining(key), Event::AttributionAdvanced { turn, done, total, clusters }) if key == turn => {
                self.advanced(key, done, total, &clusters)
            }
            (Phase::Explaining(key), Event::AttributionFinished { turn, attribution }) if key == turn => {
                self.explained(key, *attribution)
            }
            (Phase::Explaining(key), Event::TurnCanceled { turn }) if key == turn => self.stop_explaining(key, None),
            (Phase::Explaining(key), Event::TurnFailed { turn, problem }) if key == turn => {
                self.stop_explaining(key, Some(problem))
            }
            (_, Event::TurnCanceled { turn } | Event::TurnFailed { turn, .. })
                if self.suggesting.is_some_and(|(job, _)| job == turn) =>
            {
                // A failed prefetch or suggestion is silent.
                let answered = self.suggesting.take().map(|(_, answered)| answered);
                answered.map(|key| self.prefetch_explanation(key)).unwrap_or_default()
            }
            (_, Event::TurnCanceled { turn }) if self.is_trying(turn) => self.tried(turn, None),
            (_, Event::TurnFailed { turn, problem }) if self.is_trying(turn) => {
                self.tried(turn, Some(Fetched::Failed(problem)))
            }
            (phase, Event::TurnCanceled { turn }) if phase.turn() == Some(turn) => self.settle(turn, Outcome::Canceled),
            (phase, Event::TurnFailed { turn, problem }) if phase.turn() == Some(turn) => {
                let outcome = Outcome::Failed(problem.to_string());
                self.problem = Some(problem.clone().into());
                self.with_turn(turn, |turn| turn.problem = Some(problem));
                self.settle(turn, outcome)
            }
            _ => Vec::new(),
        }
    }

    fn completed(&mut self, key: TurnKey, rewrite: Rewrite) -> Vec<Effect> {
        let query = rewrite.completed.clone();
        let question = self.turn(key).map(|turn| turn.record.question.clone()).unwrap_or_default();
        // An edited question is searched alone, because the earlier questions include the one it corrects.
        let first = self.turn(self.first_asked(key)).and_then(|turn| turn.record.trace.rewrite.as_ref());
        let how = first.map_or(rewrite.how, |first| first.how);
        let earlier = if how == RewriteHow::Edited { Vec::new() } else { self.earlier_questions(key) };
        let translation = self.turn(key).and_then(|turn| turn.record.trace.translation.as_ref());
        let translated = translation.and_then(|translation| translation.text.clone());
        let settings = self.turn(key).map(|turn| Box::new(turn.settings())).unwrap_or_default();
        self.with_turn(key, |turn| {
            turn.record.completed_question.clone_from(&query);
            turn.record.trace.rewrite = Some(rewrite);
            turn.add_up_timings();
        });
        match self.domain_name() {
            Some(domain) if !self.is_canceling() => {
                self.phase = Phase::Retrieving(key);
                vec![Effect::Retrieve { turn: key, domain, query, question, translated, earlier, settings }]
            }
            // The step ended before it saw the cancellation; no other event will come.
            _ => self.settle(key, Outcome::Canceled),
        }
    }

    fn retrieved(&mut self, key: TurnKey, retrieved: Retrieved) -> Vec<Effect> {
        let settings = self.turn(key).map(|turn| Box::new(turn.settings())).unwrap_or_default();
        let hits = retrieved.for_prompt(settings.sources);
        let past = self.history_before(key);
        self.with_turn(key, |turn| {
            turn.record.trace.retrieved = Some(retrieved);
            turn.add_up_timings();
        });
        let question = self.turn(key).map(|turn| turn.record.completed_question.clone()).unwrap_or_default();
        let typed = self.turn(key).map(|turn| turn.record.question.clone()).unwrap_or_default();
        match self.domain_name() {
            Some(domain) if !self.is_canceling() => {
                self.phase = Phase::Answering(key);
                vec![Effect::GenerateAnswer { turn: key, domain, question, typed, past, hits, settings }]
            }
            _ => self.settle(key, Outcome::Canceled),
        }
    }

    fn answered(&mut self, key: TurnKey, answer: Answer) -> Vec<Effect> {
        self.with_turn(key, |turn| turn.record.trace.answer = Some(answer));
        let mut effects = self.settle(key, Outcome::Answered);
        effects.extend(self.suggest(key));
        effects.extend(self.prefetch_explanation(key));
        effects
    }

    pub(super) fn advanced(&mut self, key: TurnKey, done: usize, total: usize, clusters: &[Cluster]) -> Vec<Effect> {
        self.with_turn(key, |turn| {
            if let Some(explaining) = &mut turn.explaining {
                explaining.advance(done, total, clusters);
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
            self.problem = problem.clone().map(Notification::from);
        }
        let mut effects = self.keep_stopped(key);
        self.with_turn(key, |turn| turn.problem = problem);
        effects.extend(self.rest());
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
        let mut effects = self.save(key);
        effects.extend(self.rest());
        effects
    }

    /// Goes idle.
    fn rest(&mut self) -> Vec<Effect> {
        self.phase = Phase::Idle;
        self.canceling = None;
        Vec::new()
    }

    fn save(&mut self, key: TurnKey) -> Vec<Effect> {
        let first_is_on_its_way =
            self.conversation.is_none() && self.turns.iter().any(|turn| turn.stored.is_on_its_way());
        let conversation = self.conversation.as_ref().map(|conversation| conversation.id);
        let Some(domain) = self.domain_name() else { return Vec::new() };
        let Some(turn) = self.turn_mut(key) else { return Vec::new() };
        match turn.stored {
            Stored::Saving | Stored::SavingOld => {
                turn.stored = Stored::SavingOld;
                Vec::new()
            }
            Stored::Settled | Stored::Waiting | Stored::Unsaved if first_is_on_its_way => {
                turn.stored = Stored::Waiting;
                Vec::new()
            }
            Stored::Settled | Stored::Waiting | Stored::Unsaved => {
                turn.stored = Stored::Saving;
                let record = Box::new(turn.record.clone());
                vec![Effect::SaveTurn { turn: key, domain, conversation, record }]
            }
        }
    }

    pub(super) fn saved(
        &mut self,
        key: TurnKey,
        conversation: ConversationRecord,
        id: TurnId,
        number: u32,
    ) -> Vec<Effect> {
        let is_listed = conversation.deleted_at.is_none();
        if is_listed && self.domain.as_ref().is_some_and(|domain| domain.name == conversation.domain) {
            self.list_first(&conversation);
        }
        let Some(turn) = self.turn_mut(key) else { return Vec::new() };
        if !turn.stored.is_on_its_way() {
            return Vec::new();
        }
        let is_new = turn.record.id == TurnId(0);
        let before = turn.record.number;
        // The number may be higher, where another program continued the conversation or a later turn was stored
        // first.
        turn.record.number = number;
        turn.record.id = id;
        turn.stored = if turn.stored == Stored::SavingOld { Stored::Waiting } else { Stored::Settled };
        self.follow_number(key, before, number);
        self.conversation = Some(conversation);
        let mut effects = self.save_waiting();
        if is_new {
            effects.extend(self.late_rating(id));
        }
        effects
    }

    pub(super) fn save_failed(&mut self, key: TurnKey, problem: Problem) -> Vec<Effect> {
        self.problem = Some(problem.clone().into());
        let Some(turn) = self.turn_mut(key).filter(|turn| turn.stored.is_on_its_way()) else { return Vec::new() };
        turn.stored = Stored::Unsaved;
        (self.save_problem, self.quit_warned) = (Some(problem), false);
        if self.conversation.is_none() {
            // Turns that wait for the new conversation cannot be stored either.
            for turn in self.turns.iter_mut().filter(|turn| turn.stored == Stored::Waiting) {
                turn.stored = Stored::Unsaved;
            }
        }
        Vec::new()
    }

    pub(super) fn save_waiting(&mut self) -> Vec<Effect> {
        let waiting = self.turns.iter().filter(|turn| matches!(turn.stored, Stored::Waiting | Stored::Unsaved));
        let keys: Vec<TurnKey> = waiting.map(|turn| turn.key).collect();
        keys.into_iter().flat_map(|key| self.save(key)).collect()
    }

    fn domain_name(&self) -> Option<DomainName> {
        self.background_domain.clone().or_else(|| self.domain.as_ref().map(|domain| domain.name.clone()))
    }

    fn with_turn(&mut self, key: TurnKey, change: impl FnOnce(&mut Turn)) -> Vec<Effect> {
        if let Some(turn) = self.turn_mut(key) {
            change(turn);
        }
        Vec::new()
    }
}
