//! The map's own promises: what it remembers, what it refuses, what it takes for a lost write.

use units::{ObjectId, PageNumber};

use super::{
    FlushMap, FlushMapError, FlushMapHeader, FlushVerdict, MAP_PAGE_BYTES, PAGES_PER_MAP_PAGE,
};
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
        map.remember(
            PageNumber(page),
            u8::try_from(page % 3 + 1).expect("small"),
            u64::from(page),
        );
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
    assert_eq!(
        decode(3 * MAP_PAGE_BYTES + 65),
        Some(FlushMapError::Page(2))
    );
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
    assert_eq!(
        map.judge(PageNumber(5), PageRef::new(&bytes)),
        FlushVerdict::Unknown
    );
    map.remember(PageNumber(5), 1, 10);
    assert_eq!(
        map.judge(PageNumber(5), PageRef::new(&bytes)),
        FlushVerdict::Agrees
    );
    map.remember(PageNumber(5), 2, 11);
    assert_eq!(
        map.judge(PageNumber(5), PageRef::new(&bytes)),
        FlushVerdict::LostWrite {
            written: 2,
            found: 1
        }
    );
}
