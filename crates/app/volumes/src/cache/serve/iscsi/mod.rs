//! Serves the volumes to iSCSI initiators: one target each, over the same devices, memory and
//! client limit as NBD.

pub(super) mod settings;
mod targets;

use std::net::TcpListener;
use std::rc::Rc;

use export_iscsi::{InitiatorArrival, InitiatorEnd, TargetHall, serve_initiator};
use host::crew;

use super::client::{ClientSocket, SocketWire};
use super::mailbox::{DaemonMessage, Slot};
use super::state::Daemon;
use console::error::CommandError;
use console::{self, Console};
use settings::IscsiSettings;
pub(super) use targets::hall;

/// Listens at every address.
pub(super) fn listen(
    settings: &IscsiSettings,
    slot: &Slot,
    console: &mut Console,
) -> Result<(), CommandError> {
    for address in &settings.addresses {
        let listener = TcpListener::bind(address).map_err(|error| {
            CommandError::new(format!("{address}: cannot listen: {error}; choose another port"))
        })?;
        let address = listener.local_addr().unwrap_or(*address);
        accept_all(listener, slot.clone())?;
        let proof = settings.proof();
        console.remark(format_args!("Serving at iscsi://{address}/TARGET/0, {proof}"))?;
    }
    Ok(())
}

/// Accepts initiators on a thread and posts them.
fn accept_all(listener: TcpListener, slot: Slot) -> Result<(), CommandError> {
    crew::start_thread("initiators", move || {
        loop {
            let accepted = listener.accept().and_then(|(stream, _)| {
                stream.set_nodelay(true)?;
                Ok((stream.local_addr()?.to_string(), stream))
            });
            match accepted {
                Ok((portal, stream)) => {
                    slot.post(DaemonMessage::Initiator(portal, ClientSocket::Tcp(stream)));
                }
                // Out of descriptors, or the initiator has gone: neither ends the server.
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(100)),
            }
        }
    })?;
    Ok(())
}

/// Prints the target name of each volume.
pub(super) fn announce(hall: &TargetHall, console: &mut Console) -> Result<(), CommandError> {
    for name in hall.names() {
        console.remark(format_args!("Target {name}"))?;
    }
    Ok(())
}

impl Daemon {
    /// Serves an initiator as a task, unless there are too many clients.
    pub(super) fn admit_initiator(
        self: &Rc<Self>,
        (portal, socket): (String, ClientSocket),
        slot: &Slot,
    ) {
        let mut challenge = [0; 16];
        let (Some(hall), true) = (&self.targets, self.has_room()) else { return };
        let (Ok(wire), Ok(())) =
            (SocketWire::new(socket, &self.watcher), getrandom::fill(&mut challenge))
        else {
            return;
        };
        self.count_client(1);
        self.initiators.set(self.initiators.get() + 1);
        let stops = self.stopping.question();
        let arrival = InitiatorArrival { wire: Rc::new(wire), portal, challenge, stops };
        let (daemon, hall, slot) = (Rc::clone(self), Rc::clone(hall), slot.clone());
        drop(self.runtime.spawn(async move {
            let end = serve_initiator(hall, arrival, daemon.runtime.clone()).await;
            if let Some(text) = remarkable(&end) {
                console::say(&text);
            }
            daemon.initiators.set(daemon.initiators.get() - 1);
            daemon.count_client(-1);
            slot.post(DaemonMessage::ClientLeft);
        }));
    }

    pub(super) fn has_room(&self) -> bool {
        !self.is_draining.get() && self.clients.get() < self.settings.document.connections
    }

    pub(super) fn count_client(&self, change: isize) {
        self.clients.set(self.clients.get().saturating_add_signed(change));
        if change > 0 {
            self.clients_seen.set(self.clients_seen.get() + 1);
        }
    }
}

/// Describes a session's end if an operator should know of it.
fn remarkable(end: &InitiatorEnd) -> Option<String> {
    match end {
        InitiatorEnd::Broken(error) => Some(format!("an initiator's connection broke: {error}")),
        InitiatorEnd::Late => {
            Some("an initiator was disconnected: it did not log in within 15 s".to_owned())
        }
        InitiatorEnd::Replaced => {
            Some("an initiator logged in anew; its old connection was closed".to_owned())
        }
        InitiatorEnd::Over | InitiatorEnd::Closed => None,
    }
}
