//! Space for a first look, whose databases take a share of the free space: how large they may be,
//! and whether they and the run on them fit at all, before anything is written.

use std::fmt;

use plan::Plan;
use units::Bytes;

use super::{Tenants, logs_to_come, needed, reserve};

/// Share of the free space that the databases of a first look may take; the rest is for growth.
const FIRST_LOOK_PERCENT: u64 = 60;

/// Sizes of a first look are multiples of this.
const SIZE_STEP: Bytes = Bytes::from_mib(16);

/// Size of each database of `quick`: `plan.size`, or less if that would leave too little room to
/// grow. If nothing sensible fits, the plan's, so that it is refused with its numbers.
pub fn first_look_size(plan: &Plan, free: Bytes) -> Bytes {
    fitting(plan, free).map_or(plan.size, |fitting| fitting.min(plan.size))
}

/// The largest databases that leave room to grow; `None` if not even the smallest do.
fn fitting(plan: &Plan, free: Bytes) -> Option<Bytes> {
    let tenants = tenants(plan);
    let others = logs_to_come(plan, &tenants) + reserve(plan, &tenants).0;
    let share = free.0.saturating_sub(others) / 100 * FIRST_LOOK_PERCENT / tenants.databases;
    let steps = share / SIZE_STEP.0;
    (steps > 0).then_some(Bytes(steps * SIZE_STEP.0))
}

/// All databases of a first look and their logs, none of which exist yet.
fn tenants(plan: &Plan) -> Tenants {
    let count = plan.databases.len().max(1) as u64;
    Tenants { databases: count, logs: count, log_bytes: 0 }
}

/// A volume without room for the databases to fill and for the run on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstLookShortage {
    folder: String,
    count: u64,
    size: Bytes,
    needed: Bytes,
    free: Bytes,
    fitting: Option<Bytes>,
}

impl fmt::Display for FirstLookShortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { folder, count, size, needed, free, fitting } = self;
        write!(
            f,
            "{folder}: {} of {size} and the run on them need {needed}, and {free} are free; \
             nothing was written. Free some space",
            units::plural(*count, "database")
        )?;
        match fitting {
            Some(fitting) => write!(f, ", or give --size {}MiB", fitting.0 >> 20),
            None => write!(f, ", or name a folder on a larger volume"),
        }
    }
}

impl std::error::Error for FirstLookShortage {}

/// Refuses to fill the databases of `plan` in `folder`, all on one volume, if they or the run on
/// them do not fit into the `free` bytes.
pub fn refuse_first_look(plan: &Plan, folder: &str, free: Bytes) -> Result<(), FirstLookShortage> {
    let tenants = tenants(plan);
    let filled = plan.size.0.saturating_mul(tenants.databases);
    let needed = Bytes(filled.saturating_add(needed(plan, &tenants).0));
    if needed <= free {
        return Ok(());
    }
    Err(FirstLookShortage {
        folder: folder.to_owned(),
        count: tenants.databases,
        size: plan.size,
        needed,
        free,
        fitting: fitting(plan, free),
    })
}

#[cfg(test)]
mod tests {
    use plan::Plan;
    use units::Bytes;

    use super::refuse_first_look;

    #[test]
    fn databases_that_leave_no_room_for_the_run_on_them_are_refused_before_the_fill() {
        let text = "[databases]\nfolders = [\"/a\"]\ncount = 2\nsize = \"64MiB\"\n";
        let plan = Plan::parse("test", text).expect("a valid plan");
        // Two files, two logs of 20 + 16 MiB, twice 16 MiB of growth and 4 MiB of log at the end.
        let needed = Bytes::from_mib(2 * 64 + 2 * 36 + 2 * 20);
        assert_eq!(refuse_first_look(&plan, "/a", needed), Ok(()));
        let refused =
            refuse_first_look(&plan, "/a", Bytes(needed.0 - 1)).map_err(|of| of.to_string());
        let expected = "/a: 2 databases of 64.0 MiB and the run on them need 240.0 MiB, and 240.0 \
                        MiB are free; nothing was written. Free some space, or give --size 32MiB";
        assert_eq!(refused, Err(expected.to_owned()));
        let refused =
            refuse_first_look(&plan, "/a", Bytes::from_mib(20)).map_err(|of| of.to_string());
        assert!(refused.is_err_and(|said| said.ends_with("a folder on a larger volume")));
    }
}
