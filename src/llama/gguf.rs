//! The header of a GGUF file, read before llama.cpp opens the file.
//!
//! Takes a file, gives the numbers that decide how much memory the model takes.
//! Invariants: every length in the file is checked against the file's size before memory is reserved for it; headers on
//! which llama.cpp would end the process are refused.
//! Not here: the weights themselves (llama.cpp), the check against the catalog (`weights`).

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

/// Longest text that is read, in bytes; longer texts are skipped.
const LONGEST_TEXT: u64 = 1 << 16;

/// Alignment of the weights where the header has none.
const DEFAULT_ALIGNMENT: u64 = 32;

/// A file that cannot be loaded as a model.
#[derive(Debug, thiserror::Error)]
pub(super) enum GgufError {
    #[error("it is no GGUF file")]
    NotGguf,
    #[error("it is a GGUF file of version {0}; versions 2 and 3 can be read")]
    Version(u32),
    #[error("the file ends in the middle: it has {0} bytes")]
    Cut(u64),
    #[error("its header is damaged: {0}")]
    Damaged(&'static str),
    #[error("its header does not say `{0}`")]
    Lacks(&'static str),
    #[error(transparent)]
    Io(io::Error),
}

/// The sizes in the header.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// File size in bytes.
    pub(super) file: u64,
    /// Such as `llama` or `qwen2`.
    pub(super) architecture: String,
    pub(super) layers: u64,
    /// Attention heads of a layer.
    pub(super) heads: u64,
    /// Key/value heads of all layers together.
    pub(super) kv_heads: u64,
    /// Length of a key vector plus that of a value vector, for one head.
    pub(super) key_and_value: u64,
    /// Length of a token's vector.
    pub(super) embedding: u64,
    /// Width of a feed-forward layer.
    pub(super) feed_forward: u64,
    pub(super) vocabulary: u64,
    /// Context length in training, in tokens.
    pub(super) trained: u64,
}

impl Shape {
    pub(super) fn read(path: &Path) -> Result<Self, GgufError> {
        let file = File::open(path).map_err(GgufError::Io)?;
        let length = file.metadata().map_err(GgufError::Io)?.len();
        Reader { input: BufReader::new(file), length, at: 0 }.shape()
    }
}

/// The keys that this program needs.
#[derive(Default)]
struct Keys {
    architecture: Option<String>,
    alignment: Option<u64>,
    vocabulary: Option<u64>,
    /// Numbers by key, without the architecture's prefix; lists as their sum.
    numbers: Vec<(String, Number)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    One(u64),
    SumOf { sum: u64, count: u64 },
}

enum Value {
    Text(String),
    Number(Number),
    List(u64),
    Other,
}

struct Reader<R> {
    input: R,
    length: u64,
    at: u64,
}

impl<R: Read + Seek> Reader<R> {
    fn shape(mut self) -> Result<Shape, GgufError> {
        if self.length < 4 || self.bytes::<4>()? != *b"GGUF" {
            return Err(GgufError::NotGguf);
        }
        let version = self.u32()?;
        if !(2..=3).contains(&version) {
            return Err(GgufError::Version(version));
        }
        let (tensors, keys) = (self.u64()?, self.u64()?);
        let keys = self.keys(keys)?;
        let alignment = keys.alignment.unwrap_or(DEFAULT_ALIGNMENT);
        if !alignment.is_power_of_two() {
            return Err(GgufError::Damaged("its alignment is no power of two"));
        }
        let last = self.tensors(tensors)?;
        let weights = self.at.checked_next_multiple_of(alignment).and_then(|start| start.checked_add(last));
        if tensors > 0 && weights.is_none_or(|last| last >= self.length) {
            return Err(GgufError::Cut(self.length));
        }
        keys.shape(self.length)
    }

    fn keys(&mut self, count: u64) -> Result<Keys, GgufError> {
        let mut keys = Keys::default();
        for _ in 0..count {
            let key = self.text()?;
            if key.is_empty() {
                return Err(GgufError::Damaged("a key has no name"));
            }
            let kind = self.u32()?;
            let value = self.value(kind)?;
            keys.take(key, kind, value)?;
        }
        Ok(keys)
    }

    /// Skips the tensor table; gives the offset of the last tensor.
    fn tensors(&mut self, count: u64) -> Result<u64, GgufError> {
        let mut last = 0;
        for _ in 0..count {
            self.text()?;
            let dimensions = self.u32()?;
            if dimensions > 4 {
                return Err(GgufError::Damaged("weights have more than four dimensions"));
            }
            // The size in each dimension, and the number type.
            self.pass(u64::from(dimensions) * 8 + 4)?;
            last = last.max(self.u64()?);
        }
        Ok(last)
    }

