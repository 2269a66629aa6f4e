//! Retrieval-augmented generation: a question becomes hits, a prompt, an answer and its attribution.
//!
//! The stages in the order of a turn: [`answer`] rewrites the question, [`retrieval`] finds evidence, [`prompt`] arranges
//! it, [`answer`] generates and repairs citations, [`attribution`] leaves each cluster of sources out.
//! Invariant: everything here is synchronous, takes a `CancelToken`, and knows engines only by their traits.

pub mod answer;
pub mod attribution;
pub mod prompt;
pub mod retrieval;
