//! The dense index: `dense.usearch`, derived from `domain.db`.
//!
//! Takes unit vectors by evidence id, gives the nearest ones by cosine.
//! Invariants: the file appears whole or not at all (temporary file, fsync, rename) and ends with a seal: generation,
//! embedder and hash of all bytes before it. A file whose seal does not match is never given to usearch, which does not
//! check what it loads. For searching the file is memory-mapped; it is loaded into memory only to be changed.
//! Not here: deciding when to rebuild (`repair`).

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use usearch::{IndexOptions, MetricKind, ScalarKind};

use super::IndexError;
use super::checksums::hash_of;
use super::error::file_error;
use super::filter::Test;
use super::stored::{Scored, sort_best_first};
use ragonite_base::{CancelToken, EvidenceId};
use ragonite_inference::{Embedding, EncoderIdentity};

/// File name in a domain's folder.
pub(super) const FILE: &str = "dense.usearch";

/// Up to this number, all vectors are compared, which takes a few milliseconds and misses nothing.
const EXACT_UP_TO: usize = 20_000;

/// Minimum of candidates in a graph search. At 100,000 vectors, 64 candidates (usearch's default) find 90 % of the ten
/// nearest, 256 find 98 %, and 1,000 find 99.9 % in under 4 milliseconds.
const MIN_CANDIDATES: usize = 1_000;

/// One candidate for this number of vectors: larger graphs need more for the same recall.
const VECTORS_PER_CANDIDATE: usize = 250;

/// Cost of a graph step, in comparisons with a vector fetched by id.
const WALKED_PER_COMPARED: usize = 2;

/// Maximum of candidates; more cost more time than they are worth.
const MAX_CANDIDATES: usize = 4_000;

/// First bytes of the seal, with its version.
const SEAL_MARK: &str = "ragonite-dense-1";

/// Length of the seal, one padded line.
const SEAL_BYTES: usize = 256;

/// Prefix of the names of incomplete files.
pub(super) const TEMPORARY: &str = ".dense-";

/// Minimum of vectors by which the capacity grows.
const GROWTH: usize = 1024;

/// The purpose for which the vectors are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Memory-mapped.
    Search,
    /// Loaded into memory.
    Change,
}

/// The vectors of a domain.
pub(super) struct Dense {
    index: usearch::Index,
    purpose: Purpose,
    dimensions: usize,
    /// Generation of `domain.db` at the last sync.
    pub(super) generation: i64,
    path: PathBuf,
}

impl Dense {
    pub(super) fn empty(folder: &Path, embedder: &EncoderIdentity) -> Result<Self, IndexError> {
        let path = folder.join(FILE);
        let dimensions = embedder.dimensions;
        let options = IndexOptions {
            dimensions,
            metric: MetricKind::Cos,
            quantization: ScalarKind::F32,
            ..IndexOptions::default()
        };
        let index = usearch::Index::new(&options).map_err(|source| failed("making", &path, source))?;
        Ok(Self { index, purpose: Purpose::Change, dimensions, generation: 0, path })
    }

    /// Opens the file for searching; none if it is missing or fails its seal.
    pub(super) fn open(
        folder: &Path,
        embedder: &EncoderIdentity,
        cancel: &CancelToken,
    ) -> Result<Option<Self>, IndexError> {
        Self::read(folder, embedder, Purpose::Search, cancel)
    }

    /// Loads the vectors for changing, or starts empty if the file is gone. The caller holds the write lock.
    pub(super) fn make_changeable(
        &mut self,
        folder: &Path,
        embedder: &EncoderIdentity,
        cancel: &CancelToken,
    ) -> Result<(), IndexError> {
        if self.purpose == Purpose::Search {
            *self = match Self::read(folder, embedder, Purpose::Change, cancel)? {
                Some(loaded) => loaded,
                None => Self::empty(folder, embedder)?,
            };
        }
        Ok(())
    }

    fn read(
        folder: &Path,
        embedder: &EncoderIdentity,
        purpose: Purpose,
        cancel: &CancelToken,
    ) -> Result<Option<Self>, IndexError> {
        let mut dense = Self { purpose, ..Self::empty(folder, embedder)? };
        let Ok(mut file) = File::open(&dense.path) else { return Ok(None) };
        let Ok(Some(seal)) = Seal::read(&mut file, cancel) else {
            // An interrupted read is not damage.
            cancel.check()?;
            return Ok(None);
        };
        if seal.embedder != embedder.fingerprint {
            return Ok(None);
        }
        let Some(path) = dense.path.to_str() else { return Ok(None) };
        let read = match purpose {
            Purpose::Search => dense.index.view(path),
            Purpose::Change => dense.index.load(path),
        };
        if read.is_err() || dense.index.dimensions() != dense.dimensions {
            return Ok(None);
        }
        dense.generation = seal.generation;
        Ok(Some(dense))
    }

