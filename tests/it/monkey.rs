//! Random keys, pastes, clicks, sizes and answers of the runtime: no panic, no hang, no growth without bound.
//!
//! Two sizes run in a child process each, a copy of this test program, so that memory can be measured. Every event is
//! written to a file before it is handled, which replays a failure. `RAGONITE_MONKEY_EVENTS` sets the events per size
//! (200000 is the full run), `RAGONITE_MONKEY_REPLAY` names a file to replay.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::{self, Write as _};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ragonite::app::{
    App, AppSettings, ConversationChange, DomainSummary, Effect, Event, JobId, Notice, Phase, Problem, TurnKey,
};
use ragonite::base::{ConversationId, DomainName, Millis, TurnId};
use ragonite::history::{ConversationRecord, Found, FoundTurn, Place, TurnRecord};
use ragonite::rag::answer::{RewriteHow, Suggestions};
use ragonite::rag::attribution::ExplainAhead;
use ragonite::tui::{Intent, Keymap, ScreenState, Theme, draw, on_input};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Rect;

use crate::context::tried;
use crate::screen::{
    ANSWER, NOW, Verdict, answer, attribution, conversation, document_parts, domain, engine, grid, retrieved, rewrite,
};

const EVENTS: &str = "RAGONITE_MONKEY_EVENTS";
const REPLAY: &str = "RAGONITE_MONKEY_REPLAY";
/// Tells the child its size, seed, number of events, and file.
const CHILD: &str = "RAGONITE_MONKEY_CHILD";

/// Events per size in a usual run.
const USUAL: usize = 4000;
/// Most bytes that a run may grow after warm-up.
const GROWTH: u64 = 50 * 1024 * 1024;
/// A child that is silent for longer hangs.
const PATIENCE: Duration = Duration::from_mins(3);
/// Events between two reports of the child.
const REPORTED: usize = 500;
/// Conversations in the fake history.
const KEPT: usize = 12;

/// Names of keys in the file.
const NAMED: [(&str, KeyCode); 23] = [
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("backtab", KeyCode::BackTab),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("f1", KeyCode::F(1)),
    ("f2", KeyCode::F(2)),
    ("f3", KeyCode::F(3)),
    ("f4", KeyCode::F(4)),
    ("f5", KeyCode::F(5)),
    ("f6", KeyCode::F(6)),
    ("f7", KeyCode::F(7)),
    ("f8", KeyCode::F(8)),
];

const PASTES: [&str; 3] = ["pasted\r\nline [Source 1] \u{1b}[31m日本", "\u{202e}عربي\tא", "x"];

const MOUSE: [MouseEventKind; 4] = [
    MouseEventKind::Down(MouseButton::Left),
    MouseEventKind::ScrollUp,
    MouseEventKind::ScrollDown,
    MouseEventKind::Up(MouseButton::Left),
];

/// An event of a run.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    Key(KeyModifiers, KeyCode),
    Paste(usize),
    Mouse(usize, u16, u16),
    /// A single frame of another size.
    Size(u16, u16),
    /// The runtime answers one of its effects, in one of several ways.
    Runtime(usize, usize),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(modifiers, KeyCode::Char(letter)) => {
                write!(f, "char {} {}", modifiers.bits(), u32::from(*letter))
            }
            Self::Key(modifiers, code) => {
                let name = NAMED.iter().find(|(_, named)| named == code).unwrap().0;
                write!(f, "key {} {name}", modifiers.bits())
            }
            Self::Paste(which) => write!(f, "paste {which}"),
            Self::Mouse(which, column, row) => write!(f, "mouse {which} {column} {row}"),
            Self::Size(columns, rows) => write!(f, "size {columns} {rows}"),
            Self::Runtime(which, way) => write!(f, "runtime {which} {way}"),
        }
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| -> Result<usize, String> {
            words.get(at).and_then(|word| word.parse().ok()).ok_or_else(|| line.to_owned())
        };
        let cells = |at| number(at).and_then(|number| u16::try_from(number).map_err(|_| line.to_owned()));
        let modifiers = || cells(1).map(|bits| KeyModifiers::from_bits_truncate(u8::try_from(bits).unwrap_or(0)));
        Ok(match words[0] {
            "char" => {
                let letter = u32::try_from(number(2)?).ok().and_then(char::from_u32).ok_or(line)?;
                Self::Key(modifiers()?, KeyCode::Char(letter))
            }
            "key" => Self::Key(modifiers()?, NAMED.iter().find(|(name, _)| *name == words[2]).ok_or(line)?.1),
            "paste" => Self::Paste(number(1)?),
            "mouse" => Self::Mouse(number(1)?, cells(2)?, cells(3)?),
            "size" => Self::Size(cells(1)?, cells(2)?),
            "runtime" => Self::Runtime(number(1)?, number(2)?),
            _ => return Err(line.to_owned()),
        })
    }
}

