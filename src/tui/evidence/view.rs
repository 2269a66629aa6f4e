//! Draws the hits of the selected turn, best first; the selected hit is open.
//!
//! Invariants: the location of a hit in its document is always shown; a table header stays while its rows scroll.
//! Not here: selection (`evidence`), the lines of a table (`table`).

use std::ops::Range;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::table::{self, InTable, TableLook};
use crate::action::{Action, Place};
use crate::look::Look;
use crate::messages::Words;
use crate::pane::{Pane, say, say_below, side_block, side_block_of};
use crate::screen::ScreenState;
use crate::text::{self, Indent, fit, fit_middle, paragraphs};
use crate::theme::Theme;
use ragonite_app::{App, Phase, Turn};
use ragonite_base::clean_line;
use ragonite_rag::prompt::{Cut, CutHow};
use ragonite_rag::retrieval::{Age, Hit, Retrieved};

/// Indent of every line of a hit but the first.
const LEAD: &str = "    ";
/// Separator of the attributes of a hit.
const BETWEEN: &str = " · ";
/// Shortest useful text, in cells.
const SHORTEST: usize = 8;

pub(crate) fn draw(app: &App, screen: &mut ScreenState, area: Rect, frame: &mut Frame<'_>) {
    let (theme, words) = (screen.theme, screen.words);
    let earlier = screen.turn(app).filter(|turn| app.turns().last().is_some_and(|last| last.key != turn.key));
    let frame_block = match earlier {
        Some(turn) => side_block_of(screen, Pane::Evidence, &words.sources_of_turn(turn.record.number), area.width),
        None => side_block(screen, Pane::Evidence, &theme),
    };
    let inner = frame_block.inner(area);
    frame.render_widget(frame_block, area);
    let Some(turn) = screen.turn(app) else {
        return say(words.no_evidence_yet(), frame, inner, &theme);
    };
    if turn.hits().is_empty() {
        let running = matches!(app.phase(), Phase::Rewriting(key) | Phase::Retrieving(key) if key == turn.key);
        let text = if running { words.searching() } else { words.nothing_found() };
        return say(text, frame, inner, &theme);
    }
    let mut stepped = false;
    if let Some(find) = screen.find.as_mut().filter(|_| screen.focus == Pane::Evidence) {
        let has = |hit: &Hit| [&hit.title, &hit.location, &hit.content].iter().any(|text| find.is_in(text));
        let matches: Vec<usize> =
            turn.hits().iter().enumerate().filter(|(_, hit)| has(hit)).map(|(at, _)| at).collect();
        if let Some(to) = find.step(&matches, screen.evidence.selected) {
            (screen.evidence.selected, screen.evidence.closed, screen.evidence.reveal) = (to, false, true);
            stepped = true;
        }
    }
    let width = usize::from(inner.width).saturating_sub(1);
    let selected = turn.hits().get(screen.evidence.selected);
    let table = selected.and_then(|hit| Some((InTable::of(hit), app.table(hit.evidence)??)));
    table::measure(&mut screen.evidence.table, table.as_ref().map(|(hit, grid)| (hit, *grid)));
    let farthest = screen.evidence.table.as_ref().map_or(0, |table| table.farthest(width.saturating_sub(4)));
    screen.evidence.left = screen.evidence.left.min(farthest);
    let Laid { mut lines, owners, selected, table } = lay_out(app, screen, turn, width);
    let find = screen.find.as_ref().filter(|_| screen.focus == Pane::Evidence);
    let marked = find.map(|find| find.mark(&mut lines)).unwrap_or_default();
    let height = usize::from(inner.height);
    screen.evidence.scroll.covered = table.as_ref().map_or(0, |table| table.header.len());
    let mut view = screen.evidence.scroll.view(lines.len(), height);
    if std::mem::take(&mut screen.evidence.reveal) {
        screen.evidence.scroll.reveal(selected.clone());
        // The match may be far below the first line of a long hit.
        if let Some(place) = marked.iter().find(|line| stepped && selected.contains(line)) {
            screen.evidence.scroll.reveal(*place..*place + 1);
        }
        view = screen.evidence.scroll.view(lines.len(), height);
    }
    screen.targets.rows(Pane::Evidence, inner, owners.into_iter().skip(view.start));
    let mut seen = lines.get(view.clone()).unwrap_or_default().to_vec();
    if let Some(header) = table.and_then(|table| table.header_over(view.start)) {
        for (over, line) in seen.iter_mut().zip(lines.get(header).unwrap_or_default()) {
            over.clone_from(line);
        }
    }
    frame.render_widget(Paragraph::new(seen), inner);
    say_below(screen.evidence.scroll.below(), screen, Pane::Evidence, area, frame);
}

