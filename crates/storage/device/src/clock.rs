//! Time as an argument.

use units::Nanos;

/// A source of time. Real clocks are monotonic; virtual ones advance only when nothing else can.
pub trait Clock {
    /// Nanoseconds since the clock's zero.
    fn now(&self) -> Nanos;

    /// The clock's zero as nanoseconds since the Unix epoch, so that instants can be dated. Virtual
    /// clocks return a constant, so that the same seed gives the same bytes.
    fn epoch(&self) -> Nanos;
}
