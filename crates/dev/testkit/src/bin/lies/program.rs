//! The real program, started in a folder with a plan, and killed if it does not exit.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::outcome::{Ending, Observed};

/// Time allowed beyond the measurement, for opening, warming up and verifying.
const SPARE_TIME: Duration = Duration::from_mins(2);

/// How long a process that has ended may stay in the process table before its storage is made to
/// answer.
const KEPT_TIME: Duration = Duration::from_secs(3);

/// The program under test.
pub(crate) struct Program {
    path: PathBuf,
}

/// The load of a run.
pub(crate) struct RunLoad {
    /// Length of the measurement.
    pub measured: Duration,
    /// Size of the database.
    pub size_bytes: u64,
    /// Target rate of the load; `None` for the maximum rate.
    pub target_iops: Option<u32>,
}

impl Program {
    /// Uses the program in the file `path`.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        Ok(Self { path })
    }

    /// Writes the plan for a database in the folder `disk` of `folder`, and fills it.
    pub(crate) fn prepare(&self, folder: &Path, load: &RunLoad) -> io::Result<()> {
        fs::write(folder.join("plan.toml"), load.plan(&folder.join("disk")))?;
        let mut command = self.command(folder, &["prepare", "plan.toml", "-q"])?;
        if command.status()?.success() {
            return Ok(());
        }
        Err(io::Error::other(format!("not prepared: {}", messages(folder))))
    }

    /// Starts the run of a prepared database.
    pub(crate) fn start(&self, folder: &Path) -> io::Result<Child> {
        let mut command = self.command(folder, &["run", "plan.toml", "-q", "-o", "out"])?;
        command.spawn()
    }

    fn command(&self, folder: &Path, words: &[&str]) -> io::Result<Command> {
        let mut command = Command::new(&self.path);
        command.args(words).current_dir(folder).stdin(Stdio::null());
        command.stdout(Stdio::null());
        command.stderr(File::create(folder.join("messages"))?);
        Ok(command)
    }
}

/// Waits for a run to exit, and kills it after a deadline. If a process has ended except
/// for a thread inside the kernel, Linux keeps it until the storage answers; `let_go` makes the
/// storage answer.
pub(crate) fn finish(
    mut child: Child,
    folder: &Path,
    load: &RunLoad,
    let_go: impl Fn(),
) -> io::Result<Observed> {
    let deadline = Instant::now() + load.measured + SPARE_TIME;
    let mut gone_since = None;
    let ending = loop {
        if let Some(status) = child.try_wait()? {
            break Ending::Exited(status);
        }
        if Instant::now() > deadline {
            let waits = waits(child.id());
            child.kill()?;
            break Ending::Overdue(waits);
        }
        if is_gone(child.id()) {
            let since = *gone_since.get_or_insert_with(Instant::now);
            if since.elapsed() > KEPT_TIME {
                let_go();
            }
        }
        thread::sleep(Duration::from_millis(50));
    };
    let observed = Observed::of(ending, &messages(folder), &folder.join("out"));
    let was_kept = gone_since.is_some_and(|since| since.elapsed() > KEPT_TIME);
    Ok(Observed { was_kept, ..observed })
}

impl RunLoad {
    fn plan(&self, disk: &Path) -> String {
        let target = self.target_iops.map(|iops| format!("target_iops = {iops}\n"));
        format!(
            "name = \"lies\"\n\
             [databases]\nfolders = [{:?}]\ncount = 1\nsize = \"{}B\"\n\
             [engine]\ncache_minimum = \"2MiB\"\ncache_maximum = \"4MiB\"\n\
             [workload]\nthreads = 2\n{}\
             [test]\nduration = \"{}s\"\nwarm_up_limit = \"1s\"\ninterval = \"1s\"\n\
             give_up = \"12s\"\n",
            disk.display().to_string(),
            self.size_bytes,
            target.unwrap_or_default(),
            self.measured.as_secs(),
        )
    }
}

/// Whether the first thread of the process `id` has exited.
fn is_gone(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'))
}

fn waits_of(thread: &Path) -> String {
    let [name, stat, place] = ["comm", "stat", "wchan"]
        .map(|file| fs::read_to_string(thread.join(file)).unwrap_or_default());
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    format!("{} {} {place}", name.trim(), state.unwrap_or('?'))
}

/// Each thread of the process `id`: name, state, and where it waits in the kernel.
fn waits(id: u32) -> String {
    let mut all = Vec::new();
    for thread in fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten() {
        all.push(waits_of(&thread.path()));
    }
    all.join("; ")
}

/// Messages of the last command in `folder`.
fn messages(folder: &Path) -> String {
    fs::read_to_string(folder.join("messages")).unwrap_or_default()
}
