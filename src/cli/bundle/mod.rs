//! A bundle: one file with the program, weights and domains for a machine without network.
//!
//! A bundle is a tar archive of plain files in one folder, so that `tar` can extract the program. Its manifest comes
//! first and lists every other file with size and sha256. A bundle never has conversations.
//! Takes files of this machine, gives a bundle; takes a bundle, gives weights and domains. Also imports weights from
//! other folders, identified by sha256.
//! Invariants: a file is installed only after its hash was checked; existing files are overwritten only on request;
//! paths cannot leave the target folders; a cancelled or failed run leaves only complete weights. A kill may also
//! leave hidden files (`.bundle-…`, `.import-…`, `.ragonite-bundle-…`), which nothing reads.
//! Not here: fetching weights (`download`), copying a database (`index`), the folders (`config`).

mod copying;
mod error;
mod import;
mod install;
mod manifest;
mod pack;
#[cfg(test)]
mod tests;

pub use copying::{BundleProgress, Doing, OnBundleProgress};
pub use error::BundleError;
pub use import::{Imported, import_weights};
pub use install::{InstallTo, Installed, LeftOut, Replace, install};
pub use manifest::{Manifest, PackedDomain, PackedModel};
pub use pack::{Contents, DomainSource, Packed, ProgramFile, pack};
