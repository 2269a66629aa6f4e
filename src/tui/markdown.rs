//! Renders the Markdown that models write as styled lines, with citations marked.
//!
//! Takes an answer, finished or growing; gives wrapped lines. Headings, emphasis, code, lists, quotes and tables are
//! rendered; links and HTML stay as written, so that nothing is hidden.
//! Invariants: no text is lost; a line feed of the answer stays a line feed.
//! Not here: which citations are valid (`answer`).

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::reflow::{Flow, Place};
use super::text::{Indent, width, wrap};
use super::theme::Theme;
use ragonite_base::clean_text;

/// How an answer is drawn.
pub(super) struct MarkdownLook<'a> {
    pub(super) theme: &'a Theme,
    pub(super) width: usize,
    /// Whether a source number was in the prompt.
    pub(super) holds: &'a dyn Fn(usize) -> bool,
}

/// Separator of table columns.
const BORDER: &str = " | ";

/// Placeholder for `[` while parsing, because the parser would drop `[Source 1]: …` as a link definition.
const BRACKET: char = '\u{e000}';

/// An answer as lines.
pub(super) fn render(text: &str, look: &MarkdownLook<'_>) -> Vec<Line<'static>> {
    let source = clean_text(text).replace('[', &BRACKET.to_string());
    let lines = formatted(&source, look);
    let shown = lines.iter().flat_map(|line| &line.spans).map(|span| letters(&span.content)).sum::<usize>();
    // Markdown drops some text, for example cells beyond the header's columns.
    if shown < letters(&source) { unformatted(&source, look) } else { lines }
}

/// The lines of [`render`] without wrapping.
pub(super) fn unwrapped(text: &str, theme: &Theme) -> Vec<Line<'static>> {
    render(text, &MarkdownLook { theme, width: LONGEST_LINE, holds: &|_| true })
}

/// The text of [`render`] before wrapping.
pub(super) fn flat(text: &str, theme: &Theme) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    for (at, line) in unwrapped(text, theme).into_iter().enumerate() {
        if at > 0 {
            spans.push(Span::raw("\n"));
        }
        spans.extend(line.spans.into_iter().map(|span| span.clone().style(line.style.patch(span.style))));
    }
    spans
}

/// Width beyond every line.
pub(super) const LONGEST_LINE: usize = 1 << 24;

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphabetic()).count()
}

