//! Processor time by program: time taken by other programs is lost to this one, and looks like slow
//! storage.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use record::{ProcessorShares, ProgramShare};

use crate::observer::HostObserver;
use crate::ticks::{self, MachineTicks, Process};

/// Shortest observation before the start: sixty ticks on two processors.
const SHORTEST_LOOK: Duration = Duration::from_millis(300);

/// Fewest ticks between two readings from which shares are derived.
const FEWEST_TICKS: u64 = 5;

/// Smallest share at which a program is named.
const LEAST_NAMED_PERCENT: f64 = 1.0;

/// Samples the processors from time to time. Only the main thread does so, since reading every
/// process takes milliseconds.
pub(super) struct ProcessorWatch {
    began: Instant,
    before: Option<Reading>,
}

/// The kernel's counters at one moment.
#[derive(Debug)]
struct Reading {
    machine: MachineTicks,
    /// This program.
    own: Process,
    /// Every visible process, including this one.
    processes: Vec<Process>,
}

impl ProcessorWatch {
    /// Shares count from now.
    pub(super) fn start() -> Self {
        Self { began: Instant::now(), before: read() }
    }

    /// The shares since the last call; `None` if the system does not report them, or the time was
    /// too short.
    pub(super) fn take(&mut self) -> Option<ProcessorShares> {
        let after = read();
        let found = shares(self.before.as_ref()?, after.as_ref()?);
        self.before = after;
        found
    }

    /// Processor use of others since the start of this watch, extended to a sufficient length;
    /// warns the user if it is high.
    pub(super) fn before_the_run(&mut self, observer: &HostObserver) -> Option<ProcessorShares> {
        thread::sleep(SHORTEST_LOOK.saturating_sub(self.began.elapsed()));
        let found = self.take();
        match &found {
            Some(shares) if shares.has_heavy_others() => observer.remark(&format_args!(
                "{shares}: stop the other programs first, or a failed limit will be inconclusive"
            )),
            Some(_) => {}
            None => observer.remark(&"Processor use by other programs is unknown on this system."),
        }
        found
    }
}

/// Returns `None` without the entries in `/proc`, as on systems other than Linux.
fn read() -> Option<Reading> {
    let machine = ticks::machine(&fs::read_to_string("/proc/stat").ok()?)?;
    let own = ticks::process(&fs::read_to_string("/proc/self/stat").ok()?)?;
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let numbered = entries.filter(|entry| {
        let name = entry.file_name();
        name.as_encoded_bytes().iter().all(u8::is_ascii_digit)
    });
    // A process may exit between the two readings.
    let processes = numbered.filter_map(|entry| {
        let text = fs::read(entry.path().join("stat")).ok()?;
        ticks::process(&String::from_utf8_lossy(&text))
    });
    Some(Reading { machine, own, processes: processes.collect() })
}

/// Shares by program between two readings; `None` if too little time passed.
fn shares(before: &Reading, after: &Reading) -> Option<ProcessorShares> {
    let total = after.machine.total.saturating_sub(before.machine.total);
    if total < FEWEST_TICKS {
        return None;
    }
    let busy = after.machine.busy.saturating_sub(before.machine.busy);
    let own = after.own.ticks.saturating_sub(before.own.ticks);
    let interrupts = &[before, after].map(|reading| reading.machine.interrupts);
    let mut kernel = interrupts[1].saturating_sub(interrupts[0]);
    let mut programs: BTreeMap<String, u64> = BTreeMap::new();
    for (process, ticks) in used(before, after) {
        if process.is_kernel {
            kernel += ticks;
        } else if process.number != after.own.number {
            *programs.entry(program_name(process, &after.own)).or_default() += ticks;
        }
    }
    let top = programs.into_iter().max_by_key(|(_, ticks)| *ticks);
    let top = top.map(|(name, ticks)| {
        let percent = percent(ticks, total);
        ProgramShare { name, percent }
    });
    Some(ProcessorShares {
        busy_percent: percent(busy, total),
        own_percent: percent(own, total),
        kernel_percent: percent(kernel, total),
        others_percent: percent(busy.saturating_sub(own + kernel), total),
        top: top.filter(|top| top.percent >= LEAST_NAMED_PERCENT),
    })
}

