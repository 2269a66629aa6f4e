//! Dates in texts, and their spellings.
//!
//! Takes a text, gives the days and months named in it; takes a day or month, gives its spellings in English and German
//! texts. It reads `2013-06-22`, `22.6.2013`, `6/22/2013`, `2013-06`, and months by name in both languages.
//! Invariants: every span lies in the text; spans are ordered and do not overlap; every day exists. Digits and dots with
//! a year of two digits may be a version, so they are a date only behind a word such as `on`, or if they begin with a
//! day above 12 and no name stands before them. Two readings are given if nothing tells day from month, as in
//! `3/4/2015`.
//! Not here: times of day, `last Monday` (`rag::retrieval`); which spellings a domain has (`index`).

use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};

use time::{Date, Month};

use super::{Word, is_stop_word, split_words};

/// Names and abbreviations of the months in English and German, in lower case; the English name first.
const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "jänner"],
    &["february", "feb", "februar"],
    &["march", "mar", "märz", "maerz", "mrz"],
    &["april", "apr"],
    &["may", "mai"],
    &["june", "jun", "juni"],
    &["july", "jul", "juli"],
    &["august", "aug"],
    &["september", "sep", "sept"],
    &["october", "oct", "oktober", "okt"],
    &["november", "nov"],
    &["december", "dec", "dezember", "dez"],
];

/// Plausible years.
const YEARS: RangeInclusive<i32> = 1900..=2099;

/// First year that two digits can mean.
const FIRST_SHORT_YEAR: i32 = 1970;

/// Words before a day; digits behind them are no version.
const BEFORE_DAY: &[&str] = &[
    "on",
    "date",
    "dated",
    "am",
    "den",
    "dem",
    "zum",
    "datum",
    "meeting",
    "call",
    "minutes",
    "agenda",
    "treffen",
    "sitzung",
    "besprechung",
    "protokoll",
    "termin",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "montag",
    "dienstag",
    "mittwoch",
    "donnerstag",
    "freitag",
    "samstag",
    "sonnabend",
    "sonntag",
];

/// Words before a month without day and year, as in "in May".
const BEFORE_MONTH: [&str; 5] = ["in", "im", "of", "for", "für"];

/// The first day of the month with which no version begins.
const LEAST_CLEAR_DAY: u8 = 13;

/// Characters that join digits; one more of them beside a date makes it something else.
const JOINS: [char; 6] = ['.', '-', '/', ':', '_', '@'];

/// Maximum of bytes between two parts of a date with a month name.
const LONGEST_GAP: usize = 4;

/// A day, or a month of a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DayOrMonth {
    /// A day.
    Day(Date),
    /// A whole month.
    Month {
        /// Its year.
        year: i32,
        /// The month.
        month: Month,
    },
}

/// A date in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateMention {
    /// Byte range in the text.
    pub span: Range<usize>,
    /// Its readings: one, or two if nothing tells day from month.
    pub readings: Vec<DayOrMonth>,
}

/// A day of any year, or a month of any year.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialDate {
    /// Byte range in the text.
    pub span: Range<usize>,
    /// The month.
    pub month: Month,
    /// The day of the month; none for a whole month.
    pub day: Option<u8>,
}

impl DayOrMonth {
    /// Its year.
    #[must_use]
    pub fn year(self) -> i32 {
        match self {
            Self::Day(day) => day.year(),
            Self::Month { year, .. } => year,
        }
    }

    /// Its month.
    #[must_use]
    pub fn month(self) -> Month {
        match self {
            Self::Day(day) => day.month(),
            Self::Month { month, .. } => month,
        }
    }

