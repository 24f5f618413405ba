//! Named files on a raw block device, so that storage can be tested before any system mounts it.
//!
//! The first block identifies the owner of the device. Two copies of a checksummed directory
//! follow, written alternately, each in full: a power failure leaves either the old directory or
//! the new one. Files are allocated in units of 1 MiB. New space is overwritten with zeros before
//! the directory refers to it, since the device may contain anything.

mod directory;
mod encoding;
mod file;
mod file_state;
mod format;
mod signature;
mod space;
mod state;
mod superblock;
mod transfer;
mod turns;
mod zeros;

use std::rc::Rc;

pub use format::{BlockContent, content, format, identity};

use crate::{Boxed, Device, DeviceError, FileEntry, OpenMode, Pending, Runtime, Volume};
use directory::is_name;
use file::BlockFile;
use state::VolumeState;

/// Unit by which files grow on the device, and alignment of everything on it, in bytes.
const UNIT: u64 = 1 << 20;

/// A folder on a raw block device formatted by [`format()`].
pub struct BlockVolume {
    state: Rc<VolumeState>,
    /// Prefix of its file names on the device: empty, or a path and a slash.
    prefix: String,
    name: String,
}

impl BlockVolume {
    /// Opens the volume on `device`, which the caller has locked against all other users.
    /// Background work runs on `runtime`. Fails with `NotAVolume` if the device was not formatted
    /// as one, and with `VolumeDamaged` if it was but cannot be trusted.
    pub fn open(device: Rc<dyn Device>, runtime: &Runtime) -> Boxed<'_, Result<Self, DeviceError>> {
        Box::pin(async move {
            let name = device.name().to_owned();
            let state = VolumeState::open(device, runtime).await?;
            Ok(Self { state: Rc::new(state), prefix: String::new(), name })
        })
    }

    /// The folder `path` of the same volume, or the root if it is empty. Folders are parts of
    /// names: they are neither created nor removed.
    #[must_use]
    pub fn folder(&self, path: &str) -> Self {
        let device = self.state.device.name();
        let (prefix, name) = match path {
            "" => (String::new(), device.to_owned()),
            path => (format!("{path}/"), format!("{device}/{path}")),
        };
        Self { state: Rc::clone(&self.state), prefix, name }
    }

    /// The name on the device and the path for error messages; an error if `file` is not a valid
    /// file name.
    fn names(&self, file: &str) -> Result<(String, String), DeviceError> {
        let (full, path) = (format!("{}{file}", self.prefix), format!("{}/{file}", self.name));
        if is_name(&full) && !file.contains('/') {
            return Ok((full, path));
        }
        let message = "is no name for a file: up to 255 bytes without slash or zero".to_owned();
        Err(DeviceError::BadPath { file: path, message })
    }
}

impl Volume for BlockVolume {
    fn open(&self, file: &str, mode: OpenMode) -> Pending<Rc<dyn Device>> {
        let (state, names) = (Rc::clone(&self.state), self.names(file));
        Box::pin(async move {
            let (name, path) = names?;
            if let Some(length) = mode.new_length() {
                let work = Rc::clone(&state).create(name.clone(), path.clone(), length);
                state.runtime.spawn(work).await?;
            }
            let file = state.file(&name, &path)?;
            Ok(BlockFile::open(&state, file, path, mode)? as Rc<dyn Device>)
        })
    }

    fn rename(&self, from: &str, to: &str) -> Pending<()> {
        let (state, names) = (Rc::clone(&self.state), (self.names(from), self.names(to)));
        Box::pin(async move {
            let ((from, path), (to, _)) = (names.0?, names.1?);
            // Runs in a separate task, so that a change in progress completes even if its caller no
            // longer waits.
            state.runtime.spawn(Rc::clone(&state).rename(from, to, path)).await
        })
    }

    fn remove(&self, file: &str) -> Pending<()> {
        let (state, names) = (Rc::clone(&self.state), self.names(file));
        Box::pin(async move {
            let (name, path) = names?;
            state.runtime.spawn(Rc::clone(&state).remove(name, path)).await
        })
    }

    fn list(&self) -> Pending<Vec<FileEntry>> {
        let (state, prefix) = (Rc::clone(&self.state), self.prefix.clone());
        Box::pin(async move { Ok(state.list(&prefix)) })
    }

    fn free_bytes(&self) -> Pending<u64> {
        let state = Rc::clone(&self.state);
        Box::pin(async move { Ok(state.free_bytes()) })
    }

    fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests;
