//! What a load meets on an array of the model.

use units::{Prng, Seed};

use super::loads::{ProbeLoad, ProbeLoadKind, READS_OF_A_BURST, WRITES_OF_A_BURST};
use crate::array::{ArrayState, HostRequest};
use crate::model::ArrayModel;

/// Requests of a load; the first tenth fills buffers and is not counted.
const REQUESTS: u64 = 1_500;

/// Mean latency of a load on an array whose requests go to its first `span` bytes, in nanoseconds.
pub(super) fn mean_latency(model: &ArrayModel, load: ProbeLoad, span: u64) -> f64 {
    let mut replay = ReplayedLoad {
        array: ArrayState::new(model, Seed(1)),
        prng: Prng::new(Seed(2)),
        load,
        span,
        begun: Vec::new(),
        reads: 0,
        burst: 0,
    };
    for sender in 0..load.in_flight {
        replay.ask(0, sender);
    }
    let (mut count, mut total) = (0_u64, 0.0);
    while let Some(now) = replay.array.next_event() {
        let mut answered = Vec::new();
        replay.array.advance(now, |token| answered.push(token));
        for token in answered {
            let (begun, sender) = replay.begun_by(token);
            if sender >= load.in_flight {
                replay.burst -= 1;
                continue;
            }
            if token >= REQUESTS / 10 {
                count += 1;
                total += (now - begun) as f64;
            }
            if (replay.begun.len() as u64) < REQUESTS {
                replay.ask(now, sender);
            }
        }
    }
    total / count.max(1) as f64
}

struct ReplayedLoad {
    array: ArrayState,
    prng: Prng,
    load: ProbeLoad,
    span: u64,
    /// When each request began, and which of those in flight it is.
    begun: Vec<(u64, u32)>,
    /// Reads of a load with bursts, and its writes that are not answered.
    reads: u64,
    burst: u32,
}

impl ReplayedLoad {
    /// A sender's next request, and the burst that is due with it.
    fn ask(&mut self, now: u64, sender: u32) {
        self.send(now, sender);
        if self.load.kind != ProbeLoadKind::ReadsBesideBursts {
            return;
        }
        if self.reads.is_multiple_of(READS_OF_A_BURST) && self.burst == 0 {
            for number in 0..WRITES_OF_A_BURST {
                self.send(now, self.load.in_flight + number);
            }
            self.burst = WRITES_OF_A_BURST;
        }
        self.reads += 1;
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
