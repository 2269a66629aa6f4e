//! The thread that owns the history and does its writes in order; it also writes exported files.
//!
//! Invariant: an export never overwrites a file.
//! Not here: the store (`history`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use super::worker::Worker;
use super::{Events, RuntimeError, problem};
use ragonite_app::{ConversationChange, Event, Notice, Problem, TurnKey};
use ragonite_base::{ConversationId, DomainName, TurnId};
use ragonite_eval::export_case;
use ragonite_history::{
    Among, ConversationRecord, Feedback, Format, History, HistoryError, MOST_FOUND, TurnRecord, write_export,
};

/// File for exported `eval` questions.
const QUESTION_FILE: &str = "questions.toml";

/// A job of the historian thread.
#[derive(Debug)]
pub(super) enum HistorianJob {
    /// The conversations of a domain.
    List(DomainName),
    /// A conversation with its turns.
    Open(ConversationId),
    /// Store a turn.
    Save { turn: TurnKey, domain: DomainName, conversation: Option<ConversationId>, record: Box<TurnRecord> },
    /// Store a rating in place of the one that is stored.
    Rate { id: TurnId, feedback: Option<Feedback>, before: Option<Feedback> },
    /// Change a conversation, and return the lists of this domain.
    Change { domain: DomainName, change: ConversationChange },
    /// Search words in the conversations of all domains; those of `first` come first.
    Find { first: Option<DomainName>, text: String },
    /// Write turns to a file in the working directory.
    Export { conversation: Box<ConversationRecord>, turns: Vec<TurnRecord>, format: Format },
    /// Copy the turns of a conversation up to a number into a new one.
    Branch { domain: DomainName, conversation: ConversationId, number: u32 },
    /// Write a stored conversation to a file in the working directory.
    ExportStored { conversation: ConversationId, format: Format },
    /// Add a turn to the question file in the working directory.
    Check { domain: DomainName, conversation: ConversationId, turn: Box<TurnRecord> },
    /// Panic, for the tests of terminal restoration.
    Panic,
}

/// Starts the thread. The first job opens the history, so that a damaged one never prevents the start of the program.
pub(super) fn start(path: PathBuf, events: Events) -> Result<Worker<HistorianJob>, RuntimeError> {
    Worker::start("historian", move |mailbox| {
        Historian { path, history: None, events, stored_ratings: HashMap::new() }.work(&mailbox);
    })
}

struct Historian {
    path: PathBuf,
    history: Option<History>,
    events: Events,
    /// Stored ratings of turns whose last rating could not be stored.
    stored_ratings: HashMap<TurnId, Option<Feedback>>,
}

impl Historian {
    fn work(mut self, mailbox: &Receiver<HistorianJob>) {
        for job in mailbox {
            let mut ratings = None;
            let failed: Box<dyn FnOnce(Problem) -> Event> = match &job {
                HistorianJob::Save { turn, .. } => {
                    let turn = *turn;
                    Box::new(move |problem| Event::SaveFailed { turn, problem })
                }
                HistorianJob::Open(conversation) | HistorianJob::Branch { conversation, .. } => {
                    let conversation = *conversation;
                    Box::new(move |problem| Event::ConversationFailed { conversation, problem })
                }
                HistorianJob::Rate { id, feedback, before } => {
                    // After a failed write, the previous rating is not the stored one.
                    let stored = self.stored_ratings.remove(id).unwrap_or_else(|| before.clone());
                    let (id, feedback) = (*id, feedback.clone());
                    ratings = Some((id, stored.clone()));
                    Box::new(move |problem| Event::RateFailed { id, feedback, stored, problem })
                }
                _ => Box::new(Event::Failed),
            };
            let answered = self.answer(job);
            if answered.is_err() {
                self.stored_ratings.extend(ratings);
            }
            let event = answered.unwrap_or_else(|error| Some(failed(problem(&error))));
            if let Some(event) = event {
                self.events.send(event);
            }
        }
    }

