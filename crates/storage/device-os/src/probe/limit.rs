//! Limits that the system sets for this process and not for the storage: on requests, on the size
//! of files, on space.

use std::fmt;

use units::{Bytes, thousands};

/// Limit of a control group on a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoLimit {
    /// The group, as the system names it.
    pub group: String,
    /// The disk by its numbers, such as `8:0`.
    pub device: String,
    /// The limited quantity, in the words of `io.max`: `rbps`, `wbps`, `riops`, `wiops` or another.
    pub what: String,
    /// The limit per second; `None` if it is not a number.
    pub per_second: Option<u64>,
    /// Why `what`, here a file of the group, could not be read; `None` if it was read.
    pub unreadable: Option<String>,
}

impl fmt::Display for IoLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { group, device, what, per_second, unreadable } = self;
        write!(f, "the control group {group} ")?;
        if let Some(why) = unreadable {
            return write!(f, "may limit {device}: {what} cannot be read ({why})");
        }
        match (what.as_str(), *per_second) {
            ("rbps", Some(most)) => {
                write!(f, "allows reads of {} a second on {device}", Bytes(most))
            }
            ("wbps", Some(most)) => {
                write!(f, "allows writes of {} a second on {device}", Bytes(most))
            }
            ("riops", Some(most)) => {
                write!(f, "allows {} reads a second on {device}", thousands(most))
            }
            ("wiops", Some(most)) => {
                write!(f, "allows {} writes a second on {device}", thousands(most))
            }
            (what, Some(most)) => write!(f, "limits \"{what}\" on {device} to {most} a second"),
            (what, None) => {
                write!(f, "limits \"{what}\" on {device} in a way that is not understood")
            }
        }
    }
}

/// A limit on the size of a file, or on the space that all files of an owner take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpaceLimit {
    /// No file of this process may grow beyond these bytes (`RLIMIT_FSIZE`).
    FileSize(u64),
    /// A quota of the file system.
    Quota {
        /// Its owner: `user 1000`, `group 8`, `project 42`.
        owner: String,
        /// The bytes that the quota allows: the hard limit, or the soft limit if there is no hard
        /// one.
        most_bytes: u64,
        /// Bytes in use.
        used_bytes: u64,
    },
    /// A limit that may exist, but could not be read.
    Unread {
        /// The possible limit, such as `a quota of user 1000`.
        what: String,
        /// The reason.
        why: String,
    },
}

impl SpaceLimit {
    /// Bytes that a quota leaves; `None` for any other limit.
    #[cfg(target_os = "linux")]
    pub(crate) fn left_bytes(&self) -> Option<u64> {
        match self {
            Self::Quota { most_bytes, used_bytes, .. } => {
                Some(most_bytes.saturating_sub(*used_bytes))
            }
            Self::FileSize(_) | Self::Unread { .. } => None,
        }
    }
}

impl fmt::Display for SpaceLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FileSize(most) => write!(
                f,
                "no file of this program may grow beyond {} (RLIMIT_FSIZE, `ulimit -Hf`)",
                Bytes(*most)
            ),
            Self::Quota { owner, most_bytes, used_bytes } => write!(
                f,
                "the quota of {owner} allows {}, and {} of them are in use",
                Bytes(*most_bytes),
                Bytes(*used_bytes)
            ),
            Self::Unread { what, why } => write!(f, "{what} cannot be read: {why}"),
        }
    }
}
