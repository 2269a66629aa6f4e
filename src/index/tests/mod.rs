//! Tests of the whole room, on real files in a temporary folder.

mod among;
mod keeping;
mod upkeep;

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::ingest::{Documents, Incoming};
use super::test_kit::{Page, Trouble, WordEmbedder, documents, domain, ingest, ingest_all, page};
use super::*;
use ragonite_base::{CancelSource, CancelToken, EvidenceId};
use ragonite_document::evidence::{Evidence, EvidenceSettings, TableGrid};
use ragonite_inference::{Embed, TextRole};

fn embedder() -> WordEmbedder {
    WordEmbedder::new("f00d")
}

fn pages() -> Vec<Page> {
    vec![
        page("Tests", &["Alice ran the TPM tests on a Sorvik Ostrel", "Kolmet 9.0.2 passed, see OXT-1654"]),
        page("Travel", &["Trains are booked by the office", "Hotels cost at most ninety euros"]),
    ]
}

/// Pages that are embedded in several batches: six pages go into one commit, in five calls of the embedder.
fn many_pages() -> Vec<Page> {
    let passages = |page: usize| -> Vec<String> { (0..100).map(|n| format!("page{page} fact{n}")).collect() };
    (0..12).map(|n| Page { passages: passages(n), ..page(&format!("Page {n}"), &[]) }).collect()
}

fn open(folder: &Path, embedder: &WordEmbedder) -> Result<Index, IndexError> {
    Index::open(&folder.join("wiki"), embedder.identity(), &CancelToken::never(), &mut |_| {})
}

fn by_words(index: &Index, question: &str) -> Vec<String> {
    let found = index.lexical_search(question, 5).unwrap();
    contents(index, &found)
}

fn by_embedding(index: &Index, embedder: &WordEmbedder, question: &str) -> Vec<String> {
    let vector = embedder.embed(&[question], TextRole::Query, &CancelToken::never()).unwrap().remove(0);
    contents(index, &index.dense_search(&vector, 5).unwrap())
}

fn contents(index: &Index, found: &[Scored]) -> Vec<String> {
    let ids: Vec<EvidenceId> = found.iter().map(|scored| scored.evidence).collect();
    index.evidences(&ids).unwrap().into_iter().map(|stored| stored.evidence.content).collect()
}

fn assert_all_found(index: &Index, embedder: &WordEmbedder, pages: &[Page]) {
    for page in pages {
        for Evidence { content, .. } in page.evidences() {
            assert_eq!(by_words(index, &content).first(), Some(&content), "by words");
            let text = format!("{}\nNotes\n{content}", page.name);
            assert_eq!(by_embedding(index, embedder, &text).first(), Some(&content), "by embedding");
        }
    }
}

#[test]
fn what_was_ingested_is_found_in_both_ways() {
    let embedder = embedder();
    let (folder, mut index) = domain(&embedder);
    let report = ingest(&mut index, &pages(), &embedder).unwrap();
    assert_eq!((report.documents, report.added, report.updated, report.unchanged), (2, 2, 0, 0));
    assert_eq!(report.evidences, KindCounts { passage: 4, ..KindCounts::default() });
    assert_all_found(&index, &embedder, &pages());
    drop(index);
    assert_all_found(&open(folder.path(), &embedder).unwrap(), &embedder, &pages());
}

#[test]
fn versions_and_issue_keys_are_found_by_words() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    ingest(&mut index, &pages(), &embedder).unwrap();
    for question in ["9.0.2", "which version is OXT-1654?", "oxt-1654"] {
        assert_eq!(by_words(&index, question), ["Kolmet 9.0.2 passed, see OXT-1654"], "{question}");
    }
    assert!(by_words(&index, "zebra").is_empty());
}

