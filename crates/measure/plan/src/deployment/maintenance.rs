//! The pace of a product's background maintenance: sizing counts its rate, and test plans,
//! provisions and simulations take the pause that gives this rate.

use units::Nanos;

use super::product::Product;

/// One read of the scan, in bytes.
const READ: f64 = (256 << 10) as f64;

/// Bounds of a pause, those of `maintenance_throttle` in a plan.
const BOUNDS: (f64, f64) = (1.0, 10_000.0);

/// Rate in MB/s and pause in ms of Exchange 2010: 5 MB/s per copy were published, and the pause
/// of its engine is 20 ms.
const OF_2010: (f64, f64) = (5.0, 20.0);

/// The same from Exchange 2013 on: 1 MB/s per copy, about four reads a second.
const SINCE_2013: (f64, f64) = (1.0, 250.0);

impl Product {
    /// Pause between two reads of 256 KiB of a copy; `None` if the product reads no copy
    /// throughout the day.
    pub fn maintenance_pause(&self) -> Option<Nanos> {
        let known = if self.name.ends_with("2010") { OF_2010 } else { SINCE_2013 };
        pause_at(self.figures.maintenance_mb_per_second.value, known)
    }
}

/// The pause at a rate in MB/s. The scan waits for a read before it pauses, so the interval between
/// two reads is longer than the pause, by as much as in the pair that was published.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "milliseconds within the bounds of a plan"
)]
fn pause_at(rate: f64, (known_rate, known_pause): (f64, f64)) -> Option<Nanos> {
    if rate <= 0.0 {
        return None;
    }
    let read = interval_ms(known_rate) - known_pause;
    let pause = (interval_ms(rate) - read).round().clamp(BOUNDS.0, BOUNDS.1);
    Some(Nanos::from_millis(pause as u64))
}

/// Milliseconds from one read to the next at a rate in MB/s.
fn interval_ms(rate: f64) -> f64 {
    READ / (rate * 1e3)
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::{OF_2010, SINCE_2013, pause_at};

    #[test]
    fn a_published_rate_has_its_published_pause_and_twice_the_rate_half_the_interval() {
        let shown = |rate, known| pause_at(rate, known).map(|pause| pause.0 / 1_000_000);
        assert_eq!((shown(5.0, OF_2010), shown(1.0, SINCE_2013)), (Some(20), Some(250)));
        assert_eq!(shown(2.0, SINCE_2013), Some(250 - 131));
        assert_eq!((shown(0.0, SINCE_2013), shown(1e9, OF_2010)), (None, Some(1)));
        assert_eq!(pause_at(1e-9, OF_2010), Some(Nanos::from_secs(10)));
    }
}
