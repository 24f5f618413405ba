//! Ten thousand requests that no browser would make: the server survives, reads nothing outside its
//! folder, and changes nothing, since none of them has the token; and as many more with it, none of
//! which requests a permitted action.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::time::Duration;

use units::Prng;

use super::http::Server;
use super::two_runs;
use crate::scene::Scene;

const REQUESTS: u32 = 10_000;

/// What only a file outside the folder holds.
const SECRET: &str = "a-secret-outside-the-folder";

/// Parts of requests. `{}` is replaced by the path of a file outside.
const METHODS: &[&str] = &["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "get", "\0", ""];
const PLACES: &[&str] = &[
    "/",
    "/run/",
    "/live/",
    "/events/",
    "/stop/",
    "/start",
    "/compare?run=",
    "/api/runs?q=",
    "/metrics",
    "//",
    "/style.css",
    "http://evil.example/",
    "*",
    "/?token=",
    "/run",
    "/size?tier.1.mailboxes=",
    "/sized?document=",
    "/sized?",
    "/simulate",
    "/what-if/",
    "/trend?machine=",
    "/caches",
];
const PARTS: &[&str] = &[
    "..",
    "/",
    "%2e%2e",
    "%2f",
    "%5c",
    "\\",
    "%00",
    "{}",
    "one",
    "runs/one",
    "two",
    "record.jsonl",
    "%",
    "%zz",
    "?",
    "#",
    "&run=",
    "&",
    "=",
    "\u{e4}",
    ".",
    "//",
    "report.html",
    "%c0%ae",
    "%ff",
    "C:",
    "~",
    "secret",
    "plan.toml",
    "linked",
    ";",
];
const HEADERS: &[&str] = &[
    "Origin: http://evil.example",
    "Origin: null",
    "Authorization: Bearer 0",
    "Cookie: a=b",
    "Authorization: Basic eDp5",
    "Content-Length: 5",
    "Content-Length: -1",
    "Host: evil.example",
    "Transfer-Encoding: chunked",
    "Content-Type: application/x-www-form-urlencoded",
    "Range: bytes=0-",
    "Cookie: plimsoll-token-1=0; ;=;",
    "Sec-Fetch-Site: cross-site",
    "X:\u{1}",
    "Expect: 100-continue",
    "Upgrade: h2c",
    "Accept: text/event-stream",
    "X-Forwarded-Host: 127.0.0.1",
];
/// None of them is a right one.
const CREDENTIALS: &[&str] = &[
    "Authorization: Bearer 00000000000000000000000000000000",
    "Authorization: Bearer ",
    "Cookie: plimsoll-token-8437=0; plimsoll-token=",
    "Origin: http://evil.example",
    "Origin: null",
    "Sec-Fetch-Site: same-origin",
    "X-Forwarded-For: 127.0.0.1",
];
const BODIES: &[&str] =
    &["", "plan=plan.toml", "plan=../plan.toml", "plan={}", "\0\0", "5\r\nhello\r\n"];

fn one<'a>(random: &mut Prng, all: &[&'a str]) -> &'a str {
    all[below(random, all.len())]
}

fn below(random: &mut Prng, bound: usize) -> usize {
    usize::try_from(random.below(bound as u64)).unwrap()
}

/// A form that would start or stop a run, were it not for its token or its origin.
fn change(random: &mut Prng, address: &str) -> Vec<u8> {
    let targets = ["/start", "/simulate", "/stop/runs/one", "/start?token=0", "/size", "/sized"];
    let target = one(random, &targets);
    let simulation = "plan=plan.toml&array=nvme&duration=30s&changes=";
    let bodies = ["plan=plan.toml", "plan=linked.toml", "plan=linked/plan.toml", simulation];
    let body = one(random, &bodies);
    let length = body.len();
    let mut text = format!(
        "POST {target} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n"
    );
    for _ in 0..below(random, 3) {
        text += one(random, CREDENTIALS);
        text += "\r\n";
    }
    [text.as_bytes(), b"\r\n", body.as_bytes()].concat()
}

/// A request; most are well formed enough to reach a route.
fn request(random: &mut Prng, address: &str, outside: &str) -> Vec<u8> {
    if random.percent(10) {
        return change(random, address);
    }
    let method = if random.percent(33) { one(random, METHODS) } else { "GET" };
    let mut target = one(random, PLACES).to_owned();
    for _ in 0..below(random, 6) {
        target += one(random, PARTS);
    }
    let host = if random.percent(12) { "evil.example" } else { address };
    let mut text = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n");
    for _ in 0..below(random, 4) {
        text += one(random, HEADERS);
        text += "\r\n";
    }
    text += "Connection: close\r\n\r\n";
    text += one(random, BODIES);
    let mut bytes = text.replace("{}", outside).into_bytes();
    if random.percent(10) {
        let at = below(random, bytes.len());
        bytes[at] = random.next_u64().to_le_bytes()[0];
    }
    if random.percent(5) {
        bytes.truncate(below(random, bytes.len()));
    }
    bytes
}

