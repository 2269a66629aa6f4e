//! Tests of answering, judging and explaining on a small wiki, with a generator that follows a script.

use std::path::Path;
use std::sync::{Arc, Mutex};

use super::test_kit::{as_in_paper, kept_index, question, wiki};
use super::*;
use ragonite_base::{CancelSource, CancelToken, Language};
use ragonite_document::evidence::Kind;
use ragonite_index::Index;
use ragonite_index::test_kit::WordEmbedder;
use ragonite_inference::{GenerateRequest, ScriptedGenerator};
use ragonite_rag::answer::{AnswerSettings, RewriteHow};
use ragonite_rag::attribution::{AttributionSettings, SourceVector};
use ragonite_rag::pipeline::AnswerWithoutMatch;
use ragonite_rag::prompt::{HistoryTurn, PromptSettings};
use ragonite_rag::retrieval::{Copies, Mode, RetrievalSettings, SearchContext, SubQueryRole, Translate};

const NOTHING: &str = "The desired information cannot be found in the retrieved pool of evidence.";

/// The number of the source whose text has these words.
fn source_of(prompt: &str, words: &str) -> Option<usize> {
    let before = prompt.find(words)?;
    let start = prompt[..before].rfind("Source ")?;
    prompt[start + "Source ".len()..].split(':').next()?.parse().ok()
}

/// A model that answers everything right from its prompt.
fn model() -> ScriptedGenerator {
    ScriptedGenerator::new(answers()).hiding()
}

fn answers() -> impl FnMut(&GenerateRequest) -> String + Send + 'static {
    |request: &GenerateRequest| {
        let prompt: String = request.parts.iter().map(|part| part.text.as_str()).collect();
        if prompt.contains("answer_rating") {
            return r#"{"justification": "It names her.", "answer_rating": 1}"#.to_owned();
        }
        let asked = prompt.rsplit("Question: ").next().unwrap_or_default();
        let (words, answer) =
            if asked.contains("layers") { ("three layers", "It has three") } else { ("Alice ran", "Alice did that") };
        source_of(&prompt, words)
            .map_or_else(|| NOTHING.to_owned(), |rank| format!("{answer} [Source {rank}, Source 77]."))
    }
}

/// The model with a cache in this folder.
fn cached_generator(folder: &Path, model: ScriptedGenerator) -> CachedGenerator {
    CachedGenerator::new(Box::new(model), "f00d", Cache::open(&folder.join("completions.jsonl")).unwrap())
}

struct World {
    _folders: [tempfile::TempDir; 2],
    index: Index,
    pages: Pages,
    embedder: WordEmbedder,
    settings: RetrievalSettings,
    answer: AnswerSettings,
}

impl World {
    fn new() -> Self {
        let (documents, kept) = (wiki(), tempfile::tempdir().unwrap());
        let embedder = WordEmbedder::new("f00d");
        let index = kept_index(documents.path(), kept.path(), &embedder);
        let settings = RetrievalSettings {
            mode: Mode::Lexical,
            copies: Copies::Keep,
            per_document: 0,
            ..RetrievalSettings::default()
        };
        let pages = Pages::of(&index).unwrap();
        Self { _folders: [documents, kept], index, pages, embedder, settings, answer: AnswerSettings::default() }
    }

    fn asking(&self) -> Asking<'_> {
        let engines = SearchContext { index: &self.index, embedder: &self.embedder, reranker: None };
        Asking { engines, settings: &self.settings, completion: Completion::Human, past_turns: 5, pages: &self.pages }
    }

    fn speaking(&self) -> RunnerSettings<'_> {
        RunnerSettings { prefix: "", settings: &self.answer, sources: 5, answer_without_match: AnswerWithoutMatch::On }
    }

    fn answer(&self, question: &Question) -> Answered {
        let kept = tempfile::tempdir().unwrap();
        let mut generator = cached_generator(kept.path(), model());
        let mut runner = ConversationRunner::new(&mut generator, self.speaking());
        answer(self.asking(), &mut runner, question, None, &CancelToken::never(), &mut |_| {}).unwrap()
    }

    fn explain(&self, question: &Question) -> Explained {
        let answered = self.answer(question);
        let ids: Vec<_> = answered.hits.iter().map(|hit| hit.evidence).collect();
        let vectors = self.index.vectors(&ids).unwrap();
        let sources = answered.hits.iter().zip(vectors);
        let sources: Vec<SourceVector> =
            sources.map(|(hit, embedding)| SourceVector { rank: hit.rank, embedding }).collect();
        let explaining = Explaining {
            ways: &WAYS,
            sources: &sources,
            generator: &mut model(),
            embedder: &self.embedder,
            settings: &AttributionSettings::default(),
            max_tokens: 50,
        };
        attribute(answered, explaining, &CancelToken::never(), &mut |_, _, _| {}).unwrap()
    }
}

