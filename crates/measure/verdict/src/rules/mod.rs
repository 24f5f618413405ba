//! One rule per file; a rule that does not apply to a run returns no finding.

mod breaks;
mod caches;
mod checksums;
mod completion_lag;
mod connection_lost;
mod copy_rate;
mod device_reads;
mod generator_limited;
mod intact;
mod interrupted;
mod io_limits;
mod issues;
mod latency;
mod latency_percentile;
mod log_write_latency_average;
mod log_write_latency_maximum;
mod longest_request;
mod mailbox_load;
mod mailbox_room;
mod measured_enough;
mod other_programs;
mod other_reads;
mod other_runs;
mod page_fault_stalls;
mod pauses;
mod possible_reads;
mod processor_steal;
mod processors;
mod read_latency_average;
mod read_latency_maximum;
mod read_rate;
mod replay_time;
mod replayed_logs;
mod sessions;
mod starved_lag;
mod steady_state;
mod target_iops;
mod volume_full;

use record::{Checksum, Phase, RunRecord, TestType};

use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit, simulated};

pub use breaks::is_worth_resuming;
pub(crate) use intact::judge as intact;
pub(crate) use io_limits::name_beside as name_io_limits;
pub(crate) use longest_request::RULE as LONGEST_REQUEST;
pub(crate) use mailbox_load::RULE as MAILBOX_LOAD;
pub(crate) use mailbox_room::RULE as MAILBOX_ROOM;
pub use mailbox_room::{MailboxRoom, room_bytes};
pub(crate) use other_programs::{RULE as OTHER_PROGRAMS, name_beside as name_other_programs};
pub(crate) use other_runs::RULE as OTHER_RUNS;
pub use page_fault_stalls::LEAST_CACHE;
pub(crate) use sessions::RULE as SESSIONS;
pub(crate) use steady_state::{RULE as STEADY_STATE, trend_of_the_rate};
pub(crate) use target_iops::RULE as TARGET_IOPS;

/// Rules that object if something other than the storage may have made a load fail.
pub(crate) const DISTURBANCES: [&str; 6] = [
    generator_limited::RULE,
    processor_steal::RULE,
    completion_lag::RULE,
    OTHER_PROGRAMS,
    "other-reads",
    "pauses",
];

/// Rules that object if the load-generating machine, and not the storage, may have set the pace.
pub(crate) const GENERATOR: [&str; 3] =
    [generator_limited::RULE, processor_steal::RULE, completion_lag::RULE];

/// Rules that only matter to a load that failed, although they show a number over its limit.
pub(crate) const EXCUSES: [&str; 5] = [
    generator_limited::RULE,
    processor_steal::RULE,
    completion_lag::RULE,
    starved_lag::RULE,
    OTHER_PROGRAMS,
];

/// A rule: its finding in a run, or `None` if it does not apply.
pub(crate) type Rule = fn(&RunRecord) -> Option<Finding>;

/// Every rule, in report order.
pub(crate) const ALL: [Rule; 38] = [
    // First: if it objects, nothing else counts.
    intact::judge,
    simulated::finding,
    possible_reads::judge,
    target_iops::judge,
    sessions::judge,
    read_latency_average::judge,
    read_latency_maximum::judge,
    log_write_latency_average::judge,
    log_write_latency_maximum::judge,
    latency_percentile::judge_reads,
    latency_percentile::judge_log_writes,
    mailbox_load::judge,
    mailbox_room::judge,
    read_rate::judge,
    copy_rate::judge,
    replay_time::judge,
    replayed_logs::judge,
    longest_request::judge,
    page_fault_stalls::judge,
    checksums::judge,
    issues::judge,
    volume_full::judge,
    connection_lost::judge,
    caches::judge,
    device_reads::judge,
    measured_enough::judge,
    steady_state::judge,
    generator_limited::judge,
    processor_steal::judge,
    completion_lag::judge,
    starved_lag::judge,
    other_programs::judge,
    other_reads::judge,
    other_runs::judge,
    io_limits::judge,
    pauses::judge,
    breaks::judge,
    interrupted::judge,
];

/// Whether the run had to make a load and is judged by it.
fn judges_load(run: &RunRecord) -> bool {
    matches!(run.start.test, TestType::Performance | TestType::Stress)
}

/// States how much less than asked for is enough; empty if nothing less is.
fn allowance(enough_percent: f64) -> String {
    let allowed = 100.0 - enough_percent;
    if allowed <= 0.0 {
        return String::new();
    }
    format!("; {} % less is allowed", units::three_digits(allowed))
}

/// The kind of the finding for a run that was cut short. If the storage was too slow to finish,
/// earlier failures count.
fn kind_of_a_cut_run(run: &RunRecord) -> Kind {
    let is_overdue = run.finished.as_ref().is_some_and(|finished| finished.is_overdue);
    if is_overdue { Kind::Load } else { Kind::Validity }
}

/// The main phase of a test.
fn judged_phase(run: &RunRecord) -> Phase {
    match run.start.test {
        TestType::Performance | TestType::Stress => Phase::Measure,
        TestType::Backup => Phase::Backup,
        TestType::Checksum => Phase::Check,
        TestType::Recovery => Phase::Recover,
    }
}

/// Warns of any unobserved time of the measurement, in percent; inconclusive if it exceeds
/// `most_percent`. The limit shown is the one of the two that was exceeded.
fn unseen(
    rule: &'static str,
    title: &'static str,
    percent: f64,
    most_percent: f64,
    evidence: Vec<Evidence>,
) -> Finding {
    let is_little = percent <= most_percent;
    let (outcome, limit) = if is_little {
        (Ruling::Warn, Limit::AtMost(0.0))
    } else {
        (Ruling::CannotJudge, Limit::AtMost(most_percent))
    };
    let finding = Finding {
        rule,
        title,
        kind: Kind::Validity,
        outcome,
        measured: Some(percent),
        limit: Some(limit),
        unit: Unit::Percent,
        evidence,
    };
    if percent > 0.0 { finding } else { finding.without_numbers() }
}

/// MiB per second of a pass over a database; `None` if it took no time.
fn rate(pass: &Checksum) -> Option<f64> {
    let seconds = pass.elapsed_ns as f64 / 1e9;
    (seconds > 0.0).then(|| mebibytes(pass.bytes as f64) / seconds)
}

fn mebibytes(bytes: f64) -> f64 {
    bytes / f64::from(1 << 20)
}

/// Converts nanoseconds to the milliseconds of a finding.
fn milliseconds(nanoseconds: f64) -> f64 {
    nanoseconds / 1e6
}