    /// The names of its month, in lower case.
    #[must_use]
    pub fn month_names(self) -> &'static [&'static str] {
        MONTHS[usize::from(u8::from(self.month())) - 1]
    }

    /// The day of the month as written beside a month name: `1`, `01`, `1st`. Empty for a month.
    #[must_use]
    pub fn day_words(self) -> Vec<String> {
        let Self::Day(date) = self else { return Vec::new() };
        let day = date.day();
        let ending = match day {
            1 | 21 | 31 => "st",
            2 | 22 => "nd",
            3 | 23 => "rd",
            _ => "th",
        };
        let mut words = vec![day.to_string(), format!("{day}{ending}")];
        if day < 10 {
            words.push(format!("0{day}"));
        }
        words
    }

    /// All numeric spellings, such as `22.6.13` and `2013-06-22`, without repeats.
    #[must_use]
    pub fn in_digits(self) -> Vec<String> {
        let (year, month) = (self.year(), u8::from(self.month()));
        let mut spellings = match self {
            Self::Month { .. } => vec![
                format!("{year}-{month:02}"),
                format!("{month:02}/{year}"),
                format!("{month}/{year}"),
                format!("{month:02}.{year}"),
                format!("{month}.{year}"),
            ],
            Self::Day(date) => {
                let day = date.day();
                let mut all = vec![format!("{year}-{month:02}-{day:02}"), format!("{year}/{month:02}/{day:02}")];
                let short = year.rem_euclid(100);
                for (day, month) in [(day.to_string(), month.to_string()), (format!("{day:02}"), format!("{month:02}"))]
                {
                    for year in [year.to_string(), format!("{short:02}")] {
                        all.push(format!("{day}.{month}.{year}"));
                        all.push(format!("{day}/{month}/{year}"));
                        all.push(format!("{month}/{day}/{year}"));
                    }
                    all.push(format!("{day}-{month}-{year}"));
                }
                all
            }
        };
        let mut seen = HashSet::new();
        spellings.retain(|spelling| seen.insert(spelling.clone()));
        spellings
    }

    /// Whether it is or contains this day.
    #[must_use]
    pub fn has(self, day: Date) -> bool {
        match self {
            Self::Day(of) => of == day,
            Self::Month { year, month } => (year, month) == (day.year(), day.month()),
        }
    }
}

/// The month with this English or German name or abbreviation, in any case.
#[must_use]
pub fn month_named(word: &str) -> Option<Month> {
    let word = word.to_lowercase();
    let at = (1_u8..).zip(MONTHS).find(|(_, names)| names.contains(&word.as_str()))?.0;
    Month::try_from(at).ok()
}

/// The dates in a text.
#[must_use]
pub fn dates_in(text: &str) -> Vec<DateMention> {
    Text::of(text).read().dates
}

/// The dates without a year in a text: "November 10", "in November".
#[must_use]
pub fn partial_dates_in(text: &str) -> Vec<PartialDate> {
    Text::of(text).read().partial
}

/// What a text has, in order.
#[derive(Default)]
struct Found {
    dates: Vec<DateMention>,
    partial: Vec<PartialDate>,
}

/// A text with its words.
struct Text<'a> {
    text: &'a str,
    words: Vec<Range<usize>>,
}

/// A month name with the numbers around it.
struct NamedDate {
    day: Option<u8>,
    month: Month,
    year: Option<i32>,
    /// Its number of words.
    words: usize,
}

impl NamedDate {
    fn with_year(&self) -> Option<DayOrMonth> {
        let (year, month) = (self.year?, self.month);
        match self.day {
            Some(day) => Date::from_calendar_date(year, month, day).ok().map(DayOrMonth::Day),
            None => Some(DayOrMonth::Month { year, month }),
        }
    }
}

