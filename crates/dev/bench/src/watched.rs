//! What an open live page costs a run: the same load with and without a page, in alternating pairs.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use record::{JOURNAL, RunRecord};

use crate::{folder, pairs};
use xtask::failure::Failure;
use xtask::shell;

/// Minimum share of its IOPS that a watched run must keep.
const GOAL: f64 = 0.99;

/// Two databases that do not fit in the cache, loaded for as long as a verdict needs.
const PLAN: &str = "count = 2\nsize = \"512MiB\"\n[engine]\ncache_minimum = \"16MiB\"\n\
     cache_maximum = \"32MiB\"\n[workload]\nthreads = 4\n[test]\nduration = \"40s\"\n\
     warm_up_limit = \"10s\"\ninterval = \"1s\"\nchecksum = false\n";

/// Time within which a run must have created its journal.
const BEGINS_WITHIN: Duration = Duration::from_secs(30);

/// Prepares databases in a folder below `directory` and prints the ratio of the pairs' IOPS. Fails
/// if it is below the goal.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    shell::run(&["cargo", "build", "-q", "--release", "-p", "plimsoll"])?;
    let folder = directory.join("plimsoll-bench-watched");
    folder::remove(&folder)?;
    folder::create(&folder)?;
    let measured = compare(&folder);
    folder::remove(&folder)?;
    let measured = measured?;
    let verdict = if measured.ratio >= GOAL { "kept" } else { "MISSED" };
    println!(
        "watched: {:.0} IOPS with a live page open, {:.0} without: {:.4} x (at least {GOAL}: \
         {verdict})",
        measured.ours, measured.peer, measured.ratio
    );
    if measured.ratio < GOAL {
        return Err(Failure::new("an open page costs the run more than it may"));
    }
    Ok(())
}

fn compare(folder: &Path) -> Result<pairs::Pairs, Failure> {
    let plan = folder.join("plan.toml");
    let text = format!("[databases]\nfolders = [{:?}]\n{PLAN}", folder.display().to_string());
    fs::write(&plan, text).map_err(Failure::of)?;
    start(&["prepare"], &plan)?.wait().map_err(Failure::of)?;
    let folders: Vec<PathBuf> =
        (1..=2 * crate::PAIRS).map(|number| folder.join(format!("run-{number:02}"))).collect();
    let (watched, alone) = folders.split_at(crate::PAIRS);
    let (mut watched, mut alone) = (watched.iter(), alone.iter());
    pairs::measure(
        GOAL,
        || load(&plan, watched.next(), Some(folder)),
        || load(&plan, alone.next(), None),
    )
}

/// IOPS of one run into `output`, with its live page open if a folder is served.
fn load(plan: &Path, output: Option<&PathBuf>, served: Option<&Path>) -> Result<f64, Failure> {
    let output = output.ok_or_else(|| Failure::new("no folder is left for a run"))?;
    let words = ["run", "--output", &output.display().to_string()];
    let mut run = start(&words, plan)?;
    let journal = output.join(JOURNAL);
    let began = Instant::now();
    while !journal.exists() && began.elapsed() < BEGINS_WITHIN {
        std::thread::sleep(Duration::from_millis(100));
    }
    let page = served.map(|folder| OpenPage::of(folder, output)).transpose()?;
    run.wait().map_err(Failure::of)?;
    drop(page);
    let bytes = fs::read(&journal).map_err(Failure::of)?;
    let record = RunRecord::load(&bytes).map_err(Failure::of)?;
    Ok(record.achieved_transactional_iops())
}

fn start(words: &[&str], plan: &Path) -> Result<Child, Failure> {
    let mut command = Command::new(program());
    command.arg("--quiet").args(words).arg(plan).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(Failure::of)
}

fn program() -> PathBuf {
    shell::root().join("target/release/plimsoll")
}

/// A server with one open page: in Chromium if that is installed, otherwise as a reader of the
/// page's event stream.
struct OpenPage {
    children: Vec<Child>,
    _stream: Option<std::thread::JoinHandle<()>>,
}

impl OpenPage {
    fn of(folder: &Path, run: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(program());
        command.args(["--quiet", "serve", "--listen", "127.0.0.1:0"]).arg(folder);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().map_err(Failure::of)?;
        let mut line = String::new();
        if let Some(out) = server.stdout.take() {
            BufReader::new(out).read_line(&mut line).map_err(Failure::of)?;
        }
        let address = line.trim().trim_start_matches("http://");
        let address = address.split('/').next().unwrap_or_default().to_owned();
        let id = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut children = vec![server];
        if shell::installed("chromium") {
            children.push(browser(&format!("http://{address}/live/{id}"))?);
            return Ok(Self { children, _stream: None });
        }
        let stream = std::thread::Builder::new().spawn(move || read_events(&address, &id));
        Ok(Self { children, _stream: Some(stream.map_err(Failure::of)?) })
    }
}

impl Drop for OpenPage {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Opens a window that lives as long as the process.
fn browser(address: &str) -> Result<Child, Failure> {
    let mut command = Command::new("chromium");
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]);
    command.arg(address).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(Failure::of)
}

fn read_events(address: &str, id: &str) {
    let Ok(mut stream) = TcpStream::connect(address) else {
        return;
    };
    let request = format!("GET /events/{id} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    if stream.write_all(request.as_bytes()).is_ok() {
        // The stream ends when the server does.
        let _ = stream.read_to_end(&mut Vec::new());
    }
}
