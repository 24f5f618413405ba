//! Splits requests of a file into requests of the device: one for each extent that they touch.

use std::cell::RefCell;
use std::rc::Rc;

use units::Nanos;

use crate::{Buffer, Completed, Completer, Device, DeviceError, Op, Purpose, Request};

/// A part of a request: byte offset on the device, and range of the request's buffer.
pub(super) type DevicePiece = (u64, std::ops::Range<usize>);

/// A read or write that takes several requests of the device.
struct Transfer {
    whole: Option<Op>,
    left: usize,
    result: Result<(), DeviceError>,
    submitted: Nanos,
    completer: Option<Completer>,
}

/// Starts the read or write `op` as its `pieces`, which together cover its whole buffer.
/// `completer` receives the device's outcome, including errors.
pub(super) fn start(
    device: &Rc<dyn Device>,
    (purpose, op): (Purpose, Op),
    pieces: &[DevicePiece],
    completer: Completer,
) {
    if let [(place, _)] = pieces {
        let request = Request { purpose, op: moved(op, *place) };
        drop(device.submit(request).on_complete(|outcome| completer.complete(taken(outcome))));
        return;
    }
    let requests: Vec<(Request, std::ops::Range<usize>)> =
        pieces.iter().map(|piece| (part(purpose, &op, piece), piece.1.clone())).collect();
    let transfer = Rc::new(RefCell::new(Transfer {
        whole: Some(op),
        left: requests.len(),
        result: Ok(()),
        submitted: Nanos::ZERO,
        completer: Some(completer),
    }));
    for (request, range) in requests {
        let transfer = Rc::clone(&transfer);
        let submitted = device.submit(request);
        drop(submitted.on_complete(move |outcome| Transfer::end(&transfer, taken(outcome), range)));
    }
}

impl Transfer {
    /// Processes the outcome of the piece at `range` of the buffer.
    fn end(transfer: &RefCell<Self>, outcome: Completed, range: std::ops::Range<usize>) {
        let mut this = transfer.borrow_mut();
        if let (Some(Op::Read { buffer, .. }), Some(piece)) = (&mut this.whole, &outcome.buffer) {
            buffer[range].copy_from_slice(piece);
        }
        this.result = std::mem::replace(&mut this.result, Ok(())).and(outcome.result);
        this.submitted = match this.submitted {
            Nanos::ZERO => outcome.submitted,
            earliest => earliest.min(outcome.submitted),
        };
        this.left -= 1;
        let last = if this.left == 0 { this.completer.take() } else { None };
        if let Some(completer) = last {
            let completed = Completed {
                buffer: this.whole.take().and_then(Op::into_buffer),
                result: std::mem::replace(&mut this.result, Ok(())),
                submitted: this.submitted,
                completed: outcome.completed,
            };
            drop(this);
            completer.complete(completed);
        }
    }
}

fn moved(op: Op, place: u64) -> Op {
    match op {
        Op::Read { buffer, .. } => Op::Read { offset: place, buffer },
        Op::Write { buffer, durability, .. } => Op::Write { offset: place, buffer, durability },
        op => op,
    }
}

fn part(purpose: Purpose, op: &Op, (place, range): &DevicePiece) -> Request {
    match op {
        Op::Write { buffer, durability, .. } => {
            Request::write(purpose, *place, Buffer::copy_of(&buffer[range.clone()]), *durability)
        }
        _ => Request::read(purpose, *place, range.len()),
    }
}

/// Moves an outcome out of the hook that sees it.
pub(super) fn taken(outcome: &mut Completed) -> Completed {
    Completed {
        buffer: outcome.buffer.take(),
        result: std::mem::replace(&mut outcome.result, Ok(())),
        submitted: outcome.submitted,
        completed: outcome.completed,
    }
}
