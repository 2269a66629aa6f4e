//! Free memory of the machine and free address space of the process.
//!
//! Takes `/proc` and the control groups of this process on Linux; elsewhere nothing is known.
//! Invariants: of several limits the smallest counts; a model that the address space cannot hold is refused before
//! loading, since a failed allocation at work ends the process.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};

use super::InferenceError;

/// Address space of a thread's stack, in bytes.
const STACK: u64 = 8 << 20;

/// Address space of a thread's allocator arena, in bytes (glibc, `mallopt(3)`).
const ARENA: u64 = 64 << 20;

/// Address space in bytes for everything not counted.
const SPARE: u64 = 128 << 20;

/// Memory needs of a generator, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryNeeds {
    /// The weights.
    pub weights: u64,
    /// The KV cache of the whole context.
    pub state: u64,
    /// The buffers of one call.
    pub work: u64,
}

impl MemoryNeeds {
    /// The sum.
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

/// Formats bytes, as `1.2 GB` or `0.14 GB`.
pub fn gigabytes(bytes: u64) -> String {
    let gigabytes = bytes as f64 / 1e9;
    if gigabytes < 0.995 { format!("{gigabytes:.2} GB") } else { format!("{gigabytes:.1} GB") }
}

/// Bytes usable without taking memory from other programs; none if the system does not report them.
pub fn available_memory() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_meminfo(&text, "MemAvailable"));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups_of(&groups).into_iter().filter_map(|group| group.free(Path::new("/sys/fs/cgroup")));
    machine.into_iter().chain(limits).min()
}

/// Bytes left under the address-space limit (`ulimit -v`); none if there is no limit or the system does not report it.
pub fn address_space_left() -> Option<u64> {
    let limit = getrlimit(Resource::As).current?;
    let used = of_meminfo(&fs::read_to_string("/proc/self/status").ok()?, "VmSize")?;
    Some(limit.saturating_sub(used))
}

/// Address space in bytes for a model: its weights count twice, as file contents and as repacked for computing.
pub fn address_space_of(weights: u64, rest: u64, threads: usize) -> u64 {
    let of_threads = (STACK + ARENA).saturating_mul(threads as u64);
    [weights, weights, rest, of_threads, SPARE].into_iter().fold(0, u64::saturating_add)
}

/// Refuses a model that needs more address space than is left.
pub fn check_address_space(model: &str, needed: u64) -> Result<(), InferenceError> {
    match address_space_left() {
        Some(left) if left < needed => Err(InferenceError::OutOfAddressSpace { model: model.to_owned(), needed, left }),
        _ => Ok(()),
    }
}

/// Resident memory of this process in bytes; none if the system does not report it.
pub fn resident_memory() -> Option<u64> {
    of_meminfo(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS")
}

/// Total memory of the machine in bytes; none if the system does not report it.
pub fn machine_memory() -> Option<u64> {
    of_meminfo(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal")
}

fn of_meminfo(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The naming of a control group's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Version 2: all controllers in one tree.
    Unified,
    /// Version 1: a tree for memory alone.
    Separate,
}

/// A control group; its ancestors' limits count too.
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
    /// Free bytes under the smallest limit of the group and its ancestors.
    fn free(&self, root: &Path) -> Option<u64> {
        let root = match self.names {
            Names::Unified => root.to_owned(),
            Names::Separate => root.join("memory"),
        };
        self.path.ancestors().filter_map(|path| self.free_in(&root.join(path))).min()
    }

    fn free_in(&self, folder: &Path) -> Option<u64> {
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
        // Page cache is given back on demand.
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
    fn a_model_that_the_address_space_cannot_hold_is_refused_with_the_limit_to_raise() {
        let gigabyte = 1 << 30;
        assert!(address_space_of(gigabyte, 100, 4) > 2 * gigabyte + 4 * (STACK + ARENA) + 100);
        assert_eq!(address_space_of(u64::MAX, 1, 1), u64::MAX);
        let short = InferenceError::OutOfAddressSpace { model: "m".into(), needed: 3 * gigabyte, left: gigabyte / 2 };
        let said = short.to_string();
        assert!(said.contains("3.2 GB") && said.contains("0.54 GB") && said.contains("ulimit -v"), "{said}");
        assert!(short.is_for_want_of_memory());
        if address_space_left().is_none() {
            assert!(check_address_space("m", u64::MAX).is_ok(), "there is no limit");
        }
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
        assert_eq!(group.free(root.path()), Some(500));
        let other = Group { names: Names::Separate, path: PathBuf::from("a/b") };
        assert_eq!(other.free(root.path()), None);
    }

    #[test]
    fn what_is_left_is_less_than_all() {
        if let (Some(left), Some(all)) = (available_memory(), machine_memory()) {
            assert!(left <= all, "{left} of {all}");
        }
    }
}
