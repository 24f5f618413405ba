//! Captures as other programs write them - pcapng in both byte orders, several interfaces and
//! sections, clocks of all resolutions - and frames of IPv6, VLANs and HSRP.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::net::Ipv6Addr;

use vrrp::{Family, Problem, Protocol, Survey, Watch, read_capture};

const SECOND: u64 = 1_000_000_000;
const MILLION: u64 = 1_000_000;
/// Findings for two installations that use one id and do not yield to each other.
const CLASH: [&str; 2] = ["same_id", "two_masters"];

/// How a capture is written.
#[derive(Clone, Copy)]
struct Writer {
    is_big: bool,
}

impl Writer {
    fn half(self, value: u16) -> [u8; 2] {
        if self.is_big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn word(self, value: usize) -> [u8; 4] {
        let value = u32::try_from(value).unwrap();
        if self.is_big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn block(self, kind: usize, body: &[u8]) -> Vec<u8> {
        let fill = vec![0; body.len().next_multiple_of(4) - body.len()];
        let length = self.word(12 + body.len() + fill.len());
        [&self.word(kind), &length, body, &fill, &length].concat()
    }

    fn section(self) -> Vec<u8> {
        let mut body = self.word(0x1A2B_3C4D).to_vec();
        body.extend(self.half(1));
        body.extend(self.half(0));
        body.extend([0xFF; 8]);
        self.block(0x0A0D_0D0A, &body)
    }

    /// An Ethernet interface with the given `resolution` option for its clock.
    fn interface(self, resolution: Option<u8>) -> Vec<u8> {
        let mut body = self.half(1).to_vec();
        body.extend(self.half(0));
        body.extend(self.word(0));
        if let Some(resolution) = resolution {
            body.extend(self.half(9));
            body.extend(self.half(1));
            body.extend([resolution, 0, 0, 0, 0, 0, 0, 0]);
        }
        self.block(1, &body)
    }

    fn packet(self, interface: usize, ticks: u64, frame: &[u8]) -> Vec<u8> {
        let high = usize::try_from(ticks >> 32).unwrap();
        let low = usize::try_from(ticks & 0xFFFF_FFFF).unwrap();
        let fields = [interface, high, low, frame.len(), frame.len()];
        let mut body = fields.map(|field| self.word(field)).concat();
        body.extend(frame);
        self.block(6, &body)
    }
}

fn read(file: &[u8]) -> (u64, Survey) {
    let mut watch = Watch::default();
    let summary = read_capture(file, &mut watch).unwrap();
    assert!(!summary.is_cut_off);
    (summary.frames, watch.survey())
}

fn problems(survey: &Survey) -> Vec<&'static str> {
    let findings = survey.findings.iter();
    findings.map(|finding| finding.problem.word()).collect()
}

fn sum(parts: &[&[u8]]) -> [u8; 2] {
    let all = parts.concat();
    let words = all
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | pair.get(1).copied().map_or(0, u32::from));
    let sum: u32 = words.sum();
    let folded = (sum & 0xFFFF) + (sum >> 16);
    (!u16::try_from(folded).unwrap()).to_be_bytes()
}

fn with_sum(mut body: Vec<u8>, before: &[u8]) -> Vec<u8> {
    let sum = sum(&[before, &body]);
    body[6..8].copy_from_slice(&sum);
    body
}

/// VRRP 3 over IPv4 from the host 10.0.0.`host`.
fn vrrp4(host: u8, id: u8, address: u8) -> Vec<u8> {
    let body = with_sum(vec![0x31, id, 100, 1, 0, 100, 0, 0, 10, 0, 0, address], &[]);
    ipv4(host, 112, 255, &body)
}

fn ipv4(host: u8, number: u8, hops: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![1, 0, 0x5E, 0, 0, 18, 2, 0, 0, 0, 0, host, 8, 0];
    let length = u8::try_from(20 + body.len()).unwrap();
    frame.extend([0x45, 0, 0, length, 0, 0, 0, 0, hops, number, 0, 0]);
    frame.extend([10, 0, 0, host, 224, 0, 0, 18]);
    frame.extend(body);
    frame
}

fn link_local(host: u8) -> [u8; 16] {
    Ipv6Addr::new(0xFE80, 0, 0, 0, 0, 0, 0, u16::from(host)).octets()
}

/// A frame that contains IPv6.
fn ipv6(host: u8, next: u8, hops: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x33, 0x33, 0, 0, 0, 18, 2, 0, 0, 0, 0, host, 0x86, 0xDD];
    let length = u8::try_from(body.len()).unwrap();
    frame.extend([0x60, 0, 0, 0, 0, length, next, hops]);
    frame.extend(link_local(host));
    frame.extend(Ipv6Addr::new(0xFF02, 0, 0, 0, 0, 0, 0, 0x12).octets());
    frame.extend(body);
    frame
}

