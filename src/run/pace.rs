//! The progress of an ingest in words: how far it is, how fast it goes, and how long it will take.
//!
//! Takes messages of progress with the time they came, gives a line now and then. The clock is the caller's.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::index::{IngestProgress, IngestStage};

/// Shortest time between two lines.
const INTERVAL: Duration = Duration::from_millis(100);

/// The speed is that of so much time past.
const WINDOW: Duration = Duration::from_secs(30);

/// Sooner than this nothing is said of the speed.
const FIRST: Duration = Duration::from_secs(1);

/// What was heard so far.
#[derive(Debug, Default)]
pub(super) struct Pace {
    shown: Option<Instant>,
    stage: Option<IngestStage>,
    past: VecDeque<Mark>,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    at: Instant,
    done: usize,
    embedded: usize,
}

impl Pace {
    /// A line for the message, unless one was given just before.
    pub(super) fn hear(&mut self, progress: &IngestProgress, now: Instant) -> Option<String> {
        // Reading and embedding go on side by side.
        let stage = if progress.stage == IngestStage::Embedding { IngestStage::Reading } else { progress.stage };
        let is_new = self.stage.replace(stage) != Some(stage);
        if is_new {
            self.past.clear();
        }
        if !is_new && self.shown.is_some_and(|shown| now.duration_since(shown) < INTERVAL) {
            return None;
        }
        self.shown = Some(now);
        let mark = Mark { at: now, done: progress.done, embedded: progress.embedded };
        self.past.push_back(mark);
        while self.past.len() > 2 && self.past.get(1).is_some_and(|second| now.duration_since(second.at) >= WINDOW) {
            self.past.pop_front();
        }
        Some(self.line(progress, mark))
    }

    fn line(&self, progress: &IngestProgress, now: Mark) -> String {
        let IngestProgress { done, total, embedded, current, .. } = progress;
        let left = self.left(now, *total).map(|left| format!(", about {} left", words(left))).unwrap_or_default();
        match progress.stage {
            IngestStage::Reading | IngestStage::Embedding => {
                let speed = self.per_second(now, |mark| mark.embedded).filter(|speed| *speed >= 0.1);
                let speed = speed.map(|speed| format!(" ({speed:.0} per second)")).unwrap_or_default();
                let name = current.rsplit('/').next().unwrap_or(current);
                format!("{done} of {total} documents, {embedded} evidences embedded{speed}{left}  {name}")
            }
            IngestStage::Indexing => format!("indexing {done} of {total} evidences{left}"),
            IngestStage::Checking => format!("checking {done} of {total} evidences{left}"),
        }
    }

    fn per_second(&self, now: Mark, count: impl Fn(&Mark) -> usize) -> Option<f64> {
        let first = self.past.front()?;
        let time = now.at.duration_since(first.at);
        (time >= FIRST).then(|| count(&now).saturating_sub(count(first)) as f64 / time.as_secs_f64())
    }

    fn left(&self, now: Mark, total: usize) -> Option<Duration> {
        let speed = self.per_second(now, |mark| mark.done).filter(|speed| *speed > 0.0)?;
        Duration::try_from_secs_f64(total.saturating_sub(now.done) as f64 / speed).ok()
    }
}

/// A duration as people say it.
pub(super) fn words(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{} s", seconds.max(1)),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(stage: IngestStage, done: usize, embedded: usize) -> IngestProgress {
        IngestProgress { stage, done, total: 215, embedded, current: "page.html".to_owned() }
    }

    #[test]
    fn the_line_says_how_far_how_fast_and_how_long() {
        let mut pace = Pace::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let line = pace.hear(&progress(IngestStage::Reading, 0, 0), start).unwrap();
        assert_eq!(line, "0 of 215 documents, 0 evidences embedded  page.html");
        let line = pace.hear(&progress(IngestStage::Embedding, 15, 400), at(10)).unwrap();
        assert_eq!(
            line,
            "15 of 215 documents, 400 evidences embedded (40 per second), about 2 min 13 s left  page.html"
        );
        // The first ten seconds are forgotten after the next thirty.
        let line = pace.hear(&progress(IngestStage::Embedding, 115, 1000), at(40)).unwrap();
        assert!(line.contains("(20 per second), about 30 s left"), "{line}");
        let line = pace.hear(&progress(IngestStage::Indexing, 0, 0), at(41)).unwrap();
        assert_eq!(line, "indexing 0 of 215 evidences");
    }

    #[test]
    fn messages_that_come_too_fast_are_passed_over_but_a_new_stage_is_not() {
        let mut pace = Pace::default();
        let start = Instant::now();
        assert!(pace.hear(&progress(IngestStage::Reading, 1, 0), start).is_some());
        assert!(pace.hear(&progress(IngestStage::Embedding, 2, 0), start).is_none());
        assert!(pace.hear(&progress(IngestStage::Indexing, 0, 0), start).is_some());
        assert!(pace.hear(&progress(IngestStage::Indexing, 500, 0), start + INTERVAL).is_some());
    }

    #[test]
    fn nothing_is_said_of_the_time_when_nothing_moves() {
        let mut pace = Pace::default();
        let start = Instant::now();
        pace.hear(&progress(IngestStage::Reading, 3, 9), start);
        let line = pace.hear(&progress(IngestStage::Reading, 3, 9), start + Duration::from_mins(1)).unwrap();
        assert_eq!(line, "3 of 215 documents, 9 evidences embedded  page.html");
        assert_eq!(words(Duration::from_mins(125)), "2 h 5 min");
    }
}
