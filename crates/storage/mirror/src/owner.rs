//! The host that serves the volume: logs writes, has them copied, acknowledges and destages them.

mod agreement;
mod copy;
mod destage;
mod guest;
mod hand_over;
mod link;

use std::collections::BTreeMap;

use units::Nanos;

use self::agreement::Agreement;
use self::destage::Destage;
use self::guest::{Asker, BackingFill};
use self::hand_over::Leaving;
use self::link::PeerLink;
use crate::config::{Authority, Config};
use crate::event::{
    BackingAnswer, BackingOp, GuestOutcome, NodeCommand, NodeEffect, RegistryAnswer, RegistryOp,
    RequestId,
};
use crate::image::{EntryKind, FlashOp};
use crate::local::{Local, Then};

/// Why an owner stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// The lease may have expired, or another host has taken over.
    Deposed,
    /// Its flash has failed.
    FlashFailed,
    /// It has handed the volume over.
    Released,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct VolumeOwner {
    pub(crate) epoch: u64,
    /// `true` if flash worked when this ownership began.
    uses_flash: bool,
    /// `true` once the start of this ownership is on flash.
    ready: bool,
    /// The request that makes the backing store refuse earlier owners, until it is answered.
    fencing: Option<u64>,
    /// End of the entries left by earlier owners; nothing is served before they are committed.
    recover_to: u64,
    /// The log is on this host's flash up to here.
    logged: u64,
    /// This host's flash has recorded that entries up to this one are destaged.
    marked: u64,
    /// Entries up to here survive the loss of either host: they may be read.
    commit: u64,
    /// The backing store durably holds entries up to here.
    destaged: u64,
    waiting: BTreeMap<u64, RequestId>,
    agreement: Agreement,
    link: PeerLink,
    fills: BTreeMap<u64, BackingFill>,
    destage: Destage,
    /// The backing store may hold entries up to here, durably or not.
    destage_begun: u64,
    draining: bool,
    leaving: Option<Leaving>,
    heat: BTreeMap<u64, u32>,
    /// Time of the first write in the open flush epoch.
    open_since: Nanos,
    pub(crate) over: Option<Over>,
}

impl VolumeOwner {
    /// The owner named by `config`, which is stored at `revision`; `before` is the configuration
    /// that it replaced.
    pub(crate) fn start(local: &mut Local, config: Config, revision: u64, before: Config) -> Self {
        let is_adopted = config.authority == Authority::Backing;
        let was_last = before.owner == local.me && before.epoch == local.image.epoch();
        if is_adopted {
            // Before the epoch: after a crash this order proves that the cache is valid.
            local.flash(FlashOp::Adopt { keep_clean: was_last }, Then::Nothing);
        }
        local.flash(FlashOp::Epoch(config.epoch), Then::Nothing);
        let end = local.image.end();
        let logged = Then::Logged { epoch: config.epoch, lsn: end };
        let (commit, destaged) = (local.image.commit(), local.image.destaged());
        local.flash(FlashOp::Mark { commit, destaged }, logged);
        let mut owner = Self {
            epoch: config.epoch,
            uses_flash: !local.flash_failed,
            ready: local.flash_failed,
            fencing: None,
            recover_to: end,
            logged: commit,
            marked: destaged,
            commit,
            destaged,
            waiting: BTreeMap::new(),
            agreement: Agreement::new(revision, config.authority),
            link: PeerLink::new(local.now),
            fills: BTreeMap::new(),
            destage: Destage::Idle,
            destage_begun: destaged,
            draining: false,
            leaving: None,
            heat: BTreeMap::new(),
            open_since: local.now,
            over: None,
        };
        // Committing an entry of this epoch proves that a peer with a counted copy has dropped its
        // tail, which could otherwise reappear after a read had shown its absence.
        owner.recover_to = owner.append(local, EntryKind::Barrier);
        owner.fence(local);
        owner
    }

    fn fence(&mut self, local: &mut Local) {
        if local.settings.backed {
            self.fencing = Some(self.ask_backing(local, BackingOp::Fence));
        }
    }

    fn ask_backing(&self, local: &mut Local, op: BackingOp) -> u64 {
        let token = local.token();
        local.effects.push(NodeEffect::Backing { token, epoch: self.epoch, op });
        token
    }

    /// `true` once everything that earlier owners left is settled.
    pub(crate) fn is_serving(&self) -> bool {
        self.ready && self.fencing.is_none() && self.commit >= self.recover_to
    }

    pub(crate) fn tick(&mut self, local: &mut Local) {
        let renewal = Nanos(local.settings.lease_ttl.0 / 4);
        if local.lease.is_due(local.now, renewal)
            && let Some(revision) = local.lease.revision()
        {
            local.ask_lease(RegistryOp::Renew { revision, boot: local.boot });
        }
        self.link_tick(local);
        self.leave(local);
        self.note_commit(local);
    }

