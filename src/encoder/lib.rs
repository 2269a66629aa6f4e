//! The candle encoders: BERT and XLM-RoBERTa as [`Embed`], XLM-RoBERTa as [`Rerank`].
//!
//! Takes a catalog model and the model folders. Texts are cut to the catalog's window, sorted by length, grouped into
//! batches of about [`BATCH_TOKENS`] tokens and computed without padding, so a text's result does not depend on its
//! neighbours. A GPU computes one larger batch at a time; weights that do not fit it stay on the processor.
//! Invariants: f32 throughout; cancellation is checked between layers; memory does not grow with the square of a text's
//! length.
//! Not here: which texts are embedded, and the windows of long tables (`index`).

mod kernels;
mod lanes;
mod tokens;
mod transformer;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use candle_core::{DType, Device};
use candle_nn::VarBuilder;
use sha2::{Digest, Sha256};

use self::lanes::Lanes;
use self::tokens::{TextTokenizer, Tokens};
use self::transformer::{Head, Stopped, Transformer};
use ragonite_base::{CancelToken, hex};
use ragonite_inference::{
    CatalogModel, DeviceChoice, Embed, Embedding, EncoderIdentity, EncoderSettings, InferenceError, ModelFolders,
    ModelRole, Rerank, TextRole, address_space_of, check_address_space, compute_threads,
};

/// Tokens per batch. From 512 to 2,048 the processor time differs by less than a tenth (MiniLM, two cores); more tokens
/// only cost memory and delay cancellation.
const BATCH_TOKENS: usize = 1024;

/// As [`BATCH_TOKENS`], for a GPU, which small matrices leave idle.
const GPU_BATCH_TOKENS: usize = 16 * 1024;

/// Change it when this code gives other vectors for the same weights, so that old indexes are re-embedded.
const COMPUTATION: &str = "encoder-1";

const TOKENIZER_FILE: &str = "tokenizer.json";
const CONFIG_FILE: &str = "config.json";

/// Loads an embedder of the catalog, onto a GPU if `device` allows it.
///
/// # Errors
/// If a file is missing or damaged, the engine refuses it, or with [`InferenceError::Canceled`].
pub fn load_embedder(
    model: &CatalogModel,
    folders: &ModelFolders,
    device: DeviceChoice,
    cancel: &CancelToken,
) -> Result<Arc<dyn Embed>, InferenceError> {
    let settings = settings_of(model, ModelRole::Embedder)?;
    let files = EncoderFiles::find(model, folders, cancel)?;
    let encoder = Encoder::load_on(device, &model.id, &files, settings, HeadKind::Embedding)?;
    let identity = EncoderIdentity {
        model: model.id.clone(),
        fingerprint: fingerprint(model, settings),
        dimensions: encoder.network.dimensions(),
        max_tokens: encoder.tokenizer.max_tokens(),
    };
    Ok(Arc::new(CandleEmbedder { identity, encoder }))
}

/// Loads a reranker of the catalog.
///
/// # Errors
/// As [`load_embedder`].
pub fn load_reranker(
    model: &CatalogModel,
    folders: &ModelFolders,
    device: DeviceChoice,
    cancel: &CancelToken,
) -> Result<Arc<dyn Rerank>, InferenceError> {
    let settings = settings_of(model, ModelRole::Reranker)?;
    let files = EncoderFiles::find(model, folders, cancel)?;
    let encoder = Encoder::load_on(device, &model.id, &files, settings, HeadKind::Relevance)?;
    Ok(Arc::new(CandleReranker { encoder }))
}

/// The fingerprint of the embedder that [`load_embedder`] would give, without loading it.
///
/// # Errors
/// If the model is not an embedder.
pub fn embedder_fingerprint(model: &CatalogModel) -> Result<String, InferenceError> {
    Ok(fingerprint(model, settings_of(model, ModelRole::Embedder)?))
}

/// The device for encoders: the processor if the GPU cannot be used.
fn device_for(choice: DeviceChoice) -> Device {
    let device = match (choice, DeviceChoice::of_this_build()) {
        (DeviceChoice::Cpu, _) => return Device::Cpu,
        (_, Some(DeviceChoice::Cuda)) => Device::new_cuda(0),
        (_, Some(DeviceChoice::Metal)) => Device::new_metal(0),
        _ => return Device::Cpu,
    };
    device.unwrap_or_else(|error| {
        tracing::warn!(%error, "encoders compute on the processor");
        Device::Cpu
    })
}

