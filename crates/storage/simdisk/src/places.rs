//! Location of the bytes of files on an array: each file contiguous, as on an otherwise empty
//! volume.

use std::collections::BTreeMap;

/// Larger files are databases: if they represent larger ones, their pages are spread accordingly.
const LEAST_DATABASE: u64 = 8 << 20;

/// The size of a file is a multiple of this.
const EXTENT: u64 = 1 << 20;

/// Blocks of a stretched file begin at multiples of a database page, as its pages do.
const PAGE: u64 = 32 << 10;

/// Bytes of a volume for a database of this size: it may grow by a quarter before it wraps around.
/// Volumes are filled to four fifths, as in the published runs.
pub const fn room_of_database(bytes: u64) -> u64 {
    bytes + bytes / 4
}

/// One folder's part of the array, and its contents.
#[derive(Debug)]
pub(crate) struct FilePlaces {
    base: u64,
    length: u64,
    stretch: f64,
    /// Bytes of a stretched file that lie together.
    block: u64,
    /// Bytes of the part that are given out.
    taken: u64,
    files: BTreeMap<u64, FilePlace>,
}

#[derive(Clone, Copy, Debug)]
struct FilePlace {
    /// From the begin of the part on.
    base: u64,
    /// Bytes of the file before it wraps around.
    room: u64,
    stretch: f64,
}

impl FilePlaces {
    /// Nothing in `length` bytes from `base` on; databases are stretched by `stretch`, `block`
    /// bytes lie together.
    pub(crate) const fn new(base: u64, length: u64, (stretch, block): (f64, u64)) -> Self {
        Self { base, length, stretch, block, taken: 0, files: BTreeMap::new() }
    }

    /// Address of byte `offset` of a file that is `file_length` long at present.
    pub(crate) fn address(&mut self, file: u64, file_length: u64, offset: u64) -> u64 {
        let place = self.place(file, file_length);
        let within = offset % place.room;
        let at =
            if place.stretch > 1.0 { self.stretched_place(within, place.stretch) } else { within };
        self.base + (place.base + at) % self.length
    }

    /// Location of a byte of a stretched file: its block anywhere in the range it represents.
    /// Blocks at even distances would all begin on the same disks of a set.
    fn stretched_place(&self, within: u64, stretch: f64) -> u64 {
        let number = within / self.block;
        let slot = stretched(self.block, stretch);
        let free = (slot - self.block) / PAGE;
        let shift = scattered(number) % (free + 1) * PAGE;
        stretched(number * self.block, stretch) / PAGE * PAGE + shift + within % self.block
    }

    fn place(&mut self, file: u64, file_length: u64) -> FilePlace {
        if let Some(place) = self.files.get(&file) {
            return *place;
        }
        let place = if file_length > LEAST_DATABASE {
            FilePlace {
                base: self.taken,
                room: room_of_database(file_length).next_multiple_of(EXTENT),
                stretch: self.stretch,
            }
        } else {
            FilePlace { base: self.taken, room: LEAST_DATABASE, stretch: 1.0 }
        };
        let used = if place.room == LEAST_DATABASE {
            file_length.next_multiple_of(EXTENT).max(EXTENT)
        } else {
            stretched(place.room, place.stretch)
        };
        self.taken = (self.taken + used) % self.length.max(1);
        self.files.insert(file, place);
        place
    }
}

/// A number that says nothing of its neighbours'.
pub(crate) const fn scattered(number: u64) -> u64 {
    let mixed = (number ^ (number >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "addresses of an array are positive, and far below 2^53"
)]
fn stretched(bytes: u64, stretch: f64) -> u64 {
    (bytes as f64 * stretch) as u64
}

#[cfg(test)]
mod tests {
    use super::FilePlaces;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_database_that_stands_for_a_larger_one_lies_spread_and_whole_requests_stay_together() {
        let mut places = FilePlaces::new(1 << 40, 1 << 40, (100.0, 4 * MIB));
        let mut at = |offset: u64| places.address(0, 64 * MIB, offset) - (1 << 40);
        for block in 0..16 {
            let from = at(block * 4 * MIB);
            assert!((block * 400 * MIB..(block * 400 + 396) * MIB + 1).contains(&from), "{from}");
            assert_eq!(from % (32 << 10), 0);
            assert_eq!(at(block * 4 * MIB + 3 * MIB + 512) - from, 3 * MIB + 512);
        }
        let rows: std::collections::BTreeSet<u64> =
            (0..16).map(|block| at(block * 4 * MIB) / MIB % 7).collect();
        assert!(rows.len() > 4, "{rows:?}");
    }

    #[test]
    fn logs_lie_behind_the_database_one_behind_the_other() {
        let mut places = FilePlaces::new(0, 1 << 40, (10.0, 4 * MIB));
        let database = places.address(0, 64 * MIB, 0);
        let (one, two) = (places.address(1, MIB, 0), places.address(2, MIB, 512));
        assert_eq!((database, one, two), (0, 800 * MIB, 801 * MIB + 512));
        assert_eq!(places.address(1, MIB, 4_096), one + 4_096);
    }
}
