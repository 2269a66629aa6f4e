//! Hands over to the build for NVIDIA GPUs, where there is one.
//!
//! Takes the command line and the configuration. Where `ragonite-cuda` lies beside this program, the driver finds a
//! GPU and that program starts, this process becomes it by `exec`, with the same arguments. Otherwise it gives the
//! reason.
//! Invariants: a GPU build never hands over, and no process does so twice; the driver is never linked; a missing part
//! is a reason to stay, never an error; without that program only its name is looked up.
//! Not here: devices of a build (`inference`).

mod cpu_reason;
mod driver;
mod fault;
mod openmp;

use std::ffi::{CStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

pub use cpu_reason::CpuReason;
pub use fault::explain_faults;
pub use openmp::limit_spin;

use crate::args::{Cli, Command};
use ragonite_config::{Config, is_set, program_path, typed_arguments};
use ragonite_inference::DeviceChoice;

/// The program for NVIDIA GPUs, as `make cuda` names it.
pub const PROGRAM: &str = "ragonite-cuda";

/// The folder with its libraries, beside it.
pub const LIBRARIES: &str = "ragonite-cuda-lib";

/// The folder with the libraries of a program that `make portable` built, beside that program.
pub const PORTABLE_LIBRARIES: &str = "ragonite-lib";

/// Environment variable of a process that took over.
const HANDED_OVER: &str = "RAGONITE_HANDED_OVER";

/// The library of NVIDIA's driver.
const DRIVER: &CStr = c"libcuda.so.1";

/// Becomes the build for NVIDIA GPUs and does not return, where possible; otherwise returns the reason. No other
/// thread may run yet.
pub fn hand_over(cli: &Cli) -> CpuReason {
    if !computes(cli.command.as_ref()) {
        return CpuReason::NothingToCompute;
    }
    if let Some(kind) = DeviceChoice::of_this_build() {
        return CpuReason::ThisIsFor(kind);
    }
    // The command reports an unreadable configuration later.
    let configured = Config::load(cli.shared.config.as_deref()).and_then(|config| config.device_of_this_run());
    match configured {
        Ok(DeviceChoice::Auto | DeviceChoice::Cuda) => {}
        Ok(other) => return CpuReason::Chosen(other),
        Err(_) => return CpuReason::NothingToCompute,
    }
    let Ok(own) = program_path() else { return CpuReason::NoProgram(PathBuf::from(PROGRAM)) };
    let beside = match (Beside { own: &own, driver: DRIVER, handed_over: is_set(HANDED_OVER) }).find() {
        Ok(beside) => beside,
        Err(reason) => return reason,
    };
    let source = command(&beside, &typed_arguments()).exec();
    CpuReason::NotStarted { program: beside, why: source.to_string() }
}

/// Whether a command computes with a model or reports on devices.
fn computes(command: Option<&Command>) -> bool {
    use Command::{Bundle, Completions, Guide, History, Models};
    !matches!(command, Some(History(_) | Models(_) | Bundle(_) | Guide { .. } | Completions { .. }))
}

/// Paths for finding the other build.
struct Beside<'a> {
    own: &'a Path,
    driver: &'a CStr,
    handed_over: bool,
}

impl Beside<'_> {
    /// The path of the other build, where driver, GPU and program answer.
    fn find(&self) -> Result<PathBuf, CpuReason> {
        let program = self.own.with_file_name(PROGRAM);
        if !program.is_file() || program == self.own {
            return Err(CpuReason::NoProgram(program));
        }
        if self.handed_over {
            return Err(CpuReason::HandedOver);
        }
        driver::count_gpus(self.driver)?;
        answers(&program)?;
        Ok(program)
    }
}

/// Checks that `program` starts and has this version.
fn answers(program: &Path) -> Result<(), CpuReason> {
    let refused = |why: String| CpuReason::NotStarted { program: program.to_owned(), why };
    let printed = command(program, &[OsString::from("--version")]).stdin(Stdio::null()).output();
    let printed = printed.map_err(|error| refused(error.to_string()))?;
    if !printed.status.success() {
        let why = String::from_utf8_lossy(&printed.stderr);
        return Err(refused(why.lines().next().map_or_else(|| printed.status.to_string(), str::to_owned)));
    }
    let found = String::from_utf8_lossy(&printed.stdout).trim().to_owned();
    let own = concat!("ragonite ", env!("CARGO_PKG_VERSION"));
    if found == own { Ok(()) } else { Err(CpuReason::OtherVersion { program: program.to_owned(), found, own }) }
}

