//! Jumping from a citation to its source and back, and searching text that is drawn differently than written.

use crossterm::event::{Event as Input, KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ragonite::app::TurnKey;
use ragonite::tui::Pane;
use ratatui::style::Modifier;

use crate::screen::{Stage, answer};
use crate::states::two_turns;

const SIZE: (u16, u16) = (120, 40);

/// The reversed text, in reading order.
fn reversed(stage: &mut Stage) -> Vec<String> {
    let terminal = stage.frame(SIZE);
    let buffer = terminal.backend().buffer();
    let mut runs: Vec<String> = Vec::new();
    let mut goes_on = false;
    for cell in &buffer.content {
        let is_reversed = cell.modifier.contains(Modifier::REVERSED);
        match runs.last_mut().filter(|_| goes_on) {
            Some(run) if is_reversed => run.push_str(cell.symbol()),
            _ if is_reversed => runs.push(cell.symbol().to_owned()),
            _ => {}
        }
        goes_on = is_reversed;
    }
    runs
}

fn source_is_selected(stage: &mut Stage, rank: usize) -> bool {
    stage.frame(SIZE).backend().to_string().contains(&format!("› {rank} "))
}

fn esc(stage: &mut Stage) {
    stage.press(KeyCode::Esc, KeyModifiers::NONE);
}

fn enter(stage: &mut Stage) {
    stage.press(KeyCode::Enter, KeyModifiers::NONE);
}

fn look_for(mut stage: Stage, text: &str) -> Stage {
    stage.press(KeyCode::Char('/'), KeyModifiers::NONE);
    for letter in text.chars() {
        stage.press(KeyCode::Char(letter), KeyModifiers::NONE);
    }
    enter(&mut stage);
    stage
}

#[test]
fn a_citation_leads_to_its_source_and_back() {
    let mut stage = Stage::answered().at(Pane::Conversation).key('m').key('m');
    assert!(reversed(&mut stage).contains(&"Source\u{a0}2".to_owned()), "{:?}", reversed(&mut stage));
    enter(&mut stage);
    assert_eq!(stage.screen.focus(), Pane::Evidence);
    assert!(source_is_selected(&mut stage, 2));
    esc(&mut stage);
    assert_eq!(stage.screen.focus(), Pane::Conversation);
    assert!(reversed(&mut stage).contains(&"Source\u{a0}2".to_owned()));
    esc(&mut stage);
    assert!(!reversed(&mut stage).contains(&"Source\u{a0}2".to_owned()), "nothing is chosen any more");
    enter(&mut stage);
    assert_eq!(stage.screen.focus(), Pane::Composer, "without a citation, the key leads to the question");
}

#[test]
fn citations_go_round_and_made_up_ones_are_left_out() {
    // Sources 1, 2, 1 and 2 are valid; source 9 is made up.
    let mut stage = Stage::answered().at(Pane::Conversation);
    for rank in [1, 2, 1, 2, 1] {
        stage = stage.at(Pane::Conversation).key('m');
        enter(&mut stage);
        assert!(source_is_selected(&mut stage, rank), "{rank}");
    }
}

#[test]
fn a_citation_below_the_view_comes_into_it() {
    let mut stage = Stage::searched("Who?");
    let lines: Vec<String> = (100..200).map(|number| format!("- line {number}")).collect();
    stage.finish(TurnKey(1), answer(&format!("{}\n\n[Source 3]", lines.join("\n")), vec![]));
    let mut stage = stage.at(Pane::Conversation);
    stage.frame(SIZE);
    let mut stage = stage.key('g');
    assert!(!stage.frame(SIZE).backend().to_string().contains("Source\u{a0}3]"));
    let mut stage = stage.key('m');
    assert!(stage.frame(SIZE).backend().to_string().contains("Source\u{a0}3]"));
}

#[test]
fn a_click_on_a_citation_leads_to_its_source_also_in_another_turn() {
    let mut stage = two_turns().at(Pane::Conversation);
    let terminal = stage.frame(SIZE);
    let buffer = terminal.backend().buffer();
    let text: String =
        buffer.content.iter().map(ratatui::buffer::Cell::symbol).map(|s| s.chars().next().unwrap_or(' ')).collect();
    let at = text.find("Source\u{a0}2").map(|at| text[..at].chars().count()).unwrap();
    let (column, row) = (u16::try_from(at).unwrap() % SIZE.0, u16::try_from(at).unwrap() / SIZE.0);
    let kind = MouseEventKind::Down(MouseButton::Left);
    stage.input(&Input::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
    assert_eq!(stage.screen.focus(), Pane::Evidence);
    assert!(source_is_selected(&mut stage, 2));
}

#[test]
fn a_citation_is_found_as_it_is_written() {
    for pane in [Pane::Conversation, Pane::Behind] {
        let mut stage = look_for(Stage::answered().at(pane), "source 1");
        let seen = stage.frame(SIZE).backend().to_string();
        assert!(!seen.contains("“source 1” 0 of 0"), "{pane:?}:\n{seen}");
        assert!(reversed(&mut stage).iter().any(|run| run.starts_with("Source")), "{pane:?}");
    }
}

#[test]
fn a_phrase_is_found_over_the_end_of_a_line() {
    let mut stage = Stage::searched("Who?");
    let word = |number: u8| format!("word{}{}", char::from(b'a' + number / 10), char::from(b'a' + number % 10));
    let words: Vec<String> = (0..60).map(word).collect();
    stage.finish(TurnKey(1), answer(&words.join(" "), vec![]));
    let mut stage = stage.at(Pane::Conversation);
    stage.frame(SIZE);
    // One of these widths breaks the line there.
    for number in 0..59 {
        stage = look_for(stage, &format!("{} {}", word(number), word(number + 1)));
        let seen = stage.frame(SIZE).backend().to_string();
        assert!(seen.contains(" 1 of 1"), "{number}:\n{seen}");
        esc(&mut stage);
    }
}
