//! Location of the bytes of files on an array: each file contiguous, as on an otherwise empty
//! volume.

mod spread;

use std::collections::BTreeMap;
use std::ops::Range;

use device::VolumeImage;
use units::Seed;

use spread::Spread;

/// Larger files are databases; pages of a scaled-down one are spread like the original's.
const LEAST_DATABASE: u64 = 8 << 20;

/// The size of a file is a multiple of this.
const EXTENT: u64 = 1 << 20;

/// Blocks of a stretched file begin at multiples of a database page, as its pages do.
const PAGE: u64 = 32 << 10;

/// Block size in which a stretched database keeps its pages together: enough for sequential
/// requests, yet small enough that random ones spread all over the disks.
const PAGES_BLOCK: u64 = 4 << 20;

/// Bytes that a scan reads from one contiguous piece of the disks, so that its stream rarely
/// breaks.
const SCAN_BLOCK: u64 = 64 << 20;

/// Longer reads are those of a scan, which reads all of a database in order.
const LONGEST_READ_OF_PAGES: u64 = 64 << 10;

/// Bytes of a database's header and its copy, independent of the database's size.
const HEADER: u64 = 64 << 10;

/// Volume size in bytes for a database of this size: it may grow by a quarter before it wraps
/// around. Volumes are filled to four fifths, as in the published runs.
pub const fn room_of_database(bytes: u64) -> u64 {
    bytes + bytes / 4
}

/// One folder's part of the array, and its contents.
#[derive(Debug)]
pub(crate) struct FilePlaces {
    base: u64,
    length: u64,
    stretch: f64,
    /// Bytes of the part that are allocated.
    taken: u64,
    files: BTreeMap<u64, FilePlace>,
}

#[derive(Debug)]
struct FilePlace {
    /// Offset from the start of the part.
    base: u64,
    /// Initial length of the file in bytes.
    length: u64,
    /// Bytes of the file before it wraps around.
    room: u64,
    stretch: f64,
    spread: Spread,
}

/// A request of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileRequest {
    pub offset: u64,
    pub length: u64,
    pub is_write: bool,
}

impl FileRequest {
    /// An empty request at the start of a file.
    pub(crate) const BEGIN: Self = Self { offset: 0, length: 0, is_write: false };
}

impl FilePlaces {
    /// An empty folder in `length` bytes at `base`; databases are stretched by `stretch`.
    pub(crate) const fn new(base: u64, length: u64, stretch: f64) -> Self {
        Self { base, length, stretch, taken: 0, files: BTreeMap::new() }
    }

    /// Places the files of `image`, in their order.
    pub(crate) fn fill(&mut self, image: &VolumeImage) {
        for (number, file) in (0..).zip(image.files.values()) {
            self.address(number, file.length(), FileRequest::BEGIN);
        }
    }

    /// Whether a file of this length is a database.
    pub(crate) const fn is_database(length: u64) -> bool {
        length > LEAST_DATABASE
    }

    /// The byte ranges of the databases so far, each including the room over which its pages are
    /// spread.
    pub(crate) fn databases(&self) -> Vec<Range<u64>> {
        self.files
            .values()
            .filter(|place| place.room > LEAST_DATABASE)
            .map(|place| {
                let begin = self.base + place.base;
                begin..begin + stretched(place.length, place.stretch)
            })
            .collect()
    }

    /// The address of a request to a file that is currently `file_length` bytes long.
    pub(crate) fn address(&mut self, file: u64, file_length: u64, request: FileRequest) -> u64 {
        let place = self.place(file, file_length);
        let within = request.offset % place.room;
        let is_page = request.is_write || request.length <= LONGEST_READ_OF_PAGES;
        let block = if is_page { PAGES_BLOCK } else { SCAN_BLOCK };
        let blocks = StretchedBlocks { block, stretch: place.stretch };
        let at = match () {
            () if place.stretch <= 1.0 => within,
            () if is_page && within >= HEADER => {
                let placed = (within, request.is_write);
                place.spread.place(placed, |prng| blocks.place(within, prng.next_u64()))
            }
            () => blocks.place(within, scattered(within / block)),
        };
        let at = at % stretched(place.room, place.stretch);
        let base = place.base;
        self.base + (base + at) % self.length
    }

    fn place(&mut self, file: u64, file_length: u64) -> &mut FilePlace {
        let Self { taken, stretch, length, .. } = self;
        self.files.entry(file).or_insert_with(|| {
            let place = FilePlace::new(*taken, file_length, *stretch, Seed(file));
            let used = if place.room == LEAST_DATABASE {
                file_length.next_multiple_of(EXTENT).max(EXTENT)
            } else {
                stretched(place.room, place.stretch)
            };
            *taken = (*taken + used) % (*length).max(1);
            place
        })
    }
}

