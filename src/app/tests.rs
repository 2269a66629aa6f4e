//! Events in, state and effects out.

use proptest::prelude::*;
use time::OffsetDateTime;

use super::*;
use ragonite_base::{ConversationId, DocumentId, DomainName, EvidenceId, Language, Millis, TurnId};
use ragonite_config::{Edit, Setting, SettingsOverride};
use ragonite_document::evidence::ContextParts;
use ragonite_history::{ConversationRecord, Feedback, Format, Found, OtherSetting, Outcome, Rating, TurnSettings};
use ragonite_index::{IngestProgress, IngestReport, IngestStage};
use ragonite_inference::{Completion, Finish, GeneratorChoice, Sampling};
use ragonite_rag::answer::{Answer, Rewrite, RewriteHow, Suggestions, Translation, TranslationHow};
use ragonite_rag::attribution::{
    Attribution, AttributionSettings, AttributionTimings, Cluster, ExplainAhead, GroupTest, Method, Provenance,
    Sentence,
};
use ragonite_rag::pipeline::{TurnRequest, Wording};
use ragonite_rag::prompt::Prompt;
use ragonite_rag::retrieval::{EarlierQuestion, Mode, Override, OverrideKind, Retrieved};

const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

pub(super) fn name(text: &str) -> DomainName {
    text.parse().unwrap()
}

pub(super) fn domain(text: &str) -> DomainSummary {
    DomainSummary {
        name: name(text),
        documents: 1,
        evidences: 2,
        changed_at: String::new(),
        ingested_at: String::new(),
        health: DomainHealth::Ready,
        problem: None,
    }
}

pub(super) fn conversation(id: i64, domain: &str) -> ConversationRecord {
    ConversationRecord {
        id: ConversationId(id),
        domain: name(domain),
        title: "t".into(),
        started_at: NOW,
        changed_at: NOW,
        turns: 1,
        pinned: false,
        deleted_at: None,
    }
}

pub(super) fn asked(text: &str) -> Event {
    Event::QuestionAsked { text: text.into(), at: NOW }
}

pub(super) fn completed(turn: u64, text: &str) -> Event {
    let rewrite = Rewrite {
        completed: text.into(),
        how: RewriteHow::First,
        prompt: None,
        completion: None,
        total_ms: Millis(1.0),
    };
    Event::QuestionCompleted { turn: TurnKey(turn), rewrite: Box::new(rewrite) }
}

pub(super) fn retrieved(turn: u64) -> Event {
    let mut retrieved = Retrieved::default();
    retrieved.timings_ms.total = Millis(2.0);
    Event::HitsRetrieved { turn: TurnKey(turn), retrieved: Box::new(retrieved) }
}

pub(super) fn answered(turn: u64, text: &str) -> Event {
    let completion = Completion {
        text: text.into(),
        tokens: vec![],
        prompt_tokens: 3,
        reused_tokens: 0,
        drafted_tokens: 0,
        narrowest: None,
        log_probabilities: Vec::new(),
        draft_log_probabilities: Vec::new(),
        finish: Finish::End,
        first_token_ms: Millis(3.0),
        total_ms: Millis(4.0),
    };
    let answer = Answer {
        named: None,
        withheld: None,
        text: text.into(),
        answered: true,
        citations: vec![],
        invalid_citations: vec![],
        language: Language::English,
        prompt: Prompt::default(),
        sampling: Sampling::Greedy,
        completion,
    };
    Event::AnswerFinished { turn: TurnKey(turn), answer: Box::new(answer) }
}

pub(super) fn attributed(turn: u64) -> Event {
    let timings_ms = AttributionTimings { total: Millis(8.0), ..AttributionTimings::default() };
    let attribution = Attribution { timings_ms, ..Attribution::new(Method::Counterfactual) };
    Event::AttributionFinished { job: JobId(turn), attribution: Box::new(attribution) }
}

pub(super) fn saved(turn: u64) -> Event {
    Event::TurnSaved {
        turn: TurnKey(turn),
        conversation: conversation(7, "wiki"),
        id: TurnId(70),
        number: u32::try_from(turn).unwrap(),
    }
}

pub(super) fn problem() -> Problem {
    Problem { what: "it broke".into(), next: "mend it".into() }
}

/// Models were looked for.
fn looked(missing: Option<MissingModels>) -> Event {
    Event::ModelsLooked { missing, generators: Vec::new() }
}

/// An app with the domain `wiki` open.
pub(super) fn opened() -> App {
    let mut app = App::new(AppSettings { suggestions: Suggestions::Off, ..AppSettings::default() });
    app.handle(Event::DomainChosen(name("wiki")));
    app.handle(Event::DomainOpened(domain("wiki")));
    app
}

pub(super) fn after(events: impl IntoIterator<Item = Event>) -> App {
    let mut app = opened();
    for event in events {
        app.handle(event);
    }
    app
}

/// The turn that the only effect runs.
pub(super) fn run_of(effects: &[Effect]) -> &TurnRequest {
    let [Effect::RunTurn { request, .. }] = effects else { panic!("{effects:?}") };
    request
}

/// The explanation that is the only effect.
pub(super) fn explain_of(effects: &[Effect]) -> &ExplainRequest {
    let [Effect::Explain { request, .. }] = effects else { panic!("{effects:?}") };
    request
}

/// One answered and stored turn.
pub(super) fn with_one_turn() -> App {
    after([asked("q"), completed(1, "q"), retrieved(1), answered(1, "a"), saved(1)])
}

#[test]
fn a_translation_of_the_running_turn_is_kept() {
    let translation = Translation {
        text: Some("who then?".into()),
        from: Language::German,
        to: Language::English,
        how: TranslationHow::Model,
        prompt: None,
        completion: None,
        total_ms: Millis(3.0),
    };
    let translated =
        |turn| Event::QuestionTranslated { turn: TurnKey(turn), translation: Box::new(translation.clone()) };
    let mut app = after([asked("wer?"), translated(1), completed(1, "wer denn?"), translated(1)]);
    let record = &app.turns()[0].record;
    assert_eq!(record.trace.translation.as_ref(), Some(&translation));
    assert_eq!((record.trace.timings_ms.translate, record.trace.timings_ms.total), (Millis(3.0), Millis(4.0)));
    app = after([asked("wer?"), translated(9)]);
    assert_eq!(app.turns()[0].record.trace.translation, None);
}

#[test]
fn a_question_goes_through_every_stage_and_is_saved() {
    let mut app = opened();
    let effects = app.handle(asked("  who? "));
    let request = run_of(&effects);
    assert_eq!((request.question.as_str(), &request.wording, request.past.len()), ("who?", &Wording::Typed, 0));
    assert_eq!(app.handle(completed(1, "who then?")), []);
    assert_eq!(
        (app.phase(), app.turns()[0].record.completed_question.as_str()),
        (Phase::Retrieving(TurnKey(1)), "who then?")
    );
    assert_eq!(app.handle(retrieved(1)), []);
    assert_eq!(app.phase(), Phase::Answering(TurnKey(1)));
    app.handle(Event::AnswerGrew { turn: TurnKey(1), text: "she ".into() });
    assert_eq!(app.turns()[0].text(), "she ");
    let save = app.handle(answered(1, "she did"));
    let [Effect::SaveTurn { conversation: None, record, .. }] = &save[..] else { panic!("{save:?}") };
    assert_eq!(record.outcome, Outcome::Answered);
    assert_eq!(record.trace.timings_ms.total, Millis(7.0));
    assert!(!app.is_busy());
    app.handle(saved(1));
    assert_eq!(app.conversation().unwrap().id, ConversationId(7));
    assert_eq!(app.turns()[0].record.id, TurnId(70));
    assert!(app.is_saved());
}

#[test]
fn an_edited_question_is_asked_as_it_stands_and_searched_alone() {
    let mut app = with_one_turn();
    let text = "who then, if not she?";
    let effects = app.handle(Event::QuestionEdited { text: text.into(), at: NOW });
    let request = run_of(&effects);
    assert_eq!((request.question.as_str(), &request.wording), (text, &Wording::Edited));
    assert_eq!((request.past.len(), request.earlier.len()), (1, 0));
    let rewrite = Box::new(ragonite_rag::answer::edited_question(text));
    app.handle(Event::QuestionCompleted { turn: TurnKey(2), rewrite });
    let rewrite = app.turns()[1].record.trace.rewrite.as_ref().unwrap();
    assert_eq!((rewrite.how, app.turns().len()), (RewriteHow::Edited, 2));
    let typed = with_one_turn().handle(asked("and he?"));
    assert_eq!((&run_of(&typed).wording, run_of(&typed).earlier.len()), (&Wording::Typed, 1));
    // A variant of the edited turn is searched alone, too.
    for event in [retrieved(2), answered(2, "b"), saved(2)] {
        app.handle(event);
    }
    let again = app.handle(Event::AgainWanted { turn: 1, other: Variation::SettingsNow, at: NOW });
    assert!(matches!(run_of(&again).wording, Wording::Again { .. }));
    assert_eq!(run_of(&again).earlier, []);
}

#[test]
fn an_empty_question_does_nothing() {
    let mut app = opened();
    let before = app.clone();
    assert!(app.handle(asked(" \n ")).is_empty());
    assert_eq!(app, before);
}

