//! The number of cases that a property test runs.
//!
//! Invariants: a test's own number holds unless `PROPTEST_CASES` says another; no file is left with cases that failed.

use proptest::test_runner::Config;

/// So many cases, or as many as are asked for from outside.
pub fn cases(usual: u32) -> Config {
    #[expect(clippy::disallowed_methods, reason = "for tests, the same variable that proptest reads")]
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let default = Config::default();
    Config { cases: if asked { default.cases } else { usual }, failure_persistence: None, ..default }
}
