//! Parity with the reference implementation, and what the traits promise.
//!
//! Expected outputs: `tests/fixtures/parity`, made once by its `make.py`. The weights of the XLM-RoBERTa cases are a
//! formula that is written down in both languages.

use std::collections::HashMap;
use std::path::PathBuf;

use candle_core::Tensor;
use serde::Deserialize;

use super::*;
use ragonite_base::CancelSource;
use ragonite_inference::{Architecture, Catalog, Pooling};

const PARITY: f64 = 0.9999;

fn fixture(name: &str) -> PathBuf {
    ragonite_testing::root().join("tests/fixtures/parity").join(name)
}

fn json<T: serde::de::DeserializeOwned>(name: &str) -> T {
    serde_json::from_slice(&std::fs::read(fixture(name)).unwrap()).unwrap()
}

/// `None`, and a printed reason, where the models are not there.
fn minilm() -> Option<Arc<dyn Embed>> {
    let catalog = Catalog::builtin().unwrap();
    let model = catalog.model("all-MiniLM-L6-v2").unwrap();
    let folders = ModelFolders::new(vec![ragonite_testing::models_folder()]);
    if !folders.has(model) {
        ragonite_testing::skip_without(&model.id);
        return None;
    }
    Some(load_embedder(model, &folders, DeviceChoice::Cpu, &CancelToken::never()).unwrap())
}

fn embed(embedder: &dyn Embed, texts: &[&str]) -> Vec<Embedding> {
    embedder.embed(texts, TextRole::Evidence, &CancelToken::never()).unwrap()
}

fn assert_parity(found: &[Embedding], expected: &[Vec<f32>]) {
    assert_eq!(found.len(), expected.len());
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let cosine = found.cosine(&Embedding::normalized(expected.clone()));
        assert!(cosine > PARITY, "text {index}: cosine {cosine}");
    }
}

// --- MiniLM -------------------------------------------------------------------------------------------------------

#[derive(Deserialize)]
struct MiniLmFixture {
    texts: Vec<String>,
    tokens: Vec<usize>,
    vectors: Vec<Vec<f32>>,
}

#[test]
fn minilm_agrees_with_the_reference() {
    let Some(embedder) = minilm() else { return };
    let fixture: MiniLmFixture = json("minilm.json");
    let texts: Vec<&str> = fixture.texts.iter().map(String::as_str).collect();
    assert_eq!(texts.len(), 20);
    for (text, expected) in texts.iter().zip(&fixture.tokens) {
        assert_eq!(embedder.count_tokens(text).unwrap(), *expected, "{text:?}");
    }
    assert_parity(&embed(&*embedder, &texts), &fixture.vectors);
}

#[test]
fn minilm_gives_a_batch_what_it_gives_each_text() {
    let Some(embedder) = minilm() else { return };
    let fixture: MiniLmFixture = json("minilm.json");
    let texts: Vec<&str> = fixture.texts.iter().map(String::as_str).cycle().take(50).collect();
    for (text, together) in texts.iter().zip(embed(&*embedder, &texts)).take(20) {
        let alone = &embed(&*embedder, &[*text])[0];
        assert!(alone.cosine(&together) > 0.999_999, "{text:?}");
    }
}

#[test]
fn minilm_tells_who_it_is() {
    let Some(embedder) = minilm() else { return };
    let identity = embedder.identity();
    assert_eq!((identity.dimensions, identity.max_tokens), (384, 256));
    assert_eq!(identity.fingerprint.len(), 64);
    assert!(embed(&*embedder, &[]).is_empty());
}

#[test]
fn embedding_stops_when_cancelled() {
    let Some(embedder) = minilm() else { return };
    let source = CancelSource::default();
    source.cancel();
    let result = embedder.embed(&["a"], TextRole::Query, &source.token());
    assert!(matches!(result, Err(InferenceError::Canceled(_))));
}

#[test]
fn text_that_spells_a_special_token_is_only_text() {
    let Some(embedder) = minilm() else { return };
    assert_eq!(embedder.count_tokens("[SEP]").unwrap(), 5);
}

// --- XLM-RoBERTa --------------------------------------------------------------------------------------------------

/// A text as (seed, words).
type Case = (u32, u32);

#[derive(Deserialize)]
struct XlmrFixture {
    config: Shape,
    embed: Vec<Case>,
    vectors: Vec<Vec<f32>>,
    question: Case,
    pairs: Vec<Case>,
    scores: Vec<f32>,
}

