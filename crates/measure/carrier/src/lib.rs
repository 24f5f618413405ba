//! Messages, journals and leases of a fleet over NATS, for callers without a runtime.
//!
//! NATS core carries heartbeats and orders, a `JetStream` stream keeps the journals until they are
//! collected, and a key-value bucket holds the lease of the single controller. This crate isolates
//! the client and its runtime; [`fleet`] defines the meaning of the messages.

mod access;
mod error;
mod journals;
mod keys;
mod lease;
mod letters;
mod outbox;
mod subject;
mod work;

use std::future::Future;
use std::time::Duration;

use async_nats::jetstream;
use async_nats::jetstream::stream::{Config, Stream};
use tokio::runtime::Runtime;
use units::Nanos;

pub use access::{Credentials, ServerAccess};
pub use error::CarrierError;
pub use journals::KeptJournal;
pub use keys::{Bucket, KeyAnswer, KeyListener};
pub use lease::Lease;
pub use letters::{Letter, LetterListener, Letters, Listening, Replies};
pub use outbox::Outbox;
pub use subject::{EVERY_BEAT, beats, clocks, orders};
pub use work::{WorkItem, WorkLeft, WorkQueue};

/// Longest wait for an answer of the server itself.
const PATIENCE: Duration = Duration::from_secs(5);

/// Attempts at a request that is safe to retry, [`ATTEMPT`] each.
const ATTEMPTS: u32 = 3;

/// Longest wait for the answer to one attempt.
const ATTEMPT: Duration = Duration::from_secs(2);

/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(200);

/// A longer round trip is useless for bounding a clock offset.
const ROUND_TRIP: Duration = Duration::from_millis(500);

/// An answer, and the clock before the request and after the answer.
pub type RoundTrip = (Nanos, Vec<u8>, Nanos);

/// A connection to the NATS server of a fleet. It reconnects by itself.
#[derive(Debug)]
pub struct Carrier {
    runtime: Runtime,
    client: async_nats::Client,
    jetstream: jetstream::Context,
}

impl Carrier {
    /// Connects. Fails with an error that names the server if it is unreachable or refuses.
    pub fn connect(access: &ServerAccess) -> Result<Self, CarrierError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("nats")
            .enable_all()
            .build()
            .map_err(|error| CarrierError::Runtime { why: error.to_string() })?;
        let client = runtime.block_on(access.connect())?;
        // The tasks of `JetStream` belong to this runtime.
        let jetstream = {
            let _entered = runtime.enter();
            jetstream::new(client.clone())
        };
        Ok(Self { runtime, client, jetstream })
    }

    /// Whether the connection is up now.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == async_nats::connection::State::Connected
    }

    /// Sends a message without acknowledgement.
    pub fn publish(&self, subject: String, bytes: Vec<u8>) -> Result<(), CarrierError> {
        self.wait("publish", self.client.publish(subject, bytes.into()))
    }

    /// Sends a question and waits for its answer.
    pub fn request(
        &self,
        subject: String,
        bytes: Vec<u8>,
        patience: Duration,
    ) -> Result<Vec<u8>, CarrierError> {
        let asked = self.client.request(subject, bytes.into());
        let answer = self.runtime.block_on(async { tokio::time::timeout(patience, asked).await });
        match answer {
            Err(_) => Err(CarrierError::Silence { seconds: patience.as_secs_f64().to_string() }),
            Ok(Err(error)) => Err(CarrierError::refused("ask an agent", &error)),
            Ok(Ok(message)) => Ok(message.payload.to_vec()),
        }
    }

    /// Sends a question; `then` gets the answer on another thread, if one comes in time.
    pub fn request_then(
        &self,
        subject: String,
        bytes: Vec<u8>,
        patience: Duration,
        then: Box<dyn FnOnce(Vec<u8>) + Send>,
    ) {
        let client = self.client.clone();
        self.runtime.spawn(async move {
            let asked = client.request(subject, bytes.into());
            if let Ok(Ok(message)) = tokio::time::timeout(patience, asked).await {
                then(message.payload.to_vec());
            }
        });
    }

    /// Sends `count` empty requests in sequence; `then` receives the answers on another thread,
    /// each between the `clock` readings before and after it.
    pub fn round_trips(
        &self,
        subject: String,
        count: usize,
        clock: fn() -> Nanos,
        then: Box<dyn FnOnce(Vec<RoundTrip>) + Send>,
    ) {
        let client = self.client.clone();
        self.runtime.spawn(async move {
            let mut answers = Vec::new();
            for _ in 0..count {
                let sent = clock();
                let asked = client.request(subject.clone(), Vec::new().into());
                if let Ok(Ok(message)) = tokio::time::timeout(ROUND_TRIP, asked).await {
                    answers.push((sent, message.payload.to_vec(), clock()));
                }
            }
            then(answers);
        });
    }

    /// Runs `future`, for [`PATIENCE`] at most.
    fn wait<T, E: std::fmt::Display>(
        &self,
        what: &'static str,
        future: impl Future<Output = Result<T, E>>,
    ) -> Result<T, CarrierError> {
        self.wait_for(PATIENCE, what, future)
    }

    /// Sends an idempotent request. If two hosts create a bucket at the same moment, about one
    /// request in 250 fails for a transient reason, or is not answered at all (nats-server 2.9).
    fn ask_again<T, E: std::fmt::Display, F: Future<Output = Result<T, E>>>(
        &self,
        what: &'static str,
        question: impl Fn() -> F,
    ) -> Result<T, CarrierError> {
        for _ in 1..ATTEMPTS {
            if let Ok(answer) = self.wait_for(ATTEMPT, what, question()) {
                return Ok(answer);
            }
            self.runtime.block_on(async { tokio::time::sleep(PAUSE).await });
        }
        self.wait_for(ATTEMPT, what, question())
    }

    /// Opens a stream, and makes it if it does not exist.
    fn make_stream(&self, what: &'static str, config: &Config) -> Result<Stream, CarrierError> {
        self.ask_again(what, || self.jetstream.get_or_create_stream(config.clone()))
    }

    fn wait_for<T, E: std::fmt::Display>(
        &self,
        patience: Duration,
        what: &'static str,
        future: impl Future<Output = Result<T, E>>,
    ) -> Result<T, CarrierError> {
        let bounded = async { tokio::time::timeout(patience, future).await };
        match self.runtime.block_on(bounded) {
            Err(_) => Err(CarrierError::Silence { seconds: patience.as_secs_f64().to_string() }),
            Ok(result) => result.map_err(|error| CarrierError::refused(what, &error)),
        }
    }
}