    fn value(&mut self, kind: u32) -> Result<Value, GgufError> {
        const TEXT: u32 = 8;
        const LIST: u32 = 9;
        if kind == TEXT {
            return Ok(Value::Text(self.text()?));
        }
        if kind != LIST {
            return Ok(self.number(kind)?.map_or(Value::Other, |number| Value::Number(Number::One(number))));
        }
        let (of, count) = (self.u32()?, self.u64()?);
        match of {
            TEXT => (0..count).try_for_each(|_| self.pass_text())?,
            LIST => return Err(GgufError::Damaged("a list of lists")),
            // Short enough for one number per layer, not per token.
            4 | 5 if count <= 4096 => {
                let mut sum = 0;
                for _ in 0..count {
                    sum += self.number(of)?.unwrap_or(0);
                }
                return Ok(Value::Number(Number::SumOf { sum, count }));
            }
            _ => {
                let bytes = width(of)?.checked_mul(count).ok_or(GgufError::Cut(self.length))?;
                self.pass(bytes)?;
            }
        }
        Ok(Value::List(count))
    }

    /// A whole number; none for fractions and booleans.
    fn number(&mut self, kind: u32) -> Result<Option<u64>, GgufError> {
        let mut bytes = [0; 8];
        let width = width(kind)?;
        self.need(width)?;
        let wanted = usize::try_from(width).unwrap_or(0);
        self.fill(&mut bytes[..wanted])?;
        Ok(matches!(kind, 0 | 2 | 4 | 5 | 10 | 11).then(|| u64::from_le_bytes(bytes)))
    }

    fn text(&mut self) -> Result<String, GgufError> {
        let length = self.u64()?;
        self.need(length)?;
        if length > LONGEST_TEXT {
            self.pass(length)?;
            return Ok(String::from("…"));
        }
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        self.fill(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn pass_text(&mut self) -> Result<(), GgufError> {
        let length = self.u64()?;
        self.pass(length)
    }

    /// Skips `bytes` bytes.
    fn pass(&mut self, bytes: u64) -> Result<(), GgufError> {
        self.need(bytes)?;
        let offset = i64::try_from(bytes).map_err(|_| GgufError::Cut(self.length))?;
        self.input.seek_relative(offset).map_err(GgufError::Io)?;
        self.at += bytes;
        Ok(())
    }

    fn need(&self, bytes: u64) -> Result<(), GgufError> {
        if bytes > self.length - self.at { Err(GgufError::Cut(self.length)) } else { Ok(()) }
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), GgufError> {
        self.input.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => GgufError::Cut(self.length),
            _ => GgufError::Io(error),
        })?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], GgufError> {
        self.need(N as u64)?;
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, GgufError> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }

    fn u64(&mut self) -> Result<u64, GgufError> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }
}

/// Width in bytes of a number of this type.
fn width(kind: u32) -> Result<u64, GgufError> {
    match kind {
        0 | 1 | 7 => Ok(1),
        2 | 3 => Ok(2),
        4..=6 => Ok(4),
        10..=12 => Ok(8),
        _ => Err(GgufError::Damaged("a value of an unknown kind")),
    }
}

impl Keys {
    fn take(&mut self, key: String, kind: u32, value: Value) -> Result<(), GgufError> {
        const U32: u32 = 4;
        match (key.as_str(), value) {
            ("general.architecture", Value::Text(text)) => self.architecture = Some(text),
            ("general.alignment", Value::Number(Number::One(number))) if kind == U32 => self.alignment = Some(number),
            ("general.alignment", _) => return Err(GgufError::Damaged("its alignment is no 32-bit number")),
            ("tokenizer.ggml.tokens", Value::List(count)) => self.vocabulary = Some(count),
            (_, Value::Number(number)) => self.numbers.push((key, number)),
            _ => {}
        }
        Ok(())
    }

    /// The number under `<architecture>.<name>`.
    fn of(&self, architecture: &str, name: &str) -> Option<Number> {
        let is_it = |key: &str| key.strip_prefix(architecture).and_then(|key| key.strip_prefix('.')) == Some(name);
        self.numbers.iter().find(|(key, _)| is_it(key)).map(|(_, number)| *number)
    }

    fn shape(&self, file: u64) -> Result<Shape, GgufError> {
        let architecture = self.architecture.clone().ok_or(GgufError::Lacks("general.architecture"))?;
        let one = |name: &'static str| match self.of(&architecture, name) {
            Some(Number::One(number)) => Some(number),
            Some(Number::SumOf { sum, count }) => Some(sum.div_ceil(count.max(1))),
            None => None,
        };
        let layers = one("block_count").unwrap_or(0);
        let heads = one("attention.head_count").unwrap_or(0);
        let embedding = one("embedding_length").unwrap_or(0);
        let head = embedding.checked_div(heads).unwrap_or(0);
        let key = one("attention.key_length").unwrap_or(head);
        let value = one("attention.value_length").unwrap_or(head);
        let kv_heads = match self.of(&architecture, "attention.head_count_kv") {
            Some(Number::SumOf { sum, .. }) => sum,
            Some(Number::One(number)) => number.saturating_mul(layers),
            None => heads.saturating_mul(layers),
        };
        Ok(Shape {
            file,
            layers,
            heads,
            kv_heads,
            key_and_value: key.saturating_add(value),
            embedding,
            feed_forward: one("feed_forward_length").unwrap_or(0),
            vocabulary: one("vocab_size").or(self.vocabulary).unwrap_or(0),
            trained: one("context_length").unwrap_or(u64::MAX),
            architecture,
        })
    }
}

