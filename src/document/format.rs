//! Which format a file is in, by what it holds first and by its name second.

use std::path::Path;

use super::page::{Envelope, is_storage};

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// A web page.
    Html,
    /// Confluence storage format on its own.
    Confluence,
    /// Markdown, with or without front matter.
    Markdown,
    /// A JSON object with `title` and `content`.
    Json,
    /// PDF.
    Pdf,
    /// Plain text.
    Text,
}

/// How far into a file its markup is looked at, in characters.
const LOOK: usize = 4_096;

impl Format {
    /// The format that the ending of a name promises.
    pub fn of_name(name: &Path) -> Option<Self> {
        let ending = name.extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "html" | "htm" | "xhtml" => Self::Html,
            "md" | "markdown" => Self::Markdown,
            "json" => Self::Json,
            "pdf" => Self::Pdf,
            "txt" | "text" => Self::Text,
            "storage" => Self::Confluence,
            _ => return None,
        })
    }

    /// The format of a file: its content where that leaves no doubt, else its name.
    pub fn of(name: &Path, text: &str) -> Option<Self> {
        let named = Self::of_name(name);
        let start = text.trim_start();
        if start.starts_with('{') && (named == Some(Self::Json) || Envelope::read(start).is_ok()) {
            return Some(Self::Json);
        }
        let lower = start.chars().take(LOOK).collect::<String>().to_ascii_lowercase();
        let is_page = lower.starts_with("<!doctype html") || (lower.starts_with('<') && lower.contains("<html"));
        match named {
            _ if is_page => Some(Self::Html),
            None | Some(Self::Html | Self::Text) if start.starts_with('<') && is_storage(start) => {
                Some(Self::Confluence)
            }
            None if lower.starts_with('<') && lower.contains("</") && !lower.starts_with("<?xml") => Some(Self::Html),
            _ => named,
        }
    }
}
