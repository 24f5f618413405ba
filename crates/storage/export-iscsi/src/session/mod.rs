//! One connection, from its first byte to its logout.

mod answer;
mod full;
mod login;
mod negotiation;

use std::collections::BTreeMap;

use device_net::ChapLogin;
use device_net::iscsi_codec::{HEAD_BYTES, Head, padding};

use self::full::Task;
use self::login::Login;
use self::negotiation::NegotiatedKeys;
use crate::scsi::{ScsiWork, Sense, ServedDisk};

/// Longest data segment that the target accepts, in bytes.
pub(crate) const MOST_DATA: usize = 256 << 10;

/// The initiator's account, and the secret by which the target proves itself, if it is asked.
pub type TargetAccount = ChapLogin;

/// What the target offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetOffer {
    /// `iqn....`
    pub name: String,
    /// `host:port` as initiators reach it.
    pub portal: String,
    /// Number of its only logical unit.
    pub lun: u8,
    /// The volume.
    pub disk: ServedDisk,
    /// Who may log in; `None`: every initiator.
    pub account: Option<TargetAccount>,
}

/// What the caller does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetStep {
    /// Send these bytes.
    Send(Vec<u8>),
    /// Carry this out and hand the result to [`TargetSession::finished`]. Work of several tasks may
    /// run at once, except that a flush covers all writes finished before it began.
    Work {
        /// Comes back with the result.
        task: u32,
        /// What to do.
        work: ScsiWork,
    },
    /// Close the connection.
    Close,
}

enum SessionStage {
    Login(Login),
    Full,
    Closed,
}

/// See the module.
pub struct TargetSession {
    offer: TargetOffer,
    stage: SessionStage,
    agreed: NegotiatedKeys,
    is_discovery: bool,
    input: Vec<u8>,
    steps: Vec<TargetStep>,
    next_status: u32,
    next_command: u32,
    tasks: BTreeMap<u32, Task>,
    /// Reported instead of the next command.
    attention: Option<Sense>,
}

impl TargetSession {
    /// A connection that has just been made; `challenge` must never repeat.
    #[must_use]
    pub fn new(offer: TargetOffer, challenge: [u8; 16]) -> Self {
        Self {
            offer,
            stage: SessionStage::Login(Login::new(challenge)),
            agreed: NegotiatedKeys::default(),
            is_discovery: false,
            input: Vec::new(),
            steps: Vec::new(),
            next_status: 1,
            next_command: 1,
            tasks: BTreeMap::new(),
            attention: Some(Sense::RESET),
        }
    }

    /// `true` once the connection must be closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.stage, SessionStage::Closed)
    }

    /// Takes bytes of the connection, however they are cut.
    pub fn received(&mut self, bytes: &[u8]) -> Vec<TargetStep> {
        self.input.extend_from_slice(bytes);
        while !self.is_closed()
            && let Some((head, data)) = self.next_pdu()
        {
            match &self.stage {
                SessionStage::Login(_) => self.log_in(&head, &data),
                SessionStage::Full => self.request(&head, &data),
                SessionStage::Closed => {}
            }
        }
        std::mem::take(&mut self.steps)
    }

    fn next_pdu(&mut self) -> Option<(Head, Vec<u8>)> {
        let head = Head(*self.input.first_chunk::<HEAD_BYTES>()?);
        let length = head.data_bytes();
        if length > MOST_DATA {
            self.close();
            return None;
        }
        let begin = HEAD_BYTES + usize::from(head.0[4]) * 4;
        let end = begin + length + padding(length);
        if self.input.len() < end {
            return None;
        }
        let data = self.input[begin..begin + length].to_vec();
        self.input.drain(..end);
        Some((head, data))
    }

    fn close(&mut self) {
        self.stage = SessionStage::Closed;
        self.steps.push(TargetStep::Close);
    }
}
