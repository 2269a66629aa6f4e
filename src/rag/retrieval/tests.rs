//! Tests of a whole search, on a small domain with an embedder without weights.

use super::*;
use ragonite_base::{CancelSource, CancelToken};
use ragonite_document::evidence::{ContextParts, EvidenceSettings, Kind, TableGrid};
use ragonite_index::test_kit::{Page, WordEmbedder, domain, ingest, page};
use ragonite_index::{Index, IndexError, IndexSettings, IngestRequest, Missing};
use ragonite_inference::{InferenceError, Rerank};

/// Scores by length: the longest text is the most relevant one.
struct LongestFirst;

impl Rerank for LongestFirst {
    fn model(&self) -> &'static str {
        "longest-first"
    }

    fn score(&self, _question: &str, texts: &[&str], _cancel: &CancelToken) -> Result<Vec<f32>, InferenceError> {
        Ok(texts.iter().map(|text| text.len() as f32 / 1000.0).collect())
    }
}

fn wiki(embedder: &WordEmbedder) -> (tempfile::TempDir, Index) {
    let (folder, mut index) = domain(embedder);
    let pages = [
        page("Tests", &["Alice ran the TPM tests", "Bob wrote the TPM report about every single machine in the lab"]),
        page("Travel", &["Trains are booked by the office"]),
    ];
    ingest(&mut index, &pages, embedder).unwrap();
    (folder, index)
}

fn search(query: &str, settings: &RetrievalSettings) -> Retrieved {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, index) = wiki(&embedder);
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    search_alone(engines, query, settings, &CancelToken::never()).unwrap()
}

fn by(fusion: Fusion) -> RetrievalSettings {
    RetrievalSettings { fusion, ..RetrievalSettings::default() }
}

/// What the votes of a hit add up to; the sum of those by meaning counts nothing where it is below 0.
pub(super) fn added_up(hit: &Hit) -> f64 {
    let of = |sub_query| {
        hit.why.parts.iter().filter(|part| part.retriever == sub_query).map(|part| part.points).sum::<f64>()
    };
    of(Retriever::Dense).max(0.0) + of(Retriever::Lexical)
}

/// How near the points of a fusion come to its score: embeddings have numbers of 32 bits.
pub(super) fn close(fusion: Fusion) -> f64 {
    match fusion {
        Fusion::Rrf => 1e-12,
        Fusion::Blend => 1e-5,
    }
}

#[test]
fn a_hit_carries_its_ranks_and_scores_of_both_legs() {
    let retrieved = search("Who ran the TPM tests?", &by(Fusion::Rrf));
    assert_eq!((retrieved.dense.len(), retrieved.lexical.len(), retrieved.hits.len()), (3, 2, 3));
    let best = &retrieved.hits[0];
    assert_eq!((best.rank, best.content.as_str()), (1, "Alice ran the TPM tests"));
    assert_eq!((best.title.as_str(), best.heading.as_str(), best.url.as_str()), ("Tests", "Notes", "/wiki/Tests"));
    assert_eq!(best.text, "Tests\nNotes\nAlice ran the TPM tests");
    assert_eq!((best.dense_rank, best.lexical_rank, best.rerank_score), (Some(1), Some(1), None));
    assert!((best.fused - 2.0 / 61.0).abs() < 1e-12);
    assert_eq!(best.dense_score, Some(retrieved.dense[0].score));
    assert!(best.dense_score.is_some_and(|score| score > 0.0 && score <= 1.0 + 1e-6));
    let last = &retrieved.hits[2];
    assert_eq!((last.rank, last.lexical_rank, last.lexical_score), (3, None, None));
}

#[test]
fn what_is_in_the_lists_and_no_hit_is_named() {
    let found = search("Who ran the TPM tests?", &RetrievalSettings { top_k: 1, ..by(Fusion::Rrf) });
    let listed = found.dense.iter().chain(&found.lexical).map(|ranked| ranked.evidence);
    let others: std::collections::BTreeSet<_> = listed.filter(|evidence| *evidence != found.hits[0].evidence).collect();
    assert_eq!((found.hits.len(), others.len()), (1, 2));
    assert!(found.discarded.iter().map(|passed| passed.evidence).eq(others), "each once, by id");
    let titles: Vec<(&str, &str)> = found.discarded.iter().map(|one| (&*one.title, &*one.heading)).collect();
    assert_eq!(titles, [("Tests", "Notes"), ("Travel", "Notes")]);
    assert!(search("Who ran the TPM tests?", &by(Fusion::Rrf)).discarded.is_empty(), "all are hits");
}

