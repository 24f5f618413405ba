//! Parts of a measurement between deliberate events: each is judged separately, since an average
//! across a loss shows neither the state before it nor the load on the survivors after it.

use record::{Finished, LoadError, Phase, RunRecord};
use units::Nanos;

use crate::{EventAction, FleetRecord, HostPart, PlannedEvent, last_part};

/// The load settles for this long after an event, or for half of the time to the next.
const SETTLES_WITHIN: Nanos = Nanos::from_secs(60);

/// A part of the measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Period {
    /// Its start after the common instant.
    pub from: Nanos,
    /// Its end.
    pub to: Nanos,
    /// Before any event, while the load settles after one, or after that.
    pub(crate) kind: PeriodKind,
    /// Index in the plan of the last event before it.
    pub event: Option<usize>,
}

/// Position of a part within the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeriodKind {
    /// Before the first event.
    Before,
    /// From an event on, while its effect settles: shown, and not judged.
    During,
    /// When the load has settled, up to the next event or the end.
    After,
}

impl Period {
    /// Whether limits apply to it.
    pub fn is_judged(&self) -> bool {
        self.kind != PeriodKind::During
    }
}

/// Splits a measurement of length `measured` at the events.
fn periods(events: &[PlannedEvent], measured: Nanos) -> Vec<Period> {
    let within: Vec<(usize, Nanos)> = events.iter().map(|event| event.at).enumerate().collect();
    let mut starts: Vec<(usize, Nanos)> = Vec::new();
    for (index, at) in within.into_iter().filter(|(_, at)| *at < measured) {
        match starts.last_mut() {
            Some(last) if last.1 == at => last.0 = index,
            _ => starts.push((index, at)),
        }
    }
    let first = starts.first().map_or(measured, |(_, at)| *at);
    let mut all =
        vec![Period { from: Nanos::ZERO, to: first, kind: PeriodKind::Before, event: None }];
    for (place, (event, at)) in starts.iter().enumerate() {
        let end = starts.get(place + 1).map_or(measured, |(_, at)| *at);
        let settled = *at + SETTLES_WITHIN.min(Nanos(end.since(*at).0 / 2));
        let event = Some(*event);
        all.push(Period { from: *at, to: settled, kind: PeriodKind::During, event });
        all.push(Period { from: settled, to: end, kind: PeriodKind::After, event });
    }
    all
}

impl FleetRecord {
    /// Returns the parts of the measurement; a single one if there were no deliberate events.
    pub(crate) fn periods(&self) -> Vec<Period> {
        let records = self.hosts.iter().filter_map(|host| host.record.as_ref());
        let measured = records.map(|record| record.start.settings.measure_ns).min();
        periods(&self.events, Nanos(measured.unwrap_or(0)))
    }

    /// A part in words, such as `after lose EX03 at 30min`.
    pub(crate) fn period_name(&self, period: &Period) -> String {
        let names: Vec<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
        let event = period.event.and_then(|event| self.events.get(event));
        match (period.kind, event) {
            (PeriodKind::Before, _) | (_, None) => "before".to_owned(),
            (PeriodKind::During, Some(event)) => format!("during {}", event.words(&names)),
            (PeriodKind::After, Some(event)) => format!("after {}", event.words(&names)),
        }
    }

    /// Whether `host` is deliberately down at an instant.
    pub(crate) fn is_down(&self, host: usize, at: Nanos) -> bool {
        let mut is_down = false;
        for event in self.events.iter().filter(|event| event.at <= at) {
            match event.action {
                EventAction::Lose { host: lost, .. } if lost == host => is_down = true,
                EventAction::Rejoin { host: back } if back == host => is_down = false,
                _ => {}
            }
        }
        is_down
    }

    /// Cuts the journal of a host, whose record must exist, into its [`HostPart::parts`].
    pub fn cut(&self, host: usize, journal: &[u8]) -> Result<Vec<Option<RunRecord>>, LoadError> {
        let mut parts = Vec::new();
        for period in self.periods() {
            let measured = self.hosts[host].record.as_ref().and_then(measure_begin);
            parts.push(match measured {
                Some(begin) if !self.is_down(host, period.from) => {
                    Some(self.part(host, journal, (begin, &period))?)
                }
                _ => None,
            });
        }
        Ok(parts)
    }

