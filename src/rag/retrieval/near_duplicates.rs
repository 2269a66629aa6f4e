//! Folds near-duplicates: candidates that say the same become one hit that lists the others.
//!
//! Takes the candidates of a question, best first; gives groups. A group holds copies (same text, same page title),
//! versions (same text, titles that differ only in a year, version, date or a word such as `draft`) and rows of a table
//! that is itself a better hit. Other titles stay apart: `Board B2` is no version of `Board B3`. Two texts are
//! near-duplicates if at least [`MIN_SIMILARITY`] of their three-word shingles are shared and their figures are equal:
//! a policy with 10 is no copy of one with 12.
//! The newest copy represents its group, at the place of the best; a version that the question names by a word of its
//! title always represents its group.
//! Invariants: pure; every candidate is in one group, once; groups keep the order of their best members; time is
//! bounded by the number of candidates, however long their texts.
//! Not here: similarity of vectors (`attribution`).

use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher as _};

use serde::{Deserialize, Serialize};

use super::versions::{is_version_mark, newest, version_words};
use ragonite_base::text::{has_digit, lower_words, month_named};
use ragonite_base::{DocumentId, EvidenceId, dates_in};
use ragonite_document::evidence::Kind;

/// Least Jaccard similarity of the shingles of near-duplicates.
pub(super) const MIN_SIMILARITY: f64 = 0.9;

/// Words in a shingle.
const SHINGLE: usize = 3;

/// Words of a text that are compared.
pub(super) const MAX_WORDS: usize = 4_000;

/// Size of the MinHash sketch: the lowest hashes of the shingles.
const MINHASH_SIZE: usize = 512;

/// Longest table in words that may list its own rows. Longer tables are often cut in the prompt, and their rows then
/// say more.
const LONGEST_TABLE: usize = 400;

/// Words that tell drafts and copies apart.
const VERSION_WORDS: &[&str] = &[
    "draft", "copy", "final", "old", "new", "archive", "archived", "restored", "replaced", "entwurf", "kopie", "alt",
    "neu", "archiv", "of", "von",
];

/// Relation of a near-duplicate to its hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// Same text on a page with the same title.
    Copy,
    /// The same text in another version of the page.
    Version,
    /// A row of the table that is the hit.
    Row,
}

impl Relation {
    /// The word in the JSON contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Version => "version",
            Self::Row => "row",
        }
    }
}

/// A near-duplicate of a hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duplicate {
    /// Relation to the hit.
    pub relation: Relation,
    /// The evidence.
    pub evidence: EvidenceId,
    /// Its document.
    pub document: DocumentId,
    /// Title of the document.
    pub title: String,
    /// Address of the document, or its path.
    pub url: String,
    /// Place in the document.
    pub location: String,
}

/// The fields that are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub(super) document: DocumentId,
    pub(super) kind: Kind,
    pub(super) table: Option<u32>,
    pub(super) row: Option<u32>,
    pub(super) space: Option<&'a str>,
    pub(super) title: &'a str,
    pub(super) heading: &'a str,
    pub(super) url: &'a str,
    /// Date of the source; dates of one form compare as text.
    pub(super) date: Option<&'a str>,
    pub(super) content: &'a str,
}

/// A group of near-duplicates, as places in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// The one that becomes the hit.
    pub(super) shown: usize,
    /// The others, best first.
    pub(super) others: Vec<(usize, Relation)>,
}

/// Groups the candidates.
pub(super) fn group(candidates: &[Candidate<'_>], question: &str) -> Vec<Group> {
    let asked: HashSet<String> = lower_words(question).collect();
    let texts: Vec<Text<'_>> = candidates.iter().map(Text::of).collect();
    let mut groups: Vec<Group> = Vec::new();
    for at in 0..texts.len() {
        let found = groups.iter_mut().find_map(|group| {
            let relation = texts[group.shown].relation(&texts[at], &asked)?;
            Some((group, relation))
        });
        match found {
            Some((group, Relation::Copy)) if newer(&candidates[at], &candidates[group.shown]) => {
                group.others.insert(0, (group.shown, Relation::Copy));
                group.shown = at;
            }
            Some((group, relation)) => group.others.push((at, relation)),
            None => groups.push(Group { shown: at, others: Vec::new() }),
        }
    }
    groups
}

/// The later of two copies is more likely to be maintained.
fn newer(a: &Candidate<'_>, b: &Candidate<'_>) -> bool {
    newest(&[0, 1], &[*a, *b]) == Some(0)
}

/// A candidate, prepared for comparison.
struct Text<'a> {
    candidate: &'a Candidate<'a>,
    words: usize,
    sample: BTreeSet<u64>,
    /// Words with a digit.
    figures: BTreeSet<String>,
    title: Vec<String>,
    heading: Vec<String>,
    /// The title without dates, version numbers and draft words.
    stem: Vec<String>,
}

