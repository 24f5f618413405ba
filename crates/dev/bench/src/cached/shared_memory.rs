//! Hits of the served cache in memory that a guest shares, beside hits over its NBD socket. Both
//! clients are the leanest there can be: a guest's kernel and QEMU add the same to either.

mod ring;
mod socket;

use std::time::Duration;

use units::{Prng, Seed};
use xtask::failure::Failure;

use super::load::{fill, read_randomly};
use super::scene::CacheScene;
use super::{DEPTHS, WARM_BYTES};
use crate::pairs;
use ring::RingClient;
use socket::SocketClient;

/// What vhost-user must reach of NBD.
const GOAL: f64 = 1.3;

/// Length of a measurement.
const SPAN: Duration = Duration::from_secs(3);

/// Bytes of a read.
const READ_BYTES: u32 = 32 << 10;

/// Prints a line for each depth; `true` if both reach the goal.
pub(super) fn run(scene: &CacheScene) -> Result<bool, Failure> {
    let volume = scene.in_memory("warm.img");
    fill(&volume, WARM_BYTES)?;
    let rings = scene.in_memory("rings.sock");
    let named = format!("mail={}", rings.display());
    let server = scene.serve(&volume, &["--vhost-user", &named])?;
    read_randomly(&server, &["--iodepth=16", "--randrepeat=1"])?;
    let mut is_met = true;
    for depth in DEPTHS {
        let in_flight: u16 = depth.parse().map_err(Failure::of)?;
        let mut ring = RingClient::connect(&rings, &scene.in_memory("guest"), in_flight)?;
        let mut socket = SocketClient::connect(server.socket(), in_flight)?;
        let pairs = pairs::measure(GOAL, || ring.read_for(SPAN), || socket.read_for(SPAN))?;
        is_met &= pairs.ratio >= GOAL;
        println!(
            "cache, hits, {depth:>2} in flight: {:.0} reads/s of 32 KiB over vhost-user, {:.0} \
             over NBD: {:.3} x ({} of {GOAL}); {:.1} % were hits",
            pairs.ours,
            pairs.peer,
            pairs.ratio,
            if pairs.ratio >= GOAL { "goal met" } else { "BELOW THE GOAL" },
            scene.hit_share()? * 100.0
        );
    }
    Ok(is_met)
}

/// First bytes of the next reads of a client: anywhere in the volume, at multiples of a read.
struct ReadPlaces(Prng);

impl ReadPlaces {
    const fn new() -> Self {
        Self(Prng::new(Seed(1)))
    }

    fn next(&mut self) -> u64 {
        let read = u64::from(READ_BYTES);
        self.0.below(WARM_BYTES / read) * read
    }
}
