//! The rules of the house that no compiler checks: which room may use which, which crate belongs where, how a
//! file begins, how long it may be, and that the program people run has no network code.
//!
//! Each rule is a function of a text; the tests at the end show that it finds what it is there for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The rooms from the lowest to the highest: a room uses only rooms above it in this list.
const ROOMS: &[&str] = &[
    "base",
    "document",
    "evidence",
    "inference",
    "download",
    "index",
    "bundle",
    "retrieval",
    "prompt",
    "answer",
    "attribution",
    "history",
    "eval",
    "config",
    "cli",
    "launch",
    "app",
    "runtime",
    "tui",
    "run",
];

/// Crates, or modules of std, and the only rooms that may name them.
const FENCES: &[(&[&str], &[&str])] = &[
    (&["candle_core", "candle_nn", "candle_transformers", "tokenizers", "safetensors", "gemm"], &["inference"]),
    (&["llama_cpp_2", "llama_cpp_sys_2"], &["inference"]),
    (&["usearch", "tantivy"], &["index"]),
    (&["rusqlite"], &["index", "history"]),
    (&["pulldown_cmark"], &["document", "tui"]),
    (&["scraper", "calamine", "csv", "quick_xml", "roxmltree", "mail_parser"], &["document"]),
    (&["hayro_syntax", "hayro_font", "hayro_cmap", "encoding_rs", "chardetng"], &["document"]),
    (&["minijinja", "minijinja_contrib"], &["prompt"]),
    (&["ratatui", "crossterm", "tui_textarea"], &["tui", "run"]),
    (&["tokio"], &["runtime", "download", "run"]),
    (&["hf_hub", "ureq", "rustls", "rustls_native_certs"], &["download"]),
    (&["tar"], &["bundle"]),
    (&["std::env"], &["config"]),
    // `index` has one scoped thread, which reads ahead while the embedder works.
    (&["std::thread"], &["runtime", "inference", "index"]),
    (&["std::net"], &[]),
];

/// Questions about the running thread, which start none.
const HARMLESS_OF_THREADS: &[&str] = &["current", "panicking", "available_parallelism"];

/// Longest file, its tests not counted.
const LONGEST_FILE: usize = 600;

/// Crates that speak to a network, none of which the default build may hold.
const NETWORK_CRATES: &[&str] = &[
    "attohttpc",
    "curl",
    "h2",
    "hf-hub",
    "hyper",
    "isahc",
    "minreq",
    "native-tls",
    "openssl",
    "quinn",
    "reqwest",
    "rustls",
    "socket2",
    "surf",
    "tungstenite",
    "ureq",
    "ureq-proto",
    "webpki-roots",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A source file as it is checked.
struct Source<'a> {
    /// Path under `src/`, with `/`.
    path: &'a str,
    text: &'a str,
}

/// A word or a sign of the code, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    text: String,
    line: usize,
}

