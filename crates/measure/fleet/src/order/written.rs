//! Databases and events as a fleet plan writes them, and the check of both against its hosts.

use std::collections::BTreeMap;

use plan::{parse_duration, parse_size, write_duration};
use serde::Deserialize;
use units::Nanos;

use super::event::{CopySet, EventAction, PlannedEvent, TakeOver};
use super::placement::CopyPlacement;

/// Default rate of a reseed.
const RESEED_RATE: &str = "100MiB";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenDatabase {
    name: String,
    copies: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenEvent {
    at: String,
    lose: Option<String>,
    take_over: Option<BTreeMap<String, String>>,
    rejoin: Option<String>,
    reseed: Option<String>,
    source: Option<String>,
    target: Option<String>,
    rate: Option<String>,
}

/// The hosts of a plan by name.
#[derive(Clone, Copy)]
pub(super) struct HostNames<'a>(pub(super) &'a [String]);

impl HostNames<'_> {
    fn find(self, name: &str) -> Result<usize, String> {
        let found = self.0.iter().position(|host| host.eq_ignore_ascii_case(name));
        found.ok_or_else(|| format!("no [[host]] is called {name:?}: {}", self.listed()))
    }

    fn listed(self) -> String {
        format!("the plan has {}", self.0.join(", "))
    }
}

/// The copies of every database.
pub(super) fn copies(
    written: &[WrittenDatabase],
    names: HostNames<'_>,
    faults: &mut Vec<String>,
) -> Vec<CopySet> {
    let mut sets: Vec<CopySet> = Vec::new();
    for WrittenDatabase { name, copies } in written {
        let place = format!("database {name:?}");
        if sets.iter().any(|of| of.database.eq_ignore_ascii_case(name)) {
            faults.push(format!("{place} is described twice: keep one [[database]] of it"));
            continue;
        }
        let mut hosts = Vec::new();
        for copy in copies {
            match names.find(copy) {
                Ok(host) if hosts.contains(&host) => faults.push(format!(
                    "{place}: copies names {copy} twice: a host holds one copy of a database"
                )),
                Ok(host) => hosts.push(host),
                Err(fault) => faults.push(format!("{place}: {fault}")),
            }
        }
        if copies.is_empty() {
            faults.push(format!("{place}: copies is empty: name its hosts, the active one first"));
        }
        sets.push(CopySet { database: name.clone(), hosts });
    }
    sets
}

/// Returns the events in time order; none if the copies or an event's time are invalid.
pub(super) fn events(
    written: &[WrittenEvent],
    copies: &[CopySet],
    names: HostNames<'_>,
    faults: &mut Vec<String>,
) -> Vec<PlannedEvent> {
    let before = faults.len();
    let mut timed: Vec<(Nanos, String, &WrittenEvent)> = Vec::new();
    for (index, event) in written.iter().enumerate() {
        let place = format!("event {} (at {})", index + 1, event.at);
        match parse_duration(&event.at) {
            Some(at) if at > Nanos::ZERO => timed.push((at, place, event)),
            _ => faults.push(format!(
                "event {}: at = {:?} is no time after the begin of the measurement: write it as \
                 \"30min\"",
                index + 1,
                event.at
            )),
        }
    }
    if copies.iter().any(|of| of.hosts.is_empty()) || faults.len() > before {
        return Vec::new();
    }
    timed.sort_by_key(|(at, ..)| *at);
    let mut placement = CopyPlacement::first(copies, names.0.len());
    let mut events = Vec::new();
    for (at, place, written) in timed {
        match (EventContext { copies, names, placement: &placement }).action(written) {
            Ok(action) => {
                placement = placement.after(copies, &action);
                events.push(PlannedEvent { at, action });
            }
            Err(fault) => faults.push(format!("{place}: {fault}")),
        }
    }
    events
}

/// A sentence on each event that a measurement of length `measured` does not reach.
pub(super) fn beyond(events: &[PlannedEvent], names: &[&str], measured: Nanos) -> Vec<String> {
    events.iter().filter(|event| event.at >= measured).map(|event| {
        format!(
            "{}: the measurement ends after {}; give an earlier `at`, or a longer `duration` in \
             the plans of the hosts",
            event.words(names),
            write_duration(measured)
        )
    })
    .collect()
}

/// Context for checking an event: the copies, and their state at its time.
struct EventContext<'a> {
    copies: &'a [CopySet],
    names: HostNames<'a>,
    placement: &'a CopyPlacement,
}

