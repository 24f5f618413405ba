//! What the machine is, and what it does while a run goes on (proc(5)).

use std::cell::RefCell;
use std::fs;
use std::time::Instant;

use record::{HostSample, Machine};
use trial::HostSampler;
use units::Nanos;

use super::pause::PauseWatch;
use super::ticks::{self, MachineTicks};

/// Ticks per second in which the kernel counts processor time for programs (`USER_HZ`, the same on
/// every system that Linux runs on today).
const TICKS_PER_SECOND: f64 = 100.0;

/// Samples `/proc`.
pub(super) struct LinuxHost {
    before: RefCell<(Instant, (MachineTicks, u64))>,
    pauses: PauseWatch,
}

impl LinuxHost {
    /// Samples count from now.
    pub(super) fn new(pauses: PauseWatch) -> Self {
        Self { before: RefCell::new((Instant::now(), ticks())), pauses }
    }
}

impl HostSampler for LinuxHost {
    fn sample(&self) -> HostSample {
        let now = (Instant::now(), ticks());
        let (then, (before, process_before)) = self.before.replace(now);
        let (after, process_after) = now.1;
        let total = after.total.saturating_sub(before.total).max(1) as f64;
        let seconds = now.0.duration_since(then).as_secs_f64().max(1e-9);
        let process = process_after.saturating_sub(process_before) as f64 / TICKS_PER_SECOND;
        HostSample {
            processor_percent: after.busy.saturating_sub(before.busy) as f64 / total * 100.0,
            steal_percent: after.steal.saturating_sub(before.steal) as f64 / total * 100.0,
            process_percent: process / seconds * 100.0,
            available_memory_bytes: memory("/proc/meminfo", "MemAvailable:"),
            process_resident_bytes: memory("/proc/self/status", "VmRSS:"),
            pause_maximum_ns: Some(self.pauses.take_longest().0),
            ..HostSample::default()
        }
    }

    fn absent(&self, from: Nanos, to: Nanos) -> Nanos {
        self.pauses.absent(from, to)
    }
}

/// Processor time of the machine and of this program, as far as the system tells.
fn ticks() -> (MachineTicks, u64) {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let own = ticks::process(&read("/proc/self/stat"));
    let machine = ticks::machine(&read("/proc/stat")).unwrap_or_default();
    (machine, own.map_or(0, |own| own.ticks))
}

/// Bytes of a file of `Name: value kB` lines; 0 where they are missing.
fn memory(file: &str, name: &str) -> u64 {
    kibibytes_as_bytes(file, name).unwrap_or(0)
}

/// Bytes of a file of `Name: value kB` lines, where they are known.
pub(crate) fn kibibytes_as_bytes(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = rest.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes << 10)
}

/// What the machine is. `input_output` says how requests reach the storage.
pub(super) fn machine(input_output: String) -> Machine {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let release = read("/etc/os-release");
    let system = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let kernel = read("/proc/sys/kernel/osrelease");
    let processors = read("/proc/cpuinfo");
    let model = processors.lines().find_map(|line| line.strip_prefix("model name"));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Machine {
        name: read("/proc/sys/kernel/hostname").trim().to_owned(),
        operating_system: format!(
            "{}, kernel {}",
            system.unwrap_or("Linux").trim_matches('"'),
            kernel.trim()
        ),
        processor: model.map_or("", |rest| rest.trim_start_matches([':', ' ', '\t'])).to_owned(),
        logical_processors: u32::try_from(cores).unwrap_or(u32::MAX),
        memory_bytes: memory("/proc/meminfo", "MemTotal:"),
        input_output,
    }
}
