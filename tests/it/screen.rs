//! Whole frames as snapshots: text at three sizes, and one with styles; and a soak test of random keys.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyModifiers};
use ragonite::app::{
    App, AppSettings, DocumentPart, DomainHealth, DomainSummary, Effect, EngineStatus, Event, JobId, Piece, Problem,
    TurnKey,
};
use ragonite::base::{ConversationId, DocumentId, DomainName, EvidenceId, Language, Millis, TurnId};
use ragonite::config::{GpuFit, ProfileReason, Setting, SettingsOverride};
use ragonite::document::evidence::{Context, Kind, TableGrid};
use ragonite::history::{ConversationRecord, Found, FoundTurn};
use ragonite::inference::{Completion, Finish, Sampling, SpecialTokens};
use ragonite::rag::answer::{Answer, Rewrite, RewriteHow, Suggestions};
use ragonite::rag::attribution::{
    Attribution, AttributionTimings, Cluster, Counterfactual, Method, Provenance, Sentence, SentenceCluster,
};
use ragonite::rag::prompt::{Cut, CutHow, Part, Prompt, Segment};
use ragonite::rag::retrieval::{Discarded, Hit, HitExplanation, Mode, RankedEvidence, RetrievalTimings, Retrieved};
use ragonite::tui::{Intent, Keymap, Pane, ScreenState, Theme, Words, draw, on_input};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

use crate::context::without_before;

pub(crate) const NOW: OffsetDateTime = datetime!(2025-05-05 10:32 UTC);
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (160, 45)];

pub(crate) fn domain_name() -> DomainName {
    "wiki".parse().unwrap()
}

pub(crate) fn domain() -> DomainSummary {
    DomainSummary {
        name: domain_name(),
        documents: 15,
        evidences: 412,
        changed_at: String::new(),
        ingested_at: "2025-05-04T09:00:00Z".into(),
        health: DomainHealth::Ready,
        problem: None,
    }
}

fn broken() -> DomainSummary {
    let problem = Problem {
        what: "it was made with the embedder bge-m3".into(),
        next: "Re-embed it with `ragonite domain rebuild old`".into(),
    };
    DomainSummary { name: "old".parse().unwrap(), problem: Some(problem), ..domain() }
}

pub(crate) fn conversation(id: i64, title: &str) -> ConversationRecord {
    ConversationRecord {
        id: ConversationId(id),
        domain: domain_name(),
        title: title.into(),
        started_at: NOW,
        changed_at: NOW,
        turns: 2,
        pinned: false,
        deleted_at: None,
    }
}

pub(crate) fn engine() -> EngineStatus {
    EngineStatus {
        profile: "starter".into(),
        profile_reason: Some(ProfileReason::Machine(GpuFit::NoGpu)),
        embedder: "all-MiniLM-L6-v2".into(),
        generator: "qwen2.5-coder-1.5b-instruct".into(),
        device: "CPU, 2 threads".into(),
        memory: Some(1_940_000_000),
        loading: None,
    }
}

fn hit(rank: usize, kind: Kind, origin: (&str, &str), content: &str) -> Hit {
    let (title, heading) = origin;
    let context = Context {
        title: title.into(),
        heading_path: vec![heading.into()],
        before: "The field team met in the depot.".into(),
        after: "Next meeting in two weeks.".into(),
    };
    let id = i64::try_from(rank).unwrap();
    let table = matches!(kind, Kind::Row | Kind::Table).then_some(1);
    Hit {
        rank,
        evidence: EvidenceId(100 + id),
        document: DocumentId(id),
        title: title.into(),
        heading: heading.into(),
        url: "wiki/meeting-2025-02-19.json".into(),
        date: None,
        space: None,
        ancestors: Vec::new(),
        location: match kind {
            Kind::Row => "Table 1, row 3".into(),
            Kind::Table => "Table 1".into(),
            Kind::Passage | Kind::List => "paragraph 2".into(),
        },
        kind,
        table,
        row: (kind == Kind::Row).then_some(3),
        text: content.into(),
        content: content.into(),
        links: Vec::new(),
        context,
        fused: 0.0328 / f64::from(u32::try_from(rank).unwrap()),
        dense_rank: Some(rank),
        dense_score: Some(0.8),
        lexical_rank: (rank != 2).then_some(rank + 1),
        lexical_score: Some(7.5),
        rerank_score: None,
        copies: Vec::new(),
        version: None,
        why: HitExplanation::default(),
    }
}

pub(crate) fn hits() -> Vec<Hit> {
    let meeting = ("Field meeting 2025-02-19", "Action items");
    vec![
        hit(
            1,
            Kind::Row,
            meeting,
            "Row 3 in Table 1: Member is Alice, and Task is Replace the satellite modem, and Due is 2025-03-14",
        ),
        hit(
            2,
            Kind::Passage,
            ("Decision: satellite modem", "Outcome"),
            "The modem of station Kestrel is replaced by the low-power variant. Alice leads the work.",
        ),
        hit(3, Kind::List, meeting, "- order spare antennas\n- update the 手順書 of the depot"),
        hit(4, Kind::Table, ("Hardware boards", "Revisions"), "Board | Revision | Power"),
        hit(
            5,
            Kind::Passage,
            ("Onboarding", "First week"),
            "New members read the glossary before they go to a station.",
        ),
    ]
}

