//! Draws domains, the conversations of the open domain, and its trash.
//!
//! Invariant: the cost of a frame depends on the visible lines, not on the length of the history.
//! Not here: the entry under the cursor (`lists`).

use std::ops::Range;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::action::{Action, Place};
use crate::chrome::reading;
use crate::look::Look;
use crate::messages::{Noun, Words};
use crate::outline::Scroll;
use crate::pane::{Focus, Pane, Parts, block, say, say_below};
use crate::screen::ScreenState;
use crate::text::{Indent, fit, one_line, pad, paragraphs, width, wrap};
use ragonite_app::{Answering, App, DomainHealth, DomainSummary, FoundConversations};
use ragonite_base::clean_line;
use ragonite_history::{ConversationRecord, Found, MOST_FOUND};

/// Cells of the turns of a branch, at most: ` · 1–1000`.
const TURNS: usize = 9;

pub(crate) fn draw(app: &App, screen: &mut ScreenState, area: Rect, frame: &mut Frame<'_>) {
    let (theme, words) = (screen.theme, screen.words);
    let focus = Focus::of(screen, Pane::Lists);
    let frame_block = block(words.domains_and_conversations(), focus, &theme);
    let inner = frame_block.inner(area);
    frame.render_widget(frame_block, area);
    let Some(domains) = app.domains() else {
        return say(words.looking_for_domains(), frame, inner, &theme);
    };
    if domains.is_empty() {
        let key = screen.keymap.key(Action::NewDomain, Place::Panes).unwrap_or_default();
        let text = match app.ingesting() {
            Some(running) => words.no_domain_listed(&reading(running, words)),
            None => words.make_a_domain(&key),
        };
        return say(&text, frame, inner, &theme);
    }
    let look = ListLook {
        look: Look { theme: &theme, words, width: usize::from(inner.width.saturating_sub(1)) },
        height: usize::from(inner.height),
        selected: screen.lists.selected,
        focus,
    };
    let mut parts = Parts::new();
    parts.push(None, Line::styled(words.domains(), theme.dim));
    let cursor_line = domain_lines(app, domains, &look, &mut parts);
    parts.push(None, Line::default());
    let scroll = &mut screen.lists.scroll;
    let seen = match app.found() {
        Some(found) => found_lines(app, found, &look, cursor_line, scroll, &mut parts),
        None => conversation_lines(app, &look, cursor_line, scroll, &mut parts),
    };
    draw_seen(parts, seen, screen, area, inner, frame);
}

/// Lines of the list, each with the index of its entry; headings have none.
type ListParts = Parts<Option<usize>>;

/// Appends the conversations and the trash. Returns the lines in view; the other lines are empty, because a history of
/// many years must cost no more than the lines in view.
fn conversation_lines(
    app: &App,
    look: &ListLook<'_>,
    mut cursor_line: usize,
    scroll: &mut Scroll,
    parts: &mut ListParts,
) -> Range<usize> {
    let Look { theme, words, .. } = look.look;
    let domains = app.domains().map_or(0, <[_]>::len);
    parts.push(None, Line::styled(words.conversations(), theme.dim));
    let unlisted = app.unlisted().count();
    if app.conversations().is_empty() && unlisted == 0 {
        parts.push(None, Line::styled(words.none_yet(), theme.dim));
    }
    let before = domains + unlisted + app.conversations().len();
    // Each entry has one line, so the line of the cursor is known before the entries are drawn.
    if let Some(at) = look.selected.checked_sub(domains) {
        let between = if at < unlisted + app.conversations().len() { 0 } else { 2 };
        cursor_line = parts.lines.len() + at + between;
    }
    let trash = if app.trash().is_empty() { 0 } else { 2 + app.trash().len() };
    let total = parts.lines.len() + unlisted + app.conversations().len() + trash;
    let seen = scroll.view_around(total, look.height, cursor_line);
    let push = |at: usize, line: &mut dyn FnMut() -> Line<'static>, parts: &mut ListParts| {
        let line = if seen.contains(&parts.lines.len()) { line() } else { Line::default() };
        parts.push(Some(at), line);
    };
    for (at, left) in (domains..).zip(app.unlisted()) {
        let about = if left.answering == Answering::Now { words.runs(app.phase()) } else { words.not_stored_yet() };
        push(at, &mut || look.line(at, None, &clean_line(left.question), about), parts);
    }
    for (at, conversation) in (domains + unlisted..).zip(app.conversations()) {
        let mut line = || {
            let open = app.conversation().is_some_and(|open| open.id == conversation.id);
            let about = about_conversation(app, conversation, words);
            look.line(at, open.then_some('●'), &clean_line(&conversation.title), &about)
        };
        push(at, &mut line, parts);
    }
    if !app.trash().is_empty() {
        parts.push(None, Line::default());
        parts.push(None, Line::styled(words.trash(), theme.dim));
    }
    for (at, trashed) in (before..).zip(app.trash()) {
        let mut line = || {
            let about = trashed.deleted_at.map(|at| words.day(at)).unwrap_or_default();
            look.line(at, None, &clean_line(&trashed.title), &about)
        };
        push(at, &mut line, parts);
    }
    seen
}

