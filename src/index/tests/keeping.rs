//! Tests of keeping a domain in step with folders: files that go, come back, move, change and break.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::test_kit::{Page, WordEmbedder, archive, domain, ingest_all, page, split};
use super::super::{Index, IndexError, IngestReport, IngestRequest, IngestStage, KeptReason, Missing, show_domain};
use super::{by_words, embedder, open, pages};
use ragonite_base::{CancelSource, CancelToken};
use ragonite_document::evidence::{ContextParts, EvidenceSettings};
use ragonite_document::{Document, DocumentError, Member};
use ragonite_inference::{Embed as _, TextRole};

/// A domain, and beside it a folder with pages.
struct Wiki {
    data: tempfile::TempDir,
    index: Index,
    embedder: WordEmbedder,
}

impl Wiki {
    fn new(files: &[(&str, &str)]) -> Self {
        let embedder = embedder();
        let (data, index) = domain(&embedder);
        let wiki = Self { data, index, embedder };
        for (name, text) in files {
            wiki.write(name, text);
        }
        wiki
    }

    fn at(&self, name: &str) -> PathBuf {
        self.data.path().join("source").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::create_dir_all(self.at(to).parent().unwrap()).unwrap();
        fs::rename(self.at(from), self.at(to)).unwrap();
    }

    fn run(&mut self, names: &[&str]) -> IngestReport {
        self.try_run(names, Missing::Keep).unwrap()
    }

    fn try_run(&mut self, names: &[&str], missing: Missing) -> Result<IngestReport, IndexError> {
        self.run_until(names, missing, &CancelToken::never())
    }

    fn run_until(
        &mut self,
        names: &[&str],
        missing: Missing,
        cancel: &CancelToken,
    ) -> Result<IngestReport, IndexError> {
        let paths: Vec<PathBuf> = names.iter().map(|name| self.at(name)).collect();
        let (evidence, index) = (EvidenceSettings::default(), super::IndexSettings::default());
        let request = IngestRequest { paths: &paths, evidence: &evidence, index: &index, missing };
        self.index.ingest(&request, &self.embedder, cancel, &mut |_| {})
    }

    /// File names of the documents, with their ids.
    fn documents(&self) -> Vec<(String, i64)> {
        let details = show_domain(&self.data.path().join("wiki")).unwrap();
        let name = |source: &Path| source.file_name().unwrap().to_string_lossy().into_owned();
        details.contents.iter().map(|entry| (name(&entry.source), entry.document.0)).collect()
    }

    fn names(&self) -> Vec<String> {
        self.documents().into_iter().map(|(name, _)| name).collect()
    }
}

const MENU: (&str, &str) = ("menu.txt", "Soup is served on Monday.\n");
const RULES: (&str, &str) = ("rules.txt", "Dogs stay outside.\n");
const TEAM: (&str, &str) = ("team/list.txt", "Alice leads the team.\n");

#[test]
fn a_file_that_is_gone_takes_its_documents_with_it() {
    let mut wiki = Wiki::new(&[MENU, RULES, TEAM]);
    assert_eq!(wiki.run(&[""]).added, 3);
    fs::remove_file(wiki.at("menu.txt")).unwrap();
    fs::remove_dir_all(wiki.at("team")).unwrap();
    let report = wiki.run(&[""]);
    assert_eq!((report.removed, report.unchanged, report.documents), (2, 1, 1));
    assert_eq!(wiki.names(), ["rules.txt"]);
    assert!(by_words(&wiki.index, "soup").is_empty() && by_words(&wiki.index, "Alice").is_empty());
    let again = open(wiki.data.path(), &wiki.embedder).unwrap();
    assert_eq!(by_words(&again, "dogs"), ["Dogs stay outside."]);
}

