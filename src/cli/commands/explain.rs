//! `ragonite explain`: attribution of a stored answer, or of one of its sentences.
//!
//! Invariant: a stored explanation is shown as it is, unless a method is named or it was stopped; then the turn is
//! explained with the same core and workers as on the screen, and stored. Missing sentence attribution is added.

use super::ask;
use super::context::CommandContext;
use super::exit::{Exit, Failure};
use super::headless::Headless;
use super::json::{ExplainJson, Tokens};
use super::output::{Form, Output};
use super::report;
use crate::args::{Explain, TurnAddress};
use ragonite_app::{App, Event, Problem};
use ragonite_base::{CancelSource, ConversationId, DomainName};
use ragonite_config::read_changes;
use ragonite_history::{History, Outcome, TurnRecord};
use ragonite_rag::attribution::{Attribution, EstimateFirst, GroupTest, Method};
use ragonite_workers::cancel_on_interrupt;

/// A turn of the history.
struct Found {
    conversation: ConversationId,
    domain: DomainName,
    /// Index in its conversation.
    index: usize,
    record: TurnRecord,
}

pub(super) fn run(start: &CommandContext, args: &Explain, output: &mut Output) -> Result<Exit, Failure> {
    let found = find(start, args.turn)?;
    let needs_drops = args.sentence.is_some() || args.tokens;
    if let Some(method) = args.method.filter(|method| needs_drops && method.drops().is_none()) {
        return Err(Failure::usage(tells_none(method)));
    }
    let stored = found.record.trace.attribution.as_ref();
    // A stopped explanation continues.
    let stopped = stored.filter(|stored| stored.missing > 0).map(|stopped| stopped.method);
    let method = args.method.or(stopped);
    let stored = stored.filter(|_| method.is_none());
    if let Some(stored) = stored.filter(|stored| args.tokens && stored.drops_how().is_none()) {
        // Another method would replace the stored explanation.
        return Err(Failure::usage(tells_none(stored.method)));
    }
    let explained = match (method, stored) {
        (None, Some(stored)) if args.sentence.is_none() || !stored.sentences.is_empty() => None,
        (method, stored) => {
            check_weights(start, &found)?;
            let wish = |turn| match (method, stored) {
                (Some(method), _) => Event::ExplainRequested { turn, method },
                (None, Some(_)) => Event::SentencesWanted { turn },
                (None, None) => Event::ExplainRequested { turn, method: configured(start, &found.domain, args) },
            };
            let wish = wish(found.index);
            let mut session = Headless::start(start.setup(), start.headless_settings())?;
            let result = explain(&mut session, &found, wish, output);
            session.finish();
            Some(result?)
        }
    };
    show(found.conversation, explained.as_ref().unwrap_or(&found.record), args, output)
}

fn find(start: &CommandContext, address: TurnAddress) -> Result<Found, Failure> {
    let TurnAddress { conversation: id, number } = address;
    let history = History::open(&start.paths.history())?;
    let conversation = history.conversation(id)?;
    let turns = history.turns(id)?;
    let index = match number {
        Some(number) => turns.iter().position(|turn| turn.number == number),
        None => turns.len().checked_sub(1),
    };
    let found = index.and_then(|index| turns.into_iter().enumerate().nth(index));
    let Some((index, record)) = found else {
        return Err(Failure::usage(Problem {
            what: format!("conversation {id} has no turn {}", number.unwrap_or(1)),
            next: format!("`ragonite history show {id}` shows those it has."),
        }));
    };
    if record.outcome != Outcome::Answered || record.trace.answer.is_none() {
        return Err(Failure::usage(Problem {
            what: format!("turn {} of conversation {id} has no answer to explain", record.number),
            next: format!("`ragonite history show {id}` shows which turns have one."),
        }));
    }
    Ok(Found { conversation: id, domain: conversation.domain, index, record })
}