/// The hits as lines, each with the index of its hit.
struct Laid {
    lines: Vec<Line<'static>>,
    owners: Vec<Option<usize>>,
    /// The lines of the selected hit.
    selected: Range<usize>,
    /// Lines of its table, if it is open and has one.
    table: Option<TablePlace>,
}

/// The lines of a visible table.
struct TablePlace {
    header: Range<usize>,
    rows: Range<usize>,
}

impl TablePlace {
    /// The header, where it is scrolled away above visible rows.
    fn header_over(self, top: usize) -> Option<Range<usize>> {
        (self.header.start < top && top + self.header.len() < self.rows.end).then_some(self.header)
    }

    fn further_down(self, by: usize) -> Self {
        let down = |range: Range<usize>| range.start + by..range.end + by;
        Self { header: down(self.header), rows: down(self.rows) }
    }
}

fn lay_out(app: &App, screen: &ScreenState, turn: &Turn, width: usize) -> Laid {
    let look = &Look { theme: &screen.theme, words: screen.words, width };
    let mut laid = Laid { lines: Vec::new(), owners: Vec::new(), selected: 0..0, table: None };
    if let Some(quality) = turn.record.trace.retrieved.as_ref().and_then(Retrieved::no_match) {
        laid.lines.extend(paragraphs(&look.words.weak(quality), look.theme.warn, width, &Indent::default()));
        laid.owners.resize(laid.lines.len(), None);
    }
    let origins: Vec<String> = turn.hits().iter().map(origin).collect();
    for (at, hit) in turn.hits().iter().enumerate() {
        let start = laid.lines.len();
        let here = at == screen.evidence.selected;
        laid.lines.extend(head(turn, hit, here.then_some('›'), look));
        let is_open = here && !screen.evidence.closed;
        // Hits with the same origin, such as rows of a table, differ only in their text.
        if !is_open && origins.iter().filter(|other| **other == origins[at]).count() > 1 {
            laid.lines.push(beginning(hit, look));
        }
        if is_open {
            let (lines, table) = body(app, screen, hit, width);
            laid.table = table.map(|table| table.further_down(laid.lines.len()));
            laid.lines.extend(lines);
        }
        laid.owners.resize(laid.lines.len(), Some(at));
        if here {
            laid.selected = start..laid.lines.len();
        }
    }
    laid
}

