//! Space of databases, logs and volumes (facts 5.8 and 5.9).

use plan::deployment::{BackupFrequency, BackupMethod};

use super::databases::Databases;
use super::given::GivenInputs;
use super::tiers::{Tiers, days};
use super::{Values, looked_up, up};

/// Number of databases that a restore volume holds at once, from each number of databases on a
/// server on (facts 4.6).
const RESTORE_SETS: [(f64, f64); 7] =
    [(1.0, 1.0), (14.0, 2.0), (21.0, 3.0), (28.0, 4.0), (35.0, 5.0), (42.0, 6.0), (49.0, 7.0)];

/// Maximum number of volumes and of copies of a server that the workbook lists.
const LISTED: f64 = 100.0;

/// Size of the index relative to a volume's databases, and of its merge relative to one database.
const INDEX: f64 = 0.2;

/// Space that servers need.
#[derive(Clone, Copy, Default)]
pub(super) struct StoredSpace {
    /// GB of all database volumes, and of all log volumes, of a server.
    pub databases_gb: f64,
    pub logs_gb: f64,
    /// GB of the restore volume, if there is one.
    pub restore_gb: Option<f64>,
    /// GB of one database volume.
    pub volume_gb: f64,
    /// Logs that a database produces per day, including mailbox moves.
    pub logs_per_day: f64,
    /// Number of spare volumes.
    pub spares: f64,
    /// Number of volumes with databases.
    pub volumes: f64,
}

/// Sizes in GB of one database with its free space, and of its logs.
#[derive(Clone, Copy)]
struct DatabaseSize {
    database: f64,
    logs: f64,
    free: f64,
}

impl StoredSpace {
    pub(super) fn of(
        given: &GivenInputs<'_>,
        tiers: &Tiers,
        databases: &Databases,
        values: &mut Values,
    ) -> Self {
        let overhead = 1.0 + given.deployment.data.overhead;
        let net = databases.mailboxes * tiers.on_disk_mb / 1024.0;
        values.put("db.size_gb", net);
        let database = net * overhead;
        values.put("db.size_with_overhead_gb", database);
        values.put("db.space_gb_one_copy_per_dag", database * databases.count);
        if given.copies {
            values.put("db.space_gb_all_copies_per_dag", database * databases.count * given.c);
        }
        let mut found = Self::default();
        let logs = found.logs(given, tiers, databases, values);
        let size =
            DatabaseSize { database, logs, free: 1.0 - given.deployment.data.volume_free_space };
        found.volumes(given, databases, size, values);
        found
    }

    /// GB of logs that a database keeps.
    fn logs(
        &mut self,
        given: &GivenInputs<'_>,
        tiers: &Tiers,
        databases: &Databases,
        values: &mut Values,
    ) -> f64 {
        let data = &given.deployment.data;
        let overhead = 1.0 + data.overhead;
        let daily = tiers.logs / given.div * overhead;
        let backlog = daily * kept_days(given) / 1024.0;
        let mailbox = tiers.on_disk_mb / 1024.0;
        let moves = tiers.mailboxes / given.div * data.moves_per_week * mailbox * overhead;
        let all = backlog + moves;
        self.logs_per_day = daily / databases.count + moves * 1024.0 / databases.count / 7.0;
        values.put("log.user_logs_per_day_per_dag", daily);
        values.put("log.user_logs_per_day_per_db", daily / databases.count);
        values.put("log.backlog_gb_per_dag", backlog);
        values.put("log.move_gb_per_dag", moves);
        values.put("log.space_gb_per_dag", all);
        values.put("log.space_gb_per_db", all / databases.count);
        values.put("log.all_logs_per_day_per_db", self.logs_per_day);
        all / databases.count
    }

    fn volumes(
        &mut self,
        given: &GivenInputs<'_>,
        databases: &Databases,
        size: DatabaseSize,
        values: &mut Values,
    ) {
        let (copies, k) = (databases.held.min(LISTED), databases.per_volume);
        self.volumes = up(databases.held / k).min(LISTED);
        self.volume_gb = volume(given, k, k, size);
        // Volumes are full, except the last one and those after the last listed copy.
        let (mut left, mut all, mut listed) = (copies, 0.0, 0.0);
        while listed < self.volumes {
            all += volume(given, left.clamp(0.0, k), k, size);
            left -= k;
            listed += 1.0;
        }
        self.databases_gb = all;
        self.logs_gb = if given.isolated { copies * size.logs / size.free } else { 0.0 };
        self.spares = if given.several {
            f64::from(given.deployment.storage.autoreseed_volumes)
        } else {
            0.0
        };
        self.restore_gb = given.deployment.data.restore_volume.then(|| {
            let apart = databases.pairs && given.c < 2.0;
            let sets = if apart { looked_up(&RESTORE_SETS, databases.held) } else { 1.0 };
            // Contents of the first volume, which is not full on a small server.
            k.min(databases.held) * (size.database + size.logs) * sets / size.free
        });
        let logs = if given.isolated { self.volumes } else { 0.0 };
        let restores = if self.restore_gb.is_some() { 1.0 } else { 0.0 };
        values.put("vol.db_volume_gb", self.volume_gb);
        values.put("vol.db_volumes_gb_per_server", self.databases_gb);
        let log = if given.isolated { k * size.logs / size.free } else { 0.0 };
        values.put("vol.log_volume_gb", log);
        values.put("vol.log_volumes_gb_per_server", self.logs_gb);
        values.may("vol.restore_gb", self.restore_gb);
        values.put("vol.autoreseed", self.spares);
        values.put("vol.total_per_server", self.volumes + logs + restores + self.spares);
    }
}

/// GB of a volume that holds `count` of at most `most` databases.
fn volume(given: &GivenInputs<'_>, count: f64, most: f64, size: DatabaseSize) -> f64 {
    let group = count * size.database;
    let restore = if given.deployment.data.restore_volume { 0.0 } else { 1.1 * group / most };
    let index = INDEX * (group + size.database);
    let logs = if given.isolated { 0.0 } else { count * size.logs };
    (group + restore + index + logs) / size.free
}

/// Number of days for which logs are kept.
fn kept_days(given: &GivenInputs<'_>) -> f64 {
    let availability = &given.deployment.availability;
    let backup = given.deployment.backup;
    let lag = if availability.lagged_copies > 0 {
        days(availability.replay_lag).min(14.0) + days(availability.truncation_lag).min(14.0)
    } else {
        0.0
    };
    let tolerance = days(backup.tolerance).max(days(backup.network_tolerance));
    if backup.method == BackupMethod::Native && given.copies && given.c >= 3.0 {
        return tolerance.max(lag).max(1.0);
    }
    let least = match backup.frequency {
        BackupFrequency::WeeklyFullDailyDifferential => {
            return (7.0 * tolerance).max(lag).max(7.0);
        }
        BackupFrequency::WeeklyFullDailyIncremental => 7.0,
        BackupFrequency::TwiceMonthlyFullDailyIncremental => 14.0,
        BackupFrequency::DailyFull => 0.0,
    };
    let kept = tolerance.max(lag);
    if given.deployment.data.restore_volume { kept } else { kept.max(least) }
}
