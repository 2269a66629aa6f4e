//! Batched decoding: several answers at once.
//!
//! Takes requests whose prompts share a prefix. Prompts are prefilled one after the other, each in its own sequence,
//! which starts as a copy of the shared prefix. Where the batch policy allows mixed calls, answers to prefilled prompts
//! are decoded in the same calls; elsewhere the draft is read together with the end of its prompt, and answers that
//! left their draft wait until several can be decoded together.
//! Invariants: an answer equals the answer its request gets alone; a prompt is prefilled only when there are cells for
//! it and its answer; cells are given up, not freed, while other answers decode, so that each answer's cells stay in
//! order; none of these sequences stays in the context afterwards.
//! Not here: decoding one answer (`decoding_sequence`), which prompts to read (`attribution`).

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::time::Instant;

use llama_cpp_2::token::LlamaToken;

use super::LlamaGenerator;
use super::batch_policy::{BatchPolicy, KERNEL_TILE, Phase};
use super::decoding_sequence::{DecodingSequence, Start};
use super::draft::in_vocabulary_len;
use super::engine::{BatchSlice, Logits, Sequence};
use super::speculative::DraftProposal;
use super::stream_packing::{contiguous_run, draft_owners, next_move};
use ragonite_base::CancelToken;
use ragonite_inference::{Completion, GenerateRequest, InferenceError};

/// Maximum of answers decoded at the same time where sequences share one KV memory.
pub(super) const MAX_PARALLEL: usize = 8;

const DOING: &str = "generating several answers";

/// Called for each finished answer; may stop the batch.
type OnDone<'d> = dyn FnMut(usize, Completion) -> ControlFlow<()> + 'd;

/// Requests with the same prompt.
struct PromptGroup {
    waiting: VecDeque<usize>,
    prompt: Vec<LlamaToken>,
    /// Length of the prompt's prefix that is in the slot.
    shared: usize,
}

/// A prompt that is being prefilled, or whose requests wait for cells.
struct Prefill {
    group: usize,
    sequence: Sequence,
    read: usize,
    started: Instant,
}

struct Scheduler<'a> {
    requests: &'a [GenerateRequest],
    groups: Vec<PromptGroup>,
    /// The group to prefill next.
    next: usize,
    reader: Option<Prefill>,
    writers: Vec<DecodingSequence<'a>>,
    /// The draft and the finished answers, for prompt lookup.
    lookup_texts: Vec<Vec<LlamaToken>>,
    /// Empty sequences.
    free: Vec<Sequence>,
    /// Context tokens for a prompt and its answer.
    context: usize,
    /// Largest `max_tokens` of the requests.
    longest: usize,
}

