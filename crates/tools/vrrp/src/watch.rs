//! Tracks every group of routers, in bounded memory.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::advert::{Advert, GroupKey, Protocol};
use crate::findings::{GroupFinding, Rivalry, judge};
use crate::frame::{ArpClaim, Content, Frame, IpPacket, open};
use crate::router::{MacKind, VirtualMac};
use crate::segment::{Family, Segment};
use crate::source::{Silent, Source};
use crate::unread::{Heard, Unread};
use crate::voices::{Voice, Voices};
use crate::{hsrp, vrrp};

/// Maximum number of sources kept per group, and of addresses per virtual MAC. Packets from further
/// sources are only counted, so that a flood of forged packets cannot fill the memory.
const MOST_SOURCES: usize = 64;

/// Everything seen so far.
#[derive(Debug, Default)]
pub struct Watch {
    groups: BTreeMap<GroupKey, BTreeMap<IpAddr, Source>>,
    rivalries: BTreeMap<GroupKey, Rivalry>,
    claims: BTreeMap<(Segment, VirtualMac), BTreeSet<IpAddr>>,
    voices: BTreeMap<(GroupKey, IpAddr), Voices>,
    unread: BTreeMap<Unread, u64>,
    segments: BTreeSet<Segment>,
    first: Option<u64>,
    last: u64,
}

/// Result of a watch.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Nanoseconds between the first and the last frame.
    pub nanoseconds: u64,
    /// Masters by group.
    pub groups: BTreeMap<GroupKey, Vec<Source>>,
    /// Virtual addresses in use that no router advertised.
    pub silent: Vec<Silent>,
    /// Problems and notable facts.
    pub findings: Vec<GroupFinding>,
    /// Number of frames that were not understood, by reason.
    pub unread: BTreeMap<Unread, u64>,
    segments: BTreeSet<Segment>,
}

impl Watch {
    /// Processes one frame.
    pub(crate) fn see(&mut self, frame: &Frame<'_>) {
        self.first.get_or_insert(frame.nanoseconds);
        self.last = self.last.max(frame.nanoseconds);
        match open(frame) {
            Content::Ip(packet) => {
                self.segments.insert(packet.segment.clone());
                match heard(&packet) {
                    Heard::Advert(advert) => self.hear(advert),
                    Heard::Unread(why) => self.miss(why, 1),
                    Heard::Nothing => {}
                }
            }
            Content::Arp(claim) => self.claim(claim),
            Content::Unread(why) => self.miss(why, 1),
            Content::Other => {}
        }
    }

    /// Counts frames that were not understood.
    pub fn miss(&mut self, why: Unread, frames: u64) {
        *self.unread.entry(why).or_default() += frames;
    }

    /// Processes one Ethernet frame from a live interface.
    pub fn see_ethernet(&mut self, nanoseconds: u64, bytes: &[u8]) {
        self.see(&Frame { nanoseconds, interface: 0, link: 1, bytes });
    }

    /// Starts the clock at `nanoseconds`, before any frame has arrived.
    pub fn start(&mut self, nanoseconds: u64) {
        self.first.get_or_insert(nanoseconds);
    }

    /// Counts the time until `nanoseconds`, even if no more frames came.
    pub fn end(&mut self, nanoseconds: u64) {
        self.last = self.last.max(nanoseconds);
    }

    fn hear(&mut self, advert: Advert) {
        let sources = self.groups.entry(advert.key.clone()).or_default();
        if sources.len() >= MOST_SOURCES && !sources.contains_key(&advert.source) {
            self.miss(Unread::Senders, 1);
            return;
        }
        if advert.is_believed() && advert.is_master {
            let rivalry = self.rivalries.entry(advert.key.clone()).or_default();
            let believed = sources.values().filter(|source| source.believed > 0);
            rivalry.hear(&advert, believed.map(|source| &source.last));
            let address = (advert.key.clone(), advert.source);
            self.voices.entry(address).or_default().hear(&advert);
        }
        let source = sources.entry(advert.source).or_insert_with(|| Source {
            last: advert.clone(),
            first_nanoseconds: advert.nanoseconds,
            adverts: 0,
            believed: 0,
            damaged: 0,
            routed: 0,
        });
        source.adverts += 1;
        source.damaged += u64::from(!advert.is_intact);
        source.routed += u64::from(advert.hops != u8::MAX);
        if advert.is_believed() {
            source.believed += 1;
            source.last = advert;
        }
    }

    fn claim(&mut self, claim: ArpClaim) {
        self.segments.insert(claim.segment.clone());
        if let Some(mac) = VirtualMac::of(claim.mac) {
            let claims = self.claims.entry((claim.segment, mac)).or_default();
            if claims.len() < MOST_SOURCES {
                claims.insert(IpAddr::V4(claim.address));
            }
        }
    }

