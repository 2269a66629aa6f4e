//! Settings of the screen, and what the environment tells about terminal and language.
//!
//! Invariant: variables are read once, here, and passed on as values.
//! Not here: colours of themes and glyphs (`tui`).

use serde::{Deserialize, Serialize};

use super::paths::variable;
use ragonite_base::Language;

/// The section `[screen]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScreenSettings {
    /// Colours.
    pub theme: ThemeName,
    /// Glyphs of frames, bars and marks.
    pub borders: Borders,
    /// Whether the program uses the mouse.
    pub mouse: Mouse,
    /// Language of the texts.
    pub language: ScreenLanguage,
}

/// The name of a theme.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThemeName {
    /// By the terminal's background if known, else `ansi`.
    #[default]
    Auto,
    /// For a dark background.
    Dark,
    /// For a light background.
    Light,
    /// The terminal's own sixteen colours.
    Ansi,
    /// White and bright colours on black.
    HighContrast,
    /// No colour.
    Plain,
}

impl ThemeName {
    /// All but `Auto`, in the order of switching.
    pub const ALL: [Self; 5] = [Self::Dark, Self::Light, Self::Ansi, Self::HighContrast, Self::Plain];

    /// Name in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Ansi => "ansi",
            Self::HighContrast => "high-contrast",
            Self::Plain => "plain",
        }
    }
}

/// Glyphs of frames, bars and marks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Borders {
    /// By the terminal.
    #[default]
    Auto,
    /// Lines and blocks.
    Unicode,
    /// ASCII only.
    Ascii,
}

/// Whether the program uses the mouse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mouse {
    /// The wheel scrolls, a click selects; the terminal selects text with Shift.
    On,
    /// The mouse is left to the terminal.
    #[default]
    Off,
}

/// The language of the screen's texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScreenLanguage {
    /// By the locale; English if the screen does not have its language.
    #[default]
    Auto,
    /// English.
    En,
    /// German.
    De,
}

impl ScreenLanguage {
    /// The chosen language, or else that of the locale.
    pub fn chosen(self, locale: Language) -> Language {
        match self {
            Self::Auto => locale,
            Self::En => Language::English,
            Self::De => Language::German,
        }
    }
}

/// Colours that a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// No colours, or the user wants none.
    None,
    /// The palette of sixteen.
    Sixteen,
    /// The palette and 240 fixed colours.
    Many,
    /// All colours.
    Rgb,
}

/// Background of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    /// Dark.
    Dark,
    /// Light.
    Light,
    /// Unknown.
    Unknown,
}

/// Characters that a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letters {
    /// All.
    Unicode,
    /// Only ASCII is certain.
    Ascii,
}

/// Properties of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalTraits {
    /// Its colours.
    pub colours: Colours,
    /// Its background.
    pub background: Background,
    /// Its signs.
    pub letters: Letters,
}

/// The properties of this terminal, from the environment.
pub fn terminal_traits() -> TerminalTraits {
    traits(|name| variable(name).map(|value| value.to_string_lossy().into_owned()))
}

/// `variable` gives variables that are set and not empty.
fn traits(variable: impl Fn(&str) -> Option<String>) -> TerminalTraits {
    let terminal = variable("TERM").unwrap_or_default();
    let says = |name: &str, texts: &[&str]| variable(name).is_some_and(|value| texts.contains(&value.as_str()));
    // See <https://no-color.org>.
    let colours = if variable("NO_COLOR").is_some() || terminal == "dumb" {
        Colours::None
    } else if says("COLORTERM", &["truecolor", "24bit"]) || terminal.ends_with("-direct") {
        Colours::Rgb
    } else if terminal.contains("256color") {
        Colours::Many
    } else {
        Colours::Sixteen
    };
    // `15;0`: foreground and, last, background, as numbers of the palette.
    let ground = variable("COLORFGBG").and_then(|both| both.rsplit(';').next()?.parse::<u8>().ok());
    let background = match ground {
        Some(0..=6 | 8) => Background::Dark,
        Some(7 | 9..=15) => Background::Light,
        _ => Background::Unknown,
    };
    // The first set variable decides. Without any, the machine is often a container in a Unicode terminal.
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable).map(|name| name.to_lowercase());
    let is_utf8 = locale.is_none_or(|name| name.contains("utf-8") || name.contains("utf8"));
    let letters =
        if is_utf8 && !matches!(terminal.as_str(), "linux" | "dumb") { Letters::Unicode } else { Letters::Ascii };
    TerminalTraits { colours, background, letters }
}

