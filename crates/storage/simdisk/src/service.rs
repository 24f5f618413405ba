//! An array behind the seam: folders in memory whose requests take as long as the array needs.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use device::{Durability, MemoryVolume, OpKind, Service, ServiceWork, VirtualReactor, VolumeImage};
use units::{Nanos, Seed};

use crate::array::{HostRequest, HostWork};
use crate::description::{ArrayDescription, DescriptionError, FileSystemSection};
use crate::disk::VirtualMoment;
use crate::file_system::Metadata;
use crate::host_cache::{CachedArray, HostCacheCounters};
use crate::places::{FilePlaces, FileRequest};

/// An array in the virtual time of a reactor. Clones share the array.
#[derive(Clone)]
pub struct SimulatedArray(Rc<Driver>);

struct Driver {
    array: RefCell<CachedArray>,
    reactor: Rc<VirtualReactor>,
    file_system: FileSystemSection,
    seed: Seed,
    /// Locations of databases that no cache has been warmed with.
    databases: RefCell<Vec<Range<u64>>>,
    waiting: RefCell<BTreeMap<u64, Box<dyn FnOnce()>>>,
    /// Number of the next request.
    next: Cell<u64>,
    /// The moment at which the reactor was asked to wake the array.
    asked: Cell<Option<VirtualMoment>>,
}

/// A folder's part of an array, and the layout of its databases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrayShare {
    /// Number of the folder on the array, from 0.
    pub number: u64,
    /// Offset of the part on the array, in bytes.
    pub base: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// Real bytes per byte of a database.
    pub stretch: f64,
}

impl SimulatedArray {
    /// Creates an idle array from a description; `seed` draws the angles of its platters.
    pub fn new(
        description: &ArrayDescription,
        reactor: &Rc<VirtualReactor>,
        seed: Seed,
    ) -> Result<Self, DescriptionError> {
        let model = description.model(&description.name)?;
        Ok(Self(Rc::new(Driver {
            array: RefCell::new(CachedArray::new(&model, seed)),
            reactor: Rc::clone(reactor),
            file_system: description.file_system,
            seed,
            databases: RefCell::default(),
            waiting: RefCell::default(),
            next: Cell::new(0),
            asked: Cell::new(None),
        })))
    }

    /// Bytes that it holds.
    pub fn capacity_bytes(&self) -> u64 {
        self.0.array.borrow().capacity()
    }

    /// Fill level of its write memory, as a share of it; `None` if it keeps no writes there.
    pub fn filled_memory(&self) -> Option<f64> {
        self.0.array.borrow().filled_memory()
    }

    /// Counters of the host's cache in front of it; `None` if there is no cache.
    pub fn host_cache(&self) -> Option<HostCacheCounters> {
        self.0.array.borrow().counters()
    }

    /// The number of the request that was sent last; requests are counted from 0.
    pub fn last_request(&self) -> Option<u64> {
        self.0.next.get().checked_sub(1)
    }

    /// Fills the part of the host's cache that is warm from the start with blocks of the databases
    /// of all volumes made so far.
    pub fn warm(&self) {
        let databases = self.0.databases.take();
        for bytes in &databases {
            self.0.array.borrow_mut().warm(bytes.clone(), 1.0 / databases.len() as f64);
        }
    }

    /// Whether every byte of write number `write` would survive a power failure now: on a medium,
    /// or in memory that survives without power.
    pub fn spares(&self, write: u64) -> bool {
        self.0.array.borrow().spares(write)
    }

    /// The share of a folder that has the array to itself.
    pub fn whole(&self) -> ArrayShare {
        ArrayShare { number: 0, base: 0, bytes: self.capacity_bytes(), stretch: 1.0 }
    }

    /// A folder on a share of the array that begins with the files of `image`.
    pub fn volume(&self, name: &str, share: ArrayShare, image: &VolumeImage) -> MemoryVolume {
        let mut places = FilePlaces::new(share.base, share.bytes, share.stretch);
        // Databases are placed where they were prepared, before any log begins.
        places.fill(image);
        self.0.databases.borrow_mut().extend(places.databases());
        let folder = Folder {
            driver: Rc::clone(&self.0),
            index: share.number,
            places: RefCell::new(places),
            metadata: RefCell::new(Metadata::new(
                self.0.file_system,
                share.base + share.bytes,
                self.0.seed.derive(0x4D45_5441 + share.number),
            )),
        };
        MemoryVolume::served(name, &self.0.reactor, Rc::new(folder), image)
    }

    #[cfg(test)]
    /// Requests served by each drive, and its busy time.
    fn drive_work(&self) -> Vec<(u64, Nanos)> {
        let mut work = Vec::new();
        for (served, busy) in self.0.array.borrow().array().drive_work() {
            work.push((served, Nanos(busy)));
        }
        work
    }

    #[cfg(test)]
    /// Events of the simulation so far.
    fn events(&self) -> u64 {
        self.0.array.borrow().events()
    }
}

struct Folder {
    driver: Rc<Driver>,
    index: u64,
    places: RefCell<FilePlaces>,
    metadata: RefCell<Metadata>,
}

