//! Each key of the help does what the help says: every default key of every action, pressed on a whole screen.

use std::collections::BTreeSet;

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyModifiers};
use ragonite::app::{ConversationChange, Copied, Event, JobId, TurnKey};
use ragonite::config::{Background, Colours, Letters, SettingsOverride, TerminalTraits, ThemeName};
use ragonite::history::{Place as Listed, Rating};
use ragonite::rag::answer::Suggestions;
use ragonite::rag::attribution::Method;
use ragonite::tui::{Action, Chord, Intent, Keymap, Pane, Place, Theme};

use crate::screen::{Stage, answer, domain_name, explained_by_logprob};
use crate::states::{ingesting, two_turns, unsaved};

const SIZE: (u16, u16) = (120, 40);

/// A key press with its effects.
struct Seen {
    intents: Vec<Intent>,
    before: String,
    after: String,
    stage: Stage,
}

impl Seen {
    fn wished(&self, is: impl Fn(&Event) -> bool) -> bool {
        self.intents.iter().any(|intent| matches!(intent, Intent::App(event) if is(event)))
    }

    fn appeared(&self, text: &str) -> bool {
        self.after.contains(text) && !self.before.contains(text)
    }

    /// The question that is sent after further keys.
    fn asks(&mut self, keys: &str, text: &str) -> bool {
        for key in keys.chars() {
            self.stage.press(KeyCode::Char(key), KeyModifiers::NONE);
        }
        let asked = self.stage.input(&event("Enter"));
        asked
            .iter()
            .any(|intent| matches!(intent, Intent::App(Event::QuestionAsked { text: asked, .. }) if asked == text))
    }

    /// With a citation of the second source selected, the key that opens leads to it.
    fn follows_to_second(&mut self) -> bool {
        self.stage.input(&event("Enter"));
        self.stage.screen.focus() == Pane::Evidence && self.stage.frame(SIZE).backend().to_string().contains("› 2 ")
    }

    fn column(text: &str, sign: &str) -> Option<usize> {
        text.lines().find_map(|line| line.find(sign).map(|at| line[..at].chars().count()))
    }

    /// How many columns a text of the screen has moved to the right.
    fn moved(&self, sign: &str) -> i64 {
        let column = |text| i64::try_from(Self::column(text, sign).unwrap()).unwrap();
        column(&self.after) - column(&self.before)
    }

    /// How many numbered lines the answer has moved down.
    fn scrolled(&self) -> i64 {
        let top = |text: &str| -> i64 {
            let line = text.lines().find(|line| line.contains("line ")).unwrap();
            line.split("line ").nth(1).unwrap().split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
        };
        top(&self.after) - top(&self.before)
    }
}

/// Where a row is tested.
#[derive(Clone, Copy, PartialEq)]
enum At {
    /// In the pane.
    Pane(Pane),
    /// In the pane, and for keys that type nothing also while a question is written.
    Both(Pane),
}

type Row = (Action, At, fn() -> Stage, fn(&mut Seen) -> bool);

fn typed() -> Stage {
    Stage::open().at(Pane::Composer).key('h').key('i')
}

fn running() -> Stage {
    Stage::asked("Who replaces the modem?")
}

fn suggested() -> Stage {
    let mut stage = Stage::with(Suggestions::Auto).opened().ask("Who?").search("Who?").answer();
    let questions = vec!["One?".into(), "Two?".into(), "Three?".into()];
    stage.play([Event::QuestionsSuggested { job: JobId(2), questions }]);
    stage
}

/// Scrolled to the end of an answer with numbered lines.
fn long() -> Stage {
    let mut stage = Stage::searched("Who?");
    let lines: Vec<String> = (100..200).map(|number| format!("- line {number}")).collect();
    stage.finish(TurnKey(1), answer(&lines.join("\n"), vec![]));
    stage
}

fn long_at_top() -> Stage {
    let mut stage = long().at(Pane::Conversation);
    stage.frame(SIZE);
    stage.key('g')
}

