//! Disks that several hosts load: hosts that share one compete for it.

use std::collections::BTreeMap;

use crate::FleetRecord;

/// A disk under the folders of several hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedDisk {
    /// Its serial number or world-wide name.
    pub id: String,
    /// The hosts that load it, in the order of the plan.
    pub hosts: Vec<String>,
}

impl SharedDisk {
    /// The finding in a sentence.
    pub fn sentence(&self) -> String {
        format!("{} load the same disk, {}: they compete for it.", self.hosts.join(", "), self.id)
    }
}

impl FleetRecord {
    /// Disks that more than one host loads.
    pub fn shared_disks(&self) -> Vec<SharedDisk> {
        let mut by_id: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for host in &self.hosts {
            for disk in host.facts.iter().flat_map(|facts| &facts.disks) {
                let hosts = by_id.entry(disk).or_default();
                if !hosts.contains(&host.name) {
                    hosts.push(host.name.clone());
                }
            }
        }
        let mut shared = Vec::new();
        for (id, hosts) in by_id.into_iter().filter(|(_, hosts)| hosts.len() > 1) {
            shared.push(SharedDisk { id: id.to_owned(), hosts });
        }
        shared
    }
}

#[cfg(test)]
mod tests {
    use crate::{FleetEvent, FleetRecord, HostFacts};

    #[test]
    fn hosts_on_one_disk_are_named_together() {
        let run = "r1".to_owned().try_into().expect("sound");
        let hosts = ["EX01", "EX02", "EX03"].map(str::to_owned).to_vec();
        let (name, build) = ("dag".to_owned(), "plimsoll".to_owned());
        let started = FleetEvent::Started { run, name, build, hosts, shared_storage: false };
        let facts = |disks: &[&str]| {
            let disks = disks.iter().map(|disk| (*disk).to_owned()).collect();
            HostFacts { disks, ..HostFacts::default() }
        };
        let disks: [&[&str]; 3] = [&["naa.1", "naa.1"], &["naa.2"], &["naa.2", "naa.1"]];
        let described = disks.into_iter().enumerate();
        let described =
            described.map(|(host, disks)| FleetEvent::Described { host, facts: facts(disks) });
        let events = [started].into_iter().chain(described);
        let text: String = events.map(|event| event.at(units::Nanos(1)).encode()).collect();
        let shared = FleetRecord::load(&text).expect("sound").shared_disks();
        assert_eq!(shared.len(), 2);
        assert_eq!(shared[0].hosts, ["EX01", "EX03"]);
        assert!(shared[1].sentence().contains("EX02, EX03 load the same disk, naa.2"));
    }
}
