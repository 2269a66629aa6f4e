//! The prompt for suggested questions.
//!
//! Takes the prompt of an answer; gives it with another task in the place of its question, so that a generator with a
//! KV cache reads little more than the task.
//! Invariant: all tokens before the question are those of the answer's prompt.
//! Not here: reading the output (`answer`).

use super::build::segment;
use super::{Part, Prompt, PromptError, wording};
use ragonite_base::Language;
use ragonite_inference::Generate;

/// The input of suggestions.
#[derive(Debug, Clone, Copy)]
pub struct SuggestPrompt<'a> {
    /// The prompt of the answer.
    pub prompt: &'a Prompt,
    /// The completed question.
    pub question: &'a str,
    /// The answer without citations.
    pub answer: &'a str,
    /// Language of the questions.
    pub language: Language,
    /// Tokens kept free for the questions.
    pub max_tokens: usize,
}

impl SuggestPrompt<'_> {
    /// The prompt; the generator's tokenizer counts.
    ///
    /// # Errors
    /// [`PromptError::NoRoom`] if it does not fit the context; also if the tokenizer or a template fails.
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
        for language in Language::ALL {
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
