//! Texts to embed for an evidence that is longer than the embedder's window.
//!
//! Takes an evidence, gives one text or several, whose vectors are averaged.
//! Invariants: content comes before context: first the texts after and before are shortened, then the heading is
//! dropped, then the title shortened; content is never cut, only spread over windows at line or word boundaries.
//! Not here: making the context (`evidence`), batching (`batch`).

use ragonite_document::evidence::{ContextParts, Evidence};
use ragonite_inference::{Embed, Embedding, InferenceError};

/// Minimum of words of a shortened context part.
const MIN_WORDS: usize = 3;

/// The title takes at most one in this number of a window's tokens.
const TITLE_SHARE: usize = 4;

/// A text that fits the embedder's window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    /// Length in tokens, at most the window.
    pub(super) tokens: usize,
}

/// The texts to embed for one evidence, at least one.
pub(super) fn texts(
    evidence: &Evidence,
    parts: ContextParts,
    embedder: &dyn Embed,
) -> Result<Vec<Piece>, InferenceError> {
    let whole = evidence.contextualized(parts);
    let tokens = embedder.count_tokens(&whole)?;
    if tokens <= embedder.identity().max_tokens {
        return Ok(vec![Piece { text: whole, tokens }]);
    }
    let shortened = shortened_texts(evidence, parts, embedder)?;
    // Shortened and spread texts nearly fill the window.
    Ok(shortened.into_iter().map(|text| Piece { text, tokens: embedder.identity().max_tokens }).collect())
}

fn shortened_texts(
    evidence: &Evidence,
    parts: ContextParts,
    embedder: &dyn Embed,
) -> Result<Vec<String>, InferenceError> {
    let chosen = |part, text: &str| if parts.contains(part) { text.to_owned() } else { String::new() };
    let context = &evidence.context;
    let core = Core {
        title: chosen(ContextParts::TITLE, &context.title),
        heading: chosen(ContextParts::HEADING, context.heading()),
        content: evidence.content.clone(),
    };
    let window = Window(embedder);
    match core.fitted(&window)? {
        Ok(core) => {
            let before = chosen(ContextParts::BEFORE, &context.before);
            let after = chosen(ContextParts::AFTER, &context.after);
            Ok(vec![window.with_surroundings(&core, &before, &after)?])
        }
        Err(too_long) => window.spread(&too_long),
    }
}

/// The normalized mean of unit vectors.
pub(super) fn pool(windows: &[Embedding]) -> Embedding {
    let [first, rest @ ..] = windows else { return Embedding::normalized(Vec::new()) };
    if rest.is_empty() {
        return first.clone();
    }
    let mut sum = first.values().to_vec();
    for window in rest {
        for (total, value) in sum.iter_mut().zip(window.values()) {
            *total += value;
        }
    }
    Embedding::normalized(sum)
}

/// The parts that are kept longest.
struct Core {
    title: String,
    heading: String,
    content: String,
}

impl Core {
    /// In the order of [`Evidence::contextualized`].
    fn with(&self, before: &str, after: &str) -> String {
        join(&[&self.title, &self.heading, before, &self.content, after])
    }

    /// Drops the heading, then shortens the title, until it fits; the inner error means that the content alone does not
    /// fit.
    fn fitted(mut self, window: &Window<'_>) -> Result<Result<Self, Self>, InferenceError> {
        if window.fits(&self.with("", ""))? {
            return Ok(Ok(self));
        }
        self.heading.clear();
        if window.fits(&self.with("", ""))? {
            return Ok(Ok(self));
        }
        let content = window.tokens(&self.content)?;
        if content > window.size() {
            return Ok(Err(self));
        }
        self.title = window.shortened(&self.title, window.size() - content, End::Keep)?;
        if !window.fits(&self.with("", ""))? {
            self.title.clear();
        }
        Ok(Ok(self))
    }
}

/// Which end of a text is kept.
#[derive(Clone, Copy)]
enum End {
    /// The beginning stays.
    Keep,
    /// The beginning goes.
    Drop,
}

/// The embedder's window.
struct Window<'a>(&'a dyn Embed);

