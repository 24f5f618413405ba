//! Synthetic traffic of routers: clashes are found, and ordinary changes of the master are not
//! mistaken for them.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::net::IpAddr;

use proptest::prelude::*;
use vrrp::{CaptureError, GroupFinding, Problem, Protocol, Survey, Watch, read_capture};

const SECOND: u64 = 1_000_000_000;

fn sum(bytes: &[u8]) -> [u8; 2] {
    let mut sum: u32 = bytes
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | pair.get(1).copied().map_or(0, u32::from))
        .sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    let folded = u16::try_from(sum).unwrap();
    (!folded).to_be_bytes()
}

/// A frame that contains IPv4; `host` is the last octet of its source address.
fn ipv4(host: u8, number: u8, hops: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![1, 0, 0x5E, 0, 0, 18, 2, 0, 0, 0, 0, host, 8, 0];
    let length = u16::try_from(20 + body.len()).unwrap().to_be_bytes();
    frame.extend([0x45, 0, length[0], length[1], 0, 0, 0, 0, hops, number, 0, 0]);
    frame.extend([10, 0, 0, host, 224, 0, 0, 18]);
    frame.extend(body);
    frame
}

fn vrrp2(host: u8, id: u8, priority: u8, address: u8) -> Vec<u8> {
    let mut body = vec![0x21, id, priority, 1, 0, 1, 0, 0, 10, 0, 0, address];
    body.extend([0; 8]);
    let sum = sum(&body);
    body[6..8].copy_from_slice(&sum);
    ipv4(host, 112, 255, &body)
}

fn vrrp3(host: u8, id: u8, priority: u8, address: u8) -> Vec<u8> {
    let mut body = vec![0x31, id, priority, 1, 0, 100, 0, 0, 10, 0, 0, address];
    let sum = sum(&body);
    body[6..8].copy_from_slice(&sum);
    ipv4(host, 112, 255, &body)
}

fn carp(host: u8, id: u8) -> Vec<u8> {
    let mut body = vec![0x21, id, 0, 7, 0, 1, 0, 0];
    body.extend([0xA5; 28]);
    let sum = sum(&body);
    body[6..8].copy_from_slice(&sum);
    ipv4(host, 112, 255, &body)
}

fn hsrp1(host: u8, group: u8, state: u8, address: u8) -> Vec<u8> {
    let mut body = vec![0x07, 0xC1, 0x07, 0xC1, 0, 28, 0, 0];
    body.extend([0, 0, state, 3, 10, 100, group, 0]);
    body.extend(*b"cisco\0\0\0");
    body.extend([10, 0, 0, address]);
    ipv4(host, 17, 1, &body)
}

fn hsrp2(host: u8, group: u16, address: u8) -> Vec<u8> {
    let mut body = vec![0x07, 0xC1, 0x07, 0xC1, 0, 50, 0, 0];
    let group = group.to_be_bytes();
    body.extend([1, 40, 2, 0, 6, 4, group[0], group[1], 2, 0, 0, 0, 0, host]);
    body.extend([0, 0, 0, 100, 0, 0, 0x0B, 0xB8, 0, 0, 0x27, 0x10]);
    body.extend([10, 0, 0, address]);
    body.extend([0; 12]);
    ipv4(host, 17, 1, &body)
}

fn arp(mac: [u8; 6], address: u8) -> Vec<u8> {
    let mut frame = vec![0xFF; 6];
    frame.extend(mac);
    frame.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    frame.extend(mac);
    frame.extend([10, 0, 0, address, 0, 0, 0, 0, 0, 0, 10, 0, 0, address]);
    frame
}

fn tagged(frame: &[u8], vlan: u8) -> Vec<u8> {
    [&frame[..12], &[0x81, 0, 0, vlan], &frame[12..]].concat()
}

/// The survey of frames at times given in tenths of a second.
fn survey(frames: &[(u64, Vec<u8>)]) -> Survey {
    let mut watch = Watch::default();
    for (tenths, frame) in frames {
        watch.see_ethernet(tenths * SECOND / 10, frame);
    }
    watch.survey()
}

/// The frame every second from `from` to `to`.
fn every_second(from: u64, to: u64, frame: &[u8]) -> Vec<(u64, Vec<u8>)> {
    (from..to).map(|at| (at * 10, frame.to_vec())).collect()
}

fn together(mut parts: Vec<Vec<(u64, Vec<u8>)>>) -> Survey {
    let mut frames = parts.concat();
    parts.clear();
    frames.sort_by_key(|(at, _)| *at);
    survey(&frames)
}

fn clashes(survey: &Survey) -> Vec<&Problem> {
    let clash = |finding: &&GroupFinding| finding.problem.is_clash();
    survey.findings.iter().filter(clash).map(|finding| &finding.problem).collect()
}

