//! Pane layout and mouse on whole frames: enlarging, hiding and resizing panes.

use crossterm::event::{Event as Input, KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ragonite::app::{ConversationChange, Event};
use ragonite::base::ConversationId;
use ragonite::history::ConversationRecord;
use ragonite::rag::attribution::Method;
use ragonite::tui::{Intent, Pane};
use ratatui::buffer::Buffer;

use crate::screen::{Stage, Verdict, attribution, conversation};
use crate::states::long_answer;

const PANES: [Pane; 6] = [Pane::Composer, Pane::Conversation, Pane::Evidence, Pane::Behind, Pane::Why, Pane::Lists];

fn drawn(stage: &mut Stage, size: (u16, u16)) -> Buffer {
    stage.frame(size).backend().buffer().clone()
}

fn text(stage: &mut Stage, size: (u16, u16)) -> String {
    stage.frame(size).backend().to_string()
}

/// Column and row where a text begins.
fn find(buffer: &Buffer, text: &str) -> (u16, u16) {
    for y in 0..buffer.area.height {
        let line: Vec<&str> = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect();
        let starts = (0..line.len()).find(|from| line[*from..].concat().starts_with(text));
        if let Some(x) = starts {
            return (u16::try_from(x).unwrap(), y);
        }
    }
    panic!("`{text}` is not on the screen");
}

fn mouse(stage: &mut Stage, kind: MouseEventKind, at: (u16, u16)) -> Vec<Intent> {
    let (column, row) = at;
    stage.input(&Input::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }))
}

fn click(stage: &mut Stage, at: (u16, u16)) -> Vec<Intent> {
    mouse(stage, MouseEventKind::Down(MouseButton::Left), at)
}

#[test]
fn whatever_is_arranged_the_focus_is_seen() {
    let keys = [KeyCode::Char('z'), KeyCode::Char('h'), KeyCode::Left, KeyCode::Right];
    let sizes = [(60, 20), (99, 40), (100, 30), (149, 29), (150, 45), (200, 60)];
    for (at, pane) in PANES.into_iter().enumerate() {
        for first in keys {
            for second in keys {
                let mut stage = Stage::explained(Verdict::SomeDecide).at(Pane::Conversation);
                for (turn, size) in sizes.into_iter().chain(sizes.into_iter().rev()).enumerate() {
                    stage.frame(size);
                    stage.press([first, second][turn % 2], KeyModifiers::ALT);
                    stage = if (turn + at) % 3 == 0 { stage.at(pane) } else { stage };
                    stage.press(KeyCode::Left, KeyModifiers::ALT);
                    let seen = text(&mut stage, size);
                    assert_eq!(seen.matches('┏').count(), 1, "{pane:?} {first} {second} {size:?}:\n{seen}");
                }
            }
        }
    }
}

#[test]
fn an_enlarged_pane_fills_the_screen_until_it_is_given_back() {
    for size in [(120, 40), (200, 60)] {
        let mut stage = Stage::explained(Verdict::SomeDecide).at(Pane::Why);
        let before = text(&mut stage, size);
        stage = stage.key('z');
        let enlarged = text(&mut stage, size);
        assert!(enlarged.contains("[F5 Why]") && enlarged.contains("enlarged, Alt+z shows all"), "{enlarged}");
        assert!(!enlarged.contains("Conversation ·"), "{enlarged}");
        // The next pane is enlarged as well, and a z typed into the question is text.
        stage.press(KeyCode::Tab, KeyModifiers::NONE);
        assert!(text(&mut stage, size).contains("[F6 Domains]"));
        let mut stage = stage.at(Pane::Composer).key('z');
        assert!(text(&mut stage, size).contains("┃z"));
        stage.press(KeyCode::Backspace, KeyModifiers::NONE);
        stage.press(KeyCode::Char('z'), KeyModifiers::ALT);
        assert_eq!(text(&mut stage.at(Pane::Why), size), before);
    }
}

