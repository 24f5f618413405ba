//! The flush map of a database and the file that keeps it while the database is closed.
//!
//! The file is read when the database is opened and written when it is closed; in between the map
//! is in memory, two bits per page. The header of an open database names no map, so anything a
//! crash leaves of the file is not trusted.

use std::cell::RefCell;
use std::rc::Rc;

use device::{
    Boxed, Buffer, Device, DeviceError, Durability, OpenMode, Purpose, Request, Runtime, Volume,
};
use ese::LogTime;
use ese::flush_map::{
    FlushMap, FlushMapHeader, LastWrite, MAP_PAGE_BYTES, MapRefusal, file_name, longest_file,
    names_a_map,
};
use ese::header::{DatabaseHeader, PROBE_BYTES, read_copies};
use ese::page::{PageRef, PageSize};
use units::{PageNumber, Seed};
use wal::{NotAsWritten, Written, difference};

/// Bytes of one request for a map: the whole map of a 128 GiB database with pages of 32 KiB.
const PIECE_BYTES: usize = 128 * MAP_PAGE_BYTES;

/// The flush map of an open database.
pub(crate) struct LiveMap {
    volume: Rc<dyn Volume>,
    file: String,
    page_size: PageSize,
    map: RefCell<FlushMap>,
}

impl LiveMap {
    /// Creates a map with the contents of `map`, for the database `file` in `volume`.
    pub(crate) fn new(
        volume: Rc<dyn Volume>,
        file: &str,
        page_size: PageSize,
        map: FlushMap,
    ) -> Self {
        Self { volume, file: file.to_owned(), page_size, map: RefCell::new(map) }
    }

    /// The flush type that the next write of `page` carries.
    pub(crate) fn next(&self, page: PageNumber, in_memory: PageRef<'_>) -> u8 {
        self.map.borrow().next(page, in_memory)
    }

    /// Records a completed write.
    pub(crate) fn written(&self, first: PageNumber, bytes: &[u8]) {
        let mut map = self.map.borrow_mut();
        map.remember_all(first, bytes, self.page_size);
    }

    /// State of the last write of a page that has no write in flight.
    pub(crate) fn last_write(&self, page: PageNumber) -> LastWrite {
        self.map.borrow().last_write(page)
    }

    /// Writes the map of a closed database, and pairs the database's header with it. The header
    /// must be written afterwards. Returns the bytes written.
    pub(crate) async fn store(
        &self,
        runtime: &Runtime,
        database: &mut DatabaseHeader,
    ) -> Result<Vec<u8>, DeviceError> {
        let header = pair(runtime, database);
        let bytes = self.map.borrow().encode(&header);
        write(&*self.volume, &file_name(&self.file), &bytes).await?;
        Ok(bytes)
    }

    /// Reads the map back; `None` if its file holds `written`.
    pub(crate) async fn compare(&self, written: &[u8]) -> Option<NotAsWritten> {
        let name = file_name(&self.file);
        let (offset, what) = match self.difference(&name, written).await {
            Ok(offset) => (offset?, Written::FlushMap),
            Err(error) => (0, Written::Unreadable(error)),
        };
        let file = format!("{}/{name}", self.volume.name());
        Some(NotAsWritten { file, offset, what })
    }