#[test]
fn a_row_is_found_by_its_words_and_leads_to_its_table() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    let table = TableGrid {
        number: 1,
        caption: String::new(),
        header: vec!["Member".to_owned(), "Task".to_owned()],
        rows: vec![
            vec!["Bob".to_owned(), "Slides".to_owned()],
            vec!["Alice".to_owned(), "Similarity function".to_owned()],
        ],
    };
    let with_table = Page { table: Some(table.clone()), ..page("October", &["RAG meeting"]) };
    ingest(&mut index, &[with_table], &embedder).unwrap();
    let found = index.lexical_search("What is Alice's task?", 1).unwrap();
    let row = &index.evidences(&[found[0].evidence]).unwrap()[0];
    assert_eq!(row.evidence.content, "Row 2 in Table 1: Member is Alice, and Task is Similarity function");
    assert_eq!((row.evidence.table, row.evidence.row), (Some(1), Some(2)));
    assert_eq!(index.table_of(row.id).unwrap(), Some(table));
    assert_eq!(index.table_of(EvidenceId(999)).unwrap(), None);
}

#[test]
fn an_unchanged_document_is_neither_parsed_nor_embedded() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    ingest(&mut index, &pages(), &embedder).unwrap();
    let before = embedder.texts();
    let unparsable = pages().into_iter().map(|page| page.unparsable());
    let report = ingest_all(&mut index, unparsable.collect(), &embedder, &CancelToken::never()).unwrap();
    assert_eq!((report.unchanged, report.updated, report.skipped.len()), (2, 0, 0));
    assert_eq!(embedder.texts(), before);
}

#[test]
fn a_changed_document_is_replaced_and_only_new_texts_are_embedded() {
    let embedder = embedder();
    let (folder, mut index) = domain(&embedder);
    ingest(&mut index, &pages(), &embedder).unwrap();
    let kept = index.lexical_search("office trains", 1).unwrap()[0].evidence;
    let before = embedder.texts();

    let mut changed = pages();
    changed[1].passages[1] = "Hotels cost at most a hundred euros".to_owned();
    let report = ingest(&mut index, &changed, &embedder).unwrap();
    assert_eq!((report.documents, report.added, report.updated, report.unchanged), (2, 0, 1, 1));
    assert_eq!(report.evidences.total(), 4);
    assert_eq!(embedder.texts(), before + 1);
    assert_eq!(index.lexical_search("office trains", 1).unwrap()[0].evidence, kept, "the id changed");
    assert!(by_words(&index, "ninety").is_empty());
    assert_all_found(&index, &embedder, &changed);
    drop(index);
    assert_all_found(&open(folder.path(), &embedder).unwrap(), &embedder, &changed);
}

#[test]
fn a_text_that_is_stored_elsewhere_is_not_embedded_again() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    ingest(&mut index, &pages()[..1], &embedder).unwrap();
    let before = embedder.texts();
    let twin = page("Tests", &["Alice ran the TPM tests on a Sorvik Ostrel"]);
    let copy = Incoming { path: "/wiki/copy/Tests".into(), ..twin.incoming() };
    let report = ingest_all(&mut index, vec![copy], &embedder, &CancelToken::never()).unwrap();
    assert_eq!((report.added, report.documents), (1, 2));
    assert_eq!(embedder.texts(), before);
}

#[test]
fn a_bad_document_is_reported_and_the_others_are_stored() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    let incoming = vec![page("a", &[]).unreadable(), page("b", &[]).unparsable(), pages()[0].incoming()];
    let report = ingest_all(&mut index, incoming, &embedder, &CancelToken::never()).unwrap();
    assert_eq!((report.added, report.documents), (1, 1));
    let reasons: Vec<_> = report.skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
    assert_eq!(reasons.len(), 2);
    assert_eq!(reasons[0], "permission denied");
    assert!(reasons[1].starts_with("`/wiki/b` has no text"), "{reasons:?}");
}

#[test]
fn the_report_is_that_of_the_json_contract() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    let incoming = vec![page("a", &[]).unreadable(), pages()[0].incoming()];
    let mut report = ingest_all(&mut index, incoming, &embedder, &CancelToken::never()).unwrap();
    report.seconds = 0.5;
    insta::assert_snapshot!(serde_json::to_string_pretty(&report).unwrap());
}

