//! The write cache of a device in two views that may differ: the device's own report and the
//! kernel's belief. The kernel flushes according to its belief, so a disk with a cache unknown to
//! the kernel loses acknowledged mail.

use device_os::probe::{BlockDevice, Makeup, OwnCache, Platform, Transport};
use record::StorageFinding;

use crate::draft::{FindingDraft, mended_by};

/// Judges the cache of a device. Only devices that are not composed of others have caches.
pub(super) fn findings(device: &BlockDevice) -> Vec<StorageFinding> {
    if device.makeup != Makeup::Plain {
        return Vec::new();
    }
    let mut findings = vec![write_cache(device)];
    findings.extend(contradiction(device));
    findings
}

fn write_cache(device: &BlockDevice) -> StorageFinding {
    let draft = FindingDraft::new(("write-cache", "Write cache of the device"), &device.facts.name);
    let kernel = device.facts.volatile_cache;
    let is_flash = device.facts.rotational == Some(false) || is_nvme(device);
    match (&device.own_cache, kernel) {
        (OwnCache::Off(source), _) => {
            draft.pass(format!("off ({source})"), "what it has acknowledged is on the medium")
        }
        (OwnCache::On(source), _) if is_behind_a_network(device) => mended_by(
            draft.unknown(
                format!("on ({source})"),
                "an array's cache is wanted where power cannot empty it; whether a battery keeps \
                 this one, the target does not tell",
            ),
            ASK_THE_ARRAY,
        ),
        (OwnCache::On(source), _) if is_flash => draft.warn(
            format!("on ({source})"),
            "it loses its content with power: each durable write waits for a flush, and a disk \
             that answers flushes early loses mail",
        ),
        (OwnCache::On(source), _) => mended_by(
            draft.fail(
                format!("on ({source})"),
                "it loses its content with power; a mail store wants it off, and a protected \
                 cache before it",
            ),
            turn_off(device),
        ),
        (OwnCache::Untold(why), Some(true)) => draft.unknown(
            format!("write back according to the kernel; {why}"),
            "flushes are sent; whether a battery or flash protects the cache is unknown",
        ),
        (OwnCache::Untold(why), Some(false)) => draft.unknown(
            format!("write through according to the kernel; {why}"),
            "nothing is flushed: a cache that the device does not report would lose mail",
        ),
        (OwnCache::Untold(why), None) => {
            draft.unknown(format!("unknown; {why}"), "no source reports it")
        }
    }
}

fn is_nvme(device: &BlockDevice) -> bool {
    device.transport == Some(Transport::Nvme)
}

/// Whether an array may be behind the device: unlike a disk's, its cache may survive a power
/// failure.
fn is_behind_a_network(device: &BlockDevice) -> bool {
    device.is_unattached
        || matches!(device.transport, Some(Transport::Iscsi | Transport::FibreChannel))
}

/// Where to check whether the cache may stay on, and the setting to change if not.
const ASK_THE_ARRAY: &str = "see at the target whether power empties its cache; if so, turn it off \
                             there (tgt: write-cache off; LIO: emulate_write_cache=0; arrays: \
                             write through)";

fn turn_off(device: &BlockDevice) -> String {
    let name = &device.facts.name;
    if device.kernel == Platform::Windows {
        return in_policies(name, "Enable write caching on the device");
    }
    match device.transport {
        Some(Transport::Ata) => format!("hdparm -W 0 /dev/{name}"),
        Some(Transport::Nvme) => format!("nvme set-feature /dev/{name} -f 6 -v 0"),
        _ => format!("sdparm --clear=WCE --save /dev/{name}"),
    }
}

/// Location of the cache policy of a disk in Windows.
fn in_policies(name: &str, choice: &str) -> String {
    format!("Device Manager, the disk that is {name}, tab Policies: clear \"{choice}\"")
}

/// Compares the administrator's setting in Windows with the device's report: if the setting claims
/// that the cache has power protection, Windows answers flushes in the device's place.
fn told_protected(device: &BlockDevice, source: &str) -> StorageFinding {
    let draft =
        FindingDraft::new(("cache-views", "Kernel and device on the cache"), &device.facts.name);
    let seen = format!("Windows was told that the cache is protected; it is on ({source})");
    let reason = "no flush is sent: without a battery behind it, power takes acknowledged mail";
    // Behind a controller or a network the cache may well have a battery; in a disk it has none.
    let may_be_true = matches!(
        device.transport,
        Some(Transport::Sas | Transport::FibreChannel | Transport::Iscsi)
    );
    let finding = if may_be_true { draft.warn(seen, reason) } else { draft.fail(seen, reason) };
    let choice = "Turn off Windows write-cache buffer flushing on the device";
    mended_by(finding, in_policies(&device.facts.name, choice))
}