fn looked_for() -> Stage {
    let mut stage = Stage::answered().at(Pane::Evidence).key('/');
    for key in "modem".chars() {
        stage.press(KeyCode::Char(key), KeyModifiers::NONE);
    }
    stage.input(&event("Enter"));
    stage
}

fn scrolled_right() -> Stage {
    let mut stage = Stage::answered().at(Pane::Evidence);
    stage.frame(SIZE);
    stage.key('l')
}

fn on_conversation() -> Stage {
    Stage::answered().at(Pane::Lists).key('G')
}

/// Every action: where it is tested, on which stage, and its effect.
const ROWS: &[Row] = &[
    (Action::Send, At::Pane(Pane::Composer), typed, |seen| {
        seen.wished(|event| matches!(event, Event::QuestionAsked { text, .. } if text == "hi"))
    }),
    (Action::Newline, At::Pane(Pane::Composer), typed, |seen| seen.asks("x", "hi\nx")),
    (Action::Back, At::Both(Pane::Why), running, |seen| seen.wished(|event| *event == Event::CancelRequested)),
    (Action::Cancel, At::Both(Pane::Why), running, |seen| {
        let again = seen.stage.input(&event("Ctrl+C"));
        seen.wished(|event| *event == Event::CancelRequested) && again == [Intent::App(Event::QuitRequested)]
    }),
    (Action::Quit, At::Both(Pane::Why), Stage::open, |seen| seen.wished(|event| *event == Event::QuitRequested)),
    (Action::Help, At::Both(Pane::Why), Stage::open, |seen| seen.appeared("┏ Keys ")),
    (Action::NewConversation, At::Both(Pane::Why), Stage::answered, |seen| {
        seen.wished(|event| *event == Event::ConversationStarted) && seen.appeared("wiki is open")
    }),
    (Action::WriteQuestion, At::Pane(Pane::Why), Stage::answered, |seen| seen.asks("hi", "hi")),
    (Action::Explain, At::Both(Pane::Evidence), Stage::answered, |seen| explains(seen, Method::Counterfactual)),
    (Action::ExplainBySimilarity, At::Pane(Pane::Why), Stage::answered, |seen| explains(seen, Method::Similarity)),
    (Action::ExplainByPreview, At::Pane(Pane::Why), Stage::answered, |seen| explains(seen, Method::Preview)),
    (Action::ExplainByLogprob, At::Pane(Pane::Why), Stage::answered, |seen| explains(seen, Method::Logprob)),
    (Action::ExplainByJsd, At::Pane(Pane::Why), Stage::answered, |seen| explains(seen, Method::Jsd)),
    (
        Action::PreviousSentence,
        At::Pane(Pane::Why),
        || explained_by_logprob().at(Pane::Why).key('.').key('.'),
        |seen| seen.appeared("Sentence 1 of 2"),
    ),
    (Action::NextSentence, At::Pane(Pane::Why), explained_by_logprob, |seen| seen.appeared("Sentence 1 of 2")),
    (Action::PreviousCitation, At::Pane(Pane::Evidence), Stage::answered, Seen::follows_to_second),
    (
        Action::NextCitation,
        At::Pane(Pane::Evidence),
        || Stage::answered().at(Pane::Evidence).key('m'),
        Seen::follows_to_second,
    ),
    (Action::Edit, At::Pane(Pane::Conversation), Stage::answered, |seen| {
        seen.appeared("Completed question") && seen.stage.screen.focus() == Pane::Composer
    }),
    (Action::AskFirst, At::Both(Pane::Evidence), suggested, |seen| asked(seen, "One?")),
    (Action::AskSecond, At::Both(Pane::Evidence), suggested, |seen| asked(seen, "Two?")),
    (Action::AskThird, At::Both(Pane::Evidence), suggested, |seen| asked(seen, "Three?")),
    (Action::RateUp, At::Pane(Pane::Conversation), Stage::answered, |seen| {
        seen.wished(|event| {
            matches!(event, Event::TurnRated { turn: 0, feedback: Some(feedback) } if feedback.rating == Rating::Up)
        }) && seen.appeared("rated")
    }),
    (Action::RateDown, At::Pane(Pane::Conversation), Stage::answered, |seen| {
        seen.appeared("What is wrong with the answer")
    }),
    (
        Action::Copy,
        At::Pane(Pane::Conversation),
        Stage::answered,
        |seen| matches!(&seen.intents[..], [Intent::Copy { what: Copied::Answer, text }] if text.contains("Alice")),
    ),
    (Action::Export, At::Pane(Pane::Conversation), Stage::answered, |seen| {
        seen.appeared("┏ Write or copy ") && seen.appeared("[Markdown]")
    }),
    (Action::Branch, At::Pane(Pane::Conversation), Stage::answered, |seen| {
        seen.wished(|event| *event == Event::BranchWanted { turn: 0 })
    }),
    (Action::SaveAgain, At::Pane(Pane::Conversation), unsaved, |seen| {
        seen.wished(|event| *event == Event::SaveAgainWanted) && seen.before.contains("! 1 not stored")
    }),
    (Action::Palette, At::Both(Pane::Why), Stage::open, |seen| seen.appeared("┏ Actions ")),
    (Action::Settings, At::Both(Pane::Why), Stage::answered, |seen| seen.appeared("┏ Settings of wiki ")),
    (Action::NewDomain, At::Both(Pane::Lists), Stage::open, |seen| seen.appeared("┏ New domain ")),
    (Action::RefreshDomain, At::Pane(Pane::Lists), Stage::open, |seen| {
        seen.wished(|event| matches!(event, Event::IngestWanted { domain, path } if *domain == domain_name() && path.is_empty()))
    }),
    (Action::StopIngest, At::Pane(Pane::Lists), ingesting, |seen| {
        seen.wished(|event| *event == Event::IngestCancelRequested) && seen.appeared("stopping to read notes")
    }),
    (Action::NextTheme, At::Pane(Pane::Conversation), Stage::answered, |seen| {
        let terminal =
            TerminalTraits { colours: Colours::Rgb, background: Background::Unknown, letters: Letters::Unicode };
        seen.stage.screen.theme() == Theme::chosen(ThemeName::HighContrast, terminal)
    }),
    (Action::Check, At::Pane(Pane::Conversation), Stage::answered, |seen| {
        seen.wished(|event| matches!(event, Event::ExportEvalCase { turn: 0 }))
    }),
    (Action::Compare, At::Pane(Pane::Evidence), Stage::answered, |seen| {
        seen.appeared("┏ Compare turn 1 ") && seen.appeared("without source 1: ")
    }),
    (Action::Context, At::Pane(Pane::Evidence), Stage::answered, |seen| seen.appeared("┏ Source 1 in its context ")),
    (Action::OpenDocument, At::Pane(Pane::Evidence), Stage::answered, |seen| {
        seen.wished(|event| matches!(event, Event::DocumentWanted { .. })) && seen.appeared("▌ found here · row")
    }),
    (Action::Search, At::Pane(Pane::Evidence), Stage::answered, |seen| seen.appeared("┏ Look for ")),
    (Action::NextMatch, At::Pane(Pane::Evidence), looked_for, |seen| seen.appeared("“modem” 2 of 2")),
    (Action::PreviousMatch, At::Pane(Pane::Evidence), looked_for, |seen| seen.appeared("“modem” 2 of 2")),
    (Action::NextPane, At::Pane(Pane::Evidence), Stage::answered, |seen| focus(seen, Pane::Behind)),
    (Action::PreviousPane, At::Pane(Pane::Evidence), Stage::answered, |seen| focus(seen, Pane::Conversation)),
    (Action::ShowConversation, At::Both(Pane::Why), Stage::answered, |seen| focus(seen, Pane::Conversation)),
    (Action::ShowEvidence, At::Both(Pane::Why), Stage::answered, |seen| focus(seen, Pane::Evidence)),
    (Action::ShowBehind, At::Both(Pane::Why), Stage::answered, |seen| focus(seen, Pane::Behind)),
    (Action::ShowWhy, At::Both(Pane::Lists), Stage::answered, |seen| focus(seen, Pane::Why)),
    (Action::ShowLists, At::Both(Pane::Why), Stage::answered, |seen| focus(seen, Pane::Lists)),
    (Action::Enlarge, At::Both(Pane::Evidence), Stage::answered, |seen| seen.appeared("enlarged, Alt+z shows all")),
    (Action::Hide, At::Both(Pane::Evidence), Stage::answered, |seen| {
        seen.before.contains(" Evidence ") && !seen.after.contains(" Evidence ")
    }),
    (Action::BorderLeft, At::Both(Pane::Evidence), Stage::answered, |seen| seen.moved(" Evidence ") < 0),
    (Action::BorderRight, At::Both(Pane::Evidence), Stage::answered, |seen| seen.moved(" Evidence ") > 0),
    (Action::PreviousTurn, At::Pane(Pane::Conversation), two_turns, |seen| seen.appeared("▌ ? Who replaces")),
    (
        Action::NextTurn,
        At::Pane(Pane::Conversation),
        || two_turns().at(Pane::Conversation).key('['),
        |seen| seen.appeared("▌ ? And when"),
    ),
    (
        Action::Up,
        At::Pane(Pane::Evidence),
        || Stage::answered().at(Pane::Evidence).key('G'),
        |seen| seen.appeared("› 4 "),
    ),
    (Action::Down, At::Pane(Pane::Evidence), Stage::answered, |seen| seen.appeared("› 2 ")),
    (
        Action::First,
        At::Pane(Pane::Evidence),
        || Stage::answered().at(Pane::Evidence).key('G'),
        |seen| seen.appeared("› 1 "),
    ),
    (Action::Last, At::Pane(Pane::Evidence), Stage::answered, |seen| seen.appeared("› 5 ")),
    (Action::PageUp, At::Both(Pane::Conversation), long, |seen| seen.scrolled() < -20),
    (Action::PageDown, At::Both(Pane::Conversation), long_at_top, |seen| seen.scrolled() > 20),
    (Action::HalfPageUp, At::Pane(Pane::Conversation), long, |seen| (-20..-10).contains(&seen.scrolled())),
    (Action::HalfPageDown, At::Pane(Pane::Conversation), long_at_top, |seen| (11..=20).contains(&seen.scrolled())),
    (Action::Left, At::Pane(Pane::Evidence), scrolled_right, |seen| seen.appeared("↔ cells 1–")),
    (Action::Right, At::Pane(Pane::Evidence), Stage::answered, |seen| seen.appeared("↔ cells 18–")),
    (Action::Toggle, At::Pane(Pane::Evidence), Stage::answered, |seen| {
        seen.before.contains("Before: The field team") && !seen.after.contains("Before: The field team")
    }),
    (Action::Rename, At::Pane(Pane::Conversation), Stage::answered, |seen| {
        seen.appeared("┏ Title of the conversation ")
    }),
    (Action::Pin, At::Pane(Pane::Conversation), Stage::answered, |seen| {
        changes(seen, |change| matches!(change, ConversationChange::Pin(_, Listed::Pinned)))
    }),
    (Action::Delete, At::Pane(Pane::Lists), on_conversation, |seen| {
        changes(seen, |change| matches!(change, ConversationChange::Delete(_)))
    }),
];

