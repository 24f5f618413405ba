//! SSDs beside the disks of the databases: what a document says of `MetaCache` databases, and when
//! there can be any.

use units::Bytes;

use super::model::Deployment;
use crate::complaint::{Complaint, Problem};
use crate::keys::Keys;
use crate::reader::TomlPlace;

/// SSDs of a server that hold `MetaCache` databases: copies of what is read most in the databases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetaCache {
    /// Capacity of one SSD as the vendor counts it; all SSDs are alike.
    pub ssd: Bytes,
    /// SSDs of each server; none leaves it to the rules.
    pub ssds_per_server: Option<u32>,
    /// Least capacity of a server's SSDs, as a share of the capacity of its databases' disks.
    pub capacity: f64,
}

/// What a document starts with that says nothing else.
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

/// Says why the deployment can have none. Source: S-MCDB.
pub(super) fn refusal(deployment: &Deployment, place: &TomlPlace) -> Option<Complaint> {
    deployment.metacache?;
    let product = &deployment.product;
    let message = if !product.has_metacache() {
        format!(
            "{} has no MetaCache databases; give `product = \"2019\"` or `product = \"SE\"`, or \
             remove the section",
            product.name
        )
    } else if !deployment.has_copies() {
        "MetaCache databases need a database availability group; give `copies = 2` or more in \
         [availability], or remove the section"
            .to_owned()
    } else {
        return None;
    };
    Some(place.complaint(Problem::Conflict { message }))
}
