//! `settings.toml` in the folder of a domain: its overrides.
//!
//! Takes the folder of a domain, gives [`StoredChanges`]; takes [`SettingsOverride`] and writes them.
//! Invariants: reading never fails: invalid values are reported and follow the configuration; the file is replaced as a
//! whole or stays unchanged; only its owner can read it; without overrides there is no file.
//! Not here: reporting (`workers`, `cli`).

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::{Edit, Refused, Setting, SettingsOverride};
use ragonite_base::clean_line;
use ragonite_index::{SETTINGS_FILE, SETTINGS_TEMPORARY};

/// The first lines of the file.
const HEAD: &str = "# What this domain changes of the configuration. Written by ragonite: its settings on the screen, and\n\
    # `ragonite domain set`.\n";

/// A problem with the overrides of a domain.
#[derive(Debug, thiserror::Error)]
pub enum ChangesError {
    /// The file cannot be read.
    #[error("the settings of the domain in `{path}` cannot be read; all of them are as configured")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The file is no TOML.
    #[error("the settings of the domain in `{path}` are damaged; all of them are as configured")]
    Parse {
        /// The file.
        path: PathBuf,
        /// Position and cause.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// There is no such setting.
    #[error("`{path}` has `{key}`, which is no setting of a domain")]
    Unknown {
        /// The file.
        path: PathBuf,
        /// The key in the file.
        key: String,
    },
    /// A value is invalid.
    #[error("`{path}` has a value that cannot be used and is as configured")]
    Value {
        /// The file.
        path: PathBuf,
        /// The setting and its valid values.
        #[source]
        source: Refused,
    },
    /// The file cannot be written.
    #[error("the settings of the domain cannot be kept in `{path}`; they hold until the program is left")]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

/// The contents of the file.
#[derive(Debug, Default)]
pub struct StoredChanges {
    /// The valid overrides.
    pub changes: SettingsOverride,
    /// The problems.
    pub damage: Vec<ChangesError>,
}

/// Reads the overrides of the domain in `folder`.
pub fn read_changes(folder: &Path) -> StoredChanges {
    let path = folder.join(SETTINGS_FILE);
    let failed = |error| StoredChanges { damage: vec![error], ..StoredChanges::default() };
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return StoredChanges::default(),
        Err(source) => return failed(ChangesError::Read { path, source }),
        Ok(text) => text,
    };
    match text.parse::<Table>() {
        Ok(table) => {
            let mut stored = StoredChanges::default();
            stored.take(&path, "", table);
            stored
        }
        Err(source) => failed(ChangesError::Parse { path, source: Box::new(source) }),
    }
}

impl StoredChanges {
    fn take(&mut self, path: &Path, before: &str, table: Table) {
        for (name, value) in table {
            let key = format!("{before}{name}");
            match (Setting::of_key(&key), value) {
                (None, Value::Table(inner)) => self.take(path, &format!("{key}."), inner),
                (None, _) => self.damage.push(ChangesError::Unknown { path: path.to_owned(), key: clean_line(&key) }),
                (Some(setting), value) => {
                    if let Err(source) = self.changes.set(setting, &text_of(&value)) {
                        self.damage.push(ChangesError::Value { path: path.to_owned(), source });
                    }
                }
            }
        }
    }
}

/// A value as typed.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text_of).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// Keeps what the domain in `folder` changes of the configuration.
///
/// # Errors
/// When the file cannot be written; it is then as it was.
pub fn write_changes(folder: &Path, changes: &SettingsOverride) -> Result<(), ChangesError> {
    let path = folder.join(SETTINGS_FILE);
    let written = if changes.is_empty() { remove(&path) } else { replace(&path, &file_text(changes)) };
    written.map_err(|source| ChangesError::Write { path, source })
}

/// Applies an edit to the stored overrides of the domain in `folder`. Gives all overrides.
///
/// # Errors
/// When the file cannot be written; it is then unchanged.
pub fn edit_changes(folder: &Path, edit: &Edit) -> Result<SettingsOverride, ChangesError> {
    let mut changes = read_changes(folder).changes;
    changes.edit(edit);
    write_changes(folder, &changes)?;
    Ok(changes)
}

fn file_text(changes: &SettingsOverride) -> String {
    let line = |(setting, text): (Setting, &str)| {
        let is_number = text.parse::<f64>().is_ok();
        let value = if is_number { text.to_owned() } else { Value::String(text.to_owned()).to_string() };
        format!("{} = {value}\n", setting.key())
    };
    changes.iter().map(line).fold(HEAD.to_owned(), |text, line| text + &line)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let temporary = path.with_file_name(format!("{SETTINGS_FILE}{SETTINGS_TEMPORARY}"));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&temporary, path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn some() -> SettingsOverride {
        let mut changes = SettingsOverride::default();
        let texts = [(Setting::Sources, "3"), (Setting::Kinds, "table,row"), (Setting::Temperature, "0.7")];
        for (setting, text) in texts {
            changes.set(setting, text).unwrap();
        }
        changes
    }

    #[test]
    fn what_is_kept_is_there_again_and_nobody_else_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_changes(folder.path()).changes, SettingsOverride::default());
        write_changes(folder.path(), &some()).unwrap();
        let stored = read_changes(folder.path());
        assert!(stored.damage.is_empty(), "{:?}", stored.damage);
        assert_eq!(stored.changes, some());
        let file = folder.path().join(SETTINGS_FILE);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(fs::read_to_string(&file).unwrap().contains("\nsources = 3\nretrieval.kinds = \"table,row\"\n"));
        write_changes(folder.path(), &SettingsOverride::default()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        write_changes(folder.path(), &SettingsOverride::default()).unwrap();
    }

