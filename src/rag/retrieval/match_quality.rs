//! Whether any document fits the question.
//!
//! Takes a finished search; compares its best cosine with what unrelated questions reach in the same domain, and counts
//! the words of the question that the hits have. The unrelated questions calibrate the cosine for each embedder and
//! domain; they are embedded only if the words do not settle it already.
//! Invariants: no document fits only if cosine and words both say so; nothing is claimed where too little is known: in
//! a limited search, with pinned evidences, without dense retrieval, or in another language without translation.
//! Not here: the share of the words (`index`), what becomes of the turn (`pipeline`).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Calibration, RetrievalError, RetrievalSettings, Retrieved, SearchContext, SubQuery, SubQueryRole};
use ragonite_base::{CancelToken, EvidenceId, Language, clean_line};
use ragonite_index::{Index, QuestionTerms, StoredEvidence};
use ragonite_inference::TextRole;

/// Least share of the question's words that a fitting set of hits has.
pub const LEAST_COVERAGE: f64 = 0.5;

/// Quantile of the best cosines of unrelated questions that a fitting question exceeds. Not the maximum: a domain may
/// be about one of them.
pub const UNRELATED_QUANTILE: f64 = 0.9;

/// Results of a dense search for an unrelated question; the index finds the best one more surely among several.
const DEPTH: usize = 10;

/// Best hits whose words are counted.
const MAX_COVERING: usize = 20;

/// Most absent words that are kept.
const MAX_ABSENT_WORDS: usize = 8;

/// English questions of everyday life. They have nothing to do with each other, so that few of them suit a domain.
const ENGLISH: [&str; 12] = [
    "How do I get wine stains out of a tablecloth?",
    "Which films are on at the cinema tonight?",
    "How long does a hard-boiled egg take?",
    "When does the next tram to the zoo leave?",
    "How do I teach a parrot to speak?",
    "What should I wear to a summer wedding?",
    "Who won the junior chess championship?",
    "How often should a lawn be watered?",
    "Why do cats purr?",
    "Where can I rent a sailing boat for a weekend?",
    "How do I knit a woollen scarf?",
    "What rhymes with orange?",
];

/// German questions of the same kind.
const GERMAN: [&str; 12] = [
    "Wie bekomme ich Rotweinflecken aus dem Teppich?",
    "Welche Filme laufen heute Abend im Kino?",
    "Wie lange braucht ein weiches Frühstücksei?",
    "Wann fährt die nächste Straßenbahn zum Zoo?",
    "Wie bringe ich meinem Hund das Sitzen bei?",
    "Was zieht man zu einer Hochzeit im Sommer an?",
    "Wer hat das letzte Handballspiel gewonnen?",
    "Wie oft muss man Rosen gießen?",
    "Warum ist der Himmel blau?",
    "Wo kann ich für ein Wochenende ein Segelboot mieten?",
    "Wie strickt man einen Schal?",
    "Was reimt sich auf Mensch?",
];

/// How well the hits fit the question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MatchQuality {
    /// The best cosine in the domain of the question, as typed, completed or translated; none without dense retrieval.
    pub best_cosine: Option<f64>,
    /// The cosine that unrelated questions of the same language reach in the domain; none if it was not needed.
    pub unrelated_cosine: Option<f64>,
    /// The share of the question's words, weighted by rarity, that the hits have; none if the words say nothing.
    pub coverage: Option<f64>,
    /// Words of the question that are in no document, as typed.
    pub absent_words: Vec<String>,
    /// The result.
    pub verdict: MatchVerdict,
}

/// Whether any document fits the question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchVerdict {
    /// Nothing says that none fits.
    #[default]
    Fits,
    /// No document fits.
    NoMatch,
}

impl MatchQuality {
    /// Whether the question is no nearer to the documents than unrelated questions are.
    #[must_use]
    pub fn is_far(&self) -> bool {
        matches!((self.best_cosine, self.unrelated_cosine), (Some(best), Some(unrelated)) if best <= unrelated)
    }

    /// Whether the hits have too few of the question's words.
    #[must_use]
    pub fn is_uncovered(&self) -> bool {
        is_low(self.coverage)
    }

    /// Whether no document fits.
    #[must_use]
    pub fn is_no_match(&self) -> bool {
        self.verdict == MatchVerdict::NoMatch
    }

    fn judged(self) -> Self {
        let verdict = if self.is_far() && self.is_uncovered() { MatchVerdict::NoMatch } else { MatchVerdict::Fits };
        Self { verdict, ..self }
    }
}

