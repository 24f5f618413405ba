//! Records durable and volatile data: plain data, no time, no tasks.

use std::collections::BTreeMap;

use device::{FileImage, VolumeImage};
use units::{Prng, Seed};

/// A file, regardless of its current name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileId(u64);

/// Identifies a request in flight, or its change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

/// A request's change to a file.
#[derive(Clone, Debug)]
pub(super) enum FileChange {
    /// A read.
    Nothing,
    /// Bytes at an offset; if `durable`, durable once it completes.
    Write { offset: u64, bytes: FileImage, durable: bool },
    /// Makes completed changes durable.
    Flush,
    /// Durable as soon as it completes.
    SetLength { length: u64 },
}

/// Change of the folder by an operation; durable as soon as it completes.
#[derive(Clone, Debug)]
pub(super) enum NameChange {
    Create { file: String, length: u64 },
    Rename { from: String, to: String },
    Remove { file: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    InFlight,
    Completed,
    Durable,
}

#[derive(Debug)]
struct LedgerEntry {
    ticket: Ticket,
    change: FileChange,
    standing: Standing,
    /// The storage's number for it, if the storage decides which writes survive.
    known_as: Option<u64>,
    /// For a flush: the changes that had completed when it was submitted.
    covers: Vec<Ticket>,
}

/// A file: its certainly durable content, and the changes since, in the order of submission.
#[derive(Debug, Default)]
struct Tracked {
    stable: FileImage,
    entries: Vec<LedgerEntry>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    names: BTreeMap<String, FileId>,
    files: BTreeMap<FileId, Tracked>,
    names_in_flight: BTreeMap<Ticket, NameChange>,
    next: u64,
}

impl Ledger {
    /// A folder in which everything is durable.
    pub(super) fn new(before: &VolumeImage) -> Self {
        let mut ledger = Self::default();
        for (name, image) in &before.files {
            ledger.add(name.clone(), image.clone());
        }
        ledger
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn add(&mut self, name: String, stable: FileImage) {
        let file = FileId(self.number());
        let entries = Vec::new();
        self.files.insert(file, Tracked { stable, entries });
        self.names.insert(name, file);
    }

    /// The file of that name, which the inner volume has just opened.
    pub(super) fn find(&self, name: &str) -> FileId {
        let file = self.names.get(name);
        *file.expect("invariant: the image given at the start names every file of the volume")
    }

    /// Notes that a request is submitted.
    pub(super) fn begin(&mut self, file: FileId, change: FileChange) -> Ticket {
        let ticket = Ticket(self.number());
        let Some(tracked) = self.files.get_mut(&file) else {
            return ticket;
        };
        let covers = match change {
            FileChange::Flush => tracked
                .entries
                .iter()
                .filter(|entry| entry.standing == Standing::Completed)
                .map(|entry| entry.ticket)
                .collect(),
            _ => Vec::new(),
        };
        if !matches!(change, FileChange::Nothing) {
            tracked.entries.push(LedgerEntry {
                ticket,
                change,
                standing: Standing::InFlight,
                known_as: None,
                covers,
            });
        }
        ticket
    }

    /// Records the storage's number for a request. From now on the storage decides which of its
    /// bytes survive, regardless of durability and flushes.
    pub(super) fn known_as(&mut self, file: FileId, ticket: Ticket, number: u64) {
        let entries = self.files.get_mut(&file).map(|tracked| &mut tracked.entries);
        for entry in entries.into_iter().flatten().filter(|entry| entry.ticket == ticket) {
            if matches!(entry.change, FileChange::Write { .. }) {
                entry.known_as = Some(number);
            }
        }
    }

    /// Asks the storage which writes would survive now; a surviving write survives forever.
    pub(super) fn ask(&mut self, spares: &dyn Fn(u64) -> bool) {
        for tracked in self.files.values_mut() {
            for entry in &mut tracked.entries {
                if entry.known_as.is_some_and(spares) {
                    entry.standing = Standing::Durable;
                }
            }
        }
    }

    /// Notes that a request completed. One that failed may have happened, and promises nothing.
    pub(super) fn end(&mut self, file: FileId, ticket: Ticket, ok: bool) {
        let Some(tracked) = self.files.get_mut(&file) else {
            return;
        };
        let Some(at) = tracked.entries.iter().position(|entry| entry.ticket == ticket) else {
            return; // A read.
        };
        let entry = &mut tracked.entries[at];
        entry.standing = match entry.change {
            _ if entry.standing == Standing::Durable => Standing::Durable,
            _ if entry.known_as.is_some() => Standing::Completed,
            FileChange::Write { durable: true, .. } | FileChange::SetLength { .. } if ok => {
                Standing::Durable
            }
            _ => Standing::Completed,
        };
        if matches!(entry.change, FileChange::Flush) {
            let covers = tracked.entries.remove(at).covers;
            if ok {
                tracked.settle(&covers);
            }
        }
        tracked.fold();
    }

    /// Notes that a change of names is submitted.
    pub(super) fn begin_names(&mut self, change: NameChange) -> Ticket {
        let ticket = Ticket(self.number());
        self.names_in_flight.insert(ticket, change);
        ticket
    }

    /// Notes that a change of names completed; one that failed did not happen.
    pub(super) fn end_names(&mut self, ticket: Ticket, ok: bool) {
        let change = self.names_in_flight.remove(&ticket);
        match change.expect("invariant: a change of names ends once") {
            _ if !ok => {}
            NameChange::Create { file, length } => self.add(file, FileImage::zeroed(length)),
            NameChange::Rename { from, to } => {
                let replaced = rename(&mut self.names, &from, to);
                self.forget(replaced);
            }
            NameChange::Remove { file } => {
                let removed = self.names.remove(&file);
                self.forget(removed);
            }
        }
    }

    /// A file without a name does not survive a power failure, so its changes are dropped.
    fn forget(&mut self, file: Option<FileId>) {
        if let Some(file) = file {
            self.files.remove(&file);
        }
    }

    /// Contents after a power failure now. Files removed but still open leave nothing.
    pub(super) fn survivors(
        &self,
        seed: Seed,
        tearing_of: &dyn Fn(&str) -> Tearing,
    ) -> VolumeImage {
        let mut prng = Prng::new(seed);
        let mut survived = BTreeMap::new();
        for (name, file) in &self.names {
            let survivor = self.files[file].survivor(&mut prng, tearing_of(name));
            survived.insert(name.clone(), survivor);
        }
        for change in self.names_in_flight.values() {
            let chance = prng.below(4);
            match change {
                NameChange::Create { file, length } if !survived.contains_key(file) => {
                    let length = if chance == 0 { 0 } else { *length };
                    if chance < 2 {
                        survived.insert(file.clone(), FileImage::zeroed(length));
                    }
                }
                NameChange::Rename { from, to } if chance < 2 => {
                    rename(&mut survived, from, to.clone());
                }
                NameChange::Remove { file } if chance < 2 => _ = survived.remove(file),
                _ => {}
            }
        }
        VolumeImage { files: survived }
    }
}

/// Renames an entry, and returns the one that was called `to` before.
fn rename<T>(names: &mut BTreeMap<String, T>, from: &str, to: String) -> Option<T> {
    let file = names.remove(from)?;
    names.insert(to, file)
}

impl Tracked {
    /// Makes the changes of `tickets`, which are in ascending order, durable.
    fn settle(&mut self, tickets: &[Ticket]) {
        for entry in &mut self.entries {
            if entry.known_as.is_none() && tickets.binary_search(&entry.ticket).is_ok() {
                entry.standing = Standing::Durable;
            }
        }
    }