impl Window<'_> {
    fn size(&self) -> usize {
        self.0.identity().max_tokens
    }

    fn tokens(&self, text: &str) -> Result<usize, InferenceError> {
        self.0.count_tokens(text)
    }

    fn fits(&self, text: &str) -> Result<bool, InferenceError> {
        Ok(self.tokens(text)? <= self.size())
    }

    /// Fills the rest of the window with the nearest words before and after the core, half for each.
    fn with_surroundings(&self, core: &Core, before: &str, after: &str) -> Result<String, InferenceError> {
        let room = self.size().saturating_sub(self.tokens(&core.with("", ""))?);
        let before_kept = self.shortened(before, if after.is_empty() { room } else { room / 2 }, End::Drop)?;
        let used = if before_kept.is_empty() { 0 } else { self.tokens(&before_kept)? };
        let after_kept = self.shortened(after, room.saturating_sub(used), End::Keep)?;
        for text in [core.with(&before_kept, &after_kept), core.with(&before_kept, "")] {
            if self.fits(&text)? {
                return Ok(text);
            }
        }
        Ok(core.with("", ""))
    }

    /// As many whole words of `text` as fit `room` tokens; empty if too few to mean anything.
    fn shortened(&self, text: &str, room: usize, beginning: End) -> Result<String, InferenceError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let tokens = self.tokens(text)?;
        if tokens <= room {
            return Ok(text.to_owned());
        }
        let mut kept = words.len() * room / tokens.max(1);
        while kept >= MIN_WORDS {
            let some = match beginning {
                End::Keep => &words[..kept],
                End::Drop => &words[words.len() - kept..],
            };
            let shorter = some.join(" ");
            if self.tokens(&shorter)? <= room {
                return Ok(shorter);
            }
            kept = kept * 4 / 5;
        }
        Ok(String::new())
    }

    /// Tokens of a piece inside a text, without special tokens.
    fn tokens_inside(&self, text: &str, special: usize) -> Result<usize, InferenceError> {
        Ok(self.tokens(text)?.saturating_sub(special).max(1))
    }

    /// Spreads the content over windows, each with the title.
    fn spread(&self, core: &Core) -> Result<Vec<String>, InferenceError> {
        let special = self.tokens("")?;
        let title = self.shortened(&core.title, self.size() / TITLE_SHARE, End::Keep)?;
        let taken = if title.is_empty() { special } else { self.tokens(&title)? };
        let room = self.size().saturating_sub(taken).max(1);
        let mut windows = Filling::new(room);
        for line in core.content.lines().filter(|line| !line.trim().is_empty()) {
            let tokens = self.tokens_inside(line, special)?;
            if tokens <= room {
                windows.push(line, "\n", tokens);
                continue;
            }
            for word in line.split_whitespace() {
                let tokens = self.tokens_inside(word, special)?;
                if tokens <= room {
                    windows.push(word, " ", tokens);
                } else {
                    windows.push_characters(word);
                }
            }
        }
        Ok(windows.done().iter().map(|content| join(&[&title, content])).collect())
    }
}

/// Packs pieces into windows of `room` tokens.
struct Filling {
    room: usize,
    full: Vec<String>,
    current: String,
    used: usize,
}

impl Filling {
    fn new(room: usize) -> Self {
        Self { room, full: Vec::new(), current: String::new(), used: 0 }
    }

    fn push(&mut self, piece: &str, join: &str, tokens: usize) {
        if !self.current.is_empty() && self.used + tokens > self.room {
            self.full.push(std::mem::take(&mut self.current));
            self.used = 0;
        }
        if !self.current.is_empty() {
            self.current.push_str(join);
        }
        self.current.push_str(piece);
        self.used += tokens;
    }

    /// Splits a run without white space that is longer than a window: a character is rarely more than a token.
    fn push_characters(&mut self, run: &str) {
        let characters: Vec<char> = run.chars().collect();
        for piece in characters.chunks(self.room) {
            self.push(&piece.iter().collect::<String>(), " ", piece.len());
        }
    }

    fn done(mut self) -> Vec<String> {
        if !self.current.is_empty() || self.full.is_empty() {
            self.full.push(self.current);
        }
        self.full
    }
}

fn join(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("\n")
}
