//! Tests space trees that split, and fragments that merge again.

use ese::page::PageSize;
use units::{PageNumber, Prng, Seed};

use crate::test_pages::TestPages;
use crate::tree::PagePool as _;
use crate::tree::Tree;

fn check(pages: &TestPages, tree: &Tree, held: &[PageNumber]) {
    let held = held.iter().copied().collect();
    let owned = pages.check_pool(tree, &[held]);
    pages.check_pool(&TestPages::database_tree(), &[owned]);
}

#[test]
fn pages_taken_and_freed_at_random_are_never_lost_nor_given_twice() {
    let mut pages = TestPages::new(PageSize::KIB_4, 64);
    let tree = pages.add_tree(20, 8, 0, &TestPages::database_tree());
    let (mut prng, mut held) = (Prng::new(Seed(3)), Vec::new());
    for round in 0..6500 {
        let wants_more = if round < 5000 { 75 } else { 15 };
        if held.is_empty() || prng.percent(wants_more) {
            held.push(pages.change(|stage| stage.allocate_page(&tree, PageNumber(30))));
        } else {
            let at = usize::try_from(prng.below(held.len() as u64)).unwrap();
            let page = held.swap_remove(at);
            pages.change(|stage| stage.free_page(&tree, page));
        }
        if round % 500 == 0 {
            check(&pages, &tree, &held);
        }
    }
    check(&pages, &tree, &held);
    let available = Tree { root: PageNumber(22), space: crate::tree::Space::Of(tree.root), ..tree };
    assert!(pages.walk_tree(&available).1.len() > 1, "the available extents never split");
    for page in held {
        pages.change(|stage| stage.free_page(&tree, page));
    }
    check(&pages, &tree, &[]);
}

#[test]
fn a_page_freed_twice_is_damage() {
    let mut pages = TestPages::new(PageSize::KIB_4, 64);
    let tree = pages.add_tree(20, 8, 0, &TestPages::database_tree());
    let page = pages.change(|stage| stage.allocate_page(&tree, tree.root));
    pages.change(|stage| stage.free_page(&tree, page));
    assert!(pages.try_change(|stage| stage.free_page(&tree, page)).is_err());
}
