//! The interface of encoders: embeddings, [`Embed`] and [`Rerank`].
//!
//! Takes texts, gives vectors of unit length or relevance scores.
//! Not here: implementations (`encoder`, `fake`).

use serde::{Deserialize, Serialize};

use super::InferenceError;
use ragonite_base::CancelToken;

/// A text as a vector of unit length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Embedding(Vec<f32>);

impl Embedding {
    /// Scales `values` to unit length; a zero vector stays zero.
    pub fn normalized(mut values: Vec<f32>) -> Self {
        let length = values.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
        if length > 0.0 {
            for value in &mut values {
                *value = (f64::from(*value) / length) as f32;
            }
        }
        Self(values)
    }

    /// Wraps stored values without scaling, so that they stay bit-exact.
    pub fn stored(values: Vec<f32>) -> Self {
        Self(values)
    }

    /// The components.
    pub fn values(&self) -> &[f32] {
        &self.0
    }

    /// Cosine similarity, -1 to 1; 0 where the dimensions differ.
    pub fn cosine(&self, other: &Self) -> f64 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        self.0.iter().zip(&other.0).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    }
}

/// The role of a text; some models use different prefixes for questions and evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRole {
    /// A question.
    Query,
    /// A text that is searched.
    Evidence,
}

/// The identity of an encoder; two indexes are compatible only if it is equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncoderIdentity {
    /// Id in the catalog.
    pub model: String,
    /// Fingerprint of weights, tokenizer and settings, in lower-case hex.
    pub fingerprint: String,
    /// Number of components of an embedding.
    pub dimensions: usize,
    /// Longest input in tokens; longer texts are cut.
    pub max_tokens: usize,
}

/// An encoder that turns texts into vectors.
pub trait Embed: Send + Sync {
    /// The identity of the encoder.
    fn identity(&self) -> &EncoderIdentity;

    /// Number of tokens of the uncut `text`, special tokens included.
    ///
    /// # Errors
    /// If the tokenizer fails.
    fn count_tokens(&self, text: &str) -> Result<usize, InferenceError>;

    /// One embedding per text, in order. Batching is internal and does not change the result.
    ///
    /// # Errors
    /// If the model fails, or with [`InferenceError::Canceled`].
    fn embed(&self, texts: &[&str], role: TextRole, cancel: &CancelToken) -> Result<Vec<Embedding>, InferenceError>;
}

/// A reranker: scores texts for a question.
pub trait Rerank: Send + Sync {
    /// Id in the catalog.
    fn model(&self) -> &str;

    /// One score per text, in order; higher is more relevant, 0 to 1.
    ///
    /// # Errors
    /// If the model fails, or with [`InferenceError::Canceled`].
    fn score(&self, question: &str, texts: &[&str], cancel: &CancelToken) -> Result<Vec<f32>, InferenceError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosine_of_unit_vectors_is_their_product() {
        let a = Embedding::normalized(vec![3.0, 4.0]);
        let b = Embedding::normalized(vec![4.0, 3.0]);
        assert!((a.cosine(&b) - 0.96).abs() < 1e-6);
        assert!((a.cosine(&a) - 1.0).abs() < 1e-6);
        assert_eq!(Embedding::normalized(vec![0.0; 2]).values(), [0.0, 0.0]);
    }
}
