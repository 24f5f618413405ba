//! Manual control of a volume with faults: `faultfs BACKING MOUNT [RULE]...`, where each rule is
//! one argument in quotes. Then it reads commands from standard input: `set RULE [; RULE]...`,
//! `clear`, `count`. Exits at the end of the input.

use std::error::Error;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use testkit::fault_volume::{FaultVolume, Rule, RuleError};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [backing, mount, rules @ ..] = words.as_slice() else {
        say("usage: faultfs BACKING MOUNT [RULE]...");
        return ExitCode::from(2);
    };
    match serve(backing.as_ref(), mount.as_ref(), rules) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&error.to_string());
            ExitCode::from(2)
        }
    }
}

fn serve(backing: &Path, mount: &Path, rules: &[String]) -> Result<(), Box<dyn Error>> {
    let rules: Result<Vec<Rule>, RuleError> = rules.iter().map(|rule| rule.parse()).collect();
    let volume = FaultVolume::mount(backing, mount)?;
    volume.set(rules?);
    say("mounted");
    for line in std::io::stdin().lock().lines() {
        match obey(&volume, line?.trim()) {
            Ok(answer) => say(&answer),
            Err(error) => say(&error.to_string()),
        }
    }
    Ok(())
}

fn obey(volume: &FaultVolume, line: &str) -> Result<String, RuleError> {
    match line.split_once(' ').unwrap_or((line, "")) {
        ("set", rules) => volume.set(rules.split(';').map(str::parse).collect::<Result<_, _>>()?),
        ("clear", "") => volume.set(Vec::new()),
        ("count", "") => {}
        _ => return Ok("set RULE [; RULE]..., clear or count".to_owned()),
    }
    let (faults, flushes) = (volume.injected(), volume.flushes());
    Ok(format!("{faults} faults, {flushes} flushes"))
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
