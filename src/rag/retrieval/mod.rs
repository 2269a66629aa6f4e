//! Retrieval: takes a question with its conversation, gives [`Hit`]s. Searches both indexes for every sub-query and
//! fuses the rankings into one.
//!
//! Invariants: `rrf`, `score_fusion` and `weigh` are pure; `rrf` and `score_fusion` do not depend on the order of their
//! inputs; every score is kept.
//! Not here: the indexes (`index`), making a follow-up self-contained (`answer`).

mod anaphora;
mod assemble;
mod citation_boost;
mod context_ablation;
mod document_cap;
mod error;
mod fuse_sub_queries;
mod hit;
mod hit_explanation;
mod match_quality;
mod near_duplicates;
mod overrides;
mod postprocess;
mod query;
mod query_weights;
mod rrf;
mod score_fusion;
mod search;
#[cfg(test)]
mod search_tests;
mod settings;
mod temporal_expr;
mod temporal_intent;
#[cfg(test)]
mod tests;
mod versions;

pub use assemble::SearchContext;
pub use context_ablation::{AblatedHit, AblatedRank, ablate_context};
pub use error::RetrievalError;
pub use hit::{Discarded, Hit, Mode, RankedEvidence, RetrievalTimings, Retrieved, Retriever};
pub use hit_explanation::{HitExplanation, PlaceReason, ScorePart};
pub use match_quality::{LEAST_COVERAGE, MatchQuality, MatchVerdict, UNRELATED_QUANTILE, unrelated_cosines};
pub use near_duplicates::{Duplicate, Relation};
pub use overrides::{Override, OverrideKind};
pub use query::{Dependence, EarlierQuestion, SearchInput, SubQuery, SubQueryRole, WeightReason};
pub use query_weights::{Confidence, SubQueryFeatures, TopicShift, dependence, topic_shift, weigh};
pub use rrf::{Fused, rrf, weighted_rrf};
pub use score_fusion::{comb_sum, relative_score_fusion};
pub use search::{search, search_alone};
pub use settings::{Calibration, Copies, Fusion, Reranking, RetrievalSettings, Translate};
pub use temporal_expr::absolute_date;
pub use versions::{Age, Preference, Version};
