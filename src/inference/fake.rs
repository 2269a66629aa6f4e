//! Models without weights, for tests and benchmarks: [`HashEmbedder`] and [`ScriptedGenerator`].
//!
//! Takes the same requests as real models. Invariants: both are deterministic; no profile can name them, because the
//! catalog knows only models that have files.

use std::collections::{HashMap, VecDeque};

use sha2::{Digest, Sha256};

use super::{
    COMPARED_TOKENS, ChatTemplate, CompareRequest, Compared, Completion, Embed, Embedding, EncoderIdentity, Finish,
    Generate, GenerateEvent, GenerateRequest, GeneratorIdentity, InferenceError, Measure, PromptPart, Sampling,
    ScoreRequest, Scores, TextRole, logprob_deltas,
};
use ragonite_base::text::{lower_words, words};
use ragonite_base::{CancelToken, Millis};

/// Weight of a word pair, relative to a single word, so that word order counts a little.
const BIGRAM_WEIGHT: f32 = 0.5;

/// A deterministic embedder: a bag of hashed lower-case words and word pairs, of unit length. Texts that share words
/// are near each other, other texts are roughly orthogonal; meaning plays no part.
#[derive(Debug, Clone)]
pub struct HashEmbedder {
    identity: EncoderIdentity,
}

impl HashEmbedder {
    /// An embedder with `dimensions` components; 64 to 384 are sensible.
    pub fn new(dimensions: usize) -> Self {
        Self {
            identity: EncoderIdentity {
                model: "hash-embedder".into(),
                fingerprint: format!("hash-embedder-1-{dimensions}"),
                dimensions: dimensions.max(1),
                max_tokens: 256,
            },
        }
    }

    fn embed_one(&self, text: &str) -> Embedding {
        let mut values = vec![0.0; self.identity.dimensions];
        let mut before: Option<String> = None;
        for word in lower_words(text).take(self.identity.max_tokens) {
            self.add(&mut values, &word, 1.0);
            if let Some(before) = before {
                self.add(&mut values, &format!("{before} {word}"), BIGRAM_WEIGHT);
            }
            before = Some(word);
        }
        Embedding::normalized(values)
    }

    fn add(&self, values: &mut [f32], feature: &str, weight: f32) {
        let hash = Sha256::digest(feature.as_bytes());
        let place = usize::from(u16::from_le_bytes([hash[0], hash[1]])) % self.identity.dimensions;
        // Half of the features count negatively, so that hash collisions cancel out.
        values[place] += if hash[2] % 2 == 0 { weight } else { -weight };
    }
}

impl Default for HashEmbedder {
    fn default() -> Self {
        Self::new(256)
    }
}

impl Embed for HashEmbedder {
    fn identity(&self) -> &EncoderIdentity {
        &self.identity
    }

    fn count_tokens(&self, text: &str) -> Result<usize, InferenceError> {
        Ok(words(text).count())
    }

    fn embed(&self, texts: &[&str], _role: TextRole, cancel: &CancelToken) -> Result<Vec<Embedding>, InferenceError> {
        texts
            .iter()
            .map(|text| {
                cancel.check()?;
                Ok(self.embed_one(text))
            })
            .collect()
    }
}

type Answering = Box<dyn FnMut(&GenerateRequest) -> String + Send>;

/// A generator that gives the answers of a test, word by word. A token is a white-space separated word. Stop texts, the
/// token limit and cancellation between words work as with a real model.
pub struct ScriptedGenerator {
    identity: GeneratorIdentity,
    answer: Answering,
    hiding: Hiding,
    naming: Option<usize>,
    /// The generated words, by token.
    generated: HashMap<i32, String>,
}

/// Whether the generator can score answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hiding {
    Able,
    Unable,
}

/// Logprobs of a word that the script gives, and of any other word.
const SCRIPTED: f32 = -0.01;
const UNSCRIPTED: f32 = -5.0;

