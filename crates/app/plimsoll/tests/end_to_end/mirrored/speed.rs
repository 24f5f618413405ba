//! What a mirrored write costs: one request in flight, beside a durable write to a file of the same
//! folder and the round trip of a message between two clients of the NATS server.
//! `cargo xtask mirror-speed` runs it with the optimised program.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use device::Durability;
use device_os::{Backend, World};

use super::Pair;
use super::guest;
use super::history::{BLOCK, History};

/// Rounds, in each of which all three are measured, and operations of each in a round.
const ROUNDS: usize = 9;
const OPERATIONS: u32 = 200;

/// A write to the flash of one host: a block with its frame.
const WRITTEN: usize = 2 * BLOCK;

/// The median of the rounds must not exceed this multiple of write and round trip together.
const MOST: f64 = 1.3;

#[test]
#[ignore = "measures; cargo xtask mirror-speed"]
fn a_mirrored_write_costs_little_more_than_a_write_and_a_round_trip() {
    let Some(mut pair) = Pair::new("mirror-speed", false) else { return };
    pair.start(0);
    pair.start(1);
    let owner = pair.wait_for_both();
    let (world, history) = (World::new(Backend::Auto).unwrap(), Arc::<History>::default());
    let device = guest::open(&pair.address(owner), &world).unwrap();
    let file = File::create_new(pair.scene.path("local")).unwrap();
    let mut echo = Echo::start(&pair.address);
    let mut ratios = Vec::new();
    for round in 0..ROUNDS {
        let mut block = 0;
        let mirrored = each(|| {
            block = (block + 7) % 512;
            let write = guest::write(&*device, &history, (block, 1), Durability::Volatile);
            assert!(world.executor().block_on(write));
        });
        let mut at = 0;
        let local = each(|| {
            file.write_all_at(&[1; WRITTEN], at).unwrap();
            file.sync_data().unwrap();
            at += WRITTEN as u64;
        });
        let trip = each(|| echo.round_trip());
        let ratio = mirrored.as_secs_f64() / (local + trip).as_secs_f64();
        eprintln!(
            "round {round}: {mirrored:?} mirrored, {local:?} local, {trip:?} trip: {ratio:.2}"
        );
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ROUNDS / 2];
    eprintln!("a mirrored write takes {median:.2} times as long as both together, at most {MOST}");
    assert!(median <= MOST, "{median}");
}

/// The mean time of an operation.
fn each(mut operation: impl FnMut()) -> Duration {
    let begun = Instant::now();
    (0..OPERATIONS).for_each(|_| operation());
    begun.elapsed() / OPERATIONS
}

/// Two clients of the NATS server, of which the second returns every message of the first.
struct Echo(NatsClient);

/// A client that speaks just enough of the protocol.
struct NatsClient {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
    to: &'static str,
}

impl Echo {
    fn start(address: &(String, u16)) -> Self {
        let mut second = NatsClient::connect(address, ("ping", "pong"));
        let first = NatsClient::connect(address, ("pong", "ping"));
        // It ends with the server.
        thread::spawn(move || while second.receive() && second.send() {});
        thread::sleep(Duration::from_millis(200));
        Self(first)
    }

    fn round_trip(&mut self) {
        assert!(self.0.send() && self.0.receive());
    }
}

impl NatsClient {
    fn connect(address: &(String, u16), (from, to): (&str, &'static str)) -> Self {
        let mut stream = TcpStream::connect((address.0.as_str(), address.1)).unwrap();
        stream.set_nodelay(true).unwrap();
        let reader = BufReader::new(stream.try_clone().unwrap());
        let hello = format!("CONNECT {{\"verbose\":false,\"pedantic\":false}}\r\nSUB {from} 1\r\n");
        stream.write_all(hello.as_bytes()).unwrap();
        Self { stream, reader, to }
    }

    /// Sends a block's worth.
    fn send(&mut self) -> bool {
        let head = format!("PUB {} {BLOCK}\r\n", self.to);
        let message = [head.as_bytes(), &[7; BLOCK], b"\r\n"].concat();
        self.stream.write_all(&message).is_ok()
    }

    fn receive(&mut self) -> bool {
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).unwrap_or(0) == 0 {
                return false;
            }
            if line.starts_with("PING") && self.stream.write_all(b"PONG\r\n").is_err() {
                return false;
            }
            if line.starts_with("MSG") {
                return self.reader.read_exact(&mut [0; BLOCK + 2]).is_ok();
            }
        }
    }
}
