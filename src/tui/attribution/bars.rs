//! Bars per cluster of sources, the result of an explanation, and the short form below an answer.
//!
//! Not here: details of each cluster (`view`), attribution of a sentence (`sentence`).

use ratatui::text::{Line, Span};

use crate::look::Look;
use crate::messages::Noun;
use crate::pane::Fold;
use crate::text::{Indent, paragraphs, width};
use crate::theme::Theme;
use ragonite_app::Turn;
use ragonite_base::Millis;
use ragonite_rag::attribution::{Attribution, Cluster, Effect, FLAT_RATIO, Method, Provenance};

/// Most bars below an answer.
const MOST: usize = 5;

/// Cells of a share, and of the mark before it.
const SHARE: usize = 8;
const MARK: usize = 2;

/// Identity of a shown explanation, for caches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Explained {
    method: Method,
    took: Millis,
    clusters: usize,
    sentences: usize,
}

impl Explained {
    pub(crate) fn of(turn: &Turn) -> Option<Self> {
        let done = turn.record.trace.attribution.as_ref()?;
        let (clusters, sentences) = (done.clusters.len(), done.sentences.len());
        Some(Self { method: done.method, took: done.timings_ms.total, clusters, sentences })
    }
}

/// The keys named below an answer.
pub(crate) struct Keys {
    pub(crate) explain: String,
    pub(crate) show: String,
}

/// A short form of the explanation, empty where there is none. `running` are the clusters of a running explanation.
pub(crate) fn in_short(
    attribution: Option<&Attribution>,
    running: Option<&[Cluster]>,
    keys: &Keys,
    look: &Look<'_>,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if let Some(attribution) = attribution.filter(|_| running.is_none()) {
        lines.extend(result(attribution, &keys.explain, look));
        if attribution.instead.is_some() {
            lines.extend(paragraphs(look.words.explains_another(), look.theme.warn, look.width, &Indent::default()));
        }
    }
    let clusters = running.or(attribution.map(|attribution| attribution.clusters.as_slice())).unwrap_or_default();
    let is_worth_a_bar = |cluster: &Cluster| cluster.share.is_some() || cluster.how == Provenance::Similarity;
    if clusters.iter().any(is_worth_a_bar) {
        let shown = &clusters[..clusters.len().min(MOST)];
        let how = |cluster: &Cluster| format!("  {}", look.words.how_in_a_word(cluster.how));
        let beside = |cluster: &Cluster| width(&look.words.sources(&cluster.hits)) + width(&how(cluster));
        let cells = Cells::beside(shown.iter().map(beside).max().unwrap_or(0), look);
        for cluster in shown {
            let how = how(cluster);
            let value = BarValue::of(cluster.effect(), cluster.share);
            let mut line = named_bar(value, &cluster.hits, "", cells, look);
            if line.width() + width(&how) <= look.width {
                line.spans.push(Span::styled(how, look.theme.dim));
            }
            lines.push(line);
        }
    }
    if !lines.is_empty() {
        let all = look.words.all_clusters(&keys.show, &look.words.counted(clusters.len(), Noun::Cluster));
        lines.extend(paragraphs(&all, look.theme.dim, look.width, &Indent::default()));
        lines.insert(0, Line::default());
    }
    lines
}

/// The result in a sentence; `key` continues a stopped explanation.
pub(super) fn result(attribution: &Attribution, key: &str, look: &Look<'_>) -> Vec<Line<'static>> {
    let words = look.words;
    let strongest = attribution.clusters.first().filter(|cluster| cluster.share.is_some());
    let similar = attribution.clusters.first().filter(|_| attribution.method == Method::Similarity);
    let (text, style) = if let Some(cluster) = similar {
        (words.most_similar(&words.sources(&cluster.hits)), look.theme.strong)
    } else if let Some(cluster) = strongest.filter(|_| attribution.decisive) {
        let equals = as_strong_as(cluster, &attribution.clusters);
        // Clusters tested alone and clusters tested as a group are not named together.
        let alone = equals.iter().filter(|cluster| cluster.how != Provenance::Group);
        let mut hits: Vec<usize> = alone.flat_map(|cluster| cluster.hits.iter().copied()).collect();
        hits.sort_unstable();
        let text = match cluster.how {
            Provenance::Group => words.a_group_matters(&words.sources(&cluster.hits)),
            _ => words.matters(&hits),
        };
        (text, look.theme.strong)
    } else if attribution.missing > 0 {
        let done = attribution.clusters.len();
        (words.stopped_after(done, done + attribution.missing, key), look.theme.warn)
    } else if !attribution.decisive {
        (words.none_decides().to_owned(), look.theme.strong)
    } else {
        return Vec::new();
    };
    paragraphs(&text, style, look.width, &Indent::default())
}

/// The clusters with about the share of the strongest.
fn as_strong_as<'c>(strongest: &Cluster, clusters: &'c [Cluster]) -> Vec<&'c Cluster> {
    let share = |cluster: &Cluster| cluster.share.unwrap_or_default();
    let least = share(strongest) / FLAT_RATIO;
    clusters.iter().filter(|cluster| cluster.share.is_some() && share(cluster) > least).collect()
}

