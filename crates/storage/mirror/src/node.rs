//! One host's side of a volume.

use units::Nanos;

use crate::claim::{Idle, Won};
use crate::config::MirrorHost;
use crate::event::{
    BackingAnswer, GuestOutcome, GuestRequest, NodeCommand, NodeEffect, NodeEvent, RegistryAnswer,
    RequestId,
};
use crate::image::{FlashImage, SettledBlock};
use crate::local::Local;
use crate::message::PeerMessage;
use crate::owner::{Over, VolumeOwner};
use crate::replica::Replica;
use crate::settings::MirrorSettings;

/// Progress of a resynchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyProgress {
    /// Blocks copied to the peer so far.
    pub done: usize,
    /// Blocks to copy in total.
    pub total: usize,
}

/// A node at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// `true` if it answers the guest.
    pub is_serving: bool,
    /// `true` if it acknowledges before the backing store has the data.
    pub writes_back: bool,
    /// The epoch that it owns.
    pub owns: Option<u64>,
    /// Log entries that the backing store lacks.
    pub dirty: u64,
    /// Progress of the peer's resynchronisation, if any.
    pub resync: Option<CopyProgress>,
    /// `true` if its flash has failed; it must be restarted.
    pub flash_failed: bool,
}

#[derive(Debug)]
enum Role {
    Idle(Idle),
    Owner(Box<VolumeOwner>),
}

/// See the module.
#[derive(Debug)]
pub struct MirrorNode {
    local: Local,
    role: Role,
    replica: Replica,
    reads_remotely: bool,
}

impl MirrorNode {
    /// Starts from the content of flash. `boot` must differ from that of every earlier start.
    #[must_use]
    pub fn start(me: MirrorHost, boot: u64, settings: MirrorSettings, image: FlashImage) -> Self {
        let replica = Replica::new(image.end());
        let local = Local::new(me, boot, settings, image);
        Self { local, role: Role::Idle(Idle::default()), replica, reads_remotely: false }
    }

    /// Handles one event at time `now` of the host's clock, which never runs backwards.
    pub fn handle(&mut self, now: Nanos, event: NodeEvent) -> Vec<NodeEffect> {
        self.local.now = now;
        if !self.local.holds_lease() {
            self.depose();
        }
        match event {
            NodeEvent::Tick => self.tick(),
            NodeEvent::Guest(id, request) => self.guest(id, request),
            NodeEvent::Command(command) => self.command(command),
            NodeEvent::Peer(message) => self.peer(message),
            NodeEvent::Flash(result) => self.flash(result),
            NodeEvent::Backing(token, answer) => self.backing(token, answer),
            NodeEvent::Registry(id, answer) => self.registry(id, answer),
        }
        if let Role::Owner(owner) = &mut self.role {
            owner.pump(&mut self.local);
            self.stop_if_over();
        }
        std::mem::take(&mut self.local.effects)
    }

    /// The state at `now`.
    #[must_use]
    pub fn status(&self, now: Nanos) -> Status {
        let flash_failed = self.local.flash_failed;
        let Role::Owner(owner) = &self.role else {
            return Status {
                is_serving: false,
                writes_back: false,
                owns: None,
                dirty: 0,
                resync: None,
                flash_failed,
            };
        };
        let progress = owner.progress();
        Status {
            is_serving: owner.is_serving() && self.local.lease.is_held(now),
            writes_back: owner.writes_back(&self.local),
            owns: Some(owner.epoch),
            dirty: owner.dirty(&self.local),
            resync: progress.map(|(done, total)| CopyProgress { done, total }),
            flash_failed,
        }
    }

    /// The content of flash once every requested operation is durable.
    #[must_use]
    pub fn image(&self) -> &FlashImage {
        &self.local.image
    }

    /// See [`FlashImage::settle`].
    pub fn settle(&mut self, blocks: &[SettledBlock]) {
        self.local.image.settle(blocks);
    }

    fn depose(&mut self) {
        if let Role::Owner(owner) = &mut self.role {
            owner.over = Some(Over::Deposed);
            self.stop_if_over();
        }
    }