pub(crate) fn grid() -> TableGrid {
    let row = |cells: [&str; 5]| cells.map(String::from).to_vec();
    TableGrid {
        number: 1,
        caption: "Action items".into(),
        header: row(["Member", "Task", "Due", "Station", "Remarks of the field team"]),
        rows: vec![
            row(["Bob", "Check the batteries", "2025-03-01", "Heron", "two cells are weak"]),
            row(["Chen", "Write the regression report", "2025-03-07", "–", ""]),
            row([
                "Alice",
                "Replace the satellite modem",
                "2025-03-14",
                "Kestrel",
                "needs a calm day, see the decision",
            ]),
            row(["Dana", "Order spare antennas", "2025-03-20", "Depot", ""]),
        ],
    }
}

/// The document of the first and the third hit; the found row follows its table.
pub(crate) fn document_parts() -> Arc<[DocumentPart]> {
    let hits = hits();
    let part = |evidence: i64, kind, heading: &str, location: &str, text: &str| DocumentPart {
        evidence: EvidenceId(evidence),
        kind,
        piece: Piece::First,
        heading_path: vec![heading.into()],
        location: location.into(),
        text: text.into(),
    };
    let mut parts = vec![part(201, Kind::Passage, "Agenda", "Agenda, text 1", "The field team met in the depot.")];
    let minutes = "The modem of station Kestrel was discussed at length, and so was the weather of the coming weeks. ";
    parts.extend((1..=12).map(|number| {
        part(210 + number, Kind::Passage, "Minutes", &format!("Minutes, text {number}"), &minutes.repeat(2))
    }));
    let table = "Table 1: Action items\nBob | Check the batteries\nAlice | Replace the satellite modem";
    parts.push(part(230, Kind::Table, "Action items", "Action items, Table 1", table));
    parts.push(part(101, Kind::Row, "Action items", "Table 1, row 3", &hits[0].content));
    parts.push(part(103, Kind::List, "Action items", "Action items, list 1", &hits[2].content));
    parts.push(part(240, Kind::Passage, "Close", "Close, text 1", "Next meeting in two weeks."));
    parts.into()
}

pub(crate) fn retrieved(query: &str) -> Retrieved {
    let ranked = |rank: usize, evidence: i64, score| RankedEvidence { rank, evidence: EvidenceId(evidence), score };
    Retrieved {
        query: query.into(),
        mode: Mode::Hybrid,
        dense: vec![ranked(1, 101, 0.8123), ranked(2, 102, 0.77), ranked(3, 190, 0.61)],
        lexical: vec![ranked(1, 103, 9.25), ranked(2, 101, 7.5)],
        hits: hits(),
        discarded: vec![Discarded {
            evidence: EvidenceId(190),
            title: "Winter work".into(),
            heading: "Fuel and heating".into(),
        }],
        sub_queries: Vec::new(),
        unknown_terms: Vec::new(),
        quality: None,
        day: None,
        timings_ms: RetrievalTimings {
            embed: Millis(21.0),
            dense: Millis(1.5),
            lexical: Millis(3.0),
            fuse: Millis(0.6),
            rerank: Millis(0.0),
            total: Millis(26.1),
        },
    }
}

fn segment(part: Part, text: &str, tokens: usize) -> Segment {
    Segment { part, text: text.into(), special: SpecialTokens::AsText, tokens }
}

fn prompt() -> Prompt {
    Prompt {
        segments: vec![
            segment(Part::Template, "<|im_start|>system\n", 3),
            segment(Part::System, "Answer from the sources only. Cite them as [Source n].\n", 96),
            segment(
                Part::SharedContext { ranks: vec![1, 2] },
                "Around Source 1, Source 2:\nThe station goes down at low tide …\n",
                41,
            ),
            segment(Part::Evidence { rank: 1 }, "Source 1: Row 3 in Table 1: Member is Alice, due 2025-03-14 …\n", 77),
            segment(Part::Evidence { rank: 4 }, "Source 4: Board | Revision | Power\n", 310),
            segment(Part::Evidence { rank: 3 }, "Source 3: - order spare antennas\n", 84),
            segment(Part::Evidence { rank: 2 }, "Source 2: The modem of station Kestrel …\n", 80),
            segment(Part::Question, "Who replaces the modem?", 9),
        ],
        stop: vec!["User:".into()],
        cut: vec![Cut { rank: 5, evidence: EvidenceId(105), tokens: 64, how: CutHow::Dropped }],
    }
}

fn completion(text: &str) -> Completion {
    Completion {
        text: text.into(),
        tokens: vec![1; 42],
        prompt_tokens: 1240,
        reused_tokens: 99,
        drafted_tokens: 0,
        narrowest: None,
        log_probabilities: Vec::new(),
        draft_log_probabilities: Vec::new(),
        finish: Finish::End,
        first_token_ms: Millis(2130.0),
        total_ms: Millis(4210.0),
    }
}

pub(crate) const ANSWER: &str = "**Alice** replaces the satellite modem of station *Kestrel* [Source 1, Source 2]:\n\n\
    - it is due on `2025-03-14` [Source 1]\n- the low-power variant was chosen [Source 2, Source 9]";

pub(crate) fn answer(text: &str, invalid: Vec<usize>) -> Answer {
    Answer {
        named: None,
        withheld: None,
        text: text.into(),
        answered: true,
        citations: vec![1, 2],
        invalid_citations: invalid,
        language: Language::English,
        prompt: prompt(),
        sampling: Sampling::Greedy,
        completion: completion(text),
    }
}

pub(crate) fn rewrite(completed: &str, how: RewriteHow) -> Rewrite {
    let prompt = (how != RewriteHow::First).then(|| Prompt {
        segments: vec![segment(Part::Question, "Make the question self-contained: And when is it due?", 14)],
        ..Prompt::default()
    });
    let completion = (how != RewriteHow::First).then(|| completion(completed));
    Rewrite { completed: completed.into(), how, prompt, completion, total_ms: Millis(830.0) }
}

