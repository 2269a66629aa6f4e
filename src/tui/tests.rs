//! Keys and what they lead to, keymaps, markdown and measures.

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyModifiers};
use indexmap::IndexMap;
use proptest::prelude::*;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use time::OffsetDateTime;

use super::keymap::ENTRIES;
use super::lists::Entry;
use super::markdown::{MarkdownLook, render};
use super::text::{Indent, fit, fit_middle, pad, width, window, wrap};
use super::*;
use ragonite_app::{
    App, AppSettings, ConversationChange, Copied, DomainHealth, DomainSummary, Event, JobId, Notice, Refusal, TurnKey,
};
use ragonite_base::{ConversationId, Millis, TurnId};
use ragonite_history::{ConversationRecord, Feedback, Format, Found, FoundTurn, Place, Rating, Reason, TurnRecord};
use ragonite_rag::answer::{Rewrite, RewriteHow};

const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

fn key(chord: &str) -> Input {
    let (modifiers, code) = match chord {
        "Enter" => (KeyModifiers::NONE, KeyCode::Enter),
        "Esc" => (KeyModifiers::NONE, KeyCode::Esc),
        "Up" => (KeyModifiers::NONE, KeyCode::Up),
        "F1" => (KeyModifiers::NONE, KeyCode::F(1)),
        "Tab" => (KeyModifiers::NONE, KeyCode::Tab),
        "Alt+Enter" => (KeyModifiers::ALT, KeyCode::Enter),
        "Ctrl+C" => (KeyModifiers::CONTROL, KeyCode::Char('c')),
        "Ctrl+J" => (KeyModifiers::CONTROL, KeyCode::Char('j')),
        "Alt+2" => (KeyModifiers::ALT, KeyCode::Char('2')),
        "Ctrl+P" => (KeyModifiers::CONTROL, KeyCode::Char('p')),
        "F2" => (KeyModifiers::NONE, KeyCode::F(2)),
        "F3" => (KeyModifiers::NONE, KeyCode::F(3)),
        "F4" => (KeyModifiers::NONE, KeyCode::F(4)),
        "F6" => (KeyModifiers::NONE, KeyCode::F(6)),
        "F7" => (KeyModifiers::NONE, KeyCode::F(7)),
        "F8" => (KeyModifiers::NONE, KeyCode::F(8)),
        "F9" => (KeyModifiers::NONE, KeyCode::F(9)),
        "Ctrl+N" => (KeyModifiers::CONTROL, KeyCode::Char('n')),
        one => (KeyModifiers::NONE, KeyCode::Char(one.chars().next().unwrap())),
    };
    Input::Key(KeyEvent::new(code, modifiers))
}

struct Desk {
    app: App,
    screen: ScreenState,
}

impl Desk {
    fn open() -> Self {
        let mut app = App::new(AppSettings::default());
        let name: ragonite_base::DomainName = "wiki".parse().unwrap();
        app.handle(Event::DomainChosen(name.clone()));
        app.handle(Event::DomainOpened(DomainSummary {
            name,
            documents: 1,
            evidences: 1,
            changed_at: String::new(),
            ingested_at: String::new(),
            health: DomainHealth::Ready,
            problem: None,
        }));
        Self { app, screen: ScreenState::new(Theme::colour(), Keymap::default()) }
    }

    /// Types and hands what follows to the app.
    fn press(&mut self, input: &Input) -> Vec<Intent> {
        let intents = on_input(&mut self.screen, &self.app, input, NOW);
        for intent in &intents {
            if let Intent::App(event) = intent {
                self.app.handle(event.clone());
            }
        }
        intents
    }

    /// What the keys lead to beside drawing and the end of a notice.
    fn keys(&mut self, chords: &[&str]) -> Vec<Intent> {
        let housekeeping = [Intent::Redraw, Intent::App(Event::NoticeSeen)];
        chords.iter().flat_map(|chord| self.press(&key(chord))).filter(|one| !housekeeping.contains(one)).collect()
    }
}

#[test]
fn enter_sends_and_alt_enter_makes_a_new_line() {
    let mut desk = Desk::open();
    let sent = desk.keys(&["h", "i", "Alt+Enter", "x", "Ctrl+J", "?", "Enter"]);
    assert_eq!(sent, [Intent::App(Event::QuestionAsked { text: "hi\nx\n?".into(), at: NOW })]);
    assert!(desk.screen.composer.is_empty());
}

#[test]
fn each_switch_of_the_theme_says_which_one_is_shown() {
    let mut desk = Desk::open();
    desk.keys(&["F2"]);
    let mut shown = Vec::new();
    for _ in 0..2 {
        desk.keys(&["T"]);
        let Some(Notice::Theme(name)) = desk.app.notice() else { panic!("{:?}", desk.app.notice()) };
        shown.push((*name, desk.screen.theme()));
    }
    assert!(shown[0] != shown[1] && shown[0].0 != shown[1].0 && shown[0].1 != shown[1].1);
}

#[test]
fn a_notice_stands_until_the_next_key_whatever_that_does() {
    let mut desk = Desk::open();
    desk.app.handle(Event::Done(Notice::MovedToTrash));
    desk.press(&Input::Resize(100, 30));
    assert_eq!(desk.app.notice(), Some(&Notice::MovedToTrash), "nobody has pressed a key");
    desk.keys(&["h", "i"]);
    assert_eq!(desk.app.notice(), Some(&Notice::MovedToTrash), "a question is being written");
    desk.keys(&["Ctrl+P"]);
    assert!(desk.app.notice().is_none() && desk.screen.popup.is_some());
    desk.app.handle(Event::Done(Notice::MovedToTrash));
    desk.keys(&["Esc"]);
    assert!(desk.app.notice().is_none() && desk.screen.popup.is_none());
}

#[test]
fn a_paste_never_sends() {
    let mut desk = Desk::open();
    let intents = desk.press(&Input::Paste("one\r\ntwo\n\u{1b}[31mthree\n".into()));
    assert_eq!(intents, [Intent::Redraw]);
    assert_eq!(desk.screen.composer.text(), "one\ntwo\nthree\n");
}

#[test]
fn a_question_that_is_refused_stays_in_the_composer() {
    let mut desk = Desk::open();
    desk.keys(&["a", "Enter", "b", "Enter"]);
    assert_eq!(desk.screen.composer.text(), "b");
    assert!(desk.app.problem().is_some());
}

