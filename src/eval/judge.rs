//! A local model as judge: whether an answer agrees with the reference answer (RAGonite, Fig. 8).
//!
//! Invariants: a verdict is parsed strictly: one JSON object with a rating of 1, 0.5 or 0 and a justification. After an
//! unusable verdict the judge is asked once more, then the answer counts as not judged, never as wrong.
//! Not here: the wording (`prompt`), figures (`answers`).

use serde::{Deserialize, Serialize};

use super::EvalError;
use ragonite_base::{CancelToken, clean_line};
use ragonite_inference::{Generate, GenerateRequest, Sampling};
use ragonite_rag::answer::AnswerError;
use ragonite_rag::prompt::JudgePrompt;

/// Most tokens of a verdict.
const VERDICT_TOKENS: usize = 160;

/// Grammar of a verdict. The justification comes first, so that the rating follows from it.
const GRAMMAR: &str = r#"root ::= "{\"justification\": \"" text{1,240} "\", \"answer_rating\": " rating "}"
rating ::= "0.5" | "0" | "1"
text ::= [^"\\\x00-\x1F\x7F]
"#;

/// The first verdict is greedy; if it is unusable, one is sampled.
const TRIES: [Sampling; 2] = [Sampling::Greedy, Sampling::Seeded { temperature: 0.7, seed: 1 }];

/// The verdict on an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// 1 for all of the reference answer, 0.5 for a part, 0 for nothing.
    pub answer_rating: f64,
    /// Reason in a sentence.
    pub justification: String,
}

impl Verdict {
    /// The verdict on an abstention, which needs no judge.
    #[must_use]
    pub fn nothing_found() -> Self {
        Self { answer_rating: 0.0, justification: "It says that nothing was found.".to_owned() }
    }

    /// Parses a verdict; none if invalid.
    #[must_use]
    pub fn parse(output: &str) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct VerdictJson {
            answer_rating: f64,
            justification: String,
        }
        let VerdictJson { answer_rating, justification } = serde_json::from_str(output.trim()).ok()?;
        let justification = clean_line(&justification);
        // All ratings are exact in binary.
        let is_rating = [0.0, 0.5, 1.0].iter().any(|rating: &f64| rating.total_cmp(&answer_rating).is_eq());
        (is_rating && !justification.is_empty()).then_some(Self { answer_rating, justification })
    }
}

/// The input of a judge.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// The completed question.
    pub question: &'a str,
    /// The reference answer.
    pub right: &'a str,
    /// The answer without citations.
    pub answer: &'a str,
}

/// Asks the judge; none without a usable verdict.
///
/// # Errors
/// When the model fails, or with [`EvalError::Canceled`].
pub fn judge(
    generator: &mut dyn Generate,
    judged: Judged<'_>,
    cancel: &CancelToken,
) -> Result<Option<Verdict>, EvalError> {
    let Judged { question, right, answer } = judged;
    let failed = |error: AnswerError| match error {
        AnswerError::Canceled(canceled) => EvalError::Canceled(canceled),
        other => EvalError::Judge(other),
    };
    let prompt = JudgePrompt { question, right, answer, verdict_tokens: VERDICT_TOKENS }.build(generator);
    let prompt = prompt.map_err(|error| failed(error.into()))?;
    for sampling in TRIES {
        let request = GenerateRequest {
            parts: prompt.parts(),
            sampling,
            stop: prompt.stop.clone(),
            max_tokens: VERDICT_TOKENS,
            draft: Vec::new(),
        };
        let output = generator.generate_within(GRAMMAR, &request, cancel, &mut |_| {});
        let output = output.map_err(|error| failed(error.into()))?;
        if let Some(verdict) = Verdict::parse(&output.text) {
            return Ok(Some(verdict));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragonite_inference::ScriptedGenerator;

    const GOOD: &str = r#"{"justification": "It names Alice.", "answer_rating": 0.5}"#;

    fn verdict(answers: &[&str]) -> Option<Verdict> {
        let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
        let judged = Judged { question: "Who ran it?", right: "Alice and Bob", answer: "Alice" };
        judge(&mut ScriptedGenerator::queue(answers), judged, &CancelToken::never()).unwrap()
    }

    #[test]
    fn a_verdict_is_a_rating_with_a_justification() {
        let good = Verdict { answer_rating: 0.5, justification: "It names Alice.".into() };
        assert_eq!(Verdict::parse(GOOD), Some(good.clone()));
        assert_eq!(Verdict::parse(&format!("\n {GOOD} \n")), Some(good));
        let all = Verdict { answer_rating: 1.0, justification: "All.".into() };
        assert_eq!(Verdict::parse(r#"{"answer_rating": 1, "justification": "All."}"#), Some(all));
    }

    #[test]
    fn everything_else_is_no_verdict() {
        for output in [
            "",
            "1",
            "0.5 because it names Alice",
            "```json\n{\"justification\": \"x\", \"answer_rating\": 1}\n```",
            r#"{"justification": "x", "answer_rating": 0.7}"#,
            r#"{"justification": "x", "answer_rating": "1"}"#,
            r#"{"justification": " ", "answer_rating": 1}"#,
            r#"{"justification": "x", "answer_rating": -0.0}"#,
            r#"{"answer_rating": 1}"#,
            r#"{"justification": "x", "answer_rating": 1, "sure": true}"#,
            r#"{"justification": "x", "answer_rating": 1} and more"#,
        ] {
            assert_eq!(Verdict::parse(output), None, "{output}");
        }
    }

    #[test]
    fn an_unusable_verdict_is_asked_for_once_more() {
        let good = Verdict::parse(GOOD);
        assert_eq!(verdict(&["I think it is right.", GOOD]), good);
        assert_eq!(verdict(&["right", "still right", GOOD]), None);
        assert_eq!(verdict(&[GOOD, "never asked"]), good);
    }
}
