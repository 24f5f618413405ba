//! Tests which pages are evicted, which stay, and which are written together.

use device::Buffer;
use units::PageNumber;

use super::image::Page;
use super::slots::{SlotState, Slots};
use super::writing::Writing;

fn page(dirty: bool, damage: Option<&str>) -> SlotState {
    SlotState::Here(Page { image: Buffer::zeroed(4096), damage: damage.map(str::to_owned), dirty })
}

/// Pages that were wanted once and are idle now, by number and whether they were changed.
fn idle(pages: &[(u32, bool)]) -> Slots {
    let mut slots = Slots::default();
    for (number, dirty) in pages {
        slots.admit(PageNumber(*number), page(*dirty, None));
        slots.release(PageNumber(*number));
    }
    slots
}

/// The next victim: an evicted page, or one that must be written first.
fn next(slots: &mut Slots) -> Option<Result<(), PageNumber>> {
    let gone = slots.drop_idle()?;
    Some(gone.map(|_| ()))
}

#[test]
fn the_page_idle_for_longest_goes_and_a_wanted_one_stays() {
    let mut slots = idle(&[(1, false), (2, false), (3, false)]);
    assert!(slots.want(PageNumber(1)), "it is here");
    assert!(!slots.want(PageNumber(9)), "it is not");
    assert_eq!((slots.len(), slots.wanted()), (3, 1));
    assert_eq!(next(&mut slots), Some(Ok(())));
    assert!(!slots.want(PageNumber(2)), "it has gone");
    slots.release(PageNumber(1));
    assert_eq!(next(&mut slots), Some(Ok(())));
    assert!(!slots.want(PageNumber(3)), "page 1 was used later");
    assert_eq!(next(&mut slots), Some(Ok(())));
    assert_eq!((next(&mut slots), slots.len()), (None, 0));
}

#[test]
fn a_changed_page_goes_once_it_is_written_and_not_before() {
    let mut slots = idle(&[(1, true), (2, false)]);
    assert_eq!(next(&mut slots), Some(Err(PageNumber(1))));
    slots.begin_write(PageNumber(1)).dirty = false;
    assert_eq!(next(&mut slots), Some(Ok(())));
    assert_eq!(next(&mut slots), None, "page 1 is being written");
    slots.end_write(PageNumber(1));
    assert_eq!(next(&mut slots), Some(Ok(())));
    assert_eq!(slots.len(), 0);
}

#[test]
fn a_page_changed_while_it_was_written_is_written_again() {
    let mut slots = idle(&[(1, true)]);
    assert_eq!(next(&mut slots), Some(Err(PageNumber(1))));
    slots.begin_write(PageNumber(1)).dirty = false;
    assert!(slots.want(PageNumber(1)));
    slots.page(PageNumber(1)).dirty = true;
    slots.end_write(PageNumber(1));
    assert_eq!(next(&mut slots), None, "it is wanted");
    slots.release(PageNumber(1));
    assert_eq!(next(&mut slots), Some(Err(PageNumber(1))));
}

#[test]
fn a_damaged_page_stays_and_is_not_written() {
    let mut slots = Slots::default();
    slots.admit(PageNumber(1), page(true, Some("torn")));
    slots.release(PageNumber(1));
    assert_eq!((next(&mut slots), slots.len()), (None, 1));
    assert!(slots.changed().is_empty() && !slots.is_due(PageNumber(1)));
}

/// The next runs to write, as first page and length, without waiting for any of them.
fn runs(writing: &mut Writing, slots: &mut Slots, presses: bool) -> Vec<(u32, usize)> {
    let mut runs = Vec::new();
    while let Some(run) = writing.next(slots, presses) {
        let pages = run.pages().len();
        drop(writing.seal(run, slots, Buffer::zeroed(pages * 4096)));
        runs.push((run.first.0, pages));
    }
    runs
}

#[test]
fn pages_are_written_in_the_order_of_the_file_with_their_changed_neighbours() {
    let mut slots = idle(&[(9, true), (4, true), (5, true), (3, true), (6, false), (12, true)]);
    let mut writing = Writing::new(64, 16);
    for page in [12, 4, 9] {
        writing.add(PageNumber(page));
    }
    assert_eq!(runs(&mut writing, &mut slots, false), [], "four gather");
    let expected = [(3, 3), (9, 1), (12, 1)];
    assert_eq!(runs(&mut writing, &mut slots, true), expected);
    assert!(slots.changed().is_empty());
}

#[test]
fn a_run_is_no_longer_than_one_write_may_be_and_leaves_wanted_pages_out() {
    let mut slots = idle(&[(1, true), (2, true), (3, true), (4, true), (5, true), (6, true)]);
    assert!(slots.want(PageNumber(5)));
    let mut writing = Writing::new(64, 3);
    for page in 1..=6 {
        writing.add(PageNumber(page));
    }
    let expected = [(1, 3), (4, 1), (6, 1)];
    assert_eq!(runs(&mut writing, &mut slots, false), expected[..1]);
    assert_eq!(runs(&mut writing, &mut slots, true), expected[1..]);
}

#[test]
fn a_page_on_its_way_is_not_written_a_second_time_at_once() {
    let mut slots = idle(&[(1, true), (2, false)]);
    let mut writing = Writing::new(64, 16);
    writing.add(PageNumber(1));
    assert_eq!(runs(&mut writing, &mut slots, true), [(1, 1)]);
    slots.page(PageNumber(1)).dirty = true;
    slots.page(PageNumber(2)).dirty = true;
    writing.add(PageNumber(1));
    assert_eq!(runs(&mut writing, &mut slots, true), []);
    writing.add(PageNumber(2));
    assert_eq!(runs(&mut writing, &mut slots, true), [(2, 1)]);
    slots.end_write(PageNumber(1));
    assert_eq!(runs(&mut writing, &mut slots, true), [(1, 1)]);
}

#[test]
fn a_page_changed_long_ago_is_written_though_it_is_wanted() {
    let mut slots = idle(&[(3, true), (7, true), (9, false)]);
    for page in [3, 7, 9] {
        assert!(slots.want(PageNumber(page)));
    }
    let mut writing = Writing::new(64, 16);
    writing.add(PageNumber(3));
    writing.add_old(PageNumber(7));
    writing.add_old(PageNumber(9));
    assert_eq!(runs(&mut writing, &mut slots, true), [(7, 1)]);
    slots.end_write(PageNumber(7));
    assert_eq!((next(&mut slots), slots.wanted()), (None, 3), "it stays for the record");
}