/// The quality of a search; none without hits. `sub_queries` are those of the search, with their results.
pub(super) fn match_quality(
    engines: SearchContext<'_>,
    retrieved: &Retrieved,
    sub_queries: &[SubQuery],
    settings: &RetrievalSettings,
    cancel: &CancelToken,
) -> Result<Option<MatchQuality>, RetrievalError> {
    if retrieved.hits.is_empty() {
        return Ok(None);
    }
    let Covered { share: coverage, absent_words } = covered(engines.index, retrieved, sub_queries)?;
    let is_limited = !settings.picks.is_empty() || !settings.filter().is_open();
    let is_needed = is_low(coverage) || settings.calibration == Calibration::Always;
    let calibrated = if is_limited || !is_needed { None } else { beside_unrelated(engines, sub_queries, cancel)? };
    let best = || own(sub_queries).filter_map(best_cosine).max_by(f64::total_cmp);
    let quality = MatchQuality {
        best_cosine: calibrated.map_or_else(best, |nearest| Some(nearest.best)),
        unrelated_cosine: calibrated.map(|nearest| nearest.unrelated),
        coverage,
        absent_words,
        verdict: MatchVerdict::Fits,
    };
    Ok(Some(quality.judged()))
}

/// The sub-queries of the question itself.
fn own(sub_queries: &[SubQuery]) -> impl Iterator<Item = &SubQuery> {
    sub_queries.iter().filter(|sub_query| sub_query.role != SubQueryRole::History)
}

fn best_cosine(sub_query: &SubQuery) -> Option<f64> {
    sub_query.dense.first().map(|best| best.score)
}

fn is_low(coverage: Option<f64>) -> bool {
    coverage.is_some_and(|coverage| coverage < LEAST_COVERAGE)
}

/// The best cosine of a sub-query, and that of unrelated questions of the same language.
#[derive(Debug, Clone, Copy)]
struct Nearest {
    best: f64,
    unrelated: f64,
}

impl Nearest {
    fn margin(&self) -> f64 {
        self.best - self.unrelated
    }
}

/// The sub-query that exceeds unrelated questions most; none without dense retrieval.
fn beside_unrelated(
    engines: SearchContext<'_>,
    sub_queries: &[SubQuery],
    cancel: &CancelToken,
) -> Result<Option<Nearest>, RetrievalError> {
    if own(sub_queries).find_map(best_cosine).is_none() {
        return Ok(None);
    }
    let cosines = unrelated_cosines(engines, cancel)?;
    let documents = engines.index.language()?;
    let nearest = own(sub_queries).filter_map(|sub_query| {
        let language = Language::detect(&sub_query.text).unwrap_or(documents);
        Some(Nearest { best: best_cosine(sub_query)?, unrelated: unrelated_cosine(&cosines, language)? })
    });
    Ok(nearest.max_by(|one, other| one.margin().total_cmp(&other.margin())))
}

/// The best cosine of each unrelated question in the domain: the English ones, then the German ones. They are computed
/// once for each state of an open domain.
///
/// # Errors
/// When the embedder or the index fails, or with [`RetrievalError::Canceled`].
pub fn unrelated_cosines(engines: SearchContext<'_>, cancel: &CancelToken) -> Result<Arc<[f64]>, RetrievalError> {
    let SearchContext { index, embedder, .. } = engines;
    index.unrelated_cosines(|| -> Result<Vec<f64>, RetrievalError> {
        let questions: Vec<&str> = ENGLISH.into_iter().chain(GERMAN).collect();
        let vectors = embedder
            .embed(&questions, TextRole::Query, cancel)
            .map_err(|error| RetrievalError::of(error, RetrievalError::Embed))?;
        let mut cosines = Vec::with_capacity(vectors.len());
        for vector in &vectors {
            cancel.check()?;
            let found = index.dense_search(vector, DEPTH)?;
            cosines.push(found.first().map_or(0.0, |best| best.score));
        }
        Ok(cosines)
    })
}

/// The calibrated cosine for questions of a language.
fn unrelated_cosine(cosines: &[f64], language: Language) -> Option<f64> {
    let (english, german) = cosines.split_at_checked(ENGLISH.len())?;
    let mut sorted = match language {
        Language::English => english,
        Language::German => german,
    }
    .to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, UNRELATED_QUANTILE)
}

/// The quantile of ascending numbers.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * share).round() as usize).copied()
}

/// What the hits have of a question's words.
#[derive(Debug, Clone, Default, PartialEq)]
struct Covered {
    share: Option<f64>,
    absent_words: Vec<String>,
}