impl Source<'_> {
    /// The modules from the crate's root to this file: `["index", "dense"]`.
    fn modules(&self) -> Vec<&str> {
        let stem = self.path.strip_suffix(".rs").unwrap_or(self.path);
        stem.split('/').filter(|name| !matches!(*name, "mod" | "lib" | "main")).collect()
    }

    fn room(&self) -> Option<&str> {
        self.modules().first().copied()
    }

    /// Every broken rule of imports: `path:line: what`.
    fn broken_fences(&self) -> Vec<String> {
        let tokens = tokens(&without_tests(&code_only(self.text)));
        let Some(room) = self.room() else { return self.outside_rooms(&tokens) };
        let Some(height) = ROOMS.iter().position(|name| *name == room) else {
            return vec![format!("{}:1: `{room}` is no room; add it to the list in tests/it/tidy.rs", self.path)];
        };
        let mut broken = Vec::new();
        for (used, line) in self.used_rooms(&tokens) {
            match ROOMS.iter().position(|name| *name == used) {
                Some(other) if other > height => {
                    broken.push(format!("{}:{line}: `{room}` may not use `{used}`, which is a later room", self.path));
                }
                _ => {}
            }
        }
        broken.extend(self.broken_crate_fences(&tokens, Some(room)));
        broken
    }

    /// `main.rs` and `lib.rs` may use every room, but no fenced crate, and of std only the environment.
    fn outside_rooms(&self, tokens: &[Token]) -> Vec<String> {
        let broken = self.broken_crate_fences(tokens, None);
        broken.into_iter().filter(|line| !(self.path == "main.rs" && line.contains("`std::env`"))).collect()
    }

    fn broken_crate_fences(&self, tokens: &[Token], room: Option<&str>) -> Vec<String> {
        let mut broken = Vec::new();
        for (used, line) in outside_paths(tokens) {
            let fence = FENCES.iter().find(|(crates, _)| crates.contains(&used.as_str()));
            if let Some((_, allowed)) = fence
                && !room.is_some_and(|room| allowed.contains(&room))
            {
                let places = if allowed.is_empty() { "nowhere".to_owned() } else { allowed.join(", ") };
                broken.push(format!("{}:{line}: `{used}` is allowed only in: {places}", self.path));
            }
        }
        broken
    }

    /// The first names behind `crate::`, and behind as many `super::` as lead to the crate's root.
    fn used_rooms(&self, tokens: &[Token]) -> Vec<(String, usize)> {
        let depth = self.modules().len();
        let mut used = Vec::new();
        for at in 0..tokens.len() {
            if is(tokens, at, "crate") && is(tokens, at + 1, "::") {
                used.extend(first_names(tokens, at + 2));
            }
            if is(tokens, at, "super") && !(at > 0 && is(tokens, at - 1, "::")) {
                let mut next = at;
                let mut climbed = 0;
                while is(tokens, next, "super") && is(tokens, next + 1, "::") {
                    climbed += 1;
                    next += 2;
                }
                if climbed == depth {
                    used.extend(first_names(tokens, next));
                }
            }
        }
        used
    }

    /// Every broken rule about the text itself.
    fn broken_style(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let mut report = |line: usize, what: &str| broken.push(format!("{}:{line}: {what}", self.path));
        if !self.text.starts_with("//!") {
            report(1, "the file does not begin with `//!` and what it is for");
        }
        let counted = without_tests(self.text).lines().filter(|line| !line.is_empty()).count();
        if counted > LONGEST_FILE {
            report(1, &format!("{counted} lines without tests, {LONGEST_FILE} are allowed"));
        }
        let lines: Vec<&str> = self.text.lines().map(str::trim).collect();
        for (index, line) in lines.iter().enumerate() {
            for word in [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("db", "g!("), concat!("#[ig", "nore")] {
                if line.contains(word) {
                    report(index + 1, &format!("`{word}` is left over"));
                }
            }
            if line.contains(concat!("#[al", "low(")) || line.contains(concat!("#![al", "low(")) {
                report(index + 1, "use `#[expect(…, reason = \"…\")]`");
            }
            let is_doc = |at: Option<usize>| at.and_then(|at| lines.get(at)).is_some_and(|l| l.starts_with("/// "));
            if *line == "///" && !(is_doc(index.checked_sub(1)) && is_doc(Some(index + 1))) {
                report(index + 1, "an empty `///` says nothing");
            }
        }
        broken
    }
}

fn is(tokens: &[Token], at: usize, text: &str) -> bool {
    tokens.get(at).is_some_and(|token| token.text == text)
}

fn is_word(token: &Token) -> bool {
    token.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The first name of each path of a use tree that begins at `at`: `a::b` gives `a`, `{a::b, c::{d, e}}` gives `a`
/// and `c`.
fn first_names(tokens: &[Token], at: usize) -> Vec<(String, usize)> {
    let named = |token: &Token| (token.text.clone(), token.line);
    if !is(tokens, at, "{") {
        return tokens.get(at).filter(|token| is_word(token)).map(named).into_iter().collect();
    }
    let mut names = Vec::new();
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        let begins = is(tokens, index - 1, "{") || is(tokens, index - 1, ",");
        if depth == 1 && begins && is_word(token) {
            names.push(named(token));
        }
    }
    names
}

