//! Flash: dies that work beside each other behind one interface, and garbage collection as a
//! share of the writes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::disk::VirtualMoment;
use crate::disk::moment;

/// What a flash device is made of. Times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FlashParameters {
    /// Dies that work at the same time.
    pub dies: usize,
    /// A read of a flash page.
    pub read: f64,
    /// Programming a flash page.
    pub program: f64,
    /// Bytes of a flash page.
    pub page: u64,
    /// Bytes per microsecond of the interface.
    pub rate: f64,
    /// What every command takes beside.
    pub overhead: f64,
    /// Bytes that the device writes for each byte that it is given, in its steady state: what
    /// garbage collection copies is in it. Greedy collection under uniform random writes comes to
    /// about `1 / (2 s)` for a small share `s` of spare flash.
    pub write_amplification: f64,
    /// Bytes of writes that a power-safe buffer takes before they must be programmed.
    pub buffer: f64,
}

/// One flash device. Dies serve in the order of arrival, so that the end of a request is known when
/// it arrives.
pub(crate) struct Flash {
    parameters: FlashParameters,
    /// When each die is free, in nanoseconds.
    dies: Vec<VirtualMoment>,
    /// When the interface is free.
    interface: VirtualMoment,
    /// When buffered bytes will have been programmed, and how many.
    buffered: BinaryHeap<Reverse<(VirtualMoment, u64)>>,
    buffered_bytes: u64,
    pub served: u64,
    pub busy: u64,
}

impl Flash {
    pub(crate) fn new(parameters: FlashParameters) -> Self {
        Self {
            parameters,
            dies: vec![0; parameters.dies.max(1)],
            interface: 0,
            buffered: BinaryHeap::new(),
            buffered_bytes: 0,
            served: 0,
            busy: 0,
        }
    }

    /// When a request is done that arrives now.
    pub(crate) fn submit(
        &mut self,
        now: VirtualMoment,
        is_write: bool,
        offset: u64,
        length: u64,
    ) -> VirtualMoment {
        self.served += 1;
        let parameters = self.parameters;
        let ready = now + micros(parameters.overhead);
        let moved = micros(length as f64 / parameters.rate);
        if is_write {
            self.interface = self.interface.max(ready) + moved;
            let arrived = self.interface;
            let each = parameters.program * parameters.write_amplification;
            let programmed = self.dies_done(arrived, each, offset, length);
            self.acknowledged(arrived, programmed, length)
        } else {
            let read = self.dies_done(ready, parameters.read, offset, length);
            self.interface = self.interface.max(read) + moved;
            self.interface
        }
    }

    /// A write is acknowledged once the buffer has room for it.
    fn acknowledged(
        &mut self,
        arrived: VirtualMoment,
        programmed: VirtualMoment,
        length: u64,
    ) -> VirtualMoment {
        let mut acknowledged = arrived;
        while let Some(Reverse((done, bytes))) = self.buffered.peek().copied() {
            let has_room = (self.buffered_bytes + length) as f64 <= self.parameters.buffer;
            if done > arrived && has_room {
                break;
            }
            self.buffered.pop();
            self.buffered_bytes -= bytes;
            acknowledged = acknowledged.max(done);
        }
        if length as f64 > self.parameters.buffer {
            return programmed;
        }
        self.buffered.push(Reverse((programmed, length)));
        self.buffered_bytes += length;
        acknowledged
    }

    /// When the pages of a request have each had their time on the die that they lie on.
    fn dies_done(
        &mut self,
        from: VirtualMoment,
        each: f64,
        offset: u64,
        length: u64,
    ) -> VirtualMoment {
        let page = self.parameters.page.max(1);
        let (first, last) = (offset / page, (offset + length - 1) / page);
        let mut done = from;
        for number in first..=last {
            let count = self.dies.len() as u64;
            let die = usize::try_from(scattered(number) % count).expect("invariant: a die");
            self.busy += micros(each);
            self.dies[die] = self.dies[die].max(from) + micros(each);
            done = done.max(self.dies[die]);
        }
        done
    }
}

/// Pages lie wherever they were last written: on a die that their number does not tell.
const fn scattered(page: u64) -> u64 {
    let mixed = (page ^ (page >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

fn micros(microseconds: f64) -> VirtualMoment {
    moment(microseconds / 1e3)
}

#[cfg(test)]
mod tests {
    use super::{Flash, FlashParameters};

    const PARAMETERS: FlashParameters = FlashParameters {
        dies: 16,
        read: 80.0,
        program: 600.0,
        page: 16_384,
        rate: 500.0,
        overhead: 20.0,
        write_amplification: 2.0,
        buffer: 1e6,
    };

    #[test]
    fn a_lone_read_takes_command_die_and_interface() {
        let mut flash = Flash::new(PARAMETERS);
        let done = flash.submit(0, false, 0, 16_384) as f64 / 1e3;
        assert!((done - (20.0 + 80.0 + 16_384.0 / 500.0)).abs() < 0.1, "{done}");
    }

    /// Until the buffer is full a write is as fast as the interface, then as fast as the dies.
    #[test]
    fn writes_become_slow_when_the_buffer_is_full() {
        let mut flash = Flash::new(PARAMETERS);
        let mut now = 0;
        let mut spent = Vec::new();
        for number in 0..2_000_u64 {
            let done = flash.submit(now, true, number * 7 * 32_768, 32_768);
            spent.push((done - now) as f64 / 1e3);
            now = done;
        }
        assert!(spent[0] < 100.0, "{}", spent[0]);
        let late: f64 = spent[1_000..].iter().sum::<f64>() / 1_000.0;
        // 2 pages of 1.2 ms each over 16 dies.
        let expected = 2.0 * 1_200.0 / 16.0;
        assert!((late / expected - 1.0).abs() < 0.15, "{late} of {expected}");
    }
}
