//! Layout of one turn: question, answer, outcome, attribution, suggestions.
//!
//! Not here: when a turn is drawn (`turn_cache`), the running stage (`chrome`).

use ratatui::text::{Line, Span};

use crate::action::{Action, Place};
use crate::attribution::{Keys, in_short};
use crate::compare::asked_again;
use crate::composer::token_meter;
use crate::keymap::Keymap;
use crate::look::Look;
use crate::markdown::{self, Mark, MarkdownLook, render};
use crate::messages::Noun;
use crate::text::{Indent, one_line, paragraphs, wrap};
use crate::theme::Theme;
use ragonite_app::{App, Phase, Turn};
use ragonite_history::Outcome;
use ragonite_rag::answer::{Answer, SupportVerdict};
use ragonite_rag::retrieval::Retrieved;

/// Lines of a turn besides question and answer.
const AROUND: usize = 4;

/// A turn as lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Drawn {
    pub(super) lines: Vec<Line<'static>>,
    /// The line on which the answer begins.
    pub(super) answer: usize,
    /// Citations of the answer, with their places.
    pub(super) marks: Vec<Mark>,
}

/// State of the suggestions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Suggested {
    /// They are being generated.
    Wanted,
    /// This many are shown; after the last turn only.
    Shown(usize),
    /// None.
    #[default]
    Hidden,
}

impl Suggested {
    pub(super) fn of(app: &App, turn: &Turn) -> Self {
        let is_last = app.turns().last().is_some_and(|last| last.key == turn.key);
        match turn.record.trace.suggestions.len() {
            _ if app.suggesting() == Some(turn.key) => Self::Wanted,
            0 => Self::Hidden,
            count if is_last => Self::Shown(count),
            _ => Self::Hidden,
        }
    }
}

/// A turn that no longer runs.
pub(super) fn settled(app: &App, turn: &Turn, keymap: &Keymap, look: &Look<'_>) -> Drawn {
    let Look { theme, words, width } = *look;
    let Drawn { mut lines, answer, marks } = unsettled(turn, look);
    if lines.last().is_some_and(|line| line.width() > 0) {
        lines.push(Line::default());
    }
    lines.extend(outcome_lines(turn, look));
    if turn.record.trace.stopped_without_match().is_some() {
        let key = keymap.key(Action::Compare, Place::Panes).unwrap_or_default();
        let hint = Span::styled(words.asks_all_the_same(&key), theme.dim);
        lines.extend(wrap(&[hint], width, &Indent::default()));
    }
    lines.extend(explanation_lines(app, turn, keymap, look));
    if let Some(feedback) = &turn.record.feedback {
        let rating = Span::styled(words.rated(&words.feedback(feedback)), theme.dim);
        lines.extend(wrap(&[rating], width, &Indent::default()));
    }
    lines.extend(suggestion_lines(Suggested::of(app, turn), turn, keymap, look));
    lines.push(Line::default());
    Drawn { lines, answer, marks }
}

/// The question and the answer as far as it has come.
pub(super) fn unsettled(turn: &Turn, look: &Look<'_>) -> Drawn {
    let mut lines = question_lines(turn, look);
    let above = lines.len();
    let answer = answer_lines(turn, look);
    let mut marks = markdown::marks(&answer, &|number| holds(turn, number));
    for piece in marks.iter_mut().flat_map(|mark| &mut mark.place) {
        piece.line += above;
    }
    lines.extend(answer);
    Drawn { lines, answer: above, marks }
}

/// Sources of the citations, in the order of [`Drawn::marks`].
pub(crate) fn cited(turn: &Turn, theme: &Theme) -> Vec<usize> {
    let lines = markdown::unwrapped(turn.text(), theme);
    markdown::marks(&lines, &|number| holds(turn, number)).into_iter().map(|mark| mark.source).collect()
}

