//! Plants another fact in the source that holds the gold fact. Pure.
//!
//! Takes the hits of a question, its gold facts and the facts of other questions, gives the hits with one planted fact.
//! Invariants: the planted fact is in one hit, and neither in the question nor in the turns before it; no hit holds the
//! gold fact any more; the same question, hits, facts and seed give the same plant.
//! Not here: the form of the other fact (`other_fact`), asking again (`plant_eval`).

use std::collections::HashMap;
use std::ops::Range;

use serde::Serialize;

use super::Question;
use super::cache::key;
use super::other_fact::other_facts;
use super::questions::{contains, normalized, splits};
use ragonite_base::Language;
use ragonite_rag::prompt::HistoryTurn;
use ragonite_rag::retrieval::Hit;

/// Most words of a fact. A model rarely repeats a longer one word for word.
const MOST_WORDS: usize = 6;

/// Fewest letters and digits of a fact. Shorter ones stand everywhere.
const LEAST_LETTERS: usize = 2;

/// Answers that stand in no source, or in every one.
const NO_FACTS: [&str; 10] = ["yes", "no", "ja", "nein", "true", "false", "none", "all", "keine", "alle"];

/// Hexadecimal digits of a 64-bit seed.
const SEED_DIGITS: usize = 16;

/// A fact in the place of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plant {
    /// The source that holds the planted fact.
    pub rank: usize,
    /// The fact that it held before.
    pub fact: String,
    /// The fact that it holds now.
    pub planted: String,
    /// Hits that were dropped, because they hold the fact as well.
    pub dropped: Vec<usize>,
}

/// Why nothing was planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unplanted {
    /// No source is on a gold page.
    NoGold,
    /// No source on a gold page holds a fact that can be replaced.
    NoFact,
    /// Every other fact of the same form is said elsewhere, or no other source is left.
    NoOther,
}

/// The facts of a benchmark, by language of their questions.
#[derive(Debug, Clone, Default)]
pub struct FactPool(HashMap<Language, Vec<String>>);

/// The hits with a planted fact.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlantedHits {
    pub(super) plant: Plant,
    /// Best first, with the ranks that they had.
    pub(super) hits: Vec<Hit>,
}

/// A question with all that its prompt may be made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) question: &'a Question,
    /// The question that was searched.
    pub(super) query: &'a str,
    /// Earlier turns in the prompt.
    pub(super) past: &'a [HistoryTurn],
    /// The hits, best first.
    pub(super) hits: &'a [Hit],
    /// Ranks of the sources on gold pages, best first.
    pub(super) gold: &'a [usize],
    /// Facts of all questions.
    pub(super) pool: &'a FactPool,
    pub(super) seed: u64,
}

impl Plant {
    /// A text with the planted fact wherever it said the other.
    #[must_use]
    pub fn replaced(&self, text: &str) -> String {
        let mut new = String::with_capacity(text.len());
        let mut done = 0;
        for place in places(text, &self.fact) {
            new.push_str(&text[done..place.start]);
            new.push_str(&self.planted);
            done = place.end;
        }
        new.push_str(&text[done..]);
        new
    }

    /// Whether a text says the planted fact.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        says(text, &self.planted)
    }

    /// The hit with the planted fact in its content and in the text around it.
    fn in_hit(&self, hit: &Hit) -> Hit {
        let mut new = hit.clone();
        new.text = self.replaced(&hit.text);
        new.content = self.replaced(&hit.content);
        new.context.before = self.replaced(&hit.context.before);
        new.context.after = self.replaced(&hit.context.after);
        new
    }
}

impl FactPool {
    /// The facts of these questions.
    #[must_use]
    pub fn of(questions: &[Question]) -> Self {
        let mut pool: HashMap<Language, Vec<String>> = HashMap::new();
        for question in questions {
            pool.entry(question.language).or_default().extend(facts_of(question));
        }
        Self(pool)
    }

    fn in_language(&self, language: Language) -> &[String] {
        self.0.get(&language).map_or(&[][..], Vec::as_slice)
    }
}

/// Replaces a gold fact in the best source that holds one, and drops all other hits that hold it.
pub(super) fn plant(ground: &Ground<'_>) -> Result<PlantedHits, Unplanted> {
    if ground.gold.is_empty() {
        return Err(Unplanted::NoGold);
    }
    let mut why = Unplanted::NoFact;
    for fact in facts_of(ground.question) {
        if ground.is_asked(&fact) {
            continue;
        }
        for hit in ground.hits.iter().filter(|hit| ground.gold.contains(&hit.rank) && can_hold(hit, &fact)) {
            if let Some(planted) = ground.planted(hit, &fact) {
                return Ok(planted);
            }
            why = Unplanted::NoOther;
        }
    }
    Err(why)
}

