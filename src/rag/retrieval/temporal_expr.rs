//! Resolves temporal expressions: the day that a question means.
//!
//! Takes a question and the day on which it is asked; gives the day, relative to today ("yesterday", "vor zwei Wochen")
//! or absolute, where the year may be missing if the question is in the past tense. A month means its last day.
//! Pure, by word lists; rare phrases are misjudged.
//! Not here: whether a question is about the past at all (`temporal_intent`), which version was in force on that day
//! (`versions`).

use time::{Date, Duration, Month, Weekday};

use super::temporal_intent::is_past_tense;
use ragonite_base::text::{PartialDate, lower_words, partial_dates_in};
use ragonite_base::{DateMention, DayOrMonth, Language, dates_in};

/// Words before a day that make it the end of a span: "since yesterday".
const SPANS: &[&str] = &[
    "since", "before", "until", "till", "by", "after", "from", "to", "between", "seit", "bis", "vor", "nach", "ab",
    "von", "zwischen",
];

/// The number one in words.
const ONE: &[&str] = &["one", "a", "an", "ein", "einem", "einer"];

/// Numbers in words, from two on.
const NUMBERS: [[&str; 2]; 11] = [
    ["two", "zwei"],
    ["three", "drei"],
    ["four", "vier"],
    ["five", "fünf"],
    ["six", "sechs"],
    ["seven", "sieben"],
    ["eight", "acht"],
    ["nine", "neun"],
    ["ten", "zehn"],
    ["eleven", "elf"],
    ["twelve", "zwölf"],
];

/// Days of the week, from Monday on.
const WEEKDAYS: [[&str; 2]; 7] = [
    ["monday", "montag"],
    ["tuesday", "dienstag"],
    ["wednesday", "mittwoch"],
    ["thursday", "donnerstag"],
    ["friday", "freitag"],
    ["saturday", "samstag"],
    ["sunday", "sonntag"],
];

/// Words before a past time: "last Monday", "letzten Monat".
pub(super) const LAST: &[&str] =
    &["last", "letzten", "letzte", "letzter", "letztem", "letztes", "vorigen", "vorige", "voriger"];

/// Most days back from today.
const MOST_DAYS: i64 = 3660;

/// The day that a question means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResolvedDate {
    /// For a month, its last day.
    pub(super) day: Date,
    pub(super) how: Resolution,
}

/// How a question names a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resolution {
    /// Relative to today.
    Counted,
    /// By an absolute date, which may also be the subject of the question.
    Dated(DayOrMonth),
}

/// The day that a question means; without `today` only an absolute date with a year.
pub(super) fn resolve_date(question: &str, today: Option<Date>) -> Option<ResolvedDate> {
    let asked: Vec<String> = lower_words(question).collect();
    let language = Language::of(question);
    let counted = || Some(ResolvedDate { day: relative_date(&asked, language, today?)?, how: Resolution::Counted });
    let dated = |date: DayOrMonth| {
        let day = match date {
            DayOrMonth::Day(day) => day,
            DayOrMonth::Month { year, month } => last_of(year, month)?,
        };
        Some(ResolvedDate { day, how: Resolution::Dated(date) })
    };
    let named = || match only_date(question) {
        None if dates_in(question).is_empty() && is_past_tense(&asked, language) => without_year(question, today?),
        date => date,
    };
    counted().or_else(|| dated(named()?)).map(|meant| match today {
        // A current month has come as far as today.
        Some(today) if matches!(meant.how, Resolution::Dated(date) if date.has(today)) => {
            ResolvedDate { day: today, ..meant }
        }
        _ => meant,
    })
}

/// The only date of a question, however often it occurs, unless it is the end of a span. It has a year.
#[must_use]
pub fn absolute_date(question: &str) -> Option<DateMention> {
    let mentions = dates_in(question);
    let first = mentions.first()?;
    let is_same = mentions.iter().all(|mention| mention.readings == first.readings);
    let is_span = mentions.iter().any(|mention| ends_span(question, mention.span.start));
    (is_same && !is_span).then(|| first.clone())
}

/// Whether a date that begins at `start` is the end of a span.
fn ends_span(question: &str, start: usize) -> bool {
    lower_words(&question[..start]).last().is_some_and(|word| SPANS.contains(&word.as_str()))
}

/// That date, if it can be read in one way only.
fn only_date(question: &str) -> Option<DayOrMonth> {
    match absolute_date(question)?.readings[..] {
        [date] => Some(date),
        _ => None,
    }
}

