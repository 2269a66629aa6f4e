//! The menu of comparisons, and two turns side by side, drawn over the panes.
//!
//! Invariants: text of one answer only stands in `[-…-]` or `{+…+}`, and words say how a source moved; below [`TWO`]
//! cells the turns stand one below the other.
//! Not here: keys (`compare`), the diff (`attribution`).

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::{Choice, CompareMenu, Comparison};
use crate::difference::sides;
use crate::evidence::origin;
use crate::long_text::Flowing;
use crate::look::Look;
use crate::markdown::flat;
use crate::messages::Words;
use crate::mouse::Targets;
use crate::pane::{Focus, block};
use crate::popup::{FOOTER, SearchRoom, draw_search, middle, room_for_search};
use crate::text::{Indent, fit, one_line, pad, paragraphs, width, wrap};
use crate::theme::Theme;
use ragonite_app::{App, Turn};
use ragonite_base::clean_line;
use ragonite_config::{Setting, SettingChange};
use ragonite_history::{OtherSetting, Outcome, TurnSettings};
use ragonite_rag::retrieval::{Hit, Override, OverrideKind};

/// From this width on the two turns stand side by side.
const TWO: usize = 96;
/// Largest width of the comparison.
const WIDEST: u16 = 200;
/// Largest width of the menu.
const MENU: usize = 90;
/// Separator of the columns.
const BETWEEN: &str = " │ ";
/// Cells of the column that says how a source moved.
const MOVED: usize = 11;

