//! Markdown: bytes, after a paragraph that must be found again where they do not start with front matter.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ragonite_fuzz::WITNESS;

fuzz_target!(|bytes: &[u8]| {
    if ragonite_fuzz::is_packed(bytes) {
        return;
    }
    if bytes.starts_with(b"---") || bytes.starts_with(b"+++") {
        ragonite_fuzz::check_file("x.md", bytes);
        return;
    }
    let source = [format!("{WITNESS}\n\n").as_bytes(), bytes].concat();
    if let Some(document) = ragonite_fuzz::check_file("x.md", &source) {
        assert!(format!("{:?}", document.blocks).contains(WITNESS), "the first paragraph is lost: {document:?}");
    }
});
