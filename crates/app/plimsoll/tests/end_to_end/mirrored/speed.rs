//! What a mirrored write costs, with one request in flight: beside a durable write through a server
//! that has the only copy, and a round trip between the two servers. The round trip is that of a
//! read on the host that does not serve, which asks the other one, less a read on that.
//! `cargo xtask mirror-speed` runs it with the optimised program.
//!
//! A durable write to a file without any server is printed too, for what the servers cost.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use device::{Device, Durability, Purpose, Request};
use device_os::{Backend, World};

use super::guest;
use super::history::{BLOCK, History};
use super::{HOSTS, Pair};

/// Rounds, in each of which everything is measured, and operations of each in a round.
const ROUNDS: usize = 9;
const OPERATIONS: u32 = 200;

/// A write to the flash of one host: a block with its frame.
const WRITTEN: usize = 2 * BLOCK;

/// The median of the rounds must not exceed this multiple of write and round trip together.
const MOST: f64 = 1.3;

#[test]
#[ignore = "measures; cargo xtask mirror-speed"]
fn a_mirrored_write_costs_little_more_than_a_write_and_a_round_trip() {
    let Some(mut pair) = Pair::new("mirror-speed", false) else { return };
    let Some(mut lone) = Pair::new("mirror-speed-alone", false) else { return };
    pair.start(0);
    pair.start(1);
    lone.start(0);
    let owner = pair.wait_for_both();
    lone.wait("a copy alone", |pair| pair.status(0)["data_on"] == HOSTS[0]);
    let (mirrored, other) =
        (Client::of(&pair.address(owner)), Client::of(&pair.address(1 - owner)));
    let alone = Client::of(&lone.address(0));
    let file = File::create_new(pair.scene.path("local")).unwrap();
    let mut ratios = Vec::new();
    for round in 0..ROUNDS as u64 {
        let write = each(|at| mirrored.write(at));
        let alone = each(|at| alone.write(at));
        let trip = each(|at| other.read(at)).saturating_sub(each(|at| mirrored.read(at)));
        let local = each(|at| {
            file.write_all_at(&[1; WRITTEN], at * WRITTEN as u64).unwrap();
            file.sync_data().unwrap();
        });
        let ratio = write.as_secs_f64() / (alone + trip).as_secs_f64();
        eprintln!(
            "round {round}: {write:?} mirrored, {alone:?} alone, {trip:?} trip: {ratio:.2}; \
             {local:?} without a server"
        );
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ROUNDS / 2];
    eprintln!("a mirrored write takes {median:.2} times as long as both together, at most {MOST}");
    assert!(median <= MOST, "{median}");
}

/// The mean time of an operation; each is given its number.
fn each(mut operation: impl FnMut(u64)) -> Duration {
    let begun = Instant::now();
    (0..u64::from(OPERATIONS)).for_each(&mut operation);
    begun.elapsed() / OPERATIONS
}

/// A client of a volume.
struct Client {
    world: World,
    device: Rc<dyn Device>,
    history: Arc<History>,
}

impl Client {
    fn of(address: &str) -> Self {
        let world = World::new(Backend::Auto).unwrap();
        let device = guest::open(address, &world).unwrap();
        Self { world, device, history: Arc::default() }
    }

    fn write(&self, at: u64) {
        let write = guest::write(&*self.device, &self.history, block(at), Durability::Volatile);
        assert!(self.world.executor().block_on(write));
    }

    /// Reads a block, whatever it holds.
    fn read(&self, at: u64) {
        let read = Request::read(Purpose::Database, block(at).0 * BLOCK as u64, BLOCK);
        assert!(self.world.executor().block_on(self.device.submit(read)).result.is_ok());
    }
}

/// The blocks of an operation.
const fn block(at: u64) -> (u64, u64) {
    (at * 7 % 512, 1)
}
