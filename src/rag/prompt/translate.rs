//! The prompt of a translation.
//!
//! It has no word of the domain or the conversation, so a question always gets the same translation, which can be
//! reused.
//! Not here: checking the output (`answer`).

use super::build::Frame;
use super::{Prompt, PromptError, wording};
use ragonite_base::Language;
use ragonite_inference::Generate;

/// The input of a translation.
#[derive(Debug, Clone, Copy)]
pub struct TranslatePrompt<'a> {
    /// The question.
    pub question: &'a str,
    /// The target language.
    pub to: Language,
    /// Tokens kept free for the translation.
    pub max_tokens: usize,
}

impl TranslatePrompt<'_> {
    /// The prompt; the generator's tokenizer counts.
    ///
    /// # Errors
    /// [`PromptError::NoRoom`] if instructions and question alone fill the context.
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
