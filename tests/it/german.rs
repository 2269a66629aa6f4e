//! The screen in German: main states as snapshots at three sizes, and checks for cut or English text.

use crossterm::event::{KeyCode, KeyModifiers};
use ragonite::app::Event;
use ragonite::base::Language;
use ragonite::config::ThemeName;
use ragonite::history::ConversationRecord;
use ragonite::tui::Pane;

use crate::compare::{compared, menu};
use crate::look::theme;
use crate::screen::{NOW, Stage, Verdict, changed_settings, conversation, domain_name, explained_by_logprob};
use crate::states::{ingesting, opened, states, two_turns, without_models};

const SIZES: [(u16, u16); 3] = [(60, 20), (80, 24), (120, 40)];

fn german(stage: Stage) -> Stage {
    stage.in_language(Language::German)
}

/// One snapshot of a state with all sizes.
fn assert_german(name: &str, stage: impl Fn() -> Stage) {
    let frames: Vec<String> =
        SIZES.iter().map(|size| format!("{}x{}\n{}", size.0, size.1, german(stage()).frame(*size).backend())).collect();
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!(format!("german_{name}"), frames.join("\n"));
    });
}

fn with_trash() -> Stage {
    let mut stage = Stage::open();
    let trash = vec![ConversationRecord { deleted_at: Some(NOW), ..conversation(9, "Ist das Modem alt?") }];
    let pinned = ConversationRecord { pinned: true, ..conversation(2, "Who replaces the modem?") };
    let conversations = vec![pinned, conversation(3, "Welche Stationen liegen im Norden?")];
    stage.play([Event::ConversationsListed { domain: domain_name(), conversations, trash }]);
    stage.at(Pane::Lists).key('G')
}

fn no_domain() -> Stage {
    let mut stage = Stage::new();
    stage.play([Event::DomainsListed(vec![])]);
    stage
}

#[test]
fn a_conversation_with_its_evidence() {
    assert_german("conversation", || two_turns().at(Pane::Conversation));
    assert_german("evidence", || Stage::answered().at(Pane::Evidence));
}

#[test]
fn behind_the_scenes() {
    assert_german("behind", || Stage::explained(Verdict::SomeDecide).at(Pane::Behind));
}

#[test]
fn an_attribution() {
    assert_german("why", || opened(Stage::explained(Verdict::SomeDecide).at(Pane::Why)));
    assert_german("why_nothing_decides", || Stage::explained(Verdict::NoneDecides).at(Pane::Why));
    assert_german("why_sentence", || explained_by_logprob().at(Pane::Conversation).key(')').key(')'));
    assert_german("why_not_yet", || Stage::answered().at(Pane::Why));
}

#[test]
fn the_settings() {
    assert_german("settings", changed_settings);
}

#[test]
fn a_comparison() {
    assert_german("compare", || menu(compared(german(Stage::answered())).key('=').at(Pane::Evidence)));
    assert_german("comparison", || compared(german(Stage::answered())));
}

#[test]
fn the_help_and_the_palette() {
    assert_german("help", || Stage::answered().at(Pane::Conversation).key('?'));
    assert_german("palette", || {
        let mut stage = german(Stage::answered());
        stage.press(KeyCode::Char('p'), KeyModifiers::CONTROL);
        for letter in "erklären".chars() {
            stage.press(KeyCode::Char(letter), KeyModifiers::NONE);
        }
        stage
    });
}

#[test]
fn the_trash() {
    assert_german("trash", with_trash);
    assert_german("purge", || german(with_trash()).key('D'));
}

#[test]
fn an_empty_start() {
    assert_german("no_domain", no_domain);
    assert_german("without_models", without_models);
    assert_german("open_domain", Stage::open);
}

#[test]
fn documents_that_are_read_and_a_reason_that_is_asked_for() {
    assert_german("ingesting", || ingesting().at(Pane::Lists));
    assert_german("reasons", || Stage::answered().at(Pane::Conversation).key('-').key('j'));
    assert_german("context", || Stage::answered().at(Pane::Evidence).key('j').key('a'));
}

#[test]
fn the_way_to_all_keys_is_shown_in_every_state() {
    for (name, make) in states() {
        for (width, height) in SIZES {
            let terminal = german(make(theme(ThemeName::Dark))).frame((width, height));
            let text = terminal.backend().to_string();
            let footer = text.lines().last().unwrap();
            let shown = footer.contains("F1 Hilfe") || footer.contains("Esc schließen");
            assert!(shown, "{name} {width}x{height}: {footer}");
        }
    }
}

#[test]
fn yes_is_j_in_german_and_y_stays() {
    for yes in ['j', 'J', 'y'] {
        let mut stage = german(with_trash()).key('D');
        let asked = stage.frame((80, 24)).backend().to_string();
        assert!(asked.contains("Wirklich?"), "{asked}");
        let gone = stage.key(yes).frame((80, 24)).backend().to_string();
        assert!(!gone.contains("Wirklich?"), "{yes}");
    }
    let mut english = with_trash().key('D').key('j');
    assert!(english.frame((80, 24)).backend().to_string().contains("Really?"));
}

#[test]
fn what_the_program_refuses_is_said_in_german() {
    let mut stage = german(Stage::asked("Wer tauscht das Modem?"));
    stage.play([Event::QuestionAsked { text: "Und wann?".into(), at: NOW }]);
    let seen = stage.frame((120, 40)).backend().to_string();
    assert!(seen.contains("Eine Frage wird noch bearbeitet") && seen.contains("Esc\u{a0}schließt"), "{seen}");
}

#[test]
fn the_language_can_be_changed_and_nothing_of_the_other_one_stays() {
    let mut stage = Stage::answered().at(Pane::Conversation);
    let english = stage.frame((120, 40)).backend().to_string();
    let mut stage = german(stage);
    let seen = stage.frame((120, 40)).backend().to_string();
    assert!(seen.contains("Token gelesen") && !seen.contains("tokens read"), "{seen}");
    let mut stage = stage.in_language(Language::English);
    assert_eq!(stage.frame((120, 40)).backend().to_string(), english);
}
