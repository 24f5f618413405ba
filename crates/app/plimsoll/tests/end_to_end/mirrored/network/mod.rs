//! Two hosts, each in its own network, under faults drawn from a seed: nothing acknowledged is
//! lost, nothing stale is read, and the hosts never serve both. `PLIMSOLL_MIRROR_RUNS`, which
//! `cargo xtask mirror-network` sets, is the number of runs, `PLIMSOLL_MIRROR_FIRST` the first
//! seed, `PLIMSOLL_MIRROR_AT_ONCE` the number of runs side by side.

mod clients;
mod plan;
mod site;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use testkit::fault_volume::FaultVolume;
use xtask::network::{self, Direction};

use self::clients::Clients;
use self::plan::{Fault, Plan, Step, Whom};
use self::site::Site;
use super::guest::{self, Progress};
use super::kills::{StopsAtTheEnd, wait_for_writes};

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// `true`, and said aloud, on a machine without namespaces, or without FUSE.
fn is_impossible() -> bool {
    let no_volume = (!FaultVolume::is_possible()).then_some("volumes with faults need FUSE");
    let missing = network::missing().or(no_volume);
    if let Some(missing) = missing {
        eprintln!("SKIPPED: two hosts in networks of their own: {missing}");
    }
    missing.is_some()
}

/// Carries a plan out; its figures, or `None` on a machine without a NATS server.
fn run(plan: &Plan, seed: u64) -> Option<String> {
    let begun = Instant::now();
    let progress = Arc::<Progress>::default();
    let mut site = Site::new(plan, &progress, seed)?;
    let addresses = [site.pair.address(0), site.pair.address(1)];
    let clients = Clients { addresses, progress: Arc::clone(&progress), seed };
    thread::scope(|scope| {
        let _stops = StopsAtTheEnd(&progress);
        clients.start(scope);
        wait_for_writes(&site.pair, &progress, 50);
        site.suffer();
        site.recover();
    });
    let owner = site.pair.owner();
    // Through the owner, and from its cache through the other host.
    for host in [owner, 1 - owner] {
        guest::verify(&clients.addresses[host], &progress.history);
    }
    let (reads, writes) = progress.history.counts();
    let (epochs, [in_copy, in_move]) = (site.check_epochs(), site.within);
    Some(format!(
        "held, {} s, {writes} writes, {reads} reads, {epochs} epochs, {in_copy} faults in a \
         resynchronisation, {in_move} in a hand-over",
        begun.elapsed().as_secs()
    ))
}

/// The worst case of a lease: its holder is paused until the other host serves, wakes, and hears
/// nothing of that host.
#[test]
fn an_owner_that_wakes_up_answers_nothing_stale() {
    if is_impossible() {
        return;
    }
    let pause = Fault::Pause(Whom::Owner);
    let deaf = Fault::Cut(Whom::Owner, Some(Direction::FromServer));
    let steps = vec![
        (0, Step::Begin(pause)),
        (500, Step::Begin(deaf)),
        (8_000, Step::End(pause)),
        (9_000, Step::End(deaf)),
    ];
    run(&Plan { is_backed: false, steps, ..Plan::draw(0) }, u64::MAX);
}

#[test]
#[ignore = "takes an hour; cargo xtask mirror-network"]
fn partitions_pauses_and_failing_flash_lose_nothing() {
    if is_impossible() {
        return;
    }
    let first = number("PLIMSOLL_MIRROR_FIRST", 0);
    let end = first + number("PLIMSOLL_MIRROR_RUNS", 1);
    let (next, failed) = (AtomicU64::new(first), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                return;
            }
            let plan = Plan::draw(seed);
            let ended = catch_unwind(AssertUnwindSafe(|| run(&plan, seed)));
            let said = ended.as_ref().map_or("FAILED", |said| said.as_deref().unwrap_or("SKIPPED"));
            eprintln!("run {seed}: {said}; {}", plan.words());
            if ended.is_err() {
                failed.lock().unwrap().push(seed);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..number("PLIMSOLL_MIRROR_AT_ONCE", 4) {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "runs {failed:?} failed");
}
