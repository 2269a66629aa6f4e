//! The real program on a machine where nothing is set up yet: it says what is missing and goes on once it is there.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::program::{Program, models};

const CTRL_Q: &str = "\x11";

/// Puts the weights of `tiny` where they are looked for.
fn bring_models(from: &Path, to: &Path) {
    for model in ["smollm2-135m-instruct", "all-MiniLM-L6-v2"] {
        symlink(from.join(model), to.join(model)).unwrap();
    }
}

#[test]
fn without_models_and_domains_the_screen_says_what_to_do_and_goes_on_by_itself() {
    let Some(weights) = models() else { return };
    let empty = tempfile::tempdir().unwrap();
    let program = Program::new(empty.path().to_owned());
    let mut session = program.open(80, 24, &[]);
    let screen = session.wait_for_text("Models are missing");
    for said in ["all-MiniLM-L6-v2", "Looked in", "PROFILE=tiny", "Without a network", "models missing"] {
        let built_with_network = said == "PROFILE=tiny" && screen.contains("models pull --profile tiny");
        assert!(screen.contains(said) || built_with_network, "{said} in\n{screen}");
    }
    bring_models(&weights, empty.path());
    session.wait_for_text("There is no domain yet");
    program.ingest_league();
    session.wait_for_text("league is open");
    session.type_keys(CTRL_Q);
    let (status, text) = session.wait_for_exit();
    assert!(status.success(), "{text}");
}

#[test]
fn without_models_a_command_still_ends_with_what_to_do() {
    let empty = tempfile::tempdir().unwrap();
    let program = Program::new(empty.path().to_owned());
    for arguments in [&["demo"][..], &["ask", "--domain", "wiki", "Who?"]] {
        let output = program.run(arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
    }
}