#[test]
fn esc_closes_what_is_open_before_it_stops_what_runs() {
    for open in ["F1", "Ctrl+P", "F7", "F8"] {
        let mut desk = Desk::open();
        desk.keys(&["a", "Enter", open]);
        assert!(desk.screen.popup.is_some(), "{open}");
        assert!(desk.keys(&["Esc"]).is_empty() && desk.screen.popup.is_none(), "{open}");
        assert_eq!(desk.keys(&["Esc"]), [Intent::App(Event::CancelRequested)], "{open}");
    }
}

#[test]
fn every_key_leads_to_a_frame_though_it_does_nothing() {
    let mut desk = Desk::open();
    for input in ["Ctrl+P", "d", "e", "l", "e", "t", "e", "Enter", "F6", "D", "P", "Ctrl+C", "u"].map(key) {
        let intents = on_input(&mut desk.screen, &desk.app, &input, NOW);
        assert!(!intents.is_empty(), "{input:?}");
    }
    assert!(desk.screen.popup.is_none() && !desk.screen.leaving);
}

#[test]
fn a_paste_goes_into_every_line_that_takes_text_and_stays_on_it() {
    let paste = || Input::Paste("one\r\n\u{1b}[31mtwo".into());
    let mut desk = kept();
    desk.keys(&["F2", "/"]);
    assert_eq!(desk.press(&paste()), [Intent::Redraw]);
    desk.keys(&["Enter"]);
    assert_eq!(desk.screen.find.as_ref().map(|find| find.text.as_str()), Some("one two"));
    let renamed = |title: &str| {
        let change = ConversationChange::Rename(ConversationId(7), title.into());
        [Intent::App(Event::ConversationChangeWanted(change))]
    };
    desk.keys(&["F6", "r", "!"]);
    desk.press(&paste());
    assert_eq!(desk.keys(&["Enter"]), renamed("hi!one two"));
    desk.keys(&["F2", "Esc", "F6", "/"]);
    desk.press(&paste());
    assert!(matches!(&desk.keys(&["Enter"])[..], [Intent::App(Event::ConversationsWanted(text))] if text == "one two"));
    desk.keys(&["Ctrl+P"]);
    desk.press(&Input::Paste("new conv".into()));
    assert_eq!(desk.keys(&["Enter"]), [Intent::App(Event::ConversationStarted)]);
    desk.keys(&["F1"]);
    desk.press(&paste());
    desk.keys(&["Esc"]);
    assert!(desk.screen.composer.is_empty(), "what takes no text drops it");
    desk.keys(&["F7", "Enter"]);
    desk.press(&paste());
    let Some(popup::Popup::Settings(view)) = &desk.screen.popup else { panic!("no settings") };
    assert!(view.typed.as_ref().is_some_and(|line| line.lines().join("|").ends_with("one two")), "{:?}", view.typed);
}

#[test]
fn the_conversation_under_the_cursor_is_written_to_a_file() {
    let wanted = |id| {
        let format = Format::Markdown;
        [Intent::App(Event::StoredExportWanted { conversation: ConversationId(id), format })]
    };
    let mut desk = kept();
    assert_eq!(desk.keys(&["F6", "w"]), wanted(7));
    assert_eq!(desk.keys(&["j", "w"]), wanted(4), "not the open one");
    assert_eq!(desk.keys(&["j", "w"]), wanted(2), "also from the trash");
}

#[test]
fn the_cursor_of_the_lists_goes_to_what_is_opened_elsewhere_and_along_with_what_leaves_the_trash() {
    let on = |desk: &Desk| lists::entry(&desk.app, desk.screen.lists.selected);
    let mut desk = kept();
    desk.keys(&["F2"]);
    let known = |desk: &Desk, id| desk.app.conversations().iter().find(|known| known.id == id).cloned();
    let record = known(&desk, ConversationId(4)).unwrap();
    desk.app.handle(Event::ConversationChosen(record.id));
    desk.app.handle(Event::ConversationOpened { record: record.clone(), turns: vec![] });
    desk.keys(&["F6"]);
    assert_eq!(on(&desk), Some(Entry::Conversation(ConversationId(4))));
    desk.keys(&["g"]);
    desk.keys(&["F6"]);
    assert_eq!(on(&desk), Some(Entry::Conversation(ConversationId(7))), "there it stays where it was put");
    desk.keys(&["G", "F6"]);
    assert_eq!(on(&desk), Some(Entry::Trashed(ConversationId(2))));
    let restored = ConversationRecord { id: ConversationId(2), title: "Gone".into(), ..record.clone() };
    let others = [7, 4].map(|id| known(&desk, ConversationId(id)).unwrap());
    let conversations = std::iter::once(restored).chain(others).collect();
    desk.app.handle(Event::ConversationsListed { domain: record.domain, conversations, trash: vec![] });
    desk.keys(&["F6"]);
    assert_eq!(on(&desk), Some(Entry::Conversation(ConversationId(2))));
}

#[test]
fn n_steps_through_the_conversations_that_were_found_and_leaves_no_wish_behind() {
    let mut desk = kept();
    desk.keys(&["F2", "/", "h", "i", "Enter", "F6", "n"]);
    assert!(desk.screen.popup.is_some(), "nothing was looked for in the lists");
    desk.keys(&["Esc"]);
    let conversation = |id| desk.app.conversations().iter().find(|known| known.id == ConversationId(id)).unwrap();
    let found = [7, 4].map(|id| Found { conversation: conversation(id).clone(), turns: vec![] });
    desk.app.handle(Event::ConversationsWanted("o".into()));
    desk.app.handle(Event::ConversationsFound { text: "o".into(), found: found.into() });
    let mut places = Vec::new();
    for step in ["n", "n", "n", "N"] {
        desk.keys(&[step]);
        places.push(desk.screen.lists.selected);
        assert!(desk.screen.popup.is_none());
    }
    assert_eq!(places, [1, 0, 1, 0]);
    desk.keys(&["F2", "n", "F3"]);
    let find = desk.screen.find.as_mut().unwrap();
    assert_eq!(find.step(&[4], 0), None, "the step was wanted of the pane that was left");
}

#[test]
fn ctrl_c_stops_and_twice_leaves() {
    let mut desk = Desk::open();
    desk.keys(&["a", "Enter"]);
    let left = desk.keys(&["Ctrl+C", "Ctrl+C"]);
    assert_eq!(left, [Intent::App(Event::CancelRequested), Intent::App(Event::QuitRequested)]);
    let mut idle = Desk::open();
    assert!(idle.keys(&["Ctrl+C", "a", "Ctrl+C"]).is_empty(), "another key between the two");
}