#[test]
fn a_kill_before_the_derived_indexes_are_in_step_is_repaired_at_the_next_start() {
    let embedder = embedder();
    let (folder, mut index) = domain(&embedder);
    ingest(&mut index, &pages()[..1], &embedder).unwrap();
    let second = pages();
    let mut incoming = second.iter().map(Page::incoming);
    index.store_documents(documents(&mut incoming, 2), &embedder, &CancelToken::never(), &mut |_| {}).unwrap();
    assert!(by_words(&index, "hotels").is_empty(), "the words were in step too early for this test");
    drop(index);
    assert_all_found(&open(folder.path(), &embedder).unwrap(), &embedder, &second);
}

#[test]
fn damaged_derived_indexes_are_built_anew() {
    let embedder = embedder();
    let (folder, mut index) = domain(&embedder);
    ingest(&mut index, &pages(), &embedder).unwrap();
    drop(index);
    let dense = folder.path().join("wiki/dense.usearch");
    let lexical = folder.path().join("wiki/lexical");
    let whole = fs::read(&dense).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 3] ^= 0x55;
    fs::write(folder.path().join("wiki/.dense-left"), "by a kill").unwrap();
    for damaged in [&whole[..whole.len() / 2], &flipped, b"garbage", b""] {
        fs::write(&dense, damaged).unwrap();
        assert_all_found(&open(folder.path(), &embedder).unwrap(), &embedder, &pages());
        assert!(fs::read(&dense).unwrap().len() == whole.len(), "it was not saved again");
    }
    assert!(!folder.path().join("wiki/.dense-left").exists());
    fs::remove_file(&dense).unwrap();
    fs::write(lexical.join("meta.json"), "{").unwrap();
    assert_all_found(&open(folder.path(), &embedder).unwrap(), &embedder, &pages());
    for entry in fs::read_dir(&lexical).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "term" || extension == "idx") {
            fs::write(path, "garbage").unwrap();
        }
    }
    assert_all_found(&open(folder.path(), &embedder).unwrap(), &embedder, &pages());
    fs::write(lexical.join("left.by.a.kill"), "").unwrap();
    assert_all_found(&open(folder.path(), &embedder).unwrap(), &embedder, &pages());
    assert!(!lexical.join("left.by.a.kill").exists());
    fs::remove_dir_all(&lexical).unwrap();
    assert_all_found(&open(folder.path(), &embedder).unwrap(), &embedder, &pages());
}

#[test]
fn another_embedder_is_refused_with_the_command_that_helps() {
    let (folder, mut index) = domain(&embedder());
    ingest(&mut index, &pages(), &embedder()).unwrap();
    let other = WordEmbedder::new("beef");
    assert!(matches!(ingest(&mut index, &pages(), &other), Err(IndexError::EmbedderMismatch { .. })));
    drop(index);
    let error = open(folder.path(), &other).unwrap_err();
    let wiki = folder.path().join("wiki");
    assert!(check_embedder_of(&wiki, "words", "f00d").is_ok());
    assert_eq!(check_embedder_of(&wiki, "words", "beef").unwrap_err().to_string(), error.to_string());
    assert_eq!(
        error.to_string(),
        "the domain `wiki` was embedded with words (f00d), the embedder in use is words (beef); embed it again with \
         `ragonite domain rebuild wiki`"
    );
    let index = Index::rebuild(&wiki, &other, &CancelToken::never(), &mut |_| {}).unwrap();
    assert_all_found(&index, &other, &pages());
    drop(index);
    assert_all_found(&open(folder.path(), &other).unwrap(), &other, &pages());
    assert!(matches!(open(folder.path(), &embedder()), Err(IndexError::EmbedderMismatch { .. })));
}

