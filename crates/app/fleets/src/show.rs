//! The verdict on a fleet run, as text and as JSON, in its folder and on the terminal.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fleet::{FleetRecord, FleetVerdict, HostVerdict, PeriodVerdict, merged};
use record::{Histogram, Phase, RunRecord, Series};
use serde_json::{Value, json};
use serve::{FleetHostLoad, FleetHostState, FleetState};
use verdict::Ruling;

use super::collect::{fleet_record, host_folder, host_folders};
use super::played;
use super::progress::{FleetProgress, HostProgress, is_conducted};
use super::records;
use console::Outcome;
use console::documents;
use console::error::CommandError;
use console::{Concluded, Console};

/// The series of a summary.
const SHOWN: [Series; 3] = [Series::DatabaseRead, Series::DatabaseWrite, Series::LogWrite];

/// Whether `folder` contains a fleet run.
pub fn is_fleet(folder: &Path) -> bool {
    folder.join(fleet::FLEET_JOURNAL).is_file()
}

/// The hosts of the fleet run in `folder` with journals that have arrived, each with its folder.
pub fn host_runs(folder: &Path) -> Result<Vec<(String, PathBuf)>, CommandError> {
    let fleet = fleet_record(folder)?;
    let hosts = fleet.hosts.iter().enumerate();
    let runs = hosts.map(|(at, host)| (host.name.clone(), host_folder(folder, at, host)));
    Ok(runs.filter(|(_, run)| run.join(record::JOURNAL).exists()).collect())
}

/// Name of the fleet run in `folder`.
pub fn name(folder: &Path) -> Result<String, CommandError> {
    Ok(fleet_record(folder)?.name)
}

/// Current state of the fleet run in `folder`; `None` if its journal cannot be read.
pub fn state(folder: &Path) -> Option<FleetState> {
    let fleet = fleet_record(folder).ok()?;
    let progress = FleetProgress::read(folder).unwrap_or_default();
    let is_live = is_conducted(folder);
    let state = if is_live { progress.stage } else { reported_headline(folder) };
    let hosts = host_states(progress.hosts, fleet.hosts.iter().map(|host| &*host.name));
    Some(FleetState { name: fleet.name, is_live, state, hosts })
}

/// The state of each host. A simulation writes no progress, so that only the names are known.
fn host_states<'a>(
    progress: Vec<HostProgress>,
    names: impl Iterator<Item = &'a str>,
) -> Vec<FleetHostState> {
    if progress.is_empty() {
        return names
            .map(|host| HostProgress { host: host.to_owned(), ..HostProgress::default() })
            .map(host_state)
            .collect();
    }
    progress.into_iter().map(host_state).collect()
}

fn host_state(host: HostProgress) -> FleetHostState {
    let load = host.load.map(|load| FleetHostLoad {
        iops: load.iops(),
        read_ns: load.read_ns,
        log_write_ns: load.log_write_ns,
    });
    FleetHostState { name: host.host, state: host.state, load }
}

/// The verdict of a simulated deployment in `folder`, or the first line of the report there.
fn reported_headline(folder: &Path) -> String {
    if let Some(answer) = played::answer(folder) {
        return played::headline(&answer);
    }
    let text = std::fs::read_to_string(folder.join("report.txt")).unwrap_or_default();
    text.lines().next().unwrap_or("No report: run `plimsoll fleet collect`").to_owned()
}

/// Judges the fleet run in `folder`, writes its reports, and prints the answer; a simulated
/// deployment keeps its own verdict.
pub fn show(folder: &Path, json: bool, console: &mut Console) -> Result<Outcome, CommandError> {
    if let Some(answer) = played::answer(folder) {
        return played::show((folder, &answer), json, console);
    }
    let mut fleet = fleet_record(folder)?;
    let places = host_folders(folder, &fleet);
    let records = records::of_each(&places, |_, place| records::by_digest(place))?;
    for (host, record) in fleet.hosts.iter_mut().zip(records) {
        host.record = record;
    }
    if !fleet.events.is_empty() {
        cut(&mut fleet, &places)?;
    }
    let verdict = fleet::judge(&fleet);
    let (text, answer) = (text(&fleet, &verdict), answer(&fleet, &verdict));
    documents::replace(&folder.join("report.txt"), text.as_bytes())?;
    let sheet = super::page::sheet(&fleet, &verdict, headline(&fleet, &verdict));
    documents::replace(&folder.join("report.html"), report::fleet_html(&sheet).as_bytes())?;
    documents::replace(&folder.join("report.csv"), report::fleet_csv(&sheet).as_bytes())?;
    documents::replace(&folder.join("report.json"), format!("{answer:#}\n").as_bytes())?;
    console.conclude(Concluded {
        folder: folder.to_path_buf(),
        name: fleet.name.clone(),
        verdict: Outcome::of_ruling(verdict.outcome).word(),
        headline: text.lines().next().unwrap_or_default().to_owned(),
    });
    if json {
        console.answer_json_line(&answer.to_string())?;
    } else {
        console.answer_prose(&text)?;
        console.answer(format_args!("Report: {}", folder.join("report.html").display()))?;
    }
    Ok(Outcome::of_ruling(verdict.outcome))
}

