//! Tests that a good database passes, and that every kind of damage is reported where it is.

mod catalog;
mod content;
mod pages;
mod rules;
mod space;
mod world;

use units::{ObjectId, PageNumber};

use crate::long_value::LongValueId;
use crate::page::{PageMut, encode_node, node_flags};
use crate::reader::FileImage;
use crate::space::{Extent, SpaceNode};
use crate::verify::{Problem, Report, verify};
use world::{LONG_VALUE, SIZE, World, group_key, primary_key, record};

fn examine(world: &World) -> Report {
    let Ok(report) = verify(FileImage::new(&world.file, SIZE), &world.header);
    report
}

fn problems(world: &World) -> Vec<(u32, Problem)> {
    let place = |f: crate::verify::VerifyFinding| (f.page.0, f.problem);
    examine(world).findings.into_iter().map(place).collect()
}

/// The problems found after a change, with their places.
fn after(number: u32, change: impl FnOnce(&mut PageMut<'_>)) -> Vec<(String, u32, Problem)> {
    let mut world = World::new();
    world.change(number, change);
    let report = examine(&world);
    assert_eq!(report.problems, report.findings.len() as u64);
    let place = |f: crate::verify::VerifyFinding| (f.subject.to_string(), f.page.0, f.problem);
    report.findings.into_iter().map(place).collect()
}

fn found(subject: &str, page: u32, problem: Problem) -> (String, u32, Problem) {
    (subject.to_owned(), page, problem)
}

fn node(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_node(&[], key, data, &mut bytes);
    bytes
}

#[test]
fn a_good_database_is_clean_and_counted() {
    let report = examine(&World::new());
    assert_eq!(report.findings, []);
    assert!(report.is_clean() && report.notices.is_empty());
    assert_eq!((report.pages_reached, report.pages_available), (13, 27));
    assert_eq!((report.index_entries, report.long_values), (10, 1));
    assert_eq!(report.awaiting_cleanup, 0);
}

#[test]
fn links_that_disagree_with_the_tree_are_named() {
    let expected = PageNumber(31);
    let stated = PageNumber(30);
    assert_eq!(
        after(32, |page| page.set_links(stated, PageNumber(33))),
        [found("T", 32, Problem::PreviousLink { stated, expected })]
    );
    let skipped = after(31, |page| page.set_links(PageNumber::NONE, PageNumber(33)));
    let (stated, past) = (PageNumber(33), PageNumber(32));
    let next = Problem::NextLink { stated, expected: past };
    // Rows are read from the root down: a wrong link costs none.
    assert_eq!(skipped, [found("T", 31, next)]);
    let links = after(33, |page| page.set_links(PageNumber(32), PageNumber(31)));
    let next = Problem::NextLink { stated: expected, expected: PageNumber::NONE };
    assert_eq!(links, [found("T", 33, next)]);
}

#[test]
fn a_page_of_another_tree_is_named() {
    let stated = ObjectId(77);
    let wrong = found("T/ByGroup", 35, Problem::WrongObject { stated });
    assert_eq!(after(35, |page| page.set_object(stated)), [wrong]);
    let flags = after(35, |page| page.set_flags(page.as_ref().flags() & !0x40));
    assert!(matches!(flags[..], [(_, 35, Problem::WrongFlags { .. })]));
}

#[test]
fn a_child_reached_twice_is_named() {
    let problems = after(30, |page| {
        let separator = page.as_ref().node(1).expect("a node").key();
        page.replace(1, 0, &node(&separator, &31u32.to_le_bytes())).expect("same size");
    });
    assert!(problems.contains(&found("T", 31, Problem::ReachedTwice)), "{problems:?}");
}

#[test]
fn keys_outside_their_separators_are_named() {
    // The first row of leaf 32 moves after everything on leaf 33, but stays on its own page.
    let problems = after(31, |page| {
        page.remove(3, 1).expect("a node");
        page.insert(3, 0, &node(&primary_key(8), &record(8))).expect("room");
    });
    assert!(problems.contains(&found("T", 31, Problem::Separator)), "{problems:?}");
    assert!(problems.contains(&found("T", 32, Problem::KeyOrder)), "{problems:?}");
}

#[test]
fn space_is_accounted_for_page_by_page() {
    let shorter = Extent::starting(PageNumber(25), 4);
    let problems = after(3, |page| {
        page.replace(1, 0, &node(&SpaceNode::key(shorter), &SpaceNode::data(shorter)))
            .expect("same");
    });
    assert_eq!(problems, [], "a leaked page does no harm");

    let longer = Extent::starting(PageNumber(25), 6);
    let problems = after(3, |page| {
        page.replace(1, 0, &node(&SpaceNode::key(longer), &SpaceNode::data(longer))).expect("same");
    });
    assert!(problems.contains(&found("database", 30, Problem::AvailableAndUsed)), "{problems:?}");
    let extent = Extent::starting(PageNumber(30), 11);
    assert!(problems.contains(&found("T", 30, Problem::Extent { extent })), "{problems:?}");
}

#[test]
fn a_tree_that_leaves_its_space_is_named() {
    let mut world = World::new();
    // The long-value tree claims a page that belongs to the index.
    world.change(37, |page| {
        let mut header = page.as_ref().external_header().to_vec();
        header[0] = 5;
        page.set_external_header(&header).expect("same size");
    });
    let report = examine(&world);
    assert!(matches!(report.findings[0].problem, Problem::Extent { .. }), "{:?}", report.findings);
}

#[test]
fn rows_and_index_must_agree() {
    let stray = |page: &mut PageMut<'_>| page.remove(4, 1).expect("a node");
    assert_eq!(after(35, stray), [found("T/ByGroup", 31 + 1, Problem::MissingEntry)]);

    let problems = after(35, |page| {
        page.replace(0, 0, &node(&group_key(0), &primary_key(1))).expect("same size");
    });
    assert!(problems.contains(&found("T/ByGroup", 35, Problem::StrayEntry)), "{problems:?}");
    assert!(problems.contains(&found("T/ByGroup", 31, Problem::MissingEntry)), "{problems:?}");

    // A row under a key that its columns do not produce, and an entry that leads nowhere.
    let problems = after(33, |page| {
        page.replace(2, 0, &node(&primary_key(11), &record(9))).expect("same size");
    });
    assert!(problems.contains(&found("T", 33, Problem::PrimaryKey)), "{problems:?}");
    assert!(problems.contains(&found("T/ByGroup", 36, Problem::StrayEntry)), "{problems:?}");
}

#[test]
fn long_values_are_held_as_often_as_they_claim() {
    let (id, subject) = (LONG_VALUE, "T/long values");
    let twice = Problem::LongValueReferences { id, stated: 2, counted: 1 };
    let add = |page: &mut PageMut<'_>| assert_eq!(page.add_u32(0, 0, 1), Ok(2));
    assert_eq!(after(37, add), [found(subject, 37, twice)]);

    let chunks = Problem::LongValueChunks { id };
    let cut = |page: &mut PageMut<'_>| page.remove(2, 1).expect("a node");
    assert_eq!(after(37, cut), [found(subject, 37, chunks.clone())]);

    let gone = |page: &mut PageMut<'_>| page.remove(0, 3).expect("nodes");
    let missing = Problem::LongValueMissing { id: LongValueId(1) };
    assert_eq!(after(37, gone), [found(subject, 0, missing)]);

    let orphan = |page: &mut PageMut<'_>| page.remove(0, 1).expect("a node");
    assert!(after(37, orphan).contains(&found(subject, 37, chunks)));
}

#[test]
fn what_awaits_its_cleanup_is_counted_and_not_blamed() {
    let mut world = World::new();
    let delete = |line| {
        move |page: &mut PageMut<'_>| {
            page.set_node_flags(line, node_flags::DELETED).expect("a node");
        }
    };
    // Row 5, its index entry, and the long value that no row refers to any more.
    world.change(32, delete(1));
    world.change(36, delete(0));
    world.change(37, |page| assert_eq!(page.add_u32(0, 0, -1), Ok(0)));
    let report = examine(&world);
    assert_eq!(report.findings, []);
    assert_eq!((report.awaiting_cleanup, report.index_entries), (3, 9));
}

#[test]
fn copies_of_the_catalog_must_agree() {
    let problems = after(24, |page| page.remove(0, 1).expect("a node"));
    assert_eq!(problems, [found("MSysObjectsShadow", 24, Problem::CatalogCopies)]);
}

#[test]
fn a_page_that_contradicts_itself_is_named_and_its_tree_walked_on() {
    let mut world = World::new();
    world.change(32, |page| page.set_uncommitted_free_bytes(40_000));
    let alone = problems(&world);
    // The adjacent leaves are not blamed for its links.
    assert!(matches!(alone[..], [(32, Problem::Page(_))]), "{alone:?}");
    world.change(33, |page| page.set_links(PageNumber(32), PageNumber(31)));
    let (stated, expected) = (PageNumber(31), PageNumber::NONE);
    let found = problems(&world);
    assert!(found.contains(&(33, Problem::NextLink { stated, expected })), "{found:?}");
}

#[test]
fn findings_say_where_in_words() {
    let mut world = World::new();
    world.change(35, |page| page.remove(4, 1).expect("a node"));
    let text = examine(&world).findings[0].to_string();
    let expected =
        "T/ByGroup, page 32, key 7f8000000000000004: the index lacks the entry of this row";
    assert_eq!(text, expected);
}
