//! The comparison of two turns: frames and keys.

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyModifiers};
use ragonite::app::{Event, Problem, Refusal, TurnKey, Variation};
use ragonite::config::{Setting, SettingsOverride};
use ragonite::rag::answer::{Answer, RewriteHow};
use ragonite::rag::pipeline::AnswerWithoutMatch;
use ragonite::rag::prompt::Prompt;
use ragonite::rag::retrieval::{Hit, MatchQuality, MatchVerdict, OverrideKind, Retrieved};
use ragonite::tui::{Intent, Pane};

use crate::screen::{Stage, Verdict, answer, assert_frames, hits, retrieved, rewrite};
use crate::states::two_turns;

const QUESTION: &str = "Who replaces the modem?";
const AGAIN: TurnKey = TurnKey(2);
const OTHER: &str = "**Bob** replaces the satellite modem of station *Kestrel* [Source 1]:\n\n- the low-power variant was \
                     chosen [Source 1, Source 3]";

/// The choices for the selected turn.
pub(crate) fn menu(stage: Stage) -> Stage {
    stage.at(Pane::Evidence).key('j').key('=')
}

/// The question asked again without its first source, while it is searched.
fn asked_again(stage: Stage) -> Stage {
    stage.at(Pane::Evidence).key('=').key('1')
}

/// The sources without the first, with the last two exchanged and a new one.
fn other_hits() -> Vec<Hit> {
    let mut all = hits();
    all.remove(0);
    all.swap(2, 3);
    let mut new = all[1].clone();
    (new.evidence, new.content, new.heading) = (ragonite::base::EvidenceId(160), "- call Bob".into(), "Notes".into());
    all.insert(1, new);
    (1..).zip(all).map(|(rank, hit)| Hit { rank, ..hit }).collect()
}

pub(crate) fn searched_again(stage: Stage) -> Stage {
    let mut stage = asked_again(stage);
    let found = Retrieved { hits: other_hits(), ..retrieved(QUESTION) };
    stage.play([
        Event::QuestionCompleted { turn: AGAIN, rewrite: Box::new(rewrite(QUESTION, RewriteHow::Again)) },
        Event::HitsRetrieved { turn: AGAIN, retrieved: Box::new(found) },
    ]);
    stage
}

/// Both answers side by side.
pub(crate) fn compared(stage: Stage) -> Stage {
    let mut stage = searched_again(stage);
    stage.finish(AGAIN, Answer { citations: vec![1, 3], ..answer(OTHER, vec![]) });
    stage
}

/// The second answer failed.
pub(crate) fn not_answered(stage: Stage) -> Stage {
    let mut stage = searched_again(stage);
    let problem = Problem { what: "the generator ran out of memory".into(), next: "Choose a smaller model".into() };
    stage.play([Event::JobFailed { job: AGAIN.job(), problem }, Event::ProblemDismissed]);
    stage
}

