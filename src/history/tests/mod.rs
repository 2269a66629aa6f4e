//! The history on real files.

mod exporting;
mod keeping;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rusqlite::Connection;
use tempfile::TempDir;
use time::OffsetDateTime;
use time::macros::datetime;
use unicode_width::UnicodeWidthStr;

use super::*;
use ragonite_base::{ConversationId, DocumentId, DomainName, EvidenceId, Language, Millis, TurnId};
use ragonite_document::evidence::{Context, Kind};
use ragonite_inference::{Completion, Finish, Sampling, SpecialTokens};
use ragonite_rag::answer::{Answer, Rewrite, RewriteHow, Translation, TranslationHow};
use ragonite_rag::attribution::{
    Attribution, AttributionSettings, AttributionTimings, Cluster, Counterfactual, Method, Provenance, Sentence,
    SentenceCluster,
};
use ragonite_rag::prompt::{Cut, CutHow, Part, Prompt, Segment};
use ragonite_rag::retrieval::{
    Hit, HitExplanation, MatchQuality, MatchVerdict, Mode, Override, OverrideKind, RankedEvidence, RetrievalTimings,
    Retrieved,
};

pub(super) fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    (folder, path)
}

pub(super) fn wiki() -> DomainName {
    "wiki".parse().unwrap()
}

pub(super) fn turn(number: u32, question: &str) -> TurnRecord {
    TurnRecord {
        id: TurnId(0),
        number,
        question: question.to_owned(),
        completed_question: format!("{question} (completed)"),
        outcome: Outcome::Answered,
        asked_at: datetime!(2026-03-01 12:00:00.5 UTC),
        feedback: None,
        trace: trace("Alice did. [Source 1]", 512),
    }
}

fn prompt(text: &str) -> Prompt {
    let segment = |part, special| Segment { part, text: text.to_owned(), special, tokens: 3 };
    Prompt {
        segments: vec![
            segment(Part::Template, SpecialTokens::Parse),
            segment(Part::Evidence { rank: 1 }, SpecialTokens::AsText),
            segment(Part::Question, SpecialTokens::AsText),
        ],
        stop: vec!["User:".into()],
        cut: vec![Cut { rank: 2, evidence: EvidenceId(9), tokens: 120, how: CutHow::Dropped }],
    }
}

fn completion(text: &str) -> Completion {
    Completion {
        text: text.to_owned(),
        tokens: vec![1, -2, 151_645],
        prompt_tokens: 9,
        reused_tokens: 3,
        drafted_tokens: 0,
        narrowest: None,
        log_probabilities: Vec::new(),
        draft_log_probabilities: Vec::new(),
        finish: Finish::Stop,
        first_token_ms: Millis(12.5),
        total_ms: Millis(80.25),
    }
}

fn hit(text: &str, score: f64) -> Hit {
    Hit {
        rank: 1,
        evidence: EvidenceId(7),
        document: DocumentId(2),
        title: text.to_owned(),
        heading: "Results".into(),
        url: "https://wiki.example/1".into(),
        date: None,
        space: None,
        ancestors: Vec::new(),
        location: "Table 1, row 2".into(),
        kind: Kind::Row,
        table: Some(1),
        row: Some(2),
        text: text.to_owned(),
        content: text.to_owned(),
        links: Vec::new(),
        context: Context { title: text.to_owned(), heading_path: vec!["Results".into()], ..Context::default() },
        fused: score,
        dense_rank: Some(1),
        dense_score: Some(score),
        lexical_rank: None,
        lexical_score: None,
        rerank_score: None,
        copies: Vec::new(),
        version: None,
        why: HitExplanation::default(),
    }
}

fn by_similarity() -> EarlierAttribution {
    let settings = Some(AttributionSettings { method: Method::Similarity, ..AttributionSettings::default() });
    EarlierAttribution { attribution: Attribution::new(Method::Similarity), settings }
}

fn found(text: &str, score: f64) -> Retrieved {
    Retrieved {
        query: text.to_owned(),
        mode: Mode::Hybrid,
        dense: vec![RankedEvidence { evidence: EvidenceId(7), rank: 1, score }],
        lexical: Vec::new(),
        hits: vec![hit(text, score)],
        discarded: Vec::new(),
        sub_queries: Vec::new(),
        unknown_terms: Vec::new(),
        quality: None,
        day: None,
        timings_ms: RetrievalTimings { embed: Millis(4.0), ..RetrievalTimings::default() },
    }
}

