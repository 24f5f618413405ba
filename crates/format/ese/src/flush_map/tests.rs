//! Guarantees of the map: what it stores, what it refuses, and which pages it reports as lost
//! writes.

use units::{ObjectId, PageNumber, Seed};

use super::{
    FlushMap, FlushMapError, FlushMapHeader, FlushVerdict, MAP_PAGE_BYTES, MapRefusal,
    PAGES_PER_MAP_PAGE, file_name, longest_file, unpair,
};
use crate::header::DatabaseHeader;
use crate::log_time::LogTime;
use crate::page::{PageMut, PageRef, page_flags};
use crate::signature::Signature;

fn header() -> FlushMapHeader {
    FlushMapHeader {
        is_clean: true,
        created: LogTime::from_unix_millis(1_000),
        attached: LogTime::from_unix_millis(2_000),
        detached: LogTime::from_unix_millis(3_000),
        database_flush: Signature::new(7, LogTime::NEVER),
        map_flush: Signature::new(8, LogTime::NEVER),
    }
}

fn map() -> FlushMap {
    let mut map = FlushMap::new();
    for page in [1, 2, 3, 4, 5, 32_511, 32_512, 70_000] {
        map.remember(PageNumber(page), u8::try_from(page % 3 + 1).expect("small"), u64::from(page));
    }
    map
}

#[test]
fn one_map_page_holds_as_many_pages_as_the_format_says() {
    assert_eq!(PAGES_PER_MAP_PAGE, 32_512);
}

#[test]
fn neighbours_do_not_disturb_each_other() {
    let mut map = map();
    map.remember(PageNumber(2), 1, 9);
    map.forget(PageNumber(4));
    let states: Vec<u8> = (0..7).map(|page| map.written(PageNumber(page))).collect();
    assert_eq!(states, [0, 2, 1, 1, 0, 3, 0]);
}

#[test]
fn the_first_page_stands_in_the_highest_bits() {
    let mut map = FlushMap::new();
    map.remember(PageNumber(0), 2, 0);
    map.remember(PageNumber(3), 1, 0);
    assert_eq!(map.encode(&header())[MAP_PAGE_BYTES + 64], 0b1000_0001);
}

#[test]
fn a_file_reads_back_as_it_was_written() {
    let file = map().encode(&header());
    assert_eq!(file.len(), 4 * MAP_PAGE_BYTES);
    assert_eq!(FlushMap::decode(&file), Ok((header(), map())));
}

#[test]
fn damage_is_named_by_place() {
    let good = map().encode(&header());
    let decode = |at: usize| {
        let mut file = good.clone();
        file[at] ^= 1;
        FlushMap::decode(&file).err()
    };
    assert_eq!(decode(100), Some(FlushMapError::Header));
    assert_eq!(decode(MAP_PAGE_BYTES + 4_000), Some(FlushMapError::Page(0)));
    assert_eq!(decode(3 * MAP_PAGE_BYTES + 65), Some(FlushMapError::Page(2)));
    let cut = &good[..good.len() - 1];
    assert_eq!(FlushMap::decode(cut).err(), Some(FlushMapError::Truncated));
    assert_eq!(FlushMap::decode(&[]).err(), Some(FlushMapError::Header));
}

#[test]
fn an_older_page_is_a_lost_write_and_an_unknown_one_is_not() {
    let mut bytes = vec![0; 4096];
    let mut page = PageMut::new(&mut bytes);
    page.format(page_flags::LEAF, ObjectId(9));
    page.advance_flush_type();
    let mut map = FlushMap::new();
    assert_eq!(map.last_write(PageNumber(5)).judge(PageRef::new(&bytes)), FlushVerdict::Unknown);
    map.remember(PageNumber(5), 1, 10);
    assert_eq!(map.last_write(PageNumber(5)).judge(PageRef::new(&bytes)), FlushVerdict::Agrees);
    map.remember(PageNumber(5), 2, 11);
    assert_eq!(
        map.last_write(PageNumber(5)).judge(PageRef::new(&bytes)),
        FlushVerdict::LostWrite { written: 2, found: 1 }
    );
}

