//! The homes of the blocks of this host's copy: a sparse file next to the log, with a fixed place
//! for each block of the volume. Unwritten blocks occupy no storage.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use device::{Buffer, Completion, Device, DeviceError, Durability, OpenMode, Purpose, Request};
use device_os::{SparseFile, World};
use mirror::{BlockData, FRAME_ALIGNMENT, FlashImage, HomeBlock, SettledBlock};
use plan::MirroredVolume;

use super::flash::{header, sync_folder};
use console::error::CommandError;

/// Approximate bytes per write.
const WRITE: usize = 1 << 20;

/// See the module.
pub(super) struct HomeFile {
    device: Rc<dyn Device>,
    sparse: SparseFile,
    block: usize,
}

/// The homes of blocks, and the progress of the log that records them.
pub(super) struct Homes {
    pub(super) file: HomeFile,
    /// Operations requested on flash; `durable` counts those that are durable.
    asked: Cell<u64>,
    durable: Cell<u64>,
    is_settling: Cell<bool>,
    /// Blocks whose homes may be deallocated.
    evicted: RefCell<BTreeSet<u64>>,
    /// Trimmed blocks whose homes have been deallocated since the start.
    given_back: RefCell<BTreeSet<u64>>,
}

/// A read under way.
pub(super) struct HomeRead {
    home: HomeBlock,
    completion: Completion,
}

/// Path of the homes file that belongs to the log at `flash`.
pub(super) fn path_of(flash: &Path) -> PathBuf {
    let mut name = flash.as_os_str().to_owned();
    name.push(".blocks");
    PathBuf::from(name)
}

/// Opens the homes of the copy that `document` describes. If `is_used`, the log refers to blocks in
/// them; otherwise they start empty.
pub(super) fn open(
    document: &MirroredVolume,
    identity: &str,
    is_used: bool,
    world: &World,
) -> Result<HomeFile, CommandError> {
    let path = path_of(Path::new(&document.flash));
    let wrong = CommandError::of_file(&path, "open");
    let is_ours = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        opened => Some(begins_with(&opened.map_err(&wrong)?, &header(identity)).map_err(&wrong)?),
    };
    match is_ours {
        Some(false) => {
            return Err(CommandError::new(format!(
                "{}: holds no blocks of this volume on this host; correct `flash`, or move the \
                 file away",
                path.display()
            )));
        }
        None if is_used => {
            return Err(CommandError::Damage(format!(
                "{}: is missing, so this copy is incomplete; restore the file, or once the other \
                 host serves alone remove {} and start again",
                path.display(),
                document.flash
            )));
        }
        _ if !is_used => create(&path, identity, document.size.0).map_err(&wrong)?,
        _ => {}
    }
    let name = path.display().to_string();
    let opening = world.raw_device(&path, &name, OpenMode::ReadWrite);
    let device = world.executor().block_on(opening)?;
    let sparse = world.sparse_file(&path, true)?;
    let block = usize::try_from(document.block.0).unwrap_or(FRAME_ALIGNMENT);
    Ok(HomeFile { device, sparse, block })
}

fn begins_with(file: &File, header: &[u8]) -> io::Result<bool> {
    let mut found = vec![0; header.len()];
    match file.read_exact_at(&mut found, 0) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| found == header),
    }
}

/// Empties the file, or makes it.
fn create(path: &Path, identity: &str, bytes: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
    file.write_all_at(&header(identity), 0)?;
    file.set_len(FRAME_ALIGNMENT as u64 + bytes)?;
    file.sync_all()?;
    sync_folder(path)
}

impl HomeFile {
    fn at(&self, block: u64) -> u64 {
        FRAME_ALIGNMENT as u64 + block * self.block as u64
    }

    /// Begins to read `home`.
    pub(super) fn read(&self, home: HomeBlock) -> HomeRead {
        let read = Request::read(Purpose::Database, self.at(home.block), self.block);
        HomeRead { home, completion: self.device.submit(read) }
    }

    /// Durably writes `blocks`, in ascending order, to their homes.
    pub(super) async fn bring(
        &self,
        blocks: &[(SettledBlock, BlockData)],
    ) -> Result<(), DeviceError> {
        let most = WRITE / self.block;
        for neighbours in blocks.chunk_by(|one, next| one.0.home.block + 1 == next.0.home.block) {
            for part in neighbours.chunks(most) {
                let mut buffer = Buffer::zeroed(part.len() * self.block);
                for (room, (_, data)) in buffer.chunks_mut(self.block).zip(part) {
                    room.copy_from_slice(data);
                }
                let at = self.at(part[0].0.home.block);
                let write = Request::write(Purpose::Database, at, buffer, Durability::Volatile);
                self.device.submit(write).await.result?;
            }
        }
        self.device.submit(Request::flush(Purpose::Database)).await.result
    }

    /// Deallocates `blocks`, in ascending order: the copy no longer holds their contents.
    pub(super) async fn forget(&self, blocks: &[u64]) -> Result<(), DeviceError> {
        for neighbours in blocks.chunk_by(|one, next| one + 1 == *next) {
            let from = self.at(neighbours[0]);
            let to = from + neighbours.len() as u64 * self.block as u64;
            self.sparse.punch(from..to).await?;
        }
        Ok(())
    }
}

impl HomeRead {
    /// The content read; `None` if the home now holds other content.
    pub(super) async fn end(self) -> Result<Option<BlockData>, DeviceError> {
        let buffer = self.completion.await.into_buffer()?;
        Ok(self.home.is(&buffer).then(|| Arc::from(&buffer[..])))
    }
}

impl Homes {
    pub(super) fn new(file: HomeFile) -> Self {
        let (asked, durable, is_settling) = Default::default();
        let (evicted, given_back) = Default::default();
        Self { file, asked, durable, is_settling, evicted, given_back }
    }

    /// Number of operations requested on flash.
    pub(super) fn asked(&self) -> u64 {
        self.asked.get()
    }

    /// `true` while some of the first `asked` operations are not durable.
    pub(super) fn is_behind(&self, asked: u64) -> bool {
        self.durable.get() < asked
    }

    pub(super) fn note_asked(&self) {
        self.asked.set(self.asked.get() + 1);
    }

    pub(super) fn note_durable(&self, count: usize) {
        self.durable.set(self.durable.get() + count as u64);
    }

    pub(super) fn note_evicted(&self, block: u64) {
        self.evicted.borrow_mut().insert(block);
    }

    /// Starts moving blocks home; `true` unless a move is already in progress.
    pub(super) fn begin_settling(&self) -> bool {
        !self.is_settling.replace(true)
    }

    pub(super) fn end_settling(&self) {
        self.is_settling.set(false);
    }

    /// Takes the blocks whose homes `image` no longer needs: evicted blocks that it does not hold
    /// again, and trimmed ones.
    pub(super) fn take_vacant(&self, image: &FlashImage) -> Vec<u64> {
        let mut vacant = self.evicted.take();
        vacant.retain(|block| image.read(*block, u64::MAX).is_none());
        let trimmed: BTreeSet<u64> = image.trimmed().collect();
        let before = self.given_back.replace(trimmed.clone());
        vacant.extend(trimmed.difference(&before));
        vacant.into_iter().collect()
    }
}