fn press(stage: &mut Stage, code: KeyCode) -> Vec<Intent> {
    stage.input(&Input::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn text(stage: &mut Stage) -> String {
    stage.frame((160, 45)).backend().to_string()
}

fn wish(intents: &[Intent]) -> Option<(usize, Variation)> {
    intents.iter().find_map(|intent| match intent {
        Intent::App(Event::AgainWanted { turn, other, .. }) => Some((*turn, other.clone())),
        _ => None,
    })
}

#[test]
fn what_can_be_compared_is_offered() {
    assert_frames("compare", || menu(compared(Stage::answered()).key('=').at(Pane::Evidence)));
}

#[test]
fn two_answers_stand_beside_each_other_with_what_differs() {
    assert_frames("comparison", || compared(Stage::answered()));
}

#[test]
fn a_comparison_grows_while_the_second_answer_is_written() {
    assert_frames("comparison_running", || {
        let mut stage = searched_again(Stage::answered());
        stage.play([Event::AnswerGrew { turn: AGAIN, text: "**Bob** replaces the satellite".into() }]);
        stage
    });
}

#[test]
fn the_settings_of_a_turn_that_is_asked_again_are_its_own() {
    let opened = || menu(Stage::answered()).key('4');
    assert_frames("compare_settings", || opened().key('l'));
    let mut stage = opened().key('l').key('j').key('l');
    assert!(stage.app.changes().is_empty(), "nothing of the domain is changed");
    let mut changes = SettingsOverride::default();
    changes.set(Setting::Sources, "11").unwrap();
    changes.set(Setting::Mode, "dense").unwrap();
    let asked = press(&mut stage, KeyCode::Char('='));
    assert_eq!(wish(&asked), Some((0, Variation::Settings(changes))));
    let seen = text(&mut stage);
    assert!(seen.contains("sources 10 → 11") && seen.contains("search hybrid → dense"), "{seen}");
}

#[test]
fn a_source_or_its_page_is_left_out_or_put_first_by_a_key() {
    for (key, how) in [('1', OverrideKind::LeftOut), ('2', OverrideKind::PageLeftOut), ('3', OverrideKind::First)] {
        let mut stage = menu(Stage::answered());
        let Some((0, Variation::Pick(pick))) = wish(&press(&mut stage, KeyCode::Char(key))) else { panic!("{key}") };
        assert_eq!((pick.how, pick.evidence), (how, hits()[1].evidence));
        assert!(text(&mut stage).contains("┏ Turn 1 and turn 2 "));
    }
}

#[test]
fn any_two_answers_of_a_conversation_can_be_compared() {
    let mut stage = two_turns().at(Pane::Conversation).key('=');
    let seen = text(&mut stage);
    assert!(seen.contains("┏ Compare turn 2 ") && seen.contains("turn 1: Who replaces the modem?"), "{seen}");
    press(&mut stage, KeyCode::End);
    assert!(wish(&press(&mut stage, KeyCode::Enter)).is_none());
    let seen = text(&mut stage);
    assert!(seen.contains("┏ Turn 1 and turn 2 ") && seen.contains("question: Who replaces the modem? →"), "{seen}");
    assert!(seen.contains("earlier turns that the model was told: 0 → 1"), "{seen}");
    let copied = press(&mut stage, KeyCode::Char('y'));
    assert!(matches!(&copied[..], [Intent::Copy { text, .. }] if text.contains("What differs:")), "{copied:?}");
    press(&mut stage, KeyCode::Esc);
    assert!(!text(&mut stage).contains("┏ Turn 1 and turn 2 "));
}

#[test]
fn esc_stops_the_second_answer_before_it_closes_and_the_key_leaves_it_running() {
    let mut stage = searched_again(Stage::answered());
    assert_eq!(press(&mut stage, KeyCode::Esc), [Intent::App(Event::CancelRequested)]);
    stage.play([Event::JobCanceled { job: AGAIN.job() }]);
    assert!(text(&mut stage).contains("■ cancelled"));
    press(&mut stage, KeyCode::Esc);
    assert!(!text(&mut stage).contains("┏ Turn 1 and turn 2 "));

    let mut stage = searched_again(Stage::answered());
    press(&mut stage, KeyCode::Char('='));
    assert!(!text(&mut stage).contains("┏ Turn 1 and turn 2 ") && stage.app.is_busy() && !stage.app.is_canceling());
}

#[test]
fn a_turn_that_was_asked_again_says_so_in_the_conversation_and_is_no_history() {
    let mut stage = compared(Stage::answered());
    press(&mut stage, KeyCode::Esc);
    let seen = text(&mut stage);
    assert!(seen.contains("asks turn 1 again: without “Field meeting"), "{seen}");
    assert_eq!(stage.app.history_before(TurnKey(9)).len(), 1);
    let mut stage = stage.at(Pane::Conversation).key('=');
    let seen = text(&mut stage);
    assert!(seen.contains("┏ Compare turn 2 ") && seen.contains("turn 1: Who replaces"), "{seen}");
}

#[test]
fn nothing_is_asked_again_while_a_turn_runs() {
    let mut stage = menu(Stage::answered().ask("And then?").at(Pane::Conversation).key('['));
    press(&mut stage, KeyCode::Char('1'));
    let seen = text(&mut stage);
    assert!(seen.contains("a turn is still running") && !seen.contains("┏ Turn 1 and"), "{seen}");
    assert_eq!(stage.app.turns().len(), 2);
}

#[test]
fn the_same_answer_is_said_to_be_the_same() {
    let mut stage = searched_again(Stage::answered());
    stage.finish(AGAIN, answer(crate::screen::ANSWER, vec![9]));
    let seen = text(&mut stage);
    assert!(seen.contains("The answers are the same, word for word.") && !seen.contains("[-"), "{seen}");
}

#[test]
fn the_time_beside_an_explained_answer_is_that_of_the_answer() {
    let took = |stage: &mut Stage| {
        let shown = text(stage);
        let (_, after) = shown.split_once("tokens read · ").unwrap_or_else(|| panic!("{shown}"));
        after.split([' ', '│', '┃']).take(2).collect::<Vec<_>>().join(" ")
    };
    let alone = took(&mut Stage::explained(Verdict::SomeDecide).at(Pane::Conversation));
    assert_eq!(took(&mut compared(Stage::explained(Verdict::SomeDecide))), alone);
}

#[test]
fn a_text_is_looked_for_in_a_comparison_and_esc_leaves_what_is_typed_before_it_stops_the_answer() {
    let mut stage = searched_again(Stage::answered()).key('/');
    for letter in "field".chars() {
        stage = stage.key(letter);
    }
    press(&mut stage, KeyCode::Enter);
    let seen = text(&mut stage);
    assert!(seen.contains("“field” 1 of"), "{seen}");
    stage = stage.key('n');
    let seen = text(&mut stage);
    assert!(seen.contains("“field” 2 of"), "{seen}");
    stage = stage.key('/');
    assert_eq!(press(&mut stage, KeyCode::Esc), [Intent::Redraw]);
    assert_eq!(press(&mut stage, KeyCode::Esc), [Intent::App(Event::CancelRequested)]);
}

#[test]
fn a_comparison_is_copied_one_answer_below_the_other_once_both_are_there() {
    let mut running = searched_again(Stage::answered());
    assert_eq!(press(&mut running, KeyCode::Char('y')), [Intent::App(Event::Refused(Refusal::WorkRuns))]);
    let mut stage = compared(Stage::answered());
    text(&mut stage);
    let copied = press(&mut stage, KeyCode::Char('y'));
    let [Intent::Copy { text, .. }] = &copied[..] else { panic!("{copied:?}") };
    assert!(!text.contains('│') && text.contains("{+"), "{text}");
    let places = ["Turn 1", "Sources of turn 1", "Sources of turn 2"].map(|part| text.find(part).unwrap());
    assert!(text.matches("Turn ").count() >= 2 && places.is_sorted(), "{text}");
}

#[test]
fn a_question_that_no_document_fits_can_be_put_to_the_model_all_the_same() {
    const FIRST: TurnKey = TurnKey(1);
    let quality = MatchQuality {
        best_cosine: Some(0.31),
        unrelated_cosine: Some(0.35),
        coverage: Some(0.0),
        absent_words: vec!["modem".into()],
        verdict: MatchVerdict::NoMatch,
    };
    let found = Retrieved { quality: Some(quality), ..retrieved(QUESTION) };
    let mut stage = Stage::asked(QUESTION);
    stage.play([
        Event::QuestionCompleted { turn: FIRST, rewrite: Box::new(rewrite(QUESTION, RewriteHow::First)) },
        Event::HitsRetrieved { turn: FIRST, retrieved: Box::new(found) },
    ]);
    let text = "The desired information cannot be found in the retrieved pool of evidence.";
    let mut nothing = Answer { answered: false, citations: vec![], prompt: Prompt::default(), ..answer(text, vec![]) };
    nothing.completion.tokens.clear();
    stage.finish(FIRST, nothing);
    let seen = stage.frame((160, 45)).backend().to_string();
    for said in ["no document fits this question", "The model was not asked", "Weak matches only"] {
        assert!(seen.contains(said), "{said}: {seen}");
    }
    let mut menu = menu(stage);
    let seen = menu.frame((160, 45)).backend().to_string();
    assert!(seen.contains("although no document fits"), "{seen}");
    let again = menu.key('1');
    let asked = again.app.turns().last().unwrap();
    assert_eq!(asked.key, AGAIN);
    assert_eq!(asked.record.trace.settings.as_ref().unwrap().answer_without_match, AnswerWithoutMatch::On);
}