#[test]
fn the_next_flush_type_follows_on_the_last_write_not_on_what_is_in_memory() {
    let mut map = FlushMap::new();
    let (page, mut bytes) = (PageNumber(5), vec![0; 4096]);
    PageMut::new(&mut bytes).format(page_flags::LEAF, ObjectId(9));
    let in_file: Vec<u8> = (0..4)
        .map(|_| {
            // Rebuilt in memory every time, like a page that is freed and reused.
            let next = map.next(page, PageRef::new(&bytes));
            map.remember(page, next, 1);
            next
        })
        .collect();
    assert_eq!(in_file, [1, 2, 3, 1]);
    PageMut::new(&mut bytes).set_flush_type(2);
    assert_eq!(map.next(PageNumber(6), PageRef::new(&bytes)), 3);
}

#[test]
fn a_page_of_zeros_that_was_written_is_a_lost_write() {
    let mut map = FlushMap::new();
    let zeros = vec![0; 4096];
    map.remember_all(PageNumber(4), &zeros, crate::page::PageSize::KIB_4);
    let judge = |map: &FlushMap| map.last_write(PageNumber(4)).judge(PageRef::new(&zeros));
    assert_eq!(judge(&map), FlushVerdict::Unknown);
    map.remember(PageNumber(4), 1, 1);
    let (written, found) = (1, 0);
    assert_eq!(judge(&map), FlushVerdict::LostWrite { written, found });
}

#[test]
fn one_or_two_writes_lost_in_a_row_show_and_three_do_not() {
    let shows = |lost: u8| {
        let mut map = FlushMap::new();
        let (page, mut bytes) = (PageNumber(1), vec![0; 4096]);
        PageMut::new(&mut bytes).format(page_flags::LEAF, ObjectId(9));
        PageMut::new(&mut bytes).set_flush_type(1);
        map.remember(page, 1, 1);
        for _ in 0..lost {
            let next = map.next(page, PageRef::new(&bytes));
            map.remember(page, next, 1);
        }
        map.last_write(page).judge(PageRef::new(&bytes)) != FlushVerdict::Agrees
    };
    assert_eq!([1, 2, 3, 4].map(shows), [true, true, false, true]);
}

#[test]
fn a_map_is_believed_by_the_database_it_was_closed_with_and_no_other() {
    let mut database = DatabaseHeader::default();
    let now = LogTime::from_unix_millis(9_000);
    let header = FlushMapHeader::pair(&mut database, Seed(4), now);
    let file = map().encode(&header);
    assert_eq!(FlushMap::believed(&file, &database), Ok(map()));

    let dirty = FlushMapHeader { is_clean: false, ..header };
    let judge = |file: &[u8], database: &DatabaseHeader| FlushMap::believed(file, database).err();
    assert_eq!(judge(&map().encode(&dirty), &database), Some(MapRefusal::NotClean));
    let mut later = database.clone();
    FlushMapHeader::pair(&mut later, Seed(5), now);
    assert_eq!(judge(&file, &later), Some(MapRefusal::Foreign));
    let damaged = MapRefusal::Damaged(FlushMapError::Header);
    assert_eq!(judge(&[0; 8192], &database), Some(damaged));
    unpair(&mut database);
    assert_eq!(judge(&file, &database), Some(MapRefusal::Unpaired));
}

