//! Space of databases and logs (facts 5.8).

use plan::Deployment;
use plan::deployment::{BackupFrequency, BackupMethod};

use crate::key::{Key, TierKey};
use crate::number::Number;
use crate::quirk::Quirk;
use crate::tier::{days, over_tiers};
use crate::work::Work;

/// Longest lag of either kind for which logs are kept, in days. Source: S-W76.
const MOST_LAG_DAYS: f64 = 14.0;

/// Sizes of a database and its logs, and of a group's total.
pub(crate) fn capacity(work: &mut Work<'_>) {
    let overhead = work.sheet.share(Key::DataOverheadPercent, work.deployment.data.overhead);
    let size = work.get(Key::DatabaseMailboxes) * work.get(Key::MailboxesOnDiskMb) / 1024.0;
    let size = work.put(Key::DatabaseSizeGb, size);
    let size = work.put(Key::DatabaseSizeWithOverheadGb, size * (1.0 + &overhead));
    let one = work.put(Key::DatabaseSpaceGbOneCopyPerDag, size * work.get(Key::DatabaseCount));
    if work.deployment.has_copies() {
        let all = one * work.get(Key::CopiesTotal);
        work.put(Key::DatabaseSpaceGbAllCopiesPerDag, all);
    }
    let logs =
        over_tiers(work, TierKey::LogsPerDay) / work.get(Key::ServerParts) * (1.0 + &overhead);
    let logs = work.put(Key::LogUserLogsPerDayPerDag, logs);
    backlog(work, &logs);
    moves(work, &logs, &overhead);
}

fn backlog(work: &mut Work<'_>, logs: &Number) {
    let tolerance = days(work.deployment.backup.tolerance);
    let network = days(work.deployment.backup.network_tolerance);
    let tolerance = work.sheet.input(Key::BackupToleranceDays, tolerance);
    let network = work.sheet.input(Key::BackupNetworkToleranceDays, network);
    let lag = lag(work);
    let kept = kept(work.deployment, tolerance.max(network), lag);
    let kept = work.put(Key::LogBacklogDays, kept);
    let backlog = logs * kept / 1024.0;
    work.put(Key::LogBacklogGbPerDag, backlog);
}

/// Days of log kept for lagged copies: the sum of their replay lag and truncation lag.
fn lag(work: &mut Work<'_>) -> Number {
    let availability = &work.deployment.availability;
    if availability.lagged_copies == 0 {
        return work.put(Key::LogLagDays, 0.0);
    }
    let replay = work.sheet.input(Key::AvailabilityReplayLagDays, days(availability.replay_lag));
    let truncation = days(availability.truncation_lag);
    let truncation = work.sheet.input(Key::AvailabilityTruncationLagDays, truncation);
    if work.deployment.has_copies() {
        work.note(Quirk::LaggedSpace, Key::LogLagDays, None);
    }
    let lag = replay.min(MOST_LAG_DAYS) + truncation.min(MOST_LAG_DAYS);
    let lag = if work.deployment.has_copies() {
        lag
    } else {
        let right = Number::plain(0.0);
        work.either(Quirk::LagWithoutCopies, Key::LogLagDays, lag, right)
    };
    work.put(Key::LogLagDays, lag)
}

/// Days of logs that a volume has room for.
fn kept(deployment: &Deployment, tolerance: Number, lag: Number) -> Number {
    let native = deployment.backup.method == BackupMethod::Native && deployment.has_copies();
    if native && deployment.total_copies() >= 3 {
        return tolerance.max(lag).max(1.0);
    }
    if deployment.backup.frequency == BackupFrequency::WeeklyFullDailyDifferential {
        return (tolerance * 7.0).max(lag).max(7.0);
    }
    let kept = tolerance.max(lag);
    if deployment.data.restore_volume {
        return kept;
    }
    match deployment.backup.frequency {
        BackupFrequency::WeeklyFullDailyIncremental => kept.max(7.0),
        BackupFrequency::TwiceMonthlyFullDailyIncremental => kept.max(14.0),
        _ => kept,
    }
}

/// Logs of mailbox moves: for space, a full week's; on average, one day's.
fn moves(work: &mut Work<'_>, logs: &Number, overhead: &Number) {
    let share = work.deployment.data.moves_per_week;
    let share = work.sheet.share(Key::DataMovesPerWeekPercent, share);
    let moved = work.get(Key::ServerMailboxesPerDag) * share * work.get(Key::MailboxesOnDiskGb);
    let moved = moved * (1.0 + overhead);
    let moved = work.put(Key::LogMoveGbPerDag, moved);
    let space = work.get(Key::LogBacklogGbPerDag) + &moved;
    let space = work.put(Key::LogSpaceGbPerDag, space);
    let count = work.get(Key::DatabaseCount);
    work.put(Key::LogSpaceGbPerDb, space / &count);
    let users = work.put(Key::LogUserLogsPerDayPerDb, logs / &count);
    let all = users + moved * 1024.0 / count / 7.0;
    work.put(Key::LogAllLogsPerDayPerDb, all);
}
