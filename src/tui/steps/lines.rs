//! Lines of the steps of a turn: input and output of each step.
//!
//! Takes a turn and its open sections; gives lines, each with its section.
//! Not here: logprob deltas (`logprob`), settings (`settings_used`).

use ratatui::text::{Line, Span};

use super::Section;
use crate::evidence::{origin, origin_of};
use crate::messages::{Noun, Words};
use crate::pane::{Fold, Parts, header};
use crate::text::{Indent, fit, pad, paragraphs};
use crate::theme::Theme;
use ragonite_app::Turn;
use ragonite_base::{EvidenceId, Millis, clean_line};
use ragonite_inference::Completion;
use ragonite_rag::answer::Translation;
use ragonite_rag::prompt::Prompt;
use ragonite_rag::retrieval::{Hit, PlaceReason, RankedEvidence, Retrieved, ScorePart, SubQuery, SubQueryRole};

/// Margins of the lines of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Margins {
    /// Margins that show the structure.
    Drawn,
    /// No margins, for copying.
    None,
}

/// Look of the steps, and which sections are open.
pub(super) struct StepLook<'a> {
    pub(super) theme: &'a Theme,
    pub(super) words: Words,
    pub(super) width: usize,
    pub(super) margins: Margins,
    pub(super) is_open: &'a dyn Fn(Section) -> bool,
}

impl StepLook<'_> {
    /// Appends a header; returns whether the section is open.
    pub(super) fn open(&self, section: Section, title: &str, summary: &str, parts: &mut Parts<Section>) -> bool {
        let open = (self.is_open)(section);
        parts.push(section, header(Fold::from(open), title, summary, self.width, self.theme));
        open
    }

    pub(super) fn text(&self, text: &str) -> Vec<Line<'static>> {
        paragraphs(text, self.theme.text, self.width, &self.indent(4))
    }

    pub(super) fn dim(&self, text: &str) -> Vec<Line<'static>> {
        paragraphs(text, self.theme.dim, self.width, &self.indent(2))
    }

    /// The heading of a prompt, with its length.
    fn prompt(&self, prompt: &Prompt) -> Vec<Line<'static>> {
        let words = self.words;
        self.dim(&words.prompt_of(&words.counted(prompt.tokens(), Noun::Token)))
    }

    /// The heading of a completion, with its length.
    fn completion(&self, completion: &Completion) -> Vec<Line<'static>> {
        let words = self.words;
        self.dim(&words.model_said(&words.counted(completion.tokens.len(), Noun::Token)))
    }

    pub(super) fn cells(&self, text: &str) -> Line<'static> {
        let margin = if self.margins == Margins::Drawn { "  " } else { "" };
        Line::styled(fit(&format!("{margin}{text}"), self.width), self.theme.text)
    }

    fn indent(&self, cells: usize) -> Indent {
        Indent::of(if self.margins == Margins::Drawn { cells } else { 0 })
    }
}

pub(super) fn rewrite(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let section = Section::Rewrite;
    let rewrite = turn.record.trace.rewrite.as_ref();
    let words = look.words;
    let how = rewrite.map_or(words.not_done(), |rewrite| words.rewritten(rewrite.how));
    if !look.open(section, words.step_question(), how, parts) {
        return;
    }
    parts.extend(section, look.dim(words.as_typed()));
    parts.extend(section, look.text(&turn.record.question));
    if let Some(rewrite) = rewrite {
        parts.extend(section, look.dim(words.searched_for()));
        parts.extend(section, look.text(&rewrite.completed));
        sub_queries(turn, look, parts);
        if let Some(prompt) = &rewrite.prompt {
            parts.extend(section, look.prompt(prompt));
            parts.extend(section, look.text(&prompt.text()));
        }
        if let Some(completion) = &rewrite.completion {
            parts.extend(section, look.completion(completion));
            parts.extend(section, look.text(&completion.text));
        }
    }
    if let Some(translation) = &turn.record.trace.translation {
        translated(translation, look, parts);
    }
}

