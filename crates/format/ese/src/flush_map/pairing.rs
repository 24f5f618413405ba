//! Pairs maps with database states. A map that belongs to another state would report sound pages as
//! lost, so it is trusted only if both files prove that they were closed together.

use std::fmt;

use units::Seed;

use super::{
    EXTENSION, FlushMap, FlushMapError, FlushMapHeader, MAP_PAGE_BYTES, PAGES_PER_MAP_PAGE,
};
use crate::header::DatabaseHeader;
use crate::log_time::LogTime;
use crate::signature::Signature;

/// Why a map is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapRefusal {
    /// The database names no map: it is in use, was not closed properly, or never had one.
    Unpaired,
    /// The database names a map but none exists.
    Missing,
    /// The map was not closed.
    NotClean,
    /// The map belongs to another database, or to another state of this one.
    Foreign,
    /// The file is damaged, or is not a map.
    Damaged(FlushMapError),
}

impl fmt::Display for MapRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unpaired => f.write_str("the database names no flush map"),
            Self::Missing => f.write_str("the flush map that the database names is missing"),
            Self::NotClean => f.write_str("the flush map was not closed properly"),
            Self::Foreign => {
                f.write_str("the flush map belongs to another database or another state of it")
            }
            Self::Damaged(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MapRefusal {}

/// The name of the map for a database file of this name.
pub fn file_name(database: &str) -> String {
    let stem = database.rsplit_once('.').map_or(database, |(stem, _)| stem);
    let name = format!("{stem}.{EXTENSION}");
    if name == database { format!("{database}.{EXTENSION}") } else { name }
}

/// Pages by which a map may exceed its database's needs: the real engine grows it ahead by up to
/// four of its longest writes, of 1 MiB at most (ESE `CfmpgGetPreferredFmDataPageCount_`).
const MOST_PAGES_AHEAD: u64 = 4 * (1 << 20) / MAP_PAGE_BYTES as u64;

/// Maximum length in bytes of the map of a database of `pages` pages; readers read no more.
pub fn longest_file(pages: u32) -> u64 {
    let needed = u64::from(pages / PAGES_PER_MAP_PAGE) + 2;
    (needed + MOST_PAGES_AHEAD) * MAP_PAGE_BYTES as u64
}

impl FlushMap {
    /// Decodes the map in `file`, if it belongs to the state that this header describes.
    pub fn believed(file: &[u8], database: &DatabaseHeader) -> Result<Self, MapRefusal> {
        if !names_a_map(database) {
            return Err(MapRefusal::Unpaired);
        }
        let (header, map) = Self::decode(file).map_err(MapRefusal::Damaged)?;
        if !header.is_clean {
            return Err(MapRefusal::NotClean);
        }
        // The real engine writes the two headers in turn, so that one signature is always ahead.
        let pairs = [
            (header.database_flush, database.header_flush_signature),
            (header.map_flush, database.flush_map_signature),
        ];
        let is_paired = pairs.iter().any(|(ours, theirs)| ours.is_some() && ours == theirs);
        is_paired.then_some(map).ok_or(MapRefusal::Foreign)
    }
}

/// Whether a database claims to have been closed together with a map. The other signature
/// identifies writes of its header, with a map or without.
pub fn names_a_map(database: &DatabaseHeader) -> bool {
    database.flush_map_signature.is_some()
}

impl FlushMapHeader {
    /// Pairs the header of a database being closed at `now` with its map: stores two new
    /// signatures, derived from `seed`, in it and returns the header of the map. The map must be
    /// durable before the database's header is written.
    pub fn pair(database: &mut DatabaseHeader, seed: Seed, now: LogTime) -> Self {
        database.header_flush_signature = new_signature(seed.derive(1), now);
        database.flush_map_signature = new_signature(seed.derive(2), now);
        Self {
            is_clean: true,
            created: database.signature.created,
            attached: database.attached_time,
            detached: now,
            database_flush: database.header_flush_signature,
            map_flush: database.flush_map_signature,
        }
    }
}

/// Removes the reference to the map from the header of a database before changes: from now on no
/// map is trusted, until the next one is written.
pub fn unpair(database: &mut DatabaseHeader) {
    database.header_flush_signature = Signature::default();
    database.flush_map_signature = Signature::default();
}

fn new_signature(seed: Seed, now: LogTime) -> Signature {
    let [a, b, c, d, ..] = seed.0.to_le_bytes();
    Signature::new(u32::from_le_bytes([a, b, c, d]).max(1), now)
}