pub(crate) fn cluster(hits: &[usize], how: Provenance, contribution: f64, share: Option<f64>, text: &str) -> Cluster {
    let counterfactual =
        Counterfactual { prompt: prompt().without(hits), completion: completion(text), similarity: 1.0 - contribution };
    Cluster {
        hits: hits.to_vec(),
        how,
        contribution,
        share,
        counterfactual_answer: Some(text.into()),
        drops: Vec::new(),
        drops_how: None,
        divergences: Vec::new(),
        counterfactuals: vec![counterfactual],
    }
}

/// Kinds of explanations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    SomeDecide,
    NoneDecides,
}

pub(crate) fn attribution(verdict: Verdict) -> Attribution {
    let decisive = verdict == Verdict::SomeDecide;
    let clusters = if decisive {
        vec![
            cluster(
                &[1, 3],
                Provenance::Regenerated,
                0.2134,
                Some(0.814),
                "Bob replaces the modem of station Kestrel [Source 2].",
            ),
            cluster(&[2], Provenance::Regenerated, 0.139, Some(0.186), "Alice replaces it [Source 1]."),
            cluster(&[4], Provenance::Verified, 0.0, None, ANSWER),
        ]
    } else {
        [1, 2, 3, 4].map(|rank| cluster(&[rank], Provenance::Verified, 0.0, None, ANSWER)).into()
    };
    let timings_ms = AttributionTimings { total: Millis(8240.0), ..AttributionTimings::default() };
    Attribution { decisive, clusters, timings_ms, ..Attribution::new(Method::Counterfactual) }
}

/// A logprob explanation of two sentences with different sources.
pub(crate) fn by_logprob() -> Attribution {
    let by = |hits: &[usize], contribution: f64, share: f64, drops: &[f32]| Cluster {
        hits: hits.to_vec(),
        how: Provenance::Logprob,
        contribution,
        share: Some(share),
        counterfactual_answer: None,
        drops: drops.to_vec(),
        drops_how: None,
        divergences: Vec::new(),
        counterfactuals: Vec::new(),
    };
    let rests = |hits: &[usize], drop: f64, contribution: f64, share: Option<f64>| SentenceCluster {
        hits: hits.to_vec(),
        how: Provenance::Logprob,
        drop,
        contribution,
        share,
    };
    let sentence = |text: &str, tokens: std::ops::Range<usize>, clusters: Vec<SentenceCluster>| Sentence {
        cited: Vec::new(),
        text: text.to_owned(),
        tokens,
        decisive: true,
        clusters,
    };
    let first = vec![rests(&[1, 3], 2.0, 0.865, Some(1.0)), rests(&[2], 0.0, 0.0, None)];
    let second = vec![rests(&[2], 3.0, 0.777, Some(0.998)), rests(&[1, 3], 0.4, 0.181, Some(0.002))];
    Attribution {
        decisive: true,
        clusters: vec![by(&[2], 0.632, 0.7, &[0.0, 2.5, 0.5]), by(&[1, 3], 0.551, 0.3, &[2.0, 0.4, 0.0])],
        tokens: ["Alice replaces it.", " It is\u{1b} due", " on 2025-03-14."].map(str::to_owned).into(),
        sentences: vec![
            sentence("Alice replaces the satellite modem of station Kestrel [Source 1, Source 2]:", 0..1, first),
            sentence("- it is due on 2025-03-14 [Source 1]", 1..3, second),
        ],
        timings_ms: AttributionTimings { total: Millis(2150.0), ..AttributionTimings::default() },
        ..Attribution::new(Method::Logprob)
    }
}

