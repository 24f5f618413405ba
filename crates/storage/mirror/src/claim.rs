//! The host that does not own the volume: decides when to claim it, and reads remotely until then.

use std::collections::BTreeMap;

use units::Nanos;

use crate::config::{Authority, Config};
use crate::event::{GuestOutcome, RegistryAnswer, RegistryOp, RequestId};
use crate::image::BlockContent;
use crate::local::Local;
use crate::message::PeerMessage;

/// A requested configuration.
#[derive(Clone, Copy, Debug)]
struct VolumeClaim {
    before: Config,
    wanted: Config,
    at: Nanos,
}

/// A claimed volume: its configuration, the revision, and the previous configuration.
pub(crate) type Won = (Config, u64, Config);

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    not_before: Nanos,
    asked: Option<Nanos>,
    claim: Option<VolumeClaim>,
    reads: BTreeMap<u64, (RequestId, Nanos)>,
}

impl Idle {
    /// Claims nothing before `not_before`.
    pub(crate) fn until(not_before: Nanos) -> Self {
        Self { not_before, ..Self::default() }
    }

    pub(crate) fn claim_now(&mut self) {
        self.not_before = Nanos::ZERO;
        self.asked = None;
    }

    pub(crate) fn tick(&mut self, local: &mut Local) {
        self.expire_reads(local);
        if local.now < self.not_before {
            return;
        }
        let pause = local.settings.retry;
        let is_due = self.asked.is_none_or(|at| local.now.since(at) >= pause);
        let claims = self.claim.is_some_and(|claim| local.now.since(claim.at) < pause);
        if is_due && !claims {
            self.asked = Some(local.now);
            local.ask_config(RegistryOp::Get);
        }
    }

    pub(crate) fn registry(&mut self, local: &mut Local, answer: RegistryAnswer) -> Option<Won> {
        match answer {
            RegistryAnswer::Granted(_) if local.holds_lease() => {
                local.ask_config(RegistryOp::Get);
            }
            RegistryAnswer::Held { host, boot: _, revision } if host == local.me => {
                // The lease is from an earlier start of this program, or the answer that granted it
                // was lost.
                local.ask_lease(RegistryOp::Renew { revision, boot: local.boot });
            }
            RegistryAnswer::Is { revision, config } => self.found(local, revision, config),
            RegistryAnswer::Stored { revision, config } => {
                let claim = self.claim.take_if(|claim| claim.wanted == config)?;
                return local.holds_lease().then_some((config, revision, claim.before));
            }
            _ => {}
        }
        None
    }

    fn found(&mut self, local: &mut Local, revision: u64, config: Config) {
        let needs_flash = config.authority != Authority::Backing;
        let may_own = config.authority.admits(local.me) && !(local.flash_failed && needs_flash);
        if !may_own || local.now < self.not_before {
            local.release();
            self.not_before = self.not_before.max(local.now + local.settings.retry);
        } else if !local.holds_lease() {
            if local.lease.is_due(local.now, local.settings.retry) {
                local.ask_lease(RegistryOp::Take { boot: local.boot });
            }
        } else {
            let epoch = config.epoch.max(local.image.epoch()) + 1;
            let wanted = Config { epoch, owner: local.me, authority: config.authority };
            self.claim = Some(VolumeClaim { before: config, wanted, at: local.now });
            local.ask_config(RegistryOp::Put { expected: revision, config: wanted });
        }
    }

    /// Reads from the source's cache.
    pub(crate) fn read_remotely(&mut self, local: &mut Local, id: RequestId, block: u64) {
        let token = local.token();
        self.reads.insert(token, (id, local.now));
        local.send(PeerMessage::RemoteRead { id: token, block });
    }

    pub(crate) fn remote_value(&mut self, local: &mut Local, id: u64, data: Option<BlockContent>) {
        if let Some((request, _)) = self.reads.remove(&id) {
            local.reply(request, GuestOutcome::Value(data));
        }
    }

    fn expire_reads(&mut self, local: &mut Local) {
        let (now, limit) = (local.now, local.settings.peer_timeout);
        let late: Vec<RequestId> = self
            .reads
            .extract_if(.., |_, (_, since)| now.since(*since) > limit)
            .map(|(_, (id, _))| id)
            .collect();
        for id in late {
            local.reply(id, GuestOutcome::NotServing);
        }
    }

    /// Stops because the host becomes the owner: reads in progress are refused.
    pub(crate) fn stop(self, local: &mut Local) {
        for (id, _) in self.reads.into_values() {
            local.reply(id, GuestOutcome::NotServing);
        }
    }
}
