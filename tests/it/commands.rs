//! The commands for scripts: JSON by the contract, exit codes, and clear errors.

use std::fs;

use crate::program::{Program, models};

fn program() -> Option<Program> {
    models().map(Program::new)
}

#[test]
fn a_question_gives_json_by_the_contract() {
    let Some(program) = program() else { return };
    let ingested = program.ingest_league();
    assert_eq!(ingested["documents"], 8);
    assert_eq!(ingested["skipped"].as_array().unwrap().len(), 0);
    for kind in ["passage", "list", "table", "row"] {
        assert!(ingested["evidences"][kind].as_u64().unwrap() > 0, "no {kind}: {ingested}");
    }
    let asked = program.json(&["ask", "--domain", "league", "--explain", "Which club won the Harbour League in 2025?"]);
    let hits = asked["hits"].as_array().unwrap();
    assert!(!hits.is_empty());
    assert!(asked["conversation"].is_i64());
    assert_eq!(asked["question"], asked["completed_question"]);
    let mut ranks: Vec<u64> = hits.iter().map(|hit| hit["rank"].as_u64().unwrap()).collect();
    let clusters = asked["attribution"]["clusters"].as_array().unwrap();
    let mut covered: Vec<u64> =
        clusters.iter().flat_map(|c| c["hits"].as_array().unwrap()).map(|rank| rank.as_u64().unwrap()).collect();
    ranks.sort_unstable();
    covered.sort_unstable();
    assert_eq!(covered, ranks, "every hit of the prompt is in exactly one cluster");
    let shares: f64 = clusters.iter().filter_map(|cluster| cluster["share"].as_f64()).sum();
    let decisive = asked["attribution"]["decisive"].as_bool().unwrap();
    assert!(!decisive || (shares - 1.0).abs() < 0.001, "the shares sum to {shares}");
    for key in ["rewrite", "retrieve", "first_token", "answer", "explain", "total"] {
        assert!(asked["timings_ms"][key].is_number(), "no timing `{key}`");
    }
    follow_up(&program, &asked);
    what_a_sentence_rests_on(&program, &asked);
}

#[test]
fn in_too_little_address_space_a_question_ends_with_the_limit_to_raise() {
    let Some(program) = program() else { return };
    program.ingest_league();
    let mut told = 0;
    for kibibytes in [300_000, 400_000, 500_000, 550_000, 600_000, 650_000, 700_000, 800_000, 1_000_000] {
        let asked = program.run_within(kibibytes, &["ask", "--domain", "league", "Who won?"]);
        let said = String::from_utf8_lossy(&asked.stderr).into_owned();
        assert!(matches!(asked.status.code(), Some(0 | 1)), "{kibibytes} KiB: {}: {said}", asked.status);
        told += u32::from(said.contains("ulimit -v unlimited") && said.contains("address space"));
    }
    assert!(told > 0);
}

