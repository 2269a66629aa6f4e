//! A piece of evidence in its context, drawn over the panes: the parts, and the ranks with and without them.
//!
//! Invariant: each part has a name, so that evidence and context differ by more than style.
//! Not here: keys (`context`), the ranks (`retrieval`).

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::{ContextView, PARTS};
use crate::evidence::origin;
use crate::long_text::Flowing;
use crate::look::Look;
use crate::messages::Words;
use crate::pane::{Focus, block};
use crate::popup::{FOOTER, SearchRoom, draw_search, middle, room_for_search};
use crate::text::{Indent, fit, pad, paragraphs, width};
use ragonite_app::{App, Fetched};
use ragonite_base::EvidenceId;
use ragonite_document::evidence::ContextParts;
use ragonite_rag::retrieval::{AblatedHit, AblatedRank, Hit};

/// Cells of a part's name, key and mark.
const NAMES: usize = 16;
/// Least visible rows of the context beside the ranks.
const LEAST: usize = 6;
/// Largest width of the popup.
const WIDEST: usize = 100;

pub(crate) fn draw(app: &App, view: &mut ContextView, look: &Look<'_>, area: Rect, frame: &mut Frame<'_>) {
    let Look { theme, words, .. } = *look;
    let room = usize::from(area.width).saturating_sub(4).min(WIDEST);
    let hit = view.hit(app);
    let title = hit.map_or_else(|| words.context().to_owned(), |hit| words.context_of(hit.rank));
    let left = || (paragraphs(words.evidence_left(), theme.dim, room, &Indent::of(1)), Vec::new());
    let look = &Look { width: room, ..*look };
    let (mut lines, mut below) =
        hit.map_or_else(left, |hit| (parts(app, view, hit, look), ranks(app, view, hit, look)));
    let above = Rect { height: area.height.saturating_sub(FOOTER), ..area };
    let at = middle(above, room + 2, lines.len() + below.len() + 2);
    let mut frame_block = block(fit(&title, room), Focus::Here, theme);
    let mut inner = frame_block.inner(at);
    let height = usize::from(inner.height);
    // The ranks stay in view below the text where there is room, because they show the effect of a switch.
    let stays = view.parts != ContextParts::ALL && lines.len() + below.len() > height && below.len() + LEAST <= height;
    let mut under = Rect { height: 0, ..inner };
    if stays {
        under.height = u16::try_from(below.len()).unwrap_or(inner.height);
        inner.height -= under.height;
        under.y += inner.height;
    } else {
        lines.append(&mut below);
    }
    let SearchRoom { body, line: typed } = room_for_search(inner, view.text.typed.as_ref());
    let seen = view.text.seen(lines, usize::from(body.height), Flowing::OneText);
    if view.text.scroll.below() > 0 {
        let more = words.more_below(view.text.scroll.below());
        frame_block = frame_block.title_bottom(Line::from(more).right_aligned());
    }
    frame.render_widget(Clear, at);
    frame.render_widget(frame_block, at);
    frame.render_widget(Paragraph::new(seen), body);
    frame.render_widget(Paragraph::new(below), under);
    if let Some(line) = &mut view.text.typed {
        draw_search(line, typed, theme, frame);
    }
}