    /// The generation in the file's seal, without checking the hash.
    pub(super) fn generation_on_disk(folder: &Path) -> Option<i64> {
        let mut file = File::open(folder.join(FILE)).ok()?;
        Seal::read_line(&mut file).ok().flatten().map(|(seal, _)| seal.generation)
    }

    pub(super) fn len(&self) -> usize {
        self.index.size()
    }

    pub(super) fn reserve(&self, more: usize) -> Result<(), IndexError> {
        let wanted = self.index.size() + more;
        if wanted <= self.index.capacity() {
            return Ok(());
        }
        self.index.reserve(wanted + GROWTH).map_err(|source| failed("enlarging", &self.path, source))
    }

    pub(super) fn add(&self, id: EvidenceId, vector: &Embedding) -> Result<(), IndexError> {
        self.check(vector)?;
        if self.index.contains(key(id)) {
            return Ok(());
        }
        self.reserve(1)?;
        self.index.add(key(id), vector.values()).map_err(|source| failed("adding to", &self.path, source))
    }

    pub(super) fn remove(&self, id: EvidenceId) -> Result<(), IndexError> {
        if self.index.contains(key(id)) {
            self.index.remove(key(id)).map_err(|source| failed("removing from", &self.path, source))?;
        }
        Ok(())
    }

    /// The vector of an evidence, as it was added.
    pub(super) fn vector(&self, id: EvidenceId) -> Option<Vec<f32>> {
        let mut values = vec![0.0; self.dimensions];
        let found = self.index.get(key(id), &mut values).ok()?;
        (found == 1).then_some(values)
    }

    /// The `k` nearest by cosine that pass `test`, best first.
    pub(super) fn search_among(&self, query: &Embedding, k: usize, test: &Test) -> Result<Vec<Scored>, IndexError> {
        self.check(query)?;
        if self.len() == 0 || k == 0 {
            return Ok(Vec::new());
        }
        let passing: Vec<EvidenceId> = test.passing().collect();
        if self.is_faster_by_graph(passing.len()) {
            self.index.change_expansion_search(self.candidates());
            let passes = |key: u64| i64::try_from(key).is_ok_and(|id| test.passes(EvidenceId(id)));
            let matches = self.index.filtered_search(query.values(), k, passes);
            let found = scored(&matches.map_err(|source| failed("searching", &self.path, source))?);
            // The graph search may end with too few matches.
            if found.len() >= k.min(passing.len()) {
                return Ok(found);
            }
        }
        let compared = passing.into_iter().filter_map(|evidence| {
            let vector = self.vector(evidence)?;
            let cosine: f32 = vector.iter().zip(query.values()).map(|(a, b)| a * b).sum();
            Some(Scored { evidence, score: f64::from(cosine) })
        });
        let mut found: Vec<Scored> = compared.collect();
        sort_best_first(&mut found);
        found.truncate(k);
        Ok(found)
    }

    /// The `k` nearest by cosine, best first.
    pub(super) fn search(&self, query: &Embedding, k: usize) -> Result<Vec<Scored>, IndexError> {
        self.check(query)?;
        if self.len() == 0 || k == 0 {
            return Ok(Vec::new());
        }
        let k = k.min(self.len());
        let matches = if self.is_faster_by_graph(self.len()) {
            self.index.change_expansion_search(self.candidates());
            self.index.search(query.values(), k)
        } else {
            self.index.exact_search(query.values(), k)
        };
        Ok(scored(&matches.map_err(|source| failed("searching", &self.path, source))?))
    }

    /// Number of candidates in a graph search.
    fn candidates(&self) -> usize {
        (self.len() / VECTORS_PER_CANDIDATE).clamp(MIN_CANDIDATES, MAX_CANDIDATES)
    }

    /// Whether a graph search is faster than comparing all `passing` vectors: the fewer pass, the longer the graph is
    /// walked.
    fn is_faster_by_graph(&self, passing: usize) -> bool {
        let walked = self.candidates().saturating_mul(self.len()) / passing.max(1);
        passing > EXACT_UP_TO && passing > walked.saturating_mul(WALKED_PER_COMPARED)
    }

    fn check(&self, vector: &Embedding) -> Result<(), IndexError> {
        let found = vector.values().len();
        if found == self.dimensions { Ok(()) } else { Err(IndexError::Dimensions { found, expected: self.dimensions }) }
    }

