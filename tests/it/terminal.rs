//! The real program in a pseudo terminal: it starts, works, and gives the terminal back.

use crate::program::{Program, Session, models};

const ESCAPE: &str = "\x1b";
const CTRL_Q: &str = "\x11";
const CTRL_E: &str = "\x05";
const ENTER: &str = "\r";
const F2: &str = "\x1bOQ";
const F4: &str = "\x1bOS";
const F7: &str = "\x1b[18~";

const QUESTION: &str = "Which club won the Harbour League in the season 2025?";

fn with_domain() -> Option<Program> {
    let program = Program::new(models()?);
    program.ingest_league();
    Some(program)
}

fn assert_terminal_is_back(session: &mut Session, code: u32) {
    let (status, text) = session.wait_for_exit();
    assert_eq!(status.exit_code(), code, "{text}");
    assert!(text.contains("shell was here"), "the shell's screen was not restored:\n{text}");
    assert!(text.contains(&format!("shell is back with {code}")), "{text}");
    assert!(text.lines().any(|line| line.trim() == "icanon"), "raw mode was not left:\n{text}");
}

fn ask(session: &mut Session, question: &str) {
    session.type_keys(question);
    session.wait_for("the question in the composer", |screen| screen.contains(&question[..20]));
    session.type_keys(ENTER);
}

#[test]
fn a_conversation_is_there_again_after_the_program_was_left() {
    let Some(program) = with_domain() else { return };
    let mut session = program.open(160, 45, &[]);
    session.wait_for_text("league is open");
    ask(&mut session, QUESTION);
    session.wait_for("the stored turn", |_| turns_stored(&program) == 1);
    session.type_keys(CTRL_Q);
    assert_terminal_is_back(&mut session, 0);

    let mut again = program.open(160, 45, &[]);
    again.wait_for_text("Which club won");
    again.type_keys(CTRL_Q);
    assert_terminal_is_back(&mut again, 0);
}

fn turns_stored(program: &Program) -> u64 {
    let listed = program.json(&["history", "list"]);
    listed["conversations"].as_array().unwrap().iter().map(|c| c["turns"].as_u64().unwrap()).sum()
}

#[test]
fn escape_stops_the_generation_and_the_next_question_is_answered() {
    let Some(program) = with_domain() else { return };
    let mut session = program.open(160, 45, &[]);
    session.wait_for_text("league is open");
    ask(&mut session, QUESTION);
    session.wait_for("the prompt being read", |screen| screen.contains("reading") || screen.contains("writing"));
    session.type_keys(ESCAPE);
    session.wait_for("the cancellation", |screen| screen.to_lowercase().contains("cancelled"));
    ask(&mut session, "Which stadium has the most seats?");
    session.wait_for("the second turn", |_| turns_stored(&program) == 2);
    session.type_keys(CTRL_Q);
    assert_terminal_is_back(&mut session, 0);
}

#[test]
fn a_completed_question_is_edited_and_asked_again() {
    let Some(program) = with_domain() else { return };
    let mut session = program.open(160, 45, &[]);
    session.wait_for_text("league is open");
    ask(&mut session, QUESTION);
    session.wait_for("the stored turn", |_| turns_stored(&program) == 1);
    session.type_keys(F2);
    session.type_keys("e");
    session.wait_for("the question in the composer", |screen| screen.contains("Completed question"));
    session.type_keys(" Which stadium?");
    session.type_keys(ENTER);
    session.wait_for("the second turn", |_| turns_stored(&program) == 2);
    session.type_keys(F4);
    session.wait_for_text("edited by you");
    session.type_keys(CTRL_Q);
    assert_terminal_is_back(&mut session, 0);
}

#[test]
fn a_changed_setting_answers_the_next_question_and_is_there_again_after_the_program_was_left() {
    let Some(program) = with_domain() else { return };
    let mut session = program.open(120, 40, &[]);
    session.wait_for_text("league is open");
    session.type_keys(F7);
    session.wait_for_text("Settings of league");
    // Two sources, typed; the next way to search, stepped to.
    session.type_keys("2\r");
    session.wait_for_text("* 1 changed");
    session.type_keys("jl");
    session.wait_for_text("* 2 changed");
    session.type_keys(ESCAPE);
    session.wait_for("the settings being closed", |screen| !screen.contains("Settings of league"));
    ask(&mut session, QUESTION);
    session.wait_for("the stored turn", |_| turns_stored(&program) == 1);
    session.type_keys(F4);
    session.wait_for_text("2 Search by meaning");
    session.type_keys("G");
    session.wait_for_text("* sources 2, * search dense");
    session.type_keys(CTRL_Q);
    assert_terminal_is_back(&mut session, 0);

    let stored = &program.json(&["history", "show", "1"])["turns"][0]["trace"];
    assert_eq!((&stored["settings"]["sources"], &stored["retrieved"]["mode"]), (&2.into(), &"dense".into()));
    let shown = program.json(&["domain", "show", "league"]);
    assert_eq!(shown["settings"], serde_json::json!({ "sources": "2", "retrieval.mode": "dense" }));
    let mut again = program.open(120, 40, &[]);
    again.wait_for_text("league is open");
    again.type_keys(F7);
    again.wait_for_text("* 2 changed");
    again.type_keys(CTRL_Q);
    assert_terminal_is_back(&mut again, 0);
}

