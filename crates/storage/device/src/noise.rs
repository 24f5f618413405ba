//! Writes incompressible content, to measure storage before any database is on it.

use std::cell::RefCell;

use units::{Nanos, Prng};

use crate::{Buffer, Device, DeviceError, Durability, Op, Purpose, Request};

/// Writes `bytes` of noise drawn from `prng` at byte `offset` of the device, and returns how long
/// the request took.
pub async fn write_noise(
    device: &dyn Device,
    prng: &RefCell<Prng>,
    offset: u64,
    bytes: u64,
    durability: Durability,
) -> Result<Nanos, DeviceError> {
    let length = usize::try_from(bytes).expect("invariant: a write fits into memory");
    let mut noise = vec![0; length];
    prng.borrow_mut().fill(&mut noise);
    let op = Op::Write { offset, buffer: Buffer::copy_of(&noise), durability };
    let written = device.submit(Request { purpose: Purpose::Fill, op }).await;
    let latency = written.latency();
    written.result.map(|()| latency)
}