/// An app and its screen, driven by events and keys.
pub(crate) struct Stage {
    pub(crate) app: App,
    pub(crate) screen: ScreenState,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with(Suggestions::Off)
    }

    pub(crate) fn with(suggestions: Suggestions) -> Self {
        let app = App::new(AppSettings { suggestions, ..AppSettings::default() });
        let mut stage = Self { app, screen: ScreenState::new(Theme::colour(), Keymap::default()) };
        stage.play([Event::EngineChanged(engine())]);
        stage
    }

    pub(crate) fn open() -> Self {
        Self::new().opened()
    }

    pub(crate) fn opened(mut self) -> Self {
        let conversations =
            vec![conversation(2, "Who replaces the modem?"), conversation(1, "Was ist ein Gateway und wozu dient es?")];
        self.play([
            Event::DomainsListed(vec![
                domain(),
                DomainSummary { name: "league".parse().unwrap(), ..domain() },
                broken(),
            ]),
            Event::DomainChosen(domain_name()),
            Event::ConversationsListed { domain: domain_name(), conversations, trash: Vec::new() },
            Event::DomainOpened(domain()),
        ]);
        self
    }

    pub(crate) fn asked(text: &str) -> Self {
        Self::open().ask(text)
    }

    pub(crate) fn ask(mut self, text: &str) -> Self {
        self.play([Event::QuestionAsked { text: text.into(), at: NOW }]);
        self
    }

    pub(crate) fn searched(text: &str) -> Self {
        Self::asked(text).search(text)
    }

    pub(crate) fn search(mut self, text: &str) -> Self {
        let turn = TurnKey(1);
        self.play([
            Event::QuestionCompleted { turn, rewrite: Box::new(rewrite(text, RewriteHow::First)) },
            Event::HitsRetrieved { turn, retrieved: Box::new(retrieved(text)) },
        ]);
        self
    }

    pub(crate) fn answered() -> Self {
        Self::searched("Who replaces the modem?").answer()
    }

    pub(crate) fn answer(mut self) -> Self {
        self.finish(TurnKey(1), answer(ANSWER, vec![9]));
        self
    }

    pub(crate) fn suggesting() -> Self {
        let question = "Who replaces the modem?";
        Self::with(Suggestions::Auto).opened().ask(question).search(question).answer()
    }

    pub(crate) fn explained(verdict: Verdict) -> Self {
        let mut stage = Self::answered();
        let turn = TurnKey(1);
        stage.play([
            Event::ExplainRequested { turn: 0, method: Method::Counterfactual },
            Event::AttributionFinished { job: turn.job(), attribution: Box::new(attribution(verdict)) },
        ]);
        stage
    }

    pub(crate) fn finish(&mut self, turn: TurnKey, answer: Answer) {
        let turns = u32::try_from(self.app.turns().len()).unwrap();
        let conversation = ConversationRecord { turns, ..conversation(2, "Who replaces the modem?") };
        self.play([
            Event::AnswerFinished { turn, answer: Box::new(answer) },
            Event::TurnSaved { turn, conversation, id: TurnId(1), number: turns },
        ]);
    }

    pub(crate) fn play(&mut self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            let effects = self.app.handle(event);
            self.serve(effects);
        }
    }

    /// The part of the runtime that the screen itself uses.
    pub(crate) fn serve(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if let Effect::LoadTable { evidence, .. } = effect {
                self.app.handle(Event::TableLoaded { domain: domain().name, evidence, table: Some(Arc::new(grid())) });
            } else if let Effect::LoadDocument { document, .. } = effect {
                self.app.handle(Event::DocumentLoaded { document, parts: Ok(document_parts()) });
            }
        }
    }

    pub(crate) fn press(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        self.input(&Input::Key(KeyEvent::new(code, modifiers)));
    }

    /// Passes an input to the screen and its intents to the app; gives the intents.
    pub(crate) fn input(&mut self, input: &Input) -> Vec<Intent> {
        let intents = on_input(&mut self.screen, &self.app, input, NOW);
        assert!(!intents.is_empty() || !matches!(input, Input::Key(_)), "{input:?} leads to no frame");
        for intent in &intents {
            if let Intent::App(event) = intent {
                self.play([event.clone()]);
            }
        }
        intents
    }

    /// Sets the theme.
    pub(crate) fn in_theme(mut self, theme: Theme) -> Self {
        self.screen = ScreenState::new(theme, Keymap::default());
        self
    }

    /// Sets the language.
    pub(crate) fn in_language(mut self, language: Language) -> Self {
        self.screen = self.screen.with_words(Words::of(language));
        self
    }

    pub(crate) fn key(mut self, c: char) -> Self {
        self.press(KeyCode::Char(c), KeyModifiers::NONE);
        self
    }

    pub(crate) fn at(mut self, pane: Pane) -> Self {
        self.screen.set_focus(pane);
        self
    }

    /// Draws twice: the present state, and then with what the screen requested.
    pub(crate) fn frame(&mut self, size: (u16, u16)) -> Terminal<TestBackend> {
        let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
        terminal.draw(|frame| draw(&self.app, &mut self.screen, NOW, frame)).unwrap();
        if let Some(wanted) = self.screen.wants(&self.app) {
            self.play([wanted]);
        }
        terminal.draw(|frame| draw(&self.app, &mut self.screen, NOW + Duration::seconds(3), frame)).unwrap();
        terminal
    }
}

#[test]
fn the_first_frame_after_looking_through_the_help_counts_what_was_found() {
    let mut stage = Stage::answered().at(Pane::Conversation).key('?').key('/');
    stage.input(&Input::Paste("sentence".into()));
    stage.press(KeyCode::Enter, KeyModifiers::NONE);
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    terminal.draw(|frame| draw(&stage.app, &mut stage.screen, NOW, frame)).unwrap();
    let seen = terminal.backend().to_string();
    assert!(seen.contains("“sentence” 1 of 2"), "{seen}");
}

/// A snapshot per size.
pub(crate) fn assert_frames(name: &str, stage: impl Fn() -> Stage) {
    for size in SIZES {
        let terminal = stage().frame(size);
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), terminal.backend().to_string());
    }
}

#[test]
fn without_a_domain_the_screen_says_how_to_make_one() {
    assert_frames("no_domain", || {
        let mut stage = Stage::new();
        stage.play([Event::DomainsListed(vec![])]);
        stage
    });
}

#[test]
fn an_open_domain_invites_to_ask() {
    assert_frames("open_domain", Stage::open);
}

#[test]
fn the_palette_shows_actions_with_their_keys() {
    assert_frames("palette", || {
        let mut stage = Stage::answered();
        stage.press(KeyCode::Char('p'), KeyModifiers::CONTROL);
        for letter in "explain".chars() {
            stage.press(KeyCode::Char(letter), KeyModifiers::NONE);
        }
        stage
    });
}

#[test]
fn the_trash_stands_below_the_conversations_and_asks_before_it_forgets() {
    let trashed = || {
        let mut stage = Stage::open();
        let trash = vec![ConversationRecord { deleted_at: Some(NOW), ..conversation(9, "Ist das Modem alt?") }];
        let pinned = ConversationRecord { pinned: true, ..conversation(2, "Who replaces the modem?") };
        let domain = domain_name();
        stage.play([Event::ConversationsListed { domain, conversations: vec![pinned], trash }]);
        stage.at(Pane::Lists).key('G')
    };
    assert_frames("trash", trashed);
    assert_frames("purge", || trashed().key('D'));
}

