//! Query expansion: the words of a question in their indexed forms.
//!
//! Takes a question and the vocabulary of a domain; gives weighted terms, and pairs of adjacent terms. A word of the
//! domain is searched as it is. For an unknown word these are tried in turn: the other language's form and the other
//! spelling of an umlaut; the parts of a German compound; the nearest spellings. A date is searched in all spellings of
//! the domain, in place of its words.
//! Invariants: a question keeps at least one word if it has any, however common; the work is bounded for any question
//! length; nothing is searched twice.
//! Not here: words (`tokenizer`), the spellings of a date (`date_terms`), scoring (`lexical`).

use std::collections::{HashMap, HashSet};

use super::compound;
use super::content_words::{FoundForms, content_words};
use super::date_terms::{self, DateTerm};
use super::matched::{MatchKind, QuestionTerm, QuestionTerms};
use crate::IndexError;
use crate::tokenizer::{self, Word};
use ragonite_base::text::has_digit;
use ragonite_base::{DateMention, Language, dates_in};

/// Maximum of words read from a question; more add nothing.
const MAX_READ: usize = 1024;

/// Maximum of terms; the rarest are kept, since each costs time.
const MAX_TERMS: usize = 64;

/// Maximum of pairs.
const MAX_PAIRS: usize = 32;

/// Maximum of dates.
const MAX_DATES: usize = 4;

/// Maximum of identifiers reported as absent.
const MAX_ABSENT: usize = 4;

/// Maximum of unknown words that are split or fuzzy-matched, which is slow.
const MAX_UNKNOWN: usize = 32;

/// Bytes of the question searched for dates.
const DATE_BYTES: usize = 8000;

/// Minimum of letters for a fuzzy match with one edit.
const MIN_ONE_EDIT: usize = 4;

/// Minimum of letters for a fuzzy match with two edits.
const MIN_TWO_EDITS: usize = 8;

/// Minimum of letters of a compound: two minimal parts.
const MIN_COMPOUND: usize = 2 * compound::MIN_PART;

/// Maximum of fuzzy matches per word.
const MAX_CLOSE: usize = 3;

/// Weight of a fuzzy match, because it may be another word.
const CLOSE_WEIGHT: f32 = 0.8;

/// Weight of a whole identifier, version or hyphenated word, beyond its rarity: it is meant exactly.
pub(super) const IDENTIFIER_WEIGHT: f32 = 1.25;

/// The vocabulary of a domain.
pub(super) trait Vocabulary {
    /// Number of evidences that have a word.
    fn count(&self, word: &str) -> Result<u64, IndexError>;

    /// Words within `edits` edits that share the first letter, with their counts.
    fn near(&self, word: &str, edits: u8) -> Result<Vec<(String, u64)>, IndexError>;

    /// Whether the domain has texts in a language.
    fn has(&self, language: Language) -> Result<bool, IndexError>;

    /// Whether any text has these words adjacent.
    fn has_run(&self, words: &[&str]) -> Result<bool, IndexError>;

    /// Number of evidences.
    fn evidences(&self) -> u64;
}

/// The search terms of a question.
pub(super) fn terms(question: &str, vocabulary: &dyn Vocabulary) -> Result<QuestionTerms, IndexError> {
    let language = Language::of(question);
    let languages = query_languages(language, vocabulary)?;
    let mut reading = QueryExpansion {
        vocabulary,
        query_languages: languages,
        language,
        unknown: HashSet::new(),
        seen: HashSet::new(),
        terms: Vec::new(),
        found: HashMap::new(),
    };
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut before: Option<(usize, String)> = None;
    let mut read = tokenizer::question_words(question, language, MAX_READ);
    let mut mentions = dates_in(&question[..question.floor_char_boundary(DATE_BYTES)]);
    mentions.truncate(MAX_DATES);
    let dates = dates(question, &mentions, vocabulary)?;
    for word in &read {
        if mentions.iter().any(|mention| mention.span.contains(&word.at)) {
            before = None;
            continue;
        }
        for (part, form) in reading.read(word)?.into_iter().enumerate() {
            if let Some((place, other)) = before.take()
                && (place + 1 == word.place || part > 0)
                && other != form
            {
                pairs.push((other, form.clone()));
            }
            before = Some((word.place, form));
        }
    }
    let mut seen = HashSet::new();
    pairs.retain(|pair| seen.insert(pair.clone()));
    pairs.truncate(MAX_PAIRS);
    let terms = rarest(reading.terms);
    let alone = alone(&read);
    let named = terms.iter().filter(|term| alone.contains(&term.word)).flat_map(|term| term.forms.clone()).collect();
    read.retain(|word| mentions.iter().all(|mention| !mention.span.contains(&word.at)));
    let absent = absent(question, &read, vocabulary)?;
    let content = content_words(question, &read, &reading.found, &absent, vocabulary.evidences());
    Ok(QuestionTerms { terms, dates, pairs, named, absent, content })
}

