//! Weights for tests that need a real model.
//!
//! Invariant: with `RAGONITE_REQUIRE_MODELS=1` a missing file fails the test; otherwise the test says that it is skipped.

use std::path::PathBuf;

/// The folder of the weights: `$RAGONITE_MODELS`, else `models` of the repository.
#[expect(clippy::disallowed_methods, reason = "tests are told by the environment where the weights are")]
pub fn models_folder() -> PathBuf {
    std::env::var_os("RAGONITE_MODELS").map_or_else(|| super::root().join("models"), PathBuf::from)
}

/// Whether a test must fail where its weights are missing.
#[expect(clippy::disallowed_methods, reason = "tests are told by the environment whether the weights must be there")]
pub fn require_models() -> bool {
    std::env::var_os("RAGONITE_REQUIRE_MODELS").is_some_and(|value| value == "1")
}

/// The weights in `file` of the folder of models; `None`, and a printed reason, where they are missing.
///
/// # Panics
/// Where they are missing and [`require_models`].
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
pub fn weights(file: &str) -> Option<PathBuf> {
    let path = models_folder().join(file);
    if path.is_file() {
        return Some(path);
    }
    assert!(!require_models(), "{} is missing", path.display());
    println!("skipped: {} is missing", path.display());
    None
}
