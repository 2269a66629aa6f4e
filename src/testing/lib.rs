//! Helpers for the tests of all crates: property-test configuration, fixtures and weights.
//!
//! Invariant: only `[dev-dependencies]` name this crate.

mod cases;
mod weights;

use std::path::{Path, PathBuf};

pub use cases::cases;
pub use weights::{models_folder, optional_weights, require_models, skip_without, weights};

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).map_or_else(|| here.to_owned(), Path::to_owned)
}

/// A file or folder under `tests/fixtures`.
pub fn fixture(path: &str) -> PathBuf {
    root().join("tests/fixtures").join(path)
}
