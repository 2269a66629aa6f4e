//! Export and import of a domain: a copy of its database, and taking one over.
//!
//! Takes folders of domains.
//! Invariants: the copy is consistent even while another process writes; an import is a domain of a readable format, or
//! nothing happens. Derived indexes are not transferred, but rebuilt from the database.
//! Not here: the bundle file (`cli::bundle`).

use std::fs;
use std::path::Path;

use super::domain::{DomainDb, FILE};
use super::error::{file_error, store_error};
use super::remove::{SETTINGS_FILE, remove_rest};
use super::repair::WriteLock;
use super::{IndexError, find_domain, schema};

/// Name prefix of a domain that is being replaced.
const ASIDE: &str = ".replaced-";

/// The transferred files of a domain; the second exists only if the domain has its own settings.
pub const TRANSFERRED_FILES: [&str; 2] = [FILE, SETTINGS_FILE];

/// Copies the domain in `folder` into the folder `to`, which is created if needed and must hold no domain.
///
/// # Errors
/// [`IndexError::NotFound`] without a domain; if the database cannot be read, or the copy not written.
pub fn copy_domain(folder: &Path, to: &Path) -> Result<(), IndexError> {
    let db = DomainDb::open(folder)?;
    schema::make_private_folder(to)?;
    let copy = to.join(FILE);
    let failed = |source| store_error("copying the database", &db.path, source);
    db.connection.execute("VACUUM INTO ?1", [copy.to_string_lossy()]).map_err(failed)?;
    schema::make_private_file(&copy)?;
    let settings = folder.join(SETTINGS_FILE);
    if settings.is_file() {
        fs::copy(&settings, to.join(SETTINGS_FILE)).map_err(|source| file_error("copying", &settings, source))?;
    }
    Ok(())
}

/// Checks that the folder `from` holds an intact domain that this program can read.
///
/// # Errors
/// If it does not.
pub fn check_transferred(from: &Path) -> Result<(), IndexError> {
    let db = DomainDb::open(from)?;
    let failed = |source| store_error("checking the database", &db.path, source);
    let found: String = db.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(failed)?;
    if found != "ok" {
        return Err(IndexError::Damaged { path: db.path.clone(), source: ragonite_base::clean_line(&found).into() });
    }
    let DomainDb { connection, path } = db;
    connection.close().map_err(|(_, source)| store_error("closing the database", &path, source))?;
    schema::make_private_folder(from)?;
    schema::make_private_file(&path)
}

/// Moves the domain in `from`, on the same disk, to `folder`.
///
/// # Errors
/// [`IndexError::Exists`] if there is a domain already; if `from` holds none ([`check_transferred`]); if it cannot be
/// moved.
pub fn import_domain(from: &Path, folder: &Path) -> Result<(), IndexError> {
    if find_domain(folder).is_ok() {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        return Err(IndexError::Exists { path: folder.to_path_buf(), name: ragonite_base::clean_line(&name) });
    }
    check_transferred(from)?;
    remove_rest(folder)?;
    fs::rename(from, folder).map_err(|source| file_error("moving the domain to", folder, source))
}

/// As [`import_domain`], replacing a domain that may exist. The old domain stays intact until the new one is in place.
///
/// # Errors
/// [`IndexError::Busy`] while another process writes to the old one; as [`import_domain`] otherwise.
pub fn replace_domain(from: &Path, folder: &Path) -> Result<(), IndexError> {
    if find_domain(folder).is_err() {
        return import_domain(from, folder);
    }
    check_transferred(from)?;
    let _lock = WriteLock::take(folder)?.ok_or_else(|| IndexError::Busy { path: folder.to_path_buf() })?;
    let moving = |source| file_error("moving the domain to", folder, source);
    let beside = folder.parent().unwrap_or(folder);
    let aside = tempfile::Builder::new().prefix(ASIDE).tempdir_in(beside).map_err(moving)?;
    let old = aside.path().join("old");
    fs::rename(folder, &old).map_err(moving)?;
    fs::rename(from, folder).map_err(|source| {
        // If even that fails, the old domain stays intact in the temporary folder.
        let back = fs::rename(&old, folder);
        if back.is_err() {
            let _kept = aside.keep();
        }
        moving(source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Index;
    use crate::test_kit::{WordEmbedder, domain, ingest, page};
    use ragonite_base::CancelToken;
    use ragonite_inference::Embed as _;

    #[test]
    fn a_carried_domain_finds_what_it_found_before() {
        let embedder = WordEmbedder::new("f00d");
        let (folder, mut index) = domain(&embedder);
        ingest(&mut index, &[page("Cranes", &["The crane stops at ten tons"])], &embedder).unwrap();
        let from = folder.path().join("wiki");
        fs::write(from.join(SETTINGS_FILE), "sources = 3\n").unwrap();
        let copy = folder.path().join("copy");
        copy_domain(&from, &copy).unwrap();
        let names: Vec<_> = fs::read_dir(&copy).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), TRANSFERRED_FILES.len(), "{names:?}");

        let there = folder.path().join("there");
        import_domain(&copy, &there).unwrap();
        assert!(!copy.exists());
        let opened = Index::open(&there, embedder.identity(), &CancelToken::never(), &mut |_| {}).unwrap();
        assert_eq!(opened.summary().unwrap(), index.summary().unwrap());
        assert_eq!(opened.lexical_search("crane", 3).unwrap().len(), 1);
        assert_eq!(fs::read_to_string(there.join(SETTINGS_FILE)).unwrap(), "sources = 3\n");

        drop(opened);

        copy_domain(&there, &copy).unwrap();
        assert!(matches!(import_domain(&copy, &there), Err(IndexError::Exists { .. })), "nothing is overwritten");
        fs::remove_file(there.join(SETTINGS_FILE)).unwrap();
        replace_domain(&copy, &there).unwrap();
        assert!(there.join(SETTINGS_FILE).is_file() && !copy.exists(), "the new one has its place");
        let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with(ASIDE)), "and the old one is gone");
    }

    #[test]
    fn what_a_kill_left_of_a_domain_makes_room() {
        let embedder = WordEmbedder::new("f00d");
        let (folder, index) = domain(&embedder);
        drop(index);
        let (copy, there) = (folder.path().join("copy"), folder.path().join("there"));
        copy_domain(&folder.path().join("wiki"), &copy).unwrap();
        fs::create_dir(&there).unwrap();
        fs::write(there.join("dense.usearch"), "the rest of an index").unwrap();
        import_domain(&copy, &there).unwrap();
        assert!(there.join(FILE).is_file() && !there.join("dense.usearch").exists());
        copy_domain(&there, &copy).unwrap();
        let foreign = folder.path().join("foreign");
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join("thesis.txt"), "not ours").unwrap();
        assert!(matches!(import_domain(&copy, &foreign), Err(IndexError::Foreign { .. })));
        assert!(foreign.join("thesis.txt").is_file());
    }

    #[test]
    fn what_is_no_domain_is_not_taken_in() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir(&from).unwrap();
        assert!(matches!(import_domain(&from, &to), Err(IndexError::NotFound { .. })));
        fs::write(from.join(FILE), "no database at all, but long enough to be looked at").unwrap();
        assert!(import_domain(&from, &to).is_err());
        assert!(!to.exists());
        let embedder = WordEmbedder::new("f00d");
        let (wiki, index) = domain(&embedder);
        drop(index);
        let there = wiki.path().join("wiki");
        assert!(replace_domain(&from, &there).is_err());
        assert!(there.join(FILE).is_file(), "what was there stays");
        assert!(matches!(copy_domain(&to, &from), Err(IndexError::NotFound { .. })));
    }
}
