//! Requests that make no sense, ten thousand of them, to the real server: it answers or closes, and
//! what it serves afterwards is what the volume holds.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::thread;

use units::{Prng, Seed};

use super::{Served, VOLUME_BYTES, address, peer, same, scene};
use crate::scene::Scene;

/// Clients, and requests of each.
const CLIENTS: u64 = 200;
const REQUESTS: u64 = 50;

/// An option: its number and its data.
fn option(kind: u32, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap();
    [b"IHAVEOPT", &kind.to_be_bytes()[..], &length.to_be_bytes(), data].concat()
}

/// A connection with `mail` open, with structured replies or without.
fn open(scene: &Scene, is_structured: bool) -> UnixStream {
    let mut stream = UnixStream::connect(scene.path("nbd.sock")).unwrap();
    let mut hello = 3_u32.to_be_bytes().to_vec();
    if is_structured {
        hello.extend(option(8, &[]));
    }
    hello.extend(option(7, b"\0\0\0\x04mail\0\0"));
    stream.write_all(&hello).unwrap();
    stream
}

/// One number of several, or any.
fn drawn(prng: &mut Prng, known: &[u64], any: u64) -> u64 {
    let at = prng.below(known.len() as u64 + 1);
    known.get(usize::try_from(at).unwrap()).copied().unwrap_or_else(|| prng.below(any))
}

/// A request whose fields are drawn one by one, and some of its payload.
fn request(prng: &mut Prng, cookie: u64) -> Vec<u8> {
    let lost = prng.below(200) == 0;
    let magic = if lost { 0x2560_9514_u32 } else { 0x2560_9513 };
    let flags = u16::try_from(drawn(prng, &[0, 0, 1, 4], 1 << 16)).unwrap();
    let kind = u16::try_from(drawn(prng, &[0, 1, 3, 4, 5, 6, 7], 12)).unwrap();
    let offset = drawn(prng, &[0, 512, VOLUME_BYTES - 512, VOLUME_BYTES, 1 << 63], VOLUME_BYTES);
    let length = drawn(prng, &[0, 1, 512, 4_096, 65_536, u64::from(u32::MAX)], 100_000);
    let length = u32::try_from(length).unwrap();
    let mut bytes = [&magic.to_be_bytes()[..], &flags.to_be_bytes(), &kind.to_be_bytes()].concat();
    bytes.extend(cookie.to_be_bytes());
    bytes.extend(offset.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    if kind == 1 {
        let mut payload = vec![0; usize::try_from(length.min(100_000)).unwrap()];
        prng.fill(&mut payload);
        bytes.extend(payload);
    }
    bytes
}

#[test]
fn ten_thousand_senseless_requests_break_nothing() {
    let scene = scene("cache-fuzz");
    let served = Served::start(&scene);
    for client in 0..CLIENTS {
        let stream = open(&scene, client % 2 == 0);
        let mut replies = stream.try_clone().unwrap();
        // Replies are taken off at once: a client that does not read them is not served either.
        let reader = thread::spawn(move || {
            let mut all = Vec::new();
            // The server may cut a stream that makes no sense.
            let _ = replies.read_to_end(&mut all);
            all.len()
        });
        let mut prng = Prng::new(Seed(client));
        for cookie in 0..REQUESTS {
            if (&stream).write_all(&request(&mut prng, cookie)).is_err() {
                break;
            }
        }
        let _ = stream.shutdown(std::net::Shutdown::Write);
        assert!(reader.join().unwrap() > 18, "client {client} saw no greeting");
    }
    assert_eq!(served.status()["state"], "working");
    if let Some(copied) = peer(&scene, &["nbdcopy", &address(&scene), "copy.img"]) {
        copied.expect_code(0);
        assert!(same(&scene.path("copy.img"), &scene.path("disk.img")), "nothing stale");
    }
    assert_eq!(served.stop(), 0);
    let said = std::fs::read_to_string(scene.path("serve.err")).unwrap();
    assert!(!said.contains("bug in plimsoll") && !said.contains("panicked"), "{said}");
}