    /// Evaluates everything seen.
    pub fn survey(self) -> Survey {
        let groups: BTreeMap<GroupKey, Vec<Source>> = self
            .groups
            .into_iter()
            .map(|(key, sources)| {
                let each = sources
                    .into_values()
                    .flat_map(|source| senders(&self.voices, &key, source))
                    .collect();
                (key, each)
            })
            .collect();
        let silent: Vec<Silent> = self
            .claims
            .into_iter()
            .filter(|((segment, mac), _)| !groups.keys().any(|key| owns(key, segment, *mac)))
            .map(|((segment, mac), addresses)| Silent { segment, mac, addresses })
            .collect();
        Survey {
            nanoseconds: self.last - self.first.unwrap_or(self.last),
            findings: judge(&groups, &self.rivalries, &self.voices, &silent),
            groups,
            silent,
            unread: self.unread,
            segments: self.segments,
        }
    }
}

/// What an IP packet says about redundant routers.
fn heard(packet: &IpPacket<'_>) -> Heard<Advert> {
    match packet.udp {
        Some((port, body)) if hsrp::PORTS.contains(&port) => hsrp::read(packet, body),
        Some((hsrp::GLBP_PORT, body)) => {
            let group = match body {
                &[_, _, high, low, ..] => Some(u16::from_be_bytes([high, low])),
                _ => None,
            };
            Heard::Unread(Unread::Glbp { group })
        }
        None if packet.number == hsrp::UDP && hsrp::is_group_address(packet.destination) => {
            Heard::Unread(Unread::CutHsrp)
        }
        _ if packet.number == vrrp::NUMBER => vrrp::read(packet),
        _ if vrrp::is_protected(packet) => Heard::Unread(Unread::ProtectedVrrp),
        _ => Heard::Nothing,
    }
}

/// One finding for a source, or one for each of two senders that share its address.
fn senders(
    voices: &BTreeMap<(GroupKey, IpAddr), Voices>,
    key: &GroupKey,
    source: Source,
) -> Vec<Source> {
    let two = voices.get(&(key.clone(), source.last.source)).and_then(Voices::two);
    let Some(two) = two else {
        return vec![source];
    };
    let mut found = two.map(|voice: &Voice| Source {
        last: voice.last.clone(),
        first_nanoseconds: voice.first_nanoseconds,
        adverts: voice.adverts,
        believed: voice.adverts,
        damaged: 0,
        routed: 0,
    });
    (found[0].damaged, found[0].routed) = (source.damaged, source.routed);
    found.into()
}

/// Whether the group `key` explains the use of `mac` on `segment`.
fn owns(key: &GroupKey, segment: &Segment, mac: VirtualMac) -> bool {
    let is_kind = match mac.kind {
        MacKind::Vrrp4 => key.protocol.shares_vrrp_ids() && key.family == Family::V4,
        MacKind::Vrrp6 => key.protocol.shares_vrrp_ids() && key.family == Family::V6,
        MacKind::Carp => key.protocol == Protocol::Carp,
        MacKind::Hsrp1 => key.protocol == Protocol::Hsrp1,
        MacKind::Hsrp2 => key.protocol == Protocol::Hsrp2,
        MacKind::Glbp | MacKind::FortiGate => false,
    };
    is_kind && key.segment == *segment && key.id == mac.id
}

impl Survey {
    /// Segments with IP or ARP traffic.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter()
    }

    /// Ranges of VRRP and CARP ids that were not seen on `segment`.
    pub fn free_ids(&self, segment: &Segment) -> Vec<(u8, u8)> {
        let advertised = self
            .groups
            .keys()
            .filter(|key| key.segment == *segment && key.protocol.shares_vrrp_ids())
            .map(|key| key.id);
        let silent = self
            .silent
            .iter()
            .filter(|silent| silent.segment == *segment)
            .filter(|silent| {
                let kind = silent.mac.kind;
                matches!(kind, MacKind::Vrrp4 | MacKind::Vrrp6 | MacKind::Carp)
            })
            .map(|silent| silent.mac.id);
        let taken: BTreeSet<u16> = advertised.chain(silent).collect();
        let mut ranges: Vec<(u8, u8)> = Vec::new();
        for id in (1..=u8::MAX).filter(|id| !taken.contains(&u16::from(*id))) {
            match ranges.last_mut() {
                Some(range) if range.1 + 1 == id => range.1 = id,
                _ => ranges.push((id, id)),
            }
        }
        ranges
    }

    /// Whether everything heard was understood. If not, clashes may be hidden, and no id is
    /// certainly free.
    pub fn is_understood(&self) -> bool {
        self.unread.is_empty() && !self.findings.iter().any(|finding| finding.problem.is_doubt())
    }

    /// Whether the watch was long enough for every master heard to advertise three times.
    pub fn is_long_enough(&self) -> bool {
        let slowest =
            self.groups.values().flatten().map(|source| source.last.interval_nanoseconds).max();
        self.nanoseconds >= slowest.unwrap_or(1_000_000_000).saturating_mul(3)
    }
}
