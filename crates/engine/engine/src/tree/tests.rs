//! Tests trees against a model twin, on small pages so that they split, merge and grow quickly.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use ese::page::{PageSize, page_flags};
use proptest::prelude::*;
use units::{PageNumber, Prng, Seed};

use super::{Tree, get, insert, insert_run, remove, remove_prefix, replace};
use crate::stage::{Halt, Refusal};
use crate::test_pages::{TestPages, model_nodes};

fn tree(flags: u32) -> (TestPages, Tree) {
    let mut pages = TestPages::new(PageSize::KIB_4, 64);
    let tree = pages.add_tree(20, 8, flags, &TestPages::database_tree());
    (pages, tree)
}

fn check_space(pages: &TestPages, tree: &Tree) {
    let owned = pages.check_pool(tree, &[]);
    pages.check_pool(&TestPages::database_tree(), &[owned]);
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u16, usize),
    Replace(u16, usize),
    Remove(u16),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let sizes = prop_oneof![Just(1usize), 1..200usize, 1000..3900usize];
    let keys = 0..400u16;
    let step = prop_oneof![
        5 => (keys.clone(), sizes.clone()).prop_map(|(key, size)| Step::Insert(key, size)),
        2 => (keys.clone(), sizes).prop_map(|(key, size)| Step::Replace(key, size)),
        4 => keys.prop_map(Step::Remove),
    ];
    prop::collection::vec(step, 0..300)
}

fn key(number: u16) -> Vec<u8> {
    format!("a common beginning {number:05}").into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn a_tree_does_what_a_map_does(steps in steps()) {
        let (mut pages, tree) = tree(0);
        let mut model = BTreeMap::new();
        for (at, step) in steps.into_iter().enumerate() {
            let fill = at.to_le_bytes()[0];
            match step {
                Step::Insert(number, size) => {
                    let (key, data) = (key(number), vec![fill; size]);
                    let done = pages.try_change(|stage| insert(stage, &tree, &key, &data));
                    if let Entry::Vacant(place) = model.entry(key) {
                        prop_assert_eq!(done, Ok(()));
                        place.insert(data);
                    } else {
                        prop_assert_eq!(done, Err(Halt::Refused(Refusal::Duplicate)));
                    }
                }
                Step::Replace(number, size) => {
                    let (key, data) = (key(number), vec![fill; size]);
                    let done = pages.try_change(|stage| replace(stage, &tree, &key, &data));
                    prop_assert_eq!(done.is_ok(), model.contains_key(&key));
                    if done.is_ok() {
                        model.insert(key, data);
                    }
                }
                Step::Remove(number) => {
                    let key = key(number);
                    let done = pages.try_change(|stage| remove(stage, &tree, &key, &[]));
                    prop_assert_eq!(done.is_ok(), model.remove(&key).is_some());
                }
            }
        }
        prop_assert_eq!(pages.walk_tree(&tree).0, model_nodes(&model));
        check_space(&pages, &tree);
        for (key, data) in &model {
            let found = pages.change(|stage| get(stage, &tree, key, |_, data| data.to_vec()));
            prop_assert_eq!(found.as_ref(), Some(data));
        }
    }

    #[test]
    fn repeated_keys_are_ordered_by_data(
        pairs in prop::collection::vec((0..6u8, any::<u32>()), 0..700),
    ) {
        let (mut pages, tree) = tree(page_flags::INDEX | page_flags::NON_UNIQUE);
        let mut model = BTreeSet::new();
        for (number, data) in pairs {
            let (key, data) = (vec![number; 20], data.to_be_bytes().to_vec());
            let is_new = model.insert((key.clone(), data.clone()));
            if is_new && model.len().is_multiple_of(3) {
                pages.change(|stage| insert(stage, &tree, &key, &data));
                pages.change(|stage| remove(stage, &tree, &key, &data));
                model.remove(&(key, data));
            } else if is_new {
                pages.change(|stage| insert(stage, &tree, &key, &data));
            }
        }
        prop_assert_eq!(pages.walk_tree(&tree).0, model.into_iter().collect::<Vec<_>>());
        check_space(&pages, &tree);
    }
}

#[test]
fn appended_keys_leave_pages_as_full_as_the_density_says() {
    let (mut pages, tree) = tree(0);
    for number in 0..2000 {
        pages.change(|stage| insert(stage, &tree, &key(number), &[7; 60]));
    }
    let (nodes, used) = pages.walk_tree(&tree);
    assert_eq!(nodes.len(), 2000);
    let leaves: Vec<_> = used.into_iter().filter(|&page| pages.page(page).is_leaf()).collect();
    let free: usize = leaves.iter().map(|&page| pages.page(page).free_bytes()).sum();
    let share = free * 100 / (leaves.len() * PageSize::KIB_4.body_bytes());
    assert!((19..=24).contains(&share), "{share} % free");
    check_space(&pages, &tree);
}

