//! Every reader of a binary or packed format, given damaged files: it may fail, it may not panic, hang or fill memory.

use std::ffi::OsStr;
use std::fs;
use std::io::{Cursor, Read as _, Write as _};
use std::ops::ControlFlow;
use std::path::Path;

use proptest::prelude::*;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::sheet::tests::binary_workbook;
use super::{parse, read};
use ragonite_base::CancelToken;

const FILES: &[&str] = &[
    "docx/report.docx",
    "docx/tables.docx",
    "mail/table-and-attachments.eml",
    "mail/team.mbox",
    "pdf/german.pdf",
    "pdf/japanese.pdf",
    "pdf/report.pdf",
    "pdf/ruled-table.pdf",
    "sheets/accounts.xlsx",
    "sheets/fleet.xls",
    "sheets/tides.ods",
];

/// What is written over a place of a file.
#[derive(Debug, Clone)]
enum Damage {
    Byte(u8),
    /// Digits grow to this number.
    Number(u64),
    /// What follows, again.
    Again(usize),
    Cut(usize),
}

fn damage() -> impl Strategy<Value = Vec<(f64, Damage)>> {
    let kind = prop_oneof![
        6 => any::<u8>().prop_map(Damage::Byte),
        2 => prop_oneof![Just(u64::MAX), Just(u64::from(u32::MAX)), Just(65_535), Just(1_048_576), any::<u64>()]
            .prop_map(Damage::Number),
        1 => (1usize..200).prop_map(Damage::Again),
        1 => (1usize..200).prop_map(Damage::Cut),
    ];
    prop::collection::vec((0.0f64..1.0, kind), 1..12)
}

fn damaged(mut bytes: Vec<u8>, damage: &[(f64, Damage)]) -> Vec<u8> {
    for (at, kind) in damage {
        if bytes.is_empty() {
            break;
        }
        let at = (at * bytes.len() as f64) as usize;
        let end = |length: usize| (at + length).min(bytes.len());
        match kind {
            Damage::Byte(byte) => bytes[at] = *byte,
            Damage::Number(number) => {
                let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit) else { continue };
                let start = at + start;
                let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                bytes.splice(start..start + length, number.to_string().into_bytes());
            }
            Damage::Again(length) => {
                let again = bytes[at..end(*length)].to_vec();
                bytes.splice(at..at, again);
            }
            Damage::Cut(length) => drop(bytes.drain(at..end(*length))),
        }
    }
    bytes
}

/// A file's name and bytes; those without a fixture are made here.
fn file(number: usize) -> (String, Vec<u8>) {
    match FILES.get(number) {
        Some(name) => {
            let path = ragonite_testing::root().join("tests/fixtures/documents").join(name);
            (name.rsplit('/').next().unwrap().to_owned(), fs::read(path).unwrap())
        }
        None if number == FILES.len() => ("book.xlsb".to_owned(), binary_workbook()),
        None => {
            let members = [file(0), file(3), file(8)];
            ("all.zip".to_owned(), zip_of(&members, CompressionMethod::Deflated))
        }
    }
}

fn zip_of(members: &[(String, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        zip.start_file(name.as_str(), SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn members(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut zip = ZipArchive::new(Cursor::new(bytes)).unwrap();
    (0..zip.len())
        .map(|index| {
            let mut member = zip.by_index(index).unwrap();
            let mut content = Vec::new();
            member.read_to_end(&mut content).unwrap();
            (member.name().unwrap().into_owned(), content)
        })
        .collect()
}

/// Reads all that is in a file.
fn read_all(name: &str, bytes: &[u8]) {
    let extension = Path::new(name).extension().and_then(OsStr::to_str);
    if !matches!(extension, Some("zip" | "mbox")) {
        let _ = parse(Path::new(name), bytes);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let _ = read(&path, &CancelToken::never(), &mut |_| ControlFlow::Continue(()));
}

proptest! {
    #![proptest_config(ragonite_testing::cases(200))]

    #[test]
    fn damaged_files_never_make_a_reader_panic(
        number in 0..FILES.len() + 2,
        damage in damage(),
        end in 0.5f64..1.5,
    ) {
        let (name, bytes) = file(number);
        let mut bytes = damaged(bytes, &damage);
        bytes.truncate((end * bytes.len() as f64) as usize);
        read_all(&name, &bytes);
    }

    #[test]
    fn packages_with_a_damaged_part_never_make_a_reader_panic(
        number in prop::sample::select(vec![0, 1, 8, 10, FILES.len()]),
        part in 0.0f64..1.0,
        damage in damage(),
    ) {
        let (name, bytes) = file(number);
        let mut members = members(&bytes);
        let part = (part * members.len() as f64) as usize;
        let content = std::mem::take(&mut members[part].1);
        members[part].1 = damaged(content, &damage);
        read_all(&name, &zip_of(&members, CompressionMethod::Stored));
    }
}
