//! A folder whose every effect is recorded, so that the files can be made as a power failure at
//! any moment would leave them.
//!
//! What must survive: writes that were durable or flushed when they completed, and folder
//! operations that completed. Everything else may have happened or not, writes sector by sector.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use device::{
    Caps, Completion, Device, Durability, FileEntry, FileImage, Op, OpenMode, Pending, Request,
    Volume, VolumeImage,
};
use units::{Prng, Seed};

fn bytes_of(count: u64) -> usize {
    usize::try_from(count).expect("files in memory are small")
}

const SECTOR_BYTES: usize = 512;

#[derive(Clone, Debug)]
enum Effect {
    Create {
        name: String,
        file: usize,
        length: u64,
    },
    Rename {
        from: String,
        to: String,
    },
    Remove {
        name: String,
    },
    SetLength {
        file: usize,
        length: u64,
    },
    Write {
        file: usize,
        offset: u64,
        bytes: Rc<[u8]>,
        durable: bool,
    },
    Flush {
        file: usize,
    },
}

#[derive(Clone, Debug)]
enum Event {
    Begin(Effect),
    End(usize),
}

#[derive(Default)]
struct Recording {
    events: RefCell<Vec<Event>>,
    names: RefCell<BTreeMap<String, usize>>,
    files: Cell<usize>,
}

impl Recording {
    fn begin(&self, effect: Effect) -> usize {
        self.events.borrow_mut().push(Event::Begin(effect));
        self.events.borrow().len() - 1
    }

    fn end(&self, begun: usize) {
        self.events.borrow_mut().push(Event::End(begun));
    }

    fn new_file(&self) -> usize {
        self.files.replace(self.files.get() + 1)
    }
}

/// Records what happens on another volume.
#[derive(Clone)]
pub(crate) struct CrashVolume {
    inner: Rc<dyn Volume>,
    start: VolumeImage,
    recording: Rc<Recording>,
}

struct CrashDevice {
    inner: Rc<dyn Device>,
    file: usize,
    recording: Rc<Recording>,
}

impl CrashVolume {
    /// Records what happens on `inner`, which holds `start` now.
    pub(crate) fn new(inner: Rc<dyn Volume>, start: VolumeImage) -> Self {
        let recording = Rc::new(Recording::default());
        for name in start.files.keys() {
            let file = recording.new_file();
            recording.names.borrow_mut().insert(name.clone(), file);
        }
        Self {
            inner,
            start,
            recording,
        }
    }

    /// How many moments have passed: a crash may fall behind any number of them.
    pub(crate) fn moments(&self) -> usize {
        self.recording.events.borrow().len()
    }

    /// The files as they are when the process is killed now: all that has completed, nothing else.
    pub(crate) fn killed(&self) -> VolumeImage {
        let mut remains = Remains::of(&self.start, Seed(0));
        let events = self.recording.events.borrow();
        let effects = events.iter().filter_map(|event| match event {
            Event::End(begun) => Some(*begun),
            Event::Begin(_) => None,
        });
        for begun in effects {
            if let Event::Begin(effect) = &events[begun] {
                remains.apply(effect);
            }
        }
        remains.settle()
    }

    /// The files after a power failure behind the first `moments` moments; `seed` decides what
    /// happened to everything that was not certain by then.
    pub(crate) fn crash(&self, moments: usize, seed: Seed) -> VolumeImage {
        let mut remains = Remains::of(&self.start, seed);
        let events = self.recording.events.borrow();
        let events = &events[..moments];
        let mut open: BTreeMap<usize, &Effect> = BTreeMap::new();
        for (index, event) in events.iter().enumerate() {
            match event {
                Event::Begin(effect) => {
                    remains.begin(index, effect);
                    open.insert(index, effect);
                }
                Event::End(begun) => {
                    let effect = open.remove(begun).expect("an effect ends once");
                    remains.finish(*begun, effect);
                }
            }
        }
        for effect in open.into_values() {
            remains.perhaps(effect);
        }
        remains.settle()
    }
}

