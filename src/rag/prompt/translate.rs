//! The prompt that puts a question into another language.
//!
//! It holds no word of the domain or the conversation, so that a question is translated the same way everywhere and what
//! was translated once can be used again.
//! Not here: checking what the model says (`answer`).

use super::build::Frame;
use super::{Prompt, PromptError, wording};
use ragonite_base::Language;
use ragonite_inference::Generate;

/// What is translated.
#[derive(Debug, Clone, Copy)]
pub struct TranslatePrompt<'a> {
    /// The question.
    pub question: &'a str,
    /// The language it is put into.
    pub to: Language,
    /// Tokens kept free for the translation.
    pub max_tokens: usize,
}

impl TranslatePrompt<'_> {
    /// The prompt, counted with the generator's own tokens.
    ///
    /// # Errors
    /// [`PromptError::NoRoom`] where instructions and question alone fill the context.
    pub fn build(&self, generator: &dyn Generate) -> Result<Prompt, PromptError> {
        let system = wording::translate_system(self.to)?;
        let question = wording::translate_question(self.question, self.to)?;
        let frame = Frame::new(generator, &system, &question, self.max_tokens)?;
        Ok(frame.prompt([], vec!["\n".to_owned()], Vec::new()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragonite_inference::ScriptedGenerator;

    #[test]
    fn the_question_is_the_last_thing_said_and_braces_are_only_text() {
        for to in [Language::English, Language::German] {
            let prompt = TranslatePrompt { question: "Wer ist {{ x }}?", to, max_tokens: 64 };
            let built = prompt.build(&ScriptedGenerator::queue([""])).unwrap();
            let text = built.text();
            assert!(text.contains("Wer ist {{ x }}?"), "{text}");
            assert_eq!(built.stop, ["\n"]);
            assert!(built.sources().is_empty());
        }
    }
}