fn explains(seen: &Seen, wanted: Method) -> bool {
    seen.wished(|event| matches!(event, Event::ExplainRequested { turn: 0, method } if *method == wanted))
        && seen.stage.screen.focus() == Pane::Why
}

fn asked(seen: &Seen, question: &str) -> bool {
    seen.wished(|event| matches!(event, Event::QuestionAsked { text, .. } if text == question))
}

fn focus(seen: &Seen, pane: Pane) -> bool {
    seen.stage.screen.focus() == pane
}

fn changes(seen: &Seen, is: impl Fn(&ConversationChange) -> bool) -> bool {
    seen.wished(|event| matches!(event, Event::ConversationChangeWanted(change) if is(change)))
}

/// The terminal event of a key in the help's notation.
fn event(key: &str) -> Input {
    let mut modifiers = KeyModifiers::NONE;
    let mut name = key;
    for (prefix, modifier) in
        [("Ctrl+", KeyModifiers::CONTROL), ("Alt+", KeyModifiers::ALT), ("Shift+", KeyModifiers::SHIFT)]
    {
        if let Some(rest) = name.strip_prefix(prefix) {
            (name, modifiers) = (rest, modifiers | modifier);
        }
    }
    let code = match name {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" if modifiers == KeyModifiers::SHIFT => KeyCode::BackTab,
        "Tab" => KeyCode::Tab,
        "Space" => KeyCode::Char(' '),
        "Plus" => KeyCode::Char('+'),
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PgUp" => KeyCode::PageUp,
        "PgDn" => KeyCode::PageDown,
        "Delete" => KeyCode::Delete,
        name if name.len() > 1 => KeyCode::F(name.strip_prefix('F').unwrap().parse().unwrap()),
        letter => {
            let letter = letter.chars().next().unwrap();
            let control = modifiers.contains(KeyModifiers::CONTROL);
            KeyCode::Char(if control { letter.to_ascii_lowercase() } else { letter })
        }
    };
    Input::Key(KeyEvent::new(code, modifiers))
}

