//! Interprets a page's content stream: the glyphs it shows and the straight lines it draws.
//!
//! Takes a page; gives glyphs, positioned in points from the top left corner, and rules (table borders).
//! Invariants: instructions, glyphs and nested forms are bounded by a [`Budget`]; a damaged stream gives everything
//! before the damage.
//! Not here: fonts (`font`), words and lines (`line`).

use std::rc::Rc;

use hayro_font::kurbo::{Affine, Point, Rect};
use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction as Op;
use hayro_syntax::object::{Array, Dict, Name, Number, Object, String as PdfString};
use hayro_syntax::page::{Page, Resources, Rotation};

use super::font::{Face, Fonts, Look};
use super::string::decode;
use ragonite_base::CancelToken;

/// Maximum depth of forms; deeper ones are left out.
const DEEPEST_FORM: usize = 12;
/// Maximum of saved graphics states; more are a producer's error.
const MOST_STATES: usize = 256;
/// Maximum of instructions in a document.
pub(super) const MOST_INSTRUCTIONS: usize = 200_000_000;
/// Instructions between two checks for cancellation.
const STEP: usize = 4_096;
/// Maximum of instructions and of glyphs of one page.
const MOST_OPERATIONS: usize = 4_000_000;
const MOST_GLYPHS: usize = 200_000;
const MOST_RULES: usize = 20_000;
/// A filled box thinner than this, in points, is a line.
const THIN: f64 = 3.0;

/// What the pages of a document may still cost.
#[derive(Debug)]
pub(super) struct Budget {
    /// Instructions.
    pub operations: usize,
    /// Unpacked bytes of pages and forms.
    pub bytes: usize,
    /// Exhausts the budget once cancelled.
    pub cancel: CancelToken,
}

impl Default for Budget {
    fn default() -> Self {
        Self { operations: MOST_INSTRUCTIONS, bytes: 2 << 30, cancel: CancelToken::never() }
    }
}

impl Budget {
    pub(super) fn is_spent(&self) -> bool {
        self.operations == 0 || self.bytes == 0
    }
}

/// A shown character, or several for a ligature.
#[derive(Debug, Clone)]
pub(super) struct Glyph {
    pub text: String,
    /// Start and end on the baseline.
    pub start: Point,
    pub end: Point,
    /// Height of the font in points.
    pub size: f64,
    pub look: Look,
    /// Invisible, as in the text layer of a scanned page.
    pub hidden: bool,
    /// Direction of writing in quarter turns clockwise, 0 to 3.
    pub turn: u8,
}

/// The content of a page.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub glyphs: Vec<Glyph>,
    /// Straight lines, as boxes.
    pub rules: Vec<Rect>,
    pub images: usize,
    pub width: f64,
    pub height: f64,
}

#[derive(Clone)]
struct State<'a> {
    matrix: Affine,
    face: Option<Rc<Face<'a>>>,
    size: f64,
    char_space: f64,
    word_space: f64,
    scale: f64,
    leading: f64,
    rise: f64,
    hidden: bool,
    line_width: f64,
}

struct Reader<'p, 'a> {
    fonts: &'p Fonts<'a>,
    budget: &'p mut Budget,
    /// Instructions left for this page.
    operations: usize,
    content: Content,
    state: State<'a>,
    stack: Vec<State<'a>>,
    text: Affine,
    line: Affine,
    path: Vec<Rect>,
    point: Point,
    first: Point,
    /// Replacement text of each open marked sequence.
    actual: Vec<Option<String>>,
}

/// Reads a page.
pub(super) fn read_page<'a>(page: &Page<'a>, fonts: &Fonts<'a>, budget: &mut Budget) -> Content {
    let (width, height) = page.render_dimensions();
    let state = State {
        matrix: page_matrix(page),
        face: None,
        size: 0.0,
        char_space: 0.0,
        word_space: 0.0,
        scale: 1.0,
        leading: 0.0,
        rise: 0.0,
        hidden: false,
        line_width: 1.0,
    };
    let mut reader = Reader {
        fonts,
        operations: MOST_OPERATIONS.min(budget.operations),
        budget,
        content: Content { width: width.into(), height: height.into(), ..Content::default() },
        state,
        stack: Vec::new(),
        text: Affine::IDENTITY,
        line: Affine::IDENTITY,
        path: Vec::new(),
        point: Point::ZERO,
        first: Point::ZERO,
        actual: Vec::new(),
    };
    if let Some(data) = page.page_stream() {
        reader.run(data, page.resources(), 0);
    }
    reader.content
}

