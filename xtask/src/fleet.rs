//! Tests a fleet in network namespaces of this machine: a controller, a server and hosts, with
//! links that are cut, programs that are killed, disks that fail, and hosts lost on purpose.

mod cases;
mod certificate;
mod design;
mod network;
mod reports;
mod volume;
mod world;

use std::time::{Duration, Instant};

use xtask::failure::Failure;
use xtask::shell;

use crate::windows;
use cases::{CASES, Case};
use world::{Fleet, Site};

/// The cases to run, and how often.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted<'a> {
    cases: Vec<&'a str>,
    times: u32,
    /// Folder for the files of the hosts and the server.
    folder: &'a str,
    /// Folder of programs already built.
    programs: Option<&'a str>,
}

/// Runs the named cases, or all of them, and prints a line for each. `mixed` instead runs a fleet
/// of two systems, under Wine.
pub(crate) fn run(words: &[&str]) -> Result<(), Failure> {
    if words == ["mixed"] {
        return windows::mixed_fleet();
    }
    let wanted = Wanted::of(words)?;
    if let Some(missing) = missing() {
        println!("SKIPPED: fleet: {missing}");
        return Ok(());
    }
    let programs = wanted.programs.unwrap_or("target/debug");
    if wanted.programs.is_none() {
        shell::run(&["cargo", "build", "-q", "-p", "plimsoll"])?;
        shell::run(&["cargo", "build", "-q", "-p", "testkit", "--bin", "faultfs"])?;
    }
    let site = Site::new(network::new()?, (wanted.folder, programs))?;
    println!("{:<14} {:>7} {:>8}  result", "proof", "time", "seconds");
    let mut complaints = Vec::new();
    for case in CASES.iter().filter(|case| wanted.includes(case.name)) {
        let times = wanted.times.min(case.most);
        for time in 1..=times {
            complaints.extend(prove(case, (time, times), &site));
        }
    }
    if complaints.is_empty() {
        return Ok(());
    }
    Err(Failure::list("a fleet did not do what it must:", &complaints))
}

/// Runs a case once and prints its line; returns the complaint if it failed.
fn prove(case: &Case, (time, times): (u32, u32), site: &Site) -> Option<String> {
    let began = Instant::now();
    let result = Fleet::new(site, case.name, &case.design).and_then(|mut of| (case.run)(&mut of));
    let (held, said) = match &result {
        Ok(said) => ("held", said.clone()),
        Err(why) => ("FAILED", why.to_string()),
    };
    let seconds = began.elapsed().as_secs();
    println!("{:<14} {time:>3}/{times:<3} {seconds:>8}  {held}: {said}", case.name);
    result.err().map(|why| format!("{}: {why}", case.name))
}

impl<'a> Wanted<'a> {
    fn of(words: &[&'a str]) -> Result<Self, Failure> {
        let mut wanted = Self { folder: "target/fleet", times: 1, ..Self::default() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if *word == "--times" {
                let times = words.next().and_then(|word| word.parse().ok());
                wanted.times = times.filter(|times| *times > 0).ok_or_else(|| {
                    Failure::new("`--times` needs a number of attempts, such as `--times 20`")
                })?;
            } else if *word == "--in" {
                wanted.folder = words
                    .next()
                    .ok_or_else(|| Failure::new("`--in` needs a folder, such as `/mnt/disk1`"))?;
            } else if *word == "--programs" {
                wanted.programs = Some(words.next().ok_or_else(|| {
                    Failure::new("`--programs` needs the folder of plimsoll and faultfs")
                })?);
            } else if CASES.iter().any(|case| case.name == *word) {
                wanted.cases.push(word);
            } else {
                let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
                let names = format!("{}, and alone mixed", names.join(", "));
                return Err(Failure::new(format!("no proof is called `{word}`: {names}")));
            }
        }
        Ok(wanted)
    }

    fn includes(&self, case: &str) -> bool {
        self.cases.is_empty() || self.cases.contains(&case)
    }
}

/// A requirement that this machine does not meet, if any.
fn missing() -> Option<&'static str> {
    if let Some(missing) = xtask::network::missing() {
        return Some(missing);
    }
    let programs = [
        ("openssl", "it needs the package openssl"),
        ("nats-server", "it needs the package nats-server"),
    ];
    let is_missing =
        |program: &str| shell::capture(&["sh", "-c", &format!("command -v {program}")]).is_err();
    programs.into_iter().find(|(program, _)| is_missing(program)).map(|(_, why)| why)
}

/// Waits until `is` holds, for at most `longest`.
fn wait_until(
    what: &str,
    longest: Duration,
    mut is: impl FnMut() -> bool,
) -> Result<Duration, Failure> {
    let began = Instant::now();
    while !is() {
        if began.elapsed() > longest {
            return Err(Failure::new(format!("{what} did not happen within {longest:?}")));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(began.elapsed())
}

#[cfg(test)]
mod tests {
    use super::Wanted;

    #[test]
    fn proofs_are_named_and_counted() {
        let both = Wanted::of(&["skew", "--times", "20", "server"]).expect("two proofs");
        let folder = "target/fleet";
        let cases = vec!["skew", "server"];
        assert_eq!(both, Wanted { cases, times: 20, folder, programs: None });
        assert!(both.includes("skew") && !both.includes("flapping"));
        let all = Wanted::of(&["--in", "/mnt/f", "--programs", "/opt"]).expect("all of them");
        assert_eq!((all.folder, all.programs), ("/mnt/f", Some("/opt")));
        assert!(all.times == 1 && all.includes("flapping"));
    }

    #[test]
    fn words_that_mean_nothing_are_refused() {
        for words in [
            &["skews"][..],
            &["--times"],
            &["--times", "0"],
            &["--times", "many"],
            &["--in"],
            &["--programs"],
            &["mixed", "skew"],
        ] {
            assert!(Wanted::of(words).is_err(), "{words:?}");
        }
    }
}
