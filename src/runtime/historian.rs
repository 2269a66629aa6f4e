//! The thread that owns the history and applies writes in order.

use std::path::PathBuf;
use std::sync::mpsc::Receiver;

use super::worker::Worker;
use super::{Events, RuntimeError, problem};
use crate::app::{Event, TurnKey};
use crate::base::{ConversationId, DomainName};
use crate::history::{History, HistoryError, TurnRecord};

/// What the historian is asked.
#[derive(Debug)]
pub(super) enum HistorianJob {
    /// The conversations of a domain.
    List(DomainName),
    /// A conversation with its turns.
    Open(ConversationId),
    /// Store a turn.
    Save { turn: TurnKey, domain: DomainName, conversation: Option<ConversationId>, record: Box<TurnRecord> },
    /// Panic, for the tests of terminal restoration.
    Panic,
}

/// Starts the thread. The file is opened at the first job, so that a damaged history never keeps the program from
/// starting.
pub(super) fn start(path: PathBuf, events: Events) -> Result<Worker<HistorianJob>, RuntimeError> {
    let (worker, _) =
        Worker::start("historian", move |mailbox| Historian { path, history: None, events }.work(&mailbox))?;
    Ok(worker)
}

struct Historian {
    path: PathBuf,
    history: Option<History>,
    events: Events,
}

impl Historian {
    fn work(mut self, mailbox: &Receiver<HistorianJob>) {
        for job in mailbox {
            let saving = match &job {
                HistorianJob::Save { turn, .. } => Some(*turn),
                _ => None,
            };
            let event = match (self.answer(job), saving) {
                (Ok(event), _) => event,
                (Err(error), Some(turn)) => Event::SaveFailed { turn, problem: problem(&error) },
                (Err(error), None) => Event::Failed(problem(&error)),
            };
            self.events.send(event);
        }
    }

    fn answer(&mut self, job: HistorianJob) -> Result<Event, HistoryError> {
        let history = self.history()?;
        Ok(match job {
            HistorianJob::List(domain) => {
                let conversations = history.conversations(Some(&domain))?;
                Event::ConversationsListed { domain, conversations }
            }
            HistorianJob::Open(id) => {
                let record = history.conversation(id)?;
                let turns = history.turns(id)?;
                Event::ConversationOpened { record, turns }
            }
            HistorianJob::Save { turn, domain, conversation, record } => {
                let (conversation, id) = history.save_turn(&domain, conversation, &record)?;
                Event::TurnSaved { turn, conversation, id }
            }
            HistorianJob::Panic => {
                #[expect(clippy::panic, reason = "the hidden option `--panic-in worker` asks for it")]
                {
                    panic!("asked to panic in a worker thread")
                }
            }
        })
    }

    fn history(&mut self) -> Result<&mut History, HistoryError> {
        let history = match self.history.take() {
            Some(history) => history,
            None => History::open(&self.path)?,
        };
        Ok(self.history.insert(history))
    }
}
