//! `ragonite eval` as a script sees it: on the demo's questions, and on ConfQuestions where it is at hand.

use std::path::{Path, PathBuf};

use ragonite::base::ConversationId;
use ragonite::eval::write_check;
use ragonite::history::History;
use serde_json::Value;

use crate::program::{Program, models};

fn program() -> Option<Program> {
    models().map(Program::new)
}

fn demo() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo")
}

/// The benchmark's folder, where it is at hand.
#[expect(clippy::disallowed_methods, reason = "the test says where the benchmark is")]
fn benchmark() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/confquestions");
    let folder = std::env::var_os("RAGONITE_CONFQUESTIONS").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no benchmark at `{}`", folder.display());
    None
}

fn figure(json: &Value, path: &str) -> f64 {
    json.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path} in {json}"))
}

#[test]
fn the_demo_questions_find_their_pages_and_give_json_by_the_contract() {
    let Some(program) = program() else { return };
    let arguments = ["eval", "retrieval", "--benchmark", demo(), "--details"];
    let json = program.json(&arguments);
    assert_eq!((json["what"].as_str(), json["questions"].as_u64()), (Some("retrieval"), Some(20)));
    assert!(figure(&json, "/page/p_at_1") >= 0.8, "{}", json["page"]);
    assert!(figure(&json, "/page/hit_at_10") >= 0.95, "{}", json["page"]);
    assert_eq!(json["without_gold"], 0);
    for path in [
        "/page/hit_at_5",
        "/page/mrr",
        "/content/p_at_1",
        "/url/p_at_1",
        "/precision_at_10",
        "/by/source/row/page/p_at_1",
        "/by/type/simple/page/p_at_1",
        "/by/language/en/page/p_at_1",
        "/by/turn/4/page/p_at_1",
        "/seconds",
    ] {
        figure(&json, path);
    }
    assert_eq!(json["settings"]["completion"], "human");
    assert_eq!(json["results"].as_array().unwrap().len(), 20);
    let domains = program.json(&["domain", "list"]);
    assert_eq!(domains["domains"].as_array().unwrap().len(), 0, "a benchmark's domain is none of the user's");
    let again = program.json(&["eval", "retrieval", "--benchmark", demo(), "--completion", "none", "--limit", "5"]);
    assert!(again.get("results").is_none());
    assert!(figure(&again, "/page/mrr") <= 1.0);
    let ablated = program.json(&["eval", "retrieval", "--benchmark", demo(), "--ablate", "mode"]);
    assert_eq!((ablated["ablation"].as_str(), ablated["default"].as_str()), (Some("mode"), Some("hybrid")));
    assert_eq!(ablated["runs"].as_array().unwrap().len(), 3);
    assert!(figure(&ablated, "/runs/0/significance/mcnemar/p") <= 1.0);
    let interval = ablated["runs"][2]["measured"]["intervals"]["page"]["p_at_1"].as_array().unwrap().clone();
    assert!(interval[0].as_f64() <= ablated["runs"][2]["page"]["p_at_1"].as_f64() && interval.len() == 2);
    let text = program.run(&arguments);
    let notes = String::from_utf8_lossy(&text.stderr).into_owned();
    assert!(notes.contains("20 of 20 questions were taken from the cache"), "{notes}");
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("| all ") && !text.contains("paper"), "the paper asked other questions: {text}");
}

