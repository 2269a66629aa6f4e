//! The pictures of README and guide: real frames as SVG, written with `make pictures` and compared with the screen.
//!
//! Text runs are stretched to whole cells, so that any monospaced font fits; lines and blocks are shapes, so that
//! frames have no gaps. The output is deterministic.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use ragonite::config::ThemeName;
use ragonite::tui::Pane;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr as _;

use crate::look::theme;
use crate::screen::{Stage, Verdict};
use crate::states::opened;

/// With the value `write` the pictures are written instead of checked.
const VARIABLE: &str = "RAGONITE_PICTURES";

/// Half of a cell in pixels.
const HALF: (f64, f64) = (4.5, 10.0);
const CELL: (f64, f64) = (2.0 * HALF.0, 2.0 * HALF.1);
/// Margin around the screen in pixels.
const MARGIN: f64 = 10.0;
const GROUND: &str = "#0d1117";
const TEXT: &str = "#e6edf3";

type Picture = (&'static str, &'static str, (u16, u16), fn() -> Stage);

const PICTURES: &[Picture] = &[
    (
        "conversation",
        "A question with its answer on the left; on the right the evidence, the row of a table opened in its place",
        (120, 34),
        || dark(Stage::answered()).at(Pane::Evidence),
    ),
    (
        "behind",
        "Behind the scenes: the question, both searches, the fused list, the prompt, the answers without sources, times",
        (120, 36),
        || dark(Stage::explained(Verdict::SomeDecide)).at(Pane::Behind),
    ),
    (
        "why",
        "Why this answer: a bar per cluster of sources, and the answer without the first as a difference",
        (120, 34),
        || opened(dark(Stage::explained(Verdict::SomeDecide)).at(Pane::Why)),
    ),
    ("narrow", "The same conversation in a terminal of 80 columns and 24 rows", (80, 24), || dark(Stage::answered())),
];

fn dark(stage: Stage) -> Stage {
    stage.in_theme(theme(ThemeName::Dark))
}

fn colour(colour: Color, default: &str) -> String {
    match colour {
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        Color::Reset => default.to_owned(),
        other => panic!("the pictures have no colour for {other}"),
    }
}

/// The style of a cell in a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Look {
    text: String,
    ground: String,
    modifier: Modifier,
}

impl Look {
    fn of(cell: &Cell) -> Self {
        let (text, ground) = (colour(cell.fg, TEXT), colour(cell.bg, GROUND));
        let modifier = cell.modifier - Modifier::REVERSED;
        if cell.modifier.contains(Modifier::REVERSED) {
            Self { text: ground, ground: text, modifier }
        } else {
            Self { text, ground, modifier }
        }
    }

    fn opacity(&self) -> &'static str {
        if self.modifier.contains(Modifier::DIM) { r#" opacity=".66""# } else { "" }
    }

