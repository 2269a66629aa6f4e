//! Why a PDF gives no document.

use ragonite_base::Canceled;

/// What is wrong with a PDF, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PdfError {
    /// The work was cancelled by the user.
    #[error(transparent)]
    Canceled(#[from] Canceled),
    /// It opens only with a password.
    #[error("it is protected by a password; save a copy without one and read that")]
    Locked,
    /// Its way of encryption is not known or damaged.
    #[error("its encryption cannot be read; save a copy without it and read that")]
    Encryption,
    /// Pages without a word.
    #[error("its {pages} pages hold no text (a scanned document?); run it through OCR first")]
    NoText {
        /// How many pages it has.
        pages: usize,
    },
    /// Pages of which no word is left, since the file is cut off or damaged.
    #[error("it is damaged or incomplete, and no text is left on its {pages} pages; get it anew from its source")]
    Incomplete {
        /// How many pages can still be told.
        pages: usize,
    },
    /// Its fonts do not tell which characters they show.
    #[error("its fonts do not tell which characters they show; print it to a new PDF or run it through OCR first")]
    Unreadable,
    /// It is no PDF, or damaged throughout.
    #[error(
        "it is damaged or incomplete and no page can be read; get it anew from its source, or open it in a PDF viewer \
         and save it again"
    )]
    Broken,
    /// It would take more memory or time than any real document.
    #[error("it takes more than {limit} {unit}, as no real document does; it is not read")]
    TooLarge {
        /// The limit.
        limit: usize,
        /// What is counted.
        unit: &'static str,
    },
}
