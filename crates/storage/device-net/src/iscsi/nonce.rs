//! Unpredictable bytes, unique to each session: the session's number, and the challenge to the
//! target.

use std::io;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionNonce([u8; 22]);

impl SessionNonce {
    /// Draws the bytes from the system's random number generator.
    pub(crate) fn draw() -> io::Result<Self> {
        let mut bytes = [0; 22];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self(bytes))
    }

    /// Number of the session on the initiator, of the random kind (RFC 7143, 11.12.5).
    pub(crate) fn session(&self) -> [u8; 6] {
        let mut number = [0x80; 6];
        number[1..].copy_from_slice(&self.0[..5]);
        number
    }

    /// Identifier of the challenge to the target.
    pub(crate) const fn identifier(&self) -> u8 {
        self.0[5]
    }

    /// The challenge to the target.
    pub(crate) fn challenge(&self) -> &[u8] {
        &self.0[6..]
    }
}
