//! Exports a conversation as Markdown (CommonMark, with tables).
//!
//! Invariants: text from documents is in code blocks whose fence it cannot close; HTML in answers is escaped.

use std::fmt::Write as _;

use super::source::{
    Source, asked_again, cautions, circumstances, ending, is_link, method, minute, named, other_wordings, percent,
    sources,
};
use crate::{ConversationRecord, TurnRecord};
use ragonite_base::{clean_line, clean_text};
use ragonite_rag::answer::Answer;
use ragonite_rag::attribution::{ANSWER_CHANGED, Attribution};

pub(super) fn write(conversation: &ConversationRecord, turns: &[TurnRecord]) -> String {
    let mut text = format!(
        "# {}\n\nDomain `{}`, conversation {}, begun {}.\n",
        plain(&conversation.title),
        conversation.domain,
        conversation.id,
        minute(conversation.started_at)
    );
    for turn in turns {
        write_turn(&mut text, turn);
    }
    text
}

fn write_turn(text: &mut String, turn: &TurnRecord) {
    let _ = writeln!(text, "\n## {}. {}\n", turn.number, plain(&turn.question));
    for (name, wording) in other_wordings(turn) {
        let _ = writeln!(text, "*{name}:* {}\n", plain(&wording));
    }
    if let Some(again) = asked_again(turn) {
        let _ = writeln!(text, "*Asks again:* {}\n", plain(&again));
    }
    if let Some(answer) = &turn.trace.answer {
        let answer = without_acts(clean_text(&answer.text).trim());
        let _ = writeln!(text, "{answer}\n");
        if let Some(fence) = open_fence(&answer) {
            let _ = writeln!(text, "{fence}\n");
        }
    }
    for caution in cautions(turn) {
        let _ = writeln!(text, "*{}*\n", plain(&caution));
    }
    if let Some(ending) = ending(turn) {
        let _ = writeln!(text, "**{}**\n", plain(&ending));
    }
    if let Some(feedback) = &turn.feedback {
        let _ = writeln!(text, "*Rated:* {}\n", plain(&feedback.label()));
    }
    let sources = sources(turn);
    if !sources.is_empty() {
        text.push_str("### Sources\n");
        for source in &sources {
            write_source(text, source);
        }
    }
    if let (Some(attribution), Some(method)) = (&turn.trace.attribution, method(turn)) {
        let original = turn.trace.answer.as_ref().map(Answer::own_text).unwrap_or_default();
        write_attribution(text, attribution, method, original);
    }
    let _ = writeln!(text, "\n*{}*", plain(&circumstances(turn)));
}

fn write_source(text: &mut String, source: &Source<'_>) {
    let cited = if source.is_cited { ", cited" } else { "" };
    let _ = writeln!(text, "\n**Source {}**{cited}: {} ({})", source.rank, plain(&source.title), plain(&source.place));
    if is_link(source.url) {
        let _ = writeln!(text, "<{}>", source.url);
    }
    let fence = fence(&source.content);
    let _ = writeln!(text, "\n{fence}text\n{}\n{fence}", source.content);
}

/// `answer` is the stored answer; the explained one may have been regenerated.
fn write_attribution(text: &mut String, attribution: &Attribution, method: &str, answer: &str) {
    let original = attribution.instead.as_deref().unwrap_or(answer);
    let _ = writeln!(text, "\n### Why this answer\n\n{}.", plain(&capital(method)));
    if let Some(stopped) = attribution.stopped_after() {
        let _ = writeln!(text, "\n{}.", plain(&capital(&stopped)));
    } else if !attribution.decisive {
        text.push_str("\nNo single source decides.\n");
    }
    if let Some(instead) = &attribution.instead {
        let _ = writeln!(text, "\n{ANSWER_CHANGED}\n\n> {}", plain(&clean_line(instead)));
    }
    text.push_str("\n| | share | contribution | how | answer without |\n| --- | ---: | ---: | --- | --- |\n");
    for cluster in &attribution.clusters {
        let without = match cluster.counterfactual_answer.as_deref() {
            Some(without) if without.trim() == original.trim() => "the same answer".to_owned(),
            without => without.map(clean_line).unwrap_or_default(),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {:.4} | {} | {} |",
            named(cluster),
            percent(cluster),
            cluster.contribution,
            plain(cluster.how.label()),
            plain(&without)
        );
    }
}

/// A line with all Markdown escaped.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for letter in clean_line(line).chars() {
        if "\\`*_{}[]<>#|~&".contains(letter) {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}

/// An answer keeps its Markdown, but without tags, links and images, which a viewer might load.
fn without_acts(answer: &str) -> String {
    answer.replace('<', "&lt;").replace("](", "]\\(").replace("][", "]\\[").replace("]:", "]\\:").replace("![", "!\\[")
}

/// A fence longer than any in the text.
fn fence(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    "`".repeat((longest + 1).max(3))
}

/// The fence that closes a code block left open by a text, if any
/// (<https://spec.commonmark.org/0.31.2/#fenced-code-blocks>).
fn open_fence(text: &str) -> Option<String> {
    let mut open: Option<&str> = None;
    for line in text.lines() {
        let line = line.strip_prefix("   ").or(line.strip_prefix("  ")).or(line.strip_prefix(' ')).unwrap_or(line);
        let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'));
        let Some(sign) = sign else { continue };
        let (run, rest) = line.split_at(line.len() - line.trim_start_matches(sign).len());
        open = match open {
            Some(begun) if begun.starts_with(sign) && run.len() >= begun.len() && rest.trim().is_empty() => None,
            None if run.len() >= 3 && !(sign == '`' && rest.contains('`')) => Some(run),
            unchanged => unchanged,
        };
    }
    open.map(str::to_owned)
}

fn capital(line: &str) -> String {
    let mut letters = line.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_close_its_fence() {
        assert_eq!(fence("plain"), "```");
        assert_eq!(fence("a ````` b ``"), "``````");
    }

    #[test]
    fn a_code_block_that_an_answer_leaves_open_is_closed() {
        let closed_by = |text| open_fence(text);
        assert_eq!(closed_by("a\n```sh\nmake"), Some("```".to_owned()));
        assert_eq!(closed_by("  ~~~~\n~~~\n```"), Some("~~~~".to_owned()));
        assert_eq!((closed_by("```\na\n```"), closed_by("```a``` b"), closed_by("no code")), (None, None, None));
        assert_eq!(closed_by("```\n``` not the end"), Some("```".to_owned()));
    }

    #[test]
    fn nothing_in_an_answer_is_a_link_or_a_picture() {
        let written = "see [x](javascript:1), ![](http://h/?q) ![a][b] and [Source 1]\n[b]: http://h <img src=x>";
        let answer = without_acts(written);
        let events = pulldown_cmark::Parser::new(&answer);
        let acts = events.filter(|event| {
            use pulldown_cmark::{Event, Tag};
            matches!(event, Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::Link { .. } | Tag::Image { .. }))
        });
        assert_eq!(acts.count(), 0, "{answer}");
        assert!(answer.contains("[Source 1]"), "{answer}");
    }

    #[test]
    fn signs_of_a_title_mean_nothing() {
        assert_eq!(plain("*a* <b> [c](d) | e\n# f"), r"\*a\* \<b\> \[c\](d) \| e \# f");
    }
}
