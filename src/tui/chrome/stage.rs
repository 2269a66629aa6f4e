//! What is running, in words: the stage of a turn with its time, and the progress of an ingest.
//!
//! Not here: where that is shown (`status`, `conversation`, `lists`, `compare`).

use time::Duration;

use crate::messages::{Noun, Words};
use ragonite_app::{App, Ingesting, Phase, Turn};
use ragonite_base::clean_line;
use ragonite_index::IngestStage;

/// The running stage, and the time that it has taken.
pub(crate) fn stage(app: &App, words: Words, taken: Duration) -> Option<String> {
    if let Some(ahead) = app.prefetching().and_then(|key| app.turn(key)) {
        return Some(words.in_background(&explaining(ahead, words)));
    }
    let here = app.turn(app.phase().turn()?);
    let turn = here.or_else(|| app.turn_aside())?;
    let doing = if app.is_canceling() {
        words.stopping().to_owned()
    } else if let Some(loading) = app.engine().loading.as_ref().filter(|_| turn.streamed.is_empty()) {
        words.loading_first(&clean_line(&loading.label()))
    } else {
        match app.phase() {
            Phase::Idle => return None,
            Phase::Rewriting(_) => words.rewriting().to_owned(),
            Phase::Retrieving(_) => words.searching_for(&clean_line(&turn.record.completed_question)),
            Phase::Answering(_) => answering(turn, words),
            Phase::Explaining(_) => explaining(turn, words),
        }
    };
    let seconds = taken.whole_seconds().max(0);
    let so_far = words.running_time(u32::try_from(seconds).unwrap_or(u32::MAX));
    let place = if here.is_some() { "" } else { words.elsewhere() };
    Some(format!("{place}{doing}  {so_far}"))
}

fn answering(turn: &Turn, words: Words) -> String {
    if !turn.streamed.is_empty() {
        return words.writing().to_owned();
    }
    let Some(size) = &turn.prompt else { return words.building_prompt().to_owned() };
    let read = turn.reading.filter(|reading| reading.total > 0);
    let percent = read.map_or_else(String::new, |reading| format!(" {} %", reading.done * 100 / reading.total));
    let (sources, tokens) = (words.counted(size.sources, Noun::Source), words.counted(size.tokens, Noun::Token));
    words.reading_prompt(&sources, &tokens, &percent)
}

fn explaining(turn: &Turn, words: Words) -> String {
    match turn.explaining.as_ref().filter(|explaining| explaining.progress.total > 0) {
        Some(explaining) => {
            words.explaining(explaining.progress.done, &words.counted(explaining.progress.total, Noun::Cluster))
        }
        None => words.explaining_first().to_owned(),
    }
}

/// Progress of an ingest: `reading notes: 12 of 40 files`.
pub(crate) fn reading(running: &Ingesting, words: Words) -> String {
    let domain = running.domain.as_str();
    match &running.progress {
        _ if running.canceling => words.stopping_to_read(domain),
        None => words.reading(domain),
        Some(at) if at.total == 0 => words.reading(domain),
        Some(at) => match at.stage {
            IngestStage::Reading | IngestStage::Embedding => {
                words.reading_files(domain, &words.thousands(at.done), &words.counted(at.total, Noun::File))
            }
            IngestStage::Indexing | IngestStage::Checking => words.indexing(domain),
        },
    }
}