#[derive(Deserialize)]
struct PickleFixture {
    config: Shape,
    embed: Vec<Case>,
    vectors: Vec<Vec<f32>>,
}

#[derive(Deserialize, serde::Serialize)]
struct Shape {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    #[serde(flatten)]
    rest: serde_json::Map<String, serde_json::Value>,
}

fn mix(h: u32) -> u32 {
    let h = (h ^ (h >> 16)).wrapping_mul(0x85EB_CA6B);
    let h = (h ^ (h >> 13)).wrapping_mul(0xC2B2_AE35);
    h ^ (h >> 16)
}

fn case_text((seed, words): Case) -> String {
    let words: Vec<String> =
        (0..words).map(|i| format!("w{}", mix(seed.wrapping_mul(100_003).wrapping_add(i)) % 296)).collect();
    words.join(" ")
}

fn tensor(name: &str, shape: &[usize]) -> Tensor {
    let seed = name.bytes().fold(0x811C_9DC5_u32, |h, byte| (h ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count as u32)
        .map(|i| {
            let value = (f64::from(mix(i.wrapping_mul(0x9E37_79B1).wrapping_add(seed))) / 4_294_967_296.0 - 0.5) as f32;
            if name.ends_with("LayerNorm.weight") { 1.0 + value * 0.2 } else { value }
        })
        .collect();
    Tensor::from_vec(values, shape, &Device::Cpu).unwrap()
}

/// All tensors of the network; those of the reranker carry `roberta.` and a classifier.
fn formula_weights(shape: &Shape, prefix: &str) -> HashMap<String, Tensor> {
    let (size, inner) = (shape.hidden_size, shape.intermediate_size);
    let mut all = HashMap::new();
    let mut add = |name: String, shape: &[usize]| {
        let value = tensor(&name, shape);
        all.insert(name, value);
    };
    let mut dense = |name: &str, shape: &[usize]| {
        add(format!("{name}.weight"), shape);
        add(format!("{name}.bias"), &shape[..1]);
    };
    for layer in 0..shape.num_hidden_layers {
        let layer = format!("{prefix}encoder.layer.{layer}");
        for name in ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"] {
            dense(&format!("{layer}.{name}"), &[size, size]);
        }
        dense(&format!("{layer}.intermediate.dense"), &[inner, size]);
        dense(&format!("{layer}.output.dense"), &[size, inner]);
        for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
            dense(&format!("{layer}.{name}"), &[size]);
        }
    }
    dense(&format!("{prefix}embeddings.LayerNorm"), &[size]);
    if !prefix.is_empty() {
        dense("classifier.dense", &[size, size]);
        dense("classifier.out_proj", &[1, size]);
    }
    for (name, rows) in [
        ("word_embeddings", shape.vocab_size),
        ("position_embeddings", shape.max_position_embeddings),
        ("token_type_embeddings", shape.type_vocab_size),
    ] {
        add(format!("{prefix}embeddings.{name}.weight"), &[rows, size]);
    }
    all
}

const SETTINGS: EncoderSettings =
    EncoderSettings { architecture: Architecture::XlmRoberta, pooling: Pooling::Cls, max_tokens: 8192 };

fn small_encoder(shape: &Shape, weights: PathBuf, head: HeadKind) -> Encoder {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.json");
    std::fs::write(&config, serde_json::to_vec(shape).unwrap()).unwrap();
    let files = EncoderFiles { weights, tokenizer: fixture("xlmr-tokenizer.json"), config };
    Encoder::load(&Device::Cpu, "small", &files, SETTINGS, head).unwrap()
}

fn from_formula(shape: &Shape, prefix: &str, head: HeadKind) -> Encoder {
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("model.safetensors");
    candle_core::safetensors::save(&formula_weights(shape, prefix), &weights).unwrap();
    small_encoder(shape, weights, head)
}

fn embedder(encoder: Encoder) -> CandleEmbedder {
    let identity = EncoderIdentity {
        model: "small".into(),
        fingerprint: String::new(),
        dimensions: encoder.network.dimensions(),
        max_tokens: encoder.tokenizer.max_tokens(),
    };
    CandleEmbedder { identity, encoder }
}

fn case_texts(cases: &[Case]) -> Vec<String> {
    cases.iter().copied().map(case_text).collect()
}

fn refs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