    fn stop_if_over(&mut self) {
        let Role::Owner(owner) = &self.role else { return };
        let Some(over) = owner.over else { return };
        let (now, settings) = (self.local.now, self.local.settings);
        let pause = match over {
            Over::Deposed => Nanos::ZERO,
            Over::FlashFailed => settings.lease_ttl,
            Over::Released => settings.hand_over_limit,
        };
        let idle = Role::Idle(Idle::until(now + pause));
        if let Role::Owner(owner) = std::mem::replace(&mut self.role, idle) {
            owner.stop(&mut self.local);
        }
        if over == Over::Released {
            self.local.send(PeerMessage::Yours);
        }
    }

    fn tick(&mut self) {
        match &mut self.role {
            Role::Idle(idle) => idle.tick(&mut self.local),
            Role::Owner(owner) => owner.tick(&mut self.local),
        }
    }

    fn guest(&mut self, id: RequestId, request: GuestRequest) {
        match (&mut self.role, request) {
            (Role::Owner(owner), request) => owner.guest(&mut self.local, id, request),
            (Role::Idle(idle), GuestRequest::Read(block)) if self.reads_remotely => {
                idle.read_remotely(&mut self.local, id, block);
            }
            (Role::Idle(_), _) => self.local.reply(id, GuestOutcome::NotServing),
        }
    }

    fn command(&mut self, command: NodeCommand) {
        match (command, &mut self.role) {
            (NodeCommand::Evict(block), _) => self.replica.evict(&mut self.local, block),
            (NodeCommand::OpenRemote, _) => self.reads_remotely = true,
            (command, Role::Owner(owner)) => owner.command(&self.local, command),
            (_, Role::Idle(_)) => {}
        }
    }

    fn peer(&mut self, message: PeerMessage) {
        if let PeerMessage::Join { epoch, .. } = message
            && let Role::Owner(owner) = &mut self.role
            && owner.epoch < epoch
        {
            owner.over = Some(Over::Deposed);
            self.stop_if_over();
        }
        match (&mut self.role, message) {
            (Role::Idle(idle), PeerMessage::Yours) => idle.claim_now(),
            (Role::Idle(idle), PeerMessage::RemoteValue { id, data }) => {
                idle.remote_value(&mut self.local, id, data);
            }
            (Role::Owner(owner), message) => owner.peer(&mut self.local, &message),
            (Role::Idle(_), message) => self.replica.message(&mut self.local, message),
        }
    }

    fn flash(&mut self, result: Result<(), ()>) {
        let Some(then) = self.local.flash_done(result) else { return };
        match &mut self.role {
            Role::Owner(owner) => owner.flash_done(then),
            Role::Idle(_) => self.replica.flash_done(&mut self.local, then),
        }
    }

    fn backing(&mut self, token: u64, answer: BackingAnswer) {
        if let Role::Owner(owner) = &mut self.role {
            owner.backing_done(&mut self.local, token, answer);
        }
    }

    fn registry(&mut self, id: u64, answer: RegistryAnswer) {
        let settings = self.local.settings;
        let is_lease = !matches!(answer, RegistryAnswer::Is { .. } | RegistryAnswer::Stored { .. });
        if is_lease && !self.local.lease.awaits(id) {
            return;
        }
        if let RegistryAnswer::Granted(revision) = answer {
            self.local.lease.granted(id, revision, &settings);
        }
        match &mut self.role {
            Role::Idle(idle) => {
                if let Some(won) = idle.registry(&mut self.local, answer) {
                    self.become_owner(won);
                }
            }
            Role::Owner(owner) => owner.registry(&mut self.local, answer),
        }
    }

    fn become_owner(&mut self, (config, revision, before): Won) {
        self.replica = Replica::new(self.local.image.end());
        let owner = VolumeOwner::start(&mut self.local, config, revision, before);
        if let Role::Idle(idle) = std::mem::replace(&mut self.role, Role::Owner(Box::new(owner))) {
            idle.stop(&mut self.local);
        }
    }
}
