//! One file to carry to a machine without network: the program, weights and domains, each with its hash.
//!
//! A bundle is a tar archive of plain files in one folder, so that the program in it can be taken out with `tar`. Its
//! manifest comes first and names every other file with size and sha256. Conversations are never in it.
//! Takes paths on this machine, gives a bundle; takes a bundle, gives weights and domains in their folders. Weights that
//! somebody has in some folder are taken in by their sha256 as well.
//! Invariants: nothing is where it will be used before all of it was compared with its hash; what is there already is
//! never overwritten unless that is asked for; names in a bundle cannot lead out of the folders; of what is cancelled or
//! fails on the way nothing is left but weights that are whole. A kill leaves hidden files besides (`.bundle-…`,
//! `.import-…`, `.ragonite-bundle-…`), which nothing reads.
//! Not here: fetching weights (`download`), copying a database (`index`), where the folders are (`config`).

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