#[test]
fn a_failing_embedder_leaves_whole_documents_only() {
    let mut failing = embedder();
    failing.trouble = Trouble::FailsAt(6);
    let (folder, mut index) = domain(&failing);
    let error = ingest(&mut index, &many_pages(), &failing).unwrap_err();
    assert!(matches!(error, IndexError::Embed(_)), "{error:?}");
    let summary = index.summary().unwrap();
    assert_eq!((summary.documents, summary.evidences.total()), (6, 600));
    assert_all_found(&index, &failing, &many_pages()[..1]);
    drop(index);

    let mut index = open(folder.path(), &failing).unwrap();
    let report = ingest(&mut index, &many_pages(), &failing).unwrap();
    assert_eq!((report.added, report.unchanged, report.documents), (6, 6, 12));
    assert_all_found(&index, &failing, &many_pages()[11..]);
}

#[test]
fn cancelling_keeps_what_was_committed() {
    let source = CancelSource::default();
    let mut slow = embedder();
    slow.trouble = Trouble::CancelsAt(6, source.clone());
    let (folder, mut index) = domain(&slow);
    let incoming = many_pages().iter().map(Page::incoming).collect();
    let error = ingest_all(&mut index, incoming, &slow, &source.token()).unwrap_err();
    assert!(matches!(error, IndexError::Canceled(_)), "{error:?}");
    assert_eq!(index.summary().unwrap().evidences.total(), 600);
    drop(index);
    let mut index = open(folder.path(), &slow).unwrap();
    assert_all_found(&index, &slow, &many_pages()[5..6]);
    let (before, ready) = (slow.texts(), 128);
    let report = ingest(&mut index, &many_pages(), &slow).unwrap();
    assert_eq!((report.added, report.unchanged), (6, 6));
    assert_eq!(slow.texts(), before + 600 - ready, "what was embedded before the end was embedded again");
}

#[test]
fn a_full_disk_leaves_the_documents_before_whole() {
    let embedder = embedder();
    let (folder, mut index) = domain(&embedder);
    ingest(&mut index, &pages(), &embedder).unwrap();
    index.db.limit_growth(8).unwrap();
    let error = ingest(&mut index, &many_pages(), &embedder).unwrap_err();
    assert!(matches!(error, IndexError::DiskFull { .. }), "{error:?}");
    assert!(error.to_string().contains("free some"));
    assert_all_found(&index, &embedder, &pages());
    drop(index);
    let index = open(folder.path(), &embedder).unwrap();
    index.db.verify().unwrap();
    assert_all_found(&index, &embedder, &pages());
}

#[test]
fn a_search_works_beside_an_ingest_and_sees_it_after_a_refresh() {
    let embedder = embedder();
    let (folder, mut writer) = domain(&embedder);
    ingest(&mut writer, &pages()[..1], &embedder).unwrap();
    let lock = writer.lock().unwrap();
    let mut reader = open(folder.path(), &embedder).unwrap();
    assert_all_found(&reader, &embedder, &pages()[..1]);
    assert!(matches!(ingest(&mut reader, &pages(), &embedder), Err(IndexError::Busy { .. })));
    drop(lock);

    let mut changed = pages();
    changed[0].passages[0] = "Carol ran the tests".to_owned();
    ingest(&mut writer, &changed, &embedder).unwrap();
    assert!(by_words(&reader, "Ostrel").is_empty(), "a removed evidence was given");
    reader.refresh(&CancelToken::never(), &mut |_| {}).unwrap();
    assert_all_found(&reader, &embedder, &changed);
}

#[test]
fn a_domain_opened_during_its_first_ingest_is_searched_in_memory() {
    let embedder = embedder();
    let (folder, mut writer) = domain(&embedder);
    let all = pages();
    let mut incoming = all.iter().map(Page::incoming);
    let lock = writer.lock().unwrap();
    writer.store_documents(documents(&mut incoming, 2), &embedder, &CancelToken::never(), &mut |_| {}).unwrap();
    fs::remove_dir_all(folder.path().join("wiki/lexical")).unwrap();
    let mut reader = open(folder.path(), &embedder).unwrap();
    assert_all_found(&reader, &embedder, &all);
    assert!(!folder.path().join("wiki/dense.usearch").exists());
    drop(lock);
    drop(writer);
    ingest(&mut reader, &all, &embedder).unwrap();
    assert!(folder.path().join("wiki/dense.usearch").exists());
    assert!(folder.path().join("wiki/lexical/meta.json").exists());
    assert_all_found(&reader, &embedder, &all);
}