fn layers() -> Question {
    Question {
        completed: "How many layers has the platform?".into(),
        answer: "three layers".into(),
        gold: vec!["http://wiki.example.net/spaces/~alice/pages/3/Architecture".into()],
        source: Kind::List,
        ..question(2)
    }
}

fn gone() -> Question {
    Question {
        completed: "Who travelled by trains of the office?".into(),
        gold: vec!["https://wiki.example.net/spaces/CS/pages/99/Gone".into()],
        language: Language::German,
        source: Kind::Table,
        question_type: QuestionType::Complex,
        ..question(7)
    }
}

fn same(figure: Option<Figure>, value: f64) -> bool {
    figure.is_some_and(|figure| (figure.value - value).abs() < 1e-12)
}

#[test]
fn figures_of_a_hand_made_run_are_exact() {
    let world = World::new();
    let judged = |rating| Judgement::Verdict(Verdict { answer_rating: rating, justification: "x".into() });
    let scored = [
        ScoredAnswer::new(world.answer(&question(1)), judged(1.0)),
        ScoredAnswer::new(world.answer(&layers()), Judgement::NotJudged),
        ScoredAnswer::new(world.answer(&gone()), judged(0.0)),
    ];
    assert_eq!(
        scored[0].answered.answer.text,
        "Alice did that [Source 1, Source 77?].".replace(", Source 77?]", "] [Source 77?]")
    );
    assert_eq!(ScoredAnswer::text(&scored[0].answered), "Alice did that.");
    assert!(!scored[2].answered.answer.answered);
    let figures = Figures::of(&scored);
    let all = |name| figures.get(None, name);
    assert!(same(all(Metric::AnswerRelevance), 0.5) && all(Metric::AnswerRelevance).unwrap().of == 2);
    assert!(same(all(Metric::NotJudgedRate), 1.0 / 3.0));
    // One word of three and all of one; one of three and one of two; nothing.
    assert!(same(all(Metric::TokenF1), (0.5 + 2.0 / 5.0) / 3.0), "{:?}", all(Metric::TokenF1));
    assert!(same(all(Metric::GoldRecall), (1.0 + 0.5) / 3.0));
    assert!(same(all(Metric::GoldContained), 1.0 / 3.0));
    assert!(same(all(Metric::OosRate), 1.0 / 3.0) && same(all(Metric::ExpectedOosRate), 1.0 / 3.0));
    assert!(same(all(Metric::RefusedWithGoldRate), 0.0) && all(Metric::RefusedWithGoldRate).unwrap().of == 2);
    assert!(
        same(all(Metric::CitedRate), 1.0)
            && same(all(Metric::CitationValidity), 0.5)
            && same(all(Metric::CitesGoldRate), 1.0)
    );
    let german = Some(Slice::Language(Language::German));
    assert!(same(figures.get(german, Metric::OosRate), 1.0) && figures.get(german, Metric::CitedRate).is_none());
    let papers = Some(Papers::beside(&as_in_paper(), None));
    let tables =
        [measured(&figures, ABOUT_TEXT, papers), measured(&figures, ABOUT_SOURCES, papers), intervals(&figures)];
    insta::assert_snapshot!(tables.join("\n"));
    assert!(!measured(&figures, figures.names, None).contains("paper"));
}