/// VRRP 3 over IPv6 as in RFC 9568: the checksum covers the addresses of the packet.
fn vrrp6(host: u8, id: u8, address: u8) -> Vec<u8> {
    let mut body = vec![0x31, id, 100, 2, 0, 100, 0, 0];
    body.extend(link_local(200));
    body.extend(Ipv6Addr::new(0xFD00, 0, 0, 0, 0, 0, 0, u16::from(address)).octets());
    let mut before = link_local(host).to_vec();
    before.extend(Ipv6Addr::new(0xFF02, 0, 0, 0, 0, 0, 0, 0x12).octets());
    before.extend([0, 0, 0, u8::try_from(body.len()).unwrap(), 0, 0, 0, 112]);
    let body = with_sum(body, &before);
    ipv6(host, 112, 255, &body)
}

fn tagged(frame: &[u8], tags: &[[u8; 4]]) -> Vec<u8> {
    [&frame[..12], &tags.concat(), &frame[12..]].concat()
}

fn customer(vlan: u8) -> [u8; 4] {
    [0x81, 0, 0, vlan]
}

fn provider(vlan: u8) -> [u8; 4] {
    [0x88, 0xA8, 0, vlan]
}

/// Two masters that advertise in turn for some seconds.
fn in_turn(one: &[u8], two: &[u8]) -> Survey {
    let mut watch = Watch::default();
    for second in 0..8 {
        watch.see_ethernet(second * SECOND, one);
        watch.see_ethernet(second * SECOND + SECOND / 2, two);
    }
    watch.survey()
}

#[test]
fn pcapng_is_read_in_both_byte_orders_and_at_any_resolution() {
    // Powers of ten, or of two if the highest bit is set.
    let resolutions = [
        (None, MILLION),
        (Some(6), MILLION),
        (Some(9), SECOND),
        (Some(3), 1000),
        (Some(0x8A), 1024),
    ];
    for is_big in [false, true] {
        let writer = Writer { is_big };
        for (option, per_second) in resolutions {
            let mut file = [writer.section(), writer.interface(option)].concat();
            for second in 0..6 {
                let ticks = (1_795_402_800 + second) * per_second;
                file.extend(writer.packet(0, ticks, &vrrp4(1, 9, 100)));
            }
            let (frames, survey) = read(&file);
            assert_eq!((frames, survey.nanoseconds), (6, 5 * SECOND), "{option:?} {is_big}");
            assert!(survey.findings.is_empty() && survey.is_long_enough());
        }
    }
}

#[test]
fn interfaces_of_one_capture_are_segments_of_their_own() {
    let writer = Writer { is_big: false };
    let capture = |second_interface| {
        let mut file =
            [writer.section(), writer.interface(None), writer.interface(Some(9))].concat();
        for second in 0..8 {
            let other = if second_interface == 0 { MILLION } else { SECOND };
            file.extend(writer.packet(0, second * MILLION, &vrrp4(1, 9, 100)));
            let ticks = second * other + other / 2;
            file.extend(writer.packet(second_interface, ticks, &vrrp4(2, 9, 101)));
        }
        read(&file).1
    };
    assert_eq!(problems(&capture(1)), Vec::<&str>::new());
    assert_eq!(problems(&capture(0)), CLASH);
}

#[test]
fn blocks_of_other_kinds_and_a_second_section_are_passed_over() {
    let (little, big) = (Writer { is_big: false }, Writer { is_big: true });
    let mut file = [little.section(), little.interface(None)].concat();
    file.extend(little.block(5, &[0; 12]));
    file.extend(little.block(0x0BAD, b"a comment"));
    file.extend(little.packet(0, MILLION, &vrrp4(1, 9, 100)));
    // A packet of an interface without a description has no time.
    file.extend(little.packet(7, MILLION, &vrrp4(2, 9, 101)));
    file.extend([big.section(), big.interface(None)].concat());
    file.extend(big.packet(0, 2 * MILLION, &vrrp4(1, 9, 100)));
    let (frames, survey) = read(&file);
    assert_eq!((frames, survey.nanoseconds), (2, SECOND));
    assert_eq!(problems(&survey), Vec::<&str>::new());
}

