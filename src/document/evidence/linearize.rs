//! Writes tables and rows in the chosen form (RAGonite, Table 4).
//!
//! Takes a table; gives its opening (caption and header), its rows and its close (footer), so that a table in parts can
//! repeat opening and close; and each row as an evidence of its own, with the column names.
//! Invariants: cells cannot break the form: bars, line ends and markup in them are escaped; only named columns have a
//! name, column numbers are for the verbalized form.
//! Not here: the verbalized form (`verbalize`).

use html_escape::encode_text;

use super::Linearizer;
use super::links::Frame;
use super::verbalize::{MOST_REPEATED, Verbalizer, line};
use crate::Table;

/// A table to be written.
pub(super) struct Linearized<'a> {
    table: &'a Table,
    number: u32,
    form: Linearizer,
    width: usize,
    verbalizer: Verbalizer<'a>,
    /// Whether the header is short enough to repeat for every row.
    repeats: bool,
}

impl<'a> Linearized<'a> {
    pub(super) fn new(table: &'a Table, number: u32, form: Linearizer) -> Self {
        let width = table.rows.iter().map(Vec::len).chain([table.header.len()]).max().unwrap_or(0);
        let verbalizer = Verbalizer::new(table, number);
        let frame = table.header.iter().chain(&table.caption).map(String::len).sum::<usize>();
        let repeats = frame.saturating_mul(table.rows.len()) <= MOST_REPEATED;
        Self { table, number, form, width, verbalizer, repeats }
    }