#[test]
fn a_missing_folder_removes_nothing_until_the_user_says_that_it_is_gone() {
    let mut wiki = Wiki::new(&[MENU, TEAM]);
    wiki.run(&[""]);
    fs::rename(wiki.at(""), wiki.data.path().join("unplugged")).unwrap();
    let report = wiki.run(&[""]);
    assert_eq!((report.removed, report.documents), (0, 2));
    assert_eq!((report.kept[0].reason, report.kept[0].documents), (KeptReason::Missing, 2));
    let report = wiki.try_run(&[""], Missing::Remove).unwrap();
    assert_eq!((report.removed, report.documents, report.kept.len()), (2, 0, 0));
    assert!(matches!(wiki.try_run(&[""], Missing::Keep), Err(IndexError::Documents(_))), "it was not forgotten");
}

#[test]
fn a_folder_that_holds_no_document_any_more_is_suspicious() {
    let mut wiki = Wiki::new(&[MENU, TEAM]);
    wiki.run(&[""]);
    fs::remove_dir_all(wiki.at("")).unwrap();
    fs::create_dir(wiki.at("")).unwrap();
    let report = wiki.run(&[""]);
    assert_eq!((report.removed, report.kept[0].reason, report.kept[0].documents), (0, KeptReason::Empty, 2));
    assert_eq!(wiki.try_run(&[""], Missing::Remove).unwrap().removed, 2);
}

#[test]
fn a_folder_given_earlier_keeps_its_documents_inside_a_folder_given_now() {
    let mut wiki = Wiki::new(&[MENU, TEAM]);
    wiki.run(&["team"]);
    wiki.run(&[""]);
    // As when a share below the folder is not mounted.
    fs::remove_file(wiki.at("team/list.txt")).unwrap();
    let report = wiki.run(&[""]);
    assert_eq!((report.removed, report.unchanged), (0, 1));
    assert!(report.kept[0].path.ends_with("team"), "{:?}", report.kept);
}

#[test]
fn files_outside_the_given_folders_are_left_alone() {
    let mut wiki = Wiki::new(&[MENU, TEAM]);
    wiki.run(&[""]);
    fs::remove_file(wiki.at("menu.txt")).unwrap();
    let report = wiki.run(&["team"]);
    assert_eq!((report.removed, report.unchanged, report.documents), (0, 1, 2));
    wiki.write("other/new.txt", "Tea is at four.\n");
    assert_eq!((wiki.run(&["other/new.txt"]).removed, wiki.names().len()), (0, 3));
}

#[test]
fn a_renamed_file_keeps_its_document_and_is_not_embedded_again() {
    let mut wiki = Wiki::new(&[("menu.md", "# Menu\n\nSoup is served on Monday.\n"), RULES]);
    wiki.run(&[""]);
    let (before, embedded) = (wiki.documents(), wiki.embedder.texts());
    let soup = wiki.index.lexical_search("soup", 1).unwrap()[0].evidence;
    wiki.rename("menu.md", "kitchen/Week 7.md");
    let report = wiki.run(&[""]);
    assert_eq!((report.renamed, report.added, report.removed, report.unchanged), (1, 0, 0, 1));
    assert_eq!(wiki.embedder.texts(), embedded);
    assert_eq!(wiki.documents()[0], ("Week 7.md".to_owned(), before[0].1));
    let stored = wiki.index.evidences(&[soup]).unwrap().remove(0);
    assert_eq!(stored.title, "Menu");
    assert!(stored.url.ends_with("kitchen/Week 7.md"), "{}", stored.url);
    assert_eq!(wiki.run(&[""]).unchanged, 2);
}

