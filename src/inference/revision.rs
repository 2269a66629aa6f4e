//! The revision of the engine: results stored with one revision are not valid for another.
//!
//! Not here: weights and settings, which change answers too.

/// The llama.cpp version, and a number of this program's own.
///
/// Raise the number with every change that can change an answer, if only by rounding: prefill and prefix sharing, draft
/// verification, sampling, leaving parts out.
pub const ENGINE_REVISION: &str = "llama-cpp-sys-2 0.1.161, ours 5";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_revision_names_the_llama_cpp_that_is_built() {
        let (name, rest) = ENGINE_REVISION.split_once(' ').unwrap();
        let (version, _) = rest.split_once(',').unwrap();
        let locked = format!("name = \"{name}\"\nversion = \"{version}\"\n");
        let lock = include_str!("../../Cargo.lock").replace("\r\n", "\n");
        assert!(lock.contains(&locked), "Cargo.lock has another version: name it here");
    }
}
