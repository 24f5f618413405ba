//! The negotiation: greeting, the client's flags, then options until an export is open.

use super::fields::{WireFields, WireMessage};
use super::numbers::{self, answer, handshake, option};
use super::offer::{ExportOffer, Limits, SessionEnd};
use super::options::{self, answer_to};
use super::reply::Framing;

/// Length of an option's header in bytes.
const OPTION_BYTES: usize = 16;

/// State of a negotiation.
#[derive(Default)]
pub(super) struct Negotiation {
    /// The client's flags, once they have arrived.
    flags: Option<u32>,
    options: u32,
    is_secure: bool,
    pub(super) framing: Option<Framing>,
    /// The export whose allocation the client wants to know.
    pub(super) context_of: Option<usize>,
}

/// The server's reaction to a message of the client.
pub(super) enum Negotiated {
    /// Send these bytes, if any, and continue.
    Continue(Vec<u8>),
    /// Send these bytes; the rest is encrypted.
    Secure(Vec<u8>),
    /// Send these bytes; requests follow.
    Open { bytes: Vec<u8>, export: usize, framing: Framing, has_contexts: bool },
    /// Send these bytes, if any, and close.
    End { bytes: Vec<u8>, end: SessionEnd },
}

impl Negotiation {
    /// The server's first bytes.
    pub(super) fn greeting() -> Vec<u8> {
        let flags = u16::try_from(handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES).unwrap_or(3);
        let head = WireMessage::default().u64(numbers::GREETING).u64(numbers::OPTION_MAGIC);
        head.u16(flags).finish()
    }

    /// Consumes the message at the beginning of `input`, if it is complete.
    pub(super) fn advance(
        &mut self,
        input: &[u8],
        exports: &[ExportOffer],
        limits: &Limits,
    ) -> (usize, Option<Negotiated>) {
        let mut fields = WireFields(input);
        if self.flags.is_none() {
            let Some(flags) = fields.u32() else {
                return (0, None);
            };
            let known = handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES;
            if flags & !known != 0 {
                return (4, Some(ended(Vec::new(), SessionEnd::Nonsense)));
            }
            self.flags = Some(flags);
            return (4, Some(Negotiated::Continue(Vec::new())));
        }
        let Some(magic) = fields.u64() else {
            return (0, None);
        };
        if magic != numbers::OPTION_MAGIC {
            return (0, Some(ended(Vec::new(), SessionEnd::Nonsense)));
        }
        let (Some(kind), Some(length)) = (fields.u32(), fields.u32()) else {
            return (0, None);
        };
        self.option((kind, length), &input[OPTION_BYTES..], exports, limits)
    }

