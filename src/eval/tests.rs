//! Tests of a whole evaluation, on a small domain with an embedder without weights.

use std::fs;
use std::path::Path;

use super::test_kit::{kept_index, wiki};
use super::*;
use ragonite_base::{CancelSource, CancelToken, Language};
use ragonite_document::evidence::{ContextParts, EvidenceSettings, Kind};
use ragonite_index::test_kit::{Trouble, WordEmbedder};
use ragonite_rag::retrieval::{Copies, Mode, RetrievalSettings, SearchContext};

fn question(turn: usize, language: Language, completed: &str, gold: &str) -> Question {
    Question {
        conversation: "c".into(),
        turn,
        language,
        raw: "And there?".into(),
        completed: completed.into(),
        answer: String::new(),
        facts: Vec::new(),
        past: Vec::new(),
        gold: vec![gold.into()],
        source: if turn == 1 { Kind::Passage } else { Kind::Table },
        question_type: if turn < 3 { QuestionType::Simple } else { QuestionType::Complex },
        topic: [None, Some(Topic::Stays), Some(Topic::Shifts)][turn.min(3) - 1],
    }
}

fn preparation<'a>(documents: &'a Path, evidence: &'a EvidenceSettings) -> Preparation<'a> {
    Preparation { name: "wiki", documents, evidence, context: ContextParts::ALL }
}

#[test]
fn questions_are_scored_by_number_url_and_text() {
    let (documents, kept) = (wiki(), tempfile::tempdir().unwrap());
    let embedder = WordEmbedder::new("f00d");
    let evidence = EvidenceSettings::default();
    let never = CancelToken::never();
    let preparation = preparation(documents.path(), &evidence);
    let mut looked = Vec::new();
    let mut hear = |progress| {
        if let Preparing::Looking { done, total } = progress {
            looked.push((done, total));
        }
    };
    let (index, made) = prepare(kept.path(), &preparation, &embedder, &never, &mut hear).unwrap();
    assert_eq!((made.added, made.skipped.len()), (4, 0));
    assert_eq!(looked, [(0, 4), (1, 4), (2, 4), (3, 4)], "every document is read before the domain is found");
    let questions = [
        question(
            1,
            Language::English,
            "Who ran the TPM tests?",
            "https://wiki.example.net/spaces/TEST/pages/1/Pump+Tests",
        ),
        question(
            2,
            Language::English,
            "How many layers has the platform?",
            "http://wiki.example.net/spaces/~alice/pages/3/Architecture",
        ),
        question(3, Language::German, "Who books trains?", "https://wiki.example.net/spaces/CS/pages/4/Travel"),
        question(7, Language::German, "Who books trains?", "https://wiki.example.net/spaces/CS/pages/99/Gone"),
    ];
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let settings = RetrievalSettings { mode: Mode::Lexical, copies: Copies::Keep, ..RetrievalSettings::default() };
    let pages = Pages::of(&index).unwrap();
    let asking = Asking { engines, settings: &settings, completion: Completion::Human, past_turns: 5, pages: &pages };
    let mut heard = Vec::new();
    let asked = ask(asking, None, &questions, &never, &mut |now, _| heard.push(now.done)).unwrap();
    heard.dedup();
    assert_eq!(heard, [0, 1, 2, 3, 4]);
    let outcomes: Vec<_> = asked.iter().map(|a| (a.outcome.page, a.outcome.content, a.outcome.url)).collect();
    // The second question finds both copies, and the one that was ingested first is the first hit.
    let expected =
        [(Some(1), Some(1), None), (Some(2), Some(1), None), (Some(1), Some(1), Some(1)), (None, None, None)];
    assert_eq!(outcomes, expected);
    // That of the first has another punctuation, that of the second another scheme, and that of the last is not there.
    assert_eq!(asked.iter().map(|one| one.spelled).collect::<Vec<_>>(), [false, false, true, false]);
    let json = serde_json::Value::Object(Figures::of(&asked).json());
    let p_at_1 = |told: &str| json[told]["p_at_1"].as_f64().unwrap();
    assert_eq!((json["questions"].as_u64(), p_at_1("page"), p_at_1("content")), (Some(4), 0.5, 0.75));
    assert_eq!((p_at_1("url"), json["url"]["ceiling"].as_f64()), (0.25, Some(0.25)));
    let by = &json["by"];
    assert_eq!(by["language"]["de"]["page"]["p_at_1"], 0.5);
    assert_eq!((&by["turn"]["6-10"]["questions"], &by["turn"]["6-10"]["page"]["p_at_1"]), (&1.into(), &0.0.into()));
    assert_eq!((&by["turn"]["follow-ups"]["questions"], &by["type"]["simple"]["questions"]), (&3.into(), &2.into()));
    assert_eq!(by["source"]["passage"]["url"]["p_at_1"], 0.0);
    assert_eq!((&by["shift"]["stays"]["questions"], &by["shift"]["shifts"]["questions"]), (&1.into(), &2.into()));
    assert_eq!(by["shift"]["shifts"]["page"]["p_at_1"], 0.5);
    let folding = RetrievalSettings { copies: Copies::Fold, ..settings.clone() };
    let asked = ask(Asking { settings: &folding, ..asking }, None, &questions[1..2], &never, &mut |_, _| {}).unwrap();
    let [one] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!((one.hits.len(), one.hits[0].page.copies.len(), one.outcome.content), (1, 1, Some(1)));
}

