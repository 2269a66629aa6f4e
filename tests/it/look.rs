//! Themes and glyphs on whole frames: roles are visible without colours, and ASCII suffices.

use ragonite::base::TurnId;
use ragonite::config::{Background, Borders, Colours, Letters, TerminalTraits, ThemeName};
use ragonite::tui::{Keymap, Pane, ScreenState, Signs, Theme};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthStr as _;

use crate::screen::{Stage, Verdict, explained_by_logprob};
use crate::states::states;

const NAMES: [ThemeName; 6] =
    [ThemeName::Auto, ThemeName::Dark, ThemeName::Light, ThemeName::Ansi, ThemeName::HighContrast, ThemeName::Plain];

/// A theme on a terminal that shows every colour.
pub(crate) fn theme(name: ThemeName) -> Theme {
    let background = Background::Unknown;
    Theme::chosen(name, TerminalTraits { colours: Colours::Rgb, background, letters: Letters::Unicode })
}

/// The text of each line with its cells' styles.
fn lines(terminal: &Terminal<TestBackend>) -> Vec<(String, Vec<(Color, Modifier)>)> {
    let buffer = terminal.backend().buffer();
    let line = |y| {
        let cells = (0..buffer.area.width).map(|x| &buffer[(x, y)]);
        let text = cells.clone().map(ratatui::buffer::Cell::symbol).collect();
        (text, cells.map(|cell| (cell.fg, cell.modifier)).collect())
    };
    (0..buffer.area.height).map(line).collect()
}

fn is_in(style: Style, cell: (Color, Modifier)) -> bool {
    style.fg.unwrap_or(Color::Reset) == cell.0 && style.add_modifier == cell.1
}

#[test]
fn what_warns_or_fails_or_cites_has_its_sign_in_every_theme() {
    for name in NAMES {
        let theme = theme(name);
        let signs: [(Style, &[&str]); 3] =
            [(theme.warn, &["!", "■", "∅", "again leaves"]), (theme.bad, &["✗", "[-"]), (theme.invalid, &["?"])];
        for (state, make) in states() {
            for size in [(80, 24), (200, 60)] {
                let mut stage = make(theme);
                let terminal = stage.frame(size);
                let lines = lines(&terminal);
                for (style, signs) in signs {
                    // A role without a style of its own cannot be recognized in the cells; the theme's tests cover it.
                    let others = [theme.text, theme.dim, theme.strong, theme.accent, theme.citation, theme.code];
                    let own =
                        !others.iter().any(|other| (other.fg, other.add_modifier) == (style.fg, style.add_modifier));
                    let with = lines.iter().filter(|(_, cells)| cells.iter().any(|cell| is_in(style, *cell)));
                    let text: String = with.map(|(text, _)| text.as_str()).collect();
                    let said = text.is_empty() || !own || signs.iter().any(|sign| text.contains(sign));
                    assert!(said, "{name:?} {state} {size:?}: none of {signs:?} in {text}");
                }
            }
        }
    }
}

#[test]
fn a_citation_stands_in_brackets_and_the_selected_row_has_a_pointer_in_every_theme() {
    for name in NAMES {
        let theme = theme(name);
        let mut stage = Stage::answered().in_theme(theme).at(Pane::Evidence);
        let lines = lines(&stage.frame((120, 40)));
        let cited = |cell: &(Color, Modifier)| is_in(theme.citation, *cell);
        assert!(
            lines.iter().any(|(text, cells)| cells.iter().any(cited) && text.contains("[Source\u{a0}1")),
            "{name:?}"
        );
        let chosen = |cell: &(Color, Modifier)| is_in(theme.selected, *cell);
        for (text, cells) in lines.iter().filter(|(_, cells)| cells.iter().any(chosen)) {
            assert!(text.contains('›') || cells.iter().filter(|cell| chosen(cell)).count() == 1, "{name:?}: {text}");
        }
    }
}

#[test]
fn text_from_right_to_left_leaves_the_frame_whole_and_turns_nothing_else_round() {
    for size in [(60, 20), (80, 24), (120, 40), (200, 60)] {
        let whole = lines(&Stage::asked("Who replaces the modem now?").frame(size));
        let mut stage = Stage::asked("מי מחליף \u{202e}את\u{2067} המודם \u{200f}של התחנה?");
        let drawn = lines(&stage.frame(size));
        for ((text, _), (without, _)) in drawn.iter().zip(&whole) {
            assert!(!text.contains(['\u{202e}', '\u{2067}', '\u{200f}']), "{text}");
            let borders =
                |line: &str| line.chars().enumerate().filter(|(_, c)| "┃│┏┗┓┛".contains(*c)).collect::<Vec<_>>();
            assert_eq!(borders(text), borders(without), "{text}");
        }
        assert!(drawn.iter().any(|(text, _)| text.contains("המודם")), "{size:?}");
    }
}

#[test]
fn high_contrast_leaves_no_cell_to_the_terminal_and_nothing_dim() {
    for (state, make) in states() {
        let terminal = make(theme(ThemeName::HighContrast)).frame((120, 40));
        let cells = terminal.backend().buffer().content();
        for (at, cell) in cells.iter().enumerate() {
            // The cell after a wide character is not drawn.
            if at > 0 && cells[at - 1].symbol().width() > 1 {
                continue;
            }
            assert!(cell.fg != Color::Reset && cell.bg == Color::Black, "{state}: {cell:?}");
            assert!(!cell.modifier.contains(Modifier::DIM), "{state}: {cell:?}");
        }
    }
}

#[test]
fn in_ascii_only_letters_are_anything_else() {
    for (state, make) in states() {
        for size in [(60, 20), (80, 24), (120, 40), (200, 60)] {
            let mut stage = make(theme(ThemeName::Plain));
            stage.screen = stage.screen.with_signs(Signs::Ascii);
            let terminal = stage.frame(size);
            for cell in terminal.backend().buffer().content() {
                let sign = cell.symbol().chars().find(|c| !c.is_ascii() && !c.is_alphabetic());
                assert_eq!(sign, None, "{state} {size:?}");
            }
        }
    }
}

#[test]
fn in_ascii_the_focus_is_seen_and_bars_have_a_filled_part() {
    let mut stage = Stage::explained(Verdict::SomeDecide).in_theme(theme(ThemeName::Plain)).at(Pane::Why);
    stage.screen = stage.screen.with_signs(Signs::chosen(Borders::Ascii, Letters::Unicode));
    insta::assert_snapshot!("ascii_why_120x40", stage.frame((120, 40)).backend().to_string());
}

#[test]
fn a_sentence_is_explained_in_plain_and_ascii() {
    let mut stage = explained_by_logprob();
    stage.screen = ScreenState::new(theme(ThemeName::Plain), Keymap::default()).with_signs(Signs::Ascii);
    let mut stage = stage.at(Pane::Why).key('.');
    let text = stage.frame((80, 24)).backend().to_string();
    assert!(text.contains("# Why =") && text.contains("100.0 % ###"), "{text}");
    assert_eq!(stage.app.turns()[0].record.id, TurnId(1));
}
