//! One session with one connection: a thread that sends, a thread that receives, and the commands
//! in flight between them.

use std::io::{self, BufReader, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use super::agreed::MOST_RECEIVED;
use super::command::{Command, CommandFailure, CommandOutcome, DataDirection};
use super::login::LoggedIn;
use super::outbox::{AskedData, Outbox};
use super::pdu::{self, Head, NO_TAG, data_in, field, response};
use super::sense::ScsiRefusal;
use super::shared_wire::SharedWire;
use crate::line::{Abandon as _, SharedLine, UnderWay, lock, reason, start_threads};
use crate::transport::WireStream;

/// Delay before a command is sent again that a busy target rejected.
const PAUSE: Duration = Duration::from_millis(20);

/// Maximum number of bytes read from the socket at once.
const RECEIVE_BYTES: usize = 128 << 10;

/// Jobs for the sender.
enum SenderJob {
    Command(Box<Command>),
    /// After a pause.
    Later(Box<Command>),
    Supply(AskedData),
    /// The target pings us.
    Answer([u8; 8], u32),
    /// The target accepts more commands.
    Resume,
    Close,
}

/// Access to the sender, also for the continuation of a command.
pub(crate) struct Wire {
    shared: Arc<SharedWire>,
    jobs: Sender<SenderJob>,
}

impl Wire {
    /// Sends a command. Its callback runs on another thread, or here if nothing can be sent.
    pub(crate) fn send(&self, command: Command) {
        self.hand_over(SenderJob::Command(Box::new(command)));
    }

    /// Sends a command after a pause, like [`Self::send`].
    pub(crate) fn send_later(&self, command: Command) {
        self.hand_over(SenderJob::Later(Box::new(command)));
    }

    /// Ends the session once the data already received has been processed.
    pub(crate) fn give_up(&self, why: &str) {
        self.shared.line.note(why.to_owned());
    }

    /// The error of commands after the session has ended.
    pub(crate) fn error(&self) -> device::DeviceError {
        self.shared.line.error()
    }

    fn hand_over(&self, job: SenderJob) {
        if let Err(mpsc::SendError(SenderJob::Command(command) | SenderJob::Later(command))) =
            self.jobs.send(job)
        {
            command.abandon(None, self.shared.line.error());
        }
    }
}

/// See the module. Dropping it ends the session.
pub(crate) struct IscsiConnection {
    pub wire: Arc<Wire>,
}

impl IscsiConnection {
    /// Starts both threads on a session that has been logged in to.
    pub(crate) fn start(stream: WireStream, login: LoggedIn, name: &str) -> io::Result<Self> {
        stream.wait_for_ever()?;
        let shared = Arc::new(SharedWire {
            line: SharedLine::new(name),
            last_command: AtomicU32::new(login.last_command),
            expected_status: AtomicU32::new(login.expected_status),
            is_stalled: AtomicBool::new(false),
        });
        let (sender, jobs) = mpsc::channel();
        let wire = Arc::new(Wire { shared: Arc::clone(&shared), jobs: sender.clone() });
        let (outbox, outgoing) =
            (Outbox::new(Arc::clone(&shared), login.agreed), stream.try_clone()?);
        start_threads(
            "iscsi",
            move || send_all(outbox, outgoing, &jobs),
            move || Incoming::new(shared, stream, sender).receive_all(),
        )?;
        Ok(Self { wire })
    }
}

impl Drop for IscsiConnection {
    fn drop(&mut self) {
        // The sender may have ended already.
        let _ = self.wire.jobs.send(SenderJob::Close);
    }
}

/// Loop of the sending thread.
fn send_all(mut outbox: Outbox, mut stream: WireStream, jobs: &Receiver<SenderJob>) {
    loop {
        let next = if outbox.is_delayed() {
            jobs.recv_timeout(PAUSE)
        } else {
            jobs.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        let mut goes_on = match next {
            Ok(job) => take(&mut outbox, job),
            Err(RecvTimeoutError::Timeout) => {
                outbox.resume();
                true
            }
            Err(RecvTimeoutError::Disconnected) => false,
        };
        while goes_on
            && outbox.has_room()
            && let Ok(job) = jobs.try_recv()
        {
            goes_on = take(&mut outbox, job);
        }
        if !goes_on {
            outbox.log_out();
        }
        if let Err(error) = outbox.flush(&mut stream) {
            outbox.fail(reason(&error));
            stream.shut();
        }
        if !goes_on {
            return;
        }
    }
}

/// Processes one job; returns whether more may follow.
fn take(outbox: &mut Outbox, job: SenderJob) -> bool {
    match job {
        SenderJob::Command(command) => outbox.add(command),
        SenderJob::Later(command) => outbox.delay(command),
        SenderJob::Supply(ready) => outbox.supply(ready),
        SenderJob::Answer(lun, transfer_tag) => outbox.answer(lun, transfer_tag),
        SenderJob::Resume => {}
        SenderJob::Close => return false,
    }
    true
}

/// The receiving thread.
struct Incoming {
    shared: Arc<SharedWire>,
    stream: BufReader<WireStream>,
    jobs: Sender<SenderJob>,
}

impl Incoming {
    fn new(shared: Arc<SharedWire>, stream: WireStream, jobs: Sender<SenderJob>) -> Self {
        Self { shared, stream: BufReader::with_capacity(RECEIVE_BYTES, stream), jobs }
    }

    fn receive_all(mut self) {
        let why = loop {
            if let Err(error) = self.receive() {
                break reason(&error);
            }
            if self.shared.line.is_broken() {
                break String::new();
            }
        };
        self.stream.get_ref().shut();
        self.shared.line.fail(why);
        // The sender fails the waiting requests.
        let _ = self.jobs.send(SenderJob::Resume);
    }

    /// Takes one PDU.
    fn receive(&mut self) -> io::Result<()> {
        let head = pdu::read_head(&mut self.stream)?;
        self.note_numbers(&head);
        match head.opcode() {
            response::DATA_IN => return self.data(&head),
            response::COMMAND => return self.ended(&head),
            _ => {}
        }
        pdu::read_data(&mut self.stream, &head, MOST_RECEIVED)?;
        let transfer_tag = head.word(field::TRANSFER_TAG);
        match head.opcode() {
            response::READY => {
                self.tell(SenderJob::Supply(AskedData {
                    tag: head.word(field::TASK_TAG),
                    transfer_tag,
                    offset: head.word(field::OFFSET),
                    length: head.word(field::LENGTH),
                }));
                Ok(())
            }
            response::NOP_IN => {
                if transfer_tag != NO_TAG {
                    self.tell(SenderJob::Answer(head.lun(), transfer_tag));
                }
                Ok(())
            }
            response::ASYNC => asynchronous(head.0[36]),
            response::LOGOUT => Err(io::ErrorKind::UnexpectedEof.into()),
            response::REJECT => {
                Err(io::Error::other(format!("the target rejects a request ({:#04x})", head.0[2])))
            }
            other => Err(io::Error::other(format!("the target sends a PDU of kind {other:#04x}"))),
        }
    }

    fn tell(&self, job: SenderJob) {
        // Once the sender has exited, there is nothing to answer.
        let _ = self.jobs.send(job);
    }

    fn note_numbers(&self, head: &Head) {
        if let Some(number) = head.status_number() {
            self.shared.expected_status.store(number.wrapping_add(1), Ordering::SeqCst);
        }
        let is_more = self.shared.takes_up_to(head.word(field::LAST_COMMAND_NUMBER));
        if is_more && self.shared.is_stalled.swap(false, Ordering::SeqCst) {
            self.tell(SenderJob::Resume);
        }
    }

    /// Receives the data of a read, possibly with its status.
    fn data(&mut self, head: &Head) -> io::Result<()> {
        let (tag, length) = (u64::from(head.word(field::TASK_TAG)), head.data_bytes());
        let offset = head.word(field::OFFSET) as usize;
        let place = self.shared.line.with(tag, |under_way| {
            let task = &mut under_way.task;
            task.arrived += length;
            let from = task.range.start + offset;
            let is_inside = from + length <= task.range.end;
            is_inside.then(|| (Arc::clone(&under_way.buffer), from))
        });
        let Some(Some((slot, from))) = place else {
            return Err(io::Error::other("the target sends data that was not asked for"));
        };
        match lock(&slot).as_mut() {
            Some(bytes) => self.stream.read_exact(&mut bytes[from..from + length])?,
            None => return Err(io::Error::other("the target sends data for nothing")),
        }
        pdu::pass_padding(&mut self.stream, length)?;
        if head.has(data_in::STATUS) {
            return self.finish(head, &[]);
        }
        Ok(())
    }

    /// Receives the status of a command, with sense data.
    fn ended(&mut self, head: &Head) -> io::Result<()> {
        let data = pdu::read_data(&mut self.stream, head, MOST_RECEIVED)?;
        if head.0[2] != 0 {
            return Err(io::Error::other("the target could not carry out a command"));
        }
        self.finish(head, data.get(2..).unwrap_or_default())
    }

    fn finish(&self, head: &Head, sense: &[u8]) -> io::Result<()> {
        let Some(UnderWay { buffer, task }) =
            self.shared.line.take(u64::from(head.word(field::TASK_TAG)))
        else {
            return Err(io::Error::other("the target answers what was not asked"));
        };
        let buffer = lock(&buffer).take();
        let is_short = head.has(data_in::UNDERFLOW);
        let missing = if is_short { head.word(field::LENGTH) as usize } else { 0 };
        let moved = match task.direction {
            DataDirection::In => task.arrived,
            DataDirection::Out | DataDirection::None => task.range.len().saturating_sub(missing),
        };
        let refused = ScsiRefusal::of(head.0[3], sense).map(CommandFailure::Refused);
        let result = refused.map_or(Ok(()), Err);
        (task.end)(CommandOutcome { buffer, moved, result });
        Ok(())
    }
}

/// Handles unsolicited messages of a target (RFC 7143, 11.9.1).
fn asynchronous(event: u8) -> io::Result<()> {
    match event {
        1 => Err(io::Error::other("the target asks to be left")),
        2 | 3 => Err(io::Error::other("the target ends the session")),
        _ => Ok(()),
    }
}
