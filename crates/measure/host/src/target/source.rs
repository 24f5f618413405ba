//! A file to read sequentially or at random, in a folder or on a raw device.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;

use device::{Buffer, Device, DeviceError, Purpose, Request};
use device_os::{Backend, World};

use super::{RawTarget, TargetError};
use crate::documents;

/// Bytes that are read from a raw device at once.
const WINDOW_BYTES: u64 = 64 << 10;

/// See the module.
pub enum ByteSource {
    /// An ordinary file.
    File(File),
    /// A file on a raw device.
    Raw(RawSource),
}

/// An open file on a raw device, read in windows.
pub struct RawSource {
    device: Rc<dyn Device>,
    world: World,
    position: u64,
    /// Start of the window, and its contents.
    window: (u64, Buffer),
}

impl ByteSource {
    /// Opens the file at `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        match RawTarget::of(path) {
            None => documents::open(path).map(Self::File),
            Some(target) => RawSource::open(&target).map(Self::Raw),
        }
    }

    /// Its length in bytes.
    pub fn length(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => Ok(file.metadata()?.len()),
            Self::Raw(source) => Ok(source.device.length()),
        }
    }
}

impl RawSource {
    fn open(target: &RawTarget) -> io::Result<Self> {
        let world = World::new(Backend::Auto).map_err(TargetError::from)?;
        let device = target.open_file(&world)?;
        Ok(Self { device, world, position: 0, window: (0, Buffer::zeroed(0)) })
    }

    /// Reads the window that holds the present position.
    fn fill(&mut self) -> io::Result<()> {
        let begin = self.position - self.position % WINDOW_BYTES;
        let there = self.device.length() - begin;
        let sector = u64::from(self.device.caps().sector);
        let length = WINDOW_BYTES.min(there.next_multiple_of(sector));
        let length = usize::try_from(length).expect("invariant: a window is short");
        let reading = self.device.submit(Request::read(Purpose::Checksum, begin, length));
        let outcome = self.world.executor().block_on(reading);
        match outcome.result {
            Ok(()) | Err(DeviceError::Short { .. }) => {}
            Err(error) => return Err(TargetError::from(error).into()),
        }
        let bytes = outcome.buffer.expect("invariant: a device gives the buffer of a read back");
        self.window = (begin, bytes);
        Ok(())
    }
}

impl Read for ByteSource {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(bytes),
            Self::Raw(source) => source.read(bytes),
        }
    }
}

impl Seek for ByteSource {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Raw(source) => source.seek(to),
        }
    }
}

impl Read for RawSource {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.device.length().saturating_sub(self.position);
        if left == 0 || bytes.is_empty() {
            return Ok(0);
        }
        let (begin, window) = &self.window;
        if !(*begin..*begin + window.len() as u64).contains(&self.position) {
            self.fill()?;
        }
        let (begin, window) = &self.window;
        let at = usize::try_from(self.position - begin).expect("invariant: inside the window");
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let moved = (window.len() - at).min(bytes.len()).min(left);
        bytes[..moved].copy_from_slice(&window[at..at + moved]);
        self.position += moved as u64;
        Ok(moved)
    }
}

impl Seek for RawSource {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::End(by) => (self.device.length(), by),
            SeekFrom::Current(by) => (self.position, by),
        };
        let at = base.checked_add_signed(by);
        self.position = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
