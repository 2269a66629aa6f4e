//! Speed and memory of an ingest without the cost of embedding.
//!
//! `cargo bench --bench ingest` measures the benchmark corpus, if available, and 10,000 generated pages; `cargo bench
//! --bench ingest -- 500` sets the number of pages, `cargo bench --bench ingest -- PATH` measures the documents in PATH
//! once. The embedder is the deterministic one of the tests, so reading, splitting, storing and indexing remain.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

#[path = "../it/pages.rs"]
mod pages;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ragonite::base::CancelToken;
use ragonite::document::evidence::EvidenceSettings;
use ragonite::index::{Index, IndexSettings, IngestReport, IngestRequest, Missing, NewDomain};
use ragonite::inference::{Embed, HashEmbedder};

/// Default number of generated pages.
const PAGES: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(path) = std::env::args().skip(1).map(PathBuf::from).find(|path| path.exists()) {
        let data = tempfile::tempdir()?;
        let report = timed("given path", "all new", || ingest(&data.path().join("bench"), &path))?;
        println!("  {} documents, {} evidences", report.documents, report.evidences.total());
        report.skipped.iter().for_each(|skipped| println!("  skipped {}: {}", skipped.path.display(), skipped.reason));
        return Ok(());
    }
    let pages = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(PAGES);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/confquestions/documents");
    if corpus.is_dir() {
        let copied = tempfile::tempdir()?;
        for entry in fs::read_dir(&corpus)? {
            let entry = entry?;
            fs::copy(entry.path(), copied.path().join(entry.file_name()))?;
        }
        measure("benchmark corpus", copied.path())?;
    } else {
        println!("no benchmark corpus at {}", corpus.display());
    }
    let generated = tempfile::tempdir()?;
    pages::write_pages(generated.path(), 0..pages)?;
    measure("generated pages", generated.path())
}

/// Ingests a folder from scratch, again unchanged, and again with one changed page.
fn measure(name: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let data = tempfile::tempdir()?;
    let domain = data.path().join("bench");
    let all = timed(name, "all new", || ingest(&domain, folder))?;
    println!("  {} documents, {} evidences: {}", all.documents, all.evidences.total(), all.evidences);
    timed(name, "unchanged", || ingest(&domain, folder))?;
    let changed = walkdir::WalkDir::new(folder).into_iter().flatten().find(|entry| entry.file_type().is_file());
    if let Some(changed) = changed {
        let text = fs::read_to_string(changed.path())?;
        fs::write(changed.path(), text.replacen(" the ", " the very ", 3))?;
    }
    let one = timed(name, "one changed", || ingest(&domain, folder))?;
    println!("  {} updated, {} evidences embedded", one.updated, one.embedded);
    Ok(())
}

/// An ingest as by the command: open, sync, close.
fn ingest(domain: &Path, folder: &Path) -> Result<IngestReport, Box<dyn Error>> {
    let embedder = HashEmbedder::default();
    let never = CancelToken::never();
    let mut index = Index::open_or_create(domain, NewDomain::default(), embedder.identity(), &never, &mut |_| {})?;
    let paths: [PathBuf; 1] = [folder.to_path_buf()];
    let (evidence, settings) = (EvidenceSettings::default(), IndexSettings::default());
    let request = IngestRequest { paths: &paths, evidence: &evidence, index: &settings, missing: Missing::Keep };
    Ok(index.ingest(&request, &embedder, &never, &mut |_| {})?)
}

fn timed<T>(name: &str, what: &str, work: impl FnOnce() -> Result<T, Box<dyn Error>>) -> Result<T, Box<dyn Error>> {
    let (started, computed) = (Instant::now(), processor_seconds().unwrap_or(0.0));
    let done = work()?;
    let seconds = started.elapsed().as_secs_f64();
    let computed = processor_seconds().unwrap_or(0.0) - computed;
    let peak = peak_megabytes().unwrap_or(0);
    println!("{name}, {what}: {seconds:.3} s ({computed:.2} s of processor time), peak memory {peak} MB");
    Ok(done)
}

/// CPU time of all threads so far (Linux), which other load does not change.
fn processor_seconds() -> Option<f64> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, which may contain blanks, ends with the last bracket.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS_PER_SECOND)
}

/// Peak memory of the process so far (Linux).
fn peak_megabytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes / 1024)
}
