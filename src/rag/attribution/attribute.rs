//! Attribution by any method.

use super::{
    Attribution, AttributionError, Cluster, Engines, ExplainInput, Method, Reading, SimilarityInput, explain,
    masked_estimate, probability, similarity,
};
use ragonite_base::CancelToken;

/// Attributes an answer. `on_cluster` is that of [`explain`]; similarity reports no progress.
///
/// # Errors
/// When a setting is wrong or a model fails, or with [`AttributionError::Canceled`].
pub fn attribute(
    method: Method,
    input: ExplainInput<'_>,
    engines: Engines<'_>,
    cancel: &CancelToken,
    on_cluster: &mut dyn FnMut(usize, usize, &[Cluster]),
) -> Result<Attribution, AttributionError> {
    let Engines { generator, embedder } = engines;
    match method {
        Method::Similarity => {
            let ExplainInput { answer, sources, settings, .. } = input;
            similarity(SimilarityInput { answer, sources, settings }, embedder, cancel)
        }
        Method::Preview => masked_estimate(input, generator, cancel, on_cluster),
        Method::Logprob => probability(input, Reading::Logprob, generator, cancel, on_cluster),
        Method::Jsd => probability(input, Reading::Divergence, generator, cancel, on_cluster),
        Method::Counterfactual => explain(input, Engines { generator, embedder }, cancel, on_cluster),
    }
}
