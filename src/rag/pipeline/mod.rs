//! One turn from the typed question to the answer: rewrite, translate, retrieve, generate.
//!
//! Takes a [`TurnRequest`] and [`TurnEngines`], gives a [`TurnTrace`]. The screen, `ask`, `demo` and `eval` run their
//! turns here.
//! Invariants: the stages run in order on the calling thread; an engine is asked for only when its stage needs it; no
//! stage begins after a cancellation; where no document fits, the generator answers only if the settings say so.
//! Not here: loading models and domains (the implementations of [`TurnEngines`]), storing turns (`history`).

mod settings;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::time::Instant;

use time::Date;

use crate::answer::{
    Abstain, Answer, AnswerError, AnswerEvent, AnswerInput, LanguagePair, Rewrite, RewriteInput, TranslateInput,
    Translation, TranslationHow, answer_language, edited_question, first_question, generate_answer,
    out_of_scope_answer, question_again, rewrite, translate, translation_wanted,
};
use crate::prompt::HistoryTurn;
use crate::retrieval::{EarlierQuestion, RetrievalError, Retrieved, SearchInput};
use ragonite_base::{CancelToken, Canceled, Language};
use ragonite_inference::Generate;

pub use settings::{AnswerWithoutMatch, TurnSettings};

/// How the text of a question is treated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wording {
    /// A question that may need completing.
    Typed,
    /// A completed question edited by the user; searched as it is.
    Edited,
    /// A question that was completed before; the completed question is searched as it is.
    Again {
        /// The completed question.
        completed: String,
    },
}

/// A question in its conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnRequest {
    /// The question as typed: the answer has its language.
    pub question: String,
    /// How it is treated.
    pub wording: Wording,
    /// Earlier turns in the prompts, oldest first.
    pub past: Vec<HistoryTurn>,
    /// Earlier turns in the search, oldest first.
    pub earlier: Vec<EarlierQuestion>,
    /// The day of the question; without it "yesterday" means an earlier version.
    pub today: Option<Date>,
    /// Settings of the turn.
    pub settings: TurnSettings,
}

/// What the prompts need to know of a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainFacts {
    /// The prompt prefix; empty for the default.
    pub prefix: String,
    /// The language of most of its evidences.
    pub language: Language,
}

/// The domain and the models of a turn.
pub trait TurnEngines {
    /// Why an engine or a stage failed.
    type Error: From<AnswerError> + From<RetrievalError> + From<Canceled>;

    /// Facts about the domain.
    ///
    /// # Errors
    /// When the domain cannot be read.
    fn domain(&mut self, cancel: &CancelToken) -> Result<DomainFacts, Self::Error>;

    /// The generator that `settings` name; the first call may load it.
    ///
    /// # Errors
    /// When the model cannot be loaded.
    fn generator(&mut self, settings: &TurnSettings, cancel: &CancelToken) -> Result<&mut dyn Generate, Self::Error>;

    /// Searches the domain.
    ///
    /// # Errors
    /// When an encoder cannot be loaded or the search fails.
    fn search(
        &mut self,
        input: &SearchInput<'_>,
        settings: &TurnSettings,
        cancel: &CancelToken,
    ) -> Result<Retrieved, Self::Error>;

    /// The translations of earlier turns.
    fn translations(&mut self) -> &mut TranslationCache;
}