    /// Writes the file atomically.
    pub(super) fn save(&self, embedder: &EncoderIdentity) -> Result<(), IndexError> {
        let write_failed = |source| file_error("writing", &self.path, source);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let temporary = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder).map_err(write_failed)?;
        let text = temporary.path().to_str().ok_or_else(|| {
            write_failed(io::Error::new(io::ErrorKind::InvalidFilename, "the path is no valid UTF-8"))
        })?;
        self.index.save(text).map_err(|source| self.save_failed(folder, source))?;
        // usearch opened the file by name, so the seal must go to the file that has this name now.
        let mut file = fs::OpenOptions::new().read(true).write(true).open(temporary.path()).map_err(write_failed)?;
        let seal = Seal { generation: self.generation, embedder: embedder.fingerprint.clone() };
        seal.append(&mut file).map_err(write_failed)?;
        file.sync_all().map_err(write_failed)?;
        temporary.persist(&self.path).map_err(|error| write_failed(error.error))?;
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(write_failed)
    }

    /// usearch does not say why a write failed; a probe of the file system does.
    fn save_failed(&self, folder: &Path, source: impl std::error::Error + Send + Sync + 'static) -> IndexError {
        let probe = tempfile::tempfile_in(folder).and_then(|mut file| {
            file.write_all(&vec![1; 1 << 20])?;
            file.sync_all()
        });
        match probe {
            Err(cause) => file_error("writing", &self.path, cause),
            Ok(()) => failed("writing", &self.path, source),
        }
    }

    /// Deletes leftovers of a kill during [`Dense::save`]. The caller holds the write lock.
    pub(super) fn delete_leftovers(folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
                // A leftover that cannot be deleted does no harm.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Deletes the file, for vectors that are about to change under the same ids.
    pub(super) fn delete(folder: &Path) -> Result<(), IndexError> {
        let path = folder.join(FILE);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(file_error("deleting", &path, error)),
            _ => Ok(()),
        }
    }
}

impl std::fmt::Debug for Dense {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dense").field("len", &self.len()).field("generation", &self.generation).finish_non_exhaustive()
    }
}

/// The end of the file.
struct Seal {
    generation: i64,
    embedder: String,
}

impl Seal {
    fn append(&self, file: &mut File) -> io::Result<()> {
        let hash = hash_of_rest(file, file.metadata()?.len(), &CancelToken::never())?;
        let line = format!("\n{SEAL_MARK} {} {} {hash}", self.generation, self.embedder);
        if line.len() > SEAL_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the embedder's fingerprint is too long"));
        }
        file.seek(SeekFrom::End(0))?;
        file.write_all(format!("{line:<SEAL_BYTES$}").as_bytes())
    }

    /// The seal, if its hash matches the bytes before it.
    fn read(file: &mut File, cancel: &CancelToken) -> io::Result<Option<Self>> {
        let Some((seal, hash)) = Self::read_line(file)? else { return Ok(None) };
        let length = file.metadata()?.len() - SEAL_BYTES as u64;
        Ok((hash_of_rest(file, length, cancel)? == hash).then_some(seal))
    }

    fn read_line(file: &mut File) -> io::Result<Option<(Self, String)>> {
        let Some(start) = file.metadata()?.len().checked_sub(SEAL_BYTES as u64) else { return Ok(None) };
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = [0; SEAL_BYTES];
        file.read_exact(&mut bytes)?;
        let Ok(line) = std::str::from_utf8(&bytes) else { return Ok(None) };
        let mut words = line.split_whitespace();
        let (Some(SEAL_MARK), Some(generation), Some(embedder), Some(hash)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Ok(None);
        };
        let Ok(generation) = generation.parse() else { return Ok(None) };
        Ok(Some((Self { generation, embedder: embedder.to_owned() }, hash.to_owned())))
    }
}

/// Hash of the first `length` bytes; an error once cancelled.
fn hash_of_rest(file: &mut File, length: u64, cancel: &CancelToken) -> io::Result<String> {
    file.seek(SeekFrom::Start(0))?;
    hash_of(cancel.watch(file), length)
}

/// usearch's matches, best first.
fn scored(matches: &usearch::ffi::Matches) -> Vec<Scored> {
    let pairs = matches.keys.iter().zip(&matches.distances);
    let mut found: Vec<Scored> = pairs
        .filter_map(|(key, distance)| {
            let evidence = EvidenceId(i64::try_from(*key).ok()?);
            Some(Scored { evidence, score: 1.0 - f64::from(*distance) })
        })
        .collect();
    sort_best_first(&mut found);
    found
}

/// Row ids start at 1, so the sign is never lost.
fn key(id: EvidenceId) -> u64 {
    id.0.unsigned_abs()
}

