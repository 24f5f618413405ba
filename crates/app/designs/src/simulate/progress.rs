//! Progress of simulations: one with its figures, or several with the total remaining time.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use plan::Plan;
use record::{Edge, Event, Interval, Phase};
use units::Nanos;

use console::term::{self, ProgressLine};

/// Completed share of a simulation, in virtual time.
struct VirtualShare {
    /// Planned length of the measurement, if any.
    planned: Option<Nanos>,
    /// Start of the current phase.
    phase_from: Cell<u64>,
    /// Start of the load, after the search for the number of sessions.
    load_from: Cell<u64>,
}

/// Assumed length of the warm-up before the measurement begins.
const USUAL_WARM_UP: Nanos = Nanos::from_secs(30);

impl VirtualShare {
    fn new(plan: &Plan) -> Self {
        let planned = (!plan.test.is_recovery()).then_some(plan.test.duration);
        Self { planned, phase_from: Cell::new(0), load_from: Cell::new(0) }
    }

    /// Processes an event; returns the share done, from 0 to 1, after an interval of a load.
    fn event(&self, event: &Event) -> Option<f64> {
        match event {
            Event::Phase(mark) if mark.edge == Edge::Begin => {
                self.phase_from.set(mark.at_ns);
                if mark.phase == Phase::Warm {
                    self.load_from.set(mark.at_ns);
                }
                None
            }
            Event::Interval(interval) => self.share(interval),
            _ => None,
        }
    }

    fn share(&self, interval: &Interval) -> Option<f64> {
        let planned = self.planned?;
        let done = interval.to_ns.saturating_sub(self.load_from.get());
        let warm_up = match interval.phase {
            Phase::Warm => USUAL_WARM_UP.0.max(done),
            Phase::Measure => self.phase_from.get().saturating_sub(self.load_from.get()),
            _ => return None,
        };
        Some(done as f64 / (warm_up + planned.0).max(1) as f64)
    }
}

/// Largest share shown while a simulation is pending.
const MOST_BEFORE_THE_END: f64 = 0.99;

/// Least share and time of work that say how long the rest takes: the first minutes of a simulation
/// are slower than the others, since its caches are cold.
const LEAST_SHARE: f64 = 0.05;
const LEAST_ELAPSED: Duration = Duration::from_secs(3);

/// Estimates the remaining time of work that took `elapsed` for `share` of it; empty if too little
/// is done for an estimate, or if less than a second is left.
fn left(elapsed: Duration, share: f64) -> String {
    if share < LEAST_SHARE || elapsed < LEAST_ELAPSED {
        return String::new();
    }
    let left = elapsed.mul_f64((1.0 - share).max(0.0) / share);
    if left < Duration::from_secs(1) {
        return String::new();
    }
    format!(", about {} left", term::duration(left))
}

/// Progress of one simulation.
pub(super) struct SimulationProgress {
    progress: RefCell<ProgressLine>,
    share: VirtualShare,
}

impl SimulationProgress {
    pub(super) fn new(plan: &Plan, quiet: bool) -> Self {
        let progress = RefCell::new(ProgressLine::new("simulating", quiet));
        Self { progress, share: VirtualShare::new(plan) }
    }

    pub(super) fn event(&self, event: &Event) {
        let share = self.share.event(event);
        let Event::Interval(interval) = event else { return };
        let at = interval.to_ns.saturating_sub(self.share.phase_from.get());
        let planned = self.share.planned.filter(|_| interval.phase == Phase::Measure);
        let whole = planned.map(|planned| format!(" of {}", virtual_time(planned.0)));
        let mut progress = self.progress.borrow_mut();
        let left = share.map_or_else(String::new, |share| left(progress.elapsed(), share));
        progress.text(&format!(
            "{}, {}{} in virtual time{left}; {}",
            interval.phase.name(),
            virtual_time(at),
            whole.unwrap_or_default(),
            console::live::Figures::of(interval).words()
        ));
    }
}

fn virtual_time(ns: u64) -> String {
    term::duration(Duration::from_nanos(ns))
}

/// Progress of several simulations, some of them concurrent.
#[derive(Clone)]
pub(super) struct SweepProgress(Arc<Mutex<Sweep>>);