    pub(crate) fn registry(&mut self, local: &mut Local, answer: RegistryAnswer) {
        match answer {
            RegistryAnswer::Held { host, boot, revision }
                if host == local.me && boot == local.boot =>
            {
                local.lease.correct(revision); // The answer to a renewal was lost.
                local.ask_lease(RegistryOp::Renew { revision, boot });
            }
            RegistryAnswer::Held { .. } | RegistryAnswer::Lost => self.over = Some(Over::Deposed),
            RegistryAnswer::Is { revision, config }
            | RegistryAnswer::Stored { revision, config } => self.learn(local, revision, config),
            RegistryAnswer::Granted(_) => {}
        }
    }

    /// Number of blocks resynchronised, and the total.
    pub(crate) fn progress(&self) -> Option<(usize, usize)> {
        self.link.progress()
    }

    /// Records on flash how far the log is committed, so that a restart has less to replay.
    fn note_commit(&mut self, local: &mut Local) {
        if self.is_serving() && local.image.commit() < self.commit {
            let (commit, destaged) = (self.commit, self.destaged);
            local.flash(FlashOp::Mark { commit, destaged }, self.marked_then(destaged));
        }
    }

    fn marked_then(&self, destaged: u64) -> Then {
        Then::Marked { epoch: self.epoch, destaged }
    }

    pub(crate) fn command(&mut self, local: &Local, command: NodeCommand) {
        match command {
            NodeCommand::Drain => self.draining = true,
            NodeCommand::Resume => self.draining = false,
            NodeCommand::HandOver => self.hand_over(local),
            NodeCommand::OpenRemote | NodeCommand::Evict(_) => {}
        }
    }

    /// Makes all progress that the last event allows.
    pub(crate) fn pump(&mut self, local: &mut Local) {
        if local.flash_failed && self.uses_flash {
            // This ownership ends even if the backing store holds everything: after a restart this
            // flash would be trusted, unless a later epoch, which it has not recorded, did the
            // writing.
            self.over.get_or_insert(Over::FlashFailed);
        }
        if self.over.is_some() || !self.ready {
            return;
        }
        self.advance(local);
        self.acknowledge(local);
        if self.fencing.is_none() {
            self.close_epoch(local);
            self.destage_more(local);
        }
        self.reconfigure(local);
    }

    /// Ends the open flush epoch if its writes are waiting for the backing store, or have waited
    /// too long.
    fn close_epoch(&mut self, local: &mut Local) {
        let age = local.now.since(self.open_since);
        let is_urgent = !self.writes_back(local)
            || self.dirty(local) > local.settings.dirty_limit
            || age >= local.settings.epoch_age;
        let is_backed = local.settings.backed;
        let has_work = local.image.barrier_after(self.destaged).is_some();
        if is_backed && is_urgent && !has_work && local.image.is_open_after(self.destaged) {
            self.append(local, EntryKind::Barrier);
        }
    }

    /// Log entries that the backing store lacks.
    pub(crate) fn dirty(&self, local: &Local) -> u64 {
        if local.settings.backed { local.image.end().saturating_sub(self.destaged) } else { 0 }
    }

    /// Continues after an operation on flash that this ownership requested.
    pub(crate) fn flash_done(&mut self, then: Then) {
        match then {
            Then::Logged { epoch, lsn } if epoch == self.epoch => {
                self.ready = true;
                self.logged = self.logged.max(lsn);
            }
            Then::Marked { epoch, destaged } if epoch == self.epoch => {
                self.marked = self.marked.max(destaged);
            }
            _ => {}
        }
    }

    pub(crate) fn backing_done(&mut self, local: &mut Local, token: u64, answer: BackingAnswer) {
        if answer == BackingAnswer::Fenced {
            self.over = Some(Over::Deposed);
        } else if self.fencing == Some(token) {
            self.fencing = None;
            if answer == BackingAnswer::Failed {
                self.fence(local);
            }
        } else if let Some(fill) = self.fills.remove(&token) {
            self.filled(local, &fill, answer);
        } else {
            self.destage_done(local, token, answer == BackingAnswer::Failed);
        }
    }

    /// Answers all waiting requests, and releases the lease.
    pub(crate) fn stop(self, local: &mut Local) {
        for id in self.waiting.into_values() {
            local.reply(id, GuestOutcome::Unknown);
        }
        for fill in self.fills.into_values() {
            if let Asker::Guest(id) = fill.asker {
                local.reply(id, GuestOutcome::NotServing);
            }
        }
        local.release();
    }
}
