//! The small language of these tests: a scratch folder on a disk, the program run in it, and what
//! it said.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::wine;

/// Page size of the prepared databases.
pub(crate) const PAGE_BYTES: usize = 32 << 10;

/// Load of the small plan: runs that a test only watches leave processors to the tests beside it.
pub(crate) const HELD: &str = "[workload]\ntarget_iops = 500\n";

/// A separate folder for one test, removed at its end.
pub(crate) struct Scene {
    pub folder: PathBuf,
}

/// A program run that has ended.
pub(crate) struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Scene {
    /// An empty folder under `target/`, which lies on a disk.
    pub(crate) fn new(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("{name}-{}-{number}", std::process::id()));
        // A killed test of the same process number may have left one.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self { folder }
    }

    /// An empty folder that all tests of this process share, and that the next process empties.
    pub(crate) fn shared(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self { folder }
    }

    /// A folder with a plan and its prepared databases: two of 16 MiB.
    pub(crate) fn prepared(name: &str) -> Self {
        Self::new(name).with_databases()
    }

    /// The same in the folder of this scene.
    pub(crate) fn with_databases(self) -> Self {
        static MASTER: OnceLock<Scene> = OnceLock::new();
        let master = MASTER.get_or_init(|| {
            let master = Self::shared("prepared-master");
            master.write("plan.toml", small_plan(&master.folder).as_bytes());
            master.run(["prepare", "plan.toml"]).expect_code(0);
            master
        });
        for entry in fs::read_dir(&master.folder).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), self.path(entry.file_name())).unwrap();
        }
        self.write("plan.toml", small_plan(&self.folder).as_bytes());
        self
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The program, about to be run in the folder.
    pub(crate) fn command<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Command {
        let mut command = wine::program();
        command.args(words).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    pub(crate) fn run<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Ran {
        Ran::of(&self.command(words).output().unwrap())
    }

    /// Starts the program without waiting for it.
    pub(crate) fn start<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Child {
        let mut command = self.command(words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Changes bytes of a file in place.
    pub(crate) fn change(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.read(name);
        change(&mut bytes);
        self.write(name, &bytes);
    }

    /// Has replays of the plan take so few logs that a test can wait for them.
    pub(crate) fn replay_logs(&self, logs: u32) {
        let plan = String::from_utf8(self.read("plan.toml")).unwrap();
        let test = format!("[test]\nreplay_logs = {logs}\n");
        assert!(plan.contains("[test]\n"));
        self.write("plan.toml", plan.replace("[test]\n", &test).as_bytes());
    }

    /// Has runs of the plan load the storage as fast as it answers.
    pub(crate) fn load_fully(&self) {
        let plan = String::from_utf8(self.read("plan.toml")).unwrap();
        assert!(plan.contains(HELD));
        self.write("plan.toml", plan.replace(HELD, "").as_bytes());
    }

    /// The names and lengths of all files of the folder.
    pub(crate) fn listing(&self) -> Vec<(String, u64)> {
        let entry = |entry: fs::DirEntry| {
            let length = entry.metadata().unwrap().len();
            (entry.file_name().to_string_lossy().into_owned(), length)
        };
        let mut files: Vec<_> =
            fs::read_dir(&self.folder).unwrap().map(|found| entry(found.unwrap())).collect();
        files.sort();
        files
    }

    /// The content and the time of the last change of every file in the folder and below.
    pub(crate) fn snapshot(&self) -> BTreeMap<PathBuf, (SystemTime, Vec<u8>)> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.is_file() {
                    let changed = fs::metadata(&path).unwrap().modified().unwrap();
                    found.insert(path.clone(), (changed, fs::read(path).unwrap()));
                }
            }
        }
        found
    }

    /// Writes `plan.toml`, the small plan with its databases on `target` in place of the folder.
    #[cfg(unix)]
    pub(crate) fn write_plan(&self, target: &str) {
        let text = small_plan(&self.folder);
        let begin = text.find("folders = ").unwrap();
        let end = begin + text[begin..].find('\n').unwrap();
        let plan = format!("{}folders = [{target:?}]{}", &text[..begin], &text[end..]);
        self.write("plan.toml", plan.as_bytes());
    }

    /// Starts `words`, a run of a minute, and returns once its load is measured; it writes to the
    /// folder `out`.
    pub(crate) fn start_load(&self, words: &[&str]) -> Child {
        let mut child = self.start(words.iter().chain(&["--duration", "60s", "-o", "out"]));
        let journal = self.path("out/record.jsonl");
        let begun = || fs::read_to_string(&journal).is_ok_and(|text| text.contains("\"measure\""));
        while !begun() && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(20));
        }
        child
    }

    /// Starts `words`, a run, and kills it once its load has begun; it writes to the folder `out`.
    pub(crate) fn kill_run(&self, words: &[&str]) {
        let mut child = self.start_load(words);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        let err = String::from_utf8_lossy(&output.stderr);
        // Wine mixes its own messages with those of the program.
        let err = err.split_inclusive('\n').filter(|line| !line.starts_with("wine: ")).collect();
        Self { code: output.status.code(), out, err }
    }

    #[track_caller]
    pub(crate) fn expect_code(&self, code: i32) -> &Self {
        let Self { out, err, .. } = self;
        assert_eq!(self.code, Some(code), "stdout:\n{out}\nstderr:\n{err}");
        assert!(!err.contains("bug in plimsoll"), "{err}");
        self
    }

    /// Exit 2 and one message, for people or for programs, that holds every one of `parts`.
    #[track_caller]
    pub(crate) fn expect_refusal(&self, parts: &[&str]) {
        self.expect_code(2);
        self.expect_one_message(parts);
    }

    /// A wrong option, or a wrong value of one, in one message.
    #[track_caller]
    pub(crate) fn expect_wrong_usage(&self, parts: &[&str]) {
        self.expect_code(64);
        self.expect_one_message(parts);
    }

    #[track_caller]
    fn expect_one_message(&self, parts: &[&str]) {
        let is_error =
            |line: &&str| line.starts_with("plimsoll: ") || line.contains(r#""kind":"error""#);
        let messages = self.err.lines().filter(is_error).count();
        assert_eq!(messages, 1, "one message:\n{}", self.err);
        self.expect_err(parts);
    }

    #[track_caller]
    pub(crate) fn expect_err(&self, parts: &[&str]) -> &Self {
        for part in parts {
            assert!(says(&self.err, part), "`{part}` is not in:\n{}", self.err);
        }
        self
    }

    /// The answer with those lines whole that were broken to fit a terminal.
    pub(crate) fn unfolded(&self) -> String {
        self.out.replace("\n    ", " ")
    }

    #[track_caller]
    pub(crate) fn expect_out(&self, parts: &[&str]) -> &Self {
        let unfolded = self.unfolded();
        for part in parts {
            let is_there = says(&self.out, part) || says(&unfolded, part);
            assert!(is_there, "`{part}` is not in:\n{}", self.out);
        }
        self
    }
}

/// Whether the program has said `part`, in which paths are as this system writes them.
fn says(text: &str, part: &str) -> bool {
    let here = |text: &str| text.replace("Z:", "").replace('\\', "/");
    text.contains(part) || wine::windows().is_some() && here(text).contains(&here(part))
}

/// Two databases of 16 MiB in `folder`, two seconds measured at a low load.
pub(crate) fn small_plan(folder: &Path) -> String {
    format!(
        "name = \"small\"\n\
         [databases]\nfolders = [{:?}]\ncount = 2\nsize = \"16MiB\"\n\
         [engine]\ncache_minimum = \"2MiB\"\ncache_maximum = \"4MiB\"\n\
         {HELD}[test]\nduration = \"2s\"\nwarm_up_limit = \"1s\"\ninterval = \"1s\"\n",
        wine::shown(folder)
    )
}
