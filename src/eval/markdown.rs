//! A report as a Markdown document.
//!
//! Not here: the tables (`table`, `compare`), writing the file (`cli`).

use std::fmt::Write as _;

/// A Markdown document under construction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markdown {
    text: String,
}

impl Markdown {
    /// A document with a title.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self { text: format!("# {title}\n") }
    }

    /// A heading below the title.
    pub fn heading(&mut self, heading: &str) {
        let _ = write!(self.text, "\n## {heading}\n");
    }

    /// A paragraph or a finished table.
    pub fn block(&mut self, block: &str) {
        let _ = write!(self.text, "\n{}\n", block.trim());
    }

    /// A table of names and values.
    pub fn pairs(&mut self, pairs: &[(String, String)]) {
        self.text.push_str("\n| setting | value |\n| --- | --- |\n");
        for (name, value) in pairs {
            let _ = writeln!(self.text, "| {} | {} |", cell(name), cell(value));
        }
    }

    /// Verbatim text, such as a command.
    pub fn verbatim(&mut self, text: &str) {
        // The fence is longer than every one in the text.
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        let _ = write!(self.text, "\n{fence}\n{}\n{fence}\n", text.trim_end());
    }

    /// The whole document.
    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }
}

/// Text that breaks neither a cell nor a row.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_title_settings_tables_and_commands() {
        let mut report = Markdown::new("Answers");
        report.heading("Settings");
        report.pairs(&[("k".to_owned(), "10".to_owned()), ("prefix".to_owned(), "a | b\nc".to_owned())]);
        report.block("| a |\n| --- |\n");
        report.verbatim("ragonite eval answers ```\n");
        insta::assert_snapshot!(report.finish(), @r"
        # Answers

        ## Settings

        | setting | value |
        | --- | --- |
        | k | 10 |
        | prefix | a \| b c |

        | a |
        | --- |

        ````
        ragonite eval answers ```
        ````
        ");
    }
}
