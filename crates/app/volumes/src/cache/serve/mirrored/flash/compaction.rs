//! Garbage collection: rewrites a file without the data that later operations replaced. The new
//! file replaces the old one only once all its contents are durable.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use mirror::{FRAME_ALIGNMENT, FlashImage, FramePayload};

use super::{FlashFile, header, sync_folder};

/// Approximate bytes per frame.
const FRAME: usize = 4 << 20;

/// A new file that has not yet replaced the old one.
pub(super) struct NewFile {
    path: PathBuf,
    file: File,
    end: u64,
}

/// The name of the new file of the copy at `path`.
pub(super) fn new_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

/// Writes `image` next to the copy at `path`.
pub(super) fn write(path: &Path, identity: &str, image: &FlashImage) -> io::Result<NewFile> {
    let path = new_name(path);
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path)?;
    file.try_lock()?;
    file.write_all_at(&header(identity), 0)?;
    let mut new = NewFile { path, file, end: FRAME_ALIGNMENT as u64 };
    let mut payload = FramePayload::default();
    for record in image.records() {
        payload.push(&record);
        if payload.len() >= FRAME {
            new.append(&std::mem::take(&mut payload))?;
        }
    }
    new.append(&payload)?;
    new.file.sync_all()?;
    Ok(new)
}

impl NewFile {
    fn append(&mut self, payload: &FramePayload) -> io::Result<()> {
        // No offset counts as durable: the whole file is synced before it is renamed into place.
        let bytes = payload.frame(0);
        self.file.write_all_at(&bytes, self.end)?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Appends the frames written meanwhile and replaces `old`.
    pub(super) fn replace(
        mut self,
        old: &FlashFile,
        since: &[FramePayload],
    ) -> io::Result<FlashFile> {
        for payload in since {
            self.append(payload)?;
        }
        self.file.sync_all()?;
        fs::rename(&self.path, &old.path)?;
        sync_folder(&old.path)?;
        Ok(FlashFile::new(&old.path, &old.identity, self.file, self.end))
    }
}
