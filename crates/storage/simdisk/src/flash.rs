//! Flash: concurrent dies behind one interface, and garbage collection as a share of the writes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::disk::{MediaRequest, VirtualMoment, micros};
use crate::places::scattered;

/// Parameters of a flash device. Times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FlashParameters {
    /// Number of dies that work concurrently.
    pub dies: usize,
    /// Time to read a flash page.
    pub read: f64,
    /// Time to program a flash page.
    pub program: f64,
    /// Bytes of a flash page.
    pub page: u64,
    /// Rate of the interface in bytes per microsecond.
    pub rate: f64,
    /// Fixed time of every command.
    pub overhead: f64,
    /// Additional time of every write, after its bytes have arrived.
    pub write_overhead: f64,
    /// Further additional time of a durable write or a flush.
    pub durable: f64,
    /// Extra time of a read that arrives while a write is outstanding.
    pub read_beside_writes: f64,
    /// Bytes that the device writes for each byte written to it, in its steady state, including
    /// copies by garbage collection. For greedy collection under uniform random writes it is about
    /// `1 / (2 s)` for a small share `s` of spare flash.
    pub write_amplification: f64,
    /// Bytes of writes that a buffer takes before they must be programmed.
    pub buffer: f64,
    /// Whether the buffer is volatile, so that durable writes bypass it.
    pub buffer_is_volatile: bool,
}

/// When a request to flash is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlashDone {
    /// When it is answered.
    pub answered: VirtualMoment,
    /// When a write would survive a loss of power.
    pub safe: VirtualMoment,
}

/// One flash device. Reads have priority over programming, which a buffer hides, and wait only for
/// the current program of their die; so the end of a request is known when it arrives.
pub(crate) struct Flash {
    parameters: FlashParameters,
    dies: Vec<Die>,
    /// When each direction of the interface becomes free.
    inbound: VirtualMoment,
    outbound: VirtualMoment,
    /// Times at which buffered bytes will have been programmed, with their number.
    buffered: BinaryHeap<Reverse<(VirtualMoment, u64)>>,
    buffered_bytes: u64,
    /// When the latest write will have been programmed, and answered.
    programmed: VirtualMoment,
    writes_answered: VirtualMoment,
    pub served: u64,
}

impl Flash {
    pub(crate) fn new(parameters: FlashParameters) -> Self {
        Self {
            parameters,
            dies: vec![Die::default(); parameters.dies.max(1)],
            inbound: 0,
            outbound: 0,
            buffered: BinaryHeap::new(),
            buffered_bytes: 0,
            programmed: 0,
            writes_answered: 0,
            served: 0,
        }
    }

    /// Completion of a request that arrives now.
    pub(crate) fn submit(&mut self, now: VirtualMoment, request: &MediaRequest) -> FlashDone {
        self.served += 1;
        let MediaRequest { is_write, is_durable, offset, length, .. } = *request;
        let parameters = self.parameters;
        let ready = now + micros(parameters.overhead);
        let moved = micros(length as f64 / parameters.rate);
        if !is_write {
            let read = self.dies_done(offset, length, |die| die.read(ready, parameters));
            // A request that waits for its die leaves the interface to the others.
            self.outbound = self.outbound.max(ready) + moved;
            let is_beside = self.writes_answered > now;
            let longer = if is_beside { micros(parameters.read_beside_writes) } else { 0 };
            let answered = self.outbound.max(read + moved) + longer;
            return FlashDone { answered, safe: answered };
        }
        self.inbound = self.inbound.max(ready) + moved;
        let arrived = self.inbound;
        let programmed = self.dies_done(offset, length, |die| die.program(arrived, parameters));
        self.programmed = self.programmed.max(programmed);
        let buffered = self.acknowledged(arrived, programmed, length);
        let safe = if parameters.buffer_is_volatile { programmed } else { buffered };
        let reached = if is_durable { safe + micros(parameters.durable) } else { buffered };
        let answered = reached + micros(parameters.write_overhead);
        self.writes_answered = self.writes_answered.max(answered);
        FlashDone { answered, safe }
    }

    /// Busy time of its busiest die, in nanoseconds.
    pub(crate) fn busy_ns(&self) -> u64 {
        self.dies.iter().map(|die| die.busy).max().unwrap_or(0)
    }

    /// Time at which everything acknowledged so far is safe, if flushed now.
    pub(crate) fn flush(&self, now: VirtualMoment) -> VirtualMoment {
        let FlashParameters { buffer_is_volatile, durable, .. } = self.parameters;
        let safe = if buffer_is_volatile { now.max(self.programmed) } else { now };
        safe + micros(durable)
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

    /// Time at which every page of a request has been processed by its die; `serve` reserves a
    /// die's time and returns its end.
    fn dies_done(
        &mut self,
        offset: u64,
        length: u64,
        serve: impl Fn(&mut Die) -> VirtualMoment,
    ) -> VirtualMoment {
        let page = self.parameters.page.max(1);
        let count = self.dies.len() as u64;
        let mut done = 0;
        for number in offset / page..=(offset + length - 1) / page {
            // Pages lie wherever they were last written.
            let die = usize::try_from(scattered(number) % count).expect("invariant: a die");
            done = done.max(serve(&mut self.dies[die]));
        }
        done
    }
}

/// One die: when its reads and its programs are done.
#[derive(Clone, Copy, Debug, Default)]
struct Die {
    reads: VirtualMoment,
    programs: VirtualMoment,
    /// Busy time in nanoseconds.
    busy: u64,
}

impl Die {
    /// End of the read of a page requested at `from`.
    fn read(&mut self, from: VirtualMoment, parameters: FlashParameters) -> VirtualMoment {
        let program = micros(parameters.program).max(1);
        let begun = self.programs.saturating_sub(from) % program;
        let work = micros(parameters.read);
        self.busy += work;
        self.reads = self.reads.max(from + begun) + work;
        self.reads
    }

