//! Tests of packing and unpacking, on a small catalog and a domain without weights.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::*;
use ragonite_base::{CancelSource, CancelToken, DomainName};
use ragonite_index::Index;
use ragonite_index::test_kit::{WordEmbedder, domain, ingest, page};
use ragonite_inference::{Catalog, CatalogModel, Embed as _, ModelFolders};

const WEIGHTS: &[u8] = b"the weights of an embedder";
const GENERATOR: &[u8] = b"and those of a generator, which are a little longer";

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn catalog() -> Catalog {
    let text = format!(
        r#"
        [[profile]]
        name = "tiny"
        about = "tests"
        embedder = "embed"
        generator = "speak"
        top_k = 1
        context_tokens = 64
        [[model]]
        id = "embed"
        role = "embedder"
        licence = "MIT"
        encoder = {{ architecture = "bert", pooling = "mean", max_tokens = 8 }}
        [[model.file]]
        name = "model.safetensors"
        bytes = {}
        sha256 = "{}"
        sources = []
        [[model]]
        id = "speak"
        role = "generator"
        licence = "Apache-2.0"
        [[model.file]]
        name = "speak.gguf"
        sha256 = "{}"
        sources = []
        "#,
        WEIGHTS.len(),
        sha256(WEIGHTS),
        sha256(GENERATOR)
    );
    Catalog::parse(&text, Path::new("catalog.toml")).unwrap()
}

/// A machine with weights, a domain and a program.
struct Machine {
    catalog: Catalog,
    folder: TempDir,
    embedder: WordEmbedder,
}

impl Machine {
    fn empty() -> Self {
        Self { catalog: catalog(), folder: tempfile::tempdir().unwrap(), embedder: WordEmbedder::new("f00d") }
    }

