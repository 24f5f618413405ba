//! An array behind the seam: folders in memory whose requests take as long as the array needs.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use device::{MemoryVolume, OpKind, Service, ServiceWork, VirtualReactor, VolumeImage};
use units::{Nanos, Seed};

use crate::array::{ArrayState, HostRequest};
use crate::description::{ArrayDescription, DescriptionError};
use crate::disk::VirtualMoment;
use crate::places::FilePlaces;

/// An array in the virtual time of a reactor. Clones are the same array.
#[derive(Clone)]
pub struct SimulatedArray(Rc<Driver>);

struct Driver {
    array: RefCell<ArrayState>,
    reactor: Rc<VirtualReactor>,
    waiting: RefCell<BTreeMap<u64, Box<dyn FnOnce()>>>,
    /// Number of the next request.
    next: Cell<u64>,
    /// The moment for which the reactor has been asked.
    asked: Cell<Option<VirtualMoment>>,
}

/// What part of an array a folder has, and how its databases lie there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrayShare {
    /// Number of the folder, from 0.
    pub index: u64,
    /// Folders that share the array evenly.
    pub count: u64,
    /// Bytes that each byte of a database stands for.
    pub stretch: f64,
    /// Bytes of a stretched database that lie together.
    pub block_bytes: u64,
}

impl SimulatedArray {
    /// The array of a description, idle; `seed` turns its platters.
    pub fn new(
        description: &ArrayDescription,
        reactor: &Rc<VirtualReactor>,
        seed: Seed,
    ) -> Result<Self, DescriptionError> {
        let model = description.model(&description.name)?;
        Ok(Self(Rc::new(Driver {
            array: RefCell::new(ArrayState::new(&model, seed)),
            reactor: Rc::clone(reactor),
            waiting: RefCell::default(),
            next: Cell::new(0),
            asked: Cell::new(None),
        })))
    }

    /// Bytes that it holds.
    pub fn capacity_bytes(&self) -> u64 {
        self.0.array.borrow().capacity()
    }

    /// A folder on a share of the array that begins with the files of `image`.
    pub fn volume(&self, name: &str, share: ArrayShare, image: &VolumeImage) -> MemoryVolume {
        let each = self.capacity_bytes() / share.count.max(1);
        let mut places =
            FilePlaces::new(each * share.index, each, (share.stretch, share.block_bytes));
        // Databases lie where they were prepared, before any log is begun.
        for (number, file) in (0..).zip(image.files.values()) {
            places.address(number, file.length(), 0);
        }
        let folder = Folder { driver: Rc::clone(&self.0), places: RefCell::new(places) };
        MemoryVolume::served(name, &self.0.reactor, Rc::new(folder), image)
    }

    #[cfg(test)]
    /// Requests that each drive has served, and for how long it was at work.
    fn drive_work(&self) -> Vec<(u64, Nanos)> {
        let mut work = Vec::new();
        for (served, busy) in self.0.array.borrow().drive_work() {
            work.push((served, Nanos(busy)));
        }
        work
    }

    #[cfg(test)]
    /// Events of the simulation so far.
    fn events(&self) -> u64 {
        self.0.array.borrow().handled
    }
}

struct Folder {
    driver: Rc<Driver>,
    places: RefCell<FilePlaces>,
}

impl Service for Folder {
    fn serve(&self, work: &ServiceWork, done: Box<dyn FnOnce()>) {
        let file = work.file.unwrap_or(u64::MAX);
        let offset = match work.length {
            0 => 0,
            _ => self.places.borrow_mut().address(file, work.file_length, work.offset),
        };
        self.driver.submit(work.kind == OpKind::Write, (offset, work.length), done);
    }
}

impl Driver {
    fn submit(
        self: &Rc<Self>,
        is_write: bool,
        (offset, length): (u64, u64),
        done: Box<dyn FnOnce()>,
    ) {
        let token = self.next.replace(self.next.get() + 1);
        self.waiting.borrow_mut().insert(token, done);
        let now = self.reactor.now().0;
        let request = HostRequest { token, is_write, offset, length };
        self.array.borrow_mut().submit(now, request);
        self.ask();
    }

    /// Asks the reactor for the moment of the next event, unless it has been asked for an earlier
    /// one.
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

    use super::{ArrayShare, SimulatedArray};
    use crate::description::ArrayDescription;

    const ARRAY: &str = include_str!("../../../arrays/shelf-15k.toml");

    #[test]
    fn a_simulated_array_behaves_like_any_storage() {
        for change in ["write-back", "write-through", "pass-through"] {
            let changes = [("cache.mode".to_owned(), change.to_owned())];
            let description = ArrayDescription::parse("shelf", ARRAY, &changes).expect("an array");
            let reactor = VirtualReactor::new();
            let array = SimulatedArray::new(&description, &reactor, Seed(1)).expect("an array");
            let share = ArrayShare { index: 0, count: 1, stretch: 1.0, block_bytes: 1 << 20 };
            let volume = array.volume("a", share, &VolumeImage::default());
            let executor = Executor::new(reactor);
            conformance::check_all(&executor, &(Rc::new(volume) as Rc<dyn Volume>));
            assert!(
                array.events() > 100 && array.drive_work().iter().any(|(served, _)| *served > 0)
            );
        }
    }
}
