//! The mail-like mix on this engine and on other embedded engines, each in turn on the same disk.
//!
//! Every engine runs in a separate process, so that the kernel's counters of a process cover one
//! engine. The peers are in `bench/peers`, a separate workspace.

use std::path::Path;

use units::{Bytes, Nanos, Seed};

use crate::folder;
use crate::mix::{self, Mix};
use crate::pairs::{self, Pairs};
use xtask::failure::Failure;
use xtask::shell;

/// The bench command that runs [`alone`].
pub(crate) const COMMAND: &str = "bench-mix";

/// Column headings of a [`Line`](crate::tally::Line).
const HEADINGS: &str = "engine             sessions  operations/s  KB read  KB written  \
                        CPU us  read p50 us  read p99 us  missed";

/// Values of 8 to 10 KiB make this 2 GB, some 30 times the cache.
const MIX: Mix =
    Mix { records: 220_000, cache: Bytes::from_mib(64), span: Nanos::from_secs(15), seed: Seed(1) };

/// The number of sessions for which the goal is stated.
const FEW: &str = "8";
/// Enough sessions to keep most disks busy.
const MANY: &str = "32";

/// This engine's name among the others.
const OURS: &str = "plimsoll";
/// The engine that the goal is measured against, by its name in `bench/peers`.
const RIVAL: &str = "fjall";
/// Other engines measured for comparison.
const OTHERS: [&str; 2] = ["redb", "lmdb"];

/// The goal at few sessions: 10,000 operations per second if the rival reaches 9,400.
const GOAL: f64 = 1.06;

/// The manifest of the other engines' workspace.
const MANIFEST: &str = "bench/peers/Cargo.toml";

/// Measures every engine in a temporary folder below `directory`.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
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
    let build = ["build", "--quiet", "--release", "--locked"];
    let built = shell::run(&[&["cargo"], &build[..], &["--manifest-path", MANIFEST]].concat());
    if let Err(failure) = built {
        measure(&folder, OURS, &[FEW, MANY])?;
        println!("skipped the other engines, which cannot be built here: {failure}");
        return Ok(());
    }
    let pairs = pairs::measure(
        GOAL,
        || measure(&folder, OURS, &[FEW]),
        || measure(&folder, RIVAL, &[FEW]),
    )?;
    for engine in [OURS, RIVAL] {
        measure(&folder, engine, &[MANY])?;
    }
    for engine in OTHERS {
        measure(&folder, engine, &[FEW, MANY])?;
    }
    println!("{}", summary(&pairs));
    Ok(())
}

/// Measures one engine in an empty folder and prints its lines; returns the operations per second
/// of the first.
fn measure(folder: &Path, engine: &str, sessions: &[&str]) -> Result<f64, Failure> {
    let path = folder.display().to_string();
    let records = MIX.records.to_string();
    let cache = MIX.cache.0.to_string();
    let seconds = MIX.span.as_secs_f64().to_string();
    let program = std::env::current_exe().map_err(Failure::of)?;
    let program = program.display().to_string();
    let mut words = if engine == OURS {
        vec![&*program, COMMAND, &path]
    } else {
        let mut words = vec!["cargo", "run", "--quiet", "--release", "--locked"];
        words.extend(["--manifest-path", MANIFEST, "--", engine, &path]);
        words.extend([&*records, &cache, &seconds]);
        words
    };
    words.extend(sessions);
    folder::create(folder)?;
    let printed = shell::capture(&words);
    folder::remove(folder)?;
    let printed = printed?;
    print!("{printed}");
    let rate = printed.lines().find_map(rate_of);
    rate.ok_or_else(|| Failure::new(format!("{engine} printed `{printed}`")))
}

/// Operations per second of a printed [`Line`](crate::tally::Line); `None` for any other line.
fn rate_of(line: &str) -> Option<f64> {
    /// Columns to the right of the rate.
    const BEHIND: usize = 6;
    let mut columns = line.split_whitespace().rev();
    columns.nth(BEHIND)?.parse().ok()
}

/// Measures this program's engine in this process.
pub(crate) fn alone(folder: &Path, sessions: &[&str]) -> Result<(), Failure> {
    let sessions = sessions
        .iter()
        .map(|word| {
            let number = word.parse::<u32>();
            number.map_err(|_| Failure::new(format!("`{word}` is no number of sessions")))
        })
        .collect::<Result<Vec<_>, _>>()?;
    for line in mix::run(folder, &MIX, sessions)? {
        println!("{line}");
    }
    Ok(())
}

/// Medians of the pairs against the goal.
fn summary(pairs: &Pairs) -> String {
    let Pairs { ours, peer, ratio, goal } = pairs;
    let word = if ratio >= goal { "met" } else { "not met" };
    format!(
        "{FEW} sessions, medians: {OURS} {ours:.0} operations/s, {RIVAL} {peer:.0}: {ratio:.3} x \
         (goal of {goal}: {word})"
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Pairs, rate_of, summary};
    use crate::tally::{Line, Tally, Usage};

    #[test]
    fn a_printed_line_gives_its_rate_back() {
        let mut tally = Tally::default();
        (0..3000).for_each(|_| tally.count(false));
        let usage = Usage { read_bytes: 0, written_bytes: 0, user_micros: 0, kernel_micros: 0 };
        let line = Line {
            engine: "an engine, 2".to_owned(),
            sessions: 8,
            tally,
            span: Duration::from_secs(2),
            usage: (usage, usage),
        };
        assert_eq!(rate_of(&line.to_string()), Some(1500.0));
        assert_eq!(rate_of("an error"), None);
    }

    #[test]
    fn a_ratio_below_the_goal_is_said_to_be() {
        let said = |ratio| summary(&Pairs { ours: 120.0, peer: 100.0, ratio, goal: 1.06 });
        assert!(said(1.2).contains("1.200 x (goal of 1.06: met)"));
        assert!(said(1.05).contains("1.050 x (goal of 1.06: not met)"));
    }
}