/// A trace with something in every field. Scores are a number of 1024ths, which JSON keeps to the last bit.
fn trace(text: &str, score: u16) -> Trace {
    let score = f64::from(score) / 1024.0;
    let sampling = Sampling::Seeded { temperature: 0.5, seed: 7 };
    Trace {
        profile: "starter".into(),
        embedder: "all-MiniLM-L6-v2".into(),
        generator: "qwen2.5-coder-1.5b-instruct".into(),
        rewrite: Some(Rewrite {
            completed: text.to_owned(),
            how: RewriteHow::Model,
            prompt: Some(prompt(text)),
            completion: Some(completion(text)),
            total_ms: Millis(30.0),
        }),
        translation: Some(Translation {
            text: Some(text.to_owned()),
            from: Language::German,
            to: Language::English,
            how: TranslationHow::Model,
            prompt: Some(prompt(text)),
            completion: Some(completion(text)),
            total_ms: Millis(20.0),
        }),
        retrieved: Some(found(text, score)),
        answer: Some(Answer {
            named: None,
            withheld: None,
            text: text.to_owned(),
            answered: true,
            citations: vec![1],
            invalid_citations: vec![8],
            language: Language::German,
            prompt: prompt(text),
            sampling,
            completion: completion(text),
        }),
        suggestions: vec![text.to_owned()],
        attribution: Some(Attribution {
            decisive: true,
            clusters: vec![Cluster {
                hits: vec![1],
                how: Provenance::Regenerated,
                contribution: score,
                share: Some(1.0),
                counterfactual_answer: Some(text.to_owned()),
                drops: Vec::new(),
                drops_how: None,
                divergences: Vec::new(),
                counterfactuals: vec![Counterfactual {
                    prompt: prompt(text),
                    completion: completion(text),
                    similarity: 1.0 - score,
                }],
            }],
            timings_ms: AttributionTimings { total: Millis(100.0), ..AttributionTimings::default() },
            ..Attribution::new(Method::Counterfactual)
        }),
        earlier_attributions: vec![by_similarity()],
        timings_ms: TurnTimings { total: Millis(210.5), ..TurnTimings::default() },
        settings: Some(TurnSettings { sources: 3, temperature: 0.5, ..TurnSettings::default() }),
        domain_settings: vec!["sources".to_owned()],
        variant: Some(Variant {
            of: 1,
            settings: vec![OtherSetting { key: "sources".into(), from: "10".into(), to: "3".into() }],
            picks: vec![Override {
                how: OverrideKind::LeftOut,
                evidence: EvidenceId(7),
                document: DocumentId(3),
                name: text.to_owned(),
                copies: vec![EvidenceId(9)],
            }],
        }),
    }
}

/// An explanation by log-probability: drops, tokens and sentences beside the clusters.
fn explained_by_logprob(text: &str) -> Attribution {
    let cluster =
        SentenceCluster { hits: vec![1], how: Provenance::Logprob, drop: 1.25, contribution: 0.46, share: Some(1.0) };
    Attribution {
        clusters: vec![Cluster {
            hits: vec![1],
            how: Provenance::Logprob,
            contribution: 0.46,
            share: Some(1.0),
            counterfactual_answer: None,
            counterfactuals: Vec::new(),
            drops: vec![1.5, -0.25],
            drops_how: None,
            divergences: vec![0.5],
        }],
        tokens: vec!["Ali".to_owned(), "ce.".to_owned()],
        sentences: vec![Sentence {
            text: text.to_owned(),
            tokens: 0..2,
            cited: vec![1],
            decisive: true,
            clusters: vec![cluster],
        }],
        ..Attribution::new(Method::Logprob)
    }
}

#[test]
fn drops_tokens_and_sentences_are_there_after_reopening() {
    let (_folder, path) = folder();
    let mut record = turn(1, "Who tested it?");
    record.trace.attribution = Some(explained_by_logprob("Alice."));
    let mut history = History::open(&path).unwrap();
    let (begun, _) = history.save_turn(&wiki(), None, &record).unwrap();
    drop(history);
    let stored = History::open(&path).unwrap().turns(begun.id).unwrap();
    assert_eq!(stored[0].trace, record.trace);
}

/// The mode of a file, without its kind.
fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

