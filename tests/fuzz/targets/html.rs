//! HTML pages: bytes after a document type, so that no other reader is chosen by the content.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if !ragonite_fuzz::is_packed(bytes) {
        ragonite_fuzz::check_file("x.html", &[b"<!DOCTYPE html>", bytes].concat());
    }
});