impl EventContext<'_> {
    fn action(&self, event: &WrittenEvent) -> Result<EventAction, String> {
        let of_reseed = [&event.source, &event.target, &event.rate];
        let has_reseed = of_reseed.iter().any(|key| key.is_some());
        match (&event.lose, &event.rejoin, &event.reseed) {
            (Some(_), None, None) | (None, Some(_), None) if has_reseed => {
                Err("source, target and rate belong to reseed: remove them".to_owned())
            }
            (None, Some(_), None) | (None, None, Some(_)) if event.take_over.is_some() => {
                Err("take_over belongs to lose: remove it".to_owned())
            }
            (Some(host), None, None) => self.lose(host, event.take_over.as_ref()),
            (None, Some(host), None) => self.rejoin(host),
            (None, None, Some(database)) => self.reseed(database, event),
            (None, None, None) => {
                Err("nothing happens: give lose = \"HOST\", rejoin = \"HOST\" or \
                                       reseed = \"DATABASE\""
                    .to_owned())
            }
            _ => {
                Err("lose, rejoin and reseed are three events: write an [[event]] for each"
                    .to_owned())
            }
        }
    }

    fn name(&self, host: usize) -> &str {
        &self.names.0[host]
    }

    fn database(&self, name: &str) -> Result<usize, String> {
        let found = self.copies.iter().position(|of| of.database.eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            format!(
                "no [[database]] is called {name:?}: describe it with its copies, as in\n\
                 [[database]]\nname = {name:?}\ncopies = [{:?}]",
                self.names.0[0]
            )
        })
    }

    fn lose(
        &self,
        name: &str,
        wanted: Option<&BTreeMap<String, String>>,
    ) -> Result<EventAction, String> {
        let host = self.names.find(name)?;
        if self.placement.is_lost(host) {
            return Err(format!("{} is lost already: it must rejoin before", self.name(host)));
        }
        if (0..self.names.0.len()).all(|of| of == host || self.placement.is_lost(of)) {
            return Err(format!("{} is the last host: leave one to judge", self.name(host)));
        }
        let active = self.placement.active_on(host);
        let mut named = BTreeMap::new();
        for (database, by) in wanted.into_iter().flatten() {
            let index = self.database(database)?;
            if !active.contains(&index) {
                return Err(format!("take_over: {database} is not active on {name} then"));
            }
            named.insert(index, self.taker(index, host, by)?);
        }
        let take_over = active.into_iter().map(|index| {
            let copies = &self.copies[index];
            let chosen = named.get(&index).copied();
            let by =
                chosen.or_else(|| self.placement.next_copy(copies, host)).ok_or_else(|| {
                    format!(
                        "{} has no copy on a surviving host: add one to its copies, or lose fewer \
                     hosts",
                        copies.database
                    )
                })?;
            Ok(TakeOver { database: copies.database.clone(), by })
        });
        Ok(EventAction::Lose { host, take_over: take_over.collect::<Result<_, String>>()? })
    }

    /// The host that is named to carry a database after the loss of `lost`.
    fn taker(&self, database: usize, lost: usize, name: &str) -> Result<usize, String> {
        let by = self.names.find(name)?;
        let of = &self.copies[database];
        if by == lost || self.placement.is_lost(by) {
            return Err(format!("take_over: {} is lost then: name a survivor", self.name(by)));
        }
        self.require_copy(of, by).map_err(|fault| format!("take_over: {fault}"))?;
        Ok(by)
    }

    fn rejoin(&self, name: &str) -> Result<EventAction, String> {
        let host = self.names.find(name)?;
        if !self.placement.is_lost(host) {
            return Err(format!(
                "{} is not lost then: it can only rejoin after lose",
                self.name(host)
            ));
        }
        Ok(EventAction::Rejoin { host })
    }

    fn reseed(&self, name: &str, event: &WrittenEvent) -> Result<EventAction, String> {
        let index = self.database(name)?;
        let of = &self.copies[index];
        let target = event.target.as_ref().ok_or("reseed needs target = \"HOST\"")?;
        let target = self.names.find(target)?;
        let active = self.placement.active(index);
        let source = match &event.source {
            Some(source) => self.names.find(source)?,
            None => active.ok_or_else(|| format!("{} is active nowhere", of.database))?,
        };
        if active == Some(target) {
            return Err(format!(
                "{} is active on {} then, and a reseed overwrites its copy: name another target",
                of.database,
                self.name(target)
            ));
        }
        if source == target {
            return Err(format!("source and target are both {}", self.name(source)));
        }
        for host in [source, target] {
            self.require_copy(of, host)?;
            if self.placement.is_lost(host) {
                return Err(format!("{} is lost then: it must rejoin before", self.name(host)));
            }
        }
        let rate = event.rate.as_deref().unwrap_or(RESEED_RATE);
        let bytes_per_second = parse_size(rate).filter(|rate| rate.0 > 0).ok_or_else(|| {
            format!("rate = {rate:?} is no size: write what is copied per second as \"100MiB\"")
        })?;
        let (database, bytes_per_second) = (of.database.clone(), bytes_per_second.0);
        Ok(EventAction::Reseed { database, source, target, bytes_per_second })
    }

    fn require_copy(&self, of: &CopySet, host: usize) -> Result<(), String> {
        if of.hosts.contains(&host) {
            return Ok(());
        }
        let holders: Vec<&str> = of.hosts.iter().map(|&host| self.name(host)).collect();
        Err(format!(
            "{} holds no copy of {}: its copies are on {}",
            self.name(host),
            of.database,
            holders.join(", ")
        ))
    }
}
