//! A held load that changes during the measurement.

use units::Nanos;

use super::{Group, GroupLoad};

impl Group {
    /// Holds every database at its share of the target, `after` the start of the measurement.
    pub(super) fn hold(&self, load: &GroupLoad, target_iops: f64, after: Nanos) {
        let steps = self.coordinator().load_steps();
        load.sessions.hold(target_iops, |database| steps.percent(database, after));
    }

    /// Applies the load steps after `from`, up to `to`, and notes them in the record.
    pub(super) fn take_steps(
        &self,
        load: &GroupLoad,
        target_iops: Option<f64>,
        (from, to): (Nanos, Nanos),
    ) {
        let Some(target_iops) = target_iops else { return };
        for step in self.coordinator().load_steps().between(from, to) {
            load.sessions.hold_one(step.database, target_iops, step.percent);
            if self.is_leader {
                let file = self.plan.databases.get(step.database as usize).map(|of| &of.folder);
                let name = file.map_or_else(String::new, |folder| format!(" ({folder})"));
                let (number, percent) = (step.database + 1, step.percent);
                self.log(format!("load of database {number}{name}: {percent} % of its share"));
            }
        }
    }
}
