//! Judges a controller's settings for mail stores. Sources: Microsoft's page on storage options for
//! Exchange (disks attached directly: a protected cache, 75 to 100 % of it for writes; strips of
//! 256 KiB or more; caches of disks off; RAID 5 of at most seven disks), and the practice of giving
//! all of the cache to writes. The value of a write cache is from a published test of one disk: 300
//! IOPS with the cache and 50 without, a file of 40 GB in 8 minutes and in 4 hours.
//!
//! No rule passes if its fact is missing, contradictory or in words that are not understood.
//! `KnownFact::judge` ensures this for the last two cases.

mod cache;
mod command;
mod drive;
mod evidence;
mod state;

use record::StorageFinding;

use super::{Controller, DiskCaches, Tool};
use crate::StoragePlace;
use crate::draft::{FindingDraft, mended_by};
pub use evidence::{leaves_open, not_understood};

/// Findings on a controller and its logical drives, good and bad.
pub fn of_controller(controller: &Controller) -> Vec<StorageFinding> {
    let mut findings = match controller.tool {
        Tool::Nvme => of_nvme(controller),
        Tool::Mdadm => state::of_controller(controller),
        _ => of_cache(controller),
    };
    for drive in &controller.drives {
        let subject = controller.name_of(drive);
        if controller.tool != Tool::Mdadm {
            findings.push(cache::writes(controller, drive, &subject));
            findings.extend(cache::reads_ahead(controller, drive, &subject));
        }
        findings.push(drive::disk_caches(controller, drive, &subject));
        findings.extend(drive::strip(controller, drive, &subject));
        findings.extend(drive::level(drive, &subject));
        findings.push(drive::state(drive, &subject));
        findings.extend(drive::members(drive, &subject));
    }
    findings.extend(drive::each_disk(controller));
    findings.extend(drive::states_of_disks(controller));
    findings.extend(evidence::of_controller(controller));
    if !controller.gaps.is_empty() {
        findings.iter_mut().for_each(evidence::doubt);
    }
    findings
}

fn of_cache(controller: &Controller) -> Vec<StorageFinding> {
    if controller.is_of_disks_only() {
        return Vec::new();
    }
    let mut findings = vec![mode(controller), cache::backup(controller)];
    findings.extend(cache::without_backup(controller));
    findings.extend(cache::read_share(controller));
    findings.extend(state::of_controller(controller));
    findings
}

fn mode(controller: &Controller) -> StorageFinding {
    let draft =
        FindingDraft::new(("controller-mode", "Disks behind the controller"), controller.name());
    controller.passes_disks_through.judge(|through| match through {
        Some(true) => mended_by(
            draft
                .clone()
                .fail("handed through (HBA mode)", "every write waits for a disk: no cache helps"),
            "make each disk a RAID 0 of its own behind the cache, before there is data on it; \
             handing through is right for Storage Spaces only",
        ),
        _ if controller.drives.is_empty() => draft.clone().unknown(
            "no logical drive is described",
            "disks that are handed through have no cache, and this output lists none that is not",
        ),
        _ => draft.clone().pass("logical drives", "the controller's cache serves them"),
    })
}

/// A flash device: its own cache and its health.
fn of_nvme(controller: &Controller) -> Vec<StorageFinding> {
    let mut findings = state::of_controller(controller);
    if controller.disk_caches.is_told() || findings.is_empty() {
        findings.push(nvme_cache(controller));
    }
    findings
}

fn nvme_cache(controller: &Controller) -> StorageFinding {
    let draft = FindingDraft::new(
        ("device-cache", "Volatile write cache of the device"),
        controller.name(),
    );
    let device = controller.id.as_deref().unwrap_or("nvmeN");
    controller.disk_caches.judge(|cache| match cache {
        Some(DiskCaches::Off) => {
            draft.clone().pass("none, or off", "what it has acknowledged survives a power failure")
        }
        Some(DiskCaches::On) => draft
            .clone()
            .warn("on", "it loses its content with power: each durable write waits for a flush"),
        Some(DiskCaches::LeftToDisks) => mended_by(
            draft.clone().unknown("present", "this output does not say whether it is on"),
            format!("nvme get-feature /dev/{device} -f 6 -H"),
        ),
        None => mended_by(
            draft.clone().unknown("not told", "this output does not describe it"),
            format!("nvme id-ctrl /dev/{device}"),
        ),
    })
}

/// Parts of the models under which controllers show their logical drives.
const MODELS: [&str; 10] = [
    "AVAGO",
    "Adaptec",
    "BROADCOM",
    "DELL PERC",
    "HPE LOGICAL VOLUME",
    "HP LOGICAL VOLUME",
    "LSI MR",
    "MegaRAID",
    "PRAID",
    "ServeRAID",
];

/// Finding on an installed tool whose output is missing; `why` is the reason.
pub fn silent(tool: &str, why: &str) -> StorageFinding {
    let draft = FindingDraft::new(("controller-tool", "Tool of the controller"), tool);
    mended_by(
        draft.unknown(why, "what the controller does with writes decides log latency"),
        "run as root, or pass a saved output with --controller FILE",
    )
}

/// Finding on disks of a controller that no tool has reported.
pub fn untold(places: &[StoragePlace<'_>], is_told: bool) -> Option<StorageFinding> {
    if is_told {
        return None;
    }
    let devices = places.iter().flat_map(|place| place.devices);
    let (device, model) = devices
        .filter_map(|device| Some((device, device.facts.model.as_deref()?)))
        .find(|(_, model)| MODELS.iter().any(|part| model.contains(part)))?;
    let draft =
        FindingDraft::new(("controller-tool", "Tool of the controller"), &device.facts.name);
    Some(mended_by(
        draft.unknown(
            format!("{model}, a drive of a RAID controller"),
            "no tool of its maker is installed: its cache, battery and strips are not known",
        ),
        "install its tool, or pass a saved output of storcli, ssacli or arcconf: --controller FILE",
    ))
}

#[cfg(test)]
mod tests;
