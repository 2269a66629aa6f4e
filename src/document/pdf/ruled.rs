//! Tables whose cells are drawn with lines.
//!
//! Takes the straight lines and the words of a page, gives tables and the remaining words.
//! Invariants: a word in the area of a table is in exactly one of its cells; a drawing without words is not a table;
//! cells without a line between them are one merged cell.
//! Not here: tables without lines (`table`).

use hayro_font::kurbo::Rect;

use super::layout::usual_size;
use super::line::Word;
use super::table::{Cell, Draft};

/// Maximum distance of lines that count as one, in points.
const NEAR: f64 = 3.0;
/// Minimum length of a border, in points.
const SHORTEST: f64 = 6.0;
/// Maximum of lines on a page; more are a drawing.
const MOST_RULES: usize = 3_000;
/// Maximum of tables on a page.
const MOST_TABLES: usize = 60;
const MOST_COLUMNS: usize = 64;
const MOST_CELLS: usize = 20_000;

/// The tables of a page, and the words outside them.
pub(super) fn find(rules: &[Rect], words: Vec<Word>) -> (Vec<Draft>, Vec<Word>) {
    let rules: Vec<Rect> = rules.iter().filter(|rule| rule.width().max(rule.height()) >= SHORTEST).copied().collect();
    if rules.len() > MOST_RULES {
        return (Vec::new(), words);
    }
    let mut drafts = Vec::new();
    let mut outside = words;
    for group in connected(&rules) {
        let Some(frame) = Frame::new(&group) else { continue };
        let (inside, rest): (Vec<Word>, Vec<Word>) = outside.into_iter().partition(|word| frame.holds(word));
        outside = rest;
        match frame.fill(&inside) {
            Some(draft) => drafts.push(draft),
            None => outside.extend(inside),
        }
    }
    (drafts, outside)
}

/// Groups of lines that touch each other.
fn connected(rules: &[Rect]) -> Vec<Vec<Rect>> {
    let mut group: Vec<usize> = (0..rules.len()).collect();
    let mut order: Vec<usize> = (0..rules.len()).collect();
    order.sort_by(|a, b| rules[*a].y0.total_cmp(&rules[*b].y0));
    for (at, &one) in order.iter().enumerate() {
        let grown = rules[one].inflate(NEAR, NEAR);
        for &other in order[at + 1..].iter().take_while(|other| rules[**other].y0 <= grown.y1) {
            if grown.x0 <= rules[other].x1 && rules[other].x0 <= grown.x1 {
                let (a, b) = (root(&group, one), root(&group, other));
                group[a.max(b)] = a.min(b);
            }
        }
    }
    let mut groups: std::collections::BTreeMap<usize, Vec<Rect>> = std::collections::BTreeMap::new();
    for (at, rule) in rules.iter().enumerate() {
        groups.entry(root(&group, at)).or_default().push(*rule);
    }
    let mut groups: Vec<Vec<Rect>> = groups.into_values().filter(|group| group.len() >= 4).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups.truncate(MOST_TABLES);
    groups
}

fn root(group: &[usize], mut at: usize) -> usize {
    while group[at] != at {
        at = group[at];
    }
    at
}

/// The grid that lines form.
struct Frame {
    xs: Vec<f64>,
    ys: Vec<f64>,
    across: Vec<Rect>,
    down: Vec<Rect>,
}

/// The cell that covers a place of the net.
#[derive(Debug, Clone, Copy)]
struct Owner {
    /// First place of the cell.
    first: usize,
    /// Columns that the cell covers.
    columns: usize,
    /// Rows that the cell covers.
    rows: usize,
}

impl Frame {
    fn new(rules: &[Rect]) -> Option<Self> {
        let across: Vec<Rect> = rules.iter().filter(|rule| rule.width() > rule.height()).copied().collect();
        let down: Vec<Rect> = rules.iter().filter(|rule| rule.height() >= rule.width()).copied().collect();
        if across.is_empty() || down.is_empty() {
            return None;
        }
        // Tables are often open at the sides: the ends of the horizontal lines are edges.
        let mut xs: Vec<f64> = down.iter().map(|rule| rule.center().x).collect();
        xs.extend([fold(&across, |rule| rule.x0, f64::min), fold(&across, |rule| rule.x1, f64::max)]);
        let mut ys: Vec<f64> = across.iter().map(|rule| rule.center().y).collect();
        ys.extend([fold(&down, |rule| rule.y0, f64::min), fold(&down, |rule| rule.y1, f64::max)]);
        let (xs, ys) = (places(xs), places(ys));
        let cells = xs.len().saturating_sub(1) * ys.len().saturating_sub(1);
        let fits = xs.len() >= 3 && ys.len() >= 3 && xs.len() <= MOST_COLUMNS && cells <= MOST_CELLS;
        fits.then_some(Self { xs, ys, across, down })
    }

