//! Messages from other threads to the executor's thread: new clients, questions, signals.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use device::{Remote, RemoteEnd, RemoteOutcome, completion};

use super::client::ClientSocket;
use super::guest::GuestLetter;

/// A message for the executor's thread.
pub(super) enum DaemonMessage {
    /// A client has connected.
    Client(ClientSocket),
    /// An initiator has connected to the portal with this name.
    Initiator(String, ClientSocket),
    /// A message from a guest on this host.
    Guest(GuestLetter),
    /// A client's connection has ended.
    ClientLeft,
    /// A question from `cache status` and the like; the answer is a text.
    Question(String, Sender<String>),
    /// A signal asks to stop.
    Stop,
    /// A signal asks to reread the document.
    Reload,
}

struct MessageQueue<M> {
    queue: VecDeque<M>,
    /// Wakes a reader that found the queue empty.
    bell: Option<RemoteEnd>,
}

/// Handle for posting messages from any thread.
pub(super) struct Slot<M = DaemonMessage>(Arc<Mutex<MessageQueue<M>>>);

/// The receiving end of the mailbox.
pub(super) struct DaemonInbox<M = DaemonMessage> {
    slot: Slot<M>,
    remote: Rc<dyn Remote>,
}

impl<M> Clone for Slot<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M> Slot<M> {
    fn lock(&self) -> MutexGuard<'_, MessageQueue<M>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Posts a message and wakes the reader if it waits.
    pub(super) fn post(&self, letter: M) {
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

impl<M> DaemonInbox<M> {
    /// An empty mailbox of the executor that `remote` belongs to.
    pub(super) fn new(remote: Rc<dyn Remote>) -> Self {
        let queue = MessageQueue { queue: VecDeque::new(), bell: None };
        Self { slot: Slot(Arc::new(Mutex::new(queue))), remote }
    }

    /// Returns a handle for posting to it.
    pub(super) fn slot(&self) -> Slot<M> {
        self.slot.clone()
    }

    /// Waits for the next message and returns it.
    pub(super) async fn next(&self) -> M {
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
