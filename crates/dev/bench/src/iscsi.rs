//! Random reads of a LUN by this program's initiator, compared with `iscsi-perf` of libiscsi, from
//! a dedicated `tgtd` on the loopback interface: what this initiator adds to the wire.

use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use device::{DeviceError, OpenMode};
use device_net::{IscsiAddress, IscsiInitiator, connect_lun};
use device_os::{Backend, World};
use testkit::tgt::Tgt;
use units::{Nanos, Prng, Seed};

use crate::iscsi_perf::{SECONDS, perf};
use crate::{iscsi_target, pairs, slice};
use xtask::failure::Failure;
use xtask::shell;

/// The bench command that runs [`alone`].
pub(crate) const COMMAND: &str = "bench-iscsi";

/// Numbers of requests in flight, one line of output each.
const DEPTHS: [&str; 3] = ["1", "8", "32"];

/// The goal: this program's reads per second divided by the peer's.
const GOAL: f64 = 0.7;

/// Bytes of the LUN, which the target keeps in memory: the bench measures the wire, not a disk.
const LUN_BYTES: u64 = 256 << 20;

/// Measures every depth, and fails if a goal is missed. If the target or `iscsi-perf` is missing,
/// only prints which package to install.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    let folder = directory.join("iscsi");
    // An earlier run may have left files.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(Failure::of)?;
    let has_peer = Command::new("iscsi-perf").output().is_ok();
    let target = if has_peer { Tgt::start(&folder) } else { None };
    let Some(target) = target else {
        println!("skipped: it needs tgtd and iscsi-perf; apt install tgt libiscsi-bin");
        return Ok(());
    };
    fill(&target, &folder)?;
    let (address, mut is_met) = (target.address(None, 1), true);
    for depth in DEPTHS {
        let (mut seed, address) = (0_u64, &address);
        let pairs = pairs::measure(
            GOAL,
            || {
                seed += 1;
                ours(address, depth, seed)
            },
            || perf(address, depth),
        )?;
        is_met &= pairs.ratio >= GOAL;
        println!(
            "iscsi, {depth:>2} in flight: {:.0} reads/s of 32 KiB, iscsi-perf {:.0}: {:.3} x ({})",
            pairs.ours,
            pairs.peer,
            pairs.ratio,
            if pairs.ratio >= GOAL { "goal of 0.7 met" } else { "below the goal of 0.7" }
        );
    }
    is_met &= iscsi_target::run(&target, &folder)?;
    drop(target);
    std::fs::remove_dir_all(&folder).map_err(Failure::of)?;
    if is_met { Ok(()) } else { Err(Failure::new("an initiator or the target is below its goal")) }
}

/// Fills the LUN with incompressible bytes.
fn fill(target: &Tgt, folder: &Path) -> Result<(), Failure> {
    let mut bytes = vec![0; usize::try_from(LUN_BYTES).map_err(Failure::of)?];
    Prng::new(Seed(1)).fill(&mut bytes);
    std::fs::write(folder.join("lun1.img"), bytes).map_err(Failure::of)?;
    target.offer(1, &[]);
    Ok(())
}

/// This program's reads per second, in a separate process like the peer's.
fn ours(address: &str, depth: &str, seed: u64) -> Result<f64, Failure> {
    let program = std::env::current_exe().map_err(Failure::of)?.display().to_string();
    let printed = shell::capture(&[&program, COMMAND, address, depth, &seed.to_string()])?;
    let figure = printed.trim().parse();
    figure.map_err(|_| Failure::new(format!("our side printed `{printed}`")))
}

/// Reads in this process and prints the reads per second.
pub(crate) fn alone(address: &str, depth: &str, seed: &str) -> Result<(), Failure> {
    let wrong = |_| Failure::new("a depth and a seed are numbers");
    let (depth, seed) = (depth.parse::<u64>().map_err(wrong)?, seed.parse().map_err(wrong)?);
    let (lun, name, _) =
        IscsiAddress::parse(address).ok_or_else(|| Failure::new("an address of a LUN"))?;
    let initiator =
        IscsiInitiator { name: "iqn.2026-11.example.plimsoll:bench".into(), chap: None };
    let world = World::new(Backend::Auto).map_err(Failure::of)?;
    let device = connect_lun(&lun, &name, &initiator, OpenMode::ReadOnly, world.remote())
        .map_err(Failure::of)?;
    let task = world.executor().runtime();
    let (reads, span) = world
        .executor()
        .block_on(async move {
            let began = task.now();
            let until = began + Nanos::from_secs(SECONDS);
            let mut readers = Vec::new();
            for reader in 0..depth {
                let prng = Prng::new(Seed(seed).derive(reader));
                readers.push(task.spawn(slice::read_until(
                    task.clone(),
                    Rc::clone(&device),
                    prng,
                    (until, LUN_BYTES),
                )));
            }
            let mut reads = 0_u64;
            for reader in readers {
                reads += reader.await?;
            }
            Ok::<_, DeviceError>((reads, task.now().since(began)))
        })
        .map_err(Failure::of)?;
    println!("{}", reads as f64 / span.0 as f64 * 1e9);
    Ok(())
}
