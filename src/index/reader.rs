//! The thread that reads and splits files ahead of the embedder.
//!
//! Takes files one by one, gives steps: documents to store, and files to leave as they are.
//! Invariants: it only reads the database, over its own connection; a panicking format reader loses its file, not the
//! run; on cancellation it stops within a document, which it then does not report, and when the other side is gone,
//! between two documents.
//! Not here: embedding and storing (`ingest`).

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread;

use sha2::{Digest as _, Sha256};

use super::IndexError;
use super::domain::{DomainDb, TextHash, hex};
use super::error::chain;
use super::files::{StoredFile, member_path};
use super::ingest::{ContentHash, Incoming, NewDocument, SplitDocument};
use super::path_text::path_text;
use super::progress::Skipped;
use super::queue::{Closed, Queue};
use super::windows::{self, Piece};
use super::write::FinishedFile;
use ragonite_base::{CancelToken, Canceled};
use ragonite_document::evidence::ContextParts;
use ragonite_document::{Document, DocumentError, Member};
use ragonite_inference::Embed;

/// Name of the thread. Panics in it are caught and must not end the program.
pub const READER_THREAD: &str = "reader";

/// Stack size in bytes: parsers of nested markup need more than the default.
const STACK_BYTES: usize = 16 << 20;

/// Added to the reason if a document was read before and cannot be read now.
const KEPT: &str = "; its evidence from an earlier ingest is kept";

/// Approximate bytes of an evidence beside its texts.
const EVIDENCE_BYTES: usize = 400;

/// A step for a file or one of its documents.
pub(super) enum Step {
    /// The file is about to be read.
    Opened { path: String },
    /// The file is unchanged.
    Unchanged { path: String, documents: usize, unread: Vec<Skipped> },
    /// The file cannot be read.
    Unreadable { path: PathBuf, reason: String },
    /// The file was renamed.
    Renamed { from: PathBuf, to: String },
    /// A document of the file is unchanged.
    Same { path: String },
    /// A document of the file is new or changed.
    Member(Box<ParsedMember>),
    /// All documents of the file were given.
    Finished { file: FinishedFile, skipped: Vec<Skipped> },
    /// The database could not be read, or the embedder's tokenizer failed.
    Failed(IndexError),
}

/// A document and its texts to embed.
pub(super) struct ParsedMember {
    pub(super) document: NewDocument,
    /// For each evidence its hash and, if its text has no vector, the texts to embed.
    pub(super) texts: Vec<(TextHash, Option<Vec<Piece>>)>,
}

/// Runs `work` while `reader` reads ahead.
pub(super) fn on_reading_thread<'d, T>(
    reader: Reader<'_>,
    incoming: &mut (dyn Iterator<Item = Incoming<'d>> + Send + '_),
    queue: &Queue<Step>,
    work: impl FnOnce() -> Result<T, IndexError>,
) -> Result<T, IndexError> {
    thread::scope(|scope| {
        let read = move || {
            let _end = queue.close_on_drop();
            reader.read_all(incoming, queue);
        };
        let thread = thread::Builder::new().name(READER_THREAD.to_owned()).stack_size(STACK_BYTES);
        let started = thread.spawn_scoped(scope, read);
        started.map_err(|source| super::error::file_error("starting the thread that reads", Path::new(""), source))?;
        let _end = queue.close_on_drop();
        work()
    })
}

