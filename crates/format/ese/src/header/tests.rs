use super::{
    CopyState, DatabaseHeader, DatabaseState, EventCount, HeaderError, PROBE_BYTES, read_copies,
};
use crate::log_time::LogTime;
use crate::page::PageSize;
use crate::signature::Signature;

fn sample(size: PageSize) -> DatabaseHeader {
    let created = LogTime::from_unix_millis(1_700_000_000_000);
    DatabaseHeader {
        dbtime: 77,
        state: DatabaseState::DirtyShutdown,
        bit_fixes: EventCount { count: 3, last: created, old_count: 1 },
        ..DatabaseHeader::new(size, Signature::new(42, created))
    }
}

fn file(size: PageSize, header: &DatabaseHeader) -> Vec<u8> {
    let page = header.encode(size);
    let mut file = [page.as_slice(), &page].concat();
    file.resize(PROBE_BYTES, 0xEE);
    file
}

#[test]
fn every_page_size_is_found_and_read_back() {
    for size in PageSize::ALL {
        let header = sample(size);
        let copies = read_copies(&file(size, &header)).expect("a good header");
        assert_eq!((copies.page_size, copies.header), (size, header));
        assert_eq!((copies.primary, copies.shadow), (CopyState::Good, CopyState::Good));
        assert!(copies.copies_agree);
    }
}

#[test]
fn either_copy_is_enough_and_the_first_one_wins() {
    for size in PageSize::ALL {
        let mut file = file(size, &sample(size));
        let mut newer = sample(size);
        newer.dbtime = 78;
        file[..size.bytes()].copy_from_slice(&newer.encode(size));
        let copies = read_copies(&file).expect("two good copies");
        assert_eq!((copies.header.dbtime, copies.copies_agree), (78, false));

        file[100] ^= 1;
        let copies = read_copies(&file).expect("the shadow is good");
        assert_eq!((copies.header.dbtime, copies.primary), (77, CopyState::Bad));

        file[size.bytes() + 100] ^= 1;
        assert_eq!(read_copies(&file).err(), Some(HeaderError::NoGoodCopy));
    }
}

#[test]
fn every_flipped_bit_of_either_copy_is_located() {
    for size in PageSize::ALL {
        let mut file = file(size, &sample(size));
        // Large pages are slow to test; a stride that is not a power of two still reaches every
        // kind of bit.
        let stride = if size == PageSize::KIB_4 { 1 } else { 61 };
        for bit in (0..size.bytes_u32() * 8).step_by(stride) {
            let (at, mask) = (bit as usize / 8, 1 << (bit % 8));
            file[at] ^= mask;
            let copies = read_copies(&file).expect("the shadow is good");
            let states = (copies.primary, copies.shadow);
            assert_eq!(states, (CopyState::FlippedBit { bit }, CopyState::Good));
            file[at] ^= mask;

            file[size.bytes() + at] ^= mask;
            let copies = read_copies(&file).expect("the primary is good");
            let states = (copies.primary, copies.shadow);
            assert_eq!(states, (CopyState::Good, CopyState::FlippedBit { bit }));
            file[size.bytes() + at] ^= mask;
        }
    }
}

#[test]
fn a_log_file_is_not_a_database() {
    let mut header = sample(PageSize::KIB_4);
    header.file_type = 3;
    let refused = read_copies(&file(PageSize::KIB_4, &header)).err();
    assert_eq!(refused, Some(HeaderError::NotADatabase { file_type: 3 }));
}

#[test]
fn fields_stand_where_the_table_has_them() {
    let page = sample(PageSize::KIB_8).encode(PageSize::KIB_8);
    assert_eq!(page[4..12], [0xEF, 0xCD, 0xAB, 0x89, 0x20, 0x06, 0, 0]);
    assert_eq!((page[16], page[52], page[232], page[667]), (77, 2, 20, 1));
    assert_eq!(page[368..384], [3, 0, 0, 0, 20, 13, 22, 14, 11, 123, 1, 0, 1, 0, 0, 0]);
}

#[test]
fn states_keep_their_numbers() {
    for number in 0..12 {
        assert_eq!(DatabaseState::from_number(number).number(), number);
    }
    assert_eq!(DatabaseState::from_number(3), DatabaseState::CleanShutdown);
}

#[test]
fn a_short_file_has_no_header() {
    assert_eq!(read_copies(&[]).err(), Some(HeaderError::NoGoodCopy));
    assert_eq!(read_copies(&[0; 5000]).err(), Some(HeaderError::NeverWritten { fill: 0 }));
    assert_eq!(read_copies(&[7, 8, 9]).err(), Some(HeaderError::NoGoodCopy));
}
