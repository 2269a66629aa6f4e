//! Adapts the prefill chunk size so that one GPU call stays under 150 ms, because cancellation is only checked between
//! GPU calls.
//!
//! Takes the durations of calls, gives the number of tokens for the next call.
//! Invariant: the size is at least [`MIN_CHUNK`] (if the maximum allows it) and at most the maximum.
//! Not here: the maximum itself (`engine`).

use std::time::Duration;

/// Minimum of tokens; smaller chunks would be slow, because every call reads all weights.
const MIN_CHUNK: usize = 16;

/// Target duration of a GPU call, so that a cancellation takes effect within 200 ms.
pub(super) const GPU_CALL_LIMIT: Duration = Duration::from_millis(150);

/// The current prefill chunk size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PrefillChunk {
    step: usize,
    most: usize,
    call: Duration,
}

impl PrefillChunk {
    /// Starts with `first` tokens, never exceeds `most`; `call` is the target duration of a call.
    pub(super) fn new(first: usize, most: usize, call: Duration) -> Self {
        Self { step: first, most, call }
    }

    /// Tokens to read in one call.
    pub(super) fn tokens(self) -> usize {
        self.step
    }

    /// Adapts the size to a call of `tokens` that took `took`. Calls below [`MIN_CHUNK`] tokens are ignored: their time
    /// is that of reading all weights.
    pub(super) fn observe(&mut self, tokens: usize, took: Duration) {
        if tokens < MIN_CHUNK {
            return;
        }
        let steps = self.call.as_micros() * tokens as u128 / took.as_micros().max(1) / MIN_CHUNK as u128;
        self.step =
            usize::try_from(steps).unwrap_or(usize::MAX).saturating_mul(MIN_CHUNK).max(MIN_CHUNK).min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: Duration = Duration::from_millis(700);

    #[test]
    fn a_step_is_as_long_as_the_machine_manages_in_time() {
        let mut pace = PrefillChunk::new(48, 48, CALL);
        assert_eq!(pace.tokens(), 48);
        pace.observe(48, CALL);
        assert_eq!(pace.tokens(), 48);
        pace.observe(48, CALL * 5 / 4);
        assert_eq!(pace.tokens(), 32);
        pace.observe(32, CALL * 9);
        assert_eq!(pace.tokens(), 16, "not shorter");
        pace.observe(16, CALL / 2);
        assert_eq!(pace.tokens(), 32, "quicker again");
        pace.observe(32, CALL / 100);
        assert_eq!(pace.tokens(), 48, "not longer");
    }

    #[test]
    fn a_machine_that_is_not_known_begins_with_few_tokens() {
        let mut pace = PrefillChunk::new(64, 512, GPU_CALL_LIMIT);
        assert_eq!(pace.tokens(), 64);
        pace.observe(64, GPU_CALL_LIMIT / 100);
        assert_eq!(pace.tokens(), 512, "a quick one");
        pace.observe(512, GPU_CALL_LIMIT * 8);
        assert_eq!(pace.tokens(), 64, "most layers are elsewhere");
    }

    #[test]
    fn calls_of_a_few_tokens_say_nothing() {
        let mut pace = PrefillChunk::new(48, 48, CALL);
        pace.observe(4, CALL * 9);
        assert_eq!(pace.tokens(), 48);
    }
}
