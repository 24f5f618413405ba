//! Threads that cannot be started, and a thread that panics: the run ends, with a message.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::scene::{Ran, Scene};
use crate::stalls::end_within;

/// A control group limited to this many threads.
struct Crowded(PathBuf);

impl Crowded {
    /// None, said aloud, where this user may not make one.
    fn new(threads: u32) -> Option<Self> {
        let all = Path::new("/sys/fs/cgroup");
        let root = if all.join("pids").exists() { all.join("pids") } else { all.to_owned() };
        let folder = root.join(format!("plimsoll-{}-{threads}", std::process::id()));
        let made = Self(folder.clone());
        let is_there = fs::create_dir(&folder)
            .and_then(|()| fs::write(folder.join("pids.max"), threads.to_string()));
        if let Err(error) = is_there {
            eprintln!("skipped: no control group with a limit of threads here: {error}");
            return None;
        }
        Some(made)
    }

    /// The program in the group.
    fn run(&self, scene: &Scene, words: &[&str]) -> Ran {
        let enter = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", self.0.display());
        let mut command = Command::new("sh");
        command
            .args(["-c", &enter, "sh", env!("CARGO_BIN_EXE_plimsoll")])
            .args(words)
            .current_dir(&scene.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        end_within(command.spawn().unwrap(), Duration::from_mins(1))
    }
}

impl Drop for Crowded {
    fn drop(&mut self) {
        // A group goes once its last thread has been reaped.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// With every number of threads the program ends, and says what it lacks where it lacks any.
#[test]
fn a_thread_that_cannot_be_started_ends_the_run_with_a_message() {
    let scene = Scene::prepared("no-threads");
    for threads in 1..=9 {
        let Some(crowded) = Crowded::new(threads) else {
            return;
        };
        let folder = format!("out{threads}");
        let ran = crowded.run(&scene, &["run", "plan.toml", "-q", "-o", &folder]);
        let is_refused = ran.err.contains("cannot start a thread");
        if is_refused {
            ran.expect_refusal(&["cannot start a thread", "end other programs"]);
            assert!(!scene.path(&folder).exists(), "nothing was measured");
        } else {
            ran.expect_code(2).expect_out(&["CANNOT JUDGE"]);
        }
        assert!(is_refused || threads > 4, "{threads} threads cannot do");
    }
}

#[test]
fn a_thread_that_panics_ends_the_run_with_a_message() {
    let scene = Scene::prepared("panic");
    for thread in ["group 0", "first look"] {
        let mut command = scene.command(["run", "plan.toml", "-q", "--duration", "600s"]);
        command.env("PLIMSOLL_PANIC", thread).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ran = end_within(command.spawn().unwrap(), Duration::from_mins(1));
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        ran.expect_err(&[
            "this is a bug in plimsoll",
            "PLIMSOLL_PANIC",
            "a thread has ended by the bug named above",
        ]);
    }
}
