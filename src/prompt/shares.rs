//! How a prompt shares the context: exactly for one that was built, about for one that is yet to be.
//!
//! Takes what a prompt is built from, or a built [`Prompt`], gives [`PromptShares`].
//! Invariants: the estimate follows the budget of the real prompt step by step, only its counts are guessed, from the
//! length of the texts; it needs no model.
//! Not here: building (`build`), how it is shown (`tui`).

use super::wording::Task;
use super::{AnswerPrompt, Part, Prompt, PromptError};
use crate::base::Language;

/// Tokens of a usual chat template.
const TEMPLATE: usize = 12;

/// Tokens of each part of a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PromptShares {
    /// Instructions, with the chat template.
    pub system: usize,
    /// Earlier turns.
    pub history: usize,
    /// Earlier turns that found no room; known of an estimate only.
    pub turns_left_out: usize,
    /// All sources; of an estimate the most they may take.
    pub evidence: usize,
    /// The question with what is said right before the answer.
    pub question: usize,
}

impl PromptShares {
    /// Of a prompt that was built.
    #[must_use]
    pub fn of(prompt: &Prompt) -> Self {
        let mut shares = Self::default();
        for segment in &prompt.segments {
            let share = match segment.part {
                Part::Template | Part::System => &mut shares.system,
                Part::History => &mut shares.history,
                Part::Evidence { .. } => &mut shares.evidence,
                Part::Question => &mut shares.question,
            };
            *share += segment.tokens;
        }
        shares
    }

    /// About those of a prompt that is yet to be built, within a context of so many tokens. Its hits are not known, so
    /// that evidence counts with all it may take.
    ///
    /// # Errors
    /// When a text of the prompt cannot be made.
    pub fn about(prompt: &AnswerPrompt<'_>, context: usize) -> Result<Self, PromptError> {
        let AnswerPrompt { prefix, language, past, question, settings, .. } = *prompt;
        let task = Task::answer(language);
        let system = TEMPLATE + about_tokens(&task.system(prefix, language)?, language);
        let question = about_tokens(&task.question(question, language)?, language);
        let room = context.saturating_sub(system + question + settings.answer_tokens);
        let (mut history, mut turns_left_out) = (0, past.len());
        for oldest in past.len().saturating_sub(settings.history_turns)..past.len() {
            let tokens = about_tokens(&task.history(&past[oldest..])?, language);
            if tokens <= room.min(settings.history_tokens) {
                (history, turns_left_out) = (tokens, oldest);
                break;
            }
        }
        let evidence = (room - history).min(settings.evidence_tokens);
        Ok(Self { system, history, turns_left_out, evidence, question })
    }
}

/// About how many tokens a text has: German words are cut into more of them.
fn about_tokens(text: &str, language: Language) -> usize {
    let letters = match language {
        Language::English => 4,
        Language::German => 3,
    };
    text.chars().count().div_ceil(letters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::Special;
    use crate::prompt::{PastTurn, PromptSettings, Segment};

    fn about(past: &[PastTurn], question: &str, settings: &PromptSettings, context: usize) -> PromptShares {
        let language = Language::English;
        let prompt = AnswerPrompt { prefix: "", language, past, question, hits: &[], settings };
        PromptShares::about(&prompt, context).unwrap()
    }

    fn past(turns: usize) -> Vec<PastTurn> {
        let turn = PastTurn {
            question: "Who?".into(),
            completed_question: "Who replaces the modem of the station?".into(),
            answer: "Alice replaces it with the low-power variant [Source 1].".into(),
        };
        vec![turn; turns]
    }

    #[test]
    fn an_estimate_fills_the_context_no_further_than_the_real_prompt_would() {
        let settings = PromptSettings::default();
        let wide = about(&past(2), "When is it due?", &settings, 8192);
        assert_eq!((wide.evidence, wide.turns_left_out), (settings.evidence_tokens, 0));
        assert!(wide.history > 20 && wide.history <= settings.history_tokens);
        let narrow = about(&past(2), "When is it due?", &settings, 1024);
        let all = narrow.system + narrow.history + narrow.evidence + narrow.question + settings.answer_tokens;
        assert_eq!(all, 1024);
        let none = about(&past(2), "When is it due?", &settings, 100);
        assert_eq!((none.evidence, none.history, none.turns_left_out), (0, 0, 2));
    }

    #[test]
    fn turns_that_find_no_room_are_counted() {
        let settings = PromptSettings { history_tokens: 60, ..PromptSettings::default() };
        let shares = about(&past(5), "When?", &settings, 8192);
        assert!(shares.history <= 60 && shares.turns_left_out >= 3, "{shares:?}");
        let longer = about(&past(1), &"When is it due? ".repeat(10), &settings, 8192);
        assert!(longer.question > shares.question);
    }

    #[test]
    fn the_shares_of_a_built_prompt_add_up_to_it() {
        let segment = |part, tokens| Segment { part, text: String::new(), special: Special::Plain, tokens };
        let parts =
            [Part::Template, Part::System, Part::Evidence { rank: 2 }, Part::Evidence { rank: 1 }, Part::Question];
        let segments = parts.into_iter().zip([3, 96, 40, 50, 9]).map(|(part, tokens)| segment(part, tokens)).collect();
        let prompt = Prompt { segments, ..Prompt::default() };
        let shares = PromptShares::of(&prompt);
        assert_eq!(shares, PromptShares { system: 99, evidence: 90, question: 9, ..PromptShares::default() });
        assert_eq!(shares.system + shares.history + shares.evidence + shares.question, prompt.tokens());
    }
}