impl Ground<'_> {
    /// Whether the question says a fact itself.
    fn is_asked(&self, fact: &str) -> bool {
        let Question { raw, completed, .. } = self.question;
        [raw.as_str(), completed.as_str(), self.query].into_iter().any(|text| says(text, fact))
    }

    /// Whether a fact stands anywhere in what a prompt may be made of.
    fn is_said(&self, fact: &str) -> bool {
        let in_turn = |turn: &HistoryTurn| {
            [&turn.question, &turn.completed_question, &turn.answer].into_iter().any(|text| says(text, fact))
        };
        self.is_asked(fact) || self.past.iter().any(in_turn) || self.hits.iter().any(|hit| holds(hit, fact))
    }

    /// The hits with another fact in `hit`; none if no other fact fits, or no other hit is left.
    fn planted(&self, hit: &Hit, fact: &str) -> Option<PlantedHits> {
        // A right answer may say the fact in another form.
        let gold: Vec<String> = std::iter::once(fact.to_owned()).chain(gold_facts(self.question)).collect();
        let holds_gold = |one: &Hit| gold.iter().any(|fact| holds(one, fact));
        let (dropped, kept): (Vec<&Hit>, Vec<&Hit>) =
            self.hits.iter().partition(|one| one.rank != hit.rank && holds_gold(one));
        if kept.len() < 2 {
            return None;
        }
        let dropped: Vec<usize> = dropped.into_iter().map(|one| one.rank).collect();
        let others = other_facts(fact, self.pool.in_language(self.question.language), self.seed_of(fact));
        for planted in others.into_iter().filter(|other| !self.is_said(other)) {
            let plant = Plant { rank: hit.rank, fact: fact.to_owned(), planted, dropped: dropped.clone() };
            let new = plant.in_hit(hit);
            if plant.is_in(&new.content) && !holds_gold(&new) {
                let hits = kept.iter().map(|one| if one.rank == hit.rank { new.clone() } else { (*one).clone() });
                return Some(PlantedHits { hits: hits.collect(), plant });
            }
        }
        None
    }

    /// A seed of its own for each question and fact.
    fn seed_of(&self, fact: &str) -> u64 {
        let Question { conversation, turn, language, .. } = self.question;
        let (seed, turn) = (self.seed.to_string(), turn.to_string());
        let key = key(["plant", seed.as_str(), conversation.as_str(), turn.as_str(), language.code(), fact]);
        key.get(..SEED_DIGITS).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(self.seed)
    }
}

/// Whether the content of a hit says a fact that its title and headings do not say, which other hits share.
fn can_hold(hit: &Hit, fact: &str) -> bool {
    let headings = [&hit.title, &hit.heading, &hit.context.title];
    let above = headings.into_iter().chain(&hit.context.heading_path);
    !places(&hit.content, fact).is_empty() && !above.into_iter().any(|text| says(text, fact))
}

/// Whether a hit says a fact, in its content or in its context.
fn holds(hit: &Hit, fact: &str) -> bool {
    says(&hit.text, fact) || says(&hit.content, fact)
}

/// Whether a text says a fact as whole words.
fn says(text: &str, fact: &str) -> bool {
    contains(&normalized(text), &normalized(fact))
}

/// The facts of a question that may be replaced: the gold facts, or without any the answer and the figures in it.
fn facts_of(question: &Question) -> Vec<String> {
    let mut facts: Vec<String> = gold_facts(question).collect();
    if question.facts.is_empty() {
        let is_figure = |word: &String| word.chars().any(|c| c.is_ascii_digit());
        facts.push(core(&question.answer).to_owned());
        facts.extend(question.answer.split_whitespace().map(figure_of).filter(is_figure));
        facts.retain(|fact| is_fact(fact));
    }
    facts.dedup();
    facts
}

/// The gold facts of a question that are long enough to be told apart.
fn gold_facts(question: &Question) -> impl Iterator<Item = String> {
    question.facts.iter().map(|fact| core(fact).to_owned()).filter(|fact| is_fact(fact))
}

/// A fact without the punctuation of its sentence.
fn core(fact: &str) -> &str {
    fact.trim().trim_end_matches(['.', '!', ';', ',', ':']).trim_end()
}