/// What is certain, and what is not.
struct Remains {
    names: BTreeMap<String, usize>,
    files: BTreeMap<usize, Vec<u8>>,
    /// Completed volatile writes by the moment they began: file, offset, bytes.
    volatile: BTreeMap<usize, (usize, u64, Rc<[u8]>)>,
    /// Flushes under way: the volatile writes that they cover.
    flushes: BTreeMap<usize, Vec<usize>>,
    prng: Prng,
}

impl Remains {
    fn of(start: &VolumeImage, seed: Seed) -> Self {
        let mut remains = Self {
            names: BTreeMap::new(),
            files: BTreeMap::new(),
            volatile: BTreeMap::new(),
            flushes: BTreeMap::new(),
            prng: Prng::new(seed),
        };
        for (file, (name, image)) in start.files.iter().enumerate() {
            remains.names.insert(name.clone(), file);
            remains.files.insert(file, image.to_vec());
        }
        remains
    }

    fn begin(&mut self, moment: usize, effect: &Effect) {
        if let Effect::Flush { file } = effect {
            let of_file = self.volatile.iter().filter(|(_, write)| write.0 == *file);
            let covered = of_file.map(|(moment, _)| *moment).collect();
            self.flushes.insert(moment, covered);
        }
    }

    fn finish(&mut self, begun: usize, effect: &Effect) {
        match effect {
            Effect::Flush { .. } => {
                for covered in self.flushes.remove(&begun).unwrap_or_default() {
                    if let Some((file, offset, bytes)) = self.volatile.remove(&covered) {
                        self.write(file, offset, &bytes, |_| true);
                    }
                }
            }
            Effect::Write {
                file,
                offset,
                bytes,
                durable: false,
            } => {
                let write = (*file, *offset, Rc::clone(bytes));
                self.volatile.insert(begun, write);
            }
            certain => self.apply(certain),
        }
    }

    /// Something that was under way when power failed.
    fn perhaps(&mut self, effect: &Effect) {
        match effect {
            Effect::Flush { .. } => {}
            Effect::Write {
                file,
                offset,
                bytes,
                ..
            } => self.tear(*file, *offset, bytes),
            folder => {
                if self.prng.percent(50) {
                    self.apply(folder);
                }
            }
        }
    }

    fn settle(mut self) -> VolumeImage {
        for (file, offset, bytes) in std::mem::take(&mut self.volatile).into_values() {
            self.tear(file, offset, &bytes);
        }
        let files = self.names.iter();
        let files = files.map(|(name, file)| (name.clone(), FileImage::of(&self.files[file])));
        VolumeImage {
            files: files.collect(),
        }
    }

    /// Whole, not at all, cut off, or any sectors of it: each in a quarter of all cases.
    fn tear(&mut self, file: usize, offset: u64, bytes: &[u8]) {
        let sectors = bytes.len() / SECTOR_BYTES;
        let kept: Vec<bool> = match self.prng.below(4) {
            0 => vec![true; sectors],
            1 => return,
            2 => {
                let cut = bytes_of(self.prng.below(sectors as u64 + 1));
                (0..sectors).map(|sector| sector < cut).collect()
            }
            _ => (0..sectors).map(|_| self.prng.percent(50)).collect(),
        };
        self.write(file, offset, bytes, |sector| kept[sector]);
    }

    fn write(&mut self, file: usize, offset: u64, bytes: &[u8], keep: impl Fn(usize) -> bool) {
        let Some(content) = self.files.get_mut(&file) else {
            return;
        };
        for (sector, bytes) in bytes.chunks(SECTOR_BYTES).enumerate() {
            let at = bytes_of(offset) + sector * SECTOR_BYTES;
            if keep(sector) && at + bytes.len() <= content.len() {
                content[at..at + bytes.len()].copy_from_slice(bytes);
            }
        }
    }

