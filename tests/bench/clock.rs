//! Wall-clock and CPU time of the benchmark `explain`.

use std::fs;
use std::time::Instant;

/// Measures wall-clock and CPU time from its creation.
pub(super) struct Clock {
    started: Instant,
    processor: f64,
}

/// Milliseconds of wall-clock time, and of CPU time of all threads.
#[derive(Default, Clone, Copy)]
pub(super) struct Spent {
    pub(super) wall: f64,
    pub(super) processor: f64,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { started: Instant::now(), processor: processor_ms() }
    }

    pub(super) fn spent(&self) -> Spent {
        Spent { wall: self.started.elapsed().as_secs_f64() * 1e3, processor: processor_ms() - self.processor }
    }
}

impl Spent {
    /// As a multiple of another time; CPU time, which other load hardly changes, in brackets.
    pub(super) fn of(self, other: Self) -> String {
        format!("{:.2} ({:.2})", self.wall / other.wall, self.processor / other.processor)
    }
}

/// CPU time of all threads of this process, to a hundredth of a second; 0 where the system does not report it.
fn processor_ms() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() * 10.0
}
