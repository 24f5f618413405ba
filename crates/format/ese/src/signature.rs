//! Signatures: the identity of a file, and which files belong together.

use std::fmt;

use crate::log_time::LogTime;

/// Identity of a database or a log stream: a random number, its time of creation and a computer
/// name (which is no longer filled in). All zero means "none".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Signature {
    /// Chosen at creation.
    pub random: u32,
    /// When it was created.
    pub created: LogTime,
    /// Zero in files of this century.
    pub computer_name: [u8; 16],
}

impl Signature {
    /// Bytes of a stored signature.
    pub(crate) const BYTES: usize = 28;

    /// A new signature.
    pub const fn new(random: u32, created: LogTime) -> Self {
        Self { random, created, computer_name: [0; 16] }
    }

    /// Decodes a stored signature.
    pub fn decode(bytes: [u8; Self::BYTES]) -> Self {
        Self {
            random: crate::bytes::u32_at(&bytes, 0),
            created: LogTime::decode(crate::bytes::array_at(&bytes, 4)),
            computer_name: crate::bytes::array_at(&bytes, 12),
        }
    }

    /// The stored form.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.random.to_le_bytes());
        bytes[4..12].copy_from_slice(&self.created.encode());
        bytes[12..].copy_from_slice(&self.computer_name);
        bytes
    }

    /// Whether this is a signature rather than "none".
    pub fn is_some(&self) -> bool {
        *self != Self::default()
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "created {}, random {:#010x}", self.created, self.random)
    }
}
