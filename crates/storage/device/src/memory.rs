//! Storage in memory and virtual time: the basis of tests and crash loops.
//!
//! A request takes effect when it completes, at the time set by the virtual clock. Assertions
//! reject overlapping requests: on a disk their outcome would be undefined.

mod image;
mod in_flight;
mod service;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use units::Nanos;

pub use image::{FileImage, VolumeImage};
pub(crate) use in_flight::InFlight;
pub use service::{Service, ServiceWork};

use crate::{
    Caps, Completed, Completer, Completion, Device, DeviceError, FileEntry, Latency, Op, OpenMode,
    Pending, Request, VirtualReactor, Volume, completion,
};

/// A folder in memory. Cheap to clone: clones are the same folder.
#[derive(Clone)]
pub struct MemoryVolume {
    state: Rc<MemoryState>,
}

struct MemoryState {
    name: String,
    caps: Caps,
    reactor: Rc<VirtualReactor>,
    service: Rc<dyn Service>,
    /// Number of files created so far, which numbers the next one.
    made: Cell<u64>,
    /// See [`MemoryVolume::leave_behind`].
    remains: RefCell<Option<FileImage>>,
    /// See [`MemoryVolume::keep_open_files`].
    keeps_open_files: Cell<bool>,
    files: RefCell<BTreeMap<String, Rc<File>>>,
}

struct File {
    number: u64,
    zeroed: bool,
    image: RefCell<FileImage>,
    locked: Cell<bool>,
    in_flight: RefCell<InFlight>,
}

impl File {
    fn new(number: u64, zeroed: bool, image: FileImage) -> Rc<Self> {
        Rc::new(Self {
            number,
            zeroed,
            image: RefCell::new(image),
            locked: Cell::new(false),
            in_flight: RefCell::default(),
        })
    }
}

impl MemoryVolume {
    /// Guarantees of memory: single sectors are atomic, as on the disks it models.
    pub(crate) const CAPS: Caps = Caps {
        atomic_write_unit: 512,
        sector: 512,
        physical_sector: 512,
        volatile_cache: true,
        unbuffered: true,
        zeroed: true,
    };

    /// Free bytes that it reports: 1 TiB.
    pub(crate) const FREE_BYTES: u64 = 1 << 40;

    /// An empty folder whose operations take times drawn from `latency`.
    pub fn new(name: &str, reactor: &Rc<VirtualReactor>, latency: Latency) -> Self {
        Self::of(name, reactor, latency, &VolumeImage::default())
    }

    /// A folder that initially holds the files of `image`.
    pub fn of(
        name: &str,
        reactor: &Rc<VirtualReactor>,
        latency: Latency,
        image: &VolumeImage,
    ) -> Self {
        Self::served(name, reactor, service::drawn(reactor, latency), image)
    }

    /// Like [`Self::of`], with durations determined by `service`.
    pub fn served(
        name: &str,
        reactor: &Rc<VirtualReactor>,
        service: Rc<dyn Service>,
        image: &VolumeImage,
    ) -> Self {
        let files: BTreeMap<_, _> = (image.files.iter().zip(0..))
            .map(|((name, image), number)| (name.clone(), File::new(number, true, image.clone())))
            .collect();
        Self {
            state: Rc::new(MemoryState {
                name: name.to_owned(),
                caps: Self::CAPS,
                reactor: Rc::clone(reactor),
                service,
                made: Cell::new(files.len() as u64),
                remains: RefCell::default(),
                keeps_open_files: Cell::new(false),
                files: RefCell::new(files),
            }),
        }
    }

    /// Gives files that are created unwritten the contents of `deleted`, a file that no longer
    /// exists.
    pub fn leave_behind(&self, deleted: FileImage) {
        self.state.remains.replace(Some(deleted));
    }

    /// Rejects renames over a file that is open for writes, as on systems that do not support them.
    pub fn keep_open_files(&self) {
        self.state.keeps_open_files.set(true);
    }