fn shifted(frames: Vec<(u64, Vec<u8>)>, tenths: u64) -> Vec<(u64, Vec<u8>)> {
    frames.into_iter().map(|(at, frame)| (at + tenths, frame)).collect()
}

#[test]
fn one_master_is_no_clash_and_its_id_is_taken() {
    let survey = survey(&every_second(0, 60, &vrrp3(1, 10, 100, 100)));
    assert!(survey.findings.is_empty(), "{:?}", survey.findings);
    let (key, sources) = survey.groups.first_key_value().unwrap();
    assert_eq!((key.protocol, key.id), (Protocol::Vrrp3, 10));
    assert_eq!(sources[0].adverts, 60);
    assert_eq!(sources[0].last.addresses, ["10.0.0.100".parse::<IpAddr>().unwrap()]);
    assert_eq!(survey.free_ids(&key.segment), [(1, 9), (11, 255)]);
    assert!(survey.is_long_enough());
}

#[test]
fn a_change_of_the_master_is_no_clash() {
    // The second router takes over, and the two advertisements cross once.
    let crossing = together(vec![
        every_second(0, 20, &vrrp3(1, 1, 100, 100)),
        shifted(every_second(18, 40, &vrrp3(2, 1, 200, 100)), 5),
    ]);
    assert!(clashes(&crossing).is_empty(), "{:?}", crossing.findings);
    // One router dies, the other takes over, and later the first returns.
    let failover = together(vec![
        every_second(0, 10, &vrrp2(1, 1, 200, 100)),
        shifted(every_second(13, 30, &vrrp2(2, 1, 100, 100)), 6),
        every_second(31, 60, &vrrp2(1, 1, 200, 100)),
    ]);
    assert!(failover.findings.is_empty(), "{:?}", failover.findings);
}

#[test]
fn two_masters_are_found() {
    for make in [vrrp2 as fn(u8, u8, u8, u8) -> Vec<u8>, vrrp3] {
        let both = together(vec![
            every_second(0, 10, &make(1, 1, 100, 100)),
            shifted(every_second(0, 10, &make(2, 1, 100, 100)), 3),
        ]);
        let found = clashes(&both);
        assert!(
            matches!(found.as_slice(), [Problem::TwoMasters { masters }] if masters.len() == 2)
        );
    }
    let both = together(vec![
        every_second(0, 10, &carp(1, 1)),
        shifted(every_second(0, 10, &carp(2, 1)), 3),
    ]);
    assert!(matches!(clashes(&both).as_slice(), [Problem::TwoMasters { .. }]));
}

#[test]
fn one_id_for_two_installations_is_found() {
    // The stronger router silences the weaker one; both were heard at the change.
    let taken = together(vec![
        every_second(0, 10, &vrrp3(1, 1, 100, 100)),
        shifted(every_second(9, 20, &vrrp3(2, 1, 200, 101)), 5),
    ]);
    let found = clashes(&taken);
    assert!(
        matches!(found.as_slice(), [Problem::SameId { claims }] if claims.len() == 2),
        "{found:?}"
    );
    let other_vlan = together(vec![
        every_second(0, 10, &tagged(&vrrp3(1, 1, 100, 100), 7)),
        every_second(0, 10, &tagged(&vrrp3(2, 1, 200, 101), 8)),
    ]);
    assert!(other_vlan.findings.is_empty(), "{:?}", other_vlan.findings);
    assert_eq!(other_vlan.segments().count(), 2);
}

#[test]
fn protocols_that_share_an_address_are_told_apart() {
    let versions = together(vec![
        every_second(0, 10, &vrrp2(1, 1, 100, 100)),
        every_second(0, 10, &vrrp3(2, 1, 100, 101)),
    ]);
    let other = Protocol::Vrrp3;
    assert_eq!(clashes(&versions), [&Problem::TwoProtocols { other }]);
    let mixed = together(vec![
        every_second(0, 10, &vrrp2(1, 1, 100, 100)),
        every_second(0, 10, &vrrp3(2, 1, 100, 100)),
    ]);
    assert_eq!(clashes(&mixed), [&Problem::MixedVersions { other }]);
    let with_carp = together(vec![
        every_second(0, 3, &vrrp3(1, 1, 100, 100)),
        every_second(3, 10, &carp(2, 1)),
    ]);
    let other = Protocol::Carp;
    assert_eq!(clashes(&with_carp), [&Problem::TwoProtocols { other }]);
    let with_hsrp = together(vec![
        every_second(0, 10, &vrrp3(1, 1, 100, 100)),
        every_second(0, 10, &hsrp1(2, 1, 16, 101)),
    ]);
    assert!(with_hsrp.findings.is_empty(), "{:?}", with_hsrp.findings);
}

