//! Installing a bundle on a machine without anything else.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{Program, models};

#[test]
fn a_machine_without_anything_answers_from_a_bundle() {
    let Some(weights) = models() else { return };
    let here = Program::new(weights.clone());
    here.ingest_league();
    let created = here.json(&["bundle", "create", "--domain", "league", "-o", "b.tar"]);
    assert_eq!(created["domains"][0]["name"], "league");
    assert_eq!(created["models"].as_array().unwrap().len(), 2);
    let bundle = here.data.path().join("b.tar");
    assert_eq!(created["bytes"].as_u64().unwrap(), fs::metadata(&bundle).unwrap().len());

    let empty = tempfile::tempdir().unwrap();
    let there = Program::new(empty.path().join("models"));
    let bundle = bundle.to_str().unwrap();
    let installed = there.json(&["bundle", "install", bundle]);
    assert_eq!(installed["domains"][0], "league");
    assert_eq!(installed["weights"].as_array().unwrap().len(), 4);
    let (question, k) = ("Which club won the Harbour League in 2025?", "3");
    let search = |program: &Program| {
        let found = program.json(&["search", "--domain", "league", "-k", k, question]);
        found["hits"].as_array().unwrap().iter().map(|hit| hit["content"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(search(&there), search(&here));
    let again = there.run(&["bundle", "install", bundle]);
    let said = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(again.status.success() && said.contains("were here already") && said.contains("--replace"), "{said}");

    takes_out_the_program(bundle, empty.path());
    imports(&weights);
}

/// Follows the instructions in the bundle's own file.
fn takes_out_the_program(bundle: &str, folder: &Path) {
    let read_me = tar(&["-xOf", bundle, "ragonite-bundle/README.txt"], folder);
    let line = read_me.lines().find(|line| line.trim().starts_with("tar ")).unwrap().replace("BUNDLE.tar", bundle);
    tar(&line.split_whitespace().skip(1).collect::<Vec<_>>(), folder);
    let version = Command::new(folder.join("ragonite")).arg("--version").output().unwrap();
    assert_eq!(String::from_utf8(version.stdout).unwrap(), format!("ragonite {}\n", env!("CARGO_PKG_VERSION")));
    assert!(tar(&["-xOf", bundle, "ragonite-bundle/LICENSES.txt"], folder).contains("Apache License"));
}

fn tar(arguments: &[&str], folder: &Path) -> String {
    let output = Command::new("tar").args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn imports(weights: &Path) {
    let empty = tempfile::tempdir().unwrap();
    let program = Program::new(empty.path().join("models"));
    let embedder = weights.join("all-MiniLM-L6-v2");
    let imported = program.json(&["models", "import", embedder.to_str().unwrap()]);
    assert_eq!(imported["weights"].as_array().unwrap().len(), 3, "{imported}");
    let verified = program.json(&["models", "verify", "all-MiniLM-L6-v2"]);
    assert_eq!(verified["models"].as_array().unwrap().len(), 1, "{verified}");
    let lacking = program.run(&["models", "verify"]);
    assert_eq!(lacking.status.code(), Some(2));
    let said = String::from_utf8_lossy(&lacking.stderr).into_owned();
    assert!(said.contains("`ragonite models pull smollm2-135m-instruct`"), "{said}");
    let nothing = program.run(&["models", "import", &format!("{}/README.md", env!("CARGO_MANIFEST_DIR"))]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("none of the files are weights of the catalog"));
}

#[test]
fn a_bundle_that_is_none_and_a_domain_that_is_not_there_are_told() {
    let Some(weights) = models() else { return };
    let program = Program::new(weights);
    fs::write(program.data.path().join("notes.tar"), "no archive").unwrap();
    for (arguments, says) in [
        (["bundle", "install", "notes.tar"], "no bundle of ragonite"),
        (["bundle", "install", "missing.tar"], "missing.tar"),
        (["bundle", "create", "--domain=nowhere"], "there is no domain `nowhere`"),
    ] {
        let output = program.run(&arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(1 | 2)) && said.contains(says), "{arguments:?}: {said}");
    }
    assert_eq!(fs::read_dir(program.data.path()).unwrap().count(), 1, "nothing is left of it");
}