/// What the hits have of the question's words, or of its translation's where that is more.
fn covered(index: &Index, retrieved: &Retrieved, sub_queries: &[SubQuery]) -> Result<Covered, RetrievalError> {
    let ids: Vec<EvidenceId> = retrieved.hits.iter().take(MAX_COVERING).map(|hit| hit.evidence).collect();
    let hits = index.evidences(&ids)?;
    let terms = index.question_terms(&retrieved.query)?;
    let typed = covered_by(&hits, &terms);
    if let Some(translation) = sub_queries.iter().find(|sub_query| sub_query.role == SubQueryRole::Translation) {
        let translated = covered_by(&hits, &index.question_terms(&translation.text)?);
        return Ok(if translated.share > typed.share { translated } else { typed });
    }
    if !is_low(typed.share) || !is_foreign(index, &retrieved.query)? {
        return Ok(typed);
    }
    // The documents have none of its words anyway, except for identifiers.
    let mut identifiers = terms.content().iter().filter(|word| word.is_identifier).peekable();
    let is_absent = identifiers.peek().is_some() && identifiers.all(|word| !word.is_known());
    let named = terms.content().iter().filter(|word| word.is_identifier && !word.is_known());
    let absent_words = named.map(|word| clean_line(&word.word)).take(MAX_ABSENT_WORDS).collect();
    Ok(Covered { share: is_absent.then_some(0.0), absent_words })
}

fn covered_by(hits: &[StoredEvidence], terms: &QuestionTerms) -> Covered {
    let matched = hits.iter().flat_map(|hit| terms.matched(&hit.evidence, hit.indexed));
    let forms: BTreeSet<String> = matched.map(|matched| matched.term).collect();
    let absent = terms.content().iter().filter(|word| !word.is_known());
    let absent_words = absent.map(|word| clean_line(&word.word)).take(MAX_ABSENT_WORDS).collect();
    Covered { share: terms.coverage(&forms), absent_words }
}

