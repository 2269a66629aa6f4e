//! The source files of documents, and the ingested folders (roots).
//!
//! Takes and gives paths and hashes.
//! Not here: comparing files on disk with the database (`scan`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::IndexError;
use super::domain::DomainDb;
use super::ingest::ContentHash;
use super::path_text::{path_text, text_path};
use super::progress::Skipped;

/// The stored state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileState {
    pub(super) id: i64,
    /// Hash of the whole file; empty if it was not read to its end.
    pub(super) content_hash: ContentHash,
    pub(super) made_with: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredFile {
    pub(super) path: PathBuf,
    pub(super) content_hash: ContentHash,
    pub(super) made_with: String,
    /// Number of its documents.
    pub(super) documents: usize,
}

/// A path that was given to an ingest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// Its path, with links resolved.
    pub path: PathBuf,
    /// Its kind when it was given.
    pub kind: RootKind,
}

/// The kind of a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RootKind {
    /// A folder: new files in it belong to the domain.
    Folder,
    /// A single file.
    File,
}

impl RootKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::File => "file",
        }
    }
}

impl DomainDb {
    pub(super) fn file_state(&self, path: &str) -> Result<Option<FileState>, IndexError> {
        let read = || {
            self.connection
                .prepare_cached("SELECT id, content_hash, made_with FROM files WHERE path = ?1")?
                .query_row([path], |row| {
                    Ok(FileState { id: row.get(0)?, content_hash: ContentHash(row.get(1)?), made_with: row.get(2)? })
                })
                .optional()
        };
        read().map_err(self.failed("looking up a file"))
    }

    /// Content hash of each document in a file, by member.
    pub(super) fn member_hashes(&self, file: i64) -> Result<HashMap<String, ContentHash>, IndexError> {
        let read = || {
            let mut query =
                self.connection.prepare_cached("SELECT member, content_hash FROM documents WHERE file = ?1")?;
            query.query_map([file], |row| Ok((row.get(0)?, ContentHash(row.get(1)?))))?.collect::<rusqlite::Result<_>>()
        };
        read().map_err(self.failed("looking up a file"))
    }

    /// The members of a file that could not be read.
    pub(super) fn unread_of(&self, file: i64, path: &Path) -> Result<Vec<Skipped>, IndexError> {
        let read = || {
            let mut query =
                self.connection.prepare_cached("SELECT member, reason FROM unread WHERE file = ?1 ORDER BY member")?;
            let skipped = query.query_map([file], |row| {
                Ok(Skipped { path: member_path(path, &row.get::<_, String>(0)?), reason: row.get(1)? })
            })?;
            skipped.collect::<rusqlite::Result<_>>()
        };
        read().map_err(self.failed("looking up a file"))
    }

    /// Passes all files to `take`, by path.
    pub(super) fn each_file(&self, take: &mut dyn FnMut(StoredFile)) -> Result<(), IndexError> {
        let mut read = || {
            let sql = "SELECT f.path, f.content_hash, f.made_with, count(d.id) FROM files f
                LEFT JOIN documents d ON d.file = f.id GROUP BY f.id ORDER BY f.path";
            let mut query = self.connection.prepare_cached(sql)?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                take(StoredFile {
                    path: text_path(&row.get::<_, String>(0)?),
                    content_hash: ContentHash(row.get(1)?),
                    made_with: row.get(2)?,
                    documents: row.get(3)?,
                });
            }
            Ok(())
        };
        read().map_err(self.failed("reading the files"))
    }

    /// Number of documents in a file or folder.
    pub(super) fn documents_under(&self, path: &Path) -> Result<usize, IndexError> {
        let mut documents = 0;
        self.each_file(&mut |file| {
            if file.path.starts_with(path) {
                documents += file.documents;
            }
        })?;
        Ok(documents)
    }

    /// All roots.
    pub(super) fn roots(&self) -> Result<Vec<Root>, IndexError> {
        let read = || {
            let mut query = self.connection.prepare_cached("SELECT path, kind FROM roots ORDER BY path")?;
            let roots = query.query_map([], |row| {
                let kind: String = row.get(1)?;
                let kind = if kind == RootKind::File.as_str() { RootKind::File } else { RootKind::Folder };
                Ok(Root { path: text_path(&row.get::<_, String>(0)?), kind })
            })?;
            roots.collect::<rusqlite::Result<_>>()
        };
        read().map_err(self.failed("reading the folders"))
    }

    /// Stores the given roots; a single file is not stored if its folder is a root.
    pub(super) fn remember_roots(&mut self, given: &[Root]) -> Result<(), IndexError> {
        let known = self.roots()?;
        let all = || known.iter().chain(given);
        let covered = |root: &Root| {
            root.kind == RootKind::File
                && all().any(|other| other.kind == RootKind::Folder && root.path.starts_with(&other.path))
        };
        if given.iter().all(|root| known.contains(root)) && !known.iter().any(covered) {
            return Ok(());
        }
        self.write("noting the folders", |transaction| {
            for root in all() {
                let path = path_text(&root.path);
                if covered(root) {
                    transaction.execute("DELETE FROM roots WHERE path = ?1", [&path])?;
                } else {
                    transaction
                        .execute("INSERT OR REPLACE INTO roots VALUES (?1, ?2)", params![path, root.kind.as_str()])?;
                }
            }
            Ok(())
        })
    }

    /// Deletes a root.
    pub(super) fn forget_root(&mut self, path: &Path) -> Result<(), IndexError> {
        let path = path_text(path);
        self.write("noting the folders", |transaction| {
            transaction.execute("DELETE FROM roots WHERE path = ?1", [path]).map(|_| ())
        })
    }
}

/// The display path of a document inside a file, as in the errors of `document`: `space.zip!/team/page.html`. File and
/// member are stored separately.
pub(super) fn member_path(file: &Path, member: &str) -> PathBuf {
    if member.is_empty() {
        return file.to_path_buf();
    }
    let mut path = file.as_os_str().to_owned();
    path.push("!/");
    path.push(member);
    path.into()
}

/// The same in SQL, for rows of `files f` and `documents d`.
pub(super) const MEMBER_PATH: &str = "f.path || CASE WHEN d.member = '' THEN '' ELSE '!/' || d.member END";
