//! An NBD client that only reads, keeping a number of requests in flight on one socket.

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use xtask::failure::Failure;

use testkit::guest_ring::REQUEST_BYTES;

use super::{ReadPlaces, WhileWaiting};

/// Magic numbers of the protocol. Source: doc/proto.md of NBD.
const OPTION_MAGIC: u64 = 0x4948_4156_454F_5054;
const EXPORT_NAME: u32 = 1;
const REQUEST_MAGIC: u32 = 0x2560_9513;
const REPLY_MAGIC: u32 = 0x6744_6698;

/// Flags: fixed newstyle, and no zeros after the greeting.
const CLIENT_FLAGS: u32 = 3;

/// Bytes of a simple reply's header.
const REPLY_BYTES: usize = 16;

/// A client of one export on a socket.
pub(super) struct SocketClient {
    stream: UnixStream,
    places: ReadPlaces,
    in_flight: u16,
    /// Buffer for a reply.
    reply: Vec<u8>,
}

impl SocketClient {
    /// Opens the export `mail`.
    pub(super) fn connect(
        path: &Path,
        in_flight: u16,
        waiting: WhileWaiting,
    ) -> Result<Self, Failure> {
        let mut stream = UnixStream::connect(path).map_err(Failure::of)?;
        stream.read_exact(&mut [0; 18]).map_err(Failure::of)?;
        let name = b"mail";
        let mut option = CLIENT_FLAGS.to_be_bytes().to_vec();
        option.extend(OPTION_MAGIC.to_be_bytes());
        option.extend(EXPORT_NAME.to_be_bytes());
        option.extend(4_u32.to_be_bytes());
        option.extend(name);
        stream.write_all(&option).map_err(Failure::of)?;
        // The export's length and flags, which are not needed.
        stream.read_exact(&mut [0; 10]).map_err(Failure::of)?;
        stream.set_nonblocking(waiting == WhileWaiting::Awake).map_err(Failure::of)?;
        let reply = vec![0; REPLY_BYTES + REQUEST_BYTES];
        Ok(Self { stream, places: ReadPlaces::new(), in_flight, reply })
    }

    /// Reads for `span`; returns the reads per second.
    pub(super) fn read_for(&mut self, span: Duration) -> Result<f64, Failure> {
        let (began, mut done) = (Instant::now(), 0_u32);
        for _ in 0..self.in_flight {
            self.request()?;
        }
        while began.elapsed() < span {
            self.reply()?;
            self.request()?;
            done += 1;
        }
        let per_second = f64::from(done) / began.elapsed().as_secs_f64();
        for _ in 0..self.in_flight {
            self.reply()?;
        }
        Ok(per_second)
    }

    fn request(&mut self) -> Result<(), Failure> {
        let mut header = REQUEST_MAGIC.to_be_bytes().to_vec();
        // Command flags, the read command, and any cookie.
        header.extend([0; 12]);
        header.extend(self.places.next().to_be_bytes());
        header.extend((REQUEST_BYTES as u64).to_be_bytes()[4..].iter());
        self.stream.write_all(&header).map_err(Failure::of)
    }

    fn reply(&mut self) -> Result<(), Failure> {
        self.receive()?;
        let reply = &self.reply;
        let is_read = reply[..4] == REPLY_MAGIC.to_be_bytes() && reply[4..8] == [0; 4];
        if is_read { Ok(()) } else { Err(Failure::new("the server refuses a read over NBD")) }
    }

    /// Receives a whole reply. Only a client that stays awake gets `WouldBlock` and retries.
    fn receive(&mut self) -> Result<(), Failure> {
        let mut received = 0;
        while received < self.reply.len() {
            match self.stream.read(&mut self.reply[received..]) {
                Ok(0) => return Err(Failure::new("the server ends the connection over NBD")),
                Ok(count) => received += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::yield_now(),
                Err(error) => return Err(Failure::of(error)),
            }
        }
        Ok(())
    }
}