/// Two lines: origin; outcome, scores and location. The location is never cut.
fn head(turn: &Turn, hit: &Hit, cursor: Option<char>, look: &Look<'_>) -> Vec<Line<'static>> {
    let Look { theme, words, width } = *look;
    let lead = format!("{}{:>2} {:<7} ", cursor.unwrap_or(' '), hit.rank, words.kind(hit.kind));
    let name = origin_in(hit, width.saturating_sub(text::width(&lead)));
    let style = if cursor.is_some() { theme.selected } else { theme.text };
    let mut lines = vec![Line::from(vec![Span::styled(lead, theme.accent), Span::styled(name, style)])];
    let location = Location::of(hit);
    let mut line = vec![Span::raw(LEAD)];
    for mark in outcome(turn, hit, theme, words).into_iter().chain(version(turn, hit, theme, words)) {
        line.extend([mark, Span::styled(BETWEEN, theme.dim)]);
    }
    let mut used: usize = line.iter().map(Span::width).sum();
    if line.len() > 1 && used + location.least() > width {
        line.pop();
        lines.push(Line::from(std::mem::replace(&mut line, vec![Span::raw(LEAD)])));
        used = text::width(LEAD);
    }
    let rest = found_and_place(&found(hit, words), &location, width.saturating_sub(used));
    line.push(Span::styled(rest, theme.dim));
    lines.push(Line::from(line));
    lines
}

/// The beginning of the content on one line.
fn beginning(hit: &Hit, look: &Look<'_>) -> Line<'static> {
    let text = fit(&clean_line(&hit.content), look.width.saturating_sub(text::width(LEAD)));
    Line::from(vec![Span::raw(LEAD), Span::styled(text, look.theme.text)])
}

/// Cosine, ranks by both retrievers, and the score of the reranker.
fn found(hit: &Hit, words: Words) -> String {
    let place = |rank: Option<usize>| rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string());
    let (dense, lexical) = (place(hit.dense_rank), place(hit.lexical_rank));
    // The fused score compares the hits of one search only; a cosine means the same in every search.
    let cosine = hit.dense_score.map_or_else(|| "–".to_owned(), |cosine| words.decimal(cosine, 2));
    let found = words.found_at(&cosine, &dense, &lexical);
    match hit.rerank_score {
        Some(score) => words.and_reranked(&found, &words.decimal(score, 3)),
        None => found,
    }
}

/// Scores and location in `room` cells: first the heading of the location is shortened, then the scores.
fn found_and_place(found: &str, location: &Location, room: usize) -> String {
    if location.least() == 0 {
        return whole_parts(found, room);
    }
    let between = text::width(BETWEEN);
    let for_found = room.saturating_sub(location.least() + between);
    let found = whole_parts(found, for_found);
    if found.is_empty() {
        return location.fit(room);
    }
    let rest = room.saturating_sub(text::width(&found) + between);
    format!("{found}{BETWEEN}{}", location.fit(rest))
}

/// As many whole parts as fit, then `…`, because a cut score would read as another score.
fn whole_parts(found: &str, room: usize) -> String {
    if text::width(found) <= room {
        return found.to_owned();
    }
    let mut kept = found;
    while let Some((before, _)) = kept.rsplit_once(BETWEEN) {
        kept = before;
        let cut = format!("{kept}{BETWEEN}…");
        if text::width(&cut) <= room {
            return cut;
        }
    }
    String::new()
}

/// Location of a hit in its document, such as `page 3, Agenda, text 1 (in Projects)`.
struct Location {
    /// `page 3, `, or empty.
    page: String,
    /// The heading, or empty.
    heading: String,
    /// `text 1`.
    place: String,
    /// The pages above the document.
    above: String,
}

impl Location {
    fn of(hit: &Hit) -> Self {
        let whole = clean_line(&hit.location);
        let (rest, above) = match whole.strip_suffix(')').and_then(|whole| whole.split_once(" (in ")) {
            Some((rest, above)) => (rest, above.to_owned()),
            None => (whole.as_str(), String::new()),
        };
        let heading = clean_line(&hit.heading);
        let (page, after) = rest.split_once(", ").filter(|(page, _)| page.starts_with("page ")).unwrap_or(("", rest));
        let place =
            after.strip_prefix(&heading).filter(|_| !heading.is_empty()).and_then(|rest| rest.strip_prefix(", "));
        let page = if page.is_empty() { String::new() } else { format!("{page}, ") };
        match place {
            Some(place) => Self { page, heading, place: place.to_owned(), above },
            None => Self { page, heading: String::new(), place: after.to_owned(), above },
        }
    }

    /// Cells of the part that is always shown.
    fn least(&self) -> usize {
        text::width(&self.page) + text::width(&self.place)
    }

    fn fit(&self, room: usize) -> String {
        let Self { page, heading, place, above } = self;
        let for_heading = room.saturating_sub(self.least() + 2);
        let whole = if heading.is_empty() || for_heading < SHORTEST {
            fit(&format!("{page}{place}"), room)
        } else {
            format!("{page}{}, {place}", fit_middle(heading, for_heading))
        };
        let is_cut = !heading.is_empty() && for_heading < text::width(heading);
        let for_above = room.saturating_sub(text::width(&whole) + text::width(" (in )"));
        if above.is_empty() || is_cut || for_above < SHORTEST {
            return whole;
        }
        format!("{whole} (in {})", fit_middle(above, for_above))
    }
}

/// Title › heading.
pub(crate) fn origin(hit: &Hit) -> String {
    origin_of(&hit.title, &hit.heading)
}

/// Title › heading of evidence that is no hit.
pub(crate) fn origin_of(title: &str, heading: &str) -> String {
    let (title, heading) = (clean_line(title), clean_line(heading));
    if heading.is_empty() || heading == title { title } else { format!("{title} › {heading}") }
}

/// Title › heading in `room` cells; the middle of the heading is cut first.
fn origin_in(hit: &Hit, room: usize) -> String {
    let (whole, title) = (origin(hit), clean_line(&hit.title));
    let for_heading = room.saturating_sub(text::width(&title) + text::width(" › "));
    match whole.strip_prefix(&title).and_then(|rest| rest.strip_prefix(" › ")) {
        Some(heading) if for_heading >= SHORTEST => format!("{title} › {}", fit_middle(heading, for_heading)),
        _ => fit_middle(&whole, room),
    }
}

/// Outcome of a hit in the prompt and in the answer.
fn outcome(turn: &Turn, hit: &Hit, theme: &Theme, words: Words) -> Vec<Span<'static>> {
    let Some(answer) = turn.answer() else { return Vec::new() };
    let is_cited = answer.citations.contains(&hit.rank);
    let is_its_own = |cut: &&Cut| cut.rank == hit.rank && cut.how != CutHow::Neighbour;
    let cut = answer.prompt.cut.iter().find(is_its_own).map(|cut| cut.how);
    let in_prompt = match cut {
        Some(CutHow::Dropped) => Some(Span::styled(words.cut_no_room(), theme.warn)),
        Some(CutHow::Shortened) => Some(Span::styled(words.cut_short(), theme.warn)),
        Some(CutHow::Version) => Some(Span::styled(words.not_in_prompt(), theme.dim)),
        None if !is_cited && turn.is_answered() && !answer.prompt.sources().contains(&hit.rank) => {
            Some(Span::styled(words.not_in_prompt(), theme.dim))
        }
        Some(CutHow::Neighbour) | None => None,
    };
    let cited = is_cited.then(|| Span::styled(words.cited(), theme.citation));
    in_prompt.into_iter().chain(cited).collect()
}