impl Scheduler<'_> {
    /// Cells that started work may still need: the rest of the prompt with its first answer, and the rest of every
    /// other answer.
    fn remaining_tokens(&self) -> usize {
        let rest = |reader: &Prefill| self.groups[reader.group].prompt.len() - reader.read;
        let first = |reader: &Prefill| self.answer_cells(reader.group);
        let reader = self.reader.as_ref().map_or(0, |reader| rest(reader) + first(reader));
        let left = |one: &DecodingSequence<'_>| self.answer_cells(one.group).saturating_sub(one.tokens().len());
        reader + self.writers.iter().map(left).sum::<usize>()
    }

    /// Cells that the next answer to the prompt of `group` may need.
    fn answer_cells(&self, group: usize) -> usize {
        let PromptGroup { prompt, .. } = &self.groups[group];
        self.longest.min(self.context - prompt.len()) + 1
    }

    /// Cells that a group needs for itself and its first answer.
    fn cells(&self, group: usize) -> usize {
        let PromptGroup { prompt, shared, .. } = &self.groups[group];
        prompt.len() - shared + self.answer_cells(group)
    }

    /// Cells of the group that needs most.
    fn most_cells(&self) -> usize {
        (0..self.groups.len()).map(|group| self.cells(group)).max().unwrap_or(0)
    }

    /// Longest prefix that a group still to be prefilled shares with the slot.
    fn still_shared(&self) -> usize {
        self.groups[self.next..].iter().map(|group| group.shared).max().unwrap_or(0)
    }

    /// Extends answers without a valid draft by prompt lookup in the other answers. `in_vocabulary_len` gives how many
    /// tokens of a proposal can be read.
    fn propose(&mut self, readable: impl Fn(&[LlamaToken]) -> usize) {
        let proposals: Vec<Vec<LlamaToken>> = (self.writers.iter().enumerate())
            .map(|(at, writer)| {
                let others = self.writers.iter().enumerate().filter(|(other, _)| *other != at);
                let others =
                    others.map(|(_, other)| other.tokens()).chain([self.groups[writer.group].prompt.as_slice()]);
                let mut proposed =
                    writer.propose(self.lookup_texts.iter().rev().map(Vec::as_slice).chain(others), self.context);
                proposed.truncate(readable(&proposed));
                proposed
            })
            .collect();
        for (writer, proposed) in self.writers.iter_mut().zip(proposals) {
            writer.piece.extend(proposed);
        }
    }

    /// Plans the next call: at most `most` tokens in a mixed call, and at most `wasted` draft tokens.
    fn plan(&mut self, rows: BatchPolicy, most: usize, wasted: usize) -> Step {
        if !rows.allows_mixed {
            return self.plan_apart(most);
        }
        // Beside a prompt, draft tokens are worth less than prompt tokens.
        let mut draft_tokens_left = most.saturating_sub(KERNEL_TILE + self.writers.len()).min(wasted);
        for writer in &mut self.writers {
            let read = writer.piece.len().min(draft_tokens_left + 1);
            writer.piece.truncate(read);
            draft_tokens_left -= read - 1;
        }
        let written: usize = self.writers.iter().map(|writer| writer.piece.len()).sum();
        let budget = most.saturating_sub(written) / KERNEL_TILE * KERNEL_TILE;
        Step { call: Phase::Decode, budget, writers: (0..self.writers.len()).collect() }
    }

    /// As [`plan`](Self::plan), where a call either prefills or decodes.
    fn plan_apart(&self, most: usize) -> Step {
        let writing = |writers| Step { call: Phase::Decode, budget: 0, writers };
        if let Some(sure) = self.writers.iter().position(DecodingSequence::follows_draft) {
            return writing(vec![sure]);
        }
        if self.unread() > 0 {
            return Step { call: Phase::Prefill, budget: most, writers: Vec::new() };
        }
        let sequences: Vec<usize> = self.writers.iter().map(|writer| writer.sequence.0).collect();
        writing(contiguous_run(&sequences))
    }

    /// For each of these answers, the answer whose draft it takes.
    fn draft_owners_of(&self, writers: &[usize]) -> Vec<usize> {
        let sequences: Vec<usize> = writers.iter().map(|at| self.writers[*at].sequence.0).collect();
        let same = |a: usize, b: usize| self.writers[writers[a]].same_tokens_as(&self.writers[writers[b]]);
        draft_owners(&sequences, same).into_iter().map(|index| writers[index]).collect()
    }

    /// Draft proposals for these answers; `together` answers are verified in one call.
    fn draft_proposals(&self, writers: &[usize], together: usize, rows: BatchPolicy) -> Vec<DraftProposal<'_>> {
        // The slices of a call are padded to equal length.
        let longest = if together == 1 { rows.max_drafted } else { KERNEL_TILE };
        let proposal = |at: &usize| {
            let writer = &self.writers[*at];
            let others =
                self.writers.iter().enumerate().filter(|(other, _)| other != at).map(|(_, other)| other.tokens());
            let finished = self.lookup_texts.iter().rev().map(Vec::as_slice);
            let prompt = self.groups[writer.group].prompt.as_slice();
            writer.draft_proposal(finished.chain(others).chain([prompt]).collect(), self.context, longest)
        };
        writers.iter().map(proposal).collect()
    }

    /// Unread tokens of the prompt that is being prefilled, without its last one.
    fn unread(&self) -> usize {
        let unread = |reader: &Prefill| self.groups[reader.group].prompt.len() - 1 - reader.read;
        self.reader.as_ref().map_or(0, unread)
    }

    /// Draft tokens that can be read together with the end of the prompt, which verifies them for the price of a few
    /// more tokens.
    fn draft_tokens(&self, rows: BatchPolicy) -> usize {
        let draft = |reader: &Prefill| match &self.groups[reader.group].waiting {
            waiting if waiting.len() == 1 => self.requests[waiting[0]].draft.len(),
            _ => 0,
        };
        let can = !rows.allows_mixed && rows.same_shape_for_all();
        self.reader.as_ref().filter(|_| can).map_or(0, |reader| draft(reader).min(rows.max_drafted))
    }

    /// Whether the rest of the prompt is read in the call that starts its answer.
    fn ends_with_draft(&self, rows: BatchPolicy) -> bool {
        let drafted = self.draft_tokens(rows);
        drafted > 0 && self.unread() + 1 + drafted <= rows.max_prefill
    }

    /// The slices of a step call.
    fn pieces(&self, step: &Step) -> Vec<BatchSlice<'_>> {
        let reader = self.reader.as_ref().and_then(|reader| {
            let prompt = &self.groups[reader.group].prompt;
            let tokens = &prompt[reader.read..(prompt.len() - 1).min(reader.read + step.budget)];
            let piece = BatchSlice { sequence: reader.sequence, tokens, position: reader.read, logits: Logits::None };
            Some(piece).filter(|piece| !piece.tokens.is_empty())
        });
        let writer = |at: &usize| {
            let DecodingSequence { sequence, piece, position, lead, .. } = &self.writers[*at];
            BatchSlice { sequence: *sequence, tokens: piece, position: *position, logits: Logits::From(*lead) }
        };
        reader.into_iter().chain(step.writers.iter().map(writer)).collect()
    }
}

