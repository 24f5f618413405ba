//! Durations of requests to an in-memory folder: drawn from a latency range, or simulated by an
//! array model.

use std::cell::RefCell;
use std::rc::Rc;

use crate::{Durability, Latency, Op, OpKind, VirtualReactor};

/// Decides when the requests of a [`super::MemoryVolume`] are done.
pub trait Service {
    /// Calls `done` once the storage would have answered.
    fn serve(&self, work: &ServiceWork, done: Box<dyn FnOnce()>);
}

/// An operation, without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceWork {
    /// File number in the folder, by creation order; `None` for the folder itself.
    pub file: Option<u64>,
    /// Current length of the file in bytes.
    pub file_length: u64,
    /// Kind of request.
    pub kind: OpKind,
    /// Byte offset in the file.
    pub offset: u64,
    /// Bytes transferred.
    pub length: u64,
    /// Durability that its completion guarantees.
    pub durability: Durability,
}

impl ServiceWork {
    /// A change of the folder, which costs as much as a durable flush.
    pub(super) const fn of_folder() -> Self {
        Self {
            file: None,
            file_length: 0,
            kind: OpKind::Flush,
            offset: 0,
            length: 0,
            durability: Durability::Durable,
        }
    }

    /// Describes a request to a file.
    pub(super) fn of(op: &Op, file: u64, file_length: u64) -> Self {
        let offset = match op {
            Op::Read { offset, .. } | Op::Write { offset, .. } => *offset,
            Op::Flush | Op::SetLength { .. } => 0,
        };
        let durability = match op {
            Op::Read { .. } => Durability::Volatile,
            Op::Write { durability, .. } => *durability,
            Op::Flush | Op::SetLength { .. } => Durability::Durable,
        };
        let length = op.length() as u64;
        Self { file: Some(file), file_length, kind: op.kind(), offset, length, durability }
    }
}

/// Every request takes a time drawn from `latency`.
pub(super) fn drawn(reactor: &Rc<VirtualReactor>, latency: Latency) -> Rc<dyn Service> {
    Rc::new(Drawn { reactor: Rc::clone(reactor), latency: RefCell::new(latency) })
}

struct Drawn {
    reactor: Rc<VirtualReactor>,
    latency: RefCell<Latency>,
}

impl Service for Drawn {
    fn serve(&self, _: &ServiceWork, done: Box<dyn FnOnce()>) {
        let span = self.latency.borrow_mut().draw();
        self.reactor.after(span, done);
    }
}
