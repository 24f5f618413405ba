//! A copy read back after a start: every frame in order, up to the end, which a power failure may
//! have torn.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use mirror::{FRAME_ALIGNMENT, FlashImage, FrameHead};

use super::compaction::new_name;
use super::{FlashFile, header};
use console::error::CommandError;

/// Why a copy cannot be used.
#[derive(Debug)]
enum ScanFault {
    Io(io::Error),
    /// Not a copy, or a copy of another volume.
    Foreign,
    /// A frame that was durable is damaged.
    Damaged(u64),
}

impl From<io::Error> for ScanFault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Opens the copy at `path` and reads it into `empty`; `None` if there is no file.
pub(in super::super) fn open(
    path: &Path,
    identity: &str,
    empty: FlashImage,
) -> Result<Option<(FlashFile, FlashImage)>, CommandError> {
    let wrong = CommandError::of_file(path, "open");
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(wrong)?,
    };
    file.try_lock().map_err(|_| {
        CommandError::new(format!(
            "{}: another process uses this copy; stop its server first",
            path.display()
        ))
    })?;
    // Left over from an interrupted compaction.
    let _ = fs::remove_file(new_name(path));
    let mut image = empty;
    let end = scan(&file, identity, &mut image).map_err(|fault| sentence(path, &fault))?;
    file.set_len(end).and_then(|()| file.sync_all()).map_err(wrong)?;
    Ok(Some((FlashFile::new(path, identity, file, end), image)))
}

fn sentence(path: &Path, fault: &ScanFault) -> CommandError {
    match fault {
        ScanFault::Io(error) => CommandError::file(path, "read", error),
        ScanFault::Foreign => CommandError::new(format!(
            "{}: is no copy of this volume on this host as the document describes it; correct \
             `flash`, or remove the file",
            path.display()
        )),
        ScanFault::Damaged(offset) => CommandError::Damage(format!(
            "{}: damaged at byte {offset}, so this copy cannot be trusted; start the other host, \
             and once it serves alone remove this file and start again",
            path.display()
        )),
    }
}

/// Replays all frames and returns the offset after the last complete one.
fn scan(file: &File, identity: &str, image: &mut FlashImage) -> Result<u64, ScanFault> {
    let length = file.metadata()?.len();
    if read(file, 0, FRAME_ALIGNMENT as u64, length)? != header(identity) {
        return Err(ScanFault::Foreign);
    }
    let mut at = FRAME_ALIGNMENT as u64;
    while at < length {
        let Some(frame) = frame(file, at, length)? else {
            return if is_damage(file, at, length)? { Err(ScanFault::Damaged(at)) } else { Ok(at) };
        };
        for record in frame.1 {
            if !image.replay(record) {
                return Err(ScanFault::Damaged(at));
            }
        }
        at += frame.0.length;
    }
    Ok(at)
}

type Frame = (FrameHead, Vec<mirror::FlashRecord>);

/// The whole frame at `at`, if there is one.
fn frame(file: &File, at: u64, length: u64) -> io::Result<Option<Frame>> {
    let Some(head) = FrameHead::decode(&read(file, at, FRAME_ALIGNMENT as u64, length)?) else {
        return Ok(None);
    };
    if at.checked_add(head.length).is_none_or(|end| end > length) {
        return Ok(None);
    }
    let records = head.records(&read(file, at, head.length, length)?);
    Ok(records.map(|records| (head, records)))
}

/// `true` if a later frame proves that the file was durable past `at`: a power failure cannot tear
/// that.
fn is_damage(file: &File, at: u64, length: u64) -> io::Result<bool> {
    for later in (at..length).step_by(FRAME_ALIGNMENT).skip(1) {
        if let Some((head, _)) = frame(file, later, length)?
            && head.durable_to > at
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Up to `count` bytes at `at`, within the file.
fn read(file: &File, at: u64, count: u64, length: u64) -> io::Result<Vec<u8>> {
    let count = count.min(length.saturating_sub(at));
    let mut bytes = vec![0; usize::try_from(count).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, at)?;
    Ok(bytes)
}
