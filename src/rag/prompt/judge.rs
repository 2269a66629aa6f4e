//! The prompt of a judge who compares an answer with the reference answer (RAGonite, Fig. 8, reworded).
//!
//! Not here: reading the verdict (`eval`).

use super::build::Frame;
use super::{Prompt, PromptError, wording};
use ragonite_inference::Generate;

/// The input of a judge.
#[derive(Debug, Clone, Copy)]
pub struct JudgePrompt<'a> {
    /// The completed question.
    pub question: &'a str,
    /// The reference answer, written by a person.
    pub right: &'a str,
    /// The answer to judge, without citations.
    pub answer: &'a str,
    /// Tokens kept free for the verdict.
    pub verdict_tokens: usize,
}

impl JudgePrompt<'_> {
    /// The prompt; the generator's tokenizer counts.
    ///
    /// # Errors
    /// [`PromptError::NoRoom`] if question and answers alone fill the context.
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
