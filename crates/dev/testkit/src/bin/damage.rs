//! The damage table: `damage [--times N] [--seed S]` injects every kind of damage N times and
//! prints how `check` classified it; fails if it missed or misnamed any.

use std::io::Write as _;
use std::process::ExitCode;

use testkit::damage::{DamageOptions, run};
use units::Seed;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut options = DamageOptions { seed: Seed(1), times: 10_000 };
    for pair in arguments.chunks(2) {
        match (pair[0].as_str(), pair.get(1).and_then(|value| value.parse().ok())) {
            ("--times", Some(times)) => options.times = times,
            ("--seed", Some(seed)) => options.seed = Seed(seed),
            _ => {
                say("usage: damage [--times N] [--seed S]");
                return ExitCode::from(2);
            }
        }
    }
    match run(&options) {
        Ok(table) => {
            say(&table.to_string());
            if table.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(problem) => {
            say(&problem);
            ExitCode::from(2)
        }
    }
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
