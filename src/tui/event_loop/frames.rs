//! Scheduling of screen frames.
//!
//! Takes events with their time, gives the time of the next frame. Input of the user is drawn at once; tokens and
//! progress are collected for [`FRAME`].
//! Invariants: no frame without a change; a flood of events delays a frame by two frame times at most.
//! Not here: drawing (`draw`), waiting (`event_loop`).

use std::time::{Duration, Instant};

/// Shortest time between two frames without input: 60 per second.
pub const FRAME: Duration = Duration::from_millis(16);

/// The frame schedule.
#[derive(Debug, Clone, Copy)]
pub struct Frames {
    changed: bool,
    next: Instant,
}

impl Frames {
    /// Draws the first frame now.
    #[must_use]
    pub fn new(now: Instant) -> Self {
        Self { changed: true, next: now }
    }

    /// An event of the workers changed the screen.
    pub fn on_event(&mut self) {
        self.changed = true;
    }

    /// Input changed the screen.
    pub fn on_input(&mut self, now: Instant) {
        (self.changed, self.next) = (true, self.next.min(now));
    }

    /// A frame was drawn.
    pub fn on_drawn(&mut self, now: Instant) {
        *self = Self { changed: false, next: now + FRAME };
    }

    /// Time of the next frame, after all ready events; none without a change.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        self.changed.then_some(self.next)
    }

    /// Whether to draw before the remaining ready events.
    #[must_use]
    pub fn is_overdue(&self, now: Instant) -> bool {
        self.due().is_some_and(|due| now >= due + FRAME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_does_is_seen_at_once_and_all_else_with_the_next_frame() {
        let start = Instant::now();
        let later = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut frames = Frames::new(start);
        assert_eq!(frames.due(), Some(start));
        frames.on_drawn(later(2));
        assert_eq!(frames.due(), None, "nothing has changed");
        frames.on_event();
        assert_eq!(frames.due(), Some(later(18)));
        frames.on_input(later(5));
        assert_eq!(frames.due(), Some(later(5)));
        frames.on_input(later(9));
        assert_eq!(frames.due(), Some(later(5)), "a second key does not put it off");
    }

    #[test]
    fn a_flood_of_events_does_not_keep_a_frame_back() {
        let start = Instant::now();
        let mut frames = Frames::new(start);
        assert!(!frames.is_overdue(start + FRAME / 2) && frames.is_overdue(start + FRAME));
        frames.on_drawn(start);
        assert!(!frames.is_overdue(start + 9 * FRAME), "nothing has changed");
        frames.on_event();
        assert!(frames.is_overdue(start + 2 * FRAME));
    }
}