/// A small random number generator, so that a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        // Constants of Knuth's MMIX; the low bits are weak and left out.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn cells(&mut self, most: u16) -> u16 {
        u16::try_from(self.roll(usize::from(most))).unwrap()
    }

    fn step(&mut self, size: (u16, u16)) -> Step {
        let (columns, rows) = size;
        let letters: Vec<char> = (' '..='~').chain("aé日👩‍👩‍👧\u{301}\u{202e}א".chars()).collect();
        let some =
            [KeyModifiers::NONE, KeyModifiers::NONE, KeyModifiers::CONTROL, KeyModifiers::ALT, KeyModifiers::SHIFT];
        match self.roll(100) {
            0 | 1 => Step::Paste(self.roll(PASTES.len())),
            2 => Step::Size(self.cells(2 * columns), self.cells(2 * rows)),
            3..=9 => Step::Mouse(self.roll(MOUSE.len()), self.cells(columns + 2), self.cells(rows + 2)),
            10..=34 => Step::Runtime(self.roll(1000), self.roll(12)),
            35..=64 => Step::Key(some[self.roll(some.len())], NAMED[self.roll(NAMED.len())].1),
            65..=72 => {
                let letter = char::from(b'a' + u8::try_from(self.roll(26)).unwrap());
                Step::Key([KeyModifiers::CONTROL, KeyModifiers::ALT][self.roll(2)], KeyCode::Char(letter))
            }
            _ => Step::Key(KeyModifiers::NONE, KeyCode::Char(letters[self.roll(letters.len())])),
        }
    }
}

/// The app, its screen, a terminal, and a runtime that answers on demand.
struct Monkey {
    app: App,
    screen: ScreenState,
    terminal: Terminal<TestBackend>,
    size: (u16, u16),
    asked: VecDeque<Effect>,
    history: BTreeMap<ConversationId, (ConversationRecord, Vec<TurnRecord>)>,
    last_id: i64,
}

impl Monkey {
    fn new(size: (u16, u16)) -> Self {
        let app = App::new(AppSettings {
            suggestions: Suggestions::Auto,
            explain_ahead: ExplainAhead::On,
            ..AppSettings::default()
        });
        let asked = app.start().into();
        let mut monkey = Self {
            app,
            screen: ScreenState::new(Theme::colour(), Keymap::default()),
            terminal: Terminal::new(TestBackend::new(size.0, size.1)).unwrap(),
            size,
            asked,
            history: BTreeMap::new(),
            last_id: 100,
        };
        monkey.hear(Event::EngineChanged(engine()));
        monkey
    }