/// Compares the kernel's belief with the device's report.
fn contradiction(device: &BlockDevice) -> Option<StorageFinding> {
    let draft =
        FindingDraft::new(("cache-views", "Kernel and device on the cache"), &device.facts.name);
    let name = &device.facts.name;
    match (&device.own_cache, device.facts.volatile_cache?) {
        (OwnCache::On(source), false) if device.kernel == Platform::Windows => {
            Some(told_protected(device, source))
        }
        (OwnCache::On(source), false) => Some(mended_by(
            draft.fail(
                format!("the kernel says write through, the device says on ({source})"),
                "the kernel sends no flush: power takes acknowledged mail",
            ),
            format!("echo \"write back\" > /sys/block/{name}/queue/write_cache"),
        )),
        (OwnCache::Off(_), true) if is_nvme(device) => Some(draft.warn(
            "the kernel says write back, the device says off",
            "the kernel goes by what an NVMe disk can do: flushes are sent for nothing",
        )),
        (OwnCache::Off(source), true) => Some(mended_by(
            draft.warn(
                format!("the kernel says write back, the device says off ({source})"),
                "the kernel was told so: flushes are sent for nothing",
            ),
            format!("echo \"write through\" > /sys/block/{name}/queue/write_cache"),
        )),
        (OwnCache::On(_), true) => Some(draft.pass("both say on", "durable writes are flushed")),
        (OwnCache::Off(_), false) => Some(draft.pass("both say off", "nothing is to be flushed")),
        (OwnCache::Untold(_), _) => None,
    }
}

#[cfg(test)]
mod tests {
    use device_os::probe::{BlockDevice, Makeup, OwnCache, Platform, Transport};
    use record::StorageRuling::{self, CannotJudge, Fail, Pass, Warn};

    use super::super::tests::{disk, found};
    use super::findings;

    fn device(own_cache: OwnCache, kernel: bool, is_nvme: bool) -> BlockDevice {
        let mut device = disk("sda");
        device.own_cache = own_cache;
        device.facts.volatile_cache = Some(kernel);
        if is_nvme {
            (device.transport, device.facts.rotational) = (Some(Transport::Nvme), Some(false));
        }
        device
    }

    fn views(own_cache: OwnCache, kernel: bool, is_nvme: bool) -> StorageRuling {
        found(&findings(&device(own_cache, kernel, is_nvme)), "cache-views").outcome
    }

    #[test]
    fn every_contradiction_of_the_two_views_is_found() {
        let (on, off) = (OwnCache::On("page"), OwnCache::Off("page"));
        assert_eq!(views(on.clone(), true, false), Pass);
        assert_eq!(views(off.clone(), false, false), Pass);
        assert_eq!(views(on, false, false), Fail);
        assert_eq!(views(off.clone(), true, false), Warn);
        assert_eq!(views(off, true, true), Warn);
    }

    #[test]
    fn a_cache_that_power_empties_fails_on_a_disk_and_warns_on_flash() {
        let says = |own: OwnCache, is_nvme| {
            let findings = findings(&device(own, true, is_nvme));
            let finding = found(&findings, "write-cache");
            (finding.outcome, finding.remedy.clone().unwrap_or_default())
        };
        let on = OwnCache::On("page");
        assert_eq!(says(on.clone(), false), (Fail, "sdparm --clear=WCE --save /dev/sda".into()));
        assert_eq!(says(on, true).0, Warn);
        assert_eq!(says(OwnCache::Off("page"), false).0, Pass);
        for transport in [Transport::Iscsi, Transport::FibreChannel] {
            let mut of_an_array = device(OwnCache::On("page"), true, false);
            of_an_array.transport = Some(transport);
            let findings = findings(&of_an_array);
            assert_eq!(found(&findings, "write-cache").outcome, CannotJudge);
        }
        let (outcome, _) = says(OwnCache::Untold("it cannot be asked".to_owned()), false);
        assert_eq!(outcome, CannotJudge);
        let mut of_windows = device(OwnCache::On("property"), true, false);
        of_windows.kernel = Platform::Windows;
        let findings = findings(&of_windows);
        let remedy = found(&findings, "write-cache").remedy.clone().unwrap_or_default();
        assert!(remedy.starts_with("Device Manager"), "{remedy}");
    }

    #[test]
    fn windows_that_was_told_of_a_battery_sends_no_flush() {
        let told = |transport: Option<Transport>, kernel_flushes: bool| {
            let mut device = device(OwnCache::On("property"), kernel_flushes, false);
            (device.kernel, device.transport) = (Platform::Windows, transport);
            let findings = findings(&device);
            let views = found(&findings, "cache-views");
            (views.outcome, views.remedy.clone().unwrap_or_default())
        };
        let (outcome, remedy) = told(Some(Transport::Ata), false);
        assert_eq!(outcome, Fail);
        assert!(remedy.contains("write-cache buffer flushing"), "{remedy}");
        assert_eq!(told(None, false).0, Fail);
        assert_eq!(told(Some(Transport::Sas), false).0, Warn);
        assert_eq!(told(Some(Transport::Ata), true), (Pass, String::new()));
    }

    #[test]
    fn a_device_made_of_others_has_no_cache_of_its_own() {
        let mut device = disk("dm-0");
        device.makeup = Makeup::Mapped;
        assert!(findings(&device).is_empty());
    }
}
