//! Words shared by the tools of all makers. A word outside these lists is not understood: no rule
//! passes or fails on a guess.

use super::lines::evened;
use super::{CacheBackup, DiskCaches, Health, WritePolicy};

/// Bytes of a size such as `2048MB`, `256 KB`, `64 KiB` or `8.000 GB`: these tools count in powers
/// of two, whatever name they give the unit.
pub(super) fn size_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let shift = match unit.trim().to_ascii_uppercase().as_str() {
        "B" | "" => 0,
        "KB" | "KIB" | "K" => 10,
        "MB" | "MIB" | "M" => 20,
        "GB" | "GIB" | "G" => 30,
        "TB" | "TIB" | "T" => 40,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction_bytes = match fraction {
        "" => 0,
        digits if digits.len() > 6 => return None,
        digits => {
            (digits.parse::<u64>().ok()? << shift)
                / [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000][digits.len()]
        }
    };
    whole.parse::<u64>().ok()?.checked_mul(1 << shift)?.checked_add(fraction_bytes)
}

/// Whether a switch is on; `None` if the words say neither. `Enabled (write-back)` is on; further
/// words without brackets are not understood.
pub(super) fn switch(words: &str) -> Option<bool> {
    let words = evened(words);
    let bare = words.split(" (").next().unwrap_or_default();
    match bare.trim_end_matches('.') {
        "enabled" | "enable" | "on" | "yes" | "true" => Some(true),
        "disabled" | "disable" | "off" | "no" | "false" => Some(false),
        _ => None,
    }
}

/// `true` if the words begin with an entry of the list that ends at the end, a bracket or a comma.
fn is_among(words: &str, list: &[&str]) -> bool {
    let bare = words.split([',', '(']).next().unwrap_or_default().trim();
    list.contains(&bare)
}

fn begins_with(words: &str, list: &[&str]) -> bool {
    list.iter().any(|word| words.starts_with(word))
}

/// Bad states of any part, by their first words.
const BAD: [&str; 38] = [
    "needs attention",
    "need attention",
    "fail",
    "degraded",
    "dgrd",
    "partially degraded",
    "pdgd",
    "offline",
    "offln",
    "ofln",
    "critical",
    "interim recovery",
    "recover",
    "rec",
    "rebuild",
    "rbld",
    "ready for rebuild",
    "ready for recovery",
    "missing",
    "msng",
    "unconfigured(bad)",
    "ubad",
    "faulty",
    "predictive",
    "not ok",
    "impacted",
    "suboptimal",
    "inaccessible",
    "defunct",
    "removed",
    "disabled",
    "wrong",
    "inconsistent",
    "not ready",
    "unsafe",
    "expired",
    "foreign",
    "frgn",
];

/// States in which a part works while a background task would distort a measurement.
const BUSY: [&str; 12] = [
    "transforming",
    "expanding",
    "initializ",
    "verifying",
    "reconfiguring",
    "copyback",
    "cpybck",
    "building",
    "parity init",
    "erase in",
    "reshap",
    "checking",
];

/// Good states of any part.
const GOOD: [&str; 19] = [
    "ok",
    "okay",
    "optimal",
    "optl",
    "good",
    "normal",
    "online",
    "onln",
    "ready",
    "present",
    "unconfigured",
    "uconf",
    "ugood",
    "hotspare",
    "hot spare",
    "dhs",
    "ghs",
    "conf",
    "jbod",
];

/// The state of a controller, a drive or a disk.
pub(super) fn health(words: &str) -> Option<Health> {
    let small = evened(words);
    if begins_with(&small, &BAD) {
        return Some(Health::Bad(words.trim().to_owned()));
    }
    if begins_with(&small, &BUSY) {
        return Some(Health::Limited(words.trim().to_owned()));
    }
    let rest = small.split_once([',', '(']).map_or("", |(_, rest)| rest);
    let is_good = is_among(&small, &GOOD) && health_of_rest(rest);
    is_good.then_some(Health::Ok)
}

