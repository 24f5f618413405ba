//! Compares the two levels of a simulation over randomly drawn plans and arrays: both levels must
//! agree on reads, writes and the log, unless one of them refuses the plan and gives a reason.

mod draw;
mod figures;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use units::{Prng, Seed};
use xtask::failure::Failure;
use xtask::shell;

use crate::folder;
use draw::DrawnPlan;
use figures::{ComparedKind, ComparedTally, LevelFigures, compared};

/// Number of plans to simulate at both levels.
const COMPARED: usize = 40;

/// Maximum number of plans drawn to find them.
const MOST_DRAWS: usize = 1_000;

/// Compares the levels and prints every figure. Fails if any figures differ by too much.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    shell::run(&["cargo", "build", "-q", "--release", "-p", "plimsoll"])?;
    let own = directory.join("plimsoll-bench-levels");
    folder::remove(&own)?;
    folder::create(&own)?;
    let apart = rows(&own);
    folder::remove(&own)?;
    match apart? {
        0 => Ok(()),
        apart => Err(Failure::new(format!("{apart} of the plans are too far apart"))),
    }
}

/// Prints the row of every plan that both levels simulate, and how many each level refused; returns
/// how many differ by too much.
fn rows(folder: &Path) -> Result<usize, Failure> {
    let mut prng = Prng::new(Seed(42));
    let (mut pairs, mut draws, mut apart) = (0, 0, 0);
    let mut refused: BTreeMap<LevelRefusal, usize> = BTreeMap::new();
    let mut tally = ComparedTally::default();
    while pairs < COMPARED && draws < MOST_DRAWS {
        draws += 1;
        let drawn = DrawnPlan::draw(&mut prng);
        match both(&drawn, "1", folder)? {
            Err(refusal) => *refused.entry(refusal).or_default() += 1,
            Ok((engine, operations)) => {
                pairs += 1;
                let mut rows = compared(&[engine], &[operations]);
                if rows.iter().any(|row| !row.is_near()) {
                    rows = repeated(&drawn, folder)?;
                }
                print!("{drawn}");
                for row in &rows {
                    print!("  {row}");
                }
                println!();
                apart += usize::from(rows.iter().any(|row| !row.is_near()));
                tally.add(&rows);
            }
        }
    }
    print!("{tally}");
    println!("{pairs} of {draws} drawn plans simulated by both levels, {apart} of them apart");
    for (refusal, count) in &refused {
        println!("refused by level {}: {count}, {}", refusal.level, refusal.why);
    }
    if pairs < COMPARED {
        return Err(Failure::new(format!("only {pairs} plans are taken by both levels")));
    }
    Ok(apart)
}

/// The rows of a plan, as medians over three seeds: the plan's and two more.
fn repeated(drawn: &DrawnPlan, folder: &Path) -> Result<Vec<ComparedKind>, Failure> {
    let (mut engines, mut operations) = (Vec::new(), Vec::new());
    for seed in ["1", "2", "3"] {
        let both = both(drawn, seed, folder)?.map_err(|refusal| Failure::new(refusal.why))?;
        engines.push(both.0);
        operations.push(both.1);
    }
    Ok(compared(&engines, &operations))
}

/// Why a level does not simulate a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LevelRefusal {
    level: &'static str,
    why: &'static str,
}

/// Parts of the messages with which a level refuses a plan, and the reason that each gives.
const REFUSALS: [(&str, &str); 5] = [
    ("would shrink", "databases would shrink more than 4,096 times"),
    ("cache answers more", "databases would shrink to less than 32 of the least engine cache"),
    ("sends every read", "the engine's cache holds more than an eighth of a database"),
    ("wait for each other's", "sessions wait for each other's pages"),
    ("share of the array", "the array has no room"),
];

impl LevelRefusal {
    /// The refusal in `said`, the output of a level, if there is one.
    fn of(level: &'static str, said: &str) -> Option<Self> {
        let found = REFUSALS.iter().find(|(part, _)| said.contains(part));
        found.map(|&(_, why)| Self { level, why })
    }
}

type BothLevels = (LevelFigures, LevelFigures);

/// Results of levels 1 and 2 for a plan, or the level that refuses it. Level 2 is fast, so it runs
/// first.
fn both(
    drawn: &DrawnPlan,
    seed: &str,
    folder: &Path,
) -> Result<Result<BothLevels, LevelRefusal>, Failure> {
    let plan = folder.join("plan.toml");
    fs::write(&plan, drawn.text())
        .map_err(|error| Failure::new(format!("{}: {error}", plan.display())))?;
    let operations = match level("2", (&plan, seed), drawn, &folder.join("2"))? {
        Ok(operations) => operations,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let engine = level("1", (&plan, seed), drawn, &folder.join("1"))?;
    Ok(engine.map(|engine| (engine, operations)))
}

/// The result of one level, with its files in `out`, or its refusal of the plan.
fn level(
    number: &'static str,
    (plan, seed): (&Path, &str),
    drawn: &DrawnPlan,
    out: &Path,
) -> Result<Result<LevelFigures, LevelRefusal>, Failure> {
    folder::remove(out)?;
    let program = shell::root().join("target/release/plimsoll").display().to_string();
    let (plan, to) = (plan.display().to_string(), out.display().to_string());
    let fixed =
        [&*program, "--quiet", "simulate", &plan, "--level", number, "--seed", seed, "-o", &to];
    let options = drawn.options();
    let words: Vec<&str> = fixed.into_iter().chain(options.iter().map(String::as_str)).collect();
    // The exit status reflects the verdict, which does not matter here.
    let output = shell::command(&words).output();
    let output = output.map_err(|error| Failure::new(format!("{program}: {error}")))?;
    let journal = out.join("record.jsonl");
    if out.join("report.json").exists() {
        return LevelFigures::read(&journal).map(Ok);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    LevelRefusal::of(number, &said)
        .map(Err)
        .ok_or_else(|| Failure::new(format!("`{}`: {said}", words.join(" "))))
}
