//! What can be wrong with the configuration.

use std::io;
use std::path::PathBuf;

use ragonite_inference::InferenceError;
use ragonite_rag::attribution::SettingError;

/// Why there is no configuration to run with.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file named on the command line, or the platform's, could not be read.
    #[error("reading the configuration file `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is no TOML, or has a key or value that means nothing.
    #[error("the configuration file `{path}` is wrong{hint}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// `, did you mean …?`, `, … belongs under …`, or empty.
        hint: String,
        /// Where and what.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// A value that no setting can have.
    #[error("`{key}` is set to {found}, but must be {needed}")]
    Value {
        /// Full name of the key.
        key: &'static str,
        /// What the file says.
        found: String,
        /// What would do.
        needed: &'static str,
    },
    /// A value that attribution cannot compute with.
    #[error(transparent)]
    Attribution(#[from] SettingError),
    /// The platform names no folder for data and none was given.
    #[error("no folder for data: neither `--data-dir` nor $RAGONITE_HOME is set and the platform names none")]
    NoDataFolder,
    /// The catalog lacks the profile or one of its models.
    #[error(transparent)]
    Profile(#[from] InferenceError),
}
