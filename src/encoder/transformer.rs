//! The network of BERT and XLM-RoBERTa (Devlin et al. 2019, Conneau et al. 2020), forward only.
//!
//! Takes the tokens of several texts, gives one vector per text. Both are the same post-norm encoder, except for the
//! first position id. The texts of a batch lie one behind the other in one matrix, without padding and mask; only
//! attention treats them separately. Attention scores are computed for blocks of queries, so that a text of 8,192
//! tokens needs megabytes and not the gigabytes of its full square.
//! Invariant: position ids are whole numbers, exact for every length.
//! Not here: tokenizing (`tokens`), batching (`lib`).

use candle_core::{Device, Result, Tensor};
use candle_nn::VarBuilder;
use serde::Deserialize;

use super::kernels::{self, Norm};
use super::tokens::Tokens;
use ragonite_base::{CancelToken, Canceled};
use ragonite_inference::{Architecture, Pooling};

/// Number of attention scores held at a time, over all heads (4 bytes each).
const SCORES_AT_ONCE: usize = 1 << 22;

/// A computation without a result.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stopped {
    #[error(transparent)]
    Canceled(#[from] Canceled),
    #[error(transparent)]
    Engine(#[from] candle_core::Error),
    #[error("a computing thread ended before its work was done")]
    LaneEnded,
}

/// The part of a model's config.json that shapes the network.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct NetworkConfig {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    layer_norm_eps: f64,
    pad_token_id: u32,
    /// Parsed only to refuse other activations.
    #[serde(rename = "hidden_act")]
    _activation: Activation,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Activation {
    Gelu,
}

pub(super) struct Transformer {
    words: Tensor,
    positions: Tensor,
    types: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
    head: Head,
    heads: usize,
    first_position: u32,
}

/// Turns token vectors into the output of a text.
pub(super) enum Head {
    Pool(Pooling),
    /// Two dense layers over the first token, giving one number.
    Classify {
        dense: Linear,
        out: Linear,
    },
}

impl Head {
    pub(super) fn pool(pooling: Pooling) -> Self {
        Self::Pool(pooling)
    }

    pub(super) fn classify(config: &NetworkConfig, weights: &VarBuilder<'_>) -> Result<Self> {
        let (weights, size) = (weights.pp("classifier"), config.hidden_size);
        Ok(Self::Classify {
            dense: Linear::load(&weights.pp("dense"), size, size)?,
            out: Linear::load(&weights.pp("out_proj"), size, 1)?,
        })
    }
}

/// A dense layer: `x W^T + b`.
pub(super) struct Linear {
    /// Inputs by outputs.
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    fn load(weights: &VarBuilder<'_>, inputs: usize, outputs: usize) -> Result<Self> {
        let weight = weights.get((outputs, inputs), "weight")?.t()?;
        Ok(Self { weight, bias: weights.get(outputs, "bias")? })
    }

    fn forward(&self, rows: &Tensor) -> Result<Tensor> {
        kernels::add_bias(rows.matmul(&self.weight)?, &self.bias)
    }

    fn forward_gelu(&self, rows: &Tensor) -> Result<Tensor> {
        kernels::add_bias_gelu(rows.matmul(&self.weight)?, &self.bias)
    }
}

struct Layer {
    /// Queries, keys and values in one product; the queries are already scaled.
    attention_in: Linear,
    attention_out: Linear,
    attention_norm: Norm,
    inner: Linear,
    outer: Linear,
    norm: Norm,
}

impl Layer {
    fn load(weights: &VarBuilder<'_>, config: &NetworkConfig) -> Result<Self> {
        let (size, inner) = (config.hidden_size, config.intermediate_size);
        let attention = weights.pp("attention");
        Ok(Self {
            attention_in: attention_in(&attention.pp("self"), config)?,
            attention_out: Linear::load(&attention.pp("output.dense"), size, size)?,
            attention_norm: load_norm(&attention.pp("output.LayerNorm"), config)?,
            inner: Linear::load(&weights.pp("intermediate.dense"), size, inner)?,
            outer: Linear::load(&weights.pp("output.dense"), inner, size)?,
            norm: load_norm(&weights.pp("output.LayerNorm"), config)?,
        })
    }

    /// `rows` are the tokens of all texts; `lengths` are the lengths of the texts.
    fn forward(&self, rows: &Tensor, lengths: &[usize], heads: usize) -> Result<Tensor> {
        let projected = self.attention_in.forward(rows)?;
        let mut attended = Vec::with_capacity(lengths.len());
        let mut start = 0;
        for length in lengths {
            attended.push(attend(&projected.narrow(0, start, *length)?, heads)?);
            start += length;
        }
        let attended = self.attention_out.forward(&Tensor::cat(&attended, 0)?)?;
        let attended = self.attention_norm.add_and_normalize(attended, rows)?;
        let output = self.outer.forward(&self.inner.forward_gelu(&attended)?)?;
        self.norm.add_and_normalize(output, &attended)
    }
}

fn attention_in(weights: &VarBuilder<'_>, config: &NetworkConfig) -> Result<Linear> {
    let size = config.hidden_size;
    let scale = ((size / config.num_attention_heads) as f64).sqrt().recip();
    let part = |name: &str| -> Result<(Tensor, Tensor)> {
        let weights = weights.pp(name);
        Ok((weights.get((size, size), "weight")?, weights.get(size, "bias")?))
    };
    let (query, key, value) = (part("query")?, part("key")?, part("value")?);
    let query = ((query.0 * scale)?, (query.1 * scale)?);
    Ok(Linear {
        weight: Tensor::cat(&[query.0, key.0, value.0], 0)?.t()?,
        bias: Tensor::cat(&[query.1, key.1, value.1], 0)?,
    })
}

fn load_norm(weights: &VarBuilder<'_>, config: &NetworkConfig) -> Result<Norm> {
    let size = config.hidden_size;
    Norm::new(&weights.get(size, "weight")?, &weights.get(size, "bias")?, config.layer_norm_eps as f32)
}

/// Attention within one text: from (tokens, query/key/value) to (tokens, size).
fn attend(projected: &Tensor, heads: usize) -> Result<Tensor> {
    let (length, width) = projected.dims2()?;
    let size = width / 3;
    let split = projected.reshape((length, 3, heads, size / heads))?.permute((1, 2, 0, 3))?.contiguous()?;
    let (query, key, value) = (split.get(0)?, split.get(1)?.t()?, split.get(2)?);
    let block = (SCORES_AT_ONCE / (heads * length)).clamp(1, length);
    let mut blocks = Vec::with_capacity(length.div_ceil(block));
    for start in (0..length).step_by(block) {
        let queries = query.narrow(1, start, block.min(length - start))?;
        let scores = kernels::softmax(queries.matmul(&key)?)?;
        blocks.push(scores.matmul(&value)?);
    }
    Tensor::cat(&blocks, 1)?.transpose(0, 1)?.contiguous()?.reshape((length, size))
}

impl Transformer {
    pub(super) fn load(
        config: &NetworkConfig,
        architecture: Architecture,
        weights: &VarBuilder<'_>,
        head: Head,
    ) -> Result<Self> {
        let prefix = ["bert", "roberta"]
            .into_iter()
            .find(|prefix| weights.contains_tensor(&format!("{prefix}.embeddings.word_embeddings.weight")));
        let weights = prefix.map_or_else(|| weights.clone(), |prefix| weights.pp(prefix));
        let embeddings = weights.pp("embeddings");
        let table = |rows, name: &str| embeddings.get((rows, config.hidden_size), &format!("{name}.weight"));
        let layers = (0..config.num_hidden_layers)
            .map(|layer| Layer::load(&weights.pp(format!("encoder.layer.{layer}")), config))
            .collect::<Result<_>>()?;
        Ok(Self {
            words: table(config.vocab_size, "word_embeddings")?,
            positions: table(config.max_position_embeddings, "position_embeddings")?,
            types: table(config.type_vocab_size, "token_type_embeddings")?,
            norm: load_norm(&embeddings.pp("LayerNorm"), config)?,
            layers,
            head,
            heads: config.num_attention_heads,
            first_position: match architecture {
                Architecture::Bert => 0,
                Architecture::XlmRoberta => config.pad_token_id + 1,
            },
        })
    }

    /// Longest text in tokens, limited by the position table.
    pub(super) fn max_tokens(&self) -> usize {
        self.positions.dims()[0].saturating_sub(self.first_position as usize)
    }

    /// Number of components of a token's vector.
    pub(super) fn dimensions(&self) -> usize {
        self.words.dims()[1]
    }

    /// One head output per text. Texts must not be empty or longer than [`Self::max_tokens`].
    pub(super) fn forward(
        &self,
        texts: &[&Tokens],
        cancel: &CancelToken,
    ) -> std::result::Result<Vec<Vec<f32>>, Stopped> {
        let lengths: Vec<usize> = texts.iter().map(|text| text.len()).collect();
        let mut rows = self.embed(texts)?;
        for layer in &self.layers {
            cancel.check()?;
            rows = layer.forward(&rows, &lengths, self.heads)?;
        }
        Ok(self.finish(&rows, &lengths)?)
    }

    /// Sum of word, position and type embeddings, normalized.
    fn embed(&self, texts: &[&Tokens]) -> Result<Tensor> {
        let last_type = self.types.dims()[0].saturating_sub(1) as u32;
        let device = self.words.device();
        let ids = indexes(texts.iter().flat_map(|text| text.ids.iter().copied()), device)?;
        let types = indexes(texts.iter().flat_map(|text| text.types.iter().map(|id| *id.min(&last_type))), device)?;
        let positions = indexes(texts.iter().flat_map(|text| (self.first_position..).take(text.len())), device)?;
        let words = self.words.index_select(&ids, 0)?;
        let rest = (self.positions.index_select(&positions, 0)? + self.types.index_select(&types, 0)?)?;
        self.norm.add_and_normalize(words, &rest)
    }

    fn finish(&self, rows: &Tensor, lengths: &[usize]) -> Result<Vec<Vec<f32>>> {
        let starts = lengths.iter().scan(0, |next, length| {
            let start = *next;
            *next += length;
            Some(start)
        });
        let outputs = match &self.head {
            Head::Pool(Pooling::Mean) => {
                let means: Vec<Tensor> = starts
                    .zip(lengths)
                    .map(|(start, length)| rows.narrow(0, start, *length)?.mean(0))
                    .collect::<Result<_>>()?;
                Tensor::stack(&means, 0)?
            }
            Head::Pool(Pooling::Cls) => first_rows(rows, starts)?,
            Head::Classify { dense, out } => out.forward(&dense.forward(&first_rows(rows, starts)?)?.tanh()?)?,
        };
        outputs.to_vec2()
    }
}

fn first_rows(rows: &Tensor, starts: impl Iterator<Item = usize>) -> Result<Tensor> {
    rows.index_select(&indexes(starts.map(|start| start as u32), rows.device())?, 0)
}

fn indexes(values: impl Iterator<Item = u32>, device: &Device) -> Result<Tensor> {
    let values: Vec<u32> = values.collect();
    let count = values.len();
    Tensor::from_vec(values, count, device)
}
