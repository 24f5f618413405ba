//! A queue of work for any number of agents, and a stream of their results. The server hands each
//! item to one agent at a time, and to another agent if the first falls silent.

use std::sync::mpsc::channel;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy, pull};
use async_nats::jetstream::message::{AckKind, Message};
use async_nats::jetstream::stream::{Config, RetentionPolicy};
use futures_util::StreamExt as _;

use crate::letters::{Letter, Letters};
use crate::{Carrier, CarrierError};

const WORK: &str = "PLIMSOLL_WORK";
const WORK_SUBJECTS: &str = "plimsoll.v1.work.*";
const AGENTS: &str = "agents";
const DONE: &str = "PLIMSOLL_DONE";
const DONE_SUBJECTS: &str = "plimsoll.v1.done.*";
const MESSAGE_ID: &str = "Nats-Msg-Id";

/// Time within which an item queued again is recognised.
const KNOWN_FOR: Duration = Duration::from_mins(2);

/// Uncollected work and results are deleted after this time.
const KEPT_FOR: Duration = Duration::from_hours(30 * 24);

/// Silence about an item after which the server hands it to another agent.
const LOST_AFTER: Duration = Duration::from_secs(15);

/// Longest delay of the server's answer.
const NEXT_WITHIN: Duration = Duration::from_secs(2);

/// Deliveries of an item before it is given up: every agent that received it was lost.
const MOST_DELIVERIES: i64 = 5;

/// A queue item assigned to this agent.
#[derive(Debug)]
pub struct WorkItem {
    /// Its content.
    pub bytes: Vec<u8>,
    message: Message,
}

/// An agent's view of the queue.
#[derive(Debug)]
pub struct WorkQueue {
    consumer: Consumer<pull::Config>,
}

/// Work remaining in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkLeft {
    /// Items that no agent has.
    pub waiting: u64,
    /// Items that agents have.
    pub in_hands: u64,
}

impl WorkItem {
    /// Reports that the agent is still working on it; call it at least as often as
    /// [`Carrier::lost_after`] requires.
    pub fn still_at_it(&self, carrier: &Carrier) -> Result<(), CarrierError> {
        carrier.wait("keep an item", self.message.ack_with(AckKind::Progress))
    }

    /// Removes the item from the queue once its result is stored.
    pub fn done(&self, carrier: &Carrier) -> Result<(), CarrierError> {
        carrier.wait("end an item", self.message.double_ack())
    }

    /// Returns the item to the queue; any agent may take it after `pause`.
    pub fn give_back(&self, carrier: &Carrier, pause: Duration) -> Result<(), CarrierError> {
        carrier.wait("give an item back", self.message.ack_with(AckKind::Nak(Some(pause))))
    }
}

impl Carrier {
    /// How long an agent may be silent about an item before another one gets it.
    pub const fn lost_after() -> Duration {
        LOST_AFTER
    }

