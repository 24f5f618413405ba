//! Checks of the reports and journals of a fleet run.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xtask::failure::Failure;

use super::design::host_name;
use super::world::Fleet;

/// A loss must be noticed within this time.
const NOTICED_WITHIN_NS: u64 = 12_000_000_000;

/// Maximum change of another host's rate when a host is lost, in percent.
const MOST_CHANGE: f64 = 5.0;

/// Seconds at the start and at the end of a window that do not count.
const EDGE: f64 = 1.0;

/// This machine's clock, in nanoseconds since 1970.
pub(super) fn now_ns() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |of| u64::try_from(of.as_nanos()).unwrap_or(u64::MAX))
}

/// An error with the text `said` unless `holds`.
pub(super) fn require(holds: bool, said: String) -> Result<String, Failure> {
    if holds { Ok(said) } else { Err(Failure::new(said)) }
}

pub(super) fn exits(code: i32, expected: i32) -> Result<(), Failure> {
    require(code == expected, format!("exit {code} and not {expected}")).map(drop)
}

fn findings<'r>(report: &'r Value, rule: &str) -> Vec<&'r Value> {
    let all = report["findings"].as_array().into_iter().flatten();
    all.filter(|of| of["rule"] == rule).collect()
}

fn text(finding: &Value) -> &str {
    finding["text"].as_str().unwrap_or_default()
}

/// Returns the sentence on the only lost host; fails if the report names another one.
pub(super) fn only_lost(report: &Value, host: usize) -> Result<String, Failure> {
    let name = host_name(host);
    match findings(report, "host-lost").as_slice() {
        [one] if one["host"] == name.as_str() => Ok(text(one).to_owned()),
        other => Err(Failure::new(format!("{name} alone was lost, and the report has {other:?}"))),
    }
}

/// Fails with the reason if a run ended early: such a run proves nothing.
pub(super) fn began(report: &Value) -> Result<(), Failure> {
    let early = findings(report, "ended-early");
    require(early.is_empty(), early.first().map_or("", |of| text(of)).to_owned()).map(drop)
}

pub(super) fn none_lost(report: &Value) -> Result<(), Failure> {
    let lost = findings(report, "host-lost");
    require(lost.is_empty(), format!("no host was lost, and the report has {lost:?}")).map(drop)
}

/// Returns the sentence on the only failed host; fails if the report names another one.
pub(super) fn only_failed(report: &Value, host: usize) -> Result<String, Failure> {
    let name = host_name(host);
    let mut failed = findings(report, "host-verdict");
    failed.retain(|of| of["outcome"] == "fail");
    let is_only = !failed.is_empty() && failed.iter().all(|of| of["host"] == name.as_str());
    let said = failed.first().map_or_else(String::new, |of| text(of).to_owned());
    require(is_only, if is_only { said } else { format!("{name} alone fails: {report:#}") })
}

/// Checks that every host except `faulty` was judged, which fails on a machine busy with other
/// work. The volume of `faulty` can only be judged if it fails, because no device counts its reads.
pub(super) fn judged(report: &Value, faulty: Option<usize>) -> Result<(), Failure> {
    let mut unjudged = findings(report, "host-verdict");
    let faulty = faulty.map(host_name);
    unjudged
        .retain(|of| of["outcome"] == "cannot_judge" && of["host"].as_str() != faulty.as_deref());
    let said = unjudged.first().map_or("", |of| text(of));
    require(unjudged.is_empty(), format!("not judged; run it on a quiet machine: {said}")).map(drop)
}

/// Checks that a loss was noticed in time and reported with its second and its host, no other, and
/// that the run could not be judged.
pub(super) fn named(
    fleet: &Fleet<'_>,
    (code, report): &(i32, Value),
    host: usize,
    at_ns: u64,
) -> Result<String, Failure> {
    let finding = only_lost(report, host)?;
    exits(*code, 2)?;
    require(finding.contains(" s into "), format!("no second in: {finding}"))?;
    let noticed = noticed_ns(fleet)?.saturating_sub(at_ns);
    let said = format!("noticed after {:.1} s: {finding}", noticed as f64 / 1e9);
    require(noticed <= NOTICED_WITHIN_NS, said)
}

