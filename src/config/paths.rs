//! Paths on disk: data, models, caches; and the variables of the environment that name them.

use std::env;
use std::path::{Path, PathBuf};

use directories::ProjectDirs;

use super::ConfigError;
use ragonite_base::DomainName;

/// Variable that names the data folder.
const HOME_VARIABLE: &str = "RAGONITE_HOME";
/// Variable that names a folder with weights.
const MODELS_VARIABLE: &str = "RAGONITE_MODELS";

/// The folders of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// Domains, history and log.
    pub data: PathBuf,
    /// Folders with weights, in the order they are searched.
    pub models: Vec<PathBuf>,
}

impl Paths {
    /// Folders from the command line, then the file, then the environment, then the platform.
    ///
    /// # Errors
    /// When nothing names a data folder.
    pub fn find(data: Option<&Path>, models: Option<&Path>) -> Result<Self, ConfigError> {
        let platform = ProjectDirs::from("", "", "ragonite").map(|dirs| dirs.data_dir().to_owned());
        let data = data
            .map(Path::to_owned)
            .or_else(|| variable(HOME_VARIABLE))
            .or_else(|| platform.clone())
            .ok_or(ConfigError::NoDataFolder)?;
        let checkout = PathBuf::from("models");
        let mut folders: Vec<PathBuf> = models.map(Path::to_owned).into_iter().collect();
        folders.extend(variable(MODELS_VARIABLE));
        folders.push(data.join("models"));
        folders.extend(platform.map(|folder| folder.join("models")));
        if checkout.join("catalog.toml").is_file() {
            folders.push(checkout);
        }
        let mut seen = Vec::new();
        folders.retain(|folder| {
            !seen.contains(folder) && {
                seen.push(folder.clone());
                true
            }
        });
        Ok(Self { data, models: folders })
    }

    /// The platform's configuration file, whether or not it exists.
    pub fn config_file() -> Option<PathBuf> {
        ProjectDirs::from("", "", "ragonite").map(|dirs| dirs.config_dir().join("config.toml"))
    }

    /// The history.
    pub fn history(&self) -> PathBuf {
        self.data.join("history.db")
    }

    /// Folder of all domains.
    pub fn domains(&self) -> PathBuf {
        self.data.join("domains")
    }

    /// Folder of a domain.
    pub fn domain(&self, name: &DomainName) -> PathBuf {
        self.domains().join(name.as_str())
    }

    /// Folder of the domains that `eval` makes of benchmarks.
    pub fn benchmarks(&self) -> PathBuf {
        self.data.join("benchmarks")
    }

    /// Results of `eval`, for resuming.
    pub fn results(&self) -> PathBuf {
        self.benchmarks().join("results")
    }

    /// The log while the screen is in use.
    pub fn log(&self) -> PathBuf {
        self.data.join("ragonite.log")
    }

    /// Folder of the prefix cache; it can be deleted at any time.
    pub fn prefix_cache(&self) -> PathBuf {
        self.data.join("cache").join("prompts")
    }

    /// Which weights have been checked, if that cannot be noted beside them.
    pub fn stamps(&self) -> PathBuf {
        self.data.join("model-stamps")
    }

    /// Folder for new weights: the first of the search, created on demand.
    pub fn models_to_write(&self) -> &Path {
        self.models.first().map_or(&self.data, PathBuf::as_path)
    }
}

/// A variable that is set and not empty.
pub(super) fn variable(name: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "this room is where the environment is read")]
    let value = env::var_os(name);
    value.filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Whether a variable is set and not empty.
pub fn is_set(name: &str) -> bool {
    variable(name).is_some()
}

/// A typed path: `~` is the home folder.
pub fn typed_path(text: &str) -> PathBuf {
    let text = text.trim();
    let home = || variable("HOME");
    match (text.strip_prefix("~/"), home()) {
        (Some(rest), Some(home)) => home.join(rest),
        (None, Some(home)) if text == "~" => home,
        _ => PathBuf::from(text),
    }
}

/// The program that shows long texts on a terminal, as `$PAGER` names it.
pub fn pager() -> Option<String> {
    variable_text("PAGER").filter(|pager| !pager.trim().is_empty())
}

/// The text of a variable of the environment.
pub fn variable_text(name: &str) -> Option<String> {
    variable(name).and_then(|value| value.into_os_string().into_string().ok())
}

/// How a text is copied in this session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Desktop {
    /// A Wayland session.
    Wayland,
    /// An X11 session.
    X11,
    /// macOS.
    Mac,
    /// No desktop, or one on the other end of SSH, behind tmux. By default tmux ignores a copied text in a program's
    /// output, but takes it from its own command and hands it to the terminal (tmux(1), `set-clipboard`).
    Tmux,
    /// No desktop, or one on the other end of SSH.
    None,
}

/// The desktop of this session.
pub fn desktop() -> Desktop {
    desktop_by(|name| variable(name).is_some())
}

fn desktop_by(is_set: impl Fn(&str) -> bool) -> Desktop {
    let is_here = !is_set("SSH_CONNECTION") && !is_set("SSH_TTY");
    if is_here && cfg!(target_os = "macos") {
        Desktop::Mac
    } else if is_here && is_set("WAYLAND_DISPLAY") {
        Desktop::Wayland
    } else if is_here && is_set("DISPLAY") {
        Desktop::X11
    } else if is_set("TMUX") {
        Desktop::Tmux
    } else {
        Desktop::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_the_command_line_is_searched_first_and_none_twice() {
        let paths = Paths::find(Some(Path::new("d")), Some(Path::new("d/models"))).unwrap();
        assert_eq!(paths.models[0], Path::new("d/models"));
        assert_eq!(paths.models.iter().filter(|folder| *folder == Path::new("d/models")).count(), 1);
        assert_eq!(paths.history(), Path::new("d/history.db"));
    }

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn a_desktop_copies_where_it_is_here_and_tmux_where_it_is_not() {
        let of = |set: &[&str]| desktop_by(|name| set.contains(&name));
        assert_eq!(of(&["TMUX", "DISPLAY", "WAYLAND_DISPLAY"]), Desktop::Wayland);
        assert_eq!(of(&["TMUX", "DISPLAY"]), Desktop::X11);
        assert_eq!(of(&["TMUX", "DISPLAY", "SSH_TTY"]), Desktop::Tmux);
        assert_eq!(of(&["DISPLAY", "SSH_CONNECTION"]), Desktop::None);
        assert_eq!(of(&[]), Desktop::None);
    }
}
