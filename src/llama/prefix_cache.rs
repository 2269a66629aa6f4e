//! The prefix cache: KV states of prompt prefixes, stored on disk for later runs.
//!
//! Takes the state of the first tokens of a prompt; gives it to a later run, which need not read those tokens again.
//! Invariants: a state is given only if weights, settings, processor, engine, every token and every byte are those it
//! was stored with; a damaged, foreign or unreadable file counts as absent and is overwritten; files appear whole or
//! not at all; together they take at most [`MAX_CACHE_BYTES`], and the least recently used go first. The checksum
//! guards against damage, not against an attacker who can write to the data folder.
//! Not here: the contents of a state (`kv_cache`), which tokens are a prefix, and when to store it (`lib`).

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use llama_cpp_2::token::LlamaToken;
use sha2::{Digest, Sha256};

use super::load_params::kernels;
use ragonite_base::hex;
use ragonite_inference::GeneratorSettings;
use ragonite_inference::{ENGINE_REVISION, processor_summary};

/// Maximum size in bytes of all files together.
const MAX_CACHE_BYTES: u64 = 192 << 20;

/// Maximum size in bytes of one file.
pub(super) const MAX_ENTRY_BYTES: u64 = 64 << 20;

/// First bytes of a file. The digits change with the file format.
const MAGIC: &[u8; 8] = b"RAGOKV01";

/// Length in bytes of magic and checksum, before the state.
const HEADER: usize = MAGIC.len() + 32;

/// File extension.
const EXTENSION: &str = "state";

/// Bytes at both ends of the weights that go into their fingerprint, beside size and time.
const FINGERPRINT_BYTES: u64 = 64 << 10;

/// The stored states for one way to compute them.
pub(super) struct PrefixCache {
    folder: PathBuf,
    /// Hash of weights, settings, processor and engine.
    made_with: Vec<u8>,
}

impl PrefixCache {
    /// The states in `folder` of these `weights` and settings.
    ///
    /// # Errors
    /// If the weights cannot be read.
    pub(super) fn of(folder: &Path, weights: &Path, settings: &GeneratorSettings) -> io::Result<Self> {
        let file = File::open(weights)?;
        let about = file.metadata()?;
        let changed = about.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut hash = Sha256::new();
        let device = format!("{}\n{}", processor_summary(), kernels());
        for part in [ENGINE_REVISION.to_owned(), device, format!("{settings:?}"), format!("{changed:?}")] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.update(about.len().to_le_bytes());
        for start in [0, about.len().saturating_sub(FINGERPRINT_BYTES)] {
            (&file).seek(SeekFrom::Start(start))?;
            let mut end = Vec::new();
            (&file).take(FINGERPRINT_BYTES).read_to_end(&mut end)?;
            hash.update(end);
        }
        Ok(Self { folder: folder.to_owned(), made_with: hash.finalize().to_vec() })
    }

    /// The stored state of these tokens, if any.
    pub(super) fn find(&self, tokens: &[LlamaToken]) -> Option<Vec<u8>> {
        let path = self.path(tokens);
        let file = File::open(&path).ok()?;
        if file.metadata().ok()?.len() > MAX_ENTRY_BYTES {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(MAX_ENTRY_BYTES).read_to_end(&mut bytes).ok()?;
        let (header, state) = bytes.split_at_checked(HEADER)?;
        let (magic, sum) = header.split_at(MAGIC.len());
        if magic != MAGIC || sum != self.checksum(tokens, state) {
            return None;
        }
        // Marks the file as used; a failure only makes it go sooner.
        let _ = File::options().write(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        bytes.drain(..HEADER);
        Some(bytes)
    }

    /// Stores the state of these tokens, removing the least recently used files if needed. A state above the maximum is
    /// not stored.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn store(&self, tokens: &[LlamaToken], state: &[u8]) -> io::Result<()> {
        let size = (HEADER + state.len()) as u64;
        if size > MAX_ENTRY_BYTES {
            return Ok(());
        }
        fs::create_dir_all(&self.folder)?;
        self.make_room(size)?;
        // A leftover of a crash has the same extension, so it is counted and removed like the others.
        let mut file = tempfile::Builder::new().suffix(&format!(".{EXTENSION}")).tempfile_in(&self.folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&self.checksum(tokens, state))?;
        file.write_all(state)?;
        file.persist(self.path(tokens))?;
        Ok(())
    }

    /// Removes the least recently used files until there is room for `bytes` more.
    fn make_room(&self, bytes: u64) -> io::Result<()> {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            // Another run may have removed it meanwhile.
            let Ok(about) = fs::metadata(&path) else { continue };
            if about.is_file() && path.extension().is_some_and(|extension| extension == EXTENSION) {
                files.push((about.modified()?, about.len(), path));
            }
        }
        files.sort();
        let mut all: u64 = files.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in files {
            if all + bytes <= MAX_CACHE_BYTES {
                break;
            }
            fs::remove_file(path)?;
            all -= size;
        }
        Ok(())
    }