fn relative_date(asked: &[String], language: Language, today: Date) -> Option<Date> {
    let before = |at: usize, count: usize| at.checked_sub(count).map(|at| asked[at].as_str());
    let is_span = |at: usize| before(at, 1).is_some_and(|word| SPANS.contains(&word));
    // "The last week of the contract" is not relative to today.
    let is_of = |at: usize| asked.get(at + 1).is_some_and(|next| matches!(next.as_str(), "of" | "des" | "der"));
    let is_last = |at: usize| before(at, 1).is_some_and(|word| LAST.contains(&word)) && !is_of(at);
    let days_from = |days: i64| today.checked_add(Duration::days(days));
    let day = (0..asked.len()).find_map(|at| match asked[at].as_str() {
        "yesterday" if before(at, 2) == Some("day") && before(at, 1) == Some("before") => days_from(-2),
        _ if is_span(at) => None,
        "vorgestern" => days_from(-2),
        "yesterday" | "yesterdays" | "gestern" | "gestrige" | "gestrigen" => days_from(-1),
        "today" | "heute" => Some(today),
        "tomorrow" => days_from(1),
        "übermorgen" => days_from(2),
        "week" | "woche" if is_last(at) => days_from(-7),
        "month" | "monat" if is_last(at) => today.replace_day(1).ok()?.previous_day(),
        word => {
            let weekday = weekday(word)?;
            let is_meant =
                is_last(at) || (matches!(before(at, 1), Some("on" | "am")) && is_past_tense(asked, language));
            is_meant.then(|| today.prev_occurrence(weekday))
        }
    });
    day.or_else(|| relative_offset(asked)?.before(today))
}

fn weekday(word: &str) -> Option<Weekday> {
    let at = WEEKDAYS.iter().position(|names| names.contains(&word))?;
    Some(Weekday::Monday.nth_next(u8::try_from(at).ok()?))
}

/// A distance from today into the past.
#[derive(Debug, Clone, Copy)]
pub(super) struct RelativeOffset {
    /// None for "some days ago".
    number: Option<i64>,
    unit: Unit,
}

#[derive(Debug, Clone, Copy)]
enum Unit {
    Day,
    Week,
    Month,
    Year,
}

impl Unit {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "day" | "days" | "tag" | "tage" | "tagen" => Self::Day,
            "week" | "weeks" | "woche" | "wochen" => Self::Week,
            "month" | "months" | "monat" | "monate" | "monaten" => Self::Month,
            "year" | "years" | "jahr" | "jahre" | "jahren" => Self::Year,
            _ => return None,
        })
    }
}

impl RelativeOffset {
    fn before(self, today: Date) -> Option<Date> {
        let number = self.number.filter(|number| (1..=MOST_DAYS).contains(number))?;
        match self.unit {
            Unit::Day => today.checked_sub(Duration::days(number)),
            Unit::Week => today.checked_sub(Duration::weeks(number)),
            Unit::Month => months_before(today, number),
            Unit::Year => months_before(today, number.checked_mul(12)?),
        }
    }
}

/// The same day of an earlier month, or its last day if it is shorter.
fn months_before(today: Date, months: i64) -> Option<Date> {
    let month = i64::from(today.year()) * 12 + i64::from(u8::from(today.month())) - 1 - months;
    let year = i32::try_from(month.div_euclid(12)).ok()?;
    let month = Month::try_from(u8::try_from(month.rem_euclid(12) + 1).ok()?).ok()?;
    Date::from_calendar_date(year, month, today.day().min(month.length(year))).ok()
}

/// The first relative offset: "3 days ago", "vor drei Tagen".
pub(super) fn relative_offset(asked: &[String]) -> Option<RelativeOffset> {
    let number = |word: &str| {
        let spelled = || (2..).zip(NUMBERS).find(|(_, words)| words.contains(&word)).map(|(number, _)| number);
        word.parse().ok().or_else(|| ONE.contains(&word).then_some(1)).or_else(spelled)
    };
    asked.windows(3).find_map(|run| match [run[0].as_str(), run[1].as_str(), run[2].as_str()] {
        [count, unit, "ago"] => Some(RelativeOffset { number: number(count), unit: Unit::of(unit)? }),
        // "Vor Tagen mit Sturm" is no offset.
        ["vor", count, unit] => Some(RelativeOffset { number: Some(number(count)?), unit: Unit::of(unit)? }),
        _ => None,
    })
}

fn last_of(year: i32, month: Month) -> Option<Date> {
    Date::from_calendar_date(year, month, month.length(year)).ok()
}

/// The first "November 10", "10. November" or "in October" that is not the end of a span.
pub(super) fn partial_date(question: &str) -> Option<PartialDate> {
    partial_dates_in(question).into_iter().find(|date| !ends_span(question, date.span.start))
}

