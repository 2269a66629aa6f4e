//! A key with its modifiers: as pressed, as written in the configuration, as shown in the help.
//!
//! Invariant: a chord that is written can be parsed again.

use std::fmt;
use std::str::FromStr;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::messages::Words;

/// A key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

/// A text that names no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no key: write for example `Ctrl+N`, `Alt+Enter`, `F1`, `PgDn`, `?` or `Space`")]
pub struct ChordError(String);

/// Named keys. The screen shows the first name of a key.
const NAMED: [(&str, KeyCode); 20] = [
    ("Enter", KeyCode::Enter),
    ("Esc", KeyCode::Esc),
    ("Tab", KeyCode::Tab),
    ("Space", KeyCode::Char(' ')),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
    ("PgUp", KeyCode::PageUp),
    ("PgDn", KeyCode::PageDown),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("Backspace", KeyCode::Backspace),
    ("Delete", KeyCode::Delete),
    ("Insert", KeyCode::Insert),
    ("Plus", KeyCode::Char('+')),
    ("Escape", KeyCode::Esc),
    ("PageUp", KeyCode::PageUp),
    ("PageDown", KeyCode::PageDown),
    ("Return", KeyCode::Enter),
];

impl Chord {
    /// The chord of a key event. Terminals report Shift in three ways; a letter keeps it as its case, Tab as a
    /// modifier.
    pub fn of(key: KeyEvent) -> Self {
        Self::new(key.code, key.modifiers)
    }

    fn new(code: KeyCode, modifiers: KeyModifiers) -> Self {
        let known = modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
        match code {
            KeyCode::BackTab => Self { code: KeyCode::Tab, modifiers: known | KeyModifiers::SHIFT },
            KeyCode::Char(c) if known.contains(KeyModifiers::CONTROL) => {
                Self { code: KeyCode::Char(c.to_ascii_lowercase()), modifiers: known - KeyModifiers::SHIFT }
            }
            KeyCode::Char(_) => Self { code, modifiers: known - KeyModifiers::SHIFT },
            _ => Self { code, modifiers: known },
        }
    }

    /// Whether the chord types a character.
    pub fn is_text(self) -> bool {
        matches!(self.code, KeyCode::Char(_)) && self.modifiers.is_empty()
    }

    /// The chord with the key names of the language.
    pub(super) fn shown(self, words: Words) -> String {
        let modifiers = [
            (KeyModifiers::CONTROL, words.control()),
            (KeyModifiers::ALT, words.alt()),
            (KeyModifiers::SHIFT, words.shift()),
        ];
        let held = modifiers.into_iter().filter(|(modifier, _)| self.modifiers.contains(*modifier));
        let held: String = held.map(|(_, name)| name).collect();
        let named = NAMED.iter().find(|(_, code)| *code == self.code);
        let named = named.map(|(name, code)| words.key(*code, name).to_owned());
        let key = named.unwrap_or_else(|| match self.code {
            KeyCode::Char(c) if self.modifiers.contains(KeyModifiers::CONTROL) => c.to_ascii_uppercase().to_string(),
            KeyCode::Char(c) => c.to_string(),
            KeyCode::F(n) => format!("F{n}"),
            other => other.to_string(),
        });
        format!("{held}{key}")
    }
}

/// The form of the configuration.
impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown(Words::default()))
    }
}

impl FromStr for Chord {
    type Err = ChordError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ChordError(ragonite_base::clean_line(text));
        let mut parts: Vec<&str> = text.split('+').map(str::trim).collect();
        let key = parts.pop().ok_or_else(wrong)?;
        let mut modifiers = KeyModifiers::NONE;
        for part in parts {
            modifiers |= match part.to_ascii_lowercase().as_str() {
                "ctrl" | "control" => KeyModifiers::CONTROL,
                "alt" => KeyModifiers::ALT,
                "shift" => KeyModifiers::SHIFT,
                _ => return Err(wrong()),
            };
        }
        let named = NAMED.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, code)| *code);
        let code = named.or_else(|| function_key(key)).or_else(|| single_character(key)).ok_or_else(wrong)?;
        match code {
            KeyCode::Char(c) if modifiers.contains(KeyModifiers::SHIFT) => {
                Ok(Self::new(KeyCode::Char(c.to_ascii_uppercase()), modifiers))
            }
            code => Ok(Self::new(code, modifiers)),
        }
    }
}

fn function_key(text: &str) -> Option<KeyCode> {
    let number: u8 = text.strip_prefix(['F', 'f'])?.parse().ok()?;
    (1..=24).contains(&number).then_some(KeyCode::F(number))
}

fn single_character(text: &str) -> Option<KeyCode> {
    let mut chars = text.chars();
    let first = chars.next().filter(|c| !c.is_control())?;
    chars.next().is_none().then_some(KeyCode::Char(first))
}
