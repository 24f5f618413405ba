//! Maps a request on a set to the disks that it touches, as a pure function.

use serde::{Deserialize, Serialize};

/// How the bytes of a set are spread over its disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RaidLayout {
    /// The level.
    pub(crate) level: RaidLevel,
    /// Disks of the set, spares not counted.
    pub disks: usize,
    /// Bytes on one disk before the next one follows.
    pub stripe_unit: u64,
    /// The disk that has failed, if one has.
    pub failed: Option<FailedDisk>,
}

/// A disk that has failed, and how far a spare has taken its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FailedDisk {
    /// Its number, which is the spare's as well.
    pub disk: usize,
    /// Bytes from the beginning of the disk that the spare holds by now.
    pub rebuilt: u64,
}

/// How a set survives the loss of disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub(crate) enum RaidLevel {
    /// Striping alone; a single disk is also this level.
    Raid0,
    /// Every byte twice.
    Raid1,
    /// One parity of each row.
    Raid5,
    /// Two parities of each row.
    Raid6,
    /// Stripes over pairs.
    Raid10,
}

impl TryFrom<u32> for RaidLevel {
    type Error = String;

    fn try_from(level: u32) -> Result<Self, String> {
        match level {
            0 => Ok(Self::Raid0),
            1 => Ok(Self::Raid1),
            5 => Ok(Self::Raid5),
            6 => Ok(Self::Raid6),
            10 => Ok(Self::Raid10),
            other => Err(format!("RAID {other} is not simulated; give 0, 1, 5, 6 or 10")),
        }
    }
}

impl From<RaidLevel> for u32 {
    fn from(level: RaidLevel) -> Self {
        match level {
            RaidLevel::Raid0 => 0,
            RaidLevel::Raid1 => 1,
            RaidLevel::Raid5 => 5,
            RaidLevel::Raid6 => 6,
            RaidLevel::Raid10 => 10,
        }
    }
}

impl RaidLevel {
    /// Minimum number of disks in a set.
    pub(crate) const fn fewest_disks(self) -> usize {
        match self {
            Self::Raid0 => 1,
            Self::Raid1 => 2,
            Self::Raid5 => 3,
            Self::Raid6 | Self::Raid10 => 4,
        }
    }

    const fn parities(self) -> usize {
        match self {
            Self::Raid0 | Self::Raid1 | Self::Raid10 => 0,
            Self::Raid5 => 1,
            Self::Raid6 => 2,
        }
    }

    const fn is_mirrored(self) -> bool {
        matches!(self, Self::Raid1 | Self::Raid10)
    }
}

/// Bytes on one disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DrivePiece {
    /// The disk.
    pub disk: usize,
    /// A second disk with the same content; only one of the two is read.
    pub mirror: Option<usize>,
    /// Its offset on the disk, in bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
}

/// Disk requests of a write: first these reads, and when they are done these writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WriteSteps {
    /// Old data and parity for the new parity.
    pub reads: Vec<DrivePiece>,
    /// New data and parity.
    pub writes: Vec<DrivePiece>,
}

/// Part of a request that lies in one stripe unit.
#[derive(Clone, Copy)]
struct UnitChunk {
    row: u64,
    column: usize,
    within: u64,
    length: u64,
}

impl RaidLayout {
    /// Data disks per row.
    pub(crate) const fn data_disks(&self) -> usize {
        if self.level.is_mirrored() { self.disks / 2 } else { self.disks - self.level.parities() }
    }

    /// The pieces of a read.
    pub(crate) fn read(&self, offset: u64, length: u64) -> Vec<DrivePiece> {
        let mut pieces = Vec::new();
        for chunk in self.chunks(offset, length) {
            let piece = self.data_piece(&chunk);
            let twin = piece.mirror.map(|disk| DrivePiece { disk, mirror: None, ..piece });
            match twin {
                Some(twin) if self.is_lost(&piece) => pieces.push(twin),
                Some(twin) if self.is_lost(&twin) => {
                    pieces.push(DrivePiece { mirror: None, ..piece });
                }
                None if self.is_lost(&piece) => pieces.extend(self.others(&piece)),
                _ => pieces.push(piece),
            }
        }
        merged(pieces)
    }

