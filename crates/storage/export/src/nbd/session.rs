//! One connection as a state machine: bytes in, events out. It holds no bytes of the stream: what a
//! step leaves unused is offered again with more behind it.

use std::rc::Rc;

use device::{Buffer, SECTOR};

use super::negotiation::{Negotiation, Outcome};
use super::numbers::command;
use super::offer::{ExportOffer, Limits, SessionEnd};
use super::reply::Framing;
use super::request::NbdRequest;
use super::request::{self, Header, Parsed};

/// What the driver has to do next.
#[derive(Debug)]
pub enum SessionEvent {
    /// Send these bytes.
    Send(Vec<u8>),
    /// Perform a request; its reply may overtake others.
    Request(NbdRequest),
    /// Call [`Session::grant`] once there is room for a payload of this many bytes.
    Payload(usize),
    /// Nothing more will come. Answer the requests in progress, then close.
    End(SessionEnd),
}

/// The result of [`Session::advance`].
#[derive(Debug)]
pub struct Step {
    /// Bytes of the input that were used.
    pub used: usize,
    /// What to do; none if more bytes are needed.
    pub event: Option<SessionEvent>,
}

enum Phase {
    Begin,
    Negotiating(Negotiation),
    Open(OpenExport),
    Ended(SessionEnd),
}

/// See the module.
pub struct Session {
    exports: Rc<[ExportOffer]>,
    limits: Limits,
    phase: Phase,
}

/// An open export's stream of requests.
struct OpenExport {
    export: usize,
    framing: Framing,
    has_contexts: bool,
    payload: Incoming,
}

/// What follows the last header.
enum Incoming {
    Nothing,
    /// A payload that waits for memory.
    Waiting(Header),
    /// A payload that arrives.
    Filling {
        header: Header,
        buffer: Buffer,
        filled: usize,
    },
    /// A payload of a request that was refused with this error number.
    Discarded {
        header: Header,
        left: u64,
        number: u32,
    },
}

impl Session {
    /// A connection to a server with these exports.
    pub fn new(exports: Rc<[ExportOffer]>, limits: Limits) -> Self {
        Self { exports, limits, phase: Phase::Begin }
    }

    /// The number of the open export; none before one is open.
    pub const fn export(&self) -> Option<usize> {
        match &self.phase {
            Phase::Open(open) => Some(open.export),
            _ => None,
        }
    }

    /// Uses bytes from the beginning of `input`. Call it again with the rest until it neither uses
    /// a byte nor returns an event.
    pub fn advance(&mut self, input: &[u8]) -> Step {
        match &mut self.phase {
            Phase::Begin => {
                let event = Some(SessionEvent::Send(Negotiation::greeting()));
                self.phase = Phase::Negotiating(Negotiation::default());
                Step { used: 0, event }
            }
            Phase::Negotiating(negotiation) => {
                let (used, outcome) = negotiation.advance(input, &self.exports, &self.limits);
                Step { used, event: outcome.and_then(|outcome| self.negotiated(outcome)) }
            }
            Phase::Open(open) => {
                let step = open.advance(input, &self.exports, self.limits.longest_request);
                if let Some(SessionEvent::End(end)) = step.event {
                    self.phase = Phase::Ended(end);
                }
                step
            }
            Phase::Ended(end) => Step { used: 0, event: Some(SessionEvent::End(*end)) },
        }
    }

    fn negotiated(&mut self, outcome: Outcome) -> Option<SessionEvent> {
        match outcome {
            Outcome::Continue(bytes) => (!bytes.is_empty()).then_some(SessionEvent::Send(bytes)),
            Outcome::Open { bytes, export, framing, has_contexts } => {
                let payload = Incoming::Nothing;
                self.phase = Phase::Open(OpenExport { export, framing, has_contexts, payload });
                Some(SessionEvent::Send(bytes))
            }
            Outcome::End { bytes, end } => {
                self.phase = Phase::Ended(end);
                Some(if bytes.is_empty() {
                    SessionEvent::End(end)
                } else {
                    SessionEvent::Send(bytes)
                })
            }
        }
    }

