//! The part of the events that one host carries out by itself, from the common instant on: it does
//! so even while the controller is cut off.

use plan::Plan;
use serde::{Deserialize, Serialize};

use super::FleetOrder;
use super::event::EventAction;

/// Something that a host does at an instant of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duty {
    /// Nanoseconds after the common instant.
    pub after_ns: u64,
    /// The action.
    pub act: DutyAct,
}

/// Actions of a host. Databases are those of the host's plan, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DutyAct {
    /// Holds a database at this part of its load.
    Load {
        /// Index of the database.
        database: u32,
        /// Percent of its share of the plan's target.
        percent: u32,
    },
    /// Kills its run, as a power failure would.
    Die,
    /// Resumes its run.
    Return,
    /// Reads or writes the copy of a database from first to last byte.
    Copy {
        /// Index of the database.
        database: u32,
        /// Whether to read or to write the copy.
        side: CopySide,
        /// Bytes per second.
        bytes_per_second: u64,
    },
}

/// One end of a reseed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CopySide {
    /// The copy that is read.
    Source,
    /// The copy that is written.
    Target,
}

impl FleetOrder {
    /// What `host` does while it runs `plan`, in the order of time.
    ///
    /// # Errors
    ///
    /// Returns a sentence if the plan lacks a database that the fleet plan names, or has no target
    /// rate although a copy has less than full load.
    pub fn duties(&self, host: usize, plan: &Plan) -> Result<Vec<Duty>, String> {
        let name = &self.hosts[host].host;
        let mut duties = Vec::new();
        for change in self.load_changes().into_iter().filter(|change| change.host == host) {
            let (database, percent) = (index_on(name, plan, &change.database)?, change.percent);
            let act = DutyAct::Load { database, percent };
            duties.push(Duty { after_ns: change.at.0, act });
        }
        let is_changed = duties
            .iter()
            .any(|duty| matches!(duty.act, DutyAct::Load { percent, .. } if percent < 100));
        if is_changed && plan.workload.target_iops.is_none() {
            return Err(format!(
                "the plan of {name} loads the storage as fast as it answers, and passive copies \
                 have less load than active ones: give it target_iops or [mailboxes]"
            ));
        }
        for event in &self.events {
            let act = match &event.action {
                EventAction::Lose { host: lost, .. } if *lost == host => DutyAct::Die,
                EventAction::Rejoin { host: back } if *back == host => DutyAct::Return,
                EventAction::Reseed { database, source, target, bytes_per_second }
                    if [source, target].contains(&&host) =>
                {
                    let side = if *source == host { CopySide::Source } else { CopySide::Target };
                    let bytes_per_second = *bytes_per_second;
                    DutyAct::Copy {
                        database: index_on(name, plan, database)?,
                        side,
                        bytes_per_second,
                    }
                }
                _ => continue,
            };
            duties.push(Duty { after_ns: event.at.0, act });
        }
        duties.sort_by_key(|duty| duty.after_ns);
        Ok(duties)
    }
}

/// The database in `host`'s plan with a folder that ends with `name`.
fn index_on(host: &str, plan: &Plan, name: &str) -> Result<u32, String> {
    index_of(plan, name).map_err(|fault| format!("the plan of {host} {fault}"))
}

/// The database whose folder ends with `name`.
fn index_of(plan: &Plan, name: &str) -> Result<u32, String> {
    let mut found =
        plan.databases.iter().filter(|of| last_part(&of.folder).eq_ignore_ascii_case(name));
    match (found.next(), found.next()) {
        (Some(database), None) => Ok(database.index),
        (Some(_), Some(_)) => Err(format!(
            "has two databases whose folder ends with {name}: give each database its own folder"
        )),
        (None, _) => {
            let folders: Vec<&str> = plan.databases.iter().map(|of| of.folder.as_str()).collect();
            Err(format!(
                "has no database whose folder ends with {name}, only {}: use the same names in \
                 the fleet plan and in the plans of its hosts",
                folders.join(", ")
            ))
        }
    }
}

/// The last part of a path of either system.
pub(crate) fn last_part(folder: &str) -> &str {
    let folder = folder.trim_end_matches(['/', '\\']);
    folder.rsplit(['/', '\\']).next().unwrap_or(folder)
}

#[cfg(test)]
mod tests {
    use plan::Plan;

    use super::{CopySide, Duty, DutyAct, last_part};
    use crate::FleetOrder;

    const SECOND: u64 = 1_000_000_000;

    fn order() -> FleetOrder {
        let text = "name = \"dag\"\npassive_percent = 25\n\
            [[host]]\nhost = \"EX1\"\nplan = \"1\"\n[[host]]\nhost = \"EX2\"\nplan = \"2\"\n\
            [[database]]\nname = \"db1\"\ncopies = [\"EX1\", \"EX2\"]\n\
            [[event]]\nat = \"1min\"\nlose = \"EX1\"\n\
            [[event]]\nat = \"2min\"\nrejoin = \"EX1\"\n\
            [[event]]\nat = \"3min\"\nreseed = \"db1\"\ntarget = \"EX1\"\n";
        FleetOrder::parse("f.toml", text).expect("a sound plan")
    }

    fn plan(folders: &str, load: &str) -> Plan {
        let text = format!("[databases]\nfolders = [{folders}]\nsize = \"1GiB\"\n{load}");
        Plan::parse("p.toml", &text).expect("a sound plan")
    }

    const HELD: &str = "[workload]\ntarget_iops = 400\n";

    #[test]
    fn a_host_dies_and_returns_and_a_survivor_raises_its_load() {
        let plan = plan("\"/mnt/v1/other\", \"/mnt/v1/DB1\"", HELD);
        let duty = |after, act| Duty { after_ns: after * SECOND, act };
        let load = |percent| DutyAct::Load { database: 1, percent };
        let copy = |side| DutyAct::Copy { database: 1, side, bytes_per_second: 100 << 20 };
        assert_eq!(
            order().duties(1, &plan),
            Ok(vec![duty(0, load(25)), duty(60, load(100)), duty(180, copy(CopySide::Source)),])
        );
        assert_eq!(
            order().duties(0, &plan),
            Ok(vec![
                duty(0, load(100)),
                duty(60, load(0)),
                duty(60, DutyAct::Die),
                duty(120, load(25)),
                duty(120, DutyAct::Return),
                duty(180, copy(CopySide::Target)),
            ])
        );
    }

    #[test]
    fn a_plan_that_does_not_fit_the_events_is_refused() {
        let cases = [
            (plan("\"/mnt/v1/DB2\"", HELD), "no database whose folder ends with db1"),
            (plan("\"/mnt/v1/DB1\", \"/mnt/v2/DB1\"", HELD), "two databases"),
            (plan("\"/mnt/v1/DB1\"", ""), "give it target_iops"),
        ];
        for (plan, part) in cases {
            let fault = order().duties(1, &plan).expect_err(part);
            assert!(fault.contains("EX2") && fault.contains(part), "{fault}");
        }
    }

    #[test]
    fn names_end_paths_of_both_systems() {
        assert_eq!(["/mnt/DB1/", "C:\\ExchangeDatabases\\DB1", "DB1"].map(last_part), ["DB1"; 3]);
    }
}