    fn hear(&mut self, event: Event) {
        let effects = self.app.handle(event);
        for effect in effects {
            if let Effect::CancelJob(job) = effect {
                self.asked.retain(|asked| job_of(asked) != Some(job));
            }
            self.asked.push_back(effect);
        }
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Key(modifiers, code) => self.input(&Input::Key(KeyEvent::new(*code, *modifiers))),
            Step::Paste(which) => self.input(&Input::Paste(PASTES[*which % PASTES.len()].into())),
            Step::Mouse(which, column, row) => {
                let (kind, modifiers) = (MOUSE[*which % MOUSE.len()], KeyModifiers::NONE);
                self.input(&Input::Mouse(MouseEvent { kind, column: *column, row: *row, modifiers }));
            }
            Step::Size(columns, rows) => {
                self.draw((*columns, *rows));
                self.input(&Input::Resize(*columns, *rows));
            }
            Step::Runtime(which, way) => self.answer(*which, *way),
        }
        if let Some(wanted) = self.screen.wants(&self.app) {
            self.hear(wanted);
        }
        self.draw(self.size);
    }

    fn input(&mut self, input: &Input) {
        let intents = on_input(&mut self.screen, &self.app, input, NOW);
        // The program only draws after an intent.
        assert!(!intents.is_empty() || !matches!(input, Input::Key(_)), "{input:?} leads to no frame");
        for intent in intents {
            if let Intent::App(event) = intent {
                self.hear(event);
            }
        }
    }

    fn draw(&mut self, size: (u16, u16)) {
        if self.terminal.backend().buffer().area != Rect::new(0, 0, size.0, size.1) {
            self.terminal.backend_mut().resize(size.0, size.1);
            self.terminal.resize(Rect::new(0, 0, size.0, size.1)).unwrap();
        }
        self.terminal.draw(|frame| draw(&self.app, &mut self.screen, NOW, frame)).unwrap();
    }

    /// Answers an effect; a generation takes several answers.
    fn answer(&mut self, which: usize, way: usize) {
        if self.asked.is_empty() {
            return;
        }
        let at = which % self.asked.len();
        let effect = self.asked[at].clone();
        let events = self.events(&effect, way);
        let goes_on = matches!(
            events.first(),
            Some(
                Event::QuestionCompleted { .. }
                    | Event::HitsRetrieved { .. }
                    | Event::PromptBuilt { .. }
                    | Event::PromptRead { .. }
                    | Event::AnswerGrew { .. }
                    | Event::AttributionAdvanced { .. }
            )
        );
        if !goes_on {
            self.asked.remove(at);
        }
        for event in events {
            self.hear(event);
        }
    }

    fn events(&mut self, effect: &Effect, way: usize) -> Vec<Event> {
        let problem = || Problem { what: "it broke ".repeat(40), next: "mend it".into() };
        if let (Some(job), 0) = (job_of(effect), way)
            && !matches!(
                effect,
                Effect::SaveTurn { .. } | Effect::Suggest { .. } | Effect::CancelJob(_) | Effect::LoadDocument { .. }
            )
        {
            return vec![Event::JobFailed { job, problem: problem() }];
        }
        match effect.clone() {
            Effect::ListDomains => {
                let other = DomainSummary { name: "league".parse().unwrap(), ..domain() };
                vec![Event::DomainsListed(if way == 0 { vec![] } else { vec![domain(), other] })]
            }
            Effect::OpenDomain(name) if way == 0 => vec![Event::DomainFailed { name, problem: problem() }],
            Effect::OpenDomain(name) => vec![Event::DomainOpened(DomainSummary { name, ..domain() })],
            Effect::Ingest { .. } => vec![match way {
                0 => Event::IngestFailed(problem()),
                1 => Event::IngestCanceled,
                _ => Event::IngestFinished(Box::default()),
            }],
            Effect::ListConversations(domain) => vec![self.list(domain)],
            Effect::OpenConversation(id) => match self.history.get(&id).cloned() {
                Some((record, turns)) => vec![Event::ConversationOpened { record, turns }],
                None => vec![Event::ConversationFailed { conversation: id, problem: problem() }],
            },
            Effect::RunTurn { turn, .. } => vec![match (self.app.phase(), way) {
                (Phase::Rewriting(_), _) => {
                    let how = if way < 6 { RewriteHow::Model } else { RewriteHow::First };
                    Event::QuestionCompleted { turn, rewrite: Box::new(rewrite("and then?", how)) }
                }
                (Phase::Retrieving(_), _) => {
                    let mut found = retrieved("and then?");
                    found.hits.truncate(way);
                    Event::HitsRetrieved { turn, retrieved: Box::new(found) }
                }
                (_, 1) => Event::PromptBuilt { turn, tokens: 1240, sources: 4, cut: vec![] },
                (_, 2) => Event::PromptRead { turn, done: 3, total: 0 },
                (_, 3..=6) => Event::AnswerGrew { turn, text: "a **bold [Source 3] word\n- ".into() },
                _ => Event::AnswerFinished { turn, answer: Box::new(answer(ANSWER, vec![9])) },
            }],
            Effect::Suggest { job, .. } => {
                let questions = (0..way % 4).map(|number| format!("And question {number}?")).collect();
                vec![Event::QuestionsSuggested { job, questions }]
            }
            Effect::Explain { job, .. } => {
                let verdict = if way.is_multiple_of(2) { Verdict::SomeDecide } else { Verdict::NoneDecides };
                let attribution = attribution(verdict);
                vec![if way < 6 {
                    Event::AttributionAdvanced {
                        job,
                        done: 1,
                        total: 3,
                        clusters: attribution.clusters,
                        elapsed: Millis(40.0),
                    }
                } else {
                    Event::AttributionFinished { job, attribution: Box::new(attribution) }
                }]
            }
            Effect::SaveTurn { turn, .. } if way == 0 => vec![Event::SaveFailed { turn, problem: problem() }],
            Effect::SaveTurn { turn, domain, conversation: id, record } => vec![self.save(turn, domain, id, *record)],
            Effect::ChangeConversation { .. } | Effect::Branch { .. } if way == 0 => Self::fail(effect),
            Effect::ChangeConversation { domain, change } => {
                self.change(change);
                vec![self.list(domain)]
            }
            Effect::Branch { domain, conversation, number } => {
                let branch = self.branch(conversation, number);
                let event = branch.map(|branch| Event::ConversationBranched { of: conversation, branch });
                event.map_or_else(|| Self::fail(effect), |event| vec![self.list(domain), event])
            }
            Effect::FindConversations { text, .. } => {
                let turns = vec![FoundTurn { number: 1, snippet: "…and then…".into() }];
                let all = self.history.values().map(|(conversation, _)| conversation.clone());
                let found = all.take(way).map(|conversation| Found { conversation, turns: turns.clone() }).collect();
                vec![Event::ConversationsFound { text, found }]
            }
            Effect::Export { .. } | Effect::ExportStored { .. } => vec![Event::Done(Notice::Wrote("a file".into()))],
            Effect::LoadTable { evidence, .. } => {
                vec![Event::TableLoaded { domain: domain().name, evidence, table: (way > 0).then(|| Arc::new(grid())) }]
            }
            Effect::CancelJob(job) => vec![Event::JobCanceled { job }],
            beside => self.events_beside(beside, way),
        }
    }

    /// The error of the history for an effect.
    fn fail(effect: &Effect) -> Vec<Event> {
        let problem = Problem { what: "it broke ".repeat(40), next: "mend it".into() };
        match effect {
            Effect::Branch { conversation, .. } => {
                vec![Event::ConversationFailed { conversation: *conversation, problem }]
            }
            _ => vec![Event::Failed(problem)],
        }
    }

    /// Answers to effects outside of a turn.
    fn events_beside(&self, effect: Effect, way: usize) -> Vec<Event> {
        let problem = || Problem { what: "it broke ".repeat(40), next: "mend it".into() };
        match effect {
            Effect::TryContext { job, .. } => vec![match way {
                0 => Event::JobFailed { job, problem: problem() },
                _ => Event::ContextTried { job, tried: tried().into_iter().take(way).collect() },
            }],
            Effect::LoadDocument { document, .. } => {
                let parts = if way == 0 { Err(problem()) } else { Ok(document_parts()) };
                vec![Event::DocumentLoaded { document, parts }]
            }
            Effect::SaveSettings { domain, .. } => {
                let kept = if way == 0 { Err(problem()) } else { Ok(self.app.changes().clone()) };
                vec![Event::SettingsKept { domain, kept }]
            }
            Effect::LoadSettings(domain) => {
                let problem = (way == 0).then(problem);
                vec![Event::OtherSettingsLoaded { domain, changes: self.app.changes().clone(), problem }]
            }
            _ => Vec::new(),
        }
    }

    fn branch(&mut self, of: ConversationId, number: u32) -> Option<ConversationId> {
        let (record, turns) = self.history.get(&of)?.clone();
        self.last_id += 1;
        let id = ConversationId(self.last_id);
        let turns = turns.into_iter().filter(|turn| turn.number <= number).collect();
        self.history.insert(id, (ConversationRecord { id, ..record }, turns));
        Some(id)
    }

    fn list(&self, domain: DomainName) -> Event {
        let all =
            self.history.values().rev().map(|(record, _)| record.clone()).filter(|record| record.domain == domain);
        let (trash, conversations) = all.partition(|record| record.deleted_at.is_some());
        Event::ConversationsListed { domain, conversations, trash }
    }

    fn save(&mut self, turn: TurnKey, domain: DomainName, to: Option<ConversationId>, record: TurnRecord) -> Event {
        self.last_id += 1;
        let id = to.unwrap_or(ConversationId(self.last_id));
        let fresh = || (ConversationRecord { domain, ..conversation(id.0, &record.question) }, Vec::new());
        let (conversation, turns) = self.history.entry(id).or_insert_with(fresh);
        let known = if record.id == TurnId(0) { TurnId(self.last_id) } else { record.id };
        let number = record.number;
        turns.retain(|turn: &TurnRecord| turn.id != known);
        turns.push(TurnRecord { id: known, ..record });
        let conversation = conversation.clone();
        while self.history.len() > KEPT {
            self.history.pop_first();
        }
        Event::TurnSaved { turn, conversation, id: known, number }
    }

    fn change(&mut self, change: ConversationChange) {
        let mut record = |id, change: &dyn Fn(&mut ConversationRecord)| {
            if let Some((record, _)) = self.history.get_mut(&id) {
                change(record);
            }
        };
        match change {
            ConversationChange::Delete(id) => record(id, &|record| record.deleted_at = Some(NOW)),
            ConversationChange::Restore(id) => record(id, &|record| record.deleted_at = None),
            ConversationChange::Rename(id, title) => record(id, &|record| record.title.clone_from(&title)),
            ConversationChange::Pin(id, place) => record(id, &|record| record.pinned = place == Place::Pinned),
            ConversationChange::Purge(id) => {
                self.history.remove(&id);
            }
        }
    }

    fn frame(&self) -> String {
        self.terminal.backend().to_string()
    }
}