    /// The steps of a write.
    pub(crate) fn write(&self, offset: u64, length: u64) -> WriteSteps {
        let chunks: Vec<UnitChunk> = self.chunks(offset, length).collect();
        let mut steps = WriteSteps::default();
        for row in chunks.chunk_by(|one, two| one.row == two.row) {
            self.write_row(row, &mut steps);
        }
        steps.reads.retain(|piece| !self.is_lost(piece));
        steps.writes.retain(|piece| !self.is_lost(piece));
        WriteSteps { reads: merged(steps.reads), writes: merged(steps.writes) }
    }

    fn write_row(&self, chunks: &[UnitChunk], steps: &mut WriteSteps) {
        let data: Vec<DrivePiece> = chunks.iter().map(|chunk| self.data_piece(chunk)).collect();
        if self.level.is_mirrored() {
            for piece in data {
                let twin = piece.mirror.map(|disk| DrivePiece { disk, ..piece });
                steps.writes.extend([piece].into_iter().chain(twin));
                steps.writes.iter_mut().for_each(|piece| piece.mirror = None);
            }
            return;
        }
        let parities = self.parity_pieces(chunks);
        if !parities.is_empty() {
            self.reads_of_row(chunks, (&data, &parities), steps);
        }
        steps.writes.extend(data);
        steps.writes.extend(parities);
    }

    /// Reads old data and parity, or the rest of the row, whichever takes fewer disks; nothing if
    /// the whole row is written. The contents of a failed disk must come from the others.
    fn reads_of_row(
        &self,
        chunks: &[UnitChunk],
        (data, parities): (&[DrivePiece], &[DrivePiece]),
        steps: &mut WriteSteps,
    ) {
        let row = chunks[0].row;
        let written = || chunks.iter().filter(|chunk| chunk.length == self.stripe_unit);
        let rest = self.data_disks() - written().count();
        if rest == 0 {
            return;
        }
        let lost = data.iter().any(|piece| self.is_lost(piece));
        if rest < data.len() + parities.len() || lost {
            let (within, length) = span(chunks);
            let columns = (0..self.data_disks())
                .filter(|column| written().all(|chunk| chunk.column != *column));
            steps.reads.extend(
                columns.map(|column| self.data_piece(&UnitChunk { row, column, within, length })),
            );
        } else {
            steps.reads.extend_from_slice(data);
            steps.reads.extend_from_slice(parities);
        }
    }

    /// The parity that covers a row's chunks.
    fn parity_pieces(&self, chunks: &[UnitChunk]) -> Vec<DrivePiece> {
        let (within, length) = span(chunks);
        let row = chunks[0].row;
        let first = self.first_parity(row);
        (0..self.level.parities())
            .map(|number| DrivePiece {
                disk: (first + number) % self.disks,
                mirror: None,
                offset: row * self.stripe_unit + within,
                length,
            })
            .collect()
    }

    /// The next step of a rebuild: at most `length` bytes of the failed disk from `rebuilt` on,
    /// read from the others and written to the spare.
    pub(crate) fn rebuild(&self, length: u64) -> Option<WriteSteps> {
        let FailedDisk { disk, rebuilt } = self.failed?;
        let lost = DrivePiece { disk, mirror: None, offset: rebuilt, length };
        let reads = if self.level.is_mirrored() {
            vec![DrivePiece { disk: disk ^ 1, ..lost }]
        } else {
            self.others(&lost).collect()
        };
        Some(WriteSteps { reads, writes: vec![lost] })
    }

    /// Whether no disk holds a piece: it was on the failed one, and no spare has it yet.
    fn is_lost(&self, piece: &DrivePiece) -> bool {
        self.failed.is_some_and(|failed| {
            failed.disk == piece.disk && piece.offset + piece.length > failed.rebuilt
        })
    }

    /// The rest of a row, from which a lost piece is reconstructed.
    fn others(&self, lost: &DrivePiece) -> impl Iterator<Item = DrivePiece> {
        let lost = *lost;
        let needed = self.disks - self.level.parities().saturating_sub(1);
        let disks = (1..self.disks).map(move |step| (lost.disk + step) % self.disks);
        disks.take(needed - 1).map(move |disk| DrivePiece { disk, mirror: None, ..lost })
    }

