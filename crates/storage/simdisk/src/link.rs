//! The path between the host and the array: links and the processors of the front end. Both serve
//! in the order of arrival, so that the end is known at the start.

use crate::disk::{VirtualMoment, micros};
use crate::servers::FifoServers;

/// Properties of the links, and the processor time per request. Times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PathParameters {
    /// Links that share the load.
    pub links: usize,
    /// Payload bytes per microsecond of each, in each direction.
    pub rate: f64,
    /// Transit time, in one direction.
    pub latency: f64,
    /// Processors of the front end.
    pub processors: usize,
    /// Front-end processor time for a request that writes nothing.
    pub read: f64,
    /// Front-end processor time for a write: it allocates memory, and is copied to the other
    /// controller.
    pub write: f64,
    /// Front-end processor time for each KiB of a request.
    pub kibibyte: f64,
    /// Front-end processor time for a request to a drive.
    pub drive: f64,
}

/// Links and front end of one array.
pub(crate) struct HostPath {
    parameters: PathParameters,
    inbound: FifoServers,
    outbound: FifoServers,
    front: FifoServers,
}

/// Bytes of a command or an acknowledgement: a header of the protocol.
const COMMAND_BYTES: u64 = 48;

impl HostPath {
    pub(crate) fn new(parameters: PathParameters) -> Self {
        Self {
            parameters,
            inbound: FifoServers::new(parameters.links),
            outbound: FifoServers::new(parameters.links),
            front: FifoServers::new(parameters.processors),
        }
    }

    /// Time at which the array has received and decoded a request that is sent now, including the
    /// bytes of a write.
    pub(crate) fn arrives(
        &mut self,
        now: VirtualMoment,
        is_write: bool,
        length: u64,
    ) -> VirtualMoment {
        let bytes = COMMAND_BYTES + if is_write { length } else { 0 };
        let there = self.inbound.serve(now, bytes as f64 / self.parameters.rate);
        let there = there + micros(self.parameters.latency);
        let PathParameters { read, write, kibibyte, .. } = self.parameters;
        let request = if is_write { write } else { read };
        self.front.serve(there, request + kibibyte * length as f64 / 1_024.0)
    }

    /// Sends a request to a drive: it occupies the processors, and the host's requests wait
    /// meanwhile. The drive does not wait: a seek takes many times as long.
    pub(crate) fn asks_drive(&mut self, now: VirtualMoment) {
        if self.parameters.drive > 0.0 {
            self.front.serve(now, self.parameters.drive);
        }
    }

    /// Busy time of a link's busier direction, and of a front-end processor, in nanoseconds.
    pub(crate) fn busy_ns(&self) -> (u64, u64) {
        (self.inbound.busy_ns().max(self.outbound.busy_ns()), self.front.busy_ns())
    }

    /// Time at which the host has the answer that the array sends now, including the bytes of a
    /// read.
    pub(crate) fn answers(
        &mut self,
        now: VirtualMoment,
        is_write: bool,
        length: u64,
    ) -> VirtualMoment {
        let bytes = COMMAND_BYTES + if is_write { 0 } else { length };
        let sent = self.outbound.serve(now, bytes as f64 / self.parameters.rate);
        sent + micros(self.parameters.latency)
    }
}

#[cfg(test)]
mod tests {
    use super::{HostPath, PathParameters};

    const GIGABIT: PathParameters = PathParameters {
        links: 2,
        rate: 118.0,
        latency: 30.0,
        processors: 1,
        read: 50.0,
        write: 200.0,
        kibibyte: 0.0,
        drive: 0.0,
    };

    #[test]
    fn bytes_take_their_time_on_the_link_and_two_links_carry_twice_as_much() {
        let mut path = HostPath::new(GIGABIT);
        let one = path.answers(0, false, 1_180_000) / 1_000_000;
        let two = path.answers(0, false, 1_180_000) / 1_000_000;
        let three = path.answers(0, false, 1_180_000) / 1_000_000;
        assert_eq!((one, two, three), (10, 10, 20));
    }

    #[test]
    fn requests_wait_for_the_processors_of_the_front_end() {
        let mut path = HostPath::new(GIGABIT);
        let first = path.arrives(0, false, 4_096);
        let second = path.arrives(0, false, 4_096);
        assert!((80_000..82_000).contains(&first), "{first}");
        assert!((130_000..132_000).contains(&second), "{second}");
    }

    #[test]
    fn requests_to_drives_hold_up_what_comes_from_the_host() {
        let arrives = |drive| {
            let mut path = HostPath::new(PathParameters { drive, ..GIGABIT });
            (0..4).for_each(|_| path.asks_drive(0));
            path.arrives(0, false, 4_096)
        };
        // The request itself takes 30.4 us in transit.
        assert!((369_000..370_000).contains(&(arrives(100.0) - arrives(0.0))));
    }

    #[test]
    fn writes_take_the_front_end_for_a_time_of_their_own() {
        let read = HostPath::new(GIGABIT).arrives(0, false, 4_096);
        let write = HostPath::new(GIGABIT).arrives(0, true, 4_096);
        let bytes = 4_096_000 / 118;
        assert!((150_000..151_000).contains(&(write - read - bytes)), "{read} {write}");
    }
}