#[test]
fn letters_are_text_in_the_composer_and_keys_elsewhere() {
    let mut desk = Desk::open();
    desk.keys(&["x", "?", "1"]);
    assert_eq!(desk.screen.composer.text(), "x?1");
    desk.keys(&["Tab", "?"]);
    assert!(desk.screen.popup.is_some());
}

#[test]
fn up_in_an_empty_composer_brings_back_the_last_question() {
    let mut desk = Desk::open();
    desk.keys(&["a", "Enter", "Up"]);
    assert_eq!(desk.screen.composer.text(), "a");
}

#[test]
fn a_completed_question_is_edited_in_the_composer_and_asked_again() {
    let mut desk = Desk::open();
    desk.keys(&["h", "i", "Enter", "Esc"]);
    desk.app.handle(Event::JobCanceled { job: JobId(1) });
    desk.keys(&["d", "r", "Tab", "e"]);
    assert_eq!((desk.screen.focus(), desk.screen.composer.text().as_str()), (Pane::Composer, "hi"));
    let sent = desk.keys(&["?", "Up", "Enter"]);
    assert_eq!(sent, [Intent::App(Event::QuestionEdited { text: "hi?".into(), at: NOW })]);
    assert_eq!(desk.screen.composer.text(), "dr", "what was being written comes back");
    desk.app.handle(Event::JobCanceled { job: JobId(2) });
    desk.keys(&["Tab", "e", "e", "Esc"]);
    assert_eq!(desk.screen.composer.text(), "dr", "Esc leaves the question as it was");
    let sent = desk.keys(&["Enter"]);
    assert_eq!(sent, [Intent::App(Event::QuestionAsked { text: "dr".into(), at: NOW })]);
    let mut empty = Desk::open();
    empty.keys(&["Tab", "e"]);
    assert_eq!(empty.app.refusal(), Some(&Refusal::NothingAsked));
    assert!(empty.screen.composer.is_empty() && empty.screen.focus() != Pane::Composer);
}

#[test]
fn a_question_is_written_while_something_runs_and_nothing_is_stopped() {
    let mut desk = Desk::open();
    desk.keys(&["h", "i", "Enter"]);
    assert!(desk.keys(&["Tab", "i", "x", "i"]).iter().all(|intent| *intent == Intent::Redraw));
    assert_eq!((desk.screen.focus(), desk.screen.composer.text().as_str()), (Pane::Composer, "xi"));
    assert!(desk.app.is_busy_here() && !desk.app.is_canceling());
}

#[test]
fn a_new_conversation_gives_up_the_question_that_is_edited() {
    let mut desk = Desk::open();
    desk.keys(&["h", "i", "Enter", "Esc"]);
    desk.app.handle(Event::JobCanceled { job: JobId(1) });
    desk.keys(&["d", "r", "Tab", "e", "Ctrl+N"]);
    assert_eq!(desk.screen.composer.text(), "dr");
    let sent = desk.keys(&["Enter"]);
    assert_eq!(sent, [Intent::App(Event::QuestionAsked { text: "dr".into(), at: NOW })]);
}

/// A desk with one stored turn and three conversations, one of them in the trash.
fn kept() -> Desk {
    let mut desk = Desk::open();
    desk.keys(&["h", "i", "Enter"]);
    let turn = TurnKey(1);
    let (completed, how, total_ms) = ("hi".into(), RewriteHow::First, Millis::default());
    let rewrite = Box::new(Rewrite { completed, how, prompt: None, completion: None, total_ms });
    desk.app.handle(Event::QuestionCompleted { turn, rewrite });
    desk.app.handle(Event::HitsRetrieved { turn, retrieved: Box::default() });
    desk.app.handle(Event::AnswerGrew { turn, text: "An answer".into() });
    desk.app.handle(Event::JobCanceled { job: turn.job() });
    let conversation = |id, title: &str, deleted_at| ConversationRecord {
        id: ConversationId(id),
        domain: "wiki".parse().unwrap(),
        title: title.into(),
        started_at: NOW,
        changed_at: NOW,
        turns: 1,
        pinned: false,
        deleted_at,
    };
    desk.app.handle(Event::TurnSaved { turn, conversation: conversation(7, "hi", None), id: TurnId(70), number: 1 });
    desk.app.handle(Event::ConversationsListed {
        domain: "wiki".parse().unwrap(),
        conversations: vec![conversation(7, "hi", None), conversation(4, "Older", None)],
        trash: vec![conversation(2, "Gone", Some(NOW))],
    });
    desk
}

#[test]
fn conversations_are_named_pinned_thrown_away_and_taken_back() {
    let changed = |change| Intent::App(Event::ConversationChangeWanted(change));
    let mut desk = kept();
    assert_eq!(desk.keys(&["F6", "j", "P"]), [changed(ConversationChange::Pin(ConversationId(4), Place::Pinned))]);
    let renamed = desk.keys(&["r", "!", "?", "Enter"]);
    assert_eq!(renamed, [changed(ConversationChange::Rename(ConversationId(4), "Older!?".into()))]);
    assert!(desk.keys(&["r", "x", "Esc"]).is_empty() && desk.screen.popup.is_none());
    assert_eq!(desk.keys(&["D"]), [changed(ConversationChange::Delete(ConversationId(4)))]);
    assert_eq!(desk.keys(&["j", "Enter"]), [changed(ConversationChange::Restore(ConversationId(2)))]);
    assert!(desk.keys(&["D", "x"]).is_empty() && desk.screen.popup.is_some(), "only y removes for good");
    assert!(desk.keys(&["Ctrl+y", "Alt+y"]).is_empty() && desk.screen.popup.is_some(), "by itself");
    assert_eq!(desk.keys(&["y"]), [changed(ConversationChange::Purge(ConversationId(2)))]);
    assert!(desk.screen.popup.is_none());
    assert!(desk.keys(&["D", "n"]).is_empty() && desk.screen.popup.is_none());
    assert_eq!(desk.keys(&["F3", "D"]), [Intent::App(Event::Refused(Refusal::NoConversation))]);
}

