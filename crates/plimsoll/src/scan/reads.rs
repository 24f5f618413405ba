//! One part of one file, on the executor of the calling thread.

use std::ops::Range;
use std::rc::Rc;

use device::{Device, DeviceError, Purpose, Request, Runtime};
use ese::page::PageSize;
use trial::damage::Tally;
use units::PageNumber;

use trial::checksum;

/// Judges the pages of `range` into `tally`, and tells `progress` the bytes of every read. A block
/// that cannot be read as a whole is read page by page, so that the guilty ones are named.
pub async fn part(
    runtime: Runtime,
    device: Rc<dyn Device>,
    page_size: PageSize,
    range: Range<PageNumber>,
    mut tally: Tally,
    progress: impl Fn(u64),
) -> Tally {
    let bytes = page_size.file_offset(range.start)..page_size.file_offset(range.end);
    let mut failed: Vec<Range<u64>> = Vec::new();
    checksum::scan(
        &runtime,
        &device,
        bytes.clone(),
        |offset, block| match block {
            Ok(block) => {
                tally.judge(block, page_size, page_at(page_size, offset));
                progress(block.len() as u64);
            }
            Err(_) => failed.push(offset..bytes.end.min(offset + checksum::BLOCK_BYTES)),
        },
    )
    .await;
    for offset in failed
        .into_iter()
        .flat_map(|range| range.step_by(page_size.bytes()))
    {
        let page = page_at(page_size, offset);
        match read(&device, page_size, offset).await {
            Ok(bytes) => tally.judge(&bytes, page_size, page),
            Err(error) => tally.unreadable(page, error),
        }
        progress(page_size.bytes_u64());
    }
    tally
}

async fn read(
    device: &Rc<dyn Device>,
    size: PageSize,
    offset: u64,
) -> Result<device::Buffer, DeviceError> {
    let request = Request::read(Purpose::Checksum, offset, size.bytes());
    device.submit(request).await.into_buffer()
}

fn page_at(size: PageSize, offset: u64) -> PageNumber {
    let page = (offset / size.bytes_u64()).saturating_sub(1);
    PageNumber(u32::try_from(page).expect("invariant: the pages were counted"))
}
