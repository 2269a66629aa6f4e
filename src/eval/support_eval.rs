//! Scores the verdict on the support of answers, without a generator: reference answers are right and supported,
//! wrong ones are not.
//!
//! Each reference answer is given to the hits of its question. Wrong answers are made from the benchmark alone, so
//! that each run has the same: facts or names of another question, knowledge of the world, or what the question
//! takes for granted.
//! Not here: the verdict (`answer::support`), answers of a generator (`answers`).

use serde::Serialize;

use super::retrieval::{Asking, search};
use super::{EvalError, Question};
use ragonite_base::{CancelToken, Language, Millis};
use ragonite_inference::{Completion, Finish, Sampling, SpecialTokens};
use ragonite_rag::answer::{Answer, Facts, Support, SupportVerdict, facts};
use ragonite_rag::prompt::{Part as PromptPart, Prompt, Segment};
use ragonite_rag::retrieval::Hit;

/// What is wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WrongAnswer {
    /// Its figures and identifiers are those of another answer.
    FactsSwapped,
    /// Its names are those of another answer.
    NamesSwapped,
    /// It is true, and no document has it.
    WorldKnowledge,
    /// It repeats the question, which asks about a name of another domain.
    PremiseRepeated,
}

/// Every kind of wrong answer.
pub const WRONG_ANSWERS: [WrongAnswer; 4] =
    [WrongAnswer::FactsSwapped, WrongAnswer::NamesSwapped, WrongAnswer::WorldKnowledge, WrongAnswer::PremiseRepeated];

/// Wrong answers of each kind.
pub const WRONG_OF_A_KIND: usize = 15;

impl WrongAnswer {
    /// Name in tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::FactsSwapped => "facts swapped",
            Self::NamesSwapped => "names swapped",
            Self::WorldKnowledge => "world knowledge",
            Self::PremiseRepeated => "premise repeated",
        }
    }
}

/// Questions on the world with their answers.
const WORLD: [WorldFact; WRONG_OF_A_KIND] = [
    WorldFact::new("What is the capital of France?", "Paris."),
    WorldFact::new("Who painted the Mona Lisa?", "Leonardo da Vinci painted it."),
    WorldFact::new("When did the Second World War end?", "It ended in 1945."),
    WorldFact::new("What is the chemical symbol of gold?", "The symbol is Au."),
    WorldFact::new("Which planet is the largest?", "The largest planet is Jupiter."),
    WorldFact::new("Who wrote Hamlet?", "Hamlet was written by William Shakespeare."),
    WorldFact::new("At what temperature does water boil?", "Water boils at 100 degrees Celsius at sea level."),
    WorldFact::new("How many bones does an adult human have?", "An adult human has 206 bones."),
    WorldFact::new("Which river flows through Cairo?", "The Nile flows through Cairo."),
    WorldFact::new("Wie heißt die Hauptstadt von Österreich?", "Die Hauptstadt ist Wien."),
    WorldFact::new("Wer komponierte die Zauberflöte?", "Wolfgang Amadeus Mozart komponierte sie."),
    WorldFact::new("Wann fiel die Berliner Mauer?", "Sie fiel am 9. November 1989."),
    WorldFact::new("Welcher Berg ist der höchste der Alpen?", "Der höchste Berg der Alpen ist der Mont Blanc."),
    WorldFact::new("What is the tallest mammal?", "The giraffe is the tallest mammal."),
    WorldFact::new("Which gas do plants take in?", "Plants absorb carbon dioxide from the atmosphere."),
];

/// A question on the world.
struct WorldFact {
    question: &'static str,
    answer: &'static str,
}

impl WorldFact {
    const fn new(question: &'static str, answer: &'static str) -> Self {
        Self { question, answer }
    }
}

/// An answer with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SupportChecked {
    /// The question that was searched.
    pub query: String,
    /// The answer, with its citation.
    pub answer: String,
    /// What is wrong; none for a reference answer.
    pub wrong: Option<WrongAnswer>,
    /// Whether a gold page is among the sources. The sources of a wrong answer do not count.
    pub has_gold: bool,
    /// The verdict; none if nothing could be checked.
    pub support: Option<Support>,
}

impl SupportChecked {
    /// How far it is called supported; unchecked where the check gave no verdict.
    #[must_use]
    pub fn verdict(&self) -> SupportVerdict {
        self.support.as_ref().map_or(SupportVerdict::Unchecked, |support| support.verdict)
    }
}

/// An answer to be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Case {
    question: Question,
    answer: String,
    wrong: Option<WrongAnswer>,
}

