//! A database after hours of load is read by strangers, who must see what we see.
//!
//! `PLIMSOLL_LOAD_SECONDS` says how long the load lasts, three seconds by default, and
//! `PLIMSOLL_LOAD_IOPS` the I/Os a second that it is held at; `cargo xtask soak` sets them.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test ends at the first surprise, and says what the readers saw"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use testkit::peers::{
    LongValues, PythonReader, PythonReaders, TableDigest, read_with_libesedb, read_with_ours,
};

const DEFAULT_SECONDS: &str = "3";

/// About how many long values libesedb is asked for after a load at full speed: each takes it
/// milliseconds, the more the larger the tree. After a load that was held, all of them.
const FOLLOWED: u64 = 500;

/// A folder of this test, removed at its end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // A scratch folder left behind does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Scratch {
    fn new() -> Self {
        let name = format!("load-{}", std::process::id());
        let scratch = Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
        fs::create_dir_all(&scratch.0).unwrap();
        scratch
    }

    fn plimsoll(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        command.args(words).current_dir(&self.0).output().unwrap()
    }

    fn succeed(&self, words: &[&str]) {
        let output = self.plimsoll(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
    }

    /// A run to its end. A short one proves nothing about the disk, and a slow disk fails it; the
    /// bytes must be right all the same.
    fn load(&self) {
        let output = self.plimsoll(&["run", "plan.toml", "-o", "run"]);
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(told.contains("Damaged pages   0 "), "{output:?}");
    }
}

#[test]
fn strangers_see_every_row_after_a_load() {
    let seconds = std::env::var("PLIMSOLL_LOAD_SECONDS");
    let seconds = seconds.as_deref().unwrap_or(DEFAULT_SECONDS);
    let iops = std::env::var("PLIMSOLL_LOAD_IOPS").ok();
    let target = iops.as_deref().map(|iops| format!("target_iops = {iops}\n"));
    let target = target.unwrap_or_default();
    let scratch = Scratch::new();
    let plan = format!(
        "seed = 11\n[databases]\nfolders = [\"{}\"]\nsize = \"32MiB\"\n\
         [engine]\ncache_minimum = \"2MiB\"\ncache_maximum = \"4MiB\"\n\
         [workload]\nthreads = 2\n{target}\
         [test]\nduration = \"{seconds}s\"\nwarm_up_limit = \"1s\"\ninterval = \"1s\"\n",
        scratch.0.display()
    );
    fs::write(scratch.0.join("plan.toml"), plan).unwrap();
    scratch.succeed(&["prepare", "plan.toml"]);
    scratch.load();
    let file = scratch.0.join("Plimsoll001.edb");
    scratch.succeed(&["check", "Plimsoll001.edb"]);
    scratch.succeed(&["verify", "Plimsoll001.edb"]);
    let bytes = fs::read(&file).unwrap();
    let ours = read_with_ours(&bytes, trial::messages::TABLE, LongValues::Follow).unwrap();
    println!("after {seconds} s of load, {}", told(&ours));
    if let Some(python) = PythonReaders::from_environment("strangers_see_every_row_after_a_load") {
        for reader in [PythonReader::Dissect, PythonReader::Impacket] {
            agree(&ours, &python.read(reader, &file, trial::messages::TABLE).unwrap());
        }
    }
    let sample = if iops.is_some() {
        LongValues::Follow
    } else {
        LongValues::EveryNth((ours.records.count / FOLLOWED).max(1).try_into().unwrap())
    };
    let ours = read_with_ours(&bytes, trial::messages::TABLE, sample).unwrap();
    agree(&ours, &read_with_libesedb(&file, trial::messages::TABLE, sample).unwrap());
}

fn agree(ours: &TableDigest, theirs: &TableDigest) {
    println!("{}", told(theirs));
    assert_eq!(ours.differences(theirs), Vec::<String>::new());
}

fn told(digest: &TableDigest) -> String {
    let long_values = digest.long_values.as_ref().map_or_else(
        || "long values not followed".to_owned(),
        |values| format!("{} long values {}", values.count, values.xxh3_128),
    );
    format!(
        "{}: {} rows {}, {long_values}",
        digest.reader, digest.records.count, digest.records.xxh3_128
    )
}