#[test]
fn vrrp_of_ipv6_is_read_and_its_clashes_are_found() {
    let one = in_turn(&vrrp6(1, 9, 100), &vrrp4(2, 9, 100));
    let keys: Vec<_> = one.groups.keys().map(|key| (key.family, key.protocol, key.id)).collect();
    let both = [Family::V4, Family::V6].map(|family| (family, Protocol::Vrrp3, 9));
    assert_eq!(keys, both);
    assert_eq!(problems(&one), Vec::<&str>::new(), "families number their groups apart");
    let sources = one.groups.values().last().unwrap();
    assert_eq!(sources[0].last.addresses.len(), 2);

    let two = in_turn(&vrrp6(1, 9, 100), &vrrp6(2, 9, 100));
    assert_eq!(problems(&two), ["two_masters"]);
    let other = in_turn(&vrrp6(1, 9, 100), &vrrp6(2, 9, 101));
    assert!(problems(&other).contains(&"same_id"), "{:?}", other.findings);

    let mut wrong = vrrp6(1, 9, 100);
    *wrong.last_mut().unwrap() ^= 1;
    let damaged = in_turn(&wrong, &vrrp6(2, 9, 100));
    assert!(matches!(damaged.findings[0].problem, Problem::Damaged { count: 8 }));
    let mut far = vrrp6(1, 9, 101);
    far[21] = 64;
    let routed = in_turn(&far, &vrrp6(2, 9, 100));
    assert!(matches!(routed.findings[0].problem, Problem::Routed { count: 8 }));
}

#[test]
fn vlans_are_segments_of_their_own_however_deep() {
    let (one, two) = (vrrp4(1, 9, 100), vrrp4(2, 9, 101));
    let found = |first: &[[u8; 4]], second: &[[u8; 4]]| {
        problems(&in_turn(&tagged(&one, first), &tagged(&two, second)))
    };
    assert_eq!(found(&[customer(5)], &[customer(5)]), CLASH);
    let double = [provider(5), customer(7)];
    assert_eq!(found(&double, &double), CLASH);
    for (first, second) in [
        (&[customer(5)][..], &[customer(6)][..]),
        (&[customer(5)], &[]),
        (&[provider(5), customer(7)], &[provider(5), customer(8)]),
        (&[provider(5), customer(7)], &[customer(7)]),
    ] {
        assert_eq!(found(first, second), Vec::<&str>::new(), "{first:?} {second:?}");
    }
    // The priority bits of a VLAN tag are not part of the VLAN number.
    assert_eq!(found(&[[0x81, 0, 0xE0, 5]], &[customer(5)]), CLASH);
    let six = [vrrp6(1, 9, 100), vrrp6(2, 9, 101)].map(|frame| tagged(&frame, &[customer(5)]));
    assert!(problems(&in_turn(&six[0], &six[1])).contains(&"same_id"));
}

fn udp(port: u16, hello: &[u8]) -> Vec<u8> {
    let [high, low] = port.to_be_bytes();
    let length = u8::try_from(8 + hello.len()).unwrap();
    [&[high, low, high, low, 0, length, 0, 0], hello].concat()
}

fn hsrp1(host: u8, group: u8, address: u8) -> Vec<u8> {
    let mut hello = vec![0, 0, 16, 3, 10, 100, group, 0];
    hello.extend(*b"cisco\0\0\0");
    hello.extend([10, 0, 0, address]);
    ipv4(host, 17, 1, &udp(1985, &hello))
}

/// HSRP 2 from the active router; the group number has twelve bits.
fn hsrp2(host: u8, group: u16, address: [u8; 16], family: u8) -> Vec<u8> {
    let [high, low] = group.to_be_bytes();
    let mut hello = vec![1, 40, 2, 0, 6, family, high, low, 2, 0, 0, 0, 0, host];
    hello.extend([0, 0, 0, 100, 0, 0, 0x03, 0xE8, 0, 0, 0x27, 0x10]);
    hello.extend(address);
    match family {
        4 => ipv4(host, 17, 1, &udp(1985, &hello)),
        _ => ipv6(host, 17, 255, &udp(2029, &hello)),
    }
}

fn inner(address: u8) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&[10, 0, 0, address]);
    bytes
}

#[test]
fn groups_of_hsrp_clash_like_others() {
    let found = |one: &[u8], two: &[u8]| problems(&in_turn(one, two));
    assert_eq!(found(&hsrp1(1, 5, 100), &hsrp1(2, 5, 101)), CLASH);
    assert_eq!(found(&hsrp1(1, 5, 100), &hsrp1(2, 6, 101)), Vec::<&str>::new());
    let two = |host, address| hsrp2(host, 4095, inner(address), 4);
    assert_eq!(found(&two(1, 100), &two(2, 100)), ["two_masters"]);
    assert_eq!(found(&two(1, 100), &two(2, 101)), CLASH);
    // 4095 and 255 have the same low byte but are different groups.
    let low = hsrp2(2, 255, inner(101), 4);
    assert_eq!(found(&two(1, 100), &low), Vec::<&str>::new());
    assert_eq!(found(&hsrp1(1, 5, 100), &hsrp2(2, 5, inner(100), 4)), ["mixed_versions"]);
    let six = |host| hsrp2(host, 5, link_local(100), 6);
    assert_eq!(found(&six(1), &six(2)), ["two_masters"]);
    let survey = in_turn(&six(1), &hsrp2(2, 5, inner(100), 4));
    let families: Vec<_> = survey.groups.keys().map(|key| key.family).collect();
    assert_eq!(families, [Family::V4, Family::V6]);
}
