//! Problems with a deployment's volumes and disks.

use std::borrow::Cow;

use units::{counted, limit_beside, three_digits_beside};

use crate::architecture::Architecture;
use crate::decision::{Build, Decision, QueuePlace};
use crate::finding::Severity::{Remark, Violation, Warning};
use crate::key::{Key, ServerKind};
use crate::number::write;
use crate::remedy;
use crate::sheet::Sheet;
use crate::work::Work;

/// GB above which a volume needs a GPT partition table. Source: S-W76.
const LARGE_VOLUME_GB: f64 = 2048.0;

/// Most volumes of a server that a document may give.
const MOST_VOLUMES: f64 = 100.0;

/// Checks the number of volumes, the system disk, and disks without redundancy.
pub(super) fn judge(work: &mut Work<'_>, architecture: Architecture) {
    counts(work);
    system_disk(work);
    single_disks(work, architecture);
}

fn counts(work: &mut Work<'_>) {
    let total = work.value(Key::VolumeTotalPerServer);
    let given = work.deployment.storage.volumes_per_server;
    if let Some(given) = given.filter(|given| f64::from(*given) < total) {
        let needed = counted(&work.shown(Key::VolumeTotalPerServer), "volume");
        let text = format!("a server needs {needed} and has {given}");
        // The workbook counts fractions of volumes; the document takes whole ones.
        let enough = (total - 1e-9).ceil();
        let remedy = if enough <= MOST_VOLUMES {
            let enough = write(enough);
            format!("more volumes (storage.volumes_per_server = {enough}), or more servers")
        } else {
            "more servers, or fewer and larger databases".to_owned()
        };
        work.find(Violation, Key::VolumeTotalPerServer, text, remedy);
    }
    let size = work.value(Key::VolumeDbVolumeGb);
    if size > LARGE_VOLUME_GB {
        let size = work.shown(Key::VolumeDbVolumeGb);
        let text = format!("a volume of {size} needs a GUID partition table");
        work.find(Remark, Key::VolumeDbVolumeGb, text, "the scripts make one");
    }
}

/// The queue database shares the disk of the system, and may be larger than it.
fn system_disk(work: &mut Work<'_>) {
    let least = work.shown(Key::DiskSystemLeastGb);
    let said = format!(
        "the queue database takes up to {} of the system disk, {} with the system",
        work.shown(Key::TransportDbGbPerServer),
        work.shown(Key::DiskSystemNeededGb)
    );
    let own_disks = Decision::Queue(QueuePlace::OwnDisks);
    if work.sheet.decision(Key::TransportLocation) == Some(own_disks) {
        let text = format!("{said}, and the disk is one of {}", work.shown(Key::DiskSystemRawGb));
        let remedy = format!(
            "plan a mirrored pair of disks for it, or a system disk of {least} \
             ([disks] system), or lower transport.safety_net"
        );
        work.find(Warning, Key::TransportLocation, text, remedy);
    } else if !work.deployment.storage.first.system_is_given {
        let text =
            format!("{said}; no system disk is given, so one like the databases' is assumed");
        let remedy = format!(
            "give `system` in [disks]: a mirrored pair of {least} or more each, or lower \
             transport.safety_net"
        );
        work.find(Warning, Key::DiskSystemNeededGb, text, remedy);
    }
}

/// Single disks carry one volume each.
fn single_disks(work: &mut Work<'_>, architecture: Architecture) {
    let mut sites = Vec::new();
    if architecture.first == Build::Jbod {
        sites.push(ServerKind::First);
    }
    if architecture.second == Build::Jbod && work.deployment.second_site.is_some() {
        sites.push(ServerKind::Second);
    }
    if let Some(text) = in_sites(work, "insufficient capacity", &sites, missing_capacity) {
        let remedy = of_small_disks(work, &sites);
        work.find(Violation, Key::VolumeDbVolumeGb, text, remedy);
    }
    if let Some(text) = in_sites(work, "insufficient I/O", &sites, missing_io) {
        let remedy = of_slow_disks(work, &sites);
        work.find(Violation, Key::IoDbIopsPerDb, text, remedy);
    }
}

