//! Recognizes versions of a page among the hits and puts the version in question first.
//!
//! Takes the hits of a question, best first; gives the new order and a label for each version. Two hits are versions of
//! a page if space, heading, table and row are equal, titles differ at most in a year or version number, and texts
//! differ only in figures. The newest comes first, unless the question names another version by year, date, version
//! number or a name with digits, means a day on which another was in force, or is about the past (then the newest older
//! one). An older version is left out of the prompt if only time tells it from the newest (equal titles, and no word or
//! figure of the question only in the older one), or if the question means a day on which another was in force.
//! Invariants: pure; every hit keeps a place; only versions of each other change places; no version is called older
//! unless something tells which is newer; the newest is wanted unless the question asks about a day in the past.
//! Not here: near-duplicates (`near_duplicates`), temporal intent (`temporal_intent`).

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use time::{Date, Month};

use super::near_duplicates::{Candidate, MAX_WORDS, is_near_duplicate, minhash};
use super::temporal_expr::{Resolution, ResolvedDate, partial_date};
use super::temporal_intent::{TemporalIntent, is_past_tense};
use ragonite_base::text::{NAME_JOINS, has_digit, is_identifier, lower_words, month_named, split_words};
use ragonite_base::{DayOrMonth, EvidenceId, Language, dates_in, document_date, page_number};
use ragonite_document::evidence::Kind;

/// Words in a title or path that tell that a page is not in use.
const NOT_IN_USE: [&str; 8] = ["old", "archive", "archived", "draft", "alt", "archiv", "entwurf", "outdated"];

/// The version of a hit, if other versions of its page were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Whether a newer version is among the hits.
    pub age: Age,
    /// Whether the question is about this version.
    pub wanted: Preference,
    /// The evidence of the newest version, the same for all versions.
    pub newest: EvidenceId,
}

/// Whether a newer version is among the hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Age {
    /// No hit is newer.
    Newest,
    /// Another hit is newer.
    Older,
}

impl Age {
    /// The label in lists and prompts.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Newest => "newest version",
            Self::Older => "older version",
        }
    }
}

/// Whether a question is about a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preference {
    /// Yes: the newest version, unless the question says otherwise.
    Yes,
    /// No: another version.
    No,
}

/// The new order of the hits with their version labels.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ordered {
    /// The day whose version came first, if a day decided.
    pub(super) day: Option<Date>,
    /// Places in the given list, in the new order.
    pub(super) places: Vec<usize>,
    /// Labels in the new order.
    pub(super) versions: Vec<Option<VersionLabel>>,
}

/// The label of a hit that is a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VersionLabel {
    pub(super) age: Age,
    pub(super) wanted: Preference,
    /// Place of the newest version in the given list.
    pub(super) newest: usize,
}

/// A candidate with its known days.
#[derive(Debug, Clone)]
pub(super) struct DatedCandidate<'a> {
    pub(super) candidate: Candidate<'a>,
    /// Days of the hit and its copies, as far as known: on each of them the text was like this.
    pub(super) days: Vec<Date>,
}

