//! Next steps after a simulated deployment, with the options that the user gave.

use blueprint::PlayedReport;
use rehearsal::{Duty, PlayedDatabase, PlayedDeployment, Stretch};
use report::{Interruption, SimulatedDeployment};
use verdict::Ruling;

use super::super::flags::SimulateFlags;
use super::super::{command, given};
use super::USUAL;
use console::Outcome;
use console::shell::shell_word;

/// The steps after hosts were played together.
pub(super) fn of_played(flags: &SimulateFlags, report: &PlayedReport<'_>) -> Vec<String> {
    let judged = &report.judgements[0];
    report::deployment_steps(&SimulatedDeployment {
        interruption: interruption(report.deployment, report.stretches),
        limit: judged.breaches.first().map(|of| of.limit.name().to_owned()),
        spare_host: spare_host(report.deployment).filter(|_| report.occurrences.is_empty()),
        ..asked(flags, report.ruling())
    })
}

/// The steps after each host was simulated, alone or in one pass with the others.
pub(super) fn of_hosts(flags: &SimulateFlags, outcome: Outcome) -> Vec<String> {
    let ruling = match outcome {
        Outcome::Pass => Ruling::Pass,
        Outcome::Fail => Ruling::Fail,
        Outcome::CannotJudge => Ruling::CannotJudge,
    };
    report::deployment_steps(&asked(flags, ruling))
}

/// The deployment as far as flags and verdict describe it.
fn asked(flags: &SimulateFlags, outcome: Ruling) -> SimulatedDeployment {
    let is_provision = flags.plan.extension().is_some_and(|of| of.eq_ignore_ascii_case("json"));
    SimulatedDeployment {
        command: command(flags),
        options: options(flags),
        outcome,
        interruption: None,
        limit: None,
        spare_host: None,
        length: flags.duration.unwrap_or(USUAL),
        fleet: (!is_provision).then(|| shell_word(&flags.plan)),
    }
}

fn options(flags: &SimulateFlags) -> Vec<(String, String)> {
    let events = flags.events.iter().map(|event| ("--event", shell_word(event.as_ref())));
    let seeds = (flags.seeds > 1).then(|| ("--seeds", flags.seeds.to_string()));
    let rebuild = flags.rebuild_rate.map(|rate| ("--rebuild-rate", plan::write_shown_size(rate)));
    let shared = flags.shared_array.then(|| ("--shared-array", String::new()));
    let own = events.chain(seeds).chain(rebuild).chain(shared);
    let mut all = given(flags, flags.seed, &[]);
    all.extend(own.map(|(option, value)| (option.to_owned(), value)));
    all
}

/// Why databases had no active copy; of several reasons the one that more copies do not remove.
fn interruption(deployment: &PlayedDeployment, stretches: &[Stretch]) -> Option<Interruption> {
    let mut found = None;
    for stretch in stretches {
        for (database, duties) in deployment.databases.iter().zip(&stretch.duties) {
            if !duties.contains(&Duty::Active) {
                found = found.max(Some(why_inactive(database, duties, &stretch.up)));
            }
        }
    }
    found
}

fn why_inactive(database: &PlayedDatabase, duties: &[Duty], up: &[bool]) -> Interruption {
    let idle =
        database.copies.iter().zip(duties).any(|(copy, duty)| up[copy.host] && *duty == Duty::Idle);
    match (duties.contains(&Duty::CatchingUp), idle) {
        (true, _) => Interruption::Lagged,
        (false, true) => Interruption::NoQuorum,
        (false, false) => Interruption::NoCopy,
    }
}

/// The first host with active databases, all of which other hosts hold too.
fn spare_host(deployment: &PlayedDeployment) -> Option<String> {
    let mut hosts = deployment.hosts.iter().enumerate();
    let found = hosts.find(|(host, _)| {
        let databases = deployment.databases.iter();
        let mut active = databases
            .filter(|of| of.copies.first().is_some_and(|copy| copy.host == *host))
            .peekable();
        active.peek().is_some() && active.all(|of| of.copies.len() > 1)
    });
    found.map(|(_, host)| host.name.clone())
}

#[cfg(test)]
mod tests {
    use rehearsal::{PlayedCopy, PlayedDatabase, PlayedDeployment, PlayedHost, PlayedRules};

    use simdisk::operations::OperationPlace;

    use units::Nanos;

    use super::{Duty, Interruption, Stretch, interruption, spare_host};

    fn deployment(copies: &[&[usize]]) -> PlayedDeployment {
        let place = OperationPlace { array: 0, base: 0, bytes: 1 };
        let copy = |&host: &usize| PlayedCopy { host, place, log: place, is_lagged: false };
        let host = |name: &str| PlayedHost { name: name.to_owned(), site: 0, group: 0 };
        PlayedDeployment {
            hosts: ["EX01", "EX02"].map(host).to_vec(),
            arrays: Vec::new(),
            databases: (copies.iter())
                .map(|hosts| PlayedDatabase {
                    name: "DB".to_owned(),
                    profile: 0,
                    iops: None,
                    sessions: 1,
                    copies: hosts.iter().map(copy).collect(),
                })
                .collect(),
            profiles: Vec::new(),
            rules: PlayedRules::default(),
        }
    }

    #[test]
    fn databases_are_inactive_for_want_of_copies_of_votes_or_of_log() {
        let deployment = deployment(&[&[0, 1]]);
        let why = |duties: [Duty; 2], up: [bool; 2]| {
            let stretch = Stretch {
                from: Nanos::ZERO,
                to: Nanos::from_secs(60),
                begun: Vec::new(),
                up: up.to_vec(),
                duties: vec![duties.to_vec()],
                failed_drives: Vec::new(),
            };
            interruption(&deployment, &[stretch])
        };
        assert_eq!(why([Duty::Active, Duty::Idle], [true, false]), None);
        assert_eq!(why([Duty::Idle; 2], [false; 2]), Some(Interruption::NoCopy));
        assert_eq!(why([Duty::Idle; 2], [false, true]), Some(Interruption::NoQuorum));
        let replays = [Duty::Idle, Duty::CatchingUp];
        assert_eq!(why(replays, [false, true]), Some(Interruption::Lagged));
    }

    #[test]
    fn only_a_host_whose_databases_have_other_copies_is_lost_on_trial() {
        assert_eq!(spare_host(&deployment(&[&[0], &[1]])), None);
        let second = Some("EX02".to_owned());
        assert_eq!(spare_host(&deployment(&[&[0], &[0, 1], &[1, 0]])), second);
        assert_eq!(spare_host(&deployment(&[&[1, 0]])), second, "the first has none");
    }
}
