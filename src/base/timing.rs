//! Durations as they are stored and shown.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Milliseconds with fractions, as in every `timings_ms` of the JSON output.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub f64);

impl From<Duration> for Millis {
    fn from(duration: Duration) -> Self {
        Self((duration.as_secs_f64() * 1e6).round() / 1e3)
    }
}

impl std::ops::Add for Millis {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
