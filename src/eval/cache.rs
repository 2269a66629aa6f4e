//! Results on disk, one per line, so that a stopped run can be resumed.
//!
//! A key is a hash of everything the result depends on, so a result is reused exactly if it would come out the same.
//! Lines are only appended; a damaged line is ignored.
//! Not here: what a result depends on (`cached_generator`, `retrieval`).

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::EvalError;

/// Bytes of a key.
const KEY_BYTES: usize = 16;

/// The results of a file.
#[derive(Debug)]
pub struct Cache {
    path: PathBuf,
    file: File,
    known: HashMap<String, Value>,
    damaged: usize,
}

#[derive(Serialize, Deserialize)]
struct Line<T> {
    key: String,
    value: T,
}

/// The key of a result that depends on these texts, in this order.
#[must_use]
pub fn key<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(KEY_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

impl Cache {
    /// Opens the file, or creates it with its folder.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn open(path: &Path) -> Result<Self, EvalError> {
        Self::read(path).map_err(|source| EvalError::Cache { path: path.to_owned(), source })
    }

    fn read(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let bytes = fs::read(path)?;
        let (mut known, mut damaged) = (HashMap::new(), 0);
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(Line { key, value }) => {
                    known.insert(key, value);
                }
                Err(_) => damaged += 1,
            }
        }
        if bytes.last().is_some_and(|byte| *byte != b'\n') {
            // A killed process may have left half a line.
            file.write_all(b"\n")?;
        }
        Ok(Self { path: path.to_owned(), file, known, damaged })
    }

    /// Number of damaged lines.
    #[must_use]
    pub fn damaged(&self) -> usize {
        self.damaged
    }

    /// The result with this key; none if missing or of another form.
    #[must_use]
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.known.get(key).and_then(|value| T::deserialize(value).ok())
    }

    /// Stores a result.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put<T: Serialize>(&mut self, key: &str, value: &T) -> Result<(), EvalError> {
        let failed = |source: io::Error| EvalError::Cache { path: self.path.clone(), source };
        let value = serde_json::to_value(value).map_err(|error| failed(error.into()))?;
        let line = Line { key: key.to_owned(), value };
        let mut text = serde_json::to_vec(&line).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        // One call, so that lines of concurrent processes do not mix.
        self.file.write_all(&text).map_err(failed)?;
        self.known.insert(line.key, line.value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(folder: &tempfile::TempDir) -> PathBuf {
        folder.path().join("results/some.jsonl")
    }

    #[test]
    fn a_result_is_found_again_by_another_run() {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = Cache::open(&path(&folder)).unwrap();
        assert_eq!(cache.get::<String>("a"), None);
        cache.put("a", &"first").unwrap();
        cache.put("a", &"second").unwrap();
        assert_eq!(cache.get::<String>("a").as_deref(), Some("second"));
        let again = Cache::open(&path(&folder)).unwrap();
        assert_eq!((again.get::<String>("a").as_deref(), again.damaged()), (Some("second"), 0));
        assert_eq!(again.get::<usize>("a"), None, "a result of another form is none");
    }

    #[test]
    fn damaged_lines_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = Cache::open(&path(&folder)).unwrap();
        cache.put("a", &1).unwrap();
        cache.put("b", &2).unwrap();
        let mut bytes = fs::read(path(&folder)).unwrap();
        bytes.extend_from_slice(b"{\"key\": \"c\"}\n\xff\xfe\n\n{\"key\": \"d\", \"val");
        fs::write(path(&folder), bytes).unwrap();
        let mut again = Cache::open(&path(&folder)).unwrap();
        assert_eq!((again.get("a"), again.get("b"), again.damaged()), (Some(1), Some(2), 3));
        again.put("e", &5).unwrap();
        let last = Cache::open(&path(&folder)).unwrap();
        assert_eq!((last.get("e"), last.damaged()), (Some(5), 3), "half a line spoils no other");
    }

    #[test]
    fn a_key_tells_its_parts_apart() {
        assert_eq!(key(["ab", "c"]), key(["ab", "c"]));
        assert_ne!(key(["ab", "c"]), key(["a", "bc"]));
        assert_ne!(key(["ab"]), key(["ab", ""]));
        assert_eq!(key([]).len(), 2 * KEY_BYTES);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("results"), "a file").unwrap();
        let error = Cache::open(&path(&folder)).unwrap_err();
        assert!(matches!(&error, EvalError::Cache { .. }), "{error}");
    }
}
