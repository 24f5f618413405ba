//! Infers the caches of storage from its behaviour: the time of single durable writes, and the
//! moment at which sustained writes become slow. What arrays, hypervisors and lying disks declare
//! is no evidence.

use device_os::probe::{BlockDevice, Makeup, OwnCache};
use record::{StorageFinding, WriteSamples};
use units::{Bytes, Nanos};

use crate::draft::{FindingDraft, mended_by};

/// On a disk with moving parts, three in four random durable writes take longer: at 15,000 rpm a
/// quarter turn is 1 ms, plus a short seek.
const MECHANICAL_NS: u64 = 1_300_000;

/// A flush that reaches a medium makes a write at least this many times slower.
const FLUSH_FACTOR: u64 = 4;

/// A full cache slows writes down by at least this factor.
const SLOWDOWN_FACTOR: f64 = 2.0;

/// Number of candidate points for the slowdown.
const CANDIDATES: usize = 400;

/// A full cache is observed for at least this long.
const SETTLED_NS: u64 = 8_000_000_000;

/// With fewer completions on either side, a candidate proves nothing.
const FEWEST_COMPLETIONS: usize = 16;

/// How storage handles durable writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteBehaviour {
    /// Durable and other writes take as long as a medium with moving parts: there is no cache.
    Through,
    /// Durable writes wait for a flush that takes time; other writes are answered from a cache.
    Flushed,
    /// Durable writes are as fast as others, and faster than moving parts allow: answered by a
    /// protected cache, by flash, or by something that drops flushes.
    Early,
}

/// The point at which durable writes became slow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slowdown {
    /// Bytes accepted by then and not yet destaged: the size of the cache.
    pub cache_bytes: u64,
    /// Writes per second until then.
    pub cached_per_second: f64,
    /// Writes per second from then on.
    pub drained_per_second: f64,
    /// Time of the slowdown, from the first write on.
    pub at_ns: u64,
}

/// Classifies the write behaviour; `None` if either kind has no single writes. Compares lower
/// quartiles, because a busy machine makes writes slower, never faster. A `slowdown` rules out
/// `Through`: a cache answered until then, however long single writes took.
fn write_behaviour(samples: &WriteSamples, slowdown: Option<Slowdown>) -> Option<WriteBehaviour> {
    let volatile_ns = quantile(&samples.volatile_ns, 4)?;
    let durable_ns = quantile(&samples.durable_ns, 4)?;
    Some(if durable_ns >= volatile_ns.saturating_mul(FLUSH_FACTOR) {
        WriteBehaviour::Flushed
    } else if durable_ns >= MECHANICAL_NS && slowdown.is_none() {
        WriteBehaviour::Through
    } else {
        WriteBehaviour::Early
    })
}

/// The latency that one in `parts` samples does not exceed.
fn quantile(latencies_ns: &[u64], parts: usize) -> Option<u64> {
    let mut sorted = latencies_ns.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / parts).copied()
}

/// Finds the point at which writes became slow: the joint of the two line segments that best fit
/// completions over time (least squares); `None` if there is hardly a bend.
///
/// The bytes accepted by then, minus the bytes that the second line would have drained in the same
/// time, are the size of the cache.
fn slowdown(samples: &WriteSamples) -> Option<Slowdown> {
    let times = &samples.completions_ns;
    let last = times.len().checked_sub(1)?;
    let step = (times.len() / CANDIDATES).max(1);
    let at = (FEWEST_COMPLETIONS..last.saturating_sub(FEWEST_COMPLETIONS))
        .step_by(step)
        .min_by(|one, two| error(times, *one, step).total_cmp(&error(times, *two, step)))?;
    let cached_per_second = (at + 1) as f64 / seconds(0, times[at]);
    let drained_per_second = (last - at) as f64 / seconds(times[at], times[last]);
    if cached_per_second < drained_per_second * SLOWDOWN_FACTOR {
        return None;
    }
    let after_ns = u128::from((times[last] - times[at]).max(1));
    let gone = (last - at) as u128 * u128::from(times[at]) / after_ns;
    let held = (at as u128 + 1).saturating_sub(gone);
    Some(Slowdown {
        cache_bytes: u64::try_from(held * u128::from(samples.write_bytes)).unwrap_or(u64::MAX),
        cached_per_second,
        drained_per_second,
        at_ns: times[at],
    })
}

