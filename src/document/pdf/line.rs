//! Groups glyphs into words, and words into lines.
//!
//! Takes the glyphs of one writing direction; gives positioned words and their lines.
//! Invariant: every glyph that is not white space is in exactly one word; glyphs drawn twice to look bold count once.
//! Not here: which lines belong together (`layout`, `paragraph`).

use super::content::Glyph;
use super::font::Look;

/// Minimum gap between words, in font heights.
const WORD_GAP: f64 = 0.17;
/// Minimum gap between cells, in font heights; justified text hardly ever has one.
const CELL_GAP: f64 = 0.95;
/// Maximum distance of a glyph drawn twice, in font heights.
const SAME_PLACE: f64 = 0.15;

/// Minimum of dots in a leader.
const FEWEST_DOTS: usize = 4;
/// Replacement of the dots between an entry and its page number.
const LEADER: &str = " … ";

/// A word, or any text that stands alone.
#[derive(Debug, Clone, Default)]
pub(super) struct Word {
    pub text: String,
    pub left: f64,
    pub right: f64,
    /// Base line, from the top.
    pub base: f64,
    pub size: f64,
    pub look: Look,
    /// Whether white space precedes it in the source.
    pub spaced: bool,
    /// The table that it stands for, by number on the page.
    pub table: Option<usize>,
}

/// Words side by side.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    pub words: Vec<Word>,
    pub left: f64,
    pub right: f64,
    pub base: f64,
    /// The size of most of its letters.
    pub size: f64,
    /// How all of its letters look.
    pub look: Look,
}

impl Word {
    pub(super) fn top(&self) -> f64 {
        self.base - 0.75 * self.size
    }

    pub(super) fn bottom(&self) -> f64 {
        self.base + 0.2 * self.size
    }

    fn takes(&self, glyph: &Glyph) -> bool {
        let gap = glyph.start.x - self.right;
        let accent = self.text.chars().next_back().is_some_and(is_accent);
        let least = if accent { -1.0 } else { -0.35 };
        (glyph.start.y - self.base).abs() < 0.15 * self.size
            && (glyph.size - self.size).abs() < 0.1 * self.size
            && glyph.look == self.look
            && gap > least * self.size
            && gap < WORD_GAP * self.size
    }

    fn push(&mut self, glyph: &Glyph) {
        if let (Some(accent), Some(letter)) = (self.text.chars().next_back(), glyph.text.chars().next())
            && glyph.start.x < self.right - 0.1 * self.size
            && let Some(composed) = compose(accent, letter)
        {
            self.text.pop();
            self.text.push(composed);
            self.text.extend(glyph.text.chars().skip(1));
        } else {
            self.text.push_str(&glyph.text);
        }
        self.right = self.right.max(glyph.end.x);
    }
}

/// Joins glyphs to words, in the order of the file.
pub(super) fn words(glyphs: &[Glyph]) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut open = false;
    let mut spaced = false;
    for glyph in glyphs {
        if glyph.text.chars().all(char::is_whitespace) {
            (open, spaced) = (false, true);
            continue;
        }
        match words.last_mut().filter(|word| open && word.takes(glyph)) {
            Some(word) => word.push(glyph),
            None => words.push(Word {
                text: glyph.text.clone(),
                left: glyph.start.x,
                right: glyph.end.x.max(glyph.start.x),
                base: glyph.start.y,
                size: glyph.size,
                look: glyph.look,
                spaced,
                table: None,
            }),
        }
        (open, spaced) = (true, false);
    }
    words
}

/// Groups words into lines, top down and left to right.
pub(super) fn lines(mut words: Vec<Word>) -> Vec<Line> {
    words.sort_by(|a, b| a.base.total_cmp(&b.base).then(a.left.total_cmp(&b.left)));
    let mut rows: Vec<(Word, Vec<Word>)> = Vec::new();
    for word in words {
        match rows.last_mut().filter(|(tallest, _)| side_by_side(tallest, &word)) {
            Some((tallest, row)) => {
                if word.size > tallest.size {
                    *tallest = word.clone();
                }
                row.push(word);
            }
            None => rows.push((word.clone(), vec![word])),
        }
    }
    rows.into_iter().map(|(_, row)| Line::new(row)).collect()
}

