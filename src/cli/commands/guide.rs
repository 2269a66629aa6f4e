//! `ragonite guide`: the pages that are compiled into the program.
//!
//! On a terminal a page is shown by `$PAGER`, else by `less`, else printed.

use std::io::{IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

use super::exit::{Exit, Failure};
use super::output::{Form, Output};
use ragonite_app::Problem;
use ragonite_guide::{Page, nearest_topic, page, pages, topics_with};
use serde::Serialize;

/// Most pages that are named for a word.
const MAX_FOUND: usize = 4;

#[derive(Serialize)]
struct PageJson {
    topic: &'static str,
    title: &'static str,
    text: &'static str,
}

impl From<Page> for PageJson {
    fn from(page: Page) -> Self {
        Self { topic: page.topic, title: page.title, text: page.text }
    }
}

/// Prints the page about `topic`; without a topic the list of pages.
pub(super) fn run(topic: Option<&str>, output: &mut Output) -> Result<Exit, Failure> {
    let Some(topic) = topic else {
        match output.form() {
            Form::Json => output.json(&pages().into_iter().map(PageJson::from).collect::<Vec<_>>())?,
            Form::Text => output.text(&contents())?,
        }
        return Ok(Exit::Done);
    };
    let page = page(topic).ok_or_else(|| unknown(topic))?;
    match output.form() {
        Form::Json => output.json(&PageJson::from(page))?,
        Form::Text if std::io::stdout().is_terminal() && was_paged(&page.readable()) => {}
        Form::Text => output.text(&page.readable())?,
    }
    Ok(Exit::Done)
}

fn contents() -> String {
    let pages = pages();
    let width = pages.iter().map(|page| page.topic.len()).max().unwrap_or_default();
    let lines = pages.iter().map(|page| format!("  {:<width$}  {}\n", page.topic, page.title));
    format!("`ragonite guide TOPIC` prints a page. The topics:\n\n{}", lines.collect::<String>())
}

fn unknown(topic: &str) -> Failure {
    let next = match nearest_topic(topic) {
        Some(nearest) => format!("Did you mean `ragonite guide {nearest}`? `ragonite guide` lists all pages."),
        None => match topics_with(topic).as_slice() {
            [] => "`ragonite guide` lists all pages.".to_owned(),
            found => {
                let shown: Vec<String> = found.iter().take(MAX_FOUND).map(|topic| format!("`{topic}`")).collect();
                format!("These pages have the word: {}. `ragonite guide PAGE` prints one.", shown.join(", "))
            }
        },
    };
    Failure::usage(Problem { what: format!("the guide has no page `{}`", ragonite_base::clean_line(topic)), next })
}

/// Shows a text with the pager; false where none could be started.
fn was_paged(text: &str) -> bool {
    let configured = ragonite_config::pager();
    let commands = configured.as_deref().into_iter().chain(["less"]);
    commands.into_iter().any(|command| {
        let mut words = command.split_whitespace();
        let Some(program) = words.next() else { return false };
        let Ok(mut pager) = Command::new(program).args(words).stdin(Stdio::piped()).spawn() else { return false };
        if let Some(mut input) = pager.stdin.take() {
            // Leaving the pager early closes the pipe.
            let _left = input.write_all(text.as_bytes());
        }
        pager.wait().is_ok()
    })
}
