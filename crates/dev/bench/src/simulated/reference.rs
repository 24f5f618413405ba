//! A fixed loop that costs what a simulation costs: a queue of times, from which the earliest is
//! taken and to which a later one is added. A machine that is slow today is slow at both.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::time::Instant;

/// Times in the queue.
const QUEUED: u64 = 4_096;

/// Steps of one measurement: some tenths of a second.
const STEPS: u64 = 4_000_000;

/// Nanoseconds that one step takes.
pub(super) fn step_ns() -> f64 {
    let mut queue: BinaryHeap<Reverse<u64>> = (0..QUEUED).map(Reverse).collect();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let begun = Instant::now();
    for _ in 0..STEPS {
        // Xorshift; Marsaglia, "Xorshift RNGs", 2003.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if let Some(Reverse(earliest)) = queue.pop() {
            queue.push(Reverse(earliest + state % (2 * QUEUED)));
        }
    }
    black_box(queue);
    begun.elapsed().as_nanos() as f64 / STEPS as f64
}
