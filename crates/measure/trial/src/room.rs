//! Checks the free space on a run's volumes: the minimum before it begins, and the point at which
//! it must end because a volume is nearly full. Databases grow; logs stay within their depth.

mod first_look;

use std::collections::VecDeque;
use std::fmt;

use ese::log_file::LOG_FILE_BYTES;
use plan::{LOG_RESERVE, Plan, end_reserve};
use units::{Bytes, Nanos};

pub use first_look::{FirstLookShortage, first_look_size, refuse_first_look};

/// Upper bound of database page requests per operation of the mail-like mix: a path, a leaf, a long
/// value, and their writes.
const MOST_REQUESTS_PER_OPERATION: f64 = 4.0;

/// Time within which the sessions of a load end after a stop request on working storage. A shorter
/// time is meaningless for a rate: logs are made in steps.
const END_TAKES: Nanos = Nanos::from_secs(1);

/// Period over which the loss of room is averaged.
const WINDOW: Nanos = Nanos::from_secs(5);

/// Files grow in steps: their growth over a shorter time means little.
const GROWTH_SEEN_FOR: Nanos = Nanos::from_secs(30);

/// Share of the free space that the advice for a shorter run uses.
const FITTING_PERCENT: u64 = 80;

/// Space left free next to the copies of a backup, for their ownership files and file-system
/// metadata.
const ROOM_BESIDE_COPIES: Bytes = Bytes::from_mib(1);

/// Files that a run keeps on one volume.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tenants {
    /// Database files.
    pub databases: u64,
    /// Logs.
    pub logs: u64,
    /// Bytes that the files of those logs take already.
    pub log_bytes: u64,
}

/// A lack of space on a volume for a run, or for the rest of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Shortage {
    /// Found before the first request.
    Before {
        /// The volume.
        volume: String,
        /// Minimum that the run will write.
        needed: Bytes,
        /// Free bytes.
        free: Bytes,
    },
    /// Found before a backup makes its copies.
    OfCopies {
        /// The volume.
        volume: String,
        /// Needed bytes.
        needed: Bytes,
        /// Free bytes.
        free: Bytes,
    },
    /// The volume was nearly full.
    Imminent {
        /// The volume.
        volume: String,
        /// Time since the start of the run.
        at: Nanos,
        /// Free bytes.
        free: Bytes,
        /// The part of the free bytes that is needed to end the run.
        reserve: Bytes,
        /// Rate at which the free space shrank.
        per_second: Bytes,
        /// Remaining measurement time.
        remaining: Nanos,
    },
    /// The volume would fill up long before the measurement completes.
    Foreseen {
        /// The volume.
        volume: String,
        /// Time of this forecast, since the start of the run.
        at: Nanos,
        /// Free bytes.
        free: Bytes,
        /// Combined growth rate of the databases.
        per_second: Bytes,
        /// Remaining measurement time.
        remaining: Nanos,
    },
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const REMEDY: &str =
            "free some space, or lower `size` or `count` in the plan (for `quick`: --size)";
        match self {
            Self::Before { volume, needed, free } => write!(
                f,
                "{volume}: the run will write at least {needed} more and {free} are free; run \
                 shorter, {REMEDY}"
            ),
            Self::OfCopies { volume, needed, free } => write!(
                f,
                "{volume}: the copies of the backup need {needed} and {free} are free; free some \
                 space, or name a folder on another volume for them in the plan"
            ),
            Self::Imminent { volume, at, free, reserve, per_second, remaining } => write!(
                f,
                "{volume} was about to be full at {:.0} s: {free} were left, of which up to \
                 {reserve} are for its end, {per_second} less every second, and the rest of the \
                 run ({:.0} s) would have needed about {} more; run shorter, {REMEDY}",
                at.as_secs_f64(),
                remaining.as_secs_f64(),
                over(*per_second, *remaining),
            ),
            Self::Foreseen { volume, at, free, per_second, remaining } => write!(
                f,
                "{volume} has no room for the run: at {:.0} s {free} were free, the databases grew \
                 by {per_second} a second, and the rest of the measurement ({:.0} s) would have \
                 needed about {} more; measure for about {:.0} s, {REMEDY}",
                at.as_secs_f64(),
                remaining.as_secs_f64(),
                over(*per_second, *remaining),
                fitting_time(*free, *per_second).as_secs_f64(),
            ),
        }
    }
}

impl std::error::Error for Shortage {}

/// The total of `per_second` over `span`.
fn over(per_second: Bytes, span: Nanos) -> Bytes {
    let bytes = u128::from(per_second.0) * u128::from(span.0) / 1_000_000_000;
    Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
}

/// Length of a measurement for which `free` bytes suffice.
fn fitting_time(free: Bytes, per_second: Bytes) -> Nanos {
    Nanos::from_secs(free.0 / 100 * FITTING_PERCENT / per_second.0.max(1))
}

/// Free space at which a load must end, so that enough is left for ending it.
pub fn reserve(plan: &Plan, tenants: &Tenants) -> Bytes {
    end_reserve(tenants.databases, tenants.logs, plan.page_size.0)
}

