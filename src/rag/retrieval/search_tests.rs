//! Tests of the search of a follow-up, on a small domain with an embedder without weights.

use super::*;
use crate::retrieval::tests::{added_up, close};
use crate::retrieval::{Copies, EarlierQuestion};
use ragonite_base::{CancelSource, CancelToken};
use ragonite_document::evidence::Kind;
use ragonite_index::test_kit::{WordEmbedder, domain, ingest, page};
use ragonite_index::{Index, Within};

fn wiki(embedder: &WordEmbedder) -> (tempfile::TempDir, Index) {
    let (folder, mut index) = domain(embedder);
    let pages = [
        page("Tests", &["Alice ran the TPM regression tests", "Bob wrote the TPM regression report in March"]),
        page("Travel", &["Trains are booked by the travel office", "The office opens in March"]),
    ];
    ingest(&mut index, &pages, embedder).unwrap();
    (folder, index)
}

fn search(conversation: &SearchInput<'_>, settings: &RetrievalSettings) -> Retrieved {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, index) = wiki(&embedder);
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    super::search(engines, conversation, settings, &CancelToken::never()).unwrap()
}

fn earlier(questions: &[&str]) -> Vec<EarlierQuestion> {
    questions.iter().map(|question| EarlierQuestion::from(*question)).collect()
}

fn asked(question: &str, before: &[&str]) -> Retrieved {
    let earlier = earlier(before);
    search(
        &SearchInput { question, completed: None, translated: None, earlier: &earlier, today: None },
        &RetrievalSettings::default(),
    )
}

#[test]
fn a_question_without_a_conversation_is_searched_as_ever() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, index) = wiki(&embedder);
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let (settings, never) = (RetrievalSettings::default(), CancelToken::never());
    let plain = search_alone(engines, "Who ran the TPM tests?", &settings, &never).unwrap();
    let conversation = SearchInput {
        question: "Who ran the TPM tests?",
        completed: None,
        translated: None,
        earlier: &[],
        today: None,
    };
    let first = super::search(engines, &conversation, &settings, &never).unwrap();
    assert!(first.sub_queries.is_empty());
    assert_eq!((first.hits, first.dense, first.lexical), (plain.hits, plain.dense, plain.lexical));
}

#[test]
fn a_follow_up_finds_the_page_of_its_conversation() {
    let alone = asked("Who opens that in March?", &[]);
    let found = asked("Who wrote that in March?", &["Who ran the TPM regression tests?"]);
    assert!(alone.sub_queries.is_empty());
    assert_eq!((found.hits[0].title.as_str(), found.hits[0].rank), ("Tests", 1));
    let roles: Vec<_> = found.sub_queries.iter().map(|sub_query| sub_query.role).collect();
    assert_eq!(roles, [SubQueryRole::Raw, SubQueryRole::History]);
    assert_eq!(found.sub_queries[0].standing, Dependence::Refers { word: "that".into() });
    assert_eq!((found.sub_queries[0].why, found.sub_queries[1].why), (WeightReason::Unsure, WeightReason::SameTopic));
    assert!(
        found
            .sub_queries
            .iter()
            .all(|sub_query| sub_query.weight > 0.0 && !sub_query.dense.is_empty() && !sub_query.lexical.is_empty())
    );
    assert!(found.hits.windows(2).all(|pair| pair[0].fused >= pair[1].fused));
}

