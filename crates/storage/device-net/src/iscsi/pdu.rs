//! Protocol data units: a header of 48 bytes, and data padded to words (RFC 7143, 11).

use std::io::{self, Read};

/// Bytes of a basic header segment.
pub const HEAD_BYTES: usize = 48;
/// A tag that means none.
pub const NO_TAG: u32 = u32::MAX;
/// Marks a request that takes precedence over all others.
pub const IMMEDIATE: u8 = 0x40;
/// Marks the last PDU of its kind.
pub const FINAL: u8 = 0x80;
/// Marks a text that continues in the next PDU.
pub const CONTINUED: u8 = 0x40;

/// Opcodes of PDUs that the initiator sends.
pub mod request {
    /// A ping.
    pub const NOP_OUT: u8 = 0x00;
    /// A SCSI command, or its response.
    pub const COMMAND: u8 = 0x01;
    /// A login, or its response.
    pub const LOGIN: u8 = 0x03;
    /// A text, or its response.
    pub const TEXT: u8 = 0x04;
    /// Data of a write.
    pub const DATA_OUT: u8 = 0x05;
    /// A logout, or its response.
    pub const LOGOUT: u8 = 0x06;
}

/// Opcodes of PDUs that the target sends.
pub mod response {
    /// A ping, or its answer.
    pub const NOP_IN: u8 = 0x20;
    /// A SCSI command, or its response.
    pub const COMMAND: u8 = 0x21;
    /// A login, or its response.
    pub const LOGIN: u8 = 0x23;
    /// A text, or its response.
    pub const TEXT: u8 = 0x24;
    /// Data of a read.
    pub const DATA_IN: u8 = 0x25;
    /// A logout, or its response.
    pub const LOGOUT: u8 = 0x26;
    /// A request for data (R2T).
    pub const READY: u8 = 0x31;
    /// An asynchronous message.
    pub(crate) const ASYNC: u8 = 0x32;
    /// A rejected PDU.
    pub(crate) const REJECT: u8 = 0x3f;
}

/// Offsets of fields common to most PDUs.
pub mod field {
    /// The initiator task tag.
    pub const TASK_TAG: usize = 16;
    /// The target's tag; the expected length of a request.
    pub const TRANSFER_TAG: usize = 20;
    /// Command sequence number (`CmdSN`), in requests.
    pub const COMMAND_NUMBER: usize = 24;
    /// Status sequence number (`StatSN`), in responses.
    pub const STATUS_NUMBER: usize = 24;
    /// Next status number expected (`ExpStatSN`), in requests.
    pub const EXPECTED_STATUS_NUMBER: usize = 28;
    /// Highest command number accepted (`MaxCmdSN`), in responses.
    pub const LAST_COMMAND_NUMBER: usize = 32;
    /// Sequence number of data, and of requests for data.
    pub const DATA_NUMBER: usize = 36;
    /// Offset of data, and of requests for data.
    pub const OFFSET: usize = 40;
    /// Number of bytes wanted by a request for data.
    pub const LENGTH: usize = 44;
    /// The command descriptor block: 16 bytes.
    pub const COMMAND_BLOCK: usize = 32;
}

/// A basic header segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head(pub [u8; HEAD_BYTES]);

impl Head {
    /// A header with this opcode and these flags.
    #[must_use]
    pub fn new(opcode: u8, flags: u8) -> Self {
        let mut bytes = [0; HEAD_BYTES];
        (bytes[0], bytes[1]) = (opcode, flags);
        Self(bytes)
    }

    /// This header with `number` at offset `at`.
    #[must_use]
    pub fn with(mut self, at: usize, number: u32) -> Self {
        self.0[at..at + 4].copy_from_slice(&number.to_be_bytes());
        self
    }

    /// This header for a logical unit.
    #[must_use]
    pub fn with_lun(mut self, lun: [u8; 8]) -> Self {
        self.0[8..16].copy_from_slice(&lun);
        self
    }

    /// This header, followed by `length` bytes of data.
    #[must_use]
    pub fn with_data(mut self, length: usize) -> Self {
        let length = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
        self.0[5..8].copy_from_slice(&length[1..]);
        self
    }