#[test]
fn only_the_active_router_of_hsrp_counts() {
    let pair = together(vec![
        every_second(0, 10, &hsrp1(1, 5, 16, 100)),
        every_second(0, 10, &hsrp1(2, 5, 8, 100)),
        every_second(0, 10, &hsrp2(1, 300, 101)),
    ]);
    assert!(pair.findings.is_empty(), "{:?}", pair.findings);
    let ids: Vec<u16> = pair.groups.keys().map(|key| key.id).collect();
    assert_eq!(ids, [5, 300]);
    let both = together(vec![
        every_second(0, 10, &hsrp1(1, 5, 16, 100)),
        shifted(every_second(0, 10, &hsrp1(2, 5, 16, 100)), 2),
    ]);
    assert!(matches!(clashes(&both).as_slice(), [Problem::TwoMasters { .. }]));
}

#[test]
fn silent_owners_take_ids_too() {
    let mut frames = every_second(0, 10, &vrrp3(1, 10, 100, 100));
    frames.push((1, arp([0, 0, 0x5E, 0, 1, 10], 100)));
    frames.push((2, arp([0, 0, 0x5E, 0, 1, 20], 120)));
    frames.push((3, arp([0, 0, 0x5E, 0, 3, 30], 130)));
    let survey = survey(&frames);
    let silent: Vec<u16> = survey.silent.iter().map(|silent| silent.mac.id).collect();
    assert_eq!(silent, [20, 30]);
    let segment = survey.segments().next().unwrap();
    let free = [(1, 9), (11, 19), (21, 29), (31, 255)];
    assert_eq!(survey.free_ids(segment), free);
    assert!(clashes(&survey).is_empty());
}

#[test]
fn odd_packets_are_counted_and_not_believed() {
    let mut damaged = vrrp3(2, 1, 200, 101);
    *damaged.last_mut().unwrap() ^= 1;
    let mut routed = vrrp3(3, 1, 100, 102);
    routed[22] = 254;
    let survey = together(vec![
        every_second(0, 10, &vrrp3(1, 1, 100, 100)),
        every_second(0, 4, &damaged),
        shifted(every_second(0, 3, &routed), 1),
    ]);
    assert!(clashes(&survey).is_empty(), "{:?}", survey.findings);
    let far = together(vec![
        every_second(0, 3, &vrrp3(1, 1, 100, 100)),
        every_second(0, 3, &ipv4(2, 112, 64, &carp(2, 1)[34..])),
    ]);
    assert!(clashes(&far).is_empty(), "{:?}", far.findings);
    let problems: Vec<&Problem> = survey.findings.iter().map(|finding| &finding.problem).collect();
    assert_eq!(problems, [&Problem::Damaged { count: 4 }, &Problem::Routed { count: 3 }]);
}

fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0];
    file.extend([0; 8]);
    file.extend([0, 0, 4, 0, 1, 0, 0, 0]);
    for (at, frame) in frames.iter().enumerate() {
        let length = u32::try_from(frame.len()).unwrap();
        let at = u32::try_from(at).unwrap();
        for field in [at, 0, length, length] {
            file.extend(field.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

#[test]
fn captures_are_read_to_their_end_or_their_cut() {
    let file = pcap(&vec![vrrp3(1, 1, 100, 100); 5]);
    let read = |bytes: &[u8]| {
        let mut watch = Watch::default();
        read_capture(bytes, &mut watch).map(|summary| (summary, watch.survey()))
    };
    let (summary, survey) = read(&file).unwrap();
    assert_eq!((summary.frames, summary.is_cut_off), (5, false));
    assert_eq!(survey.nanoseconds, 4 * SECOND);
    let (summary, _) = read(&file[..file.len() - 3]).unwrap();
    assert_eq!((summary.frames, summary.is_cut_off), (4, true));
    assert_eq!(read(b"no capture at all, really").unwrap_err(), CaptureError::NoCapture);
    let mut wireless = file;
    wireless[20] = 105;
    assert_eq!(read(&wireless).unwrap_err(), CaptureError::UnknownLink { link: 105 });
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        at in 0_usize..60,
        byte in any::<u8>(),
    ) {
        let mut watch = Watch::default();
        watch.see_ethernet(0, &bytes);
        for mut frame in [vrrp2(1, 1, 1, 1), carp(1, 1), hsrp2(1, 1, 1)] {
            let end = at % frame.len();
            frame[end] = byte;
            watch.see_ethernet(1, &frame);
            frame.truncate(end);
            watch.see_ethernet(2, &frame);
        }
        let _ = watch.survey();
        let mut file = pcap(&[vrrp3(1, 1, 1, 1), bytes]);
        let end = file.len();
        file[at % end] = byte;
        let _ = read_capture(file.as_slice(), &mut Watch::default());
    }
}
