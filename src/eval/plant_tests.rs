//! Tests of planting, asking and weighing on a small wiki, with a generator that follows a script.

use std::path::Path;

use super::test_kit::{kept_index, question, wiki};
use super::*;
use ragonite_base::CancelToken;
use ragonite_index::Index;
use ragonite_index::test_kit::WordEmbedder;
use ragonite_inference::{GenerateRequest, ScriptedGenerator};
use ragonite_rag::answer::AnswerSettings;
use ragonite_rag::attribution::{AttributionSettings, SourceVector};
use ragonite_rag::pipeline::AnswerWithoutMatch;
use ragonite_rag::retrieval::{Copies, Hit, RetrievalSettings, SearchContext};

const NOTHING: &str = "The desired information cannot be found in the retrieved pool of evidence.";

/// The people of the questions, of whom the documents know the first.
const PEOPLE: [&str; 3] = ["Alice", "Bruno", "Carla"];

/// A model that reads who ran the tests.
fn reader() -> ScriptedGenerator {
    let answer = |request: &GenerateRequest| {
        let prompt: String = request.parts.iter().map(|part| part.text.as_str()).collect();
        let named = PEOPLE.iter().find_map(|name| Some((name, prompt.find(&format!("{name} ran"))?)));
        let source = |at: usize| prompt[..at].rfind("Source ").and_then(|start| prompt[start + 7..].split(':').next());
        match named.and_then(|(name, at)| Some((name, source(at)?))) {
            Some((name, rank)) => format!("{name} did that [Source {rank}]."),
            None => NOTHING.to_owned(),
        }
    };
    ScriptedGenerator::new(answer).hiding()
}

/// A model that knows the answer without any source.
fn believer() -> ScriptedGenerator {
    ScriptedGenerator::new(|_: &GenerateRequest| "Alice did that [Source 1].".to_owned()).hiding()
}

fn cached_generator(folder: &Path, model: ScriptedGenerator) -> CachedGenerator {
    CachedGenerator::new(Box::new(model), "f00d", Cache::open(&folder.join("completions.jsonl")).unwrap())
}

struct World {
    folders: [tempfile::TempDir; 3],
    index: Index,
    pages: Pages,
    embedder: WordEmbedder,
    settings: RetrievalSettings,
    answer: AnswerSettings,
    pool: FactPool,
}