    /// Answers [`SessionEvent::Payload`]: there is room.
    pub fn grant(&mut self) {
        if let Phase::Open(open) = &mut self.phase
            && let Incoming::Waiting(header) = open.payload
        {
            let length = usize::try_from(header.length).unwrap_or(0);
            let buffer = Buffer::zeroed(length.next_multiple_of(SECTOR));
            open.payload = Incoming::Filling { header, buffer, filled: 0 };
        }
    }

    /// Room for the next bytes of a payload, so that they need not be copied; empty if none are
    /// expected. Report them with [`Session::filled`].
    pub fn payload_room(&mut self) -> &mut [u8] {
        if let Phase::Open(open) = &mut self.phase
            && let Incoming::Filling { header, buffer, filled } = &mut open.payload
        {
            let end = usize::try_from(header.length).unwrap_or(0);
            return &mut buffer[*filled..end];
        }
        &mut []
    }

    /// `bytes` of [`Session::payload_room`] have been filled.
    pub fn filled(&mut self, bytes: usize) {
        if let Phase::Open(open) = &mut self.phase
            && let Incoming::Filling { filled, .. } = &mut open.payload
        {
            *filled += bytes;
        }
    }
}

impl OpenExport {
    fn advance(&mut self, input: &[u8], exports: &[ExportOffer], longest: u64) -> Step {
        match &mut self.payload {
            Incoming::Nothing => self.header(input, exports, longest),
            Incoming::Waiting(_) => Step { used: 0, event: None },
            Incoming::Filling { header, buffer, filled } => {
                let end = usize::try_from(header.length).unwrap_or(0);
                let used = input.len().min(end - *filled);
                buffer[*filled..*filled + used].copy_from_slice(&input[..used]);
                *filled += used;
                let is_whole = *filled == end;
                Step { used, event: if is_whole { self.complete() } else { None } }
            }
            Incoming::Discarded { header, left, number } => {
                let used = input.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= used as u64;
                if *left > 0 {
                    return Step { used, event: None };
                }
                let refused = header.ticket(self.framing).refused(*number);
                self.payload = Incoming::Nothing;
                Step { used, event: Some(SessionEvent::Send(refused.head)) }
            }
        }
    }

    fn header(&mut self, input: &[u8], exports: &[ExportOffer], longest: u64) -> Step {
        let (header, used) = match request::parse(input, self.framing) {
            Parsed::Incomplete => return Step { used: 0, event: None },
            Parsed::Lost => {
                return Step { used: 0, event: Some(SessionEvent::End(SessionEnd::Nonsense)) };
            }
            Parsed::Header(header, used) => (header, used),
        };
        if header.kind == command::DISCONNECT {
            return Step { used, event: Some(SessionEvent::End(SessionEnd::Left)) };
        }
        let refusal = exports.get(self.export).map_or(Ok(()), |export| {
            header.refusal(self.framing, export, (longest, self.has_contexts))
        });
        let payload = header.payload(self.framing);
        if let Err(number) = refusal {
            self.payload = Incoming::Discarded { header, left: payload, number };
            return Step { used, event: None };
        }
        if payload == 0 {
            let request = header.request(self.framing, None);
            return Step { used, event: request.map(SessionEvent::Request) };
        }
        self.payload = Incoming::Waiting(header);
        let bytes = usize::try_from(payload).unwrap_or(usize::MAX);
        Step { used, event: Some(SessionEvent::Payload(bytes)) }
    }

    fn complete(&mut self) -> Option<SessionEvent> {
        match std::mem::replace(&mut self.payload, Incoming::Nothing) {
            Incoming::Filling { header, buffer, .. } => {
                header.request(self.framing, Some(buffer)).map(SessionEvent::Request)
            }
            _ => None,
        }
    }
}
