//! The real program in a pseudo terminal: it starts, works, and restores the terminal in every state.

use crate::program::{Program, Session, models};

const ESCAPE: &str = "\x1b";
const CTRL_Q: &str = "\x11";
const CTRL_E: &str = "\x05";
const ENTER: &str = "\r";
const CTRL_P: &str = "\x10";
const F1: &str = "\x1bOP";
const F2: &str = "\x1bOQ";
const F3: &str = "\x1bOR";
const F4: &str = "\x1bOS";
const F6: &str = "\x1b[17~";
const F7: &str = "\x1b[18~";
const F8: &str = "\x1b[19~";

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

/// A session with one answered and stored turn.
fn answered(program: &Program, columns: u16, rows: u16) -> Session {
    let mut session = program.open(columns, rows, &[]);
    session.wait_for_text("league is open");
    ask(&mut session, QUESTION);
    session.wait_for("the stored turn", |_| turns_stored(program) == 1);
    session
}

fn leave(mut session: Session) {
    session.type_keys(CTRL_Q);
    assert_terminal_is_back(&mut session, 0);
}

#[test]
fn a_follow_up_is_completed_from_the_turn_before_and_answered() {
    let Some(program) = with_domain() else { return };
    let mut session = answered(&program, 160, 45);
    ask(&mut session, "And which one came second there?");
    session.wait_for("the second turn", |_| turns_stored(&program) == 2);
    session.type_keys(F4);
    session.wait_for_text("1 Question");
    leave(session);
    let turns = &program.json(&["history", "show", "1"])["turns"];
    assert_eq!(turns[0]["trace"]["rewrite"]["how"], "first");
    let second = &turns[1]["trace"];
    assert_ne!(second["rewrite"]["how"], "first", "{second}");
    let legs = second["retrieved"]["legs"].as_array().unwrap();
    assert!(legs.iter().any(|leg| leg["text"].as_str().unwrap().contains("Harbour League")), "{legs:?}");
}

#[test]
fn a_text_is_looked_for_in_a_pane_and_in_the_conversations() {
    let Some(program) = with_domain() else { return };
    let mut session = answered(&program, 120, 40);
    session.type_keys(F3);
    session.wait_for("the sources", |screen| screen.contains("cosine"));
    session.type_keys("/");
    session.wait_for_text("Look for");
    session.type_keys("harbour\r");
    session.wait_for_text("“harbour” 1 of");
    session.type_keys("n");
    session.wait_for_text("“harbour” 2 of");
    session.type_keys(ESCAPE);
    session.wait_for("the end of the search", |screen| !screen.contains("“harbour”"));
    session.type_keys(F6);
    session.type_keys("/");
    session.wait_for_text("Look for words in the conversations of all domains");
    session.type_keys("nothing-of-the-kind\r");
    session.wait_for_text("none has all of these words");
    session.type_keys("/");
    session.wait_for_text("Look for words in the conversations of all domains");
    session.type_keys("club season\r");
    session.wait_for("the conversation", |screen| {
        screen.contains("Conversations with “club season”") && !screen.contains("none has all of these words")
    });
    leave(session);
}

#[test]
fn an_answer_is_copied_through_the_terminal() {
    let Some(program) = with_domain() else { return };
    let mut session = answered(&program, 120, 40);
    session.type_keys(F2);
    session.type_keys("y");
    session.wait_for_text("gave the answer to the terminal to copy (OSC 52)");
    let copied = session.clipboard();
    let told = program.json(&["history", "show", "1"])["turns"][0]["trace"]["answer"]["text"].clone();
    assert_eq!(copied.trim(), told.as_str().unwrap().trim());
    leave(session);
}

#[test]
fn a_conversation_goes_to_the_trash_and_comes_back() {
    let Some(program) = with_domain() else { return };
    let mut session = answered(&program, 120, 40);
    session.type_keys(F6);
    session.wait_for_text("Domains and conversations");
    session.type_keys("G");
    session.wait_for_text("›● Which club");
    session.type_keys("D");
    session.wait_for("the trash", |screen| screen.contains("Trash") && screen.contains("none yet"));
    assert_eq!(turns_stored(&program), 0);
    session.type_keys("G");
    session.wait_for("the cursor in the trash", |screen| screen.contains("›  Which club"));
    session.type_keys(ENTER);
    session.wait_for("the conversation", |screen| !screen.contains("Trash") && !screen.contains("none yet"));
    assert_eq!(turns_stored(&program), 1);
    leave(session);
}

