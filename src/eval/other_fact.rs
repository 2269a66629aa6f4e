//! Another fact of the same form, to stand in the place of a fact. Pure.
//!
//! Takes a fact, the facts of other questions and a seed, gives other facts in the order in which they are tried. A
//! fact with digits gets other digits in the same places; any other gives way to the fact of another question.
//! Invariants: the same fact, facts and seed give the same result; no result is the fact itself.
//! Not here: which of them nothing else says (`plant`).

use super::questions::normalized;
use super::stats::Draws;

/// Most facts that are tried.
const TRIED: usize = 16;

/// Weight of a word more or less against a letter more or less.
const LETTERS_OF_A_WORD: usize = 8;

/// Other facts of the same form.
pub(super) fn other_facts(fact: &str, others: &[String], seed: u64) -> Vec<String> {
    let mut draws = Draws::new(seed);
    if has_digit(fact) { other_figures(fact, &mut draws) } else { other_words(fact, others, &mut draws) }
}

fn has_digit(text: &str) -> bool {
    text.chars().any(|c| c.is_ascii_digit())
}

/// The fact with other digits.
fn other_figures(fact: &str, draws: &mut Draws) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for _ in 0..TRIED {
        let other = other_figure(fact, draws);
        if other != fact && !found.contains(&other) {
            found.push(other);
        }
    }
    found
}

fn other_figure(fact: &str, draws: &mut Draws) -> String {
    let mut other = String::with_capacity(fact.len());
    let mut rest = fact;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = &rest[start..];
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        other.push_str(&rest[..start]);
        other.push_str(&other_digits(&digits[..end], draws));
        rest = &digits[end..];
    }
    other.push_str(rest);
    other
}

/// Other digits for a run of digits. What may be a day stays one, and a year stays in its century.
fn other_digits(run: &str, draws: &mut Draws) -> String {
    match (run.len(), run.parse::<u64>()) {
        (2, Ok(10..=31)) => (10 + draws.below(19)).to_string(),
        (4, Ok(1900..=2099)) => format!("{}{:02}", &run[..2], draws.below(100)),
        _ => run.chars().enumerate().map(|(at, digit)| other_digit(run, at, digit, draws)).collect(),
    }
}

/// Another digit at a place of a run. A leading zero stays, and no other digit becomes one.
fn other_digit(run: &str, at: usize, digit: char, draws: &mut Draws) -> char {
    let is_padded = run.len() == 2 && run.starts_with('0');
    let value = match at {
        0 if digit == '0' && run.len() > 1 => return digit,
        0 => 1 + draws.below(9),
        _ if is_padded => 1 + draws.below(9),
        _ => draws.below(10),
    };
    char::from(b'0' + value as u8)
}

/// The form of a fact without digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Form {
    words: usize,
    letters: usize,
    beginning: Beginning,
}

/// What a fact begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beginning {
    Capital,
    Small,
    /// Neither: `--foreign`.
    Mark,
}

impl Form {
    fn of(fact: &str) -> Self {
        let beginning = match fact.chars().next() {
            Some(first) if first.is_uppercase() => Beginning::Capital,
            Some(first) if first.is_alphanumeric() => Beginning::Small,
            _ => Beginning::Mark,
        };
        Self { words: fact.split_whitespace().count(), letters: fact.chars().count(), beginning }
    }

    fn distance(self, other: Self) -> usize {
        self.words.abs_diff(other.words) * LETTERS_OF_A_WORD + self.letters.abs_diff(other.letters)
    }
}

/// The facts of other questions that are nearest in form, in drawn order.
fn other_words(fact: &str, others: &[String], draws: &mut Draws) -> Vec<String> {
    let (form, own) = (Form::of(fact), normalized(fact));
    let mut near: Vec<&String> = others
        .iter()
        .filter(|other| !has_digit(other) && Form::of(other).beginning == form.beginning && normalized(other) != own)
        .collect();
    near.sort_by(|a, b| form.distance(Form::of(a)).cmp(&form.distance(Form::of(b))).then_with(|| a.cmp(b)));
    near.dedup();
    near.truncate(TRIED);
    let mut drawn = Vec::with_capacity(near.len());
    while !near.is_empty() {
        let at = draws.below(near.len() as u64);
        drawn.push(near.remove(at).clone());
    }
    drawn
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn others() -> Vec<String> {
        let facts = ["Alice", "Bruno", "Carla Miller", "debootstrap", "--foreign", "--arch", "17 boards", "Dora"];
        facts.map(str::to_owned).to_vec()
    }

    /// The fact with a mark in the place of each digit.
    fn shape(fact: &str) -> String {
        fact.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect()
    }

    #[test]
    fn a_figure_keeps_its_shape() {
        for fact in ["1012MB", "857-216-2410", "June 27, 2017", "3.4.0-rc2", "08.04.2025", "Core i5-4570S", "7"] {
            let found = other_facts(fact, &others(), 1);
            assert!(!found.is_empty(), "{fact}");
            assert!(found.iter().all(|other| other != fact && shape(other) == shape(fact)), "{fact}: {found:?}");
        }
    }

    #[test]
    fn a_day_stays_a_day_and_a_year_stays_in_its_century() {
        for other in other_facts("June 27, 2017", &[], 5) {
            let numbers: Vec<u32> = other.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
            let [day, year] = numbers.as_slice() else { panic!("{other}") };
            assert!((10..=28).contains(day) && (2000..=2099).contains(year), "{other}");
        }
        let padded = other_facts("08", &[], 5);
        assert!(padded.iter().all(|other| other.starts_with('0') && other != "00"), "{padded:?}");
    }

    #[test]
    fn words_give_way_to_the_nearest_words_of_other_questions() {
        let mut found = other_facts("Alina", &others(), 1);
        found.sort_unstable();
        assert_eq!(found, ["Alice", "Bruno", "Carla Miller", "Dora"], "words with a capital and without digits");
        assert_eq!(other_facts("--variant", &others(), 1).len(), 2);
        assert_eq!(other_facts("alice", &["ALICE".to_owned(), "Alice".to_owned()], 1), [""; 0]);
        let many: Vec<String> = (1..=40).map(|words| vec!["Word"; words].join(" ")).collect();
        let found = other_facts("Name", &many, 1);
        assert!(found.len() == TRIED && found.iter().all(|other| other.split(' ').count() <= TRIED), "{found:?}");
    }

    #[test]
    fn another_seed_draws_another_order() {
        let drawn: std::collections::HashSet<Vec<String>> =
            (0..20).map(|seed| other_facts("Alina", &others(), seed)).collect();
        assert!(drawn.len() > 1);
        assert_ne!(other_facts("1012MB", &[], 1), other_facts("1012MB", &[], 2));
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(256))]

        #[test]
        fn the_same_seed_gives_the_same_facts_and_never_the_fact_itself(
            fact in "[A-Za-z0-9 .:-]{1,12}",
            seed in any::<u64>(),
        ) {
            let found = other_facts(&fact, &others(), seed);
            prop_assert_eq!(&found, &other_facts(&fact, &others(), seed));
            prop_assert!(found.iter().all(|other| *other != fact));
        }
    }
}
