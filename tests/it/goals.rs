//! Goals of retrieval on ConfQuestions, with the embedder of `starter` and human completions; skipped without the
//! benchmark.
//!
//! Not here: the metrics (`eval`), runs with a generator.

use crate::eval::{benchmark, figure, program};

#[test]
fn the_right_page_is_found_as_often_as_promised_in_both_languages() {
    let (Some(program), Some(folder)) = (program(), benchmark()) else { return };
    // The number of questions in the benchmark, which may be a part of it.
    let pairs = std::fs::read_to_string(folder.join("qa-pairs.json")).unwrap();
    let pairs: serde_json::Value = serde_json::from_str(&pairs).unwrap();
    let asked: u64 = pairs.as_array().unwrap().iter().map(|one| one["turns"].as_array().unwrap().len() as u64).sum();
    let folder = folder.to_str().unwrap();
    let run = |language: &str| {
        let json = ["eval", "retrieval", "--benchmark", folder, "--translate", "off", "--languages", language];
        program.json(&json)
    };
    for (language, p_at_1, hit_at_5) in [("en", 0.92, 0.98), ("de", 0.86, 0.94)] {
        let json = run(language);
        assert_eq!(json["questions"].as_u64(), Some(asked), "{language}");
        for (path, goal) in [("/page/p_at_1", p_at_1), ("/page/hit_at_5", hit_at_5)] {
            let found = figure(&json, path);
            assert!(found >= goal, "{language}: {path} is {found}, the goal is {goal}");
        }
    }
}
