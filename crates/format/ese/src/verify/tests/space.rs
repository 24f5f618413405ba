//! The rules of the real engine's own integrity check on space, each broken once.

use units::PageNumber;

use super::world::{SIZE, World};
use super::{examine, node, problems};
use crate::reader::{FileImage, Reader};
use crate::space::{Extent, SpaceNode};
use crate::verify::Problem;

fn space_node(first: u32, pages: u32) -> Vec<u8> {
    let extent = Extent::starting(PageNumber(first), pages);
    node(&SpaceNode::key(extent), &SpaceNode::data(extent))
}

/// Replaces the extents of a space tree whose root is a leaf.
fn list(world: &mut World, root: u32, extents: &[(u32, u32)]) {
    world.change(root, |page| {
        page.remove(0, page.as_ref().node_count()).expect("nodes");
        for (line, (first, pages)) in extents.iter().enumerate() {
            let node = space_node(*first, *pages);
            page.insert(line, 0, &node).expect("room");
        }
    });
}

#[test]
fn an_owned_extent_lies_in_one_owned_extent_of_the_parent() {
    let mut world = World::new();
    list(&mut world, 2, &[(1, 29), (30, 11)]);
    assert_eq!(problems(&world), []);
    list(&mut world, 2, &[(1, 35), (36, 5)]);
    let extent = Extent::starting(PageNumber(30), 11);
    assert_eq!(problems(&world), [(30, Problem::Straddles { extent })]);
}

#[test]
fn an_available_extent_lies_in_one_owned_extent() {
    let mut world = World::new();
    list(&mut world, 2, &[(1, 10), (11, 30)]);
    let extent = Extent::starting(PageNumber(5), 19);
    assert_eq!(problems(&world), [(5, Problem::Straddles { extent })]);
}

#[test]
fn space_comes_from_the_tree_above() {
    let mut world = World::new();
    world.change(34, |page| {
        let mut header = page.as_ref().external_header().to_vec();
        header[4] = 1;
        page.set_external_header(&header).expect("same size");
    });
    let (stated, expected) = (PageNumber(1), PageNumber(30));
    let parent = (34, Problem::Parent { stated, expected });
    assert!(problems(&world).contains(&parent), "{:?}", problems(&world));
    let mut world = World::new();
    world.change(34, |page| {
        let mut header = page.as_ref().external_header().to_vec();
        header[8] ^= 2;
        page.set_external_header(&header).expect("same size");
    });
    assert_eq!(problems(&world), [(34, Problem::Uniqueness)]);
}

#[test]
fn pages_that_nothing_uses_are_counted_and_not_blamed() {
    let mut world = World::new();
    list(&mut world, 3, &[(5, 19), (27, 2)]);
    let report = examine(&world);
    assert!(report.is_clean(), "{:?}", report.findings);
    let leaked = [(25, 2), (29, 1)];
    let leaked = leaked.map(|(first, pages)| Extent::starting(PageNumber(first), pages));
    assert_eq!((report.pages_leaked, report.leaked), (3, leaked.to_vec()));
}

#[test]
fn a_file_that_ends_inside_its_space_is_named_at_every_cut() {
    for pages in 1..40 {
        let mut world = World::new();
        world.file.truncate(SIZE.bytes() * (pages + 2));
        let (last, owned) = (PageNumber(u32::try_from(pages).expect("few")), PageNumber(40));
        let report = examine(&world);
        assert!(!report.is_clean(), "cut behind page {last}");
        assert!(report.problems < 40, "cut behind page {last}: {}", report.problems);
        if Reader::open(FileImage::new(&world.file, SIZE)).is_ok() {
            let short = Problem::FileTooShort { last, owned };
            assert!(
                report.findings.iter().any(|finding| finding.problem == short),
                "cut behind page {last}: {:?}",
                report.findings
            );
        }
    }
}

#[test]
fn extents_that_no_file_holds_are_one_finding_each() {
    let mut world = World::new();
    list(&mut world, 3, &[(5, 19), (25, 0x7000_0000)]);
    let report = examine(&world);
    assert!(report.problems < 10, "{} problems", report.problems);
    let used = report
        .findings
        .iter()
        .find(|finding| finding.problem == Problem::AvailableAndUsed)
        .expect("pages of the table are available");
    assert_eq!((used.page.0, used.pages), (30, 8));
    let text = "database, pages 30 to 37: the page is available though something uses it";
    assert_eq!(used.to_string(), text);
    let mut world = World::new();
    list(&mut world, 2, &[(1, 0x7FFF_0000)]);
    let report = examine(&world);
    assert!((1..10).contains(&report.problems), "{:?}", report.findings);
}