#[test]
fn a_hit_says_why_it_is_there() {
    for fusion in [Fusion::Rrf, Fusion::Blend] {
        let retrieved = search("Who ran the TPM tests?", &by(fusion));
        let why = &retrieved.hits[0].why;
        assert_eq!((why.fused_rank, why.matched.join(" ").as_str()), (1, "ran tpm tests"));
        for hit in &retrieved.hits {
            let points = added_up(hit);
            assert!((points - hit.fused).abs() < close(fusion), "{fusion:?}: {points} and {}", hit.fused);
            assert!((hit.why.fused_score - hit.fused).abs() < 1e-12);
            assert!(hit.why.parts.iter().all(|part| (part.query, part.role) == (0, SubQueryRole::Raw)));
        }
    }
}

#[test]
fn the_place_by_the_searches_alone_outlives_reranking() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, index) = wiki(&embedder);
    let ask = |reranker: Option<&dyn Rerank>, fusion| {
        let engines = SearchContext { index: &index, embedder: &embedder, reranker };
        search_alone(engines, "Who ran the TPM tests?", &by(fusion), &CancelToken::never()).unwrap().hits
    };
    for fusion in [Fusion::Rrf, Fusion::Blend] {
        let plain = ask(None, fusion);
        let reranked = ask(Some(&LongestFirst), fusion);
        assert!(plain.iter().all(|hit| hit.why.fused_rank == hit.rank));
        for hit in &reranked {
            let before = plain.iter().find(|other| other.evidence == hit.evidence).unwrap();
            assert_eq!(hit.why.fused_rank, before.rank);
            assert!((hit.why.fused_score - before.fused).abs() < 1e-12);
            assert_eq!(hit.why.parts, before.why.parts);
            assert!(hit.rerank_score.is_some());
        }
        assert!(reranked.iter().any(|hit| hit.why.fused_rank != hit.rank), "{reranked:?}");
    }
}

#[test]
fn a_hit_that_only_the_words_found_has_the_cosine_that_counted() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, mut index) = domain(&embedder);
    let notes: Vec<String> = (0..70).map(|n| format!("TPM TPM TPM tests tests {n}")).collect();
    let far = "Zenith of the many other words of which none has anything to do with what is asked, TPM tests zenith";
    let pages =
        [page("Tests", &notes.iter().map(String::as_str).collect::<Vec<_>>()), page("Zenith", &[far, "Other zenith"])];
    ingest(&mut index, &pages, &embedder).unwrap();
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let settings = RetrievalSettings { copies: Copies::Keep, ..by(Fusion::Blend) };
    let hits = search_alone(engines, "TPM TPM tests tests zenith", &settings, &CancelToken::never()).unwrap().hits;
    let only_words: Vec<_> = hits.iter().filter(|hit| hit.dense_rank.is_none()).collect();
    assert!(!only_words.is_empty(), "{hits:?}");
    assert!(only_words.iter().all(|hit| hit.dense_score.is_some() && hit.lexical_rank.is_some()));
}

#[test]
fn a_version_stands_behind_another_unless_the_question_names_its_year() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, mut index) = domain(&embedder);
    let text = "When a limit is passed the crew returns to the harbour";
    let pages = [page("Field Policy 2024", &[text]), page("Field Policy 2025", &[text])];
    ingest(&mut index, &pages, &embedder).unwrap();
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let ask = |question: &str, settings: &RetrievalSettings| {
        search_alone(engines, question, settings, &CancelToken::never()).unwrap().hits
    };
    let hits = ask("When does the crew return to the harbour?", &RetrievalSettings::default());
    let copies: Vec<_> = hits.iter().flat_map(|hit| &hit.copies).map(|copied| copied.relation).collect();
    assert_eq!((hits.len(), copies), (1, vec![Relation::Version]));
    for (year, title) in [("2024", "Field Policy 2024"), ("2025", "Field Policy 2025")] {
        let question = format!("When does the crew return to the harbour under the field policy {year}?");
        assert_eq!(ask(&question, &RetrievalSettings::default())[0].title, title);
    }
    let kept = RetrievalSettings { copies: Copies::Keep, ..RetrievalSettings::default() };
    assert_eq!(ask("When does the crew return?", &kept).len(), 2);
}

