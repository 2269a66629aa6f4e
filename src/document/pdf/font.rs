//! Fonts of a document: the characters of their codes, their widths and their look.
//!
//! Takes font resources, gives [`Face`]s.
//! Invariant: a code of unknown character gives U+FFFD, so that an unreadable page is detected.
//! Not here: glyph shapes; nothing is drawn.

use std::rc::Rc;
use std::sync::Arc;

use hayro_cmap::{BfString, load_embedded};
use hayro_font::{CMapResolverFn, Font, FontCache, FontGlyph, FontQuery, FontResolverFn, GlyphId};
use hayro_syntax::object::{Array, Dict, Name};

/// Substrings of names of bold fonts.
const BOLD: &[&str] = &["bold", "black", "heavy", "demi", "cmbx", "sfbx", "lmbx", "-bd", "nimbussanl-bol"];
/// Substrings of names of monospaced fonts.
const FIXED: &[&str] = &["courier", "mono", "nimbusmon", "cmtt", "sftt", "lmtt", "consol", "typewriter"];
const FLAG_FIXED: u32 = 1;
const FLAG_FORCE_BOLD: u32 = 1 << 18;

/// A font and how it looks.
pub(super) struct Face<'a> {
    pub font: Font<'a>,
    pub look: Look,
}

/// The look of a font besides its size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub bold: bool,
    /// Monospaced.
    pub fixed: bool,
}

/// The fonts of a document, each read once.
pub(super) struct Fonts<'a> {
    cache: FontCache<'a>,
    programs: FontResolverFn,
    maps: CMapResolverFn,
}

impl<'a> Fonts<'a> {
    pub(super) fn new() -> Self {
        // Fonts that a file only names are replaced by standard ones, which have names and widths of glyphs.
        let programs: FontResolverFn = Arc::new(|query| match query {
            FontQuery::Standard(font) => Some(font.get_font_data()),
            FontQuery::Fallback(wanted) => Some(wanted.pick_standard_font().get_font_data()),
        });
        Self { cache: FontCache::new(), programs, maps: Arc::new(load_embedded) }
    }

    pub(super) fn get(&self, dict: &Dict<'a>) -> Option<Rc<Face<'a>>> {
        let font = self.cache.font(dict, &self.programs, &self.maps)?;
        Some(Rc::new(Face { font, look: look(dict) }))
    }
}

impl Face<'_> {
    /// The characters that a code stands for.
    pub(super) fn text(&self, code: u32) -> String {
        let text = match self.font.glyph(GlyphId::NOTDEF, code) {
            FontGlyph::Outline(glyph) => glyph.as_unicode(),
            FontGlyph::Type3(glyph) => glyph.as_unicode(),
        };
        match text {
            Some(BfString::Char(c)) => plain(c),
            Some(BfString::String(text)) => text.chars().map(plain).collect(),
            None => char::REPLACEMENT_CHARACTER.to_string(),
        }
    }
}

/// Replaces ligatures by letters, private and odd bullets by bullets, odd spaces by spaces.
fn plain(c: char) -> String {
    let letters = match c {
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb03}' => "ffi",
        '\u{fb04}' => "ffl",
        '\u{fb05}' | '\u{fb06}' => "st",
        // Symbol fonts of word processors put their bullets here.
        '\u{f0b7}' | '\u{f0a7}' | '\u{f076}' | '\u{f0d8}' => "•",
        '\u{f0fc}' => "✓",
        '\u{2000}'..='\u{200a}' | '\u{a0}' | '\u{202f}' | '\u{3000}' => " ",
        '\0' => "",
        c => return c.to_string(),
    };
    letters.to_owned()
}

fn look(dict: &Dict<'_>) -> Look {
    let inner = dict.get::<Array<'_>>("DescendantFonts").and_then(|fonts| fonts.iter::<Dict<'_>>().next());
    let descriptor = inner.as_ref().unwrap_or(dict).get::<Dict<'_>>("FontDescriptor").unwrap_or_default();
    let flags = descriptor.get::<u32>("Flags").unwrap_or(0);
    let weight = descriptor.get::<f32>("FontWeight").unwrap_or(0.0);
    let name = dict.get::<Name<'_>>("BaseFont").map(|name| name.as_str().to_ascii_lowercase()).unwrap_or_default();
    let named = |words: &[&str]| words.iter().any(|word| name.contains(word));
    Look {
        bold: flags & FLAG_FORCE_BOLD != 0 || weight >= 600.0 || named(BOLD),
        fixed: flags & FLAG_FIXED != 0 || named(FIXED),
    }
}
