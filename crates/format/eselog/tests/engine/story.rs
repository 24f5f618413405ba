//! A log written record by record, about one page of one tree: the result of redo, and the result
//! of undo.

use ese::Signature;
use ese::header::DatabaseHeader;
use ese::page::{PageRef, PageSize, node_flags};
use eselog::{LogFile, LogReplay, ReplaySummary};
use testkit::forged_log::{
    ForgedLog, PageChange, begin, begin_nested, commit, commit_nested, roll_back,
};
use units::PageNumber;

use crate::memory::MemoryStore;

pub(crate) const SIZE: PageSize = PageSize::KIB_4;
/// The tree, and its only page.
pub(crate) const TREE: u32 = 5;
pub(crate) const OBJECT: u32 = 7;

/// A log that is written record by record, in the order of database times.
pub(crate) struct Story {
    pub(crate) log: ForgedLog,
    /// Database time of the tree's page in each database.
    dbtimes: [u64; 3],
    /// Number of the database that the records change.
    pub(crate) database: u8,
    /// Depth of the transaction whose changes follow.
    pub(crate) level: u8,
    /// Number of the last change.
    pub(crate) version: u32,
}

impl Story {
    /// A tree whose keys do not repeat.
    pub(crate) fn new() -> Self {
        let log = ForgedLog::new(1);
        let mut story = Self { log, dbtimes: [0; 3], database: 1, level: 1, version: 0 };
        story.make_tree();
        story
    }

    /// Makes the tree of the database.
    pub(crate) fn make_tree(&mut self) {
        self.begin(9);
        let tree = [OBJECT, 1, 4, 0].map(u32::to_le_bytes).concat();
        let made = self.next(25, 9, 0, 0).record(&tree);
        self.add(&made);
        self.commit(9);
    }

    fn add(&mut self, record: &[u8]) {
        assert!(self.log.push(record), "a story fits one file");
    }

    pub(crate) fn begin(&mut self, session: u16) {
        self.add(&begin(session));
    }

    pub(crate) fn commit(&mut self, session: u16) {
        self.add(&commit(session));
    }

    pub(crate) fn begin_nested(&mut self, session: u16, from: u8) {
        self.add(&begin_nested(session, from));
    }

    pub(crate) fn commit_nested(&mut self, session: u16, to: u8) {
        self.add(&commit_nested(session, to));
    }

    pub(crate) fn roll_back(&mut self, session: u16) {
        self.add(&roll_back(session));
    }

    /// The next change of the page.
    fn next(&mut self, kind: u8, session: u16, line: u16, flags: u8) -> PageChange {
        const UNIQUE: u8 = 4;
        let dbtime = &mut self.dbtimes[usize::from(self.database)];
        let before = *dbtime;
        *dbtime += 1;
        let after = *dbtime;
        PageChange {
            kind,
            session,
            database: self.database,
            page: TREE,
            before,
            after,
            level: self.level,
            line,
            flags: flags | UNIQUE,
        }
    }

    /// A versioned change of a node.
    fn node_record(&mut self, kind: u8, session: u16, line: u16, rest: &[u8]) {
        self.version += 2;
        let (change, version) = (self.next(kind, session, line, 1), self.version);
        self.add(&change.of_node(version, TREE, OBJECT, rest));
    }

    pub(crate) fn insert(&mut self, session: u16, line: u16, key: &[u8], data: &[u8]) {
        let lengths = [size(key), [0, 0], size(data)].concat();
        self.node_record(29, session, line, &[&lengths, key, data].concat());
    }

    pub(crate) fn replace(&mut self, session: u16, line: u16, data: &[u8]) {
        let lengths = [size(data), size(data), size(data)].concat();
        self.node_record(33, session, line, &[&lengths, data].concat());
    }

    pub(crate) fn flag_delete(&mut self, session: u16, line: u16) {
        self.node_record(32, session, line, &[]);
    }

    pub(crate) fn add_to(&mut self, session: u16, line: u16, key: &[u8], delta: i32) {
        let lengths = [size(key), [0, 0]].concat();
        let fields = [delta.to_le_bytes().as_slice(), &[0, 0]].concat();
        self.node_record(37, session, line, &[&lengths, &fields, key].concat());
    }

    /// Takes back change number `version`, as an engine's rollback does.
    pub(crate) fn undo(
        &mut self,
        session: u16,
        line: u16,
        version: u32,
        operation: u16,
        key: &[u8],
    ) {
        let lengths = [size(key), [0, 0]].concat();
        let fields = [operation.to_le_bytes().as_slice(), &[1]].concat();
        let change = self.next(39, session, line, 0);
        let rest = [&lengths, &fields, key].concat();
        self.add(&change.of_node(version, TREE, OBJECT, &rest));
    }

    /// Replays the log onto a file without pages.
    pub(crate) fn replayed(self, undo: bool) -> (MemoryStore, ReplaySummary) {
        self.replayed_in(1 << 20, undo)
    }

    /// The same with less memory.
    pub(crate) fn replayed_in(
        mut self,
        cache_bytes: usize,
        undo: bool,
    ) -> (MemoryStore, ReplaySummary) {
        self.log.close();
        let header = DatabaseHeader {
            database_id: u32::from(self.database),
            ..DatabaseHeader::new(SIZE, Signature::default())
        };
        let store = MemoryStore::new(vec![0; 2 * SIZE.bytes()], SIZE);
        let mut replay = LogReplay::new(store, &header, cache_bytes).keeping_deleted();
        let file = LogFile::open(&self.log.bytes).expect("a log");
        replay.enter(file.facts());
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
    pub(crate) fn rows(self) -> Vec<(Vec<u8>, Vec<u8>)> {
        rows(&self.replayed(true).0)
    }
}

fn size(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len()).expect("short").to_le_bytes()
}

pub(crate) fn rows(store: &MemoryStore) -> Vec<(Vec<u8>, Vec<u8>)> {
    let page = PageRef::new(store.page(PageNumber(TREE)).expect("the tree"));
    let live = page.nodes().filter(|node| node.flags & node_flags::DELETED == 0);
    live.map(|node| (node.key(), node.data.to_vec())).collect()
}
