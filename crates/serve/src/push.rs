//! Metrics pushed to a collector of OpenTelemetry, for machines that none scrapes: now and then, on
//! a thread of its own, since a collector may be slow or gone.

mod address;

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustls::crypto::ring;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::clock::epoch_ns;
use crate::metrics::otlp;
use crate::runs::ServedRuns;

pub use address::{OtlpTarget, OtlpTargetError};

/// No push waits longer for the collector.
const LONGEST_PUSH: Duration = Duration::from_secs(10);

/// Pushes metrics to `target` every `pace`, for as long as the program goes on.
pub(crate) fn push_now_and_then(
    runs: ServedRuns,
    target: OtlpTarget,
    pace: Duration,
) -> io::Result<()> {
    let agent = agent();
    let named = thread::Builder::new().name("otlp".to_owned());
    let thread = named.spawn(move || {
        // What has been said of the collector is not said again until it changes.
        let mut problem = None;
        loop {
            let told = push(&agent, &target, &runs).err();
            if told != problem {
                let text = told.as_ref().map_or_else(
                    || format!("{target}: takes metrics again"),
                    |why| format!("{target}: does not take metrics: {why}; tried again soon"),
                );
                runs.machine().remark(&text);
            }
            problem = told;
            thread::sleep(pace);
        }
    });
    thread.map(drop)
}

fn push(agent: &Agent, target: &OtlpTarget, runs: &ServedRuns) -> Result<(), String> {
    let now_ns = epoch_ns();
    let body = otlp::request(&runs.metrics(now_ns), now_ns).to_string();
    let mut request = agent.post(target.address());
    for (name, value) in target.headers() {
        request = request.header(name, value);
    }
    let request = request.header("Content-Type", "application/json");
    let answer = request.send(body.as_bytes()).map_err(|error| error.to_string())?;
    let status = answer.status();
    if status.is_success() { Ok(()) } else { Err(format!("it answers with {status}")) }
}

/// Trusts whom the system trusts, and follows no redirect: the headers may hold a key.
fn agent() -> Agent {
    let found = rustls_native_certs::load_native_certs().certs;
    let roots = found.iter().map(|root| Certificate::from_der(root).to_owned());
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots.collect())))
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .build();
    let config = Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(LONGEST_PUSH))
        .user_agent("plimsoll");
    config.build().into()
}
