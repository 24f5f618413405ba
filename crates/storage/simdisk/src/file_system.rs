//! A file system's additional writes, on top of the requested ones.

use units::{Prng, Seed};

use crate::description::FileSystemSection;

/// Bytes at the end of a volume that hold a file system's structures.
const METADATA_BYTES: u64 = 256 << 20;

/// The additional writes of one volume's file system.
pub(crate) struct Metadata {
    section: FileSystemSection,
    /// End of the volume, where its structures are.
    end: u64,
    /// Pending writes, in hundredths.
    due: u32,
    prng: Prng,
}

impl Metadata {
    pub(crate) const fn new(section: FileSystemSection, end: u64, seed: Seed) -> Self {
        Self { section, end, due: 0, prng: Prng::new(seed) }
    }

    /// Whether a write completes only after the additional ones.
    pub(crate) const fn is_awaited(&self) -> bool {
        self.section.is_awaited
    }

    /// The additional writes after a write of a file: addresses and lengths in bytes.
    pub(crate) fn owed(&mut self) -> Vec<(u64, u64)> {
        let bytes = self.section.write_kib << 10;
        self.due += self.section.metadata_percent;
        let mut extents = Vec::new();
        while self.due >= 100 {
            self.due -= 100;
            let place = self.prng.below((METADATA_BYTES / bytes).max(1));
            extents.push((self.end.saturating_sub((place + 1) * bytes) / bytes * bytes, bytes));
        }
        extents
    }
}

#[cfg(test)]
mod tests {
    use units::Seed;

    use super::{METADATA_BYTES, Metadata};
    use crate::description::FileSystemSection;

    #[test]
    fn as_many_writes_are_owed_as_the_share_says_and_they_lie_at_the_end() {
        let section = FileSystemSection { metadata_percent: 133, ..FileSystemSection::default() };
        let mut metadata = Metadata::new(section, 1 << 40, Seed(1));
        let mut owed = Vec::new();
        for _ in 0..300 {
            owed.extend(metadata.owed());
        }
        assert_eq!(owed.len(), 399);
        for (offset, bytes) in owed {
            assert_eq!((bytes, offset % bytes), (32 << 10, 0));
            assert!((1 << 40) - METADATA_BYTES <= offset && offset + bytes <= 1 << 40, "{offset}");
        }
    }
}