#[test]
fn everything_removed_leaves_an_empty_root_and_all_pages_free() {
    let (mut pages, tree) = tree(0);
    let mut prng = Prng::new(Seed(5));
    let mut numbers: Vec<u16> = (0..3000).collect();
    for at in (1..numbers.len()).rev() {
        let other = usize::try_from(prng.below(at as u64 + 1)).unwrap();
        numbers.swap(at, other);
    }
    for &number in &numbers {
        pages.change(|stage| insert(stage, &tree, &key(number), &[1; 30]));
    }
    check_space(&pages, &tree);
    for &number in numbers.iter().rev() {
        pages.change(|stage| remove(stage, &tree, &key(number), &[]));
    }
    let (nodes, used) = pages.walk_tree(&tree);
    assert!(nodes.is_empty());
    assert_eq!(used.into_iter().collect::<Vec<_>>(), [tree.root]);
    check_space(&pages, &tree);
}

#[test]
fn a_run_goes_in_at_once_or_piecewise_and_out_by_its_prefix() {
    let (mut pages, tree) = tree(0);
    for number in 0..200u32 {
        let prefix = number.to_be_bytes();
        let keys = [prefix.to_vec(), [prefix, [0; 4]].concat(), [prefix, [1; 4]].concat()];
        let nodes = [(&keys[0][..], &[1; 8][..]), (&keys[1], &[2; 900]), (&keys[2], &[3; 200])];
        pages.change(|stage| insert_run(stage, &tree, &nodes));
    }
    assert_eq!(pages.walk_tree(&tree).0.len(), 600);
    for number in (0..200u32).filter(|number| number % 3 != 0) {
        let removed = pages.change(|stage| remove_prefix(stage, &tree, &number.to_be_bytes()));
        assert_eq!(removed, 3);
    }
    assert_eq!(pages.walk_tree(&tree).0.len(), 3 * 67);
    check_space(&pages, &tree);
}

#[test]
fn a_run_that_lies_on_several_leaves_goes_out_by_its_prefix() {
    let (mut pages, tree) = tree(0);
    for number in 0..100u32 {
        let root = number.to_be_bytes();
        let chunks = [0u8, 1, 2, 3].map(|chunk| [root, [chunk; 4]].concat());
        let mut nodes = vec![(&root[..], &[1; 8][..])];
        nodes.extend(chunks.iter().map(|key| (&key[..], &[2; 900][..])));
        pages.change(|stage| insert_run(stage, &tree, &nodes));
    }
    for number in (0..100u32).filter(|number| number % 3 != 0) {
        let removed = pages.change(|stage| remove_prefix(stage, &tree, &number.to_be_bytes()));
        assert_eq!(removed, 5);
    }
    assert_eq!(pages.walk_tree(&tree).0.len(), 5 * 34);
    check_space(&pages, &tree);
}

#[test]
fn a_node_that_no_page_holds_is_refused() {
    let (mut pages, tree) = tree(0);
    let done = pages.try_change(|stage| insert(stage, &tree, b"key", &[0; 4096]));
    assert!(matches!(done, Err(Halt::Refused(Refusal::TooLarge { .. }))), "{done:?}");
    let largest = PageSize::KIB_4.body_bytes() - 2 - 8 - 16 - 3;
    pages.change(|stage| insert(stage, &tree, b"key", &vec![1; largest]));
    pages.change(|stage| insert(stage, &tree, b"kez", &vec![2; largest]));
    pages.change(|stage| insert(stage, &tree, b"kex", &vec![3; largest]));
    assert_eq!(pages.walk_tree(&tree).0.len(), 3);
}

/// Consecutive nodes of one owner.
fn run(owner: u16, sizes: &[usize]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let node = |(part, &size): (usize, &usize)| {
        let fill = owner.to_le_bytes()[0];
        ([key(owner), vec![part.to_le_bytes()[0]]].concat(), vec![fill; size])
    };
    sizes.iter().enumerate().map(node).collect()
}

#[test]
fn an_appended_run_of_at_most_half_a_page_lies_on_one_leaf() {
    let (mut pages, tree) = tree(0);
    let mut prng = Prng::new(Seed(9));
    let mut together = Vec::new();
    for number in 0..600 {
        let most = if number % 10 == 0 { 3_000 } else { 1_700 };
        let sizes = [12, 200 + usize::try_from(prng.below(most)).unwrap(), 30];
        let owned = run(number, &sizes);
        let nodes: Vec<_> = owned.iter().map(|(key, data)| (&key[..], &data[..])).collect();
        pages.change(|stage| insert_run(stage, &tree, &nodes));
        if sizes.iter().sum::<usize>() <= 1_900 {
            together.push(key(number));
        }
    }
    let (nodes, used) = pages.walk_tree(&tree);
    assert_eq!(nodes.len(), 3 * 600);
    let leaves: Vec<_> = used.into_iter().filter(|&page| pages.page(page).is_leaf()).collect();
    for owner in &together {
        let holds = |&&page: &&PageNumber| {
            let mut nodes = pages.page(page).nodes();
            nodes.any(|node| node.key().starts_with(owner))
        };
        assert_eq!(leaves.iter().filter(holds).count(), 1, "{owner:?}");
    }
    assert!((500..600).contains(&together.len()), "{}", together.len());
    check_space(&pages, &tree);
}

