//! Estimates hit ratios over cache sizes by sampling blocks (SHARDS, Waldspurger et al., FAST
//! 2015): sampled blocks are followed in a cache scaled down by the sampling rate.
//!
//! The blocks fall into four independent samples, so that their spread estimates the error of the
//! whole. A trace of few blocks is followed in full, without an error.

use std::collections::BTreeMap;

use super::trace::{Trace, TraceRequest};
use crate::policy::{Classifier, IoDirection, RequestClass, Route, S3Fifo};

/// Number of independent samples of the blocks.
const SAMPLES: u64 = 4;

/// A trace of up to this many blocks is followed in full.
const WHOLE_BLOCKS: u64 = 200_000;

/// Parameters of the estimate.
#[derive(Clone, Debug)]
pub struct CurveOptions {
    /// Bytes of a cache block.
    pub block_bytes: u64,
    /// Cache sizes in bytes.
    pub sizes: Vec<u64>,
    /// Admits every request, including scans and logs, as a cache without classes would.
    pub admit_all: bool,
    /// Maximum number of blocks to follow; the default is 200,000.
    pub followed_blocks: Option<u64>,
}

/// Block reads, hits and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    reads: u64,
    hits: u64,
    writes: u64,
}

/// The curve at one cache size.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// Cache size.
    pub bytes: u64,
    /// Share of block reads that hit, from 0 to 1; `None` if nothing was read.
    pub hit_ratio: Option<f64>,
    /// Twice the standard error of the hit ratio; 0 if every block was followed.
    pub error: f64,
    /// Hit ratio by class; `None` if the class reads nothing.
    pub by_class: [Option<f64>; 3],
    /// Share of block reads and writes saved on the volume, from 0 to 1.
    pub traffic_saved: f64,
    /// Blocks written to flash per block read.
    pub flash_writes_per_read: f64,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct MissRatioCurve {
    /// One point for each requested size.
    pub points: Vec<CurvePoint>,
    /// Distinct blocks of the trace.
    pub footprint_blocks: u64,
    /// Share of the blocks that were followed.
    pub sampling_rate: f64,
    /// Requests by class.
    pub requests: [u64; 3],
    /// Bytes read and written by class.
    pub bytes: [u64; 3],
    /// Blocks that the whole trace reads.
    pub read_blocks: u64,
}

/// One access to one block.
#[derive(Clone, Copy)]
struct BlockAccess {
    key: u64,
    direction: IoDirection,
    class: RequestClass,
}

const fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl MissRatioCurve {
    /// Computes the curve.
    pub fn of(trace: &Trace, options: &CurveOptions) -> Self {
        let footprint = trace.footprint_blocks(options.block_bytes);
        let followed = options.followed_blocks.unwrap_or(WHOLE_BLOCKS);
        let rate = (followed as f64 / footprint as f64).min(1.0);
        let mut curve = Self {
            points: Vec::new(),
            footprint_blocks: footprint,
            sampling_rate: rate,
            requests: [0; 3],
            bytes: [0; 3],
            read_blocks: 0,
        };
        let accesses = curve.accesses(trace, options);
        for &size in &options.sizes {
            curve.points.push(point(&accesses, size, rate, options));
        }
        curve
    }

    /// The accesses to the sampled blocks; counts classes on the way.
    fn accesses(&mut self, trace: &Trace, options: &CurveOptions) -> Vec<BlockAccess> {
        let mut classifiers: BTreeMap<u16, Classifier> = BTreeMap::new();
        let mut accesses = Vec::new();
        for request in &trace.requests {
            let TraceRequest { volume, direction, offset, length, .. } = *request;
            let classifier = classifiers.entry(volume).or_default();
            let class = classifier.classify(direction, offset, length);
            self.requests[class as usize] += 1;
            self.bytes[class as usize] += length;
            if direction == IoDirection::Read {
                self.read_blocks += request.blocks(options.block_bytes).count() as u64;
            }
            for key in request.blocks(options.block_bytes) {
                // The upper bits choose which blocks to follow, the lowest the sample.
                if (mixed(key) >> 11) as f64 / (1_u64 << 53) as f64 <= self.sampling_rate {
                    accesses.push(BlockAccess { key, direction, class });
                }
            }
        }
        accesses
    }
}

