//! Reads whole files with many large reads in flight, as fast as the device gives them, and judges
//! every page.

mod copy;
mod trees;

use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};
use std::rc::Rc;
use std::sync::Arc;

use device::{Buffer, Completion, Device, DeviceError, Purpose, Request, Runtime};
use ese::flush_map::FlushMap;
use ese::page::PageSize;
use units::PageNumber;

use crate::Tally;

pub use copy::BlockCopy;
use trees::{last_owned_page, pages_in_use};

/// How a file is read: block size, requests in flight, and purpose.
#[derive(Clone)]
pub struct ReadShape {
    /// Purpose of the reads.
    pub purpose: Purpose,
    /// Bytes of one read, a multiple of every page size.
    pub block_bytes: u64,
    /// Reads in flight.
    pub in_flight: usize,
    /// Destination of the blocks read, if any.
    pub copy: Option<Rc<BlockCopy>>,
}

impl ReadShape {
    /// Full device speed: blocks large enough that a disk array streams and small enough to check
    /// in a fraction of a millisecond, eight of which cover the latency of an array at a few GB/s.
    pub const FASTEST: Self =
        Self { purpose: Purpose::Checksum, block_bytes: 1 << 20, in_flight: 8, copy: None };
}

/// Reads `range` of `device` in order, and passes every block to `look` with its offset, or the
/// error if it could not be read, until `look` breaks off. Both ends of the range are multiples of
/// the page size.
async fn scan(
    runtime: &Runtime,
    device: &Rc<dyn Device>,
    shape: &ReadShape,
    range: Range<u64>,
    mut look: impl FnMut(u64, Result<&[u8], DeviceError>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut next = range.start;
    let mut flying: VecDeque<(u64, Completion)> = VecDeque::new();
    let submit = |offset: u64, buffer: Option<Buffer>| {
        let length = usize::try_from((range.end - offset).min(shape.block_bytes))
            .expect("invariant: at most a block");
        let request = match buffer.filter(|buffer| buffer.len() == length) {
            Some(buffer) => Request::read_into(shape.purpose, offset, buffer),
            None => Request::read(shape.purpose, offset, length),
        };
        (offset, device.submit(request))
    };
    while next < range.end && flying.len() < shape.in_flight {
        flying.push_back(submit(next, None));
        next += shape.block_bytes;
    }
    while let Some((offset, completion)) = flying.pop_front() {
        let outcome = completion.await;
        let mut buffer = outcome.buffer;
        match (&outcome.result, &buffer) {
            (Ok(()), Some(block)) => {
                look(offset, Ok(block))?;
                if let Some(copy) = &shape.copy {
                    buffer = copy.write(runtime, offset, buffer.take()).await;
                }
            }
            (Err(error), _) => look(offset, Err(error.clone()))?,
            (Ok(()), None) => {}
        }
        if next < range.end {
            flying.push_back(submit(next, buffer));
            next += shape.block_bytes;
        }
        // Without this, a run of completions that have already arrived would never let other tasks
        // run.
        runtime.yield_now().await;
    }
    ControlFlow::Continue(())
}

/// Judges the pages of `range` into `tally`, and reports the bytes of every read to `progress`. A
/// block that cannot be read as a whole is read page by page, so that the bad ones are named.
pub async fn judge_pages(
    runtime: Runtime,
    device: Rc<dyn Device>,
    page_size: PageSize,
    range: Range<PageNumber>,
    mut tally: Tally,
    progress: impl Fn(u64),
) -> Tally {
    let shape = (page_size, &ReadShape::FASTEST);
    let judged = judge_range(&runtime, &device, shape, range, &mut tally, |bytes| {
        progress(bytes);
        ControlFlow::Continue(())
    });
    match judged.await {
        ControlFlow::Continue(()) | ControlFlow::Break(()) => tally,
    }
}

/// Judges the pages of `range` into `tally` until `progress` breaks.
async fn judge_range(
    runtime: &Runtime,
    device: &Rc<dyn Device>,
    (page_size, shape): (PageSize, &ReadShape),
    range: Range<PageNumber>,
    tally: &mut Tally,
    progress: impl Fn(u64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let bytes = page_size.file_offset(range.start)..page_size.file_offset(range.end);
    let mut failed: Vec<Range<u64>> = Vec::new();
    scan(runtime, device, shape, bytes.clone(), |offset, block| {
        match block {
            Ok(block) => {
                tally.judge(block, page_size, page_at(page_size, offset));
                return progress(block.len() as u64);
            }
            Err(error) => break_off(tally, &error)?,
        }
        failed.push(offset..bytes.end.min(offset + shape.block_bytes));
        ControlFlow::Continue(())
    })
    .await?;
    let pages = failed.into_iter();
    for offset in pages.flat_map(|range| range.step_by(page_size.bytes())) {
        let page = page_at(page_size, offset);
        match read_page(device, (page_size, shape.purpose), page).await {
            Ok(bytes) => {
                tally.judge(&bytes, page_size, page);
                if let Some(copy) = &shape.copy {
                    copy.write(runtime, offset, Some(bytes)).await;
                }
            }
            Err(error) => {
                break_off(tally, &error)?;
                tally.unreadable(page, error);
            }
        }
        progress(page_size.bytes_u64())?;
    }
    ControlFlow::Continue(())
}

/// Ends the reading of a device that cannot be reached any more: its pages are not to blame.
fn break_off(tally: &mut Tally, error: &DeviceError) -> ControlFlow<()> {
    if !matches!(error, DeviceError::Disconnected { .. }) {
        return ControlFlow::Continue(());
    }
    tally.broken_off.get_or_insert(error.clone());
    ControlFlow::Break(())
}

/// Judges every page of the database in `device`, whose header is trusted, also against its flush
/// map if there is a trusted one. `None` if `progress`, which receives the byte count of every
/// read, breaks off, or if the device is no longer reachable.
pub async fn judge_database(
    runtime: Runtime,
    device: Rc<dyn Device>,
    shape: ReadShape,
    (page_size, flush_map): (PageSize, Option<FlushMap>),
    progress: impl Fn(u64) -> ControlFlow<()>,
) -> Option<Tally> {
    let pages = page_size.pages_of_file(device.length());
    let pages = u32::try_from(pages).unwrap_or(u32::MAX);
    let owned = last_owned_page(&device, page_size).await;
    let mut tally = Tally::new(pages, owned, flush_map.map(Arc::new));
    let range = PageNumber(1)..PageNumber(pages.saturating_add(1));
    let whole = (page_size, &shape);
    let judged = judge_range(&runtime, &device, whole, range, &mut tally, progress);
    if judged.await.is_break() {
        return None;
    }
    let in_use =
        if tally.points_to_zeros() { pages_in_use(&device, page_size).await } else { None };
    tally.find_wiped_pages(|| in_use);
    Some(tally)
}

async fn read_page(
    device: &Rc<dyn Device>,
    (size, purpose): (PageSize, Purpose),
    page: PageNumber,
) -> Result<Buffer, DeviceError> {
    let request = Request::read(purpose, size.file_offset(page), size.bytes());
    device.submit(request).await.into_buffer()
}

fn page_at(size: PageSize, offset: u64) -> PageNumber {
    size.page_at(offset).expect("invariant: the pages were counted")
}
