//! HTTP: a GET that resumes, and small pages.
//!
//! Takes an address and a file that may hold the start of its body, gives the complete file.
//! Invariants: never more bytes than allowed; three attempts without a byte end it; between attempts the user can
//! cancel.
//! Not here: the meaning of the bytes (`fetch`, `wheel`).

use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Timeout};

use super::progress::Meter;
use super::{DownloadError, Endpoints, disk};
use ragonite_base::CancelToken;

/// Consecutive attempts without a byte before a source is given up.
const ATTEMPTS: u32 = 3;
/// Pause after the first failed attempt; doubled after each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Interval of checks for cancellation during a pause.
const CANCEL_INTERVAL: Duration = Duration::from_millis(50);
/// Connections normally take far less; a firewall that drops packets must not delay the next source.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(8);
/// Silence after which a connection counts as broken.
const SILENCE: Duration = Duration::from_secs(30);
/// Largest page of the package index that is read.
const LARGEST_PAGE: u64 = 32 << 20;
/// Bytes between two checks for cancellation.
const BLOCK: usize = 128 << 10;

/// A file to be transferred.
pub(super) struct Transfer<'a> {
    pub(super) url: &'a str,
    /// The file to complete; its beginning may exist already.
    pub(super) part: &'a Path,
    /// Size of the body, if known; more is never written.
    pub(super) bytes: Option<u64>,
    /// Bytes of the wanted file that are on disk elsewhere, for the progress.
    pub(super) before: u64,
    /// Bytes to transfer for the wanted file, for the progress.
    pub(super) total: Option<u64>,
}

/// An HTTP client with the system's trust roots.
pub(super) struct Client {
    agent: Agent,
}

impl Client {
    pub(super) fn new(endpoints: &Endpoints) -> Result<Self, DownloadError> {
        let roots = [&endpoints.hub, &endpoints.index];
        let secure = roots.iter().filter(|url| url.starts_with("https://")).count();
        let mut config = Agent::config_builder()
            .https_only(secure == roots.len())
            // The bytes are counted and resumed, so they must come uncompressed.
            .accept_encoding("identity")
            .user_agent(concat!("ragonite/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            .timeout_resolve(Some(CONNECT_TIMEOUT))
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_recv_response(Some(SILENCE))
            .timeout_per_read(Some(SILENCE));
        if secure > 0 {
            config = config.tls_config(TlsConfig::builder().root_certs(system_roots()?).build());
        }
        Ok(Self { agent: config.build().new_agent() })
    }

    /// Fetches a small page as text; `accept` is its media type.
    pub(super) fn page(&self, url: &str, accept: &str, cancel: &CancelToken) -> Result<String, DownloadError> {
        let mut failures = 0;
        loop {
            cancel.check()?;
            match self.page_once(url, accept) {
                Err(error) if passes(&error) && failures + 1 < ATTEMPTS => {
                    pause(failures, cancel)?;
                    failures += 1;
                }
                result => return result,
            }
        }
    }

    fn page_once(&self, url: &str, accept: &str) -> Result<String, DownloadError> {
        let mut response =
            self.agent.get(url).header("Accept", accept).call().map_err(|source| refused(url, source))?;
        let status = response.status().as_u16();
        if status != 200 {
            return Err(DownloadError::Status { url: shown(url), status });
        }
        let body = response.body_mut().with_config().limit(LARGEST_PAGE).read_to_string();
        body.map_err(|source| refused(url, source))
    }

    /// Completes `transfer.part`, resuming after its present bytes.
    pub(super) fn transfer(
        &self,
        transfer: &Transfer<'_>,
        meter: &mut Meter<'_>,
        cancel: &CancelToken,
    ) -> Result<(), DownloadError> {
        let mut failures = 0;
        loop {
            cancel.check()?;
            let before = disk::size(transfer.part);
            if transfer.bytes.is_some_and(|bytes| bytes == before) {
                return Ok(());
            }
            match self.transfer_once(transfer, meter, cancel) {
                Err(error) if passes(&error) => {
                    failures = if disk::size(transfer.part) > before { 0 } else { failures + 1 };
                    if failures == ATTEMPTS {
                        return Err(error);
                    }
                    tracing::info!(%error, failures, "a transfer broke off and is taken up again");
                    pause(failures, cancel)?;
                }
                result => return result,
            }
        }
    }

    fn transfer_once(
        &self,
        transfer: &Transfer<'_>,
        meter: &mut Meter<'_>,
        cancel: &CancelToken,
    ) -> Result<(), DownloadError> {
        let url = transfer.url;
        let mut have = disk::size(transfer.part);
        if transfer.bytes.is_some_and(|bytes| have > bytes) {
            have = 0;
        }
        let mut request = self.agent.get(url);
        if have > 0 {
            request = request.header("Range", format!("bytes={have}-"));
        }
        let response = request.call().map_err(|source| refused(url, source))?;
        let (start, total) = match response.status().as_u16() {
            200 => (0, response.body().content_length()),
            206 => {
                let range = response.headers().get("Content-Range").and_then(|value| value.to_str().ok());
                range.and_then(content_range).filter(|(start, _)| *start == have).unwrap_or((u64::MAX, None))
            }
            // The part is as long as the body or longer; the hash decides.
            416 if transfer.bytes.is_none() => return Ok(()),
            416 => {
                disk::remove(transfer.part);
                return Err(DownloadError::Status { url: shown(url), status: 416 });
            }
            status => return Err(DownloadError::Status { url: shown(url), status }),
        };
        if start == u64::MAX {
            // An unrequested range cannot be appended: begin again.
            disk::remove(transfer.part);
            return Err(DownloadError::Status { url: shown(url), status: 206 });
        }
        let limit = transfer.bytes.or(total);
        if let (Some(expected), Some(found)) = (transfer.bytes, total)
            && expected != found
        {
            return Err(DownloadError::WrongSize { url: shown(url), expected, found });
        }
        if let Some(limit) = limit {
            disk::check_room(transfer.part, limit.saturating_sub(start))?;
        }
        let body = response.into_body().into_with_config().limit(u64::MAX).reader();
        Copy { transfer, start, limit, meter, cancel }.run(body)
    }
}

/// Copies the body of one response to the disk.
struct Copy<'a, 'm> {
    transfer: &'a Transfer<'a>,
    start: u64,
    limit: Option<u64>,
    meter: &'a mut Meter<'m>,
    cancel: &'a CancelToken,
}

impl Copy<'_, '_> {
    fn run(self, mut body: impl Read) -> Result<(), DownloadError> {
        let Transfer { url, part, before, total, .. } = *self.transfer;
        let mut file = disk::open_after(part, self.start)?;
        let mut done = self.start;
        let mut buffer = vec![0; BLOCK];
        loop {
            self.cancel.check()?;
            let read = match body.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(source) => return Err(DownloadError::Transfer { url: shown(url), source: source.into() }),
            };
            done += read as u64;
            if let Some(expected) = self.limit.filter(|limit| done > *limit) {
                return Err(DownloadError::WrongSize { url: shown(url), expected, found: done });
            }
            file.write_all(&buffer[..read]).map_err(|source| disk::write_failed(part, source))?;
            self.meter.received(read, before + done, total.or(self.limit));
        }
        if let Some(limit) = self.limit.filter(|limit| done < *limit) {
            let short = format!("the connection ended after {done} of {limit} bytes");
            return Err(DownloadError::Transfer { url: shown(url), source: short.into() });
        }
        file.sync_all().map_err(|source| disk::write_failed(part, source))
    }
}

/// The system's trust roots; `SSL_CERT_FILE` and `SSL_CERT_DIR` are honoured.
fn system_roots() -> Result<RootCerts, DownloadError> {
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "a root certificate could not be read");
    }
    if found.certs.is_empty() {
        return Err(DownloadError::NoRoots);
    }
    Ok(found.certs.iter().map(|cert| Certificate::from_der(cert.as_ref()).to_owned()).into())
}

