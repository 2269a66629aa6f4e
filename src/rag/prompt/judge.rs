//! The prompt of a judge, who holds an answer against a right one (RAGonite, Fig. 8, in our own words).
//!
//! Not here: reading what the judge says (`eval`).

use super::build::Frame;
use super::{Prompt, PromptError, wording};
use ragonite_inference::Generate;

/// What is judged.
#[derive(Debug, Clone, Copy)]
pub struct JudgePrompt<'a> {
    /// The completed question.
    pub question: &'a str,
    /// The right answer, by a person.
    pub right: &'a str,
    /// The answer that is judged, without its sources.
    pub answer: &'a str,
    /// Tokens kept free for the verdict.
    pub verdict_tokens: usize,
}

impl JudgePrompt<'_> {
    /// The prompt, counted with the generator's own tokens.
    ///
    /// # Errors
    /// [`PromptError::NoRoom`] where question and answers alone fill the context.
    pub fn build(&self, generator: &dyn Generate) -> Result<Prompt, PromptError> {
        let system = wording::judge_system()?;
        let question = wording::judge_question(self.question, self.right, self.answer)?;
        let frame = Frame::new(generator, &system, &question, self.verdict_tokens)?;
        Ok(frame.prompt([], Vec::new(), Vec::new()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragonite_inference::ScriptedGenerator;

    #[test]
    fn the_judge_is_given_question_and_both_answers() {
        let judged =
            JudgePrompt { question: "Who ran it?", right: "Alice", answer: "Bob, {{ x }}", verdict_tokens: 80 };
        let text = judged.build(&ScriptedGenerator::queue([""])).unwrap().text();
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"));
        assert!(at("answer_rating") < at("Question: Who ran it?"));
        assert!(at("Answer of the person: Alice") < at("Answer of the program: Bob, {{ x }}"));
        let small = ScriptedGenerator::queue([""]).with_context(100);
        assert!(matches!(judged.build(&small), Err(PromptError::NoRoom { .. })));
    }
}
