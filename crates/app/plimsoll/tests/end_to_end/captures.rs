//! `scan` of captures with unusual frames: frames that were not understood are counted and named,
//! and then nothing is called clean.

use crate::scene::{Ran, Scene};

/// How often every sender is heard.
const TIMES: u32 = 12;

/// A capture of Ethernet: frames with their milliseconds.
fn pcap(frames: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut sorted: Vec<&(u32, Vec<u8>)> = frames.iter().collect();
    sorted.sort_by_key(|(at, _)| *at);
    let mut file = vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0];
    file.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]);
    for (at, frame) in sorted {
        let length = u32::try_from(frame.len()).unwrap();
        for field in [at / 1000, at % 1000 * 1000, length, length] {
            file.extend(field.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

/// A frame every second, `shift` milliseconds after it; `frame` is given its number.
fn every_second(shift: u32, frame: impl Fn(u16) -> Vec<u8>) -> Vec<(u32, Vec<u8>)> {
    (0..TIMES).map(|at| (at * 1000 + shift, frame(u16::try_from(at).unwrap()))).collect()
}

fn scan(name: &str, frames: &[(u32, Vec<u8>)]) -> Ran {
    let scene = Scene::new(name);
    scene.write("seen.pcap", &pcap(frames));
    let told: serde_json::Value =
        serde_json::from_str(&scene.run(["scan", "seen.pcap", "--json"]).out).unwrap();
    let ran = scene.run(["scan", "seen.pcap"]);
    let understood = told["scans"][0]["understood"].as_bool().unwrap();
    assert_eq!(understood, told["scans"][0]["unread"].as_array().unwrap().is_empty());
    assert!(ran.code == Some(1) || understood == (ran.code == Some(0)), "{}", ran.out);
    ran
}

fn with_sum(mut body: Vec<u8>) -> Vec<u8> {
    let words = body.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let sum: u32 = words.sum();
    let folded = (sum & 0xFFFF) + (sum >> 16);
    body[6..8].copy_from_slice(&(!u16::try_from(folded).unwrap()).to_be_bytes());
    body
}

/// A frame to a multicast address of 224.0.0.0/24 from 10.0.7.`host`.
fn ipv4(host: u8, to: u8, number: u8, identification: u16, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![1, 0, 0x5E, 0, 0, to, 2, 0, 0, 0, 7, host, 8, 0];
    let length = u8::try_from(20 + body.len()).unwrap();
    frame.extend([0x45, 0, 0, length]);
    frame.extend(identification.to_be_bytes());
    frame.extend([0, 0, 255, number, 0, 0, 10, 0, 7, host, 224, 0, 0, to]);
    frame.extend(body);
    frame
}

/// VRRP 2 as keepalived sends it; no address where `address` is 0.
fn vrrp2(host: u8, identification: u16, priority: u8, address: u8) -> Vec<u8> {
    let count = u8::from(address > 0);
    let mut body = vec![0x21, 77, priority, count, 0, 1, 0, 0];
    if address > 0 {
        body.extend([10, 0, 7, address]);
    }
    body.extend([0; 8]);
    ipv4(host, 18, 112, identification, &with_sum(body))
}

/// VRRP 2 with a digest behind it, as switches send it.
fn vrrp2_md5(host: u8, address: u8) -> Vec<u8> {
    let mut body = vec![0x21, 77, 100, 1, 0xFE, 1, 0, 0, 10, 0, 7, address];
    body.extend([0; 8]);
    body.extend([1, 0x1C, 0, 1]);
    body.extend([host; 26]);
    ipv4(host, 18, 112, 0, &with_sum(body))
}

fn udp(port: u16, body: &[u8]) -> Vec<u8> {
    let [high, low] = port.to_be_bytes();
    [&[high, low, high, low, 0, u8::try_from(8 + body.len()).unwrap(), 0, 0], body].concat()
}

fn hsrp1(version: u8, state: u8) -> Vec<u8> {
    let mut hello = vec![version, 0, state, 3, 10, 100, 5, 0];
    hello.extend(*b"cisco\0\0\0");
    hello.extend([10, 0, 7, 99]);
    ipv4(1, 2, 17, 0, &udp(1985, &hello))
}

#[test]
fn clusters_with_digests_clash_like_those_without() {
    let one = every_second(0, |_| vrrp2_md5(1, 50));
    let two = every_second(300, |_| vrrp2_md5(2, 60));
    let ran = scan("scan-md5", &[one.clone(), two].concat());
    ran.expect_code(1).expect_out(&["CLASH", "VRRP 2 id 77", "the id is taken twice"]);
    let alone = scan("scan-md5-alone", &one);
    alone.expect_code(0).expect_out(&["10.0.7.50", "not seen in use: 1-76, 78-255"]);
}

#[test]
fn two_processes_on_one_host_are_two_senders() {
    let one = every_second(0, |at| vrrp2(5, 0x1C84 + at, 200, 50));
    let two = every_second(500, |at| vrrp2(5, 0xA730 + at, 199, 0));
    let ran = scan("scan-two", &[one, two].concat());
    let differing =
        "two senders share id 77 on 10.0.7.5 (priority, addresses, counters of IP differ)";
    ran.expect_code(1).expect_out(&["CLASH", differing, "priority 199", "priority 200"]);
    let heard: Vec<&str> = ran.out.lines().filter(|line| line.contains("heard 12 times")).collect();
    assert_eq!(heard.len(), 2, "{}", ran.out);
    // The same in all but the counter of its packets.
    let one = every_second(0, |at| vrrp2(5, 0x1C84 + at, 200, 50));
    let two = every_second(500, |at| vrrp2(5, 0xA730 + at, 200, 50));
    scan("scan-twins", &[one, two].concat())
        .expect_code(1)
        .expect_out(&["on 10.0.7.5 (counters of IP differ)"]);
}

#[test]
fn one_process_whose_priority_changes_is_one_sender() {
    let flapping = every_second(0, |at| vrrp2(5, 900 + at, 200 - (at % 2) as u8, 50));
    scan("scan-flaps", &flapping).expect_code(0);
    // A mirror port shows every frame twice.
    let twice =
        [every_second(0, |at| vrrp2(5, at, 200, 50)), every_second(1, |at| vrrp2(5, at, 200, 50))];
    scan("scan-mirror", &twice.concat()).expect_code(0);
    // A host that numbers its packets at random.
    let random = every_second(0, |at| vrrp2(5, at.wrapping_mul(40_503) | 1, 200, 50));
    scan("scan-random", &random).expect_code(0);
}

#[test]
fn what_is_not_understood_is_named_and_nothing_beside_it_is_clean() {
    let plain = every_second(0, |at| vrrp2(5, at, 200, 50));
    let unknown_version = with_sum(vec![0x41, 9, 100, 1, 0, 1, 0, 0, 10, 0, 7, 9]);
    let mut fragment = vrrp2(6, 7, 100, 60);
    fragment[20] = 0x20;
    let mut damaged = vrrp2(6, 7, 100, 60);
    damaged[36] ^= 1;
    let mut tags = vrrp2(6, 7, 100, 60);
    for _ in 0..4 {
        tags.splice(12..12, [0x81, 0, 0, 5]);
    }
    let macsec =
        [&vrrp2(6, 7, 100, 60)[..12], &[0x88, 0xE5, 0x0C, 0, 0, 0, 0, 1], &[9; 40]].concat();
    let cases: [(&str, Vec<u8>); 11] = [
        ("VRRP version 4 type 1", ipv4(6, 18, 112, 0, &unknown_version)),
        ("VRRP 3 id 9, whose length", ipv4(6, 18, 112, 0, &[0x31, 9, 100, 2, 0, 100, 0, 0, 10, 0])),
        ("VRRP or CARP, cut off", vrrp2(6, 7, 100, 60)[..40].to_vec()),
        ("cut off or fragmented", fragment),
        ("VRRP inside IPsec", ipv4(6, 18, 50, 0, &[7; 40])),
        ("HSRP of an unknown version", hsrp1(3, 16)),
        ("HSRP or GLBP, cut off", hsrp1(0, 16)[..40].to_vec()),
        ("GLBP group 40", ipv4(6, 102, 17, 0, &udp(3222, &[1, 0, 0, 40, 0, 0, 2, 0, 0, 0]))),
        ("more than three VLAN tags", tags),
        ("encrypted by MACsec", macsec),
        ("before the end of the IP header", vrrp2(6, 7, 100, 60)[..20].to_vec()),
    ];
    for (name, frame) in cases {
        let odd = every_second(300, |_| frame.clone());
        let ran = scan("scan-odd", &[plain.clone(), odd].concat());
        ran.expect_code(2).expect_out(&["not understood: 12 frames", name, "free is not known"]);
        assert!(!ran.out.contains("not seen in use"), "{}", ran.out);
        // A clash is one, whatever else there is.
        let other = every_second(500, |at| vrrp2(7, at, 100, 61));
        let odd = every_second(300, |_| frame.clone());
        scan("scan-odd", &[plain.clone(), odd, other].concat()).expect_code(1);
    }
    let scene = Scene::new("scan-doubt");
    let odd = every_second(300, |_| damaged.clone());
    scene.write("damaged.pcap", &pcap(&[plain.clone(), odd].concat()));
    scene.run(["scan", "damaged.pcap"]).expect_code(2).expect_out(&["12 packets with a wrong"]);
    scan("scan-standby", &[plain, every_second(300, |_| hsrp1(0, 8))].concat()).expect_code(0);
}

#[test]
fn groups_of_glbp_are_named_by_their_address() {
    let scene = Scene::new("scan-glbp");
    let mut frames = every_second(0, |at| vrrp2(5, at, 200, 50));
    for forwarder in 1..4 {
        let mac = [0, 7, 0xB4, 0, 40, forwarder];
        let mut arp = [&[0xFF; 6][..], &mac, &[8, 6, 0, 1, 8, 0, 6, 4, 0, 2], &mac].concat();
        arp.extend([10, 0, 7, 33, 0, 0, 0, 0, 0, 0, 10, 0, 7, 33]);
        frames.push((u32::from(forwarder), arp));
    }
    scene.write("glbp.pcap", &pcap(&frames));
    let ran = scene.run(["scan", "glbp.pcap"]);
    ran.expect_code(2).expect_out(&["GLBP id 40", "advertises by GLBP, which is not read"]);
    assert!(!ran.out.contains("GLBP id 1"), "{}", ran.out);
}

#[test]
fn a_capture_that_ends_within_a_frame_is_not_clean() {
    let scene = Scene::new("scan-cut");
    let whole = pcap(&every_second(0, |at| vrrp2(5, at, 200, 50)));
    scene.write("whole.pcap", &whole);
    scene.run(["scan", "whole.pcap"]).expect_code(0);
    scene.write("cut.pcap", &whole[..whole.len() - 5]);
    scene.run(["scan", "cut.pcap"]).expect_code(2).expect_out(&["within which the capture ends"]);
}