/// The matrix from page coordinates to points from the top left corner as displayed.
pub(super) fn page_matrix(page: &Page<'_>) -> Affine {
    let area = page.intersected_crop_box();
    let (width, height) = page.base_dimensions();
    let (width, height) = (f64::from(width), f64::from(height));
    let upright = Affine::new([1.0, 0.0, 0.0, -1.0, -area.x0, height + area.y0]);
    let turned = match page.rotation() {
        Rotation::None => Affine::IDENTITY,
        Rotation::Horizontal => Affine::new([0.0, 1.0, -1.0, 0.0, height, 0.0]),
        Rotation::Flipped => Affine::new([-1.0, 0.0, 0.0, -1.0, width, height]),
        Rotation::FlippedHorizontal => Affine::new([0.0, -1.0, 1.0, 0.0, 0.0, width]),
    };
    turned * upright
}

impl<'a> Reader<'_, 'a> {
    /// Interprets a content stream; forms in it are nested at most [`DEEPEST_FORM`] deep.
    fn run(&mut self, data: &[u8], resources: &Resources<'a>, depth: usize) {
        let Some(left) = self.budget.bytes.checked_sub(data.len()) else {
            self.budget.bytes = 0;
            return;
        };
        self.budget.bytes = left;
        let mut instructions = TypedIter::new(data);
        while let Some(op) = instructions.next() {
            if self.operations == 0 || self.content.glyphs.len() >= MOST_GLYPHS {
                return;
            }
            if self.operations.is_multiple_of(STEP) && self.budget.cancel.is_canceled() {
                (self.operations, self.budget.operations) = (0, 0);
                return;
            }
            self.operations -= 1;
            self.budget.operations = self.budget.operations.saturating_sub(1);
            match op {
                Op::XObject(name) => self.draw_object(name.0, resources, depth),
                Op::SaveState(_) if self.stack.len() < MOST_STATES => self.stack.push(self.state.clone()),
                Op::RestoreState(_) => self.restore(),
                Op::Transform(m) => {
                    self.state.matrix *= Affine::new([m.0, m.1, m.2, m.3, m.4, m.5].map(|n| n.as_f64()));
                }
                Op::LineWidth(width) => self.state.line_width = width.0.as_f64(),
                Op::InlineImage(_) => self.content.images += 1,
                Op::BeginMarkedContent(_) => self.begin_marked(None),
                Op::BeginMarkedContentWithProperties(mark) => self.begin_marked(actual_text(mark.1, resources)),
                Op::EndMarkedContent(_) => drop(self.actual.pop()),
                op => {
                    if !self.set_text(&op, resources) && !self.show(&op) {
                        self.draw(&op);
                    }
                }
            }
        }
    }

    fn restore(&mut self) {
        if let Some(state) = self.stack.pop() {
            self.state = state;
        }
    }

    fn draw_object(&mut self, name: &Name<'_>, resources: &Resources<'a>, depth: usize) {
        let Some(stream) = resources.get_x_object(name) else { return };
        let dict = stream.dict();
        if dict.get::<Name<'_>>("Subtype").is_some_and(|kind| kind.as_str() == "Image") {
            self.content.images += 1;
            return;
        }
        if depth >= DEEPEST_FORM {
            return;
        }
        let Ok(data) = stream.decoded_data() else { return };
        let matrix = dict.get::<[f64; 6]>("Matrix").unwrap_or([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        let inner = dict.get::<Dict<'a>>("Resources").map_or_else(|| resources.clone(), Resources::new);
        let (state, stack) = (self.state.clone(), std::mem::take(&mut self.stack));
        self.state.matrix *= Affine::new(matrix);
        self.run(&data, &inner, depth + 1);
        (self.state, self.stack) = (state, stack);
    }

    fn begin_marked(&mut self, actual: Option<String>) {
        if self.actual.len() < MOST_STATES {
            self.actual.push(actual);
        }
    }

    /// Handles instructions that set the text state.
    fn set_text(&mut self, op: &Op<'_, '_>, resources: &Resources<'a>) -> bool {
        let state = &mut self.state;
        match op {
            Op::BeginText(_) => (self.text, self.line) = (Affine::IDENTITY, Affine::IDENTITY),
            Op::CharacterSpacing(n) => state.char_space = n.0.as_f64(),
            Op::WordSpacing(n) => state.word_space = n.0.as_f64(),
            Op::HorizontalScaling(n) => state.scale = n.0.as_f64() / 100.0,
            Op::TextLeading(n) => state.leading = n.0.as_f64(),
            Op::TextRise(n) => state.rise = n.0.as_f64(),
            // Mode 3 draws nothing, mode 7 only clips.
            Op::TextRenderingMode(n) => state.hidden = matches!(n.0.as_i64(), 3 | 7),
            Op::TextFont(font) => {
                state.size = font.1.as_f64();
                state.face = resources.get_font(font.0).and_then(|dict| self.fonts.get(&dict));
            }
            Op::SetTextMatrix(m) => {
                self.line = Affine::new([m.0, m.1, m.2, m.3, m.4, m.5].map(|n| n.as_f64()));
                self.text = self.line;
            }
            Op::NextLine(by) => self.next_line(by.0.as_f64(), by.1.as_f64()),
            Op::NextLineAndSetLeading(by) => {
                state.leading = -by.1.as_f64();
                self.next_line(by.0.as_f64(), by.1.as_f64());
            }
            Op::NextLineUsingLeading(_) => self.next_line(0.0, -self.state.leading),
            _ => return false,
        }
        true
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.line *= Affine::translate((x, y));
        self.text = self.line;
    }

    /// Handles instructions that show text.
    fn show(&mut self, op: &Op<'_, '_>) -> bool {
        match op {
            Op::ShowText(text) => self.show_string(text.0.as_bytes()),
            Op::NextLineAndShowText(text) => {
                self.next_line(0.0, -self.state.leading);
                self.show_string(text.0.as_bytes());
            }
            Op::ShowTextWithParameters(text) => {
                self.state.word_space = text.0.as_f64();
                self.state.char_space = text.1.as_f64();
                self.next_line(0.0, -self.state.leading);
                self.show_string(text.2.as_bytes());
            }
            Op::ShowTexts(pieces) => self.show_pieces(pieces.0),
            _ => return false,
        }
        true
    }

    fn show_pieces(&mut self, pieces: &Array<'_>) {
        for piece in pieces.iter::<Object<'_>>() {
            match piece {
                Object::String(text) => self.show_string(text.as_bytes()),
                Object::Number(by) => {
                    let by = -by.as_f64() / 1000.0 * self.state.size;
                    let vertical = self.state.face.as_ref().is_some_and(|face| !face.font.is_horizontal());
                    let by = if vertical { (0.0, by) } else { (by * self.state.scale, 0.0) };
                    self.text *= Affine::translate(by);
                }
                _ => {}
            }
        }
    }

    fn show_string(&mut self, bytes: &[u8]) {
        let Some(face) = self.state.face.clone() else { return };
        let mut at = 0;
        while at < bytes.len() && self.content.glyphs.len() < MOST_GLYPHS {
            let (code, length) = face.font.read_code(bytes, at);
            at += length.max(1);
            let state = &self.state;
            let advance = face.font.code_advance(code) / 1000.0 * state.size;
            let word_space = if length == 1 && code == 32 { state.word_space } else { 0.0 };
            let space = state.char_space + word_space;
            let (step, width) = if face.font.is_horizontal() {
                (((advance.x + space) * state.scale, 0.0), (advance.x * state.scale, 0.0))
            } else {
                ((0.0, advance.y + space), (0.0, advance.y))
            };
            let placed = state.matrix * self.text * Affine::translate((0.0, state.rise));
            self.push_glyph(&face, code, placed, Point::new(width.0, width.1));
            self.text *= Affine::translate(step);
        }
    }

    fn push_glyph(&mut self, face: &Face<'_>, code: u32, placed: Affine, width: Point) {
        let text = match self.actual.iter_mut().rev().find_map(Option::as_mut) {
            Some(actual) => std::mem::take(actual),
            None => face.text(code),
        };
        let [a, b, c, d, ..] = placed.as_coeffs();
        let size = c.hypot(d) * self.state.size.abs();
        let (start, end) = (placed * Point::ZERO, placed * width);
        let finite = [start.x, start.y, end.x, end.y, size].iter().all(|n| n.is_finite() && n.abs() < 1e6);
        if text.is_empty() || !finite || size < 0.5 {
            return;
        }
        let (a, b) = if self.state.size < 0.0 { (-a, -b) } else { (a, b) };
        // Vertical text reads like text turned by a quarter.
        let (a, b) = if face.font.is_horizontal() { (a, b) } else { (c, d) };
        let turn = match (a.abs() >= b.abs(), a >= 0.0, b >= 0.0) {
            (true, true, _) => 0,
            (false, _, true) => 1,
            (true, false, _) => 2,
            (false, _, false) => 3,
        };
        let (look, hidden) = (face.look, self.state.hidden);
        self.content.glyphs.push(Glyph { text, start, end, size, look, hidden, turn });
    }

    /// Handles drawing instructions.
    fn draw(&mut self, op: &Op<'_, '_>) {
        let at = |x: &Number, y: &Number| Point::new(x.as_f64(), y.as_f64());
        match op {
            Op::MoveTo(to) => {
                self.point = at(&to.0, &to.1);
                self.first = self.point;
            }
            Op::LineTo(to) => self.line_to(at(&to.0, &to.1)),
            Op::ClosePath(_) => self.line_to(self.first),
            Op::CubicTo(to) => self.point = at(&to.4, &to.5),
            Op::CubicStartTo(to) => self.point = at(&to.2, &to.3),
            Op::CubicEndTo(to) => self.point = at(&to.2, &to.3),
            Op::RectPath(area) => {
                let (start, size) = (at(&area.0, &area.1), at(&area.2, &area.3));
                self.point = start;
                self.first = start;
                for corner in [(size.x, 0.0), (size.x, size.y), (0.0, size.y), (0.0, 0.0)] {
                    self.line_to(start + corner);
                }
            }
            Op::StrokePath(_)
            | Op::CloseAndStrokePath(_)
            | Op::FillPathNonZero(_)
            | Op::FillPathNonZeroCompatibility(_)
            | Op::FillPathEvenOdd(_)
            | Op::FillAndStrokeNonZero(_)
            | Op::FillAndStrokeEvenOdd(_)
            | Op::CloseFillAndStrokeNonZero(_)
            | Op::CloseFillAndStrokeEvenOdd(_) => self.paint(),
            Op::EndPath(_) => self.path.clear(),
            _ => {}
        }
    }

    fn line_to(&mut self, to: Point) {
        let matrix = self.state.matrix;
        let line = Rect::from_points(matrix * self.point, matrix * to);
        if line.is_finite() && line.width().min(line.height()) < THIN && self.path.len() < MOST_RULES {
            self.path.push(line);
        }
        self.point = to;
    }

    fn paint(&mut self) {
        let room = MOST_RULES.saturating_sub(self.content.rules.len());
        self.content.rules.extend(self.path.drain(..).take(room));
        self.path.clear();
    }
}

/// The replacement text of a marked sequence, if its properties have one.
fn actual_text(object: &Object<'_>, resources: &Resources<'_>) -> Option<String> {
    let read = |dict: &Dict<'_>| dict.get::<PdfString<'_>>("ActualText").map(|text| decode(text.as_bytes()));
    match object {
        Object::Name(name) => read(&resources.properties.get::<Dict<'_>>(name)?),
        Object::Dict(dict) => read(dict),
        _ => None,
    }
}
