//! Latency of the screen: from a key to its frame during streaming and ingest, frames of a long conversation, and the
//! first frame with a long history.
//!
//! `cargo bench --bench screen` runs everything; a number sets the seconds of each timed part. Keys come at uneven
//! times of a fixed seed; the loop is that of the program: pending events are handled, a key is drawn at once,
//! everything else with the next frame. The terminal is in memory. The first frame is that of the real program in a
//! pseudo terminal, with the weights of `tiny` if available; it counts once the status line is drawn. Goals: key to
//! frame under 16 ms at p99, a frame of 500 turns under 4 ms, the first frame under 100 ms.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::error::Error;
use std::io::Read as _;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyModifiers};
use portable_pty::{CommandBuilder, NativePtySystem, PtySize, PtySystem as _};
use ragonite::app::{App, AppSettings, DomainHealth, DomainSummary, Event, TurnKey};
use ragonite::base::{ConversationId, DocumentId, DomainName, EvidenceId, Language, Millis, TurnId};
use ragonite::document::evidence::{Context, Kind};
use ragonite::history::{ConversationRecord, History, Outcome, Trace, TurnRecord, TurnSettings};
use ragonite::index::{IngestProgress, IngestStage};
use ragonite::inference::{Completion, Finish, Sampling};
use ragonite::rag::answer::{Answer, Rewrite, RewriteHow, Suggestions};
use ragonite::rag::prompt::Prompt;
use ragonite::rag::retrieval::{Hit, HitExplanation, Retrieved};
use ragonite::tui::{FRAME, Frames, Intent, Keymap, Pane, ScreenState, Theme, draw, on_input};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use time::OffsetDateTime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant as Moment, sleep_until};

type Outcomes<T> = Result<T, Box<dyn Error>>;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];
/// Seconds of each timed part.
const SECONDS: u64 = 15;
/// Turns of the long conversation.
const LONG: u32 = 500;
/// Turns of the long history, and of each conversation.
const HISTORY: (u32, u32) = (10_000, 20);
/// Starts of the program.
const STARTS: usize = 12;
/// Frames of the long conversation.
const FRAMES: usize = 300;

fn main() -> Outcomes<()> {
    let seconds = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(SECONDS);
    for size in SIZES {
        key_to_frame("tokens stream in", size, seconds, Flood::Tokens)?;
        key_to_frame("documents are read", size, seconds, Flood::Progress)?;
        key_to_frame("tokens stream in below 500 turns", size, seconds, Flood::LongTokens)?;
    }
    for size in SIZES {
        long_conversation(size)?;
    }
    first_frame()
}

/// Prints p50, p99 and the maximum.
fn tell(name: &str, mut milliseconds: Vec<f64>) {
    milliseconds.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = (milliseconds.len() as f64 * share) as usize;
        milliseconds.get(place.min(milliseconds.len().saturating_sub(1))).copied().unwrap_or_default()
    };
    let (p50, p99, most) = (at(0.5), at(0.99), at(1.0));
    println!("{name}: p50 {p50:.2} ms, p99 {p99:.2} ms, at most {most:.2} ms ({} times)", milliseconds.len());
}

/// A small random number generator with a fixed seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        // Constants of Knuth's MMIX; the low bits are weak and left out.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Load while keys are typed.
#[derive(Clone, Copy, PartialEq)]
enum Flood {
    Tokens,
    LongTokens,
    Progress,
}

/// An app with its screen, and a terminal in memory.
struct Desk {
    app: App,
    screen: ScreenState,
    terminal: Terminal<TestBackend>,
}

