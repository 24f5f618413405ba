//! Substitute for systems without packet sockets.

/// Placeholder for a socket that is unavailable here.
#[derive(Debug)]
pub struct PacketSocket(std::convert::Infallible);

impl PacketSocket {
    /// Always an error.
    pub fn open(_: &str) -> std::io::Result<Self> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// Never called: none can exist.
    pub fn receive(&self, _: &mut Vec<u8>) -> std::io::Result<bool> {
        match self.0 {}
    }

    /// Never called: none can exist.
    pub fn lost(&self) -> std::io::Result<u64> {
        match self.0 {}
    }
}