/// Divergence in bits of two predictions of which only one has the word.
const FAR: f32 = 0.9;

impl std::fmt::Debug for ScriptedGenerator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptedGenerator").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl ScriptedGenerator {
    /// Answers each request with the result of `answer`.
    pub fn new(answer: impl FnMut(&GenerateRequest) -> String + Send + 'static) -> Self {
        // The ChatML template, which many small models use.
        let source = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n\
                      {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
        let chat_template = ChatTemplate { source: source.into(), bos: String::new(), eos: "<|im_end|>".into() };
        Self {
            identity: GeneratorIdentity { model: "scripted".into(), context_tokens: 4096, chat_template },
            answer: Box::new(answer),
            hiding: Hiding::Unable,
            naming: None,
            generated: HashMap::new(),
        }
    }

    /// Gives these answers one after the other, then empty ones.
    pub fn queue<T: Into<String>>(answers: impl IntoIterator<Item = T>) -> Self {
        let mut answers: VecDeque<String> = answers.into_iter().map(Into::into).collect();
        Self::new(move |_| answers.pop_front().unwrap_or_default())
    }

    /// Makes it score answers: a word is probable if the script gives it without the hidden parts.
    #[must_use]
    pub fn hiding(mut self) -> Self {
        self.hiding = Hiding::Able;
        self
    }

    /// Makes it name this source when asked for the source of an answer; by default it names none.
    #[must_use]
    pub fn naming(mut self, rank: usize) -> Self {
        self.naming = Some(rank);
        self
    }

    /// Sets the context size, 4,096 words by default.
    #[must_use]
    pub fn with_context(mut self, tokens: usize) -> Self {
        self.identity.context_tokens = tokens;
        self
    }
}

impl ScriptedGenerator {
    /// The logprob of each word of an answer after a prompt.
    fn scored(&mut self, parts: Vec<PromptPart>, answer: &[i32]) -> Vec<f32> {
        let request = GenerateRequest {
            parts,
            sampling: Sampling::Greedy,
            stop: Vec::new(),
            max_tokens: answer.len(),
            draft: Vec::new(),
        };
        let scripted: Vec<i32> = (self.answer)(&request).split_whitespace().map(token_of).collect();
        let score = |(at, token)| if scripted.get(at) == Some(token) { SCRIPTED } else { UNSCRIPTED };
        answer.iter().enumerate().map(score).collect()
    }
}

/// At most `limit` words of `text`, each with the white space after it.
fn pieces(text: &str, limit: usize) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace).take(limit)
}

impl Generate for ScriptedGenerator {
    fn identity(&self) -> &GeneratorIdentity {
        &self.identity
    }

    fn count_tokens(&self, part: &PromptPart) -> Result<usize, InferenceError> {
        Ok(part.text.split_whitespace().count())
    }

