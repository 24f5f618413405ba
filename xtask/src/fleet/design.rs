//! What a fleet consists of in a case, and the plans of its hosts.

use std::fmt::Write as _;
use std::path::Path;

/// Number of hosts, their databases and their load.
pub(super) struct Design {
    pub(super) hosts: usize,
    /// Length of the measurement in seconds.
    pub(super) measured: u32,
    /// Target IOPS of a host whose databases are all active.
    pub(super) target_iops: u32,
    /// Sessions of each database.
    pub(super) threads: u32,
    /// Names of the databases that a host, counted from 1, has copies of.
    pub(super) databases: fn(usize) -> Vec<String>,
    /// Lines of the fleet plan besides its hosts.
    pub(super) plan: &'static str,
    /// The host whose databases are on a volume that can fail, if any.
    pub(super) faulty: Option<usize>,
}

/// Limits so high that the disk of this machine is not judged: only a load that is not reached
/// fails.
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

    /// The plan of a host, whose databases are below `data`.
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
