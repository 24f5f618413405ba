//! A guest under fio's verification that moves between two QEMU machines repeatedly, while its
//! volume moves between the two hosts of `cache serve --mirror`.

mod site;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use xtask::failure::Failure;

use self::site::{HOSTS, Site};
use super::machine::{Machine, tail};
use super::tools::is_equipped;

/// Number of moves of the guest and its volume.
const MOVES: usize = 20;

/// Time limit for everything except fio's passes.
const PATIENCE: Duration = Duration::from_mins(1);

/// Time limit for a few of fio's passes on a busy machine.
const PASSES_WITHIN: Duration = Duration::from_mins(4);

/// Number of reads for measuring a hit ratio: those of one pass.
const READS: u64 = 6_144;

/// Percentage points by which a hit ratio may fall with a move.
const LOSS: f64 = 10.0;

/// Runs the proof, which takes about ten minutes.
pub(crate) fn moved() -> Result<(), Failure> {
    let tools = [("/usr/bin/fio", "fio"), ("/usr/sbin/nats-server", "nats-server")];
    if !is_equipped(&tools) {
        return Ok(());
    }
    let begun = Instant::now();
    let site = Site::new()?;
    let (mut guest, mut host) = (site.machine(0, 0, false)?, 0);
    guest.wait("a warm cache", PASSES_WITHIN, |said| passes(said) >= 4)?;
    let (mut said, mut losses) = (String::new(), Vec::new());
    for number in 1..=MOVES {
        let before = hit_ratio(&site, host)?;
        let mut next = site.machine(number, 1 - host, true)?;
        // Once QEMU answers this, it is ready to receive the state of the other machine.
        next.order("query-status", &json!({}))?;
        let downtime = migrate(&site, &mut guest, number, 1 - host)?;
        guest.kill();
        said += &guest.console();
        (guest, host) = (next, 1 - host);
        let after = hit_ratio(&site, host)?;
        guest.wait("a pass of fio", PASSES_WITHIN, |said| passes(said) >= 1 || is_wrong(said))?;
        judge(&guest.said(), &[])?;
        losses.push(before - after);
        println!(
            "move {number} to {}: {downtime} ms without the guest; hit ratio {before:.1} % before, \
             {after:.1} % after",
            HOSTS[host]
        );
    }
    guest.kill();
    said += &guest.console();
    judge(&said, &losses)?;
    println!(
        "{MOVES} moves, {} passes of fio, 0 mismatches; {} s",
        passes(&said),
        begun.elapsed().as_secs()
    );
    Ok(())
}

/// Moves the guest to the waiting machine, and the volume with it; returns the milliseconds in
/// which neither machine ran.
fn migrate(site: &Site, guest: &mut Machine, number: usize, host: usize) -> Result<Value, Failure> {
    let pausing = json!([{ "capability": "pause-before-switchover", "state": true }]);
    guest.order("migrate-set-capabilities", &json!({ "capabilities": pausing }))?;
    let limits = json!({ "max-bandwidth": 1_u64 << 30, "downtime-limit": 2_000 });
    guest.order("migrate-set-parameters", &limits)?;
    guest.order("migrate", &json!({ "uri": format!("unix:{}.incoming", site::name(number)) }))?;
    wait_for(guest, "pre-switchover")?;
    // Both orders are documented: the volume may move while the guest is paused, or after the guest
    // has moved.
    let is_first = number % 2 == 1;
    if is_first {
        site.hand_over(host)?;
    }
    guest.order("migrate-continue", &json!({ "state": "pre-switchover" }))?;
    let ended = wait_for(guest, "completed")?;
    if !is_first {
        site.hand_over(host)?;
    }
    Ok(ended["downtime"].clone())
}

/// Waits until a migration has reached `state`; returns QEMU's report.
fn wait_for(guest: &mut Machine, state: &str) -> Result<Value, Failure> {
    let limit = Instant::now() + PATIENCE;
    loop {
        let report = guest.order("query-migrate", &json!({}))?;
        if report["status"] == state {
            return Ok(report);
        }
        if report["status"] == "failed" || Instant::now() > limit {
            return Err(Failure::new(format!("a migration does not come to {state}: {report}")));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Percentage of the next reads on a host that its cache answers.
fn hit_ratio(site: &Site, host: usize) -> Result<f64, Failure> {
    let (limit, first) = (Instant::now() + PASSES_WITHIN, site.reads(host)?);
    loop {
        let [reads, hits] = site.reads(host)?;
        if reads >= first[0] + READS {
            let [reads, hits] = [reads - first[0], hits - first[1]];
            return Ok(f64::from(u32::try_from(hits * 10_000 / reads).unwrap_or(0)) / 100.0);
        }
        if Instant::now() > limit {
            return Err(Failure::new(format!("the guest on {} reads nothing", HOSTS[host])));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Number of fio's passes that read back everything they wrote.
fn passes(said: &str) -> usize {
    said.lines().filter(|line| line.starts_with("pass ") && line.ends_with(" whole")).count()
}

/// `true` if the guest reports that a pass failed because of a mismatch or a disk error.
fn is_wrong(said: &str) -> bool {
    [" failed\n", "I/O error", "verify:"].iter().any(|text| said.contains(text))
}

/// Checks the guest's messages, and the losses of hit ratio in percentage points, against the
/// limits.
fn judge(said: &str, losses: &[f64]) -> Result<(), Failure> {
    if is_wrong(said) {
        return Err(Failure::new(format!(
            "the guest read what it had not written:\n{}",
            tail(said)
        )));
    }
    let high = losses.iter().filter(|loss| **loss > LOSS).count();
    if high > 0 {
        return Err(Failure::new(format!(
            "the hit ratio fell by more than {LOSS} points in {high} of {} moves",
            losses.len()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{judge, passes};

    #[test]
    fn a_mismatch_or_a_cold_cache_fails() {
        let said = "pass 1 whole\npass 2 whole\n";
        assert_eq!(passes(said), 2);
        assert!(judge(said, &[-3.0, 9.9]).is_ok());
        assert!(judge(said, &[0.0, 10.1]).is_err());
        for line in ["verify: bad magic", "pass 3 failed", "I/O error, dev vda"] {
            assert!(judge(&format!("{said}{line}\n"), &[]).is_err(), "{line}");
        }
    }
}