pub(super) struct Reader<'a> {
    db: DomainDb,
    made_with: String,
    context: ContextParts,
    embedder: &'a dyn Embed,
    split: &'a SplitDocument<'a>,
    /// Missing files, by content.
    absent: HashMap<ContentHash, Vec<StoredFile>>,
    cancel: CancelToken,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        db: DomainDb,
        made_with: String,
        context: ContextParts,
        embedder: &'a dyn Embed,
        split: &'a SplitDocument<'a>,
        absent: Vec<StoredFile>,
    ) -> Self {
        let mut by_content: HashMap<ContentHash, Vec<StoredFile>> = HashMap::new();
        for file in absent.into_iter().rev() {
            by_content.entry(file.content_hash.clone()).or_default().push(file);
        }
        Self { db, made_with, context, embedder, split, absent: by_content, cancel: CancelToken::never() }
    }

    pub(super) fn cancelled_by(mut self, cancel: &CancelToken) -> Self {
        self.cancel = cancel.clone();
        self
    }

    fn read_all(mut self, incoming: &mut dyn Iterator<Item = Incoming<'_>>, queue: &Queue<Step>) {
        for file in incoming {
            if self.cancel.is_canceled() {
                return;
            }
            let read = self.read(file, queue).unwrap_or_else(|error| queue.push(Step::Failed(error), 0));
            if read == Err(Closed) {
                return;
            }
        }
    }

    fn read(&mut self, file: Incoming<'_>, queue: &Queue<Step>) -> Result<Result<(), Closed>, IndexError> {
        let Incoming { path, hash, read } = file;
        let hashed = hash();
        if self.cancel.is_canceled() {
            return Ok(Err(Closed));
        }
        let content_hash = match hashed {
            Ok(hash) => hash,
            Err(reason) => {
                let reason = match self.db.file_state(&path_text(&path))? {
                    Some(_) => format!("{reason}{KEPT}"),
                    None => reason,
                };
                return Ok(queue.push(Step::Unreadable { path, reason }, 0));
            }
        };
        let source = path_text(&path);
        let state = self.db.file_state(&source)?;
        if let Some(state) = &state
            && state.content_hash == content_hash
            && state.made_with == self.made_with
        {
            let documents = self.db.member_hashes(state.id)?.len();
            let unread = self.db.unread_of(state.id, &path)?;
            return Ok(queue.push(Step::Unchanged { path: source, documents, unread }, 0));
        }
        if queue.push(Step::Opened { path: source.clone() }, 0).is_err() {
            return Ok(Err(Closed));
        }
        let mut known = state.map(|state| state.id);
        if known.is_none()
            && let Some(from) = self.renamed_from(&content_hash, &path)
        {
            known = self.db.file_state(&path_text(&from))?.map(|state| state.id);
            if queue.push(Step::Renamed { from, to: source }, 0).is_err() {
                return Ok(Err(Closed));
            }
            // It is read all the same: a title may come from the file name.
        }
        let stored = known.map_or_else(|| Ok(HashMap::new()), |file| self.db.member_hashes(file))?;
        let mut members = Members {
            reader: self,
            queue,
            path: &path,
            stored,
            seen: HashSet::new(),
            copies: HashMap::new(),
            unread: Vec::new(),
            stopped: None,
        };
        let whole = catch_unwind(AssertUnwindSafe(|| read(&mut |member| members.take(member))));
        members.finish(content_hash, whole.unwrap_or_else(|_| Err(defect(&path))))
    }

    /// The old path of a renamed file. Another extension may mean another format, so it counts as another file.
    fn renamed_from(&mut self, content_hash: &ContentHash, path: &Path) -> Option<PathBuf> {
        let files = self.absent.get_mut(content_hash)?;
        let fits = |file: &StoredFile| file.made_with == self.made_with && file.path.extension() == path.extension();
        let at = files.iter().rposition(fits)?;
        Some(files.remove(at).path)
    }

    /// Splits a document and collects the texts without a vector.
    fn parse(
        &self,
        path: &Path,
        member: &str,
        document: Document,
        content_hash: ContentHash,
    ) -> Result<ParsedMember, IndexError> {
        let split = (self.split)(&document)?;
        let mut texts = Vec::with_capacity(split.evidences.len());
        for evidence in &split.evidences {
            self.cancel.check()?;
            let hash = TextHash::of(evidence, self.context);
            let stored = self.db.holds_text(&hash)?;
            let pieces = (!stored).then(|| windows::texts(evidence, self.context, self.embedder)).transpose()?;
            texts.push((hash, pieces));
        }
        let document = NewDocument {
            path: path_text(path),
            member: member.to_owned(),
            content_hash,
            title: document.title,
            url: document.url,
            date: document.date,
            space: document.space,
            ancestors: document.ancestors,
            split,
        };
        Ok(ParsedMember { document, texts })
    }
}

/// The error for a panicking reader.
fn defect(path: &Path) -> DocumentError {
    let source = io::Error::other("the program has a defect that this file brings out");
    DocumentError::Read { path: path.to_owned(), source }
}

/// Why reading a file stopped.
enum Stopped {
    Closed,
    Failed(IndexError),
}

/// The documents of the current file.
struct Members<'r, 'a> {
    reader: &'r Reader<'a>,
    queue: &'r Queue<Step>,
    path: &'r Path,
    /// Stored content hashes, by member.
    stored: HashMap<String, ContentHash>,
    seen: HashSet<String>,
    /// Number of members of a repeated name.
    copies: HashMap<String, usize>,
    unread: Vec<(String, String)>,
    stopped: Option<Stopped>,
}