#[test]
fn a_copy_of_the_gold_page_has_the_answer_too() {
    let answered = World::new().answer(&layers());
    let ranks: Vec<usize> = (1..=2).filter(|rank| answered.is_gold(*rank)).collect();
    assert_eq!(ranks, [1, 2]);
    assert!(!answered.is_gold(77));
}

#[test]
fn a_judge_rates_the_answer_without_its_sources() {
    let world = World::new();
    let answered = world.answer(&question(1));
    let text = ScoredAnswer::text(&answered);
    let judged = Judged { question: &answered.question.completed, right: "Alice", answer: &text };
    let verdict = judge(&mut model(), judged, &CancelToken::never()).unwrap().unwrap();
    assert_eq!((verdict.answer_rating, verdict.justification.as_str()), (1.0, "It names her."));
}

#[test]
fn attribution_is_right_where_it_points_at_the_gold_page() {
    let world = World::new();
    let explained = world.explain(&question(1));
    assert_eq!(explained.pointed.iter().map(|p| p.way).collect::<Vec<_>>(), WAYS);
    let leaving_out = &explained.pointed[1..];
    assert!(leaving_out.iter().all(|p| p.is_gold && p.rank == Some(1) && p.decisive), "{leaving_out:?}");
}

#[test]
fn only_clusters_see_what_two_copies_contribute() {
    let explained = World::new().explain(&layers());
    let [.., alone, clustered] = explained.pointed.as_slice() else { panic!("{explained:?}") };
    // Without one copy the answer is drawn from the other.
    assert_eq!((clustered.rank, clustered.is_gold), (Some(1), true));
    assert!(alone.rank.is_none_or(|rank| explained.answered.is_gold(rank)), "{alone:?}");
}

#[test]
fn questions_without_a_gold_page_among_the_sources_are_not_attributed() {
    let world = World::new();
    let explained = [world.explain(&question(1)), world.explain(&gone())];
    assert!(explained[1].pointed.is_empty());
    let figures = Figures::of(&explained);
    assert!(same(figures.get(None, Metric::GoldRetrievedRate), 0.5));
    let accuracy = figures.get(None, Metric::Accuracy(Way::Counterfactual));
    assert!(same(accuracy, 1.0) && accuracy.unwrap().of == 1);
    let json = serde_json::Value::Object(figures.json());
    assert_eq!(json["attribution_accuracy"]["counterfactual"], 1.0);
    assert_eq!(json["by"]["turn"]["6-10"]["attribution_accuracy"]["counterfactual"], serde_json::Value::Null);
    insta::assert_snapshot!(measured(&figures, figures.names, Some(Papers::beside(&as_in_paper(), None))));
}

#[test]
fn a_second_run_remembers_every_question() {
    let world = World::new();
    let hybrid = RetrievalSettings::default();
    let asking = Asking { settings: &hybrid, ..world.asking() };
    let kept = tempfile::tempdir().unwrap();
    let never = CancelToken::never();
    let run = |questions: &[Question], settings: &str| {
        let mut cache = Cache::open(&kept.path().join("searches.jsonl")).unwrap();
        let mut heard = Vec::new();
        let resumed =
            ask_again(asking, None, Memory { cache: &mut cache, settings }, questions, &never, &mut |now, _| {
                heard.push(now);
            })
            .unwrap();
        assert_eq!(heard.last().map(|last| (last.done, last.remembered)), Some((questions.len(), resumed.remembered)));
        resumed
    };
    let questions = [question(1), gone(), layers()];
    let first = run(&questions, "one");
    let embedded = world.embedder.texts();
    let again = run(&questions, "one");
    assert_eq!((first.remembered, again.remembered, &again.asked), (0, 3, &first.asked));
    assert_eq!(first.asked, ask(asking, None, &questions, &never, &mut |_, _| {}).unwrap());
    assert_eq!(run(&questions, "two").remembered, 0, "other settings ask anew");
    let changed = [question(1), gone(), Question { completed: "What has three layers?".into(), ..layers() }];
    // The English questions are one conversation, which is asked as a whole.
    assert_eq!(run(&changed, "one").remembered, 1);
    assert!(world.embedder.texts() > embedded);
}

