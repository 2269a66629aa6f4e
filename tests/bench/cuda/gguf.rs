//! Writes a GGUF file with the shape of a Llama model and random weights.
//!
//! Takes a shape, writes a file that llama.cpp loads. Matrices are 4-bit blocks (Q4_K), those of the output 6-bit
//! blocks (Q6_K), almost as in a Q4_K_M file; bits are random and scales small, so that values stay in range. The
//! vocabulary has the bytes and fillers.
//! Not here: meaning; the output is random.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

/// Sizes of a model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    layers: u32,
    embedding: u32,
    feed_forward: u32,
    heads: u32,
    kv_heads: u32,
    vocabulary: u32,
    context: u32,
}

/// Llama-3.1-8B.
pub(crate) const LLAMA_8B: Shape = Shape {
    layers: 32,
    embedding: 4096,
    feed_forward: 14336,
    heads: 32,
    kv_heads: 8,
    vocabulary: 128_256,
    context: 16384,
};

/// A small shape for trying.
pub(crate) const SMALL: Shape =
    Shape { layers: 2, embedding: 256, feed_forward: 512, heads: 4, kv_heads: 2, vocabulary: 512, context: 2048 };

const ALIGNMENT: u64 = 32;
/// Weights of a block.
const BLOCK: u64 = 256;
/// Special tokens before the bytes.
const SPECIAL: [&str; 3] = ["<unk>", "<s>", "</s>"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    F32 = 0,
    Q4K = 12,
    Q6K = 14,
}

struct Matrix {
    name: String,
    inputs: u64,
    outputs: u64,
    numbers: Numbers,
}

impl Matrix {
    fn new(name: String, inputs: u32, outputs: u32, numbers: Numbers) -> Self {
        Self { name, inputs: inputs.into(), outputs: outputs.into(), numbers }
    }

    fn bytes(&self) -> u64 {
        let count = self.inputs * self.outputs;
        match self.numbers {
            Numbers::F32 => count * 4,
            Numbers::Q4K => count / BLOCK * 144,
            Numbers::Q6K => count / BLOCK * 210,
        }
    }
}

/// Writes the file and gives its length in bytes.
pub(crate) fn write(path: &Path, shape: &Shape) -> Result<u64, Box<dyn Error>> {
    let matrices = matrices(shape);
    let keys = keys(shape);
    let mut header = b"GGUF".to_vec();
    header.extend(3_u32.to_le_bytes());
    header.extend((matrices.len() as u64).to_le_bytes());
    header.extend(keys.count.to_le_bytes());
    header.extend(keys.bytes);
    let mut offset = 0_u64;
    for matrix in &matrices {
        text(&mut header, &matrix.name);
        let dimensions = if matrix.outputs == 1 { vec![matrix.inputs] } else { vec![matrix.inputs, matrix.outputs] };
        header.extend((dimensions.len() as u32).to_le_bytes());
        for size in &dimensions {
            header.extend(size.to_le_bytes());
        }
        header.extend((matrix.numbers as u32).to_le_bytes());
        header.extend(offset.to_le_bytes());
        offset += matrix.bytes().next_multiple_of(ALIGNMENT);
    }
    header.resize(header.len().next_multiple_of(ALIGNMENT as usize), 0);
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    file.write_all(&header)?;
    let pools = Pools::new();
    for matrix in &matrices {
        pools.fill(&mut file, matrix)?;
        let padding = matrix.bytes().next_multiple_of(ALIGNMENT) - matrix.bytes();
        file.write_all(&vec![0; usize::try_from(padding)?])?;
    }
    file.flush()?;
    Ok(header.len() as u64 + offset)
}

fn matrices(shape: &Shape) -> Vec<Matrix> {
    let Shape { embedding, feed_forward, vocabulary, .. } = *shape;
    let kv = embedding / shape.heads * shape.kv_heads;
    let one = |name: &str, numbers| Matrix::new(name.to_owned(), embedding, vocabulary, numbers);
    let norm = |name: String| Matrix::new(name, embedding, 1, Numbers::F32);
    let mut all = vec![one("token_embd.weight", Numbers::Q4K), norm("output_norm.weight".to_owned())];
    all.push(one("output.weight", Numbers::Q6K));
    for layer in 0..shape.layers {
        let name = |part: &str| format!("blk.{layer}.{part}.weight");
        all.extend([norm(name("attn_norm")), norm(name("ffn_norm"))]);
        let sizes = [
            ("attn_q", embedding, embedding),
            ("attn_k", embedding, kv),
            ("attn_v", embedding, kv),
            ("attn_output", embedding, embedding),
            ("ffn_gate", embedding, feed_forward),
            ("ffn_up", embedding, feed_forward),
            ("ffn_down", feed_forward, embedding),
        ];
        all.extend(sizes.map(|(part, inputs, outputs)| Matrix::new(name(part), inputs, outputs, Numbers::Q4K)));
    }
    all
}

