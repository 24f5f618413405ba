//! The database file to be damaged, in memory, in its state before the write that is damaged next.

use std::rc::Rc;
use std::sync::Arc;

use device::{Buffer, Durability, OpenMode, Purpose, Request, Volume, VolumeImage};
use ese::flush_map::{FlushMap, file_name};
use ese::header::{CopyState, PROBE_BYTES, read_copies};
use ese::page::PageSize;
use faults::{Call, Effect, Fault, FaultPlan, FaultyVolume, Injection, Matching, Occurrence};
use integrity::{Damage, Tally};
use units::{PageNumber, Seed};

use crate::world::World;

/// A database file in memory; see the module.
pub(super) struct Bench {
    world: World,
    file: String,
    size: PageSize,
    /// Contents of the file without the damage.
    pristine: Vec<u8>,
    /// Flush map, which knows every acknowledged write.
    map: Arc<FlushMap>,
}

impl Bench {
    /// The closed database `file` of `image` and its flush map.
    pub(super) fn new(image: &VolumeImage, file: &str) -> Result<Self, String> {
        let bytes = image.files.get(file).ok_or("the file is gone")?.to_vec();
        let copies = read_copies(&bytes).map_err(|error| error.to_string())?;
        let map = image.files.get(&file_name(file)).ok_or("no flush map")?;
        let map = FlushMap::believed(&map.to_vec(), &copies.header);
        Ok(Self {
            world: World::of(image),
            file: file.to_owned(),
            size: copies.page_size,
            pristine: bytes,
            map: Arc::new(map.map_err(|refusal| refusal.to_string())?),
        })
    }

    /// Writes a page through a device with the fault `effect`, and records the write that the
    /// device acknowledged.
    pub(super) fn write_badly(
        &mut self,
        page: PageNumber,
        bytes: &[u8],
        (effect, seed): (Effect, Seed),
    ) -> Option<Injection> {
        let plan = FaultPlan {
            seed,
            faults: vec![Fault {
                matching: Matching { call: Some(Call::Write), ..Matching::default() },
                occurrence: Occurrence::Nth(1),
                effect,
            }],
        };
        let volume = FaultyVolume::new(self.world.volume(), plan, self.world.runtime());
        self.write_through(Rc::new(volume.clone()), page, bytes);
        volume.injections().into_iter().next()
    }

    /// Writes a page correctly.
    pub(super) fn write(&mut self, page: PageNumber, bytes: &[u8]) {
        let offset = self.offset(page);
        let end = offset + bytes.len();
        if self.pristine.len() < end {
            self.pristine.resize(end, 0);
        }
        self.pristine[offset..end].copy_from_slice(bytes);
        self.write_through(self.world.volume(), page, bytes);
    }

    fn write_through(&mut self, volume: Rc<dyn Volume>, page: PageNumber, bytes: &[u8]) {
        let map = Arc::make_mut(&mut self.map);
        map.remember_all(page, bytes, self.size);
        self.put(volume, self.size.file_offset(page), bytes);
    }

    fn offset(&self, page: PageNumber) -> usize {
        usize::try_from(self.size.file_offset(page)).expect("invariant: the file is in memory")
    }

    /// The page at this offset of the file; `None` if it holds a copy of the header.
    pub(super) fn page_at(&self, offset: u64) -> Option<PageNumber> {
        self.size.page_at(offset)
    }

    /// The contents of a page without damage; zeros if it was never written.
    pub(super) fn pristine(&self, page: PageNumber) -> Vec<u8> {
        let offset = self.offset(page);
        let found = self.pristine.get(offset..offset + self.size.bytes());
        found.map_or_else(|| vec![0; self.size.bytes()], <[u8]>::to_vec)
    }

    /// Undoes the damage to a page; the map does not record it.
    pub(super) fn restore(&self, page: PageNumber) {
        let volume = self.world.volume();
        self.put(volume, self.size.file_offset(page), &self.pristine(page));
    }

    /// Undoes the damage to the page or header copy at this offset of the file.
    pub(super) fn restore_at(&self, offset: u64) {
        let from = usize::try_from(offset).expect("invariant: the file is in memory");
        let mut bytes = vec![0; self.size.bytes()];
        if let Some(found) = self.pristine.get(from..from + bytes.len()) {
            bytes.copy_from_slice(found);
        }
        self.put(self.world.volume(), offset, &bytes);
    }

    fn put(&self, volume: Rc<dyn Volume>, offset: u64, bytes: &[u8]) {
        let (file, buffer) = (self.file.clone(), Buffer::copy_of(bytes));
        self.world.run(async move {
            let device = volume.open(&file, OpenMode::ReadWrite).await;
            let device = device.expect("the file is there");
            let end = offset + buffer.len() as u64;
            let write = Request::write(Purpose::Database, offset, buffer, Durability::Volatile);
            if end > device.length() {
                let grown = device.submit(Request::set_length(Purpose::Database, end)).await;
                grown.result.expect("memory has no end");
            }
            device.submit(write).await.result.expect("memory does not fail");
        });
    }

    /// The current contents of a page; zeros beyond the end of the file.
    pub(super) fn read(&self, page: PageNumber) -> Vec<u8> {
        self.read_at(self.size.file_offset(page), self.size.bytes())
    }

    fn read_at(&self, offset: u64, length: usize) -> Vec<u8> {
        let (file, volume) = (self.file.clone(), self.world.volume());
        self.world.run(async move {
            let device = volume.open(&file, OpenMode::ReadOnly).await;
            let device = device.expect("the file is there");
            if device.length() < offset + length as u64 {
                return vec![0; length];
            }
            let read = Request::read(Purpose::Checksum, offset, length);
            let read = device.submit(read).await.into_buffer();
            read.expect("memory does not fail").to_vec()
        })
    }

    /// The finding of `check` on one page.
    pub(super) fn judge(&self, page: PageNumber) -> Option<Damage> {
        let bytes = self.read(page);
        let mut tally = Tally::new(page.0, None, Some(Arc::clone(&self.map)));
        tally.judge(&bytes, self.size, page);
        tally.find_wiped_pages(|| None);
        tally.findings.pop().map(|finding| finding.damage)
    }

    /// The finding of `check` on the header copy at this offset.
    pub(super) fn header_copy(&self, offset: u64) -> CopyState {
        match read_copies(&self.read_at(0, PROBE_BYTES)) {
            Ok(copies) if offset == 0 => copies.primary,
            Ok(copies) => copies.shadow,
            Err(_) => CopyState::Missing,
        }
    }
}
