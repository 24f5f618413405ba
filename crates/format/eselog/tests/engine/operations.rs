//! Records that no sample has, each on a page of one tree: the result of redo, and the result of
//! undo.

use ese::header::DatabaseHeader;
use ese::page::{PageRef, PageSize, node_flags};
use ese::{Lgpos, Signature};
use eselog::{LogFile, LogReplay, ReplaySummary};
use units::{ObjectId, PageNumber};

use crate::forge::{Forge, SEGMENT};
use crate::memory::MemoryStore;

const SIZE: PageSize = PageSize::KIB_4;
/// The tree, and its only page.
const TREE: u32 = 5;

/// A log that is written record by record, in the order of database times.
struct Story {
    forge: Forge,
    free: usize,
    /// Database time of the tree's page.
    dbtime: u64,
    version: u32,
}

impl Story {
    /// A tree whose keys do not repeat.
    fn new() -> Self {
        let mut story = Self { forge: Forge::new(1), free: SEGMENT - 40, dbtime: 0, version: 0 };
        story.begin(9);
        let tree = [[7_u32, 1, 4, 0].map(u32::to_le_bytes).concat()].concat();
        story.page_record(25, 9, 0, 0, &tree);
        story.commit(9);
        story
    }

    fn add(&mut self, record: &[u8]) {
        if record.len() > self.free {
            self.forge.close();
            self.free = SEGMENT - 40;
        }
        self.forge.add(record);
        self.free -= record.len();
    }

    fn begin(&mut self, session: u16) {
        let session = session.to_le_bytes();
        self.add(&[8, session[0], session[1], 0x10, 7, 0, 0, 0]);
    }

    fn commit(&mut self, session: u16) {
        let session = session.to_le_bytes();
        self.add(&[9, session[0], session[1], 0, 8, 0, 0, 0]);
    }

    fn roll_back(&mut self, session: u16) {
        let session = session.to_le_bytes();
        self.add(&[7, session[0], session[1], 1]);
    }

    /// A record that changes the page, under its next database time.
    fn page_record(&mut self, kind: u8, session: u16, line: u16, flags: u8, rest: &[u8]) {
        const UNIQUE: u8 = 4;
        let before = self.dbtime;
        self.dbtime += 1;
        let head = [&[kind], session.to_le_bytes().as_slice(), &[1], &TREE.to_le_bytes()].concat();
        let times = [self.dbtime.to_le_bytes(), before.to_le_bytes()].concat();
        let tail = [&7_u32.to_le_bytes(), [1].as_slice(), &line.to_le_bytes(), &[flags | UNIQUE]];
        self.add(&[&head, &times, &tail.concat(), rest].concat());
    }

    /// A versioned change of a node.
    fn node_record(&mut self, kind: u8, session: u16, line: u16, rest: &[u8]) {
        self.version += 2;
        let node = [self.version, TREE, 7].map(u32::to_le_bytes).concat();
        self.page_record(kind, session, line, 1, &[&node, rest].concat());
    }

    fn insert(&mut self, session: u16, line: u16, key: &[u8], data: &[u8]) {
        let lengths = [size(key), [0, 0], size(data)].concat();
        self.node_record(29, session, line, &[&lengths, key, data].concat());
    }

    fn replace(&mut self, session: u16, line: u16, data: &[u8]) {
        let lengths = [size(data), size(data), size(data)].concat();
        self.node_record(33, session, line, &[&lengths, data].concat());
    }

    fn flag_delete(&mut self, session: u16, line: u16) {
        self.node_record(32, session, line, &[]);
    }

    fn add_to(&mut self, session: u16, line: u16, key: &[u8], delta: i32) {
        let lengths = [size(key), [0, 0]].concat();
        let fields = [delta.to_le_bytes().as_slice(), &[0, 0]].concat();
        self.node_record(37, session, line, &[&lengths, &fields, key].concat());
    }

    /// Takes the change of number `version` back, as an engine's rollback does.
    fn undo(&mut self, session: u16, line: u16, version: u32, operation: u16, key: &[u8]) {
        let node = [version, TREE, 7].map(u32::to_le_bytes).concat();
        let lengths = [size(key), [0, 0]].concat();
        let fields = [operation.to_le_bytes().as_slice(), &[1]].concat();
        self.page_record(39, session, line, 0, &[&node, &lengths, &fields, key].concat());
    }

    /// What the log makes of a file without pages.
    fn replayed(mut self, undo: bool) -> (MemoryStore, ReplaySummary) {
        self.forge.close();
        let header = DatabaseHeader::new(SIZE, Signature::default());
        let store = MemoryStore { bytes: vec![0; 2 * SIZE.bytes()], size: SIZE };
        let mut replay = LogReplay::new(store, &header, 1 << 20).keeping_deleted();
        let file = LogFile::open(&self.forge.bytes).expect("a log");
        for record in file.records(&file.survey()) {
            let Ok(()) = replay.apply(&record.expect("a record"));
        }
        if undo {
            let Ok(()) = replay.undo();
        }
        let Ok(done) = replay.finish();
        assert!(done.1.behind.is_empty(), "{:?}", done.1.behind);
        done
    }

