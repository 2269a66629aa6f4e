//! Rankings of pages against gold pages -> figures. Pure.
//!
//! A page is told by three names, and each gives figures of its own: its number, which is the true figure; its URL
//! string, which the paper compares and which misses a page whose URL is written otherwise; and its text, by which
//! copies of a page in two spaces are one. Where a hit stands for copies of itself on other pages, those pages are found
//! by text too: the same words under the same title and heading cannot be told apart by any ranker.

use serde::{Deserialize, Serialize};

/// Hits that `precision_at_10` looks at.
const PRECISION_AT: usize = 10;

/// A page by its three names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Page {
    /// The number in its URL; its URL or path where that has none.
    pub number: String,
    /// Its URL or path, as it is written.
    pub url: String,
    /// Fingerprint of its title and text.
    pub content: String,
}

impl Page {
    /// Whether both have the same number, or the same text.
    #[must_use]
    pub fn is_copy_of(&self, other: &Self) -> bool {
        self.number == other.number || self.content == other.content
    }
}

/// The page of a hit, with the pages of its copies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    /// Its page.
    #[serde(flatten)]
    pub page: Page,
    /// The other pages that have the same text, which the hit names in place of hits of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<Page>,
}

impl Placed {
    /// Whether this is a gold page, or a copy of one.
    #[must_use]
    pub fn is_copy_of(&self, gold: &Page) -> bool {
        std::iter::once(&self.page).chain(&self.copies).any(|page| gold.is_copy_of(page))
    }
}

impl From<Page> for Placed {
    fn from(page: Page) -> Self {
        Self { page, copies: Vec::new() }
    }
}

/// The number of a Confluence page: the digits after `/pages/`, or those of `pageId`.
pub(super) fn page_number(url: &str) -> Option<&str> {
    ["/pages/", "pageId="].iter().find_map(|mark| {
        let after = &url[url.find(mark)? + mark.len()..];
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        (end > 0).then(|| &after[..end])
    })
}

/// Where the gold pages of one question came in its ranking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// Rank of the first hit on a gold page, by number, from 1.
    pub page: Option<usize>,
    /// The same by text.
    pub content: Option<usize>,
    /// The same by URL string.
    pub url: Option<usize>,
    /// Hits on gold pages among the first ten, by number.
    pub gold_in_ten: usize,
}

impl Outcome {
    /// Compares the pages of the hits, best first, with the gold pages.
    #[must_use]
    pub fn of(gold: &[Page], hits: &[Placed]) -> Self {
        let first = |is_gold: &dyn Fn(&Page, &Placed) -> bool| {
            hits.iter().position(|hit| gold.iter().any(|gold| is_gold(gold, hit))).map(|at| at + 1)
        };
        let by_number = |hit: &&Placed| gold.iter().any(|gold| gold.number == hit.page.number);
        Self {
            page: first(&|gold, hit| gold.number == hit.page.number),
            content: first(&|gold, hit| hit.is_copy_of(gold)),
            url: first(&|gold, hit| gold.url == hit.page.url),
            gold_in_ten: hits.iter().take(PRECISION_AT).filter(by_number).count(),
        }
    }
}

/// How well gold pages were ranked: shares of the questions, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Ranked {
    /// The best hit is on a gold page.
    pub p_at_1: f64,
    /// One of the first five hits is.
    pub hit_at_5: f64,
    /// One of the first ten hits is.
    pub hit_at_10: f64,
    /// Mean of 1 / rank of the first hit on a gold page, 0 where there is none.
    pub mrr: f64,
}

impl Ranked {
    fn of(ranks: &[Option<usize>]) -> Self {
        let mean = |value: &dyn Fn(usize) -> f64| {
            ranks.iter().map(|rank| rank.map_or(0.0, value)).sum::<f64>() / ranks.len().max(1) as f64
        };
        let within = |k: usize| mean(&|rank| f64::from(u8::from(rank <= k)));
        Self { p_at_1: within(1), hit_at_5: within(5), hit_at_10: within(10), mrr: mean(&|rank| 1.0 / rank as f64) }
    }
}

/// The figures of some questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Scores {
    /// How many they are.
    pub questions: usize,
    /// By page number.
    pub page: Ranked,
    /// By text.
    pub content: Ranked,
    /// By URL string.
    pub url: Ranked,
    /// Mean share of gold pages, by number, in the first ten hits. Fewer hits than ten count as misses.
    pub precision_at_10: f64,
}

