//! `ragonite demo`: the bundled domains, on the screen or as a scripted conversation.
//!
//! The pages are part of the program; they are written to `<data>/demo` and ingested from there, so that the next
//! start finds them unchanged.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::Path;

use include_dir::{Dir, include_dir};

use super::ask;
use super::context::CommandContext;
use super::exit::{Exit, Failure};
use super::headless::{Headless, Wanted};
use super::output::Output;
use super::{ingest, interactive, report};
use crate::args::Ingest;
use ragonite_app::Problem;
use ragonite_base::{CancelSource, DomainName};
use ragonite_eval::{DomainsFile, EvalError, QuestionConversation, QuestionFile};
use ragonite_workers::cancel_on_interrupt;

static BUNDLE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../assets/demo");

/// Turns of the scripted conversation; the last one is explained.
const SCRIPTED_TURNS: usize = 3;

pub(super) fn run(start: &CommandContext, output: &mut Output) -> Result<Exit, Failure> {
    start.require_models()?;
    let first = prepare(start, output)?;
    if io::stdout().is_terminal() && io::stdin().is_terminal() {
        return interactive::run(start, Some(first));
    }
    scripted(start, output)
}

/// Writes the pages, ingests changes, and returns the domain to open first.
fn prepare(start: &CommandContext, output: &mut Output) -> Result<DomainName, Failure> {
    let folder = start.paths.data.join("demo");
    write_bundle(&BUNDLE, &folder).map_err(|error| {
        Failure::failed(Problem::of(&error, format!("Check the space and rights of `{}`.", folder.display())))
    })?;
    let domains: DomainsFile = parse("domains.toml", DomainsFile::parse)?;
    let cancel = CancelSource::default();
    let _interrupts = cancel_on_interrupt(&cancel)?;
    for domain in &domains.domains {
        let args = Ingest {
            domain: domain.name.clone(),
            title: Some(domain.title.clone()),
            prompt_prefix: Some(domain.prompt_prefix.clone()),
            remove_missing: false,
            paths: vec![folder.join(&domain.folder)],
        };
        let report = ingest::ingest(start, &args, &cancel, output)?;
        output.note(&format!(
            "{}: {} documents, {} of them new or changed",
            domain.name,
            report.documents,
            report.added + report.updated
        ));
    }
    let first = domains.domains.into_iter().next().map(|domain| domain.name);
    first.ok_or_else(|| Failure::failed(damaged("domains.toml names no domain")))
}

fn write_bundle(bundle: &Dir<'_>, folder: &Path) -> io::Result<()> {
    for entry in bundle.entries() {
        let path = folder.join(entry.path());
        match entry {
            include_dir::DirEntry::Dir(inner) => {
                fs::create_dir_all(&path)?;
                write_bundle(inner, folder)?;
            }
            include_dir::DirEntry::File(file) => {
                fs::create_dir_all(folder)?;
                if fs::read(&path).is_ok_and(|there| there == file.contents()) {
                    continue;
                }
                fs::write(&path, file.contents())?;
            }
        }
    }
    Ok(())
}

fn parse<T>(name: &str, read: impl Fn(&str, &Path) -> Result<T, EvalError>) -> Result<T, Failure> {
    let text = BUNDLE.get_file(name).and_then(|file| file.contents_utf8());
    let text = text.ok_or_else(|| Failure::failed(damaged(&format!("{name} is missing"))))?;
    read(text, Path::new(name)).map_err(|error| Failure::failed(damaged(&Problem::of(&error, "").what)))
}

fn damaged(what: &str) -> Problem {
    Problem { what: format!("the bundled demo is damaged: {what}"), next: "Build the program again.".to_owned() }
}

/// Three turns of the first conversation in `questions.toml`, the last one explained.
fn scripted(start: &CommandContext, output: &mut Output) -> Result<Exit, Failure> {
    let questions: QuestionFile = parse("questions.toml", QuestionFile::parse)?;
    let Some(conversation) = questions.conversations.first() else {
        return Err(Failure::failed(damaged("questions.toml has no conversation")));
    };
    let mut session = Headless::start(start.setup(), start.headless_settings())?;
    ask::open_domain(&mut session, &conversation.domain, output)?;
    let result = turns(&mut session, conversation, output);
    session.finish();
    result
}

fn turns(session: &mut Headless, conversation: &QuestionConversation, output: &mut Output) -> Result<Exit, Failure> {
    for (number, turn) in (1..=SCRIPTED_TURNS).zip(&conversation.turns) {
        ask::ask(session, &turn.question, output)?;
        let wanted = if number == SCRIPTED_TURNS { Wanted::Explanation } else { Wanted::Answer };
        if wanted == Wanted::Explanation && session.verdict(Wanted::Answer).is_ok() {
            ask::explain(session, session.app.method(), output)?;
        }
        if let Some(asked) = session.app.turns().last() {
            output.text(&format!("Turn {number}\n{}\n", report::turn(&asked.record)))?;
        }
        session.verdict(wanted)?;
    }
    Ok(Exit::Done)
}
