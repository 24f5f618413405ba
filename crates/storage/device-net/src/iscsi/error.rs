//! Why a LUN cannot be used, in words an operator can act on.

use std::fmt;
use std::io;

use super::sense::ScsiRefusal;

/// Why the login to a target failed, or a LUN was not opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum IscsiError {
    /// The target cannot be reached, or closed the connection.
    Connection {
        /// The LUN or portal, as named by the caller.
        name: String,
        /// The system's error.
        error: io::Error,
    },
    /// The peer does not speak iSCSI, or violates the protocol.
    NotIscsi {
        /// The LUN or portal, as named by the caller.
        name: String,
        /// The problem.
        why: String,
    },
    /// The target does not accept the proposed parameters.
    Disagreed {
        /// The LUN or portal, as named by the caller.
        name: String,
        /// The key and its value.
        key: String,
    },
    /// The target refuses the login; its reason.
    Refused {
        /// The LUN or portal, as named by the caller.
        name: String,
        /// The reason and the remedy.
        why: &'static str,
        /// Whether its rules exclude this initiator, or hide the target from it.
        is_for_rules: bool,
    },
    /// The target requires authentication, and no user was given.
    UserNeeded {
        /// The LUN or portal, as named by the caller.
        name: String,
    },
    /// The target rejects user and secret.
    WrongSecret {
        /// The LUN or portal, as named by the caller.
        name: String,
        /// The account.
        user: String,
    },
    /// The target does not prove its identity.
    WrongTarget {
        /// The LUN or portal, as named by the caller.
        name: String,
        /// What the target did instead.
        why: &'static str,
    },
    /// The target has no such logical unit.
    NoLun {
        /// The LUN, as named by the caller.
        name: String,
        /// Numbers of the units that the target has.
        there: Vec<u64>,
    },
    /// The logical unit is not a disk.
    NotADisk {
        /// The LUN, as named by the caller.
        name: String,
        /// Its SCSI peripheral device type.
        kind: u8,
    },
    /// The LUN takes no writes.
    ReadOnly {
        /// The LUN, as named by the caller.
        name: String,
    },
    /// The LUN has no way to make writes durable.
    NoFlush {
        /// The LUN, as named by the caller.
        name: String,
    },
    /// A command was refused.
    Command {
        /// The LUN, as named by the caller.
        name: String,
        /// The command.
        command: &'static str,
        /// The target's answer.
        refusal: ScsiRefusal,
    },
}

impl IscsiError {
    pub(super) fn broken(name: &str, error: io::Error) -> Self {
        Self::Connection { name: name.to_owned(), error }
    }

    /// Whether the login failed because of who the initiator is. No other error proves that the
    /// target excludes this initiator.
    pub fn is_shut_out(&self) -> bool {
        match self {
            Self::UserNeeded { .. } | Self::WrongSecret { .. } => true,
            Self::Refused { is_for_rules, .. } => *is_for_rules,
            _ => false,
        }
    }

    /// Whether the error came after a successful login.
    pub fn is_behind_login(&self) -> bool {
        matches!(
            self,
            Self::WrongTarget { .. }
                | Self::NoLun { .. }
                | Self::NotADisk { .. }
                | Self::ReadOnly { .. }
                | Self::NoFlush { .. }
                | Self::Command { .. }
        )
    }
}

impl fmt::Display for IscsiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection { name, error } => connection(f, name, error),
            Self::NotIscsi { name, why } => write!(
                f,
                "{name}: what answers there does not speak iSCSI as it should: {why}; check the \
                 port"
            ),
            Self::Disagreed { name, key } => write!(
                f,
                "{name}: the target wants {key}, which this initiator has not; change that in its \
                 configuration"
            ),
            Self::Refused { name, why, .. } => write!(f, "{name}: the target refuses: {why}"),
            Self::UserNeeded { name } => write!(
                f,
                "{name}: the target asks who logs in; name its account as iscsi://USER@HOST/..."
            ),
            Self::WrongSecret { name, user } => write!(
                f,
                "{name}: the target does not take the secret of {user}, or has no account to \
                 prove itself by; check user and secrets at the target"
            ),
            Self::WrongTarget { name, why } => write!(
                f,
                "{name}: the target does not prove who it is: {why}; check the secret of the \
                 target on both sides before any data goes there"
            ),
            Self::NoLun { name, there } if there.is_empty() => {
                write!(f, "{name}: the target shows this initiator no LUN; check its access rules")
            }
            Self::NoLun { name, there } => {
                let there: Vec<String> = there.iter().map(u64::to_string).collect();
                let there = there.join(", ");
                write!(f, "{name}: the target has no LUN of that number; it has {there}")
            }
            Self::NotADisk { name, kind } => {
                write!(f, "{name}: is no disk (SCSI type {kind}); name a LUN that is one")
            }
            Self::ReadOnly { name } => write!(
                f,
                "{name}: the LUN takes no writes; have the target offer it for writing, or name \
                 another one"
            ),
            Self::NoFlush { name } => write!(
                f,
                "{name}: the LUN takes neither flushes nor writes past its cache, so that nothing \
                 on it can be made to survive a power failure and no result would mean anything; \
                 switch its write cache off"
            ),
            Self::Command { name, command, refusal } => {
                write!(f, "{name}: the target refuses {command}: {refusal}; look at its log")
            }
        }
    }
}

fn connection(f: &mut fmt::Formatter<'_>, name: &str, error: &io::Error) -> fmt::Result {
    match error.kind() {
        // Both kinds are used for a timeout.
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            write!(f, "{name}: the target does not answer; look whether it hangs")
        }
        io::ErrorKind::UnexpectedEof => write!(
            f,
            "{name}: the target closes the connection; look at its log, and whether it allows this \
             initiator"
        ),
        _ => write!(
            f,
            "{name}: no connection: {error}; check address and port, and that the target runs"
        ),
    }
}

impl std::error::Error for IscsiError {}
