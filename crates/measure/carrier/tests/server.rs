//! Against a real nats-server on loopback, killed and started again.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a real server is waited for, and its absence is reported"
)]

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use carrier::{Carrier, CarrierError, Credentials, KeyAnswer, ServerAccess};
use fleet::{AgentId, Assembly, JournalPiece, RunId};

/// Number of buckets that two hosts create at the same time.
const BUCKETS: u32 = 300;

/// The server of one test.
struct Server {
    program: PathBuf,
    port: u16,
    store: PathBuf,
    child: Child,
}

fn program() -> Option<PathBuf> {
    ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"]
        .map(PathBuf::from)
        .into_iter()
        .find(|path| path.exists())
}

fn start(program: &Path, port: u16, store: &Path) -> Child {
    let mut child = Command::new(program)
        .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd"])
        .arg(store)
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("nats-server starts");
    let said = child.stderr.take().expect("its words are piped");
    let mut lines = BufReader::new(said).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("Server is ready")), "nats-server is not ready");
    std::thread::spawn(move || lines.for_each(drop));
    child
}

impl Server {
    /// `None`, with a printed notice, if nats-server is not installed.
    fn new(name: &str) -> Option<Self> {
        let Some(program) = program() else {
            println!("SKIPPED: nats-server is not installed (apt-get install nats-server)");
            return None;
        };
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = free.local_addr().expect("its address").port();
        drop(free);
        let store =
            std::env::temp_dir().join(format!("plimsoll-nats-{}-{name}", std::process::id()));
        let child = start(&program, port, &store);
        Some(Self { program, port, store, child })
    }

    fn kill(&mut self) {
        self.child.kill().expect("the server can be killed");
        self.child.wait().expect("it ends");
    }

    fn start_again(&mut self) {
        self.child = start(&self.program, self.port, &self.store);
    }

    fn connect(&self) -> Carrier {
        let access = ServerAccess {
            server: format!("nats://127.0.0.1:{}", self.port),
            credentials: Credentials::Anonymous,
            authority: None,
            name: "test".to_owned(),
        };
        Carrier::connect(&access).expect("a connection")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.store);
    }
}

fn ids() -> (RunId, AgentId) {
    let id = |text: &str| text.to_owned();
    (id("r1").try_into().expect("sound"), id("a1").try_into().expect("sound"))
}

