//! Other hosts on the same drives: requests all over the set, at random moments.

use units::{Prng, Seed};

use crate::disk::{VirtualMoment, micros};

/// Requests of the neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct NeighbourParameters {
    /// Reads per second, of all neighbours in total.
    pub reads: f64,
    /// Writes per second.
    pub writes: f64,
    /// Bytes of each.
    pub bytes: u64,
}

/// Neighbours wait for answers as well: they send nothing more while this many are outstanding.
const MOST_OUTSTANDING: usize = 256;

/// A load that is independent of this host's performance.
pub(crate) struct Neighbours {
    parameters: NeighbourParameters,
    prng: Prng,
    outstanding: usize,
}

/// A request of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NeighbourRequest {
    pub is_write: bool,
    pub offset: u64,
    pub length: u64,
}

impl Neighbours {
    pub(crate) const fn new(parameters: NeighbourParameters, seed: Seed) -> Self {
        Self { parameters, prng: Prng::new(seed), outstanding: 0 }
    }

    /// Time until the next request; `None` if there are no neighbours.
    pub(crate) fn pause(&mut self) -> Option<VirtualMoment> {
        let rate = self.parameters.reads + self.parameters.writes;
        (rate > 0.0).then(|| micros(1e6 / rate * exponential(&mut self.prng)).max(1))
    }

    /// The neighbour's request that is due now, in a set of `capacity` bytes, unless too many are
    /// outstanding.
    pub(crate) fn request(&mut self, capacity: u64) -> Option<NeighbourRequest> {
        let NeighbourParameters { reads, writes, bytes } = self.parameters;
        let is_write = uniform(&mut self.prng) * (reads + writes) < writes;
        let place = self.prng.below((capacity / bytes).max(1));
        if self.outstanding >= MOST_OUTSTANDING {
            return None;
        }
        self.outstanding += 1;
        Some(NeighbourRequest { is_write, offset: place * bytes, length: bytes })
    }

    /// Records that one of their requests was answered.
    pub(crate) const fn answered(&mut self) {
        self.outstanding -= 1;
    }
}

fn uniform(prng: &mut Prng) -> f64 {
    prng.below(1 << 52) as f64 / (1_u64 << 52) as f64
}

/// Draws from the exponential distribution with mean 1 using only comparisons, after von Neumann: a
/// logarithm would not have the same last bit on every machine.
fn exponential(prng: &mut Prng) -> f64 {
    let mut whole = 0.0;
    loop {
        let first = uniform(prng);
        let (mut last, mut falls) = (first, 0_u32);
        loop {
            let next = uniform(prng);
            if next >= last {
                break;
            }
            (last, falls) = (next, falls + 1);
        }
        if falls.is_multiple_of(2) {
            return whole + first;
        }
        whole += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use units::{Prng, Seed};

    use super::{NeighbourParameters, Neighbours, exponential};

    #[test]
    fn pauses_are_those_of_random_arrivals() {
        let mut prng = Prng::new(Seed(4));
        let draws: Vec<f64> = (0..200_000).map(|_| exponential(&mut prng)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let square = draws.iter().map(|draw| draw * draw).sum::<f64>() / draws.len() as f64;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!((square - 2.0).abs() < 0.04, "{square}");
        let late = draws.iter().filter(|draw| **draw > 2.0).count() as f64 / draws.len() as f64;
        assert!((late - (-2.0_f64).exp()).abs() < 0.003, "{late}");
    }

    #[test]
    fn neighbours_read_and_write_as_often_as_they_should_and_wait_for_answers() {
        let parameters = NeighbourParameters { reads: 300.0, writes: 100.0, bytes: 32_768 };
        let mut neighbours = Neighbours::new(parameters, Seed(1));
        let (mut now, mut writes) = (0, 0);
        for _ in 0..40_000 {
            now += neighbours.pause().expect("they are there");
            let request = neighbours.request(1 << 40).expect("none waits");
            assert!(request.offset + request.length <= 1 << 40);
            writes += u32::from(request.is_write);
            neighbours.answered();
        }
        assert!((now as f64 / 1e9 - 100.0).abs() < 2.0, "{now}");
        assert!((9_700..10_300).contains(&writes), "{writes}");
        let accepted = (0..1_000).filter_map(|_| neighbours.request(1 << 40)).count();
        assert_eq!(accepted, super::MOST_OUTSTANDING);
        assert_eq!(Neighbours::new(NeighbourParameters::default(), Seed(1)).pause(), None);
    }
}
