//! Problems with a deployment's volumes and disks.

use units::{counted, limit_beside, three_digits_beside};

use crate::architecture::Architecture;
use crate::decision::{Build, Decision, QueuePlace};
use crate::finding::Severity::{Remark, Violation, Warning};
use crate::key::{Key, ServerKind};
use crate::remedy;
use crate::sheet::Sheet;
use crate::work::Work;

/// GB above which a volume needs a GPT partition table. Source: S-W76.
const LARGE_VOLUME_GB: f64 = 2048.0;

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
        let found = [remedy::more_volumes, remedy::more_servers, remedy::more_groups];
        let otherwise = "more servers, and fewer and larger databases";
        let remedy = remedy::one_of(work, Key::VolumeTotalPerServer, &found, otherwise);
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
    if !work.deployment.storage.first.system_is_given {
        let text =
            format!("{said}; no system disk is given, so one like the databases' is assumed");
        let remedy = format!("give `system` in [disks]: a mirrored pair of {least} or more each");
        work.find(Warning, Key::DiskSystemNeededGb, text, remedy);
    } else if work.sheet.decision(Key::TransportLocation)
        == Some(Decision::Queue(QueuePlace::OwnDisks))
    {
        let text = format!("{said}, and the disk is one of {}", work.shown(Key::DiskSystemRawGb));
        let shorter = remedy::shorter_safety_net(work, Key::TransportLocation);
        let remedy = format!(
            "plan a mirrored pair of disks for it, or a system disk of {least} \
             ([disks] system){}",
            shorter.map_or_else(String::new, |of| format!(", or {of}"))
        );
        work.find(Warning, Key::TransportLocation, text, remedy);
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
        let found = [
            remedy::larger_disks,
            remedy::fewer_on_a_volume,
            remedy::more_databases,
            remedy::more_servers,
            remedy::groups_of_disks,
        ];
        let otherwise = "smaller mailboxes, and more servers and databases";
        let remedy = remedy::one_of(work, Key::VolumeDbVolumeGb, &found, otherwise);
        work.find(Violation, Key::VolumeDbVolumeGb, text, remedy);
    }
    if let Some(text) = in_sites(work, "insufficient I/O", &sites, missing_io) {
        let found = [remedy::faster_disks, remedy::fewer_on_a_volume, remedy::groups_of_disks];
        let otherwise = "faster disks, and more servers and databases";
        let remedy = remedy::one_of(work, Key::IoDbIopsPerDb, &found, otherwise);
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