/// The method of the domain; where sentences are requested, one that supports them.
fn configured(start: &CommandContext, domain: &DomainName, args: &Explain) -> Method {
    // Opening the domain reports invalid settings.
    let changes = read_changes(&start.paths.domain(domain)).changes;
    let settings = changes.applied_to(&start.turn_settings()).attribution;
    let tells = match settings.method {
        Method::Similarity => false,
        Method::Counterfactual => settings.estimate_first == EstimateFirst::On && settings.group_test == GroupTest::Off,
        Method::Preview | Method::Logprob | Method::Jsd => true,
    };
    let needs_drops = args.sentence.is_some() || args.tokens;
    if needs_drops && !tells { Method::Logprob } else { settings.method }
}

/// Checks the weights of the model that answered.
fn check_weights(start: &CommandContext, found: &Found) -> Result<(), Failure> {
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    let recorded = found.record.trace.generator.as_str();
    let generator = if recorded.is_empty() { start.generator_of(&found.domain) } else { recorded.to_owned() };
    start.check_weights_to_explain(&generator, &cancel.token())
}

/// Explains a turn and waits until it is stored.
fn explain(session: &mut Headless, found: &Found, wish: Event, output: &mut Output) -> Result<TurnRecord, Failure> {
    ask::open_domain(session, &found.domain, output)?;
    ask::open_conversation(session, found.conversation)?;
    let mut finished = false;
    let mut observe = |app: &App, event: &Event| {
        finished |= matches!(event, Event::AttributionFinished { .. });
        ask::progress(app, output);
    };
    session.run_until(wish, ask::settled, &mut observe)?;
    let turn = session.app.turns().get(found.index);
    match (turn, session.app.problem()) {
        (_, Some(problem)) => Err(Failure::failed(problem.clone())),
        (Some(turn), None) if finished => Ok(turn.record.clone()),
        _ => Err(Failure::canceled()),
    }
}

fn show(
    conversation: ConversationId,
    record: &TurnRecord,
    args: &Explain,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let Some(attribution) = &record.trace.attribution else { return Err(Failure::canceled()) };
    let sentence = args.sentence.map(usize::from);
    if let Some(number) = sentence.filter(|number| *number > attribution.sentences.len()) {
        return Err(Failure::usage(no_sentence(number, attribution)));
    }
    let tokens = if args.tokens { Tokens::Each } else { Tokens::Sums };
    match output.form() {
        Form::Json => output.json(&ExplainJson::new(conversation, record, attribution, sentence, tokens))?,
        Form::Text => output.text(&text(record, attribution, sentence, tokens))?,
    }
    Ok(Exit::Done)
}

fn tells_none(method: Method) -> Problem {
    Problem {
        what: format!("{method} does not tell what a sentence or a token rests on"),
        next: "Use --method logprob, or preview for an estimate.".to_owned(),
    }
}

fn no_sentence(number: usize, attribution: &Attribution) -> Problem {
    match attribution.sentences.len() {
        0 => tells_none(attribution.method),
        count => Problem {
            what: format!("there is no sentence {number}, the last one of the answer is {count}"),
            next: "Leave --sentence out to see them all.".to_owned(),
        },
    }
}

fn text(record: &TurnRecord, attribution: &Attribution, sentence: Option<usize>, tokens: Tokens) -> String {
    let mut text = report::question(record);
    text.push_str(&report::answer(record));
    let sentences = &attribution.sentences;
    let one = |(number, of)| report::sentence(number, sentences.len(), of);
    if let Some(number) = sentence {
        text.extend((1..).zip(sentences).filter(|(at, _)| *at == number).map(one));
    } else {
        text.push_str(&report::bars(record, attribution));
        // A single sentence has the attribution of the answer.
        text.extend((1..).zip(sentences).filter(|_| sentences.len() > 1).map(one));
    }
    if tokens == Tokens::Each {
        let all = 0..attribution.tokens.len();
        let of_sentence = sentence.and_then(|number| sentences.get(number - 1)).map(|one| one.tokens.clone());
        text.push_str(&report::tokens(attribution, &of_sentence.unwrap_or(all)));
    }
    text
}