#[test]
fn the_cursor_of_the_lists_stays_on_its_conversation_when_another_comes_above_it() {
    let mut desk = kept();
    desk.keys(&["F6", "j"]);
    let pinned = |desk: &mut Desk| desk.keys(&["P"]);
    let older = Intent::App(Event::ConversationChangeWanted(ConversationChange::Pin(ConversationId(4), Place::Pinned)));
    assert_eq!(pinned(&mut desk), std::slice::from_ref(&older));
    let (mut conversations, trash) = (desk.app.conversations().to_vec(), desk.app.trash().to_vec());
    let new = ConversationRecord { id: ConversationId(9), title: "New".into(), ..conversations[0].clone() };
    conversations.insert(0, new);
    let domain = "wiki".parse().unwrap();
    desk.app.handle(Event::ConversationsListed { domain, conversations, trash });
    assert_eq!(pinned(&mut desk), [older]);
}

#[test]
fn esc_takes_a_message_and_a_filter_away_before_it_stops_an_answer() {
    let mut desk = Desk::open();
    desk.keys(&["a", "Enter", "b", "Enter"]);
    assert!(desk.app.problem().is_some(), "a second question is refused");
    assert_eq!(desk.keys(&["Esc"]), [Intent::App(Event::ProblemDismissed)]);
    let found = vec![Found { conversation: kept().app.conversations()[0].clone(), turns: Vec::new() }];
    let text = "hi".to_owned();
    desk.app.handle(Event::ConversationsWanted(text.clone()));
    desk.app.handle(Event::ConversationsFound { text, found });
    assert_eq!(desk.keys(&["F6", "Esc"]), [Intent::App(Event::ConversationsWanted(String::new()))]);
    assert_eq!(desk.keys(&["Esc"]), [Intent::App(Event::CancelRequested)]);
}

#[test]
fn enter_on_the_open_conversation_only_goes_there() {
    let mut desk = kept();
    assert_eq!(desk.app.conversation().map(|open| open.id), Some(ConversationId(7)));
    assert!(desk.keys(&["F6", "Enter"]).is_empty());
    assert_eq!(desk.screen.focus, Pane::Composer);
}

#[test]
fn ctrl_u_deletes_what_is_before_the_cursor() {
    let mut desk = kept();
    let ctrl_u = |desk: &mut Desk| {
        let key = Input::Key(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL));
        on_input(&mut desk.screen, &desk.app, &key, NOW)
    };
    desk.keys(&["F2", "Enter", "a", "b"]);
    ctrl_u(&mut desk);
    assert!(desk.screen.composer.is_empty());
    desk.keys(&["F6", "j", "r"]);
    ctrl_u(&mut desk);
    let change = ConversationChange::Rename(ConversationId(4), "x".into());
    assert_eq!(desk.keys(&["x", "Enter"]), [Intent::App(Event::ConversationChangeWanted(change))]);
}

#[test]
fn every_action_is_found_by_words_and_done_from_the_palette() {
    let mut desk = kept();
    assert!(desk.keys(&["Ctrl+P"]).is_empty());
    let typed = desk.keys(&["n", "e", "w", " ", "c", "o", "n", "v", "Enter"]);
    assert_eq!(typed, [Intent::App(Event::ConversationStarted)]);
    assert!(desk.screen.popup.is_none());
    desk.keys(&["Ctrl+P", "z", "z", "z", "Enter"]);
    assert!(desk.screen.popup.is_some(), "nothing was found, so nothing is done");
    desk.keys(&["Esc", "Ctrl+P"]);
    let Some(popup::Popup::Palette(palette)) = &desk.screen.popup else { panic!("no palette") };
    assert_eq!(palette.found(Words::default()).len(), ENTRIES.len() - 1);
}

#[test]
fn an_action_is_found_by_letters_of_its_words_where_none_has_the_words() {
    let mut desk = kept();
    desk.keys(&["Ctrl+P", "n", "x", "t", "h", "m"]);
    let Some(popup::Popup::Palette(palette)) = &desk.screen.popup else { panic!("no palette") };
    assert_eq!(palette.found(Words::default()), [Action::NextTheme]);
    desk.keys(&["Esc", "Ctrl+P", "t", "h", "e", "m", "e"]);
    let Some(popup::Popup::Palette(palette)) = &desk.screen.popup else { panic!("no palette") };
    assert_eq!(palette.found(Words::default()), [Action::NextTheme], "others have only its letters");
}

#[test]
fn the_help_lies_over_what_is_open_and_goes_back_to_it() {
    for close in ["Esc", "F1"] {
        let mut desk = kept();
        desk.keys(&["F7", "F1"]);
        assert!(matches!(desk.screen.popup, Some(popup::Popup::Help(_))));
        desk.keys(&[close]);
        assert!(matches!(desk.screen.popup, Some(popup::Popup::Settings(_))), "{close}");
    }
    let mut desk = kept();
    desk.keys(&["Ctrl+P", "?"]);
    assert!(matches!(desk.screen.popup, Some(popup::Popup::Palette(_))), "it is a letter of what is looked for");
    desk.keys(&["F1", "Esc", "Esc"]);
    assert!(desk.screen.popup.is_none());
}

#[test]
fn what_the_focus_is_on_is_copied_clean() {
    let mut desk = kept();
    let copied = desk.keys(&["F2", "y"]);
    assert_eq!(copied, [Intent::Copy { what: Copied::Answer, text: "An answer".into() }]);
    let turn = desk.keys(&["F4", "y"]);
    assert!(matches!(&turn[..], [Intent::Copy { what: Copied::Turn, text }] if text.contains("## 1. hi")), "{turn:?}");
    assert_eq!(desk.keys(&["F3", "y"]), [Intent::App(Event::Refused(Refusal::NothingToCopy))]);
    let wanted = |turn| Intent::App(Event::ExportWanted { turn, format: Format::Markdown });
    assert_eq!(desk.keys(&["w", "Enter"]), [wanted(Some(0))]);
}

#[test]
fn a_turn_or_its_conversation_is_taken_out_in_any_format_to_a_file_or_the_clipboard() {
    let mut desk = kept();
    desk.keys(&["F4"]);
    let wanted = |turn, format| [Intent::App(Event::ExportWanted { turn, format })];
    assert_eq!(desk.keys(&["w", "l", "j", "l", "Enter"]), wanted(None, Format::Html));
    assert_eq!(desk.keys(&["w", "l", "l", "l", "Enter"]), wanted(Some(0), Format::Json));
    let copied = desk.keys(&["w", "l", "G", "l", "Enter"]);
    assert!(
        matches!(&copied[..], [Intent::Copy { what: Copied::Turn, text }] if text.contains("<!doctype html>")),
        "{copied:?}"
    );
    let copied = desk.keys(&["w", "l", "l", "j", "l", "j", "l", "Enter"]);
    assert!(
        matches!(&copied[..], [Intent::Copy { what: Copied::Conversation, text }] if text.starts_with('{')),
        "{copied:?}"
    );
    assert!(desk.keys(&["w", "Esc"]).is_empty() && desk.screen.popup.is_none());
    assert!(desk.keys(&["w", "w"]).is_empty() && desk.screen.popup.is_none());
}

