//! Finding, naming, rating, throwing away and taking back.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use rusqlite::Connection;
use time::macros::datetime;

use super::super::*;
use super::{folder, turn, wiki};
use ragonite_base::{ConversationId, DomainName, TurnId};

/// A history with one conversation per question.
fn history_of(path: &Path, questions: &[&str]) -> (History, Vec<ConversationId>) {
    let mut history = History::open(path).unwrap();
    let save = |question: &&str| history.save_turn(&wiki(), None, &turn(1, question)).unwrap().0.id;
    let ids = questions.iter().map(save).collect();
    (history, ids)
}

fn titles(conversations: &[ConversationRecord]) -> Vec<&str> {
    conversations.iter().map(|conversation| conversation.title.as_str()).collect()
}

fn found(history: &History, words: &str) -> Vec<i64> {
    history.find(words, Among::All, usize::MAX).unwrap().iter().map(|found| found.conversation.id.0).collect()
}

#[test]
fn a_deleted_conversation_waits_in_the_trash_and_comes_back_whole() {
    let (_folder, path) = folder();
    let (mut history, ids) = history_of(&path, &["first", "second", "third"]);
    let before = (history.conversations(None).unwrap(), history.turns(ids[1]).unwrap());
    history.delete(&ids[1..]).unwrap();
    assert_eq!(titles(&history.conversations(Some(&wiki())).unwrap()), ["first"]);
    assert_eq!(history.trash(None).unwrap().len(), 2);
    assert!(history.latest(Some(&wiki())).unwrap().is_some_and(|latest| latest.id == ids[0]));
    history.restore(&ids[1..]).unwrap();
    assert_eq!((history.conversations(None).unwrap(), history.turns(ids[1]).unwrap()), before);
    assert_eq!(history.trash(None).unwrap(), []);
}

#[test]
fn a_conversation_that_goes_on_leaves_the_trash_and_one_that_is_explained_does_not() {
    let (_folder, path) = folder();
    let (mut history, ids) = history_of(&path, &["first"]);
    let stored = history.turns(ids[0]).unwrap().remove(0);
    history.delete(&ids).unwrap();
    history.save_turn(&wiki(), Some(ids[0]), &stored).unwrap();
    assert_eq!(history.trash(None).unwrap().len(), 1);
    let (conversation, _) = history.save_turn(&wiki(), Some(ids[0]), &turn(2, "second")).unwrap();
    assert_eq!((conversation.deleted_at, history.trash(None).unwrap().len()), (None, 0));
    assert_eq!(history.turns(ids[0]).unwrap().len(), 2);
}

#[test]
fn all_are_moved_or_none() {
    let (_folder, path) = folder();
    let (mut history, ids) = history_of(&path, &["first", "second"]);
    let gone = ConversationId(99);
    let missing = history.delete(&[ids[0], gone]).unwrap_err();
    assert!(matches!(missing, HistoryError::NoConversation { id } if id == gone), "{missing:?}");
    let both = history.restore(&ids).unwrap_err();
    assert!(matches!(both, HistoryError::NotInTrash { .. }), "{both:?}");
    history.delete(&ids[..1]).unwrap();
    let twice = history.delete(&[ids[1], ids[0]]).unwrap_err();
    assert!(matches!(twice, HistoryError::InTrash { id } if id == ids[0]), "{twice:?}");
    let early = history.purge(&ids).unwrap_err();
    assert!(matches!(early, HistoryError::NotInTrash { id } if id == ids[1]), "{early:?}");
    assert_eq!((history.conversations(None).unwrap().len(), history.trash(None).unwrap().len()), (1, 1));
}

#[test]
fn nothing_of_a_purged_text_is_left_in_the_files() {
    let (_folder, path) = folder();
    let (mut history, ids) = history_of(&path, &["What does the Zanzibarprotokoll say?", "Who kept the rest?"]);
    history.save_turn(&wiki(), Some(ids[0]), &turn(2, "And the Xylophonakte?")).unwrap();
    history.delete(&ids[..1]).unwrap();
    history.purge(&ids[..1]).unwrap();
    assert!(matches!(history.turns(ids[0]), Err(HistoryError::NoConversation { .. })));
    assert!(found(&history, "zanzibarprotokoll").is_empty());
    assert_eq!(found(&history, "rest"), [ids[1].0]);
    for file in fs::read_dir(path.parent().unwrap()).unwrap() {
        let file = file.unwrap().path();
        let bytes = fs::read(&file).unwrap().to_ascii_lowercase();
        for word in ["zanzibar", "xylophon"] {
            let there = bytes.windows(word.len()).any(|window| window == word.as_bytes());
            assert!(!there, "`{word}` in {}", file.display());
        }
    }
}