#[test]
fn a_title_that_is_the_name_of_the_file_follows_it_into_every_evidence() {
    let mut wiki = Wiki::new(&[MENU, RULES]);
    wiki.run(&[""]);
    let before = wiki.documents();
    wiki.rename("menu.txt", "kitchen/Week 7.txt");
    let report = wiki.run(&[""]);
    assert_eq!((report.renamed, report.updated, report.added, report.removed, report.unchanged), (1, 0, 0, 0, 1));
    assert_eq!(wiki.documents()[0], ("Week 7.txt".to_owned(), before[0].1));
    let soup = wiki.index.lexical_search("soup", 1).unwrap()[0].evidence;
    let stored = wiki.index.evidences(&[soup]).unwrap().remove(0);
    assert_eq!((stored.title.as_str(), stored.evidence.context.title.as_str()), ("Week 7", "Week 7"));
    assert!(wiki.index.lexical_search("menu", 5).unwrap().is_empty(), "the old title is still searched");
    assert_eq!(wiki.run(&[""]).unchanged, 2);
}

#[test]
fn a_file_that_can_no_longer_be_read_keeps_its_evidence_and_the_report_says_so() {
    let mut wiki = Wiki::new(&[MENU, RULES]);
    wiki.run(&[""]);
    fs::write(wiki.at("menu.txt"), [0, 1, 2, 255]).unwrap();
    fs::write(wiki.at("new.txt"), [0, 1, 2, 255]).unwrap();
    for _ in 0..2 {
        let report = wiki.run(&[""]);
        assert_eq!((report.documents, report.removed), (2, 0));
        let said = |name: &str| report.skipped.iter().find(|skipped| skipped.path.ends_with(name)).unwrap();
        assert!(said("menu.txt").reason.ends_with("its evidence from an earlier ingest is kept"), "{report:?}");
        assert!(!said("new.txt").reason.contains("kept"), "{report:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_name_that_is_no_text_is_a_name_like_any_other() {
    use std::os::unix::ffi::OsStrExt as _;
    let mut wiki = Wiki::new(&[RULES]);
    for (byte, text) in [(0xe9_u8, "Soup is served on Monday.\n"), (0xe8, "Tea is at four.\n")] {
        let name = [b"caf", &[byte][..], b".txt"].concat();
        fs::write(wiki.at("").join(std::ffi::OsStr::from_bytes(&name)), text).unwrap();
    }
    assert_eq!(wiki.run(&[""]).added, 3);
    for _ in 0..3 {
        let report = wiki.run(&[""]);
        assert_eq!((report.unchanged, report.added, report.removed, report.documents), (3, 0, 0, 3));
    }
}

#[test]
fn a_folder_that_was_emptied_below_a_given_one_keeps_its_documents_and_says_so() {
    let mut wiki = Wiki::new(&[("share/menu.txt", MENU.1), RULES]);
    wiki.run(&[""]);
    fs::remove_file(wiki.at("share/menu.txt")).unwrap();
    let report = wiki.run(&[""]);
    assert_eq!((report.removed, report.documents, report.kept.len()), (0, 2, 1));
    assert_eq!((report.kept[0].documents, report.kept[0].reason), (1, KeptReason::Empty));
    assert_eq!(report.kept[0].path, wiki.at("share"));
    // Something else in it shows that the folder itself is the one that held the document.
    wiki.write("share/new.txt", "Tea is at four.\n");
    assert_eq!(wiki.run(&[""]).removed, 1);
    fs::remove_dir_all(wiki.at("share")).unwrap();
    assert_eq!(wiki.run(&[""]).removed, 1);
}

#[test]
fn another_ending_is_another_file_but_the_same_texts() {
    let mut wiki = Wiki::new(&[RULES]);
    wiki.write("page.txt", "# Menu\n\nSoup is served on Monday.\n");
    wiki.run(&[""]);
    wiki.rename("rules.txt", "rules.text");
    let embedded = wiki.embedder.texts();
    let report = wiki.run(&[""]);
    assert_eq!((report.renamed, report.added, report.removed), (0, 1, 1));
    assert_eq!(wiki.embedder.texts(), embedded);
}

#[test]
fn two_copies_of_one_text_are_two_documents_and_one_is_followed() {
    let mut wiki = Wiki::new(&[("a.txt", "Same.\n"), ("b.txt", "Same.\n"), RULES]);
    wiki.run(&[""]);
    wiki.rename("a.txt", "c.txt");
    wiki.write("d.txt", "Same.\n");
    let report = wiki.run(&[""]);
    assert_eq!((report.renamed, report.added, report.unchanged, report.removed), (1, 1, 2, 0));
    assert_eq!(wiki.names(), ["b.txt", "c.txt", "d.txt", "rules.txt"]);
}

#[test]
fn a_whole_folder_that_moved_is_followed() {
    let mut wiki = Wiki::new(&[("old/menu.txt", MENU.1), ("old/rules.txt", RULES.1)]);
    wiki.run(&["old"]);
    let (before, embedded) = (wiki.documents(), wiki.embedder.texts());
    wiki.rename("old", "new");
    let report = wiki.run(&["old", "new"]);
    assert_eq!((report.renamed, report.removed, report.kept.len()), (2, 0, 0));
    assert_eq!((wiki.documents(), wiki.embedder.texts()), (before, embedded));
    // Nothing is left of the old folder, so the next run has only the new one to read.
    assert_eq!(wiki.run(&[]).unchanged, 2);
}

#[test]
fn a_file_that_broke_keeps_its_last_good_state_and_is_reported_every_time() {
    let mut wiki = Wiki::new(&[MENU, RULES]);
    wiki.run(&[""]);
    wiki.write("menu.txt", "");
    for _ in 0..2 {
        let report = wiki.run(&[""]);
        assert_eq!((report.documents, report.removed, report.updated), (2, 0, 0));
        assert!(report.skipped[0].path.ends_with("menu.txt"), "{:?}", report.skipped);
        assert_eq!(by_words(&wiki.index, "soup"), ["Soup is served on Monday."]);
    }
    wiki.write("menu.txt", "Soup is served on Friday.\n");
    let report = wiki.run(&[""]);
    assert_eq!((report.updated, report.skipped.len()), (1, 0));
    assert_eq!(by_words(&wiki.index, "soup"), ["Soup is served on Friday."]);
}

#[test]
fn without_paths_the_folders_of_earlier_runs_are_read_again() {
    let mut wiki = Wiki::new(&[("a/menu.txt", MENU.1), ("b/rules.txt", RULES.1)]);
    assert!(matches!(wiki.try_run(&[], Missing::Keep), Err(IndexError::NoRoots { .. })));
    wiki.run(&["a"]);
    wiki.run(&["b/rules.txt"]);
    wiki.write("a/more.txt", "Bread is free.\n");
    let report = wiki.run(&[]);
    assert_eq!((report.added, report.unchanged), (1, 2));
}

#[test]
fn members_of_an_archive_are_kept_changed_and_taken_out_one_by_one() {
    let embedder = embedder();
    let (folder, mut index) = domain(&embedder);
    let run = |index: &mut Index, pages: &[Page]| {
        ingest_all(index, vec![archive("export.zip", pages)], &embedder, &CancelToken::never()).unwrap()
    };
    let three = [pages(), vec![page("Menu", &["Soup is served on Monday"])]].concat();
    assert_eq!(run(&mut index, &three).added, 3);
    let travel = index.lexical_search("trains", 1).unwrap()[0].evidence;
    assert_eq!(run(&mut index, &three).unchanged, 3);

    let embedded = embedder.texts();
    let changed = [page("Menu", &["Soup is served on Friday"]), three[1].clone(), page("Broken", &[])];
    let report = run(&mut index, &changed);
    assert_eq!((report.updated, report.unchanged, report.removed, report.documents), (1, 1, 1, 2));
    assert_eq!(report.skipped[0].path, Path::new("/wiki/export.zip!/Broken"));
    assert_eq!(embedder.texts(), embedded + 1);
    assert_eq!(index.lexical_search("trains", 1).unwrap()[0].evidence, travel);
    assert!(by_words(&index, "Ostrel").is_empty());

    // A member that breaks keeps its state, and what is broken is told again although nothing is read.
    let broken = [changed[0].clone(), page("Travel", &[])];
    let report = run(&mut index, &broken);
    assert_eq!((report.documents, report.removed, report.skipped.len()), (2, 0, 1));
    let report = run(&mut index, &broken);
    assert_eq!((report.unchanged, report.skipped.len()), (2, 1));
    let details = show_domain(&folder.path().join("wiki")).unwrap();
    assert_eq!(details.skipped, report.skipped);
}

#[test]
fn an_archive_that_cannot_be_read_to_its_end_loses_no_member() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    let never = CancelToken::never();
    ingest_all(&mut index, vec![archive("export.zip", &pages())], &embedder, &never).unwrap();
    let mut cut = archive("export.zip", &pages()[..1]);
    let read = cut.read;
    cut.hash = Box::new(|| Ok(super::super::ingest::ContentHash::of(b"cut")));
    cut.read = Box::new(|visit| {
        read(visit)?;
        Err(DocumentError::UnknownFormat { path: "/wiki/export.zip".into() })
    });
    let report = ingest_all(&mut index, vec![cut], &embedder, &never).unwrap();
    assert_eq!((report.documents, report.removed, report.skipped.len()), (2, 0, 1));
}

#[test]
fn two_members_of_one_name_are_two_documents() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    let twins = [page("Menu", &["Soup"]), page("Menu", &["Bread"])];
    for (added, unchanged) in [(2, 0), (0, 2)] {
        let incoming = vec![archive("export.zip", &twins)];
        let report = ingest_all(&mut index, incoming, &embedder, &CancelToken::never()).unwrap();
        assert_eq!((report.added, report.unchanged), (added, unchanged));
    }
}

