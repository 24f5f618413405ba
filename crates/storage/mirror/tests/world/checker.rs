//! The history: a register per block, each write unique, and what any read may return.

use std::collections::BTreeSet;

use mirror::{BlockContent, BlockData, GuestOutcome};

/// Blocks of the volume.
pub(crate) const BLOCKS: u64 = 12;

/// Without a backing store, writes of these multiples are trims, which carry no number.
const TRIMS: u64 = 5;

/// A block's content: its number and the number of the write, counted from 1.
fn content(block: u64, version: u64) -> BlockData {
    [block.to_le_bytes(), version.to_le_bytes()].concat().into()
}

pub(crate) fn version_of(block: u64, data: Option<&BlockData>) -> Result<u64, String> {
    let Some(data) = data else { return Ok(0) };
    let word = |at: usize| data[at..at + 8].try_into().map(u64::from_le_bytes);
    match (word(0), word(8)) {
        (Ok(owner), Ok(version)) if owner == block => Ok(version),
        _ => Err(format!("block {block} has the content of another: {data:?}")),
    }
}

#[derive(Clone, Debug, Default)]
struct Register {
    /// The last write begun.
    begun: u64,
    /// Reads return this one or a later one.
    floor: u64,
    /// The last write acknowledged.
    acknowledged: u64,
    /// Writes that ended without an answer: carried out by now, or never.
    unknown: BTreeSet<u64>,
    /// Writes that are never carried out.
    dead: BTreeSet<u64>,
    /// For each write, the number of flushes that had completed when it began.
    flushes: Vec<usize>,
    is_writing: bool,
}

/// A request under way.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Read { block: u64, floor: u64, unknown: BTreeSet<u64> },
    Write { block: u64, version: u64 },
    Flush { acknowledged: Vec<u64> },
}

/// See the module.
#[derive(Debug)]
pub(crate) struct History {
    has_trims: bool,
    registers: Vec<Register>,
    /// After each completed flush, what the backing store must hold once it holds a later write.
    flushed: Vec<Vec<u64>>,
    backing: Vec<u64>,
    pub(crate) acknowledged: u64,
    pub(crate) reads: u64,
}

fn at(block: u64) -> usize {
    usize::try_from(block).expect("a small block number")
}

impl History {
    pub(crate) fn new(has_trims: bool) -> Self {
        let nothing = vec![0; at(BLOCKS)];
        Self {
            has_trims,
            registers: vec![Register { flushes: vec![0], ..Register::default() }; at(BLOCKS)],
            flushed: vec![nothing.clone()],
            backing: nothing,
            acknowledged: 0,
            reads: 0,
        }
    }

    pub(crate) fn begin_read(&self, block: u64) -> Operation {
        let register = &self.registers[at(block)];
        Operation::Read { block, floor: register.floor, unknown: register.unknown.clone() }
    }

    /// None while another write to the block is under way.
    pub(crate) fn begin_write(&mut self, block: u64) -> Option<(Operation, BlockData)> {
        let flushes = self.flushed.len() - 1;
        let register = &mut self.registers[at(block)];
        if register.is_writing {
            return None;
        }
        register.is_writing = true;
        register.begun += 1;
        register.flushes.push(flushes);
        let version = register.begun;
        let is_trim = self.has_trims && version.is_multiple_of(TRIMS);
        let data = if is_trim { BlockData::default() } else { content(block, version) };
        Some((Operation::Write { block, version }, data))
    }

    pub(crate) fn begin_flush(&self) -> Operation {
        let acknowledged = self.registers.iter().map(|one| one.acknowledged).collect();
        Operation::Flush { acknowledged }
    }

    pub(crate) fn end(
        &mut self,
        operation: Operation,
        outcome: &GuestOutcome,
    ) -> Result<(), String> {
        match (operation, outcome) {
            (Operation::Read { block, floor, unknown }, GuestOutcome::Value(data)) => {
                self.reads += 1;
                let data = data.as_ref().and_then(BlockContent::here);
                let register = &mut self.registers[at(block)];
                let version = match data {
                    Some(data) if data.is_empty() => register.trim_after(floor)?,
                    data => version_of(block, data)?,
                };
                register.read(version, floor, &unknown)
            }
            (Operation::Write { block, version }, outcome) => {
                self.acknowledged += u64::from(*outcome == GuestOutcome::Done);
                self.registers[at(block)].written(version, outcome);
                Ok(())
            }
            (Operation::Flush { acknowledged }, GuestOutcome::Done) => {
                let last = self.flushed.last().expect("one at least");
                let all = last.iter().zip(&acknowledged).map(|(a, b)| *a.max(b)).collect();
                self.flushed.push(all);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The backing store has carried out a write: its contents must still be an earlier consistent
    /// state.
    pub(crate) fn destaged(&mut self, block: u64, data: &BlockData) -> Result<(), String> {
        let version = version_of(block, Some(data))?;
        let before = std::mem::replace(&mut self.backing[at(block)], version);
        if version < before {
            return Err(format!("backing store: block {block} went from {before} to {version}"));
        }
        let held = self.registers.iter().zip(&self.backing);
        let flush = held.map(|(register, version)| register.flushes[at(*version)]).max();
        let required = &self.flushed[flush.unwrap_or(0)];
        let lagging =
            (0..).zip(self.backing.iter().zip(required)).find(|(_, (has, must))| has < must);
        lagging.map_or(Ok(()), |(other, (has, must))| {
            Err(format!(
                "backing store: block {block} is at {version}, written after a flush that covers \
                 {must} of block {other}, which is at {has}"
            ))
        })
    }

    pub(crate) fn last_acknowledged(&self, block: u64) -> u64 {
        self.registers[at(block)].acknowledged
    }

    pub(crate) fn backing(&self, block: u64) -> u64 {
        self.backing[at(block)]
    }
}

impl Register {
    /// The first trim that could explain an empty read that began when `floor` was in force.
    fn trim_after(&self, floor: u64) -> Result<u64, String> {
        let first = floor.max(1).next_multiple_of(TRIMS);
        let mut trims = (first..=self.begun).filter(|version| version.is_multiple_of(TRIMS));
        let trim = trims.find(|trim| !self.dead.contains(trim));
        trim.ok_or_else(|| format!("read of a trimmed block, but {floor} was in force"))
    }

    fn read(&mut self, version: u64, floor: u64, unknown: &BTreeSet<u64>) -> Result<(), String> {
        if version < floor {
            return Err(format!("stale read: write {version}, but {floor} was in force"));
        }
        if version > self.begun || self.dead.contains(&version) {
            return Err(format!("read of write {version}, which was never carried out"));
        }
        self.floor = self.floor.max(version);
        self.dead.extend(unknown.iter().filter(|late| **late > version));
        Ok(())
    }

    fn written(&mut self, version: u64, outcome: &GuestOutcome) {
        self.is_writing = false;
        match outcome {
            GuestOutcome::Done => {
                self.floor = self.floor.max(version);
                self.acknowledged = version;
            }
            GuestOutcome::NotServing => drop(self.dead.insert(version)),
            _ => drop(self.unknown.insert(version)),
        }
    }
}