    /// First parity disk of a row: parity moves one disk to the left with every row
    /// ("left-symmetric"), and data starts after it.
    fn first_parity(&self, row: u64) -> usize {
        let disks = self.disks as u64;
        let place = disks - 1 - row % disks;
        usize::try_from(place).expect("invariant: below the number of disks")
    }

    fn data_piece(&self, chunk: &UnitChunk) -> DrivePiece {
        let (disk, mirror) = if self.level.is_mirrored() {
            (chunk.column * 2, Some(chunk.column * 2 + 1))
        } else if self.level.parities() == 0 {
            (chunk.column, None)
        } else {
            let first = self.first_parity(chunk.row) + self.level.parities();
            ((first + chunk.column) % self.disks, None)
        };
        let offset = chunk.row * self.stripe_unit + chunk.within;
        DrivePiece { disk, mirror, offset, length: chunk.length }
    }

    fn chunks(&self, offset: u64, length: u64) -> impl Iterator<Item = UnitChunk> {
        let (unit, columns) = (self.stripe_unit, self.data_disks() as u64);
        let end = offset + length;
        let mut at = offset;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let number = at / unit;
            let within = at % unit;
            let length = (unit - within).min(end - at);
            at += length;
            let column = usize::try_from(number % columns).expect("invariant: a number of a disk");
            Some(UnitChunk { row: number / columns, column, within, length })
        })
    }
}

/// Range of a stripe unit that the chunks of a row touch.
fn span(chunks: &[UnitChunk]) -> (u64, u64) {
    let from = chunks.iter().map(|chunk| chunk.within).min().unwrap_or(0);
    let to = chunks.iter().map(|chunk| chunk.within + chunk.length).max().unwrap_or(0);
    (from, to - from)
}

/// Merges pieces that are contiguous on a disk into one request.
fn merged(mut pieces: Vec<DrivePiece>) -> Vec<DrivePiece> {
    pieces.sort_by_key(|piece| (piece.disk, piece.offset));
    pieces.dedup_by(|piece, last| {
        let follows = last.disk == piece.disk && piece.offset <= last.offset + last.length;
        if follows {
            last.length = last.length.max(piece.offset + piece.length - last.offset);
        }
        follows
    });
    pieces
}

#[cfg(test)]
mod tests {
    use super::{DrivePiece, FailedDisk, RaidLayout, RaidLevel};

    const KIB: u64 = 1_024;

    fn layout(level: RaidLevel, disks: usize) -> RaidLayout {
        RaidLayout { level, disks, stripe_unit: 64 * KIB, failed: None }
    }

    fn lost(disk: usize, rebuilt: u64) -> FailedDisk {
        FailedDisk { disk, rebuilt }
    }

    /// A small write takes 4 disk requests on RAID 5 and 6 on RAID 6, a full stripe one per disk.
    #[test]
    fn writes_take_as_many_requests_as_their_level_costs() {
        let requests = |layout: RaidLayout, offset: u64, length: u64| {
            let steps = layout.write(offset, length);
            (steps.reads.len(), steps.writes.len())
        };
        for row in 0..20 {
            let at = row * 6 * 64 * KIB + 32 * KIB;
            assert_eq!(requests(layout(RaidLevel::Raid5, 7), at, 32 * KIB), (2, 2));
            assert_eq!(requests(layout(RaidLevel::Raid6, 8), at, 32 * KIB), (3, 3));
            assert_eq!(requests(layout(RaidLevel::Raid10, 8), at, 32 * KIB), (0, 2));
            assert_eq!(requests(layout(RaidLevel::Raid0, 7), at, 32 * KIB), (0, 1));
            let stripe = 6 * 64 * KIB;
            assert_eq!(requests(layout(RaidLevel::Raid5, 7), row * stripe, stripe), (0, 7));
            assert_eq!(requests(layout(RaidLevel::Raid6, 8), row * stripe, stripe), (0, 8));
        }
        // Most of a stripe: the rest of it is read instead of the overwritten part.
        assert_eq!(requests(layout(RaidLevel::Raid5, 7), 0, 5 * 64 * KIB), (1, 6));
    }