fn command(program: &Path, arguments: &[OsString]) -> Process {
    let mut command = Process::new(program);
    command.args(arguments).env(HANDED_OVER, "1");
    command
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    /// A library that answers as the driver does: `cuInit` gives `init`, and there are `gpus`.
    fn driver(folder: &Path, init: i32, gpus: i32) -> CString {
        let (source, library) = (folder.join("driver.c"), folder.join("libdriver.so"));
        let text = format!(
            "int cuInit(unsigned flags) {{ return flags ? 1 : {init}; }}\n\
             int cuDeviceGetCount(int *count) {{ *count = {gpus}; return 0; }}\n"
        );
        fs::write(&source, text).unwrap();
        let made = Process::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status().unwrap();
        assert!(made.success());
        CString::new(library.as_os_str().as_bytes()).unwrap()
    }

    /// A program `ragonite-cuda` that does what `script` says. Another process writes it: a file that this one has open
    /// for writing while a test beside it starts a program could not be run.
    fn program(folder: &Path, script: &str) -> PathBuf {
        let (text, program) = (folder.join("script"), folder.join(PROGRAM));
        fs::write(&text, format!("#!/bin/sh\n{script}\n")).unwrap();
        let put = "cp \"$1\" \"$2\" && chmod +x \"$2\"";
        assert!(Process::new("sh").args(["-c", put, "sh"]).args([&text, &program]).status().unwrap().success());
        program
    }

    fn found(folder: &Path, driver: &CStr) -> Result<PathBuf, CpuReason> {
        Beside { own: &folder.join("ragonite"), driver, handed_over: false }.find()
    }

    const SAYS_ITS_VERSION: &str = concat!("echo ragonite ", env!("CARGO_PKG_VERSION"));

    #[test]
    fn a_program_beside_this_one_is_taken_where_the_driver_knows_a_gpu() {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path(), SAYS_ITS_VERSION);
        assert_eq!(found(folder.path(), &driver(folder.path(), 0, 2)).unwrap(), program);
    }

    #[test]
    fn without_the_program_the_driver_is_not_even_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(found(folder.path(), c"/no/such/library.so"), Err(CpuReason::NoProgram(_))));
    }

    #[test]
    fn each_thing_that_is_missing_is_a_reason_in_words() {
        let folder = tempfile::tempdir().unwrap();
        program(folder.path(), SAYS_ITS_VERSION);
        let reason = |driver: &CStr| found(folder.path(), driver).unwrap_err().to_string();
        let none = reason(c"/no/such/library.so");
        assert!(none.contains("driver was not found") && none.contains("/no/such/library.so"), "{none}");
        let empty = folder.path().join("empty");
        fs::create_dir(&empty).unwrap();
        fs::write(empty.join("e.c"), "int x;\n").unwrap();
        let library = empty.join("libempty.so");
        Process::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &empty.join("e.c")]).status().unwrap();
        let foreign = reason(&CString::new(library.as_os_str().as_bytes()).unwrap());
        assert!(foreign.contains("cuInit"), "{foreign}");
        let failing = reason(&driver(folder.path(), 100, 0));
        assert!(failing.contains("cuInit") && failing.contains("100"), "{failing}");
    }

    #[test]
    fn a_driver_without_a_gpu_is_told_from_no_driver() {
        let folder = tempfile::tempdir().unwrap();
        program(folder.path(), SAYS_ITS_VERSION);
        assert_eq!(found(folder.path(), &driver(folder.path(), 0, 0)), Err(CpuReason::NoGpu));
    }

    #[test]
    fn a_program_that_does_not_start_or_is_another_version_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let driver = driver(folder.path(), 0, 1);
        program(folder.path(), "echo 'libcublas.so.13: cannot open shared object file' >&2; exit 127");
        let lacking = found(folder.path(), &driver).unwrap_err();
        assert!(lacking.to_string().contains("libcublas.so.13"), "{lacking}");
        program(folder.path(), "echo ragonite 0.0.1");
        let other = found(folder.path(), &driver).unwrap_err();
        assert!(matches!(&other, CpuReason::OtherVersion { found, .. } if found == "ragonite 0.0.1"), "{other}");
    }

    #[test]
    fn who_was_handed_over_to_does_not_hand_over() {
        let folder = tempfile::tempdir().unwrap();
        program(folder.path(), SAYS_ITS_VERSION);
        let own = folder.path().join("ragonite");
        let again = Beside { own: &own, driver: c"/no/such/library.so", handed_over: true }.find();
        assert_eq!(again, Err(CpuReason::HandedOver));
        let itself = Beside { own: &folder.path().join(PROGRAM), driver: DRIVER, handed_over: false }.find();
        assert!(matches!(itself, Err(CpuReason::NoProgram(_))));
    }
}
