//! Generates and streams an answer.
//!
//! Takes a completed question and its hits, gives an [`Answer`].
//! Invariants: without hits the model is not called; streamed text is clean; valid citations were in the prompt.
//! Not here: leaving out sources (`attribution`).

use serde::{Deserialize, Serialize};

use super::abstention::out_of_scope_language;
use super::citation::{self, Citations};
use super::citation_repair::repair_citations;
use super::rewrite_guard::is_names_alone;
use super::stream::CleanStream;
use super::{Answer, AnswerError};
use crate::prompt::{AnswerPrompt, Cut, HistoryTurn, Prompt, PromptSettings, about, out_of_scope};
use crate::retrieval::Hit;
use ragonite_base::{CancelToken, Language, Millis, clean_text};
use ragonite_inference::{Completion, Finish, Generate, GenerateEvent, GenerateRequest, Sampling};

/// Settings of answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnswerSettings {
    /// How tokens are sampled.
    pub sampling: Sampling,
    /// Limits of the prompts.
    pub prompt: PromptSettings,
}

/// The input of an answer.
#[derive(Debug, Clone, Copy)]
pub struct AnswerInput<'a> {
    /// The domain's prompt prefix; empty for the default.
    pub prefix: &'a str,
    /// Language of the answer.
    pub language: Language,
    /// Earlier turns, oldest first.
    pub past: &'a [HistoryTurn],
    /// The completed question.
    pub question: &'a str,
    /// The hits, best first.
    pub hits: &'a [Hit],
    /// Settings of the answer.
    pub settings: &'a AnswerSettings,
}

/// Progress of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerEvent {
    /// The prompt is ready, prefill begins.
    PromptBuilt {
        /// Tokens of the prompt.
        tokens: usize,
        /// Sources in the prompt.
        sources: usize,
        /// Evidences that did not fit.
        cut: Vec<Cut>,
    },
    /// Progress of the prefill.
    PromptRead {
        /// Tokens so far, with those from the cache.
        done: usize,
        /// Tokens of the prompt.
        total: usize,
    },
    /// Further clean text of the answer, with citations as the model writes them.
    Text(String),
}

impl AnswerInput<'_> {
    /// The prompt for this input.
    ///
    /// # Errors
    /// As [`AnswerPrompt::build`].
    pub fn prompt(&self, generator: &dyn Generate) -> Result<Prompt, AnswerError> {
        let Self { prefix, language, past, question, hits, settings } = *self;
        // A bare identifier is no question to small models, and they abstain.
        let names = is_names_alone(question).then(|| about(question, language));
        let question = names.as_deref().unwrap_or(question);
        Ok(AnswerPrompt { prefix, language, past, question, hits, settings: &settings.prompt }.build(generator)?)
    }
}

/// The request for `prompt`, equal for answers and counterfactual answers.
pub fn answer_request(prompt: &Prompt, settings: &AnswerSettings) -> GenerateRequest {
    GenerateRequest {
        parts: prompt.parts(),
        sampling: settings.sampling,
        stop: prompt.stop.clone(),
        max_tokens: settings.prompt.answer_tokens,
        draft: Vec::new(),
    }
}

/// Answers a question from its hits.
///
/// # Errors
/// When the prompt cannot be built, the model fails, or with [`AnswerError::Canceled`].
pub fn generate_answer(
    generator: &mut dyn Generate,
    input: &AnswerInput<'_>,
    cancel: &CancelToken,
    on_event: &mut dyn FnMut(AnswerEvent),
) -> Result<Answer, AnswerError> {
    cancel.check()?;
    if input.hits.is_empty() {
        return Ok(nothing_found(input, Prompt::default(), on_event));
    }
    let prompt = input.prompt(generator)?;
    let sources = prompt.sources();
    if sources.is_empty() {
        return Ok(nothing_found(input, prompt, on_event));
    }
    on_event(AnswerEvent::PromptBuilt { tokens: prompt.tokens(), sources: sources.len(), cut: prompt.cut.clone() });
    let mut shown = Shown::of(&prompt);
    let request = answer_request(&prompt, input.settings);
    let completion = written(generator, &request, &mut shown, cancel, on_event)?;
    if !shown.only_cites() {
        shown.give_rest(on_event);
        let answer = finished(input, prompt, completion);
        return Ok(repair_citations(generator, answer, input.question, cancel, on_event));
    }
    // The answer has citations only, so the model continues a given beginning.
    let prompt = prompt.with_prefill(generator, input.language)?;
    let mut shown = Shown::of(&prompt);
    let request = answer_request(&prompt, input.settings);
    let again = written(generator, &request, &mut shown, cancel, on_event)?;
    shown.give_rest(on_event);
    let (first_token_ms, total_ms) = (completion.total_ms + again.first_token_ms, completion.total_ms + again.total_ms);
    let answer = finished(input, prompt, Completion { first_token_ms, total_ms, ..again });
    Ok(repair_citations(generator, answer, input.question, cancel, on_event))
}