#[test]
fn a_hit_says_which_text_found_it_and_what_that_gave() {
    let before = earlier(&["Who ran the TPM regression tests?"]);
    let conversation = SearchInput {
        question: "Who wrote that in March?",
        completed: Some("Who wrote the TPM regression report in March?"),
        translated: Some("Wer schrieb den TPM-Bericht?"),
        earlier: &before,
        today: None,
    };
    for fusion in [Fusion::Rrf, Fusion::Blend] {
        let found = search(&conversation, &RetrievalSettings { fusion, ..RetrievalSettings::default() });
        let roles: Vec<_> = found.sub_queries.iter().map(|sub_query| sub_query.role).collect();
        assert_eq!(roles, [SubQueryRole::Raw, SubQueryRole::Rewrite, SubQueryRole::Translation, SubQueryRole::History]);
        assert_eq!(found.hits[0].title, "Tests", "{fusion:?}");
        for hit in &found.hits {
            assert!(!hit.why.parts.is_empty());
            for part in &hit.why.parts {
                let sub_query = &found.sub_queries[part.query];
                let list = if part.retriever == Retriever::Dense { &sub_query.dense } else { &sub_query.lexical };
                let place = list.iter().find(|ranked| ranked.evidence == hit.evidence).unwrap();
                assert_eq!((part.role, part.rank, part.score), (sub_query.role, place.rank, place.score));
            }
            // So small a domain is in every list, so that nothing is left untold.
            let points = added_up(hit);
            assert!((points - hit.fused).abs() < close(fusion), "{fusion:?}: {points} and {}", hit.fused);
        }
    }
}

#[test]
fn by_ranks_a_text_counts_as_much_as_it_weighs() {
    let before = earlier(&["Who ran TPM regression tests with Alice?"]);
    let question = "Coming back to travel: which office books trains?";
    let conversation = SearchInput { question, completed: None, translated: None, earlier: &before, today: None };
    let found = search(&conversation, &RetrievalSettings { fusion: Fusion::Rrf, ..RetrievalSettings::default() });
    assert_eq!(found.hits[0].title, "Travel");
    let best = &found.hits[0].why.parts[0];
    assert!((best.points - found.sub_queries[best.query].weight / (60.0 + best.rank as f64)).abs() < 1e-12);
}

#[test]
fn coming_back_to_another_page_does_not_drag_the_last_one_along() {
    let found =
        asked("Coming back to travel: which office books trains?", &["Who ran TPM regression tests with Alice?"]);
    assert_eq!(found.hits[0].title, "Travel");
    assert_eq!((found.sub_queries[0].why, found.sub_queries[1].why), (WeightReason::Sure, WeightReason::OtherTopic));
    assert!(found.sub_queries[1].weight < found.sub_queries[0].weight / 2.0);
}

#[test]
fn a_short_question_that_leaves_the_topic_is_not_drowned_by_a_long_past() {
    let past = ["Who ran the TPM regression tests?", "Who wrote the TPM report?", "Which TPM tests did Alice run?"];
    let found = asked("By the way, what about trains?", &past);
    assert_eq!(found.sub_queries[0].standing, Dependence::Thin { words: 2 });
    assert_eq!(found.hits[0].title, "Travel", "{:?}", found.sub_queries);
    let stays = asked("What of trains?", &past);
    assert!(
        stays.sub_queries[0].weight < found.sub_queries[0].weight,
        "what is short and goes on says little by itself"
    );
}

#[test]
fn the_completed_question_is_a_leg_where_it_says_anything_else() {
    let before = earlier(&["Who ran the TPM tests?"]);
    let sub_queries = |completed| {
        let conversation = SearchInput {
            question: "And when? ",
            completed: Some(completed),
            translated: None,
            earlier: &before,
            today: None,
        };
        let found = search(&conversation, &RetrievalSettings::default());
        (found.query, found.sub_queries.into_iter().map(|sub_query| sub_query.role).collect::<Vec<_>>())
    };
    let (query, roles) = sub_queries("When did Alice run the TPM tests?");
    assert_eq!(query, "When did Alice run the TPM tests?");
    assert_eq!(roles, [SubQueryRole::Raw, SubQueryRole::Rewrite, SubQueryRole::History]);
    assert_eq!(
        sub_queries("And when?").1,
        [SubQueryRole::Raw, SubQueryRole::History],
        "the same text is not searched twice"
    );
}

