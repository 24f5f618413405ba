use units::{ObjectId, PageNumber};

use super::{PageDamage, PageState, judge, judge_by_mark};
use crate::checksum;
use crate::flush_map::LastWrite;
use crate::page::{PageMut, PageSize, page_flags};
use crate::page_check::PageFault;

const NUMBER: PageNumber = PageNumber(9);

/// A sealed leaf, written for the first time.
fn leaf() -> Vec<u8> {
    let mut bytes = vec![0; PageSize::KIB_32.bytes()];
    let mut page = PageMut::new(&mut bytes);
    page.format(page_flags::ALWAYS | page_flags::LEAF, ObjectId(5));
    page.insert(0, 0, b"\x03\0keyvalue").expect("room");
    page.set_flush_type(1);
    page.seal(NUMBER);
    bytes
}

const fn known(flush_type: u8) -> LastWrite {
    LastWrite::Known { flush_type, is_marked: true }
}

/// The states if the last write is unknown, had flush type 1, had flush type 2, or preceded a
/// crash.
fn states(bytes: &[u8]) -> [PageState; 4] {
    let last_writes = [LastWrite::Unknown, known(1), known(2), LastWrite::BeforeCrash];
    last_writes.map(|last_write| judge(bytes, NUMBER, last_write))
}

fn damaged(damages: [PageDamage; 4]) -> [PageState; 4] {
    damages.map(PageState::Damaged)
}

const fn lost(found: u8) -> PageDamage {
    PageDamage::LostFlush { written: 2, found }
}

#[test]
fn a_whole_page_is_sound_unless_a_later_write_is_known() {
    let [unknown, last, later, crash] = states(&leaf());
    assert_eq!([unknown, last, crash], [PageState::Sound, PageState::Sound, PageState::Sound]);
    assert_eq!(later, PageState::Damaged(lost(1)));
}

#[test]
fn zeros_are_unwritten_unless_a_write_is_known() {
    let zeros = vec![0; PageSize::KIB_32.bytes()];
    let (written, found) = (1, 0);
    let wiped = PageDamage::LostFlush { written, found };
    assert_eq!(
        states(&zeros),
        [
            PageState::Unwritten,
            PageState::Damaged(wiped),
            PageState::Damaged(lost(0)),
            PageState::Unwritten
        ]
    );
}

#[test]
fn a_flipped_bit_can_be_turned_back_and_is_more_in_an_older_page() {
    let mut bytes = leaf();
    bytes[20_000] ^= 0x10;
    let bits = vec![160_004];
    let flipped = PageDamage::FlippedBit { bits };
    let states = states(&bytes);
    assert_eq!(states, damaged([flipped.clone(), flipped.clone(), lost(1), flipped]));
    assert!(states[0].is_readable() && !states[2].is_readable());
    checksum::flip(&mut bytes, &[160_004]);
    assert_eq!(bytes, leaf());
}

#[test]
fn after_a_crash_only_a_mark_proves_that_a_bit_has_flipped() {
    let mut bytes = leaf();
    // Torn in a way that the checksum does not detect, except for one bit.
    bytes[20_000] ^= 3;
    bytes[20_064] ^= 3;
    bytes[21_000] ^= 1;
    let bits = vec![168_000];
    let (flipped, torn) = (PageDamage::FlippedBit { bits }, PageDamage::Torn);
    let beyond_repair = PageDamage::Checksum { block: 2 };
    assert_eq!(states(&bytes), damaged([flipped, torn.clone(), torn, beyond_repair]));
}

#[test]
fn what_only_the_mark_sees_is_torn_where_every_write_was_marked() {
    let mut bytes = leaf();
    bytes[20_000] ^= 3;
    bytes[20_064] ^= 3;
    let [unknown, last, later, _] = states(&bytes);
    assert_eq!(unknown, PageState::Sound);
    assert_eq!([last, later], [PageDamage::Torn, PageDamage::Torn].map(PageState::Damaged));
    let unmarked = LastWrite::Known { flush_type: 1, is_marked: false };
    assert_eq!(judge(&bytes, NUMBER, unmarked), PageState::Sound);
}

#[test]
fn a_page_that_was_damaged_before_it_was_sealed_contradicts_itself() {
    let mut bytes = leaf();
    bytes[29] = 0x80;
    PageMut::new(&mut bytes).seal(NUMBER);
    let is_malformed = |state: &PageState| {
        matches!(state, PageState::Damaged(PageDamage::Malformed(PageFault::FreeBytes { .. })))
    };
    assert!(states(&bytes).iter().all(is_malformed));
    // A mark proves only that the page is as sealed.
    assert_eq!(judge_by_mark(&bytes, NUMBER, known(1)), PageState::Sound);
    let unmarked = LastWrite::Known { flush_type: 1, is_marked: false };
    for last_write in [LastWrite::Unknown, LastWrite::BeforeCrash, unmarked] {
        assert!(is_malformed(&judge_by_mark(&bytes, NUMBER, last_write)));
    }
}

/// Whatever happens to a page after sealing, a judge that trusts marks agrees with one that checks
/// everything.
#[test]
fn a_judge_that_believes_marks_sees_all_that_happens_to_a_sealed_page() {
    let mut damaged = vec![leaf(), vec![0; PageSize::KIB_32.bytes()]];
    for bits in [&[20_000 * 8][..], &[3], &[29 * 8, 30 * 8], &[20_000 * 8, 20_064 * 8]] {
        let mut bytes = leaf();
        checksum::flip(&mut bytes, bits);
        damaged.push(bytes);
    }
    for bytes in &damaged {
        for last_write in [LastWrite::Unknown, known(1), known(2), LastWrite::BeforeCrash] {
            let by_mark = judge_by_mark(bytes, NUMBER, last_write);
            assert_eq!(by_mark, judge(bytes, NUMBER, last_write));
        }
    }
}
