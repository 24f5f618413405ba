//! Results of an array's wizard for an example, under flat names.

use std::collections::BTreeMap;

use crate::array::VNXE3300;
use crate::{Requirements, provision};
use plan::Deployment;
use serde_json::Value as Json;
use sizing::Sizing;
use units::Bytes;

fn gb(size: Bytes) -> f64 {
    size.as_mib_f64() / 1024.0
}

/// The values by key; empty if the example names no array.
pub(crate) fn values(
    inputs: &BTreeMap<String, Json>,
    deployment: &Deployment,
    sizing: &Sizing,
) -> BTreeMap<String, f64> {
    if !inputs.contains_key("array") {
        return BTreeMap::new();
    }
    let needs = Requirements::of(deployment, &sizing.sheet, sizing.architecture).unwrap();
    let made = provision(needs.on_array(&VNXE3300).unwrap()).unwrap();
    let capacity = made.capacity(&made.groups[0].servers[0]).unwrap();
    let mut values = BTreeMap::from([
        ("database_volume_tb", gb(made.needs.database_volume) / 1024.0),
        ("log_volume_gb", gb(made.needs.log_volume.unwrap())),
        ("databases_gb", gb(capacity.databases)),
        ("databases_by_volumes", capacity.share_of_volumes()),
        ("databases_by_raw", capacity.share_of_raw()),
        ("raw_gb", capacity.raw.0 as f64 / 1e9),
        ("formatted_gb", gb(capacity.formatted)),
        ("formatted_by_raw", capacity.formatted_share()),
    ]);
    for (name, mib) in [
        ("mailboxes_of_0.5_gb", 512),
        ("mailboxes_of_1_gb", 1024),
        ("mailboxes_of_1.5_gb", 1536),
        ("mailboxes_of_2_gb", 2048),
        ("mailboxes_of_3_gb", 3072),
    ] {
        let count = made.mailboxes_of(Bytes::from_mib(mib));
        values.insert(name, count as f64);
    }
    let named = |(name, value)| (format!("array.{name}"), value);
    values.into_iter().map(named).collect()
}