#[test]
fn one_leg_alone_leaves_the_other_empty() {
    let dense = search("TPM", &RetrievalSettings { mode: Mode::Dense, ..RetrievalSettings::default() });
    assert!(dense.lexical.is_empty() && dense.hits.iter().all(|hit| hit.lexical_rank.is_none()));
    let lexical = search("TPM", &RetrievalSettings { mode: Mode::Lexical, ..RetrievalSettings::default() });
    assert!(lexical.dense.is_empty() && lexical.hits.len() == 2);
    assert!((lexical.hits[0].fused - 1.0).abs() < 1e-12, "the best of the only list");
    let by_rank = search("TPM", &RetrievalSettings { mode: Mode::Lexical, ..by(Fusion::Rrf) });
    assert!((by_rank.hits[0].fused - 1.0 / 61.0).abs() < 1e-12);
}

#[test]
fn only_the_chosen_context_is_in_the_text_and_top_k_cuts_the_hits() {
    let settings = RetrievalSettings { top_k: 1, context: ContextParts::TITLE, ..RetrievalSettings::default() };
    let retrieved = search("Who ran the TPM tests?", &settings);
    assert_eq!(retrieved.hits.len(), 1);
    assert_eq!(retrieved.hits[0].text, "Tests\nAlice ran the TPM tests");
    assert_eq!(retrieved.dense.len(), 3);
}

#[test]
fn context_can_be_left_out_at_query_time_whatever_was_indexed() {
    let embedder = WordEmbedder::new("f00d");
    for indexed in [ContextParts::ALL, ContextParts::NONE, ContextParts::TITLE] {
        let (folder, mut index) = domain(&embedder);
        let file = folder.path().join("travel.md");
        std::fs::write(&file, "# Travel\n\n## Notes\n\nTrains are booked by the office.\n").unwrap();
        let request = IngestRequest {
            paths: &[file],
            evidence: &EvidenceSettings::default(),
            index: &IndexSettings { context: indexed },
            missing: Missing::Keep,
        };
        index.ingest(&request, &embedder, &CancelToken::never(), &mut |_| {}).unwrap();
        let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
        for (shown, text) in [
            (ContextParts::ALL, "Travel\nNotes\nTrains are booked by the office."),
            (ContextParts::HEADING, "Notes\nTrains are booked by the office."),
            (ContextParts::NONE, "Trains are booked by the office."),
        ] {
            let settings = RetrievalSettings { context: shown, ..RetrievalSettings::default() };
            let retrieved = search_alone(engines, "booked trains", &settings, &CancelToken::never()).unwrap();
            assert_eq!(retrieved.hits[0].text, text, "indexed with {indexed}");
            assert_eq!(retrieved.hits[0].context.title, "Travel", "the screen can still dim what is left out");
        }
        let by_title = RetrievalSettings { mode: Mode::Lexical, ..RetrievalSettings::default() };
        let found = search_alone(engines, "travel", &by_title, &CancelToken::never()).unwrap();
        assert_eq!(found.hits.len(), usize::from(indexed.contains(ContextParts::TITLE)));
    }
}

