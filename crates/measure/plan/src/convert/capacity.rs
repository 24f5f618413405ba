//! Sizes databases as a share of the volumes they are on, like Jetstress' test of disk subsystem
//! throughput.

use std::collections::BTreeMap;

use units::Bytes;

use super::{Check, LARGEST_FILE, MOST_PAGES, SMALLEST_FILE};
use crate::low;
use crate::model::Database;
use crate::quantity::write_size;
use crate::reader::Given;

/// How much a file may grow, in percent of its initial size, within its share of the volume:
/// Jetstress' `DatabaseSpaceReserved`, which makes files of 80 GB on a volume of 100 GB.
const RESERVED_PERCENT: u64 = 25;

/// The volume that holds a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeSize {
    /// Its name, the same for every folder on it.
    pub volume: String,
    /// All of its bytes, used ones included.
    pub total: Bytes,
}

/// Finds the volume of a folder, or returns why it cannot be found.
pub(crate) type VolumeOf = fn(&str) -> Result<VolumeSize, String>;

/// Database sizing as given in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizing {
    /// Size of each database.
    pub size: Bytes,
    /// Share of a volume, if sized that way.
    pub capacity_percent: Option<u32>,
}

/// A volume with databases on it.
struct SharedVolume {
    name: String,
    total: Bytes,
    databases: u64,
}

/// Size of each of `databases` databases on a volume of `total` bytes that may fill `percent` of
/// it, in whole MiB.
fn share_of(total: Bytes, percent: u32, databases: u64) -> Bytes {
    let first = u128::from(total.0) * u128::from(percent) / u128::from(100 + RESERVED_PERCENT);
    let each = u64::try_from(first).unwrap_or(u64::MAX) / databases;
    Bytes(each >> 20 << 20)
}

impl Check<'_> {
    /// The given size, or the one derived from a share of the volumes.
    pub(super) fn sizing(
        &mut self,
        section: &low::Databases,
        databases: Option<&[Database]>,
        page_size: Bytes,
        volume_of: Option<VolumeOf>,
    ) -> Option<Sizing> {
        // The limit on page numbers is rounded down to a whole GiB.
        let most = LARGEST_FILE.min(Bytes((MOST_PAGES * page_size.0) >> 30 << 30));
        let percent = section.capacity_percent.as_ref().map(|given| {
            let percent = self.number(Some(given), 100, (1, 100));
            Given { value: percent, place: given.place.clone() }
        });
        match (&section.size, percent, volume_of) {
            (Some(_), Some(percent), Some(_)) => {
                let message = "says the size of the databases, and so does `size`; remove one";
                self.conflict(&percent.place, message);
                None
            }
            (Some(size), percent, _) => {
                let size = self.within(Some(size), SMALLEST_FILE, (SMALLEST_FILE, most));
                Some(Sizing { size, capacity_percent: percent.map(|given| given.value) })
            }
            (None, Some(percent), Some(volume_of)) => {
                let volumes = self.shared_volumes(databases?, &percent, volume_of)?;
                let size = self.size_of_share(&volumes, &percent, most)?;
                Some(Sizing { size, capacity_percent: Some(percent.value) })
            }
            (None, Some(percent), None) => {
                let message = "is a share of volumes, which are not looked at here; give `size`";
                self.conflict(&percent.place, message);
                None
            }
            (None, None, _) => {
                let example = "`size = \"10GiB\"`, the size of each database, to [databases]";
                self.missing(&section.place, "size", example);
                None
            }
        }
    }

    /// The volumes that hold databases.
    fn shared_volumes(
        &mut self,
        databases: &[Database],
        percent: &Given<u32>,
        volume_of: VolumeOf,
    ) -> Option<Vec<SharedVolume>> {
        let mut volumes: BTreeMap<String, SharedVolume> = BTreeMap::new();
        for database in databases {
            match volume_of(&database.folder) {
                Ok(VolumeSize { volume, total }) => {
                    let name = volume.clone();
                    let shared = SharedVolume { name, total, databases: 0 };
                    volumes.entry(volume).or_insert(shared).databases += 1;
                }
                Err(why) => {
                    self.conflict(&percent.place, why);
                    return None;
                }
            }
        }
        Some(volumes.into_values().collect())
    }

    /// All databases have the same size, so the volume with the least space per database decides.
    fn size_of_share(
        &mut self,
        volumes: &[SharedVolume],
        percent: &Given<u32>,
        most: Bytes,
    ) -> Option<Bytes> {
        let sizes = volumes.iter().map(|of| (share_of(of.total, percent.value, of.databases), of));
        let (size, volume) = sizes.min_by_key(|(size, _)| *size)?;
        let (wrong, remedy) = if size < SMALLEST_FILE {
            (format!("at least {}", write_size(SMALLEST_FILE)), "raise it, or give `size`")
        } else if size > most {
            (format!("at most {}", write_size(most)), "raise `count`, or give `size`")
        } else {
            return Some(size);
        };
        let message = format!(
            "comes to databases of {} on {} ({}); they have {wrong}: {remedy}",
            write_size(size),
            volume.name,
            volume.total,
        );
        self.conflict(&percent.place, message);
        None
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::share_of;

    #[test]
    fn a_fifth_of_the_share_is_left_for_growth() {
        // As published: a 100 GB volume at 100 percent, with one database and with two.
        assert_eq!(share_of(Bytes::from_gib(100), 100, 1), Bytes::from_gib(80));
        assert_eq!(share_of(Bytes::from_gib(100), 50, 2), Bytes::from_gib(20));
        assert_eq!(share_of(Bytes::from_mib(101), 100, 1), Bytes::from_mib(80));
    }
}
