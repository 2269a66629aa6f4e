//! What each step of a turn took and gave, as lines.

use ratatui::text::{Line, Span};

use super::behind::Section;
use super::evidence::origin;
use super::{Fold, Parts, header};
use crate::answer::{RewriteHow, Translation, TranslationHow};
use crate::app::Turn;
use crate::base::{Millis, clean_line};
use crate::inference::{Completion, Finish};
use crate::prompt::{CutHow, Part, Prompt, SourceOrder};
use crate::retrieval::{Hit, Leg, LegReason, LegRole, QueryLeg, RankedEvidence, Retrieved, Vote};
use crate::tui::text::{Indent, counted, duration, fit, pad, paragraphs, sources, thousands};
use crate::tui::theme::Theme;

/// How the steps are looked at.
pub(super) struct StepLook<'a> {
    pub(super) theme: &'a Theme,
    pub(super) width: usize,
    pub(super) is_open: &'a dyn Fn(Section) -> bool,
}

impl StepLook<'_> {
    /// Pushes a header; whether the section is open.
    pub(super) fn open(&self, section: Section, texts: (&str, &str), parts: &mut Parts<Section>) -> bool {
        let open = (self.is_open)(section);
        parts.push(section, header(Fold::from(open), texts.0, texts.1, (self.width, self.theme)));
        open
    }

    pub(super) fn text(&self, text: &str) -> Vec<Line<'static>> {
        paragraphs(text, self.theme.text, self.width, &Indent::of(4))
    }

    pub(super) fn dim(&self, text: &str) -> Vec<Line<'static>> {
        paragraphs(text, self.theme.dim, self.width, &Indent::of(2))
    }

    pub(super) fn cells(&self, text: &str) -> Line<'static> {
        Line::styled(fit(&format!("  {text}"), self.width), self.theme.text)
    }
}

pub(super) fn rewrite(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let section = Section::Rewrite;
    let rewrite = turn.record.trace.rewrite.as_ref();
    let how = match rewrite.map(|rewrite| rewrite.how) {
        None => "not done",
        Some(RewriteHow::First) => "first question, searched as it is",
        Some(RewriteHow::Complete) => "complete as typed",
        Some(RewriteHow::Model) => "completed by the model",
        Some(RewriteHow::Again) => "asked again, as it was completed before",
        Some(RewriteHow::Edited) => "edited by you, searched for as it stands",
        Some(RewriteHow::Mended) => "completed by the model, lost names added",
        Some(RewriteHow::Named) => "the model's text was no usable question, names of the conversation added",
        Some(RewriteHow::Kept) => "the model's text was no usable question, kept as typed",
    };
    if !look.open(section, ("1 Question", how), parts) {
        return;
    }
    parts.extend(section, look.dim("as typed"));
    parts.extend(section, look.text(&turn.record.question));
    if let Some(rewrite) = rewrite {
        parts.extend(section, look.dim("searched for"));
        parts.extend(section, look.text(&rewrite.completed));
        legs(turn, look, parts);
        if let Some(prompt) = &rewrite.prompt {
            parts.extend(section, look.dim(&format!("prompt, {}", counted(prompt.tokens(), "token"))));
            parts.extend(section, look.text(&prompt.text()));
        }
        if let Some(completion) = &rewrite.completion {
            parts.extend(section, look.dim(&format!("the model said, {}", counted(completion.tokens.len(), "token"))));
            parts.extend(section, look.text(&completion.text));
        }
    }
    if let Some(translation) = &turn.record.trace.translation {
        translated(translation, look, parts);
    }
}

/// The question in the language of the documents.
fn translated(translation: &Translation, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let section = Section::Rewrite;
    let how = match translation.how {
        TranslationHow::Model => "by the model",
        TranslationHow::Known => "known from before",
        TranslationHow::Dropped => "the model's text was no usable translation, not searched for",
        TranslationHow::TooLong => "the question is too long to be translated",
    };
    let (from, to) = (translation.from.code(), translation.to.code());
    let time = duration(translation.total_ms);
    parts.extend(section, look.dim(&format!("translated from {from} to {to}, {how}, {time}")));
    if let Some(text) = &translation.text {
        parts.extend(section, look.text(text));
    }
    if let Some(prompt) = &translation.prompt {
        parts.extend(section, look.dim(&format!("prompt, {}", counted(prompt.tokens(), "token"))));
        parts.extend(section, look.text(&prompt.text()));
    }
    if let Some(completion) = &translation.completion {
        parts.extend(section, look.dim(&format!("the model said, {}", counted(completion.tokens.len(), "token"))));
        parts.extend(section, look.text(&completion.text));
    }
}

