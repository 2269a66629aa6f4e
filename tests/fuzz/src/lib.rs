//! Checks shared by all fuzz targets.
//!
//! Takes the bytes of a file, reads and splits them like the program, and panics if an invariant is broken.

mod check;

use std::ops::ControlFlow;
use std::path::Path;

use ragonite_base::CancelToken;
use ragonite_document::evidence::{self, EvidenceSettings, Linearizer};
use ragonite_document::{self as document, Document};

/// A word that a target puts before the input, to see that it is not lost.
pub const WITNESS: &str = "w1tness";

/// Reads one document, splits it and checks both.
pub fn check_file(name: &str, bytes: &[u8]) -> Option<Document> {
    let document = document::parse(Path::new(name), bytes).ok()?;
    check_document(&document, settings(bytes.len()));
    Some(document)
}

/// Writes the bytes to a file, reads all its documents and checks each.
pub fn check_container(name: &str, bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder for the file");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("the file can be written");
    let _ = document::read(&path, &CancelToken::never(), &mut |member| {
        if let Ok(document) = member.content {
            check_document(&document, settings(bytes.len()));
        }
        ControlFlow::Continue(())
    });
}

/// Whether the content names another format, so that the input does not fit the target.
pub fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK") || bytes.windows(5).any(|five| five == b"%PDF-")
}

fn check_document(document: &Document, settings: EvidenceSettings) {
    check::document(document);
    let tokens = |text: &str| text.len().div_ceil(4) + 2;
    let split = evidence::split(document, &settings, &tokens, &CancelToken::never());
    check::split(document, &split.expect("nobody cancels"));
}

/// Lengths that cut often; the linearizer changes with the input.
fn settings(turn: usize) -> EvidenceSettings {
    let linearizers =
        [Linearizer::Verbalized, Linearizer::Piped, Linearizer::Markdown, Linearizer::Html, Linearizer::Plain];
    EvidenceSettings {
        longest_passage: 12,
        longest_neighbour: 6,
        longest_table: 40,
        linearizer: linearizers[turn % linearizers.len()],
        ..EvidenceSettings::default()
    }
}
