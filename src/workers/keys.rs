//! Esc as cancellation, on a terminal without the screen.
//!
//! Invariants: Ctrl+C stays a signal; a background process never touches the terminal; the terminal is restored when
//! the work ends and soon after its cancellation, so that a second interrupt finds it restored.

use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr};

use super::RuntimeError;
use ragonite_base::CancelSource;

/// Time that reading waits for a key, in tenths of a second.
const WAIT_TENTHS: u8 = 2;

/// Interval of checking whether the program is in the foreground.
const WAIT: Duration = Duration::from_millis(200);

const ESCAPE: u8 = 0x1b;

/// Listens for Esc until it is dropped.
#[derive(Debug)]
#[must_use = "Esc is no longer seen once this is dropped"]
pub struct EscapeKey {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for EscapeKey {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // The thread restores the terminal and ends within `WAIT`.
            let _ = thread.join();
        }
    }
}

/// Esc cancels `source`; none where stdin is no terminal.
///
/// # Errors
/// When the system gives no thread.
pub fn cancel_on_escape(source: &CancelSource) -> Result<Option<EscapeKey>, RuntimeError> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() || !is_in_front() {
        return Ok(None);
    }
    let Ok(before) = tcgetattr(io::stdin()) else { return Ok(None) };
    let mut listening = before.clone();
    listening.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    listening.special_codes[SpecialCodeIndex::VMIN] = 0;
    listening.special_codes[SpecialCodeIndex::VTIME] = WAIT_TENTHS;
    if tcsetattr(io::stdin(), OptionalActions::Now, &listening).is_err() {
        return Ok(None);
    }
    let (end, ended) = mpsc::channel();
    let (name, source) = ("keys", source.clone());
    let given_back = before.clone();
    let listen = move || {
        listen(&source, &ended);
        give_back(&before);
    };
    let thread = thread::Builder::new().name(name.to_owned()).spawn(listen).map_err(|cause| {
        give_back(&given_back);
        RuntimeError::Thread { name, source: cause }
    })?;
    Ok(Some(EscapeKey { end: Some(end), thread: Some(thread) }))
}

fn listen(source: &CancelSource, ended: &Receiver<()>) {
    let token = source.token();
    let mut keys = [0; 64];
    while !token.is_canceled() && ended.try_recv() != Err(mpsc::TryRecvError::Disconnected) {
        if !is_in_front() {
            // Reading in the background would stop the process.
            if ended.recv_timeout(WAIT) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
            continue;
        }
        match rustix::io::read(io::stdin(), &mut keys) {
            // Other keys send more bytes after this one.
            Ok(1) if keys[0] == ESCAPE => source.cancel(),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

fn is_in_front() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp())
}

fn give_back(before: &Termios) {
    if is_in_front() {
        // A closed terminal needs no restoring.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
    }
}
