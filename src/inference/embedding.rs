//! What an encoder gives and what it must keep to.

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

    /// Takes values that were scaled before, so that a stored vector reads back bit by bit.
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

/// What a text is to an encoder; some models put another prefix before questions than before evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRole {
    /// A question.
    Query,
    /// Something that is searched.
    Evidence,
}

/// Which encoder this is; two indexes fit together only when this is equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncoderIdentity {
    /// Id in the catalog.
    pub model: String,
    /// Fingerprint of weights, tokenizer and settings: lower-case hex.
    pub fingerprint: String,
    /// Components of every embedding.
    pub dimensions: usize,
    /// Longest input in tokens; longer texts are cut by the encoder.
    pub max_tokens: usize,
}

/// Texts to vectors.
pub trait Embed: Send + Sync {
    /// Which encoder this is.
    fn identity(&self) -> &EncoderIdentity;

    /// How many tokens `text` has, special tokens included, uncut.
    ///
    /// # Errors
    /// When the tokenizer fails.
    fn count_tokens(&self, text: &str) -> Result<usize, InferenceError>;

    /// One embedding per text, in order. Batches by itself; the result does not depend on how texts are grouped.
    ///
    /// # Errors
    /// When the model fails, or with [`InferenceError::Canceled`].
    fn embed(&self, texts: &[&str], role: TextRole, cancel: &CancelToken) -> Result<Vec<Embedding>, InferenceError>;
}

/// Question and texts to relevance.
pub trait Rerank: Send + Sync {
    /// Id in the catalog.
    fn model(&self) -> &str;

    /// One score per text, in order; higher is more relevant, 0 to 1.
    ///
    /// # Errors
    /// When the model fails, or with [`InferenceError::Canceled`].
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
