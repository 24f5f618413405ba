//! One connection as a state machine: bytes in, events out. It buffers no bytes of the stream: the
//! input that a step leaves unused is offered again with more after it.

use std::rc::Rc;

use device::{Buffer, SECTOR};

use super::negotiation::{Negotiated, Negotiation};
use super::numbers::command;
use super::offer::{ExportOffer, Limits, SessionEnd};
use super::reply::Framing;
use super::request::NbdRequest;
use super::request::{self, ParsedHeader, RequestHeader};

/// Next step for the driver.
#[derive(Debug)]
pub(crate) enum SessionEvent {
    /// Send these bytes.
    Send(Vec<u8>),
    /// Send these bytes unencrypted, then encrypt the stream in both directions.
    StartTls(Vec<u8>),
    /// Perform a request; its reply may overtake others.
    Request(NbdRequest),
    /// Call [`Session::grant`] once there is room for a payload of this many bytes.
    Payload(usize),
    /// No more events will follow. Answer the requests in progress, then close.
    End(SessionEnd),
}

/// The result of [`Session::advance`].
#[derive(Debug)]
pub(crate) struct Advance {
    /// Bytes of the input that were used.
    pub used: usize,
    /// Next step; `None` if more bytes are needed.
    pub event: Option<SessionEvent>,
}

enum SessionPhase {
    Begin,
    Negotiating(Negotiation),
    Open(OpenExport),
    Ended(SessionEnd),
}

/// See the module.
pub(crate) struct Session {
    exports: Rc<[ExportOffer]>,
    limits: Limits,
    phase: SessionPhase,
}

/// An open export's stream of requests.
struct OpenExport {
    export: usize,
    framing: Framing,
    has_contexts: bool,
    payload: PayloadState,
}

/// The payload of the last header.
enum PayloadState {
    Nothing,
    /// The payload is not read until memory is granted.
    Waiting(RequestHeader),
    /// The payload is being received.
    Filling {
        header: RequestHeader,
        buffer: Buffer,
        filled: usize,
    },
    /// The payload of a request refused with this error number is being skipped.
    Discarded {
        header: RequestHeader,
        left: u64,
        number: u32,
    },
}

impl Session {
    /// A connection to a server with these exports.
    pub(crate) fn new(exports: Rc<[ExportOffer]>, limits: Limits) -> Self {
        Self { exports, limits, phase: SessionPhase::Begin }
    }

    /// The number of the open export; `None` before one is open.
    pub(crate) const fn export(&self) -> Option<usize> {
        match &self.phase {
            SessionPhase::Open(open) => Some(open.export),
            _ => None,
        }
    }

    /// Uses bytes from the beginning of `input`. Call it again with the rest until it neither uses
    /// a byte nor returns an event.
    pub(crate) fn advance(&mut self, input: &[u8]) -> Advance {
        match &mut self.phase {
            SessionPhase::Begin => {
                let event = Some(SessionEvent::Send(Negotiation::greeting()));
                self.phase = SessionPhase::Negotiating(Negotiation::default());
                Advance { used: 0, event }
            }
            SessionPhase::Negotiating(negotiation) => {
                let (used, outcome) = negotiation.advance(input, &self.exports, &self.limits);
                Advance { used, event: outcome.and_then(|outcome| self.negotiated(outcome)) }
            }
            SessionPhase::Open(open) => {
                let step = open.advance(input, &self.exports, self.limits.longest_request);
                if let Some(SessionEvent::End(end)) = step.event {
                    self.phase = SessionPhase::Ended(end);
                }
                step
            }
            SessionPhase::Ended(end) => Advance { used: 0, event: Some(SessionEvent::End(*end)) },
        }
    }

    fn negotiated(&mut self, outcome: Negotiated) -> Option<SessionEvent> {
        match outcome {
            Negotiated::Continue(bytes) => (!bytes.is_empty()).then_some(SessionEvent::Send(bytes)),
            Negotiated::Open { bytes, export, framing, has_contexts } => {
                let payload = PayloadState::Nothing;
                self.phase =
                    SessionPhase::Open(OpenExport { export, framing, has_contexts, payload });
                Some(SessionEvent::Send(bytes))
            }
            Negotiated::Secure(bytes) => Some(SessionEvent::StartTls(bytes)),
            Negotiated::End { bytes, end } => {
                self.phase = SessionPhase::Ended(end);
                Some(if bytes.is_empty() {
                    SessionEvent::End(end)
                } else {
                    SessionEvent::Send(bytes)
                })
            }
        }
    }

