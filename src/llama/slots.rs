//! Slots: which prompts the KV cache holds, and in which sequences.
//!
//! Takes the tokens of a prompt; picks the slot that shares its prefix, an empty slot if the slot's other tokens may be
//! wanted again, or else the least recently used slot, so that two alternating kinds of prompts do not evict each
//! other.
//! Invariant: a slot names exactly the tokens whose state is in its sequence, also after a failure.
//! Not here: the state itself (`kv_cache`).

use llama_cpp_2::token::LlamaToken;

use super::engine::Sequence;

/// Number of prompts kept at the same time.
pub(super) const SLOTS: usize = 2;

/// Minimum of shared prefix tokens for a prompt to reuse a slot: all prompts of a chat share the few first tokens of
/// the template.
pub(super) const MIN_SHARED_PREFIX: usize = 32;

/// The tokens of each slot.
pub(super) struct Slots {
    tokens: [Vec<LlamaToken>; SLOTS],
    /// Time of last use, by `clock`.
    used: [u64; SLOTS],
    clock: u64,
    /// The slot that is read into.
    current: usize,
}

/// The slot for a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlotMatch {
    /// The slot to read into.
    pub(super) slot: usize,
    /// The slot with the longest common prefix.
    pub(super) from: usize,
    /// Length of that prefix.
    pub(super) shared: usize,
}

impl Slots {
    pub(super) fn new() -> Self {
        Self { tokens: [Vec::new(), Vec::new()], used: [0; SLOTS], clock: 0, current: 0 }
    }

    /// The best slot for `prompt`.
    pub(super) fn best_slot(&self, prompt: &[LlamaToken]) -> SlotMatch {
        let shared = |slot: usize| self.tokens[slot].iter().zip(prompt).take_while(|(a, b)| a == b).count();
        let from = (0..SLOTS).max_by_key(|slot| (shared(*slot), self.used[*slot])).unwrap_or(0);
        let oldest = (0..SLOTS).min_by_key(|slot| self.used[*slot]).unwrap_or(0);
        let free = (0..SLOTS).find(|slot| self.tokens[*slot].is_empty());
        let half = self.tokens[from].len().min(prompt.len()) / 2;
        let slot = match free {
            // A domain's prompt prefix is copied; the rest of the slot may be wanted again.
            Some(free) if shared(from) <= half => free,
            _ if shared(from) < MIN_SHARED_PREFIX => oldest,
            _ => from,
        };
        SlotMatch { slot, from, shared: shared(from) }
    }

    /// Makes `slot` current, with the first `kept` tokens of the slot `from`.
    pub(super) fn take(&mut self, slot: usize, from: usize, kept: usize) {
        self.clock += 1;
        self.used[slot] = self.clock;
        self.current = slot;
        if slot == from {
            self.tokens[slot].truncate(kept);
        } else {
            self.tokens[slot] = self.tokens[from][..kept].to_vec();
        }
    }

    /// Makes `slot` current, with all its tokens.
    pub(super) fn select(&mut self, slot: usize) {
        self.take(slot, slot, self.tokens[slot].len());
    }

    /// Number of tokens in all slots.
    pub(super) fn total_tokens(&self) -> usize {
        self.tokens.iter().map(Vec::len).sum()
    }

    pub(super) fn sequence(&self) -> Sequence {
        Sequence(self.current)
    }

    /// The tokens of the current slot.
    pub(super) fn current(&self) -> &[LlamaToken] {
        &self.tokens[self.current]
    }

    /// Records that `tokens` were read into the current slot.
    pub(super) fn extend(&mut self, tokens: &[LlamaToken]) {
        self.tokens[self.current].extend_from_slice(tokens);
    }

    /// Records that the current slot was cut to its first `keep` tokens.
    pub(super) fn truncate(&mut self, keep: usize) {
        self.tokens[self.current].truncate(keep);
    }

    /// The other slots, if all slots with `tokens` more do not fit `cells`.
    pub(super) fn to_evict(&self, tokens: usize, cells: usize) -> Vec<usize> {
        let held = self.total_tokens();
        let others = (0..SLOTS).filter(|slot| *slot != self.current && !self.tokens[*slot].is_empty());
        if held + tokens > cells { others.collect() } else { Vec::new() }
    }

    /// Records that this slot is empty.
    pub(super) fn clear_slot(&mut self, slot: usize) {
        self.tokens[slot].clear();
    }

    #[cfg(test)]
    pub(super) fn contents(&self) -> &[Vec<LlamaToken>] {
        &self.tokens
    }

    /// Records that all slots are empty.
    pub(super) fn clear(&mut self) {
        self.tokens.iter_mut().for_each(Vec::clear);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(numbers: impl IntoIterator<Item = i32>) -> Vec<LlamaToken> {
        numbers.into_iter().map(LlamaToken::new).collect()
    }

    /// As the generator does it, without a state.
    fn read(slots: &mut Slots, prompt: &[LlamaToken]) -> SlotMatch {
        let place = slots.best_slot(prompt);
        slots.take(place.slot, place.from, place.shared);
        slots.extend(&prompt[place.shared..]);
        place
    }

    #[test]
    fn two_kinds_of_prompts_in_turn_keep_a_slot_each() {
        let mut slots = Slots::new();
        let rewrite = |turn: i32| tokens((0..40).chain(100..160).chain([1000 + turn]));
        let answer = |turn: i32| tokens((0..40).chain(200..260).chain([2000 + turn]));
        read(&mut slots, &rewrite(1));
        read(&mut slots, &answer(1));
        assert_eq!(read(&mut slots, &rewrite(2)).shared, 100);
        assert_eq!(read(&mut slots, &answer(2)).shared, 100);
        assert_eq!(read(&mut slots, &rewrite(3)).shared, 100);
    }

    #[test]
    fn a_prompt_without_some_of_its_middle_is_read_in_the_place_of_the_whole() {
        let mut slots = Slots::new();
        read(&mut slots, &tokens(0..100));
        let place = read(&mut slots, &tokens((0..60).chain(80..100)));
        assert_eq!((place.slot, place.shared), (place.from, 60));
    }

    #[test]
    fn the_other_slot_goes_when_there_is_no_room_for_both() {
        let mut slots = Slots::new();
        read(&mut slots, &tokens(0..40));
        read(&mut slots, &tokens(100..140));
        assert_eq!(slots.to_evict(20, 100), Vec::<usize>::new());
        let other = slots.to_evict(21, 100);
        assert_eq!(other.len(), 1);
        slots.clear_slot(other[0]);
        assert_eq!(slots.to_evict(60, 100), Vec::<usize>::new());
        assert_eq!(slots.current(), tokens(100..140));
    }

    proptest! {
        #[test]
        fn what_is_shared_is_the_longest_beginning_of_any_slot(
            prompts in proptest::collection::vec(proptest::collection::vec(0_i32..3, 0..90), 1..12),
        ) {
            let mut slots = Slots::new();
            for prompt in prompts.into_iter().map(tokens) {
                let longest = slots.tokens.iter().map(|held| {
                    held.iter().zip(&prompt).take_while(|(a, b)| a == b).count()
                });
                let longest = longest.max().unwrap();
                prop_assert_eq!(read(&mut slots, &prompt).shared, longest);
                prop_assert_eq!(slots.current(), &prompt[..]);
            }
        }
    }
}
