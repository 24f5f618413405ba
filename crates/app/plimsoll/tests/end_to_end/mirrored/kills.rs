//! Hosts and the NATS server killed while a guest works: no acknowledged write is lost, nothing
//! stale is read, and the other host takes over in time. `PLIMSOLL_MIRROR_KILLS`, which
//! `cargo xtask mirror-kills` sets, is the number of kills.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use units::{Prng, Seed};

use super::guest::{self, Progress};
use super::{HOSTS, PATIENCE, Pair};

/// Bound on the time from a kill of the owner to the first write that its peer acknowledges.
const TAKES_OVER_WITHIN: Duration = Duration::from_secs(10);

fn kills() -> u64 {
    std::env::var("PLIMSOLL_MIRROR_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(4)
}

/// A pair of which both copies count.
fn ready(name: &str, is_backed: bool) -> Option<Pair> {
    let mut pair = Pair::new(name, is_backed)?;
    pair.start(0);
    pair.start(1);
    pair.wait_for_both();
    Some(pair)
}

/// Waits for `count` more acknowledged writes; how long it took.
pub(super) fn wait_for_writes(pair: &Pair, progress: &Progress, count: u64) -> Duration {
    let begun = Instant::now();
    let before = progress.acknowledged.load(Ordering::Relaxed);
    while progress.acknowledged.load(Ordering::Relaxed) < before + count {
        progress.history.check();
        assert!(begun.elapsed() < PATIENCE, "no write is acknowledged: {}", pair.messages());
        thread::sleep(Duration::from_millis(20));
    }
    begun.elapsed()
}

/// Runs `faults` while a guest works, then reads every block.
fn under_load(pair: &mut Pair, seed: u64, faults: impl FnOnce(&mut Pair, &Progress)) {
    let progress = Arc::<Progress>::default();
    let addresses = [pair.address(0), pair.address(1)];
    thread::scope(|scope| {
        let guest = scope.spawn(|| guest::work(&addresses, &progress, seed));
        let _stops = StopsAtTheEnd(&progress);
        wait_for_writes(pair, &progress, 100);
        faults(pair, &progress);
        wait_for_writes(pair, &progress, 100);
        progress.stop.store(true, Ordering::Relaxed);
        guest.join().unwrap();
    });
    let owner = pair.owner();
    guest::verify(&addresses[owner], &progress.history);
}

/// Ends the guest even if an assertion fails: the scope waits for it.
pub(super) struct StopsAtTheEnd<'a>(pub(super) &'a Progress);

impl Drop for StopsAtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_killed_owner_is_followed_by_its_peer_within_ten_seconds() {
    for is_backed in [false, true] {
        let Some(mut pair) = ready("mirror-takeover", is_backed) else { return };
        under_load(&mut pair, 1, |pair, progress| {
            let owner = pair.wait_for_both();
            pair.kill(owner);
            let took = wait_for_writes(pair, progress, 1);
            assert!(took < TAKES_OVER_WITHIN, "{took:?}: {}", pair.messages());
            assert!(pair.is_owner(1 - owner));
            let data = if is_backed { "device" } else { HOSTS[1 - owner] };
            pair.wait("a copy alone", |pair| pair.status(1 - owner)["data_on"] == data);
        });
    }
}

#[test]
fn kills_of_either_host_and_of_the_server_lose_nothing() {
    for is_backed in [false, true] {
        let Some(mut pair) = ready("mirror-kills", is_backed) else { return };
        let mut prng = Prng::new(Seed(48));
        under_load(&mut pair, 2, |pair, progress| {
            for _ in 0..kills() {
                kill_one(pair, &mut prng);
                wait_for_writes(pair, progress, 20);
            }
        });
    }
}

/// Kills the owner, its peer or the NATS server, and starts it again after a while.
fn kill_one(pair: &mut Pair, prng: &mut Prng) {
    thread::sleep(Duration::from_millis(prng.below(1_500)));
    let most = if prng.percent(50) { 500 } else { 8_000 };
    let down = Duration::from_millis(prng.below(most));
    match prng.below(5) {
        0 => {
            pair.kill_nats();
            thread::sleep(down);
            pair.start_nats();
        }
        1 => {
            pair.kill(0);
            pair.kill(1);
            thread::sleep(down);
            pair.start(0);
            pair.start(1);
        }
        host => {
            let host = usize::from(host < 4) ^ usize::from(pair.is_owner(0));
            pair.kill(host);
            thread::sleep(down);
            pair.start(host);
        }
    }
}
