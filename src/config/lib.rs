//! The configuration: [`Config`], overrides of domains, paths, and the profile.
//!
//! Takes the command line, `config.toml` and the environment; gives complete and checked settings.
//! Invariants: `config.toml.example` has the defaults; an unknown key is an error with the nearest known key; the
//! program never writes a configuration file, only the overrides of a domain. Only this crate reads the environment.
//! Not here: the meaning of settings (each crate documents its own).

mod error;
mod file;
mod overrides;
mod overrides_file;
mod paths;
mod profile;
mod program;
mod screen;
mod setting;
mod setting_value;

pub use error::ConfigError;
pub use file::{Config, EXAMPLE, Generation};
pub use overrides::{Edit, SettingsOverride};
pub use overrides_file::{ChangesError, StoredChanges, edit_changes, read_changes, write_changes};
pub use paths::{Desktop, Paths, desktop, is_set, pager, typed_path, variable_text};
pub use profile::{ChosenProfile, GpuFit, GpuUnavailable, ProfileReason, Weights, choose_profile, choose_profile_for};
pub use program::{built_for, command_line, program_path, program_stamp, typed_arguments};
pub use screen::{
    Background, Borders, Colours, Letters, Mouse, ScreenLanguage, ScreenSettings, TerminalTraits, ThemeName,
    locale_language, terminal_traits,
};
pub use setting::{Group, Refused, Setting, SettingChange, Takes, Way};
