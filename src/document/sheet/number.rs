//! Numbers and dates as a spreadsheet shows them.
//!
//! Takes a value and its format code, gives text. Dates are written as ISO dates to the precision of the format, since
//! `03/04/24` means different days to different readers.
//! Not here: fractions, which are written as decimal numbers.

/// A number in a format such as `#,##0.00 [$€-407];[Red]-0.0%`.
pub(super) fn number(value: f64, code: &str) -> String {
    let sections = sections(code);
    let chosen = choose(&sections, value);
    let Some(section) = chosen.map(|at| &sections[at]) else { return general(value) };
    let pattern = Pattern::read(section);
    if pattern.is_general {
        return general(value);
    }
    if !pattern.has_digits() {
        return pattern.literals();
    }
    // A section for negative numbers draws their sign itself.
    let signed = value < 0.0 && (chosen == Some(0) || section.starts_with('['));
    let text = pattern.draw(value.abs());
    let is_zero = !text.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    if signed && !is_zero && !text.starts_with(['-', '(']) { format!("-{text}") } else { text }
}

/// A number without a format: at most 15 digits, as in spreadsheets.
pub(super) fn general(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let rounded: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    if (1e-9..1e16).contains(&rounded.abs()) { rounded.to_string() } else { format!("{rounded:E}") }
}

/// The parts of a date and time.
#[derive(Debug, Clone, Copy)]
pub(super) struct DateParts {
    year: u16,
    month: u8,
    day: u8,
    hour: u8,
    minute: u8,
    second: u8,
}

impl From<(u16, u8, u8, u8, u8, u8, u16)> for DateParts {
    /// From calamine's parts; the milliseconds are dropped.
    fn from(parts: (u16, u8, u8, u8, u8, u8, u16)) -> Self {
        let (year, month, day, hour, minute, second, _milliseconds) = parts;
        Self { year, month, day, hour, minute, second }
    }
}

/// A date or time in a format such as `dd.mm.yyyy hh:mm`; `days` is its value in days.
pub(super) fn date(parts: DateParts, days: f64, code: Option<&str>) -> String {
    let DateParts { year, month, day, hour, minute, second } = parts;
    let shown = code.map_or_else(|| Shown::of_value(days), Shown::of_code);
    if shown.elapsed {
        return elapsed(days, &shown);
    }
    let time =
        if shown.second { format!("{hour:02}:{minute:02}:{second:02}") } else { format!("{hour:02}:{minute:02}") };
    let date = match (shown.year, shown.month, shown.day) {
        (true, true, false) => format!("{year:04}-{month:02}"),
        (true, false, false) => format!("{year:04}"),
        _ => format!("{year:04}-{month:02}-{day:02}"),
    };
    match (shown.year || shown.month || shown.day, shown.hour) {
        (true, true) => format!("{date} {time}"),
        (false, true) => time,
        _ => date,
    }
}

/// A duration in hours, minutes and, if shown, seconds.
fn elapsed(days: f64, shown: &Shown) -> String {
    let seconds = (days.abs() * 86_400.0).round() as u64;
    let sign = if days < 0.0 { "-" } else { "" };
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if shown.second { format!("{sign}{hours}:{minutes:02}:{rest:02}") } else { format!("{sign}{hours}:{minutes:02}") }
}

/// The parts of a date that a format shows.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each part is shown or not, in any combination")]
struct Shown {
    year: bool,
    month: bool,
    day: bool,
    hour: bool,
    second: bool,
    elapsed: bool,
}

impl Shown {
    fn of_value(days: f64) -> Self {
        let (date, time) = (days.abs() >= 1.0, days.fract() != 0.0);
        Self { year: date, month: date, day: date, hour: time || !date, ..Self::default() }
    }

