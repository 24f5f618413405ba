//! The rules of the real engine's own integrity check on trees, each broken once.

use units::PageNumber;

use super::world::{World, primary_key};
use super::{node, problems};
use crate::page::{PageMut, node_flags, page_flags};
use crate::verify::Problem;

/// The findings after pages of a database with three levels have changed.
fn after(number: u32, change: impl FnOnce(&mut PageMut<'_>)) -> Vec<(u32, Problem)> {
    let mut world = World::of_three_levels();
    world.change(number, change);
    problems(&world)
}

#[test]
fn an_internal_page_ends_with_the_key_that_its_parent_has_for_it() {
    assert_eq!(problems(&World::of_three_levels()), []);
    // Every internal page looked like this in builds that predate the rule.
    let emptied = after(38, |page| {
        let child = 32u32.to_le_bytes();
        page.remove(1, 1).expect("a node");
        page.insert(1, 0, &node(&[], &child)).expect("room");
    });
    assert_eq!(emptied, [(38, Problem::LastKey)]);
    let longer = after(38, |page| {
        let key = [&primary_key(7)[..], &[1]].concat();
        page.remove(1, 1).expect("a node");
        page.insert(1, 0, &node(&key, &32u32.to_le_bytes())).expect("room");
    });
    assert_eq!(longer, [(38, Problem::LastKey)]);
    // The last page of a level ends with an empty key.
    let ended = after(39, |page| {
        page.remove(0, 1).expect("a node");
        page.insert(0, 0, &node(&primary_key(20), &33u32.to_le_bytes())).expect("room");
    });
    assert_eq!(ended, [(39, Problem::LastKey)]);
}

#[test]
fn internal_pages_hold_nothing_but_children_in_order() {
    let flag = |flags| {
        after(38, |page: &mut PageMut<'_>| {
            page.set_node_flags(0, flags).expect("a node");
        })
    };
    assert_eq!(flag(node_flags::DELETED), [(38, Problem::Branch)]);
    assert_eq!(flag(node_flags::VERSIONED), [(38, Problem::Branch)]);
    let long = after(38, |page| {
        page.remove(0, 1).expect("a node");
        let data = [31, 0, 0, 0, 0];
        page.insert(0, 0, &node(&primary_key(4), &data)).expect("room");
    });
    assert!(long.contains(&(38, Problem::Branch)), "{long:?}");
    let linked = after(38, |page| {
        page.set_links(PageNumber::NONE, PageNumber(39));
    });
    let (stated, expected) = (PageNumber(39), PageNumber::NONE);
    assert_eq!(linked, [(38, Problem::NextLink { stated, expected })]);
    let flags = after(38, |page| {
        page.set_flags(page.as_ref().flags() & !page_flags::PARENT_OF_LEAF);
    });
    assert!(
        flags.iter().all(|(page, problem)| {
            *page == 38 && matches!(problem, Problem::WrongFlags { .. })
        }) && !flags.is_empty(),
        "{flags:?}"
    );
}

#[test]
fn a_leaf_below_a_parent_has_nodes() {
    let emptied = after(32, |page| {
        page.remove(0, page.as_ref().node_count()).expect("nodes");
    });
    assert!(emptied.contains(&(32, Problem::EmptyLeaf)), "{emptied:?}");
}

#[test]
fn no_page_of_a_closed_database_is_later_than_its_header() {
    let mut world = World::new();
    world.header.dbtime = 8;
    world.change(32, |page| page.set_dbtime(9));
    let later = |pages, stated| Problem::Dbtime { pages, stated, highest: 8 };
    assert_eq!(problems(&world), [(32, later(1, 9))]);
    world.change(33, |page| page.set_dbtime(12));
    assert_eq!(problems(&world), [(33, later(2, 12))]);
    world.header.state = crate::header::DatabaseState::DirtyShutdown;
    assert_eq!(problems(&world), []);
}
