//! A tiny engine that logs, writes and forgets pages like the real one, without trees.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use device::{
    Buffer, Device, Durability, Executor, Latency, MemoryVolume, OpenMode, Purpose, Request,
    VirtualReactor, Volume, VolumeImage,
};
use ese::Lgpos;
use ese::header::{DatabaseHeader, DatabaseState};
use ese::page::{PageMut, PageRef, PageSize, page_flags};
use faults::{CrashOptions, CrashVolume};
use units::{Bytes, Generation, Nanos, ObjectId, PageNumber, Prng, Seed};
use wal::edit::{self, ApplyRecord, PageEdit, PageEdits, TransactionId, UndoAction, apply_all};
use wal::{Log, LogFolder, LogRecord};

use super::world::{identity, small_buffers};

/// The database file's name.
pub(super) const FILE: &str = "one.edb";
/// Its page size.
pub(super) const PAGE_BYTES: usize = 4096;
/// Number of pages the twin works on, more than fit redo's cache in the tests.
const PAGES: u32 = 120;

/// The twin's state.
#[derive(Clone, Copy)]
pub(super) struct Twin {
    /// Whether the first change to a page after each write logs the whole page.
    pub rebuilds: bool,
}

struct Frame {
    image: Vec<u8>,
    /// Position of the first change missing from the file, and the end of the last one.
    dirt: Option<(Lgpos, Lgpos)>,
}

struct Engine {
    log: Log,
    file: Rc<dyn Device>,
    frames: BTreeMap<PageNumber, Frame>,
    dbtime: u64,
    prng: Prng,
    twin: Twin,
}

/// A run of the twin, finished or cut short.
pub(super) struct Life {
    executor: Executor,
    memory: MemoryVolume,
    pub volume: CrashVolume,
    /// Number of requests until file and log existed: earlier crashes test creation, not recovery.
    pub created: u64,
}

impl Life {
    /// The files left when the process is killed now: the system still carries out pending
    /// requests.
    pub(super) fn killed(self) -> VolumeImage {
        self.executor.abandon();
        let sleep = self.executor.runtime().sleep(SLOWEST_REQUEST);
        self.executor.block_on(sleep);
        self.memory.image()
    }
}

const SLOWEST_REQUEST: Nanos = Nanos::from_micros(500);

/// Runs `steps` changes, with a possible power failure at one of their requests.
pub(super) fn live(seed: Seed, steps: u32, twin: Twin, at_request: Option<u64>) -> Life {
    let reactor = VirtualReactor::new();
    let latency = Latency::spread(Nanos::from_micros(50), SLOWEST_REQUEST, seed);
    let memory = MemoryVolume::new("files", &reactor, latency);
    let options = CrashOptions { at_request, ..CrashOptions::default() };
    let volume = CrashVolume::new(Rc::new(memory.clone()), &VolumeImage::default(), options);
    let executor = Executor::new(reactor);
    let created = Rc::new(Cell::new(0));
    let (runtime, watched) = (executor.runtime(), volume.clone());
    let creation = Rc::clone(&created);
    volume.run(&executor, async move {
        let folder = LogFolder::new(Rc::new(watched.clone()), "E00");
        let log = Log::create(&runtime, folder, identity(), small_buffers()).await.unwrap();
        let file = create_database(&watched).await;
        creation.set(watched.requests());
        let mut engine =
            Engine { log, file, frames: BTreeMap::new(), dbtime: 10, prng: Prng::new(seed), twin };
        for _ in 0..steps {
            engine.step().await;
        }
    });
    assert_eq!(volume.has_crashed(), at_request.is_some());
    Life { executor, memory, volume, created: created.get() }
}

async fn create_database(volume: &CrashVolume) -> Rc<dyn Device> {
    let length = u64::from(PAGES + 2) * PAGE_BYTES as u64;
    let file = volume.open(FILE, OpenMode::CreateNew { length }).await.unwrap();
    write_header(&*file).await;
    file
}

async fn write_header(file: &dyn Device) {
    let mut header = DatabaseHeader::new(PageSize::KIB_4, identity().database);
    header.state = DatabaseState::DirtyShutdown;
    header.log_signature = identity().signature;
    header.generation_min_required = Generation(1);
    header.generation_max_required = Generation(1);
    for copy in 0..2 {
        let buffer = Buffer::copy_of(&header.encode(PageSize::KIB_4));
        let offset = copy * PAGE_BYTES as u64;
        let write = Request::write(Purpose::Header, offset, buffer, Durability::Durable);
        file.submit(write).await.into_buffer().unwrap();
    }
}

impl Engine {
    async fn step(&mut self) {
        self.log.throttle().await.unwrap();
        match self.prng.below(100) {
            0..70 => self.change(),
            70..88 => self.write_a_page().await,
            88..90 => self.checkpoint().await,
            90..92 => {
                let length = Bytes(u64::from(PAGES + 3) * PAGE_BYTES as u64);
                self.log.append(&LogRecord::Extend { length }).unwrap();
            }
            92..97 => self.log.request_flush(self.log.tip()).unwrap(),
            _ => self.log.flush_to(self.log.tip()).await.unwrap(),
        }
    }

