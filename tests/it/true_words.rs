//! The words of an explanation are true: folders and answers for which each method once claimed too much.
//!
//! The generator is made to answer so; the search and the screen are the program's own.
//! Not here: attribution itself (`rag::attribution`).

use std::path::Path;

use ragonite::app::{Event, TurnKey};
use ragonite::base::{CancelToken, Language, Millis};
use ragonite::document::evidence::{ContextParts, EvidenceSettings, Kind};
use ragonite::eval::{Preparation, prepare};
use ragonite::index::Index;
use ragonite::inference::{GenerateRequest, HashEmbedder, ScriptedGenerator, SpecialTokens};
use ragonite::rag::answer::{
    Answer, AnswerInput, AnswerSettings, RewriteHow, SupportVerdict, Translation, TranslationHow, citation,
    generate_answer,
};
use ragonite::rag::attribution::{
    AnswerSource, Attribution, AttributionSettings, Engines, ExplainInput, Method, Provenance, SourceVector, attribute,
    by_sentence,
};
use ragonite::rag::prompt::{Part, Prompt, Segment, out_of_scope};
use ragonite::rag::retrieval::{RetrievalSettings, Retrieved, SearchContext, SearchInput, search};
use ragonite::tui::Pane;

use crate::screen::{Stage, cluster, retrieved, rewrite};

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
            || "Nobody at all approves them by name.".to_owned(),
            |rank| format!("Mira Kohl approves field trips. [Source {rank}]"),
        );
        let budget = source_of(&prompt, "Budget is 4,800").map_or_else(
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
        // A table says the same as its rows, so that no row alone would matter.
        let kinds = vec![Kind::Passage, Kind::List, Kind::Row];
        let settings = RetrievalSettings { kinds, ..RetrievalSettings::default() };
        let retrieved = search(engines, &input, &settings, &never).unwrap();
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
        let mut generator = knows_the_world(answer);
        let asked = trips.ask(question, &mut generator);
        assert_eq!(asked.answer.support().unwrap().verdict, SupportVerdict::Unsupported, "{answer}");
        for method in METHODS {
            let found = trips.explain(&asked, method, &mut generator);
            assert!(!found.decisive, "{answer} {method:?}");
            assert!(found.clusters.iter().all(|cluster| cluster.share.is_none()), "{answer} {method:?}: {found:?}");
            for pane in [Pane::Conversation, Pane::Why] {
                let seen = seen(&asked, &found, pane);
                for claim in ["matters most", "matter most", "decisive", "it rests on"] {
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
    let mut generator = reads_the_sources();
    let asked = trips.ask(question, &mut generator);
    assert_eq!(asked.answer.support().unwrap().verdict, SupportVerdict::Supported, "{}", asked.answer.text);
    let cited = asked.answer.citations.clone();
    assert_eq!(cited.len(), 2, "{}", asked.answer.text);
    for method in METHODS {
        let found = trips.explain(&asked, method, &mut generator);
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
            assert_eq!(found.sentences.len(), 2, "{:?}", found.sentences);
            for sentence in &found.sentences {
                let strongest = &sentence.clusters[0];
                assert!(sentence.cited.iter().all(|rank| strongest.hits.contains(rank)), "{method:?}: {sentence:?}");
            }
        }
    }
}

/// Three sources of a prompt, of which the second is an older version.
const SOURCES: [&str; 3] = [
    "Source 1:\nTravel rules 2025\nA trip is approved by Mira Kohl two weeks ahead. The limit is 4,800 EUR.\n\n",
    "Source 2 (older version, 2023-04-01):\nTravel rules 2023\nA trip is approved by Jonas Feld. The limit is 3,900 EUR.\n\n",
    "Source 3:\nStaff\nTomas Brandt keeps the list of pumps.\n\n",
];

/// An answer to a question on the travel rules.
fn ruled(question: &str, text: &str) -> Answer {
    let segment = |part, text: &str| Segment { part, text: text.into(), special: SpecialTokens::AsText, tokens: 20 };
    let mut segments: Vec<Segment> =
        (1..).zip(SOURCES).map(|(rank, text)| segment(Part::Evidence { rank }, text)).collect();
    segments.push(segment(Part::Question, &format!("Question: {question}")));
    let prompt = Prompt { segments, ..Prompt::default() };
    let citations = citation::read(text, &prompt.sources());
    let answer = crate::screen::answer(&citations.text, citations.invalid);
    Answer { citations: citations.valid, language: Language::of(question), prompt, ..answer }
}

/// A turn with an answer.
fn turn(question: &str, text: &str) -> Stage {
    let mut stage = Stage::searched(question);
    stage.finish(TurnKey(1), ruled(question, text));
    stage
}

fn explained(mut stage: Stage, attribution: Attribution) -> Stage {
    stage.play([
        Event::ExplainRequested { turn: 0, method: attribution.method },
        Event::AttributionFinished { job: TurnKey(1).job(), attribution: Box::new(attribution) },
    ]);
    stage
}

/// A turn that was stopped while the model wrote.
fn stopped() -> Stage {
    let mut stage = Stage::searched("Who approves a trip?");
    let turn = TurnKey(1);
    stage.play([
        Event::AnswerGrew { turn, text: "A trip is approved".into() },
        Event::CancelRequested,
        Event::JobCanceled { job: turn.job() },
    ]);
    stage
}

/// A German question that was searched in English too.
fn translated() -> Stage {
    let question = "Wer genehmigt eine Reise?";
    let mut stage = Stage::asked(question);
    let turn = TurnKey(1);
    let translation = Translation {
        text: Some("Who approves a trip?".into()),
        from: Language::German,
        to: Language::English,
        how: TranslationHow::Model,
        prompt: None,
        completion: None,
        total_ms: Millis(700.0),
    };
    stage.play([
        Event::QuestionTranslated { turn, translation: Box::new(translation) },
        Event::QuestionCompleted { turn, rewrite: Box::new(rewrite(question, RewriteHow::First)) },
        Event::HitsRetrieved { turn, retrieved: Box::new(retrieved(question)) },
    ]);
    stage.finish(turn, ruled(question, "Eine Reise genehmigt Mira Kohl zwei Wochen vorher. [Source 1]"));
    stage
}

/// An answer that needs one of two sources that were left out together.
fn group_tested() -> Stage {
    let settled = cluster(&[1], Provenance::Verified, 0.0, None, "Mira Kohl approves a trip. [Source 1]");
    let group = cluster(&[2, 3], Provenance::Group, 0.31, Some(1.0), "Nobody is named.");
    let attribution =
        Attribution { decisive: true, clusters: vec![group, settled], ..Attribution::new(Method::Counterfactual) };
    explained(turn("Who approves a trip?", "Mira Kohl approves a trip. [Source 1]"), attribution)
}

/// An answer that stays the same without any source.
fn known_anyway() -> Stage {
    let text = "Water boils at 100 degrees. [Source 3]";
    let same = |rank| cluster(&[rank], Provenance::Verified, 0.0, None, text);
    let without_sources = same(1).counterfactuals.into_iter().next();
    let clusters = [1, 2, 3].map(same).into();
    let attribution = Attribution { clusters, without_sources, ..Attribution::new(Method::Counterfactual) };
    explained(turn("At what temperature does water boil?", text), attribution)
}

#[test]
fn who_reads_only_the_conversation_knows_what_he_may_rely_on() {
    let question = "Who approves a trip, and what is the limit?";
    let refused = || {
        let mut stage = Stage::searched(question);
        let text = out_of_scope(Language::English);
        stage.finish(TurnKey(1), Answer { answered: false, ..ruled(question, text) });
        stage
    };
    let turns: Vec<(&str, Stage)> = vec![
        ("right", turn(question, "Mira Kohl approves it; the limit is 4,800 EUR. [Source 1]")),
        ("wrongly cited", turn(question, "Mira Kohl approves it; the limit is 4,800 EUR. [Source 3]")),
        ("unsupported", turn("Who leads the museum?", "Felix Adler leads the museum of Bergen. [Source 3]")),
        ("refused", refused()),
        ("newer version", turn(question, "Jonas Feld approves it; the limit is 3,900 EUR. [Source 2]")),
        ("half supported", turn(question, "Mira Kohl approves it. [Source 1] The limit is 7,250 EUR. [Source 1]")),
        ("world knowledge", known_anyway()),
        ("stopped", stopped()),
        ("translated", translated()),
        ("group-tested", group_tested()),
    ];
    for (name, stage) in turns {
        let seen = stage.at(Pane::Conversation).frame((80, 24)).backend().to_string();
        insta::assert_snapshot!(format!("rely_on_{}", name.replace(' ', "_")), seen);
    }
}
