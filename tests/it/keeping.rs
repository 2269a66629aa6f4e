//! Kills during an ingest: after a kill at any moment, the next start opens, a check repairs the indexes, and resuming
//! gives the same evidences as an undisturbed run.
//!
//! The ingest runs in a child process of this test program with the deterministic embedder. A kill comes after a number
//! of progress messages. `RAGONITE_KILLS` sets the number of kills.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ragonite::base::CancelToken;
use ragonite::document::evidence::{Evidence, EvidenceSettings};
use ragonite::index::{
    Index, IndexSettings, IngestProgress, IngestReport, IngestRequest, Missing, NewDomain, Remedy, check_domain,
    show_domain,
};
use ragonite::inference::{Embed as _, HashEmbedder};

use crate::pages::{page, write_pages};
use crate::program::{Program, models};

/// Tells the child which folder to work in.
const CHILD: &str = "RAGONITE_KILLED_CHILD";

const PAGES: usize = 60;

/// Evidences with their vectors.
type Embedded = Vec<(Evidence, Vec<f32>)>;

/// Source, title and evidences.
type Document = (PathBuf, String, Embedded);

/// A temporary folder with pages and a domain made from them.
struct Place(PathBuf);

impl Place {
    fn pages(&self) -> PathBuf {
        self.0.join("pages")
    }

    fn domain(&self) -> PathBuf {
        self.0.join("domains/wiki")
    }

    fn ingest(&self, on_progress: &mut dyn FnMut(IngestProgress)) -> IngestReport {
        let embedder = HashEmbedder::default();
        let cancel = CancelToken::never();
        let identity = embedder.identity();
        let mut index =
            Index::open_or_create(&self.domain(), NewDomain::default(), identity, &cancel, &mut |_| {}).unwrap();
        let (evidence, settings) = (EvidenceSettings::default(), IndexSettings::default());
        let paths = [self.pages()];
        let request = IngestRequest { paths: &paths, evidence: &evidence, index: &settings, missing: Missing::Keep };
        index.ingest(&request, &embedder, &cancel, on_progress).unwrap()
    }

    /// Everything stored except ids, by source.
    fn content(&self) -> Vec<Document> {
        let embedder = HashEmbedder::default();
        let index = Index::open(&self.domain(), embedder.identity(), &CancelToken::never(), &mut |_| {}).unwrap();
        let details = show_domain(&self.domain()).unwrap();
        let documents = details.contents.into_iter().map(|entry| {
            let stored = index.evidences_of(entry.document).unwrap();
            let evidences = stored.into_iter().map(|stored| {
                let vector = index.vectors(&[stored.id]).unwrap().remove(0);
                (stored.evidence, vector.values().to_vec())
            });
            (entry.source.strip_prefix(self.pages()).unwrap().to_owned(), entry.title, evidences.collect())
        });
        documents.collect()
    }

    /// Changes, removes, renames and adds pages.
    fn change_pages(&self) {
        let folder = self.pages().join("part-000");
        let at = |number: usize| folder.join(format!("page-{number:05}.html"));
        for number in 0..15 {
            let text = page(number).replace("was found in order", "was found broken");
            fs::write(at(number), text).unwrap();
        }
        for number in 15..25 {
            fs::remove_file(at(number)).unwrap();
            fs::rename(at(number + 10), folder.join(format!("renamed-{number}.html"))).unwrap();
        }
        write_pages(&self.pages(), PAGES..PAGES + 20).unwrap();
    }
}

/// The first difference between two contents.
fn first_difference(found: &[Document], wanted: &[Document]) -> Option<String> {
    if found.len() != wanted.len() {
        return Some(format!("{} documents, not {}", found.len(), wanted.len()));
    }
    found.iter().zip(wanted).find(|(found, wanted)| found != wanted).map(|(found, wanted)| {
        let evidences = found.2.iter().zip(&wanted.2).find(|(found, wanted)| found != wanted);
        match evidences {
            Some((found, wanted)) if found.0 == wanted.0 => format!("another vector of {:?}", found.0),
            Some((found, wanted)) => format!("{:?}, not {:?}", found.0, wanted.0),
            None => format!(
                "{} {} with {} evidences, not {} {} with {}",
                found.0.display(),
                found.1,
                found.2.len(),
                wanted.0.display(),
                wanted.1,
                wanted.2.len()
            ),
        }
    })
}

fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir_all(target).unwrap();
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the parent says where to work")]
fn the_child_that_is_killed() {
    let Some(folder) = std::env::var_os(CHILD) else {
        println!("skipped: this is the child of the test of kills, it does nothing on its own");
        return;
    };
    let mut out = std::io::stdout();
    Place(folder.into()).ingest(&mut |_| {
        // The parent may be gone.
        let _ = writeln!(out, "progress");
        let _ = out.flush();
    });
}

