//! Letters from other threads to the executor's: new clients, questions, signals.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use device::{Remote, RemoteEnd, RemoteOutcome, completion};

use super::client::ClientSocket;

/// A letter.
pub(super) enum DaemonMessage {
    /// A client has connected.
    Client(ClientSocket),
    /// An initiator has connected to the portal of that name.
    Initiator(String, ClientSocket),
    /// A client's connection has ended.
    ClientLeft,
    /// `cache status` and the like ask; the answer is a text.
    Question(String, Sender<String>),
    /// A signal asks to stop.
    Stop,
    /// A signal asks to read the document again.
    Reload,
}

#[derive(Default)]
struct MessageQueue {
    queue: VecDeque<DaemonMessage>,
    /// Wakes the reader, who found the queue empty.
    bell: Option<RemoteEnd>,
}

/// Where letters are posted, from any thread.
#[derive(Clone, Default)]
pub(super) struct Slot(Arc<Mutex<MessageQueue>>);

/// Where they are read.
pub(super) struct DaemonInbox {
    slot: Slot,
    remote: Rc<dyn Remote>,
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, MessageQueue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Posts a letter.
    pub(super) fn post(&self, letter: DaemonMessage) {
        let bell = {
            let mut letters = self.lock();
            letters.queue.push_back(letter);
            letters.bell.take()
        };
        if let Some(bell) = bell {
            bell(RemoteOutcome { buffer: None, result: Ok(()) });
        }
    }
}

impl DaemonInbox {
    /// An empty mailbox of the executor that `remote` belongs to.
    pub(super) fn new(remote: Rc<dyn Remote>) -> Self {
        Self { slot: Slot::default(), remote }
    }

    /// Where letters to it are posted.
    pub(super) fn slot(&self) -> Slot {
        self.slot.clone()
    }

    /// The next letter.
    pub(super) async fn next(&self) -> DaemonMessage {
        loop {
            let rung = {
                let mut letters = self.slot.lock();
                if let Some(letter) = letters.queue.pop_front() {
                    return letter;
                }
                let (completer, rung) = completion();
                letters.bell = Some(self.remote.begin(completer));
                rung
            };
            rung.await;
        }
    }
}
