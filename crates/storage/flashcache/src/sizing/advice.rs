//! Turns a miss-ratio curve into advice for a buyer: the size to choose, or the reason not to buy.

use crate::policy::RequestClass;

use super::MissRatioCurve;

/// Below this hit ratio of page reads a cache does not pay off: reads become faster by less than a
/// quarter, and the volume behind it stays as busy as before.
const LEAST_USEFUL_RATIO: f64 = 0.25;

/// The share of the best hit ratio that is enough.
const ENOUGH: f64 = 0.9;

/// Minimum rise of a curve above its chord; below it there is no knee.
const LEAST_BEND: f64 = 0.1;

/// Advice on the size of a cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SizeAdvice {
    /// Take a cache of this size.
    Buy {
        /// The smallest size tried that reaches nine tenths of the best hit ratio.
        bytes: u64,
        /// Its hit ratio of page reads, from 0 to 1.
        hit_ratio: f64,
        /// The size at which the curve bends most; `None` if the hit ratio rises evenly with size.
        knee_bytes: Option<u64>,
    },
    /// Take none.
    Refrain(NoCacheReason),
}

/// Why a cache would not help.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoCacheReason {
    /// The trace reads no pages at random.
    NoPageReads,
    /// Even the largest cache that was tried answers only this share of page reads.
    SeldomReadTwice {
        /// The share, from 0 to 1.
        highest: f64,
    },
}

impl SizeAdvice {
    /// Advice from a curve whose points rise in size.
    pub fn of(curve: &MissRatioCurve) -> Self {
        let class = RequestClass::Database as usize;
        let ratios: Vec<(u64, f64)> = curve
            .points
            .iter()
            .filter_map(|point| Some((point.bytes, point.by_class[class]?)))
            .collect();
        let Some(highest) = ratios.iter().map(|&(_, ratio)| ratio).reduce(f64::max) else {
            return Self::Refrain(NoCacheReason::NoPageReads);
        };
        if highest < LEAST_USEFUL_RATIO {
            return Self::Refrain(NoCacheReason::SeldomReadTwice { highest });
        }
        let enough = ratios.iter().find(|&&(_, ratio)| ratio >= highest * ENOUGH);
        let &(bytes, hit_ratio) = enough.expect("invariant: the highest is among them");
        Self::Buy { bytes, hit_ratio, knee_bytes: knee(&ratios, highest) }
    }
}

/// The size with the hit ratio farthest above the line from zero to the best.
fn knee(ratios: &[(u64, f64)], highest: f64) -> Option<u64> {
    let largest = ratios.iter().map(|&(bytes, _)| bytes).max()?;
    let (above, best) = ratios
        .iter()
        .map(|&(bytes, ratio)| (ratio / highest - bytes as f64 / largest as f64, bytes))
        .max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (above >= LEAST_BEND).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::{NoCacheReason, SizeAdvice};
    use crate::sizing::{CurvePoint, MissRatioCurve};

    fn curve(ratios: &[(u64, Option<f64>)]) -> MissRatioCurve {
        let point = |&(bytes, ratio): &(u64, Option<f64>)| CurvePoint {
            bytes,
            hit_ratio: ratio,
            error: 0.0,
            by_class: [ratio, None, None],
            traffic_saved: 0.0,
            flash_writes_per_read: 0.0,
        };
        MissRatioCurve {
            points: ratios.iter().map(point).collect(),
            footprint_blocks: 100,
            sampling_rate: 1.0,
            requests: [1; 3],
            bytes: [1; 3],
            read_blocks: 1,
        }
    }

    #[test]
    fn a_bent_curve_has_a_knee_and_an_even_one_has_none() {
        let bent = curve(&[(10, Some(0.5)), (20, Some(0.8)), (50, Some(0.85)), (100, Some(0.86))]);
        let expected = SizeAdvice::Buy { bytes: 20, hit_ratio: 0.8, knee_bytes: Some(20) };
        assert_eq!(SizeAdvice::of(&bent), expected);
        let even = curve(&[(10, Some(0.1)), (50, Some(0.5)), (90, Some(0.9)), (100, Some(1.0))]);
        let expected = SizeAdvice::Buy { bytes: 90, hit_ratio: 0.9, knee_bytes: None };
        assert_eq!(SizeAdvice::of(&even), expected);
    }

    #[test]
    fn a_trace_that_reads_pages_once_needs_no_cache() {
        let once = curve(&[(10, Some(0.0)), (100, Some(0.24))]);
        let reason = NoCacheReason::SeldomReadTwice { highest: 0.24 };
        assert_eq!(SizeAdvice::of(&once), SizeAdvice::Refrain(reason));
        let scans = curve(&[(10, None), (100, None)]);
        assert_eq!(SizeAdvice::of(&scans), SizeAdvice::Refrain(NoCacheReason::NoPageReads));
    }
}