/// Splits the journals into the periods between events.
fn cut(fleet: &mut FleetRecord, places: &[PathBuf]) -> Result<(), CommandError> {
    let of = &*fleet;
    let parts = records::of_each(places, |host, place| {
        let path = place.join(record::JOURNAL);
        let journal = std::fs::read(&path).map_err(CommandError::of_file(&path, "read"))?;
        of.cut(host, &journal)
            .map_err(|error| CommandError::new(format!("{}: {error}", path.display())))
    })?;
    for (host, parts) in fleet.hosts.iter_mut().zip(parts) {
        host.parts = parts.unwrap_or_default();
    }
    Ok(())
}

fn headline(fleet: &FleetRecord, verdict: &FleetVerdict) -> String {
    let hosts = units::plural(fleet.hosts.len() as u64, "host");
    let mut records = fleet.hosts.iter().filter_map(|host| host.record.as_ref());
    let is_simulated = records.any(|record| record.simulated().is_some());
    let kind = if is_simulated { "SIMULATED " } else { "" };
    match verdict.outcome {
        Ruling::Pass | Ruling::Warn => format!("{kind}PASS: {hosts} together"),
        Ruling::Fail => format!("{kind}FAIL: {hosts} together"),
        Ruling::CannotJudge => {
            format!("INCONCLUSIVE: this run cannot judge the storage of {hosts} together")
        }
    }
}

/// The note on figures of another product that the plans carry; `None` if they carry none.
fn assumption(fleet: &FleetRecord) -> Option<&str> {
    let mut records = fleet.hosts.iter().filter_map(|host| host.record.as_ref());
    records.find_map(|record| plan::deployment::assumption_in(&record.start.description))
}

fn text(fleet: &FleetRecord, verdict: &FleetVerdict) -> String {
    let mut text = format!("{}\n", headline(fleet, verdict));
    if let Some(assumption) = assumption(fleet) {
        let _ = writeln!(text, "{assumption}.");
    }
    text.push('\n');
    for finding in &verdict.findings {
        let _ = writeln!(text, "{:<13} {}", finding.outcome.name(), finding.text);
    }
    let _ = writeln!(
        text,
        "\n{:<16} {:<13} {:>9} {:>12} {:>12} {:>12}",
        "Host", "Verdict", "IOPS", "reads p99", "writes p99", "log p99"
    );
    for (host, judged) in fleet.hosts.iter().zip(&verdict.hosts) {
        let row = host.record.as_ref().map(row);
        let _ = writeln!(
            text,
            "{:<16} {:<13} {}",
            host.name,
            judged.outcome().name(),
            row.unwrap_or_else(|| "no journal".to_owned())
        );
    }
    periods(fleet, verdict, &mut text);
    for disk in fleet.shared_disks() {
        let _ = writeln!(text, "{}", disk.sentence());
    }
    let records = fleet.hosts.iter().filter_map(|host| host.record.as_ref());
    let each = records.clone().map(RunRecord::achieved_transactional_iops);
    // `sum` of no hosts is -0.
    let iops = each.fold(0.0, |sum, of| sum + of);
    let sums = merged(records, Phase::Measure);
    let [reads, writes, logs] = SHOWN.map(|series| {
        p99(sums.iter().find(|part| part.series == series).map(|part| &part.total.latency))
    });
    let _ = writeln!(
        text,
        "{:<16} {:<13} {iops:>9.0} {reads:>12} {writes:>12} {logs:>12}",
        "All hosts", ""
    );
    text
}

/// Writes every host's load before, during and after each event.
fn periods(fleet: &FleetRecord, verdict: &FleetVerdict, text: &mut String) {
    for (place, judged) in verdict.periods.iter().enumerate() {
        let (from, to) = (judged.period.from.as_secs_f64(), judged.period.to.as_secs_f64());
        let _ = writeln!(text, "{} ({from:.0} to {to:.0} s):", judged.name);
        for (host, verdict) in fleet.hosts.iter().zip(&judged.hosts) {
            let part = host.parts.get(place).and_then(Option::as_ref);
            let outcome = judged.word(verdict.as_ref());
            let row = part.map(row).unwrap_or_default();
            let _ = writeln!(text, "  {:<14} {outcome:<13} {row}", host.name);
        }
    }
}

fn row(record: &RunRecord) -> String {
    let sum = record.sum_of(Phase::Measure);
    let [reads, writes, logs] =
        SHOWN.map(|series| p99(sum.series.get(&series).map(|total| &total.latency)));
    let iops = record.achieved_transactional_iops();
    format!("{iops:>9.0} {reads:>12} {writes:>12} {logs:>12}")
}

