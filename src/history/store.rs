//! Stores and reads turns.
//!
//! Invariants: one transaction per save; a turn keeps its id, by conversation and number; text is stored unchanged,
//! only the title is cleaned.
//! Not here: the trash (`manage`), searching (`search`), export.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, named_params, params};
use time::format_description::BorrowedFormatItem;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{OffsetDateTime, UtcOffset};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::{ConversationRecord, Feedback, HistoryError, Outcome, TurnRecord, file, schema, trace_json};
use ragonite_base::{ConversationId, DomainName, TurnId, clean_line};

/// Widest title in terminal columns; a longer first question ends in `…`.
pub const TITLE_WIDTH: usize = 80;
/// Title of a conversation whose first question has no visible character.
const NO_TITLE: &str = "(no text)";
/// RFC 3339 with all nine digits, so that times sort as text.
const STORED_TIME: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:9]Z");
/// Columns of every query for conversations.
const CONVERSATION: &str = "SELECT id, domain, title, started_at, changed_at,
        (SELECT count(*) FROM turns WHERE turns.conversation = conversations.id), pinned, deleted_at FROM conversations";
/// Pinned ones first, then by the latest save.
const LISTED: &str = "ORDER BY pinned DESC, change DESC, id DESC";

/// An open history.
#[derive(Debug)]
pub struct History {
    connection: Connection,
    path: PathBuf,
}

impl History {
    /// Opens the history, creates it with its folder if missing, and migrates an older one.
    ///
    /// # Errors
    /// When the file cannot be created or used. It is then unchanged.
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        file::prepare(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags)
            .map_err(|source| HistoryError::database(path, "opening the database", source))?;
        schema::prepare(&mut connection, path)?;
        Ok(Self { connection, path: path.to_owned() })
    }

    /// Saves a turn as a whole, over its earlier version if its conversation has this id. A turn without an id is
    /// appended, and restores its conversation if another program has moved it to the trash, so that the answer is not
    /// lost. Without a conversation a new one begins, titled by the question. Gives the conversation.
    ///
    /// # Errors
    /// When there is no such conversation, it belongs to another domain, or the file cannot be written. The history is
    /// then unchanged.
    pub fn save_turn(
        &mut self,
        domain: &DomainName,
        conversation: Option<ConversationId>,
        record: &TurnRecord,
    ) -> Result<(ConversationRecord, TurnId), HistoryError> {
        let failed = |source| HistoryError::database(&self.path, "storing a turn", source);
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let saving = Saving { transaction: &transaction, path: &self.path };
        let id = match conversation {
            Some(id) => saving.existing(id, domain)?,
            None => saving.begin(domain, record)?,
        };
        let turn = saving.write(id, record)?;
        if turn != record.id {
            saving.restore(id)?;
        }
        saving.touch(id)?;
        let conversation = find(&transaction, &self.path, id)?.ok_or(HistoryError::NoConversation { id })?;
        transaction.commit().map_err(failed)?;
        Ok((conversation, turn))
    }

    /// The number of a stored turn in its conversation.
    ///
    /// # Errors
    /// When the file cannot be read or there is no such turn.
    pub fn number_of(&self, turn: TurnId) -> Result<u32, HistoryError> {
        let failed = |source| HistoryError::database(&self.path, "reading a turn", source);
        self.connection.query_row("SELECT number FROM turns WHERE id = ?1", [turn.0], |row| row.get(0)).map_err(failed)
    }

    /// The conversations of a domain or of all domains, pinned ones first, then by latest save; without the trash.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn conversations(&self, domain: Option<&DomainName>) -> Result<Vec<ConversationRecord>, HistoryError> {
        self.listed(
            &format!("{CONVERSATION} WHERE deleted_at IS NULL AND (?1 IS NULL OR domain = ?1) {LISTED}"),
            domain,
        )
    }

    /// The trash of a domain or of all domains, latest deletion first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn trash(&self, domain: Option<&DomainName>) -> Result<Vec<ConversationRecord>, HistoryError> {
        let order = "ORDER BY deleted_at DESC, id DESC";
        self.listed(
            &format!("{CONVERSATION} WHERE deleted_at IS NOT NULL AND (?1 IS NULL OR domain = ?1) {order}"),
            domain,
        )
    }

    fn listed(&self, query: &str, domain: Option<&DomainName>) -> Result<Vec<ConversationRecord>, HistoryError> {
        let failed = |source| HistoryError::database(&self.path, "listing conversations", source);
        let mut statement = self.connection.prepare_cached(query).map_err(failed)?;
        let rows = statement.query_map([domain.map(DomainName::as_str)], StoredConversation::read).map_err(failed)?;
        rows.map(|row| row.map_err(failed)?.record(&self.path)).collect()
    }

    /// The conversation of a domain or of all domains with the latest save.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn latest(&self, domain: Option<&DomainName>) -> Result<Option<ConversationRecord>, HistoryError> {
        let query = format!(
            "{CONVERSATION} WHERE deleted_at IS NULL AND (?1 IS NULL OR domain = ?1) ORDER BY change DESC, id DESC LIMIT 1"
        );
        let domain = domain.map(DomainName::as_str);
        let stored = self.connection.query_row(&query, [domain], StoredConversation::read).optional();
        stored
            .map_err(|source| HistoryError::database(&self.path, "reading a conversation", source))?
            .map(|stored| stored.record(&self.path))
            .transpose()
    }

    /// A conversation, also from the trash.
    ///
    /// # Errors
    /// When there is no such conversation, or the file cannot be read.
    pub fn conversation(&self, id: ConversationId) -> Result<ConversationRecord, HistoryError> {
        find(&self.connection, &self.path, id)?.ok_or(HistoryError::NoConversation { id })
    }

    /// The turns of a conversation by number.
    ///
    /// # Errors
    /// When there is no such conversation, or the file cannot be read.
    pub fn turns(&self, id: ConversationId) -> Result<Vec<TurnRecord>, HistoryError> {
        self.conversation(id)?;
        let failed = |source| HistoryError::database(&self.path, "reading turns", source);
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT id, number, question, completed_question, outcome, message, asked_at, trace,
                    rating, reason, note, rated_at
                 FROM turns LEFT JOIN feedback ON feedback.turn = turns.id WHERE conversation = ?1 ORDER BY number",
            )
            .map_err(failed)?;
        let rows = statement.query_map([id.0], StoredTurn::read).map_err(failed)?;
        rows.map(|row| row.map_err(failed)?.record(&self.path)).collect()
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(super) fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