#[test]
fn what_is_looked_for_is_marked_and_counted() {
    assert_frames("find", || {
        let mut stage = Stage::answered().at(Pane::Evidence).key('/');
        for letter in "modem".chars() {
            stage.press(KeyCode::Char(letter), KeyModifiers::NONE);
        }
        stage.press(KeyCode::Enter, KeyModifiers::NONE);
        stage.frame((120, 40));
        stage.key('n')
    });
    assert_frames("found", || {
        let mut stage = Stage::open().at(Pane::Lists);
        let turns = vec![FoundTurn { number: 2, snippet: "…who replaces the modem?".into() }];
        let elsewhere = ConversationRecord { domain: "league".parse().unwrap(), ..conversation(9, "Modems sold") };
        let found = vec![
            Found { conversation: conversation(2, "Who replaces the modem?"), turns },
            Found { conversation: elsewhere, turns: Vec::new() },
        ];
        let text = "modem".to_owned();
        stage.play([Event::ConversationsWanted(text.clone()), Event::ConversationsFound { text, found }]);
        stage.press(KeyCode::Char('G'), KeyModifiers::NONE);
        stage.key('k')
    });
}

#[test]
fn questions_to_go_on_with_stand_below_the_last_answer() {
    assert_frames("looking_for_suggestions", Stage::suggesting);
    assert_frames("suggestions", || {
        let mut stage = Stage::suggesting();
        let questions = vec!["Who ordered the new modem?".into(), "When does the contract of the modem end?".into()];
        stage.play([Event::QuestionsSuggested { job: JobId(2), questions }]);
        stage
    });
}

#[test]
fn a_rating_down_asks_why_and_is_shown() {
    assert_frames("reasons", || Stage::answered().at(Pane::Conversation).key('-').key('j'));
    assert_frames("rated", || {
        let mut stage = Stage::answered().at(Pane::Conversation).key('-').key('4');
        for letter in "from 2023".chars() {
            stage.press(KeyCode::Char(letter), KeyModifiers::NONE);
        }
        stage.press(KeyCode::Enter, KeyModifiers::NONE);
        stage
    });
}

#[test]
fn before_the_first_token_the_stage_is_named() {
    assert_frames("reading", || {
        let mut stage = Stage::searched("Who replaces the modem?");
        let turn = TurnKey(1);
        stage.play([
            Event::PromptBuilt { turn, tokens: 1240, sources: 4, cut: vec![] },
            Event::PromptRead { turn, done: 558, total: 1240 },
        ]);
        stage
    });
}

#[test]
fn an_answer_appears_as_it_is_written() {
    assert_frames("streaming", || {
        let mut stage = Stage::searched("Who replaces the modem?");
        let turn = TurnKey(1);
        let text = "**Alice** replaces the modem [Source 1]. The var".into();
        stage.play([
            Event::PromptBuilt { turn, tokens: 1240, sources: 4, cut: vec![] },
            Event::AnswerGrew { turn, text },
        ]);
        stage
    });
}

#[test]
fn an_answer_stands_beside_its_evidence() {
    assert_frames("answered", Stage::answered);
    assert_frames("evidence_row", || Stage::answered().at(Pane::Evidence));
}

#[test]
fn follow_up_and_out_of_scope_are_recognised() {
    assert_frames("follow_up", || {
        let mut stage = Stage::answered();
        let turn = TurnKey(2);
        let completed = "When is the replacement of the satellite modem of station Kestrel due?";
        stage.play([
            Event::QuestionAsked { text: "And when is it due?".into(), at: NOW },
            Event::QuestionCompleted { turn, rewrite: Box::new(rewrite(completed, RewriteHow::Model)) },
            Event::HitsRetrieved { turn, retrieved: Box::new(retrieved(completed)) },
        ]);
        let text = "The information is not in the sources.";
        stage.finish(turn, Answer { answered: false, citations: vec![], ..answer(text, vec![]) });
        stage.at(Pane::Conversation)
    });
}

#[test]
fn text_that_arrives_out_of_sight_is_announced() {
    let mut stage = Stage::searched("Who replaces the modem?");
    let text = "One line of the answer.\n\n".repeat(20);
    stage.play([Event::AnswerGrew { turn: TurnKey(1), text: text.clone() }]);
    stage.frame((80, 24));
    stage.press(KeyCode::PageUp, KeyModifiers::NONE);
    stage.play([Event::AnswerGrew { turn: TurnKey(1), text }]);
    let seen = stage.frame((80, 24)).backend().to_string();
    assert!(seen.contains("new text below"), "{seen}");
    stage.screen.set_focus(Pane::Conversation);
    stage.press(KeyCode::End, KeyModifiers::NONE);
    let seen = stage.frame((80, 24)).backend().to_string();
    assert!(seen.contains("writing…") && !seen.contains("new text below"), "{seen}");
}

#[test]
fn the_table_of_the_selected_hit_is_asked_for_once() {
    let mut stage = Stage::searched("Who replaces the modem?");
    let wanted = stage.screen.wants(&stage.app).expect("the first hit is a row");
    assert_eq!(wanted, Event::TableWanted(EvidenceId(101)));
    stage.play([wanted]);
    assert_eq!(stage.screen.wants(&stage.app), None);
}

#[test]
fn every_step_can_be_looked_at() {
    assert_frames("behind", || Stage::explained(Verdict::SomeDecide).at(Pane::Behind));
    assert_frames("behind_prompt_open", || {
        let mut stage = Stage::answered().at(Pane::Behind);
        stage.frame((120, 40));
        // To the prompt: the lines of the question, two lists, the fused list.
        for _ in 0..14 {
            stage.press(KeyCode::Down, KeyModifiers::NONE);
        }
        stage.press(KeyCode::Enter, KeyModifiers::NONE);
        stage
    });
}

