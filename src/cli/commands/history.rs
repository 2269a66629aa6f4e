//! `ragonite history`: past conversations.
//!
//! Takes a subcommand; changes or prints the history. Printed text is cleaned; JSON has the stored text.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::confirm::{Asking, Question, agreed};
use super::context::CommandContext;
use super::exit::{Exit, Failure};
use super::output::{Form, Output};
use super::report;
use crate::args::{self, Rated, TurnAddress};
use ragonite_app::Problem;
use ragonite_base::{ConversationId, DomainName, clean_line};
use ragonite_eval::{ExportCaseError, export_case};
use ragonite_history::{
    Among, ConversationRecord, Feedback, Format, Found, History, HistoryError, Place, Rating, Reason, TurnRecord,
    export, write_new,
};
use ragonite_workers::problem;

#[derive(Serialize)]
struct ListJson<'a> {
    conversations: &'a [ConversationRecord],
}

#[derive(Serialize)]
struct ShowJson<'a> {
    conversation: &'a ConversationRecord,
    turns: &'a [TurnRecord],
}

#[derive(Serialize)]
struct SearchJson<'a> {
    query: &'a str,
    found: &'a [Found],
}

#[derive(Serialize)]
struct ChangedJson<'a> {
    conversation: &'a ConversationRecord,
}

#[derive(Serialize)]
struct RatedJson<'a> {
    conversation: ConversationId,
    turn: u32,
    feedback: Option<&'a Feedback>,
}

#[derive(Serialize)]
struct ExportedJson<'a> {
    exported: ConversationId,
    output: &'a Path,
}

#[derive(Serialize)]
struct CheckJson<'a> {
    file: &'a Path,
    question: &'a str,
    page: &'a str,
    also_cited: &'a [String],
    questions: usize,
}

pub(super) fn run(start: &CommandContext, command: &args::History, output: &mut Output) -> Result<Exit, Failure> {
    let mut history = History::open(&start.paths.history())?;
    match command {
        args::History::List { domain, trash } => {
            let listed =
                if *trash { history.trash(domain.as_ref())? } else { history.conversations(domain.as_ref())? };
            let none = if *trash { "The trash is empty.\n" } else { "No conversations yet.\n" };
            list(&listed, none, output)?;
        }
        args::History::Show { id } => show(&history, *id, output)?,
        args::History::Search { domain, words } => search(&history, &words.join(" "), domain.as_ref(), output)?,
        args::History::Export { id, turn, format, output: file } => {
            let text = exported(&history, *id, *turn, *format)?;
            hand_out(*id, &text, file.as_deref(), output)?;
        }
        args::History::Rename { id, title } => changed(&history.rename(*id, title)?, output)?,
        args::History::Pin { id } => changed(&history.pin(*id, Place::Pinned)?, output)?,
        args::History::Unpin { id } => changed(&history.pin(*id, Place::Listed)?, output)?,
        args::History::Rate { id, turn, rating, reason, note } => {
            rate(&mut history, *id, *turn, feedback(*rating, *reason, note)?, output)?;
        }
        args::History::Check { turn, file } => check(&history, *turn, file, output)?,
        args::History::Delete { ids } => {
            history.delete(ids)?;
            done("deleted", ids, output)?;
        }
        args::History::Restore { ids } => {
            history.restore(ids)?;
            done("restored", ids, output)?;
        }
        args::History::Purge { ids, all, yes } => {
            let ids = if *all { history.trash(None)?.iter().map(|record| record.id).collect() } else { ids.clone() };
            purge(&mut history, &ids, Asking::from(*yes), output)?;
        }
    }
    Ok(Exit::Done)
}

fn list(conversations: &[ConversationRecord], none: &str, output: &mut Output) -> io::Result<()> {
    match output.form() {
        Form::Json => output.json(&ListJson { conversations }),
        Form::Text if conversations.is_empty() => output.text(none),
        Form::Text => output.text(&conversations.iter().map(line).collect::<String>()),
    }
}

fn line(conversation: &ConversationRecord) -> String {
    format!(
        "{:>5} {} {}  {:<16} {:>3} {}  {}\n",
        conversation.id.0,
        if conversation.pinned { '*' } else { ' ' },
        minute(conversation.changed_at),
        conversation.domain.as_str(),
        conversation.turns,
        if conversation.turns == 1 { "turn" } else { "turns" },
        conversation.title
    )
}

fn minute(at: OffsetDateTime) -> String {
    // RFC 3339 begins with the day and the minute: 2026-01-31T12:34.
    let stamp = at.format(&Rfc3339).unwrap_or_default();
    stamp.get(..16).unwrap_or_default().replace('T', " ")
}

fn show(history: &History, id: ConversationId, output: &mut Output) -> Result<(), Failure> {
    let (conversation, turns) = (history.conversation(id)?, history.turns(id)?);
    match output.form() {
        Form::Json => output.json(&ShowJson { conversation: &conversation, turns: &turns })?,
        Form::Text => {
            let mut text = format!("Conversation {}: {} ({})\n", id, conversation.title, conversation.domain);
            if let Some(at) = conversation.deleted_at {
                let _ = writeln!(text, "In the trash since {}", minute(at));
            }
            for turn in &turns {
                let _ = writeln!(text, "\nTurn {}", turn.number);
                text.push_str(&report::turn(turn));
            }
            output.text(&text)?;
        }
    }
    Ok(())
}