    fn generate(
        &mut self,
        request: &GenerateRequest,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<Completion, InferenceError> {
        let mut prompt_tokens = 0;
        for part in &request.parts {
            prompt_tokens += self.count_tokens(part)?;
        }
        if prompt_tokens + request.max_tokens > self.identity.context_tokens {
            return Err(InferenceError::PromptTooLong {
                tokens: prompt_tokens + request.max_tokens,
                context: self.identity.context_tokens,
            });
        }
        cancel.check()?;
        on_event(GenerateEvent::PromptRead { done: prompt_tokens, total: prompt_tokens });

        let answer = (self.answer)(request);
        let stop =
            request.stop.iter().filter(|stop| !stop.is_empty()).filter_map(|stop| answer.find(stop.as_str())).min();
        let until_stop = &answer[..stop.unwrap_or(answer.len())];
        let mut text = String::new();
        let mut tokens = Vec::new();
        for piece in pieces(until_stop, request.max_tokens) {
            cancel.check()?;
            on_event(GenerateEvent::Text(piece));
            text.push_str(piece);
            let token = token_of(piece.trim());
            tokens.push(token);
            self.generated.insert(token, piece.to_owned());
        }
        let finish = match stop {
            _ if text.len() < until_stop.len() => Finish::Length,
            Some(_) => Finish::Stop,
            None => Finish::End,
        };
        let drafted_tokens = tokens.iter().zip(&request.draft).take_while(|(token, draft)| token == draft).count();
        Ok(Completion {
            text: text.trim().to_owned(),
            tokens,
            prompt_tokens,
            reused_tokens: 0,
            drafted_tokens,
            narrowest: None,
            log_probabilities: Vec::new(),
            draft_log_probabilities: Vec::new(),
            finish,
            first_token_ms: Millis::default(),
            total_ms: Millis::default(),
        })
    }

    fn generate_within(
        &mut self,
        _grammar: &str,
        request: &GenerateRequest,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<Completion, InferenceError> {
        if request.parts.last().is_none_or(|part| !part.text.ends_with("[Source")) {
            return self.generate(request, cancel, on_event);
        }
        let named = self.naming.map_or_else(String::new, |rank| format!("{rank}]"));
        let script = std::mem::replace(&mut self.answer, Box::new(move |_| named.clone()));
        let completion = self.generate(request, cancel, on_event);
        self.answer = script;
        completion
    }

    fn score(
        &mut self,
        request: &ScoreRequest,
        cancel: &CancelToken,
        on_scored: &mut dyn FnMut(Option<usize>, &[f32]),
    ) -> Result<Scores, InferenceError> {
        if self.hiding == Hiding::Unable {
            return Err(InferenceError::cannot_hide(&self.identity.model));
        }
        let mut score_without = |hidden: &[usize]| {
            cancel.check()?;
            let parts = request.parts.iter().enumerate().filter(|(at, _)| !hidden.contains(at));
            Ok::<_, InferenceError>(self.scored(parts.map(|(_, part)| part.clone()).collect(), &request.answer))
        };
        let mut scores = Scores { whole: score_without(&[])?, hidden: Vec::new() };
        on_scored(None, &scores.whole);
        for (set, hidden) in request.hidden.iter().enumerate() {
            let scored = score_without(hidden)?;
            on_scored(Some(set), &scored);
            scores.hidden.push(scored);
        }
        Ok(scores)
    }

    fn compare(
        &mut self,
        request: &CompareRequest,
        cancel: &CancelToken,
        on_compared: &mut dyn FnMut(usize, &Compared),
    ) -> Result<Vec<Compared>, InferenceError> {
        let whole = self.scored(request.parts.clone(), &request.answer);
        let mut all = Vec::with_capacity(request.without.len());
        for (set, places) in request.without.iter().enumerate() {
            cancel.check()?;
            let without = self.scored(request.without(places), &request.answer);
            let drops = logprob_deltas(&whole, &without);
            let far = |drop: &f32| if *drop == 0.0 { 0.0 } else { FAR };
            let divergences = match request.measure {
                Measure::Token => Vec::new(),
                Measure::Distribution => drops.iter().map(far).take(COMPARED_TOKENS).collect(),
            };
            let compared = Compared { drops, divergences };
            on_compared(set, &compared);
            all.push(compared);
        }
        Ok(all)
    }

    fn token_bytes(&self, tokens: &[i32]) -> Result<Vec<Vec<u8>>, InferenceError> {
        let piece = |token: &i32| self.generated.get(token).map(|piece| piece.clone().into_bytes());
        let pieces = tokens.iter().map(piece).collect::<Option<Vec<_>>>();
        pieces.ok_or_else(|| InferenceError::cannot_tell_pieces(&self.identity.model))
    }
}

/// A hash, so that equal words are equal tokens.
fn token_of(word: &str) -> i32 {
    let hash = Sha256::digest(word.as_bytes());
    i32::from(u16::from_le_bytes([hash[0], hash[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SpecialTokens;

    fn request(max_tokens: usize) -> GenerateRequest {
        GenerateRequest {
            parts: vec![PromptPart { text: "Who was there?".into(), special: SpecialTokens::AsText }],
            sampling: Sampling::Greedy,
            stop: vec!["User:".into()],
            max_tokens,
            draft: Vec::new(),
        }
    }

    #[test]
    fn shared_words_bring_texts_near() {
        let embedder = HashEmbedder::default();
        let texts = ["the TPM version of the 7040", "TPM version: 2.0 on the 7040", "lunch is at noon", ""];
        let e = embedder.embed(&texts, TextRole::Evidence, &CancelToken::never()).unwrap();
        assert!(e[0].cosine(&e[1]) > 0.4 && e[0].cosine(&e[1]) > e[0].cosine(&e[2]) + 0.3);
        assert!((e[0].cosine(&e[0]) - 1.0).abs() < 1e-6);
        assert!(e[3].values().iter().all(|value| *value == 0.0));
        assert_eq!(embedder.embed(&texts[..1], TextRole::Query, &CancelToken::never()).unwrap()[0], e[0]);
    }

    #[test]
    fn a_script_is_streamed_until_stop_or_limit() {
        let mut generator = ScriptedGenerator::queue(["Alice and Bob [Source 1]. User: next", "one two three"]);
        let mut streamed = String::new();
        let mut listen = |event: GenerateEvent<'_>| {
            if let GenerateEvent::Text(text) = event {
                streamed.push_str(text);
            }
        };
        let first = generator.generate(&request(50), &CancelToken::never(), &mut listen).unwrap();
        assert_eq!((first.text.as_str(), first.finish), ("Alice and Bob [Source 1].", Finish::Stop));
        assert_eq!(streamed.trim(), first.text);
        assert_eq!((first.prompt_tokens, first.tokens.len()), (3, 5));
        let second = generator.generate(&request(2), &CancelToken::never(), &mut |_| {}).unwrap();
        assert_eq!((second.text.as_str(), second.finish), ("one two", Finish::Length));
        let third = generator.generate(&request(2), &CancelToken::never(), &mut |_| {}).unwrap();
        assert_eq!((third.text.as_str(), third.finish), ("", Finish::End));
    }

    #[test]
    fn a_script_tells_what_leaving_a_part_out_costs_and_the_words_it_said() {
        let says = |request: &GenerateRequest| {
            let knows = request.parts.iter().any(|part| part.text.contains("Bob"));
            if knows { "It was Bob." } else { "It was nobody." }.to_owned()
        };
        let mut generator = ScriptedGenerator::new(says);
        let asked = GenerateRequest {
            parts: ["Bob ", "Who?"].map(|text| PromptPart { text: text.into(), special: SpecialTokens::AsText }).into(),
            ..request(9)
        };
        let never = CancelToken::never();
        let said = generator.generate(&asked, &never, &mut |_| {}).unwrap();
        let compare = CompareRequest {
            parts: asked.parts,
            answer: said.tokens.clone(),
            without: vec![vec![1], vec![0]],
            measure: Measure::Distribution,
        };
        let compared = generator.compare(&compare, &never, &mut |_, _| {}).unwrap();
        assert_eq!(compared[0], Compared { drops: vec![0.0; 3], divergences: vec![0.0; 3] });
        assert_eq!(
            compared[1],
            Compared { drops: vec![0.0, 0.0, SCRIPTED - UNSCRIPTED], divergences: vec![0.0, 0.0, FAR] }
        );
        assert_eq!(generator.token_bytes(&said.tokens).unwrap().concat(), b"It was Bob.");
        assert!(generator.token_bytes(&[-1]).is_err());
    }

    #[test]
    fn a_prompt_beyond_the_context_is_refused() {
        let mut generator = ScriptedGenerator::queue(["x"]).with_context(10);
        let result = generator.generate(&request(8), &CancelToken::never(), &mut |_| {});
        assert!(matches!(result, Err(InferenceError::PromptTooLong { tokens: 11, context: 10 })));
    }
}
