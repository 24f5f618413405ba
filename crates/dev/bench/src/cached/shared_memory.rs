//! Hits of the served cache in memory shared with a guest, compared with hits over its NBD socket.
//! Both clients are as lean as possible, because a guest's kernel and QEMU would add the same cost
//! to either.
//!
//! Both stay awake while they wait, as KVM does for a guest's halted processor for up to 200 us
//! (`halt_poll_ns`). The same clients are also measured asleep, and not judged: their ratio changes
//! from run to run (decision 097).

mod socket;

use std::path::Path;
use std::time::{Duration, Instant};

use testkit::guest_ring::{GuestRequest, GuestRing, REQUEST_BYTES};
use units::{Prng, Seed};
use xtask::failure::Failure;

use super::load::{fill, read_randomly};
use super::scene::CacheScene;
use super::{DEPTHS, WARM_BYTES};
use crate::pairs::{self, Pairs};
use socket::SocketClient;

/// Minimum ratio of vhost-user's hits to those of NBD.
const GOAL: f64 = 1.3;

/// Length of a measurement.
const SPAN: Duration = Duration::from_secs(3);

/// What a client does while it waits for a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WhileWaiting {
    Awake,
    Asleep,
}

/// Prints lines for each depth; `true` if clients that stay awake reach the goal.
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
        for waiting in [WhileWaiting::Awake, WhileWaiting::Asleep] {
            let guest = (&*rings, &*scene.in_memory("guest"));
            let mut ring = RingClient::connect(guest, in_flight, waiting)?;
            let mut socket = SocketClient::connect(server.socket(), in_flight, waiting)?;
            let pairs = pairs::measure(GOAL, || ring.read_for(SPAN), || socket.read_for(SPAN))?;
            is_met &= waiting == WhileWaiting::Asleep || pairs.ratio >= GOAL;
            print(&pairs, (depth, waiting), scene.hit_share()?);
        }
    }
    Ok(is_met)
}

fn print(pairs: &Pairs, (depth, waiting): (&str, WhileWaiting), hit_share: f64) {
    let judged = match waiting {
        WhileWaiting::Asleep => "clients asleep, not judged".to_owned(),
        WhileWaiting::Awake if pairs.ratio >= GOAL => format!("goal met of {GOAL}"),
        WhileWaiting::Awake => format!("BELOW THE GOAL of {GOAL}"),
    };
    println!(
        "cache, hits, {depth:>2} in flight: {:.0} reads/s of 32 KiB over vhost-user, {:.0} over \
         NBD: {:.3} x ({judged}); {:.1} % were hits",
        pairs.ours,
        pairs.peer,
        pairs.ratio,
        hit_share * 100.0
    );
}

/// Random offsets of a client's reads, at multiples of the read size.
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

/// A client that reads through a guest's ring.
struct RingClient {
    ring: GuestRing,
    places: ReadPlaces,
    in_flight: u16,
    waiting: WhileWaiting,
}

impl RingClient {
    fn connect(
        (socket, memory): (&Path, &Path),
        in_flight: u16,
        waiting: WhileWaiting,
    ) -> Result<Self, Failure> {
        let ring = GuestRing::open(socket, memory).map_err(Failure::of)?;
        Ok(Self { ring, places: ReadPlaces::new(), in_flight, waiting })
    }

    /// Reads for `span`; returns the reads per second.
    fn read_for(&mut self, span: Duration) -> Result<f64, Failure> {
        let (began, mut done) = (Instant::now(), 0_usize);
        self.offer((0..self.in_flight).collect())?;
        while began.elapsed() < span {
            let slots = self.answers()?;
            done += slots.len();
            self.offer(slots)?;
        }
        let per_second = done as f64 / began.elapsed().as_secs_f64();
        let mut left = usize::from(self.in_flight);
        while left > 0 {
            left -= self.answers()?.len();
        }
        Ok(per_second)
    }

    fn answers(&mut self) -> Result<Vec<u16>, Failure> {
        let answers = match self.waiting {
            WhileWaiting::Awake => self.ring.answers_awake(),
            WhileWaiting::Asleep => self.ring.answers(),
        };
        answers.map_err(Failure::of)
    }

    fn offer(&mut self, slots: Vec<u16>) -> Result<(), Failure> {
        let places = &mut self.places;
        let reads: Vec<(u16, GuestRequest)> =
            slots.into_iter().map(|slot| (slot, GuestRequest::Read(places.next()))).collect();
        self.ring.offer(&reads).map_err(Failure::of)
    }
}