#[test]
fn other_files_are_refused_with_a_clear_error() {
    let embedder = embedder();
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(open(folder.path(), &embedder), Err(IndexError::NotFound { .. })));
    let wiki = folder.path().join("wiki");
    fs::create_dir(&wiki).unwrap();
    fs::write(wiki.join("domain.db"), "no database at all, but long enough to be looked at".repeat(100)).unwrap();
    assert!(matches!(open(folder.path(), &embedder), Err(IndexError::Damaged { .. })));
    fs::remove_file(wiki.join("domain.db")).unwrap();

    let foreign = rusqlite::Connection::open(wiki.join("domain.db")).unwrap();
    foreign.execute_batch("CREATE TABLE other (x)").unwrap();
    drop(foreign);
    assert!(matches!(open(folder.path(), &embedder), Err(IndexError::Damaged { .. })));
    fs::remove_file(wiki.join("domain.db")).unwrap();

    drop(Index::create(&wiki, NewDomain::default(), embedder.identity()).unwrap());
    let again = Index::create(&wiki, NewDomain::default(), embedder.identity()).unwrap_err();
    assert!(matches!(again, IndexError::Exists { .. }), "{again:?}");
    let newer = rusqlite::Connection::open(wiki.join("domain.db")).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    let error = open(folder.path(), &embedder).unwrap_err();
    assert!(matches!(error, IndexError::NewerFormat { found: 99, .. }), "{error:?}");
}

#[test]
fn a_kill_while_a_domain_is_made_does_not_block_its_name() {
    let embedder = embedder();
    let folder = tempfile::tempdir().unwrap();
    let wiki = folder.path().join("wiki");
    fs::create_dir(&wiki).unwrap();
    fs::write(wiki.join("domain.db"), "").unwrap();
    assert!(matches!(open(folder.path(), &embedder), Err(IndexError::NotFound { .. })));
    let mut index =
        Index::open_or_create(&wiki, NewDomain::default(), embedder.identity(), &CancelToken::never(), &mut |_| {})
            .unwrap();
    ingest(&mut index, &pages(), &embedder).unwrap();
    assert_all_found(&index, &embedder, &pages());
}

#[cfg(unix)]
#[test]
fn a_domain_is_private_to_its_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let embedder = embedder();
    let (folder, mut index) = domain(&embedder);
    ingest(&mut index, &pages(), &embedder).unwrap();
    let mode = |path: &str| fs::metadata(folder.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("wiki"), 0o700);
    assert_eq!(mode("wiki/domain.db"), 0o600);
    assert_eq!(mode("wiki/domain.db-wal"), 0o600);
}

#[test]
fn title_and_prompt_prefix_are_kept_and_can_be_set() {
    let embedder = embedder();
    let folder = tempfile::tempdir().unwrap();
    let wiki = folder.path().join("wiki");
    let described = NewDomain { title: "Team wiki".to_owned(), prompt_prefix: "You know the team.".to_owned() };
    drop(Index::create(&wiki, described, embedder.identity()).unwrap());
    let index = open(folder.path(), &embedder).unwrap();
    let summary = index.summary().unwrap();
    assert_eq!((summary.title.as_str(), summary.prompt_prefix.as_str()), ("Team wiki", "You know the team."));
    set_domain(&wiki, &DomainChange { title: Some("Wiki".to_owned()), prompt_prefix: None }).unwrap();
    let manifest = index.manifest().unwrap();
    assert_eq!((manifest.title.as_str(), manifest.prompt_prefix.as_str()), ("Wiki", "You know the team."));
    assert_eq!(index.name(), "wiki");
}

