//! Progress of a benchmark in words. The caller provides the time.

use std::time::{Duration, Instant};

use super::super::progress::words;
use ragonite_eval::Doing;
use ragonite_rag::answer::AnswerEvent;

/// Position of a run among several.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    /// Name of the choice; empty for a single run.
    pub(super) name: &'a str,
    pub(super) number: usize,
    pub(super) of: usize,
}

impl Step<'_> {
    pub(super) fn line(self, text: &str) -> String {
        let Self { name, number, of } = self;
        if of > 1 { format!("{name} ({number} of {of}): {text}") } else { text.to_owned() }
    }
}

/// Time estimate. Cached questions do not count for the speed.
#[derive(Debug)]
pub(super) struct Eta {
    started: Instant,
    total: usize,
    done: usize,
    remembered: usize,
}

impl Eta {
    pub(super) fn new(total: usize, now: Instant) -> Self {
        Self { started: now, total, done: 0, remembered: 0 }
    }

    /// Records the number of done and of cached questions.
    pub(super) fn at(&mut self, done: usize, remembered: usize) {
        (self.done, self.remembered) = (done, remembered);
    }

    /// The progress line of a step, in the words of `ragonite ask`.
    pub(super) fn line_of(&self, doing: &Doing, now: Instant) -> String {
        let doing = match doing {
            Doing::Searching => "searching".to_owned(),
            Doing::Completing => "completing the question".to_owned(),
            Doing::Answering(AnswerEvent::PromptBuilt { sources, .. }) => format!("reading {sources} sources"),
            Doing::Answering(AnswerEvent::PromptRead { done, total }) => format!("reading {done} of {total} tokens"),
            Doing::Answering(AnswerEvent::Text(_)) => "answering".to_owned(),
        };
        self.line(&doing, now)
    }

    pub(super) fn line(&self, doing: &str, now: Instant) -> String {
        let Self { total, done, remembered, .. } = self;
        let from = if *remembered > 0 { format!(" ({remembered} from the cache)") } else { String::new() };
        let left = self.left(now).map(|left| format!(", about {} left", words(left))).unwrap_or_default();
        format!("{done} of {total} questions{from}{left}  {doing}")
    }

    fn left(&self, now: Instant) -> Option<Duration> {
        let fresh = self.done.saturating_sub(self.remembered);
        let spent = now.duration_since(self.started).as_secs_f64();
        let each = (fresh > 0).then(|| spent / fresh as f64)?;
        Duration::try_from_secs_f64(each * self.total.saturating_sub(self.done) as f64).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_and_how_long() {
        let start = Instant::now();
        let mut eta = Eta::new(20, start);
        assert_eq!(eta.line("searching", start), "0 of 20 questions  searching");
        eta.at(10, 6);
        let later = start + Duration::from_mins(4);
        assert_eq!(
            eta.line("answering", later),
            "10 of 20 questions (6 from the cache), about 10 min 0 s left  answering"
        );
        eta.at(20, 20);
        assert_eq!(eta.line("done", later), "20 of 20 questions (20 from the cache)  done");
    }

    #[test]
    fn one_of_several_runs_says_which() {
        assert_eq!(Step { name: "dense", number: 2, of: 3 }.line("x"), "dense (2 of 3): x");
        assert_eq!(Step { name: "", number: 1, of: 1 }.line("x"), "x");
    }
}
