//! A ring against a guest in memory, in virtual time.

use std::rc::Rc;

use device::{Executor, Latency, MemoryVolume, OpenMode, Runtime, VirtualReactor, Volume as _};
use export::{ExportedVolume, MemoryBudget};
use units::{Nanos, Prng, Seed};

use device::Lookout as _;

use super::{BlockRing, RingHall};
use crate::fixture::{BUFFERS, MEMORY, RING, TestGuest};
use crate::numbers::{kind, status};
use crate::offer::BlockOffer;

const VOLUME: u64 = 256 << 10;

/// Address of the first header; each request has its own.
const HEADERS: u64 = 0x8000;

struct Scene {
    executor: Executor,
    runtime: Runtime,
    hall: Rc<RingHall>,
    guest: TestGuest,
}

fn scene(is_read_only: bool) -> Scene {
    let reactor = VirtualReactor::new();
    let memory = MemoryVolume::new("memory", &reactor, Latency::fixed(Nanos(1_000)));
    let executor = Executor::new(reactor);
    let device =
        executor.block_on(memory.open("volume", OpenMode::CreateNew { length: VOLUME })).unwrap();
    let runtime = executor.runtime();
    let offer = BlockOffer {
        serial: "mail".to_owned(),
        bytes: VOLUME,
        sector: 512,
        preferred_block: 4096,
        is_read_only,
    };
    let volume = Rc::new(ExportedVolume::new(device));
    let budget = MemoryBudget::new(64 << 10);
    let hall = Rc::new(RingHall { volume, offer, budget, runtime: runtime.clone() });
    Scene { executor, runtime, hall, guest: TestGuest::new() }
}

impl Scene {
    /// Starts the ring at `position`.
    fn ring(&self, position: u16) -> Rc<BlockRing> {
        let parts = (TestGuest::queue(position), self.guest.memory.clone());
        let bells = (Rc::clone(&self.guest.kick) as _, Some(Rc::clone(&self.guest.answered) as _));
        let ring = Rc::new(BlockRing::new(Rc::clone(&self.hall), parts, bells, false));
        drop(self.runtime.spawn(Rc::clone(&ring).run()));
        ring
    }

    fn pass(&self, time: Nanos) {
        let runtime = self.runtime.clone();
        self.executor.block_on(async move { runtime.sleep(time).await });
    }

    /// Performs one request with 4 KiB of data at [`BUFFERS`]; returns its status.
    fn ask(&mut self, (kind, sector): (u32, u64), data: Option<(u32, bool)>) -> u8 {
        let data = data.map(|(length, is_writable)| (BUFFERS, length, is_writable));
        let before = self.guest.answered_count();
        self.guest.request(HEADERS, (kind, sector), data);
        self.pass(Nanos::from_millis(10));
        assert_eq!(self.guest.answered_count(), before + 1, "one answer");
        assert!(self.guest.answered.rung.take() > 0, "the guest is told");
        self.guest.get(HEADERS + 16, 1)[0]
    }
}

fn range(sector: u64, count: u32, flags: u32) -> Vec<u8> {
    [&sector.to_le_bytes()[..], &count.to_le_bytes(), &flags.to_le_bytes()].concat()
}

#[test]
fn a_guest_reads_what_it_wrote_and_zeros_where_it_cleared() {
    let mut scene = scene(false);
    let _ring = scene.ring(0);
    scene.guest.put(BUFFERS, &[7; 4096]);
    assert_eq!(scene.ask((kind::WRITE, 8), Some((4096, false))), status::DONE);
    assert_eq!(scene.ask((kind::FLUSH, 0), None), status::DONE);
    scene.guest.put(BUFFERS, &range(9, 2, 1));
    assert_eq!(scene.ask((kind::WRITE_ZEROES, 0), Some((16, false))), status::DONE);
    assert_eq!(scene.ask((kind::READ, 8), Some((4096, true))), status::DONE);
    let read = scene.guest.get(BUFFERS, 4096);
    let expected = [vec![7; 512], vec![0; 1024], vec![7; 2560]].concat();
    assert!(read == expected);
    assert_eq!(scene.guest.answers().last().unwrap().1, 4097, "data and status");
    assert_eq!(scene.ask((kind::IDENTIFY, 0), Some((20, true))), status::DONE);
    assert_eq!(scene.guest.get(BUFFERS, 6), *b"mail\0\0");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut scene = scene(false);
    let _ring = scene.ring(0);
    let end = VOLUME / 512;
    for (sector, length) in [(end, 512), (end - 1, 1024), (u64::MAX, 512), (0, 511), (0, 0)] {
        let found = scene.ask((kind::READ, sector), Some((length, true)));
        assert_eq!(found, status::FAILED, "{length} bytes at sector {sector}");
    }
    for (first, count, flags, expected) in [
        (0, 1, 1, status::UNSUPPORTED),
        (end, 1, 0, status::FAILED),
        (u64::MAX, 1, 0, status::FAILED),
        (0, 0, 0, status::FAILED),
    ] {
        scene.guest.put(BUFFERS, &range(first, count, flags));
        assert_eq!(scene.ask((kind::DISCARD, 0), Some((16, false))), expected);
    }
    assert_eq!(scene.ask((99, 0), None), status::UNSUPPORTED);
    let mut read_only = self::scene(true);
    let _ring = read_only.ring(0);
    assert_eq!(read_only.ask((kind::WRITE, 0), Some((512, false))), status::FAILED);
    assert_eq!(read_only.ask((kind::READ, 0), Some((512, true))), status::DONE);
}

