//! Progress of an ingest in words: position, speed, remaining time.
//!
//! Takes progress events with their time, gives a line from time to time. The caller provides the time. Documents
//! differ in size by a factor of a thousand and come in bursts, so the remaining time is estimated from evidences:
//! average evidences per document, at an exponentially weighted speed. The shown time follows the estimate slowly.

use std::time::{Duration, Instant};

use ragonite_index::{IngestProgress, IngestStage};

/// Shortest time between two lines.
const INTERVAL: Duration = Duration::from_millis(100);

/// Half-life of the weights of the speed.
const HALF_LIFE: Duration = Duration::from_secs(20);

/// Half-life of the distance between shown and estimated time.
const SETTLES: Duration = Duration::from_secs(8);

/// Shortest time before a speed is shown.
const FIRST: Duration = Duration::from_secs(1);

/// State of the progress.
#[derive(Debug, Default)]
pub(super) struct Pace {
    shown: Option<Instant>,
    stage: Option<IngestStage>,
    /// Start of the measurement: the first embedded document, because unchanged documents say nothing about the
    /// speed.
    from: Option<Mark>,
    last: Option<Mark>,
    documents: Speed,
    evidences: Speed,
    left: Option<Left>,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    at: Instant,
    done: usize,
    embedded: usize,
}

/// Recent rate per second.
#[derive(Debug, Default, Clone, Copy)]
struct Speed {
    came: f64,
    seconds: f64,
}

impl Speed {
    fn hear(&mut self, more: usize, time: Duration) {
        let kept = halved(time, HALF_LIFE);
        self.came = self.came * kept + more as f64;
        self.seconds = self.seconds * kept + time.as_secs_f64();
    }

    fn per_second(self) -> Option<f64> {
        (self.seconds >= FIRST.as_secs_f64()).then(|| self.came / self.seconds)
    }
}

/// Weight after a time.
fn halved(time: Duration, half_life: Duration) -> f64 {
    (-time.as_secs_f64() / half_life.as_secs_f64()).exp2()
}

/// The shown remaining time.
#[derive(Debug, Clone, Copy)]
struct Left {
    at: Instant,
    seconds: f64,
}

impl Pace {
    /// A line for an event, unless another was given just before.
    pub(super) fn hear(&mut self, progress: &IngestProgress, now: Instant) -> Option<String> {
        // Reading and embedding run in parallel.
        let stage = if progress.stage == IngestStage::Embedding { IngestStage::Reading } else { progress.stage };
        let is_new = self.stage != Some(stage);
        if is_new {
            *self = Self { stage: Some(stage), shown: self.shown, ..Self::default() };
        }
        let mark = Mark { at: now, done: progress.done, embedded: progress.embedded };
        self.count(mark);
        self.follow(mark, progress.total);
        if !is_new && self.shown.is_some_and(|shown| now.duration_since(shown) < INTERVAL) {
            return None;
        }
        self.shown = Some(now);
        Some(self.line(progress))
    }

    fn count(&mut self, mark: Mark) {
        let last = self.last.replace(mark).unwrap_or(mark);
        let time = mark.at.duration_since(last.at);
        self.documents.hear(mark.done.saturating_sub(last.done), time);
        let from = *self.from.get_or_insert(mark);
        if mark.embedded > from.embedded {
            if last.embedded == from.embedded {
                // Estimates from documents without embedding are dropped.
                self.left = None;
            }
            self.evidences.hear(mark.embedded.saturating_sub(last.embedded), time);
        } else {
            self.from = Some(mark);
        }
    }

    /// Moves the shown time towards the estimate; in between it counts down.
    fn follow(&mut self, mark: Mark, total: usize) {
        let Some(estimate) = self.estimate(mark, total) else { return };
        let seconds = match self.left {
            Some(left) => {
                let time = mark.at.duration_since(left.at);
                let expected = (left.seconds - time.as_secs_f64()).max(0.0);
                estimate + (expected - estimate) * halved(time, SETTLES)
            }
            None => estimate,
        };
        self.left = Some(Left { at: mark.at, seconds });
    }

    /// Estimated remaining seconds.
    fn estimate(&self, mark: Mark, total: usize) -> Option<f64> {
        let rest = total.saturating_sub(mark.done) as f64;
        let from = self.from?;
        let (documents, evidences) = (mark.done.saturating_sub(from.done), mark.embedded.saturating_sub(from.embedded));
        let speed = |speed: Speed| speed.per_second().filter(|speed| *speed > 0.0);
        match (documents, evidences) {
            (_, 0) => Some(rest / speed(self.documents)?),
            (0, _) => None,
            _ => Some(rest * evidences as f64 / documents as f64 / speed(self.evidences)?),
        }
    }

