//! `ragonite history`: past conversations.

use std::fmt::Write as _;

use serde::Serialize;
use time::format_description::well_known::Rfc3339;

use super::exit::{Exit, Failure};
use super::output::{Form, Output};
use super::report;
use super::start::Start;
use crate::cli;
use crate::history::{ConversationRecord, History, TurnRecord};

#[derive(Serialize)]
struct ListJson<'a> {
    conversations: &'a [ConversationRecord],
}

#[derive(Serialize)]
struct ShowJson<'a> {
    conversation: &'a ConversationRecord,
    turns: &'a [TurnRecord],
}

pub(super) fn run(start: &Start, command: &cli::History, output: &mut Output) -> Result<Exit, Failure> {
    let history = History::open(&start.paths.history())?;
    match command {
        cli::History::List { domain } => {
            let conversations = history.conversations(domain.as_ref())?;
            match output.form() {
                Form::Json => output.json(&ListJson { conversations: &conversations })?,
                Form::Text => output.text(&list(&conversations))?,
            }
        }
        cli::History::Show { id } => {
            let conversation = history.conversation(*id)?;
            let turns = history.turns(*id)?;
            match output.form() {
                Form::Json => output.json(&ShowJson { conversation: &conversation, turns: &turns })?,
                Form::Text => output.text(&show(&conversation, &turns))?,
            }
        }
    }
    Ok(Exit::Done)
}

fn list(conversations: &[ConversationRecord]) -> String {
    if conversations.is_empty() {
        return "No conversations yet.\n".to_owned();
    }
    conversations.iter().fold(String::new(), |mut text, conversation| {
        let turns = if conversation.turns == 1 { "turn" } else { "turns" };
        let _ = writeln!(
            text,
            "{:>5}  {}  {:<16} {:>3} {turns}  {}",
            conversation.id.0,
            day(conversation),
            conversation.domain.as_str(),
            conversation.turns,
            conversation.title
        );
        text
    })
}

fn day(conversation: &ConversationRecord) -> String {
    // RFC 3339 begins with the day and the minute: 2026-01-31T12:34.
    let stamp = conversation.changed_at.format(&Rfc3339).unwrap_or_default();
    stamp.get(..16).unwrap_or_default().replace('T', " ")
}

fn show(conversation: &ConversationRecord, turns: &[TurnRecord]) -> String {
    let mut text = format!("Conversation {}: {} ({})\n", conversation.id, conversation.title, conversation.domain);
    for turn in turns {
        let _ = writeln!(text, "\nTurn {}", turn.number);
        text.push_str(&report::turn(turn));
    }
    text
}
