//! Reads whole files with many large reads in flight: as fast as the device gives them.

use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use device::{Completion, Device, DeviceError, Purpose, Request, Runtime};

/// Bytes of one read. Large enough that a disk array streams, small enough to check in a fraction
/// of a millisecond.
pub const BLOCK_BYTES: u64 = 1 << 20;

/// Reads in flight: eight cover the latency of an array at a few GB/s.
const IN_FLIGHT: usize = 8;

/// Reads `range` of `device` in order, and hands every block to `look` with its offset, or the
/// error where it could not be read. Both ends of the range are multiples of the page size.
pub async fn scan(
    runtime: &Runtime,
    device: &Rc<dyn Device>,
    range: Range<u64>,
    mut look: impl FnMut(u64, Result<&[u8], DeviceError>),
) {
    let mut next = range.start;
    let mut flying: VecDeque<(u64, Completion)> = VecDeque::new();
    let submit = |offset: u64, buffer: Option<device::Buffer>| {
        let length = usize::try_from((range.end - offset).min(BLOCK_BYTES))
            .expect("invariant: at most a block");
        let request = match buffer.filter(|buffer| buffer.len() == length) {
            Some(buffer) => Request::read_into(Purpose::Checksum, offset, buffer),
            None => Request::read(Purpose::Checksum, offset, length),
        };
        (offset, device.submit(request))
    };
    while next < range.end && flying.len() < IN_FLIGHT {
        flying.push_back(submit(next, None));
        next += BLOCK_BYTES;
    }
    while let Some((offset, completion)) = flying.pop_front() {
        let outcome = completion.await;
        let buffer = outcome.buffer;
        match (&outcome.result, &buffer) {
            (Ok(()), Some(buffer)) => look(offset, Ok(buffer)),
            (Err(error), _) => look(offset, Err(error.clone())),
            (Ok(()), None) => {}
        }
        if next < range.end {
            flying.push_back(submit(next, buffer));
            next += BLOCK_BYTES;
        }
        // Completions that are there already would keep this task from ever waiting.
        runtime.yield_now().await;
    }
}
