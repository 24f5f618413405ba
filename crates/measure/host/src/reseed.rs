//! One end of a reseed: a database file read from first to last byte, or a file of its size
//! written, at a given rate alongside the load. The bytes are not sent anywhere: this tests the
//! storage, not the network.

use std::path::Path;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use device::{Buffer, Device, Durability, OpenMode, Purpose, Request};
use device_os::World;
use units::{Bytes, Prng, Seed};

use crate::error::HostError;
use crate::stop::StopFlag;
use crate::target;
use crate::wire;

/// Bytes per request, the size that a mail server uses to seed a copy.
const PIECE: Bytes = Bytes::from_mib(1);

/// The work of one end.
#[derive(Clone, Copy, Debug)]
pub struct SeedEnd<'a> {
    /// Folder of the database file.
    pub folder: &'a Path,
    /// Name of the database file.
    pub file: &'a str,
    /// `true` to write a file of that size and remove it at the end; `false` to read the file.
    pub is_target: bool,
    /// Bytes per second.
    pub bytes_per_second: u64,
}

/// Result of one end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeded {
    /// Bytes that were read or written.
    pub bytes: u64,
    /// How long that took.
    pub elapsed: Duration,
    /// Why it did not complete, in a sentence.
    pub fault: Option<String>,
}

/// Reads or writes all of a file, until `stop` is set.
pub fn seed(end: SeedEnd<'_>, stop: &StopFlag) -> Seeded {
    let began = Instant::now();
    let mut bytes = 0;
    let fault = run(end, stop, &mut bytes).err().map(|error| error.to_string());
    Seeded { bytes, elapsed: began.elapsed(), fault }
}

fn run(end: SeedEnd<'_>, stop: &StopFlag, done: &mut u64) -> Result<(), HostError> {
    let path = end.folder.join(end.file);
    let length = target::length(&path)
        .ok_or_else(|| HostError::new(format!("{}: no such database", path.display())))?;
    let world = wire::world()?;
    if !end.is_target {
        let file = world.executor().block_on(world.open_to_read(&path))?;
        return transfer(&world, &file, (length, end), stop, done);
    }
    let name = format!("{}.seed", end.file);
    let volume = wire::volume(&world, end.folder)?;
    // Left behind by a killed agent.
    let _ = world.executor().block_on(volume.remove(&name));
    let mode = OpenMode::CreateNew { length };
    let file = world.executor().block_on(volume.open(&name, mode))?;
    let written = transfer(&world, &file, (length, end), stop, done);
    drop(file);
    world.executor().block_on(volume.remove(&name))?;
    written
}

fn transfer(
    world: &World,
    file: &Rc<dyn Device>,
    (length, end): (u64, SeedEnd<'_>),
    stop: &StopFlag,
    done: &mut u64,
) -> Result<(), HostError> {
    let began = Instant::now();
    let mut prng = Prng::new(Seed(length));
    while *done < length {
        if stop.is_set() {
            return Err(HostError::new("the run was stopped".to_owned()));
        }
        let piece = PIECE.0.min(length - *done);
        let request = request(end.is_target, *done, piece, &mut prng);
        world.executor().block_on(file.submit(request)).result?;
        *done += piece;
        thread::sleep(due(*done, end.bytes_per_second).saturating_sub(began.elapsed()));
    }
    Ok(())
}

fn request(is_target: bool, offset: u64, length: u64, prng: &mut Prng) -> Request {
    let length = usize::try_from(length).expect("invariant: a piece is short");
    if !is_target {
        return Request::read(Purpose::Backup, offset, length);
    }
    let mut buffer = Buffer::zeroed(length);
    prng.fill(&mut buffer);
    Request::write(Purpose::BackupCopy, offset, buffer, Durability::Volatile)
}

/// When `bytes` are due at a rate.
fn due(bytes: u64, bytes_per_second: u64) -> Duration {
    let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(bytes_per_second.max(1));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, Instant};

    use super::{SeedEnd, due, seed};
    use crate::stop::StopFlag;

    #[test]
    fn bytes_are_due_at_their_rate() {
        assert_eq!(due(50 << 20, 100 << 20), Duration::from_millis(500));
        assert_eq!(due(u64::MAX, 1), Duration::from_nanos(u64::MAX));
    }

    #[test]
    fn both_ends_move_the_whole_file_and_leave_nothing() {
        let folder = std::env::temp_dir().join(format!("plimsoll-seed-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("a.edb"), vec![7; 3 << 20]).expect("a file");
        let began = Instant::now();
        for is_target in [false, true] {
            let end =
                SeedEnd { folder: &folder, file: "a.edb", is_target, bytes_per_second: 20 << 20 };
            let seeded = seed(end, &StopFlag::default());
            assert_eq!((seeded.bytes, seeded.fault), (3 << 20, None), "target: {is_target}");
        }
        assert!(began.elapsed() >= Duration::from_millis(290), "slower than the rate allows");
        assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 1);
        let end = SeedEnd { folder: &folder, file: "b.edb", is_target: false, bytes_per_second: 1 };
        let missing = seed(end, &StopFlag::default()).fault.expect("no such file");
        assert!(missing.contains("b.edb: no such database"), "{missing}");
        fs::remove_dir_all(&folder).expect("removed");
    }
}
