//! Questions and answers, with what the running turn is doing.
//!
//! Invariant: the running turn is drawn anew, every other turn is kept as it was drawn until the width changes.

use std::borrow::Cow;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use time::OffsetDateTime;

use super::compare::asked_again;
use super::{Focus, block, guide};
use crate::app::{App, Phase, Turn};
use crate::base::clean_line;
use crate::history::{Feedback, Outcome, TurnTimings};
use crate::tui::action::{Action, Place};
use crate::tui::keymap::Keymap;
use crate::tui::markdown::{Look, render};
use crate::tui::meter;
use crate::tui::screen::{Pane, ScreenState};
use crate::tui::text::{Indent, fit, one_line, paragraphs, wrap};
use crate::tui::theme::Theme;
use crate::tui::words::{Noun, Words};

/// A turn as it was drawn.
#[derive(Debug, Clone)]
pub(in crate::tui) struct Settled {
    width: usize,
    timings: TurnTimings,
    feedback: Option<Feedback>,
    suggestions: Suggested,
    lines: Vec<Line<'static>>,
}

/// What is shown of the questions to go on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Suggested {
    /// They are looked for.
    Wanted,
    /// These are there, each with its key, after the last turn only.
    Shown(usize),
    /// Nothing.
    Hidden,
}

impl Suggested {
    fn of(app: &App, turn: &Turn) -> Self {
        let is_last = app.turns().last().is_some_and(|last| last.key == turn.key);
        match turn.record.trace.suggestions.len() {
            _ if app.suggesting() == Some(turn.key) => Self::Wanted,
            0 => Self::Hidden,
            count if is_last => Self::Shown(count),
            _ => Self::Hidden,
        }
    }
}

/// Cells before each line, for the mark of the selected turn.
pub(super) const MARK: usize = 2;

pub(in crate::tui) fn draw(app: &App, screen: &mut ScreenState, at: (Rect, OffsetDateTime), frame: &mut Frame<'_>) {
    let (area, now) = at;
    let (theme, words) = (screen.theme, screen.words);
    let title = app.conversation().map_or_else(String::new, |open| format!(" · {}", clean_line(&open.title)));
    let focus = Focus::of(screen, Pane::Conversation);
    let title = fit(&format!("{}{title}", words.title(Pane::Conversation)), usize::from(area.width).saturating_sub(6));
    let mut frame_block = block(title, focus, &theme);
    let inner = frame_block.inner(area);
    let width = usize::from(inner.width).saturating_sub(MARK + 1);
    if app.turns().is_empty() {
        frame.render_widget(frame_block, area);
        frame.render_widget(Paragraph::new(guide::lines(app, screen, width)), inner);
        return;
    }
    let selected = screen.turn_index(app);
    let fresh = running_lines(app, screen, width, now);
    keep_settled(app, screen, width);
    let blocks: Vec<Cow<'_, [Line<'static>]>> = app
        .turns()
        .iter()
        .map(|turn| match (&fresh, screen.settled.get(&turn.key)) {
            (Some((key, lines)), _) if *key == turn.key => Cow::Borrowed(lines.as_slice()),
            (_, Some(settled)) => Cow::Borrowed(settled.lines.as_slice()),
            _ => Cow::Owned(turn_lines(app, turn, (&theme, &screen.keymap, words), width)),
        })
        .collect();
    let total = blocks.iter().map(|lines| lines.len()).sum();
    let mut view = screen.conversation.view(total, usize::from(inner.height));
    if std::mem::take(&mut screen.reveal_turn) {
        let start: usize = blocks.iter().take(selected.unwrap_or(0)).map(|lines| lines.len()).sum();
        let length = selected.and_then(|at| blocks.get(at)).map_or(0, |lines| lines.len());
        screen.conversation.reveal(start..start + length);
        view = screen.conversation.view(total, usize::from(inner.height));
    }
    if let Some(find) = screen.find.as_mut().filter(|_| focus == Focus::Here) {
        let lines = blocks.iter().flat_map(|lines| lines.iter()).enumerate();
        let matches: Vec<usize> = lines.filter(|(_, line)| find.is_in(&line.to_string())).map(|(at, _)| at).collect();
        let place = find.line.unwrap_or(view.start);
        if let Some(line) = find.step(&matches, place) {
            find.line = Some(line);
            screen.conversation.follow = false;
            screen.conversation.reveal(line..line + 1);
            view = screen.conversation.view(total, usize::from(inner.height));
        }
    }
    let all = blocks.iter().enumerate().flat_map(|(turn, lines)| lines.iter().map(move |line| (turn, line)));
    let several = app.turns().len() > 1;
    let owners = all.clone().map(|(turn, _)| Some(turn));
    screen.targets.rows(Pane::Conversation, inner, owners.skip(view.start));
    let seen: Vec<Line<'static>> = all
        .skip(view.start)
        .take(view.len())
        .map(|(turn, line)| {
            let mark = if several && Some(turn) == selected { "▌ " } else { "  " };
            let lead = std::iter::once(Span::styled(mark, theme.accent));
            let mut drawn = lead.chain(line.spans.iter().cloned()).collect::<Line<'static>>().style(line.style);
            if let Some(find) = screen.find.as_ref().filter(|_| focus == Focus::Here) {
                find.mark(&mut drawn);
            }
            drawn
        })
        .collect();
    let below = match (screen.conversation.below(), app.is_busy()) {
        (0, _) => String::new(),
        (below, true) => words.new_text_below(below),
        (below, false) => words.lines_below(below),
    };
    frame_block = frame_block.title_bottom(Line::styled(below, theme.accent).right_aligned());
    frame.render_widget(frame_block, area);
    frame.render_widget(Paragraph::new(seen), inner);
}