/// What a follow-up was searched for, and how much each text counted.
fn legs(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let legs = turn.record.trace.retrieved.as_ref().map_or(&[][..], |retrieved| &retrieved.legs);
    if !legs.is_empty() {
        parts.extend(Section::Rewrite, look.dim("searched together, with weights"));
    }
    for leg in legs {
        let role = role_name(leg.role);
        let why = match leg.why {
            LegReason::Only => "alone",
            LegReason::Sure => "sure of its page",
            LegReason::Unsure => "not sure of a page",
            LegReason::SameTopic => "same topic",
            LegReason::OtherTopic => "another topic",
        };
        let text = clean_line(&leg.text);
        let line = format!("{:.2}  {}  {}  {text}", leg.weight, pad(role, 12), pad(why, 18));
        parts.push(Section::Rewrite, look.cells(&line));
    }
}

pub(super) fn searches(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let Some(retrieved) = &turn.record.trace.retrieved else {
        look.open(Section::Dense, ("2 Search", "not done"), parts);
        return;
    };
    let times = retrieved.timings_ms;
    let found = |list: &[RankedEvidence], time| format!("{} found, {}", list.len(), duration(time));
    let dense = found(&retrieved.dense, times.embed + times.dense);
    if look.open(Section::Dense, ("2 Search by meaning (dense)", &dense), parts) {
        leg(&retrieved.dense, retrieved, (Section::Dense, look), parts);
    }
    let lexical = found(&retrieved.lexical, times.lexical);
    if look.open(Section::Lexical, ("3 Search by words (lexical)", &lexical), parts) {
        leg(&retrieved.lexical, retrieved, (Section::Lexical, look), parts);
    }
    let fused = format!("{}, {}", counted(retrieved.hits.len(), "hit"), duration(times.fuse + times.rerank));
    if !look.open(Section::Fused, ("4 Both, fused", &fused), parts) {
        return;
    }
    let reranked = retrieved.hits.iter().any(|hit| hit.rerank_score.is_some());
    let rerank_title = if reranked { "  rerank" } else { "" };
    parts.push(Section::Fused, Line::styled(format!("   #  fused   dense  lexical{rerank_title}"), look.theme.dim));
    for hit in &retrieved.hits {
        let place = |rank: Option<usize>| rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string());
        let (dense, lexical) = (place(hit.dense_rank), place(hit.lexical_rank));
        let rerank = hit.rerank_score.map(|score| format!("  {score:>6.3}")).unwrap_or_default();
        let line = format!("{:>2}  {:.4}  {dense:>5}  {lexical:>7}{rerank}  {}", hit.rank, hit.fused, origin(hit));
        parts.push(Section::Fused, look.cells(&line));
        if let Some(why) = why(hit, &retrieved.legs) {
            parts.extend(Section::Fused, paragraphs(&why, look.theme.dim, look.width, &Indent::of(6)));
        }
    }
}