/// Whether a question shows another language than that of most documents.
fn is_foreign(index: &Index, question: &str) -> Result<bool, RetrievalError> {
    let Some(language) = Language::detect(question) else { return Ok(false) };
    Ok(language != index.language()?)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use proptest::prelude::*;

    use super::super::{SearchInput, search, search_alone};
    use super::*;
    use ragonite_document::evidence::Kind;
    use ragonite_index::test_kit::{domain, ingest, page};
    use ragonite_inference::{Embed, Embedding, EncoderIdentity, InferenceError};

    /// A text about pumps is near to every document, an unrelated question less so, and any other text hardly.
    struct AboutPumps {
        identity: EncoderIdentity,
        embedded: AtomicUsize,
    }

    impl AboutPumps {
        fn new() -> Self {
            let identity = EncoderIdentity {
                model: "pumps".to_owned(),
                fingerprint: "f00d".to_owned(),
                dimensions: 8,
                max_tokens: 64,
            };
            Self { identity, embedded: AtomicUsize::new(0) }
        }

        fn embedded(&self) -> usize {
            self.embedded.load(Ordering::Relaxed)
        }
    }

    impl Embed for AboutPumps {
        fn identity(&self) -> &EncoderIdentity {
            &self.identity
        }

        fn count_tokens(&self, text: &str) -> Result<usize, InferenceError> {
            Ok(text.split_whitespace().count() + 2)
        }

        fn embed(&self, texts: &[&str], _: TextRole, _: &CancelToken) -> Result<Vec<Embedding>, InferenceError> {
            self.embedded.fetch_add(texts.len(), Ordering::Relaxed);
            let vector = |text: &&str| {
                let is_unrelated = ENGLISH.contains(text) || GERMAN.contains(text);
                let near: f32 = if text.to_lowercase().contains("pump") {
                    1.0
                } else if is_unrelated {
                    0.5
                } else {
                    0.1
                };
                let mut values = vec![0.0; 8];
                (values[0], values[1]) = (near, (1.0 - near * near).sqrt());
                Embedding::normalized(values)
            };
            Ok(texts.iter().map(vector).collect())
        }
    }

    fn about_pumps(embedder: &AboutPumps) -> (tempfile::TempDir, Index) {
        let (folder, mut index) = domain(embedder);
        let pages = [
            page("Pumps", &["Kolmet looks after the pump in the hut", "The pump was tested by the crew of the boat"]),
            page("Pump room", &["The pump room is behind the crane"]),
        ];
        ingest(&mut index, &pages, embedder).unwrap();
        (folder, index)
    }

    fn quality(question: &str, translated: Option<&str>, settings: &RetrievalSettings) -> MatchQuality {
        let embedder = AboutPumps::new();
        let (_folder, index) = about_pumps(&embedder);
        let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
        let input = SearchInput { question, completed: None, translated, earlier: &[], today: None };
        search(engines, &input, settings, &CancelToken::never()).unwrap().quality.unwrap()
    }

    fn verdict(question: &str, translated: Option<&str>) -> MatchVerdict {
        quality(question, translated, &RetrievalSettings::default()).verdict
    }

    #[test]
    fn nonsense_fits_no_document_and_its_words_are_named() {
        let nonsense = quality("How to frobnicate the zorp?", None, &RetrievalSettings::default());
        assert!(nonsense.is_no_match() && nonsense.is_far() && nonsense.is_uncovered());
        assert_eq!(nonsense.absent_words, ["frobnicate", "zorp"]);
    }

    #[test]
    fn a_question_with_the_words_of_the_documents_fits_and_needs_no_unrelated_questions() {
        let fitting = quality("Who tested the pump?", None, &RetrievalSettings::default());
        assert_eq!((fitting.verdict, fitting.unrelated_cosine), (MatchVerdict::Fits, None));
        assert!(fitting.best_cosine.unwrap() > 0.9 && fitting.coverage.unwrap() > 0.9);
        let always = RetrievalSettings { calibration: Calibration::Always, ..RetrievalSettings::default() };
        let measured = quality("Who tested the pump?", None, &always);
        assert_eq!(measured.verdict, MatchVerdict::Fits);
        assert!((measured.unrelated_cosine.unwrap() - 0.5).abs() < 0.05);
    }

    #[test]
    fn the_unrelated_questions_are_embedded_once_for_an_open_domain() {
        let embedder = AboutPumps::new();
        let (_folder, index) = about_pumps(&embedder);
        let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
        let embedded_for = |question: &str| {
            let before = embedder.embedded();
            search_alone(engines, question, &RetrievalSettings::default(), &CancelToken::never()).unwrap();
            embedder.embedded() - before
        };
        assert_eq!(embedded_for("Who tested the pump?"), 1);
        assert_eq!(embedded_for("How to frobnicate the zorp?"), 1 + ENGLISH.len() + GERMAN.len());
        assert_eq!(embedded_for("How to unfrobnicate the zorp?"), 1);
    }

    #[test]
    fn one_sign_alone_stops_no_question() {
        let near = quality("Where is the frobnicated zorp pump?", None, &RetrievalSettings::default());
        assert!(near.is_uncovered() && !near.is_far());
        assert_eq!(near.verdict, MatchVerdict::Fits);
        let far = quality("Who is Kolmet?", None, &RetrievalSettings::default());
        assert_eq!(far.verdict, MatchVerdict::Fits);
    }

    #[test]
    fn a_question_in_another_language_is_judged_by_its_translation_or_its_identifiers() {
        let german = "Wo ist das Zorpgerät?";
        assert_eq!(verdict(german, None), MatchVerdict::Fits, "its words say nothing");
        assert_eq!(verdict(german, Some("Where is the zorp device?")), MatchVerdict::NoMatch);
        assert_eq!(verdict(german, Some("Where is the crane?")), MatchVerdict::Fits);
        assert_eq!(verdict("Wo ist die ZX-9999?", None), MatchVerdict::NoMatch);
    }

    #[test]
    fn a_limited_search_claims_nothing() {
        let passages = RetrievalSettings { kinds: vec![Kind::Passage], ..RetrievalSettings::default() };
        let limited = quality("How to frobnicate the zorp?", None, &passages);
        assert_eq!((limited.verdict, limited.unrelated_cosine), (MatchVerdict::Fits, None));
    }

    #[test]
    fn without_dense_retrieval_nothing_is_claimed() {
        let by_words = RetrievalSettings { mode: super::super::Mode::Lexical, ..RetrievalSettings::default() };
        let found = quality("Who is the frobnicated zorp with the pump?", None, &by_words);
        assert_eq!((found.verdict, found.best_cosine), (MatchVerdict::Fits, None));
    }

    #[test]
    fn every_language_has_its_unrelated_questions() {
        for (questions, language) in [(ENGLISH, Language::English), (GERMAN, Language::German)] {
            for question in questions {
                assert_eq!(Language::of(question), language, "{question}");
            }
        }
    }

    #[test]
    fn an_older_record_has_no_quality_and_a_partial_one_is_read() {
        let read: MatchQuality = serde_json::from_str("{\"best_cosine\": 0.5}").unwrap();
        assert_eq!(read, MatchQuality { best_cosine: Some(0.5), ..MatchQuality::default() });
    }

    proptest! {
        #[test]
        fn a_quantile_is_one_of_the_numbers(mut numbers in proptest::collection::vec(-1.0_f64..1.0, 0..30)) {
            numbers.sort_by(f64::total_cmp);
            let found = quantile(&numbers, UNRELATED_QUANTILE);
            prop_assert_eq!(found.is_none(), numbers.is_empty());
            prop_assert!(found.is_none_or(|found| numbers.contains(&found)));
        }
    }
}
