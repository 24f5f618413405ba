//! The parts of a fleet for a proof, and the plans of its hosts.

use std::fmt::Write as _;
use std::path::Path;

/// Hosts, databases and load.
pub(super) struct Design {
    pub(super) hosts: usize,
    /// Seconds of the measurement.
    pub(super) measured: u32,
    /// Target of each host with all of its databases active.
    pub(super) target_iops: u32,
    /// Sessions of each database.
    pub(super) threads: u32,
    /// The databases of which a host has copies; hosts are counted from 1.
    pub(super) databases: fn(usize) -> Vec<String>,
    /// The fleet plan beyond its hosts.
    pub(super) plan: &'static str,
    /// A host with its databases on a faulty volume.
    pub(super) faulty: Option<usize>,
}

/// The disk of this machine is not on trial: only a load that is not carried fails.
const LIMITS: &str = "[limits]\nread_average = \"1s\"\nread_maximum = \"4s\"\n\
     log_write_average = \"1s\"\nlog_write_maximum = \"4s\"\n";

/// Four hosts with one database each.
pub(super) const PLAIN: Design = Design {
    hosts: super::network::HOSTS,
    measured: 25,
    target_iops: 40,
    threads: 1,
    databases: |_| vec!["DB1".to_owned()],
    plan: "",
    faulty: None,
};

/// The name of a host.
pub(super) fn host_name(host: usize) -> String {
    format!("h{host}")
}

impl Design {
    /// The fleet plan.
    pub(super) fn fleet_plan(&self, name: &str) -> String {
        let mut plan = format!("name = {name:?}\n");
        plan.push_str(self.plan);
        for host in (1..=self.hosts).map(host_name) {
            let _ = writeln!(plan, "[[host]]\nhost = {host:?}\nplan = \"{host}.toml\"");
        }
        plan
    }

    /// The plan of a host, whose databases lie below `data`.
    pub(super) fn host_plan(&self, host: usize, data: &Path) -> String {
        let folders = (self.databases)(host).into_iter().map(|name| data.join(name));
        let folders: Vec<String> = folders.map(|path| format!("{:?}", path.display())).collect();
        let (folders, seconds) = (folders.join(", "), self.measured);
        let (threads, iops) = (self.threads, self.target_iops);
        format!(
            "[databases]\nfolders = [{folders}]\nsize = \"16MiB\"\n\
             [engine]\ncache_minimum = \"2MiB\"\ncache_maximum = \"4MiB\"\n\
             [workload]\nthreads = {threads}\ntarget_iops = {iops}\n\
             [test]\nduration = \"{seconds}s\"\nwarm_up_limit = \"1s\"\ninterval = \"1s\"\n\
             maintenance = false\n{LIMITS}"
        )
    }
}
