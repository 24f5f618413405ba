//! Content of the HTML page and the CSV table that report a fleet run.

use fleet::{FleetRecord, FleetVerdict};
use report::{FleetSheet, FleetSheetHost, FleetSheetPeriod};

/// Content of the page and the table, with the text report's `headline`.
pub(super) fn sheet<'a>(
    fleet: &'a FleetRecord,
    verdict: &'a FleetVerdict,
    headline: String,
) -> FleetSheet<'a> {
    let hosts = fleet.hosts.iter().zip(&verdict.hosts);
    let findings = verdict.findings.iter().map(|of| (of.outcome, of.text.clone()));
    FleetSheet {
        name: &fleet.name,
        started_ns: fleet.started_ns,
        outcome: verdict.outcome,
        headline,
        findings: findings.collect(),
        hosts: hosts
            .map(|(host, judged)| FleetSheetHost {
                name: &host.name,
                outcome: judged.outcome(),
                record: host.record.as_ref(),
                begins: begins(fleet, host),
            })
            .collect(),
        marks: marks(fleet),
        periods: periods(fleet, verdict),
        shared: fleet.shared_disks().iter().map(fleet::SharedDisk::sentence).collect(),
    }
}

/// Start of a host's record, in seconds after the start of the fleet run by the controller's clock.
fn begins(fleet: &FleetRecord, host: &fleet::HostPart) -> f64 {
    let Some(record) = &host.record else { return 0.0 };
    let offset_ns = host.clock.map_or(0, |clock| clock.offset_ns);
    let at = record.start.started_epoch_ns.saturating_add_signed(-offset_ns);
    seconds(fleet, at)
}

fn seconds(fleet: &FleetRecord, at_ns: u64) -> f64 {
    at_ns as f64 / 1e9 - fleet.started_ns as f64 / 1e9
}

/// Stages, losses and events in the order of time.
fn marks(fleet: &FleetRecord) -> Vec<(f64, String)> {
    let names: Vec<&str> = fleet.hosts.iter().map(|host| host.name.as_str()).collect();
    let mut marks: Vec<(f64, String)> = Vec::new();
    for (stage, at) in &fleet.stages {
        marks.push((seconds(fleet, *at), stage.name().to_owned()));
    }
    if let Some(from) = fleet.measure_from_ns {
        for event in &fleet.events {
            marks.push((seconds(fleet, from + event.at.0), event.action.words(&names)));
        }
    }
    for host in &fleet.hosts {
        for absence in &host.absences {
            marks.push((seconds(fleet, absence.from_ns), format!("{} last heard", host.name)));
        }
    }
    marks.sort_by(|one, two| one.0.total_cmp(&two.0));
    marks
}

fn periods<'a>(fleet: &'a FleetRecord, verdict: &'a FleetVerdict) -> Vec<FleetSheetPeriod<'a>> {
    let all = verdict.periods.iter().enumerate();
    all.map(|(place, judged)| {
        let hosts = fleet.hosts.iter().zip(&judged.hosts).map(|(host, verdict)| {
            let part = host.parts.get(place).and_then(Option::as_ref);
            (host.name.as_str(), judged.word(verdict.as_ref()), part)
        });
        FleetSheetPeriod { name: judged.name.clone(), hosts: hosts.collect() }
    })
    .collect()
}
