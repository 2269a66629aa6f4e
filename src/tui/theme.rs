//! Styles of text roles in each theme.
//!
//! Takes a theme name and the terminal's traits; gives a style per role.
//! Invariants: colour never carries meaning alone, a role also has an attribute or a glyph; running text has the
//! default foreground wherever the background is the terminal's; NO_COLOR wins.
//! Not here: the glyphs (`glyphs`).

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

use ragonite_config::{Background, Colours, TerminalTraits, ThemeName};

/// A style per role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Running text.
    pub text: Style,
    /// Secondary text: labels, counts, context.
    pub dim: Style,
    /// Headings and questions.
    pub strong: Style,
    /// The one accent: focus, keys, bars.
    pub accent: Style,
    /// A valid citation.
    pub citation: Style,
    /// A citation of a source that was not in the prompt.
    pub invalid: Style,
    /// A warning: cut, stopped, out of scope.
    pub warn: Style,
    /// A failure.
    pub bad: Style,
    /// The selected row of a list.
    pub selected: Style,
    /// Code and table cells of the hit's row.
    pub code: Style,
    /// The background; without colours, the terminal's.
    pub ground: Style,
}

/// The colours of a theme.
struct Palette {
    dim: Color,
    accent: Color,
    citation: Color,
    wrong: Color,
    warn: Color,
    code: Color,
}

const DARK: Palette = Palette {
    dim: Color::Rgb(0xd0, 0xd7, 0xde),
    accent: Color::Rgb(0x56, 0xc8, 0xd8),
    citation: Color::Rgb(0x79, 0xc0, 0xff),
    wrong: Color::Rgb(0xff, 0x8a, 0x80),
    warn: Color::Rgb(0xe3, 0xb3, 0x41),
    code: Color::Rgb(0x7e, 0xe7, 0x87),
};

const LIGHT: Palette = Palette {
    dim: Color::Rgb(0x4b, 0x53, 0x5c),
    accent: Color::Rgb(0x05, 0x50, 0xae),
    citation: Color::Rgb(0x0a, 0x5f, 0x8a),
    wrong: Color::Rgb(0xb3, 0x20, 0x1f),
    warn: Color::Rgb(0x7d, 0x4e, 0x00),
    code: Color::Rgb(0x11, 0x63, 0x29),
};

const DARK_SIXTEEN: Palette = Palette {
    dim: Color::Reset,
    accent: Color::LightCyan,
    citation: Color::LightBlue,
    wrong: Color::LightRed,
    warn: Color::LightYellow,
    code: Color::LightGreen,
};

// Yellow and cyan cannot be read on white.
const LIGHT_SIXTEEN: Palette = Palette {
    dim: Color::Reset,
    accent: Color::Blue,
    citation: Color::Blue,
    wrong: Color::Red,
    warn: Color::Magenta,
    code: Color::Green,
};

impl Palette {
    /// The nearest colours of a 256-colour terminal.
    fn of_many(&self) -> Self {
        Self {
            dim: nearest(self.dim),
            accent: nearest(self.accent),
            citation: nearest(self.citation),
            wrong: nearest(self.wrong),
            warn: nearest(self.warn),
            code: nearest(self.code),
        }
    }
}

