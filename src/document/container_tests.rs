//! Containers: archives, mailboxes and exports, good ones, bad ones and hostile ones.

use std::fmt::Write as _;
use std::fs;
use std::io::{Cursor, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use walkdir::WalkDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::reader::{DocumentReader, Place, Source};
use super::*;
use ragonite_base::CancelToken;

fn fixtures(name: &str) -> PathBuf {
    ragonite_testing::root().join("tests/fixtures/documents").join(name)
}

/// A ZIP archive of these members.
pub(super) fn zip_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A ZIP archive of a folder, its files under `prefix`.
pub(super) fn zip_of_folder(folder: &Path, prefix: &str) -> Vec<u8> {
    let files = WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    let members: Vec<(String, Vec<u8>)> = files
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let name = entry.path().strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/");
            (format!("{prefix}{name}"), fs::read(entry.path()).unwrap())
        })
        .collect();
    let members: Vec<(&str, &[u8])> = members.iter().map(|(name, content)| (&**name, &**content)).collect();
    zip_of(&members)
}

/// Reads bytes as if they stood in a file of this name.
fn read_bytes(name: &str, bytes: &[u8]) -> Result<Vec<Member>, DocumentError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let mut members = Vec::new();
    read(&path, &CancelToken::never(), &mut |member| {
        members.push(member);
        ControlFlow::Continue(())
    })?;
    Ok(members)
}

fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Everything that was read, as a person would check it. The folder of the file is left out of the errors.
fn report(members: &[Member]) -> String {
    let mut text = String::new();
    for Member { name, content } in members {
        writeln!(text, "=== {}", name.as_deref().unwrap_or("(the file)")).unwrap();
        match content {
            Ok(document) => {
                let Document { title, url, date, space, ancestors, blocks, .. } = document;
                writeln!(text, "{title} | {url:?} | {date:?} | {space:?} | {}", ancestors.join(" > ")).unwrap();
                for block in blocks {
                    writeln!(text, "{}", serde_json::to_string(block).unwrap()).unwrap();
                }
            }
            Err(error) => {
                let reason = chain(error);
                let (_, reason) = reason.split_once("!/").unwrap_or(("", &reason));
                writeln!(text, "ERROR `{reason}").unwrap();
            }
        }
    }
    text
}

fn failures(members: &[Member]) -> Vec<String> {
    members.iter().filter_map(|member| member.content.as_ref().err()).map(|error| chain(error)).collect()
}

fn titles(members: &[Member]) -> Vec<&str> {
    members.iter().filter_map(|member| member.content.as_ref().ok()).map(|page| page.title.as_str()).collect()
}

fn file(name: &str) -> Vec<Member> {
    let path = fixtures(name);
    read_bytes(path.file_name().unwrap().to_str().unwrap(), &fs::read(&path).unwrap()).unwrap()
}

#[test]
fn a_message_is_read_with_its_people_and_what_it_quotes() {
    insta::assert_snapshot!(report(&file("mail/plain.eml")));
}

#[test]
fn attachments_that_are_documents_are_read_and_the_others_named() {
    insta::assert_snapshot!(report(&file("mail/table-and-attachments.eml")));
}

#[test]
fn a_mailbox_gives_its_messages_one_by_one() {
    insta::assert_snapshot!(report(&file("mail/team.mbox")));
}

#[test]
fn a_saved_page_is_no_message() {
    let mht = "From: <Saved by Blink>\nSnapshot-Content-Location: https://wiki.example/a\nSubject: A\nMIME-Version: 1.0\n\
               Content-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n\n\
               <html><head><title>Page A</title></head><body><main><p>Text of A</p></main></body></html>\n--b--\n";
    let members = read_bytes("a.mhtml", mht.as_bytes()).unwrap();
    let page = members[0].content.as_ref().unwrap();
    assert_eq!((page.title.as_str(), page.url.as_deref()), ("Page A", Some("https://wiki.example/a")));
    assert_eq!(page.blocks, [Block::Text("Text of A".into())]);
}

#[test]
fn an_archive_gives_its_documents_and_the_reason_for_every_other_file() {
    let inner = zip_of_folder(&fixtures("archives/handbook"), "");
    let mail = fs::read(fixtures("mail/plain.eml")).unwrap();
    let zip = zip_of(&[
        ("handbook/inner.zip", &inner),
        ("../../etc/cron.txt", b"runs daily"),
        ("mails/cooling.eml", &mail),
        ("__MACOSX/._x.md", b"litter"),
        (".hidden/x.md", b"hidden"),
        ("photo.png", b"\x89PNG\r\n\x1a\n\0\0"),
        ("empty.txt", b""),
        ("lies.txt", b"\0\x01\x02\x03"),
    ]);
    insta::assert_snapshot!(report(&read_bytes("all.zip", &zip).unwrap()));
}

