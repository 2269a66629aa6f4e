//! ragonite: ask questions of your own documents in the terminal, offline, and see why each answer came out as it did.
//!
//! The method is RAGonite (Saha Roy et al., WSDM 2025, arXiv 2412.10571).
//!
//! ```text
//! document ──> evidence ──> index ──┐
//!  (files)     (contextualized)     │
//!                                   v
//! question ──> rewrite ──> retrieval ──> prompt ──> answer ──> attribution ──> screen
//!  (turn n)   (intent-     (dense+lexical, (minijinja,  (stream,   (leave one     (ratatui)
//!              explicit)    fuse, rerank)   budget)      cite)      cluster out)
//!                      every step leaves a record in the turn's trace, kept in history
//! ```
//!
//! # Rooms
//! Data flows down this list, and a room uses only rooms above it; `tests/it/tidy.rs` checks that.
//!
//! - [`base`]: ids, cancelling, languages, clean text.
//! - [`document`]: source file -> document.
//! - [`evidence`]: document -> evidences with context.
//! - [`inference`]: embedder, reranker, generator; the catalog and the weights on disk.
//! - `download`: fetching weights; exists only with the feature `hub`.
//! - [`index`]: one domain on disk.
//! - [`bundle`]: program, weights and domains in one file, for a machine without network.
//! - [`retrieval`]: question -> hits.
//! - [`prompt`]: evidence and history -> prompt.
//! - [`answer`]: rewrite, translate, generate, cite.
//! - [`attribution`]: what each cluster of evidences mattered.
//! - [`history`]: conversations, turns, traces.
//! - [`eval`]: questions with gold answers: how often their page is found, what answers are worth, what is explained right.
//! - [`config`]: file -> settings; paths; profile.
//! - [`app`]: the pure core: state, events, effects.
//! - [`runtime`]: carries out effects on named threads.
//! - [`tui`]: the screen.
//! - [`cli`]: the command line as typed.
//! - [`launch`]: which build of the program runs, and how its threads wait.
//! - [`run`]: the loop of the screen, and the headless commands.
//!
//! # Invariants
//! - Architecture invariant: outside `download`, nothing opens a network socket; a build without `hub` has no network crate.
//! - Architecture invariant: `app` is pure; whatever it wants done is an effect that `runtime` carries out.
//! - Architecture invariant: each engine is fenced: readers of file formats in `document`; candle, tokenizers and
//!   llama.cpp in `inference`; usearch and tantivy in `index`; SQLite in `index` and `history`; minijinja in `prompt`;
//!   ratatui and crossterm in `tui` and `run`.
//! - Architecture invariant: compute rooms are synchronous and take a [`base::CancelToken`].
//! - Architecture invariant: `domain.db` is the only truth about a domain; both indexes can be made again from it.
//! - Architecture invariant: text from documents and models is cleaned before it is drawn, stored as a title or exported.
//! - Architecture invariant: a citation names a source that was in the prompt, or is marked as invalid.
//! - Architecture invariant: a contribution of zero means the same answer token by token.
//!
//! # Words
//! *domain*: a named corpus. *document*: one source page. *evidence*: the unit of retrieval, a passage, list, table or
//! row. *context*: title, heading, text before and after an evidence. *rewrite*: a follow-up made self-contained; its
//! result is the *completed question*. *turn*: question to attribution, with its *trace*. *variant*: a turn that asks an
//! earlier one again with something other; no later turn is told about it. *hit*: an evidence with its ranks and scores.
//! *cluster*: near-identical hits. *contribution*: how far the answer moves without a cluster. *share*: contributions as
//! fractions. *model*: weights on disk. *profile*: a named set of models and settings.

pub use ragonite_app as app;
pub use ragonite_base as base;
pub use ragonite_cli as cli;
pub use ragonite_config as config;
pub use ragonite_document as document;
pub use ragonite_encoder as encoder;
pub use ragonite_eval as eval;
pub use ragonite_history as history;
pub use ragonite_index as index;
pub use ragonite_inference as inference;
pub use ragonite_llama as llama;
pub use ragonite_rag as rag;
pub use ragonite_tui as tui;
pub use ragonite_workers as workers;
