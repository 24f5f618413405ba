//! The real program, started in a folder with a plan, and killed if it does not exit.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::outcome::Observed;

/// Time allowed beyond the measurement, for opening, warming up and verifying.
const SPARE_TIME: Duration = Duration::from_mins(2);

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
    /// `None` for the maximum rate.
    pub target_iops: Option<u32>,
}

impl Program {
    /// The program in the file `path`.
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

/// Waits for a run to exit, and kills it after a deadline.
pub(crate) fn finish(mut child: Child, folder: &Path, load: &RunLoad) -> io::Result<Observed> {
    let deadline = Instant::now() + load.measured + SPARE_TIME;
    let code = loop {
        if let Some(status) = child.try_wait()? {
            break status.code();
        }
        if Instant::now() > deadline {
            child.kill()?;
            break None;
        }
        thread::sleep(Duration::from_millis(50));
    };
    Ok(Observed::of(code, &messages(folder), &folder.join("out")))
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

/// Messages of the last command in `folder`.
fn messages(folder: &Path) -> String {
    fs::read_to_string(folder.join("messages")).unwrap_or_default()
}