fn what_a_sentence_rests_on(program: &Program, first: &serde_json::Value) {
    let id = first["conversation"].to_string();
    let turn = format!("{id}.1");
    let stored = program.json(&["explain", &turn, "--sentence", "1"]);
    assert_eq!(stored["attribution"]["clusters"], first["attribution"]["clusters"], "nothing is explained again");
    assert_eq!((&stored["turn"], &stored["sentence"]["number"]), (&1.into(), &1.into()));
    assert_eq!(stored["sentence"]["clusters"][0]["how"], "logprob");
    let is_known = |cluster: &serde_json::Value| cluster["drops_how"] == "logprob";
    let all_known = first["attribution"]["clusters"].as_array().unwrap().iter().all(is_known);
    let tokens = program.run(&["explain", &turn, "--tokens"]);
    let ends = if all_known { 0 } else { 2 };
    assert_eq!(
        tokens.status.code(),
        Some(ends),
        "what is not known of an exact explanation does not replace it unasked"
    );
    let kept = program.json(&["explain", &turn]);
    assert_eq!(kept["attribution"]["clusters"], first["attribution"]["clusters"]);

    let explained = program.json(&["explain", &turn, "--method", "jsd", "--tokens"]);
    let attribution = &explained["attribution"];
    let tokens = attribution["tokens"].as_array().unwrap();
    assert_eq!(tokens.len() as u64, first["tokens"]["generated"].as_u64().unwrap());
    for cluster in attribution["clusters"].as_array().unwrap() {
        assert_eq!(cluster["how"], "jsd");
        assert_eq!(cluster["drops"].as_array().unwrap().len(), tokens.len());
        assert_eq!(cluster["divergences"].as_array().unwrap().len(), tokens.len().min(64));
        let total: f64 = cluster["drops"].as_array().unwrap().iter().filter_map(serde_json::Value::as_f64).sum();
        assert!((cluster["drop"].as_f64().unwrap() - total).abs() < 1e-3);
    }
    let sentences = attribution["sentences"].as_array().unwrap();
    let of_sentences: u64 = sentences.iter().map(|sentence| sentence["tokens"].as_u64().unwrap()).sum();
    assert_eq!(of_sentences, tokens.len() as u64);
    assert_eq!(sentences[0]["clusters"][0]["how"], "logprob");
    let kept = program.json(&["history", "show", &id]);
    assert_eq!(kept["turns"][0]["trace"]["attribution"]["method"], "jsd");

    program.json(&["explain", &turn, "--method", "similarity"]);
    let tokens = program.run(&["explain", &turn, "--tokens"]);
    assert_eq!(tokens.status.code(), Some(2), "an explanation that has no drops is not replaced unasked");
    let kept = program.json(&["history", "show", &id]);
    assert_eq!(kept["turns"][0]["trace"]["attribution"]["method"], "similarity");

    let refused = [
        (vec!["explain", "99"], "conversation 99"),
        (vec!["explain", "1.9"], "no turn 9"),
        (vec!["explain", "1.x"], "12.3"),
        (vec!["explain", "1.1", "--sentence", "99"], "no sentence 99"),
        (vec!["explain", "1.1", "--sentence", "1", "--method", "similarity"], "--method logprob"),
    ];
    for (arguments, named) in refused {
        let output = program.run(&arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(named), "{arguments:?} does not name `{named}`: {errors}");
    }
}