#[test]
fn words_are_found_in_titles_questions_and_answers_by_their_beginnings() {
    let (_folder, path) = folder();
    let (mut history, ids) = history_of(&path, &["Wer prüft OXT-1654?", "Anything new?"]);
    history.save_turn(&wiki(), Some(ids[1]), &turn(2, "Who checked the résumé?")).unwrap();
    assert_eq!(found(&history, "OXT-16"), [ids[0].0]);
    assert_eq!(found(&history, "pruft oxt"), [ids[0].0]);
    assert_eq!(found(&history, "resume"), [ids[1].0]);
    assert_eq!(found(&history, "ALICE did"), [ids[1].0, ids[0].0], "the latest first");
    assert!(found(&history, "prüft resume").is_empty(), "not in one turn");
    assert!(found(&history, " *\"( ").is_empty());
    history.rename(ids[0], "Zebra").unwrap();
    let by_title = history.find("zeb", Among::All, usize::MAX).unwrap();
    assert_eq!((by_title.len(), by_title[0].turns.len()), (1, 0));
    let other: DomainName = "other".parse().unwrap();
    assert_eq!(history.find("alice", Among::Domain(&other), usize::MAX).unwrap(), []);
    history.save_turn(&other, None, &turn(1, "Who asked elsewhere?")).unwrap();
    let domains = |among| -> Vec<String> {
        let found = history.find("who", among, usize::MAX).unwrap();
        found.iter().map(|found| found.conversation.domain.to_string()).collect()
    };
    assert_eq!(domains(Among::All), ["other", "wiki"], "the latest first");
    assert_eq!(domains(Among::DomainFirst(&wiki())), ["wiki", "other"]);
    history.delete(&ids[..1]).unwrap();
    let trashed = history.find("zebra", Among::Domain(&wiki()), usize::MAX).unwrap();
    assert!(trashed[0].conversation.deleted_at.is_some());
}

#[test]
fn a_turn_that_is_stored_again_is_found_by_its_new_words_only() {
    let (_folder, path) = folder();
    let mut history = History::open(&path).unwrap();
    let (conversation, id) = history.save_turn(&wiki(), None, &turn(1, "Where is the walrus?")).unwrap();
    history.save_turn(&wiki(), Some(conversation.id), &TurnRecord { id, ..turn(1, "Where is the gnu?") }).unwrap();
    assert_eq!(history.find("gnu", Among::All, usize::MAX).unwrap()[0].turns[0].snippet, "Where is the gnu?");
    let by_old_word = history.find("walrus", Among::All, usize::MAX).unwrap();
    assert!(by_old_word.iter().all(|found| found.turns.is_empty()), "{by_old_word:?}");
}

#[test]
fn pinned_conversations_stand_first_and_a_save_keeps_the_pin_and_the_name() {
    let (_folder, path) = folder();
    let (mut history, ids) = history_of(&path, &["first", "second", "third"]);
    assert!(history.pin(ids[0], Place::Pinned).unwrap().pinned);
    assert_eq!(history.rename(ids[0], "  Board\u{1b}[31m\n week 12 ").unwrap().title, "Board week 12");
    assert_eq!(titles(&history.conversations(None).unwrap()), ["Board week 12", "third", "second"]);
    let (saved, _) = history.save_turn(&wiki(), Some(ids[0]), &turn(2, "more")).unwrap();
    assert_eq!((saved.pinned, saved.title.as_str()), (true, "Board week 12"));
    assert!(!history.pin(ids[0], Place::Listed).unwrap().pinned);
    assert!(matches!(history.rename(ids[0], " \u{1b}[0m "), Err(HistoryError::NoTitle)));
    assert!(matches!(history.rename(ConversationId(9), "x"), Err(HistoryError::NoConversation { .. })));
}

#[test]
fn a_rating_outlives_the_next_save_of_its_turn_and_can_be_taken_back() {
    let (_folder, path) = folder();
    let mut history = History::open(&path).unwrap();
    let (conversation, id) = history.save_turn(&wiki(), None, &turn(1, "Who?")).unwrap();
    assert_eq!(history.turn_id(conversation.id, 1).unwrap(), id);
    assert!(matches!(history.turn_id(conversation.id, 2), Err(HistoryError::NoTurn { number: 2, .. })));
    let rated_at = datetime!(2026-03-01 13:00 UTC);
    let down =
        Feedback { rating: Rating::Down, reason: Some(Reason::WrongSource), note: "see page 3".into(), rated_at };
    history.rate(id, Some(&down)).unwrap();
    history.save_turn(&wiki(), Some(conversation.id), &TurnRecord { id, ..turn(1, "Who?") }).unwrap();
    assert_eq!(history.turns(conversation.id).unwrap()[0].feedback, Some(down));
    let up = Feedback { rating: Rating::Up, reason: None, note: String::new(), rated_at };
    history.rate(id, Some(&up)).unwrap();
    assert_eq!(history.turns(conversation.id).unwrap()[0].feedback, Some(up));
    history.rate(id, None).unwrap();
    assert_eq!(history.turns(conversation.id).unwrap()[0].feedback, None);
}