#[test]
fn a_map_of_the_real_engine_is_believed_by_either_signature() {
    let mut database = DatabaseHeader::default();
    let now = LogTime::from_unix_millis(9_000);
    let header = FlushMapHeader::pair(&mut database, Seed(4), now);
    let file = map().encode(&header);
    // The map's header was written again after the database's, or vice versa.
    let mut earlier = database.clone();
    earlier.flush_map_signature = Signature::new(77, now);
    assert_eq!(FlushMap::believed(&file, &earlier), Ok(map()));
    let mut later = database.clone();
    later.header_flush_signature = Signature::new(77, now);
    assert_eq!(FlushMap::believed(&file, &later), Ok(map()));
    later.flush_map_signature = Signature::new(78, now);
    let refusal = FlushMap::believed(&file, &later);
    assert_eq!(refusal, Err(MapRefusal::Foreign));
    // The real engine also writes headers without a map, and leaves room at the end of maps.
    let mut unmapped = database.clone();
    unmapped.flush_map_signature = Signature::default();
    let refusal = FlushMap::believed(&file, &unmapped);
    assert_eq!(refusal, Err(MapRefusal::Unpaired));
    let longer = [&file[..], &vec![0; 3 * 8192]].concat();
    let believed = FlushMap::believed(&longer, &database).expect("room is no damage");
    assert_eq!(believed.written(PageNumber(1)), map().written(PageNumber(1)));
    assert_eq!(believed.written(PageNumber(100_000)), 0);
}

#[test]
fn the_map_lies_beside_its_database() {
    assert_eq!(file_name("mail.edb"), "mail.jfm");
    assert_eq!(file_name("mail.store.edb"), "mail.store.jfm");
    assert_eq!(file_name("mail"), "mail.jfm");
    assert_eq!(file_name("mail.jfm"), "mail.jfm.jfm");
}

#[test]
fn no_map_is_longer_than_its_database_needs() {
    for pages in [1, 32_511, 32_512, 70_000] {
        let mut map = FlushMap::new();
        map.remember(PageNumber(pages), 1, 1);
        let file = map.encode(&header());
        // Real engines leave up to 512 pages of room after it.
        assert_eq!(file.len() as u64 + 512 * 8192, longest_file(pages));
    }
}

/// Page 5 with a node, sealed with flush type 1, and a map that knows it.
fn sealed_and_known() -> (Vec<u8>, FlushMap) {
    let mut bytes = vec![0; 32 << 10];
    let mut page = PageMut::new(&mut bytes);
    page.format(page_flags::LEAF, ObjectId(9));
    page.insert(0, 0, b"\x01\0kd").expect("room");
    page.set_flush_type(1);
    page.seal(PageNumber(5));
    let mut map = FlushMap::new();
    map.remember(PageNumber(5), 1, 10);
    (bytes, map)
}

fn is_torn(map: &FlushMap, bytes: &[u8]) -> bool {
    let page = PageNumber(5);
    map.last_write(page).is_torn(bytes, page)
}

#[test]
fn content_that_the_checksum_does_not_see_contradicts_its_mark() {
    let (good, map) = sealed_and_known();
    assert!(!is_torn(&map, &good));
    // Equal changes in two words of a block cancel out in the checksum.
    let mut torn = good.clone();
    for place in [20_000, 20_064] {
        torn[place] ^= 3;
    }
    let verdict = crate::checksum::verify(&torn, PageNumber(5));
    assert_eq!(verdict, crate::checksum::PageVerdict::Good);
    assert!(is_torn(&map, &torn));
    assert!(!is_torn(&FlushMap::new(), &torn));
}

#[test]
fn marks_mean_nothing_under_a_map_that_does_not_vouch_for_them() {
    let (good, map) = sealed_and_known();
    let mut torn = good;
    torn[20_000] ^= 3;
    let mut file = map.encode(&header());
    let (_, ours) = FlushMap::decode(&file).expect("a map");
    assert!(is_torn(&ours, &torn));
    file[4096..4104].fill(0);
    crate::checksum::store_header(&mut file[..MAP_PAGE_BYTES]);
    let (_, foreign) = FlushMap::decode(&file).expect("a map");
    assert!(!is_torn(&foreign, &torn));
    assert_eq!(foreign.encode(&header()), file, "and it stays so");
}
