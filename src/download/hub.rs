//! Addresses on the model hub.

use hf_hub::{Repo, RepoType};

use super::Endpoints;

/// The address of one file at one pinned revision.
pub(super) fn file_url(endpoints: &Endpoints, repo: &str, revision: &str, file: &str) -> String {
    let repo = Repo::with_revision(repo.to_owned(), RepoType::Model, revision.to_owned());
    let root = endpoints.hub.trim_end_matches('/');
    format!("{root}/{}/resolve/{}/{file}", repo.url(), repo.url_revision())
}