impl<'a> Text<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, words: split_words(text, &[]).map(Word::span).collect() }
    }

    fn read(&self) -> Found {
        let mut found = Found::default();
        // The first word after the last date without a year, which a date with a year may overlap: "May, 22 June 2013".
        let mut free = 0;
        let mut at = 0;
        while at < self.words.len() {
            let named = self.named(at);
            if let Some((mention, words)) = self.date_at(at, named.as_ref()) {
                if at < free {
                    found.partial.pop();
                }
                found.dates.push(mention);
                at += words;
                continue;
            }
            if let Some((partial, words)) = named.filter(|_| at >= free).and_then(|named| self.partial_at(at, named)) {
                found.partial.push(partial);
                free = at + words;
            }
            at += 1;
        }
        found
    }

    fn word(&self, at: usize) -> Option<&'a str> {
        self.words.get(at).map(|word| &self.text[word.clone()])
    }

    /// The date that begins with word `at`, and its number of words.
    fn date_at(&self, at: usize, named: Option<&NamedDate>) -> Option<(DateMention, usize)> {
        let named = named.and_then(|named| Some((vec![named.with_year()?], named.words)));
        let (readings, words) = named.or_else(|| self.in_digits(at))?;
        let span = self.span(at, words);
        let readings = (self.stands_alone(&span) && !readings.is_empty()).then_some(readings)?;
        Some((DateMention { span, readings }, words))
    }

    /// The date without a year that begins with word `at`. Without a day only a word such as "in" tells May from "may".
    fn partial_at(&self, at: usize, named: NamedDate) -> Option<(PartialDate, usize)> {
        let NamedDate { day, month, year, words } = named;
        let is_month = || self.before(at).is_some_and(|word| BEFORE_MONTH.contains(&word.as_str()));
        (year.is_none() && (day.is_some() || is_month()))
            .then(|| (PartialDate { span: self.span(at, words), month, day }, words))
    }

    fn span(&self, at: usize, words: usize) -> Range<usize> {
        self.words[at].start..self.words[at + words - 1].end
    }

    /// Whether no digits or letters are joined to the span on either side.
    fn stands_alone(&self, span: &Range<usize>) -> bool {
        let mut before = self.text[..span.start].chars().rev();
        let joined_before =
            before.next().is_some_and(|c| JOINS.contains(&c)) && before.next().is_some_and(char::is_alphanumeric);
        let mut behind = self.text[span.end..].chars();
        let joined_behind =
            behind.next().is_some_and(|c| JOINS.contains(&c)) && behind.next().is_some_and(char::is_alphanumeric);
        !joined_before && !joined_behind
    }

    /// A date with a month name: `June 22nd, 2013`, `22. Juni 2013`, `22 of June 2013`, `June 2013`, `June 22`.
    fn named(&self, at: usize) -> Option<NamedDate> {
        let next = |at: usize| self.near(at).then_some(at + 1);
        let day_at = |at: usize| self.word(at).and_then(day_of_month);
        let (mut last, mut day) = (at, day_at(at));
        if day.is_some() {
            last = next(last)?;
            last = if self.word(last)?.eq_ignore_ascii_case("of") { next(last)? } else { last };
        }
        let month = self.word(last).and_then(month_named)?;
        if day.is_none()
            && let Some(at) = next(last)
            && let Some(behind) = day_at(at)
        {
            (last, day) = (at, Some(behind));
        }
        let year = next(last).and_then(|at| full_year(self.word(at)?));
        last += usize::from(year.is_some());
        Some(NamedDate { day, month, year, words: last - at + 1 })
    }

    /// Whether this word and the next are adjacent.
    fn near(&self, at: usize) -> bool {
        let Some([one, next]) = self.words.get(at..at + 2) else { return false };
        let gap = &self.text[one.end..next.start];
        gap.len() <= LONGEST_GAP && gap.chars().all(|c| c.is_whitespace() || matches!(c, ',' | '.' | '-'))
    }

    /// A numeric date.
    fn in_digits(&self, at: usize) -> Option<(Vec<DayOrMonth>, usize)> {
        let joined = |at: usize| {
            let [one, next] = self.words.get(at..at + 2)? else { return None };
            let mut gap = self.text[one.end..next.start].chars();
            gap.next().filter(|_| gap.next().is_none())
        };
        let join = joined(at)?;
        let (first, second) = (number(self.word(at)?)?, number(self.word(at + 1)?)?);
        if joined(at + 1) != Some(join) || !matches!(join, '.' | '-' | '/') {
            return Some((month_in_digits(join, first, second), 2));
        }
        let third = number(self.word(at + 2)?)?;
        let readings = match (join, first.digits, third.digits) {
            ('-' | '/', 4, 1..=2) => days([(first, second, third)]),
            ('.', 1..=2, 2 | 4) => days([(third, second, first)]),
            ('/', 1..=2, 2 | 4) | ('-', 1..=2, 4) => days([(third, second, first), (third, first, second)]),
            _ => Vec::new(),
        };
        let day = readings.iter().filter_map(|reading| match reading {
            DayOrMonth::Day(date) => Some(date.day()),
            DayOrMonth::Month { .. } => None,
        });
        let may_be_version = join == '.' && third.digits == 2;
        let is_date = !may_be_version || self.leads_to_date(at, day.max().unwrap_or_default());
        is_date.then_some((readings, 3))
    }

    fn before(&self, at: usize) -> Option<String> {
        self.word(at.checked_sub(1)?).map(str::to_lowercase)
    }

    /// Whether the word before digits with a two-digit year marks a date; behind a name they may be a version.
    fn leads_to_date(&self, at: usize, day: u8) -> bool {
        let is_clear = day >= LEAST_CLEAR_DAY;
        let Some(word) = self.before(at) else { return is_clear };
        let gap = &self.text[self.words[at - 1].end..self.words[at].start];
        let stands_apart = gap.chars().any(|c| !c.is_whitespace());
        BEFORE_DAY.contains(&word.as_str()) || (is_clear && (stands_apart || is_stop_word(&word)))
    }
}