/// Start and total of a `Content-Range: bytes START-END/TOTAL`.
fn content_range(value: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = value.strip_prefix("bytes ")?.split_once('/')?;
    let start = range.split_once('-')?.0.trim().parse().ok()?;
    Some((start, total.trim().parse().ok()))
}

/// Whether a retry may succeed.
fn passes(error: &DownloadError) -> bool {
    match error {
        DownloadError::Transfer { .. } => true,
        DownloadError::Status { status, .. } => matches!(status, 206 | 408 | 425 | 429 | 500 | 502 | 503 | 504),
        _ => false,
    }
}

fn refused(url: &str, source: ureq::Error) -> DownloadError {
    use std::io::ErrorKind;
    let unreachable = match &source {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => true,
        ureq::Error::Timeout(which) => matches!(which, Timeout::Resolve | Timeout::Connect),
        ureq::Error::Io(error) => match error.kind() {
            ErrorKind::ConnectionRefused | ErrorKind::NetworkUnreachable | ErrorKind::HostUnreachable => true,
            // std's resolver has no error kind for an unknown name.
            _ => error.to_string().contains("lookup address"),
        },
        _ => false,
    };
    if unreachable {
        DownloadError::Unreachable { host: host(url), source: Box::new(source) }
    } else {
        DownloadError::Transfer { url: shown(url), source: Box::new(source) }
    }
}

/// Waits before the next attempt, unless the user cancels.
fn pause(failures: u32, cancel: &CancelToken) -> Result<(), DownloadError> {
    let until = Instant::now() + FIRST_PAUSE * 2_u32.pow(failures.min(6));
    // Nobody sends: the channel is an interruptible timer.
    let (_open, clock) = mpsc::channel::<()>();
    while Instant::now() < until {
        cancel.check()?;
        let _elapsed = clock.recv_timeout(CANCEL_INTERVAL);
    }
    Ok(())
}

/// A URL to show, without credentials.
pub(super) fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

pub(super) fn host(url: &str) -> String {
    let shown = shown(url);
    let rest = shown.split_once("://").map_or(shown.as_str(), |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_found_is_not_tried_again() {
        let not_found = "failed to lookup address information: Name or service not known";
        let error = refused("https://host/x", ureq::Error::Io(std::io::Error::other(not_found)));
        assert!(matches!(&error, DownloadError::Unreachable { host, .. } if host == "host"), "{error:?}");
        assert!(!passes(&error));
        let broken = refused("https://host/x", ureq::Error::Io(std::io::ErrorKind::ConnectionReset.into()));
        assert!(passes(&broken), "{broken:?}");
    }

    #[test]
    fn a_range_is_read_with_and_without_its_total() {
        assert_eq!(content_range("bytes 5-9/10"), Some((5, Some(10))));
        assert_eq!(content_range("bytes 5-9/*"), Some((5, None)));
        assert_eq!(content_range("items 5-9/10"), None);
        assert_eq!(content_range("bytes */10"), None);
    }
}