#[test]
fn an_order_is_answered_and_silence_is_bounded() {
    let Some(server) = Server::new("order") else { return };
    let (one, other) = (server.connect(), server.connect());
    let orders = other.subscribe("plimsoll.v1.order.a1".to_owned()).expect("a subscription");
    let agent = std::thread::spawn(move || {
        let letter = orders.next(Duration::from_secs(10)).expect("an order");
        let reply = letter.reply.expect("a waiter");
        other.publish(reply, [letter.bytes, b" done".to_vec()].concat()).expect("sent");
        // Dropping a connection at once may lose its last message.
        other
    });
    std::thread::sleep(Duration::from_millis(200));
    let subject = || "plimsoll.v1.order.a1".to_owned();
    let answer = one.request(subject(), b"do".to_vec(), Duration::from_secs(5));
    assert_eq!(answer, Ok(b"do done".to_vec()));
    let _other = agent.join().expect("the agent ends");
    let began = Instant::now();
    assert!(one.request(subject(), b"do".to_vec(), Duration::from_secs(1)).is_err());
    assert!(began.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_journal_survives_the_death_of_the_server() {
    let Some(mut server) = Server::new("journal") else { return };
    let (run, agent) = ids();
    let carrier = server.connect();
    carrier.make_ready().expect("a stream");
    let piece = |offset: u64, text: &str, whole| JournalPiece { offset, whole, bytes: text.into() };
    let first = piece(0, "one\n", None);
    carrier.keep(&run, &agent, &first).expect("kept");
    server.kill();
    assert!(carrier.keep(&run, &agent, &piece(4, "two\n", None)).is_err(), "nothing keeps it");
    server.start_again();
    let last = piece(4, "two\n", Some(8));
    let began = Instant::now();
    while carrier.keep(&run, &agent, &last).is_err() {
        assert!(began.elapsed() < Duration::from_secs(30), "the client did not come back");
    }
    // Sent twice, as after an acknowledgement that was lost.
    carrier.keep(&run, &agent, &first).expect("kept");
    let reading = carrier.kept(&run, &agent, 0).expect("a journal");
    let (mut assembly, mut text) = (Assembly::default(), Vec::new());
    for chunk in &reading.chunks {
        text.extend_from_slice(assembly.take(chunk).expect("no gap"));
    }
    assert_eq!((text.as_slice(), assembly.is_complete()), (b"one\ntwo\n".as_slice(), true));
}

#[test]
fn one_controller_at_a_time() {
    let Some(server) = Server::new("lease") else { return };
    let (one, other) = (server.connect(), server.connect());
    let mut lease = one.take_lease("controller one".to_owned()).expect("the lease");
    let held = other.take_lease("controller two".to_owned());
    let by = "controller one".to_owned();
    assert_eq!(held.map(|lease| lease.epoch()), Err(CarrierError::Held { by }));
    one.renew_lease(&mut lease).expect("renewed");
    let epoch = lease.epoch();
    one.release_lease(&lease).expect("released");
    let next = other.take_lease("controller two".to_owned()).expect("the lease is free");
    assert!(next.epoch() > epoch);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let access = ServerAccess {
        server: "nats://127.0.0.1:9".to_owned(),
        credentials: Credentials::Anonymous,
        authority: None,
        name: "test".to_owned(),
    };
    let error = Carrier::connect(&access).expect_err("nothing listens there");
    assert!(error.to_string().contains("127.0.0.1:9"), "{error}");
}

/// The answer that `ask` passes on, or none within three seconds.
fn answer(ask: impl FnOnce(Box<dyn FnOnce(KeyAnswer) + Send>)) -> Option<KeyAnswer> {
    let (sender, answers) = channel();
    ask(Box::new(move |answer| drop(sender.send(answer))));
    answers.recv_timeout(Duration::from_secs(3)).ok()
}

#[test]
fn keys_change_only_at_the_expected_revision_and_expire_on_the_server() {
    let Some(server) = Server::new("keys") else { return };
    let (one, other) = (server.connect(), server.connect());
    let ttl = Some(Duration::from_secs(2));
    let (bucket, again) =
        (one.bucket("leases", ttl).expect("made"), other.bucket("leases", ttl).expect("found"));
    let longer = other.bucket("leases", Some(Duration::from_secs(3)));
    assert!(longer.expect_err("another expiry").to_string().contains("the same lease"));
    let key = || "mail.db".to_owned();
    let present = |revision| Some(KeyAnswer::Present { revision, value: b"one".to_vec() });
    let made = answer(|then| bucket.create(key(), b"one".to_vec(), then));
    assert_eq!(made, Some(KeyAnswer::Stored(1)));
    assert_eq!(answer(|then| again.create(key(), b"two".to_vec(), then)), present(1));
    let renewed = answer(|then| bucket.replace(key(), 1, b"one".to_vec(), then));
    assert_eq!(renewed, Some(KeyAnswer::Stored(2)));
    assert_eq!(answer(|then| again.replace(key(), 1, b"two".to_vec(), then)), present(2));
    again.remove(key(), 1);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(answer(|then| again.read(key(), then)), present(2), "removed only at its revision");
    std::thread::sleep(Duration::from_millis(2_500));
    assert_eq!(answer(|then| again.read(key(), then)), Some(KeyAnswer::Absent), "expired");
    let late = answer(|then| bucket.replace(key(), 2, b"one".to_vec(), then));
    assert_eq!(late, Some(KeyAnswer::Absent), "an expired key is not renewed");
    let taken = answer(|then| again.create(key(), b"two".to_vec(), then));
    assert!(matches!(taken, Some(KeyAnswer::Stored(revision)) if revision > 2), "{taken:?}");
}

#[test]
fn keys_without_expiry_survive_the_death_of_the_server() {
    let Some(mut server) = Server::new("lasting-keys") else { return };
    let carrier = server.connect();
    let bucket = carrier.bucket("volumes", None).expect("made");
    let made = carrier.create_key(&bucket, "mail", b"one".to_vec());
    assert_eq!(made, Ok(KeyAnswer::Stored(1)));
    server.kill();
    let silence = answer(|then| bucket.replace("mail".to_owned(), 1, b"two".to_vec(), then));
    assert_eq!(silence, None, "no answer is not a refusal");
    server.start_again();
    let began = Instant::now();
    let mut found = None;
    while found.is_none() {
        assert!(began.elapsed() < Duration::from_secs(30), "the client did not come back");
        found = answer(|then| bucket.read("mail".to_owned(), then));
    }
    let Some(KeyAnswer::Present { value, .. }) = found else { panic!("{found:?}") };
    // The change may have been carried out late, but never in part.
    assert!(value == b"one" || value == b"two", "{value:?}");
}

/// When two hosts created a bucket at the same moment, about one in a few hundred was refused or
/// got no answer, and its volume server exited.
#[test]
fn hosts_that_make_a_bucket_at_once_both_have_it() {
    let Some(server) = Server::new("at-once") else { return };
    let carriers = [server.connect(), server.connect()];
    for number in 0..BUCKETS {
        let name = format!("volume{number}");
        let read = |carrier: &Carrier| carrier.read_key(&carrier.bucket(&name, None)?, "mail");
        let [one, other] = &carriers;
        let read = std::thread::scope(|scope| {
            let concurrent = scope.spawn(|| read(other));
            [read(one), concurrent.join().expect("it ends")]
        });
        assert_eq!(read, [Ok(KeyAnswer::Absent), Ok(KeyAnswer::Absent)], "{name}");
    }
}
