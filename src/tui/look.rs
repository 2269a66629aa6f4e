//! What every part of a pane needs to draw itself: theme, language and width.
//!
//! Not here: how steps, tables and Markdown are drawn beyond that (`StepLook`, `TableLook`, `MarkdownLook`).

use super::messages::Words;
use super::theme::Theme;

/// Theme, language and width of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look<'a> {
    pub(super) theme: &'a Theme,
    pub(super) words: Words,
    /// Cells of a line.
    pub(super) width: usize,
}
