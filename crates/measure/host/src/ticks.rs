//! Processor time as the kernel counts it in `/proc` (proc(5)).

/// Processor time of the machine since it was started, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MachineTicks {
    /// Neither idle, waiting nor stolen.
    pub busy: u64,
    /// Interrupts, which are part of the busy time.
    pub(crate) interrupts: u64,
    /// Given to others by a hypervisor.
    pub(crate) steal: u64,
    /// Total over all processors.
    pub total: u64,
}

/// A process and its processor time since it was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    /// Its number, which is given again once the process has ended.
    pub number: u32,
    /// Start time, in ticks since boot.
    pub started: u64,
    /// Its name, which may hold anything.
    pub name: String,
    /// Whether it is a thread of the kernel.
    pub(crate) is_kernel: bool,
    /// Processor time of all its threads.
    pub(crate) ticks: u64,
}

/// Flag of a kernel thread: `PF_KTHREAD` of linux/sched.h.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// The first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal; guest
/// time is part of user time already. `None` for any other line.
pub(crate) fn machine(text: &str) -> Option<MachineTicks> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let mut numbers = [0_u64; 8];
    let words = line.split_whitespace().take(8).filter_map(|word| word.parse().ok());
    for (number, word) in numbers.iter_mut().zip(words) {
        *number = word;
    }
    let [user, nice, system, _, _, irq, softirq, steal] = numbers;
    let interrupts = irq + softirq;
    let busy = user + nice + system + interrupts;
    Some(MachineTicks { busy, interrupts, steal, total: numbers.iter().sum() })
}

/// A `/proc/[pid]/stat`: fields after the name are counted from its last bracket. `None` for any
/// other text.
pub(crate) fn process(text: &str) -> Option<Process> {
    let (before_name, rest) = text.split_once('(')?;
    let (name, behind_name) = rest.rsplit_once(')')?;
    let fields: Vec<&str> = behind_name.split_whitespace().collect();
    Some(Process {
        number: before_name.trim().parse().ok()?,
        started: field(&fields, 22)?,
        name: name.to_owned(),
        is_kernel: field(&fields, 9)? & KERNEL_THREAD != 0,
        ticks: field(&fields, 14)? + field(&fields, 15)?,
    })
}

/// A field by its number in proc(5); `fields` begin with the third.
fn field(fields: &[&str], number: usize) -> Option<u64> {
    fields.get(number - 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Process, machine, process};

    #[test]
    fn time_of_the_machine_is_read_as_the_kernel_writes_it() {
        let ticks = machine("cpu  10 20 30 400 50 6 7 8 9 10\ncpu0 1 1 1 1\n").unwrap();
        assert_eq!((ticks.busy, ticks.steal, ticks.total), (73, 8, 531));
        assert_eq!(ticks.interrupts, 13);
        assert_eq!(machine(""), None);
        assert_eq!(machine("cpu0 1 1 1 1\n"), None);
    }

    #[test]
    fn a_process_is_read_whatever_its_name_is() {
        let line = "7 (a) R (b) S 1 7 7 0 -1 4194560 6 7 8 9 111 222 13 14 20 0 1 0 9876 0";
        let read = process(line).unwrap();
        let expected = Process {
            number: 7,
            started: 9_876,
            name: "a) R (b".to_owned(),
            is_kernel: false,
            ticks: 333,
        };
        assert_eq!(read, expected);
        let worker = line.replace("4194560", "69238880");
        assert!(process(&worker).unwrap().is_kernel);
        for broken in ["", "7", "7 (a", "7 (a) S 1 2", "x (a) S"] {
            assert_eq!(process(broken), None, "{broken}");
        }
    }
}