/// A number in ASCII digits.
#[derive(Clone, Copy)]
struct Number {
    value: u16,
    digits: usize,
}

fn number(word: &str) -> Option<Number> {
    let is_short = word.len() <= 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    is_short.then(|| word.parse().ok().map(|value| Number { value, digits: word.len() })).flatten()
}

/// The year of a four-digit word.
#[must_use]
pub fn full_year(word: &str) -> Option<i32> {
    year_of(number(word).filter(|number| number.digits == 4)?)
}

fn year_of(number: Number) -> Option<i32> {
    let value = i32::from(number.value);
    match number.digits {
        4 => Some(value).filter(|year| YEARS.contains(year)),
        2 => Some(FIRST_SHORT_YEAR + (value - FIRST_SHORT_YEAR).rem_euclid(100)),
        _ => None,
    }
}

/// A day of the month, with or without its English ending.
fn day_of_month(word: &str) -> Option<u8> {
    let lower = word.to_lowercase();
    let bare = ["st", "nd", "rd", "th"].iter().find_map(|ending| lower.strip_suffix(ending)).unwrap_or(&lower);
    let number = number(bare).filter(|number| number.digits <= 2)?;
    u8::try_from(number.value).ok().filter(|day| (1..=31).contains(day))
}

/// The valid days among these (year, month, day) triples, without repeats.
fn days<const N: usize>(parts: [(Number, Number, Number); N]) -> Vec<DayOrMonth> {
    let mut days = Vec::new();
    for (year, month, day) in parts {
        let short = month.digits <= 2 && day.digits <= 2;
        if let (true, Some(year), Ok(month), Ok(day)) =
            (short, year_of(year), Month::try_from(low(month)), u8::try_from(day.value))
            && let Ok(date) = Date::from_calendar_date(year, month, day)
            && !days.contains(&DayOrMonth::Day(date))
        {
            days.push(DayOrMonth::Day(date));
        }
    }
    days
}

/// `06/2013` and `2013-06`.
fn month_in_digits(join: char, first: Number, second: Number) -> Vec<DayOrMonth> {
    let (month, year) = match (join, first.digits, second.digits) {
        ('-', 4, 2) => (second, first),
        ('/', 1..=2, 4) => (first, second),
        _ => return Vec::new(),
    };
    let month = Month::try_from(low(month)).ok();
    month.zip(year_of(year)).map(|(month, year)| DayOrMonth::Month { year, month }).into_iter().collect()
}