#[derive(Debug, thiserror::Error)]
#[error("the catalog lists it as {listed:?}, and it was asked for as {wanted:?}")]
struct WrongRole {
    listed: ModelRole,
    wanted: ModelRole,
}

fn settings_of(model: &CatalogModel, wanted: ModelRole) -> Result<EncoderSettings, InferenceError> {
    model.encoder.filter(|_| model.role == wanted).ok_or_else(|| InferenceError::Load {
        model: model.id.clone(),
        source: Box::new(WrongRole { listed: model.role, wanted }),
    })
}

/// Hash of everything that decides the vectors: files, settings and [`COMPUTATION`].
fn fingerprint(model: &CatalogModel, settings: EncoderSettings) -> String {
    let mut hasher = Sha256::new();
    hasher.update(format!("{COMPUTATION} {settings:?}\n"));
    for file in &model.files {
        hasher.update(format!("{} {}\n", file.name, file.sha256));
    }
    hex(&hasher.finalize())
}

/// The verified files of an encoder.
struct EncoderFiles {
    weights: PathBuf,
    tokenizer: PathBuf,
    config: PathBuf,
}

impl EncoderFiles {
    fn find(model: &CatalogModel, folders: &ModelFolders, cancel: &CancelToken) -> Result<Self, InferenceError> {
        let found = |file| folders.find(model, file, cancel);
        Ok(Self {
            weights: found(model.weights()?)?,
            tokenizer: found(model.file(TOKENIZER_FILE)?)?,
            config: found(model.file(CONFIG_FILE)?)?,
        })
    }
}

/// The kind of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeadKind {
    Embedding,
    Relevance,
}

/// Tokenizer, network and threads of one encoder.
struct Encoder {
    model: String,
    tokenizer: TextTokenizer,
    network: Arc<Transformer>,
    lanes: Lanes,
    /// Tokens per batch.
    batch: usize,
}

impl Encoder {
    /// Loads onto the chosen device, or onto the processor if that fails.
    fn load_on(
        choice: DeviceChoice,
        model: &str,
        files: &EncoderFiles,
        settings: EncoderSettings,
        head: HeadKind,
    ) -> Result<Self, InferenceError> {
        let device = device_for(choice);
        match Self::load(&device, model, files, settings, head) {
            Err(error) if !device.is_cpu() => {
                tracing::warn!(%error, model, "an encoder stays on the processor");
                Self::load(&Device::Cpu, model, files, settings, head)
            }
            loaded => loaded,
        }
    }

    fn load(
        device: &Device,
        model: &str,
        files: &EncoderFiles,
        settings: EncoderSettings,
        head: HeadKind,
    ) -> Result<Self, InferenceError> {
        let failed = |source| InferenceError::Load { model: model.to_owned(), source };
        let bytes = std::fs::metadata(&files.weights).map(|file| file.len()).unwrap_or_default();
        check_address_space(model, address_space_of(bytes, 0, compute_threads()))?;
        let config = serde_json::from_slice(&read(&files.config)?).map_err(|error| failed(error.into()))?;
        let weights = open_weights(&files.weights, device, &failed)?;
        let head = match head {
            HeadKind::Embedding => Head::pool(settings.pooling),
            HeadKind::Relevance => Head::classify(&config, &weights).map_err(|error| failed(error.into()))?,
        };
        let network =
            Transformer::load(&config, settings.architecture, &weights, head).map_err(|error| failed(error.into()))?;
        let max_tokens = settings.max_tokens.min(network.max_tokens());
        let tokenizer = TextTokenizer::load(&files.tokenizer, max_tokens).map_err(failed)?;
        let threads = compute_threads();
        let (lanes, batch) = if device.is_cpu() { (threads, BATCH_TOKENS) } else { (1, GPU_BATCH_TOKENS) };
        let lanes = Lanes::new(lanes, threads).map_err(|error| failed(error.into()))?;
        Ok(Self { model: model.to_owned(), tokenizer, network: Arc::new(network), lanes, batch })
    }

    /// One head output per input, in order.
    fn compute(&self, inputs: Vec<Tokens>, cancel: &CancelToken) -> Result<Vec<Vec<f32>>, Stopped> {
        let batches = batches(&inputs, self.batch);
        let order: Vec<usize> = batches.iter().flatten().copied().collect();
        let network = Arc::clone(&self.network);
        let watched = cancel.clone();
        let computed = self.lanes.map(batches, move |batch| {
            let texts: Vec<&Tokens> = batch.iter().map(|index| &inputs[*index]).collect();
            network.forward(&texts, &watched)
        })?;
        let mut outputs = vec![Vec::new(); order.len()];
        for (index, output) in order.into_iter().zip(computed.into_iter().flatten()) {
            outputs[index] = output;
        }
        Ok(outputs)
    }

