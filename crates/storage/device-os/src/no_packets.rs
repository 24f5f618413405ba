//! What systems without packet sockets get.

/// Stands for a socket that cannot be had here.
#[derive(Debug)]
pub struct PacketSocket(std::convert::Infallible);

impl PacketSocket {
    /// Always an error.
    pub fn open(_: &str) -> std::io::Result<Self> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// Never called: there is none.
    pub fn receive(&self, _: &mut Vec<u8>) -> std::io::Result<bool> {
        match self.0 {}
    }

    /// Never called: there is none.
    pub fn lost(&self) -> std::io::Result<u64> {
        match self.0 {}
    }
}