impl<'a> Text<'a> {
    fn of(candidate: &'a Candidate<'a>) -> Self {
        let words: Vec<String> = lower_words(candidate.content).take(MAX_WORDS).collect();
        let title: Vec<String> = lower_words(candidate.title).collect();
        Self {
            candidate,
            words: words.len(),
            sample: minhash(&words),
            figures: words.into_iter().filter(|word| has_digit(word)).collect(),
            stem: plain_title(candidate.title),
            title,
            heading: lower_words(candidate.heading).collect(),
        }
    }

    /// Relation of `other`, which ranks lower, to this candidate; none if it says something else.
    fn relation(&self, other: &Self, asked: &HashSet<String>) -> Option<Relation> {
        if self.candidate.document == other.candidate.document {
            return self.has_row(other).then_some(Relation::Row);
        }
        if self.candidate.kind != other.candidate.kind || self.heading != other.heading || !self.repeats(other) {
            return None;
        }
        if self.title == other.title {
            return Some(Relation::Copy);
        }
        let named = other.title.iter().any(|word| asked.contains(word) && !self.title.contains(word));
        (!named && !self.stem.is_empty() && self.stem == other.stem).then_some(Relation::Version)
    }

    fn has_row(&self, other: &Self) -> bool {
        let (whole, part) = (self.candidate, other.candidate);
        whole.kind == Kind::Table
            && part.kind == Kind::Row
            && whole.table == part.table
            && self.words <= LONGEST_TABLE
            && other.sample.is_subset(&self.sample)
    }

    fn repeats(&self, other: &Self) -> bool {
        self.figures == other.figures && is_near_duplicate(&self.sample, &other.sample)
    }
}