/// One sentence for the sites in which `missing` finds something; it names them if there are two.
fn in_sites(
    work: &Work<'_>,
    problem: &str,
    sites: &[ServerKind],
    missing: impl Fn(&Work<'_>, ServerKind) -> Option<String>,
) -> Option<String> {
    let found: Vec<(ServerKind, String)> =
        sites.iter().filter_map(|&site| Some((site, missing(work, site)?))).collect();
    match &found[..] {
        [] => None,
        [(_, text)] if work.deployment.second_site.is_none() => Some(format!("{problem}: {text}")),
        [(site, text)] => Some(format!("{problem} in the {} site: {text}", named(*site))),
        [(_, text), (_, other)] if text == other => {
            Some(format!("{problem} in both sites: {text}"))
        }
        [(first, text), (second, other), ..] => Some(format!(
            "{problem} in the {} site: {text}; in the {} site: {other}",
            named(*first),
            named(*second)
        )),
    }
}

const fn named(site: ServerKind) -> &'static str {
    if matches!(site, ServerKind::Second) { "second" } else { "first" }
}

fn missing_capacity(work: &Work<'_>, site: ServerKind) -> Option<String> {
    let disk = Key::DiskFormattedGb(site);
    (work.value(Key::VolumeDbVolumeGb) > work.value(disk)).then(|| {
        let [volume, disk] = work.beside(Key::VolumeDbVolumeGb, disk);
        format!("a volume needs {volume} and a disk has {disk}")
    })
}

fn missing_io(work: &Work<'_>, site: ServerKind) -> Option<String> {
    let needed = needed_iops(&work.sheet, work.deployment.is_compatible());
    let iops = work.value(Key::DiskRandomIops(site));
    (needed > iops).then(|| {
        format!(
            "a volume needs {} a second and a disk gives {}",
            three_digits_beside(needed, iops),
            limit_beside(needed, iops)
        )
    })
}

/// Random requests per second of a volume. The workbook rounds them to the nearest whole number,
/// which hides up to half a request; corrected mode forgives only rounding error.
fn needed_iops(sheet: &Sheet, is_compatible: bool) -> f64 {
    let each = sheet.find_or_0(Key::IoDbIopsPerDb) * sheet.find_or_0(Key::VolumeDbsPerVolume);
    if is_compatible { each.round().value() } else { each.value() - 1e-9 }
}

/// Whether the single disks of `sites` hold a volume each.
fn holds(sheet: &Sheet, sites: &[ServerKind]) -> bool {
    let volume = sheet.number(Key::VolumeDbVolumeGb).unwrap_or(f64::MAX);
    gives(sheet, sites, (Key::DiskFormattedGb, volume))
}

/// Whether the single disks of `sites` serve a volume each.
fn serves(sheet: &Sheet, sites: &[ServerKind], is_compatible: bool) -> bool {
    gives(sheet, sites, (Key::DiskRandomIops, needed_iops(sheet, is_compatible)))
}

/// Whether each of those of `sites` that have single disks has as much of a number as is needed.
fn gives(
    sheet: &Sheet,
    sites: &[ServerKind],
    (key, needed): (impl Fn(ServerKind) -> Key, f64),
) -> bool {
    let jbod = Some(Decision::Build(Build::Jbod));
    sites
        .iter()
        .filter(|site| sheet.decision(Key::DiskArchitecture(**site)) == jbod)
        .all(|site| sheet.number(key(*site)).is_some_and(|has| needed <= has))
}

/// The remedy for disks of `sites` that are too small for their volumes.
fn of_small_disks(work: &Work<'_>, sites: &[ServerKind]) -> Cow<'static, str> {
    let deployment = work.deployment;
    let found = [
        remedy::larger_disks(deployment, |sheet| holds(sheet, sites)),
        remedy::fewer_on_a_volume(deployment, |sheet| holds(sheet, sites)),
        remedy::more_databases(deployment, &work.sheet, |sheet| holds(sheet, sites)),
        remedy::more_servers(deployment, |sheet| holds(sheet, sites)),
        remedy::groups_of_disks(deployment, |sheet| holds(sheet, sites)),
    ];
    let found = remedy::or_fewer_mailboxes(found, deployment, |sheet| holds(sheet, sites));
    remedy::one_of(found, "smaller mailboxes, or more servers and databases")
}

/// The remedy for disks of `sites` that are too slow for their volumes.
fn of_slow_disks(work: &Work<'_>, sites: &[ServerKind]) -> Cow<'static, str> {
    let deployment = work.deployment;
    let is_compatible = deployment.is_compatible();
    let found = [
        remedy::faster_disks(deployment, |sheet| serves(sheet, sites, is_compatible)),
        remedy::fewer_on_a_volume(deployment, |sheet| serves(sheet, sites, is_compatible)),
        remedy::groups_of_disks(deployment, |sheet| serves(sheet, sites, is_compatible)),
    ];
    let found =
        remedy::or_fewer_mailboxes(found, deployment, |sheet| serves(sheet, sites, is_compatible));
    remedy::one_of(found, "faster disks, or more servers and databases")
}
