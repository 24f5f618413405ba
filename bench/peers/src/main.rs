//! Runs the mail-like mix on other embedded engines, with which ours is compared.
//!
//! Each process runs one engine, so that the kernel's counters of the process are the engine's.
//! `cargo xtask bench engine` starts the processes and prints the headings.

mod cold;
mod fjall;
mod lmdb;
mod mix;
mod redb;
#[path = "../../../crates/dev/bench/src/tally.rs"]
mod tally;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use mix::Mix;

/// Any error of an engine, or of the arguments.
pub type Failure = Box<dyn Error + Send + Sync>;

const USAGE: &str = "bench-peers fjall|redb|lmdb DIR RECORDS CACHE_BYTES SECONDS SESSIONS...";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<(), Failure> {
    let [engine, folder, records, cache, seconds, sessions @ ..] = words else {
        return Err(USAGE.into());
    };
    let mix = Mix {
        records: records.parse()?,
        cache_bytes: cache.parse()?,
        span: Duration::from_secs_f64(seconds.parse()?),
        sessions: sessions
            .iter()
            .map(|word| word.parse())
            .collect::<Result<_, _>>()?,
    };
    let folder = Path::new(folder);
    match engine.as_str() {
        "fjall" => mix.run(
            "fjall 3, blobs",
            folder,
            &fjall::open(folder, mix.cache_bytes)?,
        ),
        "redb" => mix.run("redb 4", folder, &redb::open(folder, mix.cache_bytes)?),
        "lmdb" => mix.run("LMDB (heed)", folder, &lmdb::open(folder)?),
        _ => Err(USAGE.into()),
    }
}