#[test]
fn a_question_that_cannot_be_asked_is_refused_with_a_note() {
    let mut without_domain = App::default();
    assert!(without_domain.handle(asked("q")).is_empty());
    assert!(without_domain.problem().is_some());
    let mut busy = after([asked("q")]);
    assert!(busy.handle(asked("another")).is_empty());
    assert!(busy.problem().is_some());
    assert_eq!(busy.turns().len(), 1);
    let mut opening = after([Event::ConversationChosen(ConversationId(3))]);
    assert!(opening.handle(asked("q")).is_empty());
    assert!(opening.problem().is_some());
}

#[test]
fn events_of_another_turn_change_nothing() {
    let stale = [
        completed(9, "x"),
        retrieved(9),
        answered(9, "x"),
        attributed(9),
        Event::AnswerGrew { turn: TurnKey(9), text: "x".into() },
        Event::JobCanceled { job: JobId(9) },
        Event::JobFailed { job: JobId(9), problem: problem() },
        // The right turn in the wrong stage.
        answered(1, "too early"),
    ];
    let mut app = after([asked("q")]);
    let before = app.clone();
    for event in stale {
        assert!(app.handle(event).is_empty());
        assert_eq!(app, before);
    }
}

#[test]
fn news_of_a_save_that_nobody_asked_for_moves_no_running_turn() {
    let mut app = after([asked("q")]);
    let before = app.turns().to_vec();
    for event in [saved(1), Event::SaveFailed { turn: TurnKey(1), problem: problem() }] {
        assert!(app.handle(event).is_empty());
        assert_eq!(app.turns(), before);
        assert_eq!(app.conversation(), None);
    }
}

#[test]
fn an_answer_of_another_model_is_explained_by_similarity_only() {
    let mut app = after([asked("q"), completed(1, "q"), retrieved(1), answered(1, "a")]);
    app.open.shown.turns[0].record.trace.generator = "another".into();
    let refused = app.handle(Event::ExplainRequested { turn: 0, method: Method::Counterfactual });
    assert!(refused.is_empty() && app.problem().is_some());
    let explained = app.handle(Event::ExplainRequested { turn: 0, method: Method::Similarity });
    assert!(matches!(&explained[..], [Effect::Explain { .. }]), "{explained:?}");
}

#[test]
fn a_turn_is_answered_and_explained_by_the_model_it_was_asked_of() {
    let named = |id: &str| GeneratorChoice::Named(id.to_owned());
    let mut app = opened();
    app.settings.generators = vec!["small".into()];
    app.settings.turn.model = named("small");
    for event in [asked("q"), completed(1, "q"), retrieved(1)] {
        app.handle(event);
    }
    let before = app.handle(answered(1, "a"));
    assert!(matches!(&before[..], [Effect::SaveTurn { .. }]), "{before:?}");
    assert_eq!(app.open.shown.turns[0].record.trace.generator, "small");
    // What the domain says since is for what is asked next.
    app.settings.turn.model = GeneratorChoice::Profile;
    let explained = app.handle(Event::ExplainRequested { turn: 0, method: Method::Counterfactual });
    assert_eq!(explain_of(&explained).settings.model, named("small"));
}

#[test]
fn a_turn_is_asked_again_of_the_model_that_answered_it() {
    let mut app = after([asked("q"), completed(1, "q"), retrieved(1), answered(1, "a"), saved(1)]);
    app.settings.generators = vec!["small".into()];
    app.open.shown.turns[0].record.trace.generator = "small".into();
    let with = |app: &App| app.settings_of(&app.open.shown.turns[0]).map(|settings| settings.model);
    assert_eq!(with(&app), Some(GeneratorChoice::Named("small".into())));
    let pick = Override {
        how: OverrideKind::First,
        evidence: EvidenceId(1),
        document: DocumentId(1),
        name: "t".into(),
        copies: Vec::new(),
    };
    let again = |app: &mut App, other: &Variation| {
        let effects = app.handle(Event::AgainWanted { turn: 0, other: other.clone(), at: OffsetDateTime::UNIX_EPOCH });
        let settings = effects.into_iter().find_map(|effect| match effect {
            Effect::RunTurn { request, .. } => Some(request.settings.model),
            _ => None,
        });
        let differs = app.open.shown.turns.last().and_then(|turn| turn.variant().map(|variant| variant.settings.len()));
        (settings, differs)
    };
    let mut other = app.clone();
    assert_eq!(
        again(&mut other, &Variation::Pick(pick.clone())),
        (Some(GeneratorChoice::Named("small".into())), Some(0))
    );
    // It is not on this machine any more.
    app.settings.generators.clear();
    assert_eq!(again(&mut app, &Variation::Pick(pick)), (Some(GeneratorChoice::Profile), Some(1)));
}

