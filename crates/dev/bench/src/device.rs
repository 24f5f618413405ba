//! Random unbuffered reads through `device-os` compared with fio: the cost of this abstraction.

use std::fmt;
use std::path::Path;

use device::{Buffer, DeviceError, Durability, OpenMode, Purpose, Request};
use device_os::{Backend, World};
use units::{Prng, Seed};

use crate::fio_memory::FioMemory;
use crate::slice::{FILE, FILE_BYTES, READ_BYTES, SLICE};
use crate::{PAIRS, fio, median, slice};
use xtask::failure::Failure;

/// Numbers of requests in flight, one line of output each.
const DEPTHS: [usize; 3] = [1, 8, 32];

/// Alternating slices of each side in a pair. Shared storage changes its speed by tens of percent
/// within seconds: a pair of two long stretches compares two moments, not two programs.
const SLICES: usize = 8;

/// The goal: this program's IOPS divided by fio's.
const GOAL: f64 = 0.97;

/// Medians of alternating pairs at one depth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    /// Kind of memory that fio's buffers are in.
    pub memory: FioMemory,
    /// Requests in flight.
    pub depth: usize,
    /// Our reads per second.
    pub ours: f64,
    /// fio's reads per second.
    pub fio: f64,
    /// Median of the pairs' ratios, this program over fio.
    pub ratio: f64,
    /// This program's CPU time per read in microseconds.
    pub our_cpu_micros: f64,
    /// fio's CPU time per read in microseconds.
    pub fio_cpu_micros: f64,
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>2} in flight: {:>8.0} reads/s, {} {:>8.0}: {:.3} x ({}); \
             CPU {:.1} us a read, fio {:.1} us",
            self.depth,
            self.ours,
            self.memory.name(),
            self.fio,
            self.ratio,
            if self.ratio >= GOAL { "goal met" } else { "below the goal of 0.97" },
            self.our_cpu_micros,
            self.fio_cpu_micros,
        )
    }
}

/// Measures every depth in `directory`; prints only a message if fio is absent. The file is removed
/// at the end.
pub(crate) fn run(directory: &Path) -> Result<Vec<Comparison>, Failure> {
    if !fio::installed() {
        println!("{}", fio::ABSENT);
        return Ok(Vec::new());
    }
    fill(directory).map_err(Failure::of)?;
    let comparisons = FioMemory::ALL
        .into_iter()
        .filter(|memory| memory.is_possible())
        .flat_map(|memory| DEPTHS.map(|depth| (memory, depth)))
        .map(|(memory, depth)| compare(directory, memory, depth))
        .collect();
    let world = World::new(Backend::Auto).map_err(Failure::of)?;
    let volume = world.volume(directory).map_err(Failure::of)?;
    let removed = world.executor().block_on(volume.remove(FILE));
    removed.map_err(Failure::of)?;
    comparisons
}

/// Writes incompressible bytes: unwritten ranges would be read without touching the device.
fn fill(directory: &Path) -> Result<(), DeviceError> {
    const BLOCK: usize = 1 << 20;
    let world = World::new(Backend::Auto)?;
    let volume = world.volume(directory)?;
    world.executor().block_on(async move {
        let mode = OpenMode::CreateNew { length: FILE_BYTES };
        let device = volume.open(FILE, mode).await?;
        let mut buffer = Buffer::zeroed(BLOCK);
        for offset in (0..FILE_BYTES).step_by(BLOCK) {
            Prng::new(Seed(offset)).fill(&mut buffer);
            let write = Request::write(Purpose::Fill, offset, buffer, Durability::Volatile);
            buffer = device.submit(write).await.into_buffer()?;
        }
        device.submit(Request::flush(Purpose::Fill)).await.result
    })
}

fn compare(directory: &Path, memory: FioMemory, depth: usize) -> Result<Comparison, Failure> {
    let pairs = (0..PAIRS)
        .map(|pair| measure_pair(directory, memory, depth, pair))
        .collect::<Result<Vec<_>, _>>()?;
    let middle = |value: fn(&(fio::FioMeasure, fio::FioMeasure)) -> f64| {
        median(pairs.iter().map(value).collect())
    };
    Ok(Comparison {
        memory,
        depth,
        ours: middle(|(ours, _)| ours.operations_per_second),
        fio: middle(|(_, fio)| fio.operations_per_second),
        ratio: middle(|(ours, fio)| ours.operations_per_second / fio.operations_per_second),
        our_cpu_micros: middle(|(ours, _)| ours.cpu_micros_per_operation),
        fio_cpu_micros: middle(|(_, fio)| fio.cpu_micros_per_operation),
    })
}

/// Runs slices of this program and of fio alternately, each first equally often; returns the means.
fn measure_pair(
    directory: &Path,
    memory: FioMemory,
    depth: usize,
    pair: usize,
) -> Result<(fio::FioMeasure, fio::FioMeasure), Failure> {
    let (mut our_slices, mut fio_slices) = (Vec::new(), Vec::new());
    for slice in 0..SLICES {
        let seed = (pair * SLICES + slice) as u64;
        if slice % 2 == 0 {
            our_slices.push(slice::apart(directory, depth, seed)?);
            fio_slices.push(fio_slice(directory, memory, depth)?);
        } else {
            fio_slices.push(fio_slice(directory, memory, depth)?);
            our_slices.push(slice::apart(directory, depth, seed)?);
        }
    }
    Ok((mean(&our_slices), mean(&fio_slices)))
}

/// The mean of slices of equal length.
fn mean(slices: &[fio::FioMeasure]) -> fio::FioMeasure {
    let of = |value: fn(&fio::FioMeasure) -> f64| {
        slices.iter().map(value).sum::<f64>() / slices.len() as f64
    };
    fio::FioMeasure {
        operations_per_second: of(|slice| slice.operations_per_second),
        bytes_per_second: of(|slice| slice.bytes_per_second),
        cpu_micros_per_operation: of(|slice| slice.cpu_micros_per_operation),
    }
}

fn fio_slice(
    directory: &Path,
    memory: FioMemory,
    depth: usize,
) -> Result<fio::FioMeasure, Failure> {
    let depth = format!("--iodepth={depth}");
    let block = format!("--bs={READ_BYTES}");
    let runtime = format!("--runtime={}ms", SLICE.0 / 1_000_000);
    let mut arguments = vec!["--rw=randread", "--time_based", &depth, &block, &runtime];
    arguments.extend(memory.arguments());
    fio::run(&directory.join(FILE), &arguments)
}
