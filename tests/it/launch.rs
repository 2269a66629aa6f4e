//! Handing over to `ragonite-cuda`, a program beside `ragonite`.
//!
//! Driver and program are fakes, so no GPU is needed; the machine's driver is never loaded.

use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder with the program and other files of a test.
struct Place {
    folder: TempDir,
}

impl Place {
    /// With a driver that reports `gpus` GPUs.
    fn new(gpus: u32) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        place.sh("cp \"$1\" ragonite", env!("CARGO_BIN_EXE_ragonite"));
        let text = format!(
            "int cuInit(unsigned flags) {{ return flags; }}\n\
             int cuDeviceGetCount(int *count) {{ *count = {gpus}; return 0; }}\n"
        );
        std::fs::write(place.path("driver.c"), text).unwrap();
        place.sh("cc -shared -fPIC -o libcuda.so.1 driver.c", "");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Another process writes the scripts: a program that this process has open for writing cannot be run.
    fn sh(&self, script: &str, argument: &str) {
        let mut command = Command::new("sh");
        command.args(["-ec", script, "sh", argument]).current_dir(self.folder.path());
        assert!(command.status().unwrap().success(), "{script}");
    }

    /// A `ragonite-cuda` that prints its version on request, and otherwise runs `script`.
    fn with_gpu_build(self, version: &str, script: &str) -> Self {
        let answer =
            format!("#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'ragonite {version}'; exit; fi\n{script}\n");
        std::fs::write(self.path("script"), answer).unwrap();
        self.sh("cp script ragonite-cuda; chmod +x ragonite-cuda", "");
        self
    }

    fn run(&self, arguments: &[&str], device: Option<&str>) -> Output {
        self.command(arguments, device).output().unwrap()
    }