#[test]
fn a_parser_that_panics_costs_its_file_only() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    let mut bad = page("Bad", &["x"]).incoming();
    bad.read = Box::new(|_| panic!("a defect of a parser, on purpose"));
    let incoming = vec![pages()[0].incoming(), bad, pages()[1].incoming()];
    let report = ingest_all(&mut index, incoming, &embedder, &CancelToken::never()).unwrap();
    assert_eq!((report.added, report.skipped.len()), (2, 1));
    assert!(report.skipped[0].reason.contains("defect"), "{:?}", report.skipped);
}

#[test]
fn settings_that_give_the_same_texts_embed_nothing() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    super::ingest(&mut index, &pages(), &embedder).unwrap();
    let embedded = embedder.texts();
    let all = pages();
    let mut incoming = all.iter().map(Page::incoming);
    let other = super::Documents { evidence: serde_json::json!({"other": 1}), ..super::documents(&mut incoming, 2) };
    let report = index.ingest_locked(other, &embedder, &CancelToken::never(), &mut |_| {}).unwrap();
    assert_eq!((report.updated, report.embedded, embedder.texts()), (2, 0, embedded));
}

/// What is stored of the files, by name: the contents of their evidences.
fn stored(wiki: &Wiki) -> Vec<(String, Vec<String>)> {
    let documents = wiki.documents().into_iter().map(|(name, id)| {
        let evidences = wiki.index.evidences_of(ragonite_base::DocumentId(id)).unwrap();
        (name, evidences.into_iter().map(|stored| stored.evidence.content).collect())
    });
    documents.collect()
}

