//! Errors of the configuration.

use std::io;
use std::path::PathBuf;

use ragonite_inference::InferenceError;
use ragonite_rag::attribution::SettingError;

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The configuration file could not be read.
    #[error("reading the configuration file `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The file is no TOML, or has an unknown key or value.
    #[error("the configuration file `{path}` is wrong{hint}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// `, did you mean …?`, `, … belongs under …`, or empty.
        hint: String,
        /// Position and cause.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// A value that the setting cannot have.
    #[error("`{key}` is set to {found}, but must be {needed}")]
    Value {
        /// Full name of the key.
        key: &'static str,
        /// The value in the file.
        found: String,
        /// Description of valid values.
        needed: &'static str,
    },
    /// A setting of attribution is out of range.
    #[error(transparent)]
    Attribution(#[from] SettingError),
    /// There is no data folder: none was given and the platform names none.
    #[error("no folder for data: neither `--data-dir` nor $RAGONITE_HOME is set and the platform names none")]
    NoDataFolder,
    /// The catalog lacks the profile or one of its models.
    #[error(transparent)]
    Profile(#[from] InferenceError),
}
