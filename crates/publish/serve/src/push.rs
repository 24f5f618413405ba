//! Pushes metrics to an OpenTelemetry collector, for machines without a scraper: periodically, on a
//! separate thread, since a collector may be slow or down.

mod address;

use std::io;
use std::thread;
use std::time::Duration;

use ureq::Agent;
use ureq::tls::TlsConfig;

use crate::clock::epoch_ns;
use crate::metrics::{self, otlp};
use crate::runs::ServedRuns;

pub use address::{OtlpTarget, OtlpTargetError};

/// Timeout of one push to the collector.
const LONGEST_PUSH: Duration = Duration::from_secs(10);

/// Target and interval of the push.
pub struct OtlpPush {
    /// The collector.
    pub target: OtlpTarget,
    /// Interval between two pushes.
    pub pace: Duration,
    /// Trust settings, used if the address asks for TLS.
    pub tls: TlsConfig,
}

/// Pushes metrics until the program ends.
pub(crate) fn push_now_and_then(runs: ServedRuns, order: OtlpPush) -> io::Result<()> {
    let OtlpPush { target, pace, tls } = order;
    let agent = agent(tls);
    let named = thread::Builder::new().name("otlp".to_owned());
    let thread = named.spawn(move || {
        // The same problem is reported once, until it changes or is over.
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
    let body = otlp::request(&metrics::of_all(runs, now_ns), now_ns).to_string();
    let mut request = agent.post(target.address());
    for (name, value) in target.headers() {
        request = request.header(name, value);
    }
    let request = request.header("Content-Type", "application/json");
    let answer = request.send(body.as_bytes()).map_err(|error| error.to_string())?;
    let status = answer.status();
    if status.is_success() { Ok(()) } else { Err(format!("it answers with {status}")) }
}

/// An agent that follows no redirects, since the headers may contain a key.
fn agent(tls: TlsConfig) -> Agent {
    let config = Agent::config_builder().tls_config(tls).timeout_global(Some(LONGEST_PUSH));
    config
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .build()
        .into()
}
