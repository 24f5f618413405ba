//! Records that no sample has, each on a page of one tree.

use ese::header::DatabaseHeader;
use ese::page::PageRef;
use ese::{Lgpos, Signature};
use eselog::{LogFile, LogReplay};
use units::{ObjectId, PageNumber};

use crate::memory::MemoryStore;
use crate::story::{SIZE, Story, TREE, rows};

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
        let mut log = story.log;
        log.close();
        log.bytes
    };
    let header = DatabaseHeader::new(SIZE, Signature::default());
    let mut store = MemoryStore::new(vec![0; 2 * SIZE.bytes()], SIZE);
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

/// A log of two databases with the same pages, changed by the same sessions.
fn of_two_databases() -> Story {
    let mut story = committed();
    story.database = 2;
    story.make_tree();
    story.begin(3);
    story.insert(3, 0, b"other", b"kept");
    story.database = 1;
    story.begin(4);
    story.replace(4, 0, b"open");
    story.commit(3);
    story.database = 2;
    story.insert(4, 1, b"p", b"open");
    story.begin(3);
    story.replace(3, 0, b"also kept");
    story.commit(3);
    story
}

#[test]
fn databases_of_one_log_do_not_mix() {
    assert_eq!(of_two_databases().rows(), [row(b"other", b"also kept")]);
    let mut first = of_two_databases();
    first.database = 1;
    assert_eq!(first.rows(), [row(b"k", &5_i32.to_le_bytes())]);
}

#[test]
fn a_database_has_the_number_that_the_file_states() {
    let mut story = of_two_databases();
    story.log.attaches(2);
    story.database = 1;
    assert_eq!(story.rows(), [row(b"other", b"also kept")]);
}
