//! The documents of a domain, each with a fingerprint of its text.
//!
//! Takes an open domain, gives its documents without their text.

use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

use super::domain::hex;
use super::files::MEMBER_PATH;
use super::{Index, IndexError};
use ragonite_base::DocumentId;

/// A document of a domain, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDocument {
    /// Its id.
    pub id: DocumentId,
    /// Its path; for a member of an archive, file path, `!/` and member name.
    pub path: String,
    /// Its URL, if any.
    pub url: Option<String>,
    /// Its title.
    pub title: String,
    /// Hash in lower-case hex; equal for documents with the same title and evidences, white space aside.
    pub fingerprint: String,
}

impl Index {
    /// The documents in the order they were added.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn documents(&self) -> Result<Vec<StoredDocument>, IndexError> {
        self.db.read("listing the documents", read)
    }
}

fn read(connection: &Connection) -> rusqlite::Result<Vec<StoredDocument>> {
    let mut contents =
        connection.prepare_cached("SELECT content FROM evidences WHERE document = ?1 ORDER BY ordinal")?;
    let listed = format!(
        "SELECT d.id, {MEMBER_PATH}, d.url, d.title FROM documents d JOIN files f ON f.id = d.file ORDER BY d.id"
    );
    let mut query = connection.prepare_cached(&listed)?;
    let mut rows = query.query([])?;
    let mut documents = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, title): (i64, String) = (row.get(0)?, row.get(3)?);
        let mut hash = Sha256::new();
        add_words(&mut hash, &title);
        let mut texts = contents.query([id])?;
        while let Some(text) = texts.next()? {
            add_words(&mut hash, text.get_ref(0)?.as_str()?);
        }
        let fingerprint = hex(&hash.finalize());
        documents.push(StoredDocument { id: DocumentId(id), path: row.get(1)?, url: row.get(2)?, title, fingerprint });
    }
    Ok(documents)
}

fn add_words(hash: &mut Sha256, text: &str) {
    for word in text.split_whitespace() {
        hash.update(word);
        hash.update(" ");
    }
    hash.update("\n");
}

#[cfg(test)]
mod tests {
    use crate::test_kit::{WordEmbedder, domain, ingest_all, page};

    #[test]
    fn documents_are_listed_and_copies_have_the_same_fingerprint() {
        let embedder = WordEmbedder::new("f00d");
        let (_folder, mut index) = domain(&embedder);
        let incoming = |path: &str, title: &str, text: &str| {
            let mut incoming = page(title, &[text]).incoming();
            incoming.path = path.into();
            incoming
        };
        let pages = vec![
            incoming("/a/Tests", "Tests", "Alice ran  the tests"),
            incoming("/b/Tests", "Tests", "Alice ran the tests"),
            incoming("/b/Travel", "Travel", "Alice ran the tests"),
        ];
        ingest_all(&mut index, pages, &embedder, &ragonite_base::CancelToken::never()).unwrap();
        let documents = index.documents().unwrap();
        let paths: Vec<(&str, &str)> = documents.iter().map(|d| (d.path.as_str(), d.title.as_str())).collect();
        assert_eq!(paths, [("/a/Tests", "Tests"), ("/b/Tests", "Tests"), ("/b/Travel", "Travel")]);
        assert_eq!(documents[0].fingerprint, documents[1].fingerprint);
        assert_ne!(documents[0].fingerprint, documents[2].fingerprint);
    }
}
