//! Which failures a design claims to survive, as cases to play. A pure function of the layout.

use provision::Provision;
use provision::layout::{Failure, Mode, Quorum};
use rehearsal::{Happening, Occurrence, PlayedDeployment};
use units::Nanos;

/// When a failure comes.
const AT: Nanos = Nanos::from_secs(600);

/// A claim and all ways in which its failure can happen.
pub(super) struct PlayedClaim {
    pub name: String,
    /// The occurrences of each case; none in normal operation.
    pub cases: Vec<Vec<Occurrence>>,
    /// Why the arithmetic calls it failed already.
    pub objection: Option<String>,
    /// How long each case is played.
    pub length: Nanos,
}

/// The claims of a design: normal operation, a disk, each server, each pair whose loss stops no
/// database, each site.
pub(super) fn claims(provision: &Provision, deployment: &PlayedDeployment) -> Vec<PlayedClaim> {
    let hour = Nanos::from_secs(3_600);
    let mut all = vec![PlayedClaim {
        name: "normal operation".to_owned(),
        cases: vec![Vec::new()],
        objection: objection(provision, Failure::Servers(0)),
        length: hour,
    }];
    let members = members(deployment);
    for mode in provision.modes.iter().filter(|mode| is_claimed(mode)) {
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
    all.push(PlayedClaim {
        name: "one disk failed".to_owned(),
        cases: vec![vec![disk_failed(deployment)]],
        objection: None,
        length: Nanos(96 * hour.0),
    });
    all
}

/// One server is claimed by every design with copies, a pair where all databases would stay active,
/// a site wherever there are two.
fn is_claimed(mode: &Mode) -> bool {
    match mode.failure {
        Failure::Servers(1) | Failure::Site => true,
        Failure::Servers(2) => mode.not_active == 0 && mode.quorum == Quorum::Kept,
        _ => false,
    }
}

/// What the arithmetic says against a failure.
fn objection(provision: &Provision, failure: Failure) -> Option<String> {
    let mode = provision.modes.iter().find(|mode| mode.failure == failure)?;
    let burden = provision.needs.burden(mode);
    if let Some(share) = burden.and_then(|of| of.processor).filter(|share| *share > 1.0) {
        return Some(format!("processors are {:.0} % busy", share * 100.0));
    }
    (mode.quorum == Quorum::Lost).then(|| "no quorum is left".to_owned())
}

/// Hosts of the first group: the others are like it.
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

fn disk_failed(deployment: &PlayedDeployment) -> Occurrence {
    let copy = &deployment.databases[0].copies[0];
    let text = format!("a disk of {}", deployment.hosts[copy.host].name);
    occurrence(Happening::DiskFailed { array: copy.place.array }, text)
}