fn p99(latency: Option<&Histogram>) -> String {
    match latency.filter(|latency| !latency.is_empty()) {
        Some(latency) => format!("{:.2} ms", latency.quantile(0.99) as f64 / 1e6),
        None => "-".to_owned(),
    }
}

fn answer(fleet: &FleetRecord, verdict: &FleetVerdict) -> Value {
    let records = fleet.hosts.iter().filter_map(|host| host.record.as_ref());
    let series: Vec<Value> = merged(records, Phase::Measure)
        .into_iter()
        .map(|part| {
            let latency = &part.total.latency;
            json!({
                "series": part.series,
                "count": latency.count(),
                "bytes": part.total.bytes,
                "errors": part.total.errors,
                "mean_ns": latency.mean_ns(),
                "p99_ns": latency.quantile(0.99),
                "maximum_ns": latency.maximum_ns(),
            })
        })
        .collect();
    let hosts: Vec<Value> = fleet
        .hosts
        .iter()
        .zip(&verdict.hosts)
        .map(|(host, judged)| host_row(host, judged))
        .collect();
    let findings: Vec<Value> = verdict
        .findings
        .iter()
        .map(|of| {
            json!({
                "rule": of.rule,
                "outcome": Outcome::of_ruling(of.outcome).word(),
                "host": of.host,
                "text": of.text,
            })
        })
        .collect();
    report::answer(
        "fleet_report",
        json!({
            "name": fleet.name,
            "run": fleet.run.as_str(),
            "verdict": Outcome::of_ruling(verdict.outcome).word(),
            "headline": headline(fleet, verdict),
            "assumption": assumption(fleet),
            "skew_ns": fleet.skew_ns(),
            "measured_from_ns": fleet.measure_from_ns,
            "findings": findings,
            "hosts": hosts,
            "all_hosts": series,
            "periods": periods_of(fleet, verdict),
            "shared_disks": fleet
                .shared_disks()
                .iter()
                .map(|disk| json!({ "disk": disk.id, "hosts": disk.hosts }))
                .collect::<Vec<_>>(),
        }),
    )
}

fn periods_of(fleet: &FleetRecord, verdict: &FleetVerdict) -> Vec<Value> {
    verdict
        .periods
        .iter()
        .enumerate()
        .map(|(place, judged)| {
            json!({
                "name": judged.name,
                "from_ns": judged.period.from.0,
                "to_ns": judged.period.to.0,
                "is_judged": judged.period.is_judged(),
                "hosts": hosts_in(fleet, place, judged),
            })
        })
        .collect()
}

/// Verdict, IOPS and target of each host in the period at `place`, as JSON.
fn hosts_in(fleet: &FleetRecord, place: usize, judged: &PeriodVerdict) -> Vec<Value> {
    fleet
        .hosts
        .iter()
        .zip(&judged.hosts)
        .map(|(host, verdict)| {
            let part = host.parts.get(place).and_then(Option::as_ref);
            json!({
                "host": host.name,
                "verdict": verdict.as_ref().map(|of| Outcome::of_ruling(of.outcome).word()),
                "transactional_iops": part.map(RunRecord::achieved_transactional_iops),
                "target_iops": part.and_then(|part| part.start.settings.target_iops),
            })
        })
        .collect()
}

fn host_row(host: &fleet::HostPart, judged: &HostVerdict) -> Value {
    let absences: Vec<Value> = host
        .absences
        .iter()
        .map(|absence| json!({ "from_ns": absence.from_ns, "to_ns": absence.to_ns }))
        .collect();
    json!({
        "host": host.name,
        "agent": host.agent.as_ref().map(fleet::AgentId::as_str),
        "machine": host.facts.as_ref().map(|facts| &facts.machine),
        "verdict": Outcome::of_ruling(judged.outcome()).word(),
        "is_complete": host.is_complete(),
        "clock_offset_ns": host.clock.map(|clock| clock.offset_ns),
        "clock_error_ns": host.clock.map(|clock| clock.error_ns),
        "lost": absences,
        "transactional_iops": host.record.as_ref().map(RunRecord::achieved_transactional_iops),
    })
}

#[cfg(test)]
mod tests {
    use super::{HostProgress, host_states};

    #[test]
    fn hosts_without_progress_are_counted_by_name() {
        let names = ["EX01", "EX02"];
        let states = host_states(Vec::new(), names.into_iter());
        assert!(states.iter().map(|of| &*of.name).eq(names), "{states:?}");
        let measuring = HostProgress { host: "EX02".to_owned(), ..HostProgress::default() };
        assert_eq!(host_states(vec![measuring], names.into_iter()).len(), 1);
    }
}