impl Desk {
    fn open(size: (u16, u16), turns: u32) -> Outcomes<Self> {
        let (columns, rows) = size;
        let settings = AppSettings { suggestions: Suggestions::Off, ..AppSettings::default() };
        let terminal = Terminal::new(TestBackend::new(columns, rows))?;
        let screen = ScreenState::new(Theme::colour(), Keymap::default());
        let mut desk = Self { app: App::new(settings), screen, terminal };
        let (name, summary) = (domain()?, summary()?);
        desk.app.handle(Event::DomainsListed(vec![summary.clone()]));
        desk.app.handle(Event::DomainChosen(name.clone()));
        let conversations = (1..=500).map(|id| conversation(&name, id)).collect();
        desk.app.handle(Event::ConversationsListed { domain: name.clone(), conversations, trash: Vec::new() });
        desk.app.handle(Event::DomainOpened(summary));
        if turns > 0 {
            desk.app.handle(Event::ConversationChosen(ConversationId(1)));
            let turns = (1..=turns).map(|number| turn(number, Stored::Whole)).collect();
            desk.app.handle(Event::ConversationOpened { record: conversation(&name, 1), turns });
        }
        Ok(desk)
    }

    fn input(&mut self, input: &Input) {
        for intent in on_input(&mut self.screen, &self.app, input, OffsetDateTime::now_utc()) {
            if let Intent::App(event) = intent {
                self.app.handle(event);
            }
        }
    }

    fn draw(&mut self) -> Outcomes<f64> {
        let started = Instant::now();
        let (app, screen) = (&self.app, &mut self.screen);
        self.terminal.draw(|frame| draw(app, screen, OffsetDateTime::now_utc(), frame))?;
        Ok(started.elapsed().as_secs_f64() * 1e3)
    }

    /// Asks a question, up to the first token. Gives the turn.
    fn ask(&mut self) -> TurnKey {
        self.app.handle(Event::QuestionAsked { text: "Who?".into(), at: OffsetDateTime::UNIX_EPOCH });
        let key = self.app.turns().last().map_or(TurnKey(0), |turn| turn.key);
        let trace = turn(1, Stored::Whole).trace;
        if let (Some(rewrite), Some(retrieved)) = (trace.rewrite, trace.retrieved) {
            self.app.handle(Event::QuestionCompleted { turn: key, rewrite: Box::new(rewrite) });
            self.app.handle(Event::HitsRetrieved { turn: key, retrieved: Box::new(retrieved) });
        }
        key
    }
}

