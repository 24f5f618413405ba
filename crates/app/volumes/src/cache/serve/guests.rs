//! Guests on this host over vhost-user: an optional socket per volume, and one hypervisor at a time
//! on each, since two guests writing to one volume destroy each other's file system.

use std::fs::File;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::task::{Context, Poll};
use std::time::Duration;

use device::Lookout;
use device_os::{EventCounter, Watcher};
use export_vhost::{BlockOffer, GuestBells, GuestKick, GuestRings, negotiate};
use host::crew;

use super::backing::BehindCache;
use super::guest::{Guest, GuestEvent, GuestLetter};
use super::mailbox::{DaemonMessage, Slot};
use super::socket::{SocketFile, bind_unix};
use super::state::Daemon;
use console::error::CommandError;
use console::{self, Console};

/// A counter that a guest shares.
struct WatchedKick(EventCounter);

impl GuestKick for WatchedKick {
    fn poll_rung(&self, context: &mut Context<'_>) -> Poll<()> {
        self.0.poll_rung(context)
    }
}

/// The guests' counters and rings, in the server's own executor.
struct WatchedBells(Watcher);

impl GuestBells for WatchedBells {
    fn watch(&self, counter: File) -> io::Result<Rc<dyn GuestKick>> {
        Ok(Rc::new(WatchedKick(self.0.watch_counter(counter)?)))
    }

    fn look_at(&self, ring: Weak<dyn Lookout>) -> bool {
        self.0.look_at(ring)
    }
}

/// Listens for the hypervisor of each volume that has a socket.
pub(super) fn listen(
    (volumes, block): (&[BehindCache], u32),
    slot: &Slot,
    console: &mut Console,
) -> Result<Vec<SocketFile>, CommandError> {
    let mut files = Vec::new();
    for (number, volume) in volumes.iter().enumerate() {
        let wish = volume.wish.borrow();
        let Some(path) = &wish.vhost_user else { continue };
        let (listener, file) = bind_unix(Path::new(path))?;
        files.push(file);
        let offer = BlockOffer {
            serial: wish.name.clone(),
            bytes: volume.exported.bytes(),
            sector: volume.exported.sector(),
            preferred_block: block,
            is_read_only: wish.is_read_only,
        };
        let slot = slot.clone();
        crew::start_thread("guests", move || {
            serve_one_after_another(&listener, number, &offer, &slot)
        })?;
        console.remark(format_args!("Serving {} to a guest at vhost-user:{path}", wish.name))?;
    }
    Ok(files)
}

/// Serves one hypervisor after another: the next only when the last has no request in progress.
fn serve_one_after_another(
    listener: &UnixListener,
    volume: usize,
    offer: &BlockOffer,
    slot: &Slot,
) -> ! {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let Ok((stream, _)) = listener.accept() else {
            // Out of descriptors, or the hypervisor has gone: neither ends the server.
            std::thread::sleep(Duration::from_millis(100));
            continue;
        };
        let guest = NEXT.fetch_add(1, Ordering::Relaxed);
        let Ok(socket) = stream.try_clone() else { continue };
        tell(slot, guest, GuestEvent::Arrived { volume, offer: offer.clone(), socket });
        let of_orders = slot.clone();
        let orders = Box::new(move |order| tell(&of_orders, guest, GuestEvent::Orders(order)));
        if let Err(error) = negotiate(stream, offer.clone(), orders) {
            console::say(&error);
        }
        let (left, parted) = channel();
        tell(slot, guest, GuestEvent::Left(left));
        // Always an error: the sender is dropped without sending.
        let _ = parted.recv();
    }
}

fn tell(slot: &Slot, guest: u64, event: GuestEvent) {
    slot.post(DaemonMessage::Guest(GuestLetter { guest, event }));
}

impl Daemon {
    /// Handles a message from a guest's connection.
    pub(super) fn hear_guest(self: &Rc<Self>, letter: GuestLetter, slot: &Slot) {
        let GuestLetter { guest, event } = letter;
        match event {
            GuestEvent::Arrived { volume, offer, socket } => {
                self.admit_guest(guest, (volume, offer), socket);
            }
            GuestEvent::Orders(order) => {
                let rings = self.guests.borrow().get(&guest).map(|guest| Rc::clone(&guest.rings));
                if let Some(Err(error)) = rings.map(|rings| rings.obey(order)) {
                    console::say(&format!("a guest's ring cannot be served: {error}"));
                }
            }
            GuestEvent::Left(parted) => {
                let Some(gone) = self.guests.borrow_mut().remove(&guest) else { return };
                let (daemon, slot) = (Rc::clone(self), slot.clone());
                drop(self.runtime.spawn(async move {
                    gone.rings.end().await;
                    daemon.count_client(-1);
                    drop(parted);
                    slot.post(DaemonMessage::ClientLeft);
                }));
            }
        }
    }

    fn admit_guest(&self, guest: u64, (volume, offer): (usize, BlockOffer), socket: UnixStream) {
        if !self.has_room() {
            // The hypervisor may already be gone.
            let _ = socket.shutdown(Shutdown::Both);
            return;
        }
        self.count_client(1);
        let exported = Rc::clone(&self.volumes[volume].exported);
        let means = (self.memory.clone(), self.runtime.clone());
        let rings = Rc::new(GuestRings::new(
            exported,
            offer,
            means,
            Box::new(WatchedBells(self.watcher.clone())),
        ));
        self.guests.borrow_mut().insert(guest, Guest { rings, socket });
    }

    /// Completes each guest's requests in progress and closes its socket, as tasks: an unresponsive
    /// volume delays only its own guest.
    pub(super) fn part_from_guests(self: &Rc<Self>) {
        for guest in self.guests.take().into_values() {
            let daemon = Rc::clone(self);
            drop(self.runtime.spawn(async move {
                guest.rings.end().await;
                // The hypervisor may already be gone.
                let _ = guest.socket.shutdown(Shutdown::Both);
                daemon.count_client(-1);
            }));
        }
    }
}
