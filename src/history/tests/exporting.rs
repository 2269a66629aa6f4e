//! Files for others.

use time::macros::datetime;

use super::super::*;
use super::{turn, wiki};
use ragonite_base::ConversationId;

fn conversation() -> ConversationRecord {
    ConversationRecord {
        id: ConversationId(3),
        domain: wiki(),
        title: "Who did <b>it</b>?".into(),
        started_at: datetime!(2026-03-01 12:00 UTC),
        changed_at: datetime!(2026-03-01 12:05 UTC),
        turns: 2,
        pinned: false,
        deleted_at: None,
    }
}

fn turns() -> Vec<TurnRecord> {
    let rated_at = datetime!(2026-03-01 13:00 UTC);
    let note = "the *list* is from 2023".into();
    let feedback = Some(Feedback { rating: Rating::Down, reason: Some(Reason::OutOfDate), note, rated_at });
    let failed = Outcome::Failed("no model".into());
    let failure = TurnRecord { outcome: failed, trace: Trace::default(), ..turn(2, "And when?") };
    vec![TurnRecord { feedback, ..turn(1, "Who did <b>it</b>?") }, failure]
}

#[test]
fn a_conversation_in_markdown() {
    insta::assert_snapshot!(export(&conversation(), &turns(), Format::Markdown).unwrap());
}

#[test]
fn an_answer_is_said_again_only_where_it_is_another_without_a_source() {
    let mut turns = turns();
    assert!(export(&conversation(), &turns, Format::Markdown).unwrap().contains("| regenerated | the same answer |"));
    let clusters = &mut turns[0].trace.attribution.as_mut().unwrap().clusters;
    clusters[0].counterfactual_answer = Some("Bob did.".into());
    assert!(export(&conversation(), &turns, Format::Markdown).unwrap().contains("| regenerated | Bob did. |"));
}

#[test]
fn a_conversation_in_html() {
    insta::assert_snapshot!(export(&conversation(), &turns(), Format::Html).unwrap());
}

#[test]
fn json_holds_the_whole_trace() {
    let json = export(&conversation(), &turns(), Format::Json).unwrap();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let stored: Vec<TurnRecord> = serde_json::from_value(value["turns"].clone()).unwrap();
    assert_eq!(stored, turns());
    assert_eq!(value["conversation"]["id"], 3);
}

#[test]
fn signs_that_a_terminal_acts_on_are_escaped_in_json() {
    let signs = "a\u{9b}31m b\u{7f} c\u{202e}d\u{2066} e\u{1b}[2J";
    let json = export(&conversation(), &[turn(1, signs)], Format::Json).unwrap();
    assert!(!json.contains(['\u{9b}', '\u{7f}', '\u{202e}', '\u{2066}', '\u{1b}']), "{json}");
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let stored: Vec<TurnRecord> = serde_json::from_value(value["turns"].clone()).unwrap();
    assert_eq!(stored, [turn(1, signs)], "nothing is lost");
}

#[cfg(unix)]
#[test]
fn a_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = write_export(folder.path(), &conversation(), &turns(), Format::Markdown).unwrap();
    assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn nothing_in_a_file_acts() {
    let evil = "<script>alert(1)</script> \u{1b}[31m ``` <img src=x onerror=y>";
    let mut turn = turn(1, evil);
    if let Some(retrieved) = &mut turn.trace.retrieved {
        for hit in &mut retrieved.hits {
            hit.title = evil.into();
            hit.content = format!("{evil}\n```\n<script>");
            hit.url = "javascript:alert(1)".into();
        }
    }
    if let Some(answer) = &mut turn.trace.answer {
        answer.text = format!("{evil} [Source 1]");
    }
    let conversation = ConversationRecord { title: evil.into(), ..conversation() };
    let html = export(&conversation, std::slice::from_ref(&turn), Format::Html).unwrap();
    let markdown = export(&conversation, &[turn], Format::Markdown).unwrap();
    for text in [&html, &markdown] {
        assert!(!text.contains('\u{1b}') && !text.contains("href=\"javascript"));
    }
    assert!(!html.contains("<script") && !html.contains("<img"), "{html}");
    let outside: String = markdown.split("````").step_by(2).collect();
    assert!(!outside.replace("\\<", "").contains('<'), "{markdown}");
}