pub(crate) fn draw_menu(
    app: &App,
    menu: &mut CompareMenu,
    look: &Look<'_>,
    targets: &mut Targets,
    area: Rect,
    frame: &mut Frame<'_>,
) {
    let Look { theme, words, .. } = *look;
    let choices = menu.choices(app);
    menu.selected = menu.selected.min(choices.len().saturating_sub(1));
    let room = usize::from(area.width).saturating_sub(6).min(MENU);
    let rows = menu_rows(app, menu, &choices, &Look { width: room, ..*look });
    let above = Rect { height: area.height.saturating_sub(FOOTER), ..area };
    let at = middle(above, room + 4, rows.len() + 2);
    let number = app.turn(menu.turn).map_or(0, |turn| turn.record.number);
    let mut frame_block = block(words.compare_turn(number), Focus::Here, theme);
    let inner = frame_block.inner(at);
    let cursor = rows.iter().position(|(choice, _)| *choice == Some(menu.selected)).unwrap_or(0);
    menu.scroll.view(rows.len(), usize::from(inner.height));
    // The heading is visible with the first choice.
    menu.scroll.reveal(if cursor <= 1 { 0..cursor + 1 } else { cursor..cursor + 1 });
    let seen = menu.scroll.view(rows.len(), usize::from(inner.height));
    if menu.scroll.below() > 0 {
        let more = words.more_below(menu.scroll.below());
        frame_block = frame_block.title_bottom(Line::from(more).right_aligned());
    }
    let rows = rows.into_iter().skip(seen.start).take(seen.len());
    let (owners, lines): (Vec<Option<usize>>, Vec<Line<'static>>) = rows.unzip();
    targets.popup(inner, owners);
    frame.render_widget(Clear, at);
    frame.render_widget(frame_block, at);
    frame.render_widget(Paragraph::new(lines), inner);
}

/// Lines of the menu, each with the index of its choice.
fn menu_rows(
    app: &App,
    menu: &CompareMenu,
    choices: &[Choice],
    look: &Look<'_>,
) -> Vec<(Option<usize>, Line<'static>)> {
    let Look { theme, words, width: room } = *look;
    let mut rows = Vec::new();
    let mut heading = None;
    for (at, choice) in choices.iter().enumerate() {
        let over = if matches!(choice, Choice::With(_)) { words.beside_another() } else { words.ask_it_again() };
        if heading.replace(over) != Some(over) {
            if !rows.is_empty() {
                rows.push((None, Line::default()));
            }
            rows.push((None, Line::styled(format!(" {over}"), theme.dim)));
        }
        let here = at == menu.selected;
        let key = if at < 9 { format!("{} ", at + 1) } else { "  ".to_owned() };
        let says = fit(&choice_says(app, menu, choice, words), room.saturating_sub(4));
        rows.push((
            Some(at),
            Line::from(vec![
                Span::styled(if here { "› " } else { "  " }, theme.accent),
                Span::styled(key, theme.accent),
                Span::styled(says, if here { theme.selected } else { theme.text }),
            ]),
        ));
    }
    if rows.is_empty() {
        rows.push((None, Line::styled(format!(" {}", words.no_answer_to_compare()), theme.dim)));
    }
    rows
}

fn choice_says(app: &App, menu: &CompareMenu, choice: &Choice, words: Words) -> String {
    match choice {
        Choice::Pick(rank, Override { how: OverrideKind::First, name, .. }) => words.with_first(*rank, name),
        Choice::Pick(rank, Override { how: OverrideKind::LeftOut, name, copies, .. }) => match copies.len() {
            0 => words.without_source(*rank, name),
            count => words.without_source_and_copies(*rank, count, name),
        },
        Choice::Pick(rank, Override { how: OverrideKind::PageLeftOut, name, .. }) => words.without_page_of(*rank, name),
        Choice::WithoutMatch => words.without_match().to_owned(),
        Choice::OtherSettings => words.with_other_settings().to_owned(),
        Choice::SettingsNow => {
            let before = app.turn(menu.turn).and_then(|turn| app.settings_of(turn));
            let now = app.turn_settings();
            let others = before.map(|before| other_settings(&before, &now, words)).unwrap_or_default();
            words.with_settings_now(&others.join(", "))
        }
        Choice::With(key) => app.turn(*key).map_or_else(String::new, |turn| {
            let (number, question) = (turn.record.number, clean_line(&turn.record.question));
            match asked_again(turn, words) {
                Some(again) => words.turn_asks(number, &again),
                None => words.turn_of(number, &question),
            }
        }),
    }
}

fn other_settings(before: &TurnSettings, now: &TurnSettings, words: Words) -> Vec<String> {
    let differing = Setting::differing(before, now);
    let line = |SettingChange { setting, from, to }| clean_line(&format!("{} {from} → {to}", words.label(setting)));
    differing.map(line).collect()
}

/// An override in words.
fn override_text(pick: &Override, words: Words) -> String {
    words.picked(pick.how, &clean_line(&pick.name))
}

/// The original and the changes of a variant.
pub(crate) fn asked_again(turn: &Turn, words: Words) -> Option<String> {
    let variant = turn.variant()?;
    let label = |other: &OtherSetting| {
        let known = Setting::of_key(&other.key);
        let label = known.map_or_else(|| clean_line(&other.key), |known| words.label(known).to_owned());
        clean_line(&format!("{label} {} → {}", other.from, other.to))
    };
    let picks = variant.picks.iter().map(|pick| override_text(pick, words));
    let other: Vec<String> = variant.settings.iter().map(label).chain(picks).collect();
    let other = if other.is_empty() { words.nothing_changed().to_owned() } else { other.join(", ") };
    Some(words.turn_again(variant.of, &other))
}

/// `running` is the stage of the turn that runs.
pub(crate) fn draw_comparison(
    app: &App,
    view: &mut Comparison,
    running: Option<String>,
    look: &Look<'_>,
    area: Rect,
    frame: &mut Frame<'_>,
) {
    let Look { theme, words, .. } = *look;
    let above = Rect { height: area.height.saturating_sub(FOOTER), ..area };
    let at = middle(above, usize::from(area.width.min(WIDEST)), usize::from(above.height));
    let room = usize::from(at.width).saturating_sub(4).max(8);
    let turns = view.turns(app);
    let title = turns.map_or_else(
        || words.compare().to_owned(),
        |(left, right)| words.two_turns(left.record.number, right.record.number),
    );
    let lines = match (&view.kept, turns) {
        (Some((width, lines)), _) if *width == room => lines.clone(),
        (_, Some((left, right))) => {
            let grows = view.grows(app);
            let layout = Layout { look: Look { width: room, ..*look } };
            let lines = layout.comparison(app, left, right, running.filter(|_| grows));
            view.kept = (!grows).then(|| (room, lines.clone()));
            lines
        }
        (_, None) => paragraphs(words.turns_left(), theme.dim, room, &Indent::of(1)),
    };
    let mut frame_block = block(title, Focus::Here, theme);
    let inner = frame_block.inner(at);
    let SearchRoom { body, line: typed } = room_for_search(inner, view.text.typed.as_ref());
    let flowing = if room < TWO { Flowing::OneText } else { Flowing::LineByLine };
    let seen = view.text.seen(lines, usize::from(body.height), flowing).into_iter().map(|mut line| {
        line.spans.insert(0, Span::raw(" "));
        line
    });
    let seen: Vec<Line<'static>> = seen.collect();
    if view.text.scroll.below() > 0 {
        let more = words.more_below(view.text.scroll.below());
        frame_block = frame_block.title_bottom(Line::from(more).right_aligned());
    }
    frame.render_widget(Clear, at);
    frame.render_widget(frame_block, at);
    frame.render_widget(Paragraph::new(seen), body);
    if let Some(line) = &mut view.text.typed {
        draw_search(line, typed, theme, frame);
    }
}

/// Two turns as a text to copy, one below the other.
pub(crate) fn text(app: &App, left: &Turn, right: &Turn, theme: &Theme, words: Words) -> String {
    let layout = Layout { look: Look { theme, words, width: TWO - 1 } };
    let lines =
        layout.comparison(app, left, right, None).into_iter().map(|line| line.to_string().trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// Layout of a comparison.
struct Layout<'a> {
    look: Look<'a>,
}

/// A turn, the other turn, and the side.
#[derive(Clone, Copy)]
enum Side<'a> {
    Left(&'a Turn, &'a Turn),
    Right(&'a Turn, &'a Turn),
}

impl<'a> Side<'a> {
    fn turn(self) -> &'a Turn {
        match self {
            Self::Left(turn, _) | Self::Right(turn, _) => turn,
        }
    }
}