#[test]
fn a_stored_conversation_is_there_after_reopening() {
    let (_folder, path) = folder();
    let mut history = History::open(&path).unwrap();
    let (begun, first) = history.save_turn(&wiki(), None, &turn(1, "Who tested\n it?")).unwrap();
    let (grown, second) = history.save_turn(&wiki(), Some(begun.id), &turn(2, "And when?")).unwrap();
    assert_eq!((begun.title.as_str(), begun.turns, grown.turns), ("Who tested it?", 1, 2));
    assert_eq!(begun.started_at, datetime!(2026-03-01 12:00:00.5 UTC));
    drop(history);

    let history = History::open(&path).unwrap();
    assert_eq!(history.latest(Some(&wiki())).unwrap().as_ref(), Some(&grown));
    assert_eq!(history.conversation(begun.id).unwrap(), grown);
    let stored = history.turns(begun.id).unwrap();
    assert_eq!(stored.iter().map(|t| t.id).collect::<Vec<_>>(), [first, second]);
    assert_eq!(stored[1], TurnRecord { id: second, ..turn(2, "And when?") });
}

#[test]
fn saving_a_turn_again_replaces_it_under_the_same_id() {
    let (_folder, path) = folder();
    let mut history = History::open(&path).unwrap();
    let early = TurnRecord { outcome: Outcome::Canceled, trace: Trace::default(), ..turn(1, "Who?") };
    let (conversation, id) = history.save_turn(&wiki(), None, &early).unwrap();
    let (again, same) =
        history.save_turn(&wiki(), Some(conversation.id), &TurnRecord { id, ..turn(1, "Who?") }).unwrap();
    assert_eq!((again.turns, same), (1, id));
    assert_eq!(history.turns(conversation.id).unwrap(), [TurnRecord { id, ..turn(1, "Who?") }]);
}

#[test]
fn a_turn_that_another_program_stored_meanwhile_is_never_overwritten() {
    let (_folder, path) = folder();
    let (mut one, mut other) = (History::open(&path).unwrap(), History::open(&path).unwrap());
    let (conversation, _) = one.save_turn(&wiki(), None, &turn(1, "a")).unwrap();
    other.save_turn(&wiki(), Some(conversation.id), &turn(2, "from the other")).unwrap();
    let (grown, _) = one.save_turn(&wiki(), Some(conversation.id), &turn(2, "from this one")).unwrap();
    assert_eq!(grown.turns, 3);
    let stored = one.turns(conversation.id).unwrap();
    let questions: Vec<_> = stored.iter().map(|turn| (turn.number, turn.question.as_str())).collect();
    assert_eq!(questions, [(1, "a"), (2, "from the other"), (3, "from this one")]);
}

#[test]
fn the_conversation_that_was_saved_last_comes_first() {
    let (_folder, path) = folder();
    let mut history = History::open(&path).unwrap();
    let league: DomainName = "league".parse().unwrap();
    let (a, _) = history.save_turn(&wiki(), None, &turn(1, "a")).unwrap();
    let (b, _) = history.save_turn(&league, None, &turn(1, "b")).unwrap();
    let (c, _) = history.save_turn(&wiki(), None, &turn(1, "c")).unwrap();
    history.save_turn(&wiki(), Some(a.id), &turn(2, "a again")).unwrap();

    let ids = |domain: Option<&DomainName>| -> Vec<ConversationId> {
        history.conversations(domain).unwrap().into_iter().map(|c| c.id).collect()
    };
    assert_eq!(ids(None), [a.id, c.id, b.id]);
    assert_eq!(ids(Some(&wiki())), [a.id, c.id]);
    assert_eq!(history.latest(Some(&league)).unwrap().unwrap().id, b.id);
    assert_eq!(history.latest(Some(&"empty".parse().unwrap())).unwrap(), None);

    history.connection().execute("UPDATE conversations SET deleted_at = changed_at WHERE id = ?1", [a.id.0]).unwrap();
    assert_eq!(ids(None), [c.id, b.id]);
    assert_eq!(history.latest(Some(&wiki())).unwrap().unwrap().id, c.id);

    history.connection().execute("UPDATE conversations SET pinned = 1 WHERE id = ?1", [b.id.0]).unwrap();
    assert_eq!(ids(None), [b.id, c.id]);
    assert_eq!(history.latest(None).unwrap().unwrap().id, c.id, "a pinned one is not the latest");
}

