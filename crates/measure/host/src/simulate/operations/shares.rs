//! How an array is shared by the places of databases and logs.

use std::collections::BTreeMap;

use plan::Database;
use simdisk::operations::OperationPlace;
use units::Bytes;

use super::super::storage::{LOG_ROOM, SimulatedStorage};
use crate::error::HostError;

/// The shares of arrays that the places of databases and logs have, and how full they are.
pub(super) struct ArrayShares<'a> {
    shares: BTreeMap<&'a str, OperationPlace>,
    taken: BTreeMap<&'a str, u64>,
}

impl<'a> ArrayShares<'a> {
    /// Each place has an array or an equal share of the one array. If one needs more than an equal
    /// share, each has what it needs and its part of the rest.
    pub(super) fn of(storage: &SimulatedStorage, size: u64, databases: &[&'a Database]) -> Self {
        let capacity = storage.array.capacity_bytes();
        let mut needs: BTreeMap<&str, u64> = BTreeMap::new();
        for database in databases {
            let [own, log] = SimulatedStorage::places_of(database);
            *needs.entry(own).or_default() += size;
            *needs.entry(log).or_default() += LOG_ROOM;
        }
        let shares = if storage.is_each_folder {
            (0..)
                .zip(needs.keys())
                .map(|(array, place)| (*place, OperationPlace { array, base: 0, bytes: capacity }))
                .collect()
        } else {
            let lengths = lengths(capacity, &needs.values().copied().collect::<Vec<_>>());
            let bases = lengths.iter().scan(0, |next, length| {
                *next += length;
                Some(*next - length)
            });
            let cut = bases.zip(&lengths);
            let cut = cut.map(|(base, &bytes)| OperationPlace { array: 0, base, bytes });
            needs.keys().copied().zip(cut).collect()
        };
        Self { shares, taken: BTreeMap::new() }
    }

    /// Bytes of a place.
    pub(super) fn length(&self, place: &str) -> u64 {
        self.shares[place].bytes
    }

    /// Takes `bytes` of a place; returns how many are taken by then.
    pub(super) fn take(&mut self, place: &'a str, bytes: u64) -> u64 {
        let taken = self.taken.entry(place).or_default();
        *taken += bytes;
        *taken
    }

    /// Takes `bytes` of a place's share.
    pub(super) fn placed(
        &mut self,
        place: &'a str,
        bytes: u64,
    ) -> Result<OperationPlace, HostError> {
        let after = self.take(place, bytes);
        let share = self.shares[place];
        if after > share.bytes {
            let room = Bytes(share.bytes);
            return Err(HostError::new(format!(
                "{place}: databases and logs of the plan take more than its share of the array, \
                 which is {room}; simulate more or larger disks, or smaller databases"
            )));
        }
        Ok(OperationPlace { base: share.base + after - bytes, bytes, ..share })
    }
}

/// Lengths of the shares of `capacity` for places with these needs.
fn lengths(capacity: u64, needs: &[u64]) -> Vec<u64> {
    let equal = capacity / (needs.len() as u64).max(1);
    let total: u64 = needs.iter().sum();
    if total > capacity || needs.iter().all(|need| *need <= equal) {
        return vec![equal; needs.len()];
    }
    let spare = (capacity - total) / needs.len() as u64;
    needs.iter().map(|need| need + spare).collect()
}

#[cfg(test)]
mod tests {
    use super::lengths;

    #[test]
    fn places_share_an_array_equally_unless_one_needs_more() {
        assert_eq!(lengths(100, &[40, 10]), [50, 50]);
        assert_eq!(lengths(100, &[70, 10]), [80, 20], "what is left is dealt out");
        assert_eq!(lengths(100, &[90, 20]), [50, 50], "no division helps");
        assert_eq!(lengths(100, &[]), Vec::<u64>::new());
    }
}