/// The translation of the question.
fn translated(translation: &Translation, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let section = Section::Rewrite;
    let words = look.words;
    let how = words.translated(translation.how);
    let (from, to) = (translation.from.code(), translation.to.code());
    let time = words.duration(translation.total_ms);
    parts.extend(section, look.dim(&words.translated_how(from, to, how, &time)));
    if let Some(text) = &translation.text {
        parts.extend(section, look.text(text));
    }
    if let Some(prompt) = &translation.prompt {
        parts.extend(section, look.prompt(prompt));
        parts.extend(section, look.text(&prompt.text()));
    }
    if let Some(completion) = &translation.completion {
        parts.extend(section, look.completion(completion));
        parts.extend(section, look.text(&completion.text));
    }
}

/// The sub-queries with their weights.
fn sub_queries(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let sub_queries = turn.record.trace.retrieved.as_ref().map_or(&[][..], |retrieved| &retrieved.sub_queries);
    let words = look.words;
    if !sub_queries.is_empty() {
        parts.extend(Section::Rewrite, look.dim(words.searched_together()));
    }
    for sub_query in sub_queries {
        let (role, why) = (words.role(sub_query.role), words.weight_reason(sub_query.why));
        let text = clean_line(&sub_query.text);
        let line = format!("{}  {}  {}  {text}", words.decimal(sub_query.weight, 2), pad(role, 12), pad(why, 18));
        parts.push(Section::Rewrite, look.cells(&line));
    }
}

pub(super) fn searches(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let words = look.words;
    let Some(retrieved) = &turn.record.trace.retrieved else {
        look.open(Section::Dense, words.step_search(), words.not_done(), parts);
        return;
    };
    let times = retrieved.timings_ms;
    let found = |list: &[RankedEvidence], time| words.so_many_found(list.len(), &words.duration(time));
    let dense = found(&retrieved.dense, times.embed + times.dense);
    if look.open(Section::Dense, words.step_dense(), &dense, parts) {
        ranked(&retrieved.dense, retrieved, Section::Dense, look, parts);
    }
    let lexical = found(&retrieved.lexical, times.lexical);
    if look.open(Section::Lexical, words.step_lexical(), &lexical, parts) {
        ranked(&retrieved.lexical, retrieved, Section::Lexical, look, parts);
    }
    let fused =
        format!("{}, {}", words.counted(retrieved.hits.len(), Noun::Hit), words.duration(times.fuse + times.rerank));
    if !look.open(Section::Fused, words.step_fused(), &fused, parts) {
        return;
    }
    let reranked = retrieved.hits.iter().any(|hit| hit.rerank_score.is_some());
    let title = if reranked { words.ranks_title_reranked() } else { words.ranks_title() };
    let title = if look.margins == Margins::Drawn { title } else { title.strip_prefix("  ").unwrap_or(title) };
    if let Some(quality) = &retrieved.quality {
        let cosine = |cosine: Option<f64>| cosine.map_or_else(|| "–".to_owned(), |cosine| words.decimal(cosine, 2));
        let coverage = quality.coverage.map(|share| format!("{:.0} %", share * 100.0));
        let coverage = coverage.unwrap_or_else(|| "–".to_owned());
        let line = words.fit_measured(&cosine(quality.best_cosine), &cosine(quality.unrelated_cosine), &coverage);
        parts.extend(Section::Fused, look.dim(&line));
    }
    if let Some(day) = retrieved.day {
        parts.extend(Section::Fused, look.dim(&words.day_meant(&day.to_string())));
    }
    parts.push(Section::Fused, Line::styled(title, look.theme.dim));
    for hit in &retrieved.hits {
        let place = |rank: Option<usize>| rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string());
        let (dense, lexical) = (place(hit.dense_rank), place(hit.lexical_rank));
        let rerank = hit.rerank_score.map(|score| words.number(&format!("  {score:>6.3}"))).unwrap_or_default();
        let fused = words.decimal(hit.fused, 4);
        let line = format!("{:>2}  {fused}  {dense:>5}  {lexical:>7}{rerank}  {}", hit.rank, origin(hit));
        parts.push(Section::Fused, look.cells(&line));
        if let Some(why) = why(hit, &retrieved.sub_queries, words) {
            parts.extend(Section::Fused, paragraphs(&why, look.theme.dim, look.width, &look.indent(6)));
        }
    }
}

