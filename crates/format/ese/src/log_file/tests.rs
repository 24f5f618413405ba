//! Tests that layouts survive a round trip, damage is detected, and the bytes match the format.

use proptest::prelude::*;
use units::Generation;

use super::segment::segment_checksum;
use super::{
    Checkpoint, LOG_HEADER_BYTES, LogFileError, LogHeader, SegmentHeader, SegmentSize, accumulate,
};
use crate::checksum::store_header;
use crate::lgpos::Lgpos;
use crate::log_time::LogTime;
use crate::page::PageSize;
use crate::signature::Signature;

fn header() -> LogHeader {
    LogHeader {
        generation: Generation(10),
        segment_size: SegmentSize::Bytes4096,
        page_size: PageSize::KIB_32,
        created: LogTime::from_unix_millis(1_700_000_000_123),
        previous_created: LogTime::from_unix_millis(1_600_000_000_000),
        signature: Signature::new(0x0102_0304, LogTime::from_unix_millis(1_500_000_000_000)),
        database: Signature::new(0x0506_0708, LogTime::from_unix_millis(1_400_000_000_000)),
        checkpoint: Lgpos { generation: Generation(9), segment: 8, byte: 40 },
        previous_last: 17,
        resumed: true,
        previous_checksum: 0x1122_3344_5566_7788,
    }
}

const SEGMENT: SegmentHeader = SegmentHeader {
    generation: Generation(10),
    index: 3,
    started: LogTime::NEVER,
    stream: 0x0A0B_0C0D,
    write_first: 2,
    write_count: 5,
};

const SIZES: [SegmentSize; 2] = [SegmentSize::Bytes512, SegmentSize::Bytes4096];

#[test]
fn headers_read_back_as_they_were() {
    for segment_size in SIZES {
        let header = LogHeader { segment_size, ..header() };
        assert_eq!(LogHeader::decode(&header.encode()), Ok(header));
    }
    let checkpoint = Checkpoint {
        place: Lgpos { generation: Generation(3), segment: 200, byte: 77 },
        signature: header().signature,
        database: header().database,
    };
    assert_eq!(Checkpoint::decode(&checkpoint.encode()), Ok(checkpoint));
}

#[test]
fn fields_stand_where_ese_has_them() {
    let bytes = header().encode();
    assert_eq!(bytes[4..16], [10, 0, 0, 0, 0, 16, 1, 0, 0, 1, 0, 128]);
    assert_eq!(bytes[32..36], [0x4C, 0x50, 0, 0]);
    assert_eq!(bytes[44..48], [4, 3, 2, 1]);
    assert_eq!(bytes[640..648], [40, 0, 8, 0, 9, 0, 0, 0]);
    assert_eq!(bytes[653..661], 0x1122_3344_5566_7788_u64.to_le_bytes());
    assert_eq!(bytes[667], 3);
    let segment_size = SegmentSize::Bytes512;
    let short = LogHeader { segment_size, ..header() };
    assert_eq!(short.encode()[8..14], [0, 2, 8, 0, 0, 8]);
    let segment = sealed(SegmentSize::Bytes4096);
    assert_eq!(segment[8..16], [0, 0, 3, 0, 10, 0, 0, 0]);
    assert_eq!(segment[36..41], [0, 0x20, 0, 0, 0x5A]);
    let segment = sealed(SegmentSize::Bytes512);
    assert_eq!(segment[8..13], [2, 0, 5, 0, 0x5A]);
}

/// A segment of repeated bytes with the header [`SEGMENT`].
fn sealed(size: SegmentSize) -> Vec<u8> {
    let mut bytes = vec![0x5A; size.bytes()];
    SEGMENT.seal(&mut bytes);
    bytes
}

#[test]
fn files_of_others_are_told_apart() {
    let decode_with = |offset: usize, value: u8| {
        let mut bytes = header().encode();
        bytes[offset] = value;
        store_header(&mut bytes);
        LogHeader::decode(&bytes).map(|_| ())
    };
    assert_eq!(decode_with(667, 1), Err(LogFileError::FileType(1)));
    assert_eq!(decode_with(33, 0), Err(LogFileError::Version(0x4C)));
    assert_eq!(decode_with(36, 9), Err(LogFileError::RecordVersion(9)));
    for (offset, value) in [(12, 1), (10, 8), (9, 2)] {
        assert_eq!(decode_with(offset, value), Err(LogFileError::Geometry));
    }
    assert_eq!(decode_with(15, 3), Err(LogFileError::Geometry));
}

#[test]
fn segments_belong_to_one_place_of_one_stream() {
    for bytes in SIZES.map(sealed) {
        let open = |generation, index, stream| {
            SegmentHeader::open(&bytes, Generation(generation), index, stream)
        };
        assert_eq!(open(10, 3, 0x0A0B_0C0D), Some(SEGMENT));
        assert_eq!(open(11, 3, 0x0A0B_0C0D), None);
        assert_eq!(open(10, 4, 0x0A0B_0C0D), None);
        assert_eq!(open(10, 3, 0x0A0B_0C0E), None);
    }
}

#[test]
fn what_was_never_written_is_no_segment() {
    for size in SIZES {
        for byte in [0, 0xFF, b'p'] {
            let bytes = vec![byte; size.bytes()];
            let opened = SegmentHeader::open(&bytes, Generation(10), 3, 0x0A0B_0C0D);
            assert_eq!(opened, None);
        }
    }
}

#[test]
fn a_torn_sector_of_repeated_bytes_is_seen() {
    let mut bytes = sealed(SegmentSize::Bytes4096);
    let whole = segment_checksum(&bytes, 3);
    bytes[1024..1536].fill(0);
    assert_eq!(segment_checksum(&bytes, 3), whole, "ESE's checksum alone misses it");
    let opened = SegmentHeader::open(&bytes, Generation(10), 3, 0x0A0B_0C0D);
    assert_eq!(opened, None);
}

#[test]
fn exchanged_segments_change_the_sum_of_a_generation() {
    assert_ne!(accumulate(accumulate(0, 5), 9), accumulate(accumulate(0, 9), 5));
    assert_ne!(accumulate(0, 0), accumulate(0, 1));
}

proptest! {
    #[test]
    fn any_flipped_bit_is_seen(bit in 0..LOG_HEADER_BYTES * 8) {
        let flip = |bytes: &mut [u8]| {
            let bit = bit % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
        };
        let mut log = header().encode();
        flip(&mut log);
        prop_assert_eq!(LogHeader::decode(&log), Err(LogFileError::Checksum));
        for mut segment in SIZES.map(sealed) {
            flip(&mut segment);
            let opened = SegmentHeader::open(&segment, Generation(10), 3, 0x0A0B_0C0D);
            prop_assert_eq!(opened, None);
        }
    }
}
