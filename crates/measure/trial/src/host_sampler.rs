//! What the machine under a run did, asked by the instrument and answered by the program.

use record::HostSample;
use units::Nanos;

/// Says what the machine did since the last call; implemented by the program, which may ask the
/// operating system.
pub trait HostSampler {
    /// Processor and memory since the last call.
    fn sample(&self) -> HostSample;

    /// How much of the time between two moments the program did not run.
    fn absent(&self, from: Nanos, to: Nanos) -> Nanos {
        let _ = (from, to);
        Nanos::ZERO
    }
}