/// The plan of one call.
#[derive(Debug)]
struct Step {
    call: Phase,
    /// Maximum of prompt tokens.
    budget: usize,
    /// Indices into `Scheduler::writers` of the answers to decode.
    writers: Vec<usize>,
}

impl LlamaGenerator {
    pub(super) fn decode_batch_of(
        &mut self,
        requests: &[GenerateRequest],
        cancel: &CancelToken,
        on_done: &mut OnDone<'_>,
    ) -> Result<(), InferenceError> {
        cancel.check()?;
        let mut groups = self.groups(requests)?;
        self.prefill_shared(&mut groups, cancel)?;
        self.decode_groups(requests, groups, cancel, on_done)
    }

    fn decode_groups(
        &mut self,
        requests: &[GenerateRequest],
        groups: Vec<PromptGroup>,
        cancel: &CancelToken,
        on_done: &mut OnDone<'_>,
    ) -> Result<(), InferenceError> {
        let (free, context) = (self.engine.states.layout().answer_sequences(), self.identity.context_tokens);
        let lookup_texts = requests.first().map(|request| request.draft.iter().copied().map(LlamaToken::new).collect());
        let lookup_texts = lookup_texts.into_iter().collect();
        let longest = requests.iter().map(|request| request.max_tokens).max().unwrap_or(0);
        let together = free.clone();
        let mut work = Scheduler {
            requests,
            groups,
            next: 0,
            reader: None,
            writers: Vec::new(),
            lookup_texts,
            free,
            context,
            longest,
        };
        if self.slots.current().len() + work.most_cells() > self.engine.cells() {
            // The shared prefix can be shortened from its end as the prompts that use it are done.
            work.groups.sort_by_key(|group| Reverse(group.shared));
        }
        let done = self.run_schedule(&mut work, cancel, on_done);
        let all_forgot = together.into_iter().all(|sequence| self.engine.remove_from(sequence, 0));
        if !all_forgot || !self.engine.clear_graveyard() {
            self.slots.clear();
        }
        done
    }

    fn groups(&self, requests: &[GenerateRequest]) -> Result<Vec<PromptGroup>, InferenceError> {
        let mut groups: Vec<PromptGroup> = Vec::new();
        for (at, request) in requests.iter().enumerate() {
            let prompt = self.prompt(&request.parts)?;
            match groups.last_mut() {
                Some(group) if group.prompt == prompt => group.waiting.push_back(at),
                _ => {
                    let waiting = VecDeque::from([at]);
                    groups.push(PromptGroup { waiting, prompt, shared: 0 });
                }
            }
        }
        Ok(groups)
    }

    /// Makes sure that the current slot holds the longest prefix that any two prompts share.
    fn prefill_shared(&mut self, groups: &mut [PromptGroup], cancel: &CancelToken) -> Result<(), InferenceError> {
        let Some((prompt, wanted)) = longest_shared_prefix(groups) else { return Ok(()) };
        let place = self.slots.best_slot(prompt);
        if place.shared >= wanted {
            self.slots.select(place.from);
        } else {
            self.reuse(&prompt[..wanted], 0)?;
            self.read_prompt(prompt, wanted, cancel, &mut |_| {})?;
        }
        for group in groups {
            group.shared = common_prefix(&group.prompt, self.slots.current()).min(group.prompt.len() - 1);
        }
        Ok(())
    }

    fn run_schedule(
        &mut self,
        work: &mut Scheduler<'_>,
        cancel: &CancelToken,
        on_done: &mut OnDone<'_>,
    ) -> Result<(), InferenceError> {
        loop {
            cancel.check()?;
            self.start_prefill(work)?;
            self.start_decoding(work)?;
            if self.emit_finished(work, on_done)?.is_break() {
                return Ok(());
            }
            let is_idle = work.reader.is_none() && work.writers.is_empty();
            if !is_idle {
                self.step(work)?;
            } else if work.next >= work.groups.len() {
                return Ok(());
            }
        }
    }

