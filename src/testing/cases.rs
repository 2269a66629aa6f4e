//! The number of cases of a property test.
//!
//! Invariants: a test's own number holds unless `PROPTEST_CASES` is set; failed cases are not written to files.

use proptest::test_runner::Config;

/// A configuration with `usual` cases, or with the number in `PROPTEST_CASES`.
pub fn cases(usual: u32) -> Config {
    #[expect(clippy::disallowed_methods, reason = "for tests, the same variable that proptest reads")]
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let default = Config::default();
    Config { cases: if asked { default.cases } else { usual }, failure_persistence: None, ..default }
}
