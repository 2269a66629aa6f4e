//! Roles of text, and how they look.
//!
//! Invariants: the sixteen ANSI colours only, so that the user's palette decides; the default foreground for text; every
//! role but the plain ones also differs in something other than colour, or the text says it.

use ratatui::style::{Color, Modifier, Style};

/// How each role looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Running text.
    pub text: Style,
    /// What is read second: labels, counts, context.
    pub dim: Style,
    /// Headings and questions.
    pub strong: Style,
    /// The one accent: focus, keys, bars.
    pub accent: Style,
    /// A citation that holds.
    pub citation: Style,
    /// A citation of a source that was not there.
    pub invalid: Style,
    /// Something to look at: cut, stopped, out of scope.
    pub warn: Style,
    /// A failure.
    pub bad: Style,
    /// The selected row of a list.
    pub selected: Style,
    /// Code and table cells of the hit's row.
    pub code: Style,
}

impl Theme {
    /// With colours.
    pub fn colour() -> Self {
        let plain = Style::new();
        Self {
            text: plain,
            dim: plain.add_modifier(Modifier::DIM),
            strong: plain.add_modifier(Modifier::BOLD),
            accent: plain.fg(Color::Cyan).add_modifier(Modifier::BOLD),
            citation: plain.fg(Color::Cyan),
            invalid: plain.fg(Color::Red).add_modifier(Modifier::CROSSED_OUT),
            warn: plain.fg(Color::Yellow),
            bad: plain.fg(Color::Red).add_modifier(Modifier::BOLD),
            selected: plain.add_modifier(Modifier::REVERSED),
            code: plain.fg(Color::Green),
        }
    }

    /// Without colours, for `NO_COLOR`.
    pub fn plain() -> Self {
        let plain = Style::new();
        Self {
            accent: plain.add_modifier(Modifier::BOLD),
            citation: plain.add_modifier(Modifier::UNDERLINED),
            invalid: plain.add_modifier(Modifier::CROSSED_OUT),
            warn: plain.add_modifier(Modifier::BOLD),
            bad: plain.add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            code: plain.add_modifier(Modifier::ITALIC),
            ..Self::colour()
        }
    }
}
