//! Machine activity during a run, requested by the instrument and supplied by the program.

use record::HostSample;
use units::Nanos;

/// Reports the machine's activity since the last call; implemented by the program, which may ask
/// the operating system.
pub trait HostSampler {
    /// Processor and memory since the last call.
    fn sample(&self) -> HostSample;

    /// Time between `from` and `to` in which the program did not run.
    fn absent(&self, from: Nanos, to: Nanos) -> Nanos {
        let _ = (from, to);
        Nanos::ZERO
    }
}
