//! The real program, killed at random moments: nothing that it acknowledged may be lost.
//!
//! `PLIMSOLL_KILLS` says how many times; `cargo xtask kill` sets it. Four by default. Where
//! `PLIMSOLL_WINDOWS` names a program for Windows, that is killed, under Wine.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test ends at the first surprise, and says how many kills it made"
)]

mod wine;

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::thread;
use std::time::Duration;

use testkit::messages::stored;
use trial::commits::{CommitStep, Messages, Promises};
use units::{Prng, Seed};

use wine::{program, shown, windows};

const STDOUT: &str = "/dev/stdout";
const FILE: &str = "Plimsoll001.edb";

fn read_if_there(path: &Path) -> String {
    fs::read(path).map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into())
}

/// A folder of this process, removed at the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // A scratch folder left behind does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Scratch {
    fn new() -> Self {
        let name = format!("plimsoll-kill-{}", std::process::id());
        let scratch = Self(std::env::temp_dir().join(name));
        fs::create_dir_all(scratch.0.join("db")).unwrap();
        scratch.plan("\"auto\"");
        scratch
    }

    /// Writes the plan, with logs in segments of a length.
    fn plan(&self, log_segment: &str) {
        let plan = format!(
            "seed = 7\n[databases]\nfolders = [\"{}\"]\nsize = \"32MiB\"\n\
             [engine]\ncache_minimum = \"1MiB\"\ncache_maximum = \"2MiB\"\n\
             checkpoint_depth = \"2MiB\"\nlog_segment = {log_segment}\n\
             [workload]\nthreads = 4\n\
             [test]\nduration = \"3s\"\nwarm_up_limit = \"1s\"\ninterval = \"1s\"\n",
            shown(&self.0.join("db"))
        );
        fs::write(self.0.join("plan.toml"), plan).unwrap();
    }

    /// How long the segments are of the log that was written last: the highest numbered where the
    /// kill came between the two renames that end a generation, which leave no current one.
    fn log_segment(&self) -> u16 {
        let current = fs::read(self.0.join("db/E00.plg"));
        let bytes = current.unwrap_or_else(|_| {
            let entries = fs::read_dir(self.0.join("db")).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let last = names.filter(|name| name.starts_with("E000")).max().expect("a closed log");
            fs::read(self.0.join("db").join(last)).unwrap()
        });
        u16::from_le_bytes([bytes[8], bytes[9]])
    }

    fn path(&self, name: &str) -> String {
        shown(&self.0.join(name))
    }

    fn database(&self) -> String {
        self.path(&format!("db/{FILE}"))
    }

    /// Runs the command to its end, which must be a good one.
    fn succeed(&self, words: &[&str]) -> Output {
        let output = program().args(words).output().unwrap();
        assert!(output.status.success(), "{words:?} in {}: {output:?}", self.0.display());
        output
    }

    /// Starts the command and kills it `moment` after it has `begun`; what it wrote.
    fn kill(words: &[&str], begun: impl Fn() -> bool, moment: Duration) -> String {
        let mut child =
            program().args(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut pipe = child.stdout.take().unwrap();
        let reader = thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).unwrap();
            bytes
        });
        while !begun() && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(moment);
        child.kill().unwrap();
        child.wait().unwrap();
        String::from_utf8_lossy(&reader.join().unwrap()).into_owned()
    }

    /// A run killed after `moment`, and what it promised until then. Under Wine, which may take
    /// longer to start than the moment, every second one is let come to its load.
    fn kill_run(&self, number: usize, moment: Duration) -> Promises {
        let (plan, output) = (self.path("plan.toml"), self.path("out"));
        let told = self.0.join("told");
        let _ = fs::remove_file(&told);
        let _ = fs::remove_dir_all(self.0.join("out"));
        let acknowledge = if windows().is_some() { self.path("told") } else { STDOUT.to_owned() };
        let words = format!("--quiet run {plan} -o {output} --acknowledge {acknowledge}");
        let is_early = number.is_multiple_of(2) || windows().is_none();
        let said = Self::kill(
            &words.split(' ').collect::<Vec<_>>(),
            || is_early || fs::metadata(&told).is_ok_and(|file| file.len() > 0),
            moment,
        );
        // Windows has no file that is the output; a file's content outlives the program too.
        let told = if windows().is_some() { read_if_there(&told) } else { said };
        let mut promises = Promises::default();
        for line in told.split_inclusive('\n') {
            // The last words of a run that was over before the kill are no steps of commits.
            let step = line.strip_suffix('\n').map(str::parse::<CommitStep>);
            if let Some(Ok(step)) = step {
                promises.observe(step);
            }
        }
        promises
    }

    fn messages(&self) -> Messages {
        stored(&self.0.join("db").join(FILE))
    }
}

/// Kills a fill, which the next one must start over or find complete.
fn kill_prepare(scratch: &Scratch, moment: Duration) {
    let folder = scratch.0.join("db");
    fs::remove_dir_all(&folder).unwrap();
    fs::create_dir_all(&folder).unwrap();
    let plan = scratch.path("plan.toml");
    Scratch::kill(&["--quiet", "prepare", &plan], || true, moment);
    scratch.succeed(&["--quiet", "prepare", &plan]);
    scratch.succeed(&["verify", &scratch.database()]);
}

#[test]
fn nothing_acknowledged_is_lost_when_the_program_is_killed() {
    let times = std::env::var("PLIMSOLL_KILLS").map_or(4, |times| times.parse().unwrap());
    let scratch = Scratch::new();
    let mut prng = Prng::new(Seed(u64::from(std::process::id())));
    let mut moment = |most: u64| Duration::from_millis(5 + prng.below(most));
    let (mut durable, mut kinds, mut segments) = (0, BTreeSet::new(), BTreeSet::new());
    for number in 0..times {
        if number % 8 == 0 {
            kill_prepare(&scratch, moment(250));
            kinds.insert("prepare");
            continue;
        }
        let before = scratch.messages();
        // The scratch folder's disk takes requests of 512 bytes.
        let segment = [512, 4096, 512][number % 3];
        scratch.plan(&segment.to_string());
        let promises = scratch.kill_run(number, moment(3_000));
        if promises.durable() > 0 {
            assert_eq!(scratch.log_segment(), segment);
            segments.insert(segment);
        }
        kinds.insert("run");
        let database = scratch.database();
        if number % 3 == 0 {
            Scratch::kill(&["--quiet", "recover", &database], || true, moment(150));
            kinds.insert("recover");
        }
        scratch.succeed(&["--quiet", "recover", &database]);
        scratch.succeed(&["verify", &database]);
        let breaches = promises.breaches(&before, &scratch.messages());
        assert!(breaches.is_empty(), "kill {number}: {breaches:?}");
        durable += promises.durable();
    }
    println!(
        "{times} kills of {kinds:?}, logs in segments of {segments:?} bytes: \
         {durable} durable commits acknowledged, 0 lost"
    );
}
