//! File -> [`Config`]; what a domain changes of it; where things lie; which profile runs.
//!
//! Takes the command line's choices, `config.toml` and the environment; gives settings that are complete and checked.
//! Invariants: `config.toml.example` equals the defaults; an unknown key is an error that names the nearest known one;
//! the program never writes a configuration file, only the settings a domain has of its own. This is the only room that
//! reads the environment.
//! Not here: what the settings mean (each room documents its own).

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
pub use setting::{Group, Refused, Setting, Takes, Way};
