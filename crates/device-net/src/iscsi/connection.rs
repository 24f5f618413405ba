//! One session with one connection: a thread that sends, a thread that receives, and the commands
//! under way between them.

use std::io::{self, BufReader, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use super::agreed::MOST_RECEIVED;
use super::command::{Command, CommandFailure, CommandOutcome, CommandTask, Direction};
use super::login::LoggedIn;
use super::outbox::{Outbox, Ready};
use super::pdu::{self, Head, NO_TAG, data_in, field, response};
use super::sense::Refusal;
use crate::line::{Abandon as _, Line, UnderWay, lock, reason, start_threads};
use crate::transport::WireStream;

/// A command that a target was too busy for waits so long.
const PAUSE: Duration = Duration::from_millis(20);

/// Bytes that are taken from the socket at once.
const RECEIVE_BYTES: usize = 128 << 10;

/// What the sender is told.
enum Job {
    Command(Box<Command>),
    /// After a pause.
    Later(Box<Command>),
    Supply(Ready),
    /// The target asks whether we are there.
    Answer([u8; 8], u32),
    /// The target takes more commands.
    Resume,
    Close,
}

/// What both threads share.
pub(crate) struct SharedWire {
    pub line: Line<CommandTask>,
    /// Highest number that a command may have.
    last_command: AtomicU32,
    /// Number of the next status.
    pub expected_status: AtomicU32,
    /// Whether the sender waits for the target to take more commands.
    pub is_stalled: AtomicBool,
}

impl SharedWire {
    /// Whether the target lets a command of that number in. Numbers go round.
    pub(crate) fn takes(&self, number: u32) -> bool {
        let last = self.last_command.load(Ordering::SeqCst);
        last.wrapping_sub(number).cast_signed() >= 0
    }

    /// Takes note of the highest number that a command may have; whether it is a higher one.
    fn takes_up_to(&self, last: u32) -> bool {
        let is_higher = !self.takes(last);
        if is_higher {
            self.last_command.store(last, Ordering::SeqCst);
        }
        is_higher
    }
}

/// The way to the sender, also for what follows on a command.
pub(crate) struct Wire {
    shared: Arc<SharedWire>,
    jobs: Sender<Job>,
}

impl Wire {
    /// Sends a command. Its end is called from another thread, or here where nothing can be sent.
    pub(crate) fn send(&self, command: Command) {
        self.hand_over(Job::Command(Box::new(command)));
    }

    /// The same after a pause.
    pub(crate) fn send_later(&self, command: Command) {
        self.hand_over(Job::Later(Box::new(command)));
    }

    /// Ends the session once what arrives now has been dealt with.
    pub(crate) fn give_up(&self, why: &str) {
        self.shared.line.note(why.to_owned());
    }

    /// What commands fail with once the session has ended.
    pub(crate) fn error(&self) -> device::DeviceError {
        self.shared.line.error()
    }

    fn hand_over(&self, job: Job) {
        if let Err(mpsc::SendError(Job::Command(command) | Job::Later(command))) =
            self.jobs.send(job)
        {
            command.abandon(None, self.shared.line.error());
        }
    }
}

/// See the module. The session ends with it.
pub(crate) struct Connection {
    pub wire: Arc<Wire>,
}

impl Connection {
    /// Starts both threads on a session that has been logged in to.
    pub(crate) fn start(stream: WireStream, login: LoggedIn, name: &str) -> io::Result<Self> {
        stream.wait_for_ever()?;
        let shared = Arc::new(SharedWire {
            line: Line::new(name),
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

impl Drop for Connection {
    fn drop(&mut self) {
        // The sender may have ended already.
        let _ = self.wire.jobs.send(Job::Close);
    }
}

/// What the sending thread does.
fn send_all(mut outbox: Outbox, mut stream: WireStream, jobs: &Receiver<Job>) {
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

/// Takes one job; whether others may follow.
fn take(outbox: &mut Outbox, job: Job) -> bool {
    match job {
        Job::Command(command) => outbox.add(command),
        Job::Later(command) => outbox.delay(command),
        Job::Supply(ready) => outbox.supply(ready),
        Job::Answer(lun, transfer_tag) => outbox.answer(lun, transfer_tag),
        Job::Resume => {}
        Job::Close => return false,
    }
    true
}

/// The receiving thread.
struct Incoming {
    shared: Arc<SharedWire>,
    stream: BufReader<WireStream>,
    jobs: Sender<Job>,
}

impl Incoming {
    fn new(shared: Arc<SharedWire>, stream: WireStream, jobs: Sender<Job>) -> Self {
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
        // The sender fails what waits.
        let _ = self.jobs.send(Job::Resume);
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
                self.tell(Job::Supply(Ready {
                    tag: head.word(field::TASK_TAG),
                    transfer_tag,
                    offset: head.word(field::OFFSET),
                    length: head.word(field::LENGTH),
                }));
                Ok(())
            }
            response::NOP_IN => {
                if transfer_tag != NO_TAG {
                    self.tell(Job::Answer(head.lun(), transfer_tag));
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

    fn tell(&self, job: Job) {
        // Once the sender has gone, nothing is answered.
        let _ = self.jobs.send(job);
    }

    fn note_numbers(&self, head: &Head) {
        if let Some(number) = head.status_number() {
            self.shared.expected_status.store(number.wrapping_add(1), Ordering::SeqCst);
        }
        let is_more = self.shared.takes_up_to(head.word(field::LAST_COMMAND_NUMBER));
        if is_more && self.shared.is_stalled.swap(false, Ordering::SeqCst) {
            self.tell(Job::Resume);
        }
    }

    /// Data of a read, perhaps with its status.
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

    /// The status of a command, with sense data.
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
            Direction::In => task.arrived,
            Direction::Out | Direction::None => task.range.len().saturating_sub(missing),
        };
        let refused = Refusal::of(head.0[3], sense).map(CommandFailure::Refused);
        let result = refused.map_or(Ok(()), Err);
        (task.end)(CommandOutcome { buffer, moved, result });
        Ok(())
    }
}

/// What a target says unasked (RFC 7143, 11.9.1).
fn asynchronous(event: u8) -> io::Result<()> {
    match event {
        1 => Err(io::Error::other("the target asks to be left")),
        2 | 3 => Err(io::Error::other("the target ends the session")),
        _ => Ok(()),
    }
}
