//! Messages that arrive unsolicited.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use futures_util::StreamExt as _;

use crate::{Carrier, CarrierError};

/// Limit on queued messages; more are dropped, so that a flood cannot fill the memory.
const MOST_WAITING: usize = 4_096;

/// A message that has arrived.
#[derive(Clone, Debug)]
pub struct Letter {
    /// Its destination.
    pub subject: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Destination of the answer, if the sender waits for one.
    pub reply: Option<String>,
}

/// The messages of one subject, in the order of their arrival.
#[derive(Debug)]
pub struct Letters {
    waiting: Receiver<Letter>,
    listening: Listening,
}

impl Letters {
    /// Letters that `task` passes on through `waiting`.
    pub(crate) const fn of(waiting: Receiver<Letter>, task: tokio::task::JoinHandle<()>) -> Self {
        Self { waiting, listening: Listening(task) }
    }

    /// Whether no further message will come: the connection was given up.
    pub fn is_closed(&self) -> bool {
        self.listening.0.is_finished()
    }

    /// Returns the next message; `None` if none arrives within `patience`.
    pub fn next(&self, patience: Duration) -> Option<Letter> {
        self.waiting.recv_timeout(patience).ok()
    }
}

/// Sends answers, from any thread.
#[derive(Clone, Debug)]
pub struct Replies {
    handle: tokio::runtime::Handle,
    client: async_nats::Client,
}

impl Replies {
    /// Sends a message without acknowledgement; if it cannot be sent, the other side will ask
    /// again.
    pub fn publish(&self, subject: String, bytes: Vec<u8>) {
        let _ = self.handle.block_on(async {
            self.client.publish(subject, bytes.into()).await?;
            self.client.flush().await.map_err(|_| {
                async_nats::PublishError::new(async_nats::client::PublishErrorKind::Send)
            })
        });
    }
}

/// A subscription that passes its messages to a callback; dropping this ends it.
#[derive(Debug)]
pub struct Listening(tokio::task::JoinHandle<()>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Gets messages, on another thread, until it returns `false`; boxed as a
/// [`KeyListener`](crate::KeyListener) is.
pub type LetterListener = Box<dyn FnMut(Letter) -> bool + Send>;

impl Carrier {
    /// Returns a handle for sending replies from another thread.
    pub fn replies(&self) -> Replies {
        Replies { handle: self.runtime.handle().clone(), client: self.client.clone() }
    }

    /// Receives the messages of `subject` from now on, and across reconnections.
    pub fn subscribe(&self, subject: String) -> Result<Letters, CarrierError> {
        let (sender, waiting) = sync_channel(MOST_WAITING);
        let listening = self.listen(subject, Box::new(move |letter| pass_on(&sender, letter)))?;
        Ok(Letters { waiting, listening })
    }

    /// Passes each message of `subject` to `each` on the carrier's thread, which must not block,
    /// until `each` returns `false` or the result is dropped.
    pub fn listen(
        &self,
        subject: String,
        mut each: LetterListener,
    ) -> Result<Listening, CarrierError> {
        let mut messages = self.wait("subscribe", self.client.subscribe(subject))?;
        let task = self.runtime.spawn(async move {
            while let Some(message) = messages.next().await {
                let letter = Letter {
                    subject: message.subject.to_string(),
                    bytes: message.payload.to_vec(),
                    reply: message.reply.map(|reply| reply.to_string()),
                };
                if !each(letter) {
                    return;
                }
            }
        });
        Ok(Listening(task))
    }
}

/// Whether the receiver still listens.
fn pass_on(sender: &SyncSender<Letter>, letter: Letter) -> bool {
    !matches!(sender.try_send(letter), Err(TrySendError::Disconnected(_)))
}
