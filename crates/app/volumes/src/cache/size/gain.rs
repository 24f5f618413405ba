//! The gains of several cache sizes for a plan on an array: simulated full, with the policy of the
//! real cache, and the time to fill up.

use std::path::Path;

use flashcache::{RatePoint, RequestClass, WarmUpPoint, warm_up};
use host::scratch::ScratchFolder;
use host::{HostObserver, Measured};
use plan::deployment::Replacement;
use plan::{Overrides, Plan};
use record::{FlashCacheInterval, Phase, Series};
use units::Bytes;
use verdict::Ruling;

use super::curve::DAY_NS;
use super::flags::CacheSizeFlags;
use console::documents;
use console::error::CommandError;
use designs::simulate::flags::SimulateFlags;
use designs::simulate::{self, alternatives::alternatives};

/// Default sizes, in hundredths of all databases.
const USUAL_HUNDREDTHS: [u64; 5] = [5, 10, 25, 50, 100];

/// Minimum gain: a cache that raises the load, or lowers the read latency, by less than this factor
/// does not pay.
const LEAST_GAIN: f64 = 1.25;

/// Sufficient share of the best gain.
const ENOUGH: f64 = 0.9;

/// The load on the array with one cache, or without.
pub(super) struct GainPoint {
    /// `None` without a cache.
    pub size: Option<Bytes>,
    pub iops: f64,
    pub reads_per_second: f64,
    pub read_ms: f64,
    pub(crate) write_ms: f64,
    pub passes: bool,
    /// The cache's figures in the measurement.
    pub cache: Option<FlashCacheInterval>,
    pub(crate) flash_bytes_a_day: f64,
    /// Growth of the hit ratio, starting from an empty cache.
    pub warm_up: Vec<WarmUpPoint>,
}

/// Gains of all sizes, the load without a cache first.
pub(super) struct CacheGain {
    pub plan: String,
    pub array: String,
    pub database_bytes: Bytes,
    pub block: Bytes,
    pub uncertainty_percent: f64,
    pub points: Vec<GainPoint>,
    /// Whether the plan holds its load at a target.
    pub is_held: bool,
}

/// Advice on buying a cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum GainAdvice {
    /// Index of the smallest size that brings nine tenths of the best gain; of the smallest that
    /// pays, if that one does not.
    Buy(usize),
    /// No size brings the minimum gain.
    TooLittle,
    /// The array carries the plan's load without a cache.
    NotNeeded,
}

/// Simulates the plan without a cache and with one of each size.
pub(super) fn of_plan(
    flags: &CacheSizeFlags,
    (path, array): (&Path, &str),
    quiet: bool,
) -> Result<CacheGain, CommandError> {
    let overrides = Overrides { volume_of: Some(simulate::no_volume), ..Overrides::default() };
    let plan = documents::read_plan(path, &overrides)?;
    if plan.flash_cache.is_some() {
        return Err(CommandError::new(format!(
            "{}: [cache]: the plan has a cache already; take the section out to size one",
            path.display()
        )));
    }
    gain_of(flags, (path, array), &plan, quiet)
}

fn gain_of(
    flags: &CacheSizeFlags,
    (path, array): (&Path, &str),
    plan: &Plan,
    quiet: bool,
) -> Result<CacheGain, CommandError> {
    let database_bytes = Bytes(plan.size.0 * plan.databases.len() as u64);
    let sizes = sizes(flags, database_bytes);
    let mut changes = vec![Vec::new()];
    changes.extend(sizes.iter().map(|size| full_cache(*size, flags.block)));
    let mut simulated =
        SimulateFlags::of(path.to_owned(), array.to_owned(), std::path::PathBuf::new());
    simulated.rest = flags.rest;
    let scratch;
    let folder = if let Some(output) = &flags.output {
        documents::make_new_folder(output)?;
        output.as_path()
    } else {
        let observer = HostObserver::none();
        scratch = ScratchFolder::new(&std::env::temp_dir(), "plimsoll-cache-size", &observer)?;
        scratch.path()
    };
    let simulations = alternatives(&simulated, &changes, folder, quiet)?;
    let uncertainty = simulations[0].record.simulated().map_or(25.0, |of| of.uncertainty_percent);
    let sizes = std::iter::once(None).chain(sizes.into_iter().map(Some));
    let mut points: Vec<GainPoint> =
        simulations.iter().zip(sizes).map(|(simulation, size)| point(simulation, size)).collect();
    add_warm_ups(&mut points, flags.block);
    Ok(CacheGain {
        plan: path.display().to_string(),
        array: array.to_owned(),
        database_bytes,
        block: flags.block,
        uncertainty_percent: uncertainty,
        points,
        is_held: plan.workload.target_iops.is_some(),
    })
}

