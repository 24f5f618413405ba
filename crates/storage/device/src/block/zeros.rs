//! Overwrites space before a file gets it: a used device may contain anything.

use std::rc::Rc;

use super::directory::PlacedFile;
use crate::{ALIGNMENT, Buffer, Device, DeviceError, Durability, Purpose, Request};

/// Number of zero bytes written by one request.
const ZEROS_BYTES: u64 = 1 << 20;
/// Maximum number of such requests in flight.
const ZEROS_IN_FLIGHT: usize = 8;

/// Makes the bytes of `entry` from byte `from` to its end durable zeros. The part of its sector
/// before `from` is preserved.
pub(super) async fn write(
    device: &Rc<dyn Device>,
    entry: &PlacedFile,
    from: u64,
) -> Result<(), DeviceError> {
    if entry.length == from {
        return Ok(());
    }
    let sector = u64::from(device.caps().sector).max(ALIGNMENT as u64);
    let first = from - from % sector;
    let mut requests = Vec::new();
    if first < from {
        requests.push(rest_of_sector(device, entry, (first, from), sector).await?);
    }
    let begin = if first < from { first + sector } else { first };
    let mut results = Vec::new();
    for (place, range) in entry.pieces(begin..entry.length.next_multiple_of(sector).max(begin)) {
        let (mut at, end) = (place, place + (range.end - range.start));
        while at < end {
            let length = ZEROS_BYTES.min(end - at);
            let zeros = Buffer::zeroed(usize::try_from(length).expect("invariant: 1 MiB"));
            requests.push(Request::write(Purpose::Fill, at, zeros, Durability::Volatile));
            at += length;
            if requests.len() == ZEROS_IN_FLIGHT {
                results.push(all(device, std::mem::take(&mut requests)).await);
            }
        }
    }
    results.push(all(device, requests).await);
    results.into_iter().collect::<Result<(), _>>()?;
    device.submit(Request::flush(Purpose::Fill)).await.result
}

/// A write that fills the rest of a sector with zeros. The sector starts at byte `first` of the
/// file; its bytes before `from` are preserved.
async fn rest_of_sector(
    device: &Rc<dyn Device>,
    entry: &PlacedFile,
    (first, from): (u64, u64),
    sector: u64,
) -> Result<Request, DeviceError> {
    let places = entry.pieces(first..first + sector);
    let (place, _) = *places.first().as_ref().expect("invariant: a file has room for its length");
    let length = usize::try_from(sector).expect("invariant: sectors are short");
    let read = device.submit(Request::read(Purpose::Fill, *place, length)).await;
    let mut bytes = read.into_buffer()?;
    bytes[usize::try_from(from - first).expect("invariant: inside the sector")..].fill(0);
    Ok(Request::write(Purpose::Fill, *place, bytes, Durability::Volatile))
}

/// Submits all requests and waits for all of them, even if some fail.
async fn all(device: &Rc<dyn Device>, requests: Vec<Request>) -> Result<(), DeviceError> {
    let completions: Vec<_> = requests.into_iter().map(|request| device.submit(request)).collect();
    let mut result = Ok(());
    for completion in completions {
        result = result.and(completion.await.result);
    }
    result
}