    /// The record of one part, with the load that the fleet plan sets for it.
    fn part(
        &self,
        host: usize,
        journal: &[u8],
        (begin_ns, period): (u64, &Period),
    ) -> Result<RunRecord, LoadError> {
        let (from_ns, to_ns) = (begin_ns + period.from.0, begin_ns + period.to.0);
        let mut part = RunRecord::load_part(journal, from_ns..=to_ns)?;
        part.long_requests
            .retain(|of| of.phase != Phase::Measure || (from_ns..=to_ns).contains(&of.at_ns));
        for span in part.phases.iter_mut().filter(|span| span.phase == Phase::Measure) {
            span.from_ns = span.from_ns.max(from_ns).min(to_ns);
            span.to_ns = Some(span.to_ns.unwrap_or(to_ns).min(to_ns));
        }
        part.start.settings.measure_ns = period.to.since(period.from).0;
        part.start.settings.target_iops = self.target(host, &part, period.from);
        if part.finished.is_none() && self.hosts[host].was_down() {
            // The host was killed deliberately in a later part.
            part.finished = Some(Finished {
                at_ns: to_ns,
                interrupted: false,
                reason: None,
                is_for_room: false,
                is_overdue: false,
                was_stopped: false,
            });
            part.start.settings.verify_checksums = !part.checksums.is_empty();
        }
        Ok(part)
    }

    /// Target rate of all databases of a host at an instant, in database reads and writes per
    /// second.
    fn target(&self, host: usize, part: &RunRecord, at: Nanos) -> Option<f64> {
        let plan = plan::Plan::parse("the record", &part.start.plan_text).ok()?;
        let parts = plan.databases.iter().map(|database| {
            let percent = self.load_percent(host, last_part(&database.folder), at);
            plan.share(database) * f64::from(percent) / 100.0
        });
        let share = parts.sum::<f64>() / plan.databases.len() as f64;
        plan.workload.target_iops.map(|target| f64::from(target) * share)
    }

    /// The load of a copy at an instant, in percent of that of an active copy.
    pub(crate) fn load_percent(&self, host: usize, database: &str, at: Nanos) -> u32 {
        let last = self.loads.iter().rfind(|of| {
            of.host == host && of.at <= at && of.database.eq_ignore_ascii_case(database)
        });
        last.map_or(100, |change| change.percent)
    }
}

impl HostPart {
    /// Whether it was deliberately killed.
    pub(crate) fn was_down(&self) -> bool {
        !self.downs.is_empty()
    }

    /// Whether it was deliberately killed and has not returned.
    pub(crate) fn is_down_for_good(&self) -> bool {
        self.downs.last().is_some_and(|(_, to)| to.is_none())
    }
}

fn measure_begin(record: &RunRecord) -> Option<u64> {
    let span = record.phases.iter().find(|span| span.phase == Phase::Measure)?;
    Some(span.from_ns)
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::{PeriodKind, periods};
    use crate::{EventAction, PlannedEvent};

    fn lose(host: usize, seconds: u64) -> PlannedEvent {
        let action = EventAction::Lose { host, take_over: Vec::new() };
        PlannedEvent { at: Nanos::from_secs(seconds), action }
    }

    #[test]
    fn parts_tile_the_measurement() {
        for events in [vec![], vec![lose(0, 60)], vec![lose(0, 60), lose(1, 60), lose(2, 90)]] {
            let parts = periods(&events, Nanos::from_secs(180));
            assert_eq!(parts[0].from, Nanos::ZERO);
            assert_eq!(parts.last().map(|part| part.to), Some(Nanos::from_secs(180)));
            assert!(parts.windows(2).all(|two| two[0].to == two[1].from), "{parts:?}");
        }
    }

    #[test]
    fn a_load_settles_for_a_minute_or_half_of_what_is_left() {
        let settled = |measured| periods(&[lose(0, 60)], Nanos::from_secs(measured))[1].to;
        assert_eq!(settled(600), Nanos::from_secs(120));
        assert_eq!(settled(100), Nanos::from_secs(80));
    }

    #[test]
    fn events_at_one_instant_are_one_boundary_and_late_ones_none() {
        let parts = periods(&[lose(0, 60), lose(1, 60), lose(2, 500)], Nanos::from_secs(180));
        let kinds: Vec<_> = parts.iter().map(|part| (part.kind, part.event)).collect();
        let expected = [
            (PeriodKind::Before, None),
            (PeriodKind::During, Some(1)),
            (PeriodKind::After, Some(1)),
        ];
        assert_eq!(kinds, expected);
    }
}