#[test]
fn an_action_is_found_by_words_and_done() {
    let Some(program) = with_domain() else { return };
    let mut session = program.open(100, 30, &[]);
    session.wait_for_text("league is open");
    session.type_keys(CTRL_P);
    session.wait_for_text("┏ Actions ");
    session.type_keys("behind scenes");
    session.wait_for_text("›go behind the scenes");
    session.type_keys(ENTER);
    session.wait_for_text("Every step of an answer");
    leave(session);
}

#[test]
fn a_question_is_asked_again_without_a_source_and_compared() {
    let Some(program) = with_domain() else { return };
    let mut session = answered(&program, 160, 45);
    session.type_keys(F3);
    session.wait_for("the sources", |screen| screen.contains("cosine"));
    session.type_keys("=");
    session.wait_for_text("Compare turn 1");
    session.type_keys("1");
    session.wait_for_text("Turn 1 and turn 2");
    session.wait_for("the second turn", |_| turns_stored(&program) == 2);
    session.wait_for_text("left out");
    session.type_keys(ESCAPE);
    session.wait_for_text("asks turn 1 again");
    leave(session);
    let turns = &program.json(&["history", "show", "1"])["turns"];
    let evidence = |turn: usize| turns[turn]["trace"]["retrieved"]["hits"][0]["evidence"].clone();
    let variant = &turns[1]["trace"]["variant"];
    assert_eq!((&variant["of"], &variant["picks"][0]["evidence"]), (&1.into(), &evidence(0)));
    let hits = turns[1]["trace"]["retrieved"]["hits"].as_array().unwrap();
    assert!(!hits.is_empty() && hits.iter().all(|hit| hit["evidence"] != evidence(0)), "{hits:?}");
    let exported = program.run(&["history", "export", "1", "--turn", "2", "--format", "markdown"]);
    let exported = String::from_utf8_lossy(&exported.stdout).into_owned();
    assert!(exported.contains("*Asks again:* turn 1, without"), "{exported}");
    let shown = program.run(&["history", "show", "1"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("Asks again: turn 1, without"));
}

#[test]
fn a_storm_of_sizes_while_an_answer_is_written_ends_in_a_whole_frame() {
    let Some(program) = with_domain() else { return };
    let mut session = program.open(120, 40, &[]);
    session.wait_for_text("league is open");
    ask(&mut session, QUESTION);
    for round in 0..20 {
        for (columns, rows) in [(200, 60), (30, 6), (80, 24), (39, 11), (41, 12), (99, 30), (300, 8), (100, 29)] {
            session.resize(columns + round % 3, rows + round % 2);
        }
    }
    session.resize(140, 42);
    session.wait_for("a frame of the last size", |screen| {
        let widest = screen.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        widest == 140 && screen.lines().count() == 42
    });
    session.wait_for("the stored turn", |_| turns_stored(&program) == 1);
    leave(session);
}

/// A state of the screen, the keys that lead to it from an answered turn, and text that shows it.
type Reached = (&'static str, &'static [&'static str], &'static [&'static str]);

const STATES: &[Reached] = &[
    ("a question that is written", &["Who is"], &["Who is"]),
    ("the help", &[F1], &["┏ Keys "]),
    ("the actions", &[CTRL_P, "exp"], &["┏ Actions "]),
    ("the settings", &[F7, "l"], &["* 1 changed"]),
    ("a value that is typed", &[F7, "7"], &["Settings of league"]),
    ("a domain that is made", &[F8, "/tmp"], &["New domain"]),
    ("the lists", &[F6, "G"], &["Domains and conversations"]),
    ("a text to look for", &[F3, "/", "club"], &["Look for"]),
    ("an evidence in its context", &[F3, "a"], &["in its context"]),
    ("its ranks being worked out", &[F3, "a", "3"], &["[ ] Before"]),
    ("a whole document", &[F3, "o"], &["found here"]),
    ("what can be compared", &[F3, "="], &["Compare turn 1"]),
    ("an explanation", &[CTRL_E], &["explaining", "%", "no single source"]),
    ("a reason being chosen", &[F2, "-"], &["What is wrong with the answer"]),
    ("an enlarged pane", &[F3, "z"], &["enlarged"]),
    // Last, because it leaves a turn without an answer.
    ("a second answer being written", &[F3, "=", "1"], &["Turn 1 and turn 2"]),
];

#[test]
fn the_program_is_left_in_every_state_and_keeps_the_turn() {
    let Some(program) = with_domain() else { return };
    leave(answered(&program, 120, 40));
    for (name, keys, seen) in STATES {
        let mut session = program.open(120, 40, &[]);
        session.wait_for_text("league is open");
        // A conversation is opened from the lists.
        session.type_keys(F6);
        session.type_keys("G\r");
        session.wait_for_text("tokens read");
        for keys in *keys {
            session.type_keys(keys);
        }
        session.wait_for(name, |screen| seen.iter().any(|text| screen.contains(text)));
        leave(session);
    }
    assert!(turns_stored(&program) >= 1);
}

#[test]
fn the_program_is_left_before_anything_is_there_and_while_an_answer_is_made() {
    let Some(program) = with_domain() else { return };
    let session = program.open(120, 40, &[]);
    session.wait_for("the first frame", |screen| screen.contains("offline"));
    leave(session);
    let small = program.open(30, 6, &[]);
    small.wait_for_text("window too small");
    leave(small);
    for stage in [&["rewriting", "searching", "loading", "reading", "writing"][..], &["reading", "writing"]] {
        let mut session = program.open(120, 40, &[]);
        session.wait_for_text("league is open");
        ask(&mut session, QUESTION);
        session.wait_for("the stage", |screen| stage.iter().any(|text| screen.contains(text)));
        leave(session);
    }
    let outcomes: Vec<serde_json::Value> =
        ["1", "2"].iter().map(|id| program.json(&["history", "show", id])["turns"][0]["outcome"].clone()).collect();
    assert!(outcomes.iter().all(|outcome| *outcome == "canceled" || *outcome == "answered"), "{outcomes:?}");
}

#[test]
fn the_program_is_left_while_documents_are_read() {
    let Some(models) = models() else { return };
    let program = Program::new(models);
    let notes = program.data.path().join("notes");
    std::fs::create_dir(&notes).unwrap();
    let text = "The field team met in the depot and spoke about the modem of the station. ".repeat(40);
    for number in 0..300 {
        std::fs::write(notes.join(format!("{number}.md")), format!("# Note {number}\n\n{text}\n")).unwrap();
    }
    let mut session = program.open(120, 40, &[]);
    session.wait_for_text("There is no domain yet");
    session.type_keys(F8);
    session.wait_for_text("New domain");
    session.type_keys(notes.to_str().unwrap());
    session.type_keys(ENTER);
    session.type_keys(ENTER);
    session.wait_for("documents being read", |screen| screen.contains("reading notes: "));
    leave(session);
    let listed = program.json(&["domain", "list"]);
    assert_eq!(listed["domains"].as_array().unwrap().len(), 1, "{listed}");
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
    // Two sources, typed; the next search mode, stepped to.
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
    // A comparison has bars as well.
    session.wait_for("the attribution", |screen| screen.contains("Result: "));
    for (columns, rows) in [(80, 24), (40, 10), (30, 6), (200, 50), (80, 24), (160, 45)] {
        session.resize(columns, rows);
        // The status line covers the whole width; only a frame of the new size ends at its last column.
        session.wait_for("a frame of the new size", |screen| {
            if columns <= 40 {
                return screen.contains("window too small");
            }
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
    // A click on the right pane, which then has the thick frame.
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
    use rustix::process::Signal;

    let Some(program) = with_domain() else { return };
    for signal in [Signal::TERM, Signal::HUP, Signal::QUIT] {
        let mut session = program.open_alone(120, 40);
        session.wait_for_text("league");
        session.signal(signal);
        let (status, _) = session.wait_for_exit();
        assert!(status.success(), "{signal:?}: {status:?}");
    }
}