fn written(
    generator: &mut dyn Generate,
    request: &GenerateRequest,
    shown: &mut Shown,
    cancel: &CancelToken,
    on_event: &mut dyn FnMut(AnswerEvent),
) -> Result<Completion, AnswerError> {
    Ok(generator.generate(request, cancel, &mut |event| match event {
        GenerateEvent::PromptRead { done, total } => on_event(AnswerEvent::PromptRead { done, total }),
        GenerateEvent::Text(text) => shown.push(text, on_event),
    })?)
}

/// Text of the answer while it is streamed. It is held back as long as it has citations only.
#[derive(Default)]
struct Shown {
    stream: CleanStream,
    sources: Vec<usize>,
    held: String,
    begun: bool,
}

impl Shown {
    /// For an answer to `prompt`; begins with its prefill.
    fn of(prompt: &Prompt) -> Self {
        Self { sources: prompt.sources(), held: prompt.prefill().to_owned(), ..Self::default() }
    }

    fn push(&mut self, text: &str, on_event: &mut dyn FnMut(AnswerEvent)) {
        let text = self.stream.push(text);
        self.held.push_str(&text);
        if self.begun || self.says_something() {
            self.give(on_event);
        }
    }

    /// Whether the held text has a word that cannot be part of a citation.
    fn says_something(&self) -> bool {
        let open = self.held.rfind(['[', '(']).filter(|at| !self.held[*at..].contains([']', ')']));
        let decided = &self.held[..open.unwrap_or(self.held.len())];
        citation::read(decided, &self.sources).without_marks().contains(char::is_alphanumeric)
    }

    fn only_cites(&self) -> bool {
        !self.begun && !self.says_something() && !citation::read(&self.held, &self.sources).marks.is_empty()
    }

    fn give(&mut self, on_event: &mut dyn FnMut(AnswerEvent)) {
        let text = std::mem::take(&mut self.held);
        if !text.is_empty() {
            self.begun = true;
            on_event(AnswerEvent::Text(text));
        }
    }

    fn give_rest(mut self, on_event: &mut dyn FnMut(AnswerEvent)) {
        let rest = std::mem::take(&mut self.stream).finish();
        self.held.push_str(&rest);
        self.give(on_event);
    }
}

/// An answer as it is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadAnswer {
    /// The text with its citations in one form.
    pub citations: Citations,
    /// False for an abstention.
    pub answered: bool,
}

/// Reads the model's output for `prompt`, or for the same prompt without some sources.
pub fn read_answer(completion: &Completion, prompt: &Prompt) -> ReadAnswer {
    let output = match completion.finish {
        // A citation in which the answer was cut stays open.
        Finish::Length => citation::without_unclosed(&completion.text),
        Finish::End | Finish::Stop => &completion.text,
    };
    let output = clean_text(output);
    let output = output.trim();
    let sources = prompt.sources();
    let citations = citation::read(output, &sources);
    match out_of_scope_language(&citations) {
        Some(language) => {
            let text = out_of_scope(language).to_owned();
            ReadAnswer { citations: Citations { text, ..Citations::default() }, answered: false }
        }
        None if prompt.prefill().is_empty() || output.is_empty() => ReadAnswer { citations, answered: true },
        None => {
            let citations = citation::read(&format!("{} {output}", prompt.prefill()), &sources);
            ReadAnswer { citations, answered: true }
        }
    }
}

fn finished(input: &AnswerInput<'_>, prompt: Prompt, completion: Completion) -> Answer {
    let ReadAnswer { citations, answered } = read_answer(&completion, &prompt);
    let answered = answered && !citations.text.is_empty();
    // Empty output is an abstention.
    let text = if citations.text.is_empty() { out_of_scope(input.language).to_owned() } else { citations.text };
    Answer {
        text,
        answered,
        citations: citations.valid,
        invalid_citations: citations.invalid,
        language: input.language,
        prompt,
        sampling: input.settings.sampling,
        named: None,
        withheld: None,
        completion,
    }
}

/// The abstention where no document fits the question: no prompt is built, and no model is asked.
pub fn out_of_scope_answer(input: &AnswerInput<'_>, on_event: &mut dyn FnMut(AnswerEvent)) -> Answer {
    nothing_found(input, Prompt::default(), on_event)
}

/// The abstention without sources.
fn nothing_found(input: &AnswerInput<'_>, prompt: Prompt, on_event: &mut dyn FnMut(AnswerEvent)) -> Answer {
    let text = out_of_scope(input.language).to_owned();
    on_event(AnswerEvent::Text(text.clone()));
    Answer {
        text,
        answered: false,
        citations: Vec::new(),
        invalid_citations: Vec::new(),
        language: input.language,
        prompt,
        sampling: input.settings.sampling,
        named: None,
        withheld: None,
        completion: Completion {
            text: String::new(),
            tokens: Vec::new(),
            prompt_tokens: 0,
            reused_tokens: 0,
            drafted_tokens: 0,
            narrowest: None,
            log_probabilities: Vec::new(),
            draft_log_probabilities: Vec::new(),
            finish: Finish::End,
            first_token_ms: Millis::default(),
            total_ms: Millis::default(),
        },
    }
}
