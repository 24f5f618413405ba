//! Checks the descriptors, memory and file size that a test needs before it begins: a program that
//! runs out of one half way leaves unfinished work, and its storage seems to have failed.

use std::fs;
use std::path::{Path, PathBuf};

use plan::Plan;
use units::{Bytes, thousands};

use crate::error::HostError;
use crate::system;

/// Folder with the limits of process groups (cgroup v2).
const GROUPS: &str = "/sys/fs/cgroup";

/// Descriptors that a test needs besides those of its databases.
const DESCRIPTORS_OF_THE_PROGRAM: u64 = 48;

/// Planned use of a plan's databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseUse {
    /// They are filled.
    Fill,
    /// They carry the load of a run.
    Load,
    /// They are read once.
    Read,
}

/// Maximum demand of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Demand {
    descriptors: u64,
    memory: Bytes,
    /// Size of the largest file written; `None` if none is.
    file: Option<Bytes>,
}

/// Available resources. `None`: no limit, or an unknown one.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    descriptors: Option<u64>,
    memory: Option<Bytes>,
    file: Option<Bytes>,
}

/// Refuses `work` on the databases of `plan` if the system does not allow the program enough
/// descriptors, memory or file size. Raises the limits on descriptors and file size as far as
/// permitted.
pub fn check(plan: &Plan, work: DatabaseUse) -> Result<(), HostError> {
    let limits = Allowance {
        descriptors: device_os::raise_open_files().ok(),
        memory: free_memory(),
        file: device_os::raise_file_size().ok().map(Bytes),
    };
    let count = plan.databases.len();
    let first = plan.databases.first().map(|of| Path::new(&of.folder).join(&of.file));
    let first = first.map_or_else(|| "a database".to_owned(), |file| file.display().to_string());
    let refused = refusal((count, &first), needs(plan, work), limits);
    refused.map_or(Ok(()), |sentence| Err(HostError::new(sentence)))
}

/// The demand of `work`; the constants were measured with up to 256 databases and rounded up.
fn needs(plan: &Plan, work: DatabaseUse) -> Demand {
    let count = plan.databases.len() as u64;
    let (descriptors, each, program) = match work {
        DatabaseUse::Fill => (4, Bytes::from_mib(9), Bytes::from_mib(20)),
        DatabaseUse::Load => {
            // A cache holds no more than its database, which may grow during the run.
            let pages = plan.cache.maximum.0.min(plan.size.0.saturating_mul(2));
            let each = pages.saturating_add(Bytes::from_mib(12).0);
            (8, Bytes(each), Bytes::from_mib(30))
        }
        DatabaseUse::Read => (8, Bytes::from_mib(12), Bytes::from_mib(30)),
    };
    Demand {
        descriptors: descriptors * count + DESCRIPTORS_OF_THE_PROGRAM,
        memory: Bytes(each.0.saturating_mul(count).saturating_add(program.0)),
        file: match work {
            DatabaseUse::Fill => Some(plan.size),
            DatabaseUse::Load => Some(Bytes(plan.size.0.saturating_mul(2))),
            DatabaseUse::Read => None,
        },
    }
}

/// Returns why `count` databases, the first of which has the file `first`, exceed `limits`, and the
/// remedy.
fn refusal((count, first): (usize, &str), needs: Demand, limits: Allowance) -> Option<String> {
    if let Some(most) = limits.descriptors.filter(|most| *most < needs.descriptors) {
        let (needed, most) = (thousands(needs.descriptors), thousands(most));
        return Some(format!(
            "{count} databases need {needed} open files and the system allows {most}; raise the \
             limit (`ulimit -Hn`, or LimitNOFILE of the service), or lower `count` in the plan"
        ));
    }
    if let Some((file, most)) = needs.file.zip(limits.file).filter(|(file, most)| most < file) {
        return Some(format!(
            "{first} may grow to {file} and the system lets no file of this program grow beyond \
             {most}; raise the limit (`ulimit -Hf`, or LimitFSIZE of the service), or lower `size` \
             in the plan (for `quick`: --size)"
        ));
    }
    let free = limits.memory.filter(|free| *free < needs.memory)?;
    Some(format!(
        "{count} databases need {} of memory and {free} are free; end other programs, raise the \
         memory limit of the container or service, or lower `count` or `cache_maximum` in the plan \
         (for `quick`: --size)",
        needs.memory
    ))
}

/// Returns the memory still available from the machine and every control group around this process.
fn free_memory() -> Option<Bytes> {
    let machine = system::available_memory().map(Bytes);
    let own = group_folder(&fs::read_to_string("/proc/self/cgroup").unwrap_or_default());
    own.ancestors()
        .take_while(|folder| folder.starts_with(GROUPS))
        .filter_map(free_of_folder)
        .chain(machine)
        .min()
}

