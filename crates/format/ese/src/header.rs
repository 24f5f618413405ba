//! The database file's header: the state of a file and the log it needs to become consistent.
//!
//! It is stored twice at the beginning of the file, each copy on a separate page. [`read_copies`]
//! decides which copy to use, and the page size.

mod copies;
mod field;

pub use copies::{CopyState, HeaderCopies, HeaderError, PROBE_BYTES, read_copies};

use std::fmt;

use units::{Generation, ObjectId, PageNumber};

use crate::checksum;
use crate::lgpos::Lgpos;
use crate::log_time::LogTime;
use crate::page::PageSize;
use crate::signature::Signature;
use field::{Field, layout};

/// Magic number at the start of every database header, after its checksum.
pub(crate) const MAGIC: u32 = 0x89AB_CDEF;

/// The format this project writes: version, update. Mail servers have read it since 2013.
pub const WRITTEN_FORMAT: (u32, u32) = (0x620, 20);

/// The file type at byte 667, which headers of databases, logs, checkpoints and flush maps share.
pub(crate) const FILE_TYPE_DATABASE: u32 = 1;

/// Readiness of a database file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DatabaseState {
    /// Created and never attached.
    #[default]
    JustCreated,
    /// In use or crashed: the log range it requires must be replayed first.
    DirtyShutdown,
    /// Complete in itself.
    CleanShutdown,
    /// Being converted to another format.
    BeingConverted,
    /// Detached by force.
    ForceDetach,
    /// An incremental reseed is under way.
    ReseedInProgress,
    /// Dirty, with pages patched from a replica.
    DirtyAndPatched,
    /// A revert to a snapshot is under way.
    RevertInProgress,
    /// A number that no known engine writes.
    Unknown(u32),
}

impl DatabaseState {
    /// The states in the order of their numbers, starting from 1.
    const NUMBERED: [Self; 8] = [
        Self::JustCreated,
        Self::DirtyShutdown,
        Self::CleanShutdown,
        Self::BeingConverted,
        Self::ForceDetach,
        Self::ReseedInProgress,
        Self::DirtyAndPatched,
        Self::RevertInProgress,
    ];

    /// The state with this number.
    pub(crate) fn from_number(number: u32) -> Self {
        let index = (number as usize).wrapping_sub(1);
        Self::NUMBERED.get(index).copied().unwrap_or(Self::Unknown(number))
    }

    /// The number of the state.
    pub fn number(self) -> u32 {
        match self {
            Self::Unknown(number) => number,
            known => {
                (1..).zip(Self::NUMBERED).find(|(_, state)| *state == known).map_or(0, |s| s.0)
            }
        }
    }
}

impl fmt::Display for DatabaseState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::JustCreated => "Just Created",
            Self::DirtyShutdown => "Dirty Shutdown",
            Self::CleanShutdown => "Clean Shutdown",
            Self::BeingConverted => "Being Converted",
            Self::ForceDetach => "Force Detach",
            Self::ReseedInProgress => "Incremental Reseed In Progress",
            Self::DirtyAndPatched => "Dirty And Patched Shutdown",
            Self::RevertInProgress => "Revert In Progress",
            Self::Unknown(number) => return write!(f, "unknown state {number}"),
        })
    }
}

/// The header's entry for one backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackupInfo {
    /// Position of the log record that marks the backup.
    pub lgpos: Lgpos,
    /// When it was made.
    pub time: LogTime,
    /// First log file it needs.
    pub generation_low: Generation,
    /// Last log file it needs.
    pub generation_high: Generation,
}

/// How often an event happened, and when last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCount {
    /// Number of times since the last full repair or defragmentation.
    pub count: u32,
    /// The last time.
    pub last: LogTime,
    /// Times before that.
    pub old_count: u32,
}

/// The version of the operating system that last had the file open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OsVersion {
    /// Major version.
    pub major: u32,
    /// Minor version.
    pub minor: u32,
    /// Build.
    pub build: u32,
    /// Service pack.
    pub service_pack: u32,
}