fn parts(app: &App, view: &ContextView, hit: &Hit, look: &Look<'_>) -> Vec<Line<'static>> {
    let Look { theme, words, width: room } = *look;
    let tried = match view.trial(app).map(|trial| &trial.ranks) {
        Some(Fetched::Here(tried)) => tried.as_slice(),
        _ => &[],
    };
    let indexed = tried.iter().find(|tried| tried.evidence == hit.evidence).map(|tried| tried.indexed);
    let heading = hit.context.heading_path.join(" › ");
    let context = &hit.context;
    let texts = [context.title.as_str(), heading.as_str(), context.before.as_str(), context.after.as_str()];
    let mut lines = Vec::new();
    for ((key, part, of), text) in PARTS.into_iter().zip(texts) {
        if part == ContextParts::AFTER {
            let label = Span::styled(pad(words.the_evidence(), NAMES), theme.accent);
            lines.extend(labelled(label, paragraphs(&hit.content, theme.text, room, &Indent::of(NAMES))));
        }
        let on = view.parts.contains(part);
        let label = format!(" {key} [{}] {}", if on { 'x' } else { ' ' }, words.part(of));
        let label = Span::styled(pad(&label, NAMES), if on { theme.strong } else { theme.dim });
        let shown = match (on, indexed) {
            _ if text.trim().is_empty() => words.part_is_empty(),
            (_, Some(indexed)) if !indexed.contains(part) => words.part_not_indexed(),
            (false, _) => words.part_is_off(),
            (true, _) => text,
        };
        lines.extend(labelled(label, paragraphs(shown, theme.dim, room, &Indent::of(NAMES))));
    }
    lines.push(Line::default());
    lines
}

/// Puts a label before a text.
fn labelled(label: Span<'static>, mut text: Vec<Line<'static>>) -> Vec<Line<'static>> {
    match text.first_mut().and_then(|line| line.spans.first_mut()) {
        Some(first) => *first = label,
        None => text = vec![Line::from(label)],
    }
    text
}

/// Names of the parts that are off.
fn off(parts: ContextParts, words: Words) -> String {
    let off = PARTS.iter().filter(|(_, part, _)| !parts.contains(*part));
    off.map(|(.., of)| words.without(*of)).collect::<Vec<_>>().join(", ")
}

fn ranks(app: &App, view: &ContextView, hit: &Hit, look: &Look<'_>) -> Vec<Line<'static>> {
    let Look { theme, words, width: room } = *look;
    let place = |rank: Option<usize>| rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string());
    let (dense, lexical) = (place(hit.dense_rank), place(hit.lexical_rank));
    let now = words.ranks_now(hit.rank, &dense, &lexical);
    let mut lines = vec![Line::styled(fit(&now, room), theme.text)];
    let say = |text: &str| paragraphs(text, theme.dim, room, &Indent::of(1));
    let Some(trial) = view.trial(app).filter(|_| view.parts != ContextParts::ALL) else {
        lines.extend(say(words.how_to_try()));
        return lines;
    };
    let without = off(view.parts, words);
    match &trial.ranks {
        Fetched::Coming => lines.extend(say(&words.trying(&without))),
        Fetched::Failed(problem) => {
            lines.extend(paragraphs(&format!("✗ {problem}"), theme.bad, room, &Indent::of(1)));
        }
        Fetched::Here(tried) => {
            let title = words.ranks_without(&without);
            lines.extend(paragraphs(&title, theme.strong, room, &Indent::of(1)));
            let hits = app.turn(view.turn).map_or(&[][..], |turn| turn.hits());
            lines.extend(hits.iter().map(|other| {
                let tried = tried.iter().find(|tried| tried.evidence == other.evidence);
                row(other, tried, hit.evidence, look)
            }));
            lines.extend(say(words.what_ranks_mean()));
        }
    }
    lines
}

fn row(hit: &Hit, tried: Option<&AblatedHit>, seen: EvidenceId, look: &Look<'_>) -> Line<'static> {
    let Look { theme, words, width: room } = *look;
    let here = hit.evidence == seen;
    let placed = |placed: AblatedRank| words.number(&format!("{:>2} ({:.3})", placed.rank, placed.cosine));
    let moved = |tried: &AblatedHit| match (tried.now.rank, tried.then.rank) {
        (now, then) if then < now => words.moved_up(now - then),
        (now, then) if then > now => words.moved_down(then - now),
        _ => words.stays().to_owned(),
    };
    let ranks = tried.map_or_else(
        || words.gone_since().to_owned(),
        |tried| format!("{} → {}  {}", placed(tried.now), placed(tried.then), pad(&moved(tried), 7)),
    );
    let name = format!("{:>2} {}", hit.rank, origin(hit));
    let name = pad(&name, room.saturating_sub(width(&ranks) + 4));
    Line::from(vec![
        Span::styled(if here { " ›" } else { "  " }, theme.accent),
        Span::styled(name, if here { theme.selected } else { theme.text }),
        Span::styled(format!(" {ranks}"), theme.text),
    ])
}