#[test]
fn a_page_that_the_best_hit_names_as_its_copy_is_found_by_content() {
    let (documents, kept) = (wiki(), tempfile::tempdir().unwrap());
    // One of the two has a further section, so that the pages as a whole are not the same.
    let path = documents.path().join("3.json");
    let more = fs::read_to_string(&path).unwrap().replace("layers</p>", "layers</p><h2>Contact</h2><p>Ask Bob</p>");
    fs::write(&path, more).unwrap();
    let embedder = WordEmbedder::new("f00d");
    let index = kept_index(documents.path(), kept.path(), &embedder);
    let engines = SearchContext { index: &index, embedder: &embedder, reranker: None };
    let pages = Pages::of(&index).unwrap();
    let layers = |page: &str| {
        let gold = format!("https://wiki.example.net/spaces/{page}/Architecture");
        question(2, Language::English, "How many layers has the platform?", &gold)
    };
    let questions = [layers("CS/pages/2"), layers("~alice/pages/3")];
    let outcomes = |copies| {
        let settings = RetrievalSettings { mode: Mode::Lexical, copies, ..RetrievalSettings::default() };
        let asking =
            Asking { engines, settings: &settings, completion: Completion::Human, past_turns: 5, pages: &pages };
        let asked = ask(asking, None, &questions, &CancelToken::never(), &mut |_, _| {}).unwrap();
        asked.iter().map(|one| (one.outcome.page, one.outcome.content)).collect::<Vec<_>>()
    };
    // The later page speaks for both.
    assert_eq!(outcomes(Copies::Fold), [(None, Some(1)), (Some(1), Some(1))]);
    let apart = outcomes(Copies::Keep);
    assert!(apart.iter().all(|(page, content)| page.is_some() && page == content), "{apart:?}");
}

#[test]
fn every_document_that_a_gold_name_fits_is_gold_in_the_order_of_the_documents() {
    let (documents, kept) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for folder in ["a", "b", "c"] {
        fs::create_dir(documents.path().join(folder)).unwrap();
        fs::write(documents.path().join(folder).join("notes.md"), format!("# Notes\n\nBoat {folder}.\n")).unwrap();
        // The same page twice, in two states.
        let url = "https://wiki.example.net/spaces/TEST/pages/7/Boats";
        let page = serde_json::json!({"title": "Boats", "url": url, "content": format!("<p>State {folder}</p>")});
        fs::write(documents.path().join(folder).join("page.json"), page.to_string()).unwrap();
    }
    let embedder = WordEmbedder::new("f00d");
    let index = kept_index(documents.path(), kept.path(), &embedder);
    let pages = Pages::of(&index).unwrap();
    let in_order = index.documents().unwrap();
    for (name, end) in [("notes.md", "notes.md"), ("https://wiki.example.net/pages/7/Boats", "page.json")] {
        let of_documents = in_order.iter().filter(|document| document.path.ends_with(end));
        let of_documents: Vec<&String> = of_documents.map(|document| &document.fingerprint).collect();
        let gold = pages.gold(name);
        assert_eq!(gold.iter().map(|page| &page.content).collect::<Vec<_>>(), of_documents, "{name}");
        assert_eq!(of_documents.len(), 3, "{name}");
        assert!(pages.is_ambiguous(&question(1, Language::English, "Which?", name)));
    }
    assert_eq!(pages.gold("b/notes.md").len(), 1);
    assert!(!pages.is_ambiguous(&question(1, Language::English, "Which?", "b/notes.md")));
    assert!(pages.gold("otes.md").is_empty() && pages.gold("https://wiki.example.net/pages/8/Boats").is_empty());
}

