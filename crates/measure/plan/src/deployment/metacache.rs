//! SSDs next to the database disks: the document's settings for `MetaCache` databases.

use units::Bytes;

use crate::keys::Keys;
use crate::reader::TomlPlace;

/// SSDs of a server for `MetaCache` databases: copies of the databases' most-read data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetaCache {
    /// Capacity of one SSD as the vendor counts it; all SSDs are alike.
    pub ssd: Bytes,
    /// SSDs per server; `None` leaves it to the rules.
    pub ssds_per_server: Option<u32>,
    /// Minimum SSD capacity of a server, as a share of the capacity of its database disks.
    pub capacity: f64,
}

/// Default SSD for a document without further settings.
const USUAL_SSD: Bytes = Bytes(960_000_000_000);

/// The section `[metacache]`, which switches it on.
pub(super) fn metacache(root: &mut Keys<'_, '_>, place: &mut TomlPlace) -> Option<MetaCache> {
    let given = root.has("metacache");
    let mut keys = root.below("metacache");
    *place = keys.place("");
    if given && !keys.has("ssd_size") {
        let example = "`ssd_size = \"960GB\"`, the capacity of one SSD, to [metacache]";
        keys.missing("ssd_size", example);
    }
    let bounds = (Bytes(1_000_000_000), Bytes(1_000_000_000_000_000));
    let metacache = MetaCache {
        ssd: keys.size("ssd_size", USUAL_SSD, bounds),
        ssds_per_server: keys.count_or_auto("ssds_per_server", (1, 100)),
        capacity: keys.share("capacity_percent", 5.0, (1.0, 100.0)),
    };
    keys.finish();
    given.then_some(metacache)
}
