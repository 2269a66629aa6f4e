//! The words of an explanation are true: folders and answers for which each method once claimed too much.
//!
//! The generator is made to answer so; the search and the screen are the program's own.
//! Not here: attribution itself (`rag::attribution`).

use std::path::Path;

use ragonite::app::{Event, TurnKey};
use ragonite::base::{CancelToken, Language};
use ragonite::document::evidence::{ContextParts, EvidenceSettings};
use ragonite::eval::{Preparation, prepare};
use ragonite::index::Index;
use ragonite::inference::{GenerateRequest, HashEmbedder, ScriptedGenerator};
use ragonite::rag::answer::{Answer, AnswerInput, AnswerSettings, RewriteHow, SupportVerdict, generate_answer};
use ragonite::rag::attribution::{
    AnswerSource, Attribution, AttributionSettings, Engines, ExplainInput, Method, SourceVector, attribute, by_sentence,
};
use ragonite::rag::retrieval::{RetrievalSettings, Retrieved, SearchContext, SearchInput, search};
use ragonite::tui::Pane;

use crate::screen::{Stage, rewrite};

const METHODS: [Method; 5] =
    [Method::Similarity, Method::Preview, Method::Logprob, Method::Jsd, Method::Counterfactual];

/// The number of the source with these words.
fn source_of(prompt: &str, words: &str) -> Option<usize> {
    let before = prompt.find(words)?;
    let start = prompt[..before].rfind("Source ")?;
    prompt[start + "Source ".len()..].split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn text(request: &GenerateRequest) -> String {
    request.parts.iter().map(|part| part.text.as_str()).collect()
}

/// Knows the answer without any source, and cites the source on staff, or else the first one.
fn knows_the_world(answer: &'static str) -> ScriptedGenerator {
    let answers = move |request: &GenerateRequest| {
        let rank = source_of(&text(request), "Tomas Brandt").unwrap_or(1);
        format!("{answer} [Source {rank}]")
    };
    ScriptedGenerator::new(answers).hiding()
}

/// Answers both parts of the question on the Harz from their sources.
fn reads_the_sources() -> ScriptedGenerator {
    let answers = |request: &GenerateRequest| {
        let prompt = text(request);
        let approves = source_of(&prompt, "approved by the head").map_or_else(
            || "Nobody is named who approves them.".to_owned(),
            |rank| format!("Mira Kohl approves field trips. [Source {rank}]"),
        );
        let budget = source_of(&prompt, "Budget is 4,800").or(source_of(&prompt, "Harz | 3")).map_or_else(
            || "No budget is given.".to_owned(),
            |rank| format!("The trip to the Harz had a budget of 4,800 EUR. [Source {rank}]"),
        );
        format!("{approves} {budget}")
    };
    ScriptedGenerator::new(answers).hiding()
}

/// The folder of the fixture as an open domain.
struct Trips {
    _folder: tempfile::TempDir,
    index: Index,
    embedder: HashEmbedder,
}

/// A question with its search and its answer.
struct Asked {
    question: &'static str,
    retrieved: Retrieved,
    answer: Answer,
}

impl Trips {
    fn open() -> Self {
        let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/trips");
        let folder = tempfile::tempdir().unwrap();
        let embedder = HashEmbedder::default();
        let evidence = EvidenceSettings::default();
        let preparation =
            Preparation { name: "trips", documents: &documents, evidence: &evidence, context: ContextParts::ALL };
        let (index, _) = prepare(folder.path(), &preparation, &embedder, &CancelToken::never(), &mut |_| {}).unwrap();
        Self { _folder: folder, index, embedder }
    }

    fn ask(&self, question: &'static str, generator: &mut ScriptedGenerator) -> Asked {
        let never = CancelToken::never();
        let engines = SearchContext { index: &self.index, embedder: &self.embedder, reranker: None };
        let input = SearchInput { question, completed: Some(question), translated: None, earlier: &[], today: None };
        let retrieved = search(engines, &input, &RetrievalSettings::default(), &never).unwrap();
        let input = AnswerInput {
            prefix: "",
            language: Language::of(question),
            past: &[],
            question,
            hits: &retrieved.hits,
            settings: &AnswerSettings::default(),
        };
        let answer = generate_answer(generator, &input, &never, &mut |_| {}).unwrap();
        Asked { question, retrieved, answer }
    }

    fn explain(&self, asked: &Asked, method: Method, generator: &mut ScriptedGenerator) -> Attribution {
        let settings = AttributionSettings { method, ..AttributionSettings::default() };
        let ids: Vec<_> = asked.retrieved.hits.iter().map(|hit| hit.evidence).collect();
        let vectors = self.index.vectors(&ids).unwrap();
        let sources = asked.retrieved.hits.iter().zip(vectors);
        let sources: Vec<SourceVector> =
            sources.map(|(hit, embedding)| SourceVector { rank: hit.rank, embedding }).collect();
        let input = ExplainInput {
            question: asked.question,
            answer: &asked.answer,
            origin: AnswerSource::Here,
            sources: &sources,
            known: &[],
            settings: &settings,
            max_tokens: 100,
        };
        let engines = Engines { generator, embedder: &self.embedder };
        let found = attribute(method, input, engines, &CancelToken::never(), &mut |_, _, _| {}).unwrap();
        by_sentence(found, &asked.answer, &settings, generator).unwrap()
    }
}

/// The screen after the answer was explained, with this pane in front.
fn seen(asked: &Asked, attribution: &Attribution, pane: Pane) -> String {
    let turn = TurnKey(1);
    let mut stage = Stage::asked(asked.question);
    stage.play([
        Event::QuestionCompleted { turn, rewrite: Box::new(rewrite(asked.question, RewriteHow::First)) },
        Event::HitsRetrieved { turn, retrieved: Box::new(asked.retrieved.clone()) },
    ]);
    stage.finish(turn, asked.answer.clone());
    stage.play([
        Event::ExplainRequested { turn: 0, method: attribution.method },
        Event::AttributionFinished { job: turn.job(), attribution: Box::new(attribution.clone()) },
    ]);
    stage.at(pane).frame((100, 60)).backend().to_string()
}

#[test]
fn no_method_says_that_a_source_matters_to_an_answer_that_the_model_knows_anyway() {
    let trips = Trips::open();
    for (question, answer) in [
        ("What is the capital of France?", "Paris."),
        ("At what temperature does water boil?", "Water boils at 100 degrees Celsius."),
    ] {
        let asked = trips.ask(question, &mut knows_the_world(answer));
        assert_eq!(asked.answer.support().unwrap().verdict, SupportVerdict::Unsupported, "{answer}");
        for method in METHODS {
            let found = trips.explain(&asked, method, &mut knows_the_world(answer));
            assert!(!found.decisive, "{answer} {method:?}");
            assert!(found.clusters.iter().all(|cluster| cluster.share.is_none()), "{answer} {method:?}: {found:?}");
            for pane in [Pane::Conversation, Pane::Why] {
                let seen = seen(&asked, &found, pane);
                for claim in ["matters most", "matter most", "decisive", "rests on"] {
                    assert!(!seen.contains(claim), "{method:?} claims `{claim}`:\n{seen}");
                }
                let says =
                    if method == Method::Similarity { "most like the answer" } else { "no single source decides" };
                assert!(seen.contains(says), "{method:?} does not say `{says}`:\n{seen}");
            }
            let seen = seen(&asked, &found, Pane::Conversation);
            let says =
                if method == Method::Counterfactual { "the model's own knowledge" } else { "not supported by these" };
            assert!(seen.contains(says), "{method:?} does not say `{says}`:\n{seen}");
        }
    }
}

#[test]
fn every_method_names_the_sources_of_an_answer_that_has_two_and_each_of_its_sentences_its_own() {
    let trips = Trips::open();
    let question = "Who approves field trips and what was the budget of the Harz trip?";
    let asked = trips.ask(question, &mut reads_the_sources());
    assert_eq!(asked.answer.support().unwrap().verdict, SupportVerdict::Supported, "{}", asked.answer.text);
    let cited = asked.answer.citations.clone();
    assert_eq!(cited.len(), 2, "{}", asked.answer.text);
    for method in METHODS {
        let found = trips.explain(&asked, method, &mut reads_the_sources());
        let seen = seen(&asked, &found, Pane::Conversation);
        assert!(seen.contains("supported by its sources"), "{seen}");
        if method == Method::Similarity {
            assert!(!found.decisive && seen.contains("most like the answer"), "{seen}");
            continue;
        }
        let shared: Vec<usize> =
            found.clusters.iter().filter(|cluster| cluster.share.is_some()).flat_map(|one| one.hits.clone()).collect();
        assert!(
            shared.iter().all(|hit| cited.contains(hit)) && !shared.is_empty(),
            "{method:?}: {shared:?} of {cited:?}"
        );
        if matches!(method, Method::Logprob | Method::Preview) {
            let rests: Vec<usize> = found.sentences.iter().map(|sentence| sentence.clusters[0].hits[0]).collect();
            assert_eq!(rests.len(), 2, "{:?}", found.sentences);
            for (sentence, rest) in found.sentences.iter().zip(rests) {
                assert_eq!(sentence.cited, [rest], "{method:?}: {}", sentence.text);
            }
        }
    }
}
