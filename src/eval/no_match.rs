//! How many questions fit no document: those of a benchmark, and nonsense.
//!
//! Takes asked questions, gives counts for answerable and unanswerable ones, by each rule alone and by both. A question
//! is unanswerable if its only gold page is [`NO_PAGE`].
//! Not here: the rules (`rag::retrieval`).

use serde::Serialize;

use super::{Asked, Asking, EvalError, Question};
use ragonite_base::CancelToken;
use ragonite_rag::retrieval::{Calibration, MatchQuality, RetrievalSettings, search_alone};

/// The gold page of a question whose answer is in no document.
pub const NO_PAGE: &str = "none";

/// Questions that no document fits: words that do not exist, and topics that do not go together.
const NONSENSE: [&str; 20] = [
    "How do I frobnicate a zorp?",
    "Which glimmerfax outgrabes the mome rath?",
    "What is the quintessence of blorple in the wumpus valley?",
    "Why does the sproingle refuse to flumph on Tuesdays?",
    "How many snozzcumbers fit into a vermicious knid?",
    "Who crowned the emperor of the moon cheese?",
    "When did the unicorns migrate to Saturn?",
    "asdf qwertz jklö",
    "lorem ipsum dolor sit amet",
    "How does a jabberwock gyre and gimble?",
    "What do pelicans wear to the opera?",
    "Which dinosaur invented the umbrella?",
    "Wie schnurgelt man einen Flabumsel?",
    "Wer hat den Wolpertinger mit Brausepulver gefüttert?",
    "Warum knörzt der Grambolin im Mondschein?",
    "Wie viele Einhörner wohnen auf dem Saturn?",
    "Was kostet ein Kilo Regenbogen beim Zauberer?",
    "Wann hat der Osterhase den Yeti geheiratet?",
    "Welche Farbe hat das Gelächter der Schmurbel?",
    "Wo überwintern die fliegenden Pfannkuchen?",
];

/// A nonsense question with the quality of its search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Nonsense {
    /// The question.
    pub question: &'static str,
    /// How well the hits fit; none without hits.
    #[serde(rename = "match")]
    pub quality: Option<MatchQuality>,
}

impl Nonsense {
    /// Whether the program tells that no document fits.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.quality.as_ref().is_none_or(MatchQuality::is_no_match)
    }
}

/// Searches for each nonsense question, without translation.
///
/// # Errors
/// When a search fails, or with [`EvalError::Canceled`].
pub fn nonsense(asking: Asking<'_>, cancel: &CancelToken) -> Result<Vec<Nonsense>, EvalError> {
    let settings = RetrievalSettings { calibration: Calibration::Always, ..asking.settings.clone() };
    let searched = NONSENSE.into_iter().map(|question| {
        let found = search_alone(asking.engines, question, &settings, cancel)?;
        Ok(Nonsense { question, quality: found.quality })
    });
    searched.collect()
}

impl Question {
    /// Whether its answer is in no document.
    #[must_use]
    pub fn is_unanswerable(&self) -> bool {
        matches!(self.gold.as_slice(), [page] if page == NO_PAGE)
    }
}

/// Counts of questions that no document fits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Unfit {
    /// Questions.
    pub questions: usize,
    /// By both rules: the model is not asked.
    pub stopped: usize,
    /// By the cosine alone.
    pub far: usize,
    /// By the words alone.
    pub uncovered: usize,
}

impl Unfit {
    fn of<'a>(asked: impl Iterator<Item = &'a Asked>) -> Self {
        let mut counts = Self::default();
        for one in asked {
            counts.questions += 1;
            if let Some(quality) = &one.quality {
                counts.stopped += usize::from(quality.is_no_match());
                counts.far += usize::from(quality.is_far());
                counts.uncovered += usize::from(quality.is_uncovered());
            }
        }
        counts
    }

    /// The share that is stopped; none without questions.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        (self.questions > 0).then(|| self.stopped as f64 / self.questions as f64)
    }

    fn line(&self, what: &str) -> Option<String> {
        let share = self.share()? * 100.0;
        let Self { questions, stopped, far, uncovered } = self;
        Some(format!(
            "{what}: {stopped} of {questions} stopped ({share:.1} %); cosine alone {far}, words alone {uncovered}\n"
        ))
    }
}

/// Counts for a benchmark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct NoMatch {
    /// Questions with a gold page in the domain.
    pub answerable: Unfit,
    /// Questions whose answer is in no document.
    pub unanswerable: Unfit,
}

impl NoMatch {
    /// Counts the questions.
    #[must_use]
    pub fn of(asked: &[Asked]) -> Self {
        Self {
            answerable: Unfit::of(asked.iter().filter(|one| !one.gold.is_empty())),
            unanswerable: Unfit::of(asked.iter().filter(|one| one.question.is_unanswerable())),
        }
    }

    /// A line for each kind of question that there is.
    #[must_use]
    pub fn text(&self) -> String {
        let lines = [self.answerable.line("Answerable"), self.unanswerable.line("Unanswerable")];
        let lines: String = lines.into_iter().flatten().collect();
        format!("No document fits\n{lines}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_kit::{asked, question};
    use super::*;
    use ragonite_rag::retrieval::MatchVerdict;

    fn of_quality(quality: MatchQuality) -> Asked {
        Asked { quality: Some(quality), ..asked(question(1), Some(1)) }
    }

    fn unfit() -> MatchQuality {
        MatchQuality {
            best_cosine: Some(0.2),
            unrelated_cosine: Some(0.3),
            coverage: Some(0.0),
            absent_words: vec!["zorp".to_owned()],
            verdict: MatchVerdict::NoMatch,
        }
    }

    #[test]
    fn answerable_and_unanswerable_questions_are_counted_apart_and_by_each_rule() {
        let far = MatchQuality { coverage: Some(1.0), verdict: MatchVerdict::Fits, ..unfit() };
        let nowhere = Question { gold: vec![NO_PAGE.to_owned()], ..question(1) };
        let unanswerable = Asked { question: nowhere, gold: Vec::new(), ..of_quality(unfit()) };
        let elsewhere = Asked { gold: Vec::new(), ..of_quality(unfit()) };
        let all = [of_quality(unfit()), of_quality(far), asked(question(1), None), unanswerable, elsewhere];
        let counted = NoMatch::of(&all);
        assert_eq!(counted.answerable, Unfit { questions: 3, stopped: 1, far: 2, uncovered: 1 });
        assert_eq!(counted.unanswerable, Unfit { questions: 1, stopped: 1, far: 1, uncovered: 1 });
        assert_eq!(
            counted.text(),
            "No document fits\n\
             Answerable: 1 of 3 stopped (33.3 %); cosine alone 2, words alone 1\n\
             Unanswerable: 1 of 1 stopped (100.0 %); cosine alone 1, words alone 1\n"
        );
    }

    #[test]
    fn without_questions_nothing_is_said() {
        assert_eq!(NoMatch::of(&[]).text(), "No document fits\n");
        assert_eq!(Unfit::default().share(), None);
    }
}
