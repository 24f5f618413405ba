//! What an agent costs the run that it publishes: the same load with and without an agent, in
//! alternating pairs, and the agent's processor time per I/O.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use record::{JOURNAL, RunRecord};

use crate::{folder, pairs};
use xtask::failure::Failure;
use xtask::shell;

/// Minimum share of its IOPS that a published run must keep.
const GOAL: f64 = 0.99;

/// Maximum processor time of the agent per transactional I/O.
const MOST_NS: f64 = 1_000.0;

/// Two databases that do not fit in the cache, loaded for as long as a verdict needs.
const PLAN: &str = "count = 2\nsize = \"512MiB\"\n[engine]\ncache_minimum = \"16MiB\"\n\
     cache_maximum = \"32MiB\"\n[workload]\nthreads = 4\n[test]\nduration = \"40s\"\n\
     warm_up_limit = \"10s\"\nchecksum = false\n";

/// Ticks of `/proc/PID/stat` are hundredths of a second.
const TICK_NS: f64 = 1e7;

/// A server, and an agent on this machine.
struct Published {
    folder: PathBuf,
    agent: Child,
    runs: usize,
    /// Processor time of the agent, and number of I/Os in the runs that it published.
    spent_ns: f64,
    requests: f64,
}

/// Prints the ratio of the pairs' IOPS and the processor time. Fails if either misses its limit.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    shell::run(&["cargo", "build", "-q", "--release", "-p", "plimsoll"])?;
    let folder = directory.join("plimsoll-bench-publishing");
    folder::remove(&folder)?;
    folder::create(&folder)?;
    let measured = compare(&folder);
    folder::remove(&folder)?;
    let (measured, ns) = measured?;
    let is_kept = measured.ratio >= GOAL && ns <= MOST_NS;
    println!(
        "publishing: {:.0} IOPS with an agent, {:.0} without: {:.4} x (at least {GOAL}); {ns:.0} \
         ns of its processor time an I/O (at most {MOST_NS}): {}",
        measured.ours,
        measured.peer,
        measured.ratio,
        if is_kept { "kept" } else { "MISSED" }
    );
    if is_kept {
        return Ok(());
    }
    Err(Failure::new("publishing costs the run more than it may"))
}

fn compare(folder: &Path) -> Result<(pairs::Pairs, f64), Failure> {
    let text = format!("[databases]\nfolders = [{:?}]\n{PLAN}", folder.display().to_string());
    fs::write(folder.join("h1.toml"), text).map_err(Failure::of)?;
    let plan = "name = \"one\"\n[[host]]\nhost = \"h1\"\nplan = \"h1.toml\"\n";
    fs::write(folder.join("fleet.toml"), plan).map_err(Failure::of)?;
    answer(folder, &["prepare", "h1.toml"])?;
    let mut published = Published::up(folder)?;
    let mut alone = 0;
    let measured = pairs::measure(
        GOAL,
        || published.load(),
        || {
            alone += 1;
            let output = format!("alone-{alone}");
            answer(folder, &["run", "h1.toml", "--output", &output])?;
            Ok(record(&folder.join(output))?.achieved_transactional_iops())
        },
    )?;
    Ok((measured, published.spent_ns / published.requests.max(1.0)))
}

impl Published {
    fn up(folder: &Path) -> Result<Self, Failure> {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        answer(folder, &["fleet", "up", "--listen", &free.map_err(Failure::of)?.to_string()])?;
        let words = ["agent", "--credentials", "plimsoll-fleet/agent.json", "--name", "h1"];
        let mut command = command(folder, &words);
        let agent = command.arg("--allow").arg(folder).spawn().map_err(Failure::of)?;
        let folder = folder.to_path_buf();
        Ok(Self { folder, agent, runs: 0, spent_ns: 0.0, requests: 0.0 })
    }

    /// Runs a load while it is published, and returns its IOPS.
    fn load(&mut self) -> Result<f64, Failure> {
        self.runs += 1;
        let output = format!("fleet-{}", self.runs);
        let before = self.spent()?;
        answer(&self.folder, &["fleet", "run", "fleet.toml", "--output", &output])?;
        self.spent_ns += self.spent()? - before;
        let record = record(&self.folder.join(output).join("hosts/h1"))?;
        let iops = record.achieved_transactional_iops();
        self.requests += iops * record.start.settings.measure_ns as f64 / 1e9;
        Ok(iops)
    }

    /// Processor time of the agent so far, in nanoseconds.
    fn spent(&self) -> Result<f64, Failure> {
        let path = format!("/proc/{}/stat", self.agent.id());
        let text = fs::read_to_string(path).map_err(Failure::of)?;
        // The program's name may contain spaces; the fields after it do not.
        let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
        let ticks = fields.split_whitespace().skip(11).take(2);
        Ok(ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * TICK_NS)
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        let _ = self.agent.kill().and_then(|()| self.agent.wait());
        let _ = answer(&self.folder, &["fleet", "down"]);
    }
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(shell::root().join("target/release/plimsoll"));
    command.arg("--quiet").args(words).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Runs the program to its end; a negative verdict does not count as failure.
fn answer(folder: &Path, words: &[&str]) -> Result<(), Failure> {
    command(folder, words).status().map(drop).map_err(Failure::of)
}

fn record(folder: &Path) -> Result<RunRecord, Failure> {
    let path = folder.join(JOURNAL);
    let bytes =
        fs::read(&path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    RunRecord::load(&bytes).map_err(Failure::of)
}
