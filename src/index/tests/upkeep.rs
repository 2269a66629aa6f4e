//! Tests of checking, repairing, rebuilding, showing and removing a domain.

use std::fs;
use std::path::PathBuf;

use super::super::dense::Dense;
use super::super::test_kit::{Trouble, WordEmbedder, domain, ingest, page};
use super::super::{
    CheckReport, DomainChange, Fault, Finding, Index, IndexError, IndexState, Remedy, check_domain, remove_domain,
    set_domain, show_domain,
};
use super::{assert_all_found, by_words, documents, embedder, open, pages};
use ragonite_base::{CancelSource, CancelToken, EvidenceId};
use ragonite_inference::{Embed, Embedding};

/// A filled domain, closed; the folder above it and its own.
fn closed(embedder: &WordEmbedder) -> (tempfile::TempDir, PathBuf) {
    let (folder, mut index) = domain(embedder);
    ingest(&mut index, &pages(), embedder).unwrap();
    let wiki = folder.path().join("wiki");
    (folder, wiki)
}

fn check(wiki: &std::path::Path) -> CheckReport {
    check_domain(wiki, &CancelToken::never(), &mut |_| {}).unwrap()
}

fn faults(report: &CheckReport) -> Vec<(Fault, usize, Remedy)> {
    report.findings.iter().map(|Finding { fault, count, remedy }| (*fault, *count, *remedy)).collect()
}

/// Changes the database behind the program's back.
fn meddle(wiki: &std::path::Path, sql: &str) {
    let connection = rusqlite::Connection::open(wiki.join("domain.db")).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    connection.execute_batch(sql).unwrap();
}

#[test]
fn a_whole_domain_is_clean_and_stays_as_it_is() {
    let embedder = embedder();
    let (_folder, wiki) = closed(&embedder);
    let before = fs::read(wiki.join("dense.usearch")).unwrap();
    let report = check(&wiki);
    assert!(report.clean, "{:?}", report.findings);
    assert_eq!((report.documents, report.evidences.total()), (2, 4));
    assert_eq!(fs::read(wiki.join("dense.usearch")).unwrap(), before);
}

#[test]
fn derived_indexes_are_made_again_and_then_clean() {
    let embedder = embedder();
    let (folder, wiki) = closed(&embedder);
    fs::write(wiki.join("dense.usearch"), "garbage").unwrap();
    fs::remove_dir_all(wiki.join("lexical")).unwrap();
    let repaired = |fault, count| (fault, count, Remedy::Repaired);
    assert_eq!(faults(&check(&wiki)), [repaired(Fault::DenseUnusable, 0), repaired(Fault::LexicalUnusable, 0)]);
    assert!(check(&wiki).clean);
    assert_all_found(&open(folder.path(), &embedder).unwrap(), &embedder, &pages());

    let mut dense = Dense::open(&wiki, embedder.identity(), &CancelToken::never()).unwrap().unwrap();
    dense.make_changeable(&wiki, embedder.identity(), &CancelToken::never()).unwrap();
    dense.remove(EvidenceId(1)).unwrap();
    dense.add(EvidenceId(1), &Embedding::normalized(vec![1.0; 32])).unwrap();
    dense.add(EvidenceId(99), &Embedding::normalized(vec![1.0; 32])).unwrap();
    dense.save(embedder.identity()).unwrap();
    assert_eq!(faults(&check(&wiki)), [repaired(Fault::DenseDiffers, 2)]);
    assert!(check(&wiki).clean);
    assert_all_found(&open(folder.path(), &embedder).unwrap(), &embedder, &pages());
}

#[test]
fn a_damaged_file_that_still_names_its_generation_is_written_anew() {
    let embedder = embedder();
    let (folder, wiki) = closed(&embedder);
    let mut damaged = fs::read(wiki.join("dense.usearch")).unwrap();
    damaged[100..107].copy_from_slice(b"garbage");
    for repair in [
        |folder: &std::path::Path| drop(check(&folder.join("wiki"))),
        |folder: &std::path::Path| {
            drop(open(folder, &super::embedder()).unwrap());
        },
    ] {
        fs::write(wiki.join("dense.usearch"), &damaged).unwrap();
        repair(folder.path());
        assert!(check(&wiki).clean, "the damaged file is still there");
        assert_all_found(&open(folder.path(), &embedder).unwrap(), &embedder, &pages());
    }
}