fn follow_up(program: &Program, first: &serde_json::Value) {
    let id = first["conversation"].to_string();
    let asked = program.json(&["ask", "--domain", "league", "--conversation", &id, "Who scored most goals for it?"]);
    assert_eq!(asked["turn"], 2);
    assert_eq!(asked["conversation"], first["conversation"]);
    let shown = program.json(&["history", "show", &id]);
    let turns = shown["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 2);
    assert!(turns[0]["trace"]["answer"]["prompt"]["segments"].as_array().unwrap().len() > 3);
    assert!(turns[0]["trace"]["attribution"]["clusters"][0]["counterfactuals"][0]["prompt"].is_object());
    assert!(turns[1]["trace"]["rewrite"]["prompt"].is_object(), "a follow-up keeps its rewrite prompt");
}

#[test]
fn searching_finds_a_row_and_says_how() {
    let Some(program) = program() else { return };
    program.ingest_league();
    let found = program.json(&["search", "--domain", "league", "-k", "5", "How many goals did Dario Quell score?"]);
    let hits = found["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 5);
    assert!(hits.iter().any(|hit| hit["dense_rank"].is_u64() && hit["lexical_rank"].is_u64()));
    assert_eq!(found["mode"], "hybrid");
    assert!(hits.iter().all(|hit| hit["links"].is_array() && hit["ancestors"].is_array()));
    assert!(hits.iter().all(|hit| hit.get("date").is_some() && hit.get("space").is_some()));
    let votes = hits[0]["why"]["votes"].as_array().unwrap();
    assert!(votes.iter().all(|vote| vote["role"] == "raw" && vote["rank"].is_u64() && vote["points"].is_f64()));
    let by_rank =
        program.json(&["search", "--domain", "league", "--fusion", "rrf", "How many goals did Dario Quell score?"]);
    let best = by_rank["hits"][0]["fused"].as_f64().unwrap();
    assert!(best <= 2.0 / 61.0 && best < hits[0]["fused"].as_f64().unwrap(), "{best}: by ranks no score is higher");
}

/// The hits of a search in a domain.
fn hits(program: &Program, domain: &str, question: &str) -> Vec<serde_json::Value> {
    let found = program.json(&["search", "--domain", domain, "-k", "5", question]);
    found["hits"].as_array().unwrap().clone()
}

#[test]
fn a_question_in_german_one_with_slips_and_a_very_long_one_find_the_english_page() {
    let Some(program) = program() else { return };
    program.ingest_league();
    let long = "Which club won the Harbour League in 2025? ".repeat(480);
    assert!(long.len() > 20_000);
    for (question, title) in [
        ("Welcher Verein hat 2025 die Harbour League gewonnen?", "Harbour League: the season 2025"),
        ("Wich club playes in the Graywatr stadum?", "Stadiums of the Harbour League"),
        (&long, "Harbour League: the season 2025"),
    ] {
        let found = hits(&program, "league", question);
        assert!(found.iter().any(|hit| hit["title"] == title), "{}: {found:?}", &question[..40]);
    }
    // Longer than any model's context: refused at once, with advice.
    let output = program.run(&["ask", "--domain", "league", &long.repeat(3)]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("ask a shorter question"), "{errors}");
}

#[test]
fn an_identifier_a_page_of_yesterday_and_a_domain_that_became_empty_give_what_is_there_now() {
    let Some(program) = program() else { return };
    let folder = program.data.path().join("notes");
    fs::create_dir(&folder).unwrap();
    let page = folder.join("gate.md");
    let ingest =
        |more: &[&str]| program.json(&[&["ingest", "--domain", "notes", folder.to_str().unwrap()], more].concat());
    fs::write(folder.join("tickets.md"), "# Tickets\n\nTickets OXT-1653 and OXT-1655 are about tickets.\n").unwrap();
    fs::write(&page, "# Gate\n\nThe gate opens at nine. Its lock sticks since the winter, see OXT-1654.\n").unwrap();
    ingest(&[]);
    assert!(hits(&program, "notes", "OXT-1654")[0]["content"].as_str().unwrap().contains("OXT-1654"));
    fs::write(&page, "# Gate\n\nThe gate opens at ten.\n").unwrap();
    assert_eq!(ingest(&[])["updated"], 1);
    let found = hits(&program, "notes", "Does the gate open at nine?");
    assert!(found[0]["content"].as_str().unwrap().contains("at ten"), "{found:?}");
    assert!(found.iter().all(|hit| !hit["text"].as_str().unwrap().contains("nine")), "{found:?}");
    fs::remove_dir_all(&folder).unwrap();
    ingest(&["--remove-missing"]);
    assert!(hits(&program, "notes", "Does the gate open at nine?").is_empty());
    let asked = program.json(&["ask", "--domain", "notes", "Does the gate open at nine?"]);
    assert_eq!((asked["answered"].as_bool(), asked["hits"].as_array().map(Vec::len)), (Some(false), Some(0)));
}

#[test]
fn an_unchanged_folder_is_not_embedded_again() {
    let Some(program) = program() else { return };
    program.ingest_league();
    let again = program.ingest_league();
    assert_eq!((again["added"].as_u64(), again["unchanged"].as_u64()), (Some(0), Some(8)));
}

#[test]
fn one_unreadable_document_is_skipped_and_only_all_of_them_fail() {
    let Some(program) = program() else { return };
    let folder = program.data.path().join("pages");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("good.md"), "# Good\n\nThe anchor weighs 40 kg.\n").unwrap();
    fs::write(folder.join("bad.json"), "{\"title\": 3").unwrap();
    let mixed = program.json(&["ingest", "--domain", "mixed", folder.to_str().unwrap()]);
    assert_eq!(mixed["added"], 1);
    let skipped = mixed["skipped"].as_array().unwrap();
    assert_eq!(skipped.len(), 1);
    assert!(skipped[0]["path"].as_str().unwrap().ends_with("bad.json"));
    fs::remove_file(folder.join("good.md")).unwrap();
    let output = program.run(&["ingest", "--domain", "broken", folder.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn wrong_use_ends_with_two_and_one_clear_message() {
    let Some(program) = program() else { return };
    let config = program.data.path().join("c.toml");
    fs::write(&config, "[retrieval]\nrff_k = 3\n").unwrap();
    let wrong_key = program.run(&["--config", config.to_str().unwrap(), "domain", "list"]);
    let of_attribution = |value: &str| {
        fs::write(&config, format!("[attribution]\n{value}\n")).unwrap();
        program.run(&["--config", config.to_str().unwrap(), "domain", "list"])
    };
    let cases = [
        (of_attribution("embedder = \"no-such-model\""), "`no-such-model`"),
        (of_attribution("embedder = \"smollm2-135m-instruct\""), "which is no embedder"),
        (of_attribution("method = \"guess\""), "`guess`"),
        (wrong_key, "rrf_k"),
        (program.run(&["search", "--domain", "nowhere", "x"]), "nowhere"),
        (program.run(&["ask", "--domain", "nowhere", "x"]), "nowhere"),
        (program.run(&["models", "pull"]), "--features hub"),
        (program.run(&["models", "verify", "qwen9"]), "`qwen9`"),
        (program.run(&["ingest", "--domain", "x", "no/such/folder"]), "no/such/folder"),
        (program.run(&["ask", "--domain", "Bad Name", "x"]), "domain name"),
    ];
    for (output, named) in cases {
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(named), "`{named}` is not named in: {errors}");
        assert!(!errors.contains("panicked"), "{errors}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn what_is_not_there_is_named_and_the_command_that_lists_what_is() {
    let Some(program) = program() else { return };
    program.ingest_league();
    let domains = ["ragonite domain list", "`nope`"];
    let cases = [
        (vec!["domain", "remove", "nope"], domains),
        (vec!["domain", "remove", "nope", "--yes"], domains),
        (vec!["domain", "check", "nope"], domains),
        (vec!["domain", "show", "nope"], domains),
        (vec!["domain", "rebuild", "nope"], domains),
        (vec!["domain", "remove", "leage"], ["ragonite domain list", "did you mean `league`"]),
        (vec!["history", "show", "nope"], ["ragonite history list", "'nope'"]),
        (vec!["history", "show", "99"], ["ragonite history list", "conversation 99"]),
    ];
    for (arguments, named) in cases {
        let output = program.run(&arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        for name in named {
            assert!(errors.contains(name), "{arguments:?} does not name `{name}`: {errors}");
        }
        assert!(!errors.contains("--yes"), "{errors}");
    }
}

#[test]
fn a_named_file_that_is_gone_is_kept_until_the_command_in_the_report_is_run() {
    let Some(program) = program() else { return };
    let file = |name: &str| program.data.path().join(name).to_str().unwrap().to_owned();
    let (one, two) = (file("one.md"), file("two.md"));
    fs::write(&one, "# One\n\nThe anchor weighs 40 kg.\n").unwrap();
    fs::write(&two, "# Two\n\nThe chain is 80 m long.\n").unwrap();
    program.json(&["ingest", "--domain", "ship", &one, &two]);
    fs::remove_file(&two).unwrap();
    let kept = program.run(&["ingest", "--domain", "ship"]);
    let report = String::from_utf8_lossy(&kept.stdout);
    let command = report.split('`').find(|part| part.starts_with("ragonite ingest")).expect("a command is named");
    let arguments: Vec<&str> = command.split(' ').skip(1).map(|word| word.trim_matches('\'')).collect();
    let removed = program.json(&arguments);
    assert_eq!((removed["removed"].as_u64(), removed["documents"].as_u64()), (Some(1), Some(1)), "{report}");
}

#[test]
fn a_damaged_weight_file_is_named_with_the_fix() {
    let Some(folder) = models() else { return };
    let broken = tempfile::tempdir().unwrap();
    for model in ["all-MiniLM-L6-v2", "smollm2-135m-instruct"] {
        let target = broken.path().join(model);
        fs::create_dir(&target).unwrap();
        for file in fs::read_dir(folder.join(model)).unwrap() {
            let file = file.unwrap();
            if file.file_name().to_string_lossy().ends_with("safetensors") {
                fs::write(target.join(file.file_name()), "cut short").unwrap();
            } else {
                fs::copy(file.path(), target.join(file.file_name())).unwrap();
            }
        }
    }
    let program = Program::new(broken.path().to_owned());
    let pages = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo/league");
    let output = program.run(&["ingest", "--domain", "league", pages]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("model.safetensors") && errors.contains("bytes"), "{errors}");
    assert!(errors.contains("make models"), "the fix is not named: {errors}");
}

#[test]
fn a_worker_that_panics_ends_a_command_instead_of_hanging_it() {
    let Some(program) = program() else { return };
    program.ingest_league();
    let output = program.run(&["--panic-in", "worker", "ask", "--domain", "league", "Who won?"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(101), "{errors}");
    assert!(errors.contains("asked to panic"), "{errors}");
}

#[test]
fn a_damaged_history_is_named_and_left_as_it_is() {
    let Some(program) = program() else { return };
    program.ingest_league();
    let path = program.data.path().join("history.db");
    let damaged = "no database at all, but a text that is long enough to be read as one";
    fs::write(&path, damaged).unwrap();
    let output = program.run(&["ask", "--domain", "league", "Which club won the Harbour League in 2025?"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("history.db"), "{errors}");
    assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
}

#[test]
fn a_setting_of_a_domain_holds_wherever_it_is_asked_and_the_command_line_wins() {
    let Some(program) = program() else { return };
    program.ingest_league();
    let search = ["search", "--domain", "league", "Which club won?"];
    assert_eq!(program.json(&search)["mode"], "hybrid");
    let set = ["domain", "set", "league", "--setting", "retrieval.mode=lexical", "--setting", "sources=2"];
    assert_eq!(program.json(&set)["settings"], serde_json::json!({ "sources": "2", "retrieval.mode": "lexical" }));
    assert_eq!(program.json(&["domain", "list"])["domains"][0]["settings"]["sources"], "2");

    let output = program.run(&search);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("settings of this domain: sources=2 retrieval.mode=lexical"), "{told}");
    assert_eq!(program.json(&search)["mode"], "lexical");
    assert_eq!(program.json(&["search", "--domain", "league", "--mode", "dense", "Which club won?"])["mode"], "dense");
    assert!(program.json(&search)["translated"].is_null(), "it has the language of the documents");
    let german = ["search", "--domain", "league", "Welcher Verein hat die Liga gewonnen und wie heißt sein Stadion?"];
    let told = program.run(&german);
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    match program.json(&german)["translated"].as_str() {
        Some(text) => assert!(told.contains(&format!("also searched for: {text}")), "{told}"),
        None => assert!(told.contains("no usable translation"), "{told}"),
    }

    for (model, why) in [
        ("generation.model=unheard-of", "smollm2-135m-instruct"),
        ("generation.model= unheard-of", "smollm2-135m-instruct"),
        ("generation.model=all-MiniLM-L6-v2", "which is no generator"),
        ("generation.model=../weights", "whose weights are here"),
    ] {
        let output = program.run(&["domain", "set", "league", "--setting", model]);
        assert_eq!(output.status.code(), Some(2), "{model}: {output:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(why), "{model}: {told}");
    }
    let output = program.run(&["domain", "set", "league", "--setting", "retrieval.mode=sparse"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("use hybrid, dense or lexical"), "{told}");
    let output = program.run(&["domain", "set", "league", "--setting", "colour=red"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("`colour` is no setting of a domain"));
    assert_eq!(program.json(&["domain", "show", "league"])["settings"]["retrieval.mode"], "lexical");

    let file = program.data.path().join("domains/league/settings.toml");
    fs::write(&file, "sources = 0\nretrieval.mode = \"dense\"\n").unwrap();
    let output = program.run(&search);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("sources cannot be `0`: use a whole number"), "{told}");
    assert_eq!(program.json(&search)["mode"], "dense", "what can be used of the file holds");
    assert_eq!(program.json(&["domain", "set", "league", "--restore-settings"])["settings"], serde_json::json!({}));
    assert!(!file.exists());
}
