//! Copying from the trace: the step under the cursor, whole and unchanged.

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyModifiers};
use ragonite::app::Copied;
use ragonite::tui::{Intent, Pane};

use crate::screen::{Stage, Verdict, explained_by_logprob};

/// Goes to the line that has this text, and copies.
fn copied(mut stage: Stage, step: &str) -> String {
    stage = stage.at(Pane::Behind);
    for _ in 0..200 {
        if stage.frame((80, 24)).backend().to_string().lines().any(|line| line.contains(&format!("┃› {step}"))) {
            break;
        }
        stage.press(KeyCode::Down, KeyModifiers::NONE);
    }
    let intents = stage.input(&Input::Key(KeyEvent::new(KeyCode::Char('y'), KeyModifiers::NONE)));
    match &intents[..] {
        [Intent::Copy { what: Copied::Step, text }] => text.clone(),
        other => panic!("{step}: {other:?}"),
    }
}

#[test]
fn a_closed_prompt_is_copied_whole_with_its_segments() {
    let text = copied(Stage::answered(), "▸ 5 Prompt");
    assert!(text.contains("\nAnswer from the sources only. Cite them as [Source n].\n"), "{text}");
    assert!(text.contains("\nSource 4: Board | Revision | Power\n"), "{text}");
    assert!(!text.contains('▾') && !text.contains("7 Answer as"), "{text}");
}

#[test]
fn a_counterfactual_is_copied_with_its_prompt() {
    let text = copied(Stage::explained(Verdict::SomeDecide), "▸ 8 Without Sources 1, 3");
    assert!(text.contains("\nBob replaces the modem of station Kestrel [Source 2].\n"), "{text}");
    assert!(text.contains("Source 2: The modem of station Kestrel …"), "{text}");
    assert!(!text.contains("Alice replaces it"), "another one: {text}");
}

#[test]
fn a_list_of_tokens_and_a_list_of_hits_are_copied() {
    let tokens = copied(explained_by_logprob(), "▸ 8 Log-probability without Source 2");
    assert!(tokens.contains(" on 2025-03-14."), "{tokens}");
    let fused = copied(Stage::answered(), "▾ 4 Both, fused");
    assert!(fused.contains("Decision: satellite modem › Outcome"), "a line that is cut on the screen: {fused}");
}
