//! Hits of several versions of one page are told apart, and the newest comes first.
//!
//! Takes the hits of one question, best first, gives for each what it is among the versions of its page, and the order
//! in which they are shown. Two hits are of versions of one page when the pages have the same title, or titles that
//! differ in what tells versions apart only, and texts under the same heading that say the same but for their figures.
//! Pages of a series, whose titles name a day, are no versions of each other. The newest takes the best place of its
//! versions. A question that names some of them wants those, one about the past the older ones, one about changes all.
//! Invariants: pure; every hit keeps a place; only hits that are versions of each other change places; nothing is called
//! older where nothing says which is newer.
//! Not here: what says the same word by word (`copies`).

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use time::Date;

use super::copies::{Candidate, SAME, has_digit, sample, tells_versions_apart, words};
use crate::base::{DayOrMonth, EvidenceId, dates_in, page_number};

/// Words of a question about what was said before.
const PAST: [&str; 23] = [
    "previous",
    "previously",
    "older",
    "earlier",
    "former",
    "formerly",
    "yesterday",
    "yesterdays",
    "outdated",
    "vorher",
    "vorherige",
    "vorherigen",
    "ältere",
    "älteren",
    "frühere",
    "früheren",
    "früher",
    "gestern",
    "gestrige",
    "gestrigen",
    "veraltet",
    "veraltete",
    "veralteten",
];

/// Beginnings of words of a question about several versions.
const CHANGE: [&str; 9] =
    ["chang", "differ", "compar", "version", "änder", "geändert", "unterschied", "vergleich", "fassung"];

/// Words of a title or path that say that a page is not the one in use.
const NOT_IN_USE: [&str; 8] = ["old", "archive", "archived", "draft", "alt", "archiv", "entwurf", "outdated"];

/// Which version of a page a hit is from, where others of it were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Whether there is a newer one.
    pub age: Age,
    /// Whether the question is about this one.
    pub wanted: Wanted,
    /// The evidence of the newest version, the same for all of them.
    pub newest: EvidenceId,
}

/// Whether there is a newer version among the hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Age {
    /// No hit is newer.
    Newest,
    /// Another hit is newer.
    Older,
}

impl Age {
    /// The words for it, in lists and prompts.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Self::Newest => "newest version",
            Self::Older => "older version",
        }
    }
}

/// Whether a question is about a version of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// It is: the newest, unless the question says otherwise.
    Yes,
    /// It is about another version.
    No,
}

/// The order of the hits, and what each is among the versions of its page, in that order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ordered {
    /// Places in the list that was given.
    pub(super) places: Vec<usize>,
    /// Of each hit in the new order, with places in the list that was given.
    pub(super) versions: Vec<Option<Told>>,
}

/// What a hit is among the versions of its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) age: Age,
    pub(super) wanted: Wanted,
    /// Place of the newest in the list that was given.
    pub(super) newest: usize,
}

