//! What the machine is, and what it does while a run goes on (proc(5)).

use std::cell::RefCell;
use std::fs;
use std::time::Instant;

use record::{HostSample, Machine};
use trial::HostSampler;

use super::pause::PauseWatch;

/// Ticks per second in which the kernel counts processor time for programs (`USER_HZ`, the same on
/// every system that Linux runs on today).
const TICKS_PER_SECOND: f64 = 100.0;

/// Samples `/proc`.
pub(super) struct LinuxHost {
    before: RefCell<(Instant, Ticks)>,
    pauses: PauseWatch,
}

/// Processor time since boot, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    steal: u64,
    total: u64,
    process: u64,
}

impl LinuxHost {
    /// Samples count from now.
    pub(super) fn new(pauses: PauseWatch) -> Self {
        Self {
            before: RefCell::new((Instant::now(), ticks())),
            pauses,
        }
    }
}

impl HostSampler for LinuxHost {
    fn sample(&self) -> HostSample {
        let now = (Instant::now(), ticks());
        let (then, before) = self.before.replace(now);
        let after = now.1;
        let total = after.total.saturating_sub(before.total).max(1) as f64;
        let seconds = now.0.duration_since(then).as_secs_f64().max(1e-9);
        let process = after.process.saturating_sub(before.process) as f64 / TICKS_PER_SECOND;
        HostSample {
            processor_percent: after.busy.saturating_sub(before.busy) as f64 / total * 100.0,
            steal_percent: after.steal.saturating_sub(before.steal) as f64 / total * 100.0,
            process_percent: process / seconds * 100.0,
            available_memory_bytes: kibibytes("/proc/meminfo", "MemAvailable:") << 10,
            process_resident_bytes: kibibytes("/proc/self/status", "VmRSS:") << 10,
            pause_maximum_ns: Some(self.pauses.take_longest().0),
            ..HostSample::default()
        }
    }
}

fn ticks() -> Ticks {
    let machine = fs::read_to_string("/proc/stat").unwrap_or_default();
    let process = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    Ticks {
        process: process_ticks(&process),
        ..machine_ticks(&machine)
    }
}

/// The first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal; guest
/// time is part of user time already.
fn machine_ticks(text: &str) -> Ticks {
    let line = text.lines().next().unwrap_or_default();
    let numbers: Vec<u64> = line
        .split_whitespace()
        .skip(1)
        .take(8)
        .filter_map(|word| word.parse().ok())
        .collect();
    let total: u64 = numbers.iter().sum();
    let at = |index: usize| numbers.get(index).copied().unwrap_or(0);
    let (waiting, steal) = (at(3) + at(4), at(7));
    Ticks {
        busy: total - waiting - steal,
        steal,
        total,
        process: 0,
    }
}

/// Fields 14 and 15 of `/proc/self/stat`, counted behind the name, which may hold anything.
fn process_ticks(text: &str) -> u64 {
    let behind_name = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = behind_name.split_whitespace().skip(11).take(2);
    ticks.filter_map(|word| word.parse::<u64>().ok()).sum()
}

/// A value of a file of `Name: value kB` lines; 0 where it is missing.
fn kibibytes(file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// What the machine is. `input_output` says how requests reach the storage.
pub(super) fn machine(input_output: String) -> Machine {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let release = read("/etc/os-release");
    let system = release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let kernel = read("/proc/sys/kernel/osrelease");
    let processors = read("/proc/cpuinfo");
    let model = processors
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Machine {
        name: read("/proc/sys/kernel/hostname").trim().to_owned(),
        operating_system: format!(
            "{}, kernel {}",
            system.unwrap_or("Linux").trim_matches('"'),
            kernel.trim()
        ),
        processor: model
            .map_or("", |rest| rest.trim_start_matches([':', ' ', '\t']))
            .to_owned(),
        logical_processors: u32::try_from(cores).unwrap_or(u32::MAX),
        memory_bytes: kibibytes("/proc/meminfo", "MemTotal:") << 10,
        input_output,
    }
}

#[cfg(test)]
mod tests {
    use super::{machine_ticks, process_ticks};

    #[test]
    fn processor_time_is_read_as_the_kernel_writes_it() {
        let ticks = machine_ticks("cpu  10 20 30 400 50 6 7 8 9 10\ncpu0 1 1 1 1\n");
        assert_eq!((ticks.busy, ticks.steal, ticks.total), (73, 8, 531));
        let line = "7 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 111 222 13";
        assert_eq!(process_ticks(line), 333);
    }
}