    /// The current bytes of every file. Cheap: blocks are shared until they change.
    pub fn image(&self) -> VolumeImage {
        let files = self.state.files.borrow();
        VolumeImage {
            files: files
                .iter()
                .map(|(name, file)| (name.clone(), file.image.borrow().clone()))
                .collect(),
        }
    }

    /// Runs `operation` on the folder after the duration of one operation.
    fn later<T: 'static>(
        &self,
        operation: impl FnOnce(&MemoryState) -> Result<T, DeviceError> + 'static,
    ) -> Pending<T> {
        let state = Rc::clone(&self.state);
        Box::pin(async move {
            let (completer, completion) = completion();
            let submitted = state.reactor.now();
            let reactor = Rc::clone(&state.reactor);
            state.service.serve(
                &ServiceWork::of_folder(),
                Box::new(move || {
                    let completed = reactor.now();
                    completer.complete(Completed {
                        buffer: None,
                        result: Ok(()),
                        submitted,
                        completed,
                    });
                }),
            );
            completion.await.result?;
            operation(&state)
        })
    }
}

impl MemoryState {
    fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.name)
    }

    fn file(&self, file: &str) -> Result<Rc<File>, DeviceError> {
        let found = self.files.borrow().get(file).map(Rc::clone);
        found.ok_or_else(|| DeviceError::NotFound { file: self.path(file) })
    }

    fn open(self: &Rc<Self>, name: &str, mode: OpenMode) -> Result<MemoryDevice, DeviceError> {
        let file = match mode {
            OpenMode::ReadOnly | OpenMode::ReadWrite => self.file(name)?,
            OpenMode::CreateNew { length } => self.create(name, FileImage::zeroed(length), true)?,
            OpenMode::CreateUnwritten { length } => {
                let remains = self.remains.borrow().as_ref().map(|old| left_of(old, length));
                let zeroed = remains.is_none();
                self.create(name, remains.unwrap_or_else(|| FileImage::zeroed(length)), zeroed)?
            }
        };
        let writable = mode != OpenMode::ReadOnly;
        if writable && file.locked.replace(true) {
            return Err(DeviceError::Locked { file: self.path(name) });
        }
        Ok(MemoryDevice {
            handle: Rc::new(Handle {
                volume: Rc::clone(self),
                file,
                name: self.path(name),
                writable,
            }),
        })
    }

    fn create(&self, name: &str, image: FileImage, zeroed: bool) -> Result<Rc<File>, DeviceError> {
        let mut files = self.files.borrow_mut();
        if files.contains_key(name) {
            return Err(DeviceError::AlreadyExists { file: self.path(name) });
        }
        let number = self.made.replace(self.made.get() + 1);
        let file = File::new(number, zeroed, image);
        files.insert(name.to_owned(), Rc::clone(&file));
        Ok(file)
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), DeviceError> {
        self.file(from)?;
        let is_open = self.file(to).is_ok_and(|replaced| replaced.locked.get());
        if is_open && self.keeps_open_files.get() {
            return Err(DeviceError::PermissionDenied { file: self.path(from) });
        }
        let mut files = self.files.borrow_mut();
        if let Some(file) = files.remove(from) {
            files.insert(to.to_owned(), file);
        }
        Ok(())
    }

    fn remove(&self, file: &str) -> Result<(), DeviceError> {
        self.file(file)?;
        self.files.borrow_mut().remove(file);
        Ok(())
    }

    fn list(&self) -> Vec<FileEntry> {
        let mut entries = Vec::new();
        for (name, file) in self.files.borrow().iter() {
            let length = file.image.borrow().length();
            entries.push(FileEntry { name: name.clone(), length });
        }
        entries
    }
}