/// Time at which the controller gave up on a host, in nanoseconds since 1970.
fn noticed_ns(fleet: &Fleet<'_>) -> Result<u64, Failure> {
    let journal = fs::read_to_string(fleet.folder.join("out/fleet.jsonl")).map_err(Failure::of)?;
    let line = journal.lines().find(|line| line.contains("\"lost\"")).unwrap_or("{}");
    let line: Value = serde_json::from_str(line).map_err(Failure::of)?;
    Ok(line["at_ns"].as_u64().unwrap_or(u64::MAX))
}

/// Checks that every journal has arrived completely, byte for byte as its host wrote it, and with
/// an intact hash chain.
pub(super) fn complete(fleet: &Fleet<'_>, report: &Value, hosts: usize) -> Result<String, Failure> {
    for host in 1..=hosts {
        let name = host_name(host);
        let row = &report["hosts"][host - 1];
        require(row["is_complete"] == true, format!("the journal of {name} is not complete"))?;
        let collected = fleet.folder.join("out/hosts").join(&name);
        let journal = fs::read(collected.join("record.jsonl")).map_err(Failure::of)?;
        let own = fs::read(own_journal(&fleet.folder, host)?).map_err(Failure::of)?;
        require(journal == own, format!("the journal of {name} is not that of its host"))?;
        let is_sealed = intact(&collected)?;
        require(is_sealed, format!("the hash chain of {name} is broken"))?;
    }
    Ok(format!("{hosts} journals complete, chains whole"))
}

fn intact(collected: &Path) -> Result<bool, Failure> {
    let report = fs::read_to_string(collected.join("report.json")).map_err(Failure::of)?;
    let report: Value = serde_json::from_str(&report).map_err(Failure::of)?;
    let rules = report["findings"].as_array().into_iter().flatten();
    let rule = rules.into_iter().find(|of| of["rule"] == "record-intact");
    Ok(rule.is_none_or(|of| of["outcome"] == "pass"))
}

/// The journal of a host's only run, as stored on the host.
fn own_journal(folder: &Path, host: usize) -> Result<PathBuf, Failure> {
    let runs = fs::read_dir(folder.join(format!("agent{host}/runs"))).map_err(Failure::of)?;
    let mut runs = runs.flatten().map(|run| run.path().join("record/record.jsonl"));
    runs.next().ok_or_else(|| Failure::new(format!("{} has no run", host_name(host))))
}

/// Seconds from the common start of the measurement to an instant of this machine's clock.
pub(super) fn into_measurement(report: &Value, at_ns: u64) -> Result<f64, Failure> {
    // A number of this size is text, because JSON readers would round it.
    let said = &report["measured_from_ns"];
    let from = said.as_str().and_then(|text| text.parse().ok());
    let from = from.filter(|from| (1..=at_ns).contains(from)).ok_or_else(|| {
        Failure::new(format!("the measurement began at {said}, and not before {at_ns}"))
    })?;
    Ok((at_ns - from) as f64 / 1e9)
}

/// Checks that the hosts except `lost` carried as much load after `second` as before.
pub(super) fn unchanged(
    fleet: &Fleet<'_>,
    lost: usize,
    (second, end): (f64, f64),
) -> Result<String, Failure> {
    let csv = fs::read_to_string(fleet.folder.join("out/report.csv")).map_err(Failure::of)?;
    let rows = rows(&csv);
    let mut most: f64 = 0.0;
    for host in (1..=super::network::HOSTS).filter(|host| *host != lost) {
        let name = host_name(host);
        let rate = |from: f64, to: f64| rate(&rows, &name, (from, to));
        let (before, after) = (rate(EDGE, second), rate(second, end - EDGE));
        let change = (after - before) / before.max(1.0) * 100.0;
        let said = format!(
            "{name} carried {before:.1} a second until {second:.0} s of {end:.0}, then {after:.1}"
        );
        require(before > 0.0 && change.abs() <= MOST_CHANGE, said)?;
        most = most.max(change.abs());
    }
    Ok(format!("others changed by {most:.1} % at most"))
}

