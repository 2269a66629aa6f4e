//! The prompt that asks for questions to go on with.
//!
//! Takes the prompt of an answer; gives the same one with another task in the place of its question, so that a generator
//! that keeps what it has read reads little more than the task.
//! Invariant: everything before the question is the answer's prompt, token by token.
//! Not here: reading what the model says (`answer`).

use super::build::segment;
use super::{Part, Prompt, PromptError, wording};
use ragonite_base::Language;
use ragonite_inference::Generate;

/// What is gone on from.
#[derive(Debug, Clone, Copy)]
pub struct SuggestPrompt<'a> {
    /// What the answer was made from.
    pub prompt: &'a Prompt,
    /// The completed question.
    pub question: &'a str,
    /// The answer, without its marks of sources.
    pub answer: &'a str,
    /// Language of the questions.
    pub language: Language,
    /// Tokens kept free for the questions.
    pub max_tokens: usize,
}

impl SuggestPrompt<'_> {
    /// The prompt, counted with the generator's own tokens.
    ///
    /// # Errors
    /// [`PromptError::NoRoom`] where it does not fit the context, and where the tokenizer or the wording fails.
    pub fn build(&self, generator: &dyn Generate) -> Result<Prompt, PromptError> {
        let task = wording::suggest(self.question, self.answer, self.language)?;
        let mut prompt = Prompt { stop: Vec::new(), cut: Vec::new(), ..self.prompt.clone() };
        for place in prompt.segments.iter_mut().filter(|segment| segment.part == Part::Question) {
            *place = segment(generator, Part::Question, task.clone())?;
        }
        let (needed, context) = (prompt.tokens() + self.max_tokens, generator.identity().context_tokens);
        if needed > context { Err(PromptError::NoRoom { needed, context }) } else { Ok(prompt) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::Segment;
    use ragonite_inference::{ScriptedGenerator, SpecialTokens};

    #[test]
    fn only_the_question_is_another_one() {
        let part = |part, text: &str| Segment { part, text: text.into(), special: SpecialTokens::AsText, tokens: 1 };
        let answered = Prompt {
            segments: vec![
                part(Part::System, "Answer."),
                part(Part::Evidence { rank: 1 }, "Source 1:\nx"),
                part(Part::Question, "Question: Who?"),
                part(Part::Template, "<|end|>"),
            ],
            stop: vec!["User:".into()],
            cut: Vec::new(),
        };
        for language in [Language::English, Language::German] {
            let (question, answer) = ("Who is {{ x }}?", "Alice is.");
            let suggest = SuggestPrompt { prompt: &answered, question, answer, language, max_tokens: 90 };
            let built = suggest.build(&ScriptedGenerator::queue([""])).unwrap();
            assert_eq!((&built.segments[..2], &built.segments[3]), (&answered.segments[..2], &answered.segments[3]));
            assert!(built.segments[2].text.contains("Who is {{ x }}?") && built.segments[2].text.contains("Alice is."));
            let small = ScriptedGenerator::queue([""]).with_context(60);
            assert!(matches!(suggest.build(&small), Err(PromptError::NoRoom { .. })));
        }
    }
}
