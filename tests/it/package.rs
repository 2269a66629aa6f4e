//! The scripts behind `make`: messages about missing programs, and when they clean.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder with the named programs of this machine only.
fn bin_with(programs: &[&str]) -> TempDir {
    let bin = TempDir::new().unwrap();
    for name in programs {
        let found = ["/usr/bin", "/bin"].iter().map(|folder| Path::new(folder).join(name)).find(|path| path.exists());
        symlink(found.unwrap_or_else(|| panic!("this system has no {name}")), bin.path().join(name)).unwrap();
    }
    bin
}

fn put_script(bin: &TempDir, name: &str, body: &str) {
    let path = bin.path().join(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs a script of `assets/build` with `bin` as the only folder of programs.
fn run(script: &str, bin: &TempDir, variables: &[(&str, &Path)]) -> Output {
    run_with(script, &[], bin, variables)
}

fn run_with(script: &str, arguments: &[&str], bin: &TempDir, variables: &[(&str, &Path)]) -> Output {
    let mut command = Command::new("/bin/sh");
    command.arg(root().join("assets/build").join(script)).args(arguments).current_dir(root());
    command.env_clear().env("PATH", bin.path()).envs(variables.iter().copied()).output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn without_apt_the_line_to_run_is_printed() {
    let output = run("packages.sh", &bin_with(&["grep"]), &[]);
    let told = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    let line = "sudo apt-get update && sudo apt-get install -y --no-install-recommends gcc g++ make cmake pkg-config";
    assert!(told.contains(line), "{told}");
}

#[test]
fn packages_are_installed_by_apt_after_one_update_and_an_interrupted_run_is_finished() {
    let bin = bin_with(&["grep", "env"]);
    put_script(&bin, "id", "echo 0");
    let log = bin.path().join("log");
    for name in ["apt-get", "dpkg"] {
        put_script(&bin, name, &format!("echo \"{name} $* $DEBIAN_FRONTEND\" >>\"$LOG\""));
    }
    let output = run("packages.sh", &bin, &[("LOG", &log)]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let log = fs::read_to_string(log).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 3, "{log}");
    assert_eq!(lines[0], "dpkg --configure -a noninteractive");
    assert!(lines[1].contains(" update "), "{log}");
    assert!(lines[2].contains("install -y --no-install-recommends gcc g++ make cmake pkg-config"), "{log}");
}

#[test]
fn a_failed_installation_ends_with_the_line_to_run() {
    let bin = bin_with(&["grep", "env"]);
    put_script(&bin, "id", "echo 0");
    put_script(&bin, "dpkg", "exit 0");
    put_script(&bin, "apt-get", "exit 100");
    let output = run("packages.sh", &bin, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("sudo apt-get install -y"), "{}", errors(&output));
}

#[test]
fn vulkan_headers_that_llama_cpp_cannot_use_are_told_before_the_build() {
    let bin = bin_with(&["grep", "env", "tr"]);
    put_script(&bin, "id", "echo 0");
    let log = bin.path().join("log");
    put_script(&bin, "dpkg", "exit 0");
    put_script(&bin, "apt-get", "echo \"$*\" >>\"$LOG\"");
    let sdk = TempDir::new().unwrap();
    let headers = sdk.path().join("include/vulkan");
    fs::create_dir_all(&headers).unwrap();
    fs::write(headers.join("vulkan.hpp"), "").unwrap();
    let ends = |arguments: &[&str], core: &str| {
        fs::write(headers.join("vulkan_core.h"), core).unwrap();
        let output = run_with("packages.sh", arguments, &bin, &[("LOG", &log), ("VULKAN_SDK", sdk.path())]);
        let asked = fs::read_to_string(&log).unwrap();
        fs::remove_file(&log).unwrap();
        (output.status.code(), errors(&output), asked)
    };
    let (code, told, asked) = ends(&["hub,vulkan"], "#define VK_HEADER_VERSION 239");
    assert_eq!(code, Some(2));
    assert!(told.contains("too old") && told.contains("VULKAN_SDK"), "{told}");
    assert!(asked.contains(" glslc"), "{asked}");
    assert!(!asked.contains("libvulkan-dev"), "the headers are there: {asked}");
    assert_eq!(ends(&["vulkan"], "#define VK_EXT_layer_settings 1").0, Some(0));
    let (code, told, asked) = ends(&["hub"], "#define VK_HEADER_VERSION 239");
    assert_eq!(code, Some(0), "{told}");
    assert!(!asked.contains("glslc"), "{asked}");
}

#[test]
fn a_missing_and_an_old_rust_are_named_with_what_is_needed() {
    let bin = bin_with(&["sed", "cut"]);
    let output = run("toolchain.sh", &bin, &[]);
    assert_eq!(output.status.code(), Some(2));
    let needed = env!("CARGO_PKG_RUST_VERSION");
    assert!(errors(&output).contains(&format!("cargo was not found, Rust {needed} or newer is needed")));

    put_script(&bin, "cargo", "exit 0");
    for (version, code) in [("1.9.0", 2), ("1.88.0", 2), ("0.99.0", 2), (needed, 0), ("1.100.0", 0), ("2.0.0", 0)] {
        put_script(&bin, "rustc", &format!("echo 'rustc {version}.0 (abc 2026-01-01)'"));
        let output = run("toolchain.sh", &bin, &[]);
        assert_eq!(output.status.code(), Some(code), "{version}: {}", errors(&output));
        assert_eq!(errors(&output).contains("was found"), code == 2, "{version}: {}", errors(&output));
    }
}

#[test]
fn a_target_folder_of_another_processor_is_cleaned_once() {
    let bin = bin_with(&["sed", "head", "tr", "grep", "sort", "cat", "mkdir", "mv"]);
    put_script(&bin, "cargo", "echo \"cargo $*\" >>\"$LOG\"");
    let folder = TempDir::new().unwrap();
    let [target, cpuinfo, log] = ["target", "cpuinfo", "log"].map(|name| folder.path().join(name));
    let variables = [("CARGO_TARGET_DIR", &*target), ("CPUINFO", &*cpuinfo), ("LOG", &*log)];
    let cleaned = |flags: &str| {
        fs::write(&cpuinfo, format!("processor\t: 0\nflags\t\t: {flags}\nbugs\t\t: x\n")).unwrap();
        let output = run("processor.sh", &bin, &variables);
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        let cleaned = log.exists();
        assert_eq!(errors(&output).contains("built for another processor"), cleaned, "{}", errors(&output));
        let _gone = fs::remove_file(&log);
        cleaned
    };
    assert!(!cleaned("fpu sse sse2 avx avx2"), "nothing was built yet");
    assert!(!cleaned("fpu sse sse2 avx avx2"), "the same processor");
    assert!(!cleaned("fpu avx2 avx sse2 sse ibrs"), "another order and a flag that is no instruction set");
    assert!(cleaned("fpu sse sse2 avx"), "a processor with fewer instructions");
    assert!(!cleaned("fpu sse sse2 avx"), "it was cleaned already");
}

/// A checkout's `make` with a cargo that only records its arguments and builds a program that does so too.
struct FakeMake {
    bin: TempDir,
    target: TempDir,
}

impl FakeMake {
    fn new() -> Self {
        let (bin, target) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        put_script(&bin, "program", r#"echo "ragonite $*" >>"$LOG""#);
        let cargo = r#"echo "cargo $*" >>"$LOG"
if [ "$1" = run ]; then test ! -e "$CARGO_TARGET_DIR/offline"; exit; fi
mkdir -p "$CARGO_TARGET_DIR/release" && cp "${0%cargo}program" "$CARGO_TARGET_DIR/release/ragonite""#;
        put_script(&bin, "cargo", cargo);
        Self { bin, target }
    }

    /// Whether it succeeded, and the arguments of cargo and the program.
    fn run(&self, goal: &str) -> (bool, Vec<String>) {
        let log = self.bin.path().join("log");
        let _gone = fs::remove_file(&log);
        let mut command = Command::new("make");
        // Packages and toolchain of this machine do not matter here.
        command.args(["-o", "tools", goal]).arg(format!("CARGO={}", self.bin.path().join("cargo").display()));
        command.env_remove("MAKEFLAGS").env_remove("MAKEOVERRIDES").env_remove("MFLAGS").current_dir(root());
        command.env("LOG", &log).env("CARGO_TARGET_DIR", self.target.path()).env("RAGONITE_MODELS", "weights");
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        let log = fs::read_to_string(&log).unwrap_or_default();
        (output.status.success(), log.lines().map(str::to_owned).collect())
    }
}

fn make_is_there() -> bool {
    let there = Command::new("make").arg("--version").output().is_ok();
    if !there {
        println!("skipped: make is not installed");
    }
    there
}

#[test]
fn the_demo_fetches_what_is_missing_and_runs_the_program_without_network_code() {
    if !make_is_there() {
        return;
    }
    let (ended_well, asked) = FakeMake::new().run("demo");
    assert!(ended_well, "{asked:?}");
    let fetch = "cargo run --quiet --release -p ragonite-download -- starter weights";
    assert_eq!(asked, ["cargo build --release", fetch, "ragonite demo"]);
}

#[test]
fn a_fetch_that_failed_ends_the_demo_and_the_next_run_tries_again() {
    if !make_is_there() {
        return;
    }
    let make = FakeMake::new();
    fs::write(make.target.path().join("offline"), "").unwrap();
    let (ended_well, asked) = make.run("demo");
    assert!(!ended_well && !asked.contains(&"ragonite demo".to_owned()), "{asked:?}");
    fs::remove_file(make.target.path().join("offline")).unwrap();
    assert!(make.run("demo").0);
}

#[test]
fn the_tests_need_the_tiny_models_only() {
    if !make_is_there() {
        return;
    }
    let (ended_well, asked) = FakeMake::new().run("test");
    assert!(ended_well, "{asked:?}");
    // The program is tested as it is shipped: the crate that downloads is no part of it.
    let fetch = "cargo run --quiet -p ragonite-download -- tiny weights";
    assert_eq!(asked, [fetch, "cargo test --workspace --lib --test it"]);
}
