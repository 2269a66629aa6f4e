//! Retrieval-augmented generation: a question becomes hits, a prompt, an answer and its attribution.
//!
//! Stages of a turn: [`answer`] rewrites the question, [`retrieval`] finds evidence, [`prompt`] arranges it, [`answer`]
//! generates and repairs citations, [`attribution`] leaves each cluster of sources out. [`pipeline`] runs them in order.
//! Invariant: all of it is synchronous, takes a `CancelToken`, and uses models only through traits.

pub mod answer;
pub mod attribution;
pub mod pipeline;
pub mod prompt;
pub mod retrieval;
