//! Filters of a search: kinds of evidence, documents, dates.
//!
//! Takes a [`Filter`], gives the test that both indexes apply during the search, so that a filtered search is as fast
//! as an open one and no matching hit is lost behind others.
//! Invariants: an open filter costs nothing; the document and kind of each evidence are read once per generation, and
//! only for a filter; a document without a date, in its source or its name, matches no time range.
//! Not here: the searches (`dense`, `lexical`).

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use rusqlite::params_from_iter;
use time::Date;

use super::IndexError;
use super::domain::DomainDb;
use super::files::MEMBER_PATH;
use super::stored::kind_of;
use ragonite_base::{DayOrMonth, DocumentId, EvidenceId, composed, document_date};
use ragonite_document::evidence::Kind;

/// The evidences a search may find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Allowed kinds.
    pub kinds: Vec<Kind>,
    /// Allowed documents.
    pub within: Within,
    /// Exclusions, which override the rest.
    pub left_out: LeftOut,
}

/// Evidences and documents that a search must not find.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// These evidences.
    pub evidences: Vec<EvidenceId>,
    /// All evidences of these documents.
    pub documents: Vec<DocumentId>,
}

/// The documents a search may find; by default all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Within {
    /// Text in title, URL or path, ignoring case.
    pub document: Option<String>,
    /// These ids; empty for all.
    pub documents: Vec<DocumentId>,
    /// First allowed day.
    pub since: Option<Date>,
    /// Last allowed day.
    pub until: Option<Date>,
}

impl Default for Filter {
    fn default() -> Self {
        Self { kinds: Kind::ALL.to_vec(), within: Within::default(), left_out: LeftOut::default() }
    }
}

impl Filter {
    /// Whether it excludes nothing.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let all_kinds = Kind::ALL.iter().all(|kind| self.kinds.contains(kind));
        all_kinds && self.within == Within::default() && self.left_out == LeftOut::default()
    }
}

impl Within {
    fn has(&self, title: &str, [url, path]: [&str; 2], date: Option<&str>) -> bool {
        let named = self.document.as_deref().is_none_or(|wanted| {
            // File names may have decomposed umlauts.
            let plain = |text: &str| composed(text.to_lowercase());
            let wanted = plain(wanted);
            [title, url, path].iter().any(|text| plain(text).contains(&wanted))
        });
        named && (self.is_of_any_time() || days_of(date, [url, path]).is_some_and(|days| self.is_of_time(&days)))
    }

    fn is_of_any_time(&self) -> bool {
        self.since.is_none() && self.until.is_none()
    }

    fn is_of_time(&self, days: &RangeInclusive<Date>) -> bool {
        self.since.is_none_or(|since| *days.end() >= since) && self.until.is_none_or(|until| *days.start() <= until)
    }
}

/// The days that a document's date may mean: one day, or a whole month.
fn days_of(date: Option<&str>, names: [&str; 2]) -> Option<RangeInclusive<Date>> {
    match document_date(date, &names)? {
        DayOrMonth::Day(day) => Some(day..=day),
        DayOrMonth::Month { year, month } => {
            let day = |day| Date::from_calendar_date(year, month, day).ok();
            Some(day(1)?..=day(month.length(year))?)
        }
    }
}

/// Document and kind of every evidence, as of one generation.
#[derive(Debug)]
pub(super) struct Places {
    /// Ordered by evidence id.
    places: Vec<Place>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    evidence: EvidenceId,
    document: DocumentId,
    kind: Kind,
}

impl Places {
    pub(super) fn read(db: &DomainDb) -> Result<Self, IndexError> {
        let places = db.read("reading where evidences belong", |connection| {
            let mut query = connection.prepare_cached("SELECT id, document, kind FROM evidences ORDER BY id")?;
            let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?)))?;
            rows.collect::<Result<Vec<(i64, i64, String)>, _>>()
        })?;
        let place = |(evidence, document, kind): (i64, i64, String)| {
            let kind = kind_of(&kind)?;
            Some(Place { evidence: EvidenceId(evidence), document: DocumentId(document), kind })
        };
        Ok(Self { places: places.into_iter().filter_map(place).collect() })
    }

    #[cfg(test)]
    pub(super) fn of_kinds(kinds: impl Iterator<Item = (EvidenceId, Kind)>) -> Arc<Self> {
        let place = |(evidence, kind)| Place { evidence, document: DocumentId(1), kind };
        Arc::new(Self { places: kinds.map(place).collect() })
    }

    fn of(&self, evidence: EvidenceId) -> Option<&Place> {
        let at = self.places.binary_search_by_key(&evidence, |place| place.evidence).ok()?;
        self.places.get(at)
    }
}