    /// Merges durable changes that no earlier change may overwrite into the stable bytes.
    fn fold(&mut self) {
        let durable = self.entries.iter().take_while(|entry| entry.standing == Standing::Durable);
        for entry in self.entries.drain(..durable.count()) {
            apply(&mut self.stable, &entry.change);
        }
    }

    fn survivor(&self, prng: &mut Prng, tearing: Tearing) -> FileImage {
        let mut image = self.stable.clone();
        for entry in &self.entries {
            let fate = match entry.standing {
                Standing::Durable => Fate::Applied,
                Standing::InFlight | Standing::Completed => Fate::draw(prng),
            };
            match (fate, &entry.change) {
                (Fate::Applied, change) => apply(&mut image, change),
                (Fate::Torn, FileChange::Write { offset, bytes, .. }) => {
                    tearing.tear(&mut image, *offset, bytes, prng);
                }
                (Fate::Dropped | Fate::Torn, _) => {}
            }
        }
        image
    }
}

/// Fate of a change that is not durable.
enum Fate {
    Applied,
    Dropped,
    Torn,
}

impl Fate {
    fn draw(prng: &mut Prng) -> Self {
        match prng.below(3) {
            0 => Self::Applied,
            1 => Self::Dropped,
            _ => Self::Torn,
        }
    }
}

fn apply(image: &mut FileImage, change: &FileChange) {
    match change {
        FileChange::Write { offset, bytes, .. } => image.write_shared(*offset, bytes),
        FileChange::SetLength { length } => image.set_length(*length),
        FileChange::Nothing | FileChange::Flush => {}
    }
}

/// Result of a torn write, in bytes.
#[derive(Clone, Copy)]
pub(super) struct Tearing {
    /// Written whole or not at all.
    pub unit: u32,
    /// Destroyed whole or not at all, if the medium was writing it.
    pub physical: u32,
}

impl Tearing {
    /// Writes some units of `bytes` and leaves the others unchanged. Half of the time it writes a
    /// prefix, which independent draws per unit would hardly ever produce for a long write. Skips
    /// bytes past the end of the file, which a later change may have truncated.
    fn tear(self, image: &mut FileImage, offset: u64, bytes: &FileImage, prng: &mut Prng) {
        let unit = usize::try_from(self.unit).expect("invariant: sectors are small");
        let bytes = bytes.to_vec();
        let cut = match prng.below(2) {
            0 => Some(prng.below(bytes.len().div_ceil(unit) as u64 + 1)),
            _ => None,
        };
        for (index, part) in bytes.chunks(unit).enumerate() {
            if cut.map_or_else(|| prng.below(2) == 0, |cut| (index as u64) < cut) {
                write_inside(image, offset + (index * unit) as u64, part);
            }
        }
        if self.physical > self.unit && !bytes.is_empty() {
            let at = offset + prng.below(bytes.len() as u64);
            self.destroy(image, at, prng);
        }
    }

    /// Destroys the physical sector at byte `at`, which was being written.
    fn destroy(self, image: &mut FileImage, at: u64, prng: &mut Prng) {
        let physical = usize::try_from(self.physical).expect("invariant: sectors are small");
        let mut rubbish = vec![0; physical];
        prng.fill(&mut rubbish);
        write_inside(image, at - at % physical as u64, &rubbish);
    }
}

fn write_inside(image: &mut FileImage, at: u64, part: &[u8]) {
    let room = image.length().saturating_sub(at);
    let inside = usize::try_from(room).map_or(part.len(), |room| room.min(part.len()));
    image.write(at.min(image.length()), &part[..inside]);
}
