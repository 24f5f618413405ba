//! Measurement of a load on an array of the model.

use units::{Nanos, Prng, Seed};

use super::counted::mean_without_stalls;
use super::loads::{ProbeLoad, ProbeLoadKind, READS_OF_A_BURST, WRITES_OF_A_BURST};
use crate::array::{ArrayState, HostRequest};
use crate::model::ArrayModel;

/// Requests of a load; the first tenth fills buffers and is not counted.
const REQUESTS: u64 = 1_500;

/// Mean latency of a load without stalls, in nanoseconds, on an array whose requests go to its
/// first `span` bytes.
pub(super) fn mean_latency(model: &ArrayModel, load: ProbeLoad, span: u64) -> f64 {
    let mut replay = ReplayedLoad {
        array: ArrayState::new(model, Seed(1)),
        prng: Prng::new(Seed(2)),
        load,
        span,
        begun: Vec::new(),
        asked: 0,
        burst: 0,
        resting: None,
    };
    for sender in 0..load.in_flight {
        replay.ask(0, sender);
    }
    let mut counted = Vec::new();
    while let Some(now) = replay.next_moment() {
        if let Some((_, sender)) = replay.resting.take_if(|(until, _)| *until <= now) {
            replay.ask_rested(now, sender);
            continue;
        }
        let mut answered = Vec::new();
        replay.array.advance(now, |token| answered.push(token));
        for token in answered {
            let (begun, sender) = replay.begun_by(token);
            if sender >= load.in_flight {
                replay.burst -= 1;
                continue;
            }
            if token >= REQUESTS / 10 {
                counted.push(now - begun);
            }
            if (replay.begun.len() as u64) < REQUESTS {
                replay.ask(now, sender);
            }
        }
    }
    mean_without_stalls(&mut counted)
}

struct ReplayedLoad {
    array: ArrayState,
    prng: Prng,
    load: ProbeLoad,
    span: u64,
    /// Start of each request, and its index among those in flight.
    begun: Vec<(u64, u32)>,
    /// Requests sent so far, without bursts.
    asked: u64,
    /// Unanswered writes of the last burst.
    burst: u32,
    /// End of a sender's rest, and the sender.
    resting: Option<(u64, u32)>,
}

impl ReplayedLoad {
    /// Time of the next event, on the array or of a sender.
    fn next_moment(&self) -> Option<u64> {
        let rested = self.resting.map(|(until, _)| until);
        self.array.next_event().into_iter().chain(rested).min()
    }

    /// A sender's next request, once it has rested.
    fn ask(&mut self, now: u64, sender: u32) {
        let rest = self.load.rest(&mut self.prng);
        if rest > Nanos::ZERO {
            self.resting = Some((now + rest.0, sender));
        } else {
            self.ask_rested(now, sender);
        }
    }

    /// Sends a sender's next request, after the burst if one is due.
    fn ask_rested(&mut self, now: u64, sender: u32) {
        let bursts = self.load.kind == ProbeLoadKind::ReadsBesideBursts;
        if bursts && self.asked.is_multiple_of(READS_OF_A_BURST) && self.burst == 0 {
            for number in 0..WRITES_OF_A_BURST {
                self.send(now, self.load.in_flight + number);
            }
            self.burst = WRITES_OF_A_BURST;
        }
        self.send(now, sender);
        self.asked += 1;
    }

    fn send(&mut self, now: u64, sender: u32) {
        let token = self.begun.len() as u64;
        self.begun.push((now, sender));
        let offset = self.load.offset((sender, token), self.span, &mut self.prng);
        let length = u64::from(self.load.bytes);
        let request = HostRequest { token, work: self.load.work(sender), offset, length };
        self.array.submit(now, request);
    }

    fn begun_by(&self, token: u64) -> (u64, u32) {
        self.begun[usize::try_from(token).expect("invariant: a number of a request")]
    }
}
