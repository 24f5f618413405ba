//! Time as an argument.

use units::Nanos;

/// Gives the time. Real clocks are monotonic; virtual ones move only when nothing else can.
pub trait Clock {
    /// Nanoseconds since the clock's zero.
    fn now(&self) -> Nanos;

    /// Nanoseconds of the Unix epoch at the clock's zero, so that instants can be dated. Virtual
    /// clocks return a constant, so that the same seed gives the same bytes.
    fn epoch(&self) -> Nanos;
}