#[test]
fn a_hidden_pane_comes_back_with_its_key_or_its_focus() {
    let mut stage = Stage::answered().at(Pane::Evidence);
    let before = text(&mut stage, (120, 40));
    stage = stage.key('H');
    let hidden = text(&mut stage, (120, 40));
    assert!(!hidden.contains("Evidence") && hidden.contains("┏ Conversation"), "{hidden}");
    stage = stage.key('H');
    assert!(text(&mut stage, (120, 40)).contains(" Evidence "));
    stage = stage.key('H');
    assert_eq!(text(&mut stage.at(Pane::Evidence), (120, 40)), before);

    let mut wide = Stage::answered().at(Pane::Lists);
    wide.frame((200, 60));
    wide = wide.key('H');
    let hidden = text(&mut wide, (200, 60));
    assert!(!hidden.contains("Domains and conversations") && hidden.contains(" Evidence "), "{hidden}");
    assert!(text(&mut wide.at(Pane::Lists), (200, 60)).contains("┏ Domains and conversations"));
}

#[test]
fn a_border_moves_and_the_next_turn_finds_it_there() {
    let mut stage = Stage::answered().at(Pane::Conversation);
    let place = |stage: &mut Stage, text: &str| find(&drawn(stage, (200, 60)), text).0;
    let (lists, side) = (place(&mut stage, "┏ Conversation"), place(&mut stage, "┌ Evidence"));
    stage = stage.key('>').key('>').key('<');
    assert_eq!(place(&mut stage, "┌ Evidence"), side + 9);
    stage.press(KeyCode::Right, KeyModifiers::ALT);
    let moved = place(&mut stage, "┌ Evidence");
    assert!(moved > side + 9);
    stage = stage.at(Pane::Lists).key('>');
    assert_eq!(place(&mut stage, "┌ Conversation"), lists + 4);
    stage = stage.ask("And then?");
    assert_eq!(place(&mut stage, "┌ Conversation"), lists + 4);
}

#[test]
fn a_click_focuses_a_pane_and_selects_a_row() {
    let mut stage = Stage::explained(Verdict::SomeDecide).at(Pane::Composer);
    let size = (200, 60);
    let at = find(&drawn(&mut stage, size), " 3 list ");
    click(&mut stage, at);
    assert_eq!(stage.screen.focus(), Pane::Evidence);
    let seen = drawn(&mut stage, size);
    find(&seen, "› 3 list ");
    let opened = click(&mut stage, find(&seen, "Was ist ein Gateway"));
    assert_eq!(opened, [Intent::App(Event::ConversationChosen(ConversationId(1)))]);
    assert_eq!(stage.screen.focus(), Pane::Composer);
    find(&drawn(&mut stage, size), "   Was ist ein Gateway");

    let mut why = stage.at(Pane::Why);
    let at = find(&drawn(&mut why, size), "▸  18.6 %");
    click(&mut why, at);
    let seen = find(&drawn(&mut why, size), "› ▾  18.6 %");
    assert_eq!(seen.1, at.1, "it is open now");
    click(&mut why, (at.0, at.1 + 1));
    find(&drawn(&mut why, size), "▾  18.6 %");
    click(&mut why, at);
    find(&drawn(&mut why, size), "› ▸  18.6 %");

    let mut narrow = why.at(Pane::Composer);
    let at = find(&drawn(&mut narrow, (80, 24)), "F4 Behind");
    click(&mut narrow, at);
    assert_eq!(narrow.screen.focus(), Pane::Behind);
    assert!(mouse(&mut narrow, MouseEventKind::Moved, (3, 3)).is_empty());
    click(&mut narrow, (0, 23));
    assert_eq!(narrow.screen.focus(), Pane::Behind, "the footer is no pane");
}

