//! The device behind a volume at arbitrary instants, with both copies destroyed: an ext4 file
//! system on it is clean once its journal is replayed, and a database in that holds a prefix of
//! its commits once it is recovered. `PLIMSOLL_MIRROR_INSTANTS`, which
//! `cargo xtask prove mirror-instants` sets, is the number of instants.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use testkit::messages::stored;
use trial::commits::{Change, CommitStage, CommitStep, Messages};

use super::{Pair, end};
use crate::mount::Mount;

/// Bytes of the volume.
const DISK_BYTES: u64 = 256 << 20;

/// The database.
const FILE: &str = "Plimsoll001.edb";

fn instants() -> u64 {
    std::env::var("PLIMSOLL_MIRROR_INSTANTS").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

#[test]
fn the_device_is_an_earlier_consistent_state_at_every_instant() {
    let Some(mut pair) = Pair::of_size("mirror-instants", true, DISK_BYTES) else { return };
    pair.start(0);
    pair.start(1);
    let export = pair.address(pair.wait_for_both());
    let Some(volume) = AttachedVolume::new(&pair, &export) else { return };
    let database = volume.mount.0.join("db");
    fs::create_dir(&database).unwrap();
    fs::create_dir(pair.scene.path("db")).unwrap();
    let plan = format!(
        "[databases]\nfolders = [{database:?}]\ncount = 1\nsize = \"16MiB\"\n\
         [engine]\ncache_minimum = \"2MiB\"\ncache_maximum = \"4MiB\"\n\
         checkpoint_depth = \"2MiB\"\n[workload]\nthreads = 4\n\
         [test]\nduration = \"1h\"\nwarm_up_limit = \"1s\"\n"
    );
    pair.scene.write("plan.toml", plan.as_bytes());
    pair.scene.run(["prepare", "plan.toml"]).expect_code(0);
    let before = stored(&database.join(FILE));
    let load = Load::start(&pair, &volume.mount.0);
    let mut dirty = 0;
    for instant in 0..instants() {
        thread::sleep(Duration::from_millis(300 + instant * 379 % 1_500));
        dirty += u64::from(freeze(&pair) > 0);
        examine(&pair, &before, &load.told);
        pair.wait_for_both();
    }
    assert!(dirty * 4 > instants(), "flash alone had data at {dirty} instants only");
    eprintln!("{} instants, at {dirty} of which flash alone had data", instants());
}

/// Copies the device while both hosts stand still; bytes that only their flash had.
fn freeze(pair: &Pair) -> u64 {
    let owner = pair.owner();
    let dirty = pair.status(owner)["dirty_bytes"].as_u64().unwrap_or(0);
    pair.signal(0, "-STOP");
    pair.signal(1, "-STOP");
    // Requests that the system has by now may still end.
    thread::sleep(Duration::from_millis(20));
    fs::copy(pair.scene.path("disk.img"), pair.scene.path("instant.img")).unwrap();
    pair.signal(0, "-CONT");
    pair.signal(1, "-CONT");
    dirty
}

/// Holds the copy of the device to what a disk promises after a power failure.
fn examine(pair: &Pair, before: &Messages, told: &Path) {
    let image = pair.scene.path("instant.img").display().to_string();
    // Replays the journal, and nothing else.
    let replayed = run("e2fsck", &["-y", "-E", "journal_only", &image]);
    assert!(replayed.0 <= 1, "{}", replayed.1);
    let checked = run("e2fsck", &["-f", "-n", &image]);
    assert_eq!(checked.0, 0, "{}", checked.1);
    let copy = pair.scene.path("db");
    {
        let mount = Mount::of(&pair.scene, "instant", &["-o", "loop,ro", &image]).unwrap();
        for entry in fs::read_dir(mount.0.join("db")).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
        }
    }
    fs::remove_dir(pair.scene.path("instant")).unwrap();
    let file = copy.join(FILE).display().to_string();
    pair.scene.run(["recover", &file]).expect_code(0);
    pair.scene.run(["check", &file]).expect_code(0).expect_out(&[", 0 bad"]);
    let steps = steps(told);
    assert!(is_prefix(before, &steps, &stored(&copy.join(FILE))), "no prefix of {}", steps.len());
    fs::remove_dir_all(&copy).unwrap();
    fs::create_dir(&copy).unwrap();
}

fn run(program: &str, words: &[&str]) -> (i32, String) {
    let output = Command::new(program).args(words).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8_lossy(&text).into_owned())
}

/// What sessions have said of their commits so far.
fn steps(told: &Path) -> Vec<CommitStep> {
    let text = fs::read_to_string(told).unwrap();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(|line| line.parse().unwrap()).collect()
}

