//! Digests of journals, stored next to them: written when a journal is read, and read in its place
//! to load many runs quickly.

use std::fs;
use std::path::Path;

use record::{DIGEST, DigestFault, JOURNAL, RunRecord};

use super::runs::{folded, read};
use crate::documents;
use crate::error::HostError;

/// Loads the run in `folder` from its journal, and stores its digest if the run has ended.
pub fn load_to_digest(folder: &Path) -> Result<RunRecord, HostError> {
    let bytes = bytes(folder)?;
    whole(folder, &bytes)
}

/// Loads the run in `folder` from its digest, which gives the same record in a tenth of the time.
/// Without a valid digest, loads the journal and stores a new digest; the fault of an invalid one
/// is returned with the record.
pub fn load_by_digest(folder: &Path) -> Result<(RunRecord, Option<DigestFault>), HostError> {
    let bytes = bytes(folder)?;
    let fault = match fs::read(folder.join(DIGEST)) {
        Ok(digest) => match RunRecord::load_digested(&bytes, &digest) {
            Ok(record) => return Ok((record, None)),
            Err(fault) => Some(fault),
        },
        Err(_) => None,
    };
    Ok((whole(folder, &bytes)?, fault))
}

fn bytes(folder: &Path) -> Result<Vec<u8>, HostError> {
    let journal = folder.join(JOURNAL);
    read(&journal).map_err(|error| HostError::file(&journal, "read", &error))
}

fn whole(folder: &Path, journal: &[u8]) -> Result<RunRecord, HostError> {
    let record = folded(journal)
        .map_err(|error| HostError::new(format!("{}: {error}", folder.join(JOURNAL).display())))?;
    if let Some(digest) = record.digest(journal.len() as u64) {
        // Without it the next report takes longer but is the same.
        let _ = documents::replace(&folder.join(DIGEST), digest.as_bytes());
    }
    Ok(record)
}
