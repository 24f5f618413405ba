//! Quotas of file systems (quotactl(2)) and the limit on file sizes (setrlimit(2)): a volume with
//! free space may still refuse a write of this process.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::super::sys::{self, Quota, QuotaKind};
use crate::probe::SpaceLimit;

/// File systems whose quotas `quotactl_fd` fully covers: no answer means no quota.
const ANSWERING: [&str; 6] = ["ext2", "ext3", "ext4", "xfs", "f2fs", "jfs"];

/// The limits of this process on the folder or file `file`.
pub(super) fn limits(file: &File, file_system: &str) -> Vec<SpaceLimit> {
    let mut limits: Vec<SpaceLimit> =
        sys::file_size_limit().ok().flatten().map(SpaceLimit::FileSize).into_iter().collect();
    limits.extend(of_owners(&owners(file), file_system, &|kind, id| sys::quota(file, kind, id)));
    limits
}

/// Bytes left by the tightest quota; `None` if none applies to this process. The superuser may
/// exceed any quota except those of XFS.
pub(super) fn left(file: &File, path: &Path) -> Option<u64> {
    let table = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let path = fs::canonicalize(path).ok()?;
    let file_system = super::mount_of(&table, &path)?.file_system;
    let (user, _) = sys::identity();
    if user == 0 && file_system != "xfs" {
        return None;
    }
    limits(file, &file_system).iter().filter_map(SpaceLimit::left_bytes).min()
}

/// The owners with relevant quotas: this user, its group, and the project of the folder if it has
/// one.
fn owners(file: &File) -> Vec<(QuotaKind, u32)> {
    let (user, group) = sys::identity();
    let project = sys::project(file).ok().filter(|id| *id > 0);
    let mut owners = vec![(QuotaKind::User, user), (QuotaKind::Group, group)];
    owners.extend(project.map(|id| (QuotaKind::Project, id)));
    owners
}

/// The quotas of `owners`, as `ask` answers.
fn of_owners(
    owners: &[(QuotaKind, u32)],
    file_system: &str,
    ask: &dyn Fn(QuotaKind, u32) -> io::Result<Quota>,
) -> Vec<SpaceLimit> {
    let mut limits = Vec::new();
    for &(kind, id) in owners {
        let owner = format!("{} {id}", kind.name());
        match ask(kind, id) {
            Ok(quota) => limits.extend(of_quota(owner, quota)),
            // Quotas of this kind are off.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
                if !ANSWERING.contains(&file_system) {
                    let what = "a quota".to_owned();
                    limits.push(SpaceLimit::Unread { what, why: silence(file_system) });
                    return limits;
                }
            }
            Err(error) => limits.push(SpaceLimit::Unread {
                what: format!("a quota of {owner}"),
                why: error.to_string(),
            }),
        }
    }
    limits
}

fn silence(file_system: &str) -> String {
    match file_system {
        "btrfs" => "btrfs keeps its own (`btrfs qgroup show`)".to_owned(),
        _ => format!("{file_system} does not report any, nor does a kernel before 5.14"),
    }
}

/// `None` if the owner has no limit.
fn of_quota(owner: String, quota: Quota) -> Option<SpaceLimit> {
    let most_bytes = [quota.hard_bytes, quota.soft_bytes].into_iter().find(|bytes| *bytes > 0)?;
    Some(SpaceLimit::Quota { owner, most_bytes, used_bytes: quota.used_bytes })
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{Quota, QuotaKind, of_owners};

    const OWNERS: [(QuotaKind, u32); 3] =
        [(QuotaKind::User, 1000), (QuotaKind::Group, 8), (QuotaKind::Project, 42)];

    fn told(file_system: &str, ask: &dyn Fn(QuotaKind) -> io::Result<Quota>) -> Vec<String> {
        let limits = of_owners(&OWNERS, file_system, &|kind, _| ask(kind));
        limits.iter().map(ToString::to_string).collect()
    }

    const fn quota(soft_bytes: u64, hard_bytes: u64, used_bytes: u64) -> Quota {
        Quota { soft_bytes, hard_bytes, used_bytes }
    }

    #[test]
    fn each_owner_has_a_quota_and_zero_is_none() {
        let asked = told("ext4", &|kind| {
            Ok(match kind {
                QuotaKind::User => quota(1 << 20, 2 << 20, 4096),
                QuotaKind::Group => quota(0, 0, 1 << 30),
                QuotaKind::Project => quota(3 << 30, 0, 4 << 30),
            })
        });
        assert_eq!(
            asked,
            [
                "the quota of user 1000 allows 2.0 MiB, and 4.0 KiB of them are in use",
                "the quota of project 42 allows 3.00 GiB, and 4.00 GiB of them are in use",
            ]
        );
    }

    #[test]
    fn what_cannot_be_asked_is_named_and_what_is_off_is_none() {
        let failing = |code| move |_| Err(io::Error::from_raw_os_error(code));
        assert!(told("ext4", &failing(libc::ESRCH)).is_empty());
        assert!(told("xfs", &failing(libc::ENOSYS)).is_empty());
        let unknown = told("nfs4", &failing(libc::ENOSYS));
        assert_eq!(
            unknown,
            ["a quota cannot be read: nfs4 does not report any, nor does a kernel before 5.14"]
        );
        let kept = told("btrfs", &failing(libc::ENOSYS));
        assert_eq!(kept, ["a quota cannot be read: btrfs keeps its own (`btrfs qgroup show`)"]);
        let refused = told("ext4", &failing(libc::EPERM));
        assert_eq!(refused.len(), 3, "{refused:?}");
        assert!(refused[0].starts_with("a quota of user 1000 cannot be read: "), "{refused:?}");
    }
}
