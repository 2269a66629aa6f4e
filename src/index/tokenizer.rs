//! The tokenizer, the same for indexing and searching.
//!
//! Takes a text and its language, gives normalized words: lower-case, without accents (`Müller` and `muller`) and
//! endings (`tests` and `testing` become `test`; German `Häuser` and `Haus` become one). An identifier such as
//! `OXT-1654`, `9.0.2`, `qemu-dm` or `7.0-Pumpenlauf` is one word, and so are its parts: those between hyphens, slashes
//! and the like (`7.0`, `pumpenlauf`), and of these those between dots (`7`, `0`).
//! Invariants: an identifier and its parts always come together, in text order; every word lies in the text at its
//! offsets; a text has the same number of words in both languages.
//! Not here: the terms of a question (`lexical::query_expansion`), splitting compounds (`lexical::compound`).

use std::cmp::Ordering;
use std::collections::HashSet;
use std::ops::Range;

use tantivy::tokenizer::{
    AsciiFoldingFilter, Language as TantivyLanguage, LowerCaser, PreTokenizedString, RemoveLongFilter, Stemmer,
    StopWordFilter, TextAnalyzer, TextAnalyzerBuilder, Token, TokenStream, Tokenizer,
};

use ragonite_base::Language;
use ragonite_document::evidence::has_row_label;

/// Longest word in bytes; longer ones are hashes and addresses, whose parts are indexed.
const LONGEST_WORD: usize = 64;

/// Characters that join an identifier between letters or digits. Each is one byte long.
const JOINS: [char; 6] = ['.', '-', '_', '/', ':', '@'];

/// The join inside a part, as in `9.0.2` or `example.org`.
const INNER_JOIN: char = '.';

/// Bytes of a text used for language detection.
const LANGUAGE_BYTES: usize = 4096;

/// Frequent words of German texts that English texts lack. `die`, `war` and `was` are in both.
const GERMAN_MARKS: [&str; 24] = [
    "der", "das", "und", "ist", "nicht", "mit", "von", "auf", "ein", "eine", "einer", "den", "dem", "des", "wird",
    "werden", "sind", "im", "zu", "auch", "oder", "bei", "nach", "sich",
];

/// The same for English.
const ENGLISH_MARKS: [&str; 20] = [
    "the", "of", "and", "to", "is", "for", "with", "on", "that", "be", "are", "this", "by", "or", "from", "it", "not",
    "which", "will", "has",
];

/// English words that join the cells of a verbalized row.
const ROW_WORDS: [&str; 2] = ["is", "and"];

/// Question words that tantivy's short English stop word list lacks.
const ENGLISH_QUESTION_WORDS: [&str; 28] = [
    "what", "which", "who", "whom", "whose", "when", "where", "why", "how", "do", "does", "did", "were", "been", "has",
    "have", "had", "can", "could", "would", "should", "me", "my", "you", "from", "about", "its", "than",
];

/// The same for German.
const GERMAN_QUESTION_WORDS: [&str; 12] =
    ["wer", "wem", "wen", "wessen", "wann", "warum", "wieso", "wofür", "wodurch", "womit", "wurde", "wurden"];

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

/// The positions of the first `most` words that are not stop words.
fn without_stop_words(text: &str, language: Language, most: usize) -> HashSet<usize> {
    let (of, more): (_, &[&str]) = match language {
        Language::English => (TantivyLanguage::English, &ENGLISH_QUESTION_WORDS),
        Language::German => (TantivyLanguage::German, &GERMAN_QUESTION_WORDS),
    };
    let more = StopWordFilter::remove(more.iter().map(|word| (*word).to_owned()));
    // Stop words are listed with umlauts and endings.
    let analyzer = match StopWordFilter::new(of) {
        Some(common) => surface().filter(common).filter(more).build(),
        None => surface().filter(more).build(),
    };
    tokens_of(analyzer, text, most).into_iter().map(|token| token.position).collect()
}

/// A tokenized text for the index.
pub(super) fn analyzed(text: &str, language: Language) -> PreTokenizedString {
    PreTokenizedString { text: text.to_owned(), tokens: tokens_of(analyzer(language), text, usize::MAX) }
}

/// The language of an indexed text, English if unknown.
pub(super) fn text_language(text: &str) -> Language {
    match language_hint(text) {
        LanguageHint::Words(language) => language,
        LanguageHint::Umlaut | LanguageHint::Nothing => Language::English,
    }
}

/// A hint at the language of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LanguageHint {
    /// Most of its function words are of this language.
    Words(Language),
    /// Function words do not decide, and it has an umlaut, in a German word or in a name.
    Umlaut,
    /// No hint.
    Nothing,
}

