//! Which tokens have been read, and where their state lies.
//!
//! Takes the tokens of a prompt, tells where it is best read: in the slot that shares its beginning, in an empty one where
//! it shares only a little of what that slot holds, or else in the one that was not used for longest, so that two kinds of
//! prompts in turn do not push each other out.
//! Invariant: a slot names exactly the tokens whose state is in its sequence, also after a failure.
//! Not here: the state itself (`ModelManager`).

use llama_cpp_2::token::LlamaToken;

use super::engine::Sequence;

/// Prompts whose state is kept at the same time.
pub(super) const SLOTS: usize = 2;

/// Tokens that a prompt shares with a slot at least, to be read in its place. Every prompt of a chat begins with the
/// few tokens of its template.
pub(super) const MIN_SHARED_PREFIX: usize = 32;

/// What each slot holds.
pub(super) struct Slots {
    tokens: [Vec<LlamaToken>; SLOTS],
    /// When each was used last.
    used: [u64; SLOTS],
    clock: u64,
    /// The one that is read into.
    current: usize,
}

/// Where a prompt is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlotMatch {
    /// The slot.
    pub(super) slot: usize,
    /// The slot whose beginning is the prompt's.
    pub(super) from: usize,
    /// Tokens they share.
    pub(super) shared: usize,
}

impl Slots {
    pub(super) fn new() -> Self {
        Self { tokens: [Vec::new(), Vec::new()], used: [0; SLOTS], clock: 0, current: 0 }
    }

    /// Where `prompt` is best read.
    pub(super) fn best_slot(&self, prompt: &[LlamaToken]) -> SlotMatch {
        let shared = |slot: usize| self.tokens[slot].iter().zip(prompt).take_while(|(a, b)| a == b).count();
        let from = (0..SLOTS).max_by_key(|slot| (shared(*slot), self.used[*slot])).unwrap_or(0);
        let oldest = (0..SLOTS).min_by_key(|slot| self.used[*slot]).unwrap_or(0);
        let free = (0..SLOTS).find(|slot| self.tokens[*slot].is_empty());
        let half = self.tokens[from].len().min(prompt.len()) / 2;
        let slot = match free {
            // What a domain puts before all its prompts is copied; the rest of the slot may be wanted again.
            Some(free) if shared(from) <= half => free,
            _ if shared(from) < MIN_SHARED_PREFIX => oldest,
            _ => from,
        };
        SlotMatch { slot, from, shared: shared(from) }
    }

    /// Goes on with the first `kept` tokens of the slot `from` in `slot`.
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

    /// Goes on with what `slot` holds, all of it.
    pub(super) fn select(&mut self, slot: usize) {
        self.take(slot, slot, self.tokens[slot].len());
    }

    /// Tokens in all slots.
    pub(super) fn total_tokens(&self) -> usize {
        self.tokens.iter().map(Vec::len).sum()
    }

    /// The sequence of the current slot.
    pub(super) fn sequence(&self) -> Sequence {
        Sequence(self.current)
    }

    /// What is in the current slot.
    pub(super) fn current(&self) -> &[LlamaToken] {
        &self.tokens[self.current]
    }

    /// Takes note that `tokens` were read into the current slot.
    pub(super) fn extend(&mut self, tokens: &[LlamaToken]) {
        self.tokens[self.current].extend_from_slice(tokens);
    }

    /// Takes note that the current slot was cut to its first `store` tokens.
    pub(super) fn truncate(&mut self, keep: usize) {
        self.tokens[self.current].truncate(keep);
    }

    /// The other slots, where the current one with `tokens` more than it has leaves them no room in `cell_map`.
    pub(super) fn to_evict(&self, tokens: usize, cells: usize) -> Vec<usize> {
        let held = self.total_tokens();
        let others = (0..SLOTS).filter(|slot| *slot != self.current && !self.tokens[*slot].is_empty());
        if held + tokens > cells { others.collect() } else { Vec::new() }
    }

    /// Takes note that nothing of this slot is left.
    pub(super) fn clear_slot(&mut self, slot: usize) {
        self.tokens[slot].clear();
    }

    /// What each slot holds.
    #[cfg(test)]
    pub(super) fn contents(&self) -> &[Vec<LlamaToken>] {
        &self.tokens
    }

    /// Takes note that nothing is left anywhere.
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