/// Whether the words after a good state leave it good: `Online, Spun Up`.
fn health_of_rest(rest: &str) -> bool {
    matches!(
        rest.trim(),
        "" | "spun up"
            | "spun down"
            | "good)"
            | "good), spun up"
            | "good), spun down"
            | "active spare"
            | "spare"
            | "initialized"
            | "dedicated"
            | "global"
    )
}

/// The state of a cache module, in the words of HPE's and Microchip's tools.
pub(super) fn cache_health(words: &str) -> Option<Health> {
    match evened(words).as_str() {
        "not configured" => Some(Health::Limited(words.to_owned())),
        small if begins_with(small, &["permanently", "temporarily"]) => {
            Some(Health::Bad(words.to_owned()))
        }
        _ => health(words),
    }
}

/// State that a battery, a capacitor or an energy pack reports.
pub(super) fn backup(words: &str) -> Option<CacheBackup> {
    let small = evened(words);
    let not_ready =
        ["learn", "charging", "recharging", "discharg", "replace", "over", "low", "unhealthy"];
    let absent = ["not installed", "not present", "missing", "absent", "none"];
    if begins_with(&small, &absent) {
        return Some(CacheBackup::Absent);
    }
    if begins_with(&small, &BAD) || begins_with(&small, &not_ready) || small.starts_with("dgd") {
        return Some(CacheBackup::NotReady(words.trim().to_owned()));
    }
    let ready = ["ok", "okay", "optimal", "optl", "ready", "zmm optimal", "operational", "good"];
    ready.contains(&small.as_str()).then_some(CacheBackup::Ready)
}

/// The policy for the caches of disks.
pub(super) fn disk_caches(words: &str) -> Option<DiskCaches> {
    match evened(words).as_str() {
        "disk's default" | "default" | "dflt" | "disk default" | "unchanged" | "unconfigured" => {
            Some(DiskCaches::LeftToDisks)
        }
        "enbl" => Some(DiskCaches::On),
        "dsbl" => Some(DiskCaches::Off),
        _ => switch(words).map(|on| if on { DiskCaches::On } else { DiskCaches::Off }),
    }
}

/// Whether a drive's writes are cached, in the words of HPE's and Microchip's tools.
pub(super) fn caching(words: &str) -> Option<WritePolicy> {
    switch(words).map(|on| if on { WritePolicy::Back } else { WritePolicy::Through })
}

/// Whether the disks can hold a drive of this size: if not, the output lacks a disk's row.
pub(super) fn can_hold(level: &str, disks: u32, disk_bytes: u64, drive_bytes: u64) -> bool {
    let digits: String = level.chars().filter(char::is_ascii_digit).collect();
    let data = match digits.as_str() {
        "5" => disks.saturating_sub(1),
        "6" => disks.saturating_sub(2),
        "1" | "10" => disks.div_ceil(2),
        _ => disks,
    };
    // Sizes are rounded to four digits.
    let most = u128::from(disk_bytes) * u128::from(data) * 101 / 100;
    u128::from(drive_bytes) <= most
}

/// Name of a preserved cache in findings.
pub(super) const PRESERVED: &str = "writes of an offline drive are preserved in it";

/// State of an error count: only zero is good.
pub(super) fn errors(words: &str, what: &str) -> Option<Health> {
    match words.trim().parse::<u64>().ok()? {
        0 => Some(Health::Ok),
        count => Some(Health::Bad(format!("{count} {what}"))),
    }
}

/// Like `errors`, for errors that have done no harm yet.
pub(super) fn minor_errors(words: &str, what: &str) -> Option<Health> {
    errors(words, what).map(|state| match state {
        Health::Bad(words) => Health::Limited(words),
        state => state,
    })
}

/// State of a switch that is bad when on; `what` describes the fault.
pub(super) fn alarm(words: &str, what: &str) -> Option<Health> {
    switch(words).map(|is_on| if is_on { Health::Bad(what.to_owned()) } else { Health::Ok })
}

/// The number in front of a percent sign or of the word.
pub(super) fn percent(words: &str) -> Option<u32> {
    let small = evened(words);
    let number = small.strip_suffix("percent").or_else(|| small.strip_suffix('%'))?;
    number.trim().parse().ok().filter(|&percent| percent <= 100)
}

#[cfg(test)]
mod tests;
