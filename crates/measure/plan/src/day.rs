//! The load over the day: a target that follows the hours of production.

use units::Nanos;

use crate::complaint::Problem;
use crate::low;
use crate::reader::{Given, TomlPlace};

/// Hours of a day.
const HOURS: usize = 24;

const HOUR: u64 = 3_600_000_000_000;

/// Smallest value of an hour, in percent of the target: a load of zero cannot be paced.
const LEAST_PERCENT: f64 = 1.0;

/// The target in each hour of the day, in percent of the plan's target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadDay {
    percent: [f64; HOURS],
}

impl LoadDay {
    /// Percent of the target from midnight on, by hour.
    pub(crate) const fn percent(&self) -> &[f64; HOURS] {
        &self.percent
    }

    /// Percent of the target in the hours of a measurement of `duration`, from its first hour on. A
    /// whole day begins at midnight; a shorter measurement begins with the busiest hour, so that
    /// quiet hours alone are never judged.
    pub fn measured_percent(&self, duration: Nanos) -> [f64; HOURS] {
        let mut hours = self.percent;
        if duration.0 < HOURS as u64 * HOUR {
            hours.rotate_left(self.busiest_hour());
        }
        hours
    }

    /// Hour of the day with the highest target, 0 to 23; the first of several.
    pub(crate) fn busiest_hour(&self) -> usize {
        let hours = self.percent.iter().enumerate().rev();
        hours.max_by(|(_, one), (_, two)| one.total_cmp(two)).map_or(0, |(hour, _)| hour)
    }
}

/// Converts the document's hours to a day, or returns the fault in them. `has_target` is `true` if
/// there is a target to which the percentages apply.
pub(crate) fn day(
    low: &low::Workload,
    has_target: bool,
) -> Result<Option<LoadDay>, (TomlPlace, Problem)> {
    let Some(given) = &low.hours else { return Ok(None) };
    let place = given.first().map_or_else(
        || TomlPlace { line: 0, key: "workload hours".to_owned() },
        |first| first.place.clone(),
    );
    if !has_target {
        let message = "are percents of a target; add target_iops or [mailboxes]".to_owned();
        return Err((place, Problem::Conflict { message }));
    }
    let hours: Vec<f64> = given.iter().map(|Given { value, .. }| *value).collect();
    let is_sound = hours.iter().all(|hour| (LEAST_PERCENT..=100.0).contains(hour));
    match <[f64; HOURS]>::try_from(hours) {
        Ok(percent) if is_sound => Ok(Some(LoadDay { percent })),
        _ => {
            let message = "take 24 numbers from 1 to 100: percent of the target in each hour from \
                           midnight on; `plimsoll profile` writes them";
            Err((place, Problem::Conflict { message: message.to_owned() }))
        }
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use crate::Plan;

    fn plan(workload: &str) -> Result<Plan, String> {
        let text = "[databases]\nfolders = [\"/a\"]\nsize = \"1GiB\"\n[workload]\n";
        Plan::parse("test", &format!("{text}{workload}")).map_err(|error| error.to_string())
    }

    fn hours(nine: &str) -> String {
        let mut hours = vec!["10"; 24];
        hours[9] = nine;
        format!("target_iops = 100\nhours = [{}]\n", hours.join(", "))
    }

    #[test]
    fn a_whole_day_begins_at_midnight_and_a_part_with_the_busiest_hour() {
        let plan = plan(&hours("100")).unwrap();
        let day = plan.workload.day.unwrap();
        assert_eq!(day.busiest_hour(), 9);
        let whole = day.measured_percent(Nanos::from_secs(24 * 3_600));
        assert!(whole[9] > 99.0 && whole[0] < 11.0);
        let part = day.measured_percent(Nanos::from_secs(24 * 3_600 - 1));
        assert!(part[0] > 99.0 && part[15] < 11.0);
        assert_eq!(plan.test.duration, Nanos::from_secs(24 * 3_600), "a day, if nothing is said");
        assert_eq!(Plan::parse("again", &plan.to_toml()), Ok(plan));
    }

    #[test]
    fn hours_that_make_no_day_are_refused() {
        for wrong in [hours("0"), hours("101"), "target_iops = 1\nhours = [1, 2]\n".to_owned()] {
            let error = plan(&wrong).unwrap_err();
            assert!(error.contains("24 numbers from 1 to 100"), "{error}");
        }
        let error = plan(&hours("100").replace("target_iops = 100\n", "")).unwrap_err();
        assert!(error.contains("add target_iops or [mailboxes]"), "{error}");
    }
}
