//! Question -> [`Hit`]s: searches both indexes, fuses the rankings, keeps every score on the way. A follow-up is searched
//! together with its completed form and the questions before it, each as a leg with a weight; a question alone is one
//! leg, searched and fused in the same way.
//!
//! Invariant: `fuse`, `blend` and `weigh` are pure; `fuse` and `blend` do not depend on the order of their inputs.
//! Not here: the indexes themselves (`index`), making a follow-up self-contained (`answer`).

mod about;
mod arrange;
mod blend;
mod copies;
mod days;
mod error;
mod explain;
mod follow_up;
#[cfg(test)]
mod follow_up_tests;
mod found;
mod fuse;
mod hit;
mod pick;
mod plan;
mod pointers;
mod query;
mod rests;
mod search;
mod settings;
mod spread;
#[cfg(test)]
mod tests;
mod trial;
mod versions;

pub use blend::{add_up, blend};
pub use copies::{Copied, Relation};
pub use days::date_named;
pub use error::RetrievalError;
pub use explain::{Place, Vote, Why};
pub use follow_up::{retrieve, retrieve_follow_up};
pub use fuse::{Fused, fuse, fuse_weighted};
pub use hit::{Hit, Leg, Mode, Passed, RankedEvidence, RetrievalTimings, Retrieved};
pub use pick::{Pick, Picked};
pub use plan::{Course, Heard, Says, course, standing, weigh};
pub use query::{Conversation, Earlier, LegReason, LegRole, QueryLeg, Standing};
pub use search::Engines;
pub use settings::{Copies, Fusion, Reranking, RetrievalSettings, Translate};
pub use trial::{Placed, Tried, try_context};
pub use versions::{Age, Version, Wanted};
