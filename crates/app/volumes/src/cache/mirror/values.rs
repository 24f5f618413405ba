//! The values of a volume's keys: JSON, so that an operator can read them with NATS tools.

use mirror::{Authority, Config, CountedCopies, MirrorHost};
use serde_json::{Value, json};

const HOSTS: [MirrorHost; 2] = [MirrorHost::A, MirrorHost::B];

/// The configuration of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cache) struct VolumeValue {
    /// Names of the two hosts.
    pub hosts: [String; 2],
    /// The settings that both hosts must agree on.
    pub identity: String,
    pub config: Config,
}

/// Index of a host in its volume's list.
pub(in crate::cache) const fn index(host: MirrorHost) -> usize {
    host as usize
}

/// The host at position `index`.
pub(in crate::cache) const fn host_at(index: usize) -> MirrorHost {
    if index == 0 { MirrorHost::A } else { MirrorHost::B }
}

impl VolumeValue {
    /// The value as JSON.
    pub(in crate::cache) fn encode(&self) -> Vec<u8> {
        let Config { epoch, owner, authority } = self.config;
        json!({
            "hosts": self.hosts,
            "identity": self.identity,
            "epoch": epoch,
            "owner": self.hosts[index(owner)],
            "data": self.place(authority),
        })
        .to_string()
        .into_bytes()
    }

    /// Location of acknowledged data: `device`, `both`, or the name of the host that has them.
    pub(in crate::cache) fn place(&self, authority: Authority) -> &str {
        match authority {
            Authority::Backing => "=device",
            Authority::Flash(CountedCopies::Both) => "=both",
            Authority::Flash(CountedCopies::Only(host)) => &self.hosts[index(host)],
        }
    }

    /// Decodes a value; `None` if it is invalid.
    pub(in crate::cache) fn decode(bytes: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        let names: Vec<String> = serde_json::from_value(value["hosts"].clone()).ok()?;
        let hosts = <[String; 2]>::try_from(names).ok()?;
        let named = |name: &str| HOSTS.into_iter().find(|host| hosts[index(*host)] == name);
        let authority = match value["data"].as_str()? {
            "=device" => Authority::Backing,
            "=both" => Authority::Flash(CountedCopies::Both),
            name => Authority::Flash(CountedCopies::Only(named(name)?)),
        };
        let owner = named(value["owner"].as_str()?)?;
        let config = Config { epoch: value["epoch"].as_u64()?, owner, authority };
        let identity = value["identity"].as_str()?.to_owned();
        Some(Self { hosts, identity, config })
    }
}

/// The holder of a volume's lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cache) struct LeaseValue {
    pub host: MirrorHost,
    /// Distinguishes this start of the server from earlier ones.
    pub boot: u64,
}

impl LeaseValue {
    /// The value as JSON.
    pub(in crate::cache) fn encode(self) -> Vec<u8> {
        json!({ "host": index(self.host), "boot": self.boot }).to_string().into_bytes()
    }

    /// Decodes a value; `None` if it is invalid.
    pub(in crate::cache) fn decode(bytes: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        let host = match value["host"].as_u64()? {
            0 => MirrorHost::A,
            1 => MirrorHost::B,
            _ => return None,
        };
        Some(Self { host, boot: value["boot"].as_u64()? })
    }
}

#[cfg(test)]
mod tests {
    use mirror::{Authority, Config, CountedCopies, MirrorHost};

    use super::{LeaseValue, VolumeValue};

    #[test]
    fn values_are_read_back_and_nonsense_is_none() {
        let hosts = ["left".to_owned(), "right".to_owned()];
        for authority in [
            Authority::Backing,
            Authority::Flash(CountedCopies::Both),
            Authority::Flash(CountedCopies::Only(MirrorHost::B)),
        ] {
            let config = Config { epoch: u64::MAX, owner: MirrorHost::B, authority };
            let value = VolumeValue { hosts: hosts.clone(), identity: "mail".to_owned(), config };
            assert_eq!(VolumeValue::decode(&value.encode()), Some(value));
        }
        let lease = LeaseValue { host: MirrorHost::B, boot: u64::MAX };
        assert_eq!(LeaseValue::decode(&lease.encode()), Some(lease));
        for nonsense in [&b""[..], b"{}", b"{\"host\":2,\"boot\":1}", b"[1]"] {
            assert_eq!(LeaseValue::decode(nonsense), None);
            assert_eq!(VolumeValue::decode(nonsense), None);
        }
    }
}