/// A conversation of 300 turns.
fn long() -> Desk {
    let mut desk = kept();
    let (record, turn) = (desk.app.conversation().unwrap().clone(), desk.app.turns()[0].record.clone());
    let turns = (1..=300).map(|number| TurnRecord { number, ..turn.clone() }).collect();
    desk.app.handle(Event::ConversationChosen(record.id));
    desk.app.handle(Event::ConversationOpened { record, turns });
    desk
}

fn drawn(desk: &mut Desk, size: (u16, u16)) -> String {
    let mut terminal = ratatui::Terminal::new(ratatui::backend::TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|frame| draw(&desk.app, &mut desk.screen, NOW, frame)).unwrap();
    terminal.backend().to_string()
}

#[test]
fn a_frame_of_a_long_conversation_lays_out_what_is_seen_and_a_few_more() {
    let mut desk = long();
    drawn(&mut desk, (100, 30));
    assert!((1..60).contains(&desk.screen.conversation.settled.len()), "{}", desk.screen.conversation.settled.len());
    desk.keys(&["F2"]);
    while desk.screen.conversation.settled.len() < 300 {
        drawn(&mut desk, (100, 30));
    }
    let before = desk.screen.conversation.settled[&TurnKey(2)].width();
    drawn(&mut desk, (90, 30));
    let changed = desk.screen.conversation.settled.values().filter(|turn| turn.width() != before).count();
    assert!((1..60).contains(&changed), "{changed}");
}

#[test]
fn what_is_seen_of_a_long_conversation_stays_while_the_rest_is_laid_out() {
    let mut desk = long();
    drawn(&mut desk, (100, 30));
    desk.keys(&["F2", "k", "k", "k"]);
    let before = drawn(&mut desk, (100, 30));
    let lines = |text: &str| text.lines().skip(2).take(20).map(str::to_owned).collect::<Vec<_>>();
    while desk.screen.conversation.settled.len() < 300 {
        assert_eq!(lines(&drawn(&mut desk, (100, 30))), lines(&before));
    }
}

#[test]
fn a_text_is_found_in_every_turn_of_a_long_conversation_at_any_width() {
    let mut desk = long();
    drawn(&mut desk, (100, 30));
    desk.keys(&["F2", "/", "a", "n", "s", "w", "e", "r", "Enter"]);
    drawn(&mut desk, (100, 30));
    let find = |desk: &Desk| desk.screen.find.as_ref().unwrap().at;
    assert_eq!(find(&desk).1, 300);
    let seen = find(&desk).0;
    desk.keys(&["N", "N"]);
    drawn(&mut desk, (60, 30));
    desk.keys(&["N"]);
    assert!(drawn(&mut desk, (60, 30)).contains("An answer"));
    assert_eq!((find(&desk).1, find(&desk).0 < seen), (300, true));
}

#[test]
fn what_is_behind_a_turn_is_drawn_once_and_again_when_it_changes() {
    let mut desk = kept();
    desk.keys(&["F4"]);
    drawn(&mut desk, (100, 30));
    desk.screen.steps.kept.lines()[0] = Line::raw("as it was drawn");
    assert!(drawn(&mut desk, (100, 30)).contains("as it was drawn"), "nothing has changed");
    desk.keys(&["j"]);
    assert!(drawn(&mut desk, (100, 30)).contains("as it was drawn"), "the cursor has moved");
    assert!(!drawn(&mut desk, (90, 30)).contains("as it was drawn"), "another width");
    desk.screen.steps.kept.lines()[0] = Line::raw("as it was drawn");
    desk.keys(&["Enter"]);
    assert!(!drawn(&mut desk, (90, 30)).contains("as it was drawn"), "a part was closed");
}

#[test]
fn a_branch_that_is_listed_and_opened_before_one_frame_has_the_cursor_of_the_lists() {
    let mut desk = kept();
    desk.keys(&["F2"]);
    let mut conversations = desk.app.conversations().to_vec();
    let branch = ConversationRecord { id: ConversationId(9), ..conversations[0].clone() };
    conversations.insert(0, branch.clone());
    let domain = branch.domain.clone();
    desk.app.handle(Event::ConversationsListed { domain, conversations, trash: vec![] });
    desk.app.handle(Event::ConversationChosen(branch.id));
    desk.app.handle(Event::ConversationOpened { record: branch, turns: vec![] });
    desk.keys(&["F6"]);
    assert_eq!(lists::entry(&desk.app, desk.screen.lists.selected), Some(Entry::Conversation(ConversationId(9))));
}

#[test]
fn a_suggested_question_is_asked_with_its_key_and_what_is_written_stays() {
    let mut desk = kept();
    desk.keys(&["d", "Alt+2"]);
    assert_eq!(desk.app.refusal(), Some(&Refusal::NothingSuggested));
    let (record, turns) = (desk.app.conversation().unwrap().clone(), desk.app.turns());
    let mut turn = turns[0].record.clone();
    turn.trace.suggestions = vec!["Why?".into(), "Since \u{1b}[31mwhen?".into()];
    desk.app.handle(Event::ConversationChosen(record.id));
    desk.app.handle(Event::ConversationOpened { record, turns: vec![turn] });
    let sent = desk.keys(&["Alt+2"]);
    assert_eq!(sent, [Intent::App(Event::QuestionAsked { text: "Since when?".into(), at: NOW })]);
    assert_eq!(desk.screen.composer.text(), "d");
}