/// Whether two texts are near-duplicates: the bottom-k MinHash estimate of their Jaccard similarity.
pub(super) fn is_near_duplicate(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> bool {
    let union: BTreeSet<u64> = a.union(b).copied().take(MINHASH_SIZE).collect();
    let common = union.iter().filter(|hash| a.contains(hash) && b.contains(hash)).count();
    common as f64 >= MIN_SIMILARITY * union.len() as f64
}

pub(super) fn minhash(words: &[String]) -> BTreeSet<u64> {
    let hash = |run: &[String]| {
        let mut hasher = DefaultHasher::new();
        run.hash(&mut hasher);
        hasher.finish()
    };
    // A text shorter than a shingle is one shingle.
    let mut runs: BTreeSet<u64> = words.windows(SHINGLE.min(words.len()).max(1)).map(hash).collect();
    while runs.len() > MINHASH_SIZE {
        runs.pop_last();
    }
    runs
}

/// The words of a title without dates, version numbers, and words for drafts and months.
fn plain_title(title: &str) -> Vec<String> {
    let dates = dates_in(title);
    let is_in_date = |at: usize| dates.iter().any(|date| !date.readings.is_empty() && date.span.contains(&at));
    let undated: String = title.char_indices().map(|(at, c)| if is_in_date(at) { ' ' } else { c }).collect();
    let unmarked = version_words(&undated).filter(|word| !is_version_mark(word));
    let words = unmarked.flat_map(|word| lower_words(&word).collect::<Vec<_>>());
    let is_mark = |word: &str| VERSION_WORDS.contains(&word) || month_named(word).is_some();
    words.filter(|word| !is_mark(word)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "When a limit is passed, the launch stops and the crew returns to the harbour.";

    fn on<'a>(document: i64, title: &'a str, content: &'a str) -> Candidate<'a> {
        Candidate {
            document: DocumentId(document),
            kind: Kind::Passage,
            table: None,
            row: None,
            space: None,
            title,
            heading: "Limits",
            url: "",
            date: None,
            content,
        }
    }

    fn shapes(groups: &[Group]) -> Vec<(usize, Vec<(usize, &'static str)>)> {
        let others = |group: &Group| group.others.iter().map(|(at, relation)| (*at, relation.as_str())).collect();
        groups.iter().map(|group| (group.shown, others(group))).collect()
    }

    #[test]
    fn a_copy_and_a_version_stand_behind_the_best() {
        let other = "Trains are booked by the office.";
        let candidates = [
            on(1, "Field Work Policy 2025", TEXT),
            on(2, "Travel", other),
            on(
                3,
                "Field Work Policy 2024",
                "When a limit is passed the launch stops; and the crew returns to the harbour",
            ),
            on(4, "Field work policy 2025", TEXT),
        ];
        let groups = group(&candidates, "What happens when a limit is passed?");
        assert_eq!(shapes(&groups), [(0, vec![(2, "version"), (3, "copy")]), (1, vec![])]);
    }

    #[test]
    fn a_version_that_the_question_names_stays() {
        let candidates = [on(1, "Field Work Policy 2025", TEXT), on(2, "Field Work Policy 2024", TEXT)];
        assert_eq!(group(&candidates, "Who returns under the 2024 policy?").len(), 2);
        assert_eq!(group(&candidates, "Who returns under the 2025 policy?").len(), 1);
    }

    #[test]
    fn another_figure_or_title_or_heading_is_no_copy() {
        let limit = |value: &str| format!("The wind limit for launches of buoys from the long pier is {value} m/s");
        let (ten, twelve) = (limit("10"), limit("12"));
        assert_eq!(group(&[on(1, "Policy 2025", &ten), on(2, "Policy 2024", &twelve)], "").len(), 2);
        assert_eq!(group(&[on(1, "Policy", TEXT), on(2, "Handbook", TEXT)], "").len(), 2);
        assert_eq!(
            group(&[on(1, "2024", TEXT), on(2, "2025", TEXT)], "").len(),
            2,
            "the titles have nothing in common"
        );
        let elsewhere = Candidate { heading: "Other limits", ..on(2, "Policy", TEXT) };
        assert_eq!(group(&[on(1, "Policy", TEXT), elsewhere], "").len(), 2);
    }

    #[test]
    fn pages_whose_titles_differ_in_an_id_stay_apart_and_versions_of_one_page_do_not() {
        let groups = |one, other| group(&[on(1, one, TEXT), on(2, other, TEXT)], "").len();
        for (one, other) in [
            ("Board B2", "Board B3"),
            ("XY-1654", "XY-1655"),
            ("Fix for XY-1654", "Fix for XY-1655"),
            ("Pump 1", "Pump 2"),
            ("Radio Q3 2024", "Radio Q4 2024"),
        ] {
            assert_eq!(groups(one, other), 2, "{one}");
        }
        for (one, other) in [
            ("Pump rules 2024", "Pump rules 2025"),
            ("Pump rules v2", "Pump rules v10"),
            ("Pump rules 9.0.2", "Pump rules 9.1"),
            ("Pump rules", "Pump rules (draft)"),
            ("Board B2 2024-05-01", "Board B2 2024-06-11"),
            ("Call of 3 March 2025", "Call of April 10, 2025"),
            ("Pumpen 3. März 2025", "Pumpen 2025"),
        ] {
            assert_eq!(groups(one, other), 1, "{one}");
        }
    }

    #[test]
    fn the_newest_copy_speaks_at_the_place_of_the_best() {
        let at = |document, url| Candidate { url, ..on(document, "Charter", TEXT) };
        let candidates =
            [at(1, "/wiki/pages/7/Charter"), at(2, "/wiki/pages/12/Charter"), on(3, "Travel", "Trains run.")];
        assert_eq!(shapes(&group(&candidates, "")), [(1, vec![(0, "copy")]), (2, vec![])]);
        let dated = |document, date| Candidate { date: Some(date), ..on(document, "Charter", TEXT) };
        let candidates = [dated(1, "2024-05-01"), dated(2, "2023-01-01")];
        assert_eq!(shapes(&group(&candidates, "")), [(0, vec![(1, "copy")])]);
    }

    #[test]
    fn a_row_stands_behind_its_table_and_never_before_it() {
        let table = Candidate {
            kind: Kind::Table,
            table: Some(1),
            ..on(1, "Tests", "Row 1 in Table 1: Board is B2. Row 2 in Table 1: Board is C1")
        };
        let row = Candidate { kind: Kind::Row, table: Some(1), ..on(1, "Tests", "Row 2 in Table 1: Board is C1") };
        assert_eq!(shapes(&group(&[table, row], "")), [(0, vec![(1, "row")])]);
        assert_eq!(group(&[row, table], "").len(), 2, "the table says more than the row");
        assert_eq!(group(&[table, Candidate { table: Some(2), ..row }], "").len(), 2);
        let long = format!("{} {}", table.content, "word ".repeat(LONGEST_TABLE));
        assert_eq!(group(&[Candidate { content: &long, ..table }, row], "").len(), 2);
    }

    #[test]
    fn texts_of_any_length_are_compared() {
        let long: String = (0..50_000).map(|n| format!("word{} ", n % 7_919)).collect();
        assert_eq!(group(&[on(1, "A page", &long), on(2, "A page", &long)], &long).len(), 1);
        assert_eq!(group(&[on(1, "A page", ""), on(2, "A page", "")], "").len(), 1);
        assert!(group(&[], "").is_empty());
    }

    proptest! {
        #[test]
        fn every_candidate_is_in_one_group_and_the_best_in_the_first(
            pages in proptest::collection::vec((0_i64..4, 0_usize..4, 0_usize..4), 0..20),
        ) {
            let titles = ["Policy 2024", "Policy 2025", "Travel", "2025"];
            let texts = [TEXT, "Trains are booked by the office.", "", "Row 1 in Table 1: Board is B2"];
            let candidates: Vec<_> = pages.iter().map(|(document, title, text)| {
                on(*document, titles[*title], texts[*text])
            }).collect();
            let groups = group(&candidates, "the 2025 policy");
            let places: Vec<Vec<usize>> = groups.iter().map(|group| {
                let mut places: Vec<usize> = group.others.iter().map(|(at, _)| *at).chain([group.shown]).collect();
                places.sort_unstable();
                places
            }).collect();
            let mut all: Vec<usize> = places.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..candidates.len()).collect::<Vec<_>>());
            prop_assert!(places.windows(2).all(|pair| pair[0][0] < pair[1][0]));
            prop_assert!(places.first().is_none_or(|best| best[0] == 0));
        }
    }
}
