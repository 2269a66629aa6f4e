//! Confluence storage format: bytes after a paragraph that must be found again, whatever follows it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ragonite_fuzz::WITNESS;

fuzz_target!(|bytes: &[u8]| {
    // A whole page may keep only its main part.
    if ragonite_fuzz::is_packed(bytes) || bytes.to_ascii_lowercase().windows(5).any(|five| five == b"<html") {
        return;
    }
    let source = [format!("<p>{WITNESS}</p>").as_bytes(), bytes].concat();
    if let Some(document) = ragonite_fuzz::check_file("x.storage", &source) {
        assert!(format!("{:?}", document.blocks).contains(WITNESS), "the first paragraph is lost: {document:?}");
    }
});