fn press(stage: fn() -> Stage, pane: Pane, key: &str) -> Seen {
    let mut stage = stage().at(pane);
    let before = stage.frame(SIZE).backend().to_string();
    let intents = stage.input(&event(key));
    let after = stage.frame(SIZE).backend().to_string();
    Seen { intents, before, after, stage }
}

#[test]
fn in_the_list_of_domains_the_settings_are_those_of_the_selected_one() {
    let mut stage = Stage::open().at(Pane::Lists).key('j');
    stage.frame(SIZE);
    let league = || "league".parse().unwrap();
    let intents = stage.input(&event("F7"));
    assert!(intents.contains(&Intent::App(Event::OtherSettingsWanted(league()))), "{intents:?}");
    assert!(stage.frame(SIZE).backend().to_string().contains("┏ Settings of league "));
    stage.play([Event::OtherSettingsLoaded { domain: league(), changes: SettingsOverride::default(), problem: None }]);
    let changed = stage.input(&event("Right"));
    let is_of_league =
        |event: &Event| matches!(event, Event::OtherSettingsChanged { domain, .. } if *domain == league());
    assert!(changed.iter().any(|intent| matches!(intent, Intent::App(event) if is_of_league(event))), "{changed:?}");
    assert!(stage.frame(SIZE).backend().to_string().contains(" 1 changed"));
    assert!(stage.app.changes().is_empty(), "the open domain is as it was");
}

