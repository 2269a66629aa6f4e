//! Logprob deltas: how much less probable the answer is without each cluster, in total and per token.
//!
//! Not here: what the deltas mean for a source (`attribution`).

use super::Section;
use super::lines::StepLook;
use crate::pane::Parts;
use ragonite_app::Turn;
use ragonite_base::clean_line;
use ragonite_rag::attribution::{Attribution, Cluster, Provenance, change_of};

/// One section for each cluster with deltas.
pub(super) fn parts(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let words = look.words;
    let Some(attribution) = &turn.record.trace.attribution else { return };
    for (at, cluster) in attribution.clusters.iter().enumerate() {
        let Some(drop) = cluster.drop() else { continue };
        let how = match attribution.how_of_drops(cluster) {
            Some(Provenance::Preview) => words.hidden_estimate(),
            _ => words.left_out(),
        };
        let title = words.step_drops(&words.sources(&cluster.hits));
        let summary = format!("{}, {how}", words.number(&change_of(drop, 2)));
        if look.open(Section::Drops(at), &title, &summary, parts) {
            tokens(attribution, cluster, at, look, parts);
        }
    }
}

fn tokens(
    attribution: &Attribution,
    cluster: &Cluster,
    section: usize,
    look: &StepLook<'_>,
    parts: &mut Parts<Section>,
) {
    let words = look.words;
    let is_content = |(at, _): &(usize, &f32)| !attribution.citation_tokens.contains(at);
    for (at, drop) in cluster.drops.iter().enumerate().filter(is_content) {
        let text = attribution.tokens.get(at).map(|token| clean_line(&words.quoted(token))).unwrap_or_default();
        let bits = cluster
            .divergences
            .get(at)
            .map(|bits| format!("{} bit  ", words.decimal(f64::from(*bits), 3)))
            .unwrap_or_default();
        let line = format!("{:>4}  {:>7}  {bits}{text}", at + 1, words.number(&change_of(f64::from(*drop), 3)));
        parts.push(Section::Drops(section), look.cells(&line));
    }
}
