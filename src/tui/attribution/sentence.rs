//! Attribution of one sentence of the answer: its text, and a bar per cluster of sources.
//!
//! Not here: attribution of the whole answer (`view`).

use ratatui::text::Line;

use super::bars::{BarValue, Cells, share_line};
use super::view::{INTRODUCTION, Role, members};
use crate::action::{Action, Place};
use crate::look::Look;
use crate::messages::Noun;
use crate::pane::{Fold, Parts};
use crate::screen::ScreenState;
use crate::text::{Indent, paragraphs};
use ragonite_app::Turn;
use ragonite_base::clean_text;
use ragonite_rag::answer::citation;
use ragonite_rag::attribution::{Provenance, Sentence, SentenceCluster, change_of};

/// The hint on selecting sentences.
pub(super) fn hint(turn: &Turn, screen: &ScreenState, look: &Look<'_>) -> Vec<Line<'static>> {
    let words = look.words;
    let sentences = turn.sentences();
    let key = |action| screen.keymap.key(action, Place::Panes).unwrap_or_default();
    if sentences.is_empty() {
        // A regenerated answer has no sentences that can be scored again.
        if turn.record.trace.attribution.as_ref().is_some_and(|shown| shown.instead.is_some()) {
            return Vec::new();
        }
        let text = words.sentence_hint(&key(Action::NextSentence));
        return paragraphs(&text, look.theme.dim, look.width, &Indent::default());
    }
    let count = words.counted(sentences.len(), Noun::Sentence);
    let text = words.sentences_hint(&count, &key(Action::PreviousSentence), &key(Action::NextSentence));
    paragraphs(&text, look.theme.dim, look.width, &Indent::default())
}

/// The sentence at `at` of the answer.
pub(super) fn parts(turn: &Turn, at: usize, screen: &ScreenState, look: &Look<'_>, parts: &mut Parts<usize>) {
    let Some(sentence) = turn.sentences().get(at) else { return };
    let words = look.words;
    let tokens = words.counted(sentence.tokens.len(), Noun::Token);
    let place = words.sentence_of(at + 1, turn.sentences().len(), &tokens);
    parts.push(INTRODUCTION, Line::styled(place, look.theme.dim));
    // A no-break space keeps word and number of a citation on one line.
    let text = clean_text(&sentence.text).replace("ource ", "ource\u{a0}");
    parts.extend(INTRODUCTION, paragraphs(&text, look.theme.text, look.width, &Indent::of(2)));
    parts.extend(INTRODUCTION, verdict(sentence, look));
    parts.push(INTRODUCTION, Line::default());
    let cells = Cells::of(sentence.clusters.iter().map(|cluster| cluster.hits.as_slice()), look);
    for (at, cluster) in sentence.clusters.iter().enumerate() {
        let open = screen.attribution.outline.is_open(at);
        let value = BarValue::of(cluster.effect(), cluster.share);
        parts.push(at, share_line(value, &cluster.hits, Fold::from(open), cells, look));
        parts.extend(at, details(turn, sentence, cluster, look));
        if open {
            parts.extend(at, members(turn, &cluster.hits, look));
            parts.push(at, Line::default());
        }
    }
}

fn verdict(sentence: &Sentence, look: &Look<'_>) -> Vec<Line<'static>> {
    let words = look.words;
    let strongest = sentence.clusters.first().filter(|cluster| cluster.share.is_some() && sentence.decisive);
    let result = match strongest {
        Some(cluster) => words.rests_on(&words.sources(&cluster.hits)),
        None => words.none_decides().to_owned(),
    };
    let method = match sentence.clusters.first().map(|cluster| cluster.how) {
        Some(Provenance::Preview) => words.sentence_by_preview(),
        _ => words.sentence_by_logprob(),
    };
    let mut lines = paragraphs(&result, look.theme.strong, look.width, &Indent::default());
    lines.extend(paragraphs(method, look.theme.dim, look.width, &Indent::default()));
    lines
}

fn details(turn: &Turn, sentence: &Sentence, cluster: &SentenceCluster, look: &Look<'_>) -> Vec<Line<'static>> {
    let words = look.words;
    let sources = turn.answer().map(|answer| answer.prompt.sources()).unwrap_or_default();
    // Older versions did not store what a sentence cites.
    let named =
        if sentence.cited.is_empty() { citation::read(&sentence.text, &sources).valid } else { sentence.cited.clone() };
    let strongest = sentence.clusters.iter().map(|cluster| cluster.contribution).fold(0.0, f64::max);
    let share = cluster.share.filter(|_| sentence.decisive);
    let role = Role::of(cluster.effect(), strongest, share);
    let cited = role.beside(&cluster.hits, &named, words);
    let (percent, change) = (words.decimal(cluster.contribution * 100.0, 1), words.number(&change_of(cluster.drop, 2)));
    let text = words.sentence_details(&percent, &change, cited);
    paragraphs(&text, look.theme.dim, look.width, &Indent::of(4))
}
