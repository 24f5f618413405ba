//! PDUs in flight to an initiator, in order. Consecutive short ones are sent together.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::ops::Range;
use std::rc::Rc;

use export::{ReadBytes, Reserved, Wire, WireError, send_whole};

/// Maximum number of bytes of short PDUs sent together.
const JOINED_BYTES: usize = 16 << 10;

/// A PDU, or a part of one.
pub(super) struct OutgoingPdu {
    head: Vec<u8>,
    data: Option<(Rc<PendingRead>, Range<usize>)>,
}

impl OutgoingPdu {
    /// A PDU without data of a read.
    pub(super) const fn bare(head: Vec<u8>) -> Self {
        Self { head, data: None }
    }

    /// A PDU that ends with part of a read's data.
    pub(super) const fn new(head: Vec<u8>, data: Option<(Rc<PendingRead>, Range<usize>)>) -> Self {
        Self { head, data }
    }

    fn data(&self) -> &[u8] {
        self.data.as_ref().map_or(&[], |(read, part)| &read.bytes[part.clone()])
    }
}

/// Bytes read, and the memory that they occupy until all of them are sent.
pub(super) struct PendingRead {
    bytes: ReadBytes,
    _memory: Reserved,
}

impl PendingRead {
    pub(super) const fn new(bytes: ReadBytes, memory: Reserved) -> Self {
        Self { bytes, _memory: memory }
    }
}

/// See the module.
#[derive(Default)]
pub(super) struct Outbox {
    queue: RefCell<VecDeque<OutgoingPdu>>,
    is_sending: Cell<bool>,
    broken: RefCell<Option<WireError>>,
}

impl Outbox {
    /// PDUs that are not sent yet.
    pub(super) fn length(&self) -> usize {
        self.queue.borrow().len() + usize::from(self.is_sending.get())
    }

    pub(super) fn is_broken(&self) -> bool {
        self.broken.borrow().is_some()
    }

    pub(super) fn take_broken(&self) -> Option<WireError> {
        self.broken.take()
    }

    /// Queues a PDU; `true` if the caller must start sending the queue.
    pub(super) fn push(&self, pdu: OutgoingPdu) -> bool {
        if self.is_broken() {
            return false;
        }
        self.queue.borrow_mut().push_back(pdu);
        !self.is_sending.replace(true)
    }

    /// Sends until nothing is left or the wire breaks; `progress` is called after every PDU.
    pub(super) async fn send_all(&self, wire: &dyn Wire, progress: impl Fn()) {
        while let Some(pdu) = self.next() {
            let mut parts = [IoSlice::new(&pdu.head), IoSlice::new(pdu.data())];
            if let Err(error) = send_whole(wire, &mut parts).await {
                self.broken.replace(Some(error));
                self.queue.borrow_mut().clear();
                break;
            }
            progress();
        }
        self.is_sending.set(false);
    }

    /// The next PDU, joined with the short ones after it.
    fn next(&self) -> Option<OutgoingPdu> {
        let mut queue = self.queue.borrow_mut();
        let mut first = queue.pop_front()?;
        while first.data.is_none()
            && first.head.len() < JOINED_BYTES
            && let Some(next) = queue.pop_front()
        {
            first.head.extend_from_slice(&next.head);
            first.data = next.data;
        }
        Some(first)
    }
}
