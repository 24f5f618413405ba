//! Speed of the page checksum on pages in the processor's cache: GB/s on one core.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ese::checksum::{Kernel, PageVerdict, store, verify};
use ese::page::PageSize;
use units::{PageNumber, Prng, Seed};

use crate::{PAIRS, median};

/// Pages that fit the second-level cache of any recent processor.
const PAGES: u32 = 8;
const SPAN: Duration = Duration::from_secs(1);
/// The goal, in bytes per nanosecond.
const GOAL: f64 = 15.0;

/// Prints the speed of every kernel that this processor has, and of whole verifications.
pub(crate) fn run() {
    let size = PageSize::KIB_32;
    let pages: Vec<Vec<u8>> = (1..=PAGES).map(|number| sealed(size, PageNumber(number))).collect();
    for kernel in Kernel::ALL {
        let block = &pages[0][..size.checksum_block_bytes()];
        if kernel.try_parities(block).is_none() {
            println!("{:<10} not on this processor", kernel.name());
            continue;
        }
        let speed = speed(&pages, |page, _| {
            for block in page.chunks_exact(size.checksum_block_bytes()) {
                black_box(kernel.try_parities(block));
            }
        });
        let best = if kernel == Kernel::best() { verdict(speed) } else { "" };
        println!("{:<10} {speed:>6.1} GB/s{best}", kernel.name());
    }
    let speed = speed(&pages, |page, number| {
        assert!(verify(page, number) == PageVerdict::Good, "a sealed page is good");
    });
    println!("{:<10} {speed:>6.1} GB/s{}", "verify", verdict(speed));
}

fn verdict(speed: f64) -> &'static str {
    if speed >= GOAL { " (goal of 15 met)" } else { " (below the goal of 15)" }
}

fn sealed(size: PageSize, number: PageNumber) -> Vec<u8> {
    let mut bytes = vec![0; size.bytes()];
    Prng::new(Seed(u64::from(number.0))).fill(&mut bytes);
    // Flag for the type of the page's checksum.
    bytes[37] |= 0x20;
    store(&mut bytes, number);
    bytes
}

/// Median bytes per nanosecond.
fn speed(pages: &[Vec<u8>], mut work: impl FnMut(&[u8], PageNumber)) -> f64 {
    let speeds = (0..PAIRS).map(|_| {
        let started = Instant::now();
        let mut bytes = 0;
        while started.elapsed() < SPAN / u32::try_from(PAIRS).unwrap_or(1) {
            for (number, page) in (1..).zip(pages) {
                work(black_box(page), PageNumber(number));
                bytes += page.len();
            }
        }
        bytes as f64 / started.elapsed().as_secs_f64() / 1e9
    });
    median(speeds.collect())
}