/// Keys of a deployment and of an array, and what else may stand in front of a value.
const KEYS: &[&str] = &[
    "tier.1.mailboxes",
    "tier.1.size_limit",
    "tier.2.mailboxes",
    "availability.servers_per_site",
    "availability.copies",
    "availability.dags",
    "disks.database.size",
    "servers.cores",
    "data.databases",
    "second_site.model",
    "raid.level",
    "raid.disks",
    "document",
    "further",
    "scenarios",
    "changes",
    "plan",
    "array",
    "duration",
    "",
];
const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "4",
    "16",
    "1000000",
    "18446744073709551616",
    "1e308",
    "nan",
    "0B",
    "16EiB",
    "%22",
    "active/active",
    "%7B+size+%3D+%221GB%22+%7D",
    "a+%3D+1,2,3",
    "availability.copies+%3D+1,2,3,4",
    "--output%3D/tmp",
    "linked.toml",
    "linked/plan.toml",
    "..%2Fplan.toml",
    "{}/plan.toml",
    "{}",
    "runs%2Fone",
    "%00",
    "%0A%0A",
    "",
    "[[]]",
    "%F0%9F%9A%A2",
];

/// A form with the token that names nothing which may be started: no plan of the folder is in it.
fn allowed(random: &mut Prng, address: &str, token: &str, outside: &str) -> Vec<u8> {
    let mut fields = String::new();
    for _ in 0..=below(random, 5) {
        let (key, value) = (one(random, KEYS), one(random, VALUES));
        fields.extend([key, "=", value, "&"]);
    }
    let fields = fields.replace("{}", outside);
    let targets = ["/start", "/simulate", "/stop/", "/stop/runs/one", "/what-if/", "/sized"];
    let target = one(random, &targets);
    let text = if target == "/sized" || random.percent(50) {
        let place = one(random, &["/sized", "/size", "/simulate", "/trend", "/", "/compare"]);
        format!("GET {place}?{fields} HTTP/1.1\r\nHost: {address}\r\n")
    } else {
        format!(
            "POST {target} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n",
            fields.len()
        )
    };
    let body = if text.starts_with("POST") { &*fields } else { "" };
    format!("{text}Authorization: Bearer {token}\r\nConnection: close\r\n\r\n{body}").into_bytes()
}

/// What the server answers, as far as it comes at once; a request without an end gets none.
fn answer(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(&server.address).expect("the server is there");
    stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    read(stream)
}

/// What it answers to a whole request, which may be work for it.
fn worked_out(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(&server.address).expect("the server is there");
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(bytes).unwrap();
    let said = read(stream);
    let asked = String::from_utf8_lossy(bytes);
    assert!(!said.is_empty(), "no answer within 30 s to:\n{asked}");
    said
}

fn read(mut stream: TcpStream) -> String {
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    String::from_utf8_lossy(&all).into_owned()
}

/// A folder of runs with links out of it, what they lead to, and a server.
fn scenes(name: &str) -> (Scene, Scene, Server) {
    let scene = two_runs(name);
    let outside = Scene::new("serve-fuzz-outside");
    // A run that every list and report of it would tell by its name.
    let journal = String::from_utf8(scene.read("runs/one/record.jsonl")).unwrap();
    outside.write("record.jsonl", journal.replace("array a", SECRET).as_bytes());
    let plan = String::from_utf8(scene.read("plan.toml")).unwrap();
    outside.write("plan.toml", format!("# {SECRET}\n{plan}").as_bytes());
    symlink(&outside.folder, scene.path("linked")).unwrap();
    symlink(outside.path("plan.toml"), scene.path("linked.toml")).unwrap();
    let server = Server::start(&scene, &["."]);
    server.get("/api/runs").expect(200);
    (scene, outside, server)
}

/// Sends requests and expects that none brings the server down, reads outside, or changes a file.
fn expect_harmless(
    (scene, outside, server): &mut (Scene, Scene, Server),
    send: fn(&Server, &[u8]) -> String,
    mut next: impl FnMut(&str, &str) -> Vec<u8>,
) {
    let before = (scene.snapshot(), outside.snapshot());
    let (mut answered, mut shown) = (0, 0);
    for number in 0..REQUESTS {
        let bytes = next(&server.address, &outside.folder.display().to_string());
        let said = send(server, &bytes);
        let asked = String::from_utf8_lossy(&bytes);
        assert!(!said.contains(SECRET), "request {number} reads outside:\n{asked}\n{said}");
        assert!(!said.starts_with("HTTP/1.1 5"), "request {number}:\n{asked}\n{said}");
        answered += u32::from(!said.is_empty());
        shown += u32::from(said.starts_with("HTTP/1.1 200"));
    }
    assert!(answered > REQUESTS / 2 && shown > REQUESTS / 20, "{answered} answered, {shown} shown");
    assert_eq!(server.child.try_wait().unwrap(), None, "the server is still there");
    server.get("/run/runs/one").expect(200);
    let after = (scene.snapshot(), outside.snapshot());
    assert!(after == before, "a request that may do nothing has changed a file");
}

#[test]
fn ten_thousand_requests_change_nothing_and_read_nothing_outside() {
    let mut random = Prng::new(units::Seed(17));
    let mut scenes = scenes("serve-fuzz");
    expect_harmless(&mut scenes, answer, |address, outside| request(&mut random, address, outside));
}

#[test]
fn the_token_lets_nothing_out_of_the_folder() {
    let mut random = Prng::new(units::Seed(18));
    let mut scenes = scenes("serve-fuzz-token");
    let token = scenes.2.token.clone();
    expect_harmless(&mut scenes, worked_out, |address, outside| {
        allowed(&mut random, address, &token, outside)
    });
}