    fn answer(&mut self, job: HistorianJob) -> Result<Option<Event>, HistoryError> {
        Ok(Some(match job {
            HistorianJob::List(domain) => lists(self.history()?, domain)?,
            HistorianJob::Export { conversation, turns, format } => wrote(&conversation, &turns, format)?,
            HistorianJob::Check { domain, conversation, turn } => {
                match export_case(Path::new(QUESTION_FILE), &domain, conversation, &turn) {
                    Ok(written) => Event::Done(Notice::WroteCheck(Box::new(written))),
                    Err(error) => Event::Failed(problem(&error)),
                }
            }
            HistorianJob::Change { domain, change } => {
                let done = notice_of(&change);
                let history = self.history()?;
                apply(history, change)?;
                let listed = lists(history, domain)?;
                if let Some(done) = done {
                    self.events.send(Event::Done(done));
                }
                listed
            }
            HistorianJob::Branch { domain, conversation, number } => {
                let history = self.history()?;
                let branch = history.branch(conversation, number)?.id;
                let listed = lists(history, domain)?;
                self.events.send(listed);
                Event::ConversationBranched { of: conversation, branch }
            }
            HistorianJob::Find { first, text } => {
                let among = first.as_ref().map_or(Among::All, Among::DomainFirst);
                let found = self.history()?.find(&text, among, MOST_FOUND)?;
                Event::ConversationsFound { text, found }
            }
            HistorianJob::Rate { id, feedback, .. } => {
                self.history()?.rate(id, feedback.as_ref())?;
                return Ok(None);
            }
            HistorianJob::Open(id) => {
                let history = self.history()?;
                let record = history.conversation(id)?;
                let turns = history.turns(id)?;
                Event::ConversationOpened { record, turns }
            }
            HistorianJob::ExportStored { conversation, format } => {
                let history = self.history()?;
                wrote(&history.conversation(conversation)?, &history.turns(conversation)?, format)?
            }
            HistorianJob::Save { turn, domain, conversation, record } => {
                let history = self.history()?;
                let saved = match history.save_turn(&domain, conversation, &record) {
                    // Another program purged the conversation; the turn starts a new one.
                    Err(HistoryError::NoConversation { .. }) if record.id == TurnId(0) => {
                        history.save_turn(&domain, None, &record)
                    }
                    saved => saved,
                };
                let (conversation, id) = saved?;
                let number = history.number_of(id)?;
                Event::TurnSaved { turn, conversation, id, number }
            }
            HistorianJob::Panic => {
                #[expect(clippy::panic, reason = "the hidden option `--panic-in worker` asks for it")]
                {
                    panic!("asked to panic in a worker thread")
                }
            }
        }))
    }

    fn history(&mut self) -> Result<&mut History, HistoryError> {
        let history = match self.history.take() {
            Some(history) => history,
            None => History::open(&self.path)?,
        };
        Ok(self.history.insert(history))
    }
}

/// Writes turns to a file in the folder the program was started in.
fn wrote(conversation: &ConversationRecord, turns: &[TurnRecord], format: Format) -> Result<Event, HistoryError> {
    let file = write_export(Path::new("."), conversation, turns, format)?;
    Ok(Event::Done(Notice::Wrote(file.display().to_string())))
}

fn lists(history: &History, domain: DomainName) -> Result<Event, HistoryError> {
    let (conversations, trash) = (history.conversations(Some(&domain))?, history.trash(Some(&domain))?);
    Ok(Event::ConversationsListed { domain, conversations, trash })
}

/// The notice of a stored change; none for title and pin, which the lists show.
fn notice_of(change: &ConversationChange) -> Option<Notice> {
    match change {
        ConversationChange::Delete(_) => Some(Notice::MovedToTrash),
        ConversationChange::Restore(_) => Some(Notice::Restored),
        ConversationChange::Purge(_) => Some(Notice::Purged),
        ConversationChange::Rename(..) | ConversationChange::Pin(..) => None,
    }
}

