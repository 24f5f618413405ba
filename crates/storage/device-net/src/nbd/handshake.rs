//! The fixed newstyle handshake: name of the export, its size, and its features.

use std::io::{self, Read, Write};

use super::error::NbdError;

const SERVER_MAGIC: &[u8; 16] = b"NBDMAGICIHAVEOPT";
const OPTION_MAGIC: &[u8; 8] = b"IHAVEOPT";
const ANSWER_MAGIC: u64 = 0x0003_E889_0455_65A9;
/// Client flags: fixed newstyle, without the 124 zeros that would follow the handshake.
const FLAGS: u16 = 0b11;
const OPTION_GO: u32 = 7;
const ANSWER_ACKNOWLEDGED: u32 = 1;
const ANSWER_INFORMATION: u32 = 3;
const INFORMATION_EXPORT: u16 = 0;
const INFORMATION_BLOCK_SIZE: u16 = 3;
/// Maximum length of an answer to the only option sent.
const LONGEST_ANSWER: u32 = 64 << 10;
/// Default maximum request size of a server (doc/proto.md, "Block size constraints").
const DEFAULT_MAXIMUM: u32 = 32 << 20;

/// The server's facts about an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExportFacts {
    pub bytes: u64,
    /// Bits of its features.
    flags: u16,
    /// Offsets and lengths are multiples of this many bytes.
    pub minimum: u32,
    /// Preferred request size, in bytes.
    pub preferred: u32,
    /// Longest request in bytes.
    pub maximum: u32,
}

impl ExportFacts {
    pub(crate) const fn is_read_only(self) -> bool {
        self.flags & 1 << 1 != 0
    }

    pub(crate) const fn has_flush(self) -> bool {
        self.flags & 1 << 2 != 0
    }

    /// Whether a write may be durable when it is answered (force unit access).
    pub(crate) const fn has_durable_writes(self) -> bool {
        self.flags & 1 << 3 != 0
    }
}

/// Negotiates the export `export` with the server; `name` is used in errors.
pub(crate) fn agree(
    stream: &mut (impl Read + Write),
    export: &str,
    name: &str,
) -> Result<ExportFacts, NbdError> {
    let mut greeting = [0; 18];
    stream.read_exact(&mut greeting).map_err(|error| NbdError::broken(name, error))?;
    let flags = u16::from_be_bytes([greeting[16], greeting[17]]);
    if greeting[..16] != *SERVER_MAGIC || flags & 1 == 0 {
        return Err(NbdError::NotNbd { name: name.to_owned() });
    }
    let flags = u32::from(flags & FLAGS).to_be_bytes();
    stream
        .write_all(&[&flags[..], &go(export)].concat())
        .map_err(|error| NbdError::broken(name, error))?;
    let mut facts = ExportFacts {
        minimum: 512,
        preferred: 4096,
        maximum: DEFAULT_MAXIMUM,
        ..ExportFacts::default()
    };
    loop {
        match answer(stream).map_err(|error| NbdError::broken(name, error))? {
            None => return Err(NbdError::NotNbd { name: name.to_owned() }),
            Some((ANSWER_ACKNOWLEDGED, _)) => return Ok(facts),
            Some((ANSWER_INFORMATION, bytes)) => facts.note(&bytes),
            Some((kind, _)) => {
                return Err(NbdError::Refused { name: name.to_owned(), why: reason(kind) });
            }
        }
    }
}

fn length(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes).unwrap_or(u32::MAX).to_be_bytes()
}

/// The option that selects an export and starts transmission.
fn go(export: &str) -> Vec<u8> {
    let mut data = length(export.len()).to_vec();
    data.extend(export.as_bytes());
    data.extend(1_u16.to_be_bytes());
    data.extend(INFORMATION_BLOCK_SIZE.to_be_bytes());
    [&OPTION_MAGIC[..], &OPTION_GO.to_be_bytes(), &length(data.len()), &data].concat()
}

fn word(head: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]])
}

/// Reads an option reply: kind and data; `None` if it is malformed or too long.
fn answer(stream: &mut impl Read) -> io::Result<Option<(u32, Vec<u8>)>> {
    let mut head = [0; 20];
    stream.read_exact(&mut head)?;
    let (kind, length) = (word(&head, 12), word(&head, 16));
    if head[..8] != ANSWER_MAGIC.to_be_bytes() || length > LONGEST_ANSWER {
        return Ok(None);
    }
    let mut data = vec![0; length as usize];
    stream.read_exact(&mut data)?;
    Ok(Some((kind, data)))
}

impl ExportFacts {
    /// Records one piece of information; unrequested ones are ignored.
    fn note(&mut self, data: &[u8]) {
        let Some((kind, rest)) = data.split_first_chunk() else {
            return;
        };
        match (u16::from_be_bytes(*kind), rest) {
            (INFORMATION_EXPORT, [bytes @ .., high, low]) => {
                self.flags = u16::from_be_bytes([*high, *low]);
                self.bytes = bytes.try_into().map_or(0, u64::from_be_bytes);
            }
            (INFORMATION_BLOCK_SIZE, sizes) if sizes.len() == 12 => {
                let sizes: Vec<u32> = (sizes.chunks_exact(4))
                    .map(|size| size.try_into().map_or(0, u32::from_be_bytes))
                    .collect();
                (self.minimum, self.preferred, self.maximum) = (sizes[0], sizes[1], sizes[2]);
            }
            _ => {}
        }
    }
}

/// The numbers of doc/proto.md, "Option reply types", without the bit that marks errors.
const fn reason(kind: u32) -> &'static str {
    match kind & !(1 << 31) {
        1 => {
            "it is too old to begin by NBD_OPT_GO; use nbdkit, qemu-nbd or nbd-server 3.17 or later"
        }
        2 => "its rules forbid it; look at the server's configuration",
        5 => {
            "it wants TLS, which this client has not; offer the export without it on a safe network"
        }
        6 => "it has no export of that name; look at the server's list (`nbdinfo --list`)",
        7 => "it is shutting down; try again later",
        _ => "it does not say why; look at the server's log",
    }
}