/// The nearest colour among 16 to 255; the user's palette defines 0 to 15.
fn nearest(colour: Color) -> Color {
    let Color::Rgb(red, green, blue) = colour else { return colour };
    let distance = |index: &u8| -> u32 {
        let parts = [red, green, blue].into_iter().zip(parts_of(*index));
        parts.map(|(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
    };
    (16..=255).min_by_key(distance).map_or(colour, Color::Indexed)
}

/// Red, green and blue of a colour from 16 on: a cube of six steps each, then 24 greys.
fn parts_of(index: u8) -> [u8; 3] {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    if index >= 232 {
        return [8 + 10 * (index - 232); 3];
    }
    let at = index.saturating_sub(16);
    [at / 36, at / 6, at].map(|at| STEPS[usize::from(at % 6)])
}

impl Theme {
    /// The theme of a name on a terminal.
    pub fn chosen(name: ThemeName, terminal: TerminalTraits) -> Self {
        let suited = |background| match (background, terminal.colours) {
            (Background::Dark, Colours::Rgb) => Self::of(&DARK),
            (Background::Dark, Colours::Many) => Self::of(&DARK.of_many()),
            (Background::Dark, _) => Self::of(&DARK_SIXTEEN),
            (Background::Light, Colours::Rgb) => Self::of(&LIGHT),
            (Background::Light, Colours::Many) => Self::of(&LIGHT.of_many()),
            (Background::Light, _) => Self::of(&LIGHT_SIXTEEN),
            (Background::Unknown, _) => Self::colour(),
        };
        if terminal.colours == Colours::None {
            return Self::plain();
        }
        match name {
            ThemeName::Plain => Self::plain(),
            ThemeName::Ansi => Self::colour(),
            ThemeName::HighContrast => Self::high_contrast(),
            ThemeName::Dark => suited(Background::Dark),
            ThemeName::Light => suited(Background::Light),
            ThemeName::Auto => suited(terminal.background),
        }
    }

    /// In the terminal's sixteen colours, so that the user's palette decides.
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
            code: plain.fg(Color::Green).add_modifier(Modifier::ITALIC),
            ground: plain,
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

    /// White and bright colours on black; nothing is dim.
    fn high_contrast() -> Self {
        let plain = Style::new();
        Self {
            text: plain,
            dim: plain.add_modifier(Modifier::ITALIC),
            strong: plain.add_modifier(Modifier::BOLD),
            accent: plain.fg(Color::LightYellow).add_modifier(Modifier::BOLD),
            citation: plain.fg(Color::LightCyan).add_modifier(Modifier::UNDERLINED),
            invalid: plain.fg(Color::LightRed).add_modifier(Modifier::CROSSED_OUT),
            warn: plain.fg(Color::LightYellow).add_modifier(Modifier::UNDERLINED),
            bad: plain.fg(Color::LightRed).add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            selected: plain.add_modifier(Modifier::REVERSED | Modifier::BOLD),
            code: plain.fg(Color::LightGreen).add_modifier(Modifier::BOLD | Modifier::ITALIC),
            ground: plain.fg(Color::White).bg(Color::Black),
        }
    }

    fn of(palette: &Palette) -> Self {
        let plain = Style::new();
        // Some terminals draw `Color::Reset` differently from the default.
        let dim = if palette.dim == Color::Reset { plain } else { plain.fg(palette.dim) };
        Self {
            dim: dim.add_modifier(Modifier::DIM),
            accent: plain.fg(palette.accent).add_modifier(Modifier::BOLD),
            citation: plain.fg(palette.citation).add_modifier(Modifier::UNDERLINED),
            invalid: plain.fg(palette.wrong).add_modifier(Modifier::CROSSED_OUT),
            warn: plain.fg(palette.warn),
            bad: plain.fg(palette.wrong).add_modifier(Modifier::BOLD),
            code: plain.fg(palette.code).add_modifier(Modifier::ITALIC),
            ..Self::colour()
        }
    }

    /// Gives cells without a colour the colours of the background.
    pub(super) fn lay_ground(&self, buffer: &mut Buffer) {
        let (Some(fg), Some(bg)) = (self.ground.fg, self.ground.bg) else { return };
        for cell in &mut buffer.content {
            if cell.fg == Color::Reset {
                cell.fg = fg;
            }
            if cell.bg == Color::Reset {
                cell.bg = bg;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragonite_config::Letters;

    const NAMES: [ThemeName; 6] = [
        ThemeName::Auto,
        ThemeName::Dark,
        ThemeName::Light,
        ThemeName::Ansi,
        ThemeName::HighContrast,
        ThemeName::Plain,
    ];

    fn terminal(colours: Colours, background: Background) -> TerminalTraits {
        TerminalTraits { colours, background, letters: Letters::Unicode }
    }

    /// Every theme there is, on every terminal.
    fn all() -> Vec<(String, Theme)> {
        let mut all = Vec::new();
        for name in NAMES {
            for colours in [Colours::None, Colours::Sixteen, Colours::Many, Colours::Rgb] {
                for background in [Background::Dark, Background::Light, Background::Unknown] {
                    let theme = Theme::chosen(name, terminal(colours, background));
                    all.push((format!("{name:?} {colours:?} {background:?}"), theme));
                }
            }
        }
        all
    }

    fn roles(theme: &Theme) -> [(&'static str, Style); 10] {
        [
            ("text", theme.text),
            ("dim", theme.dim),
            ("strong", theme.strong),
            ("accent", theme.accent),
            ("citation", theme.citation),
            ("invalid", theme.invalid),
            ("warn", theme.warn),
            ("bad", theme.bad),
            ("selected", theme.selected),
            ("code", theme.code),
        ]
    }

    /// Roles that stand only with a sign or in brackets; frames of whole screens are held to that elsewhere.
    const WITH_SIGNS: [&str; 4] = ["accent", "citation", "warn", "bad"];

    #[test]
    fn no_role_differs_from_another_in_colour_alone() {
        for (name, theme) in all() {
            let roles = roles(&theme);
            for (at, (one, style)) in roles.iter().enumerate() {
                for (other, other_style) in &roles[at + 1..] {
                    let signs = WITH_SIGNS.contains(one) || WITH_SIGNS.contains(other);
                    let differ = style.add_modifier != other_style.add_modifier;
                    assert!(differ || signs, "{name}: {one} and {other} differ in colour only");
                }
            }
        }
    }

    #[test]
    fn no_color_wins_over_every_name_and_plain_has_no_colour() {
        for name in NAMES {
            assert_eq!(Theme::chosen(name, terminal(Colours::None, Background::Light)), Theme::plain());
        }
        for (role, style) in roles(&Theme::plain()) {
            assert_eq!((style.fg, style.bg), (None, None), "{role}");
        }
    }

    #[test]
    fn other_colours_than_the_sixteen_need_a_terminal_that_shows_them() {
        for name in NAMES {
            for background in [Background::Dark, Background::Light, Background::Unknown] {
                let theme = Theme::chosen(name, terminal(Colours::Sixteen, background));
                for (role, style) in roles(&theme) {
                    assert!(!matches!(style.fg, Some(Color::Rgb(..) | Color::Indexed(_))), "{name:?}: {role}");
                }
            }
        }
        let auto = |background| Theme::chosen(ThemeName::Auto, terminal(Colours::Rgb, background));
        assert_eq!(auto(Background::Unknown), Theme::colour());
        assert_eq!(auto(Background::Dark), Theme::of(&DARK));
        assert_eq!(auto(Background::Light), Theme::of(&LIGHT));
    }

    #[test]
    fn a_terminal_of_256_colours_has_the_nearest_of_them_and_none_of_the_users() {
        assert_eq!(nearest(Color::Rgb(255, 255, 255)), Color::Indexed(231));
        assert_eq!(nearest(Color::Rgb(0x5f, 0xd7, 0xd7)), Color::Indexed(80));
        assert_eq!(nearest(Color::Rgb(9, 8, 7)), Color::Indexed(232));
        for index in 16..=255 {
            let [r, g, b] = parts_of(index);
            let Color::Indexed(found) = nearest(Color::Rgb(r, g, b)) else { panic!("{index}") };
            assert_eq!(parts_of(found), [r, g, b]);
        }
        for background in [Background::Dark, Background::Light] {
            for (role, style) in roles(&Theme::chosen(ThemeName::Auto, terminal(Colours::Many, background))) {
                assert!(matches!(style.fg, None | Some(Color::Indexed(16..=255))), "{role}: {style:?}");
            }
        }
    }

    fn luminance(rgb: (f64, f64, f64)) -> f64 {
        let linear = |part: f64| if part <= 0.039_28 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
        0.2126 * linear(rgb.0) + 0.7152 * linear(rgb.1) + 0.0722 * linear(rgb.2)
    }

    /// The contrast of WCAG 2; 4.5 and more is its level AA. Dim text is drawn in two thirds of its light.
    fn contrast(style: Style, ground: (u8, u8, u8)) -> f64 {
        let of = |r: u8, g: u8, b: u8| (f64::from(r) / 255.0, f64::from(g) / 255.0, f64::from(b) / 255.0);
        let (r, g, b) = match style.fg {
            Some(Color::Rgb(r, g, b)) => of(r, g, b),
            Some(Color::Indexed(index)) => {
                let [r, g, b] = parts_of(index);
                of(r, g, b)
            }
            _ => return f64::INFINITY,
        };
        let share = if style.add_modifier.contains(Modifier::DIM) { 2.0 / 3.0 } else { 1.0 };
        let text = luminance((r * share, g * share, b * share));
        let ground = luminance(of(ground.0, ground.1, ground.2));
        (text.max(ground) + 0.05) / (text.min(ground) + 0.05)
    }

    #[test]
    fn every_colour_can_be_read_on_its_background() {
        let dark = [(0, 0, 0), (0x0d, 0x11, 0x17), (0x1e, 0x1e, 0x1e)];
        let light = [(0xff, 0xff, 0xff), (0xfd, 0xf6, 0xe3), (0xf0, 0xf0, 0xf0)];
        let (many_on_dark, many_on_light) = (DARK.of_many(), LIGHT.of_many());
        let palettes = [(&DARK, dark), (&LIGHT, light), (&many_on_dark, dark), (&many_on_light, light)];
        for (palette, grounds) in palettes {
            for (role, style) in roles(&Theme::of(palette)) {
                for ground in grounds {
                    let contrast = contrast(style, ground);
                    assert!(contrast >= 4.5, "{role} on {ground:?}: {contrast:.2}");
                }
            }
        }
    }
}
