//! What a user does with conversations that are stored: names, pins, rates, throws away, takes back, removes for good.
//!
//! Invariants: a deleted conversation stays whole in the trash until it is purged; only what is in the trash is purged;
//! a purged text is in no file of the history any more.
//! Not here: storing turns (`store`).

use rusqlite::{OptionalExtension, params};
use time::OffsetDateTime;

use super::store::{find, stored_time, title};
use super::{ConversationRecord, Feedback, History, HistoryError};
use ragonite_base::{ConversationId, TurnId, clean_line};

/// Where a conversation stands in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before the others.
    Pinned,
    /// By its latest save.
    Listed,
}

impl History {
    /// Throws conversations into the trash, all of them or none.
    ///
    /// # Errors
    /// When there is no such conversation, one is there already, or the file cannot be written.
    pub fn delete(&mut self, ids: &[ConversationId]) -> Result<(), HistoryError> {
        let now = stored_time(OffsetDateTime::now_utc())?;
        self.move_all(ids, "UPDATE conversations SET deleted_at = ?2 WHERE id = ?1", Some(&now))
    }

    /// Takes conversations out of the trash, all of them or none.
    ///
    /// # Errors
    /// When there is no such conversation, one is not there, or the file cannot be written.
    pub fn restore(&mut self, ids: &[ConversationId]) -> Result<(), HistoryError> {
        self.move_all(ids, "UPDATE conversations SET deleted_at = ?2 WHERE id = ?1", None)
    }

    /// Removes conversations in the trash for good, all of them or none; their text is overwritten in the file.
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
        // The log still holds what was there before. Where another program reads it now, the next purge empties it.
        self.connection().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(failed)
    }

    /// Gives a conversation another title, cleaned and cut as the first question is. Gives the conversation as it is now.
    ///
    /// # Errors
    /// When there is no such conversation, the title has nothing to show, or the file cannot be written.
    pub fn rename(&mut self, id: ConversationId, name: &str) -> Result<ConversationRecord, HistoryError> {
        if clean_line(name).is_empty() {
            return Err(HistoryError::NoTitle);
        }
        self.set(id, "UPDATE conversations SET title = ?2 WHERE id = ?1", &title(name))
    }

    /// Puts a conversation before the others, or back among them. Gives the conversation as it is now.
    ///
    /// # Errors
    /// When there is no such conversation, or the file cannot be written.
    pub fn pin(&mut self, id: ConversationId, place: Place) -> Result<ConversationRecord, HistoryError> {
        self.set(id, "UPDATE conversations SET pinned = ?2 WHERE id = ?1", &(place == Place::Pinned))
    }

    /// Stores what the user thinks of a turn, over what was said of it before; none takes it back.
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

    /// Sets when conversations were deleted; `to` is none for those that are taken back.
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