    fn of_code(code: &str) -> Self {
        let bare = without_literals(code).to_lowercase();
        let has = |sign: char| bare.contains(sign);
        let elapsed = ["[h", "[m", "[s"].iter().any(|start| code.to_lowercase().contains(start));
        let hour = has('h') || elapsed || (has('s') && !has('y') && !has('d'));
        // `m` beside hours and seconds is minutes.
        let month = bare.contains("mmm") || (has('m') && (has('y') || has('d')));
        Self { year: has('y'), month, day: has('d'), hour, second: has('s'), elapsed }
    }
}

/// A format without quoted, escaped and bracketed parts, and only its first section.
fn without_literals(code: &str) -> String {
    let mut bare = String::new();
    let mut signs = code.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '"' => drop(signs.by_ref().find(|c| *c == '"')),
            '[' => drop(signs.by_ref().find(|c| *c == ']')),
            '\\' | '_' | '*' => drop(signs.next()),
            ';' => break,
            _ => bare.push(sign),
        }
    }
    bare
}

/// A format's sections; semicolons in quotes or behind a backslash do not separate.
fn sections(code: &str) -> Vec<String> {
    let mut sections = vec![String::new()];
    let (mut quoted, mut escaped) = (false, false);
    for sign in code.chars() {
        match sign {
            ';' if !quoted && !escaped => {
                sections.push(String::new());
                continue;
            }
            '"' if !escaped => quoted = !quoted,
            _ => {}
        }
        escaped = matches!(sign, '\\' | '_' | '*') && !escaped && !quoted;
        if let Some(section) = sections.last_mut() {
            section.push(sign);
        }
    }
    sections
}

/// The section for a value.
fn choose(sections: &[String], value: f64) -> Option<usize> {
    let conditions: Vec<Option<bool>> = sections.iter().map(|section| condition(section, value)).collect();
    if conditions.iter().any(Option::is_some) {
        let fits = conditions.iter().position(|fits| *fits == Some(true));
        return fits.or_else(|| conditions.iter().position(Option::is_none));
    }
    Some(match sections.len() {
        0 => return None,
        1 => 0,
        _ if value < 0.0 => 1,
        2 => 0,
        _ if value == 0.0 => 2,
        _ => 0,
    })
}