#[test]
fn a_cancelled_run_keeps_what_it_has() {
    let world = World::new();
    let kept = tempfile::tempdir().unwrap();
    let path = kept.path().join("searches.jsonl");
    let source = CancelSource::default();
    let questions = [question(1), gone()];
    let mut cache = Cache::open(&path).unwrap();
    let mut stop = |now: Progress, _| {
        if now.done > 0 {
            source.cancel();
        }
    };
    let memory = Memory { cache: &mut cache, settings: "s" };
    let stopped = ask_again(world.asking(), None, memory, &questions, &source.token(), &mut stop);
    assert!(matches!(stopped, Err(EvalError::Canceled(_))));
    let mut cache = Cache::open(&path).unwrap();
    let never = CancelToken::never();
    let memory = Memory { cache: &mut cache, settings: "s" };
    let resumed = ask_again(world.asking(), None, memory, &questions, &never, &mut |_, _| {}).unwrap();
    assert_eq!((resumed.remembered, resumed.asked.len()), (1, 2));
}

#[test]
fn ratings_of_two_runs_are_compared_by_conversation_where_both_have_one() {
    let answered = World::new().answer(&question(1));
    let run = |name: &str, ratings: [Option<f64>; 6]| {
        let judged = |rating: Option<f64>| match rating {
            Some(answer_rating) => Judgement::Verdict(Verdict { answer_rating, justification: "x".into() }),
            None => Judgement::NotJudged,
        };
        let scored = |(at, rating): (usize, Option<f64>)| {
            // The first two are turns of one conversation.
            let conversation = at.saturating_sub(1).to_string();
            let question = Question { conversation, ..question(if at == 1 { 2 } else { 1 }) };
            ScoredAnswer::new(Answered { question, ..answered.clone() }, judged(rating))
        };
        let papers = Papers::beside(&as_in_paper(), Some(Ablation::Context));
        Run::new(name, ratings.into_iter().enumerate().map(scored).collect(), Some(papers))
    };
    let runs = vec![
        run("none", [Some(0.0), Some(0.0), Some(0.5), Some(0.0), Some(1.0), Some(0.0)]),
        run("all", [Some(1.0), Some(1.0), Some(0.5), Some(0.5), Some(1.0), None]),
    ];
    let runs = Runs { ablation: Ablation::Context, default: 1, runs };
    let significance = runs.significance();
    let test = significance[0].all.paired_t.unwrap();
    // Of the conversations 1 (twice), 0, 0.5 and 0: t = 0.375 / (sqrt(0.229167) / 2).
    assert_eq!(test.pairs, 4);
    assert!((test.difference - 0.375).abs() < 1e-12 && (test.t.unwrap() - 1.566_698_9).abs() < 1e-6, "{test:?}");
    assert_eq!(test.p_holm, Some(test.p), "one choice alone needs no correction");
    let difference = significance[0].all.differences["answer_relevance"];
    assert!((difference.value + 0.5).abs() < 1e-12, "over questions: 1, 1, 0, 0.5 and 0");
    assert_eq!((difference.questions, difference.conversations), (5, 4));
    let text = runs.text();
    assert!(text.contains("judged by GPT-4o") && text.contains("relevance of follow-ups"), "{text}");
    assert!(text.contains("| none   |         6 |     0.250 |"), "{text}");
}

/// Three turns whose reference answers differ from the model's answers.
fn conversation() -> Vec<Question> {
    let gold = HistoryTurn { question: "?".into(), completed_question: "?".into(), answer: "The right answer".into() };
    let turn = |turn: usize, raw: &str, gold_page: &str| Question {
        raw: raw.into(),
        completed: "A person wrote this?".into(),
        past: vec![gold.clone(); turn - 1],
        gold: vec![format!("https://wiki.example.net/pages/{gold_page}")],
        ..question(turn)
    };
    vec![
        turn(1, "Who ran the TPM tests?", "1/Pump+Tests"),
        turn(2, "And how many layers does it have?", "2/Architecture"),
        turn(3, "Who books them?", "4/Travel"),
    ]
}