/// The value, or 0 if it is above 255.
fn low(number: Number) -> u8 {
    u8::try_from(number.value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use time::macros::date;

    use super::*;

    fn read(text: &str) -> Vec<DayOrMonth> {
        dates_in(text).into_iter().flat_map(|mention| mention.readings).collect()
    }

    fn june() -> DayOrMonth {
        DayOrMonth::Day(date!(2013 - 06 - 22))
    }

    #[test]
    fn a_day_is_read_in_every_form() {
        for text in [
            "Which pump failed in the storm on 22.6.13?",
            "Welche Boje fehlte nach dem Sturm am 22.6.13?",
            "the storm of 22.06.2013.",
            "(22.6.13)",
            "minutes 2013-06-22",
            "2013/06/22",
            "on 22/6/2013, and",
            "on 6/22/2013",
            "Harbour log - June 22 2013",
            "the log of June 22, 2013, by the crew",
            "june 22nd 2013",
            "22 June 2013",
            "the 22nd of June, 2013",
            "seit dem 22. Juni 2013",
            "22-Jun-2013",
        ] {
            assert_eq!(read(text), [june()], "{text}");
        }
    }

    #[test]
    fn a_month_of_a_year_is_read() {
        let month = [DayOrMonth::Month { year: 2020, month: Month::March }];
        for text in ["in March 2020", "im März 2020?", "Mar. 2020", "03/2020", "2020-03", "3/2020"] {
            assert_eq!(read(text), month, "{text}");
        }
    }

    #[test]
    fn two_readings_are_given_where_nothing_tells_day_from_month() {
        let both = [DayOrMonth::Day(date!(2015 - 04 - 03)), DayOrMonth::Day(date!(2015 - 03 - 04))];
        assert_eq!(read("on 3/4/2015"), both);
        assert_eq!(read("on 5/5/2015").len(), 1);
        assert_eq!(read("am 3.4.2015"), both[..1], "with dots the day comes first");
    }

    #[test]
    fn a_date_without_a_year_has_a_day_or_a_word_before_it() {
        let read = |text| partial_dates_in(text).into_iter().map(|date| (date.day, date.month)).collect::<Vec<_>>();
        for text in ["on November 10?", "am 10. November", "the 10th of November", "November 10, 12 boats"] {
            assert_eq!(read(text), [(Some(10), Month::November)], "{text}");
        }
        assert_eq!((read("in May, 22 June 2013"), dates_in("in May, 22 June 2013").len()), (Vec::new(), 1));
        assert_eq!(read("in May and im Juni"), [(None, Month::May), (None, Month::June)]);
        for text in ["May the crane lift 10 tons?", "on November 10, 2024", "a marching band", "10 boats", ""] {
            assert_eq!(read(text), [], "{text}");
        }
    }

    #[test]
    fn versions_addresses_and_fractions_are_no_dates() {
        for text in [
            "version 7.1.15",
            "v7.1.15",
            "Kolmet 7.1.15",
            "Linux 4.4.19 and QEMU 2.6.22",
            "qemu 2.6.22",
            "since 7.1.15",
            "9.0.2",
            "Brankel 1.6.4",
            "10.1.12.15",
            "on 10.1.12.15",
            "on 192.168.1.15",
            "on 32.7.15",
            "on 31.2.2015",
            "on 3/4",
            "CVE-2013-06-22",
            "KLM-2013-06",
            "1/2013/06/22",
            "on 22.6.1815",
            "may be 2015",
            "April and May 20",
            "June 2013.3",
            "2015",
            "",
        ] {
            assert_eq!(read(text), [], "{text}");
        }
    }

    fn any_day() -> impl Strategy<Value = Date> {
        let first = date!(1970 - 01 - 01).to_julian_day();
        (first..date!(2070 - 01 - 01).to_julian_day()).prop_filter_map("a day", |day| Date::from_julian_day(day).ok())
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(128))]

        #[test]
        fn every_spelling_of_a_day_is_read_as_that_day(date in any_day()) {
            let day = DayOrMonth::Day(date);
            for spelling in day.in_digits() {
                let text = format!("Who met on {spelling}?");
                let found = dates_in(&text);
                prop_assert_eq!(found.len(), 1, "{}", &text);
                prop_assert!(found[0].readings.contains(&day), "{}", &text);
                prop_assert_eq!(&text[found[0].span.clone()], &spelling);
            }
            for name in day.month_names() {
                for word in day.day_words() {
                    for text in [format!("{name} {word}, {}", date.year()), format!("{word}. {name} {}", date.year())] {
                        prop_assert_eq!(read(&text), [day], "{}", text);
                    }
                }
            }
        }

        #[test]
        fn every_spelling_of_a_month_is_read_as_that_month(year in 1900_i32..2100, number in 1_u8..=12) {
            let month = DayOrMonth::Month { year, month: Month::try_from(number).unwrap() };
            for spelling in month.month_names().iter().map(|name| format!("{name} {year}")) {
                prop_assert_eq!(read(&spelling), [month], "{}", spelling);
            }
            prop_assert!(month.in_digits().iter().filter(|digits| !digits.contains('.')).all(|digits| read(digits) == [month]));
        }

        #[test]
        fn a_version_of_a_product_is_never_a_date(major in 0_u8..40, minor in 0_u8..40, patch in 0_u8..100) {
            for lead in ["version ", "Kolmet ", "brankel ", "v", "9.", "since version "] {
                let text = format!("{lead}{major}.{minor}.{patch}");
                prop_assert_eq!(read(&text), [], "{}", text);
            }
        }

        #[test]
        fn any_text_gives_dates_that_lie_in_it_in_order(text in "([0-9]{1,4}|[./ ,-]|on|july|Mai|of|ä|\\PC){0,40}") {
            let mut end = 0;
            for mention in dates_in(&text) {
                prop_assert!(mention.span.start >= end && text.get(mention.span.clone()).is_some());
                prop_assert!(!mention.readings.is_empty() && mention.readings.len() <= 2);
                end = mention.span.end;
            }
        }
    }
}