#[test]
fn cancelling_within_a_document_keeps_the_one_before_and_the_next_run_reads_it() {
    let table = |state: &str| {
        let rows: String = (0..60).map(|row| format!("<tr><td>{state} {row}</td><td>{row}</td></tr>")).collect();
        format!("<title>Page</title><main><h2>Part</h2><p>{state}.</p><table>{rows}</table></main>")
    };
    let lines = |state: &str| (0..60).map(|row| format!("{state} {row},{row}\n")).collect::<String>();
    let mut wiki = Wiki::new(&[("a.html", &table("Old")), ("b.csv", &lines("Old")), ("c.md", "# C\n\nsame")]);
    wiki.run(&["."]);
    let write = |wiki: &Wiki, state: &str| {
        wiki.write("a.html", &table(state));
        wiki.write("b.csv", &lines(state));
    };
    // How often it is looked at is a little different each time, for two threads look.
    let (mut before, mut places, mut at, mut canceled) = (stored(&wiki), 0, 0, 0);
    for state in 0.. {
        write(&wiki, &format!("State{state}"));
        let cancel = CancelToken::canceled_after(at);
        let ended = wiki.run_until(&["."], Missing::Keep, &cancel);
        let after = stored(&wiki);
        match ended {
            Err(IndexError::Canceled(_)) => canceled += 1,
            Err(error) => panic!("{error:?} at {at}"),
            Ok(report) => {
                assert_eq!((report.updated, report.skipped.len()), (2, 0));
                break;
            }
        }
        let report = wiki.run(&["."]);
        assert_eq!((report.added, report.removed, report.skipped.len()), (0, 0, 0), "at {at}");
        let whole = stored(&wiki);
        for ((before, after), whole) in before.iter().zip(&after).zip(&whole) {
            assert!(after == before || after == whole, "half a document of {} at {at}", after.0);
        }
        assert_eq!(after.len(), before.len());
        before = whole;
        places = at;
        at += 1 + at / 6;
    }
    assert!(canceled > 20, "cancelled at {places} in the end");
}

