//! The load of all places together, hour by hour, and that of an average day.

use std::collections::{BTreeMap, BTreeSet};

use super::PlaceHours;
use super::clock::ClockHour;
use super::hours::HourLoad;
use super::places::LoadPlace;

/// Loads by place and hour.
pub(super) type Loads = BTreeMap<LoadPlace, BTreeMap<ClockHour, HourLoad>>;

/// The loads of `places` in the hours that were sampled well enough.
pub(super) fn loads(places: &PlaceHours, counted: &BTreeSet<&LoadPlace>) -> Loads {
    let mut loads = Loads::new();
    for (place, hours) in places.iter().filter(|(place, _)| counted.contains(place)) {
        let known = hours.iter().filter_map(|(hour, sum)| Some((*hour, sum.load()?)));
        loads.insert(place.clone(), known.collect());
    }
    loads
}

/// The load of all places by hour, and the number of hours without a sum because a host is missing
/// in them.
pub(super) fn by_hour(loads: &Loads) -> (BTreeMap<ClockHour, HourLoad>, u64) {
    let hosts: BTreeSet<&str> = loads.keys().map(|place| &*place.host).collect();
    let mut by_hour: BTreeMap<ClockHour, (BTreeSet<&str>, Vec<HourLoad>)> = BTreeMap::new();
    for (place, hours) in loads {
        for (hour, load) in hours {
            let (seen, all) = by_hour.entry(*hour).or_default();
            seen.insert(&place.host);
            all.push(*load);
        }
    }
    let found = by_hour.len();
    let whole = by_hour.into_iter().filter(|(_, (seen, _))| *seen == hosts);
    let sums: BTreeMap<_, _> =
        whole.map(|(hour, (_, all))| (hour, HourLoad::sum(all.iter()))).collect();
    let missing = found - sums.len();
    (sums, missing as u64)
}

/// The mean of each hour of the day over the counted days, and the number of days.
pub(super) fn average_day(
    by_hour: &BTreeMap<ClockHour, HourLoad>,
    all_days: bool,
) -> ([Option<HourLoad>; 24], usize) {
    let mut days = BTreeSet::new();
    let mut hours: [Vec<&HourLoad>; 24] = std::array::from_fn(|_| Vec::new());
    for (hour, load) in by_hour {
        if all_days || hour.date().is_working_day() {
            days.insert(hour.date().to_string());
            hours[hour.of_day()].push(load);
        }
    }
    let mean = hours.map(|same| (!same.is_empty()).then(|| HourLoad::mean(same.into_iter())));
    (mean, days.len())
}