#[test]
fn a_space_exported_as_html_gives_its_pages() {
    for prefix in ["", "KIT/"] {
        let zip = zip_of_folder(&fixtures("exports/html"), prefix);
        let members = read_bytes("space.zip", &zip).unwrap();
        if prefix.is_empty() {
            insta::assert_snapshot!(report(&members));
        }
        assert_eq!(members.len(), 4);
        assert_eq!(failures(&members), Vec::<String>::new());
    }
}

#[test]
fn an_exported_page_that_was_unpacked_reads_the_same() {
    let page = load(&fixtures("exports/html/Oven_101.html")).unwrap();
    assert_eq!((page.title.as_str(), page.ancestors.as_slice()), ("Oven", ["Kitchen".to_owned()].as_slice()));
    assert!(load(&fixtures("exports/html/index.html")).unwrap_err().to_string().contains("index"));
}

#[test]
fn a_space_exported_as_xml_gives_its_current_pages() {
    for prefix in ["", "export/"] {
        let zip = zip_of_folder(&fixtures("exports/xml"), prefix);
        let members = read_bytes("space.zip", &zip).unwrap();
        if prefix.is_empty() {
            insta::assert_snapshot!(report(&members));
        }
        assert_eq!(members.len(), 3);
    }
    let bare = file("exports/xml/entities.xml");
    assert_eq!(titles(&bare), ["Oven & more – all", "Kitchen"]);
}

#[test]
fn several_pages_in_one_json_file_are_several_documents() {
    let lines = "{\"title\":\"A\",\"content\":\"<p>a\"}\n\n{\"title\":\"A\",\"content\":\"<p>b\"}\n{\"title\":1}\n";
    let members = read_bytes("pages.jsonl", lines.as_bytes()).unwrap();
    let names: Vec<&str> = members.iter().map(|member| member.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["A", "A (2)", "page 4"]);
    assert_eq!(titles(&members), ["A", "A"]);
    let list = format!("[{}]", lines.trim().replace("\n\n", "\n").replace('\n', ","));
    assert_eq!(titles(&read_bytes("pages.json", list.as_bytes()).unwrap()), ["A", "A"]);
    assert!(read_bytes("pages.json", b"[]").is_err());
}

#[test]
fn an_error_in_json_names_its_line() {
    let line = |error: &DocumentError| match error {
        DocumentError::NoPage { line, column, fault, .. } => (*line, *column, *fault),
        other => panic!("{other}"),
    };
    let good = r#"{"title":"A","content":"a"}"#;
    let lines = format!("{good}\n\n  {{\"title\":\"B\"}}\r\n{{\"title\": oops\n{good}\n");
    let members = read_bytes("pages.jsonl", lines.as_bytes()).unwrap();
    assert_eq!(titles(&members), ["A", "A"]);
    let errors: Vec<_> = members.iter().filter_map(|member| member.content.as_ref().err()).collect();
    assert_eq!(line(errors[0]), (3, 15, JsonFault::OtherShape));
    assert_eq!(line(errors[1]), (4, 11, JsonFault::Damaged));
    assert!(
        errors[0].to_string().contains("JSON but no page in line 3, column 15: missing field `content`;"),
        "{}",
        errors[0]
    );
    assert!(errors[1].to_string().contains("damaged JSON in line 4"), "{}", errors[1]);
    let list = format!("\n[{good},\n {good}, {{\"title\":\n1}},\n3]");
    let members = read_bytes("pages.json", list.as_bytes()).unwrap();
    let errors: Vec<_> = members.iter().filter_map(|member| member.content.as_ref().err().map(line)).collect();
    assert_eq!(errors, [(4, 1, JsonFault::OtherShape), (5, 1, JsonFault::OtherShape)]);
    let broken = read_bytes("pages.json", format!("[{good},\n{{\"title\" 1}}]").as_bytes()).unwrap_err();
    assert_eq!(line(&broken), (2, 10, JsonFault::Damaged));
    let one = read_bytes("page.json", b"\n\n{\"title\":\n \"A\",, }").unwrap_err();
    assert_eq!(line(&one), (4, 6, JsonFault::Damaged));
    let binary = [good.as_bytes(), b"\n\x00\x01\x02\x03\x00\n", good.as_bytes(), &b"\n".repeat(3_000)].concat();
    let members = read_bytes("pages.jsonl", &binary).unwrap();
    assert_eq!((titles(&members).len(), line(members[1].content.as_ref().unwrap_err()).0), (2, 2));
}