/// Starts the child, kills it after `messages` progress messages, and gives the number that arrived.
fn kill_after(place: &Place, messages: usize) -> usize {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["keeping::the_child_that_is_killed", "--exact", "--nocapture"])
        .env(CHILD, &place.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let heard = lines.map_while(Result::ok).filter(|line| line.contains("progress")).take(messages).count();
    child.kill().unwrap();
    child.wait().unwrap();
    heard
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the number of kills is the tester's choice")]
fn a_kill_at_any_moment_loses_nothing() {
    let kills: usize = std::env::var("RAGONITE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(6);
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (fresh, first, second) = (Place(root.join("fresh")), Place(root.join("first")), Place(root.join("second")));
    write_pages(&fresh.pages(), 0..PAGES).unwrap();
    copy(&fresh.0, &first.0);
    let mut messages = [0, 0];
    first.ingest(&mut |_| messages[0] += 1);
    // A database has the paths of its folder, so the second state is made in the place of the first.
    fs::rename(&first.0, root.join("work")).unwrap();
    let work = Place(root.join("work"));
    fs::remove_dir_all(work.domain()).unwrap();
    work.ingest(&mut |_| {});
    let after_first = work.content();
    copy(&work.0, &first.0);
    work.change_pages();
    work.ingest(&mut |_| messages[1] += 1);
    let after_second = work.content();
    fs::rename(&work.0, &second.0).unwrap();
    assert_eq!((after_first.len(), after_second.len()), (PAGES, PAGES + 10));

    let (mut state, mut repaired, mut cut_short) = (0x2545_f491_4f6c_dd1d_u64, 0, 0);
    for kill in 0..kills {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let _ = fs::remove_dir_all(&work.0);
        let (wanted, total) = if kill % 2 == 0 {
            copy(&fresh.0, &work.0);
            (&after_first, messages[0])
        } else {
            copy(&first.0, &work.0);
            work.change_pages();
            (&after_second, messages[1])
        };
        let after = 1 + state as usize % total;
        cut_short += usize::from(kill_after(&work, after) == after);
        if work.domain().join("domain.db").metadata().is_ok_and(|file| file.len() > 0) {
            let report = check_domain(&work.domain(), &CancelToken::never(), &mut |_| {}).unwrap();
            assert!(report.findings.iter().all(|finding| finding.remedy == Remedy::Repaired), "{report:?}");
            repaired += usize::from(!report.clean);
        }
        work.ingest(&mut |_| {});
        let difference = first_difference(&work.content(), wanted);
        assert_eq!(difference, None, "kill {kill} after {after} of {total} messages left other evidences");
        assert!(check_domain(&work.domain(), &CancelToken::never(), &mut |_| {}).unwrap().clean);
    }
    println!("{kills} kills: {cut_short} while messages were left, {repaired} domains repaired by the check");
    assert!(cut_short > 0, "no child was killed at work");
}

#[test]
fn esc_stops_an_ingest_and_the_next_run_goes_on() {
    let Some(models) = models() else { return };
    let program = Program::new(models);
    let folder = program.data.path().join("pages");
    write_pages(&folder, 0..150).unwrap();
    let folder = folder.to_str().unwrap();
    let mut session = program.open(120, 40, &["ingest", "--domain", "ships", folder]);
    session.wait_for_text("of 150 documents");
    session.type_keys("\u{1b}");
    let (status, screen) = session.wait_for_exit();
    assert_eq!(status.exit_code(), 130, "{screen}");
    assert!(screen.contains("stopped;"), "{screen}");
    assert!(
        screen.contains("shell is back") && !screen.contains("-icanon"),
        "the terminal was not given back:\n{screen}"
    );
    let report = program.json(&["ingest", "--domain", "ships", folder]);
    let count = |name: &str| report[name].as_u64().unwrap();
    assert_eq!((count("documents"), count("added") + count("unchanged")), (150, 150), "{report}");
}

#[test]
fn a_domain_is_shown_changed_checked_and_removed() {
    let Some(models) = models() else { return };
    let program = Program::new(models);
    program.ingest_league();
    let shown = program.json(&["domain", "set", "league", "--title", "Harbour League"]);
    assert_eq!((&shown["title"], &shown["documents"]), (&"Harbour League".into(), &8.into()));
    assert_eq!(shown["contents"].as_array().unwrap().len(), 8);
    assert_eq!(shown["roots"][0]["kind"], "folder");
    assert_eq!(shown["last_ingest"]["added"], 8);
    assert_eq!(program.json(&["domain", "check", "league"])["clean"], true);
    // The embedder is the same, so nothing is embedded and it is fast.
    assert_eq!(program.json(&["domain", "rebuild", "league"])["documents"], 8);
    assert_eq!(program.json(&["ingest", "--domain", "league"])["unchanged"], 8);

    let unknown = program.run(&["domain", "show", "leage"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("did you mean `league`?"));
    assert_eq!(program.run(&["domain", "remove", "league"]).status.code(), Some(2), "it was removed without asking");
    assert_eq!(program.json(&["domain", "remove", "league", "--yes"])["removed"], "league");
    assert_eq!(program.json(&["domain", "list"])["domains"].as_array().unwrap().len(), 0);
}

#[test]
fn an_ingest_that_reads_nothing_leaves_no_domain_behind() {
    let Some(models) = models() else { return };
    let program = Program::new(models);
    let folder = program.data.path().join("pages");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("broken.json"), "{").unwrap();
    let output = program.run(&["ingest", "--domain", "nothing", folder.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(program.run(&["ingest", "--domain", "nothing"]).status.code(), Some(2));
    assert_eq!(program.json(&["domain", "list"])["domains"].as_array().unwrap().len(), 0);
}
