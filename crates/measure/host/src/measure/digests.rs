//! Digests of journals, stored beside them: written when a journal is read, and used instead of it
//! when many are.

use std::fs;
use std::path::Path;

use record::{DIGEST, DigestFault, JOURNAL, RunRecord};

use super::runs::{folded, read};
use crate::documents;
use crate::error::HostError;

/// Loads the run in `folder` from its journal, and keeps its digest once it has its end.
pub fn load_to_digest(folder: &Path) -> Result<RunRecord, HostError> {
    let bytes = bytes(folder)?;
    whole(folder, &bytes)
}

/// Loads the run in `folder` by its digest, to the same record in a tenth of the time. Without a
/// digest that fits, loads it from its journal and keeps another; the fault of one that does not
/// fit comes with the record.
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