#[test]
fn in_the_help_a_text_is_looked_for_by_the_keys_of_every_pane() {
    const NARROW: (u16, u16) = (80, 24);
    let mut stage = Stage::answered().at(Pane::Conversation).key('?');
    let mut press = |keys: &[&str]| {
        for key in keys {
            stage.frame(NARROW);
            stage.input(&event(key));
        }
        stage.frame(NARROW).backend().to_string()
    };
    let typed = press(&["/", "?", "N"]);
    assert!(typed.contains("┃ /?N ") && typed.contains("Enter look for it"), "{typed}");
    let none = press(&["Enter"]);
    assert!(none.contains("“?N” 0 of 0"), "{none}");

    let first = press(&["/", "b", "o", "r", "d", "e", "r", "Enter"]);
    assert!(first.contains("“border” 1 of 2") && first.contains("border of the panes left"), "{first}");
    assert!(!typed.contains("border of the panes left"), "it was out of sight before");
    assert!(press(&["n"]).contains("“border” 2 of 2"));
    assert!(press(&["n"]).contains("“border” 1 of 2"), "it goes round");
    let last = press(&["N"]);
    assert!(last.contains("“border” 2 of 2") && last.contains("border of the panes right"), "{last}");
    let top = press(&["g", "n"]);
    assert!(top.contains("“border” 1 of 2"), "from where the list was scrolled to: {top}");

    let left = press(&["/", "Esc"]);
    assert!(left.contains("“border” 1 of 2") && left.contains("Esc close"), "{left}");
    assert!(!press(&["Esc"]).contains("┏ Keys "));
    let again = press(&["?", "n", "x"]);
    assert!(again.contains("┃ /x ") && !again.contains("“border”"), "without a text one is asked for: {again}");
    assert!(!press(&["F1"]).contains("┏ Keys "), "it closes also while a text is typed");
}

