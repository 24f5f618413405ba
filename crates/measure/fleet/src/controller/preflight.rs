//! Checks before anything starts: that all hosts run the same release, lack nothing, and do not
//! write to each other's folders.

use plan::Plan;

use super::host::FleetHost;

/// Everything that forbids the run, in sentences.
pub(super) fn faults(hosts: &[FleetHost], shared_storage: bool) -> Vec<String> {
    let mut faults = other_releases(hosts);
    faults.extend(hosts.iter().filter_map(two_agents));
    for host in hosts {
        let hindrances = host.facts.iter().flat_map(|facts| &facts.hindrances);
        faults.extend(hindrances.map(|hindrance| format!("{}: {hindrance}", host.name)));
    }
    if !shared_storage {
        faults.extend(folders_used_twice(hosts));
    }
    faults
}

fn two_agents(host: &FleetHost) -> Option<String> {
    let (agent, rival) = (host.agent()?, host.rival.as_ref()?);
    Some(format!(
        "two agents call their host {}: write {agent} or {rival} as `host`, whichever is meant",
        host.name
    ))
}

fn other_releases(hosts: &[FleetHost]) -> Vec<String> {
    let Some((name, first)) = hosts.first().and_then(release) else {
        return Vec::new();
    };
    hosts
        .iter()
        .filter_map(release)
        .filter(|(_, other)| *other != first)
        .map(|(other, build)| {
            format!(
                "{other} runs {build} and {name} runs {first}: install the same release on every \
                 host"
            )
        })
        .collect()
}

fn release(host: &FleetHost) -> Option<(&str, &str)> {
    Some((&host.name, &host.facts.as_ref()?.build))
}

/// Returns files that two hosts on one machine would write to. The same path on two machines is two
/// files unless storage is shared, which the plan must then state.
fn folders_used_twice(hosts: &[FleetHost]) -> Vec<String> {
    let mut used: Vec<((&str, &str), String, &str)> = Vec::new();
    for host in hosts {
        let Ok(plan) = Plan::parse(&host.name, &host.plan) else { continue };
        let files = plan.databases.iter();
        let files = files.map(|database| format!("{}/{}", database.folder, database.file));
        used.extend(files.map(|file| (machine(host), file, host.name.as_str())));
    }
    used.sort();
    used.windows(2)
        .filter(|two| (two[0].0, &two[0].1) == (two[1].0, &two[1].1))
        .map(|two| {
            format!(
                "{} and {} both use {} of one machine: give each host its own, or say \
                 `shared_storage = true`",
                two[0].2, two[1].2, two[0].1
            )
        })
        .collect()
}

/// Returns the machine of a host and its current boot.
fn machine(host: &FleetHost) -> (&str, &str) {
    host.facts.as_ref().map_or(("", ""), |facts| (&facts.machine, &facts.boot))
}

#[cfg(test)]
mod tests {
    use super::faults;
    use crate::HostFacts;
    use crate::controller::HostWork;
    use crate::controller::host::FleetHost;

    /// A host with the same plan as every other, on a machine that others are cloned from.
    fn host(name: &str, boot: &str) -> FleetHost {
        let plan = "[databases]\nfolders = [\"/mnt/db1\"]\nsize = \"1GiB\"\n".to_owned();
        let mut host = FleetHost::new(name, HostWork { plan, duties: Vec::new() });
        let (machine, boot) = ("0123".to_owned(), boot.to_owned());
        host.facts = Some(HostFacts { machine, boot, ..HostFacts::default() });
        host
    }

    #[test]
    fn two_agents_of_one_machine_share_no_file_and_clones_have_their_own() {
        let twice = [host("EX01", "b1"), host("EX02", "b1")];
        let found = faults(&twice, false);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("EX01 and EX02 both use /mnt/db1/"), "{found:?}");
        assert!(faults(&twice, true).is_empty());
        let clones = [host("EX01", "b1"), host("EX02", "b2")];
        assert!(faults(&clones, false).is_empty());
    }
}