/// Whether a citation is valid.
fn holds(turn: &Turn, number: usize) -> bool {
    match turn.answer() {
        Some(answer) if turn.is_answered() => !answer.invalid_citations.contains(&number),
        _ => (1..=turn.hits().len()).contains(&number),
    }
}

/// Estimated lines of a turn that was not laid out yet.
pub(super) fn estimate(turn: &Turn, width: usize) -> usize {
    let texts = turn.record.question.lines().chain(turn.text().lines());
    AROUND + texts.map(|line| line.len().div_ceil(width.max(1)).max(1)).sum::<usize>()
}

/// The suggestions with their keys.
fn suggestion_lines(suggested: Suggested, turn: &Turn, keymap: &Keymap, look: &Look<'_>) -> Vec<Line<'static>> {
    let Look { theme, words, width } = *look;
    match suggested {
        Suggested::Hidden => Vec::new(),
        Suggested::Wanted => vec![Line::default(), Line::styled(words.looking_for_suggestions(), theme.dim)],
        Suggested::Shown(_) => {
            let actions = [Action::AskFirst, Action::AskSecond, Action::AskThird];
            let mut lines = vec![Line::default(), Line::styled(words.go_on_with(), theme.dim)];
            for (action, question) in actions.into_iter().zip(&turn.record.trace.suggestions) {
                let key = keymap.key(action, Place::Composer).unwrap_or_default();
                let lead = format!("{key}  ");
                let rest = " ".repeat(crate::text::width(&lead));
                let indent = Indent { first: Span::styled(lead, theme.accent), rest: Span::raw(rest) };
                lines.extend(wrap(&[one_line(question, theme.text)], width, &indent));
            }
            lines
        }
    }
}

fn question_lines(turn: &Turn, look: &Look<'_>) -> Vec<Line<'static>> {
    let Look { theme, words, width } = *look;
    let record = &turn.record;
    let indent = Indent { first: Span::styled("? ", theme.accent), rest: Span::raw("  ") };
    let mut lines = paragraphs(&record.question, theme.strong, width, &indent);
    // Only the first line of a question has the mark.
    for line in lines.iter_mut().skip(1) {
        if let Some(lead) = line.spans.first_mut() {
            *lead = Span::raw("  ");
        }
    }
    if record.completed_question.trim() != record.question.trim() {
        let indent = Indent { first: Span::styled(words.understood_as(), theme.dim), rest: Span::raw("  ") };
        lines.extend(wrap(&[one_line(&record.completed_question, theme.dim)], width, &indent));
    }
    if let Some(text) = record.trace.translation.as_ref().and_then(|translation| translation.text.as_deref()) {
        let indent = Indent { first: Span::styled(words.also_searched_as(), theme.dim), rest: Span::raw("  ") };
        lines.extend(wrap(&[one_line(text, theme.dim)], width, &indent));
    }
    if let Some(again) = asked_again(turn, words) {
        let indent = Indent { first: Span::styled(words.asks(), theme.dim), rest: Span::raw("  ") };
        lines.extend(wrap(&[Span::styled(again, theme.dim)], width, &indent));
    }
    lines.push(Line::default());
    lines
}

fn answer_lines(turn: &Turn, look: &Look<'_>) -> Vec<Line<'static>> {
    let Look { theme, words, width } = *look;
    let answer = turn.answer();
    let holds = |number: usize| holds(turn, number);
    let mut lines = Vec::new();
    let no_match = turn.record.trace.retrieved.as_ref().and_then(Retrieved::no_match).filter(|_| answer.is_some());
    let is_stopped = turn.record.trace.stopped_without_match().is_some();
    if let Some(quality) = no_match {
        let mark = if is_stopped { '∅' } else { '!' };
        let text = format!("{mark} {}", words.fits_none(&quality.absent_words));
        lines.extend(wrap(&[Span::styled(text, theme.warn)], width, &Indent::default()));
    }
    if let Some(answer) = answer.filter(|answer| !answer.answered && !is_stopped) {
        let text = if answer.withheld.is_some() { words.withheld() } else { words.out_of_scope() };
        lines.extend(wrap(&[Span::styled(text, theme.warn)], width, &Indent::default()));
    }
    lines.extend(render(turn.text(), &MarkdownLook { theme, width, holds: &holds }));
    if let Some(withheld) = answer.and_then(|answer| answer.withheld.as_deref()) {
        let indent = Indent { first: Span::styled(words.withheld_answer(), theme.dim), rest: Span::raw("  ") };
        lines.extend(paragraphs(withheld, theme.dim, width, &indent));
    }
    if answer.is_some_and(Answer::only_cites) {
        lines.extend(wrap(&[Span::styled(words.only_cites(), theme.warn)], width, &Indent::default()));
    }
    if turn.record.outcome == Outcome::Answered
        && let Some(cut) = answer.filter(|answer| answer.is_cut())
    {
        let text = words.cut_at_limit(&words.counted(cut.completion.tokens.len(), Noun::Token));
        lines.extend(wrap(&[Span::styled(text, theme.warn)], width, &Indent::default()));
    }
    let absent = turn.record.trace.retrieved.as_ref().map_or(&[][..], |found| &found.unknown_terms);
    // Where no document fits, the line above names them.
    if !absent.is_empty() && no_match.is_none() {
        lines.extend(wrap(&[Span::styled(words.absent(absent), theme.warn)], width, &Indent::default()));
    }
    if let Some(support) = turn.record.trace.support() {
        let is_calm = matches!(support.verdict, SupportVerdict::Supported | SupportVerdict::Unchecked);
        let style = if is_calm { theme.dim } else { theme.warn };
        lines.extend(wrap(&[Span::styled(words.support(&support), style)], width, &Indent::default()));
    }
    lines
}

/// The explanation in short, or its progress.
fn explanation_lines(app: &App, turn: &Turn, keymap: &Keymap, look: &Look<'_>) -> Vec<Line<'static>> {
    let running = turn.explaining.as_ref().filter(|_| app.phase() == Phase::Explaining(turn.key));
    let key = |action| keymap.key(action, Place::Panes).unwrap_or_default();
    let keys = Keys { explain: key(Action::Explain), show: key(Action::ShowWhy) };
    let clusters = running.map(|explaining| explaining.clusters.as_slice());
    in_short(turn.record.trace.attribution.as_ref(), clusters, &keys, look)
}

/// The outcome of the turn.
fn outcome_lines(turn: &Turn, look: &Look<'_>) -> Vec<Line<'static>> {
    let Look { theme, words, width } = *look;
    let record = &turn.record;
    let indent = Indent::default();
    match &record.outcome {
        Outcome::Answered => {
            let prompt = turn.answer().map(|answer| answer.prompt.sources().len()).unwrap_or_default();
            let tokens = turn.answer().map_or(0, |answer| answer.completion.prompt_tokens);
            let times = record.trace.timings_ms;
            let explained =
                record.trace.attribution.as_ref().map(|_| words.and_explained(&words.duration(times.explain)));
            let text = words.read_and_took(prompt, tokens, times.until_answered()) + &explained.unwrap_or_default();
            let mut lines = wrap(&[Span::styled(text, theme.dim)], width, &indent);
            let meter =
                token_meter::after(turn, words).map(|meter| wrap(&[Span::styled(meter, theme.dim)], width, &indent));
            lines.extend(meter.unwrap_or_default());
            lines
        }
        Outcome::Canceled => {
            let kept = if turn.text().is_empty() { words.canceled() } else { words.canceled_and_kept() };
            wrap(&[Span::styled(kept, theme.warn)], width, &indent)
        }
        Outcome::Failed(message) => {
            wrap(&[Span::styled(words.failed(), theme.bad), one_line(message, theme.text)], width, &indent)
        }
    }
}
