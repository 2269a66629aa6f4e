//! Interrupts and termination requests, as cancellation or as events.

use std::thread;

use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::unregister;
use tokio::sync::mpsc::UnboundedSender;

use super::RuntimeError;
use ragonite_app::Event;
use ragonite_base::CancelSource;

/// Exit code after a second interrupt.
const INTERRUPTED: i32 = 130;

/// Routes interrupts to a [`CancelSource`] until dropped.
#[derive(Debug)]
#[must_use = "interrupts are no longer seen once this is dropped"]
pub struct Interrupts(Vec<SigId>);

impl Drop for Interrupts {
    fn drop(&mut self) {
        for id in self.0.drain(..) {
            unregister(id);
        }
    }
}

/// The first interrupt cancels `source`; the second exits at once.
///
/// # Errors
/// When the system refuses the handlers.
pub fn cancel_on_interrupt(source: &CancelSource) -> Result<Interrupts, RuntimeError> {
    let mut interrupts = Interrupts(Vec::new());
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: the second interrupt must find the flag that the first one set.
        let last = flag::register_conditional_shutdown(signal, INTERRUPTED, source.flag());
        interrupts.0.push(last.map_err(RuntimeError::Signals)?);
        let first = flag::register(signal, source.flag());
        interrupts.0.push(first.map_err(RuntimeError::Signals)?);
    }
    Ok(interrupts)
}

/// The first interrupt or termination request sends `event`; the second exits at once, after `before_end`.
///
/// # Errors
/// When the system refuses the handlers or the thread.
pub fn forward_interrupts(
    events: UnboundedSender<Event>,
    event: Event,
    before_end: impl Fn() + Send + 'static,
) -> Result<(), RuntimeError> {
    // SIGQUIT would leave the terminal in raw mode.
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT]).map_err(RuntimeError::Signals)?;
    let name = "signals";
    let body = move || {
        let mut before = false;
        for _ in &mut signals {
            if before {
                before_end();
                signal_hook::low_level::exit(INTERRUPTED);
            }
            before = true;
            if events.send(event.clone()).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name(name.to_owned()).spawn(body).map_err(|source| RuntimeError::Thread { name, source })?;
    Ok(())
}
