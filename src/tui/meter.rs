//! The tokens of a prompt by what they are for, as one thin line: before a question is sent, and of an answered turn.
//!
//! Invariants: the line before sending fits 58 cells; a count that is a guess says so.

use super::text::{counted, sources, thousands, width};
use crate::app::{App, Turn};
use crate::prompt::{Cut, CutHow, PromptShares};

/// What the next prompt will hold with this question, in so many cells; nothing where that cannot be said.
pub(super) fn before(app: &App, question: &str, room: usize) -> Option<String> {
    let shares = app.next_prompt(question)?;
    let answer = app.turn_settings().prompt.answer_tokens;
    let context = app.context_tokens();
    let lines = [&["system", "history", "evidence", "question", "answer"], &["sys", "hist", "evid", "q", "ans"]];
    let lines = lines.map(|names| line(&shares, (answer, context), names));
    lines.into_iter().find(|line| width(line) <= room)
}

fn line(shares: &PromptShares, (answer, context): (usize, usize), names: &[&str; 5]) -> String {
    let counts = [shares.system, shares.history, shares.evidence, shares.question, answer];
    let parts = counts.iter().zip(names).filter(|(count, _)| **count > 0);
    let parts: Vec<String> = parts.map(|(count, name)| format!("{} {name}", thousands(*count))).collect();
    let needed: usize = counts.iter().sum();
    let verdict = if needed > context { "too much for" } else { "of" };
    format!(" about {} {verdict} {} ", parts.join("+"), thousands(context))
}

/// What the prompt of a turn held and what its answer took, with what was cut.
pub(super) fn after(turn: &Turn) -> Option<String> {
    let answer = turn.answer().filter(|answer| !answer.prompt.segments.is_empty())?;
    let shares = PromptShares::of(&answer.prompt);
    let counts = [
        (shares.system, "system"),
        (shares.history, "history"),
        (shares.evidence, "evidence"),
        (shares.question, "question"),
        (answer.completion.tokens.len(), "answer"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, name)| format!("{} {name}", thousands(count))).collect();
    Some(counts.join(" · ") + &cut(&answer.prompt.cut))
}

fn cut(cut: &[Cut]) -> String {
    let of = |how: CutHow| cut.iter().filter(|cut| cut.how == how).map(|cut| cut.rank).collect::<Vec<_>>();
    let mut told = Vec::new();
    for (how, says) in [(CutHow::Dropped, "left out"), (CutHow::Shortened, "shortened")] {
        let ranks = of(how);
        if !ranks.is_empty() {
            told.push(format!("{} {says}", sources(&ranks)));
        }
    }
    if told.is_empty() {
        return String::new();
    }
    let tokens = cut.iter().map(|cut| cut.tokens).sum();
    format!(" · cut: {}, {}", told.join(", "), counted(tokens, "token"))
}
