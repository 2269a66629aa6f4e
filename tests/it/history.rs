//! The history commands on an existing history, without a model.

use std::fs;
use std::path::PathBuf;

use ragonite::base::{DomainName, TurnId};
use ragonite::history::{History, Outcome, Trace, TurnRecord};
use serde_json::Value;
use time::macros::datetime;

use crate::program::Program;

fn turn(number: u32, question: &str) -> TurnRecord {
    TurnRecord {
        id: TurnId(0),
        number,
        question: question.to_owned(),
        completed_question: question.to_owned(),
        outcome: Outcome::Canceled,
        asked_at: datetime!(2026-03-01 12:00 UTC),
        feedback: None,
        trace: Trace::default(),
    }
}

/// Three conversations; the first has two turns.
fn program() -> Program {
    let program = Program::new(PathBuf::from("no-weights"));
    let mut history = History::open(&program.data.path().join("history.db")).unwrap();
    let wiki: DomainName = "wiki".parse().unwrap();
    for question in ["Who attended the Aurora call?", "What is Borealis?", "Where is Cassini?"] {
        history.save_turn(&wiki, None, &turn(1, question)).unwrap();
    }
    let first = history.conversations(None).unwrap()[2].id;
    history.save_turn(&wiki, Some(first), &turn(2, "And who was missing?")).unwrap();
    program
}

fn ids(listed: &Value) -> Vec<i64> {
    listed["conversations"].as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect()
}

#[test]
fn a_conversation_is_found_named_pinned_and_rated() {
    let program = program();
    let found = program.json(&["history", "search", "aurora", "att"]);
    assert_eq!(found["found"][0]["conversation"]["id"], 1);
    assert_eq!(found["found"][0]["turns"][0]["number"], 1);
    let none = program.run(&["history", "search", "zeppelin"]);
    assert!(none.status.success() && String::from_utf8_lossy(&none.stdout).contains("zeppelin"));
    assert_eq!(
        program.json(&["history", "rename", "2", "Northern lights"])["conversation"]["title"],
        "Northern lights"
    );
    program.json(&["history", "pin", "3"]);
    assert_eq!(ids(&program.json(&["history", "list"])), [3, 1, 2]);
    program.json(&["history", "unpin", "3"]);
    assert_eq!(ids(&program.json(&["history", "list"])), [1, 3, 2]);
    program.json(&["history", "rate", "1", "2", "down", "--reason", "wrong-source", "--note", "page 3"]);
    let shown = program.json(&["history", "show", "1"]);
    assert_eq!(shown["turns"][1]["feedback"]["reason"], "wrong-source");
    let text = String::from_utf8(program.run(&["history", "show", "1"]).stdout).unwrap();
    assert!(text.contains("Rated: down, wrong source: page 3"), "{text}");
    program.json(&["history", "rate", "1", "2", "none"]);
    assert_eq!(program.json(&["history", "show", "1"])["turns"][1]["feedback"], Value::Null);
}

#[test]
fn a_conversation_goes_to_the_trash_and_back_and_is_gone_only_when_purged() {
    let program = program();
    program.json(&["history", "delete", "1", "2"]);
    assert_eq!(ids(&program.json(&["history", "list"])), [3]);
    assert_eq!(ids(&program.json(&["history", "list", "--trash"])).len(), 2);
    program.json(&["history", "restore", "1"]);
    let unasked = program.run(&["history", "purge", "--all"]);
    assert_eq!(unasked.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unasked.stderr).contains("--yes"));
    assert_eq!(program.json(&["history", "purge", "--all", "--yes"])["purged"], serde_json::json!([2]));
    assert_eq!(ids(&program.json(&["history", "list"])), [1, 3]);
    assert_eq!(program.run(&["history", "show", "2"]).status.code(), Some(2));
}

#[test]
fn what_cannot_be_done_says_why_and_changes_nothing() {
    let program = program();
    let before = program.json(&["history", "list"]);
    let cases: [(&[&str], &str); 8] = [
        (&["history", "restore", "1"], "not in the trash"),
        (&["history", "purge", "1", "--yes"], "not in the trash"),
        (&["history", "purge"], "<ID>"),
        (&["history", "delete", "1", "99"], "no conversation 99"),
        (&["history", "export", "1", "--turn", "7"], "no turn 7"),
        (&["history", "export", "1", "--format", "pdf"], "markdown, html or json"),
        (&["history", "rate", "1", "1", "up", "--reason", "other"], "rate the answer down"),
        (&["history", "rename", "1", " "], "title"),
    ];
    for (arguments, named) in cases {
        let output = program.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(named), "{arguments:?} does not say `{named}`: {errors}");
    }
    assert_eq!(program.json(&["history", "list"]), before);
}

#[test]
fn an_export_is_printed_or_written_and_never_over_a_file() {
    let program = program();
    let markdown = String::from_utf8(program.run(&["history", "export", "1"]).stdout).unwrap();
    assert!(markdown.starts_with("# Who attended the Aurora call?\n") && markdown.contains("## 2. "), "{markdown}");
    let file = program.data.path().join("call.html");
    let arguments = ["history", "export", "1", "--turn", "2", "--format", "html", "-o", file.to_str().unwrap()];
    assert!(program.run(&arguments).status.success());
    let html = fs::read_to_string(&file).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.contains("And who was missing?"), "{html}");
    assert!(!html.contains("<h2 id=\"t1\">"), "{html}");
    let again = program.run(&arguments);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("left as it is"));
    assert_eq!(fs::read_to_string(&file).unwrap(), html);
}

#[test]
fn every_shell_gets_its_completions() {
    let program = Program::new(PathBuf::from("no-weights"));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = String::from_utf8(program.run(&["completions", shell]).stdout).unwrap();
        assert!(script.contains("ragonite") && script.contains("history"), "{shell}");
    }
}