#[test]
fn an_answer_is_explained_on_a_small_screen_and_a_large_one() {
    let Some(program) = with_domain() else { return };
    let mut session = program.open(160, 45, &[]);
    session.wait_for_text("league is open");
    ask(&mut session, QUESTION);
    session.wait_for("the stored turn", |_| turns_stored(&program) == 1);
    session.type_keys(CTRL_E);
    session.wait_for("the attribution", |screen| screen.contains('%') || screen.contains("no single source"));
    for (columns, rows) in [(80, 24), (40, 10), (30, 6), (200, 50), (80, 24), (160, 45)] {
        session.resize(columns, rows);
        // The status line is drawn across the whole width; only a frame of the new size ends it at the last column.
        session.wait_for("a frame of the new size", |screen| {
            let widest = screen.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            widest == usize::from(columns) && screen.lines().count() == usize::from(rows)
        });
    }
    session.wait_for_text("league");
    session.type_keys(CTRL_Q);
    assert_terminal_is_back(&mut session, 0);
}

#[test]
fn the_mouse_is_taken_only_where_it_is_wanted_and_given_back() {
    let Some(program) = with_domain() else { return };
    let config = program.data.path().join("mouse.toml");
    std::fs::write(&config, "[screen]\nmouse = \"on\"\ntheme = \"high-contrast\"\nborders = \"ascii\"\n").unwrap();
    let config = config.to_str().unwrap().to_owned();
    let mut session = program.open(120, 40, &["--config", &config]);
    let screen = session.wait_for_text("league is open");
    assert!(screen.contains("# Question =") && !screen.contains('━'), "{screen}");
    assert!(session.has_mouse());
    // A click on the pane on the right, whose frame is then the thick one.
    session.type_keys("\x1b[<0;100;10M\x1b[<0;100;10m");
    session.wait_for_text("# Evidence =");
    session.type_keys(CTRL_Q);
    assert_terminal_is_back(&mut session, 0);
    assert!(!session.has_mouse());

    let mut panicked = program.open(120, 40, &["--config", &config, "--panic-in", "ui"]);
    assert_terminal_is_back(&mut panicked, 101);
    assert!(!panicked.has_mouse());

    let mut without = program.open(120, 40, &[]);
    without.wait_for_text("league is open");
    assert!(!without.has_mouse());
    without.type_keys(CTRL_Q);
    assert_terminal_is_back(&mut without, 0);
}

#[test]
fn a_theme_that_does_not_exist_is_a_clear_error() {
    let Some(models) = models() else { return };
    let program = Program::new(models);
    let config = program.data.path().join("wrong.toml");
    std::fs::write(&config, "[screen]\ntheme = \"drak\"\n").unwrap();
    let output = program.run(&["--config", config.to_str().unwrap(), "domain", "list"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("did you mean `dark`?") && told.contains("drak"), "{told}");
}

#[test]
fn a_panic_of_the_screen_gives_the_terminal_back() {
    panic_in("ui");
}

#[test]
fn a_panic_of_a_worker_gives_the_terminal_back_and_ends_the_program() {
    panic_in("worker");
}

fn panic_in(place: &str) {
    let Some(program) = with_domain() else { return };
    let mut session = program.open(120, 40, &["--panic-in", place]);
    let (_, text) = session.wait_for_exit();
    assert!(text.contains("asked to panic"), "{text}");
    assert_terminal_is_back(&mut session, 101);
}

#[test]
fn a_request_to_end_leaves_the_alternate_screen() {
    let Some(program) = with_domain() else { return };
    let mut session = program.open_alone(120, 40);
    session.wait_for_text("league");
    session.terminate();
    let (status, _) = session.wait_for_exit();
    assert!(status.success(), "{status:?}");
}