    async fn difference(&self, name: &str, written: &[u8]) -> Result<Option<u64>, DeviceError> {
        let device = self.volume.open(name, OpenMode::ReadOnly).await?;
        for (number, piece) in (0..).zip(written.chunks(PIECE_BYTES)) {
            let found = difference(&*device, number * PIECE_BYTES as u64, piece).await?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// Pairs the header of a closed database with its map, and returns the map's header. The signatures
/// derive from the time, the database, and the end of the log, so no two closings share them.
pub(crate) fn pair(runtime: &Runtime, database: &mut DatabaseHeader) -> FlushMapHeader {
    let clock = runtime.clock();
    let moment = clock.epoch() + clock.now();
    let end = u64::from_le_bytes(database.detached_at.encode());
    let own = Seed(u64::from(database.signature.random));
    let seed = own.derive(end).derive(database.dbtime).derive(moment.0);
    let now = LogTime::from_unix_millis(moment.0 / 1_000_000);
    FlushMapHeader::pair(database, seed, now)
}

/// Reads the map next to the database `file` in `volume`, whose header is `database`, if it belongs
/// to that database; a map of more than the database's `pages` does not. Only storage failures are
/// errors.
pub fn read<'a>(
    volume: &'a dyn Volume,
    file: &'a str,
    database: &'a DatabaseHeader,
    pages: u32,
) -> Boxed<'a, Result<Result<FlushMap, MapRefusal>, DeviceError>> {
    Box::pin(async move {
        // Checked before the file is looked up: if the header names no map, none is needed.
        if !names_a_map(database) {
            return Ok(Err(MapRefusal::Unpaired));
        }
        let device = match volume.open(&file_name(file), OpenMode::ReadOnly).await {
            Ok(device) => device,
            Err(DeviceError::NotFound { .. }) => return Ok(Err(MapRefusal::Missing)),
            Err(error) => return Err(error),
        };
        if device.length() > longest_file(pages) {
            return Ok(Err(MapRefusal::Foreign));
        }
        let length = usize::try_from(device.length()).expect("invariant: as long as a map may be");
        // The part after the last whole page of a map cannot be read unbuffered, but still counts
        // as a mismatch.
        let mut bytes = read_all(&*device, length - length % MAP_PAGE_BYTES).await?;
        bytes.resize(length, 0);
        Ok(FlushMap::believed(&bytes, database))
    })
}

/// Reads the map next to a database that is not open, like [`read`]. `device` is the database file;
/// one without a good header names no map.
pub fn read_beside<'a>(
    volume: &'a dyn Volume,
    file: &'a str,
    device: &'a dyn Device,
) -> Boxed<'a, Result<Result<FlushMap, MapRefusal>, DeviceError>> {
    Box::pin(async move {
        let length = usize::try_from(device.length()).unwrap_or(usize::MAX);
        let probe = PROBE_BYTES.min(length - length % device::ALIGNMENT);
        if probe == 0 {
            return Ok(Err(MapRefusal::Unpaired));
        }
        let start = read_all(device, probe).await?;
        let Ok(copies) = read_copies(&start) else {
            return Ok(Err(MapRefusal::Unpaired));
        };
        let pages = device.length() / copies.page_size.bytes_u64();
        let pages = u32::try_from(pages).unwrap_or(u32::MAX);
        read(volume, file, &copies.header, pages).await
    })
}

async fn read_all(device: &dyn Device, length: usize) -> Result<Vec<u8>, DeviceError> {
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        let piece = PIECE_BYTES.min(length - bytes.len());
        let request = Request::read(Purpose::Header, bytes.len() as u64, piece);
        bytes.extend_from_slice(&device.submit(request).await.into_buffer()?);
    }
    Ok(bytes)
}

/// Writes `bytes` durably as the content of the file `name`. The write need not be atomic: no
/// header names the map before it is whole.
pub(crate) async fn write(
    volume: &dyn Volume,
    name: &str,
    bytes: &[u8],
) -> Result<(), DeviceError> {
    let length = bytes.len() as u64;
    let device = match volume.open(name, OpenMode::ReadWrite).await {
        Err(DeviceError::NotFound { .. }) => {
            volume.open(name, OpenMode::CreateNew { length }).await?
        }
        opened => opened?,
    };
    if device.length() != length {
        let request = Request::set_length(Purpose::Header, length);
        device.submit(request).await.result?;
    }
    for (number, piece) in (0..).zip(bytes.chunks(PIECE_BYTES)) {
        let buffer = Buffer::copy_of(piece);
        let offset = number * PIECE_BYTES as u64;
        let request = Request::write(Purpose::Header, offset, buffer, Durability::Durable);
        device.submit(request).await.result?;
    }
    Ok(())
}