#[test]
fn the_lists_of_both_searches_say_what_became_of_each_evidence() {
    let mut stage = Stage::answered().at(Pane::Behind);
    stage.frame((120, 40));
    for heading in ["2 Search by meaning", "3 Search by words"] {
        let is_there = |line: &str| line.contains('›') && line.contains(heading);
        for _ in 0..40 {
            if stage.frame((120, 40)).backend().to_string().lines().any(is_there) {
                break;
            }
            stage.press(KeyCode::Down, KeyModifiers::NONE);
        }
        stage.press(KeyCode::Enter, KeyModifiers::NONE);
    }
    let frame = stage.frame((120, 40)).backend().to_string();
    assert!(frame.contains("no hit: Winter work › Fuel and heating"), "{frame}");
    assert!(frame.contains("hit 1: "), "{frame}");
}

#[test]
fn shares_are_bars_that_open_to_the_other_answer() {
    assert_frames("why", || {
        let mut stage = Stage::explained(Verdict::SomeDecide).at(Pane::Why);
        stage.frame((120, 40));
        stage.press(KeyCode::Enter, KeyModifiers::NONE);
        stage
    });
}

/// An answer with a logprob explanation.
pub(crate) fn explained_by_logprob() -> Stage {
    let mut stage = Stage::answered();
    stage.play([
        Event::ExplainRequested { turn: 0, method: Method::Logprob },
        Event::AttributionFinished { job: JobId(1), attribution: Box::new(by_logprob()) },
    ]);
    stage
}

#[test]
fn an_explanation_by_log_probability_says_how_a_sentence_is_chosen() {
    assert_frames("why_logprob", || explained_by_logprob().at(Pane::Why));
}

#[test]
fn a_chosen_sentence_stands_above_the_bars_of_what_it_rests_on() {
    assert_frames("why_sentence", || explained_by_logprob().at(Pane::Conversation).key(')').key(')'));
    // Before the first sentence comes the whole answer; after the last there is none.
    let text = |mut stage: Stage| stage.frame((120, 40)).backend().to_string();
    let whole = text(explained_by_logprob().at(Pane::Why));
    assert_eq!(text(explained_by_logprob().at(Pane::Why).key('.').key(',')), whole);
    let last = text(explained_by_logprob().at(Pane::Why).key('.').key('.'));
    assert_eq!(text(explained_by_logprob().at(Pane::Why).key('.').key('.').key('.')), last);
    // Without sentences they are computed, and the first is shown; the explanation of the answer stays.
    let read = || {
        let mut asked = Stage::explained(Verdict::SomeDecide).at(Pane::Why).key('.');
        assert!(asked.frame((120, 40)).backend().to_string().contains("explaining"));
        asked.play([Event::AttributionFinished { job: JobId(1), attribution: Box::new(by_logprob()) }]);
        asked
    };
    assert!(text(read()).contains("Sentence 1 of 2"));
    assert!(text(read().key('.')).contains("Sentence 2 of 2"));
    assert!(text(read().key(',')).contains("Result: Sources 1, 3 matter"));
    // If computing them fails, the answer is shown as before.
    let mut failed = Stage::explained(Verdict::SomeDecide).at(Pane::Why).key('.');
    failed.play([Event::JobCanceled { job: JobId(1) }]);
    assert!(text(failed).contains("Result: Sources 1, 3 matter"));
}

#[test]
fn what_each_token_loses_can_be_looked_at() {
    assert_frames("behind_drops", || {
        let mut stage = explained_by_logprob().at(Pane::Behind);
        stage.frame((120, 40));
        stage.press(KeyCode::End, KeyModifiers::NONE);
        for _ in 0..20 {
            stage = stage.key('k');
            let cursor = stage.frame((120, 40)).backend().to_string();
            if cursor.lines().any(|line| line.contains("› ▸ 8 Log-probability without Source 2")) {
                break;
            }
        }
        stage.press(KeyCode::Enter, KeyModifiers::NONE);
        stage
    });
}

#[test]
fn a_stopped_explanation_and_another_answer_are_said() {
    assert_frames("why_stopped", || {
        let mut stage = Stage::answered();
        let mut stopped = attribution(Verdict::NoneDecides);
        stopped.clusters.truncate(1);
        let instead = Some("Bob replaces it.\u{1b}[2J [Source 1]".to_owned());
        let stopped = Attribution { missing: 2, instead, ..stopped };
        stage.play([
            Event::ExplainRequested { turn: 0, method: Method::Counterfactual },
            Event::AttributionFinished { job: JobId(1), attribution: Box::new(stopped) },
        ]);
        stage.at(Pane::Why)
    });
}

#[test]
fn where_another_answer_is_explained_its_citations_count_and_the_conversation_says_so() {
    let seen = |instead: Option<&str>| {
        let mut stage = Stage::answered();
        let instead = instead.map(str::to_owned);
        let attribution = Box::new(Attribution { instead, ..attribution(Verdict::SomeDecide) });
        stage.play([
            Event::ExplainRequested { turn: 0, method: Method::Counterfactual },
            Event::AttributionFinished { job: JobId(1), attribution },
        ]);
        stage.at(Pane::Why).frame((200, 50)).backend().to_string()
    };
    let (same, other) = (seen(None), seen(Some("Bob replaces it. [Source 4]")));
    assert!(same.contains("cited and decisive") && !same.contains("This explains another answer"), "{same}");
    assert!(!other.contains("cited and decisive") && other.contains("decisive but not cited"), "{other}");
    assert!(other.contains("This explains another answer"), "{other}");
    let hint = "what each sentence rests on";
    assert!(same.contains(hint) && !other.contains(hint), "{other}");
}