/// The test of one search, shared with its threads.
#[derive(Debug, Clone)]
pub(super) struct Test(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    places: Arc<Places>,
    kinds: Vec<Kind>,
    documents: Option<HashSet<DocumentId>>,
    left_out: LeftOut,
}

impl Test {
    pub(super) fn new(db: &DomainDb, places: Arc<Places>, filter: &Filter) -> Result<Self, IndexError> {
        let documents = if filter.within == Within::default() { None } else { Some(documents(db, &filter.within)?) };
        let (kinds, left_out) = (filter.kinds.clone(), filter.left_out.clone());
        Ok(Self(Arc::new(Inner { places, kinds, documents, left_out })))
    }

    #[cfg(test)]
    pub(super) fn of_kinds(places: &Arc<Places>, kinds: &[Kind]) -> Self {
        let (places, kinds) = (Arc::clone(places), kinds.to_vec());
        Self(Arc::new(Inner { places, kinds, documents: None, left_out: LeftOut::default() }))
    }

    /// Whether an evidence passes.
    pub(super) fn passes(&self, evidence: EvidenceId) -> bool {
        self.0.places.of(evidence).is_some_and(|place| self.0.fits(place))
    }

    /// All evidences that pass.
    pub(super) fn passing(&self) -> impl Iterator<Item = EvidenceId> {
        self.0.places.places.iter().filter(|place| self.0.fits(place)).map(|place| place.evidence)
    }
}

impl Inner {
    fn fits(&self, place: &Place) -> bool {
        self.kinds.contains(&place.kind)
            && self.documents.as_ref().is_none_or(|documents| documents.contains(&place.document))
            && !self.left_out.evidences.contains(&place.evidence)
            && !self.left_out.documents.contains(&place.document)
    }
}

/// The documents that pass.
fn documents(db: &DomainDb, within: &Within) -> Result<HashSet<DocumentId>, IndexError> {
    db.read("reading the documents", |connection| {
        // A few documents are looked up by id: reading all documents of a large domain takes longer than the search.
        let among = match within.documents.len() {
            0 => String::new(),
            count => format!(" WHERE d.id IN (?{})", ", ?".repeat(count - 1)),
        };
        let sql = format!(
            "SELECT d.id, d.title, d.url, d.date, {MEMBER_PATH} FROM documents d JOIN files f ON f.id = d.file{among}"
        );
        let mut query = connection.prepare_cached(&sql)?;
        let mut rows = query.query(params_from_iter(within.documents.iter().map(|document| document.0)))?;
        let mut found = HashSet::new();
        while let Some(row) = rows.next()? {
            let (title, url): (String, Option<String>) = (row.get(1)?, row.get(2)?);
            let (date, path): (Option<String>, String) = (row.get(3)?, row.get(4)?);
            let names = [url.as_deref().unwrap_or_default(), &path];
            if within.has(&title, names, date.as_deref()) {
                found.insert(DocumentId(row.get(0)?));
            }
        }
        Ok(found)
    })
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::*;

    #[test]
    fn a_document_is_named_by_a_part_of_its_title_or_address_in_any_case() {
        let within = |text: &str| Within { document: Some(text.to_owned()), ..Within::default() };
        assert!(within("TEST plan").has("The Test Plan", ["", ""], None));
        assert!(within("pages/12").has("x", ["https://wiki.example.org/pages/123", ""], None));
        assert!(!within("plans").has("The Test Plan", ["", ""], None));
    }

    #[test]
    fn a_time_has_its_first_and_its_last_day_and_no_document_without_a_date() {
        let march =
            Within { since: Some(date!(2025 - 03 - 01)), until: Some(date!(2025 - 03 - 31)), ..Within::default() };
        let has = |path: &str, date: Option<&str>| march.has("", ["", path], date);
        for inside in ["2025-03-01", "2025-03-31T23:59:59Z", "01.03.2025", "2025-3-1", "1 March 2025"] {
            assert!(has("pumps.md", Some(inside)), "{inside}");
        }
        let middle = Within { since: Some(date!(2025 - 03 - 15)), until: march.until, ..Within::default() };
        for month in ["March 2025", "2025-03", "März 2025"] {
            assert!(has("pumps.md", Some(month)), "{month}");
            assert!(middle.has("", ["", "pumps.md"], Some(month)), "{month}: it may be of its end");
        }
        for named in ["minutes/2025-03-31 crew.md", "2025_03_01_pumps.md"] {
            assert!(has(named, None) && has(named, Some("lately")), "{named}");
            assert!(!has(named, Some("2025-02-28")), "what the source says comes first");
        }
        for outside in [Some("2025-02-28"), Some("01.04.2025"), Some("last week"), Some("April 2025"), None] {
            assert!(!has("pumps 2025.md", outside), "{outside:?}");
        }
        assert!(!has("minutes/2025-04-01 crew.md", None));
        assert!(Within::default().has("", ["", ""], None));
    }
}