#[test]
fn only_the_wanted_kinds_are_found_and_as_many_of_them_as_asked() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, mut index) = domain(&embedder);
    let notes: Vec<String> = (0..40).map(|n| format!("TPM tests, note {n}")).collect();
    let mut tests = page("Tests", &notes.iter().map(String::as_str).collect::<Vec<_>>());
    let header = vec!["Machine".to_owned(), "Result".to_owned()];
    let rows = (0..12).map(|n| vec![format!("board {n} of the lab"), "passed".to_owned()]).collect();
    tests.table = Some(TableGrid { number: 1, caption: String::new(), header, rows });
    ingest(&mut index, &[tests], &embedder).unwrap();
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let settings = RetrievalSettings { kinds: vec![Kind::Row], ..RetrievalSettings::default() };
    let retrieved = search_alone(engines, "TPM tests, board 3", &settings, &CancelToken::never()).unwrap();
    assert!(retrieved.hits.iter().all(|hit| hit.kind == Kind::Row));
    assert_eq!((retrieved.dense.len(), retrieved.lexical.len(), retrieved.hits.len()), (10, 10, 10));
    let none = RetrievalSettings { kinds: vec![Kind::List], ..RetrievalSettings::default() };
    assert!(search_alone(engines, "TPM", &none, &CancelToken::never()).unwrap().hits.is_empty());
}

#[test]
fn a_reranker_is_fused_with_the_order_of_the_pool() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, index) = wiki(&embedder);
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: Some(&LongestFirst) };
    let settings = RetrievalSettings { mode: Mode::Lexical, ..RetrievalSettings::default() };
    let retrieved = search_alone(engines, "TPM tests", &settings, &CancelToken::never()).unwrap();
    let hits: Vec<_> = retrieved.hits.iter().map(|hit| (hit.lexical_rank, hit.rerank_score.is_some())).collect();
    // Each is first in one ranking and second in the other; the tie goes to the lower id.
    assert_eq!(hits, [(Some(1), true), (Some(2), true)]);
    assert!((retrieved.hits[0].fused - (1.0 / 61.0 + 1.0 / 62.0)).abs() < 1e-12);
}

#[test]
fn odd_questions_give_a_sensible_result() {
    for nothing in ["", " \n\t "] {
        assert!(search(nothing, &RetrievalSettings::default()).hits.is_empty());
    }
    assert!(!search("?!", &RetrievalSettings::default()).hits.is_empty(), "the embedding still finds something");
    let long = "Who ran the TPM tests? ".repeat(900);
    assert!(long.len() > 20_000);
    let retrieved = search(&long, &RetrievalSettings::default());
    assert_eq!(retrieved.hits[0].content, "Alice ran the TPM tests");
    assert_eq!(retrieved.query, long.trim());
    let many = RetrievalSettings { top_k: 1_000_000, ..RetrievalSettings::default() };
    assert_eq!(search("TPM", &many).hits.len(), 3);
    let none = RetrievalSettings { top_k: 0, ..RetrievalSettings::default() };
    assert!(search("TPM", &none).hits.is_empty());
}

#[test]
fn an_empty_domain_gives_no_hits() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, index) = domain(&embedder);
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: Some(&LongestFirst) };
    let retrieved = search_alone(engines, "TPM", &RetrievalSettings::default(), &CancelToken::never()).unwrap();
    assert!(retrieved.hits.is_empty() && retrieved.dense.is_empty() && retrieved.lexical.is_empty());
}

#[test]
fn a_cancelled_search_says_so() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, index) = wiki(&embedder);
    let source = CancelSource::default();
    source.cancel();
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let error = search_alone(engines, "TPM", &RetrievalSettings::default(), &source.token()).unwrap_err();
    assert!(matches!(error, RetrievalError::Canceled(_)));
    let canceled = IndexError::Canceled(ragonite_base::Canceled);
    assert!(matches!(RetrievalError::from(canceled), RetrievalError::Canceled(_)));
}

