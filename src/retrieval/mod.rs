//! Question -> [`Hit`]s: searches both indexes, fuses the two rankings, keeps every score on the way.
//!
//! Invariant: `fuse` is pure and does not depend on the order of its inputs.
//! Not here: the indexes themselves (`index`), making a follow-up self-contained (`answer`).

mod arrange;
mod copies;
mod error;
mod explain;
mod fuse;
mod hit;
mod search;
mod settings;
mod spread;
#[cfg(test)]
mod tests;

pub use copies::{Copied, Relation};
pub use error::RetrievalError;
pub use explain::{Vote, Why};
pub use fuse::{Fused, fuse};
pub use hit::{Hit, Leg, Mode, RankedEvidence, RetrievalTimings, Retrieved};
pub use search::{Engines, retrieve};
pub use settings::{Copies, RetrievalSettings};