impl Layout<'_> {
    /// Width of a column.
    fn column(&self) -> usize {
        if self.look.width < TWO { self.look.width } else { (self.look.width - BETWEEN.chars().count()) / 2 }
    }

    fn comparison(&self, app: &App, left: &Turn, right: &Turn, running: Option<String>) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let same_question = left.record.completed_question == right.record.completed_question;
        if same_question {
            let indent = Indent { first: Span::styled("? ", self.look.theme.accent), rest: Span::raw("  ") };
            lines.extend(wrap(
                &[one_line(&left.record.completed_question, self.look.theme.strong)],
                self.look.width,
                &indent,
            ));
        }
        lines.push(Line::styled(self.look.words.what_differs(), self.look.theme.strong));
        for difference in differences(app, left, right, self.look.words) {
            let indent = Indent { first: Span::styled("• ", self.look.theme.dim), rest: Span::raw("  ") };
            lines.extend(wrap(&[Span::styled(difference, self.look.theme.text)], self.look.width, &indent));
        }
        lines.push(Line::default());
        let is_over = right.is_answered() && left.is_answered();
        if is_over && left.text().trim() == right.text().trim() {
            lines.push(Line::styled(self.look.words.same_word_for_word(), self.look.theme.strong));
            lines.push(Line::default());
        }
        let answers = if is_over {
            sides(left.text(), right.text(), self.look.theme)
        } else {
            (flat(left.text(), self.look.theme), flat(right.text(), self.look.theme))
        };
        let (one, other) = (Side::Left(left, right), Side::Right(right, left));
        let answer = |side: Side<'_>, spans: Vec<Span<'static>>| {
            let mut lines = self.head(side.turn());
            lines.extend(wrap(&spans, self.column(), &Indent::default()));
            lines.extend(self.ending(side.turn(), running.as_deref().filter(|_| !side.turn().is_answered())));
            lines.push(Line::default());
            lines
        };
        let sources = |side: Side<'_>| {
            let mut lines =
                vec![Line::styled(self.look.words.sources_of_turn(side.turn().record.number), self.look.theme.strong)];
            lines.extend(side_rows(side, &Look { width: self.column(), ..self.look }));
            lines.push(Line::default());
            lines
        };
        lines.extend(self.beside(answer(one, answers.0), answer(other, answers.1)));
        lines.extend(self.beside(sources(one), sources(other)));
        while lines.last().is_some_and(|line| line.to_string().trim().is_empty()) {
            lines.pop();
        }
        lines
    }

    fn head(&self, turn: &Turn) -> Vec<Line<'static>> {
        let (record, words) = (&turn.record, self.look.words);
        let sources = turn.answer().map(|answer| answer.prompt.sources().len()).unwrap_or_default();
        let tokens = turn.answer().map_or(0, |answer| answer.completion.prompt_tokens);
        let mut about = words.turn_number(record.number);
        if turn.is_answered() {
            let usage = words.read_and_took(sources, tokens, record.trace.timings_ms.until_answered());
            about = format!("{about} · {usage}");
        }
        vec![Line::styled(fit(&about, self.column()), self.look.theme.strong)]
    }

    /// The outcome of a turn, or its running stage.
    fn ending(&self, turn: &Turn, running: Option<&str>) -> Vec<Line<'static>> {
        let words = self.look.words;
        let (text, style) = match (&turn.record.outcome, running) {
            (_, Some(running)) => (running.to_owned(), self.look.theme.accent),
            (Outcome::Answered, _) => match turn.answer().filter(|answer| !answer.answered) {
                Some(_) => (words.out_of_scope().to_owned(), self.look.theme.warn),
                None => return Vec::new(),
            },
            (Outcome::Canceled, _) => (words.canceled().to_owned(), self.look.theme.warn),
            (Outcome::Failed(why), _) => (format!("{}{}", words.failed(), clean_line(why)), self.look.theme.bad),
        };
        wrap(&[Span::styled(text, style)], self.column(), &Indent::default())
    }

    /// Two blocks in columns, or one below the other.
    fn beside(&self, left: Vec<Line<'static>>, right: Vec<Line<'static>>) -> Vec<Line<'static>> {
        if self.look.width < TWO {
            return left.into_iter().chain(right).collect();
        }
        let rows = left.len().max(right.len());
        let mut right = right.into_iter();
        let mut left = left.into_iter();
        let row = |_| {
            let mut line = left.next().unwrap_or_default();
            let style = line.style;
            for span in &mut line.spans {
                span.style = style.patch(span.style);
            }
            let missing = self.column().saturating_sub(line.width());
            let other = right.next().unwrap_or_default();
            line = Line::from(line.spans);
            line.push_span(Span::raw(" ".repeat(missing)));
            line.push_span(Span::styled(BETWEEN, self.look.theme.dim));
            line.spans.extend(other.spans.into_iter().map(|span| span.clone().style(other.style.patch(span.style))));
            line
        };
        (0..rows).map(row).collect()
    }
}