/// The text beside the title of a conversation.
fn about_conversation(app: &App, conversation: &ConversationRecord, words: Words) -> String {
    if app.is_answering(conversation.id) {
        return words.runs(app.phase()).to_owned();
    }
    if conversation.pinned { words.pinned().to_owned() } else { words.day(conversation.changed_at) }
}

/// Appends the domains, the selected one with its details, and the ingest that runs. Returns the line of the cursor, or 0
/// where it is on no domain.
fn domain_lines(app: &App, domains: &[DomainSummary], look: &ListLook<'_>, parts: &mut ListParts) -> usize {
    let Look { theme, words, width: columns } = look.look;
    let names = domains.iter().map(|domain| width(domain.name.as_str()));
    let room = columns.saturating_sub(names.max().unwrap_or(0) + 4);
    let mut cursor_line = 0;
    for (at, domain) in domains.iter().enumerate() {
        if at == look.selected {
            cursor_line = parts.lines.len();
        }
        let open = app.domain().is_some_and(|open| open.name == domain.name);
        let opening = app.opening_domain() == Some(&domain.name);
        let about = if opening { words.opening_short().to_owned() } else { about(app, domain, room, words) };
        let is_whole = about.starts_with(&size_of(domain, words));
        parts.push(Some(at), look.line(at, open.then_some('●'), domain.name.as_str(), &about));
        if let Some(problem) = domain.problem.as_ref().filter(|_| look.has_cursor(at)) {
            let indent = Indent { first: Span::styled(" ! ", theme.warn), rest: Span::raw("   ") };
            parts.extend(None, wrap(&[one_line(&problem.to_string(), theme.warn)], columns, &indent));
            cursor_line = parts.lines.len() - 1;
        } else if look.has_cursor(at) && !is_whole {
            parts.extend(None, paragraphs(&details(domain, words), theme.dim, columns, &Indent::of(3)));
            cursor_line = parts.lines.len() - 1;
        }
    }
    if let Some(running) = app.ingesting() {
        parts.extend(None, wrap(&[one_line(&reading(running, words), theme.accent)], columns, &Indent::of(1)));
    }
    cursor_line
}

/// Draws the lines in view and says how many lines are below them.
fn draw_seen(
    parts: ListParts,
    seen: Range<usize>,
    screen: &mut ScreenState,
    area: Rect,
    inner: Rect,
    frame: &mut Frame<'_>,
) {
    screen.targets.rows(Pane::Lists, inner, parts.owners.into_iter().skip(seen.start));
    let below = parts.lines.len().saturating_sub(seen.end);
    let seen: Vec<Line<'static>> = parts.lines.into_iter().skip(seen.start).take(seen.len()).collect();
    frame.render_widget(Paragraph::new(seen), inner);
    say_below(below, screen, Pane::Lists, area, frame);
}

/// The domain name takes at most one part in this many of the line.
const MOST_OF_DOMAIN: usize = 3;

/// Most matching turns that are shown.
const MOST_TURNS: usize = 8;

