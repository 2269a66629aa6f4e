//! ragonite: ask questions of your own documents in the terminal, offline, and see why each answer came out as it did.
//!
//! This crate gathers the crates of the workspace for the integration tests, the benchmarks and the documentation; the
//! program is `main.rs`. The page below is the architecture page of the guide, [`glossary`] has the words.
//!
#![doc = include_str!("../assets/guide/architecture.md")]

pub use ragonite_app as app;
pub use ragonite_base as base;
pub use ragonite_cli as cli;
pub use ragonite_config as config;
pub use ragonite_document as document;
pub use ragonite_encoder as encoder;
pub use ragonite_eval as eval;
pub use ragonite_guide as guide;
pub use ragonite_history as history;
pub use ragonite_index as index;
pub use ragonite_inference as inference;
pub use ragonite_llama as llama;
pub use ragonite_rag as rag;
pub use ragonite_tui as tui;
pub use ragonite_workers as workers;

#[doc = include_str!("../assets/guide/glossary.md")]
pub mod glossary {}
