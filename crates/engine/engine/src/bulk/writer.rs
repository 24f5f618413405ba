//! Keeps several writes of a fill in flight and extends the file ahead of them.

use std::collections::VecDeque;
use std::rc::Rc;

use device::{Buffer, Completion, Device, DeviceError, Durability, Purpose, Request, Runtime};

use super::gaps::Gaps;
use super::sink::{PageSink, Write};

/// Increment by which a file of unknown final length grows, in bytes.
const GROWTH_BYTES: u64 = 64 << 20;

/// Zeros written with one request, in bytes.
const ZEROS_BYTES: u64 = 1 << 20;

/// The file of a fill.
pub(super) struct FileWriter {
    device: Rc<dyn Device>,
    in_flight: VecDeque<Completion>,
    most_in_flight: usize,
    length: u64,
    gaps: Gaps,
}

impl FileWriter {
    pub(super) fn new(device: Rc<dyn Device>, most_in_flight: usize) -> Self {
        Self {
            length: device.length(),
            gaps: Gaps::of(if device.caps().zeroed { 0 } else { device.length() }),
            device,
            in_flight: VecDeque::new(),
            most_in_flight: most_in_flight.max(1),
        }
    }

    /// Starts every write that `sink` has ready; waits for the oldest while too many are in flight.
    pub(super) async fn drain(
        &mut self,
        runtime: &Runtime,
        sink: &mut PageSink,
    ) -> Result<(), DeviceError> {
        while let Some(write) = sink.take_write() {
            if self.in_flight.len() == self.most_in_flight {
                let written = self.oldest().await?;
                sink.recycle(written);
            }
            self.start(write).await?;
            // Building the next unit takes long enough to make the reactor late otherwise.
            runtime.yield_now().await;
        }
        Ok(())
    }

    /// Writes zeros to one unwritten range that does not already read as zeros; returns the number
    /// of bytes, `None` if no gap is left.
    pub(super) async fn close_gap(&mut self) -> Result<Option<u64>, DeviceError> {
        let Some(gap) = self.gaps.first(ZEROS_BYTES) else {
            return Ok(None);
        };
        if self.in_flight.len() == self.most_in_flight {
            self.oldest().await?;
        }
        let bytes = gap.end - gap.start;
        let length = usize::try_from(bytes).expect("invariant: at most 1 MiB");
        self.start(Write { offset: gap.start, buffer: Buffer::zeroed(length) }).await?;
        Ok(Some(bytes))
    }

    /// Waits for every write, sets the file's length and makes everything durable.
    pub(super) async fn finish(&mut self, length: u64) -> Result<(), DeviceError> {
        while !self.in_flight.is_empty() {
            self.oldest().await?;
        }
        if self.length != length {
            self.set_length(length).await?;
        }
        let flush = Request::flush(Purpose::Fill);
        self.device.submit(flush).await.result
    }

    /// Writes one header page and waits until it is durable.
    pub(super) async fn write_header(
        &mut self,
        offset: u64,
        page: &[u8],
    ) -> Result<(), DeviceError> {
        let buffer = Buffer::copy_of(page);
        self.gaps.note(offset..offset + page.len() as u64);
        let request = Request::write(Purpose::Header, offset, buffer, Durability::Durable);
        self.device.submit(request).await.result
    }

    async fn start(&mut self, write: Write) -> Result<(), DeviceError> {
        let Write { offset, buffer } = write;
        let end = offset + buffer.len() as u64;
        if end > self.length {
            self.set_length(end + GROWTH_BYTES).await?;
        }
        self.gaps.note(offset..end);
        let request = Request::write(Purpose::Fill, offset, buffer, Durability::Volatile);
        self.in_flight.push_back(self.device.submit(request));
        Ok(())
    }

    async fn set_length(&mut self, length: u64) -> Result<(), DeviceError> {
        let request = Request::set_length(Purpose::Fill, length);
        self.device.submit(request).await.result?;
        self.length = length;
        Ok(())
    }

    async fn oldest(&mut self) -> Result<Buffer, DeviceError> {
        let oldest = self.in_flight.pop_front().expect("invariant: called with a write in flight");
        oldest.await.into_buffer()
    }
}
