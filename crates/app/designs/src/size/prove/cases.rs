//! The failures that a design claims to survive, as cases to play. A pure function of the layout.

use std::collections::{BTreeMap, BTreeSet};

use blueprint::PaperFailure;
use provision::Provision;
use provision::layout::{Failure, Mode, Quorum};
use rehearsal::{Happening, Occurrence, PlayedDeployment, timeline};
use units::Nanos;

/// Time of a failure, from the start of the simulation.
const AT: Nanos = Nanos::from_secs(600);

/// The claim without a failure. Every case begins with it.
pub(super) const NORMAL: &str = "normal operation";

/// The claim about a disk of each array.
pub(super) const ONE_DISK: &str = "one disk failed";

/// A claim and all ways that its failure can happen.
pub(super) struct PlayedClaim {
    pub name: String,
    /// The occurrences of each case; empty in normal operation.
    pub cases: Vec<Vec<Occurrence>>,
    /// Reason why the arithmetic already rejects it, if it does.
    pub(crate) objection: Option<PaperFailure>,
    /// Played length of each case.
    pub length: Nanos,
}

/// The claims of a design, in order: normal operation; with copies, the loss of each server, of
/// each pair of servers if no pair stops a database, of each site, and, if pairs are not claimed,
/// of one server of each site if that stops none; then the loss of a disk of each array.
pub(super) fn claims(provision: &Provision, deployment: &PlayedDeployment) -> Vec<PlayedClaim> {
    let hour = Nanos::from_secs(3_600);
    let mut all = vec![PlayedClaim {
        name: NORMAL.to_owned(),
        cases: vec![Vec::new()],
        objection: objection(provision, Failure::Servers(0)),
        length: hour,
    }];
    let members = members(deployment);
    let has_copies = has_copies(deployment);
    for mode in provision.modes.iter().filter(|mode| has_copies && is_claimed(mode)) {
        let cases = match mode.failure {
            Failure::Servers(1) => {
                members.iter().map(|&host| vec![lost(deployment, host)]).collect()
            }
            Failure::Servers(2) => pairs(&members)
                .into_iter()
                .map(|(one, two)| vec![lost(deployment, one), lost(deployment, two)])
                .collect(),
            Failure::Site => (0..2).map(|site| vec![site_lost(site)]).collect(),
            _ => continue,
        };
        let objection = objection(provision, mode.failure);
        let name = mode.failure.to_string();
        all.push(PlayedClaim { name, cases, objection, length: Nanos(2 * hour.0) });
    }
    if has_copies {
        all.extend(one_of_each_site(provision, deployment, &members));
    }
    all.push(PlayedClaim {
        name: ONE_DISK.to_owned(),
        cases: disks(deployment).into_iter().map(|of| vec![of]).collect(),
        // No server is lost, so its processors have at least the work of normal operation.
        objection: objection(provision, Failure::Servers(0)),
        length: Nanos(96 * hour.0),
    });
    all
}

/// Whether any database has a second copy, without which no server may be lost.
fn has_copies(deployment: &PlayedDeployment) -> bool {
    deployment.databases.iter().any(|of| of.copies.len() > 1)
}

/// Whether a design with copies claims to survive `mode`: one server and a site always, a pair if
/// all databases stay active and the group keeps quorum.
fn is_claimed(mode: &Mode) -> bool {
    match mode.failure {
        Failure::Servers(1) | Failure::Site => true,
        Failure::Servers(2) => mode.not_active == 0 && mode.quorum == Quorum::Kept,
        _ => false,
    }
}

/// The arithmetic's objection to a failure, if any.
fn objection(provision: &Provision, failure: Failure) -> Option<PaperFailure> {
    let mode = provision.modes.iter().find(|mode| mode.failure == failure)?;
    let burden = provision.needs.burden(mode);
    if let Some(share) = burden.and_then(|of| of.processor).filter(|share| *share > 1.0) {
        return Some(PaperFailure::Processors(share * 100.0));
    }
    (mode.quorum == Quorum::Lost).then_some(PaperFailure::NoQuorum)
}

/// Hosts of the first group, which represents the others.
fn members(deployment: &PlayedDeployment) -> Vec<usize> {
    (0..deployment.hosts.len()).filter(|&host| deployment.hosts[host].group == 0).collect()
}

fn pairs(of: &[usize]) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (at, &one) in of.iter().enumerate() {
        all.extend(of[at + 1..].iter().map(|&two| (one, two)));
    }
    all
}

fn occurrence(what: Happening, text: String) -> Occurrence {
    Occurrence { at: AT, until: None, what, text, take_over: Vec::new() }
}