pub(super) fn find(
    connection: &Connection,
    path: &Path,
    id: ConversationId,
) -> Result<Option<ConversationRecord>, HistoryError> {
    let stored = connection.query_row(&format!("{CONVERSATION} WHERE id = ?1"), [id.0], StoredConversation::read);
    stored
        .optional()
        .map_err(|source| HistoryError::database(path, "reading a conversation", source))?
        .map(|stored| stored.record(path))
        .transpose()
}

/// The steps of a save, within its transaction.
struct Saving<'a> {
    transaction: &'a Transaction<'a>,
    path: &'a Path,
}

impl Saving<'_> {
    fn failed(&self) -> impl Fn(rusqlite::Error) -> HistoryError {
        |source| HistoryError::database(self.path, "storing a turn", source)
    }

    fn existing(&self, id: ConversationId, domain: &DomainName) -> Result<ConversationId, HistoryError> {
        let found = find(self.transaction, self.path, id)?.ok_or(HistoryError::NoConversation { id })?;
        if found.domain == *domain { Ok(id) } else { Err(HistoryError::OtherDomain { id, domain: found.domain }) }
    }

    fn begin(&self, domain: &DomainName, record: &TurnRecord) -> Result<ConversationId, HistoryError> {
        let at = stored_time(record.asked_at)?;
        self.transaction
            .execute(
                "INSERT INTO conversations (domain, title, started_at, changed_at, change) VALUES (?1, ?2, ?3, ?3, 0)",
                params![domain.as_str(), title(&record.question), at],
            )
            .map_err(self.failed())?;
        Ok(ConversationId(self.transaction.last_insert_rowid()))
    }

    fn write(&self, conversation: ConversationId, record: &TurnRecord) -> Result<TurnId, HistoryError> {
        let (outcome, message) = match &record.outcome {
            Outcome::Answered => ("answered", None),
            Outcome::Canceled => ("canceled", None),
            Outcome::Failed(message) => ("failed", Some(message.as_str())),
        };
        let id = self.transaction.query_row(
            "INSERT INTO turns
                (id, conversation, number, question, completed_question, answer, outcome, message, asked_at, trace)
             VALUES (
                (SELECT id FROM turns WHERE id = :id AND conversation = :conversation), :conversation,
                max(:number, (SELECT coalesce(max(number), 0) + 1 FROM turns WHERE conversation = :conversation)),
                :question, :completed, :answer, :outcome, :message, :asked_at, :trace)
             ON CONFLICT (id) DO UPDATE SET
                question = excluded.question, completed_question = excluded.completed_question,
                answer = excluded.answer, outcome = excluded.outcome, message = excluded.message,
                asked_at = excluded.asked_at, trace = excluded.trace
             RETURNING id",
            named_params! {
                ":id": record.id.0,
                ":conversation": conversation.0,
                ":number": record.number,
                ":question": record.question,
                ":completed": record.completed_question,
                ":answer": record.trace.answer.as_ref().map(|answer| answer.text.as_str()),
                ":outcome": outcome,
                ":message": message,
                ":asked_at": stored_time(record.asked_at)?,
                ":trace": trace_json::to_json(&record.trace)?,
            },
            |row| row.get(0),
        );
        id.map(TurnId).map_err(self.failed())
    }

    fn restore(&self, id: ConversationId) -> Result<(), HistoryError> {
        let restored = self.transaction.execute("UPDATE conversations SET deleted_at = NULL WHERE id = ?1", [id.0]);
        restored.map(|_| ()).map_err(self.failed())
    }

    /// Makes the conversation the latest saved one.
    fn touch(&self, id: ConversationId) -> Result<(), HistoryError> {
        self.transaction
            .execute(
                "UPDATE conversations SET changed_at = ?2, change = (SELECT max(change) + 1 FROM conversations)
                 WHERE id = ?1",
                params![id.0, stored_time(OffsetDateTime::now_utc())?],
            )
            .map(|_| ())
            .map_err(self.failed())
    }
}