/// The running turn's lines with its key.
fn running_lines(
    app: &App,
    screen: &ScreenState,
    width: usize,
    now: OffsetDateTime,
) -> Option<(crate::app::TurnKey, Vec<Line<'static>>)> {
    let turn = app.turn(app.phase().turn()?)?;
    let (theme, words) = (&screen.theme, screen.words);
    let answered = matches!(app.phase(), Phase::Explaining(_));
    let mut lines = if answered {
        turn_lines(app, turn, (theme, &screen.keymap, words), width)
    } else {
        question_lines(turn, (theme, words), width)
    };
    if !answered {
        lines.extend(answer_lines(turn, (theme, words), width));
    }
    while lines.last().is_some_and(|line| line.width() == 0) {
        lines.pop();
    }
    lines.push(Line::default());
    if let Some(stage) = stage(app, screen, now) {
        lines.extend(wrap(&[Span::styled(stage, theme.accent)], width, &Indent::default()));
    }
    Some((turn.key, lines))
}

fn keep_settled(app: &App, screen: &mut ScreenState, width: usize) {
    for turn in app.turns() {
        let suggestions = Suggested::of(app, turn);
        let timings = turn.record.trace.timings_ms;
        let running = app.phase().turn() == Some(turn.key);
        let known = screen.settled.get(&turn.key);
        let valid = known.is_some_and(|known| {
            let same = known.timings == timings && known.feedback == turn.record.feedback;
            known.width == width && known.suggestions == suggestions && same
        });
        if running {
            screen.settled.remove(&turn.key);
        } else if !valid {
            let lines = turn_lines(app, turn, (&screen.theme, &screen.keymap, screen.words), width);
            let feedback = turn.record.feedback.clone();
            screen.settled.insert(turn.key, Settled { width, timings, feedback, suggestions, lines });
        }
    }
}

/// A turn that no longer runs.
fn turn_lines(app: &App, turn: &Turn, look: (&Theme, &Keymap, Words), width: usize) -> Vec<Line<'static>> {
    let (theme, _, words) = look;
    let mut lines = question_lines(turn, (theme, words), width);
    lines.extend(answer_lines(turn, (theme, words), width));
    if lines.last().is_some_and(|line| line.width() > 0) {
        lines.push(Line::default());
    }
    lines.extend(outcome_lines(turn, (theme, words), width));
    if let Some(feedback) = &turn.record.feedback {
        let said = Span::styled(words.rated(&words.feedback(feedback)), theme.dim);
        lines.extend(wrap(&[said], width, &Indent::default()));
    }
    lines.extend(suggestion_lines(Suggested::of(app, turn), turn, look, width));
    lines.push(Line::default());
    lines
}

/// Questions to go on with, each with its key.
fn suggestion_lines(
    suggested: Suggested,
    turn: &Turn,
    (theme, keymap, words): (&Theme, &Keymap, Words),
    width: usize,
) -> Vec<Line<'static>> {
    match suggested {
        Suggested::Hidden => Vec::new(),
        Suggested::Wanted => vec![Line::default(), Line::styled(words.looking_for_suggestions(), theme.dim)],
        Suggested::Shown(_) => {
            let actions = [Action::AskFirst, Action::AskSecond, Action::AskThird];
            let mut lines = vec![Line::default(), Line::styled(words.go_on_with(), theme.dim)];
            for (action, question) in actions.into_iter().zip(&turn.record.trace.suggestions) {
                let key = keymap.key(action, Place::Composer).unwrap_or_default();
                let lead = format!("{key}  ");
                let rest = " ".repeat(crate::tui::text::width(&lead));
                let indent = Indent { first: Span::styled(lead, theme.accent), rest: Span::raw(rest) };
                lines.extend(wrap(&[one_line(question, theme.text)], width, &indent));
            }
            lines
        }
    }
}

