//! When the next frame of the screen is drawn.
//!
//! Takes what happened and when, gives the moment. What the user does is seen at once; what happens by itself, tokens and
//! progress, is gathered for [`FRAME`].
//! Invariants: nothing is drawn without a change; a flood of events never keeps a frame back for longer than two frames.
//! Not here: drawing (`tui`), waiting (`interactive`).

use std::time::{Duration, Instant};

/// Shortest time between two frames that no hand asked for: 60 a second.
pub const FRAME: Duration = Duration::from_millis(16);

/// When the next frame is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Frames {
    changed: bool,
    next: Instant,
}

impl Frames {
    /// The first frame is drawn now.
    #[must_use]
    pub fn new(now: Instant) -> Self {
        Self { changed: true, next: now }
    }

    /// Something happened by itself.
    pub fn heard(&mut self) {
        self.changed = true;
    }

    /// The user did something that changed the screen.
    pub fn touched(&mut self, now: Instant) {
        (self.changed, self.next) = (true, self.next.min(now));
    }

    /// A frame was drawn.
    pub fn drawn(&mut self, now: Instant) {
        *self = Self { changed: false, next: now + FRAME };
    }

    /// When the next frame is to be drawn, once everything that is ready is taken in; none without a change.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        self.changed.then_some(self.next)
    }

    /// Whether it is drawn although more is ready.
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
        frames.drawn(later(2));
        assert_eq!(frames.due(), None, "nothing has changed");
        frames.heard();
        assert_eq!(frames.due(), Some(later(18)));
        frames.touched(later(5));
        assert_eq!(frames.due(), Some(later(5)));
        frames.touched(later(9));
        assert_eq!(frames.due(), Some(later(5)), "a second key does not put it off");
    }

    #[test]
    fn a_flood_of_events_does_not_keep_a_frame_back() {
        let start = Instant::now();
        let mut frames = Frames::new(start);
        assert!(!frames.is_overdue(start + FRAME / 2) && frames.is_overdue(start + FRAME));
        frames.drawn(start);
        assert!(!frames.is_overdue(start + 9 * FRAME), "nothing has changed");
        frames.heard();
        assert!(frames.is_overdue(start + 2 * FRAME));
    }
}
