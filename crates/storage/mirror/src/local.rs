//! The parts of a node that owner and replica share: flash, lease, time, and pending effects.

use std::collections::VecDeque;

use units::Nanos;

use crate::config::MirrorHost;
use crate::event::{GuestOutcome, NodeEffect, RegistryOp, RequestId};
use crate::image::{FlashImage, FlashOp};
use crate::lease::HeldLease;
use crate::message::{AttachmentKey, PeerMessage};
use crate::settings::MirrorSettings;

/// What follows once an operation on flash is durable.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Then {
    Nothing,
    /// The owner of `epoch` has its log up to `lsn` on flash.
    Logged {
        epoch: u64,
        lsn: u64,
    },
    /// The owner of `epoch` has its destage mark on flash.
    Marked {
        epoch: u64,
        destaged: u64,
    },
    /// As the peer: report the log and the mark to the owner.
    Report {
        key: AttachmentKey,
        lsn: u64,
        marked: u64,
    },
    /// As the peer: confirm the epoch of `key` to the owner.
    Joined(AttachmentKey),
    /// As the peer: confirm a batch to the owner.
    Copied {
        key: AttachmentKey,
        batch: usize,
    },
    /// As the peer: confirm to the owner that every batch is on flash.
    CopyEnded(AttachmentKey),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) me: MirrorHost,
    pub(crate) boot: u64,
    pub(crate) settings: MirrorSettings,
    pub(crate) now: Nanos,
    /// The state after every requested operation, durable or not.
    pub(crate) image: FlashImage,
    pub(crate) lease: HeldLease,
    pub(crate) flash_failed: bool,
    pub(crate) effects: Vec<NodeEffect>,
    pending: VecDeque<Then>,
    next_token: u64,
}

impl Local {
    pub(crate) fn new(
        me: MirrorHost,
        boot: u64,
        settings: MirrorSettings,
        image: FlashImage,
    ) -> Self {
        Self {
            me,
            boot,
            settings,
            now: Nanos::ZERO,
            image,
            lease: HeldLease::default(),
            flash_failed: false,
            effects: Vec::new(),
            pending: VecDeque::new(),
            next_token: boot.wrapping_shl(20),
        }
    }

    /// Carries out `op` in memory and requests it on flash. Failed flash is no longer written.
    pub(crate) fn flash(&mut self, op: FlashOp, then: Then) {
        self.image.apply(&op);
        if !self.flash_failed {
            self.pending.push_back(then);
            self.effects.push(NodeEffect::Flash(op));
        }
    }

    /// Handles the completion of the oldest operation.
    pub(crate) fn flash_done(&mut self, result: Result<(), ()>) -> Option<Then> {
        if result.is_err() {
            self.flash_failed = true;
            self.pending.clear();
        }
        self.pending.pop_front()
    }

    pub(crate) fn send(&mut self, message: PeerMessage) {
        self.effects.push(NodeEffect::Send(message));
    }

    pub(crate) fn reply(&mut self, id: RequestId, outcome: GuestOutcome) {
        self.effects.push(NodeEffect::Reply(id, outcome));
    }

    pub(crate) fn token(&mut self) -> u64 {
        self.next_token += 1;
        self.next_token
    }

    /// Asks the registry about the lease.
    pub(crate) fn ask_lease(&mut self, op: RegistryOp) {
        let id = self.lease.ask(self.now);
        self.effects.push(NodeEffect::Registry { id, op });
    }

    /// Sends the registry a request about the configuration; the answers are self-contained.
    pub(crate) fn ask_config(&mut self, op: RegistryOp) {
        self.effects.push(NodeEffect::Registry { id: 0, op });
    }

    /// Releases the lease; the registry may or may not receive the request.
    pub(crate) fn release(&mut self) {
        if let Some(revision) = self.lease.drop_it() {
            self.effects.push(NodeEffect::Registry { id: 0, op: RegistryOp::Release(revision) });
        }
    }

    pub(crate) fn holds_lease(&self) -> bool {
        self.lease.is_held(self.now)
    }
}
