//! Loads runs with what came after them: a run whose databases were opened since, or whose place in
//! a set a later run took, cannot be completed.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use console::error::CommandError;
use ese::header::PROBE_BYTES;
use host::load;
use record::{DatabaseFacts, RunRecord, Sequel};
use trial::run::is_opened_since;

use super::suite::parts::is_replaced;

/// Loads the run in `folder`, or in the journal at that path.
pub(crate) fn loaded(folder: &Path) -> Result<RunRecord, CommandError> {
    let mut record = load(folder)?;
    record.sequel = sequel_of(folder, &record);
    Ok(record)
}

/// What came after the run in `folder`, as far as it matters to completing it.
pub(crate) fn sequel_of(folder: &Path, record: &RunRecord) -> Sequel {
    match record.is_resumable() {
        _ if is_replaced(folder, record.start.test) => Sequel::Replaced,
        true if is_any_opened_since(record) => Sequel::Opened,
        _ => Sequel::None,
    }
}

fn is_any_opened_since(record: &RunRecord) -> bool {
    record.start.databases.iter().any(|facts| {
        let known = record.attachments.get(&facts.index);
        known.zip(start_of(facts)).is_some_and(|(known, start)| is_opened_since(known, &start))
    })
}

/// The first bytes of a database; `None` if they cannot be read, as on a raw volume.
fn start_of(facts: &DatabaseFacts) -> Option<Vec<u8>> {
    let mut start = Vec::new();
    File::open(&facts.file).ok()?.take(PROBE_BYTES as u64).read_to_end(&mut start).ok()?;
    Some(start)
}