    /// One apply over one to three pages.
    fn change(&mut self) {
        self.dbtime += 1 + self.prng.below(3);
        let mut pages = BTreeMap::new();
        for _ in 0..=self.prng.below(3) {
            let number = u32::try_from(1 + self.prng.below(u64::from(PAGES))).unwrap();
            pages.entry(PageNumber(number)).or_insert_with(Vec::new);
        }
        for (number, edits) in &mut pages {
            self.plan(*number, edits);
        }
        let edits = |(page, edits): (PageNumber, Vec<PageEdit>)| PageEdits {
            page,
            dbtime_before: PageRef::new(&self.frames[&page].image).dbtime(),
            edits,
        };
        let record = ApplyRecord {
            transaction: TransactionId::NONE,
            dbtime: self.dbtime,
            pages: pages.into_iter().map(edits).collect(),
            undo: UndoAction::None,
        };
        let span = self.log.append(&LogRecord::Apply(record.clone())).unwrap();
        for page in &record.pages {
            let frame = self.frames.get_mut(&page.page).unwrap();
            apply_all(&mut PageMut::new(&mut frame.image), &page.edits, record.dbtime).unwrap();
            frame.dirt = Some((frame.dirt.map_or(span.start, |dirt| dirt.0), span.end));
        }
    }

    fn plan(&mut self, number: PageNumber, edits: &mut Vec<PageEdit>) {
        let frame = self
            .frames
            .entry(number)
            .or_insert_with(|| Frame { image: vec![0; PAGE_BYTES], dirt: None });
        let page = PageRef::new(&frame.image);
        let node = |prng: &mut Prng| {
            let mut node = vec![2, 0, 1, 1];
            node.resize(8 + usize::try_from(prng.below(200)).unwrap(), 0);
            prng.fill(&mut node[2..]);
            node
        };
        if page.dbtime() == 0 || self.prng.percent(2) {
            // Space trees are exempt from the order of keys.
            let flags = page_flags::LEAF | page_flags::ROOT | page_flags::SPACE_TREE;
            edits.push(PageEdit::Format { flags, objid: ObjectId(number.0) });
            edits.push(PageEdit::External(vec![0; 16]));
            let node = node(&mut self.prng);
            edits.push(PageEdit::Insert { line: 0, flags: 0, node });
            return;
        }
        if self.twin.rebuilds && frame.dirt.is_none() {
            edits.extend(edit::rebuild(page));
        }
        let lines = u16::try_from(page.node_count()).unwrap();
        let line = u16::try_from(self.prng.below(u64::from(lines) + 1)).unwrap();
        let full = page.free_bytes() < 300;
        edits.push(match self.prng.below(4) {
            _ if full => PageEdit::Remove { line: 1, count: lines - 1 },
            0 if line < lines => PageEdit::DeltaU32 { line, offset: 0, delta: -5 },
            1 if line < lines => PageEdit::NodeFlags { line, flags: 2 },
            2 if lines > 1 => PageEdit::Remove { line: lines - 1, count: 1 },
            _ => PageEdit::Insert { line, flags: 0, node: node(&mut self.prng) },
        });
    }

    /// Writes one of the changed pages, once the log is durable up to its last change.
    async fn write_a_page(&mut self) {
        let dirty = self.frames.iter().filter(|(_, frame)| frame.dirt.is_some());
        let dirty: Vec<PageNumber> = dirty.map(|(number, _)| *number).collect();
        let Some(last) = dirty.len().checked_sub(1) else {
            return;
        };
        let pick = usize::try_from(self.prng.below(last as u64 + 1)).unwrap();
        self.write(dirty[pick]).await;
    }

    async fn write(&mut self, number: PageNumber) {
        let frame = self.frames.get_mut(&number).unwrap();
        let (_, end) = frame.dirt.take().unwrap();
        let mut page = PageMut::new(&mut frame.image);
        page.advance_flush_type();
        page.seal(number);
        let buffer = Buffer::copy_of(&frame.image);
        self.log.flush_to(end).await.unwrap();
        let offset = PageSize::KIB_4.file_offset(number);
        let write = Request::write(Purpose::Database, offset, buffer, Durability::Volatile);
        self.file.submit(write).await.into_buffer().unwrap();
    }

    /// Writes the half of the changed pages that changed first, and advances the checkpoint.
    async fn checkpoint(&mut self) {
        let dirt = |(number, frame): (&PageNumber, &Frame)| Some((frame.dirt?.0, *number));
        let mut oldest: Vec<_> = self.frames.iter().filter_map(dirt).collect();
        oldest.sort_unstable();
        for (_, number) in &oldest[..oldest.len() / 2] {
            self.write(*number).await;
        }
        let flush = Request::flush(Purpose::Database);
        self.file.submit(flush).await.result.unwrap();
        let oldest = self.frames.values().filter_map(|frame| Some(frame.dirt?.0)).min();
        let place = oldest.unwrap_or(self.log.durable()).min(self.log.durable());
        self.log.advance_checkpoint(place).await.unwrap();
    }
}

/// The pages that result from applying these records to an empty file.
pub(super) fn expected_pages(records: &[LogRecord]) -> BTreeMap<PageNumber, Vec<u8>> {
    let mut pages = BTreeMap::new();
    for record in records {
        let LogRecord::Apply(apply) = record else {
            continue;
        };
        for edits in &apply.pages {
            let image = pages.entry(edits.page).or_insert_with(|| vec![0; PAGE_BYTES]);
            apply_all(&mut PageMut::new(image), &edits.edits, apply.dbtime).unwrap();
        }
    }
    pages
}

/// A page of the database file.
pub(super) fn page_of(file: &[u8], number: PageNumber) -> Vec<u8> {
    let at = usize::try_from(PageSize::KIB_4.file_offset(number)).unwrap();
    file[at..at + PAGE_BYTES].to_vec()
}
