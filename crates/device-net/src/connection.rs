//! One connection: a thread that sends, a thread that receives, and what is under way between them.
//!
//! Once it breaks, every request under way and every later one fails: what the server has done of
//! them is not known, and to connect anew would hide that.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use device::{Buffer, DeviceError, OpKind, RemoteEnd, RemoteOutcome};

use crate::protocol::{self, REPLY_BYTES, WireCommand};
use crate::transport::WireStream;

/// Payloads up to this length go out in one piece with their request, in bytes.
const JOINED_BYTES: usize = 64 << 10;

/// A request on its way to the server.
pub(crate) struct WireRequest {
    pub command: WireCommand,
    pub kind: OpKind,
    pub offset: u64,
    pub buffer: Option<Buffer>,
    /// Whether a flush is to follow before it counts as done.
    pub then_flush: bool,
    pub end: RemoteEnd,
}

/// What the sender is told.
enum ToSend {
    Request(Box<WireRequest>),
    Close,
}

/// A request that the server works on. Its buffer is with the sender until it has been sent.
struct UnderWay {
    kind: OpKind,
    offset: u64,
    length: usize,
    buffer: Arc<Mutex<Option<Buffer>>>,
    then_flush: bool,
    end: RemoteEnd,
}

/// What both threads and the device share.
struct SharedLine {
    name: String,
    under_way: Mutex<HashMap<u64, UnderWay>>,
    /// Why the connection is of no use any more.
    broken: Mutex<Option<String>>,
}

/// See the module. The connection ends with it.
pub(crate) struct Connection {
    line: Arc<SharedLine>,
    sender: Sender<ToSend>,
}

impl Connection {
    /// Starts both threads.
    pub(crate) fn start(transport: WireStream, name: &str) -> io::Result<Self> {
        transport.wait_for_ever()?;
        let line = Arc::new(SharedLine {
            name: name.to_owned(),
            under_way: Mutex::default(),
            broken: Mutex::default(),
        });
        let (sender, receiver) = mpsc::channel();
        let (for_sender, for_receiver) = (Arc::clone(&line), Arc::clone(&line));
        let (outgoing, flushes) = (transport.try_clone()?, sender.clone());
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        named("nbd sender").spawn(move || for_sender.send_all(outgoing, &receiver))?;
        named("nbd receiver").spawn(move || for_receiver.receive_all(transport, &flushes))?;
        Ok(Self { line, sender })
    }

    /// Sends a request. Its end is called from another thread, or here where nothing can be sent.
    pub(crate) fn send(&self, request: WireRequest) {
        if let Err(mpsc::SendError(ToSend::Request(request))) =
            self.sender.send(ToSend::Request(Box::new(request)))
        {
            let error = self.line.error();
            (request.end)(RemoteOutcome { buffer: request.buffer, result: Err(error) });
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The sender may have ended already.
        let _ = self.sender.send(ToSend::Close);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedLine {
    fn error(&self) -> DeviceError {
        let why = lock(&self.broken).clone();
        DeviceError::Disconnected {
            file: self.name.clone(),
            why: why.unwrap_or_else(|| "the connection is closed".to_owned()),
        }
    }

    /// Every request under way fails, and so does every later one.
    fn fail(&self, why: String) {
        lock(&self.broken).get_or_insert(why);
        let under_way = std::mem::take(&mut *lock(&self.under_way));
        for request in under_way.into_values() {
            let buffer = lock(&request.buffer).take();
            (request.end)(RemoteOutcome { buffer, result: Err(self.error()) });
        }
    }

    /// What the sending thread does.
    fn send_all(&self, mut transport: WireStream, requests: &Receiver<ToSend>) {
        let mut cookie = 0;
        while let Ok(ToSend::Request(request)) = requests.recv() {
            cookie += 1;
            if lock(&self.broken).is_some() {
                let result = Err(self.error());
                (request.end)(RemoteOutcome { buffer: request.buffer, result });
            } else if let Err(error) = self.send(&mut transport, cookie, *request) {
                transport.shut();
                self.fail(format!("the connection broke: {error}"));
            }
        }
        // A server that is told so ends without complaint.
        let _ = transport.write_all(&protocol::request(WireCommand::Disconnect, 0, 0, 0));
        transport.shut();
    }

    fn send(
        &self,
        transport: &mut WireStream,
        cookie: u64,
        request: WireRequest,
    ) -> io::Result<()> {
        let WireRequest { command, kind, offset, buffer, then_flush, end } = request;
        let length = if command == WireCommand::Flush {
            0
        } else {
            buffer.as_ref().map_or(0, |it| it.len())
        };
        let head =
            protocol::request(command, cookie, offset, u32::try_from(length).unwrap_or(u32::MAX));
        let slot = Arc::new(Mutex::new(buffer));
        // Held until all is sent: the answer to a write cannot be handed on without its buffer.
        let held = lock(&slot);
        let buffer = Arc::clone(&slot);
        let under_way = UnderWay { kind, offset, length, buffer, then_flush, end };
        lock(&self.under_way).insert(cookie, under_way);
        match held.as_ref() {
            Some(bytes) if matches!(command, WireCommand::Write(_)) && length <= JOINED_BYTES => {
                transport.write_all(&[&head[..], bytes].concat())
            }
            Some(bytes) if matches!(command, WireCommand::Write(_)) => {
                transport.write_all(&head)?;
                transport.write_all(bytes)
            }
            _ => transport.write_all(&head),
        }
    }

    /// What the receiving thread does.
    fn receive_all(&self, mut transport: WireStream, flushes: &Sender<ToSend>) {
        let why = loop {
            if let Err(error) = self.receive(&mut transport, flushes) {
                break error;
            }
        };
        transport.shut();
        self.fail(match why.kind() {
            io::ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
            _ => format!("the connection broke: {why}"),
        });
    }

    /// Takes one reply.
    fn receive(&self, transport: &mut WireStream, flushes: &Sender<ToSend>) -> io::Result<()> {
        let mut head = [0; REPLY_BYTES];
        transport.read_exact(&mut head)?;
        let known = protocol::reply(&head)
            .and_then(|(error, cookie)| Some((error, lock(&self.under_way).remove(&cookie)?)));
        let Some((error, request)) = known else {
            return Err(io::Error::other("the server answers what was not asked"));
        };
        let mut buffer = lock(&request.buffer).take();
        let UnderWay { kind, offset, length, then_flush, end, .. } = request;
        let mut result = Ok(());
        if error != 0 {
            result = Err(protocol::error_of(error, &self.name, kind, offset));
        } else if let (OpKind::Read, Some(bytes)) = (kind, &mut buffer)
            && let Err(error) = transport.read_exact(&mut bytes[..length])
        {
            let broken = format!("the connection broke: {error}");
            lock(&self.broken).get_or_insert(broken);
            end(RemoteOutcome { buffer, result: Err(self.error()) });
            return Err(error);
        } else if then_flush {
            let request = WireRequest {
                command: WireCommand::Flush,
                kind,
                offset,
                buffer,
                then_flush: false,
                end,
            };
            if let Err(mpsc::SendError(ToSend::Request(request))) =
                flushes.send(ToSend::Request(Box::new(request)))
            {
                let result = Err(self.error());
                (request.end)(RemoteOutcome { buffer: request.buffer, result });
            }
            return Ok(());
        }
        end(RemoteOutcome { buffer, result });
        Ok(())
    }
}