/// `true` if `found` is `before` with some first part of the commits, in the order of the log.
fn is_prefix(before: &Messages, steps: &[CommitStep], found: &Messages) -> bool {
    let mut changes = BTreeMap::new();
    let mut commits = BTreeMap::new();
    for step in steps {
        match &step.stage {
            CommitStage::Asked(asked) => drop(changes.insert(step.transaction, asked)),
            CommitStage::Lazy(place) | CommitStage::Durable(place) => {
                commits.insert(*place, changes.remove(&step.transaction).unwrap());
            }
        }
    }
    let mut now = before.clone();
    let mut differ = now.iter().filter(|(id, version)| found.get(id) != Some(version)).count()
        + found.keys().filter(|id| !now.contains_key(id)).count();
    for changes in commits.into_values() {
        if differ == 0 {
            return true;
        }
        for change in changes {
            let id = change.message();
            differ -= usize::from(now.get(&id) != found.get(&id));
            match change {
                Change::Insert(id) => drop(now.insert(*id, 1)),
                Change::Replace(id, version) => drop(now.insert(*id, *version)),
                Change::Delete(id) => drop(now.remove(id)),
            }
            differ += usize::from(now.get(&id) != found.get(&id));
        }
    }
    differ == 0
}

#[test]
fn a_prefix_is_told_from_a_state_with_a_gap() {
    let place = |byte| ese::Lgpos { byte, ..ese::Lgpos::NONE };
    let commit = |transaction, change, byte| {
        let step = |stage| CommitStep { database: 0, transaction, stage };
        [step(CommitStage::Asked(vec![change])), step(CommitStage::Durable(place(byte)))]
    };
    let before = Messages::from([(1, 1)]);
    let steps = [
        commit(2, Change::Insert(7), 20),
        commit(1, Change::Replace(1, 2), 10),
        commit(3, Change::Delete(1), 30),
    ]
    .concat();
    for (found, expected) in [
        (Messages::from([(1, 1)]), true),
        (Messages::from([(1, 2)]), true),
        (Messages::from([(1, 2), (7, 1)]), true),
        (Messages::from([(7, 1)]), true),
        (Messages::from([(1, 1), (7, 1)]), false),
        (Messages::new(), false),
    ] {
        assert_eq!(is_prefix(&before, &steps, &found), expected, "{found:?}");
    }
}

/// A run on a database of the volume, beside files that come and go.
struct Load {
    told: PathBuf,
    run: Option<Child>,
    files: Option<Child>,
}

impl Load {
    fn start(pair: &Pair, mount: &Path) -> Self {
        let told = pair.scene.path("told");
        let acknowledge = told.display().to_string();
        let words = ["--quiet", "run", "plan.toml", "-o", "out", "--target-iops", "400"];
        let run = pair.scene.start(words.into_iter().chain(["--acknowledge", &acknowledge]));
        // Names, lengths and contents change all the time, with and without being made durable.
        let script = "i=0; while :; do i=$((i+1)); d=files/$((i%7)); mkdir -p $d; \
             head -c $((i*7919%90000)) /dev/urandom >$d/new; [ $((i%3)) = 0 ] && sync $d/new; \
             mv $d/new $d/$((i%40)); [ $((i%5)) = 0 ] && rm -rf files/$(((i+3)%7)); done";
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).current_dir(mount).stderr(Stdio::null());
        let files = shell.process_group(0).spawn().unwrap();
        while !fs::read_to_string(&told).is_ok_and(|text| text.contains("durable")) {
            thread::sleep(Duration::from_millis(50));
        }
        Self { told, run: Some(run), files: Some(files) }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        if let Some(shell) = &self.files {
            let group = format!("-{}", shell.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        }
        end(&mut self.run);
        end(&mut self.files);
        // Programs of the shell that wrote when they were killed.
        thread::sleep(Duration::from_millis(300));
    }
}

/// The volume as a block device of this machine with ext4: a loop device on the file that nbdfuse
/// shows.
struct AttachedVolume {
    mount: Mount,
    _shown: ShownVolume,
}

struct ShownVolume {
    folder: PathBuf,
    server: Option<Child>,
}

impl AttachedVolume {
    /// `None`, said aloud, where this machine or this user cannot.
    fn new(pair: &Pair, export: &str) -> Option<Self> {
        let shown = ShownVolume::new(pair, export)?;
        let file = shown.folder.join("nbd").display().to_string();
        assert_eq!(run("mkfs.ext4", &["-q", "-F", &file]).0, 0);
        let mount = Mount::of(&pair.scene, "volume", &["-o", "loop", &file])?;
        Some(Self { mount, _shown: shown })
    }
}

impl ShownVolume {
    fn new(pair: &Pair, export: &str) -> Option<Self> {
        let folder = pair.scene.path("shown");
        fs::create_dir(&folder).unwrap();
        let errors = File::create(pair.scene.path("nbdfuse.err")).unwrap();
        let started = Command::new("nbdfuse").arg(&folder).arg(export).stderr(errors).spawn();
        let Ok(server) = started else {
            eprintln!("SKIPPED: nbdfuse is not installed (apt-get install libnbd-bin)");
            return None;
        };
        let shown = Self { folder, server: Some(server) };
        for _ in 0..100 {
            if shown.folder.join("nbd").exists() {
                return Some(shown);
            }
            thread::sleep(Duration::from_millis(50));
        }
        eprintln!("SKIPPED: nbdfuse cannot mount here");
        None
    }
}

impl Drop for ShownVolume {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.folder).status();
        end(&mut self.server);
    }
}