/// The second write waits for the first, which it overlaps; the read that arrives last waits for
/// neither, but its answer waits for theirs.
#[test]
fn answers_come_in_the_order_of_arrival() {
    let mut scene = scene(false);
    let _ring = scene.ring(0);
    let heads: Vec<u32> = [(kind::WRITE, 0), (kind::WRITE, 0), (kind::READ, 100)]
        .into_iter()
        .enumerate()
        .map(|(number, what)| {
            let data = (BUFFERS, 512, what.0 == kind::READ);
            scene.guest.request(HEADERS + 32 * number as u64, what, Some(data)).into()
        })
        .collect();
    scene.pass(Nanos(1_500));
    let answered: Vec<u32> = scene.guest.answers().into_iter().map(|(head, _)| head).collect();
    assert_eq!(answered, heads[..1], "the read is done, and its answer waits");
    scene.pass(Nanos(1_500));
    let answered: Vec<u32> = scene.guest.answers().into_iter().map(|(head, _)| head).collect();
    assert_eq!(answered, heads);
}

#[test]
fn a_stopped_ring_has_answered_what_it_took_and_continues_there() {
    let mut scene = scene(false);
    let ring = scene.ring(0);
    scene.guest.request(HEADERS, (kind::WRITE, 0), Some((BUFFERS, 512, false)));
    scene.pass(Nanos(1));
    let position = scene.executor.block_on(async move { ring.stop().await });
    assert_eq!((position, scene.guest.answered_count()), (1, 1));
    scene.guest.request(HEADERS, (kind::READ, 0), Some((BUFFERS, 512, true)));
    scene.pass(Nanos::from_millis(10));
    assert_eq!(scene.guest.answered_count(), 1, "no server takes it");
    let _again = scene.ring(position);
    scene.pass(Nanos::from_millis(10));
    assert_eq!(scene.guest.answered_count(), 2);
}

/// If the ring were read again and again, it would keep the server from all other work.
#[test]
fn a_ring_that_claims_too_much_waits_for_its_guest() {
    let mut scene = scene(false);
    let ring = scene.ring(0);
    scene.guest.claim(RING + 1);
    scene.pass(Nanos::from_millis(10));
    assert_eq!(scene.guest.answered_count(), 0);
    scene.guest.claim(0);
    assert_eq!(scene.ask((kind::READ, 0), Some((512, true))), status::DONE);
    assert_eq!(scene.executor.block_on(async move { ring.stop().await }), 1);
}

#[test]
fn nothing_in_guest_memory_stops_the_server() {
    for seed in 0..2_000 {
        let mut noise = Prng::new(Seed(seed));
        let mut scene = scene(false);
        let ring = scene.ring(0);
        for _ in 0..8 {
            offer_noise(&mut scene.guest, &mut noise);
        }
        scene.pass(Nanos::from_millis(10));
        let position = scene.executor.block_on(async move { ring.stop().await });
        assert_eq!(position, scene.guest.answered_count(), "seed {seed}");
        assert_eq!(scene.hall.budget.used(), 0, "seed {seed}");
    }
}

/// A chain with parts anywhere, sometimes cyclic or leaving the table.
fn offer_noise(guest: &mut TestGuest, noise: &mut Prng) {
    let mut header = Vec::new();
    for most in [16, 1, 600, 2] {
        header.extend(&noise.below(most).to_le_bytes()[..4]);
    }
    guest.put(HEADERS, &header);
    let parts: Vec<(u64, u32, bool)> = (0..=noise.below(4))
        .map(|_| {
            let at = match noise.below(4) {
                0 => HEADERS,
                1 => noise.next_u64(),
                2 => MEMORY as u64 - noise.below(64),
                _ => BUFFERS + noise.below(64 << 10),
            };
            (at, u32::try_from(noise.below(9_000)).unwrap(), noise.below(2) == 1)
        })
        .collect();
    guest.offer(&parts);
    if noise.below(4) == 0 {
        let next = u16::try_from(noise.below(u64::from(RING) + 8)).unwrap();
        guest.describe(next % RING, (HEADERS, 16), 1, next);
    }
}

#[test]
fn a_guest_rings_only_for_a_server_that_is_about_to_sleep() {
    let mut scene = scene(false);
    let ring = scene.ring(0);
    ring.is_looked_at(true);
    scene.guest.rings = false;
    scene.pass(Nanos(1));
    assert!(!scene.guest.must_ring() && !ring.has_news(), "nothing is offered");
    for answers in 1..=3 {
        scene.guest.request(HEADERS, (kind::READ, 0), Some((BUFFERS, 512, true)));
        assert!(ring.has_news());
        scene.pass(Nanos::from_millis(1));
        assert_eq!(scene.guest.answered_count(), answers);
        assert!(!scene.guest.must_ring() && !ring.has_news(), "it is taken");
    }
    assert!(!ring.before_sleep() && scene.guest.must_ring());
    // Offered just as the server goes to sleep.
    scene.guest.request(HEADERS, (kind::READ, 0), Some((BUFFERS, 512, true)));
    assert!(ring.before_sleep());
    scene.pass(Nanos::from_millis(1));
    assert_eq!(scene.guest.answered_count(), 4);
    // A ring that claims more than it holds must not keep a thread awake.
    scene.guest.claim(9);
    assert!(ring.has_news());
    scene.pass(Nanos(1));
    assert!(!ring.has_news() && !ring.before_sleep());
}
