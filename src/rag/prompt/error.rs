//! Errors of building a prompt.

use ragonite_inference::InferenceError;

/// Why a prompt could not be built.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// A template cannot be rendered.
    #[error("rendering the template `{name}`")]
    Render {
        /// File name of a template in `assets/prompts`, or `chat template` for the model's own.
        name: String,
        /// The cause.
        #[source]
        source: Box<minijinja::Error>,
    },
    /// The model's own chat template loses, repeats or reorders messages.
    #[error("the chat template of the model `{model}` does not print every message once; use another model file")]
    ChatTemplate {
        /// Id in the catalog.
        model: String,
    },
    /// Instructions and question alone leave no room.
    #[error(
        "instructions, question and room for the answer need {needed} tokens, the context has {context}: \
         ask a shorter question, lower `prompt.answer_tokens` or raise `generation.context_tokens` in the configuration"
    )]
    NoRoom {
        /// Tokens needed without any evidence and history.
        needed: usize,
        /// Tokens of the context.
        context: usize,
    },
    /// Tokens could not be counted.
    #[error("counting the tokens of the prompt")]
    Count(#[from] InferenceError),
}