    fn command(&self, arguments: &[&str], device: Option<&str>) -> Command {
        let home = |name: &str| self.path(name);
        let mut command = Command::new(self.path("ragonite"));
        command.args(["--data-dir".as_ref(), home("data").as_os_str()]).args(arguments);
        command.env("LD_LIBRARY_PATH", self.folder.path()).env("HOME", self.folder.path());
        let ours = ["RAGONITE_DEVICE", "RAGONITE_HANDED_OVER", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];
        for variable in ours.into_iter().chain(["GOMP_SPINCOUNT", "OMP_WAIT_POLICY"]) {
            command.env_remove(variable);
        }
        command.envs(device.map(|device| ("RAGONITE_DEVICE", device))).current_dir(self.folder.path());
        command
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const OWN: &str = env!("CARGO_PKG_VERSION");
const TAKES_OVER: &str = "shift 2; echo \"took over: $*\"";

#[test]
fn where_the_driver_knows_a_gpu_the_other_build_takes_over_with_the_same_arguments() {
    let place = Place::new(1).with_gpu_build(OWN, TAKES_OVER);
    assert_eq!(said(&place.run(&["domain", "list", "--json"], None)), "took over: domain list --json\n");
    let searched = place.run(&["search", "--domain", "notes", "it's two  blanks"], None);
    assert_eq!(said(&searched), "took over: search --domain notes it's two  blanks\n");
}

#[cfg(target_os = "linux")]
#[test]
fn threads_that_wait_sleep_soon_unless_somebody_said_how_they_wait() {
    let place = Place::new(1).with_gpu_build(OWN, "echo \"$GOMP_SPINCOUNT $OMP_WAIT_POLICY\"");
    let waits = |set: Option<(&str, &str)>| said(&place.command(&["domain", "list"], None).envs(set).output().unwrap());
    assert_eq!(waits(None), "1000 \n");
    assert_eq!(waits(Some(("GOMP_SPINCOUNT", "7"))), "7 \n");
    assert_eq!(waits(Some(("OMP_WAIT_POLICY", "active"))), " active\n");
}

#[test]
fn what_computes_nothing_stays() {
    let place = Place::new(1).with_gpu_build(OWN, TAKES_OVER);
    let listed = place.run(&["history", "list"], None);
    assert!(listed.status.success() && !said(&listed).contains("took over"), "{listed:?}");
}

#[test]
fn the_variable_and_the_configuration_keep_it_on_the_processor() {
    let place = Place::new(1).with_gpu_build(OWN, TAKES_OVER);
    let kept = place.run(&["domain", "list"], Some("cpu"));
    assert!(kept.status.success() && !said(&kept).contains("took over"), "{kept:?}");
    let file = place.path("c.toml");
    std::fs::write(&file, "device = \"cpu\"\n").unwrap();
    let file = file.to_str().unwrap();
    assert!(!said(&place.run(&["--config", file, "domain", "list"], None)).contains("took over"));
    assert!(said(&place.run(&["--config", file, "domain", "list"], Some("auto"))).contains("took over"));
    let wrong = place.run(&["domain", "list"], Some("gpu"));
    let problem = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(problem.contains("RAGONITE_DEVICE") && problem.contains("vulkan"), "{problem}");
}

#[test]
fn two_builds_that_start_each_other_come_to_an_end() {
    let place = Place::new(1).with_gpu_build(OWN, "exec \"$(dirname \"$0\")/ragonite\" \"$@\"");
    let listed = place.run(&["domain", "list", "--json"], None);
    assert!(listed.status.success(), "{listed:?}");
    assert!(serde_json::from_slice::<serde_json::Value>(&listed.stdout).is_ok(), "{listed:?}");
}

/// The line of `ragonite doctor` on GPUs.
fn gpu_line(place: &Place) -> String {
    let examined = place.run(&["doctor", "--json"], None);
    let found: serde_json::Value = serde_json::from_slice(&examined.stdout).unwrap();
    format!("{} / {}", found["gpu"].as_str().unwrap(), found["profile_reason"].as_str().unwrap())
}

#[test]
fn doctor_says_why_the_other_build_does_not_run() {
    let none = gpu_line(&Place::new(1));
    assert!(none.contains("make cuda") && none.ends_with("this build uses no GPU"), "{none}");
    let no_gpu = gpu_line(&Place::new(0).with_gpu_build(OWN, TAKES_OVER));
    assert!(no_gpu.contains("knows no GPU") && no_gpu.ends_with("no NVIDIA GPU"), "{no_gpu}");
    let older = gpu_line(&Place::new(1).with_gpu_build("0.0.1", TAKES_OVER));
    assert!(older.contains("0.0.1") && older.ends_with("another version"), "{older}");
}

#[test]
fn a_gpu_that_is_asked_for_and_not_there_is_an_error_that_says_what_is_missing() {
    let place = Place::new(0).with_gpu_build(OWN, TAKES_OVER);
    let refused = place.run(&["domain", "list"], Some("cuda"));
    let problem = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{problem}");
    assert!(problem.contains("CUDA") && problem.contains("knows no GPU"), "{problem}");
    assert!(!Path::new(&place.path("data")).join("domains").exists());
}

#[test]
fn a_fault_is_explained_and_ends_the_program_as_it_would_have_ended() {
    for (signal, number, says) in [("ILL", 4, "another kind of processor"), ("ABRT", 6, "What was stored is safe")] {
        let place = Place::new(0);
        place.sh("mkfifo c.toml", "");
        let mut command = Command::new(place.path("ragonite"));
        command.arg("--config").arg(place.path("c.toml")).arg("doctor").stderr(Stdio::piped()).stdout(Stdio::null());
        let mut program = command.spawn().unwrap();
        // It can be opened for writing once the program reads its configuration.
        let _configuration = loop {
            assert_eq!(program.try_wait().unwrap(), None, "it ended before it read its configuration");
            let mut open = std::fs::File::options();
            match open.write(true).custom_flags(libc::O_NONBLOCK).open(place.path("c.toml")) {
                Ok(file) => break file,
                Err(_) => std::thread::yield_now(),
            }
        };
        place.sh(&format!("kill -{signal} \"$1\""), &program.id().to_string());
        let ended = program.wait_with_output().unwrap();
        assert_eq!(ended.status.signal(), Some(number), "{ended:?}");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(said.contains(says), "{said}");
    }
}