    pub(super) fn verbalizer(&self) -> &Verbalizer<'a> {
        &self.verbalizer
    }

    /// The text above the rows, without a line end.
    pub(super) fn opening(&self) -> String {
        let caption = self.table.caption.as_deref().map(line).filter(|caption| !caption.is_empty());
        let header = self.header();
        match self.form {
            Linearizer::Verbalized => {
                let mut text = format!("Table {}", self.number);
                if let Some(caption) = caption {
                    text.extend([": ", &caption]);
                }
                if let Some(names) = self.verbalizer.columns() {
                    text.extend(["\nColumns: ", &names]);
                }
                text
            }
            Linearizer::Html => {
                let caption = caption.map(|caption| format!("<caption>{}</caption>", encode_text(&caption)));
                let lines = [Some("<table>".to_owned()), caption, header, Some("<tbody>".to_owned())];
                lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
            }
            // A Markdown table begins after an empty line.
            Linearizer::Markdown => joined(caption.as_deref(), "\n\n", header.as_deref()),
            Linearizer::Piped | Linearizer::Plain => joined(caption.as_deref(), "\n", header.as_deref()),
        }
    }

    /// The text above the rows of every part but the first.
    pub(super) fn opening_again(&self) -> String {
        match self.form {
            _ if self.repeats => self.opening(),
            Linearizer::Verbalized => format!("Table {}", self.number),
            Linearizer::Html => "<table>\n<tbody>".to_owned(),
            Linearizer::Markdown | Linearizer::Piped | Linearizer::Plain => String::new(),
        }
    }

    /// Whether every part but the first repeats caption and header.
    pub(super) fn frame_again(&self) -> Frame {
        if self.repeats { Frame::Repeated } else { Frame::None }
    }

    /// The text below the last row, without a line end; every part of an HTML table has one.
    pub(super) fn close(&self, footer: Option<&str>) -> String {
        let footer = footer.map(line).filter(|footer| !footer.is_empty());
        match self.form {
            Linearizer::Html => {
                let row = |footer| format!("\n<tfoot>\n{}\n</tfoot>", self.html_across(footer));
                format!("</tbody>{}\n</table>", footer.as_deref().map(row).unwrap_or_default())
            }
            Linearizer::Markdown => footer.map(|footer| format!("\n{footer}")).unwrap_or_default(),
            _ => footer.unwrap_or_default().into_owned(),
        }
    }

    /// A row in its table; `row` counts from 0.
    pub(super) fn line(&self, row: usize) -> String {
        if self.form == Linearizer::Verbalized {
            return self.verbalizer.row(row);
        }
        let cells = self.table.rows.get(row).map(Vec::as_slice).unwrap_or_default();
        if self.verbalizer.is_full_width(row) {
            return self.across(cells.iter().map(|cell| line(cell)).find(|cell| !cell.is_empty()).as_deref());
        }
        match self.form {
            Linearizer::Html => {
                let cell = |(column, cell): (usize, &String)| {
                    let cell = line(cell);
                    let text = encode_text(&cell);
                    let names_row = column < self.table.row_headers;
                    if names_row { format!("<th scope=\"row\">{text}</th>") } else { format!("<td>{text}</td>") }
                };
                format!("<tr>{}</tr>", cells.iter().enumerate().map(cell).collect::<String>())
            }
            _ => self.beside(cells.iter().map(String::as_str)),
        }
    }

    /// A row as an evidence of its own.
    pub(super) fn row(&self, row: usize) -> String {
        let header = self.header().filter(|_| self.repeats);
        match self.form {
            Linearizer::Verbalized => self.verbalizer.row(row),
            Linearizer::Html => {
                let header = header.map(|header| header + "\n").unwrap_or_default();
                format!("<table>\n{header}<tbody>\n{}\n</tbody>\n</table>", self.line(row))
            }
            _ => joined(header.as_deref(), "\n", Some(&self.line(row))),
        }
    }

    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.table.header.iter().map(String::as_str)
    }

    /// The repeated header; none without names, except in Markdown, which needs one.
    fn header(&self) -> Option<String> {
        let named = self.names().any(|name| !name.trim().is_empty());
        match self.form {
            Linearizer::Verbalized => None,
            Linearizer::Html => named.then(|| {
                let cells = self.names().map(|name| format!("<th>{}</th>", encode_text(&line(name))));
                format!("<thead>\n<tr>{}</tr>\n</thead>", cells.collect::<String>())
            }),
            Linearizer::Markdown => {
                Some(format!("{}\n|{}", self.beside(self.names()), " --- |".repeat(self.width.max(1))))
            }
            Linearizer::Piped | Linearizer::Plain => named.then(|| self.beside(self.names())),
        }
    }

    /// Cells beside each other.
    fn beside<'c>(&self, cells: impl Iterator<Item = &'c str>) -> String {
        let mut cells: Vec<_> = cells.map(line).collect();
        match self.form {
            Linearizer::Plain => {
                cells.retain(|cell| !cell.is_empty());
                cells.join(" ")
            }
            Linearizer::Markdown => {
                cells.resize(self.width.max(1), "".into());
                cells.iter().fold("|".to_owned(), |row, cell| row + " " + &without_bars(cell) + " |")
            }
            _ => {
                let row = cells.iter().map(|cell| without_bars(cell)).collect::<Vec<_>>().join(" | ");
                row.trim_end().to_owned()
            }
        }
    }

    /// One cell across the whole table.
    fn across(&self, text: Option<&str>) -> String {
        match self.form {
            Linearizer::Html => self.html_across(text.unwrap_or_default()),
            _ => self.beside(text.into_iter()),
        }
    }

    fn html_across(&self, text: &str) -> String {
        format!("<tr><td colspan=\"{}\">{}</td></tr>", self.width.max(1), encode_text(text))
    }
}

fn joined(first: Option<&str>, border: &str, second: Option<&str>) -> String {
    [first, second].into_iter().flatten().collect::<Vec<_>>().join(border)
}

/// A cell with escaped bars. An unescaped backslash would cancel the escape of the bar behind it.
fn without_bars(cell: &str) -> String {
    if cell.contains('|') { cell.replace('\\', "\\\\").replace('|', "\\|") } else { cell.to_owned() }
}
