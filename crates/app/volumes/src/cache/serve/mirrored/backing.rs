//! The file behind both copies. Only one host has it open: its lock is the fence, since a deposed
//! host keeps it until its last request has ended.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use device::{Buffer, Device, DeviceError, Durability, OpenMode, Purpose, Request, Runtime};
use device_os::World;
use mirror::{BackingAnswer, BackingOp};
use units::Nanos;

/// Pause between attempts to lock the file.
const RETRY: Nanos = Nanos::from_millis(50);

/// Retry interval of a request that waits for another one to the same block.
const TURN: Nanos = Nanos::from_micros(200);

/// See the module.
pub(super) struct SharedBacking {
    path: PathBuf,
    block: usize,
    world: Rc<World>,
    runtime: Runtime,
    open: RefCell<Option<(u64, Rc<dyn Device>)>>,
    /// Epoch that may open it; 0 for none.
    wanted: Cell<u64>,
    /// Blocks with a request in progress.
    busy: RefCell<BTreeSet<u64>>,
}

impl SharedBacking {
    pub(super) fn new(path: PathBuf, block: usize, world: Rc<World>) -> Rc<Self> {
        let runtime = world.executor().runtime();
        let (open, wanted, busy) = (RefCell::default(), Cell::new(0), RefCell::default());
        Rc::new(Self { path, block, world, runtime, open, wanted, busy })
    }

    /// Closes the file: the host no longer owns the volume.
    pub(super) fn close(&self) {
        self.wanted.set(0);
        self.open.take();
    }

    /// Carries out `op` of `epoch`.
    pub(super) async fn perform(self: Rc<Self>, epoch: u64, op: BackingOp) -> BackingAnswer {
        let done = match op {
            BackingOp::Fence => return self.fence(epoch).await,
            BackingOp::Read(block) => self.read(epoch, block).await,
            BackingOp::Write(block, data) => self.write(epoch, block, &data).await,
            BackingOp::Flush => match self.device(epoch) {
                Some(device) => {
                    let flushed = device.submit(Request::flush(Purpose::Database)).await;
                    flushed.result.map(|()| BackingAnswer::Done)
                }
                None => Ok(BackingAnswer::Fenced),
            },
        };
        done.unwrap_or_else(|error| {
            console::say(&error);
            BackingAnswer::Failed
        })
    }

    /// Locks the file for `epoch`; waits while the host of an earlier one holds it.
    async fn fence(&self, epoch: u64) -> BackingAnswer {
        self.wanted.set(epoch);
        self.open.take();
        let name = self.path.display().to_string();
        while self.wanted.get() == epoch {
            let opening = self.world.raw_device(&self.path, &name, OpenMode::ReadWrite);
            match opening.await {
                Ok(device) if self.wanted.get() == epoch => {
                    self.open.replace(Some((epoch, device)));
                    return BackingAnswer::Done;
                }
                Ok(_) => break,
                Err(DeviceError::Locked { .. }) => self.runtime.sleep(RETRY).await,
                Err(error) => {
                    console::say(&error);
                    self.runtime.sleep(Nanos::from_secs(1)).await;
                    return BackingAnswer::Failed;
                }
            }
        }
        BackingAnswer::Fenced
    }

    fn device(&self, epoch: u64) -> Option<Rc<dyn Device>> {
        let open = self.open.borrow();
        open.as_ref().filter(|(owner, _)| *owner == epoch).map(|(_, device)| Rc::clone(device))
    }

    async fn read(&self, epoch: u64, block: u64) -> Result<BackingAnswer, DeviceError> {
        let _turn = self.turn(block).await;
        let Some(device) = self.device(epoch) else { return Ok(BackingAnswer::Fenced) };
        let read = Request::read(Purpose::Database, block * self.block as u64, self.block);
        let buffer = device.submit(read).await.into_buffer()?;
        Ok(BackingAnswer::Value(Some(Arc::from(&buffer[..]))))
    }

    async fn write(
        &self,
        epoch: u64,
        block: u64,
        data: &[u8],
    ) -> Result<BackingAnswer, DeviceError> {
        let _turn = self.turn(block).await;
        let Some(device) = self.device(epoch) else { return Ok(BackingAnswer::Fenced) };
        let mut buffer = Buffer::zeroed(self.block);
        buffer.copy_from_slice(data);
        let at = block * self.block as u64;
        let write = Request::write(Purpose::Database, at, buffer, Durability::Volatile);
        device.submit(write).await.result.map(|()| BackingAnswer::Done)
    }

    /// Waits for other requests to `block`: a device does not order them.
    async fn turn(&self, block: u64) -> BlockTurn<'_> {
        while self.busy.borrow().contains(&block) {
            self.runtime.sleep(TURN).await;
        }
        self.busy.borrow_mut().insert(block);
        BlockTurn { busy: &self.busy, block }
    }
}

/// Exclusive access to a block, until dropped.
struct BlockTurn<'a> {
    busy: &'a RefCell<BTreeSet<u64>>,
    block: u64,
}

impl Drop for BlockTurn<'_> {
    fn drop(&mut self) {
        self.busy.borrow_mut().remove(&self.block);
    }
}