    fn holds(&self, word: &Word) -> bool {
        let (x, y) = point(word);
        x >= self.xs[0] && x <= self.xs[self.xs.len() - 1] && y >= self.ys[0] && y <= self.ys[self.ys.len() - 1]
    }

    /// Whether a line closes a cell on its right, in the given row.
    fn wall(&self, x: usize, row: usize) -> bool {
        let y = f64::midpoint(self.ys[row], self.ys[row + 1]);
        let here = self.xs[x];
        x == 0
            || x == self.xs.len() - 1
            || self
                .down
                .iter()
                .any(|rule| (rule.center().x - here).abs() <= NEAR && rule.y0 - NEAR <= y && y <= rule.y1 + NEAR)
    }

    /// Whether a line closes a cell above, in the given column.
    fn floor(&self, y: usize, column: usize) -> bool {
        let x = f64::midpoint(self.xs[column], self.xs[column + 1]);
        let here = self.ys[y];
        y == 0
            || y == self.ys.len() - 1
            || self
                .across
                .iter()
                .any(|rule| (rule.center().y - here).abs() <= NEAR && rule.x0 - NEAR <= x && x <= rule.x1 + NEAR)
    }

    /// Puts words into cells; none if most cells stay empty, as in drawings.
    fn fill(&self, words: &[Word]) -> Option<Draft> {
        let (columns, rows) = (self.xs.len() - 1, self.ys.len() - 1);
        let owner = self.merge(columns, rows);
        let mut texts: Vec<Vec<Word>> = vec![Vec::new(); columns * rows];
        for word in words {
            let (x, y) = point(word);
            let column = self.xs.partition_point(|edge| *edge <= x).clamp(1, columns) - 1;
            let row = self.ys.partition_point(|edge| *edge <= y).clamp(1, rows) - 1;
            texts[owner[row * columns + column].first].push(word.clone());
        }
        let own = |at: &usize| owner[*at].first == *at;
        let cells = (0..columns * rows).filter(own).count();
        let filled = texts.iter().filter(|words| !words.is_empty()).count();
        if cells < 4 || filled < 3 || filled * 4 < cells {
            return None;
        }
        let row = |row: usize| {
            let places = (row * columns..(row + 1) * columns).filter(own);
            places.map(|at| Cell::new(texts[at].clone(), owner[at].columns, owner[at].rows)).collect()
        };
        let area = Rect::new(self.xs[0], self.ys[0], self.xs[columns], self.ys[rows]);
        Some(Draft { rows: (0..rows).map(row).collect(), area, edges: self.xs.clone(), size: usual_size(words) })
    }

    /// For each place the cell that covers it.
    fn merge(&self, columns: usize, rows: usize) -> Vec<Owner> {
        let mut owner = vec![Owner { first: usize::MAX, columns: 1, rows: 1 }; columns * rows];
        for row in 0..rows {
            for column in 0..columns {
                let at = row * columns + column;
                if owner[at].first != usize::MAX {
                    continue;
                }
                let free = |column: usize| owner[row * columns + column].first == usize::MAX;
                let mut wide = 1;
                while column + wide < columns && free(column + wide) && !self.wall(column + wide, row) {
                    wide += 1;
                }
                let mut tall = 1;
                let span = column..column + wide;
                while row + tall < rows && span.clone().all(|column| !self.floor(row + tall, column)) {
                    tall += 1;
                }
                for covered in (row..row + tall).flat_map(|row| span.clone().map(move |column| row * columns + column))
                {
                    owner[covered] = Owner { first: at, columns: wide, rows: tall };
                }
            }
        }
        owner
    }
}

fn fold(rules: &[Rect], edge: fn(&Rect) -> f64, pick: fn(f64, f64) -> f64) -> f64 {
    rules.iter().map(edge).reduce(pick).unwrap_or_default()
}

/// The position of a word: the middle of its small letters.
fn point(word: &Word) -> (f64, f64) {
    (f64::midpoint(word.left, word.right), word.base - 0.25 * word.size)
}

/// Sorts values and merges those that are nearly equal.
fn places(mut at: Vec<f64>) -> Vec<f64> {
    at.sort_by(f64::total_cmp);
    let mut kept: Vec<f64> = Vec::new();
    for place in at {
        if kept.last().is_none_or(|last| place - last > NEAR) {
            kept.push(place);
        }
    }
    kept
}
