//! A logical unit behind the `Device` trait.

use std::rc::Rc;
use std::sync::Arc;

use device::{
    Buffer, Caps, Completion, Device, DeviceError, Durability, Op, OpKind, OpenMode, Remote,
    RemoteEnd, RemoteOutcome, Request, completion,
};

use super::address::IscsiAddress;
use super::command::{Command, CommandFailure, CommandOutcome, DataDirection};
use super::connection::Wire;
use super::error::IscsiError;
use super::login::IscsiInitiator;
use super::lun::Lun;
use super::scsi;
use super::sense::SenseReaction;

/// Maximum transfer of one command if the target states no limit, in bytes.
const MOST_BYTES: u64 = 4 << 20;

/// Times that a request is sent again: ten seconds of a busy target.
const MOST_ATTEMPTS: u32 = 500;

/// See the module.
struct LunDevice {
    lun: Lun,
    facts: Arc<LunFacts>,
    writable: bool,
    remote: Rc<dyn Remote>,
}

/// Facts needed by requests.
struct LunFacts {
    name: String,
    encoded: [u8; 8],
    wire: Arc<Wire>,
    block_bytes: u32,
    /// Maximum transfer of one command, in bytes.
    most_bytes: usize,
    /// How a write is made durable.
    durability: LunDurability,
}

/// See [`LunFacts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LunDurability {
    /// A flag of the write.
    Flag,
    /// A flush after the write.
    Flush,
    /// Every write is durable: there is no cache to flush.
    Always,
}

/// Logs in to a logical unit, called `name` in errors; its requests complete through `remote`.
/// Opening it for writes requires that it accepts writes and can make them durable. Use by another
/// system goes undetected.
pub fn connect_lun(
    address: &IscsiAddress,
    name: &str,
    initiator: &IscsiInitiator,
    mode: OpenMode,
    remote: Rc<dyn Remote>,
) -> Result<Rc<dyn Device>, IscsiError> {
    let lun = Lun::attach(address, name, initiator)?;
    let writable = mode != OpenMode::ReadOnly;
    if writable && lun.caching().is_write_protected {
        return Err(IscsiError::ReadOnly { name: name.to_owned() });
    }
    let durability = if writable { durability(&lun)? } else { LunDurability::Always };
    let capacity = lun.capacity();
    let most = match lun.identity().most_blocks {
        0 => MOST_BYTES,
        blocks => MOST_BYTES.min(u64::from(blocks) * u64::from(capacity.block_bytes)),
    };
    let facts = Arc::new(LunFacts {
        name: name.to_owned(),
        encoded: lun.encoded(),
        wire: Arc::clone(lun.wire()),
        block_bytes: capacity.block_bytes,
        most_bytes: usize::try_from(most).expect("invariant: some megabytes"),
        durability,
    });
    Ok(Rc::new(LunDevice { lun, facts, writable, remote }))
}

fn durability(lun: &Lun) -> Result<LunDurability, IscsiError> {
    let caching = lun.caching();
    match (lun.flushes()?, caching.write_cache) {
        (true, _) if caching.has_durable_writes => Ok(LunDurability::Flag),
        (true, _) => Ok(LunDurability::Flush),
        (false, Some(false)) => Ok(LunDurability::Always),
        (false, _) => Err(IscsiError::NoFlush { name: lun.name().to_owned() }),
    }
}

impl Device for LunDevice {
    fn submit(&self, request: Request) -> Completion {
        request.op.assert_aligned();
        let (completer, completion) = completion();
        let end = self.remote.begin(completer);
        if let Some(error) = self.refusal(&request.op) {
            end(RemoteOutcome { buffer: request.op.into_buffer(), result: Err(error) });
            return completion;
        }
        let (kind, op) = (request.op.kind(), request.op);
        let (offset, is_durable) = match &op {
            Op::Read { offset, .. } => (*offset, false),
            Op::Write { offset, durability, .. } => (*offset, *durability == Durability::Durable),
            Op::Flush | Op::SetLength { .. } => (0, false),
        };
        let facts = Arc::clone(&self.facts);
        let step = LunStep { facts, kind, offset, done: 0, is_durable, attempts: 0, end };
        step.send(op.into_buffer(), Wire::send);
        completion
    }

    fn caps(&self) -> Caps {
        let capacity = self.lun.capacity();
        Caps {
            atomic_write_unit: capacity.block_bytes,
            sector: capacity.block_bytes,
            physical_sector: capacity.physical_bytes,
            volatile_cache: self.facts.durability != LunDurability::Always,
            unbuffered: true,
            zeroed: false,
        }
    }

    fn length(&self) -> u64 {
        self.lun.capacity().bytes()
    }