/// Cells of each bar, the same for all bars so that lengths are comparable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cells(usize);

impl Cells {
    /// Cells for share lines of these hits.
    pub(super) fn of<'h>(lines: impl Iterator<Item = &'h [usize]>, look: &Look<'_>) -> Self {
        let longest = lines.map(|hits| width(&look.words.sources(hits))).max().unwrap_or(0);
        Self::beside(MARK + longest, look)
    }

    /// Cells that leave room for `others` cells.
    fn beside(others: usize, look: &Look<'_>) -> Self {
        Self(look.width.saturating_sub(SHARE + 1 + others).clamp(4, 30))
    }
}

/// What a bar shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BarValue {
    /// The effect on the scale of its method, in 0..=1: the length of the bar.
    effect: f64,
    number: BarNumber,
}

/// The number before a bar.
#[derive(Debug, Clone, Copy, PartialEq)]
enum BarNumber {
    /// The share among the effects above the floor.
    Share(f64),
    /// A similarity, which is no share.
    Cosine(f64),
    /// The effect is not above the floor.
    None,
}

impl BarValue {
    pub(super) fn of(effect: Effect, share: Option<f64>) -> Self {
        let value = if effect.contribution.is_finite() { effect.contribution.clamp(0.0, 1.0) } else { 0.0 };
        let number = match share {
            _ if effect.how == Provenance::Similarity => BarNumber::Cosine(effect.contribution),
            Some(share) => BarNumber::Share(share),
            None => BarNumber::None,
        };
        Self { effect: value, number }
    }
}

/// `▾  62.1 % ██████████████░░░░░░░░ Sources 1, 3`.
pub(super) fn share_line(value: BarValue, hits: &[usize], open: Fold, cells: Cells, look: &Look<'_>) -> Line<'static> {
    named_bar(value, hits, &format!("{} ", open.mark()), cells, look)
}

fn named_bar(value: BarValue, hits: &[usize], lead: &str, cells: Cells, look: &Look<'_>) -> Line<'static> {
    let number = match value.number {
        BarNumber::Share(share) => look.words.number(&format!("{:>5.1} % ", share * 100.0)),
        BarNumber::Cosine(cosine) => look.words.number(&format!("{cosine:>7.2} ")),
        BarNumber::None => "     –  ".to_owned(),
    };
    let name = look.words.sources(hits);
    let mut spans = vec![Span::styled(lead.to_owned(), look.theme.accent), Span::styled(number, look.theme.strong)];
    spans.extend(bar(value.effect, cells.0, look.theme));
    spans.push(Span::styled(format!(" {name}"), look.theme.strong));
    Line::from(spans)
}

/// `done` of `total`; 0 where `total` is 0.
pub(super) fn fraction(done: usize, total: usize) -> f64 {
    let as_f64 = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if total == 0 { 0.0 } else { as_f64(done) / as_f64(total) }
}

/// A bar of `cells`, filled to a fraction.
pub(super) fn bar(fraction: f64, cells: usize, theme: &Theme) -> Vec<Span<'static>> {
    let filled = (1..=cells).filter(|cell| self::fraction(2 * cell - 1, 2 * cells) <= fraction).count();
    vec![Span::styled("█".repeat(filled), theme.accent), Span::styled("░".repeat(cells - filled), theme.dim)]
}
