//! Problems of the routers whose advertisements were heard.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::IpAddr;

use crate::advert::{Advert, GroupKey, Protocol};
use crate::router::MacKind;
use crate::source::{Silent, Source};
use crate::voices::{Voice, Voices, is_one_counter};

/// A master counts as gone after this many silent intervals: three, and a skew of less than one
/// (RFC 9568, section 6.1).
const INTERVALS_TO_DEATH: u64 = 4;
/// Advertisements of one router, each preceded by one of another, that prove two masters. While the
/// master changes, advertisements may cross once.
const CROSSINGS: u32 = 2;
/// Master changes after which a group counts as flapping.
const MOST_CHANGES: u32 = 3;

/// A problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Two installations use one id: their addresses differ.
    SameId {
        /// Address lists, and the routers that answer for them.
        claims: Vec<(IpAddr, Vec<IpAddr>)>,
    },
    /// Two protocols use one virtual MAC address.
    TwoProtocols {
        /// The other protocol.
        other: Protocol,
    },
    /// Two routers are masters of one group at the same time.
    TwoMasters {
        /// The routers' own addresses.
        masters: Vec<IpAddr>,
    },
    /// Routers of one installation speak two versions of a protocol.
    MixedVersions {
        /// The other version.
        other: Protocol,
    },
    /// The master changed often.
    Restless {
        /// Number of changes.
        changes: u32,
    },
    /// Packets with a wrong checksum.
    Damaged {
        /// Number of packets.
        count: u64,
    },
    /// Packets that came through a router; they must be ignored.
    Routed {
        /// Number of packets.
        count: u64,
    },
    /// Two senders share one source address: two processes on a host, or two hosts.
    TwoSenders {
        /// The group id.
        id: u16,
        /// The shared address.
        source: IpAddr,
        /// An advertisement of each sender.
        senders: Box<[Advert; 2]>,
    },
    /// A virtual address is in use though nothing advertises it.
    Silent,
    /// A virtual address of a protocol that is not decoded is in use.
    UnreadProtocol {
        /// Protocol or vendor of the address.
        kind: MacKind,
    },
}

impl Problem {
    /// Whether services are disturbed: two installations, two versions or two masters. The rest is
    /// informational.
    pub fn is_clash(&self) -> bool {
        matches!(
            self,
            Self::SameId { .. }
                | Self::TwoProtocols { .. }
                | Self::TwoMasters { .. }
                | Self::TwoSenders { .. }
                | Self::MixedVersions { .. }
        )
    }

    /// Whether the problem may hide a clash: an advertisement was not credible or was not heard.
    pub(crate) fn is_doubt(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::Silent | Self::UnreadProtocol { .. })
    }

    /// One word for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::SameId { .. } => "same_id",
            Self::TwoProtocols { .. } => "two_protocols",
            Self::TwoMasters { .. } => "two_masters",
            Self::MixedVersions { .. } => "mixed_versions",
            Self::Restless { .. } => "restless",
            Self::Damaged { .. } => "damaged",
            Self::Routed { .. } => "routed",
            Self::TwoSenders { .. } => "two_senders",
            Self::Silent => "silent",
            Self::UnreadProtocol { .. } => "unread_protocol",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameId { claims } => {
                f.write_str("the id is taken twice:")?;
                for (at, (source, addresses)) in claims.iter().enumerate() {
                    let addresses: Vec<String> =
                        addresses.iter().map(ToString::to_string).collect();
                    let and = if at > 0 { "," } else { "" };
                    write!(f, "{and} {source} answers for {}", addresses.join(", "))?;
                }
                f.write_str("; give one of them a free id")
            }
            Self::TwoProtocols { other } => write!(
                f,
                "{other} uses the same id and so the same virtual address of the link layer; give \
                 one of them a free id"
            ),
            Self::TwoMasters { masters } => {
                let masters: Vec<String> = masters.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "two masters at a time: {}; they do not hear each other, or their passwords or \
                     ids differ",
                    masters.join(" and ")
                )
            }
            Self::MixedVersions { other } => write!(
                f,
                "the same addresses are advertised in {other} too; its routers do not understand \
                 each other, set one version"
            ),
            Self::Restless { changes } => write!(
                f,
                "the master changed {changes} times; look for lost packets or a flapping check"
            ),
            Self::Damaged { count } => write!(f, "{count} packets with a wrong checksum"),
            Self::Routed { count } => write!(
                f,
                "{count} packets with a time to live other than 255: they came through a router"
            ),
            Self::TwoSenders { id, source, senders } => two_senders(f, (*id, *source), senders),
            Self::UnreadProtocol { kind } => {
                write!(f, "its virtual address is used; it advertises by {kind}, which is not read")
            }
            Self::Silent => f.write_str(
                "its virtual address is used, but nothing advertises it: a static entry, a silent \
                 owner, or advertisements that do not get here",
            ),
        }
    }
}