#[test]
fn the_list_of_domains_tells_which_one_is_damaged() {
    let embedder = embedder();
    let (folder, mut index) = domain(&embedder);
    ingest(&mut index, &pages(), &embedder).unwrap();
    fs::create_dir_all(folder.path().join("broken")).unwrap();
    fs::write(folder.path().join("broken/domain.db"), "x".repeat(5000)).unwrap();
    fs::create_dir_all(folder.path().join("No Domain")).unwrap();
    fs::create_dir_all(folder.path().join("empty")).unwrap();
    let domains = list_domains(folder.path()).unwrap();
    let names: Vec<_> = domains.iter().map(|domain| (domain.name.as_str(), domain.summary.is_ok())).collect();
    assert_eq!(names, [("broken", false), ("wiki", true)]);
    assert_eq!(domains[1].summary.as_ref().unwrap().documents, 2);
    assert!(list_domains(&folder.path().join("nowhere")).unwrap().is_empty());
}

#[test]
fn files_are_ingested_by_path() {
    let embedder = embedder();
    let (folder, mut index) = domain(&embedder);
    let source = folder.path().join("source");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("menu.txt"), "Soup is served on Monday.\n").unwrap();
    fs::write(source.join("empty.txt"), "").unwrap();
    fs::write(source.join("photo.raw"), [0, 159, 146, 150]).unwrap();
    let (paths, evidence, settings) = ([source.clone()], EvidenceSettings::default(), IndexSettings::default());
    let request = IngestRequest { paths: &paths, evidence: &evidence, index: &settings, missing: Missing::Keep };
    let run = |index: &mut Index| index.ingest(&request, &embedder, &CancelToken::never(), &mut |_| {}).unwrap();
    let report = run(&mut index);
    let skipped: Vec<_> = report.skipped.iter().map(|skipped| skipped.path.file_name().unwrap()).collect();
    assert_eq!((report.added, &skipped[..]), (1, &["empty.txt".as_ref(), "photo.raw".as_ref()][..]));
    assert_eq!(index.db.manifest().unwrap().last_ingest.unwrap().skipped, 2, "those that no reader looks at count too");
    assert!(by_words(&index, "soup")[0].contains("Monday"));
    assert_eq!(run(&mut index).unchanged, 1);
    fs::write(source.join("menu.txt"), "Soup is served on Friday.\n").unwrap();
    assert_eq!(run(&mut index).updated, 1);
    assert!(by_words(&index, "soup")[0].contains("Friday"));
}

#[test]
fn other_context_settings_make_the_documents_anew() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    ingest(&mut index, &pages(), &embedder).unwrap();
    assert_eq!(by_words(&index, "Travel").len(), 2);
    let all = pages();
    let mut incoming = all.iter().map(Page::incoming);
    let without = Documents { context: ragonite_document::evidence::ContextParts::NONE, ..documents(&mut incoming, 2) };
    let report = index.ingest_locked(without, &embedder, &CancelToken::never(), &mut |_| {}).unwrap();
    assert_eq!(report.updated, 2);
    assert!(by_words(&index, "Travel").is_empty());
    assert_eq!(by_embedding(&index, &embedder, "Trains are booked by the office").len(), 4);
}

#[test]
fn an_empty_domain_is_searched_without_a_result() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    assert!(by_words(&index, "anything").is_empty());
    assert!(by_embedding(&index, &embedder, "anything").is_empty());
    let report = ingest(&mut index, &[page("Blank", &[])], &embedder).unwrap();
    assert_eq!((report.documents, report.evidences.total()), (1, 0));
    assert!(by_embedding(&index, &embedder, "anything").is_empty());
}

#[test]
fn vectors_come_one_per_id_in_order() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    ingest(&mut index, &pages(), &embedder).unwrap();
    let [first, last] = [1, 4].map(EvidenceId);
    let vectors = index.vectors(&[last, EvidenceId(99), first]).unwrap();
    let texts =
        ["Travel\nNotes\nHotels cost at most ninety euros", "Tests\nNotes\nAlice ran the TPM tests on a Sorvik Ostrel"];
    let expected = embedder.embed(&texts, TextRole::Evidence, &CancelToken::never()).unwrap();
    assert!(vectors[0].cosine(&expected[0]) > 0.9999 && vectors[2].cosine(&expected[1]) > 0.9999);
    assert!(vectors[1].cosine(&vectors[0]).abs() < 1e-9);
}