#[test]
fn a_file_that_went_away_while_it_was_searched_comes_back() {
    let embedder = embedder();
    let (folder, wiki) = closed(&embedder);
    let before = fs::read(wiki.join("dense.usearch")).unwrap();
    let mut index = open(folder.path(), &embedder).unwrap();
    fs::remove_file(wiki.join("dense.usearch")).unwrap();
    assert_all_found(&index, &embedder, &pages());
    index.sync(&CancelToken::never(), &mut |_| {}).unwrap();
    assert_eq!(fs::read(wiki.join("dense.usearch")).unwrap(), before);

    fs::remove_file(wiki.join("dense.usearch")).unwrap();
    let mut all = pages();
    all.push(page("Locks", &["The lock of the gate is new"]));
    ingest(&mut index, &all, &embedder).unwrap();
    assert_all_found(&index, &embedder, &all);
    assert!(check(&wiki).clean);
}

#[test]
fn two_that_search_a_domain_do_not_see_what_the_other_changes_before_they_look() {
    let embedder = embedder();
    let (folder, _) = closed(&embedder);
    let [mut first, mut second] = [(); 2].map(|()| open(folder.path(), &embedder).unwrap());
    let mut all = pages();
    for (title, text) in [("Locks", "The lock of the gate is new"), ("Keys", "The key hangs in the office")] {
        all.push(page(title, &[text]));
        // Each changes what the other had mapped.
        ingest(&mut first, &all, &embedder).unwrap();
        std::mem::swap(&mut first, &mut second);
    }
    first.refresh(&CancelToken::never(), &mut |_| {}).unwrap();
    for index in [&first, &second] {
        assert_all_found(index, &embedder, &all);
    }
}

#[test]
fn what_a_kill_left_behind_is_brought_in_step() {
    let embedder = embedder();
    let (folder, mut index) = domain(&embedder);
    ingest(&mut index, &pages()[..1], &embedder).unwrap();
    let all = pages();
    let mut incoming = all.iter().map(super::Page::incoming);
    index.store_documents(documents(&mut incoming, 2), &embedder, &CancelToken::never(), &mut |_| {}).unwrap();
    drop(index);
    let wiki = folder.path().join("wiki");
    let health = show_domain(&wiki).unwrap().health;
    assert_eq!((health.dense, health.lexical), (IndexState::Behind, IndexState::Behind));
    let behind = |fault| (fault, 0, Remedy::Repaired);
    assert_eq!(faults(&check(&wiki)), [behind(Fault::DenseBehind), behind(Fault::LexicalBehind)]);
    let health = show_domain(&wiki).unwrap().health;
    assert_eq!((health.dense, health.lexical), (IndexState::InStep, IndexState::InStep));
    assert_all_found(&open(folder.path(), &embedder).unwrap(), &embedder, &all);
}

/// Rows that note what was removed.
fn noted_removals(wiki: &std::path::Path) -> i64 {
    let connection = rusqlite::Connection::open(wiki.join("domain.db")).unwrap();
    connection.query_row("SELECT count(*) FROM removed_evidences", [], |row| row.get(0)).unwrap()
}

#[test]
fn two_hundred_updates_of_a_page_leave_no_more_notes_of_removals_than_one() {
    let embedder = embedder();
    let (folder, mut index) = domain(&embedder);
    ingest(&mut index, &pages(), &embedder).unwrap();
    let wiki = folder.path().join("wiki");
    let mut notes = Vec::new();
    let mut changed = pages();
    for number in 0..200 {
        changed[0].passages[0] = format!("State {number} of the tests");
        ingest(&mut index, &changed, &embedder).unwrap();
        notes.push(noted_removals(&wiki));
    }
    assert_eq!(notes, [1; 200]);
    assert_all_found(&index, &embedder, &changed);
    assert!(by_words(&index, "State 198").iter().all(|text| !text.contains("198")));
    drop(index);
    assert!(check(&wiki).clean);
}

#[test]
fn what_was_removed_stays_noted_until_both_indexes_forgot_it() {
    let embedder = embedder();
    let (folder, mut index) = domain(&embedder);
    ingest(&mut index, &pages(), &embedder).unwrap();
    let mut changed = pages();
    changed[0].passages.truncate(1);
    let mut incoming = changed.iter().map(super::Page::incoming);
    // As a kill leaves it: stored, and the indexes not in step.
    index.store_documents(documents(&mut incoming, 2), &embedder, &CancelToken::never(), &mut |_| {}).unwrap();
    drop(index);
    let wiki = folder.path().join("wiki");
    assert_eq!(noted_removals(&wiki), 1);
    let index = open(folder.path(), &embedder).unwrap();
    assert_eq!(noted_removals(&wiki), 1, "the row of the generation");
    assert!(index.db.removed_since(0).unwrap().is_none());
    assert!(index.db.removed_since(index.db.generation().unwrap()).unwrap().is_some_and(|removed| removed.is_empty()));
    assert_all_found(&index, &embedder, &changed);
    drop(index);
    assert!(check(&wiki).clean);
}