    fn name(&self) -> &str {
        &self.facts.name
    }
}

impl LunDevice {
    /// The error of a request that fails without asking the target, if any.
    fn refusal(&self, op: &Op) -> Option<DeviceError> {
        let file = self.facts.name.clone();
        if !self.writable && !matches!(op, Op::Read { .. }) {
            return Some(DeviceError::PermissionDenied { file });
        }
        match op {
            Op::Read { offset, buffer } | Op::Write { offset, buffer, .. } => {
                let wanted = buffer.len();
                let is_beyond = offset + wanted as u64 > self.length();
                is_beyond.then_some(DeviceError::Short { file, offset: *offset, wanted, moved: 0 })
            }
            Op::SetLength { length } => Some(DeviceError::Io {
                file,
                offset: *length,
                operation: OpKind::SetLength.name(),
                code: 0,
                message: "a LUN has its length".to_owned(),
            }),
            Op::Flush => None,
        }
    }
}

/// One [`Op`], carried out as a sequence of SCSI commands.
struct LunStep {
    facts: Arc<LunFacts>,
    kind: OpKind,
    offset: u64,
    /// Bytes that have moved.
    done: usize,
    /// Whether the request must be durable when it completes.
    is_durable: bool,
    attempts: u32,
    end: RemoteEnd,
}

impl LunStep {
    /// Sends the next command through `way`.
    fn send(self, buffer: Option<Buffer>, way: fn(&Wire, Command)) {
        let facts = Arc::clone(&self.facts);
        let length = buffer.as_ref().map_or(0, |bytes| bytes.len());
        let is_flush = self.kind == OpKind::Flush || self.done == length;
        let is_write = self.kind == OpKind::Write;
        let to = length.min(self.done + facts.most_bytes);
        let (block, direction) = if is_flush {
            (scsi::synchronize_cache(), DataDirection::None)
        } else {
            let block_bytes = u64::from(facts.block_bytes);
            let first = (self.offset + self.done as u64) / block_bytes;
            let blocks = (to - self.done) as u64 / block_bytes;
            let blocks = u32::try_from(blocks).expect("invariant: some megabytes");
            let flag = self.is_durable && facts.durability == LunDurability::Flag;
            let direction = if is_write { DataDirection::Out } else { DataDirection::In };
            (scsi::transfer(is_write, flag, first, blocks), direction)
        };
        let range = if is_flush { 0..0 } else { self.done..to };
        let wanted = range.len();
        let end = Box::new(move |outcome| self.ended(outcome, wanted));
        way(&facts.wire, Command { lun: facts.encoded, block, direction, buffer, range, end });
    }

    /// Handles the end of a command that should have transferred `wanted` bytes.
    fn ended(mut self, outcome: CommandOutcome, wanted: usize) {
        let CommandOutcome { buffer, moved, result } = outcome;
        let facts = Arc::clone(&self.facts);
        let refusal = match result {
            Ok(()) if moved < wanted => {
                let (file, offset) = (facts.name.clone(), self.offset);
                let wanted = buffer.as_ref().map_or(0, |bytes| bytes.len());
                let moved = self.done + moved;
                return self.end(buffer, Err(DeviceError::Short { file, offset, wanted, moved }));
            }
            Ok(()) => {
                self.done += wanted;
                let length = buffer.as_ref().map_or(0, |bytes| bytes.len());
                let flushes = self.is_durable && facts.durability == LunDurability::Flush;
                // `wanted` is 0 for the flush, the only command here without data.
                if wanted > 0 && (self.done < length || flushes) {
                    return self.send(buffer, Wire::send);
                }
                return self.end(buffer, Ok(()));
            }
            Err(CommandFailure::Lost(error)) => return self.end(buffer, Err(error)),
            Err(CommandFailure::Refused(refusal)) => refusal,
        };
        self.attempts += 1;
        match refusal.reaction() {
            SenseReaction::Again if self.attempts < MOST_ATTEMPTS => self.send(buffer, Wire::send),
            SenseReaction::Later if self.attempts < MOST_ATTEMPTS => {
                self.send(buffer, Wire::send_later);
            }
            SenseReaction::GiveUp(why) => {
                facts.wire.give_up(why);
                self.end(buffer, Err(facts.wire.error()));
            }
            _ if self.kind == OpKind::Flush
                && refusal.is_unknown()
                && facts.durability == LunDurability::Always =>
            {
                self.end(buffer, Ok(()));
            }
            _ => {
                let error = refusal.as_error(&facts.name, self.kind, self.offset);
                self.end(buffer, Err(error));
            }
        }
    }

    fn end(self, buffer: Option<Buffer>, result: Result<(), DeviceError>) {
        (self.end)(RemoteOutcome { buffer, result });
    }
}
