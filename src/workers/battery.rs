//! Power supply: mains or battery.
//!
//! Takes the Linux power supply class (`Documentation/ABI/testing/sysfs-class-power`). Other systems count as mains.

use std::fs;
use std::path::Path;

/// Where Linux has a folder for each power supply.
const SUPPLIES: &str = "/sys/class/power_supply";

/// The power supply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Power {
    /// Mains, or unknown.
    Mains,
    /// A discharging battery.
    Battery,
}

impl Power {
    /// The current power supply.
    pub(super) fn now() -> Self {
        Self::of(Path::new(SUPPLIES))
    }

    fn of(supplies: &Path) -> Self {
        let folders = fs::read_dir(supplies).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_draining = |supply: &Path| {
            let has = |file: &str, value: &str| {
                fs::read_to_string(supply.join(file)).is_ok_and(|text| text.trim().eq_ignore_ascii_case(value))
            };
            // The battery of a mouse or keyboard does not count.
            has("type", "Battery") && has("status", "Discharging") && !has("scope", "Device")
        };
        if folders.into_iter().any(|supply| is_draining(&supply)) { Self::Battery } else { Self::Mains }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(supplies: &[&[(&str, &str)]]) -> Power {
        let folder = tempfile::tempdir().unwrap();
        for (number, files) in supplies.iter().enumerate() {
            let supply = folder.path().join(format!("supply{number}"));
            fs::create_dir(&supply).unwrap();
            for (file, text) in *files {
                fs::write(supply.join(file), format!("{text}\n")).unwrap();
            }
        }
        Power::of(folder.path())
    }

    #[test]
    fn a_battery_that_becomes_empty_is_what_a_machine_runs_on() {
        assert_eq!(of(&[&[("type", "Battery"), ("status", "Discharging")]]), Power::Battery);
        assert_eq!(
            of(&[&[("type", "Mains"), ("online", "1")], &[("type", "Battery"), ("status", "Charging")]]),
            Power::Mains
        );
        assert_eq!(of(&[&[("type", "Battery"), ("status", "Not charging")]]), Power::Mains);
    }

    #[test]
    fn a_machine_without_a_battery_of_its_own_runs_on_mains() {
        assert_eq!(of(&[]), Power::Mains);
        assert_eq!(of(&[&[("type", "Battery"), ("status", "Discharging"), ("scope", "Device")]]), Power::Mains);
        assert_eq!(Power::of(Path::new("/nowhere/at/all")), Power::Mains);
    }
}