/// Counts of reads and writes of a host in an interval of its measurement.
struct Row {
    host: String,
    /// Seconds since the start of the measurement.
    from: f64,
    to: f64,
    count: f64,
}

fn rows(csv: &str) -> Vec<Row> {
    let cells = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let measured = cells.filter(|cells| {
        cells.len() > 8
            && cells[1] == "measurement"
            && matches!(cells[6], "Database reads" | "Database writes")
    });
    let mut rows: Vec<Row> = measured
        .map(|cells| {
            let number = |at: usize| cells[at].parse().unwrap_or_default();
            Row { host: cells[0].to_owned(), from: number(2), to: number(3), count: number(7) }
        })
        .collect();
    // Times count from the start of each run; the measurement starts with the first interval.
    let hosts: Vec<String> = rows.iter().map(|row| row.host.clone()).collect();
    for host in hosts {
        let of_host = rows.iter().filter(|row| row.host == host);
        let begin = of_host.map(|row| row.from).fold(f64::INFINITY, f64::min);
        if begin > 0.0 {
            for row in rows.iter_mut().filter(|row| row.host == host) {
                (row.from, row.to) = (row.from - begin, row.to - begin);
            }
        }
    }
    rows
}

/// Reads and writes per second of a host in the intervals between two seconds.
fn rate(rows: &[Row], host: &str, (from, to): (f64, f64)) -> f64 {
    let within = rows.iter().filter(|row| row.host == host && row.from >= from && row.to <= to);
    let (mut first, mut last, mut count) = (f64::INFINITY, 0.0_f64, 0.0);
    for row in within {
        (first, last, count) = (first.min(row.from), last.max(row.to), count + row.count);
    }
    count / (last - first).max(1.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{into_measurement, only_failed, only_lost, rate, rows};

    #[test]
    fn a_second_is_counted_from_a_measurement_that_has_begun() {
        let second = |from: serde_json::Value| {
            into_measurement(&json!({ "measured_from_ns": from }), 5_000_000_000).ok()
        };
        assert_eq!(second(json!("2000000000")), Some(3.0));
        for from in [json!(null), json!("0"), json!("6000000000"), json!(2_000_000_000)] {
            assert_eq!(second(from), None);
        }
    }

    #[test]
    fn the_rate_is_that_of_reads_and_writes_within_a_window() {
        let csv = "host,phase,from_s,to_s,counts,database,requests,count\n\
                   h1,warm-up,0.000,2.000,yes,\"a\",Database reads,90,1\n\
                   h1,measurement,2.000,3.000,yes,\"a\",Database reads,10,1\n\
                   h1,measurement,2.000,3.000,yes,\"a\",Log writes,500,1\n\
                   h1,measurement,3.000,4.000,yes,\"a\",Database writes,20,1\n\
                   h2,measurement,2.000,3.000,yes,\"a\",Database reads,70,1\n";
        let rows = rows(csv);
        for (window, expected) in [((0.0, 2.0), 15.0), ((1.0, 2.0), 20.0)] {
            assert!((rate(&rows, "h1", window) - expected).abs() < 1e-9, "{window:?}");
        }
    }

    #[test]
    fn another_host_is_never_blamed() {
        let lost = |host: &str| json!({"rule": "host-lost", "host": host, "text": "gone"});
        let report = json!({"findings": [lost("h2")]});
        assert!(only_lost(&report, 2).is_ok() && only_lost(&report, 1).is_err());
        let both = json!({"findings": [lost("h2"), lost("h3")]});
        assert!(only_lost(&both, 2).is_err());
        let slow = json!({"rule": "host-verdict", "outcome": "fail", "text": "slow"});
        let failed = |host: &str| {
            let mut finding = slow.clone();
            finding["host"] = host.into();
            finding
        };
        assert!(only_failed(&json!({"findings": [failed("h1")]}), 1).is_ok());
        assert!(only_failed(&json!({"findings": [failed("h1"), failed("h3")]}), 1).is_err());
        assert!(only_failed(&json!({"findings": []}), 1).is_err());
    }
}
