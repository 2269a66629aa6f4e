//! A bounded queue between two threads.
//!
//! Takes items with their sizes, gives them in order.
//! Invariants: pushing waits while the queue is full, popping while it is empty; both end at once when the other side
//! is gone, also after a panic; one item larger than the limit still passes.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Limits of the queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) things: usize,
    pub(super) bytes: usize,
}

pub(super) struct Queue<T> {
    limits: Limits,
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: VecDeque<(T, usize)>,
    bytes: usize,
    closed: bool,
}

/// The result of a pop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Popped<T> {
    /// The next item.
    Thing(T),
    /// Timeout.
    NotYet,
    /// The queue is closed and empty.
    End,
}

/// The other side is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Closed;

impl<T> Queue<T> {
    pub(super) fn new(limits: Limits) -> Self {
        let state = State { waiting: VecDeque::new(), bytes: 0, closed: false };
        Self { limits, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A guard that closes the queue when dropped.
    pub(super) fn close_on_drop(&self) -> CloseOnDrop<'_, T> {
        CloseOnDrop(self)
    }

    pub(super) fn push(&self, thing: T, bytes: usize) -> Result<(), Closed> {
        let mut state = self.locked();
        while !state.closed && self.is_full(&state, bytes) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return Err(Closed);
        }
        state.bytes += bytes;
        state.waiting.push_back((thing, bytes));
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// The next item; waits at most `patience`.
    pub(super) fn pop(&self, patience: Duration) -> Popped<T> {
        let empty = |state: &mut State<T>| state.waiting.is_empty() && !state.closed;
        let waited = self.changed.wait_timeout_while(self.locked(), patience, empty);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if let Some((thing, bytes)) = state.waiting.pop_front() {
            state.bytes -= bytes;
            drop(state);
            self.changed.notify_all();
            return Popped::Thing(thing);
        }
        if state.closed { Popped::End } else { Popped::NotYet }
    }

    fn is_full(&self, state: &State<T>, bytes: usize) -> bool {
        let no_room = state.bytes.saturating_add(bytes) > self.limits.bytes;
        !state.waiting.is_empty() && (no_room || state.waiting.len() >= self.limits.things)
    }

    fn locked(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes its queue when dropped.
pub(super) struct CloseOnDrop<'a, T>(&'a Queue<T>);

impl<T> Drop for CloseOnDrop<'_, T> {
    fn drop(&mut self) {
        self.0.locked().closed = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn things_come_out_in_order_and_never_more_wait_than_allowed() {
        let queue = Queue::new(Limits { things: 4, bytes: 100 });
        let (pushed, popped) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _close = queue.close_on_drop();
                for number in 0..200 {
                    // Every tenth is larger than the queue.
                    let bytes = if number % 10 == 0 { 1000 } else { 30 };
                    queue.push(number, bytes).unwrap();
                    let ahead = pushed.fetch_add(1, Ordering::SeqCst) + 1 - popped.load(Ordering::SeqCst).min(number);
                    assert!(ahead <= 6, "{ahead} things were ahead");
                }
            });
            let mut next = 0;
            loop {
                let number = match queue.pop(Duration::from_millis(1)) {
                    Popped::Thing(number) => number,
                    Popped::NotYet => continue,
                    Popped::End => break,
                };
                popped.fetch_add(1, Ordering::SeqCst);
                assert_eq!(number, next);
                next += 1;
            }
            assert_eq!(next, 200);
        });
    }

    #[test]
    fn a_reader_that_went_away_ends_the_pushing() {
        let queue = Queue::new(Limits { things: 1, bytes: 10 });
        queue.push(1, 1).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.push(2, 1));
            drop(queue.close_on_drop());
            assert_eq!(waiting.join().unwrap(), Err(Closed));
        });
    }
}