/// A word without the punctuation around it.
fn figure_of(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

fn is_fact(fact: &str) -> bool {
    let letters = fact.chars().filter(|c| c.is_alphanumeric()).count();
    let words = fact.split_whitespace().count();
    letters >= LEAST_LETTERS && words <= MOST_WORDS && !NO_FACTS.contains(&normalized(fact).as_str())
}

/// Where a text says a fact as whole words, whatever the case and the white space.
fn places(text: &str, fact: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.char_indices() {
        if found.last().is_some_and(|before| at < before.end) {
            continue;
        }
        let Some(rest) = after_fact(&text[at..], fact) else { continue };
        let end = text.len() - rest.len();
        if end > at && !splits(text, at) && !splits(text, end) {
            found.push(at..end);
        }
    }
    found
}

/// The text behind a fact with which it begins.
fn after_fact<'t>(text: &'t str, fact: &str) -> Option<&'t str> {
    let mut rest = text;
    for (place, word) in fact.split_whitespace().enumerate() {
        let next = rest.trim_start();
        if (next.len() < rest.len()) != (place > 0) {
            return None;
        }
        rest = after_word(next, word)?;
    }
    Some(rest)
}

fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let mut rest = text.chars();
    for wanted in word.chars() {
        let found = rest.next()?;
        if found != wanted && !found.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    Some(rest.as_str())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::test_kit::{hit, question};
    use super::*;

    /// A question for the fact `Alice`, or for this one.
    fn asking_for(fact: &str) -> Question {
        Question { answer: format!("{fact}."), ..question(1) }
    }

    fn pool() -> FactPool {
        FactPool::of(&["Alice", "Bruno", "Carla", "1012MB"].map(asking_for))
    }

    fn ground<'a>(question: &'a Question, hits: &'a [Hit], pool: &'a FactPool) -> Ground<'a> {
        Ground { question, query: &question.completed, past: &[], hits, gold: &[1, 2], pool, seed: 1 }
    }

    fn planting(ground: &Ground<'_>) -> Result<PlantedHits, Unplanted> {
        plant(ground)
    }

    fn said_in(hits: &[Hit], fact: &str) -> Vec<usize> {
        hits.iter().filter(|hit| holds(hit, fact)).map(|hit| hit.rank).collect()
    }

    #[test]
    fn the_planted_fact_is_in_one_hit_and_the_gold_fact_in_none() {
        let (question, pool) = (asking_for("Alice"), pool());
        let hits = [
            hit(1, "The office books trains."),
            hit(2, "ALICE ran the tests. Later Alice left."),
            hit(3, "Ask Alice for the key."),
            hit(4, "The platform has three layers."),
        ];
        let PlantedHits { plant, hits } = planting(&ground(&question, &hits, &pool)).unwrap();
        assert_eq!((plant.rank, plant.fact.as_str(), plant.dropped.as_slice()), (2, "Alice", [3].as_slice()));
        assert!(["Bruno", "Carla"].contains(&plant.planted.as_str()), "{plant:?}");
        assert_eq!(hits.iter().map(|hit| hit.rank).collect::<Vec<_>>(), [1, 2, 4]);
        assert_eq!((said_in(&hits, &plant.planted), said_in(&hits, "Alice")), (vec![2], Vec::new()));
        let new = format!("{0} ran the tests. Later {0} left.", plant.planted);
        assert_eq!((&hits[1].content, &hits[1].text), (&new, &new));
    }

    #[test]
    fn the_text_around_the_content_changes_with_it() {
        let (question, pool) = (asking_for("1012MB"), pool());
        let mut gold = hit(1, "It takes 1012MB without X.");
        gold.context.after = "With X it is 1012MB more.".to_owned();
        gold.text = format!("Disk\n{}\n{}", gold.content, gold.context.after);
        let hits = [gold, hit(2, "Trains are booked.")];
        let PlantedHits { plant, hits } = planting(&ground(&question, &hits, &pool)).unwrap();
        assert!(plant.planted.len() == 6 && plant.planted.ends_with("MB"), "{plant:?}");
        assert_eq!(hits[0].text, format!("Disk\n{}\n{}", hits[0].content, hits[0].context.after));
        assert!(plant.is_in(&hits[0].content) && plant.is_in(&hits[0].context.after));
    }

    #[test]
    fn planting_is_deterministic_and_depends_on_the_seed() {
        let (question, pool) = (asking_for("1012MB"), pool());
        let hits = [hit(1, "It takes 1012MB."), hit(2, "Trains are booked.")];
        let planted = |seed| planting(&Ground { seed, ..ground(&question, &hits, &pool) }).unwrap();
        assert_eq!(planted(1), planted(1));
        assert_ne!(planted(1).plant.planted, planted(2).plant.planted);
        let later = Question { turn: 2, ..question.clone() };
        let of_later = planting(&ground(&later, &hits, &pool)).unwrap();
        assert_ne!(planted(1).plant.planted, of_later.plant.planted, "each question has a plant of its own");
    }

    #[test]
    fn what_is_said_elsewhere_is_not_planted() {
        let (question, pool) = (asking_for("Alice"), pool());
        let hits = [hit(1, "Alice ran the tests."), hit(2, "Bruno booked trains.")];
        let planted = |ground: &Ground<'_>| planting(ground).map(|found| found.plant.planted);
        assert_eq!(planted(&ground(&question, &hits, &pool)), Ok("Carla".to_owned()));
        let turn = HistoryTurn {
            question: "Who else?".into(),
            completed_question: "Who else ran tests?".into(),
            answer: "Carla.".into(),
        };
        let past = Ground { past: std::slice::from_ref(&turn), ..ground(&question, &hits, &pool) };
        assert_eq!(planted(&past), Err(Unplanted::NoOther));
    }

    #[test]
    fn a_question_without_a_fact_to_replace_says_why() {
        let pool = pool();
        let why = |question: &Question, hits: &[Hit]| planting(&ground(question, hits, &pool)).unwrap_err();
        let (alice, other) = (hit(1, "Alice ran the tests."), hit(2, "Trains are booked."));
        let both = [alice.clone(), other.clone()];
        let of_alice = asking_for("Alice");
        let nowhere = Ground { gold: &[], ..ground(&of_alice, &both, &pool) };
        assert_eq!(planting(&nowhere).unwrap_err(), Unplanted::NoGold);
        assert_eq!(why(&asking_for("Dora"), &both), Unplanted::NoFact);
        assert_eq!(why(&asking_for("Yes"), &[hit(1, "Yes, it runs."), other.clone()]), Unplanted::NoFact);
        let asked = Question { completed: "Did Alice run them?".into(), ..asking_for("Alice") };
        assert_eq!(why(&asked, &both), Unplanted::NoFact, "the question says it itself");
        let titled = Hit { title: "Notes of Alice".into(), ..alice.clone() };
        assert_eq!(why(&asking_for("Alice"), &[titled, other]), Unplanted::NoFact, "the title stays");
        assert_eq!(why(&asking_for("Alice"), &[alice]), Unplanted::NoOther, "no other source is left");
    }

    #[test]
    fn a_fact_in_another_form_is_replaced_or_nothing_is() {
        let pool = pool();
        let facts = ["17 boards", "seventeen"].map(str::to_owned).to_vec();
        let question = Question { facts, ..asking_for("17 boards") };
        let other = hit(3, "Trains are booked.");
        let hits = [hit(1, "They ran on 17 boards."), hit(2, "Of seventeen two failed."), other.clone()];
        let planted = planting(&ground(&question, &hits, &pool)).unwrap();
        assert_eq!(planted.plant.dropped, [2]);
        let hits = [hit(1, "They ran on 17 boards, yes seventeen."), other];
        assert_eq!(planting(&ground(&question, &hits, &pool)).unwrap_err(), Unplanted::NoOther);
    }

    #[test]
    fn the_figures_of_an_answer_are_facts_where_the_answer_is_none() {
        let said = "It was extended by 45 days in total, because the board had asked for it twice.";
        let question = Question { answer: said.to_owned(), ..question(1) };
        assert_eq!(facts_of(&question), ["45"]);
        assert_eq!(facts_of(&asking_for("3.4.0-rc2")), ["3.4.0-rc2"], "each once");
        assert_eq!(facts_of(&asking_for("No")), [""; 0]);
    }

    #[test]
    fn only_whole_words_and_numbers_are_replaced() {
        let plant = Plant { rank: 1, fact: "17  boards".into(), planted: "42 boards".into(), dropped: Vec::new() };
        let text = "17\nBoards, 117 boards, 17 boarding passes and 17.5 boards";
        assert_eq!(plant.replaced(text), "42 boards, 117 boards, 17 boarding passes and 17.5 boards");
        assert_eq!(plant.replaced(""), "");
        let upper = Plant { rank: 1, fact: "straße".into(), planted: "weg".into(), dropped: Vec::new() };
        assert_eq!(upper.replaced("Die STRAßE, Straße"), "Die weg, weg");
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(256))]

        #[test]
        fn whatever_the_texts_a_plant_is_in_one_hit(
            texts in prop::collection::vec("(Alice|Bruno|Carla|17|tests|ran|[.,] ){0,8}", 1..6),
            seed in any::<u64>(),
        ) {
            let hits: Vec<Hit> = (1..).zip(&texts).map(|(rank, text)| hit(rank, text)).collect();
            let (question, pool) = (asking_for("Alice"), pool());
            let found = planting(&Ground { seed, ..ground(&question, &hits, &pool) });
            if let Ok(PlantedHits { plant, hits }) = found {
                prop_assert_eq!(said_in(&hits, &plant.planted), vec![plant.rank]);
                prop_assert!(said_in(&hits, "Alice").is_empty());
                prop_assert!(hits.iter().all(|hit| !plant.dropped.contains(&hit.rank)));
            }
        }
    }
}
