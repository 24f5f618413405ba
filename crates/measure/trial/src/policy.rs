//! The run's decisions, as functions of values.

use engine::Mended;
use plan::{Database, Plan, Sessions, TestKind, WarmUpPace};
use units::{Bytes, Nanos};

use crate::tune;

/// Share of the maximum cache at which the warm-up ends: the original's `PreloadJetCache`.
pub(crate) const WARM_FRACTION: f64 = 0.9;

/// Sessions that load each database, until a search has found another number.
pub(crate) const fn sessions_per_database(plan: &Plan) -> u32 {
    match plan.workload.sessions {
        Sessions::Auto => tune::FIRST_SESSIONS,
        Sessions::Count(count) => count,
    }
}

/// Sessions that load `database`, according to its weight.
pub fn sessions_of(plan: &Plan, database: &Database) -> u32 {
    sessions_of_share(sessions_per_database(plan), plan.share(database))
}

/// The share of the target for a database of average weight, in database reads and writes per
/// second.
pub(crate) fn target_of_a_database(plan: &Plan) -> Option<f64> {
    let target = plan.workload.target_iops?;
    Some(f64::from(target) / plan.databases.len() as f64)
}

/// The target that the load keeps from its first request, in database reads and writes per second
/// over all databases; `None` if the warm-up and the search for sessions run as fast as the storage
/// answers.
pub fn held_from_start(plan: &Plan) -> Option<u32> {
    let is_load = matches!(plan.test.kind, TestKind::Performance | TestKind::Stress);
    let is_held = is_load && plan.test.warm_up == WarmUpPace::Held;
    plan.workload.target_iops.filter(|_| is_held)
}

/// The held load, in database reads and writes per second over all databases, if the highest is
/// `most_iops` and the plan asks for a share of it; `None` if it asks for all.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is not negative, and too high a one becomes the highest"
)]
pub fn share_of_highest(plan: &Plan, most_iops: f64) -> Option<u32> {
    let percent = plan.workload.throughput_percent.filter(|percent| *percent < 100)?;
    Some(((most_iops * f64::from(percent) / 100.0).round() as u32).max(1))
}

/// Sessions of a database with `share` times the load of an average one, if an average one has
/// `count`; at least one if `count` is above zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive, and more sessions than 2^32 are never asked for"
)]
pub(crate) fn sessions_of_share(count: u32, share: f64) -> u32 {
    let part = (f64::from(count) * share).round() as u32;
    part.max(count.min(1))
}

/// Length of one step of the search for the best number of sessions: longer before a longer
/// measurement.
pub(crate) fn tuning_step(measured: Nanos) -> Nanos {
    Nanos(measured.0 / 100).clamp(Nanos::from_millis(500), Nanos::from_secs(10))
}

/// Cache size at which a database is warm. A database that fits into its cache is warm once most of
/// it is cached, since the cache will never fill.
pub(crate) fn warm_bytes(cache_maximum: Bytes, file: Bytes) -> Bytes {
    let tenths = cache_maximum.0.min(file.0) / 10;
    Bytes(tenths * 9)
}

/// End of the sample in progress at `now`, in a measurement that begins at `from`; the last one
/// ends with the measurement, and beyond it there is none.
pub(crate) fn sample_end(
    from: Nanos,
    duration: Nanos,
    interval: Nanos,
    now: Nanos,
) -> Option<Nanos> {
    let elapsed = now.since(from).0;
    if elapsed >= duration.0 {
        return None;
    }
    // The rest of a sample that was slept through does not count as a separate sample.
    let number = (elapsed + interval.0 / 2) / interval.0 + 1;
    let end = number.saturating_mul(interval.0);
    Some(from + Nanos(end.min(duration.0)))
}

/// Damage to report for a database that was repaired under load, and for pages that the maintenance
/// scan found bad: a later checksum pass may not find any of it. Reads that failed but succeeded on
/// retry are excluded; each failed request is an issue.
pub(crate) fn damage_in_passing(mended: Mended, bad_pages: u64) -> Vec<String> {
    [
        (
            mended.wrong_reads,
            "read",
            "gave content that was never written and did well when repeated; \
             something between the medium and the program changes data",
        ),
        (mended.flipped_bits, "page", "came in with one bit flipped, which the checksum put right"),
        (bad_pages, "page", "no longer held what was written, as the maintenance scan found"),
    ]
    .into_iter()
    .filter(|(count, ..)| *count > 0)
    .map(|(count, noun, text)| format!("{} {text}", units::plural(count, noun)))
    .collect()
}

#[cfg(test)]
mod tests {
    use engine::Mended;
    use units::{Bytes, Nanos};

    use plan::Plan;

    use super::{damage_in_passing, sample_end, sessions_of_share, share_of_highest, warm_bytes};

    /// The held rate of a plan with `percent` of the load if the highest is 2,000.
    fn held(percent: &str) -> Option<u32> {
        let databases = "[databases]\nfolders = [\"/a\"]\nsize = \"1GiB\"\n";
        let plan = Plan::parse("test", &format!("{databases}[workload]\n{percent}"));
        share_of_highest(&plan.unwrap(), 2_000.0)
    }

    #[test]
    fn a_share_of_the_highest_load_is_a_target_and_all_of_it_is_none() {
        assert_eq!(held(""), None);
        assert_eq!(held("throughput_percent = 100"), None);
        // As published: 1,600 of 2,000.
        assert_eq!(held("throughput_percent = 80"), Some(1_600));
        assert_eq!(held("throughput_percent = 1"), Some(20));
    }

    #[test]
    fn only_what_went_wrong_is_told() {
        let failed = Mended { failed_reads: 7, ..Mended::default() };
        assert_eq!(damage_in_passing(failed, 0), Vec::<String>::new());
        let told = damage_in_passing(Mended { flipped_bits: 3, ..failed }, 1);
        assert_eq!(told.len(), 2);
        assert!(told[0].starts_with("3 pages came in with one bit flipped"));
        assert!(told[1].starts_with("1 page no longer held what was written"));
    }

    #[test]
    fn sessions_follow_the_weights_and_none_is_left_without() {
        let shared = |count, shares: [f64; 3]| shares.map(|share| sessions_of_share(count, share));
        assert_eq!(shared(4, [1.0, 1.0, 1.0]), [4, 4, 4]);
        assert_eq!(shared(4, [0.5, 0.5, 2.0]), [2, 2, 8]);
        assert_eq!(shared(1, [0.01, 0.01, 2.98]), [1, 1, 3]);
        assert_eq!(shared(0, [0.5, 0.5, 2.0]), [0, 0, 0]);
    }

    #[test]
    fn warm_means_nine_tenths_of_the_cache_or_of_the_file() {
        assert_eq!(warm_bytes(Bytes(1000), Bytes(1 << 30)), Bytes(900));
        assert_eq!(warm_bytes(Bytes(1 << 30), Bytes(1000)), Bytes(900));
    }

    #[test]
    fn samples_tile_the_measurement() {
        let end = |now| sample_end(Nanos(100), Nanos(25), Nanos(10), Nanos(now));
        assert_eq!(end(100), Some(Nanos(110)));
        assert_eq!(end(104), Some(Nanos(110)));
        assert_eq!(end(109), Some(Nanos(120)));
        assert_eq!(end(110), Some(Nanos(120)));
        assert_eq!(end(121), Some(Nanos(125)));
        assert_eq!(end(125), None);
    }
}
