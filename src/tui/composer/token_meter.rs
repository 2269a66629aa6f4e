//! Token budget of a prompt as one line: estimated before sending, exact for an answered turn.
//!
//! Invariants: the line before sending fits 58 cells; an estimate is marked as such.

use crate::messages::{Noun, Words};
use crate::text::width;
use ragonite_app::{App, Turn};
use ragonite_rag::prompt::{Cut, CutHow, TokenBudget};

/// Token budget of the next prompt with this question, in `room` cells; none where it is unknown.
pub(crate) fn before(app: &App, question: &str, room: usize, words: Words) -> Option<String> {
    let shares = app.next_prompt(question)?;
    let answer = app.turn_settings().prompt.answer_tokens;
    let context = app.context_tokens();
    let lines = [words.shares(), words.short_shares()];
    let lines = lines.map(|names| line(&shares, answer, context, &names, words));
    lines.into_iter().find(|line| width(line) <= room)
}

fn line(shares: &TokenBudget, answer: usize, context: usize, names: &[&str; 5], words: Words) -> String {
    let counts = [shares.system, shares.history, shares.evidence, shares.question, answer];
    let parts = counts.iter().zip(names).filter(|(count, _)| **count > 0);
    let parts: Vec<String> = parts.map(|(count, name)| format!("{} {name}", words.thousands(*count))).collect();
    let needed: usize = counts.iter().sum();
    let (parts, room) = (parts.join("+"), words.thousands(context));
    if needed > context { words.about_too_many(&parts, &room) } else { words.about_so_many(&parts, &room) }
}

/// Tokens of a turn's prompt and answer, and what was cut.
pub(crate) fn after(turn: &Turn, words: Words) -> Option<String> {
    let answer = turn.answer().filter(|answer| !answer.prompt.segments.is_empty())?;
    let shares = TokenBudget::of(&answer.prompt);
    let counts = [
        (shares.system, words.share_system()),
        (shares.history, words.share_history()),
        (shares.evidence, words.share_evidence()),
        (shares.question, words.share_question()),
        (answer.completion.tokens.len(), words.share_answer()),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, name)| format!("{} {name}", words.thousands(count))).collect();
    Some(counts.join(" · ") + &cut(&answer.prompt.cut, words))
}

fn cut(cut: &[Cut], words: Words) -> String {
    let cut: Vec<&Cut> = cut.iter().filter(|cut| cut.how != CutHow::Neighbour).collect();
    let of = |how: CutHow| cut.iter().filter(|cut| cut.how == how).map(|cut| cut.rank).collect::<Vec<_>>();
    let mut parts = Vec::new();
    for how in [CutHow::Dropped, CutHow::Shortened, CutHow::Version] {
        let ranks = of(how);
        if !ranks.is_empty() {
            parts.push(format!("{} {}", words.sources(&ranks), words.cut_how(how)));
        }
    }
    if parts.is_empty() {
        return String::new();
    }
    let tokens = cut.iter().map(|cut| cut.tokens).sum();
    words.cut(&parts.join(", "), &words.counted(tokens, Noun::Token))
}