/// Memory left to the group of this folder.
fn free_of_folder(folder: &Path) -> Option<Bytes> {
    let [maximum, current, statistics] = ["memory.max", "memory.current", "memory.stat"]
        .map(|file| fs::read_to_string(folder.join(file)).ok());
    free_of_group(&maximum?, &current?, &statistics?)
}

/// Returns the folder of the process's group, from `/proc/self/cgroup`; the root group's if it is
/// in none.
fn group_folder(membership: &str) -> PathBuf {
    let own = membership.lines().find_map(|line| line.strip_prefix("0::/"));
    Path::new(GROUPS).join(own.unwrap_or_default())
}

/// Memory left to a group, from the files of its folder. Its file cache counts as free.
fn free_of_group(maximum: &str, current: &str, statistics: &str) -> Option<Bytes> {
    let maximum: u64 = maximum.trim().parse().ok()?; // Or `max`.
    let current: u64 = current.trim().parse().ok()?;
    let cached: u64 = statistics
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(name, _)| ["active_file", "inactive_file"].contains(name))
        .filter_map(|(_, bytes)| bytes.parse::<u64>().ok())
        .sum();
    let taken = current.saturating_sub(cached);
    Some(Bytes(maximum.saturating_sub(taken)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use plan::Plan;
    use units::Bytes;

    use super::{Allowance, DatabaseUse, Demand, free_of_group, group_folder, needs, refusal};

    const UNKNOWN: Allowance = Allowance { descriptors: None, memory: None, file: None };

    fn needs_of(size: &str, work: DatabaseUse) -> Demand {
        let text = format!("[databases]\nfolders = [\"/a\"]\ncount = 10\nsize = \"{size}\"\n");
        needs(&Plan::parse("test", &text).unwrap(), work)
    }

    #[test]
    fn a_load_needs_a_cache_for_each_database_and_a_fill_needs_none() {
        for (size, purpose, descriptors, mib, grows_to_mib) in [
            ("1GiB", DatabaseUse::Fill, 88, 110, Some(1_024)),
            ("1GiB", DatabaseUse::Load, 128, 2_710, Some(2_048)),
            ("16MiB", DatabaseUse::Load, 128, 470, Some(32)),
            ("16MiB", DatabaseUse::Read, 128, 150, None),
        ] {
            let (memory, file) = (Bytes::from_mib(mib), grows_to_mib.map(Bytes::from_mib));
            let expected = Demand { descriptors, memory, file };
            assert_eq!(needs_of(size, purpose), expected);
        }
    }

    #[test]
    fn just_enough_is_enough_and_the_unknown_is_no_limit() {
        let needs = needs_of("1GiB", DatabaseUse::Load);
        assert_eq!(refusal((10, "/a/b.edb"), needs, UNKNOWN), None);
        let mut limits = Allowance {
            descriptors: Some(128),
            memory: Some(Bytes::from_mib(2_710)),
            file: Some(Bytes::from_mib(2_048)),
        };
        assert_eq!(refusal((10, "/a/b.edb"), needs, limits), None);
        limits.memory = Some(Bytes::from_mib(2_709));
        let said = refusal((10, "/a/b.edb"), needs, limits).unwrap();
        assert!(
            said.starts_with("10 databases need 2.65 GiB of memory and 2.65 GiB are free; end")
        );
        limits.file = Some(Bytes::from_mib(2_047));
        let said = refusal((10, "/a/b.edb"), needs, limits).unwrap();
        assert!(said.starts_with("/a/b.edb may grow to 2.00 GiB and"), "{said}");
        limits.descriptors = Some(127);
        let said = refusal((10, "/a/b.edb"), needs, limits).unwrap();
        assert!(said.starts_with("10 databases need 128 open files and the system allows 127;"));
    }

    #[test]
    fn a_group_has_what_its_limit_leaves_and_what_cached_files_give_back() {
        let statistics = "anon 500\nfile 300\nshmem 60\ninactive_file 200\nactive_file 40\n";
        for (maximum, free) in
            [("1000\n", Some(Bytes(440))), ("400\n", Some(Bytes(0))), ("max\n", None)]
        {
            assert_eq!(free_of_group(maximum, "800\n", statistics), free);
        }
    }

    #[test]
    fn the_group_is_that_of_the_second_version() {
        let folder = group_folder("4:memory:/old\n0::/user.slice/a.scope\n");
        assert_eq!(folder, Path::new("/sys/fs/cgroup/user.slice/a.scope"));
        assert_eq!(group_folder(""), Path::new("/sys/fs/cgroup"));
    }
}