#[test]
fn a_text_is_looked_for_and_esc_ends_that_before_it_goes_back() {
    let mut desk = kept();
    assert!(desk.keys(&["F2", "/", "h", "i", "Enter"]).is_empty());
    assert_eq!(desk.screen.find.as_ref().map(|find| find.text.as_str()), Some("hi"));
    desk.keys(&["n", "N", "Esc"]);
    assert!(desk.screen.find.is_none() && desk.screen.focus() == Pane::Conversation);
    desk.keys(&["n"]);
    assert!(desk.screen.popup.is_some(), "with nothing to look for, it is asked for");
    desk.keys(&["Esc"]);
    let wanted = |text: &str| Intent::App(Event::ConversationsWanted(text.into()));
    assert_eq!(desk.keys(&["F6", "/", "o", "x", "Enter"]), [wanted("ox")]);
    desk.app.handle(Event::ConversationsWanted("ox".into()));
    desk.app.handle(Event::ConversationsFound { text: "ox".into(), found: vec![] });
    assert_eq!(desk.keys(&["Esc"]), [wanted("")]);
    assert!(desk.app.found().is_none());
}

#[test]
fn what_was_looked_for_in_another_pane_is_not_in_the_way_of_esc() {
    let mut desk = kept();
    desk.keys(&["F2", "/", "h", "i", "Enter", "F3"]);
    assert!(desk.keys(&["Esc"]).is_empty());
    assert_eq!(desk.screen.focus(), Pane::Composer);
    assert!(desk.screen.find.is_some(), "there it is still marked");
}

#[test]
fn a_conversation_that_was_found_is_opened_at_the_place() {
    let mut desk = kept();
    let record = desk.app.conversations()[1].clone();
    let mut turns = vec![desk.app.turns()[0].record.clone(); 30];
    for (number, turn) in (1..).zip(&mut turns) {
        turn.number = number;
        turn.question = format!("Question {number}");
    }
    turns[2].question = "Where is the quartz?".into();
    let hit = FoundTurn { number: 3, snippet: "the quartz".into() };
    let found = vec![Found { conversation: record.clone(), turns: vec![hit] }];
    let text = "the quartz".to_owned();
    desk.app.handle(Event::ConversationsWanted(text.clone()));
    desk.app.handle(Event::ConversationsFound { text, found });
    assert_eq!(desk.keys(&["F6", "Enter"]), [Intent::App(Event::ConversationChosen(record.id))]);
    drawn(&mut desk, (80, 24));
    desk.app.handle(Event::ConversationChosen(record.id));
    desk.app.handle(Event::ConversationOpened { record, turns });
    let seen = drawn(&mut desk, (80, 24));
    assert!(seen.contains("Where is the quartz?") && !seen.contains("Question 30"), "{seen}");
    assert_eq!((desk.screen.conversation.chosen, desk.screen.focus()), (Some(2), Pane::Conversation));
    assert_eq!(desk.screen.find.as_ref().map(|find| (find.text.as_str(), find.at)), Some(("quartz", (1, 1))));
    assert!(desk.screen.arrival.is_none());
}

#[test]
fn a_rating_down_asks_for_its_reason() {
    let mut desk = kept();
    let rated = |rating, reason, note: &str| {
        let feedback = Feedback { rating, reason, note: note.into(), rated_at: NOW };
        Intent::App(Event::TurnRated { turn: 0, feedback: Some(feedback) })
    };
    assert_eq!(desk.keys(&["F2", "+"]), [rated(Rating::Up, None, "")]);
    assert_eq!(desk.keys(&["+"]), [Intent::App(Event::TurnRated { turn: 0, feedback: None })]);
    let down = desk.keys(&["-", "j", "Enter", "p", "3", "Enter"]);
    assert_eq!(down, [rated(Rating::Down, Some(Reason::WrongSource), "p3")]);
    assert_eq!(desk.keys(&["-", "4", "Enter"]), [rated(Rating::Down, Some(Reason::OutOfDate), "")]);
    assert_eq!(
        desk.keys(&["-", "4", "x", "Esc"]),
        [rated(Rating::Down, Some(Reason::OutOfDate), "")],
        "Esc leaves the note"
    );
    assert!(desk.keys(&["-", "Esc"]).is_empty() && desk.screen.popup.is_none());
}

#[test]
fn the_table_of_actions_is_complete_in_order_and_has_keys() {
    for (at, entry) in ENTRIES.iter().enumerate() {
        assert_eq!(entry.action as usize, at);
        assert!(entry.keys.iter().all(|key| key.parse::<Chord>().is_ok()), "{}", entry.name);
        let name = serde_json::to_string(&entry.action).unwrap();
        assert_eq!(name.trim_matches('"'), entry.name, "the name in a configuration is the action's own");
    }
    assert!(Keymap::with_overrides(&IndexMap::new()).is_ok(), "the defaults are free of conflicts");
}

#[test]
fn overrides_replace_keys_and_wrong_ones_are_named() {
    let of = |name: &str, keys: &[&str]| {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        Keymap::with_overrides(&IndexMap::from([(name.to_owned(), keys)]))
    };
    assert_eq!(of("explain", &["F9"]).unwrap().keys(Action::Explain), "F9");
    assert_eq!(of("explain", &["none"]).unwrap().keys(Action::Explain), "");
    assert!(matches!(of("explian", &["F9"]), Err(KeymapError::UnknownAction { nearest: "explain", .. })));
    assert!(matches!(of("explain", &["Ctrl+Nope"]), Err(KeymapError::Key { .. })));
    assert!(matches!(of("explain", &["j"]), Err(KeymapError::Conflict { .. })));
    assert_eq!(of("quit", &[]), Err(KeymapError::NoQuit));
    assert_eq!(of("back", &[]), Err(KeymapError::NoBack));
    assert_eq!(of("back", &["B"]), Err(KeymapError::NoBack), "it would be text in a line of text");
}

#[test]
fn another_key_that_sends_finishes_every_line_of_text() {
    let keys = IndexMap::from([("send".to_owned(), vec!["F9".to_owned()])]);
    let mut desk = kept();
    desk.screen = ScreenState::new(Theme::colour(), Keymap::with_overrides(&keys).unwrap());
    assert!(desk.keys(&["F2", "/", "h", "i", "Ctrl+J", "F9"]).is_empty());
    assert_eq!(desk.screen.find.as_ref().map(|find| find.text.as_str()), Some("hi"), "and Ctrl+J deletes nothing");
    let started = desk.keys(&["Ctrl+P", "n", "e", "w", " ", "c", "o", "n", "v", "F9"]);
    assert_eq!(started, [Intent::App(Event::ConversationStarted)]);
    desk.keys(&["F7", "Enter", "F9"]);
    let Some(popup::Popup::Settings(view)) = &desk.screen.popup else { panic!("no settings") };
    assert!(view.typed.is_none());
    desk.keys(&["Esc", "F8", "x", "F9"]);
    let Some(popup::Popup::NewDomain(form)) = &desk.screen.popup else { panic!("no domain") };
    assert_eq!(form.at, new_domain::Field::Name);
}