/// The version of a hit, and the rank of the newest version.
fn version(turn: &Turn, hit: &Hit, theme: &Theme, words: Words) -> Option<Span<'static>> {
    let version = hit.version?;
    match version.age {
        Age::Newest => Some(Span::styled(words.newest_version(), theme.dim)),
        Age::Older => {
            let newest = turn.hits().iter().find(|other| other.evidence == version.newest);
            let text =
                newest.map_or_else(|| words.older_version().to_owned(), |newest| words.older_version_of(newest.rank));
            Some(Span::styled(text, theme.warn))
        }
    }
}

/// The context, dim, around the content; below it the table, with its lines.
fn body(app: &App, screen: &ScreenState, hit: &Hit, width: usize) -> (Vec<Line<'static>>, Option<TablePlace>) {
    let (theme, words) = (&screen.theme, screen.words);
    let indent = Indent::of(4);
    let mut lines = Vec::new();
    let dim = |label: &str, text: &str| {
        if text.trim().is_empty() {
            Vec::new()
        } else {
            paragraphs(&format!("{label}{text}"), theme.dim, width, &indent)
        }
    };
    lines.extend(dim(words.title_of_context(), &hit.context.title));
    lines.extend(dim(words.heading_of_context(), &hit.context.heading_path.join(" › ")));
    lines.extend(dim(words.before_in_context(), &hit.context.before));
    let grid = app.table(hit.evidence);
    // The content of a table repeats its grid.
    if !(hit.kind == ragonite_document::evidence::Kind::Table && matches!(grid, Some(Some(_)))) {
        lines.extend(paragraphs(&hit.content, theme.text, width, &indent));
    }
    lines.extend(dim(words.after_in_context(), &hit.context.after));
    let mut place = None;
    if let (Some(Some(grid)), Some(measured)) = (grid, &screen.evidence.table) {
        let key = |action| screen.keymap.key(action, Place::Panes).unwrap_or_default();
        let keys = format!("{}/{}", key(Action::Left), key(Action::Right));
        let (width, left) = (width.saturating_sub(4), screen.evidence.left);
        let look = TableLook { theme, words, width, left, keys: &keys };
        lines.push(Line::default());
        let table = table::lines(grid, measured, &look);
        place = Some(TablePlace { header: table.header, rows: table.rows }.further_down(lines.len()));
        lines.extend(table.lines.into_iter().map(|mut line| {
            line.spans.insert(0, Span::raw(LEAD));
            line
        }));
    } else if grid.is_none() && hit.table.is_some() {
        lines.extend(dim("", words.loading_table()));
    }
    lines.extend(dim(words.date_of_document(), &hit.date_shown().unwrap_or_default()));
    lines.extend(dim("", &hit.url));
    lines.push(Line::default());
    (lines, place)
}