/// A new file of `length` bytes that holds remains of `old` after its first, zeroed bytes.
fn left_of(old: &FileImage, length: u64) -> FileImage {
    let mut image = old.clone();
    image.set_length(length);
    let zeroed = usize::try_from(length.min(OpenMode::ZEROED_BYTES));
    image.write(0, &vec![0; zeroed.expect("invariant: at most 1 MiB")]);
    image
}

impl Volume for MemoryVolume {
    fn open(&self, file: &str, mode: OpenMode) -> Pending<Rc<dyn Device>> {
        let (name, state) = (file.to_owned(), Rc::clone(&self.state));
        self.later(move |_| {
            let device = state.open(&name, mode)?;
            Ok(Rc::new(device) as Rc<dyn Device>)
        })
    }

    fn rename(&self, from: &str, to: &str) -> Pending<()> {
        let (from, to) = (from.to_owned(), to.to_owned());
        self.later(move |state| state.rename(&from, &to))
    }

    fn remove(&self, file: &str) -> Pending<()> {
        let file = file.to_owned();
        self.later(move |state| state.remove(&file))
    }

    fn list(&self) -> Pending<Vec<FileEntry>> {
        self.later(|state| Ok(state.list()))
    }

    fn free_bytes(&self) -> Pending<u64> {
        self.later(|_| Ok(Self::FREE_BYTES))
    }

    fn name(&self) -> &str {
        &self.state.name
    }
}

struct Handle {
    volume: Rc<MemoryState>,
    file: Rc<File>,
    name: String,
    writable: bool,
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.writable {
            self.file.locked.set(false);
        }
    }
}

struct MemoryDevice {
    handle: Rc<Handle>,
}

impl Device for MemoryDevice {
    fn submit(&self, request: Request) -> Completion {
        request.op.assert_aligned();
        let handle = Rc::clone(&self.handle);
        let (completer, completion) = completion();
        let ticket = handle.file.in_flight.borrow_mut().begin(&handle.name, &request.op);
        let work = ServiceWork::of(&request.op, handle.file.number, self.length());
        let submitted = handle.volume.reactor.now();
        let service = Rc::clone(&handle.volume.service);
        service.serve(
            &work,
            Box::new(move || {
                handle.file.in_flight.borrow_mut().end(ticket);
                handle.finish(request.op, submitted, completer);
            }),
        );
        completion
    }

    fn caps(&self) -> Caps {
        Caps { zeroed: self.handle.file.zeroed, ..self.handle.volume.caps }
    }

    fn length(&self) -> u64 {
        self.handle.file.image.borrow().length()
    }

    fn name(&self) -> &str {
        &self.handle.name
    }
}

impl Handle {
    fn finish(&self, mut op: Op, submitted: Nanos, completer: Completer) {
        let result = self.perform(&mut op);
        completer.complete(Completed {
            buffer: op.into_buffer(),
            result,
            submitted,
            completed: self.volume.reactor.now(),
        });
    }

    fn perform(&self, op: &mut Op) -> Result<(), DeviceError> {
        if !self.writable && !matches!(op, Op::Read { .. }) {
            return Err(DeviceError::PermissionDenied { file: self.name.clone() });
        }
        let mut image = self.file.image.borrow_mut();
        match op {
            Op::Read { offset, buffer } => {
                let moved = image.read(*offset, buffer);
                self.whole(*offset, buffer.len(), moved)
            }
            Op::Write { offset, buffer, .. } => {
                if *offset + buffer.len() as u64 > image.length() {
                    return self.whole(*offset, buffer.len(), 0);
                }
                image.write(*offset, buffer);
                Ok(())
            }
            Op::Flush => Ok(()),
            Op::SetLength { length } => {
                image.set_length(*length);
                Ok(())
            }
        }
    }

    fn whole(&self, offset: u64, wanted: usize, moved: usize) -> Result<(), DeviceError> {
        if moved == wanted {
            return Ok(());
        }
        Err(DeviceError::Short { file: self.name.clone(), offset, wanted, moved })
    }
}

#[cfg(test)]
mod tests;
