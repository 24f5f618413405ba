//! Finds intervals that do not reflect the storage because the program did not get to run.
//!
//! A request looks slow if its answer waits for a stopped program, and a stopped program makes no
//! load. Stalled storage is different: requests wait while the program watches them.

use crate::{HostSample, Phase};

/// Shortest stop after which the program has missed activity of the storage.
const PAUSE_LIMIT_NS: u64 = 500_000_000;

/// Facts about an interval before it is evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looked {
    /// The phase of the interval.
    pub phase: Phase,
    /// Its length.
    pub span_ns: u64,
    /// Its length as the plan has it.
    pub planned_ns: u64,
    /// Activity of the machine.
    pub host: Option<HostSample>,
}

impl Looked {
    /// How long the program did not run in this interval, if too long for a judgement.
    ///
    /// Records that contain no pause fall back on the reactor's lag and on intervals that ended
    /// late.
    pub(crate) fn paused_ns(&self) -> Option<u64> {
        let host = self.host?;
        let paused = host.pause_maximum_ns.unwrap_or_else(|| {
            let late = if self.phase == Phase::Measure { self.late_ns() } else { 0 };
            host.reactor_lag_maximum_ns.max(late)
        });
        (paused >= PAUSE_LIMIT_NS).then_some(paused)
    }

    /// Whether the program was still stopped when this interval should have ended, so that requests
    /// of that time may be answered in the next one.
    pub(crate) fn reaches_beyond(&self) -> bool {
        self.paused_ns().is_some() && self.late_ns() >= PAUSE_LIMIT_NS
    }

    const fn late_ns(&self) -> u64 {
        self.span_ns.saturating_sub(self.planned_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::Looked;
    use crate::{HostSample, Phase};

    const SECOND: u64 = 1_000_000_000;

    fn looked(span_ns: u64, lag_ns: u64, pause_ns: Option<u64>) -> Looked {
        Looked {
            phase: Phase::Measure,
            span_ns,
            planned_ns: SECOND,
            host: Some(HostSample {
                reactor_lag_maximum_ns: lag_ns,
                pause_maximum_ns: pause_ns,
                ..HostSample::default()
            }),
        }
    }

    #[test]
    fn a_stopped_program_says_nothing_about_the_storage() {
        let stopped = looked(11 * SECOND, 3, Some(10 * SECOND));
        assert_eq!(stopped.paused_ns(), Some(10 * SECOND));
        assert!(stopped.reaches_beyond());
        let within = looked(SECOND, 3, Some(SECOND / 2));
        assert_eq!(within.paused_ns(), Some(SECOND / 2));
        assert!(!within.reaches_beyond());
        assert_eq!(looked(SECOND, 3, Some(SECOND / 2 - 1)).paused_ns(), None);
    }

    /// A thread that waits in the kernel for the storage also looks late, which is no excuse.
    #[test]
    fn a_late_thread_of_a_program_that_runs_is_no_pause() {
        let held_up = looked(11 * SECOND, 10 * SECOND, Some(2_000_000));
        assert_eq!(held_up.paused_ns(), None);
        assert!(!held_up.reaches_beyond());
    }

    #[test]
    fn an_older_record_has_lag_and_spans() {
        let lagging = looked(SECOND, 10_004_000_000, None);
        assert_eq!(lagging.paused_ns(), Some(10_004_000_000));
        assert_eq!(looked(3 * SECOND, 5, None).paused_ns(), Some(2 * SECOND));
        assert_eq!(looked(SECOND, 20_000_000, None).paused_ns(), None);
        let check = Looked { phase: Phase::Check, ..looked(90 * SECOND, 5, None) };
        assert_eq!(check.paused_ns(), None);
        assert_eq!(Looked { host: None, ..lagging }.paused_ns(), None);
    }
}