/// The source text with marked citations.
fn unformatted(source: &str, look: &MarkdownLook<'_>) -> Vec<Line<'static>> {
    let mut writer = Writer::new(look);
    writer.push(source.trim_end());
    writer.flush();
    writer.lines
}

fn formatted(source: &str, look: &MarkdownLook<'_>) -> Vec<Line<'static>> {
    let mut writer = Writer::new(look);
    for event in Parser::new_ext(source, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        writer.take(event);
    }
    writer.flush();
    while writer.lines.last().is_some_and(|line| line.spans.is_empty()) {
        writer.lines.pop();
    }
    writer.lines
}

struct Writer<'a> {
    look: &'a MarkdownLook<'a>,
    lines: Vec<Line<'static>>,
    inline: Vec<Span<'static>>,
    styles: Vec<Style>,
    /// The next number of each open list; none for bullets.
    lists: Vec<Option<u64>>,
    marker: Option<String>,
    quotes: usize,
    /// Rows and cells of the current table.
    table: Vec<Vec<Vec<Span<'static>>>>,
}

impl<'a> Writer<'a> {
    fn new(look: &'a MarkdownLook<'a>) -> Self {
        Self {
            look,
            lines: Vec::new(),
            inline: Vec::new(),
            styles: vec![look.theme.text],
            lists: Vec::new(),
            marker: None,
            quotes: 0,
            table: Vec::new(),
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.push(&text),
            Event::Code(code) => {
                self.styles.push(self.look.theme.code);
                self.push(&code);
                self.styles.pop();
            }
            Event::SoftBreak | Event::HardBreak => self.push("\n"),
            Event::Rule => {
                self.gap();
                let rule = "─".repeat(self.look.width.min(20));
                self.lines.push(Line::styled(rule, self.look.theme.dim));
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock | Tag::Table(_) => self.gap(),
            Tag::Heading { level, .. } => {
                self.gap();
                let underline = if *level == HeadingLevel::H1 { Modifier::UNDERLINED } else { Modifier::empty() };
                self.styles.push(self.look.theme.strong.add_modifier(underline));
            }
            Tag::CodeBlock(kind) => {
                self.gap();
                if let CodeBlockKind::Fenced(language) = kind
                    && !language.trim().is_empty()
                {
                    self.styles.push(self.look.theme.dim);
                    self.push(language);
                    self.flush();
                    self.styles.pop();
                }
                self.styles.push(self.look.theme.code);
            }
            Tag::BlockQuote(_) => {
                self.gap();
                self.quotes += 1;
            }
            Tag::List(first) => {
                self.flush();
                self.gap();
                self.lists.push(*first);
            }
            Tag::Item => {
                self.flush();
                self.marker = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_owned(),
                });
            }
            Tag::TableHead => {
                self.table = vec![Vec::new()];
                self.styles.push(self.look.theme.strong);
            }
            Tag::TableRow => self.table.push(Vec::new()),
            Tag::Emphasis => self.push_style(Modifier::ITALIC),
            Tag::Strong => self.push_style(Modifier::BOLD),
            Tag::Strikethrough => self.push_style(Modifier::CROSSED_OUT),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) | TagEnd::CodeBlock => {
                self.flush();
                self.styles.pop();
            }
            TagEnd::TableHead | TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(row) = self.table.last_mut() {
                    row.push(cell.iter().flat_map(|span| mark_citations(span, self.look)).collect());
                }
            }
            TagEnd::Table => self.put_table(),
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::Item => {
                self.flush();
                self.marker = None;
            }
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush(),
            _ => {}
        }
    }

    /// Draws the table in columns where it fits the pane, else each row as a paragraph.
    fn put_table(&mut self) {
        let rows = std::mem::take(&mut self.table);
        let of = |cell: &Vec<Span<'static>>| cell.iter().map(Span::width).sum::<usize>();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(of).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(widest).collect();
        let total = widths.iter().sum::<usize>() + BORDER.len() * columns.saturating_sub(1);
        let (border, outer) = (Span::styled(BORDER, self.look.theme.dim), "│ ".repeat(self.quotes));
        let fits = total + width(&outer) <= self.look.width && self.lists.is_empty();
        for (at, row) in rows.into_iter().enumerate() {
            let mut spans = vec![Span::styled(if fits { outer.as_str() } else { "" }.to_owned(), self.look.theme.dim)];
            let last = row.len().saturating_sub(1);
            for (column, cell) in row.into_iter().enumerate() {
                if column > 0 {
                    spans.push(border.clone());
                }
                let is_padded = fits && column < last;
                let missing = if is_padded { widths[column].saturating_sub(of(&cell)) } else { 0 };
                spans.extend(cell);
                spans.push(Span::raw(" ".repeat(missing)));
            }
            spans.retain(|span| !span.content.is_empty());
            if fits {
                self.lines.push(Line::from(spans));
            } else {
                self.inline = spans;
                self.flush();
            }
            if fits && at == 0 {
                self.lines.push(Line::styled(outer.clone() + &"─".repeat(total), self.look.theme.dim));
            }
        }
    }

    fn push_style(&mut self, modifier: Modifier) {
        self.styles.push(self.style().add_modifier(modifier));
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn push(&mut self, text: &str) {
        let text = text.replace(BRACKET, "[").replace('\t', "    ");
        let style = self.style();
        match self.inline.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(&text),
            _ => self.inline.push(Span::styled(text, style)),
        }
    }

    /// An empty line between blocks, but not inside a list.
    fn gap(&mut self) {
        self.flush();
        if self.lists.is_empty() && self.lines.last().is_some_and(|line| !line.spans.is_empty()) {
            self.lines.push(Line::default());
        }
    }

    fn flush(&mut self) {
        while let Some(last) = self.inline.last_mut().filter(|last| last.content.ends_with('\n')) {
            last.content.to_mut().pop();
            if last.content.is_empty() {
                self.inline.pop();
            }
        }
        let inline: Vec<Span<'static>> = std::mem::take(&mut self.inline);
        if inline.iter().all(|span| span.content.trim().is_empty()) {
            return;
        }
        let outer = "  ".repeat(self.lists.len().saturating_sub(1)) + &"│ ".repeat(self.quotes);
        let inner = if self.lists.is_empty() { String::new() } else { "  ".to_owned() };
        let first = self.marker.take().unwrap_or_else(|| inner.clone());
        let rest = if self.lists.is_empty() { String::new() } else { " ".repeat(width(&first).max(2)) };
        let dim = self.look.theme.dim;
        let indent =
            Indent { first: Span::styled(outer.clone() + &first, dim), rest: Span::styled(outer + &rest, dim) };
        let spans: Vec<Span<'static>> = inline.iter().flat_map(|span| mark_citations(span, self.look)).collect();
        self.lines.extend(wrap(&spans, self.look.width, &indent));
    }
}

/// A drawn citation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) source: usize,
    /// Place of the number and the word before it.
    pub(super) place: Place,
}

