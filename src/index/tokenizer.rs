//! The tokenizer, the same for indexing and searching.
//!
//! Takes a text and its language, gives normalized words: lower-case, without accents (`Müller` and `muller`) and
//! endings (`tests` and `testing` become `test`; German `Häuser` and `Haus` become one). An identifier such as
//! `OXT-1654`, `9.0.2`, `qemu-dm` or `7.0-Pumpenlauf` is one word, and so are its parts: those between hyphens, slashes
//! and the like (`7.0`, `pumpenlauf`), and of these those between dots (`7`, `0`).
//! Invariants: an identifier and its parts always come together, in text order; every word lies in the text at its
//! offsets; a text has the same number of words in both languages.
//! Not here: the terms of a question (`lexical::query_expansion`), splitting compounds (`lexical::compound`).

use std::ops::Range;

use tantivy::tokenizer::{
    AsciiFoldingFilter, Language as TantivyLanguage, LowerCaser, PreTokenizedString, RemoveLongFilter, Stemmer,
    TextAnalyzer, TextAnalyzerBuilder, Token, TokenStream, Tokenizer,
};

use ragonite_base::Language;
use ragonite_base::text::{self, is_identifier, split_words};

/// Longest word in bytes; longer ones are hashes and addresses, whose parts are indexed.
const LONGEST_WORD: usize = 64;

/// Characters that join an identifier between letters or digits. Each is one byte long.
const JOINS: [char; 6] = ['.', '-', '_', '/', ':', '@'];

/// The join inside a part, as in `9.0.2` or `example.org`.
const INNER_JOIN: &[char] = &['.'];

/// The analyzer for texts in a language.
pub(super) fn analyzer(language: Language) -> TextAnalyzer {
    match language {
        Language::English => {
            surface().filter(AsciiFoldingFilter).filter(Stemmer::new(TantivyLanguage::English)).build()
        }
        // The German stemmer needs umlauts, so accents are folded last.
        Language::German => surface().filter(Stemmer::new(TantivyLanguage::German)).filter(AsciiFoldingFilter).build(),
    }
}

/// Lower-cased words; as many as [`analyzer`] gives.
fn surface() -> TextAnalyzerBuilder<impl Tokenizer> {
    TextAnalyzer::builder(IdentifierTokenizer).filter(RemoveLongFilter::limit(LONGEST_WORD)).filter(LowerCaser)
}

/// A tokenized text for the index.
pub(super) fn analyzed(text: &str, language: Language) -> PreTokenizedString {
    PreTokenizedString { text: text.to_owned(), tokens: tokens_of(analyzer(language), text, usize::MAX) }
}

/// A word in all its forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Its position among the words of the text.
    pub(super) place: usize,
    /// Byte offset of its start.
    pub(super) at: usize,
    /// Byte offset of its end.
    pub(super) end: usize,
    /// Whether it has the form of an identifier and more than letters: `9.0.2`, `OXT-1654`, `B2`, but not `IT`, which in
    /// a question in capitals is any word.
    pub(super) is_identifier: bool,
    /// As written, in lower case.
    pub(super) surface: String,
    /// Its form in English texts.
    pub(super) english: String,
    /// Its form in German texts.
    pub(super) german: String,
}

impl Word {
    /// Its form in texts of a language.
    pub(super) fn form(&self, language: Language) -> &str {
        match language {
            Language::English => &self.english,
            Language::German => &self.german,
        }
    }

    /// Whether it has letters only.
    pub(super) fn is_plain(&self) -> bool {
        is_plain(&self.surface)
    }

    /// Whether it is neither a plain word nor a number: `9.0.2`, `oxt-1654`, `b2`, `follow-up`.
    pub(super) fn is_exact(&self) -> bool {
        !self.is_plain() && !self.surface.chars().all(char::is_numeric)
    }
}

/// The first `most` words of a question without stop words, unless it has no others.
pub(super) fn question_words(question: &str, language: Language, most: usize) -> Vec<Word> {
    let mut words = words(question, most);
    // In a text in capitals throughout a capital makes no name: "US sites", "board T".
    let is_loud = !question.contains(char::is_lowercase);
    let is_name = |word: &Word| {
        let written = &question[word.at..word.end];
        !is_loud && !matches!(written, "A" | "I") && written.chars().all(char::is_uppercase)
    };
    let is_kept = |word: &Word| !language.is_stop_word(&word.surface) || is_name(word);
    if words.iter().any(is_kept) {
        words.retain(is_kept);
    }
    words
}

