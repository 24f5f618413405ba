//! The load profile: the busiest hour, the average day and every place, from the sums of files.

use std::collections::{BTreeMap, BTreeSet};

use super::clock::ClockHour;
use super::hours::HourLoad;
use super::places::{LoadPlace, counted};
use super::totals::{self, Loads};
use super::{LoadCollector, LoadFile, LoadProfileError};

/// Storage load measured in production.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadProfile {
    /// The files read, in reading order.
    pub files: Vec<LoadFile>,
    /// Clock that all hours follow, in words.
    pub clock: String,
    /// Whether hours count from the start of a trace, so that the hours of the day are unknown.
    pub is_relative: bool,
    /// First and last known hour.
    pub span: (ClockHour, ClockHour),
    /// Hours that have no sum because a host has no samples in them.
    pub hours_without_a_host: u64,
    /// The hour with the most requests of all places together.
    pub busiest: BusiestHour,
    /// The average day.
    pub day: [DayHour; 24],
    /// Days averaged.
    pub days: usize,
    /// The places that count, the busiest first.
    pub places: Vec<PlaceLoad>,
    /// Places that do not count: others of their host cover the same requests, or they were not
    /// asked for.
    pub other_places: Vec<LoadPlace>,
}

/// An hour of the average day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DayHour {
    /// Mean load; `None` if no day has samples of the hour.
    pub load: Option<HourLoad>,
    /// The load in percent of the busiest hour of the average day, 1 to 100. An hour without
    /// samples counts as the busiest.
    pub percent: f64,
}

/// The busiest hour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BusiestHour {
    /// The hour.
    pub hour: ClockHour,
    /// The load in it.
    pub load: HourLoad,
}

/// The load of one place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceLoad {
    /// The place.
    pub place: LoadPlace,
    /// Busiest hour of this place.
    pub busiest: BusiestHour,
    /// Its load in the busiest hour of all places; `None` if it has no samples there.
    pub then: Option<HourLoad>,
}

/// Combines the data of a collector.
pub(super) fn combine(seen: LoadCollector) -> Result<LoadProfile, LoadProfileError> {
    let all: Vec<&LoadPlace> = seen.places.keys().collect();
    let asked = asked_for(&all, &seen.options.only)?;
    let counted: BTreeSet<&LoadPlace> = counted(&asked).into_iter().collect();
    let loads = totals::loads(&seen.places, &counted);
    let (by_hour, hours_without_a_host) = totals::by_hour(&loads);
    let busiest = busiest(&by_hour).ok_or(LoadProfileError::NoHour)?;
    let span = by_hour.keys().next().zip(by_hour.keys().next_back());
    let (first, last) = span.ok_or(LoadProfileError::NoHour)?;
    let (day, days) = totals::average_day(&by_hour, seen.options.all_days);
    let other_places = all.into_iter().filter(|place| !counted.contains(place)).cloned().collect();
    Ok(LoadProfile {
        clock: clock(&seen),
        is_relative: seen.is_relative,
        span: (*first, *last),
        hours_without_a_host,
        busiest,
        day: with_percent(&day),
        days,
        places: places(loads, busiest.hour),
        other_places,
        files: seen.files,
    })
}

/// Returns the places named in `only`, or all.
fn asked_for<'p>(
    all: &[&'p LoadPlace],
    only: &[String],
) -> Result<Vec<&'p LoadPlace>, LoadProfileError> {
    let is_named =
        |place: &LoadPlace| only.iter().any(|name| name.eq_ignore_ascii_case(&place.name));
    let named: Vec<&LoadPlace> =
        all.iter().copied().filter(|place| only.is_empty() || is_named(place)).collect();
    if named.is_empty() && !all.is_empty() {
        return Err(LoadProfileError::NoPlace {
            known: all.iter().map(ToString::to_string).collect(),
        });
    }
    Ok(named)
}

fn clock(seen: &LoadCollector) -> String {
    if seen.is_relative {
        return "hours since the start of the trace; --trace-start gives its clock".to_owned();
    }
    let zone = seen.files.iter().find_map(|file| file.zone.as_deref());
    match (zone, seen.bias_minutes) {
        (Some(zone), Some(bias)) => {
            let sign = if bias > 0 { '-' } else { '+' };
            let (hours, minutes) = (bias.abs() / 60, bias.abs() % 60);
            format!("{zone}, UTC{sign}{hours:02}:{minutes:02}")
        }
        _ => "the clock of --trace-start".to_owned(),
    }
}

fn busiest(hours: &BTreeMap<ClockHour, HourLoad>) -> Option<BusiestHour> {
    let hours = hours.iter().map(|(hour, load)| BusiestHour { hour: *hour, load: *load });
    // Of equally busy hours, the first.
    hours.reduce(|most, next| if next.load.iops() > most.load.iops() { next } else { most })
}

fn places(loads: Loads, hour: ClockHour) -> Vec<PlaceLoad> {
    let mut places = Vec::new();
    for (place, hours) in loads {
        let then = hours.get(&hour).copied();
        places.extend(busiest(&hours).map(|busiest| PlaceLoad { place, busiest, then }));
    }
    places.sort_by(|one, two| two.busiest.load.iops().total_cmp(&one.busiest.load.iops()));
    places
}

/// Minimum of an hour, in percent: a load of 0 has no pace.
const LEAST_PERCENT: f64 = 1.0;

fn with_percent(day: &[Option<HourLoad>; 24]) -> [DayHour; 24] {
    let most = day.iter().flatten().map(HourLoad::transactional_iops).fold(0.0, f64::max);
    day.map(|load| {
        let share = load
            .as_ref()
            .map_or(100.0, |load| load.transactional_iops() / most.max(f64::MIN_POSITIVE) * 100.0);
        let percent = (share * 10.0).round() / 10.0;
        DayHour { load, percent: percent.clamp(LEAST_PERCENT, 100.0) }
    })
}

impl LoadProfile {
    /// Hours of the day, 0 to 23, in which no counted day has enough samples.
    pub fn unknown_hours(&self) -> Vec<usize> {
        (0..self.day.len()).filter(|&hour| self.day[hour].load.is_none()).collect()
    }

    /// The unknown hours in words; `None` if every hour is known.
    pub(super) fn unknown_hours_list(&self) -> Option<String> {
        let hours: Vec<String> =
            self.unknown_hours().iter().map(|hour| format!("{hour:02}:00")).collect();
        (!hours.is_empty()).then(|| hours.join(", "))
    }

    /// The share of a day's log that is written in each hour, adding up to 1; `None` if an hour or
    /// the log's bytes are unknown.
    pub fn log_shares(&self) -> Option<[f64; 24]> {
        let mut bytes = [0.0; 24];
        for (to, hour) in bytes.iter_mut().zip(&self.day) {
            let log = hour.load?.of(super::StorageOperation::LogWrite)?;
            *to = log.bytes_per_second?;
        }
        let sum: f64 = bytes.iter().sum();
        (sum > 0.0).then(|| bytes.map(|of| of / sum))
    }
}