#[test]
fn a_group_that_matters_is_told_as_one_with_the_way_to_tell_it_apart() {
    let mut stage = Stage::answered();
    let mut together = attribution(Verdict::SomeDecide);
    together.clusters[0].how = Provenance::Group;
    let mut changes = SettingsOverride::default();
    changes.set(Setting::GroupTest, "auto").unwrap();
    stage.play([
        Event::SettingsChanged(changes),
        Event::ExplainRequested { turn: 0, method: Method::Counterfactual },
        Event::AttributionFinished { job: JobId(1), attribution: Box::new(together) },
    ]);
    let seen = stage.at(Pane::Why).frame((120, 40)).backend().to_string();
    assert!(seen.contains("one or more of Sources 1, 3"), "{seen}");
    assert!(seen.contains("leaves out each by itself"), "{seen}");
    let alone = Stage::explained(Verdict::SomeDecide).at(Pane::Why).frame((120, 40)).backend().to_string();
    assert!(!alone.contains("one or more of") && !alone.contains("leaves out each by itself"), "{alone}");
}

#[test]
fn nothing_decides_is_said_in_words() {
    assert_frames("why_nothing_decides", || Stage::explained(Verdict::NoneDecides).at(Pane::Why));
}

#[test]
fn an_explanation_shows_how_far_it_is() {
    assert_frames("explaining", || {
        let mut stage = Stage::answered().at(Pane::Why);
        let clusters = attribution(Verdict::SomeDecide).clusters[..1].to_vec();
        stage.play([
            Event::ExplainRequested { turn: 0, method: Method::Counterfactual },
            Event::AttributionAdvanced { job: JobId(1), done: 2, total: 5, clusters, elapsed: Millis(40.0) },
        ]);
        stage
    });
}

#[test]
fn domains_and_conversations_can_be_chosen() {
    assert_frames("lists", || Stage::answered().at(Pane::Lists).key('j').key('j'));
}

#[test]
fn a_completed_question_can_be_edited() {
    assert_frames("editing", || Stage::answered().at(Pane::Conversation).key('e'));
}

/// The settings with three of them changed.
pub(crate) fn changed_settings() -> Stage {
    let mut stage = Stage::answered();
    stage.press(KeyCode::F(7), KeyModifiers::NONE);
    // Two sources more, dense retrieval, no translation.
    for code in "lljljjjjjjjl".chars() {
        stage = stage.key(code);
    }
    stage
}

#[test]
fn the_settings_mark_what_is_the_domains_own() {
    assert_frames("settings", changed_settings);
    assert_frames("settings_refused", || {
        let mut stage = changed_settings().key('j').key('j').key('j').key('9');
        stage.press(KeyCode::Enter, KeyModifiers::NONE);
        stage
    });
    let mut absent = changed_settings().key('j');
    absent.press(KeyCode::Enter, KeyModifiers::NONE);
    absent.press(KeyCode::Char('u'), KeyModifiers::CONTROL);
    for letter in "smollm2-135m-instruct".chars() {
        absent = absent.key(letter);
    }
    absent.press(KeyCode::Enter, KeyModifiers::NONE);
    let seen = absent.frame((120, 40)).backend().to_string();
    assert!(seen.contains("generation.model cannot be `smollm2-135m-instruct`"), "{seen}");
    assert!(!absent.app.changes().keys().contains(&"generation.model".to_owned()));
    let mut found = "/temper".chars().fold(changed_settings(), Stage::key);
    assert!(found.frame((80, 24)).backend().to_string().contains("/temper"));
    found.press(KeyCode::Enter, KeyModifiers::NONE);
    let first = found.frame((80, 24)).backend().to_string();
    assert!(first.contains("“temper” 1 of"), "{first}");
    let next = found.key('n').frame((80, 24)).backend().to_string();
    assert!(next.contains("“temper” 2 of"), "{next}");
    let mut end = changed_settings().key('G');
    assert!(end.frame((80, 24)).backend().to_string().contains("estimate first"));
}

#[test]
fn the_composer_says_what_the_next_prompt_will_hold() {
    assert_frames("meter", || {
        let mut stage = Stage::answered().at(Pane::Composer);
        for letter in "And when is it due?".chars() {
            stage.press(KeyCode::Char(letter), KeyModifiers::NONE);
        }
        stage
    });
    let mut stage = Stage::answered().at(Pane::Composer).key('W');
    let seen = stage.frame((60, 20)).backend().to_string();
    assert!(seen.contains(" about ") && seen.contains(" of 4,096 "), "{seen}");
}

#[test]
fn a_turn_says_what_it_was_answered_with() {
    let mut stage = changed_settings();
    stage.press(KeyCode::Esc, KeyModifiers::NONE);
    let turn = TurnKey(2);
    stage.play([
        Event::QuestionAsked { text: "And when?".into(), at: NOW },
        Event::QuestionCompleted { turn, rewrite: Box::new(rewrite("When?", RewriteHow::Model)) },
        Event::HitsRetrieved { turn, retrieved: Box::new(retrieved("When?")) },
    ]);
    stage.finish(turn, answer(ANSWER, vec![]));
    let mut stage = stage.at(Pane::Behind);
    // The end is known after drawing.
    stage.frame((160, 45));
    let mut stage = stage.key('G');
    let seen = stage.frame((160, 45)).backend().to_string();
    assert!(seen.contains("10 Settings  * sources 12, * search dense"), "{seen}");
    stage.press(KeyCode::Enter, KeyModifiers::NONE);
    stage.frame((160, 45));
    let mut stage = stage.key('G');
    let seen = stage.frame((160, 45)).backend().to_string();
    assert!(seen.contains("  retriever   kinds             all"), "{seen}");
    let mut before = stage.key('[');
    before.frame((160, 45));
    let mut before = before.key('G');
    let seen = before.frame((160, 45)).backend().to_string();
    assert!(seen.contains("as configured"), "{seen}");
}

