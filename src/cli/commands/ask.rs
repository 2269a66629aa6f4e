//! `ragonite ask`: one question, with the same core and workers as the screen.

use time::OffsetDateTime;

use super::context::CommandContext;
use super::exit::{Exit, Failure};
use super::headless::{Headless, Wanted};
use super::json::AskJson;
use super::output::{Form, Output};
use super::report;
use crate::args::Ask;
use ragonite_app::{App, AppSettings, Event, ExplainProgress, Phase, Problem};
use ragonite_base::{CancelSource, ConversationId, DomainName};
use ragonite_history::{History, HistoryError};
use ragonite_rag::attribution::Method;
use ragonite_rag::pipeline::AnswerWithoutMatch;
use ragonite_workers::cancel_on_interrupt;

pub(super) fn run(start: &CommandContext, args: &Ask, output: &mut Output) -> Result<Exit, Failure> {
    check(start, args)?;
    let answer_without_match = args.answer_without_match.then_some(AnswerWithoutMatch::On);
    let settings = AppSettings { answer_without_match, ..start.headless_settings() };
    let mut session = Headless::start(start.setup(), settings)?;
    if start.shared.panic_in.is_some() {
        session.panic_in_worker();
    }
    let result = converse(&mut session, args, output);
    session.finish();
    result
}

/// Checks the requirements of the question before any model is loaded.
fn check(start: &CommandContext, args: &Ask) -> Result<(), Failure> {
    if !args.question.contains(char::is_alphanumeric) {
        return Err(Failure::usage(Problem {
            what: "the question has no words".to_owned(),
            next: "Give a question in quotes.".to_owned(),
        }));
    }
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let generator = start.generator_of(&args.domain);
    if args.explain {
        start.check_weights_to_explain(&generator, &cancel.token())?;
    } else {
        start.check_weights(&generator, &cancel.token())?;
    }
    start.check_domain(&args.domain)?;
    let Some(id) = args.conversation else { return Ok(()) };
    let conversation = History::open(&start.paths.history())?.conversation(id)?;
    if conversation.deleted_at.is_some() {
        return Err(HistoryError::InTrash { id }.into());
    }
    if conversation.domain == args.domain {
        return Ok(());
    }
    Err(Failure::usage(Problem {
        what: format!("conversation {id} belongs to the domain `{}`", conversation.domain),
        next: "`ragonite history list` shows which belongs where.".to_owned(),
    }))
}

fn converse(session: &mut Headless, args: &Ask, output: &mut Output) -> Result<Exit, Failure> {
    open_domain(session, &args.domain, output)?;
    if session.app.domain().is_some_and(|domain| domain.documents == 0) {
        output.empty_domain(&args.domain);
    }
    if let Some(id) = args.conversation {
        open_conversation(session, id)?;
    }
    ask(session, &args.question, output)?;
    let wanted = if args.explain { Wanted::Explanation } else { Wanted::Answer };
    if args.explain && session.verdict(Wanted::Answer).is_ok() {
        explain(session, args.method.unwrap_or(session.app.method()), output)?;
    }
    if let Some(turn) = session.app.turns().last() {
        let conversation = session.app.conversation().map(|record| record.id);
        match output.form() {
            Form::Json => output.json(&AskJson::new(conversation, &turn.record))?,
            Form::Text => output.text(&report::turn(&turn.record))?,
        }
    }
    session.verdict(wanted)?;
    Ok(Exit::Done)
}

/// Opens a domain and reports its settings overrides.
pub(super) fn open_domain(session: &mut Headless, domain: &DomainName, output: &mut Output) -> Result<(), Failure> {
    let opened = |app: &App| app.domain().is_some_and(|summary| summary.name == *domain);
    session.run_until(Event::DomainChosen(domain.clone()), opened, &mut |_, event| {
        if let Event::SettingsLoaded { changes, problem, .. } = event {
            output.changes(changes, problem.as_ref());
        }
    })
}

/// Opens a conversation of the open domain.
pub(super) fn open_conversation(session: &mut Headless, id: ConversationId) -> Result<(), Failure> {
    let there = |app: &App| app.conversation().is_some_and(|record| record.id == id);
    session.run_until(Event::ConversationChosen(id), there, &mut |_, _| {})
}

/// Asks and waits until the turn is stored.
pub(super) fn ask(session: &mut Headless, question: &str, output: &mut Output) -> Result<(), Failure> {
    let event = Event::QuestionAsked { text: question.to_owned(), at: OffsetDateTime::now_utc() };
    session.run_until(event, settled, &mut |app, _| progress(app, output))
}

/// Explains the last turn and waits until it is stored.
pub(super) fn explain(session: &mut Headless, method: Method, output: &mut Output) -> Result<(), Failure> {
    let Some(turn) = session.app.turns().len().checked_sub(1) else { return Ok(()) };
    session.run_until(Event::ExplainRequested { turn, method }, settled, &mut |app, _| progress(app, output))
}

pub(super) fn settled(app: &App) -> bool {
    !app.is_busy() && app.is_saved()
}

pub(super) fn progress(app: &App, output: &mut Output) {
    let running = app.phase().turn().and_then(|key| app.turn(key));
    let Some(turn) = running.or(app.turns().last()) else { return };
    if let Some(loading) = &app.engine().loading {
        return output.progress(&format!("loading {}", loading.label()));
    }
    let line = match app.phase() {
        Phase::Idle => return,
        Phase::Rewriting(_) => "completing the question".to_owned(),
        Phase::Retrieving(_) => format!("searching for: {}", turn.record.completed_question),
        Phase::Answering(_) => match (&turn.prompt, turn.reading) {
            _ if !turn.streamed.is_empty() => format!("answering: {}", turn.streamed),
            (Some(prompt), Some(reading)) => {
                let sources = if prompt.sources == 1 { "source" } else { "sources" };
                format!("reading {} {sources}, {} of {} tokens", prompt.sources, reading.done, reading.total)
            }
            _ => "building the prompt".to_owned(),
        },
        Phase::Explaining(_) => {
            let ExplainProgress { done, total, .. } =
                turn.explaining.as_ref().map(|explaining| explaining.progress).unwrap_or_default();
            format!("explaining: {done} of {total} clusters")
        }
    };
    output.progress(&line);
}
