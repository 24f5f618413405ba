//! What follows from the tests, which is no more than they show.

use record::ServerLoad;
use report::format;
use verdict::{MailboxRoom, Ruling};

use super::results::{A_DAY_NS, TWO_HOURS_NS};
use super::said;
use crate::figures::Demand;
use crate::paper::{Chapter, Content, Wanted, Words};
use crate::roles::{Server, measured_ns};
use crate::vendor::Vendor;

pub(super) fn chapter(servers: &[Server<'_>], vendor: &Vendor) -> Chapter {
    let mut content = vec![outcome(servers)];
    content.extend(servers.iter().filter_map(|server| against_demand(server, vendor)));
    content.push(said(
        "These tests look for storage that is too slow, wrong or unreliable under the load of \
         mailbox databases. They are no benchmark and say nothing of loads that were not made.",
    ));
    super::chapter("conclusion", "Conclusion", content)
}

/// Whether every test that papers ask for was passed.
fn outcome(servers: &[Server<'_>]) -> Content {
    let tests =
        || servers.iter().flat_map(|server| server.tests().into_iter().map(move |of| (server, of)));
    let not_passed: Vec<String> = tests()
        .filter(|(_, (_, run))| !matches!(run.verdict.outcome, Ruling::Pass | Ruling::Warn))
        .map(|(server, (test, run))| {
            let outcome = report::verdict_name(&run.record, &run.verdict);
            format!("{} of {}: {outcome}", test.name(), server.name)
        })
        .collect();
    if !not_passed.is_empty() {
        return said(format!(
            "NOT every test was passed as it is judged here, so that no suitability follows: {}.",
            not_passed.join("; ")
        ));
    }
    if !servers.iter().all(Server::is_whole) {
        return Content::Paragraph(Words::Missing {
            what: "a conclusion: each server has tests of load, stress, backup and recovery",
            wanted: Wanted::Test("tests that are missing above"),
        });
    }
    if let Some(short) = servers.iter().find_map(too_short) {
        return said(format!(
            "Every test was passed, but {short}, so that no suitability follows: what was measured \
             is less than papers ask for."
        ));
    }
    let lacking: Vec<String> = servers.iter().filter_map(lacking).collect();
    if !lacking.is_empty() {
        return said(format!(
            "Every test was passed, but less than the plans ask for was shown, so that no \
             suitability follows: {}.",
            lacking.join("; ")
        ));
    }
    said(
        "Every test was passed: latencies, reliability and checksums kept their limits, which the \
         appendices list with what was measured against each.",
    )
}

/// Which load of a server was measured for less time than papers ask for. A published result may
/// not state it.
fn too_short(server: &Server<'_>) -> Option<String> {
    let tests = [
        (server.performance, "performance", TWO_HOURS_NS, "2 hours"),
        (server.reliability, "reliability", A_DAY_NS, "24 hours"),
    ];
    tests.into_iter().find_map(|(run, what, least_ns, least)| {
        let measured_ns = measured_ns(run?);
        // The end of a phase comes with the last interval, which may be a moment early.
        let is_short = (1..least_ns / 100 * 99).contains(&measured_ns);
        is_short.then(|| format!("the test of {what} of {} took less than {least}", server.name))
    })
}

/// What the tests of a server lack of what their plans ask for, if anything.
fn lacking(server: &Server<'_>) -> Option<String> {
    let mut tests = server.tests().into_iter();
    let (test, run) = tests.find(|(_, run)| report::lacking(&run.verdict).is_some())?;
    let outcome = report::verdict_name(&run.record, &run.verdict);
    let room = MailboxRoom::of(&run.record).filter(|_| run.verdict.lacks_room());
    let room = room.map(|room| {
        let (fitting, wanted) = (format::whole(room.fitting()), format::whole(room.wanted));
        format!(" (room for {fitting} of {wanted} mailboxes)")
    });
    let room = room.unwrap_or_default();
    Some(format!("{} of {}: {outcome}{room}", test.name(), server.name))
}

/// What was achieved beside what the mailboxes ask for.
fn against_demand(server: &Server<'_>, vendor: &Vendor) -> Option<Content> {
    let achieved = ServerLoad::of(&server.performance?.record).transfers_per_second?;
    let demand = Demand::of(server, vendor);
    let asked = demand.iops()?;
    let (share, mailboxes) = (achieved / asked * 100.0, demand.mailboxes?);
    let enough = if achieved < asked { "which is NOT enough" } else { "which is enough" };
    Some(said(format!(
        "{}: {} active mailboxes ask for {} IOPS; {} were achieved, {} % of them, {enough}.",
        server.name,
        format::whole(mailboxes),
        format::number(asked, 0),
        format::number(achieved, 2),
        format::number(share, 0)
    )))
}
