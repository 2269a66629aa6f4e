//! The sources and texts of an exported turn.
//!
//! Takes a turn, gives its sources by rank, and lines on the turn.
//! Not here: formats.

use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

use crate::{Outcome, TurnRecord, Variant};
use ragonite_base::{clean_line, clean_text};
use ragonite_rag::attribution::Cluster;
use ragonite_rag::retrieval::{Hit, Retrieved};

const MINUTE: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day] [hour]:[minute] UTC");

/// A source of an answer.
pub(super) struct Source<'a> {
    /// Its source number.
    pub(super) rank: usize,
    /// Title of its document, clean.
    pub(super) title: String,
    /// Kind and place in the document, clean.
    pub(super) place: String,
    /// URL or path of the document.
    pub(super) url: &'a str,
    /// Its content, clean.
    pub(super) content: String,
    /// Whether the answer cites it.
    pub(super) is_cited: bool,
}

/// The sources that were in the prompt, best first.
pub(super) fn sources(turn: &TurnRecord) -> Vec<Source<'_>> {
    let Some(answer) = &turn.trace.answer else { return Vec::new() };
    let in_prompt = answer.prompt.sources();
    let hits = turn.trace.retrieved.iter().flat_map(|found| &found.hits);
    hits.filter(|hit| in_prompt.contains(&hit.rank))
        .map(|hit| Source {
            rank: hit.rank,
            title: clean_line(&hit.title),
            place: place(hit),
            url: &hit.url,
            content: clean_text(&hit.content).trim().to_owned(),
            is_cited: answer.citations.contains(&hit.rank),
        })
        .collect()
}

fn place(hit: &Hit) -> String {
    let (kind, location) = (hit.kind.as_str(), clean_line(&hit.location));
    if location.is_empty() { kind.to_owned() } else { format!("{kind}, {location}") }
}

/// `Source 1` or `Sources 2, 3`.
pub(super) fn named(cluster: &Cluster) -> String {
    let ranks: Vec<String> = cluster.hits.iter().map(usize::to_string).collect();
    format!("{} {}", if ranks.len() == 1 { "Source" } else { "Sources" }, ranks.join(", "))
}

/// `63.1 %`, or `-` without a share.
pub(super) fn percent(cluster: &Cluster) -> String {
    cluster.share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

/// Whether `url` may become a link: a browser opens it without running code.
pub(super) fn is_link(url: &str) -> bool {
    let harmless = |letter: char| letter.is_ascii_graphic() && !"<>\"'`\\".contains(letter);
    let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| ["http", "https", "mailto"].contains(&scheme.as_str())) && url.chars().all(harmless)
}

/// A time to the minute.
pub(super) fn minute(at: OffsetDateTime) -> String {
    at.to_offset(time::UtcOffset::UTC).format(MINUTE).unwrap_or_default()
}

/// The completed question and its translation, where they differ from the typed question.
pub(super) fn other_wordings(turn: &TurnRecord) -> Vec<(&'static str, String)> {
    let asked = clean_line(&turn.question);
    let mut wordings = Vec::new();
    let completed = clean_line(&turn.completed_question);
    if completed != asked {
        wordings.push(("Completed question", completed));
    }
    let translated = turn.trace.translation.as_ref().and_then(|translation| translation.text.as_deref());
    wordings.extend(translated.map(|text| ("Translated question", clean_line(text))));
    wordings
}

/// The earlier turn that is asked again, and the changes.
pub(super) fn asked_again(turn: &TurnRecord) -> Option<String> {
    turn.trace.variant.as_ref().map(Variant::label)
}

/// The warning on the question, and the verdict on the support of the answer.
pub(super) fn cautions(turn: &TurnRecord) -> Vec<String> {
    let of_question = turn.trace.retrieved.as_ref().and_then(Retrieved::warning);
    of_question.into_iter().chain(turn.trace.support().map(|support| support.line())).collect()
}

/// How the turn ended, if not with an answer.
pub(super) fn ending(turn: &TurnRecord) -> Option<String> {
    match &turn.outcome {
        Outcome::Answered => None,
        Outcome::Canceled => Some("Cancelled.".to_owned()),
        Outcome::Failed(why) => Some(format!("Failed: {}", clean_line(why))),
    }
}

/// Models, tokens and times of the turn.
pub(super) fn circumstances(turn: &TurnRecord) -> String {
    let trace = &turn.trace;
    let mut parts = vec![format!("asked {}", minute(turn.asked_at))];
    for (name, value) in [("profile", &trace.profile), ("generator", &trace.generator), ("embedder", &trace.embedder)] {
        if !value.is_empty() {
            parts.push(format!("{name} {}", clean_line(value)));
        }
    }
    if let Some(answer) = &trace.answer {
        let completion = &answer.completion;
        let cut = if answer.is_cut() { ", the most it may have" } else { "" };
        parts.push(format!("{} prompt tokens, {} generated{cut}", completion.prompt_tokens, completion.tokens.len()));
    }
    parts.push(format!("{:.1} s", trace.timings_ms.total.0 / 1e3));
    parts.join("; ")
}

/// Label of the attribution method.
pub(super) fn method(turn: &TurnRecord) -> Option<&'static str> {
    turn.trace.attribution.as_ref().map(|attribution| attribution.method.label())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_browser_opens_and_never_runs_is_a_link() {
        for url in ["https://wiki.example/a?b=1#c", "HTTP://x", "mailto:a@b.c"] {
            assert!(is_link(url), "{url}");
        }
        for url in ["javascript:alert(1)", "data:text/html,x", "/etc/passwd", "https://x\"><b", "https://a b", ""] {
            assert!(!is_link(url), "{url}");
        }
    }
}