/// Names the differences between two senders, so that both can be found.
fn two_senders(
    f: &mut fmt::Formatter<'_>,
    (id, source): (u16, IpAddr),
    senders: &[Advert; 2],
) -> fmt::Result {
    let [one, two] = senders;
    let differing: Vec<&str> = [
        (one.priority != two.priority, "priority"),
        (one.addresses != two.addresses, "addresses"),
        (one.interval_nanoseconds != two.interval_nanoseconds, "interval"),
        (one.mac != two.mac, "MAC"),
        (!is_one_counter(one, two) && !is_one_counter(two, one), "counters of IP"),
    ]
    .into_iter()
    .filter_map(|(is_other, name)| is_other.then_some(name))
    .collect();
    write!(f, "two senders share id {id} on {source} ({} differ)", differing.join(", "))?;
    for (sender, between) in senders.iter().zip([": ", ", and "]) {
        let addresses: Vec<String> = sender.addresses.iter().map(ToString::to_string).collect();
        let addresses =
            if addresses.is_empty() { "none named".to_owned() } else { addresses.join(", ") };
        write!(f, "{between}priority {}, addresses {addresses}", sender.priority)?;
    }
    f.write_str("; stop one of them, or give it a free id")
}

/// A problem of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFinding {
    /// The group; `None` if only a virtual address was seen.
    pub key: Option<GroupKey>,
    /// The silent user of the virtual address, if there is no group.
    pub silent: Option<Silent>,
    /// The problem.
    pub problem: Problem,
}

/// Tracks the sequence of masters in one group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rivalry {
    last: Option<IpAddr>,
    changes: u32,
    /// Consecutive advertisements of the first router, each preceded by one of the second.
    crossings: BTreeMap<(IpAddr, IpAddr), u32>,
    masters: BTreeSet<IpAddr>,
    /// Different address lists claimed within the validity of an advertisement.
    claims: BTreeMap<IpAddr, Vec<IpAddr>>,
}

impl Rivalry {
    /// Processes the next advertisement of the group; `known` are the latest ones of all its
    /// routers.
    pub(crate) fn hear<'a>(&mut self, advert: &Advert, known: impl Iterator<Item = &'a Advert>) {
        let known: Vec<&Advert> = known.collect();
        let before = known.iter().find(|other| other.source == advert.source);
        for other in known.iter().filter(|other| other.source != advert.source) {
            if !is_alive(other, advert.nanoseconds) {
                continue;
            }
            if other.addresses != advert.addresses {
                self.claims.insert(other.source, other.addresses.clone());
                self.claims.insert(advert.source, advert.addresses.clone());
            }
            let pair = (advert.source, other.source);
            let is_between = before.is_some_and(|before| {
                is_alive(before, advert.nanoseconds) && before.nanoseconds <= other.nanoseconds
            });
            let crossings = self.crossings.entry(pair).or_default();
            *crossings = if is_between { *crossings + 1 } else { 0 };
            if *crossings >= CROSSINGS {
                self.masters.extend([advert.source, other.source]);
            }
        }
        if self.last.is_some_and(|last| last != advert.source) {
            self.changes += 1;
        }
        self.last = Some(advert.source);
    }

    fn problems(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        if !self.claims.is_empty() {
            let claims = self.claims.clone().into_iter().collect();
            found.push(Problem::SameId { claims });
        }
        if !self.masters.is_empty() {
            let masters = self.masters.iter().copied().collect();
            found.push(Problem::TwoMasters { masters });
        } else if self.changes >= MOST_CHANGES {
            let changes = self.changes;
            found.push(Problem::Restless { changes });
        }
        found
    }
}