    /// The opcode, without the immediate flag.
    pub const fn opcode(&self) -> u8 {
        self.0[0] & 0x3f
    }

    /// `true` if `flag` is set.
    pub const fn has(&self, flag: u8) -> bool {
        self.0[1] & flag != 0
    }

    /// The number at `at`.
    pub fn word(&self, at: usize) -> u32 {
        u32::from_be_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
    }

    /// The logical unit field.
    pub fn lun(&self) -> [u8; 8] {
        let mut lun = [0; 8];
        lun.copy_from_slice(&self.0[8..16]);
        lun
    }

    /// Bytes of data after it, without padding.
    pub fn data_bytes(&self) -> usize {
        self.word(4) as usize & 0x00ff_ffff
    }

    /// Its status number, if any.
    pub(crate) fn status_number(&self) -> Option<u32> {
        let carries = match self.opcode() {
            response::READY => false,
            response::DATA_IN => self.has(data_in::STATUS),
            response::NOP_IN => self.word(field::TASK_TAG) != NO_TAG,
            _ => true,
        };
        carries.then(|| self.word(field::STATUS_NUMBER))
    }
}

/// Flags of data that arrives.
pub mod data_in {
    /// It ends its command and includes the status.
    pub const STATUS: u8 = 0x01;
    /// Fewer bytes were transferred than expected.
    pub const UNDERFLOW: u8 = 0x02;
}

/// Padding bytes after `length` bytes, up to a multiple of four.
pub const fn padding(length: usize) -> usize {
    length.wrapping_neg() % 4
}

/// Appends a PDU.
pub fn append(bytes: &mut Vec<u8>, head: Head, data: &[u8]) {
    bytes.extend(head.with_data(data.len()).0);
    bytes.extend(data);
    bytes.extend(&[0; 3][..padding(data.len())]);
}

/// Reads a header and skips its extensions.
pub(crate) fn read_head(stream: &mut impl Read) -> io::Result<Head> {
    let mut bytes = [0; HEAD_BYTES];
    stream.read_exact(&mut bytes)?;
    let mut extension = [0; 255 * 4];
    stream.read_exact(&mut extension[..usize::from(bytes[4]) * 4])?;
    Ok(Head(bytes))
}

/// Reads the data after `head`; fails if it is longer than `most` bytes.
pub(crate) fn read_data(stream: &mut impl Read, head: &Head, most: usize) -> io::Result<Vec<u8>> {
    let length = head.data_bytes();
    if length > most {
        return Err(io::Error::other(format!("the target sends {length} bytes at once")));
    }
    let mut data = vec![0; length];
    stream.read_exact(&mut data)?;
    pass_padding(stream, length)?;
    Ok(data)
}

/// Skips the padding of `length` bytes of data to whole words.
pub(crate) fn pass_padding(stream: &mut impl Read, length: usize) -> io::Result<()> {
    stream.read_exact(&mut [0; 3][..padding(length)])
}

#[cfg(test)]
mod tests {
    use super::{Head, append, field, read_data, read_head, request};

    #[test]
    fn a_pdu_is_read_as_it_was_written() {
        let head = Head::new(request::COMMAND, 0xc1)
            .with_lun([0, 5, 0, 0, 0, 0, 0, 0])
            .with(field::TASK_TAG, 0x0102_0304);
        let mut bytes = Vec::new();
        append(&mut bytes, head, b"abcde");
        assert_eq!(bytes.len(), 48 + 8);
        assert_eq!(bytes[..10], [1, 0xc1, 0, 0, 0, 0, 0, 5, 0, 5]);
        let mut stream = &bytes[..];
        let read = read_head(&mut stream).unwrap();
        assert_eq!((read.word(16), read.data_bytes(), read.lun()[1]), (0x0102_0304, 5, 5));
        assert_eq!(read_data(&mut stream, &read, 5).unwrap(), b"abcde");
        assert!(stream.is_empty());
        assert!(read_data(&mut &bytes[48..], &read, 4).is_err());
    }
}
