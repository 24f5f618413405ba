//! Publishes the journal of a run while it grows. It has its own thread and connection, so that an
//! unresponsive server delays neither orders nor heartbeats.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use carrier::Carrier;
use fleet::{AgentId, JournalOutbox, RunId};
use record::JOURNAL;

use super::child::record_folder;
use console::error::CommandError;
use host::crew;

const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// Bytes read from the journal at a time; a message holds fewer.
const PIECE_BYTES: u64 = 1 << 20;

/// The journal to publish.
struct Parcel {
    run: RunId,
    journal: PathBuf,
    outbox: JournalOutbox,
    has_ended: bool,
}

/// Publishes journals on a separate thread.
pub(super) struct Publisher {
    parcel: Arc<Mutex<Option<Parcel>>>,
}

impl Publisher {
    pub(super) fn start(carrier: Carrier, agent: AgentId) -> Result<Self, CommandError> {
        let parcel: Arc<Mutex<Option<Parcel>>> = Arc::default();
        let shared = Arc::clone(&parcel);
        crew::start_thread("journal", move || {
            while Arc::strong_count(&shared) > 1 {
                if !publish_next(&carrier, &agent, &shared) {
                    thread::sleep(BETWEEN_LOOKS);
                }
            }
        })?;
        Ok(Self { parcel })
    }

    /// Publishes the journal of the run in `folder` from now on.
    pub(super) fn publish(&self, run: RunId, folder: &Path) {
        self.publish_from(run, folder, 0);
    }

    /// Publishes the journal from `from_byte` on, again if need be.
    pub(super) fn publish_from(&self, run: RunId, folder: &Path, from_byte: u64) {
        let journal = record_folder(folder).join(JOURNAL);
        let mut parcel = self.parcel.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *parcel {
            Some(known) if known.run == run => known.outbox.resend_from(from_byte),
            known => {
                let has_ended = !host::is_live(&journal) && journal.exists();
                let outbox = JournalOutbox::default();
                *known = Some(Parcel { run, journal, outbox, has_ended });
            }
        }
    }

    /// Marks the run as ended: its journal no longer grows.
    pub(super) fn has_ended(&self) {
        let mut parcel = self.parcel.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parcel) = &mut *parcel {
            parcel.has_ended = true;
        }
    }

    /// Whether the end of a journal is still to be published.
    pub(super) fn is_busy(&self) -> bool {
        let parcel = self.parcel.lock().unwrap_or_else(PoisonError::into_inner);
        parcel.as_ref().is_some_and(|parcel| parcel.has_ended && !parcel.outbox.is_done())
    }
}

/// Publishes the next piece; `true` if there was one. The lock is not held while waiting for the
/// server.
fn publish_next(carrier: &Carrier, agent: &AgentId, shared: &Mutex<Option<Parcel>>) -> bool {
    let next = {
        let parcel = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(parcel) = &*parcel else { return false };
        let mut bytes = read(&parcel.journal, parcel.outbox.next_offset()).unwrap_or_default();
        if !parcel.has_ended {
            // A resumed run cuts off the partial line that it was killed in.
            bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1));
        }
        parcel.outbox.next(&bytes, parcel.has_ended).map(|chunk| (parcel.run.clone(), chunk))
    };
    let Some((run, chunk)) = next else { return false };
    if carrier.keep(&run, agent, &chunk).is_err() {
        return false;
    }
    let mut parcel = shared.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(parcel) = parcel.as_mut().filter(|parcel| parcel.run == run) {
        parcel.outbox.acknowledged(&chunk);
    }
    true
}

fn read(journal: &Path, offset: u64) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(journal)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(PIECE_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
