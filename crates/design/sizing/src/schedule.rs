//! Which databases of a server are backed up in full on which day (facts 5.19).

use plan::Deployment;
use plan::deployment::{BackupFrequency, BackupMethod};

use crate::key::{Key, ServerKind};
use crate::sheet::Sheet;

/// A day of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupDay {
    /// Databases with a full backup.
    pub full: usize,
    /// Databases with an incremental or differential backup.
    pub changes: usize,
}

/// Days until the schedule repeats; empty if copies alone protect the databases.
///
/// Databases take turns in order, so neighbours, which share a volume, are backed up on different
/// days.
pub fn schedule(deployment: &Deployment, sheet: &Sheet) -> Vec<BackupDay> {
    if deployment.backup.method == BackupMethod::Native {
        return Vec::new();
    }
    let days = match deployment.backup.frequency {
        BackupFrequency::DailyFull => 1,
        BackupFrequency::WeeklyFullDailyIncremental
        | BackupFrequency::WeeklyFullDailyDifferential => 7,
        BackupFrequency::TwiceMonthlyFullDailyIncremental => 14,
    };
    let Some(copies) = sheet.find(Key::ServerDbCopies(ServerKind::First)) else {
        return Vec::new();
    };
    let databases = (0..100_000).take_while(|&count| f64::from(count) < copies.value()).count();
    (0..days)
        .map(|day| (databases + days - 1 - day) / days)
        .map(|full| BackupDay { full, changes: databases - full })
        .collect()
}

#[cfg(test)]
mod tests {
    use plan::Deployment;

    use crate::{Key, ServerKind, calculate, schedule};

    #[test]
    fn every_database_has_its_turn_once() {
        for (frequency, days) in [
            ("daily full", 1),
            ("weekly full, daily incremental", 7),
            ("twice-monthly full, daily incremental", 14),
        ] {
            let text = format!(
                "[[tier]]\nmailboxes = 5000\nmessages_per_day = 100\nsize_limit = \"2GiB\"\n\
                 [availability]\nservers_per_site = 4\ncopies = 1\n[backup]\n\
                 method = \"software snapshots\"\nfrequency = \"{frequency}\"\n"
            );
            let deployment = Deployment::parse("d.toml", &text).unwrap();
            let calculation = calculate(&deployment);
            let sheet = calculation.sheet();
            let plan = schedule(&deployment, sheet);
            assert_eq!(plan.len(), days);
            let copies = sheet.get(Key::ServerDbCopies(ServerKind::First)).value();
            let full: usize = plan.iter().map(|day| day.full).sum();
            assert_eq!(full.to_string(), copies.to_string());
            assert!(plan.iter().all(|day| day.full + day.changes == full));
            let fulls = || plan.iter().map(|day| day.full);
            assert!(fulls().max() <= fulls().min().map(|least| least + 1));
        }
    }
}
