//! Which answers a generator gives: what is kept of one revision of the engine says nothing of another.
//!
//! Not here: weights and settings, which change answers too.

/// llama.cpp as it is built, and the number of our own way to use it.
///
/// The number is raised with every change after which a generator may answer the same request otherwise, if only by
/// rounding: how prompts are read and shared, how drafts are checked, how tokens are drawn, how parts are left out.
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