/// Random blocks, which are written repeatedly from different offsets.
struct Pools {
    q4: Vec<u8>,
    q6: Vec<u8>,
}

/// Blocks in a pool.
const POOLED: usize = 1 << 15;

impl Pools {
    fn new() -> Self {
        // The halves 0.0001 and 0.0007: scale and offset, so that weights are around zero.
        let q4 = random_blocks(144, |block| block[..4].copy_from_slice(&[0x8E, 0x06, 0xBC, 0x11]));
        // The half 0.00001 at the end.
        let q6 = random_blocks(210, |block| block[208..].copy_from_slice(&[0xA8, 0x00]));
        Self { q4, q6 }
    }

    fn fill(&self, file: &mut impl std::io::Write, matrix: &Matrix) -> std::io::Result<()> {
        let pool = match matrix.numbers {
            Numbers::F32 => {
                let ones = 1.0_f32.to_le_bytes().repeat((matrix.inputs * matrix.outputs) as usize);
                return file.write_all(&ones);
            }
            Numbers::Q4K => &self.q4,
            Numbers::Q6K => &self.q6,
        };
        let block = pool.len() / POOLED;
        let mut left = matrix.bytes() as usize;
        let mut start = matrix.name.bytes().map(usize::from).sum::<usize>() * 7 % POOLED * block;
        while left > 0 {
            let length = left.min(pool.len() - start);
            file.write_all(&pool[start..start + length])?;
            left -= length;
            start = 0;
        }
        Ok(())
    }
}

fn random_blocks(length: usize, set: impl Fn(&mut [u8])) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let random = std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    });
    let mut pool: Vec<u8> = random.take(POOLED * length).collect();
    pool.chunks_exact_mut(length).for_each(set);
    pool
}

/// The keys of a header.
#[derive(Default)]
struct Keys {
    count: u64,
    bytes: Vec<u8>,
}

impl Keys {
    fn key(&mut self, name: &str, kind: u32) {
        self.count += 1;
        text(&mut self.bytes, name);
        self.bytes.extend(kind.to_le_bytes());
    }

    fn number(&mut self, name: &str, value: u32) {
        self.key(name, 4);
        self.bytes.extend(value.to_le_bytes());
    }

    fn fraction(&mut self, name: &str, value: f32) {
        self.key(name, 6);
        self.bytes.extend(value.to_le_bytes());
    }

    fn flag(&mut self, name: &str, value: u8) {
        self.key(name, 7);
        self.bytes.push(value);
    }

    fn text(&mut self, name: &str, value: &str) {
        self.key(name, 8);
        text(&mut self.bytes, value);
    }

    fn list(&mut self, name: &str, kind: u32, count: u32) {
        self.key(name, 9);
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend(u64::from(count).to_le_bytes());
    }
}

fn text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

fn keys(shape: &Shape) -> Keys {
    let mut keys = Keys::default();
    keys.text("general.architecture", "llama");
    keys.text("general.name", "random weights");
    for (name, value) in [
        ("block_count", shape.layers),
        ("context_length", shape.context),
        ("embedding_length", shape.embedding),
        ("feed_forward_length", shape.feed_forward),
        ("attention.head_count", shape.heads),
        ("attention.head_count_kv", shape.kv_heads),
        ("rope.dimension_count", shape.embedding / shape.heads),
        ("vocab_size", shape.vocabulary),
    ] {
        keys.number(&format!("llama.{name}"), value);
    }
    keys.fraction("llama.rope.freq_base", 500_000.0);
    keys.fraction("llama.attention.layer_norm_rms_epsilon", 1e-5);
    keys.text("tokenizer.ggml.model", "llama");
    keys.list("tokenizer.ggml.tokens", 8, shape.vocabulary);
    let special = SPECIAL.len() as u32;
    for token in 0..shape.vocabulary {
        let name = match SPECIAL.get(token as usize) {
            Some(name) => (*name).to_owned(),
            None if token < special + 256 => format!("<0x{:02X}>", token - special),
            None => format!("filler{token}"),
        };
        text(&mut keys.bytes, &name);
    }
    keys.list("tokenizer.ggml.scores", 6, shape.vocabulary);
    (0..shape.vocabulary).for_each(|_| keys.bytes.extend(0.0_f32.to_le_bytes()));
    keys.list("tokenizer.ggml.token_type", 5, shape.vocabulary);
    for token in 0..shape.vocabulary {
        // Unknown, control, byte, normal.
        let kind: i32 = match token {
            0 => 2,
            1 | 2 => 3,
            byte if byte < special + 256 => 6,
            _ => 1,
        };
        keys.bytes.extend(kind.to_le_bytes());
    }
    for (name, token) in [("unknown", 0), ("bos", 1), ("eos", 2)] {
        keys.number(&format!("tokenizer.ggml.{name}_token_id"), token);
    }
    for name in ["add_bos_token", "add_eos_token", "add_space_prefix"] {
        keys.flag(&format!("tokenizer.ggml.{name}"), 0);
    }
    keys
}