/// The explanation of a hit: sub-queries that found it, matched words, rank changes and near-duplicates.
fn why(hit: &Hit, sub_queries: &[SubQuery], words: Words) -> Option<String> {
    let mut reasons = Vec::new();
    if !sub_queries.is_empty() && !hit.why.parts.is_empty() {
        let found: Vec<_> =
            hit.why.parts.iter().take(MOST_PARTS).map(|part| found_by(part, sub_queries, words)).collect();
        let more = hit.why.parts.len().saturating_sub(MOST_PARTS);
        let found = found.join(", ");
        reasons.push(if more > 0 { words.found_by_texts_and_more(&found, more) } else { words.found_by_texts(&found) });
    }
    if let (None, Some(score)) = (hit.dense_rank, hit.dense_score) {
        reasons.push(words.in_no_list(&words.decimal(score, 2)));
    }
    if hit.why.cited > 0.0 {
        reasons.push(words.cited_before(&words.decimal(hit.why.cited, 2)));
    }
    if hit.why.place == PlaceReason::Kept {
        reasons.push(words.kept_place().to_owned());
    }
    if !hit.why.matched.is_empty() {
        reasons.push(words.matched_words(&clean_line(&hit.why.matched.join(", "))));
    }
    if hit.why.fused_rank != 0 && hit.why.fused_rank != hit.rank {
        reasons.push(words.by_searches_alone(hit.why.fused_rank));
    }
    let copies = hit.copies.iter().map(|copied| {
        let (title, location) = (clean_line(&copied.title), clean_line(&copied.location));
        words.folded(words.relation(copied.relation), &title, &location)
    });
    reasons.extend(copies);
    (!reasons.is_empty()).then(|| reasons.join(" · "))
}

/// Rank and score of a hit for one sub-query and retriever: `as typed by words 1 (8.20)`. Earlier questions are
/// numbered backwards.
fn found_by(part: &ScorePart, sub_queries: &[SubQuery], words: Words) -> String {
    let back =
        sub_queries.iter().take(part.query + 1).filter(|sub_query| sub_query.role == SubQueryRole::History).count();
    let text = match part.role {
        SubQueryRole::History => format!("{} {back}", words.role(part.role)),
        other => words.role(other).to_owned(),
    };
    let (how, score) = (words.retriever_name(part.retriever), words.decimal(part.score, 2));
    format!("{text} {how} {} ({score})", part.rank)
}

/// Most score parts that are named for a hit, the strongest first.
const MOST_PARTS: usize = 4;

/// The ranked list of one retriever, with the outcome of each evidence.
fn ranked(
    list: &[RankedEvidence],
    retrieved: &Retrieved,
    section: Section,
    look: &StepLook<'_>,
    parts: &mut Parts<Section>,
) {
    let words = look.words;
    for found in list {
        let name = became(found.evidence, retrieved, words);
        parts.push(section, look.cells(&format!("{:>2}  {:>8}  {name}", found.rank, words.decimal(found.score, 4))));
    }
}

/// Outcome of a retrieved evidence.
fn became(evidence: EvidenceId, retrieved: &Retrieved, words: Words) -> String {
    for hit in &retrieved.hits {
        if hit.evidence == evidence {
            return words.hit_of(hit.rank, &origin(hit));
        }
        if let Some(copied) = hit.copies.iter().find(|copied| copied.evidence == evidence) {
            return words.copy_of_hit(hit.rank, &clean_line(&copied.title));
        }
    }
    let passed = retrieved.discarded.iter().find(|passed| passed.evidence == evidence);
    // Older turns have no title for it.
    passed.map_or_else(
        || words.no_hit_by_number(evidence.0),
        |passed| words.no_hit(&origin_of(&passed.title, &passed.heading)),
    )
}