    fn path(&self, tokens: &[LlamaToken]) -> PathBuf {
        let name = hex(&self.checksum(tokens, &[])[..16]);
        self.folder.join(name).with_extension(EXTENSION)
    }

    /// SHA-256 of fingerprint, tokens and state.
    fn checksum(&self, tokens: &[LlamaToken], state: &[u8]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(&self.made_with);
        hash.update((tokens.len() as u64).to_le_bytes());
        for token in tokens {
            hash.update(token.0.to_le_bytes());
        }
        hash.update(state);
        hash.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(range: std::ops::Range<i32>) -> Vec<LlamaToken> {
        range.map(LlamaToken::new).collect()
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    /// States that these bytes, as weights, give with so many tokens of context.
    fn prefix_cache(folder: &Path, weights: &[u8], context_tokens: usize) -> PrefixCache {
        let path = folder.join("weights.gguf");
        if fs::read(&path).ok().as_deref() != Some(weights) {
            fs::write(&path, weights).unwrap();
        }
        let settings = GeneratorSettings { context_tokens, ..GeneratorSettings::default() };
        PrefixCache::of(&folder.join("kept"), &path, &settings).unwrap()
    }

    #[test]
    fn a_state_is_found_again_for_the_same_tokens_weights_and_settings_only() {
        let folder = tempfile::tempdir().unwrap();
        let kept = prefix_cache(folder.path(), b"weights", 512);
        assert_eq!(kept.find(&tokens(0..40)), None);
        kept.store(&tokens(0..40), b"a state").unwrap();
        let again = prefix_cache(folder.path(), b"weights", 512);
        assert_eq!(again.find(&tokens(0..40)).as_deref(), Some(&b"a state"[..]));
        assert_eq!((again.find(&tokens(0..39)), again.find(&tokens(1..41))), (None, None));
        assert_eq!(prefix_cache(folder.path(), b"weights", 513).find(&tokens(0..40)), None);
        assert_eq!(prefix_cache(folder.path(), b"heights", 512).find(&tokens(0..40)), None);
    }

    #[test]
    fn a_file_that_is_damaged_or_foreign_counts_as_none_and_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let kept = prefix_cache(folder.path(), b"weights", 512);
        let (mine, other) = (tokens(0..40), tokens(0..50));
        kept.store(&other, b"the state of another").unwrap();
        let foreign = fs::read(&files(&folder.path().join("kept"))[0]).unwrap();
        kept.store(&mine, b"the state itself").unwrap();
        let path = kept.path(&mine);
        let whole = fs::read(&path).unwrap();
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        };
        let cut = [0, 1, HEADER - 1, HEADER, whole.len() - 1].map(|length| whole[..length].to_vec());
        let longer = [whole.as_slice(), b"!"].concat();
        let damaged = [flipped(0), flipped(9), flipped(HEADER), flipped(whole.len() - 1), longer, foreign];
        for bytes in cut.into_iter().chain(damaged) {
            fs::write(&path, &bytes).unwrap();
            assert_eq!(kept.find(&mine), None, "{bytes:?}");
            kept.store(&mine, b"the state itself").unwrap();
            assert_eq!(kept.find(&mine).as_deref(), Some(&b"the state itself"[..]));
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(kept.find(&mine), None, "a folder in its place");
        assert!(kept.store(&mine, b"the state itself").is_err());
    }

    #[test]
    fn the_longest_unused_make_room_and_nothing_else_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let kept = prefix_cache(folder.path(), b"weights", 512);
        kept.store(&tokens(0..1), b"small").unwrap();
        let note = folder.path().join("kept/note.txt");
        fs::write(&note, "mine").unwrap();
        // As large as they may be, without a byte written; each younger than the one before.
        let count = i32::try_from(MAX_CACHE_BYTES / MAX_ENTRY_BYTES).unwrap();
        for at in 0..count {
            let file = File::create(kept.path(&tokens(100..101 + at))).unwrap();
            file.set_len(MAX_ENTRY_BYTES).unwrap();
            let used = UNIX_EPOCH + std::time::Duration::from_secs(1_000 + u64::try_from(at).unwrap());
            file.set_modified(used).unwrap();
        }
        kept.store(&tokens(0..2), b"another").unwrap();
        let is_there = |tokens: &[LlamaToken]| kept.path(tokens).exists();
        assert!(!is_there(&tokens(100..101)), "the one that was used first is gone");
        assert!((1..count).all(|at| is_there(&tokens(100..101 + at))));
        assert!(is_there(&tokens(0..1)) && is_there(&tokens(0..2)) && note.exists());
        kept.store(&tokens(0..3), &vec![0; usize::try_from(MAX_ENTRY_BYTES).unwrap()]).unwrap();
        assert!(!is_there(&tokens(0..3)), "too large to be kept");
    }
}
