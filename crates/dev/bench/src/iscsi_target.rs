//! Random reads of one file over iSCSI by one client: `plimsoll cache serve` compared with tgtd.
//! The cache is warm and its flash is memory; tgtd reads through the page cache.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use testkit::tgt::Tgt;
use xtask::failure::Failure;
use xtask::shell;

use crate::iscsi_perf::perf;
use crate::{cached, pairs};

/// The goal: this program's reads per second divided by tgtd's.
const GOAL: f64 = 0.7;

/// Numbers of requests in flight, one line of output each.
const DEPTHS: [&str; 2] = ["1", "16"];

/// Rounds of reads before the first pair, each as long as a measurement, so that the cache holds
/// the whole file.
const WARM_ROUNDS: usize = 6;

/// Twice the file, so that no part of the file is evicted.
const FLASH_BYTES: u64 = 512 << 20;

const TARGET: &str = "iqn.2026-11.example.plimsoll:bench";

/// Measures every depth with files in `folder`, which `target` serves as its LUN 1; returns whether
/// all reach the goal.
pub(crate) fn run(target: &Tgt, folder: &Path) -> Result<bool, Failure> {
    let server = CacheServer::start(&cached::program()?, folder, &target.disk(1))?;
    let mut is_met = true;
    let (ours, theirs) = (server.address(), target.address(None, 1));
    for _ in 0..WARM_ROUNDS {
        perf(&ours, "16")?;
        perf(&theirs, "16")?;
    }
    for depth in DEPTHS {
        let pairs = pairs::measure(GOAL, || perf(&ours, depth), || perf(&theirs, depth))?;
        is_met &= pairs.ratio >= GOAL;
        println!(
            "iscsi target, {depth:>2} in flight: {:.0} reads/s of 32 KiB, tgtd {:.0}: {:.3} x ({})",
            pairs.ours,
            pairs.peer,
            pairs.ratio,
            if pairs.ratio >= GOAL { "goal of 0.7 met" } else { "below the goal of 0.7" }
        );
    }
    Ok(is_met)
}

/// A server with an empty cache for one file, stopped when dropped.
struct CacheServer {
    child: Child,
    portal: String,
    flash: PathBuf,
}

impl CacheServer {
    fn start(program: &str, folder: &Path, disk: &Path) -> Result<Self, Failure> {
        let file = Path::new(cached::MEMORY).join(format!("plimsoll-iscsi-{}", std::process::id()));
        let flash = file.display().to_string();
        // A file system in memory rejects unbuffered I/O on a new file, but not on an existing one.
        File::create(&file).and_then(|file| file.set_len(FLASH_BYTES)).map_err(Failure::of)?;
        shell::capture(&[program, "cache", "create", &flash])?;
        let messages = folder.join("serve.err");
        let mut command = Command::new(program);
        command.args(["cache", "serve", &flash, "--read-only", "--volume"]);
        command.arg(format!("disk={}", disk.display()));
        command.arg("--listen").arg(format!("unix:{}", folder.join("nbd.sock").display()));
        command.args(["--iscsi", "127.0.0.1:0", "--iscsi-name", TARGET]);
        let errors = File::create(&messages).map_err(Failure::of)?;
        let child = command.stdout(Stdio::null()).stderr(errors).spawn().map_err(Failure::of)?;
        let mut server = Self { child, portal: String::new(), flash: file };
        server.portal = server.wait_for_portal(&messages)?;
        Ok(server)
    }

    /// The portal that the server announces.
    fn wait_for_portal(&mut self, messages: &PathBuf) -> Result<String, Failure> {
        for _ in 0..600 {
            let lines = BufReader::new(File::open(messages).map_err(Failure::of)?).lines();
            let mut lines = lines.map_while(Result::ok);
            let portal = lines.find_map(|line| {
                Some(line.split_once("iscsi://")?.1.split_once('/')?.0.to_owned())
            });
            if let Some(portal) = portal {
                return Ok(portal);
            }
            if self.child.try_wait().map_err(Failure::of)?.is_some() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        let said = fs::read_to_string(messages).unwrap_or_default();
        Err(Failure::new(format!("the cache is not served: {said}")))
    }

    fn address(&self) -> String {
        format!("iscsi://{}/{TARGET}:disk/0", self.portal)
    }
}

impl Drop for CacheServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.flash);
    }
}