#[test]
fn the_settings_have_defaults_and_refuse_unknown_keys_and_words() {
    let settings: RetrievalSettings = serde_json::from_str(r#"{"mode":"dense"}"#).unwrap();
    assert_eq!(settings, RetrievalSettings { mode: Mode::Dense, ..RetrievalSettings::default() });
    assert!(serde_json::from_str::<RetrievalSettings>(r#"{"perleg":3}"#).is_err());
    assert_eq!(serde_json::from_str::<RetrievalSettings>(r#"{"fusion":"rrf"}"#).unwrap(), by(Fusion::Rrf));
    assert!(serde_json::from_str::<RetrievalSettings>(r#"{"fusion":"sum"}"#).is_err());
}

#[test]
fn of_two_versions_of_a_page_that_say_something_else_the_newer_comes_first_and_the_older_is_marked() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, mut index) = domain(&embedder);
    let said = |tons: u32| format!("When the load of the crane passes {tons} tons the crew returns to the harbour");
    let pages =
        [page("Crane rules 2024", &[&said(10)]), page("Crane rules 2025", &[&said(12)]), page("Ships", &["Load"])];
    ingest(&mut index, &pages, &embedder).unwrap();
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let ask = |question: &str, settings: &RetrievalSettings| {
        let hits = search_alone(engines, question, settings, &CancelToken::never()).unwrap().hits;
        hits.into_iter().filter(|hit| hit.title != "Ships").collect::<Vec<_>>()
    };
    let load = "At which load does the crew return to the harbour?";
    let hits = ask(load, &RetrievalSettings::default());
    let (first, second) = (&hits[0], &hits[1]);
    assert_eq!((first.title.as_str(), second.title.as_str()), ("Crane rules 2025", "Crane rules 2024"));
    let newest = first.evidence;
    assert_eq!(first.version, Some(Version { age: Age::Newest, wanted: Preference::Yes, newest }));
    assert_eq!(
        second.version,
        Some(Version { age: Age::Older, wanted: Preference::Yes, newest }),
        "its title tells it"
    );
    assert!(first.fused >= second.fused);
    let named = ask("At which load did the crew return to the harbour in 2024?", &RetrievalSettings::default());
    assert_eq!(named[0].title, "Crane rules 2024");
    let past = ask("At which load did the crew previously return to the harbour?", &RetrievalSettings::default());
    assert_eq!((past[0].title.as_str(), past[0].version.unwrap().age), ("Crane rules 2024", Age::Older));
    let kept = RetrievalSettings { copies: Copies::Keep, ..RetrievalSettings::default() };
    assert!(ask(load, &kept).iter().all(|hit| hit.version.is_none()));
}

#[test]
fn a_question_with_a_slip_one_with_only_an_identifier_and_one_about_what_a_page_said_before_find_their_page() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, mut index) = domain(&embedder);
    let boards = |text: &str| page("Boards", &[text, "Defect OXT-1654 is in the antenna of board Kestrel-B2"]);
    let other = page("Travel", &["Trains are booked by the office", "Defect OXT-1655 is in the booking"]);
    ingest(&mut index, &[boards("The modem of the board runs firmware 3.4"), other.clone()], &embedder).unwrap();
    ingest(&mut index, &[boards("The modem of the board runs firmware 3.5"), other], &embedder).unwrap();
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let settings = RetrievalSettings { mode: Mode::Lexical, ..RetrievalSettings::default() };
    let best = |question: &str| {
        let hits = search_alone(engines, question, &settings, &CancelToken::never()).unwrap().hits;
        hits.first().map(|hit| hit.content.clone()).unwrap_or_default()
    };
    assert_eq!(best("What is wrong with the antena?"), "Defect OXT-1654 is in the antenna of board Kestrel-B2");
    assert_eq!(best("OXT-1654"), "Defect OXT-1654 is in the antenna of board Kestrel-B2");
    assert_eq!(best("kestrel-b2"), "Defect OXT-1654 is in the antenna of board Kestrel-B2");
    // What the page said yesterday is gone; what it says now is found.
    assert_eq!(best("Which modem firmware was 3.4?"), "The modem of the board runs firmware 3.5");
}

#[test]
fn what_has_the_identifier_that_is_asked_for_comes_first() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, mut index) = domain(&embedder);
    let near = ["OXT OXT defects of the OXT board", "OXT lists of the OXT", "The OXT process, OXT and OXT"];
    let pages =
        [page("OXT", &near), page("Log", &["Closed with many others, see OXT-1654 and the lists of last year"])];
    ingest(&mut index, &pages, &embedder).unwrap();
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: Some(&LongestFirst) };
    for question in ["OXT-1654", "What is oxt-1654 about?"] {
        let hits = search_alone(engines, question, &RetrievalSettings::default(), &CancelToken::never()).unwrap().hits;
        assert!(hits[0].content.starts_with("Closed"), "{question}: {}", hits[0].content);
        assert_eq!(hits.len(), 4, "the others are still there");
    }
}

