//! Branches a conversation: a new one begins with turns of another.
//!
//! Invariant: the original stays unchanged; copied turns keep their numbers, so that variants still name the right
//! turn. Ratings are not copied, because they would count twice.
//! Not here: storing turns (`store`).

use rusqlite::{TransactionBehavior, params};
use time::OffsetDateTime;

use super::store::{find, stored_time};
use super::{ConversationRecord, History, HistoryError};
use ragonite_base::ConversationId;

impl History {
    /// A new conversation with the turns of `id` up to `number`.
    ///
    /// # Errors
    /// When there is no such conversation or turn, or the file cannot be written. The history is then unchanged.
    pub fn branch(&mut self, id: ConversationId, number: u32) -> Result<ConversationRecord, HistoryError> {
        let path = self.path().to_owned();
        let failed = |source| HistoryError::database(&path, "branching from a turn", source);
        let from = self.conversation(id)?;
        let now = stored_time(OffsetDateTime::now_utc())?;
        let title = title_of(&from.title, number);
        let transaction =
            self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        transaction
            .execute(
                "INSERT INTO conversations (domain, title, started_at, changed_at, change)
                 SELECT domain, ?2, ?3, ?3, (SELECT max(change) + 1 FROM conversations)
                 FROM conversations WHERE id = ?1",
                params![id.0, title, now],
            )
            .map_err(failed)?;
        let branch = ConversationId(transaction.last_insert_rowid());
        transaction
            .execute(
                "INSERT INTO turns (conversation, number, question, completed_question, answer, outcome, message,
                    asked_at, trace)
                 SELECT ?2, number, question, completed_question, answer, outcome, message, asked_at, trace
                 FROM turns WHERE conversation = ?1 AND number <= ?3 ORDER BY number",
                params![id.0, branch.0, number],
            )
            .map_err(failed)?;
        let has_it: bool = transaction
            .query_row(
                "SELECT count(*) FROM turns WHERE conversation = ?1 AND number = ?2",
                params![branch.0, number],
                |row| row.get(0),
            )
            .map_err(failed)?;
        if !has_it {
            return Err(HistoryError::NoTurn { id, number });
        }
        let record = find(&transaction, &path, branch)?.ok_or(HistoryError::NoConversation { id: branch })?;
        transaction.commit().map_err(failed)?;
        Ok(record)
    }
}

/// The title of a branch: the original's title with the numbers of the copied turns.
fn title_of(from: &str, number: u32) -> String {
    let is_turns =
        |turns: &str| turns == "1" || turns.strip_prefix("1–").is_some_and(|last| last.parse::<u32>().is_ok());
    let own = from.rsplit_once(" · ").filter(|(_, turns)| is_turns(turns)).map_or(from, |(own, _)| own);
    if number == 1 { format!("{own} · 1") } else { format!("{own} · 1–{number}") }
}
