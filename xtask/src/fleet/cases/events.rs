//! A host is lost on purpose at minute 1 of 3, and the holder of the next copy takes its database
//! over, once on storage that can carry the load and once on storage that cannot.

use serde_json::Value;
use xtask::failure::Failure;

use crate::fleet::design::{Design, PLAIN};
use crate::fleet::network::HOSTS;
use crate::fleet::reports::{exits, judged, none_lost, only_failed, require};
use crate::fleet::world::Fleet;

/// Target rate of reads and writes per second for a host with both copies active.
const TARGET_IOPS: u32 = 200;

/// Rate for a host with one active and one passive copy, the latter at 20 %: enough log writes to
/// be judged.
const SHARED_IOPS: f64 = 120.0;

/// Throttle of the volume, in requests per second: enough before the loss, too few after it.
/// Sixteen sessions then wait for a tenth of a second, which a busy processor cannot explain.
const THROTTLE: &str = "database any rate=130";

/// Index of the part after the loss among the parts of the report.
const AFTER: usize = 2;

pub(super) const SOUND: Design = Design {
    measured: 180,
    target_iops: TARGET_IOPS,
    threads: 8,
    databases: copies_of,
    plan: "passive_percent = 20\n\
           [[database]]\nname = \"DB1\"\ncopies = [\"h1\", \"h2\"]\n\
           [[database]]\nname = \"DB2\"\ncopies = [\"h2\", \"h3\"]\n\
           [[database]]\nname = \"DB3\"\ncopies = [\"h3\", \"h4\"]\n\
           [[database]]\nname = \"DB4\"\ncopies = [\"h4\", \"h1\"]\n\
           [[event]]\nat = \"1min\"\nlose = \"h1\"\n",
    ..PLAIN
};

pub(super) const SLOW: Design = Design { faulty: Some(2), ..SOUND };

/// The databases of a host: its active copy, and the passive copy of its neighbour's database.
fn copies_of(host: usize) -> Vec<String> {
    let before = if host == 1 { HOSTS } else { host - 1 };
    vec![format!("DB{host}"), format!("DB{before}")]
}

pub(super) fn carried(fleet: &mut Fleet<'_>) -> Result<String, Failure> {
    let (code, report) = fleet.report(fleet.start()?)?;
    none_lost(&report)?;
    let (before, after) = (rate(&report, 0, 2), rate(&report, AFTER, 2));
    let said = format!("h2 carried {before:.1}, then {after:.1} of {TARGET_IOPS} a second");
    require((SHARED_IOPS * 0.95..SHARED_IOPS * 1.1).contains(&before), said.clone())?;
    require(after >= f64::from(TARGET_IOPS) * 0.95, said.clone())?;
    require(rate(&report, AFTER, 1) == 0.0, "h1 carried a load after its loss".to_owned())?;
    let name = report["periods"][AFTER]["name"].as_str().unwrap_or_default();
    require(name == "after lose h1 at 1min", format!("the last part is {name:?}"))?;
    judged(&report, None)?;
    exits(code, 0)?;
    Ok(said)
}

pub(super) fn not_carried(fleet: &mut Fleet<'_>) -> Result<String, Failure> {
    let volume = fleet.volume.as_mut().ok_or_else(|| Failure::new("no volume"))?;
    volume.set(THROTTLE)?;
    let (code, report) = fleet.report(fleet.start()?)?;
    judged(&report, Some(2))?;
    let said = only_failed(&report, 2)?;
    exits(code, 1)?;
    let (before, after) = (rate(&report, 0, 2), rate(&report, AFTER, 2));
    let rates = format!("h2 carried {before:.1}, then {after:.1} of {TARGET_IOPS} a second");
    require(before >= SHARED_IOPS * 0.95, rates.clone())?;
    let said = format!("{rates}: {said}");
    let is_named = said.contains("DB") && said.contains("after lose h1");
    require(is_named, said)
}

/// Reads and writes per second of a host in a part of the measurement.
fn rate(report: &Value, part: usize, host: usize) -> f64 {
    let of = &report["periods"][part]["hosts"][host - 1]["transactional_iops"];
    of.as_f64().unwrap_or_default()
}
