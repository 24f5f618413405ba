//! Builds the header of a replayed copy.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use device::Clock as _;
use device_os::OsClock;
use ese::header::{DatabaseHeader, DatabaseState};
use ese::{LogTime, Signature};
use units::Generation;

use super::replay::Replayed;
use super::store::CopyStore;

/// Returns the bytes of the valid header copy, so that fields unknown to this program are kept.
pub(super) fn good_header(copy: &Path, bytes: usize) -> io::Result<Vec<u8>> {
    let (mut file, mut page) = (File::open(copy)?, vec![0; bytes]);
    for start in [0, bytes as u64] {
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut page)?;
        let found = DatabaseHeader::decode(&page);
        let mut sealed = page.clone();
        found.encode_over(&mut sealed);
        if sealed == page {
            break;
        }
    }
    Ok(page)
}

/// Returns the header with everything that redo found. It requires a nonexistent generation: the
/// copy's pages no longer hold the data that undo would need, so no later recovery may try.
pub(super) fn still_dirty(header: &DatabaseHeader, made: &Replayed<CopyStore>) -> DatabaseHeader {
    let summary = &made.summary;
    let beyond = Generation(made.generations.1.saturating_add(1));
    let mut new = header.clone();
    new.generation_min_required = beyond;
    new.generation_max_required = beyond;
    new.generation_max_committed = beyond;
    new.dbtime = summary.dbtime;
    new.last_object = summary.last_object;
    new.header_flush_signature = Signature::default();
    new.flush_map_signature = Signature::default();
    if let Some([version, update, minor]) = summary.format {
        (new.format_version, new.format_update, new.format_update_minor) = (version, update, minor);
    }
    new
}

/// Returns the header of a database that needs no log. It names no flush map: the one next to the
/// source does not cover the writes of the copy, and an engine creates another.
pub(super) fn clean(header: &DatabaseHeader, made: &Replayed<CopyStore>) -> DatabaseHeader {
    let clock = OsClock::new();
    let now = LogTime::from_unix_millis((clock.epoch() + clock.now()).0 / 1_000_000);
    let end = made.summary.end;
    DatabaseHeader {
        state: DatabaseState::CleanShutdown,
        consistent_at: end,
        consistent_time: now,
        detached_at: end,
        detached_time: now,
        generation_min_required: Generation(0),
        generation_max_required: Generation(0),
        generation_max_committed: Generation(0),
        generation_recovering: Generation(0),
        generation_min_consistent: Generation(0),
        generation_max_time: LogTime::NEVER,
        ..still_dirty(header, made)
    }
}
