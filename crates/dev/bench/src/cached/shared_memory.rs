//! Hits of the served cache in memory that a guest shares, beside hits over its NBD socket. Both
//! clients are the leanest there can be: a guest's kernel and QEMU add the same to either.

mod socket;

use std::path::Path;
use std::time::{Duration, Instant};

use testkit::guest_ring::{GuestRequest, GuestRing, REQUEST_BYTES};
use units::{Prng, Seed};
use xtask::failure::Failure;

use super::load::{fill, read_randomly};
use super::scene::CacheScene;
use super::{DEPTHS, WARM_BYTES};
use crate::pairs;
use socket::SocketClient;

/// Minimum ratio of vhost-user's hits to those of NBD.
const GOAL: f64 = 1.3;

/// Length of a measurement.
const SPAN: Duration = Duration::from_secs(3);

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
        let mut ring = RingClient::connect((&rings, &scene.in_memory("guest")), in_flight)?;
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

/// Offsets of a client's next reads: anywhere in the volume, at multiples of the read size.
struct ReadPlaces(Prng);

impl ReadPlaces {
    const fn new() -> Self {
        Self(Prng::new(Seed(1)))
    }

    fn next(&mut self) -> u64 {
        let read = REQUEST_BYTES as u64;
        self.0.below(WARM_BYTES / read) * read
    }
}

/// A guest that only reads.
struct RingClient {
    ring: GuestRing,
    places: ReadPlaces,
    in_flight: u16,
}

impl RingClient {
    fn connect((socket, memory): (&Path, &Path), in_flight: u16) -> Result<Self, Failure> {
        let ring = GuestRing::open(socket, memory).map_err(Failure::of)?;
        Ok(Self { ring, places: ReadPlaces::new(), in_flight })
    }

    /// Reads for `span`; returns the reads per second.
    fn read_for(&mut self, span: Duration) -> Result<f64, Failure> {
        let (began, mut done) = (Instant::now(), 0_usize);
        self.offer((0..self.in_flight).collect())?;
        while began.elapsed() < span {
            let slots = self.ring.answers().map_err(Failure::of)?;
            done += slots.len();
            self.offer(slots)?;
        }
        let per_second = done as f64 / began.elapsed().as_secs_f64();
        let mut left = usize::from(self.in_flight);
        while left > 0 {
            left -= self.ring.answers().map_err(Failure::of)?.len();
        }
        Ok(per_second)
    }

    fn offer(&mut self, slots: Vec<u16>) -> Result<(), Failure> {
        let places = &mut self.places;
        let reads: Vec<(u16, GuestRequest)> =
            slots.into_iter().map(|slot| (slot, GuestRequest::Read(places.next()))).collect();
        self.ring.offer(&reads).map_err(Failure::of)
    }
}
