//! A turn in plain text, for `ask`, `demo` and `history show`.
//!
//! Takes a turn, gives lines of clean text.

use std::fmt::Write as _;
use std::ops::Range;

use super::snippet::excerpt;
use ragonite_base::{clean_line, clean_text};
use ragonite_history::{Outcome, TurnRecord};
use ragonite_rag::answer::Answer;
use ragonite_rag::attribution::{
    ANSWER_CHANGED, Attribution, Cluster, Effect, Method, Provenance, Sentence, change_of,
};
use ragonite_rag::prompt::CutHow;
use ragonite_rag::retrieval::{Hit, Retrieved};

/// Width of a full bar in cells.
const BAR: usize = 30;
/// Longest excerpt of a hit, in characters.
const SNIPPET: usize = 160;
/// Text for a counterfactual answer equal to the original.
const SAME: &str = "the same answer, word for word";

/// The whole turn: question, completed question, answer, evidence, attribution.
pub(super) fn turn(record: &TurnRecord) -> String {
    let mut text = question(record);
    text.push_str(&answer(record));
    if let Some(feedback) = &record.feedback {
        let _ = writeln!(text, "Rated: {}", feedback.label());
    }
    text.push_str(&evidence(record));
    if let Some(attribution) = &record.trace.attribution {
        text.push_str(&bars(record, attribution));
    }
    text
}

/// The question, and the completed question where it differs.
pub(super) fn question(record: &TurnRecord) -> String {
    let mut text = format!("Question: {}\n", clean_line(&record.question));
    if record.number > 1 || record.completed_question != clean_line(&record.question) {
        let _ = writeln!(text, "Completed question: {}", clean_line(&record.completed_question));
    }
    if let Some(translated) = record.trace.translation.as_ref().and_then(|translation| translation.text.as_deref()) {
        let _ = writeln!(text, "Translated question: {}", clean_line(translated));
    }
    if let Some(variant) = &record.trace.variant {
        let _ = writeln!(text, "Asks again: {}", variant.label());
    }
    text
}

/// The answer, or how the turn ended instead.
pub(super) fn answer(record: &TurnRecord) -> String {
    let mut text = String::new();
    if let Some(answer) = &record.trace.answer {
        let _ = writeln!(text, "Answer: {}", clean_text(&answer.text));
        if record.trace.stopped_without_match().is_some() {
            text.push_str("The model was not asked; `ragonite ask --answer-without-match` asks it.\n");
        }
        if let Some(withheld) = &answer.withheld {
            let _ = writeln!(
                text,
                "Withheld, since its sources do not confirm it. The model said: {}",
                clean_text(withheld)
            );
        }
        if let Some(support) = record.trace.support() {
            let _ = writeln!(text, "{}", support.line());
        }
    }
    match &record.outcome {
        Outcome::Answered => {
            if let Some(cut) = record.trace.answer.as_ref().filter(|answer| answer.is_cut()) {
                let tokens = cut.completion.tokens.len();
                let _ = writeln!(
                    text,
                    "Cut after {tokens} tokens: raise prompt.answer_tokens in the configuration for longer answers"
                );
            }
        }
        Outcome::Canceled => text.push_str("Cancelled.\n"),
        Outcome::Failed(why) => {
            let _ = writeln!(text, "Failed: {}", clean_line(why));
        }
    }
    text
}

/// The hits that were in the prompt, best first; cited ones are marked.
pub(super) fn evidence(record: &TurnRecord) -> String {
    let Some(answer) = &record.trace.answer else { return String::new() };
    let in_prompt = answer.prompt.sources();
    let mut text = record.trace.retrieved.as_ref().map(caution).unwrap_or_default();
    let hits = record.trace.retrieved.iter().flat_map(|found| &found.hits);
    text.push_str(if in_prompt.is_empty() { "Evidence: none\n" } else { "Evidence:\n" });
    for hit in hits.filter(|hit| in_prompt.contains(&hit.rank)) {
        let mark = if answer.citations.contains(&hit.rank) { '*' } else { ' ' };
        text.push_str(&hit_lines(hit, mark));
    }
    for cut in &answer.prompt.cut {
        let fate = match cut.how {
            CutHow::Dropped => "is not in the prompt, it had no room",
            CutHow::Shortened => "was shortened to fit the prompt",
            CutHow::Version => "is not in the prompt, it is from another version of its page",
            CutHow::Neighbour => continue,
        };
        let _ = writeln!(text, "   Source {} {fate}: {} tokens were left out", cut.rank, cut.tokens);
    }
    text
}

/// A line on a question that no document fits, else on identifiers that are in no document; empty where neither is so.
pub(super) fn caution(found: &Retrieved) -> String {
    found.no_match_line().or_else(|| found.warning()).map(|caution| caution + "\n").unwrap_or_default()
}