    /// Creates the queue, its consumer and the stream of results if they are missing.
    pub fn make_work_ready(&self) -> Result<(), CarrierError> {
        let work = Config {
            name: WORK.to_owned(),
            subjects: vec![WORK_SUBJECTS.to_owned()],
            retention: RetentionPolicy::WorkQueue,
            duplicate_window: KNOWN_FOR,
            max_age: KEPT_FOR,
            ..Config::default()
        };
        let done = Config {
            name: DONE.to_owned(),
            subjects: vec![DONE_SUBJECTS.to_owned()],
            duplicate_window: KNOWN_FOR,
            max_age: KEPT_FOR,
            ..Config::default()
        };
        let queue = self.make_stream("make the queue", &work)?;
        self.make_stream("make the stream of results", &done)?;
        let agents = pull::Config {
            durable_name: Some(AGENTS.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: LOST_AFTER,
            max_deliver: MOST_DELIVERIES,
            ..pull::Config::default()
        };
        self.ask_again("make the queue's reader", || {
            queue.get_or_create_consumer(AGENTS, agents.clone())
        })
        .map(drop)
    }

    /// Queues the item of a key; repeats within the same `epoch` of the lease are recognised.
    pub fn queue_work(
        &self,
        (key, epoch): (&str, u64),
        bytes: Vec<u8>,
    ) -> Result<(), CarrierError> {
        let mut headers = HeaderMap::new();
        headers.insert(MESSAGE_ID, format!("{key}-{epoch}").as_str());
        self.stored(format!("plimsoll.v1.work.{key}"), (headers, bytes))
    }

    /// Stores the result of an item on the server; returns once it is stored.
    pub fn keep_result(&self, key: &str, bytes: Vec<u8>) -> Result<(), CarrierError> {
        self.stored(format!("plimsoll.v1.done.{key}"), (HeaderMap::new(), bytes))
    }

    fn stored(
        &self,
        subject: String,
        (headers, bytes): (HeaderMap, Vec<u8>),
    ) -> Result<(), CarrierError> {
        self.wait("keep an item of a sweep", async {
            let sent = self.jetstream.publish_with_headers(subject, headers, bytes.into()).await?;
            sent.await
        })
        .map(drop)
    }

    /// Deletes all items of the queue, including those that agents have.
    pub fn clear_queue(&self) -> Result<(), CarrierError> {
        self.emptied(WORK)
    }

    /// Deletes all results.
    pub fn clear_results(&self) -> Result<(), CarrierError> {
        self.emptied(DONE)
    }

    fn emptied(&self, stream: &str) -> Result<(), CarrierError> {
        let opened = self.jetstream.get_stream_no_info(stream);
        let stream = self.wait("open a stream of the sweep", opened)?;
        self.wait("empty a stream of the sweep", async { stream.purge().await }).map(drop)
    }

    /// Counts the items left in the queue.
    pub fn work_left(&self) -> Result<WorkLeft, CarrierError> {
        let queue = self.wait("open the queue", self.jetstream.get_stream_no_info(WORK))?;
        let info = self.wait("look at the queue", queue.consumer_info(AGENTS))?;
        Ok(WorkLeft { waiting: info.num_pending, in_hands: info.num_ack_pending as u64 })
    }

    /// Receives the results: first those already stored, then each as it arrives.
    pub fn results_of_work(&self) -> Result<Letters, CarrierError> {
        let stream =
            self.wait("open the stream of results", self.jetstream.get_stream_no_info(DONE))?;
        let config = pull::OrderedConfig {
            deliver_policy: DeliverPolicy::All,
            ..pull::OrderedConfig::default()
        };
        let consumer = self.wait("read the results", stream.create_consumer(config))?;
        let mut messages = self.wait("read the results", consumer.messages())?;
        let (sender, waiting) = channel();
        let task = self.runtime.spawn(async move {
            while let Some(message) = messages.next().await {
                let Ok(message) = message else { continue };
                let subject = message.subject.to_string();
                let letter = Letter { subject, bytes: message.payload.to_vec(), reply: None };
                if sender.send(letter).is_err() {
                    return;
                }
            }
        });
        Ok(Letters::of(waiting, task))
    }

    /// The queue for an agent; an error if no sweep has created it yet.
    pub fn work_queue(&self) -> Result<WorkQueue, CarrierError> {
        let queue = self.wait("open the queue", self.jetstream.get_stream_no_info(WORK))?;
        let consumer = self.wait("open the queue", queue.get_consumer(AGENTS))?;
        Ok(WorkQueue { consumer })
    }

    /// Returns the next item; `None` if none arrives within `patience`.
    pub fn next_work(
        &self,
        queue: &WorkQueue,
        patience: Duration,
    ) -> Result<Option<WorkItem>, CarrierError> {
        let asked = queue.consumer.fetch().max_messages(1).expires(patience).messages();
        let next = async {
            let mut messages = asked.await?;
            messages.next().await.transpose().map_err(|error| error.to_string().into())
        };
        // A server that is down does not end the request.
        let bounded = async { tokio::time::timeout(patience + NEXT_WITHIN, next).await };
        let next: Result<Option<Message>, async_nats::Error> =
            self.runtime.block_on(bounded).unwrap_or(Ok(None));
        let message = next.map_err(|error| CarrierError::refused("take work", &error))?;
        Ok(message.map(|message| WorkItem { bytes: message.payload.to_vec(), message }))
    }
}