    #[test]
    fn an_edit_keeps_what_another_process_wrote_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let before = some();
        let mut now = before.clone();
        now.set(Setting::Sources, "4").unwrap();
        let mut others = before.clone();
        others.set(Setting::Seed, "7").unwrap();
        write_changes(folder.path(), &others).unwrap();
        let kept = edit_changes(folder.path(), &now.since(&before)).unwrap();
        assert_eq!(read_changes(folder.path()).changes, kept);
        others.set(Setting::Sources, "4").unwrap();
        assert_eq!(kept, others);
        assert!(edit_changes(&folder.path().join("gone"), &now.since(&before)).is_err());
    }

    #[test]
    fn a_value_that_cannot_be_used_is_told_and_the_others_hold() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(SETTINGS_FILE);
        let text = "sources = 0\ncolour = \"red\"\n[retrieval]\nmode = \"dense\"\nkinds = [\"row\", \"list\"]\n";
        fs::write(&file, text).unwrap();
        let StoredChanges { changes, damage } = read_changes(folder.path());
        assert_eq!(changes.iter().collect::<Vec<_>>(), [(Setting::Mode, "dense"), (Setting::Kinds, "list,row")]);
        let [ChangesError::Unknown { key, .. }, ChangesError::Value { source, .. }] = &damage[..] else {
            panic!("{damage:?}")
        };
        assert_eq!((key.as_str(), source.key, source.found.as_str()), ("colour", "sources", "0"));
    }

    #[test]
    fn a_damaged_file_is_told_and_all_is_as_configured() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(SETTINGS_FILE);
        fs::write(&file, b"sources = = 3").unwrap();
        let stored = read_changes(folder.path());
        assert!(stored.changes.is_empty() && matches!(stored.damage[..], [ChangesError::Parse { .. }]));
        fs::write(&file, b"\xff\xfe").unwrap();
        assert!(matches!(read_changes(folder.path()).damage[..], [ChangesError::Read { .. }]));
        write_changes(folder.path(), &some()).unwrap();
        assert!(read_changes(folder.path()).damage.is_empty());
    }

    #[test]
    fn a_folder_that_takes_no_file_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("gone");
        assert!(matches!(write_changes(&missing, &some()), Err(ChangesError::Write { .. })));
    }
}