/// Recognizes versions and puts those first that the question is about.
///
/// `meant` is the day that the question means, `today` the day on which it is asked.
pub(super) fn order(
    held: &[DatedCandidate<'_>],
    question: &str,
    meant: Option<ResolvedDate>,
    today: Option<Date>,
) -> Ordered {
    let hits: Vec<Candidate<'_>> = held.iter().map(|held| held.candidate).collect();
    let hits = hits.as_slice();
    let mut places: Vec<usize> = (0..hits.len()).collect();
    let mut labels = vec![None; hits.len()];
    let asked = QueryFeatures::of(question);
    let mut of_day = None;
    for best_first in pages(hits) {
        let Some(newest) = newest(&best_first, hits) else { continue };
        let mut in_order = asked.about.in_order(&best_first, hits);
        let in_force = asked.day(&best_first, hits, meant, today).and_then(|day| {
            let held = in_force(&best_first, held, hits, day)?;
            of_day = Some(day);
            Some(held)
        });
        let age = |at: usize| if at == newest { Age::Newest } else { Age::Older };
        let wanted = |at: usize| {
            let is_wanted = match in_force {
                Some(held) if at == held => true,
                // A small model given several versions takes any of them. A question about today may mention another
                // day.
                Some(_) => {
                    (age(at) == Age::Newest && !asked.tells_what_was)
                        || asked.names(&hits[at])
                        || asked.has_figure_of(&hits[at], &hits[newest])
                }
                None => age(at) == Age::Newest || asked.may_be_about(&hits[at], &hits[newest]),
            };
            if is_wanted { Preference::Yes } else { Preference::No }
        };
        let claim = |at: usize| {
            let claim = asked.claim(&hits[at], &hits[newest], age(at));
            (claim.names, Some(at) == in_force, claim.has_figure, wanted(at) == Preference::Yes, claim.is_of_the_age)
        };
        in_order.sort_by_cached_key(|at| Reverse(claim(*at)));
        for (place, hit) in best_first.iter().zip(in_order) {
            places[*place] = hit;
            labels[*place] = Some(VersionLabel { age: age(hit), wanted: wanted(hit), newest });
        }
    }
    Ordered { day: of_day, places, versions: labels }
}

/// The version in force on a day: the last one dated on that day or before. Of several with one date the newest, or
/// else the best. None if a date is missing.
fn in_force(best_first: &[usize], held: &[DatedCandidate<'_>], hits: &[Candidate<'_>], of: Date) -> Option<usize> {
    let last_day = |at: usize| held[at].days.iter().copied().filter(|day| *day <= of).max();
    if best_first.iter().any(|at| held[*at].days.is_empty()) {
        return None;
    }
    let last = best_first.iter().filter_map(|at| last_day(*at)).max()?;
    let of_last: Vec<usize> = best_first.iter().copied().filter(|at| last_day(*at) == Some(last)).collect();
    newest(&of_last, hits).or_else(|| of_last.first().copied())
}

/// What speaks for a version; compared field by field.
struct Claim {
    /// The question names its year, date or number.
    names: bool,
    /// The question has a figure of this version that the newest lacks.
    has_figure: bool,
    /// The question has the temporal intent for this version.
    is_of_the_age: bool,
}

/// The features of a question that decide between versions.
struct QueryFeatures {
    words: HashSet<String>,
    /// Version numbers and other words with digits and letters; a bare number may be the subject of the question.
    figures: HashSet<String>,
    /// Years and version numbers.
    marks: HashSet<String>,
    /// Years and version numbers outside dates.
    years: HashSet<String>,
    dates: Vec<DayOrMonth>,
    /// A month without a year.
    month: Option<Month>,
    about: TemporalIntent,
    /// Whether the question is in the past tense.
    tells_what_was: bool,
    /// Whether the question compares with what it names.
    compares: bool,
}

/// Words beside a change that name its beginning or a comparison, not the version that is wanted.
const COMPARING: &[&str] = &[
    "since",
    "between",
    "than",
    "from",
    "against",
    "to",
    "with",
    "and",
    "seit",
    "zwischen",
    "gegenüber",
    "als",
    "von",
    "zu",
    "mit",
    "und",
];

impl TemporalIntent {
    /// The order of versions if nothing else decides. For the past, the last version before the newest comes first.
    fn in_order(self, best_first: &[usize], hits: &[Candidate<'_>]) -> Vec<usize> {
        match self {
            Self::Past | Self::Changes => newest_first(best_first, hits),
            Self::First => newest_first(best_first, hits).into_iter().rev().collect(),
            Self::Now | Self::Either => best_first.to_vec(),
        }
    }
}

impl QueryFeatures {
    /// The day whose version comes first: the day that the question means, unless a version itself mentions that date;
    /// today if a version has a future date. None for changes, which span several days.
    fn day(
        &self,
        versions: &[usize],
        hits: &[Candidate<'_>],
        meant: Option<ResolvedDate>,
        today: Option<Date>,
    ) -> Option<Date> {
        let is_to_come = |today: &Date| versions.iter().any(|at| day(&hits[*at]).is_some_and(|day| day > *today));
        let mentions_date = |at: &usize, date: DayOrMonth| {
            let mentions = dates_in(hits[*at].content);
            let mut readings = mentions.iter().flat_map(|mention| &mention.readings);
            readings.any(|read| match read {
                DayOrMonth::Day(day) => date.has(*day),
                DayOrMonth::Month { .. } => *read == date,
            })
        };
        match meant {
            _ if self.about == TemporalIntent::Changes => None,
            Some(ResolvedDate { day, how: Resolution::Dated(date) }) => {
                (!versions.iter().any(|at| mentions_date(at, date))).then_some(day)
            }
            Some(ResolvedDate { day, how: Resolution::Counted }) => Some(day),
            None if matches!(self.about, TemporalIntent::Now | TemporalIntent::Either) => today.filter(is_to_come),
            None => None,
        }
    }

    fn of(question: &str) -> Self {
        let in_order: Vec<String> = lower_words(question).collect();
        let mentions = dates_in(question);
        let month = if mentions.is_empty() { partial_date(question).map(|date| date.month) } else { None };
        let tells_what_was = is_past_tense(&in_order, Language::of(question));
        let words: HashSet<String> = in_order.into_iter().collect();
        // The year of a full date does not name every version of that year.
        let is_in_date = |at: usize| mentions.iter().any(|mention| mention.span.contains(&at));
        let rest: String = question.char_indices().map(|(at, c)| if is_in_date(at) { ' ' } else { c }).collect();
        let dates = mentions.into_iter().flat_map(|date| date.readings).collect();
        let rest = without_tickets(&rest);
        Self {
            compares: words.iter().any(|word| COMPARING.contains(&word.as_str())),
            words,
            figures: version_words(&rest).filter(|word| is_version_mark(word) || is_identifier(word)).collect(),
            marks: version_marks(&without_tickets(question)).chain(numbered(question)).collect(),
            years: version_marks(&rest).collect(),
            dates,
            month,
            about: TemporalIntent::of(question),
            tells_what_was,
        }
    }

    fn claim(&self, hit: &Candidate<'_>, newest: &Candidate<'_>, age: Age) -> Claim {
        let is_one = self.about != TemporalIntent::Changes || !self.compares;
        let may_be_now = matches!(self.about, TemporalIntent::Now | TemporalIntent::Either);
        Claim {
            names: is_one && self.names(hit),
            has_figure: may_be_now && age == Age::Older && self.has_figure_of(hit, newest),
            is_of_the_age: (age == Age::Older) == matches!(self.about, TemporalIntent::Past | TemporalIntent::First),
        }
    }

    /// Whether the question names the year, date or number of a version.
    fn names(&self, hit: &Candidate<'_>) -> bool {
        // A year in a file name is usually part of its date.
        let of_file = version_marks(name_of(hit.url)).filter(|mark| mark.len() != 4 || day(hit).is_none());
        let by_title = version_marks(hit.title).chain(of_file).any(|mark| self.marks.contains(&mark));
        let by_date = day(hit).is_some_and(|day| {
            self.dates.iter().any(|read| read.has(day))
                || self.years.contains(&day.year().to_string())
                || self.month == Some(day.month())
        });
        by_title || by_date
    }

    /// Whether the question has a version number or a name with digits that this version has and the newest lacks:
    /// "failures with build 3.1".
    fn has_figure_of(&self, hit: &Candidate<'_>, newest: &Candidate<'_>) -> bool {
        let other: HashSet<String> = version_words(newest.content).collect();
        version_words(hit.content).any(|word| self.figures.contains(&word) && !other.contains(&word))
    }

    /// Whether the question may be about this version rather than the newest.
    fn may_be_about(&self, hit: &Candidate<'_>, newest: &Candidate<'_>) -> bool {
        let has_of_its_own = || {
            let other: HashSet<String> = lower_words(newest.content).collect();
            lower_words(hit.content).any(|word| self.words.contains(&word) && !other.contains(&word))
        };
        self.about != TemporalIntent::Now || hit.title != newest.title || self.names(hit) || has_of_its_own()
    }
}

/// The place of a text, equal for all versions of a page.
#[derive(PartialEq, Eq, Hash)]
struct TablePosition {
    space: Option<String>,
    title: Vec<String>,
    heading: Vec<String>,
    kind: Kind,
    table: Option<u32>,
    row: Option<u32>,
}

impl TablePosition {
    /// None if the title consists of version marks only.
    fn of(hit: &Candidate<'_>) -> Option<Self> {
        let title = stem(hit.title);
        (!title.is_empty()).then(|| Self {
            space: hit.space.map(str::to_owned),
            title,
            heading: lower_words(hit.heading).collect(),
            kind: hit.kind,
            table: hit.table,
            row: hit.row,
        })
    }
}

/// MinHash sketch of the first hit's text without figures, and the places of all hits.
type Alike = (BTreeSet<u64>, Vec<usize>);

/// Sets of hits that are versions of one page, each best first.
fn pages(hits: &[Candidate<'_>]) -> Vec<Vec<usize>> {
    let mut alike: HashMap<TablePosition, Vec<Alike>> = HashMap::new();
    for (at, hit) in hits.iter().enumerate() {
        let Some(place) = TablePosition::of(hit) else { continue };
        let sets = alike.entry(place).or_default();
        let text = without_figures(hit.content);
        let of_page = |(first, set): &&mut Alike| {
            set.iter().all(|other| hits[*other].document != hit.document) && is_near_duplicate(first, &text)
        };
        match sets.iter_mut().find(of_page) {
            Some((_, set)) => set.push(at),
            None => sets.push((text, vec![at])),
        }
    }
    let sets = alike.into_values().flatten().map(|(_, set)| set);
    let mut sets: Vec<Vec<usize>> = sets.filter(|set| set.len() > 1).collect();
    sets.sort_unstable();
    sets
}

/// The common part of the titles of all versions of a page. A title with a day or month belongs to a series; its
/// versions have exactly the same title.
fn stem(title: &str) -> Vec<String> {
    let is_of_a_series = dates_in(title).iter().any(|date| !date.readings.is_empty());
    let words: Vec<String> = version_words(title).collect();
    let last = words.iter().rposition(|word| !NOT_IN_USE.contains(&word.as_str())).map_or(0, |at| at + 1);
    words.into_iter().take(last).filter(|word| is_of_a_series || !is_version_mark(word)).collect()
}

/// Version marks for "version 9" and "release 12": `v9`, `v12`.
fn numbered(question: &str) -> Vec<String> {
    let words: Vec<String> = version_words(question).collect();
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    let is_named = |word: &str| matches!(word, "version" | "release" | "v" | "fassung" | "ausgabe" | "revision");
    let pairs = words.windows(2).filter(|pair| is_named(&pair[0]) && is_number(&pair[1]));
    pairs.map(|pair| format!("v{}", pair[1])).collect()
}

/// The last part of a path or address without its file extension.
fn name_of(url: &str) -> &str {
    let last = url.rsplit(['/', '\\']).next().unwrap_or_default();
    last.rsplit_once('.').map_or(last, |(name, _)| name)
}

/// Fewest letters before the number of a ticket: `FY-2024` and `Q4-2024` are times.
const LEAST_TICKET: usize = 3;

/// A text without tickets such as `OXT-2023` and `CVE-2024-3094`, whose numbers are no years.
fn without_tickets(text: &str) -> String {
    let is_ticket = |word: &&str| {
        let (name, number) = word.split_once('-').unwrap_or_default();
        let is_name = name.len() >= LEAST_TICKET && name.chars().all(|c| c.is_ascii_uppercase());
        // "DEC-2024" is a month.
        is_name
            && month_named(&name.to_lowercase()).is_none()
            && !number.is_empty()
            && number.chars().all(|c| c.is_ascii_digit() || c == '-')
    };
    let words = split_words(text, NAME_JOINS).map(|word| word.text);
    words.filter(|word| !is_ticket(word)).collect::<Vec<_>>().join(" ")
}

/// Words in lower case; version numbers stay whole.
pub(super) fn version_words(text: &str) -> impl Iterator<Item = String> {
    split_words(text, &['.']).map(|word| word.text.to_lowercase())
}

/// Whether a word of a title tells versions apart: a year, `v2`, `9.0.2`. A bare number may as well tell machines
/// apart.
pub(super) fn is_version_mark(word: &str) -> bool {
    let is_number = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    let is_year = word.len() == 4 && is_number(word) && (word.starts_with("19") || word.starts_with("20"));
    is_year || word.strip_prefix('v').is_some_and(is_number) || (word.contains('.') && is_number(word))
}

/// Years and version numbers in a text.
fn version_marks(text: &str) -> impl Iterator<Item = String> {
    version_words(text).filter(|word| is_version_mark(word))
}

fn without_figures(text: &str) -> BTreeSet<u64> {
    let masked: Vec<String> =
        lower_words(text).take(MAX_WORDS).map(|word| if has_digit(&word) { "0".to_owned() } else { word }).collect();
    minhash(&masked)
}

/// The newest version by the first criterion that tells it from all others: date, time, wiki page number (pages are
/// numbered in order of creation), words such as "archived", numbers in titles, numbers in paths.
pub(super) fn newest(versions: &[usize], hits: &[Candidate<'_>]) -> Option<usize> {
    let ways: [fn(&Candidate<'_>, &Candidate<'_>) -> Option<Ordering>; 6] =
        [by_day, by_time, by_number, by_use, |a, b| by_figures(a.title, b.title), |a, b| by_figures(a.url, b.url)];
    ways.iter().find_map(|newer| {
        let is_newest = |at: &&usize| {
            let is_newer = |other: &&usize| newer(&hits[**at], &hits[**other]) == Some(Ordering::Greater);
            versions.iter().filter(|other| other != at).all(|other| is_newer(&other))
        };
        versions.iter().find(is_newest).copied()
    })
}

/// Versions from the newest on; undecided ones keep their order.
fn newest_first(best_first: &[usize], hits: &[Candidate<'_>]) -> Vec<usize> {
    let mut left = best_first.to_vec();
    let mut ordered = Vec::with_capacity(left.len());
    let of_last_day = |left: &[usize]| left.iter().rev().copied().max_by_key(|at| day(&hits[*at]));
    while let Some(next) = newest(&left, hits).or_else(|| of_last_day(&left)) {
        left.retain(|at| *at != next);
        ordered.push(next);
    }
    ordered
}

fn by_day(a: &Candidate<'_>, b: &Candidate<'_>) -> Option<Ordering> {
    Some(day(a)?.cmp(&day(b)?))
}

/// Within a day, times of the same form compare as text.
fn by_time(a: &Candidate<'_>, b: &Candidate<'_>) -> Option<Ordering> {
    let (one, other) = a.date.zip(b.date).filter(|(a, b)| a.len() == b.len())?;
    (day(a)? == day(b)?).then(|| one.cmp(other))
}

fn by_number(a: &Candidate<'_>, b: &Candidate<'_>) -> Option<Ordering> {
    Some(number(a.url)?.cmp(&number(b.url)?))
}

fn by_use(a: &Candidate<'_>, b: &Candidate<'_>) -> Option<Ordering> {
    let in_use = |hit: &Candidate<'_>| {
        !lower_words(hit.title).chain(lower_words(hit.url)).any(|word| NOT_IN_USE.contains(&word.as_str()))
    };
    Some(in_use(a).cmp(&in_use(b))).filter(|order| order.is_ne())
}

/// The day of a document, from its date or the last part of its path or address; for a month its first day.
pub(super) fn day(hit: &Candidate<'_>) -> Option<Date> {
    match document_date(hit.date, &[hit.url])? {
        DayOrMonth::Day(day) => Some(day),
        DayOrMonth::Month { year, month } => Date::from_calendar_date(year, month, 1).ok(),
    }
}

fn number(url: &str) -> Option<u64> {
    page_number(url)?.parse().ok()
}

/// Compares the numbers of two texts that differ in nothing else: `report-9.0.2` and `report-9.0.10`.
fn by_figures(a: &str, b: &str) -> Option<Ordering> {
    let (words_of_a, words_of_b): (Vec<String>, Vec<String>) = (lower_words(a).collect(), lower_words(b).collect());
    if words_of_a.len() != words_of_b.len() {
        return None;
    }
    let (one, other) = words_of_a.iter().zip(&words_of_b).find(|(one, other)| one != other)?;
    let rest_is_alike =
        words_of_a.iter().zip(&words_of_b).all(|(one, other)| one == other || figure(one, other).is_some());
    figure(one, other).filter(|order| rest_is_alike && order.is_ne())
}

/// The order of two words such as `v2` and `v10`; none if more than a number differs.
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
    use crate::retrieval::temporal_expr::resolve_date;
    use ragonite_base::DocumentId;
    use ragonite_document::evidence::Kind;

    const OLD: &str = "When the load passes 10 tons, the crane stops and the crew returns to the harbour.";
    const NEW: &str = "When the load passes 12 tons, the crane stops and the crew returns to the harbour.";

    fn of<'a>(document: i64, title: &'a str, date: Option<&'a str>, content: &'a str) -> Candidate<'a> {
        Candidate {
            document: DocumentId(document),
            kind: Kind::Passage,
            table: None,
            row: None,
            space: None,
            title,
            heading: "Limits",
            url: "",
            date,
            content,
        }
    }

    fn held<'a>(hits: &[Candidate<'a>]) -> Vec<DatedCandidate<'a>> {
        let held = |hit: &Candidate<'a>| DatedCandidate { candidate: *hit, days: day(hit).into_iter().collect() };
        hits.iter().map(held).collect()
    }

    fn labelled(hits: &[Candidate<'_>], question: &str) -> (Vec<usize>, Vec<Option<(Age, Preference)>>) {
        let Ordered { places, versions, .. } = order(&held(hits), question, None, None);
        (places, versions.into_iter().map(|label| label.map(|label| (label.age, label.wanted))).collect())
    }

    const LOAD: &str = "At which load does the crane stop?";
    const NEWEST: Option<(Age, Preference)> = Some((Age::Newest, Preference::Yes));
    const OLDER: Option<(Age, Preference)> = Some((Age::Older, Preference::No));

    #[test]
    fn the_newest_version_of_a_page_takes_the_best_place_and_the_older_one_is_named() {
        let hits = [
            of(1, "Cranes", Some("2024-11-02"), OLD),
            of(2, "Ships", None, "Something else"),
            of(3, "Cranes", Some("2025-01-05T10:00"), NEW),
        ];
        assert_eq!(labelled(&hits, LOAD), (vec![2, 1, 0], vec![NEWEST, None, OLDER]));
        assert_eq!(order(&held(&hits), LOAD, None, None).versions[2].map(|label| label.newest), Some(2));
    }

    #[test]
    fn what_held_on_a_day_that_is_counted_from_today_comes_first() {
        let hits = [
            of(1, "Cranes", Some("2026-11-22"), OLD),
            of(2, "Cranes", Some("2026-11-23"), NEW),
            of(3, "Cranes", Some("2026-11-20"), NEW),
        ];
        let first = |question: &str, today| {
            order(&held(&hits), question, resolve_date(question, Some(today)), Some(today)).places[0]
        };
        let today = time::macros::date!(2026 - 11 - 24);
        assert_eq!(first("At which load did the crane stop yesterday?", today), 1, "the newest is of yesterday");
        assert_eq!(first("At which load did the crane stop the day before yesterday?", today), 0);
        assert_eq!(first("Bei welcher Last hielt der Kran vorgestern?", today), 0);
        assert_eq!(first("At which load did the crane stop 3 days ago?", today), 2, "it held until the next one");
        let later = time::macros::date!(2026 - 11 - 30);
        assert_eq!(first("At which load did the crane stop yesterday?", later), 1);
        assert_eq!(
            order(&held(&hits), "At which load did the crane stop yesterday?", None, None).places[0],
            0,
            "just an earlier one"
        );
    }

    #[test]
    fn what_is_left_out_of_the_prompt_is_shown_below_the_newest_too() {
        let old = |document| of(document, "Cranes", Some("2024-11-02"), OLD);
        let hits = [old(0), of(1, "Cranes", Some("2025-01-05"), NEW), old(2)];
        let today = Some(time::macros::date!(2025 - 01 - 20));
        let asked = "two months ago";
        let ordered = order(&held(&hits), asked, resolve_date(asked, today), today);
        let wanted: Vec<_> = ordered.versions.iter().flatten().map(|label| label.wanted).collect();
        assert_eq!((ordered.places, wanted), (vec![0, 1, 2], vec![Preference::Yes, Preference::Yes, Preference::No]));
    }

    const ALSO: Option<(Age, Preference)> = Some((Age::Older, Preference::Yes));

    /// Two versions, the newest first.
    fn rules<'a>() -> [Candidate<'a>; 2] {
        [of(3, "Crane rules 2025", None, NEW), of(1, "Crane rules 2024", None, OLD)]
    }

    #[test]
    fn the_version_that_is_named_comes_first_for_the_past_the_older_one_for_changes_the_newest() {
        for question in [
            "When does the crane stop in the rules of 2024?",
            "When did the crane stop previously?",
            "What did the previous version say of the crane?",
            "Wie war die bisherige Grenze des Krans?",
        ] {
            assert_eq!(labelled(&rules(), question), (vec![1, 0], vec![ALSO, NEWEST]), "{question}");
        }
        for question in [
            "What changed in the load of the crane?",
            "What changed since the rules of 2024?",
            "Was ist der Unterschied der Fassungen?",
            "Compare the rules of 2024 and 2025",
            "Which version is in use?",
            LOAD,
        ] {
            assert_eq!(labelled(&rules(), question), (vec![0, 1], vec![NEWEST, ALSO]), "{question}");
        }
    }

    #[test]
    fn for_the_past_the_newest_of_the_older_versions_comes_first() {
        let dated = |document, date, content| of(document, "Cranes", date, content);
        let (first, last) = (Some("2026-11-20"), Some("2026-11-22"));
        let hits = [dated(1, first, OLD), dated(2, last, NEW), dated(3, Some("21.11.2026"), OLD)];
        for question in ["At which load did the crane stop yesterday?", "Wann hielt der Kran gestern?"] {
            assert_eq!(labelled(&hits, question), (vec![2, 0, 1], vec![ALSO, ALSO, NEWEST]), "{question}");
        }
        // What is asked for by its day comes first all the same, and of one day the better hit.
        assert_eq!(labelled(&hits, "What did the old rules of 2026-11-20 say?").0, vec![0, 2, 1]);
        let twice =
            [dated(1, Some("2026-11-19"), OLD), dated(2, first, OLD), dated(3, first, OLD), dated(4, last, NEW)];
        assert_eq!(labelled(&twice, "Which load was it yesterday?").0, vec![1, 2, 0, 3]);
        assert_eq!(labelled(&hits, LOAD).0, vec![1, 0, 2], "what holds now goes by score behind the newest");
    }

    #[test]
    fn a_version_is_named_by_the_day_in_the_name_of_its_file() {
        for (old, new) in [
            ("/p/backup-2026-11-22.md", "/p/backup-2026-11-23.md"),
            ("2026_11_22_backup-plan.md", "2026_11_23_backup-plan.md"),
            ("notes/2026-11-22.md", "notes/2026-11-23.md"),
        ] {
            let at = |document, url, content| Candidate { url, ..of(document, "Backup plan", None, content) };
            let hits = [at(1, new, NEW), at(3, old, OLD)];
            assert_eq!(labelled(&hits, "What held on 2026-11-22?").0, vec![1, 0], "{old}");
            assert_eq!(labelled(&hits, "What holds on 23 November 2026?").0, vec![0, 1], "{old}");
        }
    }

    #[test]
    fn an_older_version_is_left_out_only_where_nothing_but_time_tells_it_from_the_newest() {
        let dated = [of(1, "Cranes", Some("2024-11-02"), OLD), of(3, "Cranes", Some("2025-01-05"), NEW)];
        // The 11 of its date is no number of the question.
        for question in [LOAD, "Does the crane stop at 11 tons?", "Are 2 crews enough?"] {
            assert_eq!(labelled(&dated, question), (vec![1, 0], vec![NEWEST, OLDER]), "{question}");
        }
        // Its text has what the question names, but it may be out of date.
        assert_eq!(labelled(&dated, "Is it 10 tons?"), (vec![1, 0], vec![NEWEST, ALSO]));
        for question in [
            "What was the load in 2024?",
            "What was the load on 2 November 2024?",
            "What was the load in November 2024?",
            "Which load was it yesterday?",
        ] {
            assert_eq!(labelled(&dated, question), (vec![0, 1], vec![ALSO, NEWEST]), "{question}");
        }
        let fixes =
            |fixes: &'static str| ["This release fixes ", fixes, " and nothing else that anybody would see."].concat();
        let (one, two) = (fixes("OXT-1654"), fixes("OXT-1700"));
        let releases = [of(2, "Release notes 9.0.2", None, &two), of(1, "Release notes 9.0.1", None, &one)];
        assert_eq!(labelled(&releases, "Which release fixes OXT-1654?").1, [NEWEST, ALSO]);
        assert_eq!(labelled(&releases, "What does 9.0.1 fix?"), (vec![1, 0], vec![ALSO, NEWEST]));
    }

    #[test]
    fn the_newest_is_told_by_dates_page_numbers_words_numbers_in_titles_and_in_paths() {
        let at = |url: &'static str| Candidate { url, ..of(1, "Cranes", None, OLD) };
        let titled = |title: &'static str| of(1, title, None, OLD);
        let dated = |date| of(1, "Cranes", Some(date), OLD);
        let newest = |hits: [Candidate<'_>; 2]| newest(&[0, 1], &hits);
        let page = |number| format!("https://wiki.example/wiki/spaces/OPS/pages/{number}/Cranes");
        let (nine, ten) = (page(9), page(10));
        let pages = [Candidate { url: &nine, ..at("") }, Candidate { url: &ten, ..at("") }];
        assert_eq!(number(&ten), Some(10));
        assert_eq!(newest(pages), Some(1));
        assert_eq!(number("/pages/12 pumps.md"), None, "a path has no number of a wiki");
        assert_eq!(newest([at("/pages/9 pumps.md"), at("/pages/12 cranes.md")]), None);
        assert_eq!(newest([titled("Cranes v10"), titled("Cranes v9")]), Some(0));
        assert_eq!(newest([titled("Cranes 9.0.2"), titled("Cranes 9.0.10")]), Some(1));
        assert_eq!(newest([titled("Cranes"), titled("Cranes (archived)")]), Some(0));
        assert_eq!(newest([at("export-2024/cranes.md"), at("export-2025/cranes.md")]), Some(1));
        assert_eq!(newest([titled("Cranes"), titled("Cranes")]), None);
        assert_eq!(newest([dated("2025-01-05T10:00"), dated("2025-01-05T09:59")]), Some(0));
        assert_eq!(newest([dated("5 January 2025"), dated("2024-12-31T10:00:00Z")]), Some(0));
        assert_eq!(newest([dated("lately"), dated("before")]), None);
        let old = at("ops/Cranes 2024-11-02.md");
        let new = Candidate { url: "ops/Cranes 2025-01-05.md", ..of(2, "Cranes", None, NEW) };
        assert_eq!(newest([old, new]), Some(1));
        assert_eq!(labelled(&[new, old], "What was the load on 2 November 2024?"), (vec![1, 0], vec![ALSO, NEWEST]));
        let same_year = Candidate { url: "ops/Cranes 2024-11-05.md", ..new };
        assert_eq!(labelled(&[same_year, old], "What was the load on 2 November 2024?").0, [1, 0]);
        // One has no date, but all have a number.
        let mixed = [Candidate { url: &ten, ..dated("2024-01-01") }, Candidate { url: &nine, ..titled("Cranes") }];
        assert_eq!(newest(mixed), Some(0));
    }

    #[test]
    fn a_version_with_a_number_of_the_question_comes_before_the_newest() {
        let text = |build: &str, failures: &str| {
            [
                "The run with build ",
                build,
                " found ",
                failures,
                " failures, and the crew of the harbour noted each of them.",
            ]
            .concat()
        };
        let (one, two) = (text("3.1", "21"), text("3.3", "55"));
        let (old, new) = (of(1, "Runs", Some("2024-11-02"), &one), of(2, "Runs", Some("2025-01-05"), &two));
        let first = |question| labelled(&[new, old], question).0[0];
        assert_eq!((first("failures with build 3.1"), first("failures with build 3.3"), first("failures")), (1, 0, 0));
        assert_eq!(first("failures with build 3.2"), 0, "no version has it");
        assert_eq!(first("Were there 21 failures?"), 0, "it may be out of date");
    }

    #[test]
    fn what_is_of_a_series_of_another_space_row_or_page_or_says_something_else_is_no_version() {
        let unmarked = |hits: &[Candidate<'_>]| {
            assert_eq!(labelled(hits, LOAD), ((0..hits.len()).collect(), vec![None; hits.len()]));
        };
        let now = Some("2025-01-05");
        unmarked(&[of(1, "Cranes", None, OLD), of(2, "Cranes", None, NEW)]);
        unmarked(&[of(1, "Cranes v1", None, OLD), of(2, "Cranes v2", None, "Cranes are painted every year, in blue")]);
        unmarked(&[of(1, "Cranes v1", None, OLD), of(2, "Ships v2", None, NEW)]);
        unmarked(&[of(1, "Cranes v1", None, OLD), of(1, "Cranes v1", None, NEW)]);
        for (one, other) in [
            ("Call of 2015-07-23", "Call of 2015-07-30"),
            ("Minutes March 2025", "Minutes April 2025"),
            ("Server 1", "Server 2"),
            ("OXT-1654", "OXT-1655"),
            ("Board B2", "Board B3"),
            ("New cranes", "Old cranes"),
            ("Old cranes", "Cranes"),
        ] {
            unmarked(&[of(1, one, None, OLD), of(2, other, now, NEW)]);
        }
        let (old, new) = (of(1, "Cranes", None, OLD), of(2, "Cranes", now, NEW));
        unmarked(&[Candidate { space: Some("OPS"), ..old }, Candidate { space: Some("DEV"), ..new }]);
        let row = |row, hit| Candidate { kind: Kind::Row, table: Some(1), row: Some(row), ..hit };
        unmarked(&[row(1, old), row(2, new)]);
        let same_title = [of(1, "Call of 2015-07-23", Some("2015-07-24"), OLD), of(2, "Call of 2015-07-23", now, NEW)];
        assert_eq!(labelled(&same_title, LOAD).1, [NEWEST, OLDER], "of one title they are versions");
    }

    proptest! {
        #[test]
        fn every_hit_keeps_one_place_and_ages_go_with_versions(
            pages in proptest::collection::vec((0_i64..6, 0_usize..3, 0_usize..3, 0_usize..4), 0..12),
            question in "(what was the )?(previous )?(crane |2024 |v1 |load |10 ){0,3}(yesterday|two months ago|in November)?",
        ) {
            let titles = ["Cranes v1", "Cranes v2", "Ships 2024"];
            let texts = [OLD, NEW, "Something else"];
            let dates = [None, Some("2024-11-02"), Some("2025-01-05"), Some("soon")];
            let hits: Vec<_> =
                pages.iter().map(|(page, title, text, date)| of(*page, titles[*title], dates[*date], texts[*text])).collect();
            let today = Some(time::macros::date!(2025 - 01 - 20));
            let meant = resolve_date(&question, today);
            let Ordered { places, versions, day } = order(&held(&hits), &question, meant, today);
            let mut sorted = places.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..hits.len()).collect::<Vec<_>>());
            prop_assert_eq!(versions.len(), hits.len());
            for (label, place) in versions.iter().zip(&places) {
                let Some(label) = label else { continue };
                prop_assert_eq!(label.age == Age::Newest, label.newest == *place);
                let is_kept = label.age == Age::Older || label.wanted == Preference::Yes;
                prop_assert!(is_kept || day.is_some(), "the newest is wanted unless a day is");
                let same = versions.iter().flatten().filter(|other| other.newest == label.newest);
                prop_assert!(same.clone().any(|other| other.wanted == Preference::Yes), "some version is wanted");
                prop_assert!(same.is_sorted_by_key(|other| other.wanted == Preference::No), "what is wanted comes first");
            }
        }
    }
}