#[test]
fn cancelling_while_indexing_is_finished_by_the_next_opening() {
    let embedder = embedder();
    let (folder, mut index) = domain(&embedder);
    let source = CancelSource::default();
    let all = pages();
    let mut incoming = all.iter().map(Page::incoming);
    let mut cancel = |progress: super::IngestProgress| {
        if progress.stage == IngestStage::Indexing {
            source.cancel();
        }
    };
    let documents = super::documents(&mut incoming, 2);
    let error = index.ingest_locked(documents, &embedder, &source.token(), &mut cancel).unwrap_err();
    assert!(matches!(error, IndexError::Canceled(_)), "{error:?}");
    drop(index);
    super::assert_all_found(&open(folder.path(), &embedder).unwrap(), &embedder, &all);
}

#[test]
fn links_and_pages_above_are_given_back() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    let mut incoming = page("Menu", &["See the recipe"]).incoming();
    let document = Document {
        ancestors: vec!["Home".to_owned(), "Kitchen".to_owned()],
        ..page("Menu", &["See the recipe"]).document()
    };
    incoming.read = Box::new(move |visit| {
        let _ = visit(Member { name: None, content: Ok(document) });
        Ok(())
    });
    let link = ragonite_document::evidence::EvidenceLink {
        text: "recipe".to_owned(),
        target: "https://example.org/soup".to_owned(),
    };
    let with_link = |document: &Document| {
        let mut split = split(document);
        split.evidences[0].links = vec![link.clone()];
        Ok(split)
    };
    let mut incoming = std::iter::once(incoming);
    let documents = super::Documents { split: &with_link, ..super::documents(&mut incoming, 1) };
    index.ingest_locked(documents, &embedder, &CancelToken::never(), &mut |_| {}).unwrap();
    let found = index.lexical_search("recipe", 1).unwrap();
    let stored = index.evidences(&[found[0].evidence]).unwrap().remove(0);
    assert_eq!(stored.evidence.links, [link]);
    assert_eq!(stored.ancestors, ["Home", "Kitchen"]);
    let canceled = CancelSource::default();
    canceled.cancel();
    let unless = index.evidences_of_unless(stored.document, &canceled.token());
    assert!(matches!(unless, Err(IndexError::Canceled(_))), "{unless:?}");
    assert_eq!(index.evidences_of(stored.document).unwrap(), [stored]);
}

