//! The guide in the terminal and on the screen.

use std::path::PathBuf;
use std::process::Command;

use crossterm::event::{Event as Input, KeyCode, KeyModifiers};
use ragonite::tui::Pane;

use crate::screen::Stage;

fn guide(arguments: &[&str]) -> (i32, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ragonite"));
    let output = command.current_dir(folder.path()).env("HOME", folder.path()).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_command_lists_the_pages_prints_one_and_names_the_nearest() {
    let (code, listed, _) = guide(&["guide"]);
    assert!(code == 0 && listed.contains("  models ") && listed.contains("Reading the explanation"), "{listed}");
    let (code, page, _) = guide(&["guide", "explanation"]);
    assert!(code == 0 && page.starts_with("# Reading the explanation\n"), "{page}");
    assert!(!page.contains("](") && !page.contains("<!--"), "links have no targets in a terminal: {page}");
    let (code, _, error) = guide(&["guide", "setings"]);
    assert!(code == 2 && error.contains("ragonite guide settings"), "{error}");
}

#[test]
fn the_command_works_beside_a_configuration_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let config: PathBuf = folder.path().join("config.toml");
    std::fs::write(&config, "nonsense = ").unwrap();
    let (code, page, error) = guide(&["--config", config.to_str().unwrap(), "guide", "settings"]);
    assert!(code == 0 && page.contains("config.toml"), "{error}");
}

#[test]
fn every_command_is_explained_in_one_line_of_the_help() {
    let (_, help, _) = guide(&["--help"]);
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    for line in commands.lines() {
        assert!(line.starts_with("  ") && !line.starts_with("          "), "more than one line: {line}");
    }
    let (_, pages, _) = guide(&["guide", "commands"]);
    for command in commands.lines().filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        assert!(pages.contains(&format!("ragonite {command}")), "the guide does not name `ragonite {command}`");
    }
}

#[test]
fn behind_the_keys_of_the_help_stand_the_pages_of_the_guide() {
    const SIZE: (u16, u16) = (80, 24);
    let mut stage = Stage::answered().at(Pane::Conversation).key('?');
    let mut seen = |keys: &[KeyCode]| {
        for key in keys {
            stage.frame(SIZE);
            stage.press(*key, KeyModifiers::NONE);
        }
        stage.frame(SIZE).backend().to_string()
    };
    assert!(seen(&[]).contains("┏ Keys "));
    let first = seen(&[KeyCode::Tab]);
    assert!(first.contains("┏ First steps ") && first.contains(" 2 of "), "{first}");
    assert!(seen(&[KeyCode::Right]).contains("┏ The screen "));
    assert!(seen(&[KeyCode::BackTab, KeyCode::BackTab]).contains("┏ Keys "));
    assert!(seen(&[KeyCode::Left]).contains("┏ Changelog "), "it goes round");
    assert!(!seen(&[KeyCode::Esc]).contains("┏ Changelog "));
}

#[test]
fn a_text_that_the_page_does_not_have_is_found_on_the_next_page_that_has_it() {
    let mut stage = Stage::answered().at(Pane::Conversation).key('?');
    stage.press(KeyCode::Tab, KeyModifiers::NONE);
    stage.press(KeyCode::Char('/'), KeyModifiers::NONE);
    stage.input(&Input::Paste("air-gapped".into()));
    stage.press(KeyCode::Enter, KeyModifiers::NONE);
    let seen = stage.frame((100, 30)).backend().to_string();
    assert!(!seen.contains("┏ First steps ") && seen.contains("air-gapped"), "{seen}");
}

#[test]
fn a_page_of_the_guide_is_drawn_as_text_with_headings_and_tables() {
    let mut stage = Stage::answered().at(Pane::Conversation).key('?');
    stage.press(KeyCode::Tab, KeyModifiers::NONE);
    insta::assert_snapshot!("guide_80x24", stage.frame((80, 24)).backend().to_string());
}
