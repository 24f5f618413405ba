//! Orders of operators: a volume that moves, a server that stops.

use std::sync::Arc;

use device::Durability;
use device_os::{Backend, World};
use units::Nanos;

use super::history::History;
use super::{HOSTS, Pair, guest};

#[test]
fn a_volume_moves_back_and_forth_and_keeps_its_content() {
    for is_backed in [false, true] {
        let Some(mut pair) = Pair::new("mirror-hand-over", is_backed) else { return };
        pair.start(0);
        pair.start(1);
        let server = pair.server();
        let progress = std::sync::Arc::<guest::Progress>::default();
        for round in 0..4 {
            let source = pair.wait_for_both();
            guest::burst(&pair.address(source), &progress, round);
            let target = HOSTS[1 - source];
            let words = ["cache", "hand-over", "mail", target, "--server", &server];
            let moved = format!("mail: moved from {} to {target} in", HOSTS[source]);
            pair.scene.run(words).expect_code(0).expect_out(&[&moved]);
            pair.scene.run(words).expect_code(0).expect_out(&["already with"]);
            // Through the new owner, and from its cache through the old one.
            for host in [1 - source, source] {
                guest::verify(&pair.address(host), &progress.history);
            }
        }
    }
}

#[test]
fn a_server_that_stops_hands_the_volume_over_at_once() {
    let Some(mut pair) = Pair::new("mirror-stop", false) else { return };
    pair.start(0);
    pair.start(1);
    let owner = pair.wait_for_both();
    let begun = std::time::Instant::now();
    let flash = format!("{}.flash", HOSTS[owner]);
    pair.scene.run(["cache", "drain", &flash, "--now"]).expect_code(0);
    pair.wait("the peer", |pair| pair.is_owner(1 - owner));
    assert!(begun.elapsed().as_secs() < 4, "sooner than the lease: {:?}", begun.elapsed());
}

/// A machine that is started again on the other host must not meet writes of its earlier life.
#[test]
fn waiting_writes_of_a_client_that_has_left_are_never_carried_out() {
    for is_backed in [false, true] {
        let Some(mut pair) = Pair::new("mirror-left", is_backed) else { return };
        pair.start(0);
        pair.start(1);
        let (source, history) = (pair.wait_for_both(), Arc::<History>::default());
        // Writes on the host that does not serve wait for it.
        write_once(&pair.address(1 - source), &history, false);
        write_once(&pair.address(source), &history, true);
        let (target, server) = (HOSTS[1 - source], pair.server());
        pair.scene.run(["cache", "hand-over", "mail", target, "--server", &server]).expect_code(0);
        std::thread::sleep(std::time::Duration::from_millis(200));
        guest::verify(&pair.address(1 - source), &history);
    }
}

/// A client that writes a block, waits for the answer or for a moment, and leaves.
fn write_once(address: &str, history: &Arc<History>, waits: bool) {
    let world = World::new(Backend::Auto).unwrap();
    let device = guest::open(address, &world).unwrap();
    let write = guest::write(&*device, history, (5, 1), Durability::Volatile);
    if waits {
        assert!(world.executor().block_on(write));
    } else {
        let runtime = world.executor().runtime();
        world.executor().block_on(async move {
            runtime.sleep(Nanos::from_millis(300)).await;
            drop(write);
        });
    }
}
