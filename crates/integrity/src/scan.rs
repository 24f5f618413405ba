//! Reads whole files with many large reads in flight, as fast as the device gives them, and judges
//! every page.

mod trees;

use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use device::{Buffer, Completion, Device, DeviceError, Purpose, Request, Runtime};
use ese::flush_map::FlushMap;
use ese::page::PageSize;
use units::PageNumber;

use crate::Tally;

use trees::{last_owned_page, pages_in_use};

/// Bytes of one read. Large enough that a disk array streams, small enough to check in a fraction
/// of a millisecond.
const BLOCK_BYTES: u64 = 1 << 20;

/// Reads in flight: eight cover the latency of an array at a few GB/s.
const IN_FLIGHT: usize = 8;

/// Reads `range` of `device` in order, and hands every block to `look` with its offset, or the
/// error where it could not be read. Both ends of the range are multiples of the page size.
async fn scan(
    runtime: &Runtime,
    device: &Rc<dyn Device>,
    range: Range<u64>,
    mut look: impl FnMut(u64, Result<&[u8], DeviceError>),
) {
    let mut next = range.start;
    let mut flying: VecDeque<(u64, Completion)> = VecDeque::new();
    let submit = |offset: u64, buffer: Option<Buffer>| {
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

/// Judges the pages of `range` into `tally`, and tells `progress` the bytes of every read. A block
/// that cannot be read as a whole is read page by page, so that the guilty ones are named.
pub async fn judge_pages(
    runtime: Runtime,
    device: Rc<dyn Device>,
    page_size: PageSize,
    range: Range<PageNumber>,
    mut tally: Tally,
    progress: impl Fn(u64),
) -> Tally {
    let bytes = page_size.file_offset(range.start)..page_size.file_offset(range.end);
    let mut failed: Vec<Range<u64>> = Vec::new();
    let look = |offset: u64, block: Result<&[u8], DeviceError>| match block {
        Ok(block) => {
            tally.judge(block, page_size, page_at(page_size, offset));
            progress(block.len() as u64);
        }
        Err(_) => failed.push(offset..bytes.end.min(offset + BLOCK_BYTES)),
    };
    scan(&runtime, &device, bytes.clone(), look).await;
    let pages = failed.into_iter();
    for offset in pages.flat_map(|range| range.step_by(page_size.bytes())) {
        let page = page_at(page_size, offset);
        match read_page(&device, page_size, page).await {
            Ok(bytes) => tally.judge(&bytes, page_size, page),
            Err(error) => tally.unreadable(page, error),
        }
        progress(page_size.bytes_u64());
    }
    tally
}

/// Judges every page of the database in `device`, whose header is trusted, and against its flush
/// map where there is one to be believed.
pub async fn judge_database(
    runtime: Runtime,
    device: Rc<dyn Device>,
    (page_size, flush_map): (PageSize, Option<FlushMap>),
    progress: impl Fn(u64),
) -> Tally {
    let pages = page_size.pages_of_file(device.length());
    let pages = u32::try_from(pages).unwrap_or(u32::MAX);
    let owned = last_owned_page(&device, page_size).await;
    let tally = Tally::new(pages, owned, flush_map.map(Arc::new));
    let range = PageNumber(1)..PageNumber(pages.saturating_add(1));
    let mut tally = judge_pages(
        runtime,
        Rc::clone(&device),
        page_size,
        range,
        tally,
        progress,
    )
    .await;
    let in_use = if tally.points_to_zeros() {
        pages_in_use(&device, page_size).await
    } else {
        None
    };
    tally.find_wiped_pages(|| in_use);
    tally
}

async fn read_page(
    device: &Rc<dyn Device>,
    size: PageSize,
    page: PageNumber,
) -> Result<Buffer, DeviceError> {
    let request = Request::read(Purpose::Checksum, size.file_offset(page), size.bytes());
    device.submit(request).await.into_buffer()
}

fn page_at(size: PageSize, offset: u64) -> PageNumber {
    size.page_at(offset)
        .expect("invariant: the pages were counted")
}