#[test]
fn an_index_older_than_what_is_known_of_removals_is_made_anew() {
    let embedder = embedder();
    let (folder, mut index) = domain(&embedder);
    ingest(&mut index, &pages(), &embedder).unwrap();
    let wiki = folder.path().join("wiki");
    let old = folder.path().join("old");
    let copy = |from: &std::path::Path, to: &std::path::Path| {
        fs::create_dir_all(to.join("lexical")).unwrap();
        fs::copy(from.join("dense.usearch"), to.join("dense.usearch")).unwrap();
        for entry in fs::read_dir(from.join("lexical")).unwrap().map(Result::unwrap) {
            fs::copy(entry.path(), to.join("lexical").join(entry.file_name())).unwrap();
        }
    };
    copy(&wiki, &old);
    let mut changed = pages();
    for state in ["first", "second"] {
        changed[0].passages[0] = format!("The {state} state of the tests");
        ingest(&mut index, &changed, &embedder).unwrap();
    }
    drop(index);
    fs::remove_dir_all(wiki.join("lexical")).unwrap();
    copy(&old, &wiki);
    let index = open(folder.path(), &embedder).unwrap();
    assert_all_found(&index, &embedder, &changed);
    assert!(by_words(&index, &pages()[0].passages[0]).iter().all(|text| *text != pages()[0].passages[0]));
    drop(index);
    assert!(check(&wiki).clean);
}

#[test]
fn an_evidence_without_a_vector_is_embedded_by_a_rebuild_and_nothing_else_is() {
    let embedder = embedder();
    let (_folder, wiki) = closed(&embedder);
    meddle(&wiki, "DELETE FROM vectors WHERE evidence = 2");
    let report = check(&wiki);
    assert_eq!(faults(&report)[0], (Fault::NoVector, 1, Remedy::Rebuild));
    let before = embedder.texts();
    let index = Index::rebuild(&wiki, &embedder, &CancelToken::never(), &mut |_| {}).unwrap();
    assert_eq!(embedder.texts(), before + 1);
    assert_all_found(&index, &embedder, &pages());
    drop(index);
    assert!(check(&wiki).clean);
}

#[test]
fn a_text_that_was_changed_is_read_again_by_the_next_ingest() {
    let embedder = embedder();
    let (folder, wiki) = closed(&embedder);
    meddle(&wiki, "UPDATE evidences SET content = 'Nobody ran anything' WHERE id = 1");
    assert_eq!(faults(&check(&wiki))[0], (Fault::OtherText, 1, Remedy::NextIngest));
    let mut index = open(folder.path(), &embedder).unwrap();
    let report = ingest(&mut index, &pages(), &embedder).unwrap();
    assert_eq!((report.updated, report.unchanged), (1, 1));
    assert_all_found(&index, &embedder, &pages());
    drop(index);
    assert!(check(&wiki).clean);
}

#[test]
fn rows_that_belong_to_nothing_are_deleted() {
    let embedder = embedder();
    let (folder, wiki) = closed(&embedder);
    meddle(&wiki, "DELETE FROM documents WHERE id = 1");
    let report = check(&wiki);
    assert_eq!(faults(&report)[0], (Fault::LooseRows, 2, Remedy::Repaired));
    assert_eq!((report.documents, report.evidences.total()), (1, 2));
    assert!(check(&wiki).clean);
    assert!(by_words(&open(folder.path(), &embedder).unwrap(), "Ostrel").is_empty());
}

#[test]
fn a_damaged_database_is_said_to_be_damaged() {
    let embedder = embedder();
    let (_folder, wiki) = closed(&embedder);
    meddle(&wiki, "PRAGMA wal_checkpoint(TRUNCATE)");
    let mut bytes = fs::read(wiki.join("domain.db")).unwrap();
    for byte in &mut bytes[4096..] {
        *byte ^= 0x5a;
    }
    fs::write(wiki.join("domain.db"), bytes).unwrap();
    let error = check_domain(&wiki, &CancelToken::never(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, IndexError::Damaged { .. }), "{error:?}");
    fs::write(wiki.join(super::super::SETTINGS_FILE), "sources = 3\n").unwrap();
    remove_domain(&wiki).unwrap();
    assert!(!wiki.exists());
}

