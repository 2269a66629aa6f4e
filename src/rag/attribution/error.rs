//! Errors of attribution.

use super::SettingError;
use ragonite_base::Canceled;
use ragonite_inference::InferenceError;

/// Why an attribution failed.
#[derive(Debug, thiserror::Error)]
pub enum AttributionError {
    /// The user cancelled.
    #[error(transparent)]
    Canceled(#[from] Canceled),
    /// A setting is out of range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A counterfactual answer could not be generated.
    #[error("generating the answer without {}", sources(.without))]
    Generate {
        /// Ranks of the sources that were left out.
        without: Vec<usize>,
        /// The cause.
        #[source]
        source: InferenceError,
    },
    /// The answer could not be scored with a source masked.
    #[error("estimating what each source mattered")]
    Score {
        /// The cause.
        #[source]
        source: InferenceError,
    },
    /// The logprob of the answer without a source could not be computed.
    #[error("computing how probable the answer is without each source")]
    Compare {
        /// The cause.
        #[source]
        source: InferenceError,
    },
    /// The texts of the answer's tokens could not be determined.
    #[error("finding the sentences in the tokens of the answer")]
    Pieces {
        /// The cause.
        #[source]
        source: InferenceError,
    },
    /// An answer could not be embedded.
    #[error("embedding an answer to compare it")]
    Embed {
        /// The cause.
        #[source]
        source: InferenceError,
    },
}

impl AttributionError {
    /// The error of a failed generation; a cancelled one is no failure.
    pub(super) fn generating(without: &[usize], source: InferenceError) -> Self {
        match source {
            InferenceError::Canceled(canceled) => Self::Canceled(canceled),
            source => Self::Generate { without: without.to_vec(), source },
        }
    }

    /// The error of a failed estimate; a cancelled one is no failure.
    pub(super) fn scoring(source: InferenceError) -> Self {
        match source {
            InferenceError::Canceled(canceled) => Self::Canceled(canceled),
            source => Self::Score { source },
        }
    }

    /// The error of a failed comparison; a cancelled one is no failure.
    pub(super) fn comparing(source: InferenceError) -> Self {
        match source {
            InferenceError::Canceled(canceled) => Self::Canceled(canceled),
            source => Self::Compare { source },
        }
    }

    /// The error of a failed embedding; a cancelled one is no failure.
    pub(super) fn embedding(source: InferenceError) -> Self {
        match source {
            InferenceError::Canceled(canceled) => Self::Canceled(canceled),
            source => Self::Embed { source },
        }
    }
}

fn sources(ranks: &[usize]) -> String {
    ranks.iter().map(|rank| format!("Source {rank}")).collect::<Vec<_>>().join(", ")
}