/// The first `most` words of a text.
pub(super) fn words(text: &str, most: usize) -> Vec<Word> {
    let surface = tokens_of(surface().build(), text, most);
    let english = tokens_of(analyzer(Language::English), text, most);
    let german = tokens_of(analyzer(Language::German), text, most);
    let forms = surface.into_iter().zip(english).zip(german);
    forms
        .map(|((surface, english), german)| Word {
            place: surface.position,
            at: surface.offset_from,
            end: surface.offset_to,
            is_identifier: is_identifier(&text[surface.offset_from..surface.offset_to]) && !is_plain(&surface.text),
            surface: surface.text,
            english: english.text,
            german: german.text,
        })
        .collect()
}

/// A sought word in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordPosition {
    /// Byte offset in the text.
    pub at: usize,
    /// Index among the sought words.
    pub sought: usize,
}

/// The positions of `sought` words in a text, with any endings, in text order.
pub fn word_positions(text: &str, sought: &[String]) -> Vec<WordPosition> {
    let wanted = sought.iter().map(|word| words(word, usize::MAX)).enumerate();
    // Of an identifier and its parts the whole.
    let whole = |forms: Vec<Word>| forms.into_iter().max_by_key(|word| word.end - word.at);
    let wanted: Vec<(usize, Word)> = wanted.filter_map(|(at, forms)| Some((at, whole(forms)?))).collect();
    let is_same = |one: &Word, other: &Word| {
        one.surface == other.surface || one.english == other.english || one.german == other.german
    };
    let found = words(text, usize::MAX).into_iter().filter_map(|word| {
        let (at, _) = wanted.iter().find(|(_, wanted)| is_same(wanted, &word))?;
        Some(WordPosition { at: word.at, sought: *at })
    });
    found.collect()
}

fn is_plain(word: &str) -> bool {
    word.chars().all(char::is_alphabetic)
}

/// An analyzer's form of a single word.
pub(super) fn form(analyzer: &mut TextAnalyzer, word: &str) -> Option<String> {
    let mut stream = analyzer.token_stream(word);
    stream.advance().then(|| stream.token().text.clone())
}

fn tokens_of(mut analyzer: TextAnalyzer, text: &str, most: usize) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut stream = analyzer.token_stream(text);
    while tokens.len() < most && stream.advance() {
        tokens.push(stream.token().clone());
    }
    tokens
}

/// Splits text into words, identifiers and their parts.
#[derive(Debug, Clone, Copy)]
struct IdentifierTokenizer;

impl Tokenizer for IdentifierTokenizer {
    type TokenStream<'a> = IdentifierStream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> IdentifierStream {
        IdentifierStream { tokens: tokens(text), next: 0 }
    }
}

struct IdentifierStream {
    tokens: Vec<Token>,
    next: usize,
}