#[test]
fn another_embedder_gives_vectors_of_its_own_and_the_domains_own_are_only_read() {
    let own = embedder();
    let (_folder, mut index) = domain(&own);
    ingest(&mut index, &pages(), &own).unwrap();
    let ids = [4, 99, 1].map(EvidenceId);
    let (never, before) = (CancelToken::never(), own.texts());
    let read = index.vectors_by(&ids, &own, &never).unwrap();
    assert_eq!((own.texts(), read.len()), (before, 2));
    assert_eq!(read[&EvidenceId(4)], index.vectors(&ids).unwrap()[0]);

    let other = WordEmbedder::new("other");
    let made = index.vectors_by(&ids, &other, &never).unwrap();
    let texts = ["Travel\nNotes\nHotels cost at most ninety euros"];
    let expected = other.embed(&texts, TextRole::Evidence, &never).unwrap();
    assert!(made[&EvidenceId(4)].cosine(&expected[0]) > 0.9999);
    assert_eq!(made.len(), 2);
    assert!(made[&EvidenceId(4)].cosine(&read[&EvidenceId(4)]) < 0.9);
    let source = CancelSource::default();
    source.cancel();
    assert!(matches!(index.vectors_by(&ids, &other, &source.token()), Err(IndexError::Canceled(_))));
}

#[test]
fn the_vector_of_an_evidence_with_other_words_is_made_as_an_ingest_makes_it() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    ingest(&mut index, &pages(), &embedder).unwrap();
    let never = CancelToken::never();
    let changed = |id, from: &str, to: &str| {
        index.vector_changed(EvidenceId(id), &|text| text.replace(from, to), &embedder, &never).unwrap()
    };
    let texts = ["Travel\nNotes\nHotels cost at most eighty euros"];
    let expected = embedder.embed(&texts, TextRole::Evidence, &never).unwrap();
    assert!(changed(4, "ninety", "eighty").unwrap().cosine(&expected[0]) > 0.9999);
    let same = index.vectors(&[EvidenceId(4)]).unwrap();
    assert!(changed(4, "seventy", "eighty").unwrap().cosine(&same[0]) > 0.9999);
    assert_eq!(changed(99, "ninety", "eighty"), None);
}

#[test]
fn a_vector_of_another_size_is_an_error() {
    let (_folder, index) = domain(&embedder());
    let short = ragonite_inference::Embedding::normalized(vec![1.0; 3]);
    assert!(matches!(index.dense_search(&short, 3), Err(IndexError::Dimensions { found: 3, .. })));
}

#[test]
fn progress_ends_with_all_documents() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    let all = many_pages();
    let mut incoming = all.iter().map(Page::incoming);
    let mut seen = Vec::new();
    index
        .ingest_locked(documents(&mut incoming, 12), &embedder, &CancelToken::never(), &mut |progress| {
            seen.push(progress);
        })
        .unwrap();
    let last = seen.iter().rfind(|progress| progress.stage == IngestStage::Reading).unwrap();
    assert_eq!((last.done, last.total, last.embedded), (12, 12, 1200));
    assert!(seen.iter().any(|progress| progress.stage == IngestStage::Indexing));
    assert!(seen.windows(2).all(|pair| pair[0].embedded <= pair[1].embedded || pair[1].stage == IngestStage::Indexing));
}

#[test]
fn an_index_can_be_owned_by_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<Index>();
}

mod window {
    use super::super::windows::{pool, texts};
    use super::*;
    use ragonite_document::evidence::{Context, ContextParts, Kind};
    use ragonite_inference::Embedding;

    fn words(word: &str, count: usize) -> String {
        (0..count).map(|n| format!("{word}{n}")).collect::<Vec<_>>().join(" ")
    }

