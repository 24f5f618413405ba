//! Tests unbuffered requests at every kind of sector, from one sector in length: their bytes must
//! arrive in place and nowhere else.

use std::fs;
use std::path::Path;
use std::rc::Rc;

use device::{Buffer, Device, DeviceError, Durability, OpenMode, Purpose, Request};
use device_os::probe;
use host::wire;
use units::{Prng, Seed};

use super::{PartEnd, TrialGround};
use console::error::CommandError;

const FILE: &str = "sectors";
const FILE_BYTES: usize = 4 << 20;

/// Lengths in sectors: those that are not powers of two straddle the storage's internal units,
/// whatever their size.
const LENGTHS: [usize; 7] = [1, 2, 3, 7, 8, 64, 2047];

/// First sectors of requests: around the 4 KiB and 32 KiB boundaries with 512-byte sectors.
const FIRST_SECTORS: [usize; 9] = [0, 1, 7, 8, 9, 63, 64, 65, 127];

pub(super) fn test(ground: &TrialGround<'_>) -> Result<PartEnd, CommandError> {
    let world = wire::world()?;
    let volume = wire::volume(&world, &ground.folder)?;
    let mode = OpenMode::CreateNew { length: FILE_BYTES as u64 };
    let device = world.executor().block_on(volume.open(FILE, mode))?;
    let trial = match world.executor().block_on(write_and_read(device)) {
        Ok(trial) => trial,
        Err(refused) => return Ok(PartEnd::Broken(vec![refused.to_string()])),
    };
    let path = ground.folder.join(FILE);
    let mut findings = trial.findings;
    let seen = fs::read(&path).map_err(|error| CommandError::file(&path, "read", &error))?;
    if seen != trial.twin {
        findings.push("another program does not read what was written past the cache".to_owned());
    }
    if !findings.is_empty() {
        return Ok(PartEnd::Broken(findings));
    }
    Ok(PartEnd::Held(format!(
        "{} requests at multiples of {} bytes were written, and read here and through the system's \
         cache; a request at byte 1 is {}",
        trial.requests,
        trial.sector,
        refusal(&path)?
    )))
}

/// Tries a request that no unbuffered file accepts.
fn refusal(path: &Path) -> Result<&'static str, CommandError> {
    Ok(if probe::refuses_unaligned(path)? {
        "refused, as it must be where no cache lies between"
    } else {
        "not refused, so that a cache may lie between"
    })
}

/// State of the alignment trial.
struct AlignmentTrial {
    sector: usize,
    requests: u64,
    /// Expected contents of the file.
    twin: Vec<u8>,
    findings: Vec<String>,
}

async fn write_and_read(device: Rc<dyn Device>) -> Result<AlignmentTrial, DeviceError> {
    let sector = device.caps().sector as usize;
    let mut prng = Prng::new(Seed(1));
    let mut trial =
        AlignmentTrial { sector, requests: 0, twin: vec![0; FILE_BYTES], findings: Vec::new() };
    for length in LENGTHS.map(|sectors| sectors * sector) {
        let last = FILE_BYTES - length;
        let starts = FIRST_SECTORS.map(|first| first * sector);
        for start in starts.into_iter().chain([last]).filter(|start| *start <= last) {
            let range = start..start + length;
            prng.fill(&mut trial.twin[range.clone()]);
            let mut bytes = Buffer::zeroed(length);
            bytes.copy_from_slice(&trial.twin[range]);
            let durability = Durability::Durable;
            let write = Request::write(Purpose::Database, start as u64, bytes, durability);
            device.submit(write).await.result?;
            // Includes the neighbours before and after, as far as the file extends.
            let around = start.saturating_sub(sector)..(start + length + sector).min(FILE_BYTES);
            let read = Request::read(Purpose::Database, around.start as u64, around.len());
            let bytes = device.submit(read).await.into_buffer()?;
            if bytes[..] != trial.twin[around] {
                trial
                    .findings
                    .push(format!("{length} bytes at byte {start} are not what was read"));
            }
            trial.requests += 2;
        }
    }
    Ok(trial)
}