/// The latest such day or month that is not in the future.
fn without_year(question: &str, today: Date) -> Option<DayOrMonth> {
    let PartialDate { month, day, .. } = partial_date(question)?;
    let of = |year: i32| {
        let first = Date::from_calendar_date(year, month, day.unwrap_or(1)).ok().filter(|first| *first <= today)?;
        Some(if day.is_some() { DayOrMonth::Day(first) } else { DayOrMonth::Month { year, month } })
    };
    of(today.year()).or_else(|| of(today.year() - 1))
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::*;

    fn meant(question: &str) -> Option<ResolvedDate> {
        resolve_date(question, Some(date!(2026 - 11 - 24)))
    }

    #[test]
    fn a_day_is_counted_from_today_in_figures_and_words() {
        for (question, day) in [
            ("What was the limit yesterday?", date!(2026 - 11 - 23)),
            ("What was the limit the day before yesterday?", date!(2026 - 11 - 22)),
            ("What does it say today?", date!(2026 - 11 - 24)),
            ("What will it cost tomorrow?", date!(2026 - 11 - 25)),
            ("What was the limit 3 days ago?", date!(2026 - 11 - 21)),
            ("What was the limit three days ago?", date!(2026 - 11 - 21)),
            ("What was the limit a week ago?", date!(2026 - 11 - 17)),
            ("What was the limit last week?", date!(2026 - 11 - 17)),
            ("What was the limit last month?", date!(2026 - 10 - 31)),
            ("What was the limit two months ago?", date!(2026 - 09 - 24)),
            ("What was the limit on Sunday?", date!(2026 - 11 - 22)),
            ("What was the limit last Tuesday?", date!(2026 - 11 - 17)),
            ("Was galt vorgestern?", date!(2026 - 11 - 22)),
            ("Was galt vor einem Tag?", date!(2026 - 11 - 23)),
            ("Was galt vor drei Tagen?", date!(2026 - 11 - 21)),
            ("Was galt vor einer Woche?", date!(2026 - 11 - 17)),
            ("Was galt vor einem Jahr?", date!(2025 - 11 - 24)),
            ("Was galt letzten Monat?", date!(2026 - 10 - 31)),
            ("Was galt am Sonntag?", date!(2026 - 11 - 22)),
        ] {
            assert_eq!(meant(question), Some(ResolvedDate { day, how: Resolution::Counted }), "{question}");
        }
        for question in [
            "What is new since yesterday?",
            "Was ist seit gestern neu?",
            "Who is on duty on Monday?",
            "What happens in the last week of the contract?",
            "What was the limit some days ago?",
            "Was tun vor Tagen mit Sturm?",
            "What was the limit 99999999999 weeks ago?",
            "ago",
            "",
        ] {
            assert_eq!(meant(question), None, "{question}");
        }
        assert_eq!(months_before(date!(2026 - 03 - 31), 1), Some(date!(2026 - 02 - 28)));
        assert_eq!(months_before(date!(2026 - 01 - 05), 13), Some(date!(2024 - 12 - 05)));
    }

    #[test]
    fn a_date_is_meant_with_its_year_or_as_the_last_one_that_was() {
        for (question, day) in [
            ("What was the limit on 2026-10-30?", date!(2026 - 10 - 30)),
            ("What is the limit in October 2026?", date!(2026 - 10 - 31)),
            ("Who was at the meeting on November 10?", date!(2026 - 11 - 10)),
            ("Who was at the meeting of the 10th of November?", date!(2026 - 11 - 10)),
            ("Wer war am 10. November da?", date!(2026 - 11 - 10)),
            ("Who was there on December 3?", date!(2025 - 12 - 03)),
            ("What was the limit in October?", date!(2026 - 10 - 31)),
            ("Welches Limit galt im November?", date!(2026 - 11 - 24)),
            ("And on October 30, 2024? What was the limit on October 30, 2024?", date!(2024 - 10 - 30)),
            ("And on 2024-10-30? What was the limit on 2024-10-30?", date!(2024 - 10 - 30)),
        ] {
            let meant = meant(question).unwrap_or_else(|| panic!("{question}"));
            assert_eq!(meant.day, day, "{question}");
            assert!(matches!(meant.how, Resolution::Dated(date) if date.has(day)), "{question}");
        }
        for question in [
            "Who is there in December?",
            "What was the limit from 2026-10-01 to 2026-10-30?",
            "What was the price from March 1, 2024 to March 5, 2024?",
            "What is the limit since 2025-03-01?",
            "Who was ill since November 3?",
            "Was gilt im Oktober?",
            "Was gilt am Montag?",
            "Wer hat am Montag Dienst?",
            "Which rate is applied on Friday?",
            "Is the canteen open on the last Friday of the month?",
            "What was on 3/4/2026?",
            "May the crane lift 10 tons?",
            "Who was there in the marching band?",
        ] {
            assert_eq!(meant(question), None, "{question}");
        }
        assert_eq!(resolve_date("What was the limit yesterday?", None), None);
        let dated = resolve_date("What was the limit on 2026-10-30?", None);
        assert_eq!(dated.map(|meant| meant.day), Some(date!(2026 - 10 - 30)));
    }
}