    /// End of the programming of a page that arrived at `from`, and of its garbage collection.
    fn program(&mut self, from: VirtualMoment, parameters: FlashParameters) -> VirtualMoment {
        let each = parameters.program * parameters.write_amplification;
        let work = micros(each);
        self.busy += work;
        self.programs = self.programs.max(from) + work;
        self.programs
    }
}

#[cfg(test)]
mod tests {
    use super::{Flash, FlashDone, FlashParameters};
    use crate::disk::MediaRequest;

    const PARAMETERS: FlashParameters = FlashParameters {
        dies: 16,
        read: 80.0,
        program: 600.0,
        page: 16_384,
        rate: 500.0,
        overhead: 20.0,
        write_overhead: 0.0,
        durable: 0.0,
        read_beside_writes: 0.0,
        write_amplification: 2.0,
        buffer: 1e6,
        buffer_is_volatile: false,
    };

    fn read(offset: u64, length: u64) -> MediaRequest {
        MediaRequest { offset, length, ..MediaRequest::default() }
    }

    fn write(offset: u64, length: u64) -> MediaRequest {
        MediaRequest { is_write: true, ..read(offset, length) }
    }

    #[test]
    fn a_lone_read_takes_command_die_and_interface() {
        let mut flash = Flash::new(PARAMETERS);
        let done = flash.submit(0, &read(0, 16_384)).answered as f64 / 1e3;
        assert!((done - (20.0 + 80.0 + 16_384.0 / 500.0)).abs() < 0.1, "{done}");
    }

    /// Until the buffer is full a write is as fast as the interface, then as fast as the dies.
    #[test]
    fn writes_become_slow_when_the_buffer_is_full() {
        let mut flash = Flash::new(PARAMETERS);
        let mut now = 0;
        let mut spent = Vec::new();
        for number in 0..2_000_u64 {
            let done = flash.submit(now, &write(number * 7 * 32_768, 32_768)).answered;
            spent.push((done - now) as f64 / 1e3);
            now = done;
        }
        assert!(spent[0] < 100.0, "{}", spent[0]);
        let late: f64 = spent[1_000..].iter().sum::<f64>() / 1_000.0;
        // 2 pages of 1.2 ms each over 16 dies.
        let expected = 2.0 * 1_200.0 / 16.0;
        assert!((late / expected - 1.0).abs() < 0.15, "{late} of {expected}");
    }

    #[test]
    fn a_read_waits_for_one_program_at_most_and_not_for_reads_of_other_dies() {
        let mut flash = Flash::new(PARAMETERS);
        for number in 0..200_u64 {
            flash.submit(0, &write(number * 16_384, 16_384));
        }
        let moved = 16_384.0 / 500.0;
        let mut longest = 0.0_f64;
        for number in 1_000..1_016_u64 {
            let done = flash.submit(0, &read(number * 16_384, 16_384));
            longest = longest.max(done.answered as f64 / 1e3);
        }
        // Some of the sixteen share a die.
        assert!(longest < 20.0 + 600.0 + 5.0 * 80.0 + 16.0 * moved, "{longest}");
        let mut idle = Flash::new(PARAMETERS);
        let done =
            (0..16_u64).map(|number| idle.submit(0, &read(number * 16_384, 16_384)).answered).max();
        let done = done.expect("sixteen") as f64 / 1e3;
        assert!(done < 20.0 + 5.0 * 80.0 + 17.0 * moved, "{done}");
    }

    #[test]
    fn a_read_takes_longer_that_arrives_while_a_write_is_not_answered() {
        let parameters = FlashParameters { read_beside_writes: 100.0, ..PARAMETERS };
        let mut flash = Flash::new(parameters);
        let mut plain = Flash::new(PARAMETERS);
        // Both have the write, so that only the parameter makes a difference.
        let written = flash.submit(0, &write(0, 16_384)).answered;
        plain.submit(0, &write(0, 16_384));
        let place = 16_384;
        for (at, longer) in [(written - 1, 100_000), (written, 0)] {
            let (one, other) =
                (plain.submit(at, &read(place, 16_384)), flash.submit(at, &read(place, 16_384)));
            assert_eq!(one.answered + longer, other.answered, "{at}");
        }
    }

    #[test]
    fn durable_writes_pass_a_volatile_buffer_by_and_flushes_empty_it() {
        let volatile = FlashParameters { buffer_is_volatile: true, durable: 300.0, ..PARAMETERS };
        let mut flash = Flash::new(volatile);
        let plain = flash.submit(0, &write(0, 16_384));
        assert!(plain.answered < 100_000 && plain.safe > 1_200_000, "{plain:?}");
        assert_eq!(flash.flush(0), plain.safe + 300_000);
        let durable = MediaRequest { is_durable: true, ..write(16_384, 16_384) };
        let FlashDone { answered, safe } = Flash::new(volatile).submit(0, &durable);
        assert_eq!(answered, safe + 300_000);
        let mut safe_buffer = Flash::new(PARAMETERS);
        let done = safe_buffer.submit(0, &write(0, 16_384));
        assert_eq!((done.safe, safe_buffer.flush(done.answered)), (done.answered, done.answered));
    }
}