#[test]
fn a_turn_goes_only_where_it_belongs() {
    let (_folder, path) = folder();
    let mut history = History::open(&path).unwrap();
    let (conversation, _) = history.save_turn(&wiki(), None, &turn(1, "a")).unwrap();
    let nowhere = history.save_turn(&wiki(), Some(ConversationId(99)), &turn(2, "b"));
    assert!(matches!(nowhere, Err(HistoryError::NoConversation { id: ConversationId(99) })));
    let other = history.save_turn(&"league".parse().unwrap(), Some(conversation.id), &turn(2, "b"));
    assert!(matches!(other, Err(HistoryError::OtherDomain { .. })));
    assert!(matches!(history.turns(ConversationId(99)), Err(HistoryError::NoConversation { .. })));
    assert_eq!(history.turns(conversation.id).unwrap().len(), 1);
}

#[test]
fn a_title_is_one_line_and_narrow() {
    let title = store::title;
    assert_eq!(title("  Who\ttested\u{1b}[31m it?\n\nAnd why?"), "Who tested it? And why?");
    assert_eq!(title("\u{7}\n"), "(no text)");
    let long = title(&"wörter 漢字 ".repeat(30));
    assert!(long.width() <= TITLE_WIDTH && long.ends_with('…'), "{long}");
    let exact = "x".repeat(TITLE_WIDTH);
    assert_eq!(title(&exact), exact);
}