#[test]
fn one_index_alone_is_searched_where_only_one_is_wanted() {
    let before = earlier(&["Who ran the TPM tests?"]);
    let conversation = SearchInput {
        question: "And who wrote the report?",
        completed: None,
        translated: None,
        earlier: &before,
        today: None,
    };
    let dense = search(&conversation, &RetrievalSettings { mode: Mode::Dense, ..RetrievalSettings::default() });
    assert!(dense.lexical.is_empty() && !dense.hits.is_empty());
    assert!(dense.hits.iter().all(|hit| hit.lexical_rank.is_none()));
    let lexical = search(&conversation, &RetrievalSettings { mode: Mode::Lexical, ..RetrievalSettings::default() });
    assert!(lexical.dense.is_empty() && !lexical.hits.is_empty());
    assert!(
        lexical.sub_queries.iter().all(|sub_query| sub_query.why != WeightReason::Sure),
        "one search alone has nothing to agree with"
    );
}

#[test]
fn odd_conversations_give_a_sensible_result() {
    let many: Vec<EarlierQuestion> = (0..40).map(|n| format!("Who ran TPM test {n}?").as_str().into()).collect();
    let long = "Who ran the TPM tests? ".repeat(900);
    for (question, before) in [("And now?", &many[..]), (long.as_str(), &many[..2]), ("?", &many[..1])] {
        let conversation = SearchInput { question, completed: None, translated: None, earlier: before, today: None };
        let found = search(&conversation, &RetrievalSettings::default());
        assert!(found.sub_queries.len() <= 9, "{}", found.sub_queries.len());
        assert_eq!(found.hits[0].title, "Tests");
    }
    assert!(asked(" \n", &["Who ran it?"]).hits.is_empty());
    let huge = "x".repeat(100_000);
    assert_eq!(asked("And TPM?", &[&huge]).sub_queries[1].text.len(), 400);
    let none = RetrievalSettings { top_k: 0, ..RetrievalSettings::default() };
    assert!(
        search(&SearchInput { question: "TPM", completed: None, translated: None, earlier: &many, today: None }, &none)
            .hits
            .is_empty()
    );
}

/// Two pages that say nearly the same, and one about something else.
fn meetings(embedder: &WordEmbedder) -> (tempfile::TempDir, Index) {
    let (folder, mut index) = domain(embedder);
    let pages = [
        page("Call 1", &["Alice and Bob joined the call", "The dial number of the call is 7"]),
        page("Call 2", &["Carol and Dave joined the call", "The dial number of the call is 9"]),
        page("Travel", &["Trains are booked by the travel office", "The office opens in March"]),
    ];
    ingest(&mut index, &pages, embedder).unwrap();
    (folder, index)
}

/// What `question` finds after one question about a call, whose answer cites the documents with these titles.
fn after_citing(question: &str, cited: &[&str], settings: &RetrievalSettings) -> Retrieved {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, index) = meetings(&embedder);
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let all = search_alone(engines, "call office", &RetrievalSettings::default(), &CancelToken::never()).unwrap();
    let citations: Vec<usize> =
        all.hits.iter().filter(|hit| cited.contains(&hit.title.as_str())).map(|hit| hit.rank).collect();
    let before = [EarlierQuestion::answered("Who joined the call?", &all.hits, &citations)];
    assert_eq!(before[0].cited.len(), cited.len(), "each document once");
    let conversation = SearchInput { question, completed: None, translated: None, earlier: &before, today: None };
    super::search(engines, &conversation, settings, &CancelToken::never()).unwrap()
}

#[test]
fn a_follow_up_looks_first_where_the_answer_before_came_from() {
    let settings = RetrievalSettings { copies: Copies::Keep, ..RetrievalSettings::default() };
    for title in ["Call 1", "Call 2"] {
        let found = after_citing("And the dial number?", &[title], &settings);
        assert_eq!(found.hits[0].title, title);
        assert!(found.hits[0].content.contains("dial number"), "{}", found.hits[0].content);
        for hit in &found.hits {
            assert_eq!(hit.why.cited > 0.0, hit.title == title, "{}", hit.title);
            assert!((added_up(hit) + hit.why.cited - hit.fused).abs() < close(Fusion::Blend));
        }
        assert_eq!(found.sub_queries[1].cited.len(), 1);
    }
    let (both, none) = (
        after_citing("And the dial number?", &["Call 1", "Call 2"], &settings),
        after_citing("And the dial number?", &[], &settings),
    );
    assert!(both.hits.iter().take(2).all(|hit| (hit.why.cited - both.hits[0].why.cited).abs() < 1e-12));
    assert!(none.hits.iter().all(|hit| hit.why.cited == 0.0));
}

