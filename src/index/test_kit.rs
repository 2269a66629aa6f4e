//! What the tests of `index` and `retrieval` share: an embedder without weights, and small documents.

#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::ingest::{Absent, ContentHash, Documents, Incoming};
use super::{Index, IndexError, IngestReport, NewDomain};
use ragonite_base::{CancelSource, CancelToken, Canceled};
use ragonite_document::evidence::{Context, ContextParts, Evidence, Kind, Split, TableGrid};
use ragonite_document::{Block, Document, Member, Table};
use ragonite_inference::{Embed, Embedding, EncoderIdentity, InferenceError, TextRole};

/// What a call of the embedder does.
#[derive(Debug, Clone, Default)]
pub enum Trouble {
    /// Nothing goes wrong.
    #[default]
    Never,
    /// The call with this number, from 0, fails.
    FailsAt(usize),
    /// The call with this number cancels the work.
    CancelsAt(usize, CancelSource),
}

/// A text is the sum of its words, each a vector made from its letters.
pub struct WordEmbedder {
    identity: EncoderIdentity,
    /// What goes wrong.
    pub trouble: Trouble,
    calls: AtomicUsize,
    texts: AtomicUsize,
}

const DIMENSIONS: usize = 32;

impl WordEmbedder {
    /// An embedder with this fingerprint and a window of 64 tokens.
    pub fn new(fingerprint: &str) -> Self {
        let identity = EncoderIdentity {
            model: "words".to_owned(),
            fingerprint: fingerprint.to_owned(),
            dimensions: DIMENSIONS,
            max_tokens: 64,
        };
        Self { identity, trouble: Trouble::Never, calls: AtomicUsize::new(0), texts: AtomicUsize::new(0) }
    }

    /// The same with a window of `max_tokens`.
    #[must_use]
    pub fn with_window(mut self, max_tokens: usize) -> Self {
        self.identity.max_tokens = max_tokens;
        self
    }

    /// Texts embedded so far.
    pub fn texts(&self) -> usize {
        self.texts.load(Ordering::Relaxed)
    }

    fn vector(&self, text: &str) -> Embedding {
        let mut values = vec![0.0_f32; DIMENSIONS];
        for word in text.split_whitespace() {
            let mut state = self
                .identity
                .fingerprint
                .bytes()
                .chain(word.to_lowercase().bytes())
                .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            for value in &mut values {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                *value += (state % 2001) as f32 / 1000.0 - 1.0;
            }
        }
        Embedding::normalized(values)
    }
}

impl Embed for WordEmbedder {
    fn identity(&self) -> &EncoderIdentity {
        &self.identity
    }

    fn count_tokens(&self, text: &str) -> Result<usize, InferenceError> {
        Ok(text.split_whitespace().count() + 2)
    }

    fn embed(&self, texts: &[&str], _role: TextRole, cancel: &CancelToken) -> Result<Vec<Embedding>, InferenceError> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        match &self.trouble {
            Trouble::FailsAt(at) if *at == call => {
                return Err(InferenceError::Run {
                    doing: "embedding",
                    model: "words".to_owned(),
                    source: "out of words".into(),
                });
            }
            Trouble::CancelsAt(at, source) if *at == call => source.cancel(),
            _ => {}
        }
        if cancel.is_canceled() {
            return Err(Canceled.into());
        }
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

/// A page of passages.
#[derive(Debug, Clone)]
pub struct Page {
    /// Its name: the path is made of it.
    pub name: String,
    /// Its passages.
    pub passages: Vec<String>,
    /// Its table.
    pub table: Option<TableGrid>,
    /// Its date, as a source gives it.
    pub date: Option<String>,
}

/// A page of passages alone.
pub fn page(name: &str, passages: &[&str]) -> Page {
    let passages = passages.iter().map(|text| (*text).to_owned()).collect();
    Page { name: name.to_owned(), passages, table: None, date: None }
}

impl Page {
    /// Where it would lie.
    pub fn path(&self) -> PathBuf {
        PathBuf::from("/wiki").join(&self.name)
    }

    /// The document that a reader would make of it.
    pub fn document(&self) -> Document {
        let mut blocks: Vec<Block> = self.passages.iter().cloned().map(Block::Text).collect();
        blocks.extend(self.table.iter().map(|grid| {
            Block::Table(Table { header: grid.header.clone(), rows: grid.rows.clone(), ..Table::default() })
        }));
        Document { title: self.name.clone(), date: self.date.clone(), blocks, ..Document::default() }
    }

    /// The evidences that the splitter would make of it.
    pub fn evidences(&self) -> Vec<Evidence> {
        split(&self.document()).evidences
    }

