//! The pages that redo works on: read ahead, changed in memory, written in runs.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use device::{Buffer, Completion, Device, Durability, Purpose, Request};
use ese::checksum::{self, PageVerdict};
use ese::flush_map::FlushMap;
use ese::page::{PageMut, PageRef, PageSize};
use ese::page_check;
use units::{Bytes, PageNumber};

use crate::notify::Notify;
use crate::recovery::{RecoveryError, RecoverySettings};

/// Runs of pages written at the same time.
const WRITES_IN_FLIGHT: usize = 16;

/// Pages kept in memory at least, however little of it is allowed.
const LEAST_PAGES: usize = 64;

/// A page in memory.
pub(super) struct Page {
    pub image: Buffer,
    /// What is wrong with it, until the log makes it anew.
    pub damage: Option<String>,
    pub dirty: bool,
    used: u64,
}

impl Page {
    /// Database time of the last change; that of a damaged page means nothing.
    pub fn dbtime(&self) -> u64 {
        PageRef::new(&self.image).dbtime()
    }
}

enum Slot {
    Loading(Completion),
    Here(Page),
}

/// A bounded part of the database file.
pub(super) struct Pages {
    device: Rc<dyn Device>,
    page_size: PageSize,
    slots: HashMap<PageNumber, Slot>,
    reads_in_flight: Rc<Cell<usize>>,
    most_reads: usize,
    /// Pages read ahead that nobody has used yet, on their way or not.
    ahead: usize,
    most_ahead: usize,
    /// Tells of every read that has ended.
    arrived: Rc<Notify>,
    capacity: usize,
    /// First page of every write under way. The pages stay until the write has ended, so that
    /// nobody reads them meanwhile.
    writing: Vec<(PageNumber, Completion)>,
    /// Memory of pages that have gone, for those that come.
    spare: Vec<Buffer>,
    longest_run: usize,
    uses: u64,
    done: Done,
}

/// What has been done to the file.
#[derive(Default)]
pub(super) struct Done {
    pub read: u64,
    pub written: u64,
    /// The flush types of what was written.
    pub flush_map: FlushMap,
}

impl Pages {
    pub fn new(device: Rc<dyn Device>, page_size: PageSize, settings: &RecoverySettings) -> Self {
        let pages = |bytes: Bytes| usize::try_from(bytes.0 / page_size.bytes_u64()).unwrap_or(0);
        let capacity = pages(settings.cache).max(LEAST_PAGES);
        Self {
            device,
            page_size,
            slots: HashMap::new(),
            reads_in_flight: Rc::default(),
            most_reads: settings.reads_in_flight.max(1),
            ahead: 0,
            // The other half is for pages in use.
            most_ahead: capacity / 2,
            arrived: Rc::default(),
            capacity,
            writing: Vec::new(),
            spare: Vec::new(),
            longest_run: pages(settings.longest_write).max(1),
            uses: 0,
            done: Done::default(),
        }
    }

    /// The file's name.
    pub fn file(&self) -> String {
        self.device.name().to_owned()
    }

    /// Starts to read a page unless it is here; false where no more reads may be in flight, or no
    /// more pages be read ahead.
    pub fn prefetch(&mut self, page: PageNumber) -> bool {
        if self.slots.contains_key(&page) || !self.exists(page) {
            return true;
        }
        if self.reads_in_flight.get() >= self.most_reads || self.ahead >= self.most_ahead {
            return false;
        }
        self.begin(page);
        true
    }

    /// Starts to read a page unless it is here, whatever else is under way. False where it need not
    /// be waited for.
    pub fn is_awaited(&mut self, page: PageNumber) -> bool {
        if !self.slots.contains_key(&page) && self.exists(page) {
            self.begin(page);
        }
        match self.slots.get(&page) {
            Some(Slot::Loading(completion)) => !completion.has_arrived(),
            Some(Slot::Here(_)) | None => false,
        }
    }

    /// Tells of every read that has ended.
    pub fn arrivals(&self) -> Rc<Notify> {
        Rc::clone(&self.arrived)
    }

    fn begin(&mut self, page: PageNumber) {
        let completion = self.submit_read(page);
        self.ahead += 1;
        self.slots.insert(page, Slot::Loading(completion));
    }

    /// The page, read if necessary. One behind the end of the file reads as zeros.
    pub async fn get(&mut self, number: PageNumber) -> Result<&mut Page, RecoveryError> {
        self.uses += 1;
        if !self.slots.contains_key(&number) && self.exists(number) {
            self.begin(number);
        }
        let mut page = match self.slots.remove(&number) {
            Some(Slot::Here(page)) => page,
            Some(Slot::Loading(completion)) => {
                self.ahead -= 1;
                judged(completion.await.into_buffer()?, number)
            }
            None => judged(Buffer::zeroed(self.page_size.bytes()), number),
        };
        page.used = self.uses;
        let slot = self.slots.entry(number).or_insert(Slot::Here(page));
        match slot {
            Slot::Here(page) => Ok(page),
            Slot::Loading(_) => unreachable!("the slot was put there a line above"),
        }
    }

    /// The page for somebody who makes it anew: if it is not here, it is not read.
    pub async fn get_anew(&mut self, number: PageNumber) -> Result<&mut Page, RecoveryError> {
        let zeros = || Buffer::zeroed(self.page_size.bytes());
        let slot = self.slots.entry(number);
        slot.or_insert_with(|| Slot::Here(judged(zeros(), number)));
        self.get(number).await
    }

    /// Makes the file at least `length` bytes long.
    pub async fn extend_to(&mut self, length: u64) -> Result<(), RecoveryError> {
        if self.device.length() < length {
            let request = Request::set_length(Purpose::Database, length);
            self.device.submit(request).await.result?;
        }
        Ok(())
    }

