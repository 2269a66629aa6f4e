//! Prompt -> answer, streamed.
//!
//! Takes a completed question and its hits, gives an [`Answer`].
//! Invariants: without hits the model is not asked; every piece of text that is given out is clean; the answer's
//! citations were in the prompt.
//! Not here: leaving sources out (`attribution`).

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

/// How answers are generated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnswerSettings {
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// Limits of the prompts.
    pub prompt: PromptSettings,
}

/// What an answer is made from.
#[derive(Debug, Clone, Copy)]
pub struct AnswerInput<'a> {
    /// The domain's prompt prefix; empty for the default.
    pub prefix: &'a str,
    /// Language of the answer: that of the question as typed.
    pub language: Language,
    /// Earlier turns, oldest first.
    pub past: &'a [HistoryTurn],
    /// The completed question.
    pub question: &'a str,
    /// The hits, best first.
    pub hits: &'a [Hit],
    /// How it is generated.
    pub settings: &'a AnswerSettings,
}

/// Progress of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerEvent {
    /// The prompt is ready and reading starts.
    PromptBuilt {
        /// Its length.
        tokens: usize,
        /// Sources in it.
        sources: usize,
        /// Evidences that did not fit.
        cut: Vec<Cut>,
    },
    /// So many tokens of the prompt have been read.
    PromptRead {
        /// Read so far, reused ones included.
        done: usize,
        /// All of the prompt.
        total: usize,
    },
    /// The answer goes on with this clean text, marks as the model writes them.
    Text(String),
}

impl AnswerInput<'_> {
    /// The prompt this input gives.
    ///
    /// # Errors
    /// As [`AnswerPrompt::build`].
    pub fn prompt(&self, generator: &dyn Generate) -> Result<Prompt, AnswerError> {
        let Self { prefix, language, past, question, hits, settings } = *self;
        // Small models see no question in an identifier alone, and say that its answer is not there.
        let names = is_names_alone(question).then(|| about(question, language));
        let question = names.as_deref().unwrap_or(question);
        Ok(AnswerPrompt { prefix, language, past, question, hits, settings: &settings.prompt }.build(generator)?)
    }
}

/// What the generator is asked for `prompt`; the same for an answer and for its counterfactuals.
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
        return Ok(repair_citations(generator, (answer, input.question), cancel, on_event));
    }
    // Nothing but citations: the model writes on from a beginning that has none.
    let prompt = prompt.with_prefill(generator, input.language)?;
    let mut shown = Shown::of(&prompt);
    let request = answer_request(&prompt, input.settings);
    let again = written(generator, &request, &mut shown, cancel, on_event)?;
    shown.give_rest(on_event);
    let (first_token_ms, total_ms) = (completion.total_ms + again.first_token_ms, completion.total_ms + again.total_ms);
    let answer = finished(input, prompt, Completion { first_token_ms, total_ms, ..again });
    Ok(repair_citations(generator, (answer, input.question), cancel, on_event))
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

/// The text that is given out while it is written. It is held back as long as it has citations alone.
#[derive(Default)]
struct Shown {
    stream: CleanStream,
    sources: Vec<usize>,
    held: String,
    begun: bool,
}

impl Shown {
    /// Of an answer to `prompt`, with the beginning that it gives.
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

    /// Whether what is held back has a word that can be no part of a citation any more.
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

/// Reads what the model said to `prompt`, or to the same prompt with other sources; also for counterfactual answers.
pub fn read_answer(completion: &Completion, prompt: &Prompt) -> (Citations, bool) {
    let said = match completion.finish {
        // Nobody closes a citation in which an answer was cut.
        Finish::Length => citation::without_unclosed(&completion.text),
        Finish::End | Finish::Stop => &completion.text,
    };
    let said = clean_text(said);
    let said = said.trim();
    let sources = prompt.sources();
    let citations = citation::read(said, &sources);
    match out_of_scope_language(&citations) {
        Some(language) => {
            let text = out_of_scope(language).to_owned();
            (Citations { text, ..Citations::default() }, false)
        }
        None if prompt.prefill().is_empty() || said.is_empty() => (citations, true),
        None => (citation::read(&format!("{} {said}", prompt.prefill()), &sources), true),
    }
}

fn finished(input: &AnswerInput<'_>, prompt: Prompt, completion: Completion) -> Answer {
    let (citations, said_something) = read_answer(&completion, &prompt);
    let answered = said_something && !citations.text.is_empty();
    // A model that says nothing has found nothing.
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
        completion,
    }
}

/// The answer where there is no source to answer from.
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