#[test]
fn a_rebuild_keeps_the_context_that_each_document_was_stored_with() {
    let mut wiki = Wiki::new(&[MENU, RULES]);
    wiki.run(&["menu.txt", "rules.txt"]);
    let (paths, evidence) = ([wiki.at("menu.txt")], EvidenceSettings::default());
    let bare = super::IndexSettings { context: ContextParts::NONE };
    let request = IngestRequest { paths: &paths, evidence: &evidence, index: &bare, missing: Missing::Keep };
    wiki.index.ingest(&request, &wiki.embedder, &CancelToken::never(), &mut |_| {}).unwrap();
    let Wiki { data, index, .. } = wiki;
    drop(index);
    let other = WordEmbedder::new("beef");
    let index = Index::rebuild(&data.path().join("wiki"), &other, &CancelToken::never(), &mut |_| {}).unwrap();
    for (word, context) in [("soup", ContextParts::NONE), ("dogs", ContextParts::ALL)] {
        let found = index.lexical_search(word, 1).unwrap()[0].evidence;
        let stored = index.evidences(&[found]).unwrap().remove(0);
        assert_eq!(stored.indexed, context, "{word}");
        let made = other.embed(&[&stored.evidence.contextualized(context)], TextRole::Evidence, &CancelToken::never());
        assert_eq!(index.vectors(&[found]).unwrap(), made.unwrap(), "{word}");
    }
    assert!(index.lexical_search("menu", 5).unwrap().is_empty(), "the title is searched although it was left out");
    assert!(!index.lexical_search("rules", 5).unwrap().is_empty());
}

#[test]
fn a_text_that_goes_from_one_document_to_another_keeps_its_vector() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    let tests = |text: &str| page("Tests", &[text]);
    let never = CancelToken::never();
    let moved = "Alice ran the TPM tests";
    let rest = page("Rest", &["Trains are booked by the office"]);
    ingest_all(&mut index, vec![archive("a.zip", &[tests(moved), rest.clone()])], &embedder, &never).unwrap();
    // Replaced in one archive, and then gone from it, before the document that has it now is stored.
    let changed = [tests("Bob ran the others"), rest.clone()];
    for (first, second) in [
        (archive("a.zip", &changed), archive("b.zip", &[tests(moved)])),
        (archive("b.zip", &[rest]), archive("c.zip", &[tests(moved)])),
    ] {
        let before = embedder.texts();
        let report = ingest_all(&mut index, vec![first, second], &embedder, &never).unwrap();
        assert!(report.embedded < 2 && embedder.texts() == before + report.embedded);
        let vector = embedder.embed(&[moved], TextRole::Query, &never).unwrap().remove(0);
        let best = index.dense_search(&vector, 1).unwrap()[0].evidence;
        assert_eq!(index.evidences(&[best]).unwrap()[0].evidence.content, moved);
    }
}

#[test]
fn an_opening_that_is_cancelled_at_any_place_leaves_the_domain_as_it_was() {
    let embedder = embedder();
    let (folder, mut index) = domain(&embedder);
    let all = pages();
    ingest_all(&mut index, all.iter().map(Page::incoming).collect(), &embedder, &CancelToken::never()).unwrap();
    let wiki = folder.path().join("wiki");
    drop(index);
    let as_it_was = files(&wiki);
    let mut at = 0;
    loop {
        let cancel = CancelToken::canceled_after(at);
        let opened = Index::open(&wiki, embedder.identity(), &cancel, &mut |_| {});
        assert_eq!(files(&wiki), as_it_was, "cancelled at {at}");
        match opened {
            Err(IndexError::Canceled(_)) => at += 1,
            Err(error) => panic!("{error:?} at {at}"),
            Ok(_) => break,
        }
    }
    // Each sealed file is hashed, and each is a place.
    assert!(at > 5, "cancelled at {at} places");
    super::assert_all_found(&open(folder.path(), &embedder).unwrap(), &embedder, &pages());
}

/// The derived files with their bytes.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let lexical = fs::read_dir(folder.join("lexical")).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> = lexical.chain([folder.join("dense.usearch")]).collect();
    all.retain(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.'));
    all.sort();
    all.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}