    /// No two bytes of a set share a place, and parity is on other disks than its data.
    #[test]
    fn every_unit_of_a_set_has_a_place_of_its_own() {
        for (level, disks) in [
            (RaidLevel::Raid0, 3),
            (RaidLevel::Raid1, 2),
            (RaidLevel::Raid5, 4),
            (RaidLevel::Raid6, 6),
            (RaidLevel::Raid10, 6),
        ] {
            let layout = layout(level, disks);
            let mut taken = std::collections::BTreeSet::new();
            let units = 60 * layout.data_disks() as u64;
            for unit in 0..units {
                let read = layout.read(unit * 64 * KIB, 64 * KIB);
                let [DrivePiece { disk, mirror, offset, length }] = read[..] else {
                    panic!("{level:?}: {read:?}");
                };
                assert_eq!(length, 64 * KIB);
                for disk in [Some(disk), mirror].into_iter().flatten() {
                    assert!(disk < disks && taken.insert((disk, offset)), "{level:?} {unit}");
                }
                let steps = layout.write(unit * 64 * KIB, 64 * KIB);
                let written: std::collections::BTreeSet<usize> =
                    steps.writes.iter().map(|piece| piece.disk).collect();
                assert_eq!(written.len(), steps.writes.len(), "{level:?} {unit}");
            }
        }
    }

    #[test]
    fn a_failed_disk_is_asked_for_nothing_and_the_others_for_more() {
        for (level, disks, reads) in [(RaidLevel::Raid5, 5, 4), (RaidLevel::Raid6, 6, 4)] {
            let layout = RaidLayout { failed: Some(lost(1, 0)), ..layout(level, disks) };
            let mut reconstructed = 0;
            for unit in 0..60 {
                let read = layout.read(unit * 64 * KIB, 32 * KIB);
                let steps = layout.write(unit * 64 * KIB, 32 * KIB);
                let all = read.iter().chain(&steps.reads).chain(&steps.writes);
                assert!(all.clone().all(|piece| piece.disk != 1 && piece.disk < disks));
                if read.len() > 1 {
                    assert_eq!(read.len(), reads, "{level:?}");
                    reconstructed += 1;
                }
            }
            assert!(reconstructed > 0);
        }
        let pairs = RaidLayout { failed: Some(lost(0, 0)), ..layout(RaidLevel::Raid10, 4) };
        let read = pairs.read(0, 64 * KIB);
        assert_eq!((read[0].disk, read[0].mirror), (1, None));
        assert_eq!(pairs.write(0, 64 * KIB).writes.len(), 1);
    }

    /// Rebuilt data is read from the spare, the rest still from the others.
    #[test]
    fn a_spare_takes_the_place_of_a_failed_disk_row_by_row() {
        for (level, disks, others) in
            [(RaidLevel::Raid5, 5, 4), (RaidLevel::Raid6, 6, 4), (RaidLevel::Raid10, 4, 1)]
        {
            let rebuilt = 10 * 64 * KIB;
            let layout = RaidLayout { failed: Some(lost(1, rebuilt)), ..layout(level, disks) };
            let steps = layout.rebuild(64 * KIB).expect("a disk has failed");
            assert_eq!((steps.reads.len(), steps.writes.len()), (others, 1), "{level:?}");
            assert!(steps.reads.iter().all(|piece| piece.disk != 1 && piece.offset == rebuilt));
            for unit in 0..40 * layout.data_disks() as u64 {
                let write = layout.write(unit * 64 * KIB, 32 * KIB).writes;
                let below = unit / layout.data_disks() as u64 * 64 * KIB < rebuilt;
                let whole = RaidLayout { failed: None, ..layout };
                if below {
                    assert_eq!(write, whole.write(unit * 64 * KIB, 32 * KIB).writes, "{level:?}");
                } else {
                    assert!(write.iter().all(|piece| piece.disk != 1), "{level:?}");
                }
            }
        }
        assert_eq!(layout(RaidLevel::Raid5, 5).rebuild(KIB), None);
    }
}
