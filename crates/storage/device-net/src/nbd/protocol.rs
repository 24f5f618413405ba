//! Numbers of the protocol (NetworkBlockDevice/nbd, doc/proto.md): requests, replies, errors.

use device::{DeviceError, OpKind};

/// A request, from the client.
const REQUEST_MAGIC: u32 = 0x2560_9513;
/// A simple reply, from the server.
const REPLY_MAGIC: u32 = 0x6744_6698;
/// Bytes of a request without its payload.
pub(crate) const REQUEST_BYTES: usize = 28;
/// Bytes of a reply without its payload.
pub(crate) const REPLY_BYTES: usize = 16;

/// Command to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireCommand {
    Read,
    /// `true` if it must be durable when it is answered (`NBD_CMD_FLAG_FUA`).
    Write(bool),
    Disconnect,
    Flush,
}

impl WireCommand {
    /// Flags and type.
    const fn codes(self) -> (u16, u16) {
        match self {
            Self::Read => (0, 0),
            Self::Write(durable) => (durable as u16, 1),
            Self::Disconnect => (0, 2),
            Self::Flush => (0, 3),
        }
    }
}

/// The bytes of a request.
pub(crate) fn request(
    command: WireCommand,
    cookie: u64,
    offset: u64,
    length: u32,
) -> [u8; REQUEST_BYTES] {
    let (flags, kind) = command.codes();
    let mut bytes = [0; REQUEST_BYTES];
    bytes[..4].copy_from_slice(&REQUEST_MAGIC.to_be_bytes());
    bytes[4..6].copy_from_slice(&flags.to_be_bytes());
    bytes[6..8].copy_from_slice(&kind.to_be_bytes());
    bytes[8..16].copy_from_slice(&cookie.to_be_bytes());
    bytes[16..24].copy_from_slice(&offset.to_be_bytes());
    bytes[24..].copy_from_slice(&length.to_be_bytes());
    bytes
}

/// Error number and cookie of a reply; `None` if it is not a simple reply.
pub(crate) fn reply(bytes: &[u8; REPLY_BYTES]) -> Option<(u32, u64)> {
    let (magic, rest) = bytes.split_first_chunk()?;
    let (error, cookie) = rest.split_first_chunk()?;
    let is_reply = u32::from_be_bytes(*magic) == REPLY_MAGIC;
    let cookie = u64::from_be_bytes(cookie.try_into().ok()?);
    is_reply.then_some((u32::from_be_bytes(*error), cookie))
}

/// Converts the server's error `number`, for a request of this kind at byte `offset`.
pub(crate) fn error_of(number: u32, file: &str, kind: OpKind, offset: u64) -> DeviceError {
    let message = match number {
        1 => return DeviceError::PermissionDenied { file: file.to_owned() },
        108 => {
            let why = "the server is shutting down".to_owned();
            return DeviceError::Disconnected { file: file.to_owned(), why };
        }
        28 => return DeviceError::Full { file: file.to_owned(), offset },
        5 => "input/output error",
        12 => "out of memory",
        22 => "invalid request",
        75 => "value too large",
        95 => "not supported",
        _ => "unknown error",
    };
    DeviceError::Io {
        file: file.to_owned(),
        offset,
        operation: kind.name(),
        code: i32::try_from(number).unwrap_or(i32::MAX),
        message: format!("the server answers: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{WireCommand, reply, request};

    #[test]
    fn requests_and_replies_are_those_of_the_protocol() {
        let write = request(WireCommand::Write(true), 0x0102, 0x1000, 0x200);
        let expected = [
            0x25, 0x60, 0x95, 0x13, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0x10, 0,
            0, 0, 2, 0,
        ];
        assert_eq!(write, expected);
        let mut bytes = [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 1, 2];
        assert_eq!(reply(&bytes), Some((28, 0x0102)));
        bytes[0] = 0;
        assert_eq!(reply(&bytes), None);
    }
}
