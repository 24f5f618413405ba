//! The server as a child, and a client that sends exactly what a test says.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::scene::Scene;

/// A server that ends with its test.
pub(super) struct Server {
    pub child: Child,
    /// What a client connects to.
    pub address: String,
    pub token: String,
}

/// Folder in which the servers of a scene keep their caches.
pub(super) fn caches(scene: &Scene) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("caches").join(scene.folder.file_name().unwrap())
}

/// A request, byte for byte.
#[derive(Clone)]
pub(super) struct Request {
    method: &'static str,
    target: String,
    host: Option<String>,
    headers: Vec<(String, String)>,
    body: String,
}

pub(super) struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Server {
    /// Started in the scene's folder, on a free port unless `words` name one.
    pub(super) fn start(scene: &Scene, words: &[&str]) -> Self {
        Self::start_with(scene, words, &[])
    }

    /// The same with these variables in its environment.
    pub(super) fn start_with(scene: &Scene, words: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut all = vec!["--quiet", "serve"];
        all.extend(words);
        if !words.contains(&"--listen") {
            all.extend(["--listen", "127.0.0.1:0"]);
        }
        let mut command = scene.command(&all);
        command.env("XDG_CACHE_HOME", caches(scene)).envs(environment.iter().copied());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (address, token) = line.trim().split_once("/?token=").expect("address and token");
        let address = address.trim_start_matches("http://").replace("0.0.0.0", "127.0.0.1");
        Self { child, address, token: token.to_owned() }
    }

    /// Ends it; what it has said on its error output.
    pub(super) fn said(&mut self) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }

    pub(super) fn port(&self) -> &str {
        self.address.rsplit_once(':').unwrap().1
    }

    pub(super) fn get(&self, target: &str) -> Answer {
        self.ask(&Request::get(target))
    }

    pub(super) fn ask(&self, request: &Request) -> Answer {
        self.send(&request.bytes(&self.address))
    }

    /// Sends these bytes and reads the answer until the server is done.
    pub(super) fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(2))).unwrap();
        // A server that refuses a head may close before it has read all of it.
        let _ = stream.write_all(bytes);
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        Answer::of(&String::from_utf8_lossy(&all))
    }

    /// Reads a stream of events until one is `wanted`.
    pub(super) fn watch(&self, target: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(2))).unwrap();
        stream.write_all(&Request::get(target).bytes(&self.address)).unwrap();
        for line in BufReader::new(stream).lines() {
            let line = line.unwrap();
            let event =
                line.strip_prefix("data: ").and_then(|data| serde_json::from_str(data).ok());
            if let Some(event) = event.filter(|event| wanted(event)) {
                return event;
            }
        }
        panic!("the stream ended");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut said = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            let _ = stderr.read_to_string(&mut said);
        }
        assert!(std::thread::panicking() || !said.contains("bug in plimsoll"), "{said}");
    }
}

impl Request {
    pub(super) fn get(target: &str) -> Self {
        let (target, body) = (target.to_owned(), String::new());
        Self { method: "GET", target, host: None, headers: Vec::new(), body }
    }

    pub(super) fn post(target: &str, form: &str) -> Self {
        let kind = "application/x-www-form-urlencoded";
        let body = form.to_owned();
        Self { method: "POST", body, ..Self::get(target) }.header("Content-Type", kind)
    }

    pub(super) fn host(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn token(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    fn bytes(&self, address: &str) -> Vec<u8> {
        let host = self.host.as_deref().unwrap_or(address);
        let (method, target, body) = (self.method, &self.target, &self.body);
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let text = format!(
            "{method} {target} HTTP/1.1\r\nHost: {host}\r\n{}Content-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            headers.collect::<Vec<_>>().concat(),
            body.len()
        );
        text.into_bytes()
    }
}

impl Answer {
    fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(super) fn header(&self, name: &str) -> Option<String> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(of, _)| of.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    }

    #[track_caller]
    pub(super) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.body);
        self
    }

    #[track_caller]
    pub(super) fn expect_in(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.body.contains(part), "`{part}` is not in:\n{}", self.body);
        }
    }
}
