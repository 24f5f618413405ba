//! The database header of an open database: rewritten when its state or the range of log
//! generations changes that recovery would need.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use device::{Buffer, Device, Durability, Purpose, Request};
use ese::Lgpos;
use ese::flush_map::unpair;
use ese::header::{DatabaseHeader, DatabaseState};
use ese::page::PageSize;
use units::Generation;

use crate::notify::Notify;

/// Both copies of the header and what they say.
pub(crate) struct HeaderFile {
    device: Rc<dyn Device>,
    page_size: PageSize,
    header: RefCell<DatabaseHeader>,
    /// What the copies on disk say of the last generation needed.
    stored_last: Cell<Generation>,
    writing: Cell<bool>,
    free: Notify,
}

impl HeaderFile {
    /// The header that was read from `device`.
    pub fn new(device: Rc<dyn Device>, page_size: PageSize, header: DatabaseHeader) -> Self {
        Self {
            device,
            page_size,
            stored_last: Cell::new(header.generation_max_required),
            header: RefCell::new(header),
            writing: Cell::new(false),
            free: Notify::default(),
        }
    }

    /// What the header says now.
    pub fn current(&self) -> DatabaseHeader {
        self.header.borrow().clone()
    }

    /// Makes sure that the header on disk names `generation` before a page changed in it is
    /// written. `durable` is the last generation with durable records: naming it at the same time
    /// spares a write of the header.
    pub async fn require(&self, generation: Generation, durable: Generation) -> Result<(), String> {
        while self.stored_last.get() < generation {
            if self.writing.get() {
                // What is being written may name it; many pages wait for the same generation.
                self.free.wait_until(|| !self.writing.get()).await;
                continue;
            }
            let last = durable.max(generation);
            self.update(|header| {
                header.generation_max_required = header.generation_max_required.max(last);
                header.generation_max_committed = header.generation_max_required;
            })
            .await?;
        }
        Ok(())
    }

    /// States that recovery begins at `checkpoint` and needs the log up to the generation of `end`.
    pub async fn move_range(
        &self,
        checkpoint: Lgpos,
        end: Lgpos,
        dbtime: u64,
    ) -> Result<(), String> {
        let (first, last) = (checkpoint.generation, end.generation);
        let unchanged = {
            let header = self.header.borrow();
            header.generation_min_required == first && self.stored_last.get() >= last
        };
        if unchanged {
            return Ok(());
        }
        self.update(|header| {
            header.generation_min_required = first;
            header.generation_min_consistent = first;
            header.generation_max_required = header.generation_max_required.max(last);
            header.generation_max_committed = header.generation_max_required;
            header.dbtime = header.dbtime.max(dbtime);
        })
        .await
    }

    /// Changes the header and writes both copies, the first before the second.
    pub async fn update(&self, change: impl FnOnce(&mut DatabaseHeader)) -> Result<(), String> {
        self.free.wait_until(|| !self.writing.get()).await;
        self.writing.set(true);
        let image = {
            let mut header = self.header.borrow_mut();
            change(&mut header);
            header.encode(self.page_size)
        };
        let stored = self.header.borrow().generation_max_required;
        let written = self.write_copies(&image).await;
        self.writing.set(false);
        self.free.notify_all();
        written?;
        self.stored_last.set(stored);
        Ok(())
    }

    async fn write_copies(&self, image: &[u8]) -> Result<(), String> {
        for copy in 0..2 {
            let offset = copy * self.page_size.bytes_u64();
            let buffer = Buffer::copy_of(image);
            let request = Request::write(Purpose::Header, offset, buffer, Durability::Durable);
            self.device
                .submit(request)
                .await
                .result
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// Marks a header as that of a database in use from `attached` on, which recovery would have to
/// redo from `checkpoint` on.
pub(crate) fn attach(header: &mut DatabaseHeader, checkpoint: Lgpos, attached: Lgpos) {
    header.state = DatabaseState::DirtyShutdown;
    unpair(header);
    header.attached_at = attached;
    header.detached_at = Lgpos::NONE;
    header.generation_min_required = checkpoint.generation;
    header.generation_min_consistent = checkpoint.generation;
    header.generation_max_required = attached.generation;
    header.generation_max_committed = attached.generation;
}

/// Marks a header as that of a database that is complete in itself.
pub(crate) fn detach(header: &mut DatabaseHeader, detached: Lgpos, dbtime: u64) {
    header.state = DatabaseState::CleanShutdown;
    header.detached_at = detached;
    header.consistent_at = detached;
    header.dbtime = header.dbtime.max(dbtime);
    header.generation_min_required = Generation(0);
    header.generation_min_consistent = Generation(0);
    header.generation_max_required = Generation(0);
    header.generation_max_committed = Generation(0);
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use device::{
        Executor, Latency, MemoryVolume, Observation, Observer, OpenMode, TracedVolume,
        VirtualReactor, Volume as _,
    };
    use ese::Signature;
    use ese::header::DatabaseHeader;
    use ese::page::PageSize;
    use units::{Generation, Nanos};

    use super::HeaderFile;

    #[derive(Default)]
    struct Count(Cell<u32>);

    impl Observer for Count {
        fn observe(&self, _: &Observation) {
            self.0.set(self.0.get() + 1);
        }
    }

    #[test]
    fn many_pages_of_one_generation_cost_one_header() {
        let reactor = VirtualReactor::new();
        let memory = MemoryVolume::new("memory", &reactor, Latency::fixed(Nanos(10)));
        let count = Rc::new(Count::default());
        let volume = TracedVolume::new(Rc::new(memory), Rc::<Count>::clone(&count));
        let executor = Executor::new(reactor);
        let runtime = executor.runtime();
        executor.block_on(async move {
            let size = PageSize::KIB_4;
            let mode = OpenMode::CreateNew { length: 8192 };
            let device = volume.open("file", mode).await.expect("a new file");
            let header = DatabaseHeader::new(size, Signature::default());
            let file = Rc::new(HeaderFile::new(device, size, header));
            let requires: Vec<_> = (0..20)
                .map(|_| {
                    let file = Rc::clone(&file);
                    runtime.spawn(async move { file.require(Generation(3), Generation(4)).await })
                })
                .collect();
            for require in requires {
                assert_eq!(require.await, Ok(()));
            }
            let later = file.require(Generation(4), Generation(4)).await;
            assert_eq!(later, Ok(()), "the durable generation was named along");
            assert_eq!(file.current().generation_max_required, Generation(4));
        });
        assert_eq!(count.0.get(), 2, "each copy once");
    }
}