#[test]
fn answers_and_attribution_are_scored_and_a_second_run_goes_on() {
    let Some(program) = program() else { return };
    let report = program.data.path().join("report.md");
    let path = report.to_str().unwrap();
    let answers = ["eval", "answers", "--benchmark", demo(), "--limit", "2", "--mode", "lexical"];
    let judged = [&answers[..], &["--details", "--report", path]].concat();
    let json = program.json(&judged);
    assert_eq!((json["what"].as_str(), json["questions"].as_u64()), (Some("answers"), Some(2)));
    for path in ["/oos_rate", "/expected_oos_rate", "/token_f1", "/not_judged_rate", "/by/turn/1/gold_recall"] {
        figure(&json, path);
    }
    assert!(json["answer_relevance"].is_null() || figure(&json, "/answer_relevance") <= 1.0);
    assert!(json["results"][0]["answer"].is_string() && json["results"][0]["judgement"].is_object());
    let text = std::fs::read_to_string(&report).unwrap();
    for part in ["# ragonite eval answers", "--limit 2", "smollm2", "| all ", "## Intervals"] {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
    let again = program.run(&judged);
    let notes = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(again.status.success() && notes.contains("2 of 2 questions were taken from the cache"), "{notes}");
    let attribution = ["eval", "attribution", "--benchmark", demo(), "--limit", "2", "--mode", "lexical"];
    let json = program.json(&[&attribution[..], &["--methods", "similarity", "--details"]].concat());
    assert_eq!((json["what"].as_str(), json["questions"].as_u64()), (Some("attribution"), Some(2)));
    figure(&json, "/gold_retrieved_rate");
    assert!(json["attribution_accuracy"]["counterfactual"].is_null(), "it was not asked for");
}

#[test]
fn conversations_run_as_on_the_screen_and_a_second_run_goes_on() {
    let Some(program) = program() else { return };
    let run =
        ["eval", "retrieval", "--benchmark", demo(), "--completion", "model", "--limit", "4", "--languages", "en"];
    let detailed = [&run[..], &["--details"]].concat();
    let json = program.json(&detailed);
    assert_eq!((json["questions"].as_u64(), &json["settings"]["completion"]), (Some(4), &Value::from("model")));
    assert!(json["settings"]["generator"].is_string());
    let results = json["results"].as_array().unwrap();
    assert_eq!(results[0]["completed"], "first");
    assert!(results[1..].iter().all(|one| one["completed"].is_string() && one["completed"] != "first"));
    for path in ["/by/turn/4/page/p_at_1", "/by/shift/stays/page/p_at_1"] {
        figure(&json, path);
    }
    let again = program.run(&detailed);
    let notes = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(again.status.success() && notes.contains("4 of 4 questions were taken from the cache"), "{notes}");
    // What was said while searching is not said again while answering.
    let answers =
        ["eval", "answers", "--benchmark", demo(), "--completion", "model", "--limit", "4", "--languages", "en"];
    let json = program.json(&[&answers[..], &["--judge", "none", "--details"]].concat());
    let queries = |json: &Value| {
        json["results"].as_array().unwrap().iter().map(|one| one["query"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(json["questions"], 4);
    let conversation = json["results"][0]["conversation"].clone();
    assert!(json["results"].as_array().unwrap().iter().all(|one| one["conversation"] == conversation));
    if conversation == results[0]["conversation"] {
        let searched: Vec<String> = results.iter().map(|one| one["query"].to_string()).collect();
        assert_eq!(queries(&json), searched);
    }
}

#[test]
fn an_existing_domain_is_scored_as_it_is() {
    let Some(program) = program() else { return };
    let folder = format!("{}/league", demo());
    program.json(&["ingest", "--domain", "demo-league", &folder]);
    let scored = ["eval", "retrieval", "--benchmark", demo(), "--domain", "demo-league", "--mode", "lexical"];
    let json = program.json(&scored);
    let questions = json["questions"].as_u64().unwrap();
    assert!(questions > 0 && questions < 20, "only the questions to this domain: {questions}");
    assert_eq!((json["without_gold"].as_u64(), &json["settings"]["domain"]), (Some(0), &Value::from("demo-league")));
}

#[test]
fn wrong_use_of_eval_ends_with_two() {
    let Some(program) = program() else { return };
    let empty = tempfile::tempdir().unwrap();
    let empty = empty.path().to_str().unwrap();
    let cases = [
        (vec!["eval", "retrieval", "--benchmark", empty], "qa-pairs.json"),
        (vec!["eval", "retrieval", "--benchmark", demo(), "--linearizer", "sung"], "verbalized"),
        (vec!["eval", "retrieval", "--benchmark", demo(), "--languages", "fr"], "en or de"),
        (vec!["eval", "retrieval", "--benchmark", demo(), "--domain", "x", "--ablate", "context"], "--domain"),
        (vec!["eval", "retrieval", "--benchmark", demo(), "--domain", "x"], "--domain"),
        (vec!["eval", "retrieval", "--benchmark", demo(), "--ablate", "song"], "linearizer"),
        (vec!["eval", "retrieval", "--benchmark", demo(), "--ablate", "rerank"], "reranker"),
        (vec!["eval", "answers", "--benchmark", demo(), "--limit", "1", "--judge", "all-MiniLM-L6-v2"], "no text"),
        (vec!["eval", "retrieval", "--benchmark", demo(), "--completion", "gpt"], "model"),
        (vec!["eval", "attribution", "--benchmark", demo(), "--methods", "guessing"], "guessing"),
    ];
    for (arguments, named) in cases {
        let output = program.run(&arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(named), "`{named}` is not named in: {errors}");
    }
}

#[test]
fn without_a_generator_questions_are_searched_and_not_completed() {
    let Some(weights) = models() else { return };
    let embedder = tempfile::tempdir().unwrap();
    let name = "all-MiniLM-L6-v2";
    std::os::unix::fs::symlink(weights.join(name), embedder.path().join(name)).unwrap();
    let program = Program::new(embedder.path().to_owned());
    let searched = ["eval", "retrieval", "--benchmark", demo(), "--mode", "lexical"];
    let output = program.run(&searched);
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && notes.contains("not translated"), "{notes}");
    for more in [["--completion", "model"], ["--ablate", "completion"], ["--translate", "auto"]] {
        let output = program.run(&[&searched[..], &more].concat());
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{more:?}: {errors}");
        assert!(errors.to_lowercase().contains("smollm2"), "the missing model is not named in: {errors}");
    }
}

#[test]
fn questions_whose_gold_pages_are_not_in_the_domain_are_counted() {
    let (Some(program), Some(folder)) = (program(), benchmark()) else { return };
    let pages = program.data.path().join("pages");
    std::fs::create_dir(&pages).unwrap();
    std::fs::write(pages.join("one.md"), "# One page\n\nIt has nothing to do with the questions.\n").unwrap();
    program.json(&["ingest", "--domain", "other", pages.to_str().unwrap()]);
    let folder = folder.to_str().unwrap();
    let json = program.json(&[
        "eval",
        "retrieval",
        "--benchmark",
        folder,
        "--domain",
        "other",
        "--mode",
        "lexical",
        "--limit",
        "10",
    ]);
    assert_eq!((json["questions"].as_u64(), json["without_gold"].as_u64()), (Some(20), Some(20)));
    assert!(figure(&json, "/page/hit_at_10").abs() < 1e-12);
}

#[test]
fn a_turn_that_was_rated_up_becomes_a_question_that_is_asked() {
    let Some(program) = program() else { return };
    program.ingest_league();
    let asked = program.json(&["ask", "--domain", "league", "Which club won the Harbour League in the season 2025?"]);
    let id = asked["conversation"].to_string();
    let (turn, file) = (format!("{id}.1"), program.data.path().join("mine.toml"));
    let check = ["history", "check", &turn, "--file", file.to_str().unwrap()];
    let refused = program.run(&check);
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && told.contains("not rated up") && !file.exists(), "{told}");
    program.json(&["history", "rate", &id, "1", "up"]);
    let cited = asked["citations"][0].as_u64();
    if let Some(cited) = cited {
        let written = program.json(&check);
        let hit = asked["hits"].as_array().unwrap().iter().find(|hit| hit["rank"] == cited).unwrap();
        assert_eq!((&written["questions"], &written["page"]), (&1.into(), &hit["url"]));
        assert_eq!(program.run(&check).status.code(), Some(2), "it stands there already");
    } else {
        let told = program.run(&check);
        assert!(String::from_utf8_lossy(&told.stderr).contains("cites no source"));
        // A model as small as this one does not always cite; what it would have written is asked all the same.
        let history = History::open(&program.data.path().join("history.db")).unwrap();
        let id = ConversationId(asked["conversation"].as_i64().unwrap());
        let mut turn = history.turns(id).unwrap().remove(0);
        turn.trace.answer.as_mut().unwrap().citations = vec![1];
        write_check(&file, &"league".parse().unwrap(), id, &turn).unwrap();
    }
    let folder = program.data.path().to_str().unwrap();
    let file = file.to_str().unwrap();
    let scored = program.json(&["eval", "retrieval", "--benchmark", folder, "--domain", "league", "--questions", file]);
    assert_eq!((&scored["questions"], &scored["without_gold"]), (&1.into(), &0.into()), "{scored}");
    assert!(figure(&scored, "/page/hit_at_10") > 0.99, "{scored}");
}