    /// The rows after undo that are not flagged as deleted.
    fn rows(self) -> Vec<(Vec<u8>, Vec<u8>)> {
        rows(&self.replayed(true).0)
    }
}

fn size(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len()).expect("short").to_le_bytes()
}

fn rows(store: &MemoryStore) -> Vec<(Vec<u8>, Vec<u8>)> {
    let page = PageRef::new(store.page(PageNumber(TREE)).expect("the tree"));
    let live = page.nodes().filter(|node| node.flags & node_flags::DELETED == 0);
    live.map(|node| (node.key(), node.data.to_vec())).collect()
}

fn row(key: &[u8], data: &[u8]) -> (Vec<u8>, Vec<u8>) {
    (key.to_vec(), data.to_vec())
}

/// A tree with one committed row.
fn committed() -> Story {
    let mut story = Story::new();
    story.begin(1);
    story.insert(1, 0, b"k", &5_i32.to_le_bytes());
    story.commit(1);
    story
}

#[test]
fn changes_of_one_row_are_undone_from_the_last_to_the_first() {
    let mut story = committed();
    story.begin(2);
    story.replace(2, 0, b"later");
    story.replace(2, 0, b"and last");
    story.flag_delete(2, 0);
    assert_eq!(story.rows(), [row(b"k", &5_i32.to_le_bytes())]);
}

#[test]
fn an_insert_is_undone_as_a_deleted_row() {
    let mut story = committed();
    story.begin(2);
    story.insert(2, 1, b"m", b"new");
    let (store, summary) = story.replayed(true);
    assert_eq!(rows(&store).len(), 1);
    assert_eq!((summary.transactions_undone, summary.changes_undone), (1, 1));
    let page = PageRef::new(store.page(PageNumber(TREE)).expect("the tree"));
    assert_eq!(page.node_count(), 2, "an engine removes the row later");
}

#[test]
fn sums_of_several_sessions_are_undone_each_alone() {
    let mut story = committed();
    story.begin(2);
    story.add_to(2, 0, b"k", 10);
    story.begin(3);
    story.add_to(3, 0, b"k", -100);
    story.commit(3);
    assert_eq!(story.rows(), [row(b"k", &(-95_i32).to_le_bytes())]);
}

#[test]
fn a_rollback_in_the_log_is_not_undone_again() {
    let mut story = committed();
    story.begin(2);
    story.replace(2, 0, b"gone");
    let version = story.version;
    story.insert(2, 1, b"m", b"gone");
    story.undo(2, 1, story.version, 1, b"m");
    story.undo(2, 0, version, 2, b"k");
    story.roll_back(2);
    story.begin(2);
    story.replace(2, 0, b"kept");
    story.commit(2);
    let (store, summary) = story.replayed(true);
    assert_eq!(rows(&store), [row(b"k", b"kept")]);
    assert_eq!((summary.transactions_undone, summary.changes_undone), (0, 0));
}

#[test]
fn a_rollback_that_a_crash_cut_short_is_completed() {
    let story = || {
        let mut story = committed();
        story.begin(2);
        story.replace(2, 0, b"one");
        story.replace(2, 0, b"two");
        story.undo(2, 0, story.version, 2, b"k");
        story
    };
    assert_eq!(rows(&story().replayed(false).0), [row(b"k", b"one")]);
    assert_eq!(story().rows(), [row(b"k", &5_i32.to_le_bytes())]);
}

#[test]
fn rows_that_committed_deletes_took_are_kept() {
    let mut story = committed();
    story.begin(2);
    story.insert(2, 1, b"m", b"stays");
    story.flag_delete(2, 0);
    story.commit(2);
    story.begin(3);
    story.flag_delete(3, 1);
    story.undo(3, 1, story.version, 3, b"m");
    story.roll_back(3);
    story.begin(4);
    story.flag_delete(4, 1);
    let (_, summary) = story.replayed(true);
    let deleted = summary.deleted.expect("asked for");
    let rows: Vec<_> = deleted.of(ObjectId(7)).map(|row| (&*row.data, row.line)).collect();
    assert_eq!(rows, [(5_i32.to_le_bytes().as_slice(), 0)]);
}

#[test]
fn a_page_that_shrinking_has_marked_is_made_anew() {
    let story = committed();
    let file = {
        let mut forge = story.forge;
        forge.close();
        forge.bytes
    };
    let header = DatabaseHeader::new(SIZE, Signature::default());
    let mut store = MemoryStore { bytes: vec![0; 2 * SIZE.bytes()], size: SIZE };
    let mut marked = vec![0; SIZE.bytes()];
    let mut page = ese::page::PageMut::new(&mut marked);
    page.format(0, ObjectId(7));
    page.set_dbtime(u64::MAX - 2);
    ese::checksum::store(&mut marked, PageNumber(TREE));
    store.set(PageNumber(TREE), &marked);
    let mut replay = LogReplay::new(store, &header, 1 << 20);
    let log = LogFile::open(&file).expect("a log");
    for record in log.records(&log.survey()) {
        let Ok(()) = replay.apply(&record.expect("a record"));
    }
    let Ok((store, summary)) = replay.finish();
    assert!(summary.behind.is_empty(), "{:?}", summary.behind);
    assert_eq!(rows(&store).len(), 1);
    assert_ne!(summary.end, Lgpos::NONE);
}
