//! A domain that is carried from one machine to another: a copy of its database, and taking one in.
//!
//! Invariants: the copy is whole, also while another process writes to the domain; what is taken in is a domain of a
//! format that this program reads, or nothing is taken in. The derived indexes stay behind: they are made again from the
//! database.
//! Not here: the file that domains are carried in (room `bundle`).

use std::fs;
use std::path::Path;

use super::domain::{DomainDb, FILE};
use super::error::{file_error, store_error};
use super::remove::SETTINGS_FILE;
use super::{IndexError, find_domain, schema};

/// The files of a domain that are carried; the second is there where the domain has settings of its own.
pub const CARRIED: [&str; 2] = [FILE, SETTINGS_FILE];

/// Copies the domain in `folder` into the folder `to`, which is made where it is missing and must hold no domain.
///
/// # Errors
/// [`IndexError::NotFound`] where no domain is; when the database cannot be read, or the copy not be written.
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

/// Makes the domain that lies in the folder `from`, on the same disk, the one in `folder`.
///
/// # Errors
/// [`IndexError::Exists`] where a domain is already; when what lies in `from` is no whole domain, or one of a newer
/// format; when it cannot be moved.
pub fn take_in(from: &Path, folder: &Path) -> Result<(), IndexError> {
    if find_domain(folder).is_ok() {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        return Err(IndexError::Exists { path: folder.to_path_buf(), name: crate::base::clean_line(&name) });
    }
    let db = DomainDb::open(from)?;
    let failed = |source| store_error("checking the database", &db.path, source);
    let found: String = db.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(failed)?;
    if found != "ok" {
        return Err(IndexError::Damaged { path: db.path.clone(), source: crate::base::clean_line(&found).into() });
    }
    db.connection.close().map_err(|(_, source)| store_error("closing the database", &from.join(FILE), source))?;
    schema::make_private_file(&from.join(FILE))?;
    fs::rename(from, folder).map_err(|source| file_error("moving the domain to", folder, source))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::CancelToken;
    use crate::index::Index;
    use crate::index::test_kit::{WordEmbedder, domain, ingest, page};
    use crate::inference::Embed as _;

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
        assert_eq!(names.len(), CARRIED.len(), "{names:?}");

        let there = folder.path().join("there");
        take_in(&copy, &there).unwrap();
        assert!(!copy.exists());
        let opened = Index::open(&there, embedder.identity(), &CancelToken::never(), &mut |_| {}).unwrap();
        assert_eq!(opened.summary().unwrap(), index.summary().unwrap());
        assert_eq!(opened.lexical_search("crane", 3).unwrap().len(), 1);
        assert_eq!(fs::read_to_string(there.join(SETTINGS_FILE)).unwrap(), "sources = 3\n");

        copy_domain(&there, &copy).unwrap();
        assert!(matches!(take_in(&copy, &there), Err(IndexError::Exists { .. })), "nothing is overwritten");
        assert!(copy.join(FILE).is_file());
    }

    #[test]
    fn what_is_no_domain_is_not_taken_in() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir(&from).unwrap();
        assert!(matches!(take_in(&from, &to), Err(IndexError::NotFound { .. })));
        fs::write(from.join(FILE), "no database at all, but long enough to be looked at").unwrap();
        assert!(take_in(&from, &to).is_err());
        assert!(!to.exists());
        assert!(matches!(copy_domain(&to, &from), Err(IndexError::NotFound { .. })));
    }
}
