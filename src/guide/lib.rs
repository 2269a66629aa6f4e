//! The guide that is compiled into the program.
//!
//! Takes the Markdown files of `assets/guide`, gives pages in the order of `SUMMARY.md` (the layout of mdBook,
//! <https://rust-lang.github.io/mdBook/format/summary.html>).
//! Not here: printing a page (`ragonite-cli`), drawing one (`ragonite-tui`).

use include_dir::{Dir, include_dir};

static FOLDER: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../assets/guide");

/// Words that a mistyped topic may share with a real one; strsim's Jaro-Winkler similarity from 0 to 1.
const SIMILAR: f64 = 0.8;

/// One page of the guide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The name of the file without its ending: the argument of `ragonite guide`.
    pub topic: &'static str,
    /// The title that `SUMMARY.md` gives the page.
    pub title: &'static str,
    /// The page in Markdown.
    pub text: &'static str,
}

impl Page {
    /// The page as [`Page::readable`] has it, with each paragraph on one line.
    pub fn flowing(&self) -> String {
        joined(&self.readable())
    }

    /// The page as a terminal shows it: a link to another page names the page, other links have no targets; no pictures
    /// and no HTML comments.
    pub fn readable(&self) -> String {
        let mut readable = String::with_capacity(self.text.len());
        let mut rest = without_comments(self.text);
        while let Some(start) = rest.find('[') {
            let is_picture = rest[..start].ends_with('!');
            let link = rest[start..].split_once("](").and_then(|(name, after)| {
                let target = after.find(')')?;
                // A bracket that belongs to no link holds a line break or another bracket.
                let name = name.get(1..).filter(|name| !name.contains(['[', ']', '\n']))?;
                let other = topic_of(&after[..target]).filter(|topic| *topic != self.topic);
                let page = other.map(|topic| format!(" (page `{topic}`)")).unwrap_or_default();
                Some((format!("{name}{page}"), after[target + 1..].to_owned()))
            });
            if let Some((name, after)) = link {
                readable.push_str(rest[..start].strip_suffix('!').unwrap_or(&rest[..start]));
                if !is_picture {
                    readable.push_str(&name);
                }
                rest = after;
            } else {
                readable.push_str(&rest[..=start]);
                rest = rest[start + 1..].to_owned();
            }
        }
        readable + &rest
    }
}

/// The page of the guide that a link leads to.
fn topic_of(target: &str) -> Option<&str> {
    let (file, _) = target.split_once('#').unwrap_or((target, ""));
    file.strip_suffix(".md").filter(|topic| !topic.contains(['/', ':']))
}

/// The text with each paragraph and each entry of a list on one line, so that a screen of any width can wrap it.
fn joined(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut is_code = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        let goes_on = !(is_code || is_fence || joined.is_empty() || joined.ends_with('\n') || begins_a_block(line));
        if goes_on {
            joined.push(' ');
            joined.push_str(line.trim_start());
        } else {
            if !joined.is_empty() && !joined.ends_with('\n') {
                joined.push('\n');
            }
            joined.push_str(line);
        }
        is_code ^= is_fence;
        // Nothing goes on behind these.
        if is_code || is_fence || line.trim().is_empty() || line.starts_with(['#', '|']) {
            joined.push('\n');
        }
    }
    joined
}

fn begins_a_block(line: &str) -> bool {
    let line = line.trim_start();
    let is_numbered = line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    line.is_empty() || line.starts_with(['#', '|']) || line.starts_with("- ") || is_numbered
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("<!--");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + part.split_once("-->").map_or("", |(_, after)| after))
}

/// All pages, in the order of the summary.
pub fn pages() -> Vec<Page> {
    text_of("SUMMARY.md").map(|summary| summary.lines().filter_map(page_of_line).collect()).unwrap_or_default()
}

/// The page about `topic`. Case does not matter.
pub fn page(topic: &str) -> Option<Page> {
    pages().into_iter().find(|page| page.topic.eq_ignore_ascii_case(topic))
}

/// The topic whose name is most like `typed`, where one is like it at all.
pub fn nearest_topic(typed: &str) -> Option<&'static str> {
    let typed = typed.to_lowercase();
    let scored = pages().into_iter().map(|page| (strsim::jaro_winkler(&typed, page.topic), page.topic));
    scored.filter(|(score, _)| *score >= SIMILAR).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, topic)| topic)
}