fn apply(history: &mut History, change: ConversationChange) -> Result<(), HistoryError> {
    match change {
        ConversationChange::Delete(id) => history.delete(&[id]),
        ConversationChange::Restore(id) => history.restore(&[id]),
        ConversationChange::Purge(id) => history.purge(&[id]),
        ConversationChange::Rename(id, title) => history.rename(id, &title).map(|_| ()),
        ConversationChange::Pin(id, place) => history.pin(id, place).map(|_| ()),
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    use super::*;
    use ragonite_app::{App, AppSettings, DomainHealth, DomainSummary, Effect};

    /// Stores what is to be stored and tells the app what came of it.
    fn store(app: &mut App, effects: Vec<Effect>, worker: &Worker<HistorianJob>, told: &mut UnboundedReceiver<Event>) {
        let mut left = effects;
        while let Some(effect) = left.pop() {
            let Effect::SaveTurn { turn, domain, conversation, record } = effect else { continue };
            worker.send(HistorianJob::Save { turn, domain, conversation, record });
            let event = told.blocking_recv().unwrap();
            left.extend(app.handle(event));
        }
    }

    /// An app in which the domain `wiki` is open.
    fn opened() -> (App, DomainName) {
        let mut app = App::new(AppSettings::default());
        let name: DomainName = "wiki".parse().unwrap();
        app.handle(Event::DomainChosen(name.clone()));
        app.handle(Event::DomainOpened(DomainSummary {
            name: name.clone(),
            documents: 1,
            evidences: 1,
            changed_at: String::new(),
            ingested_at: String::new(),
            health: DomainHealth::Ready,
            problem: None,
        }));
        (app, name)
    }

    /// Asks a question that no model answers, which is a turn like another one.
    fn ask(app: &mut App, turn: u64) -> Vec<Effect> {
        app.handle(Event::QuestionAsked { text: "who?".into(), at: time::OffsetDateTime::UNIX_EPOCH });
        let problem = Problem { what: "no model".into(), next: String::new() };
        app.handle(Event::JobFailed { job: TurnKey(turn).job(), problem })
    }

    #[test]
    fn a_turn_of_a_conversation_that_another_program_purged_begins_a_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.db");
        let (events, mut told) = unbounded_channel();
        let mut worker = start(path.clone(), Events(events)).unwrap();
        let (mut app, name) = opened();
        let effects = ask(&mut app, 1);
        store(&mut app, effects, &worker, &mut told);
        let purged = app.conversation().unwrap().id;
        let mut other = History::open(&path).unwrap();
        other.delete(&[purged]).unwrap();
        other.purge(&[purged]).unwrap();

        let effects = ask(&mut app, 2);
        store(&mut app, effects, &worker, &mut told);
        assert_eq!(app.unsaved(), 0);
        let listed = other.conversations(Some(&name)).unwrap();
        assert_eq!(listed.iter().map(|record| record.id).collect::<Vec<_>>(), [app.conversation().unwrap().id]);
        assert_eq!(other.turns(listed[0].id).unwrap().len(), 1, "what was purged stays so");
        worker.close();
        worker.join(std::time::Duration::from_secs(10));
    }

    #[test]
    fn a_turn_is_kept_while_its_history_cannot_be_written_and_stored_when_it_can() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("data");
        std::fs::write(&blocked, "no folder").unwrap();
        let path = blocked.join("history.db");
        let (events, mut told) = unbounded_channel();
        let mut worker = start(path.clone(), Events(events)).unwrap();
        let (mut app, name) = opened();
        let effects = ask(&mut app, 1);
        store(&mut app, effects, &worker, &mut told);
        assert_eq!(app.unsaved(), 1);
        let said = app.problem().unwrap();
        assert!(!said.what.contains("no model") && !said.next.is_empty(), "the cause and the remedy: {said:?}");

        std::fs::remove_file(&blocked).unwrap();
        let effects = app.handle(Event::SaveAgainWanted);
        store(&mut app, effects, &worker, &mut told);
        assert_eq!((app.unsaved(), app.is_saved(), app.problem()), (0, true, None));
        worker.close();
        worker.join(std::time::Duration::from_secs(10));
        let history = History::open(&path).unwrap();
        let listed = history.conversations(Some(&name)).unwrap();
        assert_eq!(history.turns(listed[0].id).unwrap()[0].question, "who?");
    }
}