    fn line(&self, progress: &IngestProgress) -> String {
        let IngestProgress { done, total, embedded, current, .. } = progress;
        let left = self
            .left
            .filter(|left| left.seconds >= 0.5)
            .and_then(|left| Duration::try_from_secs_f64(left.seconds).ok());
        let left = left.map(|left| format!(", about {} left", words(rounded(left)))).unwrap_or_default();
        match progress.stage {
            IngestStage::Reading | IngestStage::Embedding => {
                let speed = self.evidences.per_second().filter(|speed| *speed >= 0.1);
                let speed = speed.map(|speed| format!(" ({speed:.0} per second)")).unwrap_or_default();
                let name = current.rsplit('/').next().unwrap_or(current);
                format!("{done} of {total} documents, {embedded} evidences embedded{speed}{left}  {name}")
            }
            IngestStage::Indexing => format!("indexing {done} of {total} evidences{left}"),
            IngestStage::Checking => format!("checking {done} of {total} evidences{left}"),
        }
    }
}

/// Rounds a duration to its precision.
fn rounded(left: Duration) -> Duration {
    let step = match left.as_secs() {
        0..20 => 1,
        20..120 => 5,
        120..600 => 10,
        _ => 60,
    };
    Duration::from_secs((left.as_secs() + step / 2) / step * step)
}

/// A duration in words.
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
            "15 of 215 documents, 400 evidences embedded (40 per second), about 2 min 10 s left  page.html"
        );
        // What is long past counts little: 30 seconds at half the speed weigh three times the 10 before them.
        let line = pace.hear(&progress(IngestStage::Embedding, 30, 1000), at(40)).unwrap();
        assert!(line.contains("(22 per second)"), "{line}");
        let line = pace.hear(&progress(IngestStage::Indexing, 0, 0), at(41)).unwrap();
        assert_eq!(line, "indexing 0 of 215 evidences");
    }

    /// The seconds shown as left and those that were, each time progress is told: documents of very different sizes, of
    /// which the first are unchanged, embedded in batches at `speed` evidences a second.
    fn run(sizes: &[usize], unchanged: usize, speed: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
        let start = Instant::now();
        let (mut pace, mut clock, mut embedded, mut done) = (Pace::default(), 0.0, 0, 0);
        let mut shown = Vec::new();
        let mut tell = |clock: f64, done: usize, embedded: usize| {
            let message = IngestProgress {
                stage: IngestStage::Embedding,
                done,
                total: sizes.len(),
                embedded,
                current: String::new(),
            };
            pace.hear(&message, start + Duration::from_secs_f64(clock));
            shown.push((clock, pace.left.map(|left| left.seconds)));
        };
        while done < unchanged {
            tell(clock, done, 0);
            (clock, done) = (clock + 0.002, done + 1);
        }
        while done < sizes.len() {
            let mut end = done;
            let mut units = 0;
            while end < sizes.len() && units < 512 {
                (units, end) = (units + sizes[end], end + 1);
            }
            let mut within = 0;
            while within < units {
                tell(clock, done + (end - done) * within / units, embedded);
                let call = 40.min(units - within);
                (within, embedded) = (within + call, embedded + call);
                clock += call as f64 / speed(embedded);
            }
            done = end;
            tell(clock, done, embedded);
        }
        shown.into_iter().filter_map(|(at, left)| Some((left?, clock - at))).collect()
    }

    /// A few sizes that look like chance: most documents are small, one in nine is large.
    fn sizes(count: usize) -> Vec<usize> {
        (0..count).map(|n| if n * 7919 % 9 == 4 { 150 + n * 31 % 170 } else { 3 + n * 17 % 23 }).collect()
    }

    #[test]
    fn the_time_left_is_steady_and_about_right_whatever_the_sizes_of_documents() {
        type Speed = fn(usize) -> f64;
        let cases: [(usize, Speed); 3] = [
            (0, |_| 40.0),
            (150, |_| 40.0),
            // Another program takes half of the machine meanwhile.
            (0, |embedded| if embedded < 4_000 { 40.0 } else { 20.0 }),
        ];
        for (unchanged, speed) in cases {
            let shown = run(&sizes(400), unchanged, speed);
            let jumps = shown.windows(2).map(|pair| pair[1].0 - pair[0].0);
            let whole = shown[0].1;
            let highest = jumps.fold(0.0, f64::max);
            assert!(highest < whole / 25.0, "it goes up by {highest:.0} s of {whole:.0} s at once");
            let second_half = shown.iter().filter(|(_, truth)| *truth < whole / 2.0 && *truth > 20.0);
            for (left, truth) in second_half {
                assert!((left - truth).abs() < 5.0 + truth * 0.3, "{left:.0} s are shown where it takes {truth:.0} s");
            }
        }
    }

    #[test]
    fn the_time_left_runs_down_while_nothing_is_heard_of_for_a_while() {
        let mut pace = Pace::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        pace.hear(&progress(IngestStage::Reading, 0, 0), start);
        pace.hear(&progress(IngestStage::Embedding, 15, 400), at(10));
        let before = pace.left.unwrap().seconds;
        // The same speed goes on: 15 documents more.
        pace.hear(&progress(IngestStage::Embedding, 30, 800), at(20));
        assert!((before - pace.left.unwrap().seconds - 10.0).abs() < 0.1);
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
