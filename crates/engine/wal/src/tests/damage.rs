//! Tests that damaged, missing, exchanged and foreign files are each refused with a specific error.

use device::FileImage;
use ese::log_file::{LOG_HEADER_BYTES, LogFileError, LogHeader, SegmentHeader};

use super::*;

/// The result of reading the whole log after applying `damage` to its files.
fn read_damaged(damage: impl FnOnce(&mut VolumeImage)) -> Result<usize, LogError> {
    read_damaged_of(SegmentSize::Bytes4096, damage)
}

/// Like [`read_damaged`], with segments of the given size.
fn read_damaged_of(
    size: SegmentSize,
    damage: impl FnOnce(&mut VolumeImage),
) -> Result<usize, LogError> {
    let (world, _) = filled_log_of(size, 2);
    let mut image = world.memory.image();
    damage(&mut image);
    let records = World::of(&image).run(|_, folder| read_all(folder, place(1, 1, 0)));
    records.map(|records| records.len())
}

fn change(image: &mut VolumeImage, file: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = image.files[file].to_vec();
    change(&mut bytes);
    image.files.insert(file.to_owned(), FileImage::of(&bytes));
}

fn flip(image: &mut VolumeImage, file: &str, byte: usize) {
    change(image, file, |bytes| bytes[byte] ^= 0x10);
}

/// Flips a bit in a segment of a file, which must be reported as damage of that segment.
fn bit_flipped_in(file: &str, generation: u32, segment: u16) {
    for size in SIZES {
        let byte = usize::try_from(size.offset(segment)).unwrap() + 300;
        let result = read_damaged_of(size, |image| flip(image, file, byte));
        let expected = LogError::BadSegment {
            file: format!("logs/{file}"),
            generation: Generation(generation),
            segment,
        };
        assert_eq!(result, Err(expected));
    }
}

#[test]
fn a_flipped_bit_in_a_closed_generation_names_its_segment() {
    bit_flipped_in("E0000000002.plg", 2, 77);
}

#[test]
fn a_flipped_bit_with_later_writes_behind_it_is_no_torn_tail() {
    bit_flipped_in("E00.plg", 3, 50);
}

#[test]
fn what_the_last_write_left_is_a_torn_tail() {
    for size in SIZES {
        let whole = read_damaged_of(size, |_| {}).unwrap();
        let torn = read_damaged_of(size, |image| {
            change(image, "E00.plg", |bytes| {
                let whole = |index: u16| {
                    let offset = usize::try_from(size.offset(index)).unwrap();
                    let segment = &bytes[offset..][..size.bytes()];
                    let stream = identity().signature.random;
                    SegmentHeader::open(segment, Generation(3), index, stream)
                };
                let written = (size.first()..size.per_file()).rev().find_map(whole);
                let last = written.expect("segments were written");
                assert!(last.write_count > 1, "the last write must be of several");
                let torn = usize::try_from(size.offset(last.write_first)).unwrap();
                bytes[torn + 400] ^= 1;
            });
        });
        assert!(torn.unwrap() < whole);
    }
}

#[test]
fn a_missing_generation_is_named_with_what_is_there() {
    let result = read_damaged(|image| {
        image.files.remove("E0000000001.plg");
    });
    let expected = LogError::Missing {
        folder: "logs".to_owned(),
        needed: (Generation(1), Generation(3)),
        found: Some((Generation(2), Generation(3))),
        missing: Generation(1),
    };
    assert_eq!(result, Err(expected));
}

#[test]
fn exchanged_and_renamed_files_are_told() {
    let misplaced = read_damaged(|image| {
        let second = image.files["E0000000002.plg"].clone();
        image.files.insert("E0000000001.plg".to_owned(), second);
    });
    let expected =
        LogError::Misplaced { file: "logs/E0000000001.plg".to_owned(), holds: Generation(2) };
    assert_eq!(misplaced, Err(expected));
    let older = read_damaged(|image| {
        let first = image.files["E0000000001.plg"].clone();
        image.files.insert("E00.plg".to_owned(), first);
    });
    assert!(matches!(older, Err(LogError::Misplaced { .. })), "{older:?}");
}

#[test]
fn another_stream_s_generation_is_foreign() {
    let result = read_damaged(|image| {
        change(image, "E0000000001.plg", |bytes| {
            let first = bytes.first_chunk().unwrap();
            let mut header = LogHeader::decode(first).unwrap();
            header.signature.random += 1;
            bytes[..LOG_HEADER_BYTES].copy_from_slice(&header.encode());
        });
    });
    assert!(matches!(result, Err(LogError::Foreign { .. })), "{result:?}");
}

#[test]
fn a_whole_generation_of_another_life_breaks_the_chain() {
    for size in SIZES {
        let result = read_damaged_of(size, |image| {
            // The same stream and generation, but not the bytes on which generation 3 was based.
            change(image, "E0000000002.plg", |bytes| {
                let segment = usize::try_from(size.offset(9)).unwrap();
                let segment = &mut bytes[segment..][..size.bytes()];
                let stream = identity().signature.random;
                let header = SegmentHeader::open(segment, Generation(2), 9, stream);
                segment[400] ^= 1;
                header.unwrap().seal(segment);
            });
        });
        let expected = LogError::PreviousChecksum {
            file: "logs/E0000000002.plg".to_owned(),
            generation: Generation(2),
        };
        assert_eq!(result, Err(expected));
    }
}

#[test]
fn headers_and_lengths_are_checked() {
    let header = read_damaged(|image| flip(image, "E0000000001.plg", 700));
    let expected = LogError::Header {
        file: "logs/E0000000001.plg".to_owned(),
        problem: LogFileError::Checksum,
    };
    assert_eq!(header, Err(expected));
    let short = read_damaged(|image| {
        change(image, "E0000000001.plg", |bytes| bytes.truncate(700_416));
    });
    let expected = LogError::Length { file: "logs/E0000000001.plg".to_owned(), bytes: 700_416 };
    assert_eq!(short, Err(expected));
}

#[test]
fn a_log_that_ends_too_early_is_refused() {
    let (world, _) = filled_log(1);
    let beyond = place(2, 200, 40);
    let result = world.run(move |_, folder| read_all(folder, beyond));
    assert!(matches!(result, Err(LogError::TooShort { .. })), "{result:?}");
}

#[test]
fn a_new_stream_does_not_take_an_old_one_s_place() {
    let (world, _) = filled_log(1);
    let result = world.run(|runtime, folder| async move {
        let created = Log::create(&runtime, folder, identity(), small_buffers()).await;
        created.map(|_| ())
    });
    let expected = LogError::Exists { folder: "logs".to_owned(), file: "E00.plg".to_owned() };
    assert_eq!(result, Err(expected));
}

#[test]
fn a_crash_between_the_renames_of_a_roll_is_no_loss() {
    let (world, records) = filled_log(2);
    let mut image = world.memory.image();
    image.files.remove("E00tmp.plg");
    let current = image.files.remove("E00.plg").unwrap();
    image.files.insert("E00tmp.plg".to_owned(), current);
    let world = World::of(&image);
    let found = world.run(|_, folder| read_all(folder, place(1, 1, 0)));
    assert_eq!(found.as_ref().map(Vec::len), Ok(records.len()));
    let reopened = world.run(|runtime, folder| async move {
        let log = open_log(&runtime, folder.clone(), identity(), small_buffers()).await.unwrap();
        log.close().await.unwrap();
        read_all(folder, place(1, 1, 0)).await
    });
    assert_eq!(reopened, found);
}