impl Scores {
    /// Puts the outcomes of some questions together; no questions give zeros.
    pub fn of<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Self {
        let outcomes: Vec<&Outcome> = outcomes.into_iter().collect();
        let ranked = |rank: &dyn Fn(&Outcome) -> Option<usize>| {
            Ranked::of(&outcomes.iter().map(|outcome| rank(outcome)).collect::<Vec<_>>())
        };
        let gold: usize = outcomes.iter().map(|outcome| outcome.gold_in_ten).sum();
        Self {
            questions: outcomes.len(),
            page: ranked(&|outcome| outcome.page),
            content: ranked(&|outcome| outcome.content),
            url: ranked(&|outcome| outcome.url),
            precision_at_10: gold as f64 / (PRECISION_AT * outcomes.len().max(1)) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: &str, url: &str, content: &str) -> Page {
        Page { number: number.into(), url: url.into(), content: content.into() }
    }

    /// A page that is like no other.
    fn other(name: &str) -> Page {
        page(name, name, name)
    }

    fn placed(pages: &[Page]) -> Vec<Placed> {
        pages.iter().cloned().map(Placed::from).collect()
    }

    fn same(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn the_number_of_a_page_is_read_from_its_url() {
        let space = "https://openxt.example.net/wiki/spaces/TEST/pages/";
        assert_eq!(page_number(&format!("{space}64716806/Bats+Bash")), Some("64716806"));
        assert_eq!(page_number(&format!("{space}64716806")), Some("64716806"));
        assert_eq!(page_number("/wiki/pages/viewpage.action?pageId=17"), Some("17"));
        for none in ["", "regression-2025-03.json", "/pages/", "/pages/Home", "/spaces/64716806"] {
            assert_eq!(page_number(none), None, "{none}");
        }
    }

    #[test]
    fn a_url_that_differs_in_punctuation_is_the_same_page_but_another_string() {
        let gold = page("64716806", "/pages/64716806/Bats+Bash", "text of gold");
        let hit = page("64716806", "/pages/64716806/Bats:+Bash", "text of gold");
        let outcome = Outcome::of(&[gold], &placed(&[hit]));
        assert_eq!(outcome, Outcome { page: Some(1), content: Some(1), url: None, gold_in_ten: 1 });
    }

    #[test]
    fn a_copy_in_another_space_counts_by_text_only() {
        let gold = page("1", "/a/pages/1", "same text");
        let copy = page("2", "/b/pages/2", "same text");
        let outcome = Outcome::of(std::slice::from_ref(&gold), &placed(&[copy, other("x"), gold.clone()]));
        assert_eq!(outcome, Outcome { page: Some(3), content: Some(1), url: Some(3), gold_in_ten: 1 });
    }

    #[test]
    fn a_gold_page_that_a_hit_names_as_its_copy_is_found_by_text_only() {
        let gold = page("1", "/a/pages/1", "the same evidence, and a list of its own");
        let hits = [Placed::from(other("x")), Placed { page: other("y"), copies: vec![other("z"), gold.clone()] }];
        let outcome = Outcome::of(&[gold], &hits);
        assert_eq!(outcome, Outcome { page: None, content: Some(2), url: None, gold_in_ten: 0 });
    }

    #[test]
    fn any_gold_page_counts_and_precision_looks_at_ten_hits() {
        let (a, b) = (other("a"), other("b"));
        let mut hits = vec![other("x"), b.clone(), a.clone(), a.clone()];
        hits.extend(std::iter::repeat_n(other("y"), 6));
        hits.push(a.clone());
        let outcome = Outcome::of(&[a.clone(), b], &placed(&hits));
        assert_eq!((outcome.page, outcome.gold_in_ten), (Some(2), 3));
        assert_eq!(Outcome::of(&[a], &[]), Outcome::default());
        assert_eq!(Outcome::of(&[], &placed(&hits)), Outcome::default());
    }

    #[test]
    fn figures_of_a_hand_made_run_are_exact() {
        let rank = |page: Option<usize>, gold_in_ten| Outcome { page, content: page, url: None, gold_in_ten };
        let outcomes = [rank(Some(1), 10), rank(Some(2), 4), rank(Some(5), 1), rank(Some(10), 1), rank(None, 0)];
        let scores = Scores::of(&outcomes);
        assert_eq!(scores.questions, 5);
        assert!(same(scores.page.p_at_1, 0.2));
        assert!(same(scores.page.hit_at_5, 0.6));
        assert!(same(scores.page.hit_at_10, 0.8));
        assert!(same(scores.page.mrr, (1.0 + 0.5 + 0.2 + 0.1) / 5.0));
        assert!(same(scores.precision_at_10, 16.0 / 50.0));
        assert_eq!(scores.url, Ranked::default());
        assert_eq!(scores.content, scores.page);
    }

    #[test]
    fn a_gold_page_beyond_the_tenth_hit_counts_for_mrr_alone() {
        let far = Outcome { page: Some(20), ..Outcome::default() };
        let scores = Scores::of(&[far]);
        assert_eq!((scores.page.p_at_1, scores.page.hit_at_5, scores.page.hit_at_10), (0.0, 0.0, 0.0));
        assert!(same(scores.page.mrr, 0.05));
    }

    #[test]
    fn no_questions_give_zeros() {
        assert_eq!(Scores::of(&[]), Scores::default());
    }
}
