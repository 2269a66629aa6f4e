//! Draws the attribution pane: a bar per cluster of sources, and the counterfactual answer.
//!
//! Not here: keys (`attribution`), the bars themselves (`bars`), one sentence (`sentence`).

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use time::OffsetDateTime;

use super::bars::{self, BarValue, Cells, bar, fraction, share_line};
use super::sentence;
use crate::action::{Action, Place};
use crate::chrome::stage;
use crate::difference::marked;
use crate::evidence::origin;
use crate::look::Look;
use crate::messages::{Noun, Words};
use crate::outline_cache::Shown;
use crate::pane::{Focus, Fold, GUTTER, Pane, Parts, draw_outline, say, side_block};
use crate::screen::ScreenState;
use crate::text::{Indent, one_line, paragraphs, wrap};
use ragonite_app::{App, Turn};
use ragonite_rag::answer::Answer;
use ragonite_rag::attribution::{Attribution, Cluster, Effect, Method, Provenance, SMALLEST_CHANGE, floor};

/// Owner of the lines above the clusters.
pub(super) const INTRODUCTION: usize = usize::MAX;

pub(crate) fn draw(app: &App, screen: &mut ScreenState, area: Rect, now: OffsetDateTime, frame: &mut Frame<'_>) {
    let (theme, words) = (screen.theme, screen.words);
    let frame_block = side_block(screen, Pane::Why, &theme);
    let inner = frame_block.inner(area);
    frame.render_widget(frame_block, area);
    let Some(turn) = screen.turn(app) else {
        return say(words.nothing_explained(), frame, inner, &theme);
    };
    if turn.explaining.is_none() && turn.record.trace.attribution.is_none() {
        return say(&invitation(app, turn, screen), frame, inner, &theme);
    }
    let width = usize::from(inner.width.saturating_sub(GUTTER + 1)).max(8);
    let settled = turn.explaining.is_none() && app.phase().turn() != Some(turn.key);
    let shown = settled
        .then(|| Shown::of(turn, width, Some(screen.attribution.outline.opened())).at(screen.attribution.sentence));
    if !screen.attribution.kept.has(shown.as_ref()) {
        let stage = stage(app, screen.words, now - screen.stage.1).unwrap_or_default();
        let parts = parts(app, turn, &stage, screen, &Look { theme: &theme, words, width });
        screen.attribution.kept.keep(shown, parts);
    }
    let focus = Focus::of(screen, Pane::Why);
    let find = screen.find.as_mut();
    let drawn = draw_outline(&mut screen.attribution.kept, &mut screen.attribution.outline, focus, &theme, find, inner);
    frame.render_widget(drawn, inner);
}

/// The explanation as far as known, with its progress while it runs.
fn parts(app: &App, turn: &Turn, stage: &str, screen: &ScreenState, look: &Look<'_>) -> Parts<usize> {
    let (theme, words) = (look.theme, look.words);
    let mut parts = Parts::new();
    if let Some(explaining) = &turn.explaining {
        parts.extend(INTRODUCTION, method_lines(explaining.method, look));
        let stage = Span::styled(stage.to_owned(), theme.accent);
        parts.extend(INTRODUCTION, wrap(&[stage], look.width, &Indent::default()));
        let done = fraction(explaining.progress.done, explaining.progress.total);
        parts.push(INTRODUCTION, Line::from(bar(done, look.width.min(40), theme)));
        parts.push(INTRODUCTION, Line::default());
        if !explaining.clusters.is_empty() {
            let is_rough = explaining.clusters.iter().all(|cluster| cluster.how == Provenance::Similarity);
            let so_far = if is_rough { words.so_far_similar() } else { words.so_far() };
            parts.push(INTRODUCTION, Line::styled(so_far, theme.dim));
        }
        // The decisive cluster is known only at the end.
        clusters(turn, None, &explaining.clusters, screen, look, &mut parts);
    } else if let Some(at) = screen.attribution.sentence.filter(|at| *at < turn.sentences().len()) {
        sentence::parts(turn, at, screen, look, &mut parts);
    } else if let Some(attribution) = &turn.record.trace.attribution {
        parts.extend(INTRODUCTION, verdict(attribution, screen, look));
        parts.extend(INTRODUCTION, group_hint(app, turn, screen, look));
        parts.extend(INTRODUCTION, sentence::hint(turn, screen, look));
        parts.push(INTRODUCTION, Line::default());
        clusters(turn, Some(attribution), &attribution.clusters, screen, look, &mut parts);
    }
    parts
}

