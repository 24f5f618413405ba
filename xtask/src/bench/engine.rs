//! The mail-like mix on our engine and on other embedded engines, each in turn on the same disk.
//!
//! The others live in `bench/peers`, a workspace of its own, and run as a process each, so that
//! what the kernel counts for a process is one engine's.

use std::path::Path;

use units::{Bytes, Nanos, Seed};

use super::folder;
use super::mix::{self, Mix};
use crate::failure::Failure;
use crate::shell;

/// Above the columns of a [`Line`](super::tally::Line).
const HEADINGS: &str = "engine             sessions  operations/s  KB read  KB written  \
                        CPU us  read p50 us  read p99 us  missed";

/// Values of 8 to 10 KiB make this 2 GB, some 30 times the cache.
const MIX: Mix = Mix {
    records: 220_000,
    cache: Bytes::from_mib(64),
    span: Nanos::from_secs(15),
    sessions: &[8, 32],
    seed: Seed(1),
};

/// The other engines, as `bench/peers` calls them.
const PEERS: [&str; 3] = ["fjall", "redb", "lmdb"];

/// The goal: our operations per second at 8 sessions.
const GOAL: f64 = 10_000.0;

/// Measures every engine in a folder of its own below `directory`, which is removed.
pub fn run(directory: &Path) -> Result<(), Failure> {
    let folder = directory.join("plimsoll-bench-engine");
    println!(
        "{} records of 8-10 KiB, cache {}, 30 % of updates durable, {} s each; bytes and CPU per \
         operation",
        MIX.records,
        MIX.cache,
        MIX.span.as_secs_f64(),
    );
    println!("{HEADINGS}");
    folder::remove(&folder)?;
    folder::create(&folder)?;
    let lines = mix::run(&folder, &MIX);
    folder::remove(&folder)?;
    let lines = lines?;
    for line in &lines {
        println!("{line}");
    }
    let reached = peers(&folder);
    if let Some(first) = lines.first() {
        let word = if first.rate() >= GOAL {
            "met"
        } else {
            "not met"
        };
        println!("goal of {GOAL} operations/s at 8 sessions: {word}");
    }
    reached
}

/// The other engines. Where they cannot be built, ours has been measured all the same.
fn peers(folder: &Path) -> Result<(), Failure> {
    let manifest = "bench/peers/Cargo.toml";
    let build = [
        "cargo",
        "build",
        "--quiet",
        "--release",
        "--locked",
        "--manifest-path",
        manifest,
    ];
    if let Err(failure) = shell::run(&build) {
        println!("skipped the other engines, which cannot be built here: {failure}");
        return Ok(());
    }
    let path = folder.display().to_string();
    let records = MIX.records.to_string();
    let cache = MIX.cache.0.to_string();
    let seconds = MIX.span.as_secs_f64().to_string();
    let sessions: Vec<String> = MIX.sessions.iter().map(u32::to_string).collect();
    for peer in PEERS {
        folder::create(folder)?;
        let mut words = vec!["cargo", "run", "--quiet", "--release", "--locked"];
        words.extend(["--manifest-path", manifest, "--", peer, &path]);
        words.extend([records.as_str(), &cache, &seconds]);
        words.extend(sessions.iter().map(String::as_str));
        let ran = shell::run(&words);
        folder::remove(folder)?;
        ran?;
    }
    Ok(())
}