fn point(accesses: &[BlockAccess], size: u64, rate: f64, options: &CurveOptions) -> CurvePoint {
    let whole = size / options.block_bytes;
    let is_whole = rate >= 1.0;
    let samples = if is_whole { 1 } else { SAMPLES };
    let capacity = scaled(whole, rate / samples as f64);
    let mut tallies = Vec::new();
    let mut admitted = 0;
    for sample in 0..samples {
        let of_sample = accesses.iter().filter(|access| mixed(access.key) % samples == sample);
        tallies.push(follow(of_sample, capacity, options.admit_all, &mut admitted));
    }
    let mut by_class = [Tally::default(); 3];
    for (class, total) in by_class.iter_mut().enumerate() {
        total.reads = tallies.iter().map(|tally| tally[class].reads).sum();
        total.hits = tallies.iter().map(|tally| tally[class].hits).sum();
        total.writes = tallies.iter().map(|tally| tally[class].writes).sum();
    }
    let all = sum(&by_class);
    let ratios: Vec<f64> = tallies.iter().filter_map(|tally| ratio(sum(tally))).collect();
    CurvePoint {
        bytes: size,
        hit_ratio: ratio(all),
        error: two_standard_errors(&ratios),
        by_class: by_class.map(ratio),
        traffic_saved: all.hits as f64 / (all.reads + all.writes).max(1) as f64,
        flash_writes_per_read: admitted as f64 / all.reads.max(1) as f64,
    }
}

/// Runs one sample through a cache of `capacity` blocks.
fn follow<'a>(
    accesses: impl Iterator<Item = &'a BlockAccess>,
    capacity: u64,
    admit_all: bool,
    admitted: &mut u64,
) -> [Tally; 3] {
    let mut cache = S3Fifo::new(capacity);
    let mut tallies = [Tally::default(); 3];
    for access in accesses {
        let admits = admit_all || Classifier::route(access.class) == Route::Admit;
        let is_hit = cache.touch(access.key);
        let is_write = access.direction == IoDirection::Write;
        if is_write && is_hit && !admits {
            cache.remove(access.key);
        }
        if admits && !is_hit {
            cache.admit(access.key);
        }
        *admitted += u64::from(admits && (is_write || !is_hit));
        let tally = &mut tallies[access.class as usize];
        tally.writes += u64::from(is_write);
        tally.reads += u64::from(!is_write);
        tally.hits += u64::from(!is_write && is_hit);
    }
    tallies
}

fn sum(by_class: &[Tally; 3]) -> Tally {
    let reads = by_class.iter().map(|tally| tally.reads).sum();
    let hits = by_class.iter().map(|tally| tally.hits).sum();
    let writes = by_class.iter().map(|tally| tally.writes).sum();
    Tally { reads, hits, writes }
}

fn ratio(tally: Tally) -> Option<f64> {
    (tally.reads > 0).then(|| tally.hits as f64 / tally.reads as f64)
}

/// Scales a number of blocks by a sampling rate, to at least one.
fn scaled(blocks: u64, rate: f64) -> u64 {
    // In millionths, so that no float becomes an integer.
    let millionths = (1..=1_000_000_u64).rev().find(|&part| part as f64 / 1e6 <= rate);
    let blocks = u128::from(blocks) * u128::from(millionths.unwrap_or(1)) / 1_000_000;
    u64::try_from(blocks).unwrap_or(u64::MAX).max(1)
}

