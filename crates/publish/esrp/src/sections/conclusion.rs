//! The conclusion of the tests: one sentence made of every finding, so that it cannot contradict
//! itself, and claims no more than the tests show.

mod grounds;

use report::format;

use super::said;
use crate::paper::{Chapter, Content, Wanted, Words};
use crate::roles::Server;
use crate::vendor::Vendor;

use grounds::{Measure, Objection, requests, room};

pub(super) fn chapter(servers: &[Server<'_>], vendor: &Vendor) -> Chapter {
    let content = vec![
        Content::Paragraph(conclusion(servers, vendor)),
        said(
            "These tests look for storage that is too slow, wrong or unreliable under the load of \
             mailbox databases. They are no benchmark and say nothing of loads that were not made.",
        ),
    ];
    super::chapter("conclusion", "Conclusion", content)
}

fn conclusion(servers: &[Server<'_>], vendor: &Vendor) -> Words {
    let mut objections = Vec::new();
    for server in servers {
        let own = grounds::objections(server, vendor);
        objections.extend(own.iter().map(|of| objection(&server.name, of)));
    }
    let are_whole = servers.iter().all(Server::is_whole);
    match (objections.is_empty(), are_whole) {
        (true, false) => Words::Missing {
            what: "a conclusion: each server has tests of load, stress, backup and recovery",
            wanted: Wanted::Test("tests that are missing above"),
        },
        (true, true) => Words::said(nothing_objected(servers, vendor)),
        (false, _) => {
            if !are_whole {
                objections.push("tests are missing above".to_owned());
            }
            let reasons = objections.join("; ");
            Words::said(format!("This paper does not establish suitability: {reasons}."))
        }
    }
}

fn objection(server: &str, objection: &Objection) -> String {
    match objection {
        Objection::NotPassed { test, outcome } => {
            format!("the verdict on the {} of {server}: {outcome}", test.name().to_lowercase())
        }
        Objection::Short { test, least } => {
            format!("the {} of {server} took less than {least}", test.name().to_lowercase())
        }
        Objection::FewRequests(of) => format!("{} - NOT enough", requests_words(server, of)),
        Objection::LittleRoom(of) => format!("{} - NOT enough", room_words(server, of)),
    }
}

/// The conclusion if all tests exist and passed, and no requirement is known to be missed.
fn nothing_objected(servers: &[Server<'_>], vendor: &Vendor) -> String {
    let mut unknown = Vec::new();
    for server in servers {
        if requests(server, vendor).is_none() {
            unknown.push(format!("the IOPS asked of {}", server.name));
        }
        if room(server, vendor).is_none() {
            unknown.push(format!("the room asked of {}", server.name));
        }
    }
    let facts: Vec<String> = servers.iter().flat_map(|server| facts(server, vendor)).collect();
    let passed = "every test was passed";
    if unknown.is_empty() {
        let facts = facts.join("; ");
        return format!("The tests establish suitability for these mailboxes: {passed}; {facts}.");
    }
    let known = [vec![passed.to_owned()], facts].concat().join("; ");
    format!(
        "The storage kept its limits: {known}; suitability for mailboxes does not follow without \
         {}.",
        unknown.join(", ")
    )
}

/// The measurements next to the demand of the mailboxes, as far as both are known.
pub(super) fn facts(server: &Server<'_>, vendor: &Vendor) -> Vec<String> {
    let requests = requests(server, vendor).map(|of| requests_words(&server.name, &of));
    let room = room(server, vendor).map(|of| room_words(&server.name, &of));
    requests.into_iter().chain(room).collect()
}

fn requests_words(server: &str, of: &Measure) -> String {
    let (is_below, percent) = (of.measured < of.asked, of.enough_percent);
    let enough =
        if is_below { format!(", of which {percent:.0} % are enough") } else { String::new() };
    format!(
        "{server} achieved {} IOPS, and its {} active mailboxes ask for {}{}{enough}",
        format::number(of.measured, 2),
        format::whole(of.mailboxes),
        format::number(of.asked, 0),
        reserved(of)
    )
}

/// The same demand with the reserve of the plan, which other chapters use.
fn reserved(of: &Measure) -> String {
    let with_reserve = of.asked_with_reserve.filter(|&iops| iops > of.asked);
    let said =
        with_reserve.map(|iops| format!(" without reserve ({} with it)", format::number(iops, 0)));
    said.unwrap_or_default()
}

fn room_words(server: &str, of: &Measure) -> String {
    format!(
        "the volumes of {server} have room for {}, and the databases of its {} active mailboxes \
         take {}",
        format::room(bytes(of.measured)),
        format::whole(of.mailboxes),
        format::size(bytes(of.asked))
    )
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a size is positive, and a fraction of a byte is none"
)]
fn bytes(size: f64) -> u64 {
    size as u64
}