    fn tokenize<T: Send>(
        &self,
        texts: &[&str],
        one: impl Fn(&str) -> tokenizers::Result<T> + Sync + Send,
    ) -> Result<Vec<T>, InferenceError> {
        self.lanes.each(texts, |text| one(text)).map_err(|source| self.failed("tokenizing", source))
    }

    fn failed(&self, doing: &'static str, source: Box<dyn std::error::Error + Send + Sync>) -> InferenceError {
        InferenceError::Run { doing, model: self.model.clone(), source }
    }

    fn stopped(&self, doing: &'static str, stopped: Stopped) -> InferenceError {
        match stopped {
            Stopped::Canceled(canceled) => canceled.into(),
            other => self.failed(doing, other.into()),
        }
    }
}

/// Groups inputs of similar length, as indices: longest first, each group of at most `most` tokens or one text. A long
/// batch at the end would leave other cores idle.
fn batches(inputs: &[Tokens], most: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(inputs[*index].len()));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut room = 0;
    for index in order {
        let tokens = inputs[index].len();
        if let Some(batch) = batches.last_mut().filter(|_| tokens <= room) {
            batch.push(index);
            room -= tokens;
        } else {
            batches.push(vec![index]);
            room = most.saturating_sub(tokens);
        }
    }
    batches
}

fn read(path: &Path) -> Result<Vec<u8>, InferenceError> {
    std::fs::read(path).map_err(|source| InferenceError::Read { path: path.to_owned(), source })
}

/// Reads weights into memory instead of mapping them: replacing a mapped file would end the process. candle's pickle
/// reader parses a PyTorch file as data and runs nothing in it.
fn open_weights(
    path: &Path,
    device: &Device,
    failed: &impl Fn(Box<dyn std::error::Error + Send + Sync>) -> InferenceError,
) -> Result<VarBuilder<'static>, InferenceError> {
    let is_safetensors = path.extension().is_some_and(|extension| extension == "safetensors");
    if is_safetensors {
        VarBuilder::from_buffered_safetensors(read(path)?, DType::F32, device)
    } else {
        VarBuilder::from_pth(path, DType::F32, device)
    }
    .map_err(|error| failed(error.into()))
}

struct CandleEmbedder {
    identity: EncoderIdentity,
    encoder: Encoder,
}

impl Embed for CandleEmbedder {
    fn identity(&self) -> &EncoderIdentity {
        &self.identity
    }

    fn count_tokens(&self, text: &str) -> Result<usize, InferenceError> {
        self.encoder.tokenizer.count(text).map_err(|source| self.encoder.failed("tokenizing", source))
    }

    // Neither MiniLM nor bge-m3 puts a prefix before questions or evidence.
    fn embed(&self, texts: &[&str], _role: TextRole, cancel: &CancelToken) -> Result<Vec<Embedding>, InferenceError> {
        cancel.check()?;
        let inputs = self.encoder.tokenize(texts, |text| self.encoder.tokenizer.single(text))?;
        let outputs =
            self.encoder.compute(inputs, cancel).map_err(|stopped| self.encoder.stopped("embedding", stopped))?;
        Ok(outputs.into_iter().map(Embedding::normalized).collect())
    }
}

struct CandleReranker {
    encoder: Encoder,
}

impl Rerank for CandleReranker {
    fn model(&self) -> &str {
        &self.encoder.model
    }

    fn score(&self, question: &str, texts: &[&str], cancel: &CancelToken) -> Result<Vec<f32>, InferenceError> {
        cancel.check()?;
        let encoder = &self.encoder;
        let question = encoder.tokenizer.question(question).map_err(|source| encoder.failed("tokenizing", source))?;
        let inputs = encoder.tokenize(texts, |text| encoder.tokenizer.pair(&question, text))?;
        let outputs = encoder.compute(inputs, cancel).map_err(|stopped| encoder.stopped("reranking", stopped))?;
        Ok(outputs.into_iter().map(|logit| sigmoid(logit.first().copied().unwrap_or(f32::NEG_INFINITY))).collect())
    }
}

fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}