/// A hit on three lines: origin; file or page, version and date; excerpt.
pub(super) fn hit_lines(hit: &Hit, mark: char) -> String {
    let leg = |name: &str, rank: Option<usize>| rank.map_or(format!("{name} -"), |rank| format!("{name} {rank}"));
    let (heading, location) = (clean_line(&hit.heading), clean_line(&hit.location));
    // Most locations begin with their heading.
    let place =
        if heading.is_empty() || location.contains(&heading) { location } else { format!("{heading}, {location}") };
    let snippet = excerpt(&clean_line(&hit.content), &hit.why.matched, SNIPPET);
    let from: Vec<String> = [hit.version.map(|version| version.age.label().to_owned())]
        .into_iter()
        .flatten()
        .chain(hit.date_shown())
        .chain([clean_line(&hit.url)])
        .filter(|text| !text.is_empty())
        .collect();
    let mut lines = format!(
        " {mark}{rank:>2}  {kind:<7}  {title} ({place})  cosine {cosine}, {dense}, {lexical}, fused {fused:.4}\n       {from}\n       {snippet}\n",
        from = from.join(", "),
        rank = hit.rank,
        kind = hit.kind.as_str(),
        title = clean_line(&hit.title),
        cosine = hit.dense_score.map_or_else(|| "-".to_owned(), |cosine| format!("{cosine:.4}")),
        fused = hit.fused,
        dense = leg("dense", hit.dense_rank),
        lexical = leg("lexical", hit.lexical_rank),
    );
    for copied in &hit.copies {
        let (title, location) = (clean_line(&copied.title), clean_line(&copied.location));
        let _ = writeln!(lines, "       {}: {title} ({location})", copied.relation.as_str());
    }
    lines
}

/// One bar per cluster, or the line that no single source decides.
pub(super) fn bars(record: &TurnRecord, attribution: &Attribution) -> String {
    let answer = record.trace.answer.as_ref();
    let cited = answer.map(|answer| answer.cited_by(attribution.instead.as_deref())).unwrap_or_default();
    let mut text = format!("Why this answer ({}):\n", attribution.method.label());
    if let Some(stopped) = attribution.stopped_after() {
        let _ = writeln!(text, "  {stopped}");
    } else if attribution.method == Method::Similarity {
        text.push_str("  likeness to the answer; what mattered was not measured\n");
    } else if !attribution.decisive {
        text.push_str("  no single source decides\n");
    }
    if let Some(instead) = &attribution.instead {
        let _ = writeln!(text, "  {ANSWER_CHANGED} {}", clean_line(instead));
    }
    let original = attribution.instead.as_deref().or(answer.map(Answer::own_text)).unwrap_or_default();
    for cluster in &attribution.clusters {
        let is_hidden = attribution.how_of_drops(cluster) == Some(Provenance::Preview);
        text.push_str(&bar(cluster, &cited, if is_hidden { " when hidden" } else { "" }, original));
    }
    text
}

/// `hidden` names how the drop was computed, `original` is the answer with every source.
fn bar(cluster: &Cluster, cited: &[usize], hidden: &str, original: &str) -> String {
    let drop =
        cluster.drop().map(|drop| format!(", log-probability {}{hidden}", change_of(drop, 2))).unwrap_or_default();
    let says =
        format!("contribution {:.4}{drop}, {}, {}", cluster.contribution, mark(cluster, cited), cluster.how.label());
    let mut text = bar_line(cluster.effect(), cluster.share, &cluster.hits, &says);
    if let Some(answer) = &cluster.counterfactual_answer {
        let is_same = answer.trim() == original.trim();
        let without = if is_same { SAME.to_owned() } else { clean_line(answer) };
        let _ = writeln!(text, "          without: {without}");
    }
    text
}

fn mark(cluster: &Cluster, cited: &[usize]) -> &'static str {
    if cluster.hits.iter().any(|hit| cited.contains(hit)) { "cited" } else { "not cited" }
}

/// `  62.10% ###################            Source 1, 3 (…)`: the share, and the effect as a bar from 0 to 1.
fn bar_line(effect: Effect, share: Option<f64>, hits: &[usize], says: &str) -> String {
    let ranks: Vec<String> = hits.iter().map(usize::to_string).collect();
    let filled = ((effect.contribution.clamp(0.0, 1.0) * BAR as f64).round() as usize).min(BAR);
    let percent = share.map_or_else(|| "    -  ".to_owned(), |share| format!("{:6.2}%", share * 100.0));
    format!("  {percent} {bar:<BAR$} Source {ranks} ({says})\n", bar = "#".repeat(filled), ranks = ranks.join(", "))
}

/// Attribution of a sentence; `number` counts from 1.
pub(super) fn sentence(number: usize, of: usize, sentence: &Sentence) -> String {
    let mut text = format!("Sentence {number} of {of}: {}\n", clean_line(&sentence.text));
    if !sentence.decisive {
        text.push_str("  no single source decides\n");
    }
    for cluster in &sentence.clusters {
        let how = match cluster.how {
            Provenance::Preview => "hidden, an estimate",
            _ => "left out",
        };
        let says = format!(
            "each token {:.1} % less probable, log-probability {}, {how}",
            cluster.contribution * 100.0,
            change_of(cluster.drop, 2)
        );
        text.push_str(&bar_line(cluster.effect(), cluster.share, &cluster.hits, &says));
    }
    text
}

/// Logprob drop of each token without each cluster.
pub(super) fn tokens(attribution: &Attribution, shown: &Range<usize>) -> String {
    let mut text = String::new();
    for cluster in attribution.clusters.iter().filter(|cluster| !cluster.drops.is_empty()) {
        let ranks: Vec<String> = cluster.hits.iter().map(usize::to_string).collect();
        let _ = writeln!(text, "Without Source {}, change of the log-probability of each token:", ranks.join(", "));
        let is_content = |(at, _): &(usize, &f32)| shown.contains(at) && !attribution.citation_tokens.contains(at);
        for (at, drop) in cluster.drops.iter().enumerate().filter(is_content) {
            let token = attribution.tokens.get(at).map(|token| clean_line(&format!("“{token}”"))).unwrap_or_default();
            let bits = cluster.divergences.get(at).map(|bits| format!("{bits:.3} bit  ")).unwrap_or_default();
            let _ = writeln!(text, "  {:>4}  {:>8}  {bits}{token}", at + 1, change_of(f64::from(*drop), 3));
        }
    }
    text
}