#[test]
fn the_help_lists_every_key() {
    assert_frames("help", || Stage::answered().at(Pane::Conversation).key('?'));
}

#[test]
fn a_failure_says_what_why_and_what_to_do() {
    assert_frames("failed", || {
        let mut stage = Stage::searched("Who replaces the modem?");
        let problem = Problem {
            what: "loading the generator: opening qwen2.5-coder-1.5b-instruct-q4_k_m.gguf: no such file".into(),
            next: "Fetch it with `ragonite models pull`, or choose another profile".into(),
        };
        stage.play([Event::JobFailed { job: JobId(1), problem }]);
        stage
    });
}

#[test]
fn styles_are_as_the_theme_says() {
    insta::assert_snapshot!("styles_120x40", style_map(&Stage::answered().at(Pane::Evidence).frame((120, 40))));
}

#[test]
fn without_colour_nothing_is_coloured() {
    for pane in [Pane::Evidence, Pane::Behind, Pane::Why, Pane::Lists, Pane::Composer] {
        let mut stage = Stage::explained(Verdict::SomeDecide);
        stage.screen = ScreenState::new(Theme::plain(), Keymap::default());
        let terminal = stage.at(pane).frame((120, 40));
        let cells = terminal.backend().buffer().content();
        assert!(cells.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
    }
}

/// One letter per style with a legend; `.` is the default.
fn style_map(terminal: &Terminal<TestBackend>) -> String {
    let buffer = terminal.backend().buffer();
    let mut letters: BTreeMap<String, char> = BTreeMap::new();
    let mut names = ('a'..='z').chain('A'..='Z');
    let mut map = String::new();
    for y in 0..buffer.area.height {
        for x in 0..buffer.area.width {
            let cell = &buffer[(x, y)];
            let style = match (cell.fg, cell.modifier) {
                (Color::Reset, modifier) if modifier.is_empty() => None,
                (Color::Reset, modifier) => Some(format!("{modifier:?}")),
                (colour, modifier) if modifier.is_empty() => Some(format!("{colour:?}")),
                (colour, modifier) => Some(format!("{colour:?} {modifier:?}")),
            };
            let letter = style.map_or('.', |style| *letters.entry(style).or_insert_with(|| names.next().unwrap()));
            map.push(letter);
        }
        map.push('\n');
    }
    let mut legend: Vec<(char, String)> = letters.into_iter().map(|(style, letter)| (letter, style)).collect();
    legend.sort();
    for (letter, style) in legend {
        writeln!(map, "{letter} = {style}").unwrap();
    }
    map
}

#[test]
fn no_size_is_too_small_to_draw() {
    for width in (0..60).step_by(3) {
        for height in 0..20 {
            let stages: [fn() -> Stage; 8] = [
                || without_before(Stage::answered()),
                || Stage::answered().at(Pane::Evidence).key('o'),
                || Stage::answered().at(Pane::Evidence).key('o').key('G').key('/'),
                Stage::new,
                || Stage::explained(Verdict::SomeDecide).at(Pane::Behind),
                || Stage::answered().key('?'),
                changed_settings,
                || changed_settings().key('j').key('j').key('j').key('1'),
            ];
            for stage in stages {
                let mut stage = stage();
                stage.frame((width, height));
            }
        }
    }
    let tiny = Stage::answered().frame((20, 5));
    assert!(tiny.backend().to_string().contains("window too small"));
}

#[test]
fn a_figure_that_stands_in_no_source_is_named() {
    let mut stage = Stage::searched("Who replaces the modem?");
    stage.finish(TurnKey(1), answer("It costs 75,000 and is due on 2025-03-14. [Source 1]", vec![]));
    let drawn = stage.frame((120, 40)).backend().to_string();
    assert!(drawn.contains("in no source: 75,000"), "{drawn}");
}

#[test]
fn a_date_that_is_asked_about_and_stands_in_no_source_is_named() {
    let mut stage = Stage::searched("Who replaces the modem?");
    let mut dated = answer("The field team. [Source 1]", vec![]);
    for segment in &mut dated.prompt.segments {
        if segment.part == Part::Question {
            segment.text = "Question: Who replaces the modem in May 2031?".into();
        }
    }
    stage.finish(TurnKey(1), dated);
    let drawn = stage.frame((120, 40)).backend().to_string();
    assert!(drawn.contains("the date asked about is in no source: May 2031"), "{drawn}");
}

#[test]
fn a_source_that_says_what_the_answer_says_is_named_where_another_is_cited() {
    let mut stage = Stage::searched("Who replaces the modem?");
    let said = "By revision, power and board. [Source 2]";
    stage.finish(TurnKey(1), Answer { citations: vec![2], ..answer(said, vec![]) });
    let drawn = stage.frame((120, 40)).backend().to_string();
    assert!(drawn.contains("said by Source 4"), "{drawn}");
}

#[test]
fn a_figure_that_only_a_source_has_that_is_not_cited_is_named_with_it() {
    let mut stage = Stage::searched("Who replaces the modem?");
    stage.finish(TurnKey(1), Answer { citations: vec![2], ..answer("It is due on 2025-03-14. [Source 2]", vec![]) });
    let drawn = stage.frame((120, 40)).backend().to_string();
    assert!(drawn.contains("2025-03-14 (Source 1)"), "{drawn}");
}
