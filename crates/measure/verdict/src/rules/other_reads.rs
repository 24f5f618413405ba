//! Whether other programs read from the measured devices: they share the devices' capacity.

use std::collections::BTreeMap;

use record::RunRecord;
use units::Bytes;

use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// File systems read their own tables; more than this share is another load.
const MOST_PERCENT: f64 = 10.0;

/// Fewer bytes than this are incidental.
const FEWEST_BYTES: u64 = 64 << 20;

/// The load's reads from a device, and the device's count.
#[derive(Default)]
struct Reads {
    requested_bytes: u64,
    device_bytes: u64,
    volumes: Vec<String>,
}

impl Reads {
    /// Bytes that others read; 0 if they are few.
    const fn of_others(&self) -> u64 {
        let bytes = self.device_bytes.saturating_sub(self.requested_bytes);
        if bytes < FEWEST_BYTES { 0 } else { bytes }
    }

    fn percent(&self) -> f64 {
        self.of_others() as f64 * 100.0 / self.device_bytes.max(1) as f64
    }
}

/// Warns if a device read much more than was requested here. No finding if the devices have no
/// counters.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let devices = by_device(run);
    let worst = devices.values().map(Reads::percent);
    let worst = worst.max_by(f64::total_cmp)?;
    let mut evidence = Vec::new();
    evidence.extend(devices.values().filter(|of| of.percent() > MOST_PERCENT).map(named));
    Some(Finding {
        rule: "other-reads",
        title: "Reads of other programs from the same devices",
        kind: Kind::Validity,
        outcome: if evidence.is_empty() { Ruling::Pass } else { Ruling::Warn },
        measured: Some(worst),
        limit: Some(Limit::AtMost(MOST_PERCENT)),
        unit: Unit::Percent,
        evidence,
    })
}

/// Volumes on one device share its counter.
fn by_device(run: &RunRecord) -> BTreeMap<&str, Reads> {
    let device_of: BTreeMap<&str, &str> = run
        .start
        .databases
        .iter()
        .flat_map(|database| [&database.volume, &database.log_volume])
        .map(|volume| (volume.mount.as_str(), volume.device.as_str()))
        .collect();
    let mut devices: BTreeMap<&str, Reads> = BTreeMap::new();
    for reads in &run.volume_reads {
        let volume = reads.volume.as_str();
        let device = device_of.get(volume).copied().unwrap_or(volume);
        let sum = devices.entry(device).or_default();
        sum.requested_bytes += reads.requested_bytes;
        sum.device_bytes = sum.device_bytes.max(reads.device_bytes);
        if !sum.volumes.contains(&reads.volume) {
            sum.volumes.push(reads.volume.clone());
        }
    }
    devices
}

fn named(reads: &Reads) -> Evidence {
    Evidence::of_run(format!(
        "{}: others read {} of the {} that the device counted: end other programs, or look for \
         what the file system reads for itself",
        reads.volumes.join(", "),
        Bytes(reads.of_others()),
        Bytes(reads.device_bytes)
    ))
}
