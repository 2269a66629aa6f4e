//! Reads `qa-pairs.json`, the question file of ConfQuestions.
//!
//! Each turn has its question in English and German, raw and completed; it is asked once per language.

use std::path::Path;

use serde::Deserialize;

use super::{EvalError, Question, QuestionType, Topic};
use ragonite_base::Language;
use ragonite_document::evidence::Kind;
use ragonite_rag::prompt::HistoryTurn;

#[derive(Deserialize)]
struct PairConversation {
    conv_id: String,
    turns: Vec<Pair>,
}

#[derive(Deserialize)]
struct Pair {
    q_en: String,
    q_de: String,
    completed_q_en: String,
    completed_q_de: String,
    /// The reference answer, in English for both languages.
    a: String,
    a_url: Vec<String>,
    a_source: Kind,
    q_type: QuestionType,
}

/// The questions of the file at `path` in order, the languages of a turn one after the other.
pub(super) fn parse(text: &str, path: &Path) -> Result<Vec<Question>, EvalError> {
    let conversations: Vec<PairConversation> =
        serde_json::from_str(text).map_err(|source| EvalError::Pairs { path: path.to_owned(), source })?;
    let questions: Vec<Question> = conversations.into_iter().flat_map(questions_of).collect();
    if questions.is_empty() { Err(EvalError::NoPairs { path: path.to_owned() }) } else { Ok(questions) }
}

fn questions_of(conversation: PairConversation) -> impl Iterator<Item = Question> {
    let PairConversation { conv_id, turns } = conversation;
    let past = |language| turns.iter().map(|pair| pair.past(language)).collect::<Vec<HistoryTurn>>();
    let (english, german) = (past(Language::English), past(Language::German));
    let gold: Vec<&[String]> = turns.iter().map(|pair| pair.a_url.as_slice()).collect();
    let topics = Topic::of_turns(&gold);
    (0..).zip(turns.into_iter().zip(topics)).flat_map(move |(before, (pair, topic))| {
        let question = |language, past: &[HistoryTurn]| Question {
            conversation: conv_id.clone(),
            turn: before + 1,
            language,
            raw: pair.raw(language).to_owned(),
            completed: pair.completed(language).to_owned(),
            answer: pair.a.clone(),
            facts: Vec::new(),
            past: past[..before].to_vec(),
            gold: pair.a_url.clone(),
            source: pair.a_source,
            question_type: pair.q_type,
            topic,
        };
        [question(Language::English, &english), question(Language::German, &german)]
    })
}

impl Pair {
    fn raw(&self, language: Language) -> &str {
        match language {
            Language::English => &self.q_en,
            Language::German => &self.q_de,
        }
    }

    fn completed(&self, language: Language) -> &str {
        match language {
            Language::English => &self.completed_q_en,
            Language::German => &self.completed_q_de,
        }
    }

    fn past(&self, language: Language) -> HistoryTurn {
        HistoryTurn {
            question: self.raw(language).to_owned(),
            completed_question: self.completed(language).to_owned(),
            answer: self.a.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"[{"conv_id": "2", "turns": [
        {"turn_id": "1", "q_type": "complex", "q_en": "Why pumps?", "q_de": "Warum Pumpen?",
         "completed_q_en": "Why does the dock need pumps?", "completed_q_de": "Warum braucht das Dock Pumpen?",
         "a_url": ["https://wiki.example/pages/7"], "a_source": "passage", "a": "It leaks."},
        {"turn_id": "2", "q_type": "simple", "q_en": "And?", "q_de": "Und?",
         "completed_q_en": "And spare ones?", "completed_q_de": "Und Ersatz?",
         "a_url": ["https://wiki.example/pages/7/Pumps", "docks.md"], "a_source": "table", "a": "Yes."}]}]"#;

    #[test]
    fn every_turn_is_asked_once_per_language() {
        let questions = parse(FILE, Path::new("qa-pairs.json")).unwrap();
        let shape: Vec<_> = questions.iter().map(|q| (q.turn, q.language, q.raw.as_str())).collect();
        let (english, german) = (Language::English, Language::German);
        let expected =
            [(1, english, "Why pumps?"), (1, german, "Warum Pumpen?"), (2, english, "And?"), (2, german, "Und?")];
        assert_eq!(shape, expected);
        assert_eq!(questions[1].completed, "Warum braucht das Dock Pumpen?");
        assert_eq!((questions[0].source, questions[0].question_type), (Kind::Passage, QuestionType::Complex));
        assert_eq!(questions[2].gold, ["https://wiki.example/pages/7/Pumps", "docks.md"]);
        assert!(questions[1].past.is_empty());
        let past = &questions[3].past[0];
        assert_eq!((past.question.as_str(), past.answer.as_str()), ("Warum Pumpen?", "It leaks."));
        assert_eq!((questions[3].answer.as_str(), questions[3].past.len()), ("Yes.", 1));
        assert_eq!((questions[1].topic, questions[3].topic), (None, Some(Topic::Stays)));
    }

    #[test]
    fn a_file_without_questions_or_of_another_form_is_refused() {
        let refused = |text: &str| parse(text, Path::new("folder/qa-pairs.json")).unwrap_err();
        let errors = [refused("[]"), refused(r#"{"conversations": []}"#), refused(&FILE.replace("passage", "song"))];
        assert!(matches!(errors[0], EvalError::NoPairs { .. }));
        assert!(errors[1..].iter().all(|error| matches!(error, EvalError::Pairs { .. })));
        for error in errors {
            assert!(error.to_string().contains("`folder/qa-pairs.json`"), "{error}");
            assert!(error.next_step().contains("conv_id") && !error.next_step().contains("[["), "{error}");
        }
    }
}