#[cfg(test)]
pub(super) mod test_gguf {
    //! Small GGUF files written by hand.

    /// A header with these keys and no weights.
    pub(crate) fn header(keys: &[(&str, TestValue)]) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(3_u32.to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
        bytes.extend((keys.len() as u64).to_le_bytes());
        for (key, value) in keys {
            text(&mut bytes, key);
            value.write(&mut bytes);
        }
        bytes
    }

    #[derive(Debug, Clone)]
    pub(crate) enum TestValue {
        Number(u32),
        Numbers(Vec<u32>),
        Text(&'static str),
        Texts(Vec<&'static str>),
    }

    impl TestValue {
        fn write(&self, bytes: &mut Vec<u8>) {
            match self {
                Self::Number(number) => {
                    bytes.extend(4_u32.to_le_bytes());
                    bytes.extend(number.to_le_bytes());
                }
                Self::Text(value) => {
                    bytes.extend(8_u32.to_le_bytes());
                    text(bytes, value);
                }
                Self::Numbers(numbers) => {
                    list(bytes, 4, numbers.len());
                    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
                }
                Self::Texts(texts) => {
                    list(bytes, 8, texts.len());
                    for value in texts {
                        text(bytes, value);
                    }
                }
            }
        }
    }

    fn list(bytes: &mut Vec<u8>, of: u32, count: usize) {
        bytes.extend(9_u32.to_le_bytes());
        bytes.extend(of.to_le_bytes());
        bytes.extend((count as u64).to_le_bytes());
    }

    fn text(bytes: &mut Vec<u8>, value: &str) {
        bytes.extend((value.len() as u64).to_le_bytes());
        bytes.extend(value.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::test_gguf::{TestValue, header};
    use super::*;

    fn read(bytes: &[u8]) -> Result<Shape, GgufError> {
        Reader { input: Cursor::new(bytes), length: bytes.len() as u64, at: 0 }.shape()
    }

    fn qwen() -> Vec<u8> {
        header(&[
            ("general.architecture", TestValue::Text("qwen2")),
            ("tokenizer.ggml.tokens", TestValue::Texts(vec!["a", "b", "c"])),
            ("qwen2.block_count", TestValue::Number(28)),
            ("qwen2.embedding_length", TestValue::Number(1536)),
            ("qwen2.attention.head_count", TestValue::Number(12)),
            ("qwen2.attention.head_count_kv", TestValue::Number(2)),
            ("qwen2.feed_forward_length", TestValue::Number(8960)),
            ("qwen2.context_length", TestValue::Number(32768)),
        ])
    }

    #[test]
    fn the_header_says_how_large_the_model_is() {
        let bytes = qwen();
        let shape = read(&bytes).unwrap();
        assert_eq!((shape.layers, shape.heads, shape.kv_heads, shape.key_and_value), (28, 12, 56, 256));
        assert_eq!((shape.vocabulary, shape.trained, shape.file), (3, 32768, bytes.len() as u64));
    }

    #[test]
    fn heads_may_differ_from_layer_to_layer() {
        let shape = read(&header(&[
            ("general.architecture", TestValue::Text("x")),
            ("x.block_count", TestValue::Number(3)),
            ("x.attention.head_count_kv", TestValue::Numbers(vec![2, 0, 4])),
            ("x.attention.key_length", TestValue::Number(64)),
            ("x.attention.value_length", TestValue::Number(32)),
        ]));
        let shape = shape.unwrap();
        assert_eq!((shape.kv_heads, shape.key_and_value), (6, 96));
    }

    #[test]
    fn a_header_cut_anywhere_is_refused() {
        let whole = qwen();
        for end in 0..whole.len() {
            let result = read(&whole[..end]);
            assert!(matches!(result, Err(GgufError::Cut(_) | GgufError::NotGguf)), "{end}: {result:?}");
        }
    }

    #[test]
    fn what_would_end_the_process_is_refused_before() {
        for (keys, said) in [
            (vec![("", TestValue::Number(1))], "no name"),
            (vec![("general.alignment", TestValue::Number(3))], "power of two"),
            (vec![("general.alignment", TestValue::Number(0))], "power of two"),
            (vec![("general.alignment", TestValue::Text("32"))], "32-bit"),
            (vec![("a", TestValue::Number(1))], "general.architecture"),
        ] {
            let error = read(&header(&keys)).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    proptest! {
        #[test]
        fn damaged_headers_are_read_without_a_crash(places in proptest::collection::vec((0_usize..400, any::<u8>()), 1..6)) {
            let mut bytes = qwen();
            for (place, byte) in places {
                if let Some(old) = bytes.get_mut(place) {
                    *old = byte;
                }
            }
            let _ = read(&bytes);
        }
    }
}
