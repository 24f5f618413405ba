//! The mirrored volume as a device, for the servers of clients.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use device::{
    Buffer, Caps, Completed, Completion, Device, DeviceError, Durability, Op, Pending, Request,
    completion,
};
use export::{Extent, Provisioned};
use mirror::{BlockContent, BlockData, GuestOutcome, GuestRequest};

use super::driver::MirrorDriver;
use crate::cache::serve::presence::ClientPresence;

/// The system's number for an input/output error.
const EIO: i32 = 5;

/// Blocks trimmed in one batch: other requests and the lease get their turn in between.
const TRIMS_AT_ONCE: usize = 1_024;

/// See the module. One per client.
pub(super) struct MirroredDevice {
    driver: Rc<MirrorDriver>,
    client: Rc<ClientPresence>,
    name: String,
    block: usize,
    bytes: u64,
}

impl MirroredDevice {
    pub(super) fn new(driver: Rc<MirrorDriver>, client: Rc<ClientPresence>) -> Self {
        let (name, bytes) = (driver.document.volume.clone(), driver.document.size.0);
        let block = usize::try_from(driver.document.block.0).unwrap_or(4_096);
        Self { driver, client, name, block, bytes }
    }

    fn task(&self) -> BlockTask {
        let (name, client) = (self.name.clone(), Rc::clone(&self.client));
        BlockTask { name, block: self.block, driver: Rc::clone(&self.driver), client }
    }
}

impl Device for MirroredDevice {
    fn submit(&self, request: Request) -> Completion {
        let (completer, completion) = completion();
        let task = self.task();
        drop(self.driver.runtime.spawn(async move {
            let submitted = task.driver.runtime.now();
            let (buffer, result) = task.perform(request.op).await;
            let completed = task.driver.runtime.now();
            completer.complete(Completed { buffer, result, submitted, completed });
        }));
        completion
    }

    fn caps(&self) -> Caps {
        let block = u32::try_from(self.block).unwrap_or(4_096);
        Caps {
            atomic_write_unit: block,
            sector: block,
            physical_sector: block,
            volatile_cache: false,
            unbuffered: true,
            zeroed: true,
        }
    }

    fn length(&self) -> u64 {
        self.bytes
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl Provisioned for MirroredDevice {
    fn trim(&self, bytes: Range<u64>) -> Pending<()> {
        let task = self.task();
        Box::pin(async move { task.trim(bytes).await })
    }

    /// Reports no extents: only the serving host knows them, and that may change at any time.
    fn extents(&self, _: Range<u64>) -> Pending<Vec<Extent>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// One request, block by block.
struct BlockTask {
    driver: Rc<MirrorDriver>,
    client: Rc<ClientPresence>,
    name: String,
    block: usize,
}

impl BlockTask {
    async fn perform(&self, op: Op) -> (Option<Buffer>, Result<(), DeviceError>) {
        match op {
            Op::Read { offset, mut buffer } => {
                let result = self.read(offset, &mut buffer).await;
                (Some(buffer), result)
            }
            Op::Write { offset, buffer, durability } => {
                let result = self.write(offset, &buffer, durability).await;
                (Some(buffer), result)
            }
            Op::Flush => (None, self.all("flush", 0, vec![GuestRequest::Flush]).await.map(drop)),
            Op::SetLength { .. } => {
                (None, Err(self.error("change of length", 0, "its size is fixed")))
            }
        }
    }

    async fn read(&self, offset: u64, buffer: &mut Buffer) -> Result<(), DeviceError> {
        let first = offset / self.block as u64;
        let reads =
            (first..).zip(buffer.chunks(self.block)).map(|(block, _)| GuestRequest::Read(block));
        let values = self.all("read", offset, reads.collect()).await?;
        for (room, value) in buffer.chunks_mut(self.block).zip(values) {
            match value {
                Some(data) if data.is_empty() => room.fill(0),
                Some(data) if data.len() == room.len() => room.copy_from_slice(&data),
                Some(_) => return Err(self.error("read", offset, "a block has the wrong size")),
                None => room.fill(0),
            }
        }
        Ok(())
    }

    async fn write(
        &self,
        offset: u64,
        buffer: &Buffer,
        durability: Durability,
    ) -> Result<(), DeviceError> {
        let first = offset / self.block as u64;
        let blocks = (first..).zip(buffer.chunks(self.block));
        let writes = blocks.map(|(block, data)| GuestRequest::Write(block, Arc::from(data)));
        self.all("write", offset, writes.collect()).await?;
        if durability == Durability::Durable {
            // The write is already durable. The flush orders it before later writes still in flight
            // behind flash.
            self.all("write", offset, vec![GuestRequest::Flush]).await?;
        }
        Ok(())
    }

    /// Trims every block in `bytes`.
    async fn trim(&self, bytes: Range<u64>) -> Result<(), DeviceError> {
        // The flush completes once this host serves the volume, and so knows which blocks were
        // written.
        self.all("trim", bytes.start, vec![GuestRequest::Flush]).await?;
        let block = self.block as u64;
        let blocks = self.driver.untrimmed(bytes.start / block..bytes.end / block);
        for part in blocks.chunks(TRIMS_AT_ONCE) {
            let trims = part.iter().map(|&block| GuestRequest::Write(block, Arc::default()));
            self.all("trim", part[0] * block, trims.collect()).await?;
        }
        Ok(())
    }

    /// Carries out all requests and returns the blocks read.
    async fn all(
        &self,
        operation: &'static str,
        offset: u64,
        requests: Vec<GuestRequest>,
    ) -> Result<Vec<Option<BlockData>>, DeviceError> {
        if self.client.has_left() {
            return Err(self.error(operation, offset, "its client has left"));
        }
        let deadline = self.driver.runtime.now() + self.driver.document.patience;
        let posted: Vec<_> =
            requests.iter().map(|request| self.driver.post(request.clone())).collect();
        let mut found = Vec::new();
        let mut failure = None;
        for (request, answer) in requests.into_iter().zip(posted) {
            match self.driver.end(request, answer, (&self.client, deadline)).await {
                GuestOutcome::Done => {}
                GuestOutcome::Value(None) => found.push(None),
                GuestOutcome::Value(Some(BlockContent::Here(data))) => found.push(Some(data)),
                GuestOutcome::Value(Some(BlockContent::Home(_))) => {
                    failure = Some("a block was not fetched");
                }
                GuestOutcome::NotServing => failure = Some("no host serves the volume"),
                GuestOutcome::Unknown => {
                    failure = Some("the host stopped serving meanwhile; its outcome is unknown");
                }
            }
        }
        failure.map_or(Ok(found), |why| Err(self.error(operation, offset, why)))
    }

    fn error(&self, operation: &'static str, offset: u64, why: &str) -> DeviceError {
        let (file, message) = (self.name.clone(), why.to_owned());
        DeviceError::Io { file, offset, operation, code: EIO, message }
    }
}
