//! Page-fault stalls: how often a page had to wait for a free place in the cache, which happens
//! when page writes do not keep up with page reads.

use record::{Phase, RunRecord};
use units::{Bytes, thousands};

use super::judges_load;
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// The least cache that Jetstress gives a database, for which its limit was made: a smaller one
/// may make pages wait on storage that keeps up.
pub const LEAST_CACHE: Bytes = Bytes::from_mib(32);

/// Fails if stalls over all databases are more frequent than the limit.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    if !judges_load(run) {
        return None;
    }
    let sum = run.sum_of(Phase::Measure);
    let limit = Limit::AtMost(run.start.settings.thresholds.page_fault_stalls_per_second);
    let per_second = sum.rate(sum.counters.page_fault_stalls);
    let (outcome, measured, evidence) = if sum.span_ns == 0 {
        let nothing = Evidence::of_run("nothing was measured");
        (Ruling::CannotJudge, None, vec![nothing])
    } else if limit.admits(per_second) {
        (Ruling::Pass, Some(per_second), Vec::new())
    } else {
        (Ruling::Fail, Some(per_second), stalls_by_database(run))
    };
    Some(Finding {
        rule: "page-fault-stalls",
        title: "Page-fault stalls, average",
        kind: Kind::Load,
        outcome,
        measured,
        limit: Some(limit),
        unit: Unit::PerSecond,
        evidence,
    })
}

fn stalls_by_database(run: &RunRecord) -> Vec<Evidence> {
    let mut stalls: Vec<(u64, u32)> = run
        .start
        .databases
        .iter()
        .filter_map(|database| {
            let totals = run.totals_of(Phase::Measure, database.index)?;
            Some((totals.counters.page_fault_stalls, database.index))
        })
        .filter(|&(stalls, _)| stalls > 0)
        .collect();
    stalls.sort_by_key(|&(stalls, index)| (std::cmp::Reverse(stalls), index));
    let by_database = stalls.iter().map(|&(stalls, index)| {
        Evidence::of_database(index, format!("{} stalls", thousands(stalls)))
    });
    small_cache(run).into_iter().chain(by_database).collect()
}

fn small_cache(run: &RunRecord) -> Option<Evidence> {
    let cache = Bytes(run.start.settings.cache_maximum_bytes);
    (cache < LEAST_CACHE).then(|| {
        Evidence::of_run(format!(
            "with {cache} of cache for a database, less than {LEAST_CACHE}, the cache may be to \
             blame"
        ))
    })
}