    fn apply(&mut self, effect: &Effect) {
        match effect {
            Effect::Create { name, file, length } => {
                self.names.insert(name.clone(), *file);
                self.files.insert(*file, vec![0; bytes_of(*length)]);
            }
            Effect::Rename { from, to } => {
                if let Some(file) = self.names.remove(from) {
                    self.names.insert(to.clone(), file);
                }
            }
            Effect::Remove { name } => {
                self.names.remove(name);
            }
            Effect::SetLength { file, length } => {
                if let Some(content) = self.files.get_mut(file) {
                    content.resize(bytes_of(*length), 0);
                }
            }
            Effect::Write {
                file,
                offset,
                bytes,
                ..
            } => {
                self.write(*file, *offset, bytes, |_| true);
            }
            Effect::Flush { .. } => {}
        }
    }
}

impl CrashVolume {
    fn folder_operation(&self, effect: Effect, operation: Pending<()>) -> Pending<()> {
        let recording = Rc::clone(&self.recording);
        Box::pin(async move {
            let begun = recording.begin(effect.clone());
            operation.await?;
            let mut names = recording.names.borrow_mut();
            match effect {
                Effect::Rename { from, to } => {
                    let file = names.remove(&from).expect("the rename succeeded");
                    names.insert(to, file);
                }
                Effect::Remove { name } => {
                    names.remove(&name);
                }
                _ => {}
            }
            recording.end(begun);
            Ok(())
        })
    }
}

impl Volume for CrashVolume {
    fn open(&self, file: &str, mode: OpenMode) -> Pending<Rc<dyn Device>> {
        let (name, recording) = (file.to_owned(), Rc::clone(&self.recording));
        let opening = self.inner.open(file, mode);
        Box::pin(async move {
            let file = if let OpenMode::CreateNew { length } = mode {
                let file = recording.new_file();
                let effect = Effect::Create {
                    name: name.clone(),
                    file,
                    length,
                };
                let begun = recording.begin(effect);
                let inner = opening.await?;
                recording.names.borrow_mut().insert(name, file);
                recording.end(begun);
                (inner, file)
            } else {
                let inner = opening.await?;
                (inner, recording.names.borrow()[&name])
            };
            let (inner, file) = file;
            Ok(Rc::new(CrashDevice {
                inner,
                file,
                recording,
            }) as Rc<dyn Device>)
        })
    }

    fn rename(&self, from: &str, to: &str) -> Pending<()> {
        let effect = Effect::Rename {
            from: from.to_owned(),
            to: to.to_owned(),
        };
        self.folder_operation(effect, self.inner.rename(from, to))
    }

    fn remove(&self, file: &str) -> Pending<()> {
        let effect = Effect::Remove {
            name: file.to_owned(),
        };
        self.folder_operation(effect, self.inner.remove(file))
    }

    fn list(&self) -> Pending<Vec<FileEntry>> {
        self.inner.list()
    }

    fn free_bytes(&self) -> Pending<u64> {
        self.inner.free_bytes()
    }

    fn name(&self) -> &str {
        self.inner.name()
    }
}

impl Device for CrashDevice {
    fn submit(&self, request: Request) -> Completion {
        let file = self.file;
        let effect = match &request.op {
            Op::Read { .. } => return self.inner.submit(request),
            Op::Write {
                offset,
                buffer,
                durability,
            } => Effect::Write {
                file,
                offset: *offset,
                bytes: Rc::from(&buffer[..]),
                durable: *durability == Durability::Durable,
            },
            Op::Flush => Effect::Flush { file },
            Op::SetLength { length } => Effect::SetLength {
                file,
                length: *length,
            },
        };
        let begun = self.recording.begin(effect);
        let recording = Rc::clone(&self.recording);
        self.inner.submit(request).on_complete(move |outcome| {
            if outcome.result.is_ok() {
                recording.end(begun);
            }
        })
    }

    fn caps(&self) -> Caps {
        self.inner.caps()
    }

    fn length(&self) -> u64 {
        self.inner.length()
    }

    fn name(&self) -> &str {
        self.inner.name()
    }
}