    /// The folder of a domain in it has to live as long as the machine.
    fn filled() -> (Self, TempDir) {
        let machine = Self::empty();
        for (model, file, bytes) in [("embed", "model.safetensors", WEIGHTS), ("speak", "speak.gguf", GENERATOR)] {
            fs::create_dir_all(machine.models().join(model)).unwrap();
            fs::write(machine.models().join(model).join(file), bytes).unwrap();
        }
        fs::write(machine.path("ragonite"), "the program").unwrap();
        let (folder, mut index) = domain(&machine.embedder);
        ingest(&mut index, &[page("Cranes", &["The crane stops at ten tons"])], &machine.embedder).unwrap();
        (machine, folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn models(&self) -> PathBuf {
        self.path("models")
    }

    fn pack(&self, domain: &TempDir, cancel: &CancelToken) -> Result<Packed, BundleError> {
        let models: Vec<&CatalogModel> = self.catalog.models.iter().collect();
        let contents = Contents {
            version: "0.1.0",
            target: "a machine",
            program: &[ProgramFile { path: self.path("ragonite"), name: "ragonite".into() }],
            texts: &[("README.txt", "How to install it.".to_owned())],
            models: &models,
            folders: &ModelFolders::new(vec![self.models()]),
            domains: &[DomainSource { name: wiki(), folder: domain.path().join("wiki"), documents: 1 }],
        };
        pack(&contents, &self.path("bundle.tar"), cancel, &mut |_| {})
    }

    fn install(&self, bundle: &Path, replace: Replace, cancel: &CancelToken) -> Result<Installed, BundleError> {
        let to = InstallTo {
            catalog: &self.catalog,
            folders: &ModelFolders::new(vec![self.models()]),
            models: &self.models(),
            domains: &self.path("domains"),
            replace,
        };
        install(bundle, &to, cancel, &mut |_| {}).map(|(_, installed)| installed)
    }

    /// Every file in the folder of the machine, but the notes that weights were checked.
    fn files(&self) -> Vec<String> {
        let entries = walkdir::WalkDir::new(self.folder.path()).sort_by_file_name().into_iter().map(Result::unwrap);
        let is_note = |name: &std::ffi::OsStr| name.to_string_lossy().ends_with(".verified");
        let files = entries.filter(|entry| entry.file_type().is_file() && !is_note(entry.file_name()));
        files.map(|file| file.path().strip_prefix(self.folder.path()).unwrap().display().to_string()).collect()
    }
}

fn wiki() -> DomainName {
    "wiki".parse().unwrap()
}

#[test]
fn a_bundle_brings_weights_and_domains_to_another_machine() {
    let (from, domain) = Machine::filled();
    let before = from.files();
    let packed = from.pack(&domain, &CancelToken::never()).unwrap();
    assert_eq!(packed.bytes, fs::metadata(&packed.file).unwrap().len());
    assert_eq!(packed.models.iter().map(|model| model.licence.as_str()).collect::<Vec<_>>(), ["MIT", "Apache-2.0"]);
    assert_eq!(from.files().len(), before.len() + 1, "nothing but the bundle is left");
    assert!(matches!(from.pack(&domain, &CancelToken::never()), Err(BundleError::Exists { .. })));

    let to = Machine::empty();
    let installed = to.install(&packed.file, Replace::Nothing, &CancelToken::never()).unwrap();
    assert_eq!(installed.weights, ["embed/model.safetensors", "speak/speak.gguf"]);
    assert_eq!((installed.domains, installed.left_out), (vec![wiki()], Vec::new()));
    assert_eq!(fs::read(to.models().join("speak/speak.gguf")).unwrap(), GENERATOR);
    let folder = to.path("domains").join("wiki");
    let index = Index::open(&folder, to.embedder.identity(), &CancelToken::never(), &mut |_| {}).unwrap();
    assert_eq!(index.lexical_search("crane", 3).unwrap().len(), 1);
    drop(index);

    let again = to.install(&packed.file, Replace::Nothing, &CancelToken::never()).unwrap();
    assert_eq!((again.weights.len(), again.weights_here.len(), again.domains.len()), (0, 2, 0));
    assert_eq!(again.left_out.len(), 1, "a domain is left out once, not file by file");
    assert!(again.left_out[0].reason.contains("--replace"));
    let replaced = to.install(&packed.file, Replace::Domains, &CancelToken::never()).unwrap();
    assert_eq!(replaced.domains, [wiki()]);
    let names =
        |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!(names(&to.path("domains")), ["wiki"]);
}

#[test]
fn the_program_can_be_taken_out_of_it_by_itself() {
    let (from, domain) = Machine::filled();
    let packed = from.pack(&domain, &CancelToken::never()).unwrap();
    let mut archive = tar::Archive::new(fs::File::open(&packed.file).unwrap());
    let paths: Vec<String> =
        archive.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().display().to_string()).collect();
    assert_eq!(paths[..3], ["ragonite-bundle/manifest.json", "ragonite-bundle/README.txt", "ragonite-bundle/ragonite"]);
    assert!(paths.contains(&"ragonite-bundle/models/speak/speak.gguf".to_owned()), "{paths:?}");
    assert!(paths.contains(&"ragonite-bundle/domains/wiki/domain.db".to_owned()), "{paths:?}");
    let mut archive = tar::Archive::new(fs::File::open(&packed.file).unwrap());
    let program = archive.entries().unwrap().map(Result::unwrap).nth(2).unwrap();
    assert_eq!(program.header().mode().unwrap(), 0o755);
}

#[test]
fn weights_that_are_not_those_of_the_catalog_are_not_packed() {
    let (from, domain) = Machine::filled();
    let mut other = WEIGHTS.to_vec();
    other[3] ^= 1;
    fs::write(from.models().join("embed/model.safetensors"), other).unwrap();
    assert!(matches!(from.pack(&domain, &CancelToken::never()), Err(BundleError::Weights(_))));
    assert!(!from.path("bundle.tar").exists());
}

#[test]
fn of_a_damaged_or_cut_bundle_no_domain_and_no_broken_weights_are_taken() {
    let (from, domain) = Machine::filled();
    let whole = fs::read(from.pack(&domain, &CancelToken::never()).unwrap().file).unwrap();
    let find = |bytes: &[u8]| whole.windows(bytes.len()).position(|run| run == bytes).unwrap();
    let mut flipped = whole.clone();
    flipped[find(GENERATOR) + 5] ^= 1;
    let mut database = whole.clone();
    let at = find(b"SQLite format 3") + 2000;
    database[at] ^= 1;
    for (what, bytes) in [
        ("a flipped bit", flipped),
        ("a flipped bit in a database", database),
        ("a cut", whole[..find(GENERATOR) + 20].to_vec()),
        ("a cut between files", whole[..whole.len() / 2].to_vec()),
    ] {
        let to = Machine::empty();
        let path = to.path("bundle.tar");
        fs::write(&path, bytes).unwrap();
        let failed = to.install(&path, Replace::Nothing, &CancelToken::never());
        assert!(matches!(failed, Err(BundleError::Damaged { .. } | BundleError::File { .. })), "{what}: {failed:?}");
        let left: Vec<String> = to.files().into_iter().filter(|file| file != "bundle.tar").collect();
        let whole_weights = ["models/embed/model.safetensors", "models/speak/speak.gguf"];
        assert!(left.iter().all(|file| whole_weights.contains(&file.as_str())), "{what}: {left:?}");
    }
}

#[test]
fn what_is_no_bundle_is_told_by_what_it_is() {
    let to = Machine::empty();
    let path = to.path("file");
    let install = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        to.install(&path, Replace::Nothing, &CancelToken::never()).unwrap_err()
    };
    for bytes in [&b""[..], b"some text", &[0; 4096]] {
        assert!(matches!(install(bytes), BundleError::NoBundle { .. }));
    }
    let with = |name: &str, text: &str| {
        let mut archive = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        archive.append_data(&mut header, name, text.as_bytes()).unwrap();
        archive.into_inner().unwrap()
    };
    assert!(matches!(install(&with("other/manifest.json", "{}")), BundleError::NoBundle { .. }));
    assert!(matches!(install(&with("ragonite-bundle/manifest.json", "{")), BundleError::NoBundle { .. }));
    let newer = install(&with("ragonite-bundle/manifest.json", r#"{"format": 2, "new": true}"#));
    assert!(matches!(newer, BundleError::NewerFormat { found: 2, supported: 1, .. }), "{newer:?}");
    let up = r#"{"format":1,"version":"1","target":"x","models":[],"domains":[],
        "files":[{"path":"../up","what":{"kind":"text"},"bytes":1,"sha256":""}]}"#;
    assert!(matches!(install(&with("ragonite-bundle/manifest.json", up)), BundleError::NoBundle { .. }));
    assert_eq!(to.files(), ["file"]);
}

#[test]
fn stopping_leaves_nothing_that_is_not_whole() {
    let (from, domain) = Machine::filled();
    let (source, canceled) = (CancelSource::default(), CancelSource::default());
    canceled.cancel();
    assert!(matches!(from.pack(&domain, &canceled.token()), Err(BundleError::Canceled(_))));
    assert!(!from.files().iter().any(|file| file.contains("bundle")), "{:?}", from.files());
    let packed = from.pack(&domain, &source.token()).unwrap();
    let to = Machine::empty();
    let stopped = to.install(&packed.file, Replace::Nothing, &canceled.token());
    assert!(matches!(stopped, Err(BundleError::Canceled(_))));
    assert_eq!(to.files(), Vec::<String>::new());
}

#[test]
fn weights_are_imported_by_what_they_are_and_not_by_their_name() {
    let to = Machine::empty();
    let from = tempfile::tempdir().unwrap();
    fs::create_dir(from.path().join("inner")).unwrap();
    // As a hub keeps it: the bytes elsewhere, a link with a name.
    let blobs = tempfile::tempdir().unwrap();
    fs::write(blobs.path().join("0123abcd"), GENERATOR).unwrap();
    std::os::unix::fs::symlink(blobs.path().join("0123abcd"), from.path().join("renamed.bin")).unwrap();
    fs::write(from.path().join("inner/model (1).safetensors"), WEIGHTS).unwrap();
    fs::File::create(from.path().join("notes.txt")).unwrap().write_all(b"something else").unwrap();
    let import = || {
        let folders = ModelFolders::new(vec![to.models()]);
        let models = to.models();
        let paths = [from.path().to_owned()];
        import_weights(&paths, &to.catalog, &folders, &models, &CancelToken::never(), &mut |_| {}).unwrap()
    };
    let imported = import();
    assert_eq!(imported.weights, ["embed/model.safetensors", "speak/speak.gguf"]);
    assert_eq!(imported.unknown, [from.path().join("notes.txt")]);
    assert!(imported.unreadable.is_empty());
    assert_eq!(fs::read(to.models().join("speak/speak.gguf")).unwrap(), GENERATOR);
    let again = import();
    assert_eq!((again.weights.len(), again.weights_here.len()), (0, 2));
}