/// The topics of the pages that have `word`, those that have it most often first.
pub fn topics_with(word: &str) -> Vec<&'static str> {
    let word = word.trim().to_lowercase();
    let count = |page: &Page| if word.is_empty() { 0 } else { page.text.to_lowercase().matches(&word).count() };
    let mut found: Vec<(usize, &'static str)> = pages().iter().map(|page| (count(page), page.topic)).collect();
    found.retain(|(count, _)| *count > 0);
    found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    found.into_iter().map(|(_, topic)| topic).collect()
}

/// The page that a line of the summary such as `- [The screen](screen.md)` names.
fn page_of_line(line: &'static str) -> Option<Page> {
    let (title, rest) = line.trim().trim_start_matches("- ").strip_prefix('[')?.split_once("](")?;
    let file = rest.strip_suffix(')')?;
    let topic = file.strip_suffix(".md")?.trim_start_matches("./");
    Some(Page { topic, title, text: text_of(file.trim_start_matches("./"))? })
}

fn text_of(file: &str) -> Option<&'static str> {
    FOLDER.get_file(file)?.contents_utf8()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_file_of_the_guide_is_a_page_of_the_summary() {
        let listed: BTreeSet<String> = pages().iter().map(|page| format!("{}.md", page.topic)).collect();
        let files = FOLDER.files().map(|file| file.path().to_string_lossy().into_owned());
        let files: BTreeSet<String> = files.filter(|name| name != "SUMMARY.md").collect();
        assert_eq!(listed, files);
    }

    #[test]
    fn every_link_between_pages_leads_to_a_page_and_a_heading() {
        for page in pages() {
            for (target, anchor) in links(page.text) {
                let file = if target.is_empty() { format!("{}.md", page.topic) } else { target.clone() };
                let text = text_of(&file).unwrap_or_else(|| panic!("{}.md links {file}, which is no page", page.topic));
                if let Some(anchor) = anchor {
                    assert!(anchors(text).contains(&anchor), "{}.md links {file}#{anchor}", page.topic);
                }
            }
        }
    }

    #[test]
    fn a_topic_is_found_whatever_its_case_and_a_mistyped_one_has_a_nearest() {
        assert_eq!(page("Models").map(|page| page.topic), Some("models"));
        assert_eq!(page("nonsense"), None);
        assert_eq!(nearest_topic("setings"), Some("settings"));
        assert_eq!(nearest_topic("xyzzy"), None);
        assert_eq!(topics_with("softmax").first(), Some(&"explanation"));
        assert!(topics_with("xyzzy").is_empty() && topics_with(" ").is_empty());
    }

    #[test]
    fn a_readable_page_has_the_names_of_links_and_neither_pictures_nor_comments() {
        let text = "See [Models](models.md) <!-- hidden -->and ![a picture](x.svg)`[Source 1]` [a\nb](c).";
        let page = Page { topic: "t", title: "T", text };
        assert_eq!(page.readable(), "See Models (page `models`) and `[Source 1]` [a\nb](c).");
        let text = "See [below](#x), [here](t.md#x) and [a site](https://example.net/a.md).";
        let page = Page { topic: "t", title: "T", text };
        assert_eq!(page.readable(), "See below, here and a site.");
    }

    #[test]
    fn a_flowing_page_has_each_paragraph_and_each_entry_on_a_line_and_code_and_tables_as_they_are() {
        let text = "# T\nOne\ntwo.\n\n- a\n  b\n- c\n1. d\n   e\n\n```\nx\ny\n```\n\n| a |\n| - |\n| b |\n";
        let page = Page { topic: "t", title: "T", text };
        let flowing = "# T\nOne two.\n\n- a b\n- c\n1. d e\n\n```\nx\ny\n```\n\n| a |\n| - |\n| b |\n";
        assert_eq!(page.flowing(), flowing);
    }

    /// Links to Markdown files of the guide and to headings of the same page.
    fn links(text: &str) -> Vec<(String, Option<String>)> {
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let inside = targets.filter(|target| !target.contains("://") && !target.contains("../"));
        let parted = inside.map(|target| match target.split_once('#') {
            Some((file, anchor)) => (file.to_owned(), Some(anchor.to_owned())),
            None => (target.to_owned(), None),
        });
        parted
            .filter(|(file, anchor)| file.strip_suffix(".md").is_some() || (file.is_empty() && anchor.is_some()))
            .collect()
    }

    /// The anchors that mdBook and GitHub give the headings of a page.
    fn anchors(text: &str) -> BTreeSet<String> {
        let headings =
            text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
        headings
            .map(|heading| {
                let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
                kept.collect::<String>().to_lowercase().replace(' ', "-")
            })
            .collect()
    }
}