    pub(super) fn incoming(&self) -> Incoming<'static> {
        let (document, hash) = (self.document(), ContentHash::of(format!("{self:?}").as_bytes()));
        Incoming {
            path: self.path(),
            hash: Box::new(|| Ok(hash)),
            read: Box::new(|visit| {
                let _ = visit(Member { name: None, content: Ok(document) });
                Ok(())
            }),
        }
    }

    /// A file that cannot be opened.
    #[cfg(test)]
    pub(super) fn unreadable(&self) -> Incoming<'static> {
        Incoming { hash: Box::new(|| Err("permission denied".to_owned())), ..self.incoming() }
    }

    /// A file that can be opened but not understood.
    #[cfg(test)]
    pub(super) fn unparsable(&self) -> Incoming<'static> {
        let path = self.path();
        Incoming { read: Box::new(|_| Err(ragonite_document::DocumentError::NoText { path })), ..self.incoming() }
    }
}

/// An archive of pages; a page without a passage cannot be read.
#[cfg(test)]
pub(super) fn archive(name: &str, pages: &[Page]) -> Incoming<'static> {
    let (path, members) = (PathBuf::from("/wiki").join(name), pages.to_vec());
    let hash = ContentHash::of(format!("{pages:?}").as_bytes());
    let read = Box::new(move |visit: &mut super::ingest::Visit<'_>| {
        for page in members {
            let path = page.path();
            let content = if page.passages.is_empty() {
                Err(ragonite_document::DocumentError::NoText { path })
            } else {
                Ok(page.document())
            };
            if visit(Member { name: Some(page.name), content }).is_break() {
                break;
            }
        }
        Ok(())
    });
    Incoming { path, hash: Box::new(|| Ok(hash)), read }
}

/// A passage per text; a table gives its rows.
pub fn split(document: &Document) -> Split {
    let context =
        Context { title: document.title.clone(), heading_path: vec!["Notes".to_owned()], ..Context::default() };
    let evidence = |kind, content: &str| Evidence {
        kind,
        content: content.to_owned(),
        context: context.clone(),
        table: None,
        row: None,
        location: "Notes".to_owned(),
        links: Vec::new(),
    };
    let mut split = Split::default();
    for block in &document.blocks {
        match block {
            Block::Text(text) => split.evidences.push(evidence(Kind::Passage, text)),
            Block::Table(table) => {
                for (number, row) in (1..).zip(&table.rows) {
                    let cells: Vec<String> =
                        table.header.iter().zip(row).map(|(name, value)| format!("{name} is {value}")).collect();
                    let content = format!("Row {number} in Table 1: {}", cells.join(", and "));
                    split.evidences.push(Evidence {
                        table: Some(1),
                        row: Some(number),
                        location: format!("Table 1, row {number}"),
                        ..evidence(Kind::Row, &content)
                    });
                }
                let (header, rows) = (table.header.clone(), table.rows.clone());
                split.tables.push(TableGrid { number: 1, caption: String::new(), header, rows });
            }
            _ => {}
        }
    }
    split
}

/// Brings `index` in step with `pages`.
///
/// # Errors
/// As [`Index::ingest`].
pub fn ingest(index: &mut Index, pages: &[Page], embedder: &dyn Embed) -> Result<IngestReport, IndexError> {
    ingest_all(index, pages.iter().map(Page::incoming).collect(), embedder, &CancelToken::never())
}

pub(super) fn ingest_all(
    index: &mut Index,
    incoming: Vec<Incoming<'_>>,
    embedder: &dyn Embed,
    cancel: &CancelToken,
) -> Result<IngestReport, IndexError> {
    let total = incoming.len();
    let mut incoming = incoming.into_iter();
    let _lock = index.lock()?;
    index.check_embedder(embedder.identity())?;
    index.ingest_locked(documents(&mut incoming, total), embedder, cancel, &mut |_| {})
}

pub(super) fn documents<'a, 'd>(
    incoming: &'a mut (dyn Iterator<Item = Incoming<'d>> + Send + 'a),
    total: usize,
) -> Documents<'a, 'd> {
    let evidence = serde_json::Value::Null;
    Documents {
        incoming,
        total,
        context: ContextParts::ALL,
        evidence,
        split: &|document| Ok(split(document)),
        absent: Absent::default(),
        skipped: Vec::new(),
    }
}

/// A new domain in a temporary folder.
pub fn domain(embedder: &dyn Embed) -> (tempfile::TempDir, Index) {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::create(&folder.path().join("wiki"), NewDomain::default(), embedder.identity()).unwrap();
    (folder, index)
}