/// Whether more writes would hardly change the measured size of the cache: the cache has been full
/// for as long as it took to fill, and for at least some seconds, so that a pause is not mistaken
/// for a full cache.
pub fn is_settled(samples: &WriteSamples) -> bool {
    let last_ns = samples.completions_ns.last().copied().unwrap_or(0);
    slowdown(samples).is_some_and(|slow| last_ns >= slow.at_ns * 2 + SETTLED_NS)
}

/// Sum of squared distances between the completions and the two lines that meet at `at`.
fn error(times: &[u64], at: usize, step: usize) -> f64 {
    let last = times.len() - 1;
    let corner = (times[at] as f64, (at + 1) as f64);
    let end = (times[last] as f64, times.len() as f64);
    let distances = (0..times.len()).step_by(step).map(|index| {
        let time = times[index] as f64;
        let on_line =
            if index <= at { line((0.0, 0.0), corner, time) } else { line(corner, end, time) };
        (on_line - (index + 1) as f64).powi(2)
    });
    distances.sum()
}

fn seconds(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns).max(1) as f64 / 1e9
}

/// The value at `time` of the line through two points.
fn line(from: (f64, f64), to: (f64, f64), time: f64) -> f64 {
    from.1 + (to.1 - from.1) * (time - from.0) / (to.0 - from.0).max(1.0)
}

/// Compares the writes at a place with what its disk and the kernel claim.
pub fn finding_of(
    place: &str,
    devices: &[BlockDevice],
    samples: &WriteSamples,
) -> Vec<StorageFinding> {
    let slowdown = slowdown(samples);
    let Some(behaviour) = write_behaviour(samples, slowdown) else {
        return Vec::new();
    };
    let disk = devices.iter().find(|device| device.makeup == Makeup::Plain);
    vec![measured(place, behaviour, samples, slowdown), held(place, disk, behaviour, slowdown)]
}

/// The observation, regardless of any declaration.
fn measured(
    place: &str,
    behaviour: WriteBehaviour,
    samples: &WriteSamples,
    slowdown: Option<Slowdown>,
) -> StorageFinding {
    let check = FindingDraft::new(("measured-write-cache", "Write cache as measured"), place);
    let each = Nanos(quantile(&samples.durable_ns, 2).unwrap_or(0));
    let each = format!("{:.2} ms a durable write", each.0 as f64 / 1e6);
    let written = samples.completions_ns.len() as u64 * u64::from(samples.write_bytes);
    match (behaviour, slowdown) {
        (WriteBehaviour::Through, _) => check.warn(
            format!("none: {each}"),
            "every commit waits for the medium; a protected write cache would answer it",
        ),
        (WriteBehaviour::Flushed, _) => check.pass(
            format!("flushed: {each}"),
            "what is answered without a flush is faster, so the flush reaches something slower",
        ),
        (WriteBehaviour::Early, Some(slow)) => check.warn(
            format!(
                "write back, {} of it: {each}, {:.0} a second until it is full, {:.0} from then on",
                Bytes(slow.cache_bytes),
                slow.cached_per_second,
                slow.drained_per_second
            ),
            "a load that writes more than the second rate sinks once the cache is full: measure \
             for hours",
        ),
        (WriteBehaviour::Early, None) => check.pass(
            format!("{each}, and no slower after {}", Bytes(written)),
            "flash, or a cache that is larger than what was written",
        ),
    }
}