/// Bytes of an array that the files of `image` take, with their databases stretched by `stretch`
/// and their room to grow.
pub fn room_of_image(image: &VolumeImage, stretch: f64) -> u64 {
    let mut places = FilePlaces::new(0, u64::MAX, stretch);
    places.fill(image);
    places.taken
}

impl FilePlace {
    /// A file of `file_length` bytes; only databases are stretched.
    fn new(base: u64, file_length: u64, stretch: f64, seed: Seed) -> Self {
        let spread = Spread::new(seed);
        if FilePlaces::is_database(file_length) {
            let room = room_of_database(file_length).next_multiple_of(EXTENT);
            return Self { base, length: file_length, room, stretch, spread };
        }
        Self { base, length: file_length, room: LEAST_DATABASE, stretch: 1.0, spread }
    }
}

/// The blocks of a stretched file, each anywhere in the space it represents. Evenly spaced blocks
/// would all begin on the same disks of a set.
#[derive(Clone, Copy)]
struct StretchedBlocks {
    block: u64,
    stretch: f64,
}

impl StretchedBlocks {
    /// Offset of the byte at `within` in a file, with its block placed by `random`.
    fn place(self, within: u64, random: u64) -> u64 {
        let Self { block, stretch } = self;
        let free = (stretched(block, stretch) - block) / PAGE;
        let shift = random % (free + 1) * PAGE;
        stretched(within / block * block, stretch) / PAGE * PAGE + shift + within % block
    }
}

/// A number that is unrelated to those of adjacent numbers.
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
    use super::{FilePlaces, FileRequest};

    const MIB: u64 = 1 << 20;

    /// A read typical of a scan.
    const fn scan(offset: u64) -> FileRequest {
        FileRequest { offset, length: 256 << 10, is_write: false }
    }

    #[test]
    fn a_scan_of_a_database_that_stands_for_a_larger_one_breaks_every_64_mebibytes() {
        let mut places = FilePlaces::new(1 << 40, 1 << 40, 100.0);
        let mut at = |offset: u64| places.address(0, 1_024 * MIB, scan(offset)) - (1 << 40);
        for block in 0..16 {
            let from = at(block * 64 * MIB);
            let slot = block * 6_400 * MIB..(block * 6_400 + 6_336) * MIB + 1;
            assert!(slot.contains(&from), "{from}");
            assert_eq!(from % (32 << 10), 0);
            assert_eq!(at(block * 64 * MIB + 63 * MIB + 512) - from, 63 * MIB + 512);
        }
        let rows: std::collections::BTreeSet<u64> =
            (0..16).map(|block| at(block * 64 * MIB) / MIB % 7).collect();
        assert!(rows.len() > 4, "{rows:?}");
    }

    #[test]
    fn logs_lie_behind_the_database_one_behind_the_other() {
        let mut places = FilePlaces::new(0, 1 << 40, 10.0);
        let database = places.address(0, 64 * MIB, scan(0));
        let (one, two) = (places.address(1, MIB, scan(0)), places.address(2, MIB, scan(512)));
        assert_eq!((database, one, two), (0, 800 * MIB, 801 * MIB + 512));
        assert_eq!(places.address(1, MIB, scan(4_096)), one + 4_096);
    }

    /// 16 pages of a database that represents one of 100 times its size, each written 50 times.
    #[test]
    fn a_page_that_stands_for_many_is_written_at_many_places_of_its_block() {
        let mut places = FilePlaces::new(0, 1 << 40, 100.0);
        let mut written = std::collections::BTreeSet::new();
        for _ in 0..50 {
            for block in 0..16 {
                let offset = block * 4 * MIB + MIB;
                let page = FileRequest { offset, length: 32 << 10, is_write: true };
                let at = places.address(0, 64 * MIB, page);
                assert!((block * 400..(block + 1) * 400).contains(&(at / MIB)), "{block}: {at}");
                written.insert(at);
            }
        }
        assert!(written.len() > 750, "{} places", written.len());
    }

    #[test]
    fn a_header_stays_where_it_is() {
        let mut places = FilePlaces::new(0, 1 << 40, 100.0);
        let header = FileRequest { offset: 4_096, length: 4_096, is_write: true };
        let first = places.address(0, 64 * MIB, header);
        assert!((0..50).all(|_| places.address(0, 64 * MIB, header) == first));
    }
}
