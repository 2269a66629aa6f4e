//! Compares rankings of pages with gold pages. Pure.
//!
//! A page has three names with figures of their own: its number (the true figure); its URL string (as in the paper,
//! which misses pages with another spelling of the URL); and its text (which unites copies in two spaces). A hit with
//! copies on other pages also finds those pages by text, because no ranker can tell equal texts under equal titles
//! apart.

use serde::{Deserialize, Serialize};

use super::metric::{PageMatch, Ranking};

/// Hits counted by `precision_at_10`.
const PRECISION_AT: usize = 10;

/// A page by its three names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Page {
    /// Number in its URL; without one its URL, or else its path.
    pub number: String,
    /// Its URL or path as written.
    pub url: String,
    /// Fingerprint of its title and text.
    pub content: String,
}

impl Page {
    /// Whether both have the same number or the same text.
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
    /// Other pages with the same text, listed by the hit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<Page>,
}

impl Placed {
    /// Whether this is a gold page or a copy of one.
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

/// Ranks of the gold pages of a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// Rank of the first hit on a gold page by number, from 1.
    pub page: Option<usize>,
    /// The same rank by text.
    pub content: Option<usize>,
    /// The same rank by URL string.
    pub url: Option<usize>,
    /// Hits on gold pages by number among the first ten.
    pub gold_in_ten: usize,
}

impl Outcome {
    /// Rank of the first hit on a gold page.
    pub(super) fn rank(&self, page_match: PageMatch) -> Option<usize> {
        match page_match {
            PageMatch::Page => self.page,
            PageMatch::Content => self.content,
            PageMatch::Url => self.url,
        }
    }

    /// Share of gold pages in the first ten of `k` hits; missing hits count as misses; none for `k` below ten.
    pub(super) fn precision_at_10(&self, k: usize) -> Option<f64> {
        (k >= PRECISION_AT).then(|| self.gold_in_ten as f64 / PRECISION_AT as f64)
    }

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

impl Ranking {
    /// The score of a question with its first gold page at `rank` of `k` hits; none if `k` is less than the metric
    /// needs.
    pub(super) fn of(self, rank: Option<usize>, k: usize) -> Option<f64> {
        let within = |first: usize| (k >= first).then(|| share(rank.is_some_and(|rank| rank <= first)));
        match self {
            Self::PAt1 => within(1),
            Self::HitAt5 => within(5),
            Self::HitAt10 => within(10),
            Self::Mrr => Some(rank.map_or(0.0, |rank| 1.0 / rank as f64)),
        }
    }
}

/// 1 for true.
pub(super) fn share(is_so: impl Into<u8>) -> f64 {
    f64::from(is_so.into())
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

    #[test]
    fn a_url_that_differs_in_punctuation_is_the_same_page_but_another_string() {
        let gold = page("48210377", "/pages/48210377/Pump+rooms", "text of gold");
        let hit = page("48210377", "/pages/48210377/Pump:+rooms", "text of gold");
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
    fn a_rank_is_worth_nothing_where_fewer_hits_were_looked_for() {
        let of = |rank, k| [Ranking::PAt1, Ranking::HitAt5, Ranking::HitAt10, Ranking::Mrr].map(|r| r.of(rank, k));
        assert_eq!(of(Some(1), 10), [Some(1.0); 4]);
        assert_eq!(of(Some(5), 10), [Some(0.0), Some(1.0), Some(1.0), Some(0.2)]);
        assert_eq!(of(Some(10), 10), [Some(0.0), Some(0.0), Some(1.0), Some(0.1)]);
        assert_eq!(of(Some(20), 20), [Some(0.0), Some(0.0), Some(0.0), Some(0.05)]);
        assert_eq!(of(None, 10), [Some(0.0); 4]);
        assert_eq!(of(Some(2), 3), [Some(0.0), None, None, Some(0.5)]);
        assert_eq!(of(Some(2), 5), [Some(0.0), Some(1.0), None, Some(0.5)]);
        let outcome = Outcome { gold_in_ten: 3, ..Outcome::default() };
        assert_eq!((outcome.precision_at_10(10), outcome.precision_at_10(9)), (Some(0.3), None));
    }
}