fn job_of(effect: &Effect) -> Option<JobId> {
    match effect {
        Effect::RunTurn { turn, .. } | Effect::SaveTurn { turn, .. } => Some(turn.job()),
        Effect::Suggest { job, .. }
        | Effect::Explain { job, .. }
        | Effect::TryContext { job, .. }
        | Effect::LoadDocument { job, .. }
        | Effect::CancelJob(job) => Some(*job),
        _ => None,
    }
}

/// Runs `events` random events; `tell` gets each before it is handled.
fn run(size: (u16, u16), seed: u64, events: usize, mut tell: impl FnMut(usize, &Step)) -> Monkey {
    let mut dice = Dice(seed);
    let mut monkey = Monkey::new(size);
    for at in 0..events {
        let step = dice.step(size);
        tell(at, &step);
        monkey.take(&step);
    }
    monkey
}

fn replay(record: &str) -> Monkey {
    let mut lines = record.lines();
    let Some(Ok(Step::Size(columns, rows))) = lines.next().map(Step::from_str) else {
        panic!("a record begins with a size")
    };
    let mut monkey = Monkey::new((columns, rows));
    for line in lines {
        monkey.take(&line.parse().unwrap());
    }
    monkey
}

#[expect(clippy::disallowed_methods, reason = "the variables say how long the runs are")]
fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.into_string().unwrap())
}

