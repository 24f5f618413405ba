//! Advertisements that lost bytes or had one flipped: either the clash is still found, or the part
//! not understood is counted, so that no damaged capture makes the network look clean. Runs 1,000
//! captures, or as many as `PLIMSOLL_MUTANTS` says.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use proptest::test_runner::{Config, TestRunner};
use vrrp::{Survey, Watch};

const SECOND: u64 = 1_000_000_000;

/// Length of every capture; routers advertise once a second.
const SECONDS: u64 = 12;

/// Bytes of the Ethernet and the IPv4 header.
const HEADERS: usize = 34;

/// Two masters of one id, or of two ids.
#[derive(Clone, Copy, Debug)]
enum Network {
    Clash,
    Sound,
}

/// VRRP 2 from the router 10.0.7.`host` for the address 10.0.7.`host` + 100.
fn advert(id: u8, host: u8) -> Vec<u8> {
    let mut body = vec![0x21, id, 100, 1, 0, 1, 0, 0, 10, 0, 7, host + 100, 0, 0, 0, 0, 0, 0, 0, 0];
    let words = body.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let sum: u32 = words.sum();
    let folded = (sum & 0xFFFF) + (sum >> 16);
    body[6..8].copy_from_slice(&(!u16::try_from(folded).unwrap()).to_be_bytes());
    let mut frame = vec![1, 0, 0x5E, 0, 0, 18, 0, 0, 0x5E, 0, 1, id, 8, 0];
    frame.extend([0x45, 0, 0, u8::try_from(20 + body.len()).unwrap(), 0, 0]);
    frame.extend([0, 0, 255, 112, 0, 0, 10, 0, 7, host, 224, 0, 0, 18]);
    frame.extend(body);
    frame
}

/// The survey of `network`, with the frames of the second router altered by `change`.
fn survey(network: Network, change: impl Fn(&mut Vec<u8>)) -> Survey {
    let second_id = match network {
        Network::Clash => 77,
        Network::Sound => 78,
    };
    let mut watch = Watch::default();
    watch.start(0);
    for at in 0..SECONDS {
        let mut second = advert(second_id, 12);
        change(&mut second);
        watch.see_ethernet(at * SECOND, &advert(77, 11));
        watch.see_ethernet(at * SECOND + SECOND / 2, &second);
    }
    watch.end(SECONDS * SECOND);
    watch.survey()
}

fn is_clean(survey: &Survey) -> bool {
    let clashes = survey.findings.iter().any(|finding| finding.problem.is_clash());
    !clashes && survey.is_long_enough() && survey.is_understood()
}

#[test]
fn whole_networks_are_what_their_names_say() {
    assert!(is_clean(&survey(Network::Sound, |_| {})));
    let clash = survey(Network::Clash, |_| {});
    assert!(!is_clean(&clash) && clash.is_understood(), "{:?}", clash.unread);
}

#[test]
fn a_changed_capture_never_passes_what_the_whole_does_not() {
    let cases = std::env::var("PLIMSOLL_MUTANTS").map_or(1_000, |count| count.parse().unwrap());
    let length = advert(77, 12).len();
    let mut runner = TestRunner::new(Config { cases, ..Config::default() });
    let flips = (HEADERS..length, 0_u8..8, 0..length - HEADERS);
    let tried = runner.run(&flips, |(at, bit, cut)| {
        let flipped = survey(Network::Clash, |frame| frame[at] ^= 1 << bit);
        proptest::prop_assert!(!is_clean(&flipped), "bit {bit} of byte {at}: {flipped:?}");
        let short = survey(Network::Clash, |frame| frame.truncate(HEADERS + cut));
        proptest::prop_assert!(!is_clean(&short), "cut after {cut} bytes: {short:?}");
        Ok(())
    });
    tried.unwrap();
}