#[test]
fn chords_read_back_as_they_are_written() {
    for text in ["Ctrl+N", "F1", "?", "Enter", "Alt+Enter", "PgDn", "Shift+Tab", "Space", "G", "Plus", "Ctrl+Alt+X"] {
        assert_eq!(text.parse::<Chord>().unwrap().to_string(), text);
    }
    for wrong in ["", "Ctrl+", "Nope", "F99", "Hyper+X"] {
        assert!(wrong.parse::<Chord>().is_err(), "{wrong}");
    }
}

fn plain(lines: &[Line<'_>]) -> String {
    lines.iter().map(Line::to_string).collect::<Vec<_>>().join("\n")
}

fn markdown(text: &str, width: usize) -> Vec<Line<'static>> {
    render(text, &MarkdownLook { theme: &Theme::colour(), width, holds: &|number| number < 5 })
}

#[test]
fn markdown_keeps_every_word_and_marks_what_does_not_hold() {
    let text = "# Head\nSome **bold** `code`:\n- one [Source 1, Source 9]\n- two\n  1. deep\n\n[Source 2]: not a link\n<b>raw</b>";
    insta::assert_snapshot!(plain(&markdown(text, 40)).replace('\u{a0}', "~"), @r"
    Head

    Some bold code:

    • one [Source~1, Source~9?]
    • two
      1. deep

    [Source~2]: not a link
    <b>raw</b>
    ");
}

#[test]
fn a_table_in_an_answer_stands_in_columns_where_it_has_room() {
    let text = "| Test | Result |\n|---|---|\n| boot | 12 s [Source 2] |\n| network | fails |";
    insta::assert_snapshot!(plain(&markdown(text, 40)).replace('\u{a0}', "~"), @r"
    Test    | Result
    ─────────────────────────
    boot    | 12 s [Source~2]
    network | fails
    ");
    insta::assert_snapshot!(plain(&markdown(text, 20)).replace('\u{a0}', "~"), @r"
    Test | Result
    boot | 12 s
    [Source~2]
    network | fails
    ");
}

#[test]
fn wide_characters_are_cut_between_not_within() {
    assert_eq!(fit("日本語", 5), "日本…");
    assert_eq!(pad("日本", 5), "日本 ");
    assert_eq!(fit_middle("opening history.db: no space left", 24), "opening his … space left");
    assert_eq!(fit_middle("日本語日本語", 8), "日 … 語");
    assert_eq!(fit_middle("as it is", 8), "as it is");
    assert_eq!(window("日本語", 1, 4), " 本");
    assert_eq!(width("e\u{301}👩‍👩‍👧"), 3);
    assert_eq!(Words::default().thousands(1_234_567), "1,234,567");
}

proptest! {
    #[test]
    fn wrapped_lines_fit_and_lose_no_word(text in "[a-zé日 \n]{0,80}", most in 2..30usize) {
        let lines = wrap(&[Span::styled(text.clone(), Style::new())], most, &Indent::default());
        for line in &lines {
            prop_assert!(line.width() <= most, "{line:?}");
        }
        let squeeze = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        prop_assert_eq!(squeeze(&plain(&lines)), squeeze(&text));
    }

    #[test]
    fn markdown_never_panics_and_keeps_letters(text in "[a-z#*_`>\\[\\]|:1. \n-]{0,120}", most in 1..40usize) {
        let drawn = plain(&markdown(&text, most));
        let letters = |text: &str| text.chars().filter(char::is_ascii_lowercase).count();
        prop_assert_eq!(letters(&drawn), letters(&text));
    }
}

#[test]
fn what_markdown_would_leave_out_is_drawn_as_it_was_written() {
    let drawn = plain(&markdown("| a |\n|---|\n| b | beyond |\n\nAfter [Source 1].", 40));
    assert!(drawn.contains("beyond") && drawn.contains("After"), "{drawn}");
    let drawn = plain(&markdown("```rust\nfn main() {}\n```", 40));
    assert!(drawn.contains("rust") && drawn.contains("fn main() {}") && !drawn.contains("```"), "{drawn}");
}

/// The settings of the domain, opened by key with the cursor on the first one.
fn with_settings() -> Desk {
    let mut desk = Desk::open();
    desk.keys(&["F7"]);
    desk
}

fn view(desk: &Desk) -> &settings::SettingsView {
    let Some(popup::Popup::Settings(view)) = &desk.screen.popup else { panic!("the settings are not open") };
    view
}

#[test]
fn choices_are_cycled_and_numbers_stepped_in_the_settings() {
    let mut desk = with_settings();
    desk.keys(&["l", "l", "j", "l"]);
    let settings = desk.app.turn_settings();
    assert_eq!((settings.sources, settings.retrieval.mode), (12, ragonite_rag::retrieval::Mode::Dense));
    assert_eq!(desk.app.changes().keys(), ["sources", "retrieval.mode"]);
    desk.keys(&["h"]);
    assert_eq!(desk.app.changes().keys(), ["sources"], "back at the configured value");
    desk.keys(&["k", "D"]);
    assert!(desk.app.changes().is_empty());
    desk.keys(&["Esc"]);
    assert!(desk.screen.popup.is_none());
}

#[test]
fn a_value_can_be_typed_and_a_bad_one_is_refused_in_place() {
    let mut desk = with_settings();
    desk.keys(&["7", "Enter"]);
    assert_eq!(desk.app.turn_settings().sources, 7);
    desk.keys(&["0", "Enter"]);
    assert_eq!(desk.app.turn_settings().sources, 7);
    assert!(view(&desk).refused.as_ref().unwrap().to_string().contains("from 1 to 100"));
    assert!(view(&desk).typed.is_some(), "the line stays to be corrected");
    desk.keys(&["Esc"]);
    assert!(view(&desk).typed.is_none() && view(&desk).refused.is_none());
    assert!(desk.app.problem().is_none());
    desk.keys(&["g", "j", "j", "j", "j", "j", "j", "Enter"]);
    assert_eq!(view(&desk).setting(), ragonite_config::Setting::Kinds);
    let typed = view(&desk).typed.as_ref().unwrap().lines().join("");
    assert_eq!(typed, "all");
}

#[test]
fn closing_the_settings_leaves_the_running_turn_alone() {
    let mut desk = Desk::open();
    desk.keys(&["a", "Enter", "F7", "l"]);
    assert!(desk.keys(&["Esc"]).is_empty());
    assert!(desk.app.is_busy() && !desk.app.is_canceling());
    let asked = desk.app.turns()[0].record.trace.settings.clone().unwrap();
    assert_eq!((asked.sources, desk.app.turn_settings().sources), (10, 11));
}

#[test]
fn the_settings_are_found_by_words_too() {
    let mut desk = Desk::open();
    desk.keys(&["Ctrl+P", "s", "e", "t", "t", "i", "n", "g", "s", "Enter"]);
    assert_eq!(view(&desk).selected, 0);
}

#[test]
fn a_turn_is_made_a_check_by_key() {
    let mut desk = kept();
    assert_eq!(desk.keys(&["F2", "c"]), [Intent::App(Event::ExportEvalCase { turn: 0 })]);
}

#[test]
fn the_meter_says_what_the_next_prompt_holds_and_fits_sixty_columns() {
    let desk = kept();
    let line = |room| {
        composer::token_meter::before(&desk.app, "Who replaces the modem of the station?", room, Words::default())
    };
    let wide = line(120).unwrap();
    assert!(wide.starts_with(" about ") && wide.contains("+2,000 evidence+"), "{wide}");
    assert!(wide.ends_with("+256 answer of 4,096 "), "{wide}");
    let narrow = line(58).unwrap();
    assert!(width(&narrow) <= 58 && narrow.contains("2,000 evid+"), "{narrow}");
    assert_eq!(line(20), None);
}

#[test]
fn what_cannot_be_done_is_said() {
    let mut desk = Desk::open();
    desk.keys(&["F2"]);
    for key in ["e", "y", "w", "+", "-", "B", "c", "=", "a", "o", "r", "P", "D", "Alt+2"] {
        desk.app.handle(Event::ProblemDismissed);
        let wished = desk.keys(&[key]);
        assert!(desk.app.problem().is_some(), "{key}: {wished:?}");
        assert!(desk.screen.popup.is_none(), "{key}");
    }
}

#[test]
fn an_earlier_question_that_was_added_to_is_not_replaced() {
    let mut desk = kept();
    desk.press(&key("Up"));
    assert_eq!(desk.screen.composer.text(), "hi");
    desk.press(&Input::Paste(" there".into()));
    desk.press(&key("Up"));
    assert_eq!(desk.screen.composer.text(), "hi there");
    desk.screen.composer.clear();
    desk.keys(&["Up", "Alt+Enter", "Up"]);
    assert_eq!(desk.screen.composer.text(), "hi\n");
}

#[test]
fn what_was_asked_elsewhere_comes_back_in_a_new_conversation() {
    let mut desk = kept();
    desk.keys(&["Ctrl+N", "Up"]);
    assert_eq!(desk.screen.composer.text(), "hi");
}

#[test]
fn a_paste_that_is_a_document_is_refused() {
    let mut desk = Desk::open();
    desk.press(&Input::Paste("many words ".repeat(100_000)));
    assert!(desk.screen.composer.is_empty() && desk.app.problem().is_some());
    for keys in [["Ctrl+P"].as_slice(), &["F2", "/"], &["F1", "/"], &["F8"]] {
        let mut desk = kept();
        desk.keys(keys);
        let wished = desk.press(&Input::Paste("many words ".repeat(500)));
        assert_eq!(wished, [Intent::App(Event::Refused(Refusal::LineTooLong)), Intent::Redraw], "{keys:?}");
    }
}

#[test]
fn a_reason_belongs_to_the_turn_it_was_begun_for() {
    let mut desk = kept();
    desk.keys(&["F2", "-"]);
    desk.app.handle(Event::ConversationChosen(ConversationId(4)));
    let record = desk.app.conversations()[1].clone();
    let turns = vec![desk.app.turns()[0].record.clone()];
    desk.app.handle(Event::ConversationOpened { record, turns });
    let wished = desk.keys(&["1", "Enter"]);
    assert!(!wished.iter().any(|one| matches!(one, Intent::App(Event::TurnRated { .. }))), "{wished:?}");
    assert_eq!(desk.app.turns()[0].record.feedback, None);
}

#[test]
fn the_open_domain_is_not_opened_again() {
    let mut desk = kept();
    let listed = desk.app.domain().unwrap().clone();
    desk.app.handle(Event::DomainsListed(vec![listed]));
    assert_eq!(desk.keys(&["F6", "g", "Enter"]), []);
    assert!(desk.app.conversation().is_some(), "what was open stays open");
}

#[test]
fn looking_for_a_text_from_the_composer_looks_in_the_conversation() {
    let mut desk = kept();
    desk.keys(&["i", "Ctrl+P", "l", "o", "o", "k", " ", "f", "o", "r", "Enter", "h", "i", "Enter"]);
    assert_eq!(desk.screen.focus(), Pane::Conversation);
    assert!(desk.screen.find.is_some());
}

#[test]
fn the_cursor_does_not_go_along_into_the_trash() {
    let mut desk = kept();
    desk.keys(&["F6", "j", "D"]);
    let (all, mut trash) = (desk.app.conversations().to_vec(), desk.app.trash().to_vec());
    trash.insert(0, ConversationRecord { deleted_at: Some(NOW), ..all[1].clone() });
    let (domain, conversations) = ("wiki".parse().unwrap(), vec![all[0].clone()]);
    desk.app.handle(Event::ConversationsListed { domain, conversations, trash });
    let wished = desk.keys(&["D"]);
    let other = Event::ConversationChangeWanted(ConversationChange::Delete(ConversationId(7)));
    assert_eq!(wished, [Intent::App(other)], "not the one that is in the trash");
}

#[test]
fn a_name_that_is_typed_takes_the_place_of_the_proposed_one() {
    let mut desk = Desk::open();
    desk.keys(&["F8", "d", "o", "c", "s", "Tab", "w", "i"]);
    let Some(popup::Popup::NewDomain(form)) = &desk.screen.popup else { panic!("it is not open") };
    assert_eq!(form.name.lines(), ["wi"]);
}

#[test]
fn what_was_looked_for_elsewhere_takes_no_room_from_the_keys() {
    let mut desk = kept();
    desk.keys(&["F2", "/", "h", "i", "Enter"]);
    let find = |desk: &Desk| desk.screen.find.as_ref().is_some_and(find::Find::says_something);
    assert!(find(&desk));
    desk.keys(&["F4"]);
    assert!(!find(&desk));
}