/// Appends the conversations that were found, the selected one with the turns that match. Returns the lines in view.
/// `cursor_line` holds while the cursor is above the found conversations.
fn found_lines(
    app: &App,
    found: &FoundConversations,
    look: &ListLook<'_>,
    cursor_line: usize,
    scroll: &mut Scroll,
    parts: &mut ListParts,
) -> Range<usize> {
    let Look { theme, words, width: columns } = look.look;
    let before = app.domains().map_or(0, <[_]>::len);
    let title = words.conversations_with(&clean_line(&found.text));
    parts.push(None, Line::styled(fit(&title, columns), theme.dim));
    if found.found.is_empty() {
        parts.push(None, Line::styled(words.none_has_all_words(), theme.dim));
    }
    let here = look.selected.checked_sub(before).and_then(|at| Some((at, found.found.get(at)?)));
    let places = here.map(|(_, one)| places(one, &look.look)).unwrap_or_default();
    // Each conversation but the selected one has one line, so the line of the cursor is known before drawing.
    let cursor_line = here.map_or(cursor_line, |(at, _)| parts.lines.len() + at + places.len());
    let is_cut = found.found.len() >= MOST_FOUND;
    let total = parts.lines.len() + found.found.len() + places.len() + usize::from(is_cut);
    let seen = scroll.view_around(total, look.height, cursor_line);
    for (at, one) in (before..).zip(&found.found) {
        let line = if seen.contains(&parts.lines.len()) {
            let about = about_found(app, &one.conversation, &look.look);
            let open = app.conversation().is_some_and(|open| open.id == one.conversation.id);
            look.line(at, open.then_some('●'), &clean_line(&one.conversation.title), &about)
        } else {
            Line::default()
        };
        parts.push(Some(at), line);
        if at == look.selected {
            parts.extend(None, places.iter().cloned());
        }
    }
    if is_cut {
        parts.push(None, Line::styled(fit(&words.only_the_latest(MOST_FOUND), columns), theme.dim));
    }
    seen
}

/// The text beside the title of a found conversation, with the domain where it is not the open one.
fn about_found(app: &App, conversation: &ConversationRecord, look: &Look<'_>) -> String {
    let words = look.words;
    let trashed = conversation.deleted_at.is_some();
    let about = if trashed { words.in_the_trash().to_owned() } else { about_conversation(app, conversation, words) };
    if app.domain().is_some_and(|open| open.name == conversation.domain) {
        return about;
    }
    format!("{} · {about}", fit(conversation.domain.as_str(), look.width / MOST_OF_DOMAIN))
}

/// The matching turns of a found conversation.
fn places(one: &Found, look: &Look<'_>) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for turn in one.turns.iter().take(MOST_TURNS) {
        let text = format!("{}: {}", turn.number, clean_line(&turn.snippet));
        lines.extend(paragraphs(&text, look.theme.dim, look.width, &Indent::of(3)));
    }
    let more = one.turns.len().saturating_sub(MOST_TURNS);
    if more > 0 {
        lines.extend(paragraphs(&look.words.in_more_turns(more), look.theme.dim, look.width, &Indent::of(3)));
    }
    lines
}

/// Health of a domain in a word or two.
fn health(domain: &DomainSummary, words: Words) -> &'static str {
    match (domain.health, &domain.problem) {
        (DomainHealth::OtherEmbedder, _) => words.other_embedder(),
        (DomainHealth::Damaged, _) => words.damaged(),
        (_, Some(_)) => words.cannot_be_opened(),
        (DomainHealth::NeedsIngest, None) => words.needs_ingest(),
        (DomainHealth::Ready, None) => words.ready(),
    }
}

/// `15 documents · 412 evidences`.
fn size_of(domain: &DomainSummary, words: Words) -> String {
    let documents = words.counted(domain.documents, Noun::Document);
    format!("{documents} · {}", words.counted(domain.evidences, Noun::Evidence))
}

/// The text beside a domain: size, last ingest and health, as far as they fit.
fn about(app: &App, domain: &DomainSummary, room: usize, words: Words) -> String {
    let health = health(domain, words);
    if app.ingesting().is_some_and(|running| running.domain == domain.name) {
        return words.being_read().to_owned();
    }
    let documents = words.counted(domain.documents, Noun::Document);
    let short = if domain.health == DomainHealth::Ready && domain.problem.is_none() {
        documents.clone()
    } else {
        health.to_owned()
    };
    if domain.problem.is_some() {
        return short;
    }
    let last = words.date(&domain.ingested_at).map(|day| format!(" · {day}")).unwrap_or_default();
    let wider = [size_of(domain, words), documents].map(|size| format!("{size}{last} · {health}"));
    wider.into_iter().find(|text| width(text) <= room).unwrap_or(short)
}

