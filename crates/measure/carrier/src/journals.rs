//! Journals in a stream that the server keeps on disk until they are collected.

use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::stream::{Config, Stream};
use fleet::{AgentId, JournalPiece, RunId};
use futures_util::StreamExt as _;

use crate::subject::{self, EVERY_RESULT};
use crate::{Carrier, CarrierError};

const STREAM: &str = "PLIMSOLL_RESULTS";
const OFFSET: &str = "Plimsoll-Offset";
const WHOLE: &str = "Plimsoll-Whole";
const MESSAGE_ID: &str = "Nats-Msg-Id";

/// Time within which the server recognises a repeated piece; later ones are recognised by their
/// offset.
const KNOWN_FOR: Duration = Duration::from_mins(2);

/// Uncollected results of a run are deleted after this time.
const KEPT_FOR: Duration = Duration::from_hours(30 * 24);

/// A reader that waits longer than this for the next message has reached the end of the stream.
const NEXT_WITHIN: Duration = Duration::from_secs(2);

/// Pieces read from a journal on the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptJournal {
    /// The pieces, in the order in which they were kept.
    pub chunks: Vec<JournalPiece>,
    /// Number of messages that are not pieces of a journal.
    pub malformed: u64,
    /// Stream position of the last message read; the requested position if there was none.
    pub read_to: u64,
}

impl Carrier {
    /// Opens the stream, creating it if it is missing.
    fn results(&self) -> Result<Stream, CarrierError> {
        let config = Config {
            name: STREAM.to_owned(),
            subjects: vec![EVERY_RESULT.to_owned()],
            duplicate_window: KNOWN_FOR,
            max_age: KEPT_FOR,
            ..Config::default()
        };
        self.make_stream("make the stream of results", &config)
    }

    /// Creates the stream of journals if it is missing.
    pub fn make_ready(&self) -> Result<(), CarrierError> {
        self.results().map(drop)
    }

    /// Stores a piece of a journal on the server; returns once it is stored.
    pub fn keep(
        &self,
        run: &RunId,
        agent: &AgentId,
        chunk: &JournalPiece,
    ) -> Result<(), CarrierError> {
        let mut headers = HeaderMap::new();
        headers.insert(MESSAGE_ID, chunk.id(run, agent).as_str());
        headers.insert(OFFSET, chunk.offset.to_string().as_str());
        if let Some(whole) = chunk.whole {
            headers.insert(WHOLE, whole.to_string().as_str());
        }
        let subject = subject::results(run, agent);
        let bytes = chunk.bytes.clone().into();
        self.wait("keep a journal", async {
            let acknowledged = self.jetstream.publish_with_headers(subject, headers, bytes).await?;
            acknowledged.await
        })
        .map(drop)
    }

    /// The stored part of the journal of `agent` in `run` after a position in the stream; 0 is the
    /// start.
    pub fn kept(
        &self,
        run: &RunId,
        agent: &AgentId,
        read_to: u64,
    ) -> Result<KeptJournal, CarrierError> {
        let stream = self.results()?;
        let config = pull::OrderedConfig {
            filter_subject: subject::results(run, agent),
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: read_to + 1 },
            ..pull::OrderedConfig::default()
        };
        let consumer = self.wait("read a journal", stream.create_consumer(config))?;
        if consumer.cached_info().num_pending == 0 {
            return Ok(KeptJournal { read_to, ..KeptJournal::default() });
        }
        self.runtime.block_on(async {
            let messages = consumer.messages().await;
            let mut messages =
                messages.map_err(|error| CarrierError::refused("read a journal", &error))?;
            let mut reading = KeptJournal { read_to, ..KeptJournal::default() };
            while let Ok(Some(message)) = tokio::time::timeout(NEXT_WITHIN, messages.next()).await {
                let message =
                    message.map_err(|error| CarrierError::refused("read a journal", &error))?;
                let (pending, place) = message
                    .info()
                    .map_or((1, read_to), |info| (info.pending, info.stream_sequence));
                reading.read_to = reading.read_to.max(place);
                match chunk_of(message.headers.as_ref(), &message.payload) {
                    Some(chunk) => reading.chunks.push(chunk),
                    None => reading.malformed += 1,
                }
                if pending == 0 {
                    break;
                }
            }
            Ok(reading)
        })
    }
}

fn chunk_of(headers: Option<&HeaderMap>, payload: &[u8]) -> Option<JournalPiece> {
    let headers = headers?;
    let whole = match headers.get(WHOLE) {
        Some(_) => Some(number(headers, WHOLE)?),
        None => None,
    };
    Some(JournalPiece { offset: number(headers, OFFSET)?, whole, bytes: payload.to_vec() })
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.as_str().parse().ok()
}
