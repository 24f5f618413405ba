//! The Windows build under Wine, beside the program of this system: what both do must be the same.
//!
//! `PLIMSOLL_WINDOWS` names the Windows program; `cargo xtask windows` builds it and sets that.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test ends at the first surprise, and says what it compared"
)]
#![cfg(unix)]

mod mixed;
mod wine;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::peers::{
    LongValues, PythonReader, PythonReaders, TableDigest, read_with_libesedb, read_with_ours,
};
use testkit::samples;
use wine::NATIVE;

const FILE: &str = "Plimsoll001.edb";

/// Of the pages that the plan's databases are made of.
const PAGE_BYTES: usize = 32 << 10;

/// Bytes of the header that two fills from one seed do not share, on one system or on two: the
/// random number and the time of the database's signature, the same in the two signatures that
/// follow from it, and the checksum over them. See docs/format.md.
const OF_THE_MOMENT: [std::ops::Range<usize>; 4] = [0..4, 24..36, 584..596, 612..624];

/// What a journal is rendered as.
const FORMS: [&str; 5] = ["html", "text", "json", "xml", "csv"];

/// What a run leaves beside its journal.
const FILES: [&str; 3] = ["report.html", "report.txt", "report.json"];

/// A separate folder for one test, removed at its end.
struct Scene {
    folder: PathBuf,
}

impl Scene {
    /// None, said aloud, where there is no Windows program.
    fn new(name: &str) -> Option<Self> {
        if wine::windows().is_none() {
            println!("skipped: {name}: PLIMSOLL_WINDOWS is not set; run `cargo xtask windows`");
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("windows {name} {}", std::process::id()));
        fs::create_dir_all(folder.join("db")).unwrap();
        Some(Self { folder })
    }

    /// The same with a plan and its database, made by the Windows program.
    fn prepared(name: &str) -> Option<Self> {
        let scene = Self::new(name)?;
        scene.plan("plan.toml", &scene.named("db"));
        expect(&scene.under_wine(&["--quiet", "prepare", "plan.toml"]), 0);
        Some(scene)
    }

    /// Writes a plan whose folder is named as each system names it.
    fn plan(&self, file: &str, folder: &str) {
        let plan = format!(
            "seed = 7\n[databases]\nfolders = [\"{folder}\"]\nsize = \"32MiB\"\n\
             [engine]\ncache_minimum = \"1MiB\"\ncache_maximum = \"2MiB\"\n\
             [workload]\nthreads = 2\n\
             [test]\nduration = \"4s\"\nwarm_up_limit = \"1s\"\ninterval = \"1s\"\n"
        );
        fs::write(self.folder.join(file), plan).unwrap();
    }

    /// The path of a file as Windows names it, with forward slashes.
    fn named(&self, name: &str) -> String {
        wine::shown(&self.folder.join(name))
    }

    fn native(&self, words: &[&str]) -> Output {
        Command::new(NATIVE).args(words).current_dir(&self.folder).output().unwrap()
    }

    fn under_wine(&self, words: &[&str]) -> Output {
        self.wine(words).output().unwrap()
    }