fn side_by_side(a: &Word, b: &Word) -> bool {
    if a.table.is_some() || b.table.is_some() {
        return false;
    }
    let overlap = a.bottom().min(b.bottom()) - a.top().max(b.top());
    overlap > 0.5 * (a.bottom() - a.top()).min(b.bottom() - b.top())
}

impl Line {
    pub(super) fn new(mut words: Vec<Word>) -> Self {
        words.sort_by(|a, b| a.left.total_cmp(&b.left));
        let mut kept: Vec<Word> = Vec::with_capacity(words.len());
        for word in words {
            match kept.last_mut().filter(|last| is_again(last, &word)) {
                Some(last) => last.look.bold = true,
                None => kept.push(word),
            }
        }
        let letters = |word: &Word| word.text.chars().filter(|c| c.is_alphanumeric()).count();
        let main = kept.iter().max_by_key(|word| letters(word)).cloned().unwrap_or_default();
        let all = |look: fn(&Word) -> bool| kept.iter().filter(|word| letters(word) > 0).all(look);
        Self {
            left: kept.iter().map(|word| word.left).fold(f64::INFINITY, f64::min),
            right: kept.iter().map(|word| word.right).fold(f64::NEG_INFINITY, f64::max),
            base: main.base,
            size: main.size,
            look: Look { bold: all(|word| word.look.bold), fixed: all(|word| word.look.fixed) },
            words: kept,
        }
    }

    pub(super) fn text(&self) -> String {
        without_leaders(join(&self.words))
    }

    /// Whether dots lead from a word to a page number, as in a table of contents.
    pub(super) fn has_leader(&self) -> bool {
        self.text().contains(LEADER)
    }

    /// Its words, grouped by wide gaps.
    pub(super) fn cells(&self) -> Vec<Line> {
        let mut groups: Vec<Vec<Word>> = Vec::new();
        for word in &self.words {
            let near = |last: &Word| word.left - last.right < CELL_GAP * word.size.max(last.size).min(2.0 * self.size);
            match groups.last_mut().filter(|group| group.last().is_some_and(near)) {
                Some(group) => group.push(word.clone()),
                None => groups.push(vec![word.clone()]),
            }
        }
        groups.into_iter().map(Line::new).collect()
    }
}

/// Replaces leader dots by one sign.
fn without_leaders(text: String) -> String {
    let dots = |text: &str| text.chars().take_while(|c| matches!(c, '.' | ' ' | '…')).filter(|c| *c == '.').count();
    if !text.contains("....") && !text.contains(". . .") {
        return text;
    }
    let mut short = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        if c == '.' && dots(rest) >= FEWEST_DOTS {
            short.truncate(short.trim_end().len());
            short.push_str(LEADER);
            rest = rest.trim_start_matches(['.', ' ', '…']);
        } else {
            short.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    short
}

/// Whether the same word is drawn again at nearly the same place.
fn is_again(last: &Word, word: &Word) -> bool {
    let near = SAME_PLACE * word.size;
    last.text == word.text && (last.left - word.left).abs() < near && (last.base - word.base).abs() < near
}

fn join(words: &[Word]) -> String {
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        if let Some(last) = at.checked_sub(1).and_then(|at| words.get(at)) {
            let gap = word.left - last.right;
            if (word.spaced && gap > -0.1 * word.size) || gap > WORD_GAP * word.size.min(last.size) {
                text.push(' ');
            }
        }
        text.push_str(&word.text);
    }
    text
}

/// Whether a character is an accent that old fonts draw over the next letter.
fn is_accent(c: char) -> bool {
    matches!(c, '¨' | '´' | '`' | 'ˆ' | '˜' | '¸' | 'ˇ' | '˚')
}

fn compose(accent: char, letter: char) -> Option<char> {
    let pairs = match accent {
        '¨' => "aäoöuüAÄOÖUÜeëiïyÿıï",
        '´' => "aáeéiíoóuúAÁEÉyýıí",
        '`' => "aàeèiìoòuùAÀEÈ",
        'ˆ' => "aâeêiîoôuûıî",
        '˜' => "nñaãoõNÑ",
        '¸' => "cçCÇsş",
        'ˇ' => "sšcčzžrřeěSŠCČZŽ",
        '˚' => "aåAÅuů",
        _ => return None,
    };
    let mut chars = pairs.chars();
    while let (Some(plain), Some(composed)) = (chars.next(), chars.next()) {
        if plain == letter {
            return Some(composed);
        }
    }
    None
}