    fn attributes(&self) -> String {
        let mut attributes = format!(r#" fill="{}"{}"#, self.text, self.opacity());
        let marks = [
            (Modifier::BOLD, r#" font-weight="bold""#),
            (Modifier::ITALIC, r#" font-style="italic""#),
            (Modifier::UNDERLINED, r#" text-decoration="underline""#),
            (Modifier::CROSSED_OUT, r#" text-decoration="line-through""#),
        ];
        for (modifier, mark) in marks {
            if self.modifier.contains(modifier) {
                attributes.push_str(mark);
            }
        }
        attributes
    }
}

/// Adjacent cells of one style: first column, text, number of cells.
struct Run {
    x: u16,
    text: String,
    cells: u16,
    look: Look,
}

/// The runs of a line. A wide character, and every line or block, is a run of its own.
fn runs(buffer: &Buffer, y: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut x = 0;
    let mut joins = false;
    while x < buffer.area.width {
        let cell = &buffer[(x, y)];
        let (symbol, look) = (cell.symbol(), Look::of(cell));
        let cells = u16::try_from(symbol.width().max(1)).unwrap();
        let alone = cells > 1 || shape(symbol).is_some();
        match runs.last_mut() {
            Some(last) if joins && !alone && last.look == look => {
                last.text.push_str(symbol);
                last.cells += 1;
            }
            _ => runs.push(Run { x, text: symbol.to_owned(), cells, look }),
        }
        joins = !alone;
        x += cells;
    }
    runs
}

/// A character drawn as a shape.
enum Shape {
    /// Arms from the middle: left, right, up, down; and thickness.
    Lines([bool; 4], u8),
    /// Width of a left block in halves of a cell, and density.
    Block(u8, &'static str),
}

fn shape(symbol: &str) -> Option<Shape> {
    let arms = match symbol {
        "─" | "━" => [true, true, false, false],
        "│" | "┃" => [false, false, true, true],
        "┌" | "┏" => [false, true, false, true],
        "┐" | "┓" => [true, false, false, true],
        "└" | "┗" => [false, true, true, false],
        "┘" | "┛" => [true, false, true, false],
        "█" => return Some(Shape::Block(2, "1")),
        "░" => return Some(Shape::Block(2, ".25")),
        "▌" => return Some(Shape::Block(1, "1")),
        _ => return None,
    };
    let thick = "━┃┏┓┗┛".contains(symbol);
    Some(Shape::Lines(arms, if thick { 2 } else { 1 }))
}

/// A number without unnecessary digits.
fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn place(x: u16, y: u16) -> (f64, f64) {
    (MARGIN + f64::from(x) * CELL.0, MARGIN + f64::from(y) * CELL.1)
}

fn escaped(text: &str) -> String {
    // A no-break space is drawn as the terminal draws it.
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\u{a0}', " ")
}

fn svg(buffer: &Buffer, says: &str) -> String {
    let (width, height) = place(buffer.area.width, buffer.area.height);
    let (width, height) = (number(width + MARGIN), number(height + MARGIN));
    let mut grounds = String::new();
    let mut words = String::new();
    // Colour, opacity and thickness, then the path.
    let mut lines: BTreeMap<(String, &'static str, u8), String> = BTreeMap::new();
    let mut blocks: BTreeMap<(String, &'static str), String> = BTreeMap::new();
    for y in 0..buffer.area.height {
        for run in runs(buffer, y) {
            let (left, top) = place(run.x, y);
            let wide = f64::from(run.cells) * CELL.0;
            if run.look.ground != GROUND {
                let (x, y, wide, high) = (number(left), number(top), number(wide), number(CELL.1));
                writeln!(
                    grounds,
                    r#"<rect x="{x}" y="{y}" width="{wide}" height="{high}" fill="{}"/>"#,
                    run.look.ground
                )
                .unwrap();
            }
            match shape(&run.text) {
                Some(Shape::Lines(arms, thick)) => {
                    let opacity = run.look.opacity();
                    let path = lines.entry((run.look.text, opacity, thick)).or_default();
                    line_path(path, left, top, arms);
                }
                Some(Shape::Block(halves, density)) => {
                    let path = blocks.entry((run.look.text, density)).or_default();
                    let wide = number(f64::from(halves) * HALF.0);
                    write!(path, "M{} {}h{wide}v12h-{wide}z", number(left), number(top + 4.0)).unwrap();
                }
                None if run.text.trim().is_empty() && !run.look.modifier.contains(Modifier::UNDERLINED) => {}
                None => words.push_str(&word(&run, left, top)),
            }
        }
    }
    let shapes: String = lines
        .iter()
        .map(|((colour, opacity, thick), path)| {
            let stroke = format!("stroke=\"{colour}\" stroke-width=\"{thick}\" stroke-linecap=\"square\"");
            format!("<path d=\"{path}\" {stroke} fill=\"none\"{opacity}/>\n")
        })
        .collect();
    let bars: String = blocks
        .iter()
        .map(|((fill, density), path)| format!("<path d=\"{path}\" fill=\"{fill}\" opacity=\"{density}\"/>\n"))
        .collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" \
         font-size=\"15\">\n<title>{}</title>\n<rect width=\"{width}\" height=\"{height}\" rx=\"8\" \
         fill=\"{GROUND}\"/>\n{grounds}{shapes}{bars}{words}</svg>\n",
        escaped(says)
    )
}

/// The text of a run without the spaces at its ends, stretched to its cells.
fn word(run: &Run, left: f64, top: f64) -> String {
    let text = run.text.trim();
    let before = run.text.len() - run.text.trim_start().len();
    let cells = u16::try_from(text.width()).unwrap();
    let x = number(left + f64::from(u16::try_from(before).unwrap()) * CELL.0);
    let (y, length) = (number(top + 15.0), number(f64::from(cells) * CELL.0));
    let attributes = run.look.attributes();
    let text = escaped(text);
    format!("<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\" xml:space=\"preserve\"{attributes}>{text}</text>\n")
}

fn line_path(path: &mut String, left: f64, top: f64, arms: [bool; 4]) {
    let (x, y) = (left + HALF.0, top + HALF.1);
    let ends = [(left, y), (left + CELL.0, y), (x, top), (x, top + CELL.1)];
    // Adjacent horizontal lines are joined.
    if arms == [true, true, false, false] {
        let from = format!("H{}", number(left));
        if path.ends_with(&from)
            && path.rfind(['M', 'V']).is_some_and(|at| path[at..].contains(&format!(" {}", number(y))))
        {
            path.truncate(path.len() - from.len());
        } else {
            write!(path, "M{} {}", number(left), number(y)).unwrap();
        }
        write!(path, "H{}", number(left + CELL.0)).unwrap();
        return;
    }
    for (arm, end) in arms.into_iter().zip(ends) {
        if arm {
            write!(path, "M{} {}L{} {}", number(x), number(y), number(end.0), number(end.1)).unwrap();
        }
    }
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets/pictures").join(format!("{name}.svg"))
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the variable says whether pictures are written or checked")]
fn the_pictures_are_what_the_screen_draws() {
    let writes = std::env::var_os(VARIABLE).is_some_and(|value| value == "write");
    let mut stale = Vec::new();
    for (name, says, size, stage) in PICTURES {
        let drawn = svg(stage().frame(*size).backend().buffer(), says);
        if writes {
            std::fs::create_dir_all(file(name).parent().unwrap()).unwrap();
            std::fs::write(file(name), &drawn).unwrap();
        }
        if std::fs::read_to_string(file(name)).ok().as_deref() != Some(drawn.as_str()) {
            stale.push(*name);
        }
    }
    assert!(stale.is_empty(), "out of date: {stale:?}. Draw them anew with `make pictures`");
}

#[test]
fn every_picture_is_well_formed_shown_in_readme_or_guide_and_the_same_twice() {
    let readme = include_str!("../../README.md");
    let guide: String = ragonite::guide::pages().iter().map(|page| page.text).collect();
    for (name, says, size, stage) in PICTURES {
        let drawn = svg(stage().frame(*size).backend().buffer(), says);
        assert_eq!(drawn, svg(stage().frame(*size).backend().buffer(), says));
        let document = roxmltree::Document::parse(&drawn).unwrap();
        let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
        assert!(texts.iter().any(|text| text.contains("Alice")) || *name == "behind", "{name}: {texts:?}");
        let is_shown = readme.contains(&format!("assets/pictures/{name}.svg"))
            || guide.contains(&format!("../pictures/{name}.svg"));
        assert!(is_shown, "neither README nor guide shows {name}");
    }
}
