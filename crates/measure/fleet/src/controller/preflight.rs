//! What can be known before anything starts: that all hosts run the same release, lack nothing, and
//! do not write to each other's folders.

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

/// Folders that two hosts on one machine would write to. The same path on two machines is two
/// folders unless storage is shared, which the plan must then say.
fn folders_used_twice(hosts: &[FleetHost]) -> Vec<String> {
    let mut used: Vec<(String, String, &str)> = Vec::new();
    for host in hosts {
        let machine = host.facts.as_ref().map_or("", |facts| facts.machine.as_str());
        let Ok(plan) = Plan::parse(&host.name, &host.plan) else { continue };
        let files = plan.databases.iter();
        let files = files.map(|database| format!("{}/{}", database.folder, database.file));
        used.extend(files.map(|file| (machine.to_owned(), file, host.name.as_str())));
    }
    used.sort();
    used.windows(2)
        .filter(|two| two[0].0 == two[1].0 && two[0].1 == two[1].1)
        .map(|two| {
            format!(
                "{} and {} both use {}: give each host its own, or say `shared_storage = true`",
                two[0].2, two[1].2, two[0].1
            )
        })
        .collect()
}