    /// Starts the next prefill, unless one is running or there are too few cells.
    fn start_prefill(&mut self, work: &mut Scheduler<'_>) -> Result<(), InferenceError> {
        if work.reader.is_some() || work.next >= work.groups.len() || !self.has_room(work)? {
            return Ok(());
        }
        let Some(sequence) = work.free.pop() else { return Ok(()) };
        let (group, shared) = (work.next, work.groups[work.next].shared);
        let copied = self.engine.copy(self.slots.sequence(), sequence, shared);
        copied.map_err(|source| self.lost(DOING, source))?;
        work.reader = Some(Prefill { group, sequence, read: shared, started: Instant::now() });
        work.next += 1;
        Ok(())
    }

    /// Whether there are cells for the next prompt and its answer. Cells that were given up or are unused are freed
    /// only between answers.
    fn has_room(&mut self, work: &mut Scheduler<'_>) -> Result<bool, InferenceError> {
        let is_idle = work.reader.is_none() && work.writers.is_empty();
        let fits = |this: &Self, work: &Scheduler<'_>| {
            work.remaining_tokens() + work.cells(work.next) <= this.engine.free_cells()
        };
        if is_idle {
            self.release_all()?;
        }
        if !is_idle || fits(self, work) {
            return Ok(fits(self, work));
        }
        if !self.make_room(self.engine.cells()) {
            return Err(self.no_partial_removal());
        }
        if !fits(self, work) {
            self.shorten(work.still_shared())?;
        }
        if !fits(self, work) {
            // With nothing but its shared prefix in the context, a prompt and its answer always fit.
            let shared = work.groups[work.next].shared;
            self.shorten(shared)?;
            work.groups[work.next..].iter_mut().for_each(|group| group.shared = group.shared.min(shared));
        }
        self.release_all()?;
        Ok(true)
    }

    /// Frees the cells that were given up, and defragments.
    fn release_all(&mut self) -> Result<(), InferenceError> {
        if !self.engine.clear_graveyard() {
            return Err(self.no_partial_removal());
        }
        self.engine.defragment().map_err(|source| self.lost(DOING, source))
    }

    /// Keeps at most the first `keep` tokens of the shared prefix.
    fn shorten(&mut self, keep: usize) -> Result<(), InferenceError> {
        if keep < self.slots.current().len() { self.rewind(keep) } else { Ok(()) }
    }

    fn no_partial_removal(&mut self) -> InferenceError {
        self.lost(DOING, "the architecture of the model cannot forget a part".into())
    }

    /// Starts the answers to a prompt that is prefilled except for its last token, or for the part that is read
    /// together with a draft.
    fn start_decoding(&mut self, work: &mut Scheduler<'_>) -> Result<(), InferenceError> {
        while let Some(Prefill { group, sequence, read, started }) = work.reader {
            let is_read = work.unread() == 0 || work.ends_with_draft(self.engine.batch_policy());
            let Some(at) = work.groups[group].waiting.front().copied().filter(|_| is_read) else { return Ok(()) };
            // The first answer was counted when the prefill started.
            let fits = work.remaining_tokens() <= self.engine.free_cells();
            let is_last = work.groups[group].waiting.len() == 1;
            if !fits && !work.writers.is_empty() {
                return Ok(());
            }
            let own = if is_last { Some(sequence) } else { work.free.pop() };
            let Some(own) = own else { return Ok(()) };
            if is_last {
                work.reader = None;
            } else {
                self.engine.copy(sequence, own, read).map_err(|source| self.lost(DOING, source))?;
            }
            work.groups[group].waiting.pop_front();
            let start = Start { at, group, sequence: own, read, prompt: &work.groups[group].prompt, started };
            work.writers.push(DecodingSequence::new(start, &work.requests[at], &self.engine, work.context));
        }
        Ok(())
    }

    /// Makes the next llama.cpp call and applies its logits to each answer.
    fn step(&mut self, work: &mut Scheduler<'_>) -> Result<(), InferenceError> {
        if self.engine.batch_policy().allows_mixed {
            work.propose(|tokens| in_vocabulary_len(tokens, &self.engine));
        } else if work.unread() == 0 {
            self.compact_answers(work)?;
        }
        let wasted = self.engine.free_cells().saturating_sub(work.remaining_tokens());
        let rows = self.engine.batch_policy();
        let most = if rows.allows_mixed {
            self.engine.batch_limit()
        } else {
            self.engine.next_prefill_chunk(work.unread() + work.draft_tokens(rows))
        };
        let step = work.plan(rows, most, wasted);
        if !rows.allows_mixed {
            self.draft_answers(work, &step)?;
        }
        let pieces = work.pieces(&step);
        if pieces.is_empty() {
            return Ok(());
        }
        let all: usize = pieces.iter().map(|piece| piece.tokens.len()).sum();
        if let Err(source) = self.engine.decode_batch(step.call, &pieces) {
            return Err(self.lost(DOING, source));
        }
        let mut offset = all - step.writers.iter().map(|at| work.writers[*at].piece.len()).sum::<usize>();
        if let Some(reader) = &mut work.reader {
            reader.read += offset;
        }
        for at in step.writers {
            let writer = &mut work.writers[at];
            let read = writer.piece.len();
            let kept = writer.accept(&self.engine, offset, work.context);
            offset += read;
            if kept < read && !self.engine.defer_removal(writer.sequence, writer.position) {
                return Err(self.no_partial_removal());
            }
        }
        Ok(())
    }

    /// Copies an answer next to other answers, so that one call can decode all, where there is a free sequence. One
    /// copy per step, because a KV memory is copied whole and a copy cannot be cancelled.
    fn compact_answers(&mut self, work: &mut Scheduler<'_>) -> Result<(), InferenceError> {
        let sequences: Vec<usize> = work.writers.iter().map(|writer| writer.sequence.0).collect();
        let free: Vec<usize> = work.free.iter().map(|sequence| sequence.0).collect();
        if work.writers.iter().any(DecodingSequence::follows_draft) {
            return Ok(());
        }
        let Some((at, place)) = next_move(&sequences, &free) else { return Ok(()) };
        let (from, to) = (work.writers[at].sequence, work.free[place]);
        let copied = self.engine.copy(from, to, work.writers[at].position);
        copied.map_err(|source| self.lost(DOING, source))?;
        if !self.engine.defer_removal(from, 0) {
            return Err(self.no_partial_removal());
        }
        (work.writers[at].sequence, work.free[place]) = (to, from);
        Ok(())
    }

    /// Drafts the next tokens of the step answers.
    fn draft_answers(&mut self, work: &mut Scheduler<'_>, step: &Step) -> Result<(), InferenceError> {
        if step.writers.iter().any(|at| work.writers[*at].follows_draft()) {
            return Ok(());
        }
        let owners = work.draft_owners_of(&step.writers);
        let own: Vec<usize> = step.writers.iter().copied().filter(|at| owners.contains(at)).collect();
        let mut proposals = work.draft_proposals(&own, step.writers.len(), self.engine.batch_policy());
        let proposed = if proposals.is_empty() { Ok(()) } else { self.engine.propose_drafts(&mut proposals) };
        let pieces: Vec<Vec<LlamaToken>> = proposals.into_iter().map(|proposal| proposal.piece).collect();
        for (at, owner) in step.writers.iter().zip(owners) {
            if let Some(place) = own.iter().position(|one| *one == owner) {
                work.writers[*at].read_next(&pieces[place], work.context);
            }
        }
        proposed.map_err(|source| self.lost(DOING, source))
    }

    /// Hands finished answers to `on_done` and removes their sequences.
    fn emit_finished(
        &mut self,
        work: &mut Scheduler<'_>,
        on_done: &mut OnDone<'_>,
    ) -> Result<ControlFlow<()>, InferenceError> {
        let (done, going): (Vec<_>, Vec<_>) =
            std::mem::take(&mut work.writers).into_iter().partition(|writer| writer.finish.is_some());
        work.writers = going;
        for writer in done {
            if !self.engine.defer_removal(writer.sequence, 0) {
                return Err(self.no_partial_removal());
            }
            work.free.push(writer.sequence);
            work.lookup_texts.push(writer.tokens().to_vec());
            let (at, shared) = (writer.at, work.groups[writer.group].shared);
            if on_done(at, writer.completion(shared)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// One of the two prompts with the longest common prefix, and that prefix's length; 0 for a single prompt.
fn longest_shared_prefix(groups: &[PromptGroup]) -> Option<(&[LlamaToken], usize)> {
    let alone = groups.first().map(|group| (group.prompt.as_slice(), 0));
    let pairs = groups.iter().enumerate().flat_map(|(at, one)| groups[..at].iter().map(move |other| (one, other)));
    let shared = pairs.map(|(one, other)| (one.prompt.as_slice(), common_prefix(&one.prompt, &other.prompt)));
    shared.max_by_key(|(_, shared)| *shared).or(alone)
}

/// Length of the common prefix.
fn common_prefix(a: &[LlamaToken], b: &[LlamaToken]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