fn lost(deployment: &PlayedDeployment, host: usize) -> Occurrence {
    occurrence(Happening::HostLost { host }, deployment.hosts[host].name.clone())
}

fn site_lost(site: usize) -> Occurrence {
    occurrence(Happening::SiteLost { site }, format!("site {}", site + 1))
}

/// A server of each site, for designs that do not claim every pair, if no database would stop.
fn one_of_each_site(
    provision: &Provision,
    deployment: &PlayedDeployment,
    members: &[usize],
) -> Option<PlayedClaim> {
    let pair = provision.modes.iter().find(|mode| mode.failure == Failure::Servers(2));
    if pair.is_some_and(is_claimed) {
        return None;
    }
    let cases: Vec<Vec<Occurrence>> = pairs(members)
        .into_iter()
        .filter(|&(one, two)| deployment.hosts[one].site != deployment.hosts[two].site)
        .map(|(one, two)| vec![lost(deployment, one), lost(deployment, two)])
        .collect();
    let length = Nanos(2 * 3_600_000_000_000);
    let stays = |case: &Vec<Occurrence>| {
        timeline(deployment, case, length).iter().all(|of| of.inactive() == 0)
    };
    (!cases.is_empty() && cases.iter().all(stays)).then(|| PlayedClaim {
        name: "a server of each site failed".to_owned(),
        cases,
        objection: objection(provision, Failure::Servers(0)),
        length,
    })
}

/// One disk of each array in the first group. Of identical arrays with equally many databases and
/// active databases, the first fails.
fn disks(deployment: &PlayedDeployment) -> Vec<Occurrence> {
    let mut arrays: BTreeMap<usize, (usize, usize, usize)> = BTreeMap::new();
    for database in &deployment.databases {
        for (at, copy) in database.copies.iter().enumerate() {
            if deployment.hosts[copy.host].group == 0 {
                let (_, all, active) = arrays.entry(copy.place.array).or_insert((copy.host, 0, 0));
                (*all, *active) = (*all + 1, *active + usize::from(at == 0));
            }
        }
    }
    let mut seen = BTreeSet::new();
    arrays.retain(|&array, (_, all, active)| {
        seen.insert((deployment.arrays[array].name.clone(), *all, *active))
    });
    arrays
        .into_iter()
        .map(|(array, (host, ..))| {
            let text = format!("a disk of {}", deployment.hosts[host].name);
            occurrence(Happening::DiskFailed { array }, text)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use plan::Deployment;
    use rehearsal::{PlayedCopy, PlayedDeployment};

    use super::{claims, disks};
    use crate::size::prove::fixture::deployment;

    fn names(of: &PlayedDeployment) -> Vec<String> {
        disks(of).into_iter().map(|of| of.text).collect()
    }

    #[test]
    fn a_disk_of_each_array_that_differs_fails() {
        let mut deployment = deployment(4);
        assert_eq!(names(&deployment), ["a disk of EX00"]);
        deployment.arrays[3].name = "a smaller set".to_owned();
        assert_eq!(names(&deployment), ["a disk of EX00", "a disk of EX03"]);
        // One more database on the second host, active there.
        let mut more = deployment.databases[1].clone();
        more.copies.truncate(1);
        deployment.databases.push(more);
        assert_eq!(names(&deployment), ["a disk of EX00", "a disk of EX01", "a disk of EX03"]);
    }

    #[test]
    fn processors_that_are_too_slow_refute_every_claim() {
        // With a third copy of each database, no pair of servers stops one.
        let mut played = deployment(4);
        for (number, database) in (0..).zip(&mut played.databases) {
            let third = PlayedCopy { host: (number + 2) % 4, ..database.copies[0] };
            database.copies.push(third);
        }
        let claims_of = |rate: u32, copies: u32| {
            let text = format!(
                "[[tier]]\nmailboxes = 9000\nmessages_per_day = 200\nsize_limit = \"2GiB\"\n\
                 [availability]\nservers_per_site = 4\ncopies = {copies}\n[servers]\n\
                 cores = 16\nspec_rate = {rate}\n"
            );
            let parsed = Deployment::parse("d.toml", &text).expect("a deployment");
            let (provision, _) = crate::plan::laid_out(&parsed, None).expect("a layout");
            claims(&provision, &played)
        };
        for (copies, name) in [(3, "two servers failed"), (2, "a server of each site failed")] {
            let slow = claims_of(50, copies);
            assert!(slow.iter().any(|of| of.name == name), "{name}");
            let spared = slow.iter().find(|of| of.objection.is_none()).map(|of| &of.name);
            assert_eq!(spared, None);
            assert!(claims_of(5_000, copies).iter().all(|of| of.objection.is_none()), "{name}");
        }
    }
}