/// Bytes of memory of this process; none where the system does not report them like Linux.
fn memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}

/// The child: runs, writes every event, and reports progress and, at a tenth and at the end, memory.
#[test]
fn the_child_of_a_run() {
    let Some(told) = variable(CHILD) else { return };
    let words: Vec<&str> = told.splitn(5, ' ').collect();
    let number = |at: usize| words[at].parse::<usize>().unwrap();
    let size = (u16::try_from(number(0)).unwrap(), u16::try_from(number(1)).unwrap());
    let (seed, events) = (number(2) as u64, number(3));
    let mut record = File::create(words[4]).unwrap();
    writeln!(record, "{}", Step::Size(size.0, size.1)).unwrap();
    let mut warm = None;
    let monkey = run(size, seed, events, |at, step| {
        writeln!(record, "{step}").unwrap();
        if at == events / 10 {
            warm = memory();
        }
        if at % REPORTED == 0 {
            println!("monkey at {at}");
        }
    });
    let grown = memory().zip(warm).map_or(0, |(now, before)| now.saturating_sub(before));
    println!("monkey grew {grown}");
    drop(monkey);
}

/// Runs a size in a child and gives the growth in bytes.
fn run_in_child(size: (u16, u16), seed: u64) -> u64 {
    let events = variable(EVENTS).map_or(USUAL, |events| events.parse().unwrap());
    let record = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("monkey-{}x{}.txt", size.0, size.1));
    let replays = format!("replay it: {REPLAY}={} cargo test --release --test it -- monkey::", record.display());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["monkey::the_child_of_a_run", "--exact", "--nocapture"]);
    command.env(CHILD, format!("{} {} {seed} {events} {}", size.0, size.1, record.display())).env_remove(REPLAY);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
    let (sender, lines) = mpsc::channel();
    let output = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || output.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok()));
    let mut grown = None;
    loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                // The test harness prints on the same line.
                grown = grown.or(line.split("monkey grew ").nth(1).and_then(|bytes| bytes.trim().parse().ok()));
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let _gone = child.kill();
                panic!("it hangs; {replays}");
            }
        }
    }
    reader.join().unwrap();
    let status = child.wait().unwrap();
    assert!(status.success(), "the run ended with {status}; {replays}");
    let grown: u64 = grown.expect("the child says how much it grew");
    assert!(grown < GROWTH, "it grew by {} MiB; {replays}", grown / 1024 / 1024);
    grown
}

#[test]
fn a_small_terminal_survives_random_events_without_growing() {
    println!("80x24 grew by {} KiB", run_in_child((80, 24), 1) / 1024);
}

#[test]
fn a_large_terminal_survives_random_events_without_growing() {
    println!("200x60 grew by {} KiB", run_in_child((200, 60), 2) / 1024);
}

#[test]
fn terminals_of_other_sizes_survive_random_events() {
    for (seed, size) in [(3, (104, 31)), (4, (44, 12)), (5, (160, 45))] {
        run(size, seed, 1500, |_, _| {});
    }
}

#[test]
fn a_recorded_run_replays_to_the_same_screen() {
    if let Some(file) = variable(REPLAY) {
        let monkey = replay(&fs::read_to_string(PathBuf::from(file)).unwrap());
        println!("{}", monkey.frame());
        return;
    }
    let mut record = String::from("size 100 30\n");
    let monkey = run((100, 30), 7, 400, |_, step| writeln!(record, "{step}").unwrap());
    assert_eq!(replay(&record).frame(), monkey.frame());
    assert!("char 0".parse::<Step>().is_err() && "nonsense".parse::<Step>().is_err());
}