/// The language hint of a text. Rows and technical terms are too short for the statistics used for questions. The
/// English words that verbalize a row do not count.
pub(super) fn language_hint(text: &str) -> LanguageHint {
    let text = &text[..text.floor_char_boundary(LANGUAGE_BYTES)];
    let is_row = has_row_label(text);
    let is_one_of = |marks: &[&str], word: &str| marks.iter().any(|mark| mark.eq_ignore_ascii_case(word));
    let (mut german, mut english, mut has_umlaut) = (0_usize, 0_usize, false);
    for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
        german += usize::from(is_one_of(&GERMAN_MARKS, word));
        english += usize::from(is_one_of(&ENGLISH_MARKS, word) && !(is_row && is_one_of(&ROW_WORDS, word)));
        has_umlaut |= word.contains(['ä', 'ö', 'ü', 'Ä', 'Ö', 'Ü', 'ß']);
    }
    match german.cmp(&english) {
        Ordering::Greater => LanguageHint::Words(Language::German),
        Ordering::Less => LanguageHint::Words(Language::English),
        Ordering::Equal if has_umlaut => LanguageHint::Umlaut,
        Ordering::Equal => LanguageHint::Nothing,
    }
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
    /// Whether it has a capital behind its first letter.
    pub(super) has_inner_capital: bool,
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
        self.surface.chars().all(char::is_alphabetic)
    }

    /// Whether it is neither a plain word nor a number: `9.0.2`, `oxt-1654`, `b2`, `follow-up`.
    pub(super) fn is_exact(&self) -> bool {
        !self.is_plain() && !self.surface.chars().all(char::is_numeric)
    }

    /// Whether it is an identifier: `9.0.2`, `OXT-1654`, `B2`, `Wi-Fi`, but not a hyphenated word without inner
    /// capitals, such as `follow-up`.
    pub(super) fn is_identifier(&self) -> bool {
        let is_hyphenated = self.surface.chars().all(|c| c.is_alphabetic() || c == '-');
        self.is_exact() && (!is_hyphenated || self.has_inner_capital)
    }
}

/// The first `most` words of a question without stop words, unless it has no others.
pub(super) fn question_words(question: &str, language: Language, most: usize) -> Vec<Word> {
    let kept = without_stop_words(question, language, most);
    let mut words = words(question, most);
    if words.iter().any(|word| kept.contains(&word.place)) {
        words.retain(|word| kept.contains(&word.place));
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
            has_inner_capital: has_inner_capital(&text[surface.offset_from..surface.offset_to]),
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

fn has_inner_capital(word: &str) -> bool {
    word.chars().skip(1).any(char::is_uppercase)
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
    let mut push = |range: Range<usize>| {
        let position = tokens.len();
        let text = text[range.clone()].to_owned();
        tokens.push(Token { offset_from: range.start, offset_to: range.end, position, text, position_length: 1 });
    };
    let mut rest = 0;
    while let Some(start) = text[rest..].find(char::is_alphanumeric).map(|at| rest + at) {
        let end = run_end(text, start);
        push(start..end);
        let is_outer = |c: char| JOINS.contains(&c) && c != INNER_JOIN;
        let outer = parts(text, start..end, is_outer);
        for part in &outer {
            if outer.len() > 1 {
                push(part.clone());
            }
            let inner = parts(text, part.clone(), |c| c == INNER_JOIN);
            for part in inner.iter().filter(|_| inner.len() > 1) {
                push(part.clone());
            }
        }
        rest = end;
    }
    tokens
}

/// The byte ranges between the joins of an identifier; one without joins.
fn parts(text: &str, range: Range<usize>, is_join: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut from = range.start;
    let pieces = text[range].split(is_join);
    pieces
        .map(|piece| {
            let part = from..from + piece.len();
            from = part.end + 1;
            part
        })
        .collect()
}

/// The end of the identifier or word that starts at `start`.
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
    fn a_text_has_the_language_of_its_small_words() {
        for german in ["Der Akku wird bei 15 Grad gelagert und nicht geladen.", "Lagerung von Akkus im Winter"] {
            assert_eq!(text_language(german), Language::German, "{german}");
        }
        for english in ["Row 2 in Table 1: Board is Kestrel B2", "The board is stored with the battery", "", "OXT-1654"]
        {
            assert_eq!(text_language(english), Language::English, "{english}");
        }
    }

    #[test]
    fn a_row_has_the_language_of_its_cells_and_not_of_what_joins_them() {
        let umlaut = "Row 1 in Table 1: Prüfungen is Kran 3, and Ort is Halle 2, and Frist is Mai";
        assert_eq!(language_hint(umlaut), LanguageHint::Umlaut);
        assert_eq!(
            language_hint("Row 1 in Table 1: Name is Jörg Müller, and Role is Engineer"),
            LanguageHint::Umlaut,
            "or a name"
        );
        assert_eq!(
            language_hint("Row 1 in Table 1: Ort is Halle 2, and Stand is nicht geladen"),
            LanguageHint::Words(Language::German)
        );
        assert_eq!(
            language_hint("Row 1 in Table 1: State is to be tested by the crew"),
            LanguageHint::Words(Language::English)
        );
        assert_eq!(language_hint("Row 1 in Table 1: Board is B2, and Tester is Mira"), LanguageHint::Nothing);
        assert_eq!(language_hint("The crew of Jörg Müller is on board"), LanguageHint::Words(Language::English));
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
        for word in ["follow-up", "Follow-up", "set-up", "qemu-dm", "rück-lauf-ventil", "pump", "17"] {
            assert!(!words(word, 1)[0].is_identifier(), "{word}");
        }
        for word in ["XY-1654", "xy-1654", "Wi-Fi", "KolMet-pump", "b2", "9.0.2", "a_b", "pier.example"] {
            assert!(words(word, 1)[0].is_identifier(), "{word}");
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
                [Language::English, Language::German].map(|language| analyzed(&text, language).tokens.len()).into();
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