/// The differences of two turns, one line each.
fn differences(app: &App, left: &Turn, right: &Turn, words: Words) -> Vec<String> {
    let (one, other) = (&left.record, &right.record);
    let mut differences = Vec::new();
    let arrow = |name: &str, from: &str, to: &str| format!("{name}: {} → {}", clean_line(from), clean_line(to));
    if one.completed_question != other.completed_question {
        differences.push(arrow(words.share_question(), &one.completed_question, &other.completed_question));
    }
    match (&one.trace.settings, &other.trace.settings) {
        (Some(before), Some(now)) => differences.extend(other_settings(before, now, words)),
        (None, None) => {}
        _ => differences.push(words.one_settings_unknown().to_owned()),
    }
    let (from, to) = (&one.trace, &other.trace);
    let names = [
        (words.cost_profile(), &from.profile, &to.profile),
        (words.cost_generator(), &from.generator, &to.generator),
        (words.cost_embedder(), &from.embedder, &to.embedder),
    ];
    differences
        .extend(names.into_iter().filter(|(_, from, to)| from != to).map(|(name, from, to)| arrow(name, from, to)));
    for (turn, other) in [(left, right), (right, left)] {
        let of_one = picks(turn).iter().filter(|pick| !picks(other).contains(pick));
        differences.extend(of_one.map(|pick| words.turn_picks(turn.record.number, &override_text(pick, words))));
    }
    let (before, now) = (app.history_before(left.key), app.history_before(right.key));
    if before != now {
        differences.push(words.told_of_turns(before.len(), now.len()));
    }
    if differences.is_empty() {
        differences.push(words.nothing_differs().to_owned());
    }
    differences
}