#[test]
fn a_question_that_is_sure_of_another_document_goes_there_whatever_was_cited() {
    let found = after_citing("Which travel office has trains booked?", &["Call 1"], &RetrievalSettings::default());
    assert_eq!(found.hits[0].title, "Travel");
    assert!(found.hits.iter().any(|hit| hit.why.cited > 0.0), "what was cited is raised, and not above it");
}

#[test]
fn a_question_whose_words_lead_elsewhere_keeps_a_source_of_the_conversation() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, mut index) = domain(&embedder);
    let cities = ["Bonn", "Graz", "Turin", "Lyon", "Porto", "Malmo", "Derry"];
    let reports = cities.map(|city| page(city, &[&format!("The annual report is marked done in {city}")]));
    let call = page("Call 1", &["Alice and Bob joined the call"]);
    ingest(&mut index, &[&reports[..], &[call]].concat(), &embedder).unwrap();
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let settings = RetrievalSettings { copies: Copies::Keep, ..RetrievalSettings::default() };
    let first = search_alone(engines, "Who joined the call?", &settings, &CancelToken::never()).unwrap();
    assert_eq!(first.hits[0].title, "Call 1");
    let places = |citations: &[usize]| {
        let before = [EarlierQuestion::answered("Who was there?", &first.hits, citations)];
        let question = "Was the annual report marked done?";
        let conversation = SearchInput { question, completed: None, translated: None, earlier: &before, today: None };
        let found = super::search(engines, &conversation, &settings, &CancelToken::never()).unwrap();
        let call = found.hits.iter().find(|hit| hit.title == "Call 1").unwrap();
        (call.rank, call.why.place, found.hits.iter().filter(|hit| hit.why.place == PlaceReason::Kept).count())
    };
    let (rank, place, _) = places(&[]);
    assert!(rank > 5 && place == PlaceReason::Score, "{rank}");
    assert_eq!(places(&[1]), (5, PlaceReason::Kept, 1));
}

#[test]
fn what_was_cited_brings_in_nothing_that_is_not_looked_among() {
    let rows = RetrievalSettings { kinds: vec![Kind::Row], ..RetrievalSettings::default() };
    assert!(after_citing("And the dial number?", &["Call 1"], &rows).hits.is_empty());
    let within = Within { document: Some("call 2".into()), ..Within::default() };
    let found = after_citing("And the dial number?", &["Call 1"], &RetrievalSettings { within, ..Default::default() });
    assert!(!found.hits.is_empty() && found.hits.iter().all(|hit| hit.title == "Call 2" && hit.why.cited == 0.0));
}

#[test]
fn what_says_the_same_as_a_cited_source_is_cited_with_it() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, mut index) = domain(&embedder);
    let text = "Alice and Bob joined the call about the TPM tests in March and wrote the report";
    ingest(&mut index, &[page("Call 2024", &[text]), page("Call 2025", &[text])], &embedder).unwrap();
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let found =
        search_alone(engines, "Who joined the call?", &RetrievalSettings::default(), &CancelToken::never()).unwrap();
    assert_eq!((found.hits.len(), found.hits[0].copies.len()), (1, 1));
    let earlier = EarlierQuestion::answered("Who joined the call?", &found.hits, &[1]);
    assert_eq!(earlier.cited, [found.hits[0].document, found.hits[0].copies[0].document]);
}

