//! Unnamed files for the data that a replay does not keep in memory.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

/// Names tried before a folder counts as unusable.
const MOST_TRIES: u32 = 100;

/// Creates a temporary file in the system's folder that disappears once it is closed.
pub(super) fn unnamed() -> io::Result<File> {
    let folder = std::env::temp_dir();
    let process = std::process::id();
    for number in 0..MOST_TRIES {
        let path = folder.join(format!("plimsoll-replay-{process}-{number}"));
        match File::options().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => {
                fs::remove_file(&path)?;
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                let folder = folder.display();
                let what = format!("cannot create a scratch file in {folder}: {error}");
                return Err(io::Error::new(error.kind(), what));
            }
        }
    }
    Err(io::Error::other(format!("no free name for a scratch file in {}", folder.display())))
}

/// Data that a replay sets aside for undo: nothing, or an unnamed file.
#[derive(Debug, Default)]
pub(super) struct Aside {
    file: Option<File>,
}

impl Aside {
    /// Writes `bytes` at `at`.
    pub(super) fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(unnamed()?);
        }
        self.file().and_then(|file| {
            file.seek(SeekFrom::Start(at))?;
            file.write_all(bytes)
        })
    }

    /// Reads the bytes at `at`.
    pub(super) fn read(&mut self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file().and_then(|file| {
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(bytes)
        })
    }

    fn file(&mut self) -> io::Result<&mut File> {
        self.file.as_mut().ok_or_else(|| io::Error::other("nothing was set aside"))
    }
}