/// A row of `conversations`.
struct StoredConversation {
    id: i64,
    domain: String,
    title: String,
    started_at: String,
    changed_at: String,
    turns: u32,
    pinned: bool,
    deleted_at: Option<String>,
}

impl StoredConversation {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            domain: row.get(1)?,
            title: row.get(2)?,
            started_at: row.get(3)?,
            changed_at: row.get(4)?,
            turns: row.get(5)?,
            pinned: row.get(6)?,
            deleted_at: row.get(7)?,
        })
    }

    fn record(self, path: &Path) -> Result<ConversationRecord, HistoryError> {
        Ok(ConversationRecord {
            id: ConversationId(self.id),
            domain: self.domain.parse().map_err(|_| unreadable(path, "domain name", &self.domain))?,
            title: self.title,
            started_at: time_of(path, &self.started_at)?,
            changed_at: time_of(path, &self.changed_at)?,
            turns: self.turns,
            pinned: self.pinned,
            deleted_at: self.deleted_at.map(|at| time_of(path, &at)).transpose()?,
        })
    }
}

/// A row of `turns`.
struct StoredTurn {
    id: i64,
    number: u32,
    question: String,
    completed_question: String,
    outcome: String,
    message: Option<String>,
    asked_at: String,
    trace: String,
    feedback: Option<StoredFeedback>,
}

impl StoredTurn {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            number: row.get(1)?,
            question: row.get(2)?,
            completed_question: row.get(3)?,
            outcome: row.get(4)?,
            message: row.get(5)?,
            asked_at: row.get(6)?,
            trace: row.get(7)?,
            feedback: StoredFeedback::read(row)?,
        })
    }

    fn record(self, path: &Path) -> Result<TurnRecord, HistoryError> {
        Ok(TurnRecord {
            id: TurnId(self.id),
            number: self.number,
            question: self.question,
            completed_question: self.completed_question,
            outcome: match self.outcome.as_str() {
                "answered" => Outcome::Answered,
                "canceled" => Outcome::Canceled,
                "failed" => Outcome::Failed(self.message.unwrap_or_default()),
                other => return Err(unreadable(path, "outcome", other)),
            },
            asked_at: time_of(path, &self.asked_at)?,
            feedback: self.feedback.map(|feedback| feedback.record(path)).transpose()?,
            trace: trace_json::from_json(&self.trace),
        })
    }
}

/// The columns of `feedback` in a row of `turns`.
struct StoredFeedback {
    rating: String,
    reason: Option<String>,
    note: String,
    rated_at: String,
}

impl StoredFeedback {
    fn read(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let Some(rating) = row.get(8)? else { return Ok(None) };
        Ok(Some(Self { rating, reason: row.get(9)?, note: row.get(10)?, rated_at: row.get(11)? }))
    }

    fn record(self, path: &Path) -> Result<Feedback, HistoryError> {
        let rating = self.rating.parse().map_err(|_| unreadable(path, "rating", &self.rating))?;
        let reason = |reason: String| reason.parse().map_err(|_| unreadable(path, "reason", &reason));
        let reason = self.reason.map(reason).transpose()?;
        Ok(Feedback { rating, reason, note: self.note, rated_at: time_of(path, &self.rated_at)? })
    }
}

fn unreadable(path: &Path, what: &'static str, value: &str) -> HistoryError {
    HistoryError::Value { path: path.to_owned(), what, value: clean_line(value) }
}

pub(super) fn stored_time(at: OffsetDateTime) -> Result<String, HistoryError> {
    let utc = at.checked_to_offset(UtcOffset::UTC).filter(|utc| utc.year() >= 0);
    utc.and_then(|utc| utc.format(STORED_TIME).ok()).ok_or(HistoryError::Time { at })
}

fn time_of(path: &Path, text: &str) -> Result<OffsetDateTime, HistoryError> {
    OffsetDateTime::parse(text, &Rfc3339).map_err(|_| unreadable(path, "time", text))
}

/// The question on one line, no wider than [`TITLE_WIDTH`].
pub(super) fn title(question: &str) -> String {
    let line = clean_line(question);
    if line.is_empty() {
        return NO_TITLE.to_owned();
    }
    if line.width() <= TITLE_WIDTH {
        return line;
    }
    let mut short = String::new();
    let mut width = 1;
    for letter in line.graphemes(true) {
        width += letter.width();
        if width > TITLE_WIDTH {
            break;
        }
        short.push_str(letter);
    }
    format!("{}…", short.trim_end())
}
