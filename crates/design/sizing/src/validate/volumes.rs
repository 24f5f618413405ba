//! Problems with a deployment's volumes and disks.

use units::{limit_beside, three_digits, three_digits_beside};

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
        let needed = work.shown(Key::VolumeTotalPerServer);
        let text = format!("a server needs {needed} volumes and has {given}");
        let remedy =
            format!("raise storage.volumes_per_server to {}, or add servers", write(total));
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
    let second = work.deployment.second_site.is_some();
    let sites = [
        (ServerKind::First, architecture.first, true),
        (ServerKind::Second, architecture.second, second),
    ];
    for (site, build, there) in sites {
        if build != Build::Jbod || !there {
            continue;
        }
        let (volume, disk) =
            (work.value(Key::VolumeDbVolumeGb), work.value(Key::DiskFormattedGb(site)));
        if volume > disk {
            let [volume, disk] = work.beside(Key::VolumeDbVolumeGb, Key::DiskFormattedGb(site));
            let text =
                format!("insufficient capacity: a volume needs {volume} and a disk has {disk}");
            let found = [remedy::larger_disks(work.deployment, fits)];
            let otherwise = "take larger disks, lower data.largest_database, or build RAID \
                             (storage.build)";
            let remedy = remedy::one_of(found, otherwise);
            work.find(Violation, Key::VolumeDbVolumeGb, text, remedy);
        }
        let needed = work.get(Key::IoDbIopsPerDb) * work.get(Key::VolumeDbsPerVolume);
        let needed = needed.round().value();
        let iops = work.value(Key::DiskRandomIops(site));
        if needed > iops {
            let text = format!(
                "insufficient I/O: a volume needs {} a second and a disk gives {}",
                three_digits_beside(needed, iops),
                limit_beside(needed, iops)
            );
            let remedy = of_slow_disk(work, needed, site);
            work.find(Violation, Key::IoDbIopsPerDb, text, remedy);
        }
    }
}

/// Whether a database volume fits on a disk of either site.
fn fits(sheet: &Sheet) -> bool {
    let volume = sheet.number(Key::VolumeDbVolumeGb).unwrap_or(f64::MAX);
    let disks = [ServerKind::First, ServerKind::Second].map(Key::DiskFormattedGb);
    disks.into_iter().filter_map(|key| sheet.number(key)).all(|disk| volume <= disk)
}

/// How many databases a disk can serve, or how fast one would have to be for all of them.
fn of_slow_disk(work: &Work<'_>, needed: f64, site: ServerKind) -> String {
    let each = work.value(Key::IoDbIopsPerDb);
    let answered = (work.value(Key::DiskRandomIops(site)) / each).floor();
    let faster = format!("disks of {} random requests a second", three_digits(needed));
    if answered < 1.0 || work.value(Key::VolumeDbsPerVolume) < 2.0 {
        return format!("{faster}, smaller databases (data.largest_database), or RAID");
    }
    format!(
        "{faster}, or no more than {} on a volume (storage.databases_equal_copies = false, or \
         storage.several_databases_per_volume = false), or RAID",
        write(answered)
    )
}
