//! One slice of random reads through `device-os`, in a separate process, as each of fio's is: the
//! processor that a process runs on, and how scattered its memory is, change the rate by up to a
//! third.

use std::path::Path;
use std::rc::Rc;

use device::{Buffer, Device, DeviceError, OpenMode, Purpose, Request, Runtime};
use device_os::{Backend, World};
use units::{Nanos, Prng, Seed};

use crate::fio;
use xtask::failure::Failure;
use xtask::shell;

/// Size of the file: far larger than the cache in a small disk.
pub(crate) const FILE_BYTES: u64 = 1 << 30;

/// Bytes per read: the page size of an Exchange database.
pub(crate) const READ_BYTES: usize = 32 << 10;

/// Length of each slice.
pub(crate) const SLICE: Nanos = Nanos::from_millis(500);

/// Name of the file.
pub(crate) const FILE: &str = "plimsoll-bench-device";

/// The bench command that runs [`run`].
pub(crate) const COMMAND: &str = "bench-slice";

/// Measures a slice in a new process.
pub(crate) fn apart(directory: &Path, depth: usize, seed: u64) -> Result<fio::FioMeasure, Failure> {
    let program = std::env::current_exe().map_err(Failure::of)?;
    let [program, directory] = [&program, directory].map(|path| path.display().to_string());
    let (depth, seed) = (depth.to_string(), seed.to_string());
    let printed = shell::capture(&[&program, COMMAND, &directory, &depth, &seed])?;
    parse(&printed).ok_or_else(|| Failure::new(format!("a slice printed `{printed}`")))
}

fn parse(printed: &str) -> Option<fio::FioMeasure> {
    let mut figures = printed.split_whitespace().map(str::parse::<f64>);
    let mut figure = || figures.next()?.ok();
    let (reads, nanos, cpu_nanos) = (figure()?, figure()?, figure()?);
    let per_second = reads / nanos * 1e9;
    Some(fio::FioMeasure {
        operations_per_second: per_second,
        bytes_per_second: per_second * READ_BYTES as f64,
        cpu_micros_per_operation: cpu_nanos / 1e3 / reads,
    })
}

fn number(word: &str) -> Result<u64, Failure> {
    word.parse().map_err(|_| Failure::new(format!("`{word}` is no number")))
}

/// Reads in this process; prints the number of reads, the elapsed nanoseconds, and this thread's
/// processor time in nanoseconds.
pub(crate) fn run(directory: &Path, depth: &str, seed: &str) -> Result<(), Failure> {
    let (depth, seed) = (number(depth)?, number(seed)?);
    let world = World::new(Backend::Auto).map_err(Failure::of)?;
    let volume = world.volume(directory).map_err(Failure::of)?;
    let task = world.executor().runtime();
    let cpu_before = cpu_nanos()?;
    let (reads, span) = world
        .executor()
        .block_on(async move {
            let device = volume.open(FILE, OpenMode::ReadOnly).await?;
            let began = task.now();
            let until = began + SLICE;
            let readers: Vec<_> = (0..depth)
                .map(|reader| {
                    let prng = Prng::new(Seed(seed).derive(reader));
                    task.spawn(read_until(
                        task.clone(),
                        Rc::clone(&device),
                        prng,
                        (until, FILE_BYTES),
                    ))
                })
                .collect();
            let mut reads = 0;
            for reader in readers {
                reads += reader.await?;
            }
            Ok::<_, DeviceError>((reads, task.now().since(began)))
        })
        .map_err(Failure::of)?;
    println!("{reads} {} {}", span.0, cpu_nanos()? - cpu_before);
    Ok(())
}

/// Reads at random offsets within `bytes` until a deadline; returns the count.
pub(crate) async fn read_until(
    runtime: Runtime,
    device: Rc<dyn Device>,
    mut prng: Prng,
    (until, bytes): (Nanos, u64),
) -> Result<u64, DeviceError> {
    let mut buffer = Buffer::zeroed(READ_BYTES);
    let mut reads = 0;
    while runtime.now() < until {
        let offset = prng.below(bytes / READ_BYTES as u64) * READ_BYTES as u64;
        let read = Request::read_into(Purpose::Database, offset, buffer);
        buffer = device.submit(read).await.into_buffer()?;
        reads += 1;
    }
    Ok(reads)
}

/// CPU time of this thread: the first field of schedstat (Documentation/scheduler/sched-stats.rst).
fn cpu_nanos() -> Result<u64, Failure> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text.split(' ').next().unwrap_or_default();
    first.parse().map_err(|_| Failure::new("the kernel does not tell CPU time in schedstat"))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn what_a_slice_prints_is_read() {
        let measured = parse("20000 2000000000 100000000\n").unwrap();
        assert!((measured.operations_per_second - 10_000.0).abs() < 1e-9);
        assert!((measured.bytes_per_second - 327_680_000.0).abs() < 1e-9);
        assert!((measured.cpu_micros_per_operation - 5.0).abs() < 1e-9);
        assert_eq!(parse("20000 2000000000"), None);
        assert_eq!(parse("an error"), None);
    }
}
