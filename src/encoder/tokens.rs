//! Text to token ids, cut to the encoder's window.
//!
//! Takes texts or question-text pairs, gives token ids.
//! Invariants: truncation and padding of the tokenizer file are ignored (MiniLM's file says 128 tokens, padded; the
//! model reads 256); the special tokens around a text survive the cut; text that spells a special token (`</s>`,
//! `[SEP]`) is read as characters, because documents are untrusted.

use std::path::Path;

use tokenizers::{Encoding, PostProcessor, Result, Tokenizer, TruncationDirection};

/// Quarters of a pair's window that the question may fill, so that some of the text is always read.
const QUESTION_QUARTERS: usize = 3;

/// One input of the network.
#[derive(Debug)]
pub(super) struct Tokens {
    /// Token ids, special tokens included.
    pub(super) ids: Vec<u32>,
    /// 0 for the first text of a pair, 1 for the second, if the model distinguishes them.
    pub(super) types: Vec<u32>,
}

impl Tokens {
    /// Number of tokens; never 0 with a tokenizer that adds special tokens.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }
}

impl From<Encoding> for Tokens {
    fn from(encoding: Encoding) -> Self {
        Self { ids: encoding.get_ids().to_vec(), types: encoding.get_type_ids().to_vec() }
    }
}

pub(super) struct TextTokenizer {
    tokenizer: Tokenizer,
    max_tokens: usize,
}

impl TextTokenizer {
    pub(super) fn load(path: &Path, max_tokens: usize) -> Result<Self> {
        let mut tokenizer = Tokenizer::from_file(path)?;
        tokenizer.with_truncation(None)?;
        tokenizer.with_padding(None);
        tokenizer.set_encode_special_tokens(true);
        Ok(Self { tokenizer, max_tokens })
    }

    pub(super) fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// Number of tokens of the uncut text, special tokens included.
    pub(super) fn count(&self, text: &str) -> Result<usize> {
        Ok(self.tokenizer.encode_fast(text, true)?.len())
    }

    /// The tokens of a single text.
    pub(super) fn single(&self, text: &str) -> Result<Tokens> {
        let room = self.max_tokens.saturating_sub(self.added(1));
        let text = cut(self.tokenizer.encode_fast(text, false)?, room);
        Ok(self.tokenizer.post_process(text, None, true)?.into())
    }

    /// The cut question of pairs, to be combined with many texts.
    pub(super) fn question(&self, question: &str) -> Result<Encoding> {
        let encoding = self.tokenizer.encode_fast(question, false)?;
        Ok(cut(encoding, self.max_tokens * QUESTION_QUARTERS / 4))
    }

    /// The tokens of a pair; only the text is cut.
    pub(super) fn pair(&self, question: &Encoding, text: &str) -> Result<Tokens> {
        let room = self.max_tokens.saturating_sub(self.added(2) + question.len());
        let text = cut(self.tokenizer.encode_fast(text, false)?, room);
        Ok(self.tokenizer.post_process(question.clone(), Some(text), true)?.into())
    }

    /// Number of special tokens around `texts` texts.
    fn added(&self, texts: usize) -> usize {
        self.tokenizer.get_post_processor().map_or(0, |processor| processor.added_tokens(texts > 1))
    }
}

fn cut(mut encoding: Encoding, room: usize) -> Encoding {
    encoding.truncate(room, 0, TruncationDirection::Right);
    // Drops the cut-off part, which would otherwise become a second input.
    encoding.take_overflowing();
    encoding
}
