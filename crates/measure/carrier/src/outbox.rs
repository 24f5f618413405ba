//! Messages sent from a thread that must never wait: they are queued, in order, and dropped when
//! the connection does not keep up. For protocols that repeat lost messages.

use async_nats::Subject;
use tokio::sync::mpsc::{Sender, channel};

use crate::Carrier;

/// Limit on queued messages; more are dropped.
const MOST_WAITING: usize = 1_024;

/// The sending end of a queue of messages.
#[derive(Clone, Debug)]
pub struct Outbox(Sender<(Subject, Vec<u8>)>);

impl Outbox {
    /// Queues a message; `false` if it was dropped.
    pub fn send(&self, subject: &str, bytes: Vec<u8>) -> bool {
        self.0.try_send((subject.into(), bytes)).is_ok()
    }
}

impl Carrier {
    /// A queue of messages, sent for as long as it exists.
    pub fn outbox(&self) -> Outbox {
        let (sender, mut waiting) = channel::<(Subject, Vec<u8>)>(MOST_WAITING);
        let client = self.client.clone();
        self.runtime.spawn(async move {
            while let Some((subject, bytes)) = waiting.recv().await {
                // A message that cannot be sent is dropped: any may be lost in transit.
                let _ = client.publish(subject, bytes.into()).await;
            }
        });
        Outbox(sender)
    }
}