#[test]
fn xlm_roberta_agrees_with_the_reference_up_to_its_whole_window() {
    let fixture: XlmrFixture = json("xlmr.json");
    let embedder = embedder(from_formula(&fixture.config, "", HeadKind::Embedding));
    assert_eq!(embedder.identity.max_tokens, 8192);
    let texts = case_texts(&fixture.embed);
    assert_parity(&embed(&embedder, &refs(&texts)), &fixture.vectors);
}

#[test]
fn xlm_roberta_gives_a_batch_what_it_gives_each_text() {
    let fixture: XlmrFixture = json("xlmr.json");
    let embedder = embedder(from_formula(&fixture.config, "", HeadKind::Embedding));
    let texts = case_texts(&fixture.embed[7..]);
    for (text, together) in texts.iter().zip(embed(&embedder, &refs(&texts))) {
        assert!(embed(&embedder, &[text.as_str()])[0].cosine(&together) > 0.999_999);
    }
}

#[test]
fn the_reranker_agrees_with_the_reference() {
    let fixture: XlmrFixture = json("xlmr.json");
    let reranker = CandleReranker { encoder: from_formula(&fixture.config, "roberta.", HeadKind::Relevance) };
    let texts = case_texts(&fixture.pairs);
    let question = case_text(fixture.question);
    let scores = reranker.score(&question, &refs(&texts), &CancelToken::never()).unwrap();
    for (index, (found, expected)) in scores.iter().zip(&fixture.scores).enumerate() {
        assert!((found - expected).abs() < 1e-4, "pair {index}: {found}, expected {expected}");
    }
    let alone = reranker.score(&question, &[texts[9].as_str()], &CancelToken::never()).unwrap();
    assert!((alone[0] - scores[9]).abs() < 1e-5);
}

#[test]
fn a_question_longer_than_the_window_leaves_room_for_the_text() {
    let fixture: PickleFixture = json("pickle.json");
    let encoder = small_encoder(&fixture.config, self::fixture("pytorch_model.bin"), HeadKind::Embedding);
    let tokenizer = &encoder.tokenizer;
    assert_eq!(tokenizer.max_tokens(), 64);
    let question = tokenizer.question(&case_text((1, 500))).unwrap();
    let pair = tokenizer.pair(&question, &case_text((2, 500))).unwrap();
    assert_eq!((question.len(), pair.len()), (48, 64));
    assert_eq!(pair.ids.last(), Some(&2));
}

#[test]
fn a_pytorch_file_is_read_without_running_it() {
    let fixture: PickleFixture = json("pickle.json");
    let encoder = small_encoder(&fixture.config, self::fixture("pytorch_model.bin"), HeadKind::Embedding);
    let texts = case_texts(&fixture.embed);
    assert_parity(&embed(&embedder(encoder), &refs(&texts)), &fixture.vectors);
}

// --- loading ------------------------------------------------------------------------------------------------------

#[test]
fn a_model_of_another_role_is_refused() {
    let catalog = Catalog::builtin().unwrap();
    let generator = catalog.model("smollm2-135m-instruct").unwrap();
    let refused = load_embedder(generator, &ModelFolders::default(), DeviceChoice::Cpu, &CancelToken::never());
    assert!(matches!(refused, Err(InferenceError::Load { .. })));
}

#[test]
fn the_fingerprint_changes_with_files_and_settings_only() {
    let catalog = Catalog::builtin().unwrap();
    let model = catalog.model("all-MiniLM-L6-v2").unwrap();
    let settings = model.encoder.unwrap();
    let pinned = fingerprint(model, settings);
    // Every existing index must be re-embedded when this line changes.
    assert_eq!(pinned, "052d531d47c6b4bb9f8100b7ab4c9505b8611331c1b50db6345cf853ae237d98");
    assert_ne!(fingerprint(model, EncoderSettings { max_tokens: 128, ..settings }), pinned);
    let mut other = model.clone();
    other.files[1].sha256 = "0".repeat(64);
    assert_ne!(fingerprint(&other, settings), pinned);
}

#[test]
fn batches_hold_texts_of_similar_length_within_the_budget() {
    let inputs: Vec<Tokens> =
        [10, 900, 3000, 20, 600, 300].iter().map(|n| Tokens { ids: vec![0; *n], types: vec![0; *n] }).collect();
    assert_eq!(batches(&inputs, BATCH_TOKENS), [vec![2], vec![1], vec![4, 5, 3, 0]]);
    assert!(batches(&[], BATCH_TOKENS).is_empty());
}