fn failed(doing: &'static str, path: &Path, source: impl std::error::Error + Send + Sync + 'static) -> IndexError {
    IndexError::Dense { doing, path: path.to_path_buf(), source: Box::new(source) }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::HashSet;

    use proptest::prelude::*;
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::filter::Places;
    use ragonite_document::evidence::Kind;

    const COUNT: i64 = 2 * EXACT_UP_TO as i64 + 2000;

    fn vector(id: i64) -> Embedding {
        let turn = |step: f64| (id as f64 * step).sin() as f32;
        Embedding::normalized(vec![turn(0.1), turn(0.37), turn(0.73), 0.2])
    }

    /// More vectors than are compared one by one.
    fn large(folder: &Path) -> Dense {
        let identity = EncoderIdentity { model: "m".into(), fingerprint: "f".into(), dimensions: 4, max_tokens: 9 };
        let dense = Dense::empty(folder, &identity).unwrap();
        dense.reserve(usize::try_from(COUNT).unwrap()).unwrap();
        for id in 1..=COUNT {
            dense.add(EvidenceId(id), &vector(id)).unwrap();
        }
        dense
    }

    #[test]
    fn a_filter_of_any_share_finds_the_nearest_of_those_that_pass() {
        let folder = tempfile::tempdir().unwrap();
        let dense = large(folder.path());
        let passes = |id: i64, share: i64| id % share == 0;
        let tests: Vec<(i64, Test)> = [1, 2, 3, 5, 50, 4000]
            .map(|share| {
                let kind = |id| if passes(id, share) { Kind::Passage } else { Kind::Row };
                let places = Places::of_kinds((1..=COUNT).map(|id| (EvidenceId(id), kind(id))));
                (share, Test::of_kinds(&places, &[Kind::Passage]))
            })
            .into();
        let (missed, wanted) = (Cell::new(0), Cell::new(0));
        let asked = (proptest::sample::select(tests), 1..=COUNT, 1_usize..120);
        TestRunner::new(ragonite_testing::cases(60))
            .run(&asked, |((share, test), like, k)| {
                let query = vector(like);
                let cosine = |id: i64| vector(id).values().iter().zip(query.values()).map(|(a, b)| a * b).sum::<f32>();
                let mut best: Vec<f32> = (1..=COUNT).filter(|id| passes(*id, share)).map(cosine).collect();
                best.sort_by(|a, b| b.total_cmp(a));
                let found = dense.search_among(&query, k, &test).unwrap();
                prop_assert_eq!(found.len(), k.min(best.len()), "one in {}", share);
                prop_assert!(found.iter().all(|one| passes(one.evidence.0, share)));
                let last = f64::from(best[found.len() - 1]) - 1e-5;
                let near = found.iter().filter(|one| one.score >= last).count();
                let is_exact = !dense.is_faster_by_graph(best.len());
                prop_assert!(near == found.len() || !is_exact, "one in {}: {} of {}", share, near, found.len());
                missed.update(|missed| missed + found.len() - near);
                wanted.update(|wanted| wanted + found.len());
                Ok(())
            })
            .unwrap();
        assert!(missed.get() * 100 <= wanted.get(), "{missed:?} of {wanted:?}");
        assert!(dense.is_faster_by_graph(20_001) && !dense.is_faster_by_graph(20_000));
    }

    #[test]
    fn a_large_index_loses_nothing_to_a_filter() {
        let folder = tempfile::tempdir().unwrap();
        let dense = large(folder.path());
        let count = COUNT;
        let kind = |id: i64| {
            if id % 2 == 0 {
                Kind::Passage
            } else if id % 1000 == 1 {
                Kind::List
            } else {
                Kind::Row
            }
        };
        let places = Places::of_kinds((1..=count).map(|id| (EvidenceId(id), kind(id))));
        for (kinds, wanted) in [(Kind::Passage, 20), (Kind::List, 20), (Kind::List, 100), (Kind::Table, 20)] {
            let test = Test::of_kinds(&places, &[kinds]);
            let found = dense.search_among(&vector(17), wanted, &test).unwrap();
            let passing: Vec<i64> = (1..=count).filter(|id| kind(*id) == kinds).collect();
            assert_eq!(found.len(), wanted.min(passing.len()), "{kinds:?}");
            assert!(found.iter().all(|one| kind(one.evidence.0) == kinds));
            let cosine = |id: &i64| f64::from(vector(17).cosine(&vector(*id)) as f32);
            let mut best: Vec<f64> = passing.iter().map(cosine).collect();
            best.sort_by(|a, b| b.total_cmp(a));
            best.truncate(wanted);
            let exact: HashSet<u64> = best.iter().map(|score| (score * 1e4).round() as u64).collect();
            let near = found.iter().filter(|one| exact.contains(&((one.score * 1e4).round() as u64))).count();
            assert!(near * 10 >= found.len() * 9, "{kinds:?}: {near} of {}", found.len());
        }
    }
}