fn invitation(app: &App, turn: &Turn, screen: &ScreenState) -> String {
    let words = screen.words;
    if app.phase().turn() == Some(turn.key) {
        return words.answer_on_its_way().to_owned();
    }
    if !turn.is_answered() {
        return words.no_answer_to_explain().to_owned();
    }
    let key = |action| screen.keymap.key(action, Place::Panes).unwrap_or_default();
    let ways = [
        (Action::Explain, words.explained_by_key(app.method())),
        (Action::ExplainByPreview, words.way_preview()),
        (Action::ExplainByLogprob, words.way_logprob()),
        (Action::ExplainByJsd, words.way_jsd()),
        (Action::ExplainBySimilarity, words.way_similarity()),
    ];
    let way = |(action, says): (Action, &str)| format!("\n\n{}  {says}", key(action));
    ways.into_iter().fold(words.not_explained_yet().to_owned(), |text, one| text + &way(one))
}

fn method_lines(method: Method, look: &Look<'_>) -> Vec<Line<'static>> {
    paragraphs(look.words.method(method), look.theme.dim, look.width, &Indent::default())
}

fn verdict(attribution: &Attribution, screen: &ScreenState, look: &Look<'_>) -> Vec<Line<'static>> {
    let words = look.words;
    let key = screen.keymap.key(Action::Explain, Place::Panes).unwrap_or_default();
    let mut lines = bars::result(attribution, &key, look);
    if !attribution.decisive && attribution.missing == 0 && attribution.method != Method::Similarity {
        lines.extend(paragraphs(words.why_none_decides(), look.theme.text, look.width, &Indent::default()));
    }
    if let Some(instead) = &attribution.instead {
        lines.extend(paragraphs(words.answers_otherwise(), look.theme.warn, look.width, &Indent::default()));
        lines.extend(paragraphs(instead, look.theme.text, look.width, &Indent::of(4)));
    }
    lines.extend(method_lines(attribution.method, look));
    let count = words.counted(attribution.clusters.len(), Noun::Cluster);
    let time = words.duration(attribution.timings_ms.total);
    lines.push(Line::styled(words.clusters_and_time(&count, &time), look.theme.dim));
    lines
}

/// How to test the clusters of a group one by one, where the key does that.
fn group_hint(app: &App, turn: &Turn, screen: &ScreenState, look: &Look<'_>) -> Vec<Line<'static>> {
    let with = app.turn_settings().attribution;
    let trace = &turn.record.trace;
    if !trace.has_group_to_part(&trace.explained_next(with)) {
        return Vec::new();
    }
    let key = screen.keymap.key(Action::Explain, Place::Panes).unwrap_or_default();
    paragraphs(&look.words.group_hint(&key), look.theme.text, look.width, &Indent::default())
}

/// The clusters known so far, or all of a finished explanation.
fn clusters(
    turn: &Turn,
    finished: Option<&Attribution>,
    clusters: &[Cluster],
    screen: &ScreenState,
    look: &Look<'_>,
    parts: &mut Parts<usize>,
) {
    let is_decided = finished.is_some_and(|attribution| attribution.decisive);
    let instead = finished.and_then(|attribution| attribution.instead.as_deref());
    let original = instead.unwrap_or_else(|| turn.answer().map_or(turn.text(), Answer::own_text));
    let cited = turn.answer().map(|answer| answer.cited_by(instead)).unwrap_or_default();
    let strongest = clusters.iter().map(|cluster| cluster.contribution).fold(0.0, f64::max);
    let cells = Cells::of(clusters.iter().map(|cluster| cluster.hits.as_slice()), look);
    for (at, cluster) in clusters.iter().enumerate() {
        let open = screen.attribution.outline.is_open(at);
        let share = cluster.share.filter(|_| is_decided);
        // Intermediate values come from several methods and are not comparable.
        let role = finished.map_or(Role::Open, |_| Role::of(cluster.effect(), strongest, share));
        let value = BarValue::of(cluster.effect(), cluster.share);
        parts.push(at, share_line(value, &cluster.hits, Fold::from(open), cells, look));
        parts.extend(at, detail_lines(cluster, role, &cited, look));
        if open {
            parts.extend(at, opened(turn, original, cluster, look));
        }
    }
}

/// A cluster in words: contribution, citation, provenance.
fn detail_lines(cluster: &Cluster, role: Role, cited: &[usize], look: &Look<'_>) -> Vec<Line<'static>> {
    let words = look.words;
    let cited = role.beside(&cluster.hits, cited, words);
    let three = words.decimal(cluster.contribution, 3);
    let value = match cluster.how {
        Provenance::Similarity => words.cosine(&three),
        Provenance::Preview | Provenance::Logprob => {
            words.less_probable_answer(&words.decimal(cluster.contribution * 100.0, 1))
        }
        Provenance::Jsd => words.divergence(&three),
        Provenance::Group if cluster.contribution == 0.0 => words.same_answer_of_group().to_owned(),
        Provenance::Verified | Provenance::Regenerated if cluster.contribution == 0.0 => words.same_answer().to_owned(),
        Provenance::Verified | Provenance::Regenerated if cluster.contribution <= SMALLEST_CHANGE => {
            words.same_words().to_owned()
        }
        Provenance::Verified | Provenance::Regenerated | Provenance::Group => words.contribution(&three),
    };
    let how = words.how(cluster.how);
    paragraphs(&format!("{value} · {cited} · {how}"), look.theme.dim, look.width, &Indent::of(4))
}

/// Below this share, an answer could do without the sources.
const DECISIVE: f64 = 0.05;
/// So too below this part of the strongest contribution, because shares are close where all contributions are small.
const BESIDE_THE_STRONGEST: f64 = 0.25;

/// Role of a cluster for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The answer depends on the sources.
    Decisive,
    /// The answer can do without them.
    Removable,
    /// Unknown: no source stands out, or the sources were tested as a group or only compared.
    Open,
}

impl Role {
    /// `share` is none where no source stands out; `strongest` is the largest contribution.
    pub(super) fn of(effect: Effect, strongest: f64, share: Option<f64>) -> Self {
        let Effect { how, contribution } = effect;
        match (how, share) {
            (Provenance::Similarity | Provenance::Group, _) => Self::Open,
            _ if contribution <= floor(how).max(strongest * BESIDE_THE_STRONGEST) => Self::Removable,
            (_, Some(share)) if share < DECISIVE => Self::Removable,
            (_, Some(_)) => Self::Decisive,
            (_, None) => Self::Open,
        }
    }

    /// The role together with whether the answer cites one of the sources.
    pub(super) fn beside(self, hits: &[usize], named: &[usize], words: Words) -> &'static str {
        let is_cited = hits.iter().any(|hit| named.contains(hit));
        match (self, is_cited) {
            (Self::Decisive, true) => words.cited_and_decisive(),
            (Self::Decisive, false) => words.decisive_but_not_cited(),
            (Self::Removable, true) => words.cited_but_removable(),
            (Self::Open, true) => words.cited(),
            (Self::Removable | Self::Open, false) => words.not_cited(),
        }
    }
}

/// The hits of a cluster.
pub(super) fn members(turn: &Turn, hits: &[usize], look: &Look<'_>) -> Vec<Line<'static>> {
    let theme = look.theme;
    let mut lines = Vec::new();
    for hit in turn.hits().iter().filter(|hit| hits.contains(&hit.rank)) {
        let lead = Span::styled(format!("    {} ", hit.rank), theme.accent);
        let indent = Indent { first: lead, rest: Span::raw("      ") };
        lines.extend(wrap(
            &[one_line(&format!("{}: {}", look.words.kind(hit.kind), origin(hit)), theme.text)],
            look.width,
            &indent,
        ));
    }
    lines
}

/// The hits of the cluster, and the counterfactual answer as a difference from the original.
fn opened(turn: &Turn, original: &str, cluster: &Cluster, look: &Look<'_>) -> Vec<Line<'static>> {
    let theme = look.theme;
    let mut lines = members(turn, &cluster.hits, look);
    let label = |text: &str| paragraphs(text, theme.dim, look.width, &Indent::of(4));
    match &cluster.counterfactual_answer {
        Some(other) if other.trim() == original.trim() => {
            let words = look.words;
            lines.extend(label(if cluster.how == Provenance::Group {
                words.group_word_for_word()
            } else {
                words.word_for_word()
            }));
        }
        Some(other) => {
            lines.extend(label(if cluster.how == Provenance::Group {
                look.words.answer_without_group()
            } else {
                look.words.answer_without()
            }));
            lines.extend(wrap(&marked(original, other, theme), look.width, &Indent::of(4)));
        }
        None => {}
    }
    lines.push(Line::default());
    lines
}