/// Bytes that the logs on a volume will take beyond their present size.
fn logs_to_come(plan: &Plan, tenants: &Tenants) -> u64 {
    let is_replayed = plan.test.is_recovery();
    let kept = if is_replayed { replayed(plan) } else { plan.checkpoint_depth.0 };
    let whole = tenants.logs * (kept + LOG_RESERVE.0);
    whole.saturating_sub(tenants.log_bytes)
}

/// Bytes of log that a recovery test has generated for each database.
fn replayed(plan: &Plan) -> u64 {
    u64::from(plan.test.replay_logs) * LOG_FILE_BYTES
}

/// Space that a recovery test needs for each database: the load makes it grow by half of the
/// generated log and more, and a copy of it may be kept next to it.
fn of_recovery(plan: &Plan) -> u64 {
    let copy = plan.test.replayed_copy().map_or(0, |_| plan.size.0);
    replayed(plan) + copy
}

/// Refuses a run of `plan` on a volume with too little room to finish.
pub fn before(plan: &Plan, volume: &str, tenants: &Tenants, free: Bytes) -> Result<(), Shortage> {
    let needed = needed(plan, tenants);
    if needed <= free {
        return Ok(());
    }
    Err(Shortage::Before { volume: volume.to_owned(), needed, free })
}

/// Minimum that a run adds to a volume's existing files.
fn needed(plan: &Plan, tenants: &Tenants) -> Bytes {
    let growth = match plan.workload.target_iops {
        _ if plan.test.is_recovery() => tenants.databases * of_recovery(plan),
        Some(target) => {
            let share = tenants.databases as f64 / plan.databases.len().max(1) as f64;
            let requests = f64::from(target) * share * plan.test.duration.as_secs_f64();
            whole(requests * least_growth_per_request(plan))
        }
        None => 0,
    };
    Bytes(logs_to_come(plan, tenants) + reserve(plan, tenants).0 + growth)
}

/// Refuses backup copies on a volume if they take `needed` bytes more than earlier ones and that
/// much is not free.
pub fn for_copies(volume: &str, needed: Bytes, free: Bytes) -> Result<(), Shortage> {
    let needed = Bytes(needed.0.saturating_add(ROOM_BESIDE_COPIES.0));
    if needed <= free {
        return Ok(());
    }
    Err(Shortage::OfCopies { volume: volume.to_owned(), needed, free })
}

/// Minimum growth of a database per request that counts towards a target: the payload of the
/// messages inserted and not deleted.
fn least_growth_per_request(plan: &Plan) -> f64 {
    let mix = plan.workload.mix;
    let kept = f64::from(mix.insert.saturating_sub(mix.delete)) / 100.0;
    let payload = plan.workload.short_pad_bytes + plan.workload.long_pad_bytes;
    kept * f64::from(payload) / MOST_REQUESTS_PER_OPERATION
}

/// The free space of a volume as it shrinks.
#[derive(Clone, Debug, Default)]
pub struct Room {
    looks: VecDeque<(Nanos, Bytes)>,
}

impl Room {
    /// Records that `free` was left at `now`. Returns the loss per second if the load must stop:
    /// the reserve is reached, or will be while the load ends.
    pub fn look(&mut self, now: Nanos, free: Bytes, reserve: Bytes) -> Option<Bytes> {
        self.looks.push_back((now, free));
        while self.looks.len() > 2 && now.since(self.looks[1].0) >= WINDOW {
            self.looks.pop_front();
        }
        let (since, before) = self.looks[0];
        let per_second = rate(before.0.saturating_sub(free.0), now.since(since));
        let lost_meanwhile = match now.since(since) {
            span if span < END_TAKES => Bytes(0),
            _ => over(per_second, END_TAKES),
        };
        (free.0 <= reserve.0.saturating_add(lost_meanwhile.0)).then_some(per_second)
    }
}

/// How the databases of a volume grow during the measurement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Growth {
    first: Option<(Nanos, Bytes)>,
    last: (Nanos, Bytes),
}

impl Growth {
    /// Records that the files total `bytes` at `now`.
    pub fn note(&mut self, now: Nanos, bytes: Bytes) {
        self.first.get_or_insert((now, bytes));
        self.last = (now, bytes);
    }

    /// Growth per second, if the rest of the measurement needs more than twice the free space. A
    /// smaller shortfall may be an estimation error: then only the reserve ends the run.
    pub fn foresees_lack(&self, remaining: Nanos, room: Bytes) -> Option<Bytes> {
        let (since, before) = self.first?;
        let span = self.last.0.since(since);
        let per_second = rate(self.last.1.0.saturating_sub(before.0), span);
        let lacks = over(per_second, remaining).0 / 2 > room.0;
        (span >= GROWTH_SEEN_FOR && lacks).then_some(per_second)
    }
}

fn rate(bytes: u64, span: Nanos) -> Bytes {
    if span == Nanos::ZERO {
        return Bytes(0);
    }
    Bytes(whole(bytes as f64 / span.as_secs_f64()))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive; what is beyond 2^64 becomes the largest number"
)]
const fn whole(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests;