/// Tells versions apart and puts those first that the question is about.
pub(super) fn order(hits: &[Candidate<'_>], question: &str) -> Ordered {
    let mut places: Vec<usize> = (0..hits.len()).collect();
    let mut told = vec![None; hits.len()];
    let asked: HashSet<String> = words(question).collect();
    for best_first in pages(hits) {
        let is_newest = |at: &&usize| {
            let newer = |other: &usize| newness(&hits[**at], &hits[*other]) == Some(Ordering::Greater);
            best_first.iter().all(|other| other == *at || newer(other))
        };
        let Some(newest) = best_first.iter().find(is_newest).copied() else { continue };
        let wanted = wanted(&best_first, newest, hits, &asked);
        let (first, last): (Vec<usize>, Vec<usize>) = best_first.iter().partition(|at| wanted.contains(at));
        for (place, hit) in best_first.iter().zip(first.into_iter().chain(last)) {
            places[*place] = hit;
            let age = if hit == newest { Age::Newest } else { Age::Older };
            let wanted = if wanted.contains(&hit) { Wanted::Yes } else { Wanted::No };
            told[*place] = Some(Told { age, wanted, newest });
        }
    }
    Ordered { places, versions: told }
}

/// The versions that the question is about.
fn wanted(versions: &[usize], newest: usize, hits: &[Candidate<'_>], asked: &HashSet<String>) -> Vec<usize> {
    let named = named(versions, hits, asked);
    if !named.is_empty() {
        return named;
    }
    let starts = |beginnings: &[&str]| asked.iter().any(|word| beginnings.iter().any(|with| word.starts_with(with)));
    if starts(&CHANGE) {
        return versions.to_vec();
    }
    if asked.iter().any(|word| PAST.contains(&word.as_str())) {
        return versions.iter().copied().filter(|at| *at != newest).collect();
    }
    vec![newest]
}

/// Where a text stands: what the title of all versions says, and the heading.
type Place = (Vec<String>, Vec<String>);

/// The places of hits that are of one page in several versions, each set best first.
fn pages(hits: &[Candidate<'_>]) -> Vec<Vec<usize>> {
    let mut alike: HashMap<Place, Vec<Vec<usize>>> = HashMap::new();
    for (at, hit) in hits.iter().enumerate() {
        let Some(stem) = stem(hit) else { continue };
        let sets = alike.entry((stem, words(hit.heading).collect())).or_default();
        let of_page = |set: &&mut Vec<usize>| {
            set.iter().all(|other| hits[*other].document != hit.document) && says_alike(&hits[set[0]], hit)
        };
        match sets.iter_mut().find(of_page) {
            Some(set) => set.push(at),
            None => sets.push(vec![at]),
        }
    }
    let mut sets: Vec<Vec<usize>> = alike.into_values().flatten().filter(|set| set.len() > 1).collect();
    sets.sort_unstable();
    sets
}

/// What the titles of all versions of a page have in common; nothing for a page of a series.
fn stem(hit: &Candidate<'_>) -> Option<Vec<String>> {
    let of_a_day =
        dates_in(hit.title).iter().flat_map(|date| &date.readings).any(|read| matches!(read, DayOrMonth::Day(_)));
    if of_a_day {
        return None;
    }
    let stem: Vec<String> = words(hit.title).filter(|word| !tells_versions_apart(word)).collect();
    (!stem.is_empty()).then_some(stem)
}

/// Whether two texts are the same but for their figures.
fn says_alike(a: &Candidate<'_>, b: &Candidate<'_>) -> bool {
    if a.kind != b.kind {
        return false;
    }
    let (a, b) = (without_figures(a.content), without_figures(b.content));
    let common = a.intersection(&b).count();
    common as f64 >= SAME * a.union(&b).count() as f64
}

fn without_figures(text: &str) -> BTreeSet<u64> {
    let masked: Vec<String> = words(text).map(|word| if has_digit(&word) { "0".to_owned() } else { word }).collect();
    sample(&masked)
}

/// The versions whose title or date has a word of the question that another lacks.
fn named(versions: &[usize], hits: &[Candidate<'_>], asked: &HashSet<String>) -> Vec<usize> {
    let told: Vec<(usize, HashSet<String>)> = versions.iter().map(|at| (*at, told_by(&hits[*at]))).collect();
    let tells = |word: &String| asked.contains(word) && !told.iter().all(|(_, words)| words.contains(word));
    let most = told.iter().map(|(_, words)| words.iter().filter(|word| tells(word)).count()).max().unwrap_or(0);
    let named = told.iter().filter(|(_, words)| most > 0 && words.iter().filter(|word| tells(word)).count() == most);
    named.map(|(at, _)| *at).collect()
}

fn told_by(hit: &Candidate<'_>) -> HashSet<String> {
    let date = hit.date.unwrap_or_default();
    words(hit.title).chain(words(date)).collect()
}

/// Which of two versions is newer: by their dates, else by the numbers of wiki pages, which go by the order they were
/// made in, else by the numbers and words in titles and paths. None where nothing tells.
fn newness(a: &Candidate<'_>, b: &Candidate<'_>) -> Option<Ordering> {
    let different = |order: &Ordering| order.is_ne();
    let dates = || Some(day(a)?.cmp(&day(b)?)).filter(different);
    // Of one day, times of one form compare as text.
    let times = || {
        let (one, other) = a.date.zip(b.date).filter(|(a, b)| a.len() == b.len())?;
        day(a).map(|_| one.cmp(other)).filter(different)
    };
    let numbers = || Some(number(a.url)?.cmp(&number(b.url)?)).filter(different);
    let in_use =
        |hit: &Candidate<'_>| !words(hit.title).chain(words(hit.url)).any(|word| NOT_IN_USE.contains(&word.as_str()));
    let uses = || Some(in_use(a).cmp(&in_use(b))).filter(different);
    let titles = || by_figures(a.title, b.title);
    let paths = || by_figures(a.url, b.url);
    dates().or_else(times).or_else(numbers).or_else(uses).or_else(titles).or_else(paths)
}

fn day(hit: &Candidate<'_>) -> Option<Date> {
    let date = hit.date?;
    // RFC 3339 joins day and time to one word: its first ten characters are the day.
    let reading = [date, date.get(..10).unwrap_or(date)]
        .iter()
        .find_map(|text| dates_in(text).first()?.readings.first().copied())?;
    match reading {
        DayOrMonth::Day(day) => Some(day),
        DayOrMonth::Month { year, month } => Date::from_calendar_date(year, month, 1).ok(),
    }
}

fn number(url: &str) -> Option<u64> {
    page_number(url)?.parse().ok()
}

/// Compares the numbers of two texts that differ in nothing else, as in `report-9.0.2` and `report-9.0.10`.
fn by_figures(a: &str, b: &str) -> Option<Ordering> {
    let (words_of_a, words_of_b): (Vec<String>, Vec<String>) = (words(a).collect(), words(b).collect());
    if words_of_a.len() != words_of_b.len() {
        return None;
    }
    let (one, other) = words_of_a.iter().zip(&words_of_b).find(|(one, other)| one != other)?;
    let rest_is_alike =
        words_of_a.iter().zip(&words_of_b).all(|(one, other)| one == other || figure(one, other).is_some());
    figure(one, other).filter(|order| rest_is_alike && order.is_ne())
}

/// The order of two words such as `v2` and `v10`; none where they differ in more than a number.
fn figure(a: &str, b: &str) -> Option<Ordering> {
    let parts = |word: &str| -> Option<(String, u64)> {
        let digits = word.find(|c: char| c.is_ascii_digit())?;
        let (name, number) = word.split_at(digits);
        Some((name.to_owned(), number.parse().ok()?))
    };
    let ((name, one), (other_name, other)) = (parts(a)?, parts(b)?);
    (name == other_name).then(|| one.cmp(&other))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::DocumentId;
    use crate::evidence::Kind;

    const OLD: &str = "When the load passes 10 tons, the crane stops and the crew returns to the harbour.";
    const NEW: &str = "When the load passes 12 tons, the crane stops and the crew returns to the harbour.";

    fn of<'a>(document: i64, title: &'a str, date: Option<&'a str>, content: &'a str) -> Candidate<'a> {
        Candidate {
            document: DocumentId(document),
            kind: Kind::Passage,
            table: None,
            title,
            heading: "Limits",
            url: "",
            date,
            content,
        }
    }

    fn told(hits: &[Candidate<'_>], question: &str) -> (Vec<usize>, Vec<Option<(Age, Wanted)>>) {
        let Ordered { places, versions } = order(hits, question);
        (places, versions.into_iter().map(|told| told.map(|told| (told.age, told.wanted))).collect())
    }

    const LOAD: &str = "At which load does the crane stop?";
    const NEWEST: Option<(Age, Wanted)> = Some((Age::Newest, Wanted::Yes));
    const OLDER: Option<(Age, Wanted)> = Some((Age::Older, Wanted::No));

    #[test]
    fn the_newest_version_of_a_page_takes_the_best_place_and_the_older_one_is_named() {
        let hits = [
            of(1, "Cranes", Some("2024-11-02"), OLD),
            of(2, "Ships", None, "Something else"),
            of(3, "Cranes", Some("2025-01-05T10:00"), NEW),
        ];
        assert_eq!(told(&hits, LOAD), (vec![2, 1, 0], vec![NEWEST, None, OLDER]));
        assert_eq!(order(&hits, LOAD).versions[2].map(|told| told.newest), Some(2));
    }

    #[test]
    fn a_question_gets_the_version_it_names_one_about_the_past_the_older_and_one_about_changes_all() {
        let hits = [of(3, "Crane rules 2025", None, NEW), of(1, "Crane rules 2024", None, OLD)];
        let turned = (vec![1, 0], vec![Some((Age::Older, Wanted::Yes)), Some((Age::Newest, Wanted::No))]);
        for question in ["When does the crane stop in the rules of 2024?", "When did the crane stop previously?"] {
            assert_eq!(told(&hits, question), turned, "{question}");
        }
        let all = (vec![0, 1], vec![NEWEST, Some((Age::Older, Wanted::Yes))]);
        for question in [
            "What changed in the load of the crane?",
            "Was ist der Unterschied der Fassungen?",
            "Compare the rules of 2024 and 2025",
        ] {
            assert_eq!(told(&hits, question), all, "{question}");
        }
        assert_eq!(told(&hits, LOAD), (vec![0, 1], vec![NEWEST, OLDER]));
    }

    #[test]
    fn numbers_of_pages_numbers_in_titles_and_paths_and_words_tell_the_newer_version() {
        let page = |number: &'static str| Candidate { url: number, ..of(1, "Cranes", None, OLD) };
        let (nine, ten) = (page("https://wiki.example/pages/9"), page("https://wiki.example/pages/10"));
        if number(nine.url).is_some() {
            assert_eq!(newness(&ten, &nine), Some(Ordering::Greater));
        }
        let titled = |title: &'static str| of(1, title, None, OLD);
        assert_eq!(newness(&titled("Cranes v10"), &titled("Cranes v9")), Some(Ordering::Greater));
        assert_eq!(newness(&titled("Cranes 9.0.2"), &titled("Cranes 9.0.10")), Some(Ordering::Less));
        assert_eq!(newness(&titled("Cranes"), &titled("Cranes (archived)")), Some(Ordering::Greater));
        assert_eq!(newness(&page("export-2024/cranes.md"), &page("export-2025/cranes.md")), Some(Ordering::Less));
        assert_eq!(newness(&titled("Cranes"), &titled("Cranes")), None);
        let at = |date| of(1, "Cranes", Some(date), OLD);
        assert_eq!(newness(&at("2025-01-05T10:00"), &at("2025-01-05T09:59")), Some(Ordering::Greater));
        assert_eq!(newness(&at("5 January 2025"), &at("2024-12-31T10:00:00Z")), Some(Ordering::Greater));
        assert_eq!(newness(&at("lately"), &at("before")), None);
    }

    #[test]
    fn where_nothing_tells_the_newer_one_or_pages_are_a_series_or_say_something_else_nothing_is_marked() {
        let unmarked =
            |hits: &[Candidate<'_>]| assert_eq!(told(hits, LOAD), ((0..hits.len()).collect(), vec![None; hits.len()]));
        unmarked(&[of(1, "Cranes", None, OLD), of(2, "Cranes", None, NEW)]);
        unmarked(&[of(1, "Call of 2015-07-23", None, OLD), of(2, "Call of 2015-07-30", None, NEW)]);
        unmarked(&[of(1, "Cranes v1", None, OLD), of(2, "Cranes v2", None, "Cranes are painted every year, in blue")]);
        unmarked(&[of(1, "Cranes v1", None, OLD), of(2, "Ships v2", None, NEW)]);
        unmarked(&[of(1, "Cranes v1", None, OLD), of(1, "Cranes v1", None, NEW)]);
    }

    proptest! {
        #[test]
        fn every_hit_keeps_one_place_and_ages_go_with_versions(
            pages in proptest::collection::vec((0_i64..6, 0_usize..3, 0_usize..3, 0_usize..4), 0..12),
            question in "(previous )?(crane|2024|v1|load){0,3}",
        ) {
            let titles = ["Cranes v1", "Cranes v2", "Ships 2024"];
            let texts = [OLD, NEW, "Something else"];
            let dates = [None, Some("2024-11-02"), Some("2025-01-05"), Some("soon")];
            let hits: Vec<_> =
                pages.iter().map(|(page, title, text, date)| of(*page, titles[*title], dates[*date], texts[*text])).collect();
            let Ordered { places, versions } = order(&hits, &question);
            let mut sorted = places.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..hits.len()).collect::<Vec<_>>());
            prop_assert_eq!(versions.len(), hits.len());
            for (told, place) in versions.iter().zip(&places) {
                let Some(told) = told else { continue };
                prop_assert_eq!(told.age == Age::Newest, told.newest == *place);
                if told.age == Age::Older {
                    prop_assert_eq!(newness(&hits[told.newest], &hits[*place]), Some(Ordering::Greater));
                }
                let same = versions.iter().flatten().filter(|other| other.newest == told.newest);
                prop_assert!(same.clone().any(|other| other.wanted == Wanted::Yes), "some version is wanted");
                prop_assert!(same.is_sorted_by_key(|other| other.wanted == Wanted::No), "what is wanted comes first");
            }
        }
    }
}