/// Translations by model, language and question.
#[derive(Debug, Default)]
pub struct TranslationCache(HashMap<TranslationKey, String>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct TranslationKey {
    model: String,
    to: Language,
    question: String,
}

/// Progress of a turn: the result of each stage, and the progress of the answer.
#[derive(Debug)]
pub enum TurnProgress<'a> {
    /// The question was translated. Comes before `Completed`.
    Translated(&'a Translation),
    /// The question is complete, and the search begins.
    Completed(&'a Rewrite),
    /// The search is over, and the answer begins.
    Retrieved(&'a Retrieved),
    /// Progress of the answer.
    Answering(AnswerEvent),
}

/// A question with its search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchedTurn {
    /// What the prompts need to know of the domain.
    pub domain: DomainFacts,
    /// The completed question.
    pub rewrite: Rewrite,
    /// The translation; none where the documents have the language of the question.
    pub translation: Option<Translation>,
    /// The search.
    pub retrieved: Retrieved,
}

/// A turn with the result of each stage.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnTrace {
    /// The completed question and its search.
    pub searched: SearchedTurn,
    /// The answer.
    pub answer: Answer,
}

/// Runs a turn.
///
/// # Errors
/// When an engine or a stage fails, or at a cancellation.
pub fn answer_turn<E: TurnEngines>(
    engines: &mut E,
    request: &TurnRequest,
    on_progress: &mut dyn FnMut(TurnProgress<'_>),
    cancel: &CancelToken,
) -> Result<TurnTrace, E::Error> {
    let searched = search_turn(engines, request, on_progress, cancel)?;
    let answer = answer_searched(engines, request, &searched, on_progress, cancel)?;
    Ok(TurnTrace { searched, answer })
}

/// The first half of [`answer_turn`]: completes, translates and searches.
///
/// # Errors
/// As [`answer_turn`].
pub fn search_turn<E: TurnEngines>(
    engines: &mut E,
    request: &TurnRequest,
    on_progress: &mut dyn FnMut(TurnProgress<'_>),
    cancel: &CancelToken,
) -> Result<SearchedTurn, E::Error> {
    cancel.check()?;
    let domain = engines.domain(cancel)?;
    let rewrite = complete(engines, request, &domain, cancel)?;
    let translation = translation(engines, &rewrite.completed, &request.settings, domain.language, cancel)?;
    if let Some(translation) = &translation {
        on_progress(TurnProgress::Translated(translation));
    }
    on_progress(TurnProgress::Completed(&rewrite));
    cancel.check()?;
    let input = SearchInput {
        question: &request.question,
        completed: Some(&rewrite.completed),
        translated: translation.as_ref().and_then(|translation| translation.text.as_deref()),
        earlier: &request.earlier,
        today: request.today,
    };
    let retrieved = engines.search(&input, &request.settings, cancel)?;
    on_progress(TurnProgress::Retrieved(&retrieved));
    Ok(SearchedTurn { domain, rewrite, translation, retrieved })
}

/// The second half of [`answer_turn`]: answers from the hits, or without the generator where no document fits.
///
/// # Errors
/// As [`answer_turn`].
pub fn answer_searched<E: TurnEngines>(
    engines: &mut E,
    request: &TurnRequest,
    searched: &SearchedTurn,
    on_progress: &mut dyn FnMut(TurnProgress<'_>),
    cancel: &CancelToken,
) -> Result<Answer, E::Error> {
    cancel.check()?;
    let SearchedTurn { domain, rewrite, retrieved, .. } = searched;
    let settings = request.settings.answering();
    let completed = &rewrite.completed;
    let input = AnswerInput {
        prefix: &domain.prefix,
        language: answer_language(&request.question, completed, domain.language, settings.prompt.language),
        past: &request.past,
        question: completed,
        hits: &retrieved.for_prompt(request.settings.sources),
        settings: &settings,
    };
    let mut on_event = |event| on_progress(TurnProgress::Answering(event));
    if retrieved.no_match().is_some() && request.settings.answer_without_match == AnswerWithoutMatch::Off {
        return Ok(out_of_scope_answer(&input, &mut on_event));
    }
    let generator = engines.generator(&request.settings, cancel)?;
    let abstain = request.settings.abstain;
    if abstain == Abstain::Model {
        return Ok(generate_answer(generator, &input, cancel, &mut on_event)?);
    }
    // An answer that may be withheld is not shown while it is written.
    let mut without_text = |event| {
        if !matches!(event, AnswerEvent::Text(_)) {
            on_event(event);
        }
    };
    let answer = abstain.decide(generate_answer(generator, &input, cancel, &mut without_text)?);
    on_event(AnswerEvent::Text(answer.text.clone()));
    Ok(answer)
}

fn complete<E: TurnEngines>(
    engines: &mut E,
    request: &TurnRequest,
    domain: &DomainFacts,
    cancel: &CancelToken,
) -> Result<Rewrite, E::Error> {
    let text = request.question.as_str();
    Ok(match &request.wording {
        Wording::Edited => edited_question(text),
        Wording::Again { completed } => question_again(completed),
        Wording::Typed if request.past.is_empty() => first_question(text),
        Wording::Typed => {
            let input = RewriteInput {
                prefix: &domain.prefix,
                language: Language::of(text),
                past: &request.past,
                question: text,
                settings: &request.settings.prompt,
            };
            rewrite(engines.generator(&request.settings, cancel)?, &input, cancel)?
        }
    })
}

/// The question in the language of the documents; none where it has that language or translation is off.
fn translation<E: TurnEngines>(
    engines: &mut E,
    question: &str,
    settings: &TurnSettings,
    documents: Language,
    cancel: &CancelToken,
) -> Result<Option<Translation>, E::Error> {
    let Some(LanguagePair { from, to }) = translation_wanted(question, documents, settings.retrieval.translate) else {
        return Ok(None);
    };
    let started = Instant::now();
    let key = TranslationKey { model: settings.model.to_string(), to, question: question.to_owned() };
    if let Some(text) = engines.translations().0.get(&key).cloned() {
        let how = TranslationHow::Known;
        let total_ms = started.elapsed().into();
        return Ok(Some(Translation { text: Some(text), from, to, how, prompt: None, completion: None, total_ms }));
    }
    let input = TranslateInput { question, from, to, max_tokens: settings.prompt.rewrite_tokens };
    let translation = translate(engines.generator(settings, cancel)?, &input, cancel)?;
    if let Some(text) = &translation.text {
        engines.translations().0.insert(key, text.clone());
    }
    Ok(Some(translation))
}
