//! Text to the words that are indexed and searched, the same for both.
//!
//! Words are lower-case without accents (`Müller` and `muller` meet) and without English endings (`tests` and `testing`
//! meet `test`), in texts and questions of every language: technical terms are English in all of them, and what is cut
//! the same on both sides still meets. A run such as `9.0.2`, `OXT-1654` or `wi-fi` is
//! one word, and its parts are words too, so that it is found whole and in pieces.
//! Invariant: a question keeps at least one word when it has any, however common its words are.
//! Not here: endings of other languages, compound splitting, synonyms.

use std::collections::HashSet;

use tantivy::tokenizer::{
    AsciiFoldingFilter, Language as TantivyLanguage, LowerCaser, RemoveLongFilter, Stemmer, StopWordFilter,
    TextAnalyzer, Token, TokenStream, Tokenizer,
};

use crate::base::Language;

/// Words of a question that are looked for; more say nothing new and would make the search slow.
const MOST_WORDS: usize = 256;

/// Longest word in bytes; longer ones are hashes and addresses, whose parts are indexed.
const LONGEST_WORD: usize = 64;

/// Characters that hold a run together when a letter or digit stands on both sides.
const JOINS: [char; 6] = ['.', '-', '_', '/', ':', '@'];

/// Words of English questions that tantivy's short list of stop words leaves out.
const ENGLISH_QUESTION_WORDS: [&str; 28] = [
    "what", "which", "who", "whom", "whose", "when", "where", "why", "how", "do", "does", "did", "were", "been", "has",
    "have", "had", "can", "could", "would", "should", "me", "my", "you", "from", "about", "its", "than",
];

/// Words of German questions that are missing likewise.
const GERMAN_QUESTION_WORDS: [&str; 12] =
    ["wer", "wem", "wen", "wessen", "wann", "warum", "wieso", "wofür", "wodurch", "womit", "wurde", "wurden"];

/// The analyser of the index.
pub(super) fn analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(RunTokenizer)
        .filter(RemoveLongFilter::limit(LONGEST_WORD))
        .filter(LowerCaser)
        .filter(AsciiFoldingFilter)
        .filter(Stemmer::new(TantivyLanguage::English))
        .build()
}

/// The distinct words of a question in order, without the words that are in every sentence of its language.
pub(super) fn query_words(question: &str) -> Vec<String> {
    let (language, more): (_, &[&str]) = match Language::of(question) {
        Language::English => (TantivyLanguage::English, &ENGLISH_QUESTION_WORDS),
        Language::German => (TantivyLanguage::German, &GERMAN_QUESTION_WORDS),
    };
    let telling = StopWordFilter::new(language).map(|stop_words| {
        // Stop words are listed with their umlauts, so they go before the accents do.
        let analyzer = TextAnalyzer::builder(RunTokenizer)
            .filter(RemoveLongFilter::limit(LONGEST_WORD))
            .filter(LowerCaser)
            .filter(stop_words)
            .filter(StopWordFilter::remove(more.iter().map(|word| (*word).to_owned())))
            .filter(AsciiFoldingFilter)
            .filter(Stemmer::new(TantivyLanguage::English))
            .build();
        distinct(analyzer, question)
    });
    telling.filter(|words| !words.is_empty()).unwrap_or_else(|| distinct(analyzer(), question))
}

fn distinct(mut analyzer: TextAnalyzer, text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut words = Vec::new();
    let mut stream = analyzer.token_stream(text);
    while words.len() < MOST_WORDS && stream.advance() {
        let word = &stream.token().text;
        if seen.insert(word.clone()) {
            words.push(word.clone());
        }
    }
    words
}

/// Splits text into runs and the parts of runs.
#[derive(Debug, Clone, Copy)]
struct RunTokenizer;

impl Tokenizer for RunTokenizer {
    type TokenStream<'a> = RunStream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> RunStream {
        RunStream { tokens: tokens(text), next: 0 }
    }
}

struct RunStream {
    tokens: Vec<Token>,
    next: usize,
}

impl TokenStream for RunStream {
    fn advance(&mut self) -> bool {
        self.next += 1;
        self.next <= self.tokens.len()
    }

    fn token(&self) -> &Token {
        &self.tokens[self.next - 1]
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.tokens[self.next - 1]
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut push = |from: usize, to: usize| {
        let position = tokens.len();
        let text = text[from..to].to_owned();
        tokens.push(Token { offset_from: from, offset_to: to, position, text, position_length: 1 });
    };
    let mut rest = 0;
    while let Some(start) = text[rest..].find(char::is_alphanumeric).map(|at| rest + at) {
        let end = run_end(text, start);
        push(start, end);
        let run = &text[start..end];
        if run.contains(JOINS) {
            let mut from = start;
            for part in run.split(JOINS) {
                push(from, from + part.len());
                // Every join is one byte long.
                from += part.len() + 1;
            }
        }
        rest = end;
    }
    tokens
}

/// Where the run that starts at `start` ends.
fn run_end(text: &str, start: usize) -> usize {
    let mut chars = text[start..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let goes_on =
            c.is_alphanumeric() || (JOINS.contains(&c) && chars.peek().is_some_and(|(_, n)| n.is_alphanumeric()));
        if !goes_on {
            return start + at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        distinct(analyzer(), text)
    }

    #[test]
    fn versions_and_issue_keys_are_found_whole_and_in_parts() {
        assert_eq!(
            words("OpenXT 9.0.2, see OXT-1654."),
            ["openxt", "9.0.2", "9", "0", "2", "see", "oxt-1654", "oxt", "1654"]
        );
        assert_eq!(words("Wi-Fi... -- a_b"), ["wi-fi", "wi", "fi", "a_b", "a", "b"]);
    }

    #[test]
    fn accents_and_case_do_not_matter() {
        assert_eq!(words("Straße Müller"), ["strass", "muller"]);
    }

    #[test]
    fn forms_of_a_word_meet_and_identifiers_stay_as_they_are() {
        assert_eq!(words("Tests tested testing test"), ["test"]);
        assert_eq!(
            words("OXT-1654 qemu-dm 9.0.2"),
            ["oxt-1654", "oxt", "1654", "qemu-dm", "qemu", "dm", "9.0.2", "9", "0", "2"]
        );
    }

    #[test]
    fn common_words_are_left_out_of_a_question_unless_it_has_no_others() {
        assert_eq!(query_words("What was the TPM version?"), ["tpm", "version"]);
        assert_eq!(query_words("Wer war für die Tests verantwortlich?"), ["test", "verantwortlich"]);
        assert_eq!(query_words("the"), ["the"]);
        assert!(query_words(" ?! ").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_gives_words_that_lie_in_it(text in any::<String>()) {
            for token in tokens(&text) {
                prop_assert_eq!(&text[token.offset_from..token.offset_to], token.text);
            }
            prop_assert!(query_words(&text).len() <= MOST_WORDS);
        }
    }
}