    /// Where there are too many pages, drops of the half that was not used for longest what is in
    /// the file already, and starts to write the rest, which goes the next time.
    pub async fn make_room(&mut self) -> Result<(), RecoveryError> {
        if self.slots.len() <= self.capacity {
            return Ok(());
        }
        let mut uses: Vec<u64> = self.here().map(|(_, page)| page.used).collect();
        let middle = uses.len() / 2;
        let (_, oldest_kept, _) = uses.select_nth_unstable(middle);
        let oldest_kept = *oldest_kept;
        self.settle().await?;
        let goes = |_: &PageNumber, slot: &mut Slot| match slot {
            Slot::Here(page) => page.used < oldest_kept && !page.dirty && page.damage.is_none(),
            Slot::Loading(_) => false,
        };
        for (_, slot) in self.slots.extract_if(goes) {
            if let Slot::Here(page) = slot {
                self.spare.push(page.image);
            }
        }
        self.write(|page| page.used < oldest_kept).await
    }

    /// Writes every changed page and makes the file durable.
    pub async fn finish(mut self) -> Result<Done, RecoveryError> {
        self.write(|_| true).await?;
        self.settle().await?;
        let flush = Request::flush(Purpose::Database);
        self.device.submit(flush).await.result?;
        Ok(self.done)
    }

    fn here(&self) -> impl Iterator<Item = (PageNumber, &Page)> {
        self.slots.iter().filter_map(|(number, slot)| match slot {
            Slot::Here(page) => Some((*number, page)),
            Slot::Loading(_) => None,
        })
    }

    fn exists(&self, page: PageNumber) -> bool {
        self.page_size.file_offset(page) + self.page_size.bytes_u64() <= self.device.length()
    }

    fn submit_read(&mut self, page: PageNumber) -> Completion {
        self.done.read += 1;
        self.reads_in_flight.set(self.reads_in_flight.get() + 1);
        let in_flight = Rc::clone(&self.reads_in_flight);
        let arrived = Rc::clone(&self.arrived);
        let offset = self.page_size.file_offset(page);
        let spare = self.spare.pop();
        let buffer = spare.unwrap_or_else(|| Buffer::zeroed(self.page_size.bytes()));
        let request = Request::read_into(Purpose::Database, offset, buffer);
        self.device.submit(request).on_complete(move |_| {
            in_flight.set(in_flight.get() - 1);
            arrived.notify_all();
        })
    }

    /// Waits for the writes under way.
    async fn settle(&mut self) -> Result<(), RecoveryError> {
        for (first, write) in std::mem::take(&mut self.writing) {
            let written = write.await.into_buffer()?;
            let map = &mut self.done.flush_map;
            map.remember_all(first, &written, self.page_size);
        }
        Ok(())
    }

    /// Starts to write the changed pages that `choose` picks, neighbours together.
    async fn write(&mut self, choose: impl Fn(&Page) -> bool) -> Result<(), RecoveryError> {
        let sound = self.here().filter(|(_, page)| page.damage.is_none());
        let picked = sound.filter(|(_, page)| page.dirty && choose(page));
        let mut numbers: Vec<PageNumber> = picked.map(|(number, _)| number).collect();
        numbers.sort_unstable();
        if let Some(last) = numbers.last() {
            let end = self.page_size.file_offset(*last) + self.page_size.bytes_u64();
            self.extend_to(end).await?;
        }
        let runs: Vec<&[PageNumber]> = numbers
            .chunk_by(|left, right| left.0 + 1 == right.0)
            .flat_map(|run| run.chunks(self.longest_run))
            .collect();
        for together in runs.chunks(WRITES_IN_FLIGHT) {
            self.settle().await?;
            for run in together {
                let write = self.submit_run(run);
                self.writing.push((run[0], write));
            }
        }
        Ok(())
    }

    fn submit_run(&mut self, run: &[PageNumber]) -> Completion {
        let bytes = self.page_size.bytes();
        let mut buffer = Buffer::zeroed(run.len() * bytes);
        for (number, sealed) in run.iter().zip(buffer.chunks_mut(bytes)) {
            let Some(Slot::Here(page)) = self.slots.get_mut(number) else {
                unreachable!("only pages that are here are picked")
            };
            let map = &self.done.flush_map;
            let flush_type = map.next(*number, PageRef::new(&page.image));
            let mut image = PageMut::new(&mut page.image);
            image.set_flush_type(flush_type);
            image.seal(*number);
            page.dirty = false;
            sealed.copy_from_slice(&page.image);
        }
        self.done.written += run.len() as u64;
        let offset = self.page_size.file_offset(run[0]);
        let write = Request::write(Purpose::Database, offset, buffer, Durability::Volatile);
        self.device.submit(write)
    }
}

/// A page that was read, and what is wrong with it. A flipped bit is put right, in the file too.
fn judged(mut image: Buffer, number: PageNumber) -> Page {
    let verdict = checksum::verify(&image, number);
    let correctable = matches!(verdict, PageVerdict::Correctable { .. });
    let repaired = correctable && checksum::repair(&mut image, number).is_some();
    let damage = match verdict {
        PageVerdict::Uninitialised => None,
        PageVerdict::Correctable { .. } if repaired => None,
        PageVerdict::Good => page_check::check(PageRef::new(&image), number)
            .err()
            .map(|fault| fault.to_string()),
        PageVerdict::WrongPage { really } => Some(format!("holds page {really}")),
        PageVerdict::Correctable { .. }
        | PageVerdict::FlippedChecksum { .. }
        | PageVerdict::Bad { .. } => Some("its checksum is wrong".to_owned()),
    };
    Page {
        image,
        damage,
        dirty: repaired,
        used: 0,
    }
}