fn picks(turn: &Turn) -> &[Override] {
    turn.variant().map_or(&[], |variant| variant.picks.as_slice())
}

/// The sources of one turn, each with its move; hits outside the prompt come last.
fn side_rows(side: Side<'_>, look: &Look<'_>) -> Vec<Line<'static>> {
    let Look { theme, words, width: columns } = *look;
    let turn = side.turn();
    if turn.hits().is_empty() {
        return vec![Line::styled(words.no_source(), theme.dim)];
    }
    let cited_cells = width(words.cited()) + 2;
    let given = turn.answer().map(|answer| answer.prompt.sources());
    let is_given = |hit: &Hit| given.as_ref().is_none_or(|given| given.contains(&hit.rank));
    let row = |hit: &Hit| {
        let cited = turn.answer().is_some_and(|answer| answer.citations.contains(&hit.rank));
        let moved = moved(side, hit);
        let style = if moved == Moved::Same { theme.dim } else { theme.strong };
        let name = fit(&origin(hit), columns.saturating_sub(3 + MOVED + cited_cells + 1));
        Line::from(vec![
            Span::styled(format!("{:>2} ", hit.rank), theme.accent),
            Span::styled(pad(&moved.label(words), MOVED), style),
            Span::styled(pad(if cited { words.cited() } else { "" }, cited_cells), theme.citation),
            Span::styled(name, theme.text),
        ])
    };
    let mut rows: Vec<Line<'static>> = turn.hits().iter().map(row).collect();
    let last = turn.hits().iter().rposition(is_given).map_or(0, |at| at + 1);
    if last < rows.len() {
        rows.insert(last, Line::styled(words.not_in_prompt(), theme.dim));
    }
    rows
}

/// How the rank of a source differs between the turns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moved {
    /// The other turn has no sources.
    Unknown,
    Same,
    Now(usize),
    LeftOut,
    Gone,
    First,
    New,
    Up(usize),
    Down(usize),
}

impl Moved {
    fn label(self, words: Words) -> String {
        match self {
            Self::Unknown => String::new(),
            Self::Same => words.place_same().to_owned(),
            Self::Now(rank) => words.place_now(rank),
            Self::LeftOut => words.place_left_out().to_owned(),
            Self::Gone => words.place_gone().to_owned(),
            Self::First => words.place_first().to_owned(),
            Self::New => words.place_new().to_owned(),
            Self::Up(by) => words.moved_up(by),
            Self::Down(by) => words.moved_down(by),
        }
    }
}

fn moved(side: Side<'_>, hit: &Hit) -> Moved {
    let same = |other: &&Hit| {
        other.evidence == hit.evidence
            || (other.url == hit.url && other.location == hit.location && other.content == hit.content)
    };
    match side {
        Side::Left(_, other) => match other.hits().iter().find(same).map(|other| other.rank) {
            Some(rank) if rank == hit.rank => Moved::Same,
            Some(rank) => Moved::Now(rank),
            None if other.hits().is_empty() => Moved::Unknown,
            None if is_left_out(other, hit) => Moved::LeftOut,
            None => Moved::Gone,
        },
        Side::Right(turn, other) => {
            let first = picks(turn).iter().any(|pick| pick.how == OverrideKind::First && pick.evidence == hit.evidence);
            match other.hits().iter().find(same).map(|other| other.rank) {
                _ if first => Moved::First,
                None => Moved::New,
                Some(rank) if rank == hit.rank => Moved::Same,
                Some(rank) if rank > hit.rank => Moved::Up(rank - hit.rank),
                Some(rank) => Moved::Down(hit.rank - rank),
            }
        }
    }
}

fn is_left_out(turn: &Turn, hit: &Hit) -> bool {
    picks(turn).iter().any(|pick| match pick.how {
        OverrideKind::First => false,
        OverrideKind::LeftOut => pick.evidence == hit.evidence || pick.copies.contains(&hit.evidence),
        OverrideKind::PageLeftOut => pick.document == hit.document,
    })
}