fn sizes(flags: &CacheSizeFlags, database_bytes: Bytes) -> Vec<Bytes> {
    let usual = USUAL_HUNDREDTHS.map(|part| Bytes(database_bytes.0 / 100 * part));
    let mut sizes = if flags.sizes.is_empty() { usual.to_vec() } else { flags.sizes.clone() };
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The array with a cache of this size, full from the start.
fn full_cache(size: Bytes, block: Bytes) -> Vec<Replacement> {
    let changes = [
        ("host_cache.size_gb", format!("{:.6}", size.0 as f64 / 1e9)),
        ("host_cache.block_kib", (block.0 >> 10).to_string()),
        ("host_cache.warm_percent", "100".to_owned()),
    ];
    changes.map(|(key, value)| Replacement { key: key.to_owned(), value }).into()
}

fn point(simulation: &Measured, size: Option<Bytes>) -> GainPoint {
    let run = &simulation.record;
    let sum = run.sum_of(Phase::Measure);
    let [read_ms, write_ms] = [Series::DatabaseRead, Series::DatabaseWrite]
        .map(|series| sum.series.get(&series).map_or(0.0, |of| of.latency.mean_ns() / 1e6));
    let cache = run.flash_cache_of(Phase::Measure);
    let written = cache.as_ref().map_or(0, |cache| cache.flash_bytes_written);
    GainPoint {
        size,
        iops: run.achieved_transactional_iops(),
        reads_per_second: sum.per_second(Series::DatabaseRead),
        read_ms,
        write_ms,
        passes: matches!(simulation.verdict.outcome, Ruling::Pass | Ruling::Warn),
        flash_bytes_a_day: written as f64 * DAY_NS / sum.span_ns.max(1) as f64,
        cache,
        warm_up: Vec::new(),
    }
}

/// Derives the warm-ups from the rates of all sizes, each of which a larger cache passes through.
fn add_warm_ups(points: &mut [GainPoint], block: Bytes) {
    let rates: Vec<RatePoint> = points
        .iter()
        .map(|point| RatePoint {
            hit_ratio: point.hit_ratio(),
            reads_per_second: point.reads_per_second,
        })
        .collect();
    for at in 1..points.len() {
        let blocks = points[at].size.map_or(0, |size| size.0 / block.0);
        points[at].warm_up = warm_up(blocks, &rates[..=at]);
    }
}

impl GainPoint {
    /// Share of page reads that hit, from 0 to 1.
    pub(super) fn hit_ratio(&self) -> f64 {
        self.cache.as_ref().and_then(|cache| cache.database.hit_ratio()).unwrap_or(0.0)
    }

    /// Hours until the hit ratio is `part` of its final value.
    pub(super) fn hours_to(&self, part: f64) -> Option<f64> {
        let wanted = self.warm_up.last()?.hit_ratio * part;
        Some(self.warm_up.iter().find(|point| point.hit_ratio >= wanted)?.hours)
    }
}

impl CacheGain {
    /// Returns the gains in load and in mean read latency, as factors over those without a cache.
    pub(super) fn gains(&self, at: usize) -> (f64, f64) {
        let (before, point) = (&self.points[0], &self.points[at]);
        (point.iops / before.iops.max(1e-9), before.read_ms / point.read_ms.max(1e-9))
    }

    pub(super) fn advice(&self) -> GainAdvice {
        let gains: Vec<(f64, f64)> = (0..self.points.len()).map(|at| self.gains(at)).collect();
        advice(&gains, self.is_held, self.points[0].passes)
    }

    /// Bytes of scans, which bypass the cache; the most at any size.
    pub(super) fn scanned_bytes(&self) -> u64 {
        let class = RequestClass::Sequential.name();
        let caches = self.points.iter().filter_map(|point| point.cache.as_ref());
        let scans = caches.flat_map(FlashCacheInterval::classes).filter(|(name, _)| *name == class);
        scans.map(|(_, scans)| scans.read_bytes).max().unwrap_or(0)
    }
}

/// Derives the advice from gains in load and latency; the first entry is without a cache.
fn advice(gains: &[(f64, f64)], is_held: bool, passes_without: bool) -> GainAdvice {
    if is_held && passes_without {
        return GainAdvice::NotNeeded;
    }
    // A load that is held does not grow; its reads become faster.
    let gains: Vec<f64> =
        gains.iter().map(|&(load, latency)| if is_held { latency } else { load }).collect();
    let best = gains.iter().copied().fold(1.0, f64::max);
    let enough = gains.iter().position(|gain| *gain >= best * ENOUGH);
    match enough {
        Some(at) if at > 0 && gains[at] >= LEAST_GAIN => GainAdvice::Buy(at),
        _ if best >= LEAST_GAIN => {
            let useful = gains.iter().position(|gain| *gain >= LEAST_GAIN);
            useful.map_or(GainAdvice::TooLittle, GainAdvice::Buy)
        }
        _ => GainAdvice::TooLittle,
    }
}

#[cfg(test)]
mod tests {
    use super::{GainAdvice, advice};

    #[test]
    fn the_smallest_size_that_brings_nearly_the_best_is_bought() {
        let gains = [(1.0, 1.0), (1.2, 1.3), (3.8, 6.0), (4.0, 9.0)];
        assert_eq!(advice(&gains, false, false), GainAdvice::Buy(2));
        assert_eq!(advice(&gains, true, false), GainAdvice::Buy(3), "judged by latency");
    }

    #[test]
    fn a_little_more_is_too_little_and_a_load_that_passes_needs_none() {
        let little = [(1.0, 1.0), (1.1, 1.2), (1.2, 1.9)];
        assert_eq!(advice(&little, false, false), GainAdvice::TooLittle);
        assert_eq!(advice(&little, true, true), GainAdvice::NotNeeded);
        assert_eq!(advice(&[(1.0, 1.0), (1.25, 1.0)], false, true), GainAdvice::Buy(1));
    }
}