/// How many members are given where only so many may be, and how the reading ends.
fn count(
    most: u64,
    read: impl FnOnce(&mut DocumentReader<'_>, &Place<'_>, Source) -> Ended,
    text: &str,
) -> (usize, String) {
    let mut given = 0;
    let mut visit = |_: Member| {
        given += 1;
        ControlFlow::Continue(())
    };
    let mut walk = DocumentReader::new(0, &CancelToken::never(), &mut visit);
    walk.budget.members = most;
    let source = Source::Bytes(Cursor::new(text.as_bytes().to_vec()));
    let end = read(&mut walk, &Place::of(Path::new("x")), source);
    (given, end.map_or_else(|error| error.to_string(), |_| String::new()))
}

type Ended = Result<ControlFlow<()>, DocumentError>;

#[test]
fn pages_and_messages_are_counted_as_the_members_of_an_archive_are() {
    let list = format!("[{}0]", "0,".repeat(9));
    let messages = "From a@b Thu Jan  1 00:00:00 2024\nSubject: a\n\nb\n\n".repeat(9);
    let ends = [
        count(7, page::read_several, &"0\n".repeat(9)),
        count(7, page::read_several, &list),
        count(7, mailbox::read, &messages),
    ];
    for (given, end) in ends {
        assert_eq!(given, 7);
        assert!(end.contains("split it"), "{end}");
    }
}

#[test]
fn a_list_of_pages_is_read_one_page_at_a_time() {
    // A list in a list is no page, and is never held as one.
    let list = r#"[{"title":"A,]","content":"a"} , [[1,2],"x]"], 7,{"title":"B","content":"b"}]"#;
    let members = read_bytes("a.json", list.as_bytes()).unwrap();
    assert_eq!((titles(&members), failures(&members).len()), (vec!["A,]", "B"], 2));
    assert!(read_bytes("a.json", b"[{\"title\":\"A\",\"content\":\"a\"},]").is_err());
}

