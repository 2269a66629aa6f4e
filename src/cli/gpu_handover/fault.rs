//! Handling of fatal faults: an illegal instruction on this processor, or a crash in a library.
//!
//! Takes the signal; writes an explanation and restores the terminal.
//! Invariants: only async-signal-safe calls; the process then ends with the same signal.
//! Not here: termination signals (`workers`), panics (`tui`).

use std::ffi::c_int;
use std::sync::OnceLock;

/// Message for a processor that the program was not built for.
const OTHER_PROCESSOR: &str = "ragonite: this program was built for another kind of processor and does not run on this one. \
    Build it here with `make build`, or where you have it from with `make portable`, for processors with AVX2.\n";

const FAULT: &str = "ragonite failed in a library and was ended. What was stored is safe. If it happens again, choose a \
                     smaller profile; with a GPU, set `device` to \"cpu\" in the configuration.\n";

/// Resets the modes that the screen may have set: mouse, paste, keys, alternate screen; shows the cursor.
const LEAVE_SCREEN: &str = "\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?2004l\x1b[<1u\x1b[?1049l\x1b[?25h";

/// Signals of other faults.
const FAULTS: [c_int; 4] = [libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGSEGV];

/// Terminal state at the start, for the signal handler.
static TERMINAL: OnceLock<libc::termios> = OnceLock::new();

/// Has a fault explained on the standard error output and the terminal put back as it is now. The system ends the process
/// afterwards, as it would have done. Where a signal cannot be caught nothing changes.
///
/// Every line of Rust may be compiled to instructions that the processor lacks, this one too: so the first thing is one
/// plain call for that signal.
#[inline(never)]
#[expect(unsafe_code, reason = "signals are caught through C")]
pub fn explain_faults() {
    // SAFETY: `explain_illegal_instruction` does nothing but what a signal handler may.
    unsafe { libc::signal(libc::SIGILL, explain_illegal_instruction as *const () as libc::sighandler_t) };
    watch_libraries();
}

#[inline(never)]
#[expect(unsafe_code, reason = "signals are caught through C")]
fn watch_libraries() {
    // SAFETY: all zeros is a valid `termios` and a valid `sigaction`; `explain` does nothing but what a signal handler may.
    // With `SA_RESETHAND` the instruction that is tried again afterwards ends the process.
    unsafe {
        let mut terminal: libc::termios = std::mem::zeroed();
        if libc::tcgetattr(libc::STDIN_FILENO, &raw mut terminal) == 0 {
            let _ = TERMINAL.set(terminal);
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = explain as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESETHAND | libc::SA_ONSTACK;
        for signal in FAULTS {
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

#[expect(unsafe_code, reason = "a signal handler may only use what the system allows")]
extern "C" fn explain_illegal_instruction(signal: c_int) {
    write(libc::STDERR_FILENO, OTHER_PROCESSOR);
    // SAFETY: both may be called in a signal handler. From here on another such instruction ends the process.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
    if put_terminal_back() {
        write(libc::STDOUT_FILENO, OTHER_PROCESSOR);
    }
    // SAFETY: as above. Somebody else may have sent the signal: then no instruction is tried again.
    unsafe { libc::raise(signal) };
}

#[expect(unsafe_code, reason = "a signal handler may only use what the system allows")]
extern "C" fn explain(signal: c_int) {
    // While the screen is active, stderr goes to the log.
    if put_terminal_back() {
        write(libc::STDOUT_FILENO, FAULT);
    }
    write(libc::STDERR_FILENO, FAULT);
    // SAFETY: `raise` may be called in a signal handler.
    unsafe { libc::raise(signal) };
}

/// Leaves the screen where it is active; returns whether it was.
#[inline(never)]
#[expect(unsafe_code, reason = "a signal handler may only use what the system allows")]
fn put_terminal_back() -> bool {
    let Some(terminal) = TERMINAL.get() else { return false };
    // SAFETY: all zeros is a valid `termios`, and `terminal` is what the system gave; both calls may be made in a signal
    // handler.
    unsafe {
        let mut now: libc::termios = std::mem::zeroed();
        let has_it = libc::tcgetattr(libc::STDIN_FILENO, &raw mut now) == 0 && now.c_lflag != terminal.c_lflag;
        if has_it {
            write(libc::STDOUT_FILENO, LEAVE_SCREEN);
            libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, terminal);
        }
        has_it
    }
}

#[inline(never)]
#[expect(unsafe_code, reason = "nothing but the system's own way to write may be used in a signal handler")]
fn write(file: c_int, text: &str) {
    // SAFETY: the text lives through the call; `write` may be called in a signal handler.
    unsafe { libc::write(file, text.as_ptr().cast(), text.len()) };
}
