//! The registry: two keys with revisions, changed by compare-and-set, one of which expires on the
//! server. Modelled after a key-value bucket of NATS `JetStream`.

use mirror::{Authority, Config, MirrorHost, MirrorSettings, RegistryAnswer, RegistryOp};
use units::Nanos;

#[derive(Clone, Copy, Debug)]
struct Holder {
    host: MirrorHost,
    boot: u64,
    revision: u64,
    expires: Nanos,
}

#[derive(Debug)]
pub(crate) struct Registry {
    lease: Option<Holder>,
    /// Converted to real time, since the server's clock runs fast or slow.
    ttl: Nanos,
    revision: u64,
    config: (u64, Config),
    pub(crate) takeovers: u64,
}

impl Registry {
    pub(crate) fn new(settings: &MirrorSettings, authority: Authority, drift_ppm: i64) -> Self {
        let million = 1_000_000_i64;
        let ttl = i128::from(settings.lease_ttl.0) * i128::from(million);
        let ttl = ttl / i128::from(million + drift_ppm);
        let config = Config { epoch: 0, owner: MirrorHost::A, authority };
        let ttl = Nanos(u64::try_from(ttl).expect("a positive span"));
        Self { lease: None, ttl, revision: 1, config: (1, config), takeovers: 0 }
    }

    fn held(&self, now: Nanos) -> Option<Holder> {
        self.lease.filter(|lease| now < lease.expires)
    }

    pub(crate) fn holder(&self, now: Nanos) -> Option<MirrorHost> {
        self.held(now).map(|lease| lease.host)
    }

    pub(crate) fn config(&self) -> Config {
        self.config.1
    }

    pub(crate) fn answer(
        &mut self,
        now: Nanos,
        host: MirrorHost,
        op: RegistryOp,
    ) -> RegistryAnswer {
        match op {
            RegistryOp::Take { boot } => match self.held(now) {
                None => self.grant(now, host, boot),
                Some(held) => answer_held(held),
            },
            RegistryOp::Renew { revision, boot } => match self.held(now) {
                Some(held) if held.revision == revision => self.grant(now, host, boot),
                Some(held) => answer_held(held),
                None => RegistryAnswer::Lost,
            },
            RegistryOp::Release(revision) => {
                self.lease = self.lease.filter(|lease| lease.revision != revision);
                RegistryAnswer::Lost
            }
            RegistryOp::Put { expected, config } if expected == self.config.0 => {
                self.revision += 1;
                self.takeovers += u64::from(config.epoch != self.config.1.epoch);
                self.config = (self.revision, config);
                RegistryAnswer::Stored { revision: self.revision, config }
            }
            RegistryOp::Get | RegistryOp::Put { .. } => {
                RegistryAnswer::Is { revision: self.config.0, config: self.config.1 }
            }
        }
    }

    fn grant(&mut self, now: Nanos, host: MirrorHost, boot: u64) -> RegistryAnswer {
        self.revision += 1;
        let (revision, expires) = (self.revision, now + self.ttl);
        self.lease = Some(Holder { host, boot, revision, expires });
        RegistryAnswer::Granted(revision)
    }
}

fn answer_held(held: Holder) -> RegistryAnswer {
    RegistryAnswer::Held { host: held.host, boot: held.boot, revision: held.revision }
}