/// Measures keys at uneven times under a load.
fn key_to_frame(name: &str, size: (u16, u16), seconds: u64, flood: Flood) -> Outcomes<()> {
    let mut desk = Desk::open(size, if flood == Flood::LongTokens { LONG } else { 3 })?;
    let turn = match flood {
        Flood::Tokens | Flood::LongTokens => Some(desk.ask()),
        Flood::Progress => {
            desk.app.handle(Event::IngestWanted { domain: "notes".parse()?, path: "/notes".into() });
            None
        }
    };
    desk.draw()?;
    let end = Instant::now() + Duration::from_secs(seconds);
    let (keys, pressed) = unbounded_channel();
    let (events, heard) = unbounded_channel();
    let hand = thread::spawn(move || type_keys(&keys, end));
    let worker = thread::spawn(move || flood_with(&events, turn, end));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let Latencies { keys, frames } = runtime.block_on(run_loop(&mut desk, pressed, heard))?;
    if hand.join().is_err() || worker.join().is_err() {
        return Err("a thread of the benchmark failed".into());
    }
    tell(&format!("{}x{}, key to frame while {name}", size.0, size.1), keys);
    tell("  a frame of these", frames);
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a hand waits between two keys")]
fn type_keys(keys: &UnboundedSender<(Instant, Input)>, end: Instant) {
    let mut dice = Dice(7);
    while Instant::now() < end {
        thread::sleep(Duration::from_micros(20_000 + dice.roll(60_000)));
        let letter = char::from(b'a' + u8::try_from(dice.roll(26)).unwrap_or(0));
        // Sometimes the last character is deleted.
        let code = if dice.roll(3) == 0 { KeyCode::Backspace } else { KeyCode::Char(letter) };
        if keys.send((Instant::now(), Input::Key(KeyEvent::new(code, KeyModifiers::NONE)))).is_err() {
            return;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a model takes its time for a token")]
fn flood_with(events: &UnboundedSender<Event>, turn: Option<TurnKey>, end: Instant) {
    let words =
        ["The ", "modem ", "of **station** ", "Kestrel ", "is replaced ", "[Source 1]. ", "\n\n- and ", "then "];
    let mut at = 0;
    while Instant::now() < end {
        let event = if let Some(turn) = turn {
            // 200 tokens a second, more than any model here generates; the answer exceeds the default limit.
            thread::sleep(Duration::from_millis(5));
            Event::AnswerGrew { turn, text: words[at % words.len()].to_owned() }
        } else {
            thread::sleep(Duration::from_millis(1));
            let (stage, current) = (IngestStage::Embedding, format!("notes/{at}.md"));
            Event::IngestAdvanced(IngestProgress { stage, done: at, total: 90_000, embedded: at * 4, current })
        };
        at += 1;
        if events.send(event).is_err() {
            return;
        }
    }
}

/// Milliseconds in the loop of the program.
struct Latencies {
    /// From each key to the end of the frame that shows it.
    keys: Vec<f64>,
    /// Of each frame.
    frames: Vec<f64>,
}

/// The loop of the program.
async fn run_loop(
    desk: &mut Desk,
    mut pressed: UnboundedReceiver<(Instant, Input)>,
    mut heard: UnboundedReceiver<Event>,
) -> Outcomes<Latencies> {
    let (mut keys, mut drawn, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
    let mut frames = Frames::new(Instant::now());
    let never = Moment::now() + Duration::from_hours(24);
    loop {
        let due = frames.due().map(Moment::from_std);
        let mut is_time = frames.is_overdue(Instant::now());
        if !is_time {
            tokio::select! {
                biased;
                key = pressed.recv() => {
                    let Some((at, input)) = key else { return Ok(Latencies { keys, frames: drawn }) };
                    desk.input(&input);
                    waiting.push(at);
                    frames.on_input(Instant::now());
                }
                Some(event) = heard.recv() => {
                    desk.app.handle(event);
                    while let Ok(event) = heard.try_recv() {
                        desk.app.handle(event);
                    }
                    frames.on_event();
                }
                () = sleep_until(due.unwrap_or(never)), if due.is_some() => is_time = true,
            }
        }
        if is_time {
            drawn.push(desk.draw()?);
            frames.on_drawn(Instant::now());
            keys.extend(waiting.drain(..).map(|at: Instant| at.elapsed().as_secs_f64() * 1e3));
        }
    }
}

fn long_conversation(size: (u16, u16)) -> Outcomes<()> {
    let mut desk = Desk::open(size, LONG)?;
    let first = desk.draw()?;
    println!("{}x{}, {LONG} turns: first frame {first:.1} ms", size.0, size.1);
    desk.screen.set_focus(Pane::Conversation);
    let still: Outcomes<Vec<f64>> = (0..FRAMES).map(|_| desk.draw()).collect();
    tell("  a frame in which nothing changed", still?);
    let moves = [KeyCode::PageUp, KeyCode::PageUp, KeyCode::Up, KeyCode::Char('['), KeyCode::Home, KeyCode::End];
    let mut times = Vec::new();
    for at in 0..FRAMES {
        desk.input(&Input::Key(KeyEvent::new(moves[at % moves.len()], KeyModifiers::NONE)));
        times.push(desk.draw()?);
    }
    tell("  a frame while it is scrolled", times);
    looked_for(&mut desk)?;
    let mut times = Vec::new();
    for at in 0..FRAMES {
        let border = if at / 8 % 2 == 0 { '<' } else { '>' };
        desk.input(&Input::Key(KeyEvent::new(KeyCode::Char(border), KeyModifiers::NONE)));
        times.push(desk.draw()?);
    }
    tell("  a frame while the border moves", times);
    let turn = desk.ask();
    let mut times = Vec::new();
    for _ in 0..FRAMES {
        desk.app.handle(Event::AnswerGrew { turn, text: "and **then** the modem [Source 1] ".into() });
        times.push(desk.draw()?);
    }
    tell("  a frame while an answer is written", times);
    Ok(())
}

/// Steps through the matches of a text in every turn.
fn looked_for(desk: &mut Desk) -> Outcomes<()> {
    let press = |desk: &mut Desk, code| desk.input(&Input::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    press(desk, KeyCode::Char('/'));
    for letter in "Source 1".chars() {
        press(desk, KeyCode::Char(letter));
    }
    press(desk, KeyCode::Enter);
    println!("  the first frame of a text that is looked for: {:.1} ms", desk.draw()?);
    let mut times = Vec::new();
    for at in 0..FRAMES {
        press(desk, KeyCode::Char(if at % 3 == 0 { 'N' } else { 'n' }));
        times.push(desk.draw()?);
    }
    tell("  a frame while a text is looked for", times);
    press(desk, KeyCode::Esc);
    Ok(())
}

/// Starts the program with a long history.
fn first_frame() -> Outcomes<()> {
    let memory = Path::new("/dev/shm");
    // Turns are stored and synced one by one, which is fast on a RAM disk.
    let data = if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
    let started = Instant::now();
    let mut history = History::open(&data.path().join("history.db"))?;
    let name = domain()?;
    for _ in 0..HISTORY.0 / HISTORY.1 {
        let mut id = None;
        for number in 1..=HISTORY.1 {
            id = Some(history.save_turn(&name, id, &turn(number, Stored::Short))?.0.id);
        }
    }
    let path = data.path().join("history.db");
    println!(
        "a history of {} turns: {:.0} MB, written in {:.0} s",
        HISTORY.0,
        path.metadata()?.len() as f64 / 1e6,
        started.elapsed().as_secs_f64()
    );
    let started = Instant::now();
    let listed = history.conversations(Some(&name))?.len();
    println!("  its {listed} conversations listed in {:.1} ms", started.elapsed().as_secs_f64() * 1e3);
    drop(history);
    let mut times = Vec::new();
    for _ in 0..STARTS {
        times.push(start(data.path())?);
    }
    tell("  from the start of the program to its first frame, 120x40", times);
    let empty = tempfile::tempdir()?;
    let times: Outcomes<Vec<f64>> = (0..STARTS).map(|_| start(empty.path())).collect();
    tell("  the same without a history", times?);
    println!("  (a frame is drawn at most every {} ms unless a key asks for it)", FRAME.as_millis());
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the benchmark says where the weights are")]
fn models() -> PathBuf {
    let known = std::env::var_os("RAGONITE_MODELS");
    known.map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("models"), PathBuf::from)
}

/// Milliseconds from the start of the program until its status line is there.
fn start(data: &Path) -> Outcomes<f64> {
    let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
    let pair = NativePtySystem::default().openpty(size)?;
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_ragonite"));
    command.args(["--profile", "tiny", "--data-dir"]);
    command.arg(data);
    command.arg("--models-dir");
    command.arg(models());
    command.env("TERM", "xterm-256color");
    command.env("HOME", data);
    command.cwd(data);
    let mut reader = pair.master.try_clone_reader()?;
    let started = Instant::now();
    let mut child = pair.slave.spawn_command(command)?;
    drop(pair.slave);
    let lines = |count: u16| NonZero::new(count).ok_or("a terminal has a line");
    let mut parser = vt100::Parser::new(lines(size.rows)?, lines(size.cols)?, 0);
    let mut buffer = vec![0; 1 << 16];
    while !parser.screen().contents().contains(" offline") {
        match reader.read(&mut buffer)? {
            0 => {
                return Err(format!("the program ended before its first frame:\n{}", parser.screen().contents()).into());
            }
            read => parser.process(&buffer[..read]),
        }
    }
    let taken = started.elapsed().as_secs_f64() * 1e3;
    child.kill()?;
    child.wait()?;
    Ok(taken)
}

fn domain() -> Outcomes<DomainName> {
    Ok("wiki".parse()?)
}

fn summary() -> Outcomes<DomainSummary> {
    Ok(DomainSummary {
        name: domain()?,
        documents: 15,
        evidences: 412,
        changed_at: String::new(),
        ingested_at: "2025-05-04T09:00:00Z".into(),
        health: DomainHealth::Ready,
        problem: None,
    })
}

fn conversation(domain: &DomainName, id: i64) -> ConversationRecord {
    ConversationRecord {
        id: ConversationId(id),
        domain: domain.clone(),
        title: format!("What became of the modem of station {id}?"),
        started_at: OffsetDateTime::UNIX_EPOCH,
        changed_at: OffsetDateTime::UNIX_EPOCH,
        turns: 20,
        pinned: false,
        deleted_at: None,
    }
}

/// Size of a turn.
#[derive(Clone, Copy)]
enum Stored {
    /// Realistic.
    Whole,
    /// With two sources, so that ten thousand are written in a minute.
    Short,
}

fn turn(number: u32, stored: Stored) -> TurnRecord {
    let sources = match stored {
        Stored::Whole => 10,
        Stored::Short => 2,
    };
    let question = format!("What became of the modem in case {number}?");
    let text = "**Alice** replaces the satellite modem of station *Kestrel* [Source 1, Source 2]:\n\n\
                - it is due on `2025-03-14` [Source 1]\n- the low-power variant was chosen, since the old one took more \
                than the panels give in winter [Source 2]\n\nNobody objected."
        .to_owned();
    let completion = Completion {
        text: text.clone(),
        tokens: vec![1; 60],
        prompt_tokens: 1240,
        reused_tokens: 0,
        drafted_tokens: 0,
        narrowest: None,
        log_probabilities: Vec::new(),
        draft_log_probabilities: Vec::new(),
        finish: Finish::End,
        first_token_ms: Millis(900.0),
        total_ms: Millis(4210.0),
    };
    let answer = Answer {
        named: None,
        withheld: None,
        text,
        answered: true,
        citations: vec![1, 2],
        invalid_citations: vec![],
        language: Language::English,
        prompt: Prompt::default(),
        sampling: Sampling::Greedy,
        completion,
    };
    let rewrite = Rewrite {
        completed: question.clone(),
        how: RewriteHow::First,
        prompt: None,
        completion: None,
        total_ms: Millis(1.0),
    };
    let retrieved =
        Retrieved { hits: (1..=sources).map(hit).collect(), query: question.clone(), ..Retrieved::default() };
    TurnRecord {
        id: TurnId(i64::from(match stored {
            Stored::Whole => number,
            Stored::Short => 0,
        })),
        number,
        question: question.clone(),
        completed_question: question,
        outcome: Outcome::Answered,
        asked_at: OffsetDateTime::UNIX_EPOCH,
        feedback: None,
        trace: Trace {
            rewrite: Some(rewrite),
            retrieved: Some(retrieved),
            answer: Some(answer),
            settings: Some(TurnSettings::default()),
            ..Trace::default()
        },
    }
}

fn hit(rank: usize) -> Hit {
    let content =
        format!("Note {rank}: the field team met in the depot and spoke about the modem of the station. ").repeat(5);
    Hit {
        rank,
        evidence: EvidenceId(i64::try_from(rank).unwrap_or(0)),
        document: DocumentId(1),
        title: "Field meeting".into(),
        heading: "Action items".into(),
        url: "wiki/meeting.json".into(),
        date: None,
        space: None,
        ancestors: Vec::new(),
        location: "paragraph 2".into(),
        kind: Kind::Passage,
        table: None,
        row: None,
        text: content.clone(),
        content,
        links: Vec::new(),
        context: Context::default(),
        fused: 0.03,
        dense_rank: Some(rank),
        dense_score: Some(0.8),
        lexical_rank: Some(rank),
        lexical_score: Some(7.5),
        rerank_score: None,
        copies: Vec::new(),
        version: None,
        why: HitExplanation::default(),
    }
}