/// Returns a program's name; one with the same name as this program is another run, identified by
/// its number.
fn program_name(process: &Process, own: &Process) -> String {
    if process.name == own.name {
        format!("another {}, process {}", process.name, process.number)
    } else {
        process.name.clone()
    }
}

fn percent(ticks: u64, total: u64) -> f64 {
    ticks as f64 * 100.0 / total as f64
}

/// Returns the usage of each process in between. A process started in between has used all of its
/// time.
fn used<'a>(before: &'a Reading, after: &'a Reading) -> impl Iterator<Item = (&'a Process, u64)> {
    let earlier: BTreeMap<(u32, u64), u64> = before
        .processes
        .iter()
        .map(|process| ((process.number, process.started), process.ticks))
        .collect();
    after.processes.iter().map(move |process| {
        let had = earlier.get(&(process.number, process.started)).copied().unwrap_or(0);
        (process, process.ticks.saturating_sub(had))
    })
}

#[cfg(test)]
mod tests {
    use super::{Reading, shares};
    use crate::ticks::{MachineTicks, Process};

    fn process(number: u32, name: &str, ticks: u64) -> Process {
        Process {
            number,
            started: u64::from(number) * 10,
            name: name.to_owned(),
            is_kernel: name.starts_with("kworker"),
            ticks,
        }
    }

    fn reading((busy, interrupts, total): (u64, u64, u64), processes: Vec<Process>) -> Reading {
        Reading {
            machine: MachineTicks { busy, interrupts, total, ..MachineTicks::default() },
            own: processes[0].clone(),
            processes,
        }
    }

    fn before() -> Reading {
        let processes = vec![
            process(9, "plimsoll", 100),
            process(2, "kworker/0:1", 50),
            process(3, "rustc", 1_000),
            process(4, "rustc", 2_000),
            process(5, "sshd", 7_000),
        ];
        reading((5_000, 70, 9_000), processes)
    }

    #[test]
    fn processes_of_one_name_count_together_and_only_since_the_last_look() {
        let processes = vec![
            process(9, "plimsoll", 168),
            process(2, "kworker/0:1", 54),
            process(3, "rustc", 1_050),
            process(4, "rustc", 2_040),
            process(5, "sshd", 7_030),
            process(6, "cc", 2),
        ];
        let found = shares(&before(), &reading((5_200, 72, 9_200), processes)).unwrap();
        let top = found.top.as_ref().unwrap();
        assert_eq!((top.name.as_str(), top.percent), ("rustc", 45.0));
        assert_eq!((found.busy_percent, found.own_percent), (100.0, 34.0));
        assert_eq!((found.kernel_percent, found.others_percent), (3.0, 63.0));
        assert!(found.has_heavy_others());
    }

    #[test]
    fn another_run_is_told_from_this_one() {
        let mut earlier = before();
        earlier.processes.push(process(7, "plimsoll", 400));
        let mut processes = earlier.processes.clone();
        processes[0].ticks += 50;
        processes[5].ticks += 60;
        let found = shares(&earlier, &reading((5_110, 70, 9_200), processes)).unwrap();
        let top = found.top.unwrap();
        assert_eq!((top.name.as_str(), top.percent), ("another plimsoll, process 7", 30.0));
        assert_eq!((found.own_percent, found.others_percent), (25.0, 30.0));
    }

    #[test]
    fn a_number_that_was_given_again_is_another_process() {
        let again = Process { started: 99_999, ..process(5, "new", 60) };
        let processes = vec![process(9, "plimsoll", 100), again];
        let found = shares(&before(), &reading((5_060, 70, 9_200), processes)).unwrap();
        let top = found.top.unwrap();
        assert_eq!((top.name.as_str(), top.percent), ("new", 30.0));
    }

    #[test]
    fn a_quiet_machine_names_no_one_and_no_time_tells_nothing() {
        let processes = before().processes;
        let quiet = shares(&before(), &reading((5_001, 70, 9_200), processes.clone())).unwrap();
        assert_eq!(quiet.top, None);
        assert!(!quiet.has_heavy_others());
        assert_eq!(shares(&before(), &reading((5_002, 70, 9_004), processes)), None);
    }
}
