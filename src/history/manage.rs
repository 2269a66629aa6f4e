//! Manages stored conversations: rename, pin, rate, delete, restore, purge.
//!
//! Invariants: a deleted conversation stays whole in the trash until it is purged; only the trash can be purged; purged
//! text is in no file of the history.
//! Not here: storing turns (`store`).

use rusqlite::{OptionalExtension, params};
use time::OffsetDateTime;

use super::store::{find, stored_time, title};
use super::{ConversationRecord, Feedback, History, HistoryError};
use ragonite_base::{ConversationId, TurnId, clean_line};

/// Place of a conversation in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before the others.
    Pinned,
    /// Ordered by its latest save.
    Listed,
}

impl History {
    /// Moves conversations into the trash, all or none.
    ///
    /// # Errors
    /// When there is no such conversation, one is in the trash already, or the file cannot be written.
    pub fn delete(&mut self, ids: &[ConversationId]) -> Result<(), HistoryError> {
        let now = stored_time(OffsetDateTime::now_utc())?;
        self.move_all(ids, "UPDATE conversations SET deleted_at = ?2 WHERE id = ?1", Some(&now))
    }

    /// Moves conversations out of the trash, all or none.
    ///
    /// # Errors
    /// When there is no such conversation, one is not in the trash, or the file cannot be written.
    pub fn restore(&mut self, ids: &[ConversationId]) -> Result<(), HistoryError> {
        self.move_all(ids, "UPDATE conversations SET deleted_at = ?2 WHERE id = ?1", None)
    }

    /// Deletes conversations in the trash permanently, all or none; their text is overwritten in the file.
    ///
    /// # Errors
    /// When there is no such conversation, one is not in the trash, or the file cannot be written.
    pub fn purge(&mut self, ids: &[ConversationId]) -> Result<(), HistoryError> {
        let path = self.path().to_owned();
        let failed = |source| HistoryError::database(&path, "purging a conversation", source);
        let transaction = self.connection_mut().transaction().map_err(failed)?;
        for id in ids {
            let found = find(&transaction, &path, *id)?.ok_or(HistoryError::NoConversation { id: *id })?;
            if found.deleted_at.is_none() {
                return Err(HistoryError::NotInTrash { id: *id });
            }
            transaction.execute("DELETE FROM conversations WHERE id = ?1", [id.0]).map_err(failed)?;
        }
        transaction.commit().map_err(failed)?;
        // The WAL still has the old text. If another program reads it now, the next purge truncates it.
        self.connection().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(failed)
    }

    /// Sets the title of a conversation, cleaned and cut like the first question. Gives the conversation.
    ///
    /// # Errors
    /// When there is no such conversation, the title has no visible character, or the file cannot be written.
    pub fn rename(&mut self, id: ConversationId, name: &str) -> Result<ConversationRecord, HistoryError> {
        if clean_line(name).is_empty() {
            return Err(HistoryError::NoTitle);
        }
        self.set(id, "UPDATE conversations SET title = ?2 WHERE id = ?1", &title(name))
    }

    /// Pins or unpins a conversation. Gives the conversation.
    ///
    /// # Errors
    /// When there is no such conversation, or the file cannot be written.
    pub fn pin(&mut self, id: ConversationId, place: Place) -> Result<ConversationRecord, HistoryError> {
        self.set(id, "UPDATE conversations SET pinned = ?2 WHERE id = ?1", &(place == Place::Pinned))
    }

    /// Stores or replaces the feedback on a turn; `None` removes it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn rate(&mut self, turn: TurnId, feedback: Option<&Feedback>) -> Result<(), HistoryError> {
        let failed = |source| HistoryError::database(self.path(), "storing feedback", source);
        let changed = match feedback {
            None => self.connection().execute("DELETE FROM feedback WHERE turn = ?1", [turn.0]),
            Some(feedback) => self.connection().execute(
                "INSERT INTO feedback (turn, rating, reason, note, rated_at) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (turn) DO UPDATE SET rating = excluded.rating, reason = excluded.reason,
                    note = excluded.note, rated_at = excluded.rated_at",
                params![
                    turn.0,
                    feedback.rating.as_str(),
                    feedback.reason.map(super::Reason::as_str),
                    feedback.note,
                    stored_time(feedback.rated_at)?
                ],
            ),
        };
        changed.map(|_| ()).map_err(failed)
    }

    /// The id of a conversation's turn by its number.
    ///
    /// # Errors
    /// When there is no such conversation or turn, or the file cannot be read.
    pub fn turn_id(&self, id: ConversationId, number: u32) -> Result<TurnId, HistoryError> {
        self.conversation(id)?;
        let found = self
            .connection()
            .query_row("SELECT id FROM turns WHERE conversation = ?1 AND number = ?2", params![id.0, number], |row| {
                row.get(0)
            })
            .optional()
            .map_err(|source| HistoryError::database(self.path(), "reading turns", source))?;
        found.map(TurnId).ok_or(HistoryError::NoTurn { id, number })
    }

    /// Sets the time of deletion; `to` is none to restore.
    fn move_all(&mut self, ids: &[ConversationId], change: &str, to: Option<&str>) -> Result<(), HistoryError> {
        let path = self.path().to_owned();
        let failed = |source| HistoryError::database(&path, "moving a conversation", source);
        let transaction = self.connection_mut().transaction().map_err(failed)?;
        for id in ids {
            let found = find(&transaction, &path, *id)?.ok_or(HistoryError::NoConversation { id: *id })?;
            match (found.deleted_at, to) {
                (Some(_), Some(_)) => return Err(HistoryError::InTrash { id: *id }),
                (None, None) => return Err(HistoryError::NotInTrash { id: *id }),
                _ => {}
            }
            transaction.execute(change, params![id.0, to]).map_err(failed)?;
        }
        transaction.commit().map_err(failed)
    }

    fn set(
        &mut self,
        id: ConversationId,
        change: &str,
        to: &dyn rusqlite::ToSql,
    ) -> Result<ConversationRecord, HistoryError> {
        let failed = |source| HistoryError::database(self.path(), "changing a conversation", source);
        self.connection().execute(change, params![id.0, to]).map_err(failed)?;
        self.conversation(id)
    }
}