impl Members<'_, '_> {
    fn take(&mut self, member: Member) -> ControlFlow<()> {
        if self.reader.cancel.is_canceled() {
            self.stopped = Some(Stopped::Closed);
            return ControlFlow::Break(());
        }
        let name = self.unused(member.name.unwrap_or_default());
        self.seen.insert(name.clone());
        match member.content {
            Ok(document) => {
                if let Err(stopped) = self.give(&name, document) {
                    self.stopped = Some(stopped);
                    return ControlFlow::Break(());
                }
            }
            Err(error) => {
                let reason = reason(&error, self.stored.contains_key(&name).then_some(KEPT));
                self.unread.push((name, reason));
            }
        }
        ControlFlow::Continue(())
    }

    /// A unique member name: the second of equal names becomes `name (2)`.
    fn unused(&mut self, name: String) -> String {
        let mut free = name.clone();
        while self.seen.contains(&free) {
            let copies = self.copies.entry(name.clone()).or_insert(1);
            *copies += 1;
            free = format!("{name} ({copies})");
        }
        free
    }

    fn give(&self, name: &str, document: Document) -> Result<(), Stopped> {
        let hashed = hash_of_document(&document, &self.reader.made_with, &self.reader.cancel);
        let content_hash = hashed.map_err(|Canceled| Stopped::Closed)?;
        let (step, bytes) = if self.stored.get(name) == Some(&content_hash) {
            (Step::Same { path: path_text(self.path) }, 0)
        } else {
            let parsed = self.reader.parse(self.path, name, document, content_hash).map_err(Stopped::Failed)?;
            let bytes = weight(&parsed);
            (Step::Member(Box::new(parsed)), bytes)
        };
        self.queue.push(step, bytes).map_err(|Closed| Stopped::Closed)
    }

    fn finish(
        self,
        content_hash: ContentHash,
        read: Result<(), DocumentError>,
    ) -> Result<Result<(), Closed>, IndexError> {
        match self.stopped {
            // Cancelled between two documents, or within one.
            _ if self.reader.cancel.is_canceled() => return Ok(Err(Closed)),
            Some(Stopped::Closed) => return Ok(Err(Closed)),
            Some(Stopped::Failed(error)) => return Err(error),
            None => {}
        }
        let mut unread = self.unread;
        let kept = (!self.stored.is_empty()).then_some(KEPT);
        let whole = match read {
            Ok(()) => true,
            // Reading may succeed next time.
            Err(error @ DocumentError::Read { .. }) => {
                let step = Step::Unreadable { path: self.path.to_path_buf(), reason: reason(&error, kept) };
                return Ok(self.queue.push(step, 0));
            }
            Err(error) => {
                unread.push((String::new(), reason(&error, kept)));
                false
            }
        };
        let skipped = unread
            .iter()
            .map(|(member, reason)| Skipped { path: member_path(self.path, member), reason: reason.clone() })
            .collect();
        let file = FinishedFile {
            path: path_text(self.path),
            content_hash,
            made_with: self.reader.made_with.clone(),
            unread,
            members: whole.then_some(self.seen),
        };
        Ok(self.queue.push(Step::Finished { file, skipped }, 0))
    }
}

/// The reason for a failure, and the fate of earlier evidence.
fn reason(error: &DocumentError, kept: Option<&str>) -> String {
    chain(error) + kept.unwrap_or_default()
}

/// Hash of the document and its splitting settings.
fn hash_of_document(document: &Document, made_with: &str, cancel: &CancelToken) -> Result<ContentHash, Canceled> {
    struct Hashing<'c>(Sha256, &'c CancelToken);
    impl io::Write for Hashing<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.check().map_err(io::Error::other)?;
            self.0.update(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut hashing = Hashing(Sha256::new(), cancel);
    hashing.0.update(made_with);
    // Serializing plain data cannot fail; hashing fails only on cancellation.
    let _ = serde_json::to_writer(&mut hashing, document);
    cancel.check()?;
    Ok(ContentHash(hex(&hashing.0.finalize())))
}

/// Approximate bytes of a waiting document.
fn weight(parsed: &ParsedMember) -> usize {
    let of_texts = |pieces: &Vec<Piece>| pieces.iter().map(|piece| piece.text.len()).sum::<usize>();
    let evidences = parsed.document.split.evidences.iter().zip(&parsed.texts);
    let evidences: usize = evidences
        .map(|(evidence, (_, pieces))| {
            let context = &evidence.context;
            let own = evidence.content.len() + context.before.len() + context.after.len();
            EVIDENCE_BYTES + own + pieces.as_ref().map_or(0, of_texts)
        })
        .sum();
    let cells = parsed.document.split.tables.iter().flat_map(|table| table.rows.iter().flatten());
    evidences + cells.map(|cell| cell.len() + size_of::<String>()).sum::<usize>()
}
