//! The running server: handles messages, serves connections as tasks, and shuts down cleanly.

use std::rc::Rc;
use std::sync::mpsc::Sender;

use device::JoinHandle;
use export::{ConnectionEnd, SessionEnd, Wire, serve_connection};
use flashcache::CacheHealth;
use units::Nanos;

use super::backing::share;
use super::client::{ClientSocket, SocketWire};
use super::mailbox::{DaemonInbox, DaemonMessage, Slot};
use super::state::Daemon;
use super::tls::TlsWire;
use super::{manager, report};

/// How long connections may take to answer the requests already received.
const PATIENCE: Nanos = Nanos::from_secs(60);

/// Interval between checks of the flash and the devices.
const LOOK: Nanos = Nanos::from_secs(1);

/// How the server ended.
pub(super) struct Ended {
    /// Clients that asked the server to stop and wait for the answer.
    pub waiting: Vec<Sender<String>>,
    /// Errors of flushes and of the flash.
    pub errors: Vec<String>,
}

impl Daemon {
    /// Serves until a signal or a question asks to stop.
    pub(super) async fn run(self: Rc<Self>, mailbox: DaemonInbox) -> Ended {
        let mut waiting = Vec::new();
        let watching = self.runtime.spawn(Rc::clone(&self).watch_health());
        while !(self.is_draining.get() && self.clients.get() == 0) {
            match mailbox.next().await {
                DaemonMessage::Client(socket) => self.admit(socket, &mailbox.slot()),
                DaemonMessage::Initiator(portal, socket) => {
                    self.admit_initiator((portal, socket), &mailbox.slot());
                }
                DaemonMessage::Guest(letter) => self.hear_guest(letter, &mailbox.slot()),
                DaemonMessage::ClientLeft => {}
                DaemonMessage::Stop => break,
                DaemonMessage::Reload => self.reload().await,
                DaemonMessage::Question(question, answer) => match question.as_str() {
                    "drain" => {
                        self.is_draining.set(true);
                        waiting.push(answer);
                    }
                    "stop" => {
                        waiting.push(answer);
                        break;
                    }
                    question => drop(answer.send(self.answer(question))),
                },
            }
        }
        manager::notify("STOPPING=1");
        Ended { errors: self.close(watching).await, waiting }
    }

    fn answer(&self, question: &str) -> String {
        let status = report::status(self);
        match question {
            "metrics" => report::metrics(&status),
            _ => status.to_string(),
        }
    }

    /// Serves a client as a task, unless there are too many.
    fn admit(self: &Rc<Self>, socket: ClientSocket, slot: &Slot) {
        if self.is_draining.get() || self.clients.get() >= self.settings.document.connections {
            return; // Closing the socket is the answer: the protocol has no other one.
        }
        let tls = self.tls.as_ref().filter(|_| socket.is_tcp());
        let Ok(wire) = SocketWire::new(socket, &self.watcher) else {
            return;
        };
        let (wire, hall): (Rc<dyn Wire>, _) = match tls {
            None => (Rc::new(wire), &self.hall),
            Some(config) => (Rc::new(TlsWire::new(wire, config)), &self.secure_hall),
        };
        self.clients.set(self.clients.get() + 1);
        self.clients_seen.set(self.clients_seen.get() + 1);
        let (daemon, slot) = (Rc::clone(self), slot.clone());
        let stops = self.stopping.question();
        let (hall, runtime) = (Rc::clone(hall), self.runtime.clone());
        drop(self.runtime.spawn(async move {
            let end = serve_connection(hall, wire, runtime, stops).await;
            if let Some(text) = remarkable(&end) {
                console::say(&text);
            }
            daemon.clients.set(daemon.clients.get() - 1);
            slot.post(DaemonMessage::ClientLeft);
        }));
    }

    /// Rereads the document and changes the bounds of volumes; nothing else changes while the
    /// server runs.
    async fn reload(&self) {
        let document = match self.settings.read_again() {
            Ok(Some(document)) => document,
            Ok(None) => return,
            Err(error) => {
                let text = error.told().map_or("", |(text, _)| text).to_owned();
                return console::say(&format!("not reloaded: {text}"));
            }
        };
        manager::notify("RELOADING=1");
        let block_bytes = self.cache.store().block_bytes();
        for volume in &self.volumes {
            let name = volume.wish.borrow().name.clone();
            let Some(wish) = document.volumes.iter().find(|wish| wish.name == name) else {
                continue;
            };
            self.cache.set_share(&volume.key, share(wish, block_bytes)).await;
            let mut present = volume.wish.borrow_mut();
            (present.least, present.most) = (wish.least, wish.most);
        }
        manager::notify("READY=1");
        console::say(&"reloaded: bounds of volumes");
    }

    /// Reports once that the flash or a device has failed, and records changes of volumes, until
    /// the server stops.
    async fn watch_health(self: Rc<Self>) {
        let mut is_said = false;
        let mut errors = vec![0; self.volumes.len()];
        while !self.stopping.within(LOOK, &self.runtime).await {
            let health = self.cache.store().status().health;
            if matches!(health, CacheHealth::Failed { .. })
                && !std::mem::replace(&mut is_said, true)
            {
                console::say(&format!("THE CACHE IS OFF: {health}"));
                manager::notify(&format!("STATUS=the cache is off: {health}"));
            }
            for (volume, seen) in self.volumes.iter().zip(&mut errors) {
                volume.note_change(&self.cache).await;
                let tally = volume.back.borrow();
                let now = tally.reads.errors + tally.writes.errors + tally.flushes.errors;
                if now > *seen {
                    let error = tally.last_error.as_deref().unwrap_or("failed");
                    let name = &volume.wish.borrow().name;
                    let requests = units::plural(now - *seen, "request");
                    console::say(&format!("{name}: {requests} failed: {error}"));
                    *seen = now;
                }
            }
        }
    }

    /// Lets connections answer the requests already received, then writes everything out.
    /// `watching` ends first: a change recorded later would hide the volumes' final state.
    async fn close(self: &Rc<Self>, watching: JoinHandle<()>) -> Vec<String> {
        self.stopping.set();
        watching.await;
        self.part_from_guests();
        let limit = self.runtime.now() + PATIENCE;
        while self.clients.get() > 0 && self.runtime.now() < limit {
            self.runtime.sleep(Nanos::from_millis(5)).await;
        }
        let mut errors = Vec::new();
        if self.clients.get() > 0 {
            errors.push(format!("{} clients were cut off in a request", self.clients.get()));
        }
        for volume in &self.volumes {
            errors.extend(volume.leave(&self.cache).await.err().map(|error| error.to_string()));
        }
        let closed = self.cache.store().close().await;
        errors.extend(closed.err().map(|error| error.to_string()));
        errors
    }
}

/// Describes a connection's end if an operator should know of it.
pub(super) fn remarkable(end: &ConnectionEnd) -> Option<String> {
    match end {
        ConnectionEnd::Session(SessionEnd::Nonsense) => {
            Some("a client was disconnected: what it sent is not NBD".to_owned())
        }
        ConnectionEnd::Session(SessionEnd::TooMuch) => {
            Some("a client was disconnected: it sent more options than any needs".to_owned())
        }
        ConnectionEnd::Broken(error) => Some(format!("a client's connection broke: {error}")),
        _ => None,
    }
}
