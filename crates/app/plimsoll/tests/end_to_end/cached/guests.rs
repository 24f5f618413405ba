//! Guests of the same host, whose requests lie in memory that they share.

use std::fs;

use testkit::guest_ring::{GuestRequest, GuestRing, REQUEST_BYTES};

use super::{Served, scene};
use crate::scene::Scene;

const SLOTS: u16 = 16;

fn served(scene: &Scene) -> Served<'_> {
    let words = ["cache", "serve", "flash.img", "--volume", "mail=disk.img", "--listen"];
    let sockets = ["unix:nbd.sock", "--vhost-user", "mail=guest.sock"];
    let mut served = Served::with(scene, [&words[..], &sockets].concat());
    served.wait_for_socket("guest.sock");
    served
}

/// First byte of the request of a slot.
fn place(slot: u16) -> u64 {
    u64::from(slot) * 3 * REQUEST_BYTES as u64
}

fn all_answered(ring: &mut GuestRing) {
    let mut left: Vec<u16> = (0..SLOTS).collect();
    while !left.is_empty() {
        for slot in ring.answers().unwrap() {
            left.retain(|other| *other != slot);
        }
    }
}

/// Reads every slot's place; whether each holds what its write put there.
fn expect_written(ring: &mut GuestRing) {
    let reads: Vec<_> = (0..SLOTS).map(|slot| (slot, GuestRequest::Read(place(slot)))).collect();
    for slot in 0..SLOTS {
        ring.fill(slot, &vec![0; REQUEST_BYTES]).unwrap();
    }
    ring.offer(&reads).unwrap();
    all_answered(ring);
    for slot in 0..SLOTS {
        let expected = u8::try_from(slot).unwrap() + 1;
        assert!(ring.data(slot).unwrap().iter().all(|byte| *byte == expected), "slot {slot}");
    }
}

#[test]
fn a_guest_reads_and_writes_in_its_own_memory_and_outlives_a_killed_server() {
    let scene = scene("cache-guest");
    let served_first = served(&scene);
    let (socket, memory) = (scene.path("guest.sock"), scene.path("memory"));
    let mut ring = GuestRing::open(&socket, &memory).unwrap();
    for slot in 0..SLOTS {
        ring.fill(slot, &vec![u8::try_from(slot).unwrap() + 1; REQUEST_BYTES]).unwrap();
    }
    let writes: Vec<_> = (0..SLOTS).map(|slot| (slot, GuestRequest::Write(place(slot)))).collect();
    ring.offer(&writes).unwrap();
    all_answered(&mut ring);
    expect_written(&mut ring);
    assert_eq!(served_first.status()["clients"], 1);
    served_first.kill();
    // No server is there to answer it yet.
    ring.offer(&[(0, GuestRequest::Read(place(5)))]).unwrap();
    let again = served(&scene);
    let mut ring = ring.reopen(&socket).unwrap();
    assert_eq!(ring.answers().unwrap(), [0]);
    assert!(ring.data(0).unwrap().iter().all(|byte| *byte == 6));
    expect_written(&mut ring);
    drop(ring);
    assert_eq!(again.stop(), 0);
    let disk = fs::read(scene.path("disk.img")).unwrap();
    let at = usize::try_from(place(7)).unwrap();
    assert!(disk[at..at + REQUEST_BYTES].iter().all(|byte| *byte == 8), "written through");
}