    /// Answers [`SessionEvent::Payload`]: there is room.
    pub(crate) fn grant(&mut self) {
        if let SessionPhase::Open(open) = &mut self.phase
            && let PayloadState::Waiting(header) = open.payload
        {
            let length = usize::try_from(header.length).unwrap_or(0);
            let buffer = Buffer::zeroed(length.next_multiple_of(SECTOR));
            open.payload = PayloadState::Filling { header, buffer, filled: 0 };
        }
    }

    /// Room for the next bytes of a payload, so that they need not be copied; empty if none are
    /// expected. Report them with [`Session::filled`].
    pub(crate) fn payload_room(&mut self) -> &mut [u8] {
        if let SessionPhase::Open(open) = &mut self.phase
            && let PayloadState::Filling { header, buffer, filled } = &mut open.payload
        {
            let end = usize::try_from(header.length).unwrap_or(0);
            return &mut buffer[*filled..end];
        }
        &mut []
    }

    /// `bytes` of [`Session::payload_room`] have been filled.
    pub(crate) fn filled(&mut self, bytes: usize) {
        if let SessionPhase::Open(open) = &mut self.phase
            && let PayloadState::Filling { filled, .. } = &mut open.payload
        {
            *filled += bytes;
        }
    }
}

impl OpenExport {
    fn advance(&mut self, input: &[u8], exports: &[ExportOffer], longest: u64) -> Advance {
        match &mut self.payload {
            PayloadState::Nothing => self.header(input, exports, longest),
            PayloadState::Waiting(_) => Advance { used: 0, event: None },
            PayloadState::Filling { header, buffer, filled } => {
                let end = usize::try_from(header.length).unwrap_or(0);
                let used = input.len().min(end - *filled);
                buffer[*filled..*filled + used].copy_from_slice(&input[..used]);
                *filled += used;
                let is_whole = *filled == end;
                Advance { used, event: if is_whole { self.complete() } else { None } }
            }
            PayloadState::Discarded { header, left, number } => {
                let used = input.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= used as u64;
                if *left > 0 {
                    return Advance { used, event: None };
                }
                let refused = header.ticket(self.framing).refused(*number);
                self.payload = PayloadState::Nothing;
                Advance { used, event: Some(SessionEvent::Send(refused.head)) }
            }
        }
    }

    fn header(&mut self, input: &[u8], exports: &[ExportOffer], longest: u64) -> Advance {
        let (header, used) = match request::parse(input, self.framing) {
            ParsedHeader::Incomplete => return Advance { used: 0, event: None },
            ParsedHeader::Lost => {
                return Advance { used: 0, event: Some(SessionEvent::End(SessionEnd::Nonsense)) };
            }
            ParsedHeader::Header(header, used) => (header, used),
        };
        if header.kind == command::DISCONNECT {
            return Advance { used, event: Some(SessionEvent::End(SessionEnd::Left)) };
        }
        let refusal = exports.get(self.export).map_or(Ok(()), |export| {
            header.refusal(self.framing, export, (longest, self.has_contexts))
        });
        let payload = header.payload(self.framing);
        if let Err(number) = refusal {
            self.payload = PayloadState::Discarded { header, left: payload, number };
            return Advance { used, event: None };
        }
        if payload == 0 {
            let request = header.request(self.framing, None);
            return Advance { used, event: request.map(SessionEvent::Request) };
        }
        self.payload = PayloadState::Waiting(header);
        let bytes = usize::try_from(payload).unwrap_or(usize::MAX);
        Advance { used, event: Some(SessionEvent::Payload(bytes)) }
    }

    fn complete(&mut self) -> Option<SessionEvent> {
        match std::mem::replace(&mut self.payload, PayloadState::Nothing) {
            PayloadState::Filling { header, buffer, .. } => {
                header.request(self.framing, Some(buffer)).map(SessionEvent::Request)
            }
            _ => None,
        }
    }
}
