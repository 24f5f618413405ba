//! Reads the log ahead of redo in a separate task: redo never waits for a log file while it has
//! records left, and reading continues while redo works.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use device::{Notified, Notify, Runtime};
use ese::Lgpos;
use units::Bytes;
use wal::{LogEnd, LogError, LogReader, LogRecord, Span};

/// The reader yields after this many records.
const RECORDS_BETWEEN_YIELDS: u32 = 64;

type RecordAhead = (Span, LogRecord);

#[derive(Default)]
struct AheadState {
    records: RefCell<VecDeque<RecordAhead>>,
    /// How the log ended, once all of it has been read.
    end: Cell<Option<Result<LogEnd, LogError>>>,
    /// The position up to which redo has processed records.
    taken: Cell<Lgpos>,
    /// Whether redo has stopped taking records.
    is_abandoned: Cell<bool>,
    /// Signalled when records have arrived.
    came: Notify,
    /// Signalled when redo has processed records, or has stopped.
    went: Notify,
}

/// Records that have been read but not yet taken.
pub(super) struct Ahead {
    shared: Rc<AheadState>,
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.shared.is_abandoned.set(true);
        self.shared.went.notify_all();
    }
}

impl Ahead {
    /// Starts reading; pauses while `most` or more of log is read but not yet processed by redo.
    pub(super) fn start(runtime: &Runtime, reader: LogReader, start: Lgpos, most: Bytes) -> Self {
        let shared = Rc::new(AheadState::default());
        shared.taken.set(start);
        let task = read(runtime.clone(), reader, Rc::clone(&shared), most);
        drop(runtime.spawn(task)); // It reports through shared state.
        Self { shared }
    }

    /// Moves the records read so far to the end of `records`. `None` while there is more to come.
    pub(super) fn take_into(
        &self,
        records: &mut VecDeque<RecordAhead>,
    ) -> Option<Result<LogEnd, LogError>> {
        records.append(&mut self.shared.records.borrow_mut());
        self.shared.end.take()
    }

    /// Marks everything up to `place` as processed, so that more may be read.
    pub(super) fn done_to(&self, place: Lgpos) {
        self.shared.taken.set(place);
        self.shared.went.notify_all();
    }

    /// Waits for the next records, or for the end.
    pub(super) fn more(&self) -> Notified<'_> {
        self.shared.came.notified()
    }
}

async fn read(runtime: Runtime, mut reader: LogReader, shared: Rc<AheadState>, most: Bytes) {
    for count in 1_u32.. {
        let next = match reader.next().await {
            Ok(Some(next)) => next,
            Ok(None) => {
                shared.end.set(Some(Ok(reader.end())));
                break;
            }
            Err(error) => {
                shared.end.set(Some(Err(error)));
                break;
            }
        };
        let place = next.0.end;
        shared.records.borrow_mut().push_back(next);
        shared.came.notify_all();
        let size = reader.segment_size();
        shared
            .went
            .wait_until(|| {
                let waiting = place.bytes_since(shared.taken.get(), size);
                shared.is_abandoned.get() || waiting < most.0
            })
            .await;
        if shared.is_abandoned.get() {
            return;
        }
        if count.is_multiple_of(RECORDS_BETWEEN_YIELDS) {
            runtime.yield_now().await;
        }
    }
    shared.came.notify_all();
}
