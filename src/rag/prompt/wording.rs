//! The texts of `assets/prompts`, compiled in and rendered with minijinja.
//!
//! Invariant: a rendered text has no white space at its ends, so that segments join the same way everywhere.
//! Not here: the model's own chat template (`chat`).

use minijinja::{UndefinedBehavior, Value, context};

use super::chat::block_environment;
use super::{HistoryTurn, PromptError};
use ragonite_base::Language;

/// Role of the model if the domain has no prefix.
const DEFAULT_PREFIX: &str = "You are a helpful assistant.";

/// The sentence of an abstention; the English one is fixed by the paper.
pub fn out_of_scope(language: Language) -> &'static str {
    match language {
        Language::English => "The desired information cannot be found in the retrieved pool of evidence.",
        Language::German => "Die gewünschte Information ist in den gefundenen Belegen nicht enthalten.",
    }
}

/// The question for a bare identifier.
pub fn about(names: &str, language: Language) -> String {
    let names = names.trim().trim_end_matches('?');
    match language {
        Language::English => format!("What do the sources say about {names}?"),
        Language::German => format!("Was sagen die Belege über {names}?"),
    }
}

/// The beginning of an answer that cannot go on with a citation.
pub(super) fn answer_beginning(language: Language) -> &'static str {
    match language {
        Language::English => "According to the sources,",
        Language::German => "Laut den Quellen",
    }
}

/// A file of `assets/prompts`.
struct Wording {
    name: &'static str,
    source: &'static str,
}

macro_rules! wording {
    ($name:literal) => {
        Wording { name: $name, source: include_str!(concat!("../../../assets/prompts/", $name)) }
    };
}

/// Instructions and question of a task in one language.
pub(super) struct Task {
    system: Wording,
    question: Wording,
    history: Wording,
}

impl Task {
    pub(super) fn answer(language: Language) -> Self {
        match language {
            Language::English => Self {
                system: wording!("answer.system.en.jinja"),
                question: wording!("answer.question.en.jinja"),
                history: wording!("history.en.jinja"),
            },
            Language::German => Self {
                system: wording!("answer.system.de.jinja"),
                question: wording!("answer.question.de.jinja"),
                history: wording!("history.de.jinja"),
            },
        }
    }

    /// English instructions for every language: small models complete German questions better with them.
    pub(super) fn rewrite() -> Self {
        Self {
            system: wording!("rewrite.system.jinja"),
            question: wording!("rewrite.question.jinja"),
            history: wording!("history.en.jinja"),
        }
    }

    /// Domain prefix and instructions.
    pub(super) fn system(&self, prefix: &str, language: Language) -> Result<String, PromptError> {
        let prefix = prefix.trim();
        let prefix = if prefix.is_empty() { DEFAULT_PREFIX } else { prefix };
        render(&self.system, context! { prefix, out_of_scope => out_of_scope(language) })
    }

    /// The question with the instructions after it.
    pub(super) fn question(&self, question: &str, language: Language) -> Result<String, PromptError> {
        render(&self.question, context! { question => question.trim(), out_of_scope => out_of_scope(language) })
    }

    /// The earlier turns, oldest first, with a blank line after them; empty without turns.
    pub(super) fn history(&self, turns: &[HistoryTurn]) -> Result<String, PromptError> {
        if turns.is_empty() {
            return Ok(String::new());
        }
        let turns: Vec<Value> = turns
            .iter()
            .map(|turn| {
                let asked = if turn.completed_question.is_empty() { &turn.question } else { &turn.completed_question };
                context! { question => asked.trim(), answer => without_marks(&turn.answer) }
            })
            .collect();
        Ok(render(&self.history, context! { turns })? + "\n\n")
    }
}

/// Instructions of a translation.
pub(super) fn translate_system(to: Language) -> Result<String, PromptError> {
    let wording = match to {
        Language::English => wording!("translate.system.en.jinja"),
        Language::German => wording!("translate.system.de.jinja"),
    };
    render(&wording, context! {})
}

/// Question of a translation.
pub(super) fn translate_question(question: &str, to: Language) -> Result<String, PromptError> {
    let wording = match to {
        Language::English => wording!("translate.question.en.jinja"),
        Language::German => wording!("translate.question.de.jinja"),
    };
    render(&wording, context! { question => question.trim() })
}

/// The task of suggesting questions.
pub(super) fn suggest(question: &str, answer: &str, language: Language) -> Result<String, PromptError> {
    let wording = match language {
        Language::English => wording!("suggest.en.jinja"),
        Language::German => wording!("suggest.de.jinja"),
    };
    render(&wording, context! { question => question.trim(), answer => answer.trim() })
}

/// Instructions of a judge.
pub(super) fn judge_system() -> Result<String, PromptError> {
    render(&wording!("judge.system.jinja"), context! {})
}

/// Question of a judge.
pub(super) fn judge_question(question: &str, right: &str, answer: &str) -> Result<String, PromptError> {
    let values = context! { question => question.trim(), right => right.trim(), answer => answer.trim() };
    render(&wording!("judge.question.jinja"), values)
}

/// An evidence as a numbered source, with a blank line after it. `mark` labels its version.
pub(super) fn source(rank: usize, mark: &str, text: &str) -> Result<String, PromptError> {
    Ok(render(&wording!("source.jinja"), context! { rank, mark, text => text.trim() })? + "\n\n")
}

/// A shared context with its source numbers and a blank line after it.
pub(super) fn around(ranks: &[usize], text: &str) -> Result<String, PromptError> {
    Ok(render(&wording!("around.jinja"), context! { ranks => ranks.to_vec(), text => text.trim() })? + "\n\n")
}

fn render(wording: &Wording, values: Value) -> Result<String, PromptError> {
    let rendered = block_environment().and_then(|mut environment| {
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.render_named_str(wording.name, wording.source, values)
    });
    rendered
        .map(|text| text.trim().to_owned())
        .map_err(|source| PromptError::Render { name: wording.name.to_owned(), source: Box::new(source) })
}

/// An earlier answer without `[Source n]`: in this prompt the numbers mean other sources.
fn without_marks(answer: &str) -> String {
    let mut text = String::with_capacity(answer.len());
    let mut rest = answer.trim();
    while let Some(start) = rest.find("[Source ") {
        let Some(end) = rest[start..].find(']') else { break };
        text.push_str(rest[..start].trim_end());
        rest = &rest[start + end + 1..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_answers_lose_the_numbers_of_other_sources() {
        assert_eq!(without_marks("It is blue [Source 1, Source 2]. And red [Source 9?]."), "It is blue. And red.");
        assert_eq!(without_marks("no mark [Source 1"), "no mark [Source 1");
    }

    #[test]
    fn braces_in_documents_are_only_text() {
        assert_eq!(source(3, "", " a {{ b }} {% c %} \n").unwrap(), "Source 3:\na {{ b }} {% c %}\n\n");
    }
}
