//! An open volume: the directory in memory, and its changes, one at a time.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use super::directory::{DIRECTORY_BYTES, Directory, PlacedFile, UnitRange, units_of};
use super::file_state::FileState;
use super::space::{allocate, holes};
use super::superblock::Superblock;
use super::turns::Turns;
use super::{UNIT, format, zeros};
use crate::{Device, DeviceError, Durability, FileEntry, Purpose, Request, Runtime};

/// See the module.
pub(super) struct VolumeState {
    pub device: Rc<dyn Device>,
    pub runtime: Runtime,
    superblock: Superblock,
    sequence: Cell<u64>,
    files: RefCell<BTreeMap<String, Rc<FileState>>>,
    /// Removed files that may still be open; their units are not free yet.
    removed: RefCell<Vec<Weak<FileState>>>,
    turns: Rc<Turns>,
    /// Why the last change was not written; since then the contents of the device are unknown.
    failure: RefCell<Option<DeviceError>>,
}

impl VolumeState {
    pub(super) async fn open(
        device: Rc<dyn Device>,
        runtime: &Runtime,
    ) -> Result<Self, DeviceError> {
        let (superblock, directory) = format::read(&device).await?;
        let files = directory.files.into_iter().map(|(name, entry)| {
            let file = FileState::new(&name, entry);
            (name, file)
        });
        Ok(Self {
            device,
            runtime: runtime.clone(),
            superblock,
            sequence: Cell::new(directory.sequence),
            files: RefCell::new(files.collect()),
            removed: RefCell::default(),
            turns: Rc::default(),
            failure: RefCell::default(),
        })
    }

    pub(super) fn list(&self, prefix: &str) -> Vec<FileEntry> {
        let files = self.files.borrow();
        let mut found = Vec::new();
        for (name, file) in files.iter() {
            if let Some(name) = name.strip_prefix(prefix).filter(|name| !name.contains('/')) {
                let length = file.entry.borrow().length;
                found.push(FileEntry { name: name.to_owned(), length });
            }
        }
        found
    }

    pub(super) fn free_bytes(&self) -> u64 {
        let free = self.holes().into_iter().map(|hole| u64::from(hole.count));
        free.sum::<u64>() * UNIT
    }

    fn holes(&self) -> Vec<UnitRange> {
        self.removed.borrow_mut().retain(|file| file.strong_count() > 0);
        let removed = self.removed.borrow();
        let named = self.files.borrow();
        let files = named.values().cloned().chain(removed.iter().filter_map(Weak::upgrade));
        holes(
            files.flat_map(|file| file.entry.borrow().extents.clone()).collect(),
            self.superblock.units,
        )
    }

    /// The file `name`; `path` is used in error messages.
    pub(super) fn file(&self, name: &str, path: &str) -> Result<Rc<FileState>, DeviceError> {
        let found = self.files.borrow().get(name).cloned();
        found.ok_or_else(|| DeviceError::NotFound { file: path.to_owned() })
    }

    /// Makes a file of `length` zeros.
    pub(super) async fn create(
        self: Rc<Self>,
        name: String,
        path: String,
        length: u64,
    ) -> Result<(), DeviceError> {
        let _turn = self.turns.take().await;
        if self.files.borrow().contains_key(&name) {
            return Err(DeviceError::AlreadyExists { file: path });
        }
        let entry = self.grown(&PlacedFile::default(), &path, length).await?;
        let mut next = self.directory();
        next.files.insert(name.clone(), entry.clone());
        self.write(next, &path).await?;
        self.files.borrow_mut().insert(name.clone(), FileState::new(&name, entry));
        Ok(())
    }

    pub(super) async fn rename(
        self: Rc<Self>,
        from: String,
        to: String,
        path: String,
    ) -> Result<(), DeviceError> {
        let _turn = self.turns.take().await;
        let file = self.file(&from, &path)?;
        let mut next = self.directory();
        if let Some(entry) = next.files.remove(&from) {
            next.files.insert(to.clone(), entry);
        }
        self.write(next, &path).await?;
        file.name.replace(Some(to.clone()));
        let mut files = self.files.borrow_mut();
        files.remove(&from);
        let replaced = files.insert(to, Rc::clone(&file));
        self.forget(replaced.filter(|replaced| !Rc::ptr_eq(replaced, &file)));
        Ok(())
    }

    pub(super) async fn remove(
        self: Rc<Self>,
        name: String,
        path: String,
    ) -> Result<(), DeviceError> {
        let _turn = self.turns.take().await;
        self.file(&name, &path)?;
        let mut next = self.directory();
        next.files.remove(&name);
        self.write(next, &path).await?;
        let removed = self.files.borrow_mut().remove(&name);
        self.forget(removed);
        Ok(())
    }

    /// Sets the length of `file`: new bytes are zeros.
    pub(super) async fn change_length(
        self: Rc<Self>,
        file: Rc<FileState>,
        path: String,
        length: u64,
    ) -> Result<(), DeviceError> {
        let _turn = self.turns.take().await;
        let before = file.entry.borrow().clone();
        let after = if length > before.length {
            self.grown(&before, &path, length).await?
        } else {
            let mut after = PlacedFile { length, ..before };
            after.cut(units_of(length));

            after
        };
        // A file without a name is not recorded in the directory.
        let name = file.name.borrow().clone();
        if let Some(name) = name {
            let mut next = self.directory();
            next.files.insert(name, after.clone());
            self.write(next, &path).await?;
        }
        file.entry.replace(after);
        Ok(())
    }

    fn forget(&self, file: Option<Rc<FileState>>) {
        if let Some(file) = file {
            file.name.replace(None);
            self.removed.borrow_mut().push(Rc::downgrade(&file));
        }
    }

    /// Grows `entry` to this length; its new bytes are durable zeros on the device.
    async fn grown(
        &self,
        entry: &PlacedFile,
        path: &str,
        length: u64,
    ) -> Result<PlacedFile, DeviceError> {
        let mut after = PlacedFile { length, extents: entry.extents.clone() };
        let wanted = units_of(length).saturating_sub(entry.units());
        let end = entry.extents.last().map(|extent| extent.end());
        let full = DeviceError::Full { file: path.to_owned(), offset: length };
        after.append(allocate(self.holes(), end, wanted).ok_or(full)?);
        zeros::write(&self.device, &after, entry.length).await?;
        Ok(after)
    }

    fn directory(&self) -> Directory {
        let files = self.files.borrow();
        let entries = files.iter().map(|(name, file)| (name.clone(), file.entry.borrow().clone()));
        Directory { sequence: self.sequence.get() + 1, files: entries.collect() }
    }

    /// Writes `next` over the older copy. After a failure nothing more is written: it is unknown
    /// which of the two directories the device holds, and a third would destroy the good one.
    async fn write(&self, next: Directory, path: &str) -> Result<(), DeviceError> {
        if let Some(failure) = self.failure.borrow().clone() {
            return Err(failure);
        }
        let bytes = next.encode(&self.superblock.identity);
        let full = DeviceError::Full { file: path.to_owned(), offset: DIRECTORY_BYTES };
        let bytes = bytes.ok_or(full)?;
        let place = format::place_of(next.sequence);
        let write = Request::write(Purpose::Header, place, bytes, Durability::Durable);
        let written = self.device.submit(write).await.result;
        if let Err(error) = &written {
            self.failure.replace(Some(error.clone()));
        }
        written?;
        self.sequence.set(next.sequence);
        Ok(())
    }
}
