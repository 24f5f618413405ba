//! Hosts that share an array, directly or through others: each group is one simulation.

use std::collections::{BTreeMap, BTreeSet};

use crate::PlayedDeployment;

/// Hosts and the arrays that no other host uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostGroup {
    /// Numbers of the hosts, in order.
    pub hosts: Vec<usize>,
    /// Numbers of the arrays, in order.
    pub arrays: Vec<usize>,
    /// Database and copy number of each copy on the hosts, in order.
    pub copies: Vec<(usize, usize)>,
}

impl HostGroup {
    /// Host of each copy in the group, and the copy's index among those of the host.
    pub fn positions(&self, deployment: &PlayedDeployment) -> Vec<(usize, usize)> {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let copies = self.copies.iter().map(|of| &deployment.databases[of.0].copies[of.1]);
        copies
            .map(|copy| {
                let count = counts.entry(copy.host).or_default();
                *count += 1;
                (copy.host, *count - 1)
            })
            .collect()
    }
}

/// The groups of a deployment, ordered by first host. A host without copies belongs to none.
pub fn groups(deployment: &PlayedDeployment) -> Vec<HostGroup> {
    let mut arrays_of: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (_, copy) in deployment.copies() {
        let own = arrays_of.entry(copy.host).or_default();
        own.extend([copy.place.array, copy.log.array]);
    }
    let mut groups: Vec<(BTreeSet<usize>, BTreeSet<usize>)> = Vec::new();
    for (host, mut arrays) in arrays_of {
        let mut hosts = BTreeSet::from([host]);
        let (joined, others): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|(_, of)| !of.is_disjoint(&arrays));
        for (more, of) in joined {
            hosts.extend(more);
            arrays.extend(of);
        }
        groups = others;
        groups.push((hosts, arrays));
    }
    let mut groups: Vec<HostGroup> = groups
        .into_iter()
        .map(|(hosts, arrays)| HostGroup {
            copies: deployment
                .copies()
                .filter(|(_, copy)| hosts.contains(&copy.host))
                .map(|(of, _)| of)
                .collect(),
            hosts: hosts.into_iter().collect(),
            arrays: arrays.into_iter().collect(),
        })
        .collect();
    groups.sort_by(|one, other| one.hosts.cmp(&other.hosts));
    groups
}
