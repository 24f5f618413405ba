//! The registry of the state machine: two keys of the volume on a NATS server.

use std::rc::Rc;
use std::time::{Duration, Instant};

use carrier::{Carrier, KeyAnswer, KeyListener};
use mirror::{
    Authority, Config, CountedCopies, FlashImage, MirrorHost, RegistryAnswer, RegistryOp,
};
use plan::MirroredVolume;

use super::event::EventSlot;
use crate::cache::mirror::{self as shared, LeaseValue, VolumeKeys, VolumeValue};
use console::error::CommandError;

/// A host that serves alone drops a silent copy within this time, unless its flash or the machine
/// is busy.
const DROPS_WITHIN: Duration = Duration::from_secs(6);

/// Extended limit while the other host holds the lease, which shows that it is alive.
const DROPS_AT_LAST_WITHIN: Duration = Duration::from_mins(1);

/// Interval between checks of the configuration.
const LOOK: Duration = Duration::from_millis(200);

/// See the module.
pub(super) struct Registry {
    keys: VolumeKeys,
    key: String,
    me: MirrorHost,
    /// Everything in the value except the configuration.
    value: VolumeValue,
    /// The configuration when the server started.
    pub(super) first: Config,
    slot: EventSlot,
}

/// Opens the keys of the volume. A volume that the server does not know is new; `image` is this
/// host's copy, if there is one.
pub(super) fn open(
    carrier: &Carrier,
    document: &MirroredVolume,
    image: Option<&FlashImage>,
    slot: EventSlot,
) -> Result<Rc<Registry>, CommandError> {
    let keys = VolumeKeys::open(carrier, Duration::from_nanos(document.lease.0))?;
    let authority = match &document.device {
        Some(_) => Authority::Backing,
        None => Authority::Flash(CountedCopies::Both),
    };
    let value = VolumeValue {
        hosts: document.hosts.clone(),
        identity: shared::identity(document),
        config: Config { epoch: 0, owner: MirrorHost::A, authority },
    };
    let me = host(document);
    let mut found = found(carrier, &keys, document, image.is_some())?;
    let used = image.map(FlashImage::epoch);
    if found.is_none() && used.unwrap_or(0) == 0 {
        let made = carrier.create_key(&keys.volumes, &document.volume, value.encode())?;
        found = match made {
            KeyAnswer::Present { value, .. } => VolumeValue::decode(&value),
            KeyAnswer::Stored(_) | KeyAnswer::Absent => Some(value.clone()),
        };
    }
    if let Some(fault) = fault(found.as_ref(), &value.identity, me, used) {
        return Err(CommandError::new(format!("{}: {fault}", document.volume)));
    }
    let key = document.volume.clone();
    let first = found.map_or(value.config, |found| found.config);
    Ok(Rc::new(Registry { keys, key, me, value, first, slot }))
}

/// The value on the server. If it counts a copy that this host lacks, waits: the other host may be
/// about to drop it, as after the first start of both.
fn found(
    carrier: &Carrier,
    keys: &VolumeKeys,
    document: &MirroredVolume,
    has_copy: bool,
) -> Result<Option<VolumeValue>, CommandError> {
    let (begun, volume) = (Instant::now(), &document.volume);
    let mut is_said = false;
    loop {
        let found = shared::volume_value(carrier, &keys.volumes, volume)?;
        let counts = found.as_ref().is_some_and(|value| counts(&value.config, host(document)));
        if has_copy || !counts {
            return Ok(found);
        }
        let lease = carrier.read_key(&keys.leases, volume)?;
        if !may_be_dropped(begun.elapsed(), matches!(lease, KeyAnswer::Present { .. })) {
            return Ok(found);
        }
        if !std::mem::replace(&mut is_said, true) {
            let peer = &document.hosts[1 - document.host];
            console::say(&format!(
                "{volume}: no copy on this host; waiting for {peer} to serve alone"
            ));
        }
        std::thread::sleep(LOOK);
    }
}

/// `true` if the other host may still drop a copy that this one has missed for `waited`.
fn may_be_dropped(waited: Duration, is_lease_held: bool) -> bool {
    waited < if is_lease_held { DROPS_AT_LAST_WITHIN } else { DROPS_WITHIN }
}

/// `true` if `config` considers the copy on `host` to hold data.
fn counts(config: &Config, host: MirrorHost) -> bool {
    config.epoch > 0 && config.authority != Authority::Backing && config.authority.admits(host)
}

/// The host that `document` is for.
pub(super) const fn host(document: &MirroredVolume) -> MirrorHost {
    shared::host_at(document.host)
}