impl TokenStream for IdentifierStream {
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
    let mut push = |word: text::Word<'_>| {
        let Range { start, end } = word.span();
        let position = tokens.len();
        let text = word.text.to_owned();
        tokens.push(Token { offset_from: start, offset_to: end, position, text, position_length: 1 });
    };
    for run in split_words(text, &JOINS) {
        push(run);
        let outer: Vec<_> = run.parts(INNER_JOIN).collect();
        for part in &outer {
            if outer.len() > 1 {
                push(*part);
            }
            let inner: Vec<_> = part.parts(&[]).collect();
            if inner.len() > 1 {
                inner.into_iter().for_each(&mut push);
            }
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn indexed(text: &str, language: Language) -> Vec<String> {
        analyzed(text, language).tokens.into_iter().map(|token| token.text).collect()
    }

    fn english(text: &str) -> Vec<String> {
        indexed(text, Language::English)
    }

    #[test]
    fn versions_issue_keys_and_addresses_are_words_whole_and_in_parts() {
        assert_eq!(
            english("Kolmet 9.0.2, see OXT-1654."),
            ["kolmet", "9.0.2", "9", "0", "2", "see", "oxt-1654", "oxt", "1654"]
        );
        assert_eq!(english("qemu-dm a_b Wi-Fi... --"), ["qemu-dm", "qemu", "dm", "a_b", "a", "b", "wi-fi", "wi", "fi"]);
        assert_eq!(
            english("mira@example.org"),
            ["mira@example.org", "mira", "example.org", "exampl", "org"],
            "an address, its name and its host"
        );
    }

    #[test]
    fn a_version_within_a_run_is_a_word_of_its_own() {
        assert_eq!(
            english("9.0.2-Release"),
            ["9.0.2-releas", "9.0.2", "9", "0", "2", "releas"],
            "the version is found by a question for 9.0.2"
        );
    }

    #[test]
    fn accents_and_case_do_not_matter() {
        assert_eq!(english("Straße Müller"), ["strass", "muller"]);
        assert_eq!(indexed("MÜLLER muller", Language::German), ["mull", "mull"]);
    }

    #[test]
    fn forms_of_a_word_meet_in_their_language() {
        assert_eq!(english("Tests tested testing test"), ["test", "test", "test", "test"]);
        let houses = indexed("Haus Häuser Häusern", Language::German);
        assert!(houses.iter().all(|word| word == "haus"), "{houses:?}");
    }

    #[test]
    fn a_word_knows_its_forms() {
        let found = words("Die Häuser", 10);
        assert_eq!(found[1].surface, "häuser");
        assert_eq!((found[1].form(Language::English), found[1].form(Language::German)), ("hauser", "haus"));
        assert!(found[1].is_plain());
        assert!(!words("B2", 1)[0].is_plain());
        assert_eq!(words("one two three", 2).len(), 2);
    }

    #[test]
    fn a_hyphen_alone_makes_no_identifier() {
        for word in ["follow-up", "Follow-up", "set-up", "qemu-dm", "rück-lauf-ventil", "pump", "17", "USB"] {
            assert!(!words(word, 1)[0].is_identifier, "{word}");
        }
        for word in ["XY-1654", "xy-1654", "Wi-Fi", "KolMet-pump", "b2", "9.0.2", "a_b", "pier.example"] {
            assert!(words(word, 1)[0].is_identifier, "{word}");
        }
        assert!(words("follow-up", 1)[0].is_exact(), "it is looked for whole all the same");
    }

    #[test]
    fn common_words_are_left_out_of_a_question_unless_it_has_no_others() {
        let kept = |question: &str, language| -> Vec<String> {
            question_words(question, language, 100).into_iter().map(|word| word.surface).collect()
        };
        assert_eq!(kept("What was the TPM version?", Language::English), ["tpm", "version"]);
        assert_eq!(kept("Wer war für die Tests verantwortlich?", Language::German), ["tests", "verantwortlich"]);
        assert_eq!(kept("the", Language::English), ["the"]);
        assert!(kept(" ?! ", Language::English).is_empty());
    }

    proptest! {
        #[test]
        fn any_text_gives_words_that_lie_in_it(text in any::<String>()) {
            let found = tokens(&text);
            for token in &found {
                prop_assert_eq!(&text[token.offset_from..token.offset_to], token.text.as_str());
            }
            let counts: Vec<usize> =
                Language::ALL.map(|language| analyzed(&text, language).tokens.len()).into();
            prop_assert_eq!(counts[0], counts[1]);
            prop_assert_eq!(words(&text, usize::MAX).len(), counts[0]);
        }

        #[test]
        fn a_run_is_there_whole_and_in_all_its_parts(
            parts in proptest::collection::vec("[a-z0-9äß]{1,6}", 1..6),
            joins in proptest::collection::vec(proptest::sample::select(JOINS.to_vec()), 5),
        ) {
            let mut run = parts[0].clone();
            for (part, join) in parts[1..].iter().zip(&joins) {
                run.push(*join);
                run.push_str(part);
            }
            let found: Vec<String> = tokens(&format!("({run})")).into_iter().map(|token| token.text).collect();
            prop_assert_eq!(&found[0], &run);
            for part in &parts {
                prop_assert!(found.contains(part), "{} lacks {}", run, part);
            }
        }
    }
}
