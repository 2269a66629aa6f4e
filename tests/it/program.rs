//! Runs the real program with its own data folder, as a command and in a pseudo terminal.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use portable_pty::{CommandBuilder, ExitStatus, MasterPty, NativePtySystem, PtySize, PtySystem};
use tempfile::TempDir;

/// Longest wait for a screen or an exit; only failures take that long.
const PATIENCE: Duration = Duration::from_mins(3);

/// The folder with the weights of `tiny`; none, with the reason printed, where they are missing.
pub(crate) fn models() -> Option<PathBuf> {
    let files = ["smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf", "all-MiniLM-L6-v2/model.safetensors"];
    files.into_iter().all(|file| ragonite_testing::weights(file).is_some()).then(ragonite_testing::models_folder)
}

/// The program, its data folder and the weights of `tiny`.
pub(crate) struct Program {
    pub(crate) data: TempDir,
    models: PathBuf,
}

impl Program {
    pub(crate) fn new(models: PathBuf) -> Self {
        Self { data: tempfile::tempdir().unwrap(), models }
    }

    fn arguments(&self) -> Vec<String> {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        vec![
            "--data-dir".into(),
            text(self.data.path()),
            "--models-dir".into(),
            text(&self.models),
            "--profile".into(),
            "tiny".into(),
        ]
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.run_by(Command::new(env!("CARGO_BIN_EXE_ragonite")), arguments)
    }

    /// Runs a command with limited address space.
    pub(crate) fn run_within(&self, kibibytes: u32, arguments: &[&str]) -> Output {
        let mut shell = Command::new("sh");
        let limited = format!("ulimit -c 0; ulimit -v {kibibytes}; exec \"$0\" \"$@\"");
        shell.args(["-c", &limited, env!("CARGO_BIN_EXE_ragonite")]);
        self.run_by(shell, arguments)
    }

    fn run_by(&self, mut command: Command, arguments: &[&str]) -> Output {
        command.args(self.arguments()).args(arguments).env_remove("RAGONITE_MODELS").env("HOME", self.data.path());
        // A GPU build beside the program is not used.
        command.env("RAGONITE_DEVICE", "cpu");
        // Away from the checkout, whose own weights would be found as well.
        command.current_dir(self.data.path());
        command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME").env_remove("RAGONITE_HOME");
        command.output().unwrap()
    }

    /// Runs a command that must succeed, and gives its JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?} ended with {}: {errors}", output.status);
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Ingests the small demo domain.
    pub(crate) fn ingest_league(&self) -> serde_json::Value {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo/league");
        self.json(&["ingest", "--domain", "league", folder.to_str().unwrap()])
    }

    /// Opens the screen in a pseudo terminal. A shell runs the program and then prints `shell is back`, so that the
    /// test sees the shell of a user.
    pub(crate) fn open(&self, columns: u16, rows: u16, more: &[&str]) -> Session {
        let script = "echo shell was here; \"$@\"; code=$?; echo shell is back with $code; \
                      stty -a | grep -o -- '-*icanon'; exit $code";
        self.spawn(script, columns, rows, more)
    }

    /// Opens the screen without a shell around it, so that signals reach the program.
    pub(crate) fn open_alone(&self, columns: u16, rows: u16) -> Session {
        self.spawn("exec \"$@\"", columns, rows, &[])
    }

    fn spawn(&self, script: &str, columns: u16, rows: u16, more: &[&str]) -> Session {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = NativePtySystem::default().openpty(size).unwrap();
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_ragonite")]);
        command.args(self.arguments());
        command.args(more);
        command.env("TERM", "xterm-256color");
        command.env("LC_ALL", "C.UTF-8");
        command.env("HOME", self.data.path());
        command.env("RAGONITE_DEVICE", "cpu");
        // Away from the checkout, whose own weights would be found as well.
        command.cwd(self.data.path());
        command.env_remove("RAGONITE_MODELS");
        command.env_remove("NO_COLOR");
        // Copied text goes to this terminal, not to the desktop of the developer.
        for desktop in ["DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE", "TMUX"] {
            command.env_remove(desktop);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        Session::start(pair.master, child, columns, rows)
    }
}

/// A program in a pseudo terminal, with its screen.
pub(crate) struct Session {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn portable_pty::Child + Send + Sync>,
    screen: Arc<(Mutex<Screen>, Condvar)>,
}

struct Screen {
    parser: vt100::Parser<Clipboard>,
    closed: bool,
}

/// Text that a program copied to the terminal.
#[derive(Default)]
struct Clipboard(String);

impl vt100::Callbacks for Clipboard {
    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _kind: &[u8], base64: &[u8]) {
        self.0 = String::from_utf8(STANDARD.decode(base64).unwrap()).unwrap();
    }
}

