//! The database header of an open database: rewritten when its state changes, or the range of log
//! generations that recovery would need.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use device::{Buffer, Device, Durability, Notify, Purpose, Request};
use ese::Lgpos;
use ese::flush_map::unpair;
use ese::header::{CopyState, DatabaseHeader, DatabaseState};
use ese::page::PageSize;
use units::Generation;
use wal::{NotAsWritten, Written, difference};

use crate::maintenance::progress::ScanProgress;

/// Both copies of the header and their contents.
pub(crate) struct HeaderFile {
    device: Rc<dyn Device>,
    page_size: PageSize,
    header: RefCell<DatabaseHeader>,
    /// Progress of the maintenance scan, for the next write.
    scan: Cell<Option<ScanProgress>>,
    /// Whether readers use the first header copy rather than the second.
    primary_counts: Cell<bool>,
    /// The last generation needed, according to the copies on disk.
    stored_last: Cell<Generation>,
    writing: Cell<bool>,
    free: Notify,
}

impl HeaderFile {
    /// A header read from `device`; `primary` is the state in which its first copy was found.
    pub(crate) fn new(
        device: Rc<dyn Device>,
        (header, page_size): (DatabaseHeader, PageSize),
        primary: CopyState,
    ) -> Self {
        Self {
            device,
            page_size,
            primary_counts: Cell::new(primary == CopyState::Good),
            stored_last: Cell::new(header.generation_max_required),
            header: RefCell::new(header),
            scan: Cell::new(None),
            writing: Cell::new(false),
            free: Notify::default(),
        }
    }

    /// The current contents of the header.
    pub(crate) fn current(&self) -> DatabaseHeader {
        self.header.borrow().clone()
    }

    /// Records the progress of the maintenance scan, to be stored with the next header write.
    pub(crate) fn note_scan(&self, progress: ScanProgress) {
        self.scan.set(Some(progress));
    }

    /// Makes sure that the header on disk names `generation` before a page changed in it is
    /// written. `durable` is the last generation with durable records: naming it now saves a later
    /// write of the header.
    pub(crate) async fn require(
        &self,
        generation: Generation,
        durable: Generation,
    ) -> Result<(), String> {
        while self.stored_last.get() < generation {
            if self.writing.get() {
                // The write in progress may name it; many pages wait for the same generation.
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

    /// Records that recovery begins at `checkpoint` and needs the log up to the generation of
    /// `end`.
    pub(crate) async fn move_range(
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

    /// Changes the header and writes both copies, one after the other.
    pub(crate) async fn update(
        &self,
        change: impl FnOnce(&mut DatabaseHeader),
    ) -> Result<(), String> {
        self.free.wait_until(|| !self.writing.get()).await;
        self.writing.set(true);
        let image = {
            let mut header = self.header.borrow_mut();
            change(&mut header);
            if let Some(progress) = self.scan.get() {
                progress.put(&mut header);
            }
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

    /// Reads both copies back; returns the first that differs from the last write.
    pub(crate) async fn compare(&self) -> Option<NotAsWritten> {
        let image = self.header.borrow().encode(self.page_size);
        let second = self.page_size.bytes_u64();
        for (copy, offset) in [(1, 0), (2, second)] {
            let (offset, what) = match difference(&*self.device, offset, &image).await {
                Ok(None) => continue,
                Ok(Some(offset)) => (offset, Written::Header { copy }),
                Err(error) => (offset, Written::Unreadable(error)),
            };
            let file = self.device.name().to_owned();
            return Some(NotAsWritten { file, offset, what });
        }
        None
    }

    /// The copy that readers use is written last: an earlier power failure may have torn the other
    /// one, and another may tear the copy being written now.
    async fn write_copies(&self, image: &[u8]) -> Result<(), String> {
        let first = u64::from(self.primary_counts.get());
        for copy in [first, 1 - first] {
            let offset = copy * self.page_size.bytes_u64();
            let buffer = Buffer::copy_of(image);
            let request = Request::write(Purpose::Header, offset, buffer, Durability::Durable);
            self.device.submit(request).await.result.map_err(|error| error.to_string())?;
        }
        self.primary_counts.set(true);
        Ok(())
    }
}

/// Marks a header as belonging to a database in use since `attached`; after a crash, recovery
/// starts at `checkpoint`.
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

/// Marks a header as belonging to a database that needs no recovery.
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
        Executor, FileImage, Latency, MemoryVolume, Observation, Observer, OpenMode, Purpose,
        Request, TracedVolume, VirtualReactor, Volume as _, VolumeImage,
    };
    use ese::Signature;
    use ese::header::{CopyState, DatabaseHeader, read_copies};
    use ese::page::PageSize;
    use faults::{CrashOptions, CrashVolume};
    use units::{Generation, Nanos, Seed};

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
            let file = Rc::new(HeaderFile::new(device, (header, size), CopyState::Good));
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

    const SIZE: PageSize = PageSize::KIB_8;
    const FILE: &str = "file";

    /// Changes the header of `before`, cutting the power at one of the requests; returns the
    /// possible surviving images.
    fn torn_at(request: u64, before: &VolumeImage) -> Vec<VolumeImage> {
        let reactor = VirtualReactor::new();
        let memory = MemoryVolume::of("memory", &reactor, Latency::fixed(Nanos(10)), before);
        let options = CrashOptions { at_request: Some(request), ..CrashOptions::default() };
        let volume = CrashVolume::new(Rc::new(memory), before, options);
        let twin = volume.clone();
        let done = volume.run(&Executor::new(reactor), async move {
            let device = twin.open(FILE, OpenMode::ReadWrite).await.expect("a file");
            let start = Request::read(Purpose::Checksum, 0, 2 * SIZE.bytes());
            let start = device.submit(start).await.into_buffer().expect("two pages");
            let copies = read_copies(&start).expect("a good copy");
            let header = (copies.header, copies.page_size);
            let file = HeaderFile::new(device, header, copies.primary);
            // These fields are in different sectors.
            file.update(|header| {
                header.dbtime += 1;
                header.generation_min_consistent.0 += 1;
            })
            .await
        });
        assert_eq!(done, None, "power failed");
        (0..40).map(|draw| volume.survivors(Seed(draw))).collect()
    }

    fn has_a_header(image: &VolumeImage) -> bool {
        read_copies(&image.files[FILE].to_vec()).is_ok()
    }

    /// The read of the header is the first request, the writes of its copies are the others.
    const WRITES: [u64; 2] = [2, 3];

    #[test]
    fn power_that_fails_twice_leaves_a_good_copy() {
        let copy = DatabaseHeader::new(SIZE, Signature::default()).encode(SIZE);
        let file = FileImage::of(&[&copy[..], &copy[..]].concat());
        let whole = VolumeImage { files: [(FILE.to_owned(), file)].into() };
        for first in WRITES {
            let left = torn_at(first, &whole);
            assert!(left.iter().all(has_a_header), "torn at request {first}");
            for (image, second) in left.iter().flat_map(|image| WRITES.map(|at| (image, at))) {
                let left = torn_at(second, image);
                let good = left.iter().all(has_a_header);
                assert!(good, "torn at request {first}, then at {second}");
            }
        }
    }
}
