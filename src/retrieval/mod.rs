//! Question -> [`Hit`]s: searches both indexes, fuses the two rankings, keeps every score on the way.
//!
//! Invariant: `fuse` is pure and does not depend on the order of its inputs.
//! Not here: the indexes themselves (`index`), making a follow-up self-contained (`answer`).

mod error;
mod fuse;
mod hit;
mod search;
mod settings;
#[cfg(test)]
mod tests;

pub use error::RetrievalError;
pub use fuse::{Fused, fuse};
pub use hit::{Hit, Leg, Mode, RankedEvidence, RetrievalTimings, Retrieved};
pub use search::{Engines, retrieve};
pub use settings::RetrievalSettings;