/// Checks the reference answers of `questions`, and the wrong ones. `on_progress` gets the number of checked answers
/// and of all.
///
/// # Errors
/// When a search fails, or with [`EvalError::Canceled`].
pub fn check_support(
    asking: Asking<'_>,
    questions: &[Question],
    sources: usize,
    cancel: &CancelToken,
    on_progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<SupportChecked>, EvalError> {
    let mut cases: Vec<Case> = questions.iter().map(Case::reference).collect();
    cases.extend(wrong_answers(questions));
    let total = cases.len();
    let mut checked = Vec::with_capacity(total);
    for case in cases {
        cancel.check()?;
        checked.push(check(asking, &case, sources, cancel)?);
        on_progress(checked.len(), total);
    }
    Ok(checked)
}

fn check(asking: Asking<'_>, case: &Case, sources: usize, cancel: &CancelToken) -> Result<SupportChecked, EvalError> {
    let posed = search(asking, None, &case.question, cancel)?;
    let mut hits = posed.searched.retrieved.for_prompt(sources);
    let gold = asking.pages.gold_of(&case.question);
    let is_gold =
        |hit: &&Hit| asking.pages.of_hit(hit).is_some_and(|page| gold.iter().any(|gold| page.is_copy_of(gold)));
    let gold_ranks: Vec<usize> = hits.iter().filter(is_gold).map(|hit| hit.rank).collect();
    let (gold_rank, has_gold) = (gold_ranks.first().copied(), !gold_ranks.is_empty());
    // A reference answer cites every source on its page; a wrong one cites as models do, the first source.
    let cited =
        if case.wrong.is_none() && has_gold { gold_ranks } else { hits.iter().take(1).map(|hit| hit.rank).collect() };
    // The answer may rest on another part of the page than the hit, so the first hit on it has the page as a whole.
    if let Some(hit) = hits.iter_mut().find(|hit| gold_rank == Some(hit.rank)) {
        let parts = asking.engines.index.evidences_of(hit.document)?;
        let parts = parts.iter().map(|part| part.evidence.content.as_str());
        hit.text = std::iter::once(hit.title.as_str()).chain(parts).collect::<Vec<_>>().join("\n");
    }
    let answer = answer_of(&case.answer, posed.query(), &hits, cited);
    let support = answer.support();
    Ok(SupportChecked { query: posed.query().to_owned(), answer: answer.text, wrong: case.wrong, has_gold, support })
}

/// The answer as a generator would have given it.
fn answer_of(text: &str, question: &str, hits: &[Hit], cited: Vec<usize>) -> Answer {
    let segment = |part, text| Segment { part, text, special: SpecialTokens::AsText, tokens: 0 };
    let source =
        |hit: &Hit| segment(PromptPart::Evidence { rank: hit.rank }, format!("Source {}:\n{}\n\n", hit.rank, hit.text));
    let mut segments: Vec<Segment> = hits.iter().map(source).collect();
    segments.push(segment(PromptPart::Question, format!("Question: {question}")));
    let marks: Vec<String> = cited.iter().map(|rank| format!("Source {rank}")).collect();
    let text = format!("{} [{}]", text.trim(), marks.join(", "));
    Answer {
        answered: true,
        citations: cited,
        invalid_citations: Vec::new(),
        language: Language::of(&text),
        prompt: Prompt { segments, ..Prompt::default() },
        sampling: Sampling::Greedy,
        completion: Completion {
            text: text.clone(),
            tokens: Vec::new(),
            prompt_tokens: 0,
            reused_tokens: 0,
            drafted_tokens: 0,
            narrowest: None,
            log_probabilities: Vec::new(),
            draft_log_probabilities: Vec::new(),
            finish: Finish::End,
            first_token_ms: Millis::default(),
            total_ms: Millis::default(),
        },
        named: None,
        withheld: None,
        text,
    }
}

impl Case {
    fn reference(question: &Question) -> Self {
        Self { question: question.clone(), answer: question.answer.clone(), wrong: None }
    }
}

/// Wrong answers of every kind, spread over the questions.
fn wrong_answers(questions: &[Question]) -> Vec<Case> {
    let facts: Vec<Facts> = questions.iter().map(|question| facts(&question.answer)).collect();
    let figures: Vec<&[String]> = facts.iter().map(|facts| facts.figures.as_slice()).collect();
    let names: Vec<&[String]> = facts.iter().map(|facts| facts.names.as_slice()).collect();
    let mut cases = swapped(questions, &figures, WrongAnswer::FactsSwapped);
    cases.extend(swapped(questions, &names, WrongAnswer::NamesSwapped));
    cases.extend(questions.first().into_iter().flat_map(|like| WORLD.iter().map(|fact| world_knowledge(fact, like))));
    cases.extend(premises(questions));
    cases
}

/// Answers in which each fact is replaced by one of a later question that the answer lacks.
fn swapped(questions: &[Question], facts: &[&[String]], wrong: WrongAnswer) -> Vec<Case> {
    let having: Vec<usize> = (0..questions.len()).filter(|at| !facts[*at].is_empty()).collect();
    let mut cases = Vec::new();
    for at in spread(&having, WRONG_OF_A_KIND) {
        let question = &questions[at];
        let place = having.iter().position(|one| *one == at).unwrap_or_default();
        let others = having.iter().cycle().skip(place + having.len() / 2).take(having.len());
        let others = others.filter(|other| questions[**other].conversation != question.conversation);
        let mut others = others.flat_map(|other| facts[*other]).filter(|fact| !question.answer.contains(fact.as_str()));
        let mut answer = question.answer.clone();
        for fact in facts[at] {
            if let Some(other) = others.next() {
                answer = answer.replace(fact.as_str(), other);
            }
        }
        if answer != question.answer {
            cases.push(Case { question: question.clone(), answer, wrong: Some(wrong) });
        }
    }
    cases
}

/// So many of these places, with equal distances.
fn spread(places: &[usize], many: usize) -> Vec<usize> {
    let many = many.min(places.len());
    (0..many).map(|number| places[number * places.len() / many]).collect()
}

fn world_knowledge(fact: &WorldFact, like: &Question) -> Case {
    let question = Question {
        raw: fact.question.to_owned(),
        completed: fact.question.to_owned(),
        answer: fact.answer.to_owned(),
        language: Language::of(fact.question),
        past: Vec::new(),
        gold: Vec::new(),
        facts: Vec::new(),
        ..like.clone()
    };
    Case { answer: fact.answer.to_owned(), question, wrong: Some(WrongAnswer::WorldKnowledge) }
}

/// Names that no document of a benchmark has.
const FOREIGN_NAMES: [&str; 3] = ["Zorvex", "Quandril", "Tamblex"];

/// Answers that repeat a question about a name that the documents do not have.
fn premises(questions: &[Question]) -> Vec<Case> {
    let having: Vec<usize> =
        (0..questions.len()).filter(|at| !facts(&questions[*at].completed).names.is_empty()).collect();
    let places = spread(&having, WRONG_OF_A_KIND).into_iter();
    let case = |(at, foreign): (usize, &&str)| {
        let question = &questions[at];
        let names = facts(&question.completed).names;
        let completed =
            names.iter().fold(question.completed.clone(), |text, name| text.replace(name.as_str(), foreign));
        let answer = statement(&completed);
        let question = Question { raw: completed.clone(), completed, past: Vec::new(), ..question.clone() };
        Case { question, answer, wrong: Some(WrongAnswer::PremiseRepeated) }
    };
    places.zip(FOREIGN_NAMES.iter().cycle()).map(case).collect()
}

/// A question without its first word and its mark, as a sentence that affirms it.
fn statement(question: &str) -> String {
    let yes = if Language::of(question) == Language::German { "Ja" } else { "Yes" };
    let rest = question.trim().trim_end_matches('?');
    let rest = rest.split_once(' ').map_or(rest, |(_first, rest)| rest);
    format!("{yes}, {}.", rest.trim())
}

#[cfg(test)]
mod tests {
    use super::super::test_kit::question;
    use super::*;

    fn questions() -> Vec<Question> {
        let answers = ["It took 45 days in Lisbon Harbour.", "The XR-7 was bought by Tomas Brandt for 1200 EUR."];
        (0..20)
            .map(|number| Question {
                conversation: number.to_string(),
                completed: format!("What did Mira Kohl say of pump {number}?"),
                answer: answers[number % 2].to_owned(),
                ..question(1)
            })
            .collect()
    }

    #[test]
    fn wrong_answers_are_of_every_kind_and_always_the_same() {
        let cases = wrong_answers(&questions());
        for wrong in WRONG_ANSWERS {
            let of_kind = cases.iter().filter(|case| case.wrong == Some(wrong)).count();
            assert_eq!(of_kind, WRONG_OF_A_KIND, "{wrong:?}");
        }
        assert_eq!(cases, wrong_answers(&questions()));
    }

    #[test]
    fn a_swapped_answer_has_no_fact_of_the_right_one() {
        let cases = wrong_answers(&questions());
        for case in cases.iter().filter(|case| case.wrong == Some(WrongAnswer::FactsSwapped)) {
            let right = facts(&case.question.answer).figures;
            assert!(right.iter().all(|figure| !case.answer.contains(figure.as_str())), "{}", case.answer);
        }
    }

    #[test]
    fn a_premise_is_the_question_as_a_sentence() {
        assert_eq!(statement("Why was Zorvex moved?"), "Yes, was Zorvex moved.");
        assert!(wrong_answers(&questions()).iter().any(|case| case.answer == "Yes, did Zorvex say of pump 0."));
    }
}
