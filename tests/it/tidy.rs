//! Rules beyond the compiler and Cargo: how a file begins and how long it may be, which crates may use threads and the
//! environment, and that the shipped program has no network code.
//!
//! Each rule is a function of a text; tests at the end check the rules.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Modules of std with the only crates that may name them. `Cargo.toml` decides which crates may use which.
const FENCES: &[(&str, &[&str])] = &[
    ("std::env", &["config", "testing"]),
    // `index` has one scoped thread, which reads ahead while the embedder works.
    ("std::thread", &["workers", "llama", "encoder", "index"]),
    ("std::net", &[]),
];

/// Crates whose tests link neither llama.cpp nor candle.
const WITHOUT_ENGINES: &[&str] = &["index", "rag", "history", "config", "eval", "app", "tui"];

/// Functions of `std::thread` that start no thread.
const HARMLESS_OF_THREADS: &[&str] = &["current", "panicking", "available_parallelism"];

/// Most lines of a file without its tests.
const LONGEST_FILE: usize = 600;

/// Network crates, which the default build must not have.
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

/// A word or punctuation of the code, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    text: String,
    line: usize,
}

impl Source<'_> {
    /// The folder of the crate under `src/`; none for the program's `main.rs` and `lib.rs`.
    fn crate_name(&self) -> Option<&str> {
        self.path.split_once('/').map(|(name, _)| name)
    }

    /// Uses of std modules in crates that may not name them: `path:line: what`.
    fn broken_fences(&self) -> Vec<String> {
        // The programs themselves read their arguments.
        if self.path.ends_with("main.rs") {
            return Vec::new();
        }
        let tokens = tokens(&without_tests(&code_only(self.text)));
        let mut broken = Vec::new();
        for (used, line) in std_modules(&tokens) {
            let fence = FENCES.iter().find(|(module, _)| *module == used);
            if let Some((_, allowed)) = fence
                && !self.crate_name().is_some_and(|name| allowed.contains(&name))
            {
                let places = if allowed.is_empty() { "nowhere".to_owned() } else { allowed.join(", ") };
                broken.push(format!("{}:{line}: `{used}` is allowed only in: {places}", self.path));
            }
        }
        broken
    }

    /// Broken rules of the text itself.
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

/// The modules of std that are named, as `std::env`.
fn std_modules(tokens: &[Token]) -> Vec<(String, usize)> {
    let mut paths = Vec::new();
    for at in 0..tokens.len() {
        let inner = at > 0 && is(tokens, at - 1, "::");
        let is_std = is(tokens, at, "std") && is(tokens, at + 1, "::") && !inner;
        let asks_about_threads =
            is(tokens, at + 2, "thread") && HARMLESS_OF_THREADS.iter().any(|name| is(tokens, at + 4, name));
        if is_std && !asks_about_threads {
            paths.extend(first_names(tokens, at + 2).into_iter().map(|(name, line)| (format!("std::{name}"), line)));
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

/// The text without comments and contents of literals, with the same lines.
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

/// The text without the items under `#[cfg(test)]`.
fn without_tests(text: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    // Braces are counted in code without strings and comments.
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

/// [`code_only`] with a blank per byte, so that offsets stay the same.
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
        Some((folder, "mod.rs" | "lib.rs")) => format!("{folder}/"),
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
fn threads_the_environment_and_sockets_are_used_only_where_they_belong() {
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

/// The platform of the tests in cargo's terms.
fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

/// Cargo's metadata of the default build, offline. Crates of other platforms are left out, since a fresh checkout has
/// never fetched them.
fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--format-version", "1", "--filter-platform", &host()])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Names of the packages in the program.
fn in_the_program(metadata: &Value) -> BTreeSet<String> {
    linked_by(metadata, metadata["resolve"]["root"].as_str().unwrap())
}

/// Names of the packages that a package reaches over normal dependencies.
fn linked_by(metadata: &Value, package: &str) -> BTreeSet<String> {
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let mut open = vec![package.to_owned()];
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
fn the_tests_of_most_crates_link_no_engine() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    for name in WITHOUT_ENGINES {
        let package = packages.iter().find(|package| package["name"] == format!("ragonite-{name}")).unwrap();
        let own = package["id"].as_str().unwrap();
        let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
        let node = nodes.iter().find(|node| node["id"] == own).unwrap();
        // Dev dependencies as well.
        let direct = node["deps"].as_array().unwrap().iter().map(|dependency| dependency["pkg"].as_str().unwrap());
        let linked: BTreeSet<String> = direct.flat_map(|package| linked_by(&metadata, package)).collect();
        for engine in ["llama-cpp-2", "candle-core"] {
            assert!(!linked.contains(engine), "the tests of ragonite-{name} link {engine}");
        }
    }
}

#[test]
fn fetching_is_no_default_feature() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    let ours = packages.iter().find(|package| package["id"] == metadata["resolve"]["root"]).unwrap();
    assert!(ours["features"]["hub"].is_array(), "the feature `hub` is gone: correct this test");
    assert_eq!(ours["features"]["default"], serde_json::json!([]));
}

/// Folders of a single machine, which must not occur in a file of the project.
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
    fn a_module_of_std_outside_its_fence_is_reported_in_every_form() {
        for (text, named) in [
            ("let home = std::env::var(\"HOME\");", "std::env"),
            ("use std::{fs, thread::{self, JoinHandle}};", "std::thread"),
            ("use std::net::TcpStream;", "std::net"),
            ("#[cfg(test)]\nmod tests { fn f() { \"}\"; } }\nuse std::env;", "std::env"),
        ] {
            let broken = fences("document/evidence/split.rs", text);
            assert_eq!(broken.len(), 1, "{text}: {broken:?}");
            assert!(broken[0].contains(&format!("`{named}`")), "{broken:?}");
        }
        assert!(fences("base/ids.rs", "//! x\n\nuse std::env;")[0].starts_with("base/ids.rs:3:"));
    }

    #[test]
    fn a_module_of_std_behind_its_fence_is_fine_and_so_is_what_stands_in_comments_strings_and_tests() {
        let text = r##"
            // use std::env;
            /// Read by [`std::env`].
            const A: &str = "std::env::var { ";
            const B: &str = r#"use std::net; "{" "#;
            const C: char = '{';
            fn f<'a>(x: &'a str) -> &'a str { x }
            #[cfg(test)]
            use std::env;
            #[cfg(test)]
            mod tests { fn g() { std::thread::spawn(|| "}"); } }
        "##;
        assert_none(&fences("base/ids.rs", text));
        assert_none(&fences("config/lib.rs", "use std::env;"));
        assert_none(&fences("tui/draw.rs", "let name = std::thread::current();"));
        assert_none(&fences("main.rs", "fn main() { std::env::args(); }"));
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
        let declared = declared_for_tests("index/lib.rs", "#[cfg(test)]\npub(crate) mod fake;\nmod dense;");
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