#[test]
fn by_ranks_the_texts_alone_decide() {
    let settings = RetrievalSettings { fusion: Fusion::Rrf, ..RetrievalSettings::default() };
    let (cited, none) =
        (after_citing("And the number?", &["Call 2"], &settings), after_citing("And the number?", &[], &settings));
    assert_eq!(cited.hits, none.hits);
}

#[test]
fn an_empty_domain_gives_no_hits_and_a_cancelled_search_says_so() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, index) = domain(&embedder);
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let before = earlier(&["Who ran it?"]);
    let conversation =
        SearchInput { question: "And TPM?", completed: None, translated: None, earlier: &before, today: None };
    let settings = RetrievalSettings::default();
    assert!(super::search(engines, &conversation, &settings, &CancelToken::never()).unwrap().hits.is_empty());
    let source = CancelSource::default();
    source.cancel();
    let error = super::search(engines, &conversation, &settings, &source.token()).unwrap_err();
    assert!(matches!(error, RetrievalError::Canceled(_)));
}

#[test]
fn a_trace_without_legs_reads_as_one_of_a_single_question() {
    let mut json = serde_json::to_value(asked("Who ran it?", &["Who ran the TPM tests?"])).unwrap();
    json.as_object_mut().unwrap().remove("legs");
    assert!(serde_json::from_value::<Retrieved>(json).unwrap().sub_queries.is_empty());
}

#[test]
fn a_translation_is_searched_beside_a_first_question_too() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, index) = wiki(&embedder);
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let ask = |translated| {
        let question = "Welches Büro bucht Züge?";
        let conversation = SearchInput { question, completed: Some(question), translated, earlier: &[], today: None };
        super::search(engines, &conversation, &RetrievalSettings::default(), &CancelToken::never()).unwrap()
    };
    assert!(ask(None).sub_queries.is_empty());
    let found = ask(Some("Which travel office has trains booked?"));
    let roles: Vec<_> = found.sub_queries.iter().map(|sub_query| sub_query.role).collect();
    assert_eq!(roles, [SubQueryRole::Raw, SubQueryRole::Translation]);
    assert_eq!(found.hits[0].title, "Travel");
    assert_eq!(found.query, "Welches Büro bucht Züge?", "the answer is to the question as typed");
    assert!(found.hits[0].why.matched.contains(&"trains".to_owned()), "{:?}", found.hits[0].why.matched);
    let (same, alone) = (ask(Some("Welches Büro bucht Züge")), ask(None));
    assert_eq!((same.sub_queries.len(), same.hits), (0, alone.hits), "a translation that says the same is none");
}

/// Keeps what it was asked to compare with.
#[derive(Default)]
struct Listening(std::sync::Mutex<Vec<String>>);

impl ragonite_inference::Rerank for Listening {
    fn model(&self) -> &'static str {
        "listening"
    }

    fn score(
        &self,
        question: &str,
        texts: &[&str],
        _cancel: &CancelToken,
    ) -> Result<Vec<f32>, ragonite_inference::InferenceError> {
        self.0.lock().unwrap().push(question.to_owned());
        Ok(vec![0.0; texts.len()])
    }
}

#[test]
fn the_reranker_reads_the_completed_question_or_the_one_before_a_bare_follow_up() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, index) = wiki(&embedder);
    let before = earlier(&["Who ran the TPM regression tests?"]);
    for (question, completed, read) in [
        ("And when?", Some("When did Alice run the TPM tests?"), "When did Alice run the TPM tests?"),
        ("And when?", Some("And when?"), "Who ran the TPM regression tests? And when?"),
        ("And when?", None, "Who ran the TPM regression tests? And when?"),
        ("Who wrote the TPM regression report?", None, "Who wrote the TPM regression report?"),
    ] {
        let reranker = Listening::default();
        let engines = SearchContext { index: &index, embedder: &embedder, reranker: Some(&reranker) };
        let conversation = SearchInput { question, completed, translated: None, earlier: &before, today: None };
        super::search(engines, &conversation, &RetrievalSettings::default(), &CancelToken::never()).unwrap();
        assert_eq!(*reranker.0.lock().unwrap(), [read]);
    }
}