    fn wine(&self, words: &[&str]) -> Command {
        let mut command = wine::program();
        command.args(words).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    /// What both programs answer to the same words, which must be the same; the native answer.
    #[track_caller]
    fn both(&self, words: &[&str], code: i32) -> String {
        let (native, wine) = (self.native(words), self.under_wine(words));
        expect(&native, code);
        expect(&wine, code);
        let [native, wine] = [native, wine].map(|output| text(&output.stdout));
        assert!(native == wine, "{words:?} differ:\n{native}\n{wine}");
        native
    }

    /// Copies the files of a folder into a new one.
    fn copy(&self, from: &str, to: &str) {
        let (from, to) = (self.folder.join(from), self.folder.join(to));
        fs::create_dir(&to).unwrap();
        for file in fs::read_dir(from).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }

    /// Starts a run under Wine, and returns once its load is measured.
    fn start_load(&self) -> Child {
        let words = ["--quiet", "run", "plan.toml", "-o", "out", "--duration", "60s"];
        let mut command = self.wine(&words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let journal = self.folder.join("out/record.jsonl");
        let begun = || fs::read_to_string(&journal).is_ok_and(|text| text.contains("\"measure\""));
        while !begun() && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(20));
        }
        child
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if !thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn expect(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
}

/// An answer of `check --json` without its speed.
fn without_speed(answer: &Output) -> Value {
    let mut files: Value = serde_json::from_slice(&answer.stdout).unwrap();
    for file in files["files"].as_array_mut().unwrap() {
        for timed in ["seconds", "mib_per_second"] {
            assert!(file.as_object_mut().unwrap().remove(timed).is_some());
        }
    }
    files
}

#[test]
fn every_sample_is_checked_alike() {
    let Some(scene) = Scene::new("samples") else {
        return;
    };
    let (mut files, mut bytes) = (0, 0);
    for packed in samples::databases() {
        let content = samples::unpacked(&packed).unwrap();
        fs::write(scene.folder.join("sample.edb"), &content).unwrap();
        let words = ["check", "--json", "sample.edb"];
        let (native, wine) = (scene.native(&words), scene.under_wine(&words));
        assert_eq!(without_speed(&native), without_speed(&wine), "{}", packed.display());
        assert_eq!(native.status.code(), wine.status.code(), "{}", packed.display());
        for verb in ["header", "schema", "space", "verify"] {
            let words = [verb, "--json", "sample.edb"];
            let (native, wine) = (scene.native(&words), scene.under_wine(&words));
            assert_eq!(text(&native.stdout), text(&wine.stdout), "{}: {verb}", packed.display());
            assert_eq!(native.status.code(), wine.status.code(), "{}: {verb}", packed.display());
        }
        files += 1;
        bytes += content.len();
    }
    println!(
        "check, header, schema, space, verify: {files} samples, {bytes} bytes, answered alike"
    );
}

#[test]
fn databases_of_a_seed_are_the_same_on_both_systems() {
    let Some(scene) = Scene::prepared("bytes") else {
        return;
    };
    fs::create_dir(scene.folder.join("native")).unwrap();
    scene.plan("native.toml", &scene.folder.join("native").display().to_string());
    expect(&scene.native(&["--quiet", "prepare", "native.toml"]), 0);
    let [windows, native] =
        ["db", "native"].map(|folder| fs::read(scene.folder.join(folder).join(FILE)).unwrap());
    assert_eq!(windows.len(), native.len());
    // Page 1 is the header, page 2 its copy.
    let differing: Vec<usize> = (0..native.len()).filter(|&at| windows[at] != native[at]).collect();
    let of_the_moment = |at: &usize| {
        *at < 2 * PAGE_BYTES && OF_THE_MOMENT.iter().any(|range| range.contains(&(at % PAGE_BYTES)))
    };
    assert!(differing.iter().all(of_the_moment), "{differing:?}");
    println!(
        "prepare: of {} bytes {} differ, all in the checksum and the signatures of the header and \
         its copy",
        native.len(),
        differing.len()
    );
}

#[test]
fn a_run_goes_on_on_the_other_system_and_its_journal_is_one_report() {
    let Some(scene) = Scene::prepared("journal") else {
        return;
    };
    // A four-second run cannot judge the storage, and says so.
    let ran = scene.under_wine(&["run", "plan.toml", "-o", "out"]);
    expect(&ran, 2);
    assert!(text(&ran.stdout).contains("CANNOT JUDGE"), "{ran:?}");
    scene.plan("native.toml", "db");
    expect(&scene.native(&["run", "native.toml", "-o", "native"]), 2);
    for run in ["out", "native"] {
        let lengths = FORMS.map(|form| scene.both(&["report", run, "--format", form], 2).len());
        println!("report {run}: {lengths:?} bytes of {FORMS:?}, the same on both");
    }
    for run in ["out", "native"] {
        scene.copy(run, &format!("copied {run}"));
    }
    for form in ["html", "text", "json", "csv"] {
        scene.both(&["compare", "copied out", "copied native", "--format", form], 0);
    }
    // Written anew in the copies, by the system that has not made the run.
    expect(&scene.native(&["report", "copied out"]), 2);
    expect(&scene.under_wine(&["report", "copied native"]), 2);
    for (run, file) in ["out", "native"].into_iter().flat_map(|run| FILES.map(|file| (run, file))) {
        let [made, copied] = [run.to_owned(), format!("copied {run}")]
            .map(|folder| fs::read(scene.folder.join(folder).join(file)).unwrap());
        assert!(made == copied, "{run}/{file} is another in its copy");
    }
    println!("{FILES:?}: written anew in a copy on the other system, the same bytes");
    let database = format!("db/{FILE}");
    scene.both(&["verify", "--json", &database], 0);
    let words = ["check", "--json", &database];
    let [native, wine] = [scene.native(&words), scene.under_wine(&words)];
    assert_eq!(without_speed(&native), without_speed(&wine));
    expect(&native, 0);
    println!("run under Wine, then on this system: check and verify on both: nothing wrong");
}

#[test]
fn strangers_read_what_a_run_under_wine_has_written() {
    let Some(scene) = Scene::prepared("peers") else {
        return;
    };
    expect(&scene.under_wine(&["--quiet", "run", "plan.toml", "-o", "out"]), 2);
    let (file, table) = (scene.folder.join("db").join(FILE), trial::messages::TABLE);
    let bytes = fs::read(&file).unwrap();
    let some = LongValues::EveryNth(50.try_into().unwrap());
    let ours = read_with_ours(&bytes, table, some).unwrap();
    agree(&ours, &read_with_libesedb(&file, table, some).unwrap());
    if let Some(python) = PythonReaders::from_environment("strangers") {
        let ours = read_with_ours(&bytes, table, LongValues::Follow).unwrap();
        for reader in [PythonReader::Dissect, PythonReader::Impacket] {
            agree(&ours, &python.read(reader, &file, table).unwrap());
        }
    }
}

fn agree(ours: &TableDigest, theirs: &TableDigest) {
    println!("{}: {} rows, as ours", theirs.reader, theirs.records.count);
    assert!(ours.records.count > 0);
    assert_eq!(ours.differences(theirs), Vec::<String>::new());
}

#[test]
fn quick_measures_a_folder_with_a_drive_letter() {
    let Some(scene) = Scene::new("quick") else {
        return;
    };
    let folder = scene.named("db");
    let ran = scene.under_wine(&["quick", &folder, "--size", "16MiB", "--duration", "4s"]);
    expect(&ran, 2);
    let said = text(&ran.stdout);
    assert!(said.contains("Report: ") && said.contains("Damaged pages   0 "), "{ran:?}");
    println!("quick on {folder}: ends with status 2, as four seconds prove nothing");
}

#[test]
fn a_path_of_more_than_260_characters_with_spaces_serves() {
    const LEVEL: &str = "a folder whose name is long enough that a few of them pass the limit";
    let Some(scene) = Scene::new("long") else {
        return;
    };
    let folder = [LEVEL; 4].join("/");
    fs::create_dir_all(scene.folder.join(&folder)).unwrap();
    let named = scene.named(&folder);
    assert!(named.len() > 260);
    for named in [&named, &named.replace('/', r"\\")] {
        scene.plan("plan.toml", named);
        expect(&scene.under_wine(&["--quiet", "prepare", "plan.toml"]), 0);
    }
    // The runs of a person who works in such a folder lie there, too.
    let out = format!("{named}/out");
    expect(&scene.under_wine(&["--quiet", "run", "plan.toml", "-o", &out]), 2);
    expect(&scene.under_wine(&["report", &out]), 2);
    let database = format!("{named}/{FILE}").replace('/', r"\");
    for verb in ["check", "verify", "recover"] {
        let ran = scene.under_wine(&[verb, &database]);
        assert!(ran.status.code() == Some(0), "{verb}: {ran:?}");
    }
    println!(
        "{} characters, with spaces: prepare, run, report, check, verify, recover",
        named.len()
    );
}

#[test]
fn the_selftest_passes_every_part() {
    let Some(scene) = Scene::new("selftest") else {
        return;
    };
    let ran = scene.under_wine(&["selftest", &scene.named("db"), "--json"]);
    expect(&ran, 0);
    let answer: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(answer["backend"], "completion port");
    for part in answer["parts"].as_array().unwrap() {
        assert_eq!(part["outcome"], "held", "{part}");
        println!("selftest: {}: {}", part["part"], part["text"]);
    }
    assert_eq!(fs::read_dir(scene.folder.join("db")).unwrap().count(), 0);
}

#[test]
fn a_killed_run_is_recovered() {
    let Some(scene) = Scene::prepared("recover") else {
        return;
    };
    let mut child = scene.start_load();
    child.kill().unwrap();
    child.wait().unwrap();
    let database = format!("db/{FILE}");
    expect(&scene.under_wine(&["recover", &database]), 0);
    expect(&scene.native(&["verify", &database]), 0);
    println!("recover under Wine after a kill: verify finds nothing wrong");
}

#[test]
fn ctrl_c_stops_cleanly_and_others_are_kept_out_until_then() {
    let Some(scene) = Scene::prepared("stop") else {
        return;
    };
    let child = scene.start_load();
    let database = format!("db/{FILE}");
    let held = scene.under_wine(&["verify", &database]);
    expect(&held, 2);
    // Wine makes Ctrl-C of this signal.
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    let began = Instant::now();
    let stopped = child.wait_with_output().unwrap();
    assert!(text(&stopped.stderr).contains("stopping cleanly"), "{stopped:?}");
    assert!(text(&stopped.stdout).contains("CANNOT JUDGE"), "{stopped:?}");
    expect(&scene.native(&["verify", &database]), 0);
    println!("Ctrl-C under Wine: stopped cleanly after {:.1} s", began.elapsed().as_secs_f64());
}
