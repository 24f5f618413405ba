//! An export behind the `Device` trait.

use std::rc::Rc;

use device::{
    Caps, Completion, Device, DeviceError, Durability, Op, OpKind, OpenMode, Remote, RemoteOutcome,
    Request, completion,
};

use super::address::{NbdAddress, NbdPlace};
use super::connection::{Connection, WireRequest};
use super::error::NbdError;
use super::handshake::{ExportFacts, agree};
use super::protocol::WireCommand;
use crate::transport::WireStream;

/// See the module.
struct NbdExport {
    name: String,
    facts: ExportFacts,
    writable: bool,
    connection: Connection,
    remote: Rc<dyn Remote>,
}

/// Connects to an export, called `name` in errors; its requests complete through `remote`. Opening
/// it for writes requires that it accepts writes and offers flush. Use by another client goes
/// undetected.
pub fn connect(
    address: &NbdAddress,
    name: &str,
    mode: OpenMode,
    remote: Rc<dyn Remote>,
) -> Result<Rc<dyn Device>, NbdError> {
    let stream = match &address.place {
        NbdPlace::Tcp(host, port) => WireStream::tcp(host, *port),
        NbdPlace::Unix(path) => WireStream::unix(path),
    };
    let mut transport = stream.map_err(|error| NbdError::broken(name, error))?;
    let facts = agree(&mut transport, &address.export, name)?;
    let writable = mode != OpenMode::ReadOnly;
    if writable && facts.is_read_only() {
        return Err(NbdError::ReadOnly { name: name.to_owned() });
    }
    if writable && !facts.has_flush() {
        return Err(NbdError::NoFlush { name: name.to_owned() });
    }
    let connection =
        Connection::start(transport, name).map_err(|error| NbdError::broken(name, error))?;
    Ok(Rc::new(NbdExport { name: name.to_owned(), facts, writable, connection, remote }))
}

impl Device for NbdExport {
    fn submit(&self, request: Request) -> Completion {
        request.op.assert_aligned();
        let (completer, completion) = completion();
        let end = self.remote.begin(completer);
        let (kind, op) = (request.op.kind(), request.op);
        if let Some(error) = self.refusal(&op) {
            end(RemoteOutcome { buffer: op.into_buffer(), result: Err(error) });
            return completion;
        }
        let durable_writes = self.facts.has_durable_writes();
        let (command, offset, then_flush) = match &op {
            Op::Read { offset, .. } => (WireCommand::Read, *offset, false),
            Op::Write { offset, durability, .. } => {
                let durable = *durability == Durability::Durable;
                (WireCommand::Write(durable && durable_writes), *offset, durable && !durable_writes)
            }
            Op::Flush | Op::SetLength { .. } => (WireCommand::Flush, 0, false),
        };
        let buffer = op.into_buffer();
        self.connection.send(WireRequest { command, kind, offset, buffer, then_flush, end });
        completion
    }

    fn caps(&self) -> Caps {
        Caps {
            atomic_write_unit: self.facts.minimum.max(512),
            sector: self.facts.minimum.max(512),
            physical_sector: self.facts.preferred.max(512),
            volatile_cache: true,
            unbuffered: true,
            zeroed: false,
        }
    }

    fn length(&self) -> u64 {
        self.facts.bytes
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl NbdExport {
    /// The error of a request that fails without asking the server, if any.
    fn refusal(&self, op: &Op) -> Option<DeviceError> {
        let file = self.name.clone();
        if !self.writable && !matches!(op, Op::Read { .. }) {
            return Some(DeviceError::PermissionDenied { file });
        }
        match op {
            Op::Read { offset, buffer } | Op::Write { offset, buffer, .. } => {
                let wanted = buffer.len();
                if offset + wanted as u64 > self.facts.bytes {
                    return Some(DeviceError::Short { file, offset: *offset, wanted, moved: 0 });
                }
                let is_long = wanted as u64 > u64::from(self.facts.maximum);
                is_long
                    .then(|| self.impossible(op.kind(), *offset, "is longer than the server takes"))
            }
            Op::SetLength { length } => {
                Some(self.impossible(OpKind::SetLength, *length, "an export has its length"))
            }
            Op::Flush => None,
        }
    }

    fn impossible(&self, kind: OpKind, offset: u64, message: &str) -> DeviceError {
        DeviceError::Io {
            file: self.name.clone(),
            offset,
            operation: kind.name(),
            code: 0,
            message: message.to_owned(),
        }
    }
}
