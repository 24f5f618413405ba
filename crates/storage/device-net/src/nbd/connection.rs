//! One connection: a thread that sends, a thread that receives, and the requests in flight between
//! them.

use std::io::{self, Read as _, Write as _};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use device::{Buffer, DeviceError, OpKind, RemoteEnd, RemoteOutcome};

use super::protocol::{self, REPLY_BYTES, WireCommand};
use crate::line::{Abandon, SharedLine, UnderWay, lock, reason, start_threads};
use crate::transport::WireStream;

/// Maximum length of payloads sent in one piece with their request, in bytes.
const JOINED_BYTES: usize = 64 << 10;

/// A request on its way to the server.
pub(crate) struct WireRequest {
    pub command: WireCommand,
    pub kind: OpKind,
    pub offset: u64,
    pub buffer: Option<Buffer>,
    /// Whether it needs a flush before it counts as done.
    pub then_flush: bool,
    pub end: RemoteEnd,
}

/// Jobs for the sender.
enum ToSend {
    Request(Box<WireRequest>),
    Close,
}

/// State of a request in progress at the server.
struct ExportTask {
    kind: OpKind,
    offset: u64,
    length: usize,
    then_flush: bool,
    end: RemoteEnd,
}

impl Abandon for ExportTask {
    fn abandon(self, buffer: Option<Buffer>, error: DeviceError) {
        (self.end)(RemoteOutcome { buffer, result: Err(error) });
    }
}

impl Abandon for WireRequest {
    fn abandon(self, buffer: Option<Buffer>, error: DeviceError) {
        (self.end)(RemoteOutcome { buffer: buffer.or(self.buffer), result: Err(error) });
    }
}

/// See the module. Dropping it ends the connection.
pub(crate) struct Connection {
    line: Arc<SharedLine<ExportTask>>,
    sender: Sender<ToSend>,
}

impl Connection {
    /// Starts both threads.
    pub(crate) fn start(transport: WireStream, name: &str) -> io::Result<Self> {
        transport.wait_for_ever()?;
        let line = Arc::new(SharedLine::new(name));
        let (sender, receiver) = mpsc::channel();
        let (for_sender, for_receiver) = (Arc::clone(&line), Arc::clone(&line));
        let (outgoing, flushes) = (transport.try_clone()?, sender.clone());
        start_threads(
            "nbd",
            move || send_all(&for_sender, outgoing, &receiver),
            move || receive_all(&for_receiver, transport, &flushes),
        )?;
        Ok(Self { line, sender })
    }

    /// Sends a request. Its callback runs on another thread, or here if nothing can be sent.
    pub(crate) fn send(&self, request: WireRequest) {
        hand_over(&self.line, &self.sender, request);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The sender may have ended already.
        let _ = self.sender.send(ToSend::Close);
    }
}

/// Passes a request to the sender; fails it here if the sender has exited.
fn hand_over(line: &SharedLine<ExportTask>, sender: &Sender<ToSend>, request: WireRequest) {
    if let Err(mpsc::SendError(ToSend::Request(request))) =
        sender.send(ToSend::Request(Box::new(request)))
    {
        request.abandon(None, line.error());
    }
}

/// Loop of the sending thread.
fn send_all(line: &SharedLine<ExportTask>, mut transport: WireStream, requests: &Receiver<ToSend>) {
    let mut cookie = 0;
    while let Ok(ToSend::Request(request)) = requests.recv() {
        cookie += 1;
        if line.is_broken() {
            request.abandon(None, line.error());
        } else if let Err(error) = send(line, &mut transport, cookie, *request) {
            transport.shut();
            line.fail(reason(&error));
        }
    }
    // Lets the server end without an error.
    let _ = transport.write_all(&protocol::request(WireCommand::Disconnect, 0, 0, 0));
    transport.shut();
}

fn send(
    line: &SharedLine<ExportTask>,
    transport: &mut WireStream,
    cookie: u64,
    request: WireRequest,
) -> io::Result<()> {
    let WireRequest { command, kind, offset, buffer, then_flush, end } = request;
    let length =
        if command == WireCommand::Flush { 0 } else { buffer.as_ref().map_or(0, |it| it.len()) };
    let head =
        protocol::request(command, cookie, offset, u32::try_from(length).unwrap_or(u32::MAX));
    let slot = Arc::new(Mutex::new(buffer));
    // The buffer stays locked until all of it is sent, so that no reply to a write is delivered
    // before.
    let held = lock(&slot);
    let task = ExportTask { kind, offset, length, then_flush, end };
    line.begin(cookie, UnderWay { buffer: Arc::clone(&slot), task });
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

/// Loop of the receiving thread.
fn receive_all(line: &SharedLine<ExportTask>, mut transport: WireStream, flushes: &Sender<ToSend>) {
    let why = loop {
        if let Err(error) = receive(line, &mut transport, flushes) {
            break error;
        }
    };
    transport.shut();
    line.fail(reason(&why));
}

/// Takes one reply.
fn receive(
    line: &SharedLine<ExportTask>,
    transport: &mut WireStream,
    flushes: &Sender<ToSend>,
) -> io::Result<()> {
    let mut head = [0; REPLY_BYTES];
    transport.read_exact(&mut head)?;
    let known =
        protocol::reply(&head).and_then(|(error, cookie)| Some((error, line.take(cookie)?)));
    let Some((error, request)) = known else {
        return Err(io::Error::other("the server answers what was not asked"));
    };
    let mut buffer = lock(&request.buffer).take();
    let ExportTask { kind, offset, length, then_flush, end } = request.task;
    let mut result = Ok(());
    if error != 0 {
        result = Err(protocol::error_of(error, line.name(), kind, offset));
    } else if let (OpKind::Read, Some(bytes)) = (kind, &mut buffer)
        && let Err(error) = transport.read_exact(&mut bytes[..length])
    {
        line.note(format!("the connection broke: {error}"));
        end(RemoteOutcome { buffer, result: Err(line.error()) });
        return Err(error);
    } else if then_flush {
        let command = WireCommand::Flush;
        let request = WireRequest { command, kind, offset, buffer, then_flush: false, end };
        hand_over(line, flushes, request);
        return Ok(());
    }
    end(RemoteOutcome { buffer, result });
    Ok(())
}
