//! Guests that read and write a few blocks through whichever host serves them.

use std::collections::{BTreeMap, BTreeSet};

use mirror::{GuestOutcome, GuestRequest, MirrorHost, NodeEvent};
use units::{Nanos, Prng};

use super::checker::{BLOCKS, Operation};
use super::{Happening, World, index};

/// Maximum number of requests in flight.
pub(crate) const WORKERS: u64 = 5;

struct Waiting {
    worker: u64,
    host: MirrorHost,
    operation: Operation,
}

/// See the module.
pub(crate) struct Guest {
    at: MirrorHost,
    last_id: u64,
    waiting: BTreeMap<u64, Waiting>,
    /// Percentages of the requests.
    writes: u32,
    flushes: u32,
    /// Blocks read since the faults ended.
    read_since: BTreeSet<u64>,
    next_check: u64,
}

impl Guest {
    pub(crate) fn new(prng: &mut Prng) -> Self {
        Self {
            at: MirrorHost::A,
            last_id: 0,
            waiting: BTreeMap::new(),
            writes: [20, 50, 80][usize::try_from(prng.below(3)).expect("below 3")],
            flushes: 10,
            read_since: BTreeSet::new(),
            next_check: 0,
        }
    }

    pub(crate) fn has_read(&self, block: u64) -> bool {
        self.read_since.contains(&block)
    }
}

impl World {
    pub(super) fn guest_step(&mut self, worker: u64) -> Result<(), String> {
        let Some((operation, request)) = self.drawn_request() else {
            self.at(Nanos::from_millis(5), Happening::Guest(worker));
            return Ok(());
        };
        let is_read = matches!(request, GuestRequest::Read(_));
        let elsewhere = is_read && self.prng.percent(10);
        let host = if elsewhere { self.guest.at.other() } else { self.guest.at };
        self.guest.last_id += 1;
        let id = self.guest.last_id;
        self.guest.waiting.insert(id, Waiting { worker, host, operation });
        if self.machines[index(host)].node.is_none() {
            return self.guest_answer(id, &GuestOutcome::NotServing);
        }
        let boot = self.machines[index(host)].boot;
        self.deliver(host, boot, NodeEvent::Guest(id, request))
    }

    fn drawn_request(&mut self) -> Option<(Operation, GuestRequest)> {
        let block = if self.is_healed {
            self.guest.next_check += 1;
            self.guest.next_check % BLOCKS
        } else {
            self.prng.below(BLOCKS)
        };
        let writes = if self.is_healed { 10 } else { self.guest.writes };
        if self.prng.percent(self.guest.flushes) {
            Some((self.history.begin_flush(), GuestRequest::Flush))
        } else if self.prng.percent(writes) {
            let (operation, data) = self.history.begin_write(block)?;
            Some((operation, GuestRequest::Write(block, data)))
        } else {
            Some((self.history.begin_read(block), GuestRequest::Read(block)))
        }
    }

    pub(super) fn guest_answer(&mut self, id: u64, outcome: &GuestOutcome) -> Result<(), String> {
        let Some(waiting) = self.guest.waiting.remove(&id) else {
            return Err(format!("request {id} was answered twice"));
        };
        if *outcome == GuestOutcome::NotServing && waiting.host == self.guest.at {
            self.guest.at = self.guest.at.other();
        }
        if let (Operation::Read { block, .. }, GuestOutcome::Value(_), true) =
            (&waiting.operation, outcome, self.is_healed)
        {
            self.guest.read_since.insert(*block);
        }
        let is_fine = matches!(outcome, GuestOutcome::Done | GuestOutcome::Value(_));
        let pause = if is_fine { self.prng.below(30) } else { 20 + self.prng.below(200) };
        self.at(Nanos::from_millis(pause), Happening::Guest(waiting.worker));
        self.history.end(waiting.operation, outcome)
    }

    /// The host's program has ended: its guests learn nothing about their requests.
    pub(super) fn guests_lose(&mut self, host: MirrorHost) -> Result<(), String> {
        let lost = self.guest.waiting.iter().filter(|(_, one)| one.host == host);
        let lost: Vec<u64> = lost.map(|(id, _)| *id).collect();
        self.guest.at = host.other();
        lost.into_iter().try_for_each(|id| self.guest_answer(id, &GuestOutcome::Unknown))
    }
}