/// The language of messages, from the environment.
pub fn locale_language() -> Language {
    language(|name| variable(name).map(|value| value.to_string_lossy().into_owned()))
}

/// The first set variable decides (POSIX, section 8.2).
fn language(variable: impl Fn(&str) -> Option<String>) -> Language {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(variable).unwrap_or_default().to_lowercase();
    // `de`, `de_AT.UTF-8`, `de-CH`, `de@euro`.
    let is_german = locale.split(['_', '-', '.', '@']).next() == Some("de");
    if is_german { Language::German } else { Language::English }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_that_of_the_locale_for_messages() {
        let of = |set: &[(&str, &str)]| {
            language(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        for german in ["de", "de_DE", "de_AT.UTF-8", "de-CH", "de_DE@euro", "DE_de.utf8"] {
            assert_eq!(of(&[("LANG", german)]), Language::German, "{german}");
        }
        for other in ["C", "POSIX", "C.UTF-8", "en_GB.UTF-8", "den_CA", "fr_FR"] {
            assert_eq!(of(&[("LANG", other)]), Language::English, "{other}");
        }
        assert_eq!(of(&[]), Language::English);
        assert_eq!(of(&[("LC_ALL", "C"), ("LC_MESSAGES", "de_DE"), ("LANG", "de_DE")]), Language::English);
        assert_eq!(of(&[("LC_MESSAGES", "de_DE"), ("LANG", "en_US")]), Language::German);
        assert_eq!(of(&[("LC_CTYPE", "de_DE"), ("LANG", "en_US")]), Language::English, "that is for letters");
    }

    #[test]
    fn what_the_user_says_wins_over_the_locale() {
        assert_eq!(ScreenLanguage::Auto.chosen(Language::German), Language::German);
        assert_eq!(ScreenLanguage::En.chosen(Language::German), Language::English);
        assert_eq!(ScreenLanguage::De.chosen(Language::English), Language::German);
    }

    fn with(set: &[(&str, &str)]) -> TerminalTraits {
        traits(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn no_color_and_a_dumb_terminal_mean_no_colour() {
        assert_eq!(with(&[("NO_COLOR", "1"), ("COLORTERM", "truecolor")]).colours, Colours::None);
        assert_eq!(with(&[("TERM", "dumb")]).colours, Colours::None);
        assert_eq!(with(&[("COLORTERM", "24bit")]).colours, Colours::Rgb);
        assert_eq!(with(&[("TERM", "xterm")]).colours, Colours::Sixteen);
        assert_eq!(with(&[]).colours, Colours::Sixteen);
    }

    #[test]
    fn the_name_of_a_terminal_says_how_many_colours_it_has() {
        for (terminal, colours) in [
            ("xterm-256color", Colours::Many),
            ("screen.xterm-256color", Colours::Many),
            ("xterm-direct", Colours::Rgb),
        ] {
            assert_eq!(with(&[("TERM", terminal)]).colours, colours, "{terminal}");
        }
        assert_eq!(with(&[("TERM", "tmux-256color"), ("COLORTERM", "truecolor")]).colours, Colours::Rgb);
        assert_eq!(with(&[("TERM", "xterm-256color"), ("NO_COLOR", "1")]).colours, Colours::None);
    }

    #[test]
    fn the_background_is_what_the_terminal_says() {
        assert_eq!(with(&[("COLORFGBG", "15;0")]).background, Background::Dark);
        assert_eq!(with(&[("COLORFGBG", "0;default;15")]).background, Background::Light);
        for text in ["", "default", "15;default", "0;99"] {
            assert_eq!(with(&[("COLORFGBG", text)]).background, Background::Unknown, "{text}");
        }
    }

    #[test]
    fn a_locale_or_terminal_that_cannot_is_given_ascii() {
        let letters = |set: &[(&str, &str)]| with(set).letters;
        assert_eq!(letters(&[]), Letters::Unicode);
        assert_eq!(letters(&[("LANG", "de_DE.UTF-8")]), Letters::Unicode);
        assert_eq!(letters(&[("LC_ALL", "C.utf8"), ("LANG", "C")]), Letters::Unicode);
        assert_eq!(letters(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]), Letters::Ascii);
        assert_eq!(letters(&[("LC_CTYPE", "de_DE")]), Letters::Ascii);
        assert_eq!(letters(&[("LANG", "en_GB.UTF-8"), ("TERM", "linux")]), Letters::Ascii);
    }
}
