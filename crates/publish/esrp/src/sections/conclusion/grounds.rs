//! Objections to the suitability of a server: the policy behind the conclusion.

use record::ServerLoad;
use verdict::Ruling;

use crate::figures::{Demand, room_bytes};
use crate::roles::{PaperTest, Server, measured_ns};
use crate::sections::results::{A_DAY_NS, TWO_HOURS_NS};
use crate::vendor::Vendor;

/// A reason why the server is not shown to be suitable.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Objection {
    /// A test did not pass, or passed without meeting every requirement.
    NotPassed { test: PaperTest, outcome: String },
    /// A load was measured for less time than papers require.
    Short { test: PaperTest, least: &'static str },
    /// Fewer IOPS were achieved than the mailboxes need.
    FewRequests(Measure),
    /// The volumes have less space than the databases of the mailboxes need.
    LittleRoom(Measure),
}

/// Demand of the active mailboxes next to the measurement, both in the same unit: IOPS or bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measure {
    pub mailboxes: u64,
    pub asked: f64,
    /// `asked` with the reserve of the plan; `None` for bytes.
    pub asked_with_reserve: Option<f64>,
    pub measured: f64,
    /// Percentage of `asked` that the verdict accepts as enough.
    pub enough_percent: f64,
}

/// All objections to one server.
pub(super) fn objections(server: &Server<'_>, vendor: &Vendor) -> Vec<Objection> {
    let mut all = not_passed(server);
    all.extend(too_short(server));
    all.extend(requests(server, vendor).filter(Measure::is_short).map(Objection::FewRequests));
    all.extend(room(server, vendor).filter(Measure::is_short).map(Objection::LittleRoom));
    all
}

impl Measure {
    fn is_short(&self) -> bool {
        self.measured < self.asked * self.enough_percent / 100.0
    }
}

/// Demand and measurement in IOPS; `None` if either is unknown.
pub(super) fn requests(server: &Server<'_>, vendor: &Vendor) -> Option<Measure> {
    let record = &server.performance?.record;
    let measured = ServerLoad::of(record).transfers_per_second?;
    let demand = Demand::of(server, vendor);
    let enough_percent = record.start.settings.thresholds.target_reached_percent;
    let (mailboxes, asked) = (demand.mailboxes?, demand.iops()?);
    let asked_with_reserve = demand.iops_with_reserve().map(|each| mailboxes as f64 * each);
    Some(Measure { mailboxes, asked, asked_with_reserve, measured, enough_percent })
}

/// Demand and measurement in bytes; `None` if either is unknown. Databases of further copies are
/// additional.
pub(super) fn room(server: &Server<'_>, vendor: &Vendor) -> Option<Measure> {
    let room_bytes = room_bytes(server);
    let demand = Demand::of(server, vendor);
    let measured = (room_bytes > 0).then_some(room_bytes as f64)?;
    let (mailboxes, asked) = (demand.mailboxes?, demand.bytes()?);
    let asked_with_reserve = None;
    Some(Measure { mailboxes, asked, asked_with_reserve, measured, enough_percent: 100.0 })
}

fn not_passed(server: &Server<'_>) -> Vec<Objection> {
    let mut objections = Vec::new();
    for (test, run) in server.tests() {
        let lacks = report::lacking(&run.verdict).is_some();
        if lacks || !matches!(run.verdict.outcome, Ruling::Pass | Ruling::Warn) {
            let outcome = report::verdict_name(&run.record, &run.verdict).to_lowercase();
            objections.push(Objection::NotPassed { test, outcome });
        }
    }
    objections
}

/// Loads measured for too short a time. A published result may not state its length.
fn too_short(server: &Server<'_>) -> Vec<Objection> {
    let tests = [
        (server.performance, PaperTest::Performance, TWO_HOURS_NS, "2 hours"),
        (server.reliability, PaperTest::Stress, A_DAY_NS, "24 hours"),
    ];
    let mut short = Vec::new();
    for (run, test, least_ns, least) in tests {
        // A phase ends with its last interval, which may end a moment early.
        if (1..least_ns / 100 * 99).contains(&run.map_or(0, measured_ns)) {
            short.push(Objection::Short { test, least });
        }
    }
    short
}
