//! An ingest into a domain that may have to be made first.
//!
//! Takes the folder of a domain and a request, gives the report.
//! Invariants: a new domain needs a path that is there; it is removed where nothing could be read, but kept after a
//! cancellation, so that the next ingest continues; documents stored before stay.
//! Not here: reading and storing (`ingest`), locking and opening (`handle`).

use std::path::{Path, PathBuf};

use super::details::{DomainChange, set_domain};
use super::domain::FILE;
use super::error::domain_name;
use super::progress::{IngestReport, OnProgress};
use super::{Index, IndexError, IngestRequest, NewDomain, remove_domain};
use ragonite_base::{CancelToken, clean_line};
use ragonite_inference::Embed;

/// Why a domain cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSource {
    /// No path is given.
    #[error("there is no domain `{domain}` yet, and no file or folder to make it from")]
    NotGiven {
        /// The domain.
        domain: String,
    },
    /// A path does not exist.
    #[error("there is no file or folder `{}`", clean_line(&path.to_string_lossy()))]
    Missing {
        /// The path.
        path: PathBuf,
    },
}

/// An ingest whose paths were checked.
#[derive(Debug, Clone, Copy)]
pub struct DomainIngest<'a> {
    folder: &'a Path,
    request: IngestRequest<'a>,
    /// Whether the domain has still to be made.
    is_new: bool,
}

impl<'a> DomainIngest<'a> {
    /// Checks the paths of a new domain. Needs no embedder.
    ///
    /// # Errors
    /// [`NoSource`] where a new domain has no path, or one that does not exist.
    pub fn new(folder: &'a Path, request: IngestRequest<'a>) -> Result<Self, NoSource> {
        let is_new = !folder.join(FILE).is_file();
        if is_new && request.paths.is_empty() {
            return Err(NoSource::NotGiven { domain: domain_name(folder) });
        }
        match request.paths.iter().find(|path| is_new && !path.exists()) {
            Some(missing) => Err(NoSource::Missing { path: missing.clone() }),
            None => Ok(Self { folder, request, is_new }),
        }
    }

    /// Opens or makes the domain, applies `change`, and syncs the domain with the paths.
    ///
    /// # Errors
    /// As [`Index::open_or_create`], [`Index::ingest`] and [`remove_domain`].
    pub fn run(
        &self,
        change: &DomainChange,
        embedder: &dyn Embed,
        cancel: &CancelToken,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<IngestReport, IndexError> {
        let domain = NewDomain::default();
        let mut index = Index::open_or_create(self.folder, domain, embedder.identity(), cancel, on_progress)?;
        let changed = if *change == DomainChange::default() { Ok(()) } else { set_domain(self.folder, change) };
        let result = changed.and_then(|()| index.ingest(&self.request, embedder, cancel, on_progress));
        let is_empty = index.summary().map(|summary| summary.documents == 0);
        drop(index);
        if self.is_new && !matches!(result, Err(IndexError::Canceled(_))) && matches!(is_empty, Ok(true)) {
            remove_domain(self.folder)?;
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::test_kit::WordEmbedder;
    use super::super::{IndexSettings, Missing, NothingRead, list_domains};
    use super::*;
    use ragonite_base::CancelSource;
    use ragonite_document::evidence::EvidenceSettings;

    /// A folder for documents, and beside it one for a domain.
    struct Wiki {
        data: tempfile::TempDir,
        folder: PathBuf,
        evidence: EvidenceSettings,
        index: IndexSettings,
    }

    impl Wiki {
        fn new() -> Self {
            let data = tempfile::tempdir().unwrap();
            let folder = data.path().join("domains/wiki");
            Self { data, folder, evidence: EvidenceSettings::default(), index: IndexSettings::default() }
        }

        fn docs(&self) -> PathBuf {
            self.data.path().join("docs")
        }

        fn write(&self, name: &str, text: &str) {
            fs::create_dir_all(self.docs()).unwrap();
            fs::write(self.docs().join(name), text).unwrap();
        }

        fn ingest<'a>(&'a self, paths: &'a [PathBuf]) -> Result<DomainIngest<'a>, NoSource> {
            let (evidence, index) = (&self.evidence, &self.index);
            DomainIngest::new(&self.folder, IngestRequest { paths, evidence, index, missing: Missing::Keep })
        }

        fn read(&self, paths: &[PathBuf], cancel: &CancelToken) -> Result<IngestReport, IndexError> {
            let change = DomainChange { title: Some("Wiki".to_owned()), ..DomainChange::default() };
            self.ingest(paths).unwrap().run(&change, &WordEmbedder::new("f00d"), cancel, &mut |_| {})
        }

        /// Title and number of documents of every domain.
        fn stored(&self) -> Vec<(String, usize)> {
            let listed = list_domains(self.folder.parent().unwrap()).unwrap();
            let summaries = listed.into_iter().map(|one| one.summary.unwrap());
            summaries.map(|summary| (summary.title, summary.documents)).collect()
        }
    }

    fn stopped() -> CancelToken {
        let source = CancelSource::default();
        source.cancel();
        source.token()
    }

    #[test]
    fn a_domain_is_made_read_again_and_whole_after_a_stop() {
        let (wiki, never) = (Wiki::new(), CancelToken::never());
        wiki.write("a.md", "# Modem\n\nAlice replaces the modem of the station.\n");
        let made = wiki.read(&[wiki.docs()], &never).unwrap();
        assert_eq!((made.added, made.nothing_read()), (1, None));
        wiki.write("b.md", "# Board\n\nThe board has revision C.\n");
        assert!(matches!(wiki.read(&[], &stopped()), Err(IndexError::Canceled(_))));
        assert_eq!(wiki.stored(), [("Wiki".to_owned(), 1)]);
        let again = wiki.read(&[], &never).unwrap();
        assert_eq!((again.added, again.unchanged), (1, 1));
        fs::remove_dir_all(wiki.docs()).unwrap();
        assert_eq!(wiki.read(&[], &never).unwrap().nothing_read(), Some(NothingRead::Kept));
        assert_eq!(wiki.stored(), [("Wiki".to_owned(), 2)]);
    }

    #[test]
    fn a_new_domain_without_documents_is_removed_unless_it_was_stopped() {
        let (wiki, never) = (Wiki::new(), CancelToken::never());
        let docs = [wiki.docs()];
        assert_eq!(wiki.ingest(&[]).unwrap_err(), NoSource::NotGiven { domain: "wiki".to_owned() });
        assert_eq!(wiki.ingest(&docs).unwrap_err(), NoSource::Missing { path: wiki.docs() });
        fs::create_dir(wiki.docs()).unwrap();
        assert_eq!(wiki.read(&docs, &never).unwrap().nothing_read(), Some(NothingRead::NotFound));
        wiki.write("bad.json", "{\"title\": 3");
        assert_eq!(wiki.read(&docs, &never).unwrap().nothing_read(), Some(NothingRead::Skipped));
        assert_eq!(wiki.stored(), []);
        assert!(matches!(wiki.read(&docs, &stopped()), Err(IndexError::Canceled(_))));
        assert_eq!(wiki.stored(), [("Wiki".to_owned(), 0)]);
    }
}