/// The prompts so far.
type Heard = Arc<Mutex<Vec<String>>>;

/// Completes follow-ups, answers, and records its prompts.
fn talker(heard: &Heard) -> ScriptedGenerator {
    let heard = Arc::clone(heard);
    let rewrites = PromptSettings::default().rewrite_tokens;
    let mut answering = answers();
    ScriptedGenerator::new(move |request: &GenerateRequest| {
        let prompt: String = request.parts.iter().map(|part| part.text.as_str()).collect();
        let completes = request.max_tokens == rewrites;
        let said = match completes {
            true if prompt.contains("Who books them?") => "Who books the trains?".to_owned(),
            true => "How many layers does the platform have?".to_owned(),
            false => answering(request),
        };
        heard.lock().unwrap().push(prompt);
        said
    })
}

#[test]
fn a_conversation_is_completed_from_what_the_model_said_itself() {
    let world = World::new();
    let (kept, heard) = (tempfile::tempdir().unwrap(), Heard::default());
    let mut generator = cached_generator(kept.path(), talker(&heard));
    let mut runner = ConversationRunner::new(&mut generator, world.speaking());
    let asking = Asking { completion: Completion::Model, ..world.asking() };
    let questions = conversation();
    let never = CancelToken::never();
    let asked = ask(asking, Some(&mut runner), &questions, &never, &mut |_, _| {}).unwrap();
    let shape: Vec<_> = asked.iter().map(|one| (one.query.as_str(), one.how)).collect();
    // The model leaves out what the first question named.
    let (first, mended) = (Some(RewriteHow::First), Some(RewriteHow::Mended));
    let expected = [
        ("Who ran the TPM tests?", first),
        ("How many layers does the platform have (TPM)?", mended),
        ("Who books the trains (TPM)?", mended),
    ];
    assert_eq!(shape, expected);
    assert!(asked.iter().all(|one| one.outcome.content.is_some()), "{asked:?}");
    let prompts = heard.lock().unwrap().clone();
    // The first question is answered, the second completed and answered, the third completed alone.
    assert_eq!(prompts.len(), 4, "{prompts:?}");
    assert!(prompts[1].contains("Alice did that") && prompts[3].contains("It has three"), "{prompts:?}");
    assert!(prompts.iter().all(|prompt| !prompt.contains("The right answer") && !prompt.contains("A person wrote")));
    let without = ask(asking, None, &questions, &never, &mut |_, _| {});
    assert!(matches!(without, Err(EvalError::NoGenerator)));
}

#[test]
fn a_source_that_was_asked_for_counts_as_cited_is_stored_and_is_no_word_of_the_answer() {
    let (world, kept) = (World::new(), tempfile::tempdir().unwrap());
    let says_no_source = ScriptedGenerator::new(|_| "It has three.".to_owned());
    let mut generator = cached_generator(kept.path(), says_no_source.naming(1));
    let mut runner = ConversationRunner::new(&mut generator, world.speaking());
    let answered = answer(world.asking(), &mut runner, &layers(), None, &CancelToken::never(), &mut |_| {}).unwrap();
    let said = (answered.answer.text.as_str(), answered.answer.own_text(), answered.answer.citations.as_slice());
    assert_eq!(said, ("It has three. [Source 1]", "It has three.", [1].as_slice()));
    assert!(answered.answer.cited_sources().is_empty(), "a follow-up is not searched by what it had to name");
    let stored = serde_json::to_string(&answered.answer).unwrap();
    assert_eq!(serde_json::from_str::<ragonite_rag::answer::Answer>(&stored).unwrap(), answered.answer);
}