/// Twice the standard error of the mean, from the spread of independent samples.
fn two_standard_errors(ratios: &[f64]) -> f64 {
    let count = ratios.len() as f64;
    if count < 2.0 {
        return 0.0;
    }
    let mean = ratios.iter().sum::<f64>() / count;
    let squares: f64 = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum();
    2.0 * (squares / (count - 1.0) / count).sqrt()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use units::{Prng, Seed};

    use super::{CurveOptions, MissRatioCurve};
    use crate::policy::{IoDirection, RequestClass};
    use crate::sizing::trace::{Trace, TraceFormat, TraceRequest};

    const PAGE: u64 = 32 << 10;

    fn trace(pages: impl Iterator<Item = u64>) -> Trace {
        let direction = IoDirection::Read;
        let requests = pages.map(|page| {
            let offset = page * PAGE;
            TraceRequest { time: 0, volume: 0, direction, offset, length: PAGE }
        });
        let requests = requests.collect();
        let (volumes, answers) = (Vec::new(), Vec::new());
        let skipped = BTreeMap::new();
        Trace { format: TraceFormat::Csv, requests, volumes, answers, skipped }
    }

    fn curve(trace: &Trace, blocks: &[u64], followed: Option<u64>) -> MissRatioCurve {
        let sizes = blocks.iter().map(|blocks| blocks * PAGE).collect();
        let options =
            CurveOptions { block_bytes: PAGE, sizes, admit_all: false, followed_blocks: followed };
        MissRatioCurve::of(trace, &options)
    }

    #[test]
    fn uniform_reads_hit_as_often_as_the_cache_is_large() {
        let mut prng = Prng::new(Seed(1));
        let trace = trace((0..400_000).map(|_| prng.below(20_000)));
        let curve = curve(&trace, &[2_000, 6_000, 12_000], None);
        assert_eq!(
            (curve.footprint_blocks, curve.sampling_rate.to_bits()),
            (20_000, 1_f64.to_bits())
        );
        for (point, expected) in curve.points.iter().zip([0.1, 0.3, 0.6]) {
            let ratio = point.hit_ratio.unwrap();
            assert!((ratio - expected).abs() < 0.025 && point.error < 1e-9, "{point:?}");
        }
    }

    #[test]
    fn a_sample_says_what_the_whole_does_within_its_error() {
        let mut prng = Prng::new(Seed(2));
        // Half of the reads go to a tenth of the pages.
        let trace = trace(
            (0..600_000)
                .map(|_| if prng.percent(50) { prng.below(4_000) } else { prng.below(40_000) }),
        );
        let sizes = [2_000, 4_000, 10_000, 20_000];
        let whole = curve(&trace, &sizes, None);
        let sampled = curve(&trace, &sizes, Some(8_000));
        assert!((sampled.sampling_rate - 0.2).abs() < 0.01);
        for (whole, sampled) in whole.points.iter().zip(&sampled.points) {
            let apart = (whole.hit_ratio.unwrap() - sampled.hit_ratio.unwrap()).abs();
            assert!(apart <= sampled.error * 1.5 + 0.005, "{apart}: {whole:?} {sampled:?}");
            assert!(sampled.error > 0.0 && sampled.error < 0.06, "{sampled:?}");
        }
    }

    #[test]
    fn a_backup_in_the_middle_costs_at_most_a_point() {
        let mut prng = Prng::new(Seed(3));
        let mut pages: Vec<u64> = (0..200_000)
            .map(|_| if prng.percent(80) { prng.below(2_000) } else { prng.below(100_000) })
            .collect();
        let alone = curve(&trace(pages.iter().copied()), &[4_000], None);
        let second = pages.split_off(100_000);
        pages.extend(0..100_000);
        pages.extend(second);
        let with_backup = curve(&trace(pages.into_iter()), &[4_000], None);
        let database = RequestClass::Database as usize;
        let [alone, with_backup] =
            [alone, with_backup].map(|curve| curve.points[0].by_class[database].unwrap());
        assert!(alone - with_backup < 0.01, "{alone} {with_backup}");
    }
}