/// What the row of a hit leaves open: which texts found it, the words that were found, a place that is not that of its
/// score, and what says the same.
fn why(hit: &Hit, legs: &[QueryLeg]) -> Option<String> {
    let mut told = Vec::new();
    if !legs.is_empty() && !hit.why.votes.is_empty() {
        let found: Vec<_> = hit.why.votes.iter().take(MOST_VOTES).map(|vote| found_by(vote, legs)).collect();
        let more = hit.why.votes.len().saturating_sub(MOST_VOTES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        told.push(format!("found {}{more}", found.join(", ")));
    }
    if let (None, Some(score)) = (hit.dense_rank, hit.dense_score) {
        told.push(format!("by meaning {score:.2}, in no list"));
    }
    if hit.why.cited > 0.0 {
        told.push(format!("cited by answers before +{:.2}", hit.why.cited));
    }
    if !hit.why.matched.is_empty() {
        told.push(format!("words: {}", clean_line(&hit.why.matched.join(", "))));
    }
    if hit.why.fused_rank != 0 && hit.why.fused_rank != hit.rank {
        told.push(format!("by the searches alone {}", hit.why.fused_rank));
    }
    let copies = hit.copies.iter().map(|copied| {
        let (title, location) = (clean_line(&copied.title), clean_line(&copied.location));
        format!("{} in {title} ({location})", copied.relation.as_str())
    });
    told.extend(copies);
    (!told.is_empty()).then(|| told.join(" · "))
}

/// Where one list of one text has a hit: `as typed by words 1 (8.20)`. Questions asked before are told apart by how many
/// questions back they lie.
fn found_by(vote: &Vote, legs: &[QueryLeg]) -> String {
    let back = legs.iter().take(vote.query + 1).filter(|leg| leg.role == LegRole::History).count();
    let text = match vote.role {
        LegRole::History => format!("{} {back}", role_name(vote.role)),
        other => role_name(other).to_owned(),
    };
    let how = match vote.leg {
        Leg::Dense => "by meaning",
        Leg::Lexical => "by words",
    };
    format!("{text} {how} {} ({:.2})", vote.rank, vote.score)
}

fn role_name(role: LegRole) -> &'static str {
    match role {
        LegRole::Raw => "as typed",
        LegRole::Rewrite => "completed",
        LegRole::Translation => "translated",
        LegRole::History => "asked before",
    }
}

/// Lists of texts that are named for a hit, the strongest first.
const MOST_VOTES: usize = 4;