#[test]
fn the_questions_before_are_searched_along_as_on_the_screen() {
    let world = World::new();
    let (kept, heard) = (tempfile::tempdir().unwrap(), Heard::default());
    let mut generator = cached_generator(kept.path(), talker(&heard));
    let mut runner = ConversationRunner::new(&mut generator, world.speaking());
    let asking = Asking { completion: Completion::Model, past_turns: 1, ..world.asking() };
    let never = CancelToken::never();
    let questions = conversation();
    let roles = questions.iter().map(|question| {
        let posed = search(asking, Some(&mut runner), question, &never).unwrap();
        runner.answer(asking, question, &posed, &never, &mut |_| {}).unwrap();
        posed.searched.retrieved.sub_queries.iter().map(|leg| (leg.role, leg.cited.len())).collect::<Vec<_>>()
    });
    // Citations of the model's own earlier turns are known.
    let follow_up = vec![(SubQueryRole::Raw, 0), (SubQueryRole::Rewrite, 0), (SubQueryRole::History, 1)];
    // Of the two turns before the third, the model sees one.
    assert_eq!(roles.collect::<Vec<_>>(), [vec![], follow_up.clone(), follow_up]);
    let history = Asking { completion: Completion::History, ..asking };
    for (past_turns, expected) in [(0, 0), (1, 1), (2, 2), (9, 2)] {
        let posed = search(Asking { past_turns, ..history }, None, &questions[2], &never).unwrap();
        let earlier =
            posed.searched.retrieved.sub_queries.iter().filter(|leg| leg.role == SubQueryRole::History).count();
        assert!(
            posed.searched.retrieved.sub_queries.iter().all(|leg| leg.cited.is_empty()),
            "a right answer of the benchmark is no answer of ours"
        );
        assert_eq!((posed.request.past.len(), earlier > 0), (expected, expected > 0), "{past_turns}");
    }
}

#[test]
fn a_conversation_that_was_stopped_goes_on_where_it_was() {
    let world = World::new();
    let kept = tempfile::tempdir().unwrap();
    let asking = Asking { completion: Completion::Model, ..world.asking() };
    let questions = conversation();
    let run = |stop: &CancelSource, stop_at: usize| {
        let heard = Heard::default();
        let mut generator = cached_generator(kept.path(), talker(&heard));
        let mut runner = ConversationRunner::new(&mut generator, world.speaking());
        let mut cache = Cache::open(&kept.path().join("searches.jsonl")).unwrap();
        let memory = Memory { cache: &mut cache, settings: "s" };
        let mut hear = |now: Progress, _| {
            if now.done >= stop_at {
                stop.cancel();
            }
        };
        let resumed = ask_again(asking, Some(&mut runner), memory, &questions, &stop.token(), &mut hear);
        (resumed, heard.lock().unwrap().len())
    };
    let (stopped, asked) = run(&CancelSource::default(), 2);
    assert!(matches!(stopped, Err(EvalError::Canceled(_))));
    assert_eq!(asked, 3);
    let (resumed, asked) = run(&CancelSource::default(), usize::MAX);
    assert_eq!((resumed.unwrap().remembered, asked), (2, 1), "what the model said is remembered turn by turn");
    let (again, asked) = run(&CancelSource::default(), usize::MAX);
    assert_eq!((again.unwrap().remembered, asked), (3, 0));
}

#[test]
fn answers_of_a_conversation_follow_each_other() {
    let world = World::new();
    let (kept, heard) = (tempfile::tempdir().unwrap(), Heard::default());
    let mut generator = cached_generator(kept.path(), talker(&heard));
    let mut runner = ConversationRunner::new(&mut generator, world.speaking());
    let asking = Asking { completion: Completion::Model, ..world.asking() };
    let answered: Vec<Answered> = conversation()
        .iter()
        .map(|question| answer(asking, &mut runner, question, None, &CancelToken::never(), &mut |_| {}).unwrap())
        .collect();
    assert_eq!(answered[1].query, "How many layers does the platform have (TPM)?");
    assert!(answered[1].answer.text.starts_with("It has three"), "{:?}", answered[1].answer.text);
    assert!(heard.lock().unwrap().iter().all(|prompt| !prompt.contains("The right answer")));
}

