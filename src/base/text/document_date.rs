//! The date of a document.
//!
//! Takes the date field of its source, its address and its path; gives a day or, if none of them names a day, a month.
//! Invariants: pure; a day wins over a month, and the date field over a name; of two readings, as in `3/4/2015`, day
//! before month is taken.
//! Not here: dates within texts (`dates`).

use time::Date;
use time::macros::format_description;

use super::{DayOrMonth, dates_in, month_named, words};

/// The day of the source's date field in any form, else the day in the last path component of the first of `names` that
/// has one; else the month, in the same order.
#[must_use]
pub fn document_date(date: Option<&str>, names: &[&str]) -> Option<DayOrMonth> {
    let named_day = || names.iter().find_map(|name| day_in_name(last_part(name)));
    let day = date.and_then(day_of).or_else(named_day).map(DayOrMonth::Day);
    let texts = || date.into_iter().chain(names.iter().map(|name| stem(last_part(name))));
    let in_name = || names.iter().find_map(|name| month_in_name(last_part(name)));
    day.or_else(|| texts().find_map(|text| readings(text).next())).or_else(in_name)
}

/// The day of a date field, in the forms of files and feeds (`2025-03-01T12:00:00Z`), mail (`Sat, 1 Mar 2025 10:00`),
/// Confluence (`Mar 01, 2025`) and people (`01.03.2025`).
fn day_of(date: &str) -> Option<Date> {
    let date = date.trim();
    // RFC 3339 joins day and time into one word.
    let iso = date.get(..10).and_then(|day| Date::parse(day, format_description!("[year]-[month]-[day]")).ok());
    iso.or_else(|| first_day(date)).or_else(|| spelled_day(date))
}

/// A day with a month name: the first month name, the first number of one or two digits, the first of four.
fn spelled_day(date: &str) -> Option<Date> {
    let month = words(date).find_map(month_named)?;
    let day = words(date).find(|word| word.len() <= 2)?.parse().ok()?;
    let year = words(date).find(|word| word.len() == 4)?.parse().ok()?;
    Date::from_calendar_date(year, month, day).ok()
}

/// The day in a file name, where other words may be joined to it: `backup-2026-11-22`, `2026_11_22_minutes`.
fn day_in_name(name: &str) -> Option<Date> {
    let parts: Vec<&str> = name.split(['-', '_', '.', ' ']).collect();
    let is_number = |part: &str, digits: usize| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_day = |parts: &&[&str]| parts.iter().zip([4, 2, 2]).all(|(part, digits)| is_number(part, digits));
    let joined = parts.windows(3).filter(is_day).find_map(|day| first_day(&day.join("-")));
    let with_points = || {
        let pieces = [stem(name), name].into_iter().flat_map(|name| name.split(['-', '_', ' ', '+']));
        // `docker-20.10.21` is a version.
        let has_year = |piece: &&str| piece.split('.').any(|part| is_number(part, 4));
        pieces.filter(has_year).find_map(first_day)
    };
    // In `Call 01.03.2025` the last dot starts no file extension.
    joined.or_else(|| first_day(stem(name))).or_else(|| first_day(name)).or_else(with_points)
}

/// The month in a file name, where other words may be joined to it: `shifts-2026-09`.
fn month_in_name(name: &str) -> Option<DayOrMonth> {
    let parts: Vec<&str> = stem(name).split(['-', '_', ' ']).collect();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let [others @ .., year, month] = parts.as_slice() else { return None };
    let fits = year.len() == 4 && month.len() == 2 && is_number(year) && is_number(month);
    let is_free = fits && others.last().is_none_or(|before| !is_number(before));
    is_free.then(|| readings(&format!("{year}-{month}")).next())?
}

fn first_day(text: &str) -> Option<Date> {
    readings(text).find_map(|reading| match reading {
        DayOrMonth::Day(day) => Some(day),
        DayOrMonth::Month { .. } => None,
    })
}

/// The first reading of each date in a text.
fn readings(text: &str) -> impl Iterator<Item = DayOrMonth> {
    dates_in(text).into_iter().filter_map(|mention| mention.readings.first().copied())
}

fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use time::Month;
    use time::macros::date;

    use super::*;

    const MARCH: Option<DayOrMonth> = Some(DayOrMonth::Day(date!(2025 - 03 - 01)));

    #[test]
    fn the_day_of_a_document_is_told_in_every_form_that_sources_have() {
        for text in [
            "2025-03-01",
            " 2025-03-01T12:00:00Z",
            "2025-03-01 12:00:00",
            "2025-3-1",
            "2025/03/01",
            "01.03.2025",
            "1.3.2025, 10:00",
            "Sat, 1 Mar 2025 10:00:00 +0100",
            "Sat Mar 1 10:00:00 2025",
            "1 March 2025",
            "Mar 01, 2025",
            "March 1, 2025 by Alice",
            "1. März 2025",
        ] {
            assert_eq!(document_date(Some(text), &["notes/2024-01-02.md"]), MARCH, "{text}");
        }
        for text in ["", "yesterday", "99 Mar", "ä Mar", "v1.3.25"] {
            assert_eq!(document_date(Some(text), &[]), None, "{text}");
        }
    }

    #[test]
    fn a_document_whose_date_names_no_day_is_of_the_day_in_its_name() {
        for name in [
            "notes/2025-03-01.md",
            "backup-2025-03-01.md",
            "a\\2025_03_01_pumps.md",
            "Crew 1 March 2025.txt",
            "Crew 01.03.2025.txt",
            "crew-01.03.2025.txt",
            "crew_1.3.2025.txt",
            "crew-1.3.2025",
            "https://wiki.example/pages/7/Crew+01.03.2025",
        ] {
            for date in [None, Some("lately"), Some("March 2025")] {
                assert_eq!(document_date(date, &["", name]), MARCH, "{name}");
            }
        }
        for none in [
            "release-1-2-3",
            "release-1.2.3.md",
            "docker-20.10.21.md",
            "app-24.10.22.zip",
            "build-20261-11-22",
            "2025-03-01/pumps.md",
            "backup-2025-13-01.md",
            "",
        ] {
            assert_eq!(document_date(None, &[none]), None, "{none}");
        }
    }

    #[test]
    fn a_month_is_the_date_of_a_document_where_nothing_names_a_day() {
        let month = Some(DayOrMonth::Month { year: 2025, month: Month::March });
        assert_eq!(document_date(Some("Mar 2025"), &["pumps.md"]), month);
        assert_eq!(document_date(Some("lately"), &["minutes/2025-03.md"]), month);
        assert_eq!(document_date(None, &["plans/shifts-2025-03.md"]), month);
        assert_eq!(document_date(None, &["plans/shifts_2025_03.md"]), month);
        for none in ["build-7-2025-03.md", "shifts-2025-13.md", "shifts-12345-03.md", "2025-03-plan-b.md"] {
            assert_eq!(document_date(None, &[none]), None, "{none}");
        }
        assert_eq!(document_date(Some("3/4/2025"), &[]), Some(DayOrMonth::Day(date!(2025 - 04 - 03))));
    }
}