#[test]
fn a_history_of_the_first_version_is_searched_like_a_new_one() {
    let (_folder, path) = folder();
    let (history, ids) = history_of(&path, &["Where is the walrus?"]);
    let before = history.turns(ids[0]).unwrap();
    drop(history);
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch(
        "DROP TRIGGER turns_text_insert; DROP TRIGGER turns_text_delete; DROP TRIGGER turns_text_update;
         DROP TRIGGER titles_text_insert; DROP TRIGGER titles_text_delete; DROP TRIGGER titles_text_update;
         DROP TABLE turns_text; DROP TABLE titles_text; DROP TABLE feedback;
         ALTER TABLE conversations DROP COLUMN pinned; PRAGMA user_version = 1;",
    )
    .unwrap();
    drop(raw);
    let history = History::open(&path).unwrap();
    assert_eq!(history.turns(ids[0]).unwrap(), before);
    assert_eq!(found(&history, "walrus"), [ids[0].0]);
}

#[test]
fn no_more_conversations_are_found_than_are_wanted_and_the_latest_of_them() {
    let (_folder, path) = folder();
    let (history, ids) = history_of(&path, &["Where is the walrus?", "Is it a walrus?", "Why a walrus?"]);
    let found = history.find("walrus", Among::All, 2).unwrap();
    let found: Vec<i64> = found.iter().map(|found| found.conversation.id.0).collect();
    assert_eq!(found, [ids[2].0, ids[1].0]);
}

#[test]
fn a_branch_has_the_turns_up_to_one_and_the_other_conversation_stays() {
    let (_folder, path) = folder();
    let (mut history, ids) = history_of(&path, &["Where is the walrus?"]);
    let first = history.turns(ids[0]).unwrap().remove(0);
    for number in 2..=3 {
        let next = TurnRecord { id: TurnId(0), number, question: format!("And {number}?"), ..first.clone() };
        history.save_turn(&wiki(), Some(ids[0]), &next).unwrap();
    }
    let before = (history.conversation(ids[0]).unwrap(), history.turns(ids[0]).unwrap());
    let branch = history.branch(ids[0], 2).unwrap();
    assert_eq!((branch.turns, branch.title.as_str()), (2, "Where is the walrus? · 1–2"));
    assert_eq!(history.branch(branch.id, 1).unwrap().title, "Where is the walrus? · 1");
    let turns = history.turns(branch.id).unwrap();
    let read = |turn: &TurnRecord| (turn.number, turn.question.clone(), turn.trace.clone());
    assert_eq!(turns.iter().map(read).collect::<Vec<_>>(), before.1[..2].iter().map(read).collect::<Vec<_>>());
    assert!(turns.iter().all(|turn| before.1.iter().all(|other| other.id != turn.id)));
    assert_eq!((history.conversation(ids[0]).unwrap(), history.turns(ids[0]).unwrap()), before);
    assert_eq!(titles(&history.conversations(None).unwrap())[1], branch.title, "the latest but one");
    assert!(found(&history, "walrus").contains(&branch.id.0));
    let count = history.conversations(None).unwrap().len();
    assert!(matches!(history.branch(ids[0], 9), Err(HistoryError::NoTurn { number: 9, .. })));
    assert!(history.branch(ConversationId(99), 1).is_err());
    assert_eq!(history.conversations(None).unwrap().len(), count, "nothing is left of a branch that failed");
}

proptest! {
    #![proptest_config(ragonite_testing::cases(64))]
    #[test]
    fn whatever_is_typed_is_no_wrong_query(words in "\\PC{0,40}") {
        let (_folder, path) = folder();
        let (history, _) = history_of(&path, &["Where is the walrus?"]);
        history.find(&words, Among::All, usize::MAX).unwrap();
    }

    #[test]
    fn every_word_of_a_question_finds_it(question in "[a-zäöüß0-9 .,?'\"-]{1,60}") {
        let (_folder, path) = folder();
        let (history, ids) = history_of(&path, &[&question]);
        for word in ragonite_base::text::words(&question) {
            prop_assert_eq!(found(&history, word), [ids[0].0], "{}", word);
        }
    }
}
