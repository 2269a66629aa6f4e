//! The first start of the program: it says what is missing and continues once it is there.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::program::{Program, models};

const CTRL_Q: &str = "\x11";
const ENTER: &str = "\r";
const ESCAPE: &str = "\x1b";
const F6: &str = "\x1b[17~";
const F8: &str = "\x1b[19~";

/// Puts the weights of `tiny` into the folder of models.
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
    let said = ["all-MiniLM-L6-v2", "Looked in", "Without a network", "models missing"];
    session.wait_for("what is missing", |screen| {
        let fetch = screen.contains("PROFILE=tiny") || screen.contains("models pull --profile tiny");
        fetch && said.iter().all(|text| screen.contains(text))
    });
    bring_models(&weights, empty.path());
    session.wait_for_text("There is no domain yet");
    program.ingest_league();
    session.wait_for_text("league is open");
    session.type_keys(CTRL_Q);
    let (status, text) = session.wait_for_exit();
    assert!(status.success(), "{text}");
}

#[test]
fn the_screen_speaks_the_language_of_the_configuration_and_a_wrong_one_is_named() {
    let empty = tempfile::tempdir().unwrap();
    let program = Program::new(empty.path().to_owned());
    let file = empty.path().join("config.toml");
    let config = ["--config", file.to_str().unwrap()];
    std::fs::write(&file, "[screen]\nlanguage = \"de\"\n").unwrap();
    let mut session = program.open(80, 24, &config);
    let said = ["Modelle fehlen oder sind unvollständig", "Ohne Netz", "F1 Hilfe", "keine Domäne"];
    session.wait_for("what is missing, in German", |screen| said.iter().all(|text| screen.contains(text)));
    session.type_keys(CTRL_Q);
    let (status, text) = session.wait_for_exit();
    assert!(status.success(), "{text}");

    std::fs::write(&file, "[screen]\nlanguage = \"fr\"\n").unwrap();
    let output = program.run(&[&config[..], &["domain", "list"]].concat());
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(["`fr`", "`auto`", "`en`", "`de`", "line 2"].iter().all(|text| told.contains(text)), "{told}");
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

#[test]
fn a_domain_is_made_of_a_folder_on_the_screen_and_asked() {
    let Some(weights) = models() else { return };
    let program = Program::new(weights);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo/league");
    let mut session = program.open(80, 24, &[]);
    session.wait_for_text("There is no domain yet");

    // A missing folder is refused and leaves nothing behind.
    session.type_keys(F8);
    session.wait_for_text("New domain");
    session.type_keys("/no/such/folder\r\r");
    session.wait_for_text("there is no file or folder");
    assert_eq!(program.json(&["domain", "list"])["domains"], serde_json::json!([]));
    session.type_keys(ESCAPE);
    session.wait_for("the problem being dismissed", |screen| !screen.contains("there is no file or folder"));

    // What was typed is still there.
    session.type_keys(F8);
    session.wait_for_text("/no/such/folder");
    session.type_keys(&"\x7f".repeat("/no/such/folder".len()));
    session.type_keys(folder.to_str().unwrap());
    session.type_keys(ENTER);
    session.wait_for("the name", |screen| screen.contains("Small letters"));
    session.type_keys(&"\x7f".repeat("folder".len()));
    session.type_keys("league\r");
    session.wait_for_text("league is open");
    session.type_keys("Which club won the Harbour League in the season 2025?");
    session.wait_for_text("Which club won");
    session.type_keys(ENTER);
    let turns = || {
        let listed = program.json(&["history", "list"]);
        listed["conversations"].as_array().unwrap().iter().filter_map(|one| one["turns"].as_u64()).sum::<u64>()
    };
    session.wait_for("the stored turn", |_| turns() == 1);
    // Its files are read again from the list of domains.
    session.type_keys(F6);
    session.wait_for_text("Domains and conversations");
    session.type_keys("g");
    session.wait_for("the domain", |screen| screen.contains("read again"));
    session.type_keys("R");
    session.wait_for_text("✓ league: ");
    session.type_keys(CTRL_Q);
    let (status, text) = session.wait_for_exit();
    assert!(status.success(), "{text}");
    let shown = program.json(&["domain", "show", "league"]);
    assert_eq!(shown["health"], serde_json::json!({ "dense": "in_step", "lexical": "in_step" }));
}
