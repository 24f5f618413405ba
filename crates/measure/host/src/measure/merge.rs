//! Merges the intervals of the groups, each of which samples its own databases, into one of all
//! databases.

use record::{Event, Interval};

/// Merges the reports of all groups on the same period.
pub(super) struct Merger {
    databases: usize,
    pending: Option<Interval>,
}

impl Merger {
    /// Creates a merger for a run on `databases` databases.
    pub(super) const fn new(databases: usize) -> Self {
        Self { databases, pending: None }
    }

    /// Returns the events to report now, with intervals merged. A pending interval delays no other
    /// event, since it carries its own time.
    pub(super) fn pass(&mut self, event: Event) -> Vec<Event> {
        match event {
            Event::Interval(interval) => {
                self.add(interval).into_iter().map(Event::Interval).collect()
            }
            other => vec![other],
        }
    }

    /// Takes one group's interval; returns those that are complete, oldest first. Intervals belong
    /// together if they overlap by half: groups sample at almost the same bounds.
    fn add(&mut self, interval: Interval) -> Vec<Interval> {
        let mut complete = Vec::new();
        match self.pending.take() {
            Some(pending) if belong_together(&pending, &interval) => {
                self.pending = Some(merged(pending, interval));
            }
            pending => {
                complete.extend(pending);
                self.pending = Some(interval);
            }
        }
        complete.extend(self.pending.take_if(|pending| pending.databases.len() >= self.databases));
        complete
    }

    /// Takes the incomplete interval at the end of the run.
    pub(super) fn take(&mut self) -> Option<Interval> {
        self.pending.take()
    }
}

fn belong_together(one: &Interval, two: &Interval) -> bool {
    let same_database = one
        .databases
        .iter()
        .any(|database| two.databases.iter().any(|other| other.index == database.index));
    let shared = one.to_ns.min(two.to_ns).saturating_sub(one.from_ns.max(two.from_ns));
    let shorter = (one.to_ns - one.from_ns).min(two.to_ns - two.from_ns);
    one.phase == two.phase && !same_database && shared * 2 >= shorter
}

/// The leader's bounds apply, since only the leader samples the machine.
fn merged(one: Interval, two: Interval) -> Interval {
    let (mut leader, other) = if two.host.is_some() { (two, one) } else { (one, two) };
    leader.databases.extend(other.databases);
    leader.databases.sort_by_key(|database| database.index);
    match (&mut leader.flash_cache, other.flash_cache) {
        (Some(cache), Some(other)) => cache.join(&other),
        (cache @ None, other) => *cache = other,
        (Some(_), None) => {}
    }
    leader
}

#[cfg(test)]
mod tests {
    use record::{DatabaseInterval, Event, HostSample, Interval, Phase};

    use super::Merger;

    fn interval(index: u32, from_ns: u64, to_ns: u64, host: bool) -> Interval {
        Interval {
            phase: Phase::Measure,
            from_ns,
            to_ns,
            databases: vec![DatabaseInterval { index, ..DatabaseInterval::default() }],
            host: host.then(HostSample::default),
            processors: None,
            flash_cache: None,
        }
    }

    #[test]
    fn intervals_of_one_time_become_one_with_the_leaders_bounds() {
        let mut merger = Merger::new(2);
        let half = Event::Interval(interval(1, 101, 201, false));
        assert!(merger.pass(half).is_empty());
        let complete = merger.pass(Event::Interval(interval(0, 100, 200, true)));
        let [Event::Interval(complete)] = complete.as_slice() else {
            panic!("{complete:?}");
        };
        assert_eq!((complete.from_ns, complete.to_ns), (100, 200));
        let indexes: Vec<u32> = complete.databases.iter().map(|database| database.index).collect();
        assert_eq!(indexes, [0, 1]);
        assert!(merger.take().is_none());
    }

    #[test]
    fn intervals_of_other_times_stay_apart() {
        let mut merger = Merger::new(2);
        assert!(merger.add(interval(0, 100, 200, true)).is_empty());
        let complete = merger.add(interval(1, 190, 290, false));
        assert_eq!((complete.len(), complete[0].to_ns), (1, 200));
        assert_eq!(merger.add(interval(1, 290, 390, false)).len(), 1);
        assert_eq!(merger.take().unwrap().to_ns, 390);
    }
}
