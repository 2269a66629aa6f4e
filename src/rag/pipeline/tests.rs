//! Turns with engines that note what they are asked for.

use super::*;
use crate::answer::RewriteHow;
use crate::prompt::out_of_scope;
use crate::retrieval::{Hit, HitExplanation, MatchQuality, MatchVerdict, Translate};
use ragonite_base::{CancelSource, DocumentId, EvidenceId};
use ragonite_document::evidence::{Context, Kind};
use ragonite_inference::{GenerateRequest, ScriptedGenerator};

/// Notes each engine that is asked for.
struct Noted {
    asked: Vec<&'static str>,
    generator: ScriptedGenerator,
    language: Language,
    searched: Vec<Vec<String>>,
    translations: TranslationCache,
}

impl Noted {
    fn new(language: Language) -> Self {
        let answer = |_: &GenerateRequest| "Where is the pump of Kolmet?".to_owned();
        Self {
            asked: Vec::new(),
            generator: ScriptedGenerator::new(answer),
            language,
            searched: Vec::new(),
            translations: TranslationCache::default(),
        }
    }
}

/// Why a turn of a test stopped.
#[derive(Debug)]
enum Stopped {
    Canceled,
    Failed,
}

impl From<AnswerError> for Stopped {
    fn from(_: AnswerError) -> Self {
        Self::Failed
    }
}

impl From<RetrievalError> for Stopped {
    fn from(_: RetrievalError) -> Self {
        Self::Failed
    }
}

impl From<Canceled> for Stopped {
    fn from(_: Canceled) -> Self {
        Self::Canceled
    }
}

impl TurnEngines for Noted {
    type Error = Stopped;

    fn domain(&mut self, _: &CancelToken) -> Result<DomainFacts, Stopped> {
        self.asked.push("domain");
        Ok(DomainFacts { prefix: String::new(), language: self.language })
    }

    fn generator(&mut self, _: &TurnSettings, _: &CancelToken) -> Result<&mut dyn Generate, Stopped> {
        self.asked.push("generator");
        Ok(&mut self.generator)
    }

    fn search(&mut self, input: &SearchInput<'_>, _: &TurnSettings, _: &CancelToken) -> Result<Retrieved, Stopped> {
        self.asked.push("search");
        let texts = [Some(input.question), input.completed, input.translated];
        self.searched.push(texts.into_iter().flatten().map(str::to_owned).collect());
        let is_nonsense = input.question.contains("zorp");
        let verdict = if is_nonsense { MatchVerdict::NoMatch } else { MatchVerdict::Fits };
        let quality = Some(MatchQuality { verdict, ..MatchQuality::default() });
        Ok(Retrieved { hits: (1..=3).map(hit).collect(), quality, ..Retrieved::default() })
    }

    fn translations(&mut self) -> &mut TranslationCache {
        &mut self.translations
    }
}

fn hit(rank: usize) -> Hit {
    let id = i64::try_from(rank).unwrap();
    Hit {
        rank,
        evidence: EvidenceId(id),
        document: DocumentId(id),
        title: "Pumps".to_owned(),
        heading: String::new(),
        url: String::new(),
        date: None,
        space: None,
        ancestors: Vec::new(),
        location: "p1".to_owned(),
        kind: Kind::Passage,
        table: None,
        row: None,
        text: format!("Pump {rank} is in the hut."),
        content: format!("Pump {rank} is in the hut."),
        links: Vec::new(),
        context: Context::default(),
        fused: 1.0,
        dense_rank: None,
        dense_score: None,
        lexical_rank: None,
        lexical_score: None,
        rerank_score: None,
        copies: Vec::new(),
        version: None,
        why: HitExplanation::default(),
    }
}

fn request(text: &str, wording: Wording) -> TurnRequest {
    TurnRequest {
        question: text.to_owned(),
        wording,
        past: Vec::new(),
        earlier: Vec::new(),
        today: None,
        settings: TurnSettings::default(),
    }
}

fn earlier_turn() -> HistoryTurn {
    HistoryTurn {
        question: "Who is Kolmet?".to_owned(),
        completed_question: "Who is Kolmet?".to_owned(),
        answer: "Kolmet looks after the pump.".to_owned(),
    }
}

#[test]
fn a_first_question_asks_for_the_generator_after_the_search() {
    let mut engines = Noted::new(Language::English);
    let mut stages = Vec::new();
    let mut report = |progress: TurnProgress<'_>| {
        stages.push(match progress {
            TurnProgress::Translated(_) => "translated",
            TurnProgress::Completed(_) => "completed",
            TurnProgress::Retrieved(_) => "retrieved",
            TurnProgress::Answering(_) => "answering",
        });
    };
    let first = request("Where is the pump?", Wording::Typed);
    let trace = answer_turn(&mut engines, &first, &mut report, &CancelToken::never()).unwrap();
    assert_eq!(engines.asked, ["domain", "search", "generator"]);
    stages.dedup();
    assert_eq!(stages, ["completed", "retrieved", "answering"]);
    assert_eq!((trace.searched.rewrite.how, trace.answer.answered), (RewriteHow::First, true));
}