/// Compares behaviour with declaration.
fn held(
    place: &str,
    disk: Option<&BlockDevice>,
    behaviour: WriteBehaviour,
    slowdown: Option<Slowdown>,
) -> StorageFinding {
    let check = FindingDraft::new(("cache-behaviour", "Cache as declared and as measured"), place);
    let unknown = OwnCache::default();
    let own = disk.map_or(&unknown, |disk| &disk.own_cache);
    let kernel = disk.and_then(|disk| disk.facts.volatile_cache);
    let rotates = disk.and_then(|disk| disk.facts.rotational);
    let is_volatile = match own {
        OwnCache::On(_) => Some(true),
        OwnCache::Off(_) => Some(false),
        OwnCache::Untold(_) => kernel,
    };
    match (behaviour, is_volatile, rotates) {
        (WriteBehaviour::Early, Some(true), Some(true)) => mended_by(
            check.fail(
                "a cache that power empties is declared, and flushes cost nothing",
                "a disk cannot turn so fast: it lies about flushes, or a controller answers in \
                 its place: suspect",
            ),
            "turn the disk's cache off and measure again; name the controller with --controller",
        ),
        (WriteBehaviour::Early, Some(false), Some(true)) => check.warn(
            "declared off, behaves on",
            "a cache before the disk answers: that of a controller, or one that is not declared",
        ),
        (WriteBehaviour::Early, None, Some(true)) => check.warn(
            "not declared, behaves on",
            "something before the disk answers; whether it keeps its writes cannot be known",
        ),
        (WriteBehaviour::Early, _, Some(false)) => {
            check.pass("as fast as flash is", "nothing contradicts the declaration")
        }
        (WriteBehaviour::Early, _, None) if slowdown.is_some() => check.unknown(
            "a cache answers durable writes",
            "whether something keeps it without power cannot be known from here: ask for the array",
        ),
        (WriteBehaviour::Early, _, None) => check.unknown(
            "durable writes are answered at once",
            "flash, a cache larger than what was written, or dropped flushes: not known from here",
        ),
        (WriteBehaviour::Through, Some(true), _) => check.warn(
            "declared on, behaves off",
            "the declared cache does not answer writes: it may be switched off or broken",
        ),
        (WriteBehaviour::Through | WriteBehaviour::Flushed, _, _) => {
            check.pass("as declared", "durable writes reach the medium before they are answered")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use device_os::probe::OwnCache;
    use proptest::prelude::*;
    use record::StorageRuling::{self, CannotJudge, Fail, Pass, Warn};
    use record::WriteSamples;
    use units::{Prng, Seed};

    use super::{WriteBehaviour, finding_of, slowdown, write_behaviour};
    use crate::volume::tests::{disk, found};

    const PAGE: u32 = 32 << 10;

    fn singles(volatile_us: u64, durable_us: u64) -> WriteSamples {
        WriteSamples {
            write_bytes: PAGE,
            volatile_ns: vec![volatile_us * 1_000; 9],
            durable_ns: vec![durable_us * 1_000; 9],
            completions_ns: Vec::new(),
        }
    }

    /// Completions of a cache that takes `held` writes at one rate and then drains at another for
    /// equally long, with every interval off by up to the share `noise`.
    fn filled(held: u64, (cached, drained): (f64, f64), seed: u64, noise: f64) -> WriteSamples {
        let mut prng = Prng::new(Seed(seed));
        let (mut now_s, mut level, mut times) = (0.0, 0.0, Vec::new());
        let full_s = held as f64 / (cached - drained);
        while now_s < full_s * 4.0 {
            let rate = if level < held as f64 { cached } else { drained };
            let off = 1.0 + noise * (prng.below(2_001) as f64 / 1_000.0 - 1.0);
            let step_s = off / rate;
            now_s += step_s;
            level = (level + 1.0 - drained * step_s).max(0.0);
            let now = Duration::from_secs_f64(now_s).as_nanos();
            times.push(u64::try_from(now).expect("a short test"));
        }
        WriteSamples { completions_ns: times, ..singles(100, 110) }
    }

    #[test]
    fn single_writes_tell_three_kinds_of_storage_apart() {
        let of = |volatile_us, durable_us| write_behaviour(&singles(volatile_us, durable_us), None);
        assert_eq!(of(7_500, 8_100), Some(WriteBehaviour::Through));
        assert_eq!(of(90, 8_100), Some(WriteBehaviour::Flushed));
        assert_eq!(of(40, 400), Some(WriteBehaviour::Flushed));
        assert_eq!(of(90, 110), Some(WriteBehaviour::Early));
        assert_eq!(write_behaviour(&WriteSamples::default(), None), None);
        let busy =
            WriteSamples { durable_ns: vec![3_800_000; 9], ..filled(999, (900.0, 60.0), 1, 0.1) };
        assert_eq!(write_behaviour(&busy, slowdown(&busy)), Some(WriteBehaviour::Flushed));
        let busy = WriteSamples { volatile_ns: vec![3_300_000; 9], ..busy };
        assert_eq!(write_behaviour(&busy, slowdown(&busy)), Some(WriteBehaviour::Early));
        let hiccups = vec![90_000, 95_000, 99_000, 9_000_000, 9_000_000, 9_000_000, 9_000_000];
        let some = WriteSamples { durable_ns: hiccups, ..singles(90, 0) };
        assert_eq!(write_behaviour(&some, None), Some(WriteBehaviour::Early));
    }

    proptest! {
        /// Caches from 4 MiB to 2 GiB, two to fifty times as fast as the storage behind them.
        #[test]
        fn the_size_of_a_cache_is_what_came_in_and_did_not_go_on(
            held in 128_u64..65_536,
            drained in 100.0_f64..2_000.0,
            factor in 3.0_f64..50.0,
            seed in any::<u64>(),
        ) {
            let samples = filled(held, (drained * factor, drained), seed, 0.5);
            let slow = slowdown(&samples).expect("it became slow");
            let size = held * u64::from(PAGE);
            let off = slow.cache_bytes.abs_diff(size) as f64 / size as f64;
            prop_assert!(off < 0.25, "{} of {size}", slow.cache_bytes);
        }

        #[test]
        fn a_steady_storage_has_no_cache_that_fills(seed in any::<u64>()) {
            let mut samples = filled(1, (200.0, 100.0), seed, 0.5);
            let mut prng = Prng::new(Seed(seed));
            let mut now = 0;
            samples.completions_ns =
                (0..2_000).map(|_| { now += 1 + prng.below(1_000_000); now }).collect();
            prop_assert_eq!(slowdown(&samples), None);
        }
    }

    #[test]
    fn a_full_cache_is_watched_for_as_long_as_it_took_to_fill() {
        let full = filled(20_000, (2_000.0, 200.0), 1, 0.1);
        let at_ns = slowdown(&full).unwrap().at_ns;
        let until = |limit_ns: u64| WriteSamples {
            completions_ns: full
                .completions_ns
                .iter()
                .copied()
                .filter(|at| *at < limit_ns)
                .collect(),
            ..full.clone()
        };
        assert!(super::is_settled(&full));
        assert!(!super::is_settled(&until(at_ns * 3 / 2)));
        assert!(!super::is_settled(&WriteSamples::default()));
    }

    #[test]
    fn few_completions_say_nothing() {
        for count in [0, 1, 20, 32] {
            let completions_ns = (0..count).map(|number| number * number * 1_000).collect();
            let samples = WriteSamples { completions_ns, ..singles(1, 1) };
            assert_eq!(slowdown(&samples), None, "{count}");
        }
    }

    #[test]
    fn declarations_and_behaviour_that_contradict_are_named() {
        let says = |samples: &WriteSamples, own: OwnCache, rotates: Option<bool>| {
            let mut device = disk("sda");
            (device.own_cache, device.facts.rotational) = (own, rotates);
            device.facts.volatile_cache = None;
            let findings = finding_of("/mail", &[device], samples);
            let finding = found(&findings, "cache-behaviour");
            (finding.outcome, finding.seen.clone())
        };
        let (on, off) = (OwnCache::On("page"), OwnCache::Off("page"));
        let (through, flushed, early) =
            (singles(8_000, 8_100), singles(90, 8_000), singles(90, 99));
        let lies = says(&early, on.clone(), Some(true));
        assert_eq!(lies.0, Fail);
        assert_eq!(says(&early, off.clone(), Some(true)).1, "declared off, behaves on");
        assert_eq!(says(&through, on.clone(), Some(true)).1, "declared on, behaves off");
        let outcome = |samples, own, rotates| -> StorageRuling { says(samples, own, rotates).0 };
        assert_eq!(outcome(&flushed, on, Some(true)), Pass);
        assert_eq!(outcome(&through, off.clone(), Some(true)), Pass);
        assert_eq!(outcome(&early, off.clone(), Some(false)), Pass);
        assert_eq!(outcome(&early, off, None), CannotJudge);
        let full = filled(1_000, (2_000.0, 200.0), 1, 0.1);
        let findings = finding_of("/mail", &[], &full);
        assert_eq!(found(&findings, "measured-write-cache").outcome, Warn);
        assert_eq!(found(&findings, "cache-behaviour").seen, "a cache answers durable writes");
        assert!(finding_of("/mail", &[], &WriteSamples::default()).is_empty());
    }
}
