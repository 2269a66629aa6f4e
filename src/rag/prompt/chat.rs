//! The model's own chat template, rendered with minijinja and split into template text and slots for contents.
//!
//! Takes the Jinja source of the GGUF, gives [`ChatPiece`]s. Contents never pass through the template: it is rendered
//! with markers in their place, so that only template text may hold special tokens.
//! Invariants: every slot comes exactly once and in order; exactly one begin-of-sequence token, at the front, where the
//! model has one; the date is fixed, so that a stored prompt can be rebuilt to the letter.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind, context};

use super::PromptError;
use ragonite_inference::GeneratorIdentity;

/// Used where the weights bring no template.
const PLAIN_TEMPLATE: &str = include_str!("../../../assets/prompts/chat.plain.jinja");

/// The date every template is told: the one Llama 3.1's own template prints when it is told none.
const FIXED_DATE: &str = "26 Jul 2024";

/// Private-use characters: no template trims or matches them, and no chat text holds them in this order.
const MARK_START: char = '\u{e0b0}';
const MARK_END: char = '\u{e0b1}';

/// A piece of a rendered chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChatPiece {
    /// Text of the template, special tokens included.
    Template(String),
    /// Here the system message goes.
    System,
    /// Here the user's message goes.
    User,
}

/// The chat of one system and one user message, ready for the answer.
pub(super) fn render(identity: &GeneratorIdentity) -> Result<Vec<ChatPiece>, PromptError> {
    let (system, user) = (mark('s'), mark('u'));
    let apart = vec![
        context! { role => "system", content => system.as_str() },
        context! { role => "user", content => user.as_str() },
    ];
    if let Ok(Some(pieces)) = render_messages(identity, apart).map(|text| split(&text)) {
        return Ok(pieces);
    }
    // A template that knows no system role refuses it or leaves it out; the user then says both.
    let together = vec![context! { role => "user", content => format!("{system}\n\n{user}") }];
    split(&render_messages(identity, together)?)
        .ok_or_else(|| PromptError::ChatTemplate { model: identity.model.clone() })
}

fn mark(slot: char) -> String {
    [MARK_START, slot, MARK_END].iter().collect()
}

fn render_messages(identity: &GeneratorIdentity, messages: Vec<Value>) -> Result<String, PromptError> {
    let template = &identity.chat_template;
    let source = if template.source.trim().is_empty() { PLAIN_TEMPLATE } else { &template.source };
    let values = context! {
        messages,
        bos_token => template.bos.as_str(),
        eos_token => template.eos.as_str(),
        add_generation_prompt => true,
    };
    let rendered = environment()
        .and_then(|environment| environment.render_str(source, values))
        .map_err(|source| PromptError::Render { name: "chat template".to_owned(), source: Box::new(source) })?;
    Ok(with_one_bos(&rendered, &template.bos))
}

/// The environment the makers of chat templates write for: Jinja2 as `transformers` sets it up.
fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = block_environment()?;
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function("raise_exception", |message: String| -> Result<String, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_function("strftime_now", |_format: String| FIXED_DATE.to_owned());
    Ok(environment)
}

/// Jinja2 with block tags that leave no white space where they stood.
pub(super) fn block_environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    Ok(environment)
}

fn with_one_bos(rendered: &str, bos: &str) -> String {
    if bos.is_empty() {
        return rendered.to_owned();
    }
    let mut rest = rendered;
    while let Some(after) = rest.strip_prefix(bos) {
        rest = after;
    }
    format!("{bos}{rest}")
}

/// The pieces around the marks; nothing where a mark is missing, repeated or out of order.
fn split(rendered: &str) -> Option<Vec<ChatPiece>> {
    let (before, rest) = rendered.split_once(&mark('s'))?;
    let (between, after) = rest.split_once(&mark('u'))?;
    let texts = [before, between, after];
    if texts.iter().any(|text| text.contains([MARK_START, MARK_END])) {
        return None;
    }
    let [before, between, after] = texts.map(|text| ChatPiece::Template(text.to_owned()));
    let pieces = [before, ChatPiece::System, between, ChatPiece::User, after];
    Some(pieces.into_iter().filter(|piece| *piece != ChatPiece::Template(String::new())).collect())
}