/// Keys whose separators vary in length from two to some 700 bytes.
fn uneven_key(number: usize) -> Vec<u8> {
    let digits = (0..5).rev().map(|place| number >> (3 * place) & 7);
    let repeat = |(place, digit): (usize, usize)| {
        let times = if (place + digit) % 3 == 0 { 1 } else { 150 };
        let byte = u8::try_from(digit + 1).unwrap();
        // The terminator distinguishes longer runs from their successors.
        std::iter::repeat_n(byte, times).chain([0])
    };
    digits.enumerate().flat_map(repeat).collect()
}

#[test]
fn branch_pages_end_with_their_parents_keys_whatever_is_removed() {
    for seed in [0, 1, 4, 5] {
        let flags = if seed % 2 == 0 { 0 } else { page_flags::INDEX | page_flags::NON_UNIQUE };
        let (mut pages, tree) = tree(flags);
        let mut prng = Prng::new(Seed(seed));
        let mut model = BTreeMap::new();
        let mut below = |limit: usize| usize::try_from(prng.below(limit as u64)).unwrap();
        for at in 0..3_000 {
            // Ascending order fills branch pages; any other leaves them half full.
            let number = if seed < 2 { 10 * at } else { below(1 << 15) };
            let (key, data) = (uneven_key(number), vec![7; 50 + below(300)]);
            if let Entry::Vacant(place) = model.entry(key.clone()) {
                pages.change(|stage| insert(stage, &tree, &key, &data));
                place.insert(data);
            }
        }
        assert_eq!(pages.walk_tree(&tree).0, model_nodes(&model));
        // Removing neighbours frees whole branch pages.
        while !model.is_empty() {
            let start = uneven_key(below(1 << 15));
            let run: Vec<_> = model
                .range(start..)
                .take(40 + below(200))
                .map(|(key, data)| (key.clone(), data.clone()))
                .collect();
            for (key, data) in &run {
                pages.change(|stage| remove(stage, &tree, key, data));
                model.remove(key);
                if below(8) == 0 {
                    pages.walk_tree(&tree);
                }
            }
            if run.is_empty() && model.len() < 300 {
                model.retain(|key, _| {
                    pages.change(|stage| remove_prefix(stage, &tree, key));
                    false
                });
            }
            assert_eq!(pages.walk_tree(&tree).0, model_nodes(&model));
        }
        check_space(&pages, &tree);
    }
}

/// The nodes below a parent of leaves that is the last child of its parent but not the last page of
/// its level. `None` if there is no such page. Skips the first `skip` such pages.
fn below_a_last_child(pages: &TestPages, tree: &Tree, skip: usize) -> Option<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    let mut stack = vec![(tree.root, true)];
    while let Some((number, is_last_of_level)) = stack.pop() {
        let page = pages.page(number);
        if page.is_leaf() || page.has(page_flags::PARENT_OF_LEAF) {
            continue;
        }
        let last = page.node_count() - 1;
        for line in 0..=last {
            stack.push((page.child(line).unwrap(), is_last_of_level && line == last));
        }
        let child = pages.page(page.child(last).unwrap());
        if !is_last_of_level && last > 0 && child.has(page_flags::PARENT_OF_LEAF) {
            found.push(child);
        }
    }
    let parent = found.into_iter().nth(skip)?;
    let leaves = (0..parent.node_count()).map(|line| parent.child(line).unwrap());
    let keys = |leaf| pages.page(leaf).nodes().map(|node| node.key()).collect::<Vec<_>>();
    Some(leaves.flat_map(keys).collect())
}

#[test]
fn a_full_branch_page_is_split_where_it_must_end_with_a_longer_key() {
    let (mut pages, tree) = tree(0);
    for number in 0..6_000 {
        let key = uneven_key(5 * number);
        pages.change(|stage| insert(stage, &tree, &key, &[7; 300]));
    }
    let (mut splits, mut skip) = (0, 0);
    while let Some(keys) = below_a_last_child(&pages, &tree, skip) {
        for key in keys {
            splits += pages.change(|stage| {
                remove(stage, &tree, &key, &[])?;
                Ok(stage.counts.splits)
            });
        }
        pages.walk_tree(&tree);
        skip = (skip + 1) % 3;
    }
    assert!(splits > 0, "no page was too full for its new last key");
    check_space(&pages, &tree);
}
