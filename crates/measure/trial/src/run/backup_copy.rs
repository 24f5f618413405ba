//! Database copies made by a backup: the files they may replace, and how they are written. The
//! header is written last, so that the remains of an interrupted backup are recognisable.

use std::path;
use std::rc::Rc;

use device::{
    ALIGNMENT, Buffer, Device, DeviceError, Durability, OpenMode, Purpose, Request, Runtime,
};
use ese::header::{PROBE_BYTES, read_copies};
use ese::page::PageSize;
use integrity::BlockCopy;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::location::{CopyFolder, Location};
use crate::manifest::{self, ManifestError};

/// Writes in flight to a copy, as many as reads in flight of its database.
const WRITES_IN_FLIGHT: usize = 2;

/// Owner of a copy, recorded in a file next to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CopyOwner {
    /// Full path of the database.
    database: String,
    /// Its signature when the copy was made, in hexadecimal.
    signature: String,
}

/// A copy in progress.
pub(super) struct BackupFile {
    device: Rc<dyn Device>,
    /// The database's first two pages, which hold its header twice.
    header: Buffer,
    /// Destination of everything else.
    pub(super) blocks: Rc<BlockCopy>,
    /// Time taken to create its file.
    made_in: Nanos,
}

/// Name of the file that records the owner of the copy next to it.
fn owner_file(location: &Location) -> String {
    let file = &location.plan.file;
    format!("{}.copy.json", file.strip_suffix(".edb").unwrap_or(file))
}

fn whole_path(location: &Location) -> String {
    path::absolute(location.path())
        .map_or_else(|_| location.path(), |whole| whole.display().to_string())
}

/// Refuses to replace a file with a copy unless it is an earlier copy of the same database. Nothing
/// is written.
pub(super) async fn prove(location: &Location, copies: &CopyFolder) -> Result<(), String> {
    let file = &location.plan.file;
    let path = path::Path::new(&copies.folder).join(file).display().to_string();
    let owner =
        match manifest::read_document::<CopyOwner>(&copies.volume, &owner_file(location)).await {
            Ok(owner) => owner,
            Err(ManifestError::Unreadable { file, .. }) => {
                return Err(format!("{file}: was not made by a backup; {ELSEWHERE}"));
            }
            Err(error) => return Err(error.to_string()),
        };
    if let Some(owner) = &owner
        && owner.database != whole_path(location)
    {
        return Err(format!("{path}: is the place of copies of {}; {ELSEWHERE}", owner.database));
    }
    // Any current writer has it locked.
    match copies.volume.open(file, OpenMode::ReadWrite).await {
        Ok(device) => drop(device),
        Err(DeviceError::NotFound { .. }) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    }
    match replaceable(copies, file, owner.as_ref()).await {
        Ok(true) => Ok(()),
        Ok(false) => {
            Err(format!("{path}: is no copy that a backup of this database made; {ELSEWHERE}"))
        }
        Err(error) => Err(error.to_string()),
    }
}

const ELSEWHERE: &str = "nothing was written. Name another folder for copies in the plan, or move \
                         what is there";

/// Whether `file` is a complete or partial backup of the database that `owner` names.
async fn replaceable(
    copies: &CopyFolder,
    file: &str,
    owner: Option<&CopyOwner>,
) -> Result<bool, DeviceError> {
    let Some(owner) = owner else {
        return Ok(false);
    };
    if let Some(header) = manifest::header_of(&*copies.volume, file).await? {
        return Ok(manifest::digits(header.signature) == owner.signature);
    }
    let device = copies.volume.open(file, OpenMode::ReadOnly).await?;
    let present = usize::try_from(device.length()).unwrap_or(usize::MAX);
    let length = PROBE_BYTES.min(present / ALIGNMENT * ALIGNMENT);
    if length == 0 {
        return Ok(present == 0);
    }
    let start = device.submit(Request::read(Purpose::Header, 0, length)).await.into_buffer()?;
    Ok(start.iter().all(|byte| *byte == 0))
}

/// Begins a copy of `database`, in place of any earlier one.
pub(super) async fn begin(
    location: &Location,
    copies: &CopyFolder,
    database: &dyn Device,
    (runtime, page_size): (&Runtime, PageSize),
) -> Result<BackupFile, ManifestError> {
    let (volume, file) = (&copies.volume, &location.plan.file);
    let read = Request::read(Purpose::Backup, 0, 2 * page_size.bytes());
    let header = database.submit(read).await.into_buffer()?;
    let signature = read_copies(&header).ok().map(|both| manifest::digits(both.header.signature));
    let owner =
        CopyOwner { database: whole_path(location), signature: signature.unwrap_or_default() };
    let began = runtime.now();
    manifest::remove_if_there(&**volume, file).await?;
    manifest::write_document(volume, &owner_file(location), &owner).await?;
    let length = database.length();
    let device = volume.open(file, OpenMode::CreateNew { length }).await?;
    let blocks = BlockCopy::new(Rc::clone(&device), Purpose::BackupCopy, WRITES_IN_FLIGHT);
    let made_in = runtime.now().since(began);
    Ok(BackupFile { device, header, blocks: Rc::new(blocks), made_in })
}

impl BackupFile {
    /// How long the reads of the database have waited for the copy.
    pub(super) fn reads_waited(&self) -> Nanos {
        self.made_in + self.blocks.waited()
    }

    /// Makes the copy durable, with its header; returns the number of bytes written.
    pub(super) async fn finish(self) -> Result<u64, DeviceError> {
        let bytes = self.blocks.finish().await? + self.header.len() as u64;
        let (header, durability) = (self.header, Durability::Durable);
        let write = Request::write(Purpose::BackupCopy, 0, header, durability);
        self.device.submit(write).await.into_buffer()?;
        Ok(bytes)
    }
}
