//! Placement of databases on arrays: the array of each host's copies, and their byte offsets.

use std::collections::BTreeMap;

use simdisk::operations::OperationPlace;
use simdisk::{ArrayDescription, room_of_database};
use units::Bytes;

use super::arrangement::{ArrayChoice, Sharing};
use console::error::CommandError;

/// Space for a copy's log; its oldest files are removed.
const LOG_ROOM: u64 = 16 << 30;

const MIB: u64 = 1 << 20;

/// A copy that needs room on an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShelvedCopy<'a> {
    /// Number of its host, and its name.
    pub host: (usize, &'a str),
    /// Number of the copy on its host.
    pub position: usize,
    /// Number of its volume among those of its host.
    pub volume: usize,
    pub bytes: u64,
}

/// Arrays of all hosts, and the location of each copy on them.
pub(super) struct Shelf {
    arrays: Vec<ArrayDescription>,
    /// Places of each copy's database and log, by host number and the copy's number on that host.
    places: BTreeMap<(usize, usize), (OperationPlace, OperationPlace)>,
}

impl Shelf {
    /// Assigns arrays to `copies`, and then the bytes of each array.
    pub(super) fn of(
        choice: &ArrayChoice,
        copies: &[ShelvedCopy<'_>],
    ) -> Result<Self, CommandError> {
        let mut numbers = BTreeMap::new();
        let mut dealt: Vec<(&ArrayDescription, Vec<ShelvedCopy<'_>>)> = Vec::new();
        for copy in copies {
            let (array, sharing) = choice.of(copy.host.1);
            let next = numbers.len();
            let number = *numbers.entry(copy.array_key(sharing)).or_insert(next);
            if number == dealt.len() {
                dealt.push((array, Vec::new()));
            }
            dealt[number].1.push(*copy);
        }
        let arrays = dealt.iter().map(|(array, _)| (*array).clone()).collect();
        let mut shelf = Self { arrays, places: BTreeMap::new() };
        for (number, (array, copies)) in dealt.iter().enumerate() {
            let sharing = copies.first().map_or(choice.sharing, |of| choice.of(of.host.1).1);
            shelf.lay_out((number, array), (sharing, copies))?;
        }
        Ok(shelf)
    }

    fn lay_out(
        &mut self,
        (number, array): (usize, &ArrayDescription),
        (sharing, copies): (Sharing, &[ShelvedCopy<'_>]),
    ) -> Result<(), CommandError> {
        let sizes: Vec<u64> = copies.iter().map(|copy| copy.bytes).collect();
        let capacity = array.capacity_bytes();
        let laid_out = bases(&sizes, capacity).map_err(|taken| {
            let name = copies.last().map_or("", |copy| copy.host.1);
            CommandError::new(format!(
                "{name}: the databases and logs on its array take {}, and the array \"{}\" holds \
                 {}; simulate more or larger disks{}",
                Bytes(taken),
                array.name,
                Bytes(capacity),
                way_out(sharing)
            ))
        })?;
        for (copy, (base, log)) in copies.iter().zip(laid_out) {
            let place = OperationPlace { array: number, base, bytes: copy.bytes };
            let log = OperationPlace { array: number, base: log, bytes: LOG_ROOM };
            self.places.insert((copy.host.0, copy.position), (place, log));
        }
        Ok(())
    }

    /// Places of the database and log of the copy at `position` on a host; `None` if it was given
    /// no space.
    pub(super) fn place(
        &self,
        host: usize,
        position: usize,
    ) -> Option<(OperationPlace, OperationPlace)> {
        self.places.get(&(host, position)).copied()
    }

    /// Returns the arrays that were assigned.
    pub(super) fn into_arrays(self) -> Vec<ArrayDescription> {
        self.arrays
    }
}

impl ShelvedCopy<'_> {
    /// Copies with the same key are on the same array.
    fn array_key(&self, sharing: Sharing) -> (usize, usize) {
        let host = self.host.0;
        match sharing {
            Sharing::All => (0, 0),
            Sharing::Host => (host, 0),
            Sharing::Folder => (host, self.volume),
            Sharing::Sets(each) => (host, self.position / each.max(1)),
        }
    }
}

/// What helps beside larger disks.
const fn way_out(sharing: Sharing) -> &'static str {
    match sharing {
        Sharing::All | Sharing::Host => ", or --each-folder",
        Sharing::Folder | Sharing::Sets(_) => "",
    }
}

/// Start offsets on an array of databases of these sizes and of their logs, laid out as level 2
/// does for one host: databases one after the other, each with room to grow if the array has it,
/// then the logs. If the array is too small, returns the bytes that they take.
fn bases(sizes: &[u64], capacity: u64) -> Result<Vec<(u64, u64)>, u64> {
    let logs = LOG_ROOM * sizes.len() as u64;
    let mut rooms: Vec<u64> =
        sizes.iter().map(|&bytes| room_of_database(bytes).next_multiple_of(MIB)).collect();
    if rooms.iter().sum::<u64>() + logs > capacity {
        rooms = sizes.iter().map(|bytes| bytes.next_multiple_of(MIB)).collect();
    }
    let taken = rooms.iter().sum::<u64>() + logs;
    if taken > capacity {
        return Err(taken);
    }
    let mut log = rooms.iter().sum();
    let mut base = 0;
    let laid_out = rooms.iter().map(|room| {
        let both = (base, log);
        (base, log) = (base + room, log + LOG_ROOM);
        both
    });
    Ok(laid_out.collect())
}

#[cfg(test)]
mod tests {
    use super::{LOG_ROOM, Sharing, ShelvedCopy, bases, way_out};

    const GIB: u64 = 1 << 30;

    #[test]
    fn databases_have_room_to_grow_and_their_logs_behind_all_of_them() {
        let laid_out = bases(&[400 * GIB, 800 * GIB], 4_000 * GIB);
        let logs = 1_500 * GIB;
        assert_eq!(laid_out, Ok(vec![(0, logs), (500 * GIB, logs + LOG_ROOM)]));
    }

    #[test]
    fn an_array_without_that_room_is_filled_without_gaps() {
        let tight = vec![(0, 800 * GIB), (400 * GIB, 816 * GIB)];
        assert_eq!(bases(&[400 * GIB; 2], 832 * GIB), Ok(tight));
        assert_eq!(bases(&[400 * GIB; 2], 832 * GIB - 1), Err(832 * GIB));
    }

    #[test]
    fn copies_on_one_volume_of_a_host_share_an_array() {
        let copy = |host, position, volume| {
            let copy = ShelvedCopy { host: (host, "EX01"), position, volume, bytes: GIB };
            copy.array_key(Sharing::Folder)
        };
        assert_eq!(copy(0, 0, 0), copy(0, 1, 0));
        assert!(copy(0, 0, 0) != copy(0, 1, 1) && copy(0, 0, 0) != copy(1, 0, 0));
    }

    #[test]
    fn a_flag_that_was_given_is_no_way_out() {
        assert!(way_out(Sharing::Host).contains("--each-folder"));
        assert_eq!((way_out(Sharing::Folder), way_out(Sharing::Sets(2))), ("", ""));
    }
}