fn search(history: &History, query: &str, domain: Option<&DomainName>, output: &mut Output) -> Result<(), Failure> {
    let found = history.find(query, domain.map_or(Among::All, Among::Domain), usize::MAX)?;
    match output.form() {
        Form::Json => output.json(&SearchJson { query, found: &found })?,
        Form::Text if found.is_empty() => {
            output.text(&format!("No conversation has all of these words: {}\n", clean_line(query)))?;
        }
        Form::Text => {
            let mut text = String::new();
            for one in &found {
                text.push_str(&line(&one.conversation));
                if one.conversation.deleted_at.is_some() {
                    text.push_str("        in the trash\n");
                }
                for turn in &one.turns {
                    let _ = writeln!(text, "        turn {}: {}", turn.number, turn.snippet);
                }
            }
            output.text(&text)?;
        }
    }
    Ok(())
}

/// The export of a conversation or of one turn.
fn exported(history: &History, id: ConversationId, turn: Option<u32>, format: Format) -> Result<String, HistoryError> {
    let (conversation, mut turns) = (history.conversation(id)?, history.turns(id)?);
    if let Some(number) = turn {
        turns.retain(|turn| turn.number == number);
        if turns.is_empty() {
            return Err(HistoryError::NoTurn { id, number });
        }
    }
    export(&conversation, &turns, format)
}

/// Writes a text to a new file, or prints it.
fn hand_out(id: ConversationId, text: &str, file: Option<&Path>, output: &mut Output) -> Result<(), Failure> {
    let Some(file) = file else {
        output.text(text)?;
        return Ok(());
    };
    write_new(file, text).map_err(|source| HistoryError::Export { path: file.to_owned(), source })?;
    match output.form() {
        Form::Json => output.json(&ExportedJson { exported: id, output: file })?,
        Form::Text => output.note(&format!("wrote {}", file.display())),
    }
    Ok(())
}

/// The rating to store; none removes it.
fn feedback(rated: Rated, reason: Option<Reason>, note: &str) -> Result<Option<Feedback>, Failure> {
    let rating = match rated {
        Rated::As(rating) => rating,
        Rated::Not => return Ok(None),
    };
    if rating == Rating::Up && reason.is_some() {
        return Err(Failure::usage(Problem {
            what: "a reason says what is wrong with an answer, and this one is rated up".to_owned(),
            next: "Leave --reason out, or rate the answer down.".to_owned(),
        }));
    }
    Ok(Some(Feedback { rating, reason, note: note.to_owned(), rated_at: OffsetDateTime::now_utc() }))
}

fn rate(
    history: &mut History,
    conversation: ConversationId,
    turn: u32,
    feedback: Option<Feedback>,
    output: &mut Output,
) -> Result<(), Failure> {
    let id = history.turn_id(conversation, turn)?;
    history.rate(id, feedback.as_ref())?;
    match output.form() {
        Form::Json => output.json(&RatedJson { conversation, turn, feedback: feedback.as_ref() })?,
        Form::Text => {
            let rating = feedback.map_or_else(|| "not rated".to_owned(), |feedback| feedback.label());
            output.text(&format!("turn {turn} of conversation {conversation}: {rating}\n"))?;
        }
    }
    Ok(())
}

/// Adds a turn to a question file.
fn check(history: &History, address: TurnAddress, file: &Path, output: &mut Output) -> Result<(), Failure> {
    let TurnAddress { conversation: id, number } = address;
    let (conversation, turns) = (history.conversation(id)?, history.turns(id)?);
    let last = turns.last().map_or(1, |turn| turn.number);
    let number = number.unwrap_or(last);
    let turn = turns.iter().find(|turn| turn.number == number).ok_or(HistoryError::NoTurn { id, number })?;
    let written = export_case(file, &conversation.domain, id, turn)?;
    match output.form() {
        Form::Json => output.json(&CheckJson {
            file,
            question: &written.id,
            page: &written.page,
            also_cited: &written.also_cited,
            questions: written.questions,
        })?,
        Form::Text => output.text(&format!("{}\n", written.label()))?,
    }
    Ok(())
}

impl From<ExportCaseError> for Failure {
    fn from(error: ExportCaseError) -> Self {
        let exit = if matches!(error, ExportCaseError::File { .. }) { Exit::Failed } else { Exit::Usage };
        Self { exit, problem: Some(problem(&error)) }
    }
}

fn changed(conversation: &ConversationRecord, output: &mut Output) -> io::Result<()> {
    match output.form() {
        Form::Json => output.json(&ChangedJson { conversation }),
        Form::Text => output.text(&line(conversation)),
    }
}

fn purge(history: &mut History, ids: &[ConversationId], asking: Asking, output: &mut Output) -> Result<(), Failure> {
    for id in ids {
        if history.conversation(*id)?.deleted_at.is_none() {
            return Err(HistoryError::NotInTrash { id: *id }.into());
        }
    }
    if asking == Asking::Needed && !ids.is_empty() {
        let question = Question {
            doing: "purging conversations",
            means: &format!("This removes for good, with all their turns: {}", named(ids)),
            word: "purge",
            command: "ragonite history purge … --yes",
        };
        agreed(&question, output)?;
    }
    history.purge(ids)?;
    Ok(done("purged", ids, output)?)
}

/// Reports an operation on conversations.
fn done(what: &'static str, ids: &[ConversationId], output: &mut Output) -> io::Result<()> {
    match output.form() {
        Form::Json => output.json(&serde_json::json!({ what: ids })),
        Form::Text if ids.is_empty() => output.text("nothing to do\n"),
        Form::Text => output.text(&format!("{what} {}\n", named(ids))),
    }
}

/// `conversation 3` or `conversations 3, 5`.
fn named(ids: &[ConversationId]) -> String {
    let numbers: Vec<String> = ids.iter().map(ToString::to_string).collect();
    format!("{} {}", if ids.len() == 1 { "conversation" } else { "conversations" }, numbers.join(", "))
}