impl Service for Folder {
    fn serve(&self, work: &ServiceWork, done: Box<dyn FnOnce()>) {
        let file = work.file.unwrap_or(u64::MAX);
        let offset = match work.length {
            0 => 0,
            length => {
                let is_write = work.kind == OpKind::Write;
                let extent = FileRequest { offset: work.offset, length, is_write };
                self.places.borrow_mut().address(file, work.file_length, extent)
            }
        };
        let asked = match work.kind {
            OpKind::Read => HostWork::Read,
            OpKind::Write => HostWork::Write(work.durability),
            OpKind::Flush | OpKind::SetLength => HostWork::Flush,
        };
        let done = match asked {
            HostWork::Write(durability) => self.with_metadata(durability, done),
            HostWork::Read | HostWork::Flush => done,
        };
        let volume = self.volume(file, work.file_length);
        self.driver.submit((asked, volume), (offset, work.length), done);
    }
}

impl Folder {
    /// Volume of a file as seen by a cache below the file system: one per database, and a shared
    /// one for all logs of the folder.
    fn volume(&self, file: u64, length: u64) -> u64 {
        let own = if FilePlaces::is_database(length) { file + 1 } else { 0 };
        self.index << 32 | own & u64::from(u32::MAX)
    }

    /// Sends the file system's additional writes for a write of the database; returns the callback
    /// for the end of that write.
    fn with_metadata(&self, durability: Durability, done: Box<dyn FnOnce()>) -> Box<dyn FnOnce()> {
        let owed = self.metadata.borrow_mut().owed();
        let is_awaited = self.driver.file_system.is_awaited;
        let awaited = if is_awaited { owed.len() } else { 0 };
        let all = Rc::new(Awaited { left: Cell::new(awaited + 1), done: Cell::new(Some(done)) });
        for extent in owed {
            let all = is_awaited.then(|| Rc::clone(&all));
            let told = Box::new(move || all.iter().for_each(|all| all.one_is_done()));
            let volume = self.volume(u64::MAX, 0);
            self.driver.submit((HostWork::Write(durability), volume), extent, told);
        }
        Box::new(move || all.one_is_done())
    }
}

/// Calls `done` once nothing remains to do.
struct Awaited {
    left: Cell<usize>,
    done: Cell<Option<Box<dyn FnOnce()>>>,
}

impl Awaited {
    fn one_is_done(&self) {
        self.left.set(self.left.get() - 1);
        if self.left.get() == 0
            && let Some(done) = self.done.take()
        {
            done();
        }
    }
}

impl Driver {
    fn submit(
        self: &Rc<Self>,
        (work, volume): (HostWork, u64),
        (offset, length): (u64, u64),
        done: Box<dyn FnOnce()>,
    ) {
        let token = self.next.replace(self.next.get() + 1);
        self.waiting.borrow_mut().insert(token, done);
        let now = self.reactor.now().0;
        let request = HostRequest { token, work, offset, length };
        self.array.borrow_mut().submit(now, volume, request);
        self.ask();
    }

    /// Asks the reactor to wake the array at the next event, unless an earlier wake-up is pending.
    fn ask(self: &Rc<Self>) {
        let Some(next) = self.array.borrow().next_event() else {
            return;
        };
        if self.asked.get().is_some_and(|asked| asked <= next) {
            return;
        }
        self.asked.set(Some(next));
        let driver = Rc::clone(self);
        let span = Nanos(next).since(self.reactor.now());
        self.reactor.after(span, move || driver.run());
    }

    fn run(self: &Rc<Self>) {
        let now = self.reactor.now().0;
        if self.asked.get().is_some_and(|asked| asked <= now) {
            self.asked.set(None);
        }
        let mut answered = Vec::new();
        self.array.borrow_mut().advance(now, |token| answered.push(token));
        for token in answered {
            let done = self.waiting.borrow_mut().remove(&token);
            done.expect("invariant: a request is answered once")();
        }
        self.ask();
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use device::{Executor, VirtualReactor, Volume, VolumeImage, conformance};
    use units::Seed;

    use super::SimulatedArray;
    use crate::description::ArrayDescription;

    const ARRAY: &str = include_str!("../../../../arrays/shelf-15k.toml");

    #[test]
    fn a_simulated_array_behaves_like_any_storage() {
        for change in ["write-back", "write-through", "pass-through"] {
            let changes = [("cache.mode".to_owned(), change.to_owned())];
            let description = ArrayDescription::parse("shelf", ARRAY, &changes).expect("an array");
            let reactor = VirtualReactor::new();
            let array = SimulatedArray::new(&description, &reactor, Seed(1)).expect("an array");
            let volume = array.volume("a", array.whole(), &VolumeImage::default());
            let executor = Executor::new(reactor);
            conformance::check_all(&executor, &(Rc::new(volume) as Rc<dyn Volume>));
            assert!(
                array.events() > 100 && array.drive_work().iter().any(|(served, _)| *served > 0)
            );
        }
    }
}
