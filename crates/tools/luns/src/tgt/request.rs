//! Requests to the control socket of `tgtd` and its answers: a header in the machine's own byte
//! order, then text. Learned from `usr/tgtadm.h` of tgt, unchanged from 1.0.85 to 1.0.97.

use std::fmt;

/// Bytes of the header of a request.
const HEADER_BYTES: usize = 120;
/// Bytes of the header of an answer.
pub const RESPONSE_BYTES: usize = 8;
/// The name that `tgtd` uses for the iSCSI driver.
const DRIVER: &[u8] = b"iscsi";
/// The number that means all targets.
const ALL_TARGETS: i32 = -1;

/// Subject of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    Target = 1,
    Lun = 2,
    Portal = 3,
    Account = 7,
}

/// Operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TgtOperation {
    New = 0,
    Delete = 1,
    Show = 2,
    Bind = 3,
    Unbind = 4,
    Update = 5,
}

/// A request.
#[derive(Clone, PartialEq, Eq)]
pub struct TgtRequest {
    pub(super) object: Object,
    pub(super) operation: TgtOperation,
    pub(super) target: Option<u32>,
    pub(super) lun: u64,
    /// Whether the target authenticates itself with this account.
    pub(super) is_own_account: bool,
    /// Whether sessions are closed.
    pub(super) is_forced: bool,
    /// Parameters as `key=value`, separated by commas.
    pub(super) text: String,
}

/// Omits `text`, which may contain a secret.
impl fmt::Debug for TgtRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {:?}", self.operation, self.object)
    }
}

impl TgtRequest {
    pub(super) const fn new(object: Object, operation: TgtOperation, target: Option<u32>) -> Self {
        Self {
            object,
            operation,
            target,
            lun: 0,
            is_own_account: false,
            is_forced: false,
            text: String::new(),
        }
    }

    pub(super) fn with(self, text: String) -> Self {
        Self { text, ..self }
    }

    /// The requests for targets, accounts and portals, in the order in which
    /// [`TgtLive::parse`](super::TgtLive::parse) takes the answers.
    pub const fn show() -> [Self; 3] {
        [
            Self::new(Object::Target, TgtOperation::Show, None),
            Self::new(Object::Account, TgtOperation::Show, None),
            Self::new(Object::Portal, TgtOperation::Show, None),
        ]
    }

    /// The request in the form that the socket accepts.
    #[expect(clippy::host_endian_bytes, reason = "the peer is a program on the same machine")]
    pub fn to_bytes(&self) -> Vec<u8> {
        let text =
            if self.text.is_empty() { Vec::new() } else { [self.text.as_bytes(), &[0]].concat() };
        // A text has a few hundred bytes: no name is longer.
        let length = u32::try_from(HEADER_BYTES + text.len()).unwrap_or(u32::MAX);
        let target = self.target.map_or(ALL_TARGETS, u32::cast_signed);
        let mut bytes = Vec::with_capacity(HEADER_BYTES + text.len());
        bytes.extend((self.object as u32).to_ne_bytes());
        bytes.extend((self.operation as u32).to_ne_bytes());
        bytes.extend(DRIVER);
        bytes.resize(72, 0);
        bytes.extend(length.to_ne_bytes());
        bytes.extend(target.to_ne_bytes());
        bytes.extend(0_u64.to_ne_bytes());
        bytes.extend(self.lun.to_ne_bytes());
        // Connection, host, type of device (a disk), direction of the account, packing, force.
        for word in [0, 0, 0, u32::from(self.is_own_account), 0, u32::from(self.is_forced)] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(text);
        bytes
    }
}

/// An error number that `tgtd` returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TgtFault(pub u32);

impl fmt::Display for TgtFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self.0 {
            2 => "it has no memory left",
            3 => "it has no driver for iSCSI",
            4 => "there is no such target any more",
            5 => "there is no such LUN any more",
            9 => "a target of that number or name is there already",
            10 => "a LUN of that number is there already",
            12 => "the initiator is let in already",
            14 => "an account of that name is there already",
            15 => "there is no such account any more",
            18 => "the target has an account of its own already",
            19 => "an initiator is logged in",
            20 => "the LUN has requests under way",
            _ => "it does not say why; its log may",
        };
        write!(f, "{words} (error {})", self.0)
    }
}

impl std::error::Error for TgtFault {}

/// Number of bytes that follow the header of an answer.
#[expect(clippy::host_endian_bytes, reason = "the peer is a program on the same machine")]
pub fn answer_bytes(header: [u8; RESPONSE_BYTES]) -> Result<usize, TgtFault> {
    let [error, length] = [0, 4].map(|at| {
        let word = header[at..].first_chunk().copied().unwrap_or_default();
        u32::from_ne_bytes(word)
    });
    match error {
        0 => Ok((length as usize).saturating_sub(RESPONSE_BYTES)),
        error => Err(TgtFault(error)),
    }
}
