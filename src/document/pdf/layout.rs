//! Divides the words of a page into regions in reading order: columns one after the other.
//!
//! Takes words, gives groups; each group is a column of text, or a part across all columns.
//! Invariants: every word is in exactly one group; the number of cuts, and so the time, is bounded; rows of short cells
//! are not columns, they stay together and may become a table (`table`).

use super::line::{Word, lines};

/// Maximum of cuts per page.
const MOST_CUTS: usize = 24;
/// Maximum of words on a page that is cut.
const MOST_WORDS: usize = 5_000;
/// Maximum of positions at which a cut is tried.
const MOST_TRIES: usize = 240;
/// Minimum of lines in a column.
const FEWEST_LINES: usize = 4;

/// Groups words into regions.
pub(super) fn regions(words: Vec<Word>) -> Vec<Vec<Word>> {
    let mut todo = vec![words];
    let mut done = Vec::new();
    let mut cuts = 0;
    while let Some(region) = todo.pop() {
        let cut = if cuts < MOST_CUTS && region.len() <= MOST_WORDS { best_cut(&region) } else { None };
        let Some(cut) = cut else {
            if !region.is_empty() {
                done.push(region);
            }
            continue;
        };
        cuts += 1;
        let (above, rest): (Vec<_>, Vec<_>) = region.into_iter().partition(|word| word.base <= cut.top);
        let (below, inside): (Vec<_>, Vec<_>) = rest.into_iter().partition(|word| word.base >= cut.bottom);
        let (left, right): (Vec<_>, Vec<_>) = inside.into_iter().partition(|word| middle(word) < cut.x);
        // The last one is taken first.
        todo.extend([below, right, left, above]);
    }
    done
}

/// A gutter: its position, and the baselines between which nothing crosses it.
struct Cut {
    x: f64,
    top: f64,
    bottom: f64,
}

fn middle(word: &Word) -> f64 {
    f64::midpoint(word.left, word.right)
}

fn best_cut(words: &[Word]) -> Option<Cut> {
    let size = usual_size(words);
    let half = 0.35 * size;
    let mut tries: Vec<i64> = words.iter().map(|word| (word.right + half).ceil() as i64).collect();
    tries.sort_unstable();
    tries.dedup();
    let every = tries.len().div_ceil(MOST_TRIES).max(1);
    let mut best: Option<(usize, Cut)> = None;
    for x in tries.into_iter().step_by(every) {
        let x = x as f64;
        for (top, bottom) in free_runs(words, x, half, size) {
            let inside = || words.iter().filter(|word| word.base > top && word.base < bottom);
            let left: Vec<&Word> = inside().filter(|word| middle(word) < x).collect();
            let right: Vec<&Word> = inside().filter(|word| middle(word) >= x).collect();
            let score = left.len() + right.len();
            let better = best.as_ref().is_none_or(|(most, _)| score > *most);
            let fewer = left.len().min(right.len());
            if better
                && fewer >= FEWEST_LINES
                && both_go_on(&left, &right, size)
                && reads_as_column(&left)
                && reads_as_column(&right)
            {
                best = Some((score, Cut { x, top, bottom }));
            }
        }
    }
    best.map(|(_, cut)| cut)
}

/// The vertical ranges in which no word crosses the band around `x`.
fn free_runs(words: &[Word], x: f64, half: f64, size: f64) -> Vec<(f64, f64)> {
    let crosses = |word: &&Word| word.left < x + half - 0.1 && word.right > x - half + 0.1;
    let mut bars: Vec<f64> = words.iter().filter(crosses).map(|word| word.base).collect();
    bars.sort_by(f64::total_cmp);
    let mut runs = Vec::new();
    let mut top = f64::NEG_INFINITY;
    for bar in bars.into_iter().chain([f64::INFINITY]) {
        if bar - top > size * FEWEST_LINES as f64 {
            runs.push((top + 0.1 * size, bar - 0.1 * size));
        }
        top = bar;
    }
    runs
}

/// Whether words form several lines that fill their width.
fn reads_as_column(words: &[&Word]) -> bool {
    let letters: usize = words.iter().map(|word| word.text.chars().count()).sum();
    if words.len() < FEWEST_LINES || letters < 80 {
        return false;
    }
    let left = words.iter().map(|word| word.left).fold(f64::INFINITY, f64::min);
    let right = words.iter().map(|word| word.right).fold(f64::NEG_INFINITY, f64::max);
    let lines = lines(words.iter().map(|word| (*word).clone()).collect());
    let prose = |line: &&super::line::Line| {
        let letters: usize = line.words.iter().map(|word| word.text.chars().count()).sum();
        letters >= 16 && line.right - line.left > 0.7 * (right - left) && line.cells().len() == 1
    };
    let full = lines.iter().filter(prose).count();
    // Nested narrower columns count as full lines too.
    let wide = lines.iter().filter(|line| line.cells().len() > 1 && line.words.len() >= 6).count();
    lines.len() >= FEWEST_LINES && (full + wide) * 2 >= lines.len() && full >= 2
}

/// Whether both sides are beside each other for most of their height.
fn both_go_on(left: &[&Word], right: &[&Word], size: f64) -> bool {
    let span = |words: &[&Word]| {
        let bases = || words.iter().map(|word| word.base);
        (bases().fold(f64::INFINITY, f64::min), bases().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((a, b), (c, d)) = (span(left), span(right));
    b.min(d) - a.max(c) > 2.5 * size
}

/// The median size of the words.
pub(super) fn usual_size(words: &[Word]) -> f64 {
    let mut sizes: Vec<f64> = words.iter().filter(|word| word.table.is_none()).map(|word| word.size).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.get(sizes.len() / 2).copied().unwrap_or(10.0)
}