#[test]
fn a_click_opens_a_source_and_closes_it_but_not_its_text() {
    let (mut stage, size) = (Stage::answered().at(Pane::Evidence), (200, 60));
    let before = "Before: The field team";
    let at = find(&drawn(&mut stage, size), "› 1 row ");
    let inside = find(&drawn(&mut stage, size), before);
    click(&mut stage, inside);
    find(&drawn(&mut stage, size), before);
    click(&mut stage, at);
    assert!(!text(&mut stage, size).contains(before));
    let other = find(&drawn(&mut stage, size), " 2 passage ");
    click(&mut stage, other);
    let seen = drawn(&mut stage, size);
    find(&seen, "› 2 passage ");
    find(&seen, before);
}

#[test]
fn the_first_click_on_what_is_in_the_trash_only_selects_it() {
    let mut stage = Stage::open().at(Pane::Composer);
    let trash = vec![ConversationRecord { deleted_at: Some(crate::screen::NOW), ..conversation(9, "Ist das alt?") }];
    let domain = crate::screen::domain_name();
    stage.play([Event::ConversationsListed { domain, conversations: vec![], trash }]);
    let at = find(&drawn(&mut stage, (200, 60)), "Ist das alt?");
    assert_eq!(click(&mut stage, at), [Intent::Redraw]);
    let restored = ConversationChange::Restore(ConversationId(9));
    assert_eq!(click(&mut stage, at), [Intent::App(Event::ConversationChangeWanted(restored))]);
}

#[test]
fn a_click_chooses_in_what_lies_over_the_panes() {
    let size = (120, 40);
    let mut stage = Stage::answered().at(Pane::Conversation);
    stage.press(KeyCode::Char('p'), KeyModifiers::CONTROL);
    for letter in "settings".chars() {
        stage.press(KeyCode::Char(letter), KeyModifiers::NONE);
    }
    let at = find(&drawn(&mut stage, size), "settings of the domain");
    click(&mut stage, at);
    assert!(text(&mut stage, size).contains("┏ Settings of wiki "));
    let at = find(&drawn(&mut stage, size), "fusion   ");
    click(&mut stage, at);
    find(&drawn(&mut stage, size), "›  fusion ");
    stage.press(KeyCode::Esc, KeyModifiers::NONE);
    stage = stage.key('-');
    let at = find(&drawn(&mut stage, size), "incomplete");
    click(&mut stage, at);
    assert!(text(&mut stage, size).contains("What is wrong, in your words"));
    stage.press(KeyCode::Esc, KeyModifiers::NONE);
    stage = stage.key('=');
    let at = find(&drawn(&mut stage, size), "without source 1");
    let asked = click(&mut stage, at);
    assert!(matches!(&asked[0], Intent::App(Event::AgainWanted { turn: 0, .. })), "{asked:?}");
}

#[test]
fn the_wheel_scrolls_the_pane_under_the_pointer_and_leaves_the_focus() {
    let size = (120, 30);
    let mut stage = Stage::searched("Who replaces the modem?");
    let turn = ragonite::app::TurnKey(1);
    stage.finish(turn, long_answer());
    let attribution = Box::new(attribution(Verdict::SomeDecide));
    stage.play([
        Event::ExplainRequested { turn: 0, method: Method::Counterfactual },
        Event::AttributionFinished { job: turn.job(), attribution },
    ]);
    let stage = &mut stage.at(Pane::Behind);
    let before = text(stage, size);
    assert!(!before.contains("? Who replaces"), "the end of the answer is followed:\n{before}");
    for _ in 0..40 {
        mouse(stage, MouseEventKind::ScrollUp, (10, 10));
    }
    let after = text(stage, size);
    assert!(after.contains("? Who replaces") && after.contains("more"), "{after}");
    assert_eq!(stage.screen.focus(), Pane::Behind);
    for _ in 0..10 {
        mouse(stage, MouseEventKind::ScrollDown, (100, 10));
    }
    assert!(!text(stage, size).contains("1 Question"));
    stage.press(KeyCode::F(1), KeyModifiers::NONE);
    let help = text(stage, size);
    mouse(stage, MouseEventKind::ScrollDown, (10, 10));
    assert_ne!(text(stage, size), help);
}
