//! Every pane in every state at every size, with text and styles: one file per pane and state.
//!
//! A style map consists of runs of letters: `3a56.` is three cells of style `a` and 56 without style. Dark and light
//! differ in colours only, so one map with both colours covers both.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ragonite::config::ThemeName;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr as _;

use crate::look::theme;
use crate::screen::Stage;
use crate::states::states;

const SIZES: [(u16, u16); 4] = [(60, 20), (80, 24), (120, 40), (200, 60)];

/// The lines of a frame; equal lines in a row become one with their number.
fn text(terminal: &Terminal<TestBackend>) -> String {
    let buffer = terminal.backend().buffer();
    let line = |y| {
        let cells = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol());
        let mut skip = 0;
        let mut line = String::new();
        for symbol in cells {
            if skip == 0 {
                line.push_str(symbol);
                skip = symbol.width().max(1);
            }
            skip -= 1;
        }
        line.trim_end().to_owned()
    };
    squeezed((0..buffer.area.height).map(line))
}

fn squeezed(lines: impl Iterator<Item = String>) -> String {
    let mut squeezed: Vec<(String, usize)> = Vec::new();
    for line in lines {
        match squeezed.last_mut() {
            Some((last, count)) if *last == line => *count += 1,
            _ => squeezed.push((line, 1)),
        }
    }
    let mut text = String::new();
    for (line, count) in squeezed {
        let times = if count > 1 { format!("  ×{count}") } else { String::new() };
        writeln!(text, "{line}{times}").unwrap();
    }
    text
}

/// Letters for styles, in order of appearance.
#[derive(Default)]
struct Legend(BTreeMap<(String, String), char>);

impl Legend {
    fn letter(&mut self, dark: String, light: String) -> char {
        let next = char::from(b'a' + u8::try_from(self.0.len()).unwrap());
        *self.0.entry((dark, light)).or_insert(next)
    }

    fn map(&mut self, dark: &Terminal<TestBackend>, light: &Terminal<TestBackend>) -> String {
        let (dark, light) = (dark.backend().buffer(), light.backend().buffer());
        let line = |y: u16| {
            let mut runs: Vec<(char, usize)> = Vec::new();
            for x in 0..dark.area.width {
                let (dark, light) = (&dark[(x, y)], &light[(x, y)]);
                assert_eq!(dark.symbol(), light.symbol());
                assert_eq!(dark.modifier, light.modifier, "dark and light differ in more than colours");
                let is_plain = dark.fg == Color::Reset && light.fg == Color::Reset && dark.modifier.is_empty();
                let letter = if is_plain {
                    '.'
                } else {
                    self.letter(look(dark.fg, dark.modifier), look(light.fg, light.modifier))
                };
                match runs.last_mut() {
                    Some((last, count)) if *last == letter => *count += 1,
                    _ => runs.push((letter, 1)),
                }
            }
            if runs.last().is_some_and(|(letter, _)| *letter == '.') {
                runs.pop();
            }
            runs.into_iter().map(|(letter, count)| format!("{count}{letter}")).collect::<String>()
        };
        squeezed((0..dark.area.height).map(line).collect::<Vec<_>>().into_iter())
    }

    fn says(&self) -> String {
        let mut looks: Vec<_> = self.0.iter().map(|((dark, light), letter)| (letter, dark, light)).collect();
        looks.sort();
        looks.iter().map(|(letter, dark, light)| format!("{letter} = dark {dark}, light {light}\n")).collect()
    }
}

fn look(colour: Color, modifier: Modifier) -> String {
    let colour = if colour == Color::Reset { "default".to_owned() } else { colour.to_string() };
    if modifier.is_empty() { colour } else { format!("{colour} {modifier:?}") }
}

#[test]
fn every_pane_looks_right_in_every_state_and_size() {
    for (name, make) in states() {
        let mut seen = String::new();
        let mut legend = Legend::default();
        for size in SIZES {
            let [dark, light] = [ThemeName::Dark, ThemeName::Light].map(|name| make(theme(name)).frame(size));
            write!(seen, "{}x{}\n{}\n{}\n", size.0, size.1, text(&dark), legend.map(&dark, &light)).unwrap();
        }
        seen.push_str(&legend.says());
        let name = name.replace(' ', "_");
        insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
            insta::assert_snapshot!(format!("pane_{name}"), seen);
        });
    }
}

#[test]
fn the_way_to_all_keys_is_always_shown_and_none_of_them_is_cut() {
    for (name, make) in states() {
        for (width, height) in SIZES {
            let terminal = make(theme(ThemeName::Dark)).frame((width, height));
            let text = terminal.backend().to_string();
            let footer = text.lines().last().unwrap();
            assert!(footer.contains("F1 help") || footer.contains("Esc close"), "{name} {width}x{height}: {footer}");
            if name == "help full" && width >= 80 {
                let cut = text.lines().filter(|line| line.contains('┃') && !line.contains(" ┃") && !line.contains("━"));
                assert_eq!(cut.count(), 0, "{text}");
            }
        }
    }
}

#[test]
fn the_status_line_names_both_models_and_the_memory_where_there_is_room() {
    let last = |size| {
        let text = Stage::answered().frame(size).backend().to_string();
        text.lines().rev().nth(1).unwrap_or_default().to_owned()
    };
    let wide = last((160, 45));
    for part in
        ["starter (no GPU)", "qwen2.5-coder-1.5b-instruct", "CPU, 2 threads", "1.9 GB in memory", "all-MiniLM-L6-v2"]
    {
        assert!(wide.contains(part), "{part}: {wide}");
    }
    let narrow = last((100, 30));
    assert!(narrow.contains("qwen2.5-coder-1.5b-instruct") && narrow.contains("offline"), "{narrow}");
}
