//! Results of the benchmark `explain` in a file, so that a stopped run can be resumed.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Measured, Outcome};

/// The key of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Key {
    pub(super) model: String,
    /// Engine and machine.
    pub(super) engine: String,
    pub(super) settings: String,
    pub(super) question: String,
}

/// A line of the results.
#[derive(Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    key: Key,
    measured: Measured,
}

/// Earlier and new results, one per line.
pub(super) struct Results {
    pub(super) path: PathBuf,
    kept: Vec<Kept>,
    file: File,
}

impl Results {
    pub(super) fn open(path: &Path) -> Outcome<Self> {
        let text = if path.exists() { fs::read_to_string(path)? } else { String::new() };
        // The last line may be cut, and others may be of another version: they are measured again.
        let kept = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n")?;
        }
        Ok(Self { path: path.to_owned(), kept, file })
    }

    /// The known result, or else a new one, which is stored.
    pub(super) fn get(&mut self, key: Key, measure: impl FnOnce() -> Outcome<Measured>) -> Outcome<Measured> {
        if let Some(known) = self.kept.iter().find(|kept| kept.key == key) {
            println!("  {}: measured before", key.question);
            return Ok(known.measured.clone());
        }
        let kept = Kept { key, measured: measure()? };
        let mut line = serde_json::to_string(&kept)?;
        line.push('\n');
        self.file.write_all(line.as_bytes())?;
        let measured = kept.measured.clone();
        self.kept.push(kept);
        Ok(measured)
    }
}
