//! The requests in flight on one file, to detect callers that overlap them.

use crate::{Op, OpKind};

/// Requests in flight on one file.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    next: u64,
    requests: Vec<Under>,
}

#[derive(Debug)]
struct Under {
    ticket: Ticket,
    kind: OpKind,
    from: u64,
    to: u64,
}

/// Identifies one request in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

impl InFlight {
    /// Records that `op` on the file `name` begins. Panics if it overlaps a request in flight and
    /// one of the two changes bytes: the caller should have waited.
    pub(crate) fn begin(&mut self, name: &str, op: &Op) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        let (kind, (from, to)) = (op.kind(), extent(op));
        for other in &self.requests {
            let changes = kind != OpKind::Read || other.kind != OpKind::Read;
            assert!(
                !(changes && from < other.to && other.from < to),
                "{name}: {kind:?} of bytes {from}..{to} overlaps {:?} of bytes {}..{} in flight",
                other.kind,
                other.from,
                other.to
            );
        }
        self.requests.push(Under { ticket, kind, from, to });
        ticket
    }

    /// Records the end of a request.
    pub(crate) fn end(&mut self, ticket: Ticket) {
        let at = self
            .requests
            .iter()
            .position(|request| request.ticket == ticket)
            .expect("invariant: a request ends once");
        self.requests.swap_remove(at);
    }
}

/// The bytes that an operation touches; for a change of length, everything from there on.
fn extent(op: &Op) -> (u64, u64) {
    match op {
        Op::Read { offset, buffer } | Op::Write { offset, buffer, .. } => {
            (*offset, *offset + buffer.len() as u64)
        }
        Op::Flush => (0, 0),
        Op::SetLength { length } => (*length, u64::MAX),
    }
}