#[test]
fn reading_ends_where_the_visitor_breaks_off() {
    let zip = zip_of(&[("a.md", b"a"), ("b.md", b"b"), ("c.md", b"c")]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    fs::write(&path, zip).unwrap();
    let mut seen = 0;
    read(&path, &CancelToken::never(), &mut |_| {
        seen += 1;
        if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert_eq!(seen, 2);
}

#[test]
fn a_bomb_is_refused_and_its_neighbours_are_read() {
    let zeros = vec![b'0'; 20 << 20];
    let members = read_bytes("bomb.zip", &zip_of(&[("bomb.txt", &zeros), ("good.md", b"good")])).unwrap();
    assert!(failures(&members)[0].contains("ZIP bomb"), "{:?}", failures(&members));
    assert_eq!(titles(&members), ["good"]);
}

#[test]
fn bombs_of_many_small_parts_end_the_reading() {
    // Each part stays below what is refused on its own.
    let part = vec![0_u8; 7 << 20];
    let parts: Vec<(String, &[u8])> = (0..40).map(|n| (format!("{n}.csv"), &*part)).collect();
    let parts: Vec<(&str, &[u8])> = parts.iter().map(|(name, part)| (&**name, *part)).collect();
    let inner = zip_of(&parts);
    let outer = zip_of(&[("a.zip", &inner), ("b.zip", &inner), ("c.md", b"c")]);
    let error = read_bytes("bomb.zip", &outer).unwrap_err();
    assert!(error.to_string().contains("ZIP bomb"), "{error}");
}

#[test]
fn archives_nest_three_deep_and_no_deeper() {
    let mut zip = zip_of(&[("x.md", b"x")]);
    for _ in 0..2 {
        zip = zip_of(&[("inner.zip", &zip)]);
    }
    let members = read_bytes("a.zip", &zip).unwrap();
    assert_eq!(members[0].name.as_deref(), Some("inner.zip!/inner.zip!/x.md"));
    let members = read_bytes("a.zip", &zip_of(&[("inner.zip", &zip)])).unwrap();
    assert!(failures(&members)[0].contains("unpack the outer ones"));
}

#[test]
fn encrypted_and_damaged_members_are_named_and_the_others_read() {
    let mut zip =
        zip_of(&[("good.md", b"good"), ("secret.md", b"secret"), ("torn.md", b"torn by damage, torn by damage")]);
    let at = |zip: &[u8], name: &[u8], skip: usize| {
        let places = zip.windows(name.len()).enumerate().filter(|(_, window)| *window == name);
        places.map(|(at, _)| at).nth(skip).unwrap()
    };
    // The flag in the local and in the central header.
    let (local, central) = (at(&zip, b"secret.md", 0) - 30, at(&zip, b"secret.md", 1) - 46);
    zip[local + 6] |= 1;
    zip[central + 8] |= 1;
    let torn = at(&zip, b"torn.md", 0) + 7;
    zip[torn + 2] ^= 0xff;
    let members = read_bytes("a.zip", &zip).unwrap();
    assert_eq!(titles(&members), ["good"]);
    let reasons = failures(&members);
    assert!(reasons[0].contains("secret.md` is encrypted") && reasons[0].contains("password"), "{}", reasons[0]);
    assert!(reasons[1].contains("torn.md` cannot be unpacked"), "{}", reasons[1]);
}

#[test]
fn a_truncated_archive_says_that_it_is_damaged() {
    let zip = zip_of(&[("a.md", b"a"), ("b.md", b"b")]);
    let error = read_bytes("a.zip", &zip[..zip.len() / 2]).unwrap_err();
    assert!(chain(&error).contains("cannot be unpacked"), "{}", chain(&error));
}

#[test]
fn entities_of_an_export_are_never_expanded() {
    let bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\n\
                <hibernate-generic><object class=\"Page\"><id name=\"id\">1</id><property name=\"title\">&b;</property>\
                </object></hibernate-generic>";
    let error = read_bytes("entities.xml", bomb.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("defines its own entities"), "{error}");
    let zip = zip_of(&[("entities.xml", bomb.as_bytes())]);
    assert!(read_bytes("a.zip", &zip).unwrap_err().to_string().contains("entities.xml"));
}

#[test]
fn a_torn_export_gives_what_came_before_and_says_so() {
    let entities = fs::read(fixtures("exports/xml/entities.xml")).unwrap();
    let error = read_bytes("entities.xml", &entities[..entities.len() - 30]).unwrap_err();
    assert!(error.to_string().contains("damaged"), "{error}");
}

#[test]
fn a_mail_that_speaks_of_digests_and_messages_is_read() {
    let log = "Digest: sha256:0123456789\nsee message/7\n".repeat(400);
    let members = read_bytes("log.eml", format!("Subject: Build\nFrom: a@b.example\n\n{log}").as_bytes()).unwrap();
    assert_eq!((titles(&members), failures(&members)), (vec!["Build"], Vec::new()));
}

#[test]
fn messages_within_messages_do_not_exhaust_the_stack() {
    let nested = "Content-Type: message/rfc822\n\n".repeat(20_000);
    let _ = read_bytes("deep.eml", format!("Message-ID: <1@a>\n{nested}Subject: x\n\nbody").as_bytes());
    let below = "Content-Type: message/rfc822\n\n".repeat(250);
    let _ = read_bytes("deep.eml", format!("Message-ID: <1@a>\n{below}Subject: x\n\nbody").as_bytes());
    let parts = "Content-Type: multipart/mixed; boundary=x\n\n--x\n".repeat(20_000);
    let _ = read_bytes("deep.eml", format!("Message-ID: <1@a>\n{parts}\nbody").as_bytes());
}

proptest! {
    #![proptest_config(ragonite_testing::cases(64))]

    #[test]
    fn no_damage_makes_a_container_panic(
        which in 0_usize..4,
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let (name, mut bytes) = match which {
            0 => ("a.eml", fs::read(fixtures("mail/table-and-attachments.eml")).unwrap()),
            1 => ("a.mbox", fs::read(fixtures("mail/team.mbox")).unwrap()),
            2 => ("entities.xml", fs::read(fixtures("exports/xml/entities.xml")).unwrap()),
            _ => ("a.zip", zip_of_folder(&fixtures("archives/handbook"), "")),
        };
        for (at, byte) in &flips {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        if flips.len() % 2 == 1 {
            bytes.truncate(cut.index(bytes.len()));
        }
        let _ = read_bytes(name, &bytes);
    }

    #[test]
    fn no_bytes_make_a_container_panic(
        start in prop::sample::select(vec!["PK\u{3}\u{4}", "From a b 1:1 2024\n", "Message-ID: <a>\n", "<?xml?><hibernate-generic", "[{\"title\":", "%PDF-1.7", ""]),
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        name in "x\\.(zip|mbox|eml|xml|jsonl|docx|pdf|csv|bin)",
    ) {
        let _ = read_bytes(&name, &[start.as_bytes(), &bytes].concat());
    }
}
