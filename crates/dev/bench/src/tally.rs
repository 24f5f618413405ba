//! Counts an engine's work in the mail-like mix. `bench/peers` includes this same file, so that
//! every engine is measured and printed in the same way.

use std::fmt;
use std::io;
use std::time::Duration;

use hdrhistogram::Histogram;

/// Microseconds of one tick of `/proc/self/stat`: `USER_HZ` is 100 on every Linux (`man 5 proc`).
const TICK_MICROS: u64 = 10_000;

/// Upper bound of recorded read times; longer reads count as this long.
const LONGEST_READ_NANOS: u64 = 60_000_000_000;

/// Resources that this process has used so far, in all its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Bytes read from storage.
    pub read_bytes: u64,
    /// Bytes written to storage, now or later.
    pub written_bytes: u64,
    /// Processor time in the program, in microseconds.
    pub user_micros: u64,
    /// Processor time in the kernel on its behalf, in microseconds.
    pub kernel_micros: u64,
}

/// Operations of one session, or the sum of several.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    operations: u64,
    missed: u64,
    reads: Histogram<u64>,
}

/// One engine with a number of sessions.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// The engine's name.
    pub engine: String,
    /// Number of concurrent sessions.
    pub sessions: u32,
    /// Sum of the sessions' operations.
    pub tally: Tally,
    /// Duration of the operations.
    pub span: Duration,
    /// Resources the process had used before and after.
    pub usage: (Usage, Usage),
}

impl Usage {
    /// Reads the kernel's counters of this process.
    pub(crate) fn now() -> io::Result<Self> {
        let counted = std::fs::read_to_string("/proc/self/io")?;
        let status = std::fs::read_to_string("/proc/self/stat")?;
        Self::parse(&counted, &status)
            .ok_or_else(|| io::Error::other("/proc/self/io or /proc/self/stat reads strangely"))
    }

    /// Processor time in the program and in the kernel together.
    const fn cpu_micros(self) -> u64 {
        self.user_micros + self.kernel_micros
    }

    fn parse(counted: &str, status: &str) -> Option<Self> {
        // The program's name is in parentheses and may contain spaces; utime and stime are fields
        // 14 and 15, the 12th and 13th after it.
        let (_, rest) = status.rsplit_once(')')?;
        let mut ticks = rest.split_whitespace().skip(11).map(str::parse::<u64>);
        let user = ticks.next()?.ok()?;
        let kernel = ticks.next()?.ok()?;
        Some(Self {
            read_bytes: field(counted, "read_bytes:")?,
            written_bytes: field(counted, "write_bytes:")?,
            user_micros: user * TICK_MICROS,
            kernel_micros: kernel * TICK_MICROS,
        })
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            operations: 0,
            missed: 0,
            reads: Histogram::new_with_bounds(1, LONGEST_READ_NANOS, 3)
                .expect("invariant: the bounds are in order and three digits are allowed"),
        }
    }
}

impl Tally {
    /// Counts an operation; also a miss if its record was missing or changed by another session.
    pub(crate) fn count(&mut self, missed: bool) {
        self.operations += 1;
        self.missed += u64::from(missed);
    }

    /// Records the duration of a read, in nanoseconds.
    pub(crate) fn note_read(&mut self, nanos: u64) {
        self.reads.saturating_record(nanos);
    }

    /// Adds another session's operations.
    pub(crate) fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.missed += other.missed;
        self.reads.add(&other.reads).expect("invariant: all have the same bounds");
    }
}

fn field(counted: &str, name: &str) -> Option<u64> {
    let line = counted.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().parse().ok()
}

impl Line {
    /// Operations per second.
    pub(crate) fn rate(&self) -> f64 {
        self.tally.operations as f64 / self.span.as_secs_f64()
    }

    fn each(&self, before: u64, after: u64) -> f64 {
        (after - before) as f64 / self.tally.operations.max(1) as f64
    }

    /// Quantile of the read latency in microseconds.
    fn quantile(&self, share: f64) -> f64 {
        self.tally.reads.value_at_quantile(share) as f64 / 1e3
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = &self.usage;
        write!(
            f,
            "{:<18} {:>8} {:>13.0} {:>8.1} {:>11.1} {:>7.1} {:>12.0} {:>12.0} {:>7}",
            self.engine,
            self.sessions,
            self.rate(),
            self.each(before.read_bytes, after.read_bytes) / 1e3,
            self.each(before.written_bytes, after.written_bytes) / 1e3,
            self.each(before.cpu_micros(), after.cpu_micros()),
            self.quantile(0.5),
            self.quantile(0.99),
            self.tally.missed,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Tally, Usage};

    #[test]
    fn the_kernels_files_are_read() {
        let counted = "rchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n";
        let status = "7 (a (b) c) S 1 1 1 0 -1 4194304 100 0 0 0 12 30 0 0 20 0";
        let usage = Usage {
            read_bytes: 4096,
            written_bytes: 8192,
            user_micros: 120_000,
            kernel_micros: 300_000,
        };
        assert_eq!(usage.cpu_micros(), 420_000);
        assert_eq!(Usage::parse(counted, status), Some(usage));
        assert_eq!(Usage::parse("", status), None);
        assert_eq!(Usage::parse(counted, "7 (a"), None);
    }

    #[test]
    fn sessions_add_up() {
        let mut all = Tally::default();
        for nanos in [1_000, 3_000] {
            let mut one = Tally::default();
            one.count(nanos == 3_000);
            one.note_read(nanos);
            all.add(&one);
        }
        assert_eq!((all.operations, all.missed, all.reads.len()), (2, 1, 2));
        assert!(all.reads.max() >= 3_000);
    }
}