/// Crates that are named, as `tokio`; modules of std as `std::env`.
fn outside_paths(tokens: &[Token]) -> Vec<(String, usize)> {
    let mut paths = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let inner = at > 0 && is(tokens, at - 1, "::") && at > 1 && is_word(&tokens[at - 2]);
        let after_use = at > 0 && (is(tokens, at - 1, "use") || is(tokens, at - 1, "crate"));
        let is_path = is(tokens, at + 1, "::") || (after_use && !is(tokens, at - 1, "::"));
        if inner || !is_word(token) || !is_path {
            continue;
        }
        let asks_about_threads =
            is(tokens, at + 2, "thread") && HARMLESS_OF_THREADS.iter().any(|name| is(tokens, at + 4, name));
        if token.text == "std" && asks_about_threads {
            continue;
        }
        if token.text == "std" {
            paths.extend(first_names(tokens, at + 2).into_iter().map(|(name, line)| (format!("std::{name}"), line)));
        } else {
            paths.push((token.text.clone(), token.line));
        }
    }
    paths
}

fn tokens(code: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if first.is_alphanumeric() || first == '_' {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            tokens.push(Token { text: rest[..length].to_owned(), line: number + 1 });
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

/// The text with comments and the insides of literals blanked out; lines stay where they are.
fn code_only(text: &str) -> String {
    let literal = regex::Regex::new(concat!(
        r"(?s)//[^\n]*",
        r#"|b?r"[^"]*""#,
        r##"|b?r#".*?"#"##,
        r#"|b?"(?:\\.|[^"\\])*""#,
        r"|b?'(?:\\[^\n']+|\\'|[^'\\\n])'",
        r"|/\*.*?\*/"
    ))
    .unwrap();
    let blank = |found: &regex::Captures<'_>| found[0].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
    literal.replace_all(text, |found: &regex::Captures<'_>| -> String { blank(found) }).into_owned()
}

/// The text with every item under `#[cfg(test)]` blanked out.
fn without_tests(text: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    // Braces are counted in the code, where no string or comment can hold one.
    let code = if text.contains("//") { blanked_same_length(text) } else { text.to_owned() };
    let mut kept: Vec<u8> = text.bytes().collect();
    let mut from = 0;
    while let Some(found) = code[from..].find(MARK) {
        let start = from + found;
        let mut depth = 0;
        let mut end = code.len();
        for (offset, byte) in code.bytes().enumerate().skip(start + MARK.len()) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            if depth == 0 && matches!(byte, b'}' | b';') {
                end = offset + 1;
                break;
            }
        }
        kept[start..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        from = end;
    }
    let text = String::from_utf8(kept).unwrap();
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// [`code_only`] with one blank for each byte, so that offsets are those of the text.
fn blanked_same_length(text: &str) -> String {
    let ascii: String =
        text.chars().map(|c| if c.is_ascii() { c.to_string() } else { "x".repeat(c.len_utf8()) }).collect();
    code_only(&ascii)
}

/// Names of the files that exist only for tests: `tests.rs`, and those declared under `#[cfg(test)]`.
fn is_test_file(path: &str, declared: &BTreeSet<String>) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/") || declared.contains(path)
}

/// Files under `src/` that `text` declares for tests only.
fn declared_for_tests(path: &str, text: &str) -> Vec<String> {
    let code = code_only(text);
    let declaration = regex::Regex::new(r"#\[cfg\(test\)\]\s*(?:pub(?:\([a-z ]+\))?\s+)?mod\s+(\w+)\s*;").unwrap();
    let folder = match path.rsplit_once('/') {
        Some((folder, "mod.rs")) => format!("{folder}/"),
        Some(_) => format!("{}/", path.trim_end_matches(".rs")),
        None => String::new(),
    };
    let names = declaration.captures_iter(&code).map(|found| found[1].to_owned());
    names.flat_map(|name| [format!("{folder}{name}.rs"), format!("{folder}{name}/mod.rs")]).collect()
}

/// Every file of `folder`, as path under it with `/`, and its text.
fn rust_files(folder: &Path) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.path().extension().is_some_and(|ending| ending == "rs"))
        .map(|entry| {
            let path = entry.path().strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
            (path, std::fs::read_to_string(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no Rust file under {}", folder.display());
    files
}

#[track_caller]
fn assert_none(broken: &[String]) {
    assert!(broken.is_empty(), "{} broken rule(s):\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn every_room_uses_only_rooms_above_it_and_crates_stay_behind_their_fences() {
    let files = rust_files(&root().join("src"));
    let declared = files.iter().flat_map(|(path, text)| declared_for_tests(path, text)).collect();
    let program = files.iter().filter(|(path, _)| !is_test_file(path, &declared));
    let broken: Vec<String> = program.flat_map(|(path, text)| Source { path, text }.broken_fences()).collect();
    assert_none(&broken);
}

#[test]
fn every_file_says_what_it_is_for_and_leaves_nothing_over() {
    let mut broken = Vec::new();
    for folder in ["src", "tests"] {
        for (path, text) in rust_files(&root().join(folder)) {
            let test_only = folder == "tests" || path.ends_with("tests.rs") || path.contains("/tests/");
            let found = Source { path: &path, text: &text }.broken_style();
            broken.extend(found.into_iter().filter(|line| !(test_only && line.contains("lines without tests"))));
        }
    }
    assert_none(&broken);
}

#[test]
fn the_rooms_of_the_crate_are_the_folders_of_src() {
    let lib = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let declared: BTreeSet<&str> =
        lib.lines().filter_map(|line| line.trim().strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    let entries = std::fs::read_dir(root().join("src")).unwrap().map(|entry| entry.unwrap().path());
    let present: BTreeSet<String> = entries
        .map(|path: PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| name != "lib" && name != "main")
        .collect();
    assert_eq!(declared, present.iter().map(String::as_str).collect());
    for room in &declared {
        assert!(ROOMS.contains(room), "`{room}` has no place in the order of the rooms");
    }
}

/// The platform the tests run on, as cargo names it.
fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

/// What cargo knows of the default build, without asking the network. Crates of other platforms are left out: a fresh
/// checkout has never fetched them.
fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--format-version", "1", "--filter-platform", &host()])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Names of the packages that end up in the program, found from the root over normal dependencies.
fn in_the_program(metadata: &Value) -> BTreeSet<String> {
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let mut open = vec![metadata["resolve"]["root"].as_str().unwrap().to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        let node = nodes.iter().find(|node| node["id"] == id.as_str()).unwrap();
        for dependency in node["deps"].as_array().unwrap() {
            if dependency["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"].is_null()) {
                open.push(dependency["pkg"].as_str().unwrap().to_owned());
            }
        }
    }
    let packages = metadata["packages"].as_array().unwrap().iter();
    let ours = packages.filter(|package| seen.contains(package["id"].as_str().unwrap()));
    ours.map(|package| package["name"].as_str().unwrap().to_owned()).collect()
}

fn network_crates(names: &BTreeSet<String>) -> Vec<&str> {
    NETWORK_CRATES.iter().copied().filter(|name| names.contains(*name)).collect()
}

#[test]
fn the_program_people_run_has_no_network_crate() {
    let metadata = metadata();
    let names = in_the_program(&metadata);
    assert!(names.contains("tantivy"), "the walk over the dependencies found nothing: {names:?}");
    assert_eq!(network_crates(&names), Vec::<&str>::new());
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let tokio = nodes.iter().find(|node| node["id"].as_str().unwrap().contains("#tokio@")).unwrap();
    assert!(!tokio["features"].as_array().unwrap().iter().any(|feature| feature == "net"), "tokio has sockets");
}

#[test]
fn fetching_is_no_default_feature() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    let ours = packages.iter().find(|package| package["id"] == metadata["resolve"]["root"]).unwrap();
    assert!(ours["features"]["hub"].is_array(), "the feature `hub` is gone: correct this test");
    assert_eq!(ours["features"]["default"], serde_json::json!([]));
}

/// Folders of one machine that have no place in a file of the project.
const MACHINE_FOLDERS: &[&str] = &[concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/")];

fn machine_paths(path: &str, text: &str) -> Vec<String> {
    let starts_path =
        |before: Option<char>| before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '-' | '_' | '}'));
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for folder in MACHINE_FOLDERS {
            if line.match_indices(folder).any(|(at, _)| starts_path(line[..at].chars().next_back())) {
                found.push(format!("{path}:{}: `{folder}` is a folder of one machine", number + 1));
            }
        }
    }
    found
}

#[test]
fn no_tracked_file_holds_a_path_of_one_machine() {
    let Ok(listed) = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output() else {
        println!("skipped: git is not installed, so the tracked files are not known");
        return;
    };
    if !listed.status.success() {
        println!("skipped: this is no git checkout, so the tracked files are not known");
        return;
    }
    let names = String::from_utf8(listed.stdout).unwrap();
    let mut broken = Vec::new();
    for name in names.split('\0').filter(|name| !name.is_empty()) {
        // Deleted but not committed, or no text.
        if let Ok(text) = std::fs::read_to_string(root().join(name)) {
            broken.extend(machine_paths(name, &text));
        }
    }
    assert_none(&broken);
}

mod of_the_checks_themselves {
    use super::*;

    fn fences(path: &str, text: &str) -> Vec<String> {
        Source { path, text }.broken_fences()
    }

    #[test]
    fn an_import_of_a_later_room_is_reported_in_every_form() {
        for text in [
            "use crate::index::Index;",
            "use crate::{base::Millis, index::{Index, Dense}};",
            "use crate::{\n    base::{Millis, Language},\n    index,\n};",
            "pub(crate) use crate::index;",
            "fn f(x: &crate::index::Index) {}",
            "use super::super::index::Index;",
        ] {
            let broken = fences("evidence/split.rs", text);
            assert_eq!(broken.len(), 1, "{text}: {broken:?}");
            assert!(broken[0].contains("`evidence` may not use `index`"), "{broken:?}");
        }
    }

    #[test]
    fn the_line_of_the_import_is_named() {
        assert!(fences("base/ids.rs", "//! x\n\nuse crate::run::Run;")[0].starts_with("base/ids.rs:3:"));
    }

    #[test]
    fn an_import_of_an_earlier_room_is_fine() {
        let text = "use crate::{base::Millis, document};\nuse super::context::Context;\nuse super::super::base;";
        assert_eq!(fences("evidence/split.rs", text), Vec::<String>::new());
        assert_eq!(fences("evidence/mod.rs", "use super::base::Millis; use crate::evidence::x;"), Vec::<String>::new());
    }

    #[test]
    fn what_stands_in_comments_strings_and_tests_is_no_import() {
        let text = r##"
            // use crate::run::Run;
            /// Read by [`crate::run`].
            const A: &str = "crate::run::Run { ";
            const B: &str = r#"use tokio::spawn; "{" "#;
            const C: char = '{';
            fn f<'a>(x: &'a str) -> &'a str { x }
            #[cfg(test)]
            use crate::tui::Screen;
            #[cfg(test)]
            mod tests { use crate::run::Run; fn g() { std::thread::spawn(|| "}"); } }
        "##;
        assert_eq!(fences("base/ids.rs", text), Vec::<String>::new());
    }

    #[test]
    fn code_behind_a_tests_module_is_still_checked() {
        let text = "#[cfg(test)]\nmod tests { fn f() { \"}\"; } }\nuse crate::run::Run;";
        assert_eq!(fences("base/ids.rs", text).len(), 1);
    }

    #[test]
    fn a_crate_outside_its_fence_is_reported() {
        for (text, named) in [
            ("use tokio::sync::mpsc;", "tokio"),
            ("use tokio;", "tokio"),
            ("use rusqlite as sql;", "rusqlite"),
            ("use {serde::Serialize, candle_core::Tensor};", "candle_core"),
            ("fn f() { ::ureq::get(\"x\"); }", "ureq"),
            ("fn f() -> minijinja::Value { x }", "minijinja"),
            ("let home = std::env::var(\"HOME\");", "std::env"),
            ("use std::{fs, thread::{self, JoinHandle}};", "std::thread"),
            ("use std::net::TcpStream;", "std::net"),
        ] {
            let broken = fences("evidence/split.rs", text);
            assert_eq!(broken.len(), 1, "{text}: {broken:?}");
            assert!(broken[0].contains(&format!("`{named}`")), "{broken:?}");
        }
    }

    #[test]
    fn a_crate_behind_its_fence_is_fine() {
        assert_eq!(fences("inference/embedder.rs", "use candle_core::Tensor; use std::thread;"), Vec::<String>::new());
        assert_eq!(fences("tui/draw.rs", "use ratatui::Frame;"), Vec::<String>::new());
        assert_eq!(fences("tui/draw.rs", "let name = std::thread::current();"), Vec::<String>::new());
        assert_eq!(fences("config/mod.rs", "use std::env;"), Vec::<String>::new());
        assert_eq!(fences("main.rs", "fn main() { std::env::args(); ragonite::run::run(); }"), Vec::<String>::new());
        assert_eq!(fences("base/ids.rs", "let v = env!(\"X\"); self.tokio.x(); a.std::b();").len(), 0);
    }

    #[test]
    fn an_unknown_room_and_a_crate_in_main_are_reported() {
        assert_eq!(fences("utils/x.rs", "").len(), 1);
        assert_eq!(fences("main.rs", "use tokio::main;").len(), 1);
    }

    #[test]
    fn each_rule_of_style_finds_its_breach() {
        let begin = "//! x\n";
        let long = begin.to_owned() + &"let x = 1;\n".repeat(LONGEST_FILE);
        for text in [
            "use x;".to_owned(),
            long,
            format!("{begin}// {} later", concat!("TO", "DO")),
            format!("{begin}{}x);", concat!("db", "g!(")),
            format!("{begin}{}dead_code)]", concat!("#[al", "low(")),
            format!("{begin}{}]", concat!("#[ig", "nore")),
            format!("{begin}///\nfn f() {{}}"),
        ] {
            assert_eq!(Source { path: "base/x.rs", text: &text }.broken_style().len(), 1, "{text:.60}");
        }
    }

    #[test]
    fn tests_do_not_count_as_length_and_paragraphs_of_docs_are_fine() {
        let tests = "    assert!(true);\n".repeat(LONGEST_FILE);
        let text = format!("//! x\n/// One.\n///\n/// Two.\nfn f() {{}}\n#[cfg(test)]\nmod tests {{\n{tests}}}\n");
        assert_none(&Source { path: "base/x.rs", text: &text }.broken_style());
    }

    #[test]
    fn a_module_declared_for_tests_is_a_test_file() {
        let declared = declared_for_tests("index/mod.rs", "#[cfg(test)]\npub(crate) mod fake;\nmod dense;");
        assert_eq!(declared, ["index/fake.rs", "index/fake/mod.rs"]);
        let declared = declared.into_iter().collect();
        assert!(is_test_file("index/fake.rs", &declared) && is_test_file("index/tests.rs", &declared));
        assert!(!is_test_file("index/dense.rs", &declared));
    }

    #[test]
    fn a_network_crate_is_found_over_normal_dependencies_only() {
        let metadata = serde_json::json!({
            "packages": [{"id": "a", "name": "ours"}, {"id": "b", "name": "ureq"}, {"id": "c", "name": "hyper"}],
            "resolve": {"root": "a", "nodes": [
                {"id": "a", "deps": [
                    {"pkg": "b", "dep_kinds": [{"kind": null}]}, {"pkg": "c", "dep_kinds": [{"kind": "dev"}]},
                ]},
                {"id": "b", "deps": []}, {"id": "c", "deps": []},
            ]},
        });
        assert_eq!(network_crates(&in_the_program(&metadata)), ["ureq"]);
    }

    #[test]
    fn a_path_of_one_machine_is_reported_and_a_part_of_an_address_is_not() {
        let [first, second, third] = MACHINE_FOLDERS else { panic!("{MACHINE_FOLDERS:?}") };
        assert_eq!(machine_paths("x", &format!("cd {first}x\n\"{second}y\"\n({third}z)")).len(), 3);
        assert_none(&machine_paths("x", &format!("https://host{third}page a/b{second}c $X{first}")));
    }
}