#[test]
fn what_has_an_identifier_itself_comes_before_what_stands_beside_it() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, mut index) = domain(&embedder);
    let log = page("Log", &["Pumps and valves of the harbour", "The seal of QX-77 is worn", "Crews of the harbour"]);
    ingest(&mut index, &[log], &embedder).unwrap();
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: Some(&LongestFirst) };
    let hits = search_alone(engines, "QX-77", &RetrievalSettings::default(), &CancelToken::never()).unwrap().hits;
    assert!(hits[0].content.starts_with("The seal"), "{}", hits[0].content);
}

#[test]
fn an_identifier_comes_first_in_a_conversation_and_in_another_language_too() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, mut index) = domain(&embedder);
    let near = ["OXT OXT defects of the OXT board", "OXT lists of the OXT", "The OXT process, OXT and OXT"];
    let pages =
        [page("OXT", &near), page("Log", &["Closed with many others, see OXT-1654 and the lists of last year"])];
    ingest(&mut index, &pages, &embedder).unwrap();
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let before = [EarlierQuestion { question: "Which defects of the OXT board are there?".into(), cited: Vec::new() }];
    let asked = |question, completed, translated, earlier| SearchInput {
        question,
        completed,
        translated,
        earlier,
        today: None,
    };
    for conversation in [
        asked("OXT-1654", None, None, &before[..]),
        asked("OXT-1654", Some("What does the OXT process say of OXT-1654?"), None, &before),
        asked("Was ist OXT-1654?", None, Some("What is the OXT-1654 process?"), &[]),
    ] {
        let settings = RetrievalSettings::default();
        let hits = super::search(engines, &conversation, &settings, &CancelToken::never()).unwrap().hits;
        assert!(hits[0].content.starts_with("Closed"), "{conversation:?}: {}", hits[0].content);
    }
}

#[test]
fn what_is_too_far_down_to_be_reranked_stays_below() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, mut index) = domain(&embedder);
    let texts: Vec<String> = (0..60).map(|number| format!("board {}{number}", "long ".repeat(number))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    ingest(&mut index, &[page("Boards", &texts)], &embedder).unwrap();
    let engines = |reranker| SearchContext { index: &index, embedder: &embedder, reranker };
    let settings = RetrievalSettings { top_k: 40, ..RetrievalSettings::default() };
    let (two, forty) = (RetrievalSettings { top_k: 2, ..settings.clone() }, settings);
    let scored = |settings: &RetrievalSettings| {
        let hits = search_alone(engines(Some(&LongestFirst)), "board", settings, &CancelToken::never()).unwrap().hits;
        hits.iter().filter(|hit| hit.rerank_score.is_some()).count()
    };
    assert_eq!((scored(&two), scored(&forty)), (2, 40));
    let plain = search_alone(engines(None), "board", &forty, &CancelToken::never()).unwrap().hits;
    assert_eq!(plain.len(), 40);
}

fn pick(hit: &Hit, how: OverrideKind) -> Override {
    let copies = hit.copies.iter().map(|copied| copied.evidence).collect();
    Override { how, evidence: hit.evidence, document: hit.document, name: hit.title.clone(), copies }
}

#[test]
fn what_is_left_out_is_no_hit_and_the_others_move_up() {
    for fusion in [Fusion::Rrf, Fusion::Blend] {
        let all = search("Who ran the TPM tests?", &by(fusion)).hits;
        let ask = |how| {
            let picks = vec![pick(&all[0], how)];
            search("Who ran the TPM tests?", &RetrievalSettings { picks, ..by(fusion) }).hits
        };
        let contents = |hits: &[Hit]| hits.iter().map(|hit| (hit.rank, hit.content.clone())).collect::<Vec<_>>();
        let without = ask(OverrideKind::LeftOut);
        let expected = all[1..].iter().map(|hit| (hit.rank - 1, hit.content.clone())).collect::<Vec<_>>();
        assert_eq!(contents(&without), expected, "{fusion:?}");
        let without_page = ask(OverrideKind::PageLeftOut);
        assert_eq!(contents(&without_page), [(1, "Trains are booked by the office".to_owned())]);
    }
}

