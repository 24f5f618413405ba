//! Damaged logs of the real engine, given to the real program: `log_mutants PROGRAM [--mutants N]
//! [--seed S]`. Each command must end in time, within 512 MiB and without a panic, and write only
//! the files it was asked for; a single flipped bit must be named by file and segment.

mod folder;
mod limits;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use testkit::forged_log::SEGMENT;
use testkit::log_mutants::{Files, at_most, is_log, mutate};
use testkit::samples;
use units::{Prng, Seed};

use folder::MutantFolder;
use limits::{Ended, Tally};

/// Sets of logs from which mutants are made: pages of 16 KiB and of 8 KiB.
const SETS: [&str; 2] = ["crashs16", "crash08"];

struct Options {
    program: PathBuf,
    mutants: u64,
    seed: u64,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(options) = options(&words) else {
        say("usage: log_mutants PROGRAM [--mutants N] [--seed S]");
        return ExitCode::from(64);
    };
    match run(&options) {
        Ok(Some(tally)) => {
            say(&tally.to_string());
            ExitCode::SUCCESS
        }
        Ok(None) => ExitCode::from(2),
        Err(what) => {
            say(&what);
            ExitCode::FAILURE
        }
    }
}

fn options(words: &[String]) -> Option<Options> {
    let (program, rest) = words.split_first()?;
    let program = Path::new(program).canonicalize().ok()?;
    let mut options = Options { program, mutants: 400, seed: 50 };
    for pair in rest.chunks(2) {
        let number = pair.get(1)?.parse().ok()?;
        match pair[0].as_str() {
            "--mutants" => options.mutants = number,
            "--seed" => options.seed = number,
            _ => return None,
        }
    }
    Some(options)
}

/// Runs every command on every mutant. `None` if this machine does not have the samples.
fn run(options: &Options) -> Result<Option<Tally>, String> {
    let mut tally = Tally::default();
    let mut random = Prng::new(Seed(options.seed));
    let mut sets = Vec::new();
    for name in SETS {
        let Some(packed) = samples::find(&format!("engine/logs/{name}.tar.gz")) else {
            return Ok(None);
        };
        let files = samples::files(&packed).map_err(|error| format!("{name}: {error}"))?;
        sets.push((name, files));
    }
    for number in 0..options.mutants {
        // Three quarters of the mutants are of the smaller set, which is faster and contains all
        // record types.
        let (name, files) = &sets[usize::from(number % 4 == 3)];
        let mutant = Mutant::make(files, number % 2 == 0, &mut random);
        let folder = MutantFolder::make(&mutant.files)?;
        mutant.give_to(&options.program, name, &folder, &mut tally).map_err(|what| {
            format!("mutant {number} of {name}, seed {}: {}: {what}", options.seed, mutant.name)
        })?;
    }
    Ok(Some(tally))
}

/// A set of files, one of which is damaged.
struct Mutant {
    files: Files,
    /// Name of the damaged file.
    name: String,
    /// Offset of the byte in which one bit was flipped, if that is the damage.
    flipped: Option<usize>,
}

impl Mutant {
    fn make(files: &Files, is_flip: bool, random: &mut Prng) -> Self {
        let mut files = files.clone();
        if !is_flip {
            let name = mutate(&mut files, random);
            return Self { files, name, flipped: None };
        }
        let names: Vec<String> = files.keys().filter(|name| is_log(name)).cloned().collect();
        let name = names[at_most(names.len(), random)].clone();
        let bytes = files.entry(name.clone()).or_default();
        let at = at_most(bytes.len(), random);
        bytes[at] ^= 1 << random.below(8);
        Self { files, name, flipped: Some(at) }
    }

    /// Runs every command on the files in `folder`.
    fn give_to(
        &self,
        program: &Path,
        set: &str,
        folder: &MutantFolder,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let database = format!("{set}.edb");
        let commands: [&[&str]; 5] = [
            &["check", "."],
            &["dump", &self.name, "--json"],
            &["recover", &database, "--into", "../out/copy.edb", "--lossy"],
            &["export", &database, "--with-logs", ".", "--all", "-o", "../out/rows"],
            &["recover", &database, "--into", "../out/redone.edb", "--no-undo", "--lossy"],
        ];
        for words in commands {
            let ended = limits::run(program, words, folder)?;
            ended.judge(words)?;
            if words[0] == "check" {
                self.is_named(&ended)?;
            }
            tally.count(words[0], &ended);
            folder.is_untouched(&self.files)?;
        }
        Ok(())
    }

    /// Whether `check` names the flipped bit by file and segment.
    fn is_named(&self, ended: &Ended) -> Result<(), String> {
        let Some(at) = self.flipped else {
            return Ok(());
        };
        let segment = at / SEGMENT;
        let place = if segment == 0 { "header".to_owned() } else { format!("segment {segment}") };
        let unfolded = ended.out.replace("\n    ", " ");
        let is_place = |rest: &str| !rest.starts_with(|next: char| next.is_ascii_digit());
        let is_named = unfolded
            .lines()
            .any(|line| line.contains(&self.name) && line.split(&place).skip(1).any(is_place));
        if is_named && ended.code == Some(1) {
            return Ok(());
        }
        Err(format!("the flip in byte {at} is not named as {place}: {unfolded}"))
    }
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