/// The valid citations in drawn lines of an answer, in reading order.
pub(super) fn marks(lines: &[Line<'static>], holds: &dyn Fn(usize) -> bool) -> Vec<Mark> {
    let flow = Flow::of(lines);
    let letters = flow.letters();
    let mut marks = Vec::new();
    let mut at = 0;
    while let Some(open) = letters.get(at..).and_then(|rest| rest.iter().position(|letter| *letter == '[')) {
        let first = at + open + 1;
        at = first;
        let inside = letters.get(first..).unwrap_or_default();
        let Some(length) = inside.iter().take(LONGEST_CITATION + 1).position(|letter| *letter == ']') else { continue };
        let text: String = inside.iter().take(length).collect();
        if is_citation(&text) {
            let named = numbers(inside.get(..length).unwrap_or_default());
            marks.extend(named.into_iter().filter(|(source, _)| holds(*source)).filter_map(|(source, run)| {
                let place = flow.place(first + run.start..first + run.end)?;
                Some(Mark { source, place })
            }));
            at = first + length;
        }
    }
    marks
}

/// The source numbers of a citation, each with the range of the number and the word before it.
fn numbers(inside: &[char]) -> Vec<(usize, Range<usize>)> {
    let mut named = Vec::new();
    let mut at = 0;
    while let Some(skipped) = inside.get(at..).and_then(|rest| rest.iter().position(char::is_ascii_digit)) {
        let digits = at + skipped;
        let rest = inside.get(digits..).unwrap_or_default();
        let number: String = rest.iter().take_while(|letter| letter.is_ascii_digit()).collect();
        let before = inside.get(at..digits).unwrap_or_default();
        let word = before.iter().rev().take_while(|letter| letter.is_alphabetic() || **letter == ' ').count();
        let lead = before.iter().skip(before.len() - word).take_while(|letter| **letter == ' ').count();
        at = digits + number.len();
        if let Ok(source) = number.parse() {
            // White space alone is no word.
            let start = if lead == word { digits } else { digits - word + lead };
            named.push((source, start..at));
        }
    }
    named
}

/// Longest text between the brackets of a citation, in characters.
const LONGEST_CITATION: usize = 120;

/// Splits a text at its citations and styles them.
fn mark_citations(span: &Span<'static>, look: &MarkdownLook<'_>) -> Vec<Span<'static>> {
    let mut rest: &str = &span.content;
    let mut marked = Vec::new();
    while let Some((before, inside, after)) = next_citation(rest) {
        marked.push(Span::styled(before.to_owned(), span.style));
        marked.extend(citation(inside, look));
        rest = after;
    }
    marked.push(Span::styled(rest.to_owned(), span.style));
    marked.retain(|span| !span.content.is_empty());
    marked
}

/// The text before the first citation, the citation without brackets, and the text after it.
fn next_citation(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(open) = text[from..].find('[').map(|at| from + at) {
        let inside = &text[open + 1..];
        let close = inside.find(']').filter(|length| *length <= LONGEST_CITATION);
        if let Some(close) = close.filter(|close| is_citation(&inside[..*close])) {
            return Some((&text[..open], &inside[..close], &inside[close + 1..]));
        }
        from = open + 1;
    }
    None
}

fn is_citation(inside: &str) -> bool {
    let word: String = inside.trim_start().chars().take(6).collect::<String>().to_lowercase();
    (word == "source" || word == "quelle") && inside.contains(|c: char| c.is_ascii_digit())
}

/// A citation; invalid numbers are struck out and get a `?`.
fn citation(inside: &str, look: &MarkdownLook<'_>) -> Vec<Span<'static>> {
    let (holds, fails) = (look.theme.citation, look.theme.invalid);
    let mut spans = vec![Span::styled("[", holds)];
    for run in digit_runs(inside) {
        match run.parse::<usize>() {
            Ok(number) if (look.holds)(number) => spans.push(Span::styled(run.to_owned(), holds)),
            Ok(_) => spans.push(Span::styled(format!("{run}?"), fails)),
            // A no-break space keeps word and number of a citation on one line.
            Err(_) => spans.push(Span::styled(run.replace("ource ", "ource\u{a0}"), holds)),
        }
    }
    spans.push(Span::styled("]", holds));
    spans
}

/// Splits a text where digits begin and end.
fn digit_runs(text: &str) -> Vec<&str> {
    let mut runs = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        let digit = c.is_ascii_digit();
        if last.is_some_and(|last| last != digit) {
            runs.push(&text[start..at]);
            start = at;
        }
        last = Some(digit);
    }
    runs.push(&text[start..]);
    runs
}
