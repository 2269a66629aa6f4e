//! Exports a conversation as a self-contained HTML file without scripts.
//!
//! Invariants: all text is escaped; the Content Security Policy forbids scripts and external content; citations link to
//! sources and back.

use std::fmt::Write as _;

use super::source::{
    Source, asked_again, cautions, circumstances, ending, is_link, method, minute, named, other_wordings, percent,
    sources,
};
use crate::{ConversationRecord, TurnRecord};
use ragonite_base::{clean_line, clean_text};
use ragonite_rag::answer::citation::read;
use ragonite_rag::attribution::{ANSWER_CHANGED, Attribution, Change, Cluster, difference};

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}\
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f4f4f4;padding:.6rem;font-size:.85rem}\
.answer{white-space:pre-wrap;overflow-wrap:anywhere;border-left:.25rem solid #2a6;padding-left:.8rem}\
.note{color:#555;font-size:.85rem}.bar{background:#ddd;height:.7rem}.bar div{background:#2a6;height:100%}\
del{background:#fdd}ins{background:#dfd}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#262626}.note{color:#aaa}\
.bar{background:#444}del{background:#633}ins{background:#363}a{color:#8cf}}";

pub(super) fn write(conversation: &ConversationRecord, turns: &[TurnRecord]) -> String {
    let title = escape(&clean_line(&conversation.title));
    let mut text = format!(
        "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
         </head>\n<body>\n<h1>{title}</h1>\n<p class=\"note\">Domain {}, conversation {}, begun {}.</p>\n",
        conversation.domain,
        conversation.id,
        minute(conversation.started_at)
    );
    for turn in turns {
        write_turn(&mut text, turn);
    }
    text.push_str("</body>\n</html>\n");
    text
}

fn write_turn(text: &mut String, turn: &TurnRecord) {
    let number = turn.number;
    let _ = writeln!(text, "<h2 id=\"t{number}\">{number}. {}</h2>", escape(&clean_line(&turn.question)));
    for (name, wording) in other_wordings(turn) {
        let _ = writeln!(text, "<p class=\"note\">{name}: {}</p>", escape(&wording));
    }
    if let Some(again) = asked_again(turn) {
        let _ = writeln!(text, "<p class=\"note\">Asks again: {}</p>", escape(&again));
    }
    let sources = sources(turn);
    if turn.trace.answer.is_some() {
        let _ = writeln!(text, "<div class=\"answer\">{}</div>", answer(turn, &sources));
    }
    for caution in cautions(turn) {
        let _ = writeln!(text, "<p class=\"note\">{}</p>", escape(&caution));
    }
    if let Some(ending) = ending(turn) {
        let _ = writeln!(text, "<p><strong>{}</strong></p>", escape(&ending));
    }
    if let Some(feedback) = &turn.feedback {
        let _ = writeln!(text, "<p class=\"note\">Rated: {}</p>", escape(&feedback.label()));
    }
    if let (Some(attribution), Some(method)) = (&turn.trace.attribution, method(turn)) {
        write_attribution(text, turn, attribution, method);
    }
    if !sources.is_empty() {
        text.push_str("<h3>Sources</h3>\n");
        for source in &sources {
            write_source(text, number, source);
        }
    }
    write_prompt(text, turn);
    let _ = writeln!(text, "<p class=\"note\">{}</p>", escape(&circumstances(turn)));
}

/// The answer with its citations as links.
fn answer(turn: &TurnRecord, sources: &[Source<'_>]) -> String {
    let known: Vec<usize> = sources.iter().map(|source| source.rank).collect();
    let shown = turn.trace.answer.as_ref().map(|answer| clean_text(&answer.text)).unwrap_or_default();
    let cited = read(shown.trim(), &known);
    let (mut html, mut at) = (String::new(), 0);
    for mark in &cited.marks {
        html.push_str(&escape(&cited.text[at..mark.span.start]));
        let named = escape(&cited.text[mark.span.clone()]);
        match mark.ranks.first() {
            Some(rank) => {
                let _ = write!(html, "<a href=\"#t{}s{rank}\">{named}</a>", turn.number);
            }
            None => html.push_str(&named),
        }
        at = mark.span.end;
    }
    html + &escape(&cited.text[at..])
}

fn write_source(text: &mut String, turn: u32, source: &Source<'_>) {
    let cited = if source.is_cited { ", cited" } else { "" };
    let title = escape(&source.title);
    let title = if is_link(source.url) {
        format!("<a href=\"{}\" rel=\"noreferrer noopener\">{title}</a>", escape(source.url))
    } else {
        title
    };
    let _ = writeln!(
        text,
        "<p id=\"t{turn}s{rank}\"><a href=\"#t{turn}\">Source {rank}</a>{cited}: {title} <span class=\"note\">({place})\
         </span></p>\n<pre>{content}</pre>",
        rank = source.rank,
        place = escape(&source.place),
        content = escape(&source.content)
    );
}

fn write_attribution(text: &mut String, turn: &TurnRecord, attribution: &Attribution, method: &str) {
    let _ = writeln!(text, "<h3>Why this answer</h3>\n<p class=\"note\">{}.</p>", escape(method));
    if let Some(stopped) = attribution.stopped_after() {
        let _ = writeln!(text, "<p>{}.</p>", escape(&stopped));
    } else if !attribution.decisive {
        text.push_str("<p>No single source decides.</p>\n");
    }
    let stored = turn.trace.answer.as_ref().map(|answer| clean_text(answer.own_text())).unwrap_or_default();
    if let Some(instead) = &attribution.instead {
        let _ = writeln!(text, "<p>{ANSWER_CHANGED}</p>\n<pre>{}</pre>", escape(&clean_text(instead)));
    }
    let original = attribution.instead.as_deref().map_or(stored, clean_text);
    for cluster in &attribution.clusters {
        write_cluster(text, cluster, &original);
    }
}

fn write_cluster(text: &mut String, cluster: &Cluster, original: &str) {
    let width = cluster.share.unwrap_or(0.0).clamp(0.0, 1.0) * 100.0;
    let _ = writeln!(
        text,
        "<p>{}: {} <span class=\"note\">(contribution {:.4}, {})</span></p>\n\
         <div class=\"bar\"><div style=\"width:{width:.1}%\"></div></div>",
        named(cluster),
        percent(cluster),
        cluster.contribution,
        cluster.how.label()
    );
    let Some(without) = &cluster.counterfactual_answer else { return };
    let parts = difference(original.trim(), clean_text(without).trim());
    let changed = parts.iter().fold(String::new(), |mut html, part| {
        let said = escape(&part.text);
        let _ = match part.change {
            Change::Same => write!(html, "{said}"),
            Change::Removed => write!(html, "<del>{said}</del>"),
            Change::Added => write!(html, "<ins>{said}</ins>"),
        };
        html
    });
    let _ = writeln!(text, "<details><summary class=\"note\">answer without</summary><pre>{changed}</pre></details>");
}

/// The prompt, folded.
fn write_prompt(text: &mut String, turn: &TurnRecord) {
    let Some(answer) = &turn.trace.answer else { return };
    let prompt: String = answer.prompt.segments.iter().map(|segment| segment.text.as_str()).collect();
    if !prompt.is_empty() {
        let prompt = escape(&clean_text(&prompt));
        let _ = writeln!(text, "<details><summary class=\"note\">prompt</summary><pre>{prompt}</pre></details>");
    }
}

/// Text escaped for elements and quoted attributes.
fn escape(text: &str) -> String {
    html_escape::encode_quoted_attribute(text).into_owned()
}