/// Whether a section's condition `[>=100]` holds; none without a condition.
fn condition(section: &str, value: f64) -> Option<bool> {
    let inner = section.split('[').skip(1).filter_map(|part| part.split_once(']')).map(|(inner, _)| inner);
    inner.into_iter().find_map(|inner| {
        let operator = inner.trim_end_matches(|c: char| !matches!(c, '<' | '>' | '='));
        let limit: f64 = inner.strip_prefix(operator)?.trim().parse().ok()?;
        Some(match operator {
            "<" => value < limit,
            "<=" => value <= limit,
            ">" => value > limit,
            ">=" => value >= limit,
            "=" => (value - limit).abs() < f64::EPSILON,
            "<>" => (value - limit).abs() >= f64::EPSILON,
            _ => return None,
        })
    })
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Sign {
    /// `0`, `#` or `?`.
    Digit(char),
    Point,
    Comma,
    Exponent,
    Text(String),
}

/// One section of a format.
#[derive(Debug, Default)]
struct Pattern {
    signs: Vec<Sign>,
    percents: i32,
    is_general: bool,
}

impl Pattern {
    fn read(section: &str) -> Self {
        let mut pattern = Self { is_general: section.is_empty(), ..Self::default() };
        let mut signs = section.chars().peekable();
        while let Some(sign) = signs.next() {
            match sign {
                '0' | '#' | '?' => pattern.signs.push(Sign::Digit(sign)),
                '.' => pattern.signs.push(Sign::Point),
                ',' => pattern.signs.push(Sign::Comma),
                '%' => {
                    pattern.percents += 1;
                    pattern.text("%");
                }
                'E' | 'e' if signs.next_if(|c| matches!(c, '+' | '-')).is_some() => pattern.signs.push(Sign::Exponent),
                '"' => pattern.text(&signs.by_ref().take_while(|c| *c != '"').collect::<String>()),
                '[' => {
                    let inner: String = signs.by_ref().take_while(|c| *c != ']').collect();
                    // `[$€-407]` is a currency; colours and conditions are no text.
                    if let Some(currency) = inner.strip_prefix('$') {
                        pattern.text(currency.split_once('-').map_or(currency, |(sign, _)| sign));
                    }
                }
                '\\' => {
                    let text: String = signs.next().into_iter().collect();
                    pattern.text(&text);
                }
                '_' | '*' => drop(signs.next()),
                // A fraction, or a value of any kind.
                '/' | '@' | 'G' | 'g' => pattern.is_general = true,
                _ => pattern.text(&sign.to_string()),
            }
        }
        pattern
    }

    fn text(&mut self, text: &str) {
        match self.signs.last_mut() {
            Some(Sign::Text(last)) => last.push_str(text),
            _ => self.signs.push(Sign::Text(text.to_owned())),
        }
    }

    fn has_digits(&self) -> bool {
        self.signs.iter().any(|sign| matches!(sign, Sign::Digit(_)))
    }

    fn literals(&self) -> String {
        let texts =
            self.signs.iter().filter_map(|sign| if let Sign::Text(text) = sign { Some(text.as_str()) } else { None });
        texts.collect::<String>().trim().to_owned()
    }

    fn draw(&self, value: f64) -> String {
        let is_digit = |sign: &Sign| matches!(sign, Sign::Digit(_));
        let first = self.signs.iter().position(is_digit).unwrap_or(0);
        let last = self.signs.iter().rposition(is_digit).unwrap_or(0);
        let exponent = self.signs.iter().position(|sign| *sign == Sign::Exponent);
        let point = self.signs.iter().position(|sign| *sign == Sign::Point);
        let end = exponent.unwrap_or(self.signs.len());
        let whole_end = point.filter(|point| *point < end).unwrap_or(end);
        let digits = |signs: &[Sign], only_zero: Only| {
            signs.iter().filter(|sign| matches!(sign, Sign::Digit(c) if only_zero == Only::All || *c == '0')).count()
        };
        let whole = &self.signs[..whole_end];
        let decimals = &self.signs[whole_end..end];
        let last_whole = whole.iter().rposition(is_digit);
        let thousands = last_whole.is_some_and(|last| whole[first.min(last)..last].contains(&Sign::Comma));
        // Commas behind the digits divide by a thousand each.
        let trailing = |signs: &[Sign]| {
            let behind = signs.iter().rev().take_while(|sign| !is_digit(sign));
            behind.filter(|sign| **sign == Sign::Comma).count()
        };
        let scale = trailing(whole) + if decimals.is_empty() { 0 } else { trailing(decimals) };
        let value = value * 100f64.powi(self.percents) / 1_000f64.powi(scale as i32);
        let places = Places {
            least_whole: digits(whole, Only::Zeros),
            least: digits(decimals, Only::Zeros),
            most: digits(decimals, Only::All).min(30),
        };
        let number = match exponent {
            Some(_) => scientific(value, places.most),
            None => places.write(value, if thousands { "," } else { "" }),
        };
        let text = |signs: &[Sign]| -> String {
            signs
                .iter()
                .filter_map(|sign| if let Sign::Text(text) = sign { Some(text.as_str()) } else { None })
                .collect()
        };
        let inner = self.signs[first..=last].iter().any(|sign| matches!(sign, Sign::Text(_)));
        let middle = if inner && point.is_none() && exponent.is_none() {
            fill(&self.signs[first..=last], &number)
        } else {
            number
        };
        format!("{}{middle}{}", text(&self.signs[..first]), text(&self.signs[last + 1..])).trim().to_owned()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Only {
    Zeros,
    All,
}

/// Numbers of digits.
struct Places {
    least_whole: usize,
    least: usize,
    most: usize,
}

impl Places {
    fn write(&self, value: f64, separator: &str) -> String {
        // Half a unit is rounded up, even if the nearest binary number is just below it.
        let text = format!("{:.*}", self.most, value * (1.0 + f64::EPSILON));
        let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
        let kept = decimals.trim_end_matches('0').len().max(self.least);
        let whole = if whole == "0" && self.least_whole == 0 && kept > 0 { "" } else { whole };
        let padded = format!("{whole:0>width$}", width = self.least_whole.min(60));
        let mut out = String::new();
        for (at, digit) in padded.char_indices() {
            if at > 0 && (padded.len() - at) % 3 == 0 {
                out.push_str(separator);
            }
            out.push(digit);
        }
        if kept > 0 {
            out.push('.');
            out.push_str(&decimals[..kept.min(decimals.len())]);
        }
        out
    }
}

fn scientific(value: f64, places: usize) -> String {
    let text = format!("{value:.places$E}");
    let Some((mantissa, exponent)) = text.split_once('E') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    format!("{mantissa}E{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// Puts digits into a pattern with text between them, as in `000-0000`.
fn fill(signs: &[Sign], number: &str) -> String {
    let mut digits: Vec<char> = number.chars().collect();
    let mut places = signs.iter().filter(|sign| matches!(sign, Sign::Digit(_))).count();
    let mut out = String::new();
    digits.reverse();
    for sign in signs {
        match sign {
            Sign::Digit(_) => {
                // The first place takes all surplus digits.
                while digits.len() >= places.max(1) {
                    out.extend(digits.pop());
                }
                places -= 1;
            }
            Sign::Text(text) => out.push_str(text),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_look_as_in_the_spreadsheet() {
        let cases: &[(f64, &str, &str)] = &[
            (1234.5, "General", "1234.5"),
            (0.1 + 0.2, "General", "0.3"),
            (1_234_567.891, "#,##0.00", "1,234,567.89"),
            (0.256, "0.0%", "25.6%"),
            (-1234.0, "#,##0;[Red]-#,##0", "-1,234"),
            (-1234.0, "#,##0_);(#,##0)", "(1,234)"),
            (-0.2, "0", "0"),
            (49.9, "#,##0.00 [$€-407]", "49.90 €"),
            (49.9, "\"$\"#,##0.00", "$49.90"),
            (0.0, "_(* #,##0_);_(* (#,##0);_(* \"-\"_);_(@_)", "-"),
            (1_500_000.0, "0.0,,\" M\"", "1.5 M"),
            (12_345.0, "0.00E+00", "1.23E+04"),
            (7.0, "000", "007"),
            (5_551_234.0, "000-0000", "555-1234"),
            (2.5, "0.###", "2.5"),
            (1.005, "0.00", "1.01"),
            (150.0, "[>=100]0\" high\";0\" low\"", "150 high"),
            (0.5, "# ?/?", "0.5"),
            (-3.0, "0.0", "-3.0"),
        ];
        for (value, code, shown) in cases {
            assert_eq!(number(*value, code), *shown, "{value} in {code}");
        }
    }

    #[test]
    fn dates_are_written_to_the_precision_shown() {
        let parts = (2024, 3, 15, 14, 30, 5, 0);
        let shown = |code| date(DateParts::from(parts), 45_366.604, Some(code));
        assert_eq!(shown("dd.mm.yyyy"), "2024-03-15");
        assert_eq!(shown("mm-dd-yy"), "2024-03-15");
        assert_eq!(shown("mmm yyyy"), "2024-03");
        assert_eq!(shown("yyyy"), "2024");
        assert_eq!(shown("m/d/yy h:mm"), "2024-03-15 14:30");
        assert_eq!(shown("h:mm AM/PM"), "14:30");
        assert_eq!(shown("hh:mm:ss"), "14:30:05");
        assert_eq!(date((1899, 12, 31, 2, 0, 0, 0).into(), 26.0 / 24.0, Some("[h]:mm")), "26:00");
    }

    proptest! {
        #[test]
        fn no_format_makes_it_panic(value in any::<f64>(), code in "[0#?.,;%E+\\-\\[\\]\"\\\\_*$@/ €a-z>=]{0,20}") {
            let _ = number(value, &code);
            let _ = date((2024, 1, 1, 0, 0, 0, 0).into(), value, Some(&code));
        }
    }
}
