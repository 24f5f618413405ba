//! Databases of the real engine brought forward by their logs, against what the engine made of
//! them.

use std::collections::BTreeMap;

use ese::header::{DatabaseHeader, read_copies};
use ese::page::{Node, PageRef, node_flags};
use eselog::{LogFile, LogReplay, PageStore as _, ReplaySummary};
use testkit::samples;
use units::{PageNumber, Prng, Seed};

use crate::logs::{crash, logs};
use crate::memory::MemoryStore;

/// The database of a crash with its logs replayed; `None` if the sample is missing.
fn replayed(name: &str, cache_bytes: usize) -> Option<(MemoryStore, ReplaySummary)> {
    let files = crash(name)?;
    let bytes = files[&format!("{name}.edb")].clone();
    let copies = read_copies(&bytes).expect("a header");
    let store = MemoryStore::new(bytes, copies.page_size);
    Some(replay(store, &copies.header, &files, cache_bytes, true))
}

fn replay(
    store: MemoryStore,
    header: &DatabaseHeader,
    files: &BTreeMap<String, Vec<u8>>,
    cache_bytes: usize,
    undo: bool,
) -> (MemoryStore, ReplaySummary) {
    let mut logs: Vec<LogFile<'_>> = logs(files).into_iter().map(|(_, log)| log).collect();
    logs.sort_by_key(LogFile::generation);
    let mut replay = LogReplay::new(store, header, cache_bytes);
    for log in &logs {
        let survey = log.survey();
        for record in log.records(&survey) {
            let Ok(()) = replay.apply(&record.expect("a record"));
        }
    }
    if undo {
        let Ok(()) = replay.undo();
    }
    let Ok(done) = replay.finish();
    done
}

/// A node without the flag that only a running engine needs.
fn visible(node: &Node<'_>) -> (u8, Vec<u8>, Vec<u8>) {
    let flags = node.flags & !(node_flags::VERSIONED | node_flags::COMPRESSED);
    (flags, node.key(), node.data.to_vec())
}

#[test]
fn replay_brings_every_page_to_where_the_engine_brought_it() {
    let Some((ours, summary)) = replayed("crashs16", 64 << 20) else {
        return;
    };
    let Some(packed) = samples::find("engine/crashs16-recovered.edb.gz") else {
        return;
    };
    let theirs = MemoryStore::new(samples::unpacked(&packed).expect("packed"), ours.size);
    assert!(summary.behind.is_empty(), "{:?}", summary.behind);
    let (mut same, mut different) = (0, Vec::new());
    for number in (1..=theirs.last_page().0).map(PageNumber) {
        let (Some(one), Some(other)) = (ours.page(number), theirs.page(number)) else {
            different.push((number, "missing"));
            continue;
        };
        let (one, other) = (PageRef::new(one), PageRef::new(other));
        let header =
            |page: PageRef<'_>| (page.object(), page.previous(), page.next(), page.node_count());
        if header(one) != header(other) {
            different.push((number, "header"));
        } else if one.external_header() != other.external_header() {
            different.push((number, "external header"));
        } else if !one
            .nodes()
            .map(|node| visible(&node))
            .eq(other.nodes().map(|node| visible(&node)))
        {
            different.push((number, "nodes"));
        } else {
            same += 1;
        }
    }
    assert!(different.is_empty(), "{same} pages alike, {different:?}");
    // The engine counted as many changes as we have.
    assert_eq!(summary.dbtime, 0x2150);
}

/// The nodes of a page.
fn nodes(store: &MemoryStore, number: PageNumber) -> Vec<(u8, Vec<u8>, Vec<u8>)> {
    let page = PageRef::new(store.page(number).expect("a page"));
    page.nodes().map(|node| visible(&node)).collect()
}

#[test]
fn replay_in_little_memory_comes_to_the_same() {
    for name in ["crashs16", "crash08"] {
        let (Some((one, summary)), Some((other, _))) =
            (replayed(name, 64 << 20), replayed(name, 1))
        else {
            return;
        };
        assert!(summary.behind.is_empty(), "{name}");
        for number in (1..=one.last_page().0).map(PageNumber) {
            assert_eq!(nodes(&one, number), nodes(&other, number), "{name} page {number}");
        }
    }
}

/// Number of files of mixed pages per set.
const SEEDS: u64 = 4;
/// The first page that the records of a new database make; those before are made with the file.
const FIRST_LOGGED: u32 = 1;

/// Everything about a page that redo decides.
fn redone(store: &MemoryStore, number: PageNumber) -> impl PartialEq + std::fmt::Debug {
    let page = PageRef::new(store.page(number).expect("a page"));
    let links = (page.object(), page.previous(), page.next(), page.dbtime());
    (links, page.external_header().to_vec(), nodes(store, number))
}

#[test]
fn pages_of_any_age_come_to_the_same() {
    for name in ["crashs16", "crash08"] {
        let Some(files) = crash(name) else {
            return;
        };
        let bytes = files[&format!("{name}.edb")].clone();
        let copies = read_copies(&bytes).expect("a header");
        let (header, size) = (&copies.header, copies.page_size);
        let crashed = MemoryStore::new(bytes, size);
        let store = MemoryStore::new(crashed.bytes.clone(), size);
        let (newest, _) = replay(store, header, &files, 64 << 20, false);
        for seed in 0..SEEDS {
            let mut random = Prng::new(Seed(seed));
            let mut mixed = MemoryStore::new(crashed.bytes.clone(), size);
            for number in (FIRST_LOGGED..=newest.last_page().0).map(PageNumber) {
                // The first seed has lost every write.
                match if seed == 0 { 0 } else { random.below(3) } {
                    0 => mixed.set(number, &vec![0; size.bytes()]),
                    1 => mixed.set(number, newest.page(number).expect("a page")),
                    _ => {}
                }
            }
            let (ours, summary) = replay(mixed, header, &files, 64 << 20, false);
            assert!(summary.behind.is_empty(), "{name} seed {seed}: {:?}", summary.behind);
            for number in (1..=newest.last_page().0).map(PageNumber) {
                let (one, other) = (redone(&newest, number), redone(&ours, number));
                assert_eq!(one, other, "{name} seed {seed} page {number}");
            }
        }
    }
}
