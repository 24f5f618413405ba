//! Orders of operators: a volume that moves, a server that stops.

use super::{HOSTS, Pair, guest};

#[test]
fn a_volume_moves_back_and_forth_and_keeps_its_content() {
    for is_backed in [false, true] {
        let Some(mut pair) = Pair::new("mirror-hand-over", is_backed) else { return };
        pair.start(0);
        pair.start(1);
        let server = format!("nats://127.0.0.1:{}", pair.port);
        let mut versions = guest::Versions::new();
        let progress = std::sync::Arc::<guest::Progress>::default();
        for round in 0..4 {
            let source = pair.wait_for_both();
            guest::burst(&pair.address(source), &progress, round, &mut versions);
            let target = HOSTS[1 - source];
            let words = ["cache", "hand-over", "mail", target, "--server", &server];
            let moved = format!("mail: moved from {} to {target} in", HOSTS[source]);
            pair.scene.run(words).expect_code(0).expect_out(&[&moved]);
            pair.scene.run(words).expect_code(0).expect_out(&["already with"]);
            // Through the new owner, and from its cache through the old one.
            for host in [1 - source, source] {
                guest::verify(&pair.address(host), &mut versions);
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
