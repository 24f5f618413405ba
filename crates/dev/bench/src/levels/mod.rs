//! The two levels of a simulation beside each other, over drawn plans and arrays: what one says of
//! reads, writes and the log, the other must say as well, or one of them refuses the plan.

mod draw;
mod figures;

use std::fs;
use std::path::Path;

use units::{Prng, Seed};
use xtask::failure::Failure;
use xtask::shell;

use crate::folder;
use draw::DrawnPlan;
use figures::{LevelFigures, compared};

/// Plans that both levels simulate.
const COMPARED: usize = 40;

/// Draws until then; most of them are refused by one level.
const MOST_DRAWS: usize = 1_000;

/// Compares the levels and prints every figure. Fails if any mean is further apart than it may be.
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

/// Prints the row of every plan that both levels simulate; how many of these are too far apart.
fn rows(folder: &Path) -> Result<usize, Failure> {
    let mut prng = Prng::new(Seed(42));
    let (mut pairs, mut refused, mut apart) = (0, 0, 0);
    while pairs < COMPARED && pairs + refused < MOST_DRAWS {
        let drawn = DrawnPlan::draw(&mut prng);
        let Some((engine, operations)) = both(&drawn, folder)? else {
            refused += 1;
            continue;
        };
        pairs += 1;
        let rows = compared(&engine, &operations);
        print!("{drawn}");
        for row in &rows {
            print!("  {row}");
        }
        println!();
        apart += usize::from(rows.iter().any(|row| !row.is_near()));
    }
    println!("{pairs} plans simulated by both levels, {refused} refused by one, {apart} apart");
    if pairs < COMPARED {
        return Err(Failure::new(format!("only {pairs} plans are taken by both levels")));
    }
    Ok(apart)
}

/// What levels 1 and 2 say of a plan; `None` if either refuses it. Level 2 is fast, so it is asked
/// first.
fn both(drawn: &DrawnPlan, folder: &Path) -> Result<Option<(LevelFigures, LevelFigures)>, Failure> {
    let plan = folder.join("plan.toml");
    fs::write(&plan, drawn.text())
        .map_err(|error| Failure::new(format!("{}: {error}", plan.display())))?;
    let Some(operations) = level("2", &plan, drawn, &folder.join("2"))? else {
        return Ok(None);
    };
    let engine = level("1", &plan, drawn, &folder.join("1"))?;
    Ok(engine.map(|engine| (engine, operations)))
}

/// What one level says, with its files in `out`; `None` if it refuses the plan.
fn level(
    number: &str,
    plan: &Path,
    drawn: &DrawnPlan,
    out: &Path,
) -> Result<Option<LevelFigures>, Failure> {
    folder::remove(out)?;
    let program = shell::root().join("target/release/plimsoll").display().to_string();
    let (plan, to) = (plan.display().to_string(), out.display().to_string());
    let fixed = [&*program, "--quiet", "simulate", &plan, "--level", number, "-o", &to];
    let options = drawn.options();
    let words: Vec<&str> = fixed.into_iter().chain(options.iter().map(String::as_str)).collect();
    // The status is that of the verdict, which is not asked for here.
    let output = shell::command(&words).output();
    let output = output.map_err(|error| Failure::new(format!("{program}: {error}")))?;
    let report = out.join("report.json");
    if report.exists() {
        return LevelFigures::read(&report).map(Some);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("cannot simulate this plan") || said.contains("share of the array") {
        return Ok(None);
    }
    Err(Failure::new(format!("`{}`: {said}", words.join(" "))))
}