    fn evidence(content: String) -> Evidence {
        Evidence {
            kind: Kind::Passage,
            content,
            context: Context {
                title: "Title".to_owned(),
                heading_path: vec!["Heading".to_owned()],
                before: words("b", 10),
                after: words("a", 10),
            },
            table: None,
            row: None,
            location: String::new(),
            links: Vec::new(),
        }
    }

    fn made(content: String, window: usize) -> Vec<String> {
        let embedder = embedder().with_window(window);
        let texts = texts(&evidence(content), ContextParts::ALL, &embedder).unwrap();
        for piece in &texts {
            assert!(embedder.count_tokens(&piece.text).unwrap() <= piece.tokens, "{}", piece.text);
            assert!(piece.tokens <= window);
        }
        texts.into_iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(made(words("c", 5), 64), [evidence(words("c", 5)).contextualized(ContextParts::ALL)]);
    }

    #[test]
    fn the_nearest_words_around_a_long_content_are_kept() {
        let texts = made(words("c", 10), 24);
        assert_eq!(texts, [format!("Title\nHeading\nb7 b8 b9\n{}\na0 a1 a2", words("c", 10))]);
    }

    #[test]
    fn content_comes_before_heading_and_title() {
        assert_eq!(made(words("c", 10), 13), [format!("Title\n{}", words("c", 10))]);
        assert_eq!(made(words("c", 10), 12), [words("c", 10)]);
    }

    #[test]
    fn long_content_is_spread_over_windows_at_lines_and_loses_nothing() {
        let content = format!("{}\n{}\n{}", words("x", 6), words("y", 6), words("z", 40));
        let texts = made(content.clone(), 20);
        assert!(texts.len() > 2 && texts.iter().all(|text| text.starts_with("Title\n")), "{texts:?}");
        let spread: Vec<&str> =
            texts.iter().flat_map(|text| text.split_whitespace()).filter(|word| *word != "Title").collect();
        assert_eq!(spread, content.split_whitespace().collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn content_is_never_crowded_out(
            lengths in proptest::array::uniform5(0..60usize), window in 6..80usize,
        ) {
            let [title, heading, before, content, after] = lengths;
            let content = words("c", content.max(1));
            let evidence = Evidence {
                context: Context {
                    title: words("t", title),
                    heading_path: vec![words("h", heading)],
                    before: words("b", before),
                    after: words("a", after),
                },
                ..evidence(content.clone())
            };
            let embedder = embedder().with_window(window);
            let pieces = texts(&evidence, ContextParts::ALL, &embedder).unwrap();
            for piece in &pieces {
                prop_assert!(embedder.count_tokens(&piece.text).unwrap() <= window, "{}", piece.text);
            }
            let own = |word: &&str| word.starts_with('c');
            let kept: Vec<&str> = pieces.iter().flat_map(|piece| piece.text.split_whitespace()).filter(own).collect();
            prop_assert_eq!(kept, content.split_whitespace().collect::<Vec<_>>());
            if embedder.count_tokens(&content).unwrap() <= window {
                prop_assert_eq!(pieces.len(), 1);
            }
        }
    }

    #[test]
    fn pooled_windows_have_unit_length() {
        let (a, b) = (Embedding::normalized(vec![1.0, 0.0]), Embedding::normalized(vec![0.0, 1.0]));
        assert_eq!(pool(std::slice::from_ref(&a)), a);
        assert!((pool(&[a.clone(), b]).cosine(&a) - 0.5_f64.sqrt()).abs() < 1e-6);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_question_is_an_error(question in "[\\PC\"()\\[\\]:+*~^!&|\\\\/ -]{0,200}") {
        thread_local! {
            static DOMAIN: (tempfile::TempDir, Index) = {
                let embedder = embedder();
                let (folder, mut index) = domain(&embedder);
                ingest(&mut index, &pages(), &embedder).unwrap();
                (folder, index)
            };
        }
        let answered = DOMAIN.with(|(_, index)| index.lexical_search(&question, 5).is_ok());
        prop_assert!(answered);
    }
}
