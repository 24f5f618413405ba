//! The profile of a load at the pace of its array: the load is first played with the bursts of one
//! session; then the engine is traced again, with the latencies found.

use plan::Plan;
use simdisk::MemorySettling;
use simdisk::operations::OperationProfile;
use units::Nanos;

use super::Playback;
use crate::error::HostError;
use crate::simulate::alike::Alike;
use crate::simulate::measured;
use crate::simulate::pace::ArrayPace;
use crate::simulate::scale::{scaled_to, whole};

/// Reads that are measured over all databases, after the same number of unmeasured ones.
const READS: u64 = 20_000;

/// Maximum measured time once the array's caches have settled, however slow it is: queues have
/// filled by then.
const LONGEST: Nanos = Nanos::from_secs(60);

/// Longest useful rest: with more, still at most one session works at a time.
const LONGEST_REST_PERCENT: f64 = 5_000.0;

/// Interval between checks.
const STEP: Nanos = Nanos::from_millis(500);

/// The profile with bursts of page writes at the pace of the array under `playback`.
pub(super) fn profile(
    playback: &Playback<'_, '_>,
    plan: &Plan,
) -> Result<OperationProfile, HostError> {
    if playback.is_stopped {
        return Ok(playback.profile.clone());
    }
    let pace = observed(playback, plan)?;
    // As large as at level 1: with a larger cache the bursts of page writes are longer.
    let simulated = Alike::of_engine(playback.order.storage, plan).simulated.len();
    measured::paced(playback.profile, &scaled_to(plan, simulated).0, pace)
}

fn observed(playback: &Playback<'_, '_>, plan: &Plan) -> Result<ArrayPace, HostError> {
    let mut run = playback.operation_run(plan)?;
    let (mut now, mut pace) = (Nanos::ZERO, ArrayPace::new());
    let mut settling = MemorySettling::default();
    for _ in 0..2 {
        let begun = now;
        let mut is_settled = false;
        pace = ArrayPace::new();
        while !is_settled || pace.reads_seen() < READS && now.since(begun) < LONGEST {
            now += STEP;
            run.advance(now, &mut |answer| pace.note(&answer));
            let filled = run.filled_memory();
            is_settled = filled.is_none_or(|filled| settling.is_settled(now, filled));
        }
        pace.rest_percent = rest_percent(playback, plan, (&pace, now.since(begun)));
    }
    Ok(pace)
}

/// Time that a session rests, as a percentage of the time that its reads and commits take.
fn rest_percent(
    playback: &Playback<'_, '_>,
    plan: &Plan,
    (pace, span): (&ArrayPace, Nanos),
) -> u32 {
    let profile = playback.profile;
    let awaited = profile.mean(|of| of.reads.into());
    let all = profile.mean(|of| u64::from(of.reads + of.reads_beside));
    let databases = playback.alike.simulated.iter().map(|&at| &plan.databases[at]);
    let sessions: u32 = databases.map(|database| trial::sessions_of(plan, database)).sum();
    let awaited_reads = pace.reads_seen().max(1) as f64 * awaited / all.max(1.0);
    let each = span.0 as f64 * f64::from(sessions) / awaited_reads.max(1.0);
    let commits = profile.mean(|of| of.is_durable.into()) / awaited.max(1.0);
    let waits = pace.reads.mean().0 as f64 + commits * pace.log.mean().0 as f64;
    let rest_percent = ((each / waits.max(1.0) - 1.0) * 100.0).clamp(0.0, LONGEST_REST_PERCENT);
    u32::try_from(whole(rest_percent)).unwrap_or_default()
}