impl World {
    fn new() -> Self {
        let folders = [wiki(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let embedder = WordEmbedder::new("f00d");
        let index = kept_index(folders[0].path(), folders[1].path(), &embedder);
        let pages = Pages::of(&index).unwrap();
        let settings = RetrievalSettings { copies: Copies::Keep, per_document: 0, ..RetrievalSettings::default() };
        let questions = PEOPLE.map(|name| Question { answer: name.to_owned(), ..question(1) });
        let pool = FactPool::of(&questions);
        Self { folders, index, pages, embedder, settings, answer: AnswerSettings::default(), pool }
    }

    fn asking(&self) -> Asking<'_> {
        let engines = SearchContext { index: &self.index, embedder: &self.embedder, reranker: None };
        Asking { engines, settings: &self.settings, completion: Completion::Human, past_turns: 5, pages: &self.pages }
    }

    fn ask(&self, model: ScriptedGenerator, question: &Question, seed: u64) -> PlantedQuestion {
        let kept = tempfile::tempdir().unwrap();
        let mut generator = cached_generator(kept.path(), model);
        let speaking = RunnerSettings {
            prefix: "",
            settings: &self.answer,
            sources: 5,
            answer_without_match: AnswerWithoutMatch::On,
        };
        let mut runner = ConversationRunner::new(&mut generator, speaking);
        let planting = Planting { pool: &self.pool, seed };
        ask_planted(self.asking(), &mut runner, question, planting, &CancelToken::never(), &mut |_| {}).unwrap()
    }

    /// The vectors of the sources, that of the planted one made anew.
    fn vectors(&self, planted: &PlantedAnswer) -> Vec<SourceVector> {
        let vector = |hit: &Hit| {
            let change = |text: &str| planted.plant.replaced(text);
            self.index.vector_changed(hit.evidence, &change, &self.embedder, &CancelToken::never()).unwrap().unwrap()
        };
        let source = |hit: &Hit| SourceVector { rank: hit.rank, embedding: vector(hit) };
        planted.answered.hits.iter().map(source).collect()
    }

    fn weigh(&self, planted: &PlantedAnswer) -> Vec<Weighed> {
        let explaining = Explaining {
            ways: &WAYS,
            sources: &self.vectors(planted),
            generator: &mut reader(),
            embedder: &self.embedder,
            settings: &AttributionSettings::default(),
            max_tokens: 50,
        };
        weigh_planted(planted, explaining, &CancelToken::never(), &mut |_, _, _| {}).unwrap()
    }
}

#[test]
fn the_planted_source_is_named_by_every_method_that_leaves_sources_out() {
    let world = World::new();
    let mut asked = world.ask(reader(), &question(1), 1);
    let planted = asked.taken().unwrap().clone();
    let name = planted.plant.planted.clone();
    assert!(PEOPLE[1..].contains(&name.as_str()), "{name}");
    assert!(planted.answered.answer.text.starts_with(&name), "{}", planted.answered.answer.text);
    assert!(planted.answered.is_gold(planted.plant.rank), "the fact stood on the gold page");
    asked.weighed = world.weigh(&planted);
    assert_eq!(asked.weighed.iter().map(|weighed| weighed.way).collect::<Vec<_>>(), WAYS);
    for weighed in &asked.weighed {
        let holders = weighed.sources.iter().filter(|source| source.planted).map(|source| source.rank);
        assert_eq!(holders.collect::<Vec<_>>(), [planted.plant.rank], "{weighed:?}");
        assert_eq!(weighed.sources.len(), planted.answered.answer.prompt.sources().len(), "{weighed:?}");
    }
    assert!(asked.weighed[1..].iter().all(|one| one.top_1 > 0.99 && one.decisive), "{:?}", asked.weighed);
    let asked = [asked];
    assert!(PlantArea::of(&asked, Way::Counterfactual).is_some_and(|area| area.value > 0.99));
    assert_eq!(PlantCounts::of(&asked), PlantCounts { scored: 1, ..PlantCounts::default() });
    let chance = PlantChance::of(&asked).unwrap();
    assert!(chance.top_1 > 0.0 && chance.top_1 < 1.0 && (chance.top_1 - chance.area).abs() < 1e-12, "{chance:?}");
    assert!(planted_table_of(&asked).contains("| chance "), "{}", planted_table_of(&asked));
}

fn planted_table_of(asked: &[PlantedQuestion]) -> String {
    planted(asked, &Figures::of(asked))
}

#[test]
fn the_same_question_and_seed_give_the_same_plant_and_answer() {
    let world = World::new();
    let ask = |seed| world.ask(reader(), &question(1), seed).taken().unwrap().plant.clone();
    assert_eq!(ask(7), ask(7));
    let drawn: std::collections::HashSet<String> = (0..12).map(|seed| ask(seed).planted).collect();
    assert_eq!(drawn.len(), 2, "another seed may plant the other fact");
}

#[test]
fn an_answer_that_does_not_take_the_plant_is_counted_and_not_scored() {
    let world = World::new();
    let asked = [world.ask(believer(), &question(1), 1)];
    assert!(asked[0].planted().is_some() && asked[0].taken().is_none());
    assert_eq!(PlantCounts::of(&asked), PlantCounts { not_taken: 1, ..PlantCounts::default() });
    let figures = Figures::of(&asked);
    let value = |name| figures.get(None, name).map(|figure| figure.value);
    assert_eq!((value(Metric::PlantedRate), value(Metric::PlantTakenRate)), (Some(1.0), Some(0.0)));
    assert_eq!((PlantChance::of(&asked), PlantArea::of_all(&asked).len()), (None, 0));
}

#[test]
fn a_question_without_a_plant_is_asked_of_no_model() {
    let world = World::new();
    let never = || ScriptedGenerator::new(|_: &GenerateRequest| panic!("nobody asks"));
    let gone = Question { gold: vec!["https://wiki.example.net/pages/99/Gone".into()], ..question(1) };
    let unknown = Question { answer: "Dora".into(), ..question(1) };
    let asked = [world.ask(never(), &gone, 1), world.ask(never(), &unknown, 1)];
    let why = asked.iter().map(|one| one.unplanted().unwrap()).collect::<Vec<_>>();
    assert_eq!(why, [Unplanted::NoGold, Unplanted::NoFact]);
    let figures = Figures::of(&asked);
    assert_eq!(figures.get(None, Metric::PlantTakenRate), None);
    let json = serde_json::Value::Object(figures.json());
    assert_eq!((&json["planted_rate"], &json["top_1"]["jsd"]), (&0.0.into(), &serde_json::Value::Null));
}

#[test]
fn a_second_run_asks_the_model_nothing() {
    let world = World::new();
    let run = || {
        let mut generator = cached_generator(world.folders[2].path(), reader());
        let speaking = RunnerSettings {
            prefix: "",
            settings: &world.answer,
            sources: 5,
            answer_without_match: AnswerWithoutMatch::On,
        };
        let mut runner = ConversationRunner::new(&mut generator, speaking);
        let planting = Planting { pool: &world.pool, seed: 1 };
        let never = CancelToken::never();
        let asked = ask_planted(world.asking(), &mut runner, &question(1), planting, &never, &mut |_| {}).unwrap();
        let planted = asked.taken().unwrap();
        let explaining = Explaining {
            ways: &WAYS,
            sources: &world.vectors(planted),
            generator: runner.generator(),
            embedder: &world.embedder,
            settings: &AttributionSettings::default(),
            max_tokens: 50,
        };
        let mut weighed = weigh_planted(planted, explaining, &never, &mut |_, _, _| {}).unwrap();
        // The cache keeps probabilities with fewer digits.
        for source in weighed.iter_mut().flat_map(|weighed| &mut weighed.sources) {
            source.contribution = (source.contribution * 1e6).round() / 1e6;
        }
        (weighed, runner.used().asked)
    };
    let ((first, asked), (again, asked_again)) = (run(), run());
    assert_eq!((first, asked > 0, asked_again), (again, true, 0));
}
