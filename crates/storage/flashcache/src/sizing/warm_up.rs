//! How long a cold cache takes to fill, from a load's rates at several hit ratios.

/// A rate at a hit ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatePoint {
    /// Share of page reads that hit, from 0 to 1.
    pub hit_ratio: f64,
    /// Page reads per second of the load at this hit ratio.
    pub reads_per_second: f64,
}

/// A moment of a warm-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUpPoint {
    /// Hours since the cache was empty.
    pub hours: f64,
    /// Share of page reads that hit at that time, from 0 to 1.
    pub hit_ratio: f64,
}

/// Steps of the integration: the hit ratio grows by a hundredth of its final value in each.
const STEPS: u32 = 100;

/// The hit ratio over time of a cache of `blocks`; the last of `rates` gives its hit ratio when
/// full, the first the load without a cache, and they ascend in hit ratio. The hit ratio is assumed
/// to grow in proportion to the cached share, which holds if all pages are read equally; skewed
/// loads warm up sooner. Every miss caches one block.
pub fn warm_up(blocks: u64, rates: &[RatePoint]) -> Vec<WarmUpPoint> {
    let Some(full) = rates.last() else {
        return Vec::new();
    };
    let (mut hours, mut points) = (0.0, vec![WarmUpPoint { hours: 0.0, hit_ratio: 0.0 }]);
    for step in 0..STEPS {
        // Within a step, the load is assumed to be that of its midpoint.
        let middle = full.hit_ratio * (f64::from(step) + 0.5) / f64::from(STEPS);
        let misses = rate_at(middle, rates) * (1.0 - middle);
        if misses <= 0.0 {
            break;
        }
        hours += blocks as f64 / f64::from(STEPS) / misses / 3_600.0;
        let hit_ratio = full.hit_ratio * f64::from(step + 1) / f64::from(STEPS);
        points.push(WarmUpPoint { hours, hit_ratio });
    }
    points
}

/// The rate at a hit ratio, interpolated linearly between two points.
fn rate_at(hit_ratio: f64, rates: &[RatePoint]) -> f64 {
    let after = rates.iter().position(|point| point.hit_ratio >= hit_ratio);
    match after {
        None => rates.last().map_or(0.0, |last| last.reads_per_second),
        Some(0) => rates[0].reads_per_second,
        Some(at) => {
            let (from, to) = (rates[at - 1], rates[at]);
            let part = (hit_ratio - from.hit_ratio) / (to.hit_ratio - from.hit_ratio);
            from.reads_per_second + part * (to.reads_per_second - from.reads_per_second)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RatePoint, warm_up};

    fn point(hit_ratio: f64, reads_per_second: f64) -> RatePoint {
        RatePoint { hit_ratio, reads_per_second }
    }

    #[test]
    fn a_steady_rate_fills_as_the_misses_come() {
        // 0.5 = 1 - e^(-rt/N) for a cache of half the pages: t = ln 2 x N / r.
        let blocks = 3_600_000;
        let points = warm_up(blocks, &[point(0.0, 1_000.0), point(0.5, 1_000.0)]);
        let last = points.last().unwrap();
        let expected = 2.0_f64.ln() * 2.0 * 3_600_000.0 / 1_000.0 / 3_600.0;
        assert!((last.hours / expected - 1.0).abs() < 0.001, "{last:?} {expected}");
        assert!((last.hit_ratio - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_load_that_grows_with_its_hits_fills_sooner() {
        let slow = warm_up(1_000_000, &[point(0.0, 300.0), point(0.5, 300.0)]);
        let fast = warm_up(1_000_000, &[point(0.0, 300.0), point(0.5, 600.0)]);
        assert!(fast.last().unwrap().hours < slow.last().unwrap().hours * 0.8);
        assert!(warm_up(10, &[]).is_empty());
        assert_eq!(warm_up(10, &[point(0.5, 0.0)]).len(), 1, "no reads, no warm-up");
    }
}
