//! Space of databases and logs (facts 5.8).

use plan::Deployment;
use plan::deployment::{BackupFrequency, BackupMethod};

use crate::number::Number;
use crate::quirk::Quirk;
use crate::tier::{days, over_tiers};
use crate::work::Work;

/// Longest lag of either kind that logs are kept for, in days. Source: S-W76.
const MOST_LAG_DAYS: f64 = 14.0;

/// Sizes of a database and its logs, and of all of a group.
pub(crate) fn capacity(work: &mut Work<'_>) {
    let overhead = work
        .sheet
        .share("data.overhead_percent", work.deployment.data.overhead);
    let size = work.get("db.mailboxes") * work.get("mailboxes.on_disk_mb") / 1024.0;
    let size = work.put("db.size_gb", "GB", size);
    let size = work.put("db.size_with_overhead_gb", "GB", size * (1.0 + &overhead));
    let one = work.put(
        "db.space_gb_one_copy_per_dag",
        "GB",
        size * work.get("db.count"),
    );
    if work.deployment.has_copies() {
        let all = one * work.get("copies.total");
        work.put("db.space_gb_all_copies_per_dag", "GB", all);
    }
    let logs = over_tiers(work, "logs_per_day") / work.get("srv.parts") * (1.0 + &overhead);
    let logs = work.put("log.user_logs_per_day_per_dag", "logs of 1 MB", logs);
    backlog(work, &logs);
    moves(work, &logs, &overhead);
}

fn backlog(work: &mut Work<'_>, logs: &Number) {
    let tolerance = days(work.deployment.backup.tolerance);
    let network = days(work.deployment.backup.network_tolerance);
    let tolerance = work.sheet.input("backup.tolerance_days", "days", tolerance);
    let network = work
        .sheet
        .input("backup.network_tolerance_days", "days", network);
    let lag = lag(work);
    let kept = kept(work.deployment, tolerance.max(network), lag);
    let kept = work.put("log.backlog_days", "days", kept);
    let backlog = logs * kept / 1024.0;
    work.put("log.backlog_gb_per_dag", "GB", backlog);
}

/// How far late copies are behind.
fn lag(work: &mut Work<'_>) -> Number {
    let availability = &work.deployment.availability;
    if availability.lagged_copies == 0 {
        return work.put("log.lag_days", "days", 0.0);
    }
    let replay = work.sheet.input(
        "availability.replay_lag_days",
        "days",
        days(availability.replay_lag),
    );
    let truncation = days(availability.truncation_lag);
    let truncation = work
        .sheet
        .input("availability.truncation_lag_days", "days", truncation);
    if work.deployment.has_copies() {
        work.note(Quirk::LaggedSpace, "log.lag_days", None);
    }
    let lag = replay.min(MOST_LAG_DAYS) + truncation.min(MOST_LAG_DAYS);
    let lag = if work.deployment.has_copies() {
        lag
    } else {
        let right = Number::plain(0.0);
        work.either(Quirk::LagWithoutCopies, "log.lag_days", lag, right)
    };
    work.put("log.lag_days", "days", lag)
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

/// Logs of mailbox moves: a week's at once for space, a day's on average.
fn moves(work: &mut Work<'_>, logs: &Number, overhead: &Number) {
    let share = work.deployment.data.moves_per_week;
    let share = work.sheet.share("data.moves_per_week_percent", share);
    let moved = work.get("srv.mailboxes_per_dag") * share * work.get("mailboxes.on_disk_gb");
    let moved = moved * (1.0 + overhead);
    let moved = work.put("log.move_gb_per_dag", "GB", moved);
    let space = work.get("log.backlog_gb_per_dag") + &moved;
    let space = work.put("log.space_gb_per_dag", "GB", space);
    let count = work.get("db.count");
    work.put("log.space_gb_per_db", "GB", space / &count);
    let users = work.put(
        "log.user_logs_per_day_per_db",
        "logs of 1 MB",
        logs / &count,
    );
    let all = users + moved * 1024.0 / count / 7.0;
    work.put("log.all_logs_per_day_per_db", "logs of 1 MB", all);
}
