//! What the tests of `index` and `retrieval` share: an embedder without weights, and small documents.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{ContentHash, Documents, Incoming, Index, IndexError, IngestReport, NewDomain};
use crate::base::{CancelSource, CancelToken, Canceled};
use crate::document::Document;
use crate::evidence::{Context, ContextParts, Evidence, Kind, Split, TableGrid};
use crate::inference::{Embed, Embedding, EncoderIdentity, InferenceError, TextRole};

/// What a call of the embedder does.
#[derive(Debug, Clone, Default)]
pub(crate) enum Trouble {
    #[default]
    Never,
    /// The call with this number, from 0, fails.
    FailsAt(usize),
    /// The call with this number cancels the work.
    CancelsAt(usize, CancelSource),
}

/// A text is the sum of its words, each a vector made from its letters.
pub(crate) struct WordEmbedder {
    identity: EncoderIdentity,
    pub(crate) trouble: Trouble,
    calls: AtomicUsize,
    texts: AtomicUsize,
}

const DIMENSIONS: usize = 32;

impl WordEmbedder {
    pub(crate) fn new(fingerprint: &str) -> Self {
        let identity = EncoderIdentity {
            model: "words".to_owned(),
            fingerprint: fingerprint.to_owned(),
            dimensions: DIMENSIONS,
            max_tokens: 64,
        };
        Self { identity, trouble: Trouble::Never, calls: AtomicUsize::new(0), texts: AtomicUsize::new(0) }
    }

    pub(crate) fn with_window(mut self, max_tokens: usize) -> Self {
        self.identity.max_tokens = max_tokens;
        self
    }

    /// Texts embedded so far.
    pub(crate) fn texts(&self) -> usize {
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
pub(crate) struct Page {
    pub(crate) name: String,
    pub(crate) passages: Vec<String>,
    pub(crate) table: Option<TableGrid>,
}

pub(crate) fn page(name: &str, passages: &[&str]) -> Page {
    Page { name: name.to_owned(), passages: passages.iter().map(|text| (*text).to_owned()).collect(), table: None }
}

impl Page {
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from("/wiki").join(&self.name)
    }

    pub(crate) fn evidences(&self) -> Vec<Evidence> {
        let context =
            Context { title: self.name.clone(), heading_path: vec!["Notes".to_owned()], ..Context::default() };
        let mut evidences: Vec<Evidence> = self
            .passages
            .iter()
            .map(|content| Evidence {
                kind: Kind::Passage,
                content: content.clone(),
                context: context.clone(),
                table: None,
                row: None,
                location: "Notes".to_owned(),
                links: Vec::new(),
            })
            .collect();
        let Some(table) = &self.table else { return evidences };
        for (number, row) in (1..).zip(&table.rows) {
            let cells: Vec<String> =
                table.header.iter().zip(row).map(|(name, value)| format!("{name} is {value}")).collect();
            evidences.push(Evidence {
                kind: Kind::Row,
                content: format!("Row {number} in Table {}: {}", table.number, cells.join(", and ")),
                context: context.clone(),
                table: Some(table.number),
                row: Some(number),
                location: format!("Table {}, row {number}", table.number),
                links: Vec::new(),
            });
        }
        evidences
    }

    pub(crate) fn incoming(&self) -> Incoming<'static> {
        let page = self.clone();
        let parse = move || {
            let document = Document { title: page.name.clone(), ..Document::default() };
            Ok((document, Split { evidences: page.evidences(), tables: page.table.into_iter().collect() }))
        };
        Incoming {
            path: self.path(),
            content_hash: Ok(ContentHash::of(format!("{self:?}").as_bytes())),
            parse: Box::new(parse),
        }
    }
}

pub(crate) fn ingest(index: &mut Index, pages: &[Page], embedder: &dyn Embed) -> Result<IngestReport, IndexError> {
    ingest_all(index, pages.iter().map(Page::incoming).collect(), embedder, &CancelToken::never())
}

pub(crate) fn ingest_all(
    index: &mut Index,
    incoming: Vec<Incoming<'_>>,
    embedder: &dyn Embed,
    cancel: &CancelToken,
) -> Result<IngestReport, IndexError> {
    let total = incoming.len();
    let mut incoming = incoming.into_iter();
    index.ingest_documents(documents(&mut incoming, total), embedder, cancel, &mut |_| {})
}

pub(crate) fn documents<'a, 'd>(
    incoming: &'a mut (dyn Iterator<Item = Incoming<'d>> + 'a),
    total: usize,
) -> Documents<'a, 'd> {
    Documents { incoming, total, context: ContextParts::ALL, evidence: serde_json::Value::Null }
}

/// A new domain in a temporary folder.
pub(crate) fn domain(embedder: &dyn Embed) -> (tempfile::TempDir, Index) {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::create(&folder.path().join("wiki"), NewDomain::default(), embedder.identity()).unwrap();
    (folder, index)
}
