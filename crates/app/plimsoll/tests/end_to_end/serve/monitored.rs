//! What monitoring sees of a live run: a collector of OpenTelemetry that metrics are pushed to, and
//! a real Prometheus that scrapes native histograms.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use serde_json::Value;
use testkit::peers::PythonReaders;

use super::http::{Request, Server};
use super::{live_run, wait_for};
use crate::scene::Scene;

/// A request that a collector has taken: its head and its body.
type Taken = (String, String);

/// A collector that answers with success; its address, and what it takes.
fn collector() -> (String, Receiver<Taken>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, taken) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            if sender.send(take(stream.unwrap())).is_err() {
                return;
            }
        }
    });
    (address, taken)
}

fn take(mut stream: TcpStream) -> Taken {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() <= 2 {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\
                  Connection: close\r\n\r\n{}";
    stream.write_all(answer.as_bytes()).unwrap();
    (head, String::from_utf8(body).unwrap())
}

#[test]
fn a_collector_is_pushed_what_its_schema_reads() {
    let (address, taken) = collector();
    let scene = Scene::prepared("serve-otlp");
    let url = format!("http://{address}");
    let words = [".", "--otlp", &url, "--otlp-interval", "1s"];
    let headers = ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20secret");
    let server = Server::start_with(&scene, &words, &[headers]);
    let id = live_run(&scene, &server);
    let (head, body) = wait_for("a push of latencies", || {
        taken.try_iter().find(|(_, body)| body.contains("bucketCounts\":[\""))
    });
    assert!(head.starts_with("POST /v1/metrics HTTP/1.1"), "{head}");
    assert!(head.to_lowercase().contains("api-key: a secret"), "{head}");
    assert!(head.to_lowercase().contains("content-type: application/json"), "{head}");
    assert!(body.contains(&id) && !body.contains(&server.token), "{body}");
    server.ask(&Request::post(&format!("/stop/{id}"), "").token(&server.token)).expect(303);
    let Some(readers) = PythonReaders::from_environment("the published schema of OTLP") else {
        return;
    };
    scene.write("request.json", body.as_bytes());
    let read = readers.read_otlp(&scene.path("request.json")).unwrap();
    let line = read.lines().find(|line| line.contains(" database_read ")).expect("reads");
    let parts: Vec<&str> = line.split(' ').collect();
    assert_eq!((parts[0], parts[2]), ("plimsoll_run_latency_seconds", parts[3]), "{line}");
    let [first, last] = [4, 5].map(|at| parts[at].parse::<f64>().unwrap());
    assert!(first > 5e-7 && last < 100.0 && first < last, "{line}");
}

#[test]
fn a_collector_that_is_gone_is_said_once_and_changes_nothing_else() {
    let scene = Scene::new("serve-otlp-gone");
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let url = format!("http://{gone}");
    let words = [".", "--otlp", &url, "--otlp-interval", "1s"];
    let mut server = Server::start_with(&scene, &words, &[]);
    thread::sleep(std::time::Duration::from_secs(3));
    server.get("/").expect(200);
    let said = server.said();
    assert_eq!(said.matches("does not take metrics").count(), 1, "{said}");
    for (url, part) in [("collector:4318", "no address of a collector"), ("ftp://a", "http://")] {
        let refused = scene.run(["serve", ".", "--otlp", url]);
        refused.expect_code(64).expect_err(&[url, part]);
    }
    let mut command = scene.command(["serve", ".", "--otlp", "http://a"]);
    let output = command.env("OTEL_EXPORTER_OTLP_HEADERS", "a-secret").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(64) && !said.contains("a-secret"), "{said}");
}

/// A Prometheus that scrapes a server every second.
pub(super) struct Prometheus {
    child: Child,
    address: String,
}

impl Prometheus {
    /// None where the machine has none, which is said.
    pub(super) fn start(scene: &Scene, server: &Server) -> Option<Self> {
        if Command::new("prometheus").arg("--version").output().is_err() {
            let said = "skipped: no Prometheus scrapes the server (Debian: prometheus)";
            let _ = writeln!(std::io::stderr(), "{said}");
            return None;
        }
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let config = format!(
            "scrape_configs:\n- job_name: plimsoll\n  scrape_interval: 1s\n  static_configs:\n  \
             - targets: ['{}']\n",
            server.address
        );
        scene.write("prometheus.yml", config.as_bytes());
        let mut command = Command::new("prometheus");
        command.args(["--enable-feature=native-histograms", "--config.file=prometheus.yml"]);
        command.arg("--storage.tsdb.path=prometheus");
        command.arg(format!("--web.listen-address={address}")).current_dir(&scene.folder);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Some(Self { child, address })
    }

    /// The value of a query, where it has one.
    pub(super) fn value(&self, query: &str) -> Option<f64> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        let request =
            format!("GET /api/v1/query?query={query} HTTP/1.0\r\nHost: {}\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        let answer: Value = serde_json::from_str(text.split_once("\r\n\r\n")?.1).ok()?;
        answer["data"]["result"][0]["value"][1].as_str()?.parse().ok()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_prometheus_reads_percentiles_out_of_native_histograms() {
    let scene = Scene::prepared("serve-prometheus");
    let server = Server::start(&scene, &["."]);
    let Some(prometheus) = Prometheus::start(&scene, &server) else {
        return;
    };
    let id = live_run(&scene, &server);
    let of_reads = "(plimsoll_run_latency_seconds%7Bkind=%22database_read%22%7D)";
    let count = wait_for("a native histogram", || {
        prometheus.value(&format!("histogram_count{of_reads}")).filter(|count| *count > 0.0)
    });
    let median = of_reads.replace('(', "(0.5,");
    let median = prometheus.value(&format!("histogram_quantile{median}")).unwrap();
    let sum = prometheus.value(&format!("histogram_sum{of_reads}")).unwrap();
    assert!(count >= 1.0 && sum > 0.0 && median > 1e-6 && median < 10.0, "{count} {sum} {median}");
    let runs = prometheus.value("plimsoll_runs%7Bverdict=%22live%22%7D");
    assert_eq!(runs, Some(1.0));
    server.ask(&Request::post(&format!("/stop/{id}"), "").token(&server.token)).expect(303);
}