    fn option(
        &mut self,
        (kind, length): (u32, u32),
        rest: &[u8],
        exports: &[ExportOffer],
        limits: &Limits,
    ) -> (usize, Option<Negotiated>) {
        if length > limits.longest_option {
            let bytes = answer_to(kind, answer::ERR_TOO_BIG, b"an option that long is not read");
            return (0, Some(ended(bytes, SessionEnd::TooMuch)));
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let Some(data) = rest.get(..length) else {
            return (0, None);
        };
        self.options += 1;
        if self.options > limits.most_options {
            return (0, Some(ended(Vec::new(), SessionEnd::TooMuch)));
        }
        (OPTION_BYTES + length, Some(self.answer(kind, data, exports, limits)))
    }

    fn answer(
        &mut self,
        kind: u32,
        data: &[u8],
        exports: &[ExportOffer],
        limits: &Limits,
    ) -> Negotiated {
        if limits.needs_tls && !self.is_secure {
            return self.in_clear(kind, data);
        }
        match kind {
            option::EXPORT_NAME => self.export_name(data, exports),
            option::ABORT => left(),
            option::LIST if data.is_empty() => Negotiated::Continue(options::list(exports)),
            option::STARTTLS if self.is_secure => bare(kind, answer::ERR_INVALID),
            option::STARTTLS => {
                let text = b"no TLS here: the server has no certificate, or this is its socket";
                Negotiated::Continue(answer_to(kind, answer::ERR_PLATFORM, text))
            }
            option::INFO | option::GO => self.info(kind, data, exports, limits),
            option::STRUCTURED_REPLY | option::EXTENDED_HEADERS if data.is_empty() => {
                let is_structured = kind == option::STRUCTURED_REPLY;
                if self.framing != Some(Framing::Extended) {
                    let wanted =
                        if is_structured { Framing::Structured } else { Framing::Extended };
                    self.framing = Some(wanted);
                }
                bare(kind, answer::ACK)
            }
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => {
                self.contexts(kind, data, exports)
            }
            option::LIST | option::STRUCTURED_REPLY | option::EXTENDED_HEADERS => {
                bare(kind, answer::ERR_INVALID)
            }
            _ => bare(kind, answer::ERR_UNSUP),
        }
    }

    /// Answers an option of a client that must encrypt first.
    fn in_clear(&mut self, kind: u32, data: &[u8]) -> Negotiated {
        match kind {
            option::STARTTLS if data.is_empty() => {
                self.is_secure = true;
                Negotiated::Secure(answer_to(kind, answer::ACK, &[]))
            }
            option::STARTTLS => bare(kind, answer::ERR_INVALID),
            option::ABORT => left(),
            // The protocol has no error reply to this option.
            option::EXPORT_NAME => ended(Vec::new(), SessionEnd::UnknownExport),
            _ => bare(kind, answer::ERR_TLS_REQUIRED),
        }
    }

    fn opened(&self, bytes: Vec<u8>, export: usize) -> Negotiated {
        let framing = self.framing.unwrap_or(Framing::Simple);
        let has_contexts = self.context_of == Some(export);
        Negotiated::Open { bytes, export, framing, has_contexts }
    }

    /// Handles `NBD_OPT_EXPORT_NAME`, which opens an export or ends the connection.
    fn export_name(&self, name: &[u8], exports: &[ExportOffer]) -> Negotiated {
        let found = std::str::from_utf8(name).ok().and_then(|name| options::find(exports, name));
        let Some((number, export)) = found else {
            return Negotiated::End { bytes: Vec::new(), end: SessionEnd::UnknownExport };
        };
        let framing = self.framing.unwrap_or(Framing::Simple);
        let mut head =
            WireMessage::default().u64(export.bytes).u16(options::flags(export, framing));
        if self.flags.is_some_and(|flags| flags & handshake::NO_ZEROES == 0) {
            head = head.bytes(&[0; 124]);
        }
        self.opened(head.finish(), number)
    }

    fn info(&self, kind: u32, data: &[u8], exports: &[ExportOffer], limits: &Limits) -> Negotiated {
        let Some((name, wanted)) = options::wanted(data) else {
            return Negotiated::Continue(answer_to(kind, answer::ERR_INVALID, &[]));
        };
        let Some((number, export)) = options::find(exports, name) else {
            let text = b"no such export; ask for the list";
            return Negotiated::Continue(answer_to(kind, answer::ERR_UNKNOWN, text));
        };
        let framing = self.framing.unwrap_or(Framing::Simple);
        let longest = u32::try_from(limits.longest_request).unwrap_or(u32::MAX);
        let mut bytes = options::information(kind, export, &wanted, (framing, longest));
        bytes.extend(answer_to(kind, answer::ACK, &[]));
        if kind == option::GO { self.opened(bytes, number) } else { Negotiated::Continue(bytes) }
    }

    /// Answers queries for metadata contexts. Only allocation is supported.
    fn contexts(&mut self, kind: u32, data: &[u8], exports: &[ExportOffer]) -> Negotiated {
        let is_set = kind == option::SET_META_CONTEXT;
        if is_set {
            self.context_of = None;
        }
        let Some((name, queries)) = options::queries(data) else {
            return bare(kind, answer::ERR_INVALID);
        };
        if self.framing.is_none() {
            return bare(kind, answer::ERR_INVALID);
        }
        let Some((number, _)) = options::find(exports, name) else {
            return bare(kind, answer::ERR_UNKNOWN);
        };
        let lists_all = !is_set && (queries.is_empty() || queries.contains(&numbers::BASE));
        let mut bytes = Vec::new();
        if lists_all || queries.contains(&numbers::ALLOCATION) {
            let context =
                WireMessage::default().u32(if is_set { numbers::ALLOCATION_ID } else { 0 });
            let context = context.bytes(numbers::ALLOCATION.as_bytes()).finish();
            bytes.extend(answer_to(kind, answer::META_CONTEXT, &context));
            if is_set {
                self.context_of = Some(number);
            }
        }
        bytes.extend(answer_to(kind, answer::ACK, &[]));
        Negotiated::Continue(bytes)
    }
}

/// Answers an option without data.
fn bare(option: u32, kind: u32) -> Negotiated {
    Negotiated::Continue(answer_to(option, kind, &[]))
}

/// Answers a client that disconnects.
fn left() -> Negotiated {
    ended(answer_to(option::ABORT, answer::ACK, &[]), SessionEnd::Left)
}

/// Sends `bytes`, if any, and closes.
const fn ended(bytes: Vec<u8>, end: SessionEnd) -> Negotiated {
    Negotiated::End { bytes, end }
}
