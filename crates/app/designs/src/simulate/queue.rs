//! Distributes the simulations of a sweep to the agents of a fleet: queues them, collects the
//! results, and holds the lease meanwhile, so that no test runs at the same time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use blueprint::PredictionFigures;
use carrier::{Carrier, Lease, Letters, WorkLeft};
use fleet::{ResultStep, SimulationResult, SweepLedger, decode, encode};
use host::system;

use super::progress::SweepProgress;
use super::sweep::{OpenSweep, SweepItem};
use console::Console;
use console::error::CommandError;
use fleets::connect;

/// Longest wait for a result between checks of the time.
const LOOK: Duration = Duration::from_millis(100);

/// Time limit for results of an earlier attempt to arrive.
const EARLIER_WITHIN: Duration = Duration::from_secs(1);

/// Interval between checks of the queue.
const BETWEEN_LOOKS: Duration = Duration::from_secs(5);

/// Consecutive checks that find the queue empty but results missing; the sweep then gives up.
const MOST_LOOKS: u32 = 4;

/// Time without an agent taking an item after which a remark is printed, once.
const IDLE: Duration = Duration::from_secs(30);

/// A sweep with items simulated by agents.
struct QueueConductor<'a> {
    sweep: &'a OpenSweep<'a>,
    carrier: Carrier,
    lease: Lease,
    renewed: Instant,
    results: Letters,
    ledger: SweepLedger,
    /// Positions of the missing items by key: items with the same content share one key.
    places: BTreeMap<String, Vec<(usize, usize)>>,
    found: Vec<(usize, PredictionFigures)>,
}

/// The figures of each missing item, with its number, unless the sweep is stopped.
pub(super) fn collected(
    sweep: &OpenSweep<'_>,
    missing: &[&SweepItem<'_>],
    progress: &SweepProgress,
    console: &mut Console,
) -> Result<Vec<(usize, PredictionFigures)>, CommandError> {
    let carrier = connect(&sweep.request.flags.server)?;
    let holder = format!(
        "a sweep of {} on {}, process {}",
        units::plural(missing.len() as u64, "simulation"),
        system::machine(String::new()).name,
        std::process::id()
    );
    let lease = carrier.take_lease(holder)?;
    carrier.make_work_ready()?;
    let mut places: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
    for (at, item) in missing.iter().enumerate() {
        places.entry(item.key.as_str().to_owned()).or_default().push((at, item.index));
    }
    let mut conductor = QueueConductor {
        sweep,
        results: carrier.results_of_work()?,
        carrier,
        lease,
        renewed: Instant::now(),
        ledger: SweepLedger::new(places.keys().cloned()),
        places,
        found: Vec::new(),
    };
    let ended = conductor.conduct(missing, progress, console);
    // The remaining work no longer belongs to any sweep.
    let _ = conductor.carrier.clear_queue();
    if conductor.ledger.missing().is_empty() {
        let _ = conductor.carrier.clear_results();
    }
    let _ = conductor.carrier.release_lease(&conductor.lease);
    ended?;
    Ok(conductor.found)
}

impl QueueConductor<'_> {
    fn conduct(
        &mut self,
        missing: &[&SweepItem<'_>],
        progress: &SweepProgress,
        console: &mut Console,
    ) -> Result<(), CommandError> {
        self.carrier.clear_queue()?;
        while let Some(letter) = self.results.next(EARLIER_WITHIN) {
            self.take(&letter.bytes, progress)?;
        }
        self.queue(missing)?;
        self.follow(progress, console)?;
        for (host, count) in self.ledger.by_host() {
            let simulations = units::plural(*count, "simulation");
            console.remark(format_args!("{host}: {simulations}"))?;
        }
        Ok(())
    }

    /// Queues the items that are still missing.
    fn queue(&mut self, missing: &[&SweepItem<'_>]) -> Result<(), CommandError> {
        let epoch = self.lease.epoch();
        for (at, item) in missing.iter().enumerate() {
            let key = item.key.as_str();
            let is_first = self.places.get(key).is_some_and(|all| all[0].0 == at);
            if is_first && self.ledger.missing().contains(key) {
                let bytes = encode(&self.sweep.described(item));
                self.carrier.queue_work((key, epoch), bytes)?;
                self.renew()?;
            }
        }
        Ok(())
    }

    /// Collects results until all have come, or the sweep is stopped.
    fn follow(
        &mut self,
        progress: &SweepProgress,
        console: &mut Console,
    ) -> Result<(), CommandError> {
        let (mut looked, mut empty_looks) = (Instant::now(), 0);
        let (mut heard, mut is_told) = (Instant::now(), false);
        while !self.ledger.missing().is_empty() && !self.sweep.stop.is_set() {
            self.renew()?;
            if let Some(letter) = self.results.next(LOOK) {
                self.take(&letter.bytes, progress)?;
                (heard, empty_looks) = (Instant::now(), 0);
            } else if looked.elapsed() >= BETWEEN_LOOKS {
                looked = Instant::now();
                let left = self.carrier.work_left()?;
                empty_looks = if is_empty(left) { empty_looks + 1 } else { 0 };
                if empty_looks >= MOST_LOOKS {
                    return Err(self.given_up());
                }
                if left.in_hands > 0 {
                    heard = Instant::now();
                }
            }
            if heard.elapsed() >= IDLE && !is_told {
                is_told = true;
                console.remark(
                    "No agent takes simulations: start some with `plimsoll agent --simulate 2`, \
                     of this program.",
                )?;
                console.flush()?;
            }
        }
        Ok(())
    }

    fn renew(&mut self) -> Result<(), CommandError> {
        if self.renewed.elapsed() >= self.lease.renew_every() {
            self.renewed = Instant::now();
            self.carrier.renew_lease(&mut self.lease)?;
        }
        Ok(())
    }

    /// Accepts a result; bytes that are not a result change nothing.
    fn take(&mut self, bytes: &[u8], progress: &SweepProgress) -> Result<(), CommandError> {
        let Ok(result) = decode::<SimulationResult>(bytes) else { return Ok(()) };
        match self.ledger.note(result) {
            ResultStep::Ignore => Ok(()),
            ResultStep::Fail { why } => Err(CommandError::new(why)),
            ResultStep::Keep { key, figures } => {
                for (at, index) in self.places.get(&key).into_iter().flatten() {
                    self.found.push((*index, self.sweep.kept(*index, &figures)?));
                    progress.end(*at);
                }
                Ok(())
            }
        }
    }

    fn given_up(&self) -> CommandError {
        CommandError::new(format!(
            "several agents were given {}, and none brought a result; look at their terminals, \
             then run the same command again",
            units::plural(self.ledger.missing().len() as u64, "simulation")
        ))
    }
}

const fn is_empty(left: WorkLeft) -> bool {
    left.waiting == 0 && left.in_hands == 0
}