impl Session {
    fn start(
        master: Box<dyn MasterPty + Send>,
        child: Box<dyn portable_pty::Child + Send + Sync>,
        columns: u16,
        rows: u16,
    ) -> Self {
        let parser = vt100::Parser::new_with_callbacks(cells(rows), cells(columns), 0, Clipboard::default());
        let screen = Arc::new((Mutex::new(Screen { parser, closed: false }), Condvar::new()));
        let mut reader = master.try_clone_reader().unwrap();
        let shared = Arc::clone(&screen);
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                let read = reader.read(&mut buffer).unwrap_or(0);
                let mut screen = shared.0.lock().unwrap();
                screen.parser.process(&buffer[..read]);
                screen.closed = read == 0;
                shared.1.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
        let writer = master.take_writer().unwrap();
        Self { master, writer, child, screen }
    }

    /// Types bytes as a terminal sends them.
    pub(crate) fn type_keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    /// Changes the size of the terminal.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        let mut screen = self.screen.0.lock().unwrap();
        screen.parser.screen_mut().set_size(cells(rows), cells(columns));
        self.master.resize(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).unwrap();
    }

    /// Sends the program a signal, as `kill` does.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let id = i32::try_from(self.child.process_id().unwrap()).unwrap();
        let process = rustix::process::Pid::from_raw(id).unwrap();
        rustix::process::kill_process(process, signal).unwrap();
    }

    /// Waits until `shown` is true for the screen, and gives the screen.
    pub(crate) fn wait_for(&self, what: &str, shown: impl Fn(&str) -> bool) -> String {
        let (screen, changed) = &*self.screen;
        let mut guard = screen.lock().unwrap();
        loop {
            let text = guard.parser.screen().contents();
            if shown(&text) {
                return text;
            }
            assert!(!guard.closed, "the program ended before {what}:\n{text}");
            let (next, waited) = changed.wait_timeout(guard, PATIENCE).unwrap();
            assert!(!waited.timed_out(), "{what} never came:\n{text}");
            guard = next;
        }
    }

    /// The text copied last.
    pub(crate) fn clipboard(&self) -> String {
        self.screen.0.lock().unwrap().parser.callbacks().0.clone()
    }

    /// Whether the program has taken the mouse.
    pub(crate) fn has_mouse(&self) -> bool {
        self.screen.0.lock().unwrap().parser.screen().mouse_protocol_mode() != vt100::MouseProtocolMode::None
    }

    /// Waits until the screen shows a text.
    pub(crate) fn wait_for_text(&self, text: &str) -> String {
        self.wait_for(text, |screen| screen.contains(text))
    }

    /// Waits until the program and its shell have ended.
    pub(crate) fn wait_for_exit(&mut self) -> (ExitStatus, String) {
        let (screen, changed) = &*self.screen;
        let mut guard = screen.lock().unwrap();
        while !guard.closed {
            let (next, waited) = changed.wait_timeout(guard, PATIENCE).unwrap();
            assert!(!waited.timed_out(), "the program did not end:\n{}", next.parser.screen().contents());
            guard = next;
        }
        let text = guard.parser.screen().contents();
        let on_alternate_screen = guard.parser.screen().alternate_screen();
        drop(guard);
        assert!(!on_alternate_screen, "the alternate screen was not left:\n{text}");
        (self.child.wait().unwrap(), text)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

fn cells(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}
