//! Bytes that no two sessions share and nobody can foresee: their number, and what a target is to
//! answer to.

use std::io;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionNonce([u8; 22]);

impl SessionNonce {
    /// From the system.
    pub(crate) fn draw() -> io::Result<Self> {
        let mut bytes = [0; 22];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self(bytes))
    }

    /// Number of the session at the initiator, of the random kind (RFC 7143, 11.12.5).
    pub(crate) const fn session(&self) -> [u8; 6] {
        let [a, b, c, d, e, ..] = self.0;
        [0x80, a, b, c, d, e]
    }

    /// What the target is asked under.
    pub(crate) const fn identifier(&self) -> u8 {
        self.0[5]
    }

    /// What the target is asked.
    pub(crate) fn challenge(&self) -> &[u8] {
        &self.0[6..]
    }
}
