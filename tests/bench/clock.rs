//! Time that the benchmark of explanations takes, by the wall and by what the processors did.

use std::fs;
use std::time::Instant;

/// Wall-clock and processor time from here on.
pub(super) struct Clock {
    started: Instant,
    processor: f64,
}

/// Milliseconds by the wall and of all processors.
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
    /// As a multiple of another time; what the processors did is in brackets, which a busy machine changes little.
    pub(super) fn of(self, other: Self) -> String {
        format!("{:.2} ({:.2})", self.wall / other.wall, self.processor / other.processor)
    }
}

/// What all threads of this process have had of the processors, in hundredths of a second exact; 0 where the system
/// does not say.
fn processor_ms() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() * 10.0
}
