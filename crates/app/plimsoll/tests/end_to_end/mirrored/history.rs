//! The history of a volume: a register per block, each write unique, and what any read may return,
//! whichever hosts the clients use at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use units::{Prng, Seed};

/// Bytes of a block.
pub(super) const BLOCK: usize = 4_096;

/// See the module. Shared by all clients.
#[derive(Default)]
pub(super) struct History(Mutex<Registers>);

#[derive(Default)]
struct Registers {
    blocks: BTreeMap<u64, Register>,
    /// The first read that returned what it must not.
    complaint: Option<String>,
    reads: u64,
    acknowledged: u64,
}

#[derive(Clone, Debug, Default)]
struct Register {
    /// The last write begun; writes are counted from 1.
    begun: u64,
    /// Reads that begin now return this write or a later one.
    floor: u64,
    /// Ended without an answer: carried out by now, or never.
    unknown: BTreeSet<u64>,
    /// A read has shown that they were not carried out.
    dead: BTreeSet<u64>,
    is_writing: bool,
}

/// A read under way.
pub(super) struct BegunRead {
    history: Arc<History>,
    block: u64,
    floor: u64,
    unknown: BTreeSet<u64>,
}

/// A write under way. Its outcome is unknown if it is dropped.
pub(super) struct BegunWrite {
    history: Arc<History>,
    block: u64,
    version: u64,
    is_acknowledged: bool,
}

/// The content of a block after write `version`; 0: never written.
fn content(block: u64, version: u64) -> Vec<u8> {
    let mut bytes = vec![0; BLOCK];
    if version > 0 {
        Prng::new(Seed(block << 32 | version)).fill(&mut bytes);
        bytes[..8].copy_from_slice(&version.to_le_bytes());
    }
    bytes
}

impl History {
    fn lock(&self) -> MutexGuard<'_, Registers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin_read(self: &Arc<Self>, block: u64) -> BegunRead {
        let mut registers = self.lock();
        let register = registers.blocks.entry(block).or_default();
        let (floor, unknown) = (register.floor, register.unknown.clone());
        BegunRead { history: Arc::clone(self), block, floor, unknown }
    }

    /// The write and its content; `None` while another one to the block is under way.
    pub(super) fn begin_write(self: &Arc<Self>, block: u64) -> Option<(BegunWrite, Vec<u8>)> {
        let mut registers = self.lock();
        let register = registers.blocks.entry(block).or_default();
        if register.is_writing {
            return None;
        }
        register.is_writing = true;
        register.begun += 1;
        let version = register.begun;
        let write =
            BegunWrite { history: Arc::clone(self), block, version, is_acknowledged: false };
        Some((write, content(block, version)))
    }

    /// Blocks that clients have read or written.
    pub(super) fn blocks(&self) -> Vec<u64> {
        self.lock().blocks.keys().copied().collect()
    }

    /// Reads and acknowledged writes.
    pub(super) fn counts(&self) -> (u64, u64) {
        let registers = self.lock();
        (registers.reads, registers.acknowledged)
    }

    /// Panics if a read has returned what it must not.
    #[track_caller]
    pub(super) fn check(&self) {
        let complaint = self.lock().complaint.clone();
        assert!(complaint.is_none(), "{}", complaint.unwrap_or_default());
    }
}

impl BegunRead {
    pub(super) fn end(self, bytes: &[u8]) {
        let mut registers = self.history.lock();
        registers.reads += 1;
        let register = registers.blocks.entry(self.block).or_default();
        if let Err(why) = register.read(self.block, bytes, self.floor, &self.unknown) {
            registers.complaint.get_or_insert(why);
        }
    }
}

impl BegunWrite {
    pub(super) fn acknowledge(mut self) {
        self.is_acknowledged = true;
    }
}

impl Drop for BegunWrite {
    fn drop(&mut self) {
        let mut registers = self.history.lock();
        registers.acknowledged += u64::from(self.is_acknowledged);
        let register = registers.blocks.entry(self.block).or_default();
        register.is_writing = false;
        if self.is_acknowledged {
            register.floor = register.floor.max(self.version);
        } else {
            register.unknown.insert(self.version);
        }
    }
}

impl Register {
    /// A read that began when `floor` was in force, and `unknown` had ended without an answer.
    fn read(
        &mut self,
        block: u64,
        bytes: &[u8],
        floor: u64,
        unknown: &BTreeSet<u64>,
    ) -> Result<(), String> {
        let version = bytes.first_chunk().map_or(u64::MAX, |head| u64::from_le_bytes(*head));
        if version > self.begun || content(block, version) != bytes {
            return Err(format!("block {block} has content that was never written: {version:#x}"));
        }
        if version < floor {
            return Err(format!("block {block}: stale read of write {version}, {floor} counts"));
        }
        if self.dead.contains(&version) {
            return Err(format!("block {block}: write {version} came after a read without it"));
        }
        self.floor = self.floor.max(version);
        self.dead.extend(unknown.range(version + 1..));
        Ok(())
    }
}

#[test]
fn reads_return_the_last_write_or_one_whose_outcome_is_unknown() {
    let history = Arc::<History>::default();
    let write = |is_acknowledged: bool| {
        let (write, bytes) = history.begin_write(7).unwrap();
        if is_acknowledged {
            write.acknowledge();
        }
        bytes
    };
    let early = history.begin_read(7);
    let (first, second, third) = (write(true), write(true), write(false));
    early.end(&content(7, 0));
    let [a, b, c] = std::array::from_fn(|_| history.begin_read(7));
    a.end(&second);
    history.check();
    // The third was not carried out when `a` was answered: it must not be later.
    b.end(&third);
    assert!(history.lock().complaint.take().unwrap().contains("came after a read"));
    c.end(&first);
    assert!(history.lock().complaint.take().unwrap().contains("stale read of write 1, 2 counts"));
    history.begin_read(7).end(&content(8, 2));
    assert!(history.lock().complaint.take().unwrap().contains("never written"));
    let under_way = history.begin_write(7).unwrap();
    assert!(history.begin_write(7).is_none());
    // A write under way may or may not have been carried out.
    history.begin_read(7).end(&second);
    history.begin_read(7).end(&under_way.1);
    drop(under_way);
    history.check();
}