#[test]
fn each_key_does_what_the_help_says() {
    let keymap = Keymap::default();
    let mut wrong = Vec::new();
    for (action, at, stage, does) in ROWS {
        let mut pressed = 0;
        for key in keymap.keys(*action).split("  ") {
            let types = key.parse::<Chord>().unwrap().is_text();
            let panes = match *at {
                At::Pane(pane) => vec![pane],
                At::Both(pane) if types => vec![pane],
                At::Both(pane) => vec![pane, Pane::Composer],
            };
            for pane in panes {
                let mut seen = press(*stage, pane, key);
                pressed += 1;
                if !does(&mut seen) {
                    wrong.push(format!(
                        "{key} in {pane:?} is to `{}`:\n{}\n{}",
                        action.label(),
                        seen.before,
                        seen.after
                    ));
                }
            }
        }
        assert!(pressed > 0, "`{}` has no key", action.name());
    }
    assert!(wrong.is_empty(), "{} keys do not what the help says.\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_action_of_the_help_is_tried() {
    let tried: BTreeSet<Action> = ROWS.iter().map(|(action, ..)| *action).collect();
    let missing: Vec<&str> = Action::all().filter(|action| !tried.contains(action)).map(Action::name).collect();
    assert_eq!(missing, Vec::<&str>::new(), "add a row for each");
    for (action, at, ..) in ROWS {
        let fits = match (action.place(), at) {
            (Place::Composer, At::Pane(pane)) => *pane == Pane::Composer,
            (Place::Panes, At::Pane(pane)) => *pane != Pane::Composer,
            (Place::Anywhere, _) => true,
            (_, At::Both(_)) => false,
        };
        assert!(fits, "`{}` is tried where its keys do not count", action.name());
    }
}

#[test]
fn every_action_is_done_from_the_palette_as_by_its_key() {
    for (action, at, stage, does) in ROWS {
        let (At::Pane(pane) | At::Both(pane)) = *at;
        // The palette uses these keys itself, and closes before an action runs.
        if matches!(action, Action::Send | Action::Newline | Action::Palette | Action::Cancel | Action::Back) {
            continue;
        }
        let mut stage = stage().at(pane);
        let before = stage.frame(SIZE).backend().to_string();
        stage.input(&event("Ctrl+P"));
        for letter in action.name().chars() {
            stage.press(KeyCode::Char(letter), KeyModifiers::NONE);
        }
        // Several actions may match the words; the tested one has its own text.
        for _ in 0..Action::all().count() {
            let seen = stage.frame(SIZE).backend().to_string();
            if seen
                .lines()
                .any(|line| line.contains(&format!("┃›{}", action.label().chars().take(40).collect::<String>())))
            {
                break;
            }
            stage.press(KeyCode::Down, KeyModifiers::NONE);
        }
        let intents = stage.input(&event("Enter"));
        let after = stage.frame(SIZE).backend().to_string();
        let mut seen = Seen { intents, before, after, stage };
        assert!(does(&mut seen), "`{}` from the palette:\n{}", action.name(), seen.after);
    }
}