/// Whether `advert` was still valid at `nanoseconds`.
fn is_alive(advert: &Advert, nanoseconds: u64) -> bool {
    let life = advert.interval_nanoseconds.saturating_mul(INTERVALS_TO_DEATH);
    advert.is_master && nanoseconds <= advert.nanoseconds.saturating_add(life)
}

/// All problems, by group.
pub(crate) fn judge(
    groups: &BTreeMap<GroupKey, Vec<Source>>,
    rivalries: &BTreeMap<GroupKey, Rivalry>,
    voices: &BTreeMap<(GroupKey, IpAddr), Voices>,
    silent: &[Silent],
) -> Vec<GroupFinding> {
    let mut findings = Vec::new();
    for (key, sources) in groups {
        let mut problems = rivalries.get(key).map_or_else(Vec::new, Rivalry::problems);
        problems.extend(shared_addresses(key, sources, voices));
        problems.extend(between_protocols(key, sources, groups));
        problems.extend(of_packets(sources));
        findings.extend(problems.into_iter().map(|problem| GroupFinding {
            key: Some(key.clone()),
            silent: None,
            problem,
        }));
    }
    findings.extend(silent.iter().map(|silent| GroupFinding {
        key: None,
        silent: Some(silent.clone()),
        problem: match silent.mac.kind {
            kind if kind.is_read() => Problem::Silent,
            kind => Problem::UnreadProtocol { kind },
        },
    }));
    findings
}

/// Addresses proven to have two senders.
fn shared_addresses(
    key: &GroupKey,
    sources: &[Source],
    voices: &BTreeMap<(GroupKey, IpAddr), Voices>,
) -> Vec<Problem> {
    sources
        .iter()
        .map(|source| source.last.source)
        .collect::<BTreeSet<IpAddr>>()
        .into_iter()
        .filter_map(|source| {
            let pair = voices.get(&(key.clone(), source))?.two()?;
            let senders = Box::new(pair.map(|voice: &Voice| voice.last.clone()));
            Some(Problem::TwoSenders { id: key.id, source, senders })
        })
        .collect()
}

/// Clashes with other protocols that use the same id; each pair is reported once.
fn between_protocols(
    key: &GroupKey,
    sources: &[Source],
    groups: &BTreeMap<GroupKey, Vec<Source>>,
) -> Vec<Problem> {
    if !is_believed(sources) {
        return Vec::new();
    }
    groups
        .iter()
        .filter(|(other, others)| is_later_protocol(key, other) && is_believed(others))
        .filter_map(|(other, others)| {
            let is_known = key.protocol != Protocol::Carp && other.protocol != Protocol::Carp;
            let is_same = is_known && addresses(sources) == addresses(others);
            let other = other.protocol;
            let is_one_space = key.protocol.shares_vrrp_ids() == other.shares_vrrp_ids();
            match (is_same, key.protocol.shares_vrrp_ids()) {
                (true, _) if is_one_space => Some(Problem::MixedVersions { other }),
                (false, true) if is_one_space => Some(Problem::TwoProtocols { other }),
                _ => None,
            }
        })
        .collect()
}

/// Whether `other` has the same id in the same place, and a protocol that is ordered after that of
/// `key`, so that each pair counts once.
fn is_later_protocol(key: &GroupKey, other: &GroupKey) -> bool {
    (&other.segment, other.family, other.id) == (&key.segment, key.family, key.id)
        && key.protocol < other.protocol
}

fn is_believed(sources: &[Source]) -> bool {
    sources.iter().any(|source| source.believed > 0)
}

fn addresses(sources: &[Source]) -> BTreeSet<IpAddr> {
    sources.iter().flat_map(|source| source.last.addresses.iter().copied()).collect()
}

fn of_packets(sources: &[Source]) -> Vec<Problem> {
    let damaged = sources.iter().map(|source| source.damaged).sum();
    let routed = sources.iter().map(|source| source.routed).sum();
    let mut found = Vec::new();
    if damaged > 0 {
        found.push(Problem::Damaged { count: damaged });
    }
    if routed > 0 {
        found.push(Problem::Routed { count: routed });
    }
    found
}