layout! {
    /// All database header fields known to this project.
    pub struct DatabaseHeader {
        /// Marks the file as a database: 0x89ABCDEF.
        4 => magic: u32,
        /// Format version, 0x620.
        8 => format_version: u32,
        /// Attributes; 0.
        12 => attributes: u32,
        /// Database time: no page carries a later one.
        16 => dbtime: u64,
        /// Identity of the database.
        24 => signature: Signature,
        /// Readiness of the file.
        52 => state: DatabaseState,
        /// Log position at which the file was last consistent.
        56 => consistent_at: Lgpos,
        /// When it was last consistent.
        64 => consistent_time: LogTime,
        /// When it was last attached.
        72 => attached_time: LogTime,
        /// Log position of the last attach.
        80 => attached_at: Lgpos,
        /// When it was detached; never, while dirty.
        88 => detached_time: LogTime,
        /// Log position of the detach; "none" while dirty.
        96 => detached_at: Lgpos,
        /// Number of the database within its log stream.
        104 => database_id: u32,
        /// The log stream it belongs to; "none" if it was never logged.
        108 => log_signature: Signature,
        /// The full backup before the current one.
        136 => backup_full_previous: BackupInfo,
        /// The incremental backup before the current one.
        160 => backup_incremental_previous: BackupInfo,
        /// The current full backup.
        184 => backup_full_current: BackupInfo,
        /// Bit 0: the catalog has no second copy that agrees with it.
        208 => header_flags: u32,
        /// The highest object identifier in use.
        212 => last_object: ObjectId,
        /// The system that last had the file open.
        216 => os_version: OsVersion,
        /// Format update, 20 in files of this project.
        232 => format_update: u32,
        /// Page size in bytes; 0 means 4096.
        236 => page_size_bytes: u32,
        /// How often the file was repaired.
        240 => repair_count: u32,
        /// When it was last repaired.
        244 => repair_time: LogTime,
        /// Database time of the last scrub.
        280 => scrub_dbtime: u64,
        /// Time of the last scrub.
        288 => scrub_time: LogTime,
        /// First log file needed to make the file consistent; 0 when clean.
        296 => generation_min_required: Generation,
        /// Last log file needed to make the file consistent; 0 when clean.
        300 => generation_max_required: Generation,
        /// The current snapshot backup.
        316 => backup_snapshot_current: BackupInfo,
        /// Format version at creation.
        340 => created_format_version: u32,
        /// Format update at creation.
        344 => created_format_update: u32,
        /// When the last required log file was created.
        348 => generation_max_time: LogTime,
        /// Kind of the last full backup.
        356 => backup_full_type: u32,
        /// Kind of the last incremental backup.
        360 => backup_incremental_type: u32,
        /// Repairs before the last defragmentation.
        364 => repair_count_before_defrag: u32,
        /// Corrected single flipped bits.
        368 => bit_fixes: EventCount,
        /// Single flipped bits that could not be corrected.
        384 => bit_fix_failures: EventCount,
        /// Checksum errors beyond repair.
        400 => checksum_failures: EventCount,
        /// Last log file that was committed.
        416 => generation_max_committed: Generation,
        /// The last copy backup.
        420 => backup_copy_previous: BackupInfo,
        /// The last differential backup.
        444 => backup_differential_previous: BackupInfo,
        /// Incremental reseeds.
        476 => reseeds: EventCount,
        /// Pages patched from a replica.
        492 => page_patches: EventCount,
        /// Sort version of the operating system; all ones in new files.
        508 => sort_version: u64,
        /// When the database scan last finished a pass.
        516 => scan_finished_time: LogTime,
        /// When the database scan began its present pass.
        524 => scan_started_time: LogTime,
        /// All pages up to this one have been scanned in the present pass.
        532 => scanned_to: PageNumber,
        /// The log file that recovery is working on.
        536 => generation_recovering: Generation,
        /// How often the file was extended.
        540 => extend_count: u32,
        /// When it was last extended.
        544 => extend_time: LogTime,
        /// How often the file was shrunk.
        552 => shrink_count: u32,
        /// When it was last shrunk.
        556 => shrink_time: LogTime,
        /// When it was last attached again after a crash.
        564 => reattached_time: LogTime,
        /// Log position of the last re-attach.
        572 => reattached_at: Lgpos,
        /// How often space inside the file was released.
        580 => trim_count: u32,
        /// Randomised at every header write; pairs the header with its flush map.
        584 => header_flush_signature: Signature,
        /// The flush map that belongs to the file.
        612 => flush_map_signature: Signature,
        /// Generation of the oldest change that may not be in the file.
        640 => generation_min_consistent: Generation,
        /// Minor format update; 0 in files of this project.
        644 => format_update_minor: u32,
        /// Version of the engine that wrote the file; 0 in files of this project.
        648 => engine_version: u32,
        /// The highest page the scan has seen.
        652 => highest_page_scanned: PageNumber,
        /// Log position of the last resize.
        656 => last_resize_at: Lgpos,
        /// `FILE_TYPE_DATABASE`.
        667 => file_type: u32,
    }
}

impl DatabaseHeader {
    /// In `header_flags`: the catalog has no second copy.
    const CATALOG_NOT_SHADOWED: u32 = 1;

    /// Whether the catalog's second copy agrees with it.
    pub(crate) const fn is_catalog_shadowed(&self) -> bool {
        self.header_flags & Self::CATALOG_NOT_SHADOWED == 0
    }

    /// The header of a database that has just been created in the format this project writes.
    pub fn new(page_size: PageSize, signature: Signature) -> Self {
        Self {
            magic: MAGIC,
            format_version: WRITTEN_FORMAT.0,
            signature,
            database_id: 1,
            format_update: WRITTEN_FORMAT.1,
            page_size_bytes: page_size.bytes_u32(),
            created_format_version: WRITTEN_FORMAT.0,
            created_format_update: WRITTEN_FORMAT.1,
            sort_version: u64::MAX,
            file_type: FILE_TYPE_DATABASE,
            ..Self::default()
        }
    }

    /// The stated page size; `None` if it is invalid.
    pub fn page_size(&self) -> Option<PageSize> {
        match self.page_size_bytes {
            0 => Some(PageSize::KIB_4),
            bytes => PageSize::from_bytes(bytes as usize),
        }
    }

    /// One sealed header page, to be written at byte 0 and again one page later.
    pub fn encode(&self, page_size: PageSize) -> Vec<u8> {
        let mut page = vec![0; page_size.bytes()];
        self.encode_over(&mut page);
        page
    }

    /// Writes the fields over an existing header page, preserving unknown fields, and seals it.
    pub fn encode_over(&self, page: &mut [u8]) {
        self.put_fields(page);
        checksum::store_header(page);
    }

    /// Decodes the fields of a header page without verifying its checksum.
    pub fn decode(page: &[u8]) -> Self {
        Self::get_fields(page)
    }
}

#[cfg(test)]
mod tests;