#[test]
fn what_comes_first_does_so_also_where_the_search_does_not_find_it() {
    let all = search("Who ran the TPM tests?", &by(Fusion::Blend)).hits;
    let last = all.last().unwrap();
    for mode in [Mode::Hybrid, Mode::Lexical] {
        let picks = vec![pick(last, OverrideKind::First)];
        let settings = RetrievalSettings { picks, mode, top_k: 2, ..RetrievalSettings::default() };
        let hits = search("Who ran the TPM tests?", &settings).hits;
        assert_eq!((hits.len(), hits[0].rank, hits[0].evidence), (2, 1, last.evidence));
        assert_eq!((hits[1].rank, hits[1].evidence), (2, all[0].evidence));
    }
}

#[test]
fn what_a_page_said_on_a_day_is_found_in_its_snapshots_and_follow_ups_keep_the_day() {
    const BEFORE: &str = "When the load passes 10 tons, the crane stops and the crew returns to the harbour.";
    const SINCE: &str = "When the load passes 12 tons, the crane stops and the crew returns to the harbour.";
    let embedder = WordEmbedder::new("f00d");
    let (_folder, mut index) = domain(&embedder);
    let of = |name: &str, day: &str, text| Page { date: Some(day.to_owned()), ..page(name, &[text]) };
    let pages = [
        of("Crane v1", "2026-11-20", BEFORE),
        of("Crane v2", "2026-11-21", BEFORE),
        of("Crane v3", "2026-11-22", BEFORE),
        of("Crane v4", "2026-11-23", SINCE),
    ];
    ingest(&mut index, &pages, &embedder).unwrap();
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let before = [EarlierQuestion { question: "Who drives the crane?".into(), cited: Vec::new() }];
    let ask = |question, completed, earlier| {
        let today = Some(time::macros::date!(2026 - 11 - 24));
        let conversation = SearchInput { question, completed, translated: None, earlier, today };
        super::search(engines, &conversation, &RetrievalSettings::default(), &CancelToken::never()).unwrap()
    };
    let now = "At which load does the crane stop?";
    for (question, completed, earlier, says) in [
        (now, None, &[][..], SINCE),
        ("At which load did the crane stop yesterday?", None, &[], SINCE),
        ("At which load did the crane stop 3 days ago?", None, &[], BEFORE),
        ("At which load did the crane stop four days ago?", None, &[], BEFORE),
        ("And 4 days ago?", Some(now), &before, BEFORE),
    ] {
        let found = ask(question, completed, earlier);
        assert_eq!(found.hits[0].content, says, "{question}");
        assert!(found.for_prompt(1)[0].content == says, "{question}");
        assert_eq!(found.day.is_some(), question != now);
        let stored = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<Retrieved>(&stored).unwrap().day, found.day);
    }
}

#[test]
fn letters_in_two_characters_are_found_by_words() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, mut index) = domain(&embedder);
    ingest(&mut index, &[page("Hafen", &["Die Größe der Boje", "Der Kran ist rot"])], &embedder).unwrap();
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let found = search_alone(engines, "Gro\u{308}ße", &RetrievalSettings::default(), &CancelToken::never()).unwrap();
    assert_eq!(found.hits[0].lexical_rank, Some(1));
    assert_eq!(found.hits[0].content, "Die Größe der Boje");
}

#[test]
fn the_line_that_no_document_fits_names_the_words_that_no_document_has() {
    let line = |verdict, absent: &[&str]| {
        let absent_words = absent.iter().map(|word| (*word).to_owned()).collect();
        let quality = Some(MatchQuality { absent_words, verdict, ..MatchQuality::default() });
        Retrieved { quality, ..Retrieved::default() }.no_match_line()
    };
    let none = MatchVerdict::NoMatch;
    assert_eq!(line(none, &[]).as_deref(), Some("No document fits this question."));
    let one = "No document fits this question: its word `zorp` is in no document.";
    assert_eq!(line(none, &["zorp"]).as_deref(), Some(one));
    let two = "No document fits this question: its words `frobnicate`, `zorp` are in no document.";
    assert_eq!(line(none, &["frobnicate", "zorp"]).as_deref(), Some(two));
    assert_eq!(line(MatchVerdict::Fits, &["zorp"]), None);
    assert_eq!(Retrieved::default().no_match_line(), None);
}
