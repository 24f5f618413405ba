//! Accepts the clients of a mirrored volume, and shuts down cleanly.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::mpsc::Sender;

use device_os::{Watcher, World};
use export::serve_connection;
use units::Nanos;

use super::driver::MirrorDriver;
use super::hall::MirrorHall;
use super::status;
use crate::cache::serve::client::{ClientSocket, SocketWire};
use crate::cache::serve::daemon::{Ended, remarkable};
use crate::cache::serve::mailbox::{DaemonInbox, DaemonMessage, Slot};
use crate::cache::serve::manager;
use crate::cache::serve::stopping::Stopping;

/// Clients at once.
const CONNECTIONS: usize = 64;

/// Time limit for clients to finish, and for the hand-over by a stopping host.
const PATIENCE: Nanos = Nanos::from_secs(12);

/// See the module.
pub(super) struct MirrorServer {
    driver: Rc<MirrorDriver>,
    hall: MirrorHall,
    watcher: Watcher,
    clients: Cell<usize>,
    stopping: Rc<Stopping>,
    is_draining: Cell<bool>,
}

impl MirrorServer {
    pub(super) fn new(driver: Rc<MirrorDriver>, world: &World) -> Rc<Self> {
        let hall = MirrorHall::new(&driver);
        let (clients, is_draining) = (Cell::new(0), Cell::new(false));
        let (watcher, stopping) = (world.watcher(), Rc::default());
        Rc::new(Self { driver, hall, watcher, clients, stopping, is_draining })
    }

    /// Serves until a signal or a question asks to stop.
    pub(super) async fn run(self: Rc<Self>, mailbox: DaemonInbox) -> Ended {
        let mut waiting = Vec::new();
        while !(self.is_draining.get() && self.clients.get() == 0) {
            match mailbox.next().await {
                DaemonMessage::Client(socket) => self.admit(socket, &mailbox.slot()),
                DaemonMessage::Stop => break,
                DaemonMessage::Question(question, answer)
                    if self.answer(&question, answer.clone(), &mut waiting) =>
                {
                    break;
                }
                _ => {}
            }
        }
        manager::notify("STOPPING=1");
        Ended { errors: self.close().await, waiting }
    }

    /// Answers a question, or records a client that waits for the shutdown; `true` if it must start
    /// now.
    fn answer(
        &self,
        question: &str,
        answer: Sender<String>,
        waiting: &mut Vec<Sender<String>>,
    ) -> bool {
        match question {
            "drain" | "stop" => {
                self.is_draining.set(true);
                waiting.push(answer);
                return question == "stop";
            }
            question => {
                let state = status::status(&self.driver, self.clients.get());
                let text = match question {
                    "metrics" => status::metrics(&state),
                    _ => state.to_string(),
                };
                drop(answer.send(text));
            }
        }
        false
    }

    /// Serves a client as a task, unless there are too many.
    fn admit(self: &Rc<Self>, socket: ClientSocket, slot: &Slot) {
        if self.is_draining.get() || self.clients.get() >= CONNECTIONS {
            return;
        }
        let Ok(wire) = SocketWire::new(socket, &self.watcher) else { return };
        self.clients.set(self.clients.get() + 1);
        let (server, slot, stops) = (Rc::clone(self), slot.clone(), self.stopping.question());
        let (hall, runtime) = (self.hall.of(wire.presence()), self.driver.runtime.clone());
        drop(self.driver.runtime.spawn(async move {
            let end = serve_connection(hall, Rc::new(wire), runtime, stops).await;
            if let Some(text) = remarkable(&end) {
                console::say(&text);
            }
            server.clients.set(server.clients.get() - 1);
            slot.post(DaemonMessage::ClientLeft);
        }));
    }

    /// Lets connections answer the requests already received, then hands the volume over. Every
    /// acknowledged write is already durable, wherever the configuration requires it.
    async fn close(&self) -> Vec<String> {
        self.stopping.set();
        let runtime = &self.driver.runtime;
        let limit = runtime.now() + PATIENCE;
        while runtime.now() < limit && !(self.driver.leave() && self.clients.get() == 0) {
            runtime.sleep(Nanos::from_millis(5)).await;
        }
        // The release of the lease is still in flight.
        runtime.sleep(Nanos::from_millis(200)).await;
        let cut = self.clients.get();
        if cut > 0 { vec![format!("{cut} clients were cut off in a request")] } else { Vec::new() }
    }
}