#[test]
fn cancelling_keeps_what_was_written_and_saves_it() {
    let mut app = after([asked("q"), completed(1, "q"), retrieved(1)]);
    app.handle(Event::AnswerGrew { turn: TurnKey(1), text: "half an answer of 2015".into() });
    assert_eq!(app.handle(Event::CancelRequested), [Effect::CancelJob(JobId(1))]);
    assert!(app.handle(Event::CancelRequested).is_empty(), "one cancel is enough");
    assert!(app.is_busy());
    let effects = app.handle(Event::JobCanceled { job: JobId(1) });
    let [Effect::SaveTurn { record, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(record.outcome, Outcome::Canceled);
    let answer = record.trace.answer.as_ref().unwrap();
    assert_eq!(answer.text, "half an answer of 2015");
    assert!(answer.ungrounded_numbers().is_empty(), "its sources are not known");
    assert!(app.history_before(TurnKey(99)).is_empty(), "a half answer is no past turn");
}

#[test]
fn a_turn_told_to_stop_is_settled_once_its_job_has_stopped() {
    let mut app = after([asked("q"), Event::CancelRequested]);
    assert_eq!(app.handle(completed(1, "q")), []);
    assert!(app.is_busy() && app.is_canceling());
    let effects = app.handle(Event::JobCanceled { job: JobId(1) });
    assert!(matches!(&effects[..], [Effect::SaveTurn { record, .. }] if record.outcome == Outcome::Canceled));
    assert!(!app.is_busy());
    let before = app.clone();
    assert!(app.handle(Event::JobCanceled { job: JobId(1) }).is_empty(), "a late answer changes nothing");
    assert_eq!(app, before);
}

#[test]
fn an_answer_that_was_faster_than_its_cancellation_is_kept() {
    let mut app = after([asked("q"), completed(1, "q"), retrieved(1), Event::CancelRequested, answered(1, "done")]);
    assert_eq!(app.turns()[0].record.outcome, Outcome::Answered);
    let before = app.clone();
    assert!(app.handle(Event::JobCanceled { job: JobId(1) }).is_empty());
    assert_eq!(app, before);
}

#[test]
fn a_failed_turn_is_saved_and_shown() {
    let mut app = after([asked("q")]);
    let effects = app.handle(Event::JobFailed { job: JobId(1), problem: problem() });
    assert!(matches!(&effects[..], [Effect::SaveTurn { record, .. }] if matches!(record.outcome, Outcome::Failed(_))));
    assert_eq!(app.problem(), Some(&problem()));
    assert_eq!(app.turns()[0].problem, Some(problem()));
}

#[test]
fn an_explanation_is_saved_over_its_turn() {
    let mut app = with_one_turn();
    let effects = app.handle(Event::ExplainRequested { turn: 0, method: Method::Counterfactual });
    assert!(matches!(&effects[..], [Effect::Explain { job: JobId(1), .. }]));
    app.handle(Event::AttributionAdvanced {
        job: JobId(1),
        done: 1,
        total: 2,
        clusters: vec![],
        elapsed: Millis(40.0),
    });
    assert_eq!(app.turns()[0].explaining.as_ref().unwrap().progress.done, 1);
    let effects = app.handle(attributed(1));
    let [Effect::SaveTurn { conversation: Some(_), record, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(record.trace.timings_ms.total, Millis(15.0));
    assert_eq!(app.turns()[0].explaining, None);
}

#[test]
fn what_sentences_rest_on_is_added_to_what_is_known_of_the_answer() {
    let found = |method, sentences: &[&str]| {
        let of = |text: &&str| Sentence {
            text: (*text).into(),
            tokens: 0..1,
            cited: vec![],
            decisive: false,
            clusters: vec![],
        };
        let attribution = Attribution { sentences: sentences.iter().map(of).collect(), ..Attribution::new(method) };
        Event::AttributionFinished { job: JobId(1), attribution: Box::new(attribution) }
    };
    let kept = |app: &App| {
        let attribution = app.turns()[0].record.trace.attribution.clone().unwrap();
        (attribution.method, attribution.sentences.len())
    };
    let mut app = with_one_turn();
    app.handle(Event::SentencesWanted { turn: 0 });
    app.handle(found(Method::Logprob, &["a"]));
    assert_eq!(kept(&app), (Method::Logprob, 1), "nothing was known");
    app.handle(Event::ExplainRequested { turn: 0, method: Method::Counterfactual });
    app.handle(found(Method::Counterfactual, &[]));
    assert_eq!(kept(&app), (Method::Counterfactual, 0));
    let effects = app.handle(Event::SentencesWanted { turn: 0 });
    assert_eq!(explain_of(&effects).method, Method::Logprob);
    app.handle(found(Method::Logprob, &["a", "b"]));
    assert_eq!(kept(&app), (Method::Counterfactual, 2));
}

#[test]
fn an_answer_that_took_the_place_of_the_stored_one_is_not_explained_by_sentences() {
    let mut app = with_one_turn();
    let job = app.turns()[0].key.job();
    app.handle(Event::ExplainRequested { turn: 0, method: Method::Counterfactual });
    let instead = Some("The modem is in the hut.".to_owned());
    let attribution = Box::new(Attribution { instead, ..Attribution::new(Method::Counterfactual) });
    app.handle(Event::AttributionFinished { job, attribution });
    assert_eq!(app.handle(Event::SentencesWanted { turn: 0 }), []);
    assert!(app.problem().unwrap().what.contains("not the stored answer"), "{:?}", app.problem());
}

pub(super) fn known(rank: usize, how: Provenance) -> Cluster {
    Cluster {
        hits: vec![rank],
        how,
        contribution: 0.0,
        share: None,
        counterfactual_answer: None,
        counterfactuals: vec![],
        drops: vec![],
        drops_how: None,
        divergences: vec![],
    }
}

#[test]
fn a_stopped_explanation_keeps_what_it_found_and_goes_on_from_there() {
    let mut app = with_one_turn();
    let ask = || Event::ExplainRequested { turn: 0, method: Method::Counterfactual };
    let advanced = |done| {
        let clusters = vec![known(2, Provenance::Verified), known(1, Provenance::Preview)];
        Event::AttributionAdvanced { job: JobId(1), done, total: 3, clusters, elapsed: Millis(40.0) }
    };
    app.handle(ask());
    app.handle(advanced(1));
    let effects = app.handle(Event::JobCanceled { job: JobId(1) });
    let [Effect::SaveTurn { record, .. }] = &effects[..] else { panic!("{effects:?}") };
    let stopped = record.trace.attribution.clone().unwrap();
    assert_eq!((stopped.clusters.len(), stopped.missing), (1, 2), "an estimate is no result");
    app.handle(saved(1));

    let effects = app.handle(ask());
    assert_eq!(explain_of(&effects).known, stopped.clusters);
    app.handle(attributed(1));
    app.handle(saved(1));
    // What came to its end is not lost to one that did not.
    app.handle(ask());
    app.handle(advanced(1));
    assert!(app.handle(Event::JobCanceled { job: JobId(1) }).is_empty());
    assert_eq!(app.turns()[0].record.trace.attribution.as_ref().map(|whole| whole.missing), Some(0));
}

#[test]
fn what_was_only_compared_makes_room_for_what_is_known_source_by_source_and_is_kept_as_similarity_alone() {
    let mut app = with_one_turn();
    app.handle(Event::ExplainRequested { turn: 0, method: Method::Counterfactual });
    let mut told = |clusters: Vec<Cluster>| {
        app.handle(Event::AttributionAdvanced { job: JobId(1), done: 0, total: 0, clusters, elapsed: Millis(40.0) });
        let explaining = app.turns()[0].explaining.clone().unwrap();
        explaining.clusters.iter().map(|one| (one.hits.clone(), one.how)).collect::<Vec<_>>()
    };
    let compared = |hit| (vec![hit], Provenance::Similarity);
    told(vec![known(1, Provenance::Similarity), known(2, Provenance::Similarity), known(3, Provenance::Similarity)]);
    let both = Cluster { hits: vec![1, 3], ..known(1, Provenance::Preview) };
    assert_eq!(told(vec![both.clone()]), [(vec![1, 3], Provenance::Preview), compared(2)]);
    assert_eq!(told(vec![]), [compared(2)], "it counts only");
    assert_eq!(
        told(vec![known(2, Provenance::Verified), both]),
        [(vec![2], Provenance::Verified), (vec![1, 3], Provenance::Preview)]
    );

    told(vec![known(1, Provenance::Similarity)]);
    app.handle(Event::JobCanceled { job: JobId(1) });
    let kept = app.turns()[0].record.trace.attribution.clone().unwrap();
    assert_eq!((kept.method, kept.decisive, kept.clusters.len()), (Method::Similarity, false, 1));
    assert_eq!(kept.timings_ms.total, Millis(40.0));
}

#[test]
fn with_other_settings_a_stopped_explanation_begins_anew() {
    let mut app = with_one_turn();
    app.handle(Event::ExplainRequested { turn: 0, method: Method::Counterfactual });
    let clusters = vec![known(2, Provenance::Verified)];
    app.handle(Event::AttributionAdvanced { job: JobId(1), done: 1, total: 3, clusters, elapsed: Millis(40.0) });
    app.handle(Event::JobCanceled { job: JobId(1) });
    app.handle(saved(1));
    let trace = &app.turns()[0].record.trace;
    let same = trace.settings.clone().unwrap().attribution;
    assert_eq!(trace.known(&same).len(), 1);
    assert_eq!(trace.known(&AttributionSettings { iterations: 3, ..same.clone() }), []);
    assert_eq!(trace.known(&AttributionSettings { method: Method::Logprob, ..same }), []);
}

#[test]
fn asking_again_what_left_some_sources_out_together_leaves_out_each_of_them_only() {
    let mut app = with_one_turn();
    app.settings.turn.attribution.group_test = GroupTest::Auto;
    let ask = || Event::ExplainRequested { turn: 0, method: Method::Counterfactual };
    let explained = |app: &mut App| {
        let effects = app.handle(ask());
        let request = explain_of(&effects);
        (request.known.clone(), request.settings.attribution.group_test)
    };
    let finished = |together: Cluster| {
        let clusters = vec![known(1, Provenance::Regenerated), together];
        let attribution = Attribution { clusters, ..Attribution::new(Method::Counterfactual) };
        Event::AttributionFinished { job: JobId(1), attribution: Box::new(attribution) }
    };
    assert_eq!(explained(&mut app), (vec![], GroupTest::Auto));
    app.handle(finished(Cluster { hits: vec![2, 3], contribution: 0.3, ..known(2, Provenance::Group) }));
    app.handle(saved(1));
    assert_eq!(explained(&mut app), (vec![known(1, Provenance::Regenerated)], GroupTest::Off));
    app.handle(Event::JobCanceled { job: JobId(1) });
    let still = app.turns()[0].record.trace.attribution.as_ref().map(|whole| whole.clusters.len());
    assert_eq!(still, Some(2), "what came to its end stays");

    explained(&mut app);
    let clusters = vec![known(1, Provenance::Regenerated), known(3, Provenance::Verified)];
    app.handle(Event::AttributionAdvanced {
        job: JobId(1),
        done: 2,
        total: 3,
        clusters: clusters.clone(),
        elapsed: Millis(40.0),
    });
    app.handle(Event::JobCanceled { job: JobId(1) });
    app.handle(saved(1));
    assert_eq!(explained(&mut app), (clusters, GroupTest::Off), "it goes on from there");
    app.handle(finished(known(2, Provenance::Verified)));
    app.handle(saved(1));
    assert_eq!(explained(&mut app), (vec![], GroupTest::Off), "nothing is put together again: all anew");
}

#[test]
fn a_stopped_explanation_leaves_the_answered_turn_as_it_was() {
    for end in [Event::JobCanceled { job: JobId(1) }, Event::JobFailed { job: JobId(1), problem: problem() }] {
        let mut app = with_one_turn();
        let before = app.turns()[0].record.clone();
        app.handle(Event::ExplainRequested { turn: 0, method: Method::Similarity });
        app.handle(Event::CancelRequested);
        assert!(app.handle(end).is_empty());
        assert_eq!(app.turns()[0].record, before);
        assert_eq!(app.phase(), Phase::Idle);
    }
}

#[test]
fn a_follow_up_is_told_the_last_answered_turns() {
    let mut app = with_one_turn();
    app.settings.past_turns = 1;
    for event in [asked("second"), completed(2, "second"), retrieved(2), answered(2, "b"), asked("third")] {
        app.handle(event);
    }
    let past = app.history_before(TurnKey(3));
    assert_eq!(past.iter().map(|turn| turn.question.as_str()).collect::<Vec<_>>(), ["second"]);
}

#[test]
fn a_second_turn_waits_until_the_first_has_made_the_conversation() {
    let mut app = after([asked("q"), completed(1, "q"), retrieved(1), answered(1, "a")]);
    for event in [asked("r"), completed(2, "r"), retrieved(2)] {
        app.handle(event);
    }
    assert!(app.handle(answered(2, "b")).is_empty(), "would make a second conversation");
    let effects = app.handle(saved(1));
    assert!(matches!(&effects[..], [Effect::SaveTurn { turn: TurnKey(2), conversation: Some(_), .. }]));
}

#[test]
fn a_turn_left_behind_is_still_saved_to_its_conversation() {
    let mut app = after([asked("q"), completed(1, "q"), retrieved(1), answered(1, "a")]);
    for event in [asked("r"), completed(2, "r"), retrieved(2), answered(2, "b"), Event::ConversationStarted] {
        app.handle(event);
    }
    assert!(app.turns().is_empty());
    let effects = app.handle(saved(1));
    assert!(matches!(&effects[..], [Effect::SaveTurn { turn: TurnKey(2), conversation: Some(_), .. }]));
    assert_eq!(app.conversation(), None, "the new conversation stays new");
    app.handle(saved(2));
    assert!(app.is_saved());
}

#[test]
fn an_explanation_that_overtakes_its_save_is_saved_after_it() {
    let mut app = after([asked("q"), completed(1, "q"), retrieved(1), answered(1, "a")]);
    app.handle(Event::ExplainRequested { turn: 0, method: Method::Similarity });
    assert!(app.handle(attributed(1)).is_empty());
    let effects = app.handle(saved(1));
    assert!(matches!(&effects[..], [Effect::SaveTurn { record, .. }] if record.trace.attribution.is_some()));
}

#[test]
fn an_answer_that_waits_to_be_saved_does_not_wait_for_its_explanation() {
    let mut app = after([asked("q"), completed(1, "q"), retrieved(1), answered(1, "a")]);
    for event in [asked("r"), completed(2, "r"), retrieved(2), answered(2, "b")] {
        app.handle(event);
    }
    app.handle(Event::ExplainRequested { turn: 1, method: Method::Similarity });
    let effects = app.handle(saved(1));
    let [Effect::SaveTurn { turn: TurnKey(2), record, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(record.outcome, Outcome::Answered);
    assert_eq!(record.trace.attribution, None);
    assert!(app.handle(attributed(2)).is_empty(), "one save at a time");
    let effects = app.handle(Event::TurnSaved {
        turn: TurnKey(2),
        conversation: conversation(7, "wiki"),
        id: TurnId(71),
        number: 2,
    });
    assert!(matches!(&effects[..], [Effect::SaveTurn { record, .. }] if record.trace.attribution.is_some()));
}

#[test]
fn a_failed_save_is_shown_and_does_not_block_the_next() {
    let mut app = after([asked("q"), completed(1, "q"), retrieved(1), answered(1, "a")]);
    app.handle(Event::SaveFailed { turn: TurnKey(1), problem: problem() });
    assert_eq!(app.problem(), Some(&problem()));
    for event in [asked("r"), completed(2, "r"), retrieved(2)] {
        app.handle(event);
    }
    assert!(matches!(&app.handle(answered(2, "b"))[..], [Effect::SaveTurn { turn: TurnKey(2), .. }]));
}

#[test]
fn a_chosen_domain_starts_a_new_conversation_once_it_is_open() {
    let mut app = with_one_turn();
    let effects = app.handle(Event::DomainChosen(name("league")));
    assert_eq!(effects, [Effect::OpenDomain(name("league")), Effect::ListConversations(name("league"))]);
    app.handle(Event::ConversationsListed {
        domain: name("league"),
        conversations: vec![conversation(2, "league")],
        trash: Vec::new(),
    });
    assert_eq!(app.turns().len(), 1, "the old one stays until the new one is open");
    app.handle(Event::DomainOpened(domain("league")));
    assert!(app.turns().is_empty());
    assert_eq!(app.conversation(), None);
    assert_eq!(app.conversations().len(), 1);
}

#[test]
fn a_domain_that_does_not_open_leaves_the_open_one() {
    let mut app = with_one_turn();
    app.handle(Event::DomainChosen(name("league")));
    let effects = app.handle(Event::DomainFailed { name: name("league"), problem: problem() });
    assert_eq!(effects, [Effect::ListConversations(name("wiki"))]);
    assert_eq!(app.domain().unwrap().name, name("wiki"));
    assert_eq!(app.turns().len(), 1);
    assert!(app.problem().is_some());
}

#[test]
fn an_opening_that_is_given_up_at_any_place_leaves_the_domain_before_it_in_use() {
    let mut app = with_one_turn();
    let listed = |domain: &str, id| Event::ConversationsListed {
        domain: name(domain),
        conversations: vec![conversation(id, domain)],
        trash: Vec::new(),
    };
    app.handle(listed("wiki", 7));
    let other = changes(&[(Setting::Sources, "3")]);
    let news = [listed("league", 2), loaded("league", other, None), Event::DomainOpened(domain("league"))];
    for place in 0..news.len() {
        let mut given_up = app.clone();
        given_up.handle(Event::DomainChosen(name("league")));
        for event in &news[..place] {
            given_up.handle(event.clone());
        }
        let effects = given_up.handle(Event::DomainCancelRequested);
        assert_eq!(effects, [Effect::CancelOpening, Effect::ListConversations(name("wiki"))]);
        // What was on its way comes all the same.
        for event in &news[place..] {
            assert_eq!(given_up.handle(event.clone()), []);
        }
        given_up.handle(Event::DomainNotOpened(name("league")));
        given_up.handle(listed("wiki", 7));
        assert_eq!(given_up, app, "given up at {place}");
    }
    assert_eq!(app.handle(Event::DomainCancelRequested), []);
}

#[test]
fn only_the_conversation_chosen_last_is_opened() {
    let mut app = with_one_turn();
    app.handle(Event::ConversationChosen(ConversationId(1)));
    app.handle(Event::ConversationChosen(ConversationId(2)));
    app.handle(Event::ConversationOpened { record: conversation(1, "wiki"), turns: vec![] });
    assert_eq!(app.conversation().unwrap().id, ConversationId(7));
    let turns = vec![app.turns()[0].record.clone()];
    app.handle(Event::ConversationOpened { record: conversation(2, "wiki"), turns });
    assert_eq!(app.conversation().unwrap().id, ConversationId(2));
    assert_eq!(app.turns().len(), 1);
    assert!(app.turns()[0].is_answered());
}

#[test]
fn a_table_is_loaded_once() {
    let mut app = opened();
    let wanted = Event::TableWanted(EvidenceId(4));
    assert_eq!(app.handle(wanted.clone()).len(), 1);
    assert!(app.handle(wanted.clone()).is_empty());
    app.handle(Event::TableLoaded { domain: name("other"), evidence: EvidenceId(4), table: None });
    assert!(app.table(EvidenceId(4)).is_none(), "of another domain");
    app.handle(Event::TableLoaded { domain: name("wiki"), evidence: EvidenceId(4), table: None });
    assert_eq!(app.table(EvidenceId(4)), Some(None));
    assert!(app.handle(wanted).is_empty());
}

#[test]
fn one_trial_of_a_context_runs_at_a_time_and_beside_a_turn() {
    let without = |part| ContextParts::ALL.without(part);
    let wanted = |parts| Event::ContextWanted { turn: 0, parts };
    let mut app = with_one_turn();
    app.handle(asked("and then?"));
    let title = without(ContextParts::TITLE);
    let last = |app: &App| JobId(app.jobs.last_key);
    let effects = app.handle(wanted(title));
    assert!(matches!(&effects[..], [Effect::TryContext { job, parts, .. }] if *job == last(&app) && *parts == title));
    let first = last(&app);
    let effects = app.handle(wanted(without(ContextParts::AFTER)));
    assert!(matches!(&effects[..], [Effect::CancelJob(stopped), Effect::TryContext { .. }] if *stopped == first));
    app.handle(Event::ContextTried { job: first, tried: vec![] });
    app.handle(Event::JobCanceled { job: first });
    assert_eq!(app.trial().unwrap().ranks, Fetched::Coming, "what comes late changes nothing");
    let problem = Problem { what: "no".into(), next: String::new() };
    app.handle(Event::JobFailed { job: last(&app), problem: problem.clone() });
    assert_eq!(app.trial().unwrap().ranks, Fetched::Failed(problem));
    assert!(app.problem().is_none() && app.is_busy(), "the turn goes on");
    app.handle(wanted(title));
    app.handle(Event::ContextTried { job: last(&app), tried: vec![] });
    assert_eq!(app.trial().unwrap().ranks, Fetched::Here(vec![]));
    assert!(app.handle(wanted(ContextParts::ALL)).is_empty(), "nothing runs that could be stopped");
    assert!(app.trial().is_none());
}

#[test]
fn only_the_document_that_was_wanted_last_is_shown() {
    let mut app = opened();
    let wanted = |id| Event::DocumentWanted { document: DocumentId(id), hit: EvidenceId(1) };
    let loaded = |id| Event::DocumentLoaded { document: DocumentId(id), parts: Ok([].into()) };
    assert_eq!(app.handle(wanted(1)).len(), 1);
    let effects = app.handle(wanted(2));
    assert!(matches!(&effects[..], [Effect::CancelJob(_), Effect::LoadDocument { .. }]), "{effects:?}");
    app.handle(loaded(1));
    assert_eq!(app.document().unwrap().parts, Fetched::Coming);
    app.handle(loaded(2));
    assert_eq!(app.document().unwrap().parts, Fetched::Here([].into()));
    app.handle(Event::ConversationStarted);
    assert!(app.document().is_none(), "it belonged to the conversation that is left");
}

#[test]
fn a_document_on_its_way_can_be_stopped() {
    let mut app = opened();
    let effects = app.handle(Event::DocumentWanted { document: DocumentId(1), hit: EvidenceId(1) });
    let [Effect::LoadDocument { job, .. }] = effects[..] else { panic!("{effects:?}") };
    assert_eq!(app.handle(Event::DocumentCancelRequested), [Effect::CancelJob(job)]);
    app.handle(Event::JobCanceled { job });
    assert!(app.document().is_none() && app.handle(Event::DocumentCancelRequested).is_empty());
    app.handle(Event::DocumentLoaded { document: DocumentId(1), parts: Ok([].into()) });
    assert!(app.document().is_none(), "what comes too late is not shown");
}

fn left_out(evidence: i64) -> Override {
    let (evidence, document) = (EvidenceId(evidence), DocumentId(1));
    Override { how: OverrideKind::LeftOut, evidence, document, name: "Minutes".into(), copies: vec![] }
}

fn again(turn: usize, other: Variation) -> Event {
    Event::AgainWanted { turn, other, at: NOW }
}

#[test]
fn a_question_is_asked_again_as_it_was_with_one_thing_other() {
    let mut app = with_one_turn();
    app.handle(asked("and then?"));
    app.handle(completed(2, "what then of q?"));
    app.handle(retrieved(2));
    app.handle(answered(2, "b"));
    app.handle(saved(2));
    let effects = app.handle(again(1, Variation::Pick(left_out(4))));
    let request = run_of(&effects);
    assert_eq!(request.wording, Wording::Again { completed: "what then of q?".into() });
    assert_eq!((request.question.as_str(), &request.earlier[..]), ("and then?", &[EarlierQuestion::from("q")][..]));
    assert_eq!(request.settings.retrieval.picks, [left_out(4)]);
    assert_eq!(request.past.len(), 1, "it is told what the turn was told that it asks again");
    for event in [completed(3, "what then of q?"), retrieved(3), answered(3, "c")] {
        app.handle(event);
    }
    let variant = app.turns()[2].variant().unwrap();
    assert_eq!((variant.of, variant.picks.as_slice(), variant.settings.len()), (2, &[left_out(4)][..], 0));
    assert_eq!(app.history_before(TurnKey(99)).len(), 2, "no later turn is told about it");
}

#[test]
fn what_is_other_adds_up_when_a_variant_is_asked_again() {
    let mut app = with_one_turn();
    let mut answer = |key: u64, other: Variation, turn: usize| {
        let effects = app.handle(again(turn, other));
        for event in [completed(key, "q"), retrieved(key), answered(key, "b")] {
            app.handle(event);
        }
        let settings = &run_of(&effects).settings;
        (settings.sources, settings.retrieval.picks.clone())
    };
    assert_eq!(answer(2, Variation::Pick(left_out(4)), 0), (10, vec![left_out(4)]));
    assert_eq!(answer(3, Variation::Pick(left_out(5)), 1), (10, vec![left_out(4), left_out(5)]));
    let first = Override { how: OverrideKind::First, ..left_out(5) };
    assert_eq!(answer(4, Variation::Pick(first.clone()), 2), (10, vec![left_out(4), first.clone()]));
    let three = Variation::Settings(changes(&[(Setting::Sources, "3")]));
    assert_eq!(answer(5, three, 3), (3, vec![left_out(4), first]));
    let variant = app.turns()[4].variant().unwrap();
    let other = OtherSetting { key: "sources".into(), from: "10".into(), to: "3".into() };
    assert_eq!((variant.of, variant.settings.as_slice()), (4, &[other][..]));
    assert!(app.changes().is_empty(), "the settings of the domain stay");
}

#[test]
fn a_turn_is_asked_again_with_the_settings_as_they_are_now() {
    let mut app = with_one_turn();
    app.handle(Event::SettingsChanged(changes(&[(Setting::Mode, "dense")])));
    let effects = app.handle(again(0, Variation::SettingsNow));
    assert_eq!(run_of(&effects).settings.retrieval.mode, Mode::Dense);
    assert_eq!(app.turns()[1].variant().unwrap().settings.len(), 1);
    assert_eq!(app.turns()[1].record.trace.domain_settings, ["retrieval.mode"]);
    app.handle(again(0, Variation::SettingsNow));
    assert!(app.problem().unwrap().what.contains("still running"));
}

#[test]
fn a_question_without_an_answer_is_not_asked_again() {
    let mut app = after([asked("q"), Event::JobCanceled { job: JobId(1) }]);
    assert!(app.handle(again(0, Variation::SettingsNow)).is_empty());
    assert!(app.problem().unwrap().what.contains("no answer") && app.turns().len() == 1);
}

#[test]
fn a_variant_follows_the_number_of_the_turn_it_asks_again() {
    let mut app = after([asked("q"), completed(1, "q"), retrieved(1), answered(1, "a")]);
    app.handle(again(0, Variation::Pick(left_out(4))));
    // Another program had stored turns before, and the history counts on from the last, whatever is missing between.
    let later = ConversationRecord { turns: 2, ..conversation(7, "wiki") };
    app.handle(Event::TurnSaved { turn: TurnKey(1), conversation: later, id: TurnId(70), number: 5 });
    assert_eq!((app.turns()[0].record.number, app.turns()[1].variant().unwrap().of), (5, 5));
}

#[test]
fn quitting_stops_the_running_turn_first() {
    let mut app = after([asked("q")]);
    assert_eq!(app.handle(Event::QuitRequested), [Effect::CancelJob(JobId(1)), Effect::Quit]);
    assert_eq!(opened().handle(Event::QuitRequested), [Effect::Quit]);
}

fn up() -> Feedback {
    Feedback { rating: Rating::Up, reason: None, note: String::new(), rated_at: NOW }
}

#[test]
fn a_rating_goes_to_the_history_or_waits_until_its_turn_is_there() {
    let rated = Event::TurnRated { turn: 0, feedback: Some(up()) };
    let mut app = with_one_turn();
    assert_eq!(app.handle(rated.clone()), [Effect::RateTurn { id: TurnId(70), feedback: Some(up()), before: None }]);
    assert_eq!(app.notice(), Some(&Notice::Rated(Some(up()))));
    let back = app.handle(Event::TurnRated { turn: 0, feedback: None });
    assert_eq!(back, [Effect::RateTurn { id: TurnId(70), feedback: None, before: Some(up()) }]);
    let mut early = after([asked("q"), completed(1, "q"), retrieved(1), answered(1, "a")]);
    assert_eq!(early.handle(rated.clone()), []);
    assert_eq!(early.handle(saved(1)), [Effect::RateTurn { id: TurnId(70), feedback: Some(up()), before: None }]);
    assert_eq!(early.turns()[0].record.feedback, Some(up()));
    let mut left = after([asked("q"), completed(1, "q"), retrieved(1), answered(1, "a"), rated.clone()]);
    left.handle(Event::ConversationStarted);
    let late = [Effect::RateTurn { id: TurnId(70), feedback: Some(up()), before: None }];
    assert_eq!(left.handle(saved(1)), late, "left behind");
    let mut none = opened();
    assert_eq!(none.handle(rated), []);
    assert!(none.problem().is_some());
}

#[test]
fn a_rating_that_could_not_be_stored_is_taken_back() {
    let mut app = with_one_turn();
    app.handle(Event::TurnRated { turn: 0, feedback: Some(up()) });
    let problem = Problem { what: "the disk is full".into(), next: "Make room".into() };
    let failed = |feedback| Event::RateFailed { id: TurnId(70), feedback, stored: None, problem: problem.clone() };
    app.handle(failed(None));
    assert_eq!(app.turns()[0].record.feedback, Some(up()), "what it was rated since is on its way");
    app.handle(failed(Some(up())));
    assert_eq!(app.turns()[0].record.feedback, None);
    assert_eq!((app.problem(), app.notice()), (Some(&problem), None));
}

#[test]
fn the_open_conversation_is_thrown_away_only_while_nothing_is_asked_of_it() {
    let wanted = Event::ConversationChangeWanted(ConversationChange::Delete(ConversationId(7)));
    let mut app = with_one_turn();
    app.handle(asked("more"));
    assert_eq!(app.handle(wanted.clone()), []);
    assert!(app.problem().is_some() && app.turns().len() == 2);
    let mut idle = with_one_turn();
    let change = ConversationChange::Delete(ConversationId(7));
    assert_eq!(idle.handle(wanted), [Effect::ChangeConversation { domain: name("wiki"), change }]);
    assert!(idle.turns().is_empty() && idle.conversation().is_none());
    let trashed = ConversationRecord { deleted_at: Some(NOW), ..conversation(7, "wiki") };
    let trash = vec![trashed];
    idle.handle(Event::ConversationsListed { domain: name("wiki"), conversations: vec![], trash: trash.clone() });
    assert_eq!((idle.conversations(), idle.trash()), (&[][..], &trash[..]));
}

#[test]
fn a_stored_conversation_stands_behind_pinned_ones_and_keeps_its_new_name() {
    let pinned = ConversationRecord { pinned: true, ..conversation(3, "wiki") };
    let listed = vec![pinned, conversation(7, "wiki"), conversation(4, "wiki")];
    let mut app = after([Event::ConversationsListed { domain: name("wiki"), conversations: listed, trash: vec![] }]);
    for event in [asked("q"), completed(1, "q"), retrieved(1), answered(1, "a"), saved(1)] {
        app.handle(event);
    }
    let ids: Vec<i64> = app.conversations().iter().map(|known| known.id.0).collect();
    assert_eq!(ids, [3, 7, 4]);
    let renamed = ConversationRecord { title: "new".into(), ..conversation(7, "wiki") };
    app.handle(Event::ConversationsListed { domain: name("wiki"), conversations: vec![renamed], trash: vec![] });
    assert_eq!(app.conversation().map(|open| open.title.as_str()), Some("new"));
    assert_eq!(app.title_of(ConversationId(7)), Some("new"));
}

#[test]
fn what_was_found_is_shown_until_it_is_ended_or_something_changes() {
    let found = || Event::ConversationsFound {
        text: "q".into(),
        found: vec![Found { conversation: conversation(7, "wiki"), turns: vec![] }],
    };
    let mut app = with_one_turn();
    let effects = app.handle(Event::ConversationsWanted("q".into()));
    assert_eq!(effects, [Effect::FindConversations { first: Some(name("wiki")), text: "q".into() }]);
    app.handle(found());
    assert_eq!(app.found().map(|found| found.found.len()), Some(1));
    assert_eq!(app.handle(Event::ConversationsWanted(" ".into())), []);
    assert_eq!(app.found(), None);
    for begun in [Event::ConversationStarted, asked("who?")] {
        let mut app = opened();
        app.handle(Event::ConversationsWanted("q".into()));
        app.handle(found());
        assert!(app.found().is_some());
        app.handle(begun);
        assert_eq!(app.found(), None, "the conversation that begins would not be among them");
    }
    app.handle(found());
    assert_eq!(app.found(), None, "nobody waits for it any more");
    app.handle(Event::ConversationsWanted("q".into()));
    let changed = app.handle(Event::ConversationChangeWanted(ConversationChange::Delete(ConversationId(7))));
    let again = Effect::FindConversations { first: Some(name("wiki")), text: "q".into() };
    assert_eq!(changed.last(), Some(&again), "what was found may no longer be so");
    let other = Event::ConversationsFound { text: "other".into(), found: vec![] };
    app.handle(other);
    assert_eq!(app.found(), None, "something else is looked for");
}

/// An app in which a conversation of each of two domains was found.
fn with_found_ones() -> App {
    let mut app = with_one_turn();
    app.handle(Event::ConversationsWanted("q".into()));
    let found = [conversation(7, "wiki"), conversation(8, "league")];
    let found = found.map(|conversation| Found { conversation, turns: vec![] }).into();
    app.handle(Event::ConversationsFound { text: "q".into(), found });
    app
}

#[test]
fn a_conversation_that_was_found_in_another_domain_is_opened_with_it() {
    let mut app = with_found_ones();
    let chosen = Event::ConversationChosen(ConversationId(8));
    let effects = app.handle(chosen.clone());
    assert_eq!(effects, [Effect::OpenDomain(name("league")), Effect::ListConversations(name("league"))]);
    assert_eq!(app.domain().map(|domain| domain.name.as_str()), Some("wiki"), "until the other is open");
    assert_eq!(app.handle(chosen), [], "a second time");
    let effects = app.handle(Event::DomainOpened(domain("league")));
    assert_eq!(effects, [Effect::OpenConversation(ConversationId(8))]);
    app.handle(Event::ConversationOpened { record: conversation(8, "league"), turns: vec![] });
    assert_eq!(app.conversation().map(|open| open.id), Some(ConversationId(8)));
    assert_eq!(app.found().map(|found| found.found.len()), Some(2), "the next one can be opened");
    let back = app.handle(Event::ConversationChosen(ConversationId(7)));
    assert_eq!(back[0], Effect::OpenDomain(name("wiki")));
    app.handle(Event::DomainChosen(name("wiki")));
    assert_eq!(
        app.handle(Event::DomainOpened(domain("wiki"))),
        [],
        "the domain was chosen since, not the conversation"
    );
    assert_eq!(app.found(), None);
}

#[test]
fn a_found_conversation_stays_closed_where_its_domain_cannot_be_opened_or_is_given_up() {
    let failed = || Event::DomainFailed { name: name("league"), problem: problem() };
    for end in [failed(), Event::DomainCancelRequested] {
        let mut app = with_found_ones();
        app.handle(Event::ConversationChosen(ConversationId(8)));
        app.handle(end);
        assert_eq!(app.domain().map(|domain| domain.name.as_str()), Some("wiki"));
        assert!(!app.is_opening(), "nothing is waited for");
        app.handle(Event::DomainChosen(name("league")));
        assert_eq!(app.handle(Event::DomainOpened(domain("league"))), []);
    }
}

#[test]
fn questions_to_go_on_with_are_looked_for_until_something_else_is_wanted() {
    let mut app = opened();
    app.settings.suggestions = Suggestions::Auto;
    for event in [asked("q"), completed(1, "q"), retrieved(1)] {
        app.handle(event);
    }
    let expected = JobId(2);
    let effects = app.handle(answered(1, "a"));
    assert!(matches!(&effects[..], [Effect::SaveTurn { .. }, Effect::Suggest { job, .. }] if *job == expected));
    assert_eq!((app.suggesting(), app.phase()), (Some(TurnKey(1)), Phase::Idle));
    app.handle(saved(1));
    let effects = app.handle(Event::QuestionsSuggested { job: expected, questions: vec!["Why?".into()] });
    assert!(matches!(&effects[..], [Effect::SaveTurn { record, .. }] if record.trace.suggestions == ["Why?"]));
    app.handle(saved(1));
    assert_eq!(app.suggesting(), None);
    app.handle(asked("more"));
    for event in [completed(3, "more"), retrieved(3), answered(3, "b")] {
        app.handle(event);
    }
    let effects = app.handle(asked("now"));
    assert_eq!(effects[0], Effect::CancelJob(JobId(4)));
    assert!(matches!(effects[1], Effect::RunTurn { .. }));
    assert_eq!(app.handle(Event::QuestionsSuggested { job: JobId(4), questions: vec!["Late?".into()] }), []);
    assert_eq!(app.handle(Event::JobCanceled { job: JobId(4) }), []);
    assert!(app.is_busy());
}

#[test]
fn looking_for_questions_to_go_on_with_can_be_stopped() {
    let mut app = opened();
    app.settings.suggestions = Suggestions::Auto;
    for event in [asked("q"), completed(1, "q"), retrieved(1), answered(1, "a")] {
        app.handle(event);
    }
    assert_eq!(app.suggesting(), Some(TurnKey(1)));
    assert_eq!(app.handle(Event::CancelRequested), [Effect::CancelJob(JobId(2))]);
    assert_eq!(app.suggesting(), None);
}

#[test]
fn a_branch_is_made_of_stored_turns_and_opened() {
    let mut app = with_one_turn();
    let effects = app.handle(Event::BranchWanted { turn: 0 });
    let [Effect::Branch { conversation: ConversationId(7), number: 1, .. }] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!(app.handle(asked("more")), [], "it would go on with the conversation that is left");
    app.handle(Event::ConversationOpened { record: conversation(7, "wiki"), turns: vec![] });
    assert!(app.is_opening() && app.turns().len() == 1, "the one that is left was opened before");
    let branched = |of| Event::ConversationBranched { of: ConversationId(of), branch: ConversationId(9) };
    assert_eq!(app.handle(branched(7)), [Effect::OpenConversation(ConversationId(9))]);
    app.handle(Event::ConversationFailed { conversation: ConversationId(9), problem: problem() });
    assert_eq!(app.handle(branched(7)), [], "something else was chosen meanwhile");
    assert!(app.handle(Event::BranchWanted { turn: 5 }).is_empty() && app.problem().is_some());
    assert!(opened().handle(Event::BranchWanted { turn: 0 }).is_empty());
    let mut running = with_one_turn();
    running.handle(asked("more"));
    assert_eq!(running.handle(Event::BranchWanted { turn: 1 }), [], "it is still being answered");
}

#[test]
fn only_what_is_stored_is_written_to_a_file() {
    let wanted = |turn| Event::ExportWanted { turn, format: Format::Markdown };
    let mut app = with_one_turn();
    app.handle(asked("more"));
    let effects = app.handle(wanted(Some(0)));
    assert!(matches!(&effects[..], [Effect::Export { turns, .. }] if turns.len() == 1), "{effects:?}");
    let effects = app.handle(wanted(None));
    assert!(matches!(&effects[..], [Effect::Export { turns, .. }] if turns.len() == 1), "{effects:?}");
    assert_eq!(app.handle(wanted(Some(1))), [], "it is still being answered");
    assert_eq!(app.handle(wanted(Some(9))), []);
    assert_eq!(opened().handle(wanted(None)), []);
    app.handle(Event::Done(Notice::Wrote("x".into())));
    assert_eq!(app.notice(), Some(&Notice::Wrote("x".into())));
    app.handle(Event::ProblemDismissed);
    assert_eq!(app.notice(), None);
}

#[test]
fn what_one_method_found_stays_when_another_is_asked_and_is_shown_again_without_work() {
    let mut app = with_one_turn();
    app.handle(Event::ExplainRequested { turn: 0, method: Method::Counterfactual });
    app.handle(attributed(1));
    app.handle(saved(1));
    let exact = app.turns()[0].record.trace.attribution.clone().unwrap();
    assert!(!app.is_explained_by(0, Method::Counterfactual), "it is shown: once more explains anew");
    app.handle(Event::ExplainRequested { turn: 0, method: Method::Similarity });
    let quick = Attribution::new(Method::Similarity);
    let effects = app.handle(Event::AttributionFinished { job: JobId(1), attribution: Box::new(quick.clone()) });
    let [Effect::SaveTurn { record, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(record.trace.attribution.as_ref(), Some(&quick));
    assert_eq!(record.trace.earlier(Method::Counterfactual).map(|earlier| &earlier.attribution), Some(&exact));
    app.handle(saved(1));
    assert!(app.is_explained_by(0, Method::Counterfactual));
    let effects = app.handle(Event::EarlierWanted { turn: 0, method: Method::Counterfactual });
    let [Effect::SaveTurn { record, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(record.trace.attribution.as_ref(), Some(&exact));
    assert_eq!(record.trace.settings.as_ref().map(|with| with.attribution.method), Some(Method::Counterfactual));
    assert_eq!(record.trace.earlier(Method::Similarity).map(|earlier| &earlier.attribution), Some(&quick));
    assert_eq!(record.trace.earlier_attributions.len(), 1);
    let json = serde_json::to_string(&record.trace).unwrap();
    assert_eq!(serde_json::from_str::<ragonite_history::Trace>(&json).unwrap(), record.trace);
    assert_eq!(app.handle(Event::EarlierWanted { turn: 0, method: Method::Jsd }), [], "it found nothing before");
}

#[test]
fn another_conversation_is_written_as_it_is_stored_and_the_open_one_as_it_is_seen() {
    let wanted = |id| Event::StoredExportWanted { conversation: ConversationId(id), format: Format::Markdown };
    let mut app = with_one_turn();
    let (conversation, format) = (ConversationId(4), Format::Markdown);
    assert_eq!(app.handle(wanted(4)), [Effect::ExportStored { conversation, format }]);
    let effects = app.handle(wanted(7));
    assert!(matches!(&effects[..], [Effect::Export { turns, .. }] if turns.len() == 1), "{effects:?}");
}

#[test]
fn a_conversation_opens_though_something_else_fails_meanwhile() {
    let mut app = with_one_turn();
    app.handle(Event::ConversationChosen(ConversationId(4)));
    app.handle(Event::Failed(problem()));
    assert!(app.is_opening());
    let conversation_failed = |id| Event::ConversationFailed { conversation: ConversationId(id), problem: problem() };
    app.handle(Event::ProblemDismissed);
    app.handle(conversation_failed(9));
    assert!(app.is_opening() && app.problem().is_none(), "that one is not wanted any more");
    app.handle(Event::ConversationOpened { record: conversation(4, "wiki"), turns: vec![] });
    assert_eq!(app.conversation().map(|open| open.id), Some(ConversationId(4)));
    app.handle(Event::ConversationChosen(ConversationId(7)));
    app.handle(conversation_failed(7));
    assert!(!app.is_opening() && app.problem() == Some(&problem()));
    assert_eq!(app.conversation().map(|open| open.id), Some(ConversationId(4)), "what was open stays");
}

#[test]
fn what_is_looked_for_again_and_unchanged_is_no_news() {
    let mut app = App::new(AppSettings::default());
    let listed = |names: &[&str]| Event::DomainsListed(names.iter().map(|name| domain(name)).collect());
    assert!(!app.is_known(&listed(&[])), "the first list says that there is nothing");
    app.handle(listed(&[]));
    assert!(app.is_known(&listed(&[])) && !app.is_known(&listed(&["wiki"])));
    assert!(app.is_known(&looked(None)));
    let missing = Some(MissingModels::default());
    assert!(!app.is_known(&looked(missing.clone())));
    app.handle(looked(missing.clone()));
    assert!(app.is_known(&looked(missing)));
}

fn any_event() -> impl Strategy<Value = Event> {
    let key = 1..5u64;
    prop_oneof![
        4 => "[a-z ]{0,3}".prop_map(|text| asked(&text)),
        1 => "[a-z ]{0,3}".prop_map(|text| Event::QuestionEdited { text, at: NOW }),
        3 => key.clone().prop_map(|turn| completed(turn, "c")),
        3 => key.clone().prop_map(retrieved),
        3 => key.clone().prop_map(|turn| answered(turn, "a")),
        2 => key.clone().prop_map(attributed),
        2 => key.clone().prop_map(saved),
        1 => (0..3usize).prop_map(|turn| Event::BranchWanted { turn }),
        1 => Just(Event::ConversationBranched { of: ConversationId(7), branch: ConversationId(9) }),
        1 => Just(Event::ConversationOpened { record: conversation(9, "wiki"), turns: vec![] }),
        1 => key.clone().prop_map(|turn| Event::SaveFailed { turn: TurnKey(turn), problem: problem() }),
        1 => key.clone().prop_map(|turn| Event::AnswerGrew { turn: TurnKey(turn), text: "t".into() }),
        1 => key.clone().prop_map(|turn| Event::JobCanceled { job: JobId(turn) }),
        1 => key.prop_map(|turn| Event::JobFailed { job: JobId(turn), problem: problem() }),
        1 => (0..3usize).prop_map(|turn| Event::ExplainRequested { turn, method: Method::Similarity }),
        2 => (0..3usize).prop_map(|turn| Event::ExplainRequested { turn, method: Method::Counterfactual }),
        1 => Just(Event::CancelRequested),
        1 => Just(Event::ConversationStarted),
        1 => Just(Event::DomainChosen(name("wiki"))),
        1 => Just(Event::DomainOpened(domain("wiki"))),
        1 => Just(Event::ConversationChosen(ConversationId(7))),
        1 => Just(Event::ConversationOpened { record: conversation(7, "wiki"), turns: vec![] }),
        1 => Just(Event::ProblemDismissed),
        1 => (0..3usize).prop_map(|turn| Event::TurnRated { turn, feedback: Some(up()) }),
        1 => Just(Event::ConversationChangeWanted(ConversationChange::Delete(ConversationId(7)))),
        1 => Just(Event::ExportWanted { turn: None, format: Format::Markdown }),
    ]
}

proptest! {
    #[test]
    fn phase_and_turns_agree_whatever_happens(
        events in proptest::collection::vec(any_event(), 0..60),
        explain_ahead in prop_oneof![Just(ExplainAhead::Off), Just(ExplainAhead::On)],
    ) {
        let mut app = opened();
        app.settings.explain_ahead = explain_ahead;
        for mut event in events {
            // The history numbers turns in the order in which it gets them, which is that of the conversation.
            if let Event::TurnSaved { turn, number, .. } = &mut event {
                let mut known = app.open.turns();
                *number = known.find(|known| known.key == *turn).map_or(*number, |known| known.record.number);
            }
            let before = app.phase();
            let effects = app.handle(event);
            for (index, turn) in app.turns().iter().enumerate() {
                prop_assert_eq!(turn.record.number as usize, index + 1);
                let runs = app.phase() == Phase::Explaining(turn.key) || app.prefetching() == Some(turn.key);
                prop_assert_eq!(turn.explaining.is_some(), runs);
            }
            if let Some(key) = app.phase().turn() {
                prop_assert!(app.turn(key).or(app.turn_aside()).is_some(), "a turn runs that is not there");
                if !matches!(app.phase(), Phase::Explaining(_)) && !app.is_busy_aside() {
                    prop_assert_eq!(app.turns().last().unwrap().key, key);
                }
            } else {
                prop_assert!(!app.is_canceling());
            }
            for effect in effects {
                let Effect::SaveTurn { turn, record, .. } = effect else { continue };
                if app.phase().turn() == Some(turn) && before.turn() == Some(turn) {
                    prop_assert_eq!(app.phase(), Phase::Explaining(turn), "a turn was saved before its end");
                    prop_assert_eq!(record.outcome, Outcome::Answered, "only an answer is explained");
                }
            }
        }
    }
}

/// What the domain changes: each setting with its value.
fn changes(settings: &[(Setting, &str)]) -> SettingsOverride {
    let mut changes = SettingsOverride::default();
    for (setting, text) in settings {
        changes.set(*setting, text).unwrap();
    }
    changes
}

fn loaded(domain: &str, changes: SettingsOverride, problem: Option<Problem>) -> Event {
    Event::SettingsLoaded { domain: name(domain), changes, problem }
}

#[test]
fn a_changed_setting_is_kept_and_holds_from_the_next_question_on() {
    let mut app = after([asked("q"), completed(1, "q")]);
    let dense = changes(&[(Setting::Mode, "dense"), (Setting::Sources, "1"), (Setting::AnswerTokens, "32")]);
    let effects = app.handle(Event::SettingsChanged(dense.clone()));
    let edit = Edit { set: dense.clone(), restored: Vec::new() };
    assert_eq!(effects, [Effect::SaveSettings { domain: name("wiki"), edit }]);
    assert!(app.handle(Event::SettingsChanged(dense.clone())).is_empty(), "nothing is new");
    app.handle(retrieved(1));
    app.handle(answered(1, "a"));
    app.handle(saved(1));
    let effects = app.handle(asked("next"));
    assert_eq!(run_of(&effects).settings, dense.applied_to(&TurnSettings::default()));
    app.handle(completed(2, "next"));
    let known = |app: &App, turn: usize| {
        let trace = app.turns()[turn].record.trace.clone();
        (trace.settings.unwrap().sources, trace.domain_settings)
    };
    assert_eq!(known(&app, 0), (10, Vec::new()));
    let own = ["sources", "retrieval.mode", "prompt.answer_tokens"].map(str::to_owned).to_vec();
    assert_eq!(known(&app, 1), (1, own));
}

#[test]
fn the_settings_of_a_domain_that_is_not_open_are_loaded_changed_and_kept_for_it_alone() {
    let mut app = opened();
    let league = name("league");
    let own = changes(&[(Setting::Sources, "3")]);
    let early = Event::OtherSettingsChanged { domain: league.clone(), changes: own.clone() };
    assert_eq!(app.handle(early), [], "what is not loaded is not changed");
    assert_eq!(app.handle(Event::OtherSettingsWanted(league.clone())), [Effect::LoadSettings(league.clone())]);
    app.handle(Event::OtherSettingsLoaded { domain: league.clone(), changes: own.clone(), problem: None });
    assert_eq!(app.changes_of(&league), Some(&own));
    let both = changes(&[(Setting::Sources, "3"), (Setting::Mode, "dense")]);
    let effects = app.handle(Event::OtherSettingsChanged { domain: league.clone(), changes: both.clone() });
    let [Effect::SaveSettings { domain, edit }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((domain, edit), (&league, &both.since(&own)));
    assert_eq!(
        (app.changes_of(&league), app.changes_of(&name("wiki"))),
        (Some(&both), Some(&SettingsOverride::default()))
    );
    assert_eq!(app.turn_settings(), app.configured().clone(), "the open domain is as it was");
}

#[test]
fn what_another_process_set_meanwhile_is_taken_over_once_no_edit_is_on_its_way() {
    let mut app = opened();
    let kept = |texts: &[(Setting, &str)]| Event::SettingsKept { domain: name("wiki"), kept: Ok(changes(texts)) };
    app.handle(Event::SettingsChanged(changes(&[(Setting::Sources, "3")])));
    let effects = app.handle(Event::SettingsChanged(changes(&[(Setting::Sources, "4")])));
    let edit = Edit { set: changes(&[(Setting::Sources, "4")]), restored: Vec::new() };
    assert_eq!(effects, [Effect::SaveSettings { domain: name("wiki"), edit }]);
    app.handle(kept(&[(Setting::Sources, "3"), (Setting::Seed, "7")]));
    assert_eq!(app.changes(), &changes(&[(Setting::Sources, "4")]), "the second edit is not taken back");
    app.handle(kept(&[(Setting::Sources, "4"), (Setting::Seed, "7")]));
    assert_eq!(app.changes(), &changes(&[(Setting::Sources, "4"), (Setting::Seed, "7")]));
    app.handle(Event::SettingsKept { domain: name("wiki"), kept: Err(problem()) });
    assert_eq!((app.problem(), app.turn_settings().sources), (Some(&problem()), 4), "they hold until one leaves");
    app.handle(Event::SettingsKept { domain: name("lab"), kept: Ok(SettingsOverride::default()) });
    assert_eq!(app.turn_settings().sources, 4);
}

#[test]
fn each_domain_has_its_own_settings_and_what_is_wrong_with_them_is_said() {
    let mut app = opened();
    app.handle(Event::SettingsChanged(changes(&[(Setting::Sources, "3")])));
    app.handle(Event::DomainChosen(name("lab")));
    app.handle(loaded("attic", changes(&[(Setting::Sources, "9")]), None));
    app.handle(loaded("lab", changes(&[(Setting::Sources, "4")]), Some(problem())));
    assert_eq!(app.turn_settings().sources, 3, "wiki is still open");
    app.handle(Event::DomainOpened(domain("lab")));
    assert_eq!((app.turn_settings().sources, app.problem()), (4, Some(&problem())));
    app.handle(Event::DomainChosen(name("wiki")));
    app.handle(Event::DomainOpened(domain("wiki")));
    assert!(app.changes().is_empty());
    assert!(App::default().handle(Event::SettingsChanged(changes(&[(Setting::Sources, "3")]))).is_empty());
}

#[test]
fn an_explanation_uses_what_is_set_now_and_reads_as_much_as_the_answer_did() {
    let mut app = with_one_turn();
    app.handle(Event::SettingsChanged(changes(&[(Setting::Eps, "0.1"), (Setting::AnswerTokens, "32")])));
    assert_eq!(app.method(), Method::Counterfactual);
    let effects = app.handle(Event::ExplainRequested { turn: 0, method: Method::Preview });
    let settings = &explain_of(&effects).settings;
    assert!((settings.attribution.eps - 0.1).abs() < 1e-12);
    assert_eq!(settings.prompt, TurnSettings::default().prompt);
    app.handle(Event::SettingsChanged(SettingsOverride::default()));
    app.handle(attributed(1));
    let known = app.turns()[0].record.trace.settings.clone().unwrap().attribution;
    assert_eq!((known.eps, known.method), (0.1, Method::Preview));
}

#[test]
fn a_stored_turn_can_be_made_a_check_and_one_that_is_not_is_refused() {
    let mut app = with_one_turn();
    let effects = app.handle(Event::ExportEvalCase { turn: 0 });
    let [Effect::WriteEvalCase { conversation: ConversationId(7), turn, .. }] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!(turn.question, "q");
    assert!(app.handle(Event::ExportEvalCase { turn: 5 }).is_empty() && app.problem().is_some());
    let mut running = after([asked("q")]);
    assert!(running.handle(Event::ExportEvalCase { turn: 0 }).is_empty() && running.problem().is_some());
}

#[test]
fn without_models_they_are_looked_for_until_they_are_there_and_then_loaded() {
    let mut app = App::new(AppSettings::default());
    assert_eq!(app.handle(looked(None)), [], "nothing was missing");
    let missing = Some(MissingModels { models: vec!["m".into()], ..MissingModels::default() });
    assert_eq!(app.handle(looked(missing.clone())), []);
    app.handle(Event::DomainsListed(vec![domain("wiki")]));
    assert_eq!(app.look_again(), Some(Effect::LookForModels));
    assert_eq!(app.handle(looked(missing)), []);
    assert_eq!(app.handle(looked(None)), [Effect::LoadModels(GeneratorChoice::Profile), Effect::ListDomains]);
    assert_eq!((app.missing_models(), app.look_again()), (None, None));
}

#[test]
fn without_a_domain_that_has_a_document_the_domains_are_looked_at_again() {
    let mut app = App::new(AppSettings::default());
    assert_eq!(app.look_again(), None, "they are being listed");
    app.handle(Event::DomainsListed(vec![]));
    assert_eq!(app.look_again(), Some(Effect::ListDomains));
    app.handle(Event::DomainsListed(vec![DomainSummary { documents: 0, ..domain("wiki") }]));
    assert_eq!(app.look_again(), Some(Effect::ListDomains));
    app.handle(Event::DomainsListed(vec![domain("wiki")]));
    assert_eq!(app.look_again(), None);
}

fn read_into(domain: &str) -> Event {
    Event::IngestWanted { domain: name(domain), path: "~/docs".into() }
}

fn report(domain: &str) -> Event {
    let report = IngestReport { domain: domain.into(), documents: 3, added: 2, ..IngestReport::default() };
    Event::IngestFinished(Box::new(report))
}

#[test]
fn documents_are_read_while_a_question_is_answered_and_the_open_domain_stays() {
    let mut app = opened();
    app.handle(asked("q?"));
    let effects = app.handle(read_into("notes"));
    assert_eq!(effects, [Effect::Ingest { domain: name("notes"), path: "~/docs".into() }]);
    assert!(app.is_busy(), "the turn goes on");
    let progress =
        IngestProgress { stage: IngestStage::Reading, done: 1, total: 3, embedded: 0, current: String::new() };
    app.handle(Event::IngestAdvanced(progress.clone()));
    assert_eq!(app.ingesting().and_then(|running| running.progress.as_ref()), Some(&progress));
    assert_eq!(app.handle(report("notes")), [Effect::ListDomains]);
    let read = matches!(app.notice(), Some(Notice::Read(report)) if (report.documents, report.added) == (3, 2));
    assert!(read && app.ingesting().is_none(), "{:?}", app.notice());
    assert_eq!(app.domain().map(|open| open.name.as_str()), Some("wiki"));
    app.handle(Event::DomainsListed(vec![DomainSummary { documents: 9, ..domain("wiki") }]));
    assert_eq!(app.domain().map(|open| open.documents), Some(9), "what is shown of it is fresh");
}

#[test]
fn one_ingest_runs_at_a_time_and_is_stopped_once() {
    let mut app = opened();
    assert_eq!(app.handle(Event::IngestCancelRequested), []);
    app.handle(read_into("notes"));
    assert_eq!(app.handle(read_into("other")), []);
    assert!(app.problem().is_some_and(|problem| problem.what.contains("still being read")));
    assert_eq!(app.handle(Event::IngestCancelRequested), [Effect::CancelIngest]);
    assert_eq!(app.handle(Event::IngestCancelRequested), []);
    assert_eq!(app.handle(Event::IngestCanceled), [Effect::ListDomains]);
    assert_eq!((app.ingesting(), app.notice()), (None, Some(&Notice::StoppedReading(name("notes")))));
    assert_eq!(app.handle(Event::IngestCanceled), [], "nothing runs any more");
}

#[test]
fn a_domain_that_was_made_is_opened_where_none_is_and_a_failure_is_told() {
    let mut app = App::new(AppSettings::default());
    app.handle(Event::DomainsListed(vec![]));
    app.handle(read_into("notes"));
    assert_eq!(app.look_again(), None, "its end lists the domains");
    let problem = Problem { what: "no".into(), next: "yes".into() };
    assert_eq!(app.handle(Event::IngestFailed(problem.clone())), [Effect::ListDomains]);
    assert_eq!((app.problem(), app.ingesting()), (Some(&problem), None));
    app.handle(read_into("notes"));
    let effects = app.handle(report("notes"));
    let open = [Effect::OpenDomain(name("notes")), Effect::ListConversations(name("notes"))];
    assert_eq!(effects, [vec![Effect::ListDomains], open.to_vec()].concat());
}

#[test]
fn an_answer_that_could_not_be_stored_can_be_taken_out() {
    let mut app = after([asked("Who?"), completed(1, "Who?"), retrieved(1), answered(1, "Somebody.")]);
    let problem = Problem { what: "the disk is full".into(), next: "Make room".into() };
    app.handle(Event::SaveFailed { turn: TurnKey(1), problem });
    let wished = app.handle(Event::ExportWanted { turn: None, format: Format::Markdown });
    let [Effect::Export { conversation, turns, .. }] = &wished[..] else { panic!("{wished:?}") };
    assert_eq!((conversation.title.as_str(), turns.len()), ("Who?", 1));
}

#[test]
fn what_becomes_of_a_listed_conversation_is_told_to_the_domain_that_is_being_opened() {
    let mut app = with_one_turn();
    app.handle(Event::DomainChosen(name("other")));
    let wished = app.handle(Event::ConversationChangeWanted(ConversationChange::Delete(ConversationId(9))));
    assert!(
        matches!(&wished[..], [Effect::ChangeConversation { domain, .. }] if *domain == name("other")),
        "{wished:?}"
    );
}

#[test]
fn the_command_line_lets_the_model_answer_without_match() {
    use ragonite_rag::pipeline::AnswerWithoutMatch;
    let of = |answer_without_match| {
        App::new(AppSettings { answer_without_match, ..AppSettings::default() }).turn_settings().answer_without_match
    };
    assert_eq!(of(None), AnswerWithoutMatch::Off);
    assert_eq!(of(Some(AnswerWithoutMatch::On)), AnswerWithoutMatch::On);
}