#[test]
fn a_rebuild_that_was_stopped_goes_on_where_it_was() {
    let embedder = embedder();
    let (folder, mut index) = domain(&embedder);
    ingest(&mut index, &super::many_pages(), &embedder).unwrap();
    drop(index);
    let wiki = folder.path().join("wiki");
    let source = CancelSource::default();
    let mut other = WordEmbedder::new("beef");
    other.trouble = Trouble::CancelsAt(5, source.clone());
    let error = Index::rebuild(&wiki, &other, &source.token(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, IndexError::Canceled(_)), "{error:?}");
    // The old vectors are still there.
    assert_all_found(&open(folder.path(), &embedder).unwrap(), &embedder, &super::many_pages()[..1]);
    let index = Index::rebuild(&wiki, &other, &CancelToken::never(), &mut |_| {}).unwrap();
    assert_eq!(other.texts(), 1200, "what was embedded before was embedded again");
    assert_all_found(&index, &other, &super::many_pages()[6..7]);
}

#[test]
fn a_domain_shows_its_documents_and_what_it_was_made_from() {
    let embedder = embedder();
    let (_folder, wiki) = closed(&embedder);
    set_domain(&wiki, &DomainChange { title: Some("Team".to_owned()), prompt_prefix: None }).unwrap();
    let details = show_domain(&wiki).unwrap();
    assert_eq!((details.name.as_str(), details.title.as_str(), details.documents), ("wiki", "Team", 2));
    let contents: Vec<_> = details.contents.iter().map(|e| (e.title.as_str(), e.evidences.total())).collect();
    assert_eq!(contents, [("Tests", 2), ("Travel", 2)]);
    assert_eq!(details.last_ingest.unwrap().added, 2);
    assert!(details.bytes.database > 0 && details.bytes.dense > 0 && details.bytes.lexical > 0);
    assert_eq!(details.health.dense, IndexState::InStep);
}

#[test]
fn only_the_folder_of_a_domain_is_removed() {
    let embedder = embedder();
    let (folder, wiki) = closed(&embedder);
    fs::write(wiki.join("my notes.txt"), "dear").unwrap();
    let error = remove_domain(&wiki).unwrap_err();
    assert!(matches!(&error, IndexError::Foreign { found, .. } if found == "my notes.txt"), "{error:?}");
    assert_all_found(&open(folder.path(), &embedder).unwrap(), &embedder, &pages());
    fs::remove_file(wiki.join("my notes.txt")).unwrap();
    let plain = folder.path().join("plain");
    fs::create_dir(&plain).unwrap();
    assert!(matches!(remove_domain(&plain), Err(IndexError::NotFound { .. })));
    #[cfg(unix)]
    {
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&wiki, &link).unwrap();
        assert!(matches!(remove_domain(&link), Err(IndexError::NotFound { .. })));
    }
    let open = open(folder.path(), &embedder).unwrap();
    let lock = open.lock().unwrap();
    assert!(matches!(remove_domain(&wiki), Err(IndexError::Busy { .. })));
    drop((lock, open));
    remove_domain(&wiki).unwrap();
    assert!(!wiki.exists());
}

#[test]
fn an_unknown_domain_names_the_one_that_was_meant() {
    let embedder = embedder();
    let (folder, _wiki) = closed(&embedder);
    let error = show_domain(&folder.path().join("wikki")).unwrap_err();
    assert!(error.to_string().contains("did you mean `wiki`?"), "{error}");
    let error = show_domain(&folder.path().join("zebra")).unwrap_err();
    assert!(!error.to_string().contains("did you mean"), "{error}");
}

#[test]
fn an_earlier_format_is_refused_with_what_to_do() {
    let embedder = embedder();
    let (folder, wiki) = closed(&embedder);
    meddle(&wiki, "PRAGMA user_version = 1");
    let error = open(folder.path(), &embedder).unwrap_err();
    assert!(matches!(error, IndexError::OlderFormat { found: 1, .. }), "{error:?}");
    assert!(error.to_string().contains("ragonite domain remove wiki"), "{error}");
}

#[test]
fn an_index_left_by_an_earlier_domain_is_not_taken_for_its_own() {
    let embedder = embedder();
    let (folder, wiki) = closed(&embedder);
    for name in ["domain.db", "domain.db-wal", "domain.db-shm"] {
        let _ = fs::remove_file(wiki.join(name));
    }
    let mut index = Index::create(&wiki, super::NewDomain::default(), embedder.identity()).unwrap();
    ingest(&mut index, &pages()[1..], &embedder).unwrap();
    assert_all_found(&index, &embedder, &pages()[1..]);
    drop(index);
    assert!(by_words(&open(folder.path(), &embedder).unwrap(), "Ostrel").is_empty());
}
