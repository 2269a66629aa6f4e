//! stdout for results, stderr for everything else.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use serde::Serialize;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::progress::Pace;
use ragonite_app::Problem;
use ragonite_base::{DomainName, clean_line};
use ragonite_config::SettingsOverride;
use ragonite_index::IngestProgress;

/// Time between two progress lines on a stderr that is no terminal.
const SELDOM: Duration = Duration::from_mins(1);

/// Megabytes, as sizes are shown.
pub(super) fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// The two streams of a command.
#[derive(Debug)]
pub(super) struct Output {
    form: Form,
    progress: Progress,
    line_open: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// One line that is redrawn.
    Redrawn,
    /// A new line from time to time, where stderr is no terminal.
    Seldom(Seldom),
}

/// Time of the next progress line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seldom {
    last: Instant,
}

impl Seldom {
    fn is_due(&mut self, now: Instant) -> bool {
        let is_due = now.duration_since(self.last) >= SELDOM;
        if is_due {
            self.last = now;
        }
        is_due
    }
}

impl Output {
    pub(super) fn new(form: Form) -> Self {
        let seldom = Seldom { last: Instant::now() };
        let progress = if io::stderr().is_terminal() { Progress::Redrawn } else { Progress::Seldom(seldom) };
        Self { form, progress, line_open: None }
    }

    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// Prints a result for people.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        self.end_progress();
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Prints a result for programs on one line.
    pub(super) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.end_progress();
        let mut out = io::stdout().lock();
        serde_json::to_writer(&mut out, value)?;
        out.write_all(b"\n")?;
        out.flush()
    }

    /// Prints a line on stderr.
    pub(super) fn note(&mut self, text: &str) {
        self.end_progress();
        // A closed stderr does not fail a command.
        let _ = writeln!(io::stderr(), "{text}");
    }

    /// Reports an empty domain.
    pub(super) fn empty_domain(&mut self, name: &DomainName) {
        self.note(&format!("the domain `{name}` is empty: fill it with `ragonite ingest --domain {name} PATH`"));
    }

    /// Shows a progress line, replaced by the next; without a terminal, one per minute.
    pub(super) fn progress(&mut self, text: &str) {
        self.show(text, tail);
    }

    fn show(&mut self, text: &str, cut: fn(&str, usize) -> String) {
        let line = clean_line(text);
        match &mut self.progress {
            Progress::Redrawn => self.redraw(&cut(&line, columns().saturating_sub(1))),
            Progress::Seldom(seldom) => {
                if seldom.is_due(Instant::now()) {
                    // A closed stderr does not fail a command.
                    let _ = writeln!(io::stderr(), "{line}");
                }
            }
        }
    }

    fn redraw(&mut self, line: &str) {
        let width = line.width();
        let pad = self.line_open.map_or(0, |before| before.saturating_sub(width));
        let _ = write!(io::stderr(), "\r{line}{:pad$}", "");
        let _ = io::stderr().flush();
        self.line_open = Some(width);
    }

    /// Shows the progress of an ingest, at a readable rate.
    pub(super) fn pace(&mut self, pace: &mut Pace, progress: &IngestProgress) {
        if let Some(line) = pace.hear(progress, Instant::now()) {
            self.show(&line, head);
        }
    }

    fn end_progress(&mut self) {
        if let Some(width) = self.line_open.take() {
            let _ = write!(io::stderr(), "\r{:width$}\r", "");
        }
    }

    /// Reports settings overrides of a domain, and invalid ones.
    pub(super) fn changes(&mut self, changes: &SettingsOverride, damage: Option<&Problem>) {
        if let Some(problem) = damage {
            self.problem(problem);
        }
        if !changes.is_empty() {
            let all: Vec<String> = changes.iter().map(|(setting, text)| format!("{}={text}", setting.key())).collect();
            self.note(&format!("settings of this domain: {}", all.join(" ")));
        }
    }

    /// Reports a problem.
    pub(super) fn problem(&mut self, problem: &Problem) {
        self.note(&format!("ragonite: {}", clean_line(&problem.to_string())));
    }
}

/// Width of the terminal; 80 where unknown.
fn columns() -> usize {
    crossterm::terminal::size().ok().filter(|(columns, _)| *columns > 0).map_or(80, |(columns, _)| usize::from(columns))
}

/// Cuts the end of a long line, because the figures are at its beginning.
fn head(line: &str, room: usize) -> String {
    if line.width() <= room {
        return line.to_owned();
    }
    let mut used = 1;
    let kept = line.chars().take_while(|c| {
        used += c.width().unwrap_or(0);
        used <= room
    });
    kept.chain(['…']).collect()
}

/// Cuts the beginning of a long line, because it changes at its end.
fn tail(line: &str, room: usize) -> String {
    if line.width() <= room {
        return line.to_owned();
    }
    let mut used = 1;
    let kept = line.chars().rev().take_while(|c| {
        used += c.width().unwrap_or(0);
        used <= room
    });
    let mut end: Vec<char> = kept.collect();
    end.push('…');
    end.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_lines_stay_one_is_shown_a_minute() {
        let start = Instant::now();
        let mut seldom = Seldom { last: start };
        let due: Vec<u64> = (0..=150).filter(|second| seldom.is_due(start + Duration::from_secs(*second))).collect();
        assert_eq!(due, [60, 120]);
    }

    #[test]
    fn a_progress_line_never_wraps() {
        assert_eq!(tail("short", 10), "short");
        assert_eq!(tail("answering: the end of it", 10), "…end of it");
        assert_eq!(head("12 of 20 documents  /a/b", 10), "12 of 20 …");
        for cut in [head, tail] {
            assert!(cut(&"漢字".repeat(50), 21).width() <= 21);
        }
    }
}
