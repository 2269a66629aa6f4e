//! The fields of the JSON that scripts read. Fields may be added, never renamed: `tests/fixtures/json-fields.txt` lists those
//! that a released program wrote, one a line: the command, and the path with `[]` for the entries of a list.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::program::{Program, models};

const FIELDS: &str = include_str!("../fixtures/json-fields.txt");

/// Adds the path of every field of `value`.
fn add_paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                add_paths(value, &path, found);
                found.insert(path);
            }
        }
        Value::Array(entries) => entries.iter().for_each(|entry| add_paths(entry, &format!("{path}[]"), found)),
        _ => {}
    }
}

#[test]
fn every_field_that_scripts_may_read_is_still_there() {
    let Some(program) = models().map(Program::new) else { return };
    program.ingest_league();
    let question = "Which club won the Harbour League in 2025?";
    let asked = program.json(&["ask", "--domain", "league", "--explain", question]);
    let conversation = asked["conversation"].to_string();
    program.json(&["ask", "--domain", "league", "--conversation", &conversation, "Who coaches it?"]);
    let exported = program.run(&["history", "export", &conversation, "--format", "json", "-o", "turns.json"]);
    assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
    let exported = std::fs::read(program.data.path().join("turns.json")).unwrap();
    let written = [
        ("ask", asked),
        ("search", program.json(&["search", "--domain", "league", question])),
        ("export", serde_json::from_slice(&exported).unwrap()),
    ];
    let mut missing = Vec::new();
    for (command, value) in &written {
        let mut found = BTreeSet::new();
        add_paths(value, "", &mut found);
        let listed = FIELDS.lines().filter_map(|line| line.strip_prefix(command)?.strip_prefix(' '));
        missing.extend(listed.filter(|path| !found.contains(*path)).map(|path| format!("{command} {path}")));
    }
    assert!(missing.is_empty(), "fields that are gone: {missing:#?}");
}
