//! How much memory the machine has left.
//!
//! Takes what Linux says under `/proc` and in the control groups of this process; elsewhere nothing is known.
//! Invariant: where there are several limits, the narrowest counts.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes a generator takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryNeeds {
    /// The weights.
    pub weights: u64,
    /// The state of the tokens that were read: all that the context can hold.
    pub state: u64,
    /// What one call works in.
    pub work: u64,
}

impl MemoryNeeds {
    /// All of it.
    pub fn total(&self) -> u64 {
        self.weights.saturating_add(self.state).saturating_add(self.work)
    }
}

impl fmt::Display for MemoryNeeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [total, weights, state, work] = [self.total(), self.weights, self.state, self.work].map(gigabytes);
        write!(f, "{total} of memory (weights {weights}, context {state}, computing {work})")
    }
}

/// `1.2 GB`, `0.14 GB`.
pub fn gigabytes(bytes: u64) -> String {
    let gigabytes = bytes as f64 / 1e9;
    if gigabytes < 0.995 { format!("{gigabytes:.2} GB") } else { format!("{gigabytes:.1} GB") }
}

/// Bytes that can be used without taking them from other programs; none where the system does not say.
pub fn available_memory() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_meminfo(&text, "MemAvailable"));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let rooms = groups_of(&groups).into_iter().filter_map(|group| group.room(Path::new("/sys/fs/cgroup")));
    machine.into_iter().chain(rooms).min()
}

/// Bytes of all memory of the machine; none where the system does not say.
pub fn machine_memory() -> Option<u64> {
    of_meminfo(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal")
}

fn of_meminfo(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// How the files of a control group are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    /// All controllers in one tree.
    Unified,
    /// A tree for memory alone.
    Separate,
}

/// A control group and those above it.
#[derive(Debug, PartialEq, Eq)]
struct Group {
    names: Names,
    path: PathBuf,
}

/// The groups in `/proc/self/cgroup` that can limit memory.
fn groups_of(text: &str) -> Vec<Group> {
    let group = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let names = match controllers {
            "" => Names::Unified,
            all if all.split(',').any(|one| one == "memory") => Names::Separate,
            _ => return None,
        };
        Some(Group { names, path: PathBuf::from(path.trim_start_matches('/')) })
    };
    text.lines().filter_map(group).collect()
}

impl Group {
    /// Bytes left under the narrowest limit of the group and those above it.
    fn room(&self, root: &Path) -> Option<u64> {
        let root = match self.names {
            Names::Unified => root.to_owned(),
            Names::Separate => root.join("memory"),
        };
        self.path.ancestors().filter_map(|path| self.room_in(&root.join(path))).min()
    }

    fn room_in(&self, folder: &Path) -> Option<u64> {
        let (limit, used, cached) = match self.names {
            Names::Unified => ("memory.max", "memory.current", ["inactive_file", "active_file"]),
            Names::Separate => {
                ("memory.limit_in_bytes", "memory.usage_in_bytes", ["total_inactive_file", "total_active_file"])
            }
        };
        let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
        let limit: u64 = read(limit)?.trim().parse().ok()?;
        let used: u64 = read(used)?.trim().parse().ok()?;
        let stat = read("memory.stat").unwrap_or_default();
        // Pages of files are given back when memory is asked for.
        let cached: u64 = cached.iter().filter_map(|name| of_stat(&stat, name)).sum();
        Some(limit.saturating_sub(used.saturating_sub(cached)))
    }
}

fn of_stat(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_bytes() {
        let text = "MemTotal:       24683848 kB\nMemFree:         1000 kB\nMemAvailable:   22887000 kB\n";
        assert_eq!(of_meminfo(text, "MemAvailable"), Some(22_887_000 * 1024));
        assert_eq!(of_meminfo(text, "MemTotal"), Some(24_683_848 * 1024));
        assert_eq!(of_meminfo(text, "Mem"), None);
    }

    #[test]
    fn only_groups_that_limit_memory_count() {
        let text = "9:name=systemd:/\n4:cpu,memory:/jobs/one\n3:cpuset:/\n0::/user.slice\n";
        let expected = [(Names::Separate, "jobs/one"), (Names::Unified, "user.slice")];
        let expected = expected.map(|(names, path)| Group { names, path: PathBuf::from(path) });
        assert_eq!(groups_of(text), expected);
    }

    #[test]
    fn the_narrowest_group_counts_and_pages_of_files_are_free() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        let write = |folder: &Path, name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        write(&inner, "memory.max", "max\n");
        write(&inner, "memory.current", "700\n");
        let outer = root.path().join("a");
        write(&outer, "memory.max", "1000\n");
        write(&outer, "memory.current", "800\n");
        write(&outer, "memory.stat", "anon 500\ninactive_file 200\nactive_file 100\n");
        let group = Group { names: Names::Unified, path: PathBuf::from("a/b") };
        assert_eq!(group.room(root.path()), Some(500));
        let other = Group { names: Names::Separate, path: PathBuf::from("a/b") };
        assert_eq!(other.room(root.path()), None);
    }

    #[test]
    fn what_is_left_is_less_than_all() {
        if let (Some(left), Some(all)) = (available_memory(), machine_memory()) {
            assert!(left <= all, "{left} of {all}");
        }
    }
}
