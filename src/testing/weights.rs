//! Weights for tests that need a real model.
//!
//! Invariant: with `RAGONITE_REQUIRE_MODELS=1` a missing file fails the test; otherwise the test prints that it is
//! skipped.

use std::path::PathBuf;

/// The weights folder: `$RAGONITE_MODELS`, else `models` in the repository.
#[expect(clippy::disallowed_methods, reason = "tests are told by the environment where the weights are")]
pub fn models_folder() -> PathBuf {
    std::env::var_os("RAGONITE_MODELS").map_or_else(|| super::root().join("models"), PathBuf::from)
}

/// Whether a test must fail if its weights are missing.
#[expect(clippy::disallowed_methods, reason = "tests are told by the environment whether the weights must be there")]
pub fn require_models() -> bool {
    std::env::var_os("RAGONITE_REQUIRE_MODELS").is_some_and(|value| value == "1")
}

/// Prints that a test is skipped because `missing` is not here.
///
/// # Panics
/// If the weights must be here, see [`require_models`].
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
pub fn skip_without(missing: &str) {
    assert!(!require_models(), "{missing} is missing");
    println!("skipped: {missing} is missing");
}

/// The path of `file` in the models folder; `None`, after [`skip_without`], if it is missing.
pub fn weights(file: &str) -> Option<PathBuf> {
    let path = models_folder().join(file);
    if !path.is_file() {
        skip_without(&path.display().to_string());
        return None;
    }
    Some(path)
}

/// The path of a `file` that no profile of the tests has; `None`, and a printed reason, if it is missing.
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
pub fn optional_weights(file: &str) -> Option<PathBuf> {
    let path = models_folder().join(file);
    if !path.is_file() {
        println!("skipped: {} is missing", path.display());
        return None;
    }
    Some(path)
}