#[test]
fn only_the_best_hits_reach_the_prompt() {
    for (sources, expected) in [(0, vec![]), (2, vec![1, 2]), (9, vec![1, 2, 3])] {
        let mut asked = request("Where is the pump?", Wording::Typed);
        asked.settings.sources = sources;
        let mut engines = Noted::new(Language::English);
        let trace = answer_turn(&mut engines, &asked, &mut |_| {}, &CancelToken::never()).unwrap();
        let mut in_prompt = trace.answer.prompt.sources();
        in_prompt.sort_unstable();
        assert_eq!(in_prompt, expected);
    }
}

#[test]
fn a_follow_up_is_searched_in_both_forms() {
    let mut engines = Noted::new(Language::English);
    let follow_up = TurnRequest { past: vec![earlier_turn()], ..request("Where is his pump?", Wording::Typed) };
    let searched = search_turn(&mut engines, &follow_up, &mut |_| {}, &CancelToken::never()).unwrap();
    assert_eq!(searched.rewrite.completed, "Where is the pump of Kolmet?");
    assert_eq!(engines.searched, [["Where is his pump?", "Where is the pump of Kolmet?"]]);
}

#[test]
fn an_edited_question_and_one_asked_again_are_searched_as_they_stand() {
    let again = Wording::Again { completed: "Where is the pump?".to_owned() };
    for (wording, how, completed) in
        [(Wording::Edited, RewriteHow::Edited, "And his?"), (again, RewriteHow::Again, "Where is the pump?")]
    {
        let mut engines = Noted::new(Language::English);
        let asked = TurnRequest { past: vec![earlier_turn()], ..request("And his?", wording) };
        let searched = search_turn(&mut engines, &asked, &mut |_| {}, &CancelToken::never()).unwrap();
        assert_eq!((searched.rewrite.how, engines.asked), (how, vec!["domain", "search"]));
        assert_eq!(engines.searched, [["And his?", completed]]);
    }
}

#[test]
fn a_question_is_translated_once() {
    let mut engines = Noted::new(Language::English);
    let german = request("Wo steht die Pumpe von Kolmet?", Wording::Typed);
    for how in [TranslationHow::Model, TranslationHow::Known] {
        let searched = search_turn(&mut engines, &german, &mut |_| {}, &CancelToken::never()).unwrap();
        let translation = searched.translation.unwrap();
        assert_eq!((translation.how, translation.text.as_deref()), (how, Some("Where is the pump of Kolmet?")));
    }
    assert_eq!(engines.asked, ["domain", "generator", "search", "domain", "search"]);
    let typed = "Wo steht die Pumpe von Kolmet?";
    assert_eq!(engines.searched, [[typed, typed, "Where is the pump of Kolmet?"]; 2]);
    let mut off = german;
    off.settings.retrieval.translate = Translate::Off;
    let searched = search_turn(&mut engines, &off, &mut |_| {}, &CancelToken::never()).unwrap();
    assert_eq!(searched.translation, None);
}

#[test]
fn no_stage_begins_after_a_cancellation() {
    for (last, expected) in [("completed", vec!["domain"]), ("retrieved", vec!["domain", "search"])] {
        let mut engines = Noted::new(Language::English);
        let cancel = CancelSource::default();
        let mut report = |progress: TurnProgress<'_>| match progress {
            TurnProgress::Completed(_) if last == "completed" => cancel.cancel(),
            TurnProgress::Retrieved(_) if last == "retrieved" => cancel.cancel(),
            _ => {}
        };
        let first = request("Where is the pump?", Wording::Typed);
        let result = answer_turn(&mut engines, &first, &mut report, &cancel.token());
        assert!(matches!(result, Err(Stopped::Canceled)));
        assert_eq!(engines.asked, expected);
    }
}

#[test]
fn where_no_document_fits_the_generator_is_not_asked_unless_it_is_wanted() {
    let expected = [
        ("Where is the zorp?", AnswerWithoutMatch::Off, vec!["domain", "search"]),
        ("Where is the zorp?", AnswerWithoutMatch::On, vec!["domain", "search", "generator"]),
        ("Where is the pump?", AnswerWithoutMatch::Off, vec!["domain", "search", "generator"]),
    ];
    for (text, answer_without_match, asked) in expected {
        let mut engines = Noted::new(Language::English);
        let mut question = request(text, Wording::Typed);
        question.settings.answer_without_match = answer_without_match;
        let mut streamed = String::new();
        let mut report = |progress: TurnProgress<'_>| {
            if let TurnProgress::Answering(AnswerEvent::Text(text)) = progress {
                streamed.push_str(&text);
            }
        };
        let trace = answer_turn(&mut engines, &question, &mut report, &CancelToken::never()).unwrap();
        assert_eq!(engines.asked, asked, "{text}");
        assert_eq!(trace.answer.answered, asked.contains(&"generator"));
        if !trace.answer.answered {
            assert_eq!(trace.answer.text, out_of_scope(Language::English));
            assert_eq!(streamed, trace.answer.text);
            assert!(trace.answer.prompt.segments.is_empty() && trace.answer.citations.is_empty());
        }
    }
}
