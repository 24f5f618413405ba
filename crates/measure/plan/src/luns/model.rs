//! The validated document: the basis of provisioning over iSCSI.

use std::net::{IpAddr, SocketAddr};

use units::Bytes;

use crate::keys::Choice;

/// LUNs and their initiators. Made only by reading a document, so every name is safe in a command,
/// a path and a protocol message, and every reference between sections resolves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LunDocument {
    /// Prefix of account names.
    pub name: String,
    /// Prefix of target names, such as `iqn.2026-01.org.example:mail`.
    pub target: String,
    /// Addresses at which initiators reach the targets; at least one.
    pub portals: Vec<SocketAddr>,
    /// Whether databases have copies on other servers.
    pub has_copies: bool,
    /// How initiators authenticate.
    pub authentication: ChapMode,
    /// Allocation unit of the file systems that will be made.
    pub allocation_unit: Bytes,
    /// Minimum size of a LUN.
    pub smallest_lun: Bytes,
    /// The control port of `tgtd`.
    pub control_port: u16,
    /// The deployment that supplies volumes as LUNs, in addition to those of the document.
    pub source: Option<LunSource>,
    /// Pools of disks that share spindles; at least one.
    pub pools: Vec<LunPool>,
    /// Initiators that may access LUNs; at least one.
    pub initiators: Vec<LunInitiator>,
    /// LUNs listed in the document.
    pub luns: Vec<LunWish>,
}

/// A deployment that supplies volumes as LUNs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LunSource {
    /// Its file, as given.
    pub deployment: String,
    /// The array whose wizard sets the volume sizes.
    pub array: Option<String>,
}

/// Disks that share spindles, and the folder for files on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LunPool {
    /// Its name for people.
    pub name: String,
    /// Full path of the backing files' folder.
    pub folder: String,
    /// When the space of its LUNs is allocated.
    pub allocation: Allocation,
    /// Types of LUNs placed here by default.
    pub holds: Vec<LunContent>,
}

/// An initiator that may access LUNs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LunInitiator {
    /// Display name; a server of the deployment.
    pub name: String,
    /// Its name in the protocol.
    pub iqn: String,
    /// Its addresses; empty for any.
    pub addresses: Vec<IpAddr>,
    /// Default access to LUNs.
    pub access: LunAccess,
}

/// A LUN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LunWish {
    /// Display name; part of the file name.
    pub name: String,
    /// Its length.
    pub size: Bytes,
    /// Its contents.
    pub holds: LunContent,
    /// Expected content in bytes; `None` if unknown.
    pub content: Option<Bytes>,
    /// The name of its pool.
    pub pool: String,
    /// Names of the initiators that write the LUN and of those that only read it; `None` leaves
    /// both to the initiators' defaults.
    pub access: Option<(Vec<String>, Vec<String>)>,
}

/// Purpose of a LUN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LunContent {
    /// Databases, and their logs unless those are separate.
    Databases,
    /// Logs alone.
    Logs,
    /// Restores, spares and everything else.
    Other,
}

/// Rights of an initiator on a LUN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LunAccess {
    /// No access: the LUN is invisible to it.
    None,
    /// Read it.
    Read,
    /// Read and write it.
    ReadWrite,
}

/// How initiator and target authenticate to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChapMode {
    /// No authentication.
    None,
    /// The initiator authenticates by CHAP.
    OneWay,
    /// Both authenticate by CHAP.
    Mutual,
}

/// When a LUN's space is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// As data is written.
    Thin,
    /// When the LUN is created.
    Thick,
}

impl Choice for LunContent {
    const ALL: &'static [Self] = &[Self::Databases, Self::Logs, Self::Other];
    const WORDS: &'static [&'static str] = &["databases", "logs", "other"];
}

impl Choice for LunAccess {
    const ALL: &'static [Self] = &[Self::None, Self::Read, Self::ReadWrite];
    const WORDS: &'static [&'static str] = &["none", "read", "read/write"];
}

impl Choice for ChapMode {
    const ALL: &'static [Self] = &[Self::None, Self::OneWay, Self::Mutual];
    const WORDS: &'static [&'static str] = &["none", "one-way CHAP", "mutual CHAP"];
}

impl Choice for Allocation {
    const ALL: &'static [Self] = &[Self::Thin, Self::Thick];
    const WORDS: &'static [&'static str] = &["thin", "thick"];
}

impl LunContent {
    /// Name for people.
    pub fn name(self) -> &'static str {
        Self::WORDS[Self::ALL.iter().position(|known| *known == self).unwrap_or(0)]
    }
}

impl LunAccess {}