/// The list of one search, with the names of those evidences that became hits.
fn leg(list: &[RankedEvidence], retrieved: &Retrieved, look: (Section, &StepLook<'_>), parts: &mut Parts<Section>) {
    let (section, look) = look;
    for found in list {
        let hit = retrieved.hits.iter().find(|hit| hit.evidence == found.evidence);
        let name = hit.map_or_else(
            || format!("evidence {}, no hit", found.evidence),
            |hit| format!("hit {}: {}", hit.rank, origin(hit)),
        );
        parts.push(section, look.cells(&format!("{:>2}  {:>8.4}  {name}", found.rank, found.score)));
    }
}

pub(super) fn prompt(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let Some(prompt) = turn.answer().map(|answer| &answer.prompt).filter(|prompt| !prompt.segments.is_empty()) else {
        let size = turn.prompt.as_ref().map(|size| counted(size.tokens, "token"));
        look.open(Section::Prompt, ("5 Prompt", size.as_deref().unwrap_or("not built")), parts);
        return;
    };
    let sources = counted(prompt.sources().len(), "source");
    let order = match prompt.order() {
        None => "",
        Some(SourceOrder::BestLast) => ", best last",
        Some(SourceOrder::BestFirst) => ", best first",
    };
    let summary = format!("{}, {sources}{order}", counted(prompt.tokens(), "token"));
    if look.open(Section::Prompt, ("5 Prompt", &summary), parts) {
        for (at, segment) in prompt.segments.iter().enumerate() {
            let section = Section::Segment(at);
            let open = (look.is_open)(section);
            let tokens = counted(segment.tokens, "token");
            let mut line =
                header(Fold::from(open), &part_name(segment.part), &tokens, (look.width.saturating_sub(2), look.theme));
            line.spans.insert(0, Span::raw("  "));
            parts.push(section, line);
            if open {
                parts.extend(section, look.text(&segment.text));
            }
        }
    }
    cut(prompt, look, parts);
}

fn cut(prompt: &Prompt, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let missing: usize = prompt.cut.iter().map(|cut| cut.tokens).sum();
    let summary = if prompt.cut.is_empty() { "nothing".to_owned() } else { counted(missing, "token") };
    if look.open(Section::Cut, ("6 Cut to fit", &summary), parts) {
        for cut in &prompt.cut {
            let how = match cut.how {
                CutHow::Dropped => "left out",
                CutHow::Shortened => "shortened",
            };
            let tokens = counted(cut.tokens, "token");
            parts.push(Section::Cut, look.cells(&format!("{} {how}, {tokens}", sources(&[cut.rank]))));
        }
    }
}

fn part_name(part: Part) -> String {
    match part {
        Part::Template => "chat template".to_owned(),
        Part::System => "instructions".to_owned(),
        Part::Evidence { rank } => sources(&[rank]),
        Part::History => "earlier turns".to_owned(),
        Part::Question => "question".to_owned(),
    }
}

pub(super) fn raw_answer(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let Some(answer) = turn.answer() else {
        look.open(Section::Raw, ("7 Answer as the model wrote it", "not done"), parts);
        return;
    };
    let summary = ending(&answer.completion);
    if look.open(Section::Raw, ("7 Answer as the model wrote it", &summary), parts) {
        parts.extend(Section::Raw, look.text(&answer.completion.text));
    }
}

fn ending(completion: &Completion) -> String {
    let how = match completion.finish {
        Finish::End => "ended by itself",
        Finish::Stop => "ended at a stop text",
        Finish::Length => "ended at the token limit or stopped",
    };
    format!("{}, {how}", counted(completion.tokens.len(), "token"))
}

pub(super) fn counterfactuals(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let Some(attribution) = &turn.record.trace.attribution else { return };
    for (at, cluster) in attribution.clusters.iter().enumerate() {
        for (iteration, counterfactual) in cluster.counterfactuals.iter().enumerate() {
            let section = Section::Counterfactual(at, iteration);
            let title = format!("8 Without {}", sources(&cluster.hits));
            let summary = format!("similarity {:.3}", counterfactual.similarity);
            if !look.open(section, (&title, &summary), parts) {
                continue;
            }
            parts.extend(section, look.dim(&format!("answer, {}", ending(&counterfactual.completion))));
            parts.extend(section, look.text(&counterfactual.completion.text));
            let inner = Section::CounterfactualPrompt(at, iteration);
            let tokens = counted(counterfactual.prompt.tokens(), "token");
            if look.open(inner, ("its prompt", &tokens), parts) {
                parts.extend(inner, look.text(&counterfactual.prompt.text()));
            }
        }
    }
}

pub(super) fn costs(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let trace = &turn.record.trace;
    let times = trace.timings_ms;
    if !look.open(Section::Costs, ("9 Time and tokens", &duration(times.total)), parts) {
        return;
    }
    let completion = turn.answer().map(|answer| &answer.completion);
    let generated = |completion: &Completion| {
        let (prompt, reused) = (thousands(completion.prompt_tokens), thousands(completion.reused_tokens));
        format!("{prompt} in ({reused} reused), {} out", thousands(completion.tokens.len()))
    };
    let rewrite = trace.rewrite.as_ref().and_then(|rewrite| rewrite.completion.as_ref());
    let translation = trace.translation.as_ref();
    let translated = translation.and_then(|translation| translation.completion.as_ref());
    let mut rows = vec![("rewrite", times.rewrite, rewrite.map(generated).unwrap_or_default())];
    rows.extend(translation.map(|_| ("translate", times.translate, translated.map(generated).unwrap_or_default())));
    rows.extend([
        ("retrieve", times.retrieve, String::new()),
        ("first token", times.first_token, "part of the answer".to_owned()),
        ("answer", times.answer, completion.map(generated).unwrap_or_default()),
        ("explain", times.explain, String::new()),
        ("total", times.total, String::new()),
    ]);
    for (name, time, tokens) in rows {
        let taken = if time == Millis::default() { "–".to_owned() } else { duration(time) };
        let line = format!("{} {taken:>8}  {tokens}", pad(name, 11));
        parts.push(Section::Costs, look.cells(line.trim_end()));
    }
    for (name, id) in [("profile", &trace.profile), ("embedder", &trace.embedder), ("generator", &trace.generator)] {
        parts.push(Section::Costs, look.cells(&format!("{} {}", pad(name, 11), clean_line(id))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::Standing;

    #[test]
    fn a_hit_says_which_text_found_it_and_how_far_back_that_was_asked() {
        let leg = |role| QueryLeg {
            role,
            text: String::new(),
            standing: Standing::Complete,
            weight: 1.0,
            why: LegReason::Unsure,
            dense: Vec::new(),
            lexical: Vec::new(),
            cited: Vec::new(),
        };
        let legs = [LegRole::Raw, LegRole::Rewrite, LegRole::History, LegRole::History].map(leg);
        let vote =
            |query: usize, how| Vote { leg: how, query, role: legs[query].role, rank: 2, score: 0.5, points: 0.1 };
        assert_eq!(found_by(&vote(0, Leg::Dense), &legs), "as typed by meaning 2 (0.50)");
        assert_eq!(found_by(&vote(1, Leg::Lexical), &legs), "completed by words 2 (0.50)");
        assert_eq!(found_by(&vote(3, Leg::Lexical), &legs), "asked before 2 by words 2 (0.50)");
    }
}