struct Sweep {
    progress: ProgressLine,
    /// Completed share of each pending simulation.
    shares: Vec<f64>,
    done: usize,
    /// Number of other simulations, whose results are already known.
    known: usize,
}

impl SweepProgress {
    /// Creates the progress of `count` simulations, besides `known` ones with earlier results.
    pub(super) fn new(count: usize, known: usize, quiet: bool) -> Self {
        let progress = ProgressLine::new("simulating", quiet);
        Self(Arc::new(Mutex::new(Sweep { progress, shares: vec![0.0; count], done: 0, known })))
    }

    /// Returns an observer of the events of the simulation at `index`, which simulates `plan`.
    pub(super) fn of(&self, index: usize, plan: &Plan) -> impl Fn(&Event) + use<> {
        let (all, share) = (self.clone(), VirtualShare::new(plan));
        move |event| {
            if let Some(share) = share.event(event) {
                all.sweep().set(index, share);
            }
        }
    }

    /// Counts the simulation at `index` as done.
    pub(super) fn end(&self, index: usize) {
        let mut sweep = self.sweep();
        sweep.done += 1;
        sweep.set(index, 1.0);
    }

    fn sweep(&self) -> MutexGuard<'_, Sweep> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sweep {
    fn set(&mut self, index: usize, share: f64) {
        self.shares[index] = share;
        let words = self.words(self.progress.elapsed());
        self.progress.text(&words);
    }

    fn words(&self, elapsed: Duration) -> String {
        let (done, count) = (self.done, self.shares.len());
        let sum = self.shares.iter().sum::<f64>();
        let (done, all) = (done + self.known, count + self.known);
        let whole = (sum + self.known as f64) / all.max(1) as f64;
        // The last one may be through its load and not through what follows it.
        let whole = whole.min(if done < all { MOST_BEFORE_THE_END } else { 1.0 });
        // Known results took no time.
        let left = left(elapsed, sum / count.max(1) as f64);
        format!("{done} of {all} done, {:.0} %{left}", whole * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plan::Plan;
    use record::synthetic::Synthetic;
    use record::{Event, Phase};

    use super::{SweepProgress, left};

    #[test]
    fn too_little_work_says_nothing_of_the_rest() {
        let shown = |seconds, share| left(Duration::from_secs(seconds), share);
        assert_eq!((shown(17, 0.01), shown(2, 0.5)), (String::new(), String::new()));
        assert_eq!(shown(3, 0.05), ", about 57 s left");
    }

    #[test]
    fn several_simulations_say_how_long_all_of_them_still_take() {
        let text = "[databases]\nfolders = [\"/a\"]\nsize = \"1GiB\"\n[test]\nduration = \"10m\"\n";
        let plan = Plan::parse("test", text).expect("a valid plan");
        let sweep = SweepProgress::new(4, 0, true);
        let said = |seconds| sweep.sweep().words(Duration::from_secs(seconds));
        assert_eq!(said(5), "0 of 4 done, 0 %");
        let told = sweep.of(2, &plan);
        // 90 s of warm-up and 600 s of measurement.
        for event in Synthetic::default().events() {
            let is_later = matches!(&event, Event::Interval(of) if of.phase == Phase::Measure
                && of.to_ns > 255_000_000_000);
            if is_later {
                break;
            }
            told(&event);
        }
        assert_eq!(said(60), "0 of 4 done, 9 %, about 9 min 50 s left");
        sweep.end(2);
        assert_eq!(said(200), "1 of 4 done, 25 %, about 10 min 00 s left");
        for index in [0, 1] {
            sweep.end(index);
        }
        sweep.sweep().shares[3] = 0.999;
        assert_eq!(said(200), "3 of 4 done, 99 %", "the last one is not at its end");
        sweep.end(3);
        assert_eq!(said(200), "4 of 4 done, 100 %");
        let resumed = SweepProgress::new(4, 6, true);
        resumed.end(0);
        let said = resumed.sweep().words(Duration::from_secs(200));
        assert_eq!(said, "7 of 10 done, 70 %, about 10 min 00 s left");
    }
}