#[test]
fn a_question_in_another_language_is_searched_for_in_that_of_the_documents_too() {
    let world = World::new();
    let kept = tempfile::tempdir().unwrap();
    let german = Question { completed: "Wer hat die TPM-Tests ausgeführt?".into(), ..question(1) };
    let translating = || ScriptedGenerator::new(|_: &GenerateRequest| "Who ran the TPM-Tests?".to_owned());
    let mut generator = cached_generator(kept.path(), translating());
    let mut runner = ConversationRunner::new(&mut generator, world.speaking());
    let never = CancelToken::never();
    let posed = search(world.asking(), Some(&mut runner), &german, &never).unwrap();
    assert_eq!(posed.translated(), Some("Who ran the TPM-Tests?"));
    assert_eq!(posed.query(), german.completed, "the answer has the language of the question");
    assert!(posed.searched.retrieved.sub_queries.iter().any(|leg| leg.role == SubQueryRole::Translation));
    search(world.asking(), Some(&mut runner), &german, &never).unwrap();
    assert_eq!(runner.used(), Used { asked: 1, recalled: 1 });
    let off = RetrievalSettings { translate: Translate::Off, ..world.settings.clone() };
    let posed = search(Asking { settings: &off, ..world.asking() }, Some(&mut runner), &german, &never).unwrap();
    assert_eq!((posed.translated(), posed.searched.retrieved.sub_queries.len()), (None, 0));
    assert_eq!(
        search(world.asking(), None, &german, &never).unwrap().translated(),
        None,
        "nobody is there to translate"
    );
}

#[test]
fn orders_of_sources_are_compared_by_what_the_answers_say_and_a_second_run_asks_nothing() {
    let world = World::new();
    let kept = tempfile::tempdir().unwrap();
    // Reads only the source that stands first.
    let model = || {
        ScriptedGenerator::new(|request: &GenerateRequest| {
            let prompt: String = request.parts.iter().map(|part| part.text.as_str()).collect();
            let first = prompt.find("Source 1:\n").is_some_and(|best| prompt[best..].contains("Source 2:\n"));
            if first { "It has three layers [Source 1].".into() } else { "Many layers [Source 9].".to_owned() }
        })
    };
    let configured = Variation { completion: Completion::Human, ..as_in_paper() };
    let Comparing { variants, default } = Ablation::Order.compare(&configured);
    let questions = ["a", "b"].map(|conversation| Question { conversation: conversation.into(), ..layers() });
    let asked = || {
        let mut generator = cached_generator(kept.path(), model());
        let mut run = |Variant { name, variation }: &Variant| {
            let prompt = PromptSettings { order: variation.order, ..PromptSettings::default() };
            let settings = AnswerSettings { prompt, ..AnswerSettings::default() };
            let speaking = RunnerSettings { settings: &settings, ..world.speaking() };
            let mut runner = ConversationRunner::new(&mut generator, speaking);
            let answered = questions.iter().map(|question| {
                let never = CancelToken::never();
                let answered = answer(world.asking(), &mut runner, question, None, &never, &mut |_| {}).unwrap();
                ScoredAnswer::new(answered, Judgement::NotAsked)
            });
            Run::new(name, answered.collect(), None)
        };
        let runs = Runs { ablation: Ablation::Order, default, runs: variants.iter().map(&mut run).collect() };
        (runs, generator.used())
    };
    let (runs, used) = asked();
    assert_eq!(used.asked, 2, "the same question in another conversation is the same prompt");
    let [_then_longest, _longest, last, first] = runs.runs.as_slice() else { panic!("{runs:?}") };
    let sources = |run: &Run<ScoredAnswer>| run.asked[0].answered.answer.prompt.sources();
    assert_eq!((sources(last), sources(first)), (vec![1, 2], vec![1, 2]), "their numbers are the same");
    let tests = &runs.significance()[2].all;
    let contained = tests.exchanged["gold_contained"];
    assert_eq!((contained.higher_default, contained.higher_this, contained.p), (2, 0, 0.5));
    assert_eq!(contained.p_holm, Some(1.0), "corrected for the two figures that decide");
    assert_eq!(tests.exchanged["citation_validity"].p_holm, None);
    assert!(!tests.exchanged.contains_key("answer_relevance"), "nobody judged");
    let text = runs.text();
    let decided = text.split("P@1 by page number").next().unwrap();
    insta::assert_snapshot!(decided);
    let (again, used) = asked();
    assert_eq!((used.asked, again.text()), (0, text));
}