/// Size, last ingest and health of the domain under the cursor.
fn details(domain: &DomainSummary, words: Words) -> String {
    let last = words.date(&domain.ingested_at);
    let last = last.map_or_else(|| words.never_read().to_owned(), |day| words.last_read(&day));
    format!("{} · {last} · {}", size_of(domain, words), health(domain, words).trim_start_matches("! "))
}

struct ListLook<'a> {
    look: Look<'a>,
    /// Lines of the pane.
    height: usize,
    /// Index of the selected entry.
    selected: usize,
    focus: Focus,
}

impl ListLook<'_> {
    fn has_cursor(&self, at: usize) -> bool {
        self.focus == Focus::Here && self.selected == at
    }

    /// `› ● name        15 documents`: `›` is the cursor, `●` marks the open domain or conversation.
    fn line(&self, at: usize, open: Option<char>, name: &str, about: &str) -> Line<'static> {
        let theme = self.look.theme;
        let here = self.has_cursor(at);
        let mark = format!("{}{} ", if here { "›" } else { " " }, open.unwrap_or(' '));
        let room = self.look.width.saturating_sub(width(&mark) + width(about) + 1);
        let style = if here { theme.selected } else { theme.text };
        Line::from(vec![
            Span::styled(mark, theme.accent),
            Span::styled(pad(&title_in(name, room), room), style),
            Span::raw(" "),
            Span::styled(about.to_owned(), theme.dim),
        ])
    }
}

/// A title in `room` cells; the turn range of a branch is not cut.
fn title_in(title: &str, room: usize) -> String {
    let turns = title.rfind(" · ").map(|at| &title[at..]).filter(|turns| width(turns) <= TURNS && width(turns) < room);
    match turns {
        Some(turns) => format!("{}{turns}", fit(&title[..title.len() - turns.len()], room - width(turns))),
        None => fit(title, room),
    }
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::*;
    use crate::theme::Theme;
    use ragonite_base::ConversationId;
    use ragonite_history::FoundTurn;

    #[test]
    fn the_turns_of_a_branch_are_seen_however_long_its_title() {
        assert_eq!(title_in("Who attended the call? · 1–3", 28), "Who attended the call? · 1–3");
        assert_eq!(title_in("Who attended the call? · 1–3", 16), "Who atten… · 1–3");
        assert_eq!(title_in("Who attended the call? · 1", 16), "Who attende… · 1");
        assert_eq!(title_in("Who attended the call · of May 2015?", 12), "Who attende…");
        assert_eq!(title_in("Who attended the call? · 1–3", 5), "Who …");
    }

    fn found(id: i64) -> Found {
        let conversation = ConversationRecord {
            id: ConversationId(id),
            domain: "wiki".parse().unwrap(),
            title: format!("Conversation {id}"),
            started_at: OffsetDateTime::UNIX_EPOCH,
            changed_at: OffsetDateTime::UNIX_EPOCH,
            turns: 1,
            pinned: false,
            deleted_at: None,
        };
        let turns = (1..=20).map(|number| FoundTurn { number, snippet: "an ox".into() }).collect();
        Found { conversation, turns }
    }

    #[test]
    fn of_what_was_found_only_what_is_seen_is_drawn() {
        let all = (0..i64::try_from(MOST_FOUND).unwrap()).map(found).collect();
        let all = FoundConversations { text: "ox".into(), found: all };
        let theme = Theme::plain();
        let look = Look { theme: &theme, words: Words::default(), width: 40 };
        let look = ListLook { look, height: 20, selected: 150, focus: Focus::Here };
        let mut parts = Parts::new();
        let seen = found_lines(&App::default(), &all, &look, 0, &mut Scroll::default(), &mut parts);
        let lines = parts.lines;
        let text = |at: usize| lines[at].to_string();
        assert!(text(151).contains("Conversation 150"), "{}", text(151));
        assert!(text(seen.end - 1).contains("12 more turns"), "{}", text(seen.end - 1));
        assert!(lines.iter().filter(|line| line.width() > 0).count() < 30);
        assert!(lines.last().unwrap().to_string().contains("the latest 200"));
    }
}