fn question_lines(turn: &Turn, (theme, words): (&Theme, Words), width: usize) -> Vec<Line<'static>> {
    let record = &turn.record;
    let indent = Indent { first: Span::styled("? ", theme.accent), rest: Span::raw("  ") };
    let mut lines = paragraphs(&record.question, theme.strong, width, &indent);
    // Only the first line of a question carries its mark.
    for line in lines.iter_mut().skip(1) {
        if let Some(lead) = line.spans.first_mut() {
            *lead = Span::raw("  ");
        }
    }
    if record.completed_question.trim() != record.question.trim() {
        let indent = Indent { first: Span::styled(words.understood_as(), theme.dim), rest: Span::raw("  ") };
        lines.extend(wrap(&[one_line(&record.completed_question, theme.dim)], width, &indent));
    }
    if let Some(again) = asked_again(turn, words) {
        let indent = Indent { first: Span::styled(words.asks(), theme.dim), rest: Span::raw("  ") };
        lines.extend(wrap(&[Span::styled(again, theme.dim)], width, &indent));
    }
    lines.push(Line::default());
    lines
}

fn answer_lines(turn: &Turn, (theme, words): (&Theme, Words), width: usize) -> Vec<Line<'static>> {
    let answer = turn.answer();
    let hits = turn.hits().len();
    let holds = |number: usize| match answer {
        Some(answer) if turn.is_answered() => !answer.invalid_citations.contains(&number),
        _ => (1..=hits).contains(&number),
    };
    let mut lines = Vec::new();
    if answer.is_some_and(|answer| !answer.answered) {
        lines.push(Line::styled(words.out_of_scope(), theme.warn));
    }
    lines.extend(render(turn.text(), &Look { theme, width, holds: &holds }));
    let invalid = answer.map_or(&[][..], |answer| &answer.invalid_citations);
    if !invalid.is_empty() {
        lines.push(Line::default());
        let text = words.made_up(invalid);
        lines.extend(wrap(&[Span::styled(text, theme.warn)], width, &Indent::default()));
    }
    lines
}

/// How the turn ended, in a line.
fn outcome_lines(turn: &Turn, (theme, words): (&Theme, Words), width: usize) -> Vec<Line<'static>> {
    let record = &turn.record;
    let indent = Indent::default();
    match &record.outcome {
        Outcome::Answered => {
            let prompt = turn.answer().map(|answer| answer.prompt.sources().len()).unwrap_or_default();
            let tokens = turn.answer().map_or(0, |answer| answer.completion.prompt_tokens);
            let explained = if record.trace.attribution.is_some() { words.and_explained() } else { "" };
            let total = words.duration(record.trace.timings_ms.total);
            let (sources, tokens) = (words.counted(prompt, Noun::Source), words.thousands(tokens));
            let text = words.answered(&sources, &tokens, &total) + explained;
            let mut lines = wrap(&[Span::styled(text, theme.dim)], width, &indent);
            let meter = meter::after(turn, words).map(|meter| wrap(&[Span::styled(meter, theme.dim)], width, &indent));
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

/// What the running turn is doing, and for how long.
pub(in crate::tui) fn stage(app: &App, screen: &ScreenState, now: OffsetDateTime) -> Option<String> {
    let turn = app.turn(app.phase().turn()?)?;
    let words = screen.words;
    let doing = if app.is_canceling() {
        words.stopping().to_owned()
    } else if let Some(loading) = app.engine().loading.as_ref().filter(|_| turn.streamed.is_empty()) {
        words.loading_first(&clean_line(loading))
    } else {
        match app.phase() {
            Phase::Idle => return None,
            Phase::Rewriting(_) => words.rewriting().to_owned(),
            Phase::Retrieving(_) => words.searching_for(&clean_line(&turn.record.completed_question)),
            Phase::Answering(_) => answering(turn, words),
            Phase::Explaining(_) => explaining(turn, words),
        }
    };
    let seconds = (now - screen.stage.1).whole_seconds().max(0);
    Some(format!("{doing}  {seconds} s"))
}

fn answering(turn: &Turn, words: Words) -> String {
    if !turn.streamed.is_empty() {
        return words.writing().to_owned();
    }
    let Some(size) = &turn.prompt else { return words.building_prompt().to_owned() };
    let read = turn.reading.filter(|reading| reading.total > 0);
    let percent = read.map_or_else(String::new, |reading| format!(" {} %", reading.done * 100 / reading.total));
    let (sources, tokens) = (words.counted(size.sources, Noun::Source), words.counted(size.tokens, Noun::Token));
    words.reading_prompt(&sources, &tokens, &percent)
}

fn explaining(turn: &Turn, words: Words) -> String {
    match turn.explaining.as_ref().filter(|explaining| explaining.total > 0) {
        Some(explaining) => words.explaining(explaining.done, &words.counted(explaining.total, Noun::Cluster)),
        None => words.grouping_sources().to_owned(),
    }
}