#[test]
fn nobody_else_may_read_the_files() {
    let (_folder, path) = folder();
    let nested = path.parent().unwrap().join("deep/er/history.db");
    let mut history = History::open(&nested).unwrap();
    history.save_turn(&wiki(), None, &turn(1, "a")).unwrap();
    for file in [nested.clone(), beside(&nested, "-wal"), beside(&nested, "-shm")] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    assert_eq!(mode(nested.parent().unwrap()), 0o700);

    fs::set_permissions(&nested, fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(beside(&nested, "-wal"), fs::Permissions::from_mode(0o644)).unwrap();
    let _second = History::open(&nested).unwrap();
    assert_eq!((mode(&nested), mode(&beside(&nested, "-wal"))), (0o600, 0o600));
}

#[test]
fn the_file_is_set_up_for_safe_writes() {
    let (_folder, path) = folder();
    let history = History::open(&path).unwrap();
    let number = |name: &str| -> i64 { history.connection().pragma_query_value(None, name, |r| r.get(0)).unwrap() };
    let journal: String = history.connection().pragma_query_value(None, "journal_mode", |r| r.get(0)).unwrap();
    assert_eq!(journal, "wal");
    assert_eq!((number("foreign_keys"), number("synchronous"), number("busy_timeout")), (1, 2, 5000));
    assert_eq!(number("user_version"), i64::from(schema::newest()));
}

#[test]
fn a_history_of_a_newer_program_is_refused_and_kept() {
    let (_folder, path) = folder();
    let mut history = History::open(&path).unwrap();
    history.save_turn(&wiki(), None, &turn(1, "a")).unwrap();
    history.connection().pragma_update(None, "user_version", 1000).unwrap();
    drop(history);
    let refused = History::open(&path).unwrap_err();
    assert!(matches!(refused, HistoryError::TooNew { found: 1000, .. }));
    assert!(refused.next_step().contains("newer program"), "{refused}");

    Connection::open(&path).unwrap().pragma_update(None, "user_version", schema::newest()).unwrap();
    assert_eq!(History::open(&path).unwrap().conversations(None).unwrap().len(), 1);
}

#[test]
fn a_file_that_is_no_history_is_left_as_it_is() {
    let (_folder, path) = folder();
    let garbage = b"this is a letter to my aunt ".repeat(100);
    fs::write(&path, &garbage).unwrap();
    assert!(matches!(History::open(&path), Err(HistoryError::Damaged { .. })));
    assert_eq!(fs::read(&path).unwrap(), garbage);

    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    let before = fs::read(&path).unwrap();
    assert!(matches!(History::open(&path), Err(HistoryError::NotHistory { .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn damaged_pages_are_an_error_and_no_crash() {
    let (_folder, path) = folder();
    let mut history = History::open(&path).unwrap();
    let (conversation, _) = history.save_turn(&wiki(), None, &turn(1, "a")).unwrap();
    drop(history);
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0xa5);
    fs::write(&path, &bytes).unwrap();
    let read = History::open(&path).and_then(|history| history.turns(conversation.id));
    assert!(matches!(read, Err(HistoryError::Damaged { .. })), "{read:?}");
}

#[test]
fn a_full_disk_keeps_what_was_stored() {
    let (_folder, path) = folder();
    let mut history = History::open(&path).unwrap();
    let (conversation, id) = history.save_turn(&wiki(), None, &turn(1, "a")).unwrap();
    let pages: u32 = history.connection().pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    history.connection().pragma_update(None, "max_page_count", pages).unwrap();
    let large = TurnRecord { completed_question: "x".repeat(1 << 20), ..turn(1, "a") };
    let full = history.save_turn(&wiki(), Some(conversation.id), &large).unwrap_err();
    assert!(matches!(full, HistoryError::Full { .. }), "{full:?}");
    assert!(full.next_step().contains("Free some space"));
    assert_eq!(history.turns(conversation.id).unwrap(), [TurnRecord { id, ..turn(1, "a") }]);
}

#[test]
fn a_read_only_history_can_be_read_and_says_why_it_cannot_be_written() {
    let (_folder, path) = folder();
    let mut history = History::open(&path).unwrap();
    let (conversation, _) = history.save_turn(&wiki(), None, &turn(1, "a")).unwrap();
    history.connection().pragma_update(None, "query_only", true).unwrap();
    let refused = history.save_turn(&wiki(), Some(conversation.id), &turn(2, "b")).unwrap_err();
    assert!(matches!(refused, HistoryError::ReadOnly { .. }), "{refused:?}");
    assert_eq!(history.turns(conversation.id).unwrap().len(), 1);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let (_folder, path) = folder();
    fs::write(&path, "a file").unwrap();
    let error = History::open(&path.join("history.db")).unwrap_err();
    assert!(matches!(error, HistoryError::Create { .. }), "{error:?}");
}

#[test]
fn a_save_that_fails_halfway_leaves_the_earlier_version() {
    let (_folder, path) = folder();
    let mut history = History::open(&path).unwrap();
    let (conversation, id) = history.save_turn(&wiki(), None, &turn(1, "before")).unwrap();
    // The conversation is written after the turn, so this fails with the turn written already.
    let trigger = "CREATE TRIGGER fails BEFORE UPDATE ON conversations BEGIN SELECT RAISE(ABORT, 'halfway'); END";
    history.connection().execute_batch(trigger).unwrap();
    let after = TurnRecord { id, ..turn(1, "after") };
    assert!(history.save_turn(&wiki(), Some(conversation.id), &after).is_err());
    assert!(history.save_turn(&wiki(), None, &turn(1, "new")).is_err());
    assert_eq!(history.turns(conversation.id).unwrap(), [TurnRecord { id, ..turn(1, "before") }]);
    assert_eq!(history.conversations(None).unwrap(), [conversation]);
}

#[test]
fn a_kill_within_a_write_leaves_the_earlier_version() {
    let (folder, path) = folder();
    let mut history = History::open(&path).unwrap();
    let (conversation, id) = history.save_turn(&wiki(), None, &turn(1, "before")).unwrap();
    // With a cache of one page the unfinished write reaches the files, as they are when the process dies.
    history.connection().execute_batch("PRAGMA cache_size = 1; BEGIN IMMEDIATE").unwrap();
    history.connection().execute("UPDATE turns SET question = ?1", ["half".repeat(100_000)]).unwrap();
    let dead = folder.path().join("dead.db");
    fs::copy(&path, &dead).unwrap();
    let unfinished = fs::copy(beside(&path, "-wal"), beside(&dead, "-wal")).unwrap();
    assert!(unfinished > 100_000, "the unfinished write is in the copy");
    assert_eq!(History::open(&dead).unwrap().turns(conversation.id).unwrap(), [TurnRecord { id, ..turn(1, "before") }]);
}

#[test]
fn two_programs_share_one_history() {
    let (_folder, path) = folder();
    let (mut one, mut other) = (History::open(&path).unwrap(), History::open(&path).unwrap());
    let (conversation, _) = one.save_turn(&wiki(), None, &turn(1, "a")).unwrap();
    other.save_turn(&wiki(), Some(conversation.id), &turn(2, "b")).unwrap();
    assert_eq!(one.turns(conversation.id).unwrap().len(), 2);
}

/// A trace as the first version of the program wrote it. Never change the file: histories like it exist.
const FIRST_TRACE: &str = include_str!("../testdata/trace-1.json");

/// What that trace says; the first version translated nothing and kept no settings.
fn first_trace() -> Trace {
    let (suggestions, domain_settings) = (Vec::new(), Vec::new());
    let whole = trace("Alice did. [Source 1]", 512);
    let earlier_attributions = Vec::new();
    Trace {
        translation: None,
        earlier_attributions,
        suggestions,
        settings: None,
        domain_settings,
        variant: None,
        ..whole
    }
}

#[test]
fn a_trace_of_the_first_version_still_reads_as_a_whole() {
    let read: Trace = serde_json::from_str(FIRST_TRACE).unwrap();
    assert_eq!(read, first_trace());
}

#[test]
fn unknown_fields_are_passed_over_and_missing_ones_have_their_default() {
    let newer = FIRST_TRACE.replacen('{', "{\"mood\": \"good\", ", 1).replace("\"method\"", "\"later\": 1, \"method\"");
    assert_eq!(trace_json::from_json(&newer), first_trace());
    let older = trace_json::from_json(r#"{"profile": "tiny", "timings_ms": {"total": 3.0}}"#);
    let timings_ms = TurnTimings { total: Millis(3.0), ..TurnTimings::default() };
    assert_eq!(older, Trace { profile: "tiny".into(), timings_ms, ..Trace::default() });
}

#[test]
fn a_part_that_cannot_be_read_does_not_take_the_others_with_it() {
    let broken = FIRST_TRACE.replace("\"hybrid\"", "\"telepathy\"");
    let expected = Trace { retrieved: None, ..first_trace() };
    assert_eq!(trace_json::from_json(&broken), expected);
    assert_eq!(trace_json::from_json("not JSON"), Trace::default());
}

#[test]
fn a_turn_as_json_has_its_outcome_beside_its_question() {
    let mut record = turn(1, "Who?");
    record.outcome = Outcome::Failed("the model is missing".into());
    record.trace = Trace::default();
    insta::assert_snapshot!(serde_json::to_string_pretty(&record).unwrap());
    assert_eq!(serde_json::from_str::<TurnRecord>(&serde_json::to_string(&record).unwrap()).unwrap(), record);
}

fn any_turn() -> impl Strategy<Value = TurnRecord> {
    let outcome =
        prop_oneof![Just(Outcome::Answered), Just(Outcome::Canceled), any::<String>().prop_map(Outcome::Failed)];
    // The first and the last second of the years that can be stored, in seconds since 1970.
    let second = prop_oneof![Just(-62_167_219_200_i64), Just(253_402_300_799), 0..4_000_000_000_i64];
    let texts = (any::<String>(), any::<String>(), "[\\x00-\\x1f\\x7f-\\xa0a-z'\"\\\\]{0,30}");
    (1..u32::MAX, texts, outcome, second, 0..1_000_000_000_u32, prop::option::of(any::<u16>())).prop_map(
        |(number, (question, completed_question, text), outcome, second, nanosecond, score)| TurnRecord {
            id: TurnId(1),
            number,
            question,
            completed_question,
            outcome,
            asked_at: OffsetDateTime::from_unix_timestamp(second).unwrap().replace_nanosecond(nanosecond).unwrap(),
            feedback: None,
            trace: score.map_or_else(Trace::default, |score| trace(&text, score)),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_turn_comes_back_as_it_was_stored(record in any_turn()) {
        let (_folder, path) = folder();
        let mut history = History::open(&path).unwrap();
        let (conversation, id) = history.save_turn(&wiki(), None, &record).unwrap();
        prop_assert_eq!(conversation.title.chars().filter(|c| c.is_control()).count(), 0);
        prop_assert_eq!(history.turns(conversation.id).unwrap(), [TurnRecord { id, ..record }]);
    }
}

#[test]
fn a_turn_was_stopped_where_no_document_fits_and_no_model_was_asked() {
    let asked = |verdict, has_prompt: bool| {
        let mut trace = trace("Nothing.", 512);
        trace.retrieved.as_mut().unwrap().quality = Some(MatchQuality { verdict, ..MatchQuality::default() });
        let answer = trace.answer.as_mut().unwrap();
        answer.answered = false;
        if !has_prompt {
            answer.prompt = Prompt::default();
            answer.completion.tokens.clear();
        }
        trace.stopped_without_match().is_some()
    };
    assert!(asked(MatchVerdict::NoMatch, false));
    assert!(!asked(MatchVerdict::NoMatch, true), "the model was asked all the same");
    assert!(!asked(MatchVerdict::Fits, false));
    assert!(trace("Alice did.", 512).stopped_without_match().is_none());
}