/// The identifiers that no text of the domain has, as typed: neither whole nor as adjacent parts.
fn absent(question: &str, words: &[Word], vocabulary: &dyn Vocabulary) -> Result<Vec<String>, IndexError> {
    let mut absent = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let mut parts = Vec::new();
        while let Some(part) = words.next_if(|part| part.at < word.at + word.surface.len()) {
            parts.push(part);
        }
        let typed = question.get(word.at..word.at + word.surface.len());
        let typed = typed.filter(|typed| typed.to_lowercase() == word.surface).unwrap_or(&word.surface).to_owned();
        // A compound with capitals, such as "VirtIO-Treiber", may stand in the domain in other words.
        let is_exact = has_digit(&typed) || typed.contains('@');
        let is_new = word.is_identifier && is_exact && absent.len() < MAX_ABSENT && !absent.contains(&typed);
        if is_new && !is_in_domain(word, &parts, vocabulary)? {
            absent.push(typed);
        }
    }
    Ok(absent)
}

/// Whether any text has an identifier: `9.0.2` is in `9.0.2-rc1` too.
fn is_in_domain(word: &Word, parts: &[&Word], vocabulary: &dyn Vocabulary) -> Result<bool, IndexError> {
    for language in Language::ALL {
        let forms: Vec<&str> = parts.iter().map(|part| part.form(language)).collect();
        if vocabulary.count(word.form(language))? > 0 || (forms.len() > 1 && vocabulary.has_run(&forms)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a question consists of identifiers alone, such as `OXT-1654`.
pub(crate) fn is_of_identifiers(question: &str) -> bool {
    let language = Language::of(question);
    !alone(&tokenizer::question_words(question, language, MAX_READ)).is_empty()
}

/// The terms of the question's dates.
fn dates(question: &str, mentions: &[DateMention], vocabulary: &dyn Vocabulary) -> Result<Vec<DateTerm>, IndexError> {
    let read =
        mentions.iter().map(|mention| date_terms::date_term(&question[mention.span.clone()], mention, vocabulary));
    Ok(read.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// The identifiers of a question without other words; empty for other questions.
fn alone(words: &[Word]) -> HashSet<String> {
    let mut whole = HashSet::new();
    let mut run_end = 0;
    for word in words {
        // The parts of an identifier follow it.
        if word.at < run_end {
            continue;
        }
        if !word.is_identifier {
            return HashSet::new();
        }
        run_end = word.end;
        whole.insert(word.surface.clone());
    }
    whole
}

/// The languages whose forms are tried first: the question's, if the domain has it, and English, because technical
/// terms are English in all languages.
fn query_languages(language: Language, vocabulary: &dyn Vocabulary) -> Result<Vec<Language>, IndexError> {
    let mut languages = vec![Language::English];
    if language == Language::German && vocabulary.has(Language::German)? {
        languages.insert(0, Language::German);
    }
    Ok(languages)
}

/// Expands the words of a question one by one.
struct QueryExpansion<'a> {
    vocabulary: &'a dyn Vocabulary,
    /// Languages whose forms are tried first.
    query_languages: Vec<Language>,
    /// The language of the question.
    language: Language,
    /// Words that the domain has in no form.
    unknown: HashSet<String>,
    seen: HashSet<String>,
    terms: Vec<QuestionTerm>,
    /// What the domain has of each word, by the word as written in lower case; also of words with the same forms.
    found: HashMap<String, Vec<FoundForms>>,
}

impl QueryExpansion<'_> {
    /// Adds the terms of a word; gives their forms in order, for the pairs.
    fn read(&mut self, word: &Word) -> Result<Vec<String>, IndexError> {
        let forms = self.query_languages.iter().map(|language| word.form(*language));
        let forms = self.known(forms.map(str::to_owned))?;
        if !forms.is_empty() {
            let weight = if word.is_exact() { IDENTIFIER_WEIGHT } else { 1.0 };
            return Ok(self.add(word, MatchKind::Same, forms, weight));
        }
        if !word.is_plain() {
            return Ok(Vec::new());
        }
        let forms = self.known(other_forms(word))?;
        if !forms.is_empty() {
            return Ok(self.add(word, MatchKind::OtherForm, forms, 1.0));
        }
        if self.unknown.len() == MAX_UNKNOWN || !self.unknown.insert(word.surface.clone()) {
            return Ok(Vec::new());
        }
        let letters = word.surface.chars().count();
        if letters >= MIN_COMPOUND {
            let parts = compound::split(&word.surface, &self.query_languages, self.vocabulary)?;
            if !parts.is_empty() {
                return Ok(parts
                    .into_iter()
                    .flat_map(|part| self.add(word, MatchKind::Part, vec![part], 1.0))
                    .collect());
            }
        }
        if letters >= MIN_ONE_EDIT {
            self.fuzzy_expand(word)?;
        }
        Ok(Vec::new())
    }

    /// The distinct `forms` that the domain has, with their counts.
    fn known(&self, forms: impl IntoIterator<Item = String>) -> Result<Vec<(String, u64)>, IndexError> {
        let mut known: Vec<(String, u64)> = Vec::new();
        for form in forms {
            let count = self.vocabulary.count(&form)?;
            if count > 0 && known.iter().all(|(other, _)| *other != form) {
                known.push((form, count));
            }
        }
        Ok(known)
    }

    /// Adds the nearest spellings of a word.
    fn fuzzy_expand(&mut self, word: &Word) -> Result<(), IndexError> {
        // Most unknown words of another language are not misspelled, and two edits match many of them by chance.
        let is_foreign = !self.query_languages.contains(&self.language);
        let form = word.form(if is_foreign { Language::English } else { self.language });
        let most = if form.chars().count() < MIN_TWO_EDITS || is_foreign { 1 } else { 2 };
        for edits in 1..=most {
            let mut near = self.vocabulary.near(form, edits)?;
            near.retain(|(other, _)| other.chars().all(char::is_alphabetic));
            near.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            near.truncate(MAX_CLOSE);
            if !near.is_empty() {
                self.add(word, MatchKind::Close, near, CLOSE_WEIGHT);
                return Ok(());
            }
        }
        Ok(())
    }

    fn add(&mut self, word: &Word, how: MatchKind, forms: Vec<(String, u64)>, weight: f32) -> Vec<String> {
        let first = forms.first().map(|(form, _)| form.clone());
        let count = forms.iter().map(|(_, count)| *count).sum();
        let forms: Vec<String> = forms.into_iter().map(|(form, _)| form).collect();
        let found = self.found.entry(word.surface.clone()).or_default();
        if found.iter().all(|known| known.forms != forms) {
            found.push(FoundForms { forms: forms.clone(), count });
        }
        let new = forms.iter().filter(|form| self.seen.insert((*form).clone())).count();
        if new > 0 {
            self.terms.push(QuestionTerm { word: word.surface.clone(), how, forms, weight, count });
        }
        first.into_iter().collect()
    }
}

/// The other language's forms of a word, and its forms with umlauts spelled differently.
fn other_forms(word: &Word) -> Vec<String> {
    let mut forms = vec![word.german.clone(), word.english.clone()];
    let (mut written_out, mut drawn) = (word.surface.clone(), word.surface.clone());
    for (umlaut, letters, base) in [('ä', "ae", "a"), ('ö', "oe", "o"), ('ü', "ue", "u")] {
        written_out = written_out.replace(umlaut, letters);
        drawn = drawn.replace(letters, base);
    }
    for other in [written_out, drawn].iter().filter(|other| **other != word.surface) {
        for word in tokenizer::words(other, 1) {
            forms.extend([word.german, word.english]);
        }
    }
    forms
}

/// The rarest terms, in question order.
fn rarest(mut terms: Vec<QuestionTerm>) -> Vec<QuestionTerm> {
    if terms.len() > MAX_TERMS {
        let mut counts: Vec<u64> = terms.iter().map(|term| term.count).collect();
        counts.sort_unstable();
        let most = counts[MAX_TERMS - 1];
        terms.retain(|term| term.count <= most);
        terms.truncate(MAX_TERMS);
    }
    terms
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A vocabulary of a few words, each in one evidence.
    pub(in crate::lexical) struct Known {
        words: Vec<String>,
        german: Option<()>,
        /// Words that stand side by side; those of other texts stand apart.
        runs: Vec<Vec<String>>,
    }

    impl Known {
        pub(in crate::lexical) fn new(words: &[&str]) -> Self {
            Self { words: words.iter().map(|word| (*word).to_owned()).collect(), german: None, runs: Vec::new() }
        }

        fn with_run(self, run: &[&str]) -> Self {
            Self { runs: vec![run.iter().map(|word| (*word).to_owned()).collect()], ..self }
        }

        fn with_german_texts(words: &[&str]) -> Self {
            Self { german: Some(()), ..Self::new(words) }
        }
    }

    impl Vocabulary for Known {
        fn count(&self, word: &str) -> Result<u64, IndexError> {
            Ok(u64::from(self.words.iter().any(|known| known == word)))
        }

        fn near(&self, word: &str, edits: u8) -> Result<Vec<(String, u64)>, IndexError> {
            let near = |known: &&String| {
                known.chars().next() == word.chars().next() && strsim::osa_distance(known, word) <= usize::from(edits)
            };
            Ok(self.words.iter().filter(near).map(|known| (known.clone(), 1)).collect())
        }

        fn has(&self, language: Language) -> Result<bool, IndexError> {
            Ok(language == Language::English || self.german.is_some())
        }

        fn evidences(&self) -> u64 {
            self.words.len() as u64
        }

        fn has_run(&self, words: &[&str]) -> Result<bool, IndexError> {
            Ok(self.runs.iter().any(|run| run.windows(words.len()).any(|some| some == words)))
        }
    }

    fn found(question: &str, known: &Known) -> Vec<(String, MatchKind, Vec<String>)> {
        let terms = terms(question, known).unwrap().terms;
        terms.into_iter().map(|term| (term.word, term.how, term.forms)).collect()
    }

    fn one(word: &str, how: MatchKind, form: &str) -> (String, MatchKind, Vec<String>) {
        (word.to_owned(), how, vec![form.to_owned()])
    }

    #[test]
    fn a_known_word_is_looked_for_as_it_is() {
        let known = Known::new(&["tpm", "version", "versions"]);
        assert_eq!(
            found("What was the TPM version?", &known),
            [one("tpm", MatchKind::Same, "tpm"), one("version", MatchKind::Same, "version")]
        );
    }

    #[test]
    fn a_german_compound_is_looked_for_in_its_parts_side_by_side() {
        let known = Known::new(&["test", "matrix"]);
        let terms = terms("Wo ist die Testmatrix?", &known).unwrap();
        let forms: Vec<&str> = terms.terms.iter().flat_map(|term| &term.forms).map(String::as_str).collect();
        assert_eq!(forms, ["test", "matrix"]);
        assert!(terms.terms.iter().all(|term| term.how == MatchKind::Part && term.word == "testmatrix"));
        assert_eq!(terms.pairs, [("test".to_owned(), "matrix".to_owned())]);
    }

    #[test]
    fn a_word_of_another_form_is_found_where_the_domain_has_not_its_own() {
        let german = Known::with_german_texts(&["haus", "muller"]);
        assert_eq!(found("Wo sind die Häuser?", &german), [one("häuser", MatchKind::Same, "haus")]);
        assert_eq!(found("Wer ist Mueller?", &Known::new(&["muller"]))[0].2, ["muller"]);
        assert_eq!(found("Wer ist Müller?", &Known::new(&["mueller"]))[0].2, ["mueller"]);
        let english = Known::new(&["version"]);
        assert_eq!(found("Welche Versionen gibt es?", &english), [one("versionen", MatchKind::OtherForm, "version")]);
    }

    #[test]
    fn a_misspelled_word_is_looked_for_as_the_words_nearest_to_it() {
        let known = Known::new(&["regress", "kestrel", "kernel"]);
        let found = found("Which kestral regresion run failed?", &known);
        assert_eq!(found, [one("kestral", MatchKind::Close, "kestrel"), one("regresion", MatchKind::Close, "regress")]);
        assert!(terms("kestral", &known).unwrap().terms[0].weight < 1.0);
    }

    #[test]
    fn identifiers_and_short_words_are_never_taken_for_others() {
        let known = Known::new(&["oxt-1655", "b3", "cat", "9.0.3"]);
        assert!(found("OXT-1654 B2 car 9.0.2", &known).is_empty());
        let exact = terms("OXT-1655", &known).unwrap();
        assert!(exact.terms[0].weight > 1.0, "it is meant exactly so");
    }

    #[test]
    fn an_identifier_that_stands_nowhere_is_absent_as_it_was_typed() {
        let words = ["oxt", "1654", "oxt-1654", "9", "0", "boot", "2"];
        let vocabulary = Known::new(&words).with_run(&["9", "0", "2", "rc1"]);
        let absent = |question: &str| terms(question, &vocabulary).unwrap().absent;
        assert_eq!(absent("Why does ABC-9999 not boot, and CVE-2024-123?"), ["ABC-9999", "CVE-2024-123"]);
        assert_eq!(absent("ABC-9999 or ABC-9999"), ["ABC-9999"]);
        assert_eq!(absent("x4711 on Türe-77"), ["x4711", "Türe-77"]);
        assert_eq!(absent("OXT-2 or 2.0.9"), ["OXT-2", "2.0.9"], "their parts stand apart");
        assert_eq!(absent("ask mira@harbour.example"), ["mira@harbour.example"]);
        assert_eq!(absent("VirtIO-Treiber of GitLab-Runner"), [] as [&str; 0]);
        for known in ["OXT-1654", "Did 9.0.2 boot?", "well-known", "the 3rd of 12", "on 2019-04-05"] {
            assert_eq!(absent(known), [] as [&str; 0], "{known}");
        }
    }

    #[test]
    fn a_question_of_identifiers_alone_names_them_and_any_other_names_none() {
        let known = Known::new(&["oxt-1654", "oxt", "1654", "b2", "board", "qemu-dm", "qemu"]);
        let named = |question: &str| terms(question, &known).unwrap().named;
        assert_eq!(named("OXT-1654"), ["oxt-1654"]);
        assert_eq!(named("What is OXT-1654 about?"), ["oxt-1654"]);
        assert_eq!(named("OXT-1654, B2 und QEMU-DM"), ["oxt-1654", "b2", "qemu-dm"]);
        assert!(named("OXT-1655").is_empty(), "the domain has it not");
        for other in ["OXT-1654 board", "board b2", "1654", "What is it about?", "qemu-dm", "OXT-1654 OXT", ""] {
            assert!(named(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn a_hyphenated_word_is_looked_for_whole_in_its_parts_and_in_its_pairs_but_names_nothing() {
        let known = Known::new(&["follow-up", "follow", "pump-check", "pump", "check"]);
        assert!(!is_of_identifiers("follow-up") && !is_of_identifiers("Follow-up?") && is_of_identifiers("XY-165"));
        let read = terms("pump-check", &known).unwrap();
        assert!(read.named.is_empty());
        let words: Vec<(&str, f32)> = read.terms.iter().map(|term| (term.word.as_str(), term.weight)).collect();
        assert_eq!(words, [("pump-check", IDENTIFIER_WEIGHT), ("pump", 1.0), ("check", 1.0)]);
        assert!(read.pairs.contains(&("pump".to_owned(), "check".to_owned())), "{:?}", read.pairs);
    }

    #[test]
    fn an_identifier_that_is_the_beginning_of_the_one_before_it_is_named_too() {
        let known = Known::new(&["xy-1654", "xy-165", "xy", "1654", "165"]);
        assert_eq!(terms("XY-1654 XY-165", &known).unwrap().named, ["xy-1654", "xy-165"]);
        assert_eq!(terms("XY-165 XY-1654", &known).unwrap().named, ["xy-165", "xy-1654"]);
    }

    #[test]
    fn a_date_is_looked_for_in_the_spellings_that_the_domain_has() {
        let known = Known::new(&["meet", "juni", "22", "6", "13", "2013", "2013-06-22"]);
        let read = terms("Who met on 22.6.13?", &known).unwrap();
        assert!(read.terms.is_empty() && read.pairs.is_empty(), "its digits alone mean nothing");
        let [date] = read.dates.as_slice() else { panic!("{read:?}") };
        assert_eq!((date.word.as_str(), date.whole.as_slice()), ("22.6.13", &["2013-06-22".to_owned()][..]));
        assert_eq!(date.readings, [[["22"], ["juni"], ["2013"]].map(|forms| forms.map(str::to_owned).to_vec())]);
        let phrases: Vec<_> = date.phrases().collect();
        assert_eq!(phrases, [["juni", "22", "2013"], ["22", "juni", "2013"]]);
        let both = terms("on 3/4/2015", &Known::new(&["3", "4", "april", "march", "2015"])).unwrap();
        assert_eq!(both.dates[0].readings.len(), 2, "day and month, or month and day");
    }

    #[test]
    fn a_version_is_looked_for_as_it_is() {
        let known = Known::new(&["7.1.15", "9.0.2", "juni"]);
        let read = terms("Is it in Kolmet 7.1.15 or 9.0.2?", &known).unwrap();
        assert!(read.dates.is_empty());
        assert_eq!(read.terms.iter().map(|term| term.word.as_str()).collect::<Vec<_>>(), ["7.1.15", "9.0.2"]);
        assert!(terms("on 22.6.13", &Known::new(&["other"])).unwrap().dates.is_empty(), "nothing of it is known");
    }

    #[test]
    fn words_that_stand_apart_are_no_pair() {
        let known = Known::new(&["wind", "limit", "buoy"]);
        let pairs = terms("wind limit for the buoy, wind limit", &known).unwrap().pairs;
        assert_eq!(pairs, [("wind".to_owned(), "limit".to_owned()), ("buoy".to_owned(), "wind".to_owned())]);
    }

    #[test]
    fn a_question_of_any_length_looks_for_a_bounded_number_of_words() {
        let words: Vec<String> = (0..500).map(|n| format!("w{n}")).collect();
        let known = Known::new(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let found = terms(&words.join(" "), &known).unwrap();
        assert_eq!((found.terms.len(), found.pairs.len()), (MAX_TERMS, MAX_PAIRS));
        let unknown = "unbekannterdings ".repeat(3000);
        assert!(terms(&unknown, &known).unwrap().terms.is_empty());
    }

    #[test]
    fn common_words_are_looked_for_where_there_are_no_others() {
        assert_eq!(found("the", &Known::new(&["the"])), [one("the", MatchKind::Same, "the")]);
        assert!(found(" ?! ", &Known::new(&["the"])).is_empty());
    }
}
