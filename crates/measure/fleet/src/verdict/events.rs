//! A run with deliberate events: whether each was carried out, and the hosts' load before and after
//! it.

use record::{Phase, RunRecord, Series};
use units::{Bytes, Nanos};
use verdict::{Ruling, Verdict};

use super::{FleetFinding, decisive};
use crate::{CopyReport, CopySide, EventAction, FleetRecord, HostPart, Period, last_part};

/// Largest difference between an event's planned and actual time; beyond it the event does not
/// count as carried out.
const MOST_LATE: Nanos = Nanos::from_secs(5);

/// The verdicts on one part of the measurement.
#[derive(Clone, Debug)]
pub struct PeriodVerdict {
    /// The part.
    pub period: Period,
    /// Its name, such as `after lose EX03 at 30min`.
    pub name: String,
    /// The verdict on each host, in plan order; `None` if the host is lost at that time, or its
    /// journal has not arrived.
    pub hosts: Vec<Option<Verdict>>,
}

impl PeriodVerdict {
    /// The verdict on a host in words.
    pub fn word(&self, verdict: Option<&Verdict>) -> &'static str {
        match verdict {
            Some(_) if !self.period.is_judged() => "not judged",
            Some(verdict) => verdict.outcome.name(),
            None => "lost",
        }
    }
}

/// Returns the verdicts on all parts; empty in a run without events.
pub(super) fn periods(fleet: &FleetRecord) -> Vec<PeriodVerdict> {
    if fleet.events.is_empty() {
        return Vec::new();
    }
    let mut verdicts = Vec::new();
    for (place, period) in fleet.periods().into_iter().enumerate() {
        let hosts = fleet.hosts.iter().map(|host| {
            let part = host.parts.get(place)?.as_ref();
            part.filter(|part| part.span_ns(Phase::Measure) > 0 || !host.was_down())
                .map(verdict::judge)
        });
        let (name, hosts) = (fleet.period_name(&period), hosts.collect());
        verdicts.push(PeriodVerdict { period, name, hosts });
    }
    verdicts
}

/// Returns the shortfalls of the hosts in the parts that are judged.
pub(super) fn outcomes(fleet: &FleetRecord, periods: &[PeriodVerdict]) -> Vec<FleetFinding> {
    let mut findings = Vec::new();
    for (place, judged) in periods.iter().enumerate().filter(|(_, of)| of.period.is_judged()) {
        for (index, verdict) in judged.hosts.iter().enumerate() {
            let host = &fleet.hosts[index];
            let part = host.parts.get(place).and_then(Option::as_ref);
            let (Some(verdict), Some(part)) = (verdict, part) else { continue };
            let mut text = format!("{}, {}", decisive(&host.name, part, verdict), judged.name);
            if verdict.outcome == Ruling::Fail
                && let Some(weakest) = weakest(fleet, index, (part, judged.period.from))
            {
                text.push_str(&weakest);
            }
            let (rule, outcome) = ("host-verdict", verdict.outcome);
            findings.push(FleetFinding { rule, outcome, host: Some(host.name.clone()), text });
        }
    }
    findings
}

/// The database that carried the smallest part of its load.
fn weakest(fleet: &FleetRecord, host: usize, (part, from): (&RunRecord, Nanos)) -> Option<String> {
    let target = part.start.settings.target_iops?;
    let loads: Vec<(&str, f64, f64)> = part
        .start
        .databases
        .iter()
        .map(|facts| {
            let name = database_name(&facts.file);
            let percent = f64::from(fleet.load_percent(host, name, from));
            let totals = part.totals_of(Phase::Measure, facts.index);
            let achieved = totals.map_or(0.0, |of| {
                of.per_second(Series::DatabaseRead) + of.per_second(Series::DatabaseWrite)
            });
            (name, facts.weight.unwrap_or(1.0) * percent, achieved)
        })
        .collect();
    let whole: f64 = loads.iter().map(|(_, share, _)| share).sum();
    let ratios = loads.iter().filter(|(_, share, _)| *share > 0.0);
    let ratios = ratios.map(|(name, share, achieved)| (name, achieved / (target * share / whole)));
    let (name, ratio) = ratios.min_by(|one, two| one.1.total_cmp(&two.1))?;
    Some(format!("; least of its load: {name}, {:.0} %", ratio * 100.0))
}

/// Returns a database's name in the fleet plan: the last component of its folder.
fn database_name(file: &str) -> &str {
    let folder = file.rfind(['/', '\\']).map_or(file, |end| &file[..end]);
    last_part(folder)
}

/// Events that did not happen as planned, and reseeds with how they went.
pub(super) fn carried_out(fleet: &FleetRecord) -> Vec<FleetFinding> {
    let names: Vec<&str> = fleet.hosts.iter().map(|host| host.name.as_str()).collect();
    let Some(from_ns) = fleet.measure_from_ns else { return Vec::new() };
    let mut findings = Vec::new();
    for event in &fleet.events {
        let words = event.words(&names);
        let due_ns = from_ns + event.at.0;
        match &event.action {
            EventAction::Lose { host, .. } => {
                let downs = &fleet.hosts[*host].downs;
                findings.extend(late(names[*host], &words, due_ns, downs.iter().map(|of| of.0)));
            }
            EventAction::Rejoin { host } => {
                let downs = &fleet.hosts[*host].downs;
                let ups = downs.iter().filter_map(|of| of.1);
                findings.extend(late(names[*host], &words, due_ns, ups));
            }
            EventAction::Reseed { source, target, .. } => {
                let ends = [(*source, CopySide::Source), (*target, CopySide::Target)];
                findings.extend(ends.map(|(host, side)| copy(&fleet.hosts[host], side, &words)));
            }
        }
    }
    findings
}

/// Returns a finding unless one of `instants` matches the due time.
fn late(
    host: &str,
    words: &str,
    due_ns: u64,
    mut instants: impl Iterator<Item = u64>,
) -> Option<FleetFinding> {
    if instants.any(|at| at.abs_diff(due_ns) <= MOST_LATE.0) {
        return None;
    }
    Some(FleetFinding {
        rule: "event-carried-out",
        outcome: Ruling::CannotJudge,
        host: Some(host.to_owned()),
        text: format!("{words} did not happen within {MOST_LATE}: nothing proves what follows it."),
    })
}

fn copy(host: &HostPart, side: CopySide, words: &str) -> FleetFinding {
    let found = host.copies.iter().find(|of| of.side == side);
    let (outcome, text) = match found {
        None => (
            Ruling::CannotJudge,
            format!(
                "{}: the {words} did not end within the run; give it a higher rate.",
                host.name
            ),
        ),
        Some(CopyReport { fault: Some(fault), .. }) => {
            (Ruling::CannotJudge, format!("{}: {words}: {fault}.", host.name))
        }
        Some(report) => {
            let verb = if side == CopySide::Source { "read" } else { "wrote" };
            let seconds = report.elapsed_ns as f64 / 1e9;
            let bytes = Bytes(report.bytes);
            (Ruling::Pass, format!("{}: {words}: {verb} {bytes} in {seconds:.0} s.", host.name))
        }
    };
    FleetFinding { rule: "event-carried-out", outcome, host: Some(host.name.clone()), text }
}