#[test]
fn notes_of_one_year_in_a_folder_named_pages_are_told_apart() {
    let (documents, kept) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = documents.path().join("graph").join("pages");
    fs::create_dir_all(&folder).unwrap();
    let names = ["2024-05-01 standup.md", "2024-11-02 release.md"];
    for name in names {
        fs::write(folder.join(name), format!("# {name}\n\nThe crane was moved, see {name}.\n")).unwrap();
    }
    let embedder = WordEmbedder::new("f00d");
    let index = kept_index(documents.path(), kept.path(), &embedder);
    let pages = Pages::of(&index).unwrap();
    for name in names {
        let [gold] = &pages.gold(&format!("graph/pages/{name}"))[..] else { panic!("{name}") };
        assert!(gold.number.ends_with(name), "{}", gold.number);
    }
    let numbers: Vec<&str> =
        index.documents().unwrap().iter().map(|document| pages.page(document.id).unwrap().number.as_str()).collect();
    assert_ne!(numbers[0], numbers[1]);
}

#[test]
fn without_completion_the_question_is_asked_as_it_was() {
    let question = question(2, Language::English, "Who ran the TPM tests?", "notes.md");
    assert_eq!(question.query(Completion::Human), "Who ran the TPM tests?");
    assert_eq!(question.query(Completion::None), "And there?");
    assert_eq!(question.query(Completion::Model), "And there?");
}

#[test]
fn a_prepared_domain_goes_on_after_a_stop_and_is_found_again() {
    let (documents, kept) = (wiki(), tempfile::tempdir().unwrap());
    let evidence = EvidenceSettings::default();
    let preparation = preparation(documents.path(), &evidence);
    let source = CancelSource::default();
    let mut stopping = WordEmbedder::new("f00d");
    stopping.trouble = Trouble::CancelsAt(0, source.clone());
    let stopped = prepare(kept.path(), &preparation, &stopping, &source.token(), &mut |_| {});
    assert!(matches!(stopped, Err(EvalError::Canceled(_))));
    let embedder = WordEmbedder::new("f00d");
    let again = || prepare(kept.path(), &preparation, &embedder, &CancelToken::never(), &mut |_| {}).unwrap().1;
    let folders = || fs::read_dir(kept.path()).unwrap().count();
    assert_eq!((again().documents, folders()), (4, 1));
    assert_eq!((again().unchanged, embedder.texts(), folders()), (4, 3, 1), "the copy is not embedded twice");
    let changed = fs::read_to_string(documents.path().join("4.json")).unwrap().replace("Trains", "Boats");
    fs::write(documents.path().join("4.json"), changed).unwrap();
    assert_eq!((again().added, folders()), (4, 2), "other documents make another domain");
}

#[test]
fn each_choice_of_settings_has_a_domain_of_its_own() {
    let (documents, others) = (wiki(), wiki());
    let evidence = EvidenceSettings::default();
    let all = preparation(documents.path(), &evidence);
    let longer = EvidenceSettings { longest_neighbour: 10, ..EvidenceSettings::default() };
    let (one, other) = (WordEmbedder::new("f00d"), WordEmbedder::new("beef"));
    let name = |preparation: &Preparation<'_>, embedder| {
        preparation.folder_name(embedder, &CancelToken::never(), &mut |_| {}).unwrap()
    };
    assert!(name(&all, &one).starts_with("wiki-"));
    assert_eq!(name(&all, &one), name(&all.clone(), &one));
    let different = [
        name(&Preparation { context: ContextParts::NONE, ..all.clone() }, &one),
        name(&Preparation { evidence: &longer, ..all.clone() }, &one),
        name(&Preparation { documents: others.path(), ..all.clone() }, &one),
        name(&all, &other),
    ];
    assert!(different.iter().all(|other| *other != name(&all, &one)));
}
