//! The token budget of a prompt: exact for a built prompt, estimated for a planned one.
//!
//! Takes a built [`Prompt`], or the input of a planned one; gives [`TokenBudget`].
//! Invariants: the estimate follows the real budget step by step; only its counts are estimated, from text lengths and
//! the previous prompt's counts. No model is needed.
//! Not here: building (`build`), showing (`tui`).

use super::wording::Task;
use super::{AnswerPrompt, Part, Prompt, PromptError};
use ragonite_base::Language;

/// Tokens of a typical chat template.
const TEMPLATE: usize = 12;

/// Least and greatest mean characters per token of any tokenizer.
const LETTERS: (f64, f64) = (1.5, 6.0);

/// Tokens of each part of a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenBudget {
    /// Instructions, with the chat template.
    pub system: usize,
    /// Earlier turns.
    pub history: usize,
    /// Earlier turns left out for lack of room; estimates only.
    pub turns_left_out: usize,
    /// All sources; in an estimate the most they may take.
    pub evidence: usize,
    /// The question with the instructions after it.
    pub question: usize,
}

impl TokenBudget {
    /// The budget of a built prompt.
    #[must_use]
    pub fn of(prompt: &Prompt) -> Self {
        let mut shares = Self::default();
        for segment in &prompt.segments {
            let share = match segment.part {
                Part::Template | Part::System => &mut shares.system,
                Part::History => &mut shares.history,
                Part::Evidence { .. } | Part::SharedContext { .. } => &mut shares.evidence,
                Part::Question | Part::Prefill => &mut shares.question,
            };
            *share += segment.tokens;
        }
        shares
    }

    /// An estimate for a planned prompt in a context of `context` tokens. Its hits are unknown, so evidence counts as
    /// its limit. `before` is the previous prompt in the same language, whose instructions are the same.
    ///
    /// # Errors
    /// When a template of the prompt fails.
    pub fn about(prompt: &AnswerPrompt<'_>, context: usize, before: Option<&Prompt>) -> Result<Self, PromptError> {
        let AnswerPrompt { prefix, language, past, question, settings, .. } = *prompt;
        let task = Task::answer(language);
        let letters = before.and_then(letters_of).unwrap_or(usual_letters(language));
        let about_tokens = |text: &str| (text.chars().count() as f64 / letters).ceil() as usize;
        let system = match before.map(|before| Self::of(before).system).filter(|tokens| *tokens > 0) {
            Some(tokens) => tokens,
            None => TEMPLATE + about_tokens(&task.system(prefix, language)?),
        };
        let question = about_tokens(&task.question(question, language)?);
        let room = context.saturating_sub(system + question + settings.answer_tokens);
        let (mut history, mut turns_left_out) = (0, past.len());
        for oldest in past.len().saturating_sub(settings.history_turns)..past.len() {
            let tokens = about_tokens(&task.history(&past[oldest..])?);
            if tokens <= room.min(settings.history_tokens) {
                (history, turns_left_out) = (tokens, oldest);
                break;
            }
        }
        let evidence = (room - history).min(settings.evidence_tokens);
        Ok(Self { system, history, turns_left_out, evidence, question })
    }
}

/// Characters per token before any count is known; German words have more tokens.
fn usual_letters(language: Language) -> f64 {
    match language {
        Language::English => 4.0,
        Language::German => 3.0,
    }
}

/// Characters per token in a prompt.
fn letters_of(prompt: &Prompt) -> Option<f64> {
    let texts = prompt.segments.iter().filter(|segment| segment.part != Part::Template);
    let (letters, tokens) =
        texts.fold((0, 0), |(letters, tokens), s| (letters + s.text.chars().count(), tokens + s.tokens));
    (tokens > 0).then(|| (letters as f64 / tokens as f64).clamp(LETTERS.0, LETTERS.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::{HistoryTurn, PromptSettings, Segment};
    use ragonite_inference::SpecialTokens;

    fn about(past: &[HistoryTurn], question: &str, settings: &PromptSettings, context: usize) -> TokenBudget {
        let language = Language::English;
        let prompt = AnswerPrompt { prefix: "", language, past, question, hits: &[], settings };
        TokenBudget::about(&prompt, context, None).unwrap()
    }

    fn past(turns: usize) -> Vec<HistoryTurn> {
        let turn = HistoryTurn {
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
    fn what_the_model_counted_before_makes_the_estimate_better() {
        let segment =
            |part, text: &str, tokens| Segment { part, text: text.into(), special: SpecialTokens::AsText, tokens };
        let text = "Alice replaces the modem. ".repeat(10);
        let segments = vec![segment(Part::Template, "<s>", 5), segment(Part::System, &text, text.len() / 2)];
        let before = Prompt { segments, ..Prompt::default() };
        let (language, settings) = (Language::English, PromptSettings::default());
        let prompt =
            AnswerPrompt { prefix: "", language, past: &past(1), question: "When?", hits: &[], settings: &settings };
        let without = TokenBudget::about(&prompt, 8192, None).unwrap();
        let with = TokenBudget::about(&prompt, 8192, Some(&before)).unwrap();
        assert_eq!(with.system, 5 + text.len() / 2);
        assert!(with.history.abs_diff(without.history * 2) <= 2, "{with:?} {without:?}");
        let empty = TokenBudget::about(&prompt, 8192, Some(&Prompt::default())).unwrap();
        assert_eq!(empty, without);
    }

    #[test]
    fn the_shares_of_a_built_prompt_add_up_to_it() {
        let segment = |part, tokens| Segment { part, text: String::new(), special: SpecialTokens::AsText, tokens };
        let parts =
            [Part::Template, Part::System, Part::Evidence { rank: 2 }, Part::Evidence { rank: 1 }, Part::Question];
        let segments = parts.into_iter().zip([3, 96, 40, 50, 9]).map(|(part, tokens)| segment(part, tokens)).collect();
        let prompt = Prompt { segments, ..Prompt::default() };
        let shares = TokenBudget::of(&prompt);
        assert_eq!(shares, TokenBudget { system: 99, evidence: 90, question: 9, ..TokenBudget::default() });
        assert_eq!(shares.system + shares.history + shares.evidence + shares.question, prompt.tokens());
    }
}