pub(super) fn prompt(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let words = look.words;
    let Some(prompt) = turn.answer().map(|answer| &answer.prompt).filter(|prompt| !prompt.segments.is_empty()) else {
        let size = turn.prompt.as_ref().map(|size| words.counted(size.tokens, Noun::Token));
        look.open(Section::Prompt, words.step_prompt(), size.as_deref().unwrap_or(words.not_built()), parts);
        return;
    };
    let sources = words.counted(prompt.sources().len(), Noun::Source);
    let order = prompt.order().map_or("", |order| words.source_order(order));
    let summary = words.prompt_sizes(&words.counted(prompt.tokens(), Noun::Token), &sources, order);
    if look.open(Section::Prompt, words.step_prompt(), &summary, parts) {
        for (at, segment) in prompt.segments.iter().enumerate() {
            let section = Section::Segment(at);
            let open = (look.is_open)(section);
            let tokens = words.counted(segment.tokens, Noun::Token);
            let name = words.segment(&segment.part);
            let mut line = header(Fold::from(open), &name, &tokens, look.width.saturating_sub(2), look.theme);
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
    let words = look.words;
    let missing: usize = prompt.cut.iter().map(|cut| cut.tokens).sum();
    let summary = if prompt.cut.is_empty() { words.nothing().to_owned() } else { words.counted(missing, Noun::Token) };
    if look.open(Section::Cut, words.step_cut(), &summary, parts) {
        for cut in &prompt.cut {
            let tokens = words.counted(cut.tokens, Noun::Token);
            let row = words.cut_row(&words.sources(&[cut.rank]), words.cut_how(cut.how), &tokens);
            parts.push(Section::Cut, look.cells(&row));
        }
    }
}

pub(super) fn raw_answer(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let words = look.words;
    let Some(answer) = turn.answer() else {
        look.open(Section::Raw, words.step_raw(), words.not_done(), parts);
        return;
    };
    let summary = ending(&answer.completion, words);
    if look.open(Section::Raw, words.step_raw(), &summary, parts) {
        parts.extend(Section::Raw, look.text(&answer.completion.text));
        if let Some(named) = &answer.named {
            parts.extend(Section::Raw, look.dim(&words.named_afterwards(named.mark.trim())));
        }
    }
}

fn ending(completion: &Completion, words: Words) -> String {
    format!("{}, {}", words.counted(completion.tokens.len(), Noun::Token), words.finish(completion.finish))
}

pub(super) fn counterfactuals(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let words = look.words;
    let Some(attribution) = &turn.record.trace.attribution else { return };
    for (at, cluster) in attribution.clusters.iter().enumerate() {
        for (iteration, counterfactual) in cluster.counterfactuals.iter().enumerate() {
            let section = Section::Counterfactual(at, iteration);
            let title = words.step_without(&words.sources(&cluster.hits));
            let summary = words.similarity_of(&words.decimal(counterfactual.similarity, 3));
            if !look.open(section, &title, &summary, parts) {
                continue;
            }
            parts.extend(section, look.dim(&words.answer_ended(&ending(&counterfactual.completion, words))));
            parts.extend(section, look.text(&counterfactual.completion.text));
            if let Some(original) = iteration.checked_sub(1).and_then(|further| attribution.resampled.get(further)) {
                parts.extend(section, look.dim(&words.with_every_source(&ending(original, words))));
                parts.extend(section, look.text(&original.text));
            }
            let inner = Section::CounterfactualPrompt(at, iteration);
            let tokens = words.counted(counterfactual.prompt.tokens(), Noun::Token);
            if look.open(inner, words.its_prompt(), &tokens, parts) {
                parts.extend(inner, look.text(&counterfactual.prompt.text()));
            }
        }
    }
}

pub(super) fn costs(turn: &Turn, look: &StepLook<'_>, parts: &mut Parts<Section>) {
    let (trace, words) = (&turn.record.trace, look.words);
    let times = trace.timings_ms;
    if !look.open(Section::Costs, words.step_costs(), &words.duration(times.total), parts) {
        return;
    }
    let completion = turn.answer().map(|answer| &answer.completion);
    let generated = |completion: &Completion| {
        let (prompt, reused) = (words.thousands(completion.prompt_tokens), words.thousands(completion.reused_tokens));
        words.in_and_out(&prompt, &reused, &words.thousands(completion.tokens.len()))
    };
    let explained = trace.attribution.as_ref().and_then(|attribution| {
        let (mut prompt, mut reused, mut written) = (0, 0, 0);
        for one in attribution.generated() {
            (prompt, reused, written) =
                (prompt + one.prompt_tokens, reused + one.reused_tokens, written + one.tokens.len());
        }
        let (prompt, reused) = ((prompt, words.thousands(prompt)), words.thousands(reused));
        (prompt.0 > 0).then(|| words.in_and_out(&prompt.1, &reused, &words.thousands(written)))
    });
    let rewrite = trace.rewrite.as_ref().and_then(|rewrite| rewrite.completion.as_ref());
    let translation = trace.translation.as_ref();
    let translated = translation.and_then(|translation| translation.completion.as_ref());
    let mut rows = vec![(words.cost_rewrite(), times.rewrite, rewrite.map(generated).unwrap_or_default())];
    rows.extend(
        translation.map(|_| (words.cost_translate(), times.translate, translated.map(generated).unwrap_or_default())),
    );
    rows.extend([
        (words.cost_retrieve(), times.retrieve, String::new()),
        (words.cost_first_token(), times.first_token, words.part_of_answer().to_owned()),
        (words.cost_answer(), times.answer, completion.map(generated).unwrap_or_default()),
        (words.cost_explain(), times.explain, explained.unwrap_or_default()),
        (words.cost_total(), times.total, String::new()),
    ]);
    for (name, time, tokens) in rows {
        let taken = if time == Millis::default() { "–".to_owned() } else { words.duration(time) };
        let line = format!("{} {taken:>8}  {tokens}", pad(name, 11));
        parts.push(Section::Costs, look.cells(line.trim_end()));
    }
    let ids = [
        (words.cost_profile(), &trace.profile),
        (words.cost_embedder(), &trace.embedder),
        (words.cost_generator(), &trace.generator),
    ];
    for (name, id) in ids {
        parts.push(Section::Costs, look.cells(&format!("{} {}", pad(name, 11), clean_line(id))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragonite_base::Language;
    use ragonite_rag::retrieval::{Dependence, Retriever, WeightReason};

    #[test]
    fn a_hit_says_which_text_found_it_and_how_far_back_that_was_asked() {
        let sub_query = |role| SubQuery {
            role,
            text: String::new(),
            standing: Dependence::Complete,
            weight: 1.0,
            why: WeightReason::Unsure,
            dense: Vec::new(),
            lexical: Vec::new(),
            cited: Vec::new(),
        };
        let english = Words::default();
        let sub_queries =
            [SubQueryRole::Raw, SubQueryRole::Rewrite, SubQueryRole::History, SubQueryRole::History].map(sub_query);
        let part = |query: usize, how| ScorePart {
            retriever: how,
            query,
            role: sub_queries[query].role,
            rank: 2,
            score: 0.5,
            points: 0.1,
        };
        assert_eq!(found_by(&part(0, Retriever::Dense), &sub_queries, english), "as typed by meaning 2 (0.50)");
        assert_eq!(found_by(&part(1, Retriever::Lexical), &sub_queries, english), "completed by words 2 (0.50)");
        assert_eq!(found_by(&part(3, Retriever::Lexical), &sub_queries, english), "asked before 2 by words 2 (0.50)");
        let german = Words::of(Language::German);
        assert_eq!(found_by(&part(3, Retriever::Lexical), &sub_queries, german), "Vorfrage 2 lexikalisch 2 (0,50)");
    }
}