/// Reason why this host may not take part, if any. `copy` is the epoch of its copy, `None` if there
/// is none.
fn fault(
    found: Option<&VolumeValue>,
    identity: &str,
    me: MirrorHost,
    copy: Option<u64>,
) -> Option<String> {
    let Some(found) = found else {
        return Some(
            "this host has a copy, but the NATS server does not know the volume; use the server \
             that does, or remove the copies on both hosts to begin anew"
                .to_owned(),
        );
    };
    if found.identity != identity {
        return Some(format!(
            "the NATS server has {}, the document {identity}; correct it",
            found.identity
        ));
    }
    let epoch = found.config.epoch;
    match copy {
        Some(copy) if copy > epoch => Some(format!(
            "this host's copy is of epoch {copy}, but the NATS server has epoch {epoch} and has \
             forgotten changes; restore its newest state"
        )),
        None if counts(&found.config, me) => Some(
            "the data may be on this host's copy alone, and its file is missing; correct \
                 `flash`, or start the other host, wait until it serves alone, and try again"
                .to_owned(),
        ),
        _ => None,
    }
}

impl Registry {
    /// Carries out `op`; the answer arrives as an event, or never.
    pub(super) fn ask(&self, id: u64, op: RegistryOp) {
        let key = self.key.clone();
        let leases = &self.keys.leases;
        match op {
            RegistryOp::Take { boot } => leases.create(key, self.lease(boot), self.on_lease(id)),
            RegistryOp::Renew { revision, boot } => {
                leases.replace(key, revision, self.lease(boot), self.on_lease(id));
            }
            RegistryOp::Release(revision) => leases.remove(key, revision),
            RegistryOp::Get => self.keys.volumes.read(key, self.on_config(id, None)),
            RegistryOp::Put { expected, config } => {
                let value = VolumeValue { config, ..self.value.clone() }.encode();
                let then = self.on_config(id, Some(config));
                self.keys.volumes.replace(key, expected, value, then);
            }
        }
    }

    fn lease(&self, boot: u64) -> Vec<u8> {
        LeaseValue { host: self.me, boot }.encode()
    }

    fn on_lease(&self, id: u64) -> KeyListener {
        let slot = self.slot.clone();
        Box::new(move |answer| {
            let answer = match answer {
                KeyAnswer::Stored(revision) => Some(RegistryAnswer::Granted(revision)),
                KeyAnswer::Present { revision, value } => LeaseValue::decode(&value)
                    .map(|LeaseValue { host, boot }| RegistryAnswer::Held { host, boot, revision }),
                KeyAnswer::Absent => Some(RegistryAnswer::Lost),
            };
            if let Some(answer) = answer {
                slot.registry(id, answer);
            }
        })
    }

    fn on_config(&self, id: u64, stored: Option<Config>) -> KeyListener {
        let slot = self.slot.clone();
        Box::new(move |answer| {
            let answer = match (answer, stored) {
                (KeyAnswer::Stored(revision), Some(config)) => {
                    Some(RegistryAnswer::Stored { revision, config })
                }
                (KeyAnswer::Present { revision, value }, _) => VolumeValue::decode(&value)
                    .map(|value| RegistryAnswer::Is { revision, config: value.config }),
                _ => None,
            };
            if let Some(answer) = answer {
                slot.registry(id, answer);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mirror::{Authority, Config, CountedCopies, MirrorHost};

    use super::{fault, may_be_dropped};
    use crate::cache::mirror::VolumeValue;

    const BOTH: Authority = Authority::Flash(CountedCopies::Both);

    fn value(epoch: u64, authority: Authority) -> VolumeValue {
        let config = Config { epoch, owner: MirrorHost::A, authority };
        let hosts = ["left".to_owned(), "right".to_owned()];
        VolumeValue { hosts, identity: "mail".to_owned(), config }
    }

    #[test]
    fn a_host_takes_part_only_with_a_copy_that_can_be_what_it_counts_as() {
        let only = |host| Authority::Flash(CountedCopies::Only(host));
        for (epoch, authority, copy, expected) in [
            (0, BOTH, None, None),
            (0, BOTH, Some(0), None),
            (3, BOTH, Some(3), None),
            (3, BOTH, None, Some("file is missing")),
            (3, only(MirrorHost::B), None, Some("file is missing")),
            (3, only(MirrorHost::A), None, None),
            (3, Authority::Backing, None, None),
            (3, BOTH, Some(4), Some("forgotten changes")),
        ] {
            let said = fault(Some(&value(epoch, authority)), "mail", MirrorHost::B, copy);
            match expected {
                None => assert_eq!(said, None, "{epoch} {authority:?} {copy:?}"),
                Some(words) => assert!(said.unwrap().contains(words), "{epoch} {authority:?}"),
            }
        }
        let other = fault(Some(&value(1, BOTH)), "other", MirrorHost::B, Some(1));
        assert!(other.unwrap().contains("correct it"));
        assert!(fault(None, "mail", MirrorHost::B, Some(1)).unwrap().contains("does not know"));
    }
    /// A first host on a busy disk took longer than six seconds to serve alone, and the second gave
    /// up for good.
    #[test]
    fn a_host_without_its_copy_waits_longer_for_a_peer_that_lives() {
        for (seconds, is_lease_held, expected) in
            [(5, false, true), (7, false, false), (7, true, true), (61, true, false)]
        {
            let waited = Duration::from_secs(seconds);
            assert_eq!(may_be_dropped(waited, is_lease_held), expected, "{seconds} s");
        }
    }
}
