//! Every format: the first byte chooses the name, the rest is the file.
#![no_main]

use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 12] =
    ["x.eml", "x.csv", "x.docx", "x.xlsx", "x.pdf", "x.zip", "x.mbox", "x.ods", "x.json", "x.txt", "x.xml", "x"];

// Readers of other crates may panic behind our `catch_unwind`; only what comes out of the reader is a finding.
fuzz_target!(init: std::panic::set_hook(Box::new(|panic| eprintln!("{panic}"))), |bytes: &[u8]| {
    if let Some((first, rest)) = bytes.split_first() {
        ragonite_fuzz::check_container(NAMES[usize::from(*first) % NAMES.len()], rest);
    }
});
