//! The thread that passes texts to the copy tool of the desktop.
//!
//! Invariants: a tool that hangs is killed after a while and delays only later copies; the text goes to the tool's
//! input only; where no tool takes the text, an event returns it for copying through the terminal.
//! Not here: copying through the terminal (`tui`).

use std::io::{self, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use super::worker::Worker;
use super::{Events, RuntimeError};
use ragonite_app::{Copied, CopyWay, Event, Notice};
use ragonite_config::Desktop;

/// Time limit of a tool; tools that serve the text longer do so in a process of their own.
const LIMIT: Duration = Duration::from_secs(2);
/// Interval of checking a running tool.
const LOOK: Duration = Duration::from_millis(20);

/// A program and its arguments.
type Tool = (&'static str, &'static [&'static str]);

/// A text to copy.
#[derive(Debug)]
pub(super) struct CopyJob {
    what: Copied,
    text: String,
    tools: &'static [Tool],
    limit: Duration,
}

impl CopyJob {
    pub(super) fn new(what: Copied, text: String, desktop: Desktop) -> Self {
        Self { what, text, tools: tools(desktop), limit: LIMIT }
    }
}

fn tools(desktop: Desktop) -> &'static [Tool] {
    match desktop {
        Desktop::Wayland => &[("wl-copy", &[])],
        Desktop::X11 => &[("xclip", &["-selection", "clipboard"]), ("xsel", &["--clipboard", "--input"])],
        Desktop::Mac => &[("pbcopy", &[])],
        // `-w` also passes the text to the terminal; tmux before 3.2 refuses it, and the terminal is used.
        Desktop::Tmux => &[("tmux", &["load-buffer", "-w", "-"])],
        Desktop::None => &[],
    }
}

/// Starts the thread.
pub(super) fn start(events: Events) -> Result<Worker<CopyJob>, RuntimeError> {
    Worker::start("clipboard", move |mailbox: Receiver<CopyJob>| {
        for job in mailbox {
            events.send(copy(job));
        }
    })
}

fn copy(job: CopyJob) -> Event {
    for (tool, arguments) in job.tools {
        match hand_to((tool, arguments), &job.text, job.limit) {
            Ok(()) => return Event::Done(Notice::Copied(job.what, CopyWay::Tool(tool))),
            Err(error) => tracing::info!(tool, %error, "the tool did not copy"),
        }
    }
    Event::NotCopied { what: job.what, text: job.text }
}

/// Passes a text to a tool and waits for its success.
fn hand_to((tool, arguments): Tool, text: &str, limit: Duration) -> io::Result<()> {
    let mut child =
        Command::new(tool).args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let input = child.stdin.take();
    thread::scope(|scope| {
        // A tool that reads nothing would block this thread once the pipe is full.
        let writing = thread::Builder::new().name("clipboard-input".to_owned()).spawn_scoped(scope, move || {
            input.ok_or(io::ErrorKind::BrokenPipe.into()).and_then(|mut input| input.write_all(text.as_bytes()))
        });
        let ended = end_of(&mut child, limit);
        if ended.is_err() {
            // Killing the tool also ends the writing thread.
            child.kill()?;
            child.wait()?;
        }
        writing?.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())).and(ended)
    })
}

/// Waits for the tool to end, at most `limit`.
fn end_of(child: &mut Child, limit: Duration) -> io::Result<()> {
    let start = Instant::now();
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(io::Error::other(status.to_string())),
            None if start.elapsed() >= limit => return Err(io::ErrorKind::TimedOut.into()),
            None => thread::park_timeout(LOOK),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    const HANGS: Tool = ("sh", &["-c", "exec sleep 600"]);
    const FAILS: Tool = ("sh", &["-c", "cat; exit 1"]);
    const TAKES: Tool = ("sh", &["-c", "cat"]);

    fn told(tools: &'static [Tool], text: &str) -> Event {
        let (events, mut told) = unbounded_channel();
        let mut worker = start(Events(events)).unwrap();
        worker.send(CopyJob { what: Copied::Answer, text: text.into(), tools, limit: Duration::from_millis(100) });
        let event = told.blocking_recv().unwrap();
        worker.close();
        worker.join(Duration::from_mins(1));
        event
    }

    #[test]
    fn a_tool_that_hangs_is_ended_and_the_text_comes_back() {
        for text in ["short".to_owned(), "longer than any pipe ".repeat(50_000)] {
            let event = told(&[HANGS], &text);
            assert_eq!(event, Event::NotCopied { what: Copied::Answer, text });
        }
    }

    #[test]
    fn the_first_tool_that_takes_the_text_is_named() {
        let copied = Event::Done(Notice::Copied(Copied::Answer, CopyWay::Tool("sh")));
        assert_eq!(told(&[("no-such-tool-of-a-desktop", &[]), FAILS, TAKES], "Jürgen"), copied);
        let back = Event::NotCopied { what: Copied::Answer, text: "Jürgen".into() };
        assert_eq!(told(&[("no-such-tool-of-a-desktop", &[]), FAILS], "Jürgen"), back);
    }

    #[test]
    fn a_tool_gets_the_whole_text_and_nothing_else() {
        let text = "Jürgen [Source 1]\n".repeat(10_000);
        let counts: Tool = ("sh", &["-c", "test $(wc -c) = 190000"]);
        hand_to(counts, &text, Duration::from_mins(1)).unwrap();
        assert!(hand_to(counts, "less", Duration::from_mins(1)).is_err());
    }
}
