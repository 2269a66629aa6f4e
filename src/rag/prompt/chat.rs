//! Renders the model's chat template with minijinja and splits it into template text and slots.
//!
//! Takes the Jinja source from the GGUF, gives [`ChatPiece`]s. Contents never pass through the template, which is
//! rendered with markers in their place, so only template text can hold special tokens.
//! Invariants: every slot occurs once and in order; at most one begin-of-sequence token, at the front; the date is
//! fixed, so that a stored prompt can be rebuilt exactly.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind, context};

use super::PromptError;
use ragonite_inference::GeneratorIdentity;

/// Used if the weights have no template.
const PLAIN_TEMPLATE: &str = include_str!("../../../assets/prompts/chat.plain.jinja");

/// The date for every template: the default of Llama 3.1's own template.
const FIXED_DATE: &str = "26 Jul 2024";

/// Private-use characters: no template trims or matches them, and no chat text has them in this order.
const MARK_START: char = '\u{e0b0}';
const MARK_END: char = '\u{e0b1}';

/// A piece of a rendered chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChatPiece {
    /// Text of the template, special tokens included.
    Template(String),
    /// Slot of the system message.
    System,
    /// Slot of the user's message.
    User,
}

/// The chat of a system and a user message, up to the beginning of the answer.
pub(super) fn render(identity: &GeneratorIdentity) -> Result<Vec<ChatPiece>, PromptError> {
    let (system, user) = (mark('s'), mark('u'));
    let apart = vec![
        context! { role => "system", content => system.as_str() },
        context! { role => "user", content => user.as_str() },
    ];
    if let Ok(Some(pieces)) = render_messages(identity, apart).map(|text| split(&text)) {
        return Ok(pieces);
    }
    // A template without a system role rejects or drops it; the user message then has both.
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

/// Jinja2 as `transformers` sets it up for chat templates.
fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = block_environment()?;
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function("raise_exception", |message: String| -> Result<String, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_function("strftime_now", |_format: String| FIXED_DATE.to_owned());
    Ok(environment)
}

/// Jinja2 whose block tags leave no white space.
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

/// The pieces around the markers; none if a marker is missing, repeated or out of order.
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
