//! One connection, from its first byte to its logout.

mod answer;
mod data;
mod full;
mod login;
mod negotiation;
mod tasks;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use device_net::ChapLogin;
use device_net::iscsi_codec::{HEAD_BYTES, Head, padding};

use self::login::Login;
use self::negotiation::NegotiatedKeys;
use self::tasks::{PendingAbort, Task};
use crate::scsi::{ScsiWork, ServedDisk};
use crate::unit::{SharedUnit, UnitSeat};

/// Longest data segment that the target accepts, in bytes.
pub(crate) const MOST_DATA: usize = 256 << 10;

/// Longest PDU: its header, further headers, data.
const INPUT_BYTES: usize = HEAD_BYTES + 255 * 4 + MOST_DATA;

/// The initiator's account, and the secret by which the target proves itself, if it is asked.
pub(crate) type TargetAccount = ChapLogin;

/// A target and its only logical unit.
#[derive(Clone, Debug)]
pub struct TargetOffer {
    /// `iqn....`
    pub name: String,
    /// Number of its only logical unit.
    pub lun: u8,
    /// The volume.
    pub disk: ServedDisk,
    /// Credentials required to log in; `None` admits every initiator.
    pub account: Option<TargetAccount>,
    /// State that the target's sessions share.
    pub unit: SharedUnit,
}

/// Next step for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TargetStep {
    /// Send these bytes.
    Send(Vec<u8>),
    /// Send a header, this part of the bytes that the finished task read, and zeros up to whole
    /// words.
    SendRead {
        /// The header.
        head: [u8; HEAD_BYTES],
        /// A range of the bytes read.
        part: Range<usize>,
    },
    /// Set memory aside for a task's data, then call [`TargetSession::granted`].
    Reserve {
        /// The task.
        task: u32,
        /// Bytes.
        bytes: usize,
    },
    /// Carry this out and pass the result to [`TargetSession::finished`]. Work of several tasks may
    /// run concurrently, but a flush must cover all writes finished before it began.
    Work {
        /// To be returned with the result.
        task: u32,
        /// The work.
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
pub(crate) struct TargetSession {
    offers: Arc<[TargetOffer]>,
    /// `host:port` as this initiator reaches it.
    portal: String,
    /// The target logged in to.
    target: Option<usize>,
    /// Name of the initiator's port: `name,i,0x` and the ISID of its session.
    initiator: String,
    seat: Option<UnitSeat>,
    stage: SessionStage,
    agreed: NegotiatedKeys,
    is_discovery: bool,
    input: Vec<u8>,
    filled: usize,
    steps: Vec<TargetStep>,
    next_status: u32,
    next_command: u32,
    tasks: BTreeMap<u32, Task>,
    aborts: Vec<PendingAbort>,
}

impl TargetSession {
    /// A new connection to `portal`; `challenge` must never repeat.
    #[must_use]
    pub(crate) fn new(offers: Arc<[TargetOffer]>, portal: String, challenge: [u8; 16]) -> Self {
        Self {
            offers,
            portal,
            target: None,
            initiator: String::new(),
            seat: None,
            stage: SessionStage::Login(Login::new(challenge)),
            agreed: NegotiatedKeys::default(),
            is_discovery: false,
            input: vec![0; INPUT_BYTES],
            filled: 0,
            steps: Vec::new(),
            next_status: 1,
            next_command: 1,
            tasks: BTreeMap::new(),
            aborts: Vec::new(),
        }
    }

    /// `true` once the connection must be closed.
    #[must_use]
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.stage, SessionStage::Closed)
    }

    /// Index of the target that an initiator is logged in to, and the name of the initiator port.
    pub(crate) fn nexus(&self) -> Option<(usize, &str)> {
        let target = self.target.filter(|_| matches!(self.stage, SessionStage::Full))?;
        Some((target, &self.initiator))
    }

    /// `true` if data of that task is still to come.
    pub(crate) fn is_waiting(&self, task: u32) -> bool {
        self.tasks.get(&task).is_some_and(|task| !task.is_working)
    }

    /// Room for the next bytes of the connection; never empty.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        &mut self.input[self.filled..]
    }

    /// Takes the first `bytes` of [`Self::room`].
    pub(crate) fn filled(&mut self, bytes: usize) -> Vec<TargetStep> {
        self.filled += bytes;
        let input = std::mem::take(&mut self.input);
        let mut used = 0;
        while !self.is_closed()
            && let Some((head, data, end)) = self.next_pdu(&input[used..self.filled])
        {
            match &self.stage {
                SessionStage::Login(_) => self.log_in(&head, data),
                SessionStage::Full => self.request(&head, data),
                SessionStage::Closed => {}
            }
            used += end;
        }
        self.input = input;
        self.input.copy_within(used..self.filled, 0);
        self.filled -= used;
        std::mem::take(&mut self.steps)
    }

    /// The PDU at the beginning of `input`, its data, and its length in bytes.
    fn next_pdu<'a>(&mut self, input: &'a [u8]) -> Option<(Head, &'a [u8], usize)> {
        let head = Head(*input.first_chunk::<HEAD_BYTES>()?);
        let length = head.data_bytes();
        if length > MOST_DATA {
            self.close();
            return None;
        }
        let begin = HEAD_BYTES + usize::from(head.0[4]) * 4;
        let end = begin + length + padding(length);
        let data = input.get(..end)?.get(begin..begin + length)?;
        Some((head, data, end))
    }

    fn close(&mut self) {
        self.stage = SessionStage::Closed;
        self.steps.push(TargetStep::Close);
    }
}
